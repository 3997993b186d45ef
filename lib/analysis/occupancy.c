/* How many waves of a kernel fit on a GPU at once, and what keeps more from it: registers, local
 * memory, the size of workgroups, or too small a grid. All of it follows from how kernels were
 * launched and from their code; launches that agree in that make a row. Every worker adds up on its
 * own: memory is bounded by the number of rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/keyed.h"
#include "analysis/peaks.h"

/* What a compute unit has; of RDNA a pair of them, which a workgroup may occupy as a whole.
 * Numbers are those of LLVM's AMDGPU back end (AMDGPUBaseInfo.cpp, IsaInfo), with waves of the
 * size that compilers prefer. */
typedef struct gpu_limits {
    const char *arch;             /* it begins so */
    uint32_t wave, simds;         /* work-items of a wave; SIMDs of a unit */
    uint32_t waves;               /* of a SIMD */
    uint32_t sgprs;               /* of a SIMD for all waves; 0: each has as many as it may use */
    uint32_t vgprs, vgpr_granule; /* vector registers of a SIMD, as a lane sees them; 0: unknown */
    bool unified;                 /* accumulation registers are taken from them */
    uint32_t lds, lds_granule;    /* bytes */
    uint32_t workgroups;          /* of more than one wave */
    uint32_t cus;                 /* in a unit */
} gpu_limits;

enum {
    KIB = 1024,
    MOST_SGPRS = 112, /* for a wave, where a SIMD has some for all */
    MOST_REGISTERS = UINT16_MAX
};

/* The first one that matches counts. */
static const gpu_limits known_gpus[] = {
    {"gfx908", 64, 4, 10, 800, 256, 4, false, 64 * KIB, 512, 16, 1},
    {"gfx90a", 64, 4, 8, 800, 512, 8, true, 64 * KIB, 512, 16, 1},
    {"gfx94", 64, 4, 8, 800, 512, 8, true, 64 * KIB, 512, 16, 1},
    {"gfx950", 64, 4, 8, 800, 512, 8, true, 160 * KIB, 1280, 16, 1},
    {"gfx90", 64, 4, 10, 800, 256, 4, false, 64 * KIB, 512, 16, 1},
    {"gfx101", 32, 4, 20, 0, 1024, 8, false, 128 * KIB, 512, 32, 2},
    {"gfx103", 32, 4, 16, 0, 1024, 16, false, 128 * KIB, 512, 32, 2},
    {"gfx1100", 32, 4, 16, 0, 1536, 24, false, 128 * KIB, 512, 32, 2},
    {"gfx1101", 32, 4, 16, 0, 1536, 24, false, 128 * KIB, 512, 32, 2},
    {"gfx1151", 32, 4, 16, 0, 1536, 24, false, 128 * KIB, 512, 32, 2},
    {"gfx11", 32, 4, 16, 0, 1024, 16, false, 128 * KIB, 512, 32, 2},
    {"gfx120", 32, 4, 16, 0, 1536, 24, false, 128 * KIB, 512, 32, 2},
    /* Profilers count its registers in blocks of another size than its code does. */
    {"gfx125", 32, 4, 16, 0, 0, 0, false, 320 * KIB, 0, 0, 1},
};

/* What makes a row; interned as bytes, so without holes. */
typedef struct launch_shape {
    uint32_t name, arch; /* texts; arch 0: not known */
    uint32_t cus;        /* of the GPU; 0: not known */
    uint32_t workgroup[3];
    uint32_t vgprs, accum_vgprs, sgprs; /* vgprs 0: not known */
    uint32_t unused;
    int64_t lds, scratch; /* bytes: of a workgroup, of a work-item */
} launch_shape;

typedef struct launch_sums {
    uint64_t calls;
    int64_t total, workgroups; /* they saturate */
} launch_sums;

#define KEY(member, type) ROCL_MEMBER(launch_shape, member, KEY_##type)
#define REGISTERS(member) ROCL_MEMBER_BELOW(launch_shape, member, KEY_NUMBER, MOST_REGISTERS + 1)

static const rocl_member shape_members[] = {
    KEY(name, TEXT),           KEY(arch, TEXT),           KEY(workgroup[0], NUMBER),
    KEY(workgroup[1], NUMBER), KEY(workgroup[2], NUMBER), REGISTERS(vgprs),
    REGISTERS(accum_vgprs),    REGISTERS(sgprs),          KEY(lds, INT),
    KEY(scratch, INT),         KEY(cus, NUMBER),
};

static const rocl_member sum_members[] = {
    ROCL_MEMBER(launch_sums, calls, SUM_COUNT),
    ROCL_MEMBER(launch_sums, total, SUM_INT),
    ROCL_MEMBER(launch_sums, workgroups, SUM_INT),
};

static const rocl_keyed_def shapes = {.key_size = sizeof(launch_shape),
                                      .sum_size = sizeof(launch_sums),
                                      ROCL_KEY_MEMBERS(shape_members),
                                      ROCL_SUM_MEMBERS(sum_members)};

typedef struct shape_row {
    launch_shape key;
    launch_sums sums;
    int64_t waves; /* of a workgroup; -1: not known, as below */
    int64_t resident, most;
    double percent, occupancy, workgroups, rounds;
    const char *limit; /* NULL: not known */
} shape_row;

/* The GPU of an agent. */
typedef struct gpu_kind {
    uint32_t arch, cus;
} gpu_kind;

typedef struct occupancy {
    rocl_collector c;
    rocl_keyed sums;
    gpu_kind **gpus; /* by capture and agent; the last is for an unknown one */
} occupancy;

/* ---- GPUs ------------------------------------------------------------------------------------ */

static rocl_status read_gpu(occupancy *o, const rocl_capture *c, uint32_t agent, gpu_kind *gpu,
                            rocl_error *err)
{
    rocl_gpu_facts facts;
    const rocl_status st = rocl_gpu_facts_read(&facts, o->c.trace, c, agent, err);
    if (st != ROCL_OK)
        return st;
    if (*facts.arch)
        gpu->arch = c->agents[agent].name;
    gpu->cus = (uint32_t)facts.cus;
    return ROCL_OK;
}

static rocl_status open_occupancy(void *self, rocl_error *err)
{
    occupancy *o = self;
    rocl_trace *t = o->c.trace;
    const char *given = o->c.options->derive_arch;
    rocl_status st = rocl_keyed_open(&o->sums, &shapes, &o->c, err);
    o->gpus = calloc(t->capture_count + 1, sizeof *o->gpus);
    if (!o->gpus)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        gpu_kind *gpus = o->gpus[i] = calloc(c->agent_count + 1, sizeof *gpus);
        const uint32_t arch = given ? rocl_strings_put(t->strings, given, strlen(given)) : 0;
        if (!gpus || arch == ROCL_NONE)
            return rocl_fail_memory(err);
        for (uint32_t a = 0; a <= c->agent_count && st == ROCL_OK; a++) {
            gpus[a].arch = arch;
            if (a < c->agent_count && c->agents[a].type != ROCL_AGENT_CPU)
                st = read_gpu(o, c, a, &gpus[a], err);
        }
    }
    return st;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t read_registers(int64_t n)
{
    return n > 0 && n <= MOST_REGISTERS ? (uint32_t)n : 0;
}

static rocl_status add_occupancy_batch(void *self, unsigned worker, const rocl_batch *b,
                                       rocl_error *err)
{
    occupancy *o = self;
    const rocl_capture *c = b->capture;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_dispatch *d = &b->dispatches[i];
        const rocl_kernel *k = d->kernel < c->kernel_count ? &c->kernels[d->kernel] : NULL;
        const gpu_kind *gpu =
            &o->gpus[c->index][d->agent < c->agent_count ? d->agent : c->agent_count];
        launch_shape key = {.name = d->e.name == ROCL_NONE ? 0 : d->e.name,
                            .arch = gpu->arch,
                            .cus = gpu->cus,
                            .vgprs = k ? read_registers(k->arch_vgpr) : 0,
                            .accum_vgprs = k ? read_registers(k->accum_vgpr) : 0,
                            .sgprs = k ? read_registers(k->sgpr) : 0,
                            .lds = d->group_segment,
                            .scratch = d->private_segment};
        memcpy(key.workgroup, d->workgroup, sizeof key.workgroup);
        launch_sums *sums = rocl_keyed_at(&o->sums, worker, &key);
        if (!sums)
            return rocl_fail_memory(err);
        int64_t groups = 1;
        for (unsigned axis = 0; axis < 3; axis++)
            if (d->workgroup[axis])
                groups *= (d->grid[axis] + (int64_t)d->workgroup[axis] - 1) / d->workgroup[axis];
        sums->calls++;
        sums->total = rocl_add_saturated(sums->total, d->e.end - d->e.start);
        sums->workgroups = rocl_add_saturated(sums->workgroups, groups);
    }
    return ROCL_OK;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

static int64_t round_up(int64_t n, int64_t granule)
{
    return (n + granule - 1) / granule * granule;
}

static const gpu_limits *find_limits(const char *arch)
{
    for (size_t i = 0; i < sizeof known_gpus / sizeof *known_gpus; i++)
        if (!strncmp(arch, known_gpus[i].arch, strlen(known_gpus[i].arch)))
            return &known_gpus[i];
    return NULL;
}

/* How many workgroups fit into a unit; the limit is the least of several numbers, of equal ones the
 * first. */
static void compute_occupancy(const rocl_trace *t, shape_row *r)
{
    const launch_shape *k = &r->key;
    const gpu_limits *g = find_limits(rocl_str(t, k->arch));
    const int64_t items = (int64_t)k->workgroup[0] * k->workgroup[1] * k->workgroup[2];
    r->workgroups = rocl_mean(r->sums.workgroups, r->sums.calls);
    r->waves = r->resident = r->most = -1;
    r->occupancy = r->rounds = __builtin_nan("");
    if (!g || items <= 0 || items > 1024)
        return;
    r->waves = (items + g->wave - 1) / g->wave;
    r->most = g->simds * (int64_t)g->waves;
    if (!k->vgprs || !g->vgprs)
        return;
    const int64_t registers = g->unified                  ? (int64_t)k->vgprs + k->accum_vgprs
                              : k->vgprs > k->accum_vgprs ? k->vgprs
                                                          : k->accum_vgprs;
    const int64_t scalars = k->sgprs < MOST_SGPRS ? k->sgprs : MOST_SGPRS;
    const int64_t by_registers = g->vgprs / round_up(registers, g->vgpr_granule);
    const struct {
        const char *name;
        int64_t workgroups;
    } limits[] = {
        {"none", g->simds * (int64_t)g->waves / r->waves},
        {"VGPRs", g->simds * by_registers / r->waves},
        {"SGPRs", scalars && g->sgprs ? g->simds * (g->sgprs / scalars) / r->waves : INT64_MAX},
        {"LDS", k->lds > 0 ? g->lds / round_up(k->lds, g->lds_granule) : INT64_MAX},
        {"workgroups", r->waves > 1 ? g->workgroups : INT64_MAX},
    };
    int64_t fit = INT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].workgroups < fit) {
            fit = limits[i].workgroups;
            r->limit = limits[i].name;
        }
    r->resident = fit * r->waves;
    r->occupancy = rocl_percent(r->resident, r->most);
    if (r->limit == limits[0].name && r->resident < r->most)
        r->limit = "workgroup size"; /* another one would not fit as a whole */
    /* How many fillings of the GPU a launch consists of; below 1 the grid is the limit. */
    if (k->cus >= g->cus)
        r->rounds = rocl_ratio(r->workgroups, (double)fit * (k->cus / g->cus));
    if (r->rounds < 1)
        r->limit = "grid";
}

/* ---- the table ------------------------------------------------------------------------------- */

static rocl_datum field_workgroup(const rocl_report_rows *r, const void *field)
{
    char text[48];
    const uint32_t *d = field;
    if (!d[0] && !d[1] && !d[2])
        return (rocl_datum){0};
    const int n = snprintf(text, sizeof text, "%ux%ux%u", d[0], d[1], d[2]);
    return rocl_datum_text(r->out, text, (size_t)n);
}

/* Registers: no kernel has none. */
static rocl_datum field_registers(const rocl_report_rows *r, const void *row)
{
    const shape_row *s = row;
    (void)r;
    return s->key.vgprs ? rocl_datum_int(s->key.vgprs) : (rocl_datum){0};
}

static rocl_datum field_accumulators(const rocl_report_rows *r, const void *row)
{
    const shape_row *s = row;
    (void)r;
    return s->key.vgprs ? rocl_datum_int(s->key.accum_vgprs) : (rocl_datum){0};
}

static rocl_datum field_scalars(const rocl_report_rows *r, const void *row)
{
    const shape_row *s = row;
    (void)r;
    return s->key.sgprs ? rocl_datum_int(s->key.sgprs) : (rocl_datum){0};
}

#define CELL(field)        ROCL_CELL(shape_row, field)
#define CELL_BY(fn, field) ROCL_CELL_BY(fn, shape_row, field)
#define ROW(fn)            (fn), 0

static const rocl_column columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"arch", "GPU", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL_BY(rocl_field_label, key.arch)},
    {"workgroup", "Workgroup", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     CELL_BY(field_workgroup, key.workgroup)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(sums.calls)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(sums.total)},
    {"percent", "Of kernels %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"occupancy_percent", "Occupancy %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(occupancy)},
    {"limit", "Limited by", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(limit)},
    {"waves", "Waves", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL_BY(rocl_field_known, resident)},
    {"max_waves", "Most", ROCL_UNIT_COUNT, ROCL_MINOR, CELL_BY(rocl_field_known, most)},
    {"workgroup_waves", "Of a workgroup", ROCL_UNIT_COUNT, ROCL_MINOR,
     CELL_BY(rocl_field_known, waves)},
    {"vgprs", "VGPRs", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROW(field_registers)},
    {"accum_vgprs", "Accum", ROCL_UNIT_COUNT, ROCL_MINOR, ROW(field_accumulators)},
    {"sgprs", "SGPRs", ROCL_UNIT_COUNT, ROCL_MINOR, ROW(field_scalars)},
    {"lds_bytes", "LDS", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(key.lds)},
    {"scratch_bytes", "Scratch", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(key.scratch)},
    {"workgroups", "Workgroups", ROCL_UNIT_NUMBER, ROCL_MINOR, CELL(workgroups)},
    {"rounds", "Rounds", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(rounds)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_IF_FULL, CELL_BY(rocl_field_class, key.name)},
};

static const rocl_table_def occupancy_table = {
    ROCL_TAB(ROOFLINE), "occupancy", "Occupancy by kernel and launch", ROCL_COLUMNS(columns)};

static int compare_shapes(const void *a, const void *b, void *ctx)
{
    const occupancy *o = ctx;
    const shape_row *p = a, *q = b;
    const rocl_sort_values v[] = {
        {p->sums.total, 0, p->sums.calls, rocl_mean(p->sums.total, p->sums.calls)},
        {q->sums.total, 0, q->sums.calls, rocl_mean(q->sums.total, q->sums.calls)}};
    const int c = rocl_compare_values(o->c.options->sort, &v[0], &v[1]);
    return c ? c : rocl_keyed_compare(&shapes, o->c.trace, p, q);
}

static void add_shape(void *into, const void *from)
{
    shape_row *sum = into;
    const shape_row *r = from;
    rocl_keyed_add(&shapes, &sum->sums, &r->sums);
    sum->percent += r->percent;
}

static rocl_status finish_occupancy(void *self, rocl_tables *out, rocl_error *err)
{
    occupancy *o = self;
    size_t n;
    int64_t all = 0, unknown = 0;
    shape_row *rows = rocl_keyed_rows(&o->sums, &o->c, sizeof *rows, &n);
    if (!rows)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        all = rocl_add_saturated(all, rows[i].sums.total);
        compute_occupancy(o->c.trace, &rows[i]);
        unknown += !rows[i].limit;
    }
    for (size_t i = 0; i < n; i++)
        rows[i].percent = rocl_percent(rows[i].sums.total, all);
    qsort_r(rows, n, sizeof *rows, compare_shapes, o);
    rocl_report_rows r = rocl_begin_table(&o->c, out, &occupancy_table, 0);
    if (unknown)
        rocl_set_note(&r,
                      "of %lld of %zu rows it is not known: no registers in the trace, or a GPU "
                      "that is not in the table of rocstats-roofline(7)",
                      (long long)unknown, n);
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_shape);
    free(rows);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static void close_occupancy(void *self)
{
    occupancy *o = self;
    for (size_t i = 0; o->gpus && i < o->c.trace->capture_count; i++)
        free(o->gpus[i]);
    free(o->gpus);
}

const rocl_collector_def rocl_occupancy_collector = {
    .tables = (const rocl_table_def *const[]){&occupancy_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(occupancy),
    .open = open_occupancy,
    .add_batch = add_occupancy_batch,
    .finish = finish_occupancy,
    .close = close_occupancy,
    .gather = &rocl_gather_keyed,
};

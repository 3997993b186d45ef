/* The report "overlap": how long each GPU computed, copied, did both, or was idle, and how many
 * kernels ran at once. Work comes by GPU and begin, and what runs is kept by its end: so between
 * two of these times the same work runs.
 *
 *     both         = copy - exposed copy
 *     exposed copy = time in which copies run, and no kernel
 *     wall         = compute + exposed communication + exposed copy + idle
 */
#include <stdlib.h>

#include "analysis/activity.h"
#include "analysis/sweep.h"
#include "base/array.h"

/* How long how many kernels ran at once. */
enum { LEVELS = 64 /* this many or more are the last level */ };

/* What is known of a GPU: a result of the sweep, which consists of int64_t. */
typedef struct gpu_sums {
    int64_t first, last; /* times */
    int64_t compute, communication, copy;
    int64_t any_kernel, any; /* kernels of any kind; any work */
    int64_t kernels, copies, communications;
    int64_t levels[LEVELS + 1];
} gpu_sums;

enum { GPU_SUMS = sizeof(gpu_sums) / sizeof(int64_t) };

typedef struct running_work {
    int64_t end;
    rocl_activity activity;
} running_work;

typedef struct overlap {
    rocl_sweep sweep;
    rocl_ids *activities; /* by worker: of a kernel's name */
    /* On the GPU that is swept: */
    running_work *works; /* a heap: that at i ends no later than those at 2 i + 1 and 2 i + 2 */
    size_t count, cap;
    int64_t running[ROCL_ACTIVITIES];
} overlap;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_overlap_batch(void *self, unsigned worker, const rocl_batch *b,
                                     rocl_error *err)
{
    overlap *o = self;
    const rocl_trace *t = o->sweep.c.trace;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_gpu *gpus[2];
        rocl_activity activity = ROCL_ACTIVITY_COPY;
        if (b->kind == ROCL_DISPATCH &&
            !rocl_find_activity(t, &o->activities[worker], e->name, &activity))
            return rocl_fail_memory(err);
        const unsigned n = rocl_gpus_of(b, i, gpus);
        for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
            const uint64_t key[4] = {(uint64_t)(gpus[k] - t->gpus), (uint64_t)e->start,
                                     (uint64_t)e->end, activity};
            st = rocl_sweep_add(&o->sweep, worker, key, err);
        }
    }
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static bool is_possible(const void *self, const uint64_t *key)
{
    (void)self;
    return (int64_t)key[2] >= (int64_t)key[1] && key[3] < ROCL_ACTIVITIES;
}

/* Adds the time since the last begin or end, with what ran in it. */
static void pass_time(const overlap *o, gpu_sums *s, int64_t time)
{
    const int64_t *running = o->running, ns = time - s->last;
    const int64_t kernels = running[ROCL_ACTIVITY_COMPUTE] + running[ROCL_ACTIVITY_COMMUNICATION];
    s->compute += running[ROCL_ACTIVITY_COMPUTE] ? ns : 0;
    s->communication += running[ROCL_ACTIVITY_COMMUNICATION] ? ns : 0;
    s->copy += running[ROCL_ACTIVITY_COPY] ? ns : 0;
    s->any_kernel += kernels ? ns : 0;
    s->any += kernels + running[ROCL_ACTIVITY_COPY] ? ns : 0;
    s->levels[kernels < LEVELS ? kernels : LEVELS] += ns;
    s->last = time;
}

/* Ends work, the first to end first, as long as it ends up to this time. */
static void end_work(overlap *o, gpu_sums *s, int64_t time)
{
    while (o->count && o->works[0].end <= time) {
        pass_time(o, s, o->works[0].end);
        o->running[o->works[0].activity]--;
        const running_work w = o->works[--o->count]; /* goes down from the top */
        size_t at = 0, below;
        while ((below = 2 * at + 1) < o->count) {
            below += below + 1 < o->count && o->works[below + 1].end < o->works[below].end;
            if (w.end <= o->works[below].end)
                break;
            o->works[at] = o->works[below];
            at = below;
        }
        o->works[at] = w;
    }
}

static rocl_status begin_work(void *self, const uint64_t *key, int64_t *result, bool first,
                              rocl_error *err)
{
    overlap *o = self;
    gpu_sums *s = (gpu_sums *)(void *)result;
    const running_work w = {(int64_t)key[2], (rocl_activity)key[3]};
    if (first)
        s->first = s->last = (int64_t)key[1];
    end_work(o, s, (int64_t)key[1]);
    pass_time(o, s, (int64_t)key[1]);
    o->running[w.activity]++;
    s->copies += w.activity == ROCL_ACTIVITY_COPY;
    s->kernels += w.activity != ROCL_ACTIVITY_COPY;
    s->communications += w.activity == ROCL_ACTIVITY_COMMUNICATION;
    if (!ROCL_GROW(o->works, o->cap, o->count + 1))
        return rocl_fail_memory(err);
    size_t at = o->count++;
    for (; at && o->works[(at - 1) / 2].end > w.end; at = (at - 1) / 2)
        o->works[at] = o->works[(at - 1) / 2];
    o->works[at] = w;
    return ROCL_OK;
}

static void end_gpu(void *self, int64_t *result)
{
    end_work(self, (gpu_sums *)(void *)result, INT64_MAX);
}

static const rocl_sweep_def sweep_def = {
    .words = 4, .times = 2, .is_possible = is_possible, .extend = begin_work, .end = end_gpu};

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct overlap_row {
    const rocl_gpu *gpu;
    int64_t wall, all, compute, communication, exposed_communication, copy, both, exposed_copy,
        idle;
    double compute_percent, communication_percent, copy_percent, idle_percent; /* 100 in all */
    double busy_percent, hidden_copy_percent;
    uint64_t kernels, copies, communications;
    /* Times of communication: */
    int64_t hidden;
    double wall_percent, hidden_percent;
} overlap_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(overlap_row, field)
#define SUM(field)  ROCL_SUM, ROCL_CELL(overlap_row, field)

static rocl_datum field_rank(const rocl_report_rows *r, const void *field)
{
    const rocl_gpu *gpu = *(const rocl_gpu *const *)field;
    return rocl_field_id(r, &gpu->rank);
}

static const rocl_column overlap_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_OWN, ROCL_CELL_BY(field_rank, overlap_row, gpu)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, SUM(wall)},
    {"compute_percent", "Compute %", ROCL_UNIT_PERCENT, CELL(compute_percent)},
    {"exposed_communication_percent", "Exposed comm. %", ROCL_UNIT_PERCENT,
     CELL(communication_percent)},
    {"exposed_copy_percent", "Exposed copy %", ROCL_UNIT_PERCENT, CELL(copy_percent)},
    {"idle_percent", "Idle %", ROCL_UNIT_PERCENT, CELL(idle_percent)},
    {"busy_ns", "Busy", ROCL_UNIT_NS, ROCL_SUM | ROCL_IF_FULL, ROCL_CELL(overlap_row, all)},
    {"busy_percent", "Busy %", ROCL_UNIT_PERCENT, ROCL_MINOR, ROCL_CELL(overlap_row, busy_percent)},
    {"compute_ns", "Compute", ROCL_UNIT_NS, SUM(compute)},
    {"exposed_communication_ns", "Exposed comm.", ROCL_UNIT_NS, SUM(exposed_communication)},
    {"copy_ns", "Copy", ROCL_UNIT_NS, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, copy)},
    {"both_ns", "Both", ROCL_UNIT_NS, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, both)},
    {"exposed_copy_ns", "Exposed copy", ROCL_UNIT_NS, SUM(exposed_copy)},
    {"hidden_copy_percent", "Hidden copy %", ROCL_UNIT_PERCENT, ROCL_MINOR,
     ROCL_CELL(overlap_row, hidden_copy_percent)},
    {"idle_ns", "Idle", ROCL_UNIT_NS, SUM(idle)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, copies)},
};

static const rocl_column communication_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"communication_ns", "Communication", ROCL_UNIT_NS, SUM(communication)},
    {"wall_percent", "Of wall %", ROCL_UNIT_PERCENT, CELL(wall_percent)},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS, SUM(exposed_communication)},
    {"exposed_percent", "Exposed comm. %", ROCL_UNIT_PERCENT, CELL(communication_percent)},
    {"hidden_ns", "Hidden", ROCL_UNIT_NS, SUM(hidden)},
    {"hidden_percent", "Hidden of comm. %", ROCL_UNIT_PERCENT, CELL(hidden_percent)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, SUM(communications)},
};

typedef struct level_row {
    const rocl_gpu *gpu;
    uint64_t kernels;
    int64_t time;
    double percent;
} level_row;

#undef CELL
#undef SUM
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(level_row, field)
#define SUM(field)  ROCL_SUM, ROCL_CELL(level_row, field)

static const rocl_column level_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"kernels", "Kernels at once", ROCL_UNIT_COUNT, CELL(kernels)},
    {"time_ns", "Time", ROCL_UNIT_NS, SUM(time)},
    {"percent", "Of wall %", ROCL_UNIT_PERCENT, CELL(percent)},
};

static const rocl_table_def overlap_table = {
    ROCL_TAB(OVERLAP), "overlap", "Where the time of each GPU went", ROCL_COLUMNS(overlap_columns)};
static const rocl_table_def communication_table = {ROCL_TAB(OVERLAP), "communication",
                                                   "Communication per GPU",
                                                   ROCL_COLUMNS(communication_columns)};
static const rocl_table_def level_table = {ROCL_TAB(OVERLAP), "concurrency",
                                           "Kernels at once per GPU", ROCL_COLUMNS(level_columns)};

static rocl_status describe_gpu(const rocl_gpu *gpu, const gpu_sums *s, overlap_row *r,
                                rocl_error *err)
{
    int64_t at_once = 0;
    *r = (overlap_row){.gpu = gpu,
                       .wall = s->last - s->first,
                       .all = s->any,
                       .compute = s->compute,
                       .communication = s->communication,
                       .copy = s->copy,
                       .kernels = (uint64_t)s->kernels,
                       .copies = (uint64_t)s->copies,
                       .communications = (uint64_t)s->communications};
    r->exposed_communication = s->any_kernel - r->compute;
    r->exposed_copy = r->all - s->any_kernel;
    r->both = r->copy - r->exposed_copy;
    r->idle = r->wall - r->all;
    r->hidden = r->communication - r->exposed_communication;
    r->busy_percent = rocl_percent(r->all, r->wall);
    r->hidden_copy_percent = rocl_percent(r->both, r->copy);
    r->wall_percent = rocl_percent(r->communication, r->wall);
    r->compute_percent = rocl_percent(r->compute, r->wall);
    r->communication_percent = rocl_percent(r->exposed_communication, r->wall);
    r->copy_percent = rocl_percent(r->exposed_copy, r->wall);
    r->idle_percent = rocl_percent(r->idle, r->wall);
    r->hidden_percent = rocl_percent(r->hidden, r->communication);
    for (unsigned i = 0; i <= LEVELS; i++)
        at_once += s->levels[i];
    if (r->idle < 0 || r->both < 0 || r->exposed_copy < 0 || r->exposed_communication < 0 ||
        r->hidden < 0 || at_once != r->wall || s->levels[0] != r->wall - s->any_kernel)
        return rocl_fail(err, ROCL_INTERNAL, "busy and idle time do not add up");
    return ROCL_OK;
}

static rocl_status finish_overlap(void *self, rocl_tables *out, rocl_error *err)
{
    overlap *o = self;
    const rocl_collector *c = &o->sweep.c;
    const size_t gpus = c->trace->gpu_count;
    rocl_status st = rocl_sweep_finish(&o->sweep, err);
    overlap_row *rows = calloc(gpus + 1, sizeof *rows);
    if (st == ROCL_OK && !rows)
        st = rocl_fail_memory(err);
    rocl_report_rows r = rocl_begin_table(c, out, &overlap_table, 0);
    for (size_t i = 0; i < gpus && st == ROCL_OK; i++)
        if (o->sweep.results[i]) {
            st = describe_gpu(&c->trace->gpus[i], (const void *)o->sweep.results[i], &rows[i], err);
            rocl_add_row(&r, &rows[i]);
        }
    if (st == ROCL_OK && !c->options->brief) {
        r = rocl_begin_table(c, out, &communication_table, 0);
        for (size_t i = 0; i < gpus; i++)
            if (rows[i].communications)
                rocl_add_row(&r, &rows[i]);
        r = rocl_begin_table(c, out, &level_table, 0);
        for (size_t i = 0; i < gpus; i++) {
            const gpu_sums *s = (const void *)o->sweep.results[i];
            for (unsigned k = 0; s && k <= LEVELS; k++)
                if (s->levels[k])
                    rocl_add_row(&r, &(level_row){rows[i].gpu, k, s->levels[k],
                                                  rocl_percent(s->levels[k], rows[i].wall)});
            if (s && s->levels[LEVELS])
                rocl_set_note(&r, "64 stands for 64 and more");
        }
    }
    free(rows);
    return st;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_overlap(void *self, rocl_error *err)
{
    overlap *o = self;
    o->activities = calloc(o->sweep.c.trace->opt.jobs, sizeof *o->activities);
    return o->activities ? rocl_sweep_open(&o->sweep, &sweep_def, GPU_SUMS, err)
                         : rocl_fail_memory(err);
}

static void close_overlap(void *self)
{
    overlap *o = self;
    for (unsigned w = 0; o->activities && w < o->sweep.c.trace->opt.jobs; w++)
        rocl_ids_free(&o->activities[w]);
    free(o->activities);
    free(o->works);
    rocl_sweep_close(&o->sweep);
}

const rocl_collector_def rocl_overlap_collector = {
    .tables =
        (const rocl_table_def *const[]){&overlap_table, &communication_table, &level_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(overlap),
    .open = open_overlap,
    .add_batch = add_overlap_batch,
    .finish = finish_overlap,
    .close = close_overlap,
    .gather = &rocl_sweep_gather,
};

/* Energy in the report "samples": what the power of a GPU adds up to, and which kernels ran
 * meanwhile.
 *
 * Power and work come by GPU and time. Between two neighbouring times nothing changes, so that the
 * energy in between belongs to the kernels that run, in equal shares; to copies if no kernel runs;
 * or else to nobody. A walk over the times keeps sums since the begin: a kernel has what they have
 * grown by from its begin to its end. Kernels that run wait in a heap, by their ends. */
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/distribution.h"
#include "analysis/keyed.h"
#include "base/array.h"

/* Both kinds of keys are interned as bytes. */
typedef struct power_key {
    uint32_t gpu, counter; /* counter: text */
    uint32_t unit;         /* text */
} power_key;

typedef struct kernel_key {
    uint32_t name; /* text */
    uint32_t gpu;  /* ROCL_NONE: all together */
} kernel_key;

typedef struct power_sums {
    uint64_t count; /* values */
    int64_t last;   /* time of the last one */
} power_sums;

static const rocl_member power_members[] = {ROCL_MEMBER(power_sums, count, SUM_COUNT),
                                            ROCL_MEMBER(power_sums, last, SUM_GREATEST)};
static const rocl_keyed_def powers = {
    .key_size = sizeof(power_key), .sum_size = sizeof(power_sums), ROCL_SUM_MEMBERS(power_members)};

/* A counter of power. */
typedef struct power {
    power_key key; /* first */
    power_sums sums;
} power;

/* Sums since the begin. Energy in watts by nanoseconds. */
typedef struct sums {
    double all;         /* the whole GPU */
    double share, lone; /* for each dispatch that runs; for the one kernel, while only one runs */
    int64_t known;      /* ns in which power is known */
    int64_t lone_known; /* those of them in which one kernel runs */
    uint64_t samples;   /* values of power */
} sums;

/* Work that runs. */
typedef struct run {
    int64_t end, start;
    uint32_t kernel; /* group; 0: a copy */
    sums begin;
} run;

/* Also a row. */
typedef struct kernel {
    kernel_key key; /* first */
    uint64_t calls, samples;
    int64_t total, measured;    /* ns of its dispatches, and of these with known power */
    int64_t known, lone_known;  /* ns in which any of them runs */
    double energy, least, most; /* W * ns */
    double of_all; /* percent of the energy of all GPUs, or with --by-agent of its GPU */
    double joules_per_call, watts, alone_percent, known_percent;
    const rocl_gpu *gpu;
    uint64_t running; /* dispatches of it, on the GPU at hand, the first since .. */
    sums begin;
} kernel;

typedef struct gpu_energy {
    const rocl_gpu *gpu;
    uint32_t counter; /* text */
    uint64_t samples;
    int64_t known;
    double energy, kernels, copies, idle; /* W * ns */
    double watts, kernel_percent;
} gpu_energy;

typedef struct energy {
    rocl_collector c;    /* first */
    rocl_keyed counters; /* counters of power */
    rocl_strings *names; /* keys of kernels by id */
    rocl_sorter *sorter; /* NULL: the trace has no counter of power */
    kernel *kernels;     /* [0] is none */
    size_t kernel_count;
    power *powers; /* [0] is none */
    size_t power_count;
    /* The GPU at hand: */
    uint32_t chosen;      /* its counter of power; 0: it has none */
    double watts_of_unit; /* of that counter */
    int64_t now;
    double watts; /* negative: not known */
    sums sums;
    double of_kernels, of_copies, of_nobody;
    uint64_t kernels_running, dispatches_running, copies_running;
    run *heap;
    size_t running, cap;
} energy;

double rocl_watts_of_unit(const char *unit)
{
    static const struct {
        const char *text;
        double watts;
    } units[] = {{"W", 1},     {"watt", 1},         {"watts", 1},
                 {"mW", 1e-3}, {"milliwatt", 1e-3}, {"milliwatts", 1e-3},
                 {"uW", 1e-6}, {"microwatt", 1e-6}, {"microwatts", 1e-6}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(unit, units[i].text))
            return units[i].watts;
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* At equal times, work begins before values come: a value at the begin of a kernel is one of its
 * samples. What ends does so before. */
enum { KERNEL_BEGINS, COPY_BEGINS, POWER };

static rocl_status add_power(energy *s, unsigned worker, const rocl_batch *b,
                             const rocl_sample_value *v, rocl_error *err)
{
    const rocl_capture *c = b->capture;
    const rocl_counter *k = v->counter < c->counter_count ? &c->counters[v->counter] : NULL;
    const rocl_gpu *gpu = k ? rocl_gpu_of(c, v->agent == ROCL_NONE ? k->agent : v->agent) : NULL;
    if (!gpu || rocl_watts_of_unit(rocl_str(s->c.trace, k->units)) <= 0 || !(v->value >= 0))
        return ROCL_OK;
    const power_key key = {(uint32_t)(gpu - s->c.trace->gpus), k->name, k->units};
    const uint32_t id = rocl_keyed_group(&s->counters, &key);
    power_sums *of = id == ROCL_NONE ? NULL : rocl_keyed_sums(&s->counters, worker, id);
    if (!of)
        return rocl_fail_memory(err);
    rocl_keyed_add(&powers, of, &(power_sums){1, v->e.start});
    const uint64_t number = id;
    const uint64_t word[4] = {key.gpu, (uint64_t)v->e.start, POWER, rocl_bits_of_value(v->value)};
    return rocl_add_numbers(s->sorter, worker, word, &number, 1, err);
}

static rocl_status add_work(energy *s, unsigned worker, const rocl_batch *b, size_t i,
                            rocl_error *err)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_gpu *gpus[2];
    const unsigned n = rocl_gpus_of(b, i, gpus);
    rocl_status st = ROCL_OK;
    for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
        const uint32_t gpu = (uint32_t)(gpus[k] - s->c.trace->gpus);
        const uint64_t word[4] = {gpu, (uint64_t)e->start,
                                  b->kind == ROCL_COPY ? COPY_BEGINS : KERNEL_BEGINS,
                                  (uint64_t)e->end};
        uint64_t id = 0;
        if (b->kind == ROCL_DISPATCH) {
            const kernel_key key = {e->name == ROCL_NONE ? 0 : e->name,
                                    s->c.options->by_agent ? gpu : ROCL_NONE};
            id = rocl_strings_put(s->names, (const char *)&key, sizeof key);
            if (id == ROCL_NONE)
                return rocl_fail_memory(err);
        }
        st = rocl_add_numbers(s->sorter, worker, word, &id, 1, err);
    }
    return st;
}

static rocl_status add_energy_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = b->kind == ROCL_SAMPLE ? add_power(self, worker, b, &b->samples[i], err)
                                    : add_work(self, worker, b, i, err);
    return st;
}

/* ---- what runs ------------------------------------------------------------------------------- */

/* The order in which work ends. Equal ones have the same energy, so their order does not matter. */
static bool ends_before(const run *a, const run *b)
{
    return a->end != b->end ? a->end < b->end : a->start < b->start;
}

static bool push_run(energy *s, run r)
{
    size_t i = s->running;
    if (!ROCL_GROW(s->heap, s->cap, s->running + 1))
        return false;
    s->running++;
    for (; i && ends_before(&r, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = r;
    return true;
}

static run pop_run(energy *s)
{
    const run first = s->heap[0], last = s->heap[--s->running];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->running; i = child) {
        child += child + 1 < s->running && ends_before(&s->heap[child + 1], &s->heap[child]);
        if (!ends_before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = last;
    return first;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* To a time up to which nothing changes. */
static void advance_time(energy *s, int64_t time)
{
    const int64_t until = s->powers[s->chosen].sums.last, to = time < until ? time : until;
    if (s->watts >= 0 && to > s->now) {
        const int64_t ns = to - s->now;
        const double spent = s->watts * (double)ns;
        s->sums.all += spent;
        s->sums.known += ns;
        if (s->dispatches_running) {
            s->sums.share += spent / (double)s->dispatches_running;
            s->of_kernels += spent;
        } else {
            *(s->copies_running ? &s->of_copies : &s->of_nobody) += spent;
        }
        if (s->kernels_running == 1) {
            s->sums.lone += spent;
            s->sums.lone_known += ns;
        }
    }
    s->now = time;
}

static void end_first_run(energy *s)
{
    const run r = pop_run(s);
    advance_time(s, r.end);
    if (!r.kernel) {
        s->copies_running--;
        return;
    }
    kernel *k = &s->kernels[r.kernel];
    s->dispatches_running--;
    k->calls++;
    k->total = rocl_add_saturated(k->total, r.end - r.start);
    k->measured += s->sums.known - r.begin.known;
    k->energy += s->sums.share - r.begin.share;
    if (--k->running)
        return;
    s->kernels_running--;
    k->samples += s->sums.samples - k->begin.samples;
    k->known += s->sums.known - k->begin.known;
    k->lone_known += s->sums.lone_known - k->begin.lone_known;
    k->least += s->sums.lone - k->begin.lone;
    k->most += s->sums.all - k->begin.all;
}

/* The counter of a GPU with the most values, of equal ones the first by name. */
static uint32_t choose_power(const energy *s, uint32_t gpu)
{
    const power *best = &s->powers[0];
    for (const power *p = best + 1; p < s->powers + s->power_count; p++)
        if (p->key.gpu == gpu &&
            (p->sums.count > best->sums.count ||
             (p->sums.count == best->sums.count &&
              rocl_compare_texts(s->c.trace, p->key.counter, best->key.counter) < 0)))
            best = p;
    return (uint32_t)(best - s->powers);
}

static gpu_energy end_gpu(energy *s, uint32_t gpu)
{
    while (s->running)
        end_first_run(s);
    return (gpu_energy){.gpu = &s->c.trace->gpus[gpu],
                        .counter = s->powers[s->chosen].key.counter,
                        .samples = s->sums.samples,
                        .known = s->sums.known,
                        .energy = s->sums.all,
                        .kernels = s->of_kernels,
                        .copies = s->of_copies,
                        .idle = s->of_nobody,
                        .watts = rocl_ratio(s->sums.all, (double)s->sums.known),
                        .kernel_percent = 100 * rocl_ratio(s->of_kernels, s->sums.all)};
}

static rocl_status walk_gpus(energy *s, gpu_energy *out, size_t *gpus, rocl_error *err)
{
    uint64_t gpu = UINT64_MAX;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->sorter, err);
    while (rocl_next_record(s->sorter, &rec, &st, err)) {
        const int64_t time = (int64_t)rec.key[1];
        uint64_t id;
        rocl_read_numbers(&rec, &id, 1);
        if (rec.key[0] != gpu) {
            if (gpu != UINT64_MAX)
                out[(*gpus)++] = end_gpu(s, (uint32_t)gpu);
            gpu = rec.key[0];
            s->chosen = choose_power(s, (uint32_t)gpu);
            s->watts_of_unit =
                rocl_watts_of_unit(rocl_str(s->c.trace, s->powers[s->chosen].key.unit));
            s->now = INT64_MIN;
            s->watts = -1;
            s->sums = (sums){0};
            s->of_kernels = s->of_copies = s->of_nobody = 0;
        }
        while (s->running && s->heap[0].end <= time)
            end_first_run(s);
        advance_time(s, time);
        if (rec.key[2] == POWER && id == s->chosen) {
            s->watts = rocl_value_of_bits(rec.key[3]) * s->watts_of_unit;
            s->sums.samples++;
        } else if (rec.key[2] != POWER) {
            const run r = {(int64_t)rec.key[3], time, (uint32_t)id, s->sums};
            if (!push_run(s, r))
                return rocl_fail_memory(err);
            kernel *k = &s->kernels[id]; /* 0: a copy */
            s->copies_running += !id;
            s->dispatches_running += id != 0;
            if (id && !k->running++) {
                s->kernels_running++;
                k->begin = s->sums;
            }
        }
    }
    if (gpu != UINT64_MAX && st == ROCL_OK)
        out[(*gpus)++] = end_gpu(s, (uint32_t)gpu);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* From watts by nanoseconds. */
static rocl_datum field_joules(const rocl_report_rows *r, const void *field)
{
    (void)r;
    return rocl_datum_if_finite(*(const double *)field / 1e9);
}

#define CELL(field)   ROCL_ALWAYS, ROCL_CELL(gpu_energy, field)
#define JOULES(field) ROCL_ALWAYS, ROCL_CELL_BY(field_joules, gpu_energy, field)

static const rocl_column energy_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"counter", "Counter", ROCL_UNIT_TEXT, CELL(counter)},
    {"samples", "Samples", ROCL_UNIT_COUNT, CELL(samples)},
    {"known_ns", "Time", ROCL_UNIT_NS, CELL(known)},
    {"mean_watts", "Mean W", ROCL_UNIT_NUMBER, CELL(watts)},
    {"joules", "Energy", ROCL_UNIT_JOULES, JOULES(energy)},
    {"kernel_joules", "Kernels", ROCL_UNIT_JOULES, JOULES(kernels)},
    {"kernel_percent", "By kernels %", ROCL_UNIT_PERCENT, CELL(kernel_percent)},
    {"copy_joules", "Copies", ROCL_UNIT_JOULES, JOULES(copies)},
    {"idle_joules", "Idle", ROCL_UNIT_JOULES, JOULES(idle)},
};

#undef CELL
#define CELL(field) ROCL_IN_REST, ROCL_CELL(kernel, field)
#undef JOULES
#define JOULES(field) ROCL_IN_REST, ROCL_CELL_BY(field_joules, kernel, field)

static const rocl_column kernel_columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(kernel, key.name)},
    {"gpu", "GPU", ROCL_UNIT_TEXT, ROCL_IF_AGENT, ROCL_CELL(kernel, gpu)},
    {"calls", "Calls", ROCL_UNIT_COUNT, CELL(calls)},
    {"total_ns", "Time", ROCL_UNIT_NS, CELL(total)},
    {"joules", "Energy", ROCL_UNIT_JOULES, JOULES(energy)},
    {"percent", "Of energy %", ROCL_UNIT_PERCENT, CELL(of_all)},
    {"joules_per_call", "Per call", ROCL_UNIT_JOULES, CELL(joules_per_call)},
    {"mean_watts", "Mean W", ROCL_UNIT_NUMBER, CELL(watts)},
    {"least_joules", "At least", ROCL_UNIT_JOULES, JOULES(least)},
    {"most_joules", "At most", ROCL_UNIT_JOULES, JOULES(most)},
    {"alone_percent", "Alone %", ROCL_UNIT_PERCENT, CELL(alone_percent)},
    {"known_percent", "Measured %", ROCL_UNIT_PERCENT, CELL(known_percent)},
    {"samples", "Samples", ROCL_UNIT_COUNT, CELL(samples)},
};

const rocl_table_def rocl_energy_table = {ROCL_TAB(COUNTERS), "energy", "Energy per GPU",
                                          ROCL_COLUMNS(energy_columns)};
const rocl_table_def rocl_kernel_energy_table = {ROCL_TAB(COUNTERS), "kernel_energy",
                                                 "Energy of kernels", ROCL_COLUMNS(kernel_columns)};

/* --sort: total and max by energy, average by that of a call. */
static int compare_kernels(const void *a, const void *b, void *ctx)
{
    const energy *s = ctx;
    const kernel *x = a, *y = b;
    const rocl_sort_by by = s->c.options->sort;
    double v = x->energy, w = y->energy;
    if (by == ROCL_BY_CALLS)
        v = (double)x->calls, w = (double)y->calls;
    else if (by == ROCL_BY_AVERAGE)
        v = x->energy / (double)x->calls, w = y->energy / (double)y->calls;
    int c = by == ROCL_BY_NAME || v == w ? 0 : v < w ? 1 : -1;
    if (!c)
        c = rocl_compare_texts(s->c.trace, x->key.name, y->key.name);
    return c ? c : rocl_number_order(x->key.gpu, y->key.gpu);
}

static void describe_kernel(kernel *k)
{
    k->joules_per_call = rocl_ratio(k->energy / 1e9, (double)k->calls);
    k->watts = rocl_ratio(k->most, (double)k->known);
    k->alone_percent = rocl_percent(k->lone_known, k->known);
    k->known_percent = rocl_percent(k->measured, k->total);
}

static void add_kernel(void *into, const void *from)
{
    kernel *sum = into;
    const kernel *k = from;
    sum->calls += k->calls;
    sum->samples += k->samples;
    sum->total = rocl_add_saturated(sum->total, k->total);
    sum->measured += k->measured;
    sum->known += k->known;
    sum->lone_known += k->lone_known;
    sum->energy += k->energy;
    sum->least += k->least;
    sum->most += k->most;
    sum->of_all += k->of_all;
    describe_kernel(sum);
}

static void put_energy(energy *s, rocl_tables *out, const gpu_energy *gpus, size_t gpu_count)
{
    double all = 0;
    rocl_report_rows r = rocl_begin_table(&s->c, out, &rocl_energy_table, 0);
    for (size_t i = 0; i < gpu_count; i++) {
        all += gpus[i].energy;
        if (gpus[i].counter)
            rocl_add_row(&r, &gpus[i]);
    }
    size_t n = 0;
    for (size_t i = 1; i < s->kernel_count; i++) {
        kernel k = s->kernels[i];
        double whole = all;
        for (size_t g = 0; g < gpu_count && k.key.gpu != ROCL_NONE; g++)
            if (gpus[g].gpu == &s->c.trace->gpus[k.key.gpu])
                whole = gpus[g].energy;
        k.gpu = k.key.gpu == ROCL_NONE ? NULL : &s->c.trace->gpus[k.key.gpu];
        k.of_all = whole > 0 ? 100 * k.energy / whole : 0;
        describe_kernel(&k);
        if (k.known > 0 || k.samples)
            s->kernels[n++] = k;
    }
    r = rocl_begin_table(&s->c, out, &rocl_kernel_energy_table, 0);
    if (n)
        qsort_r(s->kernels, n, sizeof *s->kernels, compare_kernels, s);
    rocl_add_top_rows(&r, s->kernels, n, sizeof *s->kernels, add_kernel);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_energy(void *self, rocl_error *err)
{
    energy *s = self;
    const rocl_trace *t = s->c.trace;
    bool has_power = false;
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.counter_count; k++)
            has_power |= rocl_watts_of_unit(rocl_str(t, t->captures[i]->pub.counters[k].units)) > 0;
    s->c.kinds = has_power ? s->c.def->kinds : 0;
    if (!has_power)
        return ROCL_OK;
    s->names = rocl_strings_new();
    s->sorter = rocl_collector_sorter(&s->c, 4);
    if (!s->names || !s->sorter)
        return rocl_fail_memory(err);
    return rocl_keyed_open(&s->counters, &powers, &s->c, err);
}

static rocl_status finish_energy(void *self, rocl_tables *out, rocl_error *err)
{
    energy *s = self;
    if (!s->sorter) {
        put_energy(s, out, NULL, 0);
        return ROCL_OK;
    }
    size_t gpus = 0;
    gpu_energy *energies = calloc(s->c.trace->gpu_count + 1, sizeof *energies);
    s->powers =
        rocl_groups_new(s->counters.keys, sizeof(power_key), sizeof *s->powers, &s->power_count);
    s->kernels =
        rocl_groups_new(s->names, sizeof(kernel_key), sizeof *s->kernels, &s->kernel_count);
    rocl_status st = s->powers && energies && s->kernels ? ROCL_OK : rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->power_count && st == ROCL_OK; i++)
        rocl_keyed_join(&s->counters, &s->c, i, &s->powers[i].sums);
    if (st == ROCL_OK)
        st = walk_gpus(s, energies, &gpus, err);
    if (st == ROCL_OK)
        put_energy(s, out, energies, gpus);
    free(energies);
    return st;
}

static void close_energy(void *self)
{
    energy *s = self;
    rocl_strings_free(s->names);
    free(s->powers);
    free(s->kernels);
    free(s->heap);
}

const rocl_collector_def rocl_energy_collector = {
    .tables = (const rocl_table_def *const[]){&rocl_energy_table, &rocl_kernel_energy_table, NULL},
    .kinds = ROCL_BIT(ROCL_SAMPLE) | ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(energy),
    .open = open_energy,
    .add_batch = add_energy_batch,
    .finish = finish_energy,
    .close = close_energy,
};

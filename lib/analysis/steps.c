/* The steps of a program: how long each took, what the GPUs did for it, and which of them stand
 * out.
 *
 *     work     which GPU work is whose (step_work.h): a sweep measures each step
 *     sums     per step and name of the work: a distribution for each name
 *     domains  all that takes time: events of each domain in each step (step_domains.h)
 *
 * In memory are the steps, and the work of one name in each of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/domains.h"
#include "analysis/activity.h"
#include "analysis/step_domains.h"
#include "analysis/step_work.h"
#include "base/array.h"
#include "model/ranks.h"

enum { NAMED_OUTLIERS = 3, LEAST_FOR_OUTLIERS = 5 };

/* A step: its range, and its work. */
typedef struct step_row {
    const rocl_step *step;
    const char *marker, *rank;
    int32_t rank_number;
    int64_t pid, tid;
    uint32_t name; /* text */
    uint64_t number;
    int64_t start, wall;
    int64_t first, last, hidden; /* times of the work; hidden: it ran while the range lasted */
    int64_t span, busy, compute, communication, copy, idle, no_gpu;
    int64_t hidden_communication, hidden_copy, longest_gap;
    uint64_t kernels, copies, launches;
    double of_median; /* wall, of that of the series */
    const char *outlier;
} step_row;

/* What is measured of each step. */
static const struct {
    const char *name;
    size_t at;
} measures[] = {
    {"wall", offsetof(step_row, wall)},
    {"GPU span", offsetof(step_row, span)},
    {"GPU busy", offsetof(step_row, busy)},
    {"compute", offsetof(step_row, compute)},
    {"exposed communication", offsetof(step_row, communication)},
    {"exposed copy", offsetof(step_row, copy)},
    {"idle", offsetof(step_row, idle)},
    {"no GPU work", offsetof(step_row, no_gpu)},
};

enum { MEASURES = sizeof measures / sizeof *measures };

static int64_t measure_of(const step_row *r, unsigned m)
{
    return *(const int64_t *)(const void *)((const char *)r + measures[m].at);
}

typedef struct steps {
    rocl_collector c;
    rocl_sorter *marks, *work, *owned, *sums;
    rocl_step_work of;
    step_row *rows; /* as of.steps.all */
    rocl_step_domains domains;
} steps;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_step_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    steps *s = self;
    const bool work = b->kind == ROCL_DISPATCH || b->kind == ROCL_COPY;
    const rocl_status st =
        work ? ROCL_OK : rocl_step_domains_add_batch(&s->domains, worker, b, err);
    return st == ROCL_OK && (work || b->kind == ROCL_MARKER)
               ? rocl_step_work_add_batch(&s->of, worker, b, err)
               : st;
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    steps *s = self;
    rocl_status st = rocl_step_work_resolve(&s->of, err);
    if (st == ROCL_OK && !(s->rows = calloc(s->of.steps.count + 1, sizeof *s->rows)))
        st = rocl_fail_memory(err);
    rocl_collector_free_sorter(&s->c, &s->marks);
    return st == ROCL_OK && s->of.steps.count ? rocl_step_work_look_up(&s->of, calls, err) : st;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* The work of one name in the step that is swept. */
typedef struct name_sum {
    uint64_t what; /* kind and name */
    uint64_t count;
    int64_t ns;
} name_sum;

typedef struct step_sweep {
    size_t of; /* SIZE_MAX: none yet */
    rocl_cover covers[ROCL_UNIONS];
    rocl_ids sum_of; /* by kind and name */
    name_sum *sums;
    size_t sum_count, sum_cap;
    rocl_ids activities; /* by name of a kernel */
} step_sweep;

/* A record for each name in each step. */
enum { SUM_SERIES_SHIFT = 40 /* above kind and name */ };

static rocl_status end_step(steps *s, step_sweep *w, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < w->sum_count && st == ROCL_OK; i++) {
        const uint64_t key[2] = {
            (uint64_t)s->of.steps.all[w->of].series << SUM_SERIES_SHIFT | w->sums[i].what, w->of};
        const uint64_t numbers[] = {w->sums[i].count, (uint64_t)w->sums[i].ns};
        st = rocl_add_numbers(s->sums, 0, key, numbers, 2, err);
    }
    if (w->of != SIZE_MAX) {
        step_row *r = &s->rows[w->of];
        r->span = r->last - r->first;
        r->busy = w->covers[ROCL_UNION_ALL].measure;
        r->compute = w->covers[ROCL_UNION_COMPUTE].measure;
        r->communication = w->covers[ROCL_UNION_KERNELS].measure - r->compute;
        r->copy = r->busy - w->covers[ROCL_UNION_KERNELS].measure;
        r->idle = r->span - r->busy;
        r->hidden_communication = w->covers[ROCL_UNION_COMMUNICATION].measure - r->communication;
        r->hidden_copy = w->covers[ROCL_UNION_COPY].measure - r->copy;
    }
    w->sum_count = 0;
    rocl_ids_free(&w->sum_of);
    w->sum_of = (rocl_ids){0};
    return st;
}

static rocl_status measure_work(steps *s, step_sweep *w, const rocl_step_piece *p, rocl_error *err)
{
    const rocl_step *step = &s->of.steps.all[w->of];
    step_row *r = &s->rows[w->of];
    const int64_t start = p->start, end = p->end;
    const uint64_t what = (uint64_t)p->name << 8 | p->kind;
    rocl_activity activity = ROCL_ACTIVITY_COPY;
    const bool kernel = p->kind == ROCL_DISPATCH;
    if (kernel && !rocl_find_activity(s->c.trace, &w->activities, p->name, &activity))
        return rocl_fail_memory(err);
    if (!(r->kernels + r->copies)) {
        r->first = start;
        r->last = end;
    }
    const int64_t until = w->covers[ROCL_UNION_ALL].until;
    if (r->kernels + r->copies && start > until && start - until > r->longest_gap)
        r->longest_gap = start - until;
    /* What no work before it covers, as far as the range reaches. */
    int64_t from = start > until ? start : until, to = end < step->end ? end : step->end;
    from = from > step->start ? from : step->start;
    r->hidden += to > from ? to - from : 0;
    r->last = end > r->last ? end : r->last;
    r->kernels += kernel;
    r->copies += !kernel;
    rocl_covers_extend(w->covers, activity, start, end);
    if (!rocl_step_domains_add(&s->domains, w->of, s->of.steps.count,
                               kernel ? ROCL_DOMAIN_KERNELS : ROCL_DOMAIN_MEMORY_COPIES,
                               (rocl_step_sum){1, end - start}))
        return rocl_fail_memory(err);
    uint32_t i = rocl_ids_get(&w->sum_of, what);
    if (i == ROCL_NONE) {
        i = (uint32_t)w->sum_count;
        if (!ROCL_GROW(w->sums, w->sum_cap, w->sum_count + 1) || !rocl_ids_put(&w->sum_of, what, i))
            return rocl_fail_memory(err);
        w->sums[w->sum_count++] = (name_sum){.what = what};
    }
    w->sums[i].count++;
    w->sums[i].ns = rocl_add_saturated(w->sums[i].ns, end - start);
    return ROCL_OK;
}

static rocl_status measure_steps(steps *s, rocl_error *err)
{
    step_sweep w = {.of = SIZE_MAX};
    rocl_step_piece p;
    rocl_status st = rocl_sorter_start(s->owned, err);
    while (rocl_step_work_next(&s->of, &p, &st, err)) {
        if (p.step != w.of) {
            st = end_step(s, &w, err);
            w.of = p.step;
            rocl_covers_begin(w.covers);
        }
        if (st == ROCL_OK)
            st = measure_work(s, &w, &p, err);
    }
    if (st == ROCL_OK)
        st = end_step(s, &w, err);
    rocl_ids_free(&w.sum_of);
    rocl_ids_free(&w.activities);
    free(w.sums);
    rocl_collector_free_sorter(&s->c, &s->owned);
    return st;
}

/* ---- distributions --------------------------------------------------------------------------- */

static bool is_outlier(int64_t value, int64_t median, double limit)
{
    return limit >= 0 && fabs((double)value - (double)median) > limit;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(step_row, field)

static const rocl_column step_columns[] = {
    {"marker", "Marker", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(marker)},
    {"place", "Rank", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(rank)},
    {"step", "Step", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(name)},
    {"number", "Number", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(number)},
    {"tid", "Thread", ROCL_UNIT_COUNT, ROCL_MINOR, ROCL_CELL_BY(rocl_field_known, step_row, tid)},
    {"start_ns", "Start", ROCL_UNIT_TIME, ROCL_MINOR, CELL(start)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, ROCL_IN_REST, CELL(wall)},
    {"of_median", "Of median", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(of_median)},
    {"outlier", "Outlier", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(outlier)},
    {"gpu_span_ns", "GPU span", ROCL_UNIT_NS, ROCL_MINOR, CELL(span)},
    {"gpu_busy_ns", "GPU busy", ROCL_UNIT_NS, ROCL_IN_REST, CELL(busy)},
    {"compute_ns", "Compute", ROCL_UNIT_NS, ROCL_IN_REST, CELL(compute)},
    {"exposed_communication_ns", "Exposed comm.", ROCL_UNIT_NS, ROCL_IN_REST, CELL(communication)},
    {"exposed_copy_ns", "Exposed copy", ROCL_UNIT_NS, ROCL_IN_REST, CELL(copy)},
    {"idle_ns", "Idle", ROCL_UNIT_NS, ROCL_IN_REST, CELL(idle)},
    {"no_gpu_ns", "No GPU work", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(no_gpu)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(copies)},
    {"launches", "Launch calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(launches)},
    {"hidden_communication_ns", "Hidden comm.", ROCL_UNIT_NS, ROCL_MINOR,
     CELL(hidden_communication)},
    {"hidden_copy_ns", "Hidden copy", ROCL_UNIT_NS, ROCL_MINOR, CELL(hidden_copy)},
    {"longest_gap_ns", "Longest gap", ROCL_UNIT_NS, ROCL_MINOR, CELL(longest_gap)},
};

/* A measure over the steps of a series, or of a rank. */
typedef struct spread_row {
    const char *marker, *rank, *measure, *outliers;
    rocl_distribution d;
    uint64_t outlier_count;
} spread_row;

#undef CELL
#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(spread_row, field)
#define MINOR(field) ROCL_MINOR, ROCL_CELL(spread_row, field)

static const rocl_column spread_columns[] = {
    {"marker", "Marker", ROCL_UNIT_TEXT, CELL(marker)},
    {"place", "Rank", ROCL_UNIT_TEXT, ROCL_IF_RANK, ROCL_CELL(spread_row, rank)},
    {"measure", "Per step", ROCL_UNIT_TEXT, CELL(measure)},
    {"steps", "Steps", ROCL_UNIT_COUNT, CELL(d.taken)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_SUM | ROCL_MINOR, ROCL_CELL(spread_row, d.total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_average, spread_row, d)},
    {"median_ns", "Median", ROCL_UNIT_NS, CELL(d.median)},
    {"p95_ns", "P95", ROCL_UNIT_NS, CELL(d.p95)},
    {"p99_ns", "P99", ROCL_UNIT_NS, CELL(d.p99)},
    {"min_ns", "Min", ROCL_UNIT_NS, MINOR(d.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, CELL(d.max)},
    {"stddev_ns", "Std. dev.", ROCL_UNIT_NS, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_stddev, spread_row, d)},
    {"outliers", "Outliers", ROCL_UNIT_COUNT, CELL(outlier_count)},
    {"outlier_steps", "Which", ROCL_UNIT_TEXT, CELL(outliers)},
};

/* The steps with one number on several ranks. */
typedef struct across_row {
    const char *marker, *slowest;
    uint64_t number, ranks;
    int64_t min, max, total;
    double mean, excess, imbalance;
} across_row;

#undef CELL
#undef MINOR
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(across_row, field)

static const rocl_column across_columns[] = {
    {"marker", "Marker", ROCL_UNIT_TEXT, CELL(marker)},
    {"number", "Number", ROCL_UNIT_COUNT, CELL(number)},
    {"ranks", "Ranks", ROCL_UNIT_COUNT, CELL(ranks)},
    {"min_ns", "Min", ROCL_UNIT_NS, CELL(min)},
    {"mean_ns", "Mean", ROCL_UNIT_NS, CELL(mean)},
    {"max_ns", "Max", ROCL_UNIT_NS, CELL(max)},
    {"excess_ns", "Max - mean", ROCL_UNIT_NS, CELL(excess)},
    {"imbalance", "Max / mean", ROCL_UNIT_NUMBER, CELL(imbalance)},
    {"slowest", "Slowest", ROCL_UNIT_TEXT, CELL(slowest)},
};

/* A domain over the steps of a series, or of a rank. */
typedef struct domain_row {
    const char *marker, *rank, *domain, *outliers;
    rocl_distribution events, d; /* per step: how many, and the sum of their durations */
    uint64_t outlier_count;
} domain_row;

#undef CELL
#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(domain_row, field)
#define MINOR(field) ROCL_MINOR, ROCL_CELL(domain_row, field)

static const rocl_column domain_columns[] = {
    {"marker", "Marker", ROCL_UNIT_TEXT, CELL(marker)},
    {"place", "Rank", ROCL_UNIT_TEXT, ROCL_IF_RANK, ROCL_CELL(domain_row, rank)},
    {"domain", "Domain", ROCL_UNIT_TEXT, CELL(domain)},
    {"steps", "Steps", ROCL_UNIT_COUNT, CELL(d.taken)},
    {"events", "Events", ROCL_UNIT_COUNT, ROCL_SUM, ROCL_CELL(domain_row, events.total)},
    {"events_average", "Per step", ROCL_UNIT_NUMBER, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_average, domain_row, events)},
    {"events_median", "Median", ROCL_UNIT_COUNT, CELL(events.median)},
    {"events_min", "Min", ROCL_UNIT_COUNT, CELL(events.min)},
    {"events_max", "Max", ROCL_UNIT_COUNT, CELL(events.max)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_SUM | ROCL_MINOR, ROCL_CELL(domain_row, d.total)},
    {"average_ns", "Time per step", ROCL_UNIT_NS, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_average, domain_row, d)},
    {"median_ns", "Median time", ROCL_UNIT_NS, CELL(d.median)},
    {"p95_ns", "P95", ROCL_UNIT_NS, MINOR(d.p95)},
    {"p99_ns", "P99", ROCL_UNIT_NS, CELL(d.p99)},
    {"min_ns", "Shortest", ROCL_UNIT_NS, MINOR(d.min)},
    {"max_ns", "Longest", ROCL_UNIT_NS, CELL(d.max)},
    {"stddev_ns", "Std. dev.", ROCL_UNIT_NS, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_stddev, domain_row, d)},
    {"outliers", "Outliers", ROCL_UNIT_COUNT, CELL(outlier_count)},
    {"outlier_steps", "Which", ROCL_UNIT_TEXT, CELL(outliers)},
};

/* A name of kernels or copies over the steps that have it. */
typedef struct name_row {
    uint32_t series, name; /* name: text */
    const char *marker, *kind, *longest, *outliers;
    rocl_distribution d; /* distribution of the time per step */
    uint64_t calls, outlier_count;
    double calls_per_step, percent;
    int64_t all; /* time of the series */
} name_row;

#undef CELL
#undef MINOR
#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(name_row, field)
#define MINOR(field) ROCL_MINOR, ROCL_CELL(name_row, field)
#define REST(field)  ROCL_IN_REST, ROCL_CELL(name_row, field)

static const rocl_column name_columns[] = {
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(name_row, name)},
    {"kind", "Kind", ROCL_UNIT_TEXT, MINOR(kind)},
    {"marker", "Marker", ROCL_UNIT_TEXT, MINOR(marker)},
    {"steps", "Steps", ROCL_UNIT_COUNT, CELL(d.taken)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, ROCL_CELL(name_row, calls)},
    {"calls_per_step", "Per step", ROCL_UNIT_NUMBER, CELL(calls_per_step)},
    {"total_ns", "Total", ROCL_UNIT_NS, REST(d.total)},
    {"percent", "Of step work %", ROCL_UNIT_PERCENT, REST(percent)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_average, name_row, d)},
    {"median_ns", "Median", ROCL_UNIT_NS, CELL(d.median)},
    {"p99_ns", "P99", ROCL_UNIT_NS, CELL(d.p99)},
    {"max_ns", "Max", ROCL_UNIT_NS, CELL(d.max)},
    {"max_step", "Max in", ROCL_UNIT_TEXT, CELL(longest)},
    {"outliers", "Outliers", ROCL_UNIT_COUNT, CELL(outlier_count)},
    {"outlier_steps", "Which", ROCL_UNIT_TEXT, MINOR(outliers)},
};

static const rocl_table_def step_table = {ROCL_TAB(STEPS), "steps", "Steps",
                                          ROCL_COLUMNS(step_columns)};
static const rocl_table_def spread_table = {ROCL_TAB(STEPS), "step_distribution", "Times per step",
                                            ROCL_COLUMNS(spread_columns)};
static const rocl_table_def across_table = {ROCL_TAB(STEPS), "step_ranks", "Steps over ranks",
                                            ROCL_COLUMNS(across_columns)};
static const rocl_table_def domain_table = {
    ROCL_TAB(STEPS), "step_domains", "Events per step by domain", ROCL_COLUMNS(domain_columns)};
static const rocl_table_def name_table = {
    ROCL_TAB(STEPS), "step_kernels", "Kernels and copies per step", ROCL_COLUMNS(name_columns)};

/* "step:7 on rank 1"; the rank only if there are several. */
static void put_step_name(rocl_buf *to, const steps *s, const step_row *r, bool ranks)
{
    size_t n;
    const char *name = rocl_strings_get(s->c.trace->strings, r->name, &n);
    rocl_buf_put(to, name, n);
    if (r->step->stem_len == n) /* steps without numbers in their names */
        rocl_buf_printf(to, " #%llu", (unsigned long long)r->number);
    if (ranks)
        rocl_buf_printf(to, " on %s", r->rank);
}

/* A text of the tables; frees the buffer. */
static const char *keep_text(rocl_tables *out, rocl_buf *b)
{
    const char *text = rocl_tables_text(out, b->len ? (const char *)b->data : "", b->len);
    out->incomplete |= b->failed;
    rocl_buf_free(b);
    return text;
}

/* A value, and the step that it is of. */
typedef struct step_value {
    const step_row *of;
    int64_t value, off; /* off: from the median */
} step_value;

static int compare_deviations(const void *a, const void *b)
{
    const step_value *x = a, *y = b;
    const int c = rocl_number_order(y->off, x->off);
    return c ? c : (x->of > y->of) - (x->of < y->of);
}

/* Counts the outliers among n values and names those that are furthest from the median. Reorders
 * the values. */
static const char *name_outliers(const steps *s, rocl_tables *out, step_value *values, size_t n,
                                 int64_t median, double limit, bool ranks, uint64_t *count)
{
    rocl_buf b = {0};
    *count = 0;
    for (size_t i = 0; i < n; i++)
        if (is_outlier(values[i].value, median, limit)) {
            values[*count] = values[i];
            values[*count].off = labs(values[i].value - median);
            ++*count;
        }
    if (!*count)
        return NULL;
    qsort(values, *count, sizeof *values, compare_deviations);
    for (size_t i = 0; i < *count && i < NAMED_OUTLIERS; i++) {
        rocl_buf_str(&b, i ? ", " : "");
        put_step_name(&b, s, values[i].of, ranks);
        if (median > 0)
            rocl_buf_printf(&b, " (%.2fx)", (double)values[i].value / (double)median);
    }
    if (*count > NAMED_OUTLIERS)
        rocl_buf_printf(&b, " and %llu more", (unsigned long long)(*count - NAMED_OUTLIERS));
    return keep_text(out, &b);
}

/* ---- the rows of steps ----------------------------------------------------------------------- */

/* Space for one value of each step, twice. */
typedef struct space {
    step_value *values;
    int64_t *sorted;
} space;

/* *limit: values that are further from the median are outliers, if they are also further than 5 %
 * of it; -1: too few to tell. */
static void describe_space(space *v, size_t n, rocl_distribution *d, double *limit)
{
    int64_t *sorted = v->sorted;
    for (size_t i = 0; i < n; i++)
        sorted[i] = v->values[i].value;
    qsort(sorted, n, sizeof *sorted, rocl_compare_i64);
    rocl_distribution_begin(d, n);
    for (size_t i = 0; i < n; i++)
        rocl_distribution_take(d, sorted[i]);
    *limit = -1;
    if (n < LEAST_FOR_OUTLIERS)
        return;
    rocl_distribution off;
    for (size_t i = 0; i < n; i++)
        sorted[i] = sorted[i] > d->median ? sorted[i] - d->median : d->median - sorted[i];
    qsort(sorted, n, sizeof *sorted, rocl_compare_i64);
    rocl_distribution_begin(&off, n);
    for (size_t i = 0; i < n; i++)
        rocl_distribution_take(&off, sorted[i]);
    /* 1.4826 times the median deviation is the standard deviation where values are normal. */
    const double robust = 3.5 * 1.4826 * (double)off.median, least = 0.05 * (double)d->median;
    *limit = robust > least ? robust : least;
}

static void describe_steps(steps *s, space *v, rocl_tables *out)
{
    for (size_t i = 0; i < s->of.steps.count; i++) {
        const rocl_step *p = &s->of.steps.all[i];
        step_row *r = &s->rows[i];
        const rocl_capture *c = &s->c.trace->captures[p->process >> 32]->pub;
        const rocl_process *of = &c->processes[(uint32_t)p->process];
        char label[48];
        rocl_rank_name(&(rocl_rank){.number = of->rank, .pid = of->pid}, label);
        const bool same = i && s->of.steps.all[i - 1].process == p->process;
        r->step = p;
        r->rank = same ? r[-1].rank : rocl_tables_text(out, label, strlen(label));
        r->marker = i && s->of.steps.all[i - 1].series == p->series
                        ? r[-1].marker
                        : rocl_tables_text(out, p->stem, p->stem_len);
        r->rank_number = of->rank;
        r->pid = of->pid;
        r->tid = p->thread < c->thread_count ? c->threads[p->thread].tid : -1;
        r->name = p->name;
        r->number = p->number;
        r->start = p->start;
        r->wall = p->end - p->start;
        r->launches = s->of.launches[i];
        r->no_gpu = r->wall - r->hidden;
    }
    for (size_t k = 0; k < s->of.steps.series_count; k++) {
        const rocl_step_series *own = &s->of.steps.series[k];
        rocl_distribution d;
        double limit;
        for (size_t i = 0; i < own->count; i++)
            v->values[i] = (step_value){.value = s->rows[own->first + i].wall};
        describe_space(v, own->count, &d, &limit);
        for (size_t i = 0; i < own->count; i++) {
            step_row *r = &s->rows[own->first + i];
            r->of_median = rocl_ratio((double)r->wall, (double)d.median);
            if (is_outlier(r->wall, d.median, limit))
                r->outlier = r->wall > d.median ? "slow" : "fast";
        }
    }
}

static void add_step(void *into, const void *from)
{
    step_row *sum = into;
    const step_row *r = from;
    int64_t *const to[] = {&sum->wall,          &sum->span, &sum->busy, &sum->compute,
                           &sum->communication, &sum->copy, &sum->idle, &sum->no_gpu};
    for (unsigned m = 0; m < MEASURES; m++)
        *to[m] = rocl_add_saturated(*to[m], measure_of(r, m));
    sum->kernels += r->kernels;
    sum->copies += r->copies;
    sum->launches += r->launches;
}

static bool has_several_ranks(const steps *s, const rocl_step_series *own)
{
    return s->of.steps.all[own->first].process !=
           s->of.steps.all[own->first + own->count - 1].process;
}

static rocl_status put_steps(steps *s, rocl_tables *out, rocl_error *err)
{
    step_row *rows = calloc(s->of.steps.count + 1, sizeof *rows);
    size_t n = 0;
    if (!rows)
        return rocl_fail_memory(err);
    for (size_t k = 0; k < s->of.series_count; k++) {
        const rocl_step_series *own = &s->of.steps.series[k];
        memcpy(rows + n, s->rows + own->first, own->count * sizeof *rows);
        n += own->count;
    }
    const rocl_report_rows r = rocl_begin_table(&s->c, out, &step_table, 0);
    const char *others = s->of.steps.series_count > ROCL_STEP_SERIES_MOST
                             ? "; only the 16 markers with the most time"
                             : "";
    _Static_assert(ROCL_STEP_SERIES_MOST == 16, "the text says so");
    if (!n && r.table)
        r.table->why_empty =
            s->of.mark_count > ROCL_STEPS_MOST
                ? "more than 100000 markers are steps; --step-markers REGEX says which of them are"
            : s->c.trace->opt.step_markers ? "no marker has a name that --step-markers matches"
                                           : "no marker counts steps, as ProfilerStep#3 or step:3 "
                                             "do; --step-markers REGEX says "
                                             "which markers are steps";
    _Static_assert(ROCL_STEPS_MOST == 100000, "the text says so");
    if (n && (s->of.outside || *others))
        rocl_set_note(&r, "%llu kernels and copies belong to no step%s",
                      (unsigned long long)s->of.outside, others);
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_step);
    free(rows);
    return ROCL_OK;
}

/* ---- the rows of distributions --------------------------------------------------------------- */

/* The end of the steps from `from` on that are described together: with --by-rank those of one
 * process. */
static size_t end_of_group(const steps *s, const rocl_step_series *own, size_t from)
{
    size_t to = own->first + own->count;
    for (size_t i = from + 1; i < to && s->c.options->by_rank; i++)
        if (s->of.steps.all[i].process != s->of.steps.all[from].process)
            to = i;
    return to;
}

static void put_spreads(const steps *s, space *v, rocl_tables *out)
{
    const rocl_report_rows t = rocl_begin_table(&s->c, out, &spread_table, 0);
    rocl_set_note(&t,
                  "outliers: from %d steps on, further from the median than 3.5 x 1.4826 x "
                  "MAD and than 5 %%",
                  LEAST_FOR_OUTLIERS);
    for (size_t k = 0; k < s->of.series_count; k++) {
        const rocl_step_series *own = &s->of.steps.series[k];
        const size_t past = own->first + own->count;
        const bool ranks = has_several_ranks(s, own) && !s->c.options->by_rank;
        for (size_t from = own->first, to; from < past; from = to) {
            to = end_of_group(s, own, from);
            for (unsigned m = 0; m < MEASURES; m++) {
                double limit;
                spread_row r = {.marker = s->rows[from].marker,
                                .rank = s->rows[from].rank,
                                .measure = measures[m].name};
                for (size_t i = from; i < to; i++)
                    v->values[i - from] =
                        (step_value){.of = &s->rows[i], .value = measure_of(&s->rows[i], m)};
                describe_space(v, to - from, &r.d, &limit);
                r.outliers = name_outliers(s, out, v->values, to - from, r.d.median, limit, ranks,
                                           &r.outlier_count);
                rocl_add_row(&t, &r);
            }
        }
    }
}

/* ---- the rows of domains --------------------------------------------------------------------- */

static void put_domains(const steps *s, space *v, rocl_tables *out)
{
    rocl_report_rows t = rocl_begin_table(&s->c, out, &domain_table, 0);
    double limit;
    if (s->domains.outside)
        rocl_set_note(&t, "%llu other events than kernels and copies belong to no step",
                      (unsigned long long)s->domains.outside);
    for (size_t k = 0; k < s->of.series_count; k++) {
        const rocl_step_series *own = &s->of.steps.series[k];
        const bool ranks = has_several_ranks(s, own) && !s->c.options->by_rank;
        for (size_t from = own->first, to; from < own->first + own->count; from = to) {
            to = end_of_group(s, own, from);
            for (rocl_domain d = 0; d < ROCL_DOMAINS; d++) {
                const rocl_step_sum *sums = s->domains.of[d];
                domain_row r = {.marker = s->rows[from].marker,
                                .rank = s->rows[from].rank,
                                .domain = rocl_domain_name(d)};
                for (size_t i = from; sums && i < to; i++)
                    v->values[i - from] =
                        (step_value){.of = &s->rows[i], .value = (int64_t)sums[i].count};
                if (sums)
                    describe_space(v, to - from, &r.events, &limit);
                if (!r.events.total)
                    continue;
                for (size_t i = from; i < to; i++)
                    v->values[i - from] = (step_value){.of = &s->rows[i], .value = sums[i].ns};
                describe_space(v, to - from, &r.d, &limit);
                r.outliers = name_outliers(s, out, v->values, to - from, r.d.median, limit, ranks,
                                           &r.outlier_count);
                rocl_add_row(&t, &r);
            }
        }
    }
}

/* ---- the rows over ranks --------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const step_row *x = ((const step_value *)a)->of, *y = ((const step_value *)b)->of;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x > y) - (x < y);
}

/* If a rank has a number several times, their times are added. */
static void put_across(const steps *s, space *v, rocl_tables *out)
{
    rocl_report_rows t = {0};
    for (size_t k = 0; k < s->of.series_count; k++) {
        const rocl_step_series *own = &s->of.steps.series[k];
        if (!has_several_ranks(s, own))
            continue;
        if (!t.table)
            t = rocl_begin_table(&s->c, out, &across_table, 0);
        for (size_t i = 0; i < own->count; i++)
            v->values[i] = (step_value){.of = &s->rows[own->first + i]};
        qsort(v->values, own->count, sizeof *v->values, compare_numbers);
        for (size_t i = 0; i < own->count;) {
            across_row r = {.marker = s->rows[own->first].marker,
                            .number = v->values[i].of->number};
            while (i < own->count && v->values[i].of->number == r.number) {
                const step_row *first = v->values[i].of;
                int64_t wall = 0;
                for (; i < own->count && v->values[i].of->number == r.number &&
                       v->values[i].of->step->process == first->step->process;
                     i++)
                    wall = rocl_add_saturated(wall, v->values[i].of->wall);
                r.min = r.ranks && r.min < wall ? r.min : wall;
                if (!r.ranks || wall > r.max) {
                    r.max = wall;
                    r.slowest = first->rank;
                }
                r.ranks++;
                r.total = rocl_add_saturated(r.total, wall);
            }
            const double scaled = (double)r.max * (double)r.ranks;
            r.mean = (double)r.total / (double)r.ranks;
            r.excess = (scaled - (double)r.total) / (double)r.ranks; /* equal times give 0 */
            r.imbalance = rocl_ratio(scaled, (double)r.total);
            if (r.ranks > 1)
                rocl_add_row(&t, &r);
        }
    }
}

/* ---- the rows of names ----------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b, void *ctx)
{
    const steps *s = ctx;
    const name_row *x = a, *y = b;
    int c = rocl_number_order(x->series, y->series);
    if (!c)
        c = rocl_compare_values(
            s->c.options->sort,
            &(rocl_sort_values){x->d.total, x->d.max, x->calls, rocl_distribution_average(&x->d)},
            &(rocl_sort_values){y->d.total, y->d.max, y->calls, rocl_distribution_average(&y->d)});
    if (!c)
        c = rocl_compare_texts(s->c.trace, x->name, y->name);
    return c ? c : strcmp(y->kind, x->kind);
}

static void add_name(void *into, const void *from)
{
    name_row *sum = into;
    const name_row *r = from;
    sum->calls += r->calls;
    sum->d.total = rocl_add_saturated(sum->d.total, r->d.total);
    sum->percent = rocl_percent(sum->d.total, sum->all);
}

/* One name of a series, of which the n values are. */
static void describe_name(const steps *s, space *v, size_t n, name_row *r, rocl_tables *out)
{
    const rocl_step_series *own = &s->of.steps.series[r->series];
    const bool ranks = has_several_ranks(s, own);
    const step_value *longest = v->values;
    rocl_buf b = {0};
    double limit;
    for (size_t i = 1; i < n; i++)
        longest = v->values[i].value > longest->value ? &v->values[i] : longest;
    put_step_name(&b, s, longest->of, ranks);
    r->longest = keep_text(out, &b);
    r->marker = s->rows[own->first].marker;
    r->calls_per_step = (double)r->calls / (double)n;
    describe_space(v, n, &r->d, &limit);
    r->outliers = name_outliers(s, out, v->values, n, r->d.median, limit, ranks, &r->outlier_count);
}

static rocl_status put_names(steps *s, space *v, rocl_tables *out, rocl_error *err)
{
    name_row *rows = NULL;
    size_t count = 0, cap = 0, n = 0;
    int64_t all[ROCL_STEP_SERIES_MOST] = {0};
    uint64_t last = 0;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->sums, err);
    while (rocl_next_record(s->sums, &rec, &st, err)) {
        uint64_t sum[2]; /* count, time */
        rocl_read_numbers(&rec, sum, 2);
        if (!count || rec.key[0] != last) {
            if (count)
                describe_name(s, v, n, &rows[count - 1], out);
            if (!ROCL_GROW(rows, cap, count + 1)) {
                st = rocl_fail_memory(err);
                break;
            }
            rows[count++] =
                (name_row){.series = (uint32_t)(rec.key[0] >> SUM_SERIES_SHIFT),
                           .name = (uint32_t)(rec.key[0] >> 8),
                           .kind = (rec.key[0] & 0xff) == ROCL_DISPATCH ? "kernel" : "copy"};
            last = rec.key[0];
            n = 0;
        }
        name_row *r = &rows[count - 1];
        r->calls += sum[0];
        all[r->series] = rocl_add_saturated(all[r->series], (int64_t)sum[1]);
        v->values[n++] = (step_value){.of = &s->rows[rec.key[1]], .value = (int64_t)sum[1]};
    }
    if (st == ROCL_OK && count)
        describe_name(s, v, n, &rows[count - 1], out);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        rows[i].all = all[rows[i].series];
        rows[i].percent = rocl_percent(rows[i].d.total, rows[i].all);
    }
    if (st == ROCL_OK) {
        if (count)
            qsort_r(rows, count, sizeof *rows, compare_names, s);
        const rocl_report_rows t = rocl_begin_table(&s->c, out, &name_table, 0);
        rocl_set_note(&t, "of the steps that have the name");
        for (size_t i = 0, k = 0; i < count; i = k) {
            while (k < count && rows[k].series == rows[i].series)
                k++;
            rocl_add_top_rows(&t, rows + i, k - i, sizeof *rows, add_name);
        }
    }
    free(rows);
    return st;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_steps(void *self, rocl_error *err)
{
    steps *s = self;
    s->c.needs_calls = true;
    s->marks = rocl_collector_sorter(&s->c, 4);
    s->work = rocl_collector_sorter(&s->c, 4);
    s->owned = rocl_collector_sorter(&s->c, 4);
    s->sums = rocl_collector_sorter(&s->c, 2);
    rocl_status st = rocl_step_work_open(&s->of, s->c.trace, s->marks, s->work, s->owned, err);
    if (st == ROCL_OK)
        st = rocl_step_domains_open(&s->domains, &s->c, err);
    return st == ROCL_OK && !s->sums ? rocl_fail_memory(err) : st;
}

static rocl_status finish_steps(void *self, rocl_tables *out, rocl_error *err)
{
    steps *s = self;
    space v = {malloc((s->of.steps.count + 1) * sizeof *v.values),
               malloc((s->of.steps.count + 1) * sizeof *v.sorted)};
    rocl_collector_free_sorter(&s->c, &s->work);
    rocl_status st = v.values && v.sorted ? measure_steps(s, err) : rocl_fail_memory(err);
    if (st == ROCL_OK && s->of.steps.count)
        st = rocl_step_domains_count(&s->domains, &s->of.steps, s->of.series_count, err);
    if (st == ROCL_OK) {
        describe_steps(s, &v, out);
        st = put_steps(s, out, err);
    }
    if (st == ROCL_OK && s->of.steps.count) {
        put_spreads(s, &v, out);
        put_domains(s, &v, out);
        put_across(s, &v, out);
        st = put_names(s, &v, out, err);
    }
    free(v.values);
    free(v.sorted);
    return st;
}

static void close_steps(void *self)
{
    steps *s = self;
    rocl_step_work_close(&s->of);
    rocl_step_domains_close(&s->domains);
    free(s->rows);
}

const rocl_collector_def rocl_steps_collector = {
    .tables = (const rocl_table_def *const[]){&step_table, &spread_table, &domain_table,
                                              &across_table, &name_table, NULL},
    .kinds = ROCL_TIMED_KINDS,
    .size = sizeof(steps),
    .slow = true,
    .open = open_steps,
    .add_batch = add_step_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_steps,
    .close = close_steps,
};

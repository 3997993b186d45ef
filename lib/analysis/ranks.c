/* How evenly work is spread over ranks. Only sums are needed, so every worker adds up on its own,
 * one cell for each kind, name and rank: memory depends only on those, and sums of integers do not
 * depend on the order. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/domains.h"
#include "analysis/facts.h"
#include "analysis/activity.h"
#include "base/array.h"
#include "model/ranks.h"
#include "model/steps.h"

typedef enum work { KERNEL, MARKER, API, WORKS } work;

/* After them comes the sum of kernels that communicate. */
enum { COMMUNICATION = WORKS, SUMS };

typedef struct work_sum {
    uint64_t calls;
    int64_t total;
} work_sum;

/* Interned as bytes: without holes. */
typedef struct cell_key {
    uint32_t work, name, rank;
} cell_key;

typedef struct rank_cell {
    cell_key key;
    work_sum sum;
} rank_cell;

/* The sums of one worker by the id of their key. */
typedef struct worker_sums {
    work_sum *by_key;
    size_t cap;
} worker_sums;

typedef struct ranks {
    rocl_collector c;
    rocl_rank_list list;
    uint32_t used; /* ranks with events */
    rocl_strings *keys;
    worker_sums *workers;
    rank_cell *cells;
    size_t cell_count;
    work_sum (*totals)[SUMS]; /* by rank */
    int64_t kernel_time;      /* sum over all */
} ranks;

/* ---- events ---------------------------------------------------------------------------------- */

static work work_of(rocl_domain d)
{
    switch (d) {
    case ROCL_DOMAIN_KERNELS:
        return KERNEL;
    case ROCL_DOMAIN_MARKERS:
        return MARKER;
    case ROCL_DOMAIN_HIP:
    case ROCL_DOMAIN_HSA:
    case ROCL_DOMAIN_RCCL:
    case ROCL_DOMAIN_ROCDECODE:
    case ROCL_DOMAIN_ROCJPEG:
    case ROCL_DOMAIN_KFD:
        return API;
    default:
        return WORKS;
    }
}

static rocl_status add_rank_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    ranks *r = self;
    worker_sums *sums = &r->workers[worker];
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        work w = work_of(rocl_domain_of(r->c.trace, b->kind, e->category));
        if (w == WORKS)
            continue;
        const cell_key k = {w, w == API || e->name == ROCL_NONE ? 0 : e->name,
                            r->list.of[b->capture->index][e->process]};
        uint32_t id = rocl_strings_put(r->keys, (const char *)&k, sizeof k);
        if (id == ROCL_NONE || !ROCL_GROW(sums->by_key, sums->cap, (size_t)id + 1))
            return rocl_fail_memory(err);
        sums->by_key[id].calls++;
        sums->by_key[id].total = rocl_add_saturated(sums->by_key[id].total, e->end - e->start);
    }
    return ROCL_OK;
}

static void add_sum(work_sum *to, const work_sum *s)
{
    to->calls += s->calls;
    to->total = rocl_add_saturated(to->total, s->total);
}

/* Ranks next to each other, in order. */
static int compare_cells(const void *a, const void *b)
{
    const cell_key *x = &((const rank_cell *)a)->key, *y = &((const rank_cell *)b)->key;
    int c = rocl_number_order(x->work, y->work);
    if (!c)
        c = rocl_number_order(x->name, y->name);
    return c ? c : rocl_number_order(x->rank, y->rank);
}

static rocl_status add_up(ranks *r, rocl_error *err)
{
    size_t n;
    r->cells = rocl_groups_new(r->keys, sizeof(cell_key), sizeof *r->cells, &n);
    r->totals = calloc((size_t)r->list.count + 1, sizeof *r->totals);
    if (!r->cells || !r->totals)
        return rocl_fail_memory(err);
    rocl_ids known = {0};
    bool good = true;
    for (uint32_t i = 1; i < n && good; i++) {
        rank_cell *c = &r->cells[i];
        for (unsigned w = 0; w < r->c.trace->opt.jobs; w++)
            if (i < r->workers[w].cap)
                add_sum(&c->sum, &r->workers[w].by_key[i]);
        add_sum(&r->totals[c->key.rank][c->key.work], &c->sum);
        rocl_activity activity = ROCL_ACTIVITY_COMPUTE;
        good =
            c->key.work != KERNEL || rocl_find_activity(r->c.trace, &known, c->key.name, &activity);
        if (activity == ROCL_ACTIVITY_COMMUNICATION)
            add_sum(&r->totals[c->key.rank][COMMUNICATION], &c->sum);
        if (c->sum.calls)
            r->cells[r->cell_count++] = *c;
    }
    rocl_ids_free(&known);
    if (!good)
        return rocl_fail_memory(err);
    qsort(r->cells, r->cell_count, sizeof *r->cells, compare_cells);
    for (uint32_t i = 0; i < r->list.count; i++)
        r->kernel_time = rocl_add_saturated(r->kernel_time, r->totals[i][KERNEL].total);
    return ROCL_OK;
}

static bool has_events(const ranks *r, uint32_t i)
{
    return r->totals[i][KERNEL].calls + r->totals[i][MARKER].calls + r->totals[i][API].calls > 0;
}

/* ---- the table of ranks ---------------------------------------------------------------------- */

typedef struct rank_row {
    int32_t number;
    int64_t pid;
    uint32_t host;
    work_sum sums[SUMS];
    int64_t all;
    double percent;
} rank_row;

#define CELL(field) ROCL_CELL(rank_row, field)

static const rocl_column rank_columns[] = {
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(number)},
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, rank_row, pid)},
    {"host", "Host", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(rocl_field_label, rank_row, host)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(sums[KERNEL].calls)},
    {"kernels_ns", "Kernel time", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums[KERNEL].total)},
    {"percent", "%", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"api_ns", "API time", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums[API].total)},
    {"markers_ns", "Marker time", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR,
     CELL(sums[MARKER].total)},
    {"communication_ns", "Communication", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR,
     CELL(sums[COMMUNICATION].total)},
};

static const rocl_table_def rank_table = {ROCL_TAB(RANKS), "ranks", "Ranks",
                                          ROCL_COLUMNS(rank_columns)};

static const char alone[] = "of one process only: nothing to compare it with";

static void add_rank(void *into, const void *from)
{
    rank_row *sum = into;
    const rank_row *row = from;
    for (int w = 0; w < SUMS; w++)
        add_sum(&sum->sums[w], &row->sums[w]);
    sum->percent = rocl_percent(sum->sums[KERNEL].total, sum->all);
}

static rocl_status put_ranks(const ranks *r, rocl_tables *out, rocl_error *err)
{
    char name[48];
    int64_t max = -1;
    uint32_t worst = 0, n = 0;
    rank_row *rows = calloc((size_t)r->list.count + 1, sizeof *rows);
    if (!rows)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < r->list.count; i++) {
        const rocl_rank *q = &r->list.all[i];
        int64_t total = r->totals[i][KERNEL].total;
        worst = total > max ? i : worst;
        max = total > max ? total : max;
        if (!has_events(r, i))
            continue;
        rows[n] = (rank_row){q->number, q->pid,         q->host,
                             {{0}},     r->kernel_time, rocl_percent(total, r->kernel_time)};
        memcpy(rows[n++].sums, r->totals[i], sizeof r->totals[i]);
    }
    rocl_report_rows t = rocl_begin_table(&r->c, out, &rank_table, 0);
    if (r->used < 2)
        rocl_set_note(&t, alone);
    else if (r->kernel_time) /* the one number that matters most */
        rocl_set_note(&t, "kernel time max / mean = %.3f, the most in %s",
                      (double)max * r->used / (double)r->kernel_time,
                      rocl_rank_name(&r->list.all[worst], name));
    rocl_add_top_rows(&t, rows, n, sizeof *rows, add_rank);
    free(rows);
    return ROCL_OK;
}

/* ---- the table of names ---------------------------------------------------------------------- */

/* How a name is spread over ranks. */
typedef struct spread {
    uint32_t work, name, ranks;
    size_t first; /* index of the first of its cells */
    uint64_t min_calls, max_calls;
    int64_t min, max, total;
    uint32_t straggler; /* rank */
    /* For its row: */
    const char *domain, *straggler_name;
    double mean, excess, imbalance;
} spread;

#undef CELL
#define CELL(field) ROCL_CELL(spread, field)

/* Minima and stragglers of several names mean nothing: the last row only says how many there are.
 */
static const rocl_column spread_columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT, ROCL_IN_REST, CELL(domain)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(name)},
    {"ranks", "Ranks", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_count, spread, ranks)},
    {"min_calls", "Calls min", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(min_calls)},
    {"max_calls", "Calls max", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(max_calls)},
    {"min_total_ns", "Total min", ROCL_UNIT_NS, ROCL_MINOR, CELL(min)},
    {"mean_total_ns", "Total mean", ROCL_UNIT_NS, ROCL_MINOR, CELL(mean)},
    {"max_total_ns", "Total max", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(max)},
    {"excess_ns", "Max - mean", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(excess)},
    {"imbalance", "Max / mean", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(imbalance)},
    {"straggler", "Straggler", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(straggler_name)},
};

static const rocl_table_def spread_table = {ROCL_TAB(RANKS), "rank_imbalance", "Imbalance of ranks",
                                            ROCL_COLUMNS(spread_columns)};

static void add_to_spread(spread *s, const rank_cell *c)
{
    const work_sum *v = &c->sum;
    bool first = s->ranks++ == 0;
    if (first || v->total > s->max) {
        s->max = v->total;
        s->straggler = c->key.rank;
    }
    s->min = first || v->total < s->min ? v->total : s->min;
    s->min_calls = first || v->calls < s->min_calls ? v->calls : s->min_calls;
    s->max_calls = v->calls > s->max_calls ? v->calls : s->max_calls;
    s->total = rocl_add_saturated(s->total, v->total);
}

/* The spreads of kernels and markers; free the array. NULL: memory is out. */
static spread *list_spreads(const ranks *r, size_t *count)
{
    spread *list = calloc(r->cell_count + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < r->cell_count; i++) {
        const rank_cell *c = &r->cells[i];
        if (c->key.work == API)
            continue;
        if (!n || list[n - 1].work != c->key.work || list[n - 1].name != c->key.name)
            list[n++] = (spread){.work = c->key.work, .name = c->key.name, .first = i};
        add_to_spread(&list[n - 1], c);
    }
    for (size_t i = 0; i < n; i++) {
        spread *s = &list[i];
        double n_ranks = s->ranks, scaled = (double)s->max * n_ranks;
        s->domain = rocl_domain_name(s->work == KERNEL ? ROCL_DOMAIN_KERNELS : ROCL_DOMAIN_MARKERS);
        s->mean = (double)s->total / n_ranks;
        s->excess = (scaled - (double)s->total) / n_ranks; /* not max - mean: equal times give 0 */
        s->imbalance = rocl_ratio(scaled, (double)s->total);
    }
    *count = n;
    return list;
}

/* What evenness would gain most first; names by their bytes, never by ids. */
static int compare_excess(const void *a, const void *b, void *ctx)
{
    const ranks *r = ctx;
    const spread *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->excess != y->excess && r->c.options->sort != ROCL_BY_NAME)
        return x->excess > y->excess ? -1 : 1;
    return rocl_compare_texts(r->c.trace, x->name, y->name);
}

static void ignore_spread(void *into, const void *from)
{
    (void)into, (void)from;
}

static rocl_status put_spreads(const ranks *r, rocl_tables *out, rocl_error *err)
{
    size_t n, m = 0;
    spread *list = list_spreads(r, &n);
    if (!list)
        return rocl_fail_memory(err);
    qsort_r(list, n, sizeof *list, compare_excess, (void *)r);
    for (size_t i = 0; i < n; i++) {
        char name[48];
        rocl_rank_name(&r->list.all[list[i].straggler], name);
        list[i].straggler_name = rocl_tables_text(out, name, strlen(name));
    }
    while (m < n && list[m].work == KERNEL)
        m++;
    rocl_report_rows t = rocl_begin_table(&r->c, out, &spread_table, 0);
    if (r->used < 2)
        rocl_set_note(&t, alone);
    rocl_add_top_rows(&t, list, m, sizeof *list, ignore_spread);
    rocl_add_top_rows(&t, list + m, n - m, sizeof *list, ignore_spread);
    free(list);
    return ROCL_OK;
}

/* ---- the table of names by rank -------------------------------------------------------------- */

enum { DEFAULT_NAMES = 20 };

typedef struct time_row {
    const char *domain, *rank;
    uint32_t name;
    work_sum sum;
    double relative;
} time_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(time_row, field)

static const rocl_column time_columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT, CELL(domain)},
    {"name", "Name", ROCL_UNIT_TEXT, CELL(name)},
    {"place", "Rank", ROCL_UNIT_TEXT, CELL(rank)},
    {"calls", "Calls", ROCL_UNIT_COUNT, CELL(sum.calls)},
    {"total_ns", "Total", ROCL_UNIT_NS, CELL(sum.total)},
    {"relative", "Of mean", ROCL_UNIT_NUMBER, CELL(relative)},
};

static const rocl_table_def time_table = {ROCL_TAB(RANKS), "rank_times", "Names by rank",
                                          ROCL_COLUMNS(time_columns)};

/* The longest total time first. */
static int compare_totals(const void *a, const void *b, void *ctx)
{
    const ranks *r = ctx;
    const spread *x = a, *y = b;
    int c = rocl_number_order(y->total, x->total);
    if (!c)
        c = rocl_number_order(x->work, y->work);
    return c ? c : rocl_compare_texts(r->c.trace, x->name, y->name);
}

/* Only few names have rows: else there would be one for each name and rank, also for those without
 * the name. Names that one rank has for itself have none. */
static rocl_status put_times(const ranks *r, rocl_tables *out, rocl_error *err)
{
    size_t n, most = r->c.options->top ? r->c.options->top : DEFAULT_NAMES;
    spread *list = list_spreads(r, &n);
    if (!list)
        return rocl_fail_memory(err);
    qsort_r(list, n, sizeof *list, compare_totals, (void *)r);
    rocl_report_rows t = rocl_begin_table(&r->c, out, &time_table, 0);
    for (size_t i = 0, names = 0; i < n && names < most; i++) {
        const spread *s = &list[i];
        const rank_cell *c = &r->cells[s->first], *end = c + s->ranks;
        names += s->ranks > 1;
        for (uint32_t k = 0; k < r->list.count && s->ranks > 1; k++) {
            char name[48];
            time_row row = {
                s->domain, rocl_rank_name(&r->list.all[k], name), s->name, {0}, rocl_ratio(0, 0)};
            if (c < end && c->key.rank == k) {
                row.sum = c++->sum;
                row.relative = rocl_ratio((double)row.sum.total * s->ranks, (double)s->total);
            }
            if (has_events(r, k))
                rocl_add_row(&t, &row);
        }
    }
    free(list);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_ranks(void *self, rocl_error *err)
{
    ranks *r = self;
    r->keys = rocl_strings_new();
    r->workers = calloc(r->c.trace->opt.jobs, sizeof *r->workers);
    rocl_status st = r->keys && r->workers ? rocl_rank_list_make(&r->list, r->c.trace, err)
                                           : rocl_fail_memory(err);
    return st;
}

static rocl_status finish_ranks(void *self, rocl_tables *out, rocl_error *err)
{
    ranks *r = self;
    rocl_status st = add_up(r, err);
    for (uint32_t i = 0; st == ROCL_OK && i < r->list.count; i++)
        r->used += has_events(r, i);
    if (st == ROCL_OK)
        st = put_ranks(r, out, err);
    if (st == ROCL_OK && !r->c.options->pictures)
        st = put_times(r, out, err);
    return st == ROCL_OK ? put_spreads(r, out, err) : st;
}

static void close_ranks(void *self)
{
    ranks *r = self;
    for (unsigned w = 0; r->workers && w < r->c.trace->opt.jobs; w++)
        free(r->workers[w].by_key);
    rocl_strings_free(r->keys);
    rocl_rank_list_free(&r->list);
    free(r->workers);
    free(r->cells);
    free(r->totals);
}

const rocl_collector_def rocl_ranks_collector = {
    .tables = (const rocl_table_def *const[]){&rank_table, &time_table, &spread_table, NULL},
    .kinds = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(ranks),
    .open = open_ranks,
    .add_batch = add_rank_batch,
    .finish = finish_ranks,
    .close = close_ranks,
};

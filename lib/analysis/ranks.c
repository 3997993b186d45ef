/* How evenly work is spread over ranks: sums by kind, name and rank, and the tables made of them.
 */
#include "analysis/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/domains.h"
#include "analysis/facts.h"

/* ---- events ---------------------------------------------------------------------------------- */

static const rocl_member key_members[] = {
    ROCL_MEMBER_BELOW(rocl_rank_key, work, KEY_NUMBER, ROCL_RANK_WORKS),
    ROCL_MEMBER(rocl_rank_key, name, KEY_TEXT), ROCL_MEMBER(rocl_rank_key, rank, KEY_NUMBER),
    ROCL_MEMBER_BELOW(rocl_rank_key, traits, KEY_NUMBER, ROCL_RANK_TRAITS)};
static const rocl_member sum_members[] = {ROCL_MEMBER(rocl_rank_sum, calls, SUM_COUNT),
                                          ROCL_MEMBER(rocl_rank_sum, total, SUM_INT)};
static const rocl_keyed_def names_by_rank = {.key_size = sizeof(rocl_rank_key),
                                             .sum_size = sizeof(rocl_rank_sum),
                                             ROCL_KEY_MEMBERS(key_members),
                                             ROCL_SUM_MEMBERS(sum_members)};

enum { COMMUNICATION = ROCL_RANK_WORKS, SUMS };

rocl_status rocl_rank_sums_open(rocl_rank_sums *r, rocl_collector *c, const rocl_rank_list *list,
                                rocl_error *err)
{
    r->c = c;
    r->list = list;
    r->traits = calloc(c->trace->opt.jobs, sizeof *r->traits);
    r->extents = calloc((size_t)c->trace->opt.jobs * list->count + 1, sizeof *r->extents);
    return r->traits && r->extents ? rocl_keyed_open(&r->keyed, &names_by_rank, c, err)
                                   : rocl_fail_memory(err);
}

void rocl_rank_sums_close(rocl_rank_sums *r)
{
    for (unsigned w = 0; r->traits && w < r->c->trace->opt.jobs; w++)
        rocl_ids_free(&r->traits[w]);
    free(r->traits);
    free(r->extents);
    free(r->cells);
    free(r->totals);
}

static rocl_rank_work work_of(rocl_domain d)
{
    return d == ROCL_DOMAIN_KERNELS                               ? ROCL_RANK_KERNELS
           : d == ROCL_DOMAIN_MARKERS                             ? ROCL_RANK_MARKERS
           : d == ROCL_DOMAIN_MEMORY_COPIES                       ? ROCL_RANK_COPIES
           : d != ROCL_DOMAIN_OTHER && rocl_domain_infos[d].calls ? ROCL_RANK_CALLS
                                                                  : ROCL_RANK_OTHERS;
}

/* False: memory is out. */
static bool find_traits(rocl_rank_sums *r, unsigned worker, rocl_rank_work work, uint32_t name,
                        uint32_t *traits)
{
    const rocl_trace *t = r->c->trace;
    const uint64_t key = (uint64_t)name * ROCL_RANK_WORKS + work;
    *traits = rocl_ids_get(&r->traits[worker], key);
    if (*traits != ROCL_NONE)
        return true;
    size_t n;
    const char *text = rocl_strings_get(t->strings, name, &n);
    const rocl_call_class class = rocl_classify_call(text);
    if (work == ROCL_RANK_KERNELS || work == ROCL_RANK_COPIES)
        *traits = work == ROCL_RANK_KERNELS &&
                  rocl_classify_kernel(t->classes, text, n) == ROCL_CLASS_COMMUNICATION;
    else if (class == ROCL_CALL_LAUNCH || class == ROCL_CALL_GRAPH)
        *traits = ROCL_RANK_LAUNCHES;
    else
        *traits = rocl_meeting_of(text, n) != ROCL_MEETINGS || !strncasecmp(text, "MPI_", 4) ||
                  rocl_call_waits_for(text) != ROCL_WAITS_FOR_NOTHING;
    return rocl_ids_put(&r->traits[worker], key, *traits);
}
_Static_assert(ROCL_RANK_WAITS == 1, "it is the value of a condition");

static void add_sum(rocl_rank_sum *to, const rocl_rank_sum *s)
{
    to->calls += s->calls;
    to->total = rocl_add_saturated(to->total, s->total);
}

rocl_status rocl_rank_sums_add(rocl_rank_sums *r, unsigned worker, const rocl_batch *b,
                               const rocl_event *e, uint32_t *traits, rocl_error *err)
{
    const rocl_rank_work work = work_of(rocl_domain_of(r->c->trace, b->kind, e->category));
    *traits = 0;
    if (work == ROCL_RANK_OTHERS && r->list->count < 2) /* nobody to compare it with */
        return ROCL_OK;
    rocl_rank_key k = {work, rocl_name_of(e), r->list->of[b->capture->index][e->process], 0};
    rocl_rank_sum *sum = NULL;
    if (find_traits(r, worker, work, k.name, &k.traits))
        sum = rocl_keyed_at(&r->keyed, worker, &k);
    if (!sum)
        return rocl_fail_memory(err);
    *traits = k.traits;
    rocl_extent_add(&r->extents[(size_t)worker * r->list->count + k.rank], e->start, e->end);
    add_sum(sum, &(rocl_rank_sum){1, e->end - e->start});
    return ROCL_OK;
}

static int compare_cells(const void *a, const void *b, void *trace)
{
    return rocl_keyed_compare(&names_by_rank, trace, a, b);
}

rocl_status rocl_rank_sums_finish(rocl_rank_sums *r, rocl_error *err)
{
    r->cells = rocl_keyed_rows(&r->keyed, r->c, sizeof *r->cells, &r->cell_count);
    r->totals = calloc((size_t)r->list->count + 1, sizeof *r->totals);
    if (!r->cells || !r->totals)
        return rocl_fail_memory(err);
    rocl_extents_join(r->extents, r->list->count, r->c->trace->opt.jobs);
    qsort_r(r->cells, r->cell_count, sizeof *r->cells, compare_cells, r->c->trace);
    for (size_t i = 0; i < r->cell_count; i++) {
        const rocl_rank_cell *c = &r->cells[i];
        add_sum(&r->totals[c->key.rank][c->key.work], &c->sum);
        if (c->key.work == ROCL_RANK_KERNELS && c->key.traits & ROCL_RANK_WAITS)
            add_sum(&r->totals[c->key.rank][COMMUNICATION], &c->sum);
    }
    return ROCL_OK;
}

static bool has_events(const rocl_rank_sums *r, uint32_t i)
{
    const rocl_rank_sum *of = r->totals[i];
    return of[ROCL_RANK_KERNELS].calls + of[ROCL_RANK_MARKERS].calls + of[ROCL_RANK_CALLS].calls >
           0;
}

/* Ranks with events. */
static uint32_t count_used(const rocl_rank_sums *r)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < r->list->count; i++)
        used += has_events(r, i);
    return used;
}

/* ---- the table of ranks ---------------------------------------------------------------------- */

typedef struct rank_row {
    rocl_rank is;
    rocl_rank_sum sums[SUMS];
    int64_t all;
    double percent;
} rank_row;

#define CELL(field) ROCL_CELL(rank_row, field)

static const rocl_column rank_columns[] = {
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(is.number)},
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_known, rank_row, is.pid)},
    {"host", "Host", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(rocl_field_label, rank_row, is.host)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(sums[ROCL_RANK_KERNELS].calls)},
    {"kernels_ns", "Kernel time", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums[ROCL_RANK_KERNELS].total)},
    {"percent", "Of kernels %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"api_ns", "API time", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums[ROCL_RANK_CALLS].total)},
    {"markers_ns", "Marker time", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR,
     CELL(sums[ROCL_RANK_MARKERS].total)},
    {"communication_ns", "Communication", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR,
     CELL(sums[COMMUNICATION].total)},
};

const rocl_table_def rocl_rank_table = {ROCL_TAB(RANKS), "ranks", "Ranks",
                                        ROCL_COLUMNS(rank_columns)};

static const char alone[] = "of one process only: nothing to compare it with";

static void add_rank(void *into, const void *from)
{
    rank_row *sum = into;
    const rank_row *row = from;
    for (int w = 0; w < SUMS; w++)
        add_sum(&sum->sums[w], &row->sums[w]);
    sum->percent = rocl_percent(sum->sums[ROCL_RANK_KERNELS].total, sum->all);
}

static rocl_status put_ranks(const rocl_rank_sums *r, rocl_tables *out, rocl_error *err)
{
    char name[48];
    int64_t max = -1, computed = 0, all = 0;
    uint32_t worst = 0, n = 0;
    rank_row *rows = calloc((size_t)r->list->count + 1, sizeof *rows);
    if (!rows)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < r->list->count; i++)
        all = rocl_add_saturated(all, r->totals[i][ROCL_RANK_KERNELS].total);
    for (uint32_t i = 0; i < r->list->count; i++) {
        const int64_t total = r->totals[i][ROCL_RANK_KERNELS].total;
        const int64_t own = total - r->totals[i][COMMUNICATION].total;
        computed = rocl_add_saturated(computed, own);
        worst = own > max ? i : worst;
        max = own > max ? own : max;
        if (!has_events(r, i))
            continue;
        rows[n] = (rank_row){r->list->all[i], {{0}}, all, rocl_percent(total, all)};
        memcpy(rows[n++].sums, r->totals[i], sizeof r->totals[i]);
    }
    rocl_report_rows t = rocl_begin_table(r->c, out, &rocl_rank_table, 0);
    if (n < 2)
        rocl_set_note(&t, alone);
    else if (computed) /* the one number that matters most */
        rocl_set_note(&t, "kernel time without communication max / mean = %.3f, the most in %s",
                      (double)max * n / (double)computed,
                      rocl_rank_name(&r->list->all[worst], name));
    rocl_add_top_rows(&t, rows, n, sizeof *rows, add_rank);
    free(rows);
    return ROCL_OK;
}

/* ---- the table of names ---------------------------------------------------------------------- */

/* How a name is spread over ranks. */
typedef struct spread {
    rocl_rank_key key; /* of the first of its cells, ... */
    size_t first;      /* ... whose index is that */
    uint32_t ranks;
    uint64_t min_calls, max_calls;
    int64_t min, max, total;
    uint32_t most; /* rank */
    /* For its row: */
    const char *domain;
    const rocl_rank *straggler;
    double mean, excess, imbalance;
} spread;

#undef CELL
#define CELL(field) ROCL_CELL(spread, field)

/* Minima and stragglers of several names mean nothing: the last row only says how many there are.
 */
static const rocl_column spread_columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT, ROCL_IN_REST, CELL(domain)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"ranks", "Ranks", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_count, spread, ranks)},
    {"min_calls", "Calls min", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(min_calls)},
    {"max_calls", "Calls max", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(max_calls)},
    {"min_total_ns", "Total min", ROCL_UNIT_NS, ROCL_MINOR, CELL(min)},
    {"mean_total_ns", "Total mean", ROCL_UNIT_NS, ROCL_MINOR, CELL(mean)},
    {"max_total_ns", "Total max", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(max)},
    {"excess_ns", "Max - mean", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(excess)},
    {"imbalance", "Max / mean", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(imbalance)},
    {"straggler", "Straggler", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(straggler)},
};

const rocl_table_def rocl_rank_imbalance_table = {
    ROCL_TAB(RANKS), "rank_imbalance", "Imbalance of ranks", ROCL_COLUMNS(spread_columns)};

static void add_to_spread(spread *s, const rocl_rank_cell *c)
{
    const rocl_rank_sum *v = &c->sum;
    const bool first = s->ranks++ == 0;
    s->most = first || v->total > s->max ? c->key.rank : s->most;
    s->max = first || v->total > s->max ? v->total : s->max;
    s->min = first || v->total < s->min ? v->total : s->min;
    s->min_calls = first || v->calls < s->min_calls ? v->calls : s->min_calls;
    s->max_calls = v->calls > s->max_calls ? v->calls : s->max_calls;
    s->total = rocl_add_saturated(s->total, v->total);
}

/* The spreads of kernels and markers; free the array. NULL: memory is out. */
static spread *list_spreads(const rocl_rank_sums *r, size_t *count)
{
    spread *list = calloc(r->cell_count + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < r->cell_count; i++) {
        const rocl_rank_cell *c = &r->cells[i];
        if (c->key.work > ROCL_RANK_MARKERS)
            continue;
        if (!n || list[n - 1].key.work != c->key.work || list[n - 1].key.name != c->key.name)
            list[n++] = (spread){.key = c->key, .first = i};
        add_to_spread(&list[n - 1], c);
    }
    for (size_t i = 0; i < n; i++) {
        spread *s = &list[i];
        double n_ranks = s->ranks, scaled = (double)s->max * n_ranks;
        s->domain = rocl_domain_name(s->key.work == ROCL_RANK_KERNELS ? ROCL_DOMAIN_KERNELS
                                                                      : ROCL_DOMAIN_MARKERS);
        s->mean = (double)s->total / n_ranks;
        s->excess = (scaled - (double)s->total) / n_ranks; /* not max - mean: equal times give 0 */
        s->imbalance = rocl_ratio(scaled, (double)s->total);
    }
    *count = n;
    return list;
}

/* What evenness would gain most first, and waits last; names by their bytes, never by ids. */
static int compare_excess(const void *a, const void *b, void *ctx)
{
    const rocl_rank_sums *r = ctx;
    const spread *x = a, *y = b;
    int c = rocl_number_order(x->key.work, y->key.work);
    c = c ? c : rocl_number_order(x->key.traits & ROCL_RANK_WAITS, y->key.traits & ROCL_RANK_WAITS);
    if (!c && r->c->options->sort != ROCL_BY_NAME)
        c = (y->excess > x->excess) - (y->excess < x->excess);
    return c ? c : rocl_compare_texts(r->c->trace, x->key.name, y->key.name);
}

static void ignore_spread(void *into, const void *from)
{
    (void)into, (void)from;
}

/* Does it keep the others waiting? Its own waits do not, and neither does a microsecond. */
static bool is_straggler(const rocl_rank_sums *r, const spread *s)
{
    const rocl_extent *whole = &r->extents[s->most];
    return s->ranks > 1 && !(s->key.traits & ROCL_RANK_WAITS) && s->excess >= 0.05 * s->mean &&
           s->excess >= 0.001 * (double)(whole->last - whole->first);
}

static rocl_status put_spreads(const rocl_rank_sums *r, rocl_tables *out, rocl_error *err)
{
    size_t n, m = 0;
    spread *list = list_spreads(r, &n);
    if (!list)
        return rocl_fail_memory(err);
    qsort_r(list, n, sizeof *list, compare_excess, (void *)r);
    for (size_t i = 0; i < n; i++) {
        list[i].straggler = is_straggler(r, &list[i]) ? &r->list->all[list[i].most] : NULL;
        m += list[i].key.work == ROCL_RANK_KERNELS;
    }
    rocl_report_rows t = rocl_begin_table(r->c, out, &rocl_rank_imbalance_table, 0);
    if (count_used(r) < 2)
        rocl_set_note(&t, alone);
    rocl_add_top_rows(&t, list, m, sizeof *list, ignore_spread);
    rocl_add_top_rows(&t, list + m, n - m, sizeof *list, ignore_spread);
    free(list);
    return ROCL_OK;
}

/* ---- the table of names by rank -------------------------------------------------------------- */

enum { DEFAULT_NAMES = 20 };

typedef struct time_row {
    const char *domain;
    const rocl_rank *rank;
    uint32_t name;
    rocl_rank_sum sum;
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

const rocl_table_def rocl_rank_times_table = {ROCL_TAB(RANKS), "rank_times", "Names by rank",
                                              ROCL_COLUMNS(time_columns)};

/* The longest total time first. */
static int compare_totals(const void *a, const void *b, void *ctx)
{
    const rocl_rank_sums *r = ctx;
    const spread *x = a, *y = b;
    int c = rocl_number_order(y->total, x->total);
    c = c ? c : rocl_number_order(x->key.work, y->key.work);
    return c ? c : rocl_compare_texts(r->c->trace, x->key.name, y->key.name);
}

/* Only few names have rows: else there would be one for each name and rank, also for those without
 * the name. Names that one rank has for itself have none. */
static rocl_status put_times(const rocl_rank_sums *r, rocl_tables *out, rocl_error *err)
{
    size_t n, most = r->c->options->top ? r->c->options->top : DEFAULT_NAMES;
    spread *list = list_spreads(r, &n);
    if (!list)
        return rocl_fail_memory(err);
    qsort_r(list, n, sizeof *list, compare_totals, (void *)r);
    rocl_report_rows t = rocl_begin_table(r->c, out, &rocl_rank_times_table, 0);
    for (size_t i = 0, names = 0; i < n && names < most; i++) {
        const spread *s = &list[i];
        const rocl_rank_cell *c = &r->cells[s->first], *end = c + s->ranks;
        names += s->ranks > 1;
        for (uint32_t k = 0; k < r->list->count && s->ranks > 1; k++) {
            time_row row = {s->domain, &r->list->all[k], s->key.name, {0}, rocl_ratio(0, 0)};
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

rocl_status rocl_rank_sums_put(const rocl_rank_sums *r, rocl_tables *out, rocl_error *err)
{
    rocl_status st = put_ranks(r, out, err);
    if (st == ROCL_OK && !r->c->options->pictures)
        st = put_times(r, out, err);
    return st == ROCL_OK ? put_spreads(r, out, err) : st;
}

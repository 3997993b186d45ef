/* The tables of ranks and of the names that they share. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/ranks.h"

typedef rocl_ranks ranks;
typedef rocl_rank_place place;
typedef rocl_rank_sum sum;
typedef rocl_rank_cell cell;

/* What is said of a name. */
typedef struct spread {
    uint32_t work, name, ranks;
    size_t first; /* of its cells */
    uint64_t min_calls, max_calls;
    int64_t min, max, total;
    uint32_t straggler; /* place */
} spread;

enum { DEFAULT_NAMES = 20 }; /* of the table by rank */

static bool has_events(const ranks *r, uint32_t p)
{
    return r->totals[p][ROCL_RANK_KERNEL].calls + r->totals[p][ROCL_RANK_MARKER].calls +
               r->totals[p][ROCL_RANK_API].calls >
           0;
}

static uint32_t count_places(const ranks *r)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < r->place_count; p++)
        n += has_events(r, p);
    return n;
}

static rocl_datum place_name(const ranks *r, rocl_tables *out, uint32_t p)
{
    char text[48];
    const place *q = &r->places[p];
    int n = q->rank >= 0 ? snprintf(text, sizeof text, "rank %d", q->rank)
                         : snprintf(text, sizeof text, "pid %lld", (long long)q->pid);
    return rocl_datum_text(out, text, (size_t)n);
}

/* ---- the table of ranks ---- */

static const char alone[] = "of one process only: nothing to compare it with";

static const rocl_table_column rank_columns[] = {
    {"rank", "Rank", ROCL_UNIT_COUNT},
    {"pid", "Process", ROCL_UNIT_COUNT},
    {"host", "Host", ROCL_UNIT_TEXT},
    {"kernels", "Kernels", ROCL_UNIT_COUNT},
    {"kernels_ns", "Kernel time", ROCL_UNIT_NS},
    {"percent", "%", ROCL_UNIT_PERCENT},
    {"api_ns", "API time", ROCL_UNIT_NS},
    {"markers_ns", "Marker time", ROCL_UNIT_NS},
};

static void total_cells(rocl_datum *cells, const sum *s, int64_t all)
{
    cells[3] = rocl_datum_int((int64_t)s[ROCL_RANK_KERNEL].calls);
    cells[4] = rocl_datum_int(s[ROCL_RANK_KERNEL].total);
    cells[5] = rocl_cell_of_share(s[ROCL_RANK_KERNEL].total, all);
    cells[6] = rocl_datum_int(s[ROCL_RANK_API].total);
    cells[7] = rocl_datum_int(s[ROCL_RANK_MARKER].total);
}

static void place_cells(const ranks *r, rocl_tables *out, rocl_datum *cells, uint32_t p,
                        int64_t all)
{
    const place *q = &r->places[p];
    if (q->rank >= 0)
        cells[0] = rocl_datum_int(q->rank);
    if (q->pid >= 0)
        cells[1] = rocl_datum_int(q->pid);
    if (q->host)
        cells[2] = rocl_cell_of_text(r->c.trace, out, q->host);
    total_cells(cells, r->totals[p], all);
}

/* Of the kernel time of all ranks: the one number that matters most. */
static const char *imbalance_note(const ranks *r, rocl_tables *out, uint32_t count)
{
    char text[96];
    int64_t all = 0, max = -1;
    uint32_t worst = 0;
    for (uint32_t p = 0; p < r->place_count; p++) {
        int64_t total = r->totals[p][ROCL_RANK_KERNEL].total;
        all = rocl_add_saturated(all, total);
        worst = total > max ? p : worst;
        max = total > max ? total : max;
    }
    if (count < 2)
        return alone;
    if (all == 0)
        return NULL;
    rocl_datum name = place_name(r, out, worst);
    int n = snprintf(text, sizeof text, "kernel time max / mean = %.3f, the most in %s",
                     (double)max * count / (double)all, name.is ? name.text : "?");
    return rocl_tables_text(out, text, (size_t)n);
}

/* What --top cuts off, summed up. */
static rocl_status rest_row(rocl_tables *out, rocl_table *t, const sum *others, size_t n,
                            int64_t all, rocl_error *err)
{
    rocl_datum *cells = rocl_table_row(t);
    if (!cells)
        return rocl_fail_memory(err);
    cells[2] = rocl_others_datum(out, n);
    total_cells(cells, others, all);
    return ROCL_OK;
}

static rocl_status rank_rows(const ranks *r, rocl_tables *out, rocl_table *t, int64_t all,
                             rocl_error *err)
{
    size_t rest = 0;
    sum others[ROCL_RANK_WORKS] = {{0}};
    for (uint32_t p = 0; p < r->place_count; p++) {
        if (!has_events(r, p))
            continue;
        if (r->c.options->top && t->row_count == r->c.options->top) {
            rest++;
            for (int w = 0; w < ROCL_RANK_WORKS; w++)
                rocl_rank_add(&others[w], &r->totals[p][w]);
            continue;
        }
        rocl_datum *cells = rocl_table_row(t);
        if (!cells)
            return rocl_fail_memory(err);
        place_cells(r, out, cells, p, all);
    }
    return rest ? rest_row(out, t, others, rest, all, err) : ROCL_OK;
}

static rocl_status rank_table(const ranks *r, rocl_tables *out, uint32_t count, rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, "ranks", "Ranks", rank_columns,
                                    sizeof rank_columns / sizeof *rank_columns);
    int64_t all = 0;
    if (!t)
        return rocl_fail_memory(err);
    for (uint32_t p = 0; p < r->place_count; p++)
        all = rocl_add_saturated(all, r->totals[p][ROCL_RANK_KERNEL].total);
    t->note = imbalance_note(r, out, count);
    return rank_rows(r, out, t, all, err);
}

/* ---- the table of names ---- */

static const rocl_table_column spread_columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT},          {"name", "Name", ROCL_UNIT_TEXT},
    {"ranks", "Ranks", ROCL_UNIT_COUNT},           {"min_calls", "Calls min", ROCL_UNIT_COUNT},
    {"max_calls", "Calls max", ROCL_UNIT_COUNT},   {"min_total_ns", "Total min", ROCL_UNIT_NS},
    {"mean_total_ns", "Total mean", ROCL_UNIT_NS}, {"max_total_ns", "Total max", ROCL_UNIT_NS},
    {"excess_ns", "Max - mean", ROCL_UNIT_NS},     {"imbalance", "Max / mean", ROCL_UNIT_NUMBER},
    {"straggler", "Straggler", ROCL_UNIT_TEXT},
};

static const char *work_name(uint32_t work)
{
    return rocl_domain_name(work == ROCL_RANK_KERNEL ? ROCL_DOMAIN_KERNELS : ROCL_DOMAIN_MARKERS);
}

static double mean_of(const spread *s)
{
    return (double)s->total / (double)s->ranks;
}

static double excess_of(const spread *s)
{
    /* Not max - mean: equal times must give 0. */
    return ((double)s->max * s->ranks - (double)s->total) / (double)s->ranks;
}

static void take_cell(spread *s, const cell *c)
{
    const sum *v = &c->sum;
    bool first = s->ranks++ == 0;
    if (first || v->total > s->max) {
        s->max = v->total;
        s->straggler = c->key.place;
    }
    s->min = first || v->total < s->min ? v->total : s->min;
    s->min_calls = first || v->calls < s->min_calls ? v->calls : s->min_calls;
    s->max_calls = v->calls > s->max_calls ? v->calls : s->max_calls;
    s->total = rocl_add_saturated(s->total, v->total);
}

/* Of kernels and markers; free the array. */
static spread *find_spreads(const ranks *r, size_t *count)
{
    spread *list = calloc(r->cell_count + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; list && i < r->cell_count; i++) {
        const cell *c = &r->cells[i];
        if (c->key.work == ROCL_RANK_API)
            continue;
        if (!n || list[n - 1].work != c->key.work || list[n - 1].name != c->key.name)
            list[n++] = (spread){.work = c->key.work, .name = c->key.name, .first = i};
        take_cell(&list[n - 1], c);
    }
    *count = n;
    return list;
}

/* What evenness would gain most first; names by their bytes, never by ids. */
static int order_spreads(const void *a, const void *b, void *ctx)
{
    const ranks *r = ctx;
    const spread *x = a, *y = b;
    double p = excess_of(x), q = excess_of(y);
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (p != q && r->c.options->sort != ROCL_BY_NAME)
        return p > q ? -1 : 1;
    return rocl_compare_texts(r->c.trace, x->name, y->name);
}

static void spread_cells(const ranks *r, rocl_tables *out, rocl_datum *cells, const spread *s)
{
    cells[1] = rocl_cell_of_text(r->c.trace, out, s->name);
    cells[2] = rocl_datum_int(s->ranks);
    cells[3] = rocl_datum_int((int64_t)s->min_calls);
    cells[4] = rocl_datum_int((int64_t)s->max_calls);
    cells[5] = rocl_datum_int(s->min);
    cells[6] = rocl_datum_real(mean_of(s));
    cells[7] = rocl_datum_int(s->max);
    cells[8] = rocl_datum_real(excess_of(s));
    if (s->total > 0)
        cells[9] = rocl_datum_real((double)s->max * s->ranks / (double)s->total);
    cells[10] = place_name(r, out, s->straggler);
}

/* Minima and stragglers of several names mean nothing: the last row only says how many there are.
 */
static rocl_status spread_rows(const ranks *r, rocl_tables *out, rocl_table *t, const spread *list,
                               size_t n, rocl_error *err)
{
    size_t shown = r->c.options->top && r->c.options->top < n ? r->c.options->top : n;
    for (size_t i = 0; i < shown + (shown < n); i++) {
        rocl_datum *cells = rocl_table_row(t);
        if (!cells)
            return rocl_fail_memory(err);
        cells[0] = rocl_cell_of_string(out, work_name(list->work));
        if (i < shown)
            spread_cells(r, out, cells, &list[i]);
        else
            cells[1] = rocl_others_datum(out, n - shown);
    }
    return ROCL_OK;
}

static rocl_status spread_table(ranks *r, rocl_tables *out, uint32_t count, rocl_error *err)
{
    size_t n, m = 0;
    rocl_table *t = rocl_tables_add(out, "rank_imbalance", "Imbalance of ranks", spread_columns,
                                    sizeof spread_columns / sizeof *spread_columns);
    spread *list = t ? find_spreads(r, &n) : NULL;
    if (!list)
        return rocl_fail_memory(err);
    t->note = count < 2 ? alone : NULL;
    qsort_r(list, n, sizeof *list, order_spreads, r);
    while (m < n && list[m].work == ROCL_RANK_KERNEL)
        m++;
    rocl_status st = m ? spread_rows(r, out, t, list, m, err) : ROCL_OK;
    if (st == ROCL_OK && m < n)
        st = spread_rows(r, out, t, list + m, n - m, err);
    free(list);
    return st;
}

/* ---- the table of names by rank ---- */

static const rocl_table_column time_columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT}, {"name", "Name", ROCL_UNIT_TEXT},
    {"place", "Rank", ROCL_UNIT_TEXT},    {"calls", "Calls", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},  {"relative", "Of mean", ROCL_UNIT_NUMBER},
};

/* The longest total time first. */
static int by_total(const void *a, const void *b, void *ctx)
{
    const spread *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    return rocl_compare_texts(((const ranks *)ctx)->c.trace, x->name, y->name);
}

static rocl_status time_row(const ranks *r, rocl_tables *out, rocl_table *t, const spread *s,
                            uint32_t p, const sum *v, rocl_error *err)
{
    rocl_datum *cells = rocl_table_row(t);
    if (!cells)
        return rocl_fail_memory(err);
    cells[0] = rocl_cell_of_string(out, work_name(s->work));
    cells[1] = rocl_cell_of_text(r->c.trace, out, s->name);
    cells[2] = place_name(r, out, p);
    cells[3] = rocl_datum_int((int64_t)v->calls);
    cells[4] = rocl_datum_int(v->total);
    if (s->total > 0 && v->calls)
        cells[5] = rocl_datum_real((double)v->total * s->ranks / (double)s->total);
    return ROCL_OK;
}

/* A row for each rank, also for those without the name. */
static rocl_status time_rows(const ranks *r, rocl_tables *out, rocl_table *t, const spread *s,
                             rocl_error *err)
{
    static const sum none;
    const cell *c = &r->cells[s->first], *end = c + s->ranks;
    rocl_status st = ROCL_OK;
    for (uint32_t p = 0; p < r->place_count && st == ROCL_OK; p++) {
        bool has = c < end && c->key.place == p;
        if (has_events(r, p))
            st = time_row(r, out, t, s, p, has ? &c->sum : &none, err);
        c += has;
    }
    return st;
}

/* Of few names, or it would have a row for each name and rank; and not of those that one rank has
 * for itself. */
static rocl_status time_table(const ranks *r, rocl_tables *out, rocl_error *err)
{
    size_t n, most = r->c.options->top ? r->c.options->top : DEFAULT_NAMES;
    rocl_table *t = rocl_tables_add(out, "rank_times", "Names by rank", time_columns,
                                    sizeof time_columns / sizeof *time_columns);
    spread *list = t ? find_spreads(r, &n) : NULL;
    rocl_status st = list ? ROCL_OK : rocl_fail_memory(err);
    if (list)
        qsort_r(list, n, sizeof *list, by_total, (void *)r);
    for (size_t i = 0, put = 0; st == ROCL_OK && i < n && put < most; i++)
        if (list[i].ranks > 1) {
            st = time_rows(r, out, t, &list[i], err);
            put++;
        }
    free(list);
    return st;
}

rocl_status rocl_ranks_put(rocl_ranks *r, rocl_tables *out, rocl_error *err)
{
    uint32_t count = count_places(r);
    rocl_status st = rank_table(r, out, count, err);
    if (st == ROCL_OK && !r->c.options->pictures)
        st = time_table(r, out, err);
    return st == ROCL_OK ? spread_table(r, out, count, err) : st;
}

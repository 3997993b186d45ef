/* Two traces side by side: what is new, gone, slower or faster, the largest change first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"

#define LEVEL        0.01  /* of significance */
#define SMALL        0.001 /* what is below this share of the whole is no reason to fail */
#define TEXT(out, s) rocl_datum_text((out), (s), strlen(s))

typedef enum status { ADDED, REMOVED, CHANGED, SAME } status;

static status status_of(const rocl_pair *p)
{
    if (!p->of[ROCL_A].taken)
        return ADDED;
    if (!p->of[ROCL_B].taken)
        return REMOVED;
    return p->differ ? CHANGED : SAME;
}

static bool is_significant(const rocl_pair *p)
{
    return p->test.p < LEVEL;
}

static double average_of(const rocl_distribution *d)
{
    return (double)d->total / (double)d->taken;
}

/* Of pairs that are in both. */
static double average_change(const rocl_pair *p)
{
    return average_of(&p->of[ROCL_B]) - average_of(&p->of[ROCL_A]);
}

/* Totals are not negative, so this does not overflow. */
static int64_t change_of(const rocl_distribution of[2])
{
    return of[ROCL_B].total - of[ROCL_A].total;
}

static int order_pairs(const void *a, const void *b)
{
    const rocl_pair *x = a, *y = b;
    int64_t p = llabs(change_of(x->of)), q = llabs(change_of(y->of));
    if (p != q)
        return p > q ? -1 : 1;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
    int c = memcmp(x->name, y->name, n);
    return c ? c : x->name_len < y->name_len ? -1 : x->name_len > y->name_len;
}

/* ---- the table ---- */

enum {
    C_DOMAIN,
    C_NAME,
    C_STATUS,
    C_CALLS_A,
    C_CALLS_B,
    C_TOTAL_A,
    C_TOTAL_B,
    C_CHANGE,
    C_CHANGE_PERCENT,
    C_AVERAGE_A,
    C_AVERAGE_B,
    C_AVERAGE_PERCENT,
    C_MEDIAN_A,
    C_MEDIAN_B,
    C_P,
    C_SIGNIFICANT,
    C_COLUMNS
};

static const rocl_table_column all_columns[C_COLUMNS] = {
    [C_DOMAIN] = {"domain", "Domain", ROCL_UNIT_TEXT},
    [C_NAME] = {"name", "Name", ROCL_UNIT_TEXT},
    [C_STATUS] = {"status", "Status", ROCL_UNIT_TEXT},
    [C_CALLS_A] = {"calls_a", "Calls A", ROCL_UNIT_COUNT},
    [C_CALLS_B] = {"calls_b", "Calls B", ROCL_UNIT_COUNT},
    [C_TOTAL_A] = {"total_a_ns", "Total A", ROCL_UNIT_NS},
    [C_TOTAL_B] = {"total_b_ns", "Total B", ROCL_UNIT_NS},
    [C_CHANGE] = {"change_ns", "Change", ROCL_UNIT_NS},
    [C_CHANGE_PERCENT] = {"change_percent", "Change %", ROCL_UNIT_PERCENT},
    [C_AVERAGE_A] = {"average_a_ns", "Average A", ROCL_UNIT_NS},
    [C_AVERAGE_B] = {"average_b_ns", "Average B", ROCL_UNIT_NS},
    [C_AVERAGE_PERCENT] = {"average_change_percent", "Average %", ROCL_UNIT_PERCENT},
    [C_MEDIAN_A] = {"median_a_ns", "Median A", ROCL_UNIT_NS},
    [C_MEDIAN_B] = {"median_b_ns", "Median B", ROCL_UNIT_NS},
    [C_P] = {"p", "p", ROCL_UNIT_NUMBER},
    [C_SIGNIFICANT] = {"significant", "Significant", ROCL_UNIT_TEXT},
};

/* The averages can be had from what is left. */
static bool has_column(const rocl_stats_options *o, unsigned column)
{
    bool detail =
        (column >= C_AVERAGE_A && column <= C_AVERAGE_B) || (column >= C_MEDIAN_A && column <= C_P);
    return !o->brief || !detail;
}

static void sum_cells(rocl_datum *r, const rocl_distribution of[2])
{
    int64_t before = of[ROCL_A].total, change = change_of(of);
    r[C_CALLS_A] = rocl_datum_int((int64_t)of[ROCL_A].taken);
    r[C_CALLS_B] = rocl_datum_int((int64_t)of[ROCL_B].taken);
    r[C_TOTAL_A] = rocl_datum_int(before);
    r[C_TOTAL_B] = rocl_datum_int(of[ROCL_B].total);
    r[C_CHANGE] = rocl_datum_int(change);
    r[C_CHANGE_PERCENT] = rocl_cell_of_share(change, before);
}

static void side_cells(rocl_datum *r, const rocl_distribution *d, unsigned which)
{
    if (!d->taken)
        return;
    r[C_AVERAGE_A + which] = rocl_datum_real(average_of(d));
    r[C_MEDIAN_A + which] = rocl_datum_int(d->median);
}

static void pair_cells(rocl_tables *out, rocl_datum *r, const rocl_pair *p)
{
    static const char *const names[] = {"added", "removed", "changed", "same"};
    r[C_DOMAIN] = TEXT(out, rocl_domain_name(p->domain));
    r[C_NAME] = rocl_datum_text(out, p->name, p->name_len);
    r[C_STATUS] = TEXT(out, names[status_of(p)]);
    sum_cells(r, p->of);
    side_cells(r, &p->of[ROCL_A], ROCL_A);
    side_cells(r, &p->of[ROCL_B], ROCL_B);
    if (!p->of[ROCL_A].taken || !p->of[ROCL_B].taken)
        return;
    if (p->of[ROCL_A].total > 0)
        r[C_AVERAGE_PERCENT] =
            rocl_datum_real(100 * average_change(p) / average_of(&p->of[ROCL_A]));
    r[C_P] = rocl_datum_real(p->test.p);
    r[C_SIGNIFICANT] = TEXT(out, is_significant(p) ? "yes" : "no");
}

static rocl_status put_row(const rocl_stats_options *o, rocl_table *t, const rocl_datum *cells,
                           rocl_error *err)
{
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    for (unsigned c = 0; c < C_COLUMNS; c++)
        if (has_column(o, c))
            *r++ = cells[c];
    return ROCL_OK;
}

/* What --top cuts off, summed up, so that the table still adds up. */
static rocl_status rest_row(const rocl_stats_options *o, rocl_tables *out, rocl_table *t,
                            const rocl_pair *list, size_t n, rocl_error *err)
{
    rocl_datum cells[C_COLUMNS] = {{0}};
    rocl_distribution of[2] = {{0}};
    for (size_t i = 0; i < n; i++)
        for (unsigned k = ROCL_A; k <= ROCL_B; k++)
            rocl_distribution_merge(&of[k], &list[i].of[k]);
    cells[C_NAME] = rocl_others_datum(out, n);
    sum_cells(cells, of);
    return put_row(o, t, cells, err);
}

static rocl_status put_pairs(const rocl_stats_options *o, rocl_tables *out, rocl_table *t,
                             const rocl_pairs *p, rocl_error *err)
{
    size_t shown = o->top && o->top < p->count ? o->top : p->count;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < shown && st == ROCL_OK; i++) {
        rocl_datum cells[C_COLUMNS] = {{0}};
        pair_cells(out, cells, &p->all[i]);
        st = put_row(o, t, cells, err);
    }
    if (st == ROCL_OK && shown < p->count)
        st = rest_row(o, out, t, p->all + shown, p->count - shown, err);
    return st;
}

static rocl_status make_table(const rocl_stats_options *o, rocl_tables *out, const rocl_pairs *p,
                              rocl_error *err)
{
    rocl_table_column *columns = rocl_arena_alloc(&out->arena, sizeof all_columns);
    size_t n = 0;
    for (unsigned c = 0; columns && c < C_COLUMNS; c++)
        if (has_column(o, c))
            columns[n++] = all_columns[c];
    rocl_table *t =
        columns ? rocl_tables_add(out, "compare", "From A to B by domain and name", columns, n)
                : NULL;
    if (!t)
        return rocl_fail_memory(err);
    t->note = "significant is p < 0.01 in Mann and Whitney's test";
    return put_pairs(o, out, t, p, err);
}

/* ---- growth ---- */

static double percent_of(double before, double after)
{
    if (after <= before)
        return 0;
    return before > 0 ? 100 * (after - before) / before : INFINITY;
}

/* By how much the average of a pair grew; an added one infinitely. */
static double average_growth(const rocl_pair *p)
{
    if (status_of(p) != CHANGED)
        return status_of(p) == ADDED ? INFINITY : 0;
    return percent_of(average_of(&p->of[ROCL_A]), average_of(&p->of[ROCL_B]));
}

/* What that costs in B, in ns. */
static double average_cost(const rocl_pair *p)
{
    const rocl_distribution *b = &p->of[ROCL_B];
    return status_of(p) == ADDED ? (double)b->total : average_change(p) * (double)b->taken;
}

/* The growth that the worst of a rule is looked for with. */
typedef struct worst {
    rocl_growth *growth;
    double cost;
    const rocl_pair *pair; /* NULL: not a name */
} worst;

static void count_growth(worst *w, double limit, double percent, double cost, bool added,
                         const rocl_pair *pair, const char *domain)
{
    if (!(percent > limit))
        return;
    if (w->growth->count++ && cost <= w->cost)
        return;
    w->cost = cost;
    w->pair = pair;
    w->growth->percent = percent;
    w->growth->added = added;
    w->growth->domain = domain;
}

static void name_worst(const worst *w, rocl_tables *out)
{
    if (w->pair)
        w->growth->name = rocl_tables_text(out, w->pair->name, w->pair->name_len);
}

static bool is_small(int64_t part, int64_t whole)
{
    return part <= 0 || (double)part < SMALL * (double)whole;
}

static void test_names(rocl_gate *g, rocl_tables *out, const rocl_pairs *p, int64_t (*totals)[2])
{
    worst grown = {.growth = &g->grown}, unjudged = {.growth = &g->not_judged};
    worst total = {.growth = &g->total_names};
    for (size_t i = 0; i < p->count; i++) {
        const rocl_pair *pair = &p->all[i];
        const char *domain = rocl_domain_name(pair->domain);
        bool added = status_of(pair) == ADDED;
        if (is_small(pair->of[ROCL_B].total, totals[pair->domain][ROCL_B]))
            continue;
        worst *into = added || is_significant(pair) ? &grown
                      : pair->test.least >= LEVEL   ? &unjudged
                                                    : NULL;
        if (into)
            count_growth(into, g->average, average_growth(pair), average_cost(pair), added, pair,
                         domain);
        count_growth(&total, g->total,
                     percent_of((double)pair->of[ROCL_A].total, (double)pair->of[ROCL_B].total),
                     (double)change_of(pair->of), added, pair, domain);
    }
    name_worst(&grown, out);
    name_worst(&unjudged, out);
    name_worst(&total, out);
}

/* Names that are small each can grow together. */
static void test_totals(rocl_gate *g, int64_t (*totals)[2])
{
    worst domains = {.growth = &g->total_domains}, trace = {.growth = &g->total_trace};
    int64_t all[2] = {0};
    for (unsigned d = 0; d < ROCL_DOMAINS; d++)
        for (unsigned k = ROCL_A; k <= ROCL_B; k++)
            all[k] = rocl_add_saturated(all[k], totals[d][k]);
    for (unsigned d = 0; d < ROCL_DOMAINS; d++) {
        double before = (double)totals[d][ROCL_A], after = (double)totals[d][ROCL_B];
        if (!is_small(totals[d][ROCL_B], all[ROCL_B]))
            count_growth(&domains, g->total, percent_of(before, after), after - before, before <= 0,
                         NULL, rocl_domain_name((rocl_domain)d));
    }
    double before = (double)all[ROCL_A], after = (double)all[ROCL_B];
    count_growth(&trace, g->total, percent_of(before, after), after - before, before <= 0, NULL,
                 NULL);
}

static void ask_gate(rocl_gate *g, rocl_tables *out, const rocl_pairs *p)
{
    int64_t totals[ROCL_DOMAINS][2] = {{0}};
    *g = (rocl_gate){.average = g->average, .total = g->total};
    for (size_t i = 0; i < p->count; i++)
        for (unsigned k = ROCL_A; k <= ROCL_B; k++) {
            int64_t *total = &totals[p->all[i].domain][k];
            *total = rocl_add_saturated(*total, p->all[i].of[k].total);
        }
    test_names(g, out, p, totals);
    test_totals(g, totals);
}

/* ---- both ---- */

rocl_status rocl_compare(rocl_trace *a, rocl_trace *b, const rocl_stats_options *o, rocl_gate *gate,
                         rocl_tables **tables, rocl_error *err)
{
    rocl_pairs pairs = {0};
    rocl_tables *out = rocl_tables_new();
    rocl_status st = out ? rocl_domains_check(o->domains, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_pairs_collect(&pairs, a, b, err);
    if (st == ROCL_OK) {
        qsort(pairs.all, pairs.count, sizeof *pairs.all, order_pairs);
        st = make_table(o, out, &pairs, err);
    }
    if (st == ROCL_OK && gate)
        ask_gate(gate, out, &pairs);
    rocl_pairs_free(&pairs);
    if (st == ROCL_OK)
        st = rocl_tables_verdict(out, b, err);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    *tables = out;
    st = rocl_trace_outcome(a);
    return st == ROCL_OK ? rocl_trace_outcome(b) : st;
}

/* Values of counters as tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counter.h"

/* ---- order ---- */

static int compare_groups(const counters *s, const group_key *a, const group_key *b)
{
    int c = rocl_compare_texts(s->c.trace, a->counter, b->counter);
    if (!c)
        c = a->kind < b->kind ? -1 : a->kind > b->kind;
    if (!c)
        c = rocl_compare_texts(s->c.trace, a->units, b->units);
    if (!c)
        c = rocl_compare_texts(s->c.trace, a->kernel, b->kernel);
    return c ? c : rocl_compare_agents(&a->agent, &b->agent);
}

static int largest_first(double a, double b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Values of different counters say nothing about each other: the order is within a counter. */
static int by_values(const void *a, const void *b, void *ctx)
{
    const counters *s = ctx;
    const values *x = a, *y = b;
    int c = rocl_compare_texts(s->c.trace, x->group.counter, y->group.counter);
    if (!c)
        c = rocl_compare_texts(s->c.trace, x->group.units, y->group.units);
    if (!c && s->c.options->sort == ROCL_BY_TOTAL)
        c = largest_first(rocl_counter_total(&x->total), rocl_counter_total(&y->total));
    if (!c && s->c.options->sort == ROCL_BY_CALLS)
        c = x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
    if (!c && s->c.options->sort == ROCL_BY_AVERAGE)
        c = largest_first(rocl_counter_mean(x), rocl_counter_mean(y));
    if (!c && s->c.options->sort == ROCL_BY_MAX)
        c = largest_first(x->max, y->max);
    return c ? c : compare_groups(s, &x->group, &y->group);
}

/* Series in an order that does not depend on their ids: they are added up in it. */
static int by_series(const void *a, const void *b, void *ctx)
{
    const series_key *x = &((const values *)a)->series, *y = &((const values *)b)->series;
    int c = compare_groups(ctx, &x->group, &y->group);
    if (!c)
        c = x->capture < y->capture ? -1 : x->capture > y->capture;
    if (!c)
        c = x->counter < y->counter ? -1 : x->counter > y->counter;
    for (unsigned i = 0; i < 5 && !c; i++)
        c = x->place[i] < y->place[i] ? -1 : x->place[i] > y->place[i];
    return c;
}

/* ---- tables ---- */

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

/* Columns that not every table has. */
enum { C_AGENT = 2, C_RANK, S_RANK = 3 };

static const rocl_table_column counter_columns[] = {
    {"counter", "Counter", ROCL_UNIT_TEXT}, {"kernel", "Kernel", ROCL_UNIT_TEXT},
    {"agent", "Agent", ROCL_UNIT_TEXT},     {"rank", "Rank", ROCL_UNIT_COUNT},
    {"unit", "Unit", ROCL_UNIT_TEXT},       {"dispatches", "Dispatches", ROCL_UNIT_COUNT},
    {"sum", "Sum", ROCL_UNIT_NUMBER},       {"mean", "Mean", ROCL_UNIT_NUMBER},
    {"min", "Min", ROCL_UNIT_NUMBER},       {"max", "Max", ROCL_UNIT_NUMBER},
};

static rocl_datum text_or_none(const counters *s, rocl_tables *out, uint32_t text)
{
    return *rocl_str(s->c.trace, text) ? rocl_cell_of_text(s->c.trace, out, text) : (rocl_datum){0};
}

static rocl_datum rank_cell(const group_key *k)
{
    return k->agent.rank >= 0 ? rocl_datum_int(k->agent.rank) : (rocl_datum){0};
}

static uint64_t shown_counters(const counters *s)
{
    uint64_t shown = UINT64_MAX;
    if (!s->c.options->by_agent)
        shown &= ~(UINT64_C(1) << C_AGENT);
    return s->c.options->by_rank ? shown : shown & ~(UINT64_C(1) << C_RANK);
}

static bool counter_row(const counters *s, rocl_tables *out, rocl_table *t, const values *g,
                        rocl_datum kernel, bool rest)
{
    const rocl_datum none = {0};
    const rocl_datum cells[] = {rocl_cell_of_text(s->c.trace, out, g->group.counter),
                                kernel,
                                rest || !s->c.options->by_agent
                                    ? none
                                    : rocl_cell_of_agent(s->c.trace, out, &g->group.agent),
                                rest ? none : rank_cell(&g->group),
                                text_or_none(s, out, g->group.units),
                                rocl_datum_int((int64_t)g->count),
                                rocl_cell_of_number(rocl_counter_total(&g->total)),
                                rocl_datum_real(rocl_counter_mean(g)),
                                rocl_cell_of_number(g->min),
                                rocl_cell_of_number(g->max)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_counters(s));
}

/* The groups of one counter and unit; what --top cuts off is summed up for each. */
static bool counter_rows(const counters *s, rocl_tables *out, rocl_table *t, const values *g,
                         size_t n)
{
    size_t top = s->c.options->top, shown = top && top < n ? top : n;
    bool good = true;
    for (size_t i = 0; good && i < shown; i++)
        good = counter_row(s, out, t, &g[i], rocl_cell_of_text(s->c.trace, out, g[i].group.kernel),
                           false);
    if (!good || shown == n)
        return good;
    values rest = {.group = g->group};
    for (size_t i = shown; i < n; i++)
        rocl_counter_merge(&rest, &g[i]);
    return counter_row(s, out, t, &rest, rocl_others_datum(out, n - shown), true);
}

static bool same_counter(const values *a, const values *b)
{
    return a->group.counter == b->group.counter && a->group.units == b->group.units;
}

static rocl_status counter_table(counters *s, rocl_tables *out, rocl_error *err)
{
    size_t count;
    values *all = rocl_counter_open(s->groups, sizeof(group_key), &count);
    rocl_table *t = rocl_tables_add_some(out, "counters", "Counters of kernels",
                                         COLUMNS(counter_columns), shown_counters(s));
    bool good = all && t;
    rocl_status st = good ? rocl_counter_fill(s->by_value, all, false, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        qsort_r(all + 1, count - 1, sizeof *all, by_values, s);
    for (size_t i = 1, next; st == ROCL_OK && good && i < count; i = next) {
        for (next = i + 1; next < count && same_counter(&all[i], &all[next]);)
            next++;
        good = counter_rows(s, out, t, &all[i], next - i);
    }
    free(all);
    return st == ROCL_OK && !good ? rocl_fail_memory(err) : st;
}

static const rocl_table_column sample_columns[] = {
    {"counter", "Counter", ROCL_UNIT_TEXT},  {"kind", "Kind", ROCL_UNIT_TEXT},
    {"agent", "Agent", ROCL_UNIT_TEXT},      {"rank", "Rank", ROCL_UNIT_COUNT},
    {"unit", "Unit", ROCL_UNIT_TEXT},        {"series", "Series", ROCL_UNIT_COUNT},
    {"samples", "Samples", ROCL_UNIT_COUNT}, {"mean", "Mean", ROCL_UNIT_NUMBER},
    {"min", "Min", ROCL_UNIT_NUMBER},        {"max", "Max", ROCL_UNIT_NUMBER},
};

static uint64_t shown_samples(const counters *s)
{
    return s->c.options->by_rank ? UINT64_MAX : ~(UINT64_C(1) << S_RANK);
}

static bool sample_row(const counters *s, rocl_tables *out, rocl_table *t, const values *g,
                       size_t series)
{
    const rocl_datum cells[] = {rocl_cell_of_text(s->c.trace, out, g->group.counter),
                                rocl_cell_of_string(out, rocl_kind_name((rocl_kind)g->group.kind)),
                                rocl_cell_of_agent(s->c.trace, out, &g->group.agent),
                                rank_cell(&g->group),
                                text_or_none(s, out, g->group.units),
                                rocl_datum_int((int64_t)series),
                                rocl_datum_int((int64_t)g->count),
                                rocl_datum_real(rocl_counter_mean_over_time(g)),
                                rocl_cell_of_number(g->min),
                                rocl_cell_of_number(g->max)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_samples(s));
}

static rocl_status sample_table(counters *s, rocl_tables *out, rocl_error *err)
{
    size_t count;
    values *all = rocl_counter_open(s->series, sizeof(series_key), &count);
    rocl_table *t = rocl_tables_add_some(out, "samples", "Sampled counters",
                                         COLUMNS(sample_columns), shown_samples(s));
    bool good = all && t;
    rocl_status st = good ? rocl_counter_fill(s->by_time, all, true, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        qsort_r(all + 1, count - 1, sizeof *all, by_series, s);
    for (size_t i = 1, next; st == ROCL_OK && good && i < count; i = next) {
        values g = {.group = all[i].group};
        for (next = i; next < count && !compare_groups(s, &all[i].group, &all[next].group); next++)
            rocl_counter_merge(&g, &all[next]);
        good = sample_row(s, out, t, &g, next - i);
    }
    free(all);
    return st == ROCL_OK && !good ? rocl_fail_memory(err) : st;
}

rocl_status rocl_counter_tables(counters *s, rocl_tables *out, rocl_error *err)
{
    rocl_status st = counter_table(s, out, err);
    return st == ROCL_OK ? sample_table(s, out, err) : st;
}

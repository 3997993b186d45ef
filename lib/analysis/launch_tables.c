/* The report on launches as tables. */
#include "analysis/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    L_NAME,
    L_CALL,
    L_RANK,
    L_AGENT,
    L_STREAM,
    L_COUNT,
    L_EARLY,
    L_CALL_TIME,
    L_DELAY,
    L_MEDIAN,
    L_P95,
    L_MAX,
    L_KERNEL,
    L_TOTAL,
    L_COLUMNS
};

static const rocl_table_column launch_columns[L_COLUMNS] = {
    [L_NAME] = {"name", "Kernel", ROCL_UNIT_TEXT},
    [L_CALL] = {"call", "Launched by", ROCL_UNIT_TEXT},
    [L_RANK] = {"rank", "Rank", ROCL_UNIT_COUNT},
    [L_AGENT] = {"agent", "Agent", ROCL_UNIT_TEXT},
    [L_STREAM] = {"stream", "Stream", ROCL_UNIT_TEXT},
    [L_COUNT] = {"launches", "Count", ROCL_UNIT_COUNT},
    [L_EARLY] = {"early", "Early", ROCL_UNIT_COUNT},
    [L_CALL_TIME] = {"call_average_ns", "Call", ROCL_UNIT_NS},
    [L_DELAY] = {"delay_average_ns", "Delay", ROCL_UNIT_NS},
    [L_MEDIAN] = {"delay_median_ns", "Median", ROCL_UNIT_NS},
    [L_P95] = {"delay_p95_ns", "P95", ROCL_UNIT_NS},
    [L_MAX] = {"delay_max_ns", "Max", ROCL_UNIT_NS},
    [L_KERNEL] = {"kernel_average_ns", "Kernel", ROCL_UNIT_NS},
    [L_TOTAL] = {"total_average_ns", "Total", ROCL_UNIT_NS},
};

static bool has_column(const launch *l, unsigned column)
{
    return (column != L_RANK || l->c.options->by_rank) &&
           (column != L_AGENT || l->c.options->by_agent) &&
           (column != L_STREAM || l->c.options->by_stream);
}

/* ---- order ---- */

static double average_delay(const launch_group *g)
{
    return g->delay.taken ? (double)g->delay.total / (double)g->delay.taken : -1;
}

/* The largest first. */
static int compare_values(const launch_group *a, const launch_group *b, rocl_sort_by by)
{
    double x = average_delay(a), y = average_delay(b);
    switch (by) {
    case ROCL_BY_TOTAL:
        return rocl_number_order(b->delay.total, a->delay.total);
    case ROCL_BY_CALLS:
        return a->count < b->count ? 1 : a->count > b->count ? -1 : 0;
    case ROCL_BY_AVERAGE:
        return x < y ? 1 : x > y ? -1 : 0;
    case ROCL_BY_MAX:
        return rocl_number_order(b->delay.max, a->delay.max);
    default:
        return 0;
    }
}

static int compare_groups(const void *a, const void *b, void *ctx)
{
    const launch *l = ctx;
    const launch_group *x = *(launch_group *const *)a, *y = *(launch_group *const *)b;
    const launch_key *k = &x->key, *m = &y->key;
    int c = compare_values(x, y, l->c.options->sort);
    if (!c)
        c = rocl_compare_texts(l->c.trace, k->name, m->name);
    if (!c)
        c = (k->call == ROCL_NONE) - (m->call == ROCL_NONE);
    if (!c)
        c = rocl_compare_texts(l->c.trace, k->call, m->call);
    if (!c)
        c = rocl_number_order(k->rank, m->rank);
    if (!c)
        c = rocl_compare_texts(l->c.trace, k->agent, m->agent);
    return c ? c : rocl_compare_texts(l->c.trace, k->stream, m->stream);
}

/* Free the array. */
static launch_group **order_groups(launch *l, size_t *count)
{
    launch_group **list = calloc(l->group_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < l->group_count; i++)
        if (l->groups[i].count)
            list[(*count)++] = &l->groups[i];
    if (list)
        qsort_r(list, *count, sizeof *list, compare_groups, l);
    return list;
}

/* ---- launches ---- */

static rocl_datum call_datum(const launch *l, rocl_tables *out, uint32_t call)
{
    return call != ROCL_NONE ? rocl_cell_of_text(l->c.trace, out, call) : (rocl_datum){0};
}

static rocl_datum key_cell(const launch *l, rocl_tables *out, const launch_key *k, unsigned column)
{
    switch (column) {
    case L_NAME:
        return rocl_cell_of_text(l->c.trace, out, k->name);
    case L_CALL:
        return call_datum(l, out, k->call);
    case L_RANK:
        return rocl_id_datum(k->rank);
    case L_AGENT:
        return k->agent ? rocl_cell_of_text(l->c.trace, out, k->agent) : (rocl_datum){0};
    default:
        return k->stream ? rocl_cell_of_text(l->c.trace, out, k->stream) : (rocl_datum){0};
    }
}

static rocl_datum delay_cell(const rocl_distribution *d, unsigned column)
{
    if (!d->taken)
        return (rocl_datum){0};
    switch (column) {
    case L_DELAY:
        return rocl_average_datum(d->total, d->taken);
    case L_MEDIAN:
        return rocl_datum_int(d->median);
    case L_P95:
        return rocl_datum_int(d->p95);
    default:
        return rocl_datum_int(d->max);
    }
}

static rocl_datum value_cell(const launch_group *g, unsigned column)
{
    switch (column) {
    case L_COUNT:
        return rocl_datum_int((int64_t)g->count);
    case L_EARLY:
        return g->delay.taken ? rocl_datum_int((int64_t)g->early) : (rocl_datum){0};
    case L_CALL_TIME:
        return rocl_average_datum(g->calls, g->delay.taken);
    case L_KERNEL:
        return rocl_average_datum(g->kernels, g->count);
    case L_TOTAL:
        return rocl_average_datum(g->all, g->delay.taken);
    default:
        return delay_cell(&g->delay, column);
    }
}

static launch_group sum_of(launch_group *const *list, size_t n)
{
    launch_group sum = {0};
    for (size_t i = 0; i < n; i++) {
        const launch_group *g = list[i];
        sum.count += g->count;
        sum.early += g->early;
        sum.calls = rocl_add_saturated(sum.calls, g->calls);
        sum.kernels = rocl_add_saturated(sum.kernels, g->kernels);
        sum.all = rocl_add_saturated(sum.all, g->all);
        rocl_distribution_merge(&sum.delay, &g->delay);
    }
    return sum;
}

static rocl_status group_row(const launch *l, rocl_tables *out, rocl_table *t,
                             const launch_group *g, rocl_error *err)
{
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    for (unsigned c = 0; c < L_COLUMNS; c++)
        if (has_column(l, c))
            *r++ = c < L_COUNT ? key_cell(l, out, &g->key, c) : value_cell(g, c);
    return ROCL_OK;
}

/* What is cut off; sums have no percentiles. */
static rocl_status rest_row(const launch *l, rocl_tables *out, rocl_table *t,
                            launch_group *const *list, size_t n, rocl_error *err)
{
    launch_group sum = sum_of(list, n);
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    *r++ = rocl_others_datum(out, n);
    for (unsigned c = L_CALL; c < L_COLUMNS; c++, r++) {
        if (!has_column(l, c))
            r--;
        else if (c >= L_COUNT && c != L_MEDIAN && c != L_P95)
            *r = value_cell(&sum, c);
    }
    return ROCL_OK;
}

static const char *note_of(const launch *l, rocl_tables *out)
{
    static const char *const what = "call, delay, kernel and total on average";
    char text[160];
    int n = snprintf(text, sizeof text, "%s; the calls of %llu kernels are not in the trace", what,
                     (unsigned long long)l->unlinked);
    return l->unlinked ? rocl_tables_text(out, text, (size_t)n) : what;
}

static rocl_table *new_table(const launch *l, rocl_tables *out)
{
    rocl_table_column *columns = rocl_arena_alloc(&out->arena, sizeof launch_columns);
    size_t n = 0;
    for (unsigned c = 0; columns && c < L_COLUMNS; c++)
        if (has_column(l, c))
            columns[n++] = launch_columns[c];
    rocl_table *t = columns ? rocl_tables_add(out, "launch", "Kernel launches", columns, n) : NULL;
    if (t)
        t->note = note_of(l, out);
    return t;
}

static rocl_status launch_table(launch *l, rocl_tables *out, rocl_error *err)
{
    size_t n = 0;
    rocl_table *t = new_table(l, out);
    launch_group **list = t ? order_groups(l, &n) : NULL;
    rocl_status st = list ? ROCL_OK : rocl_fail_memory(err);
    size_t shown = rocl_rows_shown(l->c.options, n);
    for (size_t i = 0; i < shown && st == ROCL_OK; i++)
        st = group_row(l, out, t, list[i], err);
    if (st == ROCL_OK && shown < n)
        st = rest_row(l, out, t, list + shown, n - shown, err);
    free(list);
    return st;
}

/* ---- the longest delays ---- */

static const rocl_table_column delay_columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT},     {"call", "Launched by", ROCL_UNIT_TEXT},
    {"start_ns", "Start", ROCL_UNIT_COUNT}, {"delay_ns", "Delay", ROCL_UNIT_NS},
    {"rank", "Rank", ROCL_UNIT_COUNT},      {"agent", "Agent", ROCL_UNIT_TEXT},
    {"stream", "Stream", ROCL_UNIT_TEXT},
};

static rocl_status delay_table(launch *l, rocl_tables *out, rocl_error *err)
{
    static const unsigned cells[] = {L_NAME, L_CALL, 0, 0, L_RANK, L_AGENT, L_STREAM};
    rocl_table *t = rocl_tables_add(out, "launch_delays", "Longest delays of launches",
                                    delay_columns, sizeof cells / sizeof *cells);
    if (!t)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < rocl_rows_shown(l->c.options, l->longest_count); i++) {
        const launch_delay *d = &l->longest[i];
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
            r[c] = key_cell(l, out, &d->key, cells[c]);
        r[2] = rocl_datum_int(d->start);
        r[3] = rocl_datum_int(d->delay);
    }
    return ROCL_OK;
}

rocl_status rocl_launch_tables(launch *l, rocl_tables *out, rocl_error *err)
{
    rocl_status st = launch_table(l, out, err);
    return st == ROCL_OK ? delay_table(l, out, err) : st;
}

/* Tables by name: the summary of all domains, kernels, and groups of domains. */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/summary.h"

/* All columns that a summary may have; those not asked for are left out of a table. */
enum {
    S_GROUP,
    S_DOMAIN,
    S_NAME,
    S_RANK,
    S_AGENT,
    S_STREAM,
    S_WORKGROUP,
    S_GRID,
    S_CALLS,
    S_TOTAL,
    S_AVERAGE,
    S_PERCENT,
    S_MIN,
    S_MEDIAN,
    S_P90,
    S_P95,
    S_P99,
    S_MAX,
    S_STDDEV,
    S_RSD,
    S_COLUMNS
};

static const rocl_table_column summary_columns[S_COLUMNS] = {
    [S_GROUP] = {"group", "Group", ROCL_UNIT_TEXT},
    [S_DOMAIN] = {"domain", "Domain", ROCL_UNIT_TEXT},
    [S_NAME] = {"name", "Name", ROCL_UNIT_TEXT},
    [S_RANK] = {"rank", "Rank", ROCL_UNIT_COUNT},
    [S_AGENT] = {"agent", "Agent", ROCL_UNIT_TEXT},
    [S_STREAM] = {"stream", "Stream", ROCL_UNIT_TEXT},
    [S_WORKGROUP] = {"workgroup", "Workgroup", ROCL_UNIT_TEXT},
    [S_GRID] = {"grid", "Grid", ROCL_UNIT_TEXT},
    [S_CALLS] = {"calls", "Calls", ROCL_UNIT_COUNT},
    [S_TOTAL] = {"total_ns", "Total", ROCL_UNIT_NS},
    [S_AVERAGE] = {"average_ns", "Average", ROCL_UNIT_NS},
    [S_PERCENT] = {"percent", "%", ROCL_UNIT_PERCENT},
    [S_MIN] = {"min_ns", "Min", ROCL_UNIT_NS},
    [S_MEDIAN] = {"median_ns", "Median", ROCL_UNIT_NS},
    [S_P90] = {"p90_ns", "P90", ROCL_UNIT_NS},
    [S_P95] = {"p95_ns", "P95", ROCL_UNIT_NS},
    [S_P99] = {"p99_ns", "P99", ROCL_UNIT_NS},
    [S_MAX] = {"max_ns", "Max", ROCL_UNIT_NS},
    [S_STDDEV] = {"stddev_ns", "StdDev", ROCL_UNIT_NS},
    [S_RSD] = {"rsd_percent", "RSD %", ROCL_UNIT_PERCENT},
};

/* What a table has of the columns. */
static uint64_t shown_columns(const rocl_stats_options *o, bool groups, bool domains)
{
    const bool hidden[S_COLUMNS] = {
        [S_GROUP] = !groups,      [S_DOMAIN] = !domains,      [S_RANK] = !o->by_rank,
        [S_AGENT] = !o->by_agent, [S_STREAM] = !o->by_stream, [S_WORKGROUP] = !o->by_dims,
        [S_GRID] = !o->by_dims,   [S_MIN] = o->brief,         [S_P90] = o->brief,
        [S_P95] = o->brief,       [S_STDDEV] = o->brief,      [S_RSD] = o->brief};
    uint64_t shown = 0;
    for (unsigned c = 0; c < S_COLUMNS; c++)
        shown |= (uint64_t)!hidden[c] << c;
    return shown;
}

/* A table while rows are put into it. */
typedef struct view {
    const summary *s;
    rocl_tables *out;
    rocl_table *t;
    uint64_t shown;
    const char *group; /* of its rows */
} view;

static view new_view(const summary *s, rocl_tables *out, const char *key, const char *title,
                     uint64_t shown)
{
    rocl_table *t = rocl_tables_add_some(out, key, title, summary_columns, S_COLUMNS, shown);
    return (view){s, out, t, shown, ""};
}

static rocl_datum dims_datum(rocl_tables *out, const uint32_t d[3])
{
    char text[48];
    if (!d[0] && !d[1] && !d[2])
        return (rocl_datum){0};
    int n = snprintf(text, sizeof text, "%ux%ux%u", d[0], d[1], d[2]);
    return rocl_datum_text(out, text, (size_t)n);
}

static rocl_datum key_cell(const summary *s, rocl_tables *out, const summary_group *g,
                           unsigned column)
{
    switch (column) {
    case S_DOMAIN:
        return rocl_cell_of_string(out, rocl_domain_name(g->key.domain));
    case S_NAME:
        return rocl_cell_of_text(s->c.trace, out, g->key.name);
    case S_RANK:
        return rocl_id_datum(g->key.rank);
    case S_AGENT:
        return g->key.agent ? rocl_cell_of_text(s->c.trace, out, g->key.agent) : (rocl_datum){0};
    case S_STREAM:
        return g->key.stream ? rocl_cell_of_text(s->c.trace, out, g->key.stream) : (rocl_datum){0};
    case S_WORKGROUP:
        return dims_datum(out, g->key.workgroup);
    default:
        return dims_datum(out, g->key.grid);
    }
}

static rocl_datum rsd_datum(const rocl_distribution *d)
{
    double v;
    if (!rocl_distribution_stddev(d, &v) || d->total <= 0)
        return (rocl_datum){0};
    return rocl_datum_real(100 * v / rocl_distribution_average(d));
}

static rocl_datum value_cell(const rocl_distribution *d, unsigned column, int64_t all)
{
    switch (column) {
    case S_CALLS:
        return rocl_datum_int((int64_t)d->taken);
    case S_TOTAL:
        return rocl_datum_int(d->total);
    case S_AVERAGE:
        return rocl_datum_real(rocl_distribution_average(d));
    case S_PERCENT:
        return rocl_cell_of_share(d->total, all);
    case S_MIN:
        return rocl_datum_int(d->min);
    case S_MEDIAN:
        return rocl_datum_int(d->median);
    case S_P90:
        return rocl_datum_int(d->p90);
    case S_P95:
        return rocl_datum_int(d->p95);
    case S_P99:
        return rocl_datum_int(d->p99);
    case S_MAX:
        return rocl_datum_int(d->max);
    case S_STDDEV:
        return rocl_stddev_datum(d);
    default:
        return rsd_datum(d);
    }
}

static bool group_row(const view *w, const summary_group *g, int64_t all)
{
    rocl_datum cells[S_COLUMNS];
    cells[S_GROUP] = rocl_cell_of_string(w->out, w->group);
    for (unsigned c = S_DOMAIN; c < S_COLUMNS; c++)
        if (w->shown >> c & 1)
            cells[c] = c < S_CALLS ? key_cell(w->s, w->out, g, c) : value_cell(&g->d, c, all);
    return rocl_table_row_some(w->t, cells, S_COLUMNS, w->shown);
}

/* What --top cuts off is summed up, so that the table still adds up. Of one domain only where the
 * table's parts are domains. */
static bool rest_row(const view *w, summary_group *const *list, size_t n, int64_t all)
{
    rocl_distribution d = rocl_summary_sum(list, n);
    rocl_datum cells[S_COLUMNS] = {
        [S_GROUP] = rocl_cell_of_string(w->out, w->group),
        [S_NAME] = rocl_others_datum(w->out, n),
    };
    if (!*w->group)
        cells[S_DOMAIN] = key_cell(w->s, w->out, list[0], S_DOMAIN);
    for (unsigned c = S_CALLS; c <= S_PERCENT; c++)
        cells[c] = value_cell(&d, c, all);
    return rocl_table_row_some(w->t, cells, S_COLUMNS, w->shown);
}

/* The groups of some domains, in one order. */
static rocl_status put_rows(const view *w, uint32_t domains, rocl_error *err)
{
    size_t n;
    summary_group **list = rocl_summary_select(w->s, domains, OF_NAMES, &n);
    bool good = list;
    size_t shown = rocl_rows_shown(w->s->c.options, n);
    int64_t all = good ? rocl_summary_sum(list, n).total : 0;
    for (size_t i = 0; i < shown && good; i++)
        good = group_row(w, list[i], all);
    if (good && shown < n)
        good = rest_row(w, list + shown, n - shown, all);
    free(list);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_kernel_table(const summary *s, rocl_tables *out, rocl_error *err)
{
    view w = new_view(s, out, "kernels", "Kernels", shown_columns(s->c.options, false, false));
    return w.t ? put_rows(&w, 1u << ROCL_DOMAIN_KERNELS, err) : rocl_fail_memory(err);
}

rocl_status rocl_summary_table(const summary *s, rocl_tables *out, rocl_error *err)
{
    view w = new_view(s, out, "summary", "Time by domain and name",
                      shown_columns(s->c.options, false, true));
    rocl_status st = w.t ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned d = 0; d < ROCL_DOMAINS && st == ROCL_OK; d++)
        if (rocl_domain_listed(s->c.options->domains, (rocl_domain)d))
            st = put_rows(&w, 1u << d, err);
    return st;
}

rocl_status rocl_summary_groups_table(const summary *s, rocl_tables *out, rocl_error *err)
{
    view w = new_view(s, out, "summary_groups", "Time by groups of domains",
                      shown_columns(s->c.options, true, true));
    rocl_status st = w.t ? ROCL_OK : rocl_fail_memory(err);
    for (const char *const *g = s->c.options->summary_groups; *g && st == ROCL_OK; g++) {
        uint32_t domains = 0;
        w.group = *g;
        st = rocl_domains_matching(*g, &domains, err);
        if (st == ROCL_OK)
            st = put_rows(&w, domains, err);
    }
    return st;
}

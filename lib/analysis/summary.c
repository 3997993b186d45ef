/* Calls and time by domain and name, and by what else was asked for. Every event becomes a record
 * of (group, duration) in the external sort: percentiles are exact for any number of events, and
 * sums do not depend on the number of workers, since each group is taken in order of duration. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"

/* What makes a group; compared byte by byte, so without holes and zeroed. */
typedef struct group_key {
    uint32_t copies; /* 1: of the table of copies */
    uint32_t domain;
    uint32_t name, agent, other_agent; /* texts */
    int32_t rank;
    int64_t stream;
    uint32_t workgroup[3], grid[3];
} group_key;

typedef struct group {
    group_key key;
    rocl_distribution d;
    int64_t bytes;    /* saturates */
    double best_rate; /* bytes per second of the fastest copy */
} group;

typedef struct summary {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_strings *keys; /* group keys as bytes; their ids are the groups */
    rocl_sorter *sorter;
    rocl_counts *counts; /* by worker */
    group *groups;
    size_t group_count;
} summary;

/* ---- taking events ---- */

static uint32_t agent_text(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count ? c->agents[agent].label : 0;
}

static int64_t stream_id(const rocl_capture *c, uint32_t stream)
{
    return stream < c->stream_count ? c->streams[stream].id : -1;
}

static void place_key(const summary *s, const rocl_capture *c, group_key *k, uint32_t agent,
                      uint32_t stream)
{
    if (s->options->by_agent)
        k->agent = agent_text(c, agent);
    if (s->options->by_stream)
        k->stream = stream_id(c, stream);
}

static void make_key(const summary *s, const rocl_batch *b, size_t i, group_key *k)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    *k = (group_key){.domain = rocl_domain_of(s->trace, b->kind, e->category),
                     .name = e->name == ROCL_NONE ? 0 : e->name};
    k->rank = s->options->by_rank ? c->processes[e->process].rank : -1;
    k->stream = -1;
    if (b->kind == ROCL_DISPATCH) {
        const rocl_dispatch *d = &b->dispatches[i];
        place_key(s, c, k, d->agent, d->stream);
        if (s->options->by_dims) {
            memcpy(k->workgroup, d->workgroup, sizeof k->workgroup);
            memcpy(k->grid, d->grid, sizeof k->grid);
        }
    } else if (b->kind == ROCL_COPY) {
        place_key(s, c, k, b->copies[i].dst, b->copies[i].stream);
    } else if (b->kind == ROCL_ALLOC || b->kind == ROCL_SCRATCH) {
        place_key(s, c, k, b->allocs[i].owner, b->allocs[i].stream);
    } else if (b->kind == ROCL_BARRIER) {
        place_key(s, c, k, b->hips[i].agent, b->hips[i].stream);
    }
}

static rocl_status add(summary *s, unsigned worker, const group_key *k, int64_t duration,
                       uint64_t bytes, rocl_error *err)
{
    uint8_t payload[ROCL_VARINT_MAX];
    uint32_t id = rocl_strings_put(s->keys, (const char *)k, sizeof *k);
    if (id == ROCL_NONE || !rocl_counts_add(&s->counts[worker], id))
        return rocl_fail_memory(err);
    const uint64_t key[2] = {id, (uint64_t)duration};
    size_t n = k->copies ? (size_t)(rocl_varint_put(payload, bytes) - payload) : 0;
    return rocl_sorter_add(s->sorter, worker, key, payload, n, err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    summary *s = self;
    bool copies = b->kind == ROCL_COPY && rocl_report_wanted(s->options, ROCL_REPORT_COPIES);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        int64_t duration = rocl_batch_event(b, i)->end - rocl_batch_event(b, i)->start;
        group_key k;
        make_key(s, b, i, &k);
        st = add(s, worker, &k, duration, 0, err);
        if (st == ROCL_OK && copies) {
            k.copies = 1;
            k.agent = agent_text(b->capture, b->copies[i].src);
            k.other_agent = agent_text(b->capture, b->copies[i].dst);
            st = add(s, worker, &k, duration, b->copies[i].size, err);
        }
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    summary *s = self;
    return rocl_sorter_seal(s->sorter, worker, err);
}

/* ---- groups ---- */

static rocl_status open_groups(summary *s, rocl_error *err)
{
    s->group_count = rocl_strings_count(s->keys);
    s->groups = calloc(s->group_count, sizeof *s->groups);
    if (!s->groups)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->group_count; i++) { /* 0 is "", no key */
        uint64_t n = rocl_counts_sum(s->counts, s->trace->opt.jobs, i);
        memcpy(&s->groups[i].key, rocl_strings_get(s->keys, i, NULL), sizeof(group_key));
        rocl_distribution_begin(&s->groups[i].d, n);
    }
    return ROCL_OK;
}

static void take_bytes(group *g, int64_t duration, uint64_t bytes)
{
    double rate = duration > 0 ? (double)bytes * 1e9 / (double)duration : 0;
    g->bytes = rocl_add_saturated(g->bytes, (int64_t)(bytes < INT64_MAX ? bytes : INT64_MAX));
    if (rate > g->best_rate)
        g->best_rate = rate;
}

static rocl_status fill_groups(summary *s, rocl_error *err)
{
    rocl_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(s->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(s->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        group *g = &s->groups[rec.key[0]];
        const uint8_t *p = rec.data;
        uint64_t bytes;
        rocl_distribution_take(&g->d, (int64_t)rec.key[1]);
        if (rocl_varint_get(&p, rec.data + rec.len, &bytes))
            take_bytes(g, (int64_t)rec.key[1], bytes);
    }
    return st;
}

/* ---- order ---- */

typedef struct order {
    const summary *s;
    rocl_sort_by by;
} order;

/* Not Welford's mean, in which equal averages may differ by the last bit. */
static double average_of(const rocl_distribution *d)
{
    return (double)d->total / (double)d->taken;
}

static int compare_numbers(double a, double b)
{
    return a < b ? 1 : a > b ? -1 : 0; /* largest first */
}

/* By what was asked for; then by name and the rest of the key, never by ids. */
static int compare_groups(const void *a, const void *b, void *ctx)
{
    const order *o = ctx;
    const group *x = *(group *const *)a, *y = *(group *const *)b;
    const rocl_trace *t = o->s->trace;
    int c = 0;
    if (o->by == ROCL_BY_TOTAL)
        c = x->d.total < y->d.total ? 1 : x->d.total > y->d.total ? -1 : 0;
    else if (o->by == ROCL_BY_CALLS)
        c = x->d.taken < y->d.taken ? 1 : x->d.taken > y->d.taken ? -1 : 0;
    else if (o->by == ROCL_BY_AVERAGE)
        c = compare_numbers(average_of(&x->d), average_of(&y->d));
    else if (o->by == ROCL_BY_MAX)
        c = x->d.max < y->d.max ? 1 : x->d.max > y->d.max ? -1 : 0;
    if (!c)
        c = rocl_compare_texts(t, x->key.name, y->key.name);
    if (!c)
        c = rocl_compare_texts(t, x->key.agent, y->key.agent);
    if (!c)
        c = rocl_compare_texts(t, x->key.other_agent, y->key.other_agent);
    if (!c)
        c = x->key.rank != y->key.rank ? (x->key.rank < y->key.rank ? -1 : 1) : 0;
    if (!c)
        c = x->key.stream != y->key.stream ? (x->key.stream < y->key.stream ? -1 : 1) : 0;
    if (!c)
        c = memcmp(x->key.workgroup, y->key.workgroup, sizeof x->key.workgroup);
    return c ? c : memcmp(x->key.grid, y->key.grid, sizeof x->key.grid);
}

/* The groups of a domain in order; free the array. */
static group **select_groups(summary *s, rocl_domain d, bool copies, size_t *count)
{
    group **list = calloc(s->group_count, sizeof *list);
    size_t n = 0;
    for (size_t i = 1; list && i < s->group_count; i++)
        if (s->groups[i].key.domain == d && s->groups[i].key.copies == copies &&
            s->groups[i].d.taken)
            list[n++] = &s->groups[i];
    order o = {s, s->options->sort};
    if (list)
        qsort_r(list, n, sizeof *list, compare_groups, &o);
    *count = n;
    return list;
}

static rocl_distribution sum_of(group *const *list, size_t n)
{
    rocl_distribution d = {0};
    for (size_t i = 0; i < n; i++)
        rocl_distribution_merge(&d, &list[i]->d);
    return d;
}

/* ---- tables ---- */

static rocl_datum stddev_datum(const rocl_distribution *d)
{
    double v;
    return rocl_distribution_stddev(d, &v) ? rocl_datum_real(v) : (rocl_datum){0};
}

static rocl_datum rsd_datum(const rocl_distribution *d)
{
    double v;
    if (!rocl_distribution_stddev(d, &v) || d->mean <= 0)
        return (rocl_datum){0};
    return rocl_datum_real(100 * v / d->mean);
}

static rocl_datum average(const rocl_distribution *d)
{
    return rocl_datum_real(average_of(d));
}

static const rocl_table_column domain_columns[] = {
    {"name", "Domain", ROCL_UNIT_TEXT},  {"calls", "Calls", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS}, {"average_ns", "Average", ROCL_UNIT_NS},
    {"percent", "%", ROCL_UNIT_PERCENT}, {"min_ns", "Min", ROCL_UNIT_NS},
    {"max_ns", "Max", ROCL_UNIT_NS},     {"stddev_ns", "StdDev", ROCL_UNIT_NS},
};

static void domain_row(rocl_tables *out, rocl_datum *r, rocl_domain d, const rocl_distribution *sum,
                       int64_t all)
{
    r[0] = rocl_datum_text(out, rocl_domain_name(d), strlen(rocl_domain_name(d)));
    r[1] = rocl_datum_int((int64_t)sum->taken);
    r[2] = rocl_datum_int(sum->total);
    r[3] = average(sum);
    r[4] = rocl_cell_of_share(sum->total, all);
    r[5] = rocl_datum_int(sum->min);
    r[6] = rocl_datum_int(sum->max);
    r[7] = stddev_datum(sum);
}

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

/* From the events, not from averages of averages: groups are merged exactly. */
static rocl_status domain_table(summary *s, rocl_tables *out, rocl_error *err)
{
    rocl_distribution sums[ROCL_DOMAINS] = {{0}};
    bool done[ROCL_DOMAINS] = {false};
    int64_t all = 0;
    rocl_table *t = rocl_tables_add(out, "domains", "Time by domain", COLUMNS(domain_columns));
    if (!t)
        return rocl_fail_memory(err);
    for (size_t d = 0; d < ROCL_DOMAINS; d++) {
        size_t n;
        if (!rocl_domain_listed(s->options->domains, (rocl_domain)d))
            continue;
        group **list = select_groups(s, (rocl_domain)d, false, &n);
        if (!list)
            return rocl_fail_memory(err);
        sums[d] = sum_of(list, n);
        all = rocl_add_saturated(all, sums[d].total);
        free(list);
    }
    for (;;) {
        size_t best = ROCL_DOMAINS;
        for (size_t d = 0; d < ROCL_DOMAINS; d++)
            if (!done[d] && sums[d].taken &&
                (best == ROCL_DOMAINS || sums[d].total > sums[best].total))
                best = d;
        if (best == ROCL_DOMAINS)
            return ROCL_OK;
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        domain_row(out, r, (rocl_domain)best, &sums[best], all);
        done[best] = true;
    }
}

/* All columns that a summary may have; those not asked for are left out of a table. */
enum {
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
    [S_DOMAIN] = {"domain", "Domain", ROCL_UNIT_TEXT},
    [S_NAME] = {"name", "Name", ROCL_UNIT_TEXT},
    [S_RANK] = {"rank", "Rank", ROCL_UNIT_COUNT},
    [S_AGENT] = {"agent", "Agent", ROCL_UNIT_TEXT},
    [S_STREAM] = {"stream", "Stream", ROCL_UNIT_COUNT},
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

static bool has_column(const summary *s, bool domains, unsigned column)
{
    const rocl_stats_options *o = s->options;
    switch (column) {
    case S_DOMAIN:
        return domains;
    case S_RANK:
        return o->by_rank;
    case S_AGENT:
        return o->by_agent;
    case S_STREAM:
        return o->by_stream;
    case S_WORKGROUP:
    case S_GRID:
        return o->by_dims;
    case S_MIN:
    case S_P90:
    case S_P95:
    case S_STDDEV:
    case S_RSD:
        return !o->brief;
    default:
        return true;
    }
}

static rocl_datum dims_datum(rocl_tables *out, const uint32_t d[3])
{
    char text[48];
    if (!d[0] && !d[1] && !d[2])
        return (rocl_datum){0};
    int n = snprintf(text, sizeof text, "%ux%ux%u", d[0], d[1], d[2]);
    return rocl_datum_text(out, text, (size_t)n);
}

static rocl_datum key_cell(const summary *s, rocl_tables *out, const group *g, unsigned column)
{
    const char *d = rocl_domain_name(g->key.domain);
    switch (column) {
    case S_DOMAIN:
        return rocl_datum_text(out, d, strlen(d));
    case S_NAME:
        return rocl_cell_of_text(s->trace, out, g->key.name);
    case S_RANK:
        return g->key.rank >= 0 ? rocl_datum_int(g->key.rank) : (rocl_datum){0};
    case S_AGENT:
        return g->key.agent ? rocl_cell_of_text(s->trace, out, g->key.agent) : (rocl_datum){0};
    case S_STREAM:
        return g->key.stream >= 0 ? rocl_datum_int(g->key.stream) : (rocl_datum){0};
    case S_WORKGROUP:
        return dims_datum(out, g->key.workgroup);
    default:
        return dims_datum(out, g->key.grid);
    }
}

static rocl_datum value_cell(const rocl_distribution *d, unsigned column, int64_t all)
{
    switch (column) {
    case S_CALLS:
        return rocl_datum_int((int64_t)d->taken);
    case S_TOTAL:
        return rocl_datum_int(d->total);
    case S_AVERAGE:
        return average(d);
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
        return stddev_datum(d);
    default:
        return rsd_datum(d);
    }
}

/* What --top cuts off is summed up, so that the table still adds up. */
static rocl_status rest_row(rocl_tables *out, rocl_table *t, bool domains, rocl_domain dom,
                            group *const *list, size_t n, int64_t all, rocl_error *err)
{
    rocl_distribution d = sum_of(list, n);
    char text[64];
    int len = snprintf(text, sizeof text, "(%zu others)", n);
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->column_count; i++) {
        unsigned column = (unsigned)(t->columns[i].key == summary_columns[S_NAME].key) ? S_NAME : 0;
        if (column == S_NAME)
            r[i] = rocl_datum_text(out, text, (size_t)len);
        else if (domains && i == 0)
            r[i] = rocl_datum_text(out, rocl_domain_name(dom), strlen(rocl_domain_name(dom)));
        for (unsigned c = S_CALLS; c <= S_PERCENT; c++)
            if (t->columns[i].key == summary_columns[c].key)
                r[i] = value_cell(&d, c, all);
    }
    return ROCL_OK;
}

static rocl_status group_rows(const summary *s, rocl_tables *out, rocl_table *t, bool domains,
                              group *const *list, size_t n, rocl_error *err)
{
    int64_t all = sum_of(list, n).total;
    size_t shown = s->options->top && s->options->top < n ? s->options->top : n;
    for (size_t i = 0; i < shown; i++) {
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        for (unsigned c = 0; c < S_COLUMNS; c++)
            if (has_column(s, domains, c))
                *r++ = c < S_CALLS ? key_cell(s, out, list[i], c) : value_cell(&list[i]->d, c, all);
    }
    if (shown == n)
        return ROCL_OK;
    return rest_row(out, t, domains, (rocl_domain)list[0]->key.domain, list + shown, n - shown, all,
                    err);
}

/* The columns of a table that is made now; they live as long as the tables. */
static rocl_table *summary_table(const summary *s, rocl_tables *out, const char *key,
                                 const char *title, bool domains)
{
    rocl_table_column *columns = rocl_arena_alloc(&out->arena, sizeof summary_columns);
    size_t n = 0;
    for (unsigned c = 0; columns && c < S_COLUMNS; c++)
        if (has_column(s, domains, c))
            columns[n++] = summary_columns[c];
    return columns ? rocl_tables_add(out, key, title, columns, n) : NULL;
}

static rocl_status summary_rows(summary *s, rocl_tables *out, const char *key, const char *title,
                                rocl_domain first, rocl_domain last, rocl_error *err)
{
    bool domains = first != last;
    rocl_table *t = summary_table(s, out, key, title, domains);
    rocl_status st = t ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned d = first; d <= last && st == ROCL_OK; d++) {
        size_t n;
        if (domains && !rocl_domain_listed(s->options->domains, (rocl_domain)d))
            continue;
        group **list = select_groups(s, (rocl_domain)d, false, &n);
        if (!list)
            return rocl_fail_memory(err);
        if (n)
            st = group_rows(s, out, t, domains, list, n, err);
        free(list);
    }
    return st;
}

enum {
    C_DIRECTION,
    C_SRC,
    C_DST,
    C_RANK,
    C_STREAM,
    C_CALLS,
    C_BYTES,
    C_TOTAL,
    C_AVERAGE,
    C_MEDIAN,
    C_MAX,
    C_BANDWIDTH,
    C_MAX_BANDWIDTH,
    C_COLUMNS
};

static const rocl_table_column copy_columns[C_COLUMNS] = {
    [C_DIRECTION] = {"direction", "Direction", ROCL_UNIT_TEXT},
    [C_SRC] = {"src", "From", ROCL_UNIT_TEXT},
    [C_DST] = {"dst", "To", ROCL_UNIT_TEXT},
    [C_RANK] = {"rank", "Rank", ROCL_UNIT_COUNT},
    [C_STREAM] = {"stream", "Stream", ROCL_UNIT_COUNT},
    [C_CALLS] = {"calls", "Calls", ROCL_UNIT_COUNT},
    [C_BYTES] = {"bytes", "Bytes", ROCL_UNIT_BYTES},
    [C_TOTAL] = {"total_ns", "Total", ROCL_UNIT_NS},
    [C_AVERAGE] = {"average_ns", "Average", ROCL_UNIT_NS},
    [C_MEDIAN] = {"median_ns", "Median", ROCL_UNIT_NS},
    [C_MAX] = {"max_ns", "Max", ROCL_UNIT_NS},
    [C_BANDWIDTH] = {"bandwidth", "Bandwidth", ROCL_UNIT_RATE},
    [C_MAX_BANDWIDTH] = {"max_bandwidth", "Max bandwidth", ROCL_UNIT_RATE},
};

static bool has_copy_column(const summary *s, unsigned column)
{
    return (column != C_RANK || s->options->by_rank) &&
           (column != C_STREAM || s->options->by_stream);
}

/* What is known of several groups as well. */
static rocl_datum copy_sum_cell(const group *g, unsigned column)
{
    switch (column) {
    case C_CALLS:
        return rocl_datum_int((int64_t)g->d.taken);
    case C_BYTES:
        return rocl_datum_int(g->bytes);
    case C_TOTAL:
        return rocl_datum_int(g->d.total);
    case C_AVERAGE:
        return average(&g->d);
    case C_MAX:
        return rocl_datum_int(g->d.max);
    case C_BANDWIDTH:
        return g->d.total > 0 ? rocl_datum_real((double)g->bytes * 1e9 / (double)g->d.total)
                              : (rocl_datum){0};
    case C_MAX_BANDWIDTH:
        return rocl_datum_real(g->best_rate);
    default:
        return (rocl_datum){0};
    }
}

static rocl_datum copy_cell(const summary *s, rocl_tables *out, const group *g, unsigned column)
{
    switch (column) {
    case C_DIRECTION:
        return rocl_cell_of_text(s->trace, out, g->key.name);
    case C_SRC:
        return rocl_cell_of_text(s->trace, out, g->key.agent);
    case C_DST:
        return rocl_cell_of_text(s->trace, out, g->key.other_agent);
    case C_RANK:
        return key_cell(s, out, g, S_RANK);
    case C_STREAM:
        return key_cell(s, out, g, S_STREAM);
    case C_MEDIAN:
        return rocl_datum_int(g->d.median);
    default:
        return copy_sum_cell(g, column);
    }
}

static rocl_status copy_rest_row(const summary *s, rocl_tables *out, rocl_table *t,
                                 group *const *list, size_t n, rocl_error *err)
{
    group sum = {.d = sum_of(list, n)};
    char text[64];
    int len = snprintf(text, sizeof text, "(%zu others)", n);
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        sum.bytes = rocl_add_saturated(sum.bytes, list[i]->bytes);
        if (list[i]->best_rate > sum.best_rate)
            sum.best_rate = list[i]->best_rate;
    }
    for (unsigned c = 0; c < C_COLUMNS; c++)
        if (has_copy_column(s, c))
            *r++ =
                c == C_DIRECTION ? rocl_datum_text(out, text, (size_t)len) : copy_sum_cell(&sum, c);
    return ROCL_OK;
}

static rocl_status copy_rows(const summary *s, rocl_tables *out, rocl_table *t, group *const *list,
                             size_t n, rocl_error *err)
{
    size_t shown = s->options->top && s->options->top < n ? s->options->top : n;
    for (size_t i = 0; i < shown; i++) {
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        for (unsigned c = 0; c < C_COLUMNS; c++)
            if (has_copy_column(s, c))
                *r++ = copy_cell(s, out, list[i], c);
    }
    return shown == n ? ROCL_OK : copy_rest_row(s, out, t, list + shown, n - shown, err);
}

static rocl_status copy_table(summary *s, rocl_tables *out, rocl_error *err)
{
    rocl_table_column *columns = rocl_arena_alloc(&out->arena, sizeof copy_columns);
    size_t n = 0, count = 0;
    for (unsigned c = 0; columns && c < C_COLUMNS; c++)
        if (has_copy_column(s, c))
            columns[count++] = copy_columns[c];
    rocl_table *t =
        columns ? rocl_tables_add(out, "copies", "Memory copies", columns, count) : NULL;
    group **list = t ? select_groups(s, ROCL_DOMAIN_COPIES, true, &n) : NULL;
    rocl_status st = list ? copy_rows(s, out, t, list, n, err) : rocl_fail_memory(err);
    free(list);
    return st;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    summary *s = self;
    const rocl_stats_options *o = s->options;
    rocl_status st = open_groups(s, err);
    if (st == ROCL_OK)
        st = fill_groups(s, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_DOMAINS))
        st = domain_table(s, out, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_SUMMARY))
        st = summary_rows(s, out, "summary", "Time by domain and name", ROCL_DOMAIN_KERNELS,
                          ROCL_DOMAIN_OTHER, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_KERNELS))
        st = summary_rows(s, out, "kernels", "Kernels", ROCL_DOMAIN_KERNELS, ROCL_DOMAIN_KERNELS,
                          err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_COPIES))
        st = copy_table(s, out, err);
    return st;
}

static void free_summary(void *self)
{
    summary *s = self;
    rocl_strings_free(s->keys);
    rocl_sorter_free(s->sorter);
    rocl_counts_free(s->counts, s->trace->opt.jobs);
    free(s->groups);
    free(s);
}

static uint32_t wanted_kinds(const rocl_stats_options *o)
{
    uint32_t kinds = 0;
    if (rocl_report_wanted(o, ROCL_REPORT_DOMAINS) || rocl_report_wanted(o, ROCL_REPORT_SUMMARY))
        kinds |= ROCL_TIMED_KINDS;
    if (rocl_report_wanted(o, ROCL_REPORT_KERNELS))
        kinds |= ROCL_BIT(ROCL_DISPATCH);
    if (rocl_report_wanted(o, ROCL_REPORT_COPIES))
        kinds |= ROCL_BIT(ROCL_COPY);
    return kinds;
}

rocl_status rocl_summary_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                   rocl_error *err)
{
    summary *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = s,
                          .kinds = wanted_kinds(o),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_summary};
    s->trace = t;
    s->options = o;
    s->keys = rocl_strings_new();
    s->sorter = rocl_sorter_new(t->space, 2);
    s->counts = calloc(t->opt.jobs, sizeof *s->counts);
    return s->keys && s->sorter && s->counts ? ROCL_OK : rocl_fail_memory(err);
}

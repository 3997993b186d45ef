/* What marker ranges had the GPUs do: the collector and the table. */
#include "analysis/markers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* ---- taking events ---- */

static uint64_t word_of(const rocl_capture *c, uint32_t index)
{
    return (uint64_t)c->index << 32 | index;
}

static rocl_status add_range(markers *m, unsigned worker, const rocl_capture *c,
                             const rocl_event *e, rocl_error *err)
{
    uint8_t payload[2 * ROCL_VARINT_MAX], *q = payload;
    const uint64_t key[4] = {word_of(c, e->thread), (uint64_t)e->start, 0, e->id};
    marker_key group = {e->name == ROCL_NONE ? 0 : e->name, -1};
    if (m->options->by_rank)
        group.rank = c->processes[e->process].rank;
    uint32_t id = rocl_strings_put(m->keys, (const char *)&group, sizeof group);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    q = rocl_varint_put(q, (uint64_t)e->end);
    q = rocl_varint_put(q, id);
    return rocl_sorter_add(m->calls, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status add_call(markers *m, unsigned worker, const rocl_capture *c, const rocl_event *e,
                            rocl_error *err)
{
    uint8_t payload[3 * ROCL_VARINT_MAX], *q = payload;
    const uint64_t key[4] = {word_of(c, e->thread), (uint64_t)e->start, 1, e->id};
    q = rocl_varint_put(q, (uint64_t)e->end);
    q = rocl_varint_put(q, e->process);
    q = rocl_varint_put(q, e->stack_id);
    return rocl_sorter_add(m->calls, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status add_work(markers *m, unsigned worker, const rocl_capture *c, rocl_kind kind,
                            const rocl_event *e, rocl_error *err)
{
    uint8_t payload[2 * ROCL_VARINT_MAX], *q = payload;
    const uint64_t key[4] = {word_of(c, e->process), e->stack_id, (uint64_t)e->start | MARKERS_WORK,
                             rocl_row_word(e->id, kind)};
    q = rocl_varint_put(q, (uint64_t)e->end);
    q = rocl_varint_put(q, kind);
    return rocl_sorter_add(m->links, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        if (b->kind == ROCL_MARKER)
            st = add_range(self, worker, b->capture, e, err);
        else if (e->stack_id && b->kind == ROCL_REGION)
            st = add_call(self, worker, b->capture, e, err);
        else if (e->stack_id)
            st = add_work(self, worker, b->capture, b->kind, e, err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    markers *m = self;
    rocl_status st = rocl_sorter_seal(m->calls, worker, err);
    return st == ROCL_OK ? rocl_sorter_seal(m->links, worker, err) : st;
}

/* ---- order ---- */

static double average_of(const marker_group *g)
{
    return (double)g->total / (double)g->count;
}

/* The largest first. */
static int compare_values(const marker_group *a, const marker_group *b, rocl_sort_by by)
{
    switch (by) {
    case ROCL_BY_TOTAL:
        return rocl_number_order(b->total, a->total);
    case ROCL_BY_CALLS:
        return a->count < b->count ? 1 : a->count > b->count ? -1 : 0;
    case ROCL_BY_AVERAGE:
        return average_of(a) < average_of(b) ? 1 : average_of(a) > average_of(b) ? -1 : 0;
    case ROCL_BY_MAX:
        return rocl_number_order(b->max, a->max);
    default:
        return 0;
    }
}

static int compare_groups(const void *a, const void *b, void *ctx)
{
    const markers *m = ctx;
    const marker_group *x = *(marker_group *const *)a, *y = *(marker_group *const *)b;
    int c = compare_values(x, y, m->options->sort);
    if (!c)
        c = rocl_compare_texts(m->trace, x->key.name, y->key.name);
    return c ? c : rocl_number_order(x->key.rank, y->key.rank);
}

/* Free the array. */
static marker_group **order_groups(markers *m, size_t *count)
{
    marker_group **list = calloc(m->group_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < m->group_count; i++)
        if (m->groups[i].count)
            list[(*count)++] = &m->groups[i];
    if (list)
        qsort_r(list, *count, sizeof *list, compare_groups, m);
    return list;
}

/* ---- the table ---- */

static const rocl_table_column columns_by_rank[] = {
    {"name", "Marker", ROCL_UNIT_TEXT},        {"rank", "Rank", ROCL_UNIT_COUNT},
    {"count", "Count", ROCL_UNIT_COUNT},       {"total_ns", "Total", ROCL_UNIT_NS},
    {"average_ns", "Average", ROCL_UNIT_NS},   {"min_ns", "Min", ROCL_UNIT_NS},
    {"max_ns", "Max", ROCL_UNIT_NS},           {"gpu_span_ns", "GPU span", ROCL_UNIT_NS},
    {"gpu_busy_ns", "GPU busy", ROCL_UNIT_NS}, {"exposed_ns", "Exposed", ROCL_UNIT_NS},
    {"kernels", "Kernels", ROCL_UNIT_COUNT},   {"copies", "Copies", ROCL_UNIT_COUNT},
};

static const rocl_table_column columns[] = {
    {"name", "Marker", ROCL_UNIT_TEXT},        {"count", "Count", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},       {"average_ns", "Average", ROCL_UNIT_NS},
    {"min_ns", "Min", ROCL_UNIT_NS},           {"max_ns", "Max", ROCL_UNIT_NS},
    {"gpu_span_ns", "GPU span", ROCL_UNIT_NS}, {"gpu_busy_ns", "GPU busy", ROCL_UNIT_NS},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS},   {"kernels", "Kernels", ROCL_UNIT_COUNT},
    {"copies", "Copies", ROCL_UNIT_COUNT},
};

static void value_cells(rocl_datum *r, const marker_group *g)
{
    r[0] = rocl_datum_int((int64_t)g->count);
    r[1] = rocl_datum_int(g->total);
    r[2] = rocl_average_datum(g->total, g->count);
    r[3] = rocl_datum_int(g->min);
    r[4] = rocl_datum_int(g->max);
    r[5] = rocl_datum_int(g->span);
    r[6] = rocl_datum_int(g->busy);
    r[7] = rocl_datum_int(g->exposed);
    r[8] = rocl_datum_int((int64_t)g->kernels);
    r[9] = rocl_datum_int((int64_t)g->copies);
}

static rocl_status add_row(const markers *m, rocl_table *t, rocl_datum name, const marker_group *g,
                           rocl_error *err)
{
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    *r++ = name;
    if (m->options->by_rank)
        *r++ = rocl_id_datum(g->key.rank);
    value_cells(r, g);
    return ROCL_OK;
}

static marker_group sum_of(marker_group *const *list, size_t n)
{
    marker_group sum = {.key = {0, -1}, .min = INT64_MAX};
    for (size_t i = 0; i < n; i++) {
        const marker_group *g = list[i];
        sum.count += g->count;
        sum.kernels += g->kernels;
        sum.copies += g->copies;
        sum.total = rocl_add_saturated(sum.total, g->total);
        sum.span = rocl_add_saturated(sum.span, g->span);
        sum.busy = rocl_add_saturated(sum.busy, g->busy);
        sum.exposed = rocl_add_saturated(sum.exposed, g->exposed);
        sum.min = g->min < sum.min ? g->min : sum.min;
        sum.max = g->max > sum.max ? g->max : sum.max;
    }
    return sum;
}

static rocl_status rows(const markers *m, rocl_tables *out, rocl_table *t,
                        marker_group *const *list, size_t n, rocl_error *err)
{
    size_t shown = rocl_rows_shown(m->options, n);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < shown && st == ROCL_OK; i++)
        st = add_row(m, t, rocl_cell_of_text(m->trace, out, list[i]->key.name), list[i], err);
    if (st != ROCL_OK || shown == n)
        return st;
    marker_group sum = sum_of(list + shown, n - shown);
    return add_row(m, t, rocl_others_datum(out, n - shown), &sum, err);
}

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

static rocl_status make_table(markers *m, rocl_tables *out, rocl_error *err)
{
    static const char *const title = "Markers and the GPU work from inside";
    size_t n = 0;
    rocl_table *t = m->options->by_rank
                        ? rocl_tables_add(out, "markers", title, COLUMNS(columns_by_rank))
                        : rocl_tables_add(out, "markers", title, COLUMNS(columns));
    marker_group **list = t ? order_groups(m, &n) : NULL;
    rocl_status st = list ? rows(m, out, t, list, n, err) : rocl_fail_memory(err);
    free(list);
    return st;
}

/* ---- the end ---- */

static rocl_status open_groups(markers *m, rocl_error *err)
{
    m->group_count = rocl_strings_count(m->keys);
    m->groups = calloc(m->group_count, sizeof *m->groups);
    if (!m->groups)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < m->group_count; i++) /* 0 is "", no key */
        memcpy(&m->groups[i].key, rocl_strings_get(m->keys, i, NULL), sizeof(marker_key));
    return ROCL_OK;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    markers *m = self;
    rocl_status st = open_groups(m, err);
    if (st == ROCL_OK)
        st = rocl_markers_nest(m, err);
    if (st == ROCL_OK)
        st = rocl_markers_link(m, err);
    if (st == ROCL_OK)
        st = rocl_markers_measure(m, err);
    return st == ROCL_OK ? make_table(m, out, err) : st;
}

static void free_markers(void *self)
{
    markers *m = self;
    rocl_sorter_free(m->calls);
    rocl_sorter_free(m->links);
    rocl_sorter_free(m->ranges);
    rocl_strings_free(m->keys);
    free(m->groups);
    free(m);
}

rocl_status rocl_markers_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                   rocl_error *err)
{
    markers *m = calloc(1, sizeof *m);
    if (!m)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = m,
                          .kinds = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_REGION) |
                                   ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_markers};
    m->trace = t;
    m->options = o;
    m->calls = rocl_sorter_new(t->space, 4);
    m->links = rocl_sorter_new(t->space, 4);
    m->ranges = rocl_sorter_new(t->space, 3);
    m->keys = rocl_strings_new();
    return m->calls && m->links && m->ranges && m->keys ? ROCL_OK : rocl_fail_memory(err);
}

/* What marker ranges had the GPUs do. Which GPU work belongs to which range is found in three
 * sorts:
 *
 *     calls    ranges and calls by thread and start: a sweep over each thread finds the ranges
 *              around each call
 *     links    calls with their ranges, and GPU work, by process and stack id: a join finds the
 *              work of each call
 *     ranges   ranges and their GPU work by start: a sweep measures each range
 *
 * In memory are the groups, the ranges that are open at a time on a thread, and those around one
 * call. */
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/gather.h"
#include "base/array.h"

/* What makes a group; interned as bytes, so without holes. */
typedef struct marker_key {
    uint32_t name; /* text */
    int32_t rank;  /* -1: unknown, or not wanted */
} marker_key;

/* Sums over the ranges of a group; times saturate. */
typedef struct marker_group {
    marker_key key;
    uint64_t count, kernels, copies;
    int64_t total, min, max;     /* on the host */
    int64_t span, busy, exposed; /* of the GPU work */
    double average;
} marker_group;

/* Ranges are numbered in the order of the first sweep, from 1. */
typedef struct markers {
    rocl_collector c;
    rocl_strings *keys; /* their ids are the groups */
    rocl_sorter *calls, *links, *ranges;
    marker_group *groups;
    size_t group_count;
    marker_group *taken; /* of other ranks, by group */
    size_t taken_count;
} markers;

/* In the word of a start: GPU work, after all else. */
#define GPU_WORK (UINT64_C(1) << 63)

/* ---- events ---------------------------------------------------------------------------------- */

static uint64_t key_word(const rocl_capture *c, uint32_t index)
{
    return (uint64_t)c->index << 32 | index;
}

static rocl_status add_range(markers *m, unsigned worker, const rocl_capture *c,
                             const rocl_event *e, rocl_error *err)
{
    const uint64_t key[4] = {key_word(c, e->thread), (uint64_t)e->start, 0, e->id};
    marker_key group = {e->name == ROCL_NONE ? 0 : e->name, -1};
    if (m->c.options->by_rank)
        group.rank = c->processes[e->process].rank;
    uint32_t id = rocl_strings_put(m->keys, (const char *)&group, sizeof group);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t numbers[] = {(uint64_t)e->end, id};
    return rocl_add_numbers(m->calls, worker, key, numbers, 2, err);
}

static rocl_status add_marker_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    markers *m = self;
    const rocl_capture *c = b->capture;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        if (b->kind == ROCL_MARKER) {
            st = add_range(m, worker, c, e, err);
        } else if (e->stack_id && b->kind == ROCL_REGION) {
            const uint64_t key[4] = {key_word(c, e->thread), (uint64_t)e->start, 1, e->id};
            const uint64_t numbers[] = {(uint64_t)e->end, e->process, e->stack_id};
            st = rocl_add_numbers(m->calls, worker, key, numbers, 3, err);
        } else if (e->stack_id) {
            const uint64_t key[4] = {key_word(c, e->process), e->stack_id,
                                     (uint64_t)e->start | GPU_WORK, rocl_row_word(e->id, b->kind)};
            const uint64_t numbers[] = {(uint64_t)e->end, b->kind};
            st = rocl_add_numbers(m->links, worker, key, numbers, 2, err);
        }
    }
    return st;
}

/* ---- ranges around calls --------------------------------------------------------------------- */

typedef struct open_range {
    int64_t end;
    uint64_t number;
} open_range;

/* The ranges that are open on the thread that is swept. */
typedef struct nest {
    uint64_t thread; /* first word of the key */
    open_range *open;
    size_t count, cap;
    uint64_t ranges; /* so far */
} nest;

static rocl_status open_one_range(markers *m, nest *n, const rocl_sort_record *rec, rocl_error *err)
{
    uint64_t v[2]; /* end, group */
    rocl_read_numbers(rec, v, 2);
    const uint64_t key[3] = {++n->ranges, rec->key[1], v[0]};
    if ((uint32_t)rec->key[0] != ROCL_NONE) { /* else no call is known to be inside */
        if (!ROCL_GROW(n->open, n->cap, n->count + 1))
            return rocl_fail_memory(err);
        n->open[n->count++] = (open_range){(int64_t)v[0], n->ranges};
    }
    return rocl_add_numbers(m->ranges, 0, key, &v[1], 1, err);
}

/* A call outside of all ranges links to range 0: it may be the one that its stack id stands for. */
static rocl_status link_call(markers *m, const nest *n, const rocl_sort_record *rec,
                             rocl_error *err)
{
    static const uint64_t none = 0;
    uint64_t v[3]; /* end, process, stack id */
    bool linked = false;
    rocl_read_numbers(rec, v, 3);
    const uint64_t key[4] = {rec->key[0] >> 32 << 32 | v[1], v[2], rec->key[1], rec->key[3]};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < n->count && st == ROCL_OK; i++) {
        if (n->open[i].end < (int64_t)v[0])
            continue;
        st = rocl_add_numbers(m->links, 0, key, &n->open[i].number, 1, err);
        linked = true;
    }
    return linked ? st : rocl_add_numbers(m->links, 0, key, &none, 1, err);
}

static rocl_status nest_calls(markers *m, rocl_error *err)
{
    nest n = {.thread = UINT64_MAX};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(m->calls, err);
    while (rocl_next_record(m->calls, &rec, &st, err)) {
        /* Not only the innermost end: ranges that are started and stopped by hand may cross. */
        size_t kept = 0;
        for (size_t i = 0; i < n.count && n.thread == rec.key[0]; i++)
            if (n.open[i].end >= (int64_t)rec.key[1])
                n.open[kept++] = n.open[i];
        n.thread = rec.key[0];
        n.count = kept;
        st = rec.key[2] ? link_call(m, &n, &rec, err) : open_one_range(m, &n, &rec, err);
    }
    free(n.open);
    rocl_collector_free_sorter(&m->c, &m->calls);
    return st;
}

/* ---- the work of calls ----------------------------------------------------------------------- */

/* The first call of a stack id, and the ranges around it. */
typedef struct linked_call {
    uint64_t key[4];
    uint64_t *ranges;
    size_t count, cap;
} linked_call;

static rocl_status add_range_of_call(linked_call *l, const rocl_sort_record *rec, rocl_error *err)
{
    uint64_t range;
    if (memcmp(l->key, rec->key, 2 * sizeof *rec->key) != 0) {
        memcpy(l->key, rec->key, sizeof l->key);
        l->count = 0;
    }
    rocl_read_numbers(rec, &range, 1);
    if (!range || memcmp(l->key, rec->key, sizeof l->key) != 0)
        return ROCL_OK;
    if (!ROCL_GROW(l->ranges, l->cap, l->count + 1))
        return rocl_fail_memory(err);
    l->ranges[l->count++] = range;
    return ROCL_OK;
}

static rocl_status add_work_of_call(markers *m, const linked_call *l, const rocl_sort_record *rec,
                                    rocl_error *err)
{
    uint64_t v[2]; /* end, kind */
    rocl_status st = ROCL_OK;
    if (memcmp(l->key, rec->key, 2 * sizeof *rec->key) != 0)
        return ROCL_OK;
    rocl_read_numbers(rec, v, 2);
    for (size_t i = 0; i < l->count && st == ROCL_OK; i++) {
        const uint64_t key[3] = {l->ranges[i], rec->key[2], v[0]};
        st = rocl_add_numbers(m->ranges, 0, key, &v[1], 1, err);
    }
    return st;
}

static rocl_status link_work(markers *m, rocl_error *err)
{
    linked_call l = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(m->links, err);
    while (rocl_next_record(m->links, &rec, &st, err))
        st = rec.key[2] & GPU_WORK ? add_work_of_call(m, &l, &rec, err)
                                   : add_range_of_call(&l, &rec, err);
    free(l.ranges);
    rocl_collector_free_sorter(&m->c, &m->links);
    return st;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* A range while its work is swept. */
typedef struct range_sweep {
    marker_group *group; /* NULL: none yet */
    int64_t start, end;
    int64_t first, until; /* of its work; covered up to there */
    int64_t busy, hidden; /* hidden: while the range lasted */
    uint64_t kernels, copies;
} range_sweep;

/* Only what the work before it does not cover counts. */
static void cover_work(range_sweep *s, int64_t start, int64_t end, rocl_kind kind)
{
    if (!(s->kernels + s->copies))
        s->first = s->until = start;
    int64_t from = start > s->until ? start : s->until;
    if (end > from) {
        int64_t inside_from = from > s->start ? from : s->start;
        int64_t inside_to = end < s->end ? end : s->end;
        s->busy += end - from;
        s->hidden += inside_to > inside_from ? inside_to - inside_from : 0;
    }
    if (end > s->until) /* also of no length */
        s->until = end;
    s->kernels += kind == ROCL_DISPATCH;
    s->copies += kind == ROCL_COPY;
}

static void end_range(const range_sweep *s)
{
    marker_group *g = s->group;
    int64_t host = s->end - s->start;
    if (!g)
        return;
    g->min = g->count && g->min < host ? g->min : host;
    g->max = g->count && g->max > host ? g->max : host;
    g->count++;
    g->total = rocl_add_saturated(g->total, host);
    g->span = rocl_add_saturated(g->span, s->until - s->first);
    g->busy = rocl_add_saturated(g->busy, s->busy);
    g->exposed = rocl_add_saturated(g->exposed, host - s->hidden);
    g->kernels += s->kernels;
    g->copies += s->copies;
}

static rocl_status measure_ranges(markers *m, rocl_error *err)
{
    range_sweep s = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(m->ranges, err);
    while (rocl_next_record(m->ranges, &rec, &st, err)) {
        uint64_t v; /* kind of the work, or group of the range */
        rocl_read_numbers(&rec, &v, 1);
        if (rec.key[1] & GPU_WORK) {
            cover_work(&s, (int64_t)(rec.key[1] & ~GPU_WORK), (int64_t)rec.key[2], (rocl_kind)v);
            continue;
        }
        end_range(&s);
        s = (range_sweep){
            .group = &m->groups[v], .start = (int64_t)rec.key[1], .end = (int64_t)rec.key[2]};
    }
    end_range(&s);
    return st;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(marker_group, field)

static const rocl_column columns[] = {
    {"name", "Marker", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(count)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST, CELL(total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_IN_REST, CELL(average)},
    {"min_ns", "Min", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(min)},
    {"max_ns", "Max", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(max)},
    {"gpu_span_ns", "GPU span", ROCL_UNIT_NS, ROCL_IN_REST, CELL(span)},
    {"gpu_busy_ns", "GPU busy", ROCL_UNIT_NS, ROCL_IN_REST, CELL(busy)},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS, ROCL_IN_REST, CELL(exposed)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(copies)},
};

static const rocl_table_def marker_table = {&rocl_markers_report.tab, "markers",
                                            "Markers and the GPU work from inside",
                                            ROCL_COLUMNS(columns)};

const rocl_report_def rocl_markers_report = {
    "markers",
    {"marker", "Markers"},
    "marker ranges by name: time on the host, and time of the GPU work launched inside",
    (const rocl_table_def *const[]){&marker_table, NULL}};

static int compare_marker_groups(const void *a, const void *b, void *ctx)
{
    const markers *m = ctx;
    const marker_group *x = a, *y = b;
    int c = rocl_compare_values(m->c.options->sort,
                                &(rocl_sort_values){x->total, x->max, x->count, x->average},
                                &(rocl_sort_values){y->total, y->max, y->count, y->average});
    if (!c)
        c = rocl_compare_texts(m->c.trace, x->key.name, y->key.name);
    return c ? c : rocl_number_order(x->key.rank, y->key.rank);
}

static void add_marker_group(void *into, const void *from)
{
    marker_group *sum = into;
    const marker_group *g = from;
    const bool known = sum->count;
    if (!g->count)
        return;
    sum->count += g->count;
    sum->kernels += g->kernels;
    sum->copies += g->copies;
    sum->total = rocl_add_saturated(sum->total, g->total);
    sum->span = rocl_add_saturated(sum->span, g->span);
    sum->busy = rocl_add_saturated(sum->busy, g->busy);
    sum->exposed = rocl_add_saturated(sum->exposed, g->exposed);
    sum->min = known && sum->min < g->min ? sum->min : g->min;
    sum->max = known && sum->max > g->max ? sum->max : g->max;
    sum->average = rocl_mean(sum->total, sum->count);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_markers(void *self, rocl_error *err)
{
    markers *m = self;
    m->calls = rocl_collector_sorter(&m->c, 4);
    m->links = rocl_collector_sorter(&m->c, 4);
    m->ranges = rocl_collector_sorter(&m->c, 3);
    m->keys = rocl_strings_new();
    return m->calls && m->links && m->ranges && m->keys ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status measure_groups(markers *m, rocl_error *err)
{
    m->groups = rocl_groups_new(m->keys, sizeof(marker_key), sizeof *m->groups, &m->group_count);
    rocl_status st = m->groups ? nest_calls(m, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = link_work(m, err);
    return st == ROCL_OK ? measure_ranges(m, err) : st;
}

static rocl_status finish_markers(void *self, rocl_tables *out, rocl_error *err)
{
    markers *m = self;
    const rocl_status st = measure_groups(m, err);
    if (st != ROCL_OK)
        return st;
    for (size_t i = 0; i < m->taken_count && i < m->group_count; i++)
        add_marker_group(&m->groups[i], &m->taken[i]);
    size_t n = 0;
    for (size_t i = 0; i < m->group_count; i++) {
        m->groups[i].average = rocl_mean(m->groups[i].total, m->groups[i].count);
        if (m->groups[i].count)
            m->groups[n++] = m->groups[i];
    }
    qsort_r(m->groups, n, sizeof *m->groups, compare_marker_groups, m);
    rocl_report_rows r = rocl_begin_table(&m->c, out, &marker_table, 0);
    rocl_add_top_rows(&r, m->groups, n, sizeof *m->groups, add_marker_group);
    return ROCL_OK;
}

static void close_markers(void *self)
{
    markers *m = self;
    rocl_strings_free(m->keys);
    free(m->groups);
    free(m->taken);
}

/* Ranges, calls and their work are of one process: other ranks measure their own. */
static rocl_status put_markers(void *self, rocl_put *to, rocl_error *err)
{
    markers *m = self;
    rocl_status st = measure_groups(m, err);
    for (size_t i = 1; i < m->group_count && st == ROCL_OK; i++) {
        const marker_group *g = &m->groups[i];
        if (!g->count)
            continue;
        rocl_put_text(to, g->key.name);
        rocl_put_signed(to, g->key.rank);
        rocl_put_number(to, g->count);
        rocl_put_number(to, g->kernels);
        rocl_put_number(to, g->copies);
        rocl_put_number(to, (uint64_t)g->total);
        rocl_put_number(to, (uint64_t)g->min);
        rocl_put_number(to, (uint64_t)g->max);
        rocl_put_number(to, (uint64_t)g->span);
        rocl_put_number(to, (uint64_t)g->busy);
        rocl_put_number(to, (uint64_t)g->exposed);
        st = rocl_put_piece(to, err);
    }
    return st;
}

static rocl_status take_markers(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    markers *m = self;
    (void)rank;
    while (!rocl_taken_all(from)) {
        marker_group g = {.key.name = rocl_take_text(from)};
        g.key.rank = (int32_t)rocl_take_signed(from);
        g.count = rocl_take_number(from);
        g.kernels = rocl_take_number(from);
        g.copies = rocl_take_number(from);
        g.total = (int64_t)rocl_take_number(from);
        g.min = (int64_t)rocl_take_number(from);
        g.max = (int64_t)rocl_take_number(from);
        g.span = (int64_t)rocl_take_number(from);
        g.busy = (int64_t)rocl_take_number(from);
        g.exposed = (int64_t)rocl_take_number(from);
        const uint32_t id = rocl_strings_put(m->keys, (const char *)&g.key, sizeof g.key);
        if (id == ROCL_NONE || !ROCL_GROW(m->taken, m->taken_count, (size_t)id + 1))
            return rocl_fail_memory(err);
        add_marker_group(&m->taken[id], &g);
    }
    return ROCL_OK;
}

static const rocl_gather_def gather_markers = {.put = put_markers, .take = take_markers};

const rocl_collector_def rocl_markers_collector = {
    .reports = 1u << ROCL_REPORT_MARKERS,
    .kinds = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) |
             ROCL_BIT(ROCL_COPY),
    .size = sizeof(markers),
    .slow = true,
    .open = open_markers,
    .add_batch = add_marker_batch,
    .finish = finish_markers,
    .close = close_markers,
    .gather = &gather_markers,
};

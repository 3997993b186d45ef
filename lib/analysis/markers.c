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
#include "analysis/keyed.h"
#include "base/array.h"

/* What makes a group; interned as bytes, so without holes. */
typedef struct marker_key {
    uint32_t name; /* text */
    int32_t rank;  /* -1: unknown, or not wanted */
} marker_key;

/* Sums over the ranges of a group; times saturate. */
typedef struct marker_sums {
    uint64_t count, kernels, copies;
    int64_t total, min, max;     /* on the host */
    int64_t span, busy, exposed; /* of the GPU work */
} marker_sums;

typedef struct marker_row {
    marker_key key;
    marker_sums sums;
    double average;
} marker_row;

#define SUM(member, type) ROCL_MEMBER(marker_sums, member, SUM_##type)
static const rocl_member key_members[] = {ROCL_MEMBER(marker_key, name, KEY_TEXT),
                                          ROCL_MEMBER(marker_key, rank, KEY_ID)};
static const rocl_member sum_members[] = {
    SUM(count, COUNT),  SUM(kernels, COUNT), SUM(copies, COUNT), SUM(total, INT),   SUM(min, LEAST),
    SUM(max, GREATEST), SUM(span, INT),      SUM(busy, INT),     SUM(exposed, INT),
};
static const rocl_keyed_def marker_groups = {.key_size = sizeof(marker_key),
                                             .sum_size = sizeof(marker_sums),
                                             ROCL_KEY_MEMBERS(key_members),
                                             ROCL_SUM_MEMBERS(sum_members)};

/* Ranges are numbered in the order of the first sweep, from 1. */
typedef struct markers {
    rocl_collector c;
    rocl_keyed groups;
    rocl_sorter *calls, *links, *ranges;
} markers;

/* In the word of a start: GPU work, after all else. */
#define GPU_WORK (UINT64_C(1) << 63)

/* ---- events ---------------------------------------------------------------------------------- */

static uint64_t key_word(const rocl_capture *c, uint32_t index)
{
    return (uint64_t)c->index << 32 | index;
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
            const marker_key group = {e->name == ROCL_NONE ? 0 : e->name,
                                      m->c.options->by_rank ? c->processes[e->process].rank : -1};
            const uint32_t id = rocl_keyed_group(&m->groups, &group);
            if (id == ROCL_NONE)
                return rocl_fail_memory(err);
            const uint64_t key[4] = {key_word(c, e->thread), (uint64_t)e->start, 0, e->id};
            const uint64_t numbers[] = {(uint64_t)e->end, id};
            st = rocl_add_numbers(m->calls, worker, key, numbers, 2, err);
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

static rocl_status nest_calls(markers *m, rocl_error *err)
{
    static const uint64_t none = 0;
    uint64_t thread = UINT64_MAX; /* first word of the key */
    open_range *open = NULL;      /* on this thread */
    size_t count = 0, cap = 0;
    uint64_t ranges = 0; /* so far */
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(m->calls, err);
    while (rocl_next_record(m->calls, &rec, &st, err)) {
        uint64_t v[3]; /* end and group of a range; end, process and stack id of a call */
        rocl_read_numbers(&rec, v, 3);
        /* Not only the innermost end: ranges that are started and stopped by hand may cross. */
        size_t kept = 0;
        for (size_t i = 0; i < count && thread == rec.key[0]; i++)
            if (open[i].end >= (int64_t)rec.key[1])
                open[kept++] = open[i];
        thread = rec.key[0];
        count = kept;
        if (!rec.key[2]) {
            const uint64_t key[3] = {++ranges, rec.key[1], v[0]};
            st = rocl_add_numbers(m->ranges, 0, key, &v[1], 1, err);
            if ((uint32_t)thread == ROCL_NONE) /* no call is known to be inside */
                continue;
            if (ROCL_GROW(open, cap, count + 1))
                open[count++] = (open_range){(int64_t)v[0], ranges};
            else
                st = rocl_fail_memory(err);
            continue;
        }
        const uint64_t key[4] = {rec.key[0] >> 32 << 32 | v[1], v[2], rec.key[1], rec.key[3]};
        bool linked = false;
        for (size_t i = 0; i < count && st == ROCL_OK; i++) {
            if (open[i].end < (int64_t)v[0])
                continue;
            st = rocl_add_numbers(m->links, 0, key, &open[i].number, 1, err);
            linked = true;
        }
        /* A call outside of all ranges links to range 0: it may be the one of its stack id. */
        if (!linked)
            st = rocl_add_numbers(m->links, 0, key, &none, 1, err);
    }
    free(open);
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

/* The calls of a stack id come before its work. */
static rocl_status link_work(markers *m, rocl_error *err)
{
    linked_call l = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(m->links, err);
    while (rocl_next_record(m->links, &rec, &st, err)) {
        const bool other = memcmp(l.key, rec.key, 2 * sizeof *rec.key) != 0; /* stack id */
        uint64_t v[2]; /* range; or end and kind of the work */
        rocl_read_numbers(&rec, v, 2);
        if (rec.key[2] & GPU_WORK) {
            for (size_t i = 0; i < l.count && !other && st == ROCL_OK; i++) {
                const uint64_t key[3] = {l.ranges[i], rec.key[2], v[0]};
                st = rocl_add_numbers(m->ranges, 0, key, &v[1], 1, err);
            }
            continue;
        }
        if (other) {
            memcpy(l.key, rec.key, sizeof l.key);
            l.count = 0;
        }
        if (!v[0] || memcmp(l.key, rec.key, sizeof l.key) != 0)
            continue;
        if (ROCL_GROW(l.ranges, l.cap, l.count + 1))
            l.ranges[l.count++] = v[0];
        else
            st = rocl_fail_memory(err);
    }
    free(l.ranges);
    rocl_collector_free_sorter(&m->c, &m->links);
    return st;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* A range while its work is swept. */
typedef struct range_sweep {
    marker_sums *group; /* NULL: none yet */
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
    marker_sums *g = s->group;
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
    marker_sums *sums = rocl_keyed_all(&m->groups);
    rocl_status st = sums ? rocl_sorter_start(m->ranges, err) : rocl_fail_memory(err);
    while (rocl_next_record(m->ranges, &rec, &st, err)) {
        uint64_t v; /* kind of the work, or group of the range */
        rocl_read_numbers(&rec, &v, 1);
        if (rec.key[1] & GPU_WORK) {
            cover_work(&s, (int64_t)(rec.key[1] & ~GPU_WORK), (int64_t)rec.key[2], (rocl_kind)v);
            continue;
        }
        end_range(&s);
        s = (range_sweep){
            .group = &sums[v], .start = (int64_t)rec.key[1], .end = (int64_t)rec.key[2]};
    }
    end_range(&s);
    rocl_collector_free_sorter(&m->c, &m->ranges);
    return st;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(marker_row, field)

static const rocl_column columns[] = {
    {"name", "Marker", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(sums.count)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums.total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_IN_REST, CELL(average)},
    {"min_ns", "Min", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(sums.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(sums.max)},
    {"gpu_span_ns", "GPU span", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums.span)},
    {"gpu_busy_ns", "GPU busy", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums.busy)},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS, ROCL_IN_REST, CELL(sums.exposed)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(sums.kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(sums.copies)},
};

static const rocl_table_def marker_table = {
    ROCL_TAB(MARKERS), "markers", "Markers and the GPU work from inside", ROCL_COLUMNS(columns)};

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const markers *m = ctx;
    const marker_row *x = a, *y = b;
    const marker_sums *p = &x->sums, *q = &y->sums;
    const int c = rocl_compare_values(m->c.options->sort,
                                      &(rocl_sort_values){p->total, p->max, p->count, x->average},
                                      &(rocl_sort_values){q->total, q->max, q->count, y->average});
    return c ? c : rocl_keyed_compare(&marker_groups, m->c.trace, x, y);
}

static void add_row(void *into, const void *from)
{
    marker_row *sum = into;
    rocl_keyed_add(&marker_groups, &sum->sums, &((const marker_row *)from)->sums);
    sum->average = rocl_mean(sum->sums.total, sum->sums.count);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_markers(void *self, rocl_error *err)
{
    markers *m = self;
    m->calls = rocl_collector_sorter(&m->c, 4);
    m->links = rocl_collector_sorter(&m->c, 4);
    m->ranges = rocl_collector_sorter(&m->c, 3);
    if (!m->calls || !m->links || !m->ranges)
        return rocl_fail_memory(err);
    return rocl_keyed_open(&m->groups, &marker_groups, &m->c, err);
}

/* Once: for the ranks of a team, or when the report is finished. */
static rocl_status measure_groups(void *self, rocl_error *err)
{
    markers *m = self;
    rocl_status st = m->calls ? nest_calls(m, err) : ROCL_OK;
    if (st == ROCL_OK && m->links)
        st = link_work(m, err);
    return st == ROCL_OK && m->ranges ? measure_ranges(m, err) : st;
}

static rocl_status finish_markers(void *self, rocl_tables *out, rocl_error *err)
{
    markers *m = self;
    size_t n;
    const rocl_status st = measure_groups(m, err);
    if (st != ROCL_OK)
        return st;
    marker_row *rows = rocl_keyed_rows(&m->groups, &m->c, sizeof *rows, &n);
    if (!rows)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        rows[i].average = rocl_mean(rows[i].sums.total, rows[i].sums.count);
    qsort_r(rows, n, sizeof *rows, compare_rows, m);
    const rocl_report_rows r = rocl_begin_table(&m->c, out, &marker_table, 0);
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_row);
    free(rows);
    return ROCL_OK;
}

/* Ranges, calls and their work are of one process: each rank measures its own. */
static const rocl_gather_def gather_markers = {.settle = measure_groups, ROCL_GATHER_KEYED};

const rocl_collector_def rocl_markers_collector = {
    .tables = (const rocl_table_def *const[]){&marker_table, NULL},
    .kinds = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) |
             ROCL_BIT(ROCL_COPY),
    .size = sizeof(markers),
    .slow = true,
    .open = open_markers,
    .add_batch = add_marker_batch,
    .finish = finish_markers,
    .gather = &gather_markers,
};

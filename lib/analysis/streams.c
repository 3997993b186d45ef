/* What streams and queues did when. Work becomes a record of (lane, start, end), a lane being a
 * stream, or a queue. Lanes are swept one after the other; what a lane covers on a GPU is handed on
 * as edges, by GPU and time, from which a second sweep counts how many lanes are active at once. */
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/lanes.h"
#include "analysis/sweep.h"
#include "base/array.h"

/* Interned as bytes: no holes. */
typedef struct lane_key {
    uint32_t table; /* 0: streams, 1: queues */
    rocl_lane_key lane;
} lane_key;

typedef struct lane {
    lane_key key;
    uint64_t kernels, copies;
    int64_t first, last, busy, gap;
    /* For its row: */
    rocl_lane_name name;
    int64_t idle, begin, end; /* begin, end: since the first of all work */
    int64_t all;              /* busy time of its table */
    double busy_percent, share_percent;
} lane;

/* What a lane covered on a GPU until now: the piece that may still grow. */
typedef struct piece {
    int64_t start, end;
    bool open;
} piece;

/* More at once count as this many. */
enum { LEVELS = 64 };

/* How many lanes were active at once on a GPU: a result of the sweep, which consists of int64_t. */
typedef struct active_lanes {
    int64_t first, last, at; /* times; at: when `most` was reached first */
    int64_t active, most;
    int64_t sum;            /* sum of the lanes' times; saturates */
    int64_t ns[LEVELS + 1]; /* by lanes that were active, from 1 on */
} active_lanes;

enum { ACTIVE_VALUES = sizeof(active_lanes) / sizeof(int64_t) };

typedef struct streams {
    rocl_sweep sweep;   /* over what lanes cover of GPUs */
    rocl_strings *keys; /* their ids are the lanes */
    rocl_sorter *work;  /* by lane and start */
    lane *lanes;
    size_t lane_count, lane_cap;
    piece *pieces; /* by GPU, of the lane that is swept */
    int64_t first; /* begin of all work */
} streams;

/* ---- events ---------------------------------------------------------------------------------- */

/* GPUs: numbers of those on which the lane is measured. */
static rocl_status add_to_lane(streams *s, unsigned worker, const rocl_event *e, bool copy,
                               const lane_key *k, const uint64_t *gpus, unsigned gpu_count,
                               rocl_error *err)
{
    uint32_t id = rocl_strings_put(s->keys, (const char *)k, sizeof *k);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    /* Equal keys may still differ in their GPUs, whose order makes no difference. */
    const uint64_t key[4] = {id, (uint64_t)e->start, (uint64_t)e->end, copy};
    return rocl_add_numbers(s->work, worker, key, gpus, gpu_count, err);
}

/* To its queue in the table of queues, and to its stream, or else its queue, in that of streams. */
static rocl_status add_stream_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    streams *s = self;
    const rocl_capture *c = b->capture;
    const bool copy = b->kind == ROCL_COPY;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const uint32_t queue = rocl_work_place_of(b->kind, e).queue;
        const rocl_gpu *gpus[2];
        const unsigned n = rocl_gpus_of(b, i, gpus);
        uint64_t numbers[2];
        for (unsigned k = 0; k < n; k++)
            numbers[k] = (uint64_t)(gpus[k] - s->sweep.c.trace->gpus);
        const lane_key of_queue = {1, {ROCL_LANE_QUEUE, c->index, e->process, queue}};
        const lane_key of_stream = {0, rocl_lane_of(b, i)};
        if (queue < c->queue_count)
            st = add_to_lane(s, worker, e, copy, &of_queue, NULL, 0, err);
        if (st == ROCL_OK)
            st = add_to_lane(s, worker, e, copy, &of_stream, numbers, n, err);
    }
    return st;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* The last word of an edge: at one time ends come first, so that what touches is not at once. A
 * piece of no length is only seen. */
enum { END, BEGIN, SEEN };

static rocl_status end_piece(streams *s, size_t gpu, rocl_error *err)
{
    piece *p = &s->pieces[gpu];
    const bool seen = p->end == p->start;
    const uint64_t begin[3] = {gpu, (uint64_t)p->start, seen ? SEEN : BEGIN};
    const uint64_t end[3] = {gpu, (uint64_t)p->end, END};
    if (!p->open)
        return ROCL_OK;
    p->open = false;
    const rocl_status st = rocl_sweep_add(&s->sweep, 0, begin, err);
    return st == ROCL_OK && !seen ? rocl_sweep_add(&s->sweep, 0, end, err) : st;
}

static rocl_status end_lane(streams *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < s->sweep.c.trace->gpu_count && st == ROCL_OK; i++)
        st = end_piece(s, i, err);
    return st;
}

static void extend_lane(lane *l, int64_t start, int64_t end, bool copy)
{
    if (!(l->kernels + l->copies))
        l->first = l->last = start;
    else if (start - l->last > l->gap)
        l->gap = start - l->last;
    int64_t from = start > l->last ? start : l->last;
    if (end > from)
        l->busy += end - from;
    l->last = end > l->last ? end : l->last;
    l->kernels += !copy;
    l->copies += copy;
}

static rocl_status extend_piece(streams *s, size_t gpu, int64_t start, int64_t end, rocl_error *err)
{
    piece *p = &s->pieces[gpu];
    rocl_status st = ROCL_OK;
    if (p->open && start > p->end)
        st = end_piece(s, gpu, err);
    if (!p->open)
        *p = (piece){start, end, true};
    else if (end > p->end)
        p->end = end;
    return st;
}

/* Measures lanes, and adds the edges of what they cover. */
static rocl_status measure_lanes(void *self, rocl_error *err)
{
    streams *s = self;
    rocl_sort_record rec;
    uint64_t id = 0, gpus[2];
    s->lanes = rocl_groups_new(s->keys, sizeof(lane_key), sizeof *s->lanes, &s->lane_count);
    s->lane_cap = s->lane_count;
    s->pieces = calloc(s->sweep.c.trace->gpu_count + 1, sizeof *s->pieces);
    if (!s->lanes || !s->pieces)
        return rocl_fail_memory(err);
    rocl_status st = rocl_sorter_start(s->work, err);
    while (rocl_next_record(s->work, &rec, &st, err)) {
        const int64_t start = (int64_t)rec.key[1], end = (int64_t)rec.key[2];
        const unsigned n = rocl_read_numbers(&rec, gpus, 2);
        if (rec.key[0] != id)
            st = end_lane(s, err);
        id = rec.key[0];
        extend_lane(&s->lanes[id], start, end, rec.key[3]);
        for (unsigned i = 0; i < n && st == ROCL_OK; i++)
            st = extend_piece(s, gpus[i], start, end, err);
    }
    return st == ROCL_OK ? end_lane(s, err) : st;
}

static bool is_possible(const void *self, const uint64_t *key)
{
    (void)self;
    return key[2] <= SEEN;
}

static rocl_status pass_edge(void *self, const uint64_t *key, int64_t *result, bool first,
                             rocl_error *err)
{
    active_lanes *a = (active_lanes *)(void *)result;
    const int64_t time = (int64_t)key[1];
    (void)self, (void)err;
    if (first)
        a->first = a->last = time;
    if (a->active > 0) {
        const int64_t ns = time - a->last;
        int64_t sum;
        if (__builtin_mul_overflow(a->active, ns, &sum))
            sum = INT64_MAX;
        a->sum = rocl_add_saturated(a->sum, sum);
        a->ns[a->active < LEVELS ? a->active : LEVELS] += ns;
    }
    a->last = time;
    a->active += key[2] == BEGIN;
    a->active -= key[2] == END;
    if (a->active > a->most) {
        a->most = a->active;
        a->at = time;
    }
    return ROCL_OK;
}

/* A lane is of one process, and so of one rank. */
static void put_lanes(void *self, rocl_put *to)
{
    const streams *s = self;
    for (size_t i = 1; i < s->lane_count; i++) {
        const lane *l = &s->lanes[i];
        rocl_put_bytes(to, &l->key, sizeof l->key);
        rocl_put_number(to, l->kernels);
        rocl_put_number(to, l->copies);
        rocl_put_signed(to, l->first);
        rocl_put_number(to, (uint64_t)(l->last - l->first));
        rocl_put_number(to, (uint64_t)l->busy);
        rocl_put_number(to, (uint64_t)l->gap);
    }
}

static rocl_status take_lanes(void *self, rocl_taken *from, rocl_error *err)
{
    streams *s = self;
    const rocl_trace *t = s->sweep.c.trace;
    while (!rocl_taken_all(from)) {
        if (!ROCL_GROW(s->lanes, s->lane_cap, s->lane_count + 1))
            return rocl_fail_memory(err);
        lane *l = &s->lanes[s->lane_count++];
        *l = (lane){0};
        rocl_take_bytes(from, &l->key, sizeof l->key);
        l->kernels = rocl_take_number(from);
        l->copies = rocl_take_number(from);
        l->first = rocl_take_signed(from);
        const uint64_t length = rocl_take_number(from), busy = rocl_take_number(from);
        const uint64_t gap = rocl_take_number(from);
        if (from->r.bad || l->key.table > 1 || l->key.lane.capture >= t->capture_count ||
            length > INT64_MAX || busy > length || gap > length ||
            __builtin_add_overflow(l->first, (int64_t)length, &l->last))
            return rocl_team_bad_message(err);
        l->busy = (int64_t)busy;
        l->gap = (int64_t)gap;
    }
    return ROCL_OK;
}

static const rocl_sweep_def sweep_def = {.words = 3,
                                         .times = 3,
                                         .complete = measure_lanes,
                                         .is_possible = is_possible,
                                         .extend = pass_edge,
                                         .put = put_lanes,
                                         .take = take_lanes};

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(lane, field)
#define LANE_COLUMNS(title)                                                                        \
    ROCL_LANE_COLUMNS(lane, name, title),                                                          \
        {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(kernels)},           \
        {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(copies)},              \
        {"busy_ns", "Busy", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(busy)},                    \
        {"busy_percent", "Busy %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(busy_percent)},            \
        {"idle_ns", "Idle", ROCL_UNIT_NS, ROCL_MINOR, CELL(idle)},                                 \
        {"share_percent", "Of all busy %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(share_percent)},  \
        {"first_ns", "First start", ROCL_UNIT_TIME, ROCL_MINOR, CELL(begin)},                      \
        {"last_ns", "Last end", ROCL_UNIT_TIME, ROCL_MINOR, CELL(end)},                            \
    {                                                                                              \
        "longest_gap_ns", "Longest gap", ROCL_UNIT_NS, ROCL_IN_REST, CELL(gap)                     \
    }

static const rocl_column stream_columns[] = {LANE_COLUMNS("Stream")};
static const rocl_column queue_columns[] = {LANE_COLUMNS("Queue")};

/* A GPU. */
typedef struct activity_row {
    const rocl_gpu *gpu;
    int64_t wall, busy, at;
    uint64_t most;
    double average, average_busy;
} activity_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(activity_row, field)

static const rocl_column activity_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, CELL(wall)},
    {"busy_ns", "Busy", ROCL_UNIT_NS, CELL(busy)},
    {"most", "Most at once", ROCL_UNIT_COUNT, CELL(most)},
    {"most_at_ns", "First at", ROCL_UNIT_TIME, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_known, activity_row, at)},
    {"average", "Average", ROCL_UNIT_NUMBER, CELL(average)},
    {"average_busy", "Average when busy", ROCL_UNIT_NUMBER, CELL(average_busy)},
};

static const rocl_table_def stream_table = {ROCL_TAB(STREAMS), "streams", "Streams",
                                            ROCL_COLUMNS(stream_columns)};
static const rocl_table_def queue_table = {ROCL_TAB(STREAMS), "queues", "Queues",
                                           ROCL_COLUMNS(queue_columns)};
static const rocl_table_def activity_table = {ROCL_TAB(STREAMS), "stream_activity",
                                              "Streams active at once per GPU",
                                              ROCL_COLUMNS(activity_columns)};

/* By table, and in it as the options want it; lanes that are equal by process and number. */
static int compare_lanes(const void *a, const void *b, void *ctx)
{
    const streams *s = ctx;
    const lane *l = a, *m = b;
    uint64_t x = l->kernels + l->copies, y = m->kernels + m->copies;
    int c = rocl_number_order(l->key.table, m->key.table);
    if (!c)
        c = rocl_compare_values(
            s->sweep.c.options->sort,
            &(rocl_sort_values){l->busy, l->gap, x, (double)l->busy / (double)x},
            &(rocl_sort_values){m->busy, m->gap, y, (double)m->busy / (double)y});
    return c ? c : rocl_compare_lanes(&l->key.lane, &l->name, &m->key.lane, &m->name);
}

static void add_lane(void *into, const void *from)
{
    lane *sum = into;
    const lane *l = from;
    sum->kernels += l->kernels;
    sum->copies += l->copies;
    sum->busy = rocl_add_saturated(sum->busy, l->busy);
    sum->gap = l->gap > sum->gap ? l->gap : sum->gap;
    sum->share_percent = rocl_percent(sum->busy, sum->all);
}

static void put_stream_tables(streams *s, rocl_tables *out)
{
    size_t n = 0, count = s->lane_count - 1;
    lane *l = s->lanes + 1;
    int64_t all[2] = {0};
    const rocl_trace *t = s->sweep.c.trace;
    const uint32_t hosts = rocl_lane_conditions(t);
    for (size_t i = 0; i < count; i++) {
        all[l[i].key.table] = rocl_add_saturated(all[l[i].key.table], l[i].busy);
        if (!i || l[i].first < s->first)
            s->first = l[i].first;
    }
    for (size_t i = 0; i < count; i++) {
        l[i].name = rocl_name_lane(t, &l[i].key.lane);
        l[i].begin = l[i].first - s->first;
        l[i].end = l[i].last - s->first;
        l[i].idle = l[i].last - l[i].first - l[i].busy;
        l[i].all = all[l[i].key.table];
        l[i].busy_percent = rocl_percent(l[i].busy, l[i].last - l[i].first);
        l[i].share_percent = rocl_percent(l[i].busy, l[i].all);
    }
    qsort_r(l, count, sizeof *l, compare_lanes, s);
    while (n < count && l[n].key.table == 0)
        n++;
    rocl_report_rows r = rocl_begin_table(&s->sweep.c, out, &stream_table, hosts);
    rocl_set_origin(&r, s->first);
    rocl_add_top_rows(&r, l, n, sizeof *l, add_lane);
    r = rocl_begin_table(&s->sweep.c, out, &queue_table, hosts);
    rocl_set_origin(&r, s->first);
    rocl_add_top_rows(&r, l + n, count - n, sizeof *l, add_lane);
    r = rocl_begin_table(&s->sweep.c, out, &activity_table, 0);
    rocl_set_origin(&r, s->first);
    for (size_t i = 0; i < t->gpu_count; i++) {
        const active_lanes *a = (const void *)s->sweep.results[i];
        if (!a)
            continue;
        activity_row row = {.gpu = &t->gpus[i],
                            .wall = a->last - a->first,
                            .at = a->most ? a->at - s->first : -1,
                            .most = (uint64_t)a->most};
        for (unsigned k = 1; k <= LEVELS; k++)
            row.busy += a->ns[k];
        row.average = rocl_ratio((double)a->sum, (double)row.wall);
        row.average_busy = rocl_ratio((double)a->sum, (double)row.busy);
        rocl_add_row(&r, &row);
    }
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_streams(void *self, rocl_error *err)
{
    streams *s = self;
    s->keys = rocl_strings_new();
    s->work = rocl_collector_sorter(&s->sweep.c, 4);
    return s->keys && s->work ? rocl_sweep_open(&s->sweep, &sweep_def, ACTIVE_VALUES, err)
                              : rocl_fail_memory(err);
}

static rocl_status finish_streams(void *self, rocl_tables *out, rocl_error *err)
{
    streams *s = self;
    const rocl_status st = rocl_sweep_finish(&s->sweep, err);
    if (st == ROCL_OK)
        put_stream_tables(s, out);
    return st;
}

static void close_streams(void *self)
{
    streams *s = self;
    rocl_sweep_close(&s->sweep);
    rocl_strings_free(s->keys);
    free(s->lanes);
    free(s->pieces);
}

const rocl_collector_def rocl_streams_collector = {
    .tables = (const rocl_table_def *const[]){&stream_table, &queue_table, &activity_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(streams),
    .open = open_streams,
    .add_batch = add_stream_batch,
    .finish = finish_streams,
    .close = close_streams,
    .gather = &rocl_sweep_gather,
};

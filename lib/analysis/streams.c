/* What streams and queues did when. Work becomes a record of (lane, start, end), a lane being a
 * stream, or a queue. Lanes are swept one after the other; what a lane covers on a GPU is handed on
 * as edges, by GPU and time, from which a second sweep counts how many lanes are active at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"

typedef enum lane_kind { OF_STREAM, OF_QUEUE, OF_NONE } lane_kind;

/* Interned as bytes: no holes. */
typedef struct lane_key {
    uint32_t table; /* 0: streams, 1: queues */
    uint32_t kind, capture, process;
    uint32_t index; /* of the stream or queue */
} lane_key;

/* Of what was covered until now: the piece that may still grow. */
typedef struct piece {
    int64_t start, end;
    bool open;
} piece;

typedef struct lane {
    lane_key key;
    uint64_t kernels, copies;
    int64_t first, last, busy, gap;
} lane;

typedef struct activity {
    uint64_t active, most;
    int64_t first, last, busy; /* some lane was active */
    int64_t until, at;         /* counted up to here; when `most` was reached first */
    double sum;                /* of the lanes' times; exact below 2^53 ns */
    bool any;
} activity;

typedef struct streams {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_gpus gpus;
    rocl_strings *keys; /* lanes' keys; their ids are the lanes */
    rocl_sorter *sorter, *edges;
    lane *lanes;
    size_t lane_count;
    piece *pieces; /* by GPU, of the lane that is swept */
    activity *activities;
    int64_t first; /* of all work */
} streams;

/* ---- taking events ---- */

/* What all kinds of work say. */
typedef struct work {
    const rocl_capture *capture;
    const rocl_event *e;
    uint32_t stream, queue;
    bool copy;
    const rocl_gpu *gpus[2];
} work;

static rocl_status add(streams *s, unsigned worker, const work *w, const lane_key *k,
                       rocl_error *err)
{
    uint8_t payload[2 * ROCL_VARINT_MAX], *q = payload;
    uint32_t id = rocl_strings_put(s->keys, (const char *)k, sizeof *k);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < 2 && !k->table; i++)
        if (w->gpus[i])
            q = rocl_varint_put(q, (uint64_t)(w->gpus[i] - s->gpus.all));
    /* Equal keys may still differ in their GPUs: in an order that does not matter. */
    const uint64_t key[4] = {id, (uint64_t)w->e->start, (uint64_t)w->e->end, w->copy};
    return rocl_sorter_add(s->sorter, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status add_work(streams *s, unsigned worker, const work *w, rocl_error *err)
{
    const rocl_capture *c = w->capture;
    bool queued = w->queue < c->queue_count;
    lane_key k = {.kind = OF_QUEUE,
                  .capture = c->index,
                  .process = w->e->process,
                  .index = queued ? w->queue : 0};
    rocl_status st = ROCL_OK;
    if (queued) {
        k.table = 1;
        st = add(s, worker, w, &k, err);
        k.table = 0;
    }
    if (w->stream < c->stream_count) {
        k.kind = OF_STREAM;
        k.index = w->stream;
    } else if (!queued) {
        k.kind = OF_NONE;
    }
    return st == ROCL_OK ? add(s, worker, w, &k, err) : st;
}

static work work_of(const streams *s, const rocl_batch *b, size_t i)
{
    const rocl_capture *c = b->capture;
    work w = {.capture = c, .e = rocl_batch_event(b, i), .copy = b->kind == ROCL_COPY};
    if (w.copy) {
        const rocl_copy *k = &b->copies[i];
        w.stream = k->stream;
        w.queue = k->queue;
        w.gpus[0] = rocl_gpus_find(&s->gpus, c, k->dst);
        w.gpus[1] = k->src != k->dst ? rocl_gpus_find(&s->gpus, c, k->src) : NULL;
    } else {
        w.stream = b->dispatches[i].stream;
        w.queue = b->dispatches[i].queue;
        w.gpus[0] = rocl_gpus_find(&s->gpus, c, b->dispatches[i].agent);
    }
    return w;
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    streams *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        work w = work_of(s, b, i);
        st = add_work(s, worker, &w, err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    streams *s = self;
    return rocl_sorter_seal(s->sorter, worker, err);
}

/* ---- lanes ---- */

/* At one time ends come first, so that what touches is not at once. */
static rocl_status end_piece(streams *s, size_t gpu, rocl_error *err)
{
    piece *p = &s->pieces[gpu];
    rocl_status st = ROCL_OK;
    if (p->open && p->end > p->start) {
        const uint64_t start[3] = {gpu, (uint64_t)p->start, 1}, end[3] = {gpu, (uint64_t)p->end, 0};
        st = rocl_sorter_add(s->edges, 0, start, NULL, 0, err);
        if (st == ROCL_OK)
            st = rocl_sorter_add(s->edges, 0, end, NULL, 0, err);
    }
    p->open = false;
    return st;
}

static rocl_status cover(streams *s, size_t gpu, int64_t start, int64_t end, rocl_error *err)
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

static void note_span(activity *a, int64_t start, int64_t end)
{
    a->first = !a->any || start < a->first ? start : a->first;
    a->last = !a->any || end > a->last ? end : a->last;
    a->any = true;
}

static void extend(lane *l, int64_t start, int64_t end, bool copy)
{
    if (!(l->kernels + l->copies)) {
        l->first = l->last = start;
    } else if (start - l->last > l->gap) {
        l->gap = start - l->last;
    }
    int64_t from = start > l->last ? start : l->last;
    if (end > from)
        l->busy += end - from;
    l->last = end > l->last ? end : l->last;
    l->kernels += !copy;
    l->copies += copy;
}

static rocl_status sweep_work(streams *s, const rocl_record *rec, rocl_error *err)
{
    int64_t start = (int64_t)rec->key[1], end = (int64_t)rec->key[2];
    const uint8_t *p = rec->data;
    uint64_t gpu;
    rocl_status st = ROCL_OK;
    extend(&s->lanes[rec->key[0]], start, end, rec->key[3]);
    while (st == ROCL_OK && rocl_varint_get(&p, rec->data + rec->len, &gpu)) {
        note_span(&s->activities[gpu], start, end);
        st = cover(s, gpu, start, end, err);
    }
    return st;
}

/* A lane is over: what it covered last. */
static rocl_status end_lane(streams *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < s->gpus.count && st == ROCL_OK; i++)
        st = end_piece(s, i, err);
    return st;
}

static rocl_status sweep_lanes(streams *s, rocl_error *err)
{
    rocl_record rec;
    uint64_t id = 0;
    bool more;
    rocl_status st = rocl_sorter_start(s->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(s->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        if (rec.key[0] != id)
            st = end_lane(s, err);
        id = rec.key[0];
        if (st == ROCL_OK)
            st = sweep_work(s, &rec, err);
    }
    return st == ROCL_OK ? end_lane(s, err) : st;
}

static void pass_edge(activity *a, int64_t time, bool starts)
{
    int64_t ns = time - a->until;
    if (a->active) {
        a->busy += ns;
        a->sum += (double)a->active * (double)ns;
    }
    a->until = time;
    a->active = starts ? a->active + 1 : a->active - 1;
    if (a->active > a->most) {
        a->most = a->active;
        a->at = time;
    }
}

static rocl_status sweep_edges(streams *s, rocl_error *err)
{
    rocl_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(s->edges, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(s->edges, &rec, &more, err)) == ROCL_OK && more)
        pass_edge(&s->activities[rec.key[0]], (int64_t)rec.key[1], rec.key[2]);
    return st;
}

/* ---- order ---- */

static const rocl_capture *capture_of(const streams *s, const lane *l)
{
    return &s->trace->captures[l->key.capture]->pub;
}

static const rocl_process *process_of(const streams *s, const lane *l)
{
    return &capture_of(s, l)->processes[l->key.process];
}

static const rocl_queue *definition_of(const streams *s, const lane *l)
{
    const rocl_capture *c = capture_of(s, l);
    return l->key.kind == OF_STREAM ? &c->streams[l->key.index] : &c->queues[l->key.index];
}

static int by_place(const streams *s, const lane *a, const lane *b)
{
    int64_t x = process_of(s, a)->pid, y = process_of(s, b)->pid;
    if (a->key.capture != b->key.capture)
        return a->key.capture < b->key.capture ? -1 : 1;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->key.process != b->key.process)
        return a->key.process < b->key.process ? -1 : 1;
    if (a->key.kind != b->key.kind)
        return a->key.kind < b->key.kind ? -1 : 1;
    x = a->key.kind == OF_NONE ? 0 : definition_of(s, a)->id;
    y = b->key.kind == OF_NONE ? 0 : definition_of(s, b)->id;
    if (x != y)
        return x < y ? -1 : 1;
    return a->key.index < b->key.index ? -1 : a->key.index > b->key.index;
}

static double order_of(const lane *l, rocl_sort_by by)
{
    switch (by) {
    case ROCL_BY_TOTAL:
        return (double)l->busy;
    case ROCL_BY_CALLS:
        return (double)(l->kernels + l->copies);
    case ROCL_BY_AVERAGE:
        return (double)l->busy / (double)(l->kernels + l->copies);
    case ROCL_BY_MAX:
        return (double)l->gap;
    case ROCL_BY_NAME:
        break;
    }
    return 0;
}

static int by_order(const void *a, const void *b, void *ctx)
{
    const streams *s = ctx;
    const lane *l = a, *m = b;
    double x = order_of(l, s->options->sort), y = order_of(m, s->options->sort);
    if (l->key.table != m->key.table)
        return l->key.table < m->key.table ? -1 : 1;
    return x != y ? (x > y ? -1 : 1) : by_place(s, l, m);
}

/* ---- tables ---- */

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

enum { L_HOST = 1, L_RANK };

enum { LANE_COLUMNS = 11 };

#define LANE(title)                                                                                \
    {                                                                                              \
        {"pid", "Process", ROCL_UNIT_COUNT}, {"host", "Host", ROCL_UNIT_TEXT},                     \
            {"rank", "Rank", ROCL_UNIT_COUNT}, {"name", title, ROCL_UNIT_TEXT},                    \
            {"kernels", "Kernels", ROCL_UNIT_COUNT}, {"copies", "Copies", ROCL_UNIT_COUNT},        \
            {"busy_ns", "Busy", ROCL_UNIT_NS}, {"busy_percent", "Busy %", ROCL_UNIT_PERCENT},      \
            {"first_ns", "First start", ROCL_UNIT_NS}, {"last_ns", "Last end", ROCL_UNIT_NS},      \
        {                                                                                          \
            "longest_gap_ns", "Longest gap", ROCL_UNIT_NS                                          \
        }                                                                                          \
    }

static const rocl_table_column stream_columns[LANE_COLUMNS] = LANE("Stream");
static const rocl_table_column queue_columns[LANE_COLUMNS] = LANE("Queue");

static rocl_datum name_cell(const streams *s, rocl_tables *out, const lane *l)
{
    char text[64];
    if (l->key.kind == OF_NONE)
        return (rocl_datum){0};
    const rocl_queue *q = definition_of(s, l);
    if (*rocl_str(s->trace, q->name))
        return rocl_cell_of_text(s->trace, out, q->name);
    snprintf(text, sizeof text, "%s %lld", l->key.kind == OF_STREAM ? "Stream" : "Queue",
             (long long)q->id);
    return rocl_cell_of_string(out, text);
}

static uint64_t shown_columns(const streams *s)
{
    uint64_t shown = UINT64_MAX;
    if (!s->options->by_rank)
        shown &= ~(UINT64_C(1) << L_RANK);
    return s->trace->machine_count > 1 ? shown : shown & ~(UINT64_C(1) << L_HOST);
}

static bool lane_row(const streams *s, rocl_tables *out, rocl_table *t, const lane *l)
{
    int32_t rank = process_of(s, l)->rank;
    const rocl_datum cells[] = {rocl_datum_int(process_of(s, l)->pid),
                                rocl_cell_of_host(s->trace, out, capture_of(s, l)->machine),
                                rank >= 0 ? rocl_datum_int(rank) : (rocl_datum){0},
                                name_cell(s, out, l),
                                rocl_datum_int((int64_t)l->kernels),
                                rocl_datum_int((int64_t)l->copies),
                                rocl_datum_int(l->busy),
                                rocl_cell_of_share(l->busy, l->last - l->first),
                                rocl_datum_int(l->first - s->first),
                                rocl_datum_int(l->last - s->first),
                                rocl_datum_int(l->gap)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_columns(s));
}

static bool rest_row(const streams *s, rocl_tables *out, rocl_table *t, const lane *l, size_t n)
{
    char text[64];
    lane sum = {0};
    snprintf(text, sizeof text, "(%zu others)", n);
    for (size_t i = 0; i < n; i++) {
        sum.kernels += l[i].kernels;
        sum.copies += l[i].copies;
        sum.busy = rocl_add_saturated(sum.busy, l[i].busy);
        sum.gap = l[i].gap > sum.gap ? l[i].gap : sum.gap;
    }
    const rocl_datum cells[LANE_COLUMNS] = {[3] = rocl_cell_of_string(out, text),
                                            [4] = rocl_datum_int((int64_t)sum.kernels),
                                            [5] = rocl_datum_int((int64_t)sum.copies),
                                            [6] = rocl_datum_int(sum.busy),
                                            [10] = rocl_datum_int(sum.gap)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_columns(s));
}

/* The lanes of one table; they follow each other. */
static rocl_status lane_table(const streams *s, rocl_tables *out, const char *key,
                              const char *title, const rocl_table_column *columns, const lane *l,
                              size_t n, rocl_error *err)
{
    size_t top = s->options->top, shown = top && top < n ? top : n;
    rocl_table *t = rocl_tables_add_some(out, key, title, columns, LANE_COLUMNS, shown_columns(s));
    bool good = t != NULL;
    for (size_t i = 0; good && i < shown; i++)
        good = lane_row(s, out, t, &l[i]);
    if (good && shown < n)
        good = rest_row(s, out, t, l + shown, n - shown);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static const rocl_table_column activity_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"wall_ns", "Wall", ROCL_UNIT_NS},
    {"busy_ns", "Busy", ROCL_UNIT_NS},
    {"most", "Most at once", ROCL_UNIT_COUNT},
    {"most_at_ns", "First at", ROCL_UNIT_NS},
    {"average", "Average", ROCL_UNIT_NUMBER},
    {"average_busy", "Average when busy", ROCL_UNIT_NUMBER},
};

static rocl_status activity_table(const streams *s, rocl_tables *out, rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, "stream_activity", "Streams active at once per GPU",
                                    COLUMNS(activity_columns));
    bool good = t != NULL;
    for (size_t i = 0; good && i < s->gpus.count; i++) {
        const activity *a = &s->activities[i];
        const rocl_datum none = {0};
        double wall = (double)(a->last - a->first);
        const rocl_datum cells[] = {rocl_cell_of_gpu(s->trace, out, &s->gpus.all[i]),
                                    rocl_datum_int(a->last - a->first),
                                    rocl_datum_int(a->busy),
                                    rocl_datum_int((int64_t)a->most),
                                    a->most ? rocl_datum_int(a->at - s->first) : none,
                                    wall > 0 ? rocl_datum_real(a->sum / wall) : none,
                                    a->busy ? rocl_datum_real(a->sum / (double)a->busy) : none};
        if (a->any)
            good = rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, UINT64_MAX);
    }
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status tables(streams *s, rocl_tables *out, rocl_error *err)
{
    size_t n = 0, count = s->lane_count - 1;
    const lane *l = s->lanes + 1;
    while (n < count && l[n].key.table == 0)
        n++;
    rocl_status st = lane_table(s, out, "streams", "Streams", stream_columns, l, n, err);
    if (st == ROCL_OK)
        st = lane_table(s, out, "queues", "Queues", queue_columns, l + n, count - n, err);
    return st == ROCL_OK ? activity_table(s, out, err) : st;
}

/* ---- the end ---- */

static rocl_status open_lanes(streams *s, rocl_error *err)
{
    s->lane_count = rocl_strings_count(s->keys);
    s->lanes = calloc(s->lane_count, sizeof *s->lanes);
    s->pieces = calloc(s->gpus.count + 1, sizeof *s->pieces);
    s->activities = calloc(s->gpus.count + 1, sizeof *s->activities);
    if (!s->lanes || !s->pieces || !s->activities)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->lane_count; i++) /* 0 is "", no key */
        memcpy(&s->lanes[i].key, rocl_strings_get(s->keys, i, NULL), sizeof(lane_key));
    return ROCL_OK;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    streams *s = self;
    rocl_status st = open_lanes(s, err);
    if (st == ROCL_OK)
        st = sweep_lanes(s, err);
    if (st == ROCL_OK)
        st = sweep_edges(s, err);
    if (st != ROCL_OK)
        return st;
    for (size_t i = 1; i < s->lane_count; i++)
        if (i == 1 || s->lanes[i].first < s->first)
            s->first = s->lanes[i].first;
    qsort_r(s->lanes + 1, s->lane_count - 1, sizeof *s->lanes, by_order, s);
    return tables(s, out, err);
}

static void free_streams(void *self)
{
    streams *s = self;
    rocl_gpus_free(&s->gpus);
    rocl_strings_free(s->keys);
    rocl_sorter_free(s->sorter);
    rocl_sorter_free(s->edges);
    free(s->lanes);
    free(s->pieces);
    free(s->activities);
    free(s);
}

rocl_status rocl_streams_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                   rocl_error *err)
{
    streams *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = s,
                          .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_streams};
    s->trace = t;
    s->options = o;
    s->keys = rocl_strings_new();
    s->sorter = rocl_sorter_new(t->space, 4);
    s->edges = rocl_sorter_new(t->space, 3);
    if (!s->keys || !s->sorter || !s->edges)
        return rocl_fail_memory(err);
    return rocl_gpus_collect(&s->gpus, t, err);
}

/* What streams and queues did when. Work becomes a record of (lane, start, end), a lane being a
 * stream, or a queue. Lanes are swept one after the other; what a lane covers on a GPU is handed on
 * as edges, by GPU and time, from which a second sweep counts how many lanes are active at once. */
#include <stdlib.h>
#include <string.h>

#include "analysis/streams.h"
#include "base/buf.h"

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

static rocl_status sweep_work(streams *s, const rocl_sort_record *rec, rocl_error *err)
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
    rocl_sort_record rec;
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
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(s->edges, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(s->edges, &rec, &more, err)) == ROCL_OK && more)
        pass_edge(&s->activities[rec.key[0]], (int64_t)rec.key[1], rec.key[2]);
    return st;
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
    return rocl_streams_tables(s, out, err);
}

static void free_streams(void *self)
{
    streams *s = self;
    rocl_gpus_free(&s->gpus);
    rocl_strings_free(s->keys);
    free(s->lanes);
    free(s->pieces);
    free(s->activities);
}

static rocl_status open_streams(void *self, rocl_error *err)
{
    streams *s = self;
    s->keys = rocl_strings_new();
    s->sorter = rocl_collector_sorter(&s->c, 4);
    s->edges = rocl_collector_sorter(&s->c, 3);
    if (!s->keys || !s->sorter || !s->edges)
        return rocl_fail_memory(err);
    return rocl_gpus_collect(&s->gpus, s->c.trace, err);
}

const rocl_collector_def rocl_streams_collector = {
    .reports = 1u << ROCL_REPORT_STREAMS,
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(streams),
    .open = open_streams,
    .add_batch = take,
    .finish = finish,
    .close = free_streams,
};

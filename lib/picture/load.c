/* Loading: while the trace is read, every track gets densities of what has come so far; when a
 * process is complete, the timeline draws its slices into rows. */
#include "picture/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pool.h"
#include "trace/pipeline.h"

/* Drawings are made side by side: none has much fewer records. */
#define LEAST_RECORDS 20000

static rocl_status fail_cancelled(rocl_error *err)
{
    return rocl_fail(err, ROCL_INTERNAL, "interrupted");
}

/* ---- densities ------------------------------------------------------------------------------- */

/* Makes the buckets as wide as it takes for all of [from, to] to have its own. */
static void widen_buckets(picture_worker *w, int64_t from, int64_t to)
{
    for (;;) {
        const int64_t lo = from >> w->shift, hi = to >> w->shift;
        const int64_t first = lo < w->lo ? lo : w->lo, last = hi > w->hi ? hi : w->hi;
        if (last - first < PICTURE_BUCKETS) {
            w->lo = first;
            w->hi = last;
            return;
        }
        for (uint32_t i = 0; i < w->count && w->lo <= w->hi; i++) {
            uint64_t folded[PICTURE_BUCKETS] = {0}, *busy = w->all[i]->busy;
            for (int64_t b = w->lo; b <= w->hi; b++)
                folded[(b >> 1) & (PICTURE_BUCKETS - 1)] += busy[b & (PICTURE_BUCKETS - 1)];
            memcpy(busy, folded, sizeof folded);
        }
        w->shift++;
        if (w->lo <= w->hi) {
            w->lo >>= 1;
            w->hi >>= 1;
        }
    }
}

static picture_density *find_density(picture_worker *w, uint32_t track)
{
    uint32_t at = rocl_map_get(&w->index, track, ROCL_NONE);
    if (at != ROCL_NONE)
        return w->all[at];
    picture_density *d = calloc(1, sizeof *d);
    if (!d || !ROCL_GROW(w->all, w->cap, w->count + (size_t)1) ||
        !rocl_map_put(&w->index, track, w->count)) {
        free(d);
        return NULL;
    }
    d->track = track;
    w->all[w->count++] = d;
    return d;
}

/* The track of an event that becomes a slice; as the timeline will decide it. */
static rocl_track track_of(const rocl_picture *p, const rocl_batch *b, size_t i)
{
    const rocl_event *e = rocl_batch_event(b, i);
    if (!rocl_kind_in(b->kind, ROCL_WORK_KINDS)) {
        rocl_track host = {.kind = ROCL_TRACK_THREAD,
                           .thread = e->thread,
                           .agent = ROCL_NONE,
                           .id = ROCL_NONE,
                           .process = e->process};
        if (e->thread < b->capture->thread_count)
            host.process = rocl_host_process(b->capture, e->thread, &host.thread);
        return host;
    }
    rocl_track track = rocl_work_track(&p->timeline, b->kind,
                                       rocl_work_place_on_gpu(b->capture, b->kind, e), e->thread);
    track.process = e->process;
    return track;
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_picture *p = self;
    picture_worker *w = &p->workers[worker];
    const uint32_t values = ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE);
    bool good = true;
    if (atomic_load_explicit(&p->cancelled, memory_order_relaxed))
        return fail_cancelled(err);
    uint32_t last = ROCL_NONE;
    picture_density *d = NULL;
    pthread_mutex_lock(&w->lock);
    w->events += b->count;
    for (size_t i = 0; i < b->count && good; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        w->first = e->start < w->first ? e->start : w->first;
        w->last = e->end > w->last ? e->end : w->last;
        if (values >> b->kind & 1)
            continue;
        const rocl_track t = track_of(p, b, i);
        /* The number of the track, mostly without the lock of the picture. */
        const uint64_t id = t.kind == ROCL_TRACK_THREAD ? t.thread : t.id;
        const uint64_t key = rocl_mix64(rocl_mix64((uint64_t)b->capture->index << 32 | t.process) ^
                                        ((uint64_t)t.kind << 60 | (uint64_t)t.agent << 32 | id)) |
                             1; /* 0: empty */
        const unsigned recent = key >> 1 & 63;
        uint32_t track = w->recent_track[recent];
        if (w->recent_key[recent] != key) {
            /* Who asks takes that of the worker while it holds the lock of the picture. */
            pthread_mutex_unlock(&w->lock);
            pthread_mutex_lock(&p->lock);
            track = picture_define_track(p, b->capture, &t);
            pthread_mutex_unlock(&p->lock);
            pthread_mutex_lock(&w->lock);
            w->recent_key[recent] = key;
            w->recent_track[recent] = track;
        }
        if (track != last)
            d = track == ROCL_NONE ? NULL : find_density(w, track);
        last = track;
        if (!(good = d != NULL))
            break;
        if (e->start >> w->shift < w->lo || e->end >> w->shift > w->hi)
            widen_buckets(w, e->start, e->end);
        const int64_t width = (int64_t)1 << w->shift;
        for (int64_t at = e->start >> w->shift; at <= e->end >> w->shift; at++) {
            const int64_t begin = at * width;
            const int64_t a = e->start > begin ? e->start : begin;
            const int64_t z = e->end - begin < width ? e->end : begin + width;
            d->busy[at & (PICTURE_BUCKETS - 1)] += (uint64_t)(z - a);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return good ? rocl_encoder_events(&p->timeline.encoder, worker, b, err) : rocl_fail_memory(err);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* A track that is drawn, for as long as its sequence lasts. */
typedef struct drawn_track {
    uint32_t track, lane;
    picture_row **rows; /* by depth */
    int64_t *ends;      /* of the slices that are open, outermost first */
    uint32_t depth;     /* how many are open */
    size_t row_cap, end_cap;
} drawn_track;

typedef struct picture_drawing {
    rocl_drawing drawing; /* first */
    rocl_picture *picture;
    drawn_track *drawn;
    uint32_t drawn_count;
    size_t drawn_cap;
    /* Details found last, by their hash: most slices have one of few. */
    struct {
        picture_detail detail;
        uint32_t number_plus1; /* 0: empty */
    } recent[64];
    int64_t first, last;
    bool no_memory;
} picture_drawing;

static void forget_drawn(picture_drawing *p)
{
    for (uint32_t i = 0; i < p->drawn_count; i++) {
        free(p->drawn[i].rows);
        free(p->drawn[i].ends);
    }
    p->drawn_count = 0;
}

static rocl_status define_track(rocl_drawing *base, const rocl_track *track, uint64_t *id,
                                rocl_error *err)
{
    picture_drawing *p = (picture_drawing *)base;
    if (!ROCL_GROW(p->drawn, p->drawn_cap, p->drawn_count + (size_t)1))
        return rocl_fail_memory(err);
    pthread_mutex_lock(&p->picture->lock);
    const uint32_t n = picture_define_track(p->picture, base->timeline->capture, track);
    pthread_mutex_unlock(&p->picture->lock);
    if (n == ROCL_NONE)
        return rocl_fail_memory(err);
    *id = p->drawn_count;
    p->drawn[p->drawn_count++] = (drawn_track){.track = n, .lane = track->lane};
    return ROCL_OK;
}

/* The row of a track for this depth, made when it is new. NULL: memory is out. */
static picture_row *find_row(picture_drawing *p, drawn_track *d, uint32_t depth)
{
    if (depth < d->row_cap && d->rows[depth])
        return d->rows[depth];
    picture_row *row = NULL;
    if (!ROCL_GROW(d->rows, d->row_cap, depth + (size_t)1))
        return NULL;
    pthread_mutex_lock(&p->picture->lock);
    picture_track *t = p->picture->tracks[d->track];
    for (uint32_t i = 0; i < t->row_count && !row; i++)
        if (t->rows[i]->lane == d->lane && t->rows[i]->depth == depth)
            row = t->rows[i];
    if (!row && ROCL_GROW(t->rows, t->row_cap, t->row_count + (size_t)1) &&
        (row = calloc(1, sizeof *row))) {
        row->lane = d->lane;
        row->depth = depth;
        t->rows[t->row_count++] = row;
    }
    pthread_mutex_unlock(&p->picture->lock);
    return d->rows[depth] = row;
}

static uint32_t find_detail(picture_drawing *p)
{
    const rocl_track_event *e = &p->drawing.event;
    picture_detail d;
    memset(&d, 0, sizeof d); /* compared as bytes */
    d.kind = e->kind;
    d.capture = p->drawing.timeline->capture->index;
    d.agent = d.other_agent = d.queue = d.stream = d.category = ROCL_NONE;
    if (e->sequence == ROCL_SEQUENCE_HOST) {
        d.category = e->category;
    } else {
        d.agent = e->agent;
        d.queue = e->queue;
        d.stream = e->stream;
    }
    if (e->kind == ROCL_COPY) {
        d.other_agent = e->other_agent;
        d.to_agent = e->op;
    }
    if (e->kind == ROCL_DISPATCH) {
        memcpy(d.workgroup, e->workgroup, sizeof d.workgroup);
        memcpy(d.grid, e->grid, sizeof d.grid);
        d.private_segment = e->private_segment;
        d.group_segment = e->group_segment;
    }
    const unsigned at = rocl_mix64((uint64_t)d.kind << 32 ^ d.category ^ (uint64_t)d.queue << 40 ^
                                   (uint64_t)d.grid[0] << 16 ^ d.workgroup[0] ^ d.other_agent) &
                        63;
    if (p->recent[at].number_plus1 && !memcmp(&p->recent[at].detail, &d, sizeof d))
        return p->recent[at].number_plus1 - 1;
    pthread_mutex_lock(&p->picture->lock);
    const uint32_t n = picture_intern_detail(p->picture, &d);
    pthread_mutex_unlock(&p->picture->lock);
    p->recent[at].detail = d;
    p->recent[at].number_plus1 = n + 1; /* of ROCL_NONE: empty */
    return n;
}

static rocl_status draw_slice(rocl_drawing *base, uint64_t track, rocl_error *err)
{
    picture_drawing *p = (picture_drawing *)base;
    const rocl_track_event *e = &base->event;
    drawn_track *d = &p->drawn[track];
    const bool instant = e->kind == ROCL_INSTANT;
    const int64_t end = instant ? e->time : e->end;
    while (d->depth && d->ends[d->depth - 1] <= e->time)
        d->depth--;
    picture_row *row = find_row(p, d, d->depth);
    const uint32_t detail = find_detail(p);
    if (!row || detail == ROCL_NONE || !ROCL_GROW(d->ends, d->end_cap, d->depth + (size_t)1))
        return rocl_fail_memory(err);
    if (!instant)
        d->ends[d->depth++] = end;
    if (row->count && picture_end(row, row->count - 1) > e->time)
        return rocl_fail(err, ROCL_INTERNAL, "slices of a row overlap");
    const bool bytes =
        e->sequence != ROCL_SEQUENCE_HOST &&
        (ROCL_BIT(ROCL_COPY) | ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH)) >> e->kind & 1;
    const picture_slice s = {.start = e->time,
                             .end = end,
                             .name = e->name,
                             .detail = detail,
                             .id = e->row,
                             .stack = rocl_timeline_link(base) ? e->stack_id : 0,
                             .bytes = bytes ? e->size : 0};
    p->first = s.start < p->first ? s.start : p->first;
    p->last = end > p->last ? end : p->last;
    return picture_add_slice(row, &s) ? ROCL_OK : rocl_fail_memory(err);
}

static void draw_value(rocl_drawing *base, uint64_t track, int64_t time, double value)
{
    picture_drawing *p = (picture_drawing *)base;
    picture_row *row = find_row(p, &p->drawn[track], 0);
    p->no_memory |= !row || !picture_add_value(row, time, value);
}

/* Nothing more will be drawn on these tracks. */
static void end_sequence(rocl_drawing *base)
{
    picture_drawing *p = (picture_drawing *)base;
    for (uint32_t i = 0; i < p->drawn_count; i++)
        for (size_t k = 0; k < p->drawn[i].row_cap; k++)
            if (p->drawn[i].rows[k])
                p->no_memory |= !picture_seal_row(p->drawn[i].rows[k]);
    forget_drawn(p);
}

static const rocl_timeline_ops ops = {.end = end_sequence,
                                      .define = define_track,
                                      .call = draw_slice,
                                      .work = draw_slice,
                                      .instant = draw_slice,
                                      .value = draw_value};

typedef struct picture_drawings {
    rocl_picture *picture;
    rocl_draw_range cuts[ROCL_DRAWN_AT_ONCE_MAX];
} picture_drawings;

static rocl_status make_drawing(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    const picture_drawings *all = ctx;
    rocl_picture *picture = all->picture;
    picture_drawing *p = calloc(1, sizeof *p);
    uint64_t records = 0;
    (void)worker;
    if (!p)
        return rocl_fail_memory(err);
    p->drawing = (rocl_drawing){.timeline = &picture->timeline,
                                .number = index,
                                .at = all->cuts[index].first,
                                .last = all->cuts[index].last};
    p->picture = picture;
    p->first = INT64_MAX;
    p->last = INT64_MIN;
    rocl_status st = rocl_drawing_begin(&p->drawing, err);
    while (st == ROCL_OK && p->drawing.more && !p->no_memory) {
        st = rocl_timeline_draw(&p->drawing, err);
        if (++records % 4096 || st != ROCL_OK)
            continue;
        rocl_progress(picture->trace, 4096);
        if (atomic_load_explicit(&picture->cancelled, memory_order_relaxed))
            st = fail_cancelled(err);
    }
    if (st == ROCL_OK && p->no_memory)
        st = rocl_fail_memory(err);
    pthread_mutex_lock(&picture->lock);
    rocl_timeline_counts_add(&picture->counts, &p->drawing.counts);
    picture->first = p->first < picture->first ? p->first : picture->first;
    picture->last = p->last > picture->last ? p->last : picture->last;
    pthread_mutex_unlock(&picture->lock);
    rocl_drawing_free(&p->drawing);
    forget_drawn(p);
    free(p->drawn);
    free(p);
    return st;
}

static uint64_t count_records(const rocl_sequence *s)
{
    return s->records;
}

static int compare_by_lane_and_depth(const void *a, const void *b)
{
    const picture_row *x = *(picture_row *const *)a, *y = *(picture_row *const *)b;
    return x->lane != y->lane ? (x->lane > y->lane) - (x->lane < y->lane)
                              : (x->depth > y->depth) - (x->depth < y->depth);
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    rocl_picture *p = self;
    pthread_mutex_lock(&p->lock);
    p->first_track = p->track_count;
    pthread_mutex_unlock(&p->lock);
    return rocl_timeline_begin_capture(&p->timeline, c, err);
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    rocl_picture *p = self;
    rocl_timeline *t = &p->timeline;
    picture_drawings all = {.picture = p};
    rocl_status st = rocl_timeline_end_capture(t, err);
    const size_t n = rocl_cut_draw_ranges(t->sequences, st ? 0 : t->sequence_count, count_records,
                                          LEAST_RECORDS, ROCL_DRAWN_AT_ONCE_MAX, all.cuts);
    if (st == ROCL_OK)
        st = rocl_start_draw_ranges(t->sorter, t->sequences, all.cuts, n, err);
    if (st == ROCL_OK)
        st = rocl_run_tasks(p->trace->opt.jobs, n, make_drawing, &all, err);
    rocl_timeline_forget_capture(t);
    if (st == ROCL_OK) {
        /* Shows what was drawn of the capture. */
        pthread_mutex_lock(&p->lock);
        for (uint32_t i = p->first_track; i < p->track_count; i++) {
            picture_track *track = p->tracks[i];
            if (track->capture != c->index)
                continue; /* its machine */
            if (track->row_count)
                qsort(track->rows, track->row_count, sizeof *track->rows,
                      compare_by_lane_and_depth);
            for (uint32_t r = 0; r < track->row_count; r++)
                track->slices += track->rows[r]->count;
            track->loaded = true;
        }
        p->generation++;
        pthread_mutex_unlock(&p->lock);
    }
    return st;
}

rocl_status rocl_picture_load(rocl_picture *p, rocl_error *err)
{
    p->timeline.ops = &ops;
    rocl_sink sink = rocl_encoder_sink(&p->timeline.encoder);
    sink.begin_capture = begin_capture;
    sink.events = add_events;
    sink.end_capture = end_capture;
    rocl_status st = rocl_pipeline_run(p->trace, &sink, err);
    rocl_timeline_forget_capture(&p->timeline);
    for (unsigned w = 0; w < p->trace->opt.jobs; w++) {
        picture_worker *k = &p->workers[w];
        pthread_mutex_lock(&k->lock);
        for (uint32_t i = 0; i < k->count; i++)
            free(k->all[i]);
        k->count = 0;
        rocl_map_free(&k->index);
        pthread_mutex_unlock(&k->lock);
    }
    pthread_mutex_lock(&p->lock);
    p->loaded = st == ROCL_OK;
    p->generation++;
    pthread_mutex_unlock(&p->lock);
    return st ? st : rocl_trace_outcome(p->trace);
}

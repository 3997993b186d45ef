/* The points of a trace: see points.h. Work looks up the calls that launched it; then all are in
 * one order. */
#include "analysis/points.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "model/collectives.h"

/* A stream or a queue of a process and GPU; or the GPU of a process. Interned as bytes: no holes.
 */
typedef struct place_key {
    uint32_t kind;
    uint32_t capture, index, agent;
} place_key;

/* A stream or an event, as the arguments of calls name them: an address, mostly. */
typedef struct handle_key {
    uint32_t capture, process;
    uint32_t event; /* whether it is an event; the text follows */
} handle_key;

typedef struct points {
    rocl_points pub; /* first */
    rocl_collector *c;
    rocl_collectives match;
    rocl_sorter *work_of_calls, *sorted;
    rocl_ids *calls;                  /* by worker and name of a call: flags of its record */
    uint32_t stream_word, event_word; /* texts */
    rocl_strings *places, *handles;   /* their ids */
    uint64_t collective_count;
} points;

/* ---- events ---------------------------------------------------------------------------------- */

/* Kinds of points, in the order in which those of one time are taken. */
enum { RANGE, LAUNCHED, BEGINS };

/* In the record of a range: flags, and above them what it waits for. */
enum { WAITS_SHIFT = 5 };

static bool find_call_bits(points *p, unsigned worker, uint32_t name, uint32_t *bits)
{
    *bits = rocl_ids_get(&p->calls[worker], name);
    if (*bits != ROCL_NONE)
        return true;
    const char *call = rocl_str(p->c->trace, name);
    *bits = (uint32_t)rocl_call_waits_for(call) << WAITS_SHIFT |
            (fnmatch("*StreamWaitEvent*", call, 0) ? 0 : ROCL_RANGE_WAITS_FOR_EVENT) |
            (fnmatch("hipEventRecord*", call, 0) && fnmatch("cu*EventRecord*", call, 0)
                 ? 0
                 : ROCL_RANGE_RECORDS_EVENT) |
            (fnmatch("hsa_*", call, 0) ? 0 : ROCL_RANGE_IS_OF_HSA) |
            (fnmatch("autograd::engine::evaluate_function*", call, 0) ? 0 : ROCL_RANGE_IS_BACKWARD);
    return rocl_ids_put(&p->calls[worker], name, *bits);
}

static uint64_t point_word(unsigned kind, uint32_t capture)
{
    return (uint64_t)kind << 32 | capture;
}

enum { MOST_HANDLE = 64 }; /* the most bytes of its text; longer ones are not handles */

/* 0: not a handle, or, with *ok false, memory is out. */
static uint32_t find_handle(points *p, const rocl_batch *b, const rocl_region *r, bool event,
                            const rocl_arg *a, bool *ok)
{
    const handle_key key = {b->capture->index, r->e.process, event};
    char bytes[sizeof key + MOST_HANDLE];
    if (a->value_len > MOST_HANDLE)
        return 0;
    memcpy(bytes, &key, sizeof key);
    memcpy(bytes + sizeof key, a->value, a->value_len);
    const uint32_t id = rocl_strings_put(p->handles, bytes, sizeof key + a->value_len);
    *ok &= id != ROCL_NONE;
    return *ok ? id : 0;
}

/* The stream and the event that a call names, of several the first: in the lower and the upper
 * half.
 */
static bool find_handles(points *p, const rocl_batch *b, const rocl_region *r, uint32_t bits,
                         uint64_t *handles)
{
    const bool uses_event = bits & (ROCL_RANGE_WAITS_FOR_EVENT | ROCL_RANGE_RECORDS_EVENT) ||
                            bits >> WAITS_SHIFT == ROCL_WAITS_FOR_EVENT;
    bool ok = true;
    uint32_t stream = 0, event = 0;
    for (uint32_t i = 0; i < r->arg_count; i++) {
        const rocl_arg *a = &b->args[r->arg_first + i];
        if (a->name == p->stream_word && !stream)
            stream = find_handle(p, b, r, false, a, &ok);
        else if (a->name == p->event_word && !event && uses_event)
            event = find_handle(p, b, r, true, a, &ok);
    }
    *handles = (uint64_t)event << 32 | stream;
    return ok;
}

static rocl_status add_range(points *p, unsigned worker, const rocl_batch *b, const rocl_event *e,
                             rocl_error *err)
{
    uint32_t bits = ROCL_RANGE_IS_MARKER;
    if (e->thread >= b->capture->thread_count)
        return ROCL_OK;
    uint64_t handles = 0;
    if (b->kind == ROCL_REGION &&
        (!find_call_bits(p, worker, rocl_name_of(e), &bits) ||
         !find_handles(p, b, (const rocl_region *)(const void *)e, bits, &handles)))
        return rocl_fail_memory(err);
    /* The longest of ranges with one begin comes first. */
    const uint64_t key[4] = {(uint64_t)e->start, point_word(RANGE, b->capture->index),
                             (uint64_t)(INT64_MAX - e->end),
                             rocl_row_word(e->id, b->kind) << 1 | 1};
    const uint64_t numbers[] = {rocl_name_of(e), bits, e->thread, e->process, handles};
    return rocl_add_numbers(p->sorted, worker, key, numbers, handles ? 5 : 4, err);
}

static rocl_status add_gpu_work(points *p, unsigned worker, const rocl_batch *b, size_t i,
                                rocl_error *err)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_capture *c = b->capture;
    const rocl_work_place at = rocl_work_place_of(b->kind, e);
    const uint32_t src = b->kind == ROCL_COPY ? b->copies[i].src : at.agent;
    const uint32_t agent = b->kind != ROCL_COPY || rocl_is_gpu(c, src) ? src
                           : rocl_is_gpu(c, at.agent)                  ? at.agent
                                                                       : ROCL_NONE;
    /* They count from 1 on; 0: there is none. */
    const uint32_t stream_plus1 = at.stream < c->stream_count ? at.stream + 1 : 0;
    const uint32_t queue_plus1 = at.queue < c->queue_count ? at.queue + 1 : 0;
    const uint64_t numbers[] = {(uint64_t)(e->end - e->start), rocl_name_of(e),
                                (uint64_t)stream_plus1 << 32 | queue_plus1, (uint32_t)(agent + 1)};
    return rocl_calls_ask(p->work_of_calls, worker, b, e, numbers, 4, err);
}

rocl_status rocl_points_add_batch(rocl_points *self, unsigned worker, const rocl_batch *b,
                                  rocl_error *err)
{
    points *p = (points *)self;
    const bool range = b->kind == ROCL_REGION || b->kind == ROCL_MARKER;
    rocl_status st = ROCL_OK;
    if (b->kind != ROCL_COPY)
        st = rocl_collectives_add(&p->match, worker, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = range ? add_range(p, worker, b, rocl_batch_event(b, i), err)
                   : add_gpu_work(p, worker, b, i, err);
    return st;
}

/* ---- the calls of work ----------------------------------------------------------------------- */

/* Places count from 1 on: the id of no bytes is 0. 0: it is not known, or memory is out. */
static uint32_t find_place(points *p, uint32_t kind, uint32_t capture, uint32_t index_plus1,
                           uint32_t agent_plus1)
{
    const place_key key = {kind, capture, index_plus1, agent_plus1};
    const uint32_t id =
        index_plus1 ? rocl_strings_put(p->places, (const char *)&key, sizeof key) : 0;
    return id == ROCL_NONE ? 0 : id;
}

static rocl_status add_launch(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                              rocl_error *err)
{
    points *p = ctx;
    const uint32_t index = (uint32_t)(question->key[0] >> 32);
    const rocl_capture *c = &p->c->trace->captures[index]->pub;
    const uint32_t process = (uint32_t)question->key[0];
    const int64_t start = (int64_t)question->key[2];
    const uint64_t number = ++p->pub.work;
    uint64_t v[4]; /* duration, name, stream and queue, agent */
    rocl_read_numbers(question, v, 4);
    const uint32_t agent = (uint32_t)v[3];
    const uint32_t stream = find_place(p, ROCL_ON_STREAM, index, (uint32_t)(v[2] >> 32), agent);
    const uint32_t queue = find_place(p, ROCL_ON_QUEUE, index, (uint32_t)v[2], agent);
    const uint32_t gpu = find_place(p, ROCL_ON_GPU, index, process + 1, agent);
    if ((!stream && v[2] >> 32) || (!queue && (uint32_t)v[2]) || !gpu)
        return rocl_fail_memory(err);
    const bool linked = call && call->thread < c->thread_count && call->start <= start;
    p->pub.unlinked += !linked;
    if (linked) {
        const uint64_t key[4] = {(uint64_t)call->start, point_word(LAUNCHED, index), 0, number};
        const uint64_t numbers[] = {(uint64_t)(call->end - call->start), call->name, call->thread,
                                    stream};
        const rocl_status st = rocl_add_numbers(p->sorted, 0, key, numbers, 4, err);
        if (st != ROCL_OK)
            return st;
    }
    const bool copy = rocl_word_kind(question->key[3]) == ROCL_COPY;
    const uint64_t key[4] = {(uint64_t)start, point_word(BEGINS, index), question->key[3], number};
    const uint64_t numbers[] = {v[0], (uint64_t)v[1] << 2 | (uint64_t)copy << 1 | linked,
                                (uint64_t)stream << 32 | queue, process, gpu};
    return rocl_add_numbers(p->sorted, 0, key, numbers, 5, err);
}

rocl_status rocl_points_look_up_calls(rocl_points *self, rocl_calls *calls, rocl_error *err)
{
    points *p = (points *)self;
    return rocl_calls_look_up(calls, p->work_of_calls, add_launch, p, err);
}

/* A record before that of the begin of each of its kernels, or ranges, says that they are of one
 * collective. */
static rocl_status add_collective(void *ctx, const rocl_collective *k, rocl_error *err)
{
    points *p = ctx;
    rocl_status st = ROCL_OK;
    if (!rocl_collective_is_whole(k) || k->count < 2)
        return ROCL_OK;
    for (uint32_t i = 0; i < k->count && st == ROCL_OK; i++) {
        const rocl_collective_member *m = &k->members[i];
        const bool work = rocl_word_kind(m->row) == ROCL_DISPATCH;
        const uint64_t key[4] = {(uint64_t)m->start, point_word(work ? BEGINS : RANGE, m->capture),
                                 work ? m->row : (uint64_t)(INT64_MAX - m->end),
                                 work ? 0 : m->row << 1};
        const uint64_t numbers[] = {p->collective_count, k->count};
        st = rocl_add_numbers(p->sorted, 0, key, numbers, 2, err);
    }
    p->collective_count++;
    return st;
}

/* ---- in order -------------------------------------------------------------------------------- */

rocl_status rocl_points_start(rocl_points *self, rocl_error *err)
{
    points *p = (points *)self;
    rocl_collector_free_sorter(p->c, &p->work_of_calls);
    const rocl_status st = rocl_collectives_match(&p->match, add_collective, p, err);
    rocl_collector_free_sorter(p->c, &p->match.kernels);
    rocl_collector_free_sorter(p->c, &p->match.members);
    p->pub.ranks = &p->match.ranks;
    p->pub.place_count = (uint32_t)rocl_strings_count(p->places);
    p->pub.handle_count = (uint32_t)rocl_strings_count(p->handles);
    return st == ROCL_OK ? rocl_sorter_start(p->sorted, err) : st;
}

bool rocl_points_next(rocl_points *self, rocl_point *point, rocl_status *st, rocl_error *err)
{
    points *p = (points *)self;
    rocl_sort_record rec;
    if (!rocl_next_record(p->sorted, &rec, st, err)) {
        if (*st == ROCL_OK)
            rocl_collector_free_sorter(p->c, &p->sorted);
        return false;
    }
    uint64_t v[5];
    rocl_read_numbers(&rec, v, 5);
    point->time = (int64_t)rec.key[0];
    point->capture = (uint32_t)rec.key[1];
    const uint64_t kind = rec.key[1] >> 32;
    if (kind == RANGE ? !(rec.key[3] & 1) : !rec.key[3]) { /* number, members */
        point->kind = ROCL_POINT_COLLECTIVE;
        point->number = v[0];
        point->members = v[1];
    } else if (kind == RANGE) { /* name, flags, thread, process, handles */
        point->kind = ROCL_POINT_RANGE;
        point->end = INT64_MAX - (int64_t)rec.key[2];
        point->name = (uint32_t)v[0];
        point->flags = (uint32_t)v[1] & ((1u << WAITS_SHIFT) - 1);
        point->waits = (rocl_waits_for)(v[1] >> WAITS_SHIFT);
        point->thread = (uint32_t)v[2];
        point->process = (uint32_t)v[3];
        point->stream = (uint32_t)v[4];
        point->event = (uint32_t)(v[4] >> 32);
    } else if (kind == LAUNCHED) { /* duration of the call, its name, thread, stream */
        point->kind = ROCL_POINT_LAUNCH;
        point->number = rec.key[3];
        point->end = point->time + (int64_t)v[0];
        point->name = (uint32_t)v[1];
        point->thread = (uint32_t)v[2];
        point->places[ROCL_ON_STREAM] = (uint32_t)v[3];
    } else { /* duration; name, is it a copy, is its call known; stream, queue; process; GPU */
        point->kind = ROCL_POINT_WORK;
        point->number = rec.key[3];
        point->end = point->time + (int64_t)v[0];
        point->name = (uint32_t)(v[1] >> 2);
        point->is_copy = v[1] >> 1 & 1;
        point->is_launched = v[1] & 1;
        point->places[ROCL_ON_STREAM] = (uint32_t)(v[2] >> 32);
        point->places[ROCL_ON_QUEUE] = (uint32_t)v[2];
        point->process = (uint32_t)v[3];
        point->places[ROCL_ON_GPU] = (uint32_t)v[4];
    }
    return true;
}

/* ---- begin and end --------------------------------------------------------------------------- */

rocl_status rocl_points_open(rocl_points **out, rocl_collector *c, rocl_error *err)
{
    points *p = calloc(1, sizeof *p);
    if (!p)
        return rocl_fail_memory(err);
    *out = &p->pub;
    p->c = c;
    p->match.meetings = ROCL_BIT(ROCL_MEET_MPI);
    c->fields |= ROCL_FIELD_HANDLES;
    p->work_of_calls = rocl_collector_sorter(c, 4);
    p->sorted = rocl_collector_sorter(c, 4);
    p->calls = calloc(c->trace->opt.jobs, sizeof *p->calls);
    p->stream_word = rocl_strings_put(c->trace->strings, "stream", 6);
    p->event_word = rocl_strings_put(c->trace->strings, "event", 5);
    p->places = rocl_strings_new();
    p->handles = rocl_strings_new();
    if (!p->work_of_calls || !p->sorted || !p->calls || !p->places || !p->handles ||
        p->stream_word == ROCL_NONE || p->event_word == ROCL_NONE)
        return rocl_fail_memory(err);
    return rocl_collectives_open(&p->match, c->trace, rocl_collector_sorter(c, 4),
                                 rocl_collector_sorter(c, 4), err);
}

void rocl_points_close(rocl_points *self)
{
    points *p = (points *)self;
    if (!p)
        return;
    for (unsigned w = 0; p->calls && w < p->c->trace->opt.jobs; w++)
        rocl_ids_free(&p->calls[w]);
    if (p->match.trace)
        rocl_collectives_close(&p->match);
    rocl_strings_free(p->places);
    rocl_strings_free(p->handles);
    free(p->calls);
    free(p);
}

/* What depends on what: see dependencies.h.
 *
 *     work     GPU work by process and stack id: looks up the calls that launched it
 *     points   ranges by begin, launches and begins of work, in the order of time; a sweep follows
 *              them with a slot (path.h) for each thread, stream, queue and process, and for each
 *              piece of work from its launch to its end
 *
 * In memory is what goes on at a time. */
#include "analysis/dependencies.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/parts.h"
#include "base/map.h"
#include "model/collectives.h"

/* A range of a thread that is open. Times count from the begin of the trace from here on. */
typedef struct frame {
    int64_t start, end;
    uint32_t what;
    rocl_waits_for waits;
    uint32_t begun;     /* slot of the thread when it began; of those that wait */
    uint32_t own_after; /* in owns, + 1: work that it launched and waits for; 0: none */
} frame;

typedef struct thread {
    bool seen;
    bool takes_part; /* it launched work, or waited for some */
    uint32_t slot, process;
    int64_t event_waited; /* when it last called hipStreamWaitEvent; -1: never */
    int64_t last;         /* begin or end of a range */
    /* Of PyTorch's backward pass: the thread, + 1, for which it works, and a further thread of the
     * process that does; 0: none. */
    uint32_t caller_after, next_engine;
    uint32_t outside; /* what: no range is open */
    frame *open;      /* the outermost first */
    size_t depth, cap;
} thread;

/* What a call launched that waits for it: alive as long as the call or the work. */
typedef struct own {
    uint32_t slot, users; /* slot 0: nothing has ended yet */
} own;

/* Of a process and GPU, a stream or a queue. */
typedef struct lane_key {
    uint32_t queue; /* is it one? */
    uint32_t capture, index, agent;
} lane_key;

typedef struct lane {
    uint32_t slot;                /* 0: nothing has ended on it */
    uint32_t oldest, newest;      /* work that has not ended, + 1, by launch; 0: none */
    uint32_t ended_before, after; /* the process's streams by when work last ended; 0: none */
    bool listed;
    int64_t launched; /* when something was last launched into it; -1: never */
} lane;

enum { STREAM, HARDWARE_QUEUE, LANES };

typedef struct work {
    uint64_t number; /* of all work; 0: free */
    uint32_t slot, what;
    uint32_t lanes[LANES]; /* 0: unknown */
    uint32_t process, own_after, collective_after;
    uint32_t older, newer; /* on its stream, + 1 */
    int64_t launched, end;
    bool waits_for_event;
    uint32_t call; /* text */
    int64_t call_end;
} work;

typedef struct process_state {
    uint32_t slot;         /* what has ended in it; 0: nothing */
    uint32_t latest;       /* of its streams: where work ended last; 0: none */
    uint32_t host_after;   /* thread, + 1, that last began a range, of those that launch work */
    uint32_t engine_after; /* a thread, + 1, of PyTorch's backward pass; 0: none */
    int32_t rank;
} process_state;

/* Something that ends while others begin. */
typedef struct pending {
    int64_t time;
    uint32_t calls; /* a thread's call that waits, after ends of work at the same time */
    uint32_t index;
    uint64_t order;
} pending;

typedef struct group { /* a collective, while it goes on */
    uint32_t slot;
    uint64_t number, left; /* left: kernels that have not ended */
} group;

typedef struct dependencies {
    rocl_dependencies pub; /* first */
    rocl_collector *c;
    rocl_collectives match;
    rocl_sorter *collective_kernels, *collective_members, *work_of_calls, *points;
    rocl_ids *calls;                   /* by worker and name of a call: bits of its record */
    size_t *processes_of, *threads_of; /* by capture: index of the first */
    rocl_strings *lane_keys;
    process_state *processes;
    thread *threads;
    size_t process_count, thread_count;
    lane *lanes;
    size_t lane_cap;
    work *works;
    size_t work_count, work_cap;
    rocl_map work_of; /* by number, for those that were launched and have not begun */
    uint32_t *free_works;
    size_t free_count, free_cap;
    own *owns;
    size_t own_count, own_cap;
    uint32_t *free_owns;
    size_t free_own_count, free_own_cap;
    pending *heap;
    size_t pending_count, pending_cap;
    group *groups;
    size_t group_cap;
    size_t group_count; /* that were ever going on at once */
    uint32_t *free_groups;
    size_t free_group_count, free_group_cap;
    rocl_map group_of; /* by number */
    uint64_t collective_count;
    rocl_ids parts; /* by kernel */
    bool begun;
} dependencies;

static dependencies *self_of(rocl_dependencies *d)
{
    return (dependencies *)d;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Kinds of points, in the order in which those of one time are taken. */
enum { RANGE, LAUNCHED, BEGINS };

/* Bits of a range's record. */
enum { IS_MARKER = 1, WAITS_FOR_EVENT = 2, IS_BACKWARD = 4, WAITS_SHIFT = 3 };

static bool find_call_bits(dependencies *d, unsigned worker, uint32_t name, uint32_t *bits)
{
    *bits = rocl_ids_get(&d->calls[worker], name);
    if (*bits != ROCL_NONE)
        return true;
    const char *call = rocl_str(d->c->trace, name);
    *bits = (uint32_t)rocl_call_waits_for(call) << WAITS_SHIFT |
            (fnmatch("*StreamWaitEvent*", call, 0) ? 0 : WAITS_FOR_EVENT) |
            (fnmatch("autograd::engine::evaluate_function*", call, 0) ? 0 : IS_BACKWARD);
    return rocl_ids_put(&d->calls[worker], name, *bits);
}

static uint64_t point_word(unsigned kind, uint32_t capture)
{
    return (uint64_t)kind << 32 | capture;
}

static rocl_status add_range(dependencies *d, unsigned worker, const rocl_batch *b,
                             const rocl_event *e, rocl_error *err)
{
    uint32_t bits = IS_MARKER;
    if (e->thread >= b->capture->thread_count)
        return ROCL_OK;
    if (b->kind == ROCL_REGION && !find_call_bits(d, worker, rocl_name_of(e), &bits))
        return rocl_fail_memory(err);
    /* Of ranges with one begin the longest first. */
    const uint64_t key[4] = {(uint64_t)e->start, point_word(RANGE, b->capture->index),
                             (uint64_t)(INT64_MAX - e->end), rocl_row_word(e->id, b->kind)};
    const uint64_t numbers[] = {rocl_name_of(e), bits, e->thread, e->process};
    return rocl_add_numbers(d->points, worker, key, numbers, 4, err);
}

/* With a number in each half; ROCL_NONE is 0. */
static uint64_t pack_pair(uint32_t a, uint32_t b)
{
    return (uint64_t)(a + 1) << 32 | (uint32_t)(b + 1);
}

static uint32_t agent_of_copy(const rocl_capture *c, const rocl_copy *y)
{
    const bool src = y->src < c->agent_count && c->agents[y->src].type == ROCL_AGENT_GPU;
    const bool dst = y->dst < c->agent_count && c->agents[y->dst].type == ROCL_AGENT_GPU;
    return src ? y->src : dst ? y->dst : ROCL_NONE;
}

static rocl_status add_gpu_work(dependencies *d, unsigned worker, const rocl_batch *b, size_t i,
                                rocl_error *err)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const bool copy = b->kind == ROCL_COPY;
    const rocl_dispatch *k = copy ? NULL : &b->dispatches[i];
    const rocl_copy *y = copy ? &b->copies[i] : NULL;
    const uint32_t stream = copy ? y->stream : k->stream, queue = copy ? y->queue : k->queue;
    const uint64_t key[4] = {rocl_process_word(b->capture, e), e->stack_id, (uint64_t)e->start,
                             rocl_row_word(e->id, b->kind)};
    const uint64_t numbers[] = {(uint64_t)(e->end - e->start), rocl_name_of(e),
                                pack_pair(stream < b->capture->stream_count ? stream : ROCL_NONE,
                                          queue < b->capture->queue_count ? queue : ROCL_NONE),
                                (uint32_t)((copy ? agent_of_copy(b->capture, y) : k->agent) + 1)};
    return rocl_add_numbers(d->work_of_calls, worker, key, numbers, 4, err);
}

rocl_status rocl_dependencies_add_batch(rocl_dependencies *self, unsigned worker,
                                        const rocl_batch *b, rocl_error *err)
{
    dependencies *d = self_of(self);
    const bool range = b->kind == ROCL_REGION || b->kind == ROCL_MARKER;
    rocl_status st = ROCL_OK;
    if (b->kind == ROCL_DISPATCH)
        st = rocl_collectives_add(&d->match, worker, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = range ? add_range(d, worker, b, rocl_batch_event(b, i), err)
                   : add_gpu_work(d, worker, b, i, err);
    return st;
}

/* ---- the calls of work ----------------------------------------------------------------------- */

/* Lanes count from 1 on: the id of no bytes is 0. 0: it is not known, or memory is out. */
static uint32_t find_lane(dependencies *d, bool queue, uint32_t capture, uint32_t index_after,
                          uint32_t agent_after)
{
    const lane_key key = {queue, capture, index_after, agent_after};
    if (!index_after)
        return 0;
    const size_t before = rocl_strings_count(d->lane_keys);
    const uint32_t id = rocl_strings_put(d->lane_keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE || !ROCL_GROW(d->lanes, d->lane_cap, (size_t)id + 1))
        return 0;
    if (id >= before)
        d->lanes[id] = (lane){.launched = -1};
    return id;
}

static rocl_status add_launch(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                              rocl_error *err)
{
    dependencies *d = ctx;
    const uint32_t index = (uint32_t)(question->key[0] >> 32);
    const rocl_capture *c = &d->c->trace->captures[index]->pub;
    const uint32_t process = (uint32_t)question->key[0];
    const int64_t start = (int64_t)question->key[2];
    const uint64_t number = ++d->pub.work;
    uint64_t v[4]; /* duration, name, stream and queue, agent */
    rocl_read_numbers(question, v, 4);
    const uint32_t agent = (uint32_t)v[3];
    const uint32_t stream = find_lane(d, false, index, (uint32_t)(v[2] >> 32), agent);
    const uint32_t queue = find_lane(d, true, index, (uint32_t)v[2], agent);
    if ((!stream && v[2] >> 32) || (!queue && (uint32_t)v[2]))
        return rocl_fail_memory(err);
    const bool linked = call && call->thread < c->thread_count && call->start <= start;
    rocl_status st = ROCL_OK;
    d->pub.unlinked += !linked;
    if (linked) {
        const uint64_t key[4] = {(uint64_t)call->start, point_word(LAUNCHED, index), 0, number};
        const uint64_t numbers[] = {(uint64_t)(call->end - call->start), call->name, call->thread,
                                    stream};
        st = rocl_add_numbers(d->points, 0, key, numbers, 4, err);
    }
    if (st != ROCL_OK)
        return st;
    const bool copy = rocl_word_kind(question->key[3]) == ROCL_COPY;
    const uint64_t key[4] = {(uint64_t)start, point_word(BEGINS, index), question->key[3], number};
    const uint64_t numbers[] = {v[0], (uint64_t)v[1] << 2 | (uint64_t)copy << 1 | linked,
                                (uint64_t)stream << 32 | queue, process};
    return rocl_add_numbers(d->points, 0, key, numbers, 4, err);
}

rocl_status rocl_dependencies_look_up_calls(rocl_dependencies *self, rocl_calls *calls,
                                            rocl_error *err)
{
    dependencies *d = self_of(self);
    return rocl_calls_look_up(calls, d->work_of_calls, add_launch, d, err);
}

/* A record before that of the begin of each of its kernels says that they are of one collective. */
static rocl_status add_collective(void *ctx, const rocl_collective *k, rocl_error *err)
{
    dependencies *d = ctx;
    rocl_status st = ROCL_OK;
    if (!rocl_collective_is_whole(k) || k->count < 2)
        return ROCL_OK;
    for (uint32_t i = 0; i < k->count && st == ROCL_OK; i++) {
        const rocl_collective_member *m = &k->members[i];
        const uint64_t key[4] = {(uint64_t)m->start, point_word(BEGINS, m->capture),
                                 rocl_row_word(m->row, ROCL_DISPATCH), 0};
        const uint64_t numbers[] = {d->collective_count, k->count};
        st = rocl_add_numbers(d->points, 0, key, numbers, 2, err);
    }
    d->collective_count++;
    return st;
}

/* ---- what goes on ---------------------------------------------------------------------------- */

static uint32_t find_what(dependencies *d, rocl_time_class class, rocl_time_detail detail,
                          uint32_t name, uint32_t process, rocl_status *st, rocl_error *err)
{
    const rocl_time_key key = {class, detail, name,
                               d->c->options->by_rank ? d->processes[process].rank : -1};
    const uint32_t id = rocl_strings_put(d->pub.keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE || id >> 31)
        *st = rocl_fail_memory(err);
    return id;
}

/* What has come so far waits for another; the first time it is a copy. */
static bool gather(dependencies *d, uint32_t *slot, uint32_t from)
{
    if (*slot)
        return rocl_path_wait(d->pub.path, *slot, from);
    *slot = rocl_path_new_slot(d->pub.path);
    rocl_path_copy(d->pub.path, *slot, from);
    return true;
}

static void release(dependencies *d, uint32_t *slot)
{
    rocl_path_free_slot(d->pub.path, *slot);
    *slot = 0;
}

static bool ends_sooner(const pending *a, const pending *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->calls != b->calls ? a->calls < b->calls : a->order < b->order;
}

static rocl_status push(dependencies *d, pending x, rocl_error *err)
{
    if (!ROCL_GROW(d->heap, d->pending_cap, d->pending_count + 1))
        return rocl_fail_memory(err);
    size_t at = d->pending_count++;
    for (size_t up; at && ends_sooner(&x, &d->heap[up = (at - 1) / 2]); at = up)
        d->heap[at] = d->heap[up];
    d->heap[at] = x;
    return ROCL_OK;
}

static pending pop(dependencies *d)
{
    const pending first = d->heap[0], x = d->heap[--d->pending_count];
    size_t at = 0;
    for (size_t down; (down = 2 * at + 1) < d->pending_count; at = down) {
        if (down + 1 < d->pending_count && ends_sooner(&d->heap[down + 1], &d->heap[down]))
            down++;
        if (!ends_sooner(&d->heap[down], &x))
            break;
        d->heap[at] = d->heap[down];
    }
    d->heap[at] = x;
    return first;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void leave_own(dependencies *d, uint32_t own_after, rocl_status *st, rocl_error *err)
{
    own *o = own_after ? &d->owns[own_after - 1] : NULL;
    if (!o || --o->users)
        return;
    release(d, &o->slot);
    if (ROCL_GROW(d->free_owns, d->free_own_cap, d->free_own_count + 1))
        d->free_owns[d->free_own_count++] = own_after - 1;
    else
        *st = rocl_fail_memory(err);
}

/* The stream that a call waited for, where its name only says that it was one: of those where work
 * ended in the call the latest, unless more was launched into it before the call and goes on. */
static uint32_t find_awaited(const dependencies *d, const frame *f, const process_state *of)
{
    bool any = false;
    for (uint32_t i = of->latest; i; i = d->lanes[i].ended_before) {
        const lane *l = &d->lanes[i];
        if (rocl_path_time(d->pub.path, l->slot) <= f->start)
            break;
        any = true;
        if (!l->oldest || d->works[l->oldest - 1].launched >= f->start)
            return l->slot;
    }
    return any ? 0 : of->slot;
}

/* Its end, where the thread is: waited it for work? */
static void return_from_call(dependencies *d, thread *t, const frame *f, rocl_status *st,
                             rocl_error *err)
{
    const process_state *of = &d->processes[t->process];
    const uint32_t own_slot = f->own_after ? d->owns[f->own_after - 1].slot : 0;
    const uint32_t awaited = own_slot                            ? own_slot
                             : f->waits == ROCL_WAITS_FOR_STREAM ? find_awaited(d, f, of)
                                                                 : of->slot;
    if (!awaited)
        return;
    if (rocl_path_time(d->pub.path, awaited) > f->start) {
        t->takes_part = true;
        rocl_path_copy(d->pub.path, t->slot, f->begun);
        rocl_path_wait(d->pub.path, t->slot, awaited);
        rocl_time_key k;
        memcpy(&k, rocl_strings_get(d->pub.keys, f->what, NULL), sizeof k);
        rocl_path_step(d->pub.path, t->slot, f->end,
                       find_what(d, ROCL_TIME_RETURN, ROCL_TIME_NAMED, k.name, t->process, st, err),
                       false);
    } else { /* it had nothing to wait for, but could have */
        rocl_path_wait(d->pub.path, t->slot, awaited);
    }
}

static rocl_status end_ranges(dependencies *d, thread *t, int64_t until, rocl_error *err);

/* Goes on when the threads that work for it are done. */
static rocl_status resume(dependencies *d, thread *t, int64_t until, rocl_error *err)
{
    const uint32_t self_after = (uint32_t)(t - d->threads) + 1;
    rocl_status st = ROCL_OK;
    for (uint32_t i = d->processes[t->process].engine_after; i && st == ROCL_OK;
         i = d->threads[i - 1].next_engine) {
        thread *u = &d->threads[i - 1];
        if (u->caller_after != self_after)
            continue;
        st = end_ranges(d, u, until, err);
        if (!u->depth)
            rocl_path_wait(d->pub.path, t->slot, u->slot);
    }
    return st;
}

/* Ends what ends up to a time. */
static rocl_status end_ranges(dependencies *d, thread *t, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && t->depth && t->open[t->depth - 1].end <= until) {
        frame *f = &t->open[t->depth - 1];
        if (!t->caller_after)
            st = resume(d, t, f->end, err);
        t->depth--;
        rocl_path_step(d->pub.path, t->slot, f->end, f->what, true);
        t->last = f->end > t->last ? f->end : t->last;
        /* One that crosses others may be met late. */
        if (f->waits && rocl_path_time(d->pub.path, t->slot) == f->end)
            return_from_call(d, t, f, &st, err);
        release(d, &f->begun);
        leave_own(d, f->own_after, &st, err);
    }
    return st;
}

/* Ends what ends up to a time, and goes on up to it. */
static rocl_status follow_thread(dependencies *d, thread *t, int64_t until, rocl_error *err)
{
    rocl_status st = end_ranges(d, t, until, err);
    if (until == INT64_MAX || st != ROCL_OK)
        return st;
    if (!t->caller_after)
        st = resume(d, t, until, err);
    if (t->depth)
        rocl_path_step(d->pub.path, t->slot, until, t->open[t->depth - 1].what, true);
    else
        rocl_path_step(d->pub.path, t->slot, until, t->outside, false);
    return st;
}

/* The backward pass begins, or goes on after another thread has done something: that one called. */
static rocl_status call_engine(dependencies *d, thread *t, int64_t now, rocl_error *err)
{
    process_state *of = &d->processes[t->process];
    const uint32_t self_after = (uint32_t)(t - d->threads) + 1, host_after = of->host_after;
    if (!host_after || host_after == self_after)
        return ROCL_OK;
    thread *host = &d->threads[host_after - 1];
    if (!t->caller_after) {
        t->next_engine = of->engine_after;
        of->engine_after = self_after;
    }
    t->caller_after = host_after;
    rocl_status st = end_ranges(d, t, now, err);
    if (st == ROCL_OK && !t->depth)
        st = end_ranges(d, host, now, err);
    if (st != ROCL_OK || t->depth || host->last < t->last)
        return st;
    st = follow_thread(d, host, now, err);
    rocl_path_wait(d->pub.path, t->slot, host->slot);
    return st;
}

static rocl_status begin_thread(dependencies *d, thread *t, uint32_t process, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    t->seen = true;
    t->process = process;
    t->event_waited = t->last = -1;
    t->outside = find_what(d, ROCL_TIME_OUTSIDE, ROCL_TIME_NO_RANGE, 0, process, &st, err);
    gather(d, &t->slot, 0);
    return st;
}

/* A thread that launches work has done something. */
static void note_host(dependencies *d, const thread *t)
{
    if (t->takes_part && !t->caller_after)
        d->processes[t->process].host_after = (uint32_t)(t - d->threads) + 1;
}

static rocl_status begin_range(dependencies *d, const rocl_sort_record *rec, int64_t now,
                               rocl_error *err)
{
    const uint32_t capture = (uint32_t)rec->key[1];
    uint64_t v[4]; /* name, bits, thread, process */
    rocl_read_numbers(rec, v, 4);
    const size_t index = d->threads_of[capture] + v[2];
    const uint32_t of = (uint32_t)(d->processes_of[capture] + v[3]);
    thread *t = &d->threads[index];
    const uint32_t bits = (uint32_t)v[1];
    const bool first = !t->seen;
    rocl_status st = first ? begin_thread(d, t, of, err) : ROCL_OK;
    if (st == ROCL_OK && (bits & IS_BACKWARD))
        st = call_engine(d, t, now, err);
    if (first)
        rocl_path_step(d->pub.path, t->slot, now,
                       find_what(d, ROCL_TIME_UNEXPLAINED, ROCL_TIME_NO_BEGIN, 0, of, &st, err),
                       false);
    if (st == ROCL_OK)
        st = follow_thread(d, t, now, err);
    t->last = now;
    note_host(d, t);
    if (st == ROCL_OK && !ROCL_GROW(t->open, t->cap, t->depth + 1))
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    frame f = {.start = now,
               .end = INT64_MAX - (int64_t)rec->key[2] - d->pub.origin,
               .waits = (rocl_waits_for)(bits >> WAITS_SHIFT)};
    f.what = find_what(d, bits & IS_MARKER ? ROCL_TIME_OUTSIDE : ROCL_TIME_HOST, ROCL_TIME_NAMED,
                       (uint32_t)v[0], of, &st, err);
    if (bits & WAITS_FOR_EVENT)
        t->event_waited = now;
    if (f.waits) {
        gather(d, &f.begun, t->slot);
        if (st == ROCL_OK)
            st = push(d, (pending){f.end, true, (uint32_t)index, index}, err);
    }
    t->open[t->depth++] = f;
    return st;
}

/* ---- work ------------------------------------------------------------------------------------ */

static uint32_t new_work(dependencies *d, uint64_t number)
{
    uint32_t i = d->free_count ? d->free_works[--d->free_count] : (uint32_t)d->work_count;
    if (i == d->work_count) {
        if (d->work_count >= UINT32_MAX - 1 || !ROCL_GROW(d->works, d->work_cap, d->work_count + 1))
            return ROCL_NONE;
        d->work_count++;
    }
    d->works[i] = (work){.number = number};
    return i;
}

/* A collective that goes on, + 1, made when it begins; 0: memory is out. */
static uint32_t find_group(dependencies *d, uint64_t number, uint64_t count)
{
    uint32_t i = rocl_map_get(&d->group_of, number, ROCL_NONE);
    if (i != ROCL_NONE)
        return i + 1;
    i = d->free_group_count ? d->free_groups[--d->free_group_count] : (uint32_t)d->group_count;
    if (i == d->group_count) {
        if (d->group_count >= UINT32_MAX - 1 ||
            !ROCL_GROW(d->groups, d->group_cap, d->group_count + 1))
            return 0;
        d->group_count++;
    }
    d->groups[i] = (group){.number = number, .left = count};
    return rocl_map_put(&d->group_of, number, i) ? i + 1 : 0;
}

/* One of its kernels has ended. False: memory is out. */
static bool leave_group(dependencies *d, uint32_t group_after)
{
    group *g = &d->groups[group_after - 1];
    if (--g->left)
        return true;
    release(d, &g->slot);
    rocl_map_del(&d->group_of, g->number);
    if (!ROCL_GROW(d->free_groups, d->free_group_cap, d->free_group_count + 1))
        return false;
    d->free_groups[d->free_group_count++] = group_after - 1;
    return true;
}

/* It has not ended from here on, on its stream. */
static void list_work(dependencies *d, uint32_t index)
{
    work *w = &d->works[index];
    lane *l = w->lanes[STREAM] ? &d->lanes[w->lanes[STREAM]] : NULL;
    if (!l)
        return;
    w->older = l->newest;
    if (w->older)
        d->works[w->older - 1].newer = index + 1;
    else
        l->oldest = index + 1;
    l->newest = index + 1;
}

static void unlist_work(dependencies *d, const work *w)
{
    lane *l = w->lanes[STREAM] ? &d->lanes[w->lanes[STREAM]] : NULL;
    if (!l)
        return;
    *(w->older ? &d->works[w->older - 1].newer : &l->oldest) = w->newer;
    *(w->newer ? &d->works[w->newer - 1].older : &l->newest) = w->older;
}

/* Its call waits for it: what ends is kept until the call does. */
static bool join_call(dependencies *d, work *w, thread *t, int64_t call_end)
{
    frame *f = NULL;
    for (size_t i = t->depth; i-- && !f && t->open[i].start == w->launched;)
        f = t->open[i].end == call_end ? &t->open[i] : NULL;
    if (!f || f->waits != ROCL_WAITS_FOR_COPY)
        return true;
    if (!f->own_after) {
        uint32_t i = d->free_own_count ? d->free_owns[--d->free_own_count] : (uint32_t)d->own_count;
        if (i == d->own_count) {
            if (!ROCL_GROW(d->owns, d->own_cap, d->own_count + 1))
                return false;
            d->own_count++;
        }
        d->owns[i] = (own){.users = 1};
        f->own_after = i + 1;
    }
    d->owns[f->own_after - 1].users++;
    w->own_after = f->own_after;
    return true;
}

static rocl_status launch_work(dependencies *d, const rocl_sort_record *rec, int64_t now,
                               rocl_error *err)
{
    const uint32_t capture = (uint32_t)rec->key[1];
    uint64_t v[4]; /* duration of the call, its name, thread, stream */
    rocl_read_numbers(rec, v, 4);
    thread *t = &d->threads[d->threads_of[capture] + v[2]];
    rocl_status st = follow_thread(d, t, now, err);
    const uint32_t index = new_work(d, rec->key[3]);
    if (st != ROCL_OK)
        return st;
    if (index == ROCL_NONE || !rocl_map_put(&d->work_of, rec->key[3], index))
        return rocl_fail_memory(err);
    work *w = &d->works[index];
    t->takes_part = true;
    note_host(d, t);
    w->launched = now;
    w->call = (uint32_t)v[1];
    w->call_end = now + (int64_t)v[0];
    w->lanes[STREAM] = (uint32_t)v[3];
    gather(d, &w->slot, t->slot);
    if (w->lanes[STREAM]) {
        lane *l = &d->lanes[w->lanes[STREAM]];
        w->waits_for_event = t->event_waited >= 0 && t->event_waited >= l->launched;
        l->launched = now;
    }
    list_work(d, index);
    return join_call(d, w, t, w->call_end) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status find_work_class(dependencies *d, bool copy, uint32_t name,
                                   rocl_time_class *class, rocl_error *err)
{
    rocl_part part = ROCL_PART_COPY;
    if (!copy && !rocl_find_part(d->c->trace, &d->parts, name, &part))
        return rocl_fail_memory(err);
    *class = part == ROCL_PART_COPY            ? ROCL_TIME_COPY
             : part == ROCL_PART_COMMUNICATION ? ROCL_TIME_COMMUNICATION
                                               : ROCL_TIME_KERNEL;
    return ROCL_OK;
}

/* What it waited for from its launch, or from the end of other work, until it began. */
static void delay_work(dependencies *d, work *w, bool linked, uint32_t name, int64_t now,
                       rocl_status *st, rocl_error *err)
{
    const process_state *of = &d->processes[w->process];
    bool led = false;
    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t slot = w->lanes[i] ? d->lanes[w->lanes[i]].slot : 0;
        if (slot)
            led |= rocl_path_wait(d->pub.path, w->slot, slot);
    }
    if (of->slot && (!linked || w->waits_for_event))
        led |= rocl_path_wait(d->pub.path, w->slot, of->slot);
    if (!linked) {
        rocl_path_step(
            d->pub.path, w->slot, now,
            find_what(d, ROCL_TIME_UNEXPLAINED, ROCL_TIME_NO_CALL, 0, w->process, st, err), false);
    } else if (led) {
        rocl_path_step(d->pub.path, w->slot, now,
                       find_what(d, ROCL_TIME_QUEUE, ROCL_TIME_NAMED, name, w->process, st, err),
                       false);
    } else {
        const uint32_t what =
            find_what(d, ROCL_TIME_LAUNCH, ROCL_TIME_NAMED, w->call, w->process, st, err);
        rocl_path_step(d->pub.path, w->slot, w->call_end < now ? w->call_end : now, what, true);
        rocl_path_step(d->pub.path, w->slot, now, what, false);
    }
}

static rocl_status begin_work(dependencies *d, const rocl_sort_record *rec, int64_t now,
                              uint32_t collective_after, rocl_error *err)
{
    const uint32_t capture = (uint32_t)rec->key[1];
    const uint64_t number = rec->key[3];
    uint64_t v[4]; /* duration; name, is it a copy, is its call known; lanes; process */
    rocl_read_numbers(rec, v, 4);
    const bool linked = v[1] & 1;
    const uint32_t name = (uint32_t)(v[1] >> 2);
    uint32_t index = linked ? rocl_map_get(&d->work_of, number, ROCL_NONE) : new_work(d, number);
    if (index == ROCL_NONE)
        return rocl_fail_memory(err);
    work *w = &d->works[index];
    if (linked)
        rocl_map_del(&d->work_of, number);
    w->process = (uint32_t)(d->processes_of[capture] + v[3]);
    w->lanes[STREAM] = (uint32_t)(v[2] >> 32);
    w->lanes[HARDWARE_QUEUE] = (uint32_t)v[2];
    w->collective_after = collective_after;
    w->end = now + (int64_t)v[0];
    if (!linked) {
        w->launched = now;
        gather(d, &w->slot, 0);
        list_work(d, index);
    }
    rocl_time_class class = ROCL_TIME_KERNEL;
    rocl_status st = find_work_class(d, v[1] >> 1 & 1, name, &class, err);
    delay_work(d, w, linked, name, now, &st, err);
    w->what = find_what(d, class, ROCL_TIME_NAMED, name, w->process, &st, err);
    if (collective_after)
        gather(d, &d->groups[collective_after - 1].slot, w->slot);
    return st == ROCL_OK ? push(d, (pending){w->end, false, index, number}, err) : st;
}

/* Its stream was the last on which something ended. */
static void note_end(dependencies *d, uint32_t stream, process_state *of)
{
    lane *l = &d->lanes[stream];
    if (of->latest == stream)
        return;
    if (l->listed) {
        d->lanes[l->after].ended_before = l->ended_before;
        if (l->ended_before)
            d->lanes[l->ended_before].after = l->after;
    }
    l->listed = true;
    l->after = 0;
    l->ended_before = of->latest;
    if (of->latest)
        d->lanes[of->latest].after = stream;
    of->latest = stream;
}

static rocl_status end_work(dependencies *d, uint32_t index, rocl_error *err)
{
    work *w = &d->works[index];
    process_state *of = &d->processes[w->process];
    rocl_status st = ROCL_OK;
    if (w->collective_after) {
        rocl_path_wait(d->pub.path, w->slot, d->groups[w->collective_after - 1].slot);
        if (!leave_group(d, w->collective_after))
            return rocl_fail_memory(err);
    }
    rocl_path_step(d->pub.path, w->slot, w->end, w->what, true);
    for (unsigned i = 0; i < LANES; i++)
        if (w->lanes[i])
            gather(d, &d->lanes[w->lanes[i]].slot, w->slot);
    gather(d, &of->slot, w->slot);
    if (w->lanes[STREAM])
        note_end(d, w->lanes[STREAM], of);
    if (w->own_after)
        gather(d, &d->owns[w->own_after - 1].slot, w->slot);
    leave_own(d, w->own_after, &st, err);
    unlist_work(d, w);
    release(d, &w->slot);
    if (!ROCL_GROW(d->free_works, d->free_cap, d->free_count + 1))
        return rocl_fail_memory(err);
    d->free_works[d->free_count++] = index;
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Ends work, and returns from calls, up to a time. */
static rocl_status end_pending(dependencies *d, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (d->pending_count && d->heap[0].time <= until && st == ROCL_OK) {
        const pending x = pop(d);
        thread *t = x.calls ? &d->threads[x.index] : NULL;
        st = t ? follow_thread(d, t, x.time, err) : end_work(d, x.index, err);
    }
    return st;
}

/* Where processes and threads of each capture are among all. */
static rocl_status count_all(dependencies *d, rocl_error *err)
{
    const rocl_trace *t = d->c->trace;
    d->processes_of = calloc(t->capture_count + 1, sizeof *d->processes_of);
    d->threads_of = calloc(t->capture_count + 1, sizeof *d->threads_of);
    if (!d->processes_of || !d->threads_of)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count; i++) {
        d->processes_of[i + 1] = d->processes_of[i] + t->captures[i]->pub.process_count;
        d->threads_of[i + 1] = d->threads_of[i] + t->captures[i]->pub.thread_count;
    }
    d->process_count = d->processes_of[t->capture_count];
    d->thread_count = d->threads_of[t->capture_count];
    d->processes = calloc(d->process_count + 1, sizeof *d->processes);
    d->threads = calloc(d->thread_count + 1, sizeof *d->threads);
    if (!d->processes || !d->threads)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.process_count; k++)
            d->processes[d->processes_of[i] + k].rank = t->captures[i]->pub.processes[k].rank;
    return ROCL_OK;
}

/* Where the path ends: where the last work does, or the last thread that had to do with any. Others
 * may go on for long, asking every 100 ms whether there is anything to do. Of what ends at one time
 * the host. */
static rocl_status find_end(dependencies *d, rocl_error *err)
{
    rocl_status st = end_pending(d, INT64_MAX, err);
    bool any = d->pub.work > 0;
    for (size_t i = 0; i < d->thread_count && st == ROCL_OK; i++)
        if (d->threads[i].seen)
            st = follow_thread(d, &d->threads[i], INT64_MAX, err);
    for (size_t i = 0; i < d->thread_count; i++)
        any |= d->threads[i].takes_part;
    gather(d, &d->pub.end, 0);
    for (size_t i = 0; i < d->thread_count; i++)
        if (d->threads[i].seen && (d->threads[i].takes_part || !any))
            rocl_path_wait(d->pub.path, d->pub.end, d->threads[i].slot);
    for (size_t i = 0; i < d->process_count; i++)
        if (d->processes[i].slot)
            rocl_path_wait(d->pub.path, d->pub.end, d->processes[i].slot);
    return st;
}

static rocl_status sweep(dependencies *d, rocl_error *err)
{
    rocl_sort_record rec;
    uint32_t collective_after = 0;
    rocl_status st = rocl_sorter_start(d->points, err);
    while (rocl_next_record(d->points, &rec, &st, err)) {
        if (!d->begun)
            d->pub.origin = (int64_t)rec.key[0];
        d->begun = true;
        const int64_t now = (int64_t)rec.key[0] - d->pub.origin;
        const unsigned kind = (unsigned)(rec.key[1] >> 32);
        st = end_pending(d, now, err);
        if (st != ROCL_OK)
            break;
        if (kind == RANGE) {
            st = begin_range(d, &rec, now, err);
        } else if (kind == LAUNCHED) {
            st = launch_work(d, &rec, now, err);
        } else if (!rec.key[3]) {
            uint64_t v[2];
            rocl_read_numbers(&rec, v, 2);
            collective_after = find_group(d, v[0], v[1]);
            st = collective_after ? ROCL_OK : rocl_fail_memory(err);
        } else {
            st = begin_work(d, &rec, now, collective_after, err);
            collective_after = 0;
        }
    }
    if (st == ROCL_OK)
        st = find_end(d, err);
    return st == ROCL_OK ? rocl_path_close(d->pub.path, err) : st;
}

/* ---- begin and end --------------------------------------------------------------------------- */

rocl_status rocl_dependencies_open(rocl_dependencies **out, rocl_collector *c, rocl_error *err)
{
    dependencies *d = calloc(1, sizeof *d);
    if (!d)
        return rocl_fail_memory(err);
    *out = &d->pub;
    d->c = c;
    d->collective_kernels = rocl_collector_sorter(c, 4);
    d->collective_members = rocl_collector_sorter(c, 4);
    d->work_of_calls = rocl_collector_sorter(c, 4);
    d->points = rocl_collector_sorter(c, 4);
    d->calls = calloc(c->trace->opt.jobs, sizeof *d->calls);
    d->pub.keys = rocl_strings_new();
    d->lane_keys = rocl_strings_new();
    d->pub.path = rocl_path_new(c->trace->space);
    if (!d->collective_kernels || !d->collective_members || !d->work_of_calls || !d->points ||
        !d->calls || !d->pub.keys || !d->lane_keys || !d->pub.path)
        return rocl_fail_memory(err);
    return rocl_collectives_open(&d->match, c->trace, d->collective_kernels, d->collective_members,
                                 err);
}

rocl_status rocl_dependencies_follow(rocl_dependencies *self, rocl_error *err)
{
    dependencies *d = self_of(self);
    rocl_collector_free_sorter(d->c, &d->work_of_calls);
    rocl_status st = rocl_collectives_match(&d->match, add_collective, d, err);
    rocl_collector_free_sorter(d->c, &d->collective_kernels);
    rocl_collector_free_sorter(d->c, &d->collective_members);
    if (st == ROCL_OK)
        st = count_all(d, err);
    if (st == ROCL_OK)
        st = sweep(d, err);
    rocl_collector_free_sorter(d->c, &d->points);
    return st;
}

void rocl_dependencies_close(rocl_dependencies *self)
{
    dependencies *d = self_of(self);
    if (!d)
        return;
    for (unsigned w = 0; d->calls && w < d->c->trace->opt.jobs; w++)
        rocl_ids_free(&d->calls[w]);
    for (size_t i = 0; d->threads && i < d->thread_count; i++)
        free(d->threads[i].open);
    if (d->match.trace)
        rocl_collectives_close(&d->match);
    rocl_path_free(d->pub.path);
    rocl_strings_free(d->pub.keys);
    rocl_strings_free(d->lane_keys);
    rocl_map_free(&d->work_of);
    rocl_ids_free(&d->parts);
    free(d->calls);
    free(d->processes_of);
    free(d->threads_of);
    free(d->processes);
    free(d->threads);
    free(d->lanes);
    free(d->works);
    free(d->free_works);
    free(d->owns);
    free(d->free_owns);
    free(d->heap);
    free(d->groups);
    free(d->free_groups);
    rocl_map_free(&d->group_of);
    free(d);
}

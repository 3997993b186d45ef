/* The critical path: what the end of a trace waited for, what that waited for, and so on back to
 * its begin. Every instant of the time between is on it once: in a host call, in a launch, in GPU
 * work, in what delayed it.
 *
 *     work     GPU work by process and stack id: looks up the calls that launched it
 *     points   ranges by begin, launches and begins of work, in the order of time; a sweep follows
 *              them with a slot (path.h) for each thread, stream, queue and process, and for each
 *              piece of work from its launch to its end
 *
 * What depends on what:
 *
 *     thread        one thing after the other; a range's own time is that without ranges inside it
 *     begin of work on its launch (the begin of the call), and on all that ended before on its
 *                   stream and its queue; after hipStreamWaitEvent on all that ended before in the
 *                   process; without a launch in the trace on the same
 *     end of work   on its begin; of a collective on the last begin of its kernels on all ranks
 *     end of a call that waits (calls.h): on the work that it waits for, if it ended in the call
 *     backward pass of PyTorch, on threads of its own: on the thread that launched work before; and
 *                   what that thread does next, on the backward pass
 *
 * In memory are what goes on at a time, sums by name, and the path's operations (path.h). */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/parts.h"
#include "analysis/path.h"
#include "analysis/slices.h"
#include "base/map.h"
#include "model/collectives.h"

enum { LONGEST = 20, WHAT_IFS = 10, DATA_SLICES = 1000 };

typedef enum class_of_time {
    HOST,
    OUTSIDE,
    LAUNCH,
    KERNEL,
    COMMUNICATION,
    COPY,
    QUEUE,
    SYNC,
    UNEXPLAINED,
    CLASSES
} class_of_time;

static const char *const class_names[CLASSES] = {
    [HOST] = "host calls",
    [OUTSIDE] = "host outside of calls",
    [LAUNCH] = "launch",
    [KERNEL] = "kernels",
    [COMMUNICATION] = "communication",
    [COPY] = "copies",
    [QUEUE] = "behind other work",
    [SYNC] = "return from waiting",
    [UNEXPLAINED] = "not explained",
};

/* What has no name of its own. */
typedef enum detail { NAMED, NO_RANGE, NO_CALL, NO_BEGIN } detail;

static const char *const detail_names[] = {
    [NO_RANGE] = "(no range is open)",
    [NO_CALL] = "(before work without a call)",
    [NO_BEGIN] = "(before the thread's first range)",
};

/* What a time on the path is of; interned as bytes, so without holes. Its id is a step's `what`. */
typedef struct time_key {
    uint32_t class, detail;
    uint32_t name; /* text */
    int32_t rank;  /* -1: unknown, or not wanted */
} time_key;

typedef struct time_sum {
    time_key key;
    uint64_t count;
    int64_t ns;
    double percent;
} time_sum;

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

typedef struct stretch {
    int64_t start, ns;
    time_key key;
} stretch;

typedef struct what_if_row {
    uint32_t name, class; /* text; of CLASSES, or none: several */
    double factor;
    int64_t on_path, saved, wall;
    double saved_percent;
    uint64_t names; /* that changed */
} what_if_row;

typedef struct critical_path {
    rocl_collector c;
    rocl_collectives match;
    rocl_sorter *collective_kernels, *collective_members, *work_of_calls, *points;
    rocl_ids *calls;                   /* by worker and name of a call: bits of its record */
    size_t *processes_of, *threads_of; /* by capture: index of the first */
    rocl_strings *keys, *lane_keys;
    rocl_path *path;
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
    uint64_t numbers;
    int64_t origin;
    bool begun;
    uint32_t final; /* slot */
    /* What the path is made of: */
    time_sum *sums;
    size_t sum_count;
    rocl_slices slices;
    int64_t (*slice_sums)[CLASSES];
    stretch longest[LONGEST];
    unsigned longest_count;
    uint64_t unlinked, work_total;
} critical_path;

/* ---- events ---------------------------------------------------------------------------------- */

/* Kinds of points, in the order in which those of one time are taken. */
enum { RANGE, LAUNCHED, BEGINS };

/* Bits of a range's record. */
enum { IS_MARKER = 1, WAITS_FOR_EVENT = 2, IS_BACKWARD = 4, WAITS_SHIFT = 3 };

static bool find_call_bits(critical_path *p, unsigned worker, uint32_t name, uint32_t *bits)
{
    *bits = rocl_ids_get(&p->calls[worker], name);
    if (*bits != ROCL_NONE)
        return true;
    const char *call = rocl_str(p->c.trace, name);
    *bits = (uint32_t)rocl_call_waits_for(call) << WAITS_SHIFT |
            (fnmatch("*StreamWaitEvent*", call, 0) ? 0 : WAITS_FOR_EVENT) |
            (fnmatch("autograd::engine::evaluate_function*", call, 0) ? 0 : IS_BACKWARD);
    return rocl_ids_put(&p->calls[worker], name, *bits);
}

static uint64_t point_word(unsigned kind, uint32_t capture)
{
    return (uint64_t)kind << 32 | capture;
}

static rocl_status add_range(critical_path *p, unsigned worker, const rocl_batch *b,
                             const rocl_event *e, rocl_error *err)
{
    uint32_t bits = IS_MARKER;
    if (e->thread >= b->capture->thread_count)
        return ROCL_OK;
    if (b->kind == ROCL_REGION && !find_call_bits(p, worker, rocl_name_of(e), &bits))
        return rocl_fail_memory(err);
    /* Of ranges with one begin the longest first. */
    const uint64_t key[4] = {(uint64_t)e->start, point_word(RANGE, b->capture->index),
                             (uint64_t)(INT64_MAX - e->end), rocl_row_word(e->id, b->kind)};
    const uint64_t numbers[] = {rocl_name_of(e), bits, e->thread, e->process};
    return rocl_add_numbers(p->points, worker, key, numbers, 4, err);
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

static rocl_status add_gpu_work(critical_path *p, unsigned worker, const rocl_batch *b, size_t i,
                                rocl_error *err)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const bool copy = b->kind == ROCL_COPY;
    const rocl_dispatch *d = copy ? NULL : &b->dispatches[i];
    const rocl_copy *y = copy ? &b->copies[i] : NULL;
    const uint32_t stream = copy ? y->stream : d->stream, queue = copy ? y->queue : d->queue;
    const uint64_t key[4] = {rocl_process_word(b->capture, e), e->stack_id, (uint64_t)e->start,
                             rocl_row_word(e->id, b->kind)};
    const uint64_t numbers[] = {(uint64_t)(e->end - e->start), rocl_name_of(e),
                                pack_pair(stream < b->capture->stream_count ? stream : ROCL_NONE,
                                          queue < b->capture->queue_count ? queue : ROCL_NONE),
                                (uint32_t)((copy ? agent_of_copy(b->capture, y) : d->agent) + 1)};
    return rocl_add_numbers(p->work_of_calls, worker, key, numbers, 4, err);
}

static rocl_status add_path_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    critical_path *p = self;
    const bool range = b->kind == ROCL_REGION || b->kind == ROCL_MARKER;
    rocl_status st = ROCL_OK;
    if (b->kind == ROCL_DISPATCH)
        st = rocl_collectives_add(&p->match, worker, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = range ? add_range(p, worker, b, rocl_batch_event(b, i), err)
                   : add_gpu_work(p, worker, b, i, err);
    return st;
}

/* ---- the calls of work ----------------------------------------------------------------------- */

/* Lanes count from 1 on: the id of no bytes is 0. 0: it is not known, or memory is out. */
static uint32_t find_lane(critical_path *p, bool queue, uint32_t capture, uint32_t index_after,
                          uint32_t agent_after)
{
    const lane_key key = {queue, capture, index_after, agent_after};
    if (!index_after)
        return 0;
    const size_t before = rocl_strings_count(p->lane_keys);
    const uint32_t id = rocl_strings_put(p->lane_keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE || !ROCL_GROW(p->lanes, p->lane_cap, (size_t)id + 1))
        return 0;
    if (id >= before)
        p->lanes[id] = (lane){.launched = -1};
    return id;
}

static rocl_status add_launch(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                              rocl_error *err)
{
    critical_path *p = ctx;
    const uint32_t index = (uint32_t)(question->key[0] >> 32);
    const rocl_capture *c = &p->c.trace->captures[index]->pub;
    const uint32_t process = (uint32_t)question->key[0];
    const int64_t start = (int64_t)question->key[2];
    const uint64_t number = ++p->numbers;
    uint64_t v[4]; /* duration, name, stream and queue, agent */
    rocl_read_numbers(question, v, 4);
    const uint32_t agent = (uint32_t)v[3];
    const uint32_t stream = find_lane(p, false, index, (uint32_t)(v[2] >> 32), agent);
    const uint32_t queue = find_lane(p, true, index, (uint32_t)v[2], agent);
    if ((!stream && v[2] >> 32) || (!queue && (uint32_t)v[2]))
        return rocl_fail_memory(err);
    const bool linked = call && call->thread < c->thread_count && call->start <= start;
    rocl_status st = ROCL_OK;
    p->work_total++;
    p->unlinked += !linked;
    if (linked) {
        const uint64_t key[4] = {(uint64_t)call->start, point_word(LAUNCHED, index), 0, number};
        const uint64_t numbers[] = {(uint64_t)(call->end - call->start), call->name, call->thread,
                                    stream};
        st = rocl_add_numbers(p->points, 0, key, numbers, 4, err);
    }
    if (st != ROCL_OK)
        return st;
    const bool copy = rocl_word_kind(question->key[3]) == ROCL_COPY;
    const uint64_t key[4] = {(uint64_t)start, point_word(BEGINS, index), question->key[3], number};
    const uint64_t numbers[] = {v[0], (uint64_t)v[1] << 2 | (uint64_t)copy << 1 | linked,
                                (uint64_t)stream << 32 | queue, process};
    return rocl_add_numbers(p->points, 0, key, numbers, 4, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    critical_path *p = self;
    return rocl_calls_look_up(calls, p->work_of_calls, add_launch, p, err);
}

/* A record before that of the begin of each of its kernels says that they are of one collective. */
static rocl_status add_collective(void *ctx, const rocl_collective *k, rocl_error *err)
{
    critical_path *p = ctx;
    rocl_status st = ROCL_OK;
    if (!rocl_collective_is_whole(k) || k->count < 2)
        return ROCL_OK;
    for (uint32_t i = 0; i < k->count && st == ROCL_OK; i++) {
        const rocl_collective_member *m = &k->members[i];
        const uint64_t key[4] = {(uint64_t)m->start, point_word(BEGINS, m->capture),
                                 rocl_row_word(m->row, ROCL_DISPATCH), 0};
        const uint64_t numbers[] = {p->collective_count, k->count};
        st = rocl_add_numbers(p->points, 0, key, numbers, 2, err);
    }
    p->collective_count++;
    return st;
}

/* ---- what goes on ---------------------------------------------------------------------------- */

static uint32_t find_what(critical_path *p, class_of_time class, detail d, uint32_t name,
                          uint32_t process, rocl_status *st, rocl_error *err)
{
    const time_key key = {class, d, name, p->c.options->by_rank ? p->processes[process].rank : -1};
    const uint32_t id = rocl_strings_put(p->keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE || id >> 31)
        *st = rocl_fail_memory(err);
    return id;
}

/* What has come so far waits for another; the first time it is a copy. */
static bool gather(critical_path *p, uint32_t *slot, uint32_t from)
{
    if (*slot)
        return rocl_path_wait(p->path, *slot, from);
    *slot = rocl_path_new_slot(p->path);
    rocl_path_copy(p->path, *slot, from);
    return true;
}

static void release(critical_path *p, uint32_t *slot)
{
    rocl_path_free_slot(p->path, *slot);
    *slot = 0;
}

static bool ends_sooner(const pending *a, const pending *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->calls != b->calls ? a->calls < b->calls : a->order < b->order;
}

static rocl_status push(critical_path *p, pending x, rocl_error *err)
{
    if (!ROCL_GROW(p->heap, p->pending_cap, p->pending_count + 1))
        return rocl_fail_memory(err);
    size_t at = p->pending_count++;
    for (size_t up; at && ends_sooner(&x, &p->heap[up = (at - 1) / 2]); at = up)
        p->heap[at] = p->heap[up];
    p->heap[at] = x;
    return ROCL_OK;
}

static pending pop(critical_path *p)
{
    const pending first = p->heap[0], x = p->heap[--p->pending_count];
    size_t at = 0;
    for (size_t down; (down = 2 * at + 1) < p->pending_count; at = down) {
        if (down + 1 < p->pending_count && ends_sooner(&p->heap[down + 1], &p->heap[down]))
            down++;
        if (!ends_sooner(&p->heap[down], &x))
            break;
        p->heap[at] = p->heap[down];
    }
    p->heap[at] = x;
    return first;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void leave_own(critical_path *p, uint32_t own_after, rocl_status *st, rocl_error *err)
{
    own *o = own_after ? &p->owns[own_after - 1] : NULL;
    if (!o || --o->users)
        return;
    release(p, &o->slot);
    if (ROCL_GROW(p->free_owns, p->free_own_cap, p->free_own_count + 1))
        p->free_owns[p->free_own_count++] = own_after - 1;
    else
        *st = rocl_fail_memory(err);
}

/* The stream that a call waited for, where its name only says that it was one: of those where work
 * ended in the call the latest, unless more was launched into it before the call and goes on. */
static uint32_t find_awaited(const critical_path *p, const frame *f, const process_state *of)
{
    bool any = false;
    for (uint32_t i = of->latest; i; i = p->lanes[i].ended_before) {
        const lane *l = &p->lanes[i];
        if (rocl_path_time(p->path, l->slot) <= f->start)
            break;
        any = true;
        if (!l->oldest || p->works[l->oldest - 1].launched >= f->start)
            return l->slot;
    }
    return any ? 0 : of->slot;
}

/* Its end, where the thread is: waited it for work? */
static void return_from_call(critical_path *p, thread *t, const frame *f, rocl_status *st,
                             rocl_error *err)
{
    const process_state *of = &p->processes[t->process];
    const uint32_t own_slot = f->own_after ? p->owns[f->own_after - 1].slot : 0;
    const uint32_t awaited = own_slot                            ? own_slot
                             : f->waits == ROCL_WAITS_FOR_STREAM ? find_awaited(p, f, of)
                                                                 : of->slot;
    if (!awaited)
        return;
    if (rocl_path_time(p->path, awaited) > f->start) {
        t->takes_part = true;
        rocl_path_copy(p->path, t->slot, f->begun);
        rocl_path_wait(p->path, t->slot, awaited);
        time_key k;
        memcpy(&k, rocl_strings_get(p->keys, f->what, NULL), sizeof k);
        rocl_path_step(p->path, t->slot, f->end,
                       find_what(p, SYNC, NAMED, k.name, t->process, st, err), false);
    } else { /* it had nothing to wait for, but could have */
        rocl_path_wait(p->path, t->slot, awaited);
    }
}

static rocl_status end_ranges(critical_path *p, thread *t, int64_t until, rocl_error *err);

/* Goes on when the threads that work for it are done. */
static rocl_status resume(critical_path *p, thread *t, int64_t until, rocl_error *err)
{
    const uint32_t self_after = (uint32_t)(t - p->threads) + 1;
    rocl_status st = ROCL_OK;
    for (uint32_t i = p->processes[t->process].engine_after; i && st == ROCL_OK;
         i = p->threads[i - 1].next_engine) {
        thread *u = &p->threads[i - 1];
        if (u->caller_after != self_after)
            continue;
        st = end_ranges(p, u, until, err);
        if (!u->depth)
            rocl_path_wait(p->path, t->slot, u->slot);
    }
    return st;
}

/* Ends what ends up to a time. */
static rocl_status end_ranges(critical_path *p, thread *t, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && t->depth && t->open[t->depth - 1].end <= until) {
        frame *f = &t->open[t->depth - 1];
        if (!t->caller_after)
            st = resume(p, t, f->end, err);
        t->depth--;
        rocl_path_step(p->path, t->slot, f->end, f->what, true);
        t->last = f->end > t->last ? f->end : t->last;
        /* One that crosses others may be met late. */
        if (f->waits && rocl_path_time(p->path, t->slot) == f->end)
            return_from_call(p, t, f, &st, err);
        release(p, &f->begun);
        leave_own(p, f->own_after, &st, err);
    }
    return st;
}

/* Ends what ends up to a time, and goes on up to it. */
static rocl_status follow_thread(critical_path *p, thread *t, int64_t until, rocl_error *err)
{
    rocl_status st = end_ranges(p, t, until, err);
    if (until == INT64_MAX || st != ROCL_OK)
        return st;
    if (!t->caller_after)
        st = resume(p, t, until, err);
    if (t->depth)
        rocl_path_step(p->path, t->slot, until, t->open[t->depth - 1].what, true);
    else
        rocl_path_step(p->path, t->slot, until, t->outside, false);
    return st;
}

/* The backward pass begins, or goes on after another thread has done something: that one called. */
static rocl_status call_engine(critical_path *p, thread *t, int64_t now, rocl_error *err)
{
    process_state *of = &p->processes[t->process];
    const uint32_t self_after = (uint32_t)(t - p->threads) + 1, host_after = of->host_after;
    if (!host_after || host_after == self_after)
        return ROCL_OK;
    thread *host = &p->threads[host_after - 1];
    if (!t->caller_after) {
        t->next_engine = of->engine_after;
        of->engine_after = self_after;
    }
    t->caller_after = host_after;
    rocl_status st = end_ranges(p, t, now, err);
    if (st == ROCL_OK && !t->depth)
        st = end_ranges(p, host, now, err);
    if (st != ROCL_OK || t->depth || host->last < t->last)
        return st;
    st = follow_thread(p, host, now, err);
    rocl_path_wait(p->path, t->slot, host->slot);
    return st;
}

static rocl_status begin_thread(critical_path *p, thread *t, uint32_t process, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    t->seen = true;
    t->process = process;
    t->event_waited = t->last = -1;
    t->outside = find_what(p, OUTSIDE, NO_RANGE, 0, process, &st, err);
    gather(p, &t->slot, 0);
    return st;
}

/* A thread that launches work has done something. */
static void note_host(critical_path *p, const thread *t)
{
    if (t->takes_part && !t->caller_after)
        p->processes[t->process].host_after = (uint32_t)(t - p->threads) + 1;
}

static rocl_status begin_range(critical_path *p, const rocl_sort_record *rec, int64_t now,
                               rocl_error *err)
{
    const uint32_t capture = (uint32_t)rec->key[1];
    uint64_t v[4]; /* name, bits, thread, process */
    rocl_read_numbers(rec, v, 4);
    const size_t index = p->threads_of[capture] + v[2];
    const uint32_t of = (uint32_t)(p->processes_of[capture] + v[3]);
    thread *t = &p->threads[index];
    const uint32_t bits = (uint32_t)v[1];
    const bool first = !t->seen;
    rocl_status st = first ? begin_thread(p, t, of, err) : ROCL_OK;
    if (st == ROCL_OK && (bits & IS_BACKWARD))
        st = call_engine(p, t, now, err);
    if (first)
        rocl_path_step(p->path, t->slot, now, find_what(p, UNEXPLAINED, NO_BEGIN, 0, of, &st, err),
                       false);
    if (st == ROCL_OK)
        st = follow_thread(p, t, now, err);
    t->last = now;
    note_host(p, t);
    if (st == ROCL_OK && !ROCL_GROW(t->open, t->cap, t->depth + 1))
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    frame f = {.start = now,
               .end = INT64_MAX - (int64_t)rec->key[2] - p->origin,
               .waits = (rocl_waits_for)(bits >> WAITS_SHIFT)};
    f.what = find_what(p, bits & IS_MARKER ? OUTSIDE : HOST, NAMED, (uint32_t)v[0], of, &st, err);
    if (bits & WAITS_FOR_EVENT)
        t->event_waited = now;
    if (f.waits) {
        gather(p, &f.begun, t->slot);
        if (st == ROCL_OK)
            st = push(p, (pending){f.end, true, (uint32_t)index, index}, err);
    }
    t->open[t->depth++] = f;
    return st;
}

/* ---- work ------------------------------------------------------------------------------------ */

static uint32_t new_work(critical_path *p, uint64_t number)
{
    uint32_t i = p->free_count ? p->free_works[--p->free_count] : (uint32_t)p->work_count;
    if (i == p->work_count) {
        if (p->work_count >= UINT32_MAX - 1 || !ROCL_GROW(p->works, p->work_cap, p->work_count + 1))
            return ROCL_NONE;
        p->work_count++;
    }
    p->works[i] = (work){.number = number};
    return i;
}

/* A collective that goes on, + 1, made when it begins; 0: memory is out. */
static uint32_t find_group(critical_path *p, uint64_t number, uint64_t count)
{
    uint32_t i = rocl_map_get(&p->group_of, number, ROCL_NONE);
    if (i != ROCL_NONE)
        return i + 1;
    i = p->free_group_count ? p->free_groups[--p->free_group_count] : (uint32_t)p->group_count;
    if (i == p->group_count) {
        if (p->group_count >= UINT32_MAX - 1 ||
            !ROCL_GROW(p->groups, p->group_cap, p->group_count + 1))
            return 0;
        p->group_count++;
    }
    p->groups[i] = (group){.number = number, .left = count};
    return rocl_map_put(&p->group_of, number, i) ? i + 1 : 0;
}

/* One of its kernels has ended. False: memory is out. */
static bool leave_group(critical_path *p, uint32_t group_after)
{
    group *g = &p->groups[group_after - 1];
    if (--g->left)
        return true;
    release(p, &g->slot);
    rocl_map_del(&p->group_of, g->number);
    if (!ROCL_GROW(p->free_groups, p->free_group_cap, p->free_group_count + 1))
        return false;
    p->free_groups[p->free_group_count++] = group_after - 1;
    return true;
}

/* It has not ended from here on, on its stream. */
static void list_work(critical_path *p, uint32_t index)
{
    work *w = &p->works[index];
    lane *l = w->lanes[STREAM] ? &p->lanes[w->lanes[STREAM]] : NULL;
    if (!l)
        return;
    w->older = l->newest;
    if (w->older)
        p->works[w->older - 1].newer = index + 1;
    else
        l->oldest = index + 1;
    l->newest = index + 1;
}

static void unlist_work(critical_path *p, const work *w)
{
    lane *l = w->lanes[STREAM] ? &p->lanes[w->lanes[STREAM]] : NULL;
    if (!l)
        return;
    *(w->older ? &p->works[w->older - 1].newer : &l->oldest) = w->newer;
    *(w->newer ? &p->works[w->newer - 1].older : &l->newest) = w->older;
}

/* Its call waits for it: what ends is kept until the call does. */
static bool join_call(critical_path *p, work *w, thread *t, int64_t call_end)
{
    frame *f = NULL;
    for (size_t i = t->depth; i-- && !f && t->open[i].start == w->launched;)
        f = t->open[i].end == call_end ? &t->open[i] : NULL;
    if (!f || f->waits != ROCL_WAITS_FOR_COPY)
        return true;
    if (!f->own_after) {
        uint32_t i = p->free_own_count ? p->free_owns[--p->free_own_count] : (uint32_t)p->own_count;
        if (i == p->own_count) {
            if (!ROCL_GROW(p->owns, p->own_cap, p->own_count + 1))
                return false;
            p->own_count++;
        }
        p->owns[i] = (own){.users = 1};
        f->own_after = i + 1;
    }
    p->owns[f->own_after - 1].users++;
    w->own_after = f->own_after;
    return true;
}

static rocl_status launch_work(critical_path *p, const rocl_sort_record *rec, int64_t now,
                               rocl_error *err)
{
    const uint32_t capture = (uint32_t)rec->key[1];
    uint64_t v[4]; /* duration of the call, its name, thread, stream */
    rocl_read_numbers(rec, v, 4);
    thread *t = &p->threads[p->threads_of[capture] + v[2]];
    rocl_status st = follow_thread(p, t, now, err);
    const uint32_t index = new_work(p, rec->key[3]);
    if (st != ROCL_OK)
        return st;
    if (index == ROCL_NONE || !rocl_map_put(&p->work_of, rec->key[3], index))
        return rocl_fail_memory(err);
    work *w = &p->works[index];
    t->takes_part = true;
    note_host(p, t);
    w->launched = now;
    w->call = (uint32_t)v[1];
    w->call_end = now + (int64_t)v[0];
    w->lanes[STREAM] = (uint32_t)v[3];
    gather(p, &w->slot, t->slot);
    if (w->lanes[STREAM]) {
        lane *l = &p->lanes[w->lanes[STREAM]];
        w->waits_for_event = t->event_waited >= 0 && t->event_waited >= l->launched;
        l->launched = now;
    }
    list_work(p, index);
    return join_call(p, w, t, w->call_end) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status find_work_class(critical_path *p, bool copy, uint32_t name, class_of_time *class,
                                   rocl_error *err)
{
    rocl_part part = ROCL_PART_COPY;
    if (!copy && !rocl_find_part(p->c.trace, &p->parts, name, &part))
        return rocl_fail_memory(err);
    *class = part == ROCL_PART_COPY            ? COPY
             : part == ROCL_PART_COMMUNICATION ? COMMUNICATION
                                               : KERNEL;
    return ROCL_OK;
}

/* What it waited for from its launch, or from the end of other work, until it began. */
static void delay_work(critical_path *p, work *w, bool linked, uint32_t name, int64_t now,
                       rocl_status *st, rocl_error *err)
{
    const process_state *of = &p->processes[w->process];
    bool led = false;
    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t slot = w->lanes[i] ? p->lanes[w->lanes[i]].slot : 0;
        if (slot)
            led |= rocl_path_wait(p->path, w->slot, slot);
    }
    if (of->slot && (!linked || w->waits_for_event))
        led |= rocl_path_wait(p->path, w->slot, of->slot);
    if (!linked) {
        rocl_path_step(p->path, w->slot, now,
                       find_what(p, UNEXPLAINED, NO_CALL, 0, w->process, st, err), false);
    } else if (led) {
        rocl_path_step(p->path, w->slot, now, find_what(p, QUEUE, NAMED, name, w->process, st, err),
                       false);
    } else {
        const uint32_t what = find_what(p, LAUNCH, NAMED, w->call, w->process, st, err);
        rocl_path_step(p->path, w->slot, w->call_end < now ? w->call_end : now, what, true);
        rocl_path_step(p->path, w->slot, now, what, false);
    }
}

static rocl_status begin_work(critical_path *p, const rocl_sort_record *rec, int64_t now,
                              uint32_t collective_after, rocl_error *err)
{
    const uint32_t capture = (uint32_t)rec->key[1];
    const uint64_t number = rec->key[3];
    uint64_t v[4]; /* duration; name, is it a copy, is its call known; lanes; process */
    rocl_read_numbers(rec, v, 4);
    const bool linked = v[1] & 1;
    const uint32_t name = (uint32_t)(v[1] >> 2);
    uint32_t index = linked ? rocl_map_get(&p->work_of, number, ROCL_NONE) : new_work(p, number);
    if (index == ROCL_NONE)
        return rocl_fail_memory(err);
    work *w = &p->works[index];
    if (linked)
        rocl_map_del(&p->work_of, number);
    w->process = (uint32_t)(p->processes_of[capture] + v[3]);
    w->lanes[STREAM] = (uint32_t)(v[2] >> 32);
    w->lanes[HARDWARE_QUEUE] = (uint32_t)v[2];
    w->collective_after = collective_after;
    w->end = now + (int64_t)v[0];
    if (!linked) {
        w->launched = now;
        gather(p, &w->slot, 0);
        list_work(p, index);
    }
    class_of_time class = KERNEL;
    rocl_status st = find_work_class(p, v[1] >> 1 & 1, name, &class, err);
    delay_work(p, w, linked, name, now, &st, err);
    w->what = find_what(p, class, NAMED, name, w->process, &st, err);
    if (collective_after)
        gather(p, &p->groups[collective_after - 1].slot, w->slot);
    return st == ROCL_OK ? push(p, (pending){w->end, false, index, number}, err) : st;
}

/* Its stream was the last on which something ended. */
static void note_end(critical_path *p, uint32_t stream, process_state *of)
{
    lane *l = &p->lanes[stream];
    if (of->latest == stream)
        return;
    if (l->listed) {
        p->lanes[l->after].ended_before = l->ended_before;
        if (l->ended_before)
            p->lanes[l->ended_before].after = l->after;
    }
    l->listed = true;
    l->after = 0;
    l->ended_before = of->latest;
    if (of->latest)
        p->lanes[of->latest].after = stream;
    of->latest = stream;
}

static rocl_status end_work(critical_path *p, uint32_t index, rocl_error *err)
{
    work *w = &p->works[index];
    process_state *of = &p->processes[w->process];
    rocl_status st = ROCL_OK;
    if (w->collective_after) {
        rocl_path_wait(p->path, w->slot, p->groups[w->collective_after - 1].slot);
        if (!leave_group(p, w->collective_after))
            return rocl_fail_memory(err);
    }
    rocl_path_step(p->path, w->slot, w->end, w->what, true);
    for (unsigned i = 0; i < LANES; i++)
        if (w->lanes[i])
            gather(p, &p->lanes[w->lanes[i]].slot, w->slot);
    gather(p, &of->slot, w->slot);
    if (w->lanes[STREAM])
        note_end(p, w->lanes[STREAM], of);
    if (w->own_after)
        gather(p, &p->owns[w->own_after - 1].slot, w->slot);
    leave_own(p, w->own_after, &st, err);
    unlist_work(p, w);
    release(p, &w->slot);
    if (!ROCL_GROW(p->free_works, p->free_cap, p->free_count + 1))
        return rocl_fail_memory(err);
    p->free_works[p->free_count++] = index;
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Ends work, and returns from calls, up to a time. */
static rocl_status end_pending(critical_path *p, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (p->pending_count && p->heap[0].time <= until && st == ROCL_OK) {
        const pending x = pop(p);
        thread *t = x.calls ? &p->threads[x.index] : NULL;
        st = t ? follow_thread(p, t, x.time, err) : end_work(p, x.index, err);
    }
    return st;
}

/* Where processes and threads of each capture are among all. */
static rocl_status count_all(critical_path *p, rocl_error *err)
{
    const rocl_trace *t = p->c.trace;
    p->processes_of = calloc(t->capture_count + 1, sizeof *p->processes_of);
    p->threads_of = calloc(t->capture_count + 1, sizeof *p->threads_of);
    if (!p->processes_of || !p->threads_of)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count; i++) {
        p->processes_of[i + 1] = p->processes_of[i] + t->captures[i]->pub.process_count;
        p->threads_of[i + 1] = p->threads_of[i] + t->captures[i]->pub.thread_count;
    }
    p->process_count = p->processes_of[t->capture_count];
    p->thread_count = p->threads_of[t->capture_count];
    p->processes = calloc(p->process_count + 1, sizeof *p->processes);
    p->threads = calloc(p->thread_count + 1, sizeof *p->threads);
    if (!p->processes || !p->threads)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.process_count; k++)
            p->processes[p->processes_of[i] + k].rank = t->captures[i]->pub.processes[k].rank;
    return ROCL_OK;
}

/* Where the path ends: where the last work does, or the last thread that had to do with any. Others
 * may go on for long, asking every 100 ms whether there is anything to do. Of what ends at one time
 * the host. */
static rocl_status find_end(critical_path *p, rocl_error *err)
{
    rocl_status st = end_pending(p, INT64_MAX, err);
    bool any = p->work_total > 0;
    for (size_t i = 0; i < p->thread_count && st == ROCL_OK; i++)
        if (p->threads[i].seen)
            st = follow_thread(p, &p->threads[i], INT64_MAX, err);
    for (size_t i = 0; i < p->thread_count; i++)
        any |= p->threads[i].takes_part;
    gather(p, &p->final, 0);
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i].seen && (p->threads[i].takes_part || !any))
            rocl_path_wait(p->path, p->final, p->threads[i].slot);
    for (size_t i = 0; i < p->process_count; i++)
        if (p->processes[i].slot)
            rocl_path_wait(p->path, p->final, p->processes[i].slot);
    return st;
}

static rocl_status sweep(critical_path *p, rocl_error *err)
{
    rocl_sort_record rec;
    uint32_t collective_after = 0;
    rocl_status st = rocl_sorter_start(p->points, err);
    while (rocl_next_record(p->points, &rec, &st, err)) {
        if (!p->begun)
            p->origin = (int64_t)rec.key[0];
        p->begun = true;
        const int64_t now = (int64_t)rec.key[0] - p->origin;
        const unsigned kind = (unsigned)(rec.key[1] >> 32);
        st = end_pending(p, now, err);
        if (st != ROCL_OK)
            break;
        if (kind == RANGE) {
            st = begin_range(p, &rec, now, err);
        } else if (kind == LAUNCHED) {
            st = launch_work(p, &rec, now, err);
        } else if (!rec.key[3]) {
            uint64_t v[2];
            rocl_read_numbers(&rec, v, 2);
            collective_after = find_group(p, v[0], v[1]);
            st = collective_after ? ROCL_OK : rocl_fail_memory(err);
        } else {
            st = begin_work(p, &rec, now, collective_after, err);
            collective_after = 0;
        }
    }
    if (st == ROCL_OK)
        st = find_end(p, err);
    return st == ROCL_OK ? rocl_path_close(p->path, err) : st;
}

/* ---- the path -------------------------------------------------------------------------------- */

static int compare_stretches(const void *a, const void *b)
{
    const stretch *x = a, *y = b;
    const int c = rocl_number_order(y->ns, x->ns);
    return c ? c : rocl_number_order(x->start, y->start);
}

static rocl_status add_time(void *ctx, int64_t start, int64_t end, uint32_t what, rocl_error *err)
{
    critical_path *p = ctx;
    time_sum *s = &p->sums[what];
    (void)err;
    s->count++;
    s->ns += end - start;
    rocl_keep_first(p->longest, &p->longest_count, LONGEST, sizeof *p->longest,
                    &(stretch){start + p->origin, end - start, s->key}, compare_stretches);
    if (!p->slice_sums)
        return ROCL_OK;
    for (uint64_t i = rocl_slice_at(&p->slices, start); start < end; i++) {
        const int64_t next = rocl_slice_begin(&p->slices, i + 1);
        const int64_t to = next < end ? next : end;
        p->slice_sums[i][s->key.class] += to - start;
        start = to;
    }
    return ROCL_OK;
}

static rocl_status walk(critical_path *p, rocl_error *err)
{
    const int64_t wall = rocl_path_time(p->path, p->final);
    p->sum_count = rocl_strings_count(p->keys);
    p->sums = calloc(p->sum_count, sizeof *p->sums);
    if (!p->sums)
        return rocl_fail_memory(err);
    for (size_t i = 1; i < p->sum_count; i++)
        memcpy(&p->sums[i].key, rocl_strings_get(p->keys, (uint32_t)i, NULL), sizeof(time_key));
    if (!p->c.options->pictures && wall > 0) {
        p->slices =
            rocl_slices_of(0, wall, p->c.options->slices ? p->c.options->slices : DATA_SLICES);
        p->slice_sums = calloc(p->slices.count, sizeof *p->slice_sums);
        if (!p->slice_sums)
            return rocl_fail_memory(err);
    }
    return rocl_path_walk(p->path, p->final, add_time, p, err);
}

/* ---- what if --------------------------------------------------------------------------------- */

/* "NAME=2x": its factor, and how long the name is. */
static bool read_what_if(const char *text, size_t *n, double *factor)
{
    const char *is = strrchr(text, '=');
    char *past = NULL;
    errno = 0;
    *factor = is ? strtod(is + 1, &past) : 0;
    *n = is ? (size_t)(is - text) : 0;
    return is && *n && past != is + 1 && !strcmp(past, "x") && !errno && *factor >= 0.01 &&
           *factor <= 1e9;
}

static rocl_status check_what_ifs(const rocl_stats_options *o, rocl_error *err)
{
    size_t n = 0, length;
    double factor;
    for (const char *const *w = o->what_if; w && *w; w++, n++)
        if (!read_what_if(*w, &length, &factor))
            return rocl_fail(err, ROCL_USAGE,
                             "--what-if: \"%s\" is not of the form NAME=2x, with a factor of 0.01 "
                             "and more",
                             *w);
    return n > ROCL_PATH_SCENARIOS ? rocl_fail(err, ROCL_USAGE, "--what-if: more than %d are given",
                                               ROCL_PATH_SCENARIOS)
                                   : ROCL_OK;
}

static bool takes_time(uint32_t class)
{
    return class == HOST || class == KERNEL || class == COMMUNICATION || class == COPY;
}

typedef struct candidate {
    uint32_t name;
    int64_t ns;
} candidate;

static int compare_candidates(const void *a, const void *b, void *ctx)
{
    const candidate *x = a, *y = b;
    const int c = rocl_number_order(y->ns, x->ns);
    return c ? c : rocl_compare_texts(ctx, x->name, y->name);
}

/* The names with the largest times on the path. */
static rocl_status choose_names(const critical_path *p, what_if_row *rows, unsigned *count,
                                rocl_error *err)
{
    rocl_ids of = {0}; /* by name */
    candidate *all = NULL;
    size_t n = 0, cap = 0;
    bool good = true;
    for (size_t i = 1; i < p->sum_count && good; i++) {
        const time_sum *s = &p->sums[i];
        if (!takes_time(s->key.class) || !s->ns)
            continue;
        uint32_t at = rocl_ids_get(&of, s->key.name);
        if (at == ROCL_NONE) {
            at = (uint32_t)n;
            good = ROCL_GROW(all, cap, n + 1) && rocl_ids_put(&of, s->key.name, at);
            if (!good)
                break;
            all[n++] = (candidate){s->key.name, 0};
        }
        all[at].ns += s->ns;
    }
    if (good && n)
        qsort_r(all, n, sizeof *all, compare_candidates, p->c.trace);
    for (*count = 0; good && *count < WHAT_IFS && *count < n; ++*count)
        rows[*count] = (what_if_row){.name = all[*count].name, .factor = 2};
    free(all);
    rocl_ids_free(&of);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status read_names(const critical_path *p, what_if_row *rows, unsigned *count,
                              rocl_error *err)
{
    for (*count = 0; p->c.options->what_if[*count]; ++*count) {
        const char *text = p->c.options->what_if[*count];
        size_t n;
        what_if_row *r = &rows[*count];
        *r = (what_if_row){0};
        read_what_if(text, &n, &r->factor);
        r->name = rocl_strings_put(p->c.trace->strings, text, n);
        if (r->name == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* A name is meant in full, or as a pattern: names of kernels have brackets and stars. */
static bool is_meant(const critical_path *p, const time_key *k, uint32_t name)
{
    if (k->name == name)
        return true;
    return p->c.options->what_if &&
           !fnmatch(rocl_str(p->c.trace, name), rocl_str(p->c.trace, k->name), 0);
}

static rocl_status vary(critical_path *p, what_if_row *rows, unsigned n, rocl_error *err)
{
    const int64_t wall = rocl_path_time(p->path, p->final);
    int64_t times[ROCL_PATH_SCENARIOS];
    rocl_path_scenarios s = {.count = p->sum_count, .n = n};
    uint32_t *changed = calloc(p->sum_count, sizeof *changed);
    if (!changed)
        return rocl_fail_memory(err);
    for (unsigned k = 0; k < n; k++) {
        what_if_row *r = &rows[k];
        s.factors[k] = r->factor;
        r->class = CLASSES;
        for (size_t i = 1; i < p->sum_count; i++) {
            const time_key *key = &p->sums[i].key;
            if (key->detail != NAMED || key->class == QUEUE || key->class == SYNC ||
                !is_meant(p, key, r->name))
                continue;
            changed[i] |= 1u << k;
            r->names++;
            r->on_path += p->sums[i].ns;
        }
    }
    s.changed = changed;
    const rocl_status st = rocl_path_vary(p->path, p->final, &s, times, err);
    free(changed);
    for (unsigned k = 0; st == ROCL_OK && k < n; k++) {
        rows[k].wall = times[k];
        rows[k].saved = wall - times[k];
        rows[k].saved_percent = rocl_share(rows[k].saved, wall);
    }
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static rocl_datum field_class_name(const rocl_report_rows *r, const void *field)
{
    const uint32_t class = *(const uint32_t *)field;
    const char *name = class < CLASSES ? class_names[class] : "";
    return rocl_datum_text(r->out, name, strlen(name));
}

static rocl_datum field_key_name(const rocl_report_rows *r, const void *field)
{
    const time_key *k = field;
    const char *name = k->detail ? detail_names[k->detail] : NULL;
    return name ? rocl_datum_text(r->out, name, strlen(name)) : rocl_field_text(r, &k->name);
}

#define CELL(field) ROCL_CELL(time_sum, field)
static const rocl_column class_columns[] = {
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(field_class_name, time_sum, key.class)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(count)},
    {"time_ns", "On the path", ROCL_UNIT_NS, ROCL_IN_REST, CELL(ns)},
    {"percent", "Wall %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
};

static const rocl_column name_columns[] = {
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_key_name, time_sum, key)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_class_name, time_sum, key.class)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(count)},
    {"time_ns", "On the path", ROCL_UNIT_NS, ROCL_IN_REST, CELL(ns)},
    {"percent", "Wall %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
};

#undef CELL
#define CELL(field) ROCL_CELL(what_if_row, field)
static const rocl_column what_if_columns[] = {
    {"name", "What if this", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(name)},
    {"factor", "Were so fast", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(factor)},
    {"names", "Names", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(names)},
    {"path_ns", "On the path", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(on_path)},
    {"saved_ns", "Saves", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(saved)},
    {"saved_percent", "Saves %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(saved_percent)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(wall)},
};

#undef CELL
#define CELL(field) ROCL_CELL(stretch, field)
static const rocl_column stretch_columns[] = {
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_key_name, stretch, key)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_class_name, stretch, key.class)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"start_ns", "Start", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(start)},
    {"length_ns", "Length", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(ns)},
};

/* A slice of the time. */
typedef struct slice_row {
    const char *what;
    int64_t start, end, ns[CLASSES];
} slice_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(slice_row, field)
static const rocl_column slice_columns[] = {
    {"path", "Path", ROCL_UNIT_TEXT, CELL(what)},
    {"start_ns", "Start", ROCL_UNIT_TIME, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_TIME, CELL(end)},
    {"host_ns", "Host calls", ROCL_UNIT_NS, CELL(ns[HOST])},
    {"outside_ns", "Outside", ROCL_UNIT_NS, CELL(ns[OUTSIDE])},
    {"launch_ns", "Launch", ROCL_UNIT_NS, CELL(ns[LAUNCH])},
    {"kernel_ns", "Kernels", ROCL_UNIT_NS, CELL(ns[KERNEL])},
    {"communication_ns", "Communication", ROCL_UNIT_NS, CELL(ns[COMMUNICATION])},
    {"copy_ns", "Copies", ROCL_UNIT_NS, CELL(ns[COPY])},
    {"queue_ns", "Behind other work", ROCL_UNIT_NS, CELL(ns[QUEUE])},
    {"return_ns", "Return", ROCL_UNIT_NS, CELL(ns[SYNC])},
    {"unexplained_ns", "Not explained", ROCL_UNIT_NS, CELL(ns[UNEXPLAINED])},
};

static const rocl_table_def class_table = {&rocl_critical_path_report.tab, "critical_path",
                                           "Critical path", ROCL_COLUMNS(class_columns)},
                            name_table = {&rocl_critical_path_report.tab, "critical_path_names",
                                          "Critical path by name", ROCL_COLUMNS(name_columns)},
                            what_if_table = {&rocl_critical_path_report.tab,
                                             "critical_path_what_if", "What if",
                                             ROCL_COLUMNS(what_if_columns)},
                            stretch_table = {&rocl_critical_path_report.tab,
                                             "critical_path_longest",
                                             "Longest times on the critical path",
                                             ROCL_COLUMNS(stretch_columns)},
                            slice_table = {&rocl_critical_path_report.tab, "critical_path_timeline",
                                           "Critical path over time", ROCL_COLUMNS(slice_columns)};

const rocl_report_def rocl_critical_path_report = {
    "critical-path",
    {"critical_path", "Critical path"},
    "what the end of the trace waited for, back to its begin, and what would make it shorter",
    (const rocl_table_def *const[]){&class_table, &what_if_table, &name_table, &stretch_table,
                                    &slice_table, NULL}};

static int compare_sums(const void *a, const void *b, void *ctx)
{
    const time_sum *x = a, *y = b;
    const critical_path *p = ctx;
    const rocl_sort_values of[] = {{x->ns, x->ns, x->count, rocl_mean(x->ns, x->count)},
                                   {y->ns, y->ns, y->count, rocl_mean(y->ns, y->count)}};
    int c = rocl_compare_values(p->c.options->sort, &of[0], &of[1]);
    c = c ? c : rocl_compare_texts(p->c.trace, x->key.name, y->key.name);
    c = c ? c : rocl_number_order(x->key.class, y->key.class);
    c = c ? c : rocl_number_order(x->key.detail, y->key.detail);
    return c ? c : rocl_number_order(x->key.rank, y->key.rank);
}

static void add_sum(void *into, const void *from)
{
    time_sum *s = into;
    const time_sum *f = from;
    s->count += f->count;
    s->ns += f->ns;
    s->percent += f->percent;
}

/* In the order of the classes, and of ranks. */
static int compare_classes(const void *a, const void *b)
{
    const time_sum *x = a, *y = b;
    const int c = rocl_number_order(x->key.class, y->key.class);
    return c ? c : rocl_number_order(x->key.rank, y->key.rank);
}

static rocl_status put_classes(const critical_path *p, rocl_tables *out, int64_t wall,
                               rocl_error *err)
{
    size_t n = 0;
    time_sum *rows = calloc(p->sum_count, sizeof *rows);
    if (!rows)
        return rocl_fail_memory(err);
    /* What takes time is a row also if none of it is on the path. */
    for (size_t i = 1; i < p->sum_count; i++)
        if (p->sums[i].count || takes_time(p->sums[i].key.class))
            rows[n++] = p->sums[i];
    qsort(rows, n, sizeof *rows, compare_classes);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (count && !compare_classes(&rows[count - 1], &rows[i]))
            add_sum(&rows[count - 1], &rows[i]);
        else
            rows[count++] = rows[i];
    }
    for (size_t i = 0; i < count; i++)
        rows[i].percent = rocl_share(rows[i].ns, wall);
    const rocl_report_rows r = rocl_begin_table(&p->c, out, &class_table, 0);
    char unlinked[96] = "";
    if (p->unlinked)
        snprintf(unlinked, sizeof unlinked,
                 "; the calls of %llu of %llu kernels and copies are not in the trace",
                 (unsigned long long)p->unlinked, (unsigned long long)p->work_total);
    if (count)
        rocl_set_note(&r, "%.6f s from the first begin to the last end%s", (double)wall / 1e9,
                      unlinked);
    for (size_t i = 0; i < count; i++)
        rocl_add_row(&r, &rows[i]);
    free(rows);
    return ROCL_OK;
}

static void put_names(critical_path *p, rocl_tables *out, int64_t wall)
{
    /* In place: nobody needs the sums by their keys any more. */
    size_t n = 0;
    for (size_t i = 1; i < p->sum_count; i++)
        if (p->sums[i].count) {
            p->sums[n] = p->sums[i];
            p->sums[n].percent = rocl_share(p->sums[n].ns, wall);
            n++;
        }
    qsort_r(p->sums, n, sizeof *p->sums, compare_sums, p);
    const rocl_report_rows r = rocl_begin_table(&p->c, out, &name_table, 0);
    rocl_add_top_rows(&r, p->sums, n, sizeof *p->sums, add_sum);
}

static int compare_what_ifs(const void *a, const void *b, void *ctx)
{
    const what_if_row *x = a, *y = b;
    const int c = rocl_number_order(y->saved, x->saved);
    return c ? c : rocl_compare_texts(ctx, x->name, y->name);
}

static void add_nothing(void *sum, const void *row)
{
    (void)sum;
    (void)row;
}

static rocl_status put_what_ifs(critical_path *p, rocl_tables *out, rocl_error *err)
{
    what_if_row rows[ROCL_PATH_SCENARIOS];
    unsigned n = 0, unknown = 0;
    rocl_status st =
        p->c.options->what_if ? read_names(p, rows, &n, err) : choose_names(p, rows, &n, err);
    if (st == ROCL_OK && n)
        st = vary(p, rows, n, err);
    if (st != ROCL_OK)
        return st;
    if (n)
        qsort_r(rows, n, sizeof *rows, compare_what_ifs, p->c.trace);
    for (unsigned i = 0; i < n; i++)
        unknown += !rows[i].names;
    const rocl_report_rows r = rocl_begin_table(&p->c, out, &what_if_table, 0);
    if (unknown)
        rocl_set_note(&r, "%u of the names are not in the trace", unknown);
    else if (n)
        rocl_set_note(&r, "the path is found anew for each: another one may be as long soon");
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_nothing);
    return ROCL_OK;
}

static void put_slices(const critical_path *p, rocl_tables *out)
{
    const rocl_report_rows r = rocl_begin_table(&p->c, out, &slice_table, 0);
    for (uint64_t i = 0; p->slice_sums && i < p->slices.count; i++) {
        slice_row row = {.what = "critical path",
                         .start = rocl_slice_begin(&p->slices, i) + p->origin,
                         .end = rocl_slice_begin(&p->slices, i + 1) + p->origin};
        memcpy(row.ns, p->slice_sums[i], sizeof row.ns);
        rocl_add_row(&r, &row);
    }
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_critical_path(void *self, rocl_error *err)
{
    critical_path *p = self;
    const rocl_status st = check_what_ifs(p->c.options, err);
    if (st != ROCL_OK)
        return st;
    p->c.needs_calls = true;
    p->collective_kernels = rocl_collector_sorter(&p->c, 4);
    p->collective_members = rocl_collector_sorter(&p->c, 4);
    p->work_of_calls = rocl_collector_sorter(&p->c, 4);
    p->points = rocl_collector_sorter(&p->c, 4);
    p->calls = calloc(p->c.trace->opt.jobs, sizeof *p->calls);
    p->keys = rocl_strings_new();
    p->lane_keys = rocl_strings_new();
    p->path = rocl_path_new(p->c.trace->space);
    if (!p->collective_kernels || !p->collective_members || !p->work_of_calls || !p->points ||
        !p->calls || !p->keys || !p->lane_keys || !p->path)
        return rocl_fail_memory(err);
    return rocl_collectives_open(&p->match, p->c.trace, p->collective_kernels,
                                 p->collective_members, err);
}

static rocl_status finish_critical_path(void *self, rocl_tables *out, rocl_error *err)
{
    critical_path *p = self;
    rocl_collector_free_sorter(&p->c, &p->work_of_calls);
    rocl_status st = rocl_collectives_match(&p->match, add_collective, p, err);
    rocl_collector_free_sorter(&p->c, &p->collective_kernels);
    rocl_collector_free_sorter(&p->c, &p->collective_members);
    if (st == ROCL_OK)
        st = count_all(p, err);
    if (st == ROCL_OK)
        st = sweep(p, err);
    rocl_collector_free_sorter(&p->c, &p->points);
    if (st == ROCL_OK)
        st = walk(p, err);
    if (st != ROCL_OK)
        return st;
    const int64_t wall = rocl_path_time(p->path, p->final);
    st = put_classes(p, out, wall, err);
    if (st == ROCL_OK)
        st = put_what_ifs(p, out, err);
    if (st != ROCL_OK)
        return st;
    put_names(p, out, wall);
    const rocl_report_rows r = rocl_begin_table(&p->c, out, &stretch_table, 0);
    rocl_add_top_rows(&r, p->longest, p->longest_count, sizeof *p->longest, add_nothing);
    if (!p->c.options->pictures)
        put_slices(p, out);
    return ROCL_OK;
}

static void close_critical_path(void *self)
{
    critical_path *p = self;
    for (unsigned w = 0; p->calls && w < p->c.trace->opt.jobs; w++)
        rocl_ids_free(&p->calls[w]);
    for (size_t i = 0; p->threads && i < p->thread_count; i++)
        free(p->threads[i].open);
    if (p->match.trace)
        rocl_collectives_close(&p->match);
    rocl_path_free(p->path);
    rocl_strings_free(p->keys);
    rocl_strings_free(p->lane_keys);
    rocl_map_free(&p->work_of);
    rocl_ids_free(&p->parts);
    free(p->calls);
    free(p->processes_of);
    free(p->threads_of);
    free(p->processes);
    free(p->threads);
    free(p->lanes);
    free(p->works);
    free(p->free_works);
    free(p->owns);
    free(p->free_owns);
    free(p->heap);
    free(p->groups);
    free(p->free_groups);
    rocl_map_free(&p->group_of);
    free(p->sums);
    free(p->slice_sums);
}

const rocl_collector_def rocl_critical_path_collector = {
    .reports = 1u << ROCL_REPORT_CRITICAL_PATH,
    .kinds = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) |
             ROCL_BIT(ROCL_COPY),
    .size = sizeof(critical_path),
    .slow = true,
    .open = open_critical_path,
    .add_batch = add_path_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_critical_path,
    .close = close_critical_path,
};

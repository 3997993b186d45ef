/* What host threads did in given times: their calls by start, merged with the times looked up. */
#include <stdlib.h>

#include "analysis/calls.h"
#include "analysis/host.h"
#include "base/array.h"
#include "base/map.h"

/* Calls shorter than this that do not wait are of no importance for gaps, and many. */
#define LONG_NS 10000

/* A time that was looked up, has begun and is not over. */
typedef struct open_time {
    uint64_t track;
    rocl_host_time t;
    int64_t waited, waited_to; /* in calls that wait, and how far they reach */
} open_time;

/* A thread while it is followed. */
typedef struct thread {
    uint64_t process, thread;
    int64_t end, wait_end; /* of the call, and of the waiting call, that lasts longest so far */
    uint32_t name;
} thread;

struct rocl_host {
    rocl_trace *trace;
    rocl_sorter *calls, *times; /* by process, thread, start */
    rocl_ids *waits;            /* by worker and name of a call: does it wait? */
    thread now;
    open_time *open;
    size_t open_count, open_cap;
};

/* ---- calls ----------------------------------------------------------------------------------- */

rocl_status rocl_host_add_call(rocl_host *h, unsigned worker, const rocl_capture *c,
                               const rocl_event *call, rocl_error *err)
{
    uint32_t name = rocl_name_of(call), waits = rocl_ids_get(&h->waits[worker], name);
    if (waits == ROCL_NONE) { /* matched once per name and worker */
        waits = rocl_call_waits_for(rocl_str(h->trace, name)) != ROCL_WAITS_FOR_NOTHING;
        if (!rocl_ids_put(&h->waits[worker], name, waits))
            return rocl_fail_memory(err);
    }
    if (!waits && call->end - call->start < LONG_NS)
        return ROCL_OK;
    const uint64_t key[4] = {rocl_process_word(c, call), call->thread, (uint64_t)call->start,
                             call->id};
    const uint64_t numbers[] = {(uint64_t)call->end - (uint64_t)call->start, name, waits};
    return rocl_add_numbers(h->calls, worker, key, numbers, 3, err);
}

/* ---- times ----------------------------------------------------------------------------------- */

rocl_status rocl_host_look_up(rocl_host *h, uint64_t track, const rocl_host_time *t,
                              rocl_error *err)
{
    const uint64_t key[4] = {t->process, t->thread, (uint64_t)t->from, track};
    const uint64_t numbers[] = {(uint64_t)t->to - (uint64_t)t->from, (uint64_t)t->gap, t->whole,
                                t->class};
    return rocl_add_numbers(h->times, 0, key, numbers, 4, err);
}

/* The outermost of calls within each other counts: it begins first, and ends last. */
static void keep_longest_call(open_time *o, int64_t start, int64_t end, uint32_t name)
{
    int64_t from = start > o->t.from ? start : o->t.from, to = end < o->t.to ? end : o->t.to;
    if (to <= from || to - from <= o->t.ns)
        return;
    o->t.ns = to - from;
    o->t.name = name;
}

static void add_waiting(open_time *o, int64_t start, int64_t end)
{
    int64_t from = start > o->waited_to ? start : o->waited_to, to = end < o->t.to ? end : o->t.to;
    if (to <= from)
        return;
    o->waited += to - from;
    o->waited_to = to;
}

static void add_call_to_times(rocl_host *h, const rocl_sort_record *rec)
{
    uint64_t v[3];
    rocl_read_numbers(rec, v, 3);
    int64_t start = (int64_t)rec->key[2], end = start + (int64_t)v[0];
    for (size_t i = 0; i < h->open_count; i++) {
        keep_longest_call(&h->open[i], start, end, (uint32_t)v[1]);
        if (v[2])
            add_waiting(&h->open[i], start, end);
    }
    if (end > h->now.end) {
        h->now.end = end;
        h->now.name = (uint32_t)v[1];
    }
    if (v[2] && end > h->now.wait_end)
        h->now.wait_end = end;
}

/* The longest of the calls that began before the time counts. */
static rocl_status begin_time(rocl_host *h, const rocl_sort_record *rec, rocl_host_fn *fn,
                              void *ctx, rocl_error *err)
{
    uint64_t v[4];
    rocl_read_numbers(rec, v, 4);
    int64_t from = (int64_t)rec->key[2];
    open_time o = {.track = rec->key[3],
                   .t = {.process = rec->key[0],
                         .thread = rec->key[1],
                         .from = from,
                         .to = (int64_t)(rec->key[2] + v[0]),
                         .gap = (int64_t)v[1],
                         .whole = v[2],
                         .class = (unsigned)v[3],
                         .waited = h->now.wait_end > from,
                         .name = ROCL_NONE},
                   .waited_to = from};
    if (o.t.waited && !o.t.whole && o.t.to - h->now.wait_end < ROCL_OTHER_WORK_NS) {
        o.t.waited_ns = o.t.to - from; /* all but little */
        return fn(ctx, o.track, &o.t, err);
    }
    keep_longest_call(&o, from, h->now.end, h->now.name);
    add_waiting(&o, from, h->now.wait_end);
    if (!ROCL_GROW(h->open, h->open_cap, h->open_count + 1))
        return rocl_fail_memory(err);
    h->open[h->open_count++] = o;
    return ROCL_OK;
}

/* Ends the times that are over at the key of a record; all without one. */
static rocl_status end_times(rocl_host *h, const uint64_t *key, rocl_host_fn *fn, void *ctx,
                             rocl_error *err)
{
    size_t kept = 0;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < h->open_count && st == ROCL_OK; i++) {
        open_time *o = &h->open[i];
        if (key && o->t.process == key[0] && o->t.thread == key[1] && o->t.to > (int64_t)key[2]) {
            h->open[kept++] = *o;
            continue;
        }
        o->t.waited |= o->waited >= o->t.to - o->t.from - o->waited;
        o->t.waited_ns = o->waited;
        st = fn(ctx, o->track, &o->t, err);
    }
    h->open_count = kept;
    return st;
}

/* Calls come before times that begin with them. */
static bool is_call_next(const rocl_sort_record *call, bool calls, const rocl_sort_record *time)
{
    for (int i = 0; calls && i < 3; i++)
        if (call->key[i] != time->key[i])
            return call->key[i] < time->key[i];
    return calls;
}

rocl_status rocl_host_resolve(rocl_host *h, rocl_host_fn *fn, void *ctx, rocl_error *err)
{
    rocl_sort_record call, time;
    bool calls = false, times = false;
    rocl_status st = rocl_sorter_start(h->calls, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(h->times, err);
    if (st == ROCL_OK)
        st = rocl_sorter_next(h->calls, &call, &calls, err);
    if (st == ROCL_OK)
        st = rocl_sorter_next(h->times, &time, &times, err);
    while (st == ROCL_OK && (times || (calls && h->open_count))) {
        bool is_call = !times || is_call_next(&call, calls, &time);
        const uint64_t *key = is_call ? call.key : time.key;
        if (h->now.process != key[0] || h->now.thread != key[1])
            h->now = (thread){key[0], key[1], INT64_MIN, INT64_MIN, ROCL_NONE};
        st = h->open_count ? end_times(h, key, fn, ctx, err) : ROCL_OK;
        if (st != ROCL_OK)
            break;
        if (is_call) {
            add_call_to_times(h, &call);
            st = rocl_sorter_next(h->calls, &call, &calls, err);
        } else if ((st = begin_time(h, &time, fn, ctx, err)) == ROCL_OK) {
            st = rocl_sorter_next(h->times, &time, &times, err);
        }
    }
    return st == ROCL_OK ? end_times(h, NULL, fn, ctx, err) : st;
}

/* ---- begin and end --------------------------------------------------------------------------- */

rocl_host *rocl_host_new(rocl_collector *c)
{
    rocl_host *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->trace = c->trace;
    h->now = (thread){UINT64_MAX, UINT64_MAX, INT64_MIN, INT64_MIN, ROCL_NONE};
    h->calls = rocl_collector_sorter(c, 4);
    h->times = rocl_collector_sorter(c, 4);
    h->waits = calloc(c->trace->opt.jobs, sizeof *h->waits);
    if (h->calls && h->times && h->waits)
        return h;
    rocl_host_free(h);
    return NULL;
}

void rocl_host_free(rocl_host *h)
{
    if (!h)
        return;
    for (unsigned w = 0; h->waits && w < h->trace->opt.jobs; w++)
        rocl_ids_free(&h->waits[w]);
    free(h->waits);
    free(h->open);
    free(h);
}

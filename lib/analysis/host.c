/* What host threads did at a time: their calls by start, merged with the questions. */
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/busy.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/ids.h"

/* Calls shorter than this that do not wait are of no importance for gaps, and many. */
#define LONG_NS 10000

/* A question whose time has begun and is not over. */
typedef struct listener {
    uint64_t which;
    host_time t;
    int64_t waited, waited_to; /* in calls that wait, and how far they reach */
} listener;

/* A thread while it is followed. */
typedef struct thread {
    uint64_t process, thread;
    int64_t end, wait_end; /* of the call, and of the waiting call, that lasts longest so far */
    uint32_t name;
} thread;

struct host {
    rocl_trace *trace;
    rocl_sorter *calls, *questions; /* by process, thread, start */
    rocl_ids *waits;                /* by worker and name of a call: does it wait? */
    thread now;
    listener *listeners;
    size_t listener_count, listener_cap;
};

/* ---- taking calls ---- */

/* Does it return when the GPU has done something? */
static bool waits(const char *call)
{
    static const char *const patterns[] = {"hip*Synchronize*", "hsa_*signal_wait*", "hipFree*",
                                           "hipMemcpy*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (!fnmatch(patterns[i], call, 0))
            return fnmatch("*Async*", call, 0) != 0;
    return false;
}

/* Found out once per name and worker. */
static bool name_waits(host *h, unsigned worker, uint32_t name, bool *out)
{
    uint32_t known = rocl_ids_get(&h->waits[worker], name);
    if (known != ROCL_NONE) {
        *out = known;
        return true;
    }
    *out = waits(rocl_str(h->trace, name));
    return rocl_ids_put(&h->waits[worker], name, *out);
}

rocl_status rocl_host_see(host *h, unsigned worker, const rocl_capture *c, const rocl_event *call,
                          rocl_error *err)
{
    uint8_t payload[3 * ROCL_VARINT_MAX], *q = payload;
    bool wait;
    if (!name_waits(h, worker, rocl_name_of(call), &wait))
        return rocl_fail_memory(err);
    if (!wait && call->end - call->start < LONG_NS)
        return ROCL_OK;
    const uint64_t key[4] = {rocl_process_word(c, call), call->thread, (uint64_t)call->start,
                             call->id};
    q = rocl_varint_put(q, (uint64_t)call->end - (uint64_t)call->start);
    q = rocl_varint_put(q, rocl_name_of(call));
    q = rocl_varint_put(q, wait);
    return rocl_sorter_add(h->calls, worker, key, payload, (size_t)(q - payload), err);
}

/* ---- questions ---- */

rocl_status rocl_host_ask(host *h, uint64_t which, const host_time *t, rocl_error *err)
{
    uint8_t payload[3 * ROCL_VARINT_MAX], *q = payload;
    const uint64_t key[4] = {t->process, t->thread, (uint64_t)t->from, which};
    q = rocl_varint_put(q, (uint64_t)t->to - (uint64_t)t->from);
    q = rocl_varint_put(q, (uint64_t)t->gap);
    q = rocl_varint_put(q, t->whole);
    return rocl_sorter_add(h->questions, 0, key, payload, (size_t)(q - payload), err);
}

static void read_numbers(const rocl_sort_record *rec, uint64_t v[3])
{
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    for (int i = 0; i < 3; i++) {
        v[i] = 0;
        rocl_varint_get(&p, past, &v[i]);
    }
}

static listener read_question(const rocl_sort_record *rec)
{
    uint64_t v[3];
    read_numbers(rec, v);
    return (listener){rec->key[3],
                      {.process = rec->key[0],
                       .thread = rec->key[1],
                       .from = (int64_t)rec->key[2],
                       .to = (int64_t)(rec->key[2] + v[0]),
                       .gap = (int64_t)v[1],
                       .whole = v[2],
                       .name = ROCL_NONE},
                      0,
                      (int64_t)rec->key[2]};
}

/* ---- following a thread ---- */

static void go_to_thread(thread *t, const uint64_t *key)
{
    if (t->process != key[0] || t->thread != key[1])
        *t = (thread){key[0], key[1], INT64_MIN, INT64_MIN, ROCL_NONE};
}

/* Of calls within each other the outermost counts: it begins first, and ends last. */
static void hear(listener *l, int64_t start, int64_t end, uint32_t name)
{
    int64_t from = start > l->t.from ? start : l->t.from, to = end < l->t.to ? end : l->t.to;
    if (to <= from || to - from <= l->t.ns)
        return;
    l->t.ns = to - from;
    l->t.name = name;
}

static void wait(listener *l, int64_t start, int64_t end)
{
    int64_t from = start > l->waited_to ? start : l->waited_to, to = end < l->t.to ? end : l->t.to;
    if (to <= from)
        return;
    l->waited += to - from;
    l->waited_to = to;
}

static bool is_over(const listener *l, const uint64_t *key)
{
    return l->t.process != key[0] || l->t.thread != key[1] || l->t.to <= (int64_t)key[2];
}

/* Tells those whose time is over at the key of a record; all without one. */
static rocl_status tell(host *h, const uint64_t *key, host_fn *fn, void *ctx, rocl_error *err)
{
    size_t kept = 0;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < h->listener_count && st == ROCL_OK; i++) {
        listener *l = &h->listeners[i];
        if (key && !is_over(l, key)) {
            h->listeners[kept++] = *l;
            continue;
        }
        l->t.waited |= l->waited >= l->t.to - l->t.from - l->waited;
        st = fn(ctx, l->which, &l->t, err);
    }
    h->listener_count = kept;
    return st;
}

static void take_call(host *h, const rocl_sort_record *rec)
{
    uint64_t v[3];
    read_numbers(rec, v);
    int64_t start = (int64_t)rec->key[2], end = start + (int64_t)v[0];
    for (size_t i = 0; i < h->listener_count; i++) {
        hear(&h->listeners[i], start, end, (uint32_t)v[1]);
        if (v[2])
            wait(&h->listeners[i], start, end);
    }
    if (end > h->now.end) {
        h->now.end = end;
        h->now.name = (uint32_t)v[1];
    }
    if (v[2] && end > h->now.wait_end)
        h->now.wait_end = end;
}

/* What began before the question's time is one call: that which lasts longest. */
static rocl_status take_question(host *h, const rocl_sort_record *rec, host_fn *fn, void *ctx,
                                 rocl_error *err)
{
    listener l = read_question(rec);
    l.t.waited = h->now.wait_end > l.t.from;
    if (l.t.waited && !l.t.whole)
        return fn(ctx, l.which, &l.t, err);
    hear(&l, l.t.from, h->now.end, h->now.name);
    wait(&l, l.t.from, h->now.wait_end);
    if (!ROCL_GROW(h->listeners, h->listener_cap, h->listener_count + 1))
        return rocl_fail_memory(err);
    h->listeners[h->listener_count++] = l;
    return ROCL_OK;
}

/* ---- the merge ---- */

/* Calls come before questions of the same time. */
static bool call_is_next(const rocl_sort_record *call, bool calls, const rocl_sort_record *question)
{
    for (int i = 0; calls && i < 3; i++)
        if (call->key[i] != question->key[i])
            return call->key[i] < question->key[i];
    return calls;
}

rocl_status rocl_host_answer(host *h, host_fn *fn, void *ctx, rocl_error *err)
{
    rocl_sort_record call, question;
    bool calls = false, questions = false;
    rocl_status st = rocl_sorter_start(h->calls, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(h->questions, err);
    if (st == ROCL_OK)
        st = rocl_sorter_next(h->calls, &call, &calls, err);
    if (st == ROCL_OK)
        st = rocl_sorter_next(h->questions, &question, &questions, err);
    while (st == ROCL_OK && (questions || (calls && h->listener_count))) {
        bool c = !questions || call_is_next(&call, calls, &question);
        const uint64_t *key = c ? call.key : question.key;
        go_to_thread(&h->now, key);
        st = h->listener_count ? tell(h, key, fn, ctx, err) : ROCL_OK;
        if (st != ROCL_OK)
            break;
        if (c) {
            take_call(h, &call);
            st = rocl_sorter_next(h->calls, &call, &calls, err);
        } else if ((st = take_question(h, &question, fn, ctx, err)) == ROCL_OK) {
            st = rocl_sorter_next(h->questions, &question, &questions, err);
        }
    }
    return st == ROCL_OK ? tell(h, NULL, fn, ctx, err) : st;
}

/* ---- begin and end ---- */

host *rocl_host_new(rocl_collector *c)
{
    host *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->trace = c->trace;
    h->now = (thread){UINT64_MAX, UINT64_MAX, INT64_MIN, INT64_MIN, ROCL_NONE};
    h->calls = rocl_collector_sorter(c, 4);
    h->questions = rocl_collector_sorter(c, 4);
    h->waits = calloc(c->trace->opt.jobs, sizeof *h->waits);
    if (h->calls && h->questions && h->waits)
        return h;
    rocl_host_free(h);
    return NULL;
}

void rocl_host_free(host *h)
{
    if (!h)
        return;
    for (unsigned w = 0; h->waits && w < h->trace->opt.jobs; w++)
        rocl_ids_free(&h->waits[w]);
    free(h->waits);
    free(h->listeners);
    free(h);
}

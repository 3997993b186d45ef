/* Why a GPU was idle. The piece of work that ends a gap asks for the call that launched it; what
 * that call's thread did since the gap began is asked next, where it matters. */
#include <stdlib.h>

#include "analysis/busy.h"
#include "base/buf.h"

/* Work given before the gap begins later than this after it: it waited for something else. */
#define DISPATCH_NS 10000

typedef struct gap_causes {
    rocl_sorter *questions; /* by process, stack id, sweep, start */
    host *host;
    int64_t *ends; /* by worker and capture: of its last event */
} gap_causes;

const char *rocl_gap_class_name(gap_class c)
{
    static const char *const names[GAP_CLASSES] = {"host",       "sync", "launch",
                                                   "dependency", "copy", "unknown"};
    return names[c];
}

/* ---- while events come in ---- */

rocl_status rocl_gap_causes_see(busy *b, unsigned worker, const rocl_batch *batch, rocl_error *err)
{
    gap_causes *c = b->causes;
    int64_t *end = &c->ends[worker * b->c.trace->capture_count + batch->capture->index];
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < batch->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(batch, i);
        *end = e->end > *end ? e->end : *end;
        if (batch->kind == ROCL_REGION)
            st = rocl_host_see(c->host, worker, batch->capture, e, err);
    }
    return st;
}

void rocl_gap_causes_settle(busy *b)
{
    size_t n = b->c.trace->capture_count;
    int64_t *ends = b->causes->ends;
    for (size_t i = n; i < n * b->c.trace->opt.jobs; i++)
        ends[i % n] = ends[i] > ends[i % n] ? ends[i] : ends[i % n];
}

int64_t rocl_gap_causes_end(const busy *b, uint64_t process)
{
    return b->causes->ends[process >> 32];
}

/* ---- of gaps ---- */

/* A gap as it travels through the sorters. */
typedef struct question {
    uint64_t sweep;
    int64_t start, length, copied;
} question;

rocl_status rocl_gap_causes_add(busy *b, const sweep *s, const gap *g, const piece *p,
                                int64_t copied, rocl_error *err)
{
    uint8_t payload[2 * ROCL_VARINT_MAX], *q = payload;
    const uint64_t key[4] = {p->process, p->stack_id, (uint64_t)(s - b->sweeps),
                             (uint64_t)g->start};
    q = rocl_varint_put(q, (uint64_t)g->length);
    q = rocl_varint_put(q, (uint64_t)copied);
    return rocl_sorter_add(b->causes->questions, 0, key, payload, (size_t)(q - payload), err);
}

static question read_question(const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    uint64_t length = 0, copied = 0;
    rocl_varint_get(&p, past, &length);
    rocl_varint_get(&p, past, &copied);
    return (question){rec->key[2], (int64_t)rec->key[3], (int64_t)length, (int64_t)copied};
}

/* One of the longest of a sweep, or NULL. */
static gap *longest_of(busy *b, uint64_t which, int64_t start)
{
    idleness *i = &b->sweeps[which].idle;
    for (unsigned k = 0; k < i->longest_count; k++)
        if (i->longest[k].start == start)
            return &i->longest[k];
    return NULL;
}

/* GAP_HOST stands for GAP_SYNC as well, as long as nobody asked the thread. */
static gap_class class_of(const question *q, const rocl_call *call)
{
    if (q->copied > q->length / 2)
        return GAP_COPY;
    if (!call)
        return GAP_UNKNOWN;
    if (call->end <= q->start && q->length > DISPATCH_NS)
        return GAP_DEPENDENCY;
    int64_t late = call->start > q->start ? call->start - q->start : 0;
    return late >= q->length - late ? GAP_HOST : GAP_LAUNCH;
}

static void classify(busy *b, uint64_t which, gap *longest, int64_t length, gap_class c)
{
    idleness *i = &b->sweeps[which].idle;
    i->class_count[c]++;
    i->class_total[c] += length;
    if (longest)
        longest->why = c;
}

/* From the begin of the gap to the call, or to the end of the gap where the call came before. */
static rocl_status ask_host(busy *b, uint64_t process, const question *q, const rocl_call *call,
                            bool undecided, bool whole, rocl_error *err)
{
    int64_t end = q->start + q->length;
    host_time t = {.process = process,
                   .thread = call->thread,
                   .from = q->start,
                   .to = end,
                   .gap = undecided ? q->length : 0,
                   .whole = whole};
    if (call->start > q->start && call->start < end)
        t.to = call->start;
    return rocl_host_ask(b->causes->host, q->sweep, &t, err);
}

static rocl_status take_call(void *ctx, const rocl_sort_record *rec, const rocl_call *call,
                             rocl_error *err)
{
    busy *b = ctx;
    question q = read_question(rec);
    gap *longest = longest_of(b, q.sweep, q.start);
    gap_class c = class_of(&q, call);
    if (longest && call)
        longest->call = call->name;
    if (c != GAP_HOST)
        classify(b, q.sweep, longest, q.length, c);
    if (call && (c == GAP_HOST || longest))
        return ask_host(b, rec->key[0], &q, call, c == GAP_HOST, longest, err);
    return ROCL_OK;
}

rocl_status rocl_gap_causes_ask(busy *b, rocl_calls *calls, rocl_error *err)
{
    return rocl_calls_ask(calls, b->causes->questions, take_call, b, err);
}

/* ---- what threads did ---- */

static rocl_status take_host(void *ctx, uint64_t which, const host_time *told, rocl_error *err)
{
    busy *b = ctx;
    gap *longest = longest_of(b, which, told->from);
    (void)err;
    if (told->gap)
        classify(b, which, longest, told->gap, told->waited ? GAP_SYNC : GAP_HOST);
    if (longest) {
        longest->host = told->name;
        longest->host_ns = told->ns;
    }
    return ROCL_OK;
}

rocl_status rocl_gap_causes_finish(busy *b, rocl_error *err)
{
    rocl_collector_free_sorter(&b->c, &b->causes->questions);
    return rocl_host_answer(b->causes->host, take_host, b, err);
}

/* ---- begin and end ---- */

rocl_status rocl_gap_causes_new(busy *b, rocl_error *err)
{
    size_t ends = b->c.trace->opt.jobs * b->c.trace->capture_count;
    gap_causes *c = b->causes = calloc(1, sizeof *c);
    if (!c)
        return rocl_fail_memory(err);
    c->questions = rocl_collector_sorter(&b->c, 4);
    c->host = rocl_host_new(&b->c);
    c->ends = calloc(ends + 1, sizeof *c->ends);
    if (!c->questions || !c->host || !c->ends)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < ends; i++)
        c->ends[i] = INT64_MIN;
    return ROCL_OK;
}

void rocl_gap_causes_free(gap_causes *c)
{
    if (!c)
        return;
    rocl_host_free(c->host);
    free(c->ends);
    free(c);
}

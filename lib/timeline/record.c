/* Events <-> records of the sorter. Times are in the key, so a payload holds only what is left:
 * small numbers and text ids, as varints. */
#include "timeline/record.h"

#include "base/error.h"
#include "base/order.h"
#include "model/fields.h"

#include <stdlib.h>

/* ---- the key ---- */

#define KIND_SHIFT  60
#define INDEX_SHIFT ROCL_SEQUENCE_SHIFT
#define TIME_SHIFT  28
#define INDEX_LIMIT ROCL_SEQUENCE_INDEXES
_Static_assert(INDEX_LIMIT == (uint64_t)1 << (KIND_SHIFT - INDEX_SHIFT),
               "an index fits in the key");

_Static_assert(ROCL_SEQUENCE_SAMPLED < 1 << (64 - KIND_SHIFT), "kinds of sequences fit in the key");
_Static_assert(TIME_SHIFT + INDEX_SHIFT == 64, "word 0 holds the upper bits of the time");

static void make_key(uint64_t key[4], rocl_sequence_kind sequence, uint32_t index, int64_t time,
                     int64_t end, uint64_t row, rocl_kind kind)
{
    key[0] = (uint64_t)sequence << KIND_SHIFT | (uint64_t)index << INDEX_SHIFT |
             (uint64_t)time >> TIME_SHIFT;
    key[1] = (uint64_t)time;
    key[2] = ~(uint64_t)end;
    key[3] = rocl_row_word(row, kind);
}

static inline void count_record(rocl_sequence *s, uint64_t time)
{
    s->records++;
    s->first = time < s->first ? time : s->first;
    s->last = time > s->last ? time : s->last;
}

/* Counts a record of a sequence that was not used recently. */
static __attribute__((noinline)) bool count_other(rocl_sequence_counts *c, uint64_t sequence,
                                                  uint64_t time)
{
    uint32_t i = rocl_map_get(&c->index, sequence, ROCL_NONE);
    if (i == ROCL_NONE) {
        i = (uint32_t)c->count;
        if (!ROCL_GROW(c->all, c->cap, c->count + 1) || !rocl_map_put(&c->index, sequence, i))
            return false;
        c->all[c->count++] = (rocl_sequence){.number = sequence, .first = time, .last = time};
    }
    count_record(&c->all[i], time);
    c->recent[sequence % ROCL_SEQUENCES_RECENT] = i;
    return true;
}

static inline rocl_status add_record(rocl_encoder *p, unsigned worker, const uint64_t key[4],
                                     const uint8_t *payload, const uint8_t *end, rocl_error *err)
{
    rocl_sequence_counts *c = &p->workers[worker].counts;
    uint64_t sequence = rocl_sequence_of(key);
    uint32_t i = c->recent[sequence % ROCL_SEQUENCES_RECENT];
    if (i < c->count && c->all[i].number == sequence)
        count_record(&c->all[i], key[1]);
    else if (!count_other(c, sequence, key[1]))
        return rocl_fail_memory(err);
    return rocl_sorter_add(p->sorter, worker, key, payload, (size_t)(end - payload), err);
}

/* ---- host ---- */

static void put_args(rocl_buf *to, const rocl_batch *b, uint32_t first, uint32_t count)
{
    const rocl_arg *args = count ? b->args + first : NULL;
    for (uint32_t i = 0; i < count; i++) {
        rocl_buf_varint(to, args[i].name);
        rocl_buf_varint(to, args[i].type);
        rocl_buf_varint(to, args[i].value_len);
        rocl_buf_put(to, args[i].value, args[i].value_len);
        rocl_trace_note_text(b->capture->trace, args[i].value, args[i].value_len);
    }
}

/* Each thread has a sequence; events without a thread are in one of their process. */
static uint32_t find_host_index(const rocl_batch *b, const rocl_event *e)
{
    return e->thread != ROCL_NONE ? e->thread : b->capture->thread_count + e->process;
}

static rocl_status encode_region(rocl_encoder *p, unsigned worker, const rocl_batch *b,
                                 const rocl_region *g, rocl_error *err)
{
    rocl_buf *s = &p->workers[worker].scratch;
    uint64_t key[4];
    s->len = 0;
    if (!rocl_buf_reserve(s, 64))
        return rocl_fail_memory(err);
    uint8_t *q = s->data;
    q = rocl_put_index(q, g->e.name);
    q = rocl_put_index(q, g->e.category);
    q = rocl_varint_put(q, g->e.stack_id);
    q = rocl_varint_put(q, g->arg_count);
    s->len = (size_t)(q - s->data);
    put_args(s, b, g->arg_first, g->arg_count);
    if (s->failed)
        return rocl_fail_memory(err);
    make_key(key, ROCL_SEQUENCE_HOST, find_host_index(b, &g->e), g->e.start, g->e.end, g->e.id,
             b->kind);
    return add_record(p, worker, key, s->data, s->data + s->len, err);
}

/* Before the slices that begin at its time, to which it may belong. */
static rocl_status encode_flow(rocl_encoder *p, unsigned worker, const rocl_batch *b,
                               const rocl_flow *f, rocl_error *err)
{
    uint8_t buf[64], *q = rocl_put_index(buf, f->e.name);
    uint64_t key[4];
    q = rocl_put_index(q, f->e.category);
    q = rocl_varint_put(q, f->flow);
    q = rocl_varint_put(q, (uint64_t)f->end << 1 | f->next);
    make_key(key, ROCL_SEQUENCE_HOST, find_host_index(b, &f->e), f->e.start, INT64_MAX, f->e.id,
             ROCL_FLOW);
    return add_record(p, worker, key, buf, q, err);
}

/* ---- GPU ---- */

static uint32_t find_work_index(const rocl_encoder *p, rocl_kind kind, const rocl_event *e,
                                rocl_work_place at)
{
    return p->index ? p->index(p->index_ctx, kind, e, at) : e->process;
}

/* A copy loads the agents at both ends: a record at its begin, one at its end. */
static rocl_status encode_bandwidth(rocl_encoder *p, unsigned worker, const rocl_copy *k,
                                    uint32_t agent, unsigned side, rocl_error *err)
{
    uint8_t buf[64];
    uint64_t key[4];
    if (!p->bandwidth || k->e.end <= k->e.start || !k->size)
        return ROCL_OK;
    for (unsigned at_end = 0; at_end < 2; at_end++) {
        uint8_t *q = rocl_put_index(buf, agent);
        q = rocl_varint_put(q, at_end);
        q = rocl_varint_put(q, p->amd_layout ? k->size : rocl_rate(k->size, k->e.duration));
        /* At one time ends come first, so that back-to-back copies do not add up. */
        make_key(key, ROCL_SEQUENCE_BANDWIDTH, k->e.process, at_end ? k->e.end : k->e.start,
                 at_end ? INT64_MAX : 0, k->e.id << 2 | side << 1 | at_end, ROCL_COPY);
        rocl_status st = add_record(p, worker, key, buf, q, err);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

/* Notes the other end of a copy that is shown on an agent, and puts records for its bandwidth. */
static rocl_status note_copy(rocl_encoder *p, unsigned worker, const rocl_capture *c,
                             const rocl_copy *k, uint32_t agent, rocl_error *err)
{
    const bool to_gpu = rocl_is_gpu(c, k->dst), from_gpu = rocl_is_gpu(c, k->src);
    rocl_status st = ROCL_OK;
    if (p->ends && rocl_is_gpu(c, agent)) {
        rocl_map *ends = &p->workers[worker].ends;
        const uint64_t end = rocl_copy_end(k->e.process, to_gpu && from_gpu ? k->src : ROCL_NONE);
        if (!rocl_map_get(ends, end, 0) && !rocl_map_put(ends, end, 1))
            return rocl_fail_memory(err);
    }
    if (k->dst != ROCL_NONE && (p->amd_layout || to_gpu))
        st = encode_bandwidth(p, worker, k, k->dst, 0, err);
    if (st == ROCL_OK && !p->amd_layout && k->src != k->dst && from_gpu)
        st = encode_bandwidth(p, worker, k, k->src, 1, err);
    return st;
}

#define PUT_SIZE(member, type, ...) PUT_SIZE_##type(r->dispatch.member)
#define PUT_SIZE_U32(v)             q = rocl_varint_put(q, v);
#define PUT_SIZE_I64(v)             q = rocl_varint_put(q, rocl_zigzag(v));

static rocl_status encode_work(rocl_encoder *p, unsigned worker, const rocl_batch *b,
                               const rocl_event *e, rocl_error *err)
{
    const rocl_any_record *r = (const rocl_any_record *)(const void *)e;
    const bool memory = b->kind == ROCL_ALLOC || b->kind == ROCL_SCRATCH;
    rocl_work_place at = rocl_work_place_of(b->kind, e);
    bool to = true; /* of a copy: it is shown on its destination */
    if (memory && p->amd_layout)
        return ROCL_OK;
    if (b->kind == ROCL_COPY) {
        to = rocl_is_gpu(b->capture, at.agent) || !rocl_is_gpu(b->capture, r->copy.src);
        at.agent = to ? r->copy.dst : r->copy.src;
    }
    rocl_buf *s = &p->workers[worker].scratch;
    s->len = 0;
    if (!rocl_buf_reserve(s, 256))
        return rocl_fail_memory(err);
    uint8_t *q = rocl_put_index(s->data, e->name);
    q = rocl_put_index(q, e->thread);
    q = rocl_varint_put(q, e->stack_id);
    q = rocl_put_index(q, at.agent);
    q = rocl_put_index(q, at.queue);
    q = rocl_put_index(q, at.stream);
    if (b->kind == ROCL_DISPATCH) {
        q = rocl_put_index(q, r->dispatch.kernel);
        q = rocl_varint_put(q, r->dispatch.dispatch_id);
        ROCL_DISPATCH_SIZES(PUT_SIZE, )
    } else if (b->kind == ROCL_COPY) {
        q = rocl_put_index(q, to ? r->copy.src : r->copy.dst);
        q = rocl_varint_put(q, to);
        q = rocl_varint_put(q, r->copy.size);
        q = rocl_varint_put(q, (uint64_t)e->duration);
    } else if (memory) {
        q = rocl_varint_put(q, b->kind == ROCL_SCRATCH ? r->alloc.size : r->alloc.block);
    } else {
        q = rocl_put_index(q, r->hip.source_queue);
        q = rocl_varint_put(q, r->hip.graph_exec_id);
        q = rocl_varint_put(q, r->hip.kernel_count);
    }
    s->len = (size_t)(q - s->data);
    if (b->kind == ROCL_DISPATCH && r->dispatch.arg_count) {
        rocl_buf_varint(s, r->dispatch.arg_count);
        put_args(s, b, r->dispatch.arg_first, r->dispatch.arg_count);
        if (s->failed)
            return rocl_fail_memory(err);
    }
    uint64_t key[4];
    make_key(key, memory ? ROCL_SEQUENCE_MEMORY : ROCL_SEQUENCE_GPU,
             find_work_index(p, b->kind, e, at), e->start, e->end, e->id, b->kind);
    const rocl_status st = add_record(p, worker, key, s->data, s->data + s->len, err);
    return st == ROCL_OK && b->kind == ROCL_COPY
               ? note_copy(p, worker, b->capture, &r->copy, at.agent, err)
               : st;
}

rocl_status rocl_encode_history(void *encoder, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_encoder *p = encoder;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_alloc *a = &b->allocs[i];
        uint8_t buf[64], *q = rocl_put_index(buf, a->owner);
        uint64_t key[4];
        q = rocl_varint_put(q, rocl_zigzag(a->delta));
        /* Memory exists from the return of the allocating call to the start of the freeing call. */
        int64_t when = a->op == ROCL_OP_FREE ? a->e.start : a->e.end;
        make_key(key, ROCL_SEQUENCE_ALLOCATED, a->e.process, when, a->e.end, a->e.id, ROCL_ALLOC);
        st = add_record(p, worker, key, buf, q, err);
    }
    return st;
}

/* ---- counters ---- */

static rocl_status encode_counter(rocl_encoder *p, unsigned worker, const rocl_capture *c,
                                  const rocl_counter_value *v, rocl_error *err)
{
    uint8_t buf[64], *q = rocl_put_index(buf, v->counter);
    uint64_t key[4];
    q = rocl_varint_put(q, rocl_turn_real(v->value));
    uint32_t agent = v->d.agent != ROCL_NONE ? v->d.agent : c->agent_count;
    /* Several counters of a dispatch differ in nothing else: the counter makes the key unique. */
    make_key(key, ROCL_SEQUENCE_PMC, agent, v->d.e.start, v->d.e.end, v->d.e.id, ROCL_DISPATCH);
    key[3] = v->d.e.id << 16 ^ v->counter;
    const rocl_status st = add_record(p, worker, key, buf, q, err);
    if (st != ROCL_OK || !p->counters)
        return st;
    const rocl_dispatch *d = &v->d;
    const rocl_work_place at = {d->agent, d->queue, d->stream};
    make_key(key, ROCL_SEQUENCE_GPU, find_work_index(p, ROCL_DISPATCH, &d->e, at), d->e.start,
             d->e.end, d->e.id, (rocl_kind)ROCL_KIND_COUNTED);
    return add_record(p, worker, key, buf, q, err);
}

static rocl_status encode_sample(rocl_encoder *p, unsigned worker, const rocl_capture *c,
                                 const rocl_sample_value *v, rocl_kind kind, rocl_error *err)
{
    uint8_t buf[128], *q = rocl_put_index(buf, v->counter);
    uint64_t key[4];
    const int64_t place[5] = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp};
    uint64_t where = 0;
    q = rocl_varint_put(q, v->e.process);
    for (unsigned i = 0; i < 5; i++) {
        q = rocl_varint_put(q, rocl_zigzag(place[i]));
        where = rocl_mix64(where ^ (uint64_t)place[i]);
    }
    q = rocl_varint_put(q, rocl_turn_real(v->value));
    make_key(key, ROCL_SEQUENCE_SAMPLED, v->counter != ROCL_NONE ? v->counter : c->counter_count,
             v->e.start, v->e.end, v->e.id, kind);
    key[2] = where;
    return add_record(p, worker, key, buf, q, err);
}

/* ---- batches ---- */

rocl_status rocl_encoder_check(const rocl_capture *c, rocl_error *err)
{
    if ((uint64_t)c->thread_count + c->process_count < INDEX_LIMIT &&
        c->agent_count < INDEX_LIMIT && c->counter_count < INDEX_LIMIT)
        return ROCL_OK;
    return rocl_fail(err, ROCL_INPUT, "%s: more than %u threads, agents or counters in one process",
                     c->path, INDEX_LIMIT - 1);
}

rocl_status rocl_encode_batch(rocl_encoder *p, unsigned worker, const rocl_batch *b,
                              rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        switch (b->kind) {
        case ROCL_REGION:
        case ROCL_MARKER:
        case ROCL_INSTANT:
            st = encode_region(p, worker, b, &b->regions[i], err);
            break;
        case ROCL_COUNTER:
            st = encode_counter(p, worker, b->capture, &b->counters[i], err);
            break;
        case ROCL_FLOW:
            st = encode_flow(p, worker, b, &b->flows[i], err);
            break;
        case ROCL_SPM:
        case ROCL_SAMPLE:
            st = encode_sample(p, worker, b->capture, &b->samples[i], b->kind, err);
            break;
        default:
            st = encode_work(p, worker, b, rocl_batch_event(b, i), err);
        }
    return st;
}

/* ---- sequences: by worker while they are encoded ---- */

static void free_counts(rocl_sequence_counts *c)
{
    rocl_map_free(&c->index);
    free(c->all);
    *c = (rocl_sequence_counts){0};
}

rocl_status rocl_encoder_sequences(const rocl_encoder *p, rocl_sequence **all, size_t *count,
                                   rocl_error *err)
{
    size_t n = 0;
    *count = 0;
    for (unsigned w = 0; w < p->trace->opt.jobs; w++)
        n += p->workers[w].counts.count;
    rocl_sequence *s = *all = reallocarray(NULL, n ? n : 1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    n = 0;
    for (unsigned w = 0; w < p->trace->opt.jobs; w++)
        for (size_t i = 0; i < p->workers[w].counts.count; i++)
            s[n++] = p->workers[w].counts.all[i];
    if (n)
        qsort(s, n, sizeof *s, rocl_compare_u64); /* by number, the first member */
    for (size_t i = 0; i < n; i++) {
        rocl_sequence *last = *count ? &s[*count - 1] : NULL;
        if (!last || last->number != s[i].number) {
            s[(*count)++] = s[i];
            continue;
        }
        last->records += s[i].records;
        last->first = s[i].first < last->first ? s[i].first : last->first;
        last->last = s[i].last > last->last ? s[i].last : last->last;
    }
    return ROCL_OK;
}

/* ---- open and close ---- */

rocl_status rocl_encoder_open(rocl_encoder *p, rocl_error *err)
{
    p->workers = rocl_cache_line_calloc(p->trace->opt.jobs, sizeof *p->workers);
    return p->workers ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_encoder_close(rocl_encoder *p)
{
    for (unsigned w = 0; p->workers && w < p->trace->opt.jobs; w++) {
        rocl_buf_free(&p->workers[w].scratch);
        rocl_map_free(&p->workers[w].ends);
        free_counts(&p->workers[w].counts);
    }
    free(p->workers);
}

rocl_sorter *rocl_record_sorter(const rocl_trace *t)
{
    rocl_sorter *s = rocl_sorter_new(t->space, 4);
    if (s)
        rocl_sorter_group(s, ROCL_SEQUENCE_SHIFT);
    return s;
}

void rocl_encoder_forget(rocl_encoder *p)
{
    rocl_sorter_free(p->sorter);
    p->sorter = NULL;
    for (unsigned w = 0; p->workers && w < p->trace->opt.jobs; w++) {
        rocl_map_free(&p->workers[w].ends);
        free_counts(&p->workers[w].counts);
    }
}

rocl_status rocl_encoder_begin(rocl_encoder *p, const rocl_capture *c, rocl_error *err)
{
    rocl_encoder_forget(p);
    p->sorter = rocl_record_sorter(p->trace);
    return p->sorter ? rocl_encoder_check(c, err) : rocl_fail_memory(err);
}

/* ---- back ---- */

#define GET_SIZE(member, type, ...) GET_SIZE_##type(e->member)
#define GET_SIZE_U32(v)             v = (uint32_t)rocl_read_value(r);
#define GET_SIZE_I64(v)             v = rocl_unzigzag(rocl_read_value(r));

static void decode_work(rocl_value_reader *r, rocl_track_event *e)
{
    e->name = rocl_read_index(r);
    e->thread = rocl_read_index(r);
    e->stack_id = rocl_read_value(r);
    e->agent = rocl_read_index(r);
    e->queue = rocl_read_index(r);
    e->stream = rocl_read_index(r);
    switch (e->kind) {
    case ROCL_DISPATCH:
        e->kernel = rocl_read_index(r);
        e->dispatch_id = rocl_read_value(r);
        ROCL_DISPATCH_SIZES(GET_SIZE, )
        e->arg_count = r->p < r->end ? (uint32_t)rocl_read_value(r) : 0;
        e->args = r->p;
        e->args_end = r->end;
        break;
    case ROCL_COPY:
        e->other_agent = rocl_read_index(r);
        e->op = (uint8_t)rocl_read_value(r); /* 1: other -> agent, 0: agent -> other */
        e->size = rocl_read_value(r);
        e->duration = (int64_t)rocl_read_value(r);
        break;
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
    case ROCL_BARRIER:
        e->other_agent = rocl_read_index(r); /* source queue */
        e->address = rocl_read_value(r);     /* graph_exec_id */
        e->size = rocl_read_value(r);        /* kernels in the graph */
        break;
    default:
        e->size = rocl_read_value(r);
    }
}

uint64_t rocl_record_key_at(const rocl_sort_record *r, uint32_t index)
{
    const uint64_t mask = (uint64_t)(INDEX_LIMIT - 1) << INDEX_SHIFT;
    return (r->key[0] & ~mask) | (uint64_t)index << INDEX_SHIFT;
}

bool rocl_record_decode(const rocl_sort_record *rec, rocl_track_event *e)
{
    rocl_value_reader r = {rec->data, rec->data + rec->len, false};
    uint64_t sequence = rocl_sequence_of(rec->key);
    e->sequence = rocl_sequence_kind_of(sequence);
    e->index = rocl_sequence_index(sequence);
    e->time = (int64_t)rec->key[1];
    e->end = (int64_t)~rec->key[2];
    e->kind = rocl_word_kind(rec->key[3]);
    e->row = rocl_word_row(rec->key[3]);
    e->arg_count = 0; /* reset, as the caller may reuse an event; some kinds have arguments */
    switch (e->sequence) {
    case ROCL_SEQUENCE_HOST:
        e->name = rocl_read_index(&r);
        e->category = rocl_read_index(&r);
        if (e->kind == ROCL_FLOW) {
            e->stack_id = 0;
            e->flow = rocl_read_value(&r);
            const uint64_t end = rocl_read_value(&r);
            e->flow_end = (rocl_flow_end)(end >> 1);
            e->flow_next = end & 1;
            break;
        }
        e->stack_id = rocl_read_value(&r);
        e->arg_count = (uint32_t)rocl_read_value(&r);
        e->args = r.p;
        e->args_end = r.end;
        break;
    case ROCL_SEQUENCE_ALLOCATED:
        e->agent = rocl_read_index(&r);
        e->delta = rocl_unzigzag(rocl_read_value(&r));
        break;
    case ROCL_SEQUENCE_BANDWIDTH:
        e->agent = rocl_read_index(&r);
        e->op = (uint8_t)rocl_read_value(&r);
        e->size = rocl_read_value(&r);
        break;
    case ROCL_SEQUENCE_PMC:
        e->counter = rocl_read_index(&r);
        e->row = rec->key[3];
        e->value = rocl_unturn_real(rocl_read_value(&r));
        break;
    case ROCL_SEQUENCE_SAMPLED:
        e->counter = rocl_read_index(&r);
        e->thread = (uint32_t)rocl_read_value(&r); /* process */
        e->address = rec->key[2];                  /* the place */
        for (unsigned i = 0; i < 5; i++)
            e->place[i] = rocl_unzigzag(rocl_read_value(&r));
        e->value = rocl_unturn_real(rocl_read_value(&r));
        break;
    default:
        if ((int)e->kind != ROCL_KIND_COUNTED) {
            decode_work(&r, e);
            break;
        }
        e->stack_id = 0;
        e->counter = rocl_read_index(&r);
        e->value = rocl_unturn_real(rocl_read_value(&r));
    }
    return !r.broken;
}

bool rocl_track_event_next_arg(rocl_track_event *e, rocl_track_arg *arg)
{
    uint64_t name, type, n;
    if (!e->arg_count || !rocl_varint_get(&e->args, e->args_end, &name) ||
        !rocl_varint_get(&e->args, e->args_end, &type) ||
        !rocl_varint_get(&e->args, e->args_end, &n) || n > (uint64_t)(e->args_end - e->args))
        return false;
    e->arg_count--;
    *arg = (rocl_track_arg){(uint32_t)name, (uint32_t)type, (const char *)e->args, n};
    e->args += n;
    return true;
}

/* Events have few arguments: those behind get a number without a look. */
enum { ARGS_COMPARED = 64 };

bool rocl_track_arg_needs_number(const rocl_trace *t, rocl_track_event e, const rocl_track_arg *arg,
                                 unsigned n, const char *const *own)
{
    const char *name = rocl_str(t, arg->name);
    rocl_track_arg other;
    for (; *own; own++)
        if (!strcmp(name, *own))
            return true;
    for (unsigned i = 1; i < n && n <= ARGS_COMPARED; i++)
        if (rocl_track_event_next_arg(&e, &other) && other.name == arg->name)
            return true;
    return n > ARGS_COMPARED;
}

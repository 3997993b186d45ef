/* Records of GPU work, and others that contain their own times. */
#include "source/chunk/chunk.h"

/* Reads the id of a definition in the chunk; returns its index in the capture; id 0: none. */
static uint32_t read_reference(chunk_worker *w, chunk_record *r, uint8_t type, rocl_fault fault)
{
    uint64_t id = chunk_read_number(r);
    uint32_t at = id ? rocl_map_get(&w->defs, chunk_def_key(type, id), ROCL_NONE) : ROCL_NONE;
    if (id && at == ROCL_NONE)
        chunk_count_fault(w, fault);
    return at;
}

#define READ_AGENT(w, r)  read_reference(w, r, ROCL_REC_AGENT, ROCL_FAULT_DANGLING_AGENT)
#define READ_QUEUE(w, r)  read_reference(w, r, ROCL_REC_QUEUE, ROCL_FAULT_DANGLING_QUEUE)
#define READ_STREAM(w, r) read_reference(w, r, ROCL_REC_STREAM, ROCL_FAULT_DANGLING_STREAM)

/* The event belongs to the thread that caused it. */
static void set_cause(const chunk_worker *w, rocl_event *e, const chunk_times *t)
{
    e->stack_id = t->correlation;
    e->thread = t->tid ? rocl_map_get(&w->process->indexes[ROCL_DEFINE_THREAD], t->tid, ROCL_NONE)
                       : ROCL_NONE;
}

/* The event of a record; NULL: its kind is not wanted. */
static void *add_event(chunk_worker *w, rocl_kind kind, const chunk_times *t, chunk_name name)
{
    const chunk_clock *k = &w->process->clock;
    rocl_event *e = chunk_event(w, kind, chunk_clock_to_ns(k, t->clock, t->start),
                                chunk_clock_to_ns(k, t->clock, t->end), name);
    if (e)
        set_cause(w, e, t);
    return e;
}

static void add_dispatch(chunk_worker *w, chunk_record *r)
{
    const rocl_capture *c = &w->process->capture->pub;
    chunk_times t = chunk_read_times(&w->reader, r);
    rocl_dispatch d = {.region_name = ROCL_NONE};
    d.agent = READ_AGENT(w, r);
    d.queue = READ_QUEUE(w, r);
    d.stream = READ_STREAM(w, r);
    d.kernel = read_reference(w, r, ROCL_REC_KERNEL, ROCL_FAULT_DANGLING_KERNEL);
    bool known = d.kernel != ROCL_NONE;
    chunk_name name = {w->process->file->words[CHUNK_W_DISPATCH],
                       known ? c->kernels[d.kernel].shown : 0};
    d.kernel_id = known ? c->kernels[d.kernel].id : 0;
    d.dispatch_id = chunk_read_number(r);
    for (int i = 0; i < 3; i++)
        d.workgroup[i] = (uint32_t)chunk_read_number(r);
    for (int i = 0; i < 3; i++)
        d.grid[i] = (uint32_t)chunk_read_number(r);
    d.private_segment = (int64_t)(chunk_read_number(r) & INT64_MAX);
    d.group_segment = (int64_t)(chunk_read_number(r) & INT64_MAX);
    rocl_dispatch *to = add_event(w, ROCL_DISPATCH, &t, name);
    if (to) {
        d.e = to->e;
        *to = d;
    }
}

static void add_memory_copy(chunk_worker *w, chunk_record *r)
{
    chunk_times t = chunk_read_times(&w->reader, r);
    rocl_copy *k = add_event(w, ROCL_COPY, &t, chunk_find_name(w, chunk_read_number(r)));
    if (!k)
        return;
    k->src = READ_AGENT(w, r);
    k->dst = READ_AGENT(w, r);
    k->queue = READ_QUEUE(w, r);
    k->stream = READ_STREAM(w, r);
    k->size = chunk_read_number(r);
    k->src_address = chunk_read_number(r);
    k->dst_address = chunk_read_number(r);
}

/* A field after the name tells scratch memory, which is a kind of its own. All are kept until they
 * can be joined in order of time. */
static void add_alloc(chunk_worker *w, chunk_record *r)
{
    const chunk_clock *k = &w->process->clock;
    chunk_times t = chunk_read_times(&w->reader, r);
    chunk_name name = chunk_find_name(w, chunk_read_number(r));
    rocl_alloc a = {0};
    a.agent = READ_AGENT(w, r);
    a.queue = READ_QUEUE(w, r);
    a.stream = READ_STREAM(w, r);
    uint64_t op = chunk_read_number(r);
    uint64_t level = chunk_read_number(r);
    a.op = op <= ROCL_OP_RECLAIM ? (rocl_alloc_op)op : ROCL_OP_OTHER;
    a.level = level <= ROCL_LEVEL_SCRATCH ? (rocl_alloc_level)level : ROCL_LEVEL_OTHER;
    a.size = chunk_read_number(r);
    a.address = chunk_read_number(r);
    a.flags = chunk_read_number(r);
    if (!chunk_event_head(w, a.level == ROCL_LEVEL_SCRATCH ? ROCL_SCRATCH : ROCL_ALLOC,
                          chunk_clock_to_ns(k, t.clock, t.start),
                          chunk_clock_to_ns(k, t.clock, t.end), name, &a.e))
        return;
    set_cause(w, &a.e, &t);
    w->st = rocl_allocs_add(w->process->allocs, w->out.worker, &a, w->err);
}

/* The allocation of a free may have been in a chunk that a ring overwrote. */
static rocl_status emit_alloc(void *ctx, rocl_kind kind, const rocl_alloc *a, rocl_error *err)
{
    chunk_worker *w = ctx;
    rocl_status st = ROCL_OK;
    rocl_alloc *to = rocl_batcher_next(&w->out, kind, &st, err);
    if (!to)
        return st;
    *to = *a;
    to->unpaired = a->unpaired && !(w->process->any->h.flags & ROCL_CHUNK_RING);
    return ROCL_OK;
}

rocl_status chunk_emit_allocs(chunk_process *p, const rocl_emitter *to, rocl_error *err)
{
    if (!p->allocs)
        return ROCL_OK;
    chunk_worker *w = chunk_worker_get(p, 0, to, err);
    if (!w)
        return ROCL_INTERNAL;
    rocl_status st = rocl_allocs_finish(p->allocs, emit_alloc, w, err);
    return st ? st : rocl_batcher_flush(&w->out, err);
}

static void add_hip(chunk_worker *w, chunk_record *r, rocl_kind kind)
{
    chunk_times t = chunk_read_times(&w->reader, r);
    rocl_hip *h = add_event(w, kind, &t, chunk_find_name(w, chunk_read_number(r)));
    if (!h)
        return;
    h->agent = READ_AGENT(w, r);
    h->queue = READ_QUEUE(w, r);
    h->stream = READ_STREAM(w, r);
    h->source_queue = ROCL_NONE;
    if (kind != ROCL_GRAPH)
        return;
    h->graph_exec_id = chunk_read_number(r);
    h->kernel_count = chunk_read_number(r);
}

static void add_sample(chunk_worker *w, chunk_record *r)
{
    const rocl_capture *c = &w->process->capture->pub;
    chunk_times t = chunk_read_times(&w->reader, r);
    uint32_t counter = read_reference(w, r, ROCL_REC_COUNTER, ROCL_FAULT_DANGLING_COUNTER);
    bool known = counter != ROCL_NONE;
    chunk_name name = {w->process->file->words[CHUNK_W_SAMPLE],
                       known ? c->counters[counter].name : 0};
    rocl_sample_value *v = add_event(w, ROCL_SAMPLE, &t, name);
    uint64_t bits = chunk_read_number(r);
    uint32_t subject =
        read_reference(w, r, ROCL_REC_SUBJECT, ROCL_FAULT_DANGLING_PROCESS); /* else this one */
    if (!v)
        return;
    v->e.process = subject == ROCL_NONE ? 0 : subject;
    v->counter = counter;
    v->agent = known ? c->counters[counter].agent : ROCL_NONE;
    memcpy(&v->value, &bits, sizeof v->value);
    v->xcc = v->shader_engine = v->instance = v->shader_array = v->wgp = -1;
}

bool chunk_add_gpu_work(chunk_worker *w, chunk_record *r)
{
    switch (r->type) {
    case ROCL_REC_DISPATCH:
        add_dispatch(w, r);
        return true;
    case ROCL_REC_COPY:
        add_memory_copy(w, r);
        return true;
    case ROCL_REC_ALLOC:
        add_alloc(w, r);
        return true;
    case ROCL_REC_BARRIER:
    case ROCL_REC_GRAPH:
        add_hip(w, r, r->type == ROCL_REC_GRAPH ? ROCL_GRAPH : ROCL_BARRIER);
        return true;
    case ROCL_REC_SAMPLE:
        add_sample(w, r);
        return true;
    default:
        return false;
    }
}

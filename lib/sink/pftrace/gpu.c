/* GPU work as typed GPU events: one packet a slice, on the hardware queue that stands for its
 * stream (or queue), with the kernel, the launch and the arguments that the viewer's plugins know.
 * The reader puts what overlaps on a queue on rows of its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"

typedef struct gpu {
    pf_part *part;
    const pf_sink *p;
    uint32_t process;
    rocl_map specs; /* (agent, kind of place, id) -> iid on this sequence */
    bool context_declared;
} gpu;

/* ---- interned things with more than a name ---- */

static void declare_context(gpu *g)
{
    rocl_buf *b = &g->part->seq.pending;
    if (g->context_declared)
        return;
    size_t at = rocl_pb_begin(b, INTERNED_CONTEXTS);
    rocl_pb_uint(b, IID, g->p->world.contexts[g->process]);
    rocl_pb_int(b, CONTEXT_PID, pf_pid(&g->p->world, g->process));
    rocl_pb_uint(b, CONTEXT_API, GPU_API_HIP);
    rocl_pb_end(b, at);
    g->context_declared = true;
}

/* Queues and stages share one space of iids, and the reader merges queues of one iid and name over
 * processes: so iids never repeat within the trace. */
static uint32_t spec(gpu *g, uint64_t key, const char *name, unsigned category)
{
    uint32_t iid = rocl_map_get(&g->specs, key, 0);
    if (iid)
        return iid;
    iid = (uint32_t)pf_number(&g->part->specs);
    rocl_buf *b = &g->part->seq.pending;
    b->failed |= !rocl_map_put(&g->specs, key, iid);
    size_t at = rocl_pb_begin(b, INTERNED_SPECS);
    rocl_pb_uint(b, IID, iid);
    size_t text = rocl_pb_begin(b, SPEC_NAME);
    rocl_utf8_put(b, name, strlen(name));
    rocl_pb_end(b, text);
    rocl_pb_uint(b, SPEC_CATEGORY, category);
    rocl_pb_end(b, at);
    return iid;
}

/* Places of work on an agent. */
enum {
    PLACE_STREAM = 1,
    PLACE_QUEUE,
    PLACE_MEMORY,
    PLACE_SCRATCH,
    PLACE_GRAPH,
    PLACE_EVENT,
    PLACE_COPY,
    PLACE_STAGE
};

static uint64_t spec_key(unsigned place, uint32_t agent, uint32_t id)
{
    return (uint64_t)place << 60 | ((uint64_t)agent & 0xfffffff) << 32 | id;
}

static uint32_t named_place(gpu *g, const rocl_track_event *e, unsigned place, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "%s", name);
    if (g->p->world.process_total > 1)
        snprintf(full, sizeof full, "%s (pid %" PRId64 ")", name, pf_pid(&g->p->world, g->process));
    return spec(g, spec_key(place, e->agent, 0), full, SPEC_OTHER);
}

static uint32_t queue_of(gpu *g, const rocl_track_event *e)
{
    const rocl_capture *c = g->p->world.capture;
    /* Not every source knows streams. */
    bool by_queue = g->p->opt.group_by_queue || (e->stream == ROCL_NONE && e->queue != ROCL_NONE);
    uint32_t id = by_queue ? e->queue : e->stream;
    char name[256];
    bool host = e->agent != ROCL_NONE && g->p->world.agent_gpus[e->agent] == ROCL_NONE;
    switch (e->kind) {
    case ROCL_ALLOC:
        return named_place(g, e, PLACE_MEMORY, host ? "Host memory" : "Memory");
    case ROCL_SCRATCH:
        return named_place(g, e, PLACE_SCRATCH, "Scratch");
    case ROCL_GRAPH:
        return named_place(g, e, PLACE_GRAPH, "Graph launches");
    default:
        break;
    }
    const rocl_queue *q = NULL;
    if (e->kind == ROCL_COPY && (host || id == ROCL_NONE))
        return named_place(g, e, PLACE_COPY, host ? "Host copies" : "Copies");
    if (id != ROCL_NONE)
        q = by_queue ? &c->queues[id] : &c->streams[id];
    uint64_t key = spec_key(by_queue ? PLACE_QUEUE : PLACE_STREAM, e->agent, id);
    uint32_t iid = rocl_map_get(&g->specs, key, 0);
    if (iid)
        return iid;
    pf_queue_name(&g->p->world, q, by_queue ? "Queue" : "Stream", g->process, name, sizeof name);
    if (e->agent == ROCL_NONE) /* it must be shown on some GPU */
        snprintf(name + strlen(name), sizeof name - strlen(name), " (unknown agent)");
    return spec(g, key, name, SPEC_COMPUTE);
}

static uint32_t stage_of(gpu *g, const rocl_track_event *e)
{
    static const char *const names[ROCL_KINDS] = {
        [ROCL_DISPATCH] = "Kernel", [ROCL_COPY] = "Copy",          [ROCL_ALLOC] = "Allocation",
        [ROCL_SCRATCH] = "Scratch", [ROCL_GRAPH] = "Graph launch", [ROCL_HIP_EVENT] = "HIP event",
        [ROCL_BARRIER] = "Barrier"};
    return spec(g, spec_key(PLACE_STAGE, 0, (uint32_t)e->kind), names[e->kind],
                e->kind == ROCL_DISPATCH ? SPEC_COMPUTE : SPEC_OTHER);
}

/* More bytes than an argument takes; an event has a dozen at most, and fits in PF_EVENT_ROOM. */
#define ARG_ROOM (3 * (ROCL_PB_TAG_MAX + ROCL_VARINT_MAX))

static uint32_t arg_name(gpu *g, pf_word name)
{
    return pf_iid(&g->part->seq, PF_ARG_NAMES, g->p->words[name]);
}

static uint8_t *put_arg(gpu *g, uint8_t *p, uint32_t field, pf_word name, int64_t v)
{
    uint8_t *arg = rocl_pb_open(p, field);
    p = rocl_pb_put_uint(arg, ARG_NAME_IID, arg_name(g, name));
    p = rocl_pb_put_uint(p, ARG_INT, (uint64_t)v);
    return rocl_pb_close(arg, p);
}

static uint8_t *put_int(gpu *g, uint8_t *p, pf_word name, int64_t v)
{
    return put_arg(g, p, LAUNCH_ARGS, name, v);
}

static uint8_t *put_text(gpu *g, uint8_t *p, pf_word name, uint32_t text)
{
    uint8_t *arg = rocl_pb_open(p, LAUNCH_ARGS);
    p = rocl_pb_put_uint(arg, ARG_NAME_IID, arg_name(g, name));
    p = rocl_pb_put_uint(p, ARG_STRING_IID, pf_iid(&g->part->seq, PF_STRINGS, text));
    return rocl_pb_close(arg, p);
}

/* What is the same for every dispatch of a kernel is said once, with the kernel. */
static uint32_t kernel_iid(gpu *g, uint32_t kernel)
{
    const rocl_capture *c = g->p->world.capture;
    const rocl_kernel *k = &c->kernels[kernel];
    bool fresh;
    uint32_t iid = pf_iid_custom(&g->part->seq, PF_KERNELS, kernel, &fresh);
    if (!fresh)
        return iid;
    uint32_t demangled = rocl_kernel_demangled(g->p->trace, c, kernel);
    /* Arguments intern their names first: pending must not be open for the kernel meanwhile. */
    static const pf_word names[] = {W_REGISTERS, W_ACCUM_VGPR, W_SGPR, W_SHARED_STATIC};
    const int64_t values[] = {k->arch_vgpr, k->accum_vgpr, k->sgpr, k->group_segment};
    for (unsigned i = 0; i < 4; i++)
        arg_name(g, names[i]);
    rocl_buf *b = &g->part->seq.pending;
    size_t at = rocl_pb_begin(b, INTERNED_KERNELS);
    rocl_pb_uint(b, IID, iid);
    pf_text(b, KERNEL_NAME, g->p->trace, k->mangled);
    pf_text(b, KERNEL_DEMANGLED, g->p->trace, demangled);
    if (k->agent != ROCL_NONE)
        pf_text(b, KERNEL_ARCH, g->p->trace, c->agents[k->agent].name);
    for (unsigned i = 0; i < 4 && rocl_buf_reserve(b, ARG_ROOM); i++)
        b->len = (size_t)(put_arg(g, b->data + b->len, KERNEL_ARGS, names[i], values[i]) - b->data);
    rocl_pb_end(b, at);
    return iid;
}

/* ---- events ---- */

static uint8_t *put_dim(uint8_t *p, uint32_t field, const uint32_t dim[3])
{
    uint8_t *begin = p = rocl_pb_open(p, field);
    for (unsigned i = 0; i < 3; i++)
        p = rocl_pb_put_uint(p, i + 1, dim[i]);
    return rocl_pb_close(begin, p);
}

/* 0: it is not known, or no number of ours. */
static int64_t volume(const uint32_t dim[3])
{
    int64_t v = dim[0];
    for (unsigned i = 1; i < 3; i++)
        if (__builtin_mul_overflow(v, (int64_t)dim[i], &v))
            return 0;
    return v;
}

/* A grid is measured in work-items by AMD, in workgroups by Perfetto; the last workgroup of a row
 * need not be full. What the source does not know is left out. */
static uint8_t *put_sizes(gpu *g, uint8_t *p, const rocl_track_event *e)
{
    const int64_t items = volume(e->grid), size = volume(e->workgroup);
    uint32_t groups[3] = {0};
    for (unsigned i = 0; i < 3 && size; i++)
        groups[i] = e->grid[i] / e->workgroup[i] + (e->grid[i] % e->workgroup[i] != 0);
    const int64_t count = volume(groups);
    if (count)
        p = put_dim(p, LAUNCH_GRID, groups);
    if (size) {
        p = put_dim(p, LAUNCH_WORKGROUP, e->workgroup);
        p = put_int(g, p, W_WORKGROUP_SIZE, size);
    }
    if (count)
        p = put_int(g, p, W_GRID_SIZE, count);
    return items ? put_int(g, p, W_THREAD_COUNT, items) : p;
}

static uint8_t *put_kernel(gpu *g, uint8_t *p, const rocl_track_event *e)
{
    p = put_sizes(g, p, e);
    if (e->group_segment)
        p = put_int(g, p, W_LDS_BYTES, e->group_segment);
    if (e->private_segment)
        p = put_int(g, p, W_SCRATCH_BYTES, e->private_segment);
    if (g->p->trace->opt.args)
        p = put_int(g, p, W_DISPATCH_ID, (int64_t)e->dispatch_id);
    return p;
}

static uint32_t label_of(const gpu *g, uint32_t agent)
{
    return agent == ROCL_NONE ? 0 : g->p->world.capture->agents[agent].label;
}

static uint8_t *put_copy(gpu *g, uint8_t *p, const rocl_track_event *e)
{
    uint32_t self = label_of(g, e->agent), other = label_of(g, e->other_agent);
    p = put_int(g, p, W_BYTES, (int64_t)e->size);
    if (e->duration > 0)
        p = put_int(g, p, W_BYTES_PER_SECOND, (int64_t)rocl_rate(e->size, e->duration));
    p = put_text(g, p, W_SRC, e->op ? other : self);
    return put_text(g, p, W_DST, e->op ? self : other);
}

static uint8_t *put_launch(gpu *g, uint8_t *p, const rocl_track_event *e)
{
    const rocl_capture *c = g->p->world.capture;
    uint8_t *begin = p = rocl_pb_open(p, STAGE_LAUNCH);
    uint32_t device = e->agent == ROCL_NONE ? ROCL_NONE : g->p->world.agent_gpus[e->agent];
    int64_t stream = e->stream != ROCL_NONE  ? c->streams[e->stream].id
                     : e->queue != ROCL_NONE ? c->queues[e->queue].id
                                             : 0;
    /* Integers on every slice: the viewer builds its tree of devices and streams from them. */
    p = put_int(g, p, W_DEVICE, device == ROCL_NONE ? 0 : device);
    p = put_int(g, p, W_STREAM, stream);
    switch (e->kind) {
    case ROCL_DISPATCH:
        p = put_kernel(g, p, e);
        break;
    case ROCL_COPY:
        p = put_copy(g, p, e);
        break;
    case ROCL_GRAPH:
        p = put_int(g, p, W_KERNELS, (int64_t)e->size);
        break;
    case ROCL_HIP_EVENT:
    case ROCL_BARRIER:
        break;
    default:
        p = put_int(g, p, W_BYTES, (int64_t)e->size);
    }
    return rocl_pb_close(begin, p);
}

static void write_stage(gpu *g, const rocl_track_event *e)
{
    const pf_sink *s = g->p;
    pf_seq *q = &g->part->seq;
    uint32_t device = e->agent == ROCL_NONE ? ROCL_NONE : s->world.agent_gpus[e->agent];
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    rocl_buf *b = pf_event_begin(q, PKT_GPU_STAGE, e->time);
    if (b->failed)
        return;
    declare_context(g);
    uint8_t *p = rocl_pb_put_uint(b->data + b->len, STAGE_CONTEXT, s->world.contexts[g->process]);
    p = rocl_pb_put_uint(p, STAGE_GPU, device == ROCL_NONE ? 0 : device);
    p = rocl_pb_put_uint(p, STAGE_QUEUE_IID, queue_of(g, e));
    p = rocl_pb_put_uint(p, STAGE_IID, stage_of(g, e));
    if (e->kind == ROCL_DISPATCH && e->kernel != ROCL_NONE)
        p = rocl_pb_put_uint(p, STAGE_KERNEL_IID, kernel_iid(g, e->kernel));
    p = rocl_pb_put_uint(p, STAGE_NAME_IID, pf_iid(q, PF_NAMES, name));
    p = put_launch(g, p, e);
    p = rocl_pb_put_uint(p, STAGE_EVENT_ID, e->stack_id ? pf_link(&s->world, e->stack_id) : 0);
    p = rocl_pb_put_uint(p, STAGE_DURATION, (uint64_t)(e->end - e->time));
    b->len = (size_t)(p - b->data);
    pf_event_end(q);
    g->part->report.slices++;
}

static rocl_status begin(pf_part *p, void *state, rocl_error *err)
{
    gpu *g = state;
    (void)err;
    g->part = p;
    g->p = p->sink;
    g->process = p->event.index;
    pf_part_begin(p, p->event.time, 0);
    return ROCL_OK;
}

static rocl_status record(pf_part *p, void *state, rocl_error *err)
{
    (void)err;
    write_stage(state, &p->event);
    return ROCL_OK;
}

static void forget(void *state)
{
    rocl_map_free(&((gpu *)state)->specs);
}

const pf_room pf_room_gpu = {sizeof(gpu), begin, record, NULL, forget};

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
    rocl_map_put(&g->specs, key, iid);
    rocl_buf *b = &g->part->seq.pending;
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

static uint32_t named_place(gpu *g, const rocl_packed *e, unsigned place, const char *name)
{
    char full[128];
    snprintf(full, sizeof full, "%s", name);
    if (g->p->world.process_total > 1)
        snprintf(full, sizeof full, "%s (pid %" PRId64 ")", name, pf_pid(&g->p->world, g->process));
    return spec(g, spec_key(place, e->agent, 0), full, SPEC_OTHER);
}

static uint32_t queue_of(gpu *g, const rocl_packed *e)
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

static uint32_t stage_of(gpu *g, const rocl_packed *e)
{
    static const char *const names[ROCL_KINDS] = {
        [ROCL_DISPATCH] = "Kernel", [ROCL_COPY] = "Copy",          [ROCL_ALLOC] = "Allocation",
        [ROCL_SCRATCH] = "Scratch", [ROCL_GRAPH] = "Graph launch", [ROCL_HIP_EVENT] = "HIP event",
        [ROCL_BARRIER] = "Barrier"};
    return spec(g, spec_key(PLACE_STAGE, 0, (uint32_t)e->kind), names[e->kind],
                e->kind == ROCL_DISPATCH ? SPEC_COMPUTE : SPEC_OTHER);
}

static uint32_t arg_name(gpu *g, pf_word name)
{
    return pf_iid(&g->part->seq, PF_ARG_NAMES, g->p->words[name]);
}

static void arg_int(gpu *g, rocl_buf *b, uint32_t field, pf_word name, int64_t v)
{
    size_t at = rocl_pb_begin(b, field);
    rocl_pb_uint(b, ARG_NAME_IID, arg_name(g, name));
    rocl_pb_int(b, ARG_INT, v);
    rocl_pb_end(b, at);
}

static void arg_text(gpu *g, rocl_buf *b, pf_word name, uint32_t text)
{
    size_t at = rocl_pb_begin(b, LAUNCH_ARGS);
    rocl_pb_uint(b, ARG_NAME_IID, arg_name(g, name));
    rocl_pb_uint(b, ARG_STRING_IID, pf_iid(&g->part->seq, PF_STRINGS, text));
    rocl_pb_end(b, at);
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
    for (unsigned i = 0; i < 4; i++)
        arg_int(g, b, KERNEL_ARGS, names[i], values[i]);
    rocl_pb_end(b, at);
    return iid;
}

/* ---- events ---- */

static void put_dim(rocl_buf *b, uint32_t field, const uint32_t dim[3])
{
    size_t at = rocl_pb_begin(b, field);
    for (unsigned i = 0; i < 3; i++)
        rocl_pb_uint(b, i + 1, dim[i]);
    rocl_pb_end(b, at);
}

static int64_t volume(const uint32_t dim[3])
{
    return (int64_t)((uint64_t)dim[0] * dim[1] * dim[2]);
}

static void kernel_launch(gpu *g, rocl_buf *b, const rocl_packed *e)
{
    if (volume(e->grid) || volume(e->workgroup)) { /* else the source does not know them */
        put_dim(b, LAUNCH_GRID, e->grid);
        put_dim(b, LAUNCH_WORKGROUP, e->workgroup);
        arg_int(g, b, LAUNCH_ARGS, W_WORKGROUP_SIZE, volume(e->workgroup));
        arg_int(g, b, LAUNCH_ARGS, W_GRID_SIZE, volume(e->grid));
    }
    if (e->group_segment)
        arg_int(g, b, LAUNCH_ARGS, W_LDS_BYTES, e->group_segment);
    if (e->private_segment)
        arg_int(g, b, LAUNCH_ARGS, W_SCRATCH_BYTES, e->private_segment);
    if (g->p->trace->opt.args)
        arg_int(g, b, LAUNCH_ARGS, W_DISPATCH_ID, (int64_t)e->dispatch_id);
}

static uint32_t label_of(const gpu *g, uint32_t agent)
{
    return agent == ROCL_NONE ? 0 : g->p->world.capture->agents[agent].label;
}

static void copy_launch(gpu *g, rocl_buf *b, const rocl_packed *e)
{
    uint32_t self = label_of(g, e->agent), other = label_of(g, e->other_agent);
    arg_int(g, b, LAUNCH_ARGS, W_BYTES, (int64_t)e->size);
    if (e->duration > 0)
        arg_int(g, b, LAUNCH_ARGS, W_BYTES_PER_SECOND, (int64_t)rocl_rate(e->size, e->duration));
    arg_text(g, b, W_SRC, e->op ? other : self);
    arg_text(g, b, W_DST, e->op ? self : other);
}

static void put_launch(gpu *g, rocl_buf *b, const rocl_packed *e)
{
    const rocl_capture *c = g->p->world.capture;
    size_t at = rocl_pb_begin(b, STAGE_LAUNCH);
    uint32_t device = e->agent == ROCL_NONE ? ROCL_NONE : g->p->world.agent_gpus[e->agent];
    int64_t stream = e->stream != ROCL_NONE  ? c->streams[e->stream].id
                     : e->queue != ROCL_NONE ? c->queues[e->queue].id
                                             : 0;
    /* Integers on every slice: the viewer builds its tree of devices and streams from them. */
    arg_int(g, b, LAUNCH_ARGS, W_DEVICE, device == ROCL_NONE ? 0 : device);
    arg_int(g, b, LAUNCH_ARGS, W_STREAM, stream);
    switch (e->kind) {
    case ROCL_DISPATCH:
        kernel_launch(g, b, e);
        break;
    case ROCL_COPY:
        copy_launch(g, b, e);
        break;
    case ROCL_GRAPH:
        arg_int(g, b, LAUNCH_ARGS, W_KERNELS, (int64_t)e->size);
        break;
    case ROCL_HIP_EVENT:
    case ROCL_BARRIER:
        break;
    default:
        arg_int(g, b, LAUNCH_ARGS, W_BYTES, (int64_t)e->size);
    }
    rocl_pb_end(b, at);
}

static void write_stage(gpu *g, const rocl_packed *e)
{
    const pf_sink *p = g->p;
    uint32_t device = e->agent == ROCL_NONE ? ROCL_NONE : p->world.agent_gpus[e->agent];
    rocl_buf *b = pf_event_begin(&g->part->seq, e->time);
    declare_context(g);
    rocl_pb_uint(b, STAGE_CONTEXT, p->world.contexts[g->process]);
    rocl_pb_int(b, STAGE_GPU, device == ROCL_NONE ? 0 : device);
    rocl_pb_uint(b, STAGE_QUEUE_IID, queue_of(g, e));
    rocl_pb_uint(b, STAGE_IID, stage_of(g, e));
    if (e->kind == ROCL_DISPATCH && e->kernel != ROCL_NONE)
        rocl_pb_uint(b, STAGE_KERNEL_IID, kernel_iid(g, e->kernel));
    rocl_pb_uint(
        b, STAGE_NAME_IID,
        pf_iid(&g->part->seq, PF_NAMES, e->name == ROCL_NONE ? p->words[W_UNNAMED] : e->name));
    put_launch(g, b, e);
    rocl_pb_uint(b, STAGE_EVENT_ID, e->stack_id ? pf_link(&p->world, e->stack_id) : 0);
    rocl_pb_uint(b, STAGE_DURATION, (uint64_t)(e->end - e->time));
    pf_event_end(&g->part->seq, PKT_GPU_STAGE);
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

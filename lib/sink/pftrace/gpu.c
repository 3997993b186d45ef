/* GPU work as typed GPU events: one packet a slice, on the hardware queue that stands for its
 * stream (or queue), with the kernel, the launch and the arguments that the viewer's plugins know.
 * The reader puts work that overlaps on a queue on separate rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/pf.h"

/* ---- interned things with more than a name ---- */

void pf_begin_stages(pf_drawing *p)
{
    rocl_buf *b = &p->seq.pending;
    memset(p->stages, 0, sizeof p->stages);
    size_t at = rocl_pb_begin(b, INTERNED_CONTEXTS);
    rocl_pb_uint(b, IID, p->sink->owners.processes[p->drawing.process].context);
    rocl_pb_int(b, CONTEXT_PID, p->sink->owners.processes[p->drawing.process].pid);
    rocl_pb_uint(b, CONTEXT_API, GPU_API_HIP);
    rocl_pb_end(b, at);
}

/* Queues and stages share one space of iids, and the reader merges queues of one iid and name over
 * processes: so iids never repeat within the trace. Those of a sequence that is cut have a number
 * each, for its pieces must give a queue the same iid, whichever of them each meets first: kinds of
 * stages, then tracks. */
static uint64_t count_ids(const rocl_capture *c) /* of a kind of track on an agent */
{
    return (uint64_t)c->stream_count + c->queue_count + c->thread_count + 1;
}

static uint64_t number_track(const rocl_capture *c, const rocl_track *t)
{
    const uint32_t id = t->thread != ROCL_NONE ? t->thread : t->id;
    const uint64_t agent = t->agent == ROCL_NONE ? c->agent_count : t->agent;
    const uint64_t on_agent = id == ROCL_NONE ? count_ids(c) - 1 : id;
    return ROCL_KINDS + (t->kind * ((uint64_t)c->agent_count + 1) + agent) * count_ids(c) +
           on_agent;
}

bool pf_can_cut_work(const pf_sink *p)
{
    const rocl_capture *c = p->owners.capture;
    const uint64_t on_agent = ROCL_TRACK_WORK_KINDS * count_ids(c);
    return p->timeline.ops->work_overlaps &&
           ROCL_KINDS + on_agent * ((uint64_t)c->agent_count + 1) <
               UINT32_MAX / (p->owners.sequences + 1);
}

/* description: may be "". */
static uint32_t add_spec(pf_drawing *p, uint64_t number, const char *name, const char *description,
                         unsigned category)
{
    rocl_buf *b = &p->seq.pending;
    uint32_t iid =
        (uint32_t)(p->first_spec ? p->first_spec + number * p->specs.step : pf_number(&p->specs));
    size_t at = rocl_pb_begin(b, INTERNED_SPECS);
    rocl_pb_uint(b, IID, iid);
    pf_string(b, SPEC_NAME, name, strlen(name));
    if (*description)
        pf_string(b, SPEC_DESCRIPTION, description, strlen(description));
    rocl_pb_uint(b, SPEC_CATEGORY, category);
    rocl_pb_end(b, at);
    return iid;
}

/* The HSA queue of the kernels of a stream is written once, in the description, as most streams
 * have only one: it is that of the current event, and the upper half of the number. Kernels on
 * other queues name theirs. */
static uint64_t said_queue(uint32_t queue)
{
    return (uint64_t)(queue + 1) << 32; /* 0: none */
}

uint64_t pf_define_queue(pf_drawing *p, const rocl_track *t)
{
    const pf_owners *w = &p->sink->owners;
    const rocl_track_event *e = &p->drawing.event;
    bool queue = t->kind <= ROCL_TRACK_QUEUE;
    char own[160], pid[40] = "", name[256], description[256] = "";
    uint32_t said = ROCL_NONE;
    rocl_work_label(w->trace, w->capture, t, t->agent != ROCL_NONE && !t->gpu, own, sizeof own);
    if (w->process_total > 1)
        snprintf(pid, sizeof pid, " (pid %" PRId64 ")", w->processes[t->process].pid);
    /* It must be shown on some GPU. */
    const char *unknown = queue && t->agent == ROCL_NONE ? " (unknown agent)" : "";
    snprintf(name, sizeof name, "%s%s%s", own, pid, unknown);
    if (t->kind == ROCL_TRACK_STREAM && e->kind == ROCL_DISPATCH && e->stream != ROCL_NONE &&
        e->queue != ROCL_NONE) {
        const rocl_queue *q = &w->capture->queues[e->queue];
        said = e->queue;
        snprintf(description, sizeof description, PF_QUEUE_SAID "%" PRIu64 ": %s", (uint64_t)q->id,
                 rocl_str(w->trace, q->label));
    }
    return said_queue(said) | add_spec(p, number_track(w->capture, t), name, description,
                                       queue ? SPEC_COMPUTE : SPEC_OTHER);
}

/* More than an argument takes; an event has at most a dozen, and fits in PF_EVENT_BYTES. */
#define ARG_BYTES (3 * (ROCL_PB_TAG_MAX + ROCL_VARINT_MAX))

static uint32_t arg_name(pf_drawing *p, pf_word name)
{
    return pf_iid(&p->seq, PF_ARG_NAMES, p->sink->words[name]);
}

static uint8_t *put_arg(pf_drawing *p, uint8_t *at, uint32_t field, pf_word name, int64_t v)
{
    uint8_t *arg = rocl_pb_open(at, field);
    at = rocl_pb_put_uint(arg, ARG_NAME_IID, arg_name(p, name));
    at = rocl_pb_put_uint(at, ARG_INT, (uint64_t)v);
    return rocl_pb_close(arg, at);
}

static uint8_t *put_int(pf_drawing *p, uint8_t *at, pf_word name, int64_t v)
{
    return put_arg(p, at, LAUNCH_ARGS, name, v);
}

/* Facts common to all dispatches of a kernel are written once, with the kernel; also the target it
 * was built for: for a kernel without an agent, that of the first dispatch. */
static uint32_t kernel_iid(pf_drawing *p, uint32_t kernel, uint32_t agent)
{
    const rocl_capture *c = p->sink->owners.capture;
    const rocl_kernel *k = &c->kernels[kernel];
    bool fresh;
    agent = k->agent != ROCL_NONE ? k->agent : agent;
    uint32_t iid = pf_iid_custom(&p->seq, PF_KERNELS, kernel, &fresh);
    if (!fresh)
        return iid;
    uint32_t demangled = rocl_kernel_demangled(p->sink->trace, c, kernel);
    /* Arguments intern their names first: pending must not be open for the kernel meanwhile. */
    static const pf_word names[] = {W_REGISTERS, W_ACCUM_VGPR, W_SGPR, W_SHARED_STATIC};
    const int64_t values[] = {k->arch_vgpr, k->accum_vgpr, k->sgpr, k->group_segment};
    for (unsigned i = 0; i < 4; i++)
        arg_name(p, names[i]);
    rocl_buf *b = &p->seq.pending;
    size_t packet = rocl_pb_begin(b, INTERNED_KERNELS);
    rocl_pb_uint(b, IID, iid);
    pf_text(b, KERNEL_NAME, p->sink->trace, k->mangled);
    pf_text(b, KERNEL_DEMANGLED, p->sink->trace, demangled);
    if (agent != ROCL_NONE && c->agents[agent].name)
        pf_text(b, KERNEL_ARCH, p->sink->trace, c->agents[agent].name);
    for (unsigned i = 0; i < 4 && rocl_buf_reserve(b, ARG_BYTES); i++)
        b->len = (size_t)(put_arg(p, b->data + b->len, KERNEL_ARGS, names[i], values[i]) - b->data);
    rocl_pb_end(b, packet);
    return iid;
}

/* ---- events ---- */

static uint8_t *put_dim(uint8_t *at, uint32_t field, const uint32_t dim[3])
{
    uint8_t *begin = at = rocl_pb_open(at, field);
    for (unsigned i = 0; i < 3; i++)
        at = rocl_pb_put_uint(at, i + 1, dim[i]);
    return rocl_pb_close(begin, at);
}

/* 0: unknown, or out of range. */
static int64_t multiply_dims(const uint32_t dim[3])
{
    int64_t v = dim[0];
    for (unsigned i = 1; i < 3; i++)
        if (__builtin_mul_overflow(v, (int64_t)dim[i], &v))
            return 0;
    return v;
}

/* A grid is measured in work-items by AMD, in workgroups by Perfetto; the last workgroup of a row
 * need not be full. What the source does not know is left out. */
static uint8_t *put_kernel(pf_drawing *p, uint8_t *at, const rocl_track_event *e)
{
    const int64_t items = multiply_dims(e->grid), size = multiply_dims(e->workgroup);
    uint32_t groups[3] = {0};
    for (unsigned i = 0; i < 3 && size; i++)
        groups[i] = e->grid[i] / e->workgroup[i] + (e->grid[i] % e->workgroup[i] != 0);
    const int64_t count = multiply_dims(groups);
    static const pf_word words[] = {W_WORKGROUP_SIZE, W_GRID_SIZE, W_THREAD_COUNT, W_LDS_BYTES,
                                    W_SCRATCH_BYTES};
    const int64_t values[] = {size, count, items, e->group_segment, e->private_segment};
    if (count)
        at = put_dim(at, LAUNCH_GRID, groups);
    if (size)
        at = put_dim(at, LAUNCH_WORKGROUP, e->workgroup);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (values[i])
            at = put_int(p, at, words[i], values[i]);
    if (p->sink->trace->opt.args)
        at = put_int(p, at, W_DISPATCH_ID, (int64_t)e->dispatch_id);
    /* Under the names of the counters; the caller has reserved the bytes. */
    const rocl_capture *c = p->sink->owners.capture;
    for (uint32_t i = 0; i < p->drawing.counted_count; i++) {
        const struct rocl_counted *v = &p->drawing.counted[i];
        if (v->counter >= c->counter_count)
            continue;
        uint8_t *arg = rocl_pb_open(at, LAUNCH_ARGS);
        at = rocl_pb_put_uint(arg, ARG_NAME_IID,
                              pf_iid(&p->seq, PF_ARG_NAMES, c->counters[v->counter].name));
        at = pf_put_number(at, ARG_INT, ARG_DOUBLE, v->value);
        at = rocl_pb_close(arg, at);
    }
    return at;
}

static uint8_t *put_launch(pf_drawing *p, uint8_t *at, const rocl_track_event *e, uint64_t track)
{
    const rocl_capture *c = p->sink->owners.capture;
    const rocl_gpu *gpu = rocl_gpu_of(c, e->agent);
    uint8_t *begin = at = rocl_pb_open(at, STAGE_LAUNCH);
    int64_t stream = e->stream != ROCL_NONE  ? c->streams[e->stream].id
                     : e->queue != ROCL_NONE ? c->queues[e->queue].id
                                             : 0;
    /* Integers on every slice: the viewer builds its tree of devices and streams from them. */
    at = put_int(p, at, W_DEVICE, gpu ? (int64_t)gpu->id : -1);
    at = put_int(p, at, W_STREAM, stream);
    if (e->kind == ROCL_DISPATCH && e->stream != ROCL_NONE &&
        said_queue(e->queue) != track >> 32 << 32)
        at = put_int(p, at, W_QUEUE, e->queue != ROCL_NONE ? c->queues[e->queue].id : -1);
    if (e->kind == ROCL_DISPATCH) {
        at = put_kernel(p, at, e);
    } else if (e->kind == ROCL_COPY) {
        static const pf_word ends[] = {W_SRC, W_DST};
        const uint32_t indexes[] = {e->op ? e->other_agent : e->agent,
                                    e->op ? e->agent : e->other_agent};
        at = put_int(p, at, W_BYTES, (int64_t)e->size);
        if (e->duration > 0)
            at = put_int(p, at, W_BYTES_PER_SECOND, (int64_t)rocl_rate(e->size, e->duration));
        for (unsigned i = 0; i < 2; i++) {
            const uint32_t label = pf_agent_label(&p->sink->owners, indexes[i]);
            uint8_t *arg = rocl_pb_open(at, LAUNCH_ARGS);
            at = rocl_pb_put_uint(arg, ARG_NAME_IID, arg_name(p, ends[i]));
            at = rocl_pb_put_uint(at, ARG_STRING_IID, pf_iid(&p->seq, PF_STRINGS, label));
            at = rocl_pb_close(arg, at);
        }
    } else if (e->kind == ROCL_GRAPH) {
        at = put_int(p, at, W_KERNELS, (int64_t)e->size);
    } else if (e->kind != ROCL_HIP_EVENT && e->kind != ROCL_BARRIER) {
        at = put_int(p, at, W_BYTES, (int64_t)e->size);
    }
    return rocl_pb_close(begin, at);
}

rocl_status pf_write_stage(rocl_drawing *base, uint64_t track, rocl_error *err)
{
    static const char *const stages[ROCL_KINDS] = {
        [ROCL_DISPATCH] = PF_STAGE_KERNEL,  [ROCL_COPY] = PF_STAGE_COPY,
        [ROCL_ALLOC] = PF_STAGE_ALLOCATION, [ROCL_SCRATCH] = PF_STAGE_SCRATCH,
        [ROCL_GRAPH] = PF_STAGE_GRAPH,      [ROCL_HIP_EVENT] = PF_STAGE_HIP_EVENT,
        [ROCL_BARRIER] = PF_STAGE_BARRIER};
    pf_drawing *p = pf_drawing_of(base);
    const pf_sink *s = p->sink;
    const rocl_track_event *e = &p->drawing.event;
    pf_seq *q = &p->seq;
    const uint32_t gpu = pf_gpu_place(p, e->agent);
    uint32_t *stage = &p->stages[e->kind];
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    rocl_buf *b = pf_event_begin(q, PKT_GPU_STAGE, e->time);
    (void)err;
    if (b->failed || (p->drawing.counted_count &&
                      !rocl_buf_reserve(b, PF_EVENT_BYTES + p->drawing.counted_count * ARG_BYTES)))
        return ROCL_OK;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, STAGE_CONTEXT,
                                   s->owners.processes[p->drawing.process].context);
    if (gpu != ROCL_NONE)
        at = rocl_pb_put_uint(at, STAGE_GPU, gpu);
    at = rocl_pb_put_uint(at, STAGE_QUEUE_IID, (uint32_t)track);
    if (!*stage)
        *stage = add_spec(p, e->kind, stages[e->kind], "",
                          e->kind == ROCL_DISPATCH ? SPEC_COMPUTE : SPEC_OTHER);
    at = rocl_pb_put_uint(at, STAGE_IID, *stage);
    if (e->kind == ROCL_DISPATCH && e->kernel != ROCL_NONE)
        at = rocl_pb_put_uint(at, STAGE_KERNEL_IID, kernel_iid(p, e->kernel, e->agent));
    at = rocl_pb_put_uint(at, STAGE_NAME_IID, pf_iid(q, PF_NAMES, name));
    at = put_launch(p, at, e, track);
    at = rocl_pb_put_uint(at, STAGE_EVENT_ID,
                          e->stack_id ? rocl_link_id(s->owners.capture, e->stack_id) : 0);
    at = rocl_pb_put_uint(at, STAGE_DURATION, (uint64_t)(e->end - e->time));
    b->len = (size_t)(at - b->data);
    if (e->kind == ROCL_DISPATCH && e->arg_count) {
        /* Further arguments of a dispatch from its source, texts of any length. */
        rocl_track_event args = *e;
        rocl_track_arg arg;
        while (rocl_track_event_next_arg(&args, &arg)) {
            const size_t extra = rocl_pb_begin(b, STAGE_EXTRA);
            pf_text(b, EXTRA_NAME, s->trace, arg.name);
            pf_string(b, EXTRA_VALUE, arg.value, arg.len);
            rocl_pb_end(b, extra);
        }
    }
    pf_event_end(q);
    return ROCL_OK;
}

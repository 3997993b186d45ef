/* GPU work as plain track events, for viewers without typed GPU events, with the annotations by
 * which TraceLens reads rocprofv3's file: tracks named and placed as AMD's converter does (STREAM
 * [n]; COMPUTE ... QUEUE and COPY to with --group-by-queue), flows by 64-bit ids. Slices that
 * overlap on a track go to lanes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/pf.h"

bool pf_legacy_agent(const pf_sink *p, uint32_t agent, bool type, char *s, size_t size)
{
    const char *label = rocl_str(p->trace, pf_agent_label(&p->owners, agent));
    const char *space = strrchr(label, ' ');
    if (space)
        snprintf(s, size, "%.*s [%s]%s%s%s", (int)(space - label), label, space + 1,
                 type ? " (" : "",
                 type ? rocl_str(p->trace, p->owners.capture->agents[agent].type_name) : "",
                 type ? ")" : "");
    return space;
}

static int64_t id_or_zero(const rocl_queue *all, uint32_t index)
{
    return index == ROCL_NONE ? 0 : all[index].id;
}

uint64_t pf_define_legacy(pf_drawing *p, const rocl_track *t)
{
    const rocl_capture *c = p->sink->owners.capture;
    const char *type =
        t->agent == ROCL_NONE ? "?" : rocl_str(p->sink->trace, c->agents[t->agent].type_name);
    char agent[96], name[192];
    if (!pf_legacy_agent(p->sink, t->agent, false, agent, sizeof agent))
        strcpy(agent, "Agent [?]");
    if (t->kind == ROCL_TRACK_STREAM)
        snprintf(name, sizeof name, "STREAM [%" PRId64 "]", id_or_zero(c->streams, t->id));
    else if (t->kind == ROCL_TRACK_COPIES)
        snprintf(name, sizeof name, "COPY to %s THREAD [%" PRId64 "] (%s)", agent,
                 t->thread == ROCL_NONE ? 0 : c->threads[t->thread].tid, type);
    else
        snprintf(name, sizeof name, "COMPUTE %s QUEUE [%" PRId64 "] %s", agent,
                 id_or_zero(c->queues, t->id), type);
    /* Lanes have one name, so that viewers show them as one track of several rows. */
    return pf_new_track(p, p->sink->owners.processes[t->process].uuid, name, NULL);
}

static void note_number(pf_drawing *p, rocl_buf *b, pf_word name, int64_t v)
{
    pf_note_uint(&p->seq, b, p->sink->words[name], (uint64_t)v);
}

void pf_note_times(pf_drawing *p, rocl_buf *b, const rocl_track_event *e)
{
    note_number(p, b, W_BEGIN_NS, e->time);
    note_number(p, b, W_END_NS, e->end);
    note_number(p, b, W_DELTA_NS, e->end - e->time);
}

/* The number in "Agent 2", as rocprofv3 tells the ends of copies. */
static void note_agent_number(pf_drawing *p, rocl_buf *b, pf_word name, uint32_t label)
{
    const char *text = rocl_text(p->sink->trace, label, NULL), *space = strrchr(text, ' ');
    if (space && space[1] >= '0' && space[1] <= '9')
        note_number(p, b, name, strtoll(space + 1, NULL, 10));
}

/* All work-items; of a number beyond int64 nothing. */
static void note_size(pf_drawing *p, rocl_buf *b, pf_word name, const uint32_t d[3])
{
    int64_t v = d[0];
    if (!__builtin_mul_overflow(v, (int64_t)d[1], &v) &&
        !__builtin_mul_overflow(v, (int64_t)d[2], &v))
        note_number(p, b, name, v);
}

static void note_dims(pf_drawing *p, rocl_buf *b, pf_word name, const uint32_t d[3])
{
    char text[64];
    int n = snprintf(text, sizeof text, "(%u, %u, %u)", d[0], d[1], d[2]);
    pf_note_str(&p->seq, b, p->sink->words[name], text, (size_t)n);
}

static void kernel_notes(pf_drawing *p, rocl_buf *b, const rocl_track_event *e)
{
    const rocl_capture *c = p->sink->owners.capture;
    if (e->agent != ROCL_NONE) {
        size_t n;
        const char *bytes = rocl_strings_get(p->sink->trace->strings,
                                             pf_agent_label(&p->sink->owners, e->agent), &n);
        pf_note_str(&p->seq, b, p->sink->words[W_AGENT], bytes, n);
    }
    note_number(p, b, W_QUEUE, id_or_zero(c->queues, e->queue));
    note_number(p, b, W_STREAM_ID, id_or_zero(c->streams, e->stream));
    note_number(p, b, W_ROCPROFV3_STREAM_ID, id_or_zero(c->streams, e->stream));
    note_number(p, b, W_SCRATCH_SIZE, e->private_segment);
    note_number(p, b, W_LDS_BLOCK_SIZE, e->group_segment);
    if (e->kernel != ROCL_NONE) {
        const rocl_kernel *k = &c->kernels[e->kernel];
        note_number(p, b, W_KERNEL_ID, k->id);
        note_number(p, b, W_VGPR_COUNT, k->arch_vgpr);
        note_number(p, b, W_ACCUM_VGPR_COUNT, k->accum_vgpr);
        note_number(p, b, W_SGPR_COUNT, k->sgpr);
    }
    note_size(p, b, W_WORKGROUP_SIZE, e->workgroup);
    note_size(p, b, W_GRID_SIZE, e->grid);
    note_dims(p, b, W_WORKGROUP, e->workgroup);
    note_dims(p, b, W_GRID, e->grid);
    for (uint32_t i = 0; i < p->drawing.counted_count; i++)
        if (p->drawing.counted[i].counter < c->counter_count)
            pf_note_number(&p->seq, b, c->counters[p->drawing.counted[i].counter].name,
                           p->drawing.counted[i].value);
    rocl_track_event args = *e;
    rocl_track_arg arg;
    while (rocl_track_event_next_arg(&args, &arg))
        pf_note_str(&p->seq, b, arg.name, arg.value, arg.len);
}

rocl_status pf_write_legacy(rocl_drawing *base, uint64_t track, rocl_error *err)
{
    pf_drawing *p = pf_drawing_of(base);
    static const uint8_t categories[ROCL_KINDS] = {[ROCL_DISPATCH] = W_KERNEL_DISPATCH,
                                                   [ROCL_COPY] = W_MEMORY_COPY,
                                                   [ROCL_GRAPH] = W_GRAPH_LAUNCH,
                                                   [ROCL_HIP_EVENT] = W_HIP_EVENT,
                                                   [ROCL_BARRIER] = W_BARRIER};
    const pf_sink *s = p->sink;
    const rocl_track_event *e = &p->drawing.event;
    uint32_t text = s->words[categories[e->kind]];
    rocl_buf *b = pf_event_begin(&p->seq, PKT_TRACK_EVENT, e->time);
    rocl_pb_uint(b, EV_TYPE, TYPE_BEGIN);
    rocl_pb_uint(b, EV_NAME_IID,
                 pf_iid(&p->seq, PF_NAMES, e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name));
    rocl_pb_uint(b, EV_CATEGORY_IID, pf_iid(&p->seq, PF_CATEGORIES, text));
    rocl_pb_uint(b, EV_TRACK, track);
    pf_note_times(p, b, e);
    if (e->thread < s->owners.capture->thread_count)
        note_number(p, b, W_TID, s->owners.capture->threads[e->thread].tid);
    if (e->kind == ROCL_DISPATCH) {
        kernel_notes(p, b, e);
    } else if (e->kind == ROCL_COPY) {
        const rocl_capture *c = s->owners.capture;
        uint32_t src = e->op ? e->other_agent : e->agent, dst = e->op ? e->agent : e->other_agent;
        if (src != ROCL_NONE)
            note_agent_number(p, b, W_SRC_AGENT, pf_agent_label(&s->owners, src));
        if (dst != ROCL_NONE)
            note_agent_number(p, b, W_DST_AGENT, pf_agent_label(&s->owners, dst));
        pf_note_uint(&p->seq, b, s->words[W_COPY_BYTES], e->size);
        note_number(p, b, W_STREAM_ID, id_or_zero(c->streams, e->stream));
        note_number(p, b, W_ROCPROFV3_STREAM_ID, id_or_zero(c->streams, e->stream));
    }
    if (e->stack_id) {
        pf_note_uint(&p->seq, b, s->words[W_CORR_ID], e->stack_id);
        rocl_pb_fixed64(b, EV_FLOW, rocl_link_id(s->owners.capture, e->stack_id));
    }
    pf_event_end(&p->seq);
    (void)err;
    return ROCL_OK;
}

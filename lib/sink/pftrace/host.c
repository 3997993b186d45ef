/* Host calls, markers and marks: slices on the track of their thread. */
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/pf.h"

/* AMD's converter writes its own words for the domains. */
static uint32_t category_of(const pf_sink *p, const rocl_track_event *e)
{
    static const pf_word words[ROCL_DOMAINS] = {[ROCL_DOMAIN_HIP] = W_HIP_API,
                                                [ROCL_DOMAIN_HSA] = W_HSA_API,
                                                [ROCL_DOMAIN_MARKERS] = W_MARKER_API,
                                                [ROCL_DOMAIN_RCCL] = W_RCCL_API,
                                                [ROCL_DOMAIN_ROCDECODE] = W_ROCDECODE_API,
                                                [ROCL_DOMAIN_ROCJPEG] = W_ROCJPEG_API};
    const rocl_call_group *g =
        p->opt.legacy_tracks ? rocl_call_group_of(rocl_str(p->trace, e->category)) : NULL;
    return g && words[g->domain] ? p->words[words[g->domain]] : e->category;
}

/* An end of an arrow between host slices. Numbers of flows count in each capture. */
static uint8_t *put_flow(const pf_drawing *p, uint8_t *at, const rocl_flow_mark *f)
{
    const uint64_t capture = p->sink->owners.capture->index;
    return rocl_pb_put_fixed64(at, f->end == ROCL_FLOW_ENDS ? EV_FLOW_END : EV_FLOW,
                               rocl_mix64(rocl_mix64(f->flow) ^ capture) | (uint64_t)1 << 63);
}

/* An arrow that ends within a slice: an instant shows where. */
rocl_status pf_write_flow(rocl_drawing *base, uint64_t track, const rocl_flow_mark *f,
                          rocl_error *err)
{
    pf_drawing *p = pf_drawing_of(base);
    pf_seq *q = &p->seq;
    rocl_buf *b = pf_event_begin(q, PKT_TRACK_EVENT, f->time);
    (void)err;
    if (b->failed)
        return ROCL_OK;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, EV_TYPE, TYPE_INSTANT);
    at = rocl_pb_put_uint(at, EV_NAME_IID,
                          pf_iid(q, PF_NAMES, f->name ? f->name : p->sink->words[W_UNNAMED]));
    at = rocl_pb_put_uint(at, EV_CATEGORY_IID, pf_iid(q, PF_CATEGORIES, f->category));
    if (track != p->default_track)
        at = rocl_pb_put_uint(at, EV_TRACK, track);
    b->len = (size_t)(put_flow(p, at, f) - b->data);
    pf_event_end(q);
    return ROCL_OK;
}

/* A call begins, or a mark is an instant. */
rocl_status pf_write_call(rocl_drawing *base, uint64_t track, rocl_error *err)
{
    pf_drawing *p = pf_drawing_of(base);
    const pf_sink *s = p->sink;
    rocl_track_event *e = &p->drawing.event;
    pf_seq *q = &p->seq;
    /* The name comes after the stack id, which differs in each event: see pf_event_end. */
    rocl_buf *b =
        pf_packet_begin(q, PKT_TRACK_EVENT, e->time, e->stack_id ? PF_IDS_LAST : PF_IDS_FIRST);
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    (void)err;
    if (b->failed)
        return ROCL_OK;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, EV_TYPE,
                                   e->kind == ROCL_INSTANT ? TYPE_INSTANT : TYPE_BEGIN);
    if (rocl_timeline_link(&p->drawing)) {
        /* The arrow to the GPU work that this call caused. */
        uint64_t link = rocl_link_id(p->sink->owners.capture, e->stack_id);
        if (p->sink->opt.legacy_tracks) {
            at = rocl_pb_put_fixed64(at, EV_FLOW, link);
        } else {
            uint8_t *correlation = rocl_pb_open(at, EV_GPU_CORRELATION);
            at = rocl_pb_put_uint(correlation, CORRELATION_SUBMISSION, link);
            at = rocl_pb_close(correlation, at);
            at = rocl_pb_put_uint(at, EV_GPU_API, GPU_API_HIP);
        }
    }
    if (e->stack_id)
        at = pf_put_note(q, at, s->words[W_STACK_ID], e->stack_id);
    at = rocl_pb_put_uint(at, EV_NAME_IID, pf_iid(q, PF_NAMES, name));
    if (e->category != ROCL_NONE && e->category)
        at = rocl_pb_put_uint(at, EV_CATEGORY_IID, pf_iid(q, PF_CATEGORIES, category_of(s, e)));
    if (track != p->default_track)
        at = rocl_pb_put_uint(at, EV_TRACK, track);
    b->len = (size_t)(at - b->data);
    /* Arguments can be of any length, and arrows of any number: space is reserved again. */
    if (e->arg_count || p->drawing.flow_count) {
        rocl_track_arg arg;
        while (rocl_track_event_next_arg(e, &arg))
            pf_note_str(q, b, arg.name, arg.value, arg.len);
        for (uint32_t i = 0; i < p->drawing.flow_count; i++) {
            if (!rocl_buf_reserve(b, PF_EVENT_BYTES))
                return ROCL_OK;
            b->len = (size_t)(put_flow(p, b->data + b->len, &p->drawing.flows[i]) - b->data);
        }
        if (!rocl_buf_reserve(b, PF_EVENT_BYTES) || b->failed)
            return ROCL_OK;
    }
    if (s->opt.legacy_tracks && e->kind != ROCL_INSTANT) {
        pf_note_times(p, b, e);
        if (e->stack_id)
            pf_note_uint(q, b, s->words[W_CORR_ID], e->stack_id);
    }
    pf_event_end(q);
    return ROCL_OK;
}

void pf_write_end(rocl_drawing *base, uint64_t track, int64_t time)
{
    pf_drawing *p = pf_drawing_of(base);
    rocl_buf *b = pf_event_begin(&p->seq, PKT_TRACK_EVENT, time);
    if (b->failed)
        return;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, EV_TYPE, TYPE_END);
    if (track != p->default_track)
        at = rocl_pb_put_uint(at, EV_TRACK, track);
    b->len = (size_t)(at - b->data);
    pf_event_end(&p->seq);
}

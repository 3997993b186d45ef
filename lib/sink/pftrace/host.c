/* Host calls, markers and marks: slices on the track of their thread. */
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"

typedef struct host {
    rocl_lanes lanes;
    uint64_t track; /* of the thread: the default of the sequence */
} host;

static void write_end(pf_part *p, const host *h, const rocl_open_slice *ended)
{
    rocl_buf *b = pf_event_begin(&p->seq, PKT_TRACK_EVENT, ended->end);
    uint64_t track = h->lanes.lanes[ended->lane].track;
    if (b->failed)
        return;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, EV_TYPE, TYPE_END);
    if (track != h->track)
        at = rocl_pb_put_uint(at, EV_TRACK, track);
    b->len = (size_t)(at - b->data);
    pf_event_end(&p->seq);
}

/* The arrow to the GPU work that this call caused. */
static uint8_t *put_link(const pf_part *p, uint8_t *at, uint64_t stack_id)
{
    uint64_t link = pf_link(&p->sink->world, stack_id);
    if (p->sink->opt.legacy_tracks)
        return rocl_pb_put_fixed64(at, EV_FLOW, link);
    uint8_t *correlation = rocl_pb_open(at, EV_GPU_CORRELATION);
    at = rocl_pb_put_uint(correlation, CORRELATION_SUBMISSION, link);
    at = rocl_pb_close(correlation, at);
    return rocl_pb_put_uint(at, EV_GPU_API, GPU_API_HIP);
}

/* AMD's converter writes its own words for the domains. */
static uint32_t category_of(const pf_sink *p, const rocl_track_event *e)
{
    static const struct {
        const char *domain;
        pf_word word;
    } words[] = {{"HIP_", W_HIP_API},
                 {"HSA_", W_HSA_API},
                 {"MARKER_", W_MARKER_API},
                 {"RCCL_", W_RCCL_API},
                 {"ROCDECODE_", W_ROCDECODE_API},
                 {"ROCJPEG_", W_ROCJPEG_API}};
    if (!p->opt.legacy_tracks)
        return e->category;
    const char *category = rocl_str(p->trace, e->category);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(category, words[i].domain, strlen(words[i].domain)))
            return p->words[words[i].word];
    return e->category;
}

/* They can be of any length: makes room for the rest of the event anew. NULL: there is none. */
static uint8_t *write_args(pf_part *p, rocl_buf *b, uint8_t *at, rocl_track_event *e)
{
    rocl_track_arg arg;
    b->len = (size_t)(at - b->data);
    while (rocl_track_event_next_arg(e, &arg))
        pf_note_str(&p->seq, b, arg.name, arg.value, arg.len);
    return rocl_buf_reserve(b, PF_EVENT_ROOM) && !b->failed ? b->data + b->len : NULL;
}

static void write_begin(pf_part *p, const host *h, rocl_track_event *e, unsigned type,
                        uint64_t track)
{
    const pf_sink *s = p->sink;
    pf_seq *q = &p->seq;
    rocl_buf *b = pf_event_begin(q, PKT_TRACK_EVENT, e->time);
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    if (b->failed)
        return;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, EV_TYPE, type);
    at = rocl_pb_put_uint(at, EV_NAME_IID, pf_iid(q, PF_NAMES, name));
    if (e->category != ROCL_NONE)
        at = rocl_pb_put_uint(at, EV_CATEGORY_IID, pf_iid(q, PF_CATEGORIES, category_of(s, e)));
    if (track != h->track)
        at = rocl_pb_put_uint(at, EV_TRACK, track);
    if (e->arg_count && !(at = write_args(p, b, at, e)))
        return;
    if (e->stack_id && e->kind != ROCL_MARKER && pf_is_linked(p, e->stack_id))
        at = put_link(p, at, e->stack_id);
    if (e->stack_id)
        at = pf_put_note(q, at, s->words[W_STACK_ID], e->stack_id);
    b->len = (size_t)(at - b->data);
    pf_event_end(q);
}

static uint32_t new_lane(pf_part *p, host *h, bool extra)
{
    char name[64];
    uint64_t track = h->track;
    if (extra) {
        snprintf(name, sizeof name, "overlapping calls %u", h->lanes.count);
        track = pf_new_track(p, h->track, name);
        p->report.lanes++;
    }
    return rocl_lanes_add(&h->lanes, 0, track);
}

static rocl_status write_slice(pf_part *p, host *h, rocl_track_event *e, rocl_error *err)
{
    bool extra;
    uint32_t lane = rocl_lanes_find(&h->lanes, 0, e->end, &extra);
    if (lane == ROCL_NONE)
        lane = new_lane(p, h, extra);
    if (lane == ROCL_NONE || !rocl_lanes_push(&h->lanes, lane, e->end))
        return rocl_fail_memory(err);
    p->report.slices++;
    p->report.moved += lane > 0;
    write_begin(p, h, e, TYPE_BEGIN, h->lanes.lanes[lane].track);
    return ROCL_OK;
}

static void close_until(pf_part *p, host *h, int64_t time)
{
    rocl_open_slice ended;
    while (rocl_lanes_close(&h->lanes, time, &ended))
        write_end(p, h, &ended);
}

static rocl_status begin(pf_part *p, void *state, rocl_error *err)
{
    host *h = state;
    (void)err;
    h->lanes.nest = true;
    h->track = pf_host_track(&p->sink->world, p->event.index);
    pf_part_begin(p, p->event.time, h->track);
    return ROCL_OK;
}

static rocl_status record(pf_part *p, void *state, rocl_error *err)
{
    host *h = state;
    close_until(p, h, p->event.time);
    if (p->event.kind != ROCL_INSTANT)
        return write_slice(p, h, &p->event, err);
    write_begin(p, h, &p->event, TYPE_INSTANT, h->track);
    return ROCL_OK;
}

static void end(pf_part *p, void *state)
{
    close_until(p, state, INT64_MAX);
}

static void forget(void *state)
{
    rocl_lanes_free(&((host *)state)->lanes);
}

const pf_room pf_room_host = {sizeof(host), begin, record, end, forget};

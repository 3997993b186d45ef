/* Host calls, markers and marks: slices on the track of their thread. */
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"

typedef struct host {
    pf_sink *p;
    pf_seq seq;
    rocl_lanes lanes;
    uint64_t track; /* of the thread: the default of the sequence */
    uint32_t process;
} host;

static void write_end(host *h, const rocl_open_slice *ended)
{
    rocl_buf *b = pf_event_begin(&h->seq, ended->end);
    rocl_pb_uint(b, EV_TYPE, TYPE_END);
    if (h->lanes.lanes[ended->lane].track != h->track)
        rocl_pb_uint(b, EV_TRACK, h->lanes.lanes[ended->lane].track);
    pf_event_end(&h->seq, PKT_TRACK_EVENT);
}

/* The arrow to the GPU work that this call caused. */
static void write_link(host *h, rocl_buf *b, uint64_t stack_id)
{
    uint64_t link = pf_link(&h->p->world, stack_id);
    if (h->p->opt.legacy_tracks) {
        rocl_pb_fixed64(b, EV_FLOW, link);
        return;
    }
    size_t at = rocl_pb_begin(b, EV_GPU_CORRELATION);
    rocl_pb_uint(b, CORRELATION_SUBMISSION, link);
    rocl_pb_end(b, at);
    rocl_pb_uint(b, EV_GPU_API, GPU_API_HIP);
}

/* AMD's converter writes its own words for the domains. */
static uint32_t category_of(const host *h, const rocl_packed *e)
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
    if (!h->p->opt.legacy_tracks)
        return e->category;
    const char *category = rocl_str(h->p->trace, e->category);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(category, words[i].domain, strlen(words[i].domain)))
            return h->p->words[words[i].word];
    return e->category;
}

static void write_args(host *h, rocl_buf *b, rocl_packed *e)
{
    rocl_packed_arg arg;
    while (rocl_packed_next_arg(e, &arg))
        pf_note_str(&h->seq, b, arg.name, arg.value, arg.len);
}

static void write_begin(host *h, rocl_packed *e, unsigned type, uint64_t track)
{
    pf_sink *p = h->p;
    rocl_buf *b = pf_event_begin(&h->seq, e->time);
    rocl_pb_uint(b, EV_TYPE, type);
    rocl_pb_uint(b, EV_NAME_IID,
                 pf_iid(&h->seq, PF_NAMES, e->name == ROCL_NONE ? p->words[W_UNNAMED] : e->name));
    if (e->category != ROCL_NONE)
        rocl_pb_uint(b, EV_CATEGORY_IID, pf_iid(&h->seq, PF_CATEGORIES, category_of(h, e)));
    if (track != h->track)
        rocl_pb_uint(b, EV_TRACK, track);
    write_args(h, b, e);
    if (e->stack_id && e->kind != ROCL_MARKER && pf_is_linked(p, e->stack_id))
        write_link(h, b, e->stack_id);
    if (e->stack_id)
        pf_note_uint(&h->seq, b, p->words[W_STACK_ID], e->stack_id);
    pf_event_end(&h->seq, PKT_TRACK_EVENT);
}

static uint32_t new_lane(host *h, bool extra)
{
    char name[64];
    uint64_t track = h->track;
    if (extra) {
        snprintf(name, sizeof name, "overlapping calls %u", h->lanes.count);
        track = pf_new_track(&h->p->world, h->track, name);
        h->p->report.lanes++;
    }
    return rocl_lanes_add(&h->lanes, 0, track);
}

static rocl_status write_slice(host *h, rocl_packed *e, rocl_error *err)
{
    bool extra;
    uint32_t lane = rocl_lanes_find(&h->lanes, 0, e->end, &extra);
    if (lane == ROCL_NONE)
        lane = new_lane(h, extra);
    if (lane == ROCL_NONE || !rocl_lanes_push(&h->lanes, lane, e->end))
        return rocl_fail_memory(err);
    h->p->report.slices++;
    h->p->report.moved += lane > 0;
    write_begin(h, e, TYPE_BEGIN, h->lanes.lanes[lane].track);
    return ROCL_OK;
}

static void close_until(host *h, int64_t time)
{
    rocl_open_slice ended;
    while (rocl_lanes_close(&h->lanes, time, &ended))
        write_end(h, &ended);
}

static void open_thread(host *h, pf_sink *p)
{
    const rocl_capture *c = p->world.capture;
    uint32_t index = p->event.index, thread = ROCL_NONE;
    h->p = p;
    h->lanes.nest = true;
    h->process = index >= c->thread_count ? index - c->thread_count : 0;
    if (index < c->thread_count) {
        thread = index;
        if (c->threads[index].process != ROCL_NONE)
            h->process = c->threads[index].process;
    }
    h->track = pf_thread_track(&p->world, h->process, thread);
    h->seq.id = p->world.next_seq++;
    pf_seq_begin(&h->seq, p->stream, pf_machine(&p->world), p->event.time, h->track);
}

rocl_status pf_write_host(pf_sink *p, rocl_error *err)
{
    host h = {0};
    uint32_t index = p->event.index;
    rocl_status st = ROCL_OK;
    open_thread(&h, p);
    while (st == ROCL_OK && pf_same(p, ROCL_ROOM_HOST, index)) {
        close_until(&h, p->event.time);
        if (p->event.kind == ROCL_INSTANT)
            write_begin(&h, &p->event, TYPE_INSTANT, h.track);
        else
            st = write_slice(&h, &p->event, err);
        if (st == ROCL_OK)
            st = pf_next(p, err);
    }
    close_until(&h, INT64_MAX);
    rocl_lanes_free(&h.lanes);
    pf_seq_end(&h.seq);
    return st;
}

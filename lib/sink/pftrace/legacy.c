/* GPU work as plain track events, for viewers without typed GPU events: tracks named and placed as
 * AMD's converter does (STREAM [n]; COMPUTE ... QUEUE and COPY to with --group-by-queue), flows by
 * 64-bit ids. Slices that overlap on a track go to lanes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"

typedef struct legacy {
    pf_part *part;
    const pf_sink *p;
    rocl_lanes lanes;
    uint32_t process;
    rocl_map groups; /* place -> group of lanes */
    uint32_t group_count;
} legacy;

/* "Agent 2" -> "Agent [2]" */
static void bracketed(const pf_sink *p, uint32_t agent, char *s, size_t size)
{
    const rocl_capture *c = p->world.capture;
    const char *label = agent == ROCL_NONE ? "" : rocl_str(p->trace, c->agents[agent].label);
    const char *space = strrchr(label, ' ');
    if (space)
        snprintf(s, size, "%.*s [%s]", (int)(space - label), label, space + 1);
    else
        snprintf(s, size, "Agent [?]");
}

static const char *type_of(const pf_sink *p, uint32_t agent)
{
    if (agent == ROCL_NONE)
        return "?";
    return rocl_str(p->trace, p->world.capture->agents[agent].type_name);
}

static int64_t id_or_zero(const rocl_queue *all, uint32_t index)
{
    return index == ROCL_NONE ? 0 : all[index].id;
}

/* Not every source knows streams. */
static bool by_queue(const legacy *l, const rocl_track_event *e)
{
    return l->p->opt.group_by_queue ||
           (e->stream == ROCL_NONE &&
            (e->queue != ROCL_NONE || !l->p->world.capture->stream_count));
}

static bool is_copy(const legacy *l, const rocl_track_event *e)
{
    return e->kind == ROCL_COPY && (l->p->opt.group_by_queue || e->queue == ROCL_NONE);
}

static void track_name(legacy *l, const rocl_track_event *e, char *name, size_t size)
{
    const pf_sink *p = l->p;
    const rocl_capture *c = p->world.capture;
    char agent[96];
    if (!by_queue(l, e)) {
        snprintf(name, size, "STREAM [%" PRId64 "]", id_or_zero(c->streams, e->stream));
        return;
    }
    bracketed(p, e->agent, agent, sizeof agent);
    if (is_copy(l, e))
        snprintf(name, size, "COPY to %s THREAD [%" PRId64 "] (%s)", agent,
                 e->thread == ROCL_NONE ? 0 : c->threads[e->thread].tid, type_of(p, e->agent));
    else
        snprintf(name, size, "COMPUTE %s QUEUE [%" PRId64 "] %s", agent,
                 id_or_zero(c->queues, e->queue), type_of(p, e->agent));
}

static uint32_t group_of(legacy *l, const rocl_track_event *e)
{
    uint64_t key = e->stream;
    bool copy = is_copy(l, e);
    if (by_queue(l, e))
        key = (uint64_t)copy << 63 | (uint64_t)1 << 62 | (uint64_t)(e->agent & 0x3fffffff) << 32 |
              (copy ? e->thread : e->queue);
    uint32_t group = rocl_map_get(&l->groups, key, ROCL_NONE);
    if (group == ROCL_NONE) {
        group = l->group_count++;
        l->part->seq.pending.failed |= !rocl_map_put(&l->groups, key, group);
    }
    return group;
}

static void write_end(legacy *l, const rocl_open_slice *ended)
{
    rocl_buf *b = pf_event_begin(&l->part->seq, PKT_TRACK_EVENT, ended->end);
    rocl_pb_uint(b, EV_TYPE, TYPE_END);
    rocl_pb_uint(b, EV_TRACK, l->lanes.lanes[ended->lane].track);
    pf_event_end(&l->part->seq);
}

static void note_text(legacy *l, rocl_buf *b, pf_word name, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(l->p->trace->strings, text, &n);
    pf_note_str(&l->part->seq, b, l->p->words[name], s, n);
}

static void note_dims(legacy *l, rocl_buf *b, pf_word name, const uint32_t d[3])
{
    char text[64];
    int n = snprintf(text, sizeof text, "(%u, %u, %u)", d[0], d[1], d[2]);
    pf_note_str(&l->part->seq, b, l->p->words[name], text, (size_t)n);
}

static void kernel_notes(legacy *l, rocl_buf *b, const rocl_track_event *e)
{
    const rocl_capture *c = l->p->world.capture;
    if (e->agent != ROCL_NONE)
        note_text(l, b, W_AGENT, c->agents[e->agent].label);
    pf_note_uint(&l->part->seq, b, l->p->words[W_QUEUE], (uint64_t)id_or_zero(c->queues, e->queue));
    pf_note_uint(&l->part->seq, b, l->p->words[W_STREAM_ID],
                 (uint64_t)id_or_zero(c->streams, e->stream));
    if (e->kernel != ROCL_NONE)
        pf_note_uint(&l->part->seq, b, l->p->words[W_KERNEL_ID],
                     (uint64_t)c->kernels[e->kernel].id);
    pf_note_uint(&l->part->seq, b, l->p->words[W_SCRATCH_SIZE], (uint64_t)e->private_segment);
    pf_note_uint(&l->part->seq, b, l->p->words[W_LDS_BLOCK_SIZE], (uint64_t)e->group_segment);
    note_dims(l, b, W_WORKGROUP_SIZE, e->workgroup);
    note_dims(l, b, W_GRID_SIZE, e->grid);
}

static void copy_notes(legacy *l, rocl_buf *b, const rocl_track_event *e)
{
    const rocl_capture *c = l->p->world.capture;
    uint32_t src = e->op ? e->other_agent : e->agent, dst = e->op ? e->agent : e->other_agent;
    if (src != ROCL_NONE)
        note_text(l, b, W_SRC_AGENT, c->agents[src].label);
    if (dst != ROCL_NONE)
        note_text(l, b, W_DST_AGENT, c->agents[dst].label);
    pf_note_uint(&l->part->seq, b, l->p->words[W_COPY_BYTES], e->size);
    pf_note_uint(&l->part->seq, b, l->p->words[W_STREAM_ID],
                 (uint64_t)id_or_zero(c->streams, e->stream));
}

static void write_begin(legacy *l, const rocl_track_event *e, uint64_t track)
{
    static const uint8_t categories[ROCL_KINDS] = {[ROCL_DISPATCH] = W_KERNEL_DISPATCH,
                                                   [ROCL_COPY] = W_MEMORY_COPY,
                                                   [ROCL_GRAPH] = W_GRAPH_LAUNCH,
                                                   [ROCL_HIP_EVENT] = W_HIP_EVENT,
                                                   [ROCL_BARRIER] = W_BARRIER};
    const pf_sink *p = l->p;
    uint32_t text = p->words[categories[e->kind]];
    rocl_buf *b = pf_event_begin(&l->part->seq, PKT_TRACK_EVENT, e->time);
    rocl_pb_uint(b, EV_TYPE, TYPE_BEGIN);
    rocl_pb_uint(
        b, EV_NAME_IID,
        pf_iid(&l->part->seq, PF_NAMES, e->name == ROCL_NONE ? p->words[W_UNNAMED] : e->name));
    rocl_pb_uint(b, EV_CATEGORY_IID, pf_iid(&l->part->seq, PF_CATEGORIES, text));
    rocl_pb_uint(b, EV_TRACK, track);
    if (e->kind == ROCL_DISPATCH)
        kernel_notes(l, b, e);
    else if (e->kind == ROCL_COPY)
        copy_notes(l, b, e);
    if (e->stack_id) {
        pf_note_uint(&l->part->seq, b, l->p->words[W_CORR_ID], e->stack_id);
        rocl_pb_fixed64(b, EV_FLOW, pf_link(&p->world, e->stack_id));
    }
    pf_event_end(&l->part->seq);
}

static rocl_status write_slice(legacy *l, const rocl_track_event *e, rocl_error *err)
{
    bool extra;
    uint32_t group = group_of(l, e);
    uint32_t lane = rocl_lanes_find(&l->lanes, group, e->end, &extra);
    if (lane == ROCL_NONE) {
        char name[192];
        track_name(l, e, name, sizeof name);
        /* Lanes have one name, so that viewers show them as one track of several rows. */
        uint64_t process = pf_process_track(&l->p->world, l->process);
        lane = rocl_lanes_add(&l->lanes, group, pf_new_track(l->part, process, name));
        l->part->report.lanes += extra;
    }
    if (lane == ROCL_NONE || !rocl_lanes_push(&l->lanes, lane, e->end))
        return rocl_fail_memory(err);
    l->part->report.moved += extra;
    l->part->report.slices++;
    write_begin(l, e, l->lanes.lanes[lane].track);
    return ROCL_OK;
}

static void close_until(legacy *l, int64_t time)
{
    rocl_open_slice ended;
    while (rocl_lanes_close(&l->lanes, time, &ended))
        write_end(l, &ended);
}

static rocl_status begin(pf_part *p, void *state, rocl_error *err)
{
    legacy *l = state;
    (void)err;
    l->part = p;
    l->p = p->sink;
    l->process = p->event.index;
    pf_part_begin(p, p->event.time, 0);
    return ROCL_OK;
}

static rocl_status record(pf_part *p, void *state, rocl_error *err)
{
    close_until(state, p->event.time);
    return write_slice(state, &p->event, err);
}

static void end(pf_part *p, void *state)
{
    (void)p;
    close_until(state, INT64_MAX);
}

static void forget(void *state)
{
    legacy *l = state;
    rocl_lanes_free(&l->lanes);
    rocl_map_free(&l->groups);
}

const pf_room pf_room_legacy = {sizeof(legacy), begin, record, end, forget};

/* After the events of a capture: its tracks become locations, the ends of its copies ranks, its
 * markers lines of their file; and the end of the archive. In one process this follows the passes
 * over the capture; in a team rank 0 does it, see team.c. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/otf2.h"

/* ---- tracks ---------------------------------------------------------------------------------- */

/* Gives a location to each track, in their order. */
rocl_status ot_locate_tracks(ot_sink *s, rocl_error *err)
{
    for (uint32_t i = 0; i < s->track_count; i++) {
        ot_track *t = &s->tracks[i];
        t->location =
            t->base == i ? ot_track_location(&s->system, &t->track)
                         : ot_lane_location(&s->system, s->tracks[t->base].location, t->track.lane);
        if (t->number == ROCL_NONE)
            t->number = s->next_number++;
        s->system.locations[t->location].number = t->number;
    }
    return s->defs.failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* An instance of a metric gets the number of its location, and its group. */
void ot_settle_metric(ot_sink *s, ot_metric *m, const ot_track *recorder)
{
    m->group = m->process == OT_AS_RECORDER ? s->system.locations[recorder->location].group
                                            : ot_agent_group(&s->system, m->process, m->agent);
    m->recorder = recorder->number;
    m->joined = true;
}

/* ---- the ends of copies ---------------------------------------------------------------------- */

static uint32_t peer_process(uint64_t peer)
{
    return (uint32_t)(peer >> 32);
}

/* e->all: the peers, sorted, each once. False: memory is out. */
bool ot_number_peers(ot_sink *s)
{
    ot_peers *e = &s->peers;
    const size_t processes = s->system.capture->process_count;
    uint32_t rank = 0;
    e->windows = calloc(processes + 1, sizeof *e->windows);
    e->used = calloc(processes + 1, sizeof *e->used);
    if (!e->windows || !e->used)
        return false;
    for (size_t i = 0; i < e->count; i++) {
        const uint64_t peer = e->all[i];
        if (!i || peer_process(e->all[i - 1]) != peer_process(peer)) {
            rank = 0;
            e->windows[peer_process(peer)] = e->next_window++;
        }
        if (!rocl_map_put(&e->ranks, peer, rank++))
            return false;
    }
    return true;
}

/* ---- the capture ----------------------------------------------------------------------------- */

void ot_settle_capture(ot_sink *s)
{
    for (uint32_t i = 0; i < s->track_count; i++)
        s->system.locations[s->tracks[i].location].events = s->tracks[i].events;
    /* Gives locations the ranks that copies have named, in the same order, then ranks to the
     * locations of the copies. */
    const ot_peers *e = &s->peers;
    ot_system *y = &s->system;
    for (uint32_t i = 0; i < s->track_count; i++)
        e->used[s->tracks[i].track.process] |= s->tracks[i].copies;
    for (size_t i = 0; i < e->count; i++) {
        uint32_t process = peer_process(e->all[i]), agent = (uint32_t)e->all[i];
        if (!e->used[process])
            continue;
        uint32_t creator = ot_process_group(y, process);
        uint32_t group = agent ? ot_agent_group(y, process, agent - 1) : creator;
        y->groups[creator].window = e->windows[process];
        ot_rank_location(y, ot_group_location(y, group));
    }
    for (uint32_t i = 0; i < s->track_count; i++)
        if (s->tracks[i].copies)
            ot_rank_location(y, s->tracks[i].location);
}

void ot_forget_tracks(ot_sink *s)
{
    ot_peers *e = &s->peers;
    free(s->tracks);
    free(e->all);
    free(e->windows);
    free(e->used);
    rocl_map_free(&e->ranks);
    *e = (ot_peers){.next_window = e->next_window};
    s->tracks = NULL;
    s->track_count = 0;
}

rocl_status ot_write_marker(ot_sink *s, const ot_marker *m, rocl_buf *text, rocl_error *err)
{
    OTF2_MarkerWriter *w = ot_archive_markers(s->archive);
    if (w && !s->markers_defined)
        OTF2_MarkerWriter_WriteDefMarker(w, 0, "ROCTx", "Marks and ranges", OTF2_SEVERITY_NONE);
    s->markers_defined = true;
    text->len = 0;
    ot_put_text(text, &s->defs, m->name);
    if (text->failed)
        return rocl_fail_memory(err);
    if (w)
        OTF2_MarkerWriter_WriteMarker(w, m->time, m->duration, 0, OTF2_MARKER_SCOPE_LOCATION,
                                      m->location, (const char *)text->data);
    return ot_archive_status(s->archive, err);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Adds what readers need even without events: a process, a location in each group, and a file for
 * each location. */
rocl_status ot_complete_locations(ot_sink *s, rocl_error *err)
{
    ot_system *y = &s->system;
    for (size_t i = 0; i < s->trace->capture_count && !y->group_count; i++) {
        const rocl_capture *c = &s->trace->captures[i]->pub;
        if (!c->process_count)
            continue;
        rocl_status st = ot_system_begin_capture(y, c, err);
        if (st != ROCL_OK)
            return st;
        ot_process_group(y, 0);
    }
    for (uint32_t i = 0; i < y->group_count; i++)
        ot_group_location(y, i);
    for (uint32_t i = 0; i < y->location_count; i++) {
        ot_location *l = &y->locations[i];
        if (l->number != ROCL_NONE)
            continue;
        l->number = s->next_number++;
        OTF2_EvtWriter *w = ot_archive_events(s->archive, l->number);
        if (!w)
            return ot_archive_status(s->archive, err);
        ot_archive_events_end(s->archive, w);
    }
    return ROCL_OK;
}

/* Depends on what was traced, and on how much of it is in the archive. */
static uint64_t trace_identity(const ot_sink *s)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a over the texts */
    for (size_t i = 0; i < s->trace->capture_count; i++)
        for (const char *p = rocl_str(s->trace, s->trace->captures[i]->pub.guid); *p; p++)
            h = (h ^ (uint8_t)*p) * 0x100000001b3u;
    h = rocl_mix64(h ^ (uint64_t)s->earliest) ^ (uint64_t)s->latest;
    for (uint32_t i = 0; i < s->system.location_count; i++)
        h = rocl_mix64(h ^ s->system.locations[i].events);
    return h;
}

ot_summary ot_summarize(const ot_sink *s)
{
    const ot_system *y = &s->system;
    const char *machine = "";
    for (uint32_t i = y->tree_count; i-- > 0;)
        if (y->trees[i].domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
            machine = rocl_str(s->trace, y->trees[i].name);
    return (ot_summary){.machine = machine,
                        .identity = trace_identity(s),
                        .locations = y->locations,
                        .location_count = y->location_count,
                        .mappings = s->mappings,
                        .mapping_count = s->mapping_count};
}

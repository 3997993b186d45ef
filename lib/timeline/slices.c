/* Slices: host calls, markers and marks on the track of their thread, GPU work on the tracks of its
 * agent. What overlaps on a track, or does not nest where slices of it do, goes to further lanes.
 */
#include "timeline/timeline.h"

#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>

/* ---- tracks of a sequence -------------------------------------------------------------------- */

static rocl_status add_track(rocl_timeline_part *p, uint64_t key, const rocl_track *track,
                             uint32_t *group, rocl_error *err)
{
    *group = p->track_count;
    if (!ROCL_GROW(p->tracks, p->track_cap, p->track_count + (size_t)1) ||
        !rocl_map_put(&p->track_index, key, *group))
        return rocl_fail_memory(err);
    rocl_track *t = &p->tracks[p->track_count++];
    *t = *track;
    return p->timeline->ops->define(p, track, &t->base, err);
}

/* The track that the work at hand is drawn on: its group of lanes. Neighbours share it mostly. */
static rocl_status find_work_track(rocl_timeline_part *p, uint32_t *group, rocl_error *err)
{
    const rocl_track_event *e = &p->event;
    rocl_track track =
        rocl_work_track(p->timeline, e->kind, e->agent, e->queue, e->stream, e->thread);
    uint32_t id = track.thread != ROCL_NONE ? track.thread : track.id;
    uint64_t key = (uint64_t)track.kind << 60 | ((uint64_t)track.agent & 0xfffffff) << 32 | id;
    *group = p->recent;
    if (p->track_count && key == p->recent_key)
        return ROCL_OK;
    rocl_status st = ROCL_OK;
    *group = rocl_map_get(&p->track_index, key, ROCL_NONE);
    if (*group == ROCL_NONE) {
        track.process = p->process;
        st = add_track(p, key, &track, group, err);
    }
    p->recent_key = key;
    p->recent = *group;
    return st;
}

/* ---- slices ---------------------------------------------------------------------------------- */

static void end_slices(rocl_timeline_part *p, int64_t time)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    rocl_open_slice ended;
    while (p->lanes.open && p->lanes.heap[0].end <= time &&
           rocl_lanes_close(&p->lanes, time, &ended))
        if (ops->slice_end)
            ops->slice_end(p, p->lanes.lanes[ended.lane].track, ended.end);
}

static rocl_status add_lane(rocl_timeline_part *p, uint32_t group, bool extra, uint32_t *lane,
                            rocl_error *err)
{
    uint64_t id = p->tracks[group].base;
    rocl_status st = ROCL_OK;
    if (extra) {
        rocl_track track = p->tracks[group];
        track.lane = p->lanes.groups[group].count;
        st = p->timeline->ops->define(p, &track, &id, err);
        p->counts.lanes++;
    }
    if (st == ROCL_OK && (*lane = rocl_lanes_add(&p->lanes, group, id)) == ROCL_NONE)
        st = rocl_fail_memory(err);
    return st;
}

static rocl_status draw_slice(rocl_timeline_part *p, uint32_t group, rocl_error *err)
{
    bool extra;
    rocl_status st = ROCL_OK;
    uint32_t lane = rocl_lanes_find(&p->lanes, group, p->event.end, &extra);
    if (lane == ROCL_NONE)
        st = add_lane(p, group, extra, &lane, err);
    if (st == ROCL_OK && !rocl_lanes_push(&p->lanes, lane, p->event.end))
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    p->counts.slices++;
    p->counts.moved += extra;
    return p->slice(p, p->lanes.lanes[lane].track, err);
}

static rocl_status draw_host(rocl_timeline_part *p, rocl_error *err)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    end_slices(p, p->event.time);
    if (p->event.kind != ROCL_INSTANT || (ops->link_slices && rocl_timeline_link(p)))
        return draw_slice(p, 0, err);
    p->counts.instants++;
    return ops->instant(p, p->tracks[0].base, err);
}

static rocl_status draw_work(rocl_timeline_part *p, rocl_error *err)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    uint32_t group;
    rocl_status st;
    if (!ops->work_overlaps)
        end_slices(p, p->event.time);
    if ((st = find_work_track(p, &group, err)) != ROCL_OK)
        return st;
    if (!ops->work_overlaps)
        return draw_slice(p, group, err);
    p->counts.slices++;
    return ops->work(p, p->tracks[group].base, err);
}

static rocl_status finish_slices(rocl_timeline_part *p, rocl_error *err)
{
    (void)err;
    end_slices(p, INT64_MAX);
    return ROCL_OK;
}

rocl_status rocl_begin_slices(rocl_timeline_part *p, rocl_error *err)
{
    const rocl_timeline *t = p->timeline;
    bool host = p->event.sequence == ROCL_SEQUENCE_HOST;
    uint32_t group;
    p->slice = host ? t->ops->call : t->ops->work;
    p->finish = finish_slices;
    p->lanes.nest = host || t->lanes_settled;
    p->draw = p->lanes.nest ? draw_host : draw_work;
    rocl_track track = {.kind = ROCL_TRACK_THREAD,
                        .process = p->process,
                        .thread = ROCL_NONE,
                        .agent = ROCL_NONE,
                        .id = ROCL_NONE};
    if (host && !t->lanes_settled)
        rocl_host_process(t->capture, p->event.index, &track.thread);
    return p->lanes.nest ? add_track(p, 0, &track, &group, err) : ROCL_OK;
}

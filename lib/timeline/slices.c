/* Slices: host calls, markers and marks on the track of their thread, GPU work on the tracks of its
 * agent. Slices that overlap on a track, or do not nest on a track of nested slices, go to further
 * lanes. */
#include "timeline/timeline.h"

#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>

/* Readers stop at a nesting of 512 slices. */
#define DEPTH_MAX 500

/* ---- which lane takes a slice ---------------------------------------------------------------- */

#define NOT_AT_ALL (-1) /* ends are never negative */

/* The depth of a lane has changed. */
static void update_reach(rocl_lanes *l, const rocl_lane *lane)
{
    rocl_lane_group *g = &l->groups[lane->group];
    uint32_t i = g->cap + lane->number;
    if (!lane->depth)
        g->reach[i] = INT64_MAX;
    else
        g->reach[i] = l->nest && lane->depth < DEPTH_MAX ? lane->ends[lane->depth - 1] : NOT_AT_ALL;
    for (i /= 2; i > 0; i /= 2) {
        int64_t a = g->reach[2 * i], b = g->reach[2 * i + 1];
        g->reach[i] = a > b ? a : b;
    }
}

static uint32_t find_lane(const rocl_lanes *l, uint32_t group, int64_t end, bool *extra)
{
    const rocl_lane_group *g = group < l->group_count ? &l->groups[group] : NULL;
    uint32_t i = 1;
    *extra = g && g->count;
    if (!*extra || g->reach[1] < end)
        return ROCL_NONE;
    while (i < g->cap)
        i = g->reach[2 * i] >= end ? 2 * i : 2 * i + 1;
    *extra = i > g->cap;
    return g->lanes[i - g->cap];
}

/* Rebuilds the tree for twice as many lanes. */
static bool grow_group(rocl_lanes *l, rocl_lane_group *g)
{
    uint32_t cap = g->cap ? 2 * g->cap : 1;
    uint32_t *lanes = realloc(g->lanes, cap * sizeof *lanes);
    if (!lanes)
        return false;
    g->lanes = lanes;
    int64_t *reach = malloc(2 * (size_t)cap * sizeof *reach);
    if (!reach)
        return false;
    free(g->reach);
    g->reach = reach;
    g->cap = cap;
    for (uint32_t i = 0; i < 2 * cap; i++)
        reach[i] = NOT_AT_ALL;
    for (uint32_t i = 0; i < g->count; i++)
        update_reach(l, &l->lanes[g->lanes[i]]);
    return true;
}

static uint32_t make_lane(rocl_lanes *l, uint32_t group, uint64_t track)
{
    if (!ROCL_GROW(l->groups, l->group_cap, group + (size_t)1))
        return ROCL_NONE;
    if (l->group_count <= group)
        l->group_count = group + 1;
    rocl_lane_group *g = &l->groups[group];
    if ((g->count == g->cap && !grow_group(l, g)) ||
        !ROCL_GROW(l->lanes, l->cap, l->count + (size_t)1))
        return ROCL_NONE;
    rocl_lane *lane = &l->lanes[l->count];
    *lane = (rocl_lane){.track = track, .group = group, .number = g->count};
    g->lanes[g->count++] = l->count;
    update_reach(l, lane);
    return l->count++;
}

/* ---- which slice ends next ------------------------------------------------------------------- */

/* a ends before b; of two that end together the one that began last is the inner one. */
static bool ends_sooner(const rocl_open_slice *a, const rocl_open_slice *b)
{
    return a->end != b->end ? a->end < b->end : a->order > b->order;
}

/* Takes the slice that ends first off the heap and its lane; there is one. */
static rocl_open_slice close_slice(rocl_lanes *l)
{
    rocl_open_slice *h = l->heap, ended = h[0];
    l->lanes[ended.lane].depth--;
    update_reach(l, &l->lanes[ended.lane]);
    rocl_open_slice last = h[--l->open];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < l->open; i = child) {
        if (child + 1 < l->open && ends_sooner(&h[child + 1], &h[child]))
            child++;
        if (!ends_sooner(&h[child], &last))
            break;
        h[i] = h[child];
    }
    h[i] = last;
    return ended;
}

static bool open_slice(rocl_lanes *l, uint32_t n, int64_t end)
{
    rocl_lane *lane = &l->lanes[n];
    if (!ROCL_GROW(lane->ends, lane->cap, lane->depth + (size_t)1) ||
        !ROCL_GROW(l->heap, l->heap_cap, l->open + (size_t)1))
        return false;
    lane->ends[lane->depth++] = end;
    update_reach(l, lane);
    rocl_open_slice fresh = {end, l->order++, n};
    uint32_t i = l->open++;
    for (uint32_t up; i && (up = (i - 1) / 2, ends_sooner(&fresh, &l->heap[up])); i = up)
        l->heap[i] = l->heap[up];
    l->heap[i] = fresh;
    return true;
}

void rocl_forget_slices(rocl_drawing *p)
{
    rocl_lanes *l = &p->lanes;
    for (uint32_t i = 0; i < l->count; i++)
        free(l->lanes[i].ends);
    for (uint32_t i = 0; i < l->group_count; i++) {
        free(l->groups[i].reach);
        free(l->groups[i].lanes);
    }
    free(l->groups);
    free(l->lanes);
    free(l->heap);
    *l = (rocl_lanes){0};
}

/* ---- tracks of a sequence -------------------------------------------------------------------- */

static rocl_status add_track(rocl_drawing *p, uint64_t key, const rocl_track *track,
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

/* The group of lanes of the track that the current work is drawn on. Neighbours mostly share it. */
static rocl_status find_work_track(rocl_drawing *p, uint32_t *group, rocl_error *err)
{
    const rocl_track_event *e = &p->event;
    const rocl_work_place at = {e->agent, e->queue, e->stream};
    rocl_track track = rocl_work_track(p->timeline, e->kind, at, e->thread);
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

static void end_slices(rocl_drawing *p, int64_t time)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    while (p->lanes.open && p->lanes.heap[0].end <= time) {
        rocl_open_slice ended = close_slice(&p->lanes);
        if (ops->slice_end)
            ops->slice_end(p, p->lanes.lanes[ended.lane].track, ended.end);
    }
}

/* Draws on the first lane that takes the slice, else on a new one. */
static rocl_status draw_slice(rocl_drawing *p, uint32_t group, rocl_error *err)
{
    bool extra;
    rocl_status st = ROCL_OK;
    uint32_t lane = find_lane(&p->lanes, group, p->event.end, &extra);
    if (lane == ROCL_NONE) {
        uint64_t id = p->tracks[group].base;
        if (extra) {
            rocl_track track = p->tracks[group];
            track.lane = p->lanes.groups[group].count;
            st = p->timeline->ops->define(p, &track, &id, err);
            p->counts.lanes++;
        }
        if (st == ROCL_OK && (lane = make_lane(&p->lanes, group, id)) == ROCL_NONE)
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && !open_slice(&p->lanes, lane, p->event.end))
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    p->counts.slices++;
    p->counts.moved += extra;
    return p->slice(p, p->lanes.lanes[lane].track, err);
}

/* ---- arrows between host slices: their ends wait until it is known which slice they belong to */

/* Draws the arrows whose time has passed without a slice beginning then. */
static rocl_status draw_late_flows(rocl_drawing *p, bool all, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->flow_count && st == ROCL_OK; i++) {
        const rocl_flow_mark f = p->flows[i];
        if (f.next || (f.time == p->event.time && !all))
            p->flows[kept++] = f;
        else
            st = p->timeline->ops->flow(p, p->tracks[0].base, &f, err);
    }
    p->flow_count = kept;
    return st;
}

/* An instant takes the arrows with its time and name, if the sink can draw that. */
static rocl_status draw_instant(rocl_drawing *p, rocl_error *err)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    const uint32_t waiting = p->flow_count;
    uint32_t own = 0;
    for (uint32_t i = 0; i < waiting && ops->instant_flows; i++) {
        const rocl_flow_mark f = p->flows[i];
        const bool same = f.name == p->event.name || (!f.name && p->event.name == ROCL_NONE);
        if (f.next || f.time != p->event.time || !same)
            continue;
        p->flows[i] = p->flows[own];
        p->flows[own++] = f;
    }
    p->counts.instants++;
    p->flow_count = own;
    const rocl_status st = ops->instant(p, p->tracks[0].base, err);
    p->flow_count = waiting - own;
    if (own)
        memmove(p->flows, p->flows + own, p->flow_count * sizeof *p->flows);
    return st;
}

static rocl_status draw_host(rocl_drawing *p, rocl_error *err)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    rocl_status st = p->flow_count ? draw_late_flows(p, false, err) : ROCL_OK;
    if (st != ROCL_OK)
        return st;
    end_slices(p, p->event.time);
    if (p->event.kind == ROCL_FLOW) {
        const rocl_track_event *e = &p->event;
        if (!ROCL_GROW(p->flows, p->flow_cap, p->flow_count + (size_t)1))
            return rocl_fail_memory(err);
        p->flows[p->flow_count++] =
            (rocl_flow_mark){e->flow, e->time, e->name, e->category, e->flow_end, e->flow_next};
        return ROCL_OK;
    }
    if (p->event.kind != ROCL_INSTANT || (ops->link_slices && rocl_timeline_link(p))) {
        st = draw_slice(p, 0, err);
        p->flow_count = 0; /* all remaining ones belong to it */
        return st;
    }
    return draw_instant(p, err);
}

static rocl_status draw_work(rocl_drawing *p, rocl_error *err)
{
    const rocl_timeline_ops *ops = p->timeline->ops;
    uint32_t group;
    rocl_status st;
    const rocl_track_event *e = &p->event;
    const bool counted = (int)e->kind == ROCL_KIND_COUNTED;
    if ((!counted && e->kind != ROCL_DISPATCH) || e->row != p->counted_row)
        p->counted_count = 0;
    if (counted) { /* values of counters come right before the dispatch that they are drawn with */
        p->counted_row = e->row;
        if (!ROCL_GROW(p->counted, p->counted_cap, p->counted_count + (size_t)1))
            return rocl_fail_memory(err);
        /* Kept in order of counters, as their order in the sorter is arbitrary. */
        uint32_t at = p->counted_count++;
        for (; at && p->counted[at - 1].counter > e->counter; at--)
            p->counted[at] = p->counted[at - 1];
        p->counted[at] = (struct rocl_counted){e->counter, e->value};
        return ROCL_OK;
    }
    if (!ops->work_overlaps)
        end_slices(p, p->event.time);
    if ((st = find_work_track(p, &group, err)) != ROCL_OK)
        return st;
    if (!ops->work_overlaps)
        return draw_slice(p, group, err);
    p->counts.slices++;
    return ops->work(p, p->tracks[group].base, err);
}

static rocl_status finish_slices(rocl_drawing *p, rocl_error *err)
{
    const rocl_status st = p->flow_count ? draw_late_flows(p, true, err) : ROCL_OK;
    end_slices(p, INT64_MAX);
    return st;
}

rocl_status rocl_begin_slices(rocl_drawing *p, rocl_error *err)
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

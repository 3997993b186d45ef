/* Slices on one track must nest. Those that overlap otherwise go to further lanes, tracks of their
 * own, first fit; the ends of all lanes come out of one heap in the order of time. */
#include "timeline/lanes.h"

#include <stdlib.h>

#include "base/array.h"

/* Readers stop at 512 slices in each other. */
#define DEPTH_MAX 500

void rocl_lanes_free(rocl_lanes *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free(l->lanes[i].ends);
    for (uint32_t i = 0; i < l->group_count; i++) {
        free(l->groups[i].reach);
        free(l->groups[i].lanes);
    }
    free(l->groups);
    free(l->lanes);
    free(l->heap);
    *l = (rocl_lanes){.nest = l->nest};
}

/* ---- which lane takes a slice ---- */

#define NOT_AT_ALL (-1) /* ends are never negative */

static int64_t reach_of(const rocl_lanes *l, const rocl_lane *lane)
{
    if (!lane->depth)
        return INT64_MAX;
    return l->nest && lane->depth < DEPTH_MAX ? lane->ends[lane->depth - 1] : NOT_AT_ALL;
}

/* The depth of a lane has changed. */
static void update_reach(rocl_lanes *l, const rocl_lane *lane)
{
    rocl_lane_group *g = &l->groups[lane->group];
    uint32_t i = g->cap + lane->place;
    g->reach[i] = reach_of(l, lane);
    for (i /= 2; i > 0; i /= 2) {
        int64_t a = g->reach[2 * i], b = g->reach[2 * i + 1];
        g->reach[i] = a > b ? a : b;
    }
}

uint32_t rocl_lanes_find(const rocl_lanes *l, uint32_t group, int64_t end, bool *extra)
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

/* Room for one more lane: twice the places, in a tree made anew. */
static bool group_room(rocl_lanes *l, rocl_lane_group *g)
{
    uint32_t cap = g->cap ? 2 * g->cap : 1;
    if (g->count < g->cap)
        return true;
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

static rocl_lane_group *group_at(rocl_lanes *l, uint32_t group)
{
    if (!ROCL_GROW(l->groups, l->group_cap, group + (size_t)1))
        return NULL;
    if (l->group_count <= group)
        l->group_count = group + 1;
    return group_room(l, &l->groups[group]) ? &l->groups[group] : NULL;
}

/* ---- which slice ends next ---- */

/* a ends before b; of two that end together the one that began last is the inner one. */
static bool sooner(const rocl_open_slice *a, const rocl_open_slice *b)
{
    return a->end != b->end ? a->end < b->end : a->order > b->order;
}

bool rocl_lanes_close(rocl_lanes *l, int64_t time, rocl_open_slice *ended)
{
    rocl_open_slice *h = l->heap;
    if (!l->open || h[0].end > time)
        return false;
    *ended = h[0];
    l->lanes[ended->lane].depth--;
    update_reach(l, &l->lanes[ended->lane]);
    rocl_open_slice last = h[--l->open];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < l->open; i = child) {
        if (child + 1 < l->open && sooner(&h[child + 1], &h[child]))
            child++;
        if (!sooner(&h[child], &last))
            break;
        h[i] = h[child];
    }
    h[i] = last;
    return true;
}

uint32_t rocl_lanes_add(rocl_lanes *l, uint32_t group, uint64_t track)
{
    rocl_lane_group *g = group_at(l, group);
    if (!g || !ROCL_GROW(l->lanes, l->cap, l->count + (size_t)1))
        return ROCL_NONE;
    rocl_lane *lane = &l->lanes[l->count];
    *lane = (rocl_lane){.track = track, .group = group, .place = g->count};
    g->lanes[g->count++] = l->count;
    update_reach(l, lane);
    return l->count++;
}

bool rocl_lanes_push(rocl_lanes *l, uint32_t n, int64_t end)
{
    rocl_lane *lane = &l->lanes[n];
    if (!ROCL_GROW(lane->ends, lane->cap, lane->depth + (size_t)1) ||
        !ROCL_GROW(l->heap, l->heap_cap, l->open + (size_t)1))
        return false;
    lane->ends[lane->depth++] = end;
    update_reach(l, lane);
    rocl_open_slice fresh = {end, l->order++, n};
    uint32_t i = l->open++;
    for (uint32_t up; i && (up = (i - 1) / 2, sooner(&fresh, &l->heap[up])); i = up)
        l->heap[i] = l->heap[up];
    l->heap[i] = fresh;
    return true;
}

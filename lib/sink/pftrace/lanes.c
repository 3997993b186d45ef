/* Slices on one track must nest. Those that overlap otherwise go to further lanes, tracks of their
 * own, first fit; the ends of all lanes come out of one heap in the order of time. */
#include <stdlib.h>

#include "sink/pftrace/pf.h"

/* Readers stop at 512 slices in each other. */
#define DEPTH_MAX 500

void pf_lanes_free(pf_lanes *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free(l->lanes[i].ends);
    free(l->lanes);
    free(l->heap);
    *l = (pf_lanes){.nest = l->nest};
}

/* a ends before b; of two that end together the one that began last is the inner one. */
static bool sooner(const pf_open *a, const pf_open *b)
{
    return a->end != b->end ? a->end < b->end : a->order > b->order;
}

bool pf_lanes_close(pf_lanes *l, int64_t time, pf_open *ended)
{
    pf_open *h = l->heap;
    if (!l->open || h[0].end > time)
        return false;
    *ended = h[0];
    l->lanes[ended->lane].depth--;
    pf_open last = h[--l->open];
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

uint32_t pf_lanes_find(const pf_lanes *l, uint32_t group, int64_t end, bool *extra)
{
    *extra = false;
    for (uint32_t i = 0; i < l->count; i++) {
        const pf_lane *lane = &l->lanes[i];
        if (lane->group != group)
            continue;
        if (!lane->depth ||
            (l->nest && lane->ends[lane->depth - 1] >= end && lane->depth < DEPTH_MAX))
            return i;
        *extra = true;
    }
    return ROCL_NONE;
}

uint32_t pf_lanes_add(pf_lanes *l, uint32_t group, uint64_t track)
{
    if (l->count == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 8;
        pf_lane *more = realloc(l->lanes, cap * sizeof *more);
        if (!more)
            return ROCL_NONE;
        l->lanes = more;
        l->cap = cap;
    }
    l->lanes[l->count] = (pf_lane){.track = track, .group = group};
    return l->count++;
}

static bool room(void **array, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap)
        return true;
    uint32_t more_cap = *cap ? 2 * *cap : 16;
    void *more = realloc(*array, more_cap * size);
    if (!more)
        return false;
    *array = more;
    *cap = more_cap;
    return true;
}

bool pf_lanes_push(pf_lanes *l, uint32_t n, int64_t end)
{
    pf_lane *lane = &l->lanes[n];
    if (!room((void **)&lane->ends, lane->depth, &lane->cap, sizeof *lane->ends) ||
        !room((void **)&l->heap, l->open, &l->heap_cap, sizeof *l->heap))
        return false;
    lane->ends[lane->depth++] = end;
    pf_open fresh = {end, l->order++, n};
    uint32_t i = l->open++;
    for (uint32_t up; i && (up = (i - 1) / 2, sooner(&fresh, &l->heap[up])); i = up)
        l->heap[i] = l->heap[up];
    l->heap[i] = fresh;
    return true;
}

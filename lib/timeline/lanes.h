/* Lanes: where slices go that overlap without nesting. What draws slices in rows can only draw
 * those that nest in one, so others get further rows, first fit. */
#ifndef ROCL_TIMELINE_LANES_H
#define ROCL_TIMELINE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "rocline.h"

typedef struct rocl_open_slice { /* a slice that has begun */
    int64_t end;
    uint64_t order; /* of beginning */
    uint32_t lane;
} rocl_open_slice;

typedef struct rocl_lane {
    uint64_t track;
    uint32_t group; /* which lanes may replace each other */
    uint32_t place; /* in the group */
    int64_t *ends;  /* of the open slices, outermost first */
    uint32_t depth;
    size_t cap;
} rocl_lane;

/* The lanes of a group, in a tree of maxima over how far a slice may reach in each: the first that
 * takes a slice is found without looking at those before it. */
typedef struct rocl_lane_group {
    int64_t *reach;  /* 2 * cap; the leaves from cap on */
    uint32_t *lanes; /* by place */
    uint32_t count, cap;
} rocl_lane_group;

typedef struct rocl_lanes {
    rocl_lane *lanes;
    rocl_lane_group *groups;
    rocl_open_slice *heap; /* by end, innermost first */
    uint32_t count, group_count, open;
    size_t cap, group_cap, heap_cap;
    uint64_t order;
    bool nest; /* slices may lie in each other; else lanes hold one at a time */
} rocl_lanes;

void rocl_lanes_free(rocl_lanes *l);
/* The next slice to end at or before `time`; false: none. Takes it out. */
bool rocl_lanes_close(rocl_lanes *l, int64_t time, rocl_open_slice *ended);
/* The lane for a slice [.., end] of a group, or ROCL_NONE: the caller adds one. *extra: it is not
 * the group's first. */
uint32_t rocl_lanes_find(const rocl_lanes *l, uint32_t group, int64_t end, bool *extra);
uint32_t rocl_lanes_add(rocl_lanes *l, uint32_t group,
                        uint64_t track); /* ROCL_NONE: out of memory */
bool rocl_lanes_push(rocl_lanes *l, uint32_t lane, int64_t end);

#endif

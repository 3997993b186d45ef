/* Inside the report on markers. For markers*.c only. */
#ifndef ROCL_ANALYSIS_MARKERS_H
#define ROCL_ANALYSIS_MARKERS_H

#include "analysis/analysis.h"

/* What makes a group; compared byte by byte, so without holes. */
typedef struct marker_key {
    uint32_t name; /* text */
    int32_t rank;  /* -1: unknown, or not asked for */
} marker_key;

/* Sums over the ranges of a group; times saturate. */
typedef struct marker_group {
    marker_key key;
    uint64_t count, kernels, copies;
    int64_t total, min, max;     /* on the host */
    int64_t span, busy, exposed; /* of the GPU work */
} marker_group;

/* Ranges are numbered in the order of the first sweep, from 1. */
typedef struct markers {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_strings *keys;  /* as bytes; their ids are the groups */
    rocl_sorter *calls;  /* ranges and calls by thread and start */
    rocl_sorter *links;  /* calls with their ranges, and GPU work, by process and stack id */
    rocl_sorter *ranges; /* ranges and their GPU work by start */
    marker_group *groups;
    size_t group_count;
} markers;

/* In the word of a start: GPU work, after all else. */
#define MARKERS_WORK (UINT64_C(1) << 63)

/* markers_join.c: from events to groups. Each takes one sorter in order and fills the next. */
rocl_status rocl_markers_nest(markers *m, rocl_error *err);
rocl_status rocl_markers_link(markers *m, rocl_error *err);
rocl_status rocl_markers_measure(markers *m, rocl_error *err);

#endif

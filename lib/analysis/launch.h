/* Inside the report on launches. For launch*.c only. */
#ifndef ROCL_ANALYSIS_LAUNCH_H
#define ROCL_ANALYSIS_LAUNCH_H

#include "analysis/calls.h"
#include "analysis/samples.h"

/* What makes a group; compared byte by byte, so without holes. */
typedef struct launch_key {
    uint32_t name, call, agent, stream; /* texts; call ROCL_NONE: it is not in the trace */
    int32_t rank;                       /* -1: unknown, or not asked for */
} launch_key;

typedef struct launch_group {
    launch_key key;
    uint64_t count, early;       /* kernels; those that began before their call returned */
    int64_t calls, kernels, all; /* sums of times; they saturate */
    rocl_distribution delay;
} launch_group;

#define LAUNCH_LONGEST 20

typedef struct launch_delay {
    launch_key key;
    int64_t start, delay;
} launch_delay;

typedef struct launch {
    rocl_collector c;
    rocl_sorter *kernels; /* by process and stack id */
    rocl_samples *delays; /* by group */
    rocl_strings *keys;   /* as bytes; their ids are the groups */
    launch_group *groups;
    size_t group_count;
    launch_delay longest[LAUNCH_LONGEST];
    unsigned longest_count;
    uint64_t unlinked;
} launch;

/* launch_tables.c */
rocl_status rocl_launch_tables(launch *l, rocl_tables *out, rocl_error *err);

#endif

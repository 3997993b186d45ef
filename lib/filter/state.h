/* A filter inside: its stages, and what workers have of their own. For filter.c and team.c. */
#pragma once

#include "filter/filter.h"
#include "filter/stages.h"

/* The state of a worker. Allocated one by one, so that they share no cache line. */
typedef struct rocl_filter_worker {
    uint8_t *keep;
    size_t cap;
    rocl_kind_cache kinds;
    rocl_name_cache names, kernel_names;
} rocl_filter_worker;

struct rocl_filter {
    rocl_trace *trace;
    rocl_window window;
    rocl_who who;
    rocl_kinds kinds;
    rocl_names names, kernel_names;
    rocl_periods periods;
    rocl_iterations iterations;
    rocl_step_filter steps;
    int64_t min_duration;
    int64_t first, last; /* bounds of the trace */
    bool resolved;
    rocl_filter_worker **workers;
    unsigned worker_count;
};

/* Arrows between calls and GPU work, as results.json of rocprof v1 has them: its events have no
 * ids that would join them. An arrow is a time on a lane (the pid and tid of the file) at both
 * ends: within the call, and where the work begins. In the first pass calls and arrows are noted;
 * then it is known for a lane and time which call launched the work that begins there. All of it is
 * sorted outside of memory. */
#pragma once

#include "source/records/lookup.h"

typedef struct rocprof_flows {
    rocl_sorter *noted, *ends;
    rocl_lookup *links; /* after the join: lane, time -> the call that launched the work there */
} rocprof_flows;

/* A lane and a time in the file, in microseconds. */
typedef struct rocprof_spot {
    uint64_t lane;
    uint64_t time;
} rocprof_spot;

static inline uint64_t rocprof_lane(uint64_t pid, uint64_t tid)
{
    return pid << 40 | (tid & (((uint64_t)1 << 40) - 1));
}

/* *f is zeroed. */
rocl_status rocprof_flows_open(rocprof_flows *f, rocl_trace *t, rocl_error *err);
void rocprof_flows_close(rocprof_flows *f);

/* The first pass: a call and the number by which it links, or an arrow. */
rocl_status rocprof_flows_call(rocprof_flows *f, unsigned worker, rocprof_spot begin, uint64_t end,
                               uint64_t link, rocl_error *err);
rocl_status rocprof_flows_arrow(rocprof_flows *f, unsigned worker, rocprof_spot from,
                                rocprof_spot to, uint64_t place, rocl_error *err);
/* After the first pass: finds the call of each arrow. */
rocl_status rocprof_flows_join(rocprof_flows *f, rocl_error *err);

/* What depends on what: the events of a trace become operations on a longest path (path.h), in the
 * order of time.
 *
 *     thread        one thing after the other; a range's own time is that without ranges inside it
 *     begin of work on its launch (the begin of the call), and on all that ended before on its
 *                   stream and its queue; after hipStreamWaitEvent on all that ended before in the
 *                   process; without a launch in the trace on the same
 *     end of work   on its begin; of a collective on the last begin of its kernels on all ranks
 *     end of a collective of MPI on its begin, and on the last begin of it on all ranks
 *     end of a call that waits (calls.h): on the work that it waits for, if it ended in the call
 *     backward pass of PyTorch, on threads of its own: on the thread that launched work before; and
 *                   what that thread does next, on the backward pass */
#pragma once

#include "analysis/path.h"
#include "analysis/points.h"

typedef enum rocl_time_class {
    ROCL_TIME_HOST,
    ROCL_TIME_OUTSIDE,
    ROCL_TIME_LAUNCH,
    ROCL_TIME_KERNEL,
    ROCL_TIME_COMMUNICATION,
    ROCL_TIME_COPY,
    ROCL_TIME_QUEUE,
    ROCL_TIME_RETURN,
    ROCL_TIME_ELSEWHERE,
    ROCL_TIME_BEFORE,
    ROCL_TIME_UNEXPLAINED,
    ROCL_TIME_CLASSES
} rocl_time_class;

/* Time without a name of its own. */
typedef enum rocl_time_detail {
    ROCL_TIME_NAMED,
    ROCL_TIME_NO_RANGE, /* no range is open */
    ROCL_TIME_NO_CALL,  /* before work without a call */
    ROCL_TIME_NO_BEGIN, /* before a thread's first range */
} rocl_time_detail;

/* What a step of the path is of; interned as bytes, so without holes. Its id is the step's `what`.
 */
typedef struct rocl_time_key {
    uint32_t class, detail;
    uint32_t name; /* text; of ROCL_TIME_ELSEWHERE that of the rank */
    int32_t rank;  /* -1: unknown, or not wanted (--by-rank) */
} rocl_time_key;

typedef struct rocl_dependencies {
    rocl_path *path;    /* its times count from the begin of the trace, ... */
    int64_t origin;     /* ... which was then */
    uint32_t end;       /* slot: where the path ends */
    rocl_strings *keys; /* rocl_time_key, by `what` */
    rocl_points *points;
    uint32_t *rank_ends; /* slots, by rank: where each ends; 0: it has nothing to do with the end */
    uint64_t waits, named; /* calls that wait for a stream or event; those that say for which */
} rocl_dependencies;

/* For a collector of ranges, kernels and copies, whose sorters it has: all of them. The collector
 * gives its events and calls to the points. */
rocl_status rocl_dependencies_open(rocl_dependencies **d, rocl_collector *c, rocl_error *err);
void rocl_dependencies_close(rocl_dependencies *d); /* NULL is fine */
/* In its finish, once: makes the path, and closes it. */
rocl_status rocl_dependencies_follow(rocl_dependencies *d, rocl_error *err);

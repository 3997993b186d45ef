/* The points of a trace in order of time, for following dependencies: begins of ranges, launches of
 * GPU work, and its begins; the begin of a kernel or range of a collective is preceded by that.
 *
 *     rocl_points_add_batch        ranges, kernels and copies, as they come
 *     rocl_points_look_up_calls    in look_up_calls of the collector
 *     rocl_points_start            in its finish: matches collectives, and puts all in order
 *     rocl_points_next             ... one by one */
#pragma once

#include "analysis/calls.h"
#include "model/ranks.h"

/* What a range is besides. */
enum {
    ROCL_RANGE_IS_MARKER = 1,
    ROCL_RANGE_WAITS_FOR_EVENT = 2, /* hipStreamWaitEvent: its stream does */
    ROCL_RANGE_RECORDS_EVENT = 4,
    ROCL_RANGE_IS_BACKWARD = 8, /* it belongs to PyTorch's backward pass */
    ROCL_RANGE_IS_OF_HSA = 16,  /* which knows no streams */
};

/* What does work of a process one after the other: a stream of a GPU, a queue; and a GPU. */
enum { ROCL_ON_STREAM, ROCL_ON_QUEUE, ROCL_ON_GPU, ROCL_PLACES };

typedef enum rocl_point_kind {
    ROCL_POINT_RANGE,
    ROCL_POINT_LAUNCH,
    ROCL_POINT_COLLECTIVE,
    ROCL_POINT_WORK,
} rocl_point_kind;

/* Members that its kind does not have are undefined. */
typedef struct rocl_point {
    rocl_point_kind kind;
    int64_t time, end; /* for a launch: the end of its call */
    uint32_t capture;
    uint32_t process,
        thread;    /* of the capture; of a launch only the thread, of work only the process */
    uint32_t name; /* text; of a launch that of the call */
    /* A range: */
    uint32_t flags; /* ROCL_RANGE_* */
    rocl_waits_for waits;
    uint32_t stream, event; /* handles that its arguments name: from 1 on, 0 none */
    /* A launch, and work: which of all it is, from 1 on; a collective: from 0 on. */
    uint64_t number;
    /* Places of work, from 1 on; 0: unknown; the GPU is always known. Of a launch the stream. */
    uint32_t places[ROCL_PLACES];
    bool is_copy, is_launched; /* is_launched: there was a point before that is its launch */
    uint64_t members;          /* kernels or ranges of a collective */
} rocl_point;

typedef struct rocl_points {
    const rocl_rank_list *ranks;
    uint32_t place_count, handle_count; /* + 1; once started */
    uint64_t work, unlinked;            /* kernels and copies; those without a launch */
} rocl_points;

/* Makes one of a collector, whose sorters and arguments it wants. Close it also after a failure. */
rocl_status rocl_points_open(rocl_points **p, rocl_collector *c, rocl_error *err);
void rocl_points_close(rocl_points *p); /* NULL is fine */
/* Concurrent. */
rocl_status rocl_points_add_batch(rocl_points *p, unsigned worker, const rocl_batch *b,
                                  rocl_error *err);
rocl_status rocl_points_look_up_calls(rocl_points *p, rocl_calls *calls, rocl_error *err);
rocl_status rocl_points_start(rocl_points *p, rocl_error *err);
/* False at the end, and after a failure, which is in *st. */
bool rocl_points_next(rocl_points *p, rocl_point *point, rocl_status *st, rocl_error *err);

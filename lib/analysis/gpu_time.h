/* How the GPUs of a trace spent its time, in three numbers whose sum is exact:
 *
 *     whole = work - beside + idle
 *
 * whole is the wall time of each GPU that did anything, all together; work the sum of durations of
 * kernels and copies; beside the part of that in which a GPU was already busy with other work. */
#pragma once

#include "analysis/facts.h"

__extension__ typedef __int128 rocl_i128;

/* Wall time is that of the machine, from the first begin to the last end of all events, or only of
 * kernels and copies. */
typedef enum rocl_wall { ROCL_WALL_EVENTS, ROCL_WALL_GPU, ROCL_WALLS } rocl_wall;

typedef struct rocl_gpu_sums {
    rocl_i128 whole[ROCL_WALLS], idle[ROCL_WALLS];
    rocl_i128 work, beside;
    uint64_t gpus; /* that did anything */
} rocl_gpu_sums;

typedef struct rocl_gpu_time {
    rocl_trace *trace;
    rocl_sorter *sorter;  /* kernels and copies by GPU and start */
    rocl_extent *extents; /* by worker, then machine, then rocl_wall */
} rocl_gpu_time;

/* sorter: of three key words; owned and sealed by the caller. Close it even after a failure. */
rocl_status rocl_gpu_time_open(rocl_gpu_time *g, rocl_trace *t, rocl_sorter *sorter,
                               rocl_error *err);
/* Concurrent. Wants all events that take time. */
rocl_status rocl_gpu_time_add_batch(rocl_gpu_time *g, unsigned worker, const rocl_batch *b,
                                    rocl_error *err);
/* When all have come; once. */
rocl_status rocl_gpu_time_sum(rocl_gpu_time *g, rocl_gpu_sums *sums, rocl_error *err);
void rocl_gpu_time_close(rocl_gpu_time *g);

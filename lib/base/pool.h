/* Workers. Two shapes of parallel work are all this library needs: a bag of independent tasks,
 * and a pipe whose blocks are transformed by anybody and leave in the order they came. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#include <pthread.h>

/* task(ctx, worker, index, err): worker in [0, workers). */
typedef rocl_status rocl_task_fn(void *ctx, unsigned worker, size_t index, rocl_error *err);

/* Runs index 0..count-1, handed out in order to `workers` workers (the caller is worker 0; with
 * workers == 1 no thread is made). After a failure no new index is started; the error of the lowest
 * failed index is returned. */
rocl_status rocl_run_tasks(unsigned workers, size_t count, rocl_task_fn *task, void *ctx,
                           rocl_error *err);

/* A block on its way through a pipe. The producer fills in, transform reads `in` and fills `out`,
 * write gets it. Both buffers are recycled (len set to 0, memory kept). */
typedef struct rocl_block {
    rocl_buf in, out;
    void *user; /* the producer's */
} rocl_block;

typedef struct rocl_pipe rocl_pipe;

typedef struct rocl_pipe_ops {
    /* Concurrent; worker in [0, workers). */
    rocl_status (*transform)(void *ctx, unsigned worker, rocl_block *block, rocl_error *err);
    /* One at a time, in order of put. */
    rocl_status (*write)(void *ctx, rocl_block *block, rocl_error *err);
} rocl_pipe_ops;

/* workers == 1: put runs transform and write in the caller. Otherwise workers - 1 threads transform
 * while the caller produces, each from when there is work for it; a caller that waits for a free
 * block, or for the end, transforms as worker 0. At most workers + 8 blocks are alive. A block
 * whose `in` or `out` has failed (memory) is a failure of the pipe, nobody need look. `ops` must
 * live as long as the pipe. After a failure what was put before the failed block has been written
 * and nothing after it is. */
rocl_status rocl_pipe_new(rocl_pipe **pipe, unsigned workers, const rocl_pipe_ops *ops, void *ctx,
                          rocl_error *err);
/* An empty block; after a failure NULL, and that failure. Every block got must be put. */
rocl_status rocl_pipe_get(rocl_pipe *p, rocl_block **block, rocl_error *err);
rocl_status rocl_pipe_put(rocl_pipe *p, rocl_block *block, rocl_error *err);
/* Waits until all that was put is written; after a failure, until nobody works on any of it. */
rocl_status rocl_pipe_drain(rocl_pipe *p, rocl_error *err);
/* Waits until all is written, joins, frees; returns the first error in order of put. */
rocl_status rocl_pipe_finish(rocl_pipe *p, rocl_error *err);
/* Throws away what is under way, joins, frees. NULL is fine. */
void rocl_pipe_abort(rocl_pipe *p);

/* ---- how a run shares its memory, so that it takes no more with more workers --------------- */

typedef struct rocl_budget {
    unsigned workers;
    size_t sorting; /* bytes, for a sort space */
    size_t cursor;  /* bytes that a cursor on a table reads at once: a worker has about ten */
} rocl_budget;

/* jobs 0: one per core; memory 0: ROCL_DEFAULT_MEMORY. A worker holds buffers of its own, which are
 * paid from `memory`: there are fewer workers than jobs where they would take more than half of it,
 * but up to 4 always. */
rocl_budget rocl_budget_share(size_t memory, unsigned jobs);

/* ---- threads ------------------------------------------------------------------------------- */

/* pthread_create with every signal blocked: a host's handlers run on the host's threads. */
bool rocl_thread_start(pthread_t *t, void *(*run)(void *), void *arg);

/* Small captures are read before their turn. One keeps one worker busy, and its reading has to wait
 * for nothing but its file: so while the sink takes the events of one, others are read. What is
 * handed to the sink, and when, is the same as without. */
#ifndef ROCL_TRACE_PREFETCH_H
#define ROCL_TRACE_PREFETCH_H

#include "source/source.h"

/* Rows of a small capture: its events are kept until it has its turn. A larger one is only begun,
 * for all workers to read. */
#define ROCL_PREFETCH_ROWS 16384

typedef struct rocl_prefetch rocl_prefetch;

/* Of all captures, of which only those with wanted[index] are read. NULL when nothing is to be
 * gained, or it could not be started. `emitter` says what is wanted of them. */
rocl_prefetch *rocl_prefetch_new(rocl_trace *t, const bool *wanted, const rocl_emitter *emitter);
/* Ends what was begun and had no turn. */
void rocl_prefetch_free(rocl_prefetch *a);

/* What was read of a capture. */
typedef struct rocl_prefetched {
    rocl_status status; /* of what was done: begin and, when `whole`, scan and finish */
    rocl_error *err;
    rocl_plan plan; /* the taker's to free */
    bool whole;
    /* ---- */
    rocl_batch *kept; /* without events: the end of a task */
    size_t count, cap;
} rocl_prefetched;

/* The turn of a capture: all before it have had theirs. NULL: nothing has been done about it. While
 * it is being read by another thread, others are read here. NULL is fine for `a`. */
rocl_prefetched *rocl_prefetch_take(rocl_prefetch *a, uint32_t index);

/* Hands out what was kept as `scan` and `finish` did, with end_task (NULL: none) for each task that
 * ended. */
typedef rocl_status rocl_end_task_fn(void *ctx, rocl_error *err);
rocl_status rocl_prefetched_emit(rocl_prefetched *e, const rocl_emitter *to,
                                 rocl_end_task_fn *end_task, rocl_error *err);
/* It was taken: frees what was kept. */
void rocl_prefetched_free(rocl_prefetched *e);

uint64_t rocl_plan_rows(const rocl_plan *p);

#endif

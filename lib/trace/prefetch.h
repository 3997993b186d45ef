/* Reads small captures before their turn. Each keeps only one worker busy, and depends only on its
 * file: so while the sink takes the events of one, others are read. The sink gets the same calls in
 * the same order as without. */
#pragma once

#include "source/source.h"

/* Rows of a small capture: its events are kept until it has its turn. A larger one is only begun,
 * for all workers to read. */
#define ROCL_PREFETCH_ROWS 16384

typedef struct rocl_prefetch rocl_prefetch;

/* For all captures with wanted[index]. NULL: it would gain nothing, or could not be started.
 * `emitter` says what is wanted of them. */
rocl_prefetch *rocl_prefetch_new(rocl_trace *t, const bool *wanted, const rocl_emitter *emitter);
/* Ends captures that were begun and had no turn. */
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

/* Takes the next capture in order. NULL: it was not prefetched. While another thread still reads
 * it, this one reads others. NULL is fine for `a`. */
rocl_prefetched *rocl_prefetch_take(rocl_prefetch *a, uint32_t index);

/* Hands out what was kept as `scan` and `finish` did, with end_task (NULL: none) for each task that
 * ended. */
typedef rocl_status rocl_end_task_fn(void *ctx, unsigned worker, rocl_error *err);
rocl_status rocl_prefetched_emit(rocl_prefetched *e, const rocl_emitter *to,
                                 rocl_end_task_fn *end_task, rocl_error *err);
/* It was taken: frees what was kept. */
void rocl_prefetched_free(rocl_prefetched *e);

uint64_t rocl_plan_rows(const rocl_plan *p);

/* Batches under construction: what a worker of a source has of its own. */
#ifndef ROCL_SOURCE_BATCH_H
#define ROCL_SOURCE_BATCH_H

#include "source/source.h"

typedef struct rocl_batcher {
    const rocl_capture *capture;
    const rocl_emitter *to;
    unsigned worker;
    size_t max; /* events in a batch */
    rocl_batch out[ROCL_KINDS];
    rocl_arg *args; /* those of all batches */
    size_t arg_count, arg_cap;
} rocl_batcher;

/* The next record of a batch, zeroed; all batches go out first when it is full. NULL: it failed. */
void *rocl_batcher_next(rocl_batcher *b, rocl_kind kind, rocl_status *st, rocl_error *err);
rocl_status rocl_batcher_flush(rocl_batcher *b, rocl_error *err);
void rocl_batcher_free(rocl_batcher *b);

#endif

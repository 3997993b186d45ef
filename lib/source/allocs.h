/* For sources: joins allocations and frees with their blocks. They are added in any order by any
 * worker, and handed out in order of time at the end, with owner, block, delta and unpaired set. */
#pragma once

#include "model/trace.h"

typedef struct rocl_allocs rocl_allocs;

/* kind: ROCL_ALLOC or ROCL_SCRATCH. */
typedef rocl_status rocl_alloc_fn(void *ctx, rocl_kind kind, const rocl_alloc *a, rocl_error *err);

rocl_status rocl_allocs_new(rocl_allocs **a, rocl_trace *t, rocl_error *err);
void rocl_allocs_free(rocl_allocs *a);
rocl_status rocl_allocs_add(rocl_allocs *a, unsigned worker, const rocl_alloc *record,
                            rocl_error *err);
rocl_status rocl_allocs_seal(rocl_allocs *a, unsigned worker, rocl_error *err);
rocl_status rocl_allocs_finish(rocl_allocs *a, rocl_alloc_fn *emit, void *ctx, rocl_error *err);

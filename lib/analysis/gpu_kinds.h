/* Kinds of GPUs, for derived counters: those of one architecture with the same constants, which are
 * the numbers among the properties of their agents. */
#pragma once

#include "derive/derive.h"
#include "model/trace.h"

typedef struct rocl_gpu_kind {
    const char *arch; /* "" unknown */
    rocl_constant *constants;
    size_t constant_count;
} rocl_gpu_kind;

typedef struct rocl_gpu_kinds {
    rocl_gpu_kind *kinds;
    size_t count, cap;
    /* The kind by capture and agent, the last one is for an unknown agent; NULL for a capture
     * without counters. */
    uint32_t **of;
} rocl_gpu_kinds;

/* arch: of GPUs whose names do not tell; NULL: none. k is zeroed; free it also after a failure. */
rocl_status rocl_gpu_kinds_find(rocl_gpu_kinds *k, rocl_derive *definitions, rocl_trace *t,
                                const char *arch, rocl_error *err);
void rocl_gpu_kinds_free(rocl_gpu_kinds *k, const rocl_trace *t);

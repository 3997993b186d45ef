/* What each rank of a team that writes must know of all captures: their order and machines, their
 * processes and agents, and how many threads and counters they have. Outputs number and name things
 * by it. */
#pragma once

#include "base/map.h"
#include "model/trace.h"
#include "team/team.h"

/* ---- definitions as bytes -------------------------------------------------------------------- */

typedef struct rocl_defs {
    const rocl_trace *trace;
    rocl_buf bytes; /* the captures; whoever has opened it may put more */
    rocl_buf texts, arrays, array;
    rocl_map numbers, array_numbers;
    rocl_strings *known; /* arrays, as bytes */
    uint32_t text_count, array_count;
} rocl_defs;

void rocl_defs_open(rocl_defs *d, const rocl_trace *t);
/* Appends all. */
void rocl_defs_close(rocl_defs *d, rocl_buf *to);
/* Puts all definitions of a capture, whose clock is not set yet, but kernels and code objects. */
void rocl_defs_put(rocl_defs *d, const rocl_model_capture *c);
void rocl_defs_put_kernels(rocl_defs *d, const rocl_capture *c);

typedef struct rocl_defs_array {
    void *records; /* the trace's */
    uint32_t count;
    uint8_t def;
} rocl_defs_array;

typedef struct rocl_defs_reader {
    rocl_trace *trace;
    rocl_byte_reader *from;
    uint32_t *texts; /* by number */
    uint32_t text_count;
    rocl_defs_array *arrays;
    uint32_t array_count;
} rocl_defs_reader;

/* Takes texts and arrays: captures follow. It is freed by the caller, also after a failure. */
rocl_status rocl_defs_take(rocl_defs_reader *d, rocl_trace *t, rocl_byte_reader *from,
                           rocl_error *err);
void rocl_defs_free(rocl_defs_reader *d);
/* Reads definitions into a new capture. */
rocl_status rocl_defs_get(rocl_defs_reader *d, rocl_model_capture *c, rocl_error *err);
void rocl_defs_get_kernels(const rocl_defs_reader *d, rocl_capture *c);

/* ---- the outline ----------------------------------------------------------------------------- */

/* Appends what all ranks must know. */
rocl_status rocl_outline_make(rocl_buf *outline, const rocl_trace *t, rocl_error *err);
/* Appends that, and which of rank 0's captures the rank reads. */
void rocl_outline_put(rocl_buf *to, const rocl_buf *outline, const rocl_trace *t, unsigned rank);

/* Finds a capture of the rank's own trace: the nth of an input, with that guid. NULL: there is
 * none. */
typedef rocl_model_capture *rocl_outline_find_fn(void *ctx, uint64_t input, uint64_t nth,
                                                 const char *guid, size_t len);

/* Makes the captures of a rank's trace those of rank 0's: its own are where they belong, with their
 * clocks; of the others there are only definitions. own: by capture, freed by the caller; NULL
 * after a failure. ROCL_INPUT: an input is not what rank 0 has opened. */
rocl_status rocl_outline_take(rocl_trace *t, rocl_byte_reader *from, rocl_outline_find_fn *find,
                              void *ctx, bool **own, rocl_error *err);

/* Sets the clock of a capture as rocl_deal_put_clock() has put it, once. */
void rocl_outline_take_clock(rocl_model_capture *c, rocl_byte_reader *from);

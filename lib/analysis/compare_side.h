/* One side of a comparison while it is read: a trace, or a baseline, which holds of a trace what a
 * comparison needs. Names of both sides have the same ids, and their durations go to one sorter. */
#pragma once

#include "analysis/gpu_time.h"
#include "analysis/report.h"
#include "analysis/side_key.h"
#include "analysis/side_steps.h"

/* Facts of a name before its durations are sorted: percentiles need their number, the rest tells
 * which names may be the same kernel. Sums modulo 2^64. */
typedef struct rocl_side_name {
    uint64_t count, ns, items; /* items: work-items of dispatches */
} rocl_side_name;

typedef struct rocl_side {
    /* Set by the caller: */
    rocl_strings *keys;  /* a byte for the domain, then the name */
    rocl_sorter *sorter; /* of two words: id of the key; duration << 1 | bit; NULL: not wanted */
    unsigned bit;
    bool wants_steps;
    const rocl_side_steps *other; /* for B the steps of A; else NULL */
    /* Read: */
    rocl_side_name *names; /* by id of the key */
    size_t name_cap;
    rocl_gpu_sums gpu_time;
    rocl_side_steps steps; /* if they are wanted */
    uint64_t processes;
    rocl_buf gpus;                         /* "2 x gfx942, 1 x gfx90a" */
    rocl_tables *header_texts;             /* owns the texts of ... */
    rocl_datum header[ROCL_HEADER_FIELDS]; /* ... what rocl_put_header says of it */
} rocl_side;

/* One pass over the trace. space: of the sorter, and for one that lives no longer than this call.
 * Free the side also after a failure. */
rocl_status rocl_side_read(rocl_side *s, rocl_trace *t, rocl_sort_space *space, rocl_error *err);
void rocl_side_free(rocl_side *s);

/* The facts of a name; zeros if the side lacks it. */
static inline rocl_side_name rocl_side_name_of(const rocl_side *s, uint32_t id)
{
    return id < s->name_cap ? s->names[id] : (rocl_side_name){0};
}

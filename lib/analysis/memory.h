/* Inside the report on memory: what is collected (memory.c), and over time (memory_timeline.c), for
 * the tables (memory_tables.c). */
#ifndef ROCL_ANALYSIS_MEMORY_H
#define ROCL_ANALYSIS_MEMORY_H

#include "analysis/analysis.h"
#include "analysis/slices.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"

typedef struct owner {
    rocl_agent_key key;
    bool used; /* in the window, or live in it */
    uint64_t allocations, frees, unpaired, leaks;
    int64_t before, allocated, freed, live, peak, peak_at, leaked; /* bytes saturate */
    uint64_t scratch[ROCL_OP_RECLAIM + 1];                         /* operations */
    int64_t scratch_bytes, scratch_largest, scratch_time;
    int64_t *slices; /* the most that was live in each; NULL: not asked for */
    uint64_t slice;  /* filled up to this one */
} owner;

typedef struct block {
    int64_t size, when;
    uint64_t address, id;
    uint32_t owner, capture, thread, name;
    uint32_t next; /* unused ones: a list */
} block;

typedef struct memory_span {
    alignas(ROCL_CACHE_LINE) int64_t first;
    int64_t last; /* first > last: none */
} memory_span;

typedef struct memory {
    rocl_collector c;
    rocl_strings *keys; /* owners' keys as bytes; their ids are the owners */
    rocl_sorter *sorter;
    owner *owners;
    uint32_t *order; /* owners by machine and number */
    size_t owner_count;
    rocl_map live;  /* process and address -> block */
    rocl_buf store; /* blocks */
    uint32_t spare; /* block + 1 */
    int64_t first, from, to;
    bool any;
    block *leaks;
    size_t leak_count;
    memory_span *spans; /* by worker: of its events */
    rocl_slices slices; /* count 0: nobody wants them */
} memory;

/* ---- memory_timeline.c ---- */

/* Before the sweep; times are those of the window, where there is one. */
rocl_status rocl_memory_slices_begin(memory *m, rocl_error *err);
/* Before the live bytes of an owner change, and after that. */
void rocl_memory_slices_note(memory *m, owner *o, int64_t when);
rocl_status rocl_memory_slices_table(memory *m, rocl_tables *out, rocl_error *err);

/* ---- memory_tables.c ---- */

rocl_datum rocl_memory_rank(const owner *o);
rocl_status rocl_memory_tables(memory *m, rocl_tables *out, rocl_error *err);

#endif

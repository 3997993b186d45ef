/* The report of ranks has one collector (collectives.c). Its parts are here: what each rank did, by
 * name (ranks.c), and which of them is late (late_ranks.c). */
#pragma once

#include "analysis/activity.h"
#include "analysis/keyed.h"
#include "analysis/slices.h"
#include "model/collectives.h"

/* ---- what each rank did ---------------------------------------------------------------------- */

typedef enum rocl_rank_work {
    ROCL_RANK_KERNELS,
    ROCL_RANK_MARKERS,
    ROCL_RANK_CALLS,
    ROCL_RANK_COPIES,
    ROCL_RANK_OTHERS, /* other ranges of the host, such as operators and calls of CUDA */
    ROCL_RANK_WORKS
} rocl_rank_work;

enum {
    ROCL_RANK_WAITS = 1,    /* it communicates or synchronizes: who has most of it waits */
    ROCL_RANK_LAUNCHES = 2, /* a call that launches kernels */
    ROCL_RANK_TRAITS = 4
};

/* Interned as bytes: without holes. */
typedef struct rocl_rank_key {
    uint32_t work, name, rank;
    uint32_t traits; /* ROCL_RANK_WAITS, ROCL_RANK_LAUNCHES */
} rocl_rank_key;

typedef struct rocl_rank_sum {
    uint64_t calls;
    int64_t total;
} rocl_rank_sum;

typedef struct rocl_rank_cell {
    rocl_rank_key key;
    rocl_rank_sum sum;
} rocl_rank_cell;

typedef struct rocl_rank_sums {
    rocl_collector *c;
    const rocl_rank_list *list;
    rocl_keyed keyed;
    rocl_ids *traits; /* by worker, then by kind and name */
    rocl_extent
        *extents; /* by worker and rank; at last by rank: from its first event to its last */
    /* Once finished: */
    rocl_rank_cell *cells; /* by kind, name, rank */
    size_t cell_count;
    rocl_rank_sum (*totals)[ROCL_RANK_WORKS + 1]; /* by rank; the last: kernels that communicate */
} rocl_rank_sums;

/* The list is the caller's, and lives as long. */
rocl_status rocl_rank_sums_open(rocl_rank_sums *r, rocl_collector *c, const rocl_rank_list *list,
                                rocl_error *err);
void rocl_rank_sums_close(rocl_rank_sums *r);
/* Concurrent. */
rocl_status rocl_rank_sums_add(rocl_rank_sums *r, unsigned worker, const rocl_batch *b,
                               const rocl_event *e, uint32_t *traits, rocl_error *err);
rocl_status rocl_rank_sums_finish(rocl_rank_sums *r, rocl_error *err);
rocl_status rocl_rank_sums_put(const rocl_rank_sums *r, rocl_tables *out, rocl_error *err);
extern const rocl_table_def rocl_rank_table, rocl_rank_times_table, rocl_rank_imbalance_table;

/* ---- which of them is late ------------------------------------------------------------------- */

typedef struct rocl_late_ranks rocl_late_ranks;

rocl_status rocl_late_ranks_open(rocl_late_ranks **l, const rocl_collector *c,
                                 const rocl_collectives *match, rocl_error *err);
void rocl_late_ranks_close(rocl_late_ranks *l); /* NULL is fine */
/* Takes a meeting, as rocl_collectives_match() passes it on. */
rocl_status rocl_late_ranks_meet(rocl_late_ranks *l, const rocl_collective *k, rocl_error *err);
/* Then the work of each rank, by start: an activity on a GPU (its index + 1; 0: unknown), or
 * ROCL_ACTIVITIES for a launch; and that there is no more of the rank. */
void rocl_late_ranks_work(rocl_late_ranks *l, uint32_t rank, rocl_activity what, size_t gpu_plus1,
                          int64_t start, int64_t end);
void rocl_late_ranks_end(rocl_late_ranks *l, uint32_t rank);
rocl_status rocl_late_ranks_put(rocl_late_ranks *l, const rocl_rank_sums *r, rocl_tables *out,
                                rocl_error *err);
extern const rocl_table_def rocl_late_ranks_table;

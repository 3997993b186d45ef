/* Inside the report of ranks: what is collected (ranks.c) for the tables (ranks_tables.c). */
#ifndef ROCL_ANALYSIS_RANKS_H
#define ROCL_ANALYSIS_RANKS_H

#include "analysis/analysis.h"

typedef enum rocl_rank_work {
    ROCL_RANK_KERNEL,
    ROCL_RANK_MARKER,
    ROCL_RANK_API,
    ROCL_RANK_WORKS
} rocl_rank_work;

/* A rank: all processes that say that they are it; or a process that says nothing. */
typedef struct rocl_rank_place {
    int32_t rank; /* -1: none */
    uint32_t machine;
    int64_t pid;   /* -1: several */
    uint32_t host; /* text */
    uint32_t capture, process;
} rocl_rank_place;

/* Compared byte by byte: without holes. */
typedef struct rocl_rank_cell_key {
    uint32_t work, name, place;
} rocl_rank_cell_key;

typedef struct rocl_rank_sum {
    uint64_t calls;
    int64_t total;
} rocl_rank_sum;

/* The sums of one worker by the id of their key. */
typedef struct rocl_rank_sums {
    rocl_rank_sum *by_key;
    uint32_t cap;
} rocl_rank_sums;

typedef struct rocl_rank_cell {
    rocl_rank_cell_key key;
    rocl_rank_sum sum;
} rocl_rank_cell;

typedef struct rocl_ranks {
    rocl_collector c;
    rocl_rank_place *places; /* by rank, then by machine and pid */
    uint32_t **place_of;     /* by capture and process */
    uint32_t place_count;
    rocl_strings *keys;   /* as bytes */
    rocl_rank_sums *sums; /* by worker */
    rocl_rank_cell *cells;
    size_t cell_count;
    rocl_rank_sum (*totals)[ROCL_RANK_WORKS]; /* by place */
} rocl_ranks;

void rocl_rank_add(rocl_rank_sum *to, const rocl_rank_sum *s);
/* Adds the tables. */
rocl_status rocl_ranks_put(rocl_ranks *r, rocl_tables *out, rocl_error *err);

#endif

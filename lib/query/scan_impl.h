/* What a scan is, for scan.c and order.c. */
#pragma once

#include <pthread.h>

#include "query/scan.h"

/* What a test says of each text, by id: a text comes in row after row. */
typedef struct text_results {
    uint8_t *of; /* 0: not tested yet */
    size_t capacity;
} text_results;

typedef struct open_rows { /* of a worker: cells that wait for their block to be full */
    alignas(ROCL_CACHE_LINE) int64_t *cells; /* column after column, ROCL_BLOCK_ROWS each */
    bool *keep;
    uint32_t rows;
    rocl_region *arguments; /* a record for each argument of a batch */
    size_t argument_cap;
    text_results tested[ROCL_TESTS_MAX]; /* of the tests of texts */
} open_rows;

typedef struct kept_block {
    rocl_cell_block *block; /* NULL: it was dropped */
    bool in_memory;         /* else in the temporary file */
} kept_block;

/* Rows in an order. */
typedef struct row_order {
    rocl_order_term terms[ROCL_ORDER_MAX];
    unsigned count;
    bool grouped;
    uint32_t *rows;
} row_order;

/* Chains of rows with the same hash, in the order of the rows. No row is ROCL_NONE. */
struct rocl_row_index {
    uint64_t columns;
    uint32_t *heads, *next; /* by hash; by row */
    size_t mask;            /* heads, less one */
};

struct rocl_scan {
    rocl_scanner *scanner;
    const rocl_strings *strings;
    rocl_scan_spec spec;
    uint64_t columns; /* columns of the blocks: wanted ones, and those of tests */
    unsigned column_count;
    unsigned references;
    bool is_kept; /* the reader has a reference */
    bool running; /* the thread is to be joined */
    pthread_t thread;
    open_rows *workers;
    /* ---- guarded by lock while the thread runs ---- */
    pthread_mutex_t lock;
    pthread_cond_t more, space;
    kept_block *blocks;
    size_t block_count, block_cap;
    size_t consumed, queue_max; /* blocks before `consumed` are done with */
    size_t dropped;             /* number of blocks freed, from the first on */
    uint64_t rows;
    size_t bytes; /* of blocks in memory */
    bool done;
    rocl_status status;
    rocl_error *err;
    atomic_bool cancelled;
    atomic_bool unlimited; /* no waiting for space: all blocks are kept */
    /* ---- the temporary file ---- */
    pthread_mutex_t spill_lock;
    int spill_fd;
    const char *spill_dir;
    void **maps;
    size_t map_count, map_cap, spilled; /* spilled: bytes used of the last map */
    /* ---- of a whole scan, made when asked for ---- */
    row_order *orders;
    size_t order_count, order_cap;
    rocl_row_index **indexes;
    size_t index_count, index_cap;
    uint32_t *depths; /* by row; NULL: not nested yet */
    int64_t *parents;
};

/* Scans: the rows of a table under constraints. A trace is pushed through the pipeline by a thread
 * with its workers, SQL pulls row after row:
 *
 *     pipeline (workers) -> cells -> tests -> blocks -> [ bounded queue ] -> cursor of SQL
 *
 * A trace is read by one pipeline at a time. When a second scan is to begin while one is under way
 * (a join), the first is read to its end and kept, in memory up to the limit of the reader and in
 * a temporary file beyond. What was kept whole is used again by scans that ask for the same.
 *
 * A reader, its scans and cursors are used by one thread at a time; only `interrupted` may be
 * set from any thread or signal handler. */
#pragma once

#include <stdatomic.h>

#include "model/trace.h"
#include "query/block.h"
#include "relation/relation.h"

/* Tests of rows as they are read. NULL passes none. */
typedef enum rocl_test_op {
    ROCL_TEST_EQ,
    ROCL_TEST_GT, /* these four not of texts */
    ROCL_TEST_LE,
    ROCL_TEST_LT,
    ROCL_TEST_GE,
    ROCL_TEST_IN,   /* one of a set; not of real numbers */
    ROCL_TEST_LIKE, /* these two of texts: `cell` is the text of the pattern */
    ROCL_TEST_GLOB
} rocl_test_op;

/* Cells in ascending order; reference-counted. */
typedef struct rocl_cell_set {
    atomic_uint references;
    size_t count;
    int64_t cells[];
} rocl_cell_set;
void rocl_cell_set_release(rocl_cell_set *set); /* NULL is fine */

typedef struct rocl_test {
    unsigned column;
    rocl_test_op op;
    bool real;    /* compare as `number`, else as `cell` */
    int64_t cell; /* integer, or id of a text; ROCL_CELL_NULL: nothing passes */
    double number;
    rocl_cell_set *set; /* of IN */
} rocl_test;

enum { ROCL_TESTS_MAX = 8 };

/* The column after all others of a relation: a number that tells its rows apart, the same in every
 * scan. */
enum { ROCL_SCAN_ROWID = ROCL_RELATION_COLUMNS_MAX };

typedef struct rocl_scan_spec {
    const rocl_relation *table;
    uint64_t columns; /* bits: those that are wanted; of tests need not be among them */
    rocl_test tests[ROCL_TESTS_MAX];
    unsigned test_count;
} rocl_scan_spec;

typedef struct rocl_scan rocl_scan;
typedef struct rocl_scanner {
    rocl_trace *trace;
    rocl_scan *active; /* whose pipeline runs; NULL: none */
    rocl_scan **kept;  /* whole, in the order of their last use; each has a reference here */
    size_t kept_count, kept_cap;
    size_t memory;
    atomic_size_t used; /* bytes of blocks in memory */
    /* What waits for rows ends with ROCL_INTERNAL soon after it is set. */
    atomic_bool interrupted;
    /* Asked while rows are waited for: not 0 is an interruption, too. NULL: nobody is asked. */
    int (*stop)(void *ctx);
    void *stop_ctx;
    uint64_t faults[ROCL_FAULTS];
} rocl_scanner;

/* memory: bytes of blocks that are kept in memory. */
rocl_status rocl_scanner_new(rocl_scanner **r, rocl_trace *t, size_t memory, rocl_error *err);
void rocl_scanner_free(rocl_scanner *r); /* after its scans are released */

/* Faults of all scans together: of each kind as many as the scan that met most of them. */
void rocl_scanner_put_faults(const rocl_scanner *r);

/* Begins a scan, or finds one that was kept. Release it in any case; a running scan is cancelled at
 * the last release. */
rocl_status rocl_scan_begin(rocl_scanner *r, const rocl_scan_spec *spec, rocl_scan **scan,
                            rocl_error *err);
void rocl_scan_release(rocl_scan *s);

/* Would a scan of this be the same? */
bool rocl_scan_is_of(const rocl_scan *s, const rocl_scan_spec *spec);

/* Waits for the i-th block; NULL after the last. Ask for blocks in order; earlier ones may then be
 * freed, unless the scan is whole. */
rocl_status rocl_scan_block(rocl_scan *s, size_t i, const rocl_cell_block **block, rocl_error *err);
/* Waits until all rows are there, and keeps them. Before the first block, or of a scan that was
 * kept: rocl_scan_is_whole(). */
rocl_status rocl_scan_complete(rocl_scan *s, rocl_error *err);
/* Are all rows there, from the first one? */
bool rocl_scan_is_whole(const rocl_scan *s);
uint64_t rocl_scan_rows(const rocl_scan *s); /* so far */
/* Has it all rows of its table? */
bool rocl_scan_is_unconditional(const rocl_scan *s);

/* Has the processor fetch the cells of a row of a whole scan, which is asked for soon. */
void rocl_scan_prefetch(const rocl_scan *s, uint32_t row);

/* Where a column of the table is in the blocks; it must be one of the wanted. */
unsigned rocl_scan_column(const rocl_scan *s, unsigned column);

/* ---- rows of a whole scan, in an order or by a value (order.c), nested (nest.c)
 * --------------------------------
 */

typedef struct rocl_order_term {
    unsigned column; /* of the table */
    bool descending;
} rocl_order_term;

enum { ROCL_ORDER_MAX = 8 };

/* The rows (block << ROCL_BLOCK_SHIFT | row) in the order of the terms; equal ones stay as they
 * are. `grouped`: it is enough when equal rows are together. Kept by the scan. */
rocl_status rocl_scan_order(rocl_scan *s, const rocl_order_term *terms, unsigned count,
                            bool grouped, const uint32_t **rows, rocl_error *err);

/* What a row is within, of a relation with `nested` columns: once rocl_scan_nest() was called, of a
 * scan that has the columns of rocl_nesting_needs(), all kinds and no tests. Kept by the scan. */
uint64_t rocl_nesting_needs(const rocl_relation *r);
rocl_status rocl_scan_nest(rocl_scan *s, rocl_error *err);
/* The depth of a row, or its parent: ROCL_CELL_NULL without one. */
int64_t rocl_scan_nesting(const rocl_scan *s, uint32_t row, bool depth);

/* Rows by the values of some columns. Kept by the scan. */
typedef struct rocl_row_index rocl_row_index;

rocl_status rocl_scan_index(rocl_scan *s, uint64_t columns, const rocl_row_index **index,
                            rocl_error *err);
/* The first row with these cells, in the order of the columns, and the next one; ROCL_NONE: there
 * is none. Includes rows whose hash is equal by chance. */
uint32_t rocl_row_index_find(const rocl_row_index *x, const int64_t *cells);
uint32_t rocl_row_index_next(const rocl_row_index *x, uint32_t row);

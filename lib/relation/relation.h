/* A trace as relations: named tables of events and of definitions, with named columns. All code
 * that shows events as rows (exports to Parquet, Arrow and JSON lines, tables in SQL) uses these,
 * so that a column has one name, one type and one rule.
 *
 * A cell is 64 bits:
 *
 *     integer   the number; of unsigned 64-bit numbers (addresses) the bits
 *     real      the bits of the double (-0.0 is 0.0)
 *     text      the id of a text of the trace
 *
 * and ROCL_CELL_NULL in each of them is NULL: not known, or none. */
#pragma once

#include "model/trace.h"

#define ROCL_CELL_NULL INT64_MIN

typedef enum rocl_cell_type { ROCL_CELL_INTEGER, ROCL_CELL_REAL, ROCL_CELL_TEXT } rocl_cell_type;

/* Writes the cells of a column for the records [first, first + n) of a batch. Any thread. */
typedef void rocl_cell_fn(rocl_trace *t, const rocl_batch *b, size_t first, size_t n,
                          int64_t *cells);

typedef struct rocl_relation_column {
    const char *name;
    rocl_cell_type type;
    uint32_t fields; /* ROCL_FIELD_* that it is read from */
    rocl_cell_fn *fill;
} rocl_relation_column;

typedef struct rocl_relation {
    const char *name;
    uint32_t kinds;  /* of events; 0: it is one of definitions */
    uint32_t fields; /* ROCL_FIELD_* that change what a row is */
    /* Points a batch, whose capture is set, to the definitions of its capture; NULL: of events. */
    void (*list)(rocl_batch *b);
    const rocl_relation_column *columns;
    unsigned column_count;
    const char *purpose; /* one line, for people; NULL: only others are made of it */
    /* Bits of columns that depend on all rows, as they say what encloses a row: `fill` leaves them
     * NULL. */
    uint64_t nested;
    /* A row is an argument of a host event: `fill` wants records that have one argument each, with
     * its position, from 0, in the place of arg_count. */
    bool arguments;
} rocl_relation;

/* Bits of columns are 64 bits. */
enum { ROCL_RELATION_COLUMNS_MAX = 63 };

extern const rocl_relation rocl_relations[];
extern const size_t rocl_relation_count;

/* NULL: there is none that is called so. */
const rocl_relation *rocl_relation_named(const char *name);

/* The index of a column; column_count: there is none that is called so. */
unsigned rocl_relation_find(const rocl_relation *r, const char *column);

/* What a column says, one line, with its unit: columns of one name say the same in every relation.
 */
const char *rocl_relation_column_doc(const char *column);
/* Is the column one that most people do not need? Exports leave it out if nobody asks. */
bool rocl_relation_is_detail(const rocl_relation *r, const char *column);
/* Are the rows of the relation those of others, too? */
static inline bool rocl_relation_is_union(const rocl_relation *r)
{
    return !r->purpose || (r->kinds & (r->kinds - 1) & ROCL_WORK_KINDS);
}

static inline double rocl_cell_real(int64_t cell)
{
    double v;
    memcpy(&v, &cell, sizeof v);
    return v;
}

static inline int64_t rocl_real_cell(double v)
{
    int64_t cell;
    v = v == 0 ? 0 : v; /* there is one zero */
    memcpy(&cell, &v, sizeof cell);
    return v != v ? ROCL_CELL_NULL : cell;
}

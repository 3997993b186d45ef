/* The tables that SQL sees: of events, read from the trace, and of definitions, which are in
 * memory. A column is a row of the lists in tables.c. */
#ifndef ROCL_QUERY_TABLE_H
#define ROCL_QUERY_TABLE_H

#include "model/trace.h"

typedef enum rocl_cell_type { ROCL_CELL_INTEGER, ROCL_CELL_REAL, ROCL_CELL_TEXT } rocl_cell_type;

/* Puts the cells (query/block.h) of the records [first, first + n) of a batch. */
typedef void rocl_cell_fn(rocl_trace *t, const rocl_batch *b, size_t first, size_t n,
                          int64_t *cells);

typedef struct rocl_query_column {
    const char *name;
    rocl_cell_type type;
    uint32_t fields; /* ROCL_FIELD_* that it is read from */
    rocl_cell_fn *fill;
} rocl_query_column;

typedef struct rocl_query_table {
    const char *name;
    uint32_t kinds;  /* of events; 0: it is a table of definitions */
    uint32_t fields; /* ROCL_FIELD_* that change what a row is */
    /* Of definitions: points the batch to those of its capture. */
    void (*list)(rocl_batch *b);
    const rocl_query_column *columns;
    unsigned column_count;
    const char *purpose; /* one line, for people */
} rocl_query_table;

/* Bits of columns are 64 bits. */
enum { ROCL_QUERY_COLUMNS_MAX = 63 };

extern const rocl_query_table rocl_query_tables[];
extern const size_t rocl_query_table_count;

/* Views on the tables: those of ROCm's databases, those of Perfetto's trace processor, and ours. */
typedef struct rocl_query_view {
    const char *name, *select, *purpose;
} rocl_query_view;

extern const rocl_query_view rocl_query_views[];
extern const size_t rocl_query_view_count;

#endif

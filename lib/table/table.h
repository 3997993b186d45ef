/* What an analysis comes out with: tables of typed cells, which the table sinks print. */
#ifndef ROCL_TABLE_TABLE_H
#define ROCL_TABLE_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "rocline.h"

/* What a number is: text for people scales it and puts the unit, data formats print it as it is. */
typedef enum rocl_unit {
    ROCL_UNIT_TEXT,     /* text */
    ROCL_UNIT_SENTENCE, /* text that makes no sense when it is cut */
    ROCL_UNIT_COUNT,    /* integer */
    ROCL_UNIT_NS,       /* integer or real, nanoseconds */
    ROCL_UNIT_BYTES,    /* integer, bytes */
    ROCL_UNIT_RATE,     /* real, bytes per second */
    ROCL_UNIT_PERCENT,  /* real, 0..100 */
    ROCL_UNIT_NUMBER,   /* real */
} rocl_unit;

typedef enum rocl_datum_type {
    ROCL_DATUM_NONE, /* unknown, or makes no sense here */
    ROCL_DATUM_TEXT,
    ROCL_DATUM_INT,
    ROCL_DATUM_REAL,
} rocl_datum_type;

typedef struct rocl_datum {
    rocl_datum_type is;
    union {
        const char *text; /* owned by the tables */
        int64_t i;
        double r;
    };
    size_t len; /* of the text */
} rocl_datum;

typedef struct rocl_table_column {
    const char *key;   /* "total_ns": for JSON and tests; stable */
    const char *title; /* "Total": for people */
    rocl_unit unit;
} rocl_table_column;

typedef struct rocl_table {
    const char *key;   /* "kernels" */
    const char *title; /* "Kernels" */
    const char *note;  /* what to know of it in one line, or NULL */
    const rocl_table_column *columns;
    size_t column_count;
    rocl_datum *cells; /* row by row */
    size_t row_count, cell_cap;
} rocl_table;

struct rocl_tables {
    rocl_arena arena;
    rocl_table *tables;
    size_t count;
    bool incomplete; /* a text found no memory: not to be shown */
};

rocl_tables *rocl_tables_new(void);
/* A new table at the end; keys, titles and columns are static. NULL: memory is out. The pointer is
 * good until the next call. */
rocl_table *rocl_tables_add(rocl_tables *all, const char *key, const char *title,
                            const rocl_table_column *columns, size_t column_count);
/* Moves the tables of `from` to the end of `all`. False: memory is out. */
bool rocl_tables_join(rocl_tables *all, rocl_tables *from);
/* A new row of cells without a value at the end of a table, NULL: memory is out. */
rocl_datum *rocl_table_row(rocl_table *t);
/* A copy that lives as long as the tables; "" without memory, and they are incomplete. */
const char *rocl_tables_text(rocl_tables *all, const char *p, size_t n);
/* The text is copied. */
rocl_datum rocl_datum_text(rocl_tables *all, const char *p, size_t n);

static inline rocl_datum rocl_datum_int(int64_t v)
{
    return (rocl_datum){.is = ROCL_DATUM_INT, .i = v};
}

static inline rocl_datum rocl_datum_real(double v)
{
    return (rocl_datum){.is = ROCL_DATUM_REAL, .r = v};
}

#endif

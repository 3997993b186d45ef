/* Tables of results: what a report adds, and every format prints.
 *
 *     rocl_tables ---- arena: the texts of all cells, and what reports keep there
 *         tables[] --- one for each table, in the order in which they are printed
 *             key, title, note, columns: not owned (static, or in the arena)
 *             cells[]: row by row, column_count each; those of type TEXT point into the arena
 *
 * rocl_tables_free frees it all at once. Nothing here is locked: one thread adds, then any number
 * of them may read. */
#pragma once

#include "base/array.h"
#include "base/error.h"
#include "rocline.h"

/* What a number is: formats for people scale it and add the unit, data formats print it as it is.
 * format.c has a row for each. */
typedef enum rocl_unit {
    ROCL_UNIT_TEXT,     /* text */
    ROCL_UNIT_SENTENCE, /* text that makes no sense when it is cut */
    ROCL_UNIT_COUNT,    /* integer */
    ROCL_UNIT_NS,       /* integer or real, nanoseconds */
    ROCL_UNIT_TIME,     /* integer, a point in time in nanoseconds; see origin */
    ROCL_UNIT_BYTES,    /* integer, bytes */
    ROCL_UNIT_RATE,     /* real, bytes per second */
    ROCL_UNIT_PERCENT,  /* real, 0..100 */
    ROCL_UNIT_NUMBER,   /* real */
    ROCL_UNIT_JOULES,   /* real, joules */
} rocl_unit;

typedef enum rocl_datum_type {
    ROCL_DATUM_NONE, /* unknown, or makes no sense here; zero-initialised cells are that */
    ROCL_DATUM_TEXT,
    ROCL_DATUM_INT,
    ROCL_DATUM_REAL,
} rocl_datum_type;

/* The content of a cell. Tables may have millions of them. */
typedef struct rocl_datum {
    rocl_datum_type type;
    uint32_t len; /* of the text */
    union {
        const char *text; /* owned by the tables */
        int64_t i;
        double r;
    };
} rocl_datum;

_Static_assert(sizeof(rocl_datum) == 16, "no holes");

/* The value of a column in a row that stands for several. */
typedef enum rocl_fold {
    ROCL_FOLD_NONE,
    ROCL_FOLD_SUM,    /* the sum of theirs */
    ROCL_FOLD_OTHERS, /* "(N others)" */
} rocl_fold;

typedef struct rocl_table_column {
    const char *key;   /* "total_ns": for programs and tests; stable */
    const char *title; /* "Total": for people */
    rocl_unit unit;
} rocl_table_column;

/* Tables of one tab stand together on an HTML page. */
typedef struct rocl_table_tab {
    const char *id, *title;
} rocl_table_tab;

typedef struct rocl_table {
    const char *key;           /* "kernels" */
    const char *title;         /* "Kernels" */
    const char *note;          /* what to know of it in one line, or NULL */
    const char *why_empty;     /* for people, of a table without rows, or NULL: "nothing" */
    const rocl_table_tab *tab; /* static; NULL: one of its own */
    const rocl_table_column *columns;
    size_t column_count;
    /* Names of the classes of kernels, by colour: ROCL_CLASSES (model/kernel_class.h) of them, NULL
     * for none. In the arena; NULL: the table is not of kernels. */
    const char *const *classes;
    int64_t origin; /* of ROCL_UNIT_TIME: people read the seconds since then */
    uint64_t minor; /* by column: text leaves it out where a row is wider than the terminal */
    bool essential; /* it stays when other tables go: see rocl_tables_cut */
    bool fields;    /* for people the fields of a row stand below each other */
    bool header;    /* it says what the others are of: JSON has its row beside the tables */
    rocl_datum *cells;
    size_t row_count, cell_cap;
    const rocl_fold *folds; /* by column; NULL: ROCL_FOLD_NONE */
    /* rests[k * column_count]: the row that stands for the rows from k on. In the arena; NULL, or
     * of rows from rest_count on: their cells are added up. */
    rocl_datum *rests;
    size_t rest_count;
} rocl_table;

enum { ROCL_RECENT_TEXTS = 512 };

struct rocl_tables {
    rocl_arena arena;
    rocl_table *tables;
    size_t count, cap;
    bool incomplete; /* memory for a text was out: do not print them */
    /* Texts of cells that were copied last, by a hash: rows often have the same names. */
    rocl_datum recent[ROCL_RECENT_TEXTS];
    rocl_tables *evidence; /* whole tables that findings rest on, never printed; NULL: none */
};

/* ---- making tables --------------------------------------------------------------------------- */

rocl_tables *rocl_tables_new(void); /* NULL: memory is out */
/* A new table at the end; key, title and columns must live as long as the tables. NULL: memory is
 * out. The pointer is good until the next call. */
rocl_table *rocl_tables_add(rocl_tables *all, const char *key, const char *title,
                            const rocl_table_column *columns, size_t column_count);
/* Moves the tables of `from`, and their texts, to the end of `all`. False: memory is out. */
bool rocl_tables_join(rocl_tables *all, rocl_tables *from);
/* A new row of cells without a value at the end of a table, NULL: memory is out. The pointer is
 * good until the next call. */
rocl_datum *rocl_table_row(rocl_table *t);
/* A copy that lives as long as the tables; "" without memory, and they are incomplete. */
const char *rocl_tables_text(rocl_tables *all, const char *p, size_t n);
/* Copies the text. A text of 4 GiB or more is treated like a lack of memory. */
rocl_datum rocl_datum_text(rocl_tables *all, const char *p, size_t n);

static inline rocl_datum rocl_datum_int(int64_t v)
{
    return (rocl_datum){.type = ROCL_DATUM_INT, .i = v};
}

static inline rocl_datum rocl_datum_real(double v)
{
    return (rocl_datum){.type = ROCL_DATUM_REAL, .r = v};
}

/* ---- reading tables -------------------------------------------------------------------------- */

/* The table with this key, or NULL. */
const rocl_table *rocl_tables_find(const rocl_tables *all, const char *key);
/* The index of the column with this key; column_count: there is none. */
size_t rocl_table_find_column(const rocl_table *t, const char *key);
/* The cell of a row in the column with this key, or one without a value. Never NULL. */
const rocl_datum *rocl_table_find_cell(const rocl_table *t, size_t row, const char *key);

static inline const rocl_datum *rocl_table_cell(const rocl_table *t, size_t row, size_t column)
{
    return &t->cells[row * t->column_count + column];
}

/* Has it a value? Infinite numbers and NaN (0/0) do not count. */
bool rocl_datum_has_value(const rocl_datum *d);
/* The value of a number; 0 for a text and for no value. */
double rocl_datum_number(const rocl_datum *d);
bool rocl_datum_is(const rocl_datum *d, const char *text); /* the same text */
/* The number in a cell; 0: `column` is column_count, or the cell has no finite number. */
double rocl_cell_number(const rocl_table *t, size_t row, size_t column);
double rocl_cell_length(const rocl_table *t, size_t row, size_t column); /* 0 if it is negative */
/* Do two rows have the same value in a column? */
bool rocl_cell_is_same(const rocl_table *t, size_t a, size_t b, size_t column);
/* The text, ended by NUL; "" for numbers and no value. */
static inline const char *rocl_datum_str(const rocl_datum *d)
{
    return d->type == ROCL_DATUM_TEXT ? d->text : "";
}

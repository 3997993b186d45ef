/* A database read-only, and rows of its tables, a batch of column values at a time. Sources see
 * only this: the rows are the same whether the pages are read or SQLite is asked.
 *
 *     schema_cache.c   how tables are stored; schemas that SQLite has explained once
 *     connection.c     the file and the log beside it, the connection of SQLite, the layouts
 *     rows_pages.c     the row cursor on the pages of the file
 *     rows.c           which of the readers a cursor uses; the one on SQLite; cells
 *
 * Threads: a connection and its cursors are for one thread at a time. */
#pragma once

#include <string.h>

#include "base/error.h"
#include "rocline.h"

#define ROCL_ROWS_COLUMNS_MAX 32
#define ROCL_ROWS_BATCH       512

/* The storage class of a value, whatever the declared type of its column. */
typedef enum rocl_cell_type {
    ROCL_CELL_NULL, /* or the table has no such column */
    ROCL_CELL_INT,
    ROCL_CELL_REAL,
    ROCL_CELL_TEXT,
    ROCL_CELL_BLOB,
    ROCL_CELL_EMPTY_OBJECT, /* the text {} : what nearly every extdata is */
} rocl_cell_type;

typedef struct rocl_column {
    uint8_t type[ROCL_ROWS_BATCH];
    int64_t num[ROCL_ROWS_BATCH];  /* INT: value; REAL: its bits; TEXT, BLOB: offset into text */
    uint32_t len[ROCL_ROWS_BATCH]; /* TEXT, BLOB */
} rocl_column;

typedef struct rocl_rows rocl_rows;
typedef struct rocl_db rocl_db;
struct rocl_schema_cache;

/* Identifies a file and its version, for rocl_db_open. */
typedef struct rocl_db_state {
    uint64_t file[5], log[5];
} rocl_db_state;

typedef struct rocl_db_options {
    const char *path; /* where it is opened */
    const char *name; /* what messages call it; NULL: the path */
    rocl_reader reader;
    struct rocl_schema_cache *schemas; /* caches SQLite's description of schemas; NULL: no cache */
    uint32_t read_ahead;               /* bytes a cursor reads at once; 0: the fastest number */
    const rocl_db_state *as;           /* it must be in that state; NULL: in any */
} rocl_db_options;

/* Opens it for reading. Nothing is written, locked or left beside the file. ROCL_INPUT: it is not a
 * database, a writer is at work (see the message), or it is no longer in the wanted state. The
 * options are copied. */
rocl_status rocl_db_open(rocl_db **db, const rocl_db_options *options, rocl_error *err);
void rocl_db_close(rocl_db *db); /* after its cursors; NULL is fine */
/* Closes the file of a connection that is not needed for a while, but keeps what is known of it.
 * Its cursors must be closed. Call rocl_db_resume before it is used again: it fails like
 * rocl_db_open if the file has changed, and does nothing if it was not suspended. */
void rocl_db_suspend(rocl_db *db);
bool rocl_db_is_suspended(const rocl_db *db);
rocl_status rocl_db_resume(rocl_db *db, rocl_error *err);
/* From now on tables without a column "id" are read by their rowid, which is the id of their rows.
 * Without this call they are refused. */
void rocl_db_allow_rowids(rocl_db *db);
/* Is a row found by its id without reading all of the table? */
bool rocl_db_id_is_key(rocl_db *db, const char *table);
/* Does the log beside the file end in an incomplete transaction, which nobody reads? */
bool rocl_db_log_truncated(const rocl_db *db);
void rocl_db_state_of(const rocl_db *db, rocl_db_state *state);
/* For any file; zeros: it does not exist or is not a regular file. */
void rocl_db_state_read(const char *path, rocl_db_state *state);

/* Fails if the file (or the log beside it) has changed since it was opened. */
rocl_status rocl_db_check_unchanged(rocl_db *db, rocl_error *err);

typedef struct rocl_db_object {
    char *name;
    bool is_view;
} rocl_db_object;

/* Names of all tables and views, in the order they were made in; free each and the array. */
rocl_status rocl_db_objects(rocl_db *db, rocl_db_object **objects, size_t *count, rocl_error *err);
void rocl_db_objects_free(rocl_db_object *objects, size_t count);

/* Smallest and largest id; *any false when the table is empty. Damage may make SQLite find others:
 * that is seen when all rows are read. */
rocl_status rocl_db_id_range(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                             bool *any, rocl_error *err);

/* Cuts a table into at most `ranges` ranges of about the same size. ends gets the last ids of all
 * but the last range, ascending, and *count how many these are: 0 where its pages are not read. */
rocl_status rocl_db_split(rocl_db *db, const char *table, size_t ranges, int64_t *ends,
                          size_t *count, rocl_error *err);

typedef struct rocl_db_range {
    int64_t first, last; /* ids */
    uint64_t rows;       /* approximate number */
} rocl_db_range;

/* Cuts a table into ranges of about `rows` rows, at most `most` of them: by its pages, or else by
 * its ids, which may be far from dense. *ranges (malloced) ascend, and *count is 0 where the table
 * is empty. As damage may make SQLite find other ids, the first begins at INT64_MIN and the last
 * ends at INT64_MAX: the reader of the rows reports what is beyond the ends. */
rocl_status rocl_db_cut(rocl_db *db, const char *table, uint64_t rows, uint64_t most,
                        rocl_db_range **ranges, size_t *count, rocl_error *err);

/* Reads all rows of a table like a cursor over all columns, and fails if that would. If SQLite
 * reads the table, it only checks that ids ascend. */
rocl_status rocl_db_check_rows(rocl_db *db, const char *table, rocl_error *err);

/* min(low), max(high) of the first and the last row, if high >= low > 0; *any false if neither is
 * so. */
rocl_status rocl_db_peek_times(rocl_db *db, const char *table, const char *low, const char *high,
                               int64_t *first, int64_t *last, bool *any, rocl_error *err);

/* Opens a cursor over some columns of a table, on the pages of the file if that is possible and
 * requested, else on SQLite: the rows are the same. A column that the table lacks reads as NULL,
 * and so does one whose name is NULL. Each column costs time, even if unused. */
rocl_status rocl_rows_open(rocl_rows **rows, rocl_db *db, const char *table,
                           const char *const *columns, unsigned count, rocl_error *err);
void rocl_rows_close(rocl_rows *r);
/* Why SQLite reads a table; NULL: its pages are read. */
rocl_status rocl_rows_why(rocl_db *db, const char *table, const char **why, rocl_error *err);
bool rocl_rows_has(const rocl_rows *r, unsigned column);

/* Restricts the cursor to rows with first <= id <= last, in order of id. */
rocl_status rocl_rows_seek(rocl_rows *r, int64_t first, int64_t last, rocl_error *err);
/* Reads the next `max` rows (at most ROCL_ROWS_BATCH), replacing the former ones; *n 0 at the end.
 * There may be fewer than `max` before the end if texts are large. */
rocl_status rocl_rows_next(rocl_rows *r, unsigned max, unsigned *n, rocl_error *err);

/* The batch that next has read, column by column: row i of a batch is id[i] and columns[c].num[i]
 * for every column c. Each stays valid until the next call of seek, next or close.
 *
 *     id[]       1001  1002  1003 ...
 *     columns -> 0  type[]  INT   INT   INT         num[] are the integers
 *                1  type[]  TEXT  NULL  BLOB        num[] are offsets into `text`, len[] lengths
 *                2  type[]  REAL  INT   NULL        num[] are the bits of doubles, or integers
 *     text    -> "hipMalloc\0..." one allocation for all texts of the batch
 *
 * A column that the table lacks keeps the type ROCL_CELL_NULL in all rows. */
struct rocl_rows {
    int64_t id[ROCL_ROWS_BATCH];
    rocl_column *columns;
    const char *text; /* base of the offsets; every text is NUL-terminated */
    unsigned column_count;
    uint32_t present; /* a bit for each column that the table has */
    const struct rocl_rows_ops *ops;
};
_Static_assert(ROCL_ROWS_COLUMNS_MAX <= 32, "present has a bit for each column");

static inline rocl_cell_type rocl_cell_kind(const rocl_rows *r, unsigned col, unsigned row)
{
    return (rocl_cell_type)r->columns[col].type[row];
}

static inline const char *rocl_cell_text(const rocl_rows *r, unsigned col, unsigned row,
                                         size_t *len)
{
    const rocl_column *c = &r->columns[col];
    switch (c->type[row]) {
    case ROCL_CELL_TEXT:
    case ROCL_CELL_BLOB:
        *len = c->len[row];
        return r->text + c->num[row];
    case ROCL_CELL_EMPTY_OBJECT:
        *len = 2;
        return "{}";
    default:
        *len = 0;
        return "";
    }
}

/* The integer in a cell of any type: integral reals and decimal texts count as integers. Returns
 * false (and *v untouched) for NULL; *bad is set if there is a value that is not an integer. */
bool rocl_cell_int_slow(const rocl_rows *r, unsigned col, unsigned row, int64_t *v, bool *bad);

static inline bool rocl_cell_int(const rocl_rows *r, unsigned col, unsigned row, int64_t *v,
                                 bool *bad)
{
    const rocl_column *c = &r->columns[col];
    if (c->type[row] == ROCL_CELL_INT) {
        *v = c->num[row];
        return true;
    }
    return c->type[row] != ROCL_CELL_NULL && rocl_cell_int_slow(r, col, row, v, bad);
}

/* The number in a cell of any type; false for NULL, and, with *bad set, for anything else. */
bool rocl_cell_real(const rocl_rows *r, unsigned col, unsigned row, double *v, bool *bad);

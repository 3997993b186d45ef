/* A database below the row cursor: its file, its SQLite connection, its schema. For the readers
 * behind the cursor, and for code that needs SQLite itself; see rows.h for the rest. */
#pragma once

#include <sqlite3.h>

#include "base/btree.h"
#include "source/db/rows.h"
#include "source/db/schema_cache.h"

#define ROCL_ROWID "_rowid_" /* the name of the rowid that is not also a column */

struct rocl_db {
    sqlite3 *handle; /* NULL: not needed now */
    bool asked;      /* it was needed at some time */
    char *path;
    char *name; /* in messages */
    char *real; /* path without links: where files beside it are */
    char *wal;  /* path of the log */
    rocl_db_state state;
    bool has_log;
    bool log_is_truncated; /* it ends in an incomplete transaction */
    bool rowids;           /* see rocl_db_allow_rowids */
    bool checks_damage;    /* because SQLite reported a lack of memory */
    bool probed;           /* SQLite has read the schema */
    bool suspended;        /* see rocl_db_suspend */
    rocl_reader reader;
    int fd; /* for reading pages; -1: not opened yet, or must not be */
    rocl_btree_file pages;
    const char *no_pages; /* why they cannot be read; NULL: they can */
    rocl_layouts layouts;
    rocl_schema schema; /* read from the pages, or empty */
};

/* Opens SQLite, if that was not needed so far: db->handle. */
rocl_status rocl_db_sqlite(rocl_db *db, rocl_error *err);
/* A URI for ATTACH in another connection, which must be in exclusive locking mode: opens the file
 * as here. Malloced; NULL when memory is out. */
char *rocl_db_uri(const rocl_db *db);
/* For a connection that it is attached to: no value is longer than the file. */
void rocl_db_limit_lengths(const rocl_db *db, sqlite3 *handle);
/* SQLite's last error on this connection, with file and table. */
rocl_status rocl_sqlite_fail(rocl_db *db, const char *table, rocl_error *err);

rocl_status rocl_db_has_column(rocl_db *db, const char *table, const char *column, bool *has,
                               rocl_error *err);

/* The file for reading its pages; NULL, with a reason in *why, if that must not be done. */
rocl_status rocl_db_pages(rocl_db *db, const rocl_btree_file **f, const char **why,
                          rocl_error *err);
/* The layout of a table, looked up once per connection and owned by it. */
rocl_status rocl_db_layout(rocl_db *db, const char *table, const rocl_layout **layout,
                           rocl_error *err);
/* Opens a walk over a table whose layout says that it can be read from the pages. Pass the statuses
 * of the walk through rocl_db_in_table, which adds file and table to errors. */
rocl_status rocl_db_open_tree(rocl_btree *tree, rocl_db *db, const rocl_layout *layout,
                              rocl_error *err);
rocl_status rocl_db_in_table(const rocl_db *db, const rocl_layout *layout, rocl_status st,
                             rocl_error *err);
/* Reads all rows of such a table without their values; fails if a cursor over all columns would. */
rocl_status rocl_db_check_pages(rocl_db *db, const rocl_layout *layout, rocl_error *err);

/* ---- the readers behind the row cursor: rows_pages.c, and rows.c ---- */

/* A reader keeps its own state after a rocl_rows. */
typedef struct rocl_rows_ops {
    rocl_status (*seek)(rocl_rows *r, int64_t first, int64_t last, rocl_error *err);
    rocl_status (*next)(rocl_rows *r, unsigned max, unsigned *n, rocl_error *err);
    void (*close)(rocl_rows *r); /* all but pub.columns and the struct */
} rocl_rows_ops;

/* rows_pages.c; only if the layout says that it is possible. */
rocl_status rocl_rows_open_pages(rocl_rows **rows, rocl_db *db, const rocl_layout *layout,
                                 const char *const *columns, unsigned count, rocl_error *err);
/* The columns that next fills; free them. NULL: memory is out. Their contents are undefined:
 * clearing them takes longer than reading a small table. */
rocl_column *rocl_columns_new(unsigned count);
/* When the table's columns are known: sets all values of the others to NULL. */
void rocl_columns_clear_missing(rocl_rows *r);
/* Puts an SQLite value into a column. */
void rocl_rows_put_value(rocl_column *c, unsigned row, sqlite3_value *v, rocl_buf *text);

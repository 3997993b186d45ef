/* What the readers behind the row cursor and db_sqlite.c know of each other. */
#ifndef ROCL_SOURCE_DB_CONNECTION_H
#define ROCL_SOURCE_DB_CONNECTION_H

#include <sqlite3.h>

#include "base/btree.h"
#include "base/buf.h"
#include "source/db/layout.h"
#include "source/db/rows.h"

/* Opens SQLite, where that was not needed so far; then it can be asked for. */
rocl_status rocl_db_sqlite(rocl_db *db, rocl_error *err);
sqlite3 *rocl_db_handle(rocl_db *db);
const char *rocl_db_path(const rocl_db *db);
rocl_reader rocl_db_reader(const rocl_db *db);
/* For an ATTACH in another connection, which must be in exclusive locking mode: the file opened as
 * this one opened it. Malloced; NULL when memory is out. */
char *rocl_db_uri(const rocl_db *db);
/* In a connection that it is attached to: no value is longer than the file. */
void rocl_db_limit_lengths(const rocl_db *db, sqlite3 *handle);
rocl_status rocl_db_has_column(rocl_db *db, const char *table, const char *column, bool *has,
                               rocl_error *err);

/* The file for reading its pages, NULL with a reason in *why when that is not to be done. */
rocl_status rocl_db_pages(rocl_db *db, const rocl_btree_file **f, const char **why,
                          rocl_error *err);

/* Layouts found so far: layout.c keeps them here. */
rocl_layouts *rocl_db_layouts(rocl_db *db);
/* The schema as db_forms.c has read it. */
struct rocl_schema *rocl_db_schema(rocl_db *db);

rocl_reader rocl_db_forms_reader(const rocl_db_forms *f);
uint32_t rocl_db_forms_ahead(const rocl_db_forms *f);

/* SQLite's last error on this connection, with file and table. */
rocl_status rocl_sqlite_fail(rocl_db *db, const char *table, rocl_error *err);

/* A reader. Both put their own state behind a rocl_rows. */
typedef struct rocl_rows_ops {
    rocl_status (*seek)(rocl_rows *r, int64_t first, int64_t last, rocl_error *err);
    rocl_status (*next)(rocl_rows *r, unsigned max, unsigned *n, rocl_error *err);
    void (*close)(rocl_rows *r); /* all but pub.columns and the struct */
} rocl_rows_ops;

rocl_status rocl_rows_open_sqlite(rocl_rows **rows, rocl_db *db, const char *table,
                                  const char *const *columns, unsigned count, rocl_error *err);
/* The layout must say that it is possible. */
/* See rocl_db_split. */
rocl_status rocl_rows_split_pages(rocl_db *db, const rocl_layout *layout, size_t parts,
                                  int64_t *ends, size_t *count, rocl_error *err);
/* See rocl_db_check_rows. */
rocl_status rocl_rows_check_pages(rocl_db *db, const rocl_layout *layout, int64_t first,
                                  int64_t last, rocl_error *err);
/* See rocl_db_id_range. */
rocl_status rocl_rows_range_pages(rocl_db *db, const rocl_layout *layout, int64_t *first,
                                  int64_t *last, bool *any, rocl_error *err);
rocl_status rocl_rows_range_sqlite(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                                   bool *any, rocl_error *err);
/* See rocl_db_check_rows. */
rocl_status rocl_rows_check_sqlite(rocl_db *db, const char *table, rocl_error *err);
rocl_status rocl_rows_open_pages(rocl_rows **rows, rocl_db *db, const rocl_layout *layout,
                                 const char *const *columns, unsigned count, rocl_error *err);

/* What next is to fill: NULLs so far. NULL when memory is out. */
rocl_column *rocl_columns_new(unsigned count);

/* Puts a value of SQLite's into a column. */
void rocl_rows_take(rocl_column *c, unsigned row, sqlite3_value *v, rocl_buf *text);

#endif

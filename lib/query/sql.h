/* SQLite, for the files here: linked, or given by the host of the loadable extension, which may
 * have an SQLite of its own. These files are compiled once for each. */
#pragma once

#ifdef ROCL_SQLITE_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#include "query/scan.h"

/* SQLite 3.37 (Ubuntu 22.04) tells a plan neither the values of conditions nor how its order is
 * used, and not where a statement is wrong: it tests and sorts more itself, and messages name the
 * statement only. */
#if SQLITE_VERSION_NUMBER < 3038000
enum { ROCL_SQLITE_MIN = 3037000 };
static inline int sqlite3_vtab_in(sqlite3_index_info *info, int i, int all_at_once)
{
    (void)info, (void)i, (void)all_at_once;
    return 0;
}
static inline int sqlite3_vtab_rhs_value(sqlite3_index_info *info, int i, sqlite3_value **value)
{
    (void)info, (void)i, (void)value;
    return SQLITE_NOTFOUND;
}
static inline int sqlite3_vtab_distinct(sqlite3_index_info *info)
{
    (void)info;
    return 0;
}
static inline int sqlite3_vtab_in_first(sqlite3_value *list, sqlite3_value **value)
{
    (void)list;
    *value = NULL;
    return SQLITE_DONE;
}
static inline int sqlite3_vtab_in_next(sqlite3_value *list, sqlite3_value **value)
{
    return sqlite3_vtab_in_first(list, value);
}
static inline int sqlite3_error_offset(sqlite3 *db)
{
    (void)db;
    return -1;
}
#else
enum { ROCL_SQLITE_MIN = 3038000 };
#endif

/* Who has the traces that tables are of. */
typedef struct rocl_table_host {
    /* Gets the scanner of a trace: in the extension that of a path; else path is NULL. */
    rocl_status (*scanner)(void *ctx, const char *path, rocl_scanner **scanner, rocl_error *err);
    void *ctx;
    bool by_path; /* tables are functions of a path: rocline_kernel('a.db') */
    /* LIKE and GLOB may be left to scans. Not where a statement has an outer join: SQLite (3.40)
     * hands those of its ON to the left table as well, whose rows must stay. */
    bool patterns;
    rocl_status *failed; /* gets the status of a failed scan; may be NULL */
} rocl_table_host;

/* The tables on a connection, which must not outlive `host`. SQLite's codes. */
int rocl_add_tables(sqlite3 *db, const rocl_table_host *host);
/* Functions: percentile, median, ... (functions.c). */
int rocl_add_functions(sqlite3 *db);

/* What rows_sqlite.c and db_sqlite.c know of each other. */
#ifndef ROCL_SOURCE_DB_SQLITE_H
#define ROCL_SOURCE_DB_SQLITE_H

#include <sqlite3.h>

#include "source/rows.h"

sqlite3 *rocl_db_handle(rocl_db *db);
const char *rocl_db_path(const rocl_db *db);

/* SQLite's last error on this connection, with file and table. */
rocl_status rocl_sqlite_fail(rocl_db *db, const char *table, rocl_error *err);

#endif

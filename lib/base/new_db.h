/* A database that appears whole or not at all: while SQLite writes it, its file has no name. */
#pragma once

#include <sqlite3.h>

#include "base/error.h"

typedef struct rocl_new_db rocl_new_db;

/* An empty database that is to become `path`, without a journal, with `cache` bytes of pages in
 * memory. A path that is not a regular file (a pipe, a device) is refused with ROCL_OUTPUT, and so
 * is a database that another program writes, or has open in WAL mode. */
rocl_status rocl_new_db_open(rocl_new_db **db, const char *path, size_t cache, rocl_error *err);

/* NULL once the database is closed. Other databases may be attached to it by URIs that name their
 * VFS. */
sqlite3 *rocl_new_db_handle(rocl_new_db *db);

/* The last failure of SQLite, with `what` before it: ROCL_OUTPUT when the file could not be
 * written, ROCL_INTERNAL when memory is out, else ROCL_INPUT. */
rocl_status rocl_new_db_fail(rocl_new_db *db, const char *what, rocl_error *err);

/* Runs SQL that reads nothing from an input. */
rocl_status rocl_new_db_exec(rocl_new_db *db, const char *sql, rocl_error *err);

/* Writes out what is left and closes the database; the file stays without a name. */
rocl_status rocl_new_db_close(rocl_new_db *db, uint64_t *bytes, rocl_error *err);
/* After close: the file gets its name, and logs of an older one (-wal, -shm, -journal) go. Frees
 * db, also on error. */
rocl_status rocl_new_db_commit(rocl_new_db *db, rocl_error *err);

/* The endings of the names of a database and of the files that SQLite keeps beside it. Code that
 * moves a database over another one must handle all of them. */
enum { ROCL_DB_FILES = 4 };
extern const char *const rocl_db_files[ROCL_DB_FILES];
/* ROCL_OUTPUT when another program writes the database of that name, or has it open in WAL mode. */
rocl_status rocl_new_db_refuse_open(const char *path, rocl_error *err);

/* Frees db and leaves no trace of it. NULL is fine. */
void rocl_new_db_discard(rocl_new_db *db);

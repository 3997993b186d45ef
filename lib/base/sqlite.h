/* What readers of SQLite databases need besides SQLite's own interface. */
#pragma once

#include <sqlite3.h>

#include "base/error.h"

/* The last failure on a connection, with `place` before it: ROCL_INTERNAL when memory is out, else
 * ROCL_INPUT. */
rocl_status rocl_sqlite_error(sqlite3 *db, const char *place, rocl_error *err);

/* Call it for each new connection: the schema of a file cannot call functions with side effects, no
 * code is loaded, and closing writes nothing. A defensive connection cannot write to internal
 * tables either, which only the writer of a new database does. */
void rocl_sqlite_harden(sqlite3 *db, bool defensive);

/* No value can be longer than the file it comes from. With this limit an enormous length in a
 * damaged file is reported as damage, not as a lack of memory. */
void rocl_sqlite_limit_lengths(sqlite3 *db, uint64_t bytes);

/* ---- the write-ahead log ------------------------------------------------------------------- */

/* Checks a log as SQLite does before reading it, to find the valid frames.
 * https://www.sqlite.org/fileformat2.html, section 4. */

typedef struct rocl_wal {
    bool any;         /* it contains a transaction */
    bool unfinished;  /* more follows the last whole transaction, which SQLite ignores */
    uint64_t missing; /* pages that neither the log nor a file of `bytes` has */
} rocl_wal;

/* Reads the log; `bytes` is the size of the database. ROCL_INPUT, without the file's name: its
 * header is damaged, and SQLite would ignore it. */
rocl_status rocl_wal_read(rocl_wal *w, int fd, uint64_t bytes, rocl_error *err);

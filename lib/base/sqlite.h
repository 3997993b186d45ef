/* What a reader of SQLite databases needs beside SQLite's own interface. */
#ifndef ROCL_BASE_SQLITE_H
#define ROCL_BASE_SQLITE_H

#include <sqlite3.h>

#include "base/error.h"

/* The last failure on a connection, with `place` before it: ROCL_INTERNAL when memory is out, else
 * ROCL_INPUT. */
rocl_status rocl_sqlite_error(sqlite3 *db, const char *place, rocl_error *err);

/* For each connection, when it is set up: what the schema of a file says cannot call functions with
 * side effects, no code is loaded, and closing it writes nothing. A defensive connection cannot
 * write to internal tables either, which only the writer of a new database does. */
void rocl_sqlite_harden(sqlite3 *db, bool defensive);

/* No value is longer than the files that it is read from. A length that damage has made enormous is
 * damage then, and not a lack of memory. */
void rocl_sqlite_limit_lengths(sqlite3 *db, uint64_t bytes);

/* ---- the write-ahead log ------------------------------------------------------------------- */

/* A log is checked as SQLite does before it reads it: which part of it counts.
 * https://www.sqlite.org/fileformat2.html, section 4. */

typedef struct rocl_wal {
    bool any;         /* a transaction is in it */
    bool unfinished;  /* more follows the last one that is whole: SQLite reads none of that */
    uint64_t missing; /* pages that neither the log nor a file of `bytes` has */
} rocl_wal;

/* Reads the log; `bytes` is the size of the database. ROCL_INPUT, without the file's name, where
 * its header is damaged: SQLite would read nothing of it. */
rocl_status rocl_wal_read(rocl_wal *w, int fd, uint64_t bytes, rocl_error *err);

#endif

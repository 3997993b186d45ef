/* What SQLite says went wrong, as an error of ours. */
#ifndef ROCL_BASE_SQLITE_FAIL_H
#define ROCL_BASE_SQLITE_FAIL_H

#include <sqlite3.h>

#include "base/error.h"

/* The last failure on a connection, with `place` before it: ROCL_INTERNAL when memory is out, else
 * ROCL_INPUT. */
rocl_status rocl_sqlite_error(sqlite3 *db, const char *place, rocl_error *err);

/* No value is longer than the files that it is read from. A length that damage has made enormous is
 * damage then, and not a want of memory. */
void rocl_sqlite_limit_lengths(sqlite3 *db, uint64_t bytes);

#endif

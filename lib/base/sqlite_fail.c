#include "base/sqlite_fail.h"

rocl_status rocl_sqlite_error(sqlite3 *db, const char *place, rocl_error *err)
{
    int rc = sqlite3_errcode(db), why = sqlite3_system_errno(db);
    if (rc == SQLITE_NOMEM || sqlite3_extended_errcode(db) == SQLITE_IOERR_NOMEM)
        return rocl_fail_memory(err);
    /* SQLite's own words hide the reason: "unable to open database file". */
    if ((rc == SQLITE_CANTOPEN || rc == SQLITE_IOERR) && why)
        return rocl_fail_system(err, ROCL_INPUT, place, why);
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_TOOBIG)
        return rocl_fail(err, ROCL_INPUT, "%s: the database is damaged (%s)", place,
                         sqlite3_errmsg(db));
    return rocl_fail(err, ROCL_INPUT, "%s: %s", place, sqlite3_errmsg(db));
}

void rocl_sqlite_limit_lengths(sqlite3 *db, uint64_t bytes)
{
    enum { LEAST = 1 << 20 }; /* for what is no value of a file: texts of the schema, errors */
    bytes += LEAST;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, bytes < INT32_MAX ? (int)bytes : INT32_MAX);
}

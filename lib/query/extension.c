/* librocline-sqlite.so: the tables as functions of a path, for any program with SQLite.
 *
 *     .load librocline-sqlite
 *     SELECT name, sum(duration) FROM rocline_kernel('4711_results.db') GROUP BY name;
 *
 * A trace is opened when it is first named, and closed with the connection. The extension does not
 * belong to the library, which is linked with an SQLite. */
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/sql.h"

typedef struct opened {
    char *path;
    rocl_trace *trace;
    rocl_scanner *scanner;
} opened;

typedef struct connection {
    rocl_table_host host;
    opened *all;
    size_t count, cap;
} connection;

static rocl_status open_path(void *ctx, const char *path, rocl_scanner **scanner, rocl_error *err)
{
    connection *c = ctx;
    if (!path || !*path)
        return rocl_fail(err, ROCL_USAGE, "the path of a trace is missing");
    for (size_t i = 0; i < c->count; i++) {
        if (!strcmp(c->all[i].path, path)) {
            *scanner = c->all[i].scanner;
            return ROCL_OK;
        }
    }
    /* Options and their strings live as long as the trace. */
    opened o = {.path = strdup(path)};
    const rocl_options options = {0};
    rocl_status st =
        o.path && ROCL_GROW(c->all, c->cap, c->count + 1) ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_trace_open(&o.trace, (const char *const[]){o.path}, 1, &options, err);
    if (st <= ROCL_PARTIAL)
        st = rocl_scanner_new(&o.scanner, o.trace, (size_t)256 << 20, err);
    if (st != ROCL_OK) {
        rocl_trace_close(o.trace);
        free(o.path);
        return st;
    }
    c->all[c->count++] = o;
    *scanner = o.scanner;
    return ROCL_OK;
}

static void close_connection(void *ctx)
{
    connection *c = ctx;
    for (size_t i = 0; i < c->count; i++) {
        rocl_scanner_free(c->all[i].scanner);
        rocl_trace_close(c->all[i].trace);
        free(c->all[i].path);
    }
    free(c->all);
    free(c);
}

static void call_version(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    (void)argc, (void)argv;
    sqlite3_result_text(to, rocl_version(), -1, SQLITE_STATIC);
}

ROCL_API int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

ROCL_API int sqlite3_extension_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < ROCL_SQLITE_MIN) {
        *message =
            sqlite3_mprintf("rocline needs SQLite 3.%d or newer", ROCL_SQLITE_MIN / 1000 % 1000);
        return SQLITE_ERROR;
    }
    connection *c = calloc(1, sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    c->host = (rocl_table_host){.scanner = open_path, .ctx = c, .by_path = true};
    /* The function is freed with the connection, after its statements. */
    int rc = sqlite3_create_function_v2(db, "rocline_version", 0, SQLITE_UTF8, c, call_version,
                                        NULL, NULL, close_connection);
    if (rc == SQLITE_OK)
        rc = rocl_add_tables(db, &c->host);
    return rc == SQLITE_OK ? rocl_add_functions(db) : rc;
}

/* What the tests of single reports share: traces from fixtures, tables from traces, cells of
 * tables. Needs FIXTURES, the folder that make-fixtures.sh filled, and is run in the project's
 * folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/table.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { INPUTS_MAX = 4 };

/* "rank0" is a fixture, what has a slash is a path. */
static inline void path_of(char *path, size_t size, const char *name, int len)
{
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    if (memchr(name, '/', (size_t)len))
        snprintf(path, size, "%.*s", len, name);
    else
        snprintf(path, size, "%s/%.*s.db", fixtures, len, name);
}

/* Names with a blank between them. */
static inline rocl_trace *open_trace(const char *names, const rocl_options *o)
{
    char paths[INPUTS_MAX][512];
    const char *inputs[INPUTS_MAX];
    size_t n = 0;
    rocl_trace *t = NULL;
    rocl_error *err = rocl_error_new();
    for (const char *p = names; *p && n < INPUTS_MAX; n++) {
        int len = (int)strcspn(p, " ");
        path_of(paths[n], sizeof paths[n], p, len);
        inputs[n] = paths[n];
        p += len + (p[len] == ' ');
    }
    if (rocl_trace_open(&t, inputs, n, o, err) != ROCL_OK) {
        print_error("%s: %s\n", names, rocl_error_text(err));
        fail();
    }
    rocl_error_free(err);
    return t;
}

static inline rocl_tables *stats_of(const char *names, const rocl_options *o, rocl_stats_options so)
{
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    rocl_trace *t = open_trace(names, o);
    if (rocl_stats(t, &so, &tables, err) > ROCL_PARTIAL) {
        print_error("%s\n", rocl_error_text(err));
        fail();
    }
    rocl_error_free(err);
    rocl_trace_close(t);
    return tables;
}

static inline const rocl_table *table_of(const rocl_tables *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].key, key))
            return &all->tables[i];
    print_error("no table %s\n", key);
    fail();
    return NULL;
}

static inline const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return &t->cells[row * t->column_count + c];
    print_error("table %s has no column %s\n", t->key, key);
    fail();
    return NULL;
}

static inline int64_t int_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_INT);
    return d->i;
}

static inline double real_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_REAL);
    return d->r;
}

static inline const char *text_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_TEXT);
    return d->text;
}

static inline void check_real(const rocl_table *t, size_t row, const char *key, double expected)
{
    double v = real_of(t, row, key);
    if (fabs(v - expected) <= 1e-9 * fmax(fabs(expected), 1e-6))
        return;
    print_error("table %s, row %zu, %s: %.17g, expected %.17g\n", t->key, row, key, v, expected);
    fail();
}

/* The row of a name in a domain; row_count: none. */
static inline size_t find_row(const rocl_table *t, const char *domain, const char *name)
{
    size_t row = 0;
    while (row < t->row_count && (strcmp(text_of(t, row, "domain"), domain) != 0 ||
                                  strcmp(text_of(t, row, "name"), name) != 0))
        row++;
    return row;
}

static inline char *as_text(const rocl_tables *tables, rocl_table_format format)
{
    char path[] = "/tmp/rocline-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const rocl_table_options o = {.path = path, .format = format};
    assert_int_equal(rocl_write_tables(tables, &o, NULL), ROCL_OK);
    close(fd);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = NULL;
    size_t size = 0;
    ssize_t n = getdelim(&text, &size, '\0', f);
    assert_true(n > 0);
    fclose(f);
    unlink(path);
    return text;
}

static inline void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        print_error("%s\n%s\n", message, sql);
        fail();
    }
}

static inline sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        print_error("%s\n%s\n", sqlite3_errmsg(db), sql);
        fail();
    }
    return stmt;
}

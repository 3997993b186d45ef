/* For the tests of reports: traces of fixtures, their tables, and their events once more by a plain
 * scan, from which tests count by the simplest way there is.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled, and is run in the project's folder. */
#ifndef TEST_STATS_COMMON_H
#define TEST_STATS_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/table.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef COUNT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#endif
#define BIT(report) (1u << (report))

static inline rocl_trace *open_trace(const char *names, const rocl_options *o)
{
    const char *fixtures = getenv("FIXTURES"), *inputs[4];
    char paths[4][512];
    size_t n = 0;
    rocl_trace *t = NULL;
    if (!fixtures)
        skip();
    rocl_error *err = rocl_error_new();
    for (const char *p = names; *p && n < COUNT(paths); n++) {
        int len = (int)strcspn(p, " ");
        snprintf(paths[n], sizeof paths[n], "%s/%.*s.db", fixtures, len, p);
        inputs[n] = paths[n];
        p += len + (p[len] == ' ');
    }
    if (rocl_trace_open(&t, inputs, n, o, err) != ROCL_OK)
        fail_msg("%s: %s", names, rocl_error_text(err));
    rocl_error_free(err);
    return t;
}

static inline rocl_tables *stats_of(rocl_trace *t, const rocl_stats_options *o)
{
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    if (rocl_stats(t, o, &tables, err) > ROCL_PARTIAL)
        fail_msg("%s", rocl_error_text(err));
    rocl_error_free(err);
    return tables;
}

static inline const rocl_table *table_of(const rocl_tables *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].key, key))
            return &all->tables[i];
    fail_msg("no table %s", key);
    return NULL;
}

static inline const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return &t->cells[row * t->column_count + c];
    fail_msg("table %s has no column %s", t->key, key);
    return NULL;
}

static inline bool has_column(const rocl_table *t, const char *key)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return true;
    return false;
}

static inline const char *text_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    return d->is == ROCL_DATUM_TEXT ? d->text : "";
}

static inline int64_t int_of(const rocl_table *t, size_t row, const char *key)
{
    assert_int_equal(cell(t, row, key)->is, ROCL_DATUM_INT);
    return cell(t, row, key)->i;
}

static inline void check_int(const rocl_table *t, size_t row, const char *key, int64_t expected)
{
    const rocl_datum *d = cell(t, row, key);
    if (d->is != ROCL_DATUM_INT || d->i != expected)
        fail_msg("table %s, row %zu, %s: %lld (%d), expected %lld", t->key, row, key,
                 (long long)d->i, d->is, (long long)expected);
}

/* Not a number: no value is expected. */
static inline void check_real(const rocl_table *t, size_t row, const char *key, double expected)
{
    const rocl_datum *d = cell(t, row, key);
    double ours = d->is == ROCL_DATUM_REAL  ? d->r
                  : d->is == ROCL_DATUM_INT ? (double)d->i
                                            : (double)NAN;
    if (isnan(expected) ? !isnan(ours)
                        : !(fabs(ours - expected) <= 1e-9 * fmax(fabs(expected), 1e-6)))
        fail_msg("table %s, row %zu, %s: %.17g, expected %.17g", t->key, row, key, ours, expected);
}

/* ---- events, whatever their kind ---- */

typedef struct record {
    const rocl_capture *capture;
    rocl_kind kind;
    bool seen; /* for tests to mark */
    union {
        rocl_event e;
        rocl_dispatch dispatch;
        rocl_copy copy;
        rocl_alloc alloc;
        rocl_counter_value counter;
        rocl_sample_value sample;
    };
} record;

typedef struct records {
    uint32_t kinds;
    record *all;
    size_t count, cap;
    pthread_mutex_t lock;
} records;

static inline rocl_status keep_records(void *ctx, unsigned worker, const rocl_batch *b,
                                       rocl_error *err)
{
    records *r = ctx;
    (void)worker, (void)err;
    if (!(r->kinds >> b->kind & 1))
        return ROCL_OK;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < b->count; i++) {
        if (r->count == r->cap) {
            r->cap = r->cap ? 2 * r->cap : 256;
            r->all = realloc(r->all, r->cap * sizeof *r->all);
            assert_non_null(r->all);
        }
        record *to = &r->all[r->count++];
        memset(to, 0, sizeof *to);
        to->capture = b->capture;
        to->kind = b->kind;
        memcpy(&to->e, rocl_batch_event(b, i), rocl_kind_size(b->kind));
    }
    pthread_mutex_unlock(&r->lock);
    return ROCL_OK;
}

static inline records records_of(rocl_trace *t, uint32_t kinds)
{
    records r = {.kinds = kinds, .lock = PTHREAD_MUTEX_INITIALIZER};
    assert_true(rocl_trace_scan(t, keep_records, &r, NULL) <= ROCL_PARTIAL);
    return r;
}

/* ---- the same bytes ---- */

static inline char *json_of(const rocl_tables *all)
{
    char path[] = "/tmp/rocline-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    const rocl_table_options o = {.path = path, .format = ROCL_TABLE_JSON};
    assert_int_equal(rocl_write_tables(all, &o, NULL), ROCL_OK);
    FILE *f = fopen(path, "r");
    size_t n = 0, cap = 1 << 22;
    char *text = malloc(cap);
    assert_non_null(f);
    assert_non_null(text);
    n = fread(text, 1, cap - 1, f);
    text[n] = 0;
    fclose(f);
    fclose(fdopen(fd, "r"));
    remove(path);
    return text;
}

/* Whatever the number of workers and however little memory. */
static inline void check_same_bytes(const char *names, const rocl_stats_options *s)
{
    char *first = NULL;
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        const rocl_options o = {.jobs = jobs, .memory = jobs % 2 ? 0 : (size_t)64 << 10};
        rocl_trace *t = open_trace(names, &o);
        rocl_tables *all = stats_of(t, s);
        char *text = json_of(all);
        if (first)
            assert_string_equal(text, first);
        else
            first = text;
        if (text != first)
            free(text);
        rocl_tables_free(all);
        rocl_trace_close(t);
    }
    free(first);
}

static inline void check_nothing(uint32_t report, size_t tables)
{
    const rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = report, .by_rank = true, .by_agent = true, .top = 1};
    rocl_trace *t = open_trace("empty-tables", &o);
    rocl_tables *all = stats_of(t, &s);
    assert_int_equal(all->count, tables);
    for (size_t i = 0; i < all->count; i++)
        assert_int_equal(all->tables[i].row_count, 0);
    free(json_of(all));
    rocl_tables_free(all);
    rocl_trace_close(t);
}

#endif

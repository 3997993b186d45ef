/* Functions of SQL beside SQLite's own:
 *
 *     percentile(x, p)  median(x)  stddev(x)   aggregates, NULLs left out
 *     union_ns(start, end)                     aggregate: the time that any of the intervals covers
 *     overlap_ns(start, end, start, end)       the time that two intervals have in common
 *     bandwidth(bytes, ns)                     bytes per second
 *     short_name(text)  demangle(text)         of kernels */
#include "query/sql.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "source/short_name.h"

/* ---- aggregates of numbers ------------------------------------------------------------------- */

/* The array with space for one element more, in SQLite's memory, whose limit holds for aggregates
 * as well; NULL, and the array stays: memory is out. */
static void *grow_array(void *p, size_t *cap, size_t count, size_t size)
{
    if (count < *cap)
        return p;
    const size_t more = *cap ? 2 * *cap : 64;
    void *larger = sqlite3_realloc64(p, more * size);
    *cap = larger ? more : *cap;
    return larger;
}

typedef struct numbers {
    double *values;
    size_t count, cap;
    double fraction; /* of the percentile: 0 to 1 */
    bool failed;
} numbers;

static void step_percentile(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    double percent = 50;
    if (argc > 1) {
        percent = sqlite3_value_double(argv[1]);
        if (sqlite3_value_numeric_type(argv[1]) == SQLITE_NULL ||
            !(percent >= 0 && percent <= 100)) {
            sqlite3_result_error(to, "percentile(): the second argument is not from 0 to 100", -1);
            return;
        }
    }
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    const int type = sqlite3_value_numeric_type(argv[0]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        sqlite3_result_error(to, "percentile(), median(): the argument is not a number", -1);
        return;
    }
    numbers *n = sqlite3_aggregate_context(to, sizeof *n);
    double *values = n ? grow_array(n->values, &n->cap, n->count, sizeof *values) : NULL;
    if (!values) {
        sqlite3_result_error_nomem(to);
        return;
    }
    n->values = values;
    n->values[n->count++] = sqlite3_value_double(argv[0]);
    n->fraction = percent / 100;
}

/* Between the two nearest ranks: as percentile() of SQLite's sources and PERCENTILE_CONT do. */
static void end_percentile(sqlite3_context *to)
{
    numbers *n = sqlite3_aggregate_context(to, 0);
    if (!n || !n->count)
        return;
    qsort(n->values, n->count, sizeof *n->values, rocl_compare_double);
    const double at = n->fraction * (double)(n->count - 1);
    const size_t below = (size_t)at;
    double v = n->values[below];
    if (at > (double)below)
        v += (n->values[below + 1] - v) * (at - (double)below);
    sqlite3_result_double(to, v);
    sqlite3_free(n->values);
    n->values = NULL;
    n->count = n->cap = 0;
}

typedef struct moments {
    uint64_t count;
    double mean, squares; /* Welford's */
} moments;

static void step_stddev(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    moments *m = sqlite3_aggregate_context(to, sizeof *m);
    (void)argc;
    if (!m)
        sqlite3_result_error_nomem(to);
    if (!m || sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    const double v = sqlite3_value_double(argv[0]), before = v - m->mean;
    m->count++;
    m->mean += before / (double)m->count;
    m->squares += before * (v - m->mean);
}

/* The deviation of a sample; NULL for one value. */
static void end_stddev(sqlite3_context *to)
{
    const moments *m = sqlite3_aggregate_context(to, 0);
    if (m && m->count > 1)
        sqlite3_result_double(to, sqrt(m->squares / (double)(m->count - 1)));
}

/* ---- intervals ------------------------------------------------------------------------------- */

typedef struct interval {
    int64_t start, end;
} interval;

typedef struct intervals {
    interval *all;
    size_t count, cap;
} intervals;

static void step_union(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    intervals *u = sqlite3_aggregate_context(to, sizeof *u);
    (void)argc;
    if (!u) {
        sqlite3_result_error_nomem(to);
        return;
    }
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    const interval v = {sqlite3_value_int64(argv[0]), sqlite3_value_int64(argv[1])};
    if (v.end <= v.start)
        return;
    interval *last = u->count ? &u->all[u->count - 1] : NULL;
    if (last && v.start >= last->start && v.start <= last->end) { /* rows in order need no memory */
        last->end = v.end > last->end ? v.end : last->end;
        return;
    }
    interval *all = grow_array(u->all, &u->cap, u->count, sizeof *all);
    if (!all) {
        sqlite3_result_error_nomem(to);
        return;
    }
    u->all = all;
    u->all[u->count++] = v;
}

static void end_union(sqlite3_context *to)
{
    intervals *u = sqlite3_aggregate_context(to, 0);
    uint64_t sum = 0;
    int64_t until = INT64_MIN;
    if (u && u->count)
        qsort(u->all, u->count, sizeof *u->all, rocl_compare_i64); /* by start */
    for (size_t i = 0; u && i < u->count; i++) {
        const interval *v = &u->all[i];
        const int64_t from = v->start > until ? v->start : until;
        if (v->end > from) {
            sum += (uint64_t)v->end - (uint64_t)from;
            until = v->end;
        }
    }
    sqlite3_result_int64(to, sum > INT64_MAX ? INT64_MAX : (int64_t)sum);
    if (u) {
        sqlite3_free(u->all);
        *u = (intervals){0};
    }
}

static bool any_null(int argc, sqlite3_value **argv)
{
    bool any = false;
    for (int i = 0; i < argc; i++)
        any |= sqlite3_value_type(argv[i]) == SQLITE_NULL;
    return any;
}

static void call_overlap(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    if (any_null(argc, argv))
        return;
    const int64_t a = sqlite3_value_int64(argv[0]), b = sqlite3_value_int64(argv[1]);
    const int64_t c = sqlite3_value_int64(argv[2]), d = sqlite3_value_int64(argv[3]);
    const int64_t from = a > c ? a : c, until = b < d ? b : d;
    int64_t ns = 0;
    if (until > from && __builtin_sub_overflow(until, from, &ns))
        ns = INT64_MAX;
    sqlite3_result_int64(to, ns);
}

static void call_bandwidth(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    if (any_null(argc, argv))
        return;
    const double ns = sqlite3_value_double(argv[1]);
    if (ns > 0)
        sqlite3_result_double(to, sqlite3_value_double(argv[0]) * 1e9 / ns);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void call_short_name(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    rocl_buf name = {0};
    (void)argc;
    const char *text = (const char *)sqlite3_value_text(argv[0]);
    if (!text)
        return;
    rocl_short_name(&name, text, (size_t)sqlite3_value_bytes(argv[0]));
    if (name.failed)
        sqlite3_result_error_nomem(to);
    else
        sqlite3_result_text(to, name.len ? (const char *)name.data : "", (int)name.len,
                            SQLITE_TRANSIENT);
    rocl_buf_free(&name);
}

typedef char *demangle_fn(const char *name, char *buffer, size_t *size, int *status);

/* The C++ runtime, if loaded, has it; nothing else here needs that. A static program cannot load
 * it, as that would add a second C library. */
static demangle_fn *find_demangle(void)
{
#ifdef ROCL_STATIC
    return NULL;
#else
    static _Atomic(demangle_fn *) found;
    demangle_fn *fn = found;
    if (!fn) {
        void *runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        void *symbol = runtime ? dlsym(runtime, "__cxa_demangle") : NULL;
        memcpy(&fn, &symbol, sizeof fn);
        found = fn;
    }
    return fn;
#endif
}

/* What is not mangled stays as it is. */
static void call_demangle(sqlite3_context *to, int argc, sqlite3_value **argv)
{
    (void)argc;
    const char *text = (const char *)sqlite3_value_text(argv[0]);
    if (!text)
        return;
    size_t len = (size_t)sqlite3_value_bytes(argv[0]);
    if (len > 3 && !strcmp(text + len - 3, ".kd"))
        len -= 3; /* of a descriptor */
    demangle_fn *demangle = !strncmp(text, "_Z", 2) ? find_demangle() : NULL;
    char *mangled = demangle ? strndup(text, len) : NULL;
    int status = -1;
    char *name = mangled ? demangle(mangled, NULL, NULL, &status) : NULL;
    if (name && status == 0)
        sqlite3_result_text(to, name, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_value(to, argv[0]);
    free(name);
    free(mangled);
}

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct sql_function {
    const char *name;
    int arguments;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
    void (*step)(sqlite3_context *, int, sqlite3_value **);
    void (*end)(sqlite3_context *);
} sql_function;

static const sql_function functions[] = {
    {"percentile", 2, NULL, step_percentile, end_percentile},
    {"median", 1, NULL, step_percentile, end_percentile},
    {"stddev", 1, NULL, step_stddev, end_stddev},
    {"union_ns", 2, NULL, step_union, end_union},
    {"overlap_ns", 4, call_overlap, NULL, NULL},
    {"bandwidth", 2, call_bandwidth, NULL, NULL},
    {"short_name", 1, call_short_name, NULL, NULL},
    {"demangle", 1, call_demangle, NULL, NULL},
};

int rocl_add_functions(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && rc == SQLITE_OK; i++) {
        const sql_function *f = &functions[i];
        rc = sqlite3_create_function_v2(db, f->name, f->arguments, flags, NULL, f->call, f->step,
                                        f->end, NULL);
    }
    return rc;
}

/* Statistics against an independent count of the same databases. Their sound rows are put by SQL
 * into one table in memory; groups are those of GROUP BY, distributions are taken from the sorted
 * durations, and what a GPU did is decided for each stretch between two neighbouring times by
 * asking all of its events. AMD's own summaries are compared where they are at hand.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled, and is run in the project's folder. */
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

#define COUNT(a)    (sizeof(a) / sizeof(a)[0])
#define ALL_REPORTS ((1u << ROCL_REPORTS) - 1)
#define BIT(report) (1u << (report))

static char folder[64]; /* for what is written */

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline-test-XXXXXX");
    return !mkdtemp(folder);
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- our side ---- */

#define INPUTS_MAX 4

/* "demo" is shipped, what has a slash is a path, all else is a fixture. */
static void path_of(char *path, size_t size, const char *name, int len)
{
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    if (len == 4 && !memcmp(name, "demo", 4))
        snprintf(path, size, "tests/fixtures/demo.db");
    else if (memchr(name, '/', (size_t)len))
        snprintf(path, size, "%.*s", len, name);
    else
        snprintf(path, size, "%s/%.*s.db", fixtures, len, name);
}

static rocl_trace *open_trace(const char *names, const rocl_options *o)
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

static rocl_tables *stats_of(rocl_trace *t, rocl_stats_options o)
{
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    if (!o.reports)
        o.reports = ALL_REPORTS;
    if (rocl_stats(t, &o, &tables, err) > ROCL_PARTIAL) {
        print_error("%s\n", rocl_error_text(err));
        fail();
    }
    rocl_error_free(err);
    assert_non_null(tables);
    return tables;
}

static const rocl_table *table_of(const rocl_tables *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].key, key))
            return &all->tables[i];
    print_error("no table %s\n", key);
    fail();
    return NULL;
}

/* NULL: the table lacks the column. */
static const rocl_datum *find_cell(const rocl_table *t, size_t row, const char *key)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return &t->cells[row * t->column_count + c];
    return NULL;
}

static const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = find_cell(t, row, key);
    if (!d) {
        print_error("table %s has no column %s\n", t->key, key);
        fail();
    }
    return d;
}

static int64_t int_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_INT);
    return d->i;
}

static const char *text_of(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    assert_int_equal(d->is, ROCL_DATUM_TEXT);
    return d->text;
}

static void check_int(const rocl_table *t, size_t row, const char *key, int64_t expected)
{
    int64_t ours = int_of(t, row, key);
    if (ours == expected)
        return;
    print_error("table %s, row %zu, %s: %lld, expected %lld\n", t->key, row, key, (long long)ours,
                (long long)expected);
    fail();
}

/* Not a number: no value is expected. */
static void check_real(const rocl_table *t, size_t row, const char *key, double expected)
{
    const rocl_datum *d = cell(t, row, key);
    if (isnan(expected) ? d->is == ROCL_DATUM_NONE
                        : d->is == ROCL_DATUM_REAL &&
                              fabs(d->r - expected) <= 1e-9 * fmax(fabs(expected), 1e-6))
        return;
    print_error("table %s, row %zu, %s: %.17g, expected %.17g\n", t->key, row, key,
                d->is == ROCL_DATUM_REAL ? d->r : (double)NAN, expected);
    fail();
}

static void check_text(const rocl_table *t, size_t row, const char *key, const char *expected)
{
    assert_string_equal(text_of(t, row, key), expected);
}

/* ---- the other side: every event as a row of one table ---- */

static const char *const schema =
    "CREATE TABLE ev(domain TEXT, name TEXT, rank INT, agent TEXT, stream INT, workgroup TEXT, "
    "grid TEXT, start INT, \"end\" INT, bytes INT, src TEXT, dst TEXT, part INT, gpu INT, gpu2 "
    "INT)";

#define JOINS                                                                                      \
    "{track} LEFT JOIN rocpd_info_process%S p ON p.id = {own}.pid LEFT JOIN rocpd_event%S e ON "   \
    "e.id = x.event_id LEFT JOIN {categories} c ON c.id = e.category_id "
#define SOUND                                                                                      \
    " x.start >= 0 AND x.\"end\" > 0 AND x.\"end\" >= x.start AND x.\"end\" >= coalesce(p.init, "  \
    "0)"
#define RANK "(p.environment ->> '$.OMPI_COMM_WORLD_RANK') + 0"
#define DOMAIN                                                                                     \
    "CASE WHEN substr(c.string, 1, 4) IN ('HIP_', 'HSA_') THEN substr(c.string, 1, 3) WHEN "       \
    "substr(c.string, 1, 6) = 'MARKER' THEN 'MARKERS' WHEN substr(c.string, 1, 5) = 'RCCL_' THEN " \
    "'RCCL' WHEN substr(c.string, 1, 10) = 'ROCDECODE_' THEN 'ROCDECODE' WHEN substr(c.string, "   \
    "1, "                                                                                          \
    "8) = 'ROCJPEG_' THEN 'ROCJPEG' ELSE 'OTHER' END"
#define LABEL(of) "'Agent ' || coalesce(" of ".logical_index, " of ".id)"
#define GPU(of)                                                                                    \
    "CASE " of ".type WHEN 'GPU' THEN %M * 100000 + coalesce(" of ".absolute_index, " of ".id) "   \
    "END"

static const char *const fill[] = {
    "INSERT INTO ev(domain, name, rank, start, \"end\") SELECT " DOMAIN
    ", CASE WHEN c.string LIKE 'MARKER%%' THEN coalesce(e.extdata ->> '$.message', n.string) ELSE "
    "n.string END, " RANK ", x.start, x.\"end\" FROM rocpd_region%S x " JOINS
    "LEFT JOIN rocpd_string%S n ON n.id = x.name_id WHERE" SOUND,

    "INSERT INTO ev(domain, name, rank, agent, stream, workgroup, grid, start, \"end\", part, "
    "gpu) SELECT 'KERNELS', s.display_name, " RANK
    ", " LABEL("a") ", {own}.stream_id, "
                    "x.workgroup_size_x || 'x' || x.workgroup_size_y || 'x' || x.workgroup_size_z, "
                    "x.grid_size_x "
                    "|| 'x' || x.grid_size_y || 'x' || x.grid_size_z, x.start, x.\"end\", "
                    "substr(s.display_name, "
                    "1, 4) IN ('nccl', 'rccl'), " GPU(
                        "a") " FROM rocpd_kernel_dispatch%S x " JOINS
                             "LEFT JOIN rocpd_info_kernel_symbol%S s ON s.id = x.kernel_id LEFT "
                             "JOIN rocpd_info_agent%S a "
                             "ON a.id = {own}.agent_id WHERE" SOUND,

    "INSERT INTO ev(domain, name, rank, agent, stream, start, \"end\", bytes, src, dst, part, gpu, "
    "gpu2) SELECT 'MEMORY_COPIES', n.string, " RANK ", " LABEL(
        "d") ", {own}.stream_id, x.start, "
             "x.\"end\", x.size, coalesce(" LABEL("s") ", ''), coalesce(" LABEL(
                 "d") ", ''), 2, " GPU("d") ", nullif(" GPU("s") ", coalesce(" GPU("d") ", -1)) "
                                                                                        "FROM "
                                                                                        "rocpd_"
                                                                                        "memory_"
                                                                                        "copy%S "
                                                                                        "x " JOINS
                                                                                        "LEFT JOIN "
                                                                                        "rocpd_"
                                                                                        "string%S "
                                                                                        "n ON n.id "
                                                                                        "= "
                                                                                        "x.name_id "
                                                                                        "LEFT JOIN "
                                                                                        "rocpd_"
                                                                                        "info_"
                                                                                        "agent%S d "
                                                                                        "ON d.id = "
                                                                                        "x.dst_"
                                                                                        "agent_id "
                                                                                        "LEFT JOIN "
                                                                                        "rocpd_"
                                                                                        "info_"
                                                                                        "agent%S s "
                                                                                        "ON s.id = "
                                                                                        "x.src_"
                                                                                        "agent_id "
                                                                                        "WHER"
                                                                                        "E" SOUND,

    /* A free is on the agent of the allocation at its address, in scratch memory of its queue. */
    "INSERT INTO ev(domain, name, rank, agent, stream, start, \"end\") SELECT CASE x.level WHEN "
    "'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATIONS' END, CASE x.level WHEN 'SCRATCH' "
    "THEN 'SCRATCH_MEMORY_' || x.type WHEN 'VIRTUAL' THEN 'MEMORY_ALLOCATION_VMEM_' || "
    "replace(x.type, 'ALLOC', 'ALLOCATE') ELSE 'MEMORY_ALLOCATION_' || replace(x.type, 'ALLOC', "
    "'ALLOCATE') END, " RANK ", coalesce(" LABEL("a") ", (SELECT " LABEL(
        "b") " FROM (SELECT x.*, "
             "{own}.agent_id AS agent, {own}.queue_id AS queue, {own}.tid AS thread FROM "
             "rocpd_memory_allocate%S x {track}) y JOIN rocpd_info_agent%S b ON b.id = y.agent "
             "WHERE y.type "
             "= 'ALLOC' AND (y.level = 'SCRATCH') = (x.level = 'SCRATCH') AND CASE x.level WHEN "
             "'SCRATCH' "
             "THEN y.queue IS {own}.queue_id AND y.thread IS {own}.tid ELSE y.address = x.address "
             "END AND "
             "y.start < x.start ORDER BY y.start DESC LIMIT 1)), {own}.stream_id, x.start, "
             "x.\"end\" FROM "
             "rocpd_memory_allocate%S x " JOINS
             "LEFT JOIN rocpd_info_agent%S a ON a.id = {own}.agent_id "
             "WHERE" SOUND,

    "INSERT INTO ev(domain, name, rank, start, \"end\") SELECT " DOMAIN
    ", coalesce(e.extdata ->> '$.message', n.string), " RANK ", x.timestamp, x.timestamp FROM "
    "rocpd_sample%S x LEFT JOIN rocpd_track%S k ON k.id = x.track_id LEFT JOIN "
    "rocpd_info_process%S p ON p.id = k.pid LEFT JOIN rocpd_event%S e ON e.id = x.event_id LEFT "
    "JOIN {categories} c ON c.id = e.category_id LEFT JOIN rocpd_string%S n ON n.id = "
    "{sample-name} WHERE x.timestamp > 0 AND NOT EXISTS (SELECT 1 FROM rocpd_pmc_event%S v WHERE "
    "v.event_id = x.event_id)",
};

static void run_sql(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        print_error("%s\n%s\n", message, sql);
        fail();
    }
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        print_error("%s\n%s\n", sqlite3_errmsg(db), sql);
        fail();
    }
    return stmt;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = prepare(db, sql);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return v;
}

typedef struct base { /* of one capture */
    char suffix[64];
    bool by_track;
    uint32_t machine;
} base;

static void find_suffix(sqlite3 *db, base *b, const char *guid)
{
    sqlite3_stmt *list = prepare(db, "SELECT substr(name, 15) FROM f.sqlite_master WHERE type = "
                                     "'table' AND name LIKE 'rocpd_metadata%'");
    while (sqlite3_step(list) == SQLITE_ROW) {
        const char *suffix = (const char *)sqlite3_column_text(list, 0);
        char *sql = sqlite3_mprintf("SELECT count(*) FROM \"rocpd_metadata%w\" WHERE tag = 'guid' "
                                    "AND value = %Q",
                                    suffix, guid);
        if (number(db, sql))
            snprintf(b->suffix, sizeof b->suffix, "%s", suffix);
        sqlite3_free(sql);
    }
    sqlite3_finalize(list);
    assert_true(b->suffix[0]);
}

/* What a word in braces stands for, by schema. */
static const struct {
    const char *word, *v3, *v4;
} words[] = {
    {"own", "x", "k"},
    {"track", "", "LEFT JOIN rocpd_track%S k ON k.id = x.track_id"},
    {"categories", "rocpd_string%S", "(SELECT id, name AS string FROM rocpd_info_category%S)"},
    {"sample-name", "k.name_id", "x.name_id"},
};

/* %S: the suffix of the tables; %M: the machine; %%: a percent sign. */
static void expand_to(const base *b, const char *sql, sqlite3_str *out)
{
    while (*sql) {
        size_t n = strcspn(sql, "{%");
        sqlite3_str_append(out, sql, (int)n);
        sql += n;
        if (*sql == '{') {
            n = strcspn(sql, "}");
            for (size_t i = 0; i < COUNT(words); i++)
                if (strlen(words[i].word) == n - 1 && !memcmp(words[i].word, sql + 1, n - 1))
                    expand_to(b, b->by_track ? words[i].v4 : words[i].v3, out);
            sql += n + 1;
        } else if (*sql) {
            if (sql[1] == 'S')
                sqlite3_str_appendall(out, b->suffix);
            else if (sql[1] == 'M')
                sqlite3_str_appendf(out, "%u", b->machine);
            else
                sqlite3_str_appendchar(out, 1, '%');
            sql += 2;
        }
    }
}

static char *expand(sqlite3 *db, const base *b, const char *sql)
{
    sqlite3_str *out = sqlite3_str_new(db);
    expand_to(b, sql, out);
    return sqlite3_str_finish(out);
}

static void collect(sqlite3 *db, const rocl_trace *t, const rocl_capture *c)
{
    base b = {.machine = c->machine};
    char *sql = sqlite3_mprintf("ATTACH 'file:%q?immutable=1' AS f", c->path);
    run_sql(db, sql);
    sqlite3_free(sql);
    find_suffix(db, &b, rocl_text(t, c->guid, NULL));
    sql = sqlite3_mprintf("rocpd_region%s", b.suffix);
    b.by_track = sqlite3_table_column_metadata(db, "f", sql, "track_id", NULL, NULL, NULL, NULL,
                                               NULL) == SQLITE_OK;
    sqlite3_free(sql);
    for (size_t i = 0; i < COUNT(fill); i++) {
        sql = expand(db, &b, fill[i]);
        run_sql(db, sql);
        sqlite3_free(sql);
    }
    run_sql(db, "DETACH f");
}

static sqlite3 *events_of(const rocl_trace *t)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(":memory:", &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run_sql(db, schema);
    for (size_t i = 0; i < rocl_trace_captures(t); i++)
        collect(db, t, rocl_trace_capture(t, i));
    return db;
}

/* ---- distributions ---- */

typedef struct values {
    int64_t *v; /* in ascending order */
    size_t n;
    int64_t bytes;
    double best_rate;
} values;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The first column of a query's rows, sorted; the second, if there, is in bytes. */
static values values_of(sqlite3_stmt *stmt)
{
    values d = {0};
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        d.v = realloc(d.v, (d.n + 1) * sizeof *d.v);
        assert_non_null(d.v);
        d.v[d.n] = sqlite3_column_int64(stmt, 0);
        if (sqlite3_column_count(stmt) > 1 && sqlite3_column_int64(stmt, 1)) {
            int64_t bytes = sqlite3_column_int64(stmt, 1);
            d.bytes += bytes;
            if (d.v[d.n])
                d.best_rate = fmax(d.best_rate, (double)bytes / (double)d.v[d.n] * 1e9);
        }
        d.n++;
    }
    if (d.n)
        qsort(d.v, d.n, sizeof *d.v, by_value);
    return d;
}

static int64_t total_of(const values *d)
{
    int64_t sum = 0;
    for (size_t i = 0; i < d->n; i++)
        sum += d->v[i];
    return sum;
}

/* The smallest value that so many percent of all do not exceed. */
static int64_t percentile(const values *d, size_t percent)
{
    for (size_t i = 0; i < d->n; i++)
        if ((i + 1) * 100 >= d->n * percent)
            return d->v[i];
    fail();
    return 0;
}

static int64_t median(const values *d)
{
    size_t half = d->n / 2;
    return d->n % 2 ? d->v[half] : (d->v[half - 1] + d->v[half]) / 2;
}

static double stddev(const values *d)
{
    long double mean = (long double)total_of(d) / (long double)d->n, sum = 0;
    for (size_t i = 0; i < d->n; i++)
        sum += ((long double)d->v[i] - mean) * ((long double)d->v[i] - mean);
    return d->n > 1 ? (double)sqrtl(sum / (long double)(d->n - 1)) : (double)NAN;
}

static void check_values(const rocl_table *t, size_t row, const values *d)
{
    static const struct {
        const char *key;
        size_t percent;
    } ranks[] = {{"p90_ns", 90}, {"p95_ns", 95}, {"p99_ns", 99}};
    assert_true(d->n > 0);
    check_int(t, row, "calls", (int64_t)d->n);
    check_int(t, row, "total_ns", total_of(d));
    check_real(t, row, "average_ns", (double)total_of(d) / (double)d->n);
    check_int(t, row, "max_ns", d->v[d->n - 1]);
    if (find_cell(t, row, "min_ns"))
        check_int(t, row, "min_ns", d->v[0]);
    if (find_cell(t, row, "stddev_ns"))
        check_real(t, row, "stddev_ns", stddev(d));
    if (find_cell(t, row, "median_ns"))
        check_int(t, row, "median_ns", median(d));
    for (size_t i = 0; i < COUNT(ranks); i++)
        if (find_cell(t, row, ranks[i].key))
            check_int(t, row, ranks[i].key, percentile(d, ranks[i].percent));
    if (find_cell(t, row, "rsd_percent"))
        check_real(t, row, "rsd_percent",
                   total_of(d) ? 100 * stddev(d) * (double)d->n / (double)total_of(d)
                               : (double)NAN);
    if (find_cell(t, row, "bandwidth")) {
        check_int(t, row, "bytes", d->bytes);
        check_real(t, row, "bandwidth",
                   total_of(d) ? (double)d->bytes / (double)total_of(d) * 1e9 : (double)NAN);
        check_real(t, row, "max_bandwidth", d->best_rate);
    }
}

/* ---- tables of groups ---- */

/* A table: its columns that are the key of a group, and what they are called in `ev`. */
typedef struct grouping {
    const char *columns[8][2];
    size_t count;
    const char *where;  /* which events */
    const char *domain; /* column of `ev` in which percents are of the whole; NULL: all */
} grouping;

static void add_column(grouping *g, const char *column, const char *field)
{
    g->columns[g->count][0] = column;
    g->columns[g->count++][1] = field;
}

static void bind_cell(sqlite3_stmt *stmt, int at, const rocl_datum *d)
{
    if (d->is == ROCL_DATUM_TEXT)
        sqlite3_bind_text(stmt, at, d->text, (int)d->len, SQLITE_STATIC);
    else if (d->is == ROCL_DATUM_INT)
        sqlite3_bind_int64(stmt, at, d->i);
}

static void check_group(sqlite3 *db, const rocl_table *t, size_t row, const grouping *g)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "SELECT \"end\" - start, bytes FROM ev WHERE (%s)", g->where);
    for (size_t i = 0; i < g->count; i++)
        sqlite3_str_appendf(sql, " AND %s IS ?", g->columns[i][1]);
    char *text = sqlite3_str_finish(sql);
    sqlite3_stmt *stmt = prepare(db, text);
    for (size_t i = 0; i < g->count; i++)
        bind_cell(stmt, (int)i + 1, cell(t, row, g->columns[i][0]));
    values d = values_of(stmt);
    if (!d.n) {
        char *expanded = sqlite3_expanded_sql(stmt);
        print_error("%s: no events of row %zu\n%s\n", t->key, row, expanded);
        sqlite3_free(expanded);
        fail();
    }
    check_values(t, row, &d);
    free(d.v);
    sqlite3_finalize(stmt);
    sqlite3_free(text);
}

static void check_percent(sqlite3 *db, const rocl_table *t, size_t row, const grouping *g)
{
    char *sql = sqlite3_mprintf("SELECT sum(\"end\" - start) FROM ev WHERE (%s) AND (%s IS %Q)",
                                g->where, g->domain ? g->domain : "NULL",
                                g->domain ? text_of(t, row, "domain") : NULL);
    double all = (double)number(db, sql);
    check_real(t, row, "percent",
               all > 0 ? 100 * (double)int_of(t, row, "total_ns") / all : (double)NAN);
    sqlite3_free(sql);
}

/* Every row is a group, every group is a row. */
static void check_groups(sqlite3 *db, const rocl_table *t, const grouping *g)
{
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendall(sql, "SELECT count(*) FROM (SELECT DISTINCT ");
    for (size_t i = 0; i < g->count; i++)
        sqlite3_str_appendf(sql, "%s%s", i ? ", " : "", g->columns[i][1]);
    sqlite3_str_appendf(sql, " FROM ev WHERE (%s))", g->where);
    char *text = sqlite3_str_finish(sql);
    assert_int_equal(t->row_count, number(db, text));
    sqlite3_free(text);
    int64_t calls = 0, total = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        check_group(db, t, row, g);
        if (find_cell(t, row, "percent"))
            check_percent(db, t, row, g);
        calls += int_of(t, row, "calls");
        total += int_of(t, row, "total_ns");
    }
    text = sqlite3_mprintf("SELECT count(*) FROM ev WHERE %s", g->where);
    assert_int_equal(calls, number(db, text));
    sqlite3_free(text);
    text = sqlite3_mprintf("SELECT total(\"end\" - start) FROM ev WHERE %s", g->where);
    assert_int_equal(total, number(db, text));
    sqlite3_free(text);
}

static void add_places(grouping *g, const rocl_stats_options *o)
{
    if (o->by_rank)
        add_column(g, "rank", "rank");
    if (o->by_agent)
        add_column(g, "agent", "agent");
    if (o->by_stream)
        add_column(g, "stream", "stream");
    if (o->by_dims)
        add_column(g, "workgroup", "workgroup");
    if (o->by_dims)
        add_column(g, "grid", "grid");
}

static void check_tables(sqlite3 *db, const rocl_tables *all, const rocl_stats_options *o)
{
    grouping domains = {.where = "1"}, summary = {.where = "1", .domain = "domain"};
    grouping kernels = {.where = "domain = 'KERNELS'"};
    grouping copies = {.where = "domain = 'MEMORY_COPIES'"};
    add_column(&domains, "name", "domain");
    check_groups(db, table_of(all, "domains"), &domains);
    add_column(&summary, "domain", "domain");
    add_column(&summary, "name", "name");
    add_places(&summary, o);
    check_groups(db, table_of(all, "summary"), &summary);
    add_column(&kernels, "name", "name");
    add_places(&kernels, o);
    check_groups(db, table_of(all, "kernels"), &kernels);
    add_column(&copies, "direction", "name");
    add_column(&copies, "src", "src");
    add_column(&copies, "dst", "dst");
    if (o->by_rank)
        add_column(&copies, "rank", "rank");
    if (o->by_stream)
        add_column(&copies, "stream", "stream");
    check_groups(db, table_of(all, "copies"), &copies);
}

/* ---- tests: groups ---- */

static const char *const traces[] = {
    "schema-3.0.0", "schema-3.0.5", "schema-4.1.0",
    "merged",       "rank0 rank1",  "node-rank0 node-rank1 node-rank2 node-rank3",
    "demo",
};

static void test_groups(void **state)
{
    const rocl_options o = {.jobs = 2};
    for (unsigned by = 0; by < 16; by++) {
        rocl_trace *t = open_trace(*state, &o);
        sqlite3 *db = events_of(t);
        rocl_stats_options s = {.by_rank = by & 1, .by_stream = by & 2, .by_dims = by & 4};
        s.by_agent = by & 8;
        rocl_tables *all = stats_of(t, s);
        check_tables(db, all, &s);
        rocl_tables_free(all);
        sqlite3_close(db);
        rocl_trace_close(t);
    }
}

static int64_t sort_value(const rocl_table *t, size_t row, rocl_sort_by by)
{
    static const char *const keys[] = {"total_ns", "calls", NULL, "max_ns"};
    return int_of(t, row, keys[by]);
}

static void check_order(const rocl_table *t, size_t row, rocl_sort_by by)
{
    int name = strcmp(text_of(t, row - 1, "name"), text_of(t, row, "name"));
    bool equal = true, right = true;
    if (by == ROCL_BY_AVERAGE) {
        double a = cell(t, row - 1, "average_ns")->r, b = cell(t, row, "average_ns")->r;
        right = a >= b;
        equal = !(a > b);
    } else if (by != ROCL_BY_NAME) {
        int64_t a = sort_value(t, row - 1, by), b = sort_value(t, row, by);
        right = a >= b;
        equal = a == b;
    }
    if (!right || (equal && name > 0)) {
        print_error("sorted by %d: row %zu\n", by, row);
        fail();
    }
}

static void test_sorts(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace(*state, &o);
    sqlite3 *db = events_of(t);
    for (int by = 0; by <= ROCL_BY_NAME; by++) {
        const rocl_stats_options s = {.sort = (rocl_sort_by)by, .by_stream = true};
        rocl_tables *all = stats_of(t, s);
        const rocl_table *summary = table_of(all, "summary"), *kernels = table_of(all, "kernels");
        check_tables(db, all, &s);
        for (size_t row = 1; row < summary->row_count; row++)
            if (!strcmp(text_of(summary, row - 1, "domain"), text_of(summary, row, "domain")))
                check_order(summary, row, (rocl_sort_by)by);
        for (size_t row = 1; row < kernels->row_count; row++)
            check_order(kernels, row, (rocl_sort_by)by);
        rocl_tables_free(all);
    }
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* Rows and what is left of the others, against the whole table, from row `from` on of both. */
static size_t check_top(const rocl_table *whole, const rocl_table *cut, size_t from, size_t at,
                        size_t n, size_t top)
{
    size_t shown = n > top ? top : n;
    int64_t calls = 0, total = 0;
    double percent = 0;
    char text[64];
    for (size_t i = 0; i < shown; i++) {
        check_text(cut, at + i, "name", text_of(whole, from + i, "name"));
        check_int(cut, at + i, "calls", int_of(whole, from + i, "calls"));
        check_int(cut, at + i, "p95_ns", int_of(whole, from + i, "p95_ns"));
    }
    if (shown == n)
        return at + n;
    for (size_t i = shown; i < n; i++) {
        calls += int_of(whole, from + i, "calls");
        total += int_of(whole, from + i, "total_ns");
        percent += cell(whole, from + i, "percent")->r;
    }
    snprintf(text, sizeof text, "(%zu others)", n - shown);
    check_text(cut, at + shown, "name", text);
    check_int(cut, at + shown, "calls", calls);
    check_int(cut, at + shown, "total_ns", total);
    check_real(cut, at + shown, "average_ns", (double)total / (double)calls);
    check_real(cut, at + shown, "percent", percent);
    return at + shown + 1;
}

static void check_top_copies(const rocl_table *whole, const rocl_table *cut, size_t top)
{
    size_t n = whole->row_count, shown = n > top ? top : n;
    int64_t calls = 0, total = 0, bytes = 0;
    double best = 0;
    char text[64];
    assert_int_equal(cut->row_count, shown + (shown < n));
    for (size_t i = 0; i < shown; i++)
        check_int(cut, i, "bytes", int_of(whole, i, "bytes"));
    for (size_t i = shown; i < n; i++) {
        calls += int_of(whole, i, "calls");
        total += int_of(whole, i, "total_ns");
        bytes += int_of(whole, i, "bytes");
        best = fmax(best, cell(whole, i, "max_bandwidth")->r);
    }
    if (shown == n)
        return;
    snprintf(text, sizeof text, "(%zu others)", n - shown);
    check_text(cut, shown, "direction", text);
    check_int(cut, shown, "calls", calls);
    check_int(cut, shown, "total_ns", total);
    check_int(cut, shown, "bytes", bytes);
    check_real(cut, shown, "bandwidth", (double)bytes / (double)total * 1e9);
    check_real(cut, shown, "max_bandwidth", best);
    assert_int_equal(cell(cut, shown, "src")->is, ROCL_DATUM_NONE);
}

static void test_top(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace(*state, &o);
    rocl_tables *all = stats_of(t, (rocl_stats_options){.by_agent = true});
    const rocl_table *whole = table_of(all, "summary"), *kernels = table_of(all, "kernels");
    for (size_t top = 1; top < 12; top += 3) {
        rocl_tables *few = stats_of(t, (rocl_stats_options){.by_agent = true, .top = top});
        const rocl_table *cut = table_of(few, "summary");
        size_t at = 0, from = 0;
        while (from < whole->row_count) {
            const char *domain = text_of(whole, from, "domain");
            size_t n = 0;
            while (from + n < whole->row_count &&
                   !strcmp(text_of(whole, from + n, "domain"), domain))
                n++;
            check_text(cut, at, "domain", domain);
            at = check_top(whole, cut, from, at, n, top);
            check_text(cut, at - 1, "domain", domain);
            from += n;
        }
        assert_int_equal(at, cut->row_count);
        cut = table_of(few, "kernels");
        assert_int_equal(check_top(kernels, cut, 0, 0, kernels->row_count, top), cut->row_count);
        check_top_copies(table_of(all, "copies"), table_of(few, "copies"), top);
        rocl_tables_free(few);
    }
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static char *json_of(const rocl_tables *all, size_t *len)
{
    char path[96];
    snprintf(path, sizeof path, "%s/tables.json", folder);
    const rocl_table_options o = {.path = path, .format = ROCL_TABLE_JSON};
    assert_int_equal(rocl_write_tables(all, &o, NULL), ROCL_OK);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*len + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *len, f), *len);
    fclose(f);
    unlink(path);
    return text;
}

static void test_same_bytes(void **state)
{
    char *first = NULL;
    size_t len = 0;
    for (unsigned i = 0; i < 6; i++) {
        const rocl_options o = {.jobs = 1 + i % 3, .memory = i < 3 ? 0 : (size_t)256 << 10};
        rocl_trace *t = open_trace(*state, &o);
        rocl_tables *all = stats_of(t, (rocl_stats_options){.by_agent = true, .by_stream = true});
        size_t n;
        char *text = json_of(all, &n);
        if (!first) {
            first = text;
            len = n;
        }
        assert_int_equal(n, len);
        assert_memory_equal(text, first, n);
        if (text != first)
            free(text);
        rocl_tables_free(all);
        rocl_trace_close(t);
    }
    free(first);
}

/* ---- what GPUs did, stretch by stretch ---- */

typedef struct work {
    int64_t start, end;
    int part; /* 0: compute, 1: communication, 2: copy */
    char *name;
} work;

enum { EVENTS_MAX = 4000 };

typedef struct gpu {
    work *events;
    size_t count;
    int64_t wall, busy, compute, exposed_communication, copy, both, exposed_copy, idle;
    int64_t kernels, copies;
    int64_t *gap_starts, *gaps; /* in order of time */
    size_t gap_count;
} gpu;

static void load(sqlite3 *db, gpu *g, int64_t key)
{
    sqlite3_stmt *stmt = prepare(db, "SELECT start, \"end\", part, name FROM ev WHERE gpu = ?1 OR "
                                     "gpu2 = ?1");
    *g = (gpu){.events = calloc(EVENTS_MAX, sizeof(work))};
    sqlite3_bind_int64(stmt, 1, key);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        assert_true(g->count < EVENTS_MAX);
        work *w = &g->events[g->count++];
        w->start = sqlite3_column_int64(stmt, 0);
        w->end = sqlite3_column_int64(stmt, 1);
        w->part = sqlite3_column_int(stmt, 2);
        w->name = strdup((const char *)sqlite3_column_text(stmt, 3));
        g->kernels += w->part != 2;
        g->copies += w->part == 2;
    }
    sqlite3_finalize(stmt);
}

static void unload(gpu *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->events[i].name);
    free(g->events);
    free(g->gaps);
    free(g->gap_starts);
}

/* The time from a to b, in which no event starts or ends. */
static void judge(gpu *g, int64_t a, int64_t b, int64_t min_gap)
{
    bool active[3] = {false};
    for (size_t i = 0; i < g->count; i++)
        if (g->events[i].start <= a && g->events[i].end >= b)
            active[g->events[i].part] = true;
    bool kernel = active[0] || active[1], any = kernel || active[2];
    int64_t n = b - a;
    g->wall += n;
    g->busy += any ? n : 0;
    g->idle += any ? 0 : n;
    g->compute += active[0] ? n : 0;
    g->exposed_communication += active[1] && !active[0] ? n : 0;
    g->copy += active[2] ? n : 0;
    g->both += active[2] && kernel ? n : 0;
    g->exposed_copy += active[2] && !kernel ? n : 0;
    if (!any && n >= min_gap) {
        g->gap_starts[g->gap_count] = a;
        g->gaps[g->gap_count++] = n;
    }
}

static void judge_all(gpu *g, int64_t min_gap)
{
    values edges = {.v = malloc(2 * g->count * sizeof(int64_t))};
    g->gaps = malloc(2 * g->count * sizeof *g->gaps);
    g->gap_starts = malloc(2 * g->count * sizeof *g->gap_starts);
    assert_true(edges.v && g->gaps && g->gap_starts);
    for (size_t i = 0; i < g->count; i++) {
        edges.v[edges.n++] = g->events[i].start;
        edges.v[edges.n++] = g->events[i].end;
    }
    qsort(edges.v, edges.n, sizeof *edges.v, by_value);
    for (size_t i = 1; i < edges.n; i++)
        if (edges.v[i - 1] < edges.v[i])
            judge(g, edges.v[i - 1], edges.v[i], min_gap);
    free(edges.v);
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : (double)NAN;
}

static void check_overlap(const rocl_table *t, size_t row, const gpu *g)
{
    check_int(t, row, "wall_ns", g->wall);
    check_int(t, row, "busy_ns", g->busy);
    check_int(t, row, "compute_ns", g->compute);
    check_int(t, row, "exposed_communication_ns", g->exposed_communication);
    check_int(t, row, "copy_ns", g->copy);
    check_int(t, row, "both_ns", g->both);
    check_int(t, row, "exposed_copy_ns", g->exposed_copy);
    check_int(t, row, "idle_ns", g->idle);
    check_int(t, row, "kernels", g->kernels);
    check_int(t, row, "copies", g->copies);
    check_real(t, row, "busy_percent", percent(g->busy, g->wall));
    check_real(t, row, "hidden_copy_percent", percent(g->both, g->copy));
}

static void check_gaps(const rocl_table *t, size_t row, const gpu *g)
{
    values d = {.v = malloc((g->gap_count + 1) * sizeof *d.v), .n = g->gap_count};
    assert_non_null(d.v);
    memcpy(d.v, g->gaps, d.n * sizeof *d.v);
    qsort(d.v, d.n, sizeof *d.v, by_value);
    check_int(t, row, "gaps", (int64_t)d.n);
    check_int(t, row, "total_ns", total_of(&d));
    check_real(t, row, "wall_percent", percent(total_of(&d), g->wall));
    if (d.n) {
        check_int(t, row, "min_ns", d.v[0]);
        check_int(t, row, "median_ns", median(&d));
        check_int(t, row, "p90_ns", percentile(&d, 90));
        check_int(t, row, "p99_ns", percentile(&d, 99));
        check_int(t, row, "max_ns", d.v[d.n - 1]);
    } else {
        assert_int_equal(cell(t, row, "max_ns")->is, ROCL_DATUM_NONE);
    }
    free(d.v);
}

/* From row `at` on; the row behind. */
static size_t check_buckets(const rocl_table *t, size_t at, const char *label, const gpu *g)
{
    static const struct {
        const char *name;
        int64_t from, to;
    } buckets[] = {
        {"< 1 us", 0, 1000},
        {"< 10 us", 1000, 10000},
        {"< 100 us", 10000, 100000},
        {"< 1 ms", 100000, 1000000},
        {"< 10 ms", 1000000, 10000000},
        {"< 100 ms", 10000000, 100000000},
        {"< 1 s", 100000000, 1000000000},
        {">= 1 s", 1000000000, INT64_MAX},
    };
    int64_t all = 0;
    for (size_t k = 0; k < g->gap_count; k++)
        all += g->gaps[k];
    for (size_t i = 0; i < COUNT(buckets); i++) {
        int64_t n = 0, total = 0;
        for (size_t k = 0; k < g->gap_count; k++)
            if (g->gaps[k] >= buckets[i].from && g->gaps[k] < buckets[i].to) {
                n++;
                total += g->gaps[k];
            }
        if (!n)
            continue;
        assert_true(at < t->row_count);
        check_text(t, at, "gpu", label);
        check_text(t, at, "bucket", buckets[i].name);
        check_int(t, at, "count", n);
        check_int(t, at, "total_ns", total);
        check_real(t, at++, "percent", percent(total, all));
    }
    return at;
}

/* The longest gap that was not shown yet; of equal ones the first. */
static size_t pick_gap(const gpu *g, const bool *shown)
{
    size_t best = g->gap_count;
    for (size_t k = 0; k < g->gap_count; k++)
        if (!shown[k] && (best == g->gap_count || g->gaps[k] > g->gaps[best]))
            best = k;
    return best;
}

static bool named(const gpu *g, const char *name, int64_t start, int64_t end)
{
    for (size_t i = 0; i < g->count; i++)
        if (!strcmp(g->events[i].name, name) && (start < 0 || g->events[i].start == start) &&
            (end < 0 || g->events[i].end == end))
            return true;
    return false;
}

static size_t check_longest(const rocl_table *t, size_t at, const char *label, const gpu *g,
                            size_t top)
{
    bool *shown = calloc(g->gap_count + 1, sizeof *shown);
    assert_non_null(shown);
    for (size_t n = 0; n < g->gap_count && n < (top && top < 20 ? top : 20); n++, at++) {
        size_t k = pick_gap(g, shown);
        shown[k] = true;
        assert_true(at < t->row_count);
        check_text(t, at, "gpu", label);
        check_int(t, at, "start_ns", g->gap_starts[k]);
        check_int(t, at, "gap_ns", g->gaps[k]);
        assert_true(named(g, text_of(t, at, "before"), -1, g->gap_starts[k]));
        assert_true(named(g, text_of(t, at, "after"), g->gap_starts[k] + g->gaps[k], -1));
    }
    free(shown);
    return at;
}

/* "GPU 1", or "GPU 1 on host"; GPUs are numbered from 0 on each machine, also those without work.
 */
static void gpu_label(char *text, size_t size, const rocl_trace *t, int64_t key)
{
    int64_t seen[64];
    int n = 0, id = 0;
    const char *host = "?";
    for (size_t i = 0; i < rocl_trace_captures(t); i++) {
        const rocl_capture *c = rocl_trace_capture(t, i);
        if (c->machine != (uint64_t)key / 100000)
            continue;
        host = rocl_text(t, c->nodes[0].hostname, NULL);
        for (uint32_t k = 0; k < c->agent_count; k++) {
            bool known = c->agents[k].type != ROCL_AGENT_GPU;
            for (int s = 0; s < n; s++)
                known = known || seen[s] == c->agents[k].absolute_index;
            if (known)
                continue;
            id += c->agents[k].absolute_index < key % 100000;
            assert_true(n < 64);
            seen[n++] = c->agents[k].absolute_index;
        }
    }
    if (rocl_trace_machines(t) > 1)
        snprintf(text, size, "GPU %d on %s", id, host);
    else
        snprintf(text, size, "GPU %d", id);
}

static void check_gpus(sqlite3 *db, const rocl_trace *t, const rocl_tables *all,
                       const rocl_stats_options *o)
{
    const rocl_table *overlap = table_of(all, "overlap"), *gaps = table_of(all, "gaps");
    const rocl_table *buckets = table_of(all, "gap_buckets");
    const rocl_table *longest = table_of(all, "longest_gaps");
    size_t row = 0, bucket = 0, gap = 0;
    sqlite3_stmt *keys = prepare(db, "SELECT gpu FROM ev WHERE gpu >= 0 UNION SELECT gpu2 FROM ev "
                                     "WHERE gpu2 >= 0 ORDER BY 1");
    for (; sqlite3_step(keys) == SQLITE_ROW; row++) {
        char label[320];
        gpu g;
        assert_true(row < overlap->row_count && row < gaps->row_count);
        load(db, &g, sqlite3_column_int64(keys, 0));
        judge_all(&g, o->min_gap);
        gpu_label(label, sizeof label, t, sqlite3_column_int64(keys, 0));
        check_text(overlap, row, "gpu", label);
        check_text(gaps, row, "gpu", label);
        check_overlap(overlap, row, &g);
        check_gaps(gaps, row, &g);
        bucket = check_buckets(buckets, bucket, label, &g);
        gap = check_longest(longest, gap, label, &g, o->top);
        unload(&g);
    }
    sqlite3_finalize(keys);
    assert_int_equal(overlap->row_count, row);
    assert_int_equal(gaps->row_count, row);
    assert_int_equal(buckets->row_count, bucket);
    assert_int_equal(longest->row_count, gap);
}

static void check_busy(const char *name, const rocl_stats_options *o)
{
    const rocl_options open = {.jobs = 2};
    rocl_trace *t = open_trace(name, &open);
    sqlite3 *db = events_of(t);
    rocl_tables *all = stats_of(t, *o);
    check_gpus(db, t, all, o);
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

static void test_busy(void **state)
{
    const rocl_stats_options all = {0}, few = {.top = 3, .min_gap = 1500};
    check_busy(*state, &all);
    check_busy(*state, &few);
}

/* ---- traces that a profiler would not write ---- */

typedef struct world {
    sqlite3 *db;
    char path[96], suffix[64];
    uint64_t random;
} world;

static uint64_t draw(world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (w->random >> 11) % below;
}

static void world_sql(world *w, const char *sql)
{
    base b = {.machine = 0};
    memcpy(b.suffix, w->suffix, sizeof b.suffix);
    char *text = expand(w->db, &b, sql);
    run_sql(w->db, text);
    sqlite3_free(text);
}

/* A copy of the database without events, with kernels 9001 (compute) and 9002 (communication). */
static void world_begin(world *w, uint64_t seed)
{
    const char *fixtures = getenv("FIXTURES");
    char command[640];
    *w = (world){.random = seed * 0x9e3779b97f4a7c15u + 1};
    if (!fixtures)
        skip();
    snprintf(w->path, sizeof w->path, "%s/world.db", folder);
    snprintf(command, sizeof command, "cp '%s/empty-tables.db' %s && chmod u+w %s", fixtures,
             w->path, w->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(sqlite3_open(w->path, &w->db), SQLITE_OK);
    sqlite3_stmt *stmt = prepare(w->db, "SELECT substr(name, 15) FROM sqlite_master WHERE type = "
                                        "'table' AND name LIKE 'rocpd_metadata%'");
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(w->suffix, sizeof w->suffix, "%s", sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(w->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    world_sql(w, "UPDATE rocpd_info_process%S SET init = 0; INSERT INTO "
                 "rocpd_info_kernel_symbol%S(id, nid, pid, code_object_id, kernel_name, "
                 "display_name) SELECT 9001, nid, pid, code_object_id, 'gemm', 'gemm' FROM "
                 "rocpd_info_kernel_symbol%S LIMIT 1; INSERT INTO rocpd_info_kernel_symbol%S(id, "
                 "nid, pid, code_object_id, kernel_name, display_name) SELECT 9002, nid, pid, "
                 "code_object_id, 'ncclReduce', 'ncclReduce' FROM rocpd_info_kernel_symbol%S "
                 "LIMIT 1; INSERT INTO rocpd_string%S(id, string) VALUES (9001, 'some copy'), "
                 "(9002, 'other copy')");
}

/* Agents 0 and 1 are CPUs, 2 to 5 GPUs; -1 is none. */
static void add_kernel(world *w, int64_t agent, bool communication, int64_t start, int64_t end)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO rocpd_kernel_dispatch%%S(nid, pid, agent_id, kernel_id, dispatch_id, "
        "queue_id, stream_id, start, \"end\", workgroup_size_x, workgroup_size_y, "
        "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z) SELECT nid, id, %lld, %d, 1, 0, "
        "0, %lld, %lld, 64, 1, 1, 64, 1, 1 FROM rocpd_info_process%%S",
        agent, communication ? 9002 : 9001, start, end);
    world_sql(w, sql);
    sqlite3_free(sql);
}

static void add_copy(world *w, int64_t src, int64_t dst, int64_t start, int64_t end, int64_t bytes)
{
    char *sql = sqlite3_mprintf(
        "INSERT INTO rocpd_memory_copy%%S(nid, pid, start, \"end\", name_id, src_agent_id, "
        "dst_agent_id, size) SELECT nid, id, %lld, %lld, %lld, nullif(%lld, -1), nullif(%lld, "
        "-1), %lld FROM rocpd_info_process%%S",
        start, end, 9001 + start % 2, src, dst, bytes);
    world_sql(w, sql);
    sqlite3_free(sql);
}

static void world_check(world *w, const rocl_stats_options *o, bool groups)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10};
    run_sql(w->db, "COMMIT");
    sqlite3_close(w->db);
    rocl_trace *t = open_trace(w->path, &open);
    sqlite3 *db = events_of(t);
    rocl_tables *all = stats_of(t, *o);
    check_gpus(db, t, all, o);
    if (groups)
        check_tables(db, all, o);
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* Times are few, so that events touch, nest and are the same; or many, for gaps of all lengths. */
static void add_random(world *w, uint64_t steps, uint64_t longest)
{
    static const int64_t agents[] = {2, 3, 3, 0, -1};
    int64_t start = (int64_t)(1 + draw(w, steps)), end = start;
    if (draw(w, 5))
        end += (int64_t)draw(w, longest + 1);
    uint64_t kind = draw(w, 10);
    if (kind < 6)
        add_kernel(w, agents[draw(w, 4)], kind < 2, start, end);
    else
        add_copy(w, agents[draw(w, 5)], agents[draw(w, 5)], start, end, (int64_t)draw(w, 1 << 20));
}

static void test_random(void **state)
{
    static const struct {
        uint64_t steps, longest, rows;
    } sizes[] = {{40, 4, 20},
                 {200, 3, 120},
                 {1000, 40, 120},
                 {20000000, 100000, 120},
                 {5000000000, 20000000, 120}};
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        size_t size = seed % COUNT(sizes);
        const rocl_stats_options o = {
            .min_gap = seed % 3 ? 0 : (int64_t)sizes[size].steps / 400,
            .by_agent = seed % 2,
            .sort = (rocl_sort_by)(seed % 5),
        };
        world w;
        world_begin(&w, seed);
        for (uint64_t i = 0; i < sizes[size].rows; i++)
            add_random(&w, sizes[size].steps, sizes[size].longest);
        world_check(&w, &o, true);
    }
}

static void test_few(void **state)
{
    const rocl_stats_options o = {0};
    world w;
    (void)state;
    world_begin(&w, 1); /* nothing */
    world_check(&w, &o, true);
    world_begin(&w, 1); /* one of no length */
    add_kernel(&w, 2, false, 5, 5);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* one copy within a GPU counts once */
    add_copy(&w, 2, 2, 5, 15, 100);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* a gap, in which something of no length is */
    add_kernel(&w, 2, false, 10, 20);
    add_kernel(&w, 2, true, 30, 30);
    add_kernel(&w, 2, false, 1030, 1040);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* touching, the same, nested */
    add_kernel(&w, 2, false, 10, 20);
    add_kernel(&w, 2, true, 20, 40);
    add_copy(&w, 0, 2, 20, 40, 1);
    add_copy(&w, 2, 3, 25, 30, 1);
    add_copy(&w, -1, 2, 38, 50, 0);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* not on a GPU */
    add_kernel(&w, 0, false, 10, 20);
    add_copy(&w, 0, 1, 10, 20, 1);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* only what comes next to a gap has its name there */
    for (int64_t i = 0; i < 45; i++)
        add_kernel(&w, 2, i % 2, 100 * i + 1, 100 * i + 1 + i % 7);
    world_check(&w, &o, true);
}

/* Equal averages are equal, whatever they are of: then the name decides. */
static void test_equal_averages(void **state)
{
    static const int64_t durations[2][3] = {{1, 7, 17}, {14, 1, 10}};
    const rocl_options open = {.jobs = 1};
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 6; i++)
        add_kernel(&w, 2, i / 3, 100, 100 + durations[i / 3][i % 3]);
    run_sql(w.db, "COMMIT");
    sqlite3_close(w.db);
    rocl_trace *t = open_trace(w.path, &open);
    rocl_tables *all = stats_of(t, (rocl_stats_options){.sort = ROCL_BY_AVERAGE});
    check_text(table_of(all, "kernels"), 0, "name", "gemm");
    check_text(table_of(all, "kernels"), 1, "name", "ncclReduce");
    rocl_tables_free(all);
    rocl_trace_close(t);
}

/* Sums that are beyond what a number holds stay at the largest. */
static void test_largest(void **state)
{
    const rocl_options open = {.jobs = 1};
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 3; i++) {
        add_kernel(&w, 2, i == 2, 0, INT64_MAX);
        add_copy(&w, 0, 2, 0, INT64_MAX - i, INT64_MAX);
    }
    run_sql(w.db, "COMMIT");
    sqlite3_close(w.db);
    rocl_trace *t = open_trace(w.path, &open);
    rocl_tables *all = stats_of(t, (rocl_stats_options){.top = 1});
    const rocl_table *domains = table_of(all, "domains"), *copies = table_of(all, "copies");
    const rocl_table *kernels = table_of(all, "kernels"), *overlap = table_of(all, "overlap");
    check_int(domains, 0, "total_ns", INT64_MAX);
    check_int(domains, 1, "total_ns", INT64_MAX);
    check_int(domains, 0, "max_ns", INT64_MAX);
    check_int(kernels, 0, "total_ns", INT64_MAX);
    check_int(kernels, 0, "median_ns", INT64_MAX);
    assert_true(copies->row_count > 0);
    check_int(copies, 0, "bytes", INT64_MAX);
    check_int(overlap, 0, "wall_ns", INT64_MAX);
    check_int(overlap, 0, "both_ns", INT64_MAX);
    check_int(overlap, 0, "idle_ns", 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

/* ---- little or nothing to say ---- */

static void test_nothing(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace("empty-tables", &o);
    rocl_tables *all = NULL;
    static const size_t tables_of[ROCL_REPORTS] = {1, 1, 1, 1, 3, 4, 2, 1, 2, 1, 1, 3, 2, 3};
    (void)state;
    for (uint32_t reports = 0; reports <= ALL_REPORTS; reports += 37) { /* of many combinations */
        const rocl_stats_options s = {.reports = reports, .top = reports % 3, .by_rank = true};
        size_t len, tables = 0;
        for (unsigned r = 0; r < ROCL_REPORTS; r++)
            tables += reports >> r & 1 ? tables_of[r] : 0;
        assert_int_equal(rocl_stats(t, &s, &all, NULL), ROCL_OK);
        assert_int_equal(all->count, tables);
        for (size_t i = 0; i < all->count; i++)
            assert_int_equal(all->tables[i].row_count, 0);
        free(json_of(all, &len));
        rocl_tables_free(all);
    }
    rocl_trace_close(t);
}

/* Records left out are in no number, and a strict run over them comes out with nothing. */
static void test_faults(void **state)
{
    rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = ALL_REPORTS};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = open_trace("nasty-3.0.0", &o);
    rocl_tables *all = NULL;
    (void)state;
    assert_int_equal(rocl_stats(t, &s, &all, err), ROCL_PARTIAL);
    const rocl_table *domains = table_of(all, "domains");
    uint64_t calls = 0, events = 0;
    for (size_t row = 0; row < domains->row_count; row++)
        calls += (uint64_t)int_of(domains, row, "calls");
    for (int k = 0; k < ROCL_KINDS; k++)
        if (k != ROCL_COUNTER && k != ROCL_SPM && k != ROCL_SAMPLE)
            events += rocl_trace_events(t, (rocl_kind)k);
    assert_int_equal(calls, events);
    rocl_tables_free(all);
    rocl_trace_close(t);
    o.strict = true;
    t = open_trace("nasty-3.0.0", &o);
    all = NULL;
    assert_int_equal(rocl_stats(t, &s, &all, err), ROCL_INPUT);
    assert_null(all);
    assert_true(*rocl_error_text(err));
    rocl_error_free(err);
    rocl_trace_close(t);
}

/* The names and numbers of the reports, which tools and their users rely on. */
static void test_names(void **state)
{
    static const char *const names[] = {"domains",   "summary", "kernels",  "copies",  "overlap",
                                        "gaps",      "launch",  "markers",  "ranks",   "timeline",
                                        "histogram", "memory",  "counters", "streams", ""};
    (void)state;
    for (int i = 0; i <= ROCL_REPORTS; i++)
        assert_string_equal(rocl_report_name((rocl_report)i), names[i]);
}

/* ---- AMD's summaries ---- */

typedef struct amd_row {
    char name[4096];
    double calls, total, average, percent, min, max, stddev; /* not a number: empty */
} amd_row;

static const char *data_folder(void)
{
    const char *s = getenv("ROCLINE_DATA");
    if (!s)
        s = "../shared/data";
    char path[512];
    snprintf(path, sizeof path, "%s/amd/e4/summary", s);
    if (access(path, R_OK))
        skip();
    return s;
}

/* name,calls,total,average,percent,min,max,stddev; the name may be in quotes. */
static bool next_row(FILE *f, amd_row *r)
{
    char line[8192], *p = line, *to = r->name;
    double *fields[] = {&r->calls, &r->total, &r->average, &r->percent,
                        &r->min,   &r->max,   &r->stddev};
    if (!fgets(line, sizeof line, f))
        return false;
    bool quoted = *p == '"';
    for (p += quoted; quoted ? *p != '"' || p[1] == '"' : *p != ','; *to++ = *p++)
        p += quoted && *p == '"';
    *to = 0;
    p += quoted;
    for (size_t i = 0; i < COUNT(fields); i++) {
        char *end;
        assert_true(*p == ',');
        *fields[i] = strtod(++p, &end);
        if (end == p)
            *fields[i] = (double)NAN;
        p = end;
    }
    return true;
}

static FILE *open_summary(const char *name)
{
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/amd/e4/summary/out_%s_summary.csv", data_folder(), name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    return f;
}

static size_t find_row(const rocl_table *t, const char *domain, const char *name)
{
    for (size_t i = 0; i < t->row_count; i++)
        if ((!domain || !strcmp(text_of(t, i, "domain"), domain)) &&
            !strcmp(text_of(t, i, "name"), name))
            return i;
    print_error("no row %s %s\n", domain ? domain : "", name);
    fail();
    return 0;
}

static void check_amd(const rocl_table *t, const char *file, const char *domain)
{
    FILE *f = open_summary(file);
    amd_row r;
    size_t theirs = 0, ours = 0;
    for (; next_row(f, &r); theirs++) {
        size_t row = find_row(t, domain, r.name);
        check_int(t, row, "calls", (int64_t)r.calls);
        check_int(t, row, "total_ns", (int64_t)r.total);
        check_int(t, row, "min_ns", (int64_t)r.min);
        check_int(t, row, "max_ns", (int64_t)r.max);
        check_real(t, row, "average_ns", r.average);
        check_real(t, row, "percent", r.percent);
        check_real(t, row, "stddev_ns", r.stddev);
    }
    for (size_t i = 0; i < t->row_count; i++)
        ours += !strcmp(text_of(t, i, "domain"), domain);
    assert_int_equal(theirs, ours);
    assert_true(theirs > 0);
    fclose(f);
}

/* Theirs: averages and deviations of domains are sums of those of the names, and scratch memory is
 * among the allocations. */
static void check_amd_domains(const rocl_table *t)
{
    FILE *f = open_summary("domain");
    amd_row r;
    size_t scratch = find_row(t, NULL, "SCRATCH_MEMORY"), rows = 0;
    for (; next_row(f, &r); rows++) {
        size_t row = find_row(t, NULL, r.name);
        bool both = !strcmp(r.name, "MEMORY_ALLOCATIONS");
        check_int(t, row, "calls", (int64_t)r.calls - (both ? int_of(t, scratch, "calls") : 0));
        check_int(t, row, "total_ns",
                  (int64_t)r.total - (both ? int_of(t, scratch, "total_ns") : 0));
        check_int(t, row, "max_ns", (int64_t)r.max);
        if (!both)
            check_int(t, row, "min_ns", (int64_t)r.min);
    }
    assert_int_equal(rows, t->row_count);
    fclose(f);
}

static void check_amd_totals(const rocl_table *t, const char *file, const char *name,
                             const char *other)
{
    FILE *f = open_summary(file);
    amd_row r;
    size_t row = find_row(t, NULL, name);
    int64_t calls = int_of(t, row, "calls"), total = int_of(t, row, "total_ns");
    if (other) {
        row = find_row(t, NULL, other);
        calls += int_of(t, row, "calls");
        total += int_of(t, row, "total_ns");
    }
    while (next_row(f, &r)) {
        calls -= (int64_t)r.calls;
        total -= (int64_t)r.total;
    }
    assert_int_equal(calls, 0);
    assert_int_equal(total, 0);
    fclose(f);
}

static void test_amd(void **state)
{
    static const char *const files[][2] = {{"kernels", "KERNELS"},
                                           {"hip", "HIP"},
                                           {"hsa", "HSA"},
                                           {"markers", "MARKERS"},
                                           {"memory_copies", "MEMORY_COPIES"}};
    const rocl_options o = {.jobs = 2};
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/amd/e4.db", data_folder());
    rocl_trace *t = open_trace(path, &o);
    rocl_tables *all = stats_of(t, (rocl_stats_options){0});
    for (size_t i = 0; i < COUNT(files); i++)
        check_amd(table_of(all, "summary"), files[i][0], files[i][1]);
    check_amd_domains(table_of(all, "domains"));
    check_amd_totals(table_of(all, "domains"), "memory_allocations", "MEMORY_ALLOCATIONS",
                     "SCRATCH_MEMORY");
    check_amd_totals(table_of(all, "domains"), "scratch_memory", "SCRATCH_MEMORY", NULL);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    static const CMUnitTestFunction of_traces[] = {test_groups, test_sorts, test_top,
                                                   test_same_bytes, test_busy};
    static struct CMUnitTest tests[COUNT(of_traces) * COUNT(traces) + 8];
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_random),         cmocka_unit_test(test_few),
        cmocka_unit_test(test_equal_averages), cmocka_unit_test(test_largest),
        cmocka_unit_test(test_nothing),        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_amd)};
    static const char *const names[] = {"groups", "sorts", "top", "same bytes", "busy"};
    static char labels[COUNT(of_traces) * COUNT(traces)][96];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (size_t k = 0; k < COUNT(of_traces); k++, n++) {
            snprintf(labels[n], sizeof labels[n], "%s: %s", names[k], traces[i]);
            tests[n] = (struct CMUnitTest){labels[n], of_traces[k], NULL, NULL,
                                           (void *)(uintptr_t)traces[i]};
        }
    memcpy(tests + n, others, sizeof others);
    n += COUNT(others);
    return _cmocka_run_group_tests("stats", tests, n, enter, leave);
}

/* Tables of groups against GROUP BY: their rows are the groups, and their numbers come from the
 * sorted durations of each. */
#include "tests/unit/stats_check.h"

int by_value(const void *a, const void *b)
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
            d.sized += bytes > 0;
            d.sized_ns += bytes > 0 ? d.v[d.n] : 0;
            if (d.v[d.n])
                d.best_rate = fmax(d.best_rate, (double)bytes / (double)d.v[d.n] * 1e9);
        }
        d.n++;
    }
    if (d.n)
        qsort(d.v, d.n, sizeof *d.v, by_value);
    return d;
}

int64_t total_of(const values *d)
{
    int64_t sum = 0;
    for (size_t i = 0; i < d->n; i++)
        sum += d->v[i];
    return sum;
}

int64_t percentile(const values *d, size_t percent)
{
    for (size_t i = 0; i < d->n; i++)
        if ((i + 1) * 100 >= d->n * percent)
            return d->v[i];
    fail();
    return 0;
}

int64_t median(const values *d)
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
        check_real(t, row, "bytes", d->sized ? (double)d->bytes : (double)NAN);
        check_real(t, row, "bandwidth",
                   d->sized_ns ? (double)d->bytes / (double)d->sized_ns * 1e9 : (double)NAN);
        check_real(t, row, "max_bandwidth", d->sized ? d->best_rate : (double)NAN);
    }
}

/* ---- tables of groups ------------------------------------------------------------------------ */

/* A table: its columns that are the key of a group, and what they are called in `ev`. */
typedef struct grouping {
    const char *columns[8][2];
    size_t count;
    const char *where;  /* which events */
    const char *domain; /* column of `ev` in which percents are of the whole; NULL: all */
    const char *whole;  /* or which events they are shares of, others having none */
} grouping;

static void add_column(grouping *g, const char *column, const char *field)
{
    g->columns[g->count][0] = column;
    g->columns[g->count++][1] = field;
}

static void bind_cell(sqlite3_stmt *stmt, int at, const rocl_datum *d)
{
    if (d->type == ROCL_DATUM_TEXT)
        sqlite3_bind_text(stmt, at, d->text, (int)d->len, SQLITE_STATIC);
    else if (d->type == ROCL_DATUM_INT)
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
                                g->whole ? g->whole : g->where, g->domain ? g->domain : "NULL",
                                g->domain ? text_of(t, row, "domain") : NULL);
    const bool of_whole = !g->whole || cell(t, row, "percent")->type != ROCL_DATUM_NONE;
    double all = of_whole ? (double)number(db, sql) : 0;
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

#define SIZE_CLASS                                                                                 \
    "(SELECT max(low) FROM (SELECT 0 AS low UNION VALUES (1024), (4096), (16384), (65536), "       \
    "(262144), (1048576), (4194304), (16777216), (67108864), (268435456), (1073741824)) WHERE "    \
    "low <= bytes AND bytes > 0)"

void check_tables(sqlite3 *db, const rocl_tables *all, const rocl_stats_options *o)
{
    grouping domains = {.where = "1", .whole = "domain IN ('KERNELS', 'MEMORY_COPIES')"};
    grouping summary = {.where = "1", .domain = "domain"};
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
    add_column(&copies, "from_bytes", SIZE_CLASS);
    check_groups(db, table_of(all, "copy_sizes"), &copies);
}

void check_summary_group(sqlite3 *db, const rocl_tables *all, const char *where)
{
    grouping group = {.where = where};
    add_column(&group, "domain", "domain");
    add_column(&group, "name", "name");
    check_groups(db, table_of(all, "summary_groups"), &group);
}

/* The histogram of durations against GROUP BY. */
#include "test_stats_gpus.h"

static const char *const classes =
    "CREATE TEMP TABLE classes AS WITH RECURSIVE p(v) AS (SELECT 1 UNION ALL SELECT v * 10 FROM p "
    "WHERE v < 1000000000000000000), c(lo) AS (SELECT 0 UNION ALL SELECT v FROM p UNION ALL SELECT "
    "v * 2 FROM p UNION ALL SELECT v * 5 FROM p) SELECT lo, lead(lo) OVER (ORDER BY lo) AS hi FROM "
    "c";

static const char *const runs =
    "CREATE TEMP TABLE runs AS SELECT s.display_name AS name, x.\"end\" - x.start AS ns FROM "
    "rocpd_kernel_dispatch x JOIN rocpd_info_kernel_symbol s ON s.id = x.kernel_id AND s.guid = "
    "x.guid";

static const char *const ranks =
    "CREATE TEMP TABLE ranks AS SELECT name, row_number() OVER (ORDER BY sum(ns) DESC, name) AS n "
    "FROM runs GROUP BY name";

/* ?1: names that are shown; 0: all. */
static const char *const expected =
    "WITH shown AS (SELECT CASE WHEN ?1 AND n > ?1 THEN ?1 + 1 ELSE n END AS n, CASE WHEN ?1 AND "
    "n > ?1 THEN '(' || ((SELECT max(n) FROM ranks) - ?1) || ' others)' ELSE name END AS label, ns "
    "FROM runs JOIN ranks USING (name)), whole AS (SELECT n, count(*) AS calls, sum(ns) AS total "
    "FROM shown GROUP BY n) SELECT label, lo, hi, count(*), sum(ns), calls, total FROM shown JOIN "
    "classes ON ns >= lo AND (hi IS NULL OR ns < hi) JOIN whole USING (n) GROUP BY n, lo ORDER BY "
    "n, lo";

static void check_row(const rocl_table *t, size_t row, sqlite3_stmt *sql)
{
    int64_t count = sqlite3_column_int64(sql, 3), total = sqlite3_column_int64(sql, 4);
    assert_string_equal(text_of(t, row, "name"), sqlite3_column_text(sql, 0));
    check_int(t, row, "from_ns", sqlite3_column_int64(sql, 1));
    if (sqlite3_column_type(sql, 2) == SQLITE_NULL)
        assert_int_equal(cell(t, row, "to_ns")->type, ROCL_DATUM_NONE);
    else
        check_int(t, row, "to_ns", sqlite3_column_int64(sql, 2));
    check_int(t, row, "count", count);
    check_int(t, row, "total_ns", total);
    check_percent(t, row, "count_percent", count, sqlite3_column_int64(sql, 5));
    check_percent(t, row, "total_percent", total, sqlite3_column_int64(sql, 6));
}

/* For people: the same rows, a name once, and bars. */
static void check_picture(const rocl_table *t, const rocl_table *data)
{
    assert_int_equal(t->row_count, data->row_count);
    for (size_t i = 0; i < t->row_count; i++) {
        const char *name = text_of(data, i, "name");
        bool again = i && !strcmp(text_of(data, i - 1, "name"), name);
        assert_string_equal(text_of(t, i, "name"), again ? "" : name);
        double share = cell(data, i, "count_percent")->r;
        assert_int_equal(strlen(text_of(t, i, "bar")), (size_t)ceil(share / 5 - 1e-9));
        check_int(t, i, "total_ns", cell(data, i, "total_ns")->i);
    }
}

static void check_trace(const char *name, size_t top)
{
    const rocl_options o = {.jobs = 2};
    rocl_stats_options s = {.reports = BIT(ROCL_REPORT_KERNELS), .top = top};
    rocl_trace *t = open_trace(name, &o);
    rocl_tables *all = stats_of(t, &s);
    const rocl_table *data = table_of(all, "histogram");
    sqlite3 *db;
    size_t row = 0;
    assert_int_equal(sqlite3_open(rocl_trace_capture(t, 0)->path, &db), SQLITE_OK);
    run_sql(db, classes);
    run_sql(db, runs);
    run_sql(db, ranks);
    sqlite3_stmt *sql = prepare(db, expected);
    sqlite3_bind_int64(sql, 1, (int64_t)top);
    for (; sqlite3_step(sql) == SQLITE_ROW; row++)
        check_row(data, row, sql);
    sqlite3_finalize(sql);
    sqlite3_close(db);
    assert_int_equal(data->row_count, row);
    s.pictures = s.ascii = true;
    rocl_tables *people = stats_of(t, &s);
    check_picture(table_of(people, "histogram"), data);
    rocl_tables_free(people);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_fixtures(void **state)
{
    static const char *const names[] = {"everything", "schema-3.0.0", "schema-3.0.5", "merged",
                                        "empty-tables"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        for (size_t top = 0; top < 4; top++)
            check_trace(names[i], top * top);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        world w;
        world_begin(&w, seed);
        add_random(&w, 200, 1000, seed % 2 ? 12 : (uint64_t)1 << seed);
        world_end(&w);
        check_trace(w.path, seed % 5);
    }
}

/* Every limit, the time before it and the time after it. */
static void test_limits(void **state)
{
    static const int64_t steps[] = {2, 5, 10};
    world w;
    (void)state;
    /* Beyond, SQL cannot make the sums. */
    for (int64_t power = 1; power < INT64_C(100000000000000000); power *= 10) {
        world_begin(&w, 1);
        for (size_t i = 0; i < COUNT(steps); i++)
            for (int64_t near = -1; near <= 1; near++)
                add_kernel(&w, 2, (int)i, 5, 5 + power * steps[i] + near);
        add_kernel(&w, 2, 0, 5, 5);
        world_end(&w);
        check_trace(w.path, 0);
    }
    world_begin(&w, 1);
    add_kernel(&w, 2, 0, 0, INT64_MAX);
    world_end(&w);
    check_trace(w.path, 0);
}

/* Sums stay at the largest number. */
static void test_largest(void **state)
{
    const rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = BIT(ROCL_REPORT_KERNELS)};
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 3; i++)
        add_kernel(&w, 2, 0, i, INT64_MAX);
    world_end(&w);
    rocl_trace *t = open_trace(w.path, &o);
    rocl_tables *all = stats_of(t, &s);
    check_int(table_of(all, "histogram"), 0, "count", 3);
    check_int(table_of(all, "histogram"), 0, "total_ns", INT64_MAX);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_same_bytes(void **state)
{
    (void)state;
    check_same_bytes_of_gpus((rocl_stats_options){.reports = BIT(ROCL_REPORT_KERNELS), .top = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),   cmocka_unit_test(test_random),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_largest),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests_name("stats histogram", tests, enter, leave);
}

/* The report on steps against SQL on the same databases, and on databases of random events: whose
 * work it is by a search through all ranges, and unions as sums over rows in order. */
#include "test_stats_sql.h"

static const char *const expected =
    "CREATE TABLE expected AS SELECT name, start, \"end\" - start AS wall, "
    "(SELECT coalesce(max(o.\"end\") - min(o.start), 0) FROM owned o WHERE o.owner = "
    "s.host) AS "
    "span, " UNION_OF(
        "SELECT o.start AS b, o.\"end\" AS e FROM owned o WHERE o.owner = "
        "s.host") " AS busy, " UNION_OF("SELECT o.start AS b, o.\"end\" AS e FROM owned o "
                                        "WHERE o.owner = s.host AND NOT "
                                        "o.copy") " AS compute, \"end\" - start "
                                                  "- " UNION_OF("SELECT max(o.start, "
                                                                "s.start) "
                                                                "AS b, min(o.\"end\", "
                                                                "s.\"end\") AS e FROM "
                                                                "owned o "
                                                                "WHERE "
                                                                "o.owner = s.host AND "
                                                                "o.start "
                                                                "< s.\"end\" AND o.\"end\" "
                                                                "> "
                                                                "s.start") " AS no_gpu, "
                                                                           "(SELECT "
                                                                           "count(*) "
                                                                           "FROM owned o "
                                                                           "WHERE o.owner "
                                                                           "= "
                                                                           "s.host AND NOT "
                                                                           "o.copy) AS "
                                                                           "kernels, "
                                                                           "(SELECT "
                                                                           "count(*) "
                                                                           "FROM owned o "
                                                                           "WHERE o.owner "
                                                                           "= "
                                                                           "s.host AND "
                                                                           "o.copy) AS "
                                                                           "copies, "
                                                                           "(SELECT "
                                                                           "count(DISTINCT "
                                                                           "o.call) FROM "
                                                                           "owned o WHERE "
                                                                           "o.owner = "
                                                                           "s.host) "
                                                                           "AS launches "
                                                                           "FROM "
                                                                           "step s";

static void put_steps(sqlite3 *db, const rocl_table *t)
{
    static const char *const columns[] = {"start_ns",    "wall_ns",    "gpu_span_ns",
                                          "gpu_busy_ns", "compute_ns", "no_gpu_ns",
                                          "kernels",     "copies",     "launches"};
    run_sql(db, "CREATE TABLE got(name TEXT, start INT, wall INT, span INT, busy INT, compute INT, "
                "no_gpu INT, kernels INT, copies INT, launches INT)");
    sqlite3_stmt *add = prepare(db, "INSERT INTO got VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t row = 0; row < t->row_count; row++) {
        sqlite3_bind_text(add, 1, cell(t, row, "step")->text, -1, SQLITE_TRANSIENT);
        for (size_t i = 0; i < COUNT(columns); i++)
            sqlite3_bind_int64(add, 2 + (int)i, int_of(t, row, columns[i]));
        assert_int_equal(sqlite3_step(add), SQLITE_DONE);
        sqlite3_reset(add);
        assert_int_equal(int_of(t, row, "idle_ns"),
                         int_of(t, row, "gpu_span_ns") - int_of(t, row, "gpu_busy_ns"));
        assert_int_equal(int_of(t, row, "gpu_busy_ns"),
                         int_of(t, row, "compute_ns") + int_of(t, row, "exposed_communication_ns") +
                             int_of(t, row, "exposed_copy_ns"));
    }
    sqlite3_finalize(add);
}

/* Copies, and the longest gap between what a step launched. */
static void put_overlaps(sqlite3 *db, const rocl_table *t)
{
    run_sql(db, "CREATE TABLE overlap(name TEXT, start INT, wall INT, copies INT, gap INT); CREATE "
                "TABLE expected_overlap AS SELECT name, start, \"end\" - start AS wall, " UNION_OF(
                    "SELECT o.start AS b, o.\"end\" AS e FROM owned o WHERE o.owner = s.host AND "
                    "o.copy") " AS copies, (SELECT coalesce(max(b - before), 0) FROM (SELECT "
                              "o.start AS b, max(o.\"end\") OVER (ORDER BY o.start, o.\"end\" ROWS "
                              "BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM owned o "
                              "WHERE o.owner = s.host) WHERE before < b) AS gap FROM step s");
    sqlite3_stmt *add = prepare(db, "INSERT INTO overlap VALUES (?, ?, ?, ?, ?)");
    for (size_t row = 0; row < t->row_count; row++) {
        sqlite3_bind_text(add, 1, cell(t, row, "step")->text, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(add, 2, int_of(t, row, "start_ns"));
        sqlite3_bind_int64(add, 3, int_of(t, row, "wall_ns"));
        sqlite3_bind_int64(add, 4,
                           int_of(t, row, "hidden_copy_ns") + int_of(t, row, "exposed_copy_ns"));
        sqlite3_bind_int64(add, 5, int_of(t, row, "longest_gap_ns"));
        assert_int_equal(sqlite3_step(add), SQLITE_DONE);
        sqlite3_reset(add);
        assert_int_equal(int_of(t, row, "hidden_communication_ns"), 0);
    }
    sqlite3_finalize(add);
}

static void check_same_rows(sqlite3 *db, const char *a, const char *b)
{
    for (unsigned i = 0; i < 2; i++) {
        char *sql = sqlite3_mprintf("SELECT count(*) FROM (%s EXCEPT %s)", i ? b : a, i ? a : b);
        assert_int_equal(number(db, sql), 0);
        sqlite3_free(sql);
    }
}

/* The n-th of the values, from 1. */
static int64_t value_at(sqlite3 *db, const char *values, int64_t n)
{
    char *sql = sqlite3_mprintf("SELECT v FROM (%s) ORDER BY v LIMIT 1 OFFSET %lld", values, n - 1);
    const int64_t v = number(db, sql);
    sqlite3_free(sql);
    return v;
}

static int64_t median_of(sqlite3 *db, const char *values, int64_t n)
{
    return (value_at(db, values, (n + 1) / 2) + value_at(db, values, n / 2 + 1)) / 2;
}

static void check_distribution(sqlite3 *db, const rocl_table *t)
{
    for (size_t row = 0; row < t->row_count; row++) {
        if (strcmp(cell(t, row, "measure")->text, "wall") != 0)
            continue;
        char *values = sqlite3_mprintf("SELECT wall AS v FROM expected WHERE name = %Q",
                                       cell(t, row, "marker")->text);
        char *sql = sqlite3_mprintf("SELECT count(*) FROM (%s)", values);
        const int64_t n = number(db, sql), median = median_of(db, values, n);
        sqlite3_free(sql);
        assert_int_equal(int_of(t, row, "steps"), n);
        assert_int_equal(int_of(t, row, "median_ns"), median);
        assert_int_equal(int_of(t, row, "p99_ns"), value_at(db, values, (n * 99 + 99) / 100));
        assert_int_equal(int_of(t, row, "max_ns"), value_at(db, values, n));
        char *off = sqlite3_mprintf("SELECT abs(v - %lld) AS v FROM (%s)", median, values);
        sql = sqlite3_mprintf("SELECT count(*) FROM (%s) WHERE v > 3.5 * 1.4826 * %lld AND v > "
                              "0.05 * %lld AND %lld >= 5",
                              off, median_of(db, off, n), median, n);
        assert_int_equal(int_of(t, row, "outliers"), number(db, sql));
        sqlite3_free(sql);
        sqlite3_free(off);
        sqlite3_free(values);
    }
}

static void check_names(sqlite3 *db, const rocl_table *t)
{
    run_sql(db, "CREATE TABLE names(marker TEXT, name TEXT, steps INT, calls INT, total INT, "
                "longest INT)");
    sqlite3_stmt *add = prepare(db, "INSERT INTO names VALUES (?, ?, ?, ?, ?, ?)");
    for (size_t row = 0; row < t->row_count; row++) {
        static const char *const columns[] = {"steps", "calls", "total_ns", "max_ns"};
        if (strcmp(cell(t, row, "kind")->text, "kernel") != 0)
            continue;
        sqlite3_bind_text(add, 1, cell(t, row, "marker")->text, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(add, 2, cell(t, row, "name")->text, -1, SQLITE_TRANSIENT);
        for (size_t i = 0; i < COUNT(columns); i++)
            sqlite3_bind_int64(add, 3 + (int)i, int_of(t, row, columns[i]));
        assert_int_equal(sqlite3_step(add), SQLITE_DONE);
        sqlite3_reset(add);
    }
    sqlite3_finalize(add);
    check_same_rows(db, "SELECT * FROM names",
                    "SELECT series, name, count(*), sum(n), sum(ns), max(ns) FROM (SELECT series, "
                    "name, count(*) AS n, sum(\"end\" - start) AS ns FROM owned WHERE owner IS NOT "
                    "NULL AND NOT copy GROUP BY series, name, owner) GROUP BY series, name");
}

/* Events of a domain in a step, by its number: of calls and markers the step that was open on their
 * own thread, else that of any. */
static const char *const expected_events =
    "CREATE TABLE numbered AS SELECT *, row_number() OVER (PARTITION BY name, cap, pid ORDER BY "
    "start, tid, id) - 1 AS n FROM step; "
    "CREATE TABLE owned_calls AS SELECT s.name AS series, l.*, coalesce(" OWNER(
        "AND p.tid = l.tid") ", " OWNER("") ") AS owner FROM (SELECT h.rowid AS host, h.*, h.start "
                                            "AS t FROM host h) l, (SELECT DISTINCT name FROM step) "
                                            "s; "
                                            "CREATE TABLE expected_events AS SELECT n.name AS "
                                            "marker, n.n AS number, x.domain AS domain, "
                                            "count(*) AS events, sum(x.ns) AS ns FROM (SELECT "
                                            "owner, \"end\" - start AS ns, CASE WHEN marker "
                                            "THEN 'MARKERS' WHEN category GLOB 'HSA*' THEN 'HSA' "
                                            "ELSE 'HIP' END AS domain FROM owned_calls "
                                            "WHERE owner <> host UNION ALL SELECT owner, \"end\" - "
                                            "start, CASE WHEN copy THEN "
                                            "'MEMORY_COPIES' ELSE 'KERNELS' END FROM owned) x JOIN "
                                            "numbered n ON n.host = x.owner GROUP BY "
                                            "n.host, x.domain";

static void check_domains(sqlite3 *db, const rocl_table *t)
{
    size_t rows = 0;
    run_sql(db, expected_events);
    for (size_t row = 0; row < t->row_count; row++, rows++) {
        const char *marker = cell(t, row, "marker")->text, *domain = cell(t, row, "domain")->text;
        static const char sql[] =
            "SELECT coalesce((SELECT e.%s FROM expected_events e WHERE e.marker = "
            "n.name AND e.number = n.n AND e.domain = %Q), 0) AS v FROM "
            "numbered n WHERE n.name = %Q";
        char *events = sqlite3_mprintf(sql, "events", domain, marker);
        char *times = sqlite3_mprintf(sql, "ns", domain, marker);
        char *count = sqlite3_mprintf("SELECT count(*) FROM (%s)", events);
        char *sum = sqlite3_mprintf("SELECT sum(v) FROM (%s)", times);
        const int64_t n = number(db, count);
        assert_int_equal(int_of(t, row, "steps"), n);
        assert_int_equal(int_of(t, row, "events_median"), median_of(db, events, n));
        assert_int_equal(int_of(t, row, "events_min"), value_at(db, events, 1));
        assert_int_equal(int_of(t, row, "events_max"), value_at(db, events, n));
        assert_int_equal(int_of(t, row, "total_ns"), number(db, sum));
        assert_int_equal(int_of(t, row, "median_ns"), median_of(db, times, n));
        assert_int_equal(int_of(t, row, "p99_ns"), value_at(db, times, (n * 99 + 99) / 100));
        sqlite3_free(events);
        sqlite3_free(times);
        sqlite3_free(count);
        sqlite3_free(sum);
    }
    assert_int_equal(number(db, "SELECT count(*) FROM (SELECT DISTINCT marker, domain FROM "
                                "expected_events)"),
                     rows);
}

static void check_trace(const char *names, const char *pattern, const char *list)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10, .steps = pattern};
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_STEPS};
    rocl_trace *t = open_trace(names, &open);
    sqlite3 *db = events_of(t);
    char *sql = sqlite3_mprintf(STEP_OWNERS, list);
    run_sql(db, sql);
    sqlite3_free(sql);
    run_sql(db, expected);
    rocl_tables *all = stats_of(t, &o);
    put_steps(db, &all->tables[0]);
    put_overlaps(db, &all->tables[0]);
    check_same_rows(db, "SELECT * FROM overlap", "SELECT * FROM expected_overlap");
    check_same_rows(db, "SELECT *, count(*) FROM got GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
                    "SELECT *, count(*) FROM expected GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10");
    if (all->tables[0].row_count) {
        assert_string_equal(all->tables[1].key, "step_distribution");
        check_distribution(db, &all->tables[1]);
        check_domains(db, table_of(all, "step_domains"));
        check_names(db, table_of(all, "step_kernels"));
    }
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* ---- tests ---- */

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t steps = seed % 3 ? 60 : 100000;
        world w;
        world_begin(&w, seed);
        for (int i = 0; i < 150; i++)
            add_random(&w, steps, steps / 10, 2 + seed * 3);
        world_sql(&w,
                  "INSERT INTO rocpd_string%%S(id, string) VALUES (9010, 'HSA_TEST_API'); UPDATE "
                  "rocpd_event%%S SET category_id = 9010 WHERE category_id = 9000 AND id %% 3 = 0");
        if (seed % 2)
            check_trace(world_end(&w), "^one$", "'one'");
        else
            check_trace(world_end(&w), "^(one|two)$", "'one', 'two'");
    }
}

static void test_same(void **state)
{
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_STEPS};
    (void)state;
    check_same_bytes("schema-3.0.5", &o);
    check_same_bytes("rank0 rank1", &o);
    check_same_bytes("nasty-3.0.0", &o);
}

static void test_none(void **state)
{
    const rocl_options open = {.jobs = 1, .steps = "no such marker"};
    const rocl_stats_options o = {.reports = 1u << ROCL_REPORT_STEPS};
    rocl_trace *t = open_trace("schema-3.0.0", &open);
    rocl_tables *all = stats_of(t, &o);
    (void)state;
    assert_int_equal(all->count, 3);
    assert_int_equal(all->tables[0].row_count, 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests_name("stats_steps", tests, enter, leave);
}

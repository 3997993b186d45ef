/* The report of ranks against SQL on the same databases: their kernels and regions are put into
 * one table, and sums of sums are taken by GROUP BY. */
#include "tests/unit/stats.h"

#define RANKS ((rocl_stats_options){.reports = 1u << ROCL_REPORT_RANKS})

#define FROM(table)                                                                                \
    " FROM f." table " x JOIN f.rocpd_info_process p ON p.id = x.pid JOIN f.rocpd_event e ON "     \
    "e.id = x.event_id JOIN f.rocpd_string c ON c.id = e.category_id "
#define SOUND                                                                                      \
    " x.start >= 0 AND x.\"end\" >= x.start AND x.\"end\" > 0 AND x.\"end\" >= "                   \
    "coalesce(p.init, 0)"
#define RANK "json_extract(p.environment, '$.OMPI_COMM_WORLD_RANK') + 0"

static void collect(sqlite3 *db, const char *name)
{
    char path[512];
    path_of(path, sizeof path, name);
    char *sql = sqlite3_mprintf("ATTACH 'file:%q?immutable=1' AS f", path);
    run_sql(db, sql);
    sqlite3_free(sql);
    run_sql(db,
            "INSERT INTO ev SELECT 'KERNELS', s.display_name, " RANK ", x.\"end\" - x.start" FROM(
                "rocpd_kernel_dispatch") "JOIN f.rocpd_info_kernel_symbol s ON s.id = x.kernel_id "
                                         "WHERE" SOUND);
    run_sql(db, "INSERT INTO ev SELECT CASE WHEN c.string LIKE 'MARKER%' THEN 'MARKERS' ELSE 'API' "
                "END, CASE WHEN c.string LIKE 'MARKER%' THEN coalesce(json_extract(e.extdata, "
                "'$.message'), "
                "n.string) ELSE '' END, " RANK ", x.\"end\" - x.start" FROM(
                    "rocpd_region") "JOIN f.rocpd_string n ON n.id = x.name_id WHERE (c.string "
                                    "LIKE 'MARKER%' OR "
                                    "c.string GLOB 'H[IS][PA]_*' OR c.string GLOB 'RCCL_*' OR "
                                    "c.string GLOB "
                                    "'ROC[DJ]*') AND" SOUND);
    static const char *const tables[] = {"kernel_dispatch", "region", "memory_copy"};
    for (size_t i = 0; i < COUNT(tables); i++) {
        sql = sqlite3_mprintf("INSERT INTO span SELECT " RANK
                              ", x.start, x.\"end\"" FROM("rocpd_%s") "WHERE" SOUND,
                              tables[i]);
        run_sql(db, sql);
        sqlite3_free(sql);
    }
    run_sql(db, "DETACH f");
}

static sqlite3 *events_of(const char *names)
{
    sqlite3 *db;
    char word[64];
    assert_int_equal(sqlite3_open_v2(":memory:", &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run_sql(db, "CREATE TABLE ev(domain TEXT, name TEXT, rank INT, ns INT)");
    run_sql(db, "CREATE TABLE span(rank INT, first INT, last INT)");
    for (const char *p = names; *p;) {
        int len = (int)strcspn(p, " ");
        snprintf(word, sizeof word, "%.*s", len, p);
        collect(db, word);
        p += len + (p[len] == ' ');
    }
    return db;
}

static const char *const traces[] = {"rank0 rank1", "node-rank0 node-rank1 node-rank2 node-rank3",
                                     "rank0"};

static void check_ranks(const rocl_table *t, sqlite3 *db)
{
    sqlite3_stmt *rows = prepare(
        db, "SELECT rank, count(*) FILTER (WHERE domain = 'KERNELS'), coalesce(sum(ns) FILTER "
            "(WHERE domain = 'KERNELS'), 0), coalesce(sum(ns) FILTER (WHERE domain = 'API'), 0), "
            "coalesce(sum(ns) FILTER (WHERE domain = 'MARKERS'), 0), 100.0 * sum(ns) FILTER (WHERE "
            "domain = 'KERNELS') / (SELECT sum(ns) FROM ev WHERE domain = 'KERNELS') FROM ev GROUP "
            "BY 1 ORDER BY 1");
    static const char *const keys[] = {"rank", "kernels", "kernels_ns", "api_ns", "markers_ns"};
    size_t row = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; row++) {
        assert_true(row < t->row_count);
        for (size_t i = 0; i < COUNT(keys); i++)
            assert_int_equal(int_of(t, row, keys[i]), sqlite3_column_int64(rows, (int)i));
        check_real(t, row, "percent", sqlite3_column_double(rows, 5));
    }
    assert_true(row > 0);
    assert_int_equal(row, t->row_count);
    sqlite3_finalize(rows);
}

/* The straggler is the rank with the most; no two are equal. It has 5 % more than the mean, and
 * that is 0.1 % of its time; communication has none. */
static void check_names(const rocl_table *t, sqlite3 *db)
{
    sqlite3_stmt *rows = prepare(
        db, "WITH r AS (SELECT domain, name, rank, count(*) AS n, sum(ns) AS ns FROM ev WHERE "
            "domain <> 'API' GROUP BY 1, 2, 3) SELECT domain, name, count(*), min(n), "
            "(SELECT max(n) FROM r s WHERE s.domain = r.domain AND s.name = r.name), "
            "(SELECT min(ns) FROM r s WHERE s.domain = r.domain AND s.name = r.name), max(ns), "
            "avg(ns), 1.0 * max(ns) / avg(ns), 'rank ' || (SELECT rank FROM r s WHERE s.domain = "
            "r.domain AND s.name = r.name ORDER BY ns DESC, rank LIMIT 1), count(*) > 1 AND name "
            "NOT LIKE "
            "'%nccl%' AND max(ns) >= 1.05 * avg(ns) AND max(ns) - avg(ns) >= 0.001 * (SELECT "
            "max(last) - min(first) FROM span WHERE span.rank = (SELECT rank FROM r s WHERE "
            "s.domain = r.domain AND s.name = r.name ORDER BY ns DESC, rank LIMIT 1)) FROM r GROUP "
            "BY 1, 2 "
            "ORDER BY domain, name LIKE '%nccl%', max(ns) - avg(ns) DESC, name");
    static const char *const keys[] = {"ranks", "min_calls", "max_calls", "min_total_ns",
                                       "max_total_ns"};
    size_t row = 0;
    int stragglers = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; row++) {
        assert_true(row < t->row_count);
        assert_string_equal(text_of(t, row, "domain"), (const char *)sqlite3_column_text(rows, 0));
        assert_string_equal(text_of(t, row, "name"), (const char *)sqlite3_column_text(rows, 1));
        for (size_t i = 0; i < COUNT(keys); i++)
            assert_int_equal(int_of(t, row, keys[i]), sqlite3_column_int64(rows, (int)i + 2));
        double mean = sqlite3_column_double(rows, 7);
        check_real(t, row, "mean_total_ns", mean);
        check_real(t, row, "imbalance", sqlite3_column_double(rows, 8));
        assert_true(fabs(real_of(t, row, "excess_ns") - (sqlite3_column_double(rows, 6) - mean)) <
                    1e-3);
        const bool named = sqlite3_column_int(rows, 10);
        stragglers += named;
        if (named)
            assert_string_equal(text_of(t, row, "straggler"),
                                (const char *)sqlite3_column_text(rows, 9));
        else
            assert_int_equal(cell(t, row, "straggler")->type, ROCL_DATUM_NONE);
    }
    assert_int_equal(row, t->row_count);
    assert_int_equal(stragglers > 0, int_of(t, 0, "ranks") > 1);
    sqlite3_finalize(rows);
}

/* All ranks of every name that two of them have. */
static void check_times(const rocl_table *t, sqlite3 *db)
{
    sqlite3_stmt *rows = prepare(
        db, "WITH r AS (SELECT domain, name, rank, count(*) AS n, sum(ns) AS ns FROM ev WHERE "
            "domain <> 'API' GROUP BY 1, 2, 3), s AS (SELECT domain, name, sum(ns) AS total, "
            "avg(ns) AS mean FROM r GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY total DESC, "
            "domain, name LIMIT 20) SELECT s.domain, s.name, 'rank ' || k.rank, coalesce(r.n, 0), "
            "coalesce(r.ns, 0), r.ns / mean FROM s, (SELECT DISTINCT rank FROM ev) k LEFT JOIN r "
            "ON r.domain = s.domain AND r.name = s.name AND r.rank = k.rank ORDER BY total DESC, "
            "s.domain, s.name, k.rank");
    size_t row = 0;
    for (; sqlite3_step(rows) == SQLITE_ROW; row++) {
        assert_true(row < t->row_count);
        assert_string_equal(text_of(t, row, "domain"), (const char *)sqlite3_column_text(rows, 0));
        assert_string_equal(text_of(t, row, "name"), (const char *)sqlite3_column_text(rows, 1));
        assert_string_equal(text_of(t, row, "place"), (const char *)sqlite3_column_text(rows, 2));
        assert_int_equal(int_of(t, row, "calls"), sqlite3_column_int64(rows, 3));
        assert_int_equal(int_of(t, row, "total_ns"), sqlite3_column_int64(rows, 4));
        if (sqlite3_column_type(rows, 5) == SQLITE_NULL)
            assert_int_equal(cell(t, row, "relative")->type, ROCL_DATUM_NONE);
        else
            check_real(t, row, "relative", sqlite3_column_double(rows, 5));
    }
    assert_int_equal(row, t->row_count);
    sqlite3_finalize(rows);
}

static void test_sql(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        const rocl_options o = {.jobs = 2};
        rocl_tables *all = stats_of_inputs(traces[i], &o, RANKS);
        sqlite3 *db = events_of(traces[i]);
        const rocl_table *t = table_of(all, "ranks");
        check_ranks(t, db);
        check_names(table_of(all, "rank_imbalance"), db);
        check_times(table_of(all, "rank_times"), db);
        assert_non_null(t->note);
        assert_int_equal(strstr(t->note, "one process only") != NULL, t->row_count == 1);
        sqlite3_close(db);
        rocl_tables_free(all);
    }
}

static void test_same_bytes(void **state)
{
    static const rocl_options ways[] = {
        {.jobs = 1}, {.jobs = 2}, {.jobs = 7}, {.jobs = 3, .reader = ROCL_READER_SQLITE}};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        char *first = NULL;
        for (size_t w = 0; w < COUNT(ways); w++) {
            rocl_tables *all = stats_of_inputs(traces[i], &ways[w], RANKS);
            char *text = bytes_of(all, ROCL_TABLE_JSON);
            if (!first)
                first = text;
            else {
                assert_string_equal(text, first);
                free(text);
            }
            rocl_tables_free(all);
        }
        free(first);
    }
}

/* What is cut off is still in the last row of ranks. */
static void test_top(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_stats_options top = RANKS;
    (void)state;
    rocl_tables *whole = stats_of_inputs(traces[1], &o, RANKS);
    top.top = 1;
    rocl_tables *cut = stats_of_inputs(traces[1], &o, top);
    const rocl_table *a = table_of(whole, "ranks"), *b = table_of(cut, "ranks");
    assert_int_equal(a->row_count, 4);
    assert_int_equal(b->row_count, 2);
    assert_string_equal(text_of(b, 1, "host"), "(3 others)");
    int64_t sum = 0;
    for (size_t i = 1; i < 4; i++)
        sum += int_of(a, i, "kernels_ns");
    assert_int_equal(int_of(b, 1, "kernels_ns"), sum);
    assert_string_equal(a->note, b->note);
    rocl_tables_free(whole);
    rocl_tables_free(cut);
}

/* A copy of a fixture whose processes know no rank. */
static void forget_rank(const char *name, const char *to)
{
    char path[512], command[1200];
    path_of(path, sizeof path, name);
    snprintf(command, sizeof command,
             "cp %s %s && chmod u+w %s && sqlite3 %s \"$(sqlite3 %s \"SELECT 'UPDATE ' || name || "
             "' SET environment = ''{}''' FROM sqlite_master WHERE type = 'table' AND name LIKE "
             "'rocpd_info_process%%'\")\"",
             path, to, to, to, to);
    assert_int_equal(system(command), 0);
}

/* They are told apart by pid. */
static void test_no_rank(void **state)
{
    char a[96], b[96], names[200];
    const rocl_options o = {.jobs = 2};
    (void)state;
    snprintf(a, sizeof a, "%s/a.db", folder);
    snprintf(b, sizeof b, "%s/b.db", folder);
    snprintf(names, sizeof names, "%s %s", b, a);
    forget_rank("rank0", a);
    forget_rank("rank1", b);
    rocl_tables *all = stats_of_inputs(names, &o, RANKS);
    rocl_tables *with = stats_of_inputs("rank0 rank1", &o, RANKS);
    const rocl_table *t = table_of(all, "ranks"), *w = table_of(with, "ranks");
    assert_int_equal(t->row_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cell(t, i, "rank")->type, ROCL_DATUM_NONE);
        assert_int_equal(int_of(t, i, "pid"), int_of(w, i, "pid"));
        assert_int_equal(int_of(t, i, "kernels_ns"), int_of(w, i, "kernels_ns"));
    }
    assert_memory_equal(text_of(table_of(all, "rank_imbalance"), 0, "straggler"), "pid ", 4);
    rocl_tables_free(all);
    rocl_tables_free(with);
}

static void test_nothing(void **state)
{
    const rocl_options o = {.jobs = 2};
    (void)state;
    rocl_tables *all = stats_of_inputs("empty-tables", &o, RANKS);
    assert_int_equal(table_of(all, "ranks")->row_count, 0);
    assert_int_equal(table_of(all, "rank_imbalance")->row_count, 0);
    rocl_tables_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sql),     cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_top),     cmocka_unit_test(test_no_rank),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("stats: ranks", tests, enter, leave);
}

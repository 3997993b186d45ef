/* Gaps of streams and queues against window functions of SQL. */
#include "test_stats_gpus.h"

#define LABEL                                                                                      \
    "'GPU ' || (a.absolute_index - 2) || CASE WHEN (SELECT count(DISTINCT id) FROM "               \
    "rocpd_info_node) > 1 THEN ' on ' || (SELECT hostname FROM rocpd_info_node h WHERE h.id = "    \
    "x.nid AND h.guid = x.guid) ELSE '' END"
#define LANES(table, agents, name)                                                                 \
    "SELECT p.pid, l.lane, CASE l.lane WHEN 'stream' THEN (SELECT z.name FROM "                    \
    "rocpd_info_stream z WHERE z.id = x.stream_id AND z.guid = x.guid) ELSE (SELECT z.name FROM "  \
    "rocpd_info_queue z WHERE z.id = x.queue_id AND z.guid = x.guid) END AS id, " LABEL            \
    " AS gpu, x.start, x.\"end\", " name " AS name FROM " table                                    \
    " x JOIN rocpd_info_agent a ON a.id IN (" agents ") AND a.guid = x.guid JOIN "                 \
    "rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid JOIN (SELECT 'stream' AS lane "      \
    "UNION ALL SELECT 'queue') l"

/* Every event of a lane, and every gap. */
static const char *const tables = "CREATE TEMP TABLE work AS SELECT * FROM (" LANES(
    "rocpd_kernel_dispatch", "x.agent_id",
    "s.display_name") " JOIN rocpd_info_kernel_symbol s ON s.id = x.kernel_id AND s.guid = "
                      "x.guid WHERE a.type = 'GPU' UNION ALL " LANES(
                          "rocpd_memory_copy", "x.src_agent_id, x.dst_agent_id",
                          "n.string") " JOIN rocpd_string n ON n.id = x.name_id AND n.guid = "
                                      "x.guid WHERE a.type = 'GPU') WHERE id IS NOT NULL;"
                                      "CREATE TEMP TABLE gaps AS SELECT pid, lane, id, gpu, until "
                                      "AS start, start - until AS ns FROM "
                                      "(SELECT *, max(\"end\") OVER (PARTITION BY pid, lane, id, "
                                      "gpu ORDER BY start, \"end\" ROWS "
                                      "BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until FROM "
                                      "work) WHERE start > until AND "
                                      "start - until >= %lld";

#define SAME " WHERE pid = ?1 AND lane = ?2 AND id = ?3 AND gpu = ?4"

/* With the place of a row bound to ?1 to ?4. */
static sqlite3_stmt *of_row(sqlite3 *db, const char *sql, const rocl_table *t, size_t row)
{
    sqlite3_stmt *stmt = prepare(db, sql);
    sqlite3_bind_int64(stmt, 1, cell(t, row, "process")->i);
    sqlite3_bind_text(stmt, 2, text_of(t, row, "lane"), -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, text_of(t, row, "name"), -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 4, text_of(t, row, "gpu"), -1, SQLITE_STATIC);
    return stmt;
}

static void check_lanes(sqlite3 *db, const rocl_table *t)
{
    assert_int_equal(t->row_count,
                     number(db, "SELECT count(*) FROM (SELECT DISTINCT pid, lane, id, gpu FROM "
                                "work)"));
    for (size_t i = 0; i < t->row_count; i++) {
        sqlite3_stmt *sql =
            of_row(db,
                   "SELECT count(*), coalesce(sum(ns), 0), min(ns), max(ns), "
                   "(SELECT max(\"end\") - min(start) FROM work" SAME ") FROM gaps" SAME,
                   t, i);
        assert_int_equal(sqlite3_step(sql), SQLITE_ROW);
        check_int(t, i, "gaps", sqlite3_column_int64(sql, 0));
        check_int(t, i, "total_ns", sqlite3_column_int64(sql, 1));
        check_percent(t, i, "wall_percent", sqlite3_column_int64(sql, 1),
                      sqlite3_column_int64(sql, 4));
        if (sqlite3_column_int64(sql, 0)) {
            check_int(t, i, "min_ns", sqlite3_column_int64(sql, 2));
            check_int(t, i, "max_ns", sqlite3_column_int64(sql, 3));
        }
        sqlite3_finalize(sql);
    }
}

static void check_trace(const char *name, int64_t min_gap)
{
    const rocl_options o = {.jobs = 2, .memory = (size_t)256 << 10};
    const rocl_stats_options s = {
        .reports = BIT(ROCL_REPORT_GAPS), .by_stream = true, .min_gap = min_gap};
    rocl_trace *t = open_trace(name, &o);
    rocl_tables *all = stats_of(t, &s);
    sqlite3 *db;
    assert_int_equal(all->count, 5);
    assert_int_equal(sqlite3_open(rocl_trace_capture(t, 0)->path, &db), SQLITE_OK);
    char *sql = sqlite3_mprintf(tables, (long long)min_gap);
    run_sql(db, sql);
    sqlite3_free(sql);
    check_lanes(db, table_of(all, "lane_gaps"));
    sqlite3_close(db);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_fixtures(void **state)
{
    static const char *const names[] = {"everything", "schema-3.0.0", "schema-3.0.5", "merged",
                                        "empty-tables"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        check_trace(names[i], 0);
        check_trace(names[i], 1500);
    }
}

/* Events are spread over some streams and queues; a few are in none. */
static void spread(world *w, const char *table)
{
    world_sql(
        w,
        "UPDATE %s%%S SET stream_id = (SELECT id FROM rocpd_info_stream%%S ORDER BY id LIMIT 1 "
        "OFFSET abs(random()) %% 3), queue_id = (SELECT id FROM rocpd_info_queue%%S ORDER BY "
        "id LIMIT 1 OFFSET abs(random()) %% 2)",
        table);
}

static void test_random(void **state)
{
    static const struct {
        uint64_t rows, steps, longest;
    } sizes[] = {{30, 60, 4}, {150, 400, 3}, {150, 20000000, 90000}, {150, 5000000000, 2000000}};
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++) {
        size_t k = seed % COUNT(sizes);
        world w;
        world_begin(&w, seed);
        add_random(&w, sizes[k].rows, sizes[k].steps, sizes[k].longest);
        spread(&w, "rocpd_kernel_dispatch");
        spread(&w, "rocpd_memory_copy");
        world_sql(&w, "UPDATE rocpd_memory_copy%%S SET stream_id = NULL WHERE id %% 7 = 0");
        world_end(&w);
        check_trace(w.path, seed % 3 ? 0 : (int64_t)sizes[k].steps / 100);
    }
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = BIT(ROCL_REPORT_GAPS), .by_stream = true};
    world w;
    (void)state;
    check_same_bytes("merged", &s);
    world_begin(&w, 3);
    add_random(&w, 5000, 1000000, 3000);
    spread(&w, "rocpd_kernel_dispatch");
    world_end(&w);
    check_same_bytes(w.path, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests_name("stats gaps", tests, enter, leave);
}

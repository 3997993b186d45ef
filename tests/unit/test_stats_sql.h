/* For the tests of reports that link calls with GPU work: the sound rows of databases, put by SQL
 * into two tables in memory:
 *
 *     host    calls and ranges (marker 1) of each capture
 *     work    kernels and copies (copy 1)
 *
 * and databases of random events. Each test program includes it once. */
#ifndef TEST_STATS_SQL_H
#define TEST_STATS_SQL_H

#include "tests/unit/stats_world.h"

/* ---- the other side ---- */

/* %S is the suffix of the tables, %T what pid and tid and so on are columns of, %J the join that
 * this needs, %C the table of categories, %N the number of the capture. */
static inline void expand(sqlite3_str *out, const char *sql, const char *suffix, bool tracks,
                          size_t n)
{
    for (; *sql; sql++) {
        if (*sql != '%') {
            sqlite3_str_appendchar(out, 1, *sql);
            continue;
        }
        switch (*++sql) {
        case 'S':
            sqlite3_str_appendall(out, suffix);
            break;
        case 'T':
            sqlite3_str_appendall(out, tracks ? "k" : "x");
            break;
        case 'J':
            if (tracks)
                sqlite3_str_appendf(out, "JOIN rocpd_track%s k ON k.id = x.track_id", suffix);
            break;
        case 'C':
            if (tracks)
                sqlite3_str_appendf(out, "(SELECT id, name AS string FROM rocpd_info_category%s)",
                                    suffix);
            else
                sqlite3_str_appendf(out, "rocpd_string%s", suffix);
            break;
        default:
            sqlite3_str_appendf(out, "%llu", (unsigned long long)n);
        }
    }
}

#define RANK "json_extract(p.environment, '$.OMPI_COMM_WORLD_RANK') + 0"
#define JOINS                                                                                      \
    " %J JOIN rocpd_info_process%S p ON p.id = %T.pid LEFT JOIN rocpd_event%S e ON e.id = "        \
    "x.event_id "
#define SOUND " WHERE x.start >= 0 AND x.\"end\" > 0 AND x.\"end\" >= x.start"
#define AGENT "a.type || ' ' || a.type_index" /* and where it is, later */

static const char *const host_and_work[] = {
    "INSERT INTO host SELECT %N, %T.pid, %T.tid, e.stack_id, x.id, x.start, x.\"end\", "
    "coalesce(c.string, '') GLOB 'MARKER*', CASE WHEN c.string GLOB 'MARKER*' THEN "
    "coalesce(json_extract(e.extdata, '$.message'), n.string) ELSE n.string END, " RANK
    ", coalesce(c.string, '') FROM rocpd_region%S x" JOINS
    "LEFT JOIN %C c ON c.id = e.category_id LEFT JOIN "
    "rocpd_string%S n ON n.id = x.name_id" SOUND,
    "INSERT INTO work SELECT %N, %T.pid, e.stack_id, 0, x.start, x.\"end\", s.display_name, " AGENT
    ", (SELECT z.name FROM rocpd_info_stream%S z WHERE z.id = %T.stream_id), " RANK
    " FROM rocpd_kernel_dispatch%S x" JOINS
    "LEFT JOIN rocpd_info_kernel_symbol%S s ON s.id = x.kernel_id LEFT JOIN rocpd_info_agent%S a "
    "ON a.id = %T.agent_id" SOUND,
    "INSERT INTO work SELECT %N, %T.pid, e.stack_id, 1, x.start, x.\"end\", '', '', 0, 0 FROM "
    "rocpd_memory_copy%S x" JOINS SOUND,
};

static inline char *suffix_of(sqlite3 *db, const char *schema, const char *guid)
{
    char *sql = sqlite3_mprintf("SELECT substr(name, 15) FROM %s.sqlite_master WHERE type = "
                                "'table' AND name LIKE 'rocpd_metadata_%%' AND "
                                "replace(substr(name, 16), '_', '-') LIKE replace(%Q, '_', '-')",
                                schema, guid);
    sqlite3_stmt *stmt = prepare(db, sql);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    char *suffix = sqlite3_mprintf("%s", sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return suffix;
}

static inline void collect(sqlite3 *db, const rocl_trace *t, size_t n)
{
    const rocl_capture *c = rocl_trace_capture(t, n);
    char *sql = sqlite3_mprintf("ATTACH 'file:%q?immutable=1' AS f", c->path);
    run_sql(db, sql);
    sqlite3_free(sql);
    char *suffix = suffix_of(db, "f", rocl_text(t, c->guid, NULL));
    sql = sqlite3_mprintf("rocpd_region%s", suffix);
    bool tracks = sqlite3_table_column_metadata(db, "f", sql, "track_id", NULL, NULL, NULL, NULL,
                                                NULL) == SQLITE_OK;
    sqlite3_free(sql);
    for (size_t i = 0; i < COUNT(host_and_work); i++) {
        sqlite3_str *out = sqlite3_str_new(db);
        expand(out, host_and_work[i], suffix, tracks, n);
        sql = sqlite3_str_finish(out);
        run_sql(db, sql);
        sqlite3_free(sql);
    }
    sqlite3_free(suffix);
    if (rocl_trace_machines(t) > 1) {
        sql = sqlite3_mprintf("UPDATE work SET agent = agent || ' on ' || %Q WHERE cap = %d",
                              rocl_text(t, c->nodes[0].hostname, NULL), (int)n);
        run_sql(db, sql);
        sqlite3_free(sql);
    }
    run_sql(db, "DETACH f");
}

/* `launched`: all work, and the rowid of the first call of its stack id, or NULL. */
static inline sqlite3 *events_of(const rocl_trace *t)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(":memory:", &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run_sql(db, "CREATE TABLE host(cap INT, pid INT, tid INT, stack INT, id INT, start INT, "
                "\"end\" INT, marker INT, name TEXT, rank INT, category TEXT); CREATE TABLE "
                "work(cap INT, pid "
                "INT, stack INT, copy INT, start INT, \"end\" INT, name TEXT, agent TEXT, stream "
                "INT, rank INT)");
    for (size_t i = 0; i < rocl_trace_captures(t); i++)
        collect(db, t, i);
    run_sql(db, "CREATE TABLE launched AS SELECT w.*, (SELECT h.rowid FROM host h WHERE h.cap = "
                "w.cap AND h.pid = w.pid AND h.stack = w.stack AND h.stack <> 0 AND NOT h.marker "
                "ORDER BY h.start, h.id LIMIT 1) AS call FROM work w");
    return db;
}

/* ---- steps ---- */

/* Ranges of the markers that --step-markers names, each with its series; and all work with its step
 * of each series. Steps of the same begin count in the order of threads and rows. */
#define OWNER(more)                                                                                \
    "(SELECT p.host FROM step p WHERE p.name = s.name AND p.cap = l.cap AND p.pid = l.pid " more   \
    " AND (p.start = t OR p.start < t AND p.\"end\" > t) ORDER BY p.start DESC, p.tid DESC, p.id " \
    "DESC LIMIT 1)"

/* For sqlite3_mprintf: a list of quoted names. */
#define STEP_OWNERS                                                                                \
    "CREATE TABLE step AS SELECT rowid AS host, * FROM host WHERE marker AND name IN (%s); "       \
    "CREATE TABLE owned AS SELECT s.name AS series, l.*, coalesce(" OWNER(                         \
        "AND p.tid = l.caller") ", " OWNER("") ") AS owner FROM (SELECT w.*, coalesce(c.start, "   \
                                               "w.start) AS t, c.tid AS caller FROM launched w "   \
                                               "LEFT JOIN host c ON c.rowid = w.call) l, "         \
                                               "(SELECT DISTINCT name FROM step) s"

/* The length of a union: of each row what is beyond all rows before it. */
#define UNION_OF(table)                                                                            \
    "(SELECT coalesce(sum(max(0, e - max(b, coalesce(before, b)))), 0) FROM (SELECT b, e, max(e) " \
    "OVER (ORDER BY b, e ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM (" table \
    ")))"

/* ---- traces that a profiler would not write ---- */

/* Names and kernels are 9001 to 9003, and categories 9000 (of calls) and 9009 (of markers). */
static inline void world_begin(world *w, uint64_t seed)
{
    static const char *const names[] = {"one", "two", "three"};
    world_copy(w, seed);
    world_sql(w, "INSERT INTO rocpd_string%%S(id, string) VALUES (9000, 'HIP_TEST_API'), (9009, "
                 "'MARKER_TEST_API')");
    for (int i = 0; i < (int)COUNT(names); i++) {
        world_sql(w, "INSERT INTO rocpd_string%%S(id, string) VALUES (%d, %Q)", 9001 + i, names[i]);
        world_symbol(w, 9001 + i, names[i]);
    }
}

static inline void world_event(world *w, uint64_t stack, int category)
{
    world_sql(w,
              "INSERT INTO rocpd_event%%S(category_id, stack_id) VALUES (%d, "
              "%llu)",
              category, (unsigned long long)stack);
}

/* Threads are 0 to 3. */
static inline void add_host(world *w, bool marker, unsigned thread, uint64_t stack, int64_t start,
                            int64_t end)
{
    static const int tids[] = {4200, 4207, 4210, 4213};
    world_event(w, stack, marker ? 9009 : 9000);
    world_sql(
        w,
        "INSERT INTO rocpd_region%%S(nid, pid, tid, start, \"end\", name_id, event_id) SELECT "
        "nid, id, %d, %lld, %lld, %d, last_insert_rowid() FROM rocpd_info_process%%S",
        tids[thread], start, end, 9001 + (int)draw(w, 3));
}

static inline void add_kernel(world *w, uint64_t stack, int64_t start, int64_t end)
{
    world_event(w, stack, 9000);
    world_sql(
        w,
        "INSERT INTO rocpd_kernel_dispatch%%S(nid, pid, agent_id, kernel_id, dispatch_id, "
        "queue_id, stream_id, start, \"end\", workgroup_size_x, workgroup_size_y, "
        "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id) SELECT nid, id, %d, "
        "%d, 1, 0, %d, %lld, %lld, 64, 1, 1, 64, 1, 1, last_insert_rowid() FROM "
        "rocpd_info_process%%S",
        2 + (int)draw(w, 2), 9001 + (int)draw(w, 3), (int)draw(w, 3), start, end);
}

static inline void add_copy(world *w, uint64_t stack, int64_t start, int64_t end)
{
    world_event(w, stack, 9000);
    world_sql(w,
              "INSERT INTO rocpd_memory_copy%%S(nid, pid, start, \"end\", name_id, src_agent_id, "
              "dst_agent_id, size, event_id) SELECT nid, id, %lld, %lld, 9001, 0, 2, 100, "
              "last_insert_rowid() FROM rocpd_info_process%%S",
              start, end);
}

/* Calls, ranges and work at times that are few, so that they touch, nest, cross and are the same;
 * stack ids have one call, several or none. */
static inline void add_random(world *w, uint64_t steps, uint64_t longest, uint64_t stacks)
{
    int64_t start = (int64_t)(1 + draw(w, steps)), end = start + (int64_t)draw(w, longest + 1);
    uint64_t stack = draw(w, stacks), kind = draw(w, 10);
    if (kind < 3)
        add_host(w, false, (unsigned)draw(w, 3), stack, start, end);
    else if (kind < 5)
        add_host(w, true, (unsigned)draw(w, 3), stack, start, end + (int64_t)draw(w, 4 * longest));
    else if (kind < 8)
        add_kernel(w, stack, start, end);
    else
        add_copy(w, stack, start, end);
}

#endif

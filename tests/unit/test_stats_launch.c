/* The report on launches against SQL on the same databases, and on databases of random events: the
 * first call of each kernel is looked up by a subquery, groups are those of WHERE, and delays are
 * sorted. */
#include "test_stats_sql.h"

/* A row per kernel: what is grouped by, and its times; those with the call are NULL without one. */
static const char *const launches =
    "CREATE TABLE launch AS SELECT l.name AS name, h.name AS call, l.rank AS rank, l.agent AS "
    "agent, l.stream AS stream, l.start AS start, h.\"end\" - h.start AS api, max(l.start - "
    "h.\"end\", 0) AS delay, l.start < h.\"end\" AS early, l.\"end\" - l.start AS kernel, "
    "max(l.\"end\" - h.start, 0) AS total FROM launched l LEFT JOIN host h ON h.rowid = l.call "
    "WHERE NOT l.copy";

static sqlite3 *launches_of(const rocl_trace *t)
{
    sqlite3 *db = events_of(t);
    run_sql(db, launches);
    return db;
}

/* ---- rows ---- */

typedef struct group { /* the first row of a table, or what it has to be */
    int64_t count, linked, early;
    double api, kernel, total;
    int64_t *delays; /* sorted */
} group;

static sqlite3_stmt *rows_of(sqlite3 *db, const rocl_table *t, size_t row,
                             const rocl_stats_options *o)
{
    char *sql =
        sqlite3_mprintf("SELECT api, delay, early, kernel, total FROM launch WHERE name IS "
                        "?1 AND call IS ?2%s%s%s ORDER BY delay",
                        o->by_rank ? " AND rank IS ?3" : "", o->by_agent ? " AND agent IS ?4" : "",
                        o->by_stream ? " AND stream IS ?5" : "");
    sqlite3_stmt *stmt = prepare(db, sql);
    sqlite3_bind_text(stmt, 1, cell(t, row, "name")->text, -1, SQLITE_STATIC);
    if (cell(t, row, "call")->type == ROCL_DATUM_TEXT)
        sqlite3_bind_text(stmt, 2, cell(t, row, "call")->text, -1, SQLITE_STATIC);
    if (o->by_rank)
        sqlite3_bind_int64(stmt, 3, int_of(t, row, "rank"));
    if (o->by_agent)
        sqlite3_bind_text(stmt, 4, cell(t, row, "agent")->text, -1, SQLITE_STATIC);
    if (o->by_stream)
        sqlite3_bind_text(stmt, 5, cell(t, row, "stream")->text, -1, SQLITE_STATIC);
    sqlite3_free(sql);
    return stmt;
}

static group group_of(sqlite3_stmt *stmt)
{
    group g = {.delays = malloc(100000 * sizeof(int64_t))};
    assert_non_null(g.delays);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        assert_true(g.count++ < 100000);
        g.kernel += sqlite3_column_double(stmt, 3);
        if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
            continue;
        g.api += sqlite3_column_double(stmt, 0);
        g.delays[g.linked++] = sqlite3_column_int64(stmt, 1);
        g.early += sqlite3_column_int64(stmt, 2);
        g.total += sqlite3_column_double(stmt, 4);
    }
    sqlite3_finalize(stmt);
    return g;
}

static void check_delays(const rocl_table *t, size_t row, const group *g)
{
    size_t n = (size_t)g->linked, p95 = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)g->delays[i];
    while ((p95 + 1) * 100 < n * 95)
        p95++;
    int64_t a = g->delays[(n - 1) / 2], b = g->delays[n / 2];
    check_real(t, row, "delay_average_ns", sum / (double)n);
    check_int(t, row, "delay_median_ns", (a + b) / 2);
    check_int(t, row, "delay_p95_ns", g->delays[p95]);
    check_int(t, row, "delay_max_ns", g->delays[n - 1]);
}

static void check_row(const rocl_table *t, size_t row, const group *g)
{
    static const char *const of_calls[] = {"early",           "call_average_ns", "delay_average_ns",
                                           "delay_median_ns", "delay_p95_ns",    "delay_max_ns",
                                           "total_average_ns"};
    assert_true(g->count > 0);
    check_int(t, row, "launches", g->count);
    check_real(t, row, "kernel_average_ns", g->kernel / (double)g->count);
    if (cell(t, row, "call")->type == ROCL_DATUM_NONE) {
        assert_int_equal(g->linked, 0);
        for (size_t i = 0; i < COUNT(of_calls); i++)
            check_none(t, row, of_calls[i]);
        return;
    }
    assert_int_equal(g->linked, g->count);
    check_int(t, row, "early", g->early);
    check_real(t, row, "call_average_ns", g->api / (double)g->count);
    check_real(t, row, "total_average_ns", g->total / (double)g->count);
    check_delays(t, row, g);
}

/* Rows differ, each is right, and together they hold all kernels. */
static void check_launches(sqlite3 *db, const rocl_table *t, const rocl_stats_options *o)
{
    int64_t sum = 0, unlinked = number(db, "SELECT count(*) FROM launch WHERE call IS NULL");
    char *sql = sqlite3_mprintf("SELECT count(*) FROM (SELECT DISTINCT name, call%s%s%s FROM "
                                "launch)",
                                o->by_rank ? ", rank" : "", o->by_agent ? ", agent" : "",
                                o->by_stream ? ", stream" : "");
    assert_int_equal(t->row_count, number(db, sql));
    sqlite3_free(sql);
    for (size_t row = 0; row < t->row_count; row++) {
        group g = group_of(rows_of(db, t, row, o));
        check_row(t, row, &g);
        sum += g.count;
        free(g.delays);
    }
    assert_int_equal(sum, number(db, "SELECT count(*) FROM launch"));
    char text[64];
    snprintf(text, sizeof text, "; the calls of %lld kernels are not", (long long)unlinked);
    assert_true(!unlinked == !strstr(t->note, "; the calls of"));
    assert_true(!unlinked || strstr(t->note, text));
}

/* Of equal delays the earlier kernel comes first; of equal kernels any. */
static void check_longest(sqlite3 *db, const rocl_table *t, size_t top)
{
    sqlite3_stmt *stmt = prepare(db, "SELECT delay, start FROM launch WHERE delay > 0 ORDER BY "
                                     "delay DESC, start LIMIT ?");
    sqlite3_stmt *one = prepare(db, "SELECT count(*) FROM launch WHERE delay = ? AND start = ? AND "
                                    "name = ? AND call = ? AND rank = ? AND agent = ? AND stream "
                                    "= ?");
    size_t row = 0;
    sqlite3_bind_int64(stmt, 1, top && top < 20 ? (int64_t)top : 20);
    for (; sqlite3_step(stmt) == SQLITE_ROW; row++) {
        assert_true(row < t->row_count);
        check_int(t, row, "delay_ns", sqlite3_column_int64(stmt, 0));
        check_int(t, row, "start_ns", sqlite3_column_int64(stmt, 1));
        sqlite3_bind_int64(one, 1, int_of(t, row, "delay_ns"));
        sqlite3_bind_int64(one, 2, int_of(t, row, "start_ns"));
        sqlite3_bind_text(one, 3, cell(t, row, "name")->text, -1, SQLITE_STATIC);
        sqlite3_bind_text(one, 4, cell(t, row, "call")->text, -1, SQLITE_STATIC);
        sqlite3_bind_int64(one, 5, int_of(t, row, "rank"));
        sqlite3_bind_text(one, 6, cell(t, row, "agent")->text, -1, SQLITE_STATIC);
        sqlite3_bind_text(one, 7, cell(t, row, "stream")->text, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(one), SQLITE_ROW);
        assert_true(sqlite3_column_int64(one, 0) > 0);
        sqlite3_reset(one);
    }
    assert_int_equal(t->row_count, row);
    sqlite3_finalize(stmt);
    sqlite3_finalize(one);
}

static rocl_stats_options options_of(unsigned by)
{
    return (rocl_stats_options){.reports = 1u << ROCL_REPORT_LAUNCH,
                                .by_rank = by & 1,
                                .by_agent = by & 2,
                                .by_stream = by & 4};
}

static void check_trace(const char *names, unsigned by)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10};
    const rocl_stats_options o = options_of(by);
    rocl_trace *t = open_trace(names, &open);
    sqlite3 *db = launches_of(t);
    rocl_tables *all = stats_of(t, &o);
    check_launches(db, &all->tables[0], &o);
    check_longest(db, &all->tables[1], 0);
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* ---- tests ---- */

static const char *const traces[] = {
    "schema-3.0.0", "schema-3.0.5", "schema-4.1.0",
    "merged",       "rank0 rank1",  "node-rank0 node-rank1 node-rank2 node-rank3",
    "graph",
};

static void test_fixtures(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (unsigned by = 0; by < 8; by++)
            check_trace(traces[i], by);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t steps = seed % 3 ? 60 : 100000;
        world w;
        world_begin(&w, seed);
        for (int i = 0; i < 150; i++)
            add_random(&w, steps, steps / 10, 2 + seed * 3);
        check_trace(world_end(&w), (unsigned)seed % 8);
    }
}

/* Two calls have the kernel's stack id: the first counts; a marker is no call. */
static void test_first_call(void **state)
{
    const rocl_options open = {.jobs = 1};
    const rocl_stats_options o = options_of(0);
    world w;
    (void)state;
    world_begin(&w, 1);
    add_host(&w, true, 0, 7, 10, 500);
    add_host(&w, false, 0, 7, 120, 130);
    add_host(&w, false, 0, 7, 100, 150);
    add_kernel(&w, 7, 175, 200);
    add_kernel(&w, 7, 140, 300);
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = stats_of(t, &o);
    int64_t early = 0, longest = 0;
    for (size_t i = 0; i < all->tables[0].row_count; i++) {
        const rocl_table *rows = &all->tables[0];
        check_real(rows, i, "call_average_ns", 50);
        early += int_of(rows, i, "early");
        longest =
            longest > int_of(rows, i, "delay_max_ns") ? longest : int_of(rows, i, "delay_max_ns");
    }
    assert_int_equal(early, 1);
    assert_int_equal(longest, 25);
    assert_int_equal(all->tables[1].row_count, 1);
    rocl_tables_free(all);
    rocl_trace_close(t);
    check_trace(w.path, 0);
}

/* What is cut off: counts and sums of the others. */
static void check_top(const rocl_table *whole, const rocl_table *cut, size_t top)
{
    size_t n = whole->row_count, shown = n > top ? top : n;
    int64_t count = 0;
    double kernel = 0;
    char text[64];
    assert_int_equal(cut->row_count, shown + (shown < n));
    for (size_t i = 0; i < shown; i++)
        check_int(cut, i, "launches", int_of(whole, i, "launches"));
    for (size_t i = shown; i < n; i++) {
        count += int_of(whole, i, "launches");
        kernel += cell(whole, i, "kernel_average_ns")->r * (double)int_of(whole, i, "launches");
    }
    if (shown == n)
        return;
    snprintf(text, sizeof text, "(%zu others)", n - shown);
    assert_string_equal(cell(cut, shown, "name")->text, text);
    check_int(cut, shown, "launches", count);
    check_real(cut, shown, "kernel_average_ns", kernel / (double)count);
    check_none(cut, shown, "call");
    check_none(cut, shown, "delay_median_ns");
}

static void test_top(void **state)
{
    const rocl_options open = {.jobs = 2};
    rocl_stats_options o = options_of(6);
    rocl_trace *t = open_trace("rank0 rank1", &open);
    sqlite3 *db = launches_of(t);
    rocl_tables *all = stats_of(t, &o);
    (void)state;
    for (o.top = 1; o.top < 30; o.top += 4) {
        rocl_tables *few = stats_of(t, &o);
        check_top(&all->tables[0], &few->tables[0], o.top);
        check_longest(db, &few->tables[1], o.top);
        rocl_tables_free(few);
    }
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

static double sort_value(const rocl_table *t, size_t row, rocl_sort_by by)
{
    double delay = cell(t, row, "delay_average_ns")->type == ROCL_DATUM_REAL
                       ? cell(t, row, "delay_average_ns")->r
                       : 0;
    if (by == ROCL_BY_CALLS)
        return (double)int_of(t, row, "launches");
    if (by == ROCL_BY_TOTAL)
        return delay * (double)int_of(t, row, "launches");
    return by == ROCL_BY_AVERAGE            ? delay
           : by == ROCL_BY_MAX && delay > 0 ? (double)int_of(t, row, "delay_max_ns")
                                            : 0;
}

static void test_sorts(void **state)
{
    const rocl_options open = {.jobs = 2};
    rocl_trace *t = open_trace("nasty-3.0.5 rank1", &open);
    (void)state;
    for (int by = 0; by <= ROCL_BY_NAME; by++) {
        rocl_stats_options o = options_of(4);
        o.sort = (rocl_sort_by)by;
        rocl_tables *all = stats_of(t, &o);
        const rocl_table *rows = &all->tables[0];
        assert_true(rows->row_count > 5);
        for (size_t i = 1; i < rows->row_count; i++) {
            double a = sort_value(rows, i - 1, o.sort), b = sort_value(rows, i, o.sort);
            assert_true(a >= b * (1 - 1e-12));
            if (by == ROCL_BY_NAME)
                assert_true(strcmp(cell(rows, i - 1, "name")->text, cell(rows, i, "name")->text) <=
                            0);
        }
        rocl_tables_free(all);
    }
    rocl_trace_close(t);
}

static void test_same(void **state)
{
    const rocl_stats_options o = options_of(7);
    (void)state;
    check_same_bytes("schema-3.0.5", &o);
    check_same_bytes("rank0 rank1", &o);
    check_same_bytes("nasty-3.0.0", &o);
}

/* The longest times there are; and nothing at all. */
static void test_edges(void **state)
{
    const rocl_options open = {.jobs = 1};
    const rocl_stats_options o = options_of(0);
    world w;
    (void)state;
    world_begin(&w, 1);
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = stats_of(t, &o);
    assert_int_equal(all->count, 4);
    assert_int_equal(all->tables[0].row_count + all->tables[1].row_count, 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
    world_begin(&w, 1);
    add_host(&w, false, 0, UINT64_C(1) << 60, 0, 1);
    for (int i = 0; i < 9; i++)
        add_kernel(&w, UINT64_C(1) << 60, INT64_MAX, INT64_MAX);
    t = open_trace(world_end(&w), &open);
    all = stats_of(t, &o);
    check_int(&all->tables[0], 0, "delay_max_ns", INT64_MAX - 1);
    check_int(&all->tables[0], 0, "delay_median_ns", INT64_MAX - 1);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),   cmocka_unit_test(test_random),
        cmocka_unit_test(test_first_call), cmocka_unit_test(test_top),
        cmocka_unit_test(test_sorts),      cmocka_unit_test(test_same),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests_name("stats_launch", tests, enter, leave);
}

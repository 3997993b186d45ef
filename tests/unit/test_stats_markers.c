/* The report on markers against brute force: every range is held against every call of its thread,
 * what runs for it is asked for each stretch between two neighbouring times. The rows come by SQL
 * from the same databases. */
#include "test_stats_sql.h"

typedef struct work { /* of one range */
    int64_t start, end;
} work;

/* What a row has to say. */
typedef struct sums {
    int64_t count, total, min, max, span, busy, exposed, kernels, copies;
} sums;

enum { WORK_MAX = 20000 };

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* ---- one range ---- */

static bool runs(const work *list, size_t n, int64_t from, int64_t to)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].start <= from && list[i].end >= to)
            return true;
    return false;
}

/* Busy: any work runs. Exposed: the range lasts, and none does. */
static void judge(sums *s, const work *list, size_t n, int64_t start, int64_t end)
{
    static int64_t edges[2 * WORK_MAX + 2];
    size_t k = 0;
    edges[k++] = start;
    edges[k++] = end;
    for (size_t i = 0; i < n; i++) {
        edges[k++] = list[i].start;
        edges[k++] = list[i].end;
    }
    qsort(edges, k, sizeof *edges, by_value);
    for (size_t i = 1; i < k; i++) {
        bool any = runs(list, n, edges[i - 1], edges[i]);
        int64_t length = edges[i] - edges[i - 1];
        s->busy += any ? length : 0;
        s->exposed += !any && edges[i - 1] >= start && edges[i] <= end ? length : 0;
    }
}

static void add_span(sums *s, const work *list, size_t n)
{
    int64_t first = INT64_MAX, last = 0;
    for (size_t i = 0; i < n; i++) {
        first = list[i].start < first ? list[i].start : first;
        last = list[i].end > last ? list[i].end : last;
    }
    s->span += n ? last - first : 0;
}

/* Work whose call is within the range, on its thread. */
static size_t load_work(sqlite3_stmt *inside, int64_t range, sums *s, work *list)
{
    size_t n = 0;
    sqlite3_bind_int64(inside, 1, range);
    while (sqlite3_step(inside) == SQLITE_ROW) {
        assert_true(n < WORK_MAX);
        list[n].start = sqlite3_column_int64(inside, 0);
        list[n++].end = sqlite3_column_int64(inside, 1);
        s->copies += sqlite3_column_int64(inside, 2);
        s->kernels += !sqlite3_column_int64(inside, 2);
    }
    sqlite3_reset(inside);
    return n;
}

static void add_range(sqlite3_stmt *inside, sqlite3_stmt *ranges, sums *s)
{
    static work list[WORK_MAX];
    int64_t start = sqlite3_column_int64(ranges, 1), end = sqlite3_column_int64(ranges, 2);
    size_t n = load_work(inside, sqlite3_column_int64(ranges, 0), s, list);
    s->min = s->count && s->min < end - start ? s->min : end - start;
    s->max = s->max > end - start ? s->max : end - start;
    s->total += end - start;
    s->count++;
    add_span(s, list, n);
    judge(s, list, n, start, end);
}

/* ---- rows ---- */

static const char *const work_inside =
    "SELECT l.start, l.\"end\", l.copy FROM host r, host c, launched l WHERE r.rowid = ?1 AND "
    "c.cap = r.cap AND c.pid = r.pid AND c.tid = r.tid AND c.start >= r.start AND c.\"end\" <= "
    "r.\"end\" AND NOT c.marker AND l.call = c.rowid";

static sums sums_of(sqlite3 *db, const rocl_table *t, size_t row, bool by_rank)
{
    sums s = {0};
    sqlite3_stmt *inside = prepare(db, work_inside);
    sqlite3_stmt *ranges =
        prepare(db, by_rank ? "SELECT rowid, start, \"end\" FROM host WHERE marker AND name = ?1 "
                              "AND rank IS ?2"
                            : "SELECT rowid, start, \"end\" FROM host WHERE marker AND name = ?1");
    sqlite3_bind_text(ranges, 1, cell(t, row, "name")->text, -1, SQLITE_STATIC);
    if (by_rank)
        sqlite3_bind_int64(ranges, 2, int_of(t, row, "rank"));
    while (sqlite3_step(ranges) == SQLITE_ROW)
        add_range(inside, ranges, &s);
    sqlite3_finalize(ranges);
    sqlite3_finalize(inside);
    return s;
}

static void check_row(const rocl_table *t, size_t row, const sums *s)
{
    assert_true(s->count > 0);
    check_int(t, row, "count", s->count);
    check_int(t, row, "total_ns", s->total);
    check_real(t, row, "average_ns", (double)s->total / (double)s->count);
    check_int(t, row, "min_ns", s->min);
    check_int(t, row, "max_ns", s->max);
    check_int(t, row, "gpu_span_ns", s->span);
    check_int(t, row, "gpu_busy_ns", s->busy);
    check_int(t, row, "exposed_ns", s->exposed);
    check_int(t, row, "kernels", s->kernels);
    check_int(t, row, "copies", s->copies);
}

static rocl_stats_options options_of(bool by_rank)
{
    return (rocl_stats_options){.reports = 1u << ROCL_REPORT_MARKERS, .by_rank = by_rank};
}

/* How many kernels and copies there are in all rows. */
static int64_t check_trace(const char *names, bool by_rank)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10};
    const rocl_stats_options o = options_of(by_rank);
    rocl_trace *t = open_trace(names, &open);
    sqlite3 *db = events_of(t);
    rocl_tables *all = stats_of(t, &o);
    const rocl_table *rows = &all->tables[0];
    int64_t n = 0;
    run_sql(db, "CREATE INDEX by_call ON launched(call); CREATE INDEX by_thread ON host(tid)");
    assert_int_equal(all->count, 2);
    assert_int_equal(rows->row_count,
                     number(db, by_rank ? "SELECT count(*) FROM (SELECT DISTINCT name, rank FROM "
                                          "host WHERE marker)"
                                        : "SELECT count(DISTINCT name) FROM host WHERE marker"));
    for (size_t row = 0; row < rows->row_count; row++) {
        sums s = sums_of(db, rows, row, by_rank);
        check_row(rows, row, &s);
        n += s.kernels + s.copies;
    }
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
    return n;
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
    for (size_t i = 0; i < COUNT(traces); i++) {
        assert_true(check_trace(traces[i], false) > 0);
        assert_true(check_trace(traces[i], true) > 0);
    }
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        uint64_t steps = seed % 4 ? 60 : 100000;
        world w;
        world_begin(&w, seed);
        for (int i = 0; i < 150; i++)
            add_random(&w, steps, steps / (1 + seed % 10), 2 + seed);
        check_trace(world_end(&w), seed % 2);
    }
}

/* A table of one row for a world in which all ranges have one name. */
static rocl_tables *one_row(world *w)
{
    const rocl_options open = {.jobs = 1};
    const rocl_stats_options o = options_of(false);
    world_sql(w, "UPDATE rocpd_region%%S SET name_id = 9001");
    rocl_trace *t = open_trace(world_end(w), &open);
    rocl_tables *all = stats_of(t, &o);
    rocl_trace_close(t);
    assert_int_equal(all->tables[0].row_count, 1);
    return all;
}

/* By hand: 20 of 100 before the kernel, which runs on for 30; a copy apart, behind a gap of 5. */
static void test_one(void **state)
{
    world w;
    (void)state;
    world_begin(&w, 1);
    add_host(&w, true, 0, 1, 100, 200);
    add_host(&w, false, 0, 2, 100, 110);
    add_kernel(&w, 2, 120, 230);
    add_copy(&w, 2, 235, 240);
    rocl_tables *all = one_row(&w);
    check_row(&all->tables[0], 0,
              &(sums){.count = 1,
                      .total = 100,
                      .min = 100,
                      .max = 100,
                      .span = 120,
                      .busy = 115,
                      .exposed = 20,
                      .kernels = 1,
                      .copies = 1});
    rocl_tables_free(all);
    check_trace(w.path, false);
}

/* Ranges that nest and cross: a call is in each that lasts as long as it does, on its thread. */
static void test_nested(void **state)
{
    world w;
    (void)state;
    world_begin(&w, 1);
    add_host(&w, true, 0, 0, 100, 200);
    add_host(&w, true, 0, 0, 100, 150);
    add_host(&w, true, 0, 0, 140, 300);
    add_host(&w, true, 1, 0, 0, 1000);
    add_host(&w, false, 0, 2, 145, 150); /* in three */
    add_host(&w, false, 0, 3, 145, 151); /* in two */
    add_host(&w, false, 0, 4, 190, 250); /* in one */
    add_host(&w, false, 0, 5, 301, 302); /* in none */
    for (uint64_t stack = 1; stack <= 6; stack++)
        add_kernel(&w, stack, 400, 410);
    rocl_tables *all = one_row(&w);
    check_int(&all->tables[0], 0, "kernels", 3 + 2 + 1);
    check_int(&all->tables[0], 0, "gpu_span_ns", 3 * 10);
    check_int(&all->tables[0], 0, "gpu_busy_ns", 3 * 10);
    check_int(&all->tables[0], 0, "exposed_ns", 100 + 50 + 160 + 1000);
    rocl_tables_free(all);
    check_trace(w.path, false);
}

/* The first call of a stack id has its work, also where only another one is in a range. */
static void test_first_call(void **state)
{
    world w;
    (void)state;
    world_begin(&w, 1);
    add_host(&w, true, 0, 0, 100, 200);
    add_host(&w, false, 0, 2, 150, 160);
    add_host(&w, false, 1, 2, 90, 95);
    add_host(&w, false, 1, 3, 160, 170);
    add_host(&w, false, 0, 3, 150, 160);
    add_kernel(&w, 2, 400, 410);
    add_kernel(&w, 3, 400, 411);
    rocl_tables *all = one_row(&w);
    check_int(&all->tables[0], 0, "kernels", 1);
    check_int(&all->tables[0], 0, "gpu_busy_ns", 11);
    rocl_tables_free(all);
    check_trace(w.path, false);
}

static void test_deep(void **state)
{
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 300; i++)
        add_host(&w, true, 0, 0, 100 + i, 1000 - i);
    add_host(&w, false, 0, 1, 400, 700);
    add_kernel(&w, 1, 500, 600);
    rocl_tables *all = one_row(&w);
    check_int(&all->tables[0], 0, "count", 300);
    check_int(&all->tables[0], 0, "kernels", 300);
    check_int(&all->tables[0], 0, "gpu_busy_ns", 300 * 100);
    rocl_tables_free(all);
}

static double sort_value(const rocl_table *t, size_t row, rocl_sort_by by)
{
    static const char *const keys[] = {"total_ns", "count", NULL, "max_ns", "count"};
    return by == ROCL_BY_AVERAGE ? cell(t, row, "average_ns")->r : (double)int_of(t, row, keys[by]);
}

static void test_sorts(void **state)
{
    const rocl_options open = {.jobs = 2};
    rocl_trace *t = open_trace("nasty-3.0.5 rank1", &open);
    (void)state;
    for (int by = 0; by <= ROCL_BY_NAME; by++) {
        rocl_stats_options o = options_of(false);
        o.sort = (rocl_sort_by)by;
        rocl_tables *all = stats_of(t, &o);
        const rocl_table *rows = &all->tables[0];
        assert_true(rows->row_count > 2);
        for (size_t i = 1; i < rows->row_count; i++) {
            double a = sort_value(rows, i - 1, o.sort), b = sort_value(rows, i, o.sort);
            int names = strcmp(cell(rows, i - 1, "name")->text, cell(rows, i, "name")->text);
            assert_true(by == ROCL_BY_NAME ? names < 0 : a > b || (a >= b && names < 0));
        }
        rocl_tables_free(all);
    }
    rocl_trace_close(t);
}

/* Numbers of the rows that are cut off add up, least and most are of all of them. */
static void check_top(const rocl_table *whole, const rocl_table *cut, size_t top)
{
    static const char *const added[] = {"count",      "total_ns", "gpu_span_ns", "gpu_busy_ns",
                                        "exposed_ns", "kernels",  "copies"};
    size_t n = whole->row_count;
    int64_t min = INT64_MAX, max = 0;
    char text[64];
    assert_int_equal(cut->row_count, top + 1);
    for (size_t k = 0; k < COUNT(added); k++) {
        int64_t sum = 0;
        for (size_t i = top; i < n; i++)
            sum += int_of(whole, i, added[k]);
        check_int(cut, top, added[k], sum);
        check_int(cut, top - 1, added[k], int_of(whole, top - 1, added[k]));
    }
    for (size_t i = top; i < n; i++) {
        min = int_of(whole, i, "min_ns") < min ? int_of(whole, i, "min_ns") : min;
        max = int_of(whole, i, "max_ns") > max ? int_of(whole, i, "max_ns") : max;
    }
    check_int(cut, top, "min_ns", min);
    check_int(cut, top, "max_ns", max);
    check_none(cut, top, "rank");
    snprintf(text, sizeof text, "(%zu others)", n - top);
    assert_string_equal(cell(cut, top, "name")->text, text);
}

static void test_top(void **state)
{
    const rocl_options open = {.jobs = 2};
    rocl_stats_options o = options_of(true);
    rocl_trace *t = open_trace("rank0 rank1", &open);
    rocl_tables *all = stats_of(t, &o);
    (void)state;
    assert_true(all->tables[0].row_count > 2);
    for (o.top = 1; o.top < all->tables[0].row_count; o.top++) {
        rocl_tables *few = stats_of(t, &o);
        check_top(&all->tables[0], &few->tables[0], o.top);
        rocl_tables_free(few);
    }
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_same(void **state)
{
    const rocl_stats_options o = options_of(true);
    (void)state;
    check_same_bytes("schema-3.0.5", &o);
    check_same_bytes("rank0 rank1", &o);
    check_same_bytes("nasty-3.0.0", &o);
}

/* Nothing; and the longest times there are, whose sums stay at the largest. */
static void test_edges(void **state)
{
    const rocl_options open = {.jobs = 1};
    const rocl_stats_options o = options_of(false);
    world w;
    (void)state;
    world_begin(&w, 1);
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = stats_of(t, &o);
    assert_int_equal(all->count, 2);
    assert_int_equal(all->tables[0].row_count, 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
    world_begin(&w, 1);
    add_host(&w, true, 0, 1, 0, INT64_MAX);
    add_host(&w, true, 0, 1, 0, INT64_MAX);
    add_host(&w, false, 0, INT64_MAX, 0, INT64_MAX);
    add_kernel(&w, INT64_MAX, 0, INT64_MAX);
    all = one_row(&w);
    check_row(&all->tables[0], 0,
              &(sums){.count = 2,
                      .total = INT64_MAX,
                      .min = INT64_MAX,
                      .max = INT64_MAX,
                      .span = INT64_MAX,
                      .busy = INT64_MAX,
                      .kernels = 2});
    rocl_tables_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),   cmocka_unit_test(test_random),
        cmocka_unit_test(test_one),        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_first_call), cmocka_unit_test(test_deep),
        cmocka_unit_test(test_sorts),      cmocka_unit_test(test_top),
        cmocka_unit_test(test_same),       cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests_name("stats_markers", tests, enter, leave);
}

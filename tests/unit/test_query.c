/* SQL over a trace, against loops over a plain scan of it. */
#include "tests/unit/stats_records.h"

#include "query/block.h"

#include <inttypes.h>
#include <stdarg.h>

/* ---- blocks ---------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void test_packed_cells(void **unused)
{
    (void)unused;
    enum { ROWS = 300, COLUMNS = 12 };
    static int64_t cells[COLUMNS][ROWS];
    for (int round = 0; round < 200; round++) {
        const uint32_t rows = (uint32_t)(next_random() % ROWS);
        for (int c = 0; c < COLUMNS; c++) {
            const unsigned bits = (unsigned)(next_random() % 65);
            const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
            const uint64_t base = next_random(), nulls = next_random() % 3;
            for (uint32_t i = 0; i < rows; i++)
                cells[c][i] = nulls && next_random() % 4 < nulls
                                  ? ROCL_CELL_NULL
                                  : (int64_t)(base + (next_random() & mask));
        }
        rocl_cell_block *b = rocl_cells_pack(cells[0], ROWS, rows, COLUMNS);
        assert_non_null(b);
        for (uint32_t c = 0; c < COLUMNS; c++)
            for (uint32_t i = 0; i < rows; i++)
                assert_true(rocl_cell_at(b, c, i) == cells[c][i]);
        free(b);
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

typedef struct answer {
    int64_t cells[4096][4];
    size_t rows;
    char text[4096]; /* of the last row, its first cell */
    bool descends;   /* somewhere its text is less than the one before */
} answer;

static answer got;

static rocl_status keep_row(void *ctx, const rocl_result_row *r, rocl_error *err)
{
    (void)ctx, (void)err;
    for (size_t i = 0; r->values && i < r->count && i < 4; i++) {
        const rocl_sql_value *v = &r->values[i];
        got.cells[got.rows][i] = v->type == ROCL_SQL_REAL ? (int64_t)v->real : v->integer;
    }
    if (r->values && r->values[0].type == ROCL_SQL_TEXT) {
        got.descends |= got.rows && strcmp(got.text, r->values[0].text) > 0;
        snprintf(got.text, sizeof got.text, "%s", r->values[0].text);
    }
    if (r->values && got.rows + 1 < sizeof got.cells / sizeof *got.cells)
        got.rows++;
    return ROCL_OK;
}

static void ask(rocl_query *q, const char *format, ...)
{
    char sql[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    rocl_error *err = rocl_error_new();
    got.rows = 0;
    got.descends = false;
    got.text[0] = 0;
    const rocl_status st = rocl_query_run(q, sql, keep_row, NULL, err);
    if (st > ROCL_PARTIAL)
        fail_msg("%s: %s", sql, rocl_error_text(err));
    rocl_error_free(err);
}

static int64_t ask_one(rocl_query *q, const char *sql)
{
    ask(q, "%s", sql);
    assert_int_equal(got.rows, 1);
    return got.cells[0][0];
}

typedef struct source {
    rocl_trace *trace;
    rocl_query *query;
    records kernels, regions;
} source;

/* Of the fixtures: names apart by spaces. */
static rocl_trace *open_inputs(const char *names, const rocl_options *o)
{
    static char paths[4][512];
    const char *list[4], *fixtures = getenv("FIXTURES");
    size_t n = 0;
    assert_non_null(fixtures);
    for (const char *p = names; *p; n++) {
        const int len = (int)strcspn(p, " ");
        snprintf(paths[n], sizeof paths[n], "%s/%.*s.db", fixtures, len, p);
        list[n] = paths[n];
        p += len;
        p += *p == ' ';
    }
    rocl_trace *t = NULL;
    assert_int_equal(rocl_trace_open(&t, list, n, o, NULL), ROCL_OK);
    return t;
}

static source open_source(const char *names, unsigned jobs, size_t memory)
{
    const rocl_options o = {.jobs = jobs};
    source s = {.trace = open_inputs(names, &o)};
    s.kernels = records_of(s.trace, ROCL_BIT(ROCL_DISPATCH));
    s.regions = records_of(s.trace, ROCL_BIT(ROCL_REGION));
    const rocl_query_options qo = {.memory = memory};
    assert_int_equal(rocl_query_open(&s.query, s.trace, &qo, NULL), ROCL_OK);
    return s;
}

static void close_source(source *s)
{
    rocl_query_close(s->query);
    free(s->kernels.all);
    free(s->regions.all);
    rocl_trace_close(s->trace);
}

static const char *const inputs[] = {"everything", "rank0 rank1", "merged", "nasty-3.0.5"};

static void test_windows(source *s)
{
    for (int round = 0; round < 20 && s->kernels.count; round++) {
        const rocl_event *a = &s->kernels.all[next_random() % s->kernels.count].e;
        const rocl_event *b = &s->kernels.all[next_random() % s->kernels.count].e;
        int64_t count = 0, sum = 0, same = 0;
        for (size_t i = 0; i < s->kernels.count; i++) {
            const rocl_event *e = &s->kernels.all[i].e;
            if (e->start >= a->start && e->end < b->end) {
                count++;
                sum += e->end - e->start;
            }
            same += e->name == a->name;
        }
        ask(s->query,
            "SELECT count(*), coalesce(sum(end - start), 0) FROM kernel WHERE start >= %" PRId64
            " AND end < %" PRId64 ".5 - 0.5",
            a->start, b->end);
        assert_int_equal(got.cells[0][0], count);
        assert_int_equal(got.cells[0][1], sum);
        ask(s->query, "SELECT count(*) FROM kernel WHERE start BETWEEN %" PRId64 " AND %" PRId64,
            a->start, a->start);
        assert_true(got.cells[0][0] >= 1);
        size_t len;
        const char *name = rocl_text(s->trace, a->name, &len);
        if (a->name == ROCL_NONE || strlen(name) != len)
            continue; /* NULL is equal to nothing, and a parameter cannot hold a NUL */
        assert_int_equal(rocl_query_bind(s->query, "n", name, NULL), ROCL_OK);
        ask(s->query, "SELECT count(*) FROM kernel WHERE name = :n");
        if (got.cells[0][0] != same)
            fail_msg("%s: %d, not %d", name, (int)got.cells[0][0], (int)same);
    }
}

static void test_orders(source *s)
{
    ask(s->query, "SELECT start, end FROM kernel ORDER BY start DESC, end");
    assert_int_equal(got.rows, s->kernels.count);
    for (size_t i = 1; i < got.rows; i++)
        assert_true(
            got.cells[i - 1][0] > got.cells[i][0] ||
            (got.cells[i - 1][0] == got.cells[i][0] && got.cells[i - 1][1] <= got.cells[i][1]));
    ask(s->query, "SELECT name FROM kernel ORDER BY name");
    assert_false(got.descends);
    /* a group for each name, and all rows in them */
    ask(s->query, "SELECT count(*), count(DISTINCT coalesce(name, '-none-')) FROM kernel");
    const int64_t rows = got.cells[0][0], names = got.cells[0][1];
    ask(s->query, "SELECT sum(n), count(*), count(DISTINCT coalesce(name, '-none-')) FROM (SELECT "
                  "name, count(*) AS n "
                  "FROM kernel GROUP BY name)");
    assert_int_equal(got.cells[0][0], rows);
    assert_int_equal(got.cells[0][1], names);
    assert_int_equal(got.cells[0][2], names);
    ask(s->query, "SELECT DISTINCT name FROM kernel");
    assert_int_equal(got.rows, names);
}

/* Calls and kernels with one stack id, of one capture. */
static void test_joins(source *s)
{
    int64_t pairs = 0, inside = 0;
    for (size_t i = 0; i < s->kernels.count; i++) {
        const record *k = &s->kernels.all[i];
        for (size_t j = 0; j < s->regions.count; j++) {
            const record *r = &s->regions.all[j];
            pairs += k->capture->guid == r->capture->guid && k->e.stack_id == r->e.stack_id;
            inside += k->e.start >= r->e.start && k->e.end <= r->e.end;
        }
    }
    assert_int_equal(ask_one(s->query, "SELECT count(*) FROM kernel k JOIN region r ON r.guid = "
                                       "k.guid AND r.stack_id = k.stack_id"),
                     pairs);
    assert_int_equal(ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "k.start >= r.start AND k.end <= r.end"),
                     inside);
    assert_int_equal(ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "k.start >= r.start AND k.end <= r.end AND k.nid IS "
                                       "r.nid AND k.rank IS r.rank"),
                     ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "+k.start >= r.start AND +k.end <= r.end AND +k.nid IS "
                                       "r.nid AND +k.rank IS r.rank"));
    assert_int_equal(ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "k.start > r.start AND k.start < r.end AND k.pid = r.pid"),
                     ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "+k.start > r.start AND +k.start < r.end AND +k.pid = "
                                       "r.pid"));
    /* Scans whose rows are told apart by their rowids. */
    assert_int_equal(ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "k.stack_id = r.stack_id OR k.id = r.id"),
                     ask_one(s->query, "SELECT count(*) FROM region r CROSS JOIN kernel k WHERE "
                                       "+k.stack_id = r.stack_id OR +k.id = r.id"));
    ask(s->query, "SELECT (SELECT count(*) FROM launch), (SELECT count(*) FROM _work)");
    assert_int_equal(got.cells[0][0], got.cells[0][1]);
}

/* What a scan tests, and the same where SQLite alone does: behind a "+". */
static void test_pushed_down(source *s)
{
    static const char *const conditions[] = {
        "%sname LIKE '%%a%%'",
        "%sname LIKE 'H_p%%'",
        "%sname LIKE '%%\xc3\xa9%%'",
        "%sname GLOB '*[A-M]*'",
        "%sname NOT LIKE '%%a%%'",
        "%sname IN ('hipLaunchKernel', 'none', NULL)",
        "%sname IN (NULL)",
        "%sname = 'hipMalloc' OR %sname = 'hipLaunchKernel'",
        "%sname LIKE 'hsa%%' OR %sname LIKE 'hip%%'",
        "%sname COLLATE NOCASE IN ('HIPMALLOC')",
        "%skind IN ('kernel', 'region')",
        "%skind LIKE 'k%%'",
        "%skind = 'nothing'",
        "%spid IN (SELECT pid FROM process)",
        "%sid IN (1, 3.0, 4.5, 'x')",
        "%sagent IN ('GPU 0', 'GPU 1') AND %sname LIKE '%%e%%'",
        "%sdepth > 0 AND %sname LIKE 'h%%'",
    };
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        char pushed[512], left[512], sql[2048];
        snprintf(pushed, sizeof pushed, conditions[i], "", "");
        snprintf(left, sizeof left, conditions[i], "+", "+");
        snprintf(sql, sizeof sql,
                 "SELECT (SELECT count(*) FROM event WHERE %s), (SELECT count(*) FROM event WHERE "
                 "%s)",
                 pushed, left);
        ask(s->query, "%s", sql);
        if (got.cells[0][0] != got.cells[0][1])
            fail_msg("%s: %d, not %d", pushed, (int)got.cells[0][0], (int)got.cells[0][1]);
    }
    /* Rows of the left side stay, whatever a condition of the join says of them. */
    assert_int_equal(
        ask_one(s->query, "SELECT count(DISTINCT guid || '-' || id) FROM (SELECT k.guid, k.id FROM "
                          "kernel k LEFT JOIN region r ON r.stack_id = k.stack_id "
                          "AND k.name LIKE 'C%%' AND k.id <> 1 AND k.id IN (1, 2))"),
        ask_one(s->query, "SELECT count(DISTINCT guid || '-' || id) FROM kernel"));
}

static void test_queries(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
            for (size_t memory = 1; memory < 1u << 30; memory <<= 28) { /* a file, or memory */
                source s = open_source(inputs[i], jobs, memory);
                assert_int_equal(ask_one(s.query, "SELECT count(*) FROM kernel"), s.kernels.count);
                assert_int_equal(ask_one(s.query, "SELECT count(*) FROM region"), s.regions.count);
                test_windows(&s);
                test_orders(&s);
                test_joins(&s);
                test_pushed_down(&s);
                close_source(&s);
            }
        }
    }
}

/* A cursor that is closed early leaves a trace that can be read again. */
static void test_limits(void **unused)
{
    (void)unused;
    source s = open_source("rank0 rank1", 2, 0);
    for (int i = 0; i < 30; i++) {
        ask(s.query, "SELECT * FROM kernel LIMIT %d", i % 3);
        assert_int_equal(got.rows, i % 3);
        ask(s.query, "SELECT 1 FROM region r, kernel k LIMIT 5");
        assert_int_equal(got.rows, 5);
    }
    assert_int_equal(ask_one(s.query, "SELECT count(*) FROM kernel"), s.kernels.count);
    close_source(&s);
}

static void test_functions(void **unused)
{
    (void)unused;
    source s = open_source("rank0", 1, 0);
    static const struct {
        const char *sql;
        int64_t value;
    } cases[] = {
        {"SELECT median(x) FROM (SELECT 1 AS x UNION ALL SELECT 5 UNION ALL SELECT 3)", 3},
        {"SELECT percentile(x, 75) FROM (SELECT 0 AS x UNION ALL SELECT 10 UNION ALL SELECT NULL)",
         7},
        {"SELECT round(stddev(x) * 1000) FROM (SELECT 2 AS x UNION ALL SELECT 4)", 1414},
        {"SELECT stddev(1) IS NULL", 1},
        {"SELECT overlap_ns(10, 20, 15, 40)", 5},
        {"SELECT overlap_ns(10, 20, 20, 40)", 0},
        {"SELECT union_ns(a, b) FROM (SELECT 10 AS a, 20 AS b UNION ALL SELECT 0, 5 UNION ALL "
         "SELECT 15, 30)",
         25},
        {"SELECT bandwidth(8, 2)", 4000000000},
        {"SELECT bandwidth(8, 0) IS NULL", 1},
        {"SELECT short_name('void ns::f<int>(float*)') = 'f'", 1},
        {"SELECT demangle('_Z1fi') IN ('f(int)', '_Z1fi')", 1},
        {"SELECT demangle('main') = 'main'", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ask_one(s.query, cases[i].sql), cases[i].value);
    close_source(&s);
}

static rocl_status expect_failure(rocl_query *q, const char *sql, const char *words)
{
    rocl_error *err = rocl_error_new();
    const rocl_status st = rocl_query_run(q, sql, keep_row, NULL, err);
    if (!strstr(rocl_error_text(err), words))
        fail_msg("%s: %s", sql, rocl_error_text(err));
    rocl_error_free(err);
    return st;
}

static void test_refusals(void **unused)
{
    (void)unused;
    source s = open_source("rank0", 1, 0);
    static const struct {
        const char *sql, *words;
    } cases[] = {
        {"SELECT nmae FROM kernel", "line 1, column 8: no such column: nmae"},
        {"SELECT 1;\n SELEC 2", "line 2, column 2: near \"SELEC\""},
        {"ATTACH '/tmp/x.db' AS x", "ATTACH"},
        {"VACUUM INTO '/tmp/x.db'", "not allowed"},
        {"PRAGMA journal_mode = wal", "not allowed"},
        {"PRAGMA temp_store_directory = '/tmp'", "not allowed"},
        {"SELECT load_extension('x')", "load_extension"},
        {"DELETE FROM kernel", "may not be modified"},
        {"SELECT * FROM kernel WHERE id = ?", "has no value"},
        {"SELECT zeroblob(1000000000)", "too big"},
    };
    /* SQLite 3.37 does not tell the first ones where a statement is wrong. */
    for (size_t i = sqlite3_libversion_number() < 3038000 ? 2 : 0; i < sizeof cases / sizeof *cases;
         i++)
        assert_int_equal(expect_failure(s.query, cases[i].sql, cases[i].words), ROCL_USAGE);
    assert_int_equal(ask_one(s.query, "CREATE TEMP TABLE t AS SELECT * FROM kernel LIMIT 3; "
                                      "SELECT count(*) FROM t"),
                     3);
    close_source(&s);
    rocl_trace *t = open_inputs("rank0", &(rocl_options){0});
    const rocl_query_options o = {.seconds = 1};
    rocl_query *q;
    assert_int_equal(rocl_query_open(&q, t, &o, NULL), ROCL_OK);
    expect_failure(q,
                   "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT "
                   "count(*) FROM r",
                   "longer than 1 s");
    rocl_query_close(q);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_cells), cmocka_unit_test(test_queries),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_functions),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

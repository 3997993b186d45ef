/* Two traces side by side: against the summaries of each, against Mann and Whitney's test as the
 * books have it (pairs counted one by one), and after changes of known size. */
#include "tests/unit/stats.h"

#include "analysis/compare.h"

static const rocl_options two = {.jobs = 2};

static rocl_tables *compare(const char *a, const char *b, const rocl_options *oa,
                            const rocl_options *ob, double limit, rocl_growth *growth)
{
    const rocl_stats_options so = {0};
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    rocl_trace *ta = open_trace(a, oa), *tb = open_trace(b, ob);
    if (rocl_compare(ta, tb, &so, limit, growth, &tables, err) > ROCL_PARTIAL) {
        print_error("%s\n", rocl_error_text(err));
        fail();
    }
    rocl_trace_close(ta);
    rocl_trace_close(tb);
    rocl_error_free(err);
    return tables;
}

static const char *const pairs[][2] = {
    {"rank0", "rank1"},
    {"rank1", "rank0"},
    {"rank0 rank1", "node-rank2 node-rank3"},
    {"schema-4.1.0", "sampled-4.1.0"},
    {"nasty-3.0.0", "everything"},
    {"rank0", "empty-tables"},
};

/* ---- against the summaries ---- */

static void check_side(const rocl_table *t, size_t row, const rocl_table *s, size_t there,
                       const char *calls, const char *total, const char *average,
                       const char *median)
{
    bool is = there < s->row_count;
    assert_int_equal(int_of(t, row, calls), is ? int_of(s, there, "calls") : 0);
    assert_int_equal(int_of(t, row, total), is ? int_of(s, there, "total_ns") : 0);
    assert_int_equal(cell(t, row, average)->is, is ? ROCL_DATUM_REAL : ROCL_DATUM_NONE);
    assert_int_equal(cell(t, row, median)->is, is ? ROCL_DATUM_INT : ROCL_DATUM_NONE);
    if (!is)
        return;
    check_real(t, row, average, real_of(s, there, "average_ns"));
    assert_int_equal(int_of(t, row, median), int_of(s, there, "median_ns"));
}

static void check_changes(const rocl_table *t, size_t row, bool in_a, bool in_b)
{
    int64_t a = int_of(t, row, "total_a_ns"), b = int_of(t, row, "total_b_ns");
    const char *status = text_of(t, row, "status");
    bool both = in_a && in_b;
    assert_int_equal(int_of(t, row, "change_ns"), b - a);
    if (a > 0)
        check_real(t, row, "change_percent", 100.0 * (double)(b - a) / (double)a);
    else
        assert_int_equal(cell(t, row, "change_percent")->is, ROCL_DATUM_NONE);
    assert_int_equal(strcmp(status, "added") == 0, !in_a);
    assert_int_equal(strcmp(status, "removed") == 0, !in_b);
    assert_int_equal(cell(t, row, "p")->is, both ? ROCL_DATUM_REAL : ROCL_DATUM_NONE);
    if (both)
        assert_int_equal(strcmp(text_of(t, row, "significant"), "yes") == 0,
                         real_of(t, row, "p") < 0.01);
    if (both && a > 0)
        check_real(t, row, "average_change_percent",
                   100 * (real_of(t, row, "average_b_ns") / real_of(t, row, "average_a_ns") - 1));
}

/* Every row of both summaries is in the table once, and nothing else. */
static void test_join(void **state)
{
    const rocl_stats_options summary = {.reports = 1u << ROCL_REPORT_SUMMARY};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        rocl_tables *all = compare(pairs[i][0], pairs[i][1], &two, &two, 0, NULL);
        rocl_tables *a = stats_of_inputs(pairs[i][0], &two, summary);
        rocl_tables *b = stats_of_inputs(pairs[i][1], &two, summary);
        const rocl_table *t = table_of(all, "compare");
        const rocl_table *sa = table_of(a, "summary"), *sb = table_of(b, "summary");
        size_t found[2] = {0};
        for (size_t r = 0; r < t->row_count; r++) {
            const char *domain = text_of(t, r, "domain"), *name = text_of(t, r, "name");
            size_t x = find_row(sa, domain, name), y = find_row(sb, domain, name);
            bool in_a = x < sa->row_count, in_b = y < sb->row_count;
            found[0] += in_a;
            found[1] += in_b;
            assert_true(in_a || in_b);
            check_side(t, r, sa, x, "calls_a", "total_a_ns", "average_a_ns", "median_a_ns");
            check_side(t, r, sb, y, "calls_b", "total_b_ns", "average_b_ns", "median_b_ns");
            check_changes(t, r, in_a, in_b);
            if (r)
                assert_true(llabs(int_of(t, r - 1, "change_ns")) >=
                            llabs(int_of(t, r, "change_ns")));
        }
        assert_true(t->row_count > 0);
        assert_int_equal(found[0], sa->row_count);
        assert_int_equal(found[1], sb->row_count);
        rocl_tables_free(all);
        rocl_tables_free(a);
        rocl_tables_free(b);
    }
}

/* ---- Mann and Whitney ---- */

/* By counting pairs, and from the places of all values in one row: t values share a place. */
static double naive_p(const int64_t *a, size_t n, const int64_t *b, size_t m)
{
    double u = 0, ties = 0, all = (double)(n + m);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            u += a[i] > b[k] ? 1 : a[i] == b[k] ? 0.5 : 0;
    for (size_t i = 0; i < n + m; i++) {
        int64_t v = i < n ? a[i] : b[i - n];
        double t = 0;
        for (size_t k = 0; k < n + m; k++)
            t += (k < n ? a[k] : b[k - n]) == v;
        ties += t * t - 1; /* of each of t equal ones: t^3 - t in all */
    }
    double mean = (double)n * (double)m / 2;
    double sigma = sqrt(mean / 6 * (all + 1 - ties / (all * (all - 1))));
    double z = (fabs(u - mean) - 0.5) / sigma;
    return sigma > 0 && z > 0 ? erfc(z / sqrt(2)) : 1;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Samples in order, as they come out of the sort. */
static double our_p(int64_t *a, size_t n, int64_t *b, size_t m)
{
    rocl_mann_whitney w = {0};
    qsort(a, n, sizeof *a, by_value);
    qsort(b, m, sizeof *b, by_value);
    for (size_t i = 0, k = 0; i < n || k < m;) {
        int64_t v = k == m || (i < n && a[i] < b[k]) ? a[i] : b[k];
        uint64_t x = 0, y = 0;
        for (; i < n && a[i] == v; i++)
            x++;
        for (; k < m && b[k] == v; k++)
            y++;
        rocl_mann_whitney_take(&w, x, y);
    }
    return rocl_mann_whitney_p(&w);
}

static void test_random_samples(void **state)
{
    unsigned seed = 4711;
    int64_t a[40], b[40];
    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (size_t)rand_r(&seed) % COUNT(a), m = 1 + (size_t)rand_r(&seed) % COUNT(b);
        int range = 1 + rand_r(&seed) % 60, shift = rand_r(&seed) % 30;
        for (size_t i = 0; i < n; i++)
            a[i] = rand_r(&seed) % range;
        for (size_t i = 0; i < m; i++)
            b[i] = rand_r(&seed) % range + shift;
        double expected = naive_p(a, n, b, m), ours = our_p(a, n, b, m);
        assert_true(fabs(ours - expected) <= 1e-9 * expected + 1e-15);
        assert_true(fabs(our_p(b, m, a, n) - ours) <= 1e-12);
    }
}

/* What other programs give: wilcox.test(a, b, exact = FALSE) of R, mannwhitneyu of SciPy. */
static void test_known_samples(void **state)
{
    int64_t low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10}, five[] = {5, 5, 5};
    (void)state;
    assert_true(fabs(our_p(low, 5, high, 5) - 0.012185780355344813) < 1e-12);
    assert_true(our_p(five, 3, five, 3) >= 1);
    assert_true(our_p(low, 1, high, 5) > 0.05);
    assert_true(our_p(low, 5, high, 0) >= 1);
}

/* ---- the table's p, from the events ---- */

typedef struct sample {
    const char *name;
    const rocl_trace *trace;
    int64_t v[1000];
    size_t n;
} sample;

static rocl_status take_sample(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    sample *s = ctx;
    (void)worker, (void)err;
    for (size_t i = 0; b->kind == ROCL_DISPATCH && i < b->count; i++)
        if (!strcmp(rocl_text(s->trace, b->dispatches[i].e.name, NULL), s->name)) {
            assert_true(s->n < COUNT(s->v));
            s->v[s->n++] = b->dispatches[i].e.duration;
        }
    return ROCL_OK;
}

static void scan(sample *s, const char *trace, const char *name)
{
    const rocl_options one = {.jobs = 1};
    rocl_trace *t = open_trace(trace, &one);
    s->name = name;
    s->trace = t;
    s->n = 0;
    assert_int_equal(rocl_trace_scan(t, take_sample, s, NULL), ROCL_OK);
    rocl_trace_close(t);
}

static void test_p(void **state)
{
    static sample a, b;
    size_t checked = 0;
    (void)state;
    rocl_tables *all = compare("rank0", "rank1", &two, &two, 0, NULL);
    const rocl_table *t = table_of(all, "compare");
    for (size_t r = 0; r < t->row_count; r++) {
        if (strcmp(text_of(t, r, "domain"), "KERNELS") != 0 || cell(t, r, "p")->is == 0)
            continue;
        scan(&a, "rank0", text_of(t, r, "name"));
        scan(&b, "rank1", text_of(t, r, "name"));
        check_real(t, r, "p", naive_p(a.v, a.n, b.v, b.n));
        checked++;
    }
    assert_true(checked >= 3);
    rocl_tables_free(all);
}

/* ---- no change, no events, any number of workers ---- */

static void test_same(void **state)
{
    static const char *const traces[] = {"rank0", "rank0 rank1", "everything", "nasty-3.0.0"};
    rocl_growth g;
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        rocl_tables *all = compare(traces[i], traces[i], &two, &two, 0, &g);
        const rocl_table *t = table_of(all, "compare");
        assert_true(t->row_count > 0);
        for (size_t r = 0; r < t->row_count; r++) {
            assert_string_equal(text_of(t, r, "status"), "same");
            assert_string_equal(text_of(t, r, "significant"), "no");
            assert_int_equal(int_of(t, r, "change_ns"), 0);
            check_real(t, r, "p", 1);
        }
        assert_int_equal(g.count, 0);
        assert_null(g.name);
        rocl_tables_free(all);
    }
}

static void test_same_bytes(void **state)
{
    static const rocl_options ways[] = {{.jobs = 1},
                                        {.jobs = 2},
                                        {.jobs = 7},
                                        {.jobs = 3, .reader = ROCL_READER_SQLITE},
                                        {.jobs = 2, .memory = 1 << 16}};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char *first = NULL;
        for (size_t w = 0; w < COUNT(ways); w++) {
            const rocl_options *other = &ways[(w + 1) % COUNT(ways)];
            rocl_tables *all = compare(pairs[i][0], pairs[i][1], &ways[w], other, 0, NULL);
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

static void test_nothing(void **state)
{
    rocl_growth g;
    (void)state;
    rocl_tables *all = compare("empty-tables", "empty-tables", &two, &two, 0, &g);
    assert_int_equal(table_of(all, "compare")->row_count, 0);
    assert_int_equal(g.count, 0);
    rocl_tables_free(all);
    all = compare("rank0", "empty-tables", &two, &two, 0, &g);
    assert_string_equal(text_of(table_of(all, "compare"), 0, "status"), "removed");
    assert_int_equal(g.count, 0);
    rocl_tables_free(all);
    all = compare("empty-tables", "rank0", &two, &two, 1e9, &g);
    assert_string_equal(text_of(table_of(all, "compare"), 0, "status"), "added");
    assert_true(g.count > 0 && g.added);
    rocl_tables_free(all);
}

/* ---- changes of known size ---- */

#define BIG   "Cijk_Alik_Bljk_HHS" /* 18 calls in rank0 */
#define OTHER "Cijk_Ailk_Bljk_SB"  /* 10 */

/* A copy of rank0 in which kernels called like this take so many times as long. */
static void stretch(const char *to, const char *like, int factor)
{
    char *sql;
    sqlite3 *db;
    sqlite3_stmt *names;
    assert_int_equal(sqlite3_open(to, &db), SQLITE_OK);
    names = prepare(db, "SELECT substr(name, 22) FROM sqlite_master WHERE type = 'table' AND name "
                        "LIKE 'rocpd_kernel_dispatch%'");
    assert_int_equal(sqlite3_step(names), SQLITE_ROW);
    const char *suffix = (const char *)sqlite3_column_text(names, 0);
    sql = sqlite3_mprintf("UPDATE \"rocpd_kernel_dispatch%w\" SET \"end\" = start + %d * (\"end\" "
                          "- start) WHERE kernel_id IN (SELECT id FROM "
                          "\"rocpd_info_kernel_symbol%w\" WHERE display_name LIKE '%q%%')",
                          suffix, factor, suffix, like);
    sqlite3_finalize(names);
    run_sql(db, sql);
    assert_true(sqlite3_changes(db) > 0);
    sqlite3_free(sql);
    sqlite3_close(db);
}

static void copy_rank0(const char *to)
{
    char path[512], command[1200];
    path_of(path, sizeof path, "rank0");
    snprintf(command, sizeof command, "cp %s %s && chmod u+w %s", path, to, to);
    assert_int_equal(system(command), 0);
}

static size_t changed_rows(const rocl_table *t)
{
    size_t n = 0;
    for (size_t r = 0; r < t->row_count; r++)
        n += strcmp(text_of(t, r, "status"), "same") != 0;
    return n;
}

static void test_growth(void **state)
{
    char file[96];
    rocl_growth g;
    (void)state;
    snprintf(file, sizeof file, "%s/b.db", folder);
    copy_rank0(file);
    stretch(file, OTHER, 2);
    rocl_tables *all = compare("rank0", file, &two, &two, 99, &g);
    const rocl_table *t = table_of(all, "compare");
    assert_int_equal(changed_rows(t), 1);
    assert_int_equal(int_of(t, 0, "calls_b"), 10);
    assert_int_equal(int_of(t, 0, "change_ns"), int_of(t, 0, "total_a_ns"));
    assert_string_equal(text_of(t, 0, "significant"), "yes");
    assert_int_equal(g.count, 1);
    assert_false(g.added);
    assert_true(fabs(g.percent - 100) < 1e-9);
    assert_string_equal(g.domain, "KERNELS");
    assert_string_equal(g.name, text_of(t, 0, "name"));
    rocl_tables_free(all);
    /* Not more than that, and what became faster did not grow. */
    rocl_tables_free(compare("rank0", file, &two, &two, 100.001, &g));
    assert_int_equal(g.count, 0);
    rocl_tables_free(compare(file, "rank0", &two, &two, 0, &g));
    assert_int_equal(g.count, 0);
    /* Beside a very long one it is too small to matter. */
    stretch(file, BIG, 10000);
    all = compare("rank0", file, &two, &two, 99, &g);
    assert_int_equal(g.count, 1);
    assert_non_null(strstr(g.name, "MT256x256x64"));
    rocl_tables_free(all);
}

static void test_top(void **state)
{
    const rocl_stats_options so = {.top = 2, .brief = true};
    rocl_tables *cut = NULL;
    (void)state;
    rocl_tables *whole = compare("rank0", "rank1", &two, &two, 0, NULL);
    rocl_trace *a = open_trace("rank0", &two), *b = open_trace("rank1", &two);
    assert_int_equal(rocl_compare(a, b, &so, 0, NULL, &cut, NULL), ROCL_OK);
    const rocl_table *t = table_of(cut, "compare"), *w = table_of(whole, "compare");
    assert_true(t->column_count < w->column_count);
    assert_int_equal(t->row_count, 3);
    int64_t sum = 0;
    for (size_t r = 0; r < w->row_count; r++)
        sum += int_of(w, r, "change_ns");
    for (size_t r = 0; r < 3; r++)
        sum -= int_of(t, r, "change_ns");
    assert_int_equal(sum, 0);
    rocl_trace_close(a);
    rocl_trace_close(b);
    rocl_tables_free(cut);
    rocl_tables_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),          cmocka_unit_test(test_random_samples),
        cmocka_unit_test(test_known_samples), cmocka_unit_test(test_p),
        cmocka_unit_test(test_same),          cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing),       cmocka_unit_test(test_growth),
        cmocka_unit_test(test_top),
    };
    return cmocka_run_group_tests_name("compare", tests, enter, leave);
}

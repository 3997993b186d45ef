/* Two traces side by side: against the summaries of each, against Mann and Whitney's test as the
 * books have it (pairs counted one by one), and after changes of known size. */
#include "tests/unit/stats_world.h"

#include "analysis/mann_whitney.h"

static const rocl_options two = {.jobs = 2};

static rocl_tables *compare(const char *a, const char *b, const rocl_options *oa,
                            const rocl_options *ob, double limit, rocl_gate *gate)
{
    const rocl_stats_options so = {0};
    rocl_tables *tables = NULL;
    rocl_error *err = rocl_error_new();
    if (gate)
        *gate = (rocl_gate){.average = limit, .total = limit};
    rocl_trace *ta = open_trace(a, oa), *tb = open_trace(b, ob);
    if (rocl_compare(ta, tb, &so, gate, &tables, err) > ROCL_PARTIAL) {
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
    assert_int_equal(cell(t, row, average)->type, is ? ROCL_DATUM_REAL : ROCL_DATUM_NONE);
    assert_int_equal(cell(t, row, median)->type, is ? ROCL_DATUM_INT : ROCL_DATUM_NONE);
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
        assert_int_equal(cell(t, row, "change_percent")->type, ROCL_DATUM_NONE);
    assert_int_equal(strcmp(status, "added") == 0, !in_a);
    assert_int_equal(strcmp(status, "removed") == 0, !in_b);
    assert_int_equal(cell(t, row, "p")->type, both ? ROCL_DATUM_REAL : ROCL_DATUM_NONE);
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

/* 2 U by counting pairs. */
static int64_t naive_twice_u(const int64_t *a, size_t n, const int64_t *b, size_t m)
{
    int64_t u = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            u += a[i] > b[k] ? 2 : a[i] == b[k];
    return u;
}

/* By counting pairs, and from the places of all values in one row: t values share a place. */
static double naive_p(const int64_t *a, size_t n, const int64_t *b, size_t m)
{
    double u = (double)naive_twice_u(a, n, b, m) / 2, ties = 0, all = (double)(n + m);
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

/* By trying every choice of n of all values. */
static rocl_probability naive_exact(const int64_t *a, size_t n, const int64_t *b, size_t m)
{
    int64_t first[20], other[20], nm = (int64_t)(n * m);
    int64_t off = llabs(naive_twice_u(a, n, b, m) - nm), far = 0;
    double all = 0, beyond = 0, farthest = 0;
    for (unsigned set = 0; set < 1u << (n + m); set++) {
        size_t x = 0, y = 0;
        if ((size_t)__builtin_popcount(set) != n)
            continue;
        for (size_t i = 0; i < n + m; i++) {
            int64_t v = i < n ? a[i] : b[i - n];
            if (set >> i & 1)
                first[x++] = v;
            else
                other[y++] = v;
        }
        int64_t distance = llabs(naive_twice_u(first, n, other, m) - nm);
        all++;
        beyond += distance >= off;
        farthest = distance > far ? 1 : farthest + (distance == far);
        far = distance > far ? distance : far;
    }
    return (rocl_probability){.p = beyond / all, .least = farthest / all};
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Samples in order, as they come out of the sort. */
static rocl_probability our_test(int64_t *a, size_t n, int64_t *b, size_t m)
{
    static rocl_mann_whitney w; /* is left as it was at first */
    qsort(a, n, sizeof *a, by_value);
    qsort(b, m, sizeof *b, by_value);
    for (size_t i = 0, k = 0; i < n || k < m;) {
        int64_t v = k == m || (i < n && a[i] < b[k]) ? a[i] : b[k];
        uint64_t x = 0, y = 0;
        for (; i < n && a[i] == v; i++)
            x++;
        for (; k < m && b[k] == v; k++)
            y++;
        rocl_mann_whitney_add(&w, x, y);
    }
    return rocl_mann_whitney_end(&w);
}

static double our_p(int64_t *a, size_t n, int64_t *b, size_t m)
{
    return our_test(a, n, b, m).p;
}

static void random_sample(int64_t *to, size_t n, int range, int shift, unsigned *seed)
{
    for (size_t i = 0; i < n; i++)
        to[i] = rand_r(seed) % range + shift;
}

/* Large ones: the normal approximation. */
static void test_random_samples(void **state)
{
    unsigned seed = 4711;
    int64_t a[80], b[80];
    (void)state;
    for (int round = 0; round < 5000; round++) {
        size_t n = 19 + (size_t)rand_r(&seed) % 60, m = 19 + (size_t)rand_r(&seed) % 60;
        int range = 1 + rand_r(&seed) % 60, shift = rand_r(&seed) % 30;
        random_sample(a, n, range, 0, &seed);
        random_sample(b, m, range, shift, &seed);
        double expected = naive_p(a, n, b, m), ours = our_p(a, n, b, m);
        assert_true(fabs(ours - expected) <= 1e-9 * expected + 1e-15);
        assert_true(fabs(our_p(b, m, a, n) - ours) <= 1e-12);
    }
}

/* Small ones, with few and with many equal values: every choice counted. */
static void test_small_samples(void **state)
{
    unsigned seed = 815;
    int64_t a[8], b[8];
    (void)state;
    for (int round = 0; round < 1500; round++) {
        size_t n = 1 + (size_t)rand_r(&seed) % 6, m = 1 + (size_t)rand_r(&seed) % 6;
        int range = 1 + rand_r(&seed) % 20, shift = rand_r(&seed) % 10;
        random_sample(a, n, range, 0, &seed);
        random_sample(b, m, range, shift, &seed);
        rocl_probability expected = naive_exact(a, n, b, m), ours = our_test(a, n, b, m);
        assert_true(fabs(ours.p - expected.p) <= 1e-13);
        assert_true(fabs(ours.least - expected.least) <= 1e-13);
        assert_true(fabs(our_p(b, m, a, n) - expected.p) <= 1e-13);
    }
}

/* How many orders of n and m different values have U = u: Mann and Whitney's own recursion. */
static double orders(int u, int n, int m)
{
    static double known[24][24][400];
    if (u < 0)
        return 0;
    if (n == 0 || m == 0)
        return u == 0;
    double *known_one = &known[n][m][u];
    if (*known_one <= 0)
        *known_one = 1 + orders(u - m, n - 1, m) + orders(u, n, m - 1);
    return *known_one - 1;
}

/* The largest that are counted, of values that all differ. */
static void test_different_values(void **state)
{
    static const int sizes[][2] = {{18, 18}, {15, 22}, {8, 23}, {1, 23}, {2, 20}, {10, 10}};
    unsigned seed = 99;
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int round = 0; round < 20; round++) {
            int n = sizes[s][0], m = sizes[s][1], x = 0, y = 0, u = 0;
            int64_t a[24], b[24];
            for (int i = 0; i < n + m; i++) {
                bool first = y == m || (x < n && rand_r(&seed) % (n + m - round) < n);
                if (first)
                    u += y, a[x++] = i;
                else
                    b[y++] = i;
            }
            double beyond = 0, all = 0;
            for (int k = 0; k <= n * m; k++) {
                all += orders(k, n, m);
                beyond += abs(2 * k - n * m) >= abs(2 * u - n * m) ? orders(k, n, m) : 0;
            }
            double ours = our_p(a, (size_t)n, b, (size_t)m);
            assert_true(fabs(ours - beyond / all) <= 1e-12 * ours);
        }
}

/* What the books have: 2 / 252, 2 / 70, and the tables' limits of U for p <= 0.01. */
static void test_known_samples(void **state)
{
    int64_t low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10}, five[] = {5, 5, 5};
    static const struct {
        int n, m, u;
    } limits[] = {{5, 5, 0},  {6, 6, 2},    {7, 7, 4},  {8, 8, 7},
                  {9, 9, 11}, {10, 10, 16}, {5, 10, 4}, {6, 12, 9}};
    (void)state;
    assert_true(fabs(our_p(low, 5, high, 5) - 2.0 / 252) < 1e-15);
    assert_true(fabs(our_p(low, 4, high, 4) - 2.0 / 70) < 1e-15);
    assert_true(fabs(our_test(low, 4, high, 4).least - 2.0 / 70) < 1e-15);
    assert_true(our_p(five, 3, five, 3) >= 1);
    assert_true(our_p(low, 1, high, 5) > 0.05);
    assert_true(our_p(low, 5, high, 0) >= 1);
    for (size_t i = 0; i < COUNT(limits); i++)
        for (int over = 0; over < 2; over++) {
            int n = limits[i].n, m = limits[i].m, u = limits[i].u + over;
            int64_t a[12], b[12];
            for (int k = 0; k < n; k++) { /* the first m * n - u pairs are won by b */
                int below = u - k * m;
                a[n - 1 - k] = 100 * (below > m ? m : below > 0 ? below : 0) - k;
            }
            for (int k = 0; k < m; k++)
                b[k] = 100 * k + 50;
            assert_int_equal(naive_twice_u(a, (size_t)n, b, (size_t)m), 2 * u);
            assert_int_equal(our_p(a, (size_t)n, b, (size_t)m) <= 0.01, !over);
        }
}

/* Samples of all sizes that are counted fit. */
static void test_room(void **state)
{
    (void)state;
    for (size_t n = 1; n <= ROCL_EXACT_VALUES; n++)
        for (size_t m = n; n * m * (n + m) * n <= ROCL_EXACT_STEPS; m++) {
            assert_true(n + m <= ROCL_EXACT_VALUES);
            assert_true((n + 1) * (2 * n * m + 1) <= ROCL_EXACT_WAYS);
        }
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
    assert_int_equal(rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, take_sample, s, NULL),
                     ROCL_OK);
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
        if (strcmp(text_of(t, r, "domain"), "KERNELS") != 0 || cell(t, r, "p")->type == 0)
            continue;
        scan(&a, "rank0", text_of(t, r, "name"));
        scan(&b, "rank1", text_of(t, r, "name"));
        check_real(t, r, "p",
                   a.n + b.n <= 20 ? naive_exact(a.v, a.n, b.v, b.n).p : our_p(a.v, a.n, b.v, b.n));
        checked++;
    }
    assert_true(checked >= 3);
    rocl_tables_free(all);
}

/* ---- no change, no events, any number of workers ---- */

static void test_same(void **state)
{
    static const char *const traces[] = {"rank0", "rank0 rank1", "everything", "nasty-3.0.0"};
    rocl_gate g;
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
        assert_int_equal(g.grown.count, 0);
        assert_null(g.grown.name);
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
    rocl_gate g;
    (void)state;
    rocl_tables *all = compare("empty-tables", "empty-tables", &two, &two, 0, &g);
    assert_int_equal(table_of(all, "compare")->row_count, 0);
    assert_int_equal(g.grown.count, 0);
    rocl_tables_free(all);
    all = compare("rank0", "empty-tables", &two, &two, 0, &g);
    assert_string_equal(text_of(table_of(all, "compare"), 0, "status"), "removed");
    assert_int_equal(g.grown.count, 0);
    assert_string_equal(g.untested, "B has no kernels that compute");
    rocl_tables_free(all);
    all = compare("empty-tables", "rank0", &two, &two, 1e9, &g);
    assert_string_equal(text_of(table_of(all, "compare"), 0, "status"), "added");
    assert_int_equal(g.grown.count, 0);
    assert_string_equal(g.untested, "A has no kernels that compute");
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
    rocl_gate g;
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
    assert_int_equal(g.grown.count, 1);
    assert_false(g.grown.added);
    assert_true(fabs(g.grown.percent - 100) < 1e-9);
    assert_string_equal(g.grown.domain, "KERNELS");
    assert_string_equal(g.grown.name, text_of(t, 0, "name"));
    rocl_tables_free(all);
    /* Not more than that, and what became faster did not grow. */
    rocl_tables_free(compare("rank0", file, &two, &two, 100.001, &g));
    assert_int_equal(g.grown.count, 0);
    rocl_tables_free(compare(file, "rank0", &two, &two, 0, &g));
    assert_int_equal(g.grown.count, 0);
    /* Beside a very long one it is too small to matter. */
    stretch(file, BIG, 10000);
    all = compare("rank0", file, &two, &two, 99, &g);
    assert_int_equal(g.grown.count, 1);
    assert_non_null(strstr(g.grown.name, "MT256x256x64"));
    rocl_tables_free(all);
}

static void test_top(void **state)
{
    const rocl_stats_options so = {.top = 2, .brief = true};
    rocl_tables *cut = NULL;
    (void)state;
    rocl_tables *whole = compare("rank0", "rank1", &two, &two, 0, NULL);
    rocl_trace *a = open_trace("rank0", &two), *b = open_trace("rank1", &two);
    assert_int_equal(rocl_compare(a, b, &so, NULL, &cut, NULL), ROCL_OK);
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

/* ---- causes ---- */

/* An event, and the GPU that it is work of. */
typedef struct piece {
    uint32_t machine, gpu; /* GPUs: 1 and up; 0: not known; UINT32_MAX: no work of a GPU */
    int64_t start, end;
    bool kernel;
} piece;

typedef struct pieces {
    piece all[60000];
    size_t n;
} pieces;

static bool is_gpu(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count && c->agents[agent].type == ROCL_AGENT_GPU;
}

/* One worker only. Agents of fixtures have the same absolute index in all processes. */
static rocl_status take_piece(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    pieces *p = ctx;
    (void)worker, (void)err;
    const uint32_t values = BIT(ROCL_COUNTER) | BIT(ROCL_SAMPLE) | BIT(ROCL_SPM);
    for (size_t i = 0; i < b->count && !(values >> b->kind & 1); i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_capture *c = b->capture;
        uint32_t agent = ROCL_NONE, gpu = UINT32_MAX;
        if (b->kind == ROCL_DISPATCH)
            agent = b->dispatches[i].agent;
        else if (b->kind == ROCL_COPY)
            agent = is_gpu(c, b->copies[i].dst) ? b->copies[i].dst : b->copies[i].src;
        if (b->kind == ROCL_DISPATCH || b->kind == ROCL_COPY)
            gpu = is_gpu(c, agent) ? 1 + (uint32_t)c->agents[agent].absolute_index : 0;
        assert_true(p->n < COUNT(p->all));
        p->all[p->n++] = (piece){c->machine, gpu, e->start, e->end, b->kind == ROCL_DISPATCH};
    }
    return ROCL_OK;
}

static int by_place(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    if (x->gpu != y->gpu)
        return x->gpu < y->gpu ? -1 : 1;
    return by_value(&x->start, &y->start);
}

typedef struct gpu_sums {
    int64_t whole, idle, work, beside;
} gpu_sums;

/* only_work: the wall time is from the first to the last kernel or copy. */
static gpu_sums sums_of(const char *names, bool only_work)
{
    static pieces p;
    const rocl_options one = {.jobs = 1};
    gpu_sums sums = {0};
    rocl_trace *t = open_trace(names, &one);
    p.n = 0;
    assert_true(rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, take_piece, &p, NULL) <=
                ROCL_PARTIAL);
    rocl_trace_close(t);
    qsort(p.all, p.n, sizeof *p.all, by_place);
    bool any_known = false;
    for (size_t i = 0; i < p.n; i++)
        any_known |= p.all[i].gpu && p.all[i].gpu != UINT32_MAX;
    for (size_t i = 0, past; i < p.n; i = past) {
        int64_t first = INT64_MAX, last = INT64_MIN, busy = 0, work = 0, until = INT64_MIN;
        const piece *g = &p.all[i];
        bool kernels = false;
        for (past = i; past < p.n && p.all[past].machine == g->machine && p.all[past].gpu == g->gpu;
             past++) {
            const piece *x = &p.all[past];
            work += x->end - x->start;
            busy += x->end > until ? x->end - (x->start > until ? x->start : until) : 0;
            until = x->end > until ? x->end : until;
            kernels |= x->kernel;
        }
        if (g->gpu == UINT32_MAX)
            continue;
        sums.work += work;
        sums.beside += work - busy;
        if (!g->gpu && !kernels && any_known) { /* copies that are of no GPU */
            sums.whole += busy;
            continue;
        }
        for (size_t k = 0; k < p.n; k++) {
            const piece *x = &p.all[k];
            if (x->machine != g->machine || (only_work && x->gpu == UINT32_MAX))
                continue;
            first = x->start < first ? x->start : first;
            last = x->end > last ? x->end : last;
        }
        sums.whole += last - first;
        sums.idle += last - first - busy;
    }
    return sums;
}

/* The cause that a row of a name is a part of: NULL: of no further one. */
static const char *cause_of(const rocl_table *t, size_t row, unsigned part)
{
    static const char *const causes[][2] = {
        {"added", "added kernels"}, {"removed", "removed kernels"}, {"renamed", "renamed kernels"}};
    for (size_t i = 0; i < COUNT(causes); i++)
        if (!strcmp(text_of(t, row, "status"), causes[i][0]))
            return part ? NULL : causes[i][1];
    return part ? "longer or shorter" : "more or fewer calls";
}

static int64_t change_of_cause(const rocl_table *t, const char *cause, const char *class)
{
    int64_t sum = 0;
    for (size_t r = 0; r < t->row_count; r++) {
        const char *domain = text_of(t, r, "domain");
        if (!strcmp(cause, "copies") && !strcmp(domain, "MEMORY_COPIES"))
            sum += int_of(t, r, "change_ns");
        for (unsigned part = 0; part < 2 && !strcmp(domain, "KERNELS"); part++) {
            const char *is = cause_of(t, r, part);
            if (!is || strcmp(is, cause) || strcmp(text_of(t, r, "class"), class))
                continue;
            const bool split = !strcmp(is, "more or fewer calls") || part;
            sum += int_of(t, r,
                          !split ? "change_ns"
                          : part ? "duration_change_ns"
                                 : "calls_change_ns");
        }
    }
    return sum;
}

static void check_effects(const rocl_table *t)
{
    for (size_t r = 0; r < t->row_count; r++) {
        const int64_t n = int_of(t, r, "calls_a"), m = int_of(t, r, "calls_b");
        if (!n || !m) {
            check_none(t, r, "calls_change_ns");
            check_none(t, r, "duration_change_ns");
            continue;
        }
        const int64_t calls = (m - n) * int_of(t, r, "total_a_ns") / n;
        check_int(t, r, "calls_change_ns", calls);
        check_int(t, r, "duration_change_ns", int_of(t, r, "change_ns") - calls);
    }
}

static bool recorded_alike(const rocl_table *t)
{
    for (size_t r = 0; r < t->row_count; r++)
        if (!strcmp(text_of(t, r, "property"), "recorded"))
            return !strcmp(text_of(t, r, "same"), "yes");
    return false;
}

/* Returns how many causes there are. */
static size_t check_causes(const char *a, const char *b)
{
    const rocl_stats_options so = {.comparability = true};
    rocl_tables *all = NULL;
    int64_t sum = 0;
    rocl_trace *ta = open_trace(a, &two), *tb = open_trace(b, &two);
    assert_true(rocl_compare(ta, tb, &so, NULL, &all, NULL) <= ROCL_PARTIAL);
    const rocl_table *t = table_of(all, "compare_causes"), *names = table_of(all, "compare");
    const bool only_work = !recorded_alike(table_of(all, "comparability"));
    const gpu_sums x = sums_of(a, only_work), y = sums_of(b, only_work);
    const size_t n = t->row_count;
    if (n) {
        assert_int_equal(strstr(t->note, "kernel or copy") != NULL, only_work);
        check_int(t, 0, "total_a_ns", x.whole);
        check_int(t, 0, "total_b_ns", y.whole);
        check_int(t, 0, "change_ns", y.whole - x.whole);
    }
    for (size_t r = 1; r < n; r++) {
        const char *cause = text_of(t, r, "cause");
        sum += int_of(t, r, "change_ns");
        if (!strcmp(cause, "idle")) {
            check_int(t, r, "total_a_ns", x.idle);
            check_int(t, r, "total_b_ns", y.idle);
        } else if (!strcmp(cause, "work at once")) {
            check_int(t, r, "total_a_ns", -x.beside);
            check_int(t, r, "total_b_ns", -y.beside);
        } else
            check_int(t, r, "change_ns", change_of_cause(names, cause, text_if_any(t, r, "class")));
    }
    assert_int_equal(sum, y.whole - x.whole);
    check_effects(names);
    rocl_trace_close(ta);
    rocl_trace_close(tb);
    rocl_tables_free(all);
    return n;
}

static void test_causes(void **state)
{
    size_t rows = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        rows += check_causes(pairs[i][0], pairs[i][1]);
    assert_true(rows > 30);
}

/* Kernels on two GPUs and copies at random places, of all lengths, with names that come and go. */
static void random_world(uint64_t seed, const char *to)
{
    world w;
    char command[300];
    world_copy(&w, seed);
    world_sql(&w, "INSERT INTO rocpd_string%%S(id, string) VALUES (9001, 'some copy')");
    const uint64_t kernels = draw(&w, 8), span = 1 + draw(&w, 2) * 100000 + draw(&w, 2000);
    for (int i = 0; i < (int)kernels; i++) {
        static const char *const stems[] = {"gemm_MT128x128", "copyBuffer", "layer_norm", "jacobi"};
        char name[64];
        snprintf(name, sizeof name, "%s_of_this_%d", stems[draw(&w, 4)], (int)draw(&w, 6));
        world_symbol(&w, 9100 + i, name);
    }
    for (uint64_t i = draw(&w, 300); kernels && i > 0; i--) {
        const uint64_t start = 1000 + draw(&w, span), length = draw(&w, 2) * draw(&w, 400);
        world_sql(
            &w,
            "INSERT INTO rocpd_kernel_dispatch%%S(nid, pid, agent_id, kernel_id, dispatch_id, "
            "queue_id, stream_id, start, \"end\", workgroup_size_x, workgroup_size_y, "
            "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z) SELECT nid, id, %d, %d, "
            "1, 0, 0, %lld, %lld, 64, 1, 1, %d, 1, 1 FROM rocpd_info_process%%S",
            2 + (int)draw(&w, 2), 9100 + (int)draw(&w, kernels), (long long)start,
            (long long)(start + length), 64 << draw(&w, 3));
        if (draw(&w, 3) == 0)
            world_sql(
                &w,
                "INSERT INTO rocpd_memory_copy%%S(nid, pid, start, \"end\", name_id, "
                "src_agent_id, dst_agent_id, size) SELECT nid, id, %lld, %lld, 9001, %d, %d, 1 "
                "FROM rocpd_info_process%%S",
                (long long)(start + length / 2), (long long)(start + 2 * length), (int)draw(&w, 4),
                (int)draw(&w, 4));
    }
    snprintf(command, sizeof command, "mv %s %s", world_end(&w), to);
    assert_int_equal(system(command), 0);
}

static void test_random_causes(void **state)
{
    char file[2][96];
    size_t rows = 0;
    (void)state;
    for (unsigned k = 0; k < 2; k++)
        snprintf(file[k], sizeof file[k], "%s/random-%u.db", folder, k);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        random_world(2 * seed, file[0]);
        random_world(2 * seed + 1, file[1]);
        rows += check_causes(file[0], file[1]);
    }
    assert_true(rows > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_random_samples),
        cmocka_unit_test(test_known_samples),
        cmocka_unit_test(test_small_samples),
        cmocka_unit_test(test_different_values),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_p),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_top),
        cmocka_unit_test(test_causes),
        cmocka_unit_test(test_random_causes),
    };
    return cmocka_run_group_tests_name("compare", tests, enter, leave);
}

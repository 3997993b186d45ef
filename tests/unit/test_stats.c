/* Statistics against an independent count of the same databases.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled, and is run in the project's folder. */
#include "tests/unit/stats_check.h"

static const char *const traces[] = {
    "schema-3.0.0", "schema-3.0.5", "schema-4.1.0",
    "merged",       "rank0 rank1",  "node-rank0 node-rank1 node-rank2 node-rank3",
    "demo",
};

static void test_groups(void **state)
{
    const rocl_options o = {.jobs = 2};
    for (unsigned by = 0; by < 16; by++) {
        rocl_trace *t = open_trace(*state, &o);
        sqlite3 *db = events_of(t);
        rocl_stats_options s = {.by_rank = by & 1, .by_stream = by & 2, .by_dims = by & 4};
        s.by_agent = by & 8;
        rocl_tables *all = all_stats_of(t, s);
        check_tables(db, all, &s);
        rocl_tables_free(all);
        sqlite3_close(db);
        rocl_trace_close(t);
    }
}

/* The names are ours or those of rocprofv3, and match as a whole. */
static void test_summary_groups(void **state)
{
    static const struct {
        const char *regex, *where;
    } groups[] = {{"KERNELS|MEMORY_COPIES", "domain IN ('KERNELS', 'MEMORY_COPIES')"},
                  {"kernel_dispatch|hip_api", "domain IN ('KERNELS', 'HIP')"},
                  {"MEMORY.*", "domain IN ('MEMORY_COPIES', 'MEMORY_ALLOCATIONS')"},
                  {"M", NULL},
                  {"[", NULL}};
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace(*state, &o);
    sqlite3 *db = events_of(t);
    for (size_t i = 0; i < COUNT(groups); i++) {
        const char *const list[] = {groups[i].regex, NULL};
        const rocl_stats_options s = {.reports = BIT(ROCL_REPORT_SUMMARY), .summary_groups = list};
        rocl_tables *all = NULL;
        assert_int_equal(rocl_stats(t, &s, &all, NULL), groups[i].where ? ROCL_OK : ROCL_USAGE);
        if (groups[i].where)
            check_summary_group(db, all, groups[i].where);
        rocl_tables_free(all);
    }
    sqlite3_close(db);
    rocl_trace_close(t);
}

static int64_t sort_value(const rocl_table *t, size_t row, rocl_sort_by by)
{
    static const char *const keys[] = {"total_ns", "calls", NULL, "max_ns"};
    return int_of(t, row, keys[by]);
}

static void check_order(const rocl_table *t, size_t row, rocl_sort_by by)
{
    int name = strcmp(text_of(t, row - 1, "name"), text_of(t, row, "name"));
    bool equal = true, right = true;
    if (by == ROCL_BY_AVERAGE) {
        double a = cell(t, row - 1, "average_ns")->r, b = cell(t, row, "average_ns")->r;
        right = a >= b;
        equal = !(a > b);
    } else if (by != ROCL_BY_NAME) {
        int64_t a = sort_value(t, row - 1, by), b = sort_value(t, row, by);
        right = a >= b;
        equal = a == b;
    }
    if (!right || (equal && name > 0)) {
        print_error("sorted by %d: row %zu\n", by, row);
        fail();
    }
}

static void test_sorts(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace(*state, &o);
    sqlite3 *db = events_of(t);
    for (int by = 0; by <= ROCL_BY_NAME; by++) {
        const rocl_stats_options s = {.sort = (rocl_sort_by)by, .by_stream = true};
        rocl_tables *all = all_stats_of(t, s);
        const rocl_table *summary = table_of(all, "summary"), *kernels = table_of(all, "kernels");
        check_tables(db, all, &s);
        for (size_t row = 1; row < summary->row_count; row++)
            if (!strcmp(text_of(summary, row - 1, "domain"), text_of(summary, row, "domain")))
                check_order(summary, row, (rocl_sort_by)by);
        for (size_t row = 1; row < kernels->row_count; row++)
            check_order(kernels, row, (rocl_sort_by)by);
        rocl_tables_free(all);
    }
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* Rows and what is left of the others, against the whole table, from row `from` on of both. */
static size_t check_top(const rocl_table *whole, const rocl_table *cut, size_t from, size_t at,
                        size_t n, size_t top)
{
    size_t shown = n > top ? top : n;
    int64_t calls = 0, total = 0;
    double percent = 0;
    char text[64];
    for (size_t i = 0; i < shown; i++) {
        check_text(cut, at + i, "name", text_of(whole, from + i, "name"));
        check_int(cut, at + i, "calls", int_of(whole, from + i, "calls"));
        check_int(cut, at + i, "p95_ns", int_of(whole, from + i, "p95_ns"));
    }
    if (shown == n)
        return at + n;
    for (size_t i = shown; i < n; i++) {
        calls += int_of(whole, from + i, "calls");
        total += int_of(whole, from + i, "total_ns");
        percent += cell(whole, from + i, "percent")->r;
    }
    snprintf(text, sizeof text, "(%zu others)", n - shown);
    check_text(cut, at + shown, "name", text);
    check_int(cut, at + shown, "calls", calls);
    check_int(cut, at + shown, "total_ns", total);
    check_real(cut, at + shown, "average_ns", (double)total / (double)calls);
    check_real(cut, at + shown, "percent", percent);
    return at + shown + 1;
}

static void check_top_copies(const rocl_table *whole, const rocl_table *cut, size_t top)
{
    size_t n = whole->row_count, shown = n > top ? top : n;
    int64_t calls = 0, total = 0, bytes = 0;
    double best = 0;
    char text[64];
    assert_int_equal(cut->row_count, shown + (shown < n));
    for (size_t i = 0; i < shown; i++)
        check_int(cut, i, "bytes", int_of(whole, i, "bytes"));
    for (size_t i = shown; i < n; i++) {
        calls += int_of(whole, i, "calls");
        total += int_of(whole, i, "total_ns");
        bytes += int_of(whole, i, "bytes");
        best = fmax(best, cell(whole, i, "max_bandwidth")->r);
    }
    if (shown == n)
        return;
    snprintf(text, sizeof text, "(%zu others)", n - shown);
    check_text(cut, shown, "direction", text);
    check_int(cut, shown, "calls", calls);
    check_int(cut, shown, "total_ns", total);
    check_int(cut, shown, "bytes", bytes);
    check_real(cut, shown, "bandwidth", (double)bytes / (double)total * 1e9);
    check_real(cut, shown, "max_bandwidth", best);
    assert_int_equal(cell(cut, shown, "src")->type, ROCL_DATUM_NONE);
}

static void test_top(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace(*state, &o);
    rocl_tables *all = all_stats_of(t, (rocl_stats_options){.by_agent = true});
    const rocl_table *whole = table_of(all, "summary"), *kernels = table_of(all, "kernels");
    for (size_t top = 1; top < 12; top += 3) {
        rocl_tables *few = all_stats_of(t, (rocl_stats_options){.by_agent = true, .top = top});
        const rocl_table *cut = table_of(few, "summary");
        size_t at = 0, from = 0;
        while (from < whole->row_count) {
            const char *domain = text_of(whole, from, "domain");
            size_t n = 0;
            while (from + n < whole->row_count &&
                   !strcmp(text_of(whole, from + n, "domain"), domain))
                n++;
            check_text(cut, at, "domain", domain);
            at = check_top(whole, cut, from, at, n, top);
            check_text(cut, at - 1, "domain", domain);
            from += n;
        }
        assert_int_equal(at, cut->row_count);
        cut = table_of(few, "kernels");
        assert_int_equal(check_top(kernels, cut, 0, 0, kernels->row_count, top), cut->row_count);
        check_top_copies(table_of(all, "copies"), table_of(few, "copies"), top);
        rocl_tables_free(few);
    }
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = ALL_REPORTS, .by_agent = true, .by_stream = true};
    check_same_bytes(*state, &s);
}

static void check_busy(const char *name, const rocl_stats_options *o)
{
    const rocl_options open = {.jobs = 2};
    rocl_trace *t = open_trace(name, &open);
    sqlite3 *db = events_of(t);
    rocl_tables *all = all_stats_of(t, *o);
    check_gpus(db, t, all, o);
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

static void test_busy(void **state)
{
    const rocl_stats_options all = {0}, few = {.top = 3, .min_gap = 1500};
    check_busy(*state, &all);
    check_busy(*state, &few);
}

/* ---- little or nothing to say ---------------------------------------------------------------- */

static void test_nothing(void **state)
{
    const rocl_options o = {.jobs = 2};
    rocl_trace *t = open_trace("empty-tables", &o);
    rocl_tables *all = NULL;
    static const size_t tables_of[ROCL_REPORTS] = {2, 3, 2, 4, 4, 4, 4, 4, 2, 3, 8, 6, 2, 2, 4, 2};
    (void)state;
    for (uint32_t reports = 0; reports <= ALL_REPORTS; reports += ALL_REPORTS / 3500 | 1) {
        const rocl_stats_options s = {.reports = reports, .top = reports % 3, .by_rank = true};
        size_t tables = 0;
        for (unsigned r = 0; r < ROCL_REPORTS; r++)
            tables += reports >> r & 1 ? tables_of[r] : 0;
        assert_int_equal(rocl_stats(t, &s, &all, NULL), ROCL_OK);
        assert_int_equal(all->count, tables);
        for (size_t i = 0; i < all->count; i++)
            if (strcmp(all->tables[i].tab->id, "doctor") && /* they say so */
                strcmp(all->tables[i].tab->id, "findings"))
                assert_int_equal(all->tables[i].row_count, 0);
        free(bytes_of(all, ROCL_TABLE_JSON));
        rocl_tables_free(all);
    }
    rocl_trace_close(t);
}

/* Records left out are in no number, and a strict run over them comes out with nothing. */
static void test_faults(void **state)
{
    rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = ALL_REPORTS};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = open_trace("nasty-3.0.0", &o);
    rocl_tables *all = NULL;
    (void)state;
    assert_int_equal(rocl_stats(t, &s, &all, err), ROCL_PARTIAL);
    const rocl_table *domains = table_of(all, "domains");
    uint64_t calls = 0, events = 0;
    for (size_t row = 0; row < domains->row_count; row++)
        calls += (uint64_t)int_of(domains, row, "calls");
    for (int k = 0; k < ROCL_KINDS; k++)
        if (k != ROCL_COUNTER && k != ROCL_SPM && k != ROCL_SAMPLE)
            events += rocl_trace_events(t, (rocl_kind)k);
    assert_int_equal(calls, events);
    rocl_tables_free(all);
    rocl_trace_close(t);
    o.strict = true;
    t = open_trace("nasty-3.0.0", &o);
    all = NULL;
    assert_int_equal(rocl_stats(t, &s, &all, err), ROCL_INPUT);
    assert_null(all);
    assert_true(*rocl_error_text(err));
    rocl_error_free(err);
    rocl_trace_close(t);
}

/* Only the tables that are wanted are made, of reports that are wanted. */
static void test_tables(void **state)
{
    static const char *const two[] = {"classes", "copies", NULL}, *const none[] = {"clases", NULL};
    const rocl_options o = {.jobs = 2};
    rocl_stats_options s = {.reports = BIT(ROCL_REPORT_KERNELS) | BIT(ROCL_REPORT_COPIES),
                            .tables = two};
    rocl_trace *t = open_trace("schema-3.0.0", &o);
    rocl_error *err = rocl_error_new();
    rocl_tables *all = stats_of(t, &s);
    (void)state;
    assert_int_equal(all->count, 2);
    assert_string_equal(all->tables[0].key, "classes");
    assert_string_equal(all->tables[1].key, "copies");
    rocl_tables_free(all);
    s.reports = BIT(ROCL_REPORT_COPIES);
    all = stats_of(t, &s);
    assert_int_equal(all->count, 1);
    rocl_tables_free(all);
    s.tables = none;
    all = NULL;
    assert_int_equal(rocl_stats(t, &s, &all, err), ROCL_USAGE);
    assert_non_null(strstr(rocl_error_text(err), "\"clases\" is not a table of a report"));
    rocl_error_free(err);
    rocl_trace_close(t);
}

/* The names and numbers of the reports, which tools and their users rely on. */
static void test_names(void **state)
{
    static const char *const names[] = {"summary", "kernels", "copies",
                                        "overlap", "gaps",    "launch"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(rocl_report_name((rocl_report)i), names[i]);
    assert_string_equal(rocl_report_name(ROCL_REPORTS), "");
}

int main(void)
{
    static const CMUnitTestFunction of_traces[] = {test_groups, test_summary_groups, test_sorts,
                                                   test_top,    test_same_bytes,     test_busy};
    static struct CMUnitTest tests[COUNT(of_traces) * COUNT(traces) + 4];
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_names),
    };
    static const char *const names[] = {"groups", "summary groups", "sorts",
                                        "top",    "same bytes",     "busy"};
    static char labels[COUNT(of_traces) * COUNT(traces)][96];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (size_t k = 0; k < COUNT(of_traces); k++, n++) {
            snprintf(labels[n], sizeof labels[n], "%s: %s", names[k], traces[i]);
            tests[n] = (struct CMUnitTest){labels[n], of_traces[k], NULL, NULL,
                                           (void *)(uintptr_t)traces[i]};
        }
    memcpy(tests + n, others, sizeof others);
    n += COUNT(others);
    return _cmocka_run_group_tests("stats", tests, n, NULL, NULL);
}

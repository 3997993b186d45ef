/* What the options of a trace change: names, arguments, filters. */
#include "tests/unit/rocpd.h"

/* ---- names ----------------------------------------------------------------------------------- */

#define NAMES(name)                                                                                \
    "SELECT x.id, CAST(" name " AS TEXT) FROM rocpd_kernel_dispatch%S x LEFT JOIN "                \
    "rocpd_info_kernel_symbol%S s ON s.id = x.kernel_id LEFT JOIN rocpd_string%S r ON r.id = "     \
    "x.region_name_id"

static void check_names(const char *file, rocl_options o, rocl_kind kind, const char *sql)
{
    sums s;
    base b;
    digest d;
    rocl_trace *t = scan(file, &o, &s);
    open_base(&b, t, rocl_trace_capture(t, 0));
    query(&b, sql, false, &d);
    s.names[0][kind].start = s.names[0][kind].end = 0;
    assert_same(file, &s.names[0][kind], &d);
    sqlite3_close(b.db);
    rocl_trace_close(t);
}

static void test_names(void **state)
{
    const rocl_options display = {.jobs = 1};
    const rocl_options mangled = {.jobs = 1, .kernel_names = ROCL_NAMES_MANGLED};
    const rocl_options truncated = {.jobs = 1, .kernel_names = ROCL_NAMES_TRUNCATED};
    const rocl_options renamed = {.jobs = 1, .kernel_rename = true};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *file = i ? "schema-4.1.0" : "schema-3.0.0";
        check_names(file, display, ROCL_DISPATCH, NAMES("s.display_name"));
        check_names(file, mangled, ROCL_DISPATCH,
                    NAMES("replace(s.kernel_name || '$', '.kd$', '')"));
        check_names(file, truncated, ROCL_DISPATCH,
                    NAMES("json_extract(s.extdata, '$.truncated_kernel_name')"));
    }
    check_names(
        "rename", renamed, ROCL_DISPATCH,
        NAMES("CASE WHEN coalesce(r.string, '') <> '' THEN r.string ELSE s.display_name END"));
    check_names(
        "schema-3.0.0", display, ROCL_MARKER,
        "SELECT x.id, CAST(coalesce(json_extract(e.extdata, '$.message'), n.string) AS TEXT) FROM "
        "rocpd_region%S x JOIN rocpd_event%S e ON e.id = x.event_id {category} LEFT JOIN "
        "rocpd_string%S n ON n.id = x.name_id WHERE c.string LIKE 'MARKER%'");
}

static rocl_status see_short(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    size_t *seen = ctx;
    (void)worker;
    (void)err;
    for (size_t i = 0; b->kind == ROCL_DISPATCH && i < b->count; i++, ++*seen) {
        const rocl_kernel *k = &b->capture->kernels[b->dispatches[i].kernel];
        const char *name = rocl_text(b->capture->trace, k->shown, NULL);
        assert_non_null(strstr(rocl_text(b->capture->trace, k->display, NULL), name));
        assert_true(*name && !strpbrk(name, "(<:"));
    }
    return ROCL_OK;
}

static void test_short_names(void **state)
{
    const rocl_options o = {.jobs = 1, .kernel_names = ROCL_NAMES_SHORT};
    rocl_trace *t = open_fixtures("schema-3.0.0", &o);
    size_t seen = 0;
    (void)state;
    assert_int_equal(rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, see_short, &seen, NULL),
                     ROCL_OK);
    assert_true(seen > 0);
    rocl_trace_close(t);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static rocl_status see_args(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    digest *d = ctx;
    (void)worker;
    (void)err;
    if (b->kind != ROCL_REGION && b->kind != ROCL_MARKER)
        return ROCL_OK;
    for (size_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->regions[i].arg_count; k++) {
            const rocl_arg *a = &b->args[b->regions[i].arg_first + k];
            row r = {0};
            put_int(&r, (int64_t)b->regions[i].e.id);
            put_int(&r, k);
            put_text(&r, b->capture->trace, a->type);
            put_text(&r, b->capture->trace, a->name);
            put_bytes(&r, a->value, a->value_len);
            add_row(d, &r, 0, 0);
        }
    return ROCL_OK;
}

static void check_args(const char *file)
{
    const rocl_options o = {.jobs = 1, .args = true};
    rocl_trace *t = open_fixtures(file, &o);
    digest ours = {0}, d;
    base b;
    assert_int_equal(rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, see_args, &ours, NULL),
                     ROCL_OK);
    open_base(&b, t, rocl_trace_capture(t, 0));
    query(&b,
          "SELECT x.id, row_number() OVER (PARTITION BY x.id ORDER BY coalesce(a.position, 0), "
          "a.id) - 1, a.type, a.name, a.value FROM rocpd_region%S x JOIN rocpd_arg%S a ON "
          "a.event_id = x.event_id",
          false, &d);
    assert_same(file, &ours, &d);
    assert_true(d.rows > 0);
    sqlite3_close(b.db);
    rocl_trace_close(t);
}

static void test_args(void **state)
{
    (void)state;
    check_args("schema-3.0.0");
    check_args("args-order");
}

/* ---- filters --------------------------------------------------------------------------------- */

/* Kernels in a window whose edges lie in the middle of two of them. */
static void check_window(const char *file, rocl_window_mode mode, const char *condition)
{
    rocl_options o = {.jobs = 2, .window_mode = mode};
    char start[24], end[24], sql[512];
    const char *edge =
        "SELECT (start + \"end\") / 2 FROM rocpd_kernel_dispatch%%S ORDER BY start LIMIT "
        "1 OFFSET %d";
    base b;
    sums s;
    rocl_trace *t = open_fixtures(file, &o);
    open_base(&b, t, rocl_trace_capture(t, 0));
    rocl_trace_close(t);
    snprintf(sql, sizeof sql, edge, 5);
    snprintf(start, sizeof start, "%llu", (unsigned long long)number_of(&b, sql));
    snprintf(sql, sizeof sql, edge, 20);
    snprintf(end, sizeof end, "%llu", (unsigned long long)number_of(&b, sql));
    sqlite3_close(b.db);
    o.start = start;
    o.end = end;
    t = scan(file, &o, &s);
    open_base(&b, t, rocl_trace_capture(t, 0));
    const char *const sums_of[] = {"count(*)", "sum(max(start, low))", "sum(min(\"end\", high))"};
    const uint64_t ours[] = {s.of[0][ROCL_DISPATCH].rows, s.of[0][ROCL_DISPATCH].start,
                             s.of[0][ROCL_DISPATCH].end};
    for (size_t i = 0; i < COUNT(ours); i++) {
        bool clip = mode == ROCL_WINDOW_CLIP;
        snprintf(sql, sizeof sql,
                 "WITH w(f, t, low, high) AS (SELECT %s, %s, %s, %s) SELECT %s FROM w, "
                 "rocpd_kernel_dispatch%%S WHERE %s",
                 start, end, clip ? start : "0", clip ? end : "9223372036854775807", sums_of[i],
                 condition);
        assert_int_equal(ours[i], number_of(&b, sql));
    }
    sqlite3_close(b.db);
    rocl_trace_close(t);
}

static void test_windows(void **state)
{
    (void)state;
    check_window("schema-3.0.0", ROCL_WINDOW_INSIDE, "start >= f AND \"end\" <= t");
    check_window("schema-3.0.0", ROCL_WINDOW_OVERLAP, "start <= t AND \"end\" >= f");
    check_window("schema-3.0.0", ROCL_WINDOW_CLIP, "start <= t AND \"end\" >= f");
    check_window("schema-4.1.0", ROCL_WINDOW_INSIDE, "start >= f AND \"end\" <= t");
}

/* Bounds in percent are those of the sound records: faults do not stretch them. */
static void test_bounds(void **state)
{
    rocl_options o = {.jobs = 1, .start = "0%", .end = "100%"};
    const rocl_options all = {.jobs = 1};
    static const char *const nasty[] = {NASTY};
    sums s, t;
    (void)state;
    for (size_t i = 0; i < COUNT(nasty); i++) {
        rocl_trace *a = scan(nasty[i], &o, &s), *b = scan(nasty[i], &all, &t);
        assert_int_equal(s.of[0][ROCL_DISPATCH].rows, t.of[0][ROCL_DISPATCH].rows);
        assert_int_equal(s.of[0][ROCL_REGION].rows, t.of[0][ROCL_REGION].rows);
        rocl_trace_close(a);
        rocl_trace_close(b);
    }
}

static void test_kinds(void **state)
{
    static const struct {
        const char *include, *exclude;
    } cases[] = {{"kernel", NULL},
                 {"copy", NULL},
                 {"region,sample", NULL},
                 {NULL, "kernel,counter"},
                 {NULL, "sample"},
                 {"counter", NULL},
                 {NULL, "spm"}};
    rocl_options all = {.jobs = 1};
    static sums s, whole;
    (void)state;
    rocl_trace *w = scan("everything", &all, &whole);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const in[] = {cases[i].include, NULL}, *const out[] = {cases[i].exclude, NULL};
        rocl_options o = {.jobs = 2, .strict = true};
        if (cases[i].include)
            o.include = in;
        if (cases[i].exclude)
            o.exclude = out;
        rocl_trace *t = scan("everything", &o, &s);
        uint64_t passed = 0;
        for (int k = 0; k < ROCL_KINDS; k++) {
            passed += s.of[0][k].rows;
            if (s.of[0][k].rows)
                assert_memory_equal(&s.of[0][k], &whole.of[0][k], sizeof(digest));
        }
        assert_true(passed > 0);
        rocl_trace_close(t);
    }
    rocl_trace_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),  cmocka_unit_test(test_short_names),
        cmocka_unit_test(test_args),   cmocka_unit_test(test_windows),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests_name("rocpd options", tests, NULL, NULL);
}

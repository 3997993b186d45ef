/* Answers to programs: the envelope, the description of a trace, tables cut to a budget. JSON is
 * read back by cJSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table/json.h"
#include "table/table.h"
#include "tests/unit/rocpd.h"

static char path[64];

static int enter(void **state)
{
    (void)state;
    strcpy(path, "/tmp/rocline-answer-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int leave(void **state)
{
    (void)state;
    return unlink(path);
}

static cJSON *read_answer(size_t *bytes)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = calloc(1, 1 << 22);
    assert_non_null(text);
    size_t n = fread(text, 1, (1 << 22) - 1, f);
    fclose(f);
    cJSON *root = cJSON_Parse(text);
    if (!root)
        print_error("%.2000s\n", text);
    assert_non_null(root);
    free(text);
    if (bytes)
        *bytes = n;
    return root;
}

static const char *text_of(const cJSON *o, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static double int_of(const cJSON *o, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* ---- the envelope ---------------------------------------------------------------------------- */

static void test_members(void **state)
{
    const char *const inputs[] = {"a b.db", NULL};
    rocl_answer *a;
    (void)state;
    assert_int_equal(rocl_answer_open(&a, path, "stats", inputs, NULL), ROCL_OK);
    assert_int_equal(rocl_answer_put_json(a, "[1,", 3, NULL), ROCL_OK);
    assert_int_equal(rocl_answer_put_json(a, "2]", 2, NULL), ROCL_OK);
    rocl_answer_add_message(a, false, ROCL_PARTIAL, "12 records left out: \"x\"\n");
    rocl_answer_add_message(a, true, ROCL_INPUT, "a b.db: byte 12: this is broken");
    rocl_answer_add_message(a, true, ROCL_INPUT, "a b.db: it says: nothing");
    rocl_answer_add_message(a, true, ROCL_INTERNAL, "no file: nor place");
    assert_int_equal(rocl_answer_end(a, ROCL_PARTIAL, NULL), ROCL_OK);
    cJSON *root = read_answer(NULL);
    int members = 0;
    for (unsigned i = 0; i < ROCL_ANSWER_MEMBERS; members += rocl_answer_has("stats", i), i++)
        assert_int_equal(!cJSON_HasObjectItem(root, rocl_answer_members[i].key),
                         !rocl_answer_has("stats", i));
    assert_int_equal(cJSON_GetArraySize(root), members);
    assert_string_equal(text_of(root, "command"), "stats");
    assert_int_equal(int_of(root, "exit_code"), 1);
    assert_int_equal(int_of(root, "schema"), ROCL_ANSWER_SCHEMA);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(root, "trace")));
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "data")), 2);
    const cJSON *warnings = cJSON_GetObjectItem(root, "warnings");
    assert_int_equal(cJSON_GetArraySize(warnings), 1);
    assert_string_equal(text_of(cJSON_GetArrayItem(warnings, 0), "code"), "partial");
    const cJSON *errors = cJSON_GetObjectItem(root, "errors");
    assert_int_equal(cJSON_GetArraySize(errors), 3);
    const cJSON *e = cJSON_GetArrayItem(errors, 0);
    for (int i = 0; i < ROCL_MESSAGE_MEMBERS; i++)
        assert_true(cJSON_HasObjectItem(e, rocl_message_members[i].key));
    assert_string_equal(text_of(e, "file"), "a b.db");
    assert_string_equal(text_of(e, "place"), "byte 12");
    assert_string_equal(text_of(e, "code"), "input");
    e = cJSON_GetArrayItem(errors, 1);
    assert_string_equal(text_of(e, "file"), "a b.db");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(e, "place")));
    e = cJSON_GetArrayItem(errors, 2);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(e, "file")));
    cJSON_Delete(root);
}

/* After an error the file of the output stays as it was. */
static void test_error_leaves_the_file(void **state)
{
    rocl_answer *a;
    (void)state;
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("before", f);
    fclose(f);
    assert_int_equal(rocl_answer_open(&a, path, "stats", NULL, NULL), ROCL_OK);
    assert_int_equal(rocl_answer_put_json(a, "1", 1, NULL), ROCL_OK);
    rocl_answer_add_message(a, true, ROCL_INPUT, "broken");
    assert_int_equal(rocl_answer_end(a, ROCL_INPUT, NULL), ROCL_OK);
    char text[16] = "";
    f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "before");
}

/* ---- a trace --------------------------------------------------------------------------------- */

static rocl_tables *make_reports(const char *names, const rocl_stats_options *o, rocl_trace **t)
{
    rocl_tables *tables = NULL;
    *t = open_fixtures(names, &(rocl_options){.note_times = true, .jobs = 2});
    assert_true(rocl_stats(*t, o, &tables, NULL) <= ROCL_PARTIAL);
    return tables;
}

enum { ALL_REPORTS = (1 << ROCL_REPORTS) - 1 };

static void test_description(void **state)
{
    rocl_trace *t;
    rocl_tables *about;
    (void)state;
    rocl_tables *tables =
        make_reports("rank0 rank1", &(rocl_stats_options){.reports = ALL_REPORTS}, &t);
    assert_int_equal(rocl_describe_trace(t, &about, NULL), ROCL_OK);
    const rocl_table *totals = rocl_tables_find(about, "totals");
    uint64_t events = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        events += rocl_trace_events(t, k);
    assert_true(totals->fields);
    assert_int_equal(rocl_table_find_cell(totals, 0, "events")->i, events);
    assert_int_equal(rocl_table_find_cell(totals, 0, "files")->i, 2);
    assert_int_equal(rocl_table_find_cell(totals, 0, "processes")->i, 2);
    assert_int_equal(rocl_tables_find(about, "files")->row_count, 2);
    const int64_t first = rocl_table_find_cell(totals, 0, "first_ns")->i;
    const int64_t last = rocl_table_find_cell(totals, 0, "last_ns")->i;
    assert_true(first > 0 && first < last);
    assert_int_equal(rocl_table_find_cell(totals, 0, "duration_ns")->i, last - first);
    assert_string_equal(rocl_table_find_cell(rocl_tables_find(about, "files"), 0, "format")->text,
                        "rocpd database");
    uint64_t sum = 0;
    const rocl_table *kinds = rocl_tables_find(about, "kinds");
    for (size_t r = 0; r < kinds->row_count; r++)
        sum += (uint64_t)rocl_table_find_cell(kinds, r, "events")->i;
    assert_int_equal(sum, events);
    rocl_tables_free(about);
    rocl_tables_free(tables);
    rocl_trace_close(t);
}

/* ---- budgets --------------------------------------------------------------------------------- */

static double sum_of(const rocl_table *t, const char *key)
{
    double sum = 0;
    for (size_t r = 0; r < t->row_count; r++)
        sum += rocl_datum_number(rocl_table_find_cell(t, r, key));
    return sum;
}

/* Whatever the budget, the answer keeps it, what is counted is the same, and no row is lost. */
static void test_budgets(void **state)
{
    static const char *const summed[][2] = {{"kernels", "total_ns"}, {"kernels", "calls"},
                                            {"kernels", "percent"},  {"domains", "total_ns"},
                                            {"markers", "count"},    {"gap_buckets", "count"},
                                            {"copies", "total_ns"},  {"launch", "kernels"}};
    const rocl_stats_options o = {.reports = ALL_REPORTS, .rests = true};
    (void)state;
    for (size_t bytes = 1000; bytes < 600000; bytes = bytes * 5 / 3)
        for (int json = 0; json < 2; json++) {
            rocl_trace *t, *again;
            bool fits;
            const rocl_table_format format = json ? ROCL_TABLE_JSON : ROCL_TABLE_MARKDOWN;
            rocl_tables *tables = make_reports("everything", &o, &t);
            rocl_tables *whole = make_reports("everything", &o, &again);
            size_t gone = rocl_tables_cut(tables, format, bytes, &fits);
            assert_int_equal(tables->count + gone, whole->count);
            assert_false(tables->incomplete);
            for (size_t i = 0; i < sizeof summed / sizeof *summed; i++) {
                const rocl_table *cut = rocl_tables_find(tables, summed[i][0]);
                const rocl_table *all = rocl_tables_find(whole, summed[i][0]);
                if (!cut || !all)
                    continue;
                const double a = sum_of(cut, summed[i][1]), b = sum_of(all, summed[i][1]);
                if (fabs(a - b) > 1e-6 * fabs(b))
                    fail_msg("%s %s: %g, not %g", summed[i][0], summed[i][1], a, b);
            }
            assert_int_equal(
                rocl_write_tables(tables, &(rocl_table_options){.path = path, .format = format},
                                  NULL),
                ROCL_OK);
            FILE *f = fopen(path, "r");
            assert_non_null(f);
            fseek(f, 0, SEEK_END);
            const size_t size = (size_t)ftell(f);
            fclose(f);
            if (fits && size > bytes)
                fail_msg("%zu bytes for a budget of %zu", size, bytes);
            rocl_tables_free(tables);
            rocl_tables_free(whole);
            rocl_trace_close(t);
            rocl_trace_close(again);
        }
}

/* The last row of a table that is cut is the one that --top makes. */
static void test_rests_are_those_of_top(void **state)
{
    (void)state;
    rocl_trace *t;
    bool fits;
    rocl_tables *cut = make_reports(
        "everything", &(rocl_stats_options){.reports = 1u << ROCL_REPORT_KERNELS, .rests = true},
        &t);
    rocl_tables_cut(cut, ROCL_TABLE_JSON, 3000, &fits);
    rocl_trace_close(t);
    const rocl_table *a = rocl_tables_find(cut, "kernels");
    assert_true(fits && a->row_count > 2);
    rocl_tables *top = make_reports(
        "everything",
        &(rocl_stats_options){.reports = 1u << ROCL_REPORT_KERNELS, .top = a->row_count - 1}, &t);
    const rocl_table *b = rocl_tables_find(top, "kernels");
    assert_int_equal(a->row_count, b->row_count);
    for (size_t r = 0; r < a->row_count; r++)
        for (size_t c = 0; c < a->column_count; c++) {
            const rocl_datum *x = rocl_table_cell(a, r, c), *y = rocl_table_cell(b, r, c);
            assert_int_equal(x->type, y->type);
            assert_string_equal(rocl_datum_str(x), rocl_datum_str(y));
            assert_true(fabs(rocl_datum_number(x) - rocl_datum_number(y)) <=
                        1e-9 * fabs(rocl_datum_number(y)));
        }
    rocl_tables_free(cut);
    rocl_tables_free(top);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_members, enter, leave),
        cmocka_unit_test_setup_teardown(test_error_leaves_the_file, enter, leave),
        cmocka_unit_test(test_description),
        cmocka_unit_test_setup_teardown(test_budgets, enter, leave),
        cmocka_unit_test(test_rests_are_those_of_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

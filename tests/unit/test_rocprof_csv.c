/* Rows of CSV files of rocprof: how they are split, which lines go on, which columns and tables
 * names are. To add a case, add a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "source/rocprof/csv.h"
#include "source/rocprof/row.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum { FIELDS = 100 };

static const struct split_row {
    const char *text;
    size_t want, text_column;
    const char *fields; /* joined by '|'; NULL: quotes do not end */
} splits[] = {
    {"", 0, SIZE_MAX, ""},
    {",", 0, SIZE_MAX, "|"},
    {"a,b,c", 0, SIZE_MAX, "a|b|c"},
    {"a,,c,", 0, SIZE_MAX, "a||c|"},
    {"\"\"", 0, SIZE_MAX, ""},
    {"\"\",\"\"", 0, SIZE_MAX, "|"},
    {"\"a,b\",c", 0, SIZE_MAX, "a,b|c"},
    {"1,\"f(int, int)\",2", 3, 1, "1|f(int, int)|2"},
    {"a\"b,c", 0, SIZE_MAX, "a\"b|c"},
    {"a,\"b\n\nc\",d", 3, SIZE_MAX, "a|b\n\nc|d"},
    /* RFC 4180: doubled quotes */
    {"\"a\"\"b\",c", 0, SIZE_MAX, "a\"b|c"},
    {"\"\"\"a\"\"\",\"\"\"\"", 0, SIZE_MAX, "\"a\"|\""},
    {"1,\"p(\"\"a\"\", \"\"b\"\")\",2", 3, 1, "1|p(\"a\", \"b\")|2"},
    {"1,\"a\"\",\"\"b\",2", 4, 1, "1|a\",\"b|2"},
    /* AMD: quotes as they are */
    {"1,\"p(\"a\")\",2", 3, 1, "1|p(\"a\")|2"},
    {"1,\"say \"go\"\",2", 3, 1, "1|say \"go\"|2"},
    {"1,\"p(\"a\", \"b\")\",2", 3, 1, "1|p(\"a\", \"b\")|2"},
    {"\"K\",\"p(\"a\",\"b\")\",\"x\",7", 4, 1, "K|p(\"a\",\"b\")|x|7"},
    {"\"K, L\",\"p(\"a\",\"b\")\",\"x, y\",7", 4, 1, "K, L|p(\"a\",\"b\")|x, y|7"},
    {"\"K\",\"p(\"a\",\"b\")\"", 2, 1, "K|p(\"a\",\"b\")"},
    {"\"p(\"a\",\"b\")\",\"\",3", 3, 0, "p(\"a\",\"b\")||3"},
    /* what is none of both */
    {"\"a", 0, SIZE_MAX, NULL},
    {"a,\"b,c", 2, 1, NULL},
    {"\"", 0, SIZE_MAX, NULL},
    {"a,\"", 2, 1, NULL},
    {"1,2", 3, 1, "1|2"},
    {"1,2,3,4", 3, SIZE_MAX, "1|2|3|4"},
};

static void splits_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(splits); i++) {
        const struct split_row *row = &splits[i];
        const size_t n = strlen(row->text);
        /* Behind as many bytes as it takes to put the row across each boundary of 64 bytes. */
        for (size_t before = 0; before < 130; before++) {
            char *text = malloc(before + 1 + n), joined[400];
            rocl_view fields[FIELDS];
            assert_non_null(text);
            memset(text, 'x', before);
            if (before)
                text[before - 1] = ',';
            memcpy(text + before, row->text, n);
            const size_t more = before ? 1 : 0, column = row->text_column;
            const size_t got = rocprof_csv_fields(
                text, before + n, row->want ? row->want + more : 0,
                column == SIZE_MAX ? column : column + more, fields, FIELDS, false);
            size_t at = 0;
            for (size_t k = more; got != SIZE_MAX && k < got; k++) {
                if (k > more)
                    joined[at++] = '|';
                memcpy(joined + at, fields[k].p, fields[k].n);
                at += fields[k].n;
            }
            joined[at] = 0;
            if (!row->fields)
                assert_true(got == SIZE_MAX);
            else
                assert_string_equal(joined, row->fields);
            free(text);
        }
    }
}

static void stops_at_the_most_fields(void **state)
{
    char text[] = "1,2,3,\"4\",5";
    rocl_view fields[4];
    (void)state;
    assert_int_equal(rocprof_csv_fields(text, strlen(text), 0, SIZE_MAX, fields, 3, false), 3);
    assert_int_equal(rocprof_csv_fields(text, strlen(text), 0, SIZE_MAX, fields, 4, false), 4);
}

/* What its quotes say at first need not be what they say when the next line is there. */
static void waits_for_open_quotes(void **state)
{
    static const struct {
        const char *text;
        size_t count;
    } rows[] = {{"1,\"a\"\",\"\"b", ROCPROF_CSV_OPEN},
                {"1,\"a\"\",\"\"b\n\",2", 3},
                {"1,\"say \"\",2", ROCPROF_CSV_OPEN},
                {"1,\"say \"go\"\",2", 3}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = strdup(rows[i].text);
        rocl_view fields[FIELDS];
        assert_int_equal(rocprof_csv_fields(text, strlen(text), 3, 1, fields, FIELDS, true),
                         rows[i].count);
        assert_int_equal(rocprof_csv_fields(text, strlen(text), 3, 1, fields, FIELDS, false), 3);
        free(text);
    }
}

static void knows_lines_that_go_on(void **state)
{
    static const struct {
        const char *line;
        bool continues;
    } lines[] = {{"", true},
                 {"12,", true},
                 {"12,3", false},
                 {"\"KERNEL_DISPATCH\",\"Agent 2\"", false},
                 {"\"3\",\"4\"", false},
                 {"HIP_API_DOMAIN,hipMalloc", false},
                 {"00010910-421f-7c52-acc2-947dd1f6e64c,1", false},
                 {"lines, and more", true},
                 {"A, b", true},
                 {"go\",70,71", true},
                 {"\"go", true},
                 {"\"", true},
                 {",1", false},
                 {"no comma", true}};
    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++)
        if (rocprof_csv_continues(lines[i].line, strlen(lines[i].line)) != lines[i].continues)
            fail_msg("%s", lines[i].line);
}

static void knows_columns(void **state)
{
    static const struct {
        const char *name;
        rocprof_column column;
    } names[] = {{"Start_Timestamp", ROCPROF_START},
                 {"BeginNs", ROCPROF_START},
                 {"gpu-id", ROCPROF_AGENT},
                 {"GPU_ID", ROCPROF_AGENT},
                 {"Agent_Id", ROCPROF_AGENT},
                 {"Alloc_flags", ROCPROF_FLAGS},
                 {"Starting_Address", ROCPROF_ADDRESS},
                 {"wave_size", ROCPROF_WAVE_SIZE},
                 {"Wave_Size_1", ROCPROF_IGNORED},
                 {"Correlation_ID_12", ROCPROF_IGNORED},
                 {"DispatchNs", ROCPROF_SUBMITTED},
                 {"TCC_HIT[0]", ROCPROF_OTHER},
                 {"SQ_WAVES", ROCPROF_OTHER},
                 {"SQC_REQ_8", ROCPROF_OTHER},
                 {"", ROCPROF_OTHER}};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        if (rocprof_column_of((rocl_view){names[i].name, strlen(names[i].name)}) != names[i].column)
            fail_msg("%s", names[i].name);
}

static void reads_numbers(void **state)
{
    static const struct {
        const char *text;
        bool is;
        uint64_t number;
    } numbers[] = {{"0", true, 0},
                   {"7", true, 7},
                   {"1234567", true, 1234567},
                   {"12345678", true, 12345678},
                   {"123456789", true, 123456789},
                   {"1550151853029637", true, 1550151853029637},
                   {"12345678901234567", true, 12345678901234567},
                   {"9999999999999999999", true, 9999999999999999999u},
                   {"99999999999999999999", false, 0},
                   {"", false, 0},
                   {"-1", false, 0},
                   {"1234567x", false, 0},
                   {"x2345678", false, 0},
                   {"12345678:", false, 0},
                   {"123456781234567/", false, 0},
                   {"12345678x12345678", false, 0},
                   {"12345678 2345678901", false, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        uint64_t v = 0;
        const bool is = rocprof_decimal((rocl_view){numbers[i].text, strlen(numbers[i].text)}, &v);
        if (is != numbers[i].is || (is && v != numbers[i].number))
            fail_msg("%s", numbers[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_rows),           cmocka_unit_test(stops_at_the_most_fields),
        cmocka_unit_test(waits_for_open_quotes), cmocka_unit_test(knows_lines_that_go_on),
        cmocka_unit_test(knows_columns),         cmocka_unit_test(reads_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

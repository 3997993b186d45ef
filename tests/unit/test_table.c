/* Tables, and every format they are printed in. JSON is read back by cJSON and by jq. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "table/table.h"
#include "table/format.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const rocl_table_column columns[] = {
    {"name", "Name", ROCL_UNIT_TEXT},      {"calls", "Calls", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},   {"bytes", "Size", ROCL_UNIT_BYTES},
    {"bandwidth", "Rate", ROCL_UNIT_RATE}, {"percent", "Share %", ROCL_UNIT_PERCENT},
    {"stddev_ns", "Stddev", ROCL_UNIT_NS},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static rocl_tables *all;
static char folder[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/rocline-test-XXXXXX");
    all = rocl_tables_new();
    return !all || !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    rocl_tables_free(all);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static rocl_table *add_table(const char *key, const char *title)
{
    rocl_table *t = rocl_tables_add(all, key, title, columns, COLUMNS);
    assert_non_null(t);
    return t;
}

static rocl_datum *add_row(rocl_table *t, const char *name, size_t n, int64_t calls)
{
    rocl_datum *row = rocl_table_row(t);
    assert_non_null(row);
    row[0] = rocl_datum_text(all, name, n);
    row[1] = rocl_datum_int(calls);
    return row;
}

static rocl_datum *add_name(rocl_table *t, const char *name)
{
    return add_row(t, name, strlen(name), 1);
}

/* What is written in a format; free() it. */
static char *written(rocl_table_format format, unsigned width)
{
    const rocl_table_options o = {.path = "out", .format = format, .width = width};
    assert_int_equal(rocl_write_tables(all, &o, NULL), ROCL_OK);
    FILE *f = fopen("out", "r");
    assert_non_null(f);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) < (1 << 20) - 1);
    fclose(f);
    return text;
}

static void check(rocl_table_format format, unsigned width, const char *expected)
{
    char *text = written(format, width);
    assert_string_equal(text, expected);
    free(text);
}

static void fill(rocl_datum *row, int64_t ns, int64_t bytes, double rate, double percent)
{
    row[2] = rocl_datum_int(ns);
    row[3] = rocl_datum_int(bytes);
    row[4] = rocl_datum_real(rate);
    row[5] = rocl_datum_real(percent);
}

/* ---- the container --------------------------------------------------------------------------- */

static void test_rows_begin_without_values(void **state)
{
    (void)state;
    rocl_table *t = add_table("a", "A");
    for (int i = 0; i < 1000; i++) {
        rocl_datum *row = rocl_table_row(t);
        for (int c = 0; c < COLUMNS; c++)
            assert_int_equal(row[c].type, ROCL_DATUM_NONE);
        row[1] = rocl_datum_int(i);
    }
    assert_int_equal(t->row_count, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(t->cells[i * COLUMNS + 1].i, i);
}

static void test_text_is_copied(void **state)
{
    (void)state;
    char name[] = "abc";
    rocl_datum d = rocl_datum_text(all, name, 2);
    memset(name, 'x', 3);
    assert_string_equal(d.text, "ab");
    assert_int_equal(d.len, 2);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void test_text(void **state)
{
    (void)state;
    rocl_table *t = add_table("kernels", "Kernels");
    t->note = "by total time";
    fill(add_name(t, "gemm"), 12345, 1610612736, 12.34e9, 99.5);
    fill(add_name(t, "a_longer_name"), 999, 512, 5, 0.5);
    add_table("gaps", "Gaps")->note = "of GPUs";
    check(ROCL_TABLE_TEXT, 0,
          "Kernels: by total time\n"
          "  Name           Calls    Total      Size       Rate  Share %  Stddev\n"
          "  gemm               1  12.3 us  1.50 GiB  12.3 GB/s    99.50       -\n"
          "  a_longer_name      1   999 ns     512 B   5.00 B/s     0.50       -\n"
          "\n"
          "Gaps: nothing\n");
}

static void check_cell(rocl_unit unit, rocl_datum d, const char *expected)
{
    static rocl_table_column column = {"x", "X", ROCL_UNIT_TEXT};
    column.unit = unit;
    all->count = 0;
    *rocl_table_row(rocl_tables_add(all, "t", "T", &column, 1)) = d;
    char *text = written(ROCL_TABLE_TEXT, 0);
    free(all->tables[0].cells);
    all->count = 0;
    char *last = strrchr(text, '\n');
    *last = '\0';
    last = strrchr(text, '\n') + 1;
    assert_string_equal(last + strspn(last, " "), expected);
    free(text);
}

static void test_units(void **state)
{
    (void)state;
    const struct {
        rocl_unit unit;
        double v;
        const char *text;
    } reals[] = {
        {ROCL_UNIT_NS, 0, "0 ns"},
        {ROCL_UNIT_NS, 1.5, "1.50 ns"},
        {ROCL_UNIT_NS, 999.4, "999 ns"},
        {ROCL_UNIT_NS, 999.6, "1.00 us"},
        {ROCL_UNIT_NS, 9994, "9.99 us"},
        {ROCL_UNIT_NS, 9996, "10.0 us"},
        {ROCL_UNIT_NS, 99960, "100 us"},
        {ROCL_UNIT_NS, 999999, "1.00 ms"},
        {ROCL_UNIT_NS, -12.34e9, "-12.3 s"},
        {ROCL_UNIT_NS, 1e13, "10000 s"},
        {ROCL_UNIT_NS, NAN, "-"},
        {ROCL_UNIT_RATE, INFINITY, "-"},
        {ROCL_UNIT_RATE, 999.7e9, "1.00 TB/s"},
        {ROCL_UNIT_PERCENT, 33.335, "33.34"},
        {ROCL_UNIT_PERCENT, 100, "100.00"},
        {ROCL_UNIT_NUMBER, 2.5, "2.50"},
        {ROCL_UNIT_NUMBER, -0.001, "0.00"},
        {ROCL_UNIT_NUMBER, 1e300, "1e+300"},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        check_cell(reals[i].unit, rocl_datum_real(reals[i].v), reals[i].text);
    check_cell(ROCL_UNIT_NS, rocl_datum_int(999), "999 ns");
    check_cell(ROCL_UNIT_NS, rocl_datum_int(1000), "1.00 us");
    check_cell(ROCL_UNIT_NS, rocl_datum_int(INT64_MAX), "9223372037 s");
    check_cell(ROCL_UNIT_BYTES, rocl_datum_int(1023), "1023 B");
    check_cell(ROCL_UNIT_BYTES, rocl_datum_int(1024), "1.00 KiB");
    check_cell(ROCL_UNIT_BYTES, rocl_datum_int(1048575), "1.00 MiB");
    check_cell(ROCL_UNIT_BYTES, rocl_datum_int(1000 << 10), "1000 KiB");
    check_cell(ROCL_UNIT_BYTES, rocl_datum_int(INT64_MAX), "8.00 EiB");
    check_cell(ROCL_UNIT_COUNT, rocl_datum_int(INT64_MIN), "-9223372036854775808");
    check_cell(ROCL_UNIT_COUNT, (rocl_datum){.type = ROCL_DATUM_NONE}, "-");
}

static void test_times_are_seconds_since_the_origin(void **state)
{
    (void)state;
    static const rocl_table_column times[] = {{"at_ns", "At", ROCL_UNIT_TIME}};
    static const int64_t at[] = {INT64_MAX, INT64_MAX - 499, INT64_MAX - 500, INT64_MIN, 0};
    rocl_table *t = rocl_tables_add(all, "t", "T", times, 1);
    t->origin = INT64_MAX - 1000000;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        rocl_table_row(t)[0] = rocl_datum_int(at[i]);
    rocl_table_row(t);
    check(ROCL_TABLE_TEXT, 0,
          "T\n"
          "                    At\n"
          "            0.001000 s\n"
          "            0.001000 s\n"
          "            0.001000 s\n"
          "  -9223372036854775808\n" /* the difference is no integer */
          "  -9223372036.853776 s\n"
          "                     -\n");
    check(ROCL_TABLE_CSV, 0,
          "at_ns\n9223372036854775807\n9223372036854775308\n9223372036854775307\n"
          "-9223372036854775808\n0\n\n");
}

static void test_control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    rocl_table *t = rocl_tables_add(all, "t", "T", columns, 1);
    static const char name[] = "a\x1b[2J\n\t\x7f\0z\xc2\x9b\xffm\xc3\xa9";
    rocl_table_row(t)[0] = rocl_datum_text(all, name, sizeof name - 1);
    check(ROCL_TABLE_TEXT, 0, "T\n  Name\n  a?[2J???\xef\xbf\xbdz?\xef\xbf\xbdm\xc3\xa9\n");
    check(ROCL_TABLE_MARKDOWN, 0,
          "## T\n\n| Name |\n|---|\n| a?\\[2J???\xef\xbf\xbdz?\xef\xbf\xbdm\xc3\xa9 |\n");
}

static const rocl_table_column narrow[] = {{"name", "Name", ROCL_UNIT_TEXT},
                                           {"calls", "Calls", ROCL_UNIT_COUNT},
                                           {"agent", "Agent", ROCL_UNIT_TEXT}};

static void test_names_are_cut_in_the_middle(void **state)
{
    (void)state;
    rocl_table *t = rocl_tables_add(all, "t", "T", narrow, 3);
    add_row(t, "abcdefghijklmnopqrstuvwxyz", 26, 7)[2] = rocl_datum_text(all, "GPU 0", 5);
    const char *accents =
        "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc"
        "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc";
    add_row(t, accents, strlen(accents), 12345)[2] = rocl_datum_text(all, "GPU 1", 5);
    check(ROCL_TABLE_TEXT, 32,
          "T\n"
          "  Name              Calls  Agent\n"
          "  abcdefg...uvwxyz      7  GPU 0\n"
          "  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4...\xc3\xa4\xc3\xb6\xc3\xbc"
          "\xc3\xa4\xc3\xb6\xc3\xbc  12345  GPU 1\n");
    char *cut = written(ROCL_TABLE_TEXT, 32), *narrower = written(ROCL_TABLE_TEXT, 1);
    assert_string_equal(cut, narrower); /* never below 16 */
    free(narrower);
    free(cut);
    char *wide = written(ROCL_TABLE_TEXT, 80), *uncut = written(ROCL_TABLE_TEXT, 0);
    assert_string_equal(wide, uncut);
    assert_non_null(strstr(wide, "abcdefghijklmnopqrstuvwxyz"));
    free(wide);
    free(uncut);
}

/* ---- CSV, TSV, Markdown ---------------------------------------------------------------------- */

static void fill_odd(void)
{
    rocl_table *t = rocl_tables_add(all, "one", "One|1", columns, 3);
    t->note = "a note";
    add_name(t, "say \"hi\",\nyou\t|<b>")[2] = rocl_datum_real(0.1);
    rocl_datum *row = add_row(t, "", 0, INT64_MAX);
    row[2] = rocl_datum_real(NAN);
    rocl_table_row(t);
}

static void test_csv(void **state)
{
    (void)state;
    fill_odd();
    check(ROCL_TABLE_CSV, 0,
          "name,calls,total_ns\n"
          "\"say \"\"hi\"\",\nyou\t|<b>\",1,0.1\n"
          "\"\",9223372036854775807,\n"
          ",,\n");
    check(ROCL_TABLE_TSV, 0,
          "name\tcalls\ttotal_ns\n"
          "say \"hi\", you |<b>\t1\t0.1\n"
          "\t9223372036854775807\t\n"
          "\t\t\n");
}

static void test_csv_of_several_tables(void **state)
{
    (void)state;
    fill_odd();
    add_row(rocl_tables_add(all, "two", "Two", columns, 2), "x", 1, -1);
    rocl_tables_add(all, "three", "Three", columns + 1, 1);
    check(ROCL_TABLE_CSV, 0,
          "report,name,calls,total_ns\n"
          "one,\"say \"\"hi\"\",\nyou\t|<b>\",1,0.1\n"
          "one,\"\",9223372036854775807,\n"
          "one,,,\n"
          "\n"
          "report,name,calls\n"
          "two,\"x\",-1\n"
          "\n"
          "report,calls\n");
}

static void test_markdown(void **state)
{
    (void)state;
    fill_odd();
    add_name(rocl_tables_add(all, "two", "Two", columns, 1), "__a_b*");
    rocl_tables_add(all, "three", "Three", columns, 1);
    check(ROCL_TABLE_MARKDOWN, 0,
          "## One\\|1\n\na note\n\n"
          "| Name | Calls | Total |\n|---|---:|---:|\n"
          "| say \"hi\",?you?\\|\\<b\\> | 1 | 0.10 ns |\n"
          "|  | 9223372036854775807 |  |\n"
          "|  |  |  |\n"
          "\n## Two\n\n| Name |\n|---|\n| \\_\\_a_b\\* |\n"
          "\n## Three\n\nnothing\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const char *member(const cJSON *o, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static void test_json(void **state)
{
    (void)state;
    char every[256];
    for (int i = 0; i < 255; i++)
        every[i] = (char)(i + 1);
    rocl_table *t = add_table("one", "One \"1\"");
    add_row(t, every, 127, (INT64_C(1) << 53) + 1);
    rocl_datum *row = add_row(t, every + 127, 128, 2);
    row[2] = rocl_datum_real(INFINITY);
    row[4] = rocl_datum_real(1e22);
    add_table("two", "Two")->note = "n";
    char *text = written(ROCL_TABLE_JSON, 0);
    assert_non_null(strstr(text, "\"calls\": 9007199254740993,"));
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    assert_string_equal(member(root, "rocline"), ROCLINE_VERSION);
    const cJSON *tables = cJSON_GetObjectItem(root, "tables");
    assert_int_equal(cJSON_GetArraySize(tables), 2);
    const cJSON *one = cJSON_GetArrayItem(tables, 0), *two = cJSON_GetArrayItem(tables, 1);
    assert_string_equal(member(one, "title"), "One \"1\"");
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(one, "note")));
    assert_string_equal(member(two, "note"), "n");
    const cJSON *fifth = cJSON_GetArrayItem(cJSON_GetObjectItem(one, "columns"), 4);
    assert_string_equal(member(fifth, "key"), "bandwidth");
    assert_string_equal(member(fifth, "unit"), "bytes/s");
    const cJSON *rows = cJSON_GetObjectItem(one, "rows");
    assert_memory_equal(member(cJSON_GetArrayItem(rows, 0), "name"), every, 127);
    const cJSON *second = cJSON_GetArrayItem(rows, 1);
    assert_true(cJSON_IsNull(cJSON_GetObjectItem(second, "total_ns")));
    assert_true(cJSON_GetObjectItem(second, "bandwidth")->valuedouble == 1e22);
    assert_int_equal(cJSON_GetArraySize(second), COLUMNS);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(two, "rows")), 0);
    cJSON_Delete(root);
    free(text);
    if (system("command -v jq >/dev/null") == 0) {
        assert_int_equal(system("jq -e '.tables[0].rows[1].calls == 2' out >jq.out"), 0);
        assert_int_equal(system("iconv -f UTF-8 -t UTF-16 out >iconv.out"), 0);
    }
}

static void test_json_of_nothing(void **state)
{
    (void)state;
    char *text = written(ROCL_TABLE_JSON, 0);
    cJSON *root = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(root, "tables")), 0);
    assert_true(cJSON_IsArray(cJSON_GetObjectItem(root, "tables")));
    cJSON_Delete(root);
    free(text);
    check(ROCL_TABLE_TEXT, 0, "");
    check(ROCL_TABLE_CSV, 0, "");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void test_large_and_failing_output(void **state)
{
    (void)state;
    rocl_table *t = add_table("one", "One");
    for (int i = 0; i < 5000; i++)
        add_row(t, "some name of a kernel", 21, i);
    char *text = written(ROCL_TABLE_CSV, 0);
    assert_non_null(strstr(text, "\n\"some name of a kernel\",4999,,,,,\n"));
    free(text);
    for (int f = ROCL_TABLE_TEXT; f <= ROCL_TABLE_MARKDOWN; f++) {
        rocl_error *err = rocl_error_new();
        rocl_table_options o = {.path = "/dev/full", .format = (rocl_table_format)f};
        assert_int_equal(rocl_write_tables(all, &o, err), ROCL_OUTPUT);
        assert_non_null(strstr(rocl_error_text(err), "/dev/full"));
        o.path = "no/such/folder";
        assert_int_equal(rocl_write_tables(all, &o, err), ROCL_OUTPUT);
        rocl_error_free(err);
    }
}

static void test_unknown_format(void **state)
{
    (void)state;
    const rocl_table_options o = {.path = "out2", .format = (rocl_table_format)5};
    assert_int_equal(rocl_write_tables(all, &o, NULL), ROCL_USAGE);
    assert_int_not_equal(access("out2", F_OK), 0);
}

/* Tables made apart: their texts live on, and so does what was wrong. */
/* What cells have in common is kept once, whatever came between. */
static void test_equal_texts_are_one(void **state)
{
    (void)state;
    char name[64];
    const rocl_datum a = rocl_datum_text(all, "gemm", 4), b = rocl_datum_text(all, "gemv", 4);
    assert_ptr_not_equal(a.text, b.text);
    assert_ptr_equal(rocl_datum_text(all, "gemm", 4).text, a.text);
    assert_ptr_not_equal(rocl_datum_text(all, "gem", 3).text, a.text);
    for (int i = 0; i < 5000; i++) {
        const int n = snprintf(name, sizeof name, "kernel %d", i);
        const rocl_datum d = rocl_datum_text(all, name, (size_t)n);
        assert_int_equal(d.len, n);
        assert_string_equal(d.text, name);
    }
    const rocl_datum zeros = rocl_datum_text(all, "a\0b", 3);
    assert_int_equal(zeros.len, 3);
    assert_memory_equal(zeros.text, "a\0b", 4);
    assert_int_equal(rocl_datum_text(all, "a\0c", 3).text[2], 'c');
    assert_int_equal(rocl_datum_text(all, "", 0).len, 0);
}

static void test_join(void **state)
{
    (void)state;
    for (unsigned part = 0; part < 3; part++) {
        rocl_tables *some = rocl_tables_new();
        for (unsigned i = 0; i < part; i++) {
            rocl_table *t = rocl_tables_add(some, "part", "Part", columns, COLUMNS);
            rocl_datum *row = rocl_table_row(t);
            char text[3000];
            memset(text, 'a' + (int)(part + i), sizeof text);
            row[0] = rocl_datum_text(some, text, sizeof text);
            row[1] = rocl_datum_int(part);
        }
        some->incomplete = part == 2;
        assert_false(all->incomplete);
        assert_true(rocl_tables_join(all, some));
        assert_int_equal(some->count, 0);
        rocl_tables_free(some);
    }
    assert_true(all->incomplete);
    assert_int_equal(all->count, 3);
    for (unsigned i = 0; i < 3; i++) {
        const rocl_table *t = &all->tables[i];
        assert_int_equal(t->row_count, 1);
        assert_int_equal(t->cells[1].i, i ? 2 : 1);
        assert_int_equal(t->cells[0].len, 3000);
        assert_int_equal(t->cells[0].text[2999], 'b' + (int)i);
    }
}

static void test_sentences_are_not_cut(void **state)
{
    static const rocl_table_column sentence[] = {
        {"name", "Name", ROCL_UNIT_TEXT},
        {"finding", "Finding", ROCL_UNIT_SENTENCE},
    };
    (void)state;
    rocl_datum *row = rocl_table_row(rocl_tables_add(all, "t", "T", sentence, 2));
    row[0] = rocl_datum_text(all, "abcdefghijklmnopqrstuvwxyz", 26);
    row[1] = rocl_datum_text(all, "One kernel takes most of the time", 33);
    check(ROCL_TABLE_TEXT, 40,
          "T\n"
          "  Name              Finding\n"
          "  abcdefg...uvwxyz  One kernel takes most of the time\n");
    check(ROCL_TABLE_CSV, 0,
          "name,finding\n"
          "\"abcdefghijklmnopqrstuvwxyz\",\"One kernel takes most of the time\"\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

/* Different texts stay different, equal ones equal, at every width. */
static void test_shortened_names_stay_different(void **state)
{
    static const char *const names[] = {
        "void mul_mat_vec_q<(ggml_type)2, 1, true, false>(void const*, int const*, unsigned int)",
        "void mul_mat_vec_q<(ggml_type)2, 1, false, false>(void const*, int const*, unsigned int)",
        "void mul_mat_vec_q<(ggml_type)2, 1, false, true>(void const*, int const*, unsigned int)",
        "void mul_mat_vec_q<(ggml_type)14, 1, false, true>(void const*, int const*, unsigned int)",
        "void mul_mat_vec_q<(ggml_type)2, 1, true, false>(void const*, int const*, unsigned int)",
        "void mul_mat_vec_q<(ggml_type)2, 1, true, false>(void const*, int const*, unsigned int, "
        "void const*, int const*, unsigned int)",
        "short",
        "void copy_with_and_without_a_type(void const*, int const*, unsigned int, unsigned int, "
        "int)",
        "copy_with_and_without_a_type(void const*, int const*, unsigned int, unsigned int, int)",
        "",
        "gr\xc3\xb6\xc3\x9f"
        "er als der Platz, mit \xc3\xa4 und am Ende gleich, ganz am Ende",
        "gr\xc3\xb6\xc3\x9f"
        "er als der Platz, mit \xc3\xb6 und am Ende gleich, ganz am Ende",
    };
    enum { NAMES = sizeof names / sizeof *names };
    (void)state;
    for (size_t width = 16; width < 100; width++) {
        rocl_buf texts[NAMES] = {{0}};
        for (size_t i = 0; i < NAMES; i++)
            rocl_buf_str(&texts[i], names[i]);
        assert_true(rocl_table_shorten(texts, NAMES, width));
        for (size_t i = 0; i < NAMES; i++) {
            assert_true(rocl_text_width(texts[i].data, texts[i].len) <= width);
            for (size_t k = 0; k < i; k++)
                assert_int_equal(
                    texts[i].len == texts[k].len &&
                        (!texts[i].len || !memcmp(texts[i].data, texts[k].data, texts[i].len)),
                    !strcmp(names[i], names[k]));
        }
        if (width == 40) {
            rocl_buf_byte(&texts[2], 0);
            assert_string_equal((char *)texts[2].data, "mul_mat_vec...true>(void const*, int ...");
        }
        for (size_t i = 0; i < NAMES; i++)
            rocl_buf_free(&texts[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows_begin_without_values),
        TEST(test_text_is_copied),
        TEST(test_text),
        TEST(test_units),
        TEST(test_times_are_seconds_since_the_origin),
        TEST(test_control_characters_do_not_reach_the_terminal),
        TEST(test_names_are_cut_in_the_middle),
        TEST(test_shortened_names_stay_different),
        TEST(test_sentences_are_not_cut),
        TEST(test_csv),
        TEST(test_csv_of_several_tables),
        TEST(test_markdown),
        TEST(test_json),
        TEST(test_json_of_nothing),
        TEST(test_large_and_failing_output),
        TEST(test_unknown_format),
        TEST(test_equal_texts_are_one),
        TEST(test_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

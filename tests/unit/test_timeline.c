/* The timeline of legacy text, below its JSON: numbers as Python prints them, text as JSON, blocks
 * of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "base/lines.h"
#include "base/num.h"
#include "legacy/python.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *text_of(rocl_buf *b)
{
    rocl_buf_byte(b, 0);
    assert_false(b->failed);
    return (const char *)b->data;
}

/* What CPython 3.11 prints for int(ns) / 1000. */
static void test_us(void **state)
{
    static const struct {
        const char *ns, *us;
    } cases[] = {
        {"0", "0.0"},
        {"000", "0.0"},
        {"1", "0.001"},
        {"10", "0.01"},
        {"999", "0.999"},
        {"1000", "1.0"},
        {"1001", "1.001"},
        {"0001234500", "1234.5"},
        {"8796093022207999", "8796093022207.999"},
        {"8796093022208001", "8796093022208.002"},
        {"9007199254740991", "9007199254740.99"},
        {"9007199254740993000", "9007199254740992.0"},
        {"9223372036854775807", "9223372036854776.0"},
        {"9999999999999999499", "1e+16"},
        {"18446744073709551615", "1.844674407370955e+16"},
        {"123456789012345678901234567890", "1.2345678901234568e+26"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_buf b = {0};
        assert_true(rocl_py_put_us(&b, (rocl_view){cases[i].ns, strlen(cases[i].ns)}));
        assert_string_equal(text_of(&b), cases[i].us);
        rocl_buf_free(&b);
    }
    char huge[400];
    memset(huge, '9', sizeof huge);
    rocl_buf b = {0};
    assert_false(rocl_py_put_us(&b, (rocl_view){huge, sizeof huge}));
    rocl_buf_free(&b);
}

static void test_differences(void **state)
{
    static const struct {
        uint64_t start, stop;
        const char *us;
    } cases[] = {{5, 5, "0.0"},
                 {5, 1005, "1.0"},
                 {1005, 4, "-1.001"},
                 {0, UINT64_MAX, "1.844674407370955e+16"},
                 {UINT64_MAX, 0, "-1.844674407370955e+16"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_buf b = {0};
        rocl_py_put_us_difference(&b, cases[i].start, cases[i].stop);
        assert_string_equal(text_of(&b), cases[i].us);
        rocl_buf_free(&b);
    }
}

/* repr() of CPython 3.11. */
static void test_repr(void **state)
{
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0.0, "0.0"},
                 {-0.0, "-0.0"},
                 {0.1, "0.1"},
                 {1e-4, "0.0001"},
                 {1e-5, "1e-05"},
                 {9.998999999999796, "9.998999999999796"},
                 {-12.5, "-12.5"},
                 {1e15, "1000000000000000.0"},
                 {1e16, "1e+16"},
                 {1.5e300, "1.5e+300"},
                 {123456789.123, "123456789.123"},
                 {0.1 + 0.2, "0.30000000000000004"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_buf b = {0};
        rocl_repr_put(&b, cases[i].v);
        assert_string_equal(text_of(&b), cases[i].text);
        rocl_buf_free(&b);
    }
}

static void test_integers(void **state)
{
    static const char *const cases[][2] = {{"0", "0"}, {"000", "0"}, {"007", "7"}, {"70", "70"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_buf b = {0};
        rocl_py_put_integer(&b, (rocl_view){cases[i][0], strlen(cases[i][0])});
        assert_string_equal(text_of(&b), cases[i][1]);
        rocl_buf_free(&b);
    }
}

/* ---- text as JSON ---------------------------------------------------------------------------- */

static void test_json(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        const char *json;
        size_t bad;
    } cases[] = {
        {"", 0, "", 0},
        {"plain text of some length", 25, "plain text of some length", 0},
        {"a\"b\\c/d", 7, "a\\\"b\\\\c/d", 0},
        {"\b\t\n\f\r\v\x01\x1f\x7f", 9, "\\b\\t\\n\\f\\r\\u000b\\u0001\\u001f\x7f", 0},
        {"a\0b", 3,
         "a\xef\xbf\xbd"
         "b",
         1},
        {"h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80", 15,
         "h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80", 0},
        {"x\xff\xfey", 4, "x\xef\xbf\xbd\xef\xbf\xbdy", 2},
        {"\xc3", 1, "\xef\xbf\xbd", 1},
        {"\xc3\xa9\xed\xa0\x80", 5, "\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_buf b = {0};
        assert_int_equal(rocl_json_put(&b, cases[i].text, cases[i].n), cases[i].bad);
        assert_string_equal(text_of(&b), cases[i].json);
        rocl_buf_free(&b);
    }
}

/* A special byte at every place of a text, so that each way through the words of it is taken. */
static void test_json_places(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 40; n++) {
        for (size_t at = 0; at < n; at++) {
            char text[40], expected[48];
            memset(text, 'x', n);
            text[at] = '"';
            snprintf(expected, sizeof expected, "%.*s\\%.*s", (int)at, text, (int)(n - at),
                     text + at);
            rocl_buf b = {0};
            rocl_json_put(&b, text, n);
            assert_string_equal(text_of(&b), expected);
            rocl_buf_free(&b);
        }
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void take_all(const char *text, size_t n, char *out)
{
    const char *p = text, *end = text + n;
    bool cr = n && memchr(text, '\r', n);
    *out = '\0';
    while (p < end) {
        bool ended;
        const char *from = p, *to = rocl_line_next(&p, end, cr, &ended);
        sprintf(out + strlen(out), "%.*s%s", (int)(to - from), from, ended ? "|" : "");
    }
}

static void test_line_ends(void **state)
{
    static const char *const cases[][2] = {
        {"a\nb\n", "a|b|"}, {"a\r\nb\r\n", "a|b|"},  {"a\rb\r", "a|b|"},
        {"a\n\rb", "a||b"}, {"\n\r\n\r", "|||"},     {"a", "a"},
        {"a\nb", "a|b"},    {"a\r\r\nb\n", "a||b|"}, {"\r\n", "|"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[64];
        take_all(cases[i][0], strlen(cases[i][0]), out);
        assert_string_equal(out, cases[i][1]);
    }
}

/* Lines of many lengths, some longer than a block: blocks end where lines do, and nothing is lost.
 */
static void check_blocks(const char *line_end)
{
    char path[] = "/tmp/rocline-lines-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    rocl_buf all = {0};
    for (size_t i = 0; i < 400; i++) {
        size_t n = i == 200 ? 1 << 20 : i * 37 % 5000;
        for (size_t k = 0; k < n; k++)
            rocl_buf_byte(&all, (uint8_t)('a' + k % 26));
        rocl_buf_str(&all, line_end);
    }
    rocl_buf_str(&all, "the last, without an end");
    assert_int_equal(fwrite(all.data, 1, all.len, f), all.len);
    fclose(f);

    rocl_lines *lines;
    assert_int_equal(rocl_lines_open(&lines, path, NULL), ROCL_OK);
    rocl_buf block = {0};
    size_t at = 0, blocks = 0, m = strlen(line_end);
    uint64_t read;
    for (;; blocks++) {
        block.len = 0;
        assert_int_equal(rocl_lines_next(lines, &block, &read, NULL), ROCL_OK);
        if (!block.len)
            break;
        assert_true(at + block.len <= all.len);
        assert_memory_equal(block.data, all.data + at, block.len);
        at += block.len;
        if (at < all.len)
            assert_memory_equal(block.data + block.len - m, line_end, m);
    }
    assert_int_equal(at, all.len);
    assert_true(blocks > 2);
    rocl_lines_close(lines);
    rocl_buf_free(&block);
    rocl_buf_free(&all);
    unlink(path);
}

static void test_blocks(void **state)
{
    (void)state;
    check_blocks("\n");
    check_blocks("\r\n");
    check_blocks("\r");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_us),        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_repr),      cmocka_unit_test(test_integers),
        cmocka_unit_test(test_json),      cmocka_unit_test(test_json_places),
        cmocka_unit_test(test_line_ends), cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

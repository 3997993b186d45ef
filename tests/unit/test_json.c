/* JSON that is read without a tree, and the outline of large files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/json_index.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* ---- what is JSON ---------------------------------------------------------------------------- */

/* Reads all tokens of a copy that ends where its memory does; NULL, or what is wrong and where. */
static const char *read_tokens(const char *text, size_t n, unsigned flags, uint64_t *at)
{
    char *copy = malloc(n ? n : 1);
    rocl_json r;
    rocl_json_token t;
    assert_non_null(copy);
    memcpy(copy, text, n);
    rocl_json_open(&r, copy, n, 0, flags);
    while (rocl_json_next(&r, &t))
        ;
    *at = (uint64_t)(r.at - r.begin);
    free(copy);
    return r.wrong;
}

static void test_valid(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]",
                                        "{}",
                                        " [ ] ",
                                        "\n{\t}\r\n",
                                        "0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "123",
                                        "1.5",
                                        "-0.25",
                                        "1e5",
                                        "1E+5",
                                        "1e-5",
                                        "0.5e10",
                                        "0e0",
                                        "-1.25E-03",
                                        "123456789012345678901234567890",
                                        "true",
                                        "false",
                                        "null",
                                        "\"\"",
                                        "\"a\"",
                                        "\" \"",
                                        "\"\\\"\"",
                                        "\"\\\\\"",
                                        "\"\\/\\b\\f\\n\\r\\t\"",
                                        "\"\\u0041\\u00e9\\uD83D\\uDE00\"",
                                        "\"\\ud800\"",
                                        "\"\x7f\"",
                                        "\"\xc3\xa9\"",
                                        "\"\xff\"",
                                        "[1]",
                                        "[1,2]",
                                        "[ 1 , 2 ]",
                                        "[[]]",
                                        "[[[1],[2]],[]]",
                                        "[true,false,null]",
                                        "[\"\",\"\"]",
                                        "{\"a\":1}",
                                        "{\"a\":1,\"b\":2}",
                                        "{ \"a\" : 1 , \"b\" : [ ] }",
                                        "{\"\":\"\"}",
                                        "{\"a\":{\"b\":{\"c\":[{}]}}}",
                                        "{\"a\":1,\"a\":2}",
                                        "[\"]\",\"}\",\"{\",\"[\",\",\",\":\"]",
                                        "[\"\\\\\\\"\",\"\\\\\"]",
                                        "[1e1,-1]",
                                        "{\"a\\\"b\":1}",
                                        "[\"\\u0000\"]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t at;
        const char *wrong = read_tokens(texts[i], strlen(texts[i]), 0, &at);
        if (wrong)
            fail_msg("%s: byte %" PRIu64 ": %s", texts[i], at, wrong);
        assert_int_equal(at, strlen(texts[i]));
        assert_null(read_tokens(texts[i], strlen(texts[i]), ROCL_JSON_QUOTES, &at));
    }
}

static void test_invalid(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t at;
    } texts[] = {{"", 0},
                 {" ", 1},
                 {"[", 1},
                 {"{", 1},
                 {"]", 0},
                 {"}", 0},
                 {"[}", 1},
                 {"{]", 1},
                 {"[1", 2},
                 {"[1,", 3},
                 {"[1,]", 3},
                 {"[,1]", 1},
                 {"[1,,2]", 3},
                 {"[,]", 1},
                 {"[1 2]", 3},
                 {"[1:2]", 2},
                 {"[1}", 2},
                 {"{1:2}", 1},
                 {"{\"a\"}", 4},
                 {"{\"a\":}", 5},
                 {"{\"a\" 1}", 5},
                 {"{\"a\":1", 6},
                 {"{\"a\":1,}", 7},
                 {"{\"a\":1,,\"b\":2}", 7},
                 {"{,}", 1},
                 {"{\"a\":1 \"b\":2}", 7},
                 {"{\"a\":1]", 6},
                 {"{a:1}", 1},
                 {"{'a':1}", 1},
                 {"{\"a\":1}}", 7},
                 {"[]]", 2},
                 {"[][]", 2},
                 {"1 2", 2},
                 {"{}x", 2},
                 {"tru", 3},
                 {"trux", 0},
                 {"True", 0},
                 {"nul", 3},
                 {"truefalse", 4},
                 {"[falsey]", 6},
                 {"-", 1},
                 {"-a", 0},
                 {"+1", 0},
                 {".5", 0},
                 {"1.", 2},
                 {"1.e5", 1},
                 {"1e", 2},
                 {"1e+", 3},
                 {"01", 1},
                 {"-01", 2},
                 {"0x10", 1},
                 {"1_000", 1},
                 {"[-]", 1},
                 {"[1.]", 2},
                 {"NaN", 0},
                 {"Infinity", 0},
                 {"[inf]", 1},
                 {"\"", 1},
                 {"\"a", 2},
                 {"\"\\", 2},
                 {"\"\\\"", 3},
                 {"\"\\x\"", 1},
                 {"\"\\u12\"", 1},
                 {"\"\\u12g4\"", 1},
                 {"\"\\u\"", 1},
                 {"\"a\nb\"", 2},
                 {"\"\t\"", 1},
                 {"\"\x01\"", 1},
                 {"'a'", 0},
                 {"[\"a\" \"b\"]", 5},
                 {"[\"a]", 4},
                 {"/* */ 1", 0},
                 {"[1] // x", 4},
                 {"\xef\xbb\xbf[]", 0},
                 {"[a]", 1},
                 {"{\"a\":b}", 5},
                 {"[\"a(\"b\")\"]", 5},
                 {"\"\\a\"", 1},
                 {"[1]\f", 3},
                 {"{\"a\":\"b\":\"c\"}", 8}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint64_t at;
        const char *wrong = read_tokens(texts[i].text, strlen(texts[i].text), 0, &at);
        if (!wrong || at != texts[i].at)
            fail_msg("%s: byte %" PRIu64 ", not %" PRIu64 ": %s", texts[i].text, at, texts[i].at,
                     wrong ? wrong : "nothing is wrong");
    }
    uint64_t at;
    assert_non_null(read_tokens("[1]\0", 4, 0, &at));
    assert_non_null(read_tokens("[\"\0\"]", 5, 0, &at));
    assert_null(read_tokens("[nan, -inf, NaN, -Infinity]", 27, ROCL_JSON_NANS, &at));
    assert_null(read_tokens("1, {}, [], ", 11, ROCL_JSON_ELEMENTS, &at));
    assert_null(read_tokens("", 0, ROCL_JSON_ELEMENTS, &at));
    assert_non_null(read_tokens(",1", 2, ROCL_JSON_ELEMENTS, &at));
    assert_non_null(read_tokens("1]", 2, ROCL_JSON_ELEMENTS, &at));
}

static void test_depth(void **state)
{
    (void)state;
    char text[2 * 1000 + 1];
    uint64_t at;
    for (size_t depth = 1; depth <= 1000; depth += depth < 200 ? 1 : 100) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        const char *wrong = read_tokens(text, 2 * depth, 0, &at);
        assert_true(depth <= ROCL_JSON_DEPTH ? !wrong : at == ROCL_JSON_DEPTH);
        /* What is skipped may be as deep as it likes. */
        rocl_json r;
        rocl_json_open(&r, text, 2 * depth, 0, 0);
        rocl_json_skip(&r);
        assert_null(r.wrong);
        assert_ptr_equal(r.at, text + 2 * depth);
        rocl_json_open(&r, text, 2 * depth - 1, 0, 0);
        rocl_json_skip(&r);
        assert_non_null(r.wrong);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static rocl_view view(const char *text)
{
    return (rocl_view){text, strlen(text)};
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok, is_unsigned;
        uint64_t v;
    } table[] = {{"0", true, true, 0},
                 {"-0", true, false, 0},
                 {"9007199254740993", true, true, 9007199254740993},
                 {"9223372036854775807", true, true, INT64_MAX},
                 {"-9223372036854775808", true, false, (uint64_t)INT64_MIN},
                 {"9223372036854775808", false, true, (uint64_t)INT64_MAX + 1},
                 {"-9223372036854775809", false, false, 0},
                 {"18446744073709551615", false, true, UINT64_MAX},
                 {"18446744073709551616", false, false, 0},
                 {"99999999999999999999", false, false, 0},
                 {"1844674407370955161500", false, false, 0},
                 {"0x1f", true, true, 31},
                 {"0xFFFFffffFFFFffff", false, true, UINT64_MAX},
                 {"0x10000000000000000", false, false, 0},
                 {"0x", false, false, 0},
                 {"0xg", false, false, 0},
                 {"", false, false, 0},
                 {"-", false, false, 0},
                 {"1.0", true, true, 1},
                 {"-12.000", true, false, (uint64_t)-12},
                 {"18446744073709551615.0", false, true, UINT64_MAX},
                 {"1.", false, false, 0},
                 {".0", false, false, 0},
                 {"1.5", false, false, 0},
                 {"1.01", false, false, 0},
                 {"1.0.0", false, false, 0},
                 {"0x1.0", false, false, 0},
                 {"1e3", false, false, 0},
                 {"12a", false, false, 0},
                 {" 1", false, false, 0},
                 {"0000000000000000000000000007", true, true, 7}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t u = 0;
        int64_t s = 0;
        assert_int_equal(rocl_json_int(view(table[i].text), &s), table[i].ok);
        assert_int_equal(rocl_json_uint(view(table[i].text), &u), table[i].is_unsigned);
        assert_true(!table[i].ok || (uint64_t)s == table[i].v);
        assert_true(!table[i].is_unsigned || u == table[i].v);
    }
}

/* Small objects are taken at once or not at all, and then nothing has happened. */
static void test_uints(void **state)
{
    (void)state;
    static const rocl_view keys[] = {ROCL_JSON_KEY("x"), ROCL_JSON_KEY("longer_key"),
                                     ROCL_JSON_KEY("a_key_of_more_than_16")};
    static const struct {
        const char *text;
        unsigned count; /* of keys */
        bool ok;
    } table[] = {
        {"{\"x\":7}", 1, true},
        {"{\"x\":0,\"longer_key\":18}", 2, true},
        {"{\"x\":1,\"longer_key\":2,\"a_key_of_more_than_16\":999999999999999999}", 3, true},
        {"{\"x\":7,\"longer_key\":1}", 1, false},
        {"{\"x\":7}", 2, false},
        {"{\"longer_key\":7,\"x\":1}", 2, false},
        {"{\"x\":1,\"longer_kez\":2}", 2, false},
        {"{ \"x\":7}", 1, false},
        {"{\"x\": 7}", 1, false},
        {"{\"x\":-7}", 1, false},
        {"{\"x\":7.5}", 1, false},
        {"{\"x\":\"7\"}", 1, false},
        {"{\"x\":07}", 1, false},
        {"{\"x\":18446744073709551615}", 1, false},
        {"{}", 1, false},
        {"[]", 1, false},
        {"7", 1, false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t v[3] = {0};
        char text[100];
        rocl_json r;
        rocl_json_token t;
        const size_t n = (size_t)snprintf(text, sizeof text, "[%s,5]", table[i].text);
        rocl_json_open(&r, text, n, 0, 0);
        assert_true(rocl_json_element(&r, &t) && rocl_json_enter(&r, ROCL_JSON_ARRAY));
        assert_true(rocl_json_element(&r, &t));
        assert_int_equal(rocl_json_uints(&r, keys, table[i].count, v), table[i].ok);
        assert_true(!table[i].ok || v[0] == (uint64_t)(table[i].text[5] - '0'));
        if (rocl_json_element(&r, &t)) /* what was not taken is skipped */
            assert_true(rocl_view_is(t.text, "5"));
        else
            assert_int_equal(i, 12);               /* 07 is no JSON */
        for (size_t cut = 1; cut < n - 3; cut++) { /* never reads behind the end */
            char *part = malloc(cut);
            assert_non_null(part);
            memcpy(part, text, cut);
            rocl_json_open(&r, part, cut, 0, 0);
            if (rocl_json_element(&r, &t) && rocl_json_enter(&r, ROCL_JSON_ARRAY) &&
                rocl_json_element(&r, &t))
                assert_false(rocl_json_uints(&r, keys, table[i].count, v));
            free(part);
        }
    }
}

static void test_decimals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned digits;
        bool ok;
        int64_t v;
    } table[] = {{"1234567890.123", 3, true, 1234567890123},
                 {"6938893903907228.377", 3, true, 6938893903907228377},
                 {"1", 3, true, 1000},
                 {"1.5", 0, true, 2},
                 {"-1.5", 0, true, -2},
                 {"1.4999999999999999999999", 0, true, 1},
                 {"0.0005", 3, true, 1},
                 {"0.00049999", 3, true, 0},
                 {"0.000000000000000000000000001", 3, true, 0},
                 {"-0.0004", 3, true, 0},
                 {"1e3", 3, true, 1000000},
                 {"1.712195495997093e+15", 3, true, 1712195495997093000},
                 {"25e-1", 0, true, 3},
                 {"9223372036854775.807", 3, true, INT64_MAX},
                 {"9223372036854775.808", 3, false, 0},
                 {"-9223372036854775.808", 3, true, INT64_MIN},
                 {"9223372036854775.8074", 3, true, INT64_MAX},
                 {"9223372036854775.8075", 3, false, 0},
                 {"12345678901234567890", 0, false, 0},
                 {"12345678901234567890e-1", 0, true, 1234567890123456789},
                 {"12345678901234567895e-1", 0, true, 1234567890123456790},
                 {"0e99999999999", 3, true, 0},
                 {"1e99999999999", 3, false, 0},
                 {"1e-99999999999", 3, true, 0},
                 {"1.", 3, false, 0},
                 {"", 3, false, 0},
                 {"-", 3, false, 0},
                 {"nan", 3, false, 0},
                 {"1 ", 3, false, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int64_t v = 0;
        if (rocl_json_decimal(view(table[i].text), table[i].digits, &v) != table[i].ok ||
            (table[i].ok && v != table[i].v))
            fail_msg("%s: %" PRId64, table[i].text, v);
    }
}

static void test_doubles(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "0.1",
                                        "-2.5e-3",
                                        "0.3333333333333333",
                                        "0.30000000000000004",
                                        "123456789012345678",
                                        "1e22",
                                        "1e23",
                                        "4.9e-324",
                                        "2.2250738585072011e-308",
                                        "1e308",
                                        "1e400",
                                        "1.7976931348623157e308",
                                        "9007199254740993",
                                        "9007199254740992",
                                        "3.141592653589793238462643"};
    double v;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double want = strtod(texts[i], NULL);
        assert_true(rocl_json_double(view(texts[i]), &v));
        assert_memory_equal(&v, &want, sizeof v);
    }
    for (uint64_t i = 0; i < 10000; i++) {
        char text[64];
        const uint64_t bits = i * 0x9e3779b97f4a7c15;
        double want;
        memcpy(&want, &bits, sizeof want);
        if (!isfinite(want))
            continue;
        snprintf(text, sizeof text, "%.*g", (int)(i % 20 + 1), want);
        want = strtod(text, NULL);
        assert_true(rocl_json_double(view(text), &v));
        assert_memory_equal(&v, &want, sizeof v);
    }
    assert_true(rocl_json_double(view("nan"), &v) && isnan(v));
    assert_true(rocl_json_double(view("-inf"), &v) && v < 0 && isinf(v));
    assert_true(rocl_json_double(view("Infinity"), &v) && v > 0 && isinf(v));
    assert_false(rocl_json_double(view("0x10"), &v));
    assert_false(rocl_json_double(view("1,5"), &v));
    assert_false(rocl_json_double(view(""), &v));
}

static void test_unescape(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } table[] = {{"", ""},
                 {"plain", "plain"},
                 {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
                 {"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac"},
                 {"x\\ud83d\\ude00y", "x\xf0\x9f\x98\x80y"},
                 {"\\ud83dx", "\xef\xbf\xbdx"},
                 {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\\ud83d\\u0041", "\xef\xbf\xbd"
                                    "A"},
                 {"a\\qb\\u12", "a\\qb\\u12"},
                 {"end\\", "end\\"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        rocl_buf b = {0};
        rocl_json_unescape(&b, view(table[i].from));
        rocl_buf_byte(&b, 0);
        assert_string_equal(b.data, table[i].to);
        rocl_buf_free(&b);
    }
}

/* ---- walking --------------------------------------------------------------------------------- */

static void test_members(void **state)
{
    (void)state;
    static const rocl_view keys[] = {ROCL_JSON_KEY("a"), ROCL_JSON_KEY("b"), ROCL_JSON_KEY("name")};
    static const char text[] =
        "[{\"a\":1,\"b\":{\"x\":[1,{\"y\":\"}\"}],\"a\":5},\"name\":\"n\\\"1\"},"
        "7, {\"unknown\":[[],{}],\"name\":\"2\",\"b\":[3],\"a\":null}, {}, [\"s\"]]";
    rocl_json r;
    rocl_json_token v;
    char trace[256] = "", *p = trace;
    rocl_json_open(&r, text, sizeof text - 1, 1000, 0);
    assert_true(rocl_json_element(&r, &v));
    assert_false(rocl_json_enter(&r, ROCL_JSON_OBJECT));
    assert_true(rocl_json_enter(&r, ROCL_JSON_ARRAY));
    while (rocl_json_element(&r, &v)) {
        p += sprintf(p, "%d(", (int)v.kind);
        if (rocl_json_enter(&r, ROCL_JSON_OBJECT))
            for (int k; (k = rocl_json_member(&r, keys, 3, &v)) >= 0;)
                p += sprintf(p, "%d%.*s@%d ", k, (int)v.text.n, v.text.p,
                             (int)rocl_json_offset(&r, &v) - 1000);
        p += sprintf(p, ")");
    }
    assert_null(r.wrong);
    assert_string_equal(trace, "1(01@6 1{@12 2n\\\"1@46 )7()1(22@83 1[@90 0null@98 )1()3()");
    assert_false(rocl_json_element(&r, &v));
    assert_int_equal(rocl_json_member(&r, keys, 3, &v), -1);

    /* An object that is left early, and one that is skipped behind a key. */
    static const char other[] = "{\"a\":{\"x\":1,\"b\":[2,[3]],\"name\":4},\"b\":5}";
    rocl_json_open(&r, other, sizeof other - 1, 0, 0);
    assert_true(rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT));
    assert_int_equal(rocl_json_member(&r, keys, 3, &v), 0);
    assert_true(rocl_json_enter(&r, v.kind));
    assert_int_equal(rocl_json_member(&r, keys + 1, 1, &v), 0);
    rocl_json_leave(&r);
    assert_int_equal(rocl_json_next(&r, &v), ROCL_JSON_KEY);
    rocl_json_skip(&r);
    assert_int_equal(rocl_json_next(&r, &v), ROCL_JSON_OBJECT_END);
    assert_int_equal(rocl_json_next(&r, &v), ROCL_JSON_NOTHING);
    assert_null(r.wrong);

    rocl_error *err = rocl_error_new();
    rocl_json_open(&r, "[1 2]", 5, 5000000000, 0);
    while (rocl_json_next(&r, &v))
        ;
    assert_int_equal(rocl_json_fail(&r, "x.json", err), ROCL_INPUT);
    assert_string_equal(rocl_error_text(err),
                        "x.json: byte 5000000003: a comma or a closing bracket was expected");
    rocl_error_free(err);
}

/* ---- strings whose quotes are not escaped ---------------------------------------------------- */

static void test_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tokens; /* keys and strings */
    } table[] = {
        {"{\"a\":\"f(\"x\")\",\"b\":1}", "a|f(\"x\")|b|"},
        {"{\"a\":\"f(\"x\", \"y\")\", \"b\":\"c\"}", "a|f(\"x\", \"y\")|b|c|"},
        {"{\"args\":{\n    \"args\":\"(p(\"gfx90a:x+\"), q=\"a\", \"b\")\",\n    \"Data\":\"\"\n  "
         "}\n}",
         "args|args|(p(\"gfx90a:x+\"), q=\"a\", \"b\")|Data||"},
        {"{\"n\":\"lambda [\"k\"] {\"z\"}\"}", "n|lambda [\"k\"] {\"z\"}|"},
        {"[\"a\",\"b\"]", "a|b|"},
        {"{\"a\\\"b\":\"c\\\"\"}", "a\\\"b|c\\\"|"},
        {"{\"a\":\"tab\there\"}", "a|tab\there|"},
        {"{\"a\":\"\",\"b\":\"\"}", "a||b||"},
        {"{\"a\":\"x\"\n}", "a|x|"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        rocl_json r;
        rocl_json_token t;
        char got[256] = "", *p = got;
        rocl_json_open(&r, table[i].text, strlen(table[i].text), 0, ROCL_JSON_QUOTES);
        while (rocl_json_next(&r, &t))
            if (t.kind == ROCL_JSON_KEY || t.kind == ROCL_JSON_STRING)
                p += sprintf(p, "%.*s|", (int)t.text.n, t.text.p);
        assert_null(r.wrong);
        assert_string_equal(got, table[i].tokens);
    }
}

/* ---- random documents: the tree that cJSON makes --------------------------------------------- */

static uint64_t seed = 1;

static unsigned roll(unsigned n)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(seed >> 33) % n;
}

static void make_text(char *to)
{
    static const char *const pieces[] = {
        "a",    "\"",  "\\", "{",        "}", "[",        "]",
        ",",    ":",   "\n", "\xc3\xa9", " ", "\\\\\\\"", "0123456789abcdef",
        "\x01", "name"};
    *to = '\0';
    for (unsigned n = roll(roll(8) ? 6 : 40); n > 0; n--)
        strcat(to, pieces[roll(16)]);
}

static cJSON *make_value(unsigned depth)
{
    char text[1024];
    cJSON *v;
    unsigned n = roll(5);
    switch (roll(depth ? 7 : 5)) {
    case 0:
        return cJSON_CreateNumber((double)roll(1000000) / (roll(2) ? 1 : 64) * (roll(2) ? 1 : -1));
    case 1:
        return cJSON_CreateBool((cJSON_bool)roll(2));
    case 2:
        return cJSON_CreateNull();
    case 3:
    case 4:
        make_text(text);
        return cJSON_CreateString(text);
    case 5:
        v = cJSON_CreateArray();
        while (n--)
            cJSON_AddItemToArray(v, make_value(depth - 1));
        return v;
    default:
        v = cJSON_CreateObject();
        while (n--) {
            make_text(text);
            sprintf(text + strlen(text), "%u", n); /* cJSON compares by keys */
            cJSON_AddItemToObject(v, text, make_value(depth - 1));
        }
        return v;
    }
}

static char *resolve(rocl_buf *b, rocl_view text)
{
    b->len = 0;
    rocl_json_unescape(b, text);
    rocl_buf_byte(b, 0);
    return (char *)b->data;
}

static cJSON *read_tree(rocl_json *r, const rocl_json_token *t)
{
    rocl_buf b = {0};
    rocl_json_token next;
    double d = 0;
    cJSON *v = NULL;
    switch (t->kind) {
    case ROCL_JSON_NUMBER:
        assert_true(rocl_json_double(t->text, &d));
        v = cJSON_CreateNumber(d);
        break;
    case ROCL_JSON_STRING:
        assert_int_equal(t->escaped, memchr(t->text.p, '\\', t->text.n) != NULL);
        v = cJSON_CreateString(resolve(&b, t->text));
        break;
    case ROCL_JSON_TRUE:
    case ROCL_JSON_FALSE:
        v = cJSON_CreateBool(t->kind == ROCL_JSON_TRUE);
        break;
    case ROCL_JSON_NULL:
        v = cJSON_CreateNull();
        break;
    case ROCL_JSON_ARRAY:
        v = cJSON_CreateArray();
        while (rocl_json_next(r, &next) != ROCL_JSON_ARRAY_END)
            cJSON_AddItemToArray(v, read_tree(r, &next));
        break;
    case ROCL_JSON_OBJECT:
        v = cJSON_CreateObject();
        while (rocl_json_next(r, &next) == ROCL_JSON_KEY) {
            char *key = strdup(resolve(&b, next.text));
            rocl_json_next(r, &next);
            cJSON_AddItemToObject(v, key, read_tree(r, &next));
            free(key);
        }
        assert_int_equal(next.kind, ROCL_JSON_OBJECT_END);
        break;
    default:
        fail_msg("no value: %s", r->wrong);
    }
    rocl_buf_free(&b);
    return v;
}

static void test_trees(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        cJSON *want = make_value(6);
        char *text = roll(2) ? cJSON_Print(want) : cJSON_PrintUnformatted(want);
        const size_t n = strlen(text);
        rocl_json r;
        rocl_json_token t;
        rocl_json_open(&r, text, n, 0, 0);
        rocl_json_next(&r, &t);
        cJSON *got = read_tree(&r, &t);
        assert_true(cJSON_Compare(want, got, 1));
        assert_int_equal(rocl_json_next(&r, &t), ROCL_JSON_NOTHING);
        assert_null(r.wrong);
        /* Skipping comes to the same end, and no shorter text is whole. */
        rocl_json_open(&r, text, n, 0, 0);
        rocl_json_skip(&r);
        assert_true(!r.wrong && r.at == text + n);
        if (strchr("[{\"", *text)) {
            rocl_json_open(&r, text, roll((unsigned)n), 0, 0);
            rocl_json_skip(&r);
            assert_non_null(r.wrong);
        }
        cJSON_Delete(want);
        cJSON_Delete(got);
        cJSON_free(text);
    }
}

/* ---- outlines -------------------------------------------------------------------------------- */

/* A file as the profilers write them, with keys before and behind the events. */
typedef struct document {
    rocl_buf text;
    size_t ends[400]; /* of the events */
    size_t count, end;
} document;

static void make_document(document *d, bool bare)
{
    static const char *const gaps[] = {"", " ", "\n  ", "\r\n"};
    d->text.len = 0;
    rocl_buf_str(&d->text,
                 bare ? "["
                      : "{\"schema\": 1, \"meta\": {\"a\\n\": [1], \"b\": \"x]\"}, \"events\": [");
    d->count = roll(sizeof d->ends / sizeof *d->ends);
    for (size_t i = 0; i < d->count; i++) {
        cJSON *v = make_value(4);
        if (!cJSON_IsObject(v)) { /* an event is an object */
            cJSON *o = cJSON_CreateObject();
            cJSON_AddItemToObject(o, "v", v);
            v = o;
        }
        char *text = roll(2) ? cJSON_Print(v) : cJSON_PrintUnformatted(v);
        rocl_buf_str(&d->text, gaps[roll(4)]);
        rocl_buf_str(&d->text, text);
        d->ends[i] = d->text.len;
        rocl_buf_str(&d->text, gaps[roll(4)]);
        if (i + 1 < d->count)
            rocl_buf_str(&d->text, ",");
        cJSON_free(text);
        cJSON_Delete(v);
    }
    rocl_buf_str(&d->text, "]");
    d->end = d->text.len;
    if (!bare)
        rocl_buf_str(&d->text,
                     ", \"names\": [\"a\", \"b,]\"], \"last\": \"\\u0041\", \"none\": []}\n");
}

/* The events of all blocks one after the other end where they should. */
static void check_blocks(const rocl_json_index *x, const rocl_json_node *n, const document *d,
                         size_t count, unsigned flags)
{
    const char *text = (const char *)d->text.data;
    size_t i = 0;
    for (size_t k = n->block; k < n->block + n->blocks; k++) {
        const rocl_json_block *b = &x->blocks[k];
        rocl_json r;
        rocl_json_token v;
        assert_int_equal(b->first, i);
        rocl_json_open(&r, text + b->begin, (size_t)(b->end - b->begin), b->begin,
                       ROCL_JSON_ELEMENTS | flags);
        while (rocl_json_element(&r, &v)) {
            assert_true(rocl_json_enter(&r, ROCL_JSON_OBJECT));
            rocl_json_leave(&r);
            assert_true(i < count && r.at == text + d->ends[i++]);
        }
        assert_null(r.wrong);
        assert_int_equal(b->first + b->count, i);
    }
    assert_int_equal(i, count);
    assert_int_equal(n->elements, count);
}

static void test_blocks(void **state)
{
    (void)state;
    document d = {0};
    rocl_error *err = rocl_error_new();
    for (unsigned i = 0; i < 400; i++) {
        make_document(&d, i % 4 == 0);
        const char *text = (const char *)d.text.data;
        for (unsigned flags = 0; flags <= ROCL_JSON_QUOTES; flags += ROCL_JSON_QUOTES) {
            /* A text of random pieces may look like the end of a string. */
            const rocl_json_outline how = {i % 4 ? 1 : 0, 0, flags, 1 + roll(i % 7 ? 3000 : 100)};
            rocl_json_index x = {0};
            bool quotes;
            rocl_status st = rocl_json_index_bytes(&x, text, d.text.len, &how, &quotes, err);
            if (st != ROCL_OK)
                fail_msg("%s", rocl_error_text(err));
            assert_false(x.truncated || quotes);
            const rocl_json_node *events = i % 4 ? rocl_json_child(&x, x.nodes, "events") : x.nodes;
            assert_non_null(events);
            assert_int_equal(events->end, d.end);
            check_blocks(&x, events, &d, d.count, flags);
            if (i % 4) {
                const rocl_json_node *last = rocl_json_child(&x, x.nodes, "last");
                assert_int_equal(x.count, 7);
                assert_int_equal(x.nodes[0].elements, 6);
                assert_true(last && last->kind == ROCL_JSON_STRING && last->end - last->begin == 8);
                assert_int_equal(rocl_json_child(&x, x.nodes, "names")->elements, 2);
                assert_int_equal(rocl_json_child(&x, x.nodes, "none")->blocks, 0);
                assert_int_equal(rocl_json_child(&x, x.nodes, "meta")->kind, ROCL_JSON_OBJECT);
            }
            rocl_json_index_free(&x);
        }
    }
    rocl_error_free(err);
    rocl_buf_free(&d.text);
}

/* A file that is cut off at any byte has the events that are complete. */
static void test_truncated(void **state)
{
    (void)state;
    document d = {0};
    rocl_error *err = rocl_error_new();
    for (unsigned i = 0; i < 12; i++) {
        const bool bare = i % 3 == 0;
        do
            make_document(&d, bare);
        while (d.count < 3 || d.text.len > 30000);
        for (size_t n = 1; n < d.end; n++) {
            const rocl_json_outline how = {!bare, 0, i % 2 ? ROCL_JSON_QUOTES : 0, 500};
            rocl_json_index x = {0};
            bool quotes;
            if (rocl_json_index_bytes(&x, (const char *)d.text.data, n, &how, &quotes, err))
                fail_msg("%s, of %zu: %.60s", rocl_error_text(err), n,
                         (char *)d.text.data + n - 50);
            assert_true(x.truncated && x.rest <= n);
            const rocl_json_node *events = bare ? x.nodes : rocl_json_child(&x, x.nodes, "events");
            size_t count = 0;
            while (count < d.count && d.ends[count] <= n)
                count++;
            if (events && events->kind == ROCL_JSON_ARRAY)
                check_blocks(&x, events, &d, count, how.flags);
            rocl_json_index_free(&x);
        }
    }
    rocl_error_free(err);
    rocl_buf_free(&d.text);
}

static void test_outline(void **state)
{
    (void)state;
    static const char text[] =
        "{\"tool\":[{\"metadata\":{\"pid\":7,\"args\":[[1],2]},\"agents\":[{\"id\":1},{\"id\":2}],"
        "\"records\":{\"a\":[{},{}],\"b\":[],\"c\":[1, 2 ,3]}}]}";
    static const struct {
        const char *key;
        size_t parent;
        rocl_json_kind kind;
        uint64_t elements;
        size_t blocks;
    } want[] = {{"", 0, ROCL_JSON_OBJECT, 1, 0},      {"tool", 0, ROCL_JSON_ARRAY, 1, 0},
                {"", 1, ROCL_JSON_OBJECT, 3, 0},      {"metadata", 2, ROCL_JSON_OBJECT, 2, 0},
                {"pid", 3, ROCL_JSON_NUMBER, 0, 0},   {"args", 3, ROCL_JSON_ARRAY, 2, 1},
                {"agents", 2, ROCL_JSON_ARRAY, 2, 1}, {"records", 2, ROCL_JSON_OBJECT, 3, 0},
                {"a", 7, ROCL_JSON_ARRAY, 2, 1},      {"b", 7, ROCL_JSON_ARRAY, 0, 0},
                {"c", 7, ROCL_JSON_ARRAY, 3, 1}};
    rocl_error *err = rocl_error_new();
    for (unsigned flags = 0; flags <= ROCL_JSON_QUOTES; flags += ROCL_JSON_QUOTES) {
        const rocl_json_outline how = {4, 2, flags, 0};
        rocl_json_index x = {0};
        bool quotes;
        assert_int_equal(rocl_json_index_bytes(&x, text, sizeof text - 1, &how, &quotes, err),
                         ROCL_OK);
        assert_int_equal(x.count, sizeof want / sizeof *want);
        for (size_t i = 0; i < x.count; i++) {
            const rocl_json_node *n = &x.nodes[i];
            assert_string_equal(n->key, want[i].key);
            assert_int_equal(n->parent, want[i].parent);
            assert_int_equal(n->kind, want[i].kind);
            assert_int_equal(n->elements, want[i].elements);
            assert_int_equal(n->blocks, want[i].blocks);
            assert_true(n->kind != ROCL_JSON_OBJECT ||
                        (text[n->begin] == '{' && text[n->end - 1] == '}'));
            assert_true(n->kind != ROCL_JSON_ARRAY ||
                        (text[n->begin] == '[' && text[n->end - 1] == ']'));
        }
        rocl_json_index_free(&x);
    }
    rocl_error_free(err);
}

/* What an outline notices of what is wrong. */
static void test_outline_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
        bool quotes;
    } table[] = {
        {"", "byte 0: the text ends within a value", false},
        {"x", "byte 0: a value was expected", false},
        {"{\"events\":[{\"a\":\"f(\"x\")\"}]}", "byte 20: a comma was expected behind a string",
         true},
        {"{\"events\":[{\"a\":\"f(\"  \n x\")\"}]}",
         "byte 24: a comma was expected behind a string", true},
        {"{\"a\":\"f(\"x\")\"}", "byte 9: a comma or a closing bracket was expected", true},
        {"{} {}", "byte 3: something follows the outermost value", true},
    };
    rocl_error *err = rocl_error_new();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const rocl_json_outline how = {1, 0, 0, 0};
        rocl_json_index x = {0};
        bool quotes;
        assert_int_equal(
            rocl_json_index_bytes(&x, table[i].text, strlen(table[i].text), &how, &quotes, err),
            ROCL_INPUT);
        assert_string_equal(rocl_error_text(err), table[i].error);
        assert_true(quotes || !table[i].quotes);
        rocl_json_index_free(&x);
    }
    rocl_error_free(err);
}

/* More than a window of 1 MiB: strings and brackets that its end cuts, by a file. */
static void test_large(void **state)
{
    (void)state;
    char path[] = "/tmp/test_json-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    rocl_error *err = rocl_error_new();
    rocl_spool *spool = NULL;
    rocl_spool_store store = {0};
    rocl_buf b = {0};
    assert_non_null(f);
    fputs("{\"long\":\"", f);
    for (unsigned i = 0; i < 3000000; i++)
        fputc('a' + (int)(i % 26), f);
    fputs("\",\"events\":[", f);
    for (unsigned i = 0; i < 100000; i++)
        fprintf(f, "%s{\"id\":%u,\"s\":\"\\\\\\\"%.*s\"}", i ? ",\n" : "", i, (int)(i % 61),
                "[[[[[[]]]]]]{{{{{{}}}}}},,,,,,::::::xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    fputs("],\"end\":true}", f);
    fclose(f);
    assert_int_equal(rocl_spool_open(&spool, path, err), ROCL_OK);
    assert_int_equal(rocl_spool_fill(spool, &store, NULL, err), ROCL_OK);
    for (unsigned flags = 0; flags <= ROCL_JSON_QUOTES; flags += ROCL_JSON_QUOTES) {
        static const rocl_view id[] = {ROCL_JSON_KEY("id")};
        const rocl_json_outline how = {1, 0, flags, 100000};
        rocl_json_index x = {0};
        rocl_json r;
        rocl_json_token v;
        bool quotes;
        uint64_t count = 0, number = 0;
        assert_int_equal(rocl_json_index_spool(&x, spool, &how, &quotes, err), ROCL_OK);
        const rocl_json_node *events = rocl_json_child(&x, x.nodes, "events");
        assert_true(events && rocl_json_child(&x, x.nodes, "end"));
        assert_int_equal(events->elements, 100000);
        for (size_t i = events->block; i < events->block + events->blocks; i++) {
            assert_int_equal(rocl_json_load(&r, &b, spool, x.blocks[i].begin, x.blocks[i].end,
                                            flags | ROCL_JSON_ELEMENTS, err),
                             ROCL_OK);
            while (rocl_json_element(&r, &v)) {
                assert_true(rocl_json_enter(&r, ROCL_JSON_OBJECT));
                assert_int_equal(rocl_json_member(&r, id, 1, &v), 0);
                assert_true(rocl_json_uint(v.text, &number) && number == count++);
                rocl_json_leave(&r);
            }
            assert_null(r.wrong);
        }
        assert_int_equal(count, 100000);
        rocl_json_index_free(&x);
    }
    rocl_buf_free(&b);
    rocl_spool_close(spool);
    rocl_spool_store_close(&store);
    rocl_error_free(err);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),          cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_depth),          cmocka_unit_test(test_integers),
        cmocka_unit_test(test_uints),          cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_doubles),        cmocka_unit_test(test_unescape),
        cmocka_unit_test(test_members),        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_trees),          cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_truncated),      cmocka_unit_test(test_outline),
        cmocka_unit_test(test_outline_errors), cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

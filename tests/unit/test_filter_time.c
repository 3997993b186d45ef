/* Times and durations as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/stages.h"

#define FIRST INT64_C(1000)
#define LAST  INT64_C(2001000) /* the trace lasts 2 ms */
#define MAX   INT64_MAX

static const struct {
    const char *text;
    int64_t at;
} times[] = {
    {"0", 0},
    {"123", 123},
    {"  123  ", 123},
    {"123.9", 123}, /* a script's float */
    {"781470909013049", 781470909013049},
    {"9223372036854775807", MAX},
    {"9007199254740993", 9007199254740993}, /* no double holds it */
    {"0%", FIRST},
    {"100%", LAST},
    {"100.0%", LAST},
    {"50%", 1001000},
    {"12.5%", 251000},
    {".5%", 11000},
    {"0.00005%", 1001},
    {"0.00004%", FIRST}, /* 0.8 ns */
    {" 10% ", 201000},
    {"+0", FIRST},
    {"+5", FIRST + 5},
    {"+5ns", FIRST + 5},
    {"+1.5ms", FIRST + 1500000},
    {"+10us", FIRST + 10000},
    {"+2s", FIRST + 2000000000},
    {"+1m", FIRST + 60000000000},
    {"+1min", FIRST + 60000000000},
    {"+1h", FIRST + 3600000000000},
    {"+1.5d", FIRST + 129600000000000},
    {"+106751d", MAX / 86400000000000 * 86400000000000 + FIRST},
    {"2.5916648e14", 259166480000000},
    {"2.59166471613551e+14", 259166471613551},
    {"1E3", 1000},
    {"1e0", 1},
    {"15e-1", 1},
    {"1e-400", 0},
    {"9.223372036854775807e18", MAX},
    {"5e1%", 1001000},
    {"+1.5e3us", FIRST + 1500000},
    {"120%", LAST}, /* no more than there is */
    {"100.000001%", LAST},
    {"99999999999999999999%", LAST},
    {"1e400%", LAST},
    {"+0.0000000001s", FIRST},
    {"+1.9999ns", FIRST + 1},
    {"+1.5 ", FIRST + 1},
    {"-0", LAST},
    {"-0.5s", LAST - 500000000},
    {"-10us", LAST - 10000},
    {"+9223372036854775807", MAX}, /* saturates: it is after everything */
};

static void test_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        rocl_time t = {0};
        rocl_error *err = rocl_error_new();
        rocl_status st = rocl_time_parse(&t, "--start", times[i].text, err);
        if (st != ROCL_OK || rocl_time_at(&t, FIRST, LAST) != times[i].at)
            fail_msg("\"%s\": %d %s: %lld", times[i].text, (int)st, rocl_error_text(err),
                     (long long)rocl_time_at(&t, FIRST, LAST));
        rocl_error_free(err);
    }
}

static const struct {
    const char *text, *says;
} bad_times[] = {
    {"", "a time is N"},
    {" ", "a time is N"},
    {"nan", "a time is N"},
    {"nan%", "a time is N"},
    {"inf", "a time is N"},
    {"%", "a time is N"},
    {".", "a time is N"},
    {"+", "a time is N"},
    {"-", "a time is N"},
    {"--1", "a time is N"},
    {"+-1", "a time is N"},
    {"0x10", "a time "},
    {"1e", "a time "},
    {"1e+", "a time "},
    {"e9", "a time "},
    {"1e1.5", "a time "},
    {"1ee5", "a time "},
    {"10x", "a time is N"},
    {"10%%", "a time is N"},
    {"10%5", "a time is N"},
    {"+10%", "a time is N"},
    {"-10%", "a time is N"},
    {"+1w", "a time is N"},
    {"+1hour", "a time is N"},
    {"+1 s", "a time is N"},
    {"+1ss", "a time is N"},
    {"+s", "a time is N"},
    {"1,5", "a time is N"},
    {"1.5.5", "a time is N"},
    {"1.5s", "a time with a unit is relative: +1.5s"},
    {"2h", "a time with a unit is relative: +2h"},
    {"1e19", "2^63"},
    {"1e99999999999", "2^63"},
    {"+2562048h", "2^63"},
    {"+106752d", "2^63"},
    {"9223372036854775808", "2^63"},
    {"99999999999999999999999999999999999999999", "2^63"},
    {"+9223372036854775808", "2^63"},
    {"+9223372036854775807us", "2^63"},
    {"+9223372037s", "2^63"},
    {"-153722867281m", "2^63"},
};

static void test_bad_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++) {
        rocl_time t = {0};
        rocl_error *err = rocl_error_new();
        rocl_status st = rocl_time_parse(&t, "--end", bad_times[i].text, err);
        const char *says = rocl_error_text(err);
        if (st != ROCL_USAGE || !strstr(says, bad_times[i].says) ||
            strncmp(says, "--end: \"", 8) != 0)
            fail_msg("\"%s\": %d \"%s\"", bad_times[i].text, (int)st, says);
        rocl_error_free(err);
    }
}

static void test_extreme_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t first, last, at;
    } rows[] = {
        {"0%", INT64_MIN, INT64_MAX, INT64_MIN},
        {"100%", INT64_MIN, INT64_MAX, INT64_MAX},
        {"50%", INT64_MIN, INT64_MAX, -1},
        {"50%", 100, 50, 100}, /* nothing in between */
        {"+1", INT64_MAX, INT64_MAX, INT64_MAX},
        {"-1", INT64_MIN, INT64_MIN, INT64_MIN},
        {"-1", INT64_MIN, 0, -1},
        {"33.333333333333%", 0, INT64_C(3000000000000000), INT64_C(999999999999990)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rocl_time t = {0};
        assert_int_equal(rocl_time_parse(&t, "--start", rows[i].text, NULL), ROCL_OK);
        int64_t at = rocl_time_at(&t, rows[i].first, rows[i].last);
        if (at != rows[i].at)
            fail_msg("row %zu: %lld", i, (long long)at);
    }
}

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns; /* -1: refused */
    } rows[] = {
        {"0", 0},
        {"1000", 1000},
        {"1000ns", 1000},
        {"1.5us", 1500},
        {" 2ms ", 2000000},
        {"1s", 1000000000},
        {"1m", 60000000000},
        {"9223372036854775807ns", MAX},
        {"9223372036854775808", -1},
        {"9223372037s", -1},
        {"-1", -1},
        {"+1", -1},
        {"5%", -1},
        {"", -1},
        {"us", -1},
        {"1h", 3600000000000},
        {"2d", 172800000000000},
        {"1.5min", 90000000000},
        {"1e3us", 1000000},
        {"1w", -1},
        {"1 us", -1},
        {"1usx", -1},
        {"nan", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t ns = -1;
        rocl_error *err = rocl_error_new();
        rocl_status st = rocl_duration_parse(&ns, "--min-duration", rows[i].text, err);
        if (st != (rows[i].ns < 0 ? ROCL_USAGE : ROCL_OK) || (st == ROCL_OK && ns != rows[i].ns))
            fail_msg("\"%s\": %d %lld", rows[i].text, (int)st, (long long)ns);
        if (st != ROCL_OK && strncmp(rocl_error_text(err), "--min-duration: \"", 17) != 0)
            fail_msg("\"%s\": \"%s\"", rows[i].text, rocl_error_text(err));
        rocl_error_free(err);
    }
}

static void test_offsets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns; /* MAX: refused */
    } rows[] = {
        {"0", 0},
        {"-0", 0},
        {"+5", 5},
        {"-1000ns", -1000},
        {" -1.5us", -1500},
        {"2ms ", 2000000},
        {"-1m", -60000000000},
        {"-9223372036854775807", -MAX},
        {"-9223372036854775808", MAX},
        {"--1", MAX},
        {"+-1", MAX},
        {"", MAX},
        {"-", MAX},
        {"1 2", MAX},
        {"1h", 3600000000000},
        {"-2d", -172800000000000},
        {"1w", MAX},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t ns = MAX;
        bool ok = rocl_offset_parse(&ns, rows[i].text);
        if (ok != (rows[i].ns != MAX) || (ok && ns != rows[i].ns))
            fail_msg("\"%s\": %d %lld", rows[i].text, (int)ok, (long long)ns);
    }
}

static void test_huge_text(void **state)
{
    (void)state;
    size_t len = 1 << 20;
    char *text = malloc(len + 2);
    assert_non_null(text);
    memset(text, '9', len);
    text[len] = '\0';
    rocl_time t = {0};
    rocl_error *err = rocl_error_new();
    assert_int_equal(rocl_time_parse(&t, "--start", text, err), ROCL_USAGE);
    assert_non_null(strstr(rocl_error_text(err), "2^63"));
    memset(text, '0', len);
    memcpy(text + len, "7", 2);
    assert_int_equal(rocl_time_parse(&t, "--start", text, err), ROCL_OK);
    assert_int_equal(rocl_time_at(&t, 0, 0), 7);
    rocl_error_free(err);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),          cmocka_unit_test(test_bad_times),
        cmocka_unit_test(test_extreme_bounds), cmocka_unit_test(test_durations),
        cmocka_unit_test(test_offsets),        cmocka_unit_test(test_huge_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Numbers as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/num.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_integers(void **state)
{
    (void)state;
    char want[ROCL_NUM_MAX], got[ROCL_NUM_MAX];
    uint64_t v = 0;
    rocl_upper_digits upper = {0};
    for (unsigned digits = 0; digits <= 20; digits++) {
        uint64_t around[] = {v - 1, v, v + 1, v * 7 + 3};
        for (size_t i = 0; i < 4; i++) {
            *rocl_put_u64(got, around[i]) = '\0';
            snprintf(want, sizeof want, "%" PRIu64, around[i]);
            assert_string_equal(got, want);
            for (unsigned again = 0; again < 2; again++) {
                *rocl_put_near(got, around[i], &upper) = '\0';
                assert_string_equal(got, want);
            }
            *rocl_put_i64(got, (int64_t)around[i]) = '\0';
            snprintf(want, sizeof want, "%" PRId64, (int64_t)around[i]);
            assert_string_equal(got, want);
        }
        v = digits ? v * 10 : 1;
    }
    *rocl_put_i64(got, INT64_MIN) = '\0';
    assert_string_equal(got, "-9223372036854775808");
    *rocl_put_u64(got, UINT64_MAX) = '\0';
    assert_string_equal(got, "18446744073709551615");
}

/* Digits with all kinds of neighbours, wherever they stand before the end. */
static void test_digits(void **state)
{
    (void)state;
    static const char others[] = {'/', ':', ' ', 'x', '\0', (char)0x80, (char)0xb0, (char)0xff};
    char text[64];
    for (unsigned digits = 0; digits <= 20; digits++)
        for (size_t o = 0; o < sizeof others; o++)
            for (size_t behind = 0; behind <= 20; behind++) {
                uint64_t want = 0, got = 1;
                for (unsigned i = 0; i < digits; i++) {
                    const unsigned digit = (digits * 7 + i * 3 + (unsigned)behind) % 10;
                    text[i] = (char)('0' + digit);
                    want = i < 19 ? want * 10 + digit : want;
                }
                memset(text + digits, others[o], behind);
                const char *end = rocl_get_digits(text, text + digits + behind, &got);
                assert_int_equal(end - text, digits < 19 ? digits : 19);
                assert_int_equal(got, want);
            }
}

static void test_hex(void **state)
{
    (void)state;
    static const struct {
        uint64_t v;
        unsigned digits;
        bool upper;
        const char *text;
    } table[] = {
        {0, 0, false, "0"},
        {0, 4, false, "0000"},
        {0xabc, 1, false, "abc"},
        {0xabc, 8, true, "00000ABC"},
        {0x10, 2, false, "10"},
        {0x0f, 1, true, "F"},
        {UINT64_MAX, 16, false, "ffffffffffffffff"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char got[ROCL_NUM_MAX + 1];
        *rocl_put_hex(got, table[i].v, table[i].digits, table[i].upper) = '\0';
        assert_string_equal(got, table[i].text);
    }
}

static const struct {
    double v;
    const char *text;
} doubles[] = {
    {0, "0"},
    {-0.0, "-0"},
    {1, "1"},
    {-17, "-17"},
    {1757738, "1757738"},
    {999999999999999, "999999999999999"},
    {1e15, "1e+15"},
    {0.1, "0.1"},
    {-99.5, "-99.5"},
    {0.000125, "0.000125"},
    {0.00001, "1e-05"},
    {123456789.000001, "123456789.000001"},
    {40.62811724337926, "40.62811724337926"},
    {0.30000000000000004, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {1e22, "1e+22"},
    {DBL_MAX, "1.7976931348623157e+308"},
    {DBL_MIN, "2.2250738585072014e-308"},
    {5e-324, "5e-324"},
    {INFINITY, "inf"},
    {-INFINITY, "-inf"},
    {NAN, "nan"},
    {-NAN, "nan"},
};

static void check_doubles(void)
{
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        char got[ROCL_NUM_MAX + 1];
        *rocl_put_double(got, doubles[i].v) = '\0';
        assert_string_equal(got, doubles[i].text);
    }
}

static void test_doubles(void **state)
{
    (void)state;
    check_doubles();
}

/* Any bit pattern, and decimals of few digits, read back as they were; the latter as %.15g. */
static void test_doubles_read_back(void **state)
{
    (void)state;
    uint64_t x = 12345;
    for (int i = 0; i < 60000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double v;
        memcpy(&v, &x, sizeof v);
        char got[ROCL_NUM_MAX + 1], want[64];
        if (isfinite(v)) {
            char *end = rocl_put_double(got, v);
            assert_true(end - got <= ROCL_NUM_MAX);
            *end = '\0';
            assert_true(strtod(got, NULL) == v);
        }
        v = (double)(int64_t)(x >> 40) / pow(10, (double)(x & 7));
        *rocl_put_double(got, v) = '\0';
        snprintf(want, sizeof want, "%.15g", v);
        assert_string_equal(got, want);
    }
}

static void test_other_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF"};
    bool any = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        any = true;
        check_doubles();
    }
    setlocale(LC_NUMERIC, "C");
    if (!any)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),     cmocka_unit_test(test_digits),
        cmocka_unit_test(test_hex),          cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_other_locale), cmocka_unit_test(test_doubles_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

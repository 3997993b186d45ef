/* What the sampler makes of the texts of /proc and /sys, whatever is in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/sample/sample.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        bool good;
        int64_t v;
    } cases[] = {{"42\n", true, 42},
                 {"0", true, 0},
                 {"-5000\n", true, -5000},
                 {"9223372036854775807\n", true, INT64_MAX},
                 {"", false, 0},
                 {"\n", false, 0},
                 {"-", false, 0},
                 {"--1\n", false, 0},
                 {" 1\n", false, 0},
                 {"1 2\n", false, 0},
                 {"1.5\n", false, 0},
                 {"0x10\n", false, 0},
                 {"9223372036854775808\n", false, 0},
                 {"99999999999999999999999999\n", false, 0},
                 {"N/A\n", false, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t v = 0;
        assert_int_equal(sample_parse_number(cases[i].text, &v), cases[i].good);
        if (cases[i].good)
            assert_int_equal(v, cases[i].v);
    }
}

#define FIELDS " 1 2 3 4 -1 5 100 6 7 8 250 50 0 0 20 0 3 0 123456 999"
/* From the 24th field on. */
#define MORE_FIELDS                                                                                \
    " 512 18446744073709551615 1 2 3 4 5 6 7 8 9 10 11 0 17 1 0 0 0 0 0 20 21 22 140730000 23 24 " \
    "0"

static void test_stat(void **state)
{
    static const char *const bad[] = {
        "",
        "12",
        "12 (a)",
        "12 (a) ",
        "12 (a) R",
        "12 (a) R 1 2 3",
        "12 a) R" FIELDS,
        "12 )a( R" FIELDS,
        "12 (a) 7" FIELDS,
        "12 (a) R x" FIELDS,
        "12 (a) R 99999999999999999999999" FIELDS,
    };
    sample_stat s;
    (void)state;
    assert_true(sample_parse_stat("12 (train) R" FIELDS "\n", &s));
    assert_int_equal(s.ppid, 1);
    assert_int_equal(s.state, 'R');
    assert_int_equal(s.faults, 107);
    assert_int_equal(s.user, 250);
    assert_int_equal(s.system, 50);
    assert_string_equal(s.name, "train");
    assert_int_equal(s.arguments, 0); /* old kernels do not tell */
    assert_true(sample_parse_stat("12 (train) R" FIELDS MORE_FIELDS "\n", &s));
    assert_int_equal(s.start, 123456);
    assert_int_equal(s.arguments, 140730000);
    /* A name may look like the rest of the line. */
    assert_false(s.kernel);
    assert_true(
        sample_parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0", &s));
    assert_true(s.kernel);
    assert_true(sample_parse_stat("12 (a) S 9 9 (b\n) Z" FIELDS, &s));
    assert_int_equal(s.state, 'Z');
    assert_int_equal(s.ppid, 1);
    assert_string_equal(s.name, "a) S 9 9 (b\n");
    assert_true(sample_parse_stat("1 (0123456789012345678901234567890123456789) S" FIELDS, &s));
    assert_int_equal(strlen(s.name), sizeof s.name - 1);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(sample_parse_stat(bad[i], &s));
}

static void test_statm(void **state)
{
    uint64_t size, resident;
    (void)state;
    assert_true(sample_parse_statm("5000 1200 300 1 0 800 0\n", &size, &resident));
    assert_int_equal(size, 5000);
    assert_int_equal(resident, 1200);
    assert_false(sample_parse_statm("", &size, &resident));
    assert_false(sample_parse_statm("5000", &size, &resident));
    assert_false(sample_parse_statm("5000 x", &size, &resident));
    assert_false(sample_parse_statm("-1 5", &size, &resident));
}

static void test_fields(void **state)
{
    static const char text[] = "Name:\tVmHWM: 5\nVmHWMs:\t7\nVmHWM:\t    1234 kB\nThreads:\t3\n"
                               "simd_count 416\nbad:\tx\nlast: 9";
    uint64_t v = 0;
    (void)state;
    assert_true(sample_parse_field(text, "VmHWM", &v));
    assert_int_equal(v, 1234);
    assert_true(sample_parse_field(text, "Threads", &v));
    assert_int_equal(v, 3);
    assert_true(sample_parse_field(text, "simd_count", &v));
    assert_int_equal(v, 416);
    assert_true(sample_parse_field(text, "last", &v));
    assert_int_equal(v, 9);
    assert_false(sample_parse_field(text, "bad", &v));
    assert_false(sample_parse_field(text, "Vm", &v));
    assert_false(sample_parse_field("", "VmHWM", &v));
    assert_false(sample_parse_field("\n\n", "VmHWM", &v));
}

static void test_cpuinfo(void **state)
{
    const char *at = "processor\t: 0\nmodel name\t: cpu MHz : 9\ncpu MHz\t\t: 2596.124\nx: 1\n"
                     "cpu MHz\t\t: 800\ncpu MHz\t\t: -1\ncpu MHz 5\ncpu MHz\t\t:";
    double mhz = 0;
    (void)state;
    assert_true(sample_parse_cpuinfo(&at, &mhz));
    assert_true(mhz > 2596.1239 && mhz < 2596.1241);
    assert_true(sample_parse_cpuinfo(&at, &mhz));
    assert_true(mhz == 800);
    assert_false(sample_parse_cpuinfo(&at, &mhz));
    at = "cpu MHz : 1.99999999999999999999999999999";
    assert_true(sample_parse_cpuinfo(&at, &mhz));
    assert_true(mhz > 1.99 && mhz <= 2);
}

static void test_environment(void **state)
{
    static const char environment[] = "A=1\0XS=7\0S=7\0S=71\0\0E=";
    (void)state;
    assert_true(sample_has_variable(environment, sizeof environment - 1, "S=7"));
    assert_true(sample_has_variable(environment, sizeof environment - 1, "E="));
    assert_false(sample_has_variable(environment, sizeof environment - 1, "S=8"));
    assert_false(sample_has_variable("", 0, "S=7"));
    assert_false(sample_has_variable("A", 0, "A"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_stat),
        cmocka_unit_test(test_statm),   cmocka_unit_test(test_fields),
        cmocka_unit_test(test_cpuinfo), cmocka_unit_test(test_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Exact sums: rounded once, whatever the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/exact.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

/* Expected values by Python's fractions: float(sum(Fraction(v) for v in values)). */
static const struct {
    const char *name;
    double values[MOST];
    unsigned count;
    double sum;
} cases[] = {
    {"nothing", {0}, 0, 0},
    {"zeros", {0.0, -0.0}, 2, 0},
    {"whole numbers", {1, 2, 3, -7, 1e15}, 5, 999999999999999},
    {"what is lost one by one", {1e16, 1, 1, -1e16}, 4, 2},
    {"large and small, and back", {1e300, 1, 1e-300, -1e300, -1}, 5, 1e-300},
    {"tenths", {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 10, 1.0},
    {"a tie, to even below", {0x1p53, 1}, 2, 0x1p53},
    {"a tie, to even above", {0x1p53, 3}, 2, 0x1p53 + 4},
    {"a tie that is none", {0x1p53, 1, 0x1p-1074}, 3, 0x1p53 + 2},
    {"the least", {0x1p-1074, 0x1p-1074, 0x1p-1074}, 3, 0x3p-1074},
    {"below the least", {0x1p-1074, -0x1p-1074}, 2, 0},
    {"subnormal and normal", {0x1.8p-1022, -0x1p-1022}, 2, 0x1p-1023},
    {"the largest, half of it taken", {DBL_MAX, DBL_MAX, -DBL_MAX}, 3, DBL_MAX},
    {"too large", {DBL_MAX, DBL_MAX}, 2, INFINITY},
    {"too low", {-DBL_MAX, -DBL_MAX}, 2, -INFINITY},
    {"negative", {-0.1, -0.2, -0.3}, 3, -0.6},
    {"at the edges of what is near",
     {0x1p77, 0x1p-62, 0x1p78, -0x1p78, 0x1p-115, 0x1p-116, -0x1p77},
     7,
     0x1p-62 + 0x1p-114},
    {"infinite", {1, INFINITY, 2}, 3, INFINITY},
    {"infinite below", {1, -INFINITY, 2}, 3, -INFINITY},
    {"both", {INFINITY, -INFINITY}, 2, NAN},
    {"not a number", {1, NAN, INFINITY}, 3, NAN},
};

static void assert_same(const char *name, double got, double want)
{
    if (isnan(want) ? !isnan(got) : memcmp(&got, &want, sizeof got) != 0)
        fail_msg("%s: %a, not %a", name, got, want);
}

/* In order, backwards, and each half on its own, put together in both ways. */
static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned way = 0; way < 4; way++) {
            rocl_exact_sum s[2] = {0};
            const unsigned n = cases[i].count;
            for (unsigned k = 0; k < n; k++)
                assert_true(rocl_exact_add(&s[way > 1 && k % 2],
                                           cases[i].values[way == 1 ? n - 1 - k : k]));
            const unsigned into = way == 3;
            assert_true(rocl_exact_merge(&s[into], &s[!into]));
            assert_same(cases[i].name, rocl_exact_value(&s[into]), cases[i].sum);
            rocl_exact_clear(&s[into]);
            assert_same("cleared", rocl_exact_value(&s[into]), 0);
            rocl_exact_free(&s[0]);
            rocl_exact_free(&s[1]);
        }
}

/* What is near takes no memory of its own. */
static void test_near(void **state)
{
    (void)state;
    static const double near[] = {0,      1,    0.1,  -1e15,   0x1p25,   0x1p40,   -0x1p63,
                                  0x1p77, 1e18, 1e-6, 0x1p-62, 0x1p-100, -0x1p-114};
    static const double far[] = {0x1p78, -0x1p-115, DBL_MAX, 0x1p-1074, 1e-30};
    rocl_exact_sum s = {0};
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        assert_true(rocl_exact_add(&s, near[i]));
        if (s.far)
            fail_msg("%a is near", near[i]);
    }
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        assert_true(rocl_exact_add(&s, far[i]));
        if (!s.far)
            fail_msg("%a is far", far[i]);
        rocl_exact_free(&s);
    }
}

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    return *x ^= *x << 17;
}

/* Values of all sizes that come with their opposites, in another order: what is left is known. */
static void test_opposites(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252;
    enum { PAIRS = 4000 };
    double *v = malloc(2 * PAIRS * sizeof *v);
    assert_non_null(v);
    for (unsigned round = 0; round < 20; round++) {
        rocl_exact_sum s = {0};
        const double left = ldexp(1 + (double)(next_random(&x) >> 12) * 0x1p-52,
                                  (int)(next_random(&x) % 2040) - 1020);
        for (unsigned i = 0; i < PAIRS; i++) {
            uint64_t bits = next_random(&x);
            if ((bits >> 52 & 0x7ff) == 0x7ff)
                bits ^= UINT64_C(1) << 60;
            if (round % 2) /* all near */
                bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (UINT64_C(1000) + bits % 90) << 52;
            memcpy(&v[i], &bits, sizeof bits);
            v[2 * PAIRS - 1 - i] = -v[i];
        }
        for (unsigned i = 2 * PAIRS - 1; i > 0; i--) {
            const unsigned other = (unsigned)(next_random(&x) % (i + 1));
            const double t = v[i];
            v[i] = v[other];
            v[other] = t;
        }
        for (unsigned i = 0; i < 2 * PAIRS; i++) {
            assert_true(rocl_exact_add(&s, v[i]));
            if (i == PAIRS)
                assert_true(rocl_exact_add(&s, left));
        }
        assert_same("what is left", rocl_exact_value(&s), left);
        rocl_exact_free(&s);
    }
    free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_near),
        cmocka_unit_test(test_opposites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

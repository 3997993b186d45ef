/* Student's distribution against its integral and printed tables, and Welch's test against its
 * formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "analysis/student.h"

/* The density beyond t, by Simpson's rule: x = t + u / (1 - u). */
static double integral_beyond(double t, double v)
{
    enum { STEPS = 20000 };
    int sign;
    const double log_front =
        lgamma_r((v + 1) / 2, &sign) - lgamma_r(v / 2, &sign) - log(v * M_PI) / 2;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) { /* the density is 0 at the end */
        const double u = (double)i / STEPS, x = t + u / (1 - u);
        const double y = exp(log_front - (v + 1) / 2 * log1p(x * x / v)) / ((1 - u) * (1 - u));
        sum += y * (i == 0 ? 1 : i % 2 ? 4 : 2);
    }
    return sum / STEPS / 3;
}

static void test_integral(void **state)
{
    static const double freedoms[] = {1, 1.5, 2, 2.7, 3, 4, 5.25, 10, 33.3, 100, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof freedoms / sizeof *freedoms; i++)
        for (double t = 0; t < 12; t += 0.37) {
            /* The tail of one degree of freedom falls so slowly that the last step counts. */
            const double expected = 2 * integral_beyond(t, freedoms[i]);
            assert_true(fabs(rocl_student_p(t, freedoms[i]) - expected) <
                        1e-4 * (freedoms[i] < 2 ? 1 : 1e-3));
            assert_true(fabs(rocl_student_p(-t, freedoms[i]) - rocl_student_p(t, freedoms[i])) <
                        1e-15);
        }
}

/* What printed tables have for 5 % and 1 %, two-sided. */
static void test_table(void **state)
{
    static const struct {
        double v, five, one;
    } rows[] = {{1, 12.706, 63.657}, {2, 4.303, 9.925},   {3, 3.182, 5.841},  {4, 2.776, 4.604},
                {5, 2.571, 4.032},   {10, 2.228, 3.169},  {20, 2.086, 2.845}, {30, 2.042, 2.750},
                {60, 2.000, 2.660},  {120, 1.980, 2.617}, {1e7, 1.960, 2.576}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(fabs(rocl_student_p(rows[i].five, rows[i].v) - 0.05) < 1e-4);
        assert_true(fabs(rocl_student_p(rows[i].one, rows[i].v) - 0.01) < 1e-4);
        assert_true(fabs(rocl_student_t(0.05, rows[i].v) - rows[i].five) < 6e-4);
        assert_true(fabs(rocl_student_t(0.01, rows[i].v) - rows[i].one) < 6e-4);
    }
    for (double v = 1; v < 400; v *= 1.3)
        for (double p = 1e-9; p < 1; p = p < 0.01 ? p * 7 : p + 0.07) {
            const double t = rocl_student_t(p, v);
            assert_true(fabs(rocl_student_p(t, v) - p) <= 1e-9 * p);
        }
    assert_true(fabs(rocl_student_p(1, 1) - 0.5) < 1e-14);
    assert_true(fabs(rocl_student_p(0, 5) - 1) < 1e-14);
    assert_true(rocl_student_p(INFINITY, 5) <= 0);
}

static void test_welch(void **state)
{
    unsigned seed = 5;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        double v[2][12], mean[2] = {0}, square[2] = {0};
        size_t n[2];
        rocl_sample_mean s[2];
        for (int k = 0; k < 2; k++) {
            n[k] = 1 + (size_t)rand_r(&seed) % 12;
            for (size_t i = 0; i < n[k]; i++)
                v[k][i] = rand_r(&seed) % 1000 + k * (rand_r(&seed) % 500);
            for (size_t i = 0; i < n[k]; i++)
                mean[k] += v[k][i] / (double)n[k];
            for (size_t i = 0; i < n[k]; i++)
                square[k] += pow(v[k][i] - mean[k], 2) / (double)(n[k] - 1);
            s[k] = rocl_sample_of(v[k], n[k]);
            assert_true(fabs(s[k].mean - mean[k]) < 1e-9);
            assert_true(n[k] < 2 ? isnan(s[k].deviation)
                                 : fabs(s[k].deviation - sqrt(square[k])) < 1e-9);
        }
        const double p = rocl_welch_p(&s[0], &s[1]);
        assert_true(isnan(p) == (n[0] < 2 && n[1] < 2));
        if (isnan(p))
            continue;
        for (int k = 0; k < 2; k++)
            square[k] = n[k] < 2 ? square[!k] : square[k];
        const double a = square[0] / (double)n[0], b = square[1] / (double)n[1];
        const double freedom =
            n[0] < 2 || n[1] < 2
                ? (double)(n[0] + n[1] - 2)
                : pow(a + b, 2) / (a * a / (double)(n[0] - 1) + b * b / (double)(n[1] - 1));
        assert_true(fabs(p - rocl_student_p((mean[1] - mean[0]) / sqrt(a + b), freedom)) < 1e-9);
        assert_true(fabs(p - rocl_welch_p(&s[1], &s[0])) < 1e-12);
        /* The change is at the edge of the interval that leaves out as much. */
        const double t = rocl_student_t(0.01, freedom);
        assert_true(fabs(rocl_welch_margin(&s[0], &s[1], 0.01) - t * sqrt(a + b)) <
                    1e-9 * (1 + t * sqrt(a + b)));
        assert_int_equal(p<0.01, fabs(mean[1] - mean[0])> rocl_welch_margin(&s[0], &s[1], 0.01));
    }
}

/* The example of rocstats-compare(7); and samples that do not scatter. */
static void test_known(void **state)
{
    const rocl_sample_mean a = rocl_sample_of((const double[]){100, 102, 98}, 3);
    const rocl_sample_mean b = rocl_sample_of((const double[]){110, 109, 111}, 3);
    const rocl_sample_mean one = rocl_sample_of((const double[]){110}, 1);
    const rocl_sample_mean same = rocl_sample_of((const double[]){5, 5}, 2);
    const rocl_sample_mean other = rocl_sample_of((const double[]){6, 6}, 2);
    (void)state;
    assert_true(fabs(rocl_welch_p(&a, &b) - 0.004798) < 1e-6);
    assert_true(fabs(rocl_welch_p(&a, &one) - 0.049414) < 1e-6);
    assert_true(rocl_welch_p(&same, &other) <= 0);
    assert_true(rocl_welch_p(&same, &same) >= 1);
    assert_true(isnan(rocl_welch_p(&one, &one)));
    /* 10 +- 7.6921: t is 5.9582 for 1 % and 2.9412 degrees of freedom. */
    assert_true(fabs(rocl_welch_margin(&a, &b, 0.01) - 7.6921) < 1e-3);
    assert_true(rocl_welch_margin(&same, &other, 0.01) <= 0);
    assert_true(isnan(rocl_welch_margin(&one, &one, 0.01)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integral),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_welch),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests_name("student", tests, NULL, NULL);
}

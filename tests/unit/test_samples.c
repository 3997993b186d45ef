/* Distributions of random durations against sorted arrays: all sizes, with the values in memory and
 * in the temporary file, and such that do not fit into 32 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "analysis/samples.h"

enum { GROUPS = 5, WORKERS = 3 };

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 1;
}

/* Of any number of digits up to 63 bits. */
static int64_t duration(unsigned bits)
{
    return (int64_t)(draw() >> (63 - 1 - draw() % bits));
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int64_t percentile(const int64_t *v, size_t n, size_t percent)
{
    size_t i = 0;
    while ((i + 1) * 100 < n * percent)
        i++;
    return v[i];
}

static double deviation(const int64_t *v, size_t n)
{
    long double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += (long double)v[i] / (long double)n;
    for (size_t i = 0; i < n; i++)
        sum += ((long double)v[i] - mean) * ((long double)v[i] - mean);
    return (double)sqrtl(sum / (long double)(n - 1));
}

static void check(const rocl_distribution *d, int64_t *v, size_t n)
{
    double stddev;
    int64_t total = 0;
    assert_int_equal(d->taken, n);
    assert_int_equal(rocl_distribution_stddev(d, &stddev), n > 1);
    if (!n)
        return;
    qsort(v, n, sizeof *v, by_value);
    for (size_t i = 0; i < n; i++)
        total = rocl_add_saturated(total, v[i]);
    assert_int_equal(d->total, total);
    assert_int_equal(d->min, v[0]);
    assert_int_equal(d->max, v[n - 1]);
    assert_int_equal(d->median, v[(n - 1) / 2] + (v[n / 2] - v[(n - 1) / 2]) / 2);
    assert_int_equal(d->p90, percentile(v, n, 90));
    assert_int_equal(d->p95, percentile(v, n, 95));
    assert_int_equal(d->p99, percentile(v, n, 99));
    if (n > 1)
        assert_true(fabs(stddev - deviation(v, n)) <= 1e-9 * stddev);
}

static void check_sizes(size_t most, unsigned bits, size_t memory)
{
    rocl_sort_space *space = rocl_sort_space_new(memory, WORKERS, NULL);
    rocl_samples *s = rocl_samples_new(space, WORKERS);
    int64_t *values[GROUPS];
    size_t counts[GROUPS] = {0};
    assert_non_null(s);
    for (int g = 0; g < GROUPS; g++)
        assert_non_null(values[g] = calloc(most + 1, sizeof **values));
    for (size_t i = 0; i < most; i++) {
        uint32_t g = (uint32_t)(draw() % GROUPS * (draw() % 2)); /* group 0 has most */
        int64_t ns = duration(bits);
        values[g][counts[g]++] = ns;
        assert_int_equal(rocl_samples_add(s, (unsigned)(draw() % WORKERS), g * 7, ns, NULL),
                         ROCL_OK);
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        rocl_distribution d;
        assert_int_equal(rocl_samples_describe(s, g * 7, &d, NULL), ROCL_OK);
        check(&d, values[g], counts[g]);
        free(values[g]);
    }
    assert_int_equal(rocl_sort_space_spilled(space) > 0, memory < 4 * most);
    rocl_samples_free(s);
    rocl_sort_space_free(space);
}

static void test_sizes(void **unused)
{
    static const size_t sizes[] = {0, 1, 2, 3, 9, 10, 11, 99, 101, 1023, 1024, 1025, 1026, 5000};
    (void)unused;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned bits = 1; bits <= 62; bits += 12)
            check_sizes(sizes[i], bits, (size_t)64 << 20);
}

static void test_spilled(void **unused)
{
    (void)unused;
    check_sizes(200000, 30, 4096);
    check_sizes(200000, 62, 4096);
    check_sizes(300000, 40, (size_t)256 << 10);
}

/* The rule of values that are the same, and their exact deviation of 0. */
static void test_equal(void **unused)
{
    rocl_sort_space *space = rocl_sort_space_new((size_t)1 << 20, 1, NULL);
    rocl_samples *s = rocl_samples_new(space, 1);
    rocl_distribution d;
    double stddev = 1;
    (void)unused;
    for (int i = 0; i < 3000; i++)
        assert_int_equal(rocl_samples_add(s, 0, 3, 1000000007, NULL), ROCL_OK);
    assert_int_equal(rocl_samples_describe(s, 3, &d, NULL), ROCL_OK);
    assert_int_equal(d.median, 1000000007);
    assert_int_equal(d.p99, 1000000007);
    assert_true(rocl_distribution_stddev(&d, &stddev) && stddev == 0);
    assert_int_equal(rocl_samples_describe(s, 2, &d, NULL), ROCL_OK);
    assert_int_equal(d.taken, 0);
    rocl_samples_free(s);
    rocl_sort_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes), cmocka_unit_test(test_spilled),
                                       cmocka_unit_test(test_equal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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

#include "analysis/percentiles.h"

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
    rocl_percentiles *s = rocl_percentiles_new(space, WORKERS);
    int64_t *values[GROUPS];
    size_t counts[GROUPS] = {0};
    assert_non_null(s);
    for (int g = 0; g < GROUPS; g++)
        assert_non_null(values[g] = calloc(most + 1, sizeof **values));
    for (size_t i = 0; i < most; i++) {
        uint32_t g = (uint32_t)(draw() % GROUPS * (draw() % 2)); /* group 0 has most */
        int64_t ns = duration(bits);
        values[g][counts[g]++] = ns;
        assert_int_equal(rocl_percentiles_add(s, (unsigned)(draw() % WORKERS), g * 7, ns, NULL),
                         ROCL_OK);
    }
    rocl_distribution all[GROUPS * 7];
    rocl_described described[GROUPS * 7];
    for (uint32_t i = 0; i < GROUPS * 7; i++)
        described[i] = (rocl_described){GROUPS * 7 - 1 - i, &all[GROUPS * 7 - 1 - i]};
    assert_int_equal(rocl_percentiles_describe_all(s, described, GROUPS * 7, NULL), ROCL_OK);
    for (uint32_t g = 0; g < GROUPS; g++) {
        rocl_distribution d;
        assert_int_equal(rocl_percentiles_describe(s, g * 7, &d, NULL), ROCL_OK);
        check(&d, values[g], counts[g]);
        check(&all[g * 7], values[g], counts[g]);
        for (uint32_t i = 1; i < 7; i++)
            assert_int_equal(all[g * 7 + i].taken, 0);
        free(values[g]);
    }
    assert_int_equal(rocl_sort_space_spilled(space) > 0, memory < 4 * most);
    rocl_percentiles_free(s);
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
    rocl_percentiles *s = rocl_percentiles_new(space, 1);
    rocl_distribution d;
    double stddev = 1;
    (void)unused;
    for (int i = 0; i < 3000; i++)
        assert_int_equal(rocl_percentiles_add(s, 0, 3, 1000000007, NULL), ROCL_OK);
    assert_int_equal(rocl_percentiles_describe(s, 3, &d, NULL), ROCL_OK);
    assert_int_equal(d.median, 1000000007);
    assert_int_equal(d.p99, 1000000007);
    assert_true(rocl_distribution_stddev(&d, &stddev) && stddev == 0);
    assert_int_equal(rocl_percentiles_describe(s, 2, &d, NULL), ROCL_OK);
    assert_int_equal(d.taken, 0);
    rocl_percentiles_free(s);
    rocl_sort_space_free(space);
}

/* ---- of a team: values on several ranks, sums and percentiles on rank 0 ---- */

enum { RANKS = 4 };

static rocl_taken taken_of(const rocl_put *p)
{
    return (rocl_taken){{p->b.data, p->b.data ? p->b.data + p->b.len : NULL, false}, NULL};
}

/* All rounds, as the messages of a team would carry them. Returns the bytes to rank 0. */
static size_t find_together(rocl_percentiles **ranks)
{
    size_t bytes = 0;
    for (bool any = true; any;) {
        any = false;
        assert_int_equal(rocl_percentiles_prepare(ranks[0], NULL), ROCL_OK);
        rocl_put answers[RANKS] = {{0}};
        for (unsigned r = 1; r < RANKS; r++) {
            rocl_put question = {0};
            rocl_percentiles_ask(ranks[0], r, &question);
            if (question.b.len) {
                rocl_taken q = taken_of(&question);
                assert_int_equal(rocl_percentiles_answer(ranks[r], &q, &answers[r], NULL), ROCL_OK);
                any = true;
            }
            rocl_buf_free(&question.b);
        }
        if (any)
            assert_int_equal(rocl_percentiles_answer_own(ranks[0], NULL), ROCL_OK);
        for (unsigned r = RANKS - 1; r > 0; r--) { /* they come in any order */
            rocl_taken a = taken_of(&answers[r]);
            if (answers[r].b.len)
                assert_int_equal(rocl_percentiles_hear(ranks[0], r, &a, NULL), ROCL_OK);
            bytes += answers[r].b.len;
            rocl_buf_free(&answers[r].b);
        }
    }
    return bytes;
}

/* Group g of rank r has the number g * 3 + r there, and 100 + g on rank 0; a rank has some of them.
 */
static size_t check_team(size_t most, unsigned bits, size_t memory)
{
    rocl_sort_space *space = rocl_sort_space_new(memory, WORKERS, NULL);
    rocl_percentiles *ranks[RANKS];
    int64_t *values[GROUPS];
    size_t counts[GROUPS] = {0}, of_rank[RANKS][GROUPS] = {{0}}, bytes = 0;
    for (int r = 0; r < RANKS; r++)
        assert_non_null(ranks[r] = rocl_percentiles_new(space, WORKERS));
    for (int g = 0; g < GROUPS; g++)
        assert_non_null(values[g] = calloc(most + 1, sizeof **values));
    for (size_t i = 0; i < most; i++) {
        const uint32_t g = (uint32_t)(draw() % GROUPS * (draw() % 2));
        const uint32_t r = (uint32_t)(draw() % (g == 1 ? 1 : g == 2 ? 2 : RANKS));
        const int64_t ns = duration(bits) + (g == 3 ? INT64_C(1) << 40 : 0);
        values[g][counts[g]++] = ns;
        of_rank[r][g]++;
        assert_int_equal(rocl_percentiles_add(ranks[r], (unsigned)(draw() % WORKERS),
                                          r ? g * 3 + r : 100 + g, ns, NULL),
                         ROCL_OK);
    }
    for (unsigned r = 1; r < RANKS; r++)
        for (uint32_t k = 0; k < GROUPS; k++) {
            const uint32_t g = (k + r) % GROUPS; /* each in an order of its own */
            rocl_put sums = {0};
            if (!of_rank[r][g])
                continue;
            rocl_percentiles_put(ranks[r], g * 3 + r, &sums);
            rocl_taken t = taken_of(&sums);
            assert_int_equal(rocl_percentiles_take(ranks[0], r, 100 + g, true, &t, NULL), ROCL_OK);
            assert_true(rocl_taken_all(&t));
            bytes += sums.b.len;
            rocl_buf_free(&sums.b);
        }
    bytes += find_together(ranks);
    for (uint32_t g = 0; g < GROUPS; g++) {
        rocl_distribution d;
        assert_int_equal(rocl_percentiles_describe(ranks[0], 100 + g, &d, NULL), ROCL_OK);
        check(&d, values[g], counts[g]);
        free(values[g]);
    }
    for (int r = 0; r < RANKS; r++)
        rocl_percentiles_free(ranks[r]);
    rocl_sort_space_free(space);
    return bytes;
}

static void test_team(void **unused)
{
    static const size_t sizes[] = {0, 1, 2, 7, 40, 255, 256, 257, 600, 1500, 9000};
    (void)unused;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned bits = 1; bits <= 61; bits += 10)
            check_team(sizes[i], bits, (size_t)64 << 20);
    check_team(100000, 40, 4096);
}

/* Bytes to rank 0 are bounded by groups and ranks, whatever the number of values: of a range at
 * most 256 parts, 5 ranges in a round, and 8 bits a round. */
static void test_team_bytes(void **unused)
{
    (void)unused;
    for (unsigned bits = 8; bits <= 48; bits += 20) {
        const size_t few = check_team(100000, bits, (size_t)64 << 20);
        const size_t many = check_team(800000, bits, (size_t)64 << 20);
        assert_true(many < 2 * few && many < 800000 / 20);
    }
}

/* What a rank says that has lost a value, or has another group, is refused. */
static void test_team_damage(void **unused)
{
    rocl_sort_space *space = rocl_sort_space_new((size_t)1 << 20, 1, NULL);
    (void)unused;
    for (int round = 0; round < 300; round++) {
        rocl_percentiles *a = rocl_percentiles_new(space, 1), *b = rocl_percentiles_new(space, 1);
        rocl_put sums = {0}, question = {0}, answer = {0};
        const int n = 300 + (int)(draw() % 100);
        for (int i = 0; i < n; i++)
            assert_int_equal(rocl_percentiles_add(b, 0, 1, duration(20), NULL), ROCL_OK);
        rocl_percentiles_put(b, 1, &sums);
        rocl_taken t = taken_of(&sums);
        assert_int_equal(rocl_percentiles_take(a, 1, 5, true, &t, NULL), ROCL_OK);
        assert_int_equal(rocl_percentiles_prepare(a, NULL), ROCL_OK);
        rocl_percentiles_ask(a, 1, &question);
        t = taken_of(&question);
        assert_int_equal(rocl_percentiles_answer(b, &t, &answer, NULL), ROCL_OK);
        if (round % 2)
            answer.b.len = draw() % answer.b.len;
        else /* a value less: the last count of the list stands at its end */
            answer.b.data[answer.b.len - 1] ^= (uint8_t)(1 + draw() % 127);
        t = taken_of(&answer);
        assert_true(rocl_percentiles_hear(a, 1, &t, NULL) != ROCL_OK ||
                    rocl_percentiles_prepare(a, NULL) != ROCL_OK);
        rocl_buf_free(&sums.b);
        rocl_buf_free(&question.b);
        rocl_buf_free(&answer.b);
        rocl_percentiles_free(a);
        rocl_percentiles_free(b);
    }
    rocl_sort_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_spilled),
        cmocka_unit_test(test_equal),      cmocka_unit_test(test_team),
        cmocka_unit_test(test_team_bytes), cmocka_unit_test(test_team_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

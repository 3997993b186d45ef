/* Alignment against the table of longest common subsequences, on random sequences of all kinds, and
 * where the search gives up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/align.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };

/* By the book: the length of the longest common subsequence of all beginnings. */
static size_t naive_common(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    static uint16_t length[MOST + 1][MOST + 1];
    memset(length, 0, sizeof length);
    for (size_t i = 1; i <= n; i++)
        for (size_t k = 1; k <= m; k++) {
            const uint16_t up = length[i - 1][k], left = length[i][k - 1];
            length[i][k] = a[i - 1] == b[k - 1] ? (uint16_t)(length[i - 1][k - 1] + 1)
                           : up > left          ? up
                                                : left;
        }
    return length[n][m];
}

/* How many pairs there are, which are equal and ascend. */
static size_t check_pairs(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool *minimal)
{
    uint32_t *match = malloc((n + 1) * sizeof *match), last = 0;
    size_t pairs = 0;
    assert_non_null(match);
    assert_true(rocl_align_symbols(a, n, b, m, match, minimal));
    for (size_t i = 0; i < n; i++) {
        if (!match[i])
            continue;
        assert_true(match[i] > last && match[i] <= m);
        assert_int_equal(a[i], b[match[i] - 1]);
        last = match[i];
        pairs++;
    }
    free(match);
    return pairs;
}

static size_t random_sequence(uint32_t *to, size_t most, unsigned symbols, unsigned *seed)
{
    const size_t n = (size_t)rand_r(seed) % (most + 1);
    for (size_t i = 0; i < n; i++)
        to[i] = (uint32_t)rand_r(seed) % symbols * 1000003u;
    return n;
}

/* The same but for some symbols that are gone, new or others. */
static size_t edit_sequence(uint32_t *to, const uint32_t *from, size_t n, unsigned symbols,
                            int edits, unsigned *seed)
{
    size_t m = 0;
    for (size_t i = 0; i < n && m + 1 < MOST; i++) {
        const bool edited = rand_r(seed) % 100 < edits;
        const unsigned how = (unsigned)rand_r(seed) % 3;
        if (edited && how == 0)
            continue;
        if (edited)
            to[m++] = (uint32_t)rand_r(seed) % symbols * 1000003u;
        if (!edited || how == 1)
            to[m++] = from[i];
    }
    return m;
}

static void test_random(void **state)
{
    static uint32_t a[MOST], b[MOST];
    unsigned seed = 4711;
    (void)state;
    for (int round = 0; round < 6000; round++) {
        const size_t most = round % 20 ? 40 : MOST;
        const unsigned symbols = 1 + (unsigned)rand_r(&seed) % (round % 3 ? 6 : 100);
        bool minimal = false;
        const size_t n = random_sequence(a, most, symbols, &seed);
        const size_t m = round % 2 ? random_sequence(b, most, symbols, &seed)
                                   : edit_sequence(b, a, n, symbols, 1 + rand_r(&seed) % 40, &seed);
        assert_int_equal(check_pairs(a, n, b, m, &minimal), naive_common(a, n, b, m));
        assert_true(minimal);
    }
}

static void test_edges(void **state)
{
    static const uint32_t a[] = {1, 2, 3}, b[] = {3, 1, 2, 1, 3};
    bool minimal;
    (void)state;
    assert_int_equal(check_pairs(a, 0, b, 0, &minimal), 0);
    assert_int_equal(check_pairs(a, 3, b, 0, &minimal), 0);
    assert_int_equal(check_pairs(a, 0, b, 5, &minimal), 0);
    assert_int_equal(check_pairs(a, 3, b, 5, &minimal), 3);
    assert_int_equal(check_pairs(a, 3, a, 3, &minimal), 3);
    assert_true(minimal);
}

/* More differences than are looked for: pairs are equal and ascend all the same, and nearly as many
 * as there could be. */
static void test_limit(void **state)
{
    enum { N = 20000 };
    uint32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    unsigned seed = 815;
    bool minimal = true;
    (void)state;
    assert_true(a && b);
    for (size_t i = 0; i < N; i++) {
        a[i] = (uint32_t)rand_r(&seed) % 4;
        b[i] = (uint32_t)rand_r(&seed) % 4;
    }
    /* The longest of two random sequences of four symbols is near 0.654 of their length. */
    assert_in_range(check_pairs(a, N, b, N, &minimal), N * 60 / 100, N * 67 / 100);
    assert_false(minimal);
    /* What only one side has is no difference that is looked for. */
    for (size_t i = 0; i < N; i++) {
        b[i] = i % 10 ? 1000 + a[i] : a[i];
        a[i] = i % 10 ? 2000 + a[i] : a[i];
    }
    assert_in_range(check_pairs(a, N, b, N, &minimal), N / 10, N / 10);
    assert_true(minimal);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests_name("base_align", tests, NULL, NULL);
}

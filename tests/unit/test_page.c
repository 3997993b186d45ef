/* Events over time, of a page that cannot have all: the counts are right whatever the order and the
 * number of workers, and the window is one of those that fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "page/page.h"

#include <stdlib.h>

enum { EVENTS = 3000, WORKERS = 3 };

static page_times parts[WORKERS], whole;

static uint64_t count_between(const int64_t *begins, int64_t from, int64_t to)
{
    uint64_t n = 0;
    for (int i = 0; i < EVENTS; i++)
        n += begins[i] >= from && begins[i] <= to;
    return n;
}

static uint64_t sum_bins(const page_times *t)
{
    uint64_t n = 0;
    for (int i = 0; i < PAGE_BINS; i++)
        n += t->bins[i];
    return n;
}

static void test_window(void **state)
{
    (void)state;
    static int64_t begins[EVENTS];
    for (unsigned round = 0; round < 60; round++) {
        srand(round);
        const int64_t base = round % 3 ? (int64_t)1 << (round % 62) : 0;
        const int64_t range = (int64_t)1 << (8 + round % 40);
        for (int w = 0; w < WORKERS; w++)
            page_times_open(&parts[w]);
        page_times_open(&whole);
        for (int i = 0; i < EVENTS; i++) {
            const int64_t at = (int64_t)((double)rand() / RAND_MAX * (double)range);
            /* Most of them are near each other. */
            begins[i] = base + (rand() % 4 ? at / 100 + range / 2 : at);
            page_times_add(&whole, begins[i], begins[i] + 5, 1);
            page_times_add(&parts[i % WORKERS], begins[i], begins[i] + 5, 1);
        }
        for (int w = 1; w < WORKERS; w++)
            page_times_join(&parts[0], &parts[w]);
        assert_int_equal(parts[0].first, whole.first);
        assert_int_equal(parts[0].last, whole.last);
        assert_int_equal(parts[0].shift, whole.shift);
        assert_memory_equal(parts[0].bins, whole.bins, sizeof whole.bins);
        assert_int_equal(sum_bins(&whole), EVENTS);
        for (uint64_t most = 1; most < EVENTS; most = most * 3 + 7) {
            int64_t from, to;
            page_times_densest(&whole, most, &from, &to);
            const int64_t bin = (int64_t)1 << whole.shift;
            assert_true(from <= to);
            if (to - from >= bin) /* a bin alone may have more: it is cut */
                assert_true(count_between(begins, from, to) <= most);
            if (most > EVENTS / 4) /* there are as many near each other */
                assert_true(count_between(begins, from, to) > most / 2);
        }
        int64_t from, to;
        page_times_densest(&whole, EVENTS, &from, &to);
        assert_true(count_between(begins, from, to) >= EVENTS * 9 / 10);
    }
}

static void test_extremes(void **state)
{
    (void)state;
    int64_t from, to;
    page_times_open(&whole);
    page_times_add(&whole, 0, 1, 1);
    page_times_add(&whole, INT64_MAX - 1, INT64_MAX, 1);
    page_times_densest(&whole, 2, &from, &to);
    assert_true(from <= 0 && to >= INT64_MAX - 1);
    page_times_densest(&whole, 1, &from, &to);
    assert_true(from <= to);
    page_times_open(&whole);
    for (int i = 0; i < 10; i++)
        page_times_add(&whole, 7, 7, 1);
    page_times_densest(&whole, 3, &from, &to);
    assert_true(from == 7 && to == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_window),
                                       cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

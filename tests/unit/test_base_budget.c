/* How a run shares its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pool.h"

#define MIB ((size_t)1 << 20)

static void has_the_jobs_that_are_asked_for_where_memory_allows(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 16; jobs++)
        assert_int_equal(rocl_budget_share(0, jobs).workers, jobs);
    assert_int_equal(rocl_budget_share((size_t)1 << 30, 256).workers, 256);
    assert_in_range(rocl_budget_share(0, 0).workers, 1, 256);
}

static void has_no_more_workers_than_memory_pays(void **state)
{
    (void)state;
    const unsigned most = rocl_budget_share(0, 256).workers;
    assert_in_range(most, 16, 48);
    assert_int_equal(rocl_budget_share(0, 64).workers, most);
    assert_in_range(rocl_budget_share(16 * MIB, 64).workers, 4, 16);
    assert_int_equal(rocl_budget_share(64 << 10, 256).workers, 4);
}

static void leaves_half_for_sorting(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 4096, 64 << 10, MIB, 5 * MIB, 48 * MIB, 1024 * MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned jobs = 1; jobs <= 256; jobs *= 4) {
            const rocl_budget b = rocl_budget_share(sizes[i], jobs);
            assert_true(b.sorting >= sizes[i] / 2 && b.sorting <= sizes[i]);
            assert_true(b.workers >= 1 && b.workers <= jobs);
            assert_true(b.cursor > 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_jobs_that_are_asked_for_where_memory_allows),
        cmocka_unit_test(has_no_more_workers_than_memory_pays),
        cmocka_unit_test(leaves_half_for_sorting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

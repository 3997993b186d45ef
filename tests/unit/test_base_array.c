/* Arrays that double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"

#include <stdlib.h>

typedef struct thing {
    uint64_t a;
    char b;
} thing;

static void test_grow(void **state)
{
    (void)state;
    thing *things = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(rocl_array_cap(i), cap);
        assert_true(ROCL_GROW(things, cap, i + 1));
        assert_true(cap > i);
        assert_int_equal(things[i].a, 0);
        assert_int_equal(things[i].b, 0);
        things[i] = (thing){i, 1};
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(things[i].a, i);
    const thing *before = things;
    assert_true(ROCL_GROW(things, cap, 1));
    assert_true(things == before);
    free(things);
}

/* An array by id is as long as the largest; what nobody has set is zero. */
static void test_by_id(void **state)
{
    (void)state;
    uint32_t *ids = NULL;
    size_t cap = 0;
    for (size_t id = 5; id < 100000; id = 3 * id + 1) {
        assert_true(ROCL_GROW(ids, cap, id + 1));
        ids[id] = (uint32_t)id;
    }
    size_t set = 0;
    for (size_t i = 0; i < cap; i++)
        set += ids[i] != 0;
    assert_int_equal(set, 9);
    free(ids);
}

static void test_too_much(void **state)
{
    (void)state;
    uint64_t *all = NULL;
    size_t cap = 0;
    assert_true(ROCL_GROW(all, cap, 1));
    uint64_t *before = all;
    size_t cap_before = cap;
    all[0] = 7;
    assert_false(ROCL_GROW(all, cap, SIZE_MAX));
    assert_false(ROCL_GROW(all, cap, SIZE_MAX / 2));
    assert_false(ROCL_GROW(all, cap, SIZE_MAX / 2 / sizeof *all + 1));
    assert_true(all == before && cap == cap_before);
    assert_int_equal(all[0], 7);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_by_id),
        cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Maps and id sets against models that are too simple to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"

#include <stdlib.h>

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed += 0x9e3779b97f4a7c15u;
    return rocl_mix64(seed);
}

enum { KEYS = 700 };

static void check_all(const rocl_map *m, const uint64_t *keys, const int64_t *model)
{
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++) {
        uint32_t missing = 0xdeadbeef;
        uint32_t got = rocl_map_get(m, keys[i], missing);
        assert_int_equal(got, model[i] < 0 ? missing : (uint32_t)model[i]);
        count += model[i] >= 0;
    }
    assert_int_equal(m->count, count);
    size_t pos = 0, seen = 0;
    uint64_t key;
    uint32_t value;
    while (rocl_map_next(m, &pos, &key, &value)) {
        assert_int_equal(rocl_map_get(m, key, ~value), value);
        seen++;
    }
    assert_int_equal(seen, count);
}

/* Keys that are dense, sparse and extreme; put, replaced and deleted at random. */
static void test_map_model(void **state)
{
    (void)state;
    uint64_t keys[KEYS];
    int64_t model[KEYS];
    for (size_t i = 0; i < KEYS; i++) {
        keys[i] = i < 300 ? i : i < 600 ? (uint64_t)i << 40 : UINT64_MAX - i + 600;
        model[i] = -1;
    }
    rocl_map m = {0};
    assert_false(rocl_map_del(&m, 0));
    assert_int_equal(rocl_map_get(&m, 0, 5), 5);
    for (int step = 0; step < 60000; step++) {
        size_t i = next_random() % KEYS;
        /* waves of mostly putting and mostly deleting */
        if (next_random() % 8 < (step / 5000 % 2 ? 2u : 6u)) {
            uint32_t value = (uint32_t)next_random();
            assert_true(rocl_map_put(&m, keys[i], value));
            model[i] = value;
        } else {
            assert_int_equal(rocl_map_del(&m, keys[i]), model[i] >= 0);
            model[i] = -1;
        }
        if (step % 500 == 0)
            check_all(&m, keys, model);
    }
    check_all(&m, keys, model);
    rocl_map_free(&m);
    assert_int_equal(rocl_map_get(&m, keys[0], 9), 9);
    rocl_map_free(&m);
}

static void test_idset(void **state)
{
    (void)state;
    enum { RANGE = 20000 };
    rocl_idset a = {0}, b = {0};
    static bool in_a[RANGE], in_b[RANGE];
    assert_false(rocl_idset_has(&a, 0));
    for (int i = 0; i < 3000; i++) {
        uint64_t x = next_random() % RANGE, y = next_random() % RANGE;
        assert_true(rocl_idset_add(&a, x) && rocl_idset_add(&b, y));
        in_a[x] = in_b[y] = true;
        assert_true(rocl_idset_has(&a, x));
    }
    assert_true(rocl_idset_add(&b, UINT64_MAX));
    for (uint64_t i = 0; i < RANGE; i++) {
        assert_int_equal(rocl_idset_has(&a, i), in_a[i]);
        assert_int_equal(rocl_idset_has(&b, i), in_b[i]);
    }
    rocl_idset both = {0};
    assert_true(rocl_idset_merge_common(&both, &a, &b));
    for (uint64_t i = 0; i < RANGE; i++)
        assert_int_equal(rocl_idset_has(&both, i), in_a[i] && in_b[i]);
    assert_false(rocl_idset_has(&both, UINT64_MAX));
    rocl_idset_free(&both);
    assert_true(rocl_idset_merge(&a, &b));
    for (uint64_t i = 0; i < RANGE; i++)
        assert_int_equal(rocl_idset_has(&a, i), in_a[i] || in_b[i]);
    assert_true(rocl_idset_has(&a, UINT64_MAX));
    assert_false(rocl_idset_has(&a, UINT64_MAX - 1));
    assert_false(rocl_idset_has(&a, RANGE + 100000));
    rocl_idset_free(&a);
    rocl_idset_free(&b);
}

/* Dense ids must cost about a bit each. */
static void test_idset_is_small(void **state)
{
    (void)state;
    rocl_idset s = {0};
    for (uint64_t i = 0; i < 1000000; i++)
        assert_true(rocl_idset_add(&s, 77000000 + i));
    size_t bytes = s.cap * sizeof s.blocks[0] + s.index.cap * 16;
    assert_true(bytes < 400000);
    rocl_idset_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_model),
        cmocka_unit_test(test_idset),
        cmocka_unit_test(test_idset_is_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

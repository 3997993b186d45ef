/* Encodings of Parquet, read back by a reader of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sink/parquet/encode.h"

/* ---- the reader ------------------------------------------------------------------------------ */

typedef struct input {
    const uint8_t *p, *end;
} input;

static uint64_t get_varint(input *in)
{
    uint64_t v = 0;
    assert_true(rocl_varint_get(&in->p, in->end, &v));
    return v;
}

/* The i-th number of `width` bits. */
static uint64_t get_packed(const input *in, size_t i, unsigned width)
{
    uint64_t v = 0;
    for (unsigned b = 0; b < width; b++) {
        const size_t bit = i * width + b;
        assert_true(in->p + bit / 8 < in->end);
        v |= (uint64_t)(in->p[bit / 8] >> bit % 8 & 1) << b;
    }
    return v;
}

static void read_runs(input *in, uint32_t *to, size_t n, unsigned width)
{
    for (size_t at = 0; at < n;) {
        const uint64_t head = get_varint(in), count = head & 1 ? (head >> 1) * 8 : head >> 1;
        assert_true(count > 0);
        if (head & 1) {
            for (size_t i = 0; i < count && at < n; i++)
                to[at++] = (uint32_t)get_packed(in, i, width);
            in->p += count * width / 8;
        } else {
            assert_true(count <= n - at);
            const uint32_t v = (uint32_t)get_packed(in, 0, (width + 7) / 8 * 8);
            for (size_t i = 0; i < count; i++)
                to[at++] = v;
            in->p += (width + 7) / 8;
        }
        assert_true(in->p <= in->end);
    }
    assert_ptr_equal(in->p, in->end);
}

static void read_deltas(input *in, int64_t *to, size_t n)
{
    const uint64_t block = get_varint(in), parts = get_varint(in), part = block / parts;
    assert_int_equal(block % 128, 0);
    assert_int_equal(part % 32, 0);
    assert_int_equal(get_varint(in), n);
    int64_t v = rocl_unzigzag(get_varint(in));
    for (size_t at = 0; at < n;) {
        if (!at)
            to[at++] = v;
        if (at == n)
            break;
        const int64_t least = rocl_unzigzag(get_varint(in));
        const uint8_t *widths = in->p;
        in->p += parts;
        for (size_t k = 0; k < parts && at < n; k++) {
            for (size_t i = 0; i < part && at < n; i++) {
                v = (int64_t)((uint64_t)v + (uint64_t)least + get_packed(in, i, widths[k]));
                to[at++] = v;
            }
            in->p += part * widths[k] / 8;
        }
    }
    assert_ptr_equal(in->p, in->end);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static uint64_t seed = 88172645463325252;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void check_deltas(const int64_t *values, size_t n)
{
    rocl_buf b = {0};
    int64_t *back = calloc(n + 1, sizeof *back);
    assert_non_null(back);
    rocl_parquet_put_deltas(&b, values, n);
    assert_false(b.failed);
    read_deltas(&(input){b.data, b.data + b.len}, back, n);
    if (n)
        assert_memory_equal(back, values, n * sizeof *values);
    free(back);
    rocl_buf_free(&b);
}

static void test_deltas(void **state)
{
    int64_t values[1000];
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MIN, INT64_MIN, 1, INT64_MAX};
    (void)state;
    check_deltas(odd, sizeof odd / sizeof *odd);
    for (unsigned bits = 1; bits <= 64; bits++)
        for (size_t n = 0; n <= 1000; n = n < 4 ? n + 1 : n * 2 - n / 3) {
            for (size_t i = 0; i < n; i++)
                values[i] = (int64_t)(next_random() >> (64 - bits));
            check_deltas(values, n);
        }
    for (size_t i = 0; i < 1000; i++)
        values[i] = 1000000 + (int64_t)i * 7;
    check_deltas(values, 1000);
}

static void test_runs(void **state)
{
    uint32_t values[500], back[500];
    (void)state;
    for (unsigned width = 1; width <= 32; width++)
        for (unsigned run = 1; run <= 30; run++)
            for (size_t n = 0; n <= 500; n = n < 20 ? n + 1 : n * 3 / 2) {
                rocl_buf b = {0};
                uint32_t v = 0;
                for (size_t i = 0; i < n; i++) {
                    if (!i || next_random() % run == 0)
                        v = (uint32_t)(next_random() >> (64 - width));
                    values[i] = v;
                }
                rocl_parquet_put_runs(&b, values, n, width);
                assert_false(b.failed);
                read_runs(&(input){b.data, b.data + b.len}, back, n, width);
                if (n)
                    assert_memory_equal(back, values, n * sizeof *values);
                rocl_buf_free(&b);
            }
}

static void test_widths(void **state)
{
    (void)state;
    assert_int_equal(rocl_parquet_width(0), 0);
    assert_int_equal(rocl_parquet_width(1), 0);
    assert_int_equal(rocl_parquet_width(2), 1);
    assert_int_equal(rocl_parquet_width(3), 2);
    assert_int_equal(rocl_parquet_width(256), 8);
    assert_int_equal(rocl_parquet_width(257), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deltas),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Buffers, varints and arenas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/buf.h"

#include <stdlib.h>

static void test_buf(void **state)
{
    (void)state;
    rocl_buf b = {0};
    for (unsigned i = 0; i < 1000; i++) {
        rocl_buf_byte(&b, (uint8_t)i);
        rocl_buf_put(&b, "ab", 2);
        rocl_buf_str(&b, "");
        rocl_buf_put(&b, NULL, 0);
    }
    assert_int_equal(b.len, 3000);
    assert_false(b.failed);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(b.data[3 * i], (uint8_t)i);
        assert_memory_equal(b.data + 3 * i + 1, "ab", 2);
    }
    size_t len = b.len;
    assert_false(rocl_buf_grow(&b, SIZE_MAX - 10));
    assert_true(b.failed);
    assert_int_equal(b.len, len);
    rocl_buf_free(&b);
    assert_null(b.data);
    assert_false(b.failed);
    rocl_buf_free(&b);
}

/* One in an array holds what fits and is never freed. */
static void test_array(void **state)
{
    (void)state;
    uint8_t space[4];
    rocl_buf b = ROCL_BUF_IN(space);
    rocl_buf_put(&b, "abcd", 4);
    assert_false(b.failed);
    assert_memory_equal(space, "abcd", 4);
    rocl_buf_byte(&b, 'e');
    assert_true(b.failed);
    assert_int_equal(b.len, 4);
    rocl_buf_free(&b);
    assert_null(b.data);
}

/* Texts that fit, that do not, and that are exactly as long as there is space. */
static void test_printf(void **state)
{
    (void)state;
    rocl_buf b = {0};
    size_t len = 0;
    for (int n = 0; n < 600; n++) {
        rocl_buf_printf(&b, "%*d|", n, n % 10);
        len += (size_t)(n > 1 ? n : 1) + 1;
        assert_false(b.failed);
        assert_int_equal(b.len, len);
        assert_int_equal(b.data[len - 2], '0' + n % 10);
        assert_int_equal(b.data[len - 1], '|');
    }
    rocl_buf_free(&b);
}

static const struct {
    uint64_t value;
    size_t len;
    uint8_t bytes[ROCL_VARINT_MAX];
} varints[] = {
    {0, 1, {0}},
    {1, 1, {1}},
    {127, 1, {0x7f}},
    {128, 2, {0x80, 1}},
    {16383, 2, {0xff, 0x7f}},
    {16384, 3, {0x80, 0x80, 1}},
    {(uint64_t)1 << 63, 10, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1}},
    {UINT64_MAX, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
};

static void test_varint(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof varints / sizeof varints[0]; i++) {
        rocl_buf b = {0};
        rocl_buf_varint(&b, varints[i].value);
        assert_int_equal(b.len, varints[i].len);
        assert_memory_equal(b.data, varints[i].bytes, b.len);
        const uint8_t *p = b.data;
        uint64_t v = 42;
        assert_true(rocl_varint_get(&p, b.data + b.len, &v));
        assert_true(v == varints[i].value);
        assert_ptr_equal(p, b.data + b.len);
        for (size_t cut = 0; cut < b.len; cut++) {
            p = b.data;
            assert_false(rocl_varint_get(&p, b.data + cut, &v));
        }
        rocl_buf_free(&b);
    }
}

static void test_varint_too_long(void **state)
{
    (void)state;
    uint8_t bytes[12];
    memset(bytes, 0x80, sizeof bytes);
    uint64_t v;
    const uint8_t *p = bytes;
    assert_false(rocl_varint_get(&p, bytes + sizeof bytes, &v));
    bytes[9] = 2; /* bit 64 */
    p = bytes;
    assert_false(rocl_varint_get(&p, bytes + sizeof bytes, &v));
    bytes[9] = 1;
    p = bytes;
    assert_true(rocl_varint_get(&p, bytes + sizeof bytes, &v));
    assert_true(v == (uint64_t)1 << 63);
}

static void test_zigzag(void **state)
{
    (void)state;
    const struct {
        int64_t v;
        uint64_t z;
    } table[] = {
        {0, 0}, {-1, 1}, {1, 2}, {-2, 3}, {INT64_MAX, UINT64_MAX - 1}, {INT64_MIN, UINT64_MAX}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_true(rocl_zigzag(table[i].v) == table[i].z);
        assert_true(rocl_unzigzag(table[i].z) == table[i].v);
    }
}

static void test_arena(void **state)
{
    (void)state;
    rocl_arena a = {0};
    char *text[500];
    size_t sum = 0;
    for (size_t i = 0; i < 500; i++) {
        size_t n = i * i % 7919;
        char *p = rocl_arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 0xee, n);
        char word[32];
        memset(word, (int)('a' + i % 26), sizeof word);
        text[i] = rocl_arena_dup(&a, word, i % 32);
        sum += n;
    }
    assert_true(a.used >= sum);
    for (size_t i = 0; i < 500; i++) {
        assert_int_equal(strlen(text[i]), i % 32);
        for (size_t k = 0; k < i % 32; k++)
            assert_int_equal(text[i][k], 'a' + i % 26);
    }
    assert_null(rocl_arena_alloc(&a, SIZE_MAX));
    assert_null(rocl_arena_dup(&a, "x", SIZE_MAX));
    rocl_arena_free(&a);
    assert_int_equal(a.used, 0);
    rocl_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buf),    cmocka_unit_test(test_array),
        cmocka_unit_test(test_printf), cmocka_unit_test(test_varint),
        cmocka_unit_test(test_zigzag), cmocka_unit_test(test_varint_too_long),
        cmocka_unit_test(test_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

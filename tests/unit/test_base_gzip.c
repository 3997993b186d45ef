/* What is compressed inflates to the same, and compresses to the same bytes every time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/deflate.h"
#include "base/out.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

typedef rocl_status compress_fn(rocl_buf *, const void *, size_t, int, rocl_error *);

enum { SIZE = 300000 };

/* Half text, which is the same again from far behind, half noise. */
static uint8_t *make_data(void)
{
    uint8_t *p = malloc(SIZE);
    uint32_t x = 1;
    for (size_t i = 0; i < SIZE; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = i / 50000 % 2 ? (uint8_t)(x >> 24) : (uint8_t) "kernel dispatch "[i % 16];
        if (i >= 20000 && i % 50000 < 6000)
            p[i] = p[i - 20000];
    }
    return p;
}

/* Inflates all members; window_bits as inflateInit2 takes them. */
static size_t inflate_all(const rocl_buf *b, uint8_t *to, size_t room, int window_bits)
{
    z_stream z = {.next_in = b->data, .avail_in = (uInt)b->len};
    z.next_out = to;
    z.avail_out = (uInt)room;
    while (z.avail_in) {
        assert_int_equal(inflateInit2(&z, window_bits), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        inflateEnd(&z);
    }
    return room - z.avail_out;
}

static void check_round_trip(compress_fn *compress, int window_bits)
{
    static const size_t sizes[] = {0, 1, 100, 65536, SIZE};
    uint8_t *data = make_data(), *back = malloc(SIZE + 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int level = 1; level <= ROCL_FASTEST; level++) {
            rocl_buf b = {0}, again = {0};
            assert_int_equal(compress(&b, data, sizes[i], level, NULL), ROCL_OK);
            assert_int_equal(inflate_all(&b, back, SIZE + 1, window_bits), sizes[i]);
            assert_memory_equal(back, data, sizes[i]);
            compress(&again, data, 1000, level < 9 ? 10 - level : 19 - level, NULL);
            again.len = 0;
            compress(&again, data, sizes[i], level, NULL);
            assert_int_equal(again.len, b.len);
            assert_memory_equal(again.data, b.data, b.len);
            rocl_buf_free(&b);
            rocl_buf_free(&again);
        }
    }
    free(data);
    free(back);
}

static void test_gzip(void **state)
{
    (void)state;
    check_round_trip(rocl_gzip_member, 15 + 16);
}

static void test_zlib(void **state)
{
    (void)state;
    check_round_trip(rocl_zlib_stream, 15);
}

/* Our frame around raw deflate is the one zlib would write. */
static void test_same_as_zlib(void **state)
{
    (void)state;
    if (strncmp(rocl_deflate_engine(), "zlib", 4))
        skip(); /* another engine, other bytes */
    uint8_t *data = make_data();
    for (int level = 1; level <= 9; level++) {
        rocl_buf b = {0};
        uLongf n = compressBound(SIZE);
        uint8_t *want = malloc(n);
        assert_int_equal(compress2(want, &n, data, SIZE, level), Z_OK);
        rocl_zlib_stream(&b, data, SIZE, level, NULL);
        assert_int_equal(b.len, n);
        assert_memory_equal(b.data, want, n);
        free(want);
        rocl_buf_free(&b);
    }
    free(data);
}

static void test_members_join(void **state)
{
    (void)state;
    rocl_buf b = {0};
    uint8_t back[16];
    rocl_gzip_member(&b, "one,", 4, 6, NULL);
    rocl_gzip_member(&b, NULL, 0, 6, NULL);
    rocl_gzip_member(&b, "two", 3, 1, NULL);
    assert_int_equal(inflate_all(&b, back, sizeof back, 15 + 16), 7);
    assert_memory_equal(back, "one,two", 7);
    rocl_buf_free(&b);
}

/* Bytes that cannot become fewer, which take a little more room than they are. */
static void test_random_bytes(void **state)
{
    (void)state;
    uint8_t *data = malloc(SIZE), *back = malloc(SIZE);
    uint64_t v = 1;
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)((v = v * 6364136223846793005u + 1442695040888963407u) >> 56);
    for (int level = 1; level <= ROCL_FASTEST; level++) {
        rocl_buf b = {0};
        assert_int_equal(rocl_zlib_stream(&b, data, SIZE, level, NULL), ROCL_OK);
        assert_int_equal(inflate_all(&b, back, SIZE, 15), SIZE);
        assert_memory_equal(back, data, SIZE);
        rocl_buf_free(&b);
    }
    free(data);
    free(back);
}

/* What was compressed before, what follows in memory, and where it lies: none of it changes the
 * bytes. */
static void test_same_bytes(void **state)
{
    (void)state;
    uint8_t *data = make_data(), *room = malloc(SIZE + 64);
    for (int level = 1; level <= ROCL_FASTEST; level += level == 1 ? 1 : level == 2 ? 4 : 2) {
        for (unsigned i = 0; i < 40; i++) {
            rocl_buf first = {0}, again = {0};
            const size_t n = SIZE / 8 + 997 * i, at = i % 17;
            rocl_zlib_stream(&first, data, n, level, NULL);
            again.len = 0;
            rocl_zlib_stream(&again, data + n / 2, SIZE / 3 - 1000 * i, level, NULL);
            again.len = 0;
            memset(room, (int)i, SIZE + 64);
            memcpy(room + at, data, n);
            rocl_zlib_stream(&again, room + at, n, level, NULL);
            assert_int_equal(again.len, first.len);
            assert_memory_equal(again.data, first.data, first.len);
            rocl_buf_free(&first);
            rocl_buf_free(&again);
        }
    }
    free(data);
    free(room);
}

/* What lay in the memory that a thread's engine gets changes nothing either. */
static void *compress_on_used_memory(void *arg)
{
    rocl_buf *b = arg;
    uint8_t *data = make_data();
    for (int i = 0; i < 2; i++) { /* the first one is given back to the system */
        const size_t n = 1u << 20;
        uint16_t *used = malloc(n);
        for (size_t k = 0; k < n / sizeof *used; k++)
            used[k] = 9;
        free(used);
    }
    rocl_zlib_stream(b, data, SIZE, ROCL_FASTEST, NULL);
    free(data);
    return NULL;
}

static void test_used_memory(void **state)
{
    (void)state;
    uint8_t *data = make_data();
    rocl_buf want = {0}, got = {0};
    pthread_t thread;
    rocl_zlib_stream(&want, data, SIZE, ROCL_FASTEST, NULL);
    assert_int_equal(pthread_create(&thread, NULL, compress_on_used_memory, &got), 0);
    pthread_join(thread, NULL);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.data, want.data, want.len);
    rocl_buf_free(&want);
    rocl_buf_free(&got);
    free(data);
}

static void *compress_some(void *arg)
{
    rocl_buf *b = arg;
    uint8_t *data = make_data();
    for (int i = 0; i < 5; i++)
        rocl_gzip_member(b, data, SIZE / 5, i % 3 ? i % 3 : ROCL_FASTEST, NULL);
    free(data);
    return NULL;
}

/* Threads have states of their own, which end with them (the leak checker looks on). */
static void test_threads(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    rocl_buf bufs[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compress_some, &bufs[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(bufs[i].len, bufs[0].len);
        assert_memory_equal(bufs[i].data, bufs[0].data, bufs[0].len);
    }
    for (int i = 0; i < THREADS; i++)
        rocl_buf_free(&bufs[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip),         cmocka_unit_test(test_zlib),
        cmocka_unit_test(test_same_as_zlib), cmocka_unit_test(test_members_join),
        cmocka_unit_test(test_random_bytes), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_used_memory),  cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

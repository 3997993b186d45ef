/* Frames that the program lz4 made are unpacked; damaged ones leave nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/lz4.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK                                                                                      \
    "\x1c\0\0\0\xff\0{\"message\":\"abc\x03\0\xff\x17` end\"}" /* 28 bytes: 100 times "abc" */
#define FRAME(head, tail)                                                                          \
    {                                                                                              \
        "\x04\x22\x4d\x18" head BLOCK tail, sizeof(head BLOCK tail) + 3                            \
    }

static const struct {
    const char *p;
    size_t n;
} frames[] = {
    FRAME("\x60\x40\x82", "\0\0\0\0"),
    /* linked blocks, with sums and the size of all */
    FRAME("\x7c\x40\x3e\x01\0\0\0\0\0\0\x7e", "\xe4\x2e\x69\xa6\0\0\0\0\x06\xdd\x12\x30"),
};

enum { PLAIN = 318, MOST = 1000 };

static void test_frames(void **state)
{
    char expected[PLAIN + 1] = "{\"message\":\"";
    (void)state;
    for (size_t i = 12; i < PLAIN - 6; i++)
        expected[i] = "abc"[i % 3];
    memcpy(expected + PLAIN - 6, " end\"}", 6);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        rocl_lz4 b = {0};
        assert_true(rocl_lz4_unpack(&b, frames[i].p, frames[i].n, PLAIN));
        assert_int_equal(b.text.len, PLAIN);
        assert_memory_equal(b.text.data, expected, PLAIN);
        assert_false(rocl_lz4_unpack(&b, frames[i].p, frames[i].n, PLAIN - 1));
        rocl_lz4_free(&b);
    }
}

static void test_stored_block(void **state)
{
    static const char frame[] =
        "\x04\x22\x4d\x18\x64\x40\xa7\x07\0\0\x80{\"a\":1}\0\0\0\0\x4d\x9c\xc8\x04";
    rocl_lz4 b = {0};
    (void)state;
    assert_true(rocl_lz4_unpack(&b, frame, sizeof frame - 1, 7));
    assert_int_equal(b.text.len, 7);
    assert_memory_equal(b.text.data, "{\"a\":1}", 7);
    assert_false(rocl_lz4_unpack(&b, frame, sizeof frame - 1, 6));
    rocl_lz4_free(&b);
}

/* Every cut is an error, and every byte may be any: no more than is allowed comes out. */
static void test_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        const size_t n = frames[i].n;
        rocl_lz4 b = {0};
        for (size_t cut = 0; cut < n; cut++) {
            char *p = malloc(cut + 1); /* of the size at hand, for who watches the bounds */
            memcpy(p, frames[i].p, cut);
            assert_false(rocl_lz4_unpack(&b, p, cut, MOST));
            free(p);
        }
        char *p = malloc(n);
        memcpy(p, frames[i].p, n);
        for (size_t at = 0; at < n; at++) {
            for (unsigned c = 0; c < 256; c++) {
                p[at] = (char)c;
                assert_true(!rocl_lz4_unpack(&b, p, n, MOST) || b.text.len <= MOST);
            }
            p[at] = frames[i].p[at];
        }
        free(p);
        rocl_lz4_free(&b);
    }
}

int main(void)
{
    if (!*rocl_lz4_version()) {
        puts("1..0 # SKIP built without liblz4");
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames),
                                       cmocka_unit_test(test_stored_block),
                                       cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests_name("lz4", tests, NULL, NULL);
}

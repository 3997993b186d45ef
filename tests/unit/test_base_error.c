/* Errors: replaced, wrapped, cut, cleaned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"

#include <string.h>

static void test_fail_and_wrap(void **state)
{
    (void)state;
    rocl_error *e = rocl_error_new();
    assert_int_equal(rocl_error_status(e), ROCL_OK);
    assert_string_equal(rocl_error_text(e), "");
    assert_int_equal(rocl_wrap(e, "nothing to wrap"), ROCL_OK);
    assert_string_equal(rocl_error_text(e), "");

    assert_int_equal(rocl_fail(e, ROCL_INPUT, "row %d: no time", 7), ROCL_INPUT);
    assert_int_equal(rocl_wrap(e, "table %s", "t"), ROCL_INPUT);
    assert_int_equal(rocl_wrap(e, "a.db"), ROCL_INPUT);
    assert_string_equal(rocl_error_text(e), "a.db: table t: row 7: no time");

    assert_int_equal(rocl_fail(e, ROCL_OUTPUT, "disk full"), ROCL_OUTPUT);
    assert_int_equal(rocl_error_status(e), ROCL_OUTPUT);
    assert_string_equal(rocl_error_text(e), "disk full");
    assert_int_equal(rocl_fail(e, ROCL_INPUT, "<%s>", rocl_error_text(e)), ROCL_INPUT);
    assert_string_equal(rocl_error_text(e), "<disk full>");
    rocl_error_free(e);
}

static void test_null(void **state)
{
    (void)state;
    assert_int_equal(rocl_fail(NULL, ROCL_USAGE, "x"), ROCL_USAGE);
    assert_int_not_equal(rocl_wrap(NULL, "x"), ROCL_OK);
    assert_int_equal(rocl_fail_memory(NULL), ROCL_INTERNAL);
    assert_int_equal(rocl_error_status(NULL), ROCL_OK);
    assert_string_equal(rocl_error_text(NULL), "out of memory"); /* for an error */
    rocl_error_copy(NULL, NULL);
    rocl_error_free(NULL);
}

static void test_copy(void **state)
{
    (void)state;
    rocl_error *a = rocl_error_new(), *b = rocl_error_new();
    rocl_fail(a, ROCL_INPUT, "a");
    rocl_error_copy(b, a);
    rocl_error_copy(b, b);
    rocl_fail(a, ROCL_USAGE, "changed");
    assert_int_equal(rocl_error_status(b), ROCL_INPUT);
    assert_string_equal(rocl_error_text(b), "a");
    rocl_error_copy(b, NULL); /* a worker's, for which there was no memory */
    assert_int_equal(rocl_error_status(b), ROCL_INTERNAL);
    assert_string_equal(rocl_error_text(b), "out of memory");
    rocl_error_free(a);
    rocl_error_free(b);
}

/* A text too long ends in "..." after a whole character, whatever the character's phase. */
static void test_cut(void **state)
{
    (void)state;
    rocl_error *e = rocl_error_new();
    char text[9001];
    for (size_t phase = 0; phase < 3; phase++) {
        memset(text, 'a', phase);
        for (size_t i = phase; i + 3 <= 9000; i += 3)
            memcpy(text + i, "\xe2\x82\xac", 4);
        rocl_fail(e, ROCL_INPUT, "%s", text);
        const char *got = rocl_error_text(e);
        size_t n = strlen(got);
        assert_true(n > 4000 && n < 4096);
        assert_string_equal(got + n - 3, "...");
        assert_int_equal((n - 3 - phase) % 3, 0);
        rocl_wrap(e, "outer");
        assert_memory_equal(rocl_error_text(e), "outer: ", 7);
        n = strlen(rocl_error_text(e));
        assert_true(n < 4096);
        assert_string_equal(rocl_error_text(e) + n - 3, "...");
    }
    rocl_wrap(e, "%s", text);
    assert_true(strlen(rocl_error_text(e)) < 4096);
    rocl_error_free(e);
}

static void test_control_characters(void **state)
{
    (void)state;
    rocl_error *e = rocl_error_new();
    rocl_fail(e, ROCL_INPUT, "a\nb\x1b[31m\x7f\xc3\xa9");
    assert_string_equal(rocl_error_text(e), "a?b?[31m?\xc3\xa9");
    rocl_error_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fail_and_wrap),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_control_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

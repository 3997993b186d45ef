/* Interned strings, alone and from several threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/strings.h"
#include "rocline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_basics(void **state)
{
    (void)state;
    rocl_strings *s = rocl_strings_new();
    assert_int_equal(rocl_strings_count(s), 1);
    assert_int_equal(rocl_strings_put(s, "", 0), 0);
    assert_int_equal(rocl_strings_put(s, NULL, 0), 0);
    uint32_t a = rocl_strings_put(s, "abc", 3), b = rocl_strings_put(s, "ab\0c", 4);
    assert_int_not_equal(a, b);
    assert_int_equal(rocl_strings_put(s, "abcd", 3), a);
    size_t len = 99;
    assert_string_equal(rocl_strings_get(s, a, NULL), "abc");
    assert_memory_equal(rocl_strings_get(s, b, &len), "ab\0c", 5);
    assert_int_equal(len, 4);
    const uint32_t none[] = {0, 3, 1000, 1 << 20, ROCL_NONE - 1, ROCL_NONE};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        len = 99;
        assert_string_equal(rocl_strings_get(s, none[i], &len), "");
        assert_int_equal(len, 0);
    }
    assert_int_equal(rocl_strings_count(s), 3);
    rocl_strings_free(s);
    rocl_strings_free(NULL);
}

/* Every length around the steps of the hash, and strings that differ in one byte. */
static void test_lengths(void **state)
{
    (void)state;
    rocl_strings *s = rocl_strings_new();
    char text[100];
    memset(text, 'x', sizeof text);
    uint32_t ids[100];
    for (size_t n = 1; n < 100; n++)
        ids[n] = rocl_strings_put(s, text, n);
    for (size_t n = 1; n < 100; n++) {
        for (size_t i = 0; i < n; i++) {
            text[i] = 'y';
            assert_true(rocl_strings_put(s, text, n) >= 100);
            text[i] = 'x';
        }
        assert_int_equal(rocl_strings_put(s, text, n), ids[n]);
    }
    assert_int_equal(rocl_strings_count(s), 100 + 99 * 100 / 2);
    rocl_strings_free(s);
}

enum { THREADS = 4, TEXTS = 30000 };

typedef struct job {
    rocl_strings *strings;
    uint32_t *ids;
    uint32_t step;
} job;

static size_t make_text(char *p, size_t size, uint32_t i)
{
    return (size_t)snprintf(p, size, "%*skernel_%u", (int)(i % 40), "", i);
}

/* Puts every text twice, in an order of its own, and reads it back. */
static void *put_all(void *arg)
{
    job *j = arg;
    char text[100];
    for (uint32_t i = 0, n = 0; n < 2 * TEXTS; n++, i = (i + j->step) % TEXTS) {
        size_t len = make_text(text, sizeof text, i), got;
        uint32_t id = rocl_strings_put(j->strings, text, len);
        if (n >= TEXTS && id != j->ids[i])
            return "an id changed";
        j->ids[i] = id;
        const char *back = rocl_strings_get(j->strings, id, &got);
        if (got != len || memcmp(back, text, len + 1) != 0)
            return "a text is wrong";
        rocl_strings_get(j->strings, i, &got); /* perhaps being added by another thread */
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static const uint32_t steps[THREADS] = {1, 7, 29999, 7919}; /* coprime to TEXTS */
    rocl_strings *s = rocl_strings_new();
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        jobs[t] = (job){s, calloc(TEXTS, sizeof(uint32_t)), steps[t]};
        assert_int_equal(pthread_create(&threads[t], NULL, put_all, &jobs[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        void *why;
        pthread_join(threads[t], &why);
        assert_null(why);
    }
    assert_int_equal(rocl_strings_count(s), TEXTS + 1);
    for (size_t t = 1; t < THREADS; t++)
        assert_memory_equal(jobs[t].ids, jobs[0].ids, TEXTS * sizeof(uint32_t));
    for (size_t t = 0; t < THREADS; t++)
        free(jobs[t].ids);
    rocl_strings_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_basics),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

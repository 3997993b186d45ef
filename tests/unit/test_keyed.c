/* Sums by key: workers are merged, what one collector puts another one takes, and numbers that no
 * rank may have sent are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/keyed.h"

enum { WORKERS = 2, LIMIT = 10 };

typedef struct key {
    uint32_t class;
    int32_t rank;
} key;

typedef struct sums {
    uint64_t count;
    int64_t total, least, greatest;
} sums;

typedef struct row {
    key key;
    sums sums;
} row;

typedef struct collector {
    rocl_collector c;
    rocl_keyed keyed;
    uint64_t lost;
} collector;

static const rocl_member key_members[] = {ROCL_MEMBER_BELOW(key, class, KEY_NUMBER, LIMIT),
                                          ROCL_MEMBER(key, rank, KEY_ID)};
static const rocl_member sum_members[] = {
    ROCL_MEMBER(sums, count, SUM_COUNT), ROCL_MEMBER(sums, total, SUM_INT),
    ROCL_MEMBER(sums, least, SUM_LEAST), ROCL_MEMBER(sums, greatest, SUM_GREATEST)};
static const rocl_member totals[] = {ROCL_MEMBER(collector, lost, SUM_COUNT)};
static const rocl_keyed_def def = {.key_size = sizeof(key),
                                   .sum_size = sizeof(sums),
                                   ROCL_KEY_MEMBERS(key_members),
                                   ROCL_SUM_MEMBERS(sum_members),
                                   ROCL_TOTALS(totals)};

static void open_collector(collector *c, rocl_trace *t)
{
    *c = (collector){.c = {.trace = t}};
    assert_int_equal(rocl_keyed_open(&c->keyed, &def, &c->c, NULL), ROCL_OK);
}

static void add(collector *c, unsigned worker, uint32_t class, int64_t ns)
{
    sums *own = rocl_keyed_at(&c->keyed, worker, &(key){class, -1});
    assert_non_null(own);
    assert_true(rocl_keyed_add(&def, own, &(sums){1, ns, ns, ns}));
}

static int compare_rows(const void *a, const void *b, void *trace)
{
    return rocl_keyed_compare(&def, trace, a, b);
}

static void check(const collector *c)
{
    size_t n;
    row *rows = rocl_keyed_rows(&c->keyed, &c->c, sizeof *rows, &n);
    assert_int_equal(n, 2);
    qsort_r(rows, n, sizeof *rows, compare_rows, c->c.trace);
    assert_memory_equal(&rows[0], (&(row){{3, -1}, {3, 60, 10, 30}}), sizeof *rows);
    assert_memory_equal(&rows[1], (&(row){{7, -1}, {1, INT64_MAX, INT64_MAX, INT64_MAX}}),
                        sizeof *rows);
    free(rows);
}

static rocl_status take(collector *to, const rocl_buf *b)
{
    rocl_taken from = {.r = {.p = b->data, .end = b->data + b->len}};
    return rocl_keyed_take(to, 1, &from, NULL);
}

static void test_wire(void **unused)
{
    rocl_trace *t = calloc(1, sizeof *t);
    collector own, other;
    rocl_put to = {.g = NULL};
    (void)unused;
    t->opt.jobs = WORKERS;
    open_collector(&own, t);
    open_collector(&other, t);
    add(&own, 0, 7, INT64_MAX);
    add(&own, 1, 3, 10);
    add(&own, 0, 3, 30);
    add(&own, 1, 3, 20);
    own.lost = 5;
    check(&own);
    assert_int_equal(rocl_keyed_put(&own, &to, NULL), ROCL_OK);
    assert_int_equal(take(&other, &to.b), ROCL_OK);
    check(&other);
    assert_int_equal(other.lost, 5);
    to.b.len--; /* cut short */
    assert_int_not_equal(take(&other, &to.b), ROCL_OK);
    /* Table and kind, class, rank, count, total, least, greatest: one wrong each time. */
    const struct {
        uint64_t numbers[7];
        unsigned n;
    } bad[] = {{{3}, 1},
               {{1, LIMIT, 1, 1, 0, 0, 0}, 7},
               {{1, 0, rocl_zigzag(-2), 1, 0, 0, 0}, 7},
               {{1, 0, 0, 1, UINT64_MAX, 0, 0}, 7}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        to.b.len = 0;
        for (unsigned k = 0; k < bad[i].n; k++)
            rocl_put_number(&to, bad[i].numbers[k]);
        assert_int_not_equal(take(&other, &to.b), ROCL_OK);
    }
    rocl_buf_free(&to.b);
    rocl_keyed_close(&own.keyed, WORKERS);
    rocl_keyed_close(&other.keyed, WORKERS);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wire)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The external sort against qsort: for all key widths, sizes of memory, numbers of workers and
 * kinds of order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/extsort.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* A record's payload is a function of its number, which is its last key word (or its payload, when
 * there is one word only). */
typedef struct item {
    uint64_t key[ROCL_SORT_KEYS_MAX];
} item;

typedef enum order {
    SORTED,
    REVERSED,
    RANDOM,
    INTERLEAVED,
    MANY,     /* sequences, more than have a strand */
    OUTLIERS, /* sorted, but for a record far ahead now and then, which ends a strand */
    JITTER,
    FEW_KEYS,
    EXTREME,
    ORDERS
} order;

typedef struct config {
    size_t n;
    size_t memory;
    unsigned workers, words;
    order order;
    bool seal;      /* now and then */
    unsigned group; /* shift, 0: no groups */
    size_t bounds;  /* of parts it is read in; or CURSORS */
} config;

#define CURSORS SIZE_MAX

typedef struct run {
    const config *c;
    const item *items;
    rocl_sorter *sorter;
} run;

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t make_word(const config *c, size_t i, unsigned w)
{
    static const uint64_t extremes[] = {
        0, 1, 127, 128, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, (uint64_t)INT64_MAX};
    uint64_t r = mix(i * 4 + w);
    switch (c->order) {
    case SORTED:
        return i * 1000 + w;
    case REVERSED:
        return (c->n - i) * 1000 - w;
    case INTERLEAVED:
        return i / 5 * 1000 + (w ? r % 10 : i % 5 * 100000);
    case MANY:
        return w ? r % 10 : i % 61 * 1000000 + i / 61;
    case OUTLIERS:
        return i * 1000 + w + (mix(i) % 500 ? 0 : 1000000000);
    case JITTER:
        return i * 1000 + r % 100000;
    case FEW_KEYS:
        return r % 3;
    case EXTREME:
        return extremes[r % 8];
    default:
        return r;
    }
}

static size_t payload_of(uint64_t number, uint8_t *p)
{
    uint64_t r = mix(~number);
    size_t len = number % 5000 == 4999 ? 90000 : r % 4 == 0 ? 0 : r % 50;
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)(r >> (i % 8 * 8)) ^ (uint8_t)i;
    return len;
}

static item *make_items(const config *c)
{
    item *items = calloc(c->n + 1, sizeof *items);
    for (size_t i = 0; i < c->n; i++) {
        for (unsigned w = 0; w + 1 < c->words; w++)
            items[i].key[w] = make_word(c, i, w);
        items[i].key[c->words - 1] = i;
    }
    return items;
}

static int compare(const void *a, const void *b)
{
    const item *x = a, *y = b;
    for (unsigned w = 0; w < ROCL_SORT_KEYS_MAX; w++) {
        if (x->key[w] != y->key[w])
            return x->key[w] < y->key[w] ? -1 : 1;
    }
    return 0;
}

enum { TASK = 5000 };

/* With one word, numbers are added in a random order: n is prime to the step. */
static size_t pick(const config *c, size_t i)
{
    return c->words == 1 && c->order != SORTED ? (size_t)((uint64_t)i * 7919 % c->n) : i;
}

static rocl_status add_some(void *ctx, unsigned worker, size_t task, rocl_error *err)
{
    const run *r = ctx;
    static _Thread_local uint8_t payload[90000];
    for (size_t i = task * TASK; i < (task + 1) * TASK && i < r->c->n; i++) {
        const item *it = &r->items[pick(r->c, i)];
        size_t len = payload_of(it->key[r->c->words - 1], payload);
        rocl_status st = rocl_sorter_add(r->sorter, worker, it->key, payload, len, err);
        if (st)
            return st;
    }
    return r->c->seal ? rocl_sorter_seal(r->sorter, worker, err) : ROCL_OK;
}

/* The records of one part: items[0, n). */
static void check_part(rocl_sorter *s, size_t part, const config *c, const item *want, size_t n)
{
    static uint8_t payload[90000];
    rocl_sort_record rec;
    bool more = true;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rocl_sorter_next_of(s, part, &rec, &more, NULL), ROCL_OK);
        assert_true(more);
        assert_memory_equal(rec.key, want[i].key, c->words * sizeof rec.key[0]);
        size_t len = payload_of(want[i].key[c->words - 1], payload);
        assert_int_equal(rec.len, len);
        assert_true(memcmp(rec.data, payload, len) == 0);
    }
    for (int again = 0; again < 2; again++) {
        assert_int_equal(rocl_sorter_next_of(s, part, &rec, &more, NULL), ROCL_OK);
        assert_false(more);
    }
}

enum { BOUNDS_MAX = 64 };

static bool is_before(const uint64_t *key, const uint64_t *bound)
{
    return key[0] != bound[0] ? key[0] < bound[0] : key[1] < bound[1];
}

/* Keys that cut the sorted items: of items, between them, some twice, and outside of all. Every
 * third is within what has one first word. */
static void make_bounds(const config *c, const item *items, rocl_sort_bound *bounds)
{
    static const uint64_t none[2];
    for (size_t i = 0; i < c->bounds; i++) {
        const uint64_t *key = c->n ? items[i * c->n / c->bounds].key : none;
        bounds[i] = (rocl_sort_bound){{key[0] + i % 2, i % 3 ? 0 : key[1]}};
        if (i && is_before(bounds[i].word, bounds[i - 1].word))
            bounds[i] = bounds[i - 1];
    }
    if (c->bounds > 2)
        bounds[c->bounds - 1] = (rocl_sort_bound){{UINT64_MAX, 0}};
}

/* The least third word between any two of some bounds. */
static void check_least(rocl_sorter *s, const config *c, const item *items)
{
    rocl_sort_bound bounds[8];
    config few = *c;
    few.bounds = sizeof bounds / sizeof *bounds;
    make_bounds(&few, items, bounds);
    for (size_t from = 0; from < few.bounds; from++)
        for (size_t to = 0; to < few.bounds; to++) {
            uint64_t want = UINT64_MAX, got;
            for (size_t i = 0; i < c->n; i++)
                if (!is_before(items[i].key, bounds[from].word) &&
                    is_before(items[i].key, bounds[to].word) && items[i].key[2] < want)
                    want = items[i].key[2];
            assert_int_equal(rocl_sorter_least(s, bounds[from], bounds[to], &got, NULL), ROCL_OK);
            assert_int_equal(got, want);
        }
}

static void check_output(rocl_sorter *s, const config *c, const item *want,
                         const rocl_sort_bound *bounds)
{
    size_t at = 0;
    for (size_t part = 0; part <= c->bounds; part++) {
        size_t n = 0;
        while (at + n < c->n &&
               (part == c->bounds || is_before(want[at + n].key, bounds[part].word)))
            n++;
        check_part(s, part, c, want + at, n);
        at += n;
    }
    assert_int_equal(at, c->n);
}

static void check_next(rocl_sort_cursor *cursor, const config *c, const item *want)
{
    static uint8_t payload[90000];
    rocl_sort_record rec;
    bool more;
    assert_int_equal(rocl_sort_cursor_next(cursor, &rec, &more, NULL), ROCL_OK);
    assert_int_equal(more, want != NULL);
    if (!want)
        return;
    assert_memory_equal(rec.key, want->key, c->words * sizeof rec.key[0]);
    assert_int_equal(rec.len, payload_of(want->key[c->words - 1], payload));
    assert_true(memcmp(rec.data, payload, rec.len) == 0);
}

/* All records by cursors of many lengths, each beside one that begins within its range. */
static void check_cursors(rocl_sorter *s, const config *c, const item *want)
{
    for (size_t first = 0, k = 0, count; first <= c->n + 1; first += count, k++) {
        rocl_sort_cursor *a, *b;
        const size_t within = first + mix(k) % 100;
        count = k % 7 ? mix(first) % (c->n / 5 + 2) : 1;
        assert_int_equal(rocl_sorter_open(s, first, count, 2, &a, NULL), ROCL_OK);
        assert_int_equal(rocl_sorter_open(s, within, count, 2, &b, NULL), ROCL_OK);
        for (size_t i = 0; i <= count; i++) {
            check_next(a, c, i < count && first + i < c->n ? &want[first + i] : NULL);
            check_next(b, c, i < count && within + i < c->n ? &want[within + i] : NULL);
        }
        rocl_sort_cursor_close(a);
        rocl_sort_cursor_close(b);
        count += !count;
    }
    rocl_sort_cursor *rest;
    assert_int_equal(rocl_sorter_open(s, c->n / 2, UINT64_MAX, 1, &rest, NULL), ROCL_OK);
    for (size_t i = c->n / 2; i <= c->n; i++)
        check_next(rest, c, i < c->n ? &want[i] : NULL);
    rocl_sort_cursor_close(rest);
}

static uint64_t check(const config *c)
{
    rocl_error *err = rocl_error_new();
    rocl_sort_space *space = rocl_sort_space_new(c->memory, c->workers, NULL);
    item *items = make_items(c);
    run r = {c, items, rocl_sorter_new(space, c->words)};
    if (c->group)
        rocl_sorter_group(r.sorter, c->group);
    assert_int_equal(rocl_run_tasks(c->workers, (c->n + TASK - 1) / TASK, add_some, &r, err), 0);
    assert_int_equal(rocl_sorter_count(r.sorter), c->n);
    qsort(items, c->n, sizeof *items, compare);
    rocl_sort_bound bounds[BOUNDS_MAX];
    if (c->words > 2)
        check_least(r.sorter, c, items);
    if (c->bounds == CURSORS) {
        assert_int_equal(rocl_sorter_start_cursors(r.sorter, err), ROCL_OK);
        check_cursors(r.sorter, c, items);
    } else {
        make_bounds(c, items, bounds);
        assert_int_equal(rocl_sorter_start_ranges(r.sorter, bounds, c->bounds, err), ROCL_OK);
        check_output(r.sorter, c, items, bounds);
    }
    uint64_t key[ROCL_SORT_KEYS_MAX] = {0};
    assert_int_equal(rocl_sorter_add(r.sorter, 0, key, "", 0, err), ROCL_INTERNAL);
    assert_int_equal(rocl_sorter_start(r.sorter, err), ROCL_INTERNAL);
    assert_int_equal(rocl_sorter_count(r.sorter), c->n);
    rocl_sorter_free(r.sorter);
    uint64_t spilled = rocl_sort_space_spilled(space);
    rocl_sort_space_free(space);
    rocl_error_free(err);
    free(items);
    return spilled;
}

static void test_orders(void **state)
{
    (void)state;
    for (order o = 0; o < ORDERS; o++) {
        for (unsigned words = 1; words <= ROCL_SORT_KEYS_MAX; words++) {
            config c = {20011, (size_t)1 << 30, 1, words, o, false, 0, 0};
            assert_int_equal(check(&c), 0);
            c.memory = 256 << 10;
            c.workers = 1 + words % 2;
            assert_true(check(&c) > 0);
        }
    }
}

/* Runs cut at groups: of one record, of a few, of many, and where nearly every key is a group. */
static void test_groups(void **state)
{
    (void)state;
    static const unsigned shifts[] = {1, 8, 16, 40, 62, 63};
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        for (order o = 0; o < ORDERS; o++) {
            config c = {20011, (size_t)1 << 30, 2, 2, o, i % 2, shifts[i], 0};
            check(&c);
            c.memory = 256 << 10;
            check(&c);
        }
    }
}

/* Read in parts, some of them empty; runs cut in pieces, in memory and in the file. */
static void test_parts(void **state)
{
    (void)state;
    static const size_t bounds[] = {1, 2, 7, 40};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        for (order o = 0; o < ORDERS; o++) {
            config c = {20011, (size_t)1 << 30, 2,        1 + (unsigned)i, o,
                        i % 2, i < 2 ? 8 : 0,   bounds[i]};
            check(&c);
            c.memory = 256 << 10;
            assert_true(check(&c) > 0);
            c.n = 5;
            check(&c);
        }
    }
}

/* From any record on, several at once; runs in memory and in the file. */
static void test_cursors(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 17, 513, 20011};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (order o = 0; o < ORDERS; o++) {
            config c = {
                sizes[i], (size_t)1 << 30,      2,      1 + (unsigned)i % ROCL_SORT_KEYS_MAX, o,
                i % 2,    i % 3 == 2 ? 16u : 0, CURSORS};
            check(&c);
            c.memory = 256 << 10;
            check(&c);
        }
    }
}

static void test_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 15, 16, 17, 33, 500, 513, 1023};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (order o = 0; o < ORDERS; o++) {
            config c = {sizes[i], 0, 1, 2, o, false, 0, 0};
            check(&c);
        }
    }
}

static void test_spilled(void **state)
{
    (void)state;
    config c = {200003, 256 << 10, 1, 2, RANDOM, false, 0, 0};
    assert_true(check(&c) > 1000000);
    c.order = JITTER;
    assert_true(check(&c) > 1000000);
}

static void test_workers(void **state)
{
    (void)state;
    for (order o = SORTED; o <= INTERLEAVED; o++) {
        config c = {60013, 1 << 20, 4, 3, o, o % 2, 0, 0};
        check(&c);
        c.memory = 64 << 20;
        assert_int_equal(check(&c), 0);
    }
}

/* Several sorters in one space, each with its records, none larger than its share. */
static void test_shared_space(void **state)
{
    (void)state;
    enum { SORTERS = 6, EACH = 20000 };
    rocl_sort_space *space = rocl_sort_space_new(1 << 20, 1, NULL);
    rocl_sorter *s[SORTERS];
    for (unsigned k = 0; k < SORTERS; k++)
        s[k] = rocl_sorter_new(space, 2);
    for (uint64_t i = 0; i < EACH; i++) {
        for (unsigned k = 0; k < SORTERS; k++) {
            uint64_t key[2] = {mix(i) >> 20, i};
            assert_int_equal(rocl_sorter_add(s[k], 0, key, &k, sizeof k, NULL), ROCL_OK);
        }
    }
    for (unsigned k = 0; k < SORTERS; k++)
        assert_int_equal(rocl_sorter_start(s[k], NULL), ROCL_OK);
    assert_true(rocl_sort_space_spilled(space) > 0);
    for (uint64_t i = 0, last = 0; i < EACH; i++) {
        for (unsigned k = 0; k < SORTERS; k++) {
            rocl_sort_record rec;
            bool more;
            assert_int_equal(rocl_sorter_next(s[k], &rec, &more, NULL), ROCL_OK);
            assert_true(more && rec.len == sizeof k && memcmp(rec.data, &k, sizeof k) == 0);
            assert_true(rec.key[0] >= last && rec.key[0] == mix(rec.key[1]) >> 20);
            if (k == SORTERS - 1)
                last = rec.key[0];
        }
    }
    for (unsigned k = 0; k < SORTERS; k++)
        rocl_sorter_free(s[k]);
    rocl_sort_space_free(space);
}

static void add_ascending(rocl_sorter *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(rocl_sorter_add(s, 0, &(uint64_t){i * 1000003}, &i, sizeof i, NULL),
                         ROCL_OK);
}

static void check_ascending(rocl_sorter *s, uint64_t n)
{
    rocl_sort_record rec;
    bool more;
    assert_int_equal(rocl_sorter_start(s, NULL), ROCL_OK);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(rocl_sorter_next(s, &rec, &more, NULL), ROCL_OK);
        assert_true(more && rec.key[0] == i * 1000003 && !memcmp(rec.data, &i, sizeof i));
    }
    assert_int_equal(rocl_sorter_next(s, &rec, &more, NULL), ROCL_OK);
    assert_false(more);
}

/* What one sorter had goes back to the system, and comes again for the next, while another one
 * keeps its own between. */
static void test_memory_again(void **state)
{
    (void)state;
    enum { EACH = 400000 };
    rocl_sort_space *space = rocl_sort_space_new((size_t)64 << 20, 1, NULL);
    rocl_sorter *stays = rocl_sorter_new(space, 1);
    for (unsigned k = 0; k < 3; k++) {
        rocl_sorter *s = rocl_sorter_new(space, 1);
        add_ascending(s, EACH);
        add_ascending(stays, k ? 0 : EACH);
        check_ascending(s, EACH);
        rocl_sorter_free(s);
    }
    check_ascending(stays, EACH);
    rocl_sorter_free(stays);
    assert_int_equal(rocl_sort_space_spilled(space), 0);
    rocl_sort_space_free(space);
}

static void test_bad_folder(void **state)
{
    (void)state;
    rocl_error *err = rocl_error_new();
    rocl_sort_space *space = rocl_sort_space_new(0, 1, "/no/such/folder");
    rocl_sorter *s = rocl_sorter_new(space, 1);
    const uint64_t key = 1;
    rocl_sort_record rec;
    bool more = true;
    assert_int_equal(rocl_sorter_add(s, 0, &key, "x", 1, err), ROCL_OK);
    assert_int_equal(rocl_sorter_seal(s, 0, err), ROCL_OUTPUT);
    assert_string_equal(rocl_error_text(err),
                        "temporary file in /no/such/folder: No such file or directory");
    assert_int_equal(rocl_sorter_next(s, &rec, &more, err), ROCL_OK);
    assert_false(more);
    rocl_sorter_free(s);
    rocl_sort_space_free(space);
    rocl_error_free(err);
}

static void test_misuse(void **state)
{
    (void)state;
    rocl_sort_space *space = rocl_sort_space_new(0, 2, NULL);
    assert_null(rocl_sorter_new(space, 0));
    assert_null(rocl_sorter_new(space, ROCL_SORT_KEYS_MAX + 1));
    rocl_sorter *s = rocl_sorter_new(space, 1);
    const uint64_t key = 1;
    assert_int_equal(rocl_sorter_add(s, 2, &key, "", 0, NULL), ROCL_INTERNAL);
    assert_int_equal(rocl_sorter_add(s, 0, &key, "", SIZE_MAX, NULL), ROCL_INTERNAL);
    rocl_sorter_free(s);
    rocl_sorter_free(NULL);
    rocl_sort_space_free(space);
    rocl_sort_space_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),       cmocka_unit_test(test_parts),
        cmocka_unit_test(test_cursors),      cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_spilled),      cmocka_unit_test(test_shared_space),
        cmocka_unit_test(test_workers),      cmocka_unit_test(test_bad_folder),
        cmocka_unit_test(test_misuse),       cmocka_unit_test(test_groups),
        cmocka_unit_test(test_memory_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* How the sequences of a capture are cut to parts that are written side by side. */
#include "timeline/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t records(const rocl_sequence *s)
{
    return s->records;
}

typedef struct cut_case {
    const char *what;
    uint64_t records[24];
    size_t count;
    uint64_t least;
    size_t parts;
    size_t firsts[ROCL_PARTS_MAX];
} cut_case;

static const cut_case cases[] = {
    {"none", {0}, 0, 10, 1, {0}},
    {"one", {1000000}, 1, 10, 1, {0}},
    {"all of them small", {3, 3, 3}, 3, 10, 1, {0}},
    {"one that has nearly all", {1, 1000, 1, 1}, 4, 10, 2, {0, 2}},
    {"two large ones", {800, 800}, 2, 10, 2, {0, 1}},
    {"a large one behind small ones", {60, 60, 800}, 3, 10, 2, {0, 2}},
    {"eight alike", {100, 100, 100, 100, 100, 100, 100, 100}, 8, 10, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {"neighbours share a part", {50, 50, 50, 50, 50, 50, 50, 50}, 8, 100, 3, {0, 3, 6}},
};

static size_t cut(const cut_case *c, rocl_sequence *all, rocl_part_range *parts)
{
    for (size_t i = 0; i < c->count; i++)
        all[i] = (rocl_sequence){.number = i, .records = c->records[i]};
    return rocl_cut_parts(all, c->count, records, c->least, parts);
}

static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rocl_sequence all[24];
        rocl_part_range parts[ROCL_PARTS_MAX];
        size_t n = cut(&cases[i], all, parts);
        if (n != cases[i].parts)
            fail_msg("%s: %zu parts", cases[i].what, n);
        for (size_t k = 0; k < n; k++)
            if (parts[k].first != cases[i].firsts[k])
                fail_msg("%s: part %zu begins at %zu", cases[i].what, k, parts[k].first);
    }
}

/* Every sequence is in one part, whatever their sizes are, and no part but the last is tiny. */
static void test_cover(void **state)
{
    enum { COUNT = 5000 };
    static rocl_sequence all[COUNT];
    uint64_t x = 1;
    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        rocl_part_range parts[ROCL_PARTS_MAX];
        size_t count = round % 2 ? round : COUNT, next = 0;
        for (size_t i = 0; i < count; i++) {
            x = rocl_mix64(x + i);
            all[i] = (rocl_sequence){.number = i, .records = 1 + x % (1u << x % 20)};
        }
        size_t n = rocl_cut_parts(all, count, records, 1000, parts);
        assert_in_range(n, 1, ROCL_PARTS_MAX);
        for (size_t k = 0; k < n; k++) {
            uint64_t weight = 0;
            assert_int_equal(parts[k].first, next);
            next = parts[k].last;
            for (size_t i = parts[k].first; i < next; i++)
                weight += all[i].records;
            assert_int_equal(parts[k].weight, weight);
            assert_true(k + 1 == n || weight >= 500);
        }
        assert_int_equal(next, count);
    }
}

/* Each part reads the records of its sequences, in order. */
static void test_read(void **state)
{
    const cut_case *c = &cases[6];
    rocl_sequence all[24];
    rocl_part_range parts[ROCL_PARTS_MAX];
    size_t n = cut(c, all, parts);
    rocl_sort_space *space = rocl_sort_space_new(1 << 20, 1, NULL);
    rocl_sorter *s = rocl_sorter_new(space, 4);
    (void)state;
    for (uint64_t i = c->count; i-- > 0;)
        for (uint64_t k = 0; k < c->records[i]; k++) {
            const uint64_t key[4] = {i << ROCL_SEQUENCE_SHIFT | k, k, 0, k};
            assert_int_equal(rocl_sorter_add(s, 0, key, NULL, 0, NULL), ROCL_OK);
        }
    assert_int_equal(rocl_start_parts(s, all, parts, n, NULL), ROCL_OK);
    for (size_t i = 0; i < n; i++) {
        rocl_sort_record rec;
        bool more;
        for (uint64_t k = 0; k < c->records[i]; k++) {
            assert_int_equal(rocl_sorter_next_of(s, i, &rec, &more, NULL), ROCL_OK);
            assert_true(more);
            assert_int_equal(rocl_sequence_of(rec.key), i);
            assert_int_equal(rec.key[1], k);
        }
        assert_int_equal(rocl_sorter_next_of(s, i, &rec, &more, NULL), ROCL_OK);
        assert_false(more);
    }
    rocl_sorter_free(s);
    rocl_sort_space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

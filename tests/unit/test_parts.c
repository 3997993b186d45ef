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
    size_t firsts[ROCL_DRAWN_AT_ONCE_MAX];
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

static size_t cut(const cut_case *c, rocl_sequence *all, rocl_draw_range *parts)
{
    for (size_t i = 0; i < c->count; i++)
        all[i] = (rocl_sequence){.number = i, .records = c->records[i]};
    return rocl_cut_draw_ranges(all, c->count, records, c->least, ROCL_DRAWN_AT_ONCE_MAX, parts);
}

static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rocl_sequence all[24];
        rocl_draw_range parts[ROCL_DRAWINGS_MAX];
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
        rocl_draw_range parts[ROCL_DRAWINGS_MAX];
        size_t count = round % 2 ? round : COUNT, next = 0;
        for (size_t i = 0; i < count; i++) {
            x = rocl_mix64(x + i);
            all[i] = (rocl_sequence){.number = i, .records = 1 + x % (1u << x % 20)};
        }
        const size_t most = round % 3 ? ROCL_DRAWINGS_MAX : ROCL_DRAWN_AT_ONCE_MAX;
        size_t n = rocl_cut_draw_ranges(all, count, records, 1000, most, parts);
        assert_in_range(n, 1, most);
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
    rocl_draw_range parts[ROCL_DRAWINGS_MAX];
    size_t n = cut(c, all, parts);
    rocl_sort_space *space = rocl_sort_space_new(1 << 20, 1, NULL);
    rocl_sorter *s = rocl_sorter_new(space, 4);
    (void)state;
    for (uint64_t i = c->count; i-- > 0;)
        for (uint64_t k = 0; k < c->records[i]; k++) {
            const uint64_t key[4] = {i << ROCL_SEQUENCE_SHIFT | k, k, 0, k};
            assert_int_equal(rocl_sorter_add(s, 0, key, NULL, 0, NULL), ROCL_OK);
        }
    assert_int_equal(rocl_start_draw_ranges(s, all, parts, n, NULL), ROCL_OK);
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

/* ---- pieces of a thread ---- */

/* Calls of a thread behind those of two others. `kind` 0: short ones with gaps; 1: with a marker
 * around each hundred; 2: back to back; 3: a marker around all; 4: the first half back to back; 5:
 * GPU work that is back to back; 6: where it may not be cut. */
enum { CALLS = 20000, CALL = 1000 };

typedef struct thread_call {
    uint64_t start, end;
} thread_call;

static thread_call make_call(unsigned kind, uint64_t i)
{
    const bool tight = kind == 2 || kind >= 5 || (kind == 4 && i < CALLS / 2);
    if (kind == 3 && i == 0)
        return (thread_call){0, CALLS * CALL};
    if (kind == 1 && i % 100 == 0)
        return (thread_call){i * CALL, (i + 100) * CALL - 1};
    return (thread_call){i * CALL + 1, (i + 1) * CALL - (tight ? 0 : 2) + tight};
}

static rocl_sequence_kind kind_of(unsigned kind, uint64_t thread)
{
    return kind >= 5 && thread == 2 ? ROCL_SEQUENCE_GPU : ROCL_SEQUENCE_HOST;
}

static void add_call(rocl_sorter *s, unsigned worker, rocl_sequence_kind kind, uint64_t thread,
                     thread_call c, uint64_t row)
{
    const rocl_sort_bound b =
        rocl_sequence_bound(rocl_sequence_number(kind, (uint32_t)thread), c.start);
    const uint64_t key[4] = {b.word[0], b.word[1], ~c.end, row};
    assert_int_equal(rocl_sorter_add(s, worker, key, NULL, 0, NULL), ROCL_OK);
}

/* Cuts them, filled by so many workers in rows of any order, and reads the parts. */
static size_t cut_calls(unsigned kind, unsigned workers, bool shuffled, rocl_draw_range *parts)
{
    rocl_sequence all[3];
    rocl_sort_space *space = rocl_sort_space_new(workers == 2 ? 64 << 10 : 64 << 20, workers, NULL);
    rocl_sorter *s = rocl_sorter_new(space, 4);
    rocl_sorter_group(s, ROCL_SEQUENCE_SHIFT);
    for (uint32_t i = 0; i < 3; i++)
        all[i] = (rocl_sequence){.number = rocl_sequence_number(kind_of(kind, i), i),
                                 .records = i == 2 ? CALLS : 100,
                                 .first = i == 2 ? make_call(kind, 0).start : 0,
                                 .last = make_call(kind, i == 2 ? CALLS - 1 : 99).start};
    for (uint64_t i = 0; i < CALLS; i++) {
        const uint64_t row = shuffled ? i * 7919 % CALLS : i;
        if (i < 100)
            for (uint64_t thread = 0; thread < 2; thread++)
                add_call(s, 0, ROCL_SEQUENCE_HOST, thread, make_call(0, i), i);
        add_call(s, (unsigned)(i / 500 % workers), kind_of(kind, 2), 2, make_call(kind, row), row);
    }
    size_t count = rocl_cut_draw_ranges(all, 3, records, 1000, ROCL_DRAWN_AT_ONCE_MAX, parts);
    assert_int_equal(count, 1);
    assert_int_equal(rocl_cut_pieces(s, all, kind == 5, 1000, parts, &count, NULL), ROCL_OK);
    assert_in_range(count, 1, ROCL_DRAWN_AT_ONCE_MAX);
    assert_int_equal(rocl_start_draw_ranges(s, all, parts, count, NULL), ROCL_OK);
    uint64_t reach = 0, n = 0;
    for (size_t i = 0; i < count; i++) {
        rocl_sort_record rec;
        bool more = true;
        assert_int_equal(parts[i].piece, i);
        for (bool first = true; rocl_sorter_next_of(s, i, &rec, &more, NULL) == ROCL_OK && more;
             first = false) {
            const uint64_t thread = rocl_sequence_index(rocl_sequence_of(rec.key));
            n++;
            if (thread < 2) {
                assert_int_equal(i, 0);
                continue;
            }
            if (first && i && kind != 5)
                assert_true(rec.key[1] > reach); /* nothing is open, nor ends just then */
            reach = ~rec.key[2] > reach ? ~rec.key[2] : reach;
        }
    }
    assert_int_equal(n, CALLS + 200);
    rocl_sorter_free(s);
    rocl_sort_space_free(space);
    return count;
}

/* Pieces are the same whoever brought which record, and about as many as there can be. */
static void test_pieces(void **state)
{
    static const size_t wanted[] = {8, 8, 1, 1, 5, 8, 1};
    (void)state;
    for (unsigned kind = 0; kind < sizeof wanted / sizeof *wanted; kind++) {
        rocl_draw_range one[ROCL_DRAWN_AT_ONCE_MAX], parts[ROCL_DRAWN_AT_ONCE_MAX];
        const size_t n = cut_calls(kind, 1, false, one);
        if (n != wanted[kind])
            fail_msg("calls of kind %u: %zu pieces", kind, n);
        for (unsigned workers = 1; workers < 4; workers++) {
            assert_int_equal(cut_calls(kind, workers, workers > 1, parts), n);
            for (size_t i = 0; i < n; i++)
                assert_memory_equal(parts[i].begin.word, one[i].begin.word,
                                    sizeof one[i].begin.word);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

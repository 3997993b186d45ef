/* The engine of begins and ends: each rule with a short sequence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "source/ranges.h"

#include <stdio.h>
#include <string.h>

/* "b7" begins with the id 7, "e7" ends; each is at its place in the sequence. Ranges come out as
 * "begin-end", as places; "x" is a half that is not there. */
typedef struct half {
    char what;
    uint64_t id;
    unsigned place;
} half;

static rocl_range_half read_half(const uint8_t *data)
{
    half h;
    memcpy(&h, data, sizeof h);
    return (rocl_range_half){h.id, h.what == 'b'};
}

static rocl_status put_range(void *ctx, const uint8_t *begin, const rocl_sort_record *end,
                             rocl_error *err)
{
    char *out = ctx;
    half h;
    (void)err;
    const uint8_t *const halves[] = {begin, end ? end->data : NULL};
    for (size_t i = 0; i < 2; i++) {
        char place[16] = "x";
        if (halves[i]) {
            memcpy(&h, halves[i], sizeof h);
            snprintf(place, sizeof place, "%u", h.place);
        }
        strcat(strcat(out, place), i ? " " : "-");
    }
    return ROCL_OK;
}

/* Joins a sequence; "/" begins the next scope. */
static void check(unsigned rules, const char *sequence, const char *want)
{
    const rocl_range_format format = {2, rules, read_half, put_range};
    rocl_sort_space *space = rocl_sort_space_new(1 << 20, 1, NULL);
    rocl_sorter *sorter = rocl_sorter_new(space, 3);
    char got[256] = "";
    uint64_t scope = 1;
    unsigned place = 0;
    for (const char *p = sequence; *p; p += *p == ' ') {
        if (*p == '/') {
            scope++;
            p++;
            continue;
        }
        const half h = {.what = p[0], .id = (uint64_t)(p[1] - '0'), .place = place++};
        const uint64_t key[] = {scope / 2, scope % 2, h.place};
        assert_int_equal(rocl_sorter_add(sorter, 0, key, &h, sizeof h, NULL), ROCL_OK);
        p += 2;
    }
    assert_int_equal(rocl_ranges_join(sorter, &format, got, NULL), ROCL_OK);
    assert_string_equal(got, want);
    rocl_sorter_free(sorter);
    rocl_sort_space_free(space);
}

static void ids_are_matched_last_in_first_out(void **state)
{
    (void)state;
    check(0, "b1 b1 e1 e1", "1-2 0-3 ");
    check(0, "b1 b2 e1 e2", "0-2 1-3 ");
    check(ROCL_RANGES_NEST, "b1 b2 e1 e2", "0-2 1-3 ");
}

static void ends_with_another_id_nest_or_stand_alone(void **state)
{
    (void)state;
    check(0, "b1 b2 e3 e0", "x-2 x-3 1-x 0-x ");
    check(ROCL_RANGES_NEST, "b1 b2 e3 e0", "1-2 0-3 ");
    check(ROCL_RANGES_NEST, "b1 e1 e1", "0-1 x-2 ");
}

static void begins_replace_those_with_their_id(void **state)
{
    (void)state;
    check(ROCL_RANGES_REPLACE, "b1 b1 e1 e1", "0-x 1-2 x-3 ");
    check(ROCL_RANGES_REPLACE, "b1 b2 e1", "0-2 1-x ");
    check(0, "b1 b1", "1-x 0-x ");
}

static void scopes_have_nothing_in_common(void **state)
{
    (void)state;
    check(ROCL_RANGES_NEST, "b1 / e1", "0-x x-1 ");
    check(ROCL_RANGES_NEST, "b1 b2 / / b1 e1 e1", "1-x 0-x 2-3 x-4 ");
}

/* More open ranges than are looked through one by one. */
static void many_open_ranges_end_in_any_order(void **state)
{
    rocl_open_stack stack = {0};
    static rocl_open all[1000];
    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        all[i].id = i / 2;
        rocl_open_push(&stack, &all[i]);
    }
    for (size_t i = 0; i < 1000; i++) {
        const size_t id = i * 7 % 500;
        rocl_open *o = rocl_open_find(&stack, id);
        assert_ptr_equal(o, &all[2 * id + (i < 500)]);
        rocl_open_remove(&stack, o);
    }
    assert_null(stack.top);
    assert_null(stack.chains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_matched_last_in_first_out),
        cmocka_unit_test(ends_with_another_id_nest_or_stand_alone),
        cmocka_unit_test(begins_replace_those_with_their_id),
        cmocka_unit_test(scopes_have_nothing_in_common),
        cmocka_unit_test(many_open_ranges_end_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

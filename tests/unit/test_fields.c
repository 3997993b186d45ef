/* Every byte of a record is in a field of its list, or a hole that is known here: a member that
 * nobody has added to the list is found. What the lists code comes back as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "model/fields.h"

/* Bytes between members and after the last: what alignment to 8 bytes leaves. */
static const size_t holes[ROCL_KINDS] = {
    [ROCL_REGION] = 4,        [ROCL_MARKER] = 4,          [ROCL_INSTANT] = 4, [ROCL_COUNTER] = 4,
    [ROCL_ALLOC] = 4 + 4 + 7, [ROCL_SCRATCH] = 4 + 4 + 7, [ROCL_FLOW] = 3,
};

static void test_lists_cover_records(void **state)
{
    (void)state;
    for (rocl_kind kind = 0; kind < ROCL_KINDS; kind++) {
        const rocl_field_list *l = &rocl_field_lists[kind];
        const size_t size = rocl_kind_size(kind);
        uint8_t covered[sizeof(rocl_any_record)] = {0};
        size_t missing = 0;
        for (size_t i = 0; i < l->count; i++)
            for (size_t k = 0; k < l->all[i].width; k++)
                if (covered[l->all[i].offset + k]++)
                    fail_msg("%s: %s overlaps another field", rocl_kind_name(kind),
                             l->all[i].member);
        for (size_t k = 0; k < size; k++)
            missing += !covered[k];
        if (missing != holes[kind])
            fail_msg("%s: %zu bytes are in no field", rocl_kind_name(kind), missing);
    }
}

static uint64_t seed = 1;

/* Small numbers, large ones, ROCL_NONE. */
static uint64_t next_number(void)
{
    seed += 0x9e3779b97f4a7c15u;
    const uint64_t v = rocl_mix64(seed);
    return v % 4 == 0 ? v >> 58 : v % 4 == 1 ? ROCL_NONE : v;
}

/* Is it among the bytes, rather than in a key or of the batch? */
static int is_coded(const rocl_field *f)
{
    return f->type >= ROCL_AS_INDEX && f->type <= ROCL_AS_REAL;
}

static void test_records_come_back(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++)
        for (rocl_kind kind = 0; kind < ROCL_KINDS; kind++) {
            const rocl_field_list *l = &rocl_field_lists[kind];
            rocl_any_record r, back;
            uint8_t bytes[ROCL_FIELDS_MAX];
            memset(&r, 0, sizeof r);
            memset(&back, 0, sizeof back);
            for (size_t i = 0; i < l->count; i++) {
                uint64_t v = next_number();
                if (l->all[i].type == ROCL_AS_BOOL)
                    v &= 1;
                if (is_coded(&l->all[i]))
                    memcpy((char *)&r + l->all[i].offset, &v, l->all[i].width);
            }
            const uint8_t *p = bytes, *end = rocl_fields_put(bytes, kind, &r.e);
            assert_true(end <= bytes + sizeof bytes);
            assert_true(rocl_fields_get(&p, end, kind, &back.e));
            assert_ptr_equal(p, end);
            assert_memory_equal(&r, &back, rocl_kind_size(kind));
            p = bytes;
            assert_false(rocl_fields_get(&p, end - 1, kind, &back.e));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_cover_records),
        cmocka_unit_test(test_records_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

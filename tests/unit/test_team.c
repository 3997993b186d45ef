/* Batches of a team as bytes: every field of every kind of record arrives, with its arguments,
 * packets and instances, under the reader's own texts. Damaged messages are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/strings.h"
#include "team/wire.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed += 0x9e3779b97f4a7c15u;
    return rocl_mix64(seed);
}

/* Small numbers, large ones, ROCL_NONE, and many that are the same. */
static uint64_t next_number(void)
{
    const uint64_t v = next_random();
    switch (v % 5) {
    case 0:
        return 0;
    case 1:
        return v >> 56;
    case 2:
        return ROCL_NONE;
    case 3:
        return v >> 20;
    default:
        return v;
    }
}

enum { TEXTS = 50, RECORDS = 300, ARGS = 3 };

static uint32_t next_text(void)
{
    const uint32_t v = (uint32_t)(next_random() % (TEXTS + 1));
    return v == TEXTS ? ROCL_NONE : v;
}

static bool has_args(rocl_kind kind)
{
    return kind == ROCL_REGION || kind == ROCL_MARKER || kind == ROCL_INSTANT ||
           kind == ROCL_DISPATCH || kind == ROCL_COUNTER;
}

static uint32_t *arg_count(rocl_kind kind, void *record)
{
    return kind == ROCL_DISPATCH || kind == ROCL_COUNTER ? &((rocl_dispatch *)record)->arg_count
                                                         : &((rocl_region *)record)->arg_count;
}

static uint32_t *arg_first(rocl_kind kind, void *record)
{
    return kind == ROCL_DISPATCH || kind == ROCL_COUNTER ? &((rocl_dispatch *)record)->arg_first
                                                         : &((rocl_region *)record)->arg_first;
}

/* The texts of a record. Returns how many. */
static size_t texts_of(rocl_kind kind, void *record, uint32_t *texts[4])
{
    rocl_event *e = record;
    size_t n = 0;
    texts[n++] = &e->name;
    texts[n++] = &e->category;
    if (kind == ROCL_REGION || kind == ROCL_MARKER || kind == ROCL_INSTANT)
        texts[n++] = &((rocl_region *)record)->function;
    if (kind == ROCL_DISPATCH || kind == ROCL_COUNTER)
        texts[n++] = &((rocl_dispatch *)record)->region_name;
    return n;
}

/* Random bytes, but for what refers to something. */
static void fill_record(rocl_kind kind, void *record, uint32_t first)
{
    const size_t size = rocl_kind_size(kind);
    uint32_t *texts[4];
    for (size_t i = 0; i + 8 <= size; i += 8) {
        const uint64_t v = next_number();
        memcpy((char *)record + i, &v, sizeof v);
    }
    const size_t n = texts_of(kind, record, texts);
    for (size_t i = 0; i < n; i++)
        *texts[i] = next_text();
    if (has_args(kind)) {
        *arg_count(kind, record) = (uint32_t)(next_random() % (ARGS + 1));
        *arg_first(kind, record) = first;
    }
    if (kind == ROCL_ALLOC || kind == ROCL_SCRATCH)
        ((rocl_alloc *)record)->unpaired = next_random() & 1;
    if (kind == ROCL_FLOW)
        ((rocl_flow *)record)->next = next_random() & 1;
    if (kind == ROCL_COUNTER) {
        rocl_counter_value *v = record;
        v->instances = (uint32_t)(next_random() % 4);
        v->instance = v->instances ? (uint32_t)(next_random() % 5) + 1 : 0;
    }
}

/* Bytes of a record that are not sent: holes, and the place of its arguments. */
static const size_t holes[ROCL_KINDS] = {
    [ROCL_REGION] = 8,                                                     /* 4, and arg_first */
    [ROCL_MARKER] = 8,      [ROCL_INSTANT] = 8,       [ROCL_DISPATCH] = 4, /* arg_first */
    [ROCL_COUNTER] = 4 + 4, [ROCL_ALLOC] = 4 + 4 + 7, [ROCL_SCRATCH] = 4 + 4 + 7, [ROCL_FLOW] = 3,
};

typedef struct world {
    rocl_batch b;
    char *records;
    rocl_arg args[ARGS * 2];
    rocl_packet packets[2];
    rocl_instance instances[8];
} world;

static void make_world(world *w, rocl_kind kind, size_t count)
{
    memset(w, 0, sizeof *w);
    w->records = calloc(count + 1, rocl_kind_size(kind));
    assert_non_null(w->records);
    for (size_t i = 0; i < ARGS * 2; i++) {
        w->args[i] = (rocl_arg){next_text(), next_text(), "a\0value", next_random() % 8};
        if (next_random() % 4 == 0)
            w->args[i].value = NULL;
    }
    for (size_t i = 0; i < 2; i++)
        w->packets[i].queue_index = next_random();
    for (size_t i = 0; i < 8; i++)
        w->instances[i] = (rocl_instance){(double)i, 1, 2, 3, 4, (int32_t)i};
    for (size_t i = 0; i < count; i++)
        fill_record(kind, w->records + i * rocl_kind_size(kind), (uint32_t)(next_random() % ARGS));
    w->b = (rocl_batch){.kind = kind,
                        .count = count,
                        .any = w->records,
                        .args = w->args,
                        .packets = w->packets,
                        .packet_count = 2,
                        .instances = w->instances};
}

/* Texts arrive under other numbers. */
static uint32_t theirs(uint32_t text)
{
    return text == 0 || text == ROCL_NONE ? text : text + 1000;
}

static void check_record(rocl_kind kind, const world *w, size_t i, const rocl_wire_batch *got)
{
    const size_t size = rocl_kind_size(kind);
    char *a = w->records + i * size, *b = (char *)got->b.any + i * size;
    uint32_t *ours[4], *read[4];
    const size_t n = texts_of(kind, a, ours);
    texts_of(kind, b, read);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(*read[k], theirs(*ours[k]));
        *read[k] = *ours[k];
    }
    if (has_args(kind)) {
        const uint32_t count = *arg_count(kind, a);
        assert_int_equal(*arg_count(kind, b), count);
        for (uint32_t k = 0; k < count; k++) {
            const rocl_arg *x = &w->args[*arg_first(kind, a) + k];
            const rocl_arg *y = &got->args[*arg_first(kind, b) + k];
            assert_int_equal(y->type, theirs(x->type));
            assert_int_equal(y->name, theirs(x->name));
            assert_int_equal(!y->value, !x->value);
            if (x->value) {
                assert_int_equal(y->value_len, x->value_len);
                assert_memory_equal(y->value, x->value, x->value_len);
                assert_int_equal(y->value[y->value_len], 0);
            }
        }
        *arg_first(kind, b) = *arg_first(kind, a);
    }
    size_t unlike = 0;
    for (size_t k = 0; k < size; k++)
        unlike += a[k] != b[k];
    /* Holes may differ, and nothing else. */
    assert_true(unlike <= holes[kind]);
}

static rocl_status read_back(rocl_wire_batch *got, rocl_buf *bytes, const rocl_wire_map *map)
{
    rocl_byte_reader r = {bytes->data, bytes->data + bytes->len, false};
    return rocl_wire_get_batch(got, &r, map, NULL);
}

static void test_batches(void **state)
{
    uint32_t ids[TEXTS];
    rocl_wire_batch got = {0};
    (void)state;
    for (uint32_t i = 0; i < TEXTS; i++)
        ids[i] = theirs(i);
    const rocl_wire_map map = {ids, TEXTS};
    for (int round = 0; round < 20; round++)
        for (rocl_kind kind = 0; kind < ROCL_KINDS; kind++) {
            world w;
            rocl_buf bytes = {0};
            rocl_wire_texts texts = {0};
            make_world(&w, kind, round ? next_random() % RECORDS : 0);
            rocl_wire_put_batch(&bytes, &w.b, &texts);
            assert_false(bytes.failed);
            assert_int_equal(read_back(&got, &bytes, &map), ROCL_OK);
            assert_int_equal(got.b.kind, kind);
            assert_int_equal(got.b.count, w.b.count);
            for (size_t i = 0; i < w.b.count; i++)
                check_record(kind, &w, i, &got);
            if (kind == ROCL_COUNTER && got.b.instances)
                assert_memory_equal(got.b.instances, w.instances, sizeof w.instances[0]);
            /* All texts are new once. */
            rocl_buf again = {0};
            rocl_wire_put_batch(&again, &w.b, &texts);
            assert_int_equal(texts.fresh_count, 0);
            rocl_wire_texts_free(&texts);
            rocl_buf_free(&again);
            rocl_buf_free(&bytes);
            free(w.records);
        }
    rocl_wire_batch_free(&got);
}

/* A change of any byte of a record is seen in the message, but for holes. So a new field that
 * nobody has added to the columns is found. */
static void test_all_fields_are_sent(void **state)
{
    (void)state;
    for (rocl_kind kind = 0; kind < ROCL_KINDS; kind++) {
        const size_t size = rocl_kind_size(kind);
        rocl_any_record record = {0};
        const rocl_batch b = {.kind = kind, .count = 1, .any = &record};
        rocl_buf zeros = {0};
        rocl_wire_texts texts = {0};
        size_t unsent = 0;
        rocl_wire_put_batch(&zeros, &b, &texts);
        for (size_t i = 0; i < size; i++) {
            rocl_buf bytes = {0};
            memset(&record, 0, sizeof record);
            ((char *)&record)[i] = 1;
            if (has_args(kind) && *arg_count(kind, &record)) /* there are none to send */
                continue;
            rocl_wire_put_batch(&bytes, &b, &texts);
            unsent += bytes.len == zeros.len && !memcmp(bytes.data, zeros.data, bytes.len);
            rocl_buf_free(&bytes);
        }
        if (unsent != holes[kind])
            print_message("kind %s: %zu bytes are not sent\n", rocl_kind_name(kind), unsent);
        assert_int_equal(unsent, holes[kind]);
        rocl_wire_texts_free(&texts);
        rocl_buf_free(&zeros);
    }
}

/* Messages that are cut, or have other bytes: refused, or read as something, within bounds. */
static void test_damage(void **state)
{
    uint32_t ids[TEXTS] = {0};
    const rocl_wire_map map = {ids, TEXTS};
    rocl_wire_batch got = {0};
    size_t refused = 0;
    (void)state;
    for (int round = 0; round < 3000; round++) {
        const rocl_kind kind = (rocl_kind)(next_random() % ROCL_KINDS);
        world w;
        rocl_buf bytes = {0};
        rocl_wire_texts texts = {0};
        make_world(&w, kind, 1 + next_random() % 20);
        rocl_wire_put_batch(&bytes, &w.b, &texts);
        if (round % 2)
            bytes.len = next_random() % bytes.len;
        else
            bytes.data[next_random() % bytes.len] ^= (uint8_t)(1 + next_random() % 255);
        if (bytes.len > 4 || round % 2) {
            uint8_t *own = malloc(bytes.len + 1); /* sanitizers see its end */
            memcpy(own, bytes.data, bytes.len);
            rocl_byte_reader r = {own, own + bytes.len, false};
            uint64_t count = 0;
            const uint8_t *p = own;
            /* A number of records that is too large is only memory. */
            if (rocl_varint_get(&p, own + bytes.len, &count) &&
                rocl_varint_get(&p, own + bytes.len, &count) && count < 100000)
                refused += rocl_wire_get_batch(&got, &r, &map, NULL) != ROCL_OK;
            free(own);
        }
        rocl_wire_texts_free(&texts);
        rocl_buf_free(&bytes);
        free(w.records);
    }
    assert_true(refused > 1000);
    rocl_wire_batch_free(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_all_fields_are_sent),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which call launched which work: found by stack id alone and as arrows, against the rule. */
#include "timeline/links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { EVENTS = 400, WORKERS = 3 };

static const rocl_kind kinds[] = {ROCL_REGION, ROCL_MARKER, ROCL_INSTANT, ROCL_DISPATCH, ROCL_COPY};

typedef struct event {
    rocl_kind kind;
    rocl_event e;
} event;

static bool is_call(const event *e)
{
    return e->kind == ROCL_REGION || e->kind == ROCL_INSTANT;
}

static bool is_work(const event *e)
{
    return e->kind == ROCL_DISPATCH || e->kind == ROCL_COPY;
}

/* Does a come before b, as the call that launched something? */
static bool comes_before(const event *a, const event *b)
{
    if (a->kind != b->kind)
        return a->kind == ROCL_REGION;
    return a->e.start != b->e.start ? a->e.start < b->e.start : a->e.id < b->e.id;
}

static const event *find_call(const event *all, uint64_t stack_id)
{
    const event *call = NULL;
    for (const event *e = all; e < all + EVENTS; e++)
        if (is_call(e) && e->e.stack_id == stack_id && (!call || comes_before(e, call)))
            call = e;
    return call;
}

static rocl_link expected_link(const event *all, const event *e, bool arrows)
{
    const event *call = find_call(all, e->e.stack_id);
    bool caused = false; /* is there work of the stack id, that an arrow can lead to? */
    if (!e->e.stack_id || (!is_call(e) && !is_work(e)))
        return ROCL_LINK_NONE;
    for (const event *w = all; w < all + EVENTS; w++)
        caused |= is_work(w) && w->e.stack_id == e->e.stack_id &&
                  (!arrows || (call && w->e.start >= call->e.start));
    if (is_call(e))
        return caused && e == call ? ROCL_LINK_CALL : ROCL_LINK_NONE;
    return !arrows || (call && e->e.start >= call->e.start) ? ROCL_LINK_WORK : ROCL_LINK_NONE;
}

static void fill_events(event *all, uint64_t seed, unsigned stacks)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint64_t x = rocl_mix64(seed * EVENTS + i + 1);
        all[i].kind = kinds[x % (sizeof kinds / sizeof *kinds)];
        all[i].e = (rocl_event){.id = i,
                                .start = (int64_t)(x >> 8 & 31),
                                .stack_id = (x >> 16) % stacks,
                                .name = ROCL_NONE,
                                .category = ROCL_NONE,
                                .thread = ROCL_NONE};
        all[i].e.end = all[i].e.start + (int64_t)(x >> 40 & 7);
    }
}

/* Each event is a batch of its own, for any of the workers. */
static void add_event(rocl_encoder *encoder, const rocl_capture *c, const event *e, unsigned worker)
{
    rocl_any_record record = {.e = e->e};
    if (e->kind == ROCL_COPY)
        record.copy = (rocl_copy){.e = e->e, .src = ROCL_NONE, .dst = ROCL_NONE};
    rocl_batch b = {.capture = c, .kind = e->kind, .count = 1, .any = &record};
    assert_int_equal(rocl_links_note(encoder->links, worker, &b, NULL), ROCL_OK);
    assert_int_equal(rocl_encode_batch(encoder, worker, &b, NULL), ROCL_OK);
}

static void check_links(rocl_trace *t, const event *all, bool arrows)
{
    rocl_links links;
    const rocl_capture c = {.trace = t, .process_count = 1};
    rocl_encoder encoder = {.trace = t, .links = &links};
    uint64_t records = 0;
    assert_int_equal(rocl_encoder_open(&encoder, NULL), ROCL_OK);
    encoder.sorter = rocl_record_sorter(t);
    assert_int_equal(rocl_links_open(&links, t, arrows, NULL), ROCL_OK);
    for (unsigned i = 0; i < EVENTS; i++)
        add_event(&encoder, &c, &all[i], (unsigned)(rocl_mix64(i) % WORKERS));
    assert_int_equal(rocl_links_resolve(&links, &encoder.sorter, NULL), ROCL_OK);
    assert_int_equal(rocl_sorter_start(encoder.sorter, NULL), ROCL_OK);
    for (bool more = true; more;) {
        rocl_sort_record rec;
        rocl_track_event e;
        assert_int_equal(rocl_sorter_next(encoder.sorter, &rec, &more, NULL), ROCL_OK);
        if (!more)
            break;
        assert_true(rocl_record_decode(&rec, &e));
        rocl_link link = rocl_links_of(&links, &e),
                  wanted = expected_link(all, &all[e.row], arrows);
        if (link != wanted)
            fail_msg("row %u, kind %d, stack id %u: %d, not %d", (unsigned)e.row, e.kind,
                     (unsigned)e.stack_id, link, wanted);
        records++;
    }
    assert_int_equal(records, EVENTS);
    rocl_links_free(&links);
    rocl_encoder_forget(&encoder);
    rocl_encoder_close(&encoder);
}

static void test_rule(void **state)
{
    static event all[EVENTS];
    rocl_trace t = {.opt = {.jobs = WORKERS}, .space = rocl_sort_space_new(1 << 20, WORKERS, NULL)};
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        fill_events(all, seed, seed % 2 ? 30 : 3000);
        check_links(&t, all, false);
        check_links(&t, all, true);
    }
    rocl_sort_space_free(t.space);
}

/* More events than a task takes: stack ids that lie across the bounds of tasks, and one of more
 * events than a task has. */
static void test_ranges(void **state)
{
    enum { EACH = 7, LARGE = 600000, BEFORE = 30000, AFTER = 100000 };
    rocl_trace t = {.opt = {.jobs = WORKERS}, .space = rocl_sort_space_new(8 << 20, WORKERS, NULL)};
    rocl_links links;
    (void)state;
    assert_int_equal(rocl_links_open(&links, &t, true, NULL), ROCL_OK);
    for (uint64_t id = 1; id <= BEFORE + 1 + AFTER; id++) {
        /* The call; work from its begin on, but every 5th before it; of every 3rd stack id no call.
         */
        const uint64_t works = id == BEFORE + 1 ? LARGE : EACH;
        for (uint64_t i = 0; i <= works; i++) {
            const rocl_kind kind = i ? ROCL_DISPATCH : ROCL_REGION;
            rocl_any_record r = {.e = {.id = id << 20 | i, .stack_id = id, .start = i % 5 ? 9 : 8}};
            r.e.start = i ? r.e.start : 9;
            rocl_batch b = {.kind = kind, .count = 1, .any = &r};
            if (i || id % 3)
                assert_int_equal(rocl_links_note(&links, (unsigned)(id % WORKERS), &b, NULL),
                                 ROCL_OK);
        }
    }
    rocl_sorter *none = NULL;
    assert_int_equal(rocl_links_resolve(&links, &none, NULL), ROCL_OK);
    for (uint64_t id = 1; id <= BEFORE + 1 + AFTER; id++)
        for (uint64_t i = 0; i <= (id == BEFORE + 1 ? LARGE : EACH); i++)
            if (rocl_idset_has(&links.rows[i ? ROCL_DISPATCH : ROCL_REGION], id << 20 | i) !=
                (id % 3 && (!i || i % 5)))
                fail_msg("stack id %u, event %u", (unsigned)id, (unsigned)i);
    rocl_links_free(&links);
    rocl_sort_space_free(t.space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule), cmocka_unit_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Filters on large, odd and many batches. */
#include "tests/unit/filter_world.h"

#include <pthread.h>

typedef struct big {
    world *w;
    rocl_filter *f;
    unsigned worker;
    size_t passed;
} big;

/* Records of which start decides whether they pass; all else must arrive unchanged, in order. */
static void check_batch(big *b, rocl_kind kind, size_t count, uint32_t pattern)
{
    size_t size = rocl_kind_size(kind), expected = 0;
    unsigned char *room = malloc(count * size + 1), *copy = malloc(count * size + 1);
    assert_true(room && copy);
    for (size_t i = 0; i < count * size; i++)
        room[i] = (unsigned char)(i * 31 + i / 251);
    rocl_batch batch = {
        .capture = &b->w->captures[0].pub, .kind = kind, .count = count, .any = room};
    for (size_t i = 0; i < count; i++) {
        rocl_event *e = rocl_batch_event(&batch, i);
        bool pass = pattern >> (i % 32) & 1;
        e->start = e->end = pass ? 150 : 50;
        e->id = i;
        if (pass)
            memcpy(copy + expected++ * size, e, size);
    }
    assert_int_equal(rocl_filter_apply(b->f, b->worker, &batch, NULL), ROCL_OK);
    assert_int_equal(batch.count, expected);
    if (expected)
        assert_memory_equal(room, copy, expected * size);
    b->passed += batch.count;
    free(room);
    free(copy);
}

static void test_compaction(void **state)
{
    (void)state;
    static const uint32_t patterns[] = {0,          UINT32_MAX, 1,          0x80000000u,
                                        0x55555555, 0xaaaaaaaa, 0x0000ffff, 0xffff0000,
                                        0x7ffffffe, 0x80000001, 0xdeadbeef, 0x12345678};
    world *w = world_new(&(rocl_options){.start = "100", .end = "200"});
    big b = {.w = w};
    assert_int_equal(rocl_filter_new(&b.f, &w->trace, NULL), ROCL_OK);
    assert_false(rocl_filter_needs_bounds(b.f) || rocl_filter_needs_markers(b.f));
    for (unsigned k = 0; k < ROCL_KINDS; k++) {
        for (size_t p = 0; p < COUNT(patterns); p++) {
            for (size_t count = 1; count < 70; count += 1 + count / 8)
                check_batch(&b, (rocl_kind)k, count, patterns[p] ? patterns[p] : 2);
        }
        check_batch(&b, (rocl_kind)k, 5000, 0xdeadbeef);
    }
    rocl_filter_free(b.f);
    world_free(w);
}

/* Names with NUL bytes, no name at all, and more names than a page of the cache. */
static void test_odd_names(void **state)
{
    (void)state;
    enum { NAMES = 40000 };
    world *w = world_new(&(rocl_options){.names = LIST("7$", "^$", "tail")});
    rocl_filter *f;
    assert_int_equal(rocl_filter_new(&f, &w->trace, NULL), ROCL_OK);
    rocl_region *r = calloc(NAMES + 4, sizeof *r);
    assert_non_null(r);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            char name[32];
            snprintf(name, sizeof name, "name %u", i);
            r[i] = (rocl_region){.e = {.id = i, .name = text(w, name)}};
        }
        r[NAMES].e = (rocl_event){.id = 1000007, .name = NONE};
        r[NAMES + 1].e = (rocl_event){.id = 1000017, .name = 0};
        r[NAMES + 2].e =
            (rocl_event){.id = 1000027, .name = rocl_strings_put(w->trace.strings, "a\0tail", 6)};
        r[NAMES + 3].e =
            (rocl_event){.id = 8, .name = rocl_strings_put(w->trace.strings, "a\0b", 3)};
        rocl_batch b = {
            .capture = &w->captures[0].pub, .kind = ROCL_REGION, .count = NAMES + 4, .regions = r};
        assert_int_equal(rocl_filter_apply(f, 1, &b, NULL), ROCL_OK);
        assert_int_equal(b.count, NAMES / 10 + 3);
        for (size_t i = 0; i < b.count; i++)
            assert_int_equal(r[i].e.id % 10, 7);
    }
    free(r);
    rocl_filter_free(f);
    world_free(w);
}

/* The N-th of many, that come in any order and hold little memory. */
static void test_nth_marker(void **state)
{
    (void)state;
    enum { N = 2003 };
    for (uint32_t want = 1; want <= N; want += 143) {
        char option[32];
        snprintf(option, sizeof option, "m:%u", want);
        world *w = world_new(&(rocl_options){.start_marker = option, .end_marker = option});
        rocl_filter *f;
        assert_int_equal(rocl_filter_new(&f, &w->trace, NULL), ROCL_OK);
        for (uint32_t i = 0; i < N; i++) {
            /* 1234 has no factor in common with N: every order once; two share a start */
            uint32_t order = i * 1234u % N;
            rocl_region r = {.e = {.start = order / 2, .end = order / 2, .name = text(w, "m")}};
            r.e.id = order;
            r.e.process = order % 2;
            r.e.end += order % 2 ? 10 : 20;
            rocl_batch b = {
                .capture = &w->captures[0].pub, .kind = ROCL_MARKER, .count = 1, .regions = &r};
            assert_int_equal(rocl_filter_see_markers(f, &b, NULL), ROCL_OK);
        }
        assert_int_equal(rocl_filter_resolve(f, NULL), ROCL_OK);
        assert_false(rocl_filter_needs_markers(f));
        int64_t from = (want - 1) / 2, to = from + ((want - 1) % 2 ? 10 : 20);
        rocl_region edges[] = {{.e = {.id = 1, .start = from - 1, .end = to}},
                               {.e = {.id = 2, .start = from, .end = to}},
                               {.e = {.id = 3, .start = from, .end = to + 1}}};
        rocl_batch b = {
            .capture = &w->captures[0].pub, .kind = ROCL_REGION, .count = 3, .regions = edges};
        assert_int_equal(rocl_filter_apply(f, 0, &b, NULL), ROCL_OK);
        assert_int_equal(b.count, 1);
        assert_int_equal(edges[0].e.id, 2);
        rocl_filter_free(f);
        world_free(w);
    }
}

static void test_bounded_picks(void **state)
{
    (void)state;
    world *w = world_new(&(rocl_options){.start_marker = "m", .end_marker = "m:5"});
    rocl_window win;
    const rocl_batch b = {.capture = &w->captures[0].pub, .kind = ROCL_MARKER};
    assert_int_equal(rocl_window_new(&win, &w->trace, NULL), ROCL_OK);
    for (uint32_t i = 0; i < 100000; i++) {
        rocl_event e = {.start = 100000 - i, .end = 100001 - i, .name = text(w, "m")};
        assert_int_equal(rocl_window_see(&win, &b, &e, NULL), ROCL_OK);
    }
    assert_true(win.start_marker.whole.cap <= 4 && win.end_marker.numbered.cap <= 8);
    assert_int_equal(rocl_window_resolve(&win, 0, 0, NULL), ROCL_OK);
    assert_int_equal(win.from, 1);
    assert_int_equal(win.to, 6);
    rocl_window_free(&win);
    world_free(w);
}

/* Markers that start together count by capture, ranges before marks, then by row. */
static void test_equal_starts(void **state)
{
    (void)state;
    static const struct {
        uint32_t capture;
        rocl_kind kind;
        uint64_t id;
    } order[] = {
        {0, ROCL_MARKER, 8}, {0, ROCL_MARKER, 9}, {0, ROCL_INSTANT, 1}, {1, ROCL_MARKER, 1}};
    for (uint64_t n = 1; n <= COUNT(order); n++) {
        char option[] = "m:?";
        option[2] = (char)('0' + n);
        world *w = world_new(&(rocl_options){.end_marker = option});
        rocl_window win;
        assert_int_equal(rocl_window_new(&win, &w->trace, NULL), ROCL_OK);
        for (size_t i = COUNT(order); i-- > 0;) {
            rocl_event e = {
                .start = 5, .end = 11 + (int64_t)i, .id = order[i].id, .name = text(w, "m")};
            const rocl_batch b = {.capture = &w->captures[order[i].capture].pub,
                                  .kind = order[i].kind};
            assert_int_equal(rocl_window_see(&win, &b, &e, NULL), ROCL_OK);
        }
        assert_int_equal(rocl_window_resolve(&win, 0, 0, NULL), ROCL_OK);
        assert_int_equal(win.to, 10 + (int64_t)n);
        rocl_window_free(&win);
        world_free(w);
    }
}

/* Hostile times: as far apart as numbers go. */
static void test_extreme_times(void **state)
{
    (void)state;
    static const struct {
        int64_t start, end;
        rocl_window_mode mode;
        bool passes;
    } rows[] = {
        {INT64_MIN, INT64_MAX, ROCL_WINDOW_INSIDE, false},
        {INT64_MIN, INT64_MAX, ROCL_WINDOW_OVERLAP, true},
        {INT64_MIN, INT64_MAX, ROCL_WINDOW_CLIP, true},
        {INT64_MAX, INT64_MAX, ROCL_WINDOW_INSIDE, false},
        {INT64_MIN, INT64_MIN, ROCL_WINDOW_OVERLAP, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        world *w = world_new(&(rocl_options){.start = "100",
                                             .end = "200",
                                             .min_duration = "9223372036854775807",
                                             .window_mode = rows[i].mode});
        rocl_filter *f;
        assert_int_equal(rocl_filter_new(&f, &w->trace, NULL), ROCL_OK);
        rocl_region r = {.e = {.start = rows[i].start, .end = rows[i].end}};
        rocl_batch b = {
            .capture = &w->captures[0].pub, .kind = ROCL_REGION, .count = 1, .regions = &r};
        assert_int_equal(rocl_filter_apply(f, 0, &b, NULL), ROCL_OK);
        assert_int_equal(b.count, rows[i].passes);
        if (rows[i].mode == ROCL_WINDOW_CLIP)
            assert_true(r.e.start == 100 && r.e.end == 200);
        rocl_filter_free(f);
        world_free(w);
    }
}

/* A filter whose window is not known, or is wrong, lets nothing pass in silence. */
static void test_not_ready(void **state)
{
    (void)state;
    world *w = world_new(&(rocl_options){.start = "60%", .end = "40%"});
    rocl_filter *f;
    rocl_error *err = rocl_error_new();
    rocl_region r = {0};
    rocl_batch b = {.capture = &w->captures[0].pub, .kind = ROCL_REGION, .count = 1, .regions = &r};
    assert_int_equal(rocl_filter_new(&f, &w->trace, err), ROCL_OK);
    assert_true(rocl_filter_needs_bounds(f));
    assert_int_equal(rocl_filter_apply(f, 0, &b, err), ROCL_INTERNAL);
    rocl_filter_set_bounds(f, FIRST, LAST);
    assert_int_equal(rocl_filter_apply(f, 0, &b, err), ROCL_USAGE);
    assert_int_equal(rocl_filter_resolve(f, err), ROCL_USAGE);
    assert_non_null(strstr(rocl_error_text(err), "is after"));
    rocl_filter_free(f);
    rocl_error_free(err);
    world_free(w);
}

static void *work(void *ctx)
{
    big *b = ctx;
    for (int round = 0; round < 50; round++)
        check_batch(b, ROCL_DISPATCH, 500, 0xdeadbeef);
    return NULL;
}

static void test_workers(void **state)
{
    (void)state;
    enum { WORKERS = 4 };
    world *w = world_new(&(rocl_options){.jobs = WORKERS,
                                         .start = "100",
                                         .end = "200",
                                         .exclude = LIST("rocjpeg"),
                                         .exclude_names = LIST("nope")});
    pthread_t threads[WORKERS];
    big b[WORKERS];
    rocl_filter *f;
    assert_int_equal(rocl_filter_new(&f, &w->trace, NULL), ROCL_OK);
    for (unsigned i = 0; i < WORKERS; i++) {
        b[i] = (big){.w = w, .f = f, .worker = i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &b[i]), 0);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(b[i].passed, b[0].passed);
    }
    rocl_filter_free(f);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compaction),   cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_nth_marker),   cmocka_unit_test(test_bounded_picks),
        cmocka_unit_test(test_equal_starts), cmocka_unit_test(test_extreme_times),
        cmocka_unit_test(test_not_ready),    cmocka_unit_test(test_workers),
    };
    return cmocka_run_group_tests_name("filter batches", tests, NULL, NULL);
}

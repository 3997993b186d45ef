/* The timeline in memory: cells of random rows, and of fixtures every slice, search, link and sum,
 * by looking at all of them. */
#include "tests/unit/stats_records.h"

#include "picture/picture.h"

/* The timeline keeps so many of an id. */
#define ID_BITS (UINT64_MAX >> ROCL_KIND_BITS)
#define VALUES  (ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE))

/* ---- cells of a row, by asking each slice ---------------------------------------------------- */

static picture_row *random_row(uint64_t *seed, uint32_t count, uint64_t longest, bool values)
{
    picture_row *r = calloc(1, sizeof *r);
    int64_t time = (int64_t)draw_from(seed, 1000) - 500;
    assert_non_null(r);
    for (uint32_t i = 0; i < count; i++) {
        time += (int64_t)draw_from(seed, longest);
        picture_slice s = {.start = time, .end = time + (int64_t)draw_from(seed, longest)};
        if (draw_from(seed, 5) == 0)
            s.end = s.start;
        s.name = (uint32_t)draw_from(seed, 10);
        s.id = draw_from(seed, 20) ? i : UINT64_MAX - i;
        s.bytes = draw_from(seed, 30) ? 0 : draw_from(seed, UINT64_MAX);
        assert_true(values ? picture_add_value(r, time, (double)draw_from(seed, 100))
                           : picture_add_slice(r, &s));
        time = values ? time + 1 : s.end;
    }
    assert_true(picture_seal_row(r));
    return r;
}

static void check_cell(const picture_row *r, int64_t a, int64_t b, const rocl_cell *c)
{
    const int64_t until = b > a ? b : a + 1;
    uint64_t busy = 0, longest = 0;
    uint32_t count = 0;
    double most = -1;
    for (uint32_t i = 0; i < r->count; i++) {
        const int64_t start = r->start[i];
        const bool holds = r->values && i + 1 < r->count ? r->start[i + 1] >= a : r->values;
        if (r->values ? start >= until || (start < a && !holds)
                      : start >= until || (start < a && picture_end(r, i) <= a))
            continue;
        /* Only the value before the first one that begins in the cell. */
        if (r->values && start < a && i + 1 < r->count && r->start[i + 1] < a)
            continue;
        count++;
        if (r->values) {
            most = r->value[i] > most ? r->value[i] : most;
            continue;
        }
        const int64_t end = picture_end(r, i);
        busy += (uint64_t)(end < until ? end : until) - (uint64_t)(start > a ? start : a);
        const uint64_t duration = picture_wide_get(&r->duration, i);
        longest = duration > longest ? duration : longest;
    }
    assert_int_equal(c->count, count);
    assert_int_equal(c->busy, busy);
    assert_true((c->longest.index == ROCL_NONE) == (count == 0));
    if (count && r->values)
        assert_true(c->value == most);
    else if (count)
        assert_int_equal(picture_wide_get(&r->duration, c->longest.index), longest);
}

static void check_row(const picture_row *r, uint64_t *seed)
{
    const int64_t first = r->count ? r->start[0] : 0;
    const int64_t last = !r->count   ? 10
                         : r->values ? r->start[r->count - 1]
                                     : picture_end(r, r->count - 1);
    rocl_cell cells[64];
    for (unsigned k = 0; k < 12; k++) {
        const uint64_t span = (uint64_t)(last - first) + 20;
        const int64_t from = first - 10 + (int64_t)draw_from(seed, span);
        const int64_t to = k ? from + 1 + (int64_t)draw_from(seed, k < 6 ? 100 : span) : last + 10;
        const size_t n = 1 + draw_from(seed, COUNT(cells));
        memset(cells, 0, sizeof cells);
        for (size_t i = 0; i < n; i++)
            cells[i].longest.index = ROCL_NONE;
        picture_fill_cells(r, 0, 0, from, to, n, cells);
        for (size_t i = 0; i < n; i++) {
            const __int128 all = (__int128)to - from;
            check_cell(r, (int64_t)(from + all * (__int128)i / (__int128)n),
                       (int64_t)(from + all * (__int128)(i + 1) / (__int128)n), &cells[i]);
        }
    }
}

static void test_cells(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 15, 16, 17, 255, 256, 257, 700};
    static const uint64_t lengths[] = {1, 3, 50, 1 << 20, (uint64_t)1 << 34};
    uint64_t seed = 7;
    (void)state;
    for (size_t i = 0; i < COUNT(counts); i++) {
        for (size_t k = 0; k < COUNT(lengths); k++) {
            for (unsigned values = 0; values < 2; values++) {
                picture_row *r = random_row(&seed, counts[i], lengths[k], values);
                assert_int_equal(r->count, counts[i]);
                check_row(r, &seed);
                picture_free_row(r);
            }
        }
    }
}

static void test_wide_columns(void **state)
{
    picture_row *r = calloc(1, sizeof *r);
    uint64_t seed = 3;
    picture_slice s[300];
    (void)state;
    assert_non_null(r);
    for (uint32_t i = 0; i < COUNT(s); i++) {
        const bool big = i == 100 || i == 299;
        s[i] = (picture_slice){.start = (int64_t)i << 40,
                               .id = big ? UINT64_MAX - i : i,
                               .stack = i == 250 ? (uint64_t)1 << 63 : i,
                               .bytes = i == 150 ? (uint64_t)5 << 32 : 0};
        s[i].end = s[i].start + (big ? (int64_t)1 << 39 : (int64_t)draw_from(&seed, 99));
        assert_true(picture_add_slice(r, &s[i]));
    }
    assert_true(picture_seal_row(r));
    for (uint32_t i = 0; i < COUNT(s); i++) {
        assert_int_equal(picture_end(r, i), s[i].end);
        assert_int_equal(picture_wide_get(&r->id, i), s[i].id);
        assert_int_equal(picture_wide_get(&r->stack, i), s[i].stack);
        assert_int_equal(picture_wide_get(&r->bytes, i), s[i].bytes);
    }
    picture_free_row(r);
}

/* ---- pictures of traces ---------------------------------------------------------------------- */

typedef struct shown {
    rocl_picture_ref ref;
    rocl_picture_slice s;
} shown;

static int by_event(const void *a, const void *b)
{
    const shown *x = a, *y = b;
    if (x->s.capture != y->s.capture)
        return x->s.capture->index < y->s.capture->index ? -1 : 1;
    if (x->s.kind != y->s.kind)
        return x->s.kind < y->s.kind ? -1 : 1;
    if (x->s.id != y->s.id)
        return x->s.id < y->s.id ? -1 : 1;
    if (x->s.start != y->s.start)
        return x->s.start < y->s.start ? -1 : 1;
    if (x->s.end != y->s.end)
        return x->s.end < y->s.end ? -1 : 1;
    return (x->s.name > y->s.name) - (x->s.name < y->s.name);
}

static int by_time(const void *a, const void *b)
{
    const shown *x = a, *y = b;
    if (x->s.start != y->s.start)
        return x->s.start < y->s.start ? -1 : 1;
    if (x->ref.track != y->ref.track)
        return x->ref.track < y->ref.track ? -1 : 1;
    if (x->ref.row != y->ref.row)
        return x->ref.row < y->ref.row ? -1 : 1;
    return (x->ref.index > y->ref.index) - (x->ref.index < y->ref.index);
}

static shown *all_shown(rocl_picture *p, size_t *count)
{
    const uint32_t tracks = rocl_picture_look(p).tracks;
    shown *all = NULL;
    size_t cap = 0;
    *count = 0;
    for (uint32_t t = 0; t < tracks; t++) {
        const rocl_picture_track track = rocl_picture_track_at(p, t);
        assert_true(track.loaded);
        assert_true((track.kind == ROCL_PICTURE_MACHINE) == (track.parent == ROCL_NONE));
        for (uint32_t r = 0; r < track.rows; r++) {
            shown s = {.ref = {t, r, 0}};
            for (; rocl_picture_get(p, s.ref, &s.s); s.ref.index++) {
                assert_true(s.s.is_value == (track.kind == ROCL_PICTURE_VALUES));
                if (s.s.is_value)
                    continue;
                assert_true(ROCL_GROW(all, cap, *count + 1));
                all[(*count)++] = s;
            }
        }
    }
    return all;
}

static shown shown_record(const record *e)
{
    return (shown){.s = {.capture = e->capture,
                         .kind = e->kind,
                         .id = e->e.id & ID_BITS,
                         .start = e->e.start,
                         .end = e->kind == ROCL_INSTANT ? e->e.start : e->e.end,
                         .name = e->e.name}};
}

static int by_record(const void *a, const void *b)
{
    const shown x = shown_record(a), y = shown_record(b);
    return by_event(&x, &y);
}

/* Every event that is no value is there once, as it is; broken traces have ids twice. */
static void check_slices(rocl_trace *t, shown *all, size_t count)
{
    records events = records_of(t, ROCL_ALL_KINDS & ~VALUES);
    assert_int_equal(events.count, count);
    if (count) {
        qsort(all, count, sizeof *all, by_event);
        qsort(events.all, count, sizeof *events.all, by_record);
    }
    for (size_t i = 0; i < count; i++) {
        const record *e = &events.all[i];
        const rocl_picture_slice *s = &all[i].s;
        assert_ptr_equal(s->capture, e->capture);
        assert_int_equal(s->kind, e->kind);
        assert_int_equal(s->id, e->e.id & ID_BITS);
        assert_int_equal(s->start, e->e.start);
        assert_int_equal(s->end, e->kind == ROCL_INSTANT ? e->e.start : e->e.end);
        assert_int_equal(s->name, e->e.name);
        if (e->kind == ROCL_COPY)
            assert_int_equal(s->bytes, e->copy.size);
        if (e->kind == ROCL_DISPATCH)
            assert_memory_equal(s->grid, e->dispatch.grid, sizeof s->grid);
    }
    free(events.all);
}

/* In both directions all of them, in their order. */
static void check_search(rocl_picture *p, shown *all, size_t count, uint32_t name)
{
    rocl_picture_ref ref = {.row = ROCL_NONE};
    int64_t time = INT64_MIN;
    size_t at = 0;
    qsort(all, count, sizeof *all, by_time);
    assert_int_equal(rocl_picture_search_name(p, name, NULL), ROCL_OK);
    while (rocl_picture_next_match(p, time, false, &ref)) {
        for (; at < count && all[at].s.name != name; at++)
            ;
        assert_true(at < count);
        assert_memory_equal(&all[at].ref, &ref, sizeof ref);
        time = all[at++].s.start;
    }
    for (; at < count; at++)
        assert_true(all[at].s.name != name);
    ref = (rocl_picture_ref){.row = ROCL_NONE};
    time = INT64_MAX;
    while (rocl_picture_next_match(p, time, true, &ref)) {
        for (; at > 0 && all[at - 1].s.name != name; at--)
            ;
        assert_true(at > 0);
        assert_memory_equal(&all[at - 1].ref, &ref, sizeof ref);
        time = all[--at].s.start;
    }
    for (; at > 0; at--)
        assert_true(all[at - 1].s.name != name);
}

static void check_links(rocl_picture *p, const shown *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rocl_picture_ref other;
        rocl_picture_slice s;
        const bool call = ROCL_LAUNCH_KINDS >> all[i].s.kind & 1;
        const bool linked = rocl_picture_linked(p, all[i].ref, &other);
        bool any = false;
        for (size_t k = 0; k < count && !any; k++)
            any = all[i].s.stack_id && all[k].s.stack_id == all[i].s.stack_id &&
                  all[k].s.capture == all[i].s.capture &&
                  (bool)(ROCL_LAUNCH_KINDS >> all[k].s.kind & 1) != call;
        assert_true(linked == any);
        if (!linked)
            continue;
        assert_true(rocl_picture_get(p, other, &s));
        assert_int_equal(s.stack_id, all[i].s.stack_id);
        assert_true((bool)(ROCL_LAUNCH_KINDS >> s.kind & 1) != call);
    }
}

static void check_sums(rocl_picture *p, const shown *all, size_t count, uint32_t kinds,
                       int64_t from, int64_t to)
{
    rocl_picture_sum *sums;
    size_t n;
    uint64_t seen = 0, expected = 0;
    assert_int_equal(rocl_picture_sums(p, kinds, from, to, &sums, &n, NULL), ROCL_OK);
    for (size_t k = 0; k < n; k++) {
        rocl_picture_sum s = {.shortest = INT64_MAX, .longest = -1};
        for (size_t i = 0; i < count; i++) {
            const rocl_picture_slice *e = &all[i].s;
            const int64_t duration = e->end - e->start;
            if (!(kinds >> e->kind & 1) || e->start < from || e->start >= to ||
                e->name != sums[k].name)
                continue;
            s.count++;
            s.total += duration;
            s.bytes += e->bytes;
            s.shortest = duration < s.shortest ? duration : s.shortest;
            s.longest = duration > s.longest ? duration : s.longest;
        }
        assert_int_equal(sums[k].count, s.count);
        assert_int_equal(sums[k].total, s.total);
        assert_int_equal(sums[k].bytes, s.bytes);
        assert_int_equal(sums[k].shortest, s.shortest);
        assert_int_equal(sums[k].longest, s.longest);
        seen += s.count;
    }
    for (size_t i = 0; i < count; i++)
        expected += (kinds >> all[i].s.kind & 1) && all[i].s.start >= from && all[i].s.start < to;
    assert_int_equal(seen, expected);
    free(sums);
}

static void check_picture(const char *names, unsigned jobs)
{
    const rocl_options o = {.jobs = jobs};
    rocl_trace *t = open_trace(names, &o);
    rocl_picture *p;
    size_t count;
    assert_int_equal(rocl_picture_open(&p, t, &(rocl_picture_options){0}, NULL), ROCL_OK);
    assert_true(rocl_picture_load(p, NULL) <= ROCL_PARTIAL);
    uint64_t events = 0;
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        events += rocl_trace_events(t, k);
    const rocl_picture_state state = rocl_picture_look(p);
    assert_true(state.loaded);
    assert_int_equal(state.events, events);
    assert_int_equal(state.slices + state.instants + state.values, events);
    shown *all = all_shown(p, &count);
    assert_int_equal(count, state.slices + state.instants);
    check_slices(t, all, count);
    if (count) {
        check_search(p, all, count, all[count / 2].s.name);
        check_search(p, all, count, all[count / 7].s.name);
        check_links(p, all, count < 3000 ? count : 3000);
        const int64_t middle = all[count / 2].s.start;
        check_sums(p, all, count, ROCL_BIT(ROCL_DISPATCH), INT64_MIN, INT64_MAX);
        check_sums(p, all, count, ROCL_BIT(ROCL_COPY) | ROCL_BIT(ROCL_ALLOC), INT64_MIN, middle);
        check_sums(p, all, count, ROCL_BIT(ROCL_REGION), middle, INT64_MAX);
    }
    free(all);
    rocl_picture_close(p);
    rocl_trace_close(t);
}

static void test_fixtures(void **state)
{
    static const char *const traces[] = {"everything",  "schema-3.0.0", "schema-4.1.0",
                                         "sampled",     "merged",       "nasty-3.0.0",
                                         "rank0 rank1", "empty-tables", "node-rank0 node-rank1"};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (unsigned jobs = 1; jobs < 4; jobs += 2)
            check_picture(traces[i], jobs);
}

static void test_cancel(void **state)
{
    rocl_trace *t = open_trace("everything", &(rocl_options){.jobs = 2});
    rocl_picture *p;
    (void)state;
    assert_int_equal(rocl_picture_open(&p, t, &(rocl_picture_options){0}, NULL), ROCL_OK);
    rocl_picture_cancel(p);
    assert_int_equal(rocl_picture_load(p, NULL), ROCL_INTERNAL);
    assert_false(rocl_picture_look(p).loaded);
    rocl_picture_close(p);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_wide_columns),
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

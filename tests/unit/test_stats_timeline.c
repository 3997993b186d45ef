/* The timeline against a count that asks all events for every slice. */
#include "test_stats_gpus.h"
#include "base/wide.h"

static int64_t edge(int64_t first, int64_t last, uint64_t i, uint64_t slices)
{
    return first + (int64_t)((rocl_u128)(uint64_t)(last - first) * i / slices);
}

/* Of all GPUs of the machine of `at`. */
static void span_of(const works *w, const work *at, int64_t *first, int64_t *last)
{
    *first = INT64_MAX;
    *last = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (w->all[i].machine != at->machine)
            continue;
        *first = w->all[i].start < *first ? w->all[i].start : *first;
        *last = w->all[i].end > *last ? w->all[i].end : *last;
    }
}

static int64_t started(const work *w, size_t n, int64_t from, int64_t to, bool to_the_end)
{
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += w[i].part != COPY && w[i].start >= from && (w[i].start < to || to_the_end);
    return count;
}

static void check_slice(const rocl_table *t, size_t row, const work *w, size_t n, uint64_t i,
                        int64_t from, int64_t to, bool last)
{
    int64_t kernels = union_between(w, n, 1 << COMPUTE | 1 << COMMUNICATION, from, to);
    int64_t copies = union_between(w, n, 1 << COPY, from, to);
    int64_t busy = union_between(w, n, 7, from, to);
    check_gpu(t, row, w);
    check_int(t, row, "slice", (int64_t)i);
    check_int(t, row, "start_ns", from);
    check_int(t, row, "end_ns", to);
    check_int(t, row, "kernel_ns", kernels);
    check_int(t, row, "copy_ns", copies);
    check_int(t, row, "busy_ns", busy);
    check_int(t, row, "idle_ns", to - from - busy);
    check_int(t, row, "kernels", started(w, n, from, to, last));
    check_percent(t, row, "kernel_percent", kernels, to - from);
    check_percent(t, row, "copy_percent", copies, to - from);
    check_percent(t, row, "busy_percent", busy, to - from);
}

static void check_data(const rocl_table *t, const works *w, size_t wanted)
{
    size_t row = 0;
    for (size_t at = 0, n; at < w->count; at += n) {
        int64_t first, last;
        n = same_gpu(w, at);
        span_of(w, &w->all[at], &first, &last);
        uint64_t slices = wanted, length = (uint64_t)(last - first);
        if (slices > length)
            slices = length ? length : 1;
        for (uint64_t i = 0; i < slices; i++)
            check_slice(t, row++, w->all + at, n, i, edge(first, last, i, slices),
                        edge(first, last, i + 1, slices), i + 1 == slices);
    }
    assert_int_equal(t->row_count, row);
}

/* The digits of a line. */
static void check_line(const rocl_table *t, size_t row, const work *w, size_t n, unsigned parts,
                       int64_t first, int64_t last, uint64_t slices)
{
    const char *line = text_of(t, row, "line");
    assert_int_equal(strlen(line), slices);
    for (uint64_t i = 0; i < slices; i++) {
        int64_t from = edge(first, last, i, slices), to = edge(first, last, i + 1, slices);
        int64_t ns = union_between(w, n, parts, from, to);
        int least = line[i] - '0'; /* above so many tenths, not above one more */
        if (line[i] == '.')
            assert_int_equal(ns, 0);
        else
            assert_true((rocl_u128)ns * 10 > (rocl_u128)(to - from) * (unsigned)least &&
                        (rocl_u128)ns * 10 <= (rocl_u128)(to - from) * (unsigned)(least + 1));
    }
}

static void check_picture(const rocl_table *t, const works *w, size_t wanted)
{
    static const char *const names[] = {"kernels", "copies", "busy"};
    static const unsigned parts[] = {3, 4, 7};
    size_t row = 0;
    for (size_t at = 0, n; at < w->count; at += n) {
        int64_t first, last;
        n = same_gpu(w, at);
        span_of(w, &w->all[at], &first, &last);
        uint64_t slices = wanted, length = (uint64_t)(last - first);
        if (slices > length)
            slices = length ? length : 1;
        for (int k = 0; k < 3; k++, row++) {
            check_gpu(t, row, &w->all[at]);
            assert_string_equal(text_of(t, row, "what"), names[k]);
            check_line(t, row, w->all + at, n, parts[k], first, last, slices);
        }
    }
    assert_int_equal(t->row_count, row);
}

static void check_trace(const char *name, size_t slices)
{
    const rocl_options o = {.jobs = 2, .memory = (size_t)256 << 10};
    rocl_stats_options s = {.reports = BIT(ROCL_REPORT_OVERLAP), .slices = slices};
    rocl_trace *t = open_trace(name, &o);
    works w = works_of(t);
    rocl_tables *all = stats_of(t, &s);
    check_data(table_of(all, "timeline"), &w, slices ? slices : 1000);
    rocl_tables_free(all);
    s.pictures = s.ascii = true;
    all = stats_of(t, &s);
    check_picture(table_of(all, "timeline"), &w, slices ? slices : 60);
    rocl_tables_free(all);
    rocl_trace_close(t);
    free(w.all);
}

static void test_fixtures(void **state)
{
    static const char *const names[] = {"everything", "schema-3.0.0", "schema-3.0.5", "merged"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        check_trace(names[i], 0);
        check_trace(names[i], 1);
        check_trace(names[i], 37);
    }
}

static void test_random(void **state)
{
    static const struct {
        uint64_t rows, steps, longest;
        size_t slices;
    } sizes[] = {{1, 1, 0, 5},        {20, 40, 4, 7},     {120, 200, 3, 199},
                 {120, 1000, 40, 60}, {120, 30, 20, 100}, {120, 20000000, 90000, 333}};
    (void)state;
    for (uint64_t seed = 1; seed <= 48; seed++) {
        size_t k = seed % COUNT(sizes);
        world w;
        world_begin(&w, seed);
        add_random(&w, sizes[k].rows, sizes[k].steps, sizes[k].longest);
        world_end(&w);
        check_trace(w.path, sizes[k].slices);
    }
}

/* Times as large as they get, and slices of no length. */
static void test_edges(void **state)
{
    world w;
    (void)state;
    world_begin(&w, 1);
    add_kernel(&w, 2, 0, 0, INT64_MAX);
    add_kernel(&w, 3, 0, INT64_MAX - 1, INT64_MAX);
    add_copy(&w, 3, 3, 5, INT64_MAX - 5);
    world_end(&w);
    check_trace(w.path, 100);
    world_begin(&w, 1);
    add_kernel(&w, 2, 0, 7, 7);
    add_copy(&w, 2, 3, 7, 7);
    world_end(&w);
    check_trace(w.path, 100);
    check_trace("empty-tables", 3);
}

/* A block for an eighth or a part of it. */
static void test_blocks(void **state)
{
    const rocl_options o = {.jobs = 1};
    const rocl_stats_options s = {
        .reports = BIT(ROCL_REPORT_OVERLAP), .slices = 10, .pictures = true};
    static const int64_t lengths[10] = {8, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 10; i++)
        if (lengths[i])
            add_kernel(&w, 2, 0, 1000 + 8 * i, 1000 + 8 * i + lengths[i]);
    world_end(&w);
    rocl_trace *t = open_trace(w.path, &o);
    rocl_tables *all = stats_of(t, &s);
    assert_string_equal(text_of(table_of(all, "timeline"), 0, "line"), "█·▁▂▃▄▅▆▇█");
    assert_string_equal(text_of(table_of(all, "timeline"), 1, "line"), "··········");
    rocl_tables_free(all);
    rocl_trace_close(t);
}

static void test_same_bytes(void **state)
{
    (void)state;
    check_same_bytes_of_gpus((rocl_stats_options){.reports = BIT(ROCL_REPORT_OVERLAP)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),   cmocka_unit_test(test_random),
        cmocka_unit_test(test_edges),      cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests_name("stats timeline", tests, enter, leave);
}

/* Communication and kernels at once, decided for each stretch between two neighbouring times by
 * asking all events. */
#include "test_stats_gpus.h"

enum { LEVELS = 64 }; /* the last is so many and more */

typedef struct times {
    int64_t wall, compute, communication, exposed, exposed_copy, idle, kernels;
    int64_t levels[LEVELS + 1];
} times;

static void judge(times *r, const work *w, size_t n, int64_t from, int64_t to)
{
    int running[3] = {0};
    for (size_t i = 0; i < n; i++)
        running[w[i].part] += w[i].start <= from && w[i].end >= to;
    int kernels = running[COMPUTE] + running[COMMUNICATION];
    int64_t ns = to - from;
    r->wall += ns;
    r->compute += running[COMPUTE] ? ns : 0;
    r->communication += running[COMMUNICATION] ? ns : 0;
    r->exposed += running[COMMUNICATION] && !running[COMPUTE] ? ns : 0;
    r->exposed_copy += running[COPY] && !kernels ? ns : 0;
    r->idle += running[COPY] + kernels ? 0 : ns;
    r->levels[kernels < LEVELS ? kernels : LEVELS] += ns;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static times judge_all(const work *w, size_t n)
{
    times r = {0};
    int64_t *edges = calloc(2 * n + 1, sizeof *edges);
    assert_non_null(edges);
    for (size_t i = 0; i < n; i++) {
        edges[2 * i] = w[i].start;
        edges[2 * i + 1] = w[i].end;
        r.kernels += w[i].part == COMMUNICATION;
    }
    qsort(edges, 2 * n, sizeof *edges, by_value);
    for (size_t i = 1; i < 2 * n; i++)
        if (edges[i - 1] < edges[i])
            judge(&r, w, n, edges[i - 1], edges[i]);
    free(edges);
    return r;
}

static size_t check_levels(const rocl_table *t, size_t row, const work *w, const times *r)
{
    for (int64_t i = 0; i <= LEVELS; i++) {
        if (!r->levels[i])
            continue;
        check_gpu(t, row, w);
        check_int(t, row, "kernels", i);
        check_int(t, row, "time_ns", r->levels[i]);
        check_percent(t, row++, "percent", r->levels[i], r->wall);
    }
    return row;
}

static void check_communication(const rocl_table *t, size_t row, const work *w, const times *r)
{
    check_gpu(t, row, w);
    check_int(t, row, "communication_ns", r->communication);
    check_int(t, row, "exposed_ns", r->exposed);
    check_int(t, row, "hidden_ns", r->communication - r->exposed);
    check_int(t, row, "kernels", r->kernels);
    check_percent(t, row, "wall_percent", r->communication, r->wall);
    check_percent(t, row, "exposed_percent", r->exposed, r->wall);
    check_percent(t, row, "hidden_percent", r->communication - r->exposed, r->communication);
}

static void check_identity(const rocl_table *t, size_t row, const times *r)
{
    check_int(t, row, "wall_ns", r->wall);
    check_int(t, row, "compute_ns", r->compute);
    check_int(t, row, "exposed_communication_ns", r->exposed);
    check_int(t, row, "exposed_copy_ns", r->exposed_copy);
    check_int(t, row, "idle_ns", r->idle);
    assert_int_equal(r->compute + r->exposed + r->exposed_copy + r->idle, r->wall);
}

/* The greatest number of kernels at once. */
static int64_t check_trace(const char *name, unsigned jobs)
{
    const rocl_options o = {.jobs = jobs, .memory = (size_t)256 << 10};
    const rocl_stats_options s = {.reports = BIT(ROCL_REPORT_OVERLAP)};
    rocl_trace *t = open_trace(name, &o);
    works w = works_of(t);
    rocl_tables *all = stats_of(t, &s);
    const rocl_table *levels = table_of(all, "concurrency");
    const rocl_table *communication = table_of(all, "communication");
    size_t row = 0, level = 0, talking = 0;
    int64_t most = 0;
    for (size_t at = 0, n; at < w.count; at += n, row++) {
        n = same_gpu(&w, at);
        times r = judge_all(w.all + at, n);
        check_identity(table_of(all, "overlap"), row, &r);
        level = check_levels(levels, level, &w.all[at], &r);
        if (r.kernels)
            check_communication(communication, talking++, &w.all[at], &r);
        for (int64_t i = 0; i <= LEVELS; i++)
            most = r.levels[i] && i > most ? i : most;
    }
    assert_int_equal(table_of(all, "overlap")->row_count, row);
    assert_int_equal(levels->row_count, level);
    assert_int_equal(communication->row_count, talking);
    assert_true(!levels->note == (most < LEVELS));
    rocl_tables_free(all);
    rocl_trace_close(t);
    free(w.all);
    return most;
}

static void test_fixtures(void **state)
{
    static const char *const names[] = {"everything", "schema-3.0.0", "schema-3.0.5", "merged",
                                        "empty-tables"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        check_trace(names[i], 1 + (unsigned)i % 3);
}

/* Times are few, so that kernels touch, nest, are the same and have no length; or many. */
static void test_random(void **state)
{
    static const struct {
        uint64_t rows, steps, longest;
    } sizes[] = {
        {20, 40, 4}, {150, 200, 3}, {150, 1000, 40}, {150, 60, 30}, {150, 20000000, 90000}};
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        size_t k = seed % COUNT(sizes);
        world w;
        world_begin(&w, seed);
        add_random(&w, sizes[k].rows, sizes[k].steps, sizes[k].longest);
        world_end(&w);
        check_trace(w.path, 1 + (unsigned)seed % 3);
    }
}

/* More than are told apart; kernels of no length alone. */
static void test_edges(void **state)
{
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 90; i++) {
        add_kernel(&w, 2, i % 4, 1000 + i, 2000 - i);
        add_kernel(&w, 3, 0, 1000 + i / 2, i < 63 ? 2000 : 1044);
    }
    world_end(&w);
    assert_int_equal(check_trace(w.path, 2), LEVELS);
    world_begin(&w, 1);
    for (int i = 0; i < 5; i++)
        add_kernel(&w, 2, i % 2, 10 + i / 3, 10 + i / 3);
    add_kernel(&w, 3, 1, 7, 7);
    add_kernel(&w, 4, 0, 0, INT64_MAX);
    add_kernel(&w, 4, 1, 0, INT64_MAX);
    world_end(&w);
    check_trace(w.path, 2);
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = BIT(ROCL_REPORT_OVERLAP)};
    world w;
    (void)state;
    check_same_bytes("merged", &s);
    world_begin(&w, 3);
    add_random(&w, 5000, 1000000, 3000);
    world_end(&w);
    check_same_bytes(w.path, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests_name("stats overlap", tests, enter, leave);
}

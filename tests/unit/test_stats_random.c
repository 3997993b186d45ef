/* Statistics of traces that a profiler would not write, against an independent count. */
#include "tests/unit/stats_check.h"
#include "tests/unit/stats_world.h"

/* With kernels 9001 (compute) and 9002 (communication), and two names for copies. */
static void world_begin(world *w, uint64_t seed)
{
    world_copy(w, seed);
    world_symbol(w, 9001, "gemm");
    world_symbol(w, 9002, "ncclReduce");
    world_sql(w, "INSERT INTO rocpd_string%%S(id, string) VALUES (9001, 'some copy'), (9002, "
                 "'other copy')");
}

/* -1 is no agent. */
static void add_kernel(world *w, int64_t agent, bool communication, int64_t start, int64_t end)
{
    world_sql(
        w,
        "INSERT INTO rocpd_kernel_dispatch%%S(nid, pid, agent_id, kernel_id, dispatch_id, "
        "queue_id, stream_id, start, \"end\", workgroup_size_x, workgroup_size_y, "
        "workgroup_size_z, grid_size_x, grid_size_y, grid_size_z) SELECT nid, id, %lld, %d, 1, 0, "
        "0, %lld, %lld, 64, 1, 1, 64, 1, 1 FROM rocpd_info_process%%S",
        agent, communication ? 9002 : 9001, start, end);
}

static void add_copy(world *w, int64_t src, int64_t dst, int64_t start, int64_t end, int64_t bytes)
{
    world_sql(
        w,
        "INSERT INTO rocpd_memory_copy%%S(nid, pid, start, \"end\", name_id, src_agent_id, "
        "dst_agent_id, size) SELECT nid, id, %lld, %lld, %lld, nullif(%lld, -1), nullif(%lld, "
        "-1), %lld FROM rocpd_info_process%%S",
        start, end, 9001 + start % 2, src, dst, bytes);
}

static void world_check(world *w, const rocl_stats_options *o, bool groups)
{
    const rocl_options open = {.jobs = 2, .memory = (size_t)256 << 10};
    rocl_trace *t = open_trace(world_end(w), &open);
    sqlite3 *db = events_of(t);
    rocl_tables *all = all_stats_of(t, *o);
    check_gpus(db, t, all, o);
    if (groups)
        check_tables(db, all, o);
    rocl_tables_free(all);
    sqlite3_close(db);
    rocl_trace_close(t);
}

/* Times are few, so that events touch, nest and are the same; or many, for gaps of all lengths. */
static void add_random(world *w, uint64_t steps, uint64_t longest)
{
    static const int64_t agents[] = {2, 3, 3, 0, -1};
    int64_t start = (int64_t)(1 + draw(w, steps)), end = start;
    if (draw(w, 5))
        end += (int64_t)draw(w, longest + 1);
    uint64_t kind = draw(w, 10);
    if (kind < 6)
        add_kernel(w, agents[draw(w, 4)], kind < 2, start, end);
    else
        add_copy(w, agents[draw(w, 5)], agents[draw(w, 5)], start, end, (int64_t)draw(w, 1 << 20));
}

static void test_random(void **state)
{
    static const struct {
        uint64_t steps, longest, rows;
    } sizes[] = {{40, 4, 20},
                 {200, 3, 120},
                 {1000, 40, 120},
                 {20000000, 100000, 120},
                 {5000000000, 20000000, 120}};
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        size_t size = seed % COUNT(sizes);
        const rocl_stats_options o = {
            .min_gap = seed % 3 ? 0 : (int64_t)sizes[size].steps / 400,
            .by_agent = seed % 2,
            .sort = (rocl_sort_by)(seed % 5),
        };
        world w;
        world_begin(&w, seed);
        for (uint64_t i = 0; i < sizes[size].rows; i++)
            add_random(&w, sizes[size].steps, sizes[size].longest);
        world_check(&w, &o, true);
    }
}

static void test_few(void **state)
{
    const rocl_stats_options o = {0};
    world w;
    (void)state;
    world_begin(&w, 1); /* nothing */
    world_check(&w, &o, true);
    world_begin(&w, 1); /* one of no length */
    add_kernel(&w, 2, false, 5, 5);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* one copy within a GPU counts once */
    add_copy(&w, 2, 2, 5, 15, 100);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* a gap, in which something of no length is */
    add_kernel(&w, 2, false, 10, 20);
    add_kernel(&w, 2, true, 30, 30);
    add_kernel(&w, 2, false, 1030, 1040);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* touching, the same, nested */
    add_kernel(&w, 2, false, 10, 20);
    add_kernel(&w, 2, true, 20, 40);
    add_copy(&w, 0, 2, 20, 40, 1);
    add_copy(&w, 2, 3, 25, 30, 1);
    add_copy(&w, -1, 2, 38, 50, 0);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* not on a GPU */
    add_kernel(&w, 0, false, 10, 20);
    add_copy(&w, 0, 1, 10, 20, 1);
    world_check(&w, &o, true);
    world_begin(&w, 1); /* only what comes next to a gap has its name there */
    for (int64_t i = 0; i < 45; i++)
        add_kernel(&w, 2, i % 2, 100 * i + 1, 100 * i + 1 + i % 7);
    world_check(&w, &o, true);
}

/* Equal averages are equal, whatever they are of: then the name decides. */
static void test_equal_averages(void **state)
{
    static const int64_t durations[2][3] = {{1, 7, 17}, {14, 1, 10}};
    const rocl_options open = {.jobs = 1};
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 6; i++)
        add_kernel(&w, 2, i / 3, 100, 100 + durations[i / 3][i % 3]);
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = all_stats_of(t, (rocl_stats_options){.sort = ROCL_BY_AVERAGE});
    check_text(table_of(all, "kernels"), 0, "name", "gemm");
    check_text(table_of(all, "kernels"), 1, "name", "ncclReduce");
    rocl_tables_free(all);
    rocl_trace_close(t);
}

/* Sums that are beyond what a number holds stay at the largest. */
static void test_largest(void **state)
{
    const rocl_options open = {.jobs = 1};
    world w;
    (void)state;
    world_begin(&w, 1);
    for (int i = 0; i < 3; i++) {
        add_kernel(&w, 2, i == 2, 0, INT64_MAX);
        add_copy(&w, 0, 2, 0, INT64_MAX - i, INT64_MAX);
    }
    rocl_trace *t = open_trace(world_end(&w), &open);
    rocl_tables *all = all_stats_of(t, (rocl_stats_options){.top = 1});
    const rocl_table *domains = table_of(all, "domains"), *copies = table_of(all, "copies");
    const rocl_table *kernels = table_of(all, "kernels"), *overlap = table_of(all, "overlap");
    check_int(domains, 0, "total_ns", INT64_MAX);
    check_int(domains, 1, "total_ns", INT64_MAX);
    check_int(domains, 0, "max_ns", INT64_MAX);
    check_int(kernels, 0, "total_ns", INT64_MAX);
    check_int(kernels, 0, "median_ns", INT64_MAX);
    assert_true(copies->row_count > 0);
    check_int(copies, 0, "bytes", INT64_MAX);
    check_int(overlap, 0, "wall_ns", INT64_MAX);
    check_int(overlap, 0, "both_ns", INT64_MAX);
    check_int(overlap, 0, "idle_ns", 0);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_equal_averages),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests_name("stats random", tests, enter, leave);
}

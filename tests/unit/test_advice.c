/* The rules of rocstats --advice on tables made for them: each fires beyond its threshold, and only
 * there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const rocl_table_column kernel_columns[] = {
    {"name", "", ROCL_UNIT_TEXT}, {"calls", "", ROCL_UNIT_COUNT}, {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column overlap_columns[] = {
    {"gpu", "", ROCL_UNIT_TEXT},           {"wall_ns", "", ROCL_UNIT_NS},
    {"busy_ns", "", ROCL_UNIT_NS},         {"exposed_communication_ns", "", ROCL_UNIT_NS},
    {"exposed_copy_ns", "", ROCL_UNIT_NS}, {"idle_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column class_columns[] = {
    {"gpu", "", ROCL_UNIT_TEXT}, {"class", "", ROCL_UNIT_TEXT}, {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column domain_columns[] = {
    {"name", "", ROCL_UNIT_TEXT}, {"calls", "", ROCL_UNIT_COUNT}, {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column rank_columns[] = {{"host", "", ROCL_UNIT_TEXT},
                                                 {"rank", "", ROCL_UNIT_COUNT},
                                                 {"pid", "", ROCL_UNIT_COUNT},
                                                 {"kernels_ns", "", ROCL_UNIT_NS},
                                                 {"communication_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column stream_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                   {"kernels", "", ROCL_UNIT_COUNT}};
static const rocl_table_column activity_columns[] = {{"gpu", "", ROCL_UNIT_TEXT},
                                                     {"average_busy", "", ROCL_UNIT_NUMBER}};
static const rocl_table_column copy_columns[] = {{"direction", "", ROCL_UNIT_TEXT},
                                                 {"calls", "", ROCL_UNIT_COUNT},
                                                 {"bytes", "", ROCL_UNIT_BYTES},
                                                 {"bandwidth", "", ROCL_UNIT_RATE},
                                                 {"unsized", "", ROCL_UNIT_COUNT}};

static const rocl_table_column occupancy_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                      {"class", "", ROCL_UNIT_TEXT},
                                                      {"limit", "", ROCL_UNIT_TEXT},
                                                      {"percent", "", ROCL_UNIT_PERCENT},
                                                      {"occupancy_percent", "", ROCL_UNIT_PERCENT},
                                                      {"workgroups", "", ROCL_UNIT_NUMBER},
                                                      {"rounds", "", ROCL_UNIT_NUMBER},
                                                      {"scratch_bytes", "", ROCL_UNIT_BYTES}};

static void put_row(rocl_tables *all, rocl_table *t, const char *name, const char *other,
                    const int64_t *numbers)
{
    rocl_datum *r = rocl_table_row(t);
    size_t c = 0;
    r[c++] = rocl_datum_text(all, name, strlen(name));
    if (other)
        r[c++] = rocl_datum_text(all, other, strlen(other));
    for (size_t i = 0; c < t->column_count; c++, i++)
        r[c] = rocl_datum_int(numbers[i]);
}

#define TABLE(all, key, columns)      rocl_tables_add(all, key, "", columns, COUNT(columns))
#define ROW(all, t, name, other, ...) put_row(all, t, name, other, (const int64_t[]){__VA_ARGS__})

/* Does the advice hold the finding, with the evidence? NULL: nothing at all is found. */
static void check(rocl_tables *all, const char *finding, const char *evidence)
{
    assert_int_equal(rocl_advise(all, &(rocl_stats_options){0}, NULL), ROCL_OK);
    const rocl_table *t = rocl_tables_find(all, "advice");
    assert_non_null(t);
    if (finding) {
        assert_int_equal(t->row_count, 1);
        assert_non_null(strstr(t->cells[0].text, finding));
        assert_non_null(strstr(t->cells[1].text, evidence));
        assert_null(t->note);
    } else {
        assert_int_equal(t->row_count, 0);
        assert_string_equal(t->note, "nothing stands out");
    }
    rocl_tables_free(all);
}

static void test_kernels(void **state)
{
    static const struct {
        int64_t calls, total, other;
        const char *finding, *evidence;
    } cases[] = {{1000, 9999000, 9999000, "Many short kernels", "2000 kernels of 10.00 us"},
                 {400, 99000, 99000, NULL, NULL},
                 {2000, 40000000, 40000000, NULL, NULL},
                 {10, 5001, 4999, "One kernel takes most", "50.0 %: gemm"},
                 {10, 5000, 5000, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "kernels", kernel_columns);
        ROW(all, t, "gemm", NULL, cases[i].calls, cases[i].total);
        ROW(all, t, "(7 others)", NULL, cases[i].calls, cases[i].other);
        check(all, cases[i].finding, cases[i].evidence);
    }
    rocl_tables *all = rocl_tables_new();
    rocl_table *t = TABLE(all, "kernels", kernel_columns);
    ROW(all, t, "gemm", NULL, 1, 100);
    ROW(all, t, "(7 others)", NULL, 7, 900);
    check(all, NULL, NULL);
}

static void test_occupancy(void **state)
{
    static const struct {
        const char *class, *limit;
        double percent, occupancy, workgroups, rounds;
        int64_t scratch;
        const char *finding, *evidence;
    } cases[] = {
        {"other", "VGPRs", 10, 25, 100, 1, 0, "Registers or local",
         "k: 25.0 % occupancy, limited by VGPRs"},
        {"reduction", "LDS", 50, 12.5, 100, 1, 0, "Registers or local",
         "50.0 % of the kernel time: k"},
        {"other", "VGPRs", 9.9, 25, 100, 0.1, 64, NULL, NULL},
        {"other", "VGPRs", 90, 25.1, 100, 0.5, 0, NULL, NULL},
        {"GEMM", "VGPRs", 90, 12.5, 100, 1, 0, NULL, NULL},
        {"attention", "LDS", 90, 12.5, 100, 1, 0, NULL, NULL},
        {"other", "workgroup size", 90, 12.5, 100, 1, 0, NULL, NULL},
        {"GEMM", "grid", 10, 12.5, 3, 0.49, 0, "only a part",
         "3.0 workgroups fill 49.0 % of the GPU"},
        {"communication", "grid", 90, 12.5, 3, 0.1, 520, NULL, NULL},
        {"GEMM", "none", 10, 100, 100, 2, 4, "uses scratch memory", "4 bytes of each work-item"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "occupancy", occupancy_columns);
        rocl_datum *r = rocl_table_row(t);
        r[0] = rocl_datum_text(all, "k", 1);
        r[1] = rocl_datum_text(all, cases[i].class, strlen(cases[i].class));
        r[2] = rocl_datum_text(all, cases[i].limit, strlen(cases[i].limit));
        r[3] = rocl_datum_real(cases[i].percent);
        r[4] = rocl_datum_real(cases[i].occupancy);
        r[5] = rocl_datum_real(cases[i].workgroups);
        r[6] = rocl_datum_real(cases[i].rounds);
        r[7] = rocl_datum_int(cases[i].scratch);
        rocl_table_row(t); /* of a kernel of which nothing is known */
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_gpus(void **state)
{
    /* wall, busy, exposed communication, exposed copies, idle */
    static const struct {
        int64_t one[5], two[5];
        const char *class, *finding, *evidence;
    } cases[] = {
        {{1000, 690, 0, 0, 310},
         {1000, 800, 0, 0, 200},
         "launch",
         "waits for launches",
         "GPU 0 is idle for 31.0 % of its time, 96.8 % of that"},
        {{1000, 690, 0, 0, 310}, {1000, 800, 0, 0, 200}, "sync", "synchronize less", "96.8 %"},
        {{1000, 690, 0, 0, 310}, {1000, 800, 0, 0, 200}, "host", "does other work", "96.8 %"},
        {{1000, 690, 0, 0, 310}, {1000, 800, 0, 0, 200}, "dependency", "other work", "96.8 %"},
        {{1000, 700, 0, 0, 200},
         {1000, 600, 0, 0, 400},
         "unknown",
         "waits for the host or for others",
         "GPU 1 is idle for 40.0 % of its time"},
        {{1000, 700, 0, 0, 300}, {1000, 700, 0, 0, 300}, "launch", NULL, NULL},
        {{1000, 900, 0, 101, 100},
         {1000, 900, 0, 90, 100},
         "launch",
         "Copies are not hidden",
         "10.1 % of the time of GPU 0 is copies"},
        {{1000, 900, 90, 0, 100},
         {1000, 900, 250, 0, 100},
         "launch",
         "Communication is not hidden",
         "25.0 % of the time of GPU 1"},
        {{1000, 1000, 0, 0, 0},
         {500, 500, 0, 0, 0},
         "launch",
         "unequal shares",
         "GPU 0 is busy for 1.33 times the mean of 2 GPUs"},
        /* GPU 0 has more to do, but not so much when it does not wait in collectives. */
        {{1000, 1000, 90, 0, 0}, {700, 580, 0, 0, 120}, "launch", NULL, NULL},
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, "launch", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "overlap", overlap_columns);
        put_row(all, t, "GPU 0", NULL, cases[i].one);
        put_row(all, t, "GPU 1", NULL, cases[i].two);
        t = TABLE(all, "gap_classes", class_columns);
        ROW(all, t, "GPU 0", cases[i].class, 300);
        ROW(all, t, "GPU 0", "copy", 200);
        ROW(all, t, "GPU 0", "tail", 900);
        ROW(all, t, "GPU 1", cases[i].class, 300);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_copies(void **state)
{
    static const struct {
        const char *direction;
        int64_t calls, bytes, rate, unsized;
        const char *finding, *evidence;
    } cases[] = {
        {"MEMORY_COPY_HOST_TO_DEVICE", 10, 10 << 20, 7900000000, 0, "Slow copies",
         "7.9 GB/s at 1.0 MiB"},
        {"MEMORY_COPY_HOST_TO_DEVICE", 10, 10 << 20, 8000000000, 0, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_DEVICE", 10, 10 << 20, 1000, 0, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 1000, 1024000, 100, 0, "Many small copies",
         "1000 of 1.0 KiB"},
        {"MEMORY_COPY_DEVICE_TO_HOST", 999, 1024000, 100, 0, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 0, 0, 0, 0, NULL, NULL},
        /* Copies of which no size is known do not count. */
        {"MEMORY_COPY_HOST_TO_DEVICE", 20, 10 << 20, 7900000000, 10, "Slow copies",
         "7.9 GB/s at 1.0 MiB"},
        {"MEMORY_COPY_DEVICE_TO_HOST", 2000, 1000 << 17, 9000000000, 1000, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 1000, 1024000, 100, 1, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "copies", copy_columns);
        ROW(all, t, cases[i].direction, NULL, cases[i].calls, cases[i].bytes, cases[i].rate,
            cases[i].unsized);
        check(all, cases[i].finding, cases[i].evidence);
    }
    check(rocl_tables_new(), NULL, NULL);
}

static void test_allocations(void **state)
{
    static const struct {
        int64_t kernels, allocs;
        const char *finding, *evidence;
    } cases[] = {
        {9999, 1000, "Memory is allocated", "1000 allocations and frees in 2.0 ms, with 9999"},
        {10000, 1000, NULL, NULL},
        {10, 999, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "domains", domain_columns);
        ROW(all, t, "KERNELS", NULL, cases[i].kernels, 5000000);
        ROW(all, t, "MEMORY_ALLOCATIONS", NULL, cases[i].allocs, 2000000);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_ranks(void **state)
{
    static const struct {
        int64_t rank, slow, communication;
        const char *host, *finding, *evidence;
    } cases[] = {{3, 1234, 0, "a", "One rank computes longer",
                  "rank 3: 1.14 times the mean kernel time of 3"},
                 {3, 1100, 0, "a", NULL, NULL},
                 {3, 9000, 7900, "a", NULL, NULL}, /* it waits for the others */
                 {3, 9000, 7766, "a", "One rank computes longer", "rank 3: 1.14 times"},
                 {-1, 1234, 0, "a", "One rank computes longer", "process 77: 1.14 times"},
                 {3, 9000, 0, "(2 others)", NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "ranks", rank_columns);
        ROW(all, t, "a", NULL, 1, 75, 1000, 0);
        ROW(all, t, "a", NULL, 2, 76, 1500, 500);
        ROW(all, t, "a", NULL, 4, 78, 0, 0);
        ROW(all, t, cases[i].host, NULL, cases[i].rank, 77, cases[i].slow, cases[i].communication);
        if (cases[i].rank < 0)
            t->cells[3 * COUNT(rank_columns) + 1] = (rocl_datum){0};
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_streams(void **state)
{
    static const struct {
        int64_t kernels;
        double average;
        const char *finding, *evidence;
    } cases[] = {
        {100, 1.04, "Streams run one after", "2 streams have 100 kernels or more, but 1.04"},
        {100, 1.05, NULL, NULL},
        {99, 1.04, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "streams", stream_columns);
        ROW(all, t, "Stream 1", NULL, 5000);
        ROW(all, t, "Stream 2", NULL, cases[i].kernels);
        t = TABLE(all, "stream_activity", activity_columns);
        ROW(all, t, "GPU 0", NULL, 0);
        t->cells[1] = rocl_datum_real(cases[i].average);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static const rocl_table_column length_columns[] = {
    {"name", "", ROCL_UNIT_TEXT},      {"pid", "", ROCL_UNIT_COUNT},
    {"kernels", "", ROCL_UNIT_COUNT},  {"wall_ns", "", ROCL_UNIT_NS},
    {"unlinked", "", ROCL_UNIT_COUNT}, {"empty_ns", "", ROCL_UNIT_NS},
    {"others_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column cause_columns[] = {
    {"cause", "", ROCL_UNIT_TEXT}, {"count", "", ROCL_UNIT_COUNT}, {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column graph_columns[] = {{"graph", "", ROCL_UNIT_TEXT},
                                                  {"launches", "", ROCL_UNIT_COUNT},
                                                  {"gaps_percent", "", ROCL_UNIT_PERCENT},
                                                  {"average_ns", "", ROCL_UNIT_NS},
                                                  {"kernels", "", ROCL_UNIT_COUNT}};
static const rocl_table_column sequence_columns[] = {{"first_kernel", "", ROCL_UNIT_TEXT},
                                                     {"calls", "", ROCL_UNIT_COUNT},
                                                     {"length", "", ROCL_UNIT_COUNT},
                                                     {"average_ns", "", ROCL_UNIT_NS},
                                                     {"percent", "", ROCL_UNIT_PERCENT}};
static const rocl_table_column step_columns[] = {{"marker", "", ROCL_UNIT_TEXT},
                                                 {"place", "", ROCL_UNIT_TEXT},
                                                 {"step", "", ROCL_UNIT_TEXT},
                                                 {"of_median", "", ROCL_UNIT_NUMBER},
                                                 {"outlier", "", ROCL_UNIT_TEXT}};
static const rocl_table_column wait_columns[] = {
    {"gpu", "", ROCL_UNIT_TEXT},         {"rank", "", ROCL_UNIT_COUNT},
    {"matched", "", ROCL_UNIT_COUNT},    {"last", "", ROCL_UNIT_COUNT},
    {"total_wait_ns", "", ROCL_UNIT_NS}, {"communication_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column peak_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                 {"percent", "", ROCL_UNIT_PERCENT},
                                                 {"peak_percent", "", ROCL_UNIT_PERCENT}};

static void test_queues(void **state)
{
    static const struct {
        int64_t kernels, unlinked, empty, others;
        const char *finding, *evidence;
    } cases[] = {{100, 0, 400, 99, "leaves its GPUs without work", "process 7 has no outstanding"},
                 {100, 0, 400, 100, NULL, NULL},
                 {99, 0, 900, 0, NULL, NULL},
                 {100, 100, 900, 0, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "queue_lengths", length_columns);
        ROW(all, t, "Stream 1", NULL, 7, cases[i].kernels, 1000, cases[i].unlinked, cases[i].empty,
            cases[i].others);
        check(all, cases[i].finding, cases[i].evidence);
    }
    for (int64_t more = 0; more < 2; more++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "queue_lengths", length_columns);
        ROW(all, t, "Stream 1", NULL, 7, 100, 1000000, 0, 0, 0);
        t = TABLE(all, "delay_causes", cause_columns);
        ROW(all, t, "queue", NULL, 1000, 900000);
        ROW(all, t, "dependency", NULL, 100, 100000 + more);
        check(all, more ? "its stream is idle" : NULL, "100 launches wait for 1.0 us");
    }
}

static void test_repeats(void **state)
{
    static const struct {
        int64_t launches, gaps, in_graphs, calls, each, percent;
        const char *finding, *evidence;
    } cases[] = {{10, 21, 0, 0, 0, 0, "A graph leaves the GPU idle", "graph 1: 21.0 % of 50.0 us"},
                 {10, 20, 0, 0, 0, 0, NULL, NULL},
                 {9, 50, 0, 0, 0, 0, NULL, NULL},
                 {1, 0, 0, 100, 9999, 10, "run again and again", "100 times 4 kernels of 10.00 us"},
                 {1, 0, 200, 100, 9999, 10, NULL, NULL},
                 {1, 0, 0, 99, 9999, 10, NULL, NULL},
                 {1, 0, 0, 100, 10000, 10, NULL, NULL},
                 {1, 0, 0, 100, 9999, 9, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "graphs", graph_columns);
        ROW(all, t, "1", NULL, cases[i].launches, cases[i].gaps, 50000, cases[i].in_graphs);
        t = TABLE(all, "sequences", sequence_columns);
        ROW(all, t, "gemm", NULL, cases[i].calls, 4, 4 * cases[i].each, cases[i].percent);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

/* Six steps of two ranks; one may be slow. */
static void test_steps(void **state)
{
    static const struct {
        size_t slow;
        double ratio;
        const char *finding, *evidence;
    } cases[] = {{2, 1.51, "Some steps take much longer", "step:2 of rank 0 takes 1.51 times"},
                 {2, 1.5, NULL, NULL},
                 {0, 4, "The first step includes warm-up", "step:0 of rank 0 takes 4.00 times"},
                 {3, 4, "The first step includes warm-up", "step:0 of rank 1"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "steps", step_columns);
        for (size_t k = 0; k < 6; k++) {
            const char step[] = {'s', 't', 'e', 'p', ':', (char)('0' + k % 3), 0};
            rocl_datum *r = rocl_table_row(t);
            r[0] = rocl_datum_text(all, "step:", 5);
            r[1] = rocl_datum_text(all, k < 3 ? "rank 0" : "rank 1", 6);
            r[2] = rocl_datum_text(all, step, 6);
            r[3] = rocl_datum_real(k == cases[i].slow ? cases[i].ratio : 1);
            if (k == cases[i].slow)
                r[4] = rocl_datum_text(all, "slow", 4);
        }
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_late_rank(void **state)
{
    static const struct {
        int64_t matched, last, wait;
        const char *finding, *evidence;
    } cases[] = {{100, 51, 101, "A rank arrives late", "rank 2 is the last in 51.0 %"},
                 {100, 50, 500, NULL, NULL},
                 {100, 90, 100, NULL, NULL},
                 {99, 90, 500, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "collective_ranks", wait_columns);
        for (int64_t rank = 0; rank < 3; rank++)
            ROW(all, t, "GPU 0", NULL, rank, cases[i].matched, rank == 2 ? cases[i].last : 20,
                rank == 2 ? 0 : cases[i].wait, 1000);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_peak(void **state)
{
    (void)state;
    for (int64_t share = 9; share <= 10; share++)
        for (int64_t of_peak = 29; of_peak <= 30; of_peak++) {
            rocl_tables *all = rocl_tables_new();
            rocl_table *t = TABLE(all, "roofline", peak_columns);
            ROW(all, t, "aten::mm", NULL, share, of_peak);
            check(all, share == 10 && of_peak == 29 ? "far from the peak" : NULL,
                  "10.0 % of the time: aten::mm reaches 29.0 % of it");
        }
}

static const rocl_table_column path_columns[] = {{"class", "", ROCL_UNIT_TEXT},
                                                 {"count", "", ROCL_UNIT_COUNT},
                                                 {"percent", "", ROCL_UNIT_PERCENT}};
static const rocl_table_column what_if_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                    {"factor", "", ROCL_UNIT_NUMBER},
                                                    {"saved_percent", "", ROCL_UNIT_PERCENT}};

static void test_critical_path(void **state)
{
    static const struct {
        int64_t parts, host, outside, factor, saved;
        const char *work, *finding, *evidence;
    } cases[] = {
        {50, 40, 20, 2, 9, "kernels", "The host limits", "60.0 % of the critical path"},
        {49, 40, 20, 2, 50, "kernels", NULL, NULL},
        {50, 40, 19, 2, 9, "kernels", NULL, NULL},
        {50, 40, 40, 2, 9, "copies", NULL, NULL}, /* nothing that the host could launch earlier */
        {50, 10, 10, 2, 10, "kernels", "A faster kernel", "10.0 % less if this"},
        {50, 10, 10, 3, 10, "kernels", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "critical_path", path_columns);
        ROW(all, t, "host calls", NULL, cases[i].parts, cases[i].host);
        ROW(all, t, "host outside of calls", NULL, 0, cases[i].outside);
        ROW(all, t, cases[i].work, NULL, 50, 20);
        t = TABLE(all, "critical_path_what_if", what_if_columns);
        ROW(all, t, "gemm", NULL, cases[i].factor, cases[i].saved);
        ROW(all, t, "(7 others)", NULL, 2, 50);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

/* Whoever adds a rule says all of it. */
static void test_rules(void **state)
{
    const rocl_advice_rule *r, *other;
    size_t count = 0;
    (void)state;
    for (; (r = rocl_advice_rule_at(count)); count++) {
        const char *const parts[] = {r->name,   r->report, r->threshold, r->meaning, r->formula,
                                     r->remedy, r->seen,   r->done,      r->changed};
        for (size_t i = 0; i < COUNT(parts); i++)
            if (!parts[i] || !*parts[i] || strchr(parts[i], '\n'))
                fail_msg("part %zu of rule %zu", i, count);
        assert_non_null(strpbrk(r->threshold, "0123456789"));
        for (size_t i = 0; (other = rocl_advice_rule_at(i)) != r; i++)
            assert_string_not_equal(r->name, other->name);
    }
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),       cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_gpus),          cmocka_unit_test(test_copies),
        cmocka_unit_test(test_allocations),   cmocka_unit_test(test_streams),
        cmocka_unit_test(test_ranks),         cmocka_unit_test(test_queues),
        cmocka_unit_test(test_repeats),       cmocka_unit_test(test_steps),
        cmocka_unit_test(test_late_rank),     cmocka_unit_test(test_peak),
        cmocka_unit_test(test_critical_path), cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

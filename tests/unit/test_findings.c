/* The rules of findings on evidence made for them: each fires beyond its threshold, and only
 * there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/findings.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const rocl_table_column kernel_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                   {"class", "", ROCL_UNIT_TEXT},
                                                   {"calls", "", ROCL_UNIT_COUNT},
                                                   {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column overlap_columns[] = {
    {"gpu", "", ROCL_UNIT_TEXT},           {"wall_ns", "", ROCL_UNIT_NS},
    {"compute_ns", "", ROCL_UNIT_NS},      {"exposed_communication_ns", "", ROCL_UNIT_NS},
    {"exposed_copy_ns", "", ROCL_UNIT_NS}, {"idle_ns", "", ROCL_UNIT_NS},
    {"kernels", "", ROCL_UNIT_COUNT},      {"copies", "", ROCL_UNIT_COUNT},
    {"copy_ns", "", ROCL_UNIT_NS},         {"both_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column class_columns[] = {{"gpu", "", ROCL_UNIT_TEXT},
                                                  {"class", "", ROCL_UNIT_TEXT},
                                                  {"count", "", ROCL_UNIT_COUNT},
                                                  {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column domain_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                   {"calls", "", ROCL_UNIT_COUNT}};
static const rocl_table_column memory_columns[] = {{"calls", "", ROCL_UNIT_COUNT},
                                                   {"total_ns", "", ROCL_UNIT_NS},
                                                   {"processes", "", ROCL_UNIT_COUNT}};
static const rocl_table_column late_columns[] = {
    {"cause", "", ROCL_UNIT_TEXT},     {"meeting", "", ROCL_UNIT_TEXT},
    {"rank", "", ROCL_UNIT_COUNT},     {"last", "", ROCL_UNIT_COUNT},
    {"meetings", "", ROCL_UNIT_COUNT}, {"gain_ns", "", ROCL_UNIT_NS},
    {"lost_ns", "", ROCL_UNIT_NS},     {"lost_percent", "", ROCL_UNIT_PERCENT}};
static const rocl_table_column stream_columns[] = {
    {"name", "", ROCL_UNIT_TEXT}, {"kernels", "", ROCL_UNIT_COUNT}, {"busy_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column activity_columns[] = {{"gpu", "", ROCL_UNIT_TEXT},
                                                     {"wall_ns", "", ROCL_UNIT_NS},
                                                     {"average_busy", "", ROCL_UNIT_NUMBER}};
static const rocl_table_column copy_columns[] = {
    {"direction", "", ROCL_UNIT_TEXT}, {"calls", "", ROCL_UNIT_COUNT},
    {"bytes", "", ROCL_UNIT_BYTES},    {"bandwidth", "", ROCL_UNIT_RATE},
    {"unsized", "", ROCL_UNIT_COUNT},  {"total_ns", "", ROCL_UNIT_NS}};
static const rocl_table_column doctor_columns[] = {
    {"rule", "", ROCL_UNIT_TEXT}, {"level", "", ROCL_UNIT_TEXT}, {"events", "", ROCL_UNIT_COUNT}};

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

/* ns of the whole trace. */
enum { WALL = 1000000 };

static rocl_tables *evaluate(rocl_tables *evidence)
{
    rocl_tables *out = rocl_tables_new();
    if (!rocl_tables_find(evidence, "overlap")) {
        rocl_table *t = TABLE(evidence, "overlap", overlap_columns);
        ROW(evidence, t, "GPU 0", NULL, WALL, WALL, 0, 0, 0, 20, 0, 0, 0);
    }
    out->evidence = evidence;
    assert_int_equal(rocl_put_findings(out, NULL, WALL,
                                       &(rocl_stats_options){.findings = true, .named = UINT32_MAX},
                                       NULL),
                     ROCL_OK);
    return out;
}

static const char *text_of(const rocl_table *t, size_t row, const char *key)
{
    return rocl_datum_str(rocl_table_find_cell(t, row, key));
}

/* Is the finding made, with the evidence, and nothing else? NULL: nothing at all is found. */
static void check(rocl_tables *evidence, const char *what, const char *said)
{
    rocl_tables *all = evaluate(evidence);
    const rocl_table *t = rocl_tables_find(all, "findings");
    assert_non_null(t);
    assert_ptr_equal(t, &all->tables[0]);
    if (what) {
        assert_int_equal(t->row_count, 1);
        assert_non_null(strstr(text_of(t, 0, "finding"), what));
        assert_non_null(strstr(text_of(t, 0, "evidence"), said));
        assert_null(strstr(t->note, "nothing stands out"));
    } else {
        assert_int_equal(t->row_count, 0);
        assert_non_null(strstr(t->note, "nothing stands out"));
    }
    rocl_tables_free(all);
}

static void test_kernels(void **state)
{
    static const struct {
        int64_t calls, total, other;
        const char *class, *finding, *evidence;
    } cases[] = {{1000, 9999000, 9999000, "GEMM", "Many short kernels", "2000 kernels of 10.00 us"},
                 {400, 99000, 99000, "GEMM", NULL, NULL},
                 {2000, 40000000, 40000000, "GEMM", NULL, NULL},
                 {10, 5001000, 4999000, "GEMM", "One kernel takes most", "50.0 %: gemm"},
                 {10, 5000000, 5000000, "GEMM", NULL, NULL},
                 /* Who waits in a collective is not the kernel to make faster, nor of the whole. */
                 {10, 5000000, 4999000, "communication", NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "kernels", kernel_columns);
        /* By rank: no row has more than half. */
        ROW(all, t, "relu", "other", cases[i].calls / 2, cases[i].other / 2);
        ROW(all, t, "gemm", cases[i].class, cases[i].calls / 2, cases[i].total / 2);
        ROW(all, t, "tanh", "other", cases[i].calls / 2, cases[i].other / 2);
        ROW(all, t, "gemm", cases[i].class, cases[i].calls / 2,
            cases[i].total - cases[i].total / 2);
        check(all, cases[i].finding, cases[i].evidence);
    }
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
    /* wall, compute, exposed communication, exposed copies, idle, kernels, copies, copy, both */
    static const struct {
        int64_t one[9], two[9];
        const char *class;
        int64_t gaps; /* of GPU 0 */
        const char *finding, *evidence;
    } cases[] = {
        {{1000, 899, 0, 0, 101, 90, 0, 0, 0},
         {1000, 899, 0, 0, 101, 90, 0, 0, 0},
         "launch",
         101,
         "Launch overhead",
         "GPU 0 is idle like that for 10.1 % of its time, 100.0 % of all its idle time"},
        {{1000, 900, 0, 0, 100, 90, 0, 0, 0},
         {1000, 900, 0, 0, 100, 90, 0, 0, 0},
         "launch",
         100,
         NULL,
         NULL},
        {{1000, 600, 0, 0, 400, 90, 0, 0, 0},
         {1000, 600, 0, 0, 400, 90, 0, 0, 0},
         "sync",
         400,
         "synchronize less",
         "40.0 %"},
        {{1000, 600, 0, 0, 400, 90, 0, 0, 0},
         {1000, 600, 0, 0, 400, 90, 0, 0, 0},
         "host",
         400,
         "launches more slowly",
         "40.0 %"},
        {{1000, 600, 0, 0, 400, 90, 0, 0, 0},
         {1000, 600, 0, 0, 400, 90, 0, 0, 0},
         "dependency",
         400,
         "waits for other work",
         "40.0 %"},
        {{1000, 600, 0, 0, 400, 90, 0, 0, 0},
         {1000, 600, 0, 0, 400, 90, 0, 0, 0},
         "unknown",
         400,
         "does not tell for what",
         "GPU 0 is idle for 40.0 % of its time"},
        {{1000, 600, 0, 0, 400, 90, 0, 0, 0},
         {1000, 600, 0, 0, 400, 90, 0, 0, 0},
         "launch",
         30,
         "options leave out",
         "GPU 0 is idle for 40.0 % of its time"},
        {{1000, 899, 0, 101, 0, 90, 9, 101, 0},
         {1000, 899, 0, 90, 0, 90, 9, 90, 0},
         "launch",
         0,
         "Copies are not hidden",
         "10.1 % of the time of GPU 0 is copies"},
        {{1000, 300, 0, 700, 0, 90, 9, 700, 0},
         {1000, 300, 0, 700, 0, 90, 9, 700, 0},
         "launch",
         0,
         "Memory transfers are the bottleneck",
         "70.0 % of the time of GPU 0 is copies"},
        {{1000, 990, 0, 10, 0, 90, 9, 100, 90},
         {1000, 990, 0, 0, 0, 90, 0, 0, 0},
         "launch",
         0,
         "Good pipelining",
         "copies run for 10.0 % of the time of GPU 0, 90.0 % of that beside"},
        {{1000, 990, 0, 10, 0, 90, 9, 99, 89},
         {1000, 990, 0, 0, 0, 90, 0, 0, 0},
         "launch",
         0,
         NULL,
         NULL},
        {{1000, 800, 90, 0, 0, 90, 0, 0, 0},
         {1000, 750, 250, 0, 0, 90, 0, 0, 0},
         "launch",
         0,
         "Communication is not hidden",
         "25.0 % of the time of GPU 1"},
        {{1000, 126, 0, 0, 0, 126, 0, 0, 0},
         {1000, 100, 0, 0, 0, 100, 0, 0, 0},
         "launch",
         0,
         "unequal shares",
         "GPU 0 computes for 1.26 times the time of the other GPU, with 126"},
        {{1000, 125, 0, 0, 0, 125, 0, 0, 0},
         {1000, 100, 0, 0, 0, 100, 0, 0, 0},
         "launch",
         0,
         NULL,
         NULL},
        {{1000, 111, 0, 0, 0, 101, 0, 0, 0},
         {1000, 100, 0, 0, 0, 100, 0, 0, 0},
         "launch",
         0,
         "One GPU is slower",
         "GPU 0 computes for 1.11 times"},
        {{1000, 110, 0, 0, 0, 101, 0, 0, 0},
         {1000, 100, 0, 0, 0, 100, 0, 0, 0},
         "launch",
         0,
         NULL,
         NULL},
        {{0}, {1000, 0, 0, 0, 1000, 90, 0, 0, 0}, "launch", 0, "options leave out", "100.0 %"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "overlap", overlap_columns);
        put_row(all, t, "GPU 0", NULL, cases[i].one);
        put_row(all, t, "GPU 1", NULL, cases[i].two);
        t = TABLE(all, "gap_classes", class_columns);
        ROW(all, t, "GPU 0", cases[i].class, 10, cases[i].gaps);
        ROW(all, t, "GPU 0", "copy", 1, 200);
        ROW(all, t, "GPU 0", "tail", 1, 900);
        check(all, cases[i].finding, cases[i].evidence);
    }
    /* Fewer than 20 kernels and copies say nothing. */
    for (int64_t copies = 0; copies < 2; copies++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "overlap", overlap_columns);
        ROW(all, t, "GPU 0", NULL, 1000, 100, 900, 0, 0, 19, copies, 0, 0);
        all = evaluate(all);
        assert_int_equal(rocl_tables_find(all, "findings")->row_count, copies);
        assert_int_equal(!strstr(rocl_tables_find(all, "findings")->note, "too few"), copies);
        rocl_tables_free(all);
    }
}

static void test_copies(void **state)
{
    static const struct {
        const char *direction;
        int64_t calls, bytes, rate, unsized, ns;
        const char *finding, *evidence;
    } cases[] = {
        {"MEMORY_COPY_HOST_TO_DEVICE", 10, 10 << 20, 7900000000, 0, 1300000, "Slow copies",
         "7.9 GB/s at 1.0 MiB"},
        {"MEMORY_COPY_HOST_TO_DEVICE", 10, 10 << 20, 8000000000, 0, 1300000, NULL, NULL},
        {"Memcpy HtoD (Pinned -> Device)", 10, 10 << 20, 1000, 0, 1300000, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_DEVICE", 10, 10 << 20, 1000, 0, 1300000, NULL, NULL},
        {"MEMORY_COPY_HOST_TO_DEVICE", 10, (10 << 20) - 10, 1000, 0, 1300000, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 1000, 1024000, 100, 0, 1300000, "Many small copies",
         "1000 of 1.0 KiB"},
        {"MEMORY_COPY_DEVICE_TO_HOST", 99, 102400, 100, 0, 1300000, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 1000, 65536000, 100, 0, 9000000, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 1000, 65535000, 100, 0, 9000000, "Many small copies",
         "1000 of 64.0 KiB"},
        {"MEMORY_COPY_DEVICE_TO_HOST", 0, 0, 0, 0, 0, NULL, NULL},
        /* Copies of which no size is known do not count. */
        {"MEMORY_COPY_HOST_TO_DEVICE", 20, 10 << 20, 7900000000, 10, 1300000, "Slow copies",
         "7.9 GB/s at 1.0 MiB"},
        {"MEMORY_COPY_DEVICE_TO_HOST", 2000, 1000 << 17, 9000000000, 1000, 9000000, NULL, NULL},
        {"MEMORY_COPY_DEVICE_TO_HOST", 100, 102400, 100, 1, 1300000, NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "overlap", overlap_columns);
        ROW(all, t, "GPU 0", NULL, WALL, WALL, 0, 90000, 0, 20, 9, 90000, 0);
        t = TABLE(all, "copies", copy_columns);
        ROW(all, t, cases[i].direction, NULL, cases[i].calls, cases[i].bytes, cases[i].rate,
            cases[i].unsized, cases[i].ns);
        check(all, cases[i].finding, cases[i].evidence);
    }
    check(rocl_tables_new(), NULL, NULL);
}

static void test_allocations(void **state)
{
    static const struct {
        int64_t kernels, allocs, calls, ns, processes;
        const char *finding, *evidence;
    } cases[] = {
        {9999, 1000, 0, 0, 0, "Memory is allocated", "1000 allocations and frees, with 9999"},
        {10000, 1000, 0, 0, 0, NULL, NULL},
        {10, 999, 0, 0, 0, NULL, NULL},
        {999, 0, 100, 100001, 1, "Memory is allocated", "100 allocations and frees"},
        {199, 0, 20, 100001, 1, "Memory is allocated", "20 allocations and frees"},
        {189, 0, 19, 100001, 1, NULL, NULL},
        {999, 0, 100, 100000, 1, NULL, NULL},
        {999, 0, 100, 200000, 2, NULL, NULL},
        {1000, 0, 100, 100001, 1, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "domains", domain_columns);
        ROW(all, t, "KERNELS", NULL, cases[i].kernels);
        ROW(all, t, "MEMORY_ALLOCATIONS", NULL, cases[i].allocs);
        t = TABLE(all, "memory_calls", memory_columns);
        rocl_datum *r = rocl_table_row(t);
        r[0] = rocl_datum_int(cases[i].calls);
        r[1] = rocl_datum_int(cases[i].ns);
        r[2] = rocl_datum_int(cases[i].processes);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

static void test_streams(void **state)
{
    static const struct {
        int64_t kernels, busy;
        double average;
        const char *finding, *evidence;
    } cases[] = {{20, 500, 1.04, "Serialised execution", "2 streams have 20 kernels or more, but"},
                 {20, 500, 1.05, NULL, NULL},
                 {100, 100, 1.04, NULL, NULL}, /* a tenth of the time */
                 {19, 500, 1.04, NULL, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "streams", stream_columns);
        ROW(all, t, "Stream 1", NULL, 5000, 500);
        ROW(all, t, "Stream 2", NULL, cases[i].kernels, cases[i].busy);
        t = TABLE(all, "stream_activity", activity_columns);
        ROW(all, t, "GPU 0", NULL, 1000, 0);
        t->cells[2] = rocl_datum_real(cases[i].average);
        check(all, cases[i].finding, cases[i].evidence);
    }
}

/* A late rank says why others communicate for long; unless it explains less than half of it. */
static void test_late_rank(void **state)
{
    (void)state;
    for (int64_t gain = 9999; gain <= 200000; gain *= 2) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "overlap", overlap_columns);
        ROW(all, t, "GPU 0", NULL, WALL, WALL - 200000, 200000, 0, 0, 90, 0, 0, 0);
        t = TABLE(all, "late_ranks", late_columns);
        ROW(all, t, "host", "collectives", 3, 50, 60, gain, 3 * gain, 70);
        all = evaluate(all);
        t = (rocl_table *)(size_t)rocl_tables_find(all, "findings");
        const bool late = gain >= WALL / 100, alone = gain >= 100000;
        assert_int_equal(t->row_count, late + !alone);
        assert_string_equal(text_of(t, 0, "rule"), alone ? "late-rank" : "exposed-communication");
        if (late) {
            const size_t row = alone ? 0 : 1;
            assert_string_equal(
                text_of(t, row, "finding"),
                "Rank 3 is late, and the others wait for it: its host takes longer");
            assert_non_null(
                strstr(text_of(t, row, "evidence"), "the last in 50 of 60 collectives"));
            assert_int_equal(rocl_datum_number(rocl_table_find_cell(t, row, "gain_ns")), gain);
            assert_int_equal(rocl_datum_number(rocl_table_find_cell(t, row, "rank")), 3);
        }
        rocl_tables_free(all);
    }
}

/* What doctor doubts comes first, and what rests on it is not said. */
static void test_doubts(void **state)
{
    static const struct {
        const char *rule, *level;
        int64_t events;
        bool said;
    } cases[] = {{"graphs-without-kernels", "doubt", 6, false},
                 {"graphs-without-kernels", "doubt", 4, true},
                 {"clocks-apart", "unusable", 1, false},
                 {"long-kernels", "doubt", 1, false},
                 {"hosts-apart", "doubt", 1, true},
                 {"no-copies", "note", 1, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        rocl_tables *all = rocl_tables_new();
        rocl_table *t = TABLE(all, "overlap", overlap_columns);
        ROW(all, t, "GPU 0", NULL, 1000, 100, 0, 0, 900, 90, 0, 0, 0);
        t = TABLE(all, "gap_classes", class_columns);
        ROW(all, t, "GPU 0", "host", 10, 900);
        t = TABLE(all, "doctor_findings", doctor_columns);
        ROW(all, t, cases[i].rule, cases[i].level, cases[i].events);
        all = evaluate(all);
        t = (rocl_table *)(size_t)rocl_tables_find(all, "findings");
        assert_int_equal(t->row_count, 1 + cases[i].said);
        const size_t doubt = !strcmp(cases[i].level, "note");
        assert_string_equal(text_of(t, doubt, "rule"), cases[i].rule);
        if (cases[i].said)
            assert_string_equal(text_of(t, !doubt, "rule"), "host-bound");
        rocl_tables_free(all);
    }
}

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
static const rocl_table_column peak_columns[] = {{"name", "", ROCL_UNIT_TEXT},
                                                 {"percent", "", ROCL_UNIT_PERCENT},
                                                 {"peak_percent", "", ROCL_UNIT_PERCENT}};

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
        check(all, cases[i].finding, cases[i].evidence);
    }
}

/* Whoever adds a rule says all of it. */
static void test_rules(void **state)
{
    (void)state;
    for (size_t k = 0; k < rocl_finding_rule_count; k++) {
        const finding_rule *r = &rocl_finding_rules[k];
        const char *const parts[] = {r->name, r->report, r->table, r->threshold, r->remedy};
        for (size_t i = 0; i < COUNT(parts); i++)
            if (!parts[i] || !*parts[i] || strchr(parts[i], '\n'))
                fail_msg("part %zu of rule %zu", i, k);
        assert_non_null(strpbrk(r->threshold, "0123456789"));
        for (size_t i = 0; i < k; i++)
            assert_string_not_equal(r->name, rocl_finding_rules[i].name);
        assert_non_null(rocl_evidence_of(
            &(rocl_stats_options){.findings = true, .named = UINT32_MAX}, r->table));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),     cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_gpus),        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_allocations), cmocka_unit_test(test_streams),
        cmocka_unit_test(test_doubts),      cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_steps),       cmocka_unit_test(test_late_rank),
        cmocka_unit_test(test_peak),        cmocka_unit_test(test_critical_path),
        cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

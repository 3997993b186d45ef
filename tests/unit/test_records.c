/* The engine of records, by way of raw texts of rocprof: definitions and their order, ranges whose
 * ends are records of their own, faults with their locations, processes that are not named, files
 * of one run. Whatever the number of workers, however small pieces and blocks are, and whether
 * records are kept or parsed again, it is the same. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "rocline.h"
#include "source/records/records.h"
#include "source/rtg/rtg.h"

static char folder[] = "/tmp/test-records-XXXXXX";
static const char *const names[] = {"hip_api_trace.txt", "hcc_ops_trace.txt", "results.txt"};

/* ---- a trace as text ------------------------------------------------------------------------ */

typedef struct result {
    rocl_trace *trace;
    pthread_mutex_t lock;
    char **rows;
    size_t count;
    rocl_buf text;
} result;

static void put(rocl_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(rocl_buf *b, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    rocl_buf_str(b, text);
}

/* "region 10+5 7.8 'hipMalloc' #3", then where, and the value of a counter */
static char *describe_event(const result *r, const rocl_batch *batch, size_t i)
{
    const rocl_capture *c = batch->capture;
    const rocl_event *e = rocl_batch_event(batch, i);
    rocl_buf b = {0};
    put(&b, "%s %lld+%lld %lld", rocl_kind_name(batch->kind), (long long)e->start,
        (long long)(e->end - e->start), (long long)c->processes[e->process].pid);
    if (e->thread != ROCL_NONE)
        put(&b, ".%lld", (long long)c->threads[e->thread].tid);
    put(&b, " '%s'", rocl_text(r->trace, e->name, NULL));
    if (e->stack_id)
        put(&b, " #%llu", (unsigned long long)e->stack_id);
    if (batch->kind == ROCL_DISPATCH || batch->kind == ROCL_COUNTER) {
        const rocl_dispatch *d = batch->kind == ROCL_DISPATCH
                                     ? &batch->dispatches[i]
                                     : (const rocl_dispatch *)&batch->counters[i];
        put(&b, " %s Q%lld", rocl_text(r->trace, c->agents[d->agent].label, NULL),
            d->queue == ROCL_NONE ? -1 : (long long)c->queues[d->queue].id);
    }
    if (batch->kind == ROCL_COUNTER)
        put(&b, " %s=%g", rocl_text(r->trace, c->counters[batch->counters[i].counter].name, NULL),
            batch->counters[i].value);
    rocl_buf_byte(&b, 0);
    return (char *)b.data;
}

static rocl_status add_batch(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    result *r = ctx;
    (void)worker, (void)err;
    pthread_mutex_lock(&r->lock);
    r->rows = realloc(r->rows, (r->count + b->count + 1) * sizeof *r->rows);
    for (size_t i = 0; i < b->count; i++)
        r->rows[r->count++] = describe_event(r, b, i);
    pthread_mutex_unlock(&r->lock);
    return ROCL_OK;
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_notice(void *ctx, const char *text)
{
    result *r = ctx;
    const char *slash = strrchr(text, '/');
    put(&r->text, "%s\n", slash ? slash + 1 : text);
}

/* Definitions, notices and events, sorted; what was left out is counted by the notices. */
static char *read_trace(const char *const *paths, size_t count, unsigned jobs, size_t memory,
                        uint32_t fields)
{
    result r = {.lock = PTHREAD_MUTEX_INITIALIZER};
    rocl_options o = {.jobs = jobs, .memory = memory, .notice = add_notice, .ctx = &r};
    rocl_error *err = rocl_error_new();
    uint64_t faults = 0;
    if (rocl_trace_open(&r.trace, paths, count, &o, err) != ROCL_OK ||
        rocl_trace_scan(r.trace, ROCL_ALL_KINDS, fields, add_batch, &r, err) > ROCL_PARTIAL)
        fail_msg("%s", rocl_error_text(err));
    rocl_error_free(err);
    for (int f = 0; f < ROCL_FAULTS; f++)
        faults += rocl_trace_faults(r.trace, (rocl_fault)f);
    if (r.count)
        qsort(r.rows, r.count, sizeof *r.rows, compare_rows);
    for (size_t i = 0; i < r.count; i++) {
        put(&r.text, "%s\n", r.rows[i]);
        free(r.rows[i]);
    }
    free(r.rows);
    const rocl_capture *c = rocl_trace_capture(r.trace, 0);
    put(&r.text, "faults %llu, processes", (unsigned long long)faults);
    for (uint32_t i = 0; i < c->process_count; i++)
        put(&r.text, " %lld", (long long)c->processes[i].pid);
    put(&r.text, ", threads");
    for (uint32_t i = 0; i < c->thread_count; i++)
        put(&r.text, " %lld", (long long)c->threads[i].tid);
    put(&r.text, ", agents");
    for (uint32_t i = 0; i < c->agent_count; i++)
        put(&r.text, " %s", rocl_text(r.trace, c->agents[i].label, NULL));
    put(&r.text, ", queues");
    for (uint32_t i = 0; i < c->queue_count; i++)
        put(&r.text, " %lld", (long long)c->queues[i].id);
    put(&r.text, ", kernels");
    for (uint32_t i = 0; i < c->kernel_count; i++)
        put(&r.text, " %s", rocl_text(r.trace, c->kernels[i].shown, NULL));
    rocl_buf_byte(&r.text, 0);
    rocl_trace_close(r.trace);
    return (char *)r.text.data;
}

/* ---- cases ---------------------------------------------------------------------------------- */

static const struct {
    const char *title;
    const char *texts[3]; /* of the files of a run; NULL: none */
    const char *expected;
} cases[] = {
    {"keys are numbered in the order of their records, not of who finds them",
     {"500000009:500000010 7:72 hipA() :1\n500000003:500000004 5:71 hipB() :2\n"
      "500000001:500000002 7:70 hipA() :3\n",
      "500000005:500000006 3:1 k2:1:7\n500000007:500000008 1:4 k1:3:7\n"
      "500000007:500000009 1:4 k1:2:5\n"},
     "kernel 500000005+1 7 'k2' #1 GPU 3 Q1\n"
     "kernel 500000007+1 7 'k1' #3 GPU 1 Q4\n"
     "kernel 500000007+2 5 'k1' #68719476738 GPU 1 Q4\n"
     "region 500000001+1 7.70 'hipA' #3\n"
     "region 500000003+1 5.71 'hipB' #68719476738\n"
     "region 500000009+1 7.72 'hipA' #1\n"
     "faults 0, processes 7 5, threads 72 71 70, agents GPU 3 GPU 1 GPU 1, queues 1 4 4, "
     "kernels k2 k1 k1"},
    {"halves: nested in their thread, by their number, the latest one; without end or begin",
     {"500000001 7:7 1:0:\"a\"\n500000002 7:7 1:0:\"b\"\n500000003 7:8 1:0:\"other\"\n"
      "500000004 7:7 2:0:\"\"\n500000005 7:8 3:1:\"x\"\n500000006 7:7 3:2:\"y\"\n"
      "500000007 7:8 4:1:\"\"\n500000008 7:7 4:9:\"\"\n500000009 7:7 2:0:\"\"\n"
      "500000010 7:7 2:0:\"\"\n"},
     "hip_api_trace.txt:3: a range that never ends: '500000003 7:8 1:0:\"other\"'\n"
     "hip_api_trace.txt:10: the end of a range that never began: '500000010 7:7 2:0:\"\"'\n"
     "marker 500000001+8 7.7 'a'\nmarker 500000002+2 7.7 'b'\nmarker 500000005+2 7.8 'x'\n"
     "marker 500000006+2 7.7 'y'\n"
     "faults 2, processes 7, threads 7 8, agents, queues, kernels"},
    {"faults have the line of their file, in each file",
     {"500000001:500000002 7:7 hipA() :1\nthe program\n500000003:500000002 7:7 hipB() :1\n"
      "500000001:500000002 7:7 hipC\n",
      "500000001:500000002 1:1 k:1:7\n500000001:500000002 1:1\n500000001:0 1:1 k:1:7\n"},
     "hcc_ops_trace.txt:2: a record that is cut or damaged: '500000001:500000002 1:1'\n"
     "hcc_ops_trace.txt:3: the end is 0: '500000001:0 1:1 k:1:7'\n"
     "hip_api_trace.txt:3: it ends before it starts: '500000003:500000002 7:7 hipB() :1'\n"
     "hip_api_trace.txt:4: a record that is cut or damaged: '500000001:500000002 7:7 hipC'\n"
     "kernel 500000001+1 7 'k' #1 GPU 1 Q1\nregion 500000001+1 7.7 'hipA' #1\n"
     "faults 4, processes 7, threads 7, agents GPU 1, queues 1, kernels k"},
    {"work of no process is of the only one",
     {"500000001:500000002 7:7 hipA() :1\n", "500000003:500000004 1:1 k:1\n"},
     "kernel 500000003+1 7 'k' #1 GPU 1 Q1\nregion 500000001+1 7.7 'hipA' #1\n"
     "faults 0, processes 7, threads 7, agents GPU 1, queues 1, kernels k"},
    {"records over several lines",
     {NULL, NULL,
      "dispatch[0], gpu-id(1), queue-id(2), pid(7), tid(8), kernel-name(\"a\"), "
      "time(1,500000001,500000003,4)\n  A (1)\n  B (2.5)\n"
      "dispatch[1], gpu-id(1), queue-id(2), pid(7), tid(8), kernel-name(\"b\")\n  A (3)\n"
      "dispatch[2], gpu-id(1), queue-id(2), pid(7), tid(8), kernel-name(\"c\")\n"
      "dispatch[3], gpu-id(1), queue-id(\n  A (4)\n"
      "dispatch[4], gpu-id(1), queue-id(2), pid(7), tid(8), kernel-name(\"e\")\n"},
     "results.txt:6: a dispatch without times: 'dispatch[2], gpu-id(1), queue-id(2), pid(7), "
     "tid(8), "
     "kernel-'\n"
     "results.txt:7: a record that is cut or damaged: 'dispatch[3], gpu-id(1), queue-id('\n"
     "results.txt:8: a counter whose dispatch cannot be read: '  A (4)'\n"
     "results.txt:9: a dispatch without times: 'dispatch[4], gpu-id(1), queue-id(2), pid(7), "
     "tid(8), "
     "kernel-'\n"
     "counter 0+0 7.8 'b' GPU 1 Q2 A=3\ncounter 500000001+2 7.8 'a' GPU 1 Q2 A=1\n"
     "counter 500000001+2 7.8 'a' GPU 1 Q2 B=2.5\nkernel 500000001+2 7.8 'a' GPU 1 Q2\n"
     "faults 4, processes 7, threads 8, agents GPU 1, queues 2, kernels a b"},
};

static void set_sizes(size_t piece, size_t block)
{
    rocl_piece_bytes = piece;
    rtg_sizes_used = (rtg_sizes){4 << 20, block, 64 << 20, piece < 4096 ? 2 : 1024};
}

static void test_cases(void **unused)
{
    static const size_t pieces[][2] = {
        {4 << 20, 512 << 10}, {1, 1}, {7, 64}, {50, 13}, {150, 4096}};
    static const unsigned jobs[] = {1, 2, 5};
    /* Records are kept in memory, some of them, all in a file; they are parsed again. */
    enum { KEPT = ROCL_ALL_FIELDS & ~(ROCL_FIELD_PACKET | ROCL_FIELD_INSTANCES) };
    static const struct {
        size_t memory;
        uint32_t fields;
    } ways[] = {{0, KEPT}, {300, KEPT}, {1, KEPT}, {0, ROCL_ALL_FIELDS}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char paths[3][96];
        const char *list[3];
        size_t n = 0;
        for (size_t k = 0; k < 3; k++) {
            snprintf(paths[k], sizeof paths[k], "%s/%s", folder, names[k]);
            FILE *f = cases[i].texts[k] ? fopen(paths[k], "wb") : NULL;
            if (!f)
                continue;
            fputs(cases[i].texts[k], f);
            fclose(f);
            list[n++] = paths[k];
        }
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces * 12; k++) {
            const unsigned j = jobs[k % 3];
            const size_t way = k / 3 % 4;
            set_sizes(pieces[k / 12][0], pieces[k / 12][1]);
            char *got = read_trace(list, n, j, ways[way].memory, ways[way].fields);
            if (strcmp(got, cases[i].expected) != 0)
                print_error("%s (pieces of %zu, -j%u, way %zu)\n", cases[i].title,
                            pieces[k / 12][0], j, way);
            assert_string_equal(got, cases[i].expected);
            free(got);
        }
        for (size_t k = 0; k < n; k++)
            unlink(list[k]);
    }
    set_sizes(4 << 20, 512 << 10);
}

/* ---- halves in any order --------------------------------------------------------------------- */

/* A few threads and numbered ranges of one process: in order of time, but for `per_mille` of the
 * lines; nested, crossing, without begin or end. */
static void write_halves(FILE *f, unsigned seed, unsigned per_mille)
{
    unsigned state = seed * 2654435761u + 1;
    long long now = 500000000;
    for (int i = 0; i < 400; i++) {
        unsigned draw[5];
        for (int k = 0; k < 5; k++)
            draw[k] = (state = state * 1664525u + 1013904223u) >> 16;
        now += draw[0] % 3;
        const long long time = draw[1] % 1000 < per_mille ? now - draw[0] % 40 : now;
        if (draw[2] % 3 == 0)
            fprintf(f, "%lld 7:%u %u:%u:\"r%d\"\n", time, 7 + draw[3] % 2, 3 + draw[4] % 2,
                    1 + draw[3] / 2 % 5, i);
        else
            fprintf(f, "%lld 7:%u %u:0:\"p%d\"\n", time, 7 + draw[3] % 3, 1 + draw[4] % 2, i);
    }
}

/* Pieces of a line hold no pair: there the sorter joins all of them. */
static void test_halves(void **unused)
{
    static const size_t pieces[] = {100, 1500, 4 << 20};
    char path[96];
    const char *list[] = {path};
    (void)unused;
    snprintf(path, sizeof path, "%s/%s", folder, names[0]);
    for (unsigned i = 0; i < 40; i++) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        write_halves(f, i, i % 4 == 0 ? 0 : i % 4 == 1 ? 5 : 200);
        fclose(f);
        set_sizes(1, 4096);
        char *expected = read_trace(list, 1, 1, 0, ROCL_ALL_FIELDS);
        for (size_t k = 0; k < 4 * sizeof pieces / sizeof *pieces; k++) {
            set_sizes(pieces[k / 4], 4096);
            char *got =
                read_trace(list, 1, 1 + k % 2, k % 4 < 2 ? 0 : 300,
                           k % 4 ? ROCL_ALL_FIELDS
                                 : ROCL_ALL_FIELDS & ~(ROCL_FIELD_PACKET | ROCL_FIELD_INSTANCES));
            if (strcmp(got, expected) != 0)
                print_error("seed %u, pieces of %zu, way %zu\n", i, pieces[k / 4], k % 4);
            assert_string_equal(got, expected);
            free(got);
        }
        free(expected);
    }
    unlink(path);
    set_sizes(4 << 20, 512 << 10);
}

/* Ranges that are all open at once, and end in the order of their begins, backwards or shuffled:
 * each has a time of its own, which its name tells. */
static void test_many_open(void **unused)
{
    enum { RANGES = 3000, SHUFFLE = 1009 };
    static const size_t pieces[] = {3000, 40000, 4 << 20};
    char path[96];
    const char *list[] = {path};
    (void)unused;
    snprintf(path, sizeof path, "%s/%s", folder, names[0]);
    for (int order = 0; order < 3; order++) {
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        for (int i = 0; i < RANGES; i++)
            fprintf(f, "%d 7:7 3:%d:\"r%d\"\n", 1000000 + i, i + 1, i);
        for (int k = 0; k < RANGES; k++) {
            const int i = order == 0 ? k : order == 1 ? RANGES - 1 - k : k * SHUFFLE % RANGES;
            fprintf(f, "%d 7:7 4:%d:\"\"\n", 2000000 + k, i + 1);
        }
        fclose(f);
        for (size_t k = 0; k < 2 * sizeof pieces / sizeof *pieces; k++) {
            set_sizes(pieces[k / 2], 4096);
            char *got = read_trace(list, 1, 1 + k % 2, 0, ROCL_ALL_FIELDS);
            for (int m = 0; m < RANGES; m++) {
                const int i = order == 0 ? m : order == 1 ? RANGES - 1 - m : m * SHUFFLE % RANGES;
                char row[64];
                snprintf(row, sizeof row, "marker %d+%d 7.7 'r%d'\n", 1000000 + i, 1000000 + m - i,
                         i);
                if (!strstr(got, row))
                    fail_msg("order %d, pieces of %zu: no %s", order, pieces[k / 2], row);
            }
            assert_non_null(strstr(got, "faults 0,"));
            free(got);
        }
    }
    unlink(path);
    set_sizes(4 << 20, 512 << 10);
}

static int make_folder(void **unused)
{
    (void)unused;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_halves),
                                       cmocka_unit_test(test_many_open)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

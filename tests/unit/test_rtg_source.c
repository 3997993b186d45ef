/* Legacy text -> events: for each text the events that come out, in order of their lines. Whatever
 * the number of workers, and wherever the file is cut into ranges and blocks, they are the same. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/buf.h"
#include "rocline.h"
#include "source/rtg/rtg.h"

static char folder[] = "/tmp/test-rtg-XXXXXX";

static const rtg_sizes usual = {4 << 20, 512 << 10, 64 << 20, 1024};

/* ---- a trace as text ----------------------------------------------------------------------- */

typedef struct row {
    uint64_t id;
    rocl_kind kind;
    char *text;
} row;

typedef struct result {
    rocl_trace *trace;
    pthread_mutex_t lock;
    row *rows;
    size_t count;
    rocl_buf notices;
    rocl_status status;
    char error[512];
    uint64_t faults[ROCL_FAULTS];
} result;

static void put(rocl_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(rocl_buf *b, const char *fmt, ...)
{
    char text[8192];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    rocl_buf_str(b, text);
}

static const char *text_of(const result *r, uint32_t id)
{
    return rocl_text(r->trace, id, NULL);
}

static void put_place(rocl_buf *b, const result *r, const rocl_capture *c, uint32_t agent,
                      uint32_t queue)
{
    put(b, " %s", agent == ROCL_NONE ? "-" : text_of(r, c->agents[agent].label));
    if (queue == ROCL_NONE)
        put(b, " -");
    else if (c->queues[queue].name)
        put(b, " %s", text_of(r, c->queues[queue].name));
    else
        put(b, " Q%lld", (long long)c->queues[queue].id);
}

static void put_args(rocl_buf *b, const result *r, const rocl_batch *batch, const rocl_region *g)
{
    for (uint32_t i = 0; i < g->arg_count; i++) {
        const rocl_arg *a = &batch->args[g->arg_first + i];
        assert_int_equal(a->value[a->value_len], 0);
        put(b, " %s=<%s>", text_of(r, a->name), a->value);
    }
}

static char *describe(const result *r, const rocl_batch *batch, size_t i)
{
    const rocl_capture *c = batch->capture;
    const rocl_event *e = rocl_batch_event(batch, i);
    rocl_buf b = {0};
    assert_int_equal(e->duration, e->end - e->start);
    put(&b, "%s %lld+%lld %lld", rocl_kind_name(batch->kind), (long long)e->start,
        (long long)e->duration, (long long)c->processes[e->process].pid);
    if (e->thread != ROCL_NONE)
        put(&b, ".%lld", (long long)c->threads[e->thread].tid);
    put(&b, " %s '%s'", text_of(r, e->category), text_of(r, e->name));
    if (e->stack_id)
        put(&b, " #%llu", (unsigned long long)e->stack_id);
    if (batch->kind == ROCL_DISPATCH) {
        const rocl_dispatch *d = &batch->dispatches[i];
        put_place(&b, r, c, d->agent, d->queue);
        put(&b, " %llu", (unsigned long long)d->dispatch_id);
        if (d->grid[0])
            put(&b, " %ux%ux%u/%ux%ux%u", d->grid[0], d->grid[1], d->grid[2], d->workgroup[0],
                d->workgroup[1], d->workgroup[2]);
    } else if (batch->kind == ROCL_COPY) {
        put_place(&b, r, c, batch->copies[i].src, batch->copies[i].queue);
        put_place(&b, r, c, batch->copies[i].dst, ROCL_NONE);
        put(&b, " %llu", (unsigned long long)batch->copies[i].size);
    } else if (batch->kind == ROCL_BARRIER) {
        put_place(&b, r, c, batch->hips[i].agent, batch->hips[i].queue);
    } else {
        put_args(&b, r, batch, &batch->regions[i]);
    }
    rocl_buf_byte(&b, 0);
    return (char *)b.data;
}

static rocl_status take(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    result *r = ctx;
    (void)worker, (void)err;
    pthread_mutex_lock(&r->lock);
    r->rows = realloc(r->rows, (r->count + b->count + 1) * sizeof *r->rows);
    for (size_t i = 0; i < b->count; i++)
        r->rows[r->count++] = (row){rocl_batch_event(b, i)->id, b->kind, describe(r, b, i)};
    pthread_mutex_unlock(&r->lock);
    return ROCL_OK;
}

static int by_line(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void note(void *ctx, const char *text)
{
    result *r = ctx;
    const char *base = strstr(text, "t.77:");
    put(&r->notices, "%s\n", base ? base : text);
}

static result read_trace(const char *path, rocl_options *o)
{
    result r = {.lock = PTHREAD_MUTEX_INITIALIZER};
    rocl_error *err = rocl_error_new();
    o->notice = note;
    o->ctx = &r;
    r.status = rocl_trace_open(&r.trace, &path, 1, o, err);
    if (r.status == ROCL_OK)
        r.status = rocl_trace_scan(r.trace, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, take, &r, err);
    snprintf(r.error, sizeof r.error, "%s", rocl_error_text(err));
    rocl_error_free(err);
    for (int f = 0; r.trace && f < ROCL_FAULTS; f++)
        r.faults[f] = rocl_trace_faults(r.trace, (rocl_fault)f);
    if (r.count)
        qsort(r.rows, r.count, sizeof *r.rows, by_line);
    return r;
}

static void put_agents(rocl_buf *b, const result *r)
{
    const rocl_capture *c = rocl_trace_capture(r->trace, 0);
    put(b, "processes:");
    for (uint32_t i = 0; i < c->process_count; i++)
        put(b, " %lld", (long long)c->processes[i].pid);
    put(b, " threads:");
    for (uint32_t i = 0; i < c->thread_count; i++)
        put(b, " %lld", (long long)c->threads[i].tid);
    put(b, " agents:");
    for (uint32_t i = 0; i < c->agent_count; i++)
        put(b, " %s", text_of(r, c->agents[i].label));
    put(b, " queues:");
    for (uint32_t i = 0; i < c->queue_count; i++)
        put(b, " %lld", (long long)c->queues[i].id);
}

/* All that came out; frees the result. */
static char *story(result *r, bool definitions)
{
    rocl_buf b = {0};
    for (size_t i = 0; i < r->count; i++) {
        put(&b, "%s\n", r->rows[i].text);
        free(r->rows[i].text);
    }
    rocl_buf_byte(&r->notices, 0);
    put(&b, "%s", r->notices.data ? (char *)r->notices.data : "");
    if (definitions && r->trace)
        put_agents(&b, r);
    rocl_buf_byte(&b, 0);
    free(r->rows);
    rocl_buf_free(&r->notices);
    rocl_trace_close(r->trace);
    return (char *)b.data;
}

static const char *write_text(const char *text, size_t n)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/t.77", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    fclose(f);
    return path;
}

/* ---- texts and events ---------------------------------------------------------------------- */

#define HIP    "HIP: pid:77 tid:5 "
#define HSA    "HSA: pid:77 tid:5 "
#define GPU    "HSA: pid:77 tid:9 "
#define DEPS   " dep1:0 dep2:0 dep3:1 dep4:0 dep5:0"
#define CALL   HIP "hipFree(ptr=0) ret=0 @10 +5\n"
#define CALLED "region 10+5 77.5 HIP_RUNTIME_API 'hipFree' ptr=<0>\n"

static const struct {
    const char *name, *text, *events;
} cases[] = {
    {"a HIP call", HIP "hipMalloc(ptr=0, size=4096) ret=0 @1000 +50\n",
     "region 1000+50 77.5 HIP_RUNTIME_API 'hipMalloc' ptr=<0> size=<4096>\n"},
    {"without arguments", HIP "hipFree ret=0 @10 +5\n" HIP "hipInit  ret=1 @20 +0\n",
     "region 10+5 77.5 HIP_RUNTIME_API 'hipFree'\n"
     "region 20+0 77.5 HIP_RUNTIME_API 'hipInit' ret=<1>\n"},
    {"a launch", HIP "hipLaunchKernel(f=0x2, grid={1,2,3}, s=\"a, b\") [_Z3fooi] ret=0 @1 +2\n",
     "region 1+2 77.5 HIP_RUNTIME_API 'hipLaunchKernel' f=<0x2> grid=<{1,2,3}> s=<\"a, b\"> "
     "kernel=<_Z3fooi>\n"},
    {"HSA calls",
     HSA "hsa_init () ret=0 @1 +2\n" HSA "hsa_amd_x (agent_7, 0, f(1, 2)) ret=-5 @3 +4\n" HSA
         "hsa_y (1) ret=void @9 +1\n",
     "region 1+2 77.5 HSA_CORE_API 'hsa_init'\n"
     "region 3+4 77.5 HSA_AMD_EXT_API 'hsa_amd_x' arg0=<agent_7> arg1=<0> arg2=<f(1, 2)> "
     "ret=<-5>\n"
     "region 9+1 77.5 HSA_CORE_API 'hsa_y' arg0=<1>\n"},
    {"a dispatch and its dimensions",
     HSA "dispatch queue:3 agent:9 signal:1 name:'foo(int) [clone .kd]' tick:50 id:0 "
         "workgroup:{8,4,2} grid:{24,8,4}\n" GPU
         "dispatch queue:3 agent:9 signal:1 name:'foo(int) [clone .kd]' start:60 stop:70 id:0\n",
     "instant 50+0 77.5 HSA_HOST_DISPATCH 'foo(int)' #1\n"
     "kernel 60+10 77 KERNEL_DISPATCH 'foo(int)' #1 GPU 0 Q3 0 24x8x4/8x4x2\n"},
    {"a dispatch alone, a queue with a name",
     GPU "dispatch queue:0xabc agent:9 signal:1 name:'it's a.kd' start:60 stop:70 id:4\n",
     "kernel 60+10 77 KERNEL_DISPATCH 'it's a' #5 GPU 0 0xabc 4\n"},
    {"an id that comes twice",
     HSA "dispatch queue:3 agent:9 signal:1 name:'a' tick:1 id:7 workgroup:{1,1,1} "
         "grid:{2,1,1}\n" GPU "dispatch queue:3 agent:9 signal:1 name:'a' start:2 stop:3 id:7\n" HSA
         "dispatch queue:3 agent:9 signal:1 name:'a' tick:4 id:7 workgroup:{1,1,1} "
         "grid:{3,1,1}\n" GPU "dispatch queue:3 agent:9 signal:1 name:'a' start:5 stop:6 id:7\n",
     "instant 1+0 77.5 HSA_HOST_DISPATCH 'a' #8\n"
     "kernel 2+1 77 KERNEL_DISPATCH 'a' #8 GPU 0 Q3 7 2x1x1/1x1x1\n"
     "instant 4+0 77.5 HSA_HOST_DISPATCH 'a' #8\n"
     "kernel 5+1 77 KERNEL_DISPATCH 'a' #8 GPU 0 Q3 7 3x1x1/1x1x1\n"},
    {"barriers, vendor packets",
     HSA "barrier queue:3 agent:9 signal:1" DEPS " tick:5 id:1\n" GPU
         "barrier queue:3 agent:9 signal:1 start:6 stop:8" DEPS " id:1\n" HSA
         "vendor queue:3 agent:9 signal:1 dep:2 tick:9 id:2\n" GPU
         "vendor queue:3 agent:9 signal:1 start:10 stop:11 dep:2 id:2\n",
     "instant 5+0 77.5 HSA_HOST_BARRIER 'barrier' #2\n"
     "barrier 6+2 77 BARRIER_PACKET 'barrier' #2 GPU 0 Q3\n"
     "instant 9+0 77.5 HSA_HOST_VENDOR 'vendor' #3\n"
     "barrier 10+1 77 BARRIER_PACKET 'vendor' #3 GPU 0 Q3\n"},
    {"a copy", GPU "copy agent:8 signal:1 start:10 stop:20" DEPS "\n",
     "copy 10+10 77 MEMORY_COPY 'copy' - - GPU 0 - 0\n"},
    {"ROCTx", "RTX: pid:77 tid:5 step 1 @10 +5\nRTX: pid:77 tid:5 here @12\n",
     "marker 10+5 77.5 MARKER_CORE_RANGE_API 'step 1'\n"
     "instant 12+0 77.5 MARKER_CORE_API 'here'\n"},
    {"profile lines of the tracer",
     "profile:  kernel;\t   _Z3fooi.kd;\t   1.0 us;\t100;\t200;\t#1.0.4;\n"
     "profile: barrier;\t          ;\t   1.0 us;\t300;\t400;\t#0.2.5;\n"
     "profile:    copy;\tDeviceToHost;\t   1.0 us;\t500;\t600;\t#0.3.6;\t64 bytes;\t1 MB;\n",
     "kernel 100+100 77 KERNEL_DISPATCH '_Z3fooi' GPU 1 Q0 4\n"
     "barrier 300+100 77 BARRIER_PACKET 'barrier' GPU 0 Q2\n"
     "copy 500+100 77 MEMORY_COPY 'DeviceToHost' GPU 0 Q3 - - 64\n"},
    {"profile lines of HCC",
     "profile: copyslo;\tHostToDevice_sync_slow;\t1.0 us;\t90;\t100;\t200;\t#0.0.1;\t8 bytes;\n"
     "profile: barrier;\tdepcnt=1,acq=sys,rel=none;\t1 us;\t100;\t200;\t#0.0.2; deps=#0.1.7\n"
     "profile: copy;\tDeviceToDevice;\t1 us;\t100;\t200;\n"
     "profile:  kernel;\tfoo;\t 1.0 us;\t100;\t200;\t#0.1.3;",
     "copy 100+100 77 MEMORY_COPY 'HostToDevice_sync_slow' - Q0 GPU 0 - 8\n"
     "barrier 100+100 77 BARRIER_PACKET 'depcnt=1,acq=sys,rel=none' GPU 0 Q0\n"
     "copy 100+100 77 MEMORY_COPY 'DeviceToDevice' - - - - 0\n"
     "kernel 100+100 77 KERNEL_DISPATCH 'foo' GPU 0 Q1 3\n"},
    {"profile lines that lack something",
     "profile: kernel;\tfoo;\t1 us;\t#0.1.3;\n"
     "profile: kernel;\tfoo;\t1 us;\n"
     "profile: kernel;\tfoo;\t1 us;\t1;\t2;\t3;\n"
     "profile: tea;\tfoo;\t1 us;\t1;\t2;\t#0.0.1;\n"
     "profile: kernel;\tfoo;\t1 us;\t3;\t2;\t#0.0.1;\n",
     "t.77:1: a profile line without times: 'profile: kernel; foo; 1 us; #0.1.3;'\n"
     "t.77:2: a profile line without times: 'profile: kernel; foo; 1 us;'\n"
     "t.77:3: a profile line with three times and no id: "
     "'profile: kernel; foo; 1 us; 1; 2; 3;'\n"
     "t.77:4: a profile line of unknown type: 'profile: tea; foo; 1 us; 1; 2; #0.0.1;'\n"
     "t.77:5: ends before it starts: 'profile: kernel; foo; 1 us; 3; 2; #0.0.1;'\n"},
    {"strace", "1.5 write(1, \"a\", 1) = 1 <0.000001>\n[pid 42] 2.000000001 getpid() = 42 <1>\n",
     "region 1500000000+1000 0.0 STRACE 'write' arg0=<1> arg1=<\"a\"> arg2=<1>\n"
     "region 2000000001+1000000000 0.42 STRACE 'getpid'\n"},
    {"strace interrupted",
     "[pid 1] 1.0 read(3 <unfinished ...>\n[pid 2] 2.0 read(4 <unfinished ...>\n"
     "[pid 1] 3.0 <... read resumed> ) = 1 <1.5>\n[pid 2] 4.0 <... read resumed> ) = 1 <1.7>\n"
     "[pid 3] 5.0 <... read resumed> ) = 1 <1.7>\n9.0 close(4 <unfinished ...>\n",
     "region 1000000000+1500000000 0.1 STRACE 'read'\nregion 2000000000+1700000000 0.2 STRACE "
     "'read'\nt.77:5: a call is resumed that never began: '[pid 3] 5.0 <... read resumed> ) = 1 "
     "<1.7>'\nt.77:6: a call that was never resumed: '9.0 close(4 <unfinished ...>'\n"},
    {"text around", "Hello\n" CALL "1.2 x = y <z>\n\n", CALLED},
    {"CR LF", "HIP: pid:77 tid:5 hipFree(ptr=0) ret=0 @10 +5\r\n\r\n" CALL, CALLED CALLED},
    {"CR", "HIP: pid:77 tid:5 hipFree(ptr=0) ret=0 @10 +5\r" CALL "\rHIP: \r",
     CALLED CALLED "t.77:4: a HIP line that cannot be parsed: 'HIP: '\n"},
    {"no line end", CALL "HIP: pid:77 tid:5 hipFree(ptr=0) ret=0 @10 +5",
     CALLED "t.77:2: the last line has no line end and may be cut; if it is whole, add one: "
            "'HIP: pid:77 tid:5 hipFree(ptr=0) ret=0 @10 +5'\n"},
    {"one line, without its end", "HIP: pid:77 tid:5 hipFree(ptr=0) ret=0 @10 +5", CALLED},
    {"faults",
     CALL HIP "hipFree\n" HSA "nothing\nprofile: x\n" HIP
              "hipFree ret=0 @18446744073709551615 +1\n" HIP
              "hipFree ret=0 @9223372036854775807 +1\n" HIP "hipFree ret=0 @0 +0\n",
     CALLED "t.77:2: a HIP line that cannot be parsed: 'HIP: pid:77 tid:5 hipFree'\nt.77:3: an HSA "
            "line that cannot be parsed: 'HSA: pid:77 tid:5 nothing'\nt.77:4: a profile line that "
            "cannot be parsed: 'profile: x'\nt.77:5: a number that is too large: 'HIP: pid:77 "
            "tid:5 hipFree ret=0 @18446744073709551615 +1'\nt.77:6: a number that is too large: "
            "'HIP: pid:77 tid:5 hipFree ret=0 @9223372036854775807 +1'\n"},
    {"bytes that are no text", CALL "HIP: \xff\x1b[0m\n",
     CALLED "t.77:2: a HIP line that cannot be parsed: 'HIP: ??[0m'\n"},
};

static char *story_of(const char *path, unsigned jobs, bool definitions)
{
    rocl_options o = {.jobs = jobs, .args = true};
    result r = read_trace(path, &o);
    return story(&r, definitions);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = write_text(cases[i].text, strlen(cases[i].text));
        char *got = story_of(path, 1, false);
        if (strcmp(got, cases[i].events) != 0)
            print_error("case: %s\n", cases[i].name);
        assert_string_equal(got, cases[i].events);
        free(got);
    }
}

/* All cases in one file. */
static char *all_texts(size_t *n)
{
    rocl_buf b = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        put(&b, "%s\n", cases[i].text);
    *n = b.len;
    rocl_buf_byte(&b, 0);
    return (char *)b.data;
}

static void test_cuts(void **state)
{
    size_t n;
    char *text = all_texts(&n);
    const char *path = write_text(text, n);
    char *whole = story_of(path, 1, true);
    (void)state;
    for (size_t size = 1; size < 400; size += size < 60 ? 1 : 37) {
        for (size_t block = 1; block < 200; block = 3 * block + 1) {
            rtg_sizes_used = (rtg_sizes){size, block, usual.line_max, 3};
            char *cut = story_of(path, (unsigned)(size % 3) + 1, true);
            if (strcmp(cut, whole) != 0)
                print_error("ranges of %zu, blocks of %zu\n%s\n", size, block, cut);
            assert_string_equal(cut, whole);
            free(cut);
        }
    }
    rtg_sizes_used = usual;
    free(whole);
    free(text);
}

/* ---- single things ------------------------------------------------------------------------- */

static void test_numbering(void **state)
{
    static const char text[] =
        GPU "copy agent:900 signal:1 start:1 stop:2" DEPS "\n" GPU
            "dispatch queue:7 agent:100 signal:1 name:'a' start:2 stop:3 id:7\n"
            "HSA: pid:78 tid:9 dispatch queue:3 agent:100 signal:1 name:'a' start:2 stop:3 id:7\n"
            "HIP: pid:78 tid:4 hipFree ret=0 @10 +5\n" GPU
            "dispatch queue:3 agent:100 signal:1 name:'a' start:2 stop:3 id:7\n" CALL;
    (void)state;
    for (unsigned jobs = 1; jobs < 4; jobs++) {
        rtg_sizes_used.range = 60 * jobs;
        char *got = story_of(write_text(text, strlen(text)), jobs, true);
        assert_non_null(strstr(got, "processes: 77 78 threads: 4 5 agents: GPU 0 GPU 1 GPU 2 "
                                    "queues: 7 3 3"));
        free(got);
    }
    rtg_sizes_used = usual;
}

static void test_long_lines(void **state)
{
    static const char form[] = HIP "hipFree(ptr=%0*d) ret=0 @10 +5\n" CALL;
    char text[4096];
    (void)state;
    rtg_sizes_used = (rtg_sizes){100, 64, 1000, 10};
    for (int width = 900; width < 1100; width++) {
        int n = snprintf(text, sizeof text, form, width, 0);
        size_t line = (size_t)n - strlen(CALL) - 1;
        rocl_options o = {.jobs = 1};
        result r = read_trace(write_text(text, (size_t)n), &o);
        assert_int_equal(r.faults[ROCL_FAULT_BAD_LINE], line > 1000);
        assert_int_equal(r.count, line > 1000 ? 1 : 2);
        char *got = story(&r, false);
        assert_true((strstr(got, "t.77:1: a line that is too long: 'HIP: pid:77") != NULL) ==
                    (line > 1000));
        free(got);
    }
    rtg_sizes_used = usual;
}

static void test_nul(void **state)
{
    static const char text[] = CALL "HIP: pid:77 tid:5 hip\0x(a=1\0, b=2) ret=0 @10 +5\n\0\n";
    rocl_options o = {.jobs = 1, .args = true};
    (void)state;
    result r = read_trace(write_text(text, sizeof text - 1), &o);
    assert_int_equal(r.status, ROCL_OK);
    assert_int_equal(r.count, 2);
    free(story(&r, false));
}

static void test_many_args(void **state)
{
    rocl_buf b = {0};
    (void)state;
    put(&b, "%s", HIP "hipX(");
    for (int i = 0; i < 1000; i++)
        put(&b, "%d, ", i);
    put(&b, "%s", "x) ret=0 @10 +5\n");
    char *got = story_of(write_text((const char *)b.data, b.len), 1, false);
    assert_non_null(strstr(got, " arg0=<0> arg1=<1>"));
    assert_non_null(strstr(got, " arg254=<254> arg255=<255, 256, "));
    assert_null(strstr(got, "arg256"));
    free(got);
    rocl_buf_free(&b);
}

static void test_strict(void **state)
{
    static const char text[] = "text\n" CALL "HIP: no\nHIP: neither\n";
    (void)state;
    for (unsigned jobs = 1; jobs < 4; jobs++) {
        rocl_options o = {.jobs = jobs, .strict = true};
        rtg_sizes_used.range = 7 * jobs;
        result r = read_trace(write_text(text, sizeof text - 1), &o);
        assert_int_equal(r.status, ROCL_INPUT);
        assert_non_null(strstr(r.error, "t.77:3: a HIP line that cannot be parsed: 'HIP: no'"));
        free(story(&r, false));
    }
    rtg_sizes_used = usual;
}

static void test_filters(void **state)
{
    static const char text[] =
        CALL HIP "hipMalloc ret=0 @20 +5\nHIP: pid:78 tid:4 hipFree ret=0 @30 +5\n" GPU
                 "copy agent:900 signal:1 start:1 stop:2" DEPS "\n" GPU
                 "barrier queue:3 agent:9 signal:1 start:6 stop:8" DEPS " id:1\n";
    const struct {
        rocl_options o;
        size_t count;
    } rows[] = {
        {{.pids = (const char *const[]){"78", NULL}}, 1},
        {{.agents = (const char *const[]){"GPU 1", NULL}}, 4},
        {{.include = (const char *const[]){"barriers", NULL}}, 1},
        {{.exclude = (const char *const[]){"barrier", NULL}}, 4},
        {{.include = (const char *const[]){"hip", NULL}}, 3},
        {{.names = (const char *const[]){"Malloc", NULL}}, 1},
        {{.start = "50%"}, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rocl_options o = rows[i].o;
        o.jobs = 2;
        result r = read_trace(write_text(text, sizeof text - 1), &o);
        if (r.count != rows[i].count)
            print_error("filter %zu: %s\n", i, r.error);
        assert_int_equal(r.count, rows[i].count);
        free(story(&r, false));
    }
}

static void test_kernel_names(void **state)
{
    static const char text[] = GPU "dispatch queue:3 agent:9 signal:1 name:'void ns::f<int>(int*) "
                                   "[clone .kd]' start:2 stop:3 id:7\n";
    static const struct {
        rocl_kernel_names names;
        const char *shown;
    } rows[] = {{ROCL_NAMES_DISPLAY, "'void ns::f<int>(int*)'"},
                {ROCL_NAMES_MANGLED, "'void ns::f<int>(int*)'"},
                {ROCL_NAMES_TRUNCATED, "'f'"},
                {ROCL_NAMES_SHORT, "'f'"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rocl_options o = {.jobs = 1, .kernel_names = rows[i].names};
        result r = read_trace(write_text(text, sizeof text - 1), &o);
        assert_int_equal(r.count, 1);
        assert_non_null(strstr(r.rows[0].text, rows[i].shown));
        free(story(&r, false));
    }
}

/* ---- how it comes in ----------------------------------------------------------------------- */

static void write_gzip(const char *path, const char *text, size_t n, unsigned members)
{
    for (unsigned i = 0; i < members; i++) {
        size_t from = n * i / members, to = n * (i + 1) / members;
        gzFile g = gzopen(path, i ? "ab" : "wb");
        assert_non_null(g);
        assert_int_equal(gzwrite(g, text + from, (unsigned)(to - from)), (int)(to - from));
        gzclose(g);
    }
}

static void test_gzip(void **state)
{
    char path[64];
    size_t n;
    char *text = all_texts(&n);
    char *plain = story_of(write_text(text, n), 2, true);
    (void)state;
    snprintf(path, sizeof path, "%s/t.77.gz", folder);
    for (unsigned members = 1; members < 5; members++) {
        write_gzip(path, text, n, members);
        char *packed = story_of(path, 2, true);
        assert_int_equal(strncmp(packed, plain, 1500), 0);
        assert_non_null(strstr(packed, strstr(plain, "processes:")));
        free(packed);
    }
    /* The end of a member cut off, at every byte of its trailer. */
    FILE *f = fopen(path, "rb");
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    for (int cut = 1; cut < 12; cut++) {
        assert_int_equal(truncate(path, size - cut), 0);
        rocl_options o = {.jobs = 1};
        result r = read_trace(path, &o);
        assert_int_equal(r.status, ROCL_INPUT);
        assert_non_null(strstr(r.error, "gzip: the file is truncated"));
        free(story(&r, false));
    }
    free(plain);
    free(text);
}

static void test_standard_input(void **state)
{
    size_t n;
    char *text = all_texts(&n);
    const char *path = write_text(text, n);
    char *plain = story_of(path, 1, false);
    int saved = dup(STDIN_FILENO), ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (size_t i = 0; i < n; i += 100)
            if (write(ends[1], text + i, n - i < 100 ? n - i : 100) < 0)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    rocl_options o = {.jobs = 1, .args = true};
    result r = read_trace("-", &o);
    assert_int_equal(r.status, ROCL_PARTIAL);
    char *piped = story(&r, false);
    assert_int_equal(strncmp(piped, plain, 700), 0); /* the process of profile lines differs */
    waitpid(child, NULL, 0);
    dup2(saved, STDIN_FILENO);
    close(saved);
    free(piped);
    free(plain);
    free(text);
}

static void test_no_temporary_file(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/t.77.gz", folder);
    write_gzip(path, CALL, strlen(CALL), 1);
    rocl_options o = {.jobs = 1, .tmpdir = "/nowhere"};
    result r = read_trace(path, &o);
    assert_int_equal(r.status, ROCL_OUTPUT);
    assert_non_null(strstr(r.error, "/nowhere"));
    free(story(&r, false));
}

static void test_recognise(void **state)
{
    static const struct {
        const char *text;
        bool ours, whole;
    } rows[] = {
        {CALL, true, true},
        {"some text\n\n" CALL, true, true},
        {"HIP: pid:1 tid:2 cut", true, true},
        {"HIP: pid:1 tid:2 cut", true, false},
        {"RTX: pid:1 tid:2 here @5\n", true, true},
        {"profile: kernel;\tfoo;\t1 us;\t#0.1.3;\n", true, true},
        {"1.5 write(1, 2) = 1 <0.000001>\n", false, true},
        {"1.5 write(1, 2) = 1 <0.000001>\ntext\n1.5 write(1, 2) = 1 <0.000001>\n", true, true},
        {"HIP: an error\n", false, true},
        {"profile: mine\n", false, true},
        {"", false, true},
        {"pid,tid\n1,2\n", false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(rtg_recognise(rows[i].text, strlen(rows[i].text), rows[i].whole),
                         rows[i].ours);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_numbering),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_nul),
        cmocka_unit_test(test_many_args),
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_kernel_names),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_standard_input),
        cmocka_unit_test(test_no_temporary_file),
        cmocka_unit_test(test_recognise),
    };
    return cmocka_run_group_tests_name("rtg_source", tests, set_up, tear_down);
}

/* Filters: a small trace with an event of every sort, and for each set of options the ids of the
 * events that pass. To add a case, add a row. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "filter/filter.h"
#include "filter/stages.h"

#define NONE      ROCL_NONE
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(a)  (sizeof(a) / sizeof(a)[0])
#define FIRST     100
#define LAST      1000

/* ---- the trace ------------------------------------------------------------------------------- */

static const struct spec {
    int id;
    rocl_kind kind;
    uint32_t capture, process;
    int64_t start, end;
    const char *name, *category;
    uint32_t agent, other; /* copies: from, to */
} specs[] = {
    {1, ROCL_REGION, 0, 0, 100, 200, "hipMalloc", "HIP_RUNTIME_API_EXT", 0, 0},
    {2, ROCL_REGION, 0, 1, 150, 150, "hsa_init", "HSA_CORE_API", 0, 0},
    {3, ROCL_MARKER, 0, 0, 200, 400, "step", "MARKER_CORE_RANGE_API", 0, 0},
    {4, ROCL_MARKER, 0, 0, 500, 700, "step", "MARKER_CORE_RANGE_API", 0, 0},
    {5, ROCL_MARKER, 1, 0, 450, 900, "step", "MARKER_CORE_RANGE_API", 0, 0},
    {6, ROCL_MARKER, 0, 1, 300, 350, "a:2", "MARKER_CORE_RANGE_API", 0, 0},
    {7, ROCL_INSTANT, 0, 0, 600, 600, "mark", "MARKER_CORE_API", 0, 0},
    {8, ROCL_DISPATCH, 0, 0, 250, 300, "gemm", "KERNEL_DISPATCH", 1, 0},
    {9, ROCL_DISPATCH, 0, 1, 550, 1000, "gemm_long", "KERNEL_DISPATCH", 2, 0},
    {10, ROCL_DISPATCH, 1, 0, 800, 810, "conv", "KERNEL_DISPATCH", 0, 0},
    {11, ROCL_COPY, 0, 0, 120, 180, "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY", 0, 1},
    {12, ROCL_COPY, 0, 0, 700, 720, "MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY", 2, 0},
    {13, ROCL_ALLOC, 0, 0, 110, 115, "ALLOCATE", "MEMORY_ALLOCATION", 1, 0},
    {14, ROCL_ALLOC, 0, 0, 910, 920, "FREE", "MEMORY_ALLOCATION", NONE, 0},
    {15, ROCL_SCRATCH, 0, 1, 560, 570, "SCRATCH", "SCRATCH_MEMORY", 2, 0},
    {16, ROCL_COUNTER, 0, 0, 250, 300, "gemm", "KERNEL_DISPATCH", 1, 0},
    {17, ROCL_SPM, 0, 0, 260, 260, "SQ_WAVES", "", 1, 0},
    {18, ROCL_SAMPLE, 0, 0, 650, 650, "cpu_freq", "", NONE, 0},
    {19, ROCL_GRAPH, 1, 0, 805, 806, "graph", "", NONE, 0},
    {20, ROCL_HIP_EVENT, 0, NONE, 640, 645, "event", "", NONE, 0},
    {21, ROCL_REGION, 0, NONE, 100, 1000, "main", "ROCM_HIP_API", 0, 0},
    {22, ROCL_REGION, 1, 0, 130, 140, "ncclAllReduce", "RCCL_API", 0, 0},
};

/* What the sink asked for. */
static uint32_t kinds_read = ROCL_ALL_KINDS;

#define ALL "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"

typedef struct world {
    rocl_trace trace;
    rocl_model_capture captures[2];
    rocl_model_capture *list[2];
    rocl_process processes[2][2];
    rocl_agent agents[2][3];
    char notices[512];
} world;

static uint32_t text(world *w, const char *s)
{
    return rocl_strings_put(w->trace.strings, s, strlen(s));
}

static rocl_agent agent(world *w, rocl_agent_type type, int64_t absolute, int64_t logical,
                        int64_t of_type, const char *name)
{
    char label[32];
    const char *type_name = type == ROCL_AGENT_CPU ? "CPU" : "GPU";
    switch (w->trace.opt.agent_index) {
    case ROCL_INDEX_ABSOLUTE:
        snprintf(label, sizeof label, "Agent %d", (int)absolute);
        break;
    case ROCL_INDEX_TYPE_RELATIVE:
        snprintf(label, sizeof label, "%s %d", type_name, (int)of_type);
        break;
    default:
        snprintf(label, sizeof label, "Agent %d", (int)logical);
    }
    return (rocl_agent){.type = type,
                        .absolute_index = absolute,
                        .logical_index = logical,
                        .type_index = of_type,
                        .type_name = text(w, type_name),
                        .name = text(w, name),
                        .label = text(w, label)};
}

static void note(void *ctx, const char *notice)
{
    world *w = ctx;
    size_t len = strlen(w->notices);
    snprintf(w->notices + len, sizeof w->notices - len, "%s\n", notice);
}

static world *world_new(const rocl_options *opt)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->trace.opt = *opt;
    w->trace.opt.jobs = opt->jobs ? opt->jobs : 2;
    w->trace.opt.notice = note;
    w->trace.opt.ctx = w;
    w->trace.strings = rocl_strings_new();
    assert_non_null(w->trace.strings);
    w->trace.captures = w->list;
    w->trace.capture_count = 2;
    w->processes[0][0] = (rocl_process){.pid = 100, .rank = 0};
    w->processes[0][1] = (rocl_process){.pid = 101, .rank = 1};
    w->processes[1][0] = (rocl_process){.pid = 200, .rank = 2};
    w->agents[0][0] = agent(w, ROCL_AGENT_CPU, 0, 0, 0, "EPYC, Jr");
    w->agents[0][1] = agent(w, ROCL_AGENT_GPU, 5, 1, 0, "gfx942");
    w->agents[0][2] = agent(w, ROCL_AGENT_GPU, 6, 2, 1, "gfx90a");
    w->agents[1][0] = agent(w, ROCL_AGENT_GPU, 5, 1, 0, "gfx942");
    for (uint32_t i = 0; i < 2; i++) {
        rocl_capture *c = &w->captures[i].pub;
        w->list[i] = &w->captures[i];
        *c = (rocl_capture){.trace = &w->trace,
                            .index = i,
                            .processes = w->processes[i],
                            .process_count = 2 - i,
                            .agents = w->agents[i],
                            .agent_count = i ? 1 : 3};
    }
    return w;
}

static void world_free(world *w)
{
    rocl_strings_free(w->trace.strings);
    free(w);
}

/* ---- events ---------------------------------------------------------------------------------- */

typedef union record {
    rocl_event e;
    rocl_region region;
    rocl_dispatch dispatch;
    rocl_copy copy;
    rocl_alloc alloc;
    rocl_counter_value counter;
    rocl_sample_value sample;
    rocl_hip hip;
} record;

static void make_record(world *w, const struct spec *s, void *to)
{
    record r = {0};
    switch (s->kind) {
    case ROCL_DISPATCH:
    case ROCL_COUNTER:
        r.dispatch.agent = s->agent;
        break;
    case ROCL_COPY:
        r.copy.src = s->agent;
        r.copy.dst = s->other;
        break;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        r.alloc.owner = s->agent;
        break;
    case ROCL_SPM:
    case ROCL_SAMPLE:
        r.sample.agent = s->agent;
        break;
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
        r.hip.agent = s->agent;
        break;
    default:
        break;
    }
    r.e.start = s->start;
    r.e.end = s->end;
    r.e.id = (uint64_t)s->id;
    r.e.process = s->process;
    r.e.name = text(w, s->name);
    r.e.category = text(w, s->category);
    memcpy(to, &r, rocl_kind_size(s->kind));
}

/* All events of a kind and capture, in the order of specs. */
static rocl_batch make_batch(world *w, rocl_kind kind, uint32_t capture, record *room)
{
    rocl_batch b = {.capture = &w->captures[capture].pub, .kind = kind, .any = room};
    for (size_t i = 0; i < COUNT(specs); i++) {
        if (specs[i].kind == kind && specs[i].capture == capture)
            make_record(w, &specs[i], (char *)room + b.count++ * rocl_kind_size(kind));
    }
    return b;
}

static rocl_status prepare(world *w, rocl_filter *f, rocl_error *err)
{
    record room[COUNT(specs)];
    rocl_status st = ROCL_OK;
    if (rocl_filter_needs_bounds(f))
        rocl_filter_set_bounds(f, FIRST, LAST);
    for (uint32_t c = 2; rocl_filter_needs_markers(f) && c-- > 0;) {
        for (unsigned k = 0; k < ROCL_KINDS && st == ROCL_OK; k++) {
            rocl_batch b = make_batch(w, (rocl_kind)k, c, room);
            st = rocl_filter_see_markers(f, &b, err);
        }
    }
    return st == ROCL_OK ? rocl_filter_resolve(f, err) : st;
}

/* Everything that comes through, as the pipeline does it. */
static rocl_status pass_all(world *w, rocl_filter *f, const rocl_event **out, record *room,
                            rocl_error *err)
{
    for (uint32_t c = 0; c < 2; c++) {
        for (unsigned k = 0; k < ROCL_KINDS; k++) {
            record *at = room + (c * ROCL_KINDS + k) * COUNT(specs);
            rocl_batch b = make_batch(w, (rocl_kind)k, c, at);
            size_t before = b.count;
            if (!(kinds_read & ROCL_BIT(k)))
                continue;
            rocl_status st = rocl_filter_apply(f, (c + k) % 2, &b, err);
            if (st != ROCL_OK)
                return st;
            bool possible =
                (rocl_filter_kinds(f) & ROCL_BIT(k)) && rocl_filter_takes_capture(f, b.capture);
            if (before && b.count && !possible)
                fail_msg("kind %u of capture %u passes and was said not to", k, c);
            for (size_t i = 0; i < b.count; i++)
                out[rocl_batch_event(&b, i)->id] = rocl_batch_event(&b, i);
        }
    }
    return ROCL_OK;
}

/* Ids of what passes, "1 2 5"; with times "1@100-200 ..."; or the error. */
static void run(const rocl_options *opt, bool times, char *result, size_t size, char *notices)
{
    world *w = world_new(opt);
    rocl_filter *f = NULL;
    rocl_error *err = rocl_error_new();
    const rocl_event *out[COUNT(specs) + 1] = {0};
    record *room = calloc(2 * ROCL_KINDS * COUNT(specs), sizeof *room);
    rocl_status st = rocl_filter_new(&f, &w->trace, err);
    if (st == ROCL_OK)
        st = prepare(w, f, err);
    if (st == ROCL_OK) /* a second run over the trace must not look again */
        assert_false(rocl_filter_needs_bounds(f) || rocl_filter_needs_markers(f));
    if (st == ROCL_OK)
        st = pass_all(w, f, out, room, err);
    if (st == ROCL_OK)
        rocl_filter_report(f, kinds_read);
    size_t len = 0;
    result[0] = '\0';
    if (st != ROCL_OK)
        snprintf(result, size, "%d %s", (int)st, rocl_error_text(err));
    for (size_t i = 1; st == ROCL_OK && i < COUNT(out); i++) {
        if (!out[i])
            continue;
        len += (size_t)snprintf(result + len, size - len, "%s%zu", len ? " " : "", i);
        if (times)
            len += (size_t)snprintf(result + len, size - len, "@%d-%d", (int)out[i]->start,
                                    (int)out[i]->end);
    }
    if (notices)
        strcpy(notices, w->notices);
    rocl_filter_free(f);
    rocl_error_free(err);
    free(room);
    world_free(w);
}

typedef struct row {
    rocl_options opt;
    const char *passes;
} row;

static void check_rows(const row *rows, size_t count, bool times)
{
    char result[1024];
    for (size_t i = 0; i < count; i++) {
        run(&rows[i].opt, times, result, sizeof result, NULL);
        if (strcmp(result, rows[i].passes) != 0)
            fail_msg("row %zu: \"%s\" instead of \"%s\"", i, result, rows[i].passes);
    }
}

#define CHECK(rows) check_rows(rows, COUNT(rows), false)

/* ---- the cases ------------------------------------------------------------------------------- */

static void test_nothing_set(void **state)
{
    (void)state;
    const row rows[] = {{{0}, ALL}, {{.names = LIST(NULL), .include = LIST(NULL)}, ALL}};
    CHECK(rows);
    world *w = world_new(&rows[1].opt);
    rocl_filter *f = (rocl_filter *)w;
    assert_int_equal(rocl_filter_new(&f, &w->trace, NULL), ROCL_OK);
    assert_null(f);
    rocl_batch b = {0};
    assert_false(rocl_filter_needs_bounds(NULL) || rocl_filter_needs_markers(NULL));
    assert_int_equal(rocl_filter_kinds(NULL), ROCL_ALL_KINDS);
    assert_true(rocl_filter_takes_capture(NULL, &w->captures[0].pub));
    assert_int_equal(rocl_filter_apply(NULL, 0, &b, NULL), ROCL_OK);
    rocl_filter_report(NULL, ROCL_ALL_KINDS);
    rocl_filter_free(NULL);
    world_free(w);
}

static void test_window(void **state)
{
    (void)state;
    const row rows[] = {
        {{.start = "200", .end = "400"}, "3 6 8 16 17"},
        {{.start = "200", .end = "400", .window_mode = ROCL_WINDOW_OVERLAP}, "1 3 6 8 16 17 21"},
        {{.start = "0", .end = "9223372036854775807"}, ALL},
        {{.start = "50%"}, "7 9 10 12 14 15 18 19 20"},
        {{.end = "-100ns"}, "1 2 3 4 5 6 7 8 10 11 12 13 15 16 17 18 19 20 22"},
        {{.start = "+50", .end = "+51"}, "2"},
        {{.start = "150", .end = "150"}, "2"},
        {{.start = "5000"}, ""},
        {{.start = "0%", .end = "100%"}, ALL},
    };
    CHECK(rows);
}

static void test_clip(void **state)
{
    (void)state;
    const rocl_options clip = {.window_mode = ROCL_WINDOW_CLIP};
    row rows[] = {
        {clip, "1@200-200 3@200-400 6@300-350 8@250-300 16@250-300 17@260-260 21@200-400"},
        /* the whole length counts for --min-duration */
        {clip, "3@290-310 6@300-310 8@290-300 16@290-300 21@290-310"},
    };
    rows[0].opt.start = "200";
    rows[0].opt.end = "400";
    rows[1].opt.start = "290";
    rows[1].opt.end = "310";
    rows[1].opt.min_duration = "50ns";
    check_rows(rows, COUNT(rows), true);
}

static void test_markers(void **state)
{
    (void)state;
    const row rows[] = {
        {{.start_marker = "step", .end_marker = "step"}, "3 4 6 7 8 15 16 17 18 20"},
        {{.start_marker = "step:1", .end_marker = "step:3"}, "3 4 6 7 8 15 16 17 18 20"},
        {{.start_marker = "step:2", .end_marker = "step:2"}, "4 5 7 10 12 15 18 19 20"},
        {{.start_marker = "step:003"}, "4 7 9 10 12 14 15 18 19 20"},
        {{.start_marker = "a:2", .end_marker = "a:2"}, "6"}, /* a name with a colon */
        {{.start_marker = "a:2:1", .end_marker = "a:2:1"}, "6"},
        {{.start_marker = "mark"}, "7 10 12 14 18 19 20"},
        {{.start = "690", .end_marker = "step"}, ""},
        {{.start_marker = "mark", .end = "100%"}, "7 10 12 14 18 19 20"},
        /* markers of other ranks do not count */
        {{.start_marker = "step:2", .ranks = LIST("0")}, "4 7 12 14 18"},
        {{.start_marker = "nope"}, "2 --start-marker: \"nope\": no such marker in the trace"},
        {{.start_marker = "gemm"}, "2 --start-marker: \"gemm\": no such marker in the trace"},
        {{.end_marker = "nope:1"}, "2 --end-marker: \"nope:1\": no such marker in the trace"},
        {{.start_marker = "step:x"}, "2 --start-marker: \"step:x\": no such marker in the trace"},
        {{.start_marker = "step:"}, "2 --start-marker: \"step:\": no such marker in the trace"},
        {{.start_marker = ":1"}, "2 --start-marker: \":1\": no such marker in the trace"},
        {{.start_marker = "step:9"},
         "2 --start-marker: \"step:9\": the marker \"step\" occurs 3 times"},
        {{.start_marker = "mark:2"},
         "2 --start-marker: \"mark:2\": the marker \"mark\" occurs 1 time"},
        {{.start_marker = "step:99999999999999999999"},
         "2 --start-marker: \"step:99999999999999999999\": the marker \"step\" occurs 3 times"},
        {{.start_marker = "step:0"},
         "2 --start-marker: \"step:0\": occurrences count from 1; \"step\" occurs 3 times"},
        {{.start_marker = ""},
         "2 --start-marker: \"\": the name of a marker, or NAME:N for the N-th"},
        {{.start_marker = "mark", .end_marker = "a:2"},
         "2 --start-marker \"mark\" (600 ns) is after --end-marker \"a:2\" (350 ns)"},
    };
    CHECK(rows);
}

static void test_wrong_windows(void **state)
{
    (void)state;
    const row rows[] = {
        {{.start = "5", .end = "4"}, "2 --start \"5\" (5 ns) is after --end \"4\" (4 ns)"},
        {{.start = "60%", .end = "10%"},
         "2 --start \"60%\" (640 ns) is after --end \"10%\" (190 ns)"},
        {{.start = "+1s", .end = "-1s"},
         "2 --start \"+1s\" (1000000100 ns) is after --end \"-1s\" (-999999000 ns)"},
        {{.start = "1", .start_marker = "step"}, "2 --start and --start-marker exclude each other"},
        {{.end = "1", .end_marker = "step"}, "2 --end and --end-marker exclude each other"},
        {{.start = "1", .end = "9223372036854775808"},
         "2 --end: \"9223372036854775808\": more than 2^63 - 1 ns"},
        {{.start = "200%"}, "2 --start: \"200%\": a percentage is from 0% to 100%"},
        {{.min_duration = "-5"},
         "2 --min-duration: \"-5\": a duration is N (ns) or N with one of ns, us, ms, s, m"},
    };
    CHECK(rows);
}

static void test_ranks(void **state)
{
    (void)state;
    const row rows[] = {
        {{.ranks = LIST("1")}, "2 6 9 15"},
        {{.ranks = LIST("2")}, "5 10 19 22"},
        {{.ranks = LIST("0,2")}, "1 3 4 5 7 8 10 11 12 13 14 16 17 18 19 22"},
        {{.ranks = LIST("1-2")}, "2 5 6 9 10 15 19 22"},
        {{.ranks = LIST(" 1 - 2 , 1 ")}, "2 5 6 9 10 15 19 22"},
        {{.ranks = LIST("1", "2-9")}, "2 5 6 9 10 15 19 22"},
        {{.ranks = LIST("0-1")}, "1 2 3 4 6 7 8 9 11 12 13 14 15 16 17 18 20 21"},
        {{.ranks = LIST("0-9223372036854775807")}, ALL},
        {{.pids = LIST("101")}, "2 6 9 15"},
        {{.pids = LIST("101,200")}, "2 5 6 9 10 15 19 22"},
        {{.ranks = LIST("0"), .pids = LIST("101")}, ""},
        {{.ranks = LIST("0-1"), .pids = LIST("101")}, "2 6 9 15"},
        {{.ranks = LIST("7")},
         "2 --rank: \"7\": no process of the trace has this rank; known: 0, 1, 2"},
        {{.pids = LIST("100,7")},
         "2 --pid: \"7\": no process of the trace has this pid; known: 100, 101, 200"},
        {{.ranks = LIST("x")}, "2 --rank: \"x\": numbers and ranges are allowed, such as 0,2-5"},
        {{.ranks = LIST("")}, "2 --rank: \"\": numbers and ranges are allowed, such as 0,2-5"},
        {{.ranks = LIST("1,,2")},
         "2 --rank: \"1,,2\": numbers and ranges are allowed, such as 0,2-5"},
        {{.ranks = LIST("1,")}, "2 --rank: \"1,\": numbers and ranges are allowed, such as 0,2-5"},
        {{.ranks = LIST("2-1")},
         "2 --rank: \"2-1\": numbers and ranges are allowed, such as 0,2-5"},
        {{.ranks = LIST("-1")}, "2 --rank: \"-1\": numbers and ranges are allowed, such as 0,2-5"},
        {{.ranks = LIST("1-9223372036854775808")},
         "2 --rank: \"1-9223372036854775808\": numbers and ranges are allowed, such as 0,2-5"},
    };
    CHECK(rows);
}

static void test_agents(void **state)
{
    (void)state;
    const char *const *work = LIST("kernel,copy,alloc,scratch,counter,spm");
    const row rows[] = {
        {{.agents = LIST("1")}, "1 2 3 4 5 6 7 8 10 11 13 16 17 18 19 20 21 22"},
        {{.include = work, .agents = LIST("1")}, "8 10 11 13 16 17"},
        {{.include = work, .agents = LIST("2")}, "9 12 15"},
        {{.include = work, .agents = LIST("1,2")}, "8 9 10 11 12 13 15 16 17"},
        {{.include = work, .agents = LIST("GPU 0")}, "8 10 11 13 16 17"},
        {{.include = work, .agents = LIST("gpu:1")}, "9 12 15"},
        {{.include = work, .agents = LIST("gpu1")}, "9 12 15"},
        {{.include = work, .agents = LIST("CPU:0")}, "11 12"},
        {{.include = work, .agents = LIST("GFX942")}, "8 10 11 13 16 17"},
        {{.include = work, .agents = LIST("gfx90a")}, "9 12 15"},
        {{.include = work, .agents = LIST("agent 2")}, "9 12 15"},
        {{.include = work, .agents = LIST("epyc, jr")}, "11 12"}, /* a name with a comma */
        {{.include = work, .agents = LIST("gpu:0 , gpu:1")}, "8 9 10 11 12 13 15 16 17"},
        {{.include = work, .agents = LIST("gpu:0", "gfx90a")}, "8 9 10 11 12 13 15 16 17"},
        {{.include = work, .agents = LIST("5"), .agent_index = ROCL_INDEX_ABSOLUTE},
         "8 10 11 13 16 17"},
        {{.include = work, .agents = LIST("1"), .agent_index = ROCL_INDEX_TYPE_RELATIVE},
         "9 12 15"},
        {{.include = work, .agents = LIST("0"), .agent_index = ROCL_INDEX_TYPE_RELATIVE},
         "8 10 11 12 13 16 17"},
        {{.agents = LIST("9")},
         "2 --agent: \"9\": no such agent in the trace; known: Agent 0 (CPU:0, EPYC, Jr), Agent 1 "
         "(GPU:0, gfx942), Agent 2 (GPU:1, gfx90a)"},
    };
    CHECK(rows);
    static const char *const wrong[] = {"",   ",",   "gpu",   "gpu:", "gpu:9", "gpu::0", "gfx94",
                                        "1,", "1 2", "npu:0", "-1",   "0x1",   "1,bad",  "gpu 0x"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char result[1024];
        run(&(rocl_options){.agents = LIST(wrong[i])}, false, result, sizeof result, NULL);
        if (strncmp(result, "2 --agent: \"", 12) != 0)
            fail_msg("\"%s\": \"%s\"", wrong[i], result);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    const row rows[] = {
        {{.include = LIST("kernel")}, "8 9 10"},
        {{.include = LIST("Kernels")}, "8 9 10"},
        {{.include = LIST("dispatches")}, "8 9 10"},
        {{.include = LIST("KERNEL_DISPATCH")}, "8 9 10"},
        {{.include = LIST("kernel-dispatch")}, "8 9 10"},
        {{.include = LIST("hip")}, "1 21"},
        {{.include = LIST("HIP_RUNTIME_API")}, "1"},
        {{.include = LIST("hip_runtime_api_ext")}, "1"},
        {{.include = LIST("hsa,rccl")}, "2 22"},
        {{.include = LIST("hsa", "rccl")}, "2 22"},
        {{.include = LIST(" hsa ,, rccl,")}, "2 22"},
        {{.include = LIST("marker")}, "3 4 5 6 7"},
        {{.include = LIST("markers,hsa")}, "2 3 4 5 6 7"},
        {{.include = LIST("copies,allocs")}, "11 12 13 14"},
        {{.include = LIST("memory_copy")}, "11 12"},
        {{.include = LIST("graph,hip-event")}, "19 20"},
        {{.include = LIST("hip_events,samples,instants,counters,spm")}, "7 16 17 18 20"},
        {{.include = LIST("hi")}, ""}, /* whole words only */
        {{.include = LIST("hip_")}, ""},
        {{.exclude = LIST("region", "marker")}, "8 9 10 11 12 13 14 15 16 17 18 19 20"},
        {{.exclude = LIST("kernel,copy,alloc,scratch,counter,spm,sample,graph,hip-event,hip,hsa")},
         "3 4 5 6 7 22"},
        {{.include = LIST("region"), .exclude = LIST("hip")}, "2 22"},
        {{.include = LIST("hip"), .exclude = LIST("region")}, ""},
        {{.include = LIST("")},
         "2 --include: \"\": kinds of events (region, marker, kernel, copy, ...) or categories "
         "(hip, hsa, HIP_RUNTIME_API_EXT, ...) are allowed"},
        {{.exclude = LIST("kernel", " , ")},
         "2 --exclude: \" , \": kinds of events (region, marker, kernel, copy, ...) or categories "
         "(hip, hsa, HIP_RUNTIME_API_EXT, ...) are allowed"},
    };
    CHECK(rows);
}

/* What need not be read at all. */
static void test_possible_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *include, *exclude;
        uint32_t has, lacks;
    } rows[] = {
        {"kernel", NULL, ROCL_BIT(ROCL_DISPATCH), ROCL_ALL_KINDS & ~ROCL_BIT(ROCL_DISPATCH)},
        {"hip", NULL, ROCL_BIT(ROCL_REGION), ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY)},
        {"hippo", NULL, ROCL_ALL_KINDS, 0},
        {"whatever", NULL, ROCL_ALL_KINDS, 0},
        {NULL, "copy", ROCL_ALL_KINDS & ~ROCL_BIT(ROCL_COPY), ROCL_BIT(ROCL_COPY)},
        {NULL, "hip", ROCL_ALL_KINDS, 0},
        {"kernel,copy", "copies", ROCL_BIT(ROCL_DISPATCH), ROCL_BIT(ROCL_COPY)},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rocl_options opt = {.include = LIST(rows[i].include), .exclude = LIST(rows[i].exclude)};
        world *w = world_new(&opt);
        rocl_filter *f;
        assert_int_equal(rocl_filter_new(&f, &w->trace, NULL), ROCL_OK);
        uint32_t kinds = rocl_filter_kinds(f);
        if ((kinds & rows[i].has) != rows[i].has || (kinds & rows[i].lacks))
            fail_msg("row %zu: %x", i, kinds);
        rocl_filter_free(f);
        world_free(w);
    }
}

#define KERNELS ROCL_BIT(ROCL_DISPATCH)
#define CALLS   (ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT))

static void test_notices(void **state)
{
    (void)state;
    static const struct {
        const char *include, *exclude, *name, *says;
        uint32_t read;
    } rows[] = {
        {"kernel,hip", "hsa", "gemm", "", ROCL_ALL_KINDS},
        {"kernel,nope", NULL, NULL, "--include: \"nope\" matched nothing\n", ROCL_ALL_KINDS},
        {NULL, "HSB,kernel", NULL, "--exclude: \"HSB\" matched nothing\n", ROCL_ALL_KINDS},
        {NULL, NULL, "^never$", "--name: no event has such a name\n", ROCL_ALL_KINDS},
        {"kernel", NULL, "hipMalloc", "--name: no event has such a name\n", ROCL_ALL_KINDS},
        /* What was not read may be there. */
        {NULL, "hsa", NULL, "", KERNELS},
        {NULL, "hsb", NULL, "", ROCL_BIT(ROCL_REGION)},
        {NULL, "hsb", NULL, "--exclude: \"hsb\" matched nothing\n", CALLS},
        {NULL, "hsb,region", NULL, "", CALLS},
        {"copy,roctx,nope", NULL, NULL, "", KERNELS},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char result[1024], notices[512];
        rocl_options opt = {.include = LIST(rows[i].include),
                            .exclude = LIST(rows[i].exclude),
                            .names = LIST(rows[i].name)};
        kinds_read = rows[i].read;
        run(&opt, false, result, sizeof result, notices);
        kinds_read = ROCL_ALL_KINDS;
        if (strcmp(notices, rows[i].says) != 0)
            fail_msg("row %zu: \"%s\"", i, notices);
    }
}

static void test_names(void **state)
{
    (void)state;
    const row rows[] = {
        {{.names = LIST("^gemm")}, "8 9 16"},
        {{.names = LIST("^gemm$", "conv")}, "8 10 16"},
        {{.names = LIST("^(gemm|conv)$")}, "8 10 16"},
        {{.names = LIST("gemm"), .exclude_names = LIST("long")}, "8 16"},
        {{.exclude_names = LIST("[a-zA-Z]{3}", "a:")}, ""},
        {{.exclude_names = LIST("e", "a")}, "10 11 12 13 14 15 17"},
        {{.names = LIST("GEMM")}, ""},
        {{.names = LIST("")}, "2 --name: \"\": an extended regular expression is needed"},
        {{.names = LIST("ok"), .exclude_names = LIST("")},
         "2 --exclude-name: \"\": an extended regular expression is needed"},
    };
    CHECK(rows);
    static const char *const wrong[] = {"(", "[", "a{2", "a{3,2}", "[[:nope:]]", "[b-a]", "\\"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char result[1024];
        run(&(rocl_options){.names = LIST("fine", wrong[i])}, false, result, sizeof result, NULL);
        if (strncmp(result, "2 --name: \"", 11) != 0 ||
            !strstr(result, "not an extended regular expression"))
            fail_msg("\"%s\": \"%s\"", wrong[i], result);
    }
}

static void test_durations(void **state)
{
    (void)state;
    const row rows[] = {
        {{.min_duration = "100"}, "1 3 4 5 7 9 17 18 21"},
        {{.min_duration = "0.45us"}, "5 7 9 17 18 21"},
        {{.min_duration = "1m"}, "7 17 18"},
        {{.min_duration = "0"}, ALL},
    };
    CHECK(rows);
}

static void test_all_at_once(void **state)
{
    (void)state;
    const row rows[] = {{{.start = "10%",
                          .end_marker = "step",
                          .ranks = LIST("0"),
                          .agents = LIST("gfx942"),
                          .include = LIST("kernel,marker"),
                          .exclude = LIST("hsa"),
                          .names = LIST("e"),
                          .exclude_names = LIST("long"),
                          .min_duration = "10"},
                         "3 4 8"}};
    CHECK(rows);
}

/* ---- batches --------------------------------------------------------------------------------- */

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
    assert_int_equal(rocl_window_new(&win, &w->trace, NULL), ROCL_OK);
    for (uint32_t i = 0; i < 100000; i++) {
        rocl_event e = {.start = 100000 - i, .end = 100001 - i, .name = text(w, "m")};
        assert_int_equal(rocl_window_see(&win, 0, ROCL_MARKER, &e, NULL), ROCL_OK);
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
            assert_int_equal(rocl_window_see(&win, order[i].capture, order[i].kind, &e, NULL),
                             ROCL_OK);
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
                                         .exclude = LIST("nope"),
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
        cmocka_unit_test(test_nothing_set),    cmocka_unit_test(test_window),
        cmocka_unit_test(test_clip),           cmocka_unit_test(test_markers),
        cmocka_unit_test(test_wrong_windows),  cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_agents),         cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_possible_kinds), cmocka_unit_test(test_notices),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_durations),
        cmocka_unit_test(test_all_at_once),    cmocka_unit_test(test_compaction),
        cmocka_unit_test(test_odd_names),      cmocka_unit_test(test_nth_marker),
        cmocka_unit_test(test_bounded_picks),  cmocka_unit_test(test_equal_starts),
        cmocka_unit_test(test_extreme_times),  cmocka_unit_test(test_not_ready),
        cmocka_unit_test(test_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

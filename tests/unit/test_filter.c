/* Filters: a small trace with an event of every sort, and for each set of options the ids of the
 * events that pass. To add a case, add a row. */
#include "tests/unit/filter_world.h"

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
    assert_int_equal(rocl_filter_report(NULL, ROCL_ALL_KINDS, NULL), ROCL_OK);
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
        {{.start = "200%"}, "2 --start: \"200%\" is after the end of the trace"},
        {{.min_duration = "-5"},
         "2 --min-duration: \"-5\": a duration is N (ns) or N with one of ns, us, ms, s, min, h, "
         "d"},
    };
    CHECK(rows);
}

static void test_periods(void **state)
{
    (void)state;
    const rocl_options clip = {.window_mode = ROCL_WINDOW_CLIP, .periods = LIST("100:100:2")};
    const row clipped[] = {{clip, "1@200-200 3@200-400 4@500-500 5@450-500 6@300-300 8@250-300 "
                                  "16@250-300 17@260-260 21@200-500"}};
    const row rows[] = {
        {{.periods = LIST("100:100:2")}, "8 16 17"},
        {{.periods = LIST("100:100:2"), .window_mode = ROCL_WINDOW_OVERLAP},
         "1 3 4 5 6 8 16 17 21"},
        {{.periods = LIST("50:10", "40:100:1")}, "2 8 16 17"},
        {{.periods = LIST("50:10", "40:100:1"), .start = "200"}, "8 16 17"},
        {{.periods = LIST("0:900")}, ALL},
        {{.periods = LIST("0:900ns:0")}, ALL},
        {{.periods = LIST("0:9223372036854775807:9223372036854775807")}, ALL},
        {{.periods = LIST("9223372036854775807:9223372036854775807:0")}, ""},
        {{.periods = LIST("1us:1us:0")}, ""},
        {{.periods = LIST("10")},
         "2 --period: \"10\": DELAY:DURATION or DELAY:DURATION:REPEAT, such as 1s:500ms:3"},
        {{.periods = LIST("1:0")}, "2 --period: \"1:0\": a period needs a duration"},
        {{.periods = LIST("1:1:")},
         "2 --period: \"1:1:\": \"\" is not a number of repetitions (0: without end)"},
        {{.periods = LIST("1:1:0", "2:2")},
         "2 --period: \"2:2\" never begins: the one before it does not end"},
    };
    CHECK(rows);
    check_rows(clipped, COUNT(clipped), true);
}

static void test_kernels(void **state)
{
    (void)state;
    const char *without = "1 2 3 4 5 6 7 11 12 13 14 15 17 18 19 20 21 22"; /* any kernel */
    char unmatched[200] = "2 --name kernel:REGEX: \"(\": not an extended regular expression: ";
    const size_t n = strlen(unmatched); /* what follows are words of the C library */
    regex_t re;
    regerror(regcomp(&re, "(", REG_EXTENDED), &re, unmatched + n, sizeof unmatched - n);
    const row rows[] = {
        {{.kernel_include = LIST("gemm")}, "1 2 3 4 5 6 7 8 9 11 12 13 14 15 16 17 18 19 20 21 22"},
        {{.kernel_include = LIST("gemm$", "conv")},
         "1 2 3 4 5 6 7 8 10 11 12 13 14 15 16 17 18 19 20 21 22"},
        {{.kernel_exclude = LIST("gemm$")}, "1 2 3 4 5 6 7 9 10 11 12 13 14 15 17 18 19 20 21 22"},
        {{.kernel_include = LIST("hip")}, without},
        {{.kernel_include = LIST("gemm"), .names = LIST("gemm|conv")}, "8 9 16"},
        {{.kernel_iterations = "1"}, ALL},
        {{.kernel_iterations = "2-18446744"}, without},
        {{.kernel_iterations = "[1-2]", .kernel_exclude = LIST("conv|long")},
         "1 2 3 4 5 6 7 8 11 12 13 14 15 16 17 18 19 20 21 22"},
        {{.kernel_include = LIST("(")}, unmatched},
        {{.kernel_exclude = LIST("")},
         "2 --exclude-name kernel:REGEX: \"\": an extended regular expression is needed"},
        {{.kernel_iterations = "0"},
         "2 --kernel-iterations: \"0\" is not a list of numbers, from 1 on, or ranges, such as 1,[5-8]"},
    };
    CHECK(rows);
}

/* The n-th of each name by the simplest means: counting, for each, those before it. */
static void test_iterations(void **state)
{
    (void)state;
    enum { EVENTS = 400, NAMES = 7, BATCH = 23 };
    static const char *const lists[] = {"1", "[2-3],[9]", "5,4 ,[1-2]", "3-1000", "[60-70]"};
    for (unsigned seed = 0; seed < 20; seed++) {
        const rocl_options o = {.kernel_iterations = lists[seed % COUNT(lists)]};
        world *w = world_new(&o);
        rocl_iterations it;
        rocl_dispatch all[EVENTS] = {0};
        uint8_t keep[EVENTS];
        assert_int_equal(rocl_iterations_new(&it, &w->trace, NULL), ROCL_OK);
        srand(seed);
        for (size_t i = 0; i < EVENTS; i++) {
            all[i].e.start = rand() % 50 - 25;
            all[i].e.id = EVENTS - i;
            all[i].e.event_id = seed % 2 ? i + 7 : 0;
            all[i].e.name = (uint32_t)(rand() % NAMES);
            all[i].e.process = (uint32_t)(rand() % 2);
            all[i].kernel = ROCL_NONE;
            keep[i] = 1;
        }
        rocl_batch b = {.capture = &w->captures[0].pub, .kind = ROCL_DISPATCH};
        for (size_t i = 0; i < EVENTS; i += BATCH) {
            b.any = all + i;
            b.count = EVENTS - i < BATCH ? EVENTS - i : BATCH;
            assert_int_equal(rocl_iterations_see(&it, i / BATCH % 2, &b, NULL), ROCL_OK);
        }
        assert_int_equal(rocl_iterations_resolve(&it, NULL), ROCL_OK);
        b.any = all;
        b.count = EVENTS;
        rocl_iterations_test(&it, &b, keep);
        for (size_t i = 0; i < EVENTS; i++) {
            uint64_t n = 1;
            bool wanted = false;
            const rocl_event *e = &all[i].e;
            for (size_t k = 0; k < EVENTS; k++) {
                const rocl_event *x = &all[k].e;
                const uint64_t id = e->event_id ? e->event_id : e->id;
                n += x->name == e->name && x->process == e->process &&
                     (x->start < e->start ||
                      (x->start == e->start && (x->event_id ? x->event_id : x->id) < id));
            }
            for (size_t r = 0; r < it.range_count; r++)
                wanted |= n >= it.ranges[r].first && n <= it.ranges[r].last;
            assert_int_equal(keep[i], wanted);
        }
        rocl_iterations_free(&it);
        world_free(w);
    }
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
         "2 --agent: \"9\": no such agent in the trace; known: CPU 0 (Agent 0, EPYC, Jr), GPU 0 "
         "(Agent 1, gfx942), GPU 1 (Agent 2, gfx90a)"},
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
        {{.include = LIST("hi")}, /* whole words only */
         "2 --include: \"hi\" is neither a kind of event nor a category of the trace; did you mean "
         "hip?"},
        {{.include = LIST("hip_")},
         "2 --include: \"hip_\" is neither a kind of event nor a category of the trace; did you "
         "mean hip?"},
        {{.exclude = LIST("kernel,nope")},
         "2 --exclude: \"nope\" is neither a kind of event (region, marker, kernel, copy, ...) nor "
         "a category of the trace (hip, hsa, HIP_RUNTIME_API_EXT, ...)"},
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
        {"kokkos", NULL, ROCL_ALL_KINDS, 0},
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
        {"kernel,rocjpeg", NULL, NULL, "--include: \"rocjpeg\" matched nothing\n", ROCL_ALL_KINDS},
        {NULL, "ROCJPEG,kernel", NULL, "--exclude: \"ROCJPEG\" matched nothing\n", ROCL_ALL_KINDS},
        {NULL, NULL, "^never$", "--name: no event has a matching name\n", ROCL_ALL_KINDS},
        {"kernel", NULL, "hipMalloc", "--name: no event has a matching name\n", ROCL_ALL_KINDS},
        /* What was not read may be there. */
        {NULL, "hsa", NULL, "", KERNELS},
        {NULL, "rocjpeg", NULL, "", ROCL_BIT(ROCL_REGION)},
        {NULL, "rocjpeg", NULL, "--exclude: \"rocjpeg\" matched nothing\n", CALLS},
        {NULL, "rocjpeg,region", NULL, "", CALLS},
        {"copy,roctx,rocjpeg", NULL, NULL, "", KERNELS},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_set),    cmocka_unit_test(test_window),
        cmocka_unit_test(test_clip),           cmocka_unit_test(test_markers),
        cmocka_unit_test(test_wrong_windows),  cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_agents),         cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_possible_kinds), cmocka_unit_test(test_notices),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_durations),
        cmocka_unit_test(test_periods),        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_iterations),     cmocka_unit_test(test_all_at_once),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}

#include "tests/unit/filter_world.h"

uint32_t kinds_read = ROCL_ALL_KINDS;

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

uint32_t text(world *w, const char *s)
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

world *world_new(const rocl_options *opt)
{
    world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->trace.opt = *opt;
    w->trace.opt.jobs = opt->jobs ? opt->jobs : 2;
    w->trace.opt.notice = note;
    w->trace.opt.ctx = w;
    w->trace.strings = rocl_strings_new();
    w->trace.space = rocl_sort_space_new(1 << 20, w->trace.opt.jobs, NULL);
    assert_non_null(w->trace.strings);
    assert_non_null(w->trace.space);
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
    w->trace.opt.same_host = true;
    assert_int_equal(rocl_identity_make(&w->trace, NULL), ROCL_OK);
    return w;
}

void world_free(world *w)
{
    free(w->trace.machines);
    free(w->trace.gpus);
    rocl_strings_free(w->trace.strings);
    rocl_sort_space_free(w->trace.space);
    free(w);
}

static void make_record(world *w, const struct spec *s, void *to)
{
    rocl_any_record r = {0};
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
static rocl_batch make_batch(world *w, rocl_kind kind, uint32_t capture, rocl_any_record *room)
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
    rocl_any_record room[COUNT(specs)];
    rocl_status st = ROCL_OK;
    if (rocl_filter_needs_bounds(f))
        rocl_filter_set_bounds(f, FIRST, LAST);
    for (uint32_t c = 2; rocl_filter_needs_markers(f) && c-- > 0;) {
        for (unsigned k = 0; k < ROCL_KINDS && st == ROCL_OK; k++) {
            rocl_batch b = make_batch(w, (rocl_kind)k, c, room);
            st = rocl_filter_see_markers(f, &b, err);
        }
    }
    for (uint32_t c = 2; rocl_filter_needs_dispatches(f) && c-- > 0 && st == ROCL_OK;) {
        rocl_batch b = make_batch(w, ROCL_DISPATCH, c, room);
        st = rocl_filter_see_dispatches(f, c % w->trace.opt.jobs, &b, err);
    }
    return st == ROCL_OK ? rocl_filter_resolve(f, err) : st;
}

/* Everything that comes through, as the pipeline does it. */
static rocl_status pass_all(world *w, rocl_filter *f, const rocl_event **out, rocl_any_record *room,
                            rocl_error *err)
{
    for (uint32_t c = 0; c < 2; c++) {
        for (unsigned k = 0; k < ROCL_KINDS; k++) {
            rocl_any_record *at = room + (c * ROCL_KINDS + k) * COUNT(specs);
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

void run(const rocl_options *opt, bool times, char *result, size_t size, char *notices)
{
    world *w = world_new(opt);
    rocl_filter *f = NULL;
    rocl_error *err = rocl_error_new();
    const rocl_event *out[COUNT(specs) + 1] = {0};
    rocl_any_record *room = calloc(2 * ROCL_KINDS * COUNT(specs), sizeof *room);
    rocl_status st = rocl_filter_new(&f, &w->trace, err);
    if (st == ROCL_OK)
        st = prepare(w, f, err);
    if (st == ROCL_OK) /* a second run over the trace must not look again */
        assert_false(rocl_filter_needs_bounds(f) || rocl_filter_needs_markers(f) ||
                     rocl_filter_needs_dispatches(f));
    if (st == ROCL_OK)
        st = pass_all(w, f, out, room, err);
    if (st == ROCL_OK)
        st = rocl_filter_report(f, kinds_read, err);
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

void check_rows(const row *rows, size_t count, bool times)
{
    char result[1024];
    for (size_t i = 0; i < count; i++) {
        run(&rows[i].opt, times, result, sizeof result, NULL);
        if (strcmp(result, rows[i].passes) != 0)
            fail_msg("row %zu: \"%s\" instead of \"%s\"", i, result, rows[i].passes);
    }
}

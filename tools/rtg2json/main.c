/* rtg2json: legacy text, or any trace, as the JSON of chrome://tracing. */
#include "rtg2json/rtg2json.h"

#include "common/converter.h"
#include "common/output.h"
#include "common/programs.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");
_Static_assert(LAYOUT_SCRIPT == 1 && LAYOUT_TRACE == 2 && LAYOUT_ROCPROF == 3 &&
                   LAYOUT_ROCPROFV3 == 4 && LAYOUT_KINETO == 5,
               "choices follow the enum");

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("the JSON file (default: out.json); \"-\" is standard output"),
    {"gzip", 0, OPT_FLAG, offsetof(cli, gzip), NULL, NULL, 0, 0, NULL},
    COMPRESS_OPTION(
        offsetof(cli, gzip_level),
        "compress with gzip at this level: fast, small, or 1 to 9 (default: 6); 0 turns "
        "compression off"),
    {"flow", 'f', OPT_FLAG, offsetof(cli, flows), NULL, NULL, 0, 0,
     "write arrows from host events to the GPU work that they launched"},
    {"style", 0, OPT_CHOICE, offsetof(cli, layout), "NAME",
     "auto|script|trace|rocprof|rocprofv3|kineto", 0, 0,
     "rows as in rocm-timeline-generator.py (script, the default for legacy text), or a process "
     "for each traced process and each GPU (trace, the default for all other inputs), or the "
     "tables of "
     "results.json of rocprof (rocprof), or JSON as rocprofv3 writes it (rocprofv3), or as "
     "PyTorch's profiler does, a file for each rank (kineto)"},
    {"group-by-queue", 0, OPT_FLAG, offsetof(cli, group_by_queue), NULL, NULL, 0, 0,
     "layouts trace and kineto: group GPU work into rows by hardware queue instead of by stream"},
    {"args", 0, OPT_FLAG, offsetof(common, args), NULL, NULL, 0, 0,
     "layout trace: attach the arguments of API calls to their events"},
    COMMON_END,
};

static const opt script_options[] = {
    {"gaps", 'g', OPT_FLAG, offsetof(cli, gaps), NULL, NULL, 0, 0,
     "add events for the gaps of HCC devices"},
    {"kernel-launches", 'k', OPT_FLAG, offsetof(cli, kernel_names), NULL, NULL, 0, 0,
     "name HIP calls that launch a kernel after the kernel"},
    {"by-process", 'p', OPT_FLAG, offsetof(cli, by_process), NULL, NULL, 0, 0,
     "group rows by process"},
    {"workgroups", 'w', OPT_FLAG, offsetof(cli, workgroups), NULL, NULL, 0, 0,
     "print the different work-group sizes, sorted"},
    COMMON_END,
};

static const opt rpt_options[] = {
    {"rpt", 0, OPT_FLAG, offsetof(cli, rpt), NULL, NULL, 0, 0, NULL},
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};
static const opt_group script_group = {"Layout script", script_options};
static const opt_group rpt_group = {NULL, rpt_options};
static const opt_group *const groups[] = {&input_group, &output_group, &script_group, &rpt_group,
                                          &names_group, &filter_group, &run_group,    &team_group,
                                          &other_group, NULL};

void on_notice(void *ctx, const char *text)
{
    (void)ctx;
    msg_notice("%s", text);
}

/* ---- which layout ---------------------------------------------------------------------------- */

/* A database decides, and so do JSON and a folder of databases, unless there is text as well:
 * scripts name folders and their own outputs by accident. Nothing can be said of an input that is
 * not there.
 */
static int choose_layout(cli *c)
{
    bool text = false, other = c->common.local; /* nodes have no text */
    for (size_t i = 0; i < c->common.inputs.n && c->layout == LAYOUT_AUTO; i++) {
        rocl_look look;
        int code = input_look(c->common.inputs.v[i], &look);
        if (code >= 0)
            return code;
        if (look == ROCL_LOOKS_OTHER)
            c->layout = LAYOUT_TRACE;
        const bool is_other = look == ROCL_LOOKS_FOLDER || look == ROCL_LOOKS_JSON;
        other |= is_other;
        text |= !is_other && look != ROCL_LOOKS_MISSING;
    }
    if (c->layout == LAYOUT_AUTO)
        c->layout = other && !text ? LAYOUT_TRACE : LAYOUT_SCRIPT;
    return -1;
}

/* ---- layouts of any trace -------------------------------------------------------------------- */

static const char *const layout_names[] = {[LAYOUT_TRACE] = "trace",
                                           [LAYOUT_ROCPROF] = "rocprof",
                                           [LAYOUT_ROCPROFV3] = "rocprofv3",
                                           [LAYOUT_KINETO] = "kineto"};

static rocl_status write_layout(rocl_trace *t, const cli *c, rocl_written *r, rocl_error *err)
{
    const rocl_chrome_options chrome = {.path = c->path,
                                        .gzip = c->gzip,
                                        .level = c->gzip_level,
                                        .flows = c->flows,
                                        .group_by_queue = c->group_by_queue};
    const rocl_kineto_options kineto = {.path = c->path,
                                        .gzip = c->gzip,
                                        .level = c->gzip_level,
                                        .group_by_queue = c->group_by_queue};
    const rocl_json_options json = {.path = c->path, .gzip = c->gzip, .level = c->gzip_level};
    switch (c->layout) {
    case LAYOUT_ROCPROF:
        return rocl_write_rocprof_json(t, &json, r, err);
    case LAYOUT_ROCPROFV3:
        return rocl_write_rocprofv3_json(t, &json, r, err);
    case LAYOUT_KINETO:
        return rocl_write_kineto(t, &kineto, r, err);
    default:
        return rocl_write_chrome(t, &chrome, r, err);
    }
}

static void report_written(const cli *c, const rocl_written *r)
{
    const char *where = c->common.to_stdout ? "standard output" : c->path;
    if (c->layout == LAYOUT_KINETO)
        msg_verbose("%s: %zu file%s, %" PRIu64 " bytes, %" PRIu64 " slices, %" PRIu64 " instants",
                    where, r->files, r->files == 1 ? "" : "s", r->bytes, r->slices, r->instants);
    else
        msg_verbose("%s: %" PRIu64 " bytes, %" PRIu64 " %s, %" PRIu64 " counter values", where,
                    r->bytes, r->slices, c->layout == LAYOUT_ROCPROFV3 ? "records" : "slices",
                    r->values);
    if (!c->common.to_stdout && (c->layout != LAYOUT_KINETO || r->files == 1))
        output_done(c->path);
}

static rocl_status write_and_report(rocl_trace *t, void *ctx, rocl_error *err)
{
    rocl_written r = {0};
    const rocl_status s = write_layout(t, ctx, &r, err);
    if (s <= ROCL_PARTIAL)
        report_written(ctx, &r);
    return s;
}

static int convert_trace(cli *c)
{
    const char *name = layout_names[c->layout];
    if (!c->common.inputs.n)
        return usage_error("no input is given");
    if (c->gaps || c->kernel_names || c->workgroups || c->by_process)
        msg_notice("-g, -k, -p and -w have no effect in the layout %s", name);
    if (c->layout != LAYOUT_TRACE && c->layout != LAYOUT_KINETO && c->group_by_queue)
        msg_notice("--group-by-queue has no effect in the layout %s", name);
    if (c->layout == LAYOUT_ROCPROFV3 || c->layout == LAYOUT_KINETO)
        c->common.args = true; /* as the profilers do */
    int code = output_check(&c->common, c->path);
    return code >= 0 ? code : common_run(&c->common, write_and_report, c);
}

static int check_options(cli *c)
{
    if (c->rpt)
        return usage_error("--rpt must be the first option");
    int code = output_fill_name(&c->common, NULL, "--output-file", &c->common.output_file);
    if (code >= 0)
        return code;
    const char *name = c->common.output_file;
    static char path[8192];
    if (snprintf(path, sizeof path - 4, "%s", name ? name : "out.json") >= (int)sizeof path - 4)
        return name_too_long();
    c->path = path;
    c->common.to_stdout = !strcmp(c->path, "-");
    c->gzip = output_is_packed(c->gzip, c->gzip_level, path, sizeof path);
    c->gzip_level = compression_level(c->gzip_level);
    if (c->common.to_stdout && c->gzip && isatty(STDOUT_FILENO))
        return usage_error("compressed data is not written to a terminal");
    return -1;
}

static int run_rtg2json(const program *p, int argc, char **argv)
{
    static cli c = {.common = {.teams = true, .team_writes = true}, .gzip_level = -1};
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    bool first = argc > 1 && !strcmp(argv[1], "--rpt");
    if (first || !strcmp(name, "rpt"))
        return rpt_program.run(&rpt_program, argc - first, argv + first);
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = check_options(&c);
    if (code < 0)
        code = choose_layout(&c);
    if (code < 0 && c.common.checking)
        return ROCL_OK;
    /* A job may put the output into a folder of its own. */
    if (code < 0 && c.common.job && !c.common.to_stdout && output_make_parent(c.path) != ROCL_OK)
        code = ROCL_OUTPUT;
    if (code >= 0)
        return code;
    code = c.layout != LAYOUT_SCRIPT ? convert_trace(&c)
           : common_is_other_rank()  ? ROCL_OK
                                     : convert_script(&c);
    if (code > ROCL_PARTIAL)
        rocl_remove_empty_dirs();
    return code;
}

/* ---- layout trace as one of several outputs ---- */

static cli shared;
static char shared_path[8192];
static rocl_written shared_written;

static int prepare_shared(const common *c, const conversion *o, unsigned variant)
{
    (void)variant;
    shared = (cli){.common = *c,
                   .layout = LAYOUT_TRACE,
                   .gzip = o->gzip,
                   .gzip_level = o->level,
                   .flows = o->flows,
                   .group_by_queue = o->group_by_queue};
    const char *name = output_name(c);
    const bool file = ends_with(name, ".json") || ends_with(name, ".gz");
    shared.path = shared_path;
    shared.common.to_stdout = !strcmp(name, "-");
    int code = -1;
    if (shared.common.to_stdout)
        strcpy(shared_path, "-");
    else
        code = output_place(c, file, "_results.json", shared_path, sizeof shared_path - 4);
    shared.gzip = output_is_packed(shared.gzip, shared.gzip_level, shared_path, sizeof shared_path);
    shared.gzip_level = compression_level(shared.gzip_level);
    return code < 0 ? output_check(c, shared_path) : code;
}

static rocl_status write_shared(rocl_trace *t, void *ctx, rocl_error *err)
{
    (void)ctx;
    const rocl_status s = output_make_parent(shared_path);
    return s == ROCL_OK ? write_layout(t, &shared, &shared_written, err) : s;
}

static void report_shared(const void *state)
{
    (void)state;
    report_written(&shared, &shared_written);
}

const converter json_converter = {"json", ".json", prepare_shared, write_shared, report_shared,
                                  NULL,   0};

const program rtg2json_program = {
    .name = "rtg2json",
    .tool = "rtg2json",
    .run = run_rtg2json,
    .synopsis = "[OPTION]... [INPUT]...",
    .purpose = "Convert rtg_tracer text, HCC logs, or any other trace to the JSON of "
               "chrome://tracing.",
    .groups = groups,
    .examples = "  rtg2json -f -k -o trace.json rtg_trace.txt.4905\n"
                "  rtg2json -p -o all.json.gz rtg_trace.txt.*\n"
                "  ssh node cat /scratch/rtg_trace.txt.7 | rtg2json -o - - > trace.json\n"
                "  rtg2json --start 40% --end 60% -f -o part.json 4711_results.db\n",
    .operands = offsetof(common, inputs),
    .alone = true,
};

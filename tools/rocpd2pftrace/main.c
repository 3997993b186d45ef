/* rocpd2pftrace: a rocpd trace as a Perfetto trace. */
#include "common/common.h"
#include "common/converter.h"
#include "common/output.h"
#include "common/programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct cli {
    common common;
    rocl_pftrace_options pftrace;
    int level; /* of -z */
    char path[8192];
    rocl_written written;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("write NAME_results.pftrace (default: ROCPD_OUTPUT_NAME, or out); a NAME "
                       "that ends in .pftrace or .gz, or the name of an existing file, is used as "
                       "it is; \"-\" is standard output"),
    COMMON_OUTPUT_PATH,
    {"group-by-queue", 0, OPT_FLAG, offsetof(cli, pftrace.group_by_queue), NULL, NULL, 0, 0,
     "group GPU work into tracks by hardware queue instead of by stream"},
    {"legacy-tracks", 0, OPT_FLAG, offsetof(cli, pftrace.legacy_tracks), NULL, NULL, 0, 0,
     "write GPU work as plain slices in the layout of AMD's converter instead of as typed GPU "
     "events"},
    {"args", 0, OPT_FLAG, offsetof(common, args), NULL, NULL, 0, 0,
     "attach the arguments of API calls to their slices"},
    {"annotate-pmc", 0, OPT_FLAG, offsetof(cli, pftrace.counters), NULL, NULL, 0, 0,
     "attach the values of counters to their kernels"},
    COMPRESS_OPTION(offsetof(cli, level),
                    "compress packets at this level: fast, small, or 1 to 9 (default: 1); 0 turns "
                    "compression off"),
    {"zstd", 0, OPT_FLAG, offsetof(cli, pftrace.zstd), NULL, NULL, 0, 0,
     "compress packets with zstd, which Perfetto reads since version 58"},
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};

static const opt_group *const groups[] = {&input_group,   &output_group, &names_group,
                                          &filter_group,  &run_group,    &team_group,
                                          &ignored_group, &other_group,  NULL};

static int check_options(void *state)
{
    cli *c = state;
    const char *name = output_name(&c->common);
    const bool file =
        ends_with(name, ".pftrace") || ends_with(name, ".gz") || ends_with(name, ".perfetto-trace");
    int code = -1;
    c->common.copy_packets = !c->pftrace.legacy_tracks && !c->pftrace.group_by_queue;
    c->common.to_stdout = strcmp(name, "-") == 0;
    if (c->common.to_stdout && isatty(STDOUT_FILENO))
        return usage_error("a trace is not written to a terminal; redirect standard output");
    if (c->common.to_stdout)
        strcpy(c->path, "-");
    else
        code = output_place(&c->common, file, "_results.pftrace", c->path, sizeof c->path);
    return code < 0 ? output_check(&c->common, c->path) : code;
}

static rocl_status write_trace(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    c->pftrace.path = c->path;
    c->pftrace.level = compression_level(c->level);
    const rocl_status s = output_make_parent(c->path);
    if (s != ROCL_OK)
        return s;
    return rocl_pftrace_is_cut(t, &c->pftrace)
               ? rocl_cut_pftrace(t, &c->pftrace, &c->written, err)
               : rocl_write_pftrace(t, &c->pftrace, &c->written, err);
}

static void report_trace(const void *state)
{
    const cli *c = state;
    const rocl_written *r = &c->written;
    msg_verbose("%s: %" PRIu64 " bytes, %" PRIu64 " slices, %" PRIu64 " counter values",
                c->common.to_stdout ? "standard output" : c->path, r->bytes, r->slices, r->values);
    if (!c->common.to_stdout)
        output_done(c->path);
    output_report_moved(r, "tracks");
}

/* ---- as one of several outputs ---- */

static cli state = {.common = {.teams = true, .team_writes = true}, .level = -1};

static int prepare_shared(const common *c, const conversion *o, unsigned variant)
{
    (void)variant;
    state = (cli){.common = *c, .level = o->level};
    state.pftrace.group_by_queue = o->group_by_queue;
    state.pftrace.legacy_tracks = o->legacy_tracks;
    state.pftrace.counters = o->counters;
    state.pftrace.zstd = o->zstd;
    return check_options(&state);
}

const converter pftrace_converter = {
    "pftrace", ".pftrace", prepare_shared, write_trace, report_trace, &state, 0};

static int run_rocpd2pftrace(const program *p, int argc, char **argv)
{
    return converter_run(p, &pftrace_converter, check_options, argc, argv);
}

const program rocpd2pftrace_program = {
    .name = "rocpd2pftrace",
    .tool = "rocpd2pftrace",
    .run = run_rocpd2pftrace,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Convert rocpd databases of rocprofv3 and rocprofiler-systems to a Perfetto trace.",
    .groups = groups,
    .examples = "  rocpd2pftrace 4711_results.db\n"
                "  rocpd2pftrace -i rank*/*.db -o all-ranks.pftrace\n"
                "  rocpd2pftrace --start 40% --end 60% --clip --args -o part.pftrace trace.rpdb\n"
                "  rocpd2pftrace --start 40% --end 60% --clip -o part.pftrace big.pftrace\n"
                "  ssh node rocpd2pftrace -o - /scratch/4711_results.db > trace.pftrace\n",
    .operands = offsetof(common, inputs),
};

/* rocpd2otf2: a rocpd trace as an OTF2 archive. */
#include "common/common.h"
#include "common/converter.h"
#include "common/output.h"
#include "common/programs.h"

#include <inttypes.h>
#include <string.h>

typedef struct cli {
    common common;
    rocl_otf2_options otf2;
    char path[8192];
    rocl_written written;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("write NAME_results.otf2 (default: ROCPD_OUTPUT_NAME, or out), its .def and "
                       "its folder; a NAME that ends in .otf2 is used as it is"),
    COMMON_OUTPUT_PATH,
    {"group-by-queue", 0, OPT_FLAG, offsetof(cli, otf2.group_by_queue), NULL, NULL, 0, 0,
     "group GPU work into locations by hardware queue instead of by stream"},
    {"args", 0, OPT_FLAG, offsetof(common, args), NULL, NULL, 0, 0,
     "attach the arguments of API calls and the launch details of kernels to their events"},
    {"chunk-size", 0, OPT_SIZE, offsetof(cli, otf2.chunk_size), "SIZE", NULL, 0, 0, NULL},
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};

static const opt_group *const groups[] = {&input_group,   &output_group, &names_group,
                                          &filter_group,  &run_group,    &team_group,
                                          &ignored_group, &other_group,  NULL};

static int check_options(void *state)
{
    cli *c = state;
    if (!rocl_has_otf2()) {
        msg_error("this rocline was built without libotf2, which writes these archives");
        return 2;
    }
    if (strcmp(output_name(&c->common), "-") == 0)
        return usage_error("an archive is several files: it cannot be written to standard output");
    const size_t chunk = c->otf2.chunk_size;
    if (chunk && (chunk < 256 << 10 || chunk > 16 << 20))
        return usage_error("--chunk-size: 256k to 16m");
    if (output_look(&c->common, c->path, sizeof c->path) == OUTPUT_DEVICE)
        return usage_error("an archive is several files: it cannot be written to %s", c->path);
    int code = output_files(&c->common, ends_with(output_name(&c->common), ".otf2"),
                            "_results.otf2", c->path, sizeof c->path);
    return code < 0 ? output_check(&c->common, c->path) : code;
}

static rocl_status write_archive(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    c->otf2.path = c->path;
    const rocl_status s = output_make_parent(c->path);
    return s == ROCL_OK ? rocl_write_otf2(t, &c->otf2, &c->written, err) : s;
}

static void report_archive(const void *state)
{
    const cli *c = state;
    const rocl_written *r = &c->written;
    msg_verbose("%s: %" PRIu64 " bytes, %" PRIu64 " slices, %" PRIu64 " instants, %" PRIu64
                " metric values, %" PRIu64 " locations",
                c->path, r->bytes, r->slices, r->instants, r->values, r->locations);
    output_files_done(c->path, r->locations, "location", r->bytes);
    output_report_moved(r, "locations");
}

/* ---- as one of several outputs ---- */

static cli state = {.common = {.teams = true, .team_writes = true}};

static int prepare_shared(const common *c, const conversion *o, unsigned variant)
{
    (void)variant;
    state = (cli){.common = *c, .otf2.group_by_queue = o->group_by_queue};
    return check_options(&state);
}

const converter otf2_converter = {"otf2", ".otf2", prepare_shared, write_archive, report_archive,
                                  &state, 0};

static int run_rocpd2otf2(const program *p, int argc, char **argv)
{
    return converter_run(p, &otf2_converter, check_options, argc, argv);
}

const program rocpd2otf2_program = {
    .name = "rocpd2otf2",
    .tool = "rocpd2otf2",
    .run = run_rocpd2otf2,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Convert rocpd databases of rocprofv3 and rocprofiler-systems to an OTF2 archive.",
    .groups = groups,
    .examples = "  rocpd2otf2 4711_results.db\n"
                "  rocpd2otf2 -i rank*/*.db -o all-ranks.otf2\n"
                "  rocpd2otf2 --start 40% --end 60% --clip --args -o part.otf2 trace.rpdb\n",
    .operands = offsetof(common, inputs),
};

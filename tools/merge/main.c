/* rocmerge: traces as one rocpd database, or a part of them. */
#include "common/common.h"
#include "common/output.h"
#include "common/programs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct cli {
    common common;
    bool flat, rebuild, keep_environment, package, consolidate;
    const char *split;
    unsigned slices;
    int64_t slice_ns;
    char path[8192]; /* of the database, or the folder of the package */
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

#define FLAG(name, letter, field, help)                                                            \
    {                                                                                              \
        name, letter, OPT_FLAG, offsetof(cli, field), NULL, NULL, 0, 0, help                       \
    }

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("write NAME.db (default: ROCPD_OUTPUT_NAME, or merged); a NAME that ends in "
                       ".db, or the name of an existing file, is used as it is"),
    COMMON_OUTPUT_PATH,
    FLAG("flat", 0, flat,
         "write one set of tables for all processes, with new ids, instead of one set for each"),
    {"split", 0, OPT_STRING, offsetof(cli, split), "N|TIME", NULL, 0, 0,
     "cut the time into N slices, or into slices of this length (10s, 500ms), and write NAME-1.db, "
     "NAME-2.db, ...; an event belongs to the slice in which it starts"},
    FLAG("rebuild", 0, rebuild, NULL),
    FLAG("keep-environment", 0, keep_environment,
         "copy the environment of the processes (default: only their MPI rank)"),
    COMMON_END,
};

static const opt package_options[] = {
    FLAG("package", 0, package,
         "write an index.yaml that lists the inputs, into DIR.rpdb or else the current folder"),
    FLAG("consolidate", 'c', consolidate,
         "write the index and copies of the databases, into DIR.rpdb or else rocpd-DATE-TIME.rpdb"),
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};
static const opt_group package_group = {"Packages", package_options};

static const opt_group *const groups[] = {
    &input_group, &output_group, &package_group, &names_group, &filter_group,
    &run_group,   &team_group,   &ignored_group, &other_group, NULL};

/* ---- the command line ---- */

static int check_split(cli *c)
{
    const char *text = c->split;
    char *end;
    if (!text)
        return -1;
    if (*text && !text[strspn(text, "0123456789")]) {
        unsigned long n = strtoul(text, &end, 10);
        c->slices = n > UINT32_MAX ? UINT32_MAX : (unsigned)n;
    } else if (!rocl_read_duration(text, &c->slice_ns)) {
        c->slice_ns = 0;
    }
    if (!c->slices && c->slice_ns <= 0)
        return usage_error("--split: \"%s\" is neither a number of slices nor a time such as 10s",
                           text);
    return -1;
}

/* As AMD's tool names the folder. */
static int place_package(cli *c)
{
    const char *dir = c->common.output_path ? output_folder(&c->common) : "";
    char date[32];
    time_t now = time(NULL);
    struct tm tm;
    int n;
    if (*dir)
        n = snprintf(c->path, sizeof c->path, "%s%s", dir, ends_with(dir, ".rpdb") ? "" : ".rpdb");
    else if (!c->consolidate)
        n = snprintf(c->path, sizeof c->path, ".");
    else
        n = localtime_r(&now, &tm) && strftime(date, sizeof date, "%Y%m%d-%H%M%S", &tm)
                ? snprintf(c->path, sizeof c->path, "rocpd-%s.rpdb", date)
                : -1;
    return n >= 0 && (size_t)n < sizeof c->path ? -1 : name_too_long();
}

static int check_package(cli *c)
{
    c->package |= c->consolidate;
    if (!c->package)
        return -1;
    if (c->common.output_file || c->flat || c->split || c->rebuild)
        return usage_error("a package takes none of --output-file, --flat, --split and --rebuild");
    if (!c->consolidate && common_filters(&c->common))
        return usage_error("filters need databases to write: add --consolidate");
    if (!c->consolidate && (c->common.same_host || c->common.hosts.n || c->common.rank_numbers.n))
        return usage_error("--host, --rank PATTERN=N and --same-host need databases to write: add "
                           "--consolidate");
    if (!c->consolidate && c->common.align.choice > ROCL_ALIGN_NONE)
        return usage_error("--align needs databases to write: add --consolidate");
    return place_package(c);
}

static int check_database(cli *c)
{
    const char *variable = getenv("ROCPD_OUTPUT_NAME");
    if (c->package)
        return -1;
    if (!c->common.output_file && !(variable && *variable))
        c->common.output_file = "merged";
    const char *name = output_name(&c->common);
    if (strcmp(name, "-") == 0)
        return usage_error("a database cannot be written to standard output");
    if (ends_with(name, "/")) /* it would become a hidden file, ".db" */
        return output_refuse_folder(name);
    int code = (c->split ? output_files : output_place)(&c->common, ends_with(name, ".db"), ".db",
                                                        c->path, sizeof c->path);
    return code < 0 ? output_check(&c->common, c->path) : code;
}

/* ---- the run ---- */

static rocl_status write_output(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    rocl_written r = {0};
    const rocl_package_options package = {
        .folder = c->path, .consolidate = c->consolidate, .keep_environment = c->keep_environment};
    const rocl_rocpd_options database = {.path = c->path,
                                         .flat = c->flat,
                                         .rebuild = c->rebuild,
                                         .keep_environment = c->keep_environment,
                                         .slices = c->slices,
                                         .slice_ns = c->slice_ns};
    rocl_status s = c->package ? ROCL_OK : output_make_parent(c->path);
    if (s == ROCL_OK)
        s = c->package ? rocl_write_package(t, &package, &r, err)
                       : rocl_write_rocpd(t, &database, &r, err);
    c->common.copied = r.copied;
    c->common.copied_rows = r.copied_rows;
    if (s <= ROCL_PARTIAL)
        msg_verbose("%s: %zu %s of %zu, %" PRIu64 " rows, %" PRIu64 " bytes", c->path, r.files,
                    r.files == 1 ? "database" : "databases", rocl_trace_captures(t), r.rows,
                    r.bytes);
    if (s <= ROCL_PARTIAL && (c->package || c->split))
        output_files_done(c->path, c->consolidate || c->split ? r.files : c->common.inputs.n,
                          "database", r.bytes);
    else if (s <= ROCL_PARTIAL)
        output_done(c->path);
    return s;
}

static int run_rocmerge(const program *p, int argc, char **argv)
{
    static cli c = {.common = {.teams = true}};
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = output_fill_names(&c.common);
    if (code < 0)
        code = check_split(&c);
    if (code < 0)
        code = check_package(&c);
    if (code < 0)
        code = check_database(&c);
    /* Without filters rows are copied and events are not looked at. */
    c.common.wanted = common_filters(&c.common) || c.split ? EVENTS_ALL : EVENTS_NONE;
    c.common.team_writes = c.common.team_inputs = c.consolidate;
    c.common.alone = !c.consolidate;
    if (code < 0 && !c.consolidate && c.common.team && strcmp(c.common.team, "no") != 0)
        msg_notice("a database has one writer: the first process does all; with --consolidate the "
                   "team writes one for each input");
    return code < 0 ? common_run(&c.common, write_output, &c) : code;
}

const program rocmerge_program = {
    .name = "rocmerge",
    .tool = "rocmerge",
    .run = run_rocmerge,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Merge rocpd databases and other traces into one database, extract a part, or split "
               "by time.",
    .groups = groups,
    .examples = "  rocmerge -o all.db rank*/*.db\n"
                "  rocmerge -o steps.db --start-marker step:3 --end-marker step:5 4711_results.db\n"
                "  rocmerge -o part.db --split 10s 4711_results.db\n"
                "  rocmerge -o trace.db trace.rocl rtg_trace.txt.4905\n"
                "  rocmerge --consolidate -d job rank*/*.db      # job.rpdb with an index.yaml\n"
                "  rocmerge --consolidate --team 8 -d job rank*/*.db\n",
    .operands = offsetof(common, inputs),
};

/* rocpd2csv: a rocpd trace as CSV files. */
#include "common/common.h"
#include "common/converter.h"
#include "common/output.h"
#include "common/programs.h"

#include <stdio.h>
#include <string.h>

typedef struct cli {
    common common;
    unsigned style;
    strings kinds;
    int level; /* of -z */
    rocl_csv_options csv;
    rocl_written written;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");
_Static_assert(ROCL_CSV_ROCPROF == 3, "--style lists the styles in order");

static const opt output_options[] = {
    COMMON_OUTPUT_FILE("write NAME_<kind>.csv (default: ROCPD_OUTPUT_NAME, or out); an ending .csv "
                       "or .csv.gz of NAME is removed; .csv.gz compresses them; \"-\" is standard "
                       "output, for exactly one of --kinds"),
    COMMON_OUTPUT_PATH,
    {"style", 0, OPT_CHOICE, offsetof(cli, style), "STYLE", "rocpd-1.0|rocpd-1.1|rocprofv3|rocprof",
     0, 0,
     "files and columns as in ROCm 7.0's converter (rocpd-1.0, the default), as in newer ones "
     "(rocpd-1.1), or as rocprofv3 writes them itself (rocprofv3); rocprof is the results.csv of "
     "rocprof v1: one file NAME.csv (default: results), with a row for each kernel dispatch"},
    {"kinds", 0, OPT_WORDS, offsetof(cli, kinds), "LIST", NULL, 0, 0,
     "write only these files: kernel, memory_copy, memory_allocation, scratch_memory, hip, hsa, "
     "marker, counter_collection, agent, ... (the message for an unknown word lists all)"},
    {"duration", 0, OPT_FLAG, offsetof(cli, csv.duration), NULL, NULL, 0, 0,
     "add a column with the duration in nanoseconds"},
    {"bytes", 0, OPT_FLAG, offsetof(cli, csv.bytes), NULL, NULL, 0, 0,
     "add a column with the size of memory copies"},
    {"gzip", 0, OPT_FLAG, offsetof(cli, csv.gzip), NULL, NULL, 0, 0, NULL},
    COMPRESS_OPTION(offsetof(cli, level),
                    "compress with gzip at this level: fast, small, or 1 to 9; 0 turns compression "
                    "off"),
    COMMON_END,
};
static const opt_group output_group = {"Output", output_options};

static const opt_group *const groups[] = {&input_group,   &output_group, &names_group,
                                          &filter_group,  &run_group,    &team_group,
                                          &ignored_group, &other_group,  NULL};

static const opt_words words[] = {{"kinds", rocl_csv_kind_word}, {NULL, NULL}};

/* The length of a name without the ending, where a name is left: not for ".csv" or "runs/.csv". */
static size_t length_without(const char *name, const char *ending)
{
    size_t n = strlen(name);
    if (!ends_with(name, ending))
        return n;
    size_t rest = n - strlen(ending);
    return rest && name[rest - 1] != '/' ? rest : n;
}

/* Standard output, devices and pipes take the text of one file; else files in a folder are written,
 * whose names begin with NAME. */
static int choose_output(cli *c)
{
    static char path[8192], name[4096];
    c->common.to_stdout = strcmp(output_name(&c->common), "-") == 0;
    if (c->common.to_stdout)
        c->csv.path = "-";
    else if (output_look(&c->common, path, sizeof path) == OUTPUT_DEVICE)
        c->csv.path = path;
    c->csv.gzip |= c->csv.path && ends_with(c->csv.path, ".gz");
    /* The one kind that --include keeps is that file. */
    if (c->csv.path && !c->kinds.n && c->common.include.n == 1 && c->style != ROCL_CSV_ROCPROF &&
        is_word_of(rocl_csv_kind_word, c->common.include.v[0]))
        c->kinds = c->common.include;
    if (c->csv.path)
        return c->kinds.n == 1 || c->style == ROCL_CSV_ROCPROF
                   ? -1
                   : usage_error("%s takes one kind of file: -o %s --kinds kernel",
                                 c->common.to_stdout ? "standard output" : path, c->csv.path);
    /* rocprofv3 calls its files <pid>_<kind>.csv unless it is told a name. */
    const char *own = c->style == ROCL_CSV_ROCPROF ? "results" : "";
    const char *given =
        c->style >= ROCL_CSV_ROCPROFV3 && !c->common.output_file ? own : output_name(&c->common);
    if (strlen(given) >= sizeof name)
        return name_too_long();
    strcpy(name, given);
    /* x.csv.gz means files with this name and ending, not x.csv.gz_kernel_trace.csv. */
    size_t plain = length_without(name, ".csv"), zipped = length_without(name, ".csv.gz");
    c->csv.gzip |= zipped < strlen(name);
    name[plain < zipped ? plain : zipped] = '\0';
    return output_split(&c->common, name, &c->csv.directory, &c->csv.prefix);
}

static rocl_status write_files(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    rocl_status s = c->csv.path ? ROCL_OK : output_make_folder(c->csv.directory);
    return s == ROCL_OK ? rocl_write_csv(t, &c->csv, &c->written, err) : s;
}

static void report_files(const void *state)
{
    const cli *c = state;
    char where[8192];
    if (c->csv.path)
        return;
    snprintf(where, sizeof where, "%s/%s%s.csv%s", c->csv.directory, c->csv.prefix,
             c->style == ROCL_CSV_ROCPROF ? ""
             : *c->csv.prefix             ? "_*"
                                          : "*",
             c->csv.gzip ? ".gz" : "");
    msg_verbose("%zu file%s: %s", c->written.files, c->written.files == 1 ? "" : "s", where);
    output_files_done(where, c->written.files, "file", c->written.bytes);
}

static int check_options(void *state)
{
    cli *c = state;
    const int code = choose_output(c);
    if (code >= 0)
        return code;
    c->csv.style = c->style;
    c->csv.gzip = c->level < 0 ? c->csv.gzip : c->level > 0;
    c->csv.level = compression_level(c->level);
    c->csv.kinds = c->kinds.v;
    c->common.wanted = c->kinds.n ? EVENTS_NONE : EVENTS_ALL;
    for (size_t i = 0; i < c->kinds.n; i++)
        if (strncmp(c->kinds.v[i], "agent", 5) != 0) /* agents are not events */
            c->common.wanted = EVENTS_SOME;
    return -1;
}

/* ---- as one of several outputs ---- */

static cli state = {.common = {.teams = true, .team_writes = true}, .level = -1};

static int prepare_shared(const common *c, const conversion *o, unsigned variant)
{
    (void)variant;
    state = (cli){.common = *c, .style = o->csv_style, .kinds = o->kinds, .level = o->level};
    state.csv.duration = o->duration;
    state.csv.bytes = o->bytes;
    state.csv.gzip = o->gzip;
    return check_options(&state);
}

const converter csv_converter = {"csv",  ".csv", prepare_shared, write_files, report_files,
                                 &state, 0};

static int run_rocpd2csv(const program *p, int argc, char **argv)
{
    return converter_run(p, &csv_converter, check_options, argc, argv);
}

const program rocpd2csv_program = {
    .name = "rocpd2csv",
    .tool = "rocpd2csv",
    .run = run_rocpd2csv,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Convert rocpd databases of rocprofv3 and rocprofiler-systems to CSV files.",
    .groups = groups,
    .examples = "  rocpd2csv 4711_results.db\n"
                "  rocpd2csv -i rank*/*.db -d csv -o run\n"
                "  rocpd2csv -o - --kinds kernel --duration 4711_results.db | less -S\n"
                "  rocpd2csv --start-marker step:3 --end-marker step:5 --clip -z 6 trace.rpdb\n",
    .operands = offsetof(common, inputs),
    .words = words,
};

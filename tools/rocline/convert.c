/* rocline convert: a trace in one or several formats, read once. */
#include "common/common.h"
#include "common/converter.h"
#include "common/output.h"
#include "common/programs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cli {
    common common;
    conversion conversion;
    strings formats;
    const converter *converters[9]; /* those of the formats, each once */
    size_t count;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

static const converter *const known[] = {
    &csv_converter,        &pftrace_converter,    &otf2_converter,
    &json_converter,       &html_converter,       &export_converters[0],
    &export_converters[1], &export_converters[2], &export_converters[3]};
enum { KNOWN = sizeof known / sizeof *known };
#define FORMATS "csv|pftrace|otf2|json|html|parquet|arrow|arrows|jsonl|perfetto"

#define FLAG(name, letter, field, help)                                                            \
    {                                                                                              \
        name, letter, OPT_FLAG, offsetof(cli, field), NULL, NULL, 0, 0, help                       \
    }

static const opt output_options[] = {
    {"output-format", 'f', OPT_MANY, offsetof(cli, formats), "FORMAT...", FORMATS, 0, 0,
     "csv, pftrace (or perfetto), otf2, json (Chrome), html (a timeline in a page for browsers), "
     "parquet, arrow, arrows (an Arrow stream) or jsonl: one or several, separated by blanks or "
     "commas (default: by the ending of the name of -o)"},
    COMMON_OUTPUT_FILE(
        "write NAME_results.pftrace, .otf2, .json and .html, and NAME_<kind>.csv, .parquet, "
        ".arrow, "
        ".arrows and .jsonl (default: ROCPD_OUTPUT_NAME, or out); for one format, a NAME with its "
        "ending is used as it is, and \"-\" is standard output"),
    COMMON_OUTPUT_PATH,
    COMMON_END,
};

static const opt format_options[] = {
    FLAG("args", 0, common.args,
         "pftrace, otf2, json, html: attach the arguments of API calls to their events"),
    FLAG("group-by-queue", 0, conversion.group_by_queue,
         "pftrace, otf2, json, html: group GPU work by hardware queue instead of by stream"),
    FLAG("legacy-tracks", 0, conversion.legacy_tracks,
         "pftrace: write GPU work as plain slices in the layout of AMD's converter"),
    FLAG("annotate-pmc", 0, conversion.counters,
         "pftrace: attach the values of counters to their kernels"),
    FLAG("zstd", 0, conversion.zstd,
         "pftrace: compress packets with zstd, which Perfetto reads since version 58"),
    PAGE_OPTIONS("html", cli, conversion.page),
    COMMON_CLASSES("html: colour kernels first by the rules in this file, see rocstats-kernels(1)"),
    FLAG("flow", 0, conversion.flows,
         "json: write arrows from host events to the GPU work that they launched"),
    {"style", 0, OPT_CHOICE, offsetof(cli, conversion.csv_style), "STYLE",
     "rocpd-1.0|rocpd-1.1|rocprofv3|rocprof", 0, 0,
     "csv: files and columns of ROCm 7.0's converter (rocpd-1.0, the default), of newer ones, of "
     "rocprofv3, or of rocprof v1"},
    {"kinds", 0, OPT_WORDS, offsetof(cli, conversion.kinds), "LIST", NULL, 0, 0,
     "csv, parquet, arrow, jsonl: write only these: kernel, memory_copy, ..."},
    FLAG("duration", 0, conversion.duration, "csv: add a column with the duration"),
    FLAG("bytes", 0, conversion.bytes, "csv: add a column with the size of copies"),
    FLAG("gzip", 0, conversion.gzip, NULL),
    COMPRESS_OPTION(offsetof(cli, conversion.level),
                    "pftrace, csv, json: compress at this level: fast, small, or 1 to 9; 0 turns "
                    "compression off (default: 1 for pftrace, off for the others)"),
    COMMON_END,
};

static const opt_group output_group = {"Output", output_options};
static const opt_group format_group = {"Formats", format_options};
static const opt_group *const groups[] = {&input_group,   &output_group, &format_group,
                                          &names_group,   &filter_group, &run_group,
                                          &ignored_group, &other_group,  NULL};

static const opt_words words[] = {{"kinds", rocl_csv_kind_word}, {NULL, NULL}};

/* The formats that were asked for, each once; else the one whose ending the name of -o has. */
static int choose_formats(cli *c)
{
    const char *name = c->common.output_file;
    for (size_t i = 0; i < c->formats.n; i++) {
        const converter *one = &pftrace_converter; /* "perfetto", as AMD's converter takes it */
        bool again = false;
        for (size_t k = 0; k < KNOWN; k++)
            if (!strcasecmp(known[k]->format, c->formats.v[i]))
                one = known[k];
        for (size_t k = 0; k < c->count; k++)
            again |= c->converters[k] == one;
        if (!again)
            c->converters[c->count++] = one;
    }
    for (size_t i = 0; i < KNOWN && !c->formats.n && name; i++)
        if (ends_with(name, known[i]->ending))
            c->converters[c->count++] = known[i];
    size_t exports = 0;
    for (size_t i = 0; i < c->count; i++)
        exports += c->converters[i]->prepare == export_converters[0].prepare;
    if (exports > 1)
        return usage_error("one of parquet, arrow, arrows and jsonl at a time");
    if (c->count)
        return -1;
    return usage_error("no format is given: --output-format " FORMATS
                       ", or an ending such as -o out.pftrace");
}

/* With several formats each appends its own ending to the name. */
static int check_name(cli *c)
{
    const char *name = output_name(&c->common);
    if (c->count < 2)
        return -1;
    if (!strcmp(name, "-"))
        return usage_error("standard output takes one format");
    for (size_t i = 0; i < KNOWN; i++)
        if (ends_with(name, known[i]->ending))
            return usage_error("--output-file: of several formats, each has its own ending: -o "
                               "%.*s",
                               (int)(strlen(name) - strlen(known[i]->ending)), name);
    return -1;
}

static rocl_status write_formats(rocl_trace *t, void *ctx, rocl_error *err)
{
    const cli *c = ctx;
    rocl_writer writers[KNOWN];
    rocl_status s;
    for (size_t i = 0; i < c->count; i++)
        writers[i] = (rocl_writer){c->converters[i]->write, c->converters[i]->state};
    s = c->count == 1 ? writers[0].write(t, writers[0].ctx, err)
                      : rocl_write_together(t, writers, c->count, err);
    for (size_t i = 0; i < c->count && s <= ROCL_PARTIAL; i++)
        c->converters[i]->report(c->converters[i]->state);
    return s;
}

static int run_convert(const program *p, int argc, char **argv)
{
    static cli c = {.conversion.level = -1};
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = choose_formats(&c);
    if (code < 0)
        code = output_fill_names(&c.common);
    if (code < 0)
        code = check_name(&c);
    for (size_t i = 0; i < c.count && code < 0; i++)
        code = c.converters[i]->prepare(&c.common, &c.conversion, c.converters[i]->variant);
    c.common.to_stdout = c.count == 1 && !strcmp(output_name(&c.common), "-");
    /* One Perfetto trace out of others is a copy of their packets; several formats are events. */
    c.common.copy_packets = c.count == 1 && c.converters[0] == &pftrace_converter &&
                            !c.conversion.legacy_tracks && !c.conversion.group_by_queue;
    return code < 0 ? common_run(&c.common, write_formats, &c) : code;
}

const program convert_program = {
    .name = "rocline convert",
    .tool = "rocline-convert",
    .run = run_convert,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Convert traces to one or several formats, reading the inputs once.",
    .groups = groups,
    .examples = "  rocline convert -f csv pftrace otf2 -o run -d out a.db b.db\n"
                "  rocline convert -f csv,json -z 6 4711_results.db\n"
                "  rocline convert -o trace.pftrace 4711_results.db\n",
    .operands = offsetof(common, inputs),
    .words = words,
};

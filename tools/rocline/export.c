/* rocline export: events and definitions of a trace as Parquet, Arrow or JSON lines. */
#include "common/common.h"
#include "common/converter.h"
#include "common/output.h"
#include "common/programs.h"

#include <stdio.h>
#include <string.h>

typedef struct cli {
    common common;
    unsigned format, codec; /* enums of rocline.h */
    strings kinds;
    int level; /* of -z */
    rocl_export_options export;
    rocl_written written;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");
_Static_assert(ROCL_EXPORT_PARQUET == 0 && ROCL_EXPORT_ARROW == 1 && ROCL_EXPORT_ARROWS == 2 &&
                   ROCL_EXPORT_JSONL == 3,
               "--format lists the formats in order");
_Static_assert(ROCL_CODEC_DEFAULT == 0 && ROCL_CODEC_NONE == 1 && ROCL_CODEC_GZIP == 2 &&
                   ROCL_CODEC_ZSTD == 3,
               "--codec lists the codecs in order");

static const char *const endings[] = {".parquet", ".arrow", ".arrows", ".jsonl"};

static const opt output_options[] = {
    {"format", 'f', OPT_CHOICE, offsetof(cli, format), "FORMAT", "parquet|arrow|arrows|jsonl", 0, 0,
     "parquet (the default); arrow: an Arrow IPC file, which is Feather V2; arrows: an Arrow IPC "
     "stream; jsonl: JSON lines"},
    COMMON_OUTPUT_FILE("write NAME_<kind>.parquet (default: ROCPD_OUTPUT_NAME, or out); the ending "
                       "of the format is removed from NAME; \"-\" is standard output, for exactly "
                       "one of --kinds (jsonl: any)"),
    COMMON_OUTPUT_PATH,
    {"kinds", 0, OPT_WORDS, offsetof(cli, kinds), "LIST", NULL, 0, 0,
     "write only these: kernel, region, marker, memory_copy, counter, process, agent, ... (the "
     "message for an unknown word lists all)"},
    {"all-columns", 0, OPT_FLAG, offsetof(cli, export.all_columns), NULL, NULL, 0, 0,
     "also write the columns that most people do not need: ids and indexes of agents, parents of "
     "calls, addresses of copies, descriptions of counters; --help=columns and --help=all-columns "
     "list them"},
    {"codec", 0, OPT_CHOICE, offsetof(cli, codec), "CODEC", "default|none|gzip|zstd", 0, 0,
     "how to compress: parquet by zstd (the default), gzip or none, arrow and arrows by zstd or "
     "none (the default), jsonl by gzip or none (the default)"},
    COMPRESS_OPTION(offsetof(cli, level),
                    "compress at this level: fast, small, or 1 to 9; 0 turns compression off"),
    COMMON_END,
};
static const opt_group output_group = {"Output", output_options};

static const opt_group *const groups[] = {&input_group, &output_group, &names_group, &filter_group,
                                          &run_group,   &team_group,   &other_group, NULL};

static const opt_words words[] = {{"kinds", rocl_export_kind_word}, {NULL, NULL}};

/* Standard output, devices and pipes take one stream; else files in a folder are written, whose
 * names begin with NAME without the ending of the format. */
static int choose_output(cli *c)
{
    static char path[8192], name[4096];
    const char *given = output_name(&c->common), *ending = endings[c->format];
    c->common.to_stdout = strcmp(given, "-") == 0;
    if (c->common.to_stdout)
        c->export.path = "-";
    else if (output_look(&c->common, path, sizeof path) == OUTPUT_DEVICE)
        c->export.path = path;
    /* The one kind that --include keeps is that file. */
    if (c->export.path && !c->kinds.n && c->common.include.n == 1 &&
        is_word_of(rocl_export_kind_word, c->common.include.v[0]))
        c->kinds = c->common.include;
    if (c->export.path)
        return c->kinds.n == 1 || c->format == ROCL_EXPORT_JSONL
                   ? -1
                   : usage_error("%s takes one kind: -o %s --kinds kernel",
                                 c->common.to_stdout ? "standard output" : path, c->export.path);
    if (strlen(given) >= sizeof name)
        return name_too_long();
    strcpy(name, given);
    const size_t n = strlen(name), cut = strlen(ending);
    if (ends_with(name, ending) && n > cut && name[n - cut - 1] != '/')
        name[n - cut] = '\0';
    return output_split(&c->common, name, &c->export.directory, &c->export.prefix);
}

static rocl_status write_files(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    const rocl_status s = c->export.path ? ROCL_OK : output_make_folder(c->export.directory);
    return s == ROCL_OK ? rocl_write_export(t, &c->export, &c->written, err) : s;
}

static void report_files(const void *state)
{
    const cli *c = state;
    const rocl_written r = c->written;
    char where[8192];
    if (c->export.path)
        return;
    snprintf(where, sizeof where, "%s/%s%s%s%s", c->export.directory, c->export.prefix,
             *c->export.prefix ? "_*" : "*", endings[c->format],
             c->format == ROCL_EXPORT_JSONL && c->export.codec == ROCL_CODEC_GZIP ? ".gz" : "");
    msg_verbose("%zu file%s: %s", r.files, r.files == 1 ? "" : "s", where);
    output_files_done(where, r.files, "file", r.bytes);
}

/* What --help=columns prints. */
static bool list_columns(bool all)
{
    const char *kind;
    for (size_t k = 0; (kind = rocl_export_kind_word(NULL, k)); k++) {
        rocl_export_column column;
        printf("%s%s\n", k ? "\n" : "", kind);
        for (size_t i = 0; rocl_export_column_of(kind, i, &column); i++)
            if (!column.detail || all)
                printf("  %-20s %-7s %s\n", column.name, column.type, column.doc);
    }
    return true;
}

static const char *help_word(const void *ctx, size_t i)
{
    static const char *const known[] = {"columns", "all-columns", NULL};
    (void)ctx;
    return known[i];
}

static bool help_about(const program *p, const char *word)
{
    (void)p;
    return (!strcmp(word, "columns") || !strcmp(word, "all-columns")) && list_columns(*word == 'a');
}

static int check_options(void *state)
{
    cli *c = state;
    const int code = choose_output(c);
    if (code >= 0)
        return code;
    c->export.format = c->format;
    c->export.kinds = c->kinds.v;
    c->common.wanted = c->kinds.n ? EVENTS_SOME : EVENTS_ALL;
    /* "-z 6" asks for the codec that the format has; "-z 0" for none. */
    c->export.codec = c->codec;
    c->export.level = compression_level(c->level);
    if (c->level == 0)
        c->export.codec = ROCL_CODEC_NONE;
    else if (c->level > 0 && c->codec == ROCL_CODEC_DEFAULT)
        c->export.codec = c->format == ROCL_EXPORT_PARQUET ? ROCL_CODEC_DEFAULT
                          : c->format == ROCL_EXPORT_JSONL ? ROCL_CODEC_GZIP
                                                           : ROCL_CODEC_ZSTD;
    return -1;
}

/* ---- as one of several outputs ---- */

static cli state = {.common = {.teams = true, .team_writes = true}, .level = -1};

static int prepare_shared(const common *c, const conversion *o, unsigned format)
{
    state = (cli){.common = *c, .format = format, .kinds = o->kinds, .level = o->level};
    return check_options(&state);
}

const converter export_converters[] = {
    {"parquet", ".parquet", prepare_shared, write_files, report_files, &state, ROCL_EXPORT_PARQUET},
    {"arrow", ".arrow", prepare_shared, write_files, report_files, &state, ROCL_EXPORT_ARROW},
    {"arrows", ".arrows", prepare_shared, write_files, report_files, &state, ROCL_EXPORT_ARROWS},
    {"jsonl", ".jsonl", prepare_shared, write_files, report_files, &state, ROCL_EXPORT_JSONL},
};

/* The ending of the name says the format, if nothing else does. */
static int check_named(void *ctx)
{
    cli *c = ctx;
    const char *form = output_form(output_name(&c->common));
    if (form && !options_given(&output_options[0]) && options_choice(&output_options[0], form) >= 0)
        c->format = (unsigned)options_choice(&output_options[0], form);
    return check_options(c);
}

static int run_export(const program *p, int argc, char **argv)
{
    return converter_run(p, export_converters, check_named, argc, argv);
}

const program export_program = {
    .name = "rocline export",
    .tool = "rocline-export",
    .run = run_export,
    .synopsis = "[OPTION]... INPUT...",
    .purpose = "Write events and definitions of a trace as Parquet, Arrow or JSON lines.",
    .groups = groups,
    .help_about = help_about,
    .help_words = help_word,
    .examples =
        "  rocline export 4711_results.db\n"
        "  rocline export -o run -d tables rank*/*.db\n"
        "  rocline export -f arrows --kinds kernel -o - trace.db | python3 analyse.py\n"
        "  rocline export -f jsonl --kinds kernel,memory_copy -o - trace.db | jq .duration\n"
        "  duckdb -c \"SELECT name, sum(duration) FROM 'tables/run_kernel.parquet' GROUP BY "
        "name\"\n",
    .operands = offsetof(common, inputs),
    .words = words,
};

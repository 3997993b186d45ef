/* rocpd summary: the options of AMD's command, as those of rocstats. */
#include "common/common.h"
#include "common/output.h"
#include "common/programs.h"
#include "rocline/commands.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct cli {
    common common;
    unsigned format;
    bool per_domain, by_rank, mangled, truncated;
    strings categories;
    const char *start, *end, *start_marker, *end_marker, *inclusive;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

#define TEXT(name, field, arg, help)                                                               \
    {                                                                                              \
        name, 0, OPT_STRING, offsetof(cli, field), arg, NULL, 0, 0, help                           \
    }

enum { CONSOLE, CSV, HTML, JSON, MD };

static const opt input_options[] = {
    {"input", 'i', OPT_LIST, offsetof(common, inputs), "FILE...", NULL, 0, 0,
     "databases, .rpdb folders, index.yaml files, and all other inputs of rocline; operands are "
     "inputs as well"},
    COMMON_END,
};
static const opt summary_options[] = {
    {"format", 'f', OPT_CHOICE, offsetof(cli, format), "FORM", "console|csv|html|json|md", 0, 0,
     "print tables (console, the default), or write files: a CSV file for each domain, or all "
     "tables as one page (html), as JSON, or as Markdown (md)"},
    {"domain-summary", 0, OPT_FLAG, offsetof(cli, per_domain), NULL, NULL, 0, 0, NULL},
    {"summary-by-rank", 0, OPT_FLAG, offsetof(cli, by_rank), NULL, NULL, 0, 0, NULL},
    {"region-categories", 0, OPT_WORDS, offsetof(cli, categories), "LIST", NULL, 0, 0, NULL},
    {"kernel-rename", 0, OPT_FLAG, offsetof(common, kernel_rename), NULL, NULL, 0, 0,
     "name kernels after the ROCTx range in which they were launched"},
    {"mangled-kernels", 0, OPT_FLAG, offsetof(cli, mangled), NULL, NULL, 0, 0, NULL},
    {"truncate-kernels", 0, OPT_FLAG, offsetof(cli, truncated), NULL, NULL, 0, 0, NULL},
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "NAME", NULL, 0, 0,
     "what the names of files begin with (default: ROCPD_OUTPUT_NAME, or out): "
     "NAME_kernels_summary.csv, "
     "..., NAME_summary.html; \"-\" is standard output, not for the files of csv"},
    {"output-path", 'd', OPT_STRING, offsetof(common, output_path), "DIR", NULL, 0, 0,
     "folder of files (default: ROCPD_OUTPUT_PATH, or rocpd-output-data)"},
    TEXT("start", start, "TIME", "begin of the time window: nanoseconds, or a share (25%)"),
    TEXT("end", end, "TIME", "end of the time window"),
    TEXT("start-marker", start_marker, "NAME", "the window begins with this marker"),
    TEXT("end-marker", end_marker, "NAME", "the window ends with this marker"),
    TEXT("inclusive", inclusive, "BOOL", NULL),
    COMMON_END,
};
static const opt_group own_input_group = {"Input", input_options};
static const opt_group summary_group = {"Summary", summary_options};
static const opt_group *const groups[] = {&own_input_group, &summary_group, &ignored_group,
                                          &other_group, NULL};

static void add_option(strings *words, const char *option, const char *value)
{
    if (!value)
        return;
    strings_add(words, option);
    strings_add(words, value);
}

/* AMD's option takes several words: those that follow the first have become inputs here. */
static void move_categories(cli *c)
{
    strings inputs = {0};
    for (size_t i = 0; i < c->common.inputs.n; i++) {
        const char *word = c->common.inputs.v[i];
        const bool category = c->categories.n && !strpbrk(word, "/.*?[") && access(word, F_OK) != 0;
        strings_add(category ? &c->categories : &inputs, word);
    }
    c->common.inputs = inputs;
}

/* The file of all tables; of csv, what the names of its files begin with. */
static int place_summary(cli *c, char *path, size_t size)
{
    static const char *const endings[] = {
        [CSV] = ".csv", [HTML] = ".html", [JSON] = ".json", [MD] = ".md"};
    const bool files = c->format == CSV && !c->by_rank;
    const char *name = output_name(&c->common);
    char suffix[64] = "";
    if (!strcmp(name, "-") && files)
        return usage_error("--output-file: CSV files cannot be written to standard output");
    if (!strcmp(name, "-")) {
        snprintf(path, size, "-");
        return -1;
    }
    if (!files)
        snprintf(suffix, sizeof suffix, "_summary%s%s", c->by_rank ? "_by_rank" : "",
                 endings[c->format]);
    const int code = output_files(&c->common, false, suffix, path, size);
    return code < 0 && output_make_parent(path) != ROCL_OK ? ROCL_OUTPUT : code;
}

static int run_summary(const program *p, int argc, char **argv)
{
    static const char *const formats[] = {
        [CONSOLE] = "text", [CSV] = "csv", [HTML] = "html", [JSON] = "json", [MD] = "md"};
    static char path[8192];
    static cli c;
    static strings words;
    program called = rocstats_program;
    int code = common_parse(p, &c.common, argc, argv);
    if (code >= 0)
        return code;
    if ((code = output_fill_names(&c.common)) >= 0)
        return code;
    move_categories(&c);
    if (!c.common.inputs.n)
        return usage_error("no input is given");
    if (c.format != CONSOLE && (code = place_summary(&c, path, sizeof path)) >= 0)
        return code;
    const bool files = c.format == CSV && !c.by_rank; /* not the tables of a report */
    strings_add(&words, p->name);
    if (!files)
        add_option(&words, "--table", c.per_domain ? "summary,domains" : "summary");
    if (files)
        add_option(&words, "--style", "rocpd");
    else
        add_option(&words, "--format", formats[c.format]);
    add_option(&words, "--top", files ? NULL : "0");
    if (c.by_rank)
        strings_add(&words, "--by-rank");
    for (size_t i = 0; i < c.categories.n; i++)
        add_option(&words, "--region-categories", c.categories.v[i]);
    if (c.common.kernel_rename)
        strings_add(&words, "--kernel-rename");
    if (c.mangled || c.truncated)
        add_option(&words, "--kernel-names", c.mangled ? "mangled" : "short");
    add_option(&words, "--output-file", c.format == CONSOLE ? NULL : path);
    add_option(&words, "--start", c.start);
    add_option(&words, "--end", c.end);
    add_option(&words, "--start-marker", c.start_marker);
    add_option(&words, "--end-marker", c.end_marker);
    add_option(&words, "--inclusive", c.inclusive);
    for (size_t i = 0; i < c.common.inputs.n; i++)
        add_option(&words, "--input", c.common.inputs.v[i]);
    called.name = p->name;
    return called.run(&called, (int)words.n, (char **)(uintptr_t)words.v);
}

const program rocpd_summary_program = {
    .name = "rocpd summary",
    .tool = "rocpd",
    .run = run_summary,
    .synopsis = "[OPTION]... INPUT...",
    .purpose =
        "Print the calls of every name, with their times; `rocline stats` has more reports.\n"
        "AMD's options are accepted: --help=aliases.",
    .groups = groups,
    .examples = "  rocpd summary -i 4711_results.db\n"
                "  rocpd summary --format html -o run 4711_results.db\n"
                "  rocpd summary --format csv -o run -d out rank*/*.db\n",
    .operands = offsetof(common, inputs),
};

/* rocpd summary: the options of AMD's command, as those of rocstats. */
#include "common/common.h"
#include "common/programs.h"
#include "rocline/commands.h"

#include <stdint.h>
#include <string.h>

typedef struct cli {
    common common;
    unsigned format;
    bool per_domain, by_rank;
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
    {"format", 0, OPT_CHOICE, offsetof(cli, format), "FORM", "console|csv|html|json|md", 0, 0,
     "print a table (console, the default), JSON or Markdown (md), or write CSV files or a page "
     "(html)"},
    {"domain-summary", 0, OPT_FLAG, offsetof(cli, per_domain), NULL, NULL, 0, 0,
     "add the sums of domains"},
    {"summary-by-rank", 0, OPT_FLAG, offsetof(cli, by_rank), NULL, NULL, 0, 0,
     "print a row for each process"},
    {"region-categories", 0, OPT_WORDS, offsetof(cli, categories), "LIST", NULL, 0, 0,
     "only these host calls: HIP,HSA,MARKER, ...; NONE: none"},
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "NAME", NULL, 0, 0,
     "name of the output; of CSV, what the names of its files begin with"},
    {"output-path", 'd', OPT_STRING, offsetof(common, output_path), "DIR", NULL, 0, 0,
     "folder of the CSV files"},
    TEXT("start", start, "TIME", "begin of the time window: nanoseconds, or a share (25%)"),
    TEXT("end", end, "TIME", "end of the time window"),
    TEXT("start-marker", start_marker, "NAME", "the window begins with this marker"),
    TEXT("end-marker", end_marker, "NAME", "the window ends with this marker"),
    TEXT("inclusive", inclusive, "BOOL",
         "True (default): keep events that lie completely inside the window"),
    COMMON_END,
};
static const opt_group own_input_group = {"Input", input_options};
static const opt_group summary_group = {"Summary", summary_options};
static const opt_group *const groups[] = {&own_input_group, &summary_group, &other_group, NULL};

static void add_option(strings *words, const char *option, const char *value)
{
    if (!value)
        return;
    strings_add(words, option);
    strings_add(words, value);
}

static int run_summary(const program *p, int argc, char **argv)
{
    static const char *const formats[] = {
        [CONSOLE] = "text", [HTML] = "html", [JSON] = "json", [MD] = "md"};
    static cli c;
    static strings words;
    program called = rocstats_program;
    int code = common_parse(p, &c.common, argc, argv);
    if (code >= 0)
        return code;
    if (c.format == CSV && c.by_rank)
        return usage_error("--summary-by-rank: not with --format csv");
    if (c.common.output_path && c.format != CSV)
        return usage_error("--output-path is for the files of --format csv");
    strings_add(&words, p->name);
    if (c.format != CSV) /* its files are not those of a report */
        strings_add(&words, "summary");
    if (c.format != CSV && c.per_domain)
        strings_add(&words, "domains");
    if (c.format == CSV)
        add_option(&words, "--style", "rocpd");
    else
        add_option(&words, "--format", formats[c.format]);
    add_option(&words, "--top", c.format == CSV ? NULL : "0");
    if (c.by_rank)
        strings_add(&words, "--by-rank");
    for (size_t i = 0; i < c.categories.n; i++)
        add_option(&words, "--region-categories", c.categories.v[i]);
    add_option(&words, "--output-file", c.common.output_file);
    add_option(&words, "--output-path", c.common.output_path);
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
    .purpose = "Print the calls of every name, with their times; `rocline stats` has more reports.",
    .groups = groups,
    .examples = "  rocpd summary -i 4711_results.db\n"
                "  rocpd summary --domain-summary --region-categories HIP,MARKER 4711_results.db\n"
                "  rocpd summary --format csv -o run -d out rank*/*.db\n",
    .operands = offsetof(common, inputs),
};

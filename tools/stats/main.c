/* rocstats: where the time of a trace went. */
#include "common/common.h"
#include "common/answer.h"
#include "common/output.h"
#include "common/page.h"
#include "common/programs.h"

#include "stats/compare.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

typedef struct cli {
    common common;
    strings operands; /* reports, then inputs */
    strings domains, summary_groups, derive, what_if, by;
    strings only; /* tables */
    const char *format_name;
    rocl_table_format format;
    unsigned sort, style, between;
    int top, slices;
    bool findings;
    bool wide;
    uint32_t named;           /* reports that are given, or --table's */
    bool all;                 /* the word that stands for all reports is given */
    bool doctor;              /* named as a report: its verdict is the exit code */
    bool overview;            /* no report is named, and people read it */
    bool summary, per_domain; /* tables as of rocprofv3 */
    unsigned summary_units;
    const char *summary_file;
    const char *min_gap;
    const char *path, *folder; /* of the output; of the files of a style */
    unsigned budget;
    const char *timeline; /* "": the page has one; "first": it opens with it */
    page_choice page;
    bool group_by_queue;
    rocl_stats_options stats;
    comparison compare;
    bool baseline; /* one is written */
    const char *baseline_name;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");
_Static_assert(ROCL_STYLE_ROCPD == 0 && ROCL_STYLE_ROCPROF == 2, "--style lists them, after none");
_Static_assert(ROCL_BETWEEN_KERNELS == 1 && ROCL_BETWEEN_COPIES == 2, "--gaps-between lists them");
_Static_assert(ROCL_BY_CALLS == 1 && ROCL_BY_NAME == 4, "--sort lists them in order");

enum { OVERVIEW_TOP = 10, TEXT_TOP = 20, PAGE_MOST = 1000 };
/* A timeline's row has LINE_REST columns beside its line. */
enum { SLICES_MAX = 100000, LINE = 60, LINE_REST = 29, LINE_LEAST = 10, PAGE_SLICES = 200 };

#define REPORT(r) (1u << ROCL_REPORT_##r)

/* The tables of an overview, and what it reads them of. */
static const char *const overview_tables[] = {
    "domains",     "kernels", "copies",      "copy_sizes",  "overlap",      "communication",
    "concurrency", "gaps",    "gap_buckets", "gap_classes", "longest_gaps", NULL};
enum {
    OVERVIEW = REPORT(SUMMARY) | REPORT(KERNELS) | REPORT(COPIES) | REPORT(OVERLAP) | REPORT(GAPS)
};

#define BY(name, field, help)                                                                      \
    {                                                                                              \
        name, 0, OPT_FLAG, offsetof(cli, field), NULL, NULL, 0, 0, help                            \
    }

static const opt report_options[] = {
    {"top", 0, OPT_NUMBER, offsetof(cli, top), "N", NULL, 0, INT_MAX,
     "rows per table, of which the last sums up the others; 0 prints all, but only 20 in tables of "
     "the longest (default: for text 20, or 10 in the overview; for html 1000; 0 for "
     "the other formats)"},
    {"sort", 0, OPT_CHOICE, offsetof(cli, sort), "KEY", "total|calls|average|max|name", 0, 0,
     "sort rows by total, calls, average, max or name (default: total; numbers: the largest "
     "first)"},
    {"by", 0, OPT_MANY, offsetof(cli, by), "LIST", "rank|agent|stream|dims|dispatch|marker", 0, 0,
     "a row for each rank, agent, stream, dims (size of grid and workgroup; stream: also gaps of "
     "streams and queues); dispatch: also derived counters of each dispatch; marker: also what was "
     "sampled during the ranges of each marker"},
    {"findings", 0, OPT_FLAG, offsetof(cli, findings), NULL, NULL, 0, 0,
     "begin with what stands out, and what could be gained (always in the overview and in html)"},
    BY("ids", stats.ids,
       "add columns with ids of single events, such as the longest call of a name, for `rocline "
       "show`"),
    COMMON_CLASSES(
        "classify kernels first by the rules in this file: lines of a class and a regular "
        "expression"),
    {"domain", 0, OPT_WORDS, offsetof(cli, domains), "LIST", NULL, 0, 0,
     "with summary: show only these: kernels, hip, hsa, markers, memory_copies, ...; "
     "NONE: "
     "no host calls"},
    {"summary-groups", 0, OPT_LIST, offsetof(cli, summary_groups), "REGEX", NULL, 0, 0,
     "with summary: add a table for the domains whose names match, such as 'HIP|KERNELS' or "
     "'KERNEL_DISPATCH|MEMORY_COPY'; may be repeated"},
    /* The summary of rocprofv3: `rocstats summary --format table` is the same as --summary. */
    BY("summary", summary, NULL),
    BY("summary-per-domain", per_domain, NULL),
    {"summary-units", 0, OPT_CHOICE, offsetof(cli, summary_units), "UNIT", "nsec|usec|msec|sec", 0,
     0, NULL},
    {"summary-output-file", 0, OPT_STRING, offsetof(cli, summary_file), "FILE", NULL, 0, 0, NULL},
    {"min-gap", 0, OPT_STRING, offsetof(cli, min_gap), "TIME", NULL, 0, 0,
     "with gaps: ignore shorter gaps (5us; default: 0)"},
    {"gaps-between", 0, OPT_CHOICE, offsetof(cli, between), "WORK", "all|kernels|copies", 0, 0,
     "with gaps: define gaps as times without kernels and copies (all, the default), without "
     "kernels, or without copies"},
    {"derive", 'E', OPT_LIST, offsetof(cli, derive), "FILE", NULL, 0, 0,
     "with counters: add tables of the derived counters that this file defines, in the form of "
     "rocprof's metrics.xml or rocprofv3's counter_defs.yaml; may be repeated"},
    {"derive-arch", 0, OPT_STRING, offsetof(cli, stats.derive_arch), "NAME", NULL, 0, 0, NULL},
    {"what-if", 0, OPT_LIST, offsetof(cli, what_if), "NAME=2x", NULL, 0, 0,
     "with critical-path: how long the whole would take if this kernel, copy or host call were "
     "twice as fast; a pattern such as '*gemm*=1.5x' means all names that match; may be repeated"},
    {"peak", 0, OPT_STRING, offsetof(cli, stats.peak), "[FILE:]NAME", NULL, 0, 0,
     "with roofline: compare with the peak of this GPU, such as MI300X, and not of that in the "
     "trace; FILE:NAME: look it up in this file first, with lines of a name and bandwidth=5.3T "
     "fp16=1307T ..."},
    {"peaks", 0, OPT_STRING, offsetof(cli, stats.peaks), "FILE", NULL, 0, 0, NULL},
    {"slices", 0, OPT_NUMBER, offsetof(cli, slices), "N", NULL, 1, SLICES_MAX,
     "with overlap, memory, counters: number of equal parts into which series cut the time "
     "(default: "
     "for text and md 60, or fewer on a narrow terminal; 1000 for the other formats)"},
    {"fail-over", 0, OPT_STRING, offsetof(cli, compare.fail_over), "PCT", NULL, 0, 0,
     "with compare: exit with 6 if a kernel takes significantly longer in B, by more than this "
     "percentage on average, or is new; --include tests all that it names, such as marker or "
     "kernel,copy"},
    {"fail-over-total", 0, OPT_STRING, offsetof(cli, compare.fail_over_total), "PCT", NULL, 0, 0,
     "with compare: exit with 6 if the total time of a kernel or of all kernels grew by more than "
     "this percentage, or if one is new, even with few calls; with --include as above"},
    {"a", 0, OPT_LIST, offsetof(cli, compare.runs_a), "PATTERN", NULL, 0, 0,
     "with compare: each file or folder that matches is a run of A, such as 'base/*.db', and may "
     "be "
     "a baseline; needs --b; may be repeated. Several runs tell changes from the noise between "
     "runs"},
    {"b", 0, OPT_LIST, offsetof(cli, compare.runs_b), "PATTERN", NULL, 0, 0,
     "with compare: the same for B"},
    {"baseline", 0, OPT_STRING, offsetof(cli, compare.baseline), "FILE[:NAME]", NULL, 0, 0,
     NULL}, /* the first input of compare is the same */
    /* "-o FILE:NAME" is the same. */
    {"baseline-name", 0, OPT_STRING, offsetof(cli, baseline_name), "NAME", NULL, 0, 0, NULL},
    COMMON_END,
};

static const opt output_options[] = {
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "FILE", NULL, 0, 0,
     "write to this file, in the form of its ending (.html, .md, .csv, .tsv, .json or .txt; "
     "default: "
     "\"-\", standard output); with --style: prefix of the file names (default: out, or "
     "results for rocprof)"},
    {"format", 0, OPT_STRING, offsetof(cli, format_name), "FORM", ROCL_TABLE_FORMAT_NAMES, 0, 0,
     "text, md, csv, tsv, json or html, whatever the name; aligned text with units (text, the "
     "default) or Markdown (md or markdown) for people; CSV, TSV or JSON with exact values for "
     "programs; the summary as `rocprofv3 -S` prints it (table); a page with all reports and "
     "charts "
     "(html); attribution as folded stacks, in ns, for flamegraph.pl and speedscope (folded); what "
     "compare tested for a limit as JUnit XML (junit); a comparison as annotations of GitHub "
     "Actions (github), whose job summary it also writes"},
    {"table", 0, OPT_WORDS, offsetof(cli, only), "LIST", NULL, 0, 0,
     "print only these tables; such as step_distribution or compare_causes; all: every table, also "
     "as CSV and TSV, where compare otherwise prints only one"},
    BY("wide", wide,
       "text: print all columns, and names in full (default: as wide as the terminal, or 200 "
       "characters elsewhere)"),
    BUDGET_OPTION(offsetof(cli, budget)),
    {"timeline", 0, OPT_MAYBE, offsetof(cli, timeline), "[=first]", NULL, 0, 0,
     "html: add a timeline of all events to the page; with first, the page opens with it"},
    PAGE_OPTIONS("--timeline", cli, page),
    {"group-by-queue", 0, OPT_FLAG, offsetof(cli, group_by_queue), NULL, NULL, 0, 0,
     "--timeline: group GPU work by hardware queue instead of by stream"},
    {"style", 0, OPT_CHOICE, offsetof(cli, style), "NAME", "none|rocpd|rocprofv3|rocprof", 0, 0,
     "write the CSV files of the statistics of rocprofv3 or rocprof, or of `rocpd summary`, one "
     "for "
     "each domain"},
    {"output-path", 'd', OPT_STRING, offsetof(common, output_path), "DIR", NULL, 0, 0,
     "folder of the files of --style (default: the current one)"},
    COMMON_END,
};

static const opt_group report_group = {"Reports", report_options};
static const opt_group output_group = {"Output", output_options};

static const opt_group *const groups[] = {&input_group, &report_group, &output_group,
                                          &names_group, &filter_group, &run_group,
                                          &team_group,  &other_group,  NULL};

static const char *report_word(const void *ctx, size_t i)
{
    (void)ctx;
    if (i < ROCL_REPORTS)
        return rocl_report_name((rocl_report)i);
    static const char *const others[] = {"all", "compare", "baseline", "view", NULL};
    return others[i - ROCL_REPORTS];
}

/* What --table takes. */
static const char *table_word(const void *ctx, size_t i)
{
    return i ? rocl_table_word(ctx, i - 1) : "all";
}

static const opt_words words[] = {
    {"domain", rocl_domain_word}, {"table", table_word}, {NULL, NULL}};

/* Words for other things than reports. */
static const char *const others[][2] = {
    {"compare", "compare two traces, or a trace with a baseline: what became slower, and why"},
    {"baseline", "write what compare needs of a trace to a small file: its baseline"},
    {"view", "show a trace on the terminal, or write a page for a browser"}};
enum { OTHERS = sizeof others / sizeof *others };

/* What --help begins with; its list of reports is that of the library. */
static char purpose[4096];

/* How much of a text fits in a line: all, or up to a comma or a semicolon. */
static int length_in_line(const char *text)
{
    enum { MOST = 82 };
    size_t n = strlen(text);
    while (n > MOST) {
        do
            n--;
        while (n && !strchr(",;", text[n]));
    }
    return (int)n;
}

static void fill_purpose(void)
{
    size_t len =
        (size_t)snprintf(purpose, sizeof purpose,
                         "Print where the time of a trace went: an overview, or reports, or "
                         "all of them.\n\nReports; `rocstats REPORT --help` has the tables, "
                         "options and examples of each:");
    for (rocl_report r = 0; r < ROCL_REPORTS && len < sizeof purpose; r++) {
        const char *help = rocl_report_help(r);
        len += (size_t)snprintf(purpose + len, sizeof purpose - len, "\n  %-14s %.*s",
                                rocl_report_name(r), length_in_line(help), help);
    }
    for (size_t i = 0; i < OTHERS && len < sizeof purpose; i++)
        len += (size_t)snprintf(purpose + len, sizeof purpose - len, "\n  %-14s %.*s", others[i][0],
                                length_in_line(others[i][1]), others[i][1]);
}

static void print_tables(const char *word)
{
    const char *key;
    rocl_report r = 0;
    while (strcmp(rocl_report_name(r), word) != 0)
        r++;
    printf("\nTables (--table KEY prints one):\n");
    for (size_t i = 0; (key = rocl_report_table(r, i)); i++)
        printf("  %-22s %s\n", key, rocl_table_title(key));
}

/* Help of a report, or of a command that is a word here. */
static bool help_about(const program *p, const char *word)
{
    for (size_t i = 0; i < OTHERS; i++)
        if (!strcmp(others[i][0], word)) {
            print_help_part(p, word, others[i][1], NULL);
            return true;
        }
    for (rocl_report r = 0; r < ROCL_REPORTS; r++)
        if (!strcmp(rocl_report_name(r), word)) {
            print_help_part(p, word, rocl_report_help(r), print_tables);
            return true;
        }
    return false;
}

/* The bits of a word that names reports, 0 for another word. */
static uint32_t named_reports(const char *word)
{
    for (rocl_report r = 0; r < ROCL_REPORTS; r++)
        if (strcmp(word, rocl_report_name(r)) == 0)
            return UINT32_C(1) << r;
    return strcmp(word, "all") == 0 ? (UINT32_C(1) << ROCL_REPORTS) - 1 : 0;
}

/* Are they the same word, but for '-' and '_'? */
static bool is_alike(const char *table, const char *report)
{
    while (*table && (*table == *report || (*table == '_' && *report == '-'))) {
        table++;
        report++;
    }
    return *table == *report;
}

/* The report that has a table; ROCL_REPORTS: none has. */
static rocl_report report_of_table(const char *key)
{
    for (rocl_report r = 0; r < ROCL_REPORTS; r++)
        for (size_t i = 0; rocl_report_table(r, i); i++)
            if (!strcmp(key, rocl_report_table(r, i)))
                return r;
    return ROCL_REPORTS;
}

/* Words before the first file are reports. What follows is a file, whatever it is called. */
static int sort_operands(cli *c)
{
    size_t i = 0;
    if (c->operands.n && strcmp(c->operands.v[0], "compare") == 0) {
        c->compare.wanted = c->common.apart = true;
        i = 1;
    }
    if (c->operands.n && strcmp(c->operands.v[0], "baseline") == 0) {
        c->baseline = true;
        i = 1;
    }
    const bool special = c->compare.wanted || c->baseline;
    for (uint32_t r; !special && i < c->operands.n && (r = named_reports(c->operands.v[i])); i++) {
        c->stats.reports |= r;
        c->named |= r;
        c->all |= !strcmp(c->operands.v[i], "all");
        c->doctor |= r == REPORT(DOCTOR);
    }
    const char *word = i < c->operands.n && !special ? c->operands.v[i] : NULL;
    for (; i < c->operands.n; i++)
        strings_add(&c->common.inputs, c->operands.v[i]);
    if (!word || strpbrk(word, "/.*?[") || access(word, F_OK) == 0)
        return -1;
    if (strcmp(word, "view") == 0)
        return usage_error("view must stand before all options");
    const char *near;
    const rocl_report r = report_of_table(word);
    if (r < ROCL_REPORTS)
        return usage_error("\"%s\" is a table of the report %s: use that, or --table %s", word,
                           rocl_report_name(r), word);
    for (size_t k = 0; (near = rocl_table_word(NULL, k)); k++)
        if (!strcmp(near, word))
            return usage_error("\"%s\" is a table, not a report: --table %s prints it", word, word);
    /* A word that is neither a report nor a file is more likely a mistyped report. */
    const int code = options_refuse_command(word);
    if (code >= 0)
        return code;
    near = rocl_nearest_word(word, strlen(word), report_word, NULL);
    return near ? usage_error("\"%s\" is neither a report nor a file; did you mean %s?", word, near)
                : -1;
}

static void choose_pictures(cli *c)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    unsigned width = output_width(&c->common);
    /* As the C library would decide, which is not asked: tools do not use locales otherwise. */
    for (size_t i = 0; i < sizeof names / sizeof *names && (!locale || !*locale); i++)
        locale = getenv(names[i]);
    const bool utf8 = locale && (strcasestr(locale, "UTF-8") || strcasestr(locale, "utf8"));
    c->stats.pictures = c->format == ROCL_TABLE_TEXT || c->format == ROCL_TABLE_MARKDOWN;
    /* What reads a text from a pipe or a file need not know the characters of this terminal. */
    const bool on_terminal = c->common.to_stdout && isatty(STDOUT_FILENO);
    c->stats.ascii = !utf8 || (c->format == ROCL_TABLE_TEXT && !on_terminal);
    c->stats.slices = (size_t)c->slices;
    if (!c->slices && c->format == ROCL_TABLE_HTML)
        c->stats.slices = PAGE_SLICES;
    if (c->slices || c->format != ROCL_TABLE_TEXT || !width || width >= LINE + LINE_REST)
        return;
    c->stats.slices = width < LINE_LEAST + LINE_REST ? LINE_LEAST : width - LINE_REST;
}

/* Tables of summaries are wanted, alone or beside the files of a style. */
static bool wants_summary(const cli *c)
{
    return c->summary || c->per_domain || c->summary_file || c->format == ROCL_TABLE_CONSOLE;
}

/* Where they go: rocprofv3 puts the name of the output before that of the file. */
static int place_summary(cli *c)
{
    static char path[8192];
    const char *file = c->summary_file, *name = c->common.output_file;
    c->path = "-";
    if (!file)
        c->path = name && !c->style ? name : "-";
    else if (!strcmp(file, "stderr"))
        c->path = "/dev/stderr";
    if (!file || !strcmp(file, "stderr") || !strcmp(file, "stdout"))
        return -1;
    const bool absolute = *file == '/';
    const char *prefix = name ? name : c->style ? "out" : "";
    const char *folder = c->common.output_path ? c->common.output_path : "";
    int n = absolute
                ? snprintf(path, sizeof path, "%s%s", file, ends_with(file, ".txt") ? "" : ".txt")
                : snprintf(path, sizeof path, "%s%s%s%s%s%s", *prefix == '/' ? "" : folder,
                           *folder && *prefix != '/' ? "/" : "", prefix, *prefix ? "_" : "", file,
                           ends_with(file, ".txt") ? "" : ".txt");
    c->path = path;
    return n >= 0 && (size_t)n < sizeof path ? -1 : name_too_long();
}

/* What a job gives a folder for, and what else has none. */
static int join_folder(cli *c)
{
    static char path[8192];
    const char *name = c->common.output_file;
    if (!c->common.job || !name || !strcmp(name, "-"))
        return c->common.job ? -1
                             : usage_error("--output-path is only for the files of --style; use "
                                           "--output-file for a report");
    int n = *name == '/' ? snprintf(path, sizeof path, "%s", name)
                         : snprintf(path, sizeof path, "%s/%s", c->common.output_path, name);
    c->common.output_file = path;
    return n >= 0 && (size_t)n < sizeof path ? -1 : name_too_long();
}

/* Styles are made of two reports with nothing but what AMD's tools have. */
static int check_style(cli *c)
{
    if (!c->style)
        return c->common.output_path && !c->summary_file ? join_folder(c) : -1;
    c->folder = c->common.output_path;
    if (c->stats.reports || c->stats.by_rank || c->stats.by_agent || c->stats.by_stream ||
        c->stats.by_dims || c->format)
        return usage_error(
            "--style writes all summaries and cannot be used with reports, --format or --by");
    c->top = 0;
    c->stats.reports = REPORT(SUMMARY);
    return -1;
}

static int check_compare(cli *c, size_t behind)
{
    if (c->compare.wanted && (c->stats.by_rank || c->stats.by_agent || c->stats.by_stream ||
                              c->stats.by_dims || c->sort))
        return usage_error("compare cannot be used with --by and --sort");
    return comparison_check(&c->compare, &c->common, behind);
}

static bool is_for_ci(const cli *c)
{
    return c->format == ROCL_TABLE_JUNIT || c->format == ROCL_TABLE_GITHUB;
}

/* Only some tables are printed. */
static bool picks_tables(const cli *c)
{
    for (size_t i = 0; i < c->only.n; i++)
        if (!strcmp(c->only.v[i], "all"))
            return false;
    return c->only.n;
}

static int check_tables(const cli *c)
{
    for (size_t i = 0; i < c->only.n; i++) {
        const char *name = c->only.v[i], *word;
        size_t k = 0;
        while ((word = table_word(NULL, k)) && strcmp(word, name) != 0)
            k++;
        if (word)
            continue;
        const char *near = rocl_nearest_word(name, strlen(name), table_word, NULL);
        return near ? usage_error("--table: \"%s\" is not a table; did you mean %s?", name, near)
                    : usage_error("--table: \"%s\" is not a table; rocstats(5) lists them", name);
    }
    if (c->only.n && (c->style || c->format == ROCL_TABLE_CONSOLE ||
                      c->format == ROCL_TABLE_FOLDED || is_for_ci(c)))
        return usage_error("--table is not for --style and the formats table, folded, junit and "
                           "github");
    return -1;
}

/* The name behind the last colon of FILE:NAME, which is cut off; NULL: there is none. */
static const char *cut_name(const char **file)
{
    const char *colon = *file ? strrchr(*file, ':') : NULL;
    if (!colon || strchr(colon, '/') || colon == *file)
        return NULL;
    *file = must_have(strndup(*file, (size_t)(colon - *file)));
    return colon + 1;
}

static int check_baseline(cli *c)
{
    if (c->baseline && !c->baseline_name)
        c->baseline_name = cut_name(&c->common.output_file);
    if (!c->baseline)
        return c->baseline_name ? usage_error("--baseline-name is only for baseline") : -1;
    if (c->format_name || c->style || c->findings || c->timeline || c->stats.by_rank ||
        c->stats.by_agent || c->stats.by_stream || c->stats.by_dims || c->sort || c->summary ||
        c->per_domain || c->summary_file || c->budget || c->only.n)
        return usage_error("baseline writes JSON of its own, and takes no options of reports");
    return -1;
}

/* Without a report, tables that are picked choose those that they are of. */
static void choose_reports(cli *c)
{
    uint32_t reports = 0;
    for (size_t i = 0; i < c->only.n && !c->stats.reports; i++) {
        const rocl_report r = report_of_table(c->only.v[i]);
        if (r == ROCL_REPORTS)
            return;
        reports |= UINT32_C(1) << r;
    }
    c->stats.reports |= reports;
    c->named |= reports;
    c->doctor |= reports >> ROCL_REPORT_DOCTOR & 1;
}

/* Formats that are of one report, or of all. */
static int check_format(cli *c)
{
    if (wants_summary(c) && c->compare.wanted && c->format != ROCL_TABLE_CONSOLE)
        return usage_error("compare has no --summary");
    if (wants_summary(c) && !c->style && c->format != ROCL_TABLE_CONSOLE) {
        if (c->format_name || (c->stats.reports & ~REPORT(SUMMARY)))
            return usage_error("--summary is a report of its own: it takes no other one, and no "
                               "--format");
        c->format = ROCL_TABLE_CONSOLE;
    }
    if (!c->stats.reports)
        c->stats.reports = c->format == ROCL_TABLE_HTML      ? (UINT32_C(1) << ROCL_REPORTS) - 1
                           : c->format == ROCL_TABLE_CONSOLE ? REPORT(SUMMARY)
                           : c->format == ROCL_TABLE_FOLDED  ? REPORT(ATTRIBUTION)
                                                             : 0;
    if (c->format == ROCL_TABLE_CONSOLE && c->stats.reports != REPORT(SUMMARY))
        return usage_error("--format table is only for the report summary");
    if (c->format == ROCL_TABLE_JUNIT &&
        (!c->compare.wanted || (!c->compare.fail_over && !c->compare.fail_over_total)))
        return usage_error("--format junit is only for compare with --fail-over or "
                           "--fail-over-total");
    if (c->format == ROCL_TABLE_GITHUB && !c->compare.wanted)
        return usage_error("--format github is only for compare");
    if (c->format == ROCL_TABLE_FOLDED &&
        (c->stats.reports != REPORT(ATTRIBUTION) || c->compare.wanted || c->findings))
        return usage_error("--format folded is only for the report attribution");
    return -1;
}

/* The first of some reports that an option is for; 0: none. */
static uint32_t report_of(const opt *o, uint32_t reports)
{
    for (rocl_report r = 0; r < ROCL_REPORTS; r++)
        if ((reports & (UINT32_C(1) << r)) && option_is_for(o, rocl_report_name(r)))
            return UINT32_C(1) << r;
    return 0;
}

/* Options of some reports. Without any report, and where the overview has none of them, the first
 * of them is wanted. */
static int check_report_options(cli *c)
{
    const bool overview = !c->stats.reports && !c->compare.wanted && !c->baseline;
    uint32_t added = 0;
    for (const opt *o = report_options; o->kind != OPT_END; o++) {
        if (!options_given(o) || !option_is_for(o, "") ||
            (c->compare.wanted && option_is_for(o, "compare")) ||
            report_of(o, overview ? OVERVIEW : c->stats.reports))
            continue;
        added |= overview ? report_of(o, UINT32_MAX) : 0;
        const char *of = o->help + strlen("with ");
        const int n = (int)strcspn(of, ":");
        if (!added)
            return usage_error("--%s is only for %s%s%.*s", o->name,
                               report_of(o, UINT32_MAX) ? "the report" : "",
                               !report_of(o, UINT32_MAX)    ? ""
                               : memchr(of, ',', (size_t)n) ? "s "
                                                            : " ",
                               n, of);
    }
    if (c->stats.by_marker && !(c->stats.reports & REPORT(COUNTERS))) {
        if (!overview)
            return usage_error("--by marker is only for the report counters");
        added |= REPORT(COUNTERS);
    }
    c->stats.reports |= added;
    if (c->stats.derive_arch && !c->derive.n && !(c->stats.reports & REPORT(ROOFLINE)))
        return usage_error("--derive-arch is only for --derive and the report roofline");
    if (c->stats.peak && !c->stats.peaks && strchr(c->stats.peak, ':')) {
        c->stats.peaks = c->stats.peak;
        c->stats.peak = cut_name(&c->stats.peaks);
    }
    if (c->stats.by_dispatch && !c->derive.n)
        return usage_error("--by dispatch is only for --derive");
    if (c->min_gap && !rocl_read_duration(c->min_gap, &c->stats.min_gap))
        return usage_error("--min-gap: \"%s\" is not a duration such as 5000 (ns) or 5us",
                           c->min_gap);
    return -1;
}

static int check_page(const cli *c)
{
    if (c->format != ROCL_TABLE_HTML && c->timeline)
        return usage_error("--timeline is only for --format html");
    if (c->timeline && *c->timeline && strcmp(c->timeline, "first"))
        return usage_error("--timeline: \"%s\" is not known; first", c->timeline);
    if (!c->timeline && (page_choice_made(&c->page) || c->group_by_queue))
        return usage_error("--max-events, --window and --group-by-queue are only for --timeline");
    if (c->timeline && c->compare.wanted)
        return usage_error("compare has no --timeline");
    if (c->common.to_stdout && c->format == ROCL_TABLE_HTML && isatty(STDOUT_FILENO))
        return usage_error("a page is not for terminals: use -o FILE, or redirect it");
    return -1;
}

/* Where the reports go, and those summaries. */
static int check_output(cli *c, size_t behind)
{
    c->path = c->common.output_file ? c->common.output_file : "-";
    int bad = wants_summary(c) ? place_summary(c) : -1;
    const bool reports = !c->style || wants_summary(c);
    c->common.to_stdout = reports && strcmp(c->path, "-") == 0;
    if (bad < 0)
        bad = check_page(c);
    if (bad < 0 && reports)
        bad = output_check(&c->common, c->path);
    if (bad < 0)
        bad = check_compare(c, behind);
    if (bad < 0 && comparison_reads(&c->compare, c->path))
        bad = usage_error("%s is an input: name another output", c->path);
    return bad;
}

/* CSV and TSV hold one table of each report: the one that has its name. */
static const char *const *list_main_tables(uint32_t reports)
{
    static const char *tables[ROCL_REPORTS + 1];
    size_t n = 0;
    for (rocl_report r = 0; r < ROCL_REPORTS; r++)
        for (size_t i = 0; reports >> r & 1 && rocl_report_table(r, i); i++)
            if (is_alike(rocl_report_table(r, i), rocl_report_name(r)))
                tables[n++] = rocl_report_table(r, i);
    return tables;
}

/* What the library is asked for. */
static void settle_reports(cli *c)
{
    const bool text_tables = c->format == ROCL_TABLE_TEXT || c->format == ROCL_TABLE_GITHUB ||
                             (c->format == ROCL_TABLE_MARKDOWN && c->compare.wanted);
    c->stats.top = c->top >= 0                             ? (size_t)c->top
                   : !text_tables                          ? 0
                   : c->stats.reports || c->compare.wanted ? TEXT_TOP
                                                           : OVERVIEW_TOP;
    c->stats.most = c->top < 0 && c->format == ROCL_TABLE_HTML ? PAGE_MOST : 0;
    c->common.wanted =
        c->stats.reports || c->compare.wanted || c->baseline ? EVENTS_SOME : EVENTS_ALL;
    if (c->doctor)
        c->common.wanted = EVENTS_NONE; /* it says so itself */
    choose_pictures(c);
    const bool whole = !c->stats.reports;
    c->stats.brief = whole && c->format == ROCL_TABLE_TEXT;
    c->overview = whole && !c->compare.wanted && !c->style && c->stats.pictures;
    c->stats.findings = c->findings || whole || c->all || c->format == ROCL_TABLE_HTML;
    c->stats.named = c->named;
    if (whole) {
        c->stats.reports = OVERVIEW;
        c->stats.tables = overview_tables;
    } else if (picks_tables(c) && !c->stats.findings && !c->compare.wanted) {
        c->stats.tables = c->only.v;
    } else if ((c->format == ROCL_TABLE_CSV || c->format == ROCL_TABLE_TSV) && !c->all &&
               !c->only.n && !c->compare.wanted && !c->findings) {
        c->stats.tables = list_main_tables(c->stats.reports);
    }
    c->common.uses_steps = c->compare.wanted || c->baseline || (c->stats.reports & REPORT(STEPS));
    c->common.collectives = c->stats.reports & (REPORT(RANKS) | REPORT(CRITICAL_PATH));
    c->stats.sort = c->sort;
    c->stats.gaps_between = c->between;
    c->stats.domains = c->domains.v;
    c->stats.summary_groups = c->summary_groups.v;
    c->stats.derive = c->derive.v;
    c->stats.what_if = c->what_if.v;
    c->stats.rests = c->budget > 0;
    c->stats.ids |= c->doctor || answer_is_wanted();
    /* One report is often the input of a pipe. */
    const bool overview = whole || c->compare.wanted || (c->stats.reports & (c->stats.reports - 1));
    c->stats.header =
        c->format == ROCL_TABLE_HTML || is_for_ci(c) ||
        (c->format == ROCL_TABLE_JSON && (!answer_is_wanted() || c->compare.wanted)) ||
        (overview && c->stats.pictures);
    c->common.note_times |= c->stats.header || c->stats.pictures || c->compare.wanted;
    if (picks_tables(c) && c->stats.pictures)
        c->stats.header = false;
    c->stats.comparability =
        c->only.n || (c->format != ROCL_TABLE_CSV && c->format != ROCL_TABLE_TSV);
}

static bool is_given(const strings *list, const char *word)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcasecmp(list->v[i], word))
            return true;
    return false;
}

/* A name of the output with an ending says the format, if nothing else does. */
static void choose_format(cli *c)
{
    const char *form = c->common.output_file ? output_form(c->common.output_file) : NULL;
    if (!c->format_name && form && !c->style && !c->baseline && !wants_summary(c))
        rocl_table_format_named(form, &c->format);
}

static int check_options(cli *c, size_t behind)
{
    c->stats.by_rank = is_given(&c->by, "rank");
    c->stats.by_agent = is_given(&c->by, "agent");
    c->stats.by_stream = is_given(&c->by, "stream");
    c->stats.by_dims = is_given(&c->by, "dims");
    c->stats.by_dispatch = is_given(&c->by, "dispatch");
    c->stats.by_marker = is_given(&c->by, "marker");
    if (c->format_name && !rocl_table_format_named(c->format_name, &c->format))
        return usage_error("--format: \"%s\" is not known", c->format_name);
    int bad = sort_operands(c);
    if (bad < 0)
        bad = output_fill_name(&c->common, NULL, "--output-file", &c->common.output_file);
    if (bad < 0)
        bad = output_fill_name(&c->common, NULL, "--output-path", &c->common.output_path);
    if (bad < 0)
        bad = output_fill_name(&c->common, NULL, "--summary-output-file", &c->summary_file);
    if (bad < 0)
        bad = check_baseline(c);
    if (bad < 0)
        choose_format(c);
    if (bad < 0)
        bad = check_style(c);
    if (bad < 0 && !c->compare.wanted && !c->baseline && !c->style)
        choose_reports(c);
    if (bad < 0)
        bad = check_format(c);
    if (bad >= 0)
        return bad;
    if (c->common.inputs.n == 0 && !c->compare.runs_a.n && !c->compare.runs_b.n)
        return usage_error("no input is given");
    if (c->doctor && common_filters(&c->common))
        return usage_error("doctor is about whole traces; it cannot be used with filters");
    bad = check_report_options(c);
    if (bad < 0)
        bad = check_tables(c);
    if (bad < 0)
        bad = budget_check(&(table_output){.budget = c->budget, .table.format = c->format});
    if (bad < 0)
        bad = check_output(c, behind);
    if (bad >= 0)
        return bad;
    if (c->compare.wanted && answer_is_wanted())
        answer_set_command("compare");
    else if (c->compare.wanted && c->format == ROCL_TABLE_JSON)
        answer_begin("compare");
    settle_reports(c);
    return -1;
}

static rocl_status write_files(const cli *c, const rocl_trace *t, const rocl_tables *tables,
                               rocl_error *err)
{
    const unsigned names = c->common.kernel_names;
    const size_t captures = rocl_trace_captures(t);
    bool before_5_2 = captures > 0; /* was all of the trace recorded before ROCm 5.2? */
    for (size_t i = 0; i < captures; i++) {
        const int32_t end = rocl_trace_capture(t, i)->rocm_end;
        before_5_2 &= end && end <= 52;
    }
    const rocl_style_options o = {
        .style = (rocl_stats_style)(c->style - 1),
        .directory = c->folder,
        .prefix = c->common.output_file,
        .descriptors = !c->common.kernel_rename &&
                       (names == ROCL_NAMES_DISPLAY || names == ROCL_NAMES_MANGLED),
        .trace = t,
        .bare_names = before_5_2,
    };
    rocl_written r = {0};
    rocl_status s = rocl_write_style(tables, &o, &r, err);
    if (s != ROCL_OK)
        return s;
    char where[8192];
    snprintf(where, sizeof where, "%s%s%s*.csv", c->folder ? c->folder : "", c->folder ? "/" : "",
             o.prefix);
    msg_verbose("%zu files written", r.files);
    output_files_done(where, r.files, "file", r.bytes);
    return s;
}

/* The overview of a trace without GPU work is that of its markers and calls, not a row of empty
 * tables. The trace is read again: markers are not collected for every overview. */
static rocl_status run_reports(cli *c, rocl_trace *t, rocl_tables **tables, rocl_error *err)
{
    rocl_status s = rocl_stats(t, &c->stats, tables, err);
    const bool markers = rocl_trace_events(t, ROCL_MARKER) > 0;
    const bool calls = rocl_trace_events(t, ROCL_REGION) || rocl_trace_events(t, ROCL_INSTANT);
    if (s > ROCL_PARTIAL || !c->overview || rocl_trace_events(t, ROCL_DISPATCH) ||
        rocl_trace_events(t, ROCL_COPY) || (!markers && !calls))
        return s;
    rocl_tables_free(*tables);
    *tables = NULL;
    static const char *const host_tables[] = {"domains", "markers", "summary", NULL};
    static const char *const marker_tables[] = {"domains", "markers", NULL};
    c->stats.reports = REPORT(SUMMARY) | (markers ? REPORT(MARKERS) : 0);
    c->stats.tables = calls ? host_tables : marker_tables;
    return rocl_stats(t, &c->stats, tables, err);
}

/* The first tables, as Markdown, for the page of a run of GitHub Actions. A step adds to what is
 * there. */
static rocl_status append_summary(rocl_tables *tables, rocl_error *err)
{
    static const char *const first[] = {"compare_change",
                                        "compare_limits",
                                        "comparability",
                                        "compare_causes",
                                        "compare",
                                        "compare_runs",
                                        NULL};
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    char *text = NULL;
    size_t n;
    if (!path || !*path)
        return ROCL_OK;
    rocl_tables_keep(tables, first);
    rocl_status s = rocl_print_tables(tables, &(rocl_table_options){.format = ROCL_TABLE_MARKDOWN},
                                      &text, &n, err);
    FILE *f = s == ROCL_OK ? fopen(path, "ae") : NULL;
    const bool good = f && fwrite(text, 1, n, f) == n;
    if (s == ROCL_OK && ((f && fclose(f) != 0) || !good)) {
        msg_error("GITHUB_STEP_SUMMARY: %s: %s", path, strerror(errno));
        s = ROCL_OUTPUT;
    }
    free(text);
    return s;
}

static rocl_status write_reports(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    const bool to_stream = c->summary_file && (!strcmp(c->summary_file, "stdout") ||
                                               !strcmp(c->summary_file, "stderr"));
    const unsigned terminal = output_width(&c->common);
    table_output o = {
        .budget = c->budget,
        .table = {
            .path = c->path,
            .format = c->style ? ROCL_TABLE_CONSOLE : c->format,
            .width = c->wide    ? 0
                     : terminal ? terminal
                                : OUTPUT_WIDTH,
            .summary = {.domains = c->per_domain,
                        .groups = c->summary_groups.n && (c->summary || c->per_domain),
                        .whole = c->summary,
                        .unit = c->summary_units,
                        .indent = to_stream ? 4 : 0},
        }};
    rocl_tables *tables = NULL;
    if (c->baseline) {
        const rocl_status st = rocl_baseline_write(t, c->path, c->baseline_name, err);
        if (st <= ROCL_PARTIAL && !c->common.to_stdout)
            output_done(c->path);
        return st;
    }
    rocl_status s = c->compare.wanted
                        ? comparison_run(&c->compare, &c->common, &c->stats, t, &tables, err)
                        : run_reports(c, t, &tables, err);
    const rocl_trust trust =
        c->doctor && s <= ROCL_PARTIAL ? rocl_tables_trust(tables) : ROCL_TRUST_SOUND;
    /* What the answer describes: of a comparison A, and B. */
    const rocl_trace *described = c->compare.runs || c->compare.baseline ? NULL : t;
    o.b = c->compare.baseline ? t : c->compare.other;
    if (s <= ROCL_PARTIAL) {
        const bool picks = picks_tables(c);
        for (size_t i = 0; picks && i < c->only.n; i++)
            if (!rocl_tables_have(tables, c->only.v[i]))
                msg_notice("there is no table %s of these reports and inputs", c->only.v[i]);
        if (picks)
            rocl_tables_keep(tables, c->only.v);
        rocl_status written = c->style ? write_files(c, t, tables, err) : ROCL_OK;
        const bool reports = !c->style || wants_summary(c);
        if (written == ROCL_OK && reports && (c->common.job || c->summary_file))
            written = output_make_parent(c->path);
        if (written == ROCL_OK && reports)
            written = c->timeline ? page_write(&c->page, t, c->path, tables, *c->timeline != 0,
                                               c->group_by_queue, NULL, err)
                                  : tables_write(&o, described, tables, err);
        if (written == ROCL_OK && c->format == ROCL_TABLE_GITHUB)
            written = append_summary(tables, err);
        if (written == ROCL_PARTIAL) { /* the page has texts that were repaired */
            s = ROCL_PARTIAL;
            written = ROCL_OK;
        }
        if (written != ROCL_OK || trust == ROCL_TRUST_UNUSABLE)
            s = written != ROCL_OK ? written : ROCL_INPUT;
        else if (trust == ROCL_TRUST_DOUBTS)
            s = ROCL_PARTIAL;
        if (written == ROCL_OK && reports && !c->common.to_stdout)
            output_done(c->path);
    }
    rocl_tables_free(tables);
    rocl_trace_close(c->compare.other);
    return s;
}

static int run_rocstats(const program *p, int argc, char **argv)
{
    static cli c = {.common = {.teams = true}, .top = -1};
    if (argc > 1 && !strcmp(argv[1], "view"))
        return view_program.run(&view_program, argc - 1, argv + 1);
    fill_purpose();
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = check_options(&c, words_after_dashes(argc, argv));
    if (!c.compare.wanted && !c.baseline) {
        c.common.team_collects = rocl_stats_rank;
        c.common.team_writes = rocl_stats_collects(&c.stats);
    }
    if (code < 0)
        code = common_run(&c.common, write_reports, &c);
    /* A limit that is exceeded says more than records that were left out, and these are told. */
    code = code <= ROCL_PARTIAL && c.compare.verdict ? (int)c.compare.verdict : code;
    return answer_is_wanted() && strncmp(p->name, "rocline ", 8) ? answer_end(code) : code;
}

const program rocstats_program = {
    .name = "rocstats",
    .tool = "rocstats",
    .run = run_rocstats,
    .synopsis = "[REPORT]... [OPTION]... INPUT...\n       rocstats compare [OPTION]... A B",
    .purpose = purpose,
    .groups = groups,
    .first = "output-file|format|top|sort|by|table|rank|include|name|steps",
    .help_about = help_about,
    .help_words = report_word,
    .examples = "  rocstats 4711_results.db\n"
                "  rocstats kernels --sort average --by agent -i rank*/*.db\n"
                "  rocstats gaps --min-gap 5us --start 40% --end 60% trace.rpdb\n"
                "  rocstats compare --fail-over 5 before.db after.db\n"
                "  rocstats compare before/*.db -- after/*.db\n"
                "  rocstats compare --a 'before/*.db' --b 'after/*.db'\n"
                "  rocstats baseline -o base.json:v1 before.db\n"
                "  rocstats compare base.json:v1 after.db\n"
                "  rocstats overlap --slices 100 4711_results.db\n"
                "  rocstats doctor 4711_results.db\n"
                "  rocstats counters --by marker 4711_results.db\n"
                "  rocstats all --format json -o reports.json 4711_results.db\n",
    .operands = offsetof(cli, operands),
    .words = words,
    .operand_words = report_word,
};

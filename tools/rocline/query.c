/* rocline query: SQL over traces. Statements come from an operand, --query, files, standard input,
 * or a shell. */
#include "common/answer.h"
#include "common/common.h"
#include "common/output.h"
#include "common/programs.h"
#include "rocline/commands.h"
#include "rocline/query.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef query_cli cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

const unsigned char query_format_of[] = {
    ROCL_ROWS_TABLE,    ROCL_ROWS_CSV,   ROCL_ROWS_TSV,      ROCL_ROWS_JSON,  ROCL_ROWS_JSONL,
    ROCL_ROWS_MARKDOWN, ROCL_ROWS_HTML,  ROCL_ROWS_PARQUET,  ROCL_ROWS_ARROW, ROCL_ROWS_ARROWS,
    ROCL_ROWS_TABLE,    ROCL_ROWS_TABLE, ROCL_ROWS_MARKDOWN, ROCL_ROWS_JSONL};

static const opt query_options[] = {
    {"query", 0, OPT_LIST, offsetof(cli, queries), "SQL", NULL, 0, 0,
     NULL}, /* an operand is, too */
    {"script", 0, OPT_LIST, offsetof(cli, scripts), "FILE", NULL, 0, 0,
     "first run the statements in this file, for example to define views; may be repeated"},
    {"param", 'p', OPT_LIST, offsetof(cli, parameters), "NAME=VALUE", NULL, 0, 0,
     "set the parameter that is written :NAME in statements; may be repeated"},
    {"timeout", 0, OPT_NUMBER, offsetof(cli, timeout), "SECONDS", NULL, 0, 86400,
     "end a statement that takes longer (default: 0, no limit)"},
    {"max-memory", 0, OPT_SIZE, offsetof(cli, heap), "SIZE", NULL, 0, 0, NULL},
    {"attach", 0, OPT_FLAG, offsetof(cli, attach), NULL, NULL, 0, 0,
     "allow ATTACH, for databases that SQLite itself reads and writes"},
    COMMON_END,
};

static const opt output_options[] = {
    {"format", 'f', OPT_CHOICE, offsetof(cli, format), "FORM", QUERY_FORMATS, 0, 0,
     "aligned columns (table or console, the default) or Markdown (md) for people; CSV, TSV, an "
     "array of objects (json) or one object per line (jsonl) for programs; a bare table (html); "
     "Parquet, an Arrow file (arrow) or stream (arrows) of one statement"},
    BUDGET_OPTION(offsetof(cli, budget)),
    {"output-file", 'o', OPT_STRING, offsetof(common, output_file), "FILE", NULL, 0, 0,
     "write to this file (default: \"-\", standard output)"},
    {"output-path", 'd', OPT_STRING, offsetof(common, output_path), "DIR", NULL, 0, 0,
     "folder of that file (default: the current one)"},
    COMMON_END,
};

static const opt_group query_group = {"SQL", query_options};
static const opt_group output_group = {"Output", output_options};
static const opt_group *const groups[] = {&query_group,  &input_group, &output_group, &names_group,
                                          &filter_group, &run_group,   &other_group,  NULL};

/* AMD's formats, and ours for each; formats without one are refused. */
#define AMD_FORMATS "console|csv|html|json|md|pdf|dashboard|clipboard"
static const struct amd_format {
    const char *word;
    rocl_rows_format format;
    const char *ending;  /* of its file; NULL: it is printed */
    const char *instead; /* it is not written: what helps; NULL: it is */
} amd_formats[] = {
    {"console", ROCL_ROWS_TABLE, NULL, NULL},
    {"csv", ROCL_ROWS_CSV, ".csv", NULL},
    {"html", ROCL_ROWS_HTML, ".html", NULL},
    {"json", ROCL_ROWS_JSON, ".json", NULL},
    {"md", ROCL_ROWS_MARKDOWN, ".md", NULL},
    {"pdf", 0, NULL, "print the page of --format html as PDF"},
    {"dashboard", 0, NULL,
     "--format html writes the table, and rocstats --format html a page with charts"},
    {"clipboard", 0, NULL, "pipe the table: rocpd query ... | xclip -selection clipboard"},
};

static const opt amd_query_options[] = {
    {"query", 0, OPT_LIST, offsetof(cli, queries), "SQL", NULL, 0, 0, NULL},
    {"script", 0, OPT_LIST, offsetof(cli, scripts), "FILE", NULL, 0, 0,
     "run the statements in this file before, such as those that make views"},
    COMMON_END,
};

static const opt amd_output_options[] = {
    {"format", 0, OPT_CHOICE, offsetof(cli, amd_format), "FORM", AMD_FORMATS, 0, 0,
     "print a table (console, the default), or write it to a file: csv, html, json (an array of "
     "objects) or md; pdf, dashboard and clipboard are refused"},
    COMMON_OUTPUT_FILE("name of the file, without its ending (default: ROCPD_OUTPUT_NAME, or out); "
                       "\"-\" is standard output"),
    COMMON_OUTPUT_PATH,
    COMMON_END,
};

static const opt_group amd_query_group = {"SQL", amd_query_options};
static const opt_group amd_output_group = {"Output", amd_output_options};
static const opt_group *const amd_groups[] = {&amd_query_group, &input_group,  &amd_output_group,
                                              &names_group,     &filter_group, &run_group,
                                              &ignored_group,   &other_group,  NULL};

/* ---- running --------------------------------------------------------------------------------- */

/* The line of the text in which an error is, and a mark below the place. */
static void show_place(const cli *c, const char *sql)
{
    const long offset = rocl_query_error_offset(c->query);
    if (offset < 0)
        return;
    const char *at = sql + offset, *begin = at, *end = at + strcspn(at, "\n");
    while (begin > sql && begin[-1] != '\n')
        begin--;
    if (at - begin > 60)
        begin = at - 60;
    if (end - begin > 100)
        end = begin + 100;
    char line[128];
    snprintf(line, sizeof line, "%.*s", (int)(end - begin), begin);
    for (char *p = line; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    msg_plain("  %s", line);
    msg_plain("  %*s^", (int)(at - begin), "");
}

static rocl_status run_text(cli *c, const char *sql, rocl_error *err)
{
    rocl_rows_options o = {.path = c->path,
                           .format = (rocl_rows_format)query_format_of[c->format],
                           .width = output_width(&c->common),
                           .as_python = c->as_amd,
                           .budget = budget_bytes(c->budget)};
    if (answer_is_wanted() && !c->as_amd && o.format == ROCL_ROWS_JSON && !c->shell) {
        rocl_status st = answer_open(c->path, c->trace, c->budget, &o.answer, err);
        if (st != ROCL_OK)
            return st;
    }
    return rocl_query_write(c->query, sql, &o, NULL, err);
}

/* All of a file, or of standard input; NULL, and said: it cannot be read. */
char *query_read_text(const char *path)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
    char *text = NULL;
    size_t size = 0;
    ssize_t n = f ? getdelim(&text, &size, '\0', f) : -1;
    if (!f || (n < 0 && ferror(f))) {
        msg_unread(path, errno);
        free(text);
        text = NULL;
    } else if (n < 0) {
        free(text);
        text = must_have(strdup(""));
    }
    if (f && f != stdin)
        fclose(f);
    return text;
}

rocl_status query_run(query_cli *c, const char *sql)
{
    rocl_error *err = must_have(rocl_error_new());
    rocl_status st = run_text(c, sql, err);
    if (st > ROCL_PARTIAL && !reader_is_gone(&c->common, err)) {
        msg_error("%s", rocl_error_text(err));
        show_place(c, sql);
    }
    rocl_error_free(err);
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

static rocl_status run_queries(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    const rocl_query_options o = {
        .memory = c->common.memory, .seconds = c->timeout, .attach = c->attach, .heap = c->heap};
    c->trace = t;
    rocl_status st = rocl_query_open(&c->query, t, &o, err);
    if (st != ROCL_OK)
        return st;
    for (size_t i = 0; i < c->parameters.n && st == ROCL_OK; i++) {
        char *name = must_have(strdup(c->parameters.v[i]));
        char *value = strchr(name, '=');
        *value++ = '\0';
        st = rocl_query_bind(c->query, name, value, err);
        free(name);
    }
    for (size_t i = 0; i < c->commands.n && st == ROCL_OK; i++)
        shell_run_command(c, c->commands.v[i]);
    char *all = must_have(strdup(""));
    for (size_t i = 0; i < c->scripts.n + c->queries.n && st == ROCL_OK; i++) {
        char *text = i < c->scripts.n ? query_read_text(c->scripts.v[i])
                                      : must_have(strdup(c->queries.v[i - c->scripts.n]));
        if (!text) {
            st = ROCL_INPUT;
            break;
        }
        char *joined = NULL; /* one output for all */
        if (asprintf(&joined, "%s%s%s", all, *all ? ";\n" : "", text) < 0)
            joined = must_have(NULL);
        free(text);
        free(all);
        all = joined;
    }
    if (st == ROCL_OK && !c->shell && !c->scripts.n && !c->queries.n && !c->commands.n) {
        free(all);
        all = query_read_text("-");
        st = all ? st : ROCL_INPUT;
    }
    if (st == ROCL_OK && *all)
        st = query_run(c, all);
    free(all);
    if (st <= ROCL_PARTIAL && c->shell)
        st = shell_run(c);
    if (st <= ROCL_PARTIAL && c->as_amd)
        output_done(c->path);
    rocl_query_close(c->query);
    return st;
}

/* An operand is SQL when it is no file and holds a blank, or is a command of the shell. */
static bool is_sql(const char *operand)
{
    if (access(operand, F_OK) == 0 || !strcmp(operand, "-"))
        return false;
    return strpbrk(operand, " \t\n;") || (*operand == '.' && !strpbrk(operand, "/*?"));
}

/* Where the file goes: to the folder of all outputs of AMD's tools. */
static int place_as_amd(cli *c)
{
    static char path[8192];
    const struct amd_format *f = &amd_formats[c->amd_format];
    if (f->instead)
        return usage_error("--format %s is not written here: %s", f->word, f->instead);
    while (query_format_of[c->format] != f->format)
        c->format++;
    int code = output_fill_names(&c->common);
    if (code >= 0)
        return code;
    c->path = "-";
    if (f->ending && strcmp(output_name(&c->common), "-") != 0) {
        c->path = path;
        code = output_place(&c->common, ends_with(output_name(&c->common), f->ending), f->ending,
                            path, sizeof path);
        if (code < 0 && output_make_parent(path) != ROCL_OK)
            code = ROCL_OUTPUT;
    }
    return code;
}

/* -o FILE literally, in the folder of -d. */
static int place_file(cli *c)
{
    static char path[8192];
    const char *file, *folder;
    int code = output_fill_name(&c->common, NULL, "--output-file", &c->common.output_file);
    if (code < 0)
        code = output_fill_name(&c->common, NULL, "--output-path", &c->common.output_path);
    file = c->common.output_file;
    folder = c->common.output_path;
    c->path = file ? file : "-";
    if (file && folder && *file != '/' && strcmp(file, "-") != 0) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
        c->path = path;
    }
    return code;
}

static int check_options(cli *c)
{
    for (size_t i = 0; i < c->operands.n; i++)
        strings_add(!is_sql(c->operands.v[i])  ? &c->common.inputs
                    : *c->operands.v[i] == '.' ? &c->commands
                                               : &c->queries,
                    c->operands.v[i]);
    for (size_t i = 0; i < c->parameters.n; i++)
        if (!strchr(c->parameters.v[i], '='))
            return usage_error("--param: \"%s\" is not NAME=VALUE", c->parameters.v[i]);
    if (!c->common.inputs.n)
        return usage_error("no input is given");
    if (c->as_amd && !c->queries.n)
        return usage_error("no statement is given: an operand with a blank, or --query SQL");
    const int code = c->as_amd ? place_as_amd(c) : place_file(c);
    if (code >= 0)
        return code;
    const char *form = output_form(c->path);
    if (form && !c->as_amd && !options_given(&output_options[0]) &&
        options_choice(&output_options[0], form) >= 0)
        c->format = (unsigned)options_choice(&output_options[0], form);
    c->common.to_stdout = !strcmp(c->path, "-");
    c->common.wanted = EVENTS_NONE;
    c->common.uses_steps = true;
    const rocl_rows_format format = (rocl_rows_format)query_format_of[c->format];
    if (c->budget && format != ROCL_ROWS_JSON && format != ROCL_ROWS_MARKDOWN)
        return usage_error("--budget is only for --format json and md");
    c->shell = !c->queries.n && !c->scripts.n && !c->commands.n && isatty(STDIN_FILENO);
    if (format >= ROCL_ROWS_PARQUET && c->common.to_stdout && isatty(STDOUT_FILENO))
        return usage_error("Parquet and Arrow are not for terminals: use -o FILE, or redirect it");
    return output_check(&c->common, c->path);
}

static int run_query(const program *p, int argc, char **argv)
{
    static cli c;
    c.as_amd = p->groups == amd_groups;
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = check_options(&c);
    if (c.heap)
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
    return code < 0 ? common_run(&c.common, run_queries, &c) : code;
}

const program query_program = {
    .name = "rocline query",
    .tool = "rocline-query",
    .run = run_query,
    .synopsis = "[OPTION]... [SQL] INPUT...",
    .purpose = "Run SQL over traces, without a conversion.",
    .groups = groups,
    .examples = "  rocline query \"SELECT name, count(*), sum(duration) FROM kernel GROUP BY "
                "name\" 4711.db\n"
                "  rocline query \"SELECT * FROM top_kernels LIMIT 10\" rank*/*.db\n"
                "  rocline query -f csv -p n=20 \"SELECT * FROM gap ORDER BY duration DESC LIMIT "
                ":n\" 4711.db\n"
                "  rocline query 4711.db\n",
    .operands = offsetof(cli, operands),
};

const program rocpd_query_program = {
    .name = "rocpd query",
    .tool = "rocpd",
    .run = run_query,
    .synopsis = "[OPTION]... SQL INPUT...",
    .purpose = "Run SQL over traces; `rocline query` has more formats, parameters and a shell.\n"
               "AMD's options are accepted: --help=aliases.",
    .groups = amd_groups,
    .examples = "  rocpd query \"SELECT * FROM top_kernels\" -i 4711_results.db\n"
                "  rocpd query \"SELECT * FROM top\" --format csv -o top -i rank*/*.db\n",
    .operands = offsetof(cli, operands),
};

/* rocline query: SQL over traces. Statements come from an operand, --query, files, standard input,
 * or a shell. */
#include "common/answer.h"
#include "common/common.h"
#include "common/output.h"
#include "common/programs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifdef ROCL_LIBEDIT
#include <editline/readline.h>
#include <setjmp.h>
#endif

typedef struct cli {
    common common;
    strings operands; /* SQL and inputs */
    strings queries, scripts, commands, parameters;
    unsigned format;
    unsigned timeout, budget;
    rocl_trace *trace;
    bool attach;
    bool shell;
    const char *path;
    rocl_query *query;
} cli;

_Static_assert(offsetof(cli, common) == 0, "the shared tables count from the struct's begin");

/* The first ones are rocl_rows_formats, the others what they are called elsewhere. */
#define FORMATS ROCL_ROWS_FORMAT_NAMES "|console|text|markdown|jsonlines"
static const unsigned char format_of[] = {
    ROCL_ROWS_TABLE,    ROCL_ROWS_CSV,   ROCL_ROWS_TSV,      ROCL_ROWS_JSON,  ROCL_ROWS_JSONL,
    ROCL_ROWS_MARKDOWN, ROCL_ROWS_HTML,  ROCL_ROWS_PARQUET,  ROCL_ROWS_ARROW, ROCL_ROWS_ARROWS,
    ROCL_ROWS_TABLE,    ROCL_ROWS_TABLE, ROCL_ROWS_MARKDOWN, ROCL_ROWS_JSONL};

static const opt query_options[] = {
    {"query", 0, OPT_LIST, offsetof(cli, queries), "SQL", NULL, 0, 0,
     "run these statements; may be repeated. An operand that is no file and holds a blank is the "
     "same"},
    {"script", 0, OPT_LIST, offsetof(cli, scripts), "FILE", NULL, 0, 0,
     "run the statements in this file before, such as those that make views; may be repeated"},
    {"param", 'p', OPT_LIST, offsetof(cli, parameters), "NAME=VALUE", NULL, 0, 0,
     "set the parameter that statements call :NAME; may be repeated"},
    {"timeout", 0, OPT_NUMBER, offsetof(cli, timeout), "SECONDS", NULL, 0, 86400,
     "end a statement that takes longer (default: 0, none is)"},
    {"attach", 0, OPT_FLAG, offsetof(cli, attach), NULL, NULL, 0, 0,
     "allow ATTACH, for databases that SQLite reads by itself, and writes"},
    COMMON_END,
};

static const opt output_options[] = {
    {"format", 'f', OPT_CHOICE, offsetof(cli, format), "FORM", FORMATS, 0, 0,
     "aligned columns (table or console, the default) or Markdown (md) for people; CSV, TSV, an "
     "array of objects (json) or an object a line (jsonl) for programs; a bare table (html); "
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

/* ---- running --------------------------------------------------------------------------------- */

static unsigned terminal_width(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

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
                           .format = (rocl_rows_format)format_of[c->format],
                           .width = c->common.to_stdout ? terminal_width() : 0,
                           .budget = budget_bytes(c->budget)};
    if (answer_is_wanted() && o.format == ROCL_ROWS_JSON && !c->shell) {
        rocl_status st = answer_open(c->path, c->trace, c->budget, &o.answer, err);
        if (st != ROCL_OK)
            return st;
    }
    return rocl_query_write(c->query, sql, &o, NULL, err);
}

/* All of a file, or of standard input; NULL, and said: it cannot be read. */
static char *read_text(const char *path, rocl_error *err)
{
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
    char *text = NULL;
    size_t size = 0;
    ssize_t n = f ? getdelim(&text, &size, '\0', f) : -1;
    if (!f || (n < 0 && ferror(f))) {
        msg_error("%s: %s", path, strerror(errno));
        (void)err;
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

static rocl_status set_parameters(const cli *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->parameters.n && st == ROCL_OK; i++) {
        char *name = must_have(strdup(c->parameters.v[i]));
        char *value = strchr(name, '=');
        *value++ = '\0';
        st = rocl_query_bind(c->query, name, value, err);
        free(name);
    }
    return st;
}

/* ---- the shell ------------------------------------------------------------------------------- */

static rocl_query *interruptible; /* what ^C ends */

#ifdef ROCL_LIBEDIT
static sigjmp_buf prompt_again; /* libedit does not end a line by a signal */
static volatile sig_atomic_t prompting;
#endif

static void on_interrupt(int number)
{
    (void)number;
#ifdef ROCL_LIBEDIT
    if (prompting) {
        prompting = 0;
        siglongjmp(prompt_again, 1);
    }
#endif
    if (interruptible)
        rocl_query_interrupt(interruptible);
}

static void list_tables(bool views)
{
    rocl_sql_table t;
    for (size_t i = 0; rocl_sql_table_at(i, &t); i++)
        if (t.view == views)
            printf("%-20s %s\n", t.name, t.purpose);
}

static void print_shell_help(void)
{
    puts(".tables           list tables and views\n"
         ".schema [TABLE]   list columns\n"
         ".mode FORMAT      table, csv, tsv, json, jsonl, md or html\n"
         ".read FILE        run the statements in a file\n"
         ".quit             end\n"
         "SQL ends with a semicolon. ^C ends a statement.");
}

static rocl_status run_said(cli *c, const char *sql)
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

/* A column: its name and its type. */
static rocl_status print_column(void *ctx, const rocl_result_row *r, rocl_error *err)
{
    (void)ctx, (void)err;
    if (r->values)
        printf("  %-22s %-8s %s\n", r->values[0].text, r->values[1].text,
               rocl_sql_column_doc(r->values[0].text));
    return ROCL_OK;
}

/* The columns of a table, or of all. */
static void print_schema(cli *c, const char *table)
{
    rocl_sql_table t;
    bool any = false;
    for (size_t i = 0; rocl_sql_table_at(i, &t); i++) {
        char sql[256];
        if (*table ? strcasecmp(table, t.name) != 0 : t.view)
            continue;
        printf("%s%s: %s\n", any ? "\n" : "", t.name, t.purpose);
        snprintf(sql, sizeof sql, "SELECT name, type FROM pragma_table_info('%s')", t.name);
        rocl_query_run(c->query, sql, print_column, NULL, NULL);
        any = true;
    }
    if (!any)
        msg_error(".schema: there is no table %s", table);
}

/* False: it ends the shell. */
static bool run_command(cli *c, const char *line)
{
    char word[16] = "", argument[4096] = "";
    sscanf(line, "%15s %4095[^\n]", word, argument);
    for (size_t n = strlen(argument); n && strchr(" \t;", argument[n - 1]); n--)
        argument[n - 1] = '\0';
    if (!strcmp(word, ".quit") || !strcmp(word, ".exit") || !strcmp(word, ".q")) {
        return false;
    } else if (!strcmp(word, ".tables")) {
        list_tables(false);
        puts("");
        list_tables(true);
    } else if (!strcmp(word, ".schema")) {
        print_schema(c, argument);
    } else if (!strcmp(word, ".mode")) {
        unsigned i = 0;
        const char *p = FORMATS;
        const size_t n = strlen(argument);
        while (strncmp(p, argument, n) || (p[n] && p[n] != '|')) {
            p = strchr(p, '|');
            if (!p)
                break;
            p++;
            i++;
        }
        if (p && n && (format_of[i] < ROCL_ROWS_PARQUET || !c->common.to_stdout))
            c->format = i;
        else
            msg_error(".mode: table, csv, tsv, json, jsonl, md or html%s",
                      p && n ? "; Parquet and Arrow need -o FILE" : "");
    } else if (!strcmp(word, ".read")) {
        char *text = read_text(argument, NULL);
        if (text)
            run_said(c, text);
        free(text);
    } else {
        if (strcmp(word, ".help") != 0)
            msg_error("%s is no command of the shell", word);
        print_shell_help();
    }
    fflush(stdout);
    return true;
}

/* A line without its newline, to be freed; NULL: the end. */
static char *read_line(const char *prompt)
{
#ifdef ROCL_LIBEDIT
    if (sigsetjmp(prompt_again, 1)) { /* ^C: what was typed is forgotten */
        putchar('\n');
        return must_have(strdup(""));
    }
    prompting = 1;
    char *line = readline(prompt);
    prompting = 0;
    if (line && *line)
        add_history(line);
    return line;
#else
    char *line = NULL;
    size_t size = 0;
    fputs(prompt, stdout);
    fflush(stdout);
    ssize_t n = getline(&line, &size, stdin);
    if (n < 0 && !feof(stdin) && errno == EINTR) { /* ^C: what was typed is forgotten */
        clearerr(stdin);
        putchar('\n');
        free(line);
        return must_have(strdup(""));
    }
    if (n < 0) {
        free(line);
        return NULL;
    }
    if (n && line[n - 1] == '\n')
        line[n - 1] = '\0';
    return line;
#endif
}

#ifdef ROCL_LIBEDIT
static const char *history_path(void)
{
    static char path[4096];
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state)
        snprintf(path, sizeof path, "%s/rocline_history", state);
    else
        snprintf(path, sizeof path, "%s/.rocline_history", home ? home : "/tmp");
    return path;
}
#endif

static rocl_status run_shell(cli *c)
{
    char *text = NULL, *line;
    size_t len = 0;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigset_t interrupt;
    interruptible = c->query;
    sigaction(SIGINT, &action, NULL);
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL);
#ifdef ROCL_LIBEDIT
    rl_catch_signals = 0;
    using_history();
    read_history(history_path());
#endif
    puts("SQL over a trace: .tables lists the tables, .help the commands.");
    while ((line = read_line(len ? "    ...> " : "rocline> "))) {
        const size_t n = strlen(line);
        if (!len && line[strspn(line, " \t")] == '.') {
            const bool goes_on = run_command(c, line + strspn(line, " \t"));
            free(line);
            if (!goes_on)
                break;
            continue;
        }
        if (!n) {
            free(line);
            continue;
        }
        text = must_have(realloc(text, len + n + 2));
        memcpy(text + len, line, n);
        memcpy(text + len + n, "\n", 2);
        len += n + 1;
        free(line);
        if (rocl_query_is_complete(text)) {
            run_said(c, text);
            len = 0;
        }
    }
    if (len && line == NULL)
        run_said(c, text);
#ifdef ROCL_LIBEDIT
    write_history(history_path());
#endif
    interruptible = NULL;
    free(text);
    return ROCL_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

static rocl_status run_queries(rocl_trace *t, void *ctx, rocl_error *err)
{
    cli *c = ctx;
    const rocl_query_options o = {
        .memory = c->common.memory, .seconds = c->timeout, .attach = c->attach};
    c->trace = t;
    rocl_status st = rocl_query_open(&c->query, t, &o, err);
    if (st != ROCL_OK)
        return st;
    st = set_parameters(c, err);
    for (size_t i = 0; i < c->commands.n && st == ROCL_OK; i++)
        run_command(c, c->commands.v[i]);
    char *all = must_have(strdup(""));
    for (size_t i = 0; i < c->scripts.n + c->queries.n && st == ROCL_OK; i++) {
        char *text = i < c->scripts.n ? read_text(c->scripts.v[i], err)
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
        all = read_text("-", err);
        st = all ? st : ROCL_INPUT;
    }
    if (st == ROCL_OK && *all)
        st = run_said(c, all);
    free(all);
    if (st <= ROCL_PARTIAL && c->shell)
        st = run_shell(c);
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
    int code = output_fill_name(&c->common, NULL, "--output-file", &c->common.output_file);
    if (code < 0)
        code = output_fill_name(&c->common, NULL, "--output-path", &c->common.output_path);
    if (code >= 0)
        return code;
    static char path[8192];
    const char *file = c->common.output_file, *folder = c->common.output_path;
    c->path = file ? file : "-";
    if (file && folder && *file != '/' && strcmp(file, "-") != 0) {
        snprintf(path, sizeof path, "%s/%s", folder, file);
        c->path = path;
    }
    c->common.to_stdout = !strcmp(c->path, "-");
    c->common.wanted = EVENTS_NONE;
    const rocl_rows_format format = (rocl_rows_format)format_of[c->format];
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
    int code = common_parse(p, &c.common, argc, argv);
    if (code < 0)
        code = check_options(&c);
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

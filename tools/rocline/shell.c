/* The shell of rocline query: statements and commands from a terminal. */
#include "rocline/query.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef ROCL_LIBEDIT
#include <editline/readline.h>
#include <setjmp.h>
#endif

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

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* A table whose columns are printed. */
typedef struct shown_table {
    const char *name, *purpose;
    bool plain; /* its columns are not those of our tables, which are explained */
    size_t columns;
} shown_table;

/* A column: its name and its type. */
static rocl_status print_column(void *ctx, const rocl_result_row *r, rocl_error *err)
{
    shown_table *t = ctx;
    (void)err;
    if (!r->values)
        return ROCL_OK;
    if (!t->columns++)
        printf("%s: %s\n", t->name, t->purpose);
    printf("  %-22s %-8s %s\n", r->values[0].text, r->values[1].text,
           t->plain ? "" : rocl_sql_column_doc(r->values[0].text));
    return ROCL_OK;
}

/* False: there is no such table. */
static bool print_columns(query_cli *c, shown_table *t)
{
    char sql[4200];
    snprintf(sql, sizeof sql, "SELECT name, type FROM pragma_table_info('%s')", t->name);
    rocl_query_run(c->query, sql, print_column, t, NULL);
    return t->columns > 0;
}

/* The columns of a table, or of all. */
static void print_schema(query_cli *c, const char *table)
{
    rocl_sql_table t;
    bool any = false;
    for (size_t i = 0; rocl_sql_table_at(i, &t); i++) {
        if (*table ? strcasecmp(table, t.name) != 0 : t.view)
            continue;
        fputs(any ? "\n" : "", stdout);
        any = print_columns(c, &(shown_table){t.name, t.purpose, false, 0});
    }
    if (!strncasecmp(table, "rocpd_", 6) && strspn(table, NAME_CHARACTERS) == strlen(table))
        any = print_columns(c, &(shown_table){table, "a table of ROCm's databases", true, 0});
    if (!any)
        msg_error(".schema: there is no table %s", table);
}

bool shell_run_command(query_cli *c, const char *line)
{
    char word[16] = "", argument[4096] = "";
    sscanf(line, "%15s %4095[^\n]", word, argument);
    for (size_t n = strlen(argument); n && strchr(" \t;", argument[n - 1]); n--)
        argument[n - 1] = '\0';
    if (!strcmp(word, ".quit") || !strcmp(word, ".exit") || !strcmp(word, ".q")) {
        return false;
    } else if (!strcmp(word, ".tables")) {
        rocl_sql_table t;
        for (int views = 0; views <= 1; views++) {
            for (size_t i = 0; rocl_sql_table_at(i, &t); i++)
                if (t.view == views)
                    printf("%-20s %s\n", t.name, t.purpose);
            fputs(views ? "" : "\n", stdout);
        }
        puts("\nrocpd_string, ...    the tables of ROCm's databases");
    } else if (!strcmp(word, ".schema")) {
        print_schema(c, argument);
    } else if (!strcmp(word, ".mode")) {
        unsigned i = 0;
        const char *p = QUERY_FORMATS;
        const size_t n = strlen(argument);
        while (strncmp(p, argument, n) || (p[n] && p[n] != '|')) {
            p = strchr(p, '|');
            if (!p)
                break;
            p++;
            i++;
        }
        if (p && n && (query_format_of[i] < ROCL_ROWS_PARQUET || !c->common.to_stdout))
            c->format = i;
        else
            msg_error(".mode: table, csv, tsv, json, jsonl, md or html%s",
                      p && n ? "; Parquet and Arrow need -o FILE" : "");
    } else if (!strcmp(word, ".read")) {
        char *text = query_read_text(argument);
        if (text)
            query_run(c, text);
        free(text);
    } else {
        if (strcmp(word, ".help") != 0)
            msg_error("%s is not a command of the shell", word);
        puts(".tables           list tables and views\n"
             ".schema [TABLE]   list columns\n"
             ".mode FORMAT      table, csv, tsv, json, jsonl, md or html\n"
             ".read FILE        run the statements in a file\n"
             ".quit             end\n"
             "SQL ends with a semicolon. ^C ends a statement.");
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

rocl_status shell_run(query_cli *c)
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
    stifle_history(1000);
    read_history(history_path());
#endif
    puts("SQL over a trace: .tables lists the tables, .help the commands.");
    while ((line = read_line(len ? "    ...> " : "rocline> "))) {
        const size_t n = strlen(line);
        if (!len && line[strspn(line, " \t")] == '.') {
            const bool goes_on = shell_run_command(c, line + strspn(line, " \t"));
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
            query_run(c, text);
            len = 0;
        }
    }
    if (len && line == NULL)
        query_run(c, text);
#ifdef ROCL_LIBEDIT
    write_history(history_path());
#endif
    interruptible = NULL;
    free(text);
    return ROCL_OK;
}

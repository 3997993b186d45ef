/* rocline: one command for all tools. A command is a row of the table below. */
#include "common/answer.h"
#include "common/common.h"
#include "common/programs.h"
#include "rocline/commands.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print_command_help(const program *p, int argc, char **argv);
static int print_rocpd_help(const program *p, int argc, char **argv);

static const char *command_word(const void *ctx, size_t i);

static const program help_program = {
    .name = "rocline help",
    .tool = "rocline",
    .run = print_command_help,
    .groups = (const opt_group *const[]){NULL},
    .operand_words = command_word,
};

#define LOOK    "Look at a trace"
#define CONVERT "Convert it"
#define COMPARE "Compare two"
#define COMBINE "Combine several"
#define ASK     "Ask"
#define RECORD  "Record one"

/* Commands without a heading are the converters as AMD's tools have them, which scripts call. */
static const subcommand commands[] = {
    {"info", NULL, &info_program, NULL, "print what a trace is, and what is in it", LOOK,
     "trace.db"},
    {"stats", NULL, &rocstats_program, NULL, "print where the time went", LOOK, "trace.db"},
    {"doctor", NULL, &rocstats_program, "doctor", "print whether a trace can be trusted", LOOK,
     "trace.db"},
    {"check", NULL, &check_program, NULL, "read all of a trace, and print what is broken", LOOK,
     "trace.db"},
    {"view", NULL, &view_program, NULL, "show it on the terminal, or write a page: -o x.html", LOOK,
     "trace.db"},
    {"convert", NULL, &convert_program, NULL, "write csv, pftrace, json, html, otf2, parquet, ...",
     CONVERT, "-o x.pftrace trace.db"},
    {"compare", "diff", &rocstats_program, "compare", "compare two traces", COMPARE,
     "before.db after.db"},
    {"merge", NULL, &rocmerge_program, NULL, "write one rocpd database, or a part of one", COMBINE,
     "-o all.db rank*/*.db"},
    {"query", "sql", &query_program, NULL, "run SQL over any trace", ASK,
     "\"SELECT * FROM top\" trace.db"},
    {"show", NULL, &show_program, NULL, "print what is known of one event", ASK,
     "kernel:12 trace.db"},
    {"correlate", NULL, &correlate_program, NULL, "print causes and effects of one event", ASK,
     "kernel:12 trace.db"},
    {"recipes", NULL, &recipes_program, NULL, "print questions, and commands that answer them", ASK,
     ""},
    {"schema", NULL, &schema_program, NULL, "print the JSON Schema of what a command prints", ASK,
     "stats"},
    {"record", "rec", &rocrec_program, NULL, "run a program and record it", RECORD, "-- ./train"},
    {"help", NULL, &help_program, NULL, "print the help of a command", "Help", "stats kernels"},
    {"csv", NULL, &rocpd2csv_program, NULL, "write tables as CSV files", NULL, NULL},
    {"pftrace", "perfetto", &rocpd2pftrace_program, NULL, "write a Perfetto trace", NULL, NULL},
    {"otf2", NULL, &rocpd2otf2_program, NULL, "write an OTF2 archive", NULL, NULL},
    {"json", NULL, &rtg2json_program, NULL, "write JSON: of Chrome, PyTorch, rocprof, rocprofv3",
     NULL, NULL},
    {"rpt", NULL, &rpt_program, NULL, "print the report of rpt", NULL, NULL},
    {"export", NULL, &export_program, NULL, "write Parquet, Arrow or JSON lines", NULL, NULL},
    {0},
};

static const char *command_word(const void *ctx, size_t i)
{
    (void)ctx;
    return commands[i].name;
}

/* ---- rocpd ---- */

static const char *rocpd_word(const void *ctx, size_t i);

static const program rocpd_help_program = {
    .name = "rocpd help",
    .tool = "rocpd",
    .run = print_rocpd_help,
    .groups = (const opt_group *const[]){NULL},
    .operand_words = rocpd_word,
};

/* The commands of AMD's program of this name. */
static const subcommand rocpd_commands[] = {
    {"convert", NULL, &convert_program, NULL, "write csv, pftrace, otf2: one or several formats",
     "Commands", "-i a.db b.db -f csv pftrace -o run -d out"},
    {"merge", NULL, &rocmerge_program, NULL, "write one database", "Commands",
     "-i rank*/*.db -o all"},
    {"package", NULL, &rocmerge_program, "--package", "write an index.yaml that lists databases",
     "Commands", "-i rank*/*.db"},
    {"query", NULL, &rocpd_query_program, NULL, "run SQL", "Commands",
     "\"SELECT ...\" -i trace.db"},
    {"summary", NULL, &rocpd_summary_program, NULL, "print where the time went", "Commands",
     "-i trace.db"},
    {"help", NULL, &rocpd_help_program, NULL, "print the help of a command", "Commands", "convert"},
    {0},
};

static const char *rocpd_word(const void *ctx, size_t i)
{
    (void)ctx;
    return rocpd_commands[i].name;
}

/* ---- finding a command ---- */

static bool is_alias(const char *aliases, const char *word)
{
    const size_t n = strlen(word);
    while (aliases && *aliases) {
        const size_t len = strcspn(aliases, "|");
        if (len == n && !memcmp(aliases, word, n))
            return true;
        aliases += len + (aliases[len] == '|');
    }
    return false;
}

/* The command of this name, or alias, or own name of its tool. NULL: there is none. */
static const subcommand *find_command(const program *p, const char *word)
{
    for (const subcommand *c = p->commands; c->program; c++)
        if (!strcmp(c->name, word) || is_alias(c->aliases, word))
            return c;
    for (const subcommand *c = p->commands; c->program; c++)
        if (!strcmp(c->program->tool, word))
            return c;
    return NULL;
}

static int report_unknown(const program *p, const char *word)
{
    const char *near = rocl_nearest_word(word, strlen(word),
                                         p->commands == commands ? command_word : rocpd_word, NULL);
    for (rocl_report r = 0; r < ROCL_REPORTS; r++)
        if (!strcmp(word, rocl_report_name(r)))
            return usage_error("\"%s\" is a report: rocline stats %s", word, word);
    if (near)
        return usage_error("\"%s\" is not a command; did you mean %s?", word, near);
    if (access(word, F_OK) == 0)
        return usage_error("%s is a file: a command comes first, such as %s %s %s", word, p->name,
                           p->commands == commands ? "stats" : "summary", word);
    return usage_error("\"%s\" is not a command", word);
}

/* Stands for a command that does not exist: also this error is in the answer of --format json. */
static int run_unknown(const program *p, int argc, char **argv)
{
    (void)p, (void)argc;
    return report_unknown(&rocline_program, argv[0]);
}

/* The program that a link to this one is called like; NULL: none. */
static const program *find_program(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (!strcmp(name, rocpd_program.tool))
        return &rocpd_program;
    for (const subcommand *c = commands; c->program; c++)
        if (!strcmp(name, c->program->tool) && strcmp(name, rocline_program.tool) != 0)
            return c->program;
    return NULL;
}

typedef struct command_names {
    char help[64], messages[64];
} command_names;

/* The program as this command calls it: one that has a word for it is another command's, whose help
 * it has. */
static program name_program(const program *p, const subcommand *c, command_names *names)
{
    program called = *c->program;
    const subcommand *part = c->word && *c->word != '-' ? c : NULL;
    snprintf(names->messages, sizeof names->messages, "%s %s", p->name, c->name);
    for (const subcommand *first = p->commands; part && first != c; first++)
        if (first->program == c->program) {
            c = first;
            break;
        }
    options_know(commands);
    snprintf(names->help, sizeof names->help, "%s %s", p->name, c->name);
    called.part = part;
    called.name = names->help;
    called.called = names->messages;
    return called;
}

static int print_help_of(const program *p, int argc, char **argv)
{
    const subcommand *c;
    command_names names;
    if (argc < 2 || !strcmp(argv[1], "help"))
        return print_help(p, NULL);
    if (!(c = find_command(p, argv[1])))
        return report_unknown(p, argv[1]);
    const program called = name_program(p, c, &names);
    char *words[] = {argv[1], (char[]){"--help"}, argc > 2 ? argv[2] : NULL, NULL};
    return called.run(&called, argc > 2 ? 3 : 2, words);
}

static int print_command_help(const program *p, int argc, char **argv)
{
    (void)p;
    return print_help_of(&rocline_program, argc, argv);
}

static int print_rocpd_help(const program *p, int argc, char **argv)
{
    (void)p;
    return print_help_of(&rocpd_program, argc, argv);
}

/* The options before the command. */
typedef struct cli {
    strings words; /* the command, and its command line */
    const char *format;
} cli;

static int run_command(const program *p, int argc, char **argv)
{
    static cli line;
    static strings arguments;
    static char format[64];
    static command_names names;
    static program called;
    const subcommand *c;
    const program *link = p == &rocline_program ? find_program(argv[0]) : NULL;
    if (link)
        return link->run(link, argc, argv);
    msg_init(p->name);
    const int code = options_parse(p, &line, argc, argv);
    const strings words = line.words;
    if (code >= 0)
        return code;
    if (!words.n && p == &rocpd_program) /* as AMD's program does */
        return print_help(p, NULL);
    if (!words.n)
        return usage_error("no command is given");
    if ((c = find_command(p, words.v[0]))) {
        called = name_program(p, c, &names);
    } else {
        static const opt_group *const no_groups[] = {NULL};
        snprintf(names.help, sizeof names.help, "%s %s", p->name, words.v[0]);
        called = (program){.name = names.help, .run = run_unknown, .groups = no_groups};
        if (p != &rocline_program)
            return report_unknown(p, words.v[0]);
    }
    strings_add(&arguments, words.v[0]);
    if (c && c->word)
        strings_add(&arguments, c->word);
    if (line.format) {
        snprintf(format, sizeof format, "--format=%s", line.format);
        strings_add(&arguments, format);
    }
    for (size_t i = 1; i < words.n; i++)
        strings_add(&arguments, words.v[i]);
    return answer_run(&called, (int)arguments.n, (char **)(uintptr_t)arguments.v);
}

static const opt command_options[] = {
    {"format", 0, OPT_STRING, offsetof(cli, format), "FORM", NULL, 0, 0,
     "the same as behind the command, such as json"},
    COMMON_END,
};
static const opt_group command_group = {"For the command", command_options};
static const opt_group *const groups[] = {&command_group, &other_group, NULL};

static const opt rocpd_options[] = {
    {"version", 'v', OPT_VERSION, 0, NULL, NULL, 0, 0, "print the version, as with -V"},
    COMMON_END,
};
static const opt_group rocpd_group = {"As in AMD's program", rocpd_options};
static const opt_group *const rocpd_groups[] = {&rocpd_group, &other_group, NULL};

const program rocline_program = {
    .name = "rocline",
    .tool = "rocline",
    .run = run_command,
    .synopsis = "COMMAND [OPTION]... INPUT...",
    .purpose = "Convert, analyse and record traces of programs on AMD GPUs.\n"
               "Each line is a command that can be run; `rocline help COMMAND` explains it.",
    .groups = groups,
    .alone = true,
    .command = true,
    .commands = commands,
};

const program rocpd_program = {
    .name = "rocpd",
    .tool = "rocpd",
    .run = run_command,
    .synopsis = "COMMAND [OPTION]... INPUT...",
    .purpose =
        "Do what AMD's program of this name does, by rocline: with its commands and options.\n"
        "`rocpd help COMMAND` explains a command.",
    .groups = rocpd_groups,
    .alone = true,
    .command = true,
    .commands = rocpd_commands,
};

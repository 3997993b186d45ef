/* Completion code of shells, printed out of the tables of options. */
#include "common/options.h"

#include <stdio.h>
#include <string.h>

/* Words of options that several tools have. */
static const opt_words shared_words[] = {
    {"include", rocl_include_word}, {"exclude", rocl_include_word}, {NULL, NULL}};

/* What an option offers; NULL: nothing, or one of its choices. */
static rocl_word_fn *words_of(const program *p, const opt *o)
{
    const opt_words *const lists[] = {shared_words, p->words};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const opt_words *w = lists[i]; w && w->option; w++)
            if (strcmp(w->option, o->name) == 0)
                return w->words;
    return NULL;
}

/* Each once, with a blank between them. */
static void print_words(rocl_word_fn *words)
{
    const char *word;
    for (size_t i = 0; (word = words(NULL, i)); i++) {
        char text[128];
        bool again = false;
        snprintf(text, sizeof text, "%s", word);
        for (size_t k = 0; k < i; k++)
            again |= strcmp(words(NULL, k), text) == 0;
        if (!again)
            printf("%s%s", i ? " " : "", text);
    }
}

/* The words that an option offers, if it offers any. */
static void print_offered(const program *p, const opt *o)
{
    rocl_word_fn *words = words_of(p, o);
    const char *choices = words                 ? ""
                          : o->choices          ? o->choices
                          : o->kind == OPT_BOOL ? "True|False"
                                                : "";
    if (words)
        print_words(words);
    while (*choices) { /* without what some of them need for a value */
        size_t n = strcspn(choices, "|");
        printf("%.*s", (int)strcspn(choices, " |"), choices);
        choices += n + (choices[n] == '|');
        if (*choices)
            putchar(' ');
    }
}

/* Are there commas between its words? */
static bool takes_list(const program *p, const opt *o)
{
    return o->kind == OPT_MANY || (words_of(p, o) && !o->choices);
}

/* Names of an option, as a pattern of `case` of bash and of `switch` of fish have them. */
static void print_names(const opt *o, const char *between)
{
    if (o->letter)
        printf("-%c%s", o->letter, between);
    printf("--%s", o->name);
}

static void each_option(const program *p, void (*print)(const program *, const opt *),
                        bool with_value)
{
    for (const opt_group *const *g = p->groups; *g; g++)
        for (const opt *o = (*g)->options; o->kind != OPT_END; o++)
            if (o->help && (opt_takes_value(o) || !with_value))
                print(p, o);
}

/* One branch of `case $prev in` for an option with a value. */
static void bash_value(const program *p, const opt *o)
{
    printf("    ");
    print_names(o, "|");
    printf(") ");
    if (takes_list(p, o)) {
        printf("_rocline_list '");
        print_offered(p, o);
        printf("'; ");
    } else if (o->choices || o->kind == OPT_BOOL) {
        printf("COMPREPLY=($(compgen -W '");
        print_offered(p, o);
        printf("' -- \"$cur\")); ");
    } else if (strcmp(o->arg, "DIR") == 0) {
        printf("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\")); ");
    } else if (strncmp(o->arg, "FILE", 4) != 0 && strcmp(o->arg, "NAME") != 0) {
        printf("compopt +o default +o bashdefault; ");
    }
    printf("return ;;\n");
}

/* The current word, and the one before it; if that is an option, completes its values. */
static void bash_values(const program *p)
{
    printf("    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    COMPREPLY=()\n"
           "    if [[ $cur == = ]]; then cur=;\n"
           "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
           "    case $prev in\n");
    each_option(p, bash_value, true);
    printf("    esac\n");
}

/* Words of a list may also follow it, separated by blanks: finds the last word with a dash. */
static void bash_many(const program *p, const opt *o)
{
    if (o->kind != OPT_MANY)
        return;
    printf("    local at=$((COMP_CWORD - 1))\n"
           "    while ((at > 0)) && [[ ${COMP_WORDS[at]} != -* ]]; do ((at--)); done\n"
           "    if [[ $cur != -* && ${COMP_WORDS[at]} == @(");
    if (o->letter)
        printf("-%c|", o->letter);
    printf("--%s) ]]; then\n        compopt -o filenames 2>/dev/null\n"
           "        mapfile -t COMPREPLY < <(compgen -W '",
           o->name);
    print_offered(p, o);
    printf("' -- \"$cur\"; compgen -f -- \"$cur\")\n        return\n    fi\n");
}

static void bash_word(const program *p, const opt *o)
{
    (void)p;
    if (o->letter)
        printf(" -%c", o->letter);
    printf(" --%s", o->name);
}

/* A function is called like the program with its command: several commands share a manual page. */
static void print_function_name(const program *p)
{
    putchar('_');
    for (const char *at = p->name; *at; at++)
        putchar(*at == '-' || *at == ' ' ? '_' : *at);
}

static void bash_skipped(const program *p, const opt *o)
{
    (void)p;
    printf("        ");
    print_names(o, "|");
    printf(") if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i++)); fi; ((i++)) ;;\n");
}

/* The commands of a program, and which function completes each. Options may stand before. */
static void bash_commands(const program *p)
{
    printf("    local i\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n");
    each_option(p, bash_skipped, true);
    printf("        -*) ;;\n"
           "        *) break ;;\n        esac\n    done\n"
           "    if ((i < COMP_CWORD)); then\n"
           "        case ${COMP_WORDS[i]} in\n");
    for (const subcommand *c = p->commands; c->program; c++) {
        printf("        %s%s%s) local f=", c->name, c->aliases ? "|" : "",
               c->aliases ? c->aliases : "");
        print_function_name(c->program);
        printf(" ;;\n");
    }
    printf("        *) return ;;\n        esac\n"
           "        COMP_WORDS=(\"${COMP_WORDS[@]:i}\")\n"
           "        COMP_CWORD=$((COMP_CWORD - i))\n"
           "        $f\n        return\n    fi\n");
    bash_values(p);
    printf("    COMPREPLY=($(compgen -W '");
    for (const subcommand *c = p->commands; c->program; c++)
        if (c->group)
            printf("%s ", c->name);
    printf("' -- \"$cur\"))\n"
           "    if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '");
    each_option(p, bash_word, false);
    printf("' -- \"$cur\")); fi\n"
           "    compopt +o default +o bashdefault 2>/dev/null\n");
}

static void bash_function(const program *p)
{
    print_function_name(p);
    printf("()\n{\n");
    if (p->commands) {
        bash_commands(p);
        printf("}\n");
        return;
    }
    bash_values(p);
    each_option(p, bash_many, true);
    printf("    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    each_option(p, bash_word, false);
    printf("' -- \"$cur\"))\n");
    if (p->operand_words) {
        printf("    else\n        compopt -o filenames 2>/dev/null\n"
               "        mapfile -t COMPREPLY < <(compgen -W '");
        print_words(p->operand_words);
        printf("' -- \"$cur\"; compgen -f -- \"$cur\")\n");
    }
    printf("    fi\n}\n");
}

/* Calls `print` for each program that a command runs, once. */
static void each_command(const program *p, void (*print)(const program *))
{
    for (const subcommand *c = p->commands; c && c->program; c++) {
        const subcommand *first = p->commands;
        while (first->program != c->program)
            first++;
        if (first == c)
            print(c->program);
    }
}

static void print_bash(const program *p)
{
    /* "a,b,c" grows by a word after its last comma, and no blank follows: more may come. */
    printf("# bash completion for %s\n"
           "_rocline_list()\n{\n"
           "    local before=\n"
           "    if [[ $cur == *,* ]]; then before=${cur%%,*},; fi\n"
           "    COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${cur##*,}\"))\n"
           "    compopt -o nospace +o default +o bashdefault 2>/dev/null\n}\n",
           p->tool);
    each_command(p, bash_function);
    bash_function(p);
    printf("complete -o bashdefault -o default -F ");
    print_function_name(p);
    printf(" %s\n", p->tool);
}

/* Help texts stand in '...[...]': the quote, the brackets and the colon have a meaning there. */
static void zsh_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const program *p, const opt *o)
{
    const bool again = o->kind == OPT_LIST || o->kind == OPT_WORDS || o->kind == OPT_MANY;
    /* The value is the next word, or follows the letter or "=". */
    const char *plus = opt_takes_value(o) ? "+" : "", *equals = opt_takes_value(o) ? "=" : "";
    if (o->letter && again)
        printf("    '*'{-%c%s,--%s%s}'[", o->letter, plus, o->name, equals);
    else if (o->letter)
        printf("    '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, plus, o->name,
               equals);
    else
        printf("    '%s--%s%s[", again ? "*" : "", o->name, equals);
    zsh_escaped(o->help);
    putchar(']');
    if (opt_takes_value(o)) {
        /* The rest of the line, up to the next option: words of a list, and files. */
        printf(o->kind == OPT_MANY ? ":*-*:" : ":");
        zsh_escaped(o->arg);
        putchar(':');
        if (o->kind == OPT_MANY) {
            printf("{ _sequence compadd - ");
            print_offered(p, o);
            printf("; _files }");
        } else if (takes_list(p, o)) {
            printf("_sequence compadd - ");
            print_offered(p, o);
        } else if (o->choices || o->kind == OPT_BOOL) {
            putchar('(');
            print_offered(p, o);
            putchar(')');
        } else if (strcmp(o->arg, "DIR") == 0) {
            printf("_files -/");
        } else if (strncmp(o->arg, "FILE", 4) == 0 || strcmp(o->arg, "NAME") == 0) {
            printf("_files");
        }
    }
    printf("' \\\n");
}

static void zsh_arguments(const program *p)
{
    printf("_arguments -s -S \\\n");
    each_option(p, zsh_option, false);
    if (p->operand_words) {
        printf("    '*:report or input:{ compadd - ");
        print_words(p->operand_words);
        printf("; _files }'\n");
    } else {
        printf("    '*:input:_files'\n");
    }
}

static void zsh_function(const program *p)
{
    print_function_name(p);
    printf("()\n{\n");
    zsh_arguments(p);
    printf("}\n");
}

/* The words behind a command are completed as a command line of its own. */
static void zsh_commands(const program *p)
{
    printf("local context state state_descr line\ntypeset -A opt_args\n"
           "_arguments -C -S -A '-*' \\\n");
    each_option(p, zsh_option, false);
    printf("    '1:command:((");
    for (const subcommand *c = p->commands; c->program; c++) {
        if (!c->group)
            continue;
        printf("%s\\:\"", c->name);
        zsh_escaped(c->help);
        printf("\" ");
    }
    printf("))' \\\n    '*::argument:->rest'\ncase $state:$line[1] in\n");
    for (const subcommand *c = p->commands; c->program; c++) {
        printf("rest:(%s%s%s)) ", c->name, c->aliases ? "|" : "", c->aliases ? c->aliases : "");
        print_function_name(c->program);
        printf(" ;;\n");
    }
    printf("esac\n");
}

static void print_zsh(const program *p)
{
    printf("#compdef %s\n", p->tool);
    each_command(p, zsh_function);
    if (p->commands)
        zsh_commands(p);
    else
        zsh_arguments(p);
}

/* In single quotes of fish, where only the quote and the backslash have a meaning. */
static void fish_quoted(const char *text)
{
    putchar('\'');
    for (; *text; text++)
        printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('\'');
}

/* The begin of the lines of a program; those of a command apply after its name, and those of a
 * program with commands as long as none is named. */
static const subcommand *fish_command;
static const char *fish_tool;
static bool fish_has_commands;

static void fish_begin(void)
{
    printf("complete -c %s", fish_tool);
    if (fish_has_commands && !fish_command)
        printf(" -n __%s_command", fish_tool);
    if (!fish_command)
        return;
    printf(" -n '__%s_command %s", fish_tool, fish_command->name);
    for (const char *a = fish_command->aliases; a && *a; a++)
        printf("%s%c", a == fish_command->aliases ? " " : "", *a == '|' ? ' ' : *a);
    putchar('\'');
}

static void fish_skipped(const program *p, const opt *o)
{
    (void)p;
    putchar(' ');
    print_names(o, " ");
}

/* Options may stand before the command. */
static void fish_function(const program *p)
{
    printf("function __%s_command # is the command one of these? Of none: is none named yet?\n"
           "    set -l words (commandline -opc)\n"
           "    set -e words[1]\n"
           "    while set -q words[1]\n"
           "        switch $words[1]\n"
           "            case",
           fish_tool);
    each_option(p, fish_skipped, true);
    printf("\n"
           "                set -e words[1]\n"
           "            case '-*'\n"
           "            case '*'\n"
           "                contains -- $words[1] $argv\n"
           "                return\n"
           "        end\n"
           "        set -e words[1]\n"
           "    end\n"
           "    not set -q argv[1]\n"
           "end\n");
}

/* What follows the tab describes a word: nothing, or it would be the help of the option, each time.
 */
static void fish_option(const program *p, const opt *o)
{
    fish_begin();
    if (o->letter)
        printf(" -s %c", o->letter);
    printf(" -l %s", o->name);
    if (opt_takes_value(o)) {
        if (takes_list(p, o)) {
            printf(" -x -a '(__fish_append , ");
            print_offered(p, o);
            printf(")\\t'");
        } else if (o->choices || o->kind == OPT_BOOL) {
            printf(" -x -a '(string split \" \" \"");
            print_offered(p, o);
            printf("\")\\t'");
        } else if (strcmp(o->arg, "DIR") == 0) {
            printf(" -x -a '(__fish_complete_directories)'");
        } else {
            printf(strncmp(o->arg, "FILE", 4) == 0 || strcmp(o->arg, "NAME") == 0 ? " -r" : " -x");
        }
    }
    printf(" -d ");
    fish_quoted(o->help);
    putchar('\n');
    if (o->kind == OPT_MANY) {
        fish_begin();
        printf(" -n '__rocline_follows --%s", o->name);
        if (o->letter)
            printf(" -%c", o->letter);
        printf("' -a '");
        print_offered(p, o);
        printf("'\n");
    }
}

static void fish_program(const program *p)
{
    each_option(p, fish_option, false);
    if (!p->operand_words)
        return;
    fish_begin();
    printf(" -a '");
    print_words(p->operand_words);
    printf("'\n");
}

static void print_fish(const program *p)
{
    printf(
        "# fish completion for %s\n"
        "function __rocline_follows # is one of these the last option before the cursor?\n"
        "    for word in (commandline -opc)[-1..1]\n"
        "        string match -q -- '-*' $word; and begin; contains -- $word $argv; return; end\n"
        "    end\n"
        "    return 1\n"
        "end\n",
        p->tool);
    fish_tool = p->tool;
    fish_has_commands = p->commands;
    if (!p->commands) {
        fish_program(p);
        return;
    }
    fish_function(p);
    for (const subcommand *c = p->commands; c->program; c++) {
        fish_command = NULL;
        if (c->group) {
            fish_begin();
            printf(" -f -a %s -d ", c->name);
            fish_quoted(c->help);
            putchar('\n');
        }
        fish_command = c;
        fish_program(c->program);
    }
    fish_command = NULL;
    each_option(p, fish_option, false);
}

int print_completion(const program *p, const char *shell)
{
    static const struct {
        const char *shell;
        void (*print)(const program *p);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].shell) == 0)
            shells[i].print(p);
    return finish_stdout();
}

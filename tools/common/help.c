/* What is printed out of the option tables: --help and the completion code of two shells. */
#include "common/options.h"

#include <stdio.h>
#include <string.h>

enum { COLUMN = 30, WIDTH = 80 };

/* ---- --help ---------------------------------------------------------------------------------- */

/* Words of `text` from column `at` on, broken before WIDTH. */
static void print_wrapped(const char *text, int at)
{
    int column = at;
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (column > COLUMN && column + 1 + len > WIDTH) {
            printf("\n%*s", COLUMN, "");
            column = COLUMN;
        } else if (column > COLUMN) {
            putchar(' ');
            column++;
        }
        printf("%.*s", len, text);
        column += len;
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

int print_help(const program *p)
{
    printf("Usage: %s %s\n%s\n", p->name, p->synopsis, p->purpose);
    for (const opt_group *const *g = p->groups; *g; g++) {
        printf("\n%s:\n", (*g)->title);
        for (const opt *o = (*g)->options; o->kind != OPT_END; o++) {
            int n = o->letter ? printf("  -%c, --%s", o->letter, o->name)
                              : printf("      --%s", o->name);
            if (o->arg)
                n += printf(o->kind == OPT_MAYBE ? "%s" : " %s", o->arg);
            if (n > COLUMN - 2) {
                putchar('\n');
                n = 0;
            }
            printf("%*s", COLUMN - n, "");
            print_wrapped(o->help, COLUMN);
        }
    }
    printf("\nExamples:\n%s", p->examples);
    printf("\nExit codes: 0 done; 1 done, but records were left out or repaired (and counted);\n2 "
           "wrong usage; 3 input error; 4 output error; 5 internal error.\nSee %s(1) and "
           "rocline(7) for more.\n",
           p->name);
    return finish_stdout();
}

/* ---- completion ------------------------------------------------------------------------------ */

/* Of every tool that has these options. */
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

/* Without what some of them need for a value. */
static void print_choices(const char *choices)
{
    while (*choices) {
        size_t n = strcspn(choices, "|");
        printf("%.*s", (int)strcspn(choices, " |"), choices);
        choices += n + (choices[n] == '|');
        if (*choices)
            putchar(' ');
    }
}

/* One branch of `case $prev in` for an option with a value. */
static void bash_value(const program *p, const opt *o)
{
    rocl_word_fn *words = words_of(p, o);
    if (o->letter)
        printf("    -%c|", o->letter);
    else
        printf("    ");
    printf("--%s) ", o->name);
    if (o->choices || o->kind == OPT_BOOL) {
        printf("COMPREPLY=($(compgen -W '");
        print_choices(o->choices ? o->choices : "True|False");
        printf("' -- \"$cur\")); ");
    } else if (words) {
        printf("_%s_list '", p->name);
        print_words(words);
        printf("'; ");
    } else if (strcmp(o->arg, "DIR") == 0) {
        printf("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\")); ");
    } else if (strncmp(o->arg, "FILE", 4) != 0 && strcmp(o->arg, "NAME") != 0) {
        printf("compopt +o default +o bashdefault; ");
    }
    printf("return ;;\n");
}

static void each_option(const program *p, void (*print)(const program *, const opt *),
                        bool with_value)
{
    for (const opt_group *const *g = p->groups; *g; g++)
        for (const opt *o = (*g)->options; o->kind != OPT_END; o++)
            if (opt_takes_value(o) || !with_value)
                print(p, o);
}

static void bash_word(const program *p, const opt *o)
{
    (void)p;
    if (o->letter)
        printf(" -%c", o->letter);
    printf(" --%s", o->name);
}

static void print_bash(const program *p)
{
    /* "a,b,c" grows by a word after its last comma, and no blank follows: more may come. */
    printf("# bash completion for %s\n"
           "_%s_list()\n{\n"
           "    local before=\n"
           "    if [[ $cur == *,* ]]; then before=${cur%%,*},; fi\n"
           "    COMPREPLY=($(compgen -P \"$before\" -W \"$1\" -- \"${cur##*,}\"))\n"
           "    compopt -o nospace +o default +o bashdefault 2>/dev/null\n}\n"
           "_%s()\n{\n",
           p->name, p->name, p->name);
    printf("    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    COMPREPLY=()\n"
           "    if [[ $cur == = ]]; then cur=;\n"
           "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
           "    case $prev in\n");
    each_option(p, bash_value, true);
    printf("    esac\n    if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    each_option(p, bash_word, false);
    printf("' -- \"$cur\"))\n");
    if (p->operand_words) {
        printf("    else\n        compopt -o filenames 2>/dev/null\n"
               "        mapfile -t COMPREPLY < <(compgen -W '");
        print_words(p->operand_words);
        printf("' -- \"$cur\"; compgen -f -- \"$cur\")\n");
    }
    printf("    fi\n}\ncomplete -o bashdefault -o default -F _%s %s\n", p->name, p->name);
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
    rocl_word_fn *words = words_of(p, o);
    bool again = o->kind == OPT_LIST || o->kind == OPT_WORDS;
    if (o->letter && again)
        printf("    '*'{-%c,--%s}'[", o->letter, o->name);
    else if (o->letter)
        printf("    '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter, o->name);
    else
        printf("    '%s--%s[", again ? "*" : "", o->name);
    zsh_escaped(o->help);
    putchar(']');
    if (opt_takes_value(o)) {
        putchar(':');
        zsh_escaped(o->arg);
        putchar(':');
        if (o->choices || o->kind == OPT_BOOL) {
            putchar('(');
            print_choices(o->choices ? o->choices : "True|False");
            putchar(')');
        } else if (words) {
            printf("_sequence compadd - ");
            print_words(words);
        } else if (strcmp(o->arg, "DIR") == 0) {
            printf("_files -/");
        } else if (strncmp(o->arg, "FILE", 4) == 0 || strcmp(o->arg, "NAME") == 0) {
            printf("_files");
        }
    }
    printf("' \\\n");
}

static void print_zsh(const program *p)
{
    printf("#compdef %s\n_arguments -s -S \\\n", p->name);
    each_option(p, zsh_option, false);
    if (p->operand_words) {
        printf("    '*:report or input:{ compadd - ");
        print_words(p->operand_words);
        printf("; _files }'\n");
    } else {
        printf("    '*:input:_files'\n");
    }
}

int print_completion(const program *p, const char *shell)
{
    if (strcmp(shell, "zsh") == 0)
        print_zsh(p);
    else
        print_bash(p);
    return finish_stdout();
}

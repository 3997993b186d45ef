/* --help, printed out of the tables of options. */
#include "common/common.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMN = 30, WIDTH = 80, WIDE = 98 };

/* Words of `text` from column `at` on, broken before `width`; lines begin at `indent`. */
static void print_wrapped(const char *text, int at, int indent, int width)
{
    int column = at;
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (column > indent && column + 1 + len > width) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
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

/* Texts call a program by its own name: here it may have another one. A command of its own, which
 * both end with, is there once. */
static void print_named(const program *p, const char *text)
{
    const size_t n = strlen(p->tool);
    const char *word = strrchr(p->name, ' ');
    const size_t len = word ? strlen(word) : 0;
    for (const char *at; (at = strstr(text, p->tool));) {
        const bool whole = (at == text || strchr(" \n(", at[-1])) && strchr(" \n", at[n]);
        printf("%.*s%s", (int)(at - text), text, whole ? p->name : p->tool);
        text = at + n;
        if (whole && len && !strncmp(text, word, len) && strchr(" \n", text[len]))
            text += len;
    }
    printf("%s", text);
}

/* ---- options --------------------------------------------------------------------------------- */

/* The words of "with A, B: text", or NULL: an option of all reports and commands. *text: the rest.
 */
static const char *words_of_help(const char *help, size_t *len, const char **text)
{
    static const char with[] = "with ";
    const size_t n = strcspn(help, ":");
    *text = help;
    if (strncmp(help, with, sizeof with - 1) != 0 || !help[n])
        return NULL;
    *len = n - (sizeof with - 1);
    *text = help + n + 2;
    return help + sizeof with - 1;
}

bool option_is_for(const opt *o, const char *word)
{
    const char *text;
    size_t len, own;
    const char *at = o->help ? words_of_help(o->help, &len, &text) : NULL;
    if (!*word)
        return at;
    for (; at && *at != ':'; at += own + strspn(at + own, ", ")) {
        own = strcspn(at, ",:");
        if (own == strlen(word) && !memcmp(at, word, own))
            return true;
    }
    return false;
}

static void print_option(const opt *o, const char *text, int width)
{
    int n = o->letter ? printf("  -%c, --%s", o->letter, o->name) : printf("      --%s", o->name);
    if (o->arg)
        n += printf(opt_takes_value(o) ? " %s" : "%s", o->arg);
    if (n > COLUMN - 2) {
        putchar('\n');
        n = 0;
    }
    printf("%*s", COLUMN - n, "");
    print_wrapped(text, COLUMN, COLUMN, width);
}

static void print_group(const opt_group *g)
{
    printf("\n%s:\n", g->title);
    for (const opt *o = g->options; o->kind != OPT_END; o++)
        if (o->help)
            print_option(o, o->help, WIDTH);
}

/* Groups that every tool has: in the first help they are a line each. */
static bool is_shared(const opt_group *g)
{
    static const opt_group *const shared[] = {&input_group, &names_group, &filter_group,
                                              &run_group,   &team_group,  &other_group};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (g == shared[i])
            return true;
    return false;
}

/* "Filters: --start --end ...", of options that the program does not explain elsewhere. */
static void print_names_of(const program *p, const opt_group *g)
{
    char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text, "%s:", g->title), words;
    for (const opt *o = g->options; o->kind != OPT_END; o++) {
        const char *at = p->first ? strstr(p->first, o->name) : NULL, *rest;
        const bool first =
            at && (at == p->first || at[-1] == '|') && strchr("|", at[strlen(o->name)]);
        const bool of_word = o->help && p->help_about && words_of_help(o->help, &words, &rest);
        if (o->help && !first && !of_word && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, " --%s", o->name);
    }
    printf("  ");
    print_wrapped(text, 2, 4, WIDE);
}

/* What it does in short: up to the first semicolon or parenthesis. */
static void print_first(const program *p)
{
    printf("\nOptions:\n");
    for (const char *at = p->first; *at; at += strcspn(at, "|"), at += *at == '|') {
        char name[64], text[256];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
        const opt *o = options_find(p, name);
        size_t n = strcspn(o->help, ";(");
        while (n && o->help[n - 1] == ' ')
            n--;
        snprintf(text, sizeof text, "%.*s", (int)n, o->help);
        print_option(o, text, WIDE);
    }
}

static void print_options(const program *p)
{
    if (p->first)
        print_first(p);
    for (const opt_group *const *g = p->groups; *g && !p->first; g++)
        if (!is_shared(*g) && (*g)->title)
            print_group(*g);
    if (!*p->groups)
        return;
    printf("\nMore (--help=all explains all options, --help=filters those of a line):\n");
    for (const opt_group *const *g = p->groups; *g; g++)
        if ((*g)->title && (p->first || is_shared(*g)))
            print_names_of(p, *g);
}

/* Options that are accepted under these names as well, or without effect. */
static void print_aliases(const program *p)
{
    const char *name, *is;
    printf("Accepted as well, so that command lines for other tools work:\n");
    for (size_t i = 0; (name = options_spelling(p, i, &is)); i++)
        printf("      --%-26s the same as %s\n", name, is);
    opt_cursor c = {0};
    for (const opt *o; (o = options_next(p, &c));)
        if (!o->help)
            print_option(o, o->kind == OPT_IGNORED ? "without effect" : "see the manual", WIDTH);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Prints the lines of `text` that call the word, each behind `indent`; false: none does. */
static bool print_calls(const program *p, const char *word, const char *text, const char *indent)
{
    char call[64], line[256];
    bool any = false;
    snprintf(call, sizeof call, "%s %s ", p->tool, word);
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        snprintf(line, sizeof line, "%.*s\n", (int)strcspn(text, "\n"), text);
        const char *found = strstr(line, call);
        if (!found)
            continue;
        printf("%s", indent);
        print_named(p, found);
        any = true;
    }
    return any;
}

void print_help_part(const program *whole, const char *word, const char *sentence,
                     void (*more)(const char *word))
{
    program part = *whole;
    const program *p = &part;
    const bool command = part.part && !strcmp(part.part->word, word);
    bool own = false;
    if (command)
        part.name = part.called;
    printf("Usage: ");
    if (!print_calls(p, word, p->synopsis, ""))
        printf("%s%s%s [OPTION]... INPUT...\n", p->name, command ? "" : " ", command ? "" : word);
    printf("%c%s.\n", toupper(*sentence), sentence + 1);
    if (more)
        more(word);
    opt_cursor c = {0};
    for (const opt *o; (o = options_next(p, &c));) {
        const char *text;
        size_t len;
        if (!option_is_for(o, word))
            continue;
        printf("%s", own ? "" : "\nOptions:\n");
        own = true;
        words_of_help(o->help, &len, &text);
        print_option(o, text, WIDTH);
    }
    printf("\nExamples:\n");
    if (!print_calls(p, word, p->examples, "  "))
        printf("  %s%s%s 4711_results.db\n", p->name, command ? "" : " ", command ? "" : word);
    printf("\n%s --help has the options of all reports, %s-%s(1) says more.\n", whole->name,
           p->tool, word);
}

static void print_commands(const program *p)
{
    const char *group = NULL;
    int width = 0;
    for (int printing = 0; printing < 2; printing++)
        for (const subcommand *c = p->commands; c && c->program; c++) {
            const int n = (int)(strlen(c->name) + strlen(c->example ? c->example : "")) + 1;
            width = c->group && n > width ? n : width;
            if (!printing || !c->group)
                continue;
            if (!group || strcmp(group, c->group) != 0)
                printf("\n%s:\n", group = c->group);
            printf("  %s %s %-*s  %s\n", p->name, c->name, width - (int)strlen(c->name) - 1,
                   c->example, c->help);
        }
}

static void print_examples(const program *p, int most)
{
    const char *end = p->examples;
    while (*end && most-- > 0)
        end += strcspn(end, "\n") + 1;
    char *some = must_have(strndup(p->examples, (size_t)(end - p->examples)));
    printf("\nExamples:\n");
    print_named(p, some);
    free(some);
}

int print_help(const program *p, const char *about)
{
    const bool all = about && !strcmp(about, "all");
    const char *word = p->part ? p->part->word : about;
    if (about && !strcmp(about, "aliases")) {
        print_aliases(p);
        return finish_stdout();
    }
    for (const opt_group *const *g = p->groups; about && *g; g++)
        if ((*g)->title && !strcasecmp((*g)->title, about)) {
            printf("Options of %s:\n", p->name);
            print_group(*g);
            return finish_stdout();
        }
    if (word && !all && p->help_about && p->help_about(p, word))
        return finish_stdout();
    printf("Usage: %s ", p->name);
    print_named(p, p->synopsis);
    printf("\n%s\n", p->purpose);
    print_commands(p);
    for (const opt_group *const *g = p->groups; *g && all; g++)
        if ((*g)->title)
            print_group(*g);
    if (!all && !p->commands)
        print_options(p);
    if (p->examples)
        print_examples(p, p->first && !all ? 3 : INT_MAX);
    if (!p->first || all)
        printf(
            "\nExit codes: 0 done; 1 done, but records were left out or repaired (and counted);\n2 "
            "wrong usage; 3 input error; 4 output error; 5 internal error; 6 a limit is exceeded.");
    printf("\n%s(1) and rocline(7) say more.\n", p->tool);
    return finish_stdout();
}

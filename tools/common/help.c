/* --help, printed out of the tables of options. */
#include "common/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { COLUMN = 30, WIDTH = 80 };

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

/* Prints the lines of `text` that call the command, each behind `indent`; false: none does. */
static bool print_calls(const program *p, const char *text, const char *indent)
{
    char call[64], line[256];
    bool any = false;
    snprintf(call, sizeof call, "%s %s ", p->tool, p->part->word);
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

/* The help of an option of other commands begins with their names: "with NAME: ...". */
static bool is_of_part(const program *p, const opt *o)
{
    const size_t n = strcspn(o->help, ":");
    return !p->part || strncmp(o->help, "with ", 5) != 0 || !o->help[n] ||
           memmem(o->help, n, p->part->word, strlen(p->part->word));
}

/* A word of a program that is a command has help of its own: what concerns it. */
int print_help(const program *whole)
{
    program part = *whole;
    const program *p = &part;
    if (part.part)
        part.name = part.called;
    int width = 0;
    printf("Usage: ");
    if (!p->part) {
        printf("%s ", p->name);
        print_named(p, p->synopsis);
        printf("\n%s\n", p->purpose);
    } else {
        if (!print_calls(p, p->synopsis, ""))
            printf("%s [OPTION]... INPUT...\n", p->name);
        printf("%c%s.\n", toupper(*p->part->help), p->part->help + 1);
    }
    for (const subcommand *c = p->commands; c && c->program; c++)
        width = (int)strlen(c->name) > width ? (int)strlen(c->name) : width;
    if (p->commands)
        printf("\nCommands:\n");
    for (const subcommand *c = p->commands; c && c->program; c++)
        printf("  %-*s  %s\n", width, c->name, c->help);
    for (const opt_group *const *g = p->groups; *g; g++) {
        printf("\n%s:\n", (*g)->title);
        for (const opt *o = (*g)->options; o->kind != OPT_END; o++) {
            if (!is_of_part(p, o))
                continue;
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
    printf("\nExamples:\n");
    if (!p->part)
        print_named(p, p->examples);
    else
        print_calls(p, p->examples, "  ");
    printf("\nExit codes: 0 done; 1 done, but records were left out or repaired (and counted);\n2 "
           "wrong usage; 3 input error; 4 output error; 5 internal error.\nSee %s(1) and "
           "rocline(7) for more.\n",
           p->tool);
    return finish_stdout();
}

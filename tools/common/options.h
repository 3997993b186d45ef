/* One table of options per tool drives parsing, --help, and shell completion. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rocline.h"

/* Returns p; if it is NULL, memory is out: reports that, and exits with ROCL_INTERNAL. */
void *must_have(void *p);

/* A growing list of strings; v is NULL-terminated, or NULL while the list is empty. */
typedef struct strings {
    const char **v;
    size_t n;
} strings;

void strings_add(strings *s, const char *text);

typedef enum opt_kind {
    OPT_END,    /* closes a table */
    OPT_FLAG,   /* bool: set */
    OPT_SET,    /* unsigned: becomes lo */
    OPT_BOOL,   /* unsigned: True|yes|1 gives hi, all else lo, said if not no|0 */
    OPT_STRING, /* const char * */
    OPT_MAYBE,  /* const char *: "--name=VALUE", or "" without a value; arg is "[=VALUE]" */
    OPT_LIST,   /* strings: every use adds one */
    OPT_WORDS,  /* strings: every use adds some, separated by commas */
    OPT_MANY, /* the same, of `choices` only, and words of them that follow belong to it as well */
    OPT_NUMBER,  /* unsigned, or int where lo is negative: lo..hi, and the words in `choices`, if
                  * there are any, for the numbers from hi + 1 on */
    OPT_SIZE,    /* size_t: bytes, with k, m or g */
    OPT_CHOICE,  /* unsigned: index of the word in `choices` */
    OPT_FURTHER, /* further: the same, plus lo; choices that need a value of their own say "word V"
                  */
    OPT_IGNORED, /* strings: "--name", with a value when there is `arg`: a number if lo < hi */
    OPT_HELP,    /* these three end the run; this one may be followed by what it is about */
    OPT_VERSION,
    OPT_COMPLETION,
} opt_kind;

/* A choice, and its value: "--opt word VALUE", "--opt=word VALUE" or "--opt word=VALUE". */
typedef struct further {
    unsigned choice;
    const char *value; /* NULL: the choice has none */
} further;

typedef struct opt {
    const char *name; /* the long name, without dashes */
    char letter;      /* '\0': none */
    opt_kind kind;
    size_t to;           /* offsetof the value in the tool's struct */
    const char *arg;     /* what help calls the value; FILE and DIR are completed as such */
    const char *choices; /* "a|b|c": nothing else is accepted, except numbers */
    int lo, hi;
    const char *help; /* "with A, B: ...": only reports or commands A and B have it. NULL: it is
                       * accepted, but neither in help nor in completion */
} opt;

/* Is the next word its value, when that is not behind a "="? */
static inline bool opt_takes_value(const opt *o)
{
    return o->arg && o->kind != OPT_MAYBE && o->kind != OPT_HELP;
}

/* The words of an option that takes any, and offers some: alone, or several with commas. */
typedef struct opt_words {
    const char *option; /* NULL ends a list */
    rocl_word_fn *words;
} opt_words;

typedef struct opt_group {
    const char *title;
    const opt *options; /* ends with OPT_END */
} opt_group;

typedef struct program program;

/* A command of a program that has commands, as rocline does. */
typedef struct subcommand {
    const char *name;
    const char *aliases;    /* further names of it, "a|b", or NULL */
    const program *program; /* a row with NULL ends the list */
    const char *word;       /* the first argument of the program, or NULL */
    const char *help;       /* one line */
    const char *group;      /* the heading in help; NULL: it is not there */
    const char *example;    /* arguments */
} subcommand;

struct program {
    const char *name; /* what help calls it, and messages: "rocline stats" */
    const char
        *called; /* name for messages, if it was called by another: "rocline doctor"; or NULL */
    const subcommand *part; /* help is of this command only, a word of the program; or NULL */
    const char *tool;       /* the same with its own name: that of its manual page: "rocstats" */
    const char *synopsis;   /* after the name */
    const char *purpose;    /* one sentence */
    /* What it does with its command line: the exit code. `p` is the program, perhaps under another
     * name. */
    int (*run)(const program *p, int argc, char **argv);
    const opt_group *const *groups; /* NULL-terminated */
    const char *first;              /* "a|b": the options of the first help; NULL: all of its own */
    /* Prints help about a word, such as a report; false: there is none. NULL: of no word. */
    bool (*help_about)(const program *p, const char *word);
    rocl_word_fn *help_words;    /* those that help_about knows */
    const char *examples;        /* lines of help, indented */
    size_t operands;             /* offsetof the strings that operands are added to */
    bool alone;                  /* it may be called without an input */
    bool command;                /* operands are a command: options end where it begins */
    const opt_words *words;      /* of options of its own, or NULL */
    rocl_word_fn *operand_words; /* words of operands that are not files, or NULL */
    const subcommand *commands;  /* the first operand is one of them; NULL: it has none */
};

/* Fills `values` as the tables say. Returns -1 to go on, else the exit code: 0 after --help and the
 * like, 2 after reporting an error in the command line. */
int options_parse(const program *p, void *values, int argc, char **argv);
/* Gives a notice of a word that was taken for False, if there was one. */
void options_report_unclear(void);

/* Is it one of the words? */
bool is_word_of(rocl_word_fn *words, const char *word);
/* The index of a word among the choices of an option; -1: it is none. */
int options_choice(const opt *o, const char *word);
/* Is an option only for some reports or commands ("")? Is it for this one? */
bool option_is_for(const opt *o, const char *word);
/* NULL: the tool has no option of this name. */
const opt *options_find(const program *p, const char *name);
/* Visits every option: start with {0}, stop at NULL. */
typedef struct opt_cursor {
    size_t group, index;
} opt_cursor;
const opt *options_next(const program *p, opt_cursor *c);
/* The i-th spelling of an option that is accepted beside its own, or NULL; *is: the option, or the
 * option and its value. */
const char *options_spelling(const program *p, size_t i, const char **is);
/* Commands whose options are looked up for a word that a program does not know. */
void options_know(const subcommand *commands);
/* If a word is the name of a command, reports that as a usage error, and returns the exit code; -1:
 * it is none. */
int options_refuse_command(const char *word);
/* Does the command line give the value of an option, perhaps by another name? */
bool options_given(const opt *o);
/* Would a command line with this value (NULL: none) set the same as `values` has? For a value that
 * the option does not accept, reports a usage error and returns the exit code. */
typedef enum opt_outcome { OPT_SAME = -1, OPT_OTHER = -2 } opt_outcome;
int options_compare(const program *p, const opt *o, void *values, const strings *words);
/* Sets it as a command line with these values would. -1, or the exit code. */
int options_store(const program *p, const opt *o, void *values, const strings *words);
/* What usage errors begin with from here on: a place in a file. "": nothing. */
void usage_error_at(const char *place);

/* "PROG: text" and where help is, on stderr; returns 2. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* All of it, or what is asked for: "all", "aliases", a group of options, or a word of the program
 * ("" or NULL: the first screen). */
int print_help(const program *p, const char *about);
/* Help of one word of a program: how it is called, a sentence, then what `more` prints (NULL:
 * nothing), and the options that are only for this word. */
void print_help_part(const program *p, const char *word, const char *sentence,
                     void (*more)(const char *word));
/* completion.c: for "bash", "zsh" or "fish". */
int print_completion(const program *p, const char *shell);
/* The exit code that tells whether standard output took everything. */
int finish_stdout(void);

/* Parses a command line by the tables of options, and reports errors in it. */
#include "common/options.h"

#include "common/messages.h"
#include "rocline.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <strings.h>

void *must_have(void *p)
{
    if (!p) {
        msg_error("out of memory");
        rocl_abandon_outputs(); /* another thread may be at one */
        exit(ROCL_INTERNAL);
    }
    return p;
}

void strings_add(strings *s, const char *text)
{
    s->v = must_have(realloc(s->v, (s->n + 2) * sizeof *s->v));
    s->v[s->n++] = text;
    s->v[s->n] = NULL;
}

static char place_of_error[512];

void usage_error_at(const char *place)
{
    snprintf(place_of_error, sizeof place_of_error, "%s", place);
}

int usage_error(const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    msg_error("%s%s%s", place_of_error, *place_of_error ? ": " : "", text);
    msg_plain("Try '%s --help'.", msg_program());
    return ROCL_USAGE;
}

int finish_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return ROCL_OK;
    if (errno != EPIPE) /* the reader closed the pipe */
        msg_error("standard output: cannot write: %s", strerror(errno));
    return ROCL_OUTPUT;
}

bool is_word_of(rocl_word_fn *words, const char *word)
{
    const char *one;
    size_t i = 0;
    while ((one = words(NULL, i)) && strcmp(one, word) != 0)
        i++;
    return one;
}

/* ---- finding an option ----------------------------------------------------------------------- */

const opt *options_next(const program *p, opt_cursor *c)
{
    for (; p->groups[c->group]; c->group++, c->index = 0) {
        const opt *o = &p->groups[c->group]->options[c->index];
        if (o->kind != OPT_END) {
            c->index++;
            return o;
        }
    }
    return NULL;
}

static const char *option_word(const void *ctx, size_t i)
{
    opt_cursor c = {0};
    const opt *o = options_next(ctx, &c);
    while (o && (!o->help || i-- > 0))
        o = options_next(ctx, &c);
    return o ? o->name : NULL;
}

/* Spellings of AMD's tools, and older ones: accepted by programs that have the option. */
static const struct spelling {
    const char *name, *option;
    const char *value; /* NULL: it is given */
} spellings[] = {{"advice", "findings", NULL},
                 {"annotate-args", "args", NULL},
                 {"by-agent", "by", "agent"},
                 {"by-dims", "by", "dims"},
                 {"by-dispatch", "by", "dispatch"},
                 {"by-marker", "by", "marker"},
                 {"by-rank", "by", "rank"},
                 {"by-stream", "by", "stream"},
                 {"directory", "output-path", NULL},
                 {"kinds", "include", NULL},
                 {"layout", "style", NULL},
                 {"region-categories", "domain", NULL},
                 {"step", "steps", NULL},
                 {"topn", "top", NULL}};

enum { SPELLINGS = sizeof spellings / sizeof *spellings };

static bool is_name(const char *name, const char *word, size_t len)
{
    size_t n = 0; /* of letters that are alike: "text_trace" is as good as "text-trace" */
    while (n < len && name[n] && name[n] == (word[n] == '_' ? '-' : word[n]))
        n++;
    return n == len && !name[n];
}

const char *options_spelling(const program *p, size_t i, const char **is)
{
    static char text[64];
    for (size_t k = 0; k < SPELLINGS; k++) {
        const struct spelling *s = &spellings[k];
        if (!options_find(p, s->option) || options_find(p, s->name) || i-- > 0)
            continue;
        snprintf(text, sizeof text, "--%s%s%s", s->option, s->value ? " " : "",
                 s->value ? s->value : "");
        *is = text;
        return s->name;
    }
    return NULL;
}

static const subcommand *known_commands;

void options_know(const subcommand *commands)
{
    known_commands = commands;
}

/* The command that has an option of this whole name. NULL: none that is known. */
static const char *find_owner(const char *word, size_t len)
{
    for (const subcommand *s = known_commands; s && s->program; s++) {
        opt_cursor c = {0};
        for (const opt *o; (o = options_next(s->program, &c));)
            if (o->help && is_name(o->name, word, len))
                return s->name;
    }
    return NULL;
}

int options_refuse_command(const char *word)
{
    static const char *const commands[] = {
        "check", "compare", "convert", "correlate", "csv",     "doctor", "export", "info",  "json",
        "merge", "otf2",    "pftrace", "query",     "recipes", "record", "show",   "stats", "view"};
    if (access(word, F_OK) != 0)
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (!strcmp(word, commands[i]))
                return usage_error("\"%s\" is a command of its own: rocline %s", word, word);
    return -1;
}

/* A whole name, or a unique beginning; *value: what another spelling stands for, if it has one.
 * NULL after reporting an error. */
static const opt *find_name(const program *p, const char *word, size_t len, const char **value)
{
    const opt *found = NULL, *other = NULL, *hidden = NULL;
    opt_cursor c = {0};
    size_t hiding = 0; /* options that are not in help and begin so */
    *value = NULL;
    for (const opt *o; (o = options_next(p, &c));) {
        size_t n = 0;
        while (n < len && o->name[n] == (word[n] == '_' ? '-' : word[n]))
            n++;
        if (n == len && !o->name[len])
            return o;
        if (n < len)
            continue;
        if (!o->help) {
            hidden = o;
            hiding++;
        } else if (found)
            other = o;
        else
            found = o;
    }
    for (size_t i = 0; i < SPELLINGS; i++)
        if (is_name(spellings[i].name, word, len) &&
            (found = options_find(p, spellings[i].option))) {
            *value = spellings[i].value;
            return found;
        }
    if (found && len && !other)
        return found;
    if (!found && len && hiding == 1)
        return hidden;
    const char *owner = found ? NULL : find_owner(word, len);
    const char *near = found && len ? NULL : rocl_nearest_word(word, len, option_word, p);
    if (owner)
        usage_error("unknown option --%.*s; rocline %s has it", (int)len, word, owner);
    else if (near)
        usage_error("unknown option --%.*s; did you mean --%s?", (int)len, word, near);
    else if (!found || !len)
        usage_error("unknown option --%.*s", (int)len, word);
    else
        usage_error("--%.*s can be --%s or --%s", (int)len, word, found->name, other->name);
    return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void store_unsigned(void *to, unsigned value)
{
    memcpy(to, &value, sizeof value); /* an enum or an int is stored alike */
}

/* The choice of "a|b VALUE|c" that a word is: its index, and whether it needs a value. -1: none. */
static int choice_index(const char *choices, const char *word, size_t len, bool *needs)
{
    int index = 0;
    for (const char *p = choices; *p; index++) {
        size_t n = strcspn(p, "|"), own = strcspn(p, " |");
        *needs = own < n;
        if (own == len && strncasecmp(p, word, len) == 0)
            return index;
        p += n + (p[n] == '|');
    }
    return -1;
}

int options_choice(const opt *o, const char *word)
{
    bool needs;
    return choice_index(o->choices, word, strlen(word), &needs);
}

/* The i-th of "a|b VALUE|c", without its value. */
static const char *choice_word(const void *choices, size_t i)
{
    static char word[64];
    const char *p = choices;
    for (; *p && i > 0; i--)
        p += strcspn(p, "|") + (p[strcspn(p, "|")] == '|');
    snprintf(word, sizeof word, "%.*s", (int)strcspn(p, " |"), p);
    return *p ? word : NULL;
}

/* Values that another command takes. */
static const struct {
    const char *option, *values, *command;
} elsewhere[] = {
    {"output-format", "rocpd|db|database", "rocline merge"},
    {"output-format", "kineto|rocprofv3|rocprof|chrome", "rocline json --style"},
    {"output-format", "text|txt|md|markdown|tsv|table", "rocline stats --format"},
    {"format", "pftrace|perfetto|otf2", "rocline convert -f"},
    {"format", "parquet|arrow|arrows|jsonl", "rocline convert -f"},
};

static int unknown_choice(const opt *o, const char *value)
{
    bool needs;
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (!strcmp(o->name, elsewhere[i].option) &&
            choice_index(elsewhere[i].values, value, strlen(value), &needs) >= 0)
            return usage_error("--%s: \"%s\" is not one of %s; %s writes it", o->name, value,
                               o->choices, elsewhere[i].command);
    const char *near = rocl_nearest_word(value, strcspn(value, "="), choice_word, o->choices);
    if (!near)
        return usage_error("--%s: \"%s\" is not one of %s", o->name, value, o->choices);
    return usage_error("--%s: \"%s\" is not one of %s; did you mean %s?", o->name, value,
                       o->choices, near);
}

static int bad_value(const opt *o, const char *value, const char *expected)
{
    return usage_error("--%s: \"%s\" is not %s", o->name, value, expected);
}

/* The last word that neither means true nor false: said when it is known whether -q is given. */
static const char *unclear_value, *unclear_option;

void options_report_unclear(void)
{
    if (unclear_value)
        msg_notice("--%s: \"%s\" is read as False", unclear_option, unclear_value);
}

static void store_bool(const opt *o, void *to, const char *value)
{
    static const char *const yes[] = {"true", "t", "yes", "y", "on", "1"};
    static const char *const no[] = {"false", "f", "no", "n", "off", "0"};
    bool is_yes = false, is_no = false;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        is_yes |= strcasecmp(value, yes[i]) == 0;
        is_no |= strcasecmp(value, no[i]) == 0;
    }
    store_unsigned(to, (unsigned)(is_yes ? o->hi : o->lo));
    if (!is_yes && !is_no) { /* AMD's tools take any word that is not true for false, silently */
        unclear_value = value;
        unclear_option = o->name;
    }
}

/* -1, and the number is in *n; else the exit code. */
static int read_number(const opt *o, long *n, const char *value)
{
    char *end;
    bool needs;
    const int word = o->choices ? choice_index(o->choices, value, strlen(value), &needs) : -1;
    errno = 0;
    *n = word < 0 ? strtol(value, &end, 10) : (long)o->hi + 1 + word;
    if (word < 0 && (end == value || *end || errno || *n < o->lo || *n > o->hi)) {
        char range[64];
        snprintf(range, sizeof range, "a number from %d to %d%s%s", o->lo, o->hi,
                 o->choices ? " or one of " : "", o->choices ? o->choices : "");
        return bad_value(o, value, range);
    }
    return -1;
}

/* What has no effect is checked all the same, and listed once. */
static int store_ignored(const opt *o, strings *to, const char *value)
{
    long n;
    const int code = o->lo < o->hi ? read_number(o, &n, value) : -1;
    for (size_t i = 0; i < to->n && code < 0; i++)
        if (strcmp(to->v[i], o->name) == 0)
            return -1;
    if (code < 0)
        strings_add(to, o->name);
    return code;
}

/* "m", "M", "MB" and "MiB" are one. */
static int store_size(const opt *o, void *to, const char *value)
{
    static const char letters[] = "bkmgt"; /* each 1024 times the one before */
    char *suffix;
    errno = 0;
    unsigned long long n = strtoull(value, &suffix, 10);
    const char *at = *suffix ? strchr(letters, tolower((unsigned char)*suffix)) : letters;
    const char *rest = *suffix ? suffix + 1 : "";
    bool known =
        at && (!*rest || (at > letters && (!strcasecmp(rest, "b") || !strcasecmp(rest, "ib"))));
    int shift = known ? (int)(at - letters) * 10 : 0;
    if (!known || errno || !isdigit((unsigned char)*value) || n > (SIZE_MAX >> shift))
        return bad_value(o, value, "a size such as 64m or 2g");
    size_t size = (size_t)n << shift;
    memcpy(to, &size, sizeof size);
    return -1;
}

static int store_words(const opt *o, strings *to, const char *value)
{
    size_t before = to->n;
    for (const char *at = value; *at;) {
        size_t len = strcspn(at, ",");
        if (len > 0) {
            char *word = must_have(malloc(len + 1));
            memcpy(word, at, len);
            word[len] = '\0';
            strings_add(to, word);
        }
        at += len + (at[len] == ',');
    }
    return to->n > before ? -1 : bad_value(o, value, "a list of words separated by commas");
}

typedef struct words {
    char **v;
    int n, next;
} words;

/* The word after an option that needs one. A separate value cannot begin with two dashes: far more
 * often a value was forgotten (--opt=--value still works). */
static const char *value_word(words *w)
{
    if (w->next >= w->n || strncmp(w->v[w->next], "--", 2) == 0)
        return NULL;
    return w->v[w->next++];
}

/* "word" and the next word of the command line, or "word=VALUE". */
static int store_further(const opt *o, further *to, const char *value, words *w)
{
    bool needs;
    size_t len = strcspn(value, "=");
    int index = choice_index(o->choices, value, len, &needs);
    if (index < 0 || (value[len] && !needs))
        return unknown_choice(o, value);
    const char *more = value[len] ? value + len + 1 : needs ? value_word(w) : NULL;
    if (needs && !(more && *more))
        return usage_error("--%s %.*s needs a value: %s", o->name, (int)len, value, o->choices);
    *to = (further){.choice = (unsigned)(o->lo + index), .value = more};
    return -1;
}

/* Are all words of a list among the choices? */
static bool are_choices(const opt *o, const char *list)
{
    bool needs, all = *list != '\0';
    for (const char *at = list; *at && all;) {
        const size_t len = strcspn(at, ",");
        all = choice_index(o->choices, at, len, &needs) >= 0;
        at += len + (at[len] == ',');
    }
    return all;
}

/* "a,b", "a b", or both. */
static int store_many(const opt *o, strings *to, const char *value, words *w)
{
    const size_t before = to->n;
    bool needs;
    int code = store_words(o, to, value);
    for (size_t i = before; i < to->n && code < 0; i++)
        if (choice_index(o->choices, to->v[i], strlen(to->v[i]), &needs) < 0)
            code = unknown_choice(o, to->v[i]);
    while (code < 0 && w && w->next < w->n && are_choices(o, w->v[w->next]))
        code = store_words(o, to, w->v[w->next++]);
    return code;
}

/* `value` is NULL for an option without one. Returns -1 to go on, else the exit code. */
static int store_option(const program *p, const opt *o, char *values, const char *value, words *w)
{
    void *to = values + o->to;
    bool needs;
    int choice = 0, code;
    long number;
    if (value && o->choices && o->kind != OPT_FURTHER && o->kind != OPT_MANY &&
        o->kind != OPT_NUMBER)
        choice = choice_index(o->choices, value, strlen(value), &needs);
    if (choice < 0)
        return unknown_choice(o, value);
    switch (o->kind) {
    case OPT_FLAG:
        *(bool *)to = true;
        return -1;
    case OPT_SET:
        store_unsigned(to, (unsigned)o->lo);
        return -1;
    case OPT_BOOL:
        store_bool(o, to, value);
        return -1;
    case OPT_STRING:
        /* An empty name is mostly a variable that is not set; "" before a slash would be the root.
         */
        if (!*value &&
            (!strcmp(o->arg, "NAME") || !strcmp(o->arg, "FILE") || !strcmp(o->arg, "DIR")))
            return usage_error("--%s: the name is empty", o->name);
        *(const char **)to = value;
        return -1;
    case OPT_MAYBE:
        *(const char **)to = value ? value : "";
        return -1;
    case OPT_LIST:
        strings_add(to, value);
        return -1;
    case OPT_WORDS:
        return store_words(o, to, value);
    case OPT_MANY:
        return store_many(o, to, value, w);
    case OPT_NUMBER:
        code = read_number(o, &number, value);
        if (code < 0)
            store_unsigned(to, (unsigned)number);
        return code;
    case OPT_SIZE:
        return store_size(o, to, value);
    case OPT_CHOICE:
        store_unsigned(to, (unsigned)choice);
        return -1;
    case OPT_FURTHER:
        return store_further(o, to, value, w);
    case OPT_IGNORED:
        return store_ignored(o, to, value);
    case OPT_HELP:
        return print_help(p, value);
    case OPT_VERSION:
        printf("%s, %s\n", msg_program(), rocl_version_details());
        return finish_stdout();
    case OPT_COMPLETION:
        return print_completion(p, value);
    default:
        return ROCL_INTERNAL;
    }
}

/* ---- options that do not come from the command line ------------------------------------------ */

enum { GIVEN_MAX = 128 };
static const opt *given[GIVEN_MAX]; /* on the command line */
static size_t given_count;

static int store_given(const program *p, const opt *o, char *values, const char *value, words *w)
{
    if (given_count < GIVEN_MAX && !options_given(o))
        given[given_count++] = o;
    return store_option(p, o, values, value, w);
}

const opt *options_find(const program *p, const char *name)
{
    opt_cursor c = {0};
    const opt *o;
    while ((o = options_next(p, &c)) && strcmp(o->name, name) != 0)
        ;
    return o;
}

bool options_given(const opt *o)
{
    for (size_t i = 0; i < given_count; i++)
        if (given[i] == o || (given[i]->to == o->to && o->kind < OPT_IGNORED))
            return true;
    return false;
}

int options_store(const program *p, const opt *o, void *values, const strings *list)
{
    int code = list->n ? -1 : store_option(p, o, values, NULL, NULL);
    for (size_t i = 0; i < list->n && code < 0; i++)
        code = store_option(p, o, values, list->v[i], NULL);
    return code;
}

int options_compare(const program *p, const opt *o, void *values, const strings *list)
{
    union {
        bool flag;
        unsigned number;
        size_t size;
        const char *string;
        strings list;
    } fresh = {.list = {NULL, 0}};
    const opt same = {o->name, o->letter, o->kind, 0, o->arg, o->choices, o->lo, o->hi, o->help};
    const void *old = (const char *)values + o->to;
    int code = options_store(p, &same, &fresh, list);
    if (code >= 0)
        return code;
    bool equal;
    if (o->kind == OPT_STRING || o->kind == OPT_MAYBE) {
        const char *text = *(const char *const *)old;
        equal = text && !strcmp(text, fresh.string);
    } else if (o->kind == OPT_LIST || o->kind == OPT_WORDS || o->kind == OPT_MANY) {
        const strings *others = old;
        equal = others->n == fresh.list.n;
        for (size_t i = 0; equal && i < others->n; i++)
            equal = !strcmp(others->v[i], fresh.list.v[i]);
    } else if (o->kind == OPT_SIZE) {
        equal = *(const size_t *)old == fresh.size;
    } else {
        equal = o->kind == OPT_FLAG ? *(const bool *)old == fresh.flag
                                    : *(const unsigned *)old == fresh.number;
    }
    if (o->kind == OPT_LIST || o->kind == OPT_WORDS || o->kind == OPT_MANY)
        free(fresh.list.v);
    return equal ? OPT_SAME : OPT_OTHER;
}

/* ---- the command line ------------------------------------------------------------------------ */

/* The word that help is asked for: it follows the option, or stands before all options. */
static const char *help_about(const program *p, const char *values, const words *w)
{
    const strings *operands = (const strings *)(const void *)(values + p->operands);
    return operands->n                                 ? operands->v[0]
           : w->next < w->n && w->v[w->next][0] != '-' ? w->v[w->next]
                                                       : NULL;
}

/* -v, -vq, -j4, -j 4 */
static int parse_letters(const program *p, char *values, const char *word, words *w)
{
    for (const char *at = word; *at;) {
        opt_cursor c = {0};
        const opt *o;
        while ((o = options_next(p, &c)) && o->letter != *at)
            ;
        if (!o)
            return usage_error("unknown option -%c", *at);
        at++;
        const char *value = NULL;
        if (opt_takes_value(o)) {
            value = *at ? at : value_word(w);
            if (!value)
                return usage_error("-%c needs a value: -%c %s", o->letter, o->letter, o->arg);
            at = "";
        }
        if (o->kind == OPT_HELP)
            value = help_about(p, values, w);
        int code = store_given(p, o, values, value, w);
        if (code >= 0)
            return code;
    }
    return -1;
}

/* Is there help of this word: a group of options, or a word of the program? */
static bool has_help(const program *p, const char *word)
{
    bool has = !strcmp(word, "all") || !strcmp(word, "aliases");
    for (const opt_group *const *g = p->groups; *g && !has; g++)
        has = (*g)->title && !strcasecmp((*g)->title, word);
    return has || (p->help_words && is_word_of(p->help_words, word));
}

int options_parse(const program *p, void *values, int argc, char **argv)
{
    words w = {.v = argv, .n = argc, .next = 1};
    strings *operands = (strings *)(void *)((char *)values + p->operands);
    bool only_operands = false;
    while (w.next < w.n) {
        const char *word = w.v[w.next++];
        int code = -1;
        if (only_operands || word[0] != '-' || word[1] == '\0') {
            strings_add(operands, word);
            only_operands |= p->command;
        } else if (strcmp(word, "--") == 0)
            only_operands = true;
        else if (word[1] != '-')
            code = parse_letters(p, values, word + 1, &w);
        else {
            const size_t len = strcspn(word += 2, "=");
            const char *value = word[len] == '=' ? word + len + 1 : NULL, *meant;
            const opt *o = find_name(p, word, len, &meant);
            if (!o)
                return ROCL_USAGE;
            if (value && (!o->arg || meant))
                return usage_error("--%.*s takes no value", (int)len, word);
            value = meant ? meant : value;
            if (o->kind == OPT_HELP && value && !has_help(p, value))
                return usage_error("--help: there is no group of options \"%s\"; --help lists them",
                                   value);
            if (o->kind == OPT_HELP && !value)
                value = help_about(p, values, &w);
            if (!value && opt_takes_value(o) && !(value = value_word(&w)))
                return usage_error("--%s needs a value: --%s %s", o->name, o->name, o->arg);
            code = store_given(p, o, values, value, &w);
        }
        if (code >= 0)
            return code;
    }
    return -1;
}

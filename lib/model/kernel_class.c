/* What a kernel computes, by its name: rules in the order of their lines. Most are plain words, for
 * which no regular expression is needed. */
#include "model/kernel_class.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/regex.h"
#include "base/unpack.h"
#include "base/view.h"
#include "model/kernel-classes.h"

enum {
    TOLD_BY = 1024,      /* bytes of a name that are matched: the rest are types of arguments */
    NAME_MAX_BYTES = 32, /* of a class */
    FILE_MAX_BYTES = 1 << 20,
};

typedef struct class_rule {
    unsigned class;
    const char *word; /* in small letters, owned by the arena; NULL: an expression */
    size_t len;
    bool at_begin; /* the name begins with the word */
    regex_t expression;
} class_rule;

struct rocl_kernel_classes {
    const char *names[ROCL_CLASSES]; /* those of the file are owned by the arena */
    unsigned count;
    class_rule *rules;
    size_t rule_count, rule_cap;
    rocl_arena arena;
};

static const char *const shipped_names[ROCL_SHIPPED_CLASSES] = {
    [ROCL_CLASS_GEMM] = "GEMM",
    [ROCL_CLASS_ATTENTION] = "attention",
    [ROCL_CLASS_CONVOLUTION] = "convolution",
    [ROCL_CLASS_NORMALISATION] = "normalisation",
    [ROCL_CLASS_ELEMENTWISE] = "elementwise",
    [ROCL_CLASS_REDUCTION] = "reduction",
    [ROCL_CLASS_COMMUNICATION] = "communication",
    [ROCL_CLASS_COPY] = "copy",
    [ROCL_CLASS_TRITON] = "Triton",
    [ROCL_CLASS_OTHER] = "other",
};

/* ---- rules ----------------------------------------------------------------------------------- */

/* The class of this name, added if there is none. */
static rocl_status find_class(rocl_kernel_classes *k, rocl_view name, unsigned *class,
                              rocl_error *err)
{
    for (*class = 0; *class < k->count; ++*class)
        if (strlen(k->names[*class]) == name.n && !strncasecmp(k->names[*class], name.p, name.n))
            return ROCL_OK;
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !(name.p[i] && strchr("_-+./", name.p[i])))
            return rocl_fail(err, ROCL_INPUT, "the name of a class has letters, digits and _-+./");
    if (name.n > NAME_MAX_BYTES)
        return rocl_fail(err, ROCL_INPUT, "the name of a class has at most %d letters",
                         NAME_MAX_BYTES);
    if (k->count == ROCL_CLASSES)
        return rocl_fail(err, ROCL_INPUT,
                         "there are at most %d classes beside those of rocstats-kernels(1)",
                         ROCL_CLASSES - ROCL_SHIPPED_CLASSES);
    k->names[k->count] = rocl_arena_dup(&k->arena, name.p, name.n);
    return k->names[k->count++] ? ROCL_OK : rocl_fail_memory(err);
}

/* Is it a plain word, perhaps with ^ before it, which needs no regcomp()? */
static bool is_word(rocl_view pattern)
{
    const size_t from = *pattern.p == '^';
    for (size_t i = from; i < pattern.n; i++)
        if (!isalnum((unsigned char)pattern.p[i]) && pattern.p[i] != '_')
            return false;
    return pattern.n > from;
}

static rocl_status add_rule(rocl_kernel_classes *k, rocl_view name, rocl_view pattern,
                            rocl_error *err)
{
    class_rule r = {.class = 0};
    rocl_status st = find_class(k, name, &r.class, err);
    if (st != ROCL_OK)
        return st;
    char *text = rocl_arena_dup(&k->arena, pattern.p, pattern.n);
    if (!text || !ROCL_GROW(k->rules, k->rule_cap, k->rule_count + 1))
        return rocl_fail_memory(err);
    if (is_word(pattern)) {
        r.at_begin = *text == '^';
        for (char *p = text; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        r.word = text + r.at_begin;
        r.len = strlen(r.word);
    } else {
        st = rocl_regex_compile(&r.expression, "rule", text, text, REG_ICASE | REG_NOSUB, err);
    }
    if (st == ROCL_OK)
        k->rules[k->rule_count++] = r;
    return st;
}

static rocl_view trim_blanks(const char *from, const char *to)
{
    while (from < to && *from && strchr(" \t\r", *from))
        from++;
    while (from < to && to[-1] && strchr(" \t\r", to[-1]))
        to--;
    return rocl_view_between(from, to);
}

/* Lines of a class, blanks and a pattern; blank lines and those that begin with # have no rule. */
static rocl_status parse_rules(rocl_kernel_classes *k, const char *path, const char *text, size_t n,
                               rocl_error *err)
{
    const char *end = n ? text + n : text; /* of an empty file there is no text */
    rocl_status st = ROCL_OK;
    for (size_t number = 1; text < end && st == ROCL_OK; number++) {
        rocl_view line = rocl_view_until(rocl_view_between(text, end), '\n');
        text = line.p + line.n + (line.p + line.n < end);
        line = trim_blanks(line.p, line.p + line.n);
        if (!line.n || *line.p == '#')
            continue;
        size_t name = 0;
        while (name < line.n && line.p[name] != ' ' && line.p[name] != '\t')
            name++;
        const rocl_view pattern = trim_blanks(line.p + name, line.p + line.n);
        if (!pattern.n)
            st = rocl_fail(err, ROCL_INPUT, "a class and a regular expression are expected");
        else if (memchr(line.p, 0, line.n))
            st = rocl_fail(err, ROCL_INPUT, "the line holds a NUL");
        else
            st = add_rule(k, rocl_view_between(line.p, line.p + name), pattern, err);
        if (st != ROCL_OK)
            rocl_wrap(err, "%s, line %zu", path, number);
    }
    return st;
}

/* ---- classes --------------------------------------------------------------------------------- */

rocl_status rocl_kernel_classes_new(rocl_kernel_classes **classes, const char *path,
                                    rocl_error *err)
{
    char *text = NULL;
    size_t n = 0;
    rocl_kernel_classes *k = calloc(1, sizeof *k);
    *classes = NULL;
    if (!k)
        return rocl_fail_memory(err);
    memcpy(k->names, shipped_names, sizeof shipped_names);
    k->count = ROCL_SHIPPED_CLASSES;
    rocl_status st = path ? rocl_unpack_file(path, FILE_MAX_BYTES, &text, &n, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = parse_rules(k, path, text, n, err);
    if (st == ROCL_OK)
        st = parse_rules(k, "kernel-classes", shipped_rules, sizeof shipped_rules - 1, err);
    free(text);
    if (st == ROCL_OK)
        *classes = k;
    else
        rocl_kernel_classes_free(k);
    return st;
}

void rocl_kernel_classes_free(rocl_kernel_classes *k)
{
    for (size_t i = 0; k && i < k->rule_count; i++)
        if (!k->rules[i].word)
            regfree(&k->rules[i].expression);
    if (k) {
        free(k->rules);
        rocl_arena_free(&k->arena);
    }
    free(k);
}

unsigned rocl_kernel_class_count(const rocl_kernel_classes *k)
{
    return k->count;
}

const char *rocl_kernel_class_name(const rocl_kernel_classes *k, unsigned c)
{
    return k->names[c];
}

unsigned rocl_classify_kernel(const rocl_kernel_classes *k, const char *name, size_t n)
{
    char small[TOLD_BY + 1];
    n = n < TOLD_BY ? n : TOLD_BY;
    for (size_t i = 0; i < n; i++)
        small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
    small[n] = 0;
    for (const class_rule *r = k->rules, *past = r + k->rule_count; r < past; r++)
        if (!r->word      ? rocl_regex_matches(&r->expression, small, n)
            : r->at_begin ? n >= r->len && !memcmp(small, r->word, r->len)
                          : memmem(small, n, r->word, r->len) != NULL)
            return r->class;
    return ROCL_CLASS_OTHER;
}

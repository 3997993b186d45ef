/* Python's notation of regular expressions -> POSIX's extended one, for what both have. It is only
 * asked whether there is a match, so that lazy repetition is as good as greedy. */
#include "base/regex.h"
#include "legacy/rpt/rpt.h"

typedef struct translation {
    const char *p; /* the rest */
    rocl_buf to;
    bool any_case;
} translation;

/* Members of the class of an escape, to be put in brackets; NULL: it is no class. */
static const char *class_of(char c)
{
    return !c                ? NULL
           : strchr("dD", c) ? "0-9"
           : strchr("wW", c) ? "a-zA-Z0-9_"
           : strchr("sS", c) ? " \t\n\r\f\v"
                             : NULL;
}

/* The character that an escape is, 0 for escapes of other kinds. */
static char control_of(char c)
{
    static const char letters[] = "abfnrtv", controls[] = "\a\b\f\n\r\t\v";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? controls[at - letters] : 0;
}

/* A backslash outside brackets. */
static void translate_escape(translation *t)
{
    char c = *t->p++;
    const char *members = class_of(c);
    if (members) {
        rocl_buf_printf(&t->to, c < 'a' ? "[^%s]" : "[%s]", members);
    } else if (c == 'b' || c == 'B') { /* an extension of the C library */
        rocl_buf_printf(&t->to, "\\%c", c);
    } else if (c == 'A' || c == 'Z') {
        rocl_buf_byte(&t->to, c == 'A' ? '^' : '$');
    } else if (control_of(c)) {
        rocl_buf_byte(&t->to, (uint8_t)control_of(c));
    } else {
        /* The C library has meanings for some more letters and signs. */
        if (!strchr("<>`'", c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
            rocl_buf_byte(&t->to, '\\');
        rocl_buf_byte(&t->to, (uint8_t)c);
    }
}

/* A backslash is nothing special in brackets of POSIX; "[.x.]" takes the meaning from a character.
 */
static void translate_brackets(translation *t)
{
    rocl_buf_byte(&t->to, '[');
    if (*t->p == '^')
        rocl_buf_byte(&t->to, (uint8_t)*t->p++);
    for (bool first = true; *t->p && (first || *t->p != ']'); first = false) {
        char c = *t->p++;
        bool escaped = c == '\\' && *t->p;
        if (escaped)
            c = *t->p++;
        const char *members = escaped ? class_of(c) : NULL;
        if (members)
            rocl_buf_str(&t->to, members);
        else if (escaped && control_of(c))
            rocl_buf_byte(&t->to, (uint8_t)control_of(c));
        else if (escaped || c == '[')
            rocl_buf_printf(&t->to, "[.%c.]", c);
        else
            rocl_buf_byte(&t->to, (uint8_t)c);
    }
    if (*t->p)
        rocl_buf_byte(&t->to, (uint8_t)*t->p++);
}

rocl_status rpt_regex_compile(regex_t *re, const char *option, const char *text, rocl_error *err)
{
    translation t = {.p = text};
    /* "(?:" groups, "(?i)" at the begin. What else "(?" says is left for the compiler to refuse. */
    if (strncmp(t.p, "(?i)", 4) == 0) {
        t.any_case = true;
        t.p += 4;
    }
    while (*t.p) {
        char c = *t.p++;
        if (c == '\\' && *t.p)
            translate_escape(&t);
        else if (c == '[')
            translate_brackets(&t);
        else
            rocl_buf_byte(&t.to, (uint8_t)c);
        if (c == '(' && strncmp(t.p, "?:", 2) == 0)
            t.p += 2;
        if (strchr("*+?}", c) && *t.p == '?')
            t.p++;
    }
    rocl_buf_byte(&t.to, '\0');
    if (t.to.failed)
        return rocl_fail_memory(err);
    rocl_status st = rocl_regex_compile(re, option, text, (const char *)t.to.data,
                                        REG_NOSUB | (t.any_case ? REG_ICASE : 0), err);
    rocl_buf_free(&t.to);
    return st;
}

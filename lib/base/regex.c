/* Regular expressions of options: their cost is estimated before the C library sees them. */
#include "base/regex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The copies of atoms within open parentheses, and of the last atom alone, which a repetition
 * copies. */
typedef struct group {
    uint64_t atoms, last;
} group;

typedef struct estimate {
    group open[ROCL_REGEX_DEPTH + 1];
    size_t depth;
    uint64_t copies;
} estimate;

/* The end of the bracket expression that begins at p: "[]a]", "[^]a]" and "[[:alpha:]]" contain
 * brackets. */
static const char *skip_brackets(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    for (bool first = true; *p && (first || *p != ']'); first = false) {
        const char kind = *p == '[' && p[1] && strchr(".:=", p[1]) ? p[1] : 0;
        if (kind) {
            const char close[3] = {kind, ']', 0};
            const char *end = strstr(p + 2, close);
            p = end ? end + 1 : p;
        }
        p++;
    }
    return *p ? p + 1 : p;
}

/* How many copies "{m}", "{m,}" or "{m,n}" makes; 0: it is not an interval. */
static uint64_t read_interval(const char **at)
{
    uint64_t n[2] = {0, 0};
    const char *p = *at + 1, *from;
    int i = 0;
    for (;; i++, p++) {
        for (from = p; *p >= '0' && *p <= '9'; p++)
            n[i] = n[i] < 1 << 20 ? n[i] * 10 + (uint64_t)(*p - '0') : n[i];
        if (i || *p != ',')
            break;
    }
    if (*p != '}' || (p == from && !(i && p - *at > 1)))
        return 0;
    *at = p;
    const uint64_t open = n[0] + 1; /* "{m,}" repeats the last copy */
    return !i ? n[0] + !n[0] : p == from ? open : n[1] > n[0] ? n[1] : n[0] + !n[0];
}

/* Which limit the expression exceeds; NULL: none. Invalid expressions are left to regcomp(). */
static const char *find_excess(const char *p)
{
    estimate e = {.depth = 0};
    if (strlen(p) > ROCL_REGEX_LENGTH)
        return "it is longer than 32 KiB";
    for (; *p && e.copies <= ROCL_REGEX_COPIES; p++) {
        uint64_t times = *p == '+' ? 2 : *p == '{' ? read_interval(&p) : 0;
        if (*p == '(') {
            if (e.depth == ROCL_REGEX_DEPTH)
                return "it has more than 250 nested parentheses";
            e.open[++e.depth] = (group){1, 0};
        } else if (*p == ')' && e.depth) {
            const uint64_t atoms = e.open[e.depth--].atoms;
            e.open[e.depth].atoms += atoms;
            e.open[e.depth].last = atoms;
        } else if (times) {
            group *g = &e.open[e.depth];
            const uint64_t more = g->last * (times - 1);
            e.copies += more; /* no overflow: the length bounds `last` until the limit ends it */
            g->atoms += more;
            g->last += more;
        } else if (*p != '*' && *p != '?') {
            e.open[e.depth].atoms++;
            e.open[e.depth].last = 1;
            if (*p == '[')
                p = skip_brackets(p) - 1;
            else if (*p == '\\' && p[1])
                p++;
        }
    }
    return e.copies > ROCL_REGEX_COPIES ? "its repetitions make more than 2048 copies" : NULL;
}

rocl_status rocl_regex_compile(regex_t *re, const char *option, const char *text,
                               const char *pattern, int flags, rocl_error *err)
{
    char why[128];
    const char *excess = find_excess(pattern);
    if (excess)
        return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": too large a regular expression: %s",
                         option, text, excess);
    int rc = regcomp(re, pattern, REG_EXTENDED | flags);
    if (rc == 0)
        return ROCL_OK;
    regerror(rc, re, why, sizeof why);
    return rocl_fail(err, rc == REG_ESPACE ? ROCL_INTERNAL : ROCL_USAGE,
                     "%s: \"%.100s\": not an extended regular expression: %s", option, text, why);
}

bool rocl_regex_matches(const regex_t *re, const char *text, size_t len)
{
#ifdef REG_STARTEND
    regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)(len < INT32_MAX ? len : INT32_MAX)};
    return regexec(re, text, 1, &range, REG_STARTEND) == 0;
#else
    /* regexec() stops at a NUL: it is replaced by a character that no pattern names. */
    char *copy = strlen(text) < len ? calloc(len + 1, 1) : NULL;
    for (size_t i = 0; copy && i < len; i++)
        copy[i] = text[i] ? text[i] : '\1';
    bool matches = regexec(re, copy ? copy : text, 0, NULL, 0) == 0;
    free(copy);
    return matches;
#endif
}

/* Lines of strace or ltrace with -tttT: "SECONDS.FRACTION call(args) = result <SECONDS>". */
#include "source/rtg/line_match.h"

/* The first "N.N " at or after p: what follows it. */
static const char *find_stamp(const char *p, const char *end, rtg_line *l)
{
    const char *from = p;
    for (const char *dot = p; (dot = dot < end ? memchr(dot, '.', (size_t)(end - dot)) : NULL);
         dot++) {
        if (dot == from || !rtg_digit(dot[-1]))
            continue;
        const char *q = rtg_digits(dot + 1, end, &l->fraction);
        if (!q || q == end || *q != ' ')
            continue;
        const char *seconds = dot;
        while (seconds > from && rtg_digit(seconds[-1]))
            seconds--;
        l->start = rocl_view_between(seconds, dot);
        return q + 1;
    }
    return NULL;
}

/* "N.N call <unfinished ...>" with the last such mark. */
static bool match_unfinished(rtg_line *l, const char *p, const char *end)
{
    const char *mark = end;
    while ((mark = rtg_last(p, mark, '<')))
        if (mark > p && mark[-1] == ' ' && rtg_lit(mark, end, "<unfinished ...>"))
            break;
    const char *call = mark ? find_stamp(p, end, l) : NULL;
    if (!call || call >= mark)
        return false;
    l->shape = RTG_STRACE_UNFINISHED;
    l->name = rocl_view_between(call, mark - 1);
    return true;
}

/* " = result <" where the result is [-] [<] characters [>]: where the duration begins. Results of
 * calls that are resumed have some characters more, and no minus. */
static const char *match_result(const char *p, const char *end, bool resumed)
{
    p = rtg_lit(p, end, " = ");
    if (p && !resumed && p < end && *p == '-')
        p++;
    if (p && p < end && *p == '<')
        p++;
    const char *first = p;
    while (p && p < end && (rtg_word(*p) || (resumed && *p && strchr("\"/.-", *p))))
        p++;
    if (!p || p == first)
        return NULL;
    if (p < end && *p == '>')
        p++;
    return rtg_lit(p, end, " <");
}

/* The last " = result <duration>" in [p, end): where it is. */
static const char *find_result(rtg_line *l, const char *p, const char *end, bool resumed)
{
    const char *close = rtg_last(p, end, '>');
    for (const char *at = end; close && (at = rtg_last(p, at, '='));) {
        if (at == p || at[-1] != ' ')
            continue;
        const char *took = match_result(at - 1, end, resumed);
        if (took && took <= close) {
            l->took = rocl_view_between(took, close);
            return at - 1;
        }
    }
    return NULL;
}

/* "N.N <... call resumed> ... = result <duration>" */
static bool match_resumed(rtg_line *l, const char *p, const char *end)
{
    const char *at = find_result(l, p, end, true);
    for (const char *q = p; at && (q = find_stamp(q, end, l));) {
        const char *name = rtg_lit(q, end, "<... "), *after = name;
        while (after && after < end && rtg_word(*after))
            after++;
        const char *rest = after && after > name ? rtg_lit(after, end, " resumed> ") : NULL;
        if (!rest || rest > at)
            continue;
        l->shape = RTG_STRACE_RESUMED;
        l->name = rocl_view_between(name, after);
        return true;
    }
    return false;
}

bool rtg_match_strace(rtg_line *l, const char *p, const char *end)
{
    /* All of them end with a duration or a mark in angle brackets. */
    if (!rtg_last(p, end, '>'))
        return false;
    if (match_unfinished(l, p, end) || match_resumed(l, p, end))
        return true;
    const char *at = find_result(l, p, end, false);
    const char *call = at ? find_stamp(p, end, l) : NULL;
    if (!call || call > at)
        return false;
    l->shape = RTG_STRACE_COMPLETE;
    l->name = rocl_view_between(call, at);
    return true;
}

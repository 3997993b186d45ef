/* Profile lines: "profile: TYPE; TAG; N us; START; STOP; #device.stream.sequence; ...". */
#include "source/rtg/line_match.h"

/* Blanks, of which there must be one; the line end is one. */
static const char *skip_blanks(const char *p, const char *end)
{
    const char *q = rtg_skip_space(p, end);
    return q > p ? q : NULL;
}

static const char *match_time(const char *p, const char *end, rocl_view *s)
{
    p = skip_blanks(p, end);
    p = p ? rtg_digits(p, end, s) : NULL;
    return p ? rtg_lit(p, end, ";") : NULL;
}

/* What may follow " us;". SPACE: a blank or the line end after the id. */
enum { ENQUEUE = 1, TIMES = 2, ID = 4, SPACE = 8 };

static inline bool match_profile_tail(rtg_line *l, const char *p, const char *end, bool ended,
                                      unsigned has)
{
    if (has & ENQUEUE)
        p = match_time(p, end, &l->enqueue);
    if (has & TIMES) {
        p = p ? match_time(p, end, &l->start) : NULL;
        p = p ? match_time(p, end, &l->stop) : NULL;
    }
    if (has & ID) {
        p = p ? skip_blanks(p, end) : NULL;
        p = p ? rtg_field(p, end, "#", &l->device) : NULL;
        p = p ? rtg_field(p, end, ".", &l->stream) : NULL;
        p = p ? rtg_field(p, end, ".", &l->sequence) : NULL;
        p = p ? rtg_lit(p, end, ";") : NULL;
        l->extra = rocl_view_between(p ? p : end, end);
    }
    return p && (!(has & SPACE) || (l->extra.n ? rtg_space(l->extra.p[0]) : ended));
}

/* The first "profile: TYPE; TAG" whose tag can end at `semicolon`. */
static bool find_profile(rtg_line *l, const char *p, const char *end, const char *semicolon)
{
    for (; (p = rtg_find(p, end, "profile:")); p++) {
        const char *q = skip_blanks(p + 8, end), *type = q;
        while (q && q < end && rtg_word(*q))
            q++;
        if (!q || q == type || q == end || *q != ';')
            continue;
        l->type = rocl_view_between(type, q);
        q = skip_blanks(q + 1, end);
        if (!q || q > semicolon)
            continue;
        l->name = rocl_view_between(q, semicolon);
        return true;
    }
    return false;
}

/* The last " us;" that the tail can follow; the tag ends at the last "; " before that. */
static bool match_profile(rtg_line *l, const char *p, const char *end, bool ended, unsigned has)
{
    const char *us = end, *semicolon;
    while ((us = rtg_last(p, us, 'u'))) {
        bool is = us > p && us[-1] == ' ' && end - us >= 3 && us[1] == 's' && us[2] == ';';
        if (is && match_profile_tail(l, us + 3, end, ended, has))
            break;
    }
    if (!us)
        return false;
    for (semicolon = us - 2; (semicolon = rtg_last(p, semicolon, ';'));)
        if (rtg_space(semicolon[1]))
            return find_profile(l, p, end, semicolon);
    return false;
}

bool rtg_match_hcc(rtg_line *l, const char *p, const char *end, bool ended)
{
    /* From the most to the least. */
    static const struct {
        unsigned has;
        rtg_shape shape;
    } shapes[] = {{TIMES | ID | SPACE, RTG_HCC},
                  {TIMES | ID, RTG_HCC_BARE},
                  {TIMES, RTG_HCC_TIMES},
                  {ID, RTG_HCC_ID},
                  {0, RTG_HCC_SPAN}};
    l->enqueue = rocl_view_between(p, p);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (match_profile(l, p, end, ended, shapes[i].has)) {
            l->shape = shapes[i].shape;
            return true;
        }
    }
    return false;
}

bool rtg_match_enqueued(rtg_line *l, const char *p, const char *end)
{
    l->shape = RTG_HCC;
    return match_profile(l, p, end, true, ENQUEUE | TIMES | ID);
}

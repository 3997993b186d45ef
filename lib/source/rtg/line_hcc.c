/* Profile lines: "profile: TYPE; TAG; N us; START; STOP; #device.stream.sequence; ...". */
#include "source/rtg/line_impl.h"

/* Blanks, of which there must be one; the line end is one. */
static const char *blanks(const char *p, const char *end)
{
    const char *q = rtg_skip_space(p, end);
    return q > p ? q : NULL;
}

static const char *time_after(const char *p, const char *end, rocl_view *s)
{
    p = blanks(p, end);
    p = p ? rtg_digits(p, end, s) : NULL;
    return p ? rtg_lit(p, end, ";") : NULL;
}

static const char *id_after(rtg_line *l, const char *p, const char *end)
{
    p = blanks(p, end);
    p = p ? rtg_field(p, end, "#", &l->device) : NULL;
    p = p ? rtg_field(p, end, ".", &l->stream) : NULL;
    p = p ? rtg_field(p, end, ".", &l->sequence) : NULL;
    return p ? rtg_lit(p, end, ";") : NULL;
}

/* What may follow " us;", from the most to the least. */
typedef bool tail_fn(rtg_line *l, const char *p, const char *end, bool ended);

static bool bare(rtg_line *l, const char *p, const char *end, bool ended)
{
    (void)ended;
    p = time_after(p, end, &l->start);
    p = p ? time_after(p, end, &l->stop) : NULL;
    p = p ? id_after(l, p, end) : NULL;
    l->extra = rocl_view_between(p ? p : end, end);
    return p;
}

static bool whole(rtg_line *l, const char *p, const char *end, bool ended)
{
    return bare(l, p, end, ended) && (l->extra.n ? rtg_space(l->extra.p[0]) : ended);
}

static bool only_times(rtg_line *l, const char *p, const char *end, bool ended)
{
    (void)ended;
    p = time_after(p, end, &l->start);
    return p && time_after(p, end, &l->stop);
}

static bool only_id(rtg_line *l, const char *p, const char *end, bool ended)
{
    (void)ended;
    return id_after(l, p, end);
}

static bool nothing(rtg_line *l, const char *p, const char *end, bool ended)
{
    (void)l, (void)p, (void)end, (void)ended;
    return true;
}

static bool enqueued(rtg_line *l, const char *p, const char *end, bool ended)
{
    p = time_after(p, end, &l->enqueue);
    return p && bare(l, p, end, ended);
}

/* The first "profile: TYPE; TAG" whose tag can end at `semicolon`. */
static bool begins(rtg_line *l, const char *p, const char *end, const char *semicolon)
{
    for (; (p = rtg_find(p, end, "profile:")); p++) {
        const char *q = blanks(p + 8, end), *type = q;
        while (q && q < end && rtg_word(*q))
            q++;
        if (!q || q == type || q == end || *q != ';')
            continue;
        l->type = rocl_view_between(type, q);
        q = blanks(q + 1, end);
        if (!q || q > semicolon)
            continue;
        l->name = rocl_view_between(q, semicolon);
        return true;
    }
    return false;
}

/* The last " us;" that the tail can follow; the tag ends at the last "; " before that. */
static bool match(rtg_line *l, const char *p, const char *end, bool ended, tail_fn *tail)
{
    const char *us = end, *semicolon;
    while ((us = rtg_last(p, us, 'u'))) {
        bool is = us > p && us[-1] == ' ' && end - us >= 3 && us[1] == 's' && us[2] == ';';
        if (is && tail(l, us + 3, end, ended))
            break;
    }
    if (!us)
        return false;
    for (semicolon = us - 2; (semicolon = rtg_last(p, semicolon, ';'));)
        if (rtg_space(semicolon[1]))
            return begins(l, p, end, semicolon);
    return false;
}

bool rtg_match_hcc(rtg_line *l, const char *p, const char *end, bool ended)
{
    static const struct {
        tail_fn *tail;
        rtg_shape shape;
    } shapes[] = {{whole, RTG_HCC},
                  {bare, RTG_HCC_BARE},
                  {only_times, RTG_HCC_TIMES},
                  {only_id, RTG_HCC_ID},
                  {nothing, RTG_HCC_SPAN}};
    l->enqueue = rocl_view_between(p, p);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (match(l, p, end, ended, shapes[i].tail)) {
            l->shape = shapes[i].shape;
            return true;
        }
    }
    return false;
}

bool rtg_match_enqueued(rtg_line *l, const char *p, const char *end)
{
    l->shape = RTG_HCC;
    return match(l, p, end, true, enqueued);
}

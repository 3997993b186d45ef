/* --period: times without events and times with them, in turn, from the first event of the trace.
 */
#include "filter/stages.h"

#include <stdlib.h>
#include <string.h>

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t whole_length(const rocl_period *p)
{
    uint64_t length;
    if (!p->repeat || __builtin_mul_overflow(p->delay + p->duration, p->repeat, &length))
        return UINT64_MAX;
    return length;
}

/* "DELAY:DURATION" and perhaps ":REPEAT". */
static rocl_status parse_period(rocl_period *p, const char *text, rocl_error *err)
{
    char pieces[2][64];
    const char *at = text;
    int64_t times[2], repeat = 1;
    for (int i = 0; i < 2; i++) {
        size_t len = strcspn(at, ":");
        if (len >= sizeof pieces[i] || (i == 0 && !at[len]))
            return rocl_fail(err, ROCL_USAGE,
                             "--period: \"%.100s\": DELAY:DURATION or DELAY:DURATION:REPEAT, such "
                             "as 1s:500ms:3",
                             text);
        memcpy(pieces[i], at, len);
        pieces[i][len] = '\0';
        rocl_status st = rocl_duration_parse(&times[i], "--period", pieces[i], err);
        if (st != ROCL_OK)
            return st;
        at += len + (at[len] == ':' && i == 0);
    }
    if (*at == ':') {
        const char *end = rocl_parse_number(at + 1, &repeat);
        if (!end || *end)
            return rocl_fail(err, ROCL_USAGE,
                             "--period: \"%.100s\": \"%.40s\" is not a number of "
                             "repetitions (0: without end)",
                             text, at + 1);
    }
    if (times[1] == 0)
        return rocl_fail(err, ROCL_USAGE, "--period: \"%.100s\": a period needs a duration", text);
    *p = (rocl_period){
        .delay = (uint64_t)times[0], .duration = (uint64_t)times[1], .repeat = (uint64_t)repeat};
    return ROCL_OK;
}

rocl_status rocl_periods_new(rocl_periods *p, const rocl_trace *t, rocl_error *err)
{
    const char *const *list = t->opt.periods;
    size_t n = 0;
    uint64_t begin = 0;
    while (list && list[n])
        n++;
    *p = (rocl_periods){.mode = t->opt.window_mode};
    if (!n)
        return ROCL_OK;
    p->v = calloc(n, sizeof *p->v);
    if (!p->v)
        return rocl_fail_memory(err);
    for (; p->count < n; p->count++) {
        rocl_period *own = &p->v[p->count];
        rocl_status st = parse_period(own, list[p->count], err);
        if (st != ROCL_OK)
            return st;
        if (begin == UINT64_MAX)
            return rocl_fail(err, ROCL_USAGE,
                             "--period: \"%.100s\" never begins: the one before it does not end",
                             list[p->count]);
        own->begin = begin;
        begin = add_saturating(begin, whole_length(own));
    }
    return ROCL_OK;
}

/* A time with events; both edges belong to it. */
typedef struct interval {
    uint64_t from, to;
} interval;

/* The last interval that begins at `time` or before it. */
static bool find_last_begun(const rocl_periods *p, uint64_t time, interval *out)
{
    for (size_t i = p->count; i-- > 0;) {
        const rocl_period *own = &p->v[i];
        const uint64_t from = add_saturating(own->begin, own->delay);
        if (time < from)
            continue;
        const uint64_t cycle = own->delay + own->duration;
        uint64_t n = (time - from) / cycle;
        n = own->repeat && n >= own->repeat ? own->repeat - 1 : n;
        *out = (interval){from + n * cycle, add_saturating(from + n * cycle, own->duration)};
        return true;
    }
    return false;
}

/* The first interval that ends at `time` or after it. */
static bool find_first_unended(const rocl_periods *p, uint64_t time, interval *out)
{
    for (size_t i = 0; i < p->count; i++) {
        const rocl_period *own = &p->v[i];
        if (time > add_saturating(own->begin, whole_length(own)))
            continue;
        const uint64_t cycle = own->delay + own->duration, past = time - own->begin;
        const uint64_t n = time > own->begin ? (past - 1) / cycle : 0;
        const uint64_t from = add_saturating(add_saturating(own->begin, own->delay), n * cycle);
        *out = (interval){from, add_saturating(from, own->duration)};
        return true;
    }
    return false;
}

static uint64_t time_after_first(const rocl_periods *p, int64_t time)
{
    return time > p->first ? (uint64_t)time - (uint64_t)p->first : 0;
}

/* A time after the first event as a time of the trace. */
static int64_t time_of_trace(const rocl_periods *p, uint64_t after)
{
    const uint64_t most = (uint64_t)INT64_MAX - (uint64_t)p->first;
    return (int64_t)((uint64_t)p->first + (after < most ? after : most));
}

bool rocl_periods_next(const rocl_periods *p, int64_t time, int64_t *from, int64_t *to)
{
    interval next;
    if (!find_first_unended(p, time_after_first(p, time), &next))
        return false;
    *from = time_of_trace(p, next.from);
    *to = time_of_trace(p, next.to);
    return true;
}

int64_t rocl_periods_end(const rocl_periods *p)
{
    const rocl_period *last = &p->v[p->count - 1];
    return time_of_trace(p, add_saturating(last->begin, whole_length(last)));
}

int64_t rocl_periods_clip_time(const rocl_periods *p, int64_t time, bool begin)
{
    const uint64_t after = time_after_first(p, time);
    interval in;
    if (begin)
        return find_first_unended(p, after, &in) && after < in.from ? time_of_trace(p, in.from)
                                                                    : time;
    return find_last_begun(p, after, &in) && after > in.to ? time_of_trace(p, in.to) : time;
}

void rocl_periods_test(const rocl_periods *p, const rocl_batch *b, uint8_t *keep)
{
    const size_t size = rocl_kind_size(b->kind);
    const bool inside = p->mode == ROCL_WINDOW_INSIDE;
    for (size_t i = 0; p->count && i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        const uint64_t start = time_after_first(p, e->start), end = time_after_first(p, e->end);
        interval in;
        keep[i] &= (uint8_t)(find_last_begun(p, inside ? start : end, &in) &&
                             in.to >= (inside ? end : start));
    }
}

void rocl_periods_clip(const rocl_periods *p, const rocl_batch *b, const uint8_t *keep)
{
    const size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; p->count && p->mode == ROCL_WINDOW_CLIP && i < b->count; i++) {
        rocl_event *e = rocl_event_at(b, size, i);
        if (!keep[i])
            continue;
        e->start = rocl_periods_clip_time(p, e->start, true);
        e->end = rocl_periods_clip_time(p, e->end, false);
    }
}

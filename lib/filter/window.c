/* --start, --end and their markers: the time window. */
#include "filter/stages.h"

#include <inttypes.h>

rocl_status rocl_window_check(const rocl_window *w, rocl_error *err)
{
    if (w->from <= w->to)
        return ROCL_OK;
    const char *start = w->start_marker.text ? w->start_marker.text : w->start_text;
    const char *end = w->end_marker.text ? w->end_marker.text : w->end_text;
    return rocl_fail(err, ROCL_USAGE,
                     "--start%s \"%.100s\" (%" PRId64 " ns) is after --end%s \"%.100s\" (%" PRId64
                     " ns)",
                     w->start_marker.text ? "-marker" : "", start ? start : "", w->from,
                     w->end_marker.text ? "-marker" : "", end ? end : "", w->to);
}

static rocl_status parse_edge(rocl_time *time, const char *option, const char *text,
                              const char *marker, rocl_error *err)
{
    if (text && marker)
        return rocl_fail(err, ROCL_USAGE, "%s and %s-marker exclude each other", option, option);
    return text ? rocl_time_parse(time, option, text, err) : ROCL_OK;
}

rocl_status rocl_window_new(rocl_window *w, const rocl_trace *t, rocl_error *err)
{
    const rocl_options *o = &t->opt;
    *w = (rocl_window){.mode = o->window_mode, .start_text = o->start, .end_text = o->end};
    w->used = o->start || o->end || o->start_marker || o->end_marker;
    rocl_status st = parse_edge(&w->start, "--start", o->start, o->start_marker, err);
    if (st == ROCL_OK)
        st = parse_edge(&w->end, "--end", o->end, o->end_marker, err);
    if (st == ROCL_OK)
        st = rocl_marker_new(&w->start_marker, t, "--start-marker", o->start_marker, false, err);
    if (st == ROCL_OK)
        st = rocl_marker_new(&w->end_marker, t, "--end-marker", o->end_marker, true, err);
    if (st == ROCL_OK && w->start.beyond)
        st = rocl_fail(err, ROCL_USAGE, "--start: \"%.100s\" is after the end of the trace",
                       o->start);
    if (st == ROCL_OK && w->end.beyond)
        rocl_notice(t, "--end: \"%.100s\" is more than the whole trace: 100%% is used", o->end);
    bool clock = w->start.base == ROCL_TIME_CLOCK && w->end.base == ROCL_TIME_CLOCK;
    /* Nothing needs to be read to know that this is wrong. */
    return st == ROCL_OK && clock ? rocl_window_resolve(w, 0, 0, err) : st;
}

void rocl_window_free(rocl_window *w)
{
    rocl_marker_free(&w->start_marker);
    rocl_marker_free(&w->end_marker);
}

bool rocl_window_marked(const rocl_window *w)
{
    return w->start_marker.text || w->end_marker.text;
}

rocl_status rocl_window_see(rocl_window *w, const rocl_batch *b, const rocl_event *e,
                            rocl_error *err)
{
    return rocl_marker_see(&w->start_marker, b, e) && rocl_marker_see(&w->end_marker, b, e)
               ? ROCL_OK
               : rocl_fail_memory(err);
}

rocl_status rocl_window_resolve(rocl_window *w, int64_t first, int64_t last, rocl_error *err)
{
    const rocl_occurrence *o = NULL;
    rocl_status st = ROCL_OK;
    w->from = w->start_text ? rocl_time_at(&w->start, first, last) : INT64_MIN;
    w->to = w->end_text ? rocl_time_at(&w->end, first, last) : INT64_MAX;
    if (w->start_marker.text && (st = rocl_marker_find(&w->start_marker, &o, err)) == ROCL_OK)
        w->from = o->start;
    if (st == ROCL_OK && w->end_marker.text &&
        (st = rocl_marker_find(&w->end_marker, &o, err)) == ROCL_OK)
        w->to = o->end;
    if (st != ROCL_OK)
        return st;
    return rocl_window_check(w, err);
}

void rocl_window_test(const rocl_window *w, const rocl_batch *b, uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    int64_t from = w->from, to = w->to;
    bool inside = w->mode == ROCL_WINDOW_INSIDE;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        int64_t early = inside ? e->start : e->end;
        int64_t late = inside ? e->end : e->start;
        keep[i] &= (uint8_t)((early >= from) & (late <= to));
    }
}

void rocl_window_clip(const rocl_window *w, const rocl_batch *b, const uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        rocl_event *e = rocl_event_at(b, size, i);
        if (!keep[i])
            continue;
        e->start = e->start < w->from ? w->from : e->start;
        e->end = e->end > w->to ? w->to : e->end;
    }
}

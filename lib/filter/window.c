#include "filter/stages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Marker NAME alone: the window begins with the FIRST of that name and ends with the end of the
 * LAST, so that "--start-marker step --end-marker step" is all steps. NAME:N is the N-th by start
 * time over the whole trace (processes that --rank and --pid leave out do not count); equal start
 * times count in the order of the captures, marks after ranges, then by row. A marker that is
 * called NAME:N itself goes first. */

/* ---- picking an occurrence ------------------------------------------------------------------- */

static bool earlier(const rocl_occurrence *a, const rocl_occurrence *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    if (a->capture != b->capture)
        return a->capture < b->capture;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->id < b->id;
}

static void swap(rocl_occurrence *a, rocl_occurrence *b)
{
    rocl_occurrence t = *a;
    *a = *b;
    *b = t;
}

static void sift_up(rocl_occurrence *heap, size_t i)
{
    for (; i > 0 && earlier(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2)
        swap(&heap[(i - 1) / 2], &heap[i]);
}

static void sift_down(rocl_occurrence *heap, size_t len)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < len; i = child) {
        if (child + 1 < len && earlier(&heap[child], &heap[child + 1]))
            child++;
        if (!earlier(&heap[i], &heap[child]))
            return;
        swap(&heap[i], &heap[child]);
    }
}

static bool push(rocl_pick *p, const rocl_occurrence *o)
{
    if (!ROCL_GROW(p->heap, p->cap, p->len + 1))
        return false;
    p->heap[p->len] = *o;
    sift_up(p->heap, p->len++);
    return true;
}

static bool pick_see(rocl_pick *p, const rocl_occurrence *o)
{
    p->total++;
    if (p->len < p->n)
        return push(p, o);
    if (p->n && (p->last ? earlier(&p->heap[0], o) : earlier(o, &p->heap[0]))) {
        p->heap[0] = *o;
        sift_down(p->heap, p->len);
    }
    return true;
}

/* NULL when there are fewer than n. */
static const rocl_occurrence *pick_result(const rocl_pick *p)
{
    return p->n && p->len == p->n ? &p->heap[0] : NULL;
}

/* ---- markers --------------------------------------------------------------------------------- */

static bool pick_init(rocl_pick *p, const rocl_trace *t, const char *name, size_t len, uint64_t n)
{
    p->n = n;
    p->name = rocl_strings_put(t->strings, name, len);
    return p->name != ROCL_NONE;
}

/* "NAME:N": the colon and N; NULL when the text does not have that form. */
static const char *find_number(const char *text, uint64_t *n)
{
    const char *colon = strrchr(text, ':');
    int64_t value;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return NULL;
    const char *end = rocl_take_number(colon + 1, &value);
    *n = end ? (uint64_t)value : UINT64_MAX; /* too large for a number is too large for a trace */
    return colon;
}

static rocl_status marker_new(rocl_marker *m, const rocl_trace *t, const char *option,
                              const char *text, bool last, rocl_error *err)
{
    uint64_t n;
    m->whole.name = m->numbered.name = ROCL_NONE;
    if (!text)
        return ROCL_OK;
    if (!*text)
        return rocl_fail(err, ROCL_USAGE, "%s: \"\": the name of a marker, or NAME:N for the N-th",
                         option);
    m->option = option;
    m->text = text;
    m->whole.last = last;
    bool ok = pick_init(&m->whole, t, text, strlen(text), 1);
    const char *colon = find_number(text, &n);
    if (ok && colon)
        ok = pick_init(&m->numbered, t, text, (size_t)(colon - text), n);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status not_found(const rocl_marker *m, rocl_error *err)
{
    const rocl_pick *p = &m->numbered;
    if (p->name == ROCL_NONE || p->total == 0)
        return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": no such marker in the trace", m->option,
                         m->text);
    int len = (int)(strrchr(m->text, ':') - m->text);
    if (p->n == 0)
        return rocl_fail(err, ROCL_USAGE,
                         "%s: \"%.100s\": occurrences count from 1; \"%.*s\" occurs %" PRIu64
                         " times",
                         m->option, m->text, len < 100 ? len : 100, m->text, p->total);
    return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": the marker \"%.*s\" occurs %" PRIu64 " %s",
                     m->option, m->text, len < 100 ? len : 100, m->text, p->total,
                     p->total == 1 ? "time" : "times");
}

static rocl_status marker_find(const rocl_marker *m, const rocl_occurrence **found, rocl_error *err)
{
    *found = pick_result(&m->whole);
    if (!*found)
        *found = pick_result(&m->numbered);
    return *found ? ROCL_OK : not_found(m, err);
}

/* ---- the window ------------------------------------------------------------------------------ */

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

static rocl_status edge_new(rocl_time *time, const char *option, const char *text,
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
    rocl_status st = edge_new(&w->start, "--start", o->start, o->start_marker, err);
    if (st == ROCL_OK)
        st = edge_new(&w->end, "--end", o->end, o->end_marker, err);
    if (st == ROCL_OK)
        st = marker_new(&w->start_marker, t, "--start-marker", o->start_marker, false, err);
    if (st == ROCL_OK)
        st = marker_new(&w->end_marker, t, "--end-marker", o->end_marker, true, err);
    bool clock = w->start.base == ROCL_TIME_CLOCK && w->end.base == ROCL_TIME_CLOCK;
    /* Nothing needs to be read to know that this is wrong. */
    return st == ROCL_OK && clock ? rocl_window_resolve(w, 0, 0, err) : st;
}

void rocl_window_free(rocl_window *w)
{
    free(w->start_marker.whole.heap);
    free(w->start_marker.numbered.heap);
    free(w->end_marker.whole.heap);
    free(w->end_marker.numbered.heap);
}

bool rocl_window_relative(const rocl_window *w)
{
    return w->start.base > ROCL_TIME_CLOCK || w->end.base > ROCL_TIME_CLOCK;
}

bool rocl_window_marked(const rocl_window *w)
{
    return w->start_marker.text || w->end_marker.text;
}

rocl_status rocl_window_see(rocl_window *w, uint32_t capture, rocl_kind kind, const rocl_event *e,
                            rocl_error *err)
{
    rocl_pick *picks[] = {&w->start_marker.whole, &w->start_marker.numbered, &w->end_marker.whole,
                          &w->end_marker.numbered};
    if (e->name == ROCL_NONE)
        return ROCL_OK;
    for (size_t i = 0; i < sizeof picks / sizeof picks[0]; i++) {
        if (picks[i]->name != e->name)
            continue;
        rocl_occurrence o = {
            .start = e->start, .end = e->end, .capture = capture, .kind = kind, .id = e->id};
        if (!pick_see(picks[i], &o))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

rocl_status rocl_window_resolve(rocl_window *w, int64_t first, int64_t last, rocl_error *err)
{
    const rocl_occurrence *o;
    w->from = w->start_text ? rocl_time_at(&w->start, first, last) : INT64_MIN;
    w->to = w->end_text ? rocl_time_at(&w->end, first, last) : INT64_MAX;
    if (w->start_marker.text) {
        rocl_status st = marker_find(&w->start_marker, &o, err);
        if (st != ROCL_OK)
            return st;
        w->from = o->start;
    }
    if (w->end_marker.text) {
        rocl_status st = marker_find(&w->end_marker, &o, err);
        if (st != ROCL_OK)
            return st;
        w->to = o->end;
    }
    return rocl_window_check(w, err);
}

void rocl_window_judge(const rocl_window *w, const rocl_batch *b, uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    int64_t from = w->from, to = w->to;
    bool inside = w->mode == ROCL_WINDOW_INSIDE;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_stage_event(b, size, i);
        int64_t early = inside ? e->start : e->end;
        int64_t late = inside ? e->end : e->start;
        keep[i] &= (uint8_t)((early >= from) & (late <= to));
    }
}

void rocl_window_clip(const rocl_window *w, const rocl_batch *b, const uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        rocl_event *e = rocl_stage_event(b, size, i);
        if (!keep[i])
            continue;
        e->start = e->start < w->from ? w->from : e->start;
        e->end = e->end > w->to ? w->to : e->end;
    }
}

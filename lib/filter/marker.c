/* The occurrence of a marker that an option means. Marker NAME alone: the window begins with the
 * FIRST of that name and ends with the end of the LAST, so that "--start-marker step --end-marker
 * step" is all steps. NAME:N is the N-th by start time over the whole trace (processes that --rank
 * and --pid leave out do not count); equal start times count in the order of the captures, marks
 * after ranges, then by row. A marker that is called NAME:N itself goes first. */
#include "filter/stages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- picking an occurrence ---- */

static bool is_earlier(const rocl_occurrence *a, const rocl_occurrence *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    if (a->capture != b->capture)
        return a->capture < b->capture;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->id < b->id;
}

static void swap_occurrences(rocl_occurrence *a, rocl_occurrence *b)
{
    rocl_occurrence t = *a;
    *a = *b;
    *b = t;
}

/* A heap of the n first, the last of them on top. */
static bool add_occurrence(rocl_pick *p, const rocl_occurrence *o)
{
    rocl_occurrence *heap = p->heap;
    p->total++;
    if (p->len < p->n) {
        if (!ROCL_GROW(p->heap, p->cap, p->len + 1))
            return false;
        heap = p->heap;
        heap[p->len] = *o;
        for (size_t i = p->len++; i > 0 && is_earlier(&heap[(i - 1) / 2], &heap[i]);
             i = (i - 1) / 2)
            swap_occurrences(&heap[(i - 1) / 2], &heap[i]);
    } else if (p->n && (p->last ? is_earlier(&heap[0], o) : is_earlier(o, &heap[0]))) {
        heap[0] = *o;
        for (size_t i = 0, child; (child = 2 * i + 1) < p->len; i = child) {
            if (child + 1 < p->len && is_earlier(&heap[child], &heap[child + 1]))
                child++;
            if (!is_earlier(&heap[i], &heap[child]))
                break;
            swap_occurrences(&heap[i], &heap[child]);
        }
    }
    return true;
}

/* NULL when there are fewer than n. */
static const rocl_occurrence *picked_occurrence(const rocl_pick *p)
{
    return p->n && p->len == p->n ? &p->heap[0] : NULL;
}

/* ---- markers ---- */

static bool init_pick(rocl_pick *p, const rocl_trace *t, const char *name, size_t len, uint64_t n)
{
    p->n = n;
    p->name = rocl_strings_put(t->strings, name, len);
    return p->name != ROCL_NONE;
}

/* "NAME:N": the colon and N; NULL when the text is not of that kind. */
static const char *find_number(const char *text, uint64_t *n)
{
    const char *colon = strrchr(text, ':');
    int64_t value;
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return NULL;
    const char *end = rocl_parse_number(colon + 1, &value);
    *n = end ? (uint64_t)value : UINT64_MAX; /* too large for a number is too large for a trace */
    return colon;
}

rocl_status rocl_marker_new(rocl_marker *m, const rocl_trace *t, const char *option,
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
    bool ok = init_pick(&m->whole, t, text, strlen(text), 1);
    const char *colon = find_number(text, &n);
    if (ok && colon)
        ok = init_pick(&m->numbered, t, text, (size_t)(colon - text), n);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_occurrence *rocl_marker_seen(const rocl_marker *m)
{
    const rocl_occurrence *o = picked_occurrence(&m->whole);
    return o ? o : picked_occurrence(&m->numbered);
}

rocl_status rocl_marker_find(const rocl_marker *m, const rocl_occurrence **occurrence,
                             rocl_error *err)
{
    const rocl_pick *p = &m->numbered;
    *occurrence = rocl_marker_seen(m);
    if (*occurrence)
        return ROCL_OK;
    if (p->name == ROCL_NONE || p->total == 0)
        return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": no such marker in the trace", m->option,
                         m->text);
    int len = (int)(strrchr(m->text, ':') - m->text);
    len = len < 100 ? len : 100;
    if (p->n == 0)
        return rocl_fail(err, ROCL_USAGE,
                         "%s: \"%.100s\": occurrences count from 1; \"%.*s\" occurs %" PRIu64
                         " times",
                         m->option, m->text, len, m->text, p->total);
    return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": the marker \"%.*s\" occurs %" PRIu64 " %s",
                     m->option, m->text, len, m->text, p->total, p->total == 1 ? "time" : "times");
}

bool rocl_marker_see(rocl_marker *m, const rocl_batch *b, const rocl_event *e)
{
    const rocl_occurrence o = {e->start, b->capture->index, b->kind, e->id, e->end};
    if (e->name == ROCL_NONE)
        return true;
    return (m->whole.name != e->name || add_occurrence(&m->whole, &o)) &&
           (m->numbered.name != e->name || add_occurrence(&m->numbered, &o));
}

void rocl_marker_free(rocl_marker *m)
{
    free(m->whole.heap);
    free(m->numbered.heap);
}

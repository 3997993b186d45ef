/* --align start, and --align marker: the first event, or the marker of every process, as a worker
 * brings them; what is earliest on a machine counts. */
#include "filter/align.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "filter/stages.h"

#define OPTION "--align marker"

struct rocl_aligner {
    rocl_trace *trace;
    pthread_mutex_t lock;
    int64_t *firsts;      /* by machine; INT64_MAX: nothing seen */
    rocl_marker *markers; /* by process of all captures, and for events of none in each */
    size_t *bases;        /* by capture: its first marker */
    size_t marker_count;
};

/* ---- making ---- */

static rocl_status make_firsts(rocl_aligner *a, rocl_error *err)
{
    size_t n = a->trace->machine_count;
    a->firsts = calloc(n + 1, sizeof *a->firsts);
    for (size_t i = 0; a->firsts && i < n; i++)
        a->firsts[i] = INT64_MAX;
    return a->firsts ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status make_markers(rocl_aligner *a, rocl_error *err)
{
    const rocl_trace *t = a->trace;
    size_t n = 0;
    rocl_status st = ROCL_OK;
    a->bases = calloc(t->capture_count + 1, sizeof *a->bases);
    for (size_t i = 0; a->bases && i < t->capture_count; i++) {
        a->bases[i] = n;
        n += (size_t)t->captures[i]->pub.process_count + 1;
    }
    a->markers = calloc(n + 1, sizeof *a->markers);
    if (!a->bases || !a->markers)
        return rocl_fail_memory(err);
    for (; a->marker_count < n && st == ROCL_OK; a->marker_count++)
        st =
            rocl_marker_new(&a->markers[a->marker_count], t, OPTION, t->opt.align_with, false, err);
    return st;
}

rocl_status rocl_aligner_new(rocl_aligner **aligner, rocl_trace *t, rocl_error *err)
{
    bool marker = t->opt.align == ROCL_ALIGN_MARKER;
    if ((marker || t->opt.align == ROCL_ALIGN_OFFSETS) && !t->opt.align_with)
        return rocl_fail(err, ROCL_USAGE, "--align %s",
                         marker ? "marker: the name of one is missing"
                                : "offsets: the file is missing");
    rocl_aligner *a = calloc(1, sizeof *a);
    if (!a)
        return rocl_fail_memory(err);
    a->trace = t;
    pthread_mutex_init(&a->lock, NULL);
    rocl_status st = make_firsts(a, err);
    if (st == ROCL_OK && marker)
        st = make_markers(a, err);
    if (st != ROCL_OK)
        rocl_aligner_free(a);
    else
        *aligner = a;
    return st;
}

void rocl_aligner_free(rocl_aligner *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->marker_count; i++)
        rocl_marker_free(&a->markers[i]);
    pthread_mutex_destroy(&a->lock);
    free(a->markers);
    free(a->bases);
    free(a->firsts);
    free(a);
}

/* ---- the events ---- */

uint32_t rocl_aligner_kinds(const rocl_aligner *a)
{
    switch (a->trace->opt.align) {
    case ROCL_ALIGN_START:
        return ROCL_ALL_KINDS;
    case ROCL_ALIGN_MARKER:
        return ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT);
    default:
        return 0;
    }
}

static void see_first(rocl_aligner *a, uint32_t machine, int64_t first)
{
    if (first < a->firsts[machine])
        a->firsts[machine] = first;
}

static rocl_status see_start(rocl_aligner *a, const rocl_batch *b)
{
    size_t size = rocl_kind_size(b->kind);
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        first = e->start < first ? e->start : first;
    }
    pthread_mutex_lock(&a->lock);
    see_first(a, b->capture->machine, first);
    pthread_mutex_unlock(&a->lock);
    return ROCL_OK;
}

/* Few have the name that is looked for. */
static bool see_marker(rocl_aligner *a, const rocl_batch *b, const rocl_event *e)
{
    uint32_t count = b->capture->process_count;
    rocl_marker *m =
        &a->markers[a->bases[b->capture->index] + (e->process < count ? e->process : count)];
    if (e->name == ROCL_NONE || (e->name != m->whole.name && e->name != m->numbered.name))
        return true;
    rocl_occurrence o = {.start = e->start,
                         .end = e->end,
                         .capture = b->capture->index,
                         .kind = b->kind,
                         .id = e->id};
    pthread_mutex_lock(&a->lock);
    bool ok = rocl_marker_see(m, e->name, &o);
    pthread_mutex_unlock(&a->lock);
    return ok;
}

rocl_status rocl_aligner_see(rocl_aligner *a, const rocl_batch *b, rocl_error *err)
{
    size_t size = rocl_kind_size(b->kind);
    bool ok = true;
    if (!a->markers)
        return see_start(a, b);
    for (size_t i = 0; i < b->count; i++)
        ok &= see_marker(a, b, rocl_event_at(b, size, i));
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- what comes of them ---- */

static const rocl_marker *marker_of(const rocl_aligner *a, size_t capture, uint32_t process)
{
    return &a->markers[a->bases[capture] + process];
}

/* Which of the two meanings of NAME:N counts is decided for the whole trace. */
static bool whole_name(const rocl_aligner *a)
{
    for (size_t i = 0; i < a->marker_count; i++)
        if (a->markers[i].whole.total)
            return true;
    return false;
}

static void see_found(rocl_aligner *a)
{
    bool whole = whole_name(a);
    for (size_t i = 0; i < a->trace->capture_count; i++) {
        const rocl_capture *c = &a->trace->captures[i]->pub;
        for (uint32_t p = 0; p <= c->process_count; p++) {
            const rocl_marker *m = marker_of(a, i, p);
            const rocl_occurrence *o = rocl_marker_seen(m);
            if (o && (!whole || m->whole.total))
                see_first(a, c->machine, o->start);
        }
    }
}

static uint64_t most_occurrences(const rocl_aligner *a, uint32_t machine)
{
    uint64_t most = 0;
    for (size_t i = 0; i < a->trace->capture_count; i++) {
        const rocl_capture *c = &a->trace->captures[i]->pub;
        for (uint32_t p = 0; c->machine == machine && p <= c->process_count; p++) {
            uint64_t n = marker_of(a, i, p)->numbered.total;
            most = n > most ? n : most;
        }
    }
    return most;
}

static rocl_status no_marker(const rocl_aligner *a, uint32_t machine, rocl_error *err)
{
    const char *name = rocl_machine_name(a->trace, machine), *text = a->trace->opt.align_with;
    uint64_t most = most_occurrences(a, machine);
    if (!most || whole_name(a))
        return rocl_fail(err, ROCL_USAGE, OPTION ": \"%.100s\": no such marker on the node %s",
                         text, name);
    return rocl_fail(err, ROCL_USAGE,
                     OPTION ": \"%.100s\": on the node %s a process has %" PRIu64
                            " of these markers at most; they count from 1",
                     text, name, most);
}

rocl_status rocl_aligner_offsets(rocl_aligner *a, int64_t *offsets, rocl_error *err)
{
    const rocl_trace *t = a->trace;
    int64_t reference = INT64_MAX;
    if (t->opt.align == ROCL_ALIGN_OFFSETS)
        return rocl_offsets_read(t, t->opt.align_with, offsets, err);
    if (a->markers)
        see_found(a);
    for (uint32_t m = 0; m < t->machine_count; m++) {
        if (a->markers && a->firsts[m] == INT64_MAX)
            return no_marker(a, m, err);
        /* A node without events has nothing to align, and none to align others to. */
        if (reference == INT64_MAX)
            reference = a->firsts[m];
        offsets[m] = a->firsts[m] == INT64_MAX ? 0 : reference - a->firsts[m];
    }
    return ROCL_OK;
}

/* What a trace counts and reports: faults, notices, progress; its texts and captures; and the check
 * that no output replaces an input. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "model/trace.h"

/* ---- faults ---- */

static const struct {
    const char *text;
    bool drops;
} faults[ROCL_FAULTS] = {
    [ROCL_FAULT_END_BEFORE_START] = {"end before start", true},
    [ROCL_FAULT_NO_END] = {"no end", true},
    [ROCL_FAULT_BEFORE_PROCESS] = {"before the process began", true},
    [ROCL_FAULT_BAD_TIME] = {"no valid time", true},
    [ROCL_FAULT_DANGLING_NAME] = {"unknown name id", false},
    [ROCL_FAULT_DANGLING_PROCESS] = {"unknown process id", false},
    [ROCL_FAULT_DANGLING_THREAD] = {"unknown thread id", false},
    [ROCL_FAULT_DANGLING_AGENT] = {"unknown agent id", false},
    [ROCL_FAULT_DANGLING_QUEUE] = {"unknown queue id", false},
    [ROCL_FAULT_DANGLING_STREAM] = {"unknown stream id", false},
    [ROCL_FAULT_DANGLING_KERNEL] = {"unknown kernel id", false},
    [ROCL_FAULT_DANGLING_EVENT] = {"unknown event id", false},
    [ROCL_FAULT_DANGLING_TRACK] = {"unknown track id", false},
    [ROCL_FAULT_DANGLING_COUNTER] = {"unknown counter id", false},
    [ROCL_FAULT_ORPHAN_VALUE] = {"value without an event", true},
    [ROCL_FAULT_BAD_VALUE] = {"value of a wrong type", false},
    [ROCL_FAULT_NO_NUMBER] = {"counter value that is not a finite number", true},
    [ROCL_FAULT_BAD_JSON] = {"broken JSON", false},
    [ROCL_FAULT_UNPAIRED_FREE] = {"free without allocation", false},
    [ROCL_FAULT_BAD_LINE] = {"malformed line", true},
    [ROCL_FAULT_DROPPED] = {"dropped while recording", true},
    [ROCL_FAULT_TORN] = {"in a damaged or missing chunk", true},
    [ROCL_FAULT_UNFINISHED] = {"open when the process ended", false},
};

const char *rocl_fault_text(rocl_fault f)
{
    return (unsigned)f < ROCL_FAULTS ? faults[f].text : "";
}

bool rocl_fault_drops(rocl_fault f)
{
    return (unsigned)f < ROCL_FAULTS && faults[f].drops;
}

rocl_status rocl_fault_count(rocl_trace *t, rocl_fault f, rocl_error *err,
                             const char *location_format, ...)
{
    atomic_fetch_add_explicit(&t->faults[f], 1, memory_order_relaxed);
    if (!t->opt.strict)
        return ROCL_OK;
    char location[512];
    va_list ap;
    va_start(ap, location_format);
    vsnprintf(location, sizeof location, location_format, ap);
    va_end(ap);
    return rocl_fail(err, ROCL_INPUT, "%s: %s", location, rocl_fault_text(f));
}

rocl_status rocl_fault_count_n(rocl_trace *t, rocl_fault f, uint64_t n, const char *location,
                               rocl_error *err)
{
    if (!n)
        return ROCL_OK;
    atomic_fetch_add_explicit(&t->faults[f], n - 1, memory_order_relaxed);
    return rocl_fault_count(t, f, err, "%s", location);
}

uint64_t rocl_trace_faults(const rocl_trace *t, rocl_fault f)
{
    return (unsigned)f < ROCL_FAULTS ? t->faults[f] : 0;
}

uint64_t rocl_trace_events(const rocl_trace *t, rocl_kind k)
{
    return (unsigned)k < ROCL_KINDS ? t->events[k] : 0;
}

bool rocl_trace_times(const rocl_trace *t, int64_t *first, int64_t *last)
{
    uint64_t events = 0;
    for (int k = 0; k < ROCL_KINDS; k++)
        events += t->events[k];
    *first = t->first;
    *last = t->last;
    return t->opt.note_times && events > 0;
}

rocl_status rocl_trace_outcome(const rocl_trace *t)
{
    for (int f = 0; f < ROCL_FAULTS; f++)
        if (t->faults[f])
            return ROCL_PARTIAL;
    return t->left_out ? ROCL_PARTIAL : ROCL_OK;
}

uint64_t rocl_trace_bad_texts(const rocl_trace *t)
{
    return rocl_strings_not_utf8(t->strings);
}

rocl_status rocl_trace_outcome_utf8(rocl_trace *t)
{
    return rocl_trace_outcome_texts(t, rocl_strings_not_utf8(t->strings));
}

void rocl_trace_note_text(const rocl_trace *t, const char *p, size_t n)
{
    if (!rocl_utf8_valid(p, n))
        rocl_strings_put(t->strings, p, n);
}

rocl_status rocl_trace_outcome_texts(rocl_trace *t, uint64_t n)
{
    if (!n)
        return rocl_trace_outcome(t);
    /* Once, of however many outputs. */
    if (!atomic_exchange(&t->utf8_reported, true))
        rocl_notice(t, ROCL_NOT_UTF8, n, n == 1 ? " holds" : "s hold");
    return ROCL_PARTIAL;
}

/* ---- notices ---- */

void rocl_notice(const rocl_trace *t, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    if (!t->opt.notice)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    t->opt.notice(t->opt.ctx, text);
}

enum { NAMED = sizeof((rocl_deferred_notice *)NULL)->paths / sizeof(char *) };

void rocl_notice_defer(rocl_trace *t, const char *path, const char *text)
{
    rocl_deferred_notice *n = t->deferred;
    while (n < t->deferred + ROCL_DEFERRED_NOTICES - 1 && n->count && strcmp(n->text, text) != 0)
        n++;
    n->text = text;
    if (n->count < NAMED)
        n->paths[n->count] = path;
    n->count++;
}

void rocl_notices_flush(rocl_trace *t)
{
    for (size_t i = 0; i < ROCL_DEFERRED_NOTICES && t->deferred[i].count; i++) {
        rocl_deferred_notice *d = &t->deferred[i];
        char names[768];
        size_t n = 0;
        for (size_t k = 0; k < d->count && k < NAMED && n < sizeof names; k++)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", d->paths[k]);
        if (d->count > NAMED)
            rocl_notice(t, "%s and %zu more: %s", names, d->count - NAMED, d->text);
        else
            rocl_notice(t, "%s: %s", names, d->text);
        d->count = 0;
    }
}

/* ---- progress ---- */

void rocl_progress_phase(rocl_trace *t, const char *phase, uint64_t total_rows)
{
    t->phase = phase;
    t->rows_total = total_rows;
    atomic_store(&t->rows_done, 0);
    rocl_progress(t, 0);
}

void rocl_progress(rocl_trace *t, uint64_t rows)
{
    uint64_t done = atomic_fetch_add_explicit(&t->rows_done, rows, memory_order_relaxed) + rows;
    /* The user's function decides how often it prints; it just must not be called concurrently. */
    if (t->opt.progress && !atomic_flag_test_and_set(&t->in_progress)) {
        t->opt.progress(t->opt.ctx, t->phase ? t->phase : "", done, t->rows_total);
        atomic_flag_clear(&t->in_progress);
    }
}

/* ---- texts and captures ---- */

const char *rocl_text(const rocl_trace *t, uint32_t text, size_t *len)
{
    return rocl_strings_get(t->strings, text, len);
}

size_t rocl_trace_captures(const rocl_trace *t)
{
    return t->capture_count;
}

const rocl_capture *rocl_trace_capture(const rocl_trace *t, size_t i)
{
    return i < t->capture_count ? &t->captures[i]->pub : NULL;
}

size_t rocl_trace_machines(const rocl_trace *t)
{
    return t->machine_count;
}

size_t rocl_trace_gpus(const rocl_trace *t)
{
    return t->gpu_count;
}

/* ---- inputs are never replaced ---- */

static bool is_same_file(const struct stat *a, const char *path)
{
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

static rocl_status refuse_one(const char *in, const struct stat *out, const char *path,
                              rocl_error *err)
{
    char folder[PATH_MAX];
    if (is_same_file(out, in))
        return rocl_fail(err, ROCL_USAGE, "%s is an input: name another output", in);
    if (!S_ISDIR(out->st_mode) || !realpath(in, folder))
        return ROCL_OK;
    *strrchr(folder, '/') = '\0';
    if (is_same_file(out, *folder ? folder : "/"))
        return rocl_fail(err, ROCL_USAGE, "%s holds the input %s: name another output", path, in);
    return ROCL_OK;
}

rocl_status rocl_refuse_input(const rocl_trace *t, const char *path, rocl_error *err)
{
    struct stat out;
    if (stat(path, &out) != 0)
        return ROCL_OK;
    rocl_status st = rocl_guard_check(&out, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        st = refuse_one(t->captures[i]->pub.path, &out, path, err);
    for (size_t i = 0; t->joined && i < t->joined->count && st == ROCL_OK; i++)
        st = refuse_one(t->joined->paths[i], &out, path, err);
    return st;
}

/* The trace as an account: texts, captures, faults, progress. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/trace.h"

/* ---- accounts ---- */

rocl_status rocl_fault_count(rocl_trace *t, rocl_fault f, rocl_error *err, const char *place_fmt,
                             ...)
{
    atomic_fetch_add_explicit(&t->faults[f], 1, memory_order_relaxed);
    if (!t->opt.strict)
        return ROCL_OK;
    char place[512];
    va_list ap;
    va_start(ap, place_fmt);
    vsnprintf(place, sizeof place, place_fmt, ap);
    va_end(ap);
    return rocl_fail(err, ROCL_INPUT, "%s: %s", place, rocl_fault_text(f));
}

rocl_status rocl_fault_count_n(rocl_trace *t, rocl_fault f, uint64_t n, const char *place,
                               rocl_error *err)
{
    if (!n)
        return ROCL_OK;
    atomic_fetch_add_explicit(&t->faults[f], n - 1, memory_order_relaxed);
    return rocl_fault_count(t, f, err, "%s", place);
}

uint64_t rocl_trace_faults(const rocl_trace *t, rocl_fault f)
{
    return (unsigned)f < ROCL_FAULTS ? t->faults[f] : 0;
}

uint64_t rocl_trace_events(const rocl_trace *t, rocl_kind k)
{
    return (unsigned)k < ROCL_KINDS ? t->events[k] : 0;
}

rocl_status rocl_trace_verdict(const rocl_trace *t)
{
    for (int f = 0; f < ROCL_FAULTS; f++)
        if (t->faults[f])
            return ROCL_PARTIAL;
    return t->left_out ? ROCL_PARTIAL : ROCL_OK;
}

rocl_status rocl_trace_verdict_utf8(const rocl_trace *t)
{
    uint32_t n = rocl_strings_not_utf8(t->strings);
    if (!n)
        return rocl_trace_verdict(t);
    rocl_notice(t, "%" PRIu32 " text%s not UTF-8: U+FFFD stands for each byte that is not", n,
                n == 1 ? " is" : "s are");
    return ROCL_PARTIAL;
}

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

enum { NAMED = sizeof((rocl_remark *)NULL)->paths / sizeof(char *) };

void rocl_remark_add(rocl_trace *t, const char *path, const char *text)
{
    rocl_remark *r = t->remarks;
    while (r < t->remarks + ROCL_REMARKS - 1 && r->count && strcmp(r->text, text) != 0)
        r++;
    r->text = text;
    if (r->count < NAMED)
        r->paths[r->count] = path;
    r->count++;
}

static void say_remark(const rocl_trace *t, const rocl_remark *r)
{
    char names[768];
    size_t n = 0;
    for (size_t i = 0; i < r->count && i < NAMED && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", r->paths[i]);
    if (r->count > NAMED)
        rocl_notice(t, "%s and %zu more: %s", names, r->count - NAMED, r->text);
    else
        rocl_notice(t, "%s: %s", names, r->text);
}

void rocl_remarks_say(rocl_trace *t)
{
    for (rocl_remark *r = t->remarks; r < t->remarks + ROCL_REMARKS && r->count; r++) {
        say_remark(t, r);
        r->count = 0;
    }
}

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
    /* The user's function judges how often it prints; it only must not be called twice at once. */
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

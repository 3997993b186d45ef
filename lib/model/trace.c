/* The trace: opened from inputs, holding definitions and accounts, closed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter/filter.h"
#include "model/trace.h"
#include "source/inputs.h"
#include "source/source.h"

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
    return ROCL_OK;
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

/* Two captures are of one machine when their nodes have the same machine id, or, without one, the
 * same host name. */
static rocl_status number_machine(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    uint32_t identity = 0;
    if (c->node_count)
        identity = c->nodes[0].machine_id ? c->nodes[0].machine_id : c->nodes[0].hostname;
    for (c->machine = 0; c->machine < t->machine_count; c->machine++)
        if (t->machines[c->machine] == identity)
            return ROCL_OK;
    uint32_t *more = realloc(t->machines, (t->machine_count + 1) * sizeof *more);
    if (!more)
        return rocl_fail_memory(err);
    t->machines = more;
    t->machines[t->machine_count++] = identity;
    return ROCL_OK;
}

/* ---- open and close ---- */

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 256 ? 256 : (unsigned)n;
}

static rocl_status prepare(rocl_trace *t, const rocl_options *options, rocl_error *err)
{
    if (options)
        t->opt = *options;
    if (!t->opt.jobs)
        t->opt.jobs = cores();
    if (t->opt.jobs > 256)
        return rocl_fail(err, ROCL_USAGE, "%u jobs are too many: at most 256", t->opt.jobs);
    if (!t->opt.memory)
        t->opt.memory = ROCL_DEFAULT_MEMORY;
    t->strings = rocl_strings_new();
    t->space = rocl_sort_space_new(t->opt.memory, t->opt.jobs, t->opt.tmpdir);
    atomic_flag_clear(&t->in_progress);
    return t->strings && t->space ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_trace_open(rocl_trace **trace, const char *const *inputs, size_t count,
                            const rocl_options *options, rocl_error *err)
{
    rocl_inputs in = {0};
    rocl_trace *t = calloc(1, sizeof *t);
    if (!t)
        return rocl_fail_memory(err);
    rocl_status st = prepare(t, options, err);
    if (st == ROCL_OK)
        st = rocl_inputs_expand(&in, inputs, count, err);
    if (st == ROCL_OK && !in.count)
        st = rocl_fail(err, ROCL_USAGE, "no input given");
    for (size_t i = 0; i < in.count && st == ROCL_OK; i++)
        st = rocl_source_open(t, in.paths[i], err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        st = number_machine(t, &t->captures[i]->pub, err);
    if (st == ROCL_OK)
        st = rocl_filter_new(&t->filter, t, err);
    rocl_inputs_free(&in);
    if (st != ROCL_OK) {
        rocl_trace_close(t);
        return st;
    }
    *trace = t;
    return ROCL_OK;
}

void rocl_trace_close(rocl_trace *t)
{
    if (!t)
        return;
    rocl_filter_free(t->filter);
    for (size_t i = 0; i < t->capture_count; i++) {
        if (t->captures[i]->source->ops->forget)
            t->captures[i]->source->ops->forget(t->captures[i]);
        rocl_arena_free(&t->captures[i]->arena);
        free(t->captures[i]);
    }
    free(t->captures);
    for (size_t i = 0; i < t->source_count; i++) {
        t->sources[i]->ops->close(t->sources[i]);
        free(t->sources[i]->path);
        free(t->sources[i]);
    }
    free(t->sources);
    free(t->machines);
    rocl_sort_space_free(t->space);
    rocl_strings_free(t->strings);
    free(t);
}

/* The filter of a trace: its stages made from the options, and batches run through them. */
#include "filter/filter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "filter/state.h"

/* ---- making ---- */

static bool filters_anything(const rocl_options *o)
{
    return o->run || o->start || o->end || o->start_marker || o->end_marker ||
           rocl_list_used(o->ranks) || rocl_list_used(o->pids) || rocl_list_used(o->agents) ||
           rocl_list_used(o->include) || rocl_list_used(o->exclude) || rocl_list_used(o->names) ||
           rocl_list_used(o->exclude_names) || o->min_duration ||
           rocl_list_used(o->kernel_include) || rocl_list_used(o->kernel_exclude) ||
           o->kernel_iterations || o->steps || o->warmup || rocl_list_used(o->periods);
}

static rocl_status make_workers(rocl_filter *f, rocl_error *err)
{
    unsigned count = f->trace->opt.jobs ? f->trace->opt.jobs : 1;
    f->workers = calloc(count, sizeof *f->workers);
    for (; f->workers && f->worker_count < count; f->worker_count++) {
        f->workers[f->worker_count] = calloc(1, sizeof **f->workers);
        if (!f->workers[f->worker_count])
            return rocl_fail_memory(err);
    }
    return f->workers ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_filter_new(rocl_filter **filter, rocl_trace *t, rocl_error *err)
{
    *filter = NULL;
    if (!filters_anything(&t->opt))
        return ROCL_OK;
    rocl_filter *f = calloc(1, sizeof *f);
    if (!f)
        return rocl_fail_memory(err);
    f->trace = t;
    rocl_names_new(&f->names, &t->opt, false);
    rocl_names_new(&f->kernel_names, &t->opt, true);
    rocl_status st = make_workers(f, err);
    if (st == ROCL_OK && t->opt.min_duration)
        st = rocl_duration_parse(&f->min_duration, "--min-duration", t->opt.min_duration, err);
    if (st == ROCL_OK)
        st = rocl_kinds_new(&f->kinds, t, err);
    /* Every worker compiles the patterns when it first needs them; here it finds their faults. */
    if (st == ROCL_OK)
        st = rocl_names_compile(&f->names, &f->workers[0]->names, err);
    if (st == ROCL_OK)
        st = rocl_names_compile(&f->kernel_names, &f->workers[0]->kernel_names, err);
    if (st == ROCL_OK)
        st = rocl_periods_new(&f->periods, t, err);
    if (st == ROCL_OK)
        st = rocl_iterations_new(&f->iterations, t, err);
    if (st == ROCL_OK)
        st = rocl_step_filter_new(&f->steps, t, err);
    if (st == ROCL_OK)
        st = rocl_window_new(&f->window, t, err);
    if (st == ROCL_OK)
        st = rocl_who_new(&f->who, t, err);
    if (st == ROCL_OK && !rocl_filter_needs_bounds(f) && !rocl_filter_needs_markers(f) &&
        !rocl_filter_needs_dispatches(f))
        st = rocl_filter_resolve(f, err);
    if (st == ROCL_OK)
        *filter = f;
    else
        rocl_filter_free(f);
    return st;
}

void rocl_filter_free(rocl_filter *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < f->worker_count; i++) {
        rocl_map_free(&f->workers[i]->kinds.lists);
        rocl_name_cache_free(&f->workers[i]->names);
        rocl_name_cache_free(&f->workers[i]->kernel_names);
        free(f->workers[i]->keep);
        free(f->workers[i]);
    }
    free(f->workers);
    rocl_window_free(&f->window);
    free(f->periods.v);
    rocl_iterations_free(&f->iterations);
    rocl_step_filter_free(&f->steps);
    rocl_who_free(&f->who);
    rocl_kinds_free(&f->kinds);
    free(f);
}

/* ---- before the events ---- */

bool rocl_filter_needs_bounds(const rocl_filter *f)
{
    return f && !f->resolved &&
           (f->window.start.base > ROCL_TIME_CLOCK || f->window.end.base > ROCL_TIME_CLOCK ||
            f->periods.count);
}

bool rocl_filter_needs_markers(const rocl_filter *f)
{
    return f && !f->resolved && (rocl_window_marked(&f->window) || f->steps.used);
}

bool rocl_filter_needs_dispatches(const rocl_filter *f)
{
    return f && !f->resolved && f->iterations.range_count;
}

void rocl_filter_set_bounds(rocl_filter *f, int64_t first, int64_t last)
{
    if (!f)
        return;
    f->first = first;
    f->last = last;
    f->periods.first = first;
    if (!rocl_window_marked(&f->window) && !f->iterations.range_count && !f->steps.used)
        rocl_filter_resolve(f, NULL); /* errors are reported by resolve or apply */
}

rocl_status rocl_filter_see_markers(rocl_filter *f, const rocl_batch *b, rocl_error *err)
{
    size_t size = rocl_kind_size(b->kind);
    if (!f || (b->kind != ROCL_MARKER && b->kind != ROCL_INSTANT))
        return ROCL_OK;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        if (!rocl_who_process(&f->who, b->capture->index, e->process, b->capture->process_count))
            continue;
        rocl_status st = rocl_window_see(&f->window, b, e, err);
        if (st == ROCL_OK)
            st = rocl_step_filter_see(&f->steps, f->trace, b, e, err);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

rocl_status rocl_filter_see_dispatches(rocl_filter *f, unsigned worker, const rocl_batch *b,
                                       rocl_error *err)
{
    if (!f || b->kind != ROCL_DISPATCH)
        return ROCL_OK;
    return rocl_iterations_see(&f->iterations, worker, b, err);
}

rocl_status rocl_filter_resolve(rocl_filter *f, rocl_error *err)
{
    if (!f || f->resolved)
        return ROCL_OK;
    rocl_status st = rocl_window_resolve(&f->window, f->first, f->last, err);
    if (st == ROCL_OK)
        st = rocl_iterations_resolve(&f->iterations, err);
    if (st == ROCL_OK)
        st = rocl_step_filter_resolve(&f->steps, f->trace, err);
    f->resolved = st == ROCL_OK;
    return st;
}

uint32_t rocl_filter_kinds(const rocl_filter *f)
{
    return f ? f->kinds.possible : ROCL_ALL_KINDS;
}

bool rocl_filter_takes_capture(const rocl_filter *f, const rocl_capture *c)
{
    return !f || !f->who.captures || f->who.captures[c->index].any;
}

/* ---- the events ---- */

/* Clears keep[i] of events shorter than min. Points have no duration to test and pass; counter
 * values carry the times of their dispatch, and pass with it. */
static void test_duration(int64_t min, const rocl_batch *b, uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind);
    if (rocl_kind_in(b->kind, ROCL_POINT_KINDS))
        return;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        /* PyTorch tells of allocations when they were, not how long they took. */
        if (b->kind == ROCL_ALLOC && e->start == e->end)
            continue;
        /* Unsigned: the times of a hostile file may be further apart than int64. */
        keep[i] &= (uint64_t)e->end - (uint64_t)e->start >= (uint64_t)min;
    }
}

static size_t run_end(const uint8_t *keep, size_t at, size_t count, uint8_t value)
{
    const uint8_t *other = at < count ? memchr(keep + at, !value, count - at) : NULL;
    return other ? (size_t)(other - keep) : count;
}

/* Moves runs of records that stay, not single ones; the first run does not move at all. */
static void compact_batch(rocl_batch *b, const uint8_t *keep)
{
    size_t size = rocl_kind_size(b->kind), count = b->count;
    size_t out = run_end(keep, 0, count, 1);
    for (size_t at = out; at < count;) {
        size_t begin = run_end(keep, at, count, 0);
        at = run_end(keep, begin, count, 1);
        if (at > begin)
            memmove((char *)b->any + out * size, (char *)b->any + begin * size,
                    (at - begin) * size);
        out += at - begin;
    }
    b->count = out;
}

static rocl_status fail_not_ready(const rocl_filter *f, rocl_error *err)
{
    rocl_status st = rocl_window_check(&f->window, err);
    if (st != ROCL_OK)
        return st;
    return rocl_fail(err, ROCL_INTERNAL, "the filter was used before its time window was known");
}

/* who_only: the kinds, processes and agents, neither time nor name nor duration. Durations are
 * tested before clipping: a long event of which the window shows a bit is long. */
static rocl_status apply_stages(rocl_filter *f, unsigned worker, rocl_batch *b, bool who_only,
                                rocl_error *err)
{
    if (worker >= f->worker_count)
        return fail_not_ready(f, err);
    rocl_filter_worker *w = f->workers[worker];
    if (!ROCL_GROW(w->keep, w->cap, b->count))
        return rocl_fail_memory(err);
    memset(w->keep, 1, b->count);
    rocl_status st = rocl_kinds_test(&f->kinds, &w->kinds, f->trace, b, w->keep, err);
    if (st != ROCL_OK)
        return st;
    rocl_who_test(&f->who, b, w->keep);
    if (who_only) {
        compact_batch(b, w->keep);
        return ROCL_OK;
    }
    if (f->window.used)
        rocl_window_test(&f->window, b, w->keep);
    rocl_periods_test(&f->periods, b, w->keep);
    if (f->min_duration > 0)
        test_duration(f->min_duration, b, w->keep);
    st = rocl_names_test(&f->names, &w->names, f->trace, b, w->keep, err);
    if (st == ROCL_OK)
        st = rocl_names_test(&f->kernel_names, &w->kernel_names, f->trace, b, w->keep, err);
    if (st != ROCL_OK)
        return st;
    rocl_iterations_test(&f->iterations, b, w->keep);
    rocl_step_filter_test(&f->steps, b, w->keep);
    if (f->window.used && f->window.mode == ROCL_WINDOW_CLIP)
        rocl_window_clip(&f->window, b, w->keep);
    rocl_periods_clip(&f->periods, b, w->keep);
    compact_batch(b, w->keep);
    return ROCL_OK;
}

rocl_status rocl_filter_apply(rocl_filter *f, unsigned worker, rocl_batch *b, rocl_error *err)
{
    if (!f || !b->count)
        return ROCL_OK;
    return f->resolved ? apply_stages(f, worker, b, false, err) : fail_not_ready(f, err);
}

rocl_status rocl_filter_apply_who(rocl_filter *f, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return f && b->count ? apply_stages(f, worker, b, true, err) : ROCL_OK;
}

/* ---- the window, and what to report afterwards ---- */

void rocl_filter_window(const rocl_filter *f, int64_t *from, int64_t *to)
{
    bool used = rocl_filter_has_window(f);
    int64_t first, end;
    *from = used ? f->window.from : INT64_MIN;
    *to = used ? f->window.to : INT64_MAX;
    if (f && f->periods.count && rocl_periods_next(&f->periods, INT64_MIN, &first, &end)) {
        *from = first > *from ? first : *from;
        end = rocl_periods_end(&f->periods);
        *to = end < *to ? end : *to;
    }
}

bool rocl_filter_interval(const rocl_filter *f, int64_t time, int64_t *from, int64_t *to)
{
    int64_t begin, end, window_from, window_to;
    rocl_filter_window(f, &window_from, &window_to);
    time = time > window_from ? time : window_from;
    if (f && f->periods.count && !rocl_periods_next(&f->periods, time, &begin, &end))
        return false;
    if (!f || !f->periods.count)
        begin = window_from, end = window_to;
    *from = begin > window_from ? begin : window_from;
    *to = end < window_to ? end : window_to;
    return time <= window_to && *from <= *to;
}

int64_t rocl_filter_clip_time(const rocl_filter *f, int64_t time, bool begin)
{
    int64_t from, to;
    rocl_filter_window(f, &from, &to);
    if (f && f->periods.count)
        time = rocl_periods_clip_time(&f->periods, time, begin);
    return begin ? (time < from ? from : time) : (time > to ? to : time);
}

bool rocl_filter_has_window(const rocl_filter *f)
{
    return f && f->window.used;
}

rocl_status rocl_filter_within(const rocl_filter *f, int64_t first, int64_t last, rocl_error *err)
{
    const rocl_window *w = &f->window;
    if (w->from <= last && w->to >= first)
        return ROCL_OK;
    bool late = w->from > last;
    const char *text = late ? w->start_text : w->end_text;
    return rocl_fail(err, ROCL_USAGE,
                     "%s \"%.100s\" (%" PRId64 " ns) is %s the trace, which is from %" PRId64
                     " to %" PRId64 " ns",
                     late ? "--start" : "--end", text ? text : "", late ? w->from : w->to,
                     late ? "after" : "before", first, last);
}

rocl_status rocl_filter_report(const rocl_filter *f, uint32_t kinds_read, rocl_error *err)
{
    if (!f)
        return ROCL_OK;
    rocl_status st = rocl_kinds_report(&f->kinds, f->trace, kinds_read, err);
    if (st == ROCL_OK)
        rocl_names_report(&f->names, f->trace);
    if (st == ROCL_OK)
        rocl_names_report(&f->kernel_names, f->trace);
    return st;
}

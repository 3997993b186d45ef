/* --steps and --warmup: the times in which the wanted steps of a process lie. An event belongs to
 * the step in which it begins, so that no event is in two. Several series of steps may be nested,
 * such as steps in epochs: the one with the most time is meant. */
#include "filter/stages.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

rocl_status rocl_step_filter_new(rocl_step_filter *f, const rocl_trace *t, rocl_error *err)
{
    *f = (rocl_step_filter){.used = t->opt.steps || t->opt.warmup};
    return t->opt.steps
               ? rocl_ranges_parse("--steps", t->opt.steps, 0, &f->ranges, &f->range_count, err)
               : ROCL_OK;
}

void rocl_step_filter_free(rocl_step_filter *f)
{
    rocl_steps_free(&f->steps);
    free(f->names.known);
    free(f->ranges);
    free(f->times);
}

rocl_status rocl_step_filter_see(rocl_step_filter *f, const rocl_trace *t, const rocl_batch *b,
                                 const rocl_event *e, rocl_error *err)
{
    bool is = false;
    rocl_status st = ROCL_OK;
    if (f->used && b->kind == ROCL_MARKER)
        st = rocl_is_step(t, &f->names, e->name, &is, err);
    if (st == ROCL_OK && is &&
        !rocl_steps_add(&f->steps,
                        &(rocl_step){.process = (uint64_t)b->capture->index << 32 | e->process,
                                     .start = e->start,
                                     .end = e->end,
                                     .row = rocl_row_word(e->id, b->kind),
                                     .thread = e->thread,
                                     .name = e->name == ROCL_NONE ? 0 : e->name}))
        st = rocl_fail_memory(err);
    return st;
}

/* ---- which times ---- */

ROCL_COMPARE_MEMBERS(compare_times, rocl_step_time, process, from)

static bool add_time(rocl_step_filter *f, uint64_t process, int64_t from, int64_t to)
{
    if (!ROCL_GROW(f->times, f->time_cap, f->time_count + 2))
        return false;
    f->times[f->time_count++] = (rocl_step_time){process, from, to};
    f->times[f->time_count++] = (rocl_step_time){ROCL_ANY_PROCESS, from, to};
    return true;
}

/* Adds the times of the steps of one process. Threads may have steps of their own with the same
 * numbers at the same time: these are left out together. Returns how many steps are wanted;
 * SIZE_MAX: memory is out. */
static size_t add_times(rocl_step_filter *f, uint64_t warmup, const rocl_step *p, size_t n)
{
    size_t kept = 0;
    uint64_t left = warmup;
    int64_t until = INT64_MIN; /* the latest end of those that are left out */
    for (size_t i = 0; i < n; i++) {
        bool counted = false;
        for (size_t k = i; k-- > 0 && !counted && p[i].start < until;)
            counted = p[k].number == p[i].number;
        if (!kept && (counted || left)) {
            left -= !counted;
            until = p[i].end > until ? p[i].end : until;
            continue;
        }
        if (!f->range_count) /* all that begins from here on */
            return add_time(f, p->process, p[i].start, INT64_MAX) ? n - i : SIZE_MAX;
        bool wanted = false;
        for (size_t k = 0; k < f->range_count && !wanted; k++)
            wanted = p[i].number >= f->ranges[k].first && p[i].number <= f->ranges[k].last;
        if (!wanted)
            continue;
        kept++;
        if (!add_time(f, p->process, p[i].start, p[i].end))
            return SIZE_MAX;
    }
    return kept;
}

rocl_status rocl_step_filter_resolve(rocl_step_filter *f, const rocl_trace *t, rocl_error *err)
{
    const char *option = t->opt.steps ? "--steps" : "--warmup";
    if (!f->used)
        return ROCL_OK;
    rocl_status st = rocl_steps_resolve(&f->steps, t, err);
    if (st != ROCL_OK)
        return st;
    if (!f->steps.count)
        return rocl_fail(err, ROCL_USAGE,
                         t->opt.step_markers
                             ? "%s: no marker has a name that --step-markers matches"
                             : "%s: no marker counts steps, as ProfilerStep#3 or step:3 do; "
                               "--step-markers REGEX says which markers are steps",
                         option);
    const rocl_step_series *s = &f->steps.series[0];
    const rocl_step *all = f->steps.all + s->first;
    uint64_t least = UINT64_MAX, most = 0;
    size_t kept = 0;
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i; end < s->count && all[end].process == all[i].process; end++) {
            least = all[end].number < least ? all[end].number : least;
            most = all[end].number > most ? all[end].number : most;
        }
        const size_t n = add_times(f, t->opt.warmup, all + i, end - i);
        if (n == SIZE_MAX)
            return rocl_fail_memory(err);
        kept += n;
    }
    if (!kept)
        return rocl_fail(
            err, ROCL_USAGE,
            "%s: no step is left; the numbers of steps (%.*s) are %" PRIu64 " to %" PRIu64, option,
            (int)(s->stem_len < 100 ? s->stem_len : 100), s->stem, least, most);
    if (kept < s->count)
        rocl_notice(t, "%s: %zu of %zu steps (%.*s) are left out", option, s->count - kept,
                    s->count, (int)(s->stem_len < 100 ? s->stem_len : 100), s->stem);
    /* Times of a process that overlap or touch become one. */
    size_t joined = 0;
    qsort(f->times, f->time_count, sizeof *f->times, compare_times);
    for (size_t i = 0; i < f->time_count; i++) {
        rocl_step_time *last = joined ? &f->times[joined - 1] : NULL;
        if (last && last->process == f->times[i].process && f->times[i].from <= last->to)
            last->to = f->times[i].to > last->to ? f->times[i].to : last->to;
        else
            f->times[joined++] = f->times[i];
    }
    f->time_count = joined;
    return ROCL_OK;
}

/* ---- the events ---- */

/* The last time of a process that begins at `time` or before; NULL: none. *known: the process has
 * any. */
static const rocl_step_time *find_time(const rocl_step_filter *f, uint64_t process, int64_t time,
                                       bool *known)
{
    size_t low = 0, high = f->time_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const rocl_step_time *p = &f->times[middle];
        if (p->process < process || (p->process == process && p->from <= time))
            low = middle + 1;
        else
            high = middle;
    }
    const bool before = low && f->times[low - 1].process == process;
    *known = before || (low < f->time_count && f->times[low].process == process);
    return before ? &f->times[low - 1] : NULL;
}

void rocl_step_filter_test(const rocl_step_filter *f, const rocl_batch *b, uint8_t *keep)
{
    const size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; f->used && i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        bool known;
        if (!keep[i])
            continue;
        const rocl_step_time *in =
            find_time(f, (uint64_t)b->capture->index << 32 | e->process, e->start, &known);
        if (!known)
            in = find_time(f, ROCL_ANY_PROCESS, e->start, &known);
        keep[i] = in && (e->start < in->to || in->from == in->to);
    }
}

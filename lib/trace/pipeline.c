/* source -> filters -> sink, one capture after the other. All workers read a capture together, so
 * mixing captures would gain nothing, and memory and open files do not grow with their number. Only
 * captures too small for that are prefetched: see prefetch.h. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/deal.h"
#include "trace/remote.h"
#include "trace/joint.h"
#include "trace/prefetch.h"
#include "base/pool.h"
#include "filter/filter.h"
#include "model/trace.h"
#include "trace/pipeline.h"
#include "source/source.h"

typedef struct run {
    rocl_trace *trace;
    rocl_filter *filter;
    const rocl_sink *sink;
    rocl_model_capture *capture;
    rocl_plan plan;
    size_t stage_first; /* task of the stage that runs */
    rocl_emitter emitter;
    rocl_prefetch *prefetch; /* NULL: nothing is prefetched */
    const bool *wanted;      /* by capture; the others are not read here. NULL: all are wanted */
    bool raw;                /* events go to the sink as the source makes them */
    rocl_joint *shared;      /* all ranks of a team run the sink; NULL: they do not */
} run;

/* Waking another worker takes longer than reading this many rows. */
#define FEW_ROWS 4096

/* The filter changes a batch in place, so history gets a copy. Such kinds are rare. */
static rocl_status pass_history(run *r, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    size_t size = b->count * rocl_kind_size(b->kind);
    rocl_batch copy = *b;
    copy.any = malloc(size ? size : 1);
    if (!copy.any)
        return rocl_fail_memory(err);
    memcpy(copy.any, b->any, size);
    rocl_status st = rocl_filter_apply_who(r->filter, worker, &copy, err);
    if (st == ROCL_OK && copy.count)
        st = r->sink->history(r->sink->self, worker, &copy, err);
    free(copy.any);
    return st;
}

/* Does the event stay in the batch? */
typedef bool keeps_fn(const run *r, rocl_batch *b, size_t i);

/* Removes events that do not stay, and counts them. `words` end the message of --strict. */
static rocl_status keep_events(run *r, rocl_batch *b, keeps_fn *keeps, rocl_fault fault,
                               const char *words, rocl_error *err)
{
    size_t size = rocl_kind_size(b->kind), kept = 0;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        if (!keeps(r, b, i)) {
            rocl_status st =
                rocl_fault_count(r->trace, fault, err, "%s: %s %" PRIu64 "%s", b->capture->path,
                                 rocl_kind_name(b->kind), e->id, words);
            if (st != ROCL_OK)
                return st;
        } else if (kept++ < i) {
            memcpy((char *)b->any + (kept - 1) * size, e, size);
        }
    }
    b->count = kept;
    return ROCL_OK;
}

/* Sets the clock of the node and those of the process. Drops events whose time would then be
 * negative. */
static bool set_event_clock(const run *r, rocl_batch *b, size_t i)
{
    rocl_event *e = rocl_batch_event(b, i);
    const int64_t more = rocl_clock_shift(r->capture, b->kind, e->process);
    const bool ok = rocl_set_clock(r->capture, &e->start) && rocl_set_clock(r->capture, &e->end) &&
                    !__builtin_add_overflow(e->start, more, &e->start) &&
                    !__builtin_add_overflow(e->end, more, &e->end) && e->start >= 0;
    if (r->capture->drift != 0)
        e->duration = e->end - e->start;
    return ok;
}

/* Counter values that are infinite or NaN mean nothing, and few outputs can write them. */
static bool has_number(const run *r, rocl_batch *b, size_t i)
{
    (void)r;
    return isfinite(b->kind == ROCL_COUNTER ? b->counters[i].value : b->samples[i].value);
}

/* A free of an address that was never allocated frees 0 bytes. It is counted here, once for every
 * output and report, when the filters have passed it. */
static rocl_status count_unpaired_frees(run *r, const rocl_batch *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        if (b->allocs[i].unpaired)
            st = rocl_fault_count(r->trace, ROCL_FAULT_UNPAIRED_FREE, err,
                                  "%s: memory allocation %" PRIu64, b->capture->path,
                                  b->allocs[i].e.id);
    return st;
}

/* Extends the time range of the trace by the events that have passed. */
static void note_times(rocl_trace *t, const rocl_batch *b)
{
    const size_t size = rocl_kind_size(b->kind);
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        first = e->start < first ? e->start : first;
        last = e->end > last ? e->end : last;
    }
    int_least64_t old = t->first;
    while (first < old && !atomic_compare_exchange_weak(&t->first, &old, first))
        ;
    old = t->last;
    while (last > old && !atomic_compare_exchange_weak(&t->last, &old, last))
        ;
}

/* The way of every batch: cleaned, aligned, filtered, counted, and to the sink. */
static rocl_status pass_batch(void *ctx, unsigned worker, rocl_batch *b, rocl_error *err)
{
    run *r = ctx;
    rocl_status st = r->shared ? rocl_joint_poll(r->shared, err) : ROCL_OK;
    if (st != ROCL_OK)
        return st;
    if (r->raw)
        return r->sink->events(r->sink->self, worker, b, err);
    if (rocl_kind_in(b->kind, ROCL_VALUE_KINDS))
        st = keep_events(r, b, has_number, ROCL_FAULT_NO_NUMBER, "", err);
    if (st == ROCL_OK && (r->capture->offset || r->capture->drift != 0 || r->capture->clocks))
        st = keep_events(r, b, set_event_clock, ROCL_FAULT_BAD_TIME, ", with its clock aligned",
                         err);
    if (st == ROCL_OK && (r->sink->history_kinds & ROCL_BIT(b->kind)))
        st = pass_history(r, worker, b, err);
    if (st == ROCL_OK && r->filter)
        st = rocl_filter_apply(r->filter, worker, b, err);
    if (st == ROCL_OK && b->kind == ROCL_ALLOC)
        st = count_unpaired_frees(r, b, err);
    if (st != ROCL_OK || !b->count)
        return st;
    atomic_fetch_add_explicit(&r->trace->events[b->kind], b->count, memory_order_relaxed);
    if (r->sink->no_place_for & ROCL_BIT(b->kind))
        return ROCL_OK;
    if (r->trace->opt.note_times)
        note_times(r->trace, b);
    return r->sink->events(r->sink->self, worker, b, err);
}

static rocl_status end_task(void *ctx, unsigned worker, rocl_error *err)
{
    const rocl_sink *sink = ((const run *)ctx)->sink;
    return sink->end_task ? sink->end_task(sink->self, worker, err) : ROCL_OK;
}

static rocl_status run_task(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    run *r = ctx;
    const rocl_task *task = &r->plan.tasks[r->stage_first + index];
    rocl_status st =
        r->capture->source->ops->scan(r->trace, r->capture, task, worker, &r->emitter, err);
    return st ? st : end_task(r, worker, err);
}

static void begin_reading(rocl_trace *t, const rocl_capture *c, uint64_t rows)
{
    if (t->capture_count > 1)
        snprintf(t->reading, sizeof t->reading, "reading %zu of %zu", (size_t)c->index + 1,
                 t->capture_count);
    rocl_progress_phase(t, t->capture_count > 1 ? t->reading : "reading", rows);
}

/* The stages of the plan one after the other, the tasks of each at once, and what is left then. */
static rocl_status read_capture(run *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    uint64_t rows = rocl_plan_rows(&r->plan);
    bool few = rows <= (r->prefetch ? ROCL_PREFETCH_ROWS : FEW_ROWS);
    r->emitter.few = few;
    begin_reading(r->trace, &r->capture->pub, rows);
    for (size_t i = 0, next; i < r->plan.count && st == ROCL_OK; i = next) {
        for (next = i; next < r->plan.count && r->plan.tasks[next].stage == r->plan.tasks[i].stage;)
            next++;
        r->stage_first = i;
        st = rocl_run_tasks(few ? 1 : r->trace->opt.jobs, next - i, run_task, r, err);
    }
    return st ? st : r->capture->source->ops->finish(r->trace, r->capture, &r->emitter, err);
}

/* Uses a prefetched capture, and does the rest. A file that changes before its turn is an error as
 * without prefetching: the sink may read more of it. */
static rocl_status use_prefetched(run *r, rocl_prefetched *prefetched, rocl_error *err)
{
    uint64_t rows = rocl_plan_rows(&prefetched->plan);
    r->plan = prefetched->plan;
    if (prefetched->whole)
        begin_reading(r->trace, &r->capture->pub, rows);
    rocl_status st = rocl_prefetched_emit(prefetched, &r->emitter, end_task, err);
    if (st == ROCL_OK && !prefetched->whole)
        return read_capture(r, err);
    rocl_progress(r->trace, prefetched->whole ? rows : 0);
    return st ? st : r->capture->source->ops->unchanged(r->trace, r->capture, err);
}

static rocl_status run_capture(run *r, rocl_error *err)
{
    const rocl_source_ops *ops = r->capture->source->ops;
    rocl_prefetched *prefetched = rocl_prefetch_take(r->prefetch, r->capture->pub.index);
    const rocl_sink *sink = r->sink;
    const rocl_capture *c = &r->capture->pub;
    rocl_status st = ROCL_OK;
    if (sink->begin_capture)
        st = sink->begin_capture(sink->self, c, err);
    if (st == ROCL_OK && prefetched)
        st = use_prefetched(r, prefetched, err);
    else if (st == ROCL_OK &&
             (st = ops->begin(r->trace, r->capture, &r->emitter, &r->plan, err)) == ROCL_OK)
        st = read_capture(r, err);
    if (st == ROCL_OK && sink->end_capture)
        st = sink->end_capture(sink->self, c, err);
    if (st == ROCL_OK && r->shared)
        st = rocl_joint_end(r->shared, c, rocl_trace_joins_next(r->trace, c), err);
    ops->end(r->trace, r->capture);
    if (prefetched) {
        r->plan = prefetched->plan;
        rocl_prefetched_free(prefetched);
    }
    free(r->plan.tasks);
    r->plan = (rocl_plan){0};
    return rocl_source_explain(r->capture->source, st, err);
}

/* No prefetching if arguments are wanted, which are not kept; if notices must come in order; or if
 * the sink chooses captures. */
static rocl_prefetch *start_prefetch(const run *r)
{
    rocl_trace *t = r->trace;
    if (t->opt.args || t->opt.collectives || t->opt.explain || r->sink->takes ||
        r->sink->fields & ROCL_FIELD_HANDLES)
        return NULL;
    bool *wanted = calloc(t->capture_count + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < t->capture_count; i++)
        wanted[i] = (!r->wanted || r->wanted[i]) &&
                    rocl_filter_takes_capture(t->filter, &t->captures[i]->pub);
    rocl_prefetch *a = wanted ? rocl_prefetch_new(t, wanted, &r->emitter) : NULL;
    free(wanted);
    return a;
}

static rocl_status read_captures(run *r, rocl_error *err)
{
    rocl_trace *t = r->trace;
    const rocl_sink *sink = r->sink;
    rocl_status st = ROCL_OK;
    r->emitter.emit = pass_batch;
    r->emitter.ctx = r;
    r->prefetch = start_prefetch(r);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        r->capture = t->captures[i];
        const rocl_capture *c = &r->capture->pub;
        bool takes = (!r->wanted || r->wanted[i]) && rocl_filter_takes_capture(t->filter, c);
        if (r->shared && takes)
            rocl_joint_begin(r->shared, c, &takes);
        if (takes && sink->takes)
            st = sink->takes(sink->self, c, &takes, err);
        if (st == ROCL_OK && takes)
            st = run_capture(r, err);
        else if (r->capture->source) /* its file may have to be closed after it */
            r->capture->source->ops->end(t, r->capture);
    }
    rocl_prefetch_free(r->prefetch);
    return st;
}

/* ---- what other ranks of a team read ---- */

static rocl_status pass_dealt_batch(void *ctx, unsigned worker, rocl_batch *b, rocl_error *err)
{
    run of_capture = *(const run *)ctx; /* captures arrive concurrently */
    of_capture.capture = of_capture.trace->captures[b->capture->index];
    return pass_batch(&of_capture, worker, b, err);
}

rocl_status rocl_pipeline_complete(rocl_trace *t, rocl_error *err)
{
    return rocl_remote_complete(t, err);
}

static rocl_status run_captures(rocl_trace *t, rocl_filter *filter, const rocl_sink *sink,
                                uint32_t kinds, rocl_error *err)
{
    run r = {.trace = t, .filter = filter, .sink = sink};
    r.emitter.kinds = kinds;
    r.emitter.fields = sink->fields;
    /* While the others write, they do not read for rank 0. */
    if (!t->deal || (t->joint && rocl_joint_started(t->joint)))
        return read_captures(&r, err);
    rocl_status st = rocl_remote_complete(t, err);
    /* For sinks that take captures one after the other, all are read here. */
    if (st != ROCL_OK || sink->begin_capture || sink->end_capture || sink->takes)
        return st == ROCL_OK ? read_captures(&r, err) : st;
    bool *mine = calloc(2 * t->capture_count + 1, sizeof *mine), any = false;
    if (!mine)
        return rocl_fail_memory(err);
    bool *theirs = mine + t->capture_count;
    for (size_t i = 0; i < t->capture_count; i++) {
        mine[i] = !rocl_is_dealt(t->deal, (uint32_t)i);
        theirs[i] = !mine[i] && rocl_filter_takes_capture(t->filter, &t->captures[i]->pub);
        any |= theirs[i];
    }
    const rocl_deal_read dealt = {.wanted = theirs,
                                  .kinds = kinds,
                                  .sent = kinds & (sink->kinds | sink->no_place_for),
                                  .fields = sink->fields,
                                  .batch = pass_dealt_batch,
                                  .end_task = end_task,
                                  .ctx = &r};
    st = any ? rocl_deal_run(t, &dealt, err) : ROCL_OK;
    r.wanted = mine; /* the rest */
    if (st == ROCL_OK)
        st = read_captures(&r, err);
    free(mine);
    return st;
}

/* All ranks run the sink over their own captures. Rank 0 adds up their counts. */
static rocl_status run_shared(rocl_trace *t, const rocl_sink *sink, uint32_t kinds, rocl_error *err)
{
    run r = {.trace = t,
             .filter = t->filter,
             .sink = sink,
             .wanted = rocl_joint_own(t->joint),
             .shared = t->joint};
    r.emitter.kinds = kinds;
    r.emitter.fields = sink->fields;
    rocl_status st = rocl_joint_leads(t->joint) ? rocl_joint_start(t->joint, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = read_captures(&r, err);
    if (st == ROCL_OK && !rocl_strings_complete(t->strings))
        st = rocl_fail_memory(err);
    return rocl_joint_end_reading(t->joint, st, err);
}

/* ---- what filters must know before the first event passes ---- */

typedef struct survey {
    rocl_filter *filter;
    pthread_mutex_t lock;
    bool bounds, markers, dispatches, any;
    int64_t first, last;
} survey;

static rocl_status survey_batch(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    survey *s = self;
    rocl_status st = ROCL_OK;
    if (s->dispatches)
        st = rocl_filter_see_dispatches(s->filter, worker, b, err);
    if (st != ROCL_OK || !(s->bounds || s->markers))
        return st;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; s->bounds && i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        s->first = s->any && s->first < e->start ? s->first : e->start;
        s->last = s->any && s->last > e->end ? s->last : e->end;
        s->any = true;
    }
    if (s->markers)
        st = rocl_filter_see_markers(s->filter, b, err);
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void reset_counts(rocl_trace *t)
{
    for (int i = 0; i < ROCL_KINDS; i++)
        t->events[i] = 0;
    for (int i = 0; i < ROCL_FAULTS; i++)
        t->faults[i] = 0;
    t->first = INT64_MAX;
    t->last = INT64_MIN;
}

rocl_status rocl_pipeline_read(rocl_trace *t, const bool *wanted, const rocl_sink *sink,
                               rocl_error *err)
{
    run r = {.trace = t, .sink = sink, .wanted = wanted, .raw = true};
    r.emitter.kinds = sink->kinds;
    r.emitter.fields = sink->fields;
    reset_counts(t);
    rocl_status st = read_captures(&r, err);
    if (st == ROCL_OK && !rocl_strings_complete(t->strings))
        st = rocl_fail_memory(err);
    return st;
}

/* Applies the rules for broken records, so that these do not stretch the trace. Counts are reset,
 * as the records will be read again. */
rocl_status rocl_pipeline_survey(rocl_trace *t, const rocl_sink *sink, rocl_error *err)
{
    bool args = t->opt.args;
    t->opt.args = false;
    rocl_status st = run_captures(t, NULL, sink, sink->kinds, err);
    t->opt.args = args;
    reset_counts(t);
    return st;
}

static rocl_status survey_trace(rocl_trace *t, rocl_error *err)
{
    survey s = {.filter = t->filter,
                .bounds = rocl_filter_needs_bounds(t->filter),
                .markers = rocl_filter_needs_markers(t->filter),
                .dispatches = rocl_filter_needs_dispatches(t->filter)};
    uint32_t kinds = s.bounds ? ROCL_ALL_KINDS : 0;
    kinds |= s.markers ? ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT) : 0;
    kinds |= s.dispatches ? ROCL_BIT(ROCL_DISPATCH) : 0;
    const rocl_sink sink = {.self = &s, .kinds = kinds, .events = survey_batch};
    if (!kinds)
        return ROCL_OK;
    pthread_mutex_init(&s.lock, NULL);
    rocl_status st = rocl_pipeline_survey(t, &sink, err);
    pthread_mutex_destroy(&s.lock);
    if (st == ROCL_OK && s.bounds && s.any)
        rocl_filter_set_bounds(t->filter, s.first, s.last);
    return st;
}

/* Nothing passed: is the time window outside of this trace? Only then all events are read once
 * more. Counts stay as they are. */
static rocl_status check_window(rocl_trace *t, rocl_error *err)
{
    survey s = {.filter = t->filter, .bounds = true};
    const rocl_sink sink = {.self = &s, .kinds = ROCL_ALL_KINDS, .events = survey_batch};
    uint64_t events = 0, faults[ROCL_FAULTS];
    for (int i = 0; i < ROCL_KINDS; i++)
        events += t->events[i];
    if (events || !rocl_filter_has_window(t->filter))
        return ROCL_OK;
    for (int i = 0; i < ROCL_FAULTS; i++)
        faults[i] = t->faults[i];
    pthread_mutex_init(&s.lock, NULL);
    rocl_status st = rocl_pipeline_survey(t, &sink, err);
    pthread_mutex_destroy(&s.lock);
    for (int i = 0; i < ROCL_FAULTS; i++)
        t->faults[i] = faults[i];
    return st == ROCL_OK && s.any ? rocl_filter_within(t->filter, s.first, s.last, err) : st;
}

rocl_status rocl_pipeline_find_window(rocl_trace *t, rocl_error *err)
{
    reset_counts(t);
    if (!t->filter)
        return ROCL_OK;
    rocl_status st = survey_trace(t, err);
    if (st == ROCL_OK)
        st = rocl_filter_resolve(t->filter, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        rocl_model_capture *c = t->captures[i];
        int64_t first, last;
        bool any = false;
        if (c->source->ops->peek_times)
            st = c->source->ops->peek_times(t, c, &first, &last, &any, err);
        if (st == ROCL_OK && any)
            st = rocl_filter_within(t->filter, first, last, err);
    }
    return st;
}

/* *kinds: reduced to those that can pass. */
static rocl_status begin_run(rocl_trace *t, uint32_t *kinds, rocl_error *err)
{
    reset_counts(t);
    if (!t->filter)
        return ROCL_OK;
    *kinds &= rocl_filter_kinds(t->filter) | ROCL_BIT(ROCL_FLOW); /* the sink tests flows itself */
    const rocl_status st = survey_trace(t, err);
    return st == ROCL_OK ? rocl_filter_resolve(t->filter, err) : st;
}

rocl_status rocl_pipeline_run_first(rocl_trace *t, const rocl_sink *sink, uint32_t kinds,
                                    rocl_error *err)
{
    const rocl_status st = begin_run(t, &kinds, err);
    return st == ROCL_OK ? run_captures(t, t->filter, sink, kinds, err) : st;
}

void rocl_pipeline_note_left_out(rocl_trace *t, const rocl_sink *sink)
{
    for (rocl_kind k = 0; k < ROCL_KINDS; k++) {
        const uint64_t n = sink->no_place_for & ROCL_BIT(k) ? t->events[k] : 0;
        const char *plural = n == 1 ? "" : "s";
        if (n && k == ROCL_FLOW)
            rocl_notice(t,
                        "%" PRIu64 " end%s of arrows between calls left out: %s has no place for "
                        "them",
                        n, plural, sink->output);
        else if (n)
            rocl_notice(t, "%" PRIu64 " %s%s left out: %s has no place for them", n,
                        rocl_kind_name(k), plural, sink->output);
    }
}

rocl_status rocl_pipeline_run(rocl_trace *t, const rocl_sink *sink, rocl_error *err)
{
    uint32_t kinds = sink->kinds | sink->no_place_for;
    if (t->run_sink)
        return t->run_sink(t->run_sink_ctx, sink, err);
    rocl_status st = begin_run(t, &kinds, err);
    if (st == ROCL_OK && t->joint)
        st = run_shared(t, sink, kinds, err);
    else if (st == ROCL_OK)
        st = run_captures(t, t->filter, sink, kinds, err);
    if (st == ROCL_OK && t->joint && !rocl_joint_leads(t->joint))
        return st; /* rank 0 reports the rest */
    if (st == ROCL_OK && !rocl_strings_complete(t->strings))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = check_window(t, err);
    if (st == ROCL_OK)
        st = rocl_filter_report(t->filter, kinds, err);
    if (st == ROCL_OK)
        rocl_pipeline_note_left_out(t, sink);
    return st;
}

/* ---- the public scan: the user is the sink ---- */

typedef struct scan_sink {
    rocl_batch_fn *fn;
    void *ctx;
} scan_sink;

static rocl_status call_user(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    scan_sink *s = self;
    return s->fn(s->ctx, worker, b, err);
}

rocl_status rocl_trace_scan(rocl_trace *t, uint32_t kinds, uint32_t fields, rocl_batch_fn *fn,
                            void *ctx, rocl_error *err)
{
    scan_sink s = {fn, ctx};
    rocl_sink sink = {.self = &s,
                      .kinds = kinds & (ROCL_ALL_KINDS | ROCL_BIT(ROCL_FLOW)),
                      .fields = fields & (ROCL_ALL_FIELDS | ROCL_FIELD_INSTANCES |
                                          ROCL_FIELD_PLACES | ROCL_FIELD_HANDLES),
                      .events = call_user};
    rocl_status st = rocl_pipeline_run(t, &sink, err);
    return st ? st : rocl_trace_outcome(t);
}

unsigned rocl_trace_jobs(const rocl_trace *t)
{
    return t->opt.jobs;
}

bool rocl_trace_takes(const rocl_trace *t, const rocl_capture *c)
{
    return rocl_filter_takes_capture(t->filter, c);
}

bool rocl_trace_joins_next(const rocl_trace *t, const rocl_capture *c)
{
    for (size_t i = c->index; t->captures[i]->joins_next; i++)
        if (rocl_trace_takes(t, &t->captures[i + 1]->pub))
            return true;
    return false;
}

void rocl_trace_window(const rocl_trace *t, int64_t *from, int64_t *to)
{
    rocl_filter_window(t->filter, from, to);
}

bool rocl_trace_interval(const rocl_trace *t, int64_t time, int64_t *from, int64_t *to)
{
    return rocl_filter_interval(t->filter, time, from, to);
}

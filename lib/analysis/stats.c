/* One pass over the trace for all reports that were asked for. */
#include <string.h>

#include "analysis/calls.h"
#include "base/pool.h"
#include "trace/pipeline.h"

#define REPORT(r) (1u << ROCL_REPORT_##r)

/* Who makes which reports, in the order of the tables. */
static const struct {
    uint32_t reports;
    rocl_collector_new *make;
    bool by_stream; /* only with it, and not in brief */
    bool slow;      /* to finish: begun before the others */
} makers[] = {
    {REPORT(LAUNCH) | REPORT(GAPS), rocl_calls_collector, false, false},
    {REPORT(DOMAINS) | REPORT(SUMMARY) | REPORT(KERNELS) | REPORT(COPIES), rocl_summary_collector,
     false, false},
    {REPORT(OVERLAP) | REPORT(GAPS), rocl_busy_collector, false, false},
    {REPORT(GAPS), rocl_lane_gaps_collector, true, false},
    {REPORT(TIMELINE), rocl_timeline_collector, false, false},
    {REPORT(HISTOGRAM), rocl_histogram_collector, false, false},
    {REPORT(LAUNCH), rocl_launch_collector, false, false},
    {REPORT(MARKERS), rocl_markers_collector, false, true},
    {REPORT(RANKS), rocl_ranks_collector, false, false},
    {REPORT(MEMORY), rocl_memory_collector, false, false},
    {REPORT(COUNTERS), rocl_counter_collector, false, false},
    {REPORT(STREAMS), rocl_streams_collector, false, false},
};

enum { COLLECTORS = sizeof makers / sizeof *makers };

typedef struct stats {
    rocl_collector collectors[COLLECTORS];
    rocl_tables *tables[COLLECTORS]; /* of each */
    unsigned order[COLLECTORS];      /* in which they are finished */
    unsigned count;
} stats;

const char *rocl_report_name(rocl_report r)
{
    static const char *const names[ROCL_REPORTS] = {
        "domains", "summary", "kernels",  "copies",    "overlap", "gaps",     "launch",
        "markers", "ranks",   "timeline", "histogram", "memory",  "counters", "streams"};
    return (unsigned)r < ROCL_REPORTS ? names[r] : "";
}

static rocl_status events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    stats *s = self;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++)
        if (s->collectors[i].kinds & ROCL_BIT(b->kind))
            st = s->collectors[i].events(s->collectors[i].self, worker, b, err);
    return st;
}

static rocl_status history(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    stats *s = self;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++)
        if (s->collectors[i].history_kinds & ROCL_BIT(b->kind))
            st = s->collectors[i].history(s->collectors[i].self, worker, b, err);
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    stats *s = self;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++)
        st = s->collectors[i].end_task(s->collectors[i].self, worker, err);
    return st;
}

static rocl_status make_collectors(stats *s, rocl_trace *t, const rocl_stats_options *o,
                                   rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < COLLECTORS && st == ROCL_OK; i++) {
        if (!(o->reports & makers[i].reports) ||
            (makers[i].by_stream && (!o->by_stream || o->brief)))
            continue;
        /* The slow ones first, each before the former. */
        if (makers[i].slow)
            memmove(s->order + 1, s->order, s->count * sizeof *s->order);
        s->order[makers[i].slow ? 0 : s->count] = s->count;
        st = makers[i].make(&s->collectors[s->count++], t, o, err);
    }
    return st;
}

/* The collector of calls, if there is one, is the first. */
static rocl_status look_up_calls(stats *s, rocl_error *err)
{
    rocl_calls *calls = NULL;
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++) {
        if (!s->collectors[i].ask)
            continue;
        calls = s->collectors[0].self;
        st = s->collectors[i].ask(s->collectors[i].self, calls, err);
    }
    return st == ROCL_OK && calls ? rocl_calls_answer(calls, err) : st;
}

static rocl_status finish_collector(stats *s, unsigned i, rocl_error *err)
{
    s->tables[i] = rocl_tables_new();
    return s->tables[i] ? s->collectors[i].finish(s->collectors[i].self, s->tables[i], err)
                        : rocl_fail_memory(err);
}

/* Those who ask for calls are finished when these have been told. */
static rocl_status finish_askers(stats *s, rocl_error *err)
{
    rocl_status st = look_up_calls(s, err);
    for (unsigned i = 0; i < s->count && st == ROCL_OK; i++)
        if (s->collectors[i].ask)
            st = finish_collector(s, i, err);
    return st;
}

static rocl_status finish_one(void *ctx, unsigned worker, size_t task, rocl_error *err)
{
    stats *s = ctx;
    unsigned i = s->order[task];
    rocl_status st = i ? ROCL_OK : finish_askers(s, err); /* it is the collector of calls */
    (void)worker;
    return st != ROCL_OK || s->collectors[i].ask ? st : finish_collector(s, i, err);
}

/* Else collectors know nothing of each other: whoever is free finishes the next. */
static rocl_status finish(stats *s, unsigned jobs, rocl_tables *out, rocl_error *err)
{
    rocl_status st = rocl_run_tasks(jobs, s->count, finish_one, s, err);
    for (unsigned i = 0; i < s->count; i++) {
        if (st == ROCL_OK && !rocl_tables_join(out, s->tables[i]))
            st = rocl_fail_memory(err);
        rocl_tables_free(s->tables[i]);
    }
    return st;
}

static rocl_status run(stats *s, rocl_trace *t, rocl_tables *out, rocl_error *err)
{
    rocl_sink sink = {.self = s, .events = events, .history = history, .end_task = end_task};
    for (unsigned i = 0; i < s->count; i++) {
        sink.kinds |= s->collectors[i].kinds;
        sink.history_kinds |= s->collectors[i].history_kinds;
    }
    rocl_status st = rocl_pipeline_run(t, &sink, err);
    return st ? st : finish(s, t->opt.jobs, out, err);
}

/* Before anything is read. */
static rocl_status check_options(const rocl_stats_options *o, rocl_error *err)
{
    uint32_t domains;
    rocl_status st = rocl_domains_check(o->domains, err);
    for (const char *const *g = o->summary_groups; g && *g && st == ROCL_OK; g++)
        st = rocl_domains_matching(*g, &domains, err);
    return st;
}

rocl_status rocl_stats(rocl_trace *t, const rocl_stats_options *o, rocl_tables **tables,
                       rocl_error *err)
{
    stats s = {0};
    rocl_tables *out = rocl_tables_new();
    if (!out)
        return rocl_fail_memory(err);
    rocl_status st = check_options(o, err);
    if (st == ROCL_OK)
        st = make_collectors(&s, t, o, err);
    if (st == ROCL_OK)
        st = run(&s, t, out, err);
    if (st == ROCL_OK && o->advice)
        st = rocl_advise(out, err);
    if (st == ROCL_OK)
        st = rocl_tables_verdict(out, t, err);
    for (unsigned i = 0; i < s.count; i++)
        if (s.collectors[i].self)
            s.collectors[i].free(s.collectors[i].self);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    *tables = out;
    return rocl_trace_outcome(t);
}

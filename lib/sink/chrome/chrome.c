/* The Chrome sink. Captures are read one after the other, each into a sorter of its own, and
 * written when all are in: only then the first time of the trace is known, which all others are
 * relative to. Meanwhile their records wait packed, within the memory of the sort space and beyond
 * it in its file. */
#include <inttypes.h>
#include <stdlib.h>

#include "sink/chrome/chrome.h"
#include "base/deflate.h"
#include "base/out.h"
#include "trace/pipeline.h"

/* Times below are exact to the nanosecond as doubles in microseconds, and after multiplying by
 * 1000. */
#define EXACT  ((int64_t)1 << 51)
#define SECOND 1000000000

/* ---- reading ---- */

static rocl_status begin_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    chrome_sink *c = self;
    chrome_capture *at = &c->captures[capture->index];
    at->sorter = c->timeline.encoder.sorter = rocl_record_sorter(c->trace);
    if (!at->sorter)
        return rocl_fail_memory(err);
    rocl_trace_window(c->trace, &c->timeline.from, &c->timeline.to);
    rocl_status st = rocl_encoder_check(capture, err);
    if (st == ROCL_OK && c->opt.flows) {
        c->timeline.encoder.links = &at->links;
        st = rocl_links_open(&at->links, c->trace, true, err);
    }
    return st;
}

static void widen_span(chrome_span *s, int64_t first, int64_t last)
{
    s->first = first < s->first ? first : s->first;
    s->last = last > s->last ? last : s->last;
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    chrome_sink *c = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        widen_span(&c->spans[worker], e->start, e->end);
    }
    return rocl_encoder_events(c, worker, b, err);
}

/* What was allocated before the window is shown at its begin. */
static rocl_status add_history(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    chrome_sink *c = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        int64_t first = e->start > c->timeline.from ? e->start : c->timeline.from;
        if (first <= c->timeline.to)
            widen_span(&c->spans[worker], first, e->end < c->timeline.to ? e->end : c->timeline.to);
    }
    return rocl_encode_history(&c->timeline.encoder, worker, b, err);
}

/* ---- writing ---- */

static void forget_capture(chrome_capture *c)
{
    rocl_sorter_free(c->sorter);
    rocl_links_free(&c->links);
    c->sorter = NULL;
    c->links = (rocl_links){0};
}

/* Rank 0 of a team must know it. */
static rocl_status note_drawn(const chrome_sink *c, chrome_capture *at, rocl_error *err)
{
    const chrome_world *w = &c->world;
    at->new_rows = w->new_rows;
    at->gpus = calloc(w->gpus.count + 1, sizeof *at->gpus);
    for (uint32_t i = 0; at->gpus && i < w->gpus.count; i++)
        if (w->gpu_seen[i])
            at->gpus[at->gpu_count++] = i;
    return at->gpus ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status write_capture(chrome_sink *c, size_t index, rocl_error *err)
{
    const rocl_capture *capture = &c->trace->captures[index]->pub;
    chrome_part p = {.part = {.timeline = &c->timeline}, .sink = c};
    const size_t kept = c->stream.kept_count;
    rocl_timeline_set_capture(&c->timeline, capture);
    c->timeline.sorter = c->captures[index].sorter;
    c->timeline.links = c->captures[index].links;
    chrome_world_capture(&c->world, capture);
    rocl_status st = rocl_sorter_start(c->timeline.sorter, err);
    if (st == ROCL_OK)
        st = chrome_stream_flush(&c->stream, false, err);
    if (st == ROCL_OK)
        st = rocl_timeline_part_begin(&p.part, err);
    while (st == ROCL_OK && p.part.more) {
        st = rocl_timeline_draw(&p.part, err);
        if (st == ROCL_OK)
            st = chrome_stream_flush(&c->stream, false, err);
    }
    if (st == ROCL_OK)
        st = chrome_stream_flush(&c->stream, true, err);
    c->captures[index].drawn = c->stream.kept_count > kept;
    if (st == ROCL_OK && c->captures[index].drawn)
        st = note_drawn(c, &c->captures[index], err);
    c->report.slices += p.part.counts.slices;
    c->report.values += p.part.counts.values;
    c->report.lanes += p.part.counts.lanes;
    c->report.moved += p.part.counts.moved;
    rocl_timeline_part_free(&p.part);
    forget_capture(&c->captures[index]);
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    chrome_sink *c = self;
    chrome_capture *at = &c->captures[capture->index];
    rocl_status st = ROCL_OK;
    for (unsigned w = 0; w < c->trace->opt.jobs && st == ROCL_OK; w++)
        st = rocl_sorter_seal(at->sorter, w, err);
    for (unsigned w = 0; w < c->trace->opt.jobs && st == ROCL_OK && c->opt.flows; w++)
        st = rocl_links_seal(&at->links, w, err);
    if (st == ROCL_OK && c->opt.flows)
        st = rocl_links_resolve(&at->links, &at->sorter, err);
    return st == ROCL_OK && c->trace->parts ? write_capture(c, capture->index, err) : st;
}

static void find_span(const chrome_sink *c, chrome_span *all)
{
    *all = (chrome_span){INT64_MAX, INT64_MIN};
    for (unsigned w = 0; w < c->trace->opt.jobs; w++)
        widen_span(all, c->spans[w].first, c->spans[w].last);
}

static int64_t time_base(const chrome_sink *c, const chrome_span *all)
{
    if (all->last > all->first && (uint64_t)all->last - (uint64_t)all->first >= EXACT)
        rocl_notice(c->trace,
                    "the times are %" PRId64 " days apart, perhaps because clocks differ: readers "
                    "that use doubles lose single nanoseconds",
                    (int64_t)(((uint64_t)all->last - (uint64_t)all->first) / SECOND / 86400));
    return all->last < EXACT ? 0 : all->first - all->first % SECOND;
}

static rocl_status write_all(chrome_sink *c, rocl_error *err)
{
    uint64_t rows = 0;
    chrome_span all;
    for (size_t i = 0; i < c->trace->capture_count; i++)
        rows += c->captures[i].sorter ? rocl_sorter_count(c->captures[i].sorter) : 0;
    rocl_progress_phase(c->trace, "writing", rows);
    rocl_status st = ROCL_OK;
    find_span(c, &all);
    chrome_stream_set_base(&c->stream, time_base(c, &all));
    for (size_t i = 0; i < c->trace->capture_count && st == ROCL_OK; i++)
        if (c->captures[i].sorter)
            st = write_capture(c, i, err);
    return st;
}

/* On rank 0: rows of a capture follow those of the one before. */
static rocl_status settle_numbers(chrome_sink *c, uint32_t *first_rows, uint32_t *begins,
                                  rocl_error *err)
{
    chrome_span all;
    find_span(c, &all);
    rocl_status st = chrome_team_hear(c, &all, err);
    uint32_t next = c->world.first_row;
    *begins = ROCL_NONE;
    for (size_t i = 0; i < c->world.gpus.count; i++)
        c->world.gpu_first[i] = ROCL_NONE;
    for (size_t i = c->trace->capture_count; i-- > 0;)
        for (size_t k = 0; k < c->captures[i].gpu_count; k++)
            c->world.gpu_first[c->captures[i].gpus[k]] = (uint32_t)i;
    for (size_t i = 0; i < c->trace->capture_count; i++) {
        first_rows[i] = next;
        next += c->captures[i].new_rows;
        if (c->captures[i].drawn && *begins == ROCL_NONE)
            *begins = (uint32_t)i;
    }
    if (st == ROCL_OK)
        chrome_stream_set_base(&c->stream, time_base(c, &all));
    return st ? st : chrome_team_tell(c, first_rows, *begins, err);
}

/* In a team all is drawn. */
static rocl_status write_drawn(chrome_sink *c, rocl_error *err)
{
    chrome_span own;
    uint32_t *first_rows = calloc(c->trace->capture_count + 1, sizeof *first_rows), begins;
    find_span(c, &own);
    rocl_status st = !first_rows ? rocl_fail_memory(err)
                     : rocl_parts_leads(c->trace->parts)
                         ? settle_numbers(c, first_rows, &begins, err)
                         : chrome_team_answer(c, &own, first_rows, &begins, err);
    if (st == ROCL_OK)
        st = chrome_stream_put_kept(&c->stream, first_rows, begins, err);
    free(first_rows);
    return st;
}

static rocl_status commit_trace(chrome_sink *c, rocl_error *err)
{
    uint64_t counts[] = {c->report.slices, c->report.values, c->report.lanes, c->report.moved};
    rocl_parts_sums sums = {.own = counts, .own_count = sizeof counts / sizeof *counts};
    const rocl_status st = chrome_stream_commit(&c->stream, &sums, err);
    c->report.bytes = sums.bytes;
    c->report.slices = counts[0];
    c->report.values = counts[1];
    c->report.lanes = counts[2];
    c->report.moved = counts[3];
    return st;
}

/* ---- the run ---- */

static rocl_status open_sink(chrome_sink *c, rocl_error *err)
{
    rocl_trace *t = c->trace;
    c->spans = rocl_cache_line_calloc(t->opt.jobs, sizeof *c->spans);
    c->captures = calloc(t->capture_count + 1, sizeof *c->captures);
    if (!c->spans || !c->captures)
        return rocl_fail_memory(err);
    for (unsigned w = 0; w < t->opt.jobs; w++)
        c->spans[w] = (chrome_span){INT64_MAX, INT64_MIN};
    rocl_status st = rocl_encoder_open(&c->timeline.encoder, err);
    if (st == ROCL_OK)
        st = chrome_stream_open(&c->stream, t, &c->opt, err);
    if (st == ROCL_OK)
        st = chrome_world_open(&c->world, &c->stream, t, err);
    if (st == ROCL_OK)
        chrome_stream_set_gpus(&c->stream, &c->world.gpus, c->world.gpu_first);
    return st;
}

static void close_sink(chrome_sink *c)
{
    for (size_t i = 0; c->captures && i < c->trace->capture_count; i++) {
        forget_capture(&c->captures[i]);
        free(c->captures[i].gpus);
    }
    for (size_t i = 0; i < c->counter_cap; i++)
        rocl_buf_free(&c->counters[i].name);
    free(c->counters);
    chrome_world_close(&c->world);
    chrome_stream_close(&c->stream);
    rocl_encoder_close(&c->timeline.encoder);
    free(c->captures);
    free(c->spans);
}

rocl_status rocl_write_chrome(rocl_trace *t, const rocl_chrome_options *o, rocl_written *report,
                              rocl_error *err)
{
    chrome_sink c = {.trace = t,
                     .opt = *o,
                     .timeline = {.encoder = {.trace = t},
                                  .ops = &chrome_timeline_ops,
                                  .by_queue = o->group_by_queue}};
    rocl_sink sink = rocl_encoder_sink(&c.timeline.encoder);
    sink.begin_capture = begin_capture;
    sink.events = add_events;
    sink.history = add_history;
    sink.end_capture = end_capture;
    sink.kinds |= o->flows ? ROCL_BIT(ROCL_FLOW) : 0;
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK)
        st = open_sink(&c, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = t->parts ? write_drawn(&c, err) : write_all(&c, err);
    if (st == ROCL_OK)
        st = commit_trace(&c, err);
    close_sink(&c);
    if (report)
        *report = c.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}

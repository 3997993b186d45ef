/* The Chrome sink. Captures are read one after the other, each into a sorter of its own, and
 * written when all are in: only then the first time of the trace is known, which all others are
 * relative to. Meanwhile their records wait packed, within the memory of the sort space and beyond
 * it in its file. */
#include <inttypes.h>
#include <stdlib.h>

#include "sink/chrome/chrome.h"
#include "base/out.h"
#include "trace/pipeline.h"

/* Times below are exact to the nanosecond as doubles in microseconds, and after multiplying by
 * 1000. */
#define EXACT  ((int64_t)1 << 51)
#define SECOND 1000000000

rocl_status chrome_next(chrome_sink *c, rocl_error *err)
{
    rocl_status st = chrome_stream_flush(c->stream, false, err);
    if (st == ROCL_OK)
        st = rocl_sorter_next(c->part->sorter, &c->record, &c->more, err);
    if (st == ROCL_OK && c->more && !rocl_record_decode(&c->record, &c->event))
        st = rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    return st;
}

uint8_t chrome_flow(chrome_sink *c)
{
    return c->opt.flows ? chrome_links_of(&c->part->links, &c->event) : 0;
}

void chrome_event(chrome_sink *c, uint32_t pid, uint32_t tid)
{
    chrome_line line = {
        .pid = pid, .tid = tid, .capture = c->world.capture->index, .flow = chrome_flow(c)};
    chrome_put_event(c->stream, &line, &c->record, c->event.name == ROCL_NONE ? 0 : c->event.name);
}

/* ---- reading ---- */

static rocl_status begin_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    chrome_sink *c = self;
    c->part = &c->parts[capture->index];
    c->part->sorter = c->encoder.sorter = rocl_encoder_sorter(&c->encoder);
    if (!c->part->sorter)
        return rocl_fail_memory(err);
    rocl_trace_window(c->trace, &c->from, &c->to);
    rocl_status st = rocl_encoder_check(capture, err);
    if (st == ROCL_OK && c->opt.flows)
        st = chrome_links_open(&c->part->links, c->trace, err);
    return st;
}

static void widen(chrome_span *s, int64_t first, int64_t last)
{
    s->first = first < s->first ? first : s->first;
    s->last = last > s->last ? last : s->last;
}

static rocl_status events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    chrome_sink *c = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        widen(&c->spans[worker], e->start, e->end);
    }
    rocl_status st = rocl_encode_batch(&c->encoder, worker, b, err);
    if (st == ROCL_OK && c->opt.flows)
        st = chrome_links_add(&c->part->links, worker, b, err);
    return st;
}

/* What was allocated before the window is shown at its begin. */
static rocl_status history(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    chrome_sink *c = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        int64_t first = e->start > c->from ? e->start : c->from;
        if (first <= c->to)
            widen(&c->spans[worker], first, e->end < c->to ? e->end : c->to);
    }
    return rocl_encode_history(&c->encoder, worker, b, err);
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    chrome_sink *c = self;
    rocl_status st = rocl_sorter_seal(c->part->sorter, worker, err);
    return st || !c->opt.flows ? st : rocl_sorter_seal(c->part->links.sorter, worker, err);
}

static rocl_status end_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    chrome_sink *c = self;
    rocl_status st = ROCL_OK;
    (void)capture;
    for (unsigned w = 0; w < c->trace->opt.jobs && st == ROCL_OK; w++)
        st = end_task(c, w, err);
    return st || !c->opt.flows ? st : chrome_links_resolve(&c->part->links, err);
}

/* ---- writing ---- */

static void forget_part(chrome_part *p)
{
    rocl_sorter_free(p->sorter);
    p->sorter = NULL;
    chrome_links_free(&p->links);
    p->links = (chrome_links){0};
}

static rocl_status write_room(chrome_sink *c, rocl_error *err)
{
    switch (c->event.sequence) {
    case ROCL_SEQUENCE_HOST:
        return chrome_write_host(c, err);
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return chrome_write_work(c, c->event.sequence, err);
    case ROCL_SEQUENCE_ALLOCATED:
        return chrome_write_allocated(c, err);
    case ROCL_SEQUENCE_PMC:
        return chrome_write_pmc(c, err);
    default:
        return chrome_write_sampled(c, err);
    }
}

static rocl_status write_part(chrome_sink *c, size_t index, rocl_error *err)
{
    c->part = &c->parts[index];
    rocl_status st = chrome_world_capture(&c->world, &c->trace->captures[index]->pub, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(c->part->sorter, err);
    if (st == ROCL_OK)
        st = chrome_next(c, err);
    while (st == ROCL_OK && c->more)
        st = write_room(c, err);
    forget_part(c->part);
    return st;
}

static int64_t time_base(const chrome_sink *c)
{
    chrome_span all = {INT64_MAX, INT64_MIN};
    for (unsigned w = 0; w < c->trace->opt.jobs; w++)
        widen(&all, c->spans[w].first, c->spans[w].last);
    if (all.last > all.first && (uint64_t)all.last - (uint64_t)all.first >= EXACT)
        rocl_notice(c->trace,
                    "the times are %" PRId64 " days apart, perhaps of different clocks: "
                    "readers that use doubles lose single nanoseconds",
                    (int64_t)(((uint64_t)all.last - (uint64_t)all.first) / SECOND / 86400));
    return all.last < EXACT ? 0 : all.first - all.first % SECOND;
}

static rocl_status write_all(chrome_sink *c, rocl_error *err)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < c->trace->capture_count; i++)
        rows += c->parts[i].sorter ? rocl_sorter_count(c->parts[i].sorter) : 0;
    rocl_progress_phase(c->trace, "writing", rows);
    rocl_status st = ROCL_OK;
    chrome_stream_set_base(c->stream, time_base(c));
    for (size_t i = 0; i < c->trace->capture_count && st == ROCL_OK; i++)
        if (c->parts[i].sorter)
            st = write_part(c, i, err);
    if (st != ROCL_OK)
        return st;
    st = chrome_stream_commit(c->stream, &c->report.bytes, err);
    c->stream = NULL;
    return st;
}

/* ---- the run ---- */

static rocl_status open_sink(chrome_sink *c, rocl_error *err)
{
    rocl_trace *t = c->trace;
    c->spans = rocl_cache_line_calloc(t->opt.jobs, sizeof *c->spans);
    c->parts = calloc(t->capture_count + 1, sizeof *c->parts);
    if (!c->spans || !c->parts)
        return rocl_fail_memory(err);
    for (unsigned w = 0; w < t->opt.jobs; w++)
        c->spans[w] = (chrome_span){INT64_MAX, INT64_MIN};
    rocl_status st = rocl_encoder_open(&c->encoder, err);
    if (st == ROCL_OK)
        st = chrome_stream_open(&c->stream, t, &c->opt, err);
    return st ? st : chrome_world_open(&c->world, c->stream, t, err);
}

static void close_sink(chrome_sink *c)
{
    for (size_t i = 0; c->parts && i < c->trace->capture_count; i++)
        forget_part(&c->parts[i]);
    chrome_world_close(&c->world);
    chrome_stream_abort(c->stream);
    rocl_encoder_close(&c->encoder);
    free(c->parts);
    free(c->spans);
}

rocl_status rocl_write_chrome(rocl_trace *t, const rocl_chrome_options *o,
                              rocl_written *report, rocl_error *err)
{
    chrome_sink c = {.trace = t, .opt = *o, .encoder = {.trace = t}};
    rocl_sink sink = rocl_encoder_sink(&c.encoder);
    sink.begin_capture = begin_capture;
    sink.events = events;
    sink.history = history;
    sink.end_task = end_task;
    sink.end_capture = end_capture;
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK)
        st = open_sink(&c, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = write_all(&c, err);
    close_sink(&c);
    if (report)
        *report = c.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}

/* The Chrome sink. Captures are read one after the other, each into its own sorter, and written
 * when all are read: only then is the first time of the trace known, to which all others are
 * relative. Until then their records are kept packed, in the memory of the sort space and its
 * file. */
#include <inttypes.h>
#include <stdlib.h>

#include "sink/chrome/chrome.h"
#include "base/deflate.h"
#include "base/out.h"
#include "trace/pipeline.h"

/* Times below this are exact to the nanosecond as doubles in microseconds, even after multiplying
 * by 1000. */
#define EXACT  ((int64_t)1 << 51)
#define SECOND 1000000000

/* ---- reading ---- */

static rocl_status begin_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    chrome_sink *c = self;
    chrome_capture *at = &c->captures[capture->index];
    rocl_status st = rocl_timeline_begin_capture(&c->timeline, capture, err);
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
    free(c->sequences);
    *c = (chrome_capture){0};
}

static rocl_status draw_capture(chrome_sink *c, const rocl_capture *capture, rocl_error *err)
{
    chrome_capture *at = &c->captures[capture->index];
    rocl_timeline *t = &c->timeline;
    chrome_stream *s = &c->stream;
    rocl_timeline_set_capture(t, capture);
    t->sorter = at->sorter;
    t->sequences = at->sequences;
    t->sequence_count = at->sequence_count;
    t->links = at->links;
    chrome_stream_capture(s, capture);
    rocl_status st = chrome_numbers_capture(&c->numbers, t, chrome_stream_lines(s), err);
    if (st == ROCL_OK && s->lines.weight && c->begins == ROCL_NONE)
        c->begins = capture->index;
    if (st == ROCL_OK)
        st = rocl_draw_capture(t, &chrome_drawing_ops, c, s->file.pipe, false, &c->counts, err);
    if (st == ROCL_OK)
        st = chrome_stream_flush(s, true, err);
    forget_capture(at);
    return st;
}

/* Keeps the records of the capture until all others are read; in a team, its lines. */
static rocl_status end_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    chrome_sink *c = self;
    chrome_capture *at = &c->captures[capture->index];
    rocl_timeline *t = &c->timeline;
    rocl_status st = rocl_timeline_end_capture(t, err);
    at->sorter = t->sorter;
    at->sequences = t->sequences;
    at->sequence_count = t->sequence_count;
    t->encoder.sorter = t->sorter = NULL;
    t->sequences = NULL;
    t->encoder.links = NULL;
    return st == ROCL_OK && c->trace->joint ? draw_capture(c, capture, err) : st;
}

/* A rank tells the times of its events, the first capture that it has drawn, and the GPUs that it
 * has seen. All text depends on what rank 0 makes of that: the base of times, and which capture
 * begins. */
static void tell_times(void *ctx, rocl_buf *b)
{
    const chrome_sink *c = ctx;
    rocl_buf_varint(b, rocl_zigzag(c->all.first));
    rocl_buf_varint(b, rocl_zigzag(c->all.last));
    rocl_buf_varint(b, c->begins);
    for (size_t i = 0; i < c->trace->gpu_count; i++)
        rocl_buf_byte(b, c->numbers.gpu_seen[i]);
}

static rocl_status hear_times(void *ctx, unsigned rank, rocl_byte_reader *r, rocl_error *err)
{
    chrome_sink *c = ctx;
    (void)rank;
    const int64_t first = rocl_unzigzag(rocl_next_number(r));
    widen_span(&c->all, first, rocl_unzigzag(rocl_next_number(r)));
    const uint32_t begins = (uint32_t)rocl_next_number(r);
    c->begins = begins < c->begins ? begins : c->begins;
    const uint8_t *seen = rocl_next_bytes(r, c->trace->gpu_count);
    for (size_t i = 0; seen && i < c->trace->gpu_count; i++)
        if (seen[i])
            c->numbers.gpu_seen[i] = true;
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

static void decide_base(void *ctx, rocl_buf *b)
{
    chrome_sink *c = ctx;
    const chrome_span *all = &c->all;
    if (all->last > all->first && (uint64_t)all->last - (uint64_t)all->first >= EXACT)
        rocl_notice(c->trace,
                    "the times are %" PRId64 " days apart, perhaps because clocks differ: readers "
                    "that use doubles lose single nanoseconds",
                    (int64_t)(((uint64_t)all->last - (uint64_t)all->first) / SECOND / 86400));
    chrome_stream_set_base(&c->stream, all->last < EXACT ? 0 : all->first - all->first % SECOND);
    rocl_buf_varint(b, rocl_zigzag(c->stream.base));
    rocl_buf_varint(b, c->begins);
}

static void take_base(void *ctx, rocl_byte_reader *r)
{
    chrome_sink *c = ctx;
    chrome_stream_set_base(&c->stream, rocl_unzigzag(rocl_next_number(r)));
    c->begins = (uint32_t)rocl_next_number(r);
}

static rocl_status write_all(chrome_sink *c, rocl_error *err)
{
    static const rocl_joint_talk talk = {tell_times, hear_times, decide_base, take_base};
    const rocl_trace *t = c->trace;
    uint64_t rows = 0;
    c->all = (chrome_span){INT64_MAX, INT64_MIN};
    for (unsigned w = 0; w < t->opt.jobs; w++)
        widen_span(&c->all, c->spans[w].first, c->spans[w].last);
    for (size_t i = 0; i < t->capture_count; i++)
        rows += c->captures[i].sorter ? rocl_sorter_count(c->captures[i].sorter) : 0;
    if (!t->joint) /* else all is drawn */
        rocl_progress_phase(c->trace, "writing", rows);
    rocl_status st = rocl_joint_agree(t->joint, &talk, c, err);
    if (t->joint)
        return st ? st : chrome_stream_put_kept(&c->stream, c->begins, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        if (c->captures[i].sorter)
            st = draw_capture(c, &t->captures[i]->pub, err);
    return st;
}

/* ---- the run ---- */

rocl_status rocl_write_chrome(rocl_trace *t, const rocl_chrome_options *o, rocl_written *report,
                              rocl_error *err)
{
    chrome_sink c = {.trace = t,
                     .opt = *o,
                     .begins = ROCL_NONE,
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
    if (st == ROCL_OK) {
        c.spans = rocl_cache_line_calloc(t->opt.jobs, sizeof *c.spans);
        c.captures = calloc(t->capture_count + 1, sizeof *c.captures);
        if (!c.spans || !c.captures) {
            st = rocl_fail_memory(err);
        } else {
            for (unsigned w = 0; w < t->opt.jobs; w++)
                c.spans[w] = (chrome_span){INT64_MAX, INT64_MIN};
            st = rocl_encoder_open(&c.timeline.encoder, err);
            if (st == ROCL_OK)
                st = chrome_stream_open(&c.stream, t, &c.opt, err);
            if (st == ROCL_OK)
                st = chrome_numbers_open(&c.numbers, t, err);
        }
    }
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = write_all(&c, err);
    rocl_joint_sums sums = rocl_timeline_sums(&c.counts);
    if (st == ROCL_OK) {
        rocl_buf gpus = {0}, who = {0};
        chrome_describe_gpus(&c.numbers, &gpus);
        chrome_put_roster(&c.numbers, &who);
        st = chrome_stream_commit(&c.stream, &gpus, &who, &sums, err);
        rocl_buf_free(&gpus);
        rocl_buf_free(&who);
    }
    for (size_t i = 0; c.captures && i < c.trace->capture_count; i++)
        forget_capture(&c.captures[i]);
    chrome_numbers_close(&c.numbers);
    chrome_stream_close(&c.stream);
    rocl_encoder_forget(&c.timeline.encoder); /* of a capture that could not be read to its end */
    rocl_encoder_close(&c.timeline.encoder);
    free(c.captures);
    free(c.spans);
    if (report)
        *report = (rocl_written){.bytes = sums.bytes,
                                 .slices = c.counts.slices,
                                 .values = c.counts.values,
                                 .lanes = c.counts.lanes,
                                 .moved = c.counts.moved};
    return st ? st : rocl_trace_outcome_utf8(t);
}

/* A timeline in a page for browsers: the run. Captures are read one after the other, each into a
 * sorter of its own, and written when all are in: only then it is known when the trace begins, and
 * how many events there are. Meanwhile their records wait within the memory of the sort space, and
 * beyond it in its file. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/deflate.h"
#include "base/error.h"
#include "base/out_set.h"
#include "filter/stages.h"
#include "page/page.h"
#include "table/html/html.h"
#include "trace/open.h"
#include "trace/pipeline.h"

/* ---- reading --------------------------------------------------------------------------------- */

static rocl_status begin_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    page_sink *s = self;
    struct page_capture *at = &s->captures[capture->index];
    rocl_trace_window(s->trace, &s->timeline.from, &s->timeline.to);
    rocl_timeline_set_capture(&s->timeline, capture);
    at->sorter = s->timeline.encoder.sorter = rocl_record_sorter(s->trace);
    if (!at->sorter)
        return rocl_fail_memory(err);
    rocl_status st = rocl_encoder_check(capture, err);
    s->timeline.encoder.links = &at->links;
    return st ? st : rocl_links_open(&at->links, s->trace, true, err);
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    page_sink *s = self;
    const size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        page_times_add(&s->times[worker], e->start, e->end, 1);
    }
    return rocl_encoder_events(s, worker, b, err);
}

/* Allocated bytes are drawn from all allocations, whatever else passes. */
static rocl_status add_history(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    page_sink *s = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const int64_t at = e->start > s->timeline.from ? e->start : s->timeline.from;
        if (at <= s->timeline.to)
            page_times_add(&s->times[worker], at, at, 0);
    }
    return rocl_encode_history(&s->timeline.encoder, worker, b, err);
}

static rocl_status end_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    page_sink *s = self;
    struct page_capture *at = &s->captures[capture->index];
    return rocl_timeline_resolve(s->trace, &at->sorter, &at->links, err);
}

/* ---- what the page has in detail ------------------------------------------------------------- */

static rocl_status choose_window(page_sink *s, rocl_error *err)
{
    const uint64_t most = s->opt->max_events ? s->opt->max_events : ROCL_PAGE_EVENTS;
    uint64_t events = 0;
    rocl_time from = {0}, to = {0};
    for (unsigned w = 1; w < s->trace->opt.jobs; w++)
        page_times_join(&s->times[0], &s->times[w]);
    const page_times *all = &s->times[0];
    for (size_t i = 0; i < PAGE_BINS; i++)
        events += all->bins[i];
    const bool known = all->first <= all->last;
    s->first = known ? all->first : 0;
    s->last = known ? all->last : 0;
    s->cell_ns = (int64_t)(((uint64_t)s->last - (uint64_t)s->first) / PAGE_CELLS) + 1;
    rocl_status st = ROCL_OK;
    if (s->opt->from || s->opt->to) {
        s->windowed = true;
        s->from = s->first;
        s->to = s->last;
        if (s->opt->from && (st = rocl_time_parse(&from, "--window", s->opt->from, err)) == ROCL_OK)
            s->from = rocl_time_at(&from, s->first, s->last);
        if (st == ROCL_OK && s->opt->to &&
            (st = rocl_time_parse(&to, "--window", s->opt->to, err)) == ROCL_OK)
            s->to = rocl_time_at(&to, s->first, s->last);
        if (st == ROCL_OK && s->from > s->to)
            st = rocl_fail(err, ROCL_USAGE,
                           "--window begins (%" PRId64 " ns) after its end (%" PRId64 " ns)",
                           s->from, s->to);
        s->from = s->from < s->first ? s->first : s->from > s->last ? s->last : s->from;
        s->to = s->to < s->first ? s->first : s->to > s->last ? s->last : s->to;
    } else if (events > most) {
        s->windowed = true;
        page_times_densest(all, most, &s->from, &s->to);
        s->from = s->from < s->first ? s->first : s->from;
        s->to = s->to > s->last ? s->last : s->to;
    }
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void forget_capture(struct page_capture *c)
{
    rocl_sorter_free(c->sorter);
    rocl_links_free(&c->links);
    *c = (struct page_capture){0};
}

static rocl_status write_capture(page_sink *s, size_t index, rocl_error *err)
{
    enum { STEP = 4096 }; /* records between two looks at the progress */
    struct page_capture *at = &s->captures[index];
    page_drawing p = {.drawing = {.timeline = &s->timeline}, .sink = s};
    uint64_t records = 0;
    rocl_timeline_set_capture(&s->timeline, &s->trace->captures[index]->pub);
    s->timeline.sorter = at->sorter;
    s->timeline.links = at->links;
    rocl_status st = rocl_sorter_start(at->sorter, err);
    if (st == ROCL_OK)
        st = rocl_drawing_begin(&p.drawing, err);
    while (st == ROCL_OK && p.drawing.more) {
        st = rocl_timeline_draw(&p.drawing, err);
        if (st == ROCL_OK)
            st = s->status;
        if (++records % STEP == 0)
            rocl_progress(s->trace, STEP);
    }
    rocl_drawing_free(&p.drawing);
    forget_capture(at);
    return st;
}

/* The panel: the begin of the page, the data in its element, and the script after it. */
static rocl_status put_panel(void *ctx, rocl_out *out, rocl_error *err)
{
    static const char body[] =
#include "page/timeline.html.h"
        ;
    static const char data[] = "<script type=\"application/x-rocline-timeline\" id=\"tl-data\">\n";
    static const char end[] = "</script>\n";
    page_sink *s = ctx;
    rocl_buf index = {0};
    uint64_t records = 0;
    s->out = out;
    s->err = err;
    rocl_status st = rocl_out_write(out, body, strlen(body), err);
    if (st == ROCL_OK)
        st = rocl_out_write(out, data, strlen(data), err);
    if (st == ROCL_OK)
        st = rocl_pipe_new(&s->pipe, s->trace->opt.jobs, &page_pipe_ops, s, err);
    for (size_t i = 0; i < s->trace->capture_count; i++)
        records += s->captures[i].sorter ? rocl_sorter_count(s->captures[i].sorter) : 0;
    rocl_progress_phase(s->trace, "writing", records);
    for (size_t i = 0; i < s->trace->capture_count && st == ROCL_OK; i++)
        if (s->captures[i].sorter)
            st = write_capture(s, i, err);
    if (st == ROCL_OK) {
        rocl_buf_str(&index, "{\"fields\":[");
        page_put_fields(&index);
        rocl_buf_str(&index, "],");
        page_put_index(s, &index);
        st = page_put_block(s, &index, err);
    }
    if (st == ROCL_OK) {
        st = rocl_pipe_finish(s->pipe, err);
        s->pipe = NULL;
    }
    rocl_buf_free(&index);
    return st ? st : rocl_out_write(out, end, strlen(end), err);
}

static rocl_status write_page(page_sink *s, uint64_t *bytes, rocl_error *err)
{
    static const char style[] =
#include "page/timeline.css.h"
        ;
    static const char script[] =
#include "page/timeline.js.h"
        ;
    static const char hash[] =
#include "page/timeline.js.sha256"
        ;
    static const rocl_tables none;
    rocl_out *out;
    rocl_status st = rocl_out_open_as_named(&out, s->opt->path, err);
    if (st != ROCL_OK)
        return st;
    rocl_buf names = {0};
    rocl_put_input_names(&names, s->trace);
    rocl_buf_byte(&names, '\0');
    const rocl_html_panel panel = {.id = "panorama",
                                   .title = "Timeline",
                                   .of = names.failed ? NULL : (const char *)names.data,
                                   .front = s->opt->front,
                                   .style = style,
                                   .script = script,
                                   .hash = hash,
                                   .put = put_panel,
                                   .ctx = s};
    st = rocl_html_write_page(s->opt->tables ? s->opt->tables : &none, &panel, out, err);
    rocl_buf_free(&names);
    if (st != ROCL_OK) {
        rocl_pipe_abort(s->pipe); /* its workers write to the output */
        s->pipe = NULL;
        rocl_out_discard(out);
        return st;
    }
    *bytes = rocl_out_bytes(out);
    return rocl_out_set_add(s->trace->outputs, &out, 1, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

rocl_status rocl_write_page(rocl_trace *t, const rocl_page_options *o, rocl_written *written,
                            rocl_error *err)
{
    uint64_t bytes = 0;
    page_sink s = {.trace = t, .opt = o};
    s.timeline = (rocl_timeline){.encoder = {.trace = t,
                                             .bandwidth = true,
                                             .index = rocl_work_index,
                                             .index_ctx = &s.timeline},
                                 .ops = &page_ops,
                                 .by_queue = o->group_by_queue,
                                 .by_track = true};
    rocl_sink sink = rocl_encoder_sink(&s.timeline.encoder);
    sink.begin_capture = begin_capture;
    sink.events = add_events;
    sink.history = add_history;
    sink.end_capture = end_capture;
    sink.no_place_for = ROCL_BIT(ROCL_FLOW);
    sink.output = "a page";
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK) {
        s.err = err;
        s.times = rocl_cache_line_calloc(t->opt.jobs, sizeof *s.times);
        s.captures = calloc(t->capture_count + 1, sizeof *s.captures);
        if (!s.times || !s.captures) {
            st = rocl_fail_memory(err);
        } else {
            for (unsigned w = 0; w < t->opt.jobs; w++)
                page_times_open(&s.times[w]);
            page_text(&s, 0); /* for nameless events */
            st = s.status;
            st = st ? st : rocl_encoder_open(&s.timeline.encoder, err);
        }
    }
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = choose_window(&s, err);
    if (st == ROCL_OK)
        st = write_page(&s, &bytes, err);
    const page_counts *n = &s.counts;
    if (st == ROCL_OK && (n->event_details != n->events || n->value_details != n->values))
        rocl_notice(t,
                    "the page has %" PRIu64 " of %" PRIu64 " events and %" PRIu64 " of %" PRIu64
                    " values in detail, from %.6g s to %.6g s after the first one; the others only "
                    "as densities (see --max-events, --window)",
                    n->event_details, n->events, n->value_details, n->values,
                    ((double)s.from - (double)s.first) / 1e9,
                    ((double)s.to - (double)s.first) / 1e9);
    rocl_pipe_abort(s.pipe);
    for (size_t i = 0; s.captures && i < s.trace->capture_count; i++)
        forget_capture(&s.captures[i]);
    page_free_encoders(&s);
    rocl_encoder_close(&s.timeline.encoder);
    rocl_map_free(&s.text_index);
    rocl_map_free(&s.group_index);
    free(s.texts);
    free(s.groups);
    free(s.tracks);
    free(s.captures);
    free(s.times);
    if (written)
        *written =
            (rocl_written){.bytes = bytes, .slices = s.counts.events, .values = s.counts.values};
    return st ? st : rocl_trace_outcome_utf8(t);
}

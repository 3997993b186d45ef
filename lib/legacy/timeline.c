/* rocm-timeline-generator.py: legacy text to the JSON of chrome://tracing, in the script's layout.
 */
#include "legacy/timeline_impl.h"

#include "base/budget.h"
#include "base/error.h"
#include "base/lines.h"
#include "source/formats.h"
#include "source/rtg/rtg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct timeline {
    const rocl_timeline_options *opt;
    tl_writer writer;
    rocl_sort_space *space;
    rocl_sorter *gaps;
    tl_gap_counts gap_counts;
    unsigned jobs;
    size_t memory; /* for sorting */
    tl_worker *workers;
    tl_selection *selection; /* NULL: all lines */
    uint32_t capture;        /* of the input, with a selection */
    uint64_t offset;         /* in the input, of the next block */
    uint64_t blocks;
    rocl_buf head;   /* how the input begins: as much as the first block has */
    size_t empty;    /* inputs without a record */
    size_t inputs;   /* that there were */
    rocl_error *why; /* of the first one: what it is */
} timeline;

/* ---- inputs ---------------------------------------------------------------------------------- */

static rocl_status read_block(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    timeline *t = ctx;
    return tl_block_to_items(&t->workers[worker], c, err);
}

static rocl_status write_block(void *ctx, rocl_block *c, rocl_error *err)
{
    timeline *t = ctx;
    return tl_write_block(&t->writer, &c->out, err);
}

static const rocl_pipe_ops block_ops = {read_block, write_block};

static void show_progress(const timeline *t, uint64_t done, uint64_t total)
{
    if (t->opt->progress)
        t->opt->progress(t->opt->ctx, "reading", done, total);
}

/* Text may hold anything, but for a database that came through a pipe. */
static rocl_status refuse_database(const timeline *t, const rocl_block *c, rocl_error *err)
{
    static const char magic[] = "SQLite format 3";
    const uint8_t *text = c->in.data + sizeof(tl_block);
    if (t->offset || c->in.len < sizeof(tl_block) + sizeof magic ||
        memcmp(text, magic, sizeof magic) != 0)
        return ROCL_OK;
    return rocl_fail(err, ROCL_INPUT, "%s: a database cannot be read through a pipe: name its file",
                     t->writer.path);
}

/* One block from the file into the pipe; *more false at the end. */
static rocl_status put_block(timeline *t, rocl_lines *lines, rocl_pipe *pipe, bool *more,
                             rocl_error *err)
{
    tl_block block = {.number = t->blocks++, .offset = t->offset, .selected = t->selection};
    uint64_t read = 0;
    rocl_block *c;
    rocl_status st = rocl_pipe_get(pipe, &c, err);
    if (st)
        return st;
    rocl_buf_put(&c->in, &block, sizeof block);
    st = rocl_lines_next(lines, &c->in, &read, err);
    if (st == ROCL_OK)
        st = refuse_database(t, c, err);
    block.text = c->in.len - (c->in.failed ? c->in.len : sizeof block);
    t->offset += block.text;
    *more = block.text > 0;
    if (st == ROCL_OK && t->selection)
        st = tl_selection_take(t->selection, t->capture, t->offset, &c->in, &block.wanted, err);
    if (!c->in.failed)
        memcpy(c->in.data, &block, sizeof block);
    show_progress(t, read, rocl_lines_size(lines));
    if (!t->head.len && !c->in.failed)
        rocl_buf_put(&t->head, c->in.data + sizeof block,
                     block.text < ROCL_SPOOL_HEAD ? block.text : ROCL_SPOOL_HEAD);
    rocl_status put = rocl_pipe_put(pipe, c, err);
    return st ? st : put;
}

static rocl_status convert_lines(timeline *t, rocl_lines *lines, rocl_error *err)
{
    rocl_pipe *pipe = NULL;
    bool more = true;
    rocl_status st = rocl_pipe_new(&pipe, t->jobs, &block_ops, t, err);
    while (st == ROCL_OK && more)
        st = put_block(t, lines, pipe, &more, err);
    if (st == ROCL_OK)
        return rocl_pipe_finish(pipe, err);
    rocl_pipe_abort(pipe);
    return st;
}

static void count_shapes(const timeline *t, uint64_t shapes[RTG_SHAPES])
{
    memset(shapes, 0, RTG_SHAPES * sizeof *shapes);
    for (unsigned i = 0; i < t->jobs; i++)
        for (int k = 0; k < RTG_SHAPES; k++)
            shapes[k] += t->workers[i].shapes[k];
}

/* Lines that are records, also broken ones. */
static uint64_t count_records(const timeline *t)
{
    uint64_t shapes[RTG_SHAPES], n = 0;
    count_shapes(t, shapes);
    for (int i = 0; i < RTG_SHAPES; i++)
        n += i == RTG_TEXT ? 0 : shapes[i];
    return n;
}

/* What an input is that has no record; the first one is named. */
static rocl_status note_empty(timeline *t, const char *path)
{
    if (t->empty++)
        return ROCL_OK;
    t->why = rocl_error_new();
    if (!t->why)
        return ROCL_INTERNAL;
    rocl_fail_foreign(path, (const char *)t->head.data, t->head.len, t->head.len == t->offset,
                      t->why);
    return ROCL_OK;
}

static rocl_status convert_input(timeline *t, const char *path, rocl_spool *spool, rocl_error *err)
{
    rocl_lines *lines = NULL;
    rocl_status st =
        spool ? rocl_lines_open_spool(&lines, spool, err) : rocl_lines_open(&lines, path, err);
    t->writer.path = path;
    t->writer.line = t->offset = 0;
    t->head.len = 0;
    t->inputs++;
    uint64_t before = count_records(t);
    if (st == ROCL_OK)
        st = convert_lines(t, lines, err);
    rocl_lines_close(lines);
    if (st == ROCL_OK && !t->selection && count_records(t) == before)
        st = t->head.failed || note_empty(t, path) != ROCL_OK ? rocl_fail_memory(err) : ROCL_OK;
    return st;
}

/* ---- the end -------------------------------------------------------------------------------- */

static rocl_status put_end(timeline *t, rocl_error *err)
{
    tl_writer *w = &t->writer;
    rocl_buf *b = &w->text;
    uint64_t shapes[RTG_SHAPES];
    rocl_status st = tl_rows_put_metadata(&w->rows, b, err);
    if (st != ROCL_OK)
        return st;
    count_shapes(t, shapes);
    if (shapes[RTG_STRACE_RESUMED] + shapes[RTG_STRACE_COMPLETE])
        rocl_buf_str(b, "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":-2000, "
                        "\"args\":{\"name\":\"strace/ltrace\"}},\n");
    tl_rows_put_devices(&w->rows, b);
    if (t->gaps)
        st = tl_gaps_put(t->gaps, b, &t->gap_counts, &w->out, err);
    rocl_buf_str(b, "{}\n]\n}\n"); /* an empty event, after the last comma */
    return st ? st : tl_out_take(&w->out, b, err);
}

/* ---- begin to end --------------------------------------------------------------------------- */

static rocl_status prepare(timeline *t, rocl_error *err)
{
    const rocl_timeline_options *o = t->opt;
    rocl_status st = tl_writer_init(&t->writer, o, err);
    t->workers = rocl_cache_line_calloc(t->jobs, sizeof *t->workers);
    t->space = rocl_sort_space_new(t->memory, t->jobs, o->tmpdir);
    if (st == ROCL_OK && (!t->workers || !t->space))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && o->gaps && !(t->gaps = rocl_sorter_new(t->space, 4)))
        st = rocl_fail_memory(err);
    for (unsigned i = 0; i < t->jobs && st == ROCL_OK; i++)
        t->workers[i] = (tl_worker){.opt = o, .gaps = t->gaps, .number = i};
    if (st == ROCL_OK)
        st = tl_out_open(&t->writer.out, o, t->jobs, err);
    return st;
}

static void release(timeline *t)
{
    tl_out_discard(&t->writer.out);
    for (unsigned i = 0; t->workers && i < t->jobs; i++)
        tl_worker_free(&t->workers[i]);
    free(t->workers);
    rocl_sorter_free(t->gaps);
    rocl_sort_space_free(t->space);
    tl_writer_free(&t->writer);
    rocl_buf_free(&t->head);
    rocl_error_free(t->why);
}

static rocl_status convert_capture(timeline *t, rocl_model_capture *c, rocl_error *err)
{
    rocl_spool *spool = rtg_capture_spool(c);
    rocl_status st = rocl_spool_resume(spool, err);
    t->capture = (uint32_t)c->source->named;
    if (st == ROCL_OK)
        st = convert_input(t, c->pub.path, spool, err);
    rocl_spool_suspend(spool);
    return st;
}

static int by_name(const void *a, const void *b)
{
    size_t x = (*(rocl_model_capture *const *)a)->source->named;
    size_t y = (*(rocl_model_capture *const *)b)->source->named;
    return (x > y) - (x < y);
}

/* In the order in which the inputs were named, as without filters: each is one capture. */
static rocl_status convert_captures(timeline *t, const rocl_trace *trace, rocl_error *err)
{
    size_t n = trace->capture_count;
    rocl_model_capture **named = malloc((n + 1) * sizeof(rocl_model_capture *));
    rocl_status st = named ? ROCL_OK : rocl_fail_memory(err);
    if (named && n) {
        memcpy(named, trace->captures, n * sizeof(rocl_model_capture *));
        qsort(named, n, sizeof(rocl_model_capture *), by_name);
    }
    for (size_t i = 0; i < n && st == ROCL_OK; i++)
        st = convert_capture(t, named[i], err);
    free(named);
    return st;
}

static rocl_status convert(timeline *t, const char *const *inputs, size_t count, rocl_trace *trace,
                           rocl_error *err)
{
    static const char head[] = "{\n\"traceEvents\": [\n";
    rocl_status st = tl_out_put(&t->writer.out, head, sizeof head - 1, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = convert_input(t, inputs[i], NULL, err);
    if (st == ROCL_OK && trace)
        st = convert_captures(t, trace, err);
    if (st == ROCL_OK && t->empty && t->empty == t->inputs) {
        rocl_error_copy(err, t->why);
        st = ROCL_INPUT;
    }
    return st ? st : put_end(t, err);
}

static void say_empty(const timeline *t)
{
    char text[1024];
    if (!t->opt->notice || !t->empty)
        return;
    if (t->empty > 1)
        snprintf(text, sizeof text, "%zu of %zu inputs without a record, left out: %s", t->empty,
                 t->inputs, rocl_error_text(t->why));
    else
        snprintf(text, sizeof text, "an input without a record, left out: %s",
                 rocl_error_text(t->why));
    t->opt->notice(t->opt->ctx, text);
}

static rocl_status finish(timeline *t, rocl_error *err)
{
    const rocl_timeline_options *o = t->opt;
    rocl_timeline_report *report = t->writer.report;
    uint64_t shapes[RTG_SHAPES];
    for (unsigned i = 0; i < t->jobs; i++)
        report->repaired += t->workers[i].repaired;
    rocl_status st = tl_out_commit(&t->writer.out, &report->bytes, err);
    if (st != ROCL_OK)
        return st;
    count_shapes(t, shapes);
    report->records = count_records(t);
    report->empty = t->empty;
    say_empty(t);
    tl_say_counts(o, shapes, &t->gap_counts);
    if (o->workgroups)
        st = tl_workgroups_say(t->writer.workgroups, o->say, o->ctx, err);
    if (st == ROCL_OK && (report->left_out || report->repaired || report->empty))
        st = ROCL_PARTIAL;
    return st;
}

static rocl_status run(const char *const *inputs, size_t count, rocl_trace *trace,
                       tl_selection *selection, const rocl_timeline_options *o,
                       rocl_timeline_report *report, rocl_error *err)
{
    rocl_timeline_report none = {0};
    const rocl_budget budget = rocl_budget_share(o->memory, o->jobs);
    timeline t = {.opt = o, .writer.report = report ? report : &none, .selection = selection};
    *t.writer.report = (rocl_timeline_report){0};
    t.jobs = budget.workers;
    t.memory = budget.sorting;
    rocl_status st = prepare(&t, err);
    if (st == ROCL_OK)
        st = convert(&t, inputs, count, trace, err);
    if (st == ROCL_OK)
        st = finish(&t, err);
    release(&t);
    return st;
}

rocl_status rocl_write_timeline(const char *const *inputs, size_t count,
                                const rocl_timeline_options *o, rocl_timeline_report *report,
                                rocl_error *err)
{
    return run(inputs, count, NULL, NULL, o, report, err);
}

rocl_status rocl_write_timeline_of(rocl_trace *t, const rocl_timeline_options *o,
                                   rocl_timeline_report *report, rocl_error *err)
{
    tl_selection s = {0};
    for (size_t i = 0; i < t->capture_count; i++)
        if (!rtg_capture_spool(t->captures[i]))
            return rocl_fail(err, ROCL_USAGE, "%s: not legacy text", t->captures[i]->pub.path);
    rocl_status st = tl_select(&s, t, err);
    if (st == ROCL_OK)
        st = run(NULL, 0, t, &s, o, report, err);
    tl_selection_free(&s);
    return st ? st : rocl_trace_outcome(t);
}

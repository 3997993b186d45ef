/* The entry points: inputs are cut into blocks, which go through both steps. */
#include "legacy/rtg_timeline/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"
#include "base/error.h"
#include "base/lines.h"
#include "source/formats.h"
#include "source/rtg/rtg.h"

typedef struct timeline {
    const rocl_timeline_options *opt;
    tl_writer writer;
    rocl_sort_space *space;
    rocl_sorter *gaps;
    tl_gap_counts gap_counts;
    unsigned jobs;
    tl_worker *workers;
    tl_selection *selection; /* NULL: all lines */
    uint32_t capture;        /* of the input, with a selection */
    uint64_t offset;         /* in the input, of the next block */
    uint64_t blocks;
    rocl_buf head;   /* how the input begins: as much as the first block has */
    size_t empty;    /* inputs without a record */
    size_t inputs;   /* that there were */
    rocl_error *why; /* what the first empty one is */
} timeline;

/* ---- inputs --------------------------------------------------------------------------------- */

static rocl_status convert_block(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    timeline *t = ctx;
    return tl_convert_block(&t->workers[worker], c, err);
}

static rocl_status write_block(void *ctx, rocl_block *c, rocl_error *err)
{
    timeline *t = ctx;
    return tl_write_block(&t->writer, &c->out, err);
}

static const rocl_pipe_ops block_ops = {convert_block, write_block};

/* Fills a block from the file; *more false at the end. */
static rocl_status read_block(timeline *t, rocl_lines *lines, rocl_block *c, bool *more,
                              rocl_error *err)
{
    static const char magic[] = "SQLite format 3";
    tl_block block = {.number = t->blocks++, .offset = t->offset, .selected = t->selection};
    uint64_t read = 0;
    rocl_buf_put(&c->in, &block, sizeof block);
    rocl_status st = rocl_lines_next(lines, &c->in, &read, err);
    if (c->in.failed)
        return st ? st : rocl_fail_memory(err);
    block.text = c->in.len - sizeof block;
    *more = block.text > 0;
    const uint8_t *text = c->in.data + sizeof block;
    if (!t->head.len)
        rocl_buf_put(&t->head, text, block.text < ROCL_SPOOL_HEAD ? block.text : ROCL_SPOOL_HEAD);
    /* Text may hold anything, but for a database that came through a pipe. */
    if (st == ROCL_OK && !t->offset && block.text >= sizeof magic &&
        !memcmp(text, magic, sizeof magic))
        st = rocl_fail(err, ROCL_INPUT, "%s: a database, not text" ROCL_OTHER_LAYOUT,
                       t->writer.path);
    t->offset += block.text;
    if (st == ROCL_OK && t->selection)
        st = tl_selection_read(t->selection, t->capture, t->offset, &c->in, &block.wanted, err);
    memcpy(c->in.data, &block, sizeof block);
    if (t->opt->progress)
        t->opt->progress(t->opt->ctx, "reading", read, rocl_lines_size(lines));
    return st;
}

static rocl_status convert_lines(timeline *t, rocl_lines *lines, rocl_error *err)
{
    rocl_pipe *pipe = NULL;
    bool more = true;
    rocl_status st = rocl_pipe_new(&pipe, t->jobs, &block_ops, t, err);
    while (st == ROCL_OK && more) {
        rocl_block *c;
        st = rocl_pipe_get(pipe, &c, err);
        if (st)
            break;
        st = read_block(t, lines, c, &more, err);
        rocl_status put = rocl_pipe_put(pipe, c, st ? NULL : err);
        st = st ? st : put;
    }
    if (st == ROCL_OK)
        return rocl_pipe_finish(pipe, err);
    rocl_pipe_abort(pipe);
    return st;
}

/* Lines of each shape; returns how many are records, also broken ones. */
static uint64_t count_shapes(const timeline *t, uint64_t shapes[RTG_SHAPES])
{
    uint64_t records = 0;
    memset(shapes, 0, RTG_SHAPES * sizeof *shapes);
    for (unsigned i = 0; i < t->jobs; i++)
        for (int k = 0; k < RTG_SHAPES; k++)
            shapes[k] += t->workers[i].shapes[k];
    for (int k = 0; k < RTG_SHAPES; k++)
        records += k == RTG_TEXT ? 0 : shapes[k];
    return records;
}

static rocl_status convert_input(timeline *t, const char *path, rocl_spool *spool, rocl_error *err)
{
    uint64_t shapes[RTG_SHAPES], before = count_shapes(t, shapes);
    rocl_lines *lines = NULL;
    rocl_status st =
        spool ? rocl_lines_open_spool(&lines, spool, err) : rocl_lines_open(&lines, path, err);
    t->writer.path = path;
    t->writer.line = t->offset = 0;
    t->head.len = 0;
    t->inputs++;
    if (st == ROCL_OK)
        st = convert_lines(t, lines, err);
    rocl_lines_close(lines);
    if (st != ROCL_OK || t->selection || count_shapes(t, shapes) != before)
        return st;
    if (t->head.failed || (!t->why && !(t->why = rocl_error_new())))
        return rocl_fail_memory(err);
    if (!t->empty++)
        rocl_fail_foreign(path, (const char *)t->head.data, t->head.len, t->head.len == t->offset,
                          t->why);
    return ROCL_OK;
}

static int compare_named(const void *a, const void *b)
{
    size_t x = (*(rocl_model_capture *const *)a)->source->named;
    size_t y = (*(rocl_model_capture *const *)b)->source->named;
    return (x > y) - (x < y);
}

/* In the order in which the inputs were named, as without filters: each is one capture. */
static rocl_status convert_captures(timeline *t, const rocl_trace *trace, rocl_error *err)
{
    size_t n = trace->capture_count;
    rocl_model_capture **named = malloc((n + 1) * sizeof *named);
    if (!named)
        return rocl_fail_memory(err);
    if (n) {
        memcpy(named, trace->captures, n * sizeof *named);
        qsort(named, n, sizeof *named, compare_named);
    }
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        rocl_spool *spool = rtg_capture_spool(named[i]);
        t->capture = (uint32_t)named[i]->source->named;
        st = rocl_spool_resume(spool, err);
        if (st == ROCL_OK)
            st = convert_input(t, named[i]->pub.path, spool, err);
        rocl_spool_suspend(spool);
    }
    free(named);
    return st;
}

/* ---- begin to end --------------------------------------------------------------------------- */

/* What is after all events, then the counts. */
static rocl_status finish_output(timeline *t, rocl_error *err)
{
    tl_writer *w = &t->writer;
    rocl_written *report = w->report;
    uint64_t shapes[RTG_SHAPES];
    rocl_status st = tl_rows_put_metadata(&w->rows, &w->text, err);
    if (st != ROCL_OK)
        return st;
    report->records = count_shapes(t, shapes);
    if (shapes[RTG_STRACE_RESUMED] + shapes[RTG_STRACE_COMPLETE])
        rocl_buf_str(&w->text, "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":-2000, "
                               "\"args\":{\"name\":\"strace/ltrace\"}},\n");
    tl_rows_put_devices(&w->rows, &w->text);
    if (t->gaps)
        st = tl_gaps_write(t->gaps, &t->gap_counts, w, err);
    rocl_buf_str(&w->text, "{}\n]\n}\n"); /* an empty event, after the last comma */
    if (st == ROCL_OK)
        st = tl_write_text(w, err);
    for (unsigned i = 0; i < t->jobs; i++)
        report->repaired += t->workers[i].repaired;
    if (st == ROCL_OK)
        st = tl_writer_commit(w, err);
    if (st != ROCL_OK)
        return st;
    report->empty = t->empty;
    char text[1024];
    if (t->empty > 1)
        snprintf(text, sizeof text, "%zu of %zu inputs without a record, left out: %s", t->empty,
                 t->inputs, rocl_error_text(t->why));
    else
        snprintf(text, sizeof text, "an input without a record, left out: %s",
                 rocl_error_text(t->why));
    if (t->opt->notice && t->empty)
        t->opt->notice(t->opt->ctx, text);
    tl_say_counts(t->opt, shapes, &t->gap_counts);
    if (t->opt->workgroups)
        st = tl_say_workgroups(t->opt, w->workgroups, err);
    if (st == ROCL_OK && (report->left_out || report->repaired || report->empty))
        st = ROCL_PARTIAL;
    return st;
}

static rocl_status convert_all(const char *const *inputs, size_t count, rocl_trace *trace,
                               tl_selection *selection, const rocl_timeline_options *o,
                               rocl_written *report, rocl_error *err)
{
    rocl_written own;
    const rocl_budget budget = rocl_budget_share(o->memory, o->jobs);
    timeline t = {.opt = o,
                  .writer.report = report ? report : &own,
                  .selection = selection,
                  .jobs = budget.workers};
    *t.writer.report = (rocl_written){0};
    t.workers = rocl_cache_line_calloc(t.jobs, sizeof *t.workers);
    t.space = rocl_sort_space_new(budget.sorting, t.jobs, o->tmpdir);
    t.gaps = t.space && o->gaps ? rocl_sorter_new(t.space, 4) : NULL;
    rocl_status st = t.workers && t.space && (t.gaps || !o->gaps)
                         ? tl_writer_open(&t.writer, o, t.jobs, err)
                         : rocl_fail_memory(err);
    for (unsigned i = 0; t.workers && i < t.jobs; i++)
        t.workers[i] = (tl_worker){.opt = o, .gaps = t.gaps, .number = i};
    if (st == ROCL_OK) {
        rocl_buf_str(&t.writer.text, "{\n\"traceEvents\": [\n");
        st = tl_write_text(&t.writer, err);
    }
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = convert_input(&t, inputs[i], NULL, err);
    if (st == ROCL_OK && trace)
        st = convert_captures(&t, trace, err);
    if (st == ROCL_OK && t.empty && t.empty == t.inputs) {
        rocl_error_copy(err, t.why);
        st = ROCL_INPUT;
    }
    if (st == ROCL_OK)
        st = finish_output(&t, err);
    tl_writer_free(&t.writer);
    for (unsigned i = 0; t.workers && i < t.jobs; i++)
        tl_worker_free(&t.workers[i]);
    free(t.workers);
    rocl_sorter_free(t.gaps);
    rocl_sort_space_free(t.space);
    rocl_buf_free(&t.head);
    rocl_error_free(t.why);
    return st;
}

rocl_status rocl_write_timeline(const char *const *inputs, size_t count,
                                const rocl_timeline_options *o, rocl_written *report,
                                rocl_error *err)
{
    return convert_all(inputs, count, NULL, NULL, o, report, err);
}

rocl_status rocl_write_timeline_of(rocl_trace *t, const rocl_timeline_options *o,
                                   rocl_written *report, rocl_error *err)
{
    tl_selection s = {0};
    for (size_t i = 0; i < t->capture_count; i++)
        if (!rtg_capture_spool(t->captures[i]))
            return rocl_fail(err, ROCL_USAGE, "%s: not legacy text", t->captures[i]->pub.path);
    rocl_status st = tl_select_lines(&s, t, err);
    if (st == ROCL_OK)
        st = convert_all(NULL, 0, t, &s, o, report, err);
    tl_selection_free(&s);
    return st ? st : rocl_trace_outcome(t);
}

/* rocm-timeline-generator.py: legacy text to the JSON of chrome://tracing, in the script's layout.
 */
#include "legacy/timeline_impl.h"

#include "base/array.h"
#include "base/error.h"
#include "base/lines.h"
#include "base/out.h"
#include "source/rtg/rtg.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PACK = 1 << 20, /* bytes of output that become a gzip member */
    TELL = 5,       /* lines that are left out are told one by one up to so many */
};

typedef struct timeline {
    const rocl_timeline_options *opt;
    rocl_timeline_report *report;
    rocl_out *out;
    rocl_pipe *packing; /* with gzip */
    rocl_chunk *pack;   /* being filled */
    rocl_buf text;      /* what the end of the file is put together in */
    tl_rows rows;
    tl_calls calls;
    rocl_sort_space *space;
    rocl_sorter *gaps;
    tl_gap_counts gap_counts;
    rocl_strings *workgroups;
    unsigned jobs;
    tl_worker *workers;
    tl_selection *selection; /* NULL: all lines */
    const char *path;        /* of the input */
    uint32_t capture;        /* of the input, with a selection */
    uint64_t offset;         /* in it, of the next block */
    uint64_t line;           /* of the input: before the block */
    uint64_t blocks, told;
    bool missed_hsa;
    uint64_t strace;
    uint32_t *row_map; /* of the block: its rows -> all rows */
    size_t row_map_len, row_map_cap;
} timeline;

/* ---- output --------------------------------------------------------------------------------- */

static rocl_status pack_chunk(void *ctx, unsigned worker, rocl_chunk *c, rocl_error *err)
{
    timeline *t = ctx;
    (void)worker;
    return rocl_gzip_member(&c->out, c->in.data, c->in.len, t->opt->level ? t->opt->level : 6, err);
}

static rocl_status write_packed(void *ctx, rocl_chunk *c, rocl_error *err)
{
    timeline *t = ctx;
    return rocl_out_write(t->out, c->out.data, c->out.len, err);
}

static const rocl_pipe_ops packing_ops = {pack_chunk, write_packed};

static rocl_status emit_packed(timeline *t, const void *p, size_t n, rocl_error *err)
{
    rocl_status st = t->pack ? ROCL_OK : rocl_pipe_get(t->packing, &t->pack, err);
    if (st)
        return st;
    rocl_buf_put(&t->pack->in, p, n);
    if (t->pack->in.len < PACK)
        return ROCL_OK;
    rocl_chunk *full = t->pack;
    t->pack = NULL;
    return rocl_pipe_put(t->packing, full, err);
}

static rocl_status emit(timeline *t, const void *p, size_t n, rocl_error *err)
{
    return t->packing ? emit_packed(t, p, n, err) : rocl_out_write(t->out, p, n, err);
}

static rocl_status emit_text(void *ctx, rocl_buf *b, rocl_error *err)
{
    if (b->failed)
        return rocl_fail_memory(err);
    rocl_status st = b->len ? emit(ctx, b->data, b->len, err) : ROCL_OK;
    b->len = 0;
    return st;
}

/* Ends the compression; what is under way is thrown away after a failure. */
static rocl_status end_packing(timeline *t, rocl_status st, rocl_error *err)
{
    rocl_pipe *p = t->packing;
    t->packing = NULL;
    if (p && t->pack) {
        rocl_status put = rocl_pipe_put(p, t->pack, err);
        st = st ? st : put;
    }
    if (p && st == ROCL_OK)
        return rocl_pipe_finish(p, err);
    rocl_pipe_abort(p);
    return st;
}

/* ---- items, in order ------------------------------------------------------------------------ */

static void say(const timeline *t, const char *p, size_t n)
{
    if (t->opt->say)
        t->opt->say(t->opt->ctx, p, n);
}

static void notice(const timeline *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void notice(const timeline *t, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (t->opt->notice)
        t->opt->notice(t->opt->ctx, text);
}

static void on_bad(timeline *t, const tl_place *place)
{
    t->report->left_out++;
    if (t->told++ < TELL)
        notice(t, "%s:%" PRIu64 ": %s: left out", t->path, t->line + place->line + 1, place->why);
}

static rocl_status on_new_row(timeline *t, const char *p, rocl_error *err)
{
    tl_texts key;
    memcpy(&key, p, sizeof key);
    if (!ROCL_GROW(t->row_map, t->row_map_cap, t->row_map_len + 1))
        return rocl_fail_memory(err);
    return tl_rows_get(&t->rows, &key, p + sizeof key, &t->row_map[t->row_map_len++], err);
}

static rocl_status on_row(timeline *t, uint32_t local, rocl_error *err)
{
    tl_row *row = &t->rows.rows[t->row_map[local]];
    rtg_span text = tl_row_text(&t->rows, row);
    row->used = ++t->rows.clock;
    return emit(t, text.p, text.n, err);
}

static rocl_status on_workgroup(timeline *t, const char *p, size_t n, rocl_error *err)
{
    return rocl_strings_put(t->workgroups, p, n) == ROCL_NONE ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status on_begun_call(timeline *t, const char *p, rocl_error *err)
{
    tl_texts texts;
    memcpy(&texts, p, sizeof texts);
    return tl_calls_begin(&t->calls, &texts, p + sizeof texts, err);
}

static rocl_status on_resumed_call(timeline *t, const char *p, rocl_error *err)
{
    tl_place place;
    tl_texts texts;
    size_t repaired = 0;
    memcpy(&place, p, sizeof place);
    memcpy(&texts, p + sizeof place, sizeof texts);
    p += sizeof place + sizeof texts;
    const tl_call *c = tl_calls_find(&t->calls, p, texts.len[0]);
    if (!c) {
        place.why = "an strace call is resumed that was not begun";
        on_bad(t, &place);
        return ROCL_OK;
    }
    const char *call = (const char *)c->text.data, *took = p + texts.len[0];
    rtg_span seconds = {call + c->call, c->seconds},
             fraction = {seconds.p + seconds.n, c->fraction};
    if (texts.kind) {
        seconds = (rtg_span){took + texts.len[1], texts.len[2]};
        fraction = (rtg_span){seconds.p + seconds.n, texts.len[3]};
    }
    place.why = tl_put_strace(&t->text, (rtg_span){p, texts.len[0]}, (rtg_span){call, c->call},
                              true, seconds, fraction, (rtg_span){took, texts.len[1]}, &repaired);
    if (place.why)
        on_bad(t, &place);
    t->report->repaired += repaired != 0;
    return emit_text(t, &t->text, err);
}

static void on_missed_hsa(timeline *t, const char *p, size_t n)
{
    bool ended = n && p[n - 1] == '\n';
    if (!t->missed_hsa)
        say(t, p, n - ended);
    if (!t->missed_hsa && ended)
        say(t, "", 0);
    t->missed_hsa = true;
}

static rocl_status on_item(timeline *t, tl_head h, const char *p, rocl_error *err)
{
    tl_place place;
    uint64_t number;
    switch ((tl_item)h.kind) {
    case TL_TEXT:
        return h.len ? emit(t, p, h.len, err) : ROCL_OK;
    case TL_ROW:
        return on_row(t, h.len, err);
    case TL_NEW_ROW:
        return on_new_row(t, p, err);
    case TL_WORKGROUP:
        return on_workgroup(t, p, h.len, err);
    case TL_UNFINISHED:
        return on_begun_call(t, p, err);
    case TL_RESUMED:
        return on_resumed_call(t, p, err);
    case TL_SAY:
        say(t, p, h.len);
        break;
    case TL_MISSED_HSA:
        on_missed_hsa(t, p, h.len);
        break;
    case TL_BAD:
        memcpy(&place, p, sizeof place);
        on_bad(t, &place);
        break;
    case TL_LINES:
        memcpy(&number, p, sizeof number);
        t->line += number;
        t->report->lines += number;
        break;
    }
    return ROCL_OK;
}

static rocl_status write_block(void *ctx, rocl_chunk *c, rocl_error *err)
{
    timeline *t = ctx;
    rocl_status st = ROCL_OK;
    t->row_map_len = 0;
    for (size_t at = 0; at < c->out.len && st == ROCL_OK;) {
        tl_head h;
        memcpy(&h, c->out.data + at, sizeof h);
        st = on_item(t, h, (const char *)c->out.data + at + sizeof h, err);
        at += sizeof h + (h.kind == TL_ROW ? 0 : h.len);
    }
    return st;
}

static rocl_status read_block(void *ctx, unsigned worker, rocl_chunk *c, rocl_error *err)
{
    timeline *t = ctx;
    return tl_block_to_items(&t->workers[worker], c, err);
}

static const rocl_pipe_ops block_ops = {read_block, write_block};

/* ---- inputs --------------------------------------------------------------------------------- */

static void show_progress(const timeline *t, uint64_t done, uint64_t total)
{
    if (t->opt->progress)
        t->opt->progress(t->opt->ctx, "reading", done, total);
}

/* Text may hold anything, but for a database that came through a pipe. */
static rocl_status refuse_database(const timeline *t, const rocl_chunk *c, rocl_error *err)
{
    static const char magic[] = "SQLite format 3";
    const uint8_t *text = c->in.data + sizeof(tl_block);
    if (t->offset || c->in.len < sizeof(tl_block) + sizeof magic ||
        memcmp(text, magic, sizeof magic) != 0)
        return ROCL_OK;
    return rocl_fail(err, ROCL_INPUT, "%s: a database cannot be read through a pipe: name its file",
                     t->path);
}

/* One block from the file into the pipe; *more false at the end. */
static rocl_status put_block(timeline *t, rocl_lines *lines, rocl_pipe *pipe, bool *more,
                             rocl_error *err)
{
    tl_block block = {.number = t->blocks++, .offset = t->offset, .selected = t->selection};
    uint64_t read = 0;
    rocl_chunk *c;
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

static rocl_status convert_input(timeline *t, const char *path, rocl_spool *spool, rocl_error *err)
{
    rocl_lines *lines = NULL;
    rocl_status st =
        spool ? rocl_lines_over(&lines, spool, err) : rocl_lines_open(&lines, path, err);
    t->path = path;
    t->line = t->offset = 0;
    if (st == ROCL_OK)
        st = convert_lines(t, lines, err);
    rocl_lines_close(lines);
    return st;
}

/* ---- the end -------------------------------------------------------------------------------- */

static uint64_t shapes(const timeline *t, rtg_shape shape)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < t->jobs; i++)
        sum += t->workers[i].shapes[shape];
    return sum;
}

static rocl_status put_end(timeline *t, rocl_error *err)
{
    rocl_buf *b = &t->text;
    rocl_status st = tl_rows_put_metadata(&t->rows, b, err);
    if (st != ROCL_OK)
        return st;
    if (shapes(t, RTG_STRACE_RESUMED) + shapes(t, RTG_STRACE_COMPLETE))
        rocl_buf_str(b, "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":-2000, "
                        "\"args\":{\"name\":\"strace/ltrace\"}},\n");
    tl_rows_put_devices(&t->rows, b);
    if (t->gaps)
        st = tl_gaps_put(t->gaps, b, &t->gap_counts, emit_text, t, err);
    rocl_buf_str(b, "{}\n]\n}\n"); /* an empty event, after the last comma */
    return st ? st : emit_text(t, b, err);
}

static void say_count(const timeline *t, const char *label, uint64_t count)
{
    char text[96];
    int n = snprintf(text, sizeof text, "%23s: %" PRIu64, label, count);
    say(t, text, (size_t)n);
}

static void say_counts(const timeline *t)
{
    static const struct {
        const char *label;
        rtg_shape shape;
    } counts[] = {
        {"total skipped lines", RTG_TEXT},
        {"api hsa lines", RTG_HSA},
        {"host dispatch hsa lines", RTG_HOST_DISPATCH},
        {"dispatch hsa lines", RTG_DISPATCH},
        {"host barrier hsa lines", RTG_HOST_BARRIER},
        {"barrier hsa lines", RTG_BARRIER},
        {"copy hsa lines", RTG_COPY},
        {"missed hsa lines", RTG_HSA_MISSED},
        {"api hip lines", RTG_HIP},
        {"missed hip lines", RTG_HIP_MISSED},
        {"prof ts opx hcc lines", RTG_HCC},
        {"prof ts op hcc lines", RTG_HCC_BARE},
        {"prof ts hcc lines", RTG_HCC_TIMES},
        {"prof op hcc lines", RTG_HCC_ID},
        {"prof hcc lines", RTG_HCC_SPAN},
        {"missed hcc lines", RTG_HCC_MISSED},
        {"unfinished strace lines", RTG_STRACE_UNFINISHED},
        {"resumed strace lines", RTG_STRACE_RESUMED},
        {"complete strace lines", RTG_STRACE_COMPLETE},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        say_count(t, counts[i].label, shapes(t, counts[i].shape));
    say_count(t, "duplicate gap ts", t->gap_counts.duplicate);
    say_count(t, "wrapped gap event", t->gap_counts.wrapped);
    say_count(t, "okay gap event", t->gap_counts.okay);
}

/* ---- begin to end --------------------------------------------------------------------------- */

static rocl_status prepare(timeline *t, rocl_error *err)
{
    const rocl_timeline_options *o = t->opt;
    rocl_status st = tl_rows_init(&t->rows, o->by_process, err);
    if (st == ROCL_OK)
        st = tl_calls_init(&t->calls, err);
    t->workers = calloc(t->jobs, sizeof *t->workers);
    t->workgroups = rocl_strings_new();
    t->space = rocl_sort_space_new(o->memory ? o->memory : ROCL_DEFAULT_MEMORY, t->jobs, o->tmpdir);
    if (st == ROCL_OK && (!t->workers || !t->workgroups || !t->space))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && o->gaps && !(t->gaps = rocl_sorter_new(t->space, 4)))
        st = rocl_fail_memory(err);
    for (unsigned i = 0; i < t->jobs && st == ROCL_OK; i++)
        t->workers[i] = (tl_worker){.opt = o, .gaps = t->gaps, .number = i};
    if (st == ROCL_OK)
        st = rocl_out_open(&t->out, o->path, err);
    if (st == ROCL_OK && o->gzip)
        st = rocl_pipe_new(&t->packing, t->jobs, &packing_ops, t, err);
    return st;
}

static void release(timeline *t)
{
    rocl_out_discard(t->out);
    for (unsigned i = 0; t->workers && i < t->jobs; i++)
        tl_worker_free(&t->workers[i]);
    free(t->workers);
    free(t->row_map);
    rocl_sorter_free(t->gaps);
    rocl_sort_space_free(t->space);
    rocl_strings_free(t->workgroups);
    tl_rows_free(&t->rows);
    tl_calls_free(&t->calls);
    rocl_buf_free(&t->text);
}

static rocl_status convert_capture(timeline *t, rocl_model_capture *c, rocl_error *err)
{
    rocl_spool *spool = rtg_capture_spool(c);
    rocl_status st = rocl_spool_wake(spool, err);
    t->capture = c->pub.index;
    if (st == ROCL_OK)
        st = convert_input(t, c->pub.path, spool, err);
    rocl_spool_rest(spool);
    return st;
}

static rocl_status convert(timeline *t, const char *const *inputs, size_t count, rocl_trace *trace,
                           rocl_error *err)
{
    rocl_buf_str(&t->text, "{\n\"traceEvents\": [\n");
    rocl_status st = emit_text(t, &t->text, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = convert_input(t, inputs[i], NULL, err);
    for (size_t i = 0; trace && i < trace->capture_count && st == ROCL_OK; i++)
        st = convert_capture(t, trace->captures[i], err);
    if (st == ROCL_OK)
        st = put_end(t, err);
    return end_packing(t, st, err);
}

static rocl_status finish(timeline *t, rocl_error *err)
{
    for (unsigned i = 0; i < t->jobs; i++)
        t->report->repaired += t->workers[i].repaired;
    t->report->bytes = rocl_out_bytes(t->out);
    rocl_out *out = t->out;
    t->out = NULL;
    rocl_status st = rocl_out_commit(out, err);
    if (st != ROCL_OK)
        return st;
    say_counts(t);
    if (t->opt->workgroups)
        st = tl_workgroups_say(t->workgroups, t->opt->say, t->opt->ctx, err);
    if (st == ROCL_OK && (t->report->left_out || t->report->repaired))
        st = ROCL_PARTIAL;
    return st;
}

static rocl_status run(const char *const *inputs, size_t count, rocl_trace *trace,
                       tl_selection *selection, const rocl_timeline_options *o,
                       rocl_timeline_report *report, rocl_error *err)
{
    rocl_timeline_report none = {0};
    rocl_error *own = err ? NULL : rocl_error_new();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    timeline t = {.opt = o, .report = report ? report : &none, .selection = selection};
    *t.report = (rocl_timeline_report){0};
    t.jobs = o->jobs ? o->jobs : cores < 1 ? 1 : cores > 256 ? 256 : (unsigned)cores;
    err = err ? err : own;
    rocl_status st = prepare(&t, err);
    if (st == ROCL_OK)
        st = convert(&t, inputs, count, trace, err);
    else
        st = end_packing(&t, st, err);
    if (st == ROCL_OK)
        st = finish(&t, err);
    release(&t);
    rocl_error_free(own);
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
    return st ? st : rocl_trace_verdict(t);
}

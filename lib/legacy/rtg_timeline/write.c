/* Step 2: items become JSON, in the order of the text. Here rows get their numbers, and calls of
 * strace that another line began their ends. */
#include "legacy/rtg_timeline/timeline.h"
#include "base/deflate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

enum {
    BAD_REPORTED = 5, /* at most this many left-out lines are reported individually */
    PIECE = 1 << 20,  /* bytes of output that become a gzip member */
};

/* ---- the output ----------------------------------------------------------------------------- */

static rocl_status compress_piece(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    const tl_writer *w = ctx;
    (void)worker;
    return rocl_gzip_member(&c->out, c->in.data, c->in.len,
                            rocl_level_or(w->opt->level, ROCL_GZIP_LEVEL), err);
}

static rocl_status write_piece(void *ctx, rocl_block *c, rocl_error *err)
{
    const tl_writer *w = ctx;
    return rocl_out_write(w->file, c->out.data, c->out.len, err);
}

static const rocl_pipe_ops gzip_ops = {compress_piece, write_piece};

rocl_status tl_writer_open(tl_writer *w, const rocl_timeline_options *o, unsigned jobs,
                           rocl_error *err)
{
    w->opt = o;
    w->workgroups = rocl_strings_new();
    w->call_names = rocl_strings_new();
    rocl_status st = w->workgroups && w->call_names ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = tl_rows_init(&w->rows, o->by_process, err);
    if (st == ROCL_OK)
        st = rocl_out_open(&w->file, o->path, err);
    if (st == ROCL_OK && o->gzip)
        st = rocl_pipe_new(&w->gzip, jobs, &gzip_ops, w, err);
    return st;
}

void tl_writer_free(tl_writer *w)
{
    rocl_pipe_abort(w->gzip);
    rocl_out_discard(w->file);
    rocl_buf_free(&w->text);
    tl_rows_free(&w->rows);
    free(w->row_map);
    rocl_strings_free(w->call_names);
    rocl_map_free(&w->open_calls);
    for (size_t i = 0; i < w->call_count; i++)
        rocl_buf_free(&w->calls[i].text);
    free(w->calls);
    rocl_strings_free(w->workgroups);
}

static rocl_status write_bytes(tl_writer *w, const void *p, size_t n, rocl_error *err)
{
    if (!w->gzip)
        return rocl_out_write(w->file, p, n, err);
    rocl_status st = w->piece ? ROCL_OK : rocl_pipe_get(w->gzip, &w->piece, err);
    if (st)
        return st;
    rocl_buf_put(&w->piece->in, p, n);
    if (w->piece->in.len < PIECE)
        return ROCL_OK;
    rocl_block *full = w->piece;
    w->piece = NULL;
    return rocl_pipe_put(w->gzip, full, err);
}

rocl_status tl_write_text(tl_writer *w, rocl_error *err)
{
    if (w->text.failed)
        return rocl_fail_memory(err);
    rocl_status st = w->text.len ? write_bytes(w, w->text.data, w->text.len, err) : ROCL_OK;
    w->text.len = 0;
    return st;
}

rocl_status tl_writer_commit(tl_writer *w, rocl_error *err)
{
    rocl_status st = w->piece ? rocl_pipe_put(w->gzip, w->piece, err) : ROCL_OK;
    if (st == ROCL_OK && w->gzip) {
        rocl_pipe *pipe = w->gzip;
        w->gzip = NULL;
        st = rocl_pipe_finish(pipe, err);
    }
    if (st)
        return st;
    rocl_out *file = w->file;
    w->file = NULL;
    w->report->bytes = rocl_out_bytes(file);
    return rocl_out_commit(file, err);
}

/* ---- items ---------------------------------------------------------------------------------- */

static void report_bad_line(tl_writer *w, uint64_t line, const char *why)
{
    char text[1024];
    w->report->left_out++;
    if (w->bad_reported++ >= BAD_REPORTED || !w->opt->notice)
        return;
    snprintf(text, sizeof text, "%s:%" PRIu64 ": %s: left out", w->path, w->line + line + 1, why);
    w->opt->notice(w->opt->ctx, text);
}

/* The last call of a name that was begun counts, and stays open for more than one end. */
static rocl_status begin_call(tl_writer *w, const tl_texts *t, const char *texts, rocl_error *err)
{
    uint32_t name = rocl_strings_put(w->call_names, texts, t->len[0]);
    if (name == ROCL_NONE)
        return rocl_fail_memory(err);
    uint32_t index = rocl_map_get(&w->open_calls, name, ROCL_NONE);
    if (index == ROCL_NONE) {
        if (!ROCL_GROW(w->calls, w->call_cap, w->call_count + 1) ||
            !rocl_map_put(&w->open_calls, name, (uint32_t)w->call_count))
            return rocl_fail_memory(err);
        index = (uint32_t)w->call_count++;
    }
    tl_call *call = &w->calls[index];
    call->text.len = 0;
    rocl_buf_put(&call->text, texts + t->len[0], (size_t)t->len[1] + t->len[2] + t->len[3]);
    call->call = t->len[1];
    call->seconds = t->len[2];
    call->fraction = t->len[3];
    return call->text.failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status resume_call(tl_writer *w, const tl_place *place, const tl_texts *t,
                               const char *texts, rocl_error *err)
{
    rocl_view field[TL_TEXTS]; /* name, duration, seconds, fraction */
    for (int i = 0; i < TL_TEXTS; texts += t->len[i++])
        field[i] = (rocl_view){texts, t->len[i]};
    uint32_t name = rocl_strings_put(w->call_names, field[0].p, field[0].n);
    uint32_t index = rocl_map_get(&w->open_calls, name, ROCL_NONE);
    if (index == ROCL_NONE) {
        report_bad_line(w, place->line, "a call is resumed that never began");
        return ROCL_OK;
    }
    const tl_call *c = &w->calls[index];
    const char *call = (const char *)c->text.data;
    if (!t->kind) {
        field[2] = (rocl_view){call + c->call, c->seconds};
        field[3] = (rocl_view){call + c->call + c->seconds, c->fraction};
    }
    size_t repaired = 0;
    const char *why = tl_put_strace(&w->text, field[0], (rocl_view){call, c->call}, true, field[2],
                                    field[3], field[1], &repaired);
    if (why)
        report_bad_line(w, place->line, why);
    w->report->repaired += repaired != 0;
    return tl_write_text(w, err);
}

static rocl_status write_item(tl_writer *w, tl_head h, const char *p, rocl_error *err)
{
    tl_place place = {0};
    tl_texts texts = {0};
    if (h.kind == TL_RESUMED || h.kind == TL_BAD) {
        memcpy(&place, p, sizeof place);
        p += sizeof place;
    }
    if (h.kind == TL_NEW_ROW || h.kind == TL_UNFINISHED || h.kind == TL_RESUMED) {
        memcpy(&texts, p, sizeof texts);
        p += sizeof texts;
    }
    switch ((tl_item)h.kind) {
    case TL_TEXT:
        return h.len ? write_bytes(w, p, h.len, err) : ROCL_OK;
    case TL_ROW: {
        tl_row *row = &w->rows.rows[w->row_map[h.len]];
        row->used = ++w->rows.clock;
        return write_bytes(w, w->rows.texts.data + row->text, row->len, err);
    }
    case TL_NEW_ROW:
        if (!ROCL_GROW(w->row_map, w->row_map_cap, w->row_map_len + 1))
            return rocl_fail_memory(err);
        return tl_rows_get(&w->rows, &texts, p, &w->row_map[w->row_map_len++], err);
    case TL_WORKGROUP:
        return rocl_strings_put(w->workgroups, p, h.len) == ROCL_NONE ? rocl_fail_memory(err)
                                                                      : ROCL_OK;
    case TL_UNFINISHED:
        return begin_call(w, &texts, p, err);
    case TL_RESUMED:
        return resume_call(w, &place, &texts, p, err);
    case TL_SAY:
        tl_say(w->opt, p, h.len);
        break;
    case TL_MISSED_HSA: /* only the first one is printed */
        if (!w->missed_hsa) {
            bool ended = h.len && p[h.len - 1] == '\n';
            tl_say(w->opt, p, h.len - ended);
            if (ended)
                tl_say(w->opt, "", 0);
        }
        w->missed_hsa = true;
        break;
    case TL_BAD:
        report_bad_line(w, place.line, place.why);
        break;
    case TL_LINES: {
        uint64_t lines;
        memcpy(&lines, p, sizeof lines);
        w->line += lines;
        w->report->lines += lines;
        break;
    }
    }
    return ROCL_OK;
}

rocl_status tl_write_block(tl_writer *w, const rocl_buf *items, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    w->row_map_len = 0;
    for (size_t at = 0; at < items->len && st == ROCL_OK;) {
        tl_head h;
        memcpy(&h, items->data + at, sizeof h);
        st = write_item(w, h, (const char *)items->data + at + sizeof h, err);
        at += sizeof h + (h.kind == TL_ROW ? 0 : h.len);
    }
    return st;
}

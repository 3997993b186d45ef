/* Items become JSON, in the order of the text: here rows get their numbers, and calls that another
 * line began their ends. */
#include "legacy/timeline_impl.h"

#include "base/array.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TELL = 5 }; /* lines that are left out are told one by one up to so many */

rocl_status tl_writer_init(tl_writer *w, const rocl_timeline_options *o, rocl_error *err)
{
    w->opt = o;
    w->workgroups = rocl_strings_new();
    rocl_status st = w->workgroups ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = tl_rows_init(&w->rows, o->by_process, err);
    if (st == ROCL_OK)
        st = tl_calls_init(&w->calls, err);
    return st;
}

void tl_writer_free(tl_writer *w)
{
    free(w->row_map);
    rocl_strings_free(w->workgroups);
    tl_rows_free(&w->rows);
    tl_calls_free(&w->calls);
    rocl_buf_free(&w->text);
}

static void notice(const tl_writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void notice(const tl_writer *w, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (w->opt->notice)
        w->opt->notice(w->opt->ctx, text);
}

static void on_bad(tl_writer *w, const tl_place *place)
{
    w->report->left_out++;
    if (w->told++ < TELL)
        notice(w, "%s:%" PRIu64 ": %s: left out", w->path, w->line + place->line + 1, place->why);
}

static rocl_status on_new_row(tl_writer *w, const char *p, rocl_error *err)
{
    tl_texts key;
    memcpy(&key, p, sizeof key);
    if (!ROCL_GROW(w->row_map, w->row_map_cap, w->row_map_len + 1))
        return rocl_fail_memory(err);
    return tl_rows_get(&w->rows, &key, p + sizeof key, &w->row_map[w->row_map_len++], err);
}

static rocl_status on_row(tl_writer *w, uint32_t local, rocl_error *err)
{
    tl_row *row = &w->rows.rows[w->row_map[local]];
    rtg_span text = tl_row_text(&w->rows, row);
    row->used = ++w->rows.clock;
    return tl_out_put(&w->out, text.p, text.n, err);
}

static rocl_status on_workgroup(tl_writer *w, const char *p, size_t n, rocl_error *err)
{
    return rocl_strings_put(w->workgroups, p, n) == ROCL_NONE ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status on_begun_call(tl_writer *w, const char *p, rocl_error *err)
{
    tl_texts texts;
    memcpy(&texts, p, sizeof texts);
    return tl_calls_begin(&w->calls, &texts, p + sizeof texts, err);
}

static rocl_status on_resumed_call(tl_writer *w, const char *p, rocl_error *err)
{
    tl_place place;
    tl_texts texts;
    size_t repaired = 0;
    memcpy(&place, p, sizeof place);
    memcpy(&texts, p + sizeof place, sizeof texts);
    p += sizeof place + sizeof texts;
    const tl_call *c = tl_calls_find(&w->calls, p, texts.len[0]);
    if (!c) {
        place.why = "an strace call is resumed that was not begun";
        on_bad(w, &place);
        return ROCL_OK;
    }
    const char *call = (const char *)c->text.data, *took = p + texts.len[0];
    rtg_span seconds = {call + c->call, c->seconds},
             fraction = {seconds.p + seconds.n, c->fraction};
    if (texts.kind) {
        seconds = (rtg_span){took + texts.len[1], texts.len[2]};
        fraction = (rtg_span){seconds.p + seconds.n, texts.len[3]};
    }
    place.why = tl_put_strace(&w->text, (rtg_span){p, texts.len[0]}, (rtg_span){call, c->call},
                              true, seconds, fraction, (rtg_span){took, texts.len[1]}, &repaired);
    if (place.why)
        on_bad(w, &place);
    w->report->repaired += repaired != 0;
    return tl_out_take(&w->out, &w->text, err);
}

static void on_missed_hsa(tl_writer *w, const char *p, size_t n)
{
    bool ended = n && p[n - 1] == '\n';
    if (!w->missed_hsa)
        tl_print(w->opt, p, n - ended);
    if (!w->missed_hsa && ended)
        tl_print(w->opt, "", 0);
    w->missed_hsa = true;
}

static rocl_status on_item(tl_writer *w, tl_head h, const char *p, rocl_error *err)
{
    tl_place place;
    uint64_t number;
    switch ((tl_item)h.kind) {
    case TL_TEXT:
        return h.len ? tl_out_put(&w->out, p, h.len, err) : ROCL_OK;
    case TL_ROW:
        return on_row(w, h.len, err);
    case TL_NEW_ROW:
        return on_new_row(w, p, err);
    case TL_WORKGROUP:
        return on_workgroup(w, p, h.len, err);
    case TL_UNFINISHED:
        return on_begun_call(w, p, err);
    case TL_RESUMED:
        return on_resumed_call(w, p, err);
    case TL_SAY:
        tl_print(w->opt, p, h.len);
        break;
    case TL_MISSED_HSA:
        on_missed_hsa(w, p, h.len);
        break;
    case TL_BAD:
        memcpy(&place, p, sizeof place);
        on_bad(w, &place);
        break;
    case TL_LINES:
        memcpy(&number, p, sizeof number);
        w->line += number;
        w->report->lines += number;
        break;
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
        st = on_item(w, h, (const char *)items->data + at + sizeof h, err);
        at += sizeof h + (h.kind == TL_ROW ? 0 : h.len);
    }
    return st;
}

/* Lines -> blocks -> text -> (gzip) -> file. Blocks are cut by about how much text they will make,
 * which does not depend on how many workers there are: neither do gzip members. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/deflate.h"
#include "base/text.h"
#include "format/roster.h"
#include "sink/chrome/chrome.h"

enum { EVENT_WEIGHT = 224 }; /* of an event beside its name */

struct chrome_worker {
    alignas(ROCL_CACHE_LINE) chrome_formatter formatter;
    rocl_buf text; /* of a block, before gzip */
};

static chrome_block block_of(const rocl_block *c)
{
    chrome_block b = {0};
    if (c->in.len)
        memcpy(&b, c->in.data, sizeof b);
    return b;
}

/* Each line has a comma before it, which the first block leaves out. */
static rocl_status make_text(void *ctx, unsigned number, rocl_block *c, rocl_error *err)
{
    const chrome_stream *s = ctx;
    struct chrome_worker *w = &s->workers[number];
    rocl_status st = rocl_draw_block(c, err);
    if (st != ROCL_OK || s->drawing)
        return st;
    w->text.len = 0;
    w->text.failed = false;
    w->formatter.out = s->level ? &w->text : &c->out;
    w->formatter.block = block_of(c);
    const size_t skip = w->formatter.block.begins;
    if (c->in.len)
        st = chrome_format(&w->formatter, c->in.data + sizeof(chrome_block), c->in.data + c->in.len,
                           err);
    if (st != ROCL_OK || !s->level || w->text.len == skip)
        return st;
    return rocl_gzip_member(&c->out, w->text.data + skip, w->text.len - skip, s->level, err);
}

static rocl_status write_text(void *ctx, rocl_block *c, rocl_error *err)
{
    chrome_stream *s = ctx;
    const chrome_block b = block_of(c);
    const size_t skip = b.begins && !s->level ? 1 : 0;
    rocl_status st = ROCL_OK;
    if (s->drawing) {
        if (!c->in.len)
            return ROCL_OK;
        if (!ROCL_GROW(s->kept, s->kept_capacity, s->kept_count + 1))
            return rocl_fail_memory(err);
        s->kept[s->kept_count] = (rocl_stored){0};
        return rocl_space_store(s->trace->space, &s->kept[s->kept_count++], c->in.data, c->in.len,
                                err);
    }
    if (s->trace->joint && c->in.len)
        st = rocl_joint_advance_to(s->trace->joint, &s->trace->captures[b.capture]->pub, err);
    return st ? st : rocl_out_write(s->file.out, c->out.data + skip, c->out.len - skip, err);
}

static const rocl_pipe_ops pipe_ops = {make_text, write_text};

/* Writes what stands before or after all lines, a gzip member of its own. */
static rocl_status write_frame(chrome_stream *s, bool head, const rocl_buf *text, rocl_error *err)
{
    rocl_buf frame = {0};
    rocl_status st = ROCL_OK;
    if (s->level)
        st = rocl_gzip_member(&frame, text->data, text->len, s->level, err);
    else
        rocl_buf_put(&frame, text->data, text->len);
    if (st == ROCL_OK && frame.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = head ? rocl_joint_head(s->trace, s->file.out, frame.data, frame.len, err)
                  : rocl_out_write(s->file.out, frame.data, frame.len, err);
    rocl_buf_free(&frame);
    return st;
}

rocl_status chrome_stream_open(chrome_stream *s, rocl_trace *t, const rocl_chrome_options *o,
                               rocl_error *err)
{
    s->trace = t;
    s->lines.trace = t;
    if (o->gzip || rocl_out_is_gz(o->path))
        s->level = rocl_level_or(o->level, ROCL_GZIP_LEVEL);
    s->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s->workers);
    if (!s->workers)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < t->opt.jobs; i++)
        s->workers[i].formatter = (chrome_formatter){
            .trace = t, .texts = {.strings = t->strings, .make = rocl_json_make_text}};
    rocl_status st =
        rocl_piped_open_joint(&s->file, t, o->path, ROCL_JOINT_JOINING, &pipe_ops, s, err);
    s->drawing = t->joint;
    static uint8_t head[] = "{\"traceEvents\":[";
    const rocl_buf text = {.data = head, .len = sizeof head - 1};
    return st ? st : write_frame(s, true, &text, err);
}

void chrome_stream_set_base(chrome_stream *s, int64_t base)
{
    s->base = base;
    for (unsigned i = 0; i < s->trace->opt.jobs; i++)
        s->workers[i].formatter.base = base;
}

void chrome_stream_capture(chrome_stream *s, const rocl_capture *c)
{
    s->lines.head = (chrome_block){.capture = c->index, .begins = !s->begun};
}

chrome_lines *chrome_stream_lines(chrome_stream *s)
{
    s->lines.to = rocl_piped_buf(&s->file);
    return &s->lines;
}

rocl_status chrome_stream_flush(chrome_stream *s, bool all, rocl_error *err)
{
    const size_t weight = s->lines.weight;
    if (s->file.block && weight < CHROME_BLOCK_WEIGHT && !(all && weight))
        return ROCL_OK;
    s->begun = true;
    s->lines.head.begins = false;
    s->lines.weight = 0;
    return rocl_piped_put(&s->file, err);
}

rocl_status chrome_stream_put_kept(chrome_stream *s, uint32_t begins, rocl_error *err)
{
    rocl_buf scratch = {0};
    rocl_status st = rocl_pipe_drain(s->file.pipe, err);
    s->drawing = false;
    for (size_t i = 0; i < s->kept_count && st == ROCL_OK; i++) {
        const uint8_t *bytes;
        chrome_block block;
        st = rocl_space_load(s->trace->space, &s->kept[i], &scratch, &bytes, err);
        if (st != ROCL_OK)
            break;
        memcpy(&block, bytes, sizeof block);
        block.begins = block.capture == begins;
        begins = block.begins ? ROCL_NONE : begins;
        rocl_buf *to = rocl_piped_buf(&s->file);
        rocl_buf_put(to, &block, sizeof block);
        rocl_buf_put(to, bytes + sizeof block, s->kept[i].size - sizeof block);
        rocl_space_drop(s->trace->space, &s->kept[i]);
        st = rocl_piped_put(&s->file, err);
    }
    rocl_buf_free(&scratch);
    return st;
}

rocl_status chrome_stream_commit(chrome_stream *s, const rocl_buf *last, const rocl_buf *who,
                                 rocl_joint_sums *sums, rocl_error *err)
{
    rocl_joint *joint = s->trace->joint;
    rocl_buf foot = {0};
    rocl_buf_put(&foot, last->data, last->len);
    rocl_buf_str(&foot, "\n],\"displayTimeUnit\":\"ns\",\"" ROCL_ROSTER_MEMBER "\":");
    rocl_buf_put(&foot, who->data, who->len);
    rocl_buf_printf(&foot,
                    ",\"otherData\":{\"generator\":\"rocline " ROCLINE_VERSION
                    "\",\"timeBaseNanoseconds\":\"%" PRId64 "\"}}\n",
                    s->base);
    rocl_status st = rocl_piped_finish(&s->file, err);
    if (st == ROCL_OK && (foot.failed || last->failed || who->failed))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && joint)
        rocl_joint_write_after_all(joint);
    if (st == ROCL_OK && (!joint || rocl_joint_leads(joint)))
        st = write_frame(s, false, &foot, err);
    rocl_buf_free(&foot);
    return st ? st : rocl_piped_commit_joint(&s->file, s->trace, sums, err);
}

void chrome_stream_close(chrome_stream *s)
{
    rocl_piped_discard(&s->file);
    for (unsigned i = 0; s->workers && i < s->trace->opt.jobs; i++) {
        rocl_text_cache_free(&s->workers[i].formatter.texts);
        rocl_buf_free(&s->workers[i].text);
    }
    free(s->workers);
    for (size_t i = 0; i < s->kept_count; i++)
        rocl_space_drop(s->trace->space, &s->kept[i]);
    free(s->kept);
}

/* ---- lines ---- */

void chrome_begin_block(chrome_lines *l, rocl_buf *block)
{
    l->to = block;
    l->weight = 0;
}

/* The next size bytes are its body. */
static rocl_buf *begin_line(chrome_lines *l, const chrome_line *line, size_t weight)
{
    rocl_buf *b = l->to;
    l->weight += weight;
    if (!b->len) {
        rocl_buf_put(b, &l->head, sizeof l->head);
        l->row = (chrome_row){0};
    }
    if (rocl_buf_reserve(b, CHROME_LINE_MAX + line->size))
        b->len += chrome_line_put(b->data + b->len, line, &l->row);
    return b;
}

void chrome_put_text(chrome_lines *l, int64_t time, const rocl_buf *text)
{
    const chrome_line line = {
        .op = CHROME_TEXT, .size = (uint32_t)text->len, .time = time, .end = time};
    rocl_buf *b = begin_line(l, &line, text->len);
    b->failed |= text->failed;
    rocl_buf_put(b, text->data, text->len);
}

void chrome_put_event(chrome_lines *l, chrome_line *line, const rocl_sort_record *rec,
                      uint32_t name)
{
    size_t n = 0;
    rocl_strings_get(l->trace->strings, name, &n);
    line->op = CHROME_EVENT;
    line->sequence = (uint8_t)rocl_sequence_kind_of(rocl_sequence_of(rec->key));
    line->kind = (uint8_t)rocl_word_kind(rec->key[3]);
    line->time = (int64_t)rec->key[1];
    line->end = (int64_t)~rec->key[2];
    line->size = (uint32_t)rec->len;
    /* Not by the length of the record: numbers of texts depend on who was first to meet them. */
    rocl_buf *b = begin_line(l, line, EVENT_WEIGHT + n);
    rocl_buf_put(b, rec->data, rec->len);
}

void chrome_put_value(chrome_lines *l, chrome_row row, int64_t time, double value,
                      const rocl_buf *name)
{
    const chrome_line line = {.op = CHROME_VALUE,
                              .pid = row.pid,
                              .tid = row.tid,
                              .size = (uint32_t)(sizeof value + name->len),
                              .time = time,
                              .end = time};
    rocl_buf *b = begin_line(l, &line, EVENT_WEIGHT / 2 + name->len);
    b->failed |= name->failed;
    rocl_buf_put(b, &value, sizeof value);
    rocl_buf_put(b, name->data, name->len);
}

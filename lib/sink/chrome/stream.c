/* Lines -> blocks -> text -> (gzip) -> file. Blocks are cut by about how much text they will make,
 * which does not depend on how many workers there are: neither do gzip members. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/deflate.h"
#include "base/text.h"
#include "sink/chrome/chrome.h"

enum {
    BLOCK_WEIGHT = 256 << 10, /* bytes of text in a block, about */
    EVENT_WEIGHT = 192,       /* of an event beside its name */
};

struct chrome_worker {
    alignas(ROCL_CACHE_LINE) chrome_formatter formatter;
    rocl_buf text; /* of a block, before gzip */
};

/* Each line has a comma before it, which the first block (its user is the stream) leaves out. */
static rocl_status make_text(void *ctx, unsigned number, rocl_block *c, rocl_error *err)
{
    chrome_stream *s = ctx;
    struct chrome_worker *w = &s->workers[number];
    size_t skip = c->user ? 1 : 0;
    w->text.len = 0;
    w->text.failed = false;
    w->formatter.out = s->level ? &w->text : &c->out;
    rocl_status st = ROCL_OK;
    if (c->in.len)
        st = chrome_format(&w->formatter, c->in.data, c->in.data + c->in.len, err);
    if (st != ROCL_OK || !s->level)
        return st;
    return rocl_gzip_member(&c->out, w->text.data + skip, w->text.len - skip, s->level, err);
}

static rocl_status write_text(void *ctx, rocl_block *c, rocl_error *err)
{
    const chrome_stream *s = ctx;
    size_t skip = c->user && !s->level ? 1 : 0;
    return rocl_out_write(s->file.out, c->out.data + skip, c->out.len - skip, err);
}

static const rocl_pipe_ops pipe_ops = {make_text, write_text};

/* Writes what stands before or after all lines, a gzip member of its own. */
static rocl_status write_frame(chrome_stream *s, const char *text, rocl_error *err)
{
    rocl_buf packed = {0};
    rocl_status st =
        s->level ? rocl_gzip_member(&packed, text, strlen(text), s->level, err) : ROCL_OK;
    if (st == ROCL_OK && s->level)
        st = rocl_out_write(s->file.out, packed.data, packed.len, err);
    else if (st == ROCL_OK)
        st = rocl_out_write(s->file.out, text, strlen(text), err);
    rocl_buf_free(&packed);
    return st;
}

static void escape_text(rocl_buf *to, const char *p, size_t n)
{
    if (!rocl_json_plain(p, n))
        rocl_json_put(to, p, n);
}

rocl_status chrome_stream_open(chrome_stream *s, rocl_trace *t, const rocl_chrome_options *o,
                               rocl_error *err)
{
    s->trace = t;
    if (o->gzip || rocl_out_is_gz(o->path))
        s->level = rocl_level_or(o->level, ROCL_GZIP_LEVEL);
    s->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s->workers);
    if (!s->workers)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < t->opt.jobs; i++)
        s->workers[i].formatter =
            (chrome_formatter){.trace = t, .texts = {.strings = t->strings, .make = escape_text}};
    rocl_status st = rocl_piped_open(&s->file, o->path, t->opt.jobs, &pipe_ops, s, err);
    return st ? st : write_frame(s, "{\"traceEvents\":[", err);
}

void chrome_stream_set_base(chrome_stream *s, int64_t base)
{
    s->base = base;
    for (unsigned i = 0; i < s->trace->opt.jobs; i++)
        s->workers[i].formatter.base = base;
}

rocl_status chrome_stream_commit(chrome_stream *s, uint64_t *bytes, rocl_error *err)
{
    char foot[256];
    snprintf(
        foot, sizeof foot,
        "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"generator\":\"rocline " ROCLINE_VERSION
        "\",\"timeBaseNanoseconds\":\"%" PRId64 "\"}}\n",
        s->base);
    rocl_status st = chrome_stream_flush(s, true, err);
    if (st == ROCL_OK)
        st = rocl_piped_finish(&s->file, err);
    if (st == ROCL_OK)
        st = write_frame(s, foot, err);
    return st ? st : rocl_piped_commit(&s->file, s->trace, bytes, err);
}

void chrome_stream_close(chrome_stream *s)
{
    rocl_piped_discard(&s->file);
    for (unsigned i = 0; s->workers && i < s->trace->opt.jobs; i++) {
        rocl_text_cache_free(&s->workers[i].formatter.texts);
        rocl_buf_free(&s->workers[i].text);
    }
    free(s->workers);
}

/* ---- lines ---- */

static rocl_buf *begin_line(chrome_stream *s, const chrome_line *line, size_t weight)
{
    rocl_buf *b = rocl_piped_buf(&s->file);
    s->weight += weight;
    s->rows++;
    rocl_buf_put(b, line, sizeof *line);
    return b;
}

void chrome_put_line(chrome_stream *s, const rocl_buf *text)
{
    const chrome_line line = {.op = CHROME_LINE, .size = (uint32_t)text->len};
    rocl_buf *b = begin_line(s, &line, text->len);
    b->failed |= text->failed;
    rocl_buf_put(b, text->data, text->len);
}

void chrome_put_event(chrome_stream *s, chrome_line *line, const rocl_sort_record *rec,
                      uint32_t name)
{
    size_t n = 0;
    rocl_strings_get(s->trace->strings, name, &n);
    line->op = CHROME_EVENT;
    line->size = (uint32_t)(4 * sizeof *rec->key + rec->len);
    rocl_buf *b = begin_line(s, line, EVENT_WEIGHT + n + rec->len);
    rocl_buf_put(b, rec->key, 4 * sizeof *rec->key);
    rocl_buf_put(b, rec->data, rec->len);
}

void chrome_put_value(chrome_stream *s, uint32_t pid, const chrome_value *v, const rocl_buf *name)
{
    const chrome_line line = {
        .op = CHROME_VALUE, .pid = pid, .size = (uint32_t)(sizeof *v + name->len)};
    rocl_buf *b = begin_line(s, &line, EVENT_WEIGHT / 2 + name->len);
    b->failed |= name->failed;
    rocl_buf_put(b, v, sizeof *v);
    rocl_buf_put(b, name->data, name->len);
}

rocl_status chrome_stream_flush(chrome_stream *s, bool all, rocl_error *err)
{
    rocl_block *c = s->file.block;
    if (c && s->weight < BLOCK_WEIGHT && !(all && s->weight))
        return ROCL_OK;
    if (c) {
        rocl_progress(s->trace, s->rows);
        c->user = s->begun ? NULL : s;
        s->begun = true;
        s->weight = 0;
        s->rows = 0;
    }
    return rocl_piped_put(&s->file, err);
}

/* Lines -> blocks -> text -> (gzip) -> file. Blocks are cut by about how much text they will make,
 * which does not depend on how many workers there are: neither do gzip members. */
#include <stdlib.h>

#include "base/text.h"
#include "base/num.h"
#include "base/deflate.h"
#include "base/out.h"
#include "base/pool.h"
#include "sink/chrome/chrome.h"

enum {
    BLOCK_WEIGHT = 256 << 10, /* bytes of text in a block, about */
    EVENT_WEIGHT = 192,       /* of an event beside its name */
};

typedef struct worker {
    alignas(ROCL_CACHE_LINE) chrome_formatter formatter;
    rocl_buf text; /* of a block, before gzip */
} worker;

struct chrome_stream {
    rocl_trace *trace;
    rocl_out *out;
    rocl_pipe *pipe;
    rocl_block *block;
    worker *workers;
    size_t weight; /* of the block */
    uint64_t rows; /* in it */
    bool begun;    /* a block has been put */
    int level;     /* of gzip; 0: none */
    int64_t base;
    rocl_buf lost; /* takes what is written after a failure */
};

/* What follows a comma is a line: the first has none before it. */
static size_t comma(const rocl_block *c)
{
    return c->user ? 1 : 0;
}

static rocl_status make_text(void *ctx, unsigned number, rocl_block *c, rocl_error *err)
{
    chrome_stream *s = ctx;
    worker *w = &s->workers[number];
    w->text.len = 0;
    w->text.failed = false;
    w->formatter.out = s->level ? &w->text : &c->out;
    rocl_status st = chrome_format(&w->formatter, c->in.data, c->in.data + c->in.len, err);
    if (st != ROCL_OK || !s->level)
        return st;
    return rocl_gzip_member(&c->out, w->text.data + comma(c), w->text.len - comma(c), s->level,
                            err);
}

static rocl_status write_text(void *ctx, rocl_block *c, rocl_error *err)
{
    chrome_stream *s = ctx;
    size_t skip = s->level ? 0 : comma(c);
    return rocl_out_write(s->out, c->out.data + skip, c->out.len - skip, err);
}

static const rocl_pipe_ops pipe_ops = {make_text, write_text};

/* What stands around the lines, a gzip member of its own. */
static rocl_status write_frame(chrome_stream *s, const rocl_buf *text, rocl_error *err)
{
    rocl_buf packed = {0};
    rocl_status st = text->failed ? rocl_fail_memory(err) : ROCL_OK;
    if (st == ROCL_OK && s->level)
        st = rocl_gzip_member(&packed, text->data, text->len, s->level, err);
    const rocl_buf *b = s->level ? &packed : text;
    if (st == ROCL_OK)
        st = rocl_out_write(s->out, b->data, b->len, err);
    rocl_buf_free(&packed);
    return st;
}

static rocl_status write_head(chrome_stream *s, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_str(&b, "{\"traceEvents\":[");
    rocl_status st = write_frame(s, &b, err);
    rocl_buf_free(&b);
    return st;
}

static rocl_status write_foot(chrome_stream *s, rocl_error *err)
{
    rocl_buf b = {0};
    char base[ROCL_NUM_MAX + 1];
    *rocl_put_i64(base, s->base) = 0;
    rocl_buf_str(
        &b, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"generator\":\"rocline " ROCLINE_VERSION
            "\",\"timeBaseNanoseconds\":\"");
    rocl_buf_str(&b, base);
    rocl_buf_str(&b, "\"}}\n");
    rocl_status st = write_frame(s, &b, err);
    rocl_buf_free(&b);
    return st;
}

static void json_form(rocl_buf *to, const char *p, size_t n)
{
    if (!rocl_json_plain(p, n))
        rocl_json_put(to, p, n);
}

static rocl_status open_workers(chrome_stream *s, rocl_error *err)
{
    s->workers = rocl_cache_line_calloc(s->trace->opt.jobs, sizeof *s->workers);
    if (!s->workers)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < s->trace->opt.jobs; i++)
        s->workers[i].formatter = (chrome_formatter){
            .trace = s->trace, .texts = {.strings = s->trace->strings, .make = json_form}};
    return ROCL_OK;
}

rocl_status chrome_stream_open(chrome_stream **out, rocl_trace *t, const rocl_chrome_options *o,
                               rocl_error *err)
{
    chrome_stream *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    s->trace = t;
    if (o->gzip || rocl_out_is_gz(o->path))
        s->level = rocl_level_or(o->level, ROCL_GZIP_LEVEL);
    rocl_status st = open_workers(s, err);
    if (st == ROCL_OK)
        st = rocl_out_open(&s->out, o->path, err);
    if (st == ROCL_OK)
        st = write_head(s, err);
    if (st == ROCL_OK)
        st = rocl_pipe_new(&s->pipe, t->opt.jobs, &pipe_ops, s, err);
    if (st == ROCL_OK)
        st = rocl_pipe_get(s->pipe, &s->block, err);
    if (st != ROCL_OK)
        chrome_stream_abort(s);
    else
        *out = s;
    return st;
}

void chrome_stream_set_base(chrome_stream *s, int64_t base)
{
    s->base = base;
    for (unsigned i = 0; i < s->trace->opt.jobs; i++)
        s->workers[i].formatter.base = base;
}

static void stream_free(chrome_stream *s)
{
    for (unsigned i = 0; s->workers && i < s->trace->opt.jobs; i++) {
        rocl_text_cache_free(&s->workers[i].formatter.texts);
        rocl_buf_free(&s->workers[i].text);
    }
    free(s->workers);
    rocl_buf_free(&s->lost);
    free(s);
}

rocl_status chrome_stream_commit(chrome_stream *s, uint64_t *bytes, rocl_error *err)
{
    rocl_status st = chrome_stream_flush(s, true, err);
    if (st == ROCL_OK)
        st = rocl_pipe_put(s->pipe, s->block, err); /* an empty one */
    if (st != ROCL_OK) {
        chrome_stream_abort(s);
        return st;
    }
    st = rocl_pipe_finish(s->pipe, err);
    if (st == ROCL_OK)
        st = write_foot(s, err);
    *bytes = rocl_out_bytes(s->out);
    st = rocl_out_end(s->out, st, err);
    stream_free(s);
    return st;
}

void chrome_stream_abort(chrome_stream *s)
{
    if (!s)
        return;
    rocl_pipe_abort(s->pipe);
    rocl_out_discard(s->out);
    stream_free(s);
}

/* ---- lines ---- */

static rocl_buf *begin_line(chrome_stream *s, const chrome_line *line, size_t weight)
{
    rocl_buf *b = s->block ? &s->block->in : &s->lost;
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
    if (!s->block) /* the pipe has failed, and says so again */
        return rocl_pipe_get(s->pipe, &s->block, err);
    if (s->weight < BLOCK_WEIGHT && !(all && s->weight))
        return ROCL_OK;
    rocl_block *c = s->block;
    rocl_progress(s->trace, s->rows);
    c->user = s->begun ? NULL : s;
    s->begun = true;
    s->block = NULL;
    s->weight = 0;
    s->rows = 0;
    rocl_status st = rocl_pipe_put(s->pipe, c, err);
    return st ? st : rocl_pipe_get(s->pipe, &s->block, err);
}

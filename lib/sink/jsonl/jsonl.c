/* JSON lines: an object for each row, its members in the order of the columns. Where several
 * relations go to one stream, "kind" is the first member. */
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/num.h"
#include "base/text.h"
#include "sink/columnar/columnar.h"

enum { GROUP_ROWS = 8192, BLOCK_ROWS = 1024, MEMBER = 64 /* bytes of a name, about */ };

typedef struct worker {
    alignas(ROCL_CACHE_LINE) rocl_text_cache texts;
    rocl_buf lines;
} worker;

typedef struct jsonl {
    rocl_columnar_run *run;
    worker *workers;
    unsigned count;
    int level; /* of gzip; 0: none */
} jsonl;

static void put_value(worker *w, rocl_buf *to, rocl_cell_type type, int64_t cell)
{
    if (cell == ROCL_CELL_NULL) {
        rocl_buf_put(to, "null", 4);
    } else if (type == ROCL_CELL_INTEGER) {
        rocl_buf_i64(to, cell);
    } else if (type == ROCL_CELL_REAL) {
        rocl_buf_double(to, rocl_cell_real(cell));
    } else {
        const rocl_cached_text *t = rocl_text_cache_get(&w->texts, (uint32_t)cell);
        rocl_buf_byte(to, '"');
        if (t)
            rocl_buf_put(to, t->bytes, t->len);
        else
            to->failed = true;
        rocl_buf_byte(to, '"');
    }
}

/* The cells of a block stand column by column. */
static rocl_status format_block(void *ctx, unsigned number, rocl_block *block, rocl_error *err)
{
    jsonl *j = ctx;
    worker *w = &j->workers[number];
    const rocl_columnar_file *f = block->user;
    const int64_t *cells = (const int64_t *)(const void *)block->in.data;
    const size_t rows = block->in.len / sizeof *cells / f->column_count;
    rocl_buf *to = j->level ? &w->lines : &block->out;
    w->lines.len = 0;
    for (size_t row = 0; row < rows; row++) {
        rocl_buf_byte(to, '{');
        if (j->run->options->path) {
            rocl_buf_str(to, "\"kind\":\"");
            rocl_buf_str(to, f->relation->name);
            rocl_buf_byte(to, '"');
        }
        for (unsigned i = 0; i < f->column_count; i++) {
            const char *name = f->columns[i]->name;
            if (i || j->run->options->path)
                rocl_buf_byte(to, ',');
            rocl_buf_byte(to, '"');
            /* For relations of several kinds, the kind of an event has a column of its own. */
            rocl_buf_str(to, j->run->options->path && !strcmp(name, "kind") ? "event_kind" : name);
            rocl_buf_put(to, "\":", 2);
            put_value(w, to, f->columns[i]->type, cells[i * rows + row]);
        }
        rocl_buf_put(to, "}\n", 2);
    }
    if (!j->level)
        return ROCL_OK;
    return w->lines.failed
               ? rocl_fail_memory(err)
               : rocl_gzip_member(&block->out, w->lines.data, w->lines.len, j->level, err);
}

static rocl_status write_block(void *ctx, rocl_block *block, rocl_error *err)
{
    const rocl_columnar_file *f = block->user;
    (void)ctx;
    return rocl_out_write(f->out, block->out.data, block->out.len, err);
}

static rocl_status put_group(void *ctx, rocl_columnar_file *f, rocl_error *err)
{
    jsonl *j = ctx;
    rocl_status st = ROCL_OK;
    for (size_t first = 0; first < f->group_rows && st == ROCL_OK; first += BLOCK_ROWS) {
        const size_t left = f->group_rows - first, n = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        rocl_block *block;
        st = rocl_pipe_get(j->run->pipe, &block, err);
        if (st != ROCL_OK)
            break;
        block->user = f;
        for (unsigned i = 0; i < f->column_count; i++)
            rocl_buf_put(&block->in, f->cells[i] + first, n * sizeof *f->cells[i]);
        st = rocl_pipe_put(j->run->pipe, block, err);
    }
    return st;
}

static rocl_status open_jsonl(void **ctx, rocl_columnar_run *run, rocl_error *err)
{
    const rocl_export_options *o = run->options;
    jsonl *j = calloc(1, sizeof *j);
    if (!j)
        return rocl_fail_memory(err);
    *ctx = j;
    j->run = run;
    j->count = run->trace->opt.jobs;
    if (o->codec == ROCL_CODEC_ZSTD)
        return rocl_fail(err, ROCL_USAGE, "JSON lines are compressed with gzip, or not at all");
    if (o->codec == ROCL_CODEC_GZIP)
        j->level = rocl_level_or(o->level, ROCL_GZIP_LEVEL);
    j->workers = rocl_cache_line_calloc(j->count, sizeof *j->workers);
    for (unsigned i = 0; j->workers && i < j->count; i++) {
        j->workers[i].texts.strings = run->strings;
        j->workers[i].texts.make = rocl_json_make_text;
    }
    return j->workers ? ROCL_OK : rocl_fail_memory(err);
}

static void close_jsonl(void *ctx)
{
    jsonl *j = ctx;
    for (unsigned i = 0; j->workers && i < j->count; i++) {
        rocl_text_cache_free(&j->workers[i].texts);
        rocl_buf_free(&j->workers[i].lines);
    }
    free(j->workers);
    free(j);
}

const rocl_columnar_format rocl_jsonl_format = {
    .ending = ".jsonl",
    .group_rows = GROUP_ROWS,
    .joined = true,
    .apart = true,
    .pipe = {format_block, write_block},
    .open = open_jsonl,
    .close = close_jsonl,
    .put_group = put_group,
};

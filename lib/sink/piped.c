/* A file that is written block by block through a pipe of workers. */
#include "sink/piped.h"

#include "base/deflate.h"
#include "model/trace.h"

enum { TEXT_BLOCK = 256 << 10 };

static rocl_status open_pipe(rocl_piped *s, unsigned jobs, const rocl_pipe_ops *ops, void *ctx,
                             rocl_error *err)
{
    const rocl_status st = rocl_pipe_new(&s->pipe, jobs, ops, ctx, err);
    return st ? st : rocl_pipe_get(s->pipe, &s->block, err);
}

rocl_status rocl_piped_open(rocl_piped *s, const char *path, unsigned jobs,
                            const rocl_pipe_ops *ops, void *ctx, rocl_error *err)
{
    const rocl_status st = rocl_out_open(&s->out, path, err);
    return st ? st : open_pipe(s, jobs, ops, ctx, err);
}

rocl_status rocl_piped_open_joint(rocl_piped *s, rocl_trace *t, const char *path,
                                  rocl_joint_order order, const rocl_pipe_ops *ops, void *ctx,
                                  rocl_error *err)
{
    rocl_status st = rocl_joint_open(t, path, err);
    rocl_joint_set_order(t, order);
    if (st == ROCL_OK)
        st = rocl_joint_out(t, &s->out, path, err);
    return st ? st : open_pipe(s, t->opt.jobs, ops, ctx, err);
}

rocl_status rocl_piped_end_part(rocl_piped *s, rocl_trace *t, rocl_error *err)
{
    rocl_status st = rocl_piped_buf(s)->len ? rocl_piped_put(s, err) : ROCL_OK;
    return st || !t->joint ? st : rocl_pipe_drain(s->pipe, err);
}

static rocl_status make_block(void *ctx, unsigned worker, rocl_block *block, rocl_error *err)
{
    const rocl_piped *s = ctx;
    if (s->format) {
        const rocl_status st = s->format(s->ctx, worker, &block->in, &block->out, err);
        if (st != ROCL_OK || !s->level)
            return st;
        const rocl_buf records = block->in; /* no longer needed */
        block->in = block->out;
        block->out = records;
        block->out.len = 0;
    }
    if (s->level)
        return rocl_gzip_member(&block->out, block->in.data, block->in.len, s->level, err);
    rocl_buf_put(&block->out, block->in.data, block->in.len);
    return ROCL_OK;
}

static rocl_status write_block(void *ctx, rocl_block *block, rocl_error *err)
{
    const rocl_piped *s = ctx;
    return rocl_out_write(s->out, block->out.data, block->out.len, err);
}

static const rocl_pipe_ops text_ops = {make_block, write_block};

static rocl_status set_level(rocl_piped *s, const char *path, bool gzip, int level, rocl_error *err)
{
    if (gzip || rocl_out_is_gz(path))
        s->level = rocl_level_or(level, ROCL_GZIP_LEVEL);
    return rocl_check_level(level, err);
}

rocl_status rocl_piped_open_text(rocl_piped *s, const char *path, bool gzip, int level,
                                 unsigned jobs, rocl_error *err)
{
    const rocl_status st = set_level(s, path, gzip, level, err);
    return st ? st : rocl_piped_open(s, path, jobs, &text_ops, s, err);
}

rocl_status rocl_piped_open_format(rocl_piped *s, rocl_trace *t, const char *path, bool gzip,
                                   int level, rocl_piped_format_fn *format, void *ctx,
                                   rocl_error *err)
{
    s->format = format;
    s->ctx = ctx;
    rocl_status st = set_level(s, path, gzip, level, err);
    if (st == ROCL_OK)
        st = rocl_joint_out(t, &s->out, path, err);
    return st ? st : open_pipe(s, t->opt.jobs, &text_ops, s, err);
}

static rocl_status end_row(rocl_piped *s, rocl_trace *t, size_t full, rocl_error *err)
{
    s->rows++;
    if (full < TEXT_BLOCK)
        return ROCL_OK;
    rocl_progress(t, s->rows);
    s->rows = s->weight = 0;
    return rocl_piped_put(s, err);
}

rocl_status rocl_piped_end_row(rocl_piped *s, rocl_trace *t, rocl_error *err)
{
    return end_row(s, t, rocl_piped_buf(s)->len, err);
}

rocl_status rocl_piped_end_record(rocl_piped *s, rocl_trace *t, size_t weight, rocl_error *err)
{
    s->weight += weight;
    return end_row(s, t, s->weight, err);
}

rocl_status rocl_piped_put(rocl_piped *s, rocl_error *err)
{
    rocl_block *full = s->block;
    s->block = NULL;
    rocl_status st = full ? rocl_pipe_put(s->pipe, full, err) : ROCL_OK;
    return st ? st : rocl_pipe_get(s->pipe, &s->block, err);
}

rocl_status rocl_piped_finish(rocl_piped *s, rocl_error *err)
{
    rocl_block *last = s->block;
    s->block = NULL;
    rocl_status st = last ? rocl_pipe_put(s->pipe, last, err) : ROCL_OK;
    if (st == ROCL_OK) {
        st = rocl_pipe_finish(s->pipe, err);
        s->pipe = NULL;
    }
    return st;
}

rocl_status rocl_piped_commit(rocl_piped *s, rocl_trace *t, uint64_t *bytes, rocl_error *err)
{
    rocl_joint_sums sums = {0};
    rocl_status st = rocl_piped_finish(s, err);
    if (st == ROCL_OK)
        st = rocl_piped_commit_joint(s, t, &sums, err);
    *bytes = sums.bytes;
    return st;
}

rocl_status rocl_piped_commit_joint(rocl_piped *s, rocl_trace *t, rocl_joint_sums *sums,
                                    rocl_error *err)
{
    rocl_out *out = s->out;
    s->out = NULL;
    return rocl_joint_commit(t, &out, 1, sums, err);
}

void rocl_piped_discard(rocl_piped *s)
{
    rocl_pipe_abort(s->pipe);
    rocl_out_discard(s->out);
    rocl_buf_free(&s->lost);
    *s = (rocl_piped){0};
}

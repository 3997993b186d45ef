/* A file that is written block by block through a pipe of workers. */
#include "sink/piped.h"

rocl_status rocl_piped_open(rocl_piped *s, const char *path, unsigned jobs,
                            const rocl_pipe_ops *ops, void *ctx, rocl_error *err)
{
    rocl_status st = rocl_out_open(&s->out, path, err);
    if (st == ROCL_OK)
        st = rocl_pipe_new(&s->pipe, jobs, ops, ctx, err);
    return st ? st : rocl_pipe_get(s->pipe, &s->block, err);
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

rocl_status rocl_piped_commit(rocl_piped *s, uint64_t *bytes, rocl_error *err)
{
    rocl_out *out = s->out;
    s->out = NULL;
    *bytes = rocl_out_bytes(out);
    return rocl_out_commit(out, err);
}

void rocl_piped_discard(rocl_piped *s)
{
    rocl_pipe_abort(s->pipe);
    rocl_out_discard(s->out);
    rocl_buf_free(&s->lost);
    *s = (rocl_piped){0};
}

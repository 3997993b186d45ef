/* Blocks of packets -> (compressed) -> file. */
#include <stdlib.h>

#include "sink/pftrace/fields.h"
#include "base/deflate.h"
#include "sink/pftrace/pf.h"

struct pf_stream {
    rocl_out *out;
    rocl_pipe *pipe;
    rocl_block *block; /* that is being filled, unless parts do */
    int level;
    bool gzip;
    rocl_buf lost; /* takes what is written after a failure */
    pf_fill_fn *fill;
};

static rocl_status compress_block(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    pf_stream *s = ctx;
    rocl_status st = ROCL_OK;
    (void)worker;
    if (c->user) { /* a part has yet to fill it: it says which turn of the part it is for */
        uint64_t turn;
        memcpy(&turn, c->in.data, sizeof turn);
        c->in.len = 0;
        st = s->fill(c->user, turn, &c->in, err);
    }
    if (st || !c->in.len)
        return st;
    if (s->gzip)
        return rocl_gzip_member(&c->out, c->in.data, c->in.len, s->level ? s->level : 1, err);
    if (!s->level)
        return ROCL_OK; /* write takes it from `in` */
    size_t packet = rocl_pb_begin(&c->out, TRACE_PACKET);
    size_t body = rocl_pb_begin(&c->out, PKT_COMPRESSED);
    st = rocl_zlib_stream(&c->out, c->in.data, c->in.len, s->level, err);
    rocl_pb_end(&c->out, body);
    rocl_pb_end(&c->out, packet);
    return st ? st : c->out.failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status write_block(void *ctx, rocl_block *c, rocl_error *err)
{
    pf_stream *s = ctx;
    const rocl_buf *b = s->level || s->gzip ? &c->out : &c->in;
    return rocl_out_write(s->out, b->data, b->len, err);
}

static const rocl_pipe_ops pipe_ops = {compress_block, write_block};

rocl_status pf_stream_open(pf_stream **out, rocl_trace *t, const rocl_pftrace_options *o,
                           pf_fill_fn *fill, rocl_error *err)
{
    pf_stream *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    s->fill = fill;
    s->level = rocl_level_or(o->level, ROCL_PFTRACE_LEVEL);
    s->gzip = rocl_out_is_gz(o->path);
    rocl_status st = rocl_out_open(&s->out, o->path, err);
    if (st == ROCL_OK)
        st = rocl_pipe_new(&s->pipe, t->opt.jobs, &pipe_ops, s, err);
    if (st == ROCL_OK)
        st = rocl_pipe_get(s->pipe, &s->block, err);
    if (st != ROCL_OK)
        pf_stream_abort(s);
    else
        *out = s;
    return st;
}

static void stream_free(pf_stream *s)
{
    rocl_buf_free(&s->lost);
    free(s);
}

rocl_status pf_stream_commit(pf_stream *s, uint64_t *bytes, rocl_error *err)
{
    rocl_status st = pf_stream_flush(s, true, err);
    if (st == ROCL_OK && s->block)
        st = rocl_pipe_put(s->pipe, s->block, err);
    if (st != ROCL_OK) {
        pf_stream_abort(s);
        return st;
    }
    st = rocl_pipe_finish(s->pipe, err);
    *bytes = rocl_out_bytes(s->out);
    st = rocl_out_end(s->out, st, err);
    stream_free(s);
    return st;
}

void pf_stream_abort(pf_stream *s)
{
    if (!s)
        return;
    rocl_pipe_abort(s->pipe);
    rocl_out_discard(s->out);
    stream_free(s);
}

rocl_buf *pf_stream_block(pf_stream *s)
{
    return s->block ? &s->block->in : &s->lost;
}

rocl_status pf_stream_flush(pf_stream *s, bool all, rocl_error *err)
{
    if (!s->block) /* the pipe has failed, and says so again */
        return rocl_pipe_get(s->pipe, &s->block, err);
    if (s->block->in.failed)
        return rocl_fail_memory(err);
    if (s->block->in.len < PF_BLOCK && !(all && s->block->in.len))
        return ROCL_OK;
    rocl_status st = rocl_pipe_put(s->pipe, s->block, err);
    s->block = NULL;
    return st ? st : rocl_pipe_get(s->pipe, &s->block, err);
}

rocl_status pf_stream_put_turn(pf_stream *s, pf_part *part, uint64_t turn, rocl_error *err)
{
    rocl_block *c;
    rocl_status st = rocl_pipe_get(s->pipe, &c, err);
    if (st)
        return st;
    c->user = part;
    rocl_buf_put(&c->in, &turn, sizeof turn);
    bool failed = c->in.failed; /* then the turn is never taken, and those after it would wait */
    st = rocl_pipe_put(s->pipe, c, err);
    return st == ROCL_OK && failed ? rocl_fail_memory(err) : st;
}

rocl_status pf_stream_drain(pf_stream *s, rocl_error *err)
{
    return rocl_pipe_drain(s->pipe, err);
}

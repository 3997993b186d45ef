/* Where the JSON goes: to a file, with gzip through a pipe that packs pieces of it on all cores. */
#include "legacy/timeline_impl.h"

#include "base/error.h"

enum { PACK = 1 << 20 }; /* bytes of output that become a gzip member */

static rocl_status pack_chunk(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    const tl_out *o = ctx;
    (void)worker;
    return rocl_gzip_member(&c->out, c->in.data, c->in.len, o->level, err);
}

static rocl_status write_packed(void *ctx, rocl_block *c, rocl_error *err)
{
    tl_out *o = ctx;
    return rocl_out_write(o->file, c->out.data, c->out.len, err);
}

static const rocl_pipe_ops packing_ops = {pack_chunk, write_packed};

rocl_status tl_out_open(tl_out *o, const rocl_timeline_options *opt, unsigned jobs, rocl_error *err)
{
    o->level = opt->level ? opt->level : 6;
    rocl_status st = rocl_out_open(&o->file, opt->path, err);
    if (st == ROCL_OK && opt->gzip)
        st = rocl_pipe_new(&o->packing, jobs, &packing_ops, o, err);
    return st;
}

static rocl_status pack(tl_out *o, const void *p, size_t n, rocl_error *err)
{
    rocl_status st = o->pack ? ROCL_OK : rocl_pipe_get(o->packing, &o->pack, err);
    if (st)
        return st;
    rocl_buf_put(&o->pack->in, p, n);
    if (o->pack->in.len < PACK)
        return ROCL_OK;
    rocl_block *full = o->pack;
    o->pack = NULL;
    return rocl_pipe_put(o->packing, full, err);
}

rocl_status tl_out_put(tl_out *o, const void *p, size_t n, rocl_error *err)
{
    return o->packing ? pack(o, p, n, err) : rocl_out_write(o->file, p, n, err);
}

rocl_status tl_out_take(tl_out *o, rocl_buf *b, rocl_error *err)
{
    if (b->failed)
        return rocl_fail_memory(err);
    rocl_status st = b->len ? tl_out_put(o, b->data, b->len, err) : ROCL_OK;
    b->len = 0;
    return st;
}

static rocl_status end_packing(tl_out *o, rocl_error *err)
{
    rocl_pipe *p = o->packing;
    rocl_status st = o->pack ? rocl_pipe_put(p, o->pack, err) : ROCL_OK;
    if (st)
        return st;
    o->packing = NULL;
    return rocl_pipe_finish(p, err);
}

rocl_status tl_out_commit(tl_out *o, uint64_t *bytes, rocl_error *err)
{
    rocl_status st = o->packing ? end_packing(o, err) : ROCL_OK;
    if (st)
        return st;
    rocl_out *file = o->file;
    o->file = NULL;
    *bytes = rocl_out_bytes(file);
    return rocl_out_commit(file, err);
}

void tl_out_discard(tl_out *o)
{
    rocl_pipe_abort(o->packing);
    rocl_out_discard(o->file);
    *o = (tl_out){0};
}

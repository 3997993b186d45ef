/* Walking through the packets of a file, piece by piece. */
#include "merge/pftrace/cut.h"

#include "base/pool.h"

/* Packets of a piece, in the order of the file. */
static rocl_status walk_piece(void *ctx, rocl_block *b, rocl_error *err)
{
    cut *c = ctx;
    pfr_file *f = c->file;
    const rocl_buf *bytes = b->user ? &b->out : &b->in;
    uint64_t last_key = UINT64_MAX;
    uint32_t sequence = ROCL_NONE;
    rocl_status st = ROCL_OK;
    pfr_packet p;
    pfr_moment m;
    pfr_walk_begin(&c->walk, bytes->data, bytes->len, f->bases[c->piece]);
    while (st == ROCL_OK && pfr_walk_next(&c->walk, &p)) {
        const uint64_t key = pfr_sequence_key(&p);
        if (p.why) {
            st = c->take(c, &p, ROCL_NONE, &(pfr_moment){0}, err);
            continue;
        }
        if (key != last_key || sequence == ROCL_NONE)
            sequence = pfr_sequence(f, &p);
        last_key = key;
        if (sequence == ROCL_NONE)
            continue;
        pfr_state_step(&c->states[sequence], &f->clocks, f->bytes, &p, &m);
        st = c->take(c, &p, sequence, &m, err);
    }
    rocl_progress(c->trace, f->in->pieces[c->piece].rows);
    c->piece++;
    return st == ROCL_OK && c->walk.failed ? rocl_fail_memory(err) : st;
}

rocl_status cut_walk(cut *c, packet_fn *take, rocl_error *err)
{
    static const rocl_pipe_ops ops = {pfr_unpack_block, walk_piece};
    rocl_records_input *in = c->file->in;
    rocl_pipe *pipe;
    rocl_block *b;
    rocl_status st = rocl_records_hold_files(in, err);
    if (st != ROCL_OK)
        return st;
    c->take = take;
    c->piece = 0;
    memset(c->states, 0, (c->file->sequence_count + 1) * sizeof *c->states);
    st = rocl_pipe_new(&pipe, c->trace->opt.jobs, &ops, c, err);
    for (size_t i = 0; st == ROCL_OK && i < in->piece_count; i++) {
        const rocl_piece *piece = &in->pieces[i];
        const size_t n = (size_t)(piece->last - piece->first);
        size_t got = 0;
        st = rocl_pipe_get(pipe, &b, err);
        if (st != ROCL_OK)
            break;
        b->user = c->file->packed ? c : NULL;
        if (!rocl_buf_reserve(&b->in, n))
            st = rocl_fail_memory(err);
        else
            st = rocl_spool_read(in->files[0].spool, b->in.data, n, piece->first, &got, err);
        if (st == ROCL_OK && got < n)
            st = rocl_fail(err, ROCL_INPUT, "%s: the file became shorter", in->files[0].path);
        b->in.len = got;
        const rocl_status put = rocl_pipe_put(pipe, b, st ? NULL : err);
        st = st ? st : put;
    }
    if (st == ROCL_OK)
        st = rocl_pipe_finish(pipe, err);
    else
        rocl_pipe_abort(pipe);
    rocl_records_release_files(in);
    return st;
}

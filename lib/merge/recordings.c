/* Recordings into one: the chunks of many files, without the space that their writers did not use,
 * and compressed. Events are not looked at, so nothing is lost that could be read. */

#include "base/crc32c.h"
#include "base/deflate.h"
#include "base/out.h"
#include "base/pool.h"
#include "source/chunk/chunk.h"

typedef struct packer {
    int level;
    rocl_out *out;
    rocl_pipe *pipe;
} packer;

/* Compresses if that makes it smaller. */
static rocl_status compress_chunk(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    const packer *k = ctx;
    const chunk_info *info = c->user;
    rocl_chunk_header h;
    static const uint8_t zeros[ROCL_CHUNK_ALIGN];
    rocl_status st = ROCL_OK;
    (void)worker;
    memcpy(&h, &info->h, sizeof h);
    h.features = 0;
    h.stored = 0;
    rocl_buf_put(&c->out, &h, sizeof h);
    if (k->level > 0)
        st = rocl_zlib_stream(&c->out, c->in.data, c->in.len, k->level, err);
    if (st != ROCL_OK || c->out.failed)
        return st ? st : rocl_fail_memory(err);
    size_t packed = c->out.len - sizeof h;
    if (k->level > 0 && packed < c->in.len) {
        h.features = ROCL_CHUNK_DEFLATE;
        h.stored = packed;
    } else {
        c->out.len = sizeof h;
        rocl_buf_put(&c->out, c->in.data, c->in.len);
    }
    if (c->out.failed)
        return rocl_fail_memory(err);
    /* As many events as there were: a reader sees how many of them are missing. */
    atomic_store(&h.progress, chunk_events(info) << 32 | (uint32_t)c->in.len);
    h.header_size = ROCL_CHUNK_HEADER;
    h.size = (c->out.len + ROCL_CHUNK_ALIGN - 1) / ROCL_CHUNK_ALIGN * ROCL_CHUNK_ALIGN;
    if (!(h.flags & ROCL_CHUNK_CLOSED) && h.minor > 0)
        h.flags |= ROCL_CHUNK_OPEN;
    h.flags |= ROCL_CHUNK_CLOSED;
    h.crc = rocl_crc32c(0, c->out.data + sizeof h, c->out.len - sizeof h);
    h.header_crc = 0;
    const size_t size = (size_t)h.size;
    chunk_turn_header(&h);
    const uint32_t sum = rocl_crc32c(0, &h, sizeof h);
    rocl_le32_set(&h.header_crc, sum);
    memcpy(c->out.data, &h, sizeof h);
    rocl_buf_put(&c->out, zeros, size - c->out.len);
    return ROCL_OK;
}

static rocl_status write_chunk(void *ctx, rocl_block *c, rocl_error *err)
{
    const packer *k = ctx;
    return rocl_out_write(k->out, c->out.data, c->out.len, err);
}

static const rocl_pipe_ops pipe_ops = {compress_chunk, write_chunk};

rocl_status rocl_write_chunks(rocl_trace *t, const rocl_chunks_options *o, rocl_written *report,
                              rocl_error *err)
{
    rocl_written own = {0};
    packer k = {.level = rocl_level_or(o->level, ROCL_CHUNK_LEVEL)};
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK)
        st = chunk_refuse_others(t, err);
    if (st == ROCL_OK)
        st = rocl_out_open_as_named(&k.out, o->path, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_pipe_new(&k.pipe, t->opt.jobs, &pipe_ops, &k, err);
    for (size_t s = 0; s < t->source_count && st == ROCL_OK; s++) {
        const chunk_file *f = t->sources[s]->state;
        st = rocl_spool_resume(f->spool, err);
        for (size_t i = 0; i < f->list.count && st == ROCL_OK; i++) {
            const chunk_info *c = &f->list.all[i];
            rocl_block *to;
            chunk_state state;
            chunk_reader r;
            chunk_record rec;
            size_t n, whole = 0;
            if (c->damaged)
                continue;
            st = rocl_pipe_get(k.pipe, &to, err);
            if (st != ROCL_OK)
                break;
            to->user = (void *)(uintptr_t)c;
            st = chunk_load(f->spool, c, &to->in, &n, &state, err);
            /* As much of the content as is whole records. */
            if (st == ROCL_OK)
                chunk_reader_begin(&r, c, to->in.data, n);
            while (st == ROCL_OK && chunk_read_record(&r, &rec))
                whole = (size_t)(r.p - to->in.data);
            to->in.len = whole;
            own.chunks++;
            own.events += c->events;
            const rocl_status put = rocl_pipe_put(k.pipe, to, err);
            st = st ? st : put;
        }
        for (size_t i = 0; i < f->count; i++) {
            own.processes++;
            own.dropped += f->processes[i].faults[ROCL_FAULT_DROPPED];
            own.damaged += f->processes[i].faults[ROCL_FAULT_TORN];
        }
        rocl_spool_suspend(f->spool);
    }
    if (st == ROCL_OK)
        st = rocl_pipe_finish(k.pipe, err);
    else if (k.pipe)
        rocl_pipe_abort(k.pipe);
    own.bytes = rocl_out_bytes(k.out);
    st = rocl_out_end(k.out, st, err);
    if (report)
        *report = own;
    if (st == ROCL_OK && own.dropped + own.damaged)
        return ROCL_PARTIAL;
    return rocl_sources_explain(t, st, err);
}

/* The Perfetto sink: packs the events of workers into one sorter per capture, then writes its
 * sequences. */
#include <stdlib.h>

#include "sink/pftrace/pf.h"
#include "timeline/drawing.h"
#include "base/deflate.h"
#include "base/zstd.h"
#include "trace/pipeline.h"

/* ---- the file: blocks of packets -> (compressed) -> file ---- */

rocl_status pf_packing_of(pf_packing *p, const rocl_pftrace_options *o, rocl_error *err)
{
    *p = (pf_packing){.level = rocl_level_or(o->level, ROCL_PFTRACE_LEVEL),
                      .gzip = rocl_out_is_gz(o->path),
                      .zstd = o->zstd};
    if (p->zstd && p->gzip)
        return rocl_fail(err, ROCL_USAGE, "%s: gzip compresses the whole file, zstd its packets",
                         o->path);
    if (p->zstd && !rocl_has_zstd())
        return rocl_fail(err, ROCL_USAGE, "this build of rocline has no zstd");
    return rocl_check_level(o->level, err);
}

rocl_status pf_pack(rocl_buf *to, const rocl_buf *packets, const pf_packing *how, rocl_error *err)
{
    if (how->gzip)
        return rocl_gzip_member(to, packets->data, packets->len, how->level ? how->level : 1, err);
    if (!how->level) {
        rocl_buf_put(to, packets->data, packets->len);
        return to->failed ? rocl_fail_memory(err) : ROCL_OK;
    }
    size_t packet = rocl_pb_begin(to, TRACE_PACKET);
    size_t body = rocl_pb_begin(to, how->zstd ? PKT_ZSTD : PKT_COMPRESSED);
    rocl_status st = (how->zstd ? rocl_zstd_frame : rocl_zlib_stream)(
        to, packets->data, packets->len, how->level, err);
    rocl_pb_end(to, body);
    rocl_pb_end(to, packet);
    return st ? st : to->failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status compress_block(void *ctx, unsigned worker, rocl_block *c, rocl_error *err)
{
    const pf_sink *p = ctx;
    const rocl_status st = rocl_draw_block(c, err);
    (void)worker;
    if (st || !c->in.len || !(p->packing.level || p->packing.gzip))
        return st; /* write takes it from `in` */
    return pf_pack(&c->out, &c->in, &p->packing, err);
}

static rocl_status write_block(void *ctx, rocl_block *c, rocl_error *err)
{
    const pf_sink *p = ctx;
    const rocl_buf *b = p->packing.level || p->packing.gzip ? &c->out : &c->in;
    return rocl_out_write(p->file.out, b->data, b->len, err);
}

static const rocl_pipe_ops pipe_ops = {compress_block, write_block};

/* ---- the sink ---- */

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    pf_sink *p = self;
    rocl_status st = pf_owners_capture(&p->owners, c, err);
    if (st == ROCL_OK)
        st = rocl_timeline_end_capture(&p->timeline, err);
    if (st == ROCL_OK)
        st = pf_write_sequences(p, err);
    if (st == ROCL_OK && !rocl_trace_joins_next(p->trace, c))
        st = rocl_piped_end_part(&p->file, p->trace, err);
    rocl_timeline_forget_capture(&p->timeline);
    return st;
}

static rocl_status open_sink(pf_sink *p, rocl_error *err)
{
#define WORD_TEXT(id, text) (text),
    static const char *const words[] = {PF_WORD_LIST(WORD_TEXT)};
    rocl_trace *t = p->trace;
    rocl_status st = rocl_encoder_open(&p->timeline.encoder, err);
    if (st != ROCL_OK)
        return st;
    for (int i = 0; i < PF_WORDS; i++)
        if ((p->words[i] = rocl_strings_put(t->strings, words[i], strlen(words[i]))) == ROCL_NONE)
            return rocl_fail_memory(err);
    st = rocl_piped_open_joint(&p->file, t, p->opt.path, ROCL_JOINT_AS_READ, &pipe_ops, p, err);
    return st ? st : pf_owners_open(&p->owners, t, &p->file, err);
}

rocl_status rocl_write_pftrace(rocl_trace *t, const rocl_pftrace_options *o, rocl_written *report,
                               rocl_error *err)
{
    pf_sink p = {.trace = t, .opt = *o};
    p.timeline = (rocl_timeline){.encoder = {.trace = t,
                                             .amd_layout = o->legacy_tracks,
                                             .bandwidth = true,
                                             .counters = o->counters},
                                 .ops = o->legacy_tracks ? &pf_legacy_ops : &pf_typed_ops,
                                 .by_queue = o->group_by_queue,
                                 .link_calls = true};
    rocl_joint_sums sums = rocl_timeline_sums(&p.counts);
    rocl_sink sink = rocl_encoder_sink(&p.timeline.encoder);
    sink.begin_capture = rocl_timeline_begin_capture;
    sink.end_capture = end_capture;
    sink.kinds |= ROCL_BIT(ROCL_FLOW);
    rocl_status st = pf_packing_of(&p.packing, o, err);
    if (st == ROCL_OK)
        st = open_sink(&p, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = pf_flush(&p.file, true, err);
    if (st == ROCL_OK)
        st = rocl_piped_finish(&p.file, err);
    if (st == ROCL_OK)
        st = rocl_piped_commit_joint(&p.file, t, &sums, err);
    rocl_timeline_forget_capture(&p.timeline);
    pf_owners_close(&p.owners);
    rocl_piped_discard(&p.file);
    rocl_encoder_close(&p.timeline.encoder);
    if (report)
        *report = (rocl_written){.bytes = sums.bytes,
                                 .slices = p.counts.slices,
                                 .values = p.counts.values,
                                 .lanes = p.counts.lanes,
                                 .moved = p.counts.moved};
    return st ? st : rocl_trace_outcome_utf8(t);
}

/* The Perfetto sink: packs what workers bring into one sorter per capture, then writes the
 * sequences that it finds there. */
#include <stdlib.h>

#include "sink/pftrace/pf.h"
#include "base/out.h"
#include "trace/pipeline.h"

static rocl_status join_linked(pf_sink *p, rocl_error *err)
{
    for (unsigned w = 1; w < p->trace->opt.jobs; w++)
        if (!rocl_idset_merge(&p->encoder.workers[0].linked, &p->encoder.workers[w].linked))
            return rocl_fail_memory(err);
    return ROCL_OK;
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    pf_sink *p = self;
    return rocl_encoder_begin(&p->encoder, c, err);
}

/* A part alone fills the blocks that others have begun: there may be many small captures. */
static rocl_status write_alone(pf_sink *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && !pf_part_is_over(p->parts)) {
        st = pf_part_fill(p->parts, pf_stream_block(p->stream), err);
        if (st == ROCL_OK)
            st = pf_stream_flush(p->stream, false, err);
    }
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    pf_sink *p = self;
    rocl_progress_phase(p->trace, "writing", rocl_sorter_count(p->encoder.sorter));
    rocl_status st = pf_world_capture(&p->world, c, err);
    rocl_trace_window(p->trace, &p->from, &p->to);
    if (st == ROCL_OK)
        st = join_linked(p, err);
    if (st == ROCL_OK)
        st = pf_parts_open(p, err);
    if (st == ROCL_OK)
        st = p->part_count > 1 ? pf_stream_parts(p->stream, p->parts, p->part_count, err)
                               : write_alone(p, err);
    pf_parts_close(p);
    rocl_encoder_forget(&p->encoder);
    return st;
}

static const char *const words[PF_WORDS] = {
    [W_UNNAMED] = "(unnamed)",
    [W_STACK_ID] = "stack_id",
    [W_CORR_ID] = "corr_id",
    [W_AGENT] = "agent",
    [W_QUEUE] = "queue",
    [W_STREAM] = "stream",
    [W_STREAM_ID] = "stream_id",
    [W_KERNEL_ID] = "kernel_id",
    [W_SCRATCH_SIZE] = "Scratch_Size",
    [W_LDS_BLOCK_SIZE] = "LDS_Block_Size",
    [W_WORKGROUP_SIZE] = "workgroup_size",
    [W_GRID_SIZE] = "grid_size",
    [W_THREAD_COUNT] = "thread_count",
    [W_SRC_AGENT] = "src_agent",
    [W_DST_AGENT] = "dst_agent",
    [W_COPY_BYTES] = "copy_bytes",
    [W_DEVICE] = "device",
    [W_LDS_BYTES] = "lds_bytes",
    [W_SCRATCH_BYTES] = "scratch_bytes",
    [W_DISPATCH_ID] = "dispatch_id",
    [W_BYTES] = "bytes",
    [W_BYTES_PER_SECOND] = "bytes_per_second",
    [W_SRC] = "src",
    [W_DST] = "dst",
    [W_KERNELS] = "kernels",
    [W_REGISTERS] = "registers_per_thread",
    [W_ACCUM_VGPR] = "accum_vgpr_count",
    [W_SGPR] = "sgpr_count",
    [W_SHARED_STATIC] = "shared_mem_static",
    [W_KERNEL_DISPATCH] = "kernel_dispatch",
    [W_MEMORY_COPY] = "memory_copy",
    [W_GRAPH_LAUNCH] = "graph_launch",
    [W_HIP_EVENT] = "hip_event",
    [W_BARRIER] = "barrier",
    [W_HIP_API] = "hip_api",
    [W_HSA_API] = "hsa_api",
    [W_MARKER_API] = "marker_api",
    [W_RCCL_API] = "rccl_api",
    [W_ROCDECODE_API] = "rocdecode_api",
    [W_ROCJPEG_API] = "rocjpeg_api",
};

static rocl_status open_sink(pf_sink *p, rocl_error *err)
{
    rocl_trace *t = p->trace;
    p->encoder = (rocl_encoder){.trace = t, .legacy = p->opt.legacy_tracks, .bandwidth = true};
    rocl_status st = rocl_encoder_open(&p->encoder, err);
    if (st != ROCL_OK)
        return st;
    for (int i = 0; i < PF_WORDS; i++)
        if ((p->words[i] = rocl_strings_put(t->strings, words[i], strlen(words[i]))) == ROCL_NONE)
            return rocl_fail_memory(err);
    st = pf_stream_open(&p->stream, t, &p->opt, err);
    return st ? st : pf_world_open(&p->world, t, p->stream, err);
}

static void close_sink(pf_sink *p)
{
    rocl_encoder_forget(&p->encoder);
    pf_world_close(&p->world);
    pf_stream_abort(p->stream);
    rocl_encoder_close(&p->encoder);
}

rocl_status rocl_write_pftrace(rocl_trace *t, const rocl_pftrace_options *o,
                               rocl_written *report, rocl_error *err)
{
    pf_sink p = {.trace = t, .opt = *o, .encoder = {.trace = t}};
    rocl_sink sink = rocl_encoder_sink(&p.encoder);
    sink.begin_capture = begin_capture;
    sink.end_capture = end_capture;
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK)
        st = open_sink(&p, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK) {
        st = pf_stream_commit(p.stream, &p.report.bytes, err);
        p.stream = NULL;
    }
    close_sink(&p);
    if (report)
        *report = p.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}

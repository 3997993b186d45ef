/* The Perfetto sink: packs what workers bring into one sorter per capture, then writes the
 * sequences that it finds there. */
#include <stdlib.h>

#include "sink/pftrace/pf.h"
#include "base/deflate.h"
#include "base/out.h"
#include "trace/pipeline.h"

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    return rocl_timeline_begin_capture(self, c, err);
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    pf_sink *p = self;
    rocl_status st = pf_world_capture(&p->world, c, err);
    if (st == ROCL_OK)
        st = rocl_timeline_end_capture(&p->timeline, err);
    if (st == ROCL_OK)
        st = pf_write_sequences(p, err);
    rocl_timeline_forget_capture(&p->timeline);
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
    rocl_status st = rocl_encoder_open(&p->timeline.encoder, err);
    if (st != ROCL_OK)
        return st;
    for (int i = 0; i < PF_WORDS; i++)
        if ((p->words[i] = rocl_strings_put(t->strings, words[i], strlen(words[i]))) == ROCL_NONE)
            return rocl_fail_memory(err);
    st = pf_stream_open(&p->stream, t, &p->opt, pf_part_turn, err);
    return st ? st : pf_world_open(&p->world, t, p->stream, err);
}

static void close_sink(pf_sink *p)
{
    rocl_timeline_forget_capture(&p->timeline);
    pf_world_close(&p->world);
    pf_stream_abort(p->stream);
    rocl_encoder_close(&p->timeline.encoder);
}

rocl_status rocl_write_pftrace(rocl_trace *t, const rocl_pftrace_options *o, rocl_written *report,
                               rocl_error *err)
{
    pf_sink p = {.trace = t, .opt = *o};
    p.timeline =
        (rocl_timeline){.encoder = {.trace = t, .amd_layout = o->legacy_tracks, .bandwidth = true},
                        .ops = pf_timeline_ops(o->legacy_tracks),
                        .by_queue = o->group_by_queue,
                        .link_calls = true};
    uint64_t bytes = 0;
    rocl_sink sink = rocl_encoder_sink(&p.timeline.encoder);
    sink.begin_capture = begin_capture;
    sink.end_capture = end_capture;
    rocl_status st = rocl_check_level(o->level, err);
    if (st == ROCL_OK)
        st = open_sink(&p, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK) {
        st = pf_stream_commit(p.stream, &bytes, err);
        p.stream = NULL;
    }
    close_sink(&p);
    if (report)
        *report = (rocl_written){.bytes = bytes,
                                 .slices = p.counts.slices,
                                 .values = p.counts.values,
                                 .lanes = p.counts.lanes,
                                 .moved = p.counts.moved};
    return st ? st : rocl_trace_outcome_utf8(t);
}

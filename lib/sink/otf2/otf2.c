/* The OTF2 sink: packs what workers bring into one sorter per capture, then writes location by
 * location. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"
#include "trace/pipeline.h"

/* ---- a capture ---- */

static void forget_capture(ot_sink *s)
{
    ot_pass_free(&s->first);
    ot_pass_free(&s->second);
    rocl_encoder_forget(&s->encoder);
    rocl_sorter_free(s->aside);
    rocl_sorter_free(s->marks);
    free(s->found);
    ot_ends_forget(&s->ends);
    s->aside = s->marks = NULL;
    s->found = NULL;
    s->found_count = 0;
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    ot_sink *s = self;
    forget_capture(s);
    rocl_status st = rocl_encoder_begin(&s->encoder, c, err);
    return st ? st : ot_world_capture(&s->world, c, err);
}

/* Slices where they begin a location, or nest in what does; values. */
static rocl_status write_first(ot_sink *s, rocl_error *err)
{
    ot_pass *p = &s->first;
    s->aside = rocl_encoder_sorter(&s->encoder);
    s->marks = rocl_encoder_sorter(&s->encoder);
    if (!s->aside || !s->marks)
        return rocl_fail_memory(err);
    p->input = s->encoder.sorter;
    rocl_status st = rocl_encoder_sequences(&s->encoder, &p->sequences, &p->sequence_count, err);
    if (st == ROCL_OK)
        st = ot_ends_begin(s, err);
    if (st == ROCL_OK)
        st = ot_pass_write(s, p, err);
    if (st == ROCL_OK)
        st = ot_found_join(s, p, err);
    return st ? st : ot_pass_join(s, p, err);
}

/* Slices that overlap those. */
static rocl_status write_second(ot_sink *s, rocl_error *err)
{
    ot_pass *p = &s->second;
    rocl_status st = ot_found_aside(s, p, err);
    if (st != ROCL_OK || !p->sequence_count)
        return st;
    st = ot_pass_write(s, p, err);
    return st ? st : ot_pass_join(s, p, err);
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    ot_sink *s = self;
    (void)c;
    rocl_progress_phase(s->trace, "writing", rocl_sorter_count(s->encoder.sorter));
    rocl_trace_window(s->trace, &s->from, &s->to);
    rocl_status st = write_first(s, err);
    if (st == ROCL_OK)
        st = write_second(s, err);
    if (st == ROCL_OK) {
        ot_found_finish(s);
        ot_ends_join(s);
        st = ot_write_marks(s, err);
    }
    forget_capture(s);
    return st;
}

/* ---- the end ---- */

/* Locations that stand for something but did nothing have a file all the same. */
static void write_idle(ot_sink *s)
{
    for (uint32_t i = 0; i < s->world.location_count; i++) {
        ot_location *l = &s->world.locations[i];
        if (l->number != ROCL_NONE)
            continue;
        l->number = s->next_number++;
        OTF2_EvtWriter *w = ot_archive_events(s->archive, l->number);
        if (!w)
            return;
        ot_archive_events_end(s->archive, w);
    }
}

/* GPUs that have values but no work get a stream: a group without one is none. */
static void complete_groups(ot_sink *s)
{
    for (uint32_t i = 0; i < s->world.group_count; i++)
        ot_group_location(&s->world, i);
}

/* Readers want one location at least: that of a process that was traced, if nothing was. */
static rocl_status show_any_process(ot_sink *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < s->trace->capture_count && st == ROCL_OK && !s->world.group_count; i++) {
        const rocl_capture *c = &s->trace->captures[i]->pub;
        if (!c->process_count)
            continue;
        st = ot_world_capture(&s->world, c, err);
        if (st == ROCL_OK)
            ot_process_group(&s->world, 0);
    }
    return st;
}

static const char *machine_name(const ot_sink *s)
{
    for (uint32_t i = 0; i < s->world.tree_count; i++)
        if (s->world.trees[i].domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
            return rocl_str(s->trace, s->world.trees[i].name);
    return "";
}

static uint64_t mix_text(uint64_t h, const char *p)
{
    for (; *p; p++)
        h = (h ^ (uint8_t)*p) * 0x100000001b3u;
    return h;
}

/* Of what was traced and of how much of it there is in the archive. */
static uint64_t identity(const ot_sink *s)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < s->trace->capture_count; i++)
        h = mix_text(h, rocl_str(s->trace, s->trace->captures[i]->pub.guid));
    h = rocl_mix64(h ^ (uint64_t)s->earliest) ^ (uint64_t)s->latest;
    for (uint32_t i = 0; i < s->world.location_count; i++)
        h = rocl_mix64(h ^ s->world.locations[i].events);
    return h;
}

static rocl_status finish(ot_sink *s, rocl_error *err)
{
    rocl_status st = show_any_process(s, err);
    if (st != ROCL_OK)
        return st;
    complete_groups(s);
    write_idle(s);
    ot_archive_describe(s->archive, machine_name(s));
    st = ot_write_definitions(s, err);
    if (st == ROCL_OK && s->defs.failed)
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    s->report.locations = s->world.location_count;
    ot_archive *a = s->archive;
    s->archive = NULL;
    const ot_locals locals = {.locations = s->world.locations,
                              .location_count = s->world.location_count,
                              .tables = s->tables,
                              .table_count = s->table_count};
    return ot_archive_commit(a, &locals, identity(s), &s->report.bytes, err);
}

static const char *const words[OT_WORDS] = {
    [W_UNNAMED] = "(unnamed)",
    [W_BYTES] = "bytes",
    [W_STACK_ID] = "stack_id",
    [W_DISPATCH_ID] = "dispatch_id",
    [W_QUEUE] = "queue",
    [W_STREAM] = "stream",
    [W_WORKGROUP] = "workgroup_size",
    [W_GRID] = "grid_size",
    [W_LDS] = "lds_bytes",
    [W_SCRATCH] = "scratch_bytes",
    [W_SOURCE] = "src",
    [W_DESTINATION] = "dst",
    [W_KERNELS] = "kernels",
    [W_KERNEL_DISPATCH] = "KERNEL_DISPATCH",
    [W_MEMORY_COPY] = "MEMORY_COPY",
    [W_MEMORY_ALLOCATION] = "MEMORY_ALLOCATION",
    [W_SCRATCH_MEMORY] = "SCRATCH_MEMORY",
    [W_GRAPH_LAUNCH] = "GRAPH_LAUNCH",
    [W_HIP_EVENT] = "HIP_EVENT",
    [W_BARRIER] = "BARRIER",
};

static rocl_status open_sink(ot_sink *s, rocl_error *err)
{
    rocl_trace *t = s->trace;
    s->defs.trace = t;
    s->encoder = (rocl_encoder){
        .trace = t, .bandwidth = true, .ends = true, .place = ot_place, .place_ctx = &s->world};
    rocl_status st = rocl_encoder_open(&s->encoder, err);
    for (int i = 0; i < OT_WORDS && st == ROCL_OK; i++)
        s->words[i] = ot_text(&s->defs, words[i]);
    if (st == ROCL_OK)
        st = ot_world_open(&s->world, t, &s->defs, err);
    s->world.by_queue = s->opt.group_by_queue;
    return st ? st : ot_archive_open(&s->archive, t, s->opt.path, s->opt.chunk_size, err);
}

static void close_sink(ot_sink *s)
{
    forget_capture(s);
    ot_archive_discard(s->archive);
    ot_world_close(&s->world);
    ot_defs_free(&s->defs);
    rocl_encoder_close(&s->encoder);
    for (uint32_t i = 0; i < s->table_count; i++)
        ot_table_free(&s->tables[i]);
    free(s->tables);
}

bool rocl_has_otf2(void)
{
    return true;
}

rocl_status rocl_write_otf2(rocl_trace *t, const rocl_otf2_options *o, rocl_otf2_report *report,
                            rocl_error *err)
{
    ot_sink s = {
        .trace = t, .opt = *o, .encoder = {.trace = t}, .earliest = INT64_MAX, .latest = -1};
    rocl_sink sink = rocl_encoder_sink(&s.encoder);
    sink.begin_capture = begin_capture;
    sink.end_capture = end_capture;
    bool odd = o->chunk_size &&
               (o->chunk_size < OTF2_CHUNK_SIZE_MIN || o->chunk_size > OTF2_CHUNK_SIZE_MAX);
    rocl_status st =
        odd ? rocl_fail(err, ROCL_USAGE, "chunks have 256 KiB to 16 MiB") : open_sink(&s, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = finish(&s, err);
    if (st == ROCL_OK && s.defs.cut) {
        rocl_notice(t, "%" PRIu64 " text%s longer than 1 MiB: cut", s.defs.cut,
                    s.defs.cut == 1 ? "" : "s");
        st = ROCL_PARTIAL;
    }
    close_sink(&s);
    if (report)
        *report = s.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}

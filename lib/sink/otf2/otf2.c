/* The OTF2 sink: packs what workers bring into one sorter per capture, then writes location by
 * location. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "filter/filter.h"
#include "sink/otf2/ot.h"
#include "sink/sink.h"

rocl_status ot_next(ot_sink *s, rocl_error *err)
{
    rocl_status st = ot_archive_status(s->archive, err);
    if (st == ROCL_OK && s->defs.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_sorter_next(s->input, &s->record, &s->more, err);
    if (st == ROCL_OK && s->more && !rocl_packed_read(&s->record, &s->event))
        st = rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    return st;
}

OTF2_EvtWriter *ot_location_begin(ot_sink *s, uint32_t location)
{
    s->world.locations[location].written = true;
    return ot_archive_events(s->archive, location);
}

void ot_location_end(ot_sink *s, uint32_t location, OTF2_EvtWriter *w)
{
    s->world.locations[location].events = ot_archive_events_end(s->archive, w);
}

/* ---- attributes ---- */

/* An event has each attribute once: a second argument of a name is called "name (2)". */
static OTF2_AttributeRef free_attribute(ot_sink *s, uint32_t name, OTF2_Type type)
{
    OTF2_AttributeRef at = ot_attribute_of(&s->defs, name, type);
    for (unsigned n = 2; OTF2_AttributeList_TestAttributeByID(s->attributes, at); n++) {
        char more[256];
        snprintf(more, sizeof more, "%.200s (%u)", rocl_str(s->trace, name), n);
        at = ot_attribute_of(&s->defs, ot_text(&s->defs, more), type);
        if (s->defs.failed)
            break;
    }
    return at;
}

void ot_note_uint(ot_sink *s, uint32_t name, uint64_t v)
{
    OTF2_AttributeList_AddUint64(s->attributes, free_attribute(s, name, OTF2_TYPE_UINT64), v);
}

void ot_note_int(ot_sink *s, uint32_t name, int64_t v)
{
    OTF2_AttributeList_AddInt64(s->attributes, free_attribute(s, name, OTF2_TYPE_INT64), v);
}

void ot_note_text(ot_sink *s, uint32_t name, uint32_t text)
{
    OTF2_AttributeList_AddStringRef(s->attributes, free_attribute(s, name, OTF2_TYPE_STRING),
                                    ot_string(&s->defs, text));
}

void ot_note_category(ot_sink *s, OTF2_RegionRef region, uint32_t category)
{
    if (!s->defs.failed && s->defs.regions[region].category != category)
        ot_note_text(s, s->words[W_CATEGORY], category);
}

/* ---- a capture ---- */

static void forget_capture(ot_sink *s)
{
    rocl_packer_forget(&s->packer);
    rocl_sorter_free(s->moved);
    s->moved = NULL;
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    ot_sink *s = self;
    forget_capture(s);
    rocl_status st = rocl_packer_begin(&s->packer, c, err);
    return st ? st : ot_world_capture(&s->world, c, err);
}

static uint64_t one_key(const ot_sink *s)
{
    (void)s;
    return 0;
}

/* Of slices that were put aside. */
static uint32_t known_location(ot_sink *s)
{
    return s->event.index;
}

static rocl_status write_room(ot_sink *s, rocl_error *err)
{
    static const ot_rows_ops host = {one_key, ot_host_location, true};
    static const ot_rows_ops work = {ot_work_key, ot_work_location, false};
    switch (s->event.room) {
    case ROCL_ROOM_HOST:
        return ot_write_rows(s, &host, err);
    case ROCL_ROOM_GPU:
    case ROCL_ROOM_MEMORY:
        return ot_write_rows(s, &work, err);
    case ROCL_ROOM_ALLOCATED:
        return ot_write_allocated(s, err);
    case ROCL_ROOM_BANDWIDTH:
        return ot_write_bandwidth(s, err);
    case ROCL_ROOM_PMC:
        return ot_write_pmc(s, err);
    default:
        return ot_write_sampled(s, err);
    }
}

static rocl_status write_moved(ot_sink *s, rocl_error *err)
{
    static const ot_rows_ops known = {one_key, known_location, true};
    return ot_write_rows(s, &known, err);
}

static rocl_status write_all(ot_sink *s, rocl_sorter *input,
                             rocl_status (*write)(ot_sink *, rocl_error *), rocl_error *err)
{
    s->input = input;
    rocl_status st = rocl_sorter_start(input, err);
    if (st == ROCL_OK)
        st = ot_next(s, err);
    while (st == ROCL_OK && s->more)
        st = write(s, err);
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    ot_sink *s = self;
    (void)c;
    rocl_progress_phase(s->trace, "writing", 0);
    rocl_filter_window(s->trace->filter, &s->from, &s->to);
    rocl_status st = write_all(s, s->packer.sorter, write_room, err);
    if (st == ROCL_OK && s->moved)
        st = write_all(s, s->moved, write_moved, err);
    forget_capture(s);
    return st;
}

/* ---- the end ---- */

/* Locations that stand for something but did nothing have a file all the same. */
static void write_idle(ot_sink *s)
{
    for (uint32_t i = 0; i < s->world.location_count; i++) {
        if (s->world.locations[i].written)
            continue;
        OTF2_EvtWriter *w = ot_location_begin(s, i);
        if (!w)
            return;
        ot_location_end(s, i, w);
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
    h = rocl_mix64(h ^ (uint64_t)s->first) ^ (uint64_t)s->last;
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
    return ot_archive_commit(a, s->world.location_count, identity(s), &s->report.bytes, err);
}

static const char *const words[OT_WORDS] = {
    [W_UNNAMED] = "(unnamed)",
    [W_BYTES] = "bytes",
    [W_CATEGORY] = "category",
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
    s->packer =
        (rocl_packer){.trace = t, .bandwidth = true, .place = ot_place, .place_ctx = &s->world};
    s->attributes = OTF2_AttributeList_New();
    rocl_status st = rocl_packer_open(&s->packer, err);
    if (st == ROCL_OK && !s->attributes)
        st = rocl_fail_memory(err);
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
    rocl_packer_close(&s->packer);
    if (s->attributes)
        OTF2_AttributeList_Delete(s->attributes);
}

bool rocl_has_otf2(void)
{
    return true;
}

rocl_status rocl_write_otf2(rocl_trace *t, const rocl_otf2_options *o, rocl_otf2_report *report,
                            rocl_error *err)
{
    ot_sink s = {.trace = t, .opt = *o, .packer = {.trace = t}, .first = INT64_MAX, .last = -1};
    rocl_sink sink = rocl_packer_sink(&s.packer);
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
    return st ? st : rocl_trace_verdict_utf8(t);
}

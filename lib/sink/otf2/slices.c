/* Slices and instants -> Enter and Leave, and markers. What overlaps on a location without nesting
 * goes to further locations; since a part has one writer open at a time, these are deferred to the
 * second pass. Markers are kept for a file of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "sink/otf2/otf2.h"

/* ---- host calls: their location, region and attributes --------------------------------------- */

/* What the index of a host sequence says: its process, and its thread or ROCL_NONE. */
static uint32_t host_process(const rocl_capture *c, uint32_t index, uint32_t *thread)
{
    *thread = index < c->thread_count ? index : ROCL_NONE;
    if (*thread == ROCL_NONE)
        return index - c->thread_count;
    return c->threads[index].process != ROCL_NONE ? c->threads[index].process : 0;
}

uint32_t ot_host_location(ot_system *y, const ot_track *t)
{
    uint32_t thread, process = host_process(y->capture, t->index, &thread);
    return ot_thread_location(y, process, thread);
}

static OTF2_Paradigm category_paradigm(const char *category)
{
    static const struct {
        const char *prefix;
        OTF2_Paradigm paradigm;
    } others[] = {
        {"KOKKOS", OTF2_PARADIGM_KOKKOS},
        {"MPI", OTF2_PARADIGM_MPI},
        {"OMP", OTF2_PARADIGM_OPENMP},
        {"PTHREAD", OTF2_PARADIGM_PTHREAD},
    };
    const rocl_call_group *g = rocl_call_group_of(category);
    if (g && g->domain != ROCL_DOMAIN_OTHER && g->domain != ROCL_DOMAIN_MARKERS)
        return OTF2_PARADIGM_HIP;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strncasecmp(category, others[i].prefix, strlen(others[i].prefix)))
            return others[i].paradigm;
    return OTF2_PARADIGM_USER;
}

/* What calls of the runtimes do to memory, from their names. */
static OTF2_RegionRole call_role(const char *name)
{
    static const struct {
        const char *prefix;
        OTF2_RegionRole role;
    } table[] = {
        {"hipMemcpy", OTF2_REGION_ROLE_DATA_TRANSFER},
        {"hipMemset", OTF2_REGION_ROLE_DATA_TRANSFER},
        {"hsa_amd_memory_async_copy", OTF2_REGION_ROLE_DATA_TRANSFER},
        {"hsa_memory_copy", OTF2_REGION_ROLE_DATA_TRANSFER},
        {"hsa_amd_memory_fill", OTF2_REGION_ROLE_DATA_TRANSFER},
        {"hipMalloc", OTF2_REGION_ROLE_ALLOCATE},
        {"hipExtMalloc", OTF2_REGION_ROLE_ALLOCATE},
        {"hipHostMalloc", OTF2_REGION_ROLE_ALLOCATE},
        {"hipHostAlloc", OTF2_REGION_ROLE_ALLOCATE},
        {"hipMemAlloc", OTF2_REGION_ROLE_ALLOCATE},
        {"hsa_memory_allocate", OTF2_REGION_ROLE_ALLOCATE},
        {"hsa_amd_memory_pool_allocate", OTF2_REGION_ROLE_ALLOCATE},
        {"hipFree", OTF2_REGION_ROLE_DEALLOCATE},
        {"hipHostFree", OTF2_REGION_ROLE_DEALLOCATE},
        {"hipMemFree", OTF2_REGION_ROLE_DEALLOCATE},
        {"hsa_memory_free", OTF2_REGION_ROLE_DEALLOCATE},
        {"hsa_amd_memory_pool_free", OTF2_REGION_ROLE_DEALLOCATE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strncmp(name, table[i].prefix, strlen(table[i].prefix)))
            return table[i].role;
    return OTF2_REGION_ROLE_FUNCTION;
}

static ot_region host_region(const ot_sink *s, const rocl_track_event *e)
{
    ot_region r = {.name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name,
                   .category = e->category == ROCL_NONE ? 0 : e->category,
                   .paradigm = OTF2_PARADIGM_USER,
                   .role = OTF2_REGION_ROLE_CODE};
    if (e->kind != ROCL_MARKER)
        r.paradigm = category_paradigm(rocl_str(s->trace, e->category));
    if (r.paradigm == OTF2_PARADIGM_HIP)
        r.role = call_role(rocl_str(s->trace, r.name));
    else if (e->kind == ROCL_REGION)
        r.role = OTF2_REGION_ROLE_FUNCTION;
    return r;
}

/* Numbers are kept as numbers where that gives the same digits back. */
static bool is_number(const char *p, size_t n, int64_t *v)
{
    char text[24], back[24];
    if (!n || n > 20)
        return false;
    memcpy(text, p, n);
    text[n] = '\0';
    *v = strtoll(text, NULL, 10);
    snprintf(back, sizeof back, "%" PRId64, *v);
    return strcmp(text, back) == 0;
}

static void add_host_attributes(ot_part *p, rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    rocl_track_arg arg;
    while (rocl_track_event_next_arg(e, &arg)) {
        int64_t v;
        if (is_number(arg.value, arg.len, &v)) {
            ot_add_int(p, arg.name, v);
            continue;
        }
        uint32_t text = rocl_strings_put(s->trace->strings, arg.value, arg.len);
        p->defs->failed |= text == ROCL_NONE;
        ot_add_text(p, arg.name, text);
    }
    if (s->trace->opt.args && e->stack_id)
        ot_add_uint(p, s->words[W_STACK_ID], e->stack_id);
}

/* ---- markers --------------------------------------------------------------------------------- */

/* Keeps the current record for the file of markers if somebody set it as one. Samples of call
 * stacks are instants as well, but nobody did. */
static rocl_status keep_marker(ot_part *p, uint32_t location_number, rocl_error *err)
{
    const ot_sink *s = p->sink;
    const rocl_track_event *e = &p->event;
    const char *category = rocl_str(s->trace, e->category);
    if (e->kind != ROCL_MARKER &&
        (e->kind != ROCL_INSTANT ||
         (strncasecmp(category, "MARKER", 6) != 0 && strncasecmp(category, "KOKKOS", 6) != 0)))
        return ROCL_OK;
    const uint64_t *key = p->record.key;
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    uint8_t text[ROCL_VARINT_MAX], *end = rocl_varint_put(text, name);
    return rocl_sorter_add(s->markers, p->worker,
                           (const uint64_t[4]){location_number, key[1], key[2], key[3]}, text,
                           (size_t)(end - text), err);
}

rocl_status ot_write_markers(ot_sink *s, rocl_error *err)
{
    rocl_buf text = {0};
    rocl_status st = rocl_sorter_start(s->markers, err);
    while (st == ROCL_OK) {
        rocl_sort_record rec;
        uint64_t name;
        bool more;
        st = rocl_sorter_next(s->markers, &rec, &more, err);
        if (st != ROCL_OK || !more)
            break;
        const uint8_t *at = rec.data;
        OTF2_MarkerWriter *w = ot_archive_markers(s->archive);
        if (w && !s->markers_defined)
            OTF2_MarkerWriter_WriteDefMarker(w, 0, "ROCTx", "Marks and ranges", OTF2_SEVERITY_NONE);
        s->markers_defined = true;
        text.len = 0;
        if (!rocl_varint_get(&at, at + rec.len, &name))
            st = rocl_fail(err, ROCL_INTERNAL, "a sorted marker came back broken");
        else
            ot_put_text(&text, &s->defs, (uint32_t)name);
        if (text.failed)
            st = rocl_fail_memory(err);
        else if (w && st == ROCL_OK)
            OTF2_MarkerWriter_WriteMarker(w, rec.key[1], ~rec.key[2] - rec.key[1], 0,
                                          OTF2_MARKER_SCOPE_LOCATION, rec.key[0],
                                          (const char *)text.data);
        if (st == ROCL_OK)
            st = ot_archive_status(s->archive, err);
    }
    rocl_buf_free(&text);
    return st;
}

/* ---- slices ---------------------------------------------------------------------------------- */

typedef struct open_slice { /* on the location that is written */
    OTF2_RegionRef region;
    ot_transfer transfer;
} open_slice;

/* A sequence of slices. Those that share a location have one key, and are a group of lanes; each
 * lane is a track. */
typedef struct slices {
    ot_part *p;
    bool nested; /* all share a location, and slices may lie in each other */
    uint32_t process;
    uint32_t track;         /* the one that is written at once */
    OTF2_EvtWriter *writer; /* its */
    rocl_lanes lanes;
    rocl_map groups; /* key -> group of lanes */
    uint32_t *bases; /* by group: its first track */
    uint32_t group_count;
    size_t base_capacity;
    open_slice *open; /* on `track`, outermost first */
    uint32_t depth;
    size_t open_capacity;
    uint64_t match; /* number of the last copy on `track` */
} slices;

static bool is_host(const rocl_track_event *e)
{
    return e->kind <= ROCL_INSTANT;
}

static OTF2_RegionRef find_region(ot_part *p)
{
    const rocl_track_event *e = &p->event;
    uint32_t category = is_host(e) ? e->category : ROCL_NONE;
    ot_recent_region *r = &p->recent[e->name % OT_RECENT_REGIONS];
    if (r->known && r->name == e->name && r->category == category && r->kind == e->kind)
        return r->region;
    ot_region region = is_host(e) ? host_region(p->sink, e) : ot_gpu_region(p->sink, e);
    *r = (ot_recent_region){e->name, category, e->kind, ot_region_ref(p->defs, &region),
                            !p->defs->failed};
    return r->region;
}

/* Writes the current record to the current track: an instant is a region without length. */
static rocl_status write_slice(slices *l, rocl_error *err)
{
    ot_part *p = l->p;
    rocl_track_event *e = &p->event;
    OTF2_RegionRef region = find_region(p);
    rocl_status st = ROCL_OK;
    if (is_host(e))
        add_host_attributes(p, e);
    else
        ot_add_gpu_attributes(p, e);
    bool any = OTF2_AttributeList_GetNumberOfElements(p->attributes);
    OTF2_EvtWriter_Enter(l->writer, any ? p->attributes : NULL, ot_time(p, e->time), region);
    if (is_host(e))
        st = keep_marker(p, p->tracks[l->track].number, err);
    if (e->kind == ROCL_INSTANT) {
        OTF2_EvtWriter_Leave(l->writer, NULL, ot_time(p, e->time), region);
        p->report.instants++;
        return st;
    }
    if (!ROCL_GROW(l->open, l->open_capacity, l->depth + (size_t)1))
        return rocl_fail_memory(err);
    l->open[l->depth++] =
        (open_slice){region, ot_transfer_begin(p, l->writer, &p->tracks[l->track], &l->match)};
    p->report.slices++;
    return st;
}

/* Ends the slices that are over at `time`, on all lanes. */
static void end_slices(slices *l, int64_t time)
{
    rocl_open_slice ended;
    while (rocl_lanes_close(&l->lanes, time, &ended)) {
        if (l->lanes.lanes[ended.lane].track != l->track)
            continue;
        const open_slice *o = &l->open[--l->depth];
        ot_transfer_end(l->p, l->writer, &o->transfer, ended.end);
        OTF2_EvtWriter_Leave(l->writer, NULL, ot_time(l->p, ended.end), o->region);
    }
}

/* Keeps the current record for the second pass, where records of a track are a sequence. Its index
 * is n * parts + part for the n-th track of a part that has such records: no two parts share one.
 */
static rocl_status defer_record(ot_part *p, uint32_t track, rocl_error *err)
{
    const rocl_sort_record *rec = &p->record;
    ot_track *t = &p->tracks[track];
    if (!t->deferred++) {
        uint64_t index = (uint64_t)p->deferring * p->pass->part_count + p->number;
        if (index >= ROCL_SEQUENCE_INDEXES)
            return rocl_fail(err, ROCL_INPUT, "more than %" PRIu32 " rows of overlapping events",
                             p->deferring);
        p->deferring++;
        t->deferred_index = (uint32_t)index;
    }
    const uint64_t key[4] = {rocl_record_key_at(rec, t->deferred_index), rec->key[1], rec->key[2],
                             rec->key[3]};
    return rocl_sorter_add(p->sink->deferred, p->worker, key, rec->data, rec->len, err);
}

/* The group of the current record; a new one has a track of its own. ROCL_NONE: memory is out. */
static uint32_t find_group(slices *l)
{
    ot_part *p = l->p;
    uint64_t key = l->nested ? 0 : ot_gpu_key(p);
    uint32_t group = rocl_map_get(&l->groups, key, ROCL_NONE);
    if (group != ROCL_NONE)
        return group;
    uint32_t base =
        l->group_count ? ot_track_new(p, l->process, ROCL_NONE) : ot_sequence_track(p, l->process);
    if (base == ROCL_NONE || !ROCL_GROW(l->bases, l->base_capacity, l->group_count + (size_t)1) ||
        !rocl_map_put(&l->groups, key, l->group_count))
        return ROCL_NONE;
    l->bases[l->group_count] = base;
    return l->group_count++;
}

/* The lane of the current record; a further lane has a track of its own. ROCL_NONE: memory is out.
 */
static uint32_t find_lane(slices *l, uint32_t group)
{
    ot_part *p = l->p;
    bool extra;
    uint32_t lane = rocl_lanes_find(&l->lanes, group, p->event.end, &extra);
    p->report.moved += extra;
    if (lane != ROCL_NONE)
        return lane;
    uint32_t track = l->bases[group];
    if (extra) {
        track = p->pass->tracks ? ROCL_NONE : ot_track_new(p, l->process, ROCL_NONE);
        if (track == ROCL_NONE)
            return ROCL_NONE;
        p->tracks[track].base = l->bases[group];
        p->tracks[track].lane = l->lanes.groups[group].count;
        p->report.lanes++;
    }
    return rocl_lanes_add(&l->lanes, group, track);
}

/* Writes or defers the current record. */
static rocl_status add_slice(slices *l, rocl_error *err)
{
    ot_part *p = l->p;
    end_slices(l, p->event.time);
    uint32_t group = find_group(l);
    if (group == ROCL_NONE)
        return rocl_fail_memory(err);
    if (!l->writer) {
        l->track = l->bases[group];
        l->writer = ot_track_begin(p, l->track);
        if (!l->writer)
            return ot_archive_status(p->sink->archive, err);
    }
    if (p->event.kind == ROCL_INSTANT)
        return write_slice(l, err);
    uint32_t lane = find_lane(l, group);
    if (lane == ROCL_NONE || !rocl_lanes_push(&l->lanes, lane, p->event.end))
        return rocl_fail_memory(err);
    uint32_t track = (uint32_t)l->lanes.lanes[lane].track;
    return track == l->track ? write_slice(l, err) : defer_record(p, track, err);
}

rocl_status ot_write_slices(ot_part *p, rocl_error *err)
{
    rocl_sequence_kind sequence = p->event.sequence;
    uint32_t index = p->event.index, thread;
    bool host = sequence == ROCL_SEQUENCE_HOST;
    slices l = {.p = p, .nested = host || p->pass->tracks};
    if (p->pass->tracks) /* a sequence is a track: nothing overlaps any more */
        l.process = p->tracks[p->pass->tracks[p->at]].process;
    else
        l.process = host ? host_process(p->sink->system.capture, index, &thread)
                         : ot_gpu_process(p->sink, index);
    l.lanes.nest = l.nested;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && ot_same(p, sequence, index)) {
        st = add_slice(&l, err);
        if (st == ROCL_OK)
            st = ot_next(p, err);
    }
    if (st == ROCL_OK)
        end_slices(&l, INT64_MAX);
    if (l.writer)
        ot_track_end(p, l.track, l.writer);
    rocl_lanes_free(&l.lanes);
    rocl_map_free(&l.groups);
    free(l.bases);
    free(l.open);
    return st;
}

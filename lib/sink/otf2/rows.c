/* Slices -> Enter and Leave. What overlaps on a location without nesting goes to further ones
 * beside it; since a thread has one writer open at a time, these wait for the second pass. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

typedef struct open_slice { /* on the location that is written */
    OTF2_RegionRef region;
    ot_transfer transfer;
} open_slice;

typedef struct rows {
    ot_part *p;
    uint32_t location; /* that is written at once; all are places in `found` */
    OTF2_EvtWriter *writer;
    rocl_lanes lanes; /* their track is a location */
    rocl_map keys;    /* of ot_rows_ops.key -> group of lanes */
    uint32_t *bases;  /* by group: its first location */
    uint32_t group_count;
    size_t base_cap;
    open_slice *open; /* outermost first */
    uint32_t depth;
    size_t open_cap;
    uint64_t match; /* number of the last copy on the location */
} rows;

/* ---- the location that is written ---- */

static OTF2_AttributeList *notes(const ot_part *p)
{
    return OTF2_AttributeList_GetNumberOfElements(p->attributes) ? p->attributes : NULL;
}

static void enter(rows *r, OTF2_RegionRef region)
{
    ot_part *p = r->p;
    OTF2_EvtWriter_Enter(r->writer, notes(p), ot_time(p, p->event.time), region);
}

static void leave(rows *r, const rocl_open_slice *ended)
{
    const open_slice *o = &r->open[--r->depth];
    ot_transfer_end(r->p, r->writer, &o->transfer, ended->end);
    OTF2_EvtWriter_Leave(r->writer, NULL, ot_time(r->p, ended->end), o->region);
}

static bool is_host(const rocl_track_event *e)
{
    return e->kind <= ROCL_INSTANT;
}

static OTF2_RegionRef region_of(ot_part *p)
{
    const rocl_track_event *e = &p->event;
    uint32_t category = is_host(e) ? e->category : ROCL_NONE;
    ot_call *call = &p->calls[e->name % OT_CALLS];
    if (call->known && call->name == e->name && call->category == category && call->kind == e->kind)
        return call->region;
    ot_region region = is_host(e) ? ot_host_region(p, e) : ot_work_region(p, e);
    *call = (ot_call){e->name, category, e->kind, ot_region_of(p->defs, &region), !p->defs->failed};
    return call->region;
}

static rocl_status begin(rows *r, OTF2_RegionRef *region, rocl_error *err)
{
    ot_part *p = r->p;
    bool host = is_host(&p->event);
    *region = region_of(p);
    if (host)
        ot_host_notes(p, &p->event);
    else
        ot_work_notes(p, &p->event);
    enter(r, *region);
    return host ? ot_keep_mark(p, p->found[r->location].number, err) : ROCL_OK;
}

/* A point in time is a region without length. */
static rocl_status write_instant(rows *r, rocl_error *err)
{
    OTF2_RegionRef region;
    rocl_status st = begin(r, &region, err);
    OTF2_EvtWriter_Leave(r->writer, NULL, ot_time(r->p, r->p->event.time), region);
    r->p->report.instants++;
    return st;
}

static rocl_status write_slice(rows *r, rocl_error *err)
{
    ot_part *p = r->p;
    if (!ROCL_GROW(r->open, r->open_cap, r->depth + (size_t)1))
        return rocl_fail_memory(err);
    open_slice *o = &r->open[r->depth++];
    rocl_status st = begin(r, &o->region, err);
    o->transfer = ot_transfer_begin(p, r->writer, &p->found[r->location], &p->event, &r->match);
    p->report.slices++;
    return st;
}

static void close_until(rows *r, int64_t time)
{
    rocl_open_slice ended;
    while (rocl_lanes_close(&r->lanes, time, &ended))
        if (r->lanes.lanes[ended.lane].track == r->location)
            leave(r, &ended);
}

/* ---- the others ---- */

/* The index under which a location's records come in the second pass. */
static rocl_status wait_index(ot_part *p, ot_found *f, rocl_error *err)
{
    uint64_t index = (uint64_t)p->waiting * p->pass->part_count + p->number;
    if (index >= ROCL_SEQUENCE_INDEXES)
        return rocl_fail(err, ROCL_INPUT, "more than %" PRIu32 " rows of overlapping events",
                         p->waiting);
    p->waiting++;
    f->waits = (uint32_t)index;
    return ROCL_OK;
}

static rocl_status put_aside(ot_part *p, uint32_t location, rocl_error *err)
{
    const rocl_sort_record *rec = &p->record;
    ot_found *f = &p->found[location];
    rocl_status st = f->aside++ ? ROCL_OK : wait_index(p, f, err);
    const uint64_t key[4] = {rocl_record_key_at(rec, f->waits), rec->key[1], rec->key[2],
                             rec->key[3]};
    return st ? st : rocl_sorter_add(p->sink->aside, p->worker, key, rec->data, rec->len, err);
}

static uint32_t group_of(rows *r, const ot_rows_ops *ops)
{
    uint64_t key = ops->key(r->p);
    uint32_t group = rocl_map_get(&r->keys, key, ROCL_NONE);
    if (group != ROCL_NONE)
        return group;
    uint32_t base = ot_part_location(r->p, r->group_count > 0);
    if (base == ROCL_NONE || !ROCL_GROW(r->bases, r->base_cap, r->group_count + (size_t)1) ||
        !rocl_map_put(&r->keys, key, r->group_count))
        return ROCL_NONE;
    r->bases[r->group_count] = base;
    return r->group_count++;
}

/* One more location for a group. */
static uint32_t location_beside(rows *r, uint32_t group)
{
    uint32_t location = ot_part_location(r->p, true);
    if (location == ROCL_NONE)
        return ROCL_NONE;
    r->p->found[location].beside = r->bases[group];
    r->p->found[location].lane = r->lanes.groups[group].count;
    r->p->report.lanes++;
    return location;
}

static uint32_t lane_of(rows *r, uint32_t group)
{
    bool extra;
    uint32_t lane = rocl_lanes_find(&r->lanes, group, r->p->event.end, &extra);
    r->p->report.moved += extra;
    if (lane != ROCL_NONE)
        return lane;
    uint32_t location = extra ? location_beside(r, group) : r->bases[group];
    return location == ROCL_NONE ? ROCL_NONE : rocl_lanes_add(&r->lanes, group, location);
}

static rocl_status take(rows *r, const ot_rows_ops *ops, rocl_error *err)
{
    ot_part *p = r->p;
    close_until(r, p->event.time);
    uint32_t group = group_of(r, ops);
    if (group == ROCL_NONE)
        return rocl_fail_memory(err);
    if (!r->writer) {
        r->location = r->bases[group];
        r->writer = ot_location_begin(p, r->location);
        if (!r->writer)
            return ot_archive_status(p->sink->archive, err);
    }
    if (p->event.kind == ROCL_INSTANT)
        return write_instant(r, err);
    uint32_t lane = lane_of(r, group);
    if (lane == ROCL_NONE || !rocl_lanes_push(&r->lanes, lane, p->event.end))
        return rocl_fail_memory(err);
    uint32_t location = (uint32_t)r->lanes.lanes[lane].track;
    return location == r->location ? write_slice(r, err) : put_aside(p, location, err);
}

rocl_status ot_write_rows(ot_part *p, const ot_rows_ops *ops, rocl_error *err)
{
    rows r = {.p = p, .lanes = {.nest = ops->nest}};
    rocl_sequence_kind kind = p->event.sequence;
    uint32_t index = p->event.index;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && ot_same(p, kind, index)) {
        st = take(&r, ops, err);
        if (st == ROCL_OK)
            st = ot_next(p, err);
    }
    if (st == ROCL_OK)
        close_until(&r, INT64_MAX);
    if (r.writer)
        ot_location_end(p, r.location, r.writer);
    rocl_lanes_free(&r.lanes);
    rocl_map_free(&r.keys);
    free(r.bases);
    free(r.open);
    return st;
}

/* Slices -> Enter and Leave. What overlaps on a location without nesting goes to further ones
 * beside it; since one writer is open at a time, these wait in a sorter. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

typedef struct open_slice { /* on the location that is written */
    OTF2_RegionRef region;
    ot_transfer transfer;
} open_slice;

typedef struct rows {
    ot_sink *s;
    uint32_t location; /* that is written at once */
    OTF2_EvtWriter *writer;
    rocl_lanes lanes; /* their track is a location */
    rocl_map keys;    /* of ot_rows_ops.key -> group of lanes */
    uint32_t *bases;  /* by group: its first location */
    uint32_t group_count;
    size_t base_cap;
    open_slice *open; /* outermost first */
    uint32_t depth;
    size_t open_cap;
} rows;

/* ---- the location that is written ---- */

static OTF2_AttributeList *notes(ot_sink *s)
{
    return OTF2_AttributeList_GetNumberOfElements(s->attributes) ? s->attributes : NULL;
}

static void enter(rows *r, OTF2_RegionRef region)
{
    ot_sink *s = r->s;
    OTF2_EvtWriter_Enter(r->writer, notes(s), ot_time(s, s->event.time), region);
}

static void leave(rows *r, const rocl_open_slice *ended)
{
    ot_sink *s = r->s;
    const open_slice *o = &r->open[--r->depth];
    ot_transfer_end(s, r->writer, &o->transfer, ended->end);
    OTF2_EvtWriter_Leave(r->writer, NULL, ot_time(s, ended->end), o->region);
}

static OTF2_RegionRef begin(rows *r)
{
    ot_sink *s = r->s;
    bool host = s->event.kind <= ROCL_INSTANT;
    OTF2_RegionRef region = host ? ot_host_region(s, &s->event) : ot_work_region(s, &s->event);
    if (host)
        ot_host_notes(s, &s->event);
    else
        ot_work_notes(s, &s->event);
    enter(r, region);
    if (host)
        ot_write_marker(s, &s->event, r->location);
    return region;
}

/* A point in time is a region without length. */
static void write_instant(rows *r)
{
    OTF2_RegionRef region = begin(r);
    OTF2_EvtWriter_Leave(r->writer, NULL, ot_time(r->s, r->s->event.time), region);
    r->s->report.instants++;
}

static rocl_status write_slice(rows *r, rocl_error *err)
{
    if (!ROCL_GROW(r->open, r->open_cap, r->depth + (size_t)1))
        return rocl_fail_memory(err);
    open_slice *o = &r->open[r->depth++];
    o->region = begin(r);
    o->transfer = ot_transfer_begin(r->s, r->writer, r->location, &r->s->event);
    r->s->report.slices++;
    return ROCL_OK;
}

static void close_until(rows *r, int64_t time)
{
    rocl_open_slice ended;
    while (rocl_lanes_close(&r->lanes, time, &ended))
        if (r->lanes.lanes[ended.lane].track == r->location)
            leave(r, &ended);
}

/* ---- the others ---- */

static rocl_status put_aside(ot_sink *s, uint32_t location, rocl_error *err)
{
    const rocl_record *rec = &s->record;
    if (location >= ROCL_PACK_INDEXES)
        return rocl_fail(err, ROCL_INPUT, "more than %u rows of overlapping events",
                         ROCL_PACK_INDEXES);
    const uint64_t key[4] = {rocl_packed_key(rec, location), rec->key[1], rec->key[2], rec->key[3]};
    if (!s->moved && !(s->moved = rocl_packer_sorter(&s->packer)))
        return rocl_fail_memory(err);
    return rocl_sorter_add(s->moved, 0, key, rec->data, rec->len, err);
}

static uint32_t group_of(rows *r, const ot_rows_ops *ops)
{
    uint64_t key = ops->key(r->s);
    uint32_t group = rocl_map_get(&r->keys, key, ROCL_NONE);
    if (group != ROCL_NONE)
        return group;
    if (!ROCL_GROW(r->bases, r->base_cap, r->group_count + (size_t)1) ||
        !rocl_map_put(&r->keys, key, r->group_count))
        return ROCL_NONE;
    r->bases[r->group_count] = ops->location(r->s);
    return r->group_count++;
}

static uint32_t lane_of(rows *r, uint32_t group)
{
    bool extra;
    uint32_t lane = rocl_lanes_find(&r->lanes, group, r->s->event.end, &extra);
    if (lane == ROCL_NONE) {
        uint32_t location = r->bases[group];
        if (extra)
            location = ot_location_beside(&r->s->world, location, r->lanes.groups[group].count + 1);
        r->s->report.lanes += extra;
        lane = rocl_lanes_add(&r->lanes, group, location);
    }
    r->s->report.moved += extra;
    return lane;
}

static rocl_status take(rows *r, const ot_rows_ops *ops, rocl_error *err)
{
    ot_sink *s = r->s;
    close_until(r, s->event.time);
    uint32_t group = group_of(r, ops);
    if (group == ROCL_NONE)
        return rocl_fail_memory(err);
    if (!r->writer) {
        r->location = r->bases[group];
        r->writer = ot_location_begin(s, r->location);
        if (!r->writer)
            return ot_archive_status(s->archive, err);
    }
    if (s->event.kind == ROCL_INSTANT) {
        write_instant(r);
        return ROCL_OK;
    }
    uint32_t lane = lane_of(r, group);
    if (lane == ROCL_NONE || !rocl_lanes_push(&r->lanes, lane, s->event.end))
        return rocl_fail_memory(err);
    uint32_t location = (uint32_t)r->lanes.lanes[lane].track;
    return location == r->location ? write_slice(r, err) : put_aside(s, location, err);
}

rocl_status ot_write_rows(ot_sink *s, const ot_rows_ops *ops, rocl_error *err)
{
    rows r = {.s = s, .lanes = {.nest = ops->nest}};
    rocl_room room = s->event.room;
    uint32_t index = s->event.index;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && ot_same(s, room, index)) {
        st = take(&r, ops, err);
        if (st == ROCL_OK)
            st = ot_next(s, err);
    }
    if (st == ROCL_OK)
        close_until(&r, INT64_MAX);
    if (r.writer)
        ot_location_end(s, r.location, r.writer);
    rocl_lanes_free(&r.lanes);
    rocl_map_free(&r.keys);
    free(r.bases);
    free(r.open);
    return st;
}

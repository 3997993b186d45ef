/* What the timeline draws, as events of locations: slices and instants -> Enter and Leave, copies
 * as RMA, values -> metrics. A drawing has one writer open at a time: that of the sequence's own
 * track. Slices of other tracks are deferred to the second pass. Markers are kept for a file of
 * their own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"
#include "sink/otf2/otf2.h"

static ot_drawing *drawing_of(rocl_drawing *p)
{
    return (ot_drawing *)p;
}

/* Every time that is written passes through here. */
static OTF2_TimeStamp note_time(ot_drawing *p, int64_t time)
{
    p->earliest = time < p->earliest ? time : p->earliest;
    p->latest = time > p->latest ? time : p->latest;
    return (OTF2_TimeStamp)time;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* A new track. The first of a sequence has the number of the sequence. */
static rocl_status add_track(ot_drawing *p, const rocl_track *track, rocl_error *err)
{
    bool first = p->current == ROCL_NONE;
    if (!ROCL_GROW(p->tracks, p->track_capacity, p->track_count + (size_t)1))
        return rocl_fail_memory(err);
    p->tracks[p->track_count] =
        (ot_track){.track = *track,
                   .sequence = p->drawing.event.sequence,
                   .number = first ? p->sink->next_number + (uint32_t)p->drawing.at : ROCL_NONE,
                   .base = track->lane ? (uint32_t)track->base : p->track_count,
                   .location = ROCL_NONE};
    p->track_count++;
    return ROCL_OK;
}

/* Opens the writer of the track that the sequence is written to. */
static rocl_status open_track(ot_drawing *p, uint32_t track, rocl_error *err)
{
    p->current = track;
    p->tracks[track].written = true;
    p->writer = ot_archive_events(p->sink->archive, p->tracks[track].number);
    return p->writer ? ROCL_OK : ot_archive_status(p->sink->archive, err);
}

/* Values have one location a sequence; its track has the index of the sequence as id. */
static rocl_status begin_sequence(rocl_drawing *base, int64_t from, rocl_error *err)
{
    static const rocl_track_kind kinds[] = {[ROCL_SEQUENCE_ALLOCATED] = ROCL_TRACK_ALLOCATED,
                                            [ROCL_SEQUENCE_BANDWIDTH] = ROCL_TRACK_BANDWIDTH,
                                            [ROCL_SEQUENCE_PMC] = ROCL_TRACK_COUNTER,
                                            [ROCL_SEQUENCE_SAMPLED] = ROCL_TRACK_SAMPLES};
    ot_drawing *p = drawing_of(base);
    (void)from;
    p->current = p->pass->tracks ? p->pass->tracks[base->at] : ROCL_NONE;
    p->depth = 0;
    p->match = 0;
    if (p->current != ROCL_NONE)
        return open_track(p, p->current, err);
    if (base->event.sequence <= ROCL_SEQUENCE_MEMORY)
        return ROCL_OK;
    const rocl_track track = {
        .kind = kinds[base->event.sequence], .process = base->process, .id = base->event.index};
    rocl_status st = add_track(p, &track, err);
    return st ? st : open_track(p, p->track_count - 1, err);
}

void ot_end_track(rocl_drawing *base)
{
    ot_drawing *p = drawing_of(base);
    if (p->writer)
        p->tracks[p->current].events = ot_archive_events_end(p->sink->archive, p->writer);
    p->writer = NULL;
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* "Allocated memory", of the GPU in the process; "Allocated memory of Agent 0", of the process;
 * "SQ_WAVES"; of samples "SPM SQ_WAVES xcc 0 se 1". */
static uint64_t define_metric(ot_drawing *p, const rocl_track *track)
{
    const rocl_capture *c = p->sink->system.capture;
    const bool allocated = track->kind == ROCL_TRACK_ALLOCATED;
    const bool samples = track->kind == ROCL_TRACK_SAMPLES;
    ot_member member = {.type = OTF2_TYPE_DOUBLE,
                        .mode = samples ? OTF2_METRIC_ABSOLUTE_POINT : OTF2_METRIC_ABSOLUTE_NEXT};
    ot_metric instance = {.recorder = p->current, .process = OT_AS_RECORDER};
    char name[384], place[ROCL_PLACE_LABEL_MAX] = "";
    if (allocated || track->kind == ROCL_TRACK_BANDWIDTH) {
        const char *agent = track->gpu ? ""
                            : track->agent == ROCL_NONE
                                ? "an unknown agent"
                                : rocl_str(c->trace, c->agents[track->agent].device);
        rocl_label(name, sizeof name, "%s%s%s", allocated ? "Allocated memory" : "Copy bandwidth",
                   track->gpu ? "" : " of ", agent);
        member.unit = ot_text(p->defs, allocated ? "bytes" : "bytes/s");
        member.type = OTF2_TYPE_INT64;
        instance.process = track->process;
        instance.agent = track->agent;
    } else {
        const rocl_counter *k = track->id < c->counter_count ? &c->counters[track->id] : NULL;
        if (samples)
            rocl_place_label(track->place, place);
        /* A location has all values of a counter, of whatever process. */
        if (samples && !track->gpu) {
            instance.process = track->process;
            instance.agent = ROCL_NONE;
        }
        rocl_label(name, sizeof name, "%s%s%s", track->spm ? "SPM " : "",
                   k ? rocl_str(c->trace, k->name) : "unknown counter", place);
        if (samples && !track->spm && k && !strcmp(rocl_str(c->trace, k->value_type), "ACCUM"))
            member.mode = OTF2_METRIC_ACCUMULATED_POINT;
        member.description = k ? k->description : 0;
        member.unit = k && k->units ? k->units : ot_text(p->defs, "#");
    }
    member.name = ot_text(p->defs, name);
    return ot_metric_new(p->defs, &member, &instance);
}

/* The timeline calls a track by its index, a value by the reference of its metric. */
static rocl_status define_track(rocl_drawing *base, const rocl_track *track, uint64_t *id,
                                rocl_error *err)
{
    ot_drawing *p = drawing_of(base);
    if (track->kind > ROCL_TRACK_THREAD) {
        *id = define_metric(p, track);
    } else if (p->pass->tracks) {
        *id = p->current;
    } else {
        *id = p->track_count;
        rocl_status st = add_track(p, track, err);
        if (st == ROCL_OK && p->current == ROCL_NONE)
            st = open_track(p, (uint32_t)*id, err);
        return st;
    }
    return ROCL_OK;
}

static void write_metric(rocl_drawing *base, uint64_t metric, int64_t time, OTF2_Type type,
                         OTF2_MetricValue value)
{
    ot_drawing *p = drawing_of(base);
    OTF2_EvtWriter_Metric(p->writer, NULL, note_time(p, time), (OTF2_MetricRef)metric, 1, &type,
                          &value);
}

static void write_value(rocl_drawing *p, uint64_t metric, int64_t time, double v)
{
    write_metric(p, metric, time, OTF2_TYPE_DOUBLE, (OTF2_MetricValue){.floating_point = v});
}

static void write_bytes(rocl_drawing *p, uint64_t metric, int64_t time, int64_t v)
{
    write_metric(p, metric, time, OTF2_TYPE_INT64, (OTF2_MetricValue){.signed_int = v});
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Keeps the current record for the second pass, where records of a track are a sequence. Its index
 * is n * drawings + drawing for the n-th track of a drawing that has such records: no two have the
 * same.
 */
static rocl_status defer_record(ot_drawing *p, uint32_t track, rocl_error *err)
{
    const rocl_sort_record *rec = &p->drawing.record;
    ot_track *t = &p->tracks[track];
    if (!t->deferred++) {
        uint64_t index = (uint64_t)p->deferring * p->pass->drawing_count + p->drawing.number;
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

/* Begins the current record as RMA if it is a copy between a GPU and something else. */
static ot_transfer begin_transfer(ot_drawing *p)
{
    const rocl_track_event *e = &p->drawing.event;
    const ot_sink *s = p->sink;
    if (e->kind != ROCL_COPY || !ot_is_gpu(&s->system, e->agent))
        return (ot_transfer){0};
    uint32_t other = ot_is_gpu(&s->system, e->other_agent) ? e->other_agent : ROCL_NONE;
    if (other == e->agent) /* no arrow within a group */
        return (ot_transfer){0};
    ot_track *t = &p->tracks[p->current];
    t->copies = true;
    uint32_t process = t->track.process;
    uint32_t remote = rocl_map_get(&s->peers.ranks, rocl_copy_end(process, other), 0);
    ot_transfer transfer = {s->peers.windows[process], ++p->match};
    OTF2_TimeStamp time = note_time(p, e->time);
    (e->op ? OTF2_EvtWriter_RmaGet : OTF2_EvtWriter_RmaPut)(p->writer, NULL, time, transfer.window,
                                                            remote, e->size, transfer.match);
    return transfer;
}

static rocl_status write_enter(ot_drawing *p, OTF2_RegionRef *region, rocl_error *err)
{
    *region = ot_event_region(p);
    OTF2_AttributeList *attributes = ot_event_attributes(p);
    OTF2_EvtWriter_Enter(p->writer, attributes, note_time(p, p->drawing.event.time), *region);
    /* Keeps the current record for the file of markers if the program set it. Samples of call
     * stacks are instants, too, but not markers. */
    const ot_sink *s = p->sink;
    const rocl_track_event *e = &p->drawing.event;
    if (e->kind != ROCL_MARKER && e->kind != ROCL_INSTANT)
        return ROCL_OK;
    const char *category = rocl_str(s->trace, e->category);
    if (e->kind == ROCL_INSTANT && strncasecmp(category, "MARKER", 6) != 0 &&
        strncasecmp(category, "KOKKOS", 6) != 0)
        return ROCL_OK;
    const uint64_t *rest = p->drawing.record.key;
    const uint64_t key[4] = {p->tracks[p->current].number, rest[1], rest[2], rest[3]};
    uint8_t text[ROCL_VARINT_MAX];
    uint8_t *end = rocl_varint_put(text, e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name);
    return rocl_sorter_add(s->markers, p->worker, key, text, (size_t)(end - text), err);
}

static rocl_status write_slice(rocl_drawing *base, uint64_t track, rocl_error *err)
{
    ot_drawing *p = drawing_of(base);
    if (track != p->current)
        return defer_record(p, (uint32_t)track, err);
    if (!ROCL_GROW(p->open, p->open_capacity, p->depth + (size_t)1))
        return rocl_fail_memory(err);
    ot_open_slice *o = &p->open[p->depth++];
    rocl_status st = write_enter(p, &o->region, err);
    o->transfer = begin_transfer(p);
    return st;
}

static void write_slice_end(rocl_drawing *base, uint64_t track, int64_t end)
{
    ot_drawing *p = drawing_of(base);
    if (track != p->current)
        return;
    const ot_open_slice *o = &p->open[--p->depth];
    OTF2_TimeStamp time = note_time(p, end);
    if (o->transfer.match)
        OTF2_EvtWriter_RmaOpCompleteBlocking(p->writer, NULL, time, o->transfer.window,
                                             o->transfer.match);
    OTF2_EvtWriter_Leave(p->writer, NULL, time, o->region);
}

/* An instant is a region without length. */
static rocl_status write_instant(rocl_drawing *base, uint64_t track, rocl_error *err)
{
    ot_drawing *p = drawing_of(base);
    OTF2_RegionRef region;
    (void)track;
    rocl_status st = write_enter(p, &region, err);
    OTF2_EvtWriter_Leave(p->writer, NULL, note_time(p, base->event.time), region);
    return st;
}

const rocl_timeline_ops ot_ops = {.begin = begin_sequence,
                                  .end = ot_end_track,
                                  .define = define_track,
                                  .call = write_slice,
                                  .work = write_slice,
                                  .slice_end = write_slice_end,
                                  .instant = write_instant,
                                  .value = write_value,
                                  .bytes = write_bytes};

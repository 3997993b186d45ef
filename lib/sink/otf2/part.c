/* A part of a pass at work: it reads its range of the sorter record by record, keeps the tracks it
 * comes upon, and collects the attributes of the next event. */
#include <stdio.h>

#include "base/error.h"
#include "sink/otf2/otf2.h"
#include "trace/pipeline.h"

/* Records between two reports of the progress. */
#define PROGRESS 4096

rocl_status ot_next(ot_part *p, rocl_error *err)
{
    rocl_status st = ot_archive_status(p->sink->archive, err);
    if (st == ROCL_OK && p->defs->failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_sorter_next_of(p->pass->input, p->number, &p->record, &p->more, err);
    if (st == ROCL_OK && p->more && !rocl_record_decode(&p->record, &p->event))
        st = rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    if (++p->records_read % PROGRESS == 0 && !p->pass->tracks)
        rocl_progress(p->sink->trace, PROGRESS);
    return st;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

uint32_t ot_track_new(ot_part *p, uint32_t process, uint32_t number)
{
    const rocl_track_event *e = &p->event;
    if (!ROCL_GROW(p->tracks, p->track_capacity, p->track_count + (size_t)1))
        return ROCL_NONE;
    p->tracks[p->track_count] = (ot_track){.number = number,
                                           .base = p->track_count,
                                           .location = ROCL_NONE,
                                           .sequence = e->sequence,
                                           .kind = e->kind,
                                           .index = e->index,
                                           .process = process,
                                           .agent = e->agent,
                                           .queue = e->queue,
                                           .stream = e->stream};
    return p->track_count++;
}

uint32_t ot_sequence_track(ot_part *p, uint32_t process)
{
    const ot_pass *pass = p->pass;
    return pass->tracks ? pass->tracks[p->at]
                        : ot_track_new(p, process, p->sink->next_number + (uint32_t)p->at);
}

OTF2_EvtWriter *ot_track_begin(ot_part *p, uint32_t track)
{
    p->tracks[track].written = true;
    return ot_archive_events(p->sink->archive, p->tracks[track].number);
}

void ot_track_end(ot_part *p, uint32_t track, OTF2_EvtWriter *w)
{
    p->tracks[track].events = ot_archive_events_end(p->sink->archive, w);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* An event has each attribute once: a second argument of a name is called "name (2)". */
static OTF2_AttributeRef unused_attribute(ot_part *p, uint32_t name, OTF2_Type type)
{
    OTF2_AttributeRef ref = ot_attribute_ref(p->defs, name, type);
    for (unsigned n = 2; OTF2_AttributeList_TestAttributeByID(p->attributes, ref); n++) {
        char numbered[256];
        snprintf(numbered, sizeof numbered, "%.200s (%u)", rocl_str(p->sink->trace, name), n);
        ref = ot_attribute_ref(p->defs, ot_text(p->defs, numbered), type);
        if (p->defs->failed)
            break;
    }
    return ref;
}

void ot_add_uint(ot_part *p, uint32_t name, uint64_t v)
{
    OTF2_AttributeList_AddUint64(p->attributes, unused_attribute(p, name, OTF2_TYPE_UINT64), v);
}

void ot_add_int(ot_part *p, uint32_t name, int64_t v)
{
    OTF2_AttributeList_AddInt64(p->attributes, unused_attribute(p, name, OTF2_TYPE_INT64), v);
}

void ot_add_text(ot_part *p, uint32_t name, uint32_t text)
{
    OTF2_AttributeList_AddStringRef(p->attributes, unused_attribute(p, name, OTF2_TYPE_STRING),
                                    ot_string(p->defs, text));
}

/* A pass over records, in parts that are written side by side. Each part reads its own range of the
 * sorter, location by location. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/pool.h"
#include "sink/otf2/ot.h"
#include "trace/pipeline.h"

/* No part is much smaller: so many slices take longer than a thread and a table do. */
#define LEAST_SLICES 20000

/* Records until the next word of it. */
#define PROGRESS 4096

/* ---- records --------------------------------------------------------------------------------- */

rocl_status ot_next(ot_part *p, rocl_error *err)
{
    rocl_status st = ot_archive_status(p->sink->archive, err);
    if (st == ROCL_OK && p->defs->failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_sorter_next_of(p->pass->input, p->number, &p->record, &p->more, err);
    if (st == ROCL_OK && p->more && !rocl_record_decode(&p->record, &p->event))
        st = rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    if (++p->taken % PROGRESS == 0 && !p->pass->places)
        rocl_progress(p->sink->trace, PROGRESS);
    return st;
}

uint32_t ot_part_location(ot_part *p, bool another)
{
    const ot_pass *pass = p->pass;
    if (pass->places)
        return another ? ROCL_NONE : pass->places[p->at];
    return ot_found_new(p, another ? ROCL_NONE : p->sink->next_number + (uint32_t)p->at);
}

OTF2_EvtWriter *ot_location_begin(ot_part *p, uint32_t place)
{
    p->found[place].written = true;
    return ot_archive_events(p->sink->archive, p->found[place].number);
}

void ot_location_end(ot_part *p, uint32_t place, OTF2_EvtWriter *w)
{
    p->found[place].events = ot_archive_events_end(p->sink->archive, w);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* An event has each attribute once: a second argument of a name is called "name (2)". */
static OTF2_AttributeRef free_attribute(ot_part *p, uint32_t name, OTF2_Type type)
{
    OTF2_AttributeRef at = ot_attribute_of(p->defs, name, type);
    for (unsigned n = 2; OTF2_AttributeList_TestAttributeByID(p->attributes, at); n++) {
        char more[256];
        snprintf(more, sizeof more, "%.200s (%u)", rocl_str(p->sink->trace, name), n);
        at = ot_attribute_of(p->defs, ot_text(p->defs, more), type);
        if (p->defs->failed)
            break;
    }
    return at;
}

void ot_note_uint(ot_part *p, uint32_t name, uint64_t v)
{
    OTF2_AttributeList_AddUint64(p->attributes, free_attribute(p, name, OTF2_TYPE_UINT64), v);
}

void ot_note_int(ot_part *p, uint32_t name, int64_t v)
{
    OTF2_AttributeList_AddInt64(p->attributes, free_attribute(p, name, OTF2_TYPE_INT64), v);
}

void ot_note_text(ot_part *p, uint32_t name, uint32_t text)
{
    OTF2_AttributeList_AddStringRef(p->attributes, free_attribute(p, name, OTF2_TYPE_STRING),
                                    ot_string(p->defs, text));
}

/* ---- a part ---------------------------------------------------------------------------------- */

static uint64_t one_key(const ot_part *p)
{
    (void)p;
    return 0;
}

static rocl_status write_sequence(ot_part *p, rocl_error *err)
{
    static const ot_rows_ops host = {one_key, true}, work = {ot_work_key, false};
    if (p->at == p->last || p->pass->sequences[p->at].number != rocl_sequence_of(p->record.key))
        return rocl_fail(err, ROCL_INTERNAL, "a sorted record is of an unknown sequence");
    switch (p->event.sequence) {
    case ROCL_SEQUENCE_HOST:
        return ot_write_rows(p, &host, err);
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return ot_write_rows(p, p->pass->places ? &host : &work, err);
    case ROCL_SEQUENCE_ALLOCATED:
        return ot_write_allocated(p, err);
    case ROCL_SEQUENCE_BANDWIDTH:
        return ot_write_bandwidth(p, err);
    case ROCL_SEQUENCE_PMC:
        return ot_write_pmc(p, err);
    default:
        return ot_write_sampled(p, err);
    }
}

static rocl_status write_part(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    ot_part *p = &((ot_pass *)ctx)->parts[index];
    p->worker = worker;
    p->attributes = OTF2_AttributeList_New();
    rocl_status st = p->attributes ? ot_next(p, err) : rocl_fail_memory(err);
    while (st == ROCL_OK && p->more) {
        st = write_sequence(p, err);
        p->at++;
    }
    return st;
}

/* ---- a pass ---------------------------------------------------------------------------------- */

static uint64_t weight(const rocl_sequence *s)
{
    return rocl_sequence_kind_of(s->number) <= ROCL_SEQUENCE_MEMORY ? 2 * s->records : s->records;
}

/* The first part numbers what it meets as the archive does. */
static void begin_part(ot_sink *s, ot_pass *pass, size_t i, const rocl_part_range *cut)
{
    ot_part *p = &pass->parts[i];
    *p = (ot_part){.sink = s,
                   .pass = pass,
                   .number = i,
                   .first = cut->first,
                   .at = cut->first,
                   .last = cut->last,
                   .own = {.trace = s->trace},
                   .defs = i ? &p->own : &s->defs,
                   .found = pass->places ? s->found : NULL,
                   .earliest = INT64_MAX,
                   .latest = -1};
}

rocl_status ot_pass_write(ot_sink *s, ot_pass *pass, rocl_error *err)
{
    rocl_part_range cuts[ROCL_PARTS_MAX];
    size_t count =
        rocl_cut_parts(pass->sequences, pass->sequence_count, weight, 2 * LEAST_SLICES, cuts);
    pass->parts = rocl_cache_line_calloc(count, sizeof *pass->parts);
    if (!pass->parts)
        return rocl_fail_memory(err);
    pass->part_count = count;
    for (size_t i = 0; i < count; i++)
        begin_part(s, pass, i, &cuts[i]);
    rocl_status st = rocl_start_parts(pass->input, pass->sequences, cuts, count, err);
    return st ? st : rocl_run_tasks(s->trace->opt.jobs, count, write_part, pass, err);
}

static void free_part(ot_part *p)
{
    ot_defs_free(&p->own);
    if (!p->pass->places)
        free(p->found);
    if (p->attributes)
        OTF2_AttributeList_Delete(p->attributes);
}

void ot_pass_free(ot_pass *pass)
{
    for (size_t i = 0; i < pass->part_count; i++)
        free_part(&pass->parts[i]);
    free(pass->parts);
    free(pass->sequences);
    free(pass->places);
    *pass = (ot_pass){0};
}

/* ---- what parts have defined and counted ----------------------------------------------------- */

/* Instances of metrics know a location and a group now. */
static void place_metrics(ot_sink *s, const ot_part *p)
{
    ot_defs *d = p->defs;
    for (uint32_t i = 0; i < d->metric_count; i++) {
        ot_metric *m = &d->metrics[i];
        if (m->class == ROCL_NONE || m->joined)
            continue;
        const ot_found *f = &s->found[p->found_first + m->recorder];
        m->group = ot_metric_group(&s->world, m, f);
        m->recorder = f->number;
        m->joined = true;
    }
}

/* The locations of a part: those of its sequences that are written. */
static void set_table(ot_sink *s, const ot_part *p, uint32_t table)
{
    const ot_pass *pass = p->pass;
    for (size_t i = p->first; i < p->last && pass->places; i++)
        s->world.locations[s->found[pass->places[i]].location].table = table;
    for (uint32_t i = 0; i < p->found_count; i++)
        if (p->found[i].written)
            s->world.locations[s->found[p->found_first + i].location].table = table;
}

static rocl_status join_defs(ot_sink *s, const ot_part *p, rocl_error *err)
{
    ot_table t;
    rocl_status st = ot_defs_join(&s->defs, &p->own, &t, err);
    if (st != ROCL_OK || !ot_table_is_needed(&t)) {
        ot_table_free(&t);
        return st;
    }
    if (!ROCL_GROW(s->tables, s->table_cap, s->table_count + (size_t)1)) {
        ot_table_free(&t);
        return rocl_fail_memory(err);
    }
    s->tables[s->table_count] = t;
    set_table(s, p, s->table_count++);
    return ROCL_OK;
}

static void add_report(rocl_otf2_report *to, const rocl_otf2_report *from)
{
    to->slices += from->slices;
    to->instants += from->instants;
    to->metric_values += from->metric_values;
    to->lanes += from->lanes;
    to->moved += from->moved;
}

rocl_status ot_pass_join(ot_sink *s, ot_pass *pass, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < pass->part_count && st == ROCL_OK; i++) {
        const ot_part *p = &pass->parts[i];
        place_metrics(s, p);
        if (p->defs != &s->defs)
            st = join_defs(s, p, err);
        add_report(&s->report, &p->report);
        s->earliest = p->earliest < s->earliest ? p->earliest : s->earliest;
        s->latest = p->latest > s->latest ? p->latest : s->latest;
    }
    return st;
}

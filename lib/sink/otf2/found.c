/* Locations that parts have come upon: made of the first event of each, put in the world when all
 * of them are known, in an order that no number of threads changes. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

static uint32_t process_of(const ot_part *p)
{
    switch (p->event.sequence) {
    case ROCL_SEQUENCE_HOST:
        return ot_host_process(p);
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return ot_work_process(p);
    default:
        return ot_metric_process(p);
    }
}

uint32_t ot_found_new(ot_part *p, uint32_t number)
{
    const rocl_track_event *e = &p->event;
    if (!ROCL_GROW(p->found, p->found_cap, p->found_count + (size_t)1))
        return ROCL_NONE;
    p->found[p->found_count] = (ot_found){.number = number,
                                          .beside = p->found_count,
                                          .location = ROCL_NONE,
                                          .sequence = e->sequence,
                                          .kind = e->kind,
                                          .index = e->index,
                                          .process = process_of(p),
                                          .agent = e->agent,
                                          .queue = e->queue,
                                          .stream = e->stream};
    return p->found_count++;
}

/* ---- into the world -------------------------------------------------------------------------- */

static uint32_t location_of(ot_sink *s, const ot_found *f)
{
    ot_world *w = &s->world;
    switch (f->sequence) {
    case ROCL_SEQUENCE_HOST:
        return ot_host_location(w, f);
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return ot_work_location(w, f);
    default:
        return ot_metric_location(w, f);
    }
}

static void place(ot_sink *s, uint32_t i)
{
    ot_found *f = &s->found[i];
    f->location = f->beside == i
                      ? location_of(s, f)
                      : ot_location_beside(&s->world, s->found[f->beside].location, f->lane + 1);
    if (f->number == ROCL_NONE)
        f->number = s->next_number++;
    s->world.locations[f->location].number = f->number;
}

static void take_over(ot_sink *s, ot_part *p)
{
    p->found_first = s->found_count;
    for (uint32_t i = 0; i < p->found_count; i++) {
        ot_found *f = &s->found[s->found_count++];
        *f = p->found[i];
        f->beside += p->found_first;
    }
}

rocl_status ot_found_join(ot_sink *s, ot_pass *pass, rocl_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < pass->part_count; i++)
        count += pass->parts[i].found_count;
    s->found = reallocarray(NULL, count + 1, sizeof *s->found);
    if (!s->found)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < pass->part_count; i++)
        take_over(s, &pass->parts[i]);
    s->next_number += (uint32_t)pass->sequence_count;
    for (uint32_t i = 0; i < s->found_count; i++)
        place(s, i);
    return s->defs.failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* ---- what was put aside ---------------------------------------------------------------------- */

static int by_sequence(const void *a, const void *b, void *found)
{
    const ot_found *x = (const ot_found *)found + *(const uint32_t *)a,
                   *y = (const ot_found *)found + *(const uint32_t *)b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->waits < y->waits ? -1 : x->waits > y->waits;
}

rocl_status ot_found_aside(ot_sink *s, ot_pass *second, rocl_error *err)
{
    size_t count = 0;
    second->places = reallocarray(NULL, s->found_count + (size_t)1, sizeof *second->places);
    second->sequences = reallocarray(NULL, s->found_count + (size_t)1, sizeof *second->sequences);
    if (!second->places || !second->sequences)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < s->found_count; i++)
        if (s->found[i].aside)
            second->places[count++] = i;
    qsort_r(second->places, count, sizeof *second->places, by_sequence, s->found);
    for (size_t i = 0; i < count; i++) {
        const ot_found *f = &s->found[second->places[i]];
        second->sequences[i] = (rocl_sequence){
            .number = rocl_sequence_number(f->sequence, f->waits), .records = f->aside};
    }
    second->sequence_count = count;
    second->input = s->aside;
    return ROCL_OK;
}

void ot_found_finish(ot_sink *s)
{
    for (uint32_t i = 0; i < s->found_count; i++)
        s->world.locations[s->found[i].location].events = s->found[i].events;
}

/* Bytes over time, a running sum per agent: what copies move, what is allocated. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"

typedef struct meter {
    uint64_t track;
    uint64_t sum; /* absurd sizes make it wrap and come back, not overflow */
} meter;

static meter *meter_of(pf_part *part, meter *all, uint32_t process, uint32_t agent,
                       const char *what)
{
    const pf_sink *p = part->sink;
    uint32_t n = agent < p->world.capture->agent_count ? agent : p->world.capture->agent_count;
    if (!all[n].track) {
        char words[96], name[192];
        pf_agent_words(p, agent, true, words, sizeof words);
        if (p->opt.legacy_tracks)
            snprintf(name, sizeof name, "%s %s", what, words);
        else
            snprintf(name, sizeof name, "%s %s", words, what);
        bool rate = !p->opt.legacy_tracks && what[0] == 'c';
        all[n].track = pf_new_counter(part, pf_process_track(&p->world, process), name,
                                      rate ? 0 : UNIT_BYTES, rate ? "bytes/s" : NULL);
    }
    return &all[n];
}

static meter *new_meters(const pf_part *p)
{
    return calloc(p->sink->world.capture->agent_count + 1, sizeof(meter));
}

/* ---- copies ---- */

typedef struct copied {
    meter *meters;
} copied;

static rocl_status begin_copied(pf_part *p, void *state, rocl_error *err)
{
    copied *c = state;
    c->meters = new_meters(p);
    if (!c->meters)
        return rocl_fail_memory(err);
    pf_part_begin(p, p->event.time, 0);
    return ROCL_OK;
}

static rocl_status record_copied(pf_part *p, void *state, rocl_error *err)
{
    const char *what = p->sink->opt.legacy_tracks ? "COPY BYTES to" : "copy bandwidth";
    const copied *c = state;
    const rocl_track_event *e = &p->event;
    (void)err;
    meter *m = meter_of(p, c->meters, e->index, e->agent, what);
    m->sum += e->op ? 0 - e->size : e->size;
    pf_put_counter(p, e->time, m->track, (double)(int64_t)m->sum);
    return ROCL_OK;
}

static void forget_copied(void *state)
{
    free(((copied *)state)->meters);
}

const pf_room pf_room_bandwidth = {sizeof(copied), begin_copied, record_copied, NULL,
                                   forget_copied};

/* ---- allocations ---- */

typedef struct allocated {
    meter *meters;
    uint32_t process;
    bool begun; /* the window has */
} allocated;

static void show_level(pf_part *p, const allocated *a, uint32_t agent, int64_t time)
{
    const char *what = p->sink->opt.legacy_tracks ? "ALLOCATE BYTES on" : "allocated";
    const meter *m = meter_of(p, a->meters, a->process, agent, what);
    pf_put_counter(p, time, m->track, (double)(int64_t)m->sum);
}

/* What was allocated before the window is shown at its begin. */
static void show_levels(pf_part *p, allocated *a)
{
    for (uint32_t i = 0; i <= p->sink->world.capture->agent_count; i++)
        if (a->meters[i].sum)
            show_level(p, a, i, p->sink->from);
    a->begun = true;
}

static void add_to_level(pf_part *p, const allocated *a)
{
    const rocl_capture *c = p->sink->world.capture;
    const rocl_track_event *e = &p->event;
    uint32_t agent = e->agent < c->agent_count ? e->agent : c->agent_count;
    a->meters[agent].sum += (uint64_t)e->delta;
    if (a->begun && e->delta)
        show_level(p, a, agent, e->time);
}

static rocl_status begin_allocated(pf_part *p, void *state, rocl_error *err)
{
    allocated *a = state;
    int64_t from = p->sink->from;
    a->process = p->event.index;
    a->begun = p->event.time >= from;
    a->meters = new_meters(p);
    if (!a->meters)
        return rocl_fail_memory(err);
    pf_part_begin(p, a->begun ? p->event.time : from, 0);
    return ROCL_OK;
}

static rocl_status record_allocated(pf_part *p, void *state, rocl_error *err)
{
    allocated *a = state;
    (void)err;
    if (!a->begun && p->event.time >= p->sink->from)
        show_levels(p, a);
    if (p->event.time <= p->sink->to)
        add_to_level(p, a);
    return ROCL_OK;
}

static void end_allocated(pf_part *p, void *state)
{
    allocated *a = state;
    if (!a->begun)
        show_levels(p, a);
}

static void forget_allocated(void *state)
{
    free(((allocated *)state)->meters);
}

const pf_room pf_room_allocated = {sizeof(allocated), begin_allocated, record_allocated,
                                   end_allocated, forget_allocated};

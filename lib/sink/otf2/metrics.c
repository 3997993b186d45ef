/* Values over time, each kind on a location of its own: allocated bytes and copy bandwidth of a
 * process, counters of a GPU, a sampled counter. A value holds until the next one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"
#include "timeline/displayed.h"

typedef struct meter { /* one value over time */
    uint32_t metric;
    bool known;
    uint64_t sum; /* of bytes; absurd sizes make it wrap and come back, not overflow */
} meter;

typedef struct meters {
    ot_part *p;
    uint32_t location; /* in `found` */
    OTF2_EvtWriter *writer;
    meter *all;
} meters;

/* ---- locations ---- */

static const rocl_counter *counter_at(const ot_world *w, uint32_t index)
{
    return index < w->capture->counter_count ? &w->capture->counters[index] : NULL;
}

static uint32_t counter_process(const rocl_counter *k)
{
    return k && k->process != ROCL_NONE ? k->process : 0;
}

uint32_t ot_metric_process(const ot_part *p)
{
    const rocl_track_event *e = &p->event;
    switch (e->sequence) {
    case ROCL_SEQUENCE_PMC:
        return counter_process(counter_at(&p->sink->world, e->counter));
    case ROCL_SEQUENCE_SAMPLED:
        return e->thread;
    default:
        return e->index;
    }
}

/* The group of a GPU in the process that its agent belongs to. */
static uint32_t group_of_agent(ot_world *w, uint32_t agent, uint32_t process)
{
    const rocl_capture *c = w->capture;
    if (agent >= c->agent_count)
        return ot_process_group(w, process);
    if (c->agents[agent].process != ROCL_NONE)
        process = c->agents[agent].process;
    return ot_agent_group(w, process, agent);
}

static const char *bytes_name(rocl_sequence_kind kind)
{
    return kind == ROCL_SEQUENCE_ALLOCATED ? "Allocated memory" : "Copy bandwidth";
}

static const char *counter_name(const ot_world *w, const rocl_counter *k)
{
    return k ? rocl_str(w->trace, k->name) : "unknown counter";
}

uint32_t ot_metric_location(ot_world *w, const ot_found *f)
{
    const rocl_counter *k = counter_at(w, f->index);
    uint32_t group;
    const char *name;
    switch (f->sequence) {
    case ROCL_SEQUENCE_PMC:
        group = group_of_agent(w, f->index, f->process);
        name = "Counters";
        break;
    case ROCL_SEQUENCE_SAMPLED:
        group = group_of_agent(w, k ? k->agent : ROCL_NONE, f->process);
        name = counter_name(w, k);
        break;
    default:
        group = ot_process_group(w, f->process);
        name = bytes_name(f->sequence);
    }
    return ot_location_new(w, group, OTF2_LOCATION_TYPE_METRIC, name);
}

uint32_t ot_metric_group(ot_world *w, const ot_metric *m, const ot_found *recorder)
{
    if (m->process == OT_AS_RECORDER)
        return w->locations[recorder->location].group;
    return ot_agent_group(w, m->process, m->agent);
}

/* ---- values ---- */

static uint32_t at_most(uint32_t index, uint32_t count)
{
    return index < count ? index : count;
}

/* Of the sequence at hand. */
static rocl_status open_location(meters *m, ot_part *p, rocl_error *err)
{
    *m = (meters){.p = p, .location = ot_part_location(p, false)};
    if (m->location == ROCL_NONE)
        return rocl_fail_memory(err);
    m->writer = ot_location_begin(p, m->location);
    return m->writer ? ROCL_OK : ot_archive_status(p->sink->archive, err);
}

static rocl_status open_meters(meters *m, ot_part *p, size_t count, rocl_error *err)
{
    rocl_status st = open_location(m, p, err);
    m->all = calloc(count, sizeof *m->all);
    return st == ROCL_OK && !m->all ? rocl_fail_memory(err) : st;
}

static void close_meters(meters *m)
{
    if (m->writer)
        ot_location_end(m->p, m->location, m->writer);
    free(m->all);
}

static void write_value(meters *m, const meter *of, int64_t time, OTF2_Type type,
                        OTF2_MetricValue v)
{
    OTF2_EvtWriter_Metric(m->writer, NULL, ot_time(m->p, time), of->metric, 1, &type, &v);
    m->p->report.metric_values++;
}

static void write_double(meters *m, const meter *of, int64_t time, double v)
{
    write_value(m, of, time, OTF2_TYPE_DOUBLE, (OTF2_MetricValue){.floating_point = v});
}

/* ---- bytes over time, a running sum per agent ---- */

static void define_sum(meters *m, meter *of, uint32_t agent)
{
    ot_part *p = m->p;
    const ot_world *w = &p->sink->world;
    const ot_found *f = &p->found[m->location];
    bool known = agent < w->capture->agent_count;
    const char *what = bytes_name(f->sequence);
    const char *unit = f->sequence == ROCL_SEQUENCE_ALLOCATED ? "bytes" : "bytes/s";
    char name[192];
    snprintf(name, sizeof name, "%s", what);
    if (!ot_is_gpu(w, agent))
        snprintf(name, sizeof name, "%s of %s", what,
                 known ? rocl_str(w->trace, w->capture->agents[agent].label) : "an unknown agent");
    const ot_member member = {.name = ot_text(p->defs, name),
                              .unit = ot_text(p->defs, unit),
                              .type = OTF2_TYPE_INT64,
                              .mode = OTF2_METRIC_ABSOLUTE_NEXT};
    const ot_metric instance = {
        .recorder = m->location, .process = f->process, .agent = known ? agent : ROCL_NONE};
    of->metric = ot_metric_of(p->defs, &member, &instance);
    of->known = true;
}

static void write_sum(meters *m, uint32_t agent, int64_t time)
{
    meter *of = &m->all[agent];
    if (!of->known)
        define_sum(m, of, agent);
    write_value(m, of, time, OTF2_TYPE_INT64, (OTF2_MetricValue){.signed_int = (int64_t)of->sum});
}

static uint32_t agent_count(const ot_part *p)
{
    return p->sink->world.capture->agent_count;
}

rocl_status ot_write_bandwidth(ot_part *p, rocl_error *err)
{
    uint32_t process = p->event.index;
    meters m;
    rocl_status st = open_meters(&m, p, agent_count(p) + (size_t)1, err);
    while (st == ROCL_OK && ot_same(p, ROCL_SEQUENCE_BANDWIDTH, process)) {
        uint32_t agent = at_most(p->event.agent, agent_count(p));
        m.all[agent].sum += p->event.op ? 0 - p->event.size : p->event.size;
        write_sum(&m, agent, p->event.time);
        st = ot_next(p, err);
    }
    close_meters(&m);
    return st;
}

/* What was allocated before the window is shown at its begin. */
static void write_levels(meters *m)
{
    for (uint32_t i = 0; i <= agent_count(m->p); i++)
        if (m->all[i].sum)
            write_sum(m, i, m->p->sink->from);
}

static void add_to_level(meters *m, bool inside)
{
    const rocl_track_event *e = &m->p->event;
    uint32_t agent = at_most(e->agent, agent_count(m->p));
    m->all[agent].sum += (uint64_t)e->delta;
    if (inside && e->delta)
        write_sum(m, agent, e->time);
}

rocl_status ot_write_allocated(ot_part *p, rocl_error *err)
{
    uint32_t process = p->event.index;
    bool begun = p->event.time >= p->sink->from;
    meters m;
    rocl_status st = open_meters(&m, p, agent_count(p) + (size_t)1, err);
    while (st == ROCL_OK && ot_same(p, ROCL_SEQUENCE_ALLOCATED, process)) {
        if (!begun && p->event.time >= p->sink->from) {
            write_levels(&m);
            begun = true;
        }
        if (p->event.time <= p->sink->to)
            add_to_level(&m, begun);
        st = ot_next(p, err);
    }
    if (!begun && st == ROCL_OK)
        write_levels(&m);
    close_meters(&m);
    return st;
}

/* ---- counters ---- */

static void define_counter(meters *m, meter *of, const rocl_counter *k, OTF2_MetricMode mode,
                           const char *prefix, const char *suffix)
{
    ot_part *p = m->p;
    char name[384];
    snprintf(name, sizeof name, "%s%s%s", prefix, counter_name(&p->sink->world, k), suffix);
    const ot_member member = {.name = ot_text(p->defs, name),
                              .description = k ? k->description : 0,
                              .unit = k && k->units ? k->units : ot_text(p->defs, "#"),
                              .type = OTF2_TYPE_DOUBLE,
                              .mode = mode};
    const ot_metric instance = {.recorder = m->location, .process = OT_AS_RECORDER};
    of->metric = ot_metric_of(p->defs, &member, &instance);
    of->known = true;
}

/* Values whose dispatch has ended go back to 0, in the order of time. */
static void run_out(meters *m, rocl_displayed *shown, int64_t until, uint32_t successor)
{
    uint32_t counter;
    int64_t when;
    while (rocl_displayed_end(shown, until, successor, &counter, &when))
        write_double(m, &m->all[counter], when, 0);
}

static void write_counter(meters *m, rocl_displayed *shown)
{
    const rocl_track_event *e = &m->p->event;
    const ot_world *w = &m->p->sink->world;
    uint32_t counter = at_most(e->counter, w->capture->counter_count);
    meter *of = &m->all[counter];
    if (!of->known)
        define_counter(m, of, counter_at(w, counter), OTF2_METRIC_ABSOLUTE_NEXT, "", "");
    run_out(m, shown, e->time, counter);
    write_double(m, of, e->time, e->value);
    rocl_displayed_set(shown, counter, e->end);
}

rocl_status ot_write_pmc(ot_part *p, rocl_error *err)
{
    uint32_t index = p->event.index, count = p->sink->world.capture->counter_count + 1;
    meters m;
    rocl_displayed shown;
    rocl_status st = open_meters(&m, p, count, err);
    if (!rocl_displayed_open(&shown, count) && st == ROCL_OK)
        st = rocl_fail_memory(err);
    while (st == ROCL_OK && ot_same(p, ROCL_SEQUENCE_PMC, index)) {
        write_counter(&m, &shown);
        st = ot_next(p, err);
    }
    if (st == ROCL_OK)
        run_out(&m, &shown, INT64_MAX, ROCL_NONE);
    rocl_displayed_close(&shown);
    close_meters(&m);
    return st;
}

/* ---- samples ---- */

typedef struct sampled {
    meters m;
    rocl_map index; /* place -> meter */
    uint32_t count;
    size_t cap;
} sampled;

static void place_words(const rocl_track_event *e, char *words, size_t size)
{
    static const char *const places[5] = {"xcc", "se", "instance", "sa", "wgp"};
    size_t n = 0;
    words[0] = '\0';
    for (unsigned i = 0; i < 5; i++)
        if (e->place[i] >= 0 && n < size)
            n += (size_t)snprintf(words + n, size - n, " %s %" PRId64, places[i], e->place[i]);
}

static meter *place_at(sampled *p, uint32_t counter)
{
    const rocl_track_event *e = &p->m.p->event;
    uint64_t key = rocl_mix64(e->address ^ e->thread);
    uint32_t at = rocl_map_get(&p->index, key, ROCL_NONE);
    char words[192];
    if (at != ROCL_NONE)
        return &p->m.all[at];
    if (!ROCL_GROW(p->m.all, p->cap, p->count + (size_t)1) ||
        !rocl_map_put(&p->index, key, p->count))
        return NULL;
    meter *of = &p->m.all[p->count++];
    *of = (meter){0};
    place_words(e, words, sizeof words);
    define_counter(&p->m, of, counter_at(&p->m.p->sink->world, counter), OTF2_METRIC_ABSOLUTE_POINT,
                   e->kind == ROCL_SPM ? "SPM " : "", words);
    return of;
}

static rocl_status write_sample(sampled *p, uint32_t counter, rocl_error *err)
{
    const rocl_track_event *e = &p->m.p->event;
    meter *of = place_at(p, counter);
    if (!of)
        return rocl_fail_memory(err);
    write_double(&p->m, of, e->time, e->value);
    return ROCL_OK;
}

rocl_status ot_write_sampled(ot_part *p, rocl_error *err)
{
    uint32_t index = p->event.index;
    sampled all = {0};
    rocl_status st = open_location(&all.m, p, err);
    while (st == ROCL_OK && ot_same(p, ROCL_SEQUENCE_SAMPLED, index)) {
        st = write_sample(&all, index, err);
        if (st == ROCL_OK)
            st = ot_next(p, err);
    }
    close_meters(&all.m);
    rocl_map_free(&all.index);
    return st;
}

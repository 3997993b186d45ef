/* Values over time, each kind on a location of its own: allocated bytes and copy bandwidth of a
 * process, counters of a GPU, a sampled counter. A value holds until the next one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"
#include "sink/shown.h"

typedef struct meter { /* one value over time */
    uint32_t metric;
    bool known;
    uint64_t sum; /* of bytes; absurd sizes make it wrap and come back, not overflow */
} meter;

typedef struct meters {
    ot_sink *s;
    uint32_t group; /* that the location is in */
    const char *location_name;
    uint32_t location;
    OTF2_EvtWriter *writer; /* opened with the first value */
    meter *all;
} meters;

static uint32_t at_most(uint32_t index, uint32_t count)
{
    return index < count ? index : count;
}

static rocl_status open_meters(meters *m, size_t count, rocl_error *err)
{
    m->all = calloc(count, sizeof *m->all);
    return m->all ? ROCL_OK : rocl_fail_memory(err);
}

static void close_meters(meters *m)
{
    if (m->writer)
        ot_location_end(m->s, m->location, m->writer);
    free(m->all);
}

/* The location is made when it is needed: before the instances that name it. */
static bool open_location(meters *m)
{
    if (!m->writer) {
        m->location =
            ot_location_new(&m->s->world, m->group, OTF2_LOCATION_TYPE_METRIC, m->location_name);
        m->writer = ot_location_begin(m->s, m->location);
    }
    return m->writer;
}

static void write_value(meters *m, const meter *of, int64_t time, OTF2_Type type,
                        OTF2_MetricValue v)
{
    OTF2_EvtWriter_Metric(m->writer, NULL, ot_time(m->s, time), of->metric, 1, &type, &v);
    m->s->report.metric_values++;
}

static void write_double(meters *m, const meter *of, int64_t time, double v)
{
    write_value(m, of, time, OTF2_TYPE_DOUBLE, (OTF2_MetricValue){.floating_point = v});
}

/* ---- bytes over time, a running sum per agent ---- */

static void define_sum(meters *m, meter *of, uint32_t process, uint32_t agent, const char *unit)
{
    ot_sink *s = m->s;
    const rocl_capture *c = s->world.capture;
    uint32_t group = ot_agent_group(&s->world, process, agent < c->agent_count ? agent : ROCL_NONE);
    char name[192];
    snprintf(name, sizeof name, "%s", m->location_name);
    if (ot_is_process(&s->world, group))
        snprintf(name, sizeof name, "%s of %s", m->location_name,
                 agent < c->agent_count ? rocl_str(s->trace, c->agents[agent].label)
                                        : "an unknown agent");
    const ot_member member = {.name = ot_text(&s->defs, name),
                              .unit = ot_text(&s->defs, unit),
                              .type = OTF2_TYPE_INT64,
                              .mode = OTF2_METRIC_ABSOLUTE_NEXT};
    of->metric = ot_metric_of(&s->defs, &member, m->location, group);
    of->known = true;
}

static void write_sum(meters *m, uint32_t process, uint32_t agent, int64_t time, const char *unit)
{
    meter *of = &m->all[agent];
    if (!open_location(m))
        return;
    if (!of->known)
        define_sum(m, of, process, agent, unit);
    write_value(m, of, time, OTF2_TYPE_INT64, (OTF2_MetricValue){.signed_int = (int64_t)of->sum});
}

rocl_status ot_write_bandwidth(ot_sink *s, rocl_error *err)
{
    uint32_t process = s->event.index, agents = s->world.capture->agent_count;
    meters m = {
        .s = s, .group = ot_process_group(&s->world, process), .location_name = "Copy bandwidth"};
    rocl_status st = open_meters(&m, agents + (size_t)1, err);
    while (st == ROCL_OK && ot_same(s, ROCL_ROOM_BANDWIDTH, process)) {
        uint32_t agent = at_most(s->event.agent, agents);
        m.all[agent].sum += s->event.op ? 0 - s->event.size : s->event.size;
        write_sum(&m, process, agent, s->event.time, "bytes/s");
        st = ot_next(s, err);
    }
    close_meters(&m);
    return st;
}

/* What was allocated before the window is shown at its begin. */
static void write_levels(meters *m, uint32_t process)
{
    for (uint32_t i = 0; i <= m->s->world.capture->agent_count; i++)
        if (m->all[i].sum)
            write_sum(m, process, i, m->s->from, "bytes");
}

static rocl_status account(meters *m, uint32_t process, bool inside, rocl_error *err)
{
    const rocl_packed *e = &m->s->event;
    const rocl_capture *c = m->s->world.capture;
    uint32_t agent = at_most(e->agent, c->agent_count);
    m->all[agent].sum += (uint64_t)e->delta;
    if (!inside)
        return ROCL_OK;
    if (e->op)
        return rocl_fault_count(m->s->trace, ROCL_FAULT_UNPAIRED_FREE, err,
                                "%s: memory allocation %" PRIu64, c->path, e->row);
    if (e->delta)
        write_sum(m, process, agent, e->time, "bytes");
    return ROCL_OK;
}

rocl_status ot_write_allocated(ot_sink *s, rocl_error *err)
{
    uint32_t process = s->event.index;
    bool begun = s->event.time >= s->from;
    meters m = {
        .s = s, .group = ot_process_group(&s->world, process), .location_name = "Allocated memory"};
    rocl_status st = open_meters(&m, s->world.capture->agent_count + (size_t)1, err);
    while (st == ROCL_OK && ot_same(s, ROCL_ROOM_ALLOCATED, process)) {
        if (!begun && s->event.time >= s->from) {
            write_levels(&m, process);
            begun = true;
        }
        if (s->event.time <= s->to)
            st = account(&m, process, begun, err);
        if (st == ROCL_OK)
            st = ot_next(s, err);
    }
    if (!begun && st == ROCL_OK)
        write_levels(&m, process);
    close_meters(&m);
    return st;
}

/* ---- counters ---- */

static const rocl_counter *counter_at(const ot_sink *s, uint32_t index)
{
    const rocl_capture *c = s->world.capture;
    return index < c->counter_count ? &c->counters[index] : NULL;
}

static uint32_t counter_process(const rocl_counter *k)
{
    return k && k->process != ROCL_NONE ? k->process : 0;
}

static void define_counter(meters *m, meter *of, const rocl_counter *k, OTF2_MetricMode mode,
                           const char *prefix, const char *suffix)
{
    ot_sink *s = m->s;
    char name[384];
    snprintf(name, sizeof name, "%s%s%s", prefix,
             k ? rocl_str(s->trace, k->name) : "unknown counter", suffix);
    const ot_member member = {.name = ot_text(&s->defs, name),
                              .description = k ? k->description : 0,
                              .unit = k && k->units ? k->units : ot_text(&s->defs, "#"),
                              .type = OTF2_TYPE_DOUBLE,
                              .mode = mode};
    of->metric = ot_metric_of(&s->defs, &member, m->location, m->group);
    of->known = true;
}

/* Values whose dispatch has ended go back to 0, in the order of time. */
static void run_out(meters *m, rocl_shown *shown, int64_t until, uint32_t successor)
{
    uint32_t counter;
    int64_t when;
    while (rocl_shown_end(shown, until, successor, &counter, &when))
        write_double(m, &m->all[counter], when, 0);
}

static void write_counter(meters *m, rocl_shown *shown)
{
    const rocl_packed *e = &m->s->event;
    uint32_t counter = at_most(e->counter, m->s->world.capture->counter_count);
    meter *of = &m->all[counter];
    if (!open_location(m))
        return;
    if (!of->known)
        define_counter(m, of, counter_at(m->s, counter), OTF2_METRIC_ABSOLUTE_NEXT, "", "");
    run_out(m, shown, e->time, counter);
    write_double(m, of, e->time, e->value);
    rocl_shown_set(shown, counter, e->end);
}

/* The group of a GPU in the process that its agent belongs to. */
static uint32_t group_of_agent(ot_sink *s, uint32_t agent, uint32_t process)
{
    const rocl_capture *c = s->world.capture;
    if (agent >= c->agent_count)
        return ot_process_group(&s->world, process);
    if (c->agents[agent].process != ROCL_NONE)
        process = c->agents[agent].process;
    return ot_agent_group(&s->world, process, agent);
}

rocl_status ot_write_pmc(ot_sink *s, rocl_error *err)
{
    uint32_t index = s->event.index, count = s->world.capture->counter_count + 1;
    meters m = {.s = s,
                .group = group_of_agent(s, index, counter_process(counter_at(s, s->event.counter))),
                .location_name = "Counters"};
    rocl_shown shown;
    rocl_status st = open_meters(&m, count, err);
    if (!rocl_shown_open(&shown, count) && st == ROCL_OK)
        st = rocl_fail_memory(err);
    while (st == ROCL_OK && ot_same(s, ROCL_ROOM_PMC, index)) {
        write_counter(&m, &shown);
        st = ot_next(s, err);
    }
    if (st == ROCL_OK && m.writer)
        run_out(&m, &shown, INT64_MAX, ROCL_NONE);
    rocl_shown_close(&shown);
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

static void place_words(const rocl_packed *e, char *words, size_t size)
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
    const rocl_packed *e = &p->m.s->event;
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
    define_counter(&p->m, of, counter_at(p->m.s, counter), OTF2_METRIC_ABSOLUTE_POINT,
                   e->kind == ROCL_SPM ? "SPM " : "", words);
    return of;
}

static rocl_status write_sample(sampled *p, uint32_t counter, rocl_error *err)
{
    const rocl_packed *e = &p->m.s->event;
    if (!open_location(&p->m))
        return ot_archive_status(p->m.s->archive, err);
    meter *of = place_at(p, counter);
    if (!of)
        return rocl_fail_memory(err);
    write_double(&p->m, of, e->time, e->value);
    return ROCL_OK;
}

rocl_status ot_write_sampled(ot_sink *s, rocl_error *err)
{
    uint32_t index = s->event.index;
    const rocl_counter *k = counter_at(s, index);
    sampled p = {.m = {.s = s,
                       .group = group_of_agent(s, k ? k->agent : ROCL_NONE, s->event.thread),
                       .location_name = k ? rocl_str(s->trace, k->name) : "unknown counter"}};
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && ot_same(s, ROCL_ROOM_SAMPLED, index)) {
        st = write_sample(&p, index, err);
        if (st == ROCL_OK)
            st = ot_next(s, err);
    }
    close_meters(&p.m);
    rocl_map_free(&p.index);
    return st;
}

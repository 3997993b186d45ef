/* Values over time, each kind on a location of its own: allocated bytes and copy bandwidth of a
 * process, counters of a GPU, a sampled counter. A value holds until the next one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/otf2.h"
#include "timeline/displayed.h"

typedef struct meter { /* one value over time */
    OTF2_MetricRef metric;
    bool defined;
    uint64_t sum; /* of bytes; absurd sizes make it wrap and come back, not overflow */
} meter;

/* The meters of a sequence: by agent (the last: unknown), by counter (the last: unknown), or of
 * samples in the order in which their positions on the GPU appear. */
typedef struct meters {
    ot_part *p;
    rocl_sequence_kind sequence;
    uint32_t index;
    uint32_t track;
    OTF2_EvtWriter *writer;
    meter *all;
    size_t capacity;
    rocl_map positions; /* of samples: hash of position and process -> meter */
    uint32_t position_count;
    rocl_displayed displayed; /* of counters: values that hold while their dispatch runs */
} meters;

/* ---- locations ------------------------------------------------------------------------------- */

static const rocl_counter *counter_at(const rocl_capture *c, uint32_t index)
{
    return index < c->counter_count ? &c->counters[index] : NULL;
}

static const char *counter_name(const ot_system *y, const rocl_counter *k)
{
    return k ? rocl_str(y->trace, k->name) : "unknown counter";
}

static const char *bytes_name(rocl_sequence_kind sequence)
{
    return sequence == ROCL_SEQUENCE_ALLOCATED ? "Allocated memory" : "Copy bandwidth";
}

/* The group of a GPU in the process that its agent belongs to. */
static uint32_t find_agent_group(ot_system *y, uint32_t agent, uint32_t process)
{
    const rocl_capture *c = y->capture;
    if (agent >= c->agent_count)
        return ot_process_group(y, process);
    if (c->agents[agent].process != ROCL_NONE)
        process = c->agents[agent].process;
    return ot_agent_group(y, process, agent);
}

uint32_t ot_metric_location(ot_system *y, const ot_track *t)
{
    const rocl_counter *k = counter_at(y->capture, t->index);
    uint32_t group;
    const char *name;
    switch (t->sequence) {
    case ROCL_SEQUENCE_PMC:
        group = find_agent_group(y, t->index, t->process);
        name = "Counters";
        break;
    case ROCL_SEQUENCE_SAMPLED:
        group = find_agent_group(y, k ? k->agent : ROCL_NONE, t->process);
        name = counter_name(y, k);
        break;
    default:
        group = ot_process_group(y, t->process);
        name = bytes_name(t->sequence);
    }
    return ot_location_new(y, group, OTF2_LOCATION_TYPE_METRIC, name);
}

/* The process that the current record is of. */
static uint32_t metric_process(const ot_part *p)
{
    const rocl_track_event *e = &p->event;
    const rocl_counter *k = counter_at(p->sink->system.capture, e->counter);
    switch (e->sequence) {
    case ROCL_SEQUENCE_PMC:
        return k && k->process != ROCL_NONE ? k->process : 0;
    case ROCL_SEQUENCE_SAMPLED:
        return e->thread;
    default:
        return e->index;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void write_value(meters *m, const meter *of, int64_t time, OTF2_Type type,
                        OTF2_MetricValue v)
{
    OTF2_EvtWriter_Metric(m->writer, NULL, ot_time(m->p, time), of->metric, 1, &type, &v);
    m->p->report.values++;
}

static void write_double(meters *m, const meter *of, int64_t time, double v)
{
    write_value(m, of, time, OTF2_TYPE_DOUBLE, (OTF2_MetricValue){.floating_point = v});
}

static uint32_t at_most(uint32_t index, uint32_t count)
{
    return index < count ? index : count;
}

/* Writes the sum of an agent, "Allocated memory"; "Allocated memory of Agent 0" if it is no GPU. */
static void write_sum(meters *m, uint32_t agent, int64_t time)
{
    ot_part *p = m->p;
    const ot_system *y = &p->sink->system;
    meter *of = &m->all[agent];
    if (!of->defined) {
        bool known = agent < y->capture->agent_count;
        char name[192];
        snprintf(name, sizeof name, "%s", bytes_name(m->sequence));
        if (!ot_is_gpu(y, agent))
            snprintf(name, sizeof name, "%s of %s", bytes_name(m->sequence),
                     known ? rocl_str(y->trace, y->capture->agents[agent].label)
                           : "an unknown agent");
        const char *unit = m->sequence == ROCL_SEQUENCE_ALLOCATED ? "bytes" : "bytes/s";
        const ot_member member = {.name = ot_text(p->defs, name),
                                  .unit = ot_text(p->defs, unit),
                                  .type = OTF2_TYPE_INT64,
                                  .mode = OTF2_METRIC_ABSOLUTE_NEXT};
        const ot_metric instance = {.recorder = m->track,
                                    .process = p->tracks[m->track].process,
                                    .agent = known ? agent : ROCL_NONE};
        of->metric = ot_metric_new(p->defs, &member, &instance);
        of->defined = true;
    }
    write_value(m, of, time, OTF2_TYPE_INT64, (OTF2_MetricValue){.signed_int = (int64_t)of->sum});
}

/* Allocations before the time window show as levels at its begin. */
static void write_levels(meters *m)
{
    for (uint32_t i = 0; i <= m->p->sink->system.capture->agent_count; i++)
        if (m->all[i].sum)
            write_sum(m, i, m->p->sink->from);
}

static void define_counter(meters *m, meter *of, uint32_t counter, OTF2_MetricMode mode,
                           const char *prefix, const char *suffix)
{
    ot_part *p = m->p;
    const ot_system *y = &p->sink->system;
    const rocl_counter *k = counter_at(y->capture, counter);
    char name[384];
    snprintf(name, sizeof name, "%s%s%s", prefix, counter_name(y, k), suffix);
    const ot_member member = {.name = ot_text(p->defs, name),
                              .description = k ? k->description : 0,
                              .unit = k && k->units ? k->units : ot_text(p->defs, "#"),
                              .type = OTF2_TYPE_DOUBLE,
                              .mode = mode};
    const ot_metric instance = {.recorder = m->track, .process = OT_AS_RECORDER};
    of->metric = ot_metric_new(p->defs, &member, &instance);
    of->defined = true;
}

/* Values whose dispatch has ended go back to 0, in the order of time. */
static void end_counters(meters *m, int64_t until, uint32_t successor)
{
    uint32_t counter;
    int64_t when;
    while (rocl_displayed_end(&m->displayed, until, successor, &counter, &when))
        write_double(m, &m->all[counter], when, 0);
}

static void write_counter(meters *m)
{
    const rocl_track_event *e = &m->p->event;
    uint32_t counter = at_most(e->counter, m->p->sink->system.capture->counter_count);
    meter *of = &m->all[counter];
    if (!of->defined)
        define_counter(m, of, counter, OTF2_METRIC_ABSOLUTE_NEXT, "", "");
    end_counters(m, e->time, counter);
    write_double(m, of, e->time, e->value);
    rocl_displayed_set(&m->displayed, counter, e->end);
}

/* A sampled counter has a value for each position on the GPU: "SQ_WAVES xcc 0 se 1". */
static rocl_status write_sample(meters *m, rocl_error *err)
{
    static const char *const dimensions[5] = {"xcc", "se", "instance", "sa", "wgp"};
    const rocl_track_event *e = &m->p->event;
    uint64_t key = rocl_mix64(e->address ^ e->thread);
    uint32_t at = rocl_map_get(&m->positions, key, ROCL_NONE);
    if (at == ROCL_NONE) {
        char words[192] = "";
        size_t n = 0;
        at = m->position_count;
        if (!ROCL_GROW(m->all, m->capacity, at + (size_t)1) ||
            !rocl_map_put(&m->positions, key, at))
            return rocl_fail_memory(err);
        for (unsigned i = 0; i < 5; i++)
            if (e->place[i] >= 0 && n < sizeof words)
                n += (size_t)snprintf(words + n, sizeof words - n, " %s %" PRId64, dimensions[i],
                                      e->place[i]);
        define_counter(m, &m->all[at], m->index, OTF2_METRIC_ABSOLUTE_POINT,
                       e->kind == ROCL_SPM ? "SPM " : "", words);
        m->position_count++;
    }
    write_double(m, &m->all[at], e->time, e->value);
    return ROCL_OK;
}

/* ---- a sequence ------------------------------------------------------------------------------ */

static rocl_status open_meters(meters *m, rocl_error *err)
{
    const rocl_capture *c = m->p->sink->system.capture;
    m->track = ot_sequence_track(m->p, metric_process(m->p));
    if (m->track == ROCL_NONE)
        return rocl_fail_memory(err);
    m->writer = ot_track_begin(m->p, m->track);
    if (!m->writer)
        return ot_archive_status(m->p->sink->archive, err);
    if (m->sequence == ROCL_SEQUENCE_SAMPLED)
        return ROCL_OK;
    size_t count = m->sequence == ROCL_SEQUENCE_PMC ? c->counter_count : c->agent_count;
    bool good = ROCL_GROW(m->all, m->capacity, count + 1);
    if (m->sequence == ROCL_SEQUENCE_PMC)
        good &= rocl_displayed_open(&m->displayed, c->counter_count + 1);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status ot_write_metrics(ot_part *p, rocl_error *err)
{
    const ot_sink *s = p->sink;
    const rocl_track_event *e = &p->event;
    uint32_t agents = s->system.capture->agent_count, agent;
    meters m = {.p = p, .sequence = e->sequence, .index = e->index};
    bool in_window = e->time >= s->from;
    rocl_status st = open_meters(&m, err);
    while (st == ROCL_OK && ot_same(p, m.sequence, m.index)) {
        switch (m.sequence) {
        case ROCL_SEQUENCE_BANDWIDTH:
            agent = at_most(e->agent, agents);
            m.all[agent].sum += e->op ? 0 - e->size : e->size;
            write_sum(&m, agent, e->time);
            break;
        case ROCL_SEQUENCE_ALLOCATED:
            if (!in_window && e->time >= s->from) {
                write_levels(&m);
                in_window = true;
            }
            if (e->time > s->to)
                break;
            agent = at_most(e->agent, agents);
            m.all[agent].sum += (uint64_t)e->delta;
            if (in_window && e->delta)
                write_sum(&m, agent, e->time);
            break;
        case ROCL_SEQUENCE_PMC:
            write_counter(&m);
            break;
        default:
            st = write_sample(&m, err);
        }
        if (st == ROCL_OK)
            st = ot_next(p, err);
    }
    if (st == ROCL_OK && m.sequence == ROCL_SEQUENCE_ALLOCATED && !in_window)
        write_levels(&m);
    if (st == ROCL_OK && m.sequence == ROCL_SEQUENCE_PMC)
        end_counters(&m, INT64_MAX, ROCL_NONE);
    if (m.writer)
        ot_track_end(p, m.track, m.writer);
    rocl_displayed_close(&m.displayed);
    rocl_map_free(&m.positions);
    free(m.all);
    return st;
}

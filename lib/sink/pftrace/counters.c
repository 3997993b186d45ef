/* Counter tracks: values of dispatches over their own time, samples, bytes over time. */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"
#include "sink/shown.h"

static void open_sequence(pf_sink *p, pf_seq *q, uint64_t track)
{
    q->id = p->world.next_seq++;
    pf_seq_begin(q, p->stream, pf_machine(&p->world), p->event.time, track);
}

static bool is_integer(double v)
{
    return v >= -9007199254740992.0 && v <= 9007199254740992.0 && trunc(v) == v;
}

static void write_value(pf_sink *p, pf_seq *q, int64_t time, uint64_t track, double v)
{
    rocl_buf *b = pf_event_begin(q, time);
    rocl_pb_uint(b, EV_TYPE, TYPE_COUNTER);
    rocl_pb_uint(b, EV_TRACK, track);
    if (is_integer(v))
        rocl_pb_int(b, EV_COUNTER_VALUE, (int64_t)v);
    else
        rocl_pb_double(b, EV_DOUBLE_VALUE, v);
    pf_event_end(q, PKT_TRACK_EVENT);
    p->report.counter_values++;
}

/* "Agent [2]", as AMD's tracks are called. */
static void agent_words(const pf_sink *p, uint32_t agent, bool type, char *s, size_t size)
{
    const rocl_capture *c = p->world.capture;
    if (agent >= c->agent_count) {
        snprintf(s, size, "unknown agent");
        return;
    }
    const rocl_agent *a = &c->agents[agent];
    const char *label = rocl_str(p->trace, a->label), *space = strrchr(label, ' ');
    if (p->opt.legacy_tracks && space && type)
        snprintf(s, size, "%.*s [%s] (%s)", (int)(space - label), label, space + 1,
                 rocl_str(p->trace, a->type_name));
    else if (p->opt.legacy_tracks && space)
        snprintf(s, size, "%.*s [%s]", (int)(space - label), label, space + 1);
    else if (p->world.agent_gpus[agent] != ROCL_NONE)
        snprintf(s, size, "GPU %u", p->world.agent_gpus[agent]);
    else
        snprintf(s, size, "%s", label);
}

/* ---- bytes over time, a running sum per agent ---- */

typedef struct meter {
    uint64_t track;
    uint64_t sum; /* absurd sizes make it wrap and come back, not overflow */
} meter;

static meter *meter_of(pf_sink *p, meter *all, uint32_t process, uint32_t agent, const char *what)
{
    uint32_t n = agent < p->world.capture->agent_count ? agent : p->world.capture->agent_count;
    if (!all[n].track) {
        char words[96], name[192];
        agent_words(p, agent, true, words, sizeof words);
        if (p->opt.legacy_tracks)
            snprintf(name, sizeof name, "%s %s", what, words);
        else
            snprintf(name, sizeof name, "%s %s", words, what);
        bool rate = !p->opt.legacy_tracks && what[0] == 'c';
        all[n].track = pf_new_counter(&p->world, pf_process_track(&p->world, process), name,
                                      rate ? 0 : UNIT_BYTES, rate ? "bytes/s" : NULL);
    }
    return &all[n];
}

static meter *new_meters(const pf_sink *p)
{
    return calloc(p->world.capture->agent_count + 1, sizeof(meter));
}

rocl_status pf_write_bandwidth(pf_sink *p, rocl_error *err)
{
    const char *what = p->opt.legacy_tracks ? "COPY BYTES to" : "copy bandwidth";
    uint32_t index = p->event.index;
    rocl_status st = ROCL_OK;
    meter *meters = new_meters(p);
    pf_seq q = {0};
    if (!meters)
        return rocl_fail_memory(err);
    open_sequence(p, &q, 0);
    while (st == ROCL_OK && pf_same(p, ROCL_ROOM_BANDWIDTH, index)) {
        const rocl_packed *e = &p->event;
        meter *m = meter_of(p, meters, index, e->agent, what);
        m->sum += e->op ? 0 - e->size : e->size;
        write_value(p, &q, e->time, m->track, (double)(int64_t)m->sum);
        st = pf_next(p, err);
    }
    pf_seq_end(&q);
    free(meters);
    return st;
}

static void show_level(pf_sink *p, pf_seq *q, meter *meters, uint32_t process, uint32_t agent,
                       int64_t time)
{
    const char *what = p->opt.legacy_tracks ? "ALLOCATE BYTES on" : "allocated";
    meter *m = meter_of(p, meters, process, agent, what);
    write_value(p, q, time, m->track, (double)(int64_t)m->sum);
}

/* What was allocated before the window is shown at its begin. */
static void show_levels(pf_sink *p, pf_seq *q, meter *meters, uint32_t process)
{
    for (uint32_t i = 0; i <= p->world.capture->agent_count; i++)
        if (meters[i].sum)
            show_level(p, q, meters, process, i, p->from);
}

static rocl_status account(pf_sink *p, pf_seq *q, meter *meters, bool inside, rocl_error *err)
{
    const rocl_capture *c = p->world.capture;
    const rocl_packed *e = &p->event;
    uint32_t agent = e->agent < c->agent_count ? e->agent : c->agent_count;
    meters[agent].sum += (uint64_t)e->delta;
    if (!inside)
        return ROCL_OK;
    if (e->op)
        return rocl_fault_count(p->trace, ROCL_FAULT_UNPAIRED_FREE, err,
                                "%s: memory allocation %" PRIu64, c->path, e->row);
    if (e->delta)
        show_level(p, q, meters, e->index, agent, e->time);
    return ROCL_OK;
}

rocl_status pf_write_allocated(pf_sink *p, rocl_error *err)
{
    uint32_t index = p->event.index;
    rocl_status st = ROCL_OK;
    meter *meters = new_meters(p);
    bool begun = p->event.time >= p->from;
    pf_seq q = {0};
    if (!meters)
        return rocl_fail_memory(err);
    q.id = p->world.next_seq++;
    pf_seq_begin(&q, p->stream, pf_machine(&p->world), begun ? p->event.time : p->from, 0);
    while (st == ROCL_OK && pf_same(p, ROCL_ROOM_ALLOCATED, index)) {
        if (!begun && p->event.time >= p->from) {
            show_levels(p, &q, meters, index);
            begun = true;
        }
        if (p->event.time <= p->to)
            st = account(p, &q, meters, begun, err);
        if (st == ROCL_OK)
            st = pf_next(p, err);
    }
    if (!begun)
        show_levels(p, &q, meters, index);
    pf_seq_end(&q);
    free(meters);
    return st;
}

/* ---- counters of dispatches ---- */

typedef struct pmc {
    pf_sink *p;
    pf_seq seq;
    uint32_t agent, gpu;
    bool typed;       /* GPU counters; else counter tracks */
    uint64_t *tracks; /* by counter */
    rocl_shown shown;
} pmc;

static void put_value(rocl_buf *b, uint32_t counter, double v)
{
    size_t at = rocl_pb_begin(b, GPU_COUNTER_VALUES);
    rocl_pb_uint(b, VALUE_ID, counter + 1);
    if (is_integer(v))
        rocl_pb_int(b, VALUE_INT, (int64_t)v);
    else
        rocl_pb_double(b, VALUE_DOUBLE, v);
    rocl_pb_end(b, at);
}

/* A GPU counter is one that was declared for this GPU. */
static bool is_typed(const pmc *m, uint32_t counter)
{
    const rocl_capture *c = m->p->world.capture;
    return m->typed && counter < c->counter_count && c->counters[counter].agent == m->agent;
}

static void set_value(pmc *m, int64_t time, uint32_t counter, double v)
{
    m->p->report.counter_values++;
    if (!is_typed(m, counter)) {
        write_value(m->p, &m->seq, time, m->tracks[counter], v);
        return;
    }
    rocl_buf *b = pf_event_begin(&m->seq, time);
    rocl_pb_uint(b, GPU_COUNTER_IID, 1);
    put_value(b, counter, v);
    rocl_pb_uint(b, GPU_COUNTER_GPU, m->gpu);
    pf_event_end(&m->seq, PKT_GPU_COUNTER);
}

/* Values whose dispatch has ended go back to 0, in the order of time. */
static void run_out(pmc *m, int64_t until, uint32_t successor)
{
    uint32_t counter;
    int64_t when;
    while (rocl_shown_end(&m->shown, until, successor, &counter, &when))
        set_value(m, when, counter, 0);
}

static uint32_t counter_index(const pf_sink *p)
{
    uint32_t n = p->world.capture->counter_count;
    return p->event.counter < n ? p->event.counter : n;
}

static void name_track(pmc *m, uint32_t counter)
{
    const rocl_capture *c = m->p->world.capture;
    char words[96], name[256];
    const rocl_counter *k = counter < c->counter_count ? &c->counters[counter] : NULL;
    agent_words(m->p, m->agent, false, words, sizeof words);
    snprintf(name, sizeof name, "%s PMC %s", words, k ? rocl_str(m->p->trace, k->name) : "unknown");
    uint32_t process = k && k->process != ROCL_NONE ? k->process : 0;
    m->tracks[counter] = pf_new_counter(&m->p->world, pf_process_track(&m->p->world, process), name,
                                        0, k ? rocl_str(m->p->trace, k->units) : NULL);
}

/* The units of GPU counters are an enum; what it lacks goes to the description. */
static unsigned unit_of(const char *units)
{
    static const struct {
        const char *text;
        unsigned unit;
    } known[] = {{"bytes", 7}, {"B", 7},        {"KB", 8},          {"MB", 9},
                 {"GB", 10},   {"Hz", 13},      {"MHz", 15},        {"ns", 19},
                 {"nsec", 19}, {"us", 20},      {"ms", 21},         {"s", 22},
                 {"sec", 22},  {"mW", 28},      {"W", 29},          {"watts", 29},
                 {"J", 31},    {"V", 32},       {"C", 34},          {"celsius", 34},
                 {"%", 37},    {"percent", 37}, {"percentage", 37}, {"instructions", 40}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(units, known[i].text))
            return known[i].unit;
    return 0;
}

static void declare_counter(const rocl_trace *t, rocl_buf *b, uint32_t id, const rocl_counter *c)
{
    const char *units = rocl_str(t, c->units), *text = rocl_str(t, c->description);
    unsigned unit = unit_of(units);
    size_t at = rocl_pb_begin(b, COUNTER_SPECS);
    rocl_pb_uint(b, CSPEC_ID, id);
    pf_text(b, CSPEC_NAME, t, c->name);
    size_t description = rocl_pb_begin(b, CSPEC_DESCRIPTION);
    rocl_utf8_put(b, text, strlen(text));
    if (*units && !unit) {
        rocl_buf_str(b, *text ? " [" : "[");
        rocl_utf8_put(b, units, strlen(units));
        rocl_buf_byte(b, ']');
    }
    rocl_pb_end(b, description);
    if (unit)
        rocl_pb_uint(b, CSPEC_UNIT, unit);
    rocl_pb_uint(b, CSPEC_GROUP, GROUP_COMPUTE);
    rocl_pb_uint(b, CSPEC_DIRECTION, DIRECTION_FORWARDS);
    rocl_pb_end(b, at);
}

static void declare_counters(pmc *m)
{
    const rocl_capture *c = m->p->world.capture;
    rocl_buf *b = &m->seq.pending;
    size_t all = rocl_pb_begin(b, INTERNED_COUNTERS);
    rocl_pb_uint(b, IID, 1);
    size_t body = rocl_pb_begin(b, INTERNED_COUNTER_BODY);
    for (uint32_t i = 0; i < c->counter_count; i++) {
        if (c->counters[i].agent != m->agent)
            continue;
        declare_counter(m->p->trace, b, i + 1, &c->counters[i]);
    }
    rocl_pb_end(b, body);
    rocl_pb_int(b, INTERNED_COUNTER_GPU, m->gpu);
    rocl_pb_end(b, all);
}

static rocl_status open_pmc(pmc *m, pf_sink *p, rocl_error *err)
{
    const rocl_capture *c = p->world.capture;
    m->p = p;
    m->agent = p->event.index;
    m->gpu = m->agent < c->agent_count ? p->world.agent_gpus[m->agent] : ROCL_NONE;
    m->typed = !p->opt.legacy_tracks && m->gpu != ROCL_NONE;
    m->tracks = calloc(c->counter_count + 1, sizeof *m->tracks);
    if (!rocl_shown_open(&m->shown, c->counter_count + 1) || !m->tracks)
        return rocl_fail_memory(err);
    open_sequence(p, &m->seq, 0);
    if (m->typed)
        declare_counters(m);
    return ROCL_OK;
}

rocl_status pf_write_pmc(pf_sink *p, rocl_error *err)
{
    pmc m = {0};
    rocl_status st = open_pmc(&m, p, err);
    uint32_t index = p->event.index;
    while (st == ROCL_OK && pf_same(p, ROCL_ROOM_PMC, index)) {
        uint32_t counter = p->event.counter = counter_index(p);
        if (!is_typed(&m, counter) && !m.tracks[counter])
            name_track(&m, counter);
        run_out(&m, p->event.time, counter);
        set_value(&m, p->event.time, counter, p->event.value);
        rocl_shown_set(&m.shown, counter, p->event.end);
        st = pf_next(p, err);
    }
    if (st == ROCL_OK)
        run_out(&m, INT64_MAX, ROCL_NONE);
    pf_seq_end(&m.seq);
    free(m.tracks);
    rocl_shown_close(&m.shown);
    return st;
}

/* ---- samples ---- */

static void sampled_name(const pf_sink *p, char *name, size_t size)
{
    static const char *const places[5] = {"xcc", "se", "instance", "sa", "wgp"};
    const rocl_capture *c = p->world.capture;
    const rocl_packed *e = &p->event;
    const rocl_counter *k = e->index < c->counter_count ? &c->counters[e->index] : NULL;
    char words[96] = "";
    if (k && k->agent != ROCL_NONE)
        agent_words(p, k->agent, false, words, sizeof words);
    int n = snprintf(name, size, "%s%s%s%s", e->kind == ROCL_SPM ? "SPM " : "", words,
                     words[0] ? " " : "", k ? rocl_str(p->trace, k->name) : "unknown counter");
    for (unsigned i = 0; i < 5 && n > 0 && (size_t)n < size; i++)
        if (e->place[i] >= 0)
            n += snprintf(name + n, size - (size_t)n, " %s %" PRId64, places[i], e->place[i]);
}

rocl_status pf_write_sampled(pf_sink *p, rocl_error *err)
{
    const rocl_capture *c = p->world.capture;
    uint32_t index = p->event.index;
    rocl_map tracks = {0}; /* place -> track; tracks are small numbers */
    rocl_status st = ROCL_OK;
    pf_seq q = {0};
    open_sequence(p, &q, 0);
    while (st == ROCL_OK && pf_same(p, ROCL_ROOM_SAMPLED, index)) {
        uint64_t key = rocl_mix64(p->event.address ^ p->event.thread);
        uint32_t track = rocl_map_get(&tracks, key, 0);
        if (!track) {
            char name[256];
            const char *unit =
                index < c->counter_count ? rocl_str(p->trace, c->counters[index].units) : NULL;
            sampled_name(p, name, sizeof name);
            track = (uint32_t)pf_new_counter(
                &p->world, pf_process_track(&p->world, p->event.thread), name, 0, unit);
            if (!rocl_map_put(&tracks, key, track))
                st = rocl_fail_memory(err);
        }
        write_value(p, &q, p->event.time, track, p->event.value);
        if (st == ROCL_OK)
            st = pf_next(p, err);
    }
    rocl_map_free(&tracks);
    pf_seq_end(&q);
    return st;
}

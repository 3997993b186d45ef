/* Values of counters: of dispatches over their own time, and samples. */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"
#include "timeline/displayed.h"

bool pf_is_integer(double v)
{
    return v >= -9007199254740992.0 && v <= 9007199254740992.0 && trunc(v) == v;
}

static uint8_t *put_number(uint8_t *p, uint32_t integer, uint32_t real, double v)
{
    uint64_t bits;
    if (pf_is_integer(v))
        return rocl_pb_put_uint(p, integer, (uint64_t)(int64_t)v);
    memcpy(&bits, &v, sizeof bits);
    return rocl_pb_put_fixed64(p, real, bits);
}

void pf_put_counter(pf_part *p, int64_t time, uint64_t track, double v)
{
    rocl_buf *b = pf_event_begin(&p->seq, PKT_TRACK_EVENT, time);
    if (b->failed)
        return;
    uint8_t *at = rocl_pb_put_uint(b->data + b->len, EV_TYPE, TYPE_COUNTER);
    at = rocl_pb_put_uint(at, EV_TRACK, track);
    at = put_number(at, EV_COUNTER_VALUE, EV_DOUBLE_VALUE, v);
    b->len = (size_t)(at - b->data);
    pf_event_end(&p->seq);
    p->report.values++;
}

void pf_agent_words(const pf_sink *p, uint32_t agent, bool type, char *s, size_t size)
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

/* ---- counters of dispatches ---- */

typedef struct pmc {
    pf_part *part;
    const pf_sink *p;
    uint32_t agent, gpu;
    bool typed;       /* GPU counters; else counter tracks */
    uint64_t *tracks; /* by counter */
    rocl_displayed shown;
} pmc;

/* A GPU counter is one that was declared for this GPU. */
static bool is_typed(const pmc *m, uint32_t counter)
{
    const rocl_capture *c = m->p->world.capture;
    return m->typed && counter < c->counter_count && c->counters[counter].agent == m->agent;
}

static void set_value(pmc *m, int64_t time, uint32_t counter, double v)
{
    if (!is_typed(m, counter)) {
        pf_put_counter(m->part, time, m->tracks[counter], v);
        return;
    }
    m->part->report.values++;
    rocl_buf *b = pf_event_begin(&m->part->seq, PKT_GPU_COUNTER, time);
    if (b->failed)
        return;
    uint8_t *p = rocl_pb_put_uint(b->data + b->len, GPU_COUNTER_IID, 1);
    uint8_t *value = p = rocl_pb_open(p, GPU_COUNTER_VALUES);
    p = rocl_pb_put_uint(p, VALUE_ID, counter + 1);
    p = put_number(p, VALUE_INT, VALUE_DOUBLE, v);
    p = rocl_pb_close(value, p);
    p = rocl_pb_put_uint(p, GPU_COUNTER_GPU, m->gpu);
    b->len = (size_t)(p - b->data);
    pf_event_end(&m->part->seq);
}

/* Values whose dispatch has ended go back to 0, in the order of time. */
static void run_out(pmc *m, int64_t until, uint32_t successor)
{
    uint32_t counter;
    int64_t when;
    while (rocl_displayed_end(&m->shown, until, successor, &counter, &when))
        set_value(m, when, counter, 0);
}

static void name_track(pmc *m, uint32_t counter)
{
    const rocl_capture *c = m->p->world.capture;
    char words[96], name[256];
    const rocl_counter *k = counter < c->counter_count ? &c->counters[counter] : NULL;
    pf_agent_words(m->p, m->agent, false, words, sizeof words);
    snprintf(name, sizeof name, "%s PMC %s", words, k ? rocl_str(m->p->trace, k->name) : "unknown");
    uint32_t process = k && k->process != ROCL_NONE ? k->process : 0;
    m->tracks[counter] = pf_new_counter(m->part, pf_process_track(&m->p->world, process), name, 0,
                                        k ? rocl_str(m->p->trace, k->units) : NULL);
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
    rocl_buf *b = &m->part->seq.pending;
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

static rocl_status begin_pmc(pf_part *p, void *state, rocl_error *err)
{
    pmc *m = state;
    const rocl_capture *c = p->sink->world.capture;
    m->part = p;
    m->p = p->sink;
    m->agent = p->event.index;
    m->gpu = m->agent < c->agent_count ? p->sink->world.agent_gpus[m->agent] : ROCL_NONE;
    m->typed = !p->sink->opt.legacy_tracks && m->gpu != ROCL_NONE;
    m->tracks = calloc(c->counter_count + 1, sizeof *m->tracks);
    if (!rocl_displayed_open(&m->shown, c->counter_count + 1) || !m->tracks)
        return rocl_fail_memory(err);
    pf_part_begin(p, p->event.time, 0);
    if (m->typed)
        declare_counters(m);
    return ROCL_OK;
}

static rocl_status record_pmc(pf_part *p, void *state, rocl_error *err)
{
    pmc *m = state;
    const rocl_track_event *e = &p->event;
    uint32_t n = p->sink->world.capture->counter_count;
    uint32_t counter = e->counter < n ? e->counter : n;
    (void)err;
    if (!is_typed(m, counter) && !m->tracks[counter])
        name_track(m, counter);
    run_out(m, e->time, counter);
    set_value(m, e->time, counter, e->value);
    rocl_displayed_set(&m->shown, counter, e->end);
    return ROCL_OK;
}

static void end_pmc(pf_part *p, void *state)
{
    (void)p;
    run_out(state, INT64_MAX, ROCL_NONE);
}

static void forget_pmc(void *state)
{
    pmc *m = state;
    free(m->tracks);
    rocl_displayed_close(&m->shown);
}

const pf_room pf_room_pmc = {sizeof(pmc), begin_pmc, record_pmc, end_pmc, forget_pmc};

/* ---- samples ---- */

static void sampled_name(const pf_sink *p, const rocl_track_event *e, char *name, size_t size)
{
    static const char *const places[5] = {"xcc", "se", "instance", "sa", "wgp"};
    const rocl_capture *c = p->world.capture;
    const rocl_counter *k = e->index < c->counter_count ? &c->counters[e->index] : NULL;
    char words[96] = "";
    if (k && k->agent != ROCL_NONE)
        pf_agent_words(p, k->agent, false, words, sizeof words);
    int n = snprintf(name, size, "%s%s%s%s", e->kind == ROCL_SPM ? "SPM " : "", words,
                     words[0] ? " " : "", k ? rocl_str(p->trace, k->name) : "unknown counter");
    for (unsigned i = 0; i < 5 && n > 0 && (size_t)n < size; i++)
        if (e->place[i] >= 0)
            n += snprintf(name + n, size - (size_t)n, " %s %" PRId64, places[i], e->place[i]);
}

typedef struct sampled {
    rocl_map tracks; /* place -> track; tracks are small numbers */
} sampled;

static uint32_t new_sampled(pf_part *p)
{
    const pf_world *w = &p->sink->world;
    const rocl_capture *c = w->capture;
    uint32_t index = p->event.index;
    const char *unit =
        index < c->counter_count ? rocl_str(p->sink->trace, c->counters[index].units) : NULL;
    char name[256];
    sampled_name(p->sink, &p->event, name, sizeof name);
    return (uint32_t)pf_new_counter(p, pf_process_track(w, p->event.thread), name, 0, unit);
}

static rocl_status begin_sampled(pf_part *p, void *state, rocl_error *err)
{
    (void)state;
    (void)err;
    pf_part_begin(p, p->event.time, 0);
    return ROCL_OK;
}

static rocl_status record_sampled(pf_part *p, void *state, rocl_error *err)
{
    sampled *s = state;
    uint64_t key = rocl_mix64(p->event.address ^ p->event.thread);
    uint32_t track = rocl_map_get(&s->tracks, key, 0);
    if (!track) {
        track = new_sampled(p);
        if (!rocl_map_put(&s->tracks, key, track))
            return rocl_fail_memory(err);
    }
    pf_put_counter(p, p->event.time, track, p->event.value);
    return ROCL_OK;
}

static void forget_sampled(void *state)
{
    rocl_map_free(&((sampled *)state)->tracks);
}

const pf_room pf_room_sampled = {sizeof(sampled), begin_sampled, record_sampled, NULL,
                                 forget_sampled};

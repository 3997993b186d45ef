/* What the packets of a sequence depend on, step by step, in the order in which Perfetto's own
 * importer takes the fields of a packet. */
#include "source/pftrace/pftrace.h"

typedef struct clock_time {
    uint64_t id, time, unit;
    bool incremental;
} clock_time;

static bool next_clock(rocl_pb *snapshot, clock_time *c)
{
    rocl_pb_field f, g;
    while (rocl_pb_next(snapshot, &f)) {
        if (f.number != SNAPSHOT_CLOCKS || f.kind != ROCL_PB_BYTES)
            continue;
        rocl_pb clock = rocl_pb_of(f.bytes);
        *c = (clock_time){.unit = 1};
        while (rocl_pb_next(&clock, &g)) {
            if (g.number == CLOCK_ID)
                c->id = g.value;
            else if (g.number == CLOCK_TIME)
                c->time = g.value;
            else if (g.number == CLOCK_INCREMENTAL)
                c->incremental = g.value;
            else if (g.number == CLOCK_UNIT && g.value)
                c->unit = g.value;
        }
        return true;
    }
    return false;
}

void pfr_clocks_learn(pfr_clocks *c, rocl_view snapshot)
{
    rocl_pb r = rocl_pb_of(snapshot);
    rocl_pb_field f;
    clock_time t;
    uint64_t trace_time = 0;
    bool has = false;
    while (!c->trace && rocl_pb_next(&r, &f))
        if (f.number == SNAPSHOT_PRIMARY && f.value > 0 && f.value < CLOCK_IS_DELTA)
            c->trace = (uint8_t)f.value;
    const uint8_t trace = c->trace ? c->trace : CLOCK_IS_BOOTTIME;
    for (r = rocl_pb_of(snapshot); next_clock(&r, &t);)
        if (t.id == trace) {
            trace_time = t.time * t.unit;
            has = true;
        }
    for (r = rocl_pb_of(snapshot); has && next_clock(&r, &t);)
        if (t.id < CLOCK_IS_DELTA && !c->known[t.id]) {
            c->known[t.id] = true;
            c->offset[t.id] = (int64_t)(trace_time - t.time * t.unit);
        }
}

/* Clocks of the sequence, which a snapshot on it relates to one of the machine. */
static void learn_local_clocks(pfr_state *s, const pfr_clocks *c, rocl_view snapshot)
{
    const uint8_t trace = c->trace ? c->trace : CLOCK_IS_BOOTTIME;
    rocl_pb r = rocl_pb_of(snapshot);
    clock_time t, base = {.id = 0};
    while (next_clock(&r, &t))
        if (t.id < CLOCK_IS_DELTA && (!base.id || t.id == trace))
            base = t;
    for (r = rocl_pb_of(snapshot); base.id && next_clock(&r, &t);) {
        pfr_clock *to = NULL;
        if (t.id < CLOCK_IS_DELTA || t.id >= CLOCKS_END)
            continue;
        for (int i = PFR_LOCAL_CLOCKS - 1; i >= 0; i--)
            if (!s->clocks[i].id || s->clocks[i].id == t.id)
                to = &s->clocks[i];
        if (to)
            *to = (pfr_clock){.value = t.time * t.unit,
                              .unit = t.unit,
                              .offset = (int64_t)(base.time * base.unit - t.time * t.unit),
                              .id = (uint8_t)t.id,
                              .domain = (uint8_t)base.id,
                              .incremental = t.incremental};
    }
}

static void take_defaults(pfr_state *s, rocl_strings *bytes, rocl_view defaults)
{
    rocl_pb r = rocl_pb_of(defaults), event;
    rocl_pb_field f, g;
    s->default_clock = 0;
    s->has_default_track = false;
    s->defaults = rocl_strings_put(bytes, defaults.p, defaults.n);
    while (rocl_pb_next(&r, &f)) {
        if (f.number == DEFAULTS_CLOCK_ID && f.value < CLOCKS_END)
            s->default_clock = (uint8_t)f.value;
        if (f.number != DEFAULTS_TRACK_EVENT || f.kind != ROCL_PB_BYTES)
            continue;
        event = rocl_pb_of(f.bytes);
        while (rocl_pb_next(&event, &g))
            if (g.number == TRACK_EVENT_DEFAULT_TRACK) {
                s->default_track = g.value;
                s->has_default_track = true;
            }
    }
}

/* Times beyond 2^63 wrap around, and are then negative. */
static void take_time(pfr_state *s, const pfr_clocks *c, const pfr_packet *p, pfr_moment *m)
{
    unsigned id = p->has_clock ? p->clock : s->default_clock;
    uint64_t time = p->timestamp;
    if (id >= CLOCK_IS_DELTA) {
        pfr_clock *local = NULL;
        for (int i = 0; i < PFR_LOCAL_CLOCKS; i++)
            if (s->clocks[i].id == id)
                local = &s->clocks[i];
        m->bad_time = !local;
        if (!local)
            return;
        time *= local->unit;
        if (local->incremental)
            time = local->value += time;
        time += (uint64_t)local->offset;
        id = local->domain;
    }
    m->converted = id && id != (c->trace ? c->trace : CLOCK_IS_BOOTTIME);
    if (id && id < CLOCK_IS_DELTA && c->known[id])
        time += (uint64_t)c->offset[id];
    m->time = (int64_t)time;
    m->has_time = true;
}

void pfr_extra_tracks(const pfr_file *file, const pfr_state *s, rocl_view event,
                      uint64_t tracks[2][PFR_EXTRA_TRACKS], size_t count[2])
{
    rocl_pb r = rocl_pb_of(pfr_bytes(file, s->defaults)), inner;
    rocl_pb_field f;
    rocl_view defaults = {"", 0};
    while (rocl_pb_next(&r, &f))
        if (f.number == DEFAULTS_TRACK_EVENT && f.kind == ROCL_PB_BYTES)
            defaults = f.bytes;
    count[0] = count[1] = 0;
    for (int pass = 0; pass < 2; pass++) { /* the event's own before the defaults */
        const size_t had[2] = {count[0], count[1]};
        inner = rocl_pb_of(pass ? defaults : event);
        while (rocl_pb_next(&inner, &f)) {
            const int real = f.number == EV_EXTRA_DOUBLE_TRACKS;
            if ((f.number == EV_EXTRA_TRACKS || real) && f.kind == ROCL_PB_VARINT &&
                !(pass && had[real]) && count[real] < PFR_EXTRA_TRACKS)
                tracks[real][count[real]++] = f.value;
        }
    }
}

void pfr_state_step(pfr_state *s, const pfr_clocks *c, rocl_strings *bytes, const pfr_packet *p,
                    pfr_moment *m)
{
    *m = (pfr_moment){.lost = p->dropped && s->valid};
    if (p->first)
        *s = (pfr_state){0};
    if (p->flags & SEQ_CLEARED) {
        s->cleared = p->at + 1;
        s->valid = true;
        s->defaults = 0;
        s->default_clock = 0;
        s->has_default_track = false;
    } else if (p->dropped) {
        s->valid = false;
    }
    m->usable = s->valid || !(p->flags & SEQ_NEEDS);
    if (p->defaults.n)
        take_defaults(s, bytes, p->defaults);
    if (p->has_time)
        take_time(s, c, p, m);
    if (p->payload == PKT_CLOCK_SNAPSHOT)
        learn_local_clocks(s, c, p->body);
}

const char *pfr_packet_fault(const pfr_packet *p, const pfr_moment *m, rocl_fault *fault)
{
    const bool event = p->payload == PKT_TRACK_EVENT || p->payload == PKT_GPU_STAGE ||
                       p->payload == PKT_GPU_COUNTER;
    *fault = ROCL_FAULT_BAD_LINE;
    if (p->why || !event)
        return p->why;
    *fault = ROCL_FAULT_DROPPED;
    if (!m->usable)
        return "an event that needs packets that the tracer lost";
    *fault = ROCL_FAULT_BAD_TIME;
    if (m->has_time)
        return NULL;
    return m->bad_time ? "a time on a clock that no snapshot sets" : "an event without a time";
}

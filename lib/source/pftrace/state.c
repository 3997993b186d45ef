/* The state of a sequence, packet by packet, taking the fields of a packet in the order of
 * Perfetto's own importer. */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "source/pftrace/pftrace.h"

typedef struct clock_time {
    uint64_t id, time, unit;
    bool incremental;
} clock_time;

static bool next_clock(rocl_pb *snapshot, clock_time *c)
{
    rocl_pb_field g;
    rocl_view bytes;
    if (!pfr_next_bytes(snapshot, SNAPSHOT_CLOCKS, &bytes))
        return false;
    rocl_pb clock = rocl_pb_of(bytes);
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

static bool is_local(uint64_t clock)
{
    return clock >= CLOCK_IS_DELTA && clock < CLOCKS_LOCAL_END;
}

/* ---- clocks of machines ---------------------------------------------------------------------- */

static uint32_t trace_clock(const pfr_clocks *c)
{
    return c->trace ? c->trace : CLOCK_IS_BOOTTIME;
}

bool pfr_clocks_learn(pfr_clocks *c, uint32_t machine, rocl_view snapshot)
{
    rocl_pb r = rocl_pb_of(snapshot);
    rocl_pb_field f;
    clock_time t;
    size_t clocks = 0;
    while (!c->trace && rocl_pb_next(&r, &f))
        if (f.number == SNAPSHOT_PRIMARY && f.value > 0 && f.value < CLOCK_IS_DELTA)
            c->trace = (uint32_t)f.value;
    for (r = rocl_pb_of(snapshot); next_clock(&r, &t);)
        clocks += !is_local(t.id);
    c->snapshots++;
    for (r = rocl_pb_of(snapshot); clocks > 1 && next_clock(&r, &t);) {
        if (is_local(t.id) || !t.id || t.id >= UINT32_MAX)
            continue;
        if (!ROCL_GROW(c->all, c->cap, c->count + 1))
            return false;
        c->all[c->count++] = (pfr_relation){.at = t.time * t.unit,
                                            .snapshot = c->snapshots,
                                            .machine = machine,
                                            .clock = (uint32_t)t.id};
    }
    return true;
}

static int compare_relations(const void *a, const void *b)
{
    const pfr_relation *x = a, *y = b;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    if (x->clock != y->clock)
        return x->clock < y->clock ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->snapshot > y->snapshot) - (x->snapshot < y->snapshot);
}

/* The relation for a time of a clock; NULL: there is none. */
static const pfr_relation *find_relation(const pfr_clocks *c, uint32_t machine, uint32_t clock,
                                         uint64_t time)
{
    const pfr_relation key = {
        .at = time, .snapshot = UINT64_MAX, .machine = machine, .clock = clock};
    const size_t n = rocl_count_before(&key, c->all, c->count, sizeof key, compare_relations);
    /* The last one before it, else the first after it. */
    const pfr_relation *r = n ? &c->all[n - 1] : NULL;
    if (!r || r->machine != machine || r->clock != clock)
        r = n < c->count ? &c->all[n] : NULL;
    return r && r->machine == machine && r->clock == clock ? r : NULL;
}

/* Turns the times of a snapshot into offsets to the trace's clock, if one of them can be
 * converted. */
static void resolve_snapshot(pfr_relation *r, size_t n, uint64_t trace_time)
{
    for (size_t i = 0; i < n; i++) {
        r[i].offset = (int64_t)(trace_time - r[i].at);
        r[i].resolved = true;
    }
}

/* The number of relations from the i-th on that belong to its snapshot: they are adjacent. */
static size_t count_of_snapshot(const pfr_clocks *c, size_t i)
{
    size_t n = 1;
    while (i + n < c->count && c->all[i + n].snapshot == c->all[i].snapshot)
        n++;
    return n;
}

bool pfr_clocks_complete(pfr_clocks *c)
{
    enum { ROUNDS = 4 }; /* a clock may be related to the trace's through this many others */
    const uint32_t trace = trace_clock(c);
    size_t known = 0, n;
    for (size_t i = 0; i < c->count; i += n) {
        n = count_of_snapshot(c, i);
        for (size_t k = 0; k < n; k++)
            if (c->all[i + k].clock == trace)
                resolve_snapshot(&c->all[i], n, c->all[i + k].at);
    }
    for (int round = 0;; round++) {
        pfr_clocks some = {.trace = c->trace, .sorted = true};
        bool ok = true;
        for (size_t i = 0; i < c->count && ok; i++) {
            if (!c->all[i].resolved)
                continue;
            ok = ROCL_GROW(some.all, some.cap, some.count + 1);
            if (ok)
                some.all[some.count++] = c->all[i];
        }
        if (some.count)
            qsort(some.all, some.count, sizeof *some.all, compare_relations);
        if (!ok || round == ROUNDS || some.count == known || some.count == c->count) {
            free(c->all);
            *c = some;
            return ok;
        }
        known = some.count;
        for (size_t i = 0; i < c->count; i += n) {
            n = count_of_snapshot(c, i);
            for (size_t k = 0; k < n && !c->all[i].resolved; k++) {
                const pfr_relation *r = &c->all[i + k];
                const pfr_relation *by = find_relation(&some, r->machine, r->clock, r->at);
                if (by)
                    resolve_snapshot(&c->all[i], n, r->at + (uint64_t)by->offset);
            }
        }
        free(some.all);
    }
}

bool pfr_clocks_relate(const pfr_clocks *c, uint32_t machine, uint32_t clock)
{
    return find_relation(c, machine, clock, 0) || (machine && find_relation(c, 0, clock, 0));
}

bool pfr_clocks_convert(const pfr_clocks *c, uint32_t machine, uint32_t clock, uint64_t *time)
{
    if (!clock || clock == trace_clock(c))
        return true;
    const pfr_relation *r = c->sorted ? find_relation(c, machine, clock, *time) : NULL;
    if (!r && machine && c->sorted)
        r = find_relation(c, 0, clock, *time);
    if (r)
        *time += (uint64_t)r->offset;
    return r || clock < CLOCK_IS_DELTA || !c->sorted;
}

/* ---- a sequence ------------------------------------------------------------------------------ */

/* Clocks local to the sequence, which a snapshot on it relates to a machine clock. */
static void learn_local_clocks(pfr_state *s, rocl_view snapshot)
{
    rocl_pb r = rocl_pb_of(snapshot);
    rocl_pb_field f;
    clock_time t, base = {.id = 0};
    uint64_t primary = 0;
    while (rocl_pb_next(&r, &f))
        if (f.number == SNAPSHOT_PRIMARY)
            primary = f.value;
    /* The machine clock that dates a snapshot: its primary clock, BOOTTIME, or its first. */
    for (r = rocl_pb_of(snapshot); next_clock(&r, &t);)
        if (!is_local(t.id) && t.id < UINT32_MAX &&
            (!base.id || t.id == primary || (t.id == CLOCK_IS_BOOTTIME && base.id != primary)))
            base = t;
    r = rocl_pb_of(snapshot);
    while (base.id && next_clock(&r, &t)) {
        pfr_clock *to = NULL;
        if (!is_local(t.id))
            continue;
        for (int i = PFR_LOCAL_CLOCKS - 1; i >= 0; i--)
            if (!s->clocks[i].id)
                to = &s->clocks[i];
        for (int i = 0; i < PFR_LOCAL_CLOCKS; i++)
            if (s->clocks[i].id == t.id)
                to = &s->clocks[i];
        if (to)
            *to = (pfr_clock){.value = t.time * t.unit,
                              .unit = t.unit,
                              .offset = (int64_t)(base.time * base.unit - t.time * t.unit),
                              .id = (uint8_t)t.id,
                              .domain = (uint32_t)base.id,
                              .incremental = t.incremental};
    }
}

/* Times beyond 2^63 wrap around and become negative. */
static void take_time(pfr_state *s, const pfr_clocks *c, const pfr_packet *p, pfr_moment *m)
{
    uint32_t id = p->has_clock ? p->clock : s->default_clock;
    uint64_t time = p->timestamp;
    if (is_local(id)) {
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
    m->converted = id && id != trace_clock(c);
    m->clock = id;
    m->bad_time = !pfr_clocks_convert(c, p->machine, id, &time);
    m->time = (int64_t)time;
    m->has_time = !m->bad_time;
}

void pfr_extra_tracks(const pfr_file *file, const pfr_state *s, rocl_view event,
                      uint64_t tracks[2][PFR_EXTRA_TRACKS], size_t count[2])
{
    rocl_pb r = rocl_pb_of(pfr_bytes(file, s->defaults)), inner;
    rocl_pb_field f;
    rocl_view defaults = {"", 0};
    while (pfr_next_bytes(&r, DEFAULTS_TRACK_EVENT, &defaults))
        continue;
    count[0] = count[1] = 0;
    for (int pass = 0; pass < 2; pass++) { /* the event's own fields before the defaults */
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
    if (p->first) /* nothing came before it, although the service flags lost packets */
        *s = (pfr_state){0};
    *m = (pfr_moment){.lost = p->dropped && s->valid};
    if (p->flags & SEQ_CLEARED) {
        s->cleared = p->at + 1;
        s->valid = true;
        s->defaults = 0;
        s->default_clock = 0;
        s->default_track = 0;
    } else if (p->dropped) {
        s->valid = false;
    }
    m->usable = s->valid || !(p->flags & SEQ_NEEDS);
    if (p->defaults.n) {
        rocl_pb r = rocl_pb_of(p->defaults), event;
        rocl_pb_field f, g;
        s->default_clock = 0;
        s->default_track = 0;
        s->defaults = rocl_strings_put(bytes, p->defaults.p, p->defaults.n);
        while (rocl_pb_next(&r, &f)) {
            if (f.number == DEFAULTS_CLOCK_ID && f.value < UINT32_MAX)
                s->default_clock = (uint32_t)f.value;
            if (f.number != DEFAULTS_TRACK_EVENT || f.kind != ROCL_PB_BYTES)
                continue;
            event = rocl_pb_of(f.bytes);
            while (rocl_pb_next(&event, &g))
                if (g.number == TRACK_EVENT_DEFAULT_TRACK)
                    s->default_track = g.value;
        }
    }
    if (p->has_time)
        take_time(s, c, p, m);
    if (p->payload == PKT_CLOCK_SNAPSHOT)
        learn_local_clocks(s, p->body);
    else if (p->payload == PKT_TRACK_DESCRIPTOR) {
        /* A thread descriptor tells which thread writes the sequence. */
        rocl_pb r = rocl_pb_of(p->body);
        rocl_pb_field f;
        uint64_t uuid = 0;
        bool is_thread = false;
        while (rocl_pb_next(&r, &f)) {
            uuid = f.number == TRACK_UUID ? f.value : uuid;
            is_thread |= f.number == TRACK_THREAD && f.kind == ROCL_PB_BYTES;
        }
        if (is_thread)
            s->thread_track = uuid;
    }
}

bool pfr_is_event(const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field f;
    if (p->payload == PKT_GPU_COUNTER)
        while (rocl_pb_next(&r, &f))
            if (f.number == GPU_COUNTER_VALUES)
                return true;
    return p->payload == PKT_TRACK_EVENT || p->payload == PKT_GPU_STAGE;
}

const char *pfr_packet_fault(const pfr_packet *p, const pfr_moment *m, rocl_fault *fault)
{
    *fault = ROCL_FAULT_BAD_LINE;
    if (p->why || !pfr_is_event(p))
        return p->why;
    *fault = ROCL_FAULT_DROPPED;
    if (!m->usable)
        return "an event that needs packets that the tracer lost";
    *fault = ROCL_FAULT_BAD_TIME;
    if (m->has_time)
        return NULL;
    return m->bad_time ? "a time on a clock that no snapshot sets" : "an event without a time";
}

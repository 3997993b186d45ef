/* Track events -> records: calls, marks, GPU work of plain slices, values of counters, arrows. */
#include <stdlib.h>

#include "model/kinds.h"
#include "source/pftrace/worker.h"

/* The kind of events of a category; ROCL_KINDS: kernels and copies. */
static rocl_kind kind_of_category(const char *category)
{
    static const struct {
        const char *category;
        rocl_kind kind;
    } kinds[] = {{"kernel_dispatch", ROCL_DISPATCH},
                 {"memory_copy", ROCL_COPY},
                 {"hip_stream", ROCL_KINDS},
                 {"memory_allocation", ROCL_ALLOC},
                 {"memory_allocate", ROCL_ALLOC},
                 {"scratch_memory", ROCL_SCRATCH},
                 {"graph_launch", ROCL_GRAPH},
                 {"hip_event", ROCL_HIP_EVENT},
                 {"barrier", ROCL_BARRIER},
                 {"user", ROCL_MARKER},
                 {"python", ROCL_MARKER},
                 {"kokkos", ROCL_MARKER}};
    const char *bare = rocl_bare_category(category);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(bare, kinds[i].category))
            return kinds[i].kind;
    const rocl_call_group *g = rocl_call_group_of(bare);
    return g && g->domain == ROCL_DOMAIN_MARKERS ? ROCL_MARKER : ROCL_REGION;
}

/* Chrome's phases that are not types of track events. */
enum { TYPE_COMPLETE = 256, TYPE_ARROW, TYPE_OF_CHROME };

/* A LegacyEvent. */
typedef struct legacy_event {
    uint64_t id, bind;
    int64_t duration_us, pid, tid;
    rocl_view scope;
    char phase;
    uint8_t direction;
    bool has_phase, has_id, has_bind, has_pid, has_tid, local, enclosing;
    bool of_thread; /* else an instant of its process, or of all */
} legacy_event;

static legacy_event read_legacy(rocl_view message)
{
    legacy_event l = {.scope = {"", 0}, .of_thread = true};
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    while (rocl_pb_next(&r, &f)) {
        switch (f.number) {
        case LEGACY_PHASE:
            l.phase = f.value < 128 ? (char)f.value : '?';
            l.has_phase = true;
            break;
        case LEGACY_DURATION:
            l.duration_us = (int64_t)f.value;
            break;
        case LEGACY_ID:
        case LEGACY_LOCAL_ID:
        case LEGACY_GLOBAL_ID:
            l.id = f.value;
            l.local = f.number == LEGACY_LOCAL_ID;
            l.has_id = true;
            break;
        case LEGACY_ID_SCOPE:
            l.scope = f.kind == ROCL_PB_BYTES ? f.bytes : l.scope;
            break;
        case LEGACY_BIND_ID:
            l.bind = f.value;
            l.has_bind = true;
            break;
        case LEGACY_ENCLOSING:
            l.enclosing = f.value;
            break;
        case LEGACY_DIRECTION:
            l.direction = (uint8_t)(f.value & (DIRECTION_IN | DIRECTION_OUT));
            break;
        case LEGACY_INSTANT_SCOPE:
            l.of_thread = f.value != INSTANT_OF_ALL && f.value != INSTANT_OF_PROCESS;
            break;
        case LEGACY_PID:
            l.pid = (int32_t)f.value;
            l.has_pid = true;
            break;
        case LEGACY_TID:
            l.tid = (int32_t)f.value;
            l.has_tid = true;
            break;
        default:
            break;
        }
    }
    return l;
}

static uint64_t type_of_phase(char phase)
{
    static const struct {
        const char *phases;
        uint64_t type;
    } types[] = {{"BbS", TYPE_BEGIN},  {"EeF", TYPE_END},   {"iIRnPTp", TYPE_INSTANT},
                 {"X", TYPE_COMPLETE}, {"stf", TYPE_ARROW}, {"M", TYPE_OF_CHROME}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (phase && strchr(types[i].phases, phase))
            return types[i].type;
    return UINT64_MAX;
}

static uint64_t hash_text(uint64_t h, rocl_view v)
{
    for (size_t i = 0; i < v.n; i++)
        h = (h ^ (uint8_t)v.p[i]) * 0x100000001b3u;
    return rocl_mix64(h ^ v.n);
}

/* The fields of a TrackEvent. */
typedef struct track_event {
    uint64_t type, uuid, correlation, flow;
    rocl_view name, category;
    uint32_t name_bytes, category_bytes; /* ROCL_NONE: the view has it */
    bool has_track, has_name, has_value, has_extra;
    bool lost_name; /* it refers to a name that is not in the trace */
    double value;
    bool is_legacy;
    legacy_event legacy;
    uint64_t thread; /* key, of calls */
} track_event;

static track_event read_track_event(pfr_worker *w, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message), inner;
    rocl_pb_field f, g;
    const pfr_state *s = &w->sequence->state;
    track_event e = {.uuid = pfr_track_unsaid(s),
                     .has_track = pfr_track_unsaid(s) != 0,
                     .correlation = ROCL_NO_KEY,
                     .flow = ROCL_NO_KEY,
                     .name = {"", 0},
                     .category = {"", 0},
                     .name_bytes = ROCL_NONE,
                     .category_bytes = ROCL_NONE};
    while (rocl_pb_next(&r, &f)) {
        switch (f.number) {
        case EV_TYPE:
            e.type = f.value;
            break;
        case EV_TRACK:
            e.uuid = f.value;
            e.has_track = true;
            break;
        case EV_NAME_IID:
            e.name_bytes = pfr_find_interned(w, INTERNED_NAMES, f.value);
            e.has_name = true;
            e.lost_name = !e.name_bytes && !pfr_was_interned(w, INTERNED_NAMES, f.value);
            break;
        case EV_NAME:
            if (f.kind == ROCL_PB_BYTES) {
                e.name = f.bytes;
                e.has_name = true;
            }
            break;
        case EV_CATEGORY_IID:
            if (e.category_bytes == ROCL_NONE && f.kind == ROCL_PB_VARINT)
                e.category_bytes = pfr_find_interned(w, INTERNED_CATEGORIES, f.value);
            break;
        case EV_CATEGORY:
            if (!e.category.n && f.kind == ROCL_PB_BYTES)
                e.category = f.bytes;
            break;
        case EV_COUNTER_VALUE:
            e.value = (double)(int64_t)f.value;
            e.has_value = true;
            break;
        case EV_DOUBLE_VALUE:
            e.value = f.kind == ROCL_PB_FIXED64 ? rocl_pb_double(&f) : 0;
            e.has_value = true;
            break;
        case EV_EXTRA_VALUES:
        case EV_EXTRA_DOUBLE_VALUES:
            e.has_extra = true;
            break;
        case EV_FLOW:
        case EV_FLOW_END:
        case EV_OLD_FLOW:
        case EV_OLD_FLOW_END:
            e.flow = e.flow == ROCL_NO_KEY && f.kind != ROCL_PB_BYTES ? f.value : e.flow;
            break;
        case EV_LEGACY:
            e.is_legacy = f.kind == ROCL_PB_BYTES;
            if (e.is_legacy)
                e.legacy = read_legacy(f.bytes);
            break;
        case EV_GPU_CORRELATION:
            inner = f.kind == ROCL_PB_BYTES ? rocl_pb_of(f.bytes) : (rocl_pb){0};
            while (rocl_pb_next(&inner, &g))
                if (g.number == CORRELATION_SUBMISSION && g.kind == ROCL_PB_VARINT)
                    e.correlation = g.value;
            break;
        default:
            break;
        }
    }
    if (!e.type && e.is_legacy && e.legacy.has_phase) {
        e.type = type_of_phase(e.legacy.phase);
        e.uuid = e.uuid || !e.legacy.of_thread ? e.uuid : s->thread_track; /* 0: none */
    }
    return e;
}

static rocl_view name_of(const pfr_worker *w, const track_event *e)
{
    return e->name.n || e->name_bytes == ROCL_NONE ? e->name : pfr_bytes(w->file, e->name_bytes);
}

static rocl_view category_of(const pfr_worker *w, const track_event *e)
{
    return e->category_bytes == ROCL_NONE ? e->category : pfr_bytes(w->file, e->category_bytes);
}

static uint32_t name_text(pfr_worker *w, const track_event *e)
{
    return e->name.n || e->name_bytes == ROCL_NONE ? rocl_records_text(w->to, e->name)
                                                   : pfr_text_id(w, e->name_bytes);
}

/* An end of an arrow, at a call or instant. */
static rocl_status put_flow(pfr_worker *w, const rocl_source_record *at, rocl_view name,
                            uint64_t flow, rocl_flow_end end, bool next, rocl_error *err)
{
    rocl_source_record r;
    rocl_record_begin(&r, ROCL_FLOW, at->where);
    r.process = at->process;
    r.thread = at->thread;
    r.name = rocl_view_is(name, PF_UNNAMED) ? (rocl_view){"", 0} : name;
    r.as.e.start = r.as.e.end = at->as.e.start;
    r.as.e.category = at->as.e.category;
    r.as.flow.flow = flow;
    r.as.flow.end = end;
    r.as.flow.next = next;
    return rocl_record_put(w->to, &r, err);
}

/* The arrows of the current packet between calls. Those to GPU work are known by its
 * correlation. */
static rocl_status put_flows(pfr_worker *w, const rocl_source_record *at, const track_event *e,
                             rocl_error *err)
{
    const rocl_view name = name_of(w, e);
    rocl_pb p = rocl_pb_of(w->packet->body);
    rocl_pb_field f;
    rocl_status st = ROCL_OK;
    if (!rocl_records_want(w->to, ROCL_FLOW))
        return ROCL_OK;
    while (st == ROCL_OK && e->flow != ROCL_NO_KEY && rocl_pb_next(&p, &f)) {
        const bool ends = f.number == EV_FLOW_END || f.number == EV_OLD_FLOW_END;
        if ((f.number == EV_FLOW || f.number == EV_OLD_FLOW || ends) && f.kind != ROCL_PB_BYTES)
            st = put_flow(w, at, name, f.value, ends ? ROCL_FLOW_ENDS : ROCL_FLOW_BEGINS, false,
                          err);
    }
    const unsigned direction = e->legacy.has_bind ? e->legacy.direction : 0;
    if (st == ROCL_OK && direction)
        st = put_flow(w, at, name, e->legacy.bind,
                      direction == DIRECTION_IN    ? ROCL_FLOW_ENDS
                      : direction == DIRECTION_OUT ? ROCL_FLOW_BEGINS
                                                   : ROCL_FLOW_GOES_ON,
                      false, err);
    return st;
}

/* A slice begins, or an instant. */
static rocl_status put_begin(pfr_worker *w, rocl_source_record *r, const track_event *e,
                             const pfr_track *t, rocl_error *err)
{
    const uint32_t category = e->category_bytes == ROCL_NONE
                                  ? rocl_strings_put(w->file->bytes, e->category.p, e->category.n)
                                  : e->category_bytes;
    pfr_text *known = pfr_text_of(w, category);
    if (!known->kind_plus1)
        known->kind_plus1 = (uint8_t)(kind_of_category(pfr_bytes(w->file, category).p) + 1);
    const rocl_view name = name_of(w, e);
    rocl_kind kind = r->kind == ROCL_INSTANT ? ROCL_INSTANT : (rocl_kind)(known->kind_plus1 - 1);
    if (kind == ROCL_KINDS)
        kind = rocl_view_begins(name, "MEMORY_COPY_") ? ROCL_COPY : ROCL_DISPATCH;
    const bool call = kind <= ROCL_INSTANT;
    bool timed = r->half == ROCL_WHOLE;
    pfr_facts a;
    rocl_key_facts symbol = {0};
    pfr_begin_facts(w, &a);
    r->kind = kind;
    r->id = name_text(w, e) + (uint64_t)1;
    pfr_read_notes(w, w->packet->body, call ? PFR_OF_CALLS : PFR_OF_WORK, &a,
                   (call || kind == ROCL_DISPATCH) && rocl_records_want_args(w->to) &&
                       rocl_records_want(w->to, kind));
    r->link = a.stack != ROCL_NO_KEY && a.stack               ? a.stack
              : a.correlation != ROCL_NO_KEY && a.correlation ? a.correlation
              : e->correlation != ROCL_NO_KEY                 ? pfr_plain_link(e->correlation)
              : call                                          ? ROCL_NO_KEY
                                                              : e->flow;
    r->parent = a.ancestor && a.ancestor != a.correlation ? a.ancestor : ROCL_NO_KEY;
    if (call) {
        r->thread = e->thread;
        r->as.e.category = pfr_text_id(w, category);
        r->as.e.name = (uint32_t)(r->id - 1);
        if (rocl_view_is(name, PF_UNNAMED))
            r->as.e.name = ROCL_NONE;
        const rocl_status st = rocl_record_put(w->to, r, err);
        return st == ROCL_OK && r->link == ROCL_NO_KEY ? put_flows(w, r, e, err) : st;
    }
    r->name = name;
    pfr_fill_work(w, r, &a, &symbol);
    if (kind == ROCL_DISPATCH && a.kernel_id && a.kernel_id <= INT32_MAX)
        r->kernel = a.kernel_id << 32 | (uint32_t)(r->id - 1); /* symbols may share a name */
    if (t && t->place == PFR_STREAM && r->stream == ROCL_NO_KEY)
        r->stream = t->number;
    if (t && t->place == PFR_QUEUE && r->queue == ROCL_NO_KEY)
        r->queue = t->number;
    if (t && t->agent.number != ROCL_NO_KEY && kind == ROCL_COPY && r->dst == ROCL_NO_KEY)
        pfr_set_agent(&r->dst, &r->dst_type, &t->agent);
    else if (t && t->agent.number != ROCL_NO_KEY && kind != ROCL_COPY && r->agent == ROCL_NO_KEY)
        r->agent = t->agent.number;
    /* Slices that overlapped on a track were cut; these are the original times. */
    if (a.begin > 0 && a.end >= a.begin) {
        const uint32_t clock =
            w->packet->has_clock ? w->packet->clock : w->sequence->state.default_clock;
        const bool local = clock >= CLOCK_IS_DELTA && clock < CLOCKS_LOCAL_END;
        const uint32_t machine = w->packet->machine;
        uint64_t begin = (uint64_t)a.begin, end = (uint64_t)a.end;
        r->at = r->as.e.start;
        if (!local && (!pfr_clocks_convert(&w->file->clocks, machine, clock, &begin) ||
                       !pfr_clocks_convert(&w->file->clocks, machine, clock, &end)))
            begin = end = UINT64_MAX;
        r->as.e.start = (int64_t)begin;
        r->as.e.end = (int64_t)end;
        if (r->as.e.start < 0 || r->as.e.end < 0)
            return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_TIME, "a time is too large");
        timed = true;
    }
    const rocl_status st = rocl_record_put(w->to, r, err);
    return st == ROCL_OK && timed && kind == ROCL_DISPATCH ? pfr_put_counters(w, r, err) : st;
}

/* A value of a counter track. */
static rocl_status put_value(pfr_worker *w, rocl_source_record *r, uint64_t uuid, double value,
                             rocl_error *err)
{
    const pfr_file *f = w->file;
    const pfr_track *t = pfr_track_of(f, w->packet->machine, uuid, w->packet->at);
    rocl_sample_value *s = &r->as.sample;
    if (!t || !t->is_counter)
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_ORPHAN_VALUE,
                                 "the value of a counter that is not described");
    if (t->incremental) {
        const uint64_t key = (uint64_t)w->sequence->number << 32 | (uint64_t)(t - f->tracks);
        uint32_t at = rocl_map_get(&w->sums, key, ROCL_NONE);
        if (at == ROCL_NONE) {
            at = (uint32_t)w->value_count;
            if (!ROCL_GROW(w->values, w->value_cap, w->value_count + 1) ||
                !rocl_map_put(&w->sums, key, at))
                return rocl_fail_memory(err);
            w->values[w->value_count++] = pfr_sum_before(f, key, w->piece);
        }
        value = pfr_sum_add(&w->values[at], &w->sequence->state, value);
    }
    if (t->derived)
        return ROCL_OK;
    value *= (double)t->multiplier;
    r->kind = ROCL_SAMPLE;
    r->half = ROCL_WHOLE;
    r->process = t->process;
    r->agent = t->agent.number;
    r->agent_type = t->agent.type;
    r->counter = pfr_bytes(f, t->counter);
    s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
    s->value = value;
    if (value - value != 0)
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_NO_NUMBER,
                                 "the value of a counter is not a number");
    return rocl_record_put(w->to, r, err);
}

/* Further values of an event: their tracks are beside them, or in the defaults. */
static rocl_status put_extra(pfr_worker *w, const rocl_source_record *base, rocl_error *err)
{
    uint64_t tracks[2][PFR_EXTRA_TRACKS];
    size_t count[2] = {0}, at[2] = {0};
    rocl_pb r = rocl_pb_of(w->packet->body);
    rocl_pb_field f;
    rocl_status st = ROCL_OK;
    pfr_extra_tracks(w->file, &w->sequence->state, w->packet->body, tracks, count);
    while (st == ROCL_OK && rocl_pb_next(&r, &f)) {
        const int real = f.number == EV_EXTRA_DOUBLE_VALUES;
        if (f.number != EV_EXTRA_VALUES && !real)
            continue;
        rocl_source_record value = *base;
        value.where += 1 + at[0] + at[1];
        if (at[real] < count[real])
            st = put_value(w, &value, tracks[real][at[real]],
                           real ? rocl_pb_double(&f) : (double)(int64_t)f.value, err);
        else
            rocl_record_fault(w->to, value.where, ROCL_FAULT_ORPHAN_VALUE,
                              "the value of a counter that has no track");
        at[real]++;
    }
    return st;
}

/* Chrome's asynchronous events are matched by id within a category (old kinds: within a name), all
 * others by track. False: it has no id. */
static bool find_scope(const pfr_worker *w, rocl_source_record *r, const track_event *e,
                       const pfr_track *t)
{
    const legacy_event *l = &e->legacy;
    r->scope = t ? (uint64_t)(t - w->file->tracks)
                 : rocl_mix64(e->has_track ? e->uuid : ~(uint64_t)w->sequence->number) | (uint64_t)1
                                                                                             << 63;
    if (!e->is_legacy || !l->phase || !strchr("beSF", l->phase)) {
        if (l->has_pid || l->has_tid)
            r->scope = rocl_mix64(e->thread ^ rocl_mix64(r->process)) | (uint64_t)1 << 63;
        return true;
    }
    const bool old = l->phase == 'S' || l->phase == 'F';
    uint64_t h = hash_text(l->id, l->scope);
    h = hash_text(h, old && !l->scope.n ? name_of(w, e) : category_of(w, e));
    r->scope = h | (uint64_t)1 << 63;
    return l->has_id;
}

/* Chrome's arrows: they end in the slice that begins next unless they say otherwise. */
static rocl_status put_arrow(pfr_worker *w, rocl_source_record *r, const track_event *e,
                             rocl_error *err)
{
    const char phase = e->legacy.phase;
    const rocl_view name = name_of(w, e), category = category_of(w, e);
    if (!e->legacy.has_id)
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_LINE, "an arrow without an id");
    if (!rocl_records_want(w->to, ROCL_FLOW))
        return ROCL_OK;
    r->thread = e->thread;
    r->as.e.category = rocl_records_text(w->to, category);
    return put_flow(w, r, name, hash_text(hash_text(e->legacy.id, category), name),
                    phase == 's'   ? ROCL_FLOW_BEGINS
                    : phase == 't' ? ROCL_FLOW_GOES_ON
                                   : ROCL_FLOW_ENDS,
                    phase == 'f' && !e->legacy.enclosing, err);
}

/* An end has arguments and arrows: those are drawn a ns earlier, within the slice. */
static rocl_status put_end(pfr_worker *w, rocl_source_record *r, const track_event *e,
                           rocl_error *err)
{
    pfr_facts a; /* of calls: the end of work has nothing new */
    pfr_begin_facts(w, &a);
    r->half = ROCL_ENDS;
    r->id = e->has_name ? name_text(w, e) + (uint64_t)1 : 0;
    if (rocl_records_want_args(w->to))
        pfr_read_notes(w, w->packet->body, PFR_OF_CALLS, &a, true);
    rocl_status st = rocl_record_put(w->to, r, err);
    if (st != ROCL_OK || (e->flow == ROCL_NO_KEY && !e->legacy.has_bind) || r->as.e.start <= 0)
        return st;
    rocl_source_record at = *r;
    at.thread = e->thread;
    at.as.e.start--;
    at.as.e.category = rocl_records_text(w->to, category_of(w, e));
    return put_flows(w, &at, e, err);
}

rocl_status pfr_put_track_event(pfr_worker *w, rocl_source_record *r, rocl_error *err)
{
    track_event e = read_track_event(w, w->packet->body);
    const legacy_event *l = &e.legacy;
    const pfr_track *t =
        e.has_track ? pfr_track_of(w->file, w->packet->machine, e.uuid, w->packet->at) : NULL;
    const char *why = NULL;
    rocl_status st = ROCL_OK;
    if (e.has_extra)
        st = put_extra(w, r, err);
    if (st != ROCL_OK)
        return st;
    r->process = t ? t->process : ROCL_NO_KEY;
    e.thread = t ? t->thread : ROCL_KEY_OF_TEXT | (uint64_t)1 << 41;
    if (l->has_pid)
        r->process = pfr_process_key(w->packet->machine, l->pid);
    if (l->has_pid || l->has_tid) {
        e.thread = l->has_tid ? (uint64_t)(uint32_t)l->tid : ROCL_KEY_OF_TEXT | (uint64_t)1 << 41;
        t = NULL;
    }
    if (!find_scope(w, r, &e, t))
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_LINE,
                                 "an asynchronous event without an id");
    switch (e.type) {
    case TYPE_COMPLETE:
        if (l->duration_us < 0 || __builtin_mul_overflow(l->duration_us, 1000, &r->as.e.end) ||
            __builtin_add_overflow(r->as.e.end, r->as.e.start, &r->as.e.end))
            return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_TIME,
                                     "a duration that is negative or too large");
        /* fallthrough */
    case TYPE_BEGIN:
    case TYPE_INSTANT:
    case TYPE_STATE: /* the state changes to its name at this moment */
        if (e.type == TYPE_STATE && !e.has_name)
            return ROCL_OK;
        r->kind = e.type >= TYPE_INSTANT && e.type != TYPE_COMPLETE ? ROCL_INSTANT : ROCL_REGION;
        r->half = e.type == TYPE_BEGIN ? ROCL_BEGINS : ROCL_WHOLE;
        if (e.lost_name)
            rocl_record_fault(w->to, r->where, ROCL_FAULT_DANGLING_NAME,
                              "a name that no packet before it has interned");
        st = put_begin(w, r, &e, t, err);
        if (st == ROCL_OK && r->kind <= ROCL_INSTANT && t && t->thread_name &&
            r->thread != ROCL_NO_KEY)
            st = rocl_record_name(w->to, ROCL_KEY_THREAD, r, pfr_bytes(w->file, t->thread_name),
                                  err);
        return st;
    case TYPE_END:
        return put_end(w, r, &e, err);
    case TYPE_ARROW:
        return put_arrow(w, r, &e, err);
    case TYPE_COUNTER:
        return e.has_value || !e.has_extra ? put_value(w, r, e.uuid, e.value, err) : ROCL_OK;
    case TYPE_OF_CHROME:
        return ROCL_OK;
    case 0:
        why = e.has_extra ? NULL : "a track event without a type";
        break;
    default:
        why = e.type == UINT64_MAX ? "an event of Chrome's of an unknown phase"
                                   : "a track event of an unknown type";
    }
    return why ? rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_LINE, why) : ROCL_OK;
}

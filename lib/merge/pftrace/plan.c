/* The plan of a cut: begins and ends of slices are joined, and values of counters noted. */
#include "merge/pftrace/cut.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/order.h"

/* The index of a track in cut.tracks; ROCL_NONE: memory is out. */
static uint32_t track_number(cut *c, const pfr_packet *p, uint64_t uuid)
{
    const pfr_track *t = pfr_track_of(c->file, p->machine, uuid, p->at);
    const uint64_t key = uuid ^ rocl_mix64(p->machine);
    uint32_t at = t ? (uint32_t)(t - c->file->tracks) : rocl_map_get(&c->others, key, ROCL_NONE);
    if (at != ROCL_NONE)
        return at;
    at = (uint32_t)c->track_count;
    if (!ROCL_GROW(c->tracks, c->track_cap, c->track_count + 1) ||
        !rocl_map_put(&c->others, key, at))
        return ROCL_NONE;
    c->tracks[c->track_count++] = (cut_track){.last = INT64_MIN};
    return at;
}

/* The value of a counter before the window: the last one by time. */
static rocl_status note_value(cut *c, uint64_t key, const value_before *v, rocl_error *err)
{
    uint32_t at = rocl_map_get(&c->counters, key, ROCL_NONE);
    if (v->time >= c->from)
        return ROCL_OK;
    if (at == ROCL_NONE) {
        at = (uint32_t)c->value_count;
        if (!ROCL_GROW(c->values, c->value_cap, c->value_count + 1) ||
            !rocl_map_put(&c->counters, key, at))
            return rocl_fail_memory(err);
        c->values[c->value_count++] = *v;
        return ROCL_OK;
    }
    value_before *known = &c->values[at];
    if (v->incremental || v->time >= known->time) {
        const pfr_sum sum = known->sum;
        *known = *v;
        if (v->incremental && v->sum.cleared == sum.cleared)
            known->sum.value += sum.value;
    }
    return ROCL_OK;
}

static rocl_status note_track_value(cut *c, const pfr_packet *p, uint32_t sequence, int64_t time,
                                    uint64_t uuid, const rocl_pb_field *value, bool real,
                                    rocl_error *err)
{
    const pfr_track *t = pfr_track_of(c->file, p->machine, uuid, p->at);
    const bool incremental = t && t->incremental;
    uint64_t key = track_number(c, p, uuid);
    if (incremental) /* they count on in each sequence */
        key = rocl_mix64(key) ^ sequence;
    return note_value(c, key,
                      &(value_before){.time = time,
                                      .at = p->at,
                                      .value = value->value,
                                      .track = uuid,
                                      .machine = p->machine,
                                      .sequence = p->sequence,
                                      .real = real,
                                      .incremental = incremental,
                                      .sum = {.cleared = c->states[sequence].cleared,
                                              .value = real ? rocl_pb_double(value)
                                                            : (double)(int64_t)value->value}},
                      err);
}

/* Further values of an event, whose tracks stand beside them or in the defaults. */
static rocl_status plan_extra_values(cut *c, const pfr_packet *p, uint32_t sequence, int64_t time,
                                     rocl_error *err)
{
    uint64_t tracks[2][PFR_EXTRA_TRACKS];
    size_t count[2] = {0}, used[2] = {0};
    rocl_pb_field f;
    rocl_status st = ROCL_OK;
    pfr_extra_tracks(c->file, &c->states[sequence], p->body, tracks, count);
    for (rocl_pb r = rocl_pb_of(p->body); st == ROCL_OK && rocl_pb_next(&r, &f);) {
        const int real = f.number == EV_EXTRA_DOUBLE_VALUES;
        if ((f.number != EV_EXTRA_VALUES && !real) || used[real] >= count[real])
            continue;
        st = note_track_value(c, p, sequence, time, tracks[real][used[real]++], &f, real, err);
    }
    return st;
}

/* Marks the packet, of an event of the track, for the copy. */
static bool mark_packet(cut *c, uint32_t track, uint64_t at, uint32_t what)
{
    if (!ROCL_GROW(c->marks, c->mark_cap, c->mark_count + 1))
        return false;
    c->marks[c->mark_count++] = (mark){at, track, what};
    return true;
}

/* A slice with its end, which is INT64_MAX where it has none. */
static bool plan_slice(cut *c, const open_slice *o, int64_t end, uint64_t end_at)
{
    const bool passes = cut_slice_passes(c, o->start, end);
    const bool has_end = end != INT64_MAX;
    const uint32_t track = o->e.track;
    bool ok = true;
    if (!passes) {
        if (cut_in_window(c, o->start))
            ok = mark_packet(c, track, o->at, MARK_LEAVE);
        if (ok && has_end && cut_in_window(c, end))
            ok = mark_packet(c, track, end_at, MARK_LEAVE);
    } else if (c->mode == ROCL_WINDOW_OVERLAP) {
        ok = (cut_in_window(c, o->start) || mark_packet(c, track, o->at, MARK_KEEP)) &&
             (!has_end || cut_in_window(c, end) || mark_packet(c, track, end_at, MARK_KEEP));
    } else if (c->mode == ROCL_WINDOW_CLIP) {
        if (o->start < c->from)
            ok = mark_packet(c, track, o->at, MARK_AT_START);
        if (ok && end > c->to) {
            ok = ROCL_GROW(c->open, c->open_cap, c->open_count + 1);
            if (ok)
                c->open[c->open_count++] = o->e;
        }
    }
    return ok;
}

/* Joins begins and ends as the reader does: an end takes the last open begin of its name, else the
 * last one. Events of a track come in the order of their times. False: memory is out. */
static bool join_edge(cut *c, const open_slice *o)
{
    cut_track *t = &c->tracks[o->e.track];
    if (o->e.begins) {
        if (!ROCL_GROW(t->stack, t->cap, t->depth + 1))
            return false;
        t->stack[t->depth++] = *o;
        return true;
    }
    size_t i = t->depth;
    while (o->e.name && i && t->stack[i - 1].e.name != o->e.name)
        i--;
    i = i ? i : t->depth;
    if (!i) /* an end alone */
        return true;
    const bool ok = plan_slice(c, &t->stack[i - 1], o->start, o->at);
    memmove(&t->stack[i - 1], &t->stack[i], (t->depth - i) * sizeof *t->stack);
    t->depth--;
    return ok;
}

static rocl_status plan_track_event(cut *c, const pfr_packet *p, uint32_t sequence, int64_t time,
                                    rocl_error *err)
{
    const pfr_state *s = &c->states[sequence];
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field f, value = {0};
    uint64_t type = 0, uuid = pfr_track_unsaid(s), iid = 0;
    rocl_view name = {"", 0};
    bool has_value = false, extra = false;
    while (rocl_pb_next(&r, &f)) {
        if (f.number == EV_TYPE) {
            type = f.value;
        } else if (f.number == EV_TRACK) {
            uuid = f.value;
        } else if (f.number == EV_NAME_IID) {
            iid = f.value;
        } else if (f.number == EV_NAME && f.kind == ROCL_PB_BYTES) {
            name = f.bytes;
        } else if (f.number == EV_COUNTER_VALUE || f.number == EV_DOUBLE_VALUE) {
            value = f;
            has_value = true;
        }
        extra |= f.number == EV_EXTRA_VALUES || f.number == EV_EXTRA_DOUBLE_VALUES;
    }
    rocl_status st = ROCL_OK;
    if (extra && !c->edges)
        st = plan_extra_values(c, p, sequence, time, err);
    if (st == ROCL_OK && type == TYPE_COUNTER && has_value && !c->edges)
        st = note_track_value(c, p, sequence, time, uuid, &value, value.number == EV_DOUBLE_VALUE,
                              err);
    if (st != ROCL_OK || (type != TYPE_BEGIN && type != TYPE_END))
        return st;
    open_slice o = {.e = {.uuid = uuid,
                          .machine = p->machine,
                          .sequence = p->sequence,
                          .track = track_number(c, p, uuid),
                          .begins = type == TYPE_BEGIN},
                    .start = time,
                    .at = p->at};
    if (o.e.track == ROCL_NONE)
        return rocl_fail_memory(err);
    o.e.name =
        iid ? pfr_interned_before(c->file, sequence, INTERNED_NAMES, iid, p->at + 1, s->cleared)
            : rocl_strings_put(c->file->bytes, name.p, name.n);
    cut_track *t = &c->tracks[o.e.track];
    if (c->edges) { /* the second walk, for tracks that must be sorted */
        const uint64_t key[3] = {o.e.track, (uint64_t)o.start ^ (uint64_t)1 << 63, o.at};
        return t->unordered ? rocl_sorter_add(c->edges, 0, key, &o, sizeof o, err) : ROCL_OK;
    }
    if (t->unordered)
        return ROCL_OK;
    if (o.start < t->last) {
        t->unordered = c->unordered = true;
        t->depth = 0;
        return ROCL_OK;
    }
    t->last = o.start;
    return join_edge(c, &o) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status plan_gpu_counters(cut *c, const pfr_packet *p, uint32_t sequence, int64_t time,
                                     rocl_error *err)
{
    rocl_pb r = rocl_pb_of(p->body), inner;
    rocl_pb_field f, g;
    value_before v = {
        .time = time, .at = p->at, .machine = p->machine, .sequence = p->sequence, .of_gpu = true};
    rocl_status st = ROCL_OK;
    while (rocl_pb_next(&r, &f)) {
        if (f.number == GPU_COUNTER_GPU)
            v.gpu = f.value;
        else if (f.number == GPU_COUNTER_IID)
            v.descriptor = f.value;
    }
    for (r = rocl_pb_of(p->body); st == ROCL_OK && rocl_pb_next(&r, &f);) {
        if (f.number != GPU_COUNTER_VALUES || f.kind != ROCL_PB_BYTES)
            continue;
        for (inner = rocl_pb_of(f.bytes); rocl_pb_next(&inner, &g);) {
            if (g.number == VALUE_ID) {
                v.track = g.value;
            } else {
                v.value = g.value;
                v.real = g.number == VALUE_DOUBLE;
            }
        }
        const uint64_t key =
            rocl_mix64(v.track ^ rocl_mix64(v.gpu << 32 | sequence)) ^ v.descriptor;
        st = note_value(c, key, &v, err);
    }
    return st;
}

/* What cannot be copied is counted, and the first of it reported. */
static void count_fault(cut *c, uint64_t at, rocl_fault fault, const char *why)
{
    enum { REPORTED = 5 };
    atomic_fetch_add(&c->trace->faults[fault], 1);
    if (c->reported++ < REPORTED)
        rocl_notice(c->trace, "%s: byte %" PRIu64 ": %s", c->file->in->files[0].path, at, why);
}

static rocl_status plan_packet(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                               rocl_error *err)
{
    rocl_fault fault;
    const char *why = pfr_packet_fault(p, m, &fault);
    if (m->lost && !c->edges)
        count_fault(c, p->at, ROCL_FAULT_DROPPED,
                    "packets before this one were lost by the tracer");
    if (!p->why && p->at + 1 == c->file->lost_at && !c->edges)
        count_fault(c, p->at, ROCL_FAULT_DROPPED,
                    "the tracer says that it overwrote or discarded data");
    if (why && !c->edges)
        count_fault(c, p->at, fault, why);
    if (why || !m->has_time)
        return ROCL_OK;
    if (p->payload == PKT_TRACK_EVENT)
        return plan_track_event(c, p, sequence, m->time, err);
    return p->payload == PKT_GPU_COUNTER && !c->edges
               ? plan_gpu_counters(c, p, sequence, m->time, err)
               : ROCL_OK;
}

/* Plans slices that never end, inner ones first. */
static bool plan_open_slices(cut *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->track_count && ok; i++)
        for (cut_track *t = &c->tracks[i]; t->depth && ok; t->depth--)
            ok = plan_slice(c, &t->stack[t->depth - 1], INT64_MAX, 0);
    return ok;
}

ROCL_COMPARE_MEMBERS(compare_values, value_before, at, track)

rocl_status cut_make_plan(cut *c, rocl_error *err)
{
    c->track_count = c->file->track_count;
    if (!ROCL_GROW(c->tracks, c->track_cap, c->track_count + 1))
        return rocl_fail_memory(err);
    for (size_t i = 0; i < c->track_count; i++)
        c->tracks[i] = (cut_track){.last = INT64_MIN};
    rocl_progress_phase(c->trace, "looking through", 0);
    rocl_status st = cut_walk(c, plan_packet, err);
    if (st == ROCL_OK && !plan_open_slices(c))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && c->unordered) {
        /* Tracks whose events were not in order are planned anew. */
        size_t marks = 0, open = 0;
        rocl_sort_record rec;
        bool more = true, ok = true;
        for (size_t i = 0; i < c->mark_count; i++)
            if (!c->tracks[c->marks[i].track].unordered)
                c->marks[marks++] = c->marks[i];
        for (size_t i = 0; i < c->open_count; i++)
            if (!c->tracks[c->open[i].track].unordered)
                c->open[open++] = c->open[i];
        c->mark_count = marks;
        c->open_count = open;
        c->edges = rocl_sorter_new(c->trace->space, 3);
        if (!c->edges)
            return rocl_fail_memory(err);
        st = cut_walk(c, plan_packet, err);
        if (st == ROCL_OK)
            st = rocl_sorter_start(c->edges, err);
        while (st == ROCL_OK && ok) {
            open_slice o;
            st = rocl_sorter_next(c->edges, &rec, &more, err);
            if (st != ROCL_OK || !more)
                break;
            memcpy(&o, rec.data, sizeof o);
            ok = join_edge(c, &o);
        }
        if (st == ROCL_OK && !ok)
            st = rocl_fail_memory(err);
        if (st == ROCL_OK && !plan_open_slices(c))
            st = rocl_fail_memory(err);
    }
    if (c->value_count)
        qsort(c->values, c->value_count, sizeof *c->values, compare_values);
    if (c->mark_count)
        qsort(c->marks, c->mark_count, sizeof *c->marks, rocl_compare_u64);
    return st;
}

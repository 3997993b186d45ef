/* A part of a Perfetto trace by time: its packets as they are, not made anew of events, so that
 * also what nobody here understands stays.
 *
 *     plan    all slices are joined, by an external sort: which packets begin or end a slice that
 *             crosses an edge of the window; what counters are at its start
 *     copy    packets within the window; of those outside what later ones depend on
 *
 * Times of a sequence's own clock are differences: where packets are missing between two, the
 * second gets a new one. What is made at an edge has its time on the trace's clock. */
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/extsort.h"
#include "sink/pftrace/pf.h"
#include "source/pftrace/pftrace.h"
#include "trace/pipeline.h"

/* What happens to a packet that the window alone would treat otherwise. */
enum { MARK_LEAVE = 1, MARK_KEEP = 2, MARK_AT_START = 4 };

/* A slice's begin or end, as it is sorted by track, time and position. */
typedef struct edge {
    uint64_t uuid;
    uint32_t machine, sequence, name;
    bool begins;
} edge;

/* A counter's value when the window begins. */
typedef struct value_before {
    int64_t time;
    uint64_t at;           /* behind the packet at this position it is written */
    uint64_t value, track; /* of a GPU counter: its id */
    uint32_t machine, sequence;
    uint64_t descriptor, gpu;
    bool real, incremental, of_gpu;
    double sum; /* of an incremental one */
} value_before;

typedef struct open_slice {
    edge e;
    int64_t start;
    uint64_t at;
} open_slice;

typedef struct cut {
    rocl_trace *trace;
    pfr_file *file;
    rocl_window_mode mode;
    int64_t from, to;
    int level;
    bool gzip;
    rocl_piped out;
    rocl_written written;
    pfr_state *states; /* of sequences, at the packet at hand */
    /* the plan */
    rocl_sorter *edges;
    rocl_map marks;       /* position -> MARK_... */
    rocl_map counters;    /* track -> index */
    value_before *values; /* by position, when the plan is made */
    size_t value_count, value_cap, value_next;
    edge *open; /* slices that the end of the window closes, inner ones first */
    size_t open_count, open_cap;
    /* the copy */
    uint64_t (*told)[PFR_LOCAL_CLOCKS]; /* by sequence: incremental clocks as the output has them */
    rocl_buf packet;
} cut;

/* ---- walking --------------------------------------------------------------------------------- */

typedef rocl_status packet_fn(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                              rocl_error *err);

static rocl_status walk_packets(cut *c, packet_fn *take, rocl_error *err)
{
    rocl_records_input *in = c->file->in;
    rocl_buf bytes = {0};
    pfr_walk walk = {0};
    pfr_packet p;
    rocl_status st = rocl_records_hold_files(in, err);
    const bool held = st == ROCL_OK;
    memset(c->states, 0, (c->file->sequence_count + 1) * sizeof *c->states);
    for (size_t i = 0; st == ROCL_OK && i < in->piece_count; i++) {
        const rocl_piece *piece = &in->pieces[i];
        const size_t n = (size_t)(piece->last - piece->first);
        size_t got;
        bytes.len = 0;
        if (!rocl_buf_reserve(&bytes, n))
            st = rocl_fail_memory(err);
        else
            st = rocl_spool_read(in->files[0].spool, bytes.data, n, piece->first, &got, err);
        if (st != ROCL_OK)
            break;
        if (got < n) {
            st = rocl_fail(err, ROCL_INPUT, "%s: the file became shorter", in->files[0].path);
            break;
        }
        pfr_walk_begin(&walk, bytes.data, n, c->file->bases[i]);
        while (st == ROCL_OK && pfr_walk_next(&walk, &p)) {
            const uint32_t sequence = p.why ? ROCL_NONE : pfr_sequence(c->file, &p);
            if (sequence == ROCL_NONE) /* it was counted when the trace was opened */
                continue;
            const pfr_moment m =
                pfr_state_step(&c->states[sequence], &c->file->clocks, c->file->bytes, &p);
            st = take(c, &p, sequence, &m, err);
        }
        if (st == ROCL_OK && walk.failed)
            st = rocl_fail_memory(err);
        rocl_progress(c->trace, piece->rows);
    }
    pfr_walk_free(&walk);
    rocl_buf_free(&bytes);
    if (held)
        rocl_records_release_files(in);
    return st;
}

static bool in_window(const cut *c, int64_t time)
{
    return time >= c->from && time <= c->to;
}

/* Does a slice pass? One that never ends has INT64_MAX. */
static bool slice_passes(const cut *c, int64_t start, int64_t end)
{
    return c->mode == ROCL_WINDOW_INSIDE ? start >= c->from && end <= c->to
                                         : end >= c->from && start <= c->to;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static uint64_t track_number(const cut *c, const pfr_packet *p, uint64_t uuid)
{
    const pfr_track *t = pfr_track_of(c->file, p->machine, uuid, p->at);
    return t ? (uint64_t)(t - c->file->tracks) : rocl_mix64(uuid) | (uint64_t)1 << 63;
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
        const double sum = known->sum;
        *known = *v;
        known->sum += sum;
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
    return note_value(
        c, key,
        &(value_before){.time = time,
                        .at = p->at,
                        .value = value->value,
                        .track = uuid,
                        .machine = p->machine,
                        .sequence = p->sequence,
                        .real = real,
                        .incremental = incremental,
                        .sum = real ? rocl_pb_double(value) : (double)(int64_t)value->value},
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

static rocl_status plan_track_event(cut *c, const pfr_packet *p, uint32_t sequence, int64_t time,
                                    rocl_error *err)
{
    const pfr_state *s = &c->states[sequence];
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field f, value = {0};
    uint64_t type = 0, uuid = s->has_default_track ? s->default_track : 0, iid = 0;
    rocl_view name = {"", 0};
    bool has_value = false, extra = false;
    while (rocl_pb_next(&r, &f)) {
        if (f.number == EV_TYPE) {
            type = f.value;
        } else if (f.number == EV_TRACK) {
            uuid = f.value;
        } else if (f.number == EV_NAME_IID) {
            iid = f.value;
        } else if (f.number == EV_NAME) {
            name = f.bytes;
        } else if (f.number == EV_COUNTER_VALUE || f.number == EV_DOUBLE_VALUE) {
            value = f;
            has_value = true;
        }
        extra |= f.number == EV_EXTRA_VALUES || f.number == EV_EXTRA_DOUBLE_VALUES;
    }
    if (extra) {
        rocl_status st = plan_extra_values(c, p, sequence, time, err);
        if (st != ROCL_OK)
            return st;
    }
    if (type == TYPE_COUNTER && has_value)
        return note_track_value(c, p, sequence, time, uuid, &value, value.number == EV_DOUBLE_VALUE,
                                err);
    if (type != TYPE_BEGIN && type != TYPE_END)
        return ROCL_OK;
    edge e = {.uuid = uuid, .machine = p->machine, .sequence = p->sequence};
    e.begins = type == TYPE_BEGIN;
    e.name =
        iid ? pfr_interned_before(c->file, sequence, INTERNED_NAMES, iid, p->at + 1, s->cleared)
            : rocl_strings_put(c->file->bytes, name.p, name.n);
    const uint64_t key[3] = {track_number(c, p, uuid), (uint64_t)time ^ (uint64_t)1 << 63, p->at};
    return rocl_sorter_add(c->edges, 0, key, &e, sizeof e, err);
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

static rocl_status plan_packet(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                               rocl_error *err)
{
    if (!m->usable || !m->has_time)
        return ROCL_OK;
    if (p->payload == PKT_TRACK_EVENT)
        return plan_track_event(c, p, sequence, m->time, err);
    return p->payload == PKT_GPU_COUNTER ? plan_gpu_counters(c, p, sequence, m->time, err)
                                         : ROCL_OK;
}

static bool mark_packet(cut *c, uint64_t at, uint32_t mark)
{
    return rocl_map_put(&c->marks, at, rocl_map_get(&c->marks, at, 0) | mark);
}

/* A slice with its end, which is INT64_MAX where it has none. */
static bool plan_slice(cut *c, const open_slice *o, int64_t end, uint64_t end_at)
{
    const bool passes = slice_passes(c, o->start, end);
    const bool has_end = end != INT64_MAX;
    bool ok = true;
    if (!passes) {
        if (in_window(c, o->start))
            ok = mark_packet(c, o->at, MARK_LEAVE);
        if (ok && has_end && in_window(c, end))
            ok = mark_packet(c, end_at, MARK_LEAVE);
    } else if (c->mode == ROCL_WINDOW_OVERLAP) {
        ok = (in_window(c, o->start) || mark_packet(c, o->at, MARK_KEEP)) &&
             (!has_end || in_window(c, end) || mark_packet(c, end_at, MARK_KEEP));
    } else if (c->mode == ROCL_WINDOW_CLIP) {
        if (o->start < c->from)
            ok = mark_packet(c, o->at, MARK_AT_START);
        if (ok && end > c->to) {
            ok = ROCL_GROW(c->open, c->open_cap, c->open_count + 1);
            if (ok)
                c->open[c->open_count++] = o->e;
        }
    }
    return ok;
}

/* Joins begins and ends as the reader does: an end takes the last open begin of its name, else the
 * last one. */
static rocl_status join_slices(cut *c, rocl_error *err)
{
    open_slice *stack = NULL;
    size_t depth = 0, cap = 0;
    uint64_t track = 0;
    rocl_sort_record rec;
    bool more = true, ok = true;
    rocl_status st = rocl_sorter_start(c->edges, err);
    while (st == ROCL_OK && ok && more) {
        st = rocl_sorter_next(c->edges, &rec, &more, err);
        if (st != ROCL_OK)
            break;
        while (ok && depth && (!more || rec.key[0] != track)) /* inner ones first */
            ok = plan_slice(c, &stack[--depth], INT64_MAX, 0);
        if (!more || !ok)
            break;
        open_slice o = {.start = (int64_t)(rec.key[1] ^ (uint64_t)1 << 63), .at = rec.key[2]};
        memcpy(&o.e, rec.data, sizeof o.e);
        track = rec.key[0];
        if (o.e.begins) {
            ok = ROCL_GROW(stack, cap, depth + 1);
            if (ok)
                stack[depth++] = o;
            continue;
        }
        size_t i = depth;
        while (o.e.name && i && stack[i - 1].e.name != o.e.name)
            i--;
        i = i ? i : depth;
        if (!i) /* an end alone */
            continue;
        ok = plan_slice(c, &stack[i - 1], o.start, o.at);
        memmove(&stack[i - 1], &stack[i], (depth - i) * sizeof *stack);
        depth--;
    }
    free(stack);
    return st == ROCL_OK && !ok ? rocl_fail_memory(err) : st;
}

static int compare_values(const void *a, const void *b)
{
    const value_before *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->track > y->track) - (x->track < y->track);
}

static rocl_status make_plan(cut *c, rocl_error *err)
{
    c->edges = rocl_sorter_new(c->trace->space, 3);
    if (!c->edges)
        return rocl_fail_memory(err);
    rocl_progress_phase(c->trace, "looking through", 0);
    rocl_status st = walk_packets(c, plan_packet, err);
    if (st == ROCL_OK)
        st = join_slices(c, err);
    if (c->value_count)
        qsort(c->values, c->value_count, sizeof *c->values, compare_values);
    return st;
}

/* ---- the copy -------------------------------------------------------------------------------- */

static uint32_t trace_clock(const cut *c)
{
    return c->file->clocks.trace ? c->file->clocks.trace : CLOCK_IS_BOOTTIME;
}

static rocl_status flush_block(cut *c, bool all, rocl_error *err)
{
    const rocl_buf *b = rocl_piped_buf(&c->out);
    if (b->failed)
        return rocl_fail_memory(err);
    return b->len >= PF_BLOCK || (all && b->len) ? rocl_piped_put(&c->out, err) : ROCL_OK;
}

static rocl_status put_packet(cut *c, rocl_error *err)
{
    rocl_buf *to = rocl_piped_buf(&c->out);
    rocl_pb_bytes(to, TRACE_PACKET, c->packet.data, c->packet.len);
    to->failed |= c->packet.failed;
    return flush_block(c, false, err);
}

static void put_time(cut *c, int64_t time)
{
    rocl_pb_uint(&c->packet, PKT_TIMESTAMP, (uint64_t)time);
    rocl_pb_uint(&c->packet, PKT_CLOCK_ID, trace_clock(c));
}

/* Copies the fields of a packet but for its time, and but for its payload where there is to be
 * another one or none. */
static void copy_fields(cut *c, const pfr_packet *p, bool time, bool payload)
{
    rocl_pb r = rocl_pb_of(p->whole);
    rocl_pb_field f;
    const uint8_t *begin = r.at;
    c->packet.len = 0;
    for (; rocl_pb_next(&r, &f); begin = r.at) {
        const bool is_time = f.number == PKT_TIMESTAMP || f.number == PKT_CLOCK_ID;
        if ((is_time && !time) || (f.number == p->payload && !payload))
            continue;
        rocl_buf_put(&c->packet, begin, (size_t)(r.at - begin));
    }
}

/* What packets after this one depend on, without its event. */
static rocl_status copy_state(cut *c, const pfr_packet *p, rocl_error *err)
{
    if (!p->interned.n && !p->defaults.n && !p->first && !p->dropped && !(p->flags & SEQ_CLEARED))
        return ROCL_OK;
    copy_fields(c, p, false, false);
    return put_packet(c, err);
}

/* A packet as it is. Of a sequence's incremental clock the time may have to be another difference
 * than it was. */
static rocl_status copy_whole(cut *c, const pfr_packet *p, uint32_t sequence, rocl_error *err)
{
    const pfr_state *s = &c->states[sequence];
    const unsigned id = p->has_clock ? p->clock : s->default_clock;
    int local = -1;
    for (int i = 0; i < PFR_LOCAL_CLOCKS && p->has_time; i++)
        if (s->clocks[i].id == id && s->clocks[i].incremental)
            local = i;
    if (p->payload == PKT_CLOCK_SNAPSHOT || local < 0) {
        copy_fields(c, p, true, true);
        return put_packet(c, err);
    }
    const pfr_clock *k = &s->clocks[local];
    const uint64_t delta = (k->value - c->told[sequence][local]) / k->unit;
    c->told[sequence][local] = k->value;
    if (delta == p->timestamp) {
        copy_fields(c, p, true, true);
        return put_packet(c, err);
    }
    copy_fields(c, p, false, true);
    rocl_pb_uint(&c->packet, PKT_TIMESTAMP, delta);
    if (p->has_clock)
        rocl_pb_uint(&c->packet, PKT_CLOCK_ID, p->clock);
    return put_packet(c, err);
}

/* With another time, on the trace's clock. */
static rocl_status copy_at(cut *c, const pfr_packet *p, int64_t time, rocl_error *err)
{
    copy_fields(c, p, false, true);
    put_time(c, time);
    return put_packet(c, err);
}

/* GPU work is a whole slice. */
static rocl_status copy_stage(cut *c, const pfr_packet *p, uint32_t sequence, int64_t start,
                              rocl_error *err)
{
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field f;
    uint64_t duration = 0;
    int64_t end;
    while (rocl_pb_next(&r, &f))
        if (f.number == STAGE_DURATION)
            duration = f.value;
    if (__builtin_add_overflow(start, (int64_t)duration, &end))
        end = INT64_MAX;
    if (!slice_passes(c, start, end))
        return copy_state(c, p, err);
    c->written.slices++;
    if (c->mode != ROCL_WINDOW_CLIP || (start >= c->from && end <= c->to))
        return copy_whole(c, p, sequence, err);
    start = start < c->from ? c->from : start;
    end = end > c->to ? c->to : end;
    copy_fields(c, p, false, false);
    put_time(c, start);
    const size_t body = rocl_pb_begin(&c->packet, PKT_GPU_STAGE);
    r = rocl_pb_of(p->body);
    for (const uint8_t *begin = r.at; rocl_pb_next(&r, &f); begin = r.at)
        if (f.number != STAGE_DURATION)
            rocl_buf_put(&c->packet, begin, (size_t)(r.at - begin));
    rocl_pb_uint(&c->packet, STAGE_DURATION, (uint64_t)(end - start));
    rocl_pb_end(&c->packet, body);
    return put_packet(c, err);
}

static void begin_made(cut *c, uint32_t machine, uint32_t sequence, int64_t time)
{
    c->packet.len = 0;
    rocl_pb_uint(&c->packet, PKT_SEQUENCE_ID, sequence);
    if (machine)
        rocl_pb_uint(&c->packet, PKT_MACHINE, machine);
    put_time(c, time);
}

/* Values of counters when the window begins, behind the packet that said them. */
static rocl_status put_values(cut *c, uint64_t at, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && c->value_next < c->value_count && c->values[c->value_next].at <= at) {
        const value_before *v = &c->values[c->value_next++];
        rocl_buf *b = &c->packet;
        begin_made(c, v->machine, v->sequence, c->from);
        if (v->of_gpu) {
            const size_t body = rocl_pb_begin(b, PKT_GPU_COUNTER);
            if (v->descriptor)
                rocl_pb_uint(b, GPU_COUNTER_IID, v->descriptor);
            const size_t value = rocl_pb_begin(b, GPU_COUNTER_VALUES);
            rocl_pb_uint(b, VALUE_ID, v->track);
            if (v->real)
                rocl_pb_fixed64(b, VALUE_DOUBLE, v->value);
            else
                rocl_pb_uint(b, VALUE_INT, v->value);
            rocl_pb_end(b, value);
            rocl_pb_uint(b, GPU_COUNTER_GPU, v->gpu);
            rocl_pb_end(b, body);
        } else {
            uint64_t number = v->value;
            if (v->incremental && v->real)
                memcpy(&number, &v->sum, sizeof number);
            else if (v->incremental)
                number = (uint64_t)(int64_t)v->sum;
            const size_t body = rocl_pb_begin(b, PKT_TRACK_EVENT);
            rocl_pb_uint(b, EV_TYPE, TYPE_COUNTER);
            rocl_pb_uint(b, EV_TRACK, v->track);
            if (v->real)
                rocl_pb_fixed64(b, EV_DOUBLE_VALUE, number);
            else
                rocl_pb_uint(b, EV_COUNTER_VALUE, number);
            rocl_pb_end(b, body);
        }
        c->written.values++;
        st = put_packet(c, err);
    }
    return st;
}

/* Packets that describe something: they are true of the whole trace. */
static bool is_description(uint32_t payload)
{
    static const uint8_t all[] = {PKT_PROCESS_TREE,
                                  PKT_CLOCK_SNAPSHOT,
                                  33,
                                  PKT_TRACE_STATS,
                                  43,
                                  44,
                                  PKT_SYSTEM_INFO,
                                  PKT_TRACK_DESCRIPTOR,
                                  72,
                                  89,
                                  126,
                                  PKT_GPU_INFO};
    for (size_t i = 0; i < sizeof all; i++)
        if (payload == all[i])
            return true;
    return false;
}

static rocl_status copy_event(cut *c, const pfr_packet *p, uint32_t sequence, int64_t time,
                              rocl_error *err)
{
    const uint32_t mark = rocl_map_get(&c->marks, p->at, 0);
    uint64_t type = 0;
    rocl_pb_field f;
    for (rocl_pb r = rocl_pb_of(p->body); p->payload == PKT_TRACK_EVENT && rocl_pb_next(&r, &f);)
        if (f.number == EV_TYPE)
            type = f.value;
    if (mark & MARK_AT_START) {
        c->written.slices++;
        return copy_at(c, p, c->from, err);
    }
    if (mark & MARK_LEAVE || !(in_window(c, time) || mark & MARK_KEEP))
        return copy_state(c, p, err);
    c->written.slices += type == TYPE_BEGIN;
    c->written.instants += type == TYPE_INSTANT;
    c->written.values += type == TYPE_COUNTER || p->payload == PKT_GPU_COUNTER;
    return copy_whole(c, p, sequence, err);
}

static rocl_status copy_packet(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                               rocl_error *err)
{
    rocl_status st;
    const pfr_state *s = &c->states[sequence];
    const bool event = p->payload == PKT_TRACK_EVENT || p->payload == PKT_GPU_STAGE ||
                       p->payload == PKT_GPU_COUNTER;
    if (p->first || p->payload == PKT_CLOCK_SNAPSHOT)
        for (int i = 0; i < PFR_LOCAL_CLOCKS; i++)
            c->told[sequence][i] = s->clocks[i].value;
    if (event && (!m->has_time || !m->usable))
        st = copy_state(c, p, err); /* counted when the trace was opened */
    else if (p->payload == PKT_GPU_STAGE)
        st = copy_stage(c, p, sequence, m->time, err);
    else if (m->has_time && !is_description(p->payload))
        st = copy_event(c, p, sequence, m->time, err);
    else
        st = copy_whole(c, p, sequence, err);
    return st ? st : put_values(c, p->at, err);
}

/* Slices that are open when the window ends. */
static rocl_status close_slices(cut *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->open_count && st == ROCL_OK; i++) {
        const edge *e = &c->open[i];
        begin_made(c, e->machine, e->sequence, c->to);
        const size_t body = rocl_pb_begin(&c->packet, PKT_TRACK_EVENT);
        rocl_pb_uint(&c->packet, EV_TYPE, TYPE_END);
        rocl_pb_uint(&c->packet, EV_TRACK, e->uuid);
        rocl_pb_end(&c->packet, body);
        st = put_packet(c, err);
    }
    return st;
}

/* ---- blocks of the file ---------------------------------------------------------------------- */

static rocl_status pack_block(void *ctx, unsigned worker, rocl_block *b, rocl_error *err)
{
    const cut *c = ctx;
    (void)worker;
    return pf_pack(&b->out, &b->in, c->level, c->gzip, err);
}

static rocl_status write_block(void *ctx, rocl_block *b, rocl_error *err)
{
    const cut *c = ctx;
    return rocl_out_write(c->out.out, b->out.data, b->out.len, err);
}

static const rocl_pipe_ops pipe_ops = {pack_block, write_block};

/* ---- a cut ----------------------------------------------------------------------------------- */

bool rocl_pftrace_is_cut(const rocl_trace *t, const rocl_pftrace_options *o)
{
    const rocl_options *f = &t->opt;
    const bool window = f->start || f->end || f->start_marker || f->end_marker;
    const bool others = f->ranks || f->pids || f->agents || f->include || f->exclude || f->names ||
                        f->exclude_names || f->min_duration || f->kernel_include ||
                        f->kernel_exclude || f->kernel_iterations || f->periods;
    return t->source_count == 1 && t->sources[0]->ops == &rocl_pftrace_ops && window && !others &&
           !o->legacy_tracks && !o->group_by_queue && !f->kernel_rename &&
           f->kernel_names == ROCL_NAMES_DISPLAY;
}

rocl_status rocl_cut_pftrace(rocl_trace *t, const rocl_pftrace_options *o, rocl_written *report,
                             rocl_error *err)
{
    rocl_records_input *in = t->sources[0]->state;
    cut c = {.trace = t, .file = in->state, .mode = t->opt.window_mode};
    rocl_status st = rocl_check_level(o->level, err);
    c.level = rocl_level_or(o->level, ROCL_PFTRACE_LEVEL);
    c.gzip = rocl_out_is_gz(o->path);
    c.states = calloc(c.file->sequence_count + 1, sizeof *c.states);
    c.told = calloc(c.file->sequence_count + 1, sizeof *c.told);
    if (st == ROCL_OK && (!c.states || !c.told))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_pipeline_find_window(t, err);
    if (st == ROCL_OK) {
        rocl_trace_window(t, &c.from, &c.to);
        rocl_records_count_faults(in);
        st = make_plan(&c, err);
    }
    if (st == ROCL_OK)
        st = rocl_piped_open(&c.out, o->path, t->opt.jobs, &pipe_ops, &c, err);
    if (st == ROCL_OK) {
        rocl_progress_phase(t, "writing", 0);
        st = walk_packets(&c, copy_packet, err);
    }
    if (st == ROCL_OK)
        st = close_slices(&c, err);
    t->events[ROCL_REGION] = c.written.slices;
    t->events[ROCL_INSTANT] = c.written.instants;
    t->events[ROCL_SAMPLE] = c.written.values;
    if (st == ROCL_OK)
        st = flush_block(&c, true, err);
    if (st == ROCL_OK)
        st = rocl_piped_finish(&c.out, err);
    if (st == ROCL_OK)
        st = rocl_piped_commit(&c.out, &c.written.bytes, err);
    rocl_piped_discard(&c.out);
    rocl_sorter_free(c.edges);
    rocl_map_free(&c.marks);
    rocl_map_free(&c.counters);
    rocl_buf_free(&c.packet);
    free(c.values);
    free(c.open);
    free(c.states);
    free(c.told);
    if (report)
        *report = c.written;
    return st ? st : rocl_trace_outcome(t);
}

/* A part of a Perfetto trace by time: its packets as they are, not made anew of events, so that
 * also what nobody here understands stays.
 *
 *     plan    begins and ends of slices are joined: which packets begin or end a slice that crosses
 *             an edge of the window; what counters are at its start
 *     copy    packets within the window; of those outside what later ones depend on
 *
 * Events of a track mostly stand in the order of their times, and are joined as they come. Tracks
 * where they do not are looked through once more, and sorted. What is kept in memory are the slices
 * that are open, those that cross an edge, and a value for each counter.
 *
 * Times of a sequence's own clock are differences: where packets are missing between two, the
 * second gets a new one. What is made at an edge has its time on the trace's clock. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/deflate.h"
#include "base/extsort.h"
#include "base/pool.h"
#include "filter/filter.h"
#include "sink/pftrace/pf.h"
#include "source/pftrace/pftrace.h"
#include "trace/pipeline.h"

/* What happens to a packet that the window alone would treat otherwise. */
enum { MARK_LEAVE = 1, MARK_KEEP = 2, MARK_AT_START = 4 };

/* Of a packet at a position. */
typedef struct mark {
    uint64_t at;
    uint32_t track, what; /* index in cut.tracks; MARK_... */
} mark;

/* A slice's begin or end. */
typedef struct edge {
    uint64_t uuid;
    uint32_t machine, sequence, name, track; /* track: index in cut.tracks */
    bool begins;
} edge;

typedef struct open_slice {
    edge e;
    int64_t start;
    uint64_t at;
} open_slice;

typedef struct cut_track {
    open_slice *stack; /* slices that are open at `last` */
    size_t depth, cap;
    int64_t last;
    bool unordered; /* its events are not in the order of their times */
} cut_track;

/* A counter's value when the window begins. */
typedef struct value_before {
    int64_t time;
    uint64_t at;           /* behind the packet at this position it is written */
    uint64_t value, track; /* of a GPU counter: its id */
    uint32_t machine, sequence;
    uint64_t descriptor, gpu;
    bool real, incremental, of_gpu;
    pfr_sum sum; /* of an incremental one */
} value_before;

typedef struct cut cut;
typedef rocl_status packet_fn(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                              rocl_error *err);

struct cut {
    rocl_trace *trace;
    pfr_file *file;
    rocl_window_mode mode;
    int64_t from, to;
    pf_packing packing;
    rocl_piped out;
    rocl_written written;
    /* the walk at hand */
    packet_fn *take;
    pfr_state *states; /* of sequences, at the packet at hand */
    pfr_walk walk;
    size_t piece;
    /* the plan */
    cut_track *tracks; /* those that are described, and others as they come */
    size_t track_count, track_cap;
    rocl_map others;    /* uuid of a track that is not described -> its index */
    rocl_sorter *edges; /* of tracks that are not in order, in the second walk for the plan */
    bool unordered;     /* there are such tracks */
    mark *marks;        /* by position, when the plan is made */
    size_t mark_count, mark_cap, mark_next;
    rocl_map counters;    /* track -> index */
    value_before *values; /* by position, when the plan is made */
    size_t value_count, value_cap, value_next;
    edge *open; /* slices that the end of the window closes, inner ones first */
    size_t open_count, open_cap;
    unsigned reported; /* faults */
    /* the copy */
    uint64_t (*told)[PFR_LOCAL_CLOCKS]; /* by sequence: incremental clocks as the output has them */
    rocl_buf packet;
};

/* ---- walking --------------------------------------------------------------------------------- */

/* Packets of a piece, in the order of the file. */
static rocl_status walk_piece(void *ctx, rocl_block *b, rocl_error *err)
{
    cut *c = ctx;
    pfr_file *f = c->file;
    const rocl_buf *bytes = b->user ? &b->out : &b->in;
    uint64_t last_key = UINT64_MAX;
    uint32_t sequence = ROCL_NONE;
    rocl_status st = ROCL_OK;
    pfr_packet p;
    pfr_moment m;
    pfr_walk_begin(&c->walk, bytes->data, bytes->len, f->bases[c->piece]);
    while (st == ROCL_OK && pfr_walk_next(&c->walk, &p)) {
        const uint64_t key = (uint64_t)p.machine << 32 | p.sequence;
        if (p.why) {
            st = c->take(c, &p, ROCL_NONE, &(pfr_moment){0}, err);
            continue;
        }
        if (key != last_key || sequence == ROCL_NONE)
            sequence = pfr_sequence(f, &p);
        last_key = key;
        if (sequence == ROCL_NONE)
            continue;
        pfr_state_step(&c->states[sequence], &f->clocks, f->bytes, &p, &m);
        st = c->take(c, &p, sequence, &m, err);
    }
    rocl_progress(c->trace, f->in->pieces[c->piece].rows);
    c->piece++;
    return st == ROCL_OK && c->walk.failed ? rocl_fail_memory(err) : st;
}

/* Reads the file and walks through it, while workers unpack what is ahead. */
static rocl_status walk_packets(cut *c, packet_fn *take, rocl_error *err)
{
    static const rocl_pipe_ops ops = {pfr_unpack_block, walk_piece};
    rocl_records_input *in = c->file->in;
    rocl_pipe *pipe;
    rocl_block *b;
    rocl_status st = rocl_records_hold_files(in, err);
    if (st != ROCL_OK)
        return st;
    c->take = take;
    c->piece = 0;
    memset(c->states, 0, (c->file->sequence_count + 1) * sizeof *c->states);
    st = rocl_pipe_new(&pipe, c->trace->opt.jobs, &ops, c, err);
    for (size_t i = 0; st == ROCL_OK && i < in->piece_count; i++) {
        const rocl_piece *piece = &in->pieces[i];
        const size_t n = (size_t)(piece->last - piece->first);
        size_t got = 0;
        st = rocl_pipe_get(pipe, &b, err);
        if (st != ROCL_OK)
            break;
        b->user = c->file->packed ? c : NULL;
        if (!rocl_buf_reserve(&b->in, n))
            st = rocl_fail_memory(err);
        else
            st = rocl_spool_read(in->files[0].spool, b->in.data, n, piece->first, &got, err);
        if (st == ROCL_OK && got < n)
            st = rocl_fail(err, ROCL_INPUT, "%s: the file became shorter", in->files[0].path);
        b->in.len = got;
        const rocl_status put = rocl_pipe_put(pipe, b, st ? NULL : err);
        st = st ? st : put;
    }
    if (st == ROCL_OK)
        st = rocl_pipe_finish(pipe, err);
    else
        rocl_pipe_abort(pipe);
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
    const bool passes = slice_passes(c, o->start, end);
    const bool has_end = end != INT64_MAX;
    const uint32_t track = o->e.track;
    bool ok = true;
    if (!passes) {
        if (in_window(c, o->start))
            ok = mark_packet(c, track, o->at, MARK_LEAVE);
        if (ok && has_end && in_window(c, end))
            ok = mark_packet(c, track, end_at, MARK_LEAVE);
    } else if (c->mode == ROCL_WINDOW_OVERLAP) {
        ok = (in_window(c, o->start) || mark_packet(c, track, o->at, MARK_KEEP)) &&
             (!has_end || in_window(c, end) || mark_packet(c, track, end_at, MARK_KEEP));
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

static rocl_status plan_edge(cut *c, const open_slice *o, rocl_error *err)
{
    cut_track *t = &c->tracks[o->e.track];
    if (c->edges) { /* the second walk, for tracks that must be sorted */
        const uint64_t key[3] = {o->e.track, (uint64_t)o->start ^ (uint64_t)1 << 63, o->at};
        return t->unordered ? rocl_sorter_add(c->edges, 0, key, o, sizeof *o, err) : ROCL_OK;
    }
    if (t->unordered)
        return ROCL_OK;
    if (o->start < t->last) {
        t->unordered = c->unordered = true;
        t->depth = 0;
        return ROCL_OK;
    }
    t->last = o->start;
    return join_edge(c, o) ? ROCL_OK : rocl_fail_memory(err);
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
    return plan_edge(c, &o, err);
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

/* Of slices that never end, inner ones first. */
static bool plan_open_slices(cut *c)
{
    bool ok = true;
    for (size_t i = 0; i < c->track_count && ok; i++)
        for (cut_track *t = &c->tracks[i]; t->depth && ok; t->depth--)
            ok = plan_slice(c, &t->stack[t->depth - 1], INT64_MAX, 0);
    return ok;
}

/* Plans tracks anew whose events were not in order. */
static rocl_status sort_edges(cut *c, rocl_error *err)
{
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
    rocl_status st = walk_packets(c, plan_packet, err);
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
    return st == ROCL_OK && !ok ? rocl_fail_memory(err) : st;
}

static int compare_marks(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
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
    c->track_count = c->file->track_count;
    if (!ROCL_GROW(c->tracks, c->track_cap, c->track_count + 1))
        return rocl_fail_memory(err);
    for (size_t i = 0; i < c->track_count; i++)
        c->tracks[i] = (cut_track){.last = INT64_MIN};
    rocl_progress_phase(c->trace, "looking through", 0);
    rocl_status st = walk_packets(c, plan_packet, err);
    if (st == ROCL_OK && !plan_open_slices(c))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && c->unordered) {
        st = sort_edges(c, err);
        if (st == ROCL_OK && !plan_open_slices(c))
            st = rocl_fail_memory(err);
    }
    if (c->value_count)
        qsort(c->values, c->value_count, sizeof *c->values, compare_values);
    if (c->mark_count)
        qsort(c->marks, c->mark_count, sizeof *c->marks, compare_marks);
    return st;
}

/* What the plan says of the packet at a position; positions ascend. */
static uint32_t next_marks(cut *c, uint64_t at)
{
    uint32_t what = 0;
    while (c->mark_next < c->mark_count && c->marks[c->mark_next].at < at)
        c->mark_next++;
    for (size_t i = c->mark_next; i < c->mark_count && c->marks[i].at == at; i++)
        what |= c->marks[i].what;
    return what;
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

/* Copies what a GPU counter event says besides values; false: it does not describe counters. */
static bool copy_descriptor(cut *c, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field f;
    bool describes = false;
    if (p->payload != PKT_GPU_COUNTER)
        return false;
    const size_t before = c->packet.len, body = rocl_pb_begin(&c->packet, PKT_GPU_COUNTER);
    for (const uint8_t *begin = r.at; rocl_pb_next(&r, &f); begin = r.at) {
        describes |= f.number == GPU_COUNTER_DESCRIPTOR;
        if (f.number != GPU_COUNTER_VALUES)
            rocl_buf_put(&c->packet, begin, (size_t)(r.at - begin));
    }
    rocl_pb_end(&c->packet, body);
    c->packet.len = describes ? c->packet.len : before;
    return describes;
}

/* What packets after this one depend on, without its event. */
static rocl_status copy_state(cut *c, const pfr_packet *p, rocl_error *err)
{
    const bool more =
        p->interned.n || p->defaults.n || p->first || p->dropped || (p->flags & SEQ_CLEARED);
    if (!more && p->payload != PKT_GPU_COUNTER)
        return ROCL_OK;
    copy_fields(c, p, false, false);
    return copy_descriptor(c, p) || more ? put_packet(c, err) : ROCL_OK;
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
    uint64_t delta = p->timestamp;
    if (p->payload != PKT_CLOCK_SNAPSHOT && local >= 0) {
        const pfr_clock *k = &s->clocks[local];
        delta = (k->value - c->told[sequence][local]) / k->unit;
        c->told[sequence][local] = k->value;
    }
    if (delta == p->timestamp) {
        rocl_pb_bytes(rocl_piped_buf(&c->out), TRACE_PACKET, p->whole.p, p->whole.n);
        return flush_block(c, false, err);
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
                memcpy(&number, &v->sum.value, sizeof number);
            else if (v->incremental)
                number = (uint64_t)(int64_t)v->sum.value;
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
                                  PKT_GPU_COUNTER, /* which has no values */
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
    const uint32_t marks = next_marks(c, p->at);
    uint64_t type = 0;
    rocl_pb_field f;
    if (marks & MARK_AT_START) {
        c->written.slices++;
        return copy_at(c, p, c->from, err);
    }
    if (marks & MARK_LEAVE || !(in_window(c, time) || marks & MARK_KEEP))
        return copy_state(c, p, err);
    for (rocl_pb r = rocl_pb_of(p->body); p->payload == PKT_TRACK_EVENT && rocl_pb_next(&r, &f);)
        if (f.number == EV_TYPE)
            type = f.value;
    c->written.slices += type == TYPE_BEGIN;
    c->written.instants += type == TYPE_INSTANT;
    c->written.values += type == TYPE_COUNTER || p->payload == PKT_GPU_COUNTER;
    return copy_whole(c, p, sequence, err);
}

static rocl_status copy_packet(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                               rocl_error *err)
{
    rocl_status st;
    if (p->why)
        return ROCL_OK;
    const pfr_state *s = &c->states[sequence];
    if (p->first || p->payload == PKT_CLOCK_SNAPSHOT)
        for (int i = 0; i < PFR_LOCAL_CLOCKS; i++)
            c->told[sequence][i] = s->clocks[i].value;
    const bool event = pfr_is_event(p);
    if (event && (!m->has_time || !m->usable))
        st = copy_state(c, p, err); /* the plan has counted it */
    else if (p->payload == PKT_GPU_STAGE)
        st = copy_stage(c, p, sequence, m->time, err);
    else if (event || (m->has_time && !is_description(p->payload)))
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
    return pf_pack(&b->out, &b->in, &c->packing, err);
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
    return t->source_count == 1 && t->sources[0]->ops == &rocl_pftrace_ops &&
           pfr_options_cut(&t->opt) && !o->legacy_tracks && !o->group_by_queue;
}

static rocl_status note_times(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                              rocl_error *err)
{
    (void)sequence;
    (void)err;
    pfr_note_times(c->file, p, m);
    return ROCL_OK;
}

/* The window as times of the trace. What begins and ends it without being an event of the trace
 * does not matter: nothing was joined yet. */
static rocl_status find_window(cut *c, rocl_error *err)
{
    rocl_trace *t = c->trace;
    pfr_file *f = c->file;
    rocl_status st = ROCL_OK;
    if (f->looked_through) /* by a marker, which only events know */
        st = rocl_pipeline_find_window(t, err);
    else if (f->times_unsure) {
        f->first = INT64_MAX;
        f->last = INT64_MIN;
        st = walk_packets(c, note_times, err);
    }
    if (st == ROCL_OK && !f->looked_through) {
        if (f->first <= f->last && rocl_filter_needs_bounds(t->filter))
            rocl_filter_set_bounds(t->filter, f->first, f->last);
        st = rocl_filter_resolve(t->filter, err);
        if (st == ROCL_OK && f->first <= f->last)
            st = rocl_filter_within(t->filter, f->first, f->last, err);
    }
    rocl_trace_window(t, &c->from, &c->to);
    return st;
}

static void free_cut(cut *c)
{
    rocl_piped_discard(&c->out);
    for (size_t i = 0; i < c->track_count && c->tracks; i++)
        free(c->tracks[i].stack);
    free(c->tracks);
    rocl_map_free(&c->others);
    rocl_sorter_free(c->edges);
    free(c->marks);
    rocl_map_free(&c->counters);
    rocl_buf_free(&c->packet);
    pfr_walk_free(&c->walk);
    free(c->values);
    free(c->open);
    free(c->states);
    free(c->told);
}

rocl_status rocl_cut_pftrace(rocl_trace *t, const rocl_pftrace_options *o, rocl_written *report,
                             rocl_error *err)
{
    const rocl_records_input *in = t->sources[0]->state;
    cut c = {.trace = t, .file = in->state, .mode = t->opt.window_mode};
    rocl_status st = pf_packing_of(&c.packing, o, err);
    c.states = calloc(c.file->sequence_count + 1, sizeof *c.states);
    c.told = calloc(c.file->sequence_count + 1, sizeof *c.told);
    if (st == ROCL_OK && (!c.states || !c.told))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = find_window(&c, err);
    if (st == ROCL_OK)
        st = make_plan(&c, err);
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
        st = rocl_piped_commit(&c.out, t, &c.written.bytes, err);
    free_cut(&c);
    if (report)
        *report = c.written;
    return st ? st : rocl_trace_outcome(t);
}

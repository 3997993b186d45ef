/* The copy of a cut: packets within the window, and what later ones depend on. */
#include "merge/pftrace/cut.h"

rocl_status cut_flush(cut *c, bool all, rocl_error *err)
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
    return cut_flush(c, false, err);
}

static void put_time(cut *c, int64_t time)
{
    rocl_pb_uint(&c->packet, PKT_TIMESTAMP, (uint64_t)time);
    rocl_pb_uint(&c->packet, PKT_CLOCK_ID,
                 c->file->clocks.trace ? c->file->clocks.trace : CLOCK_IS_BOOTTIME);
}

/* Copies the fields of a packet except its time, and its payload if that is replaced or dropped. */
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
    const bool more =
        p->interned.n || p->defaults.n || p->first || p->dropped || (p->flags & SEQ_CLEARED);
    if (!more && p->payload != PKT_GPU_COUNTER)
        return ROCL_OK;
    copy_fields(c, p, false, false);
    if (p->payload != PKT_GPU_COUNTER)
        return put_packet(c, err);
    /* What a GPU counter event says besides values, if it describes counters. */
    rocl_pb r = rocl_pb_of(p->body);
    rocl_pb_field f;
    bool describes = false;
    const size_t before = c->packet.len, body = rocl_pb_begin(&c->packet, PKT_GPU_COUNTER);
    for (const uint8_t *begin = r.at; rocl_pb_next(&r, &f); begin = r.at) {
        describes |= f.number == GPU_COUNTER_DESCRIPTOR;
        if (f.number != GPU_COUNTER_VALUES)
            rocl_buf_put(&c->packet, begin, (size_t)(r.at - begin));
    }
    rocl_pb_end(&c->packet, body);
    c->packet.len = describes ? c->packet.len : before;
    return describes || more ? put_packet(c, err) : ROCL_OK;
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
        return cut_flush(c, false, err);
    }
    copy_fields(c, p, false, true);
    rocl_pb_uint(&c->packet, PKT_TIMESTAMP, delta);
    if (p->has_clock)
        rocl_pb_uint(&c->packet, PKT_CLOCK_ID, p->clock);
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
    if (!cut_slice_passes(c, start, end))
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

/* Puts values of counters at the begin of the window, after the packet that they come from. */
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
    uint32_t marks = 0; /* what the plan says of the packet; positions ascend */
    uint64_t type = 0;
    rocl_pb_field f;
    while (c->mark_next < c->mark_count && c->marks[c->mark_next].at < p->at)
        c->mark_next++;
    for (size_t i = c->mark_next; i < c->mark_count && c->marks[i].at == p->at; i++)
        marks |= c->marks[i].what;
    if (marks & MARK_AT_START) {
        c->written.slices++;
        copy_fields(c, p, false, true);
        put_time(c, c->from);
        return put_packet(c, err);
    }
    if (marks & MARK_LEAVE || !(cut_in_window(c, time) || marks & MARK_KEEP))
        return copy_state(c, p, err);
    for (rocl_pb r = rocl_pb_of(p->body); p->payload == PKT_TRACK_EVENT && rocl_pb_next(&r, &f);)
        if (f.number == EV_TYPE)
            type = f.value;
    c->written.slices += type == TYPE_BEGIN;
    c->written.instants += type == TYPE_INSTANT;
    c->written.values += type == TYPE_COUNTER || p->payload == PKT_GPU_COUNTER;
    return copy_whole(c, p, sequence, err);
}

rocl_status cut_copy_packet(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
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

rocl_status cut_close_slices(cut *c, rocl_error *err)
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

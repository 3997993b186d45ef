/* Packet sequences: times as differences, interned texts, annotations. */
#include <stdlib.h>

#include "base/array.h"
#include "sink/pftrace/fields.h"
#include "sink/pftrace/pf.h"

void pf_seq_begin(pf_seq *q, uint32_t id, uint32_t machine, int64_t from, uint64_t track)
{
    rocl_buf *b = q->block;
    q->id = id;
    q->machine = machine;
    q->now = from;
    q->field = 0;
    q->pending.len = 0;
    for (int i = 0; i < PF_INTERNS; i++)
        q->next_iid[i] = 1;
    size_t packet = rocl_pb_begin(b, TRACE_PACKET);
    rocl_pb_uint(b, PKT_SEQUENCE_ID, q->id);
    rocl_pb_uint(b, PKT_SEQUENCE_FLAGS, SEQ_CLEARED);
    rocl_pb_uint(b, PKT_FIRST_ON_SEQUENCE, 1);
    if (machine)
        rocl_pb_uint(b, PKT_MACHINE, machine);
    size_t snapshot = rocl_pb_begin(b, PKT_CLOCK_SNAPSHOT);
    size_t clock = rocl_pb_begin(b, SNAPSHOT_CLOCKS);
    rocl_pb_uint(b, CLOCK_ID, CLOCK_BOOTTIME);
    rocl_pb_uint(b, CLOCK_TIME, (uint64_t)from);
    rocl_pb_end(b, clock);
    clock = rocl_pb_begin(b, SNAPSHOT_CLOCKS);
    rocl_pb_uint(b, CLOCK_ID, CLOCK_DELTA);
    rocl_pb_uint(b, CLOCK_TIME, (uint64_t)from);
    rocl_pb_uint(b, CLOCK_INCREMENTAL, 1);
    rocl_pb_end(b, clock);
    rocl_pb_uint(b, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME);
    rocl_pb_end(b, snapshot);
    size_t defaults = rocl_pb_begin(b, PKT_DEFAULTS);
    rocl_pb_uint(b, DEFAULTS_CLOCK_ID, CLOCK_DELTA);
    if (track) {
        size_t event = rocl_pb_begin(b, DEFAULTS_TRACK_EVENT);
        rocl_pb_uint(b, TRACK_EVENT_DEFAULT_TRACK, track);
        rocl_pb_end(b, event);
    }
    rocl_pb_end(b, defaults);
    rocl_pb_end(b, packet);
}

void pf_seq_free(pf_seq *q)
{
    for (int i = 0; i < PF_INTERNS; i++)
        free(q->iids[i].entries);
    rocl_buf_free(&q->pending);
    rocl_buf_free(&q->body);
}

rocl_buf *pf_event_begin(pf_seq *q, int64_t time)
{
    q->delta = (uint64_t)(time - q->now);
    q->now = time;
    q->body.len = 0;
    return &q->body;
}

/* What every packet of the sequence says, up to the event itself. */
static void put_head(pf_seq *q, uint32_t field)
{
    uint8_t *p = q->head;
    p = rocl_pb_tag(p, PKT_SEQUENCE_ID, ROCL_PB_VARINT);
    p = rocl_varint_put(p, q->id);
    if (q->machine) {
        p = rocl_pb_tag(p, PKT_MACHINE, ROCL_PB_VARINT);
        p = rocl_varint_put(p, q->machine);
    }
    p = rocl_pb_tag(p, field, ROCL_PB_BYTES);
    q->head_len = (uint8_t)(p - q->head);
    q->field = field;
}

/* What changes from packet to packet, ids and the time, goes to the end, and what does not to the
 * begin: compression finds longer repetitions, and less of them. */
void pf_event_end(pf_seq *q, uint32_t field)
{
    rocl_buf *b = q->block;
    size_t n = q->body.len;
    if (q->field != field)
        put_head(q, field);
    if (q->pending.len)
        n += 1 + rocl_varint_size(q->pending.len) + q->pending.len;
    n += q->head_len + rocl_varint_size(q->body.len) + 1 + rocl_varint_size(q->delta);
    b->failed |= q->pending.failed | q->body.failed;
    if (b->failed || !rocl_buf_room(b, n + 1 + ROCL_VARINT_MAX + sizeof q->head))
        return;
    uint8_t *p = rocl_pb_tag(b->data + b->len, TRACE_PACKET, ROCL_PB_BYTES);
    p = rocl_varint_put(p, n);
    if (q->pending.len) {
        p = rocl_pb_tag(p, PKT_INTERNED, ROCL_PB_BYTES);
        p = rocl_varint_put(p, q->pending.len);
        memcpy(p, q->pending.data, q->pending.len);
        p += q->pending.len;
        q->pending.len = 0;
    }
    memcpy(p, q->head, sizeof q->head);
    p = rocl_varint_put(p + q->head_len, q->body.len);
    memcpy(p, q->body.data, q->body.len);
    p = rocl_pb_tag(p + q->body.len, PKT_TIMESTAMP, ROCL_PB_VARINT);
    b->len = (size_t)(rocl_varint_put(p, q->delta) - b->data);
}

void pf_text(rocl_buf *b, uint32_t field, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(t->strings, text, &n);
    if (rocl_utf8_valid(p, n)) {
        rocl_pb_bytes(b, field, p, n);
        return;
    }
    size_t at = rocl_pb_begin(b, field);
    rocl_utf8_put(b, p, n);
    rocl_pb_end(b, at);
}

uint32_t pf_iid_custom(pf_seq *q, enum pf_intern table, uint32_t key, bool *fresh)
{
    pf_iids *t = &q->iids[table];
    *fresh = false;
    if (key == ROCL_NONE || !ROCL_GROW(t->entries, t->cap, key + (size_t)1)) {
        q->pending.failed = true;
        return 0;
    }
    if (t->entries[key].sequence != q->id) {
        *fresh = true;
        t->entries[key].sequence = q->id;
        t->entries[key].iid = q->next_iid[table]++;
    }
    return t->entries[key].iid;
}

uint32_t pf_iid_new(pf_seq *q, enum pf_intern table, uint32_t text)
{
    static const uint16_t fields[PF_INTERNS] = {[PF_NAMES] = INTERNED_NAMES,
                                                [PF_CATEGORIES] = INTERNED_CATEGORIES,
                                                [PF_ANNOTATIONS] = INTERNED_ANNOTATIONS,
                                                [PF_KERNELS] = INTERNED_KERNELS,
                                                [PF_ARG_NAMES] = INTERNED_ARG_NAMES,
                                                [PF_STRINGS] = INTERNED_STRINGS};
    bool fresh;
    uint32_t iid = pf_iid_custom(q, table, text, &fresh);
    if (fresh) {
        size_t at = rocl_pb_begin(&q->pending, fields[table]);
        rocl_pb_uint(&q->pending, IID, iid);
        pf_text(&q->pending, IID_NAME, q->trace, text);
        rocl_pb_end(&q->pending, at);
    }
    return iid;
}

/* ---- debug annotations ---- */

void pf_note_uint(pf_seq *q, rocl_buf *b, uint32_t name, uint64_t v)
{
    size_t at = rocl_pb_begin(b, EV_ANNOTATION);
    rocl_pb_uint(b, NOTE_NAME_IID, pf_iid(q, PF_ANNOTATIONS, name));
    rocl_pb_uint(b, NOTE_UINT, v);
    rocl_pb_end(b, at);
}

void pf_note_str(pf_seq *q, rocl_buf *b, uint32_t name, const char *p, size_t n)
{
    size_t at = rocl_pb_begin(b, EV_ANNOTATION);
    rocl_pb_uint(b, NOTE_NAME_IID, pf_iid(q, PF_ANNOTATIONS, name));
    size_t text = rocl_pb_begin(b, NOTE_STRING);
    rocl_utf8_put(b, p, n);
    rocl_pb_end(b, text);
    rocl_pb_end(b, at);
}

/* Packet sequences: times as differences, interned texts, annotations. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "sink/pftrace/pf.h"

void pf_seq_begin(pf_seq *q, uint32_t id, uint32_t machine, int64_t from, uint64_t track)
{
    rocl_buf *b = q->block;
    q->id = id;
    q->machine = machine;
    q->now = from;
    for (int i = 0; i < PF_IDS_PLACES; i++)
        q->heads[i].field = 0;
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
    rocl_pb_uint(b, CLOCK_ID, CLOCK_IS_BOOTTIME);
    rocl_pb_uint(b, CLOCK_TIME, (uint64_t)from);
    rocl_pb_end(b, clock);
    clock = rocl_pb_begin(b, SNAPSHOT_CLOCKS);
    rocl_pb_uint(b, CLOCK_ID, CLOCK_IS_DELTA);
    rocl_pb_uint(b, CLOCK_TIME, (uint64_t)from);
    rocl_pb_uint(b, CLOCK_INCREMENTAL, 1);
    rocl_pb_end(b, clock);
    rocl_pb_uint(b, SNAPSHOT_PRIMARY, CLOCK_IS_BOOTTIME);
    rocl_pb_end(b, snapshot);
    size_t defaults = rocl_pb_begin(b, PKT_DEFAULTS);
    rocl_pb_uint(b, DEFAULTS_CLOCK_ID, CLOCK_IS_DELTA);
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
}

/* The fields of every packet of the sequence, up to the event itself. */
void pf_head_make(pf_seq *q, uint32_t field, enum pf_ids place)
{
    pf_head *head = &q->heads[place];
    uint8_t *p = rocl_pb_put_uint(q->ids, PKT_SEQUENCE_ID, q->id);
    if (q->machine)
        p = rocl_pb_put_uint(p, PKT_MACHINE, q->machine);
    q->ids_len = (uint8_t)(p - q->ids);
    p = rocl_pb_open(head->bytes, TRACE_PACKET);
    if (place == PF_IDS_FIRST)
        p = mempcpy(p, q->ids, q->ids_len);
    p = rocl_pb_open(p, field);
    head->len = (uint8_t)(p - head->bytes);
    head->field = field;
}

void pf_event_end_long(pf_seq *q)
{
    rocl_buf *b = q->block;
    b->failed |= q->pending.failed;
    if (b->failed)
        return;
    rocl_pb_end(b, q->body);
    if (q->place == PF_IDS_LAST)
        rocl_buf_put(b, q->ids, q->ids_len);
    rocl_pb_uint(b, PKT_TIMESTAMP, q->delta);
    /* Interned data goes before all that the packet has already. */
    size_t at = q->packet + 2, n = b->len - at, more = q->pending.len + 1 + ROCL_VARINT_MAX;
    if (q->pending.len && rocl_buf_reserve(b, more)) {
        more = 1 + rocl_varint_size(q->pending.len) + q->pending.len;
        memmove(b->data + at + more, b->data + at, n);
        b->len = at;
        rocl_pb_bytes(b, PKT_INTERNED, q->pending.data, q->pending.len);
        b->len += n;
        q->pending.len = 0;
    }
    rocl_pb_end(b, q->packet + 2);
}

void pf_string(rocl_buf *b, uint32_t field, const char *p, size_t n)
{
    if (rocl_utf8_valid(p, n)) {
        rocl_pb_bytes(b, field, p, n);
        return;
    }
    size_t at = rocl_pb_begin(b, field);
    rocl_utf8_put(b, p, n);
    rocl_pb_end(b, at);
}

void pf_text(rocl_buf *b, uint32_t field, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(t->strings, text, &n);
    pf_string(b, field, p, n);
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
    if (rocl_buf_reserve(b, 3 * (ROCL_PB_TAG_MAX + ROCL_VARINT_MAX)))
        b->len = (size_t)(pf_put_note(q, b->data + b->len, name, v) - b->data);
}

uint8_t *pf_put_number(uint8_t *p, uint32_t integer, uint32_t real, double v)
{
    uint64_t bits;
    if (v >= -9007199254740992.0 && v <= 9007199254740992.0 && trunc(v) == v)
        return rocl_pb_put_uint(p, integer, (uint64_t)(int64_t)v);
    memcpy(&bits, &v, sizeof bits);
    return rocl_pb_put_fixed64(p, real, bits);
}

void pf_note_number(pf_seq *q, rocl_buf *b, uint32_t name, double v)
{
    if (!rocl_buf_reserve(b, 3 * (ROCL_PB_TAG_MAX + ROCL_VARINT_MAX)))
        return;
    uint8_t *note = rocl_pb_open(b->data + b->len, EV_ANNOTATION);
    uint8_t *p = rocl_pb_put_uint(note, NOTE_NAME_IID, pf_iid(q, PF_ANNOTATIONS, name));
    p = pf_put_number(p, NOTE_INT, NOTE_DOUBLE, v);
    b->len = (size_t)(rocl_pb_close(note, p) - b->data);
}

void pf_note_str(pf_seq *q, rocl_buf *b, uint32_t name, const char *p, size_t n)
{
    size_t at = rocl_pb_begin(b, EV_ANNOTATION);
    rocl_pb_uint(b, NOTE_NAME_IID, pf_iid(q, PF_ANNOTATIONS, name));
    pf_string(b, NOTE_STRING, p, n);
    rocl_pb_end(b, at);
}

/* Records that the first pass keeps, so that the second need not parse them again.
 *
 * A record is encoded as what differs from the last one of its likeness (kind, name, thread, ...):
 *
 *     u16           entry of that one in the table << 1 | the same words differ as before
 *     u64           which words differ, unless they are the same
 *     varint, ...   for each of these words the difference, as a signed number
 *
 * mostly 10 to 25 bytes. The table begins empty with each piece. The memory is part of that of the
 * sorters (--memory), and what has no place in it goes to their temporary file. Where that cannot
 * be written, pieces are parsed again. */
#include <stdlib.h>

#include "base/extsort.h"
#include "source/records/run.h"

enum {
    RECORD_MAX = 2 + 8 + ROCL_WORDS * ROCL_VARINT_MAX,
    PIECE_MAX = 8 << 20 /* encoded; those of databases may be large */
};
_Static_assert(ROCL_RECENT <= 1 << 15, "an entry and a bit are 16 bits");

static rocl_recent *recent_at(rocl_records *w, size_t i)
{
    rocl_recent *e = &w->recent[i];
    const uint64_t piece = 1 + (uint64_t)(w->piece - w->in->pieces);
    if (e->piece != piece) {
        memset(e, 0, sizeof *e);
        e->piece = piece;
    }
    return e;
}

rocl_recent *rocl_recent_put(rocl_records *w, const rocl_plain_record *r)
{
    const uint64_t parts[] = {(uint64_t)r->kind << 32 | r->name, r->thread, r->agent,
                              r->queue ^ r->stream << 16,        r->kernel, r->counter};
    const uint64_t *from = (const uint64_t *)(const void *)r;
    const size_t words = ROCL_WORDS_OF_HEAD + rocl_kind_size((rocl_kind)r->kind) / 8;
    uint64_t h = 0, changed = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        h = (h ^ parts[i]) * 0x9e3779b97f4a7c15u;
    const size_t at = (size_t)(h >> 40) % ROCL_RECENT;
    rocl_recent *e = recent_at(w, at);
    uint64_t *to = (uint64_t *)(void *)&e->r;
    for (size_t i = 0; i < words; i++)
        changed |= (uint64_t)(from[i] != to[i]) << i;
    e->where_before = e->r.where;
    if (w->keeps && rocl_buf_reserve(&w->kept, RECORD_MAX)) {
        uint8_t *p = w->kept.data + w->kept.len;
        const bool same = changed == e->changed;
        const uint16_t head = (uint16_t)(at << 1 | same);
        memcpy(p, &head, sizeof head);
        p += sizeof head;
        if (!same) {
            memcpy(p, &changed, sizeof changed);
            p += sizeof changed;
        }
        for (uint64_t left = changed; left; left &= left - 1) {
            const unsigned i = (unsigned)__builtin_ctzll(left);
            p = rocl_varint_put(p, rocl_zigzag((int64_t)(from[i] - to[i])));
            to[i] = from[i];
        }
        w->kept.len = (size_t)(p - w->kept.data);
        w->keeps = w->kept.len < PIECE_MAX;
    } else {
        memcpy(to, from, words * sizeof *to);
    }
    e->changed = changed;
    return e;
}

rocl_recent *rocl_kept_next(rocl_records *w, const uint8_t **p)
{
    uint16_t head;
    memcpy(&head, *p, sizeof head);
    *p += sizeof head;
    rocl_recent *e = recent_at(w, head >> 1);
    uint64_t *to = (uint64_t *)(void *)&e->r;
    if (!(head & 1)) {
        memcpy(&e->changed, *p, sizeof e->changed);
        *p += sizeof e->changed;
    }
    for (uint64_t left = e->changed; left; left &= left - 1) {
        uint64_t v = *(*p)++;
        if (v >= 0x80) {
            v &= 0x7f;
            for (unsigned shift = 7;; shift += 7) {
                const uint8_t c = *(*p)++;
                v |= (uint64_t)(c & 0x7f) << shift;
                if (!(c & 0x80))
                    break;
            }
        }
        to[__builtin_ctzll(left)] += (uint64_t)rocl_unzigzag(v);
    }
    return e;
}

void rocl_kept_begin(rocl_records *w)
{
    w->kept.len = 0;
    w->keeps = w->in->run->kept && !atomic_load_explicit(&w->in->run->full, memory_order_relaxed);
}

rocl_status rocl_kept_store(rocl_records_input *in, const rocl_buf *bytes, rocl_kept_piece *to,
                            rocl_error *err)
{
    rocl_sort_space *space = in->trace->space;
    rocl_status st = ROCL_OK;
    if (rocl_space_keep(space, bytes->len)) {
        if ((to->data = malloc(bytes->len)))
            memcpy(to->data, bytes->data, bytes->len);
        else
            rocl_space_unkeep(space, bytes->len);
    }
    if (!to->data)
        st = rocl_space_spill(space, bytes->data, bytes->len, &to->offset, err);
    to->size = st == ROCL_OK ? bytes->len : 0;
    return st;
}

void rocl_kept_end(rocl_records *w)
{
    rocl_records_run *run = w->in->run;
    if (w->keeps && !w->kept.failed && w->kept.len &&
        rocl_kept_store(w->in, &w->kept, &run->kept[w->piece - w->in->pieces], NULL) != ROCL_OK)
        atomic_store_explicit(&run->full, true, memory_order_relaxed);
}

rocl_status rocl_kept_load(rocl_records *w, const rocl_kept_piece *k, const uint8_t **p,
                           rocl_error *err)
{
    *p = k->data;
    if (k->data)
        return ROCL_OK;
    w->kept.len = 0;
    if (!rocl_buf_reserve(&w->kept, k->size))
        return rocl_fail_memory(err);
    *p = w->kept.data;
    return rocl_space_read(w->in->trace->space, w->kept.data, k->size, k->offset, err);
}

void rocl_kept_free(rocl_records_input *in, rocl_kept_piece *k)
{
    if (k->data)
        rocl_space_unkeep(in->trace->space, k->size);
    free(k->data);
    *k = (rocl_kept_piece){0};
}

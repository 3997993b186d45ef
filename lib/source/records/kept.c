/* Records that the first pass keeps, so that the second need not parse them again.
 *
 * A record is encoded as what differs from the last one of its likeness (kind, name, thread, ...):
 *
 *     u16         entry of that one in the table << 1 | the same words differ as before
 *     u64         which words differ, unless they are the same
 *     nibble ...  how many bytes the difference of each of these words takes; two to a byte, the
 *                 lower one first
 *     bytes ...   the differences, as signed numbers (zigzag), little-endian
 *
 * mostly 10 to 25 bytes: no byte is looked at to find where the next value begins. Differences are
 * read and written 8 bytes at a time. The table begins empty with each piece. The memory is part of
 * that of the sorters (--memory), and what has no place in it goes to their temporary file. Where
 * that cannot be written, pieces are parsed again. */
#include <stdlib.h>

#include "base/extsort.h"
#include "base/map.h"
#include "model/kinds.h"
#include "source/records/run.h"

enum {
    SLACK = 8, /* bytes that may be read behind the end */
    RECORD_MAX = 2 + 8 + ROCL_WORDS / 2 + ROCL_WORDS * 8 + SLACK,
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

/* Two words, as the machine compares them. */
typedef uint64_t word_pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline bool is_zero(word_pair v)
{
    return !(v[0] | v[1]);
}

/* The words in which two records differ: mostly few adjacent ones, and no keys. */
static inline uint64_t find_changes(const uint64_t *a, const uint64_t *b, size_t words)
{
    enum { KEYS = ROCL_WORDS_OF_KEYS / 4 * 4 };
    const word_pair *x = (const word_pair *)(const void *)a,
                    *y = (const word_pair *)(const void *)b;
    word_pair keys = x[0] ^ y[0];
    uint64_t changed = 0;
    size_t i = KEYS;
    for (size_t k = 1; k < KEYS / 2; k++)
        keys |= x[k] ^ y[k];
    if (!is_zero(keys))
        for (size_t k = 0; k < KEYS; k++)
            changed |= (uint64_t)(a[k] != b[k]) << k;
    for (; i + 4 <= words; i += 4)
        if (!is_zero((x[i / 2] ^ y[i / 2]) | (x[i / 2 + 1] ^ y[i / 2 + 1])))
            for (size_t k = i; k < i + 4; k++)
                changed |= (uint64_t)(a[k] != b[k]) << k;
    for (; i < words; i++)
        changed |= (uint64_t)(a[i] != b[i]) << i;
    return changed;
}

/* Encodes what changed of an entry, which becomes the record, at p. Returns the end. */
static uint8_t *encode_changes(uint8_t *p, size_t at, rocl_recent *e, const uint64_t *from,
                               uint64_t changed)
{
    const bool same = changed == e->changed;
    const uint16_t head = (uint16_t)(at << 1 | same);
    uint64_t *to = (uint64_t *)(void *)&e->r;
    memcpy(p, &head, sizeof head);
    p += sizeof head;
    if (!same) {
        memcpy(p, &changed, sizeof changed);
        p += sizeof changed;
        e->changed = changed;
        e->changed_count = (unsigned)__builtin_popcountll(changed);
    }
    uint8_t *nibbles = p;
    unsigned lower = 0, k = 0;
    p += (e->changed_count + 1) / 2;
    for (uint64_t left = changed; left; left &= left - 1, k++) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        const uint64_t v = rocl_zigzag((int64_t)(from[i] - to[i]));
        const unsigned size = (71u - (unsigned)__builtin_clzll(v | 1)) / 8; /* 1 for 0, too */
        rocl_le64_set(p, v);
        p += size;
        to[i] = from[i];
        if (k % 2)
            nibbles[k / 2] = (uint8_t)(lower | size << 4);
        else
            nibbles[k / 2] = (uint8_t)(lower = size);
    }
    return p;
}

/* The words that rocl_recent_again() changes. */
enum {
    WORD_WHERE = offsetof(rocl_plain_record, where) / 8,
    WORD_LINK = offsetof(rocl_plain_record, link) / 8,
    WORD_START = offsetof(rocl_plain_record, as.e.start) / 8,
    WORD_END = offsetof(rocl_plain_record, as.e.end) / 8
};
static const uint64_t again_words = (uint64_t)1 << WORD_WHERE | (uint64_t)1 << WORD_LINK |
                                    (uint64_t)1 << WORD_START | (uint64_t)1 << WORD_END;

/* Changes an entry to the next record, and keeps that. */
static void change_recent(rocl_records *w, rocl_recent *e, const uint64_t *from, uint64_t changed)
{
    e->where_before = e->r.where;
    if (w->keeps && rocl_buf_reserve(&w->kept, RECORD_MAX)) {
        uint8_t *end =
            encode_changes(w->kept.data + w->kept.len, (size_t)(e - w->recent), e, from, changed);
        w->kept.len = (size_t)(end - w->kept.data);
        w->keeps = w->kept.len < PIECE_MAX;
        return;
    }
    uint64_t *to = (uint64_t *)(void *)&e->r;
    for (uint64_t left = changed; left; left &= left - 1)
        to[__builtin_ctzll(left)] = from[__builtin_ctzll(left)];
    e->changed = changed;
    e->changed_count = (unsigned)__builtin_popcountll(changed);
}

/* The entry of records like this one, or the one it replaces, of two candidates. */
static rocl_recent *find_recent(rocl_records *w, const rocl_plain_record *r)
{
    uint64_t h = ((uint64_t)r->kind << 32 | r->name) * 0x9e3779b97f4a7c15u +
                 r->thread * 0xd6e8feb86659fd93u + r->agent * 0xa0761d6478bd642fu +
                 (r->queue ^ r->stream << 16) * 0xe7037ed1a0b428dbu +
                 r->kernel * 0x8ebc6af09c88c6e3u + r->counter * 0x589965cc75374cc3u;
    h = rocl_mix64(h);
    const size_t at = (size_t)h % ROCL_RECENT;
    rocl_recent *e = recent_at(w, at);
    if (e->likeness != h && e->likeness) {
        e = recent_at(w, at ^ 1);
        if (e->likeness != h && e->likeness && w->versions % 2)
            e = &w->recent[at];
    }
    e->likeness = h;
    return e;
}

rocl_recent *rocl_recent_put(rocl_records *w, const rocl_plain_record *r)
{
    const uint64_t *from = (const uint64_t *)(const void *)r;
    rocl_recent *e = find_recent(w, r);
    const uint64_t changed = find_changes(from, (const uint64_t *)(const void *)&e->r,
                                          ROCL_WORDS_OF_HEAD + rocl_kind_infos[r->kind].size / 8);
    if (changed & ~again_words)
        e->version = ++w->versions;
    change_recent(w, e, from, changed);
    return e;
}

rocl_recent *rocl_recent_again(rocl_records *w, const rocl_record_again *r)
{
    rocl_recent *e = &w->recent[r->like.entry];
    uint64_t from[WORD_END + 1];
    if (e->version != r->like.version || r->where < e->r.where ||
        e->piece != 1 + (uint64_t)(w->piece - w->in->pieces))
        return NULL;
    from[WORD_WHERE] = r->where;
    from[WORD_LINK] = r->link;
    from[WORD_START] = (uint64_t)r->start;
    from[WORD_END] = (uint64_t)r->end;
    change_recent(w, e, from, again_words);
    return e;
}

rocl_recent *rocl_kept_next(rocl_records *w, const uint8_t **at)
{
    uint16_t head;
    const uint8_t *p = *at;
    memcpy(&head, p, sizeof head);
    p += sizeof head;
    rocl_recent *e = recent_at(w, head >> 1);
    uint64_t *to = (uint64_t *)(void *)&e->r;
    if (!(head & 1)) {
        memcpy(&e->changed, p, sizeof e->changed);
        p += sizeof e->changed;
        e->changed_count = (unsigned)__builtin_popcountll(e->changed);
    }
    const uint8_t *nibbles = p;
    unsigned k = 0;
    p += (e->changed_count + 1) / 2;
    for (uint64_t left = e->changed; left; left &= left - 1, k++) {
        const unsigned size = nibbles[k / 2] >> 4 * (k % 2) & 15;
        const uint64_t v = rocl_le64(p);
        p += size;
        to[__builtin_ctzll(left)] += (uint64_t)rocl_unzigzag(v & ~(uint64_t)0 >> (64 - 8 * size));
    }
    *at = p;
    return e;
}

void rocl_kept_begin(rocl_records *w)
{
    w->kept.len = 0;
    w->keeps = w->in->run->kept && !atomic_load_explicit(&w->in->run->full, memory_order_relaxed);
}

void rocl_kept_end(rocl_records *w)
{
    rocl_records_run *run = w->in->run;
    if (w->keeps && !w->kept.failed && w->kept.len &&
        rocl_kept_store(w->in, &w->kept, &run->kept[w->piece - w->in->pieces], NULL) != ROCL_OK)
        atomic_store_explicit(&run->full, true, memory_order_relaxed);
}

rocl_status rocl_kept_store(rocl_records_input *in, rocl_buf *bytes, rocl_stored *to,
                            rocl_error *err)
{
    static const uint8_t slack[SLACK];
    rocl_buf_put(bytes, slack, sizeof slack);
    const rocl_status st =
        bytes->failed ? rocl_fail_memory(err)
                      : rocl_space_store(in->trace->space, to, bytes->data, bytes->len, err);
    if (st != ROCL_OK)
        *to = (rocl_stored){0};
    return st;
}

rocl_status rocl_kept_load(rocl_records *w, const rocl_stored *k, const uint8_t **p,
                           const uint8_t **end, rocl_error *err)
{
    const rocl_status st = rocl_space_load(w->in->trace->space, k, &w->kept, p, err);
    *end = *p + (k->size ? k->size - SLACK : 0);
    return st;
}

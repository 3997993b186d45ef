/* What a block of lines becomes: text, and between it what only the order of the blocks decides. */
#include "legacy/timeline_impl.h"

#include <stdlib.h>
#include <string.h>

void tl_put_head(rocl_buf *b, tl_item kind, size_t len)
{
    const tl_head h = {(uint32_t)kind, (uint32_t)len};
    rocl_buf_put(b, &h, sizeof h);
}

void tl_open_text(tl_worker *w)
{
    w->text = w->out->len;
    tl_put_head(w->out, TL_TEXT, 0);
}

void tl_close_text(tl_worker *w)
{
    const tl_head h = {TL_TEXT, (uint32_t)(w->out->len - w->text - sizeof h)};
    if (!w->out->failed)
        memcpy(w->out->data + w->text, &h, sizeof h);
}

void tl_put_item(tl_worker *w, tl_item kind, const void *p, size_t n)
{
    tl_close_text(w);
    tl_put_head(w->out, kind, n);
    rocl_buf_put(w->out, p, n);
    tl_open_text(w);
}

void tl_put_texts(tl_worker *w, tl_item kind, uint32_t row_kind, const tl_place *place,
                  const rtg_span s[TL_TEXTS])
{
    tl_texts t = {.kind = row_kind};
    size_t n = sizeof t + (place ? sizeof *place : 0);
    for (int i = 0; i < TL_TEXTS; i++)
        n += t.len[i] = (uint32_t)s[i].n;
    tl_close_text(w);
    tl_put_head(w->out, kind, n);
    if (place)
        rocl_buf_put(w->out, place, sizeof *place);
    rocl_buf_put(w->out, &t, sizeof t);
    for (int i = 0; i < TL_TEXTS; i++)
        rocl_buf_put(w->out, s[i].p, s[i].n);
    tl_open_text(w);
}

void tl_say(tl_worker *w, const char *what, rtg_span s)
{
    size_t n = strlen(what);
    tl_close_text(w);
    tl_put_head(w->out, TL_SAY, n + s.n);
    rocl_buf_put(w->out, what, n);
    rocl_buf_put(w->out, s.p, s.n);
    tl_open_text(w);
}

void tl_bad(tl_worker *w, const char *why)
{
    const tl_place place = {w->line, why};
    tl_put_item(w, TL_BAD, &place, sizeof place);
}

/* An event that has begun and cannot be finished is taken back. */
void tl_take_back(tl_worker *w, size_t to, const char *why)
{
    w->out->len = to;
    tl_bad(w, why);
}

/* ---- rows of a block ------------------------------------------------------------------------ */

struct tl_local {
    tl_row_kind kind;
    uint64_t hash;
    rtg_span pid, key, queue; /* in the block */
};

static uint64_t hash_span(uint64_t h, rtg_span s)
{
    uint64_t word = 0;
    size_t i = 0;
    for (; i + 8 <= s.n; i += 8) {
        memcpy(&word, s.p + i, 8);
        h = rocl_mix64(h ^ word);
    }
    word = s.n;
    for (; i < s.n; i++)
        word = word << 8 | (unsigned char)s.p[i];
    return rocl_mix64(h ^ word);
}

/* Short texts of digits for the most part: eight bytes at a time. */
static inline bool same_span(rtg_span a, rtg_span b)
{
    uint64_t x, y;
    size_t i = 0;
    if (a.n != b.n)
        return false;
    for (; i + 8 <= a.n; i += 8) {
        memcpy(&x, a.p + i, 8);
        memcpy(&y, b.p + i, 8);
        if (x != y)
            return false;
    }
    for (; i < a.n; i++)
        if (a.p[i] != b.p[i])
            return false;
    return true;
}

static bool is_row(const tl_local *l, tl_row_kind kind, rtg_span pid, rtg_span key, rtg_span queue)
{
    return l->kind == kind && same_span(l->key, key) && same_span(l->pid, pid) &&
           same_span(l->queue, queue);
}

static bool grow_rows(tl_worker *w)
{
    uint32_t cap = w->row_cap ? 2 * w->row_cap : 64;
    tl_local *rows = realloc(w->rows, cap * sizeof *rows);
    if (rows)
        w->rows = rows;
    uint32_t *slots = rows ? calloc(2 * (size_t)cap, sizeof *slots) : NULL;
    if (!slots)
        return false;
    free(w->slots);
    w->slots = slots;
    w->slot_mask = 2 * cap - 1;
    w->row_cap = cap;
    for (uint32_t i = 0; i < w->row_count; i++) {
        size_t at = rows[i].hash & w->slot_mask;
        while (slots[at])
            at = (at + 1) & w->slot_mask;
        slots[at] = i + 1;
    }
    return true;
}

/* The number of a row in this block, 0-based. */
static uint32_t find_row(tl_worker *w, tl_row_kind kind, rtg_span pid, rtg_span key, rtg_span queue)
{
    uint64_t hash = hash_span(hash_span(hash_span(kind, pid), key), queue);
    if (w->row_count == w->row_cap && !grow_rows(w)) {
        w->out->failed = true;
        return 0;
    }
    size_t at = hash & w->slot_mask;
    for (; w->slots[at]; at = (at + 1) & w->slot_mask)
        if (is_row(&w->rows[w->slots[at] - 1], kind, pid, key, queue))
            return w->slots[at] - 1;
    w->rows[w->row_count] = (tl_local){kind, hash, pid, key, queue};
    w->slots[at] = ++w->row_count;
    tl_put_texts(w, TL_NEW_ROW, kind, NULL, (rtg_span[TL_TEXTS]){pid, key, queue});
    return w->row_count - 1;
}

/* Ids of threads and agents differ in their last digits, if not in the very last ones. */
static inline size_t place_of(tl_row_kind kind, rtg_span key, rtg_span queue)
{
    uint64_t word = 0;
    if (key.n)
        memcpy(&word, key.n >= 8 ? key.p + key.n - 8 : key.p, key.n >= 8 ? 8 : key.n);
    word += (uint64_t)kind + (queue.n ? (uint64_t)(unsigned char)queue.p[queue.n - 1] << 8 : 0);
    return word * UINT64_C(0x9e3779b97f4a7c15) >> 58;
}

uint32_t tl_row_of(tl_worker *w, tl_row_kind kind, rtg_span pid, rtg_span key, rtg_span queue)
{
    uint32_t *recent = &w->recent[place_of(kind, key, queue)];
    if (*recent && is_row(&w->rows[*recent - 1], kind, pid, key, queue))
        return *recent - 1;
    uint32_t row = find_row(w, kind, pid, key, queue);
    *recent = row + 1;
    return row;
}

void tl_begin_rows(tl_worker *w)
{
    w->row_count = 0;
    memset(w->recent, 0, sizeof w->recent);
    if (w->slots)
        memset(w->slots, 0, ((size_t)w->slot_mask + 1) * sizeof *w->slots);
}

void tl_put_row(tl_worker *w, uint32_t row)
{
    tl_close_text(w);
    tl_put_head(w->out, TL_ROW, row);
    tl_open_text(w);
}

void tl_worker_free(tl_worker *w)
{
    free(w->rows);
    free(w->slots);
}

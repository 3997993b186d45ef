/* Names and texts: each chunk holds those that its records refer to, before their first use. Two
 * small tables remember what the chunk already holds; entries that were pushed out are written
 * again. Definitions belong to the trace with the event after them. */
#include "capture/core.h"

_Atomic uint32_t rocl_next_name = 1;

uint32_t rocl_id_once(_Atomic uint32_t *at)
{
    uint32_t id = atomic_load_explicit(at, memory_order_relaxed);
    if (id)
        return id;
    uint32_t fresh = atomic_fetch_add(&rocl_next_name, 1);
    return atomic_compare_exchange_strong(at, &id, fresh) ? fresh : id;
}

uint32_t rocl_site_define(rocl_writer *w, rocl_site *site, size_t more)
{
    uint32_t id = rocl_id_once(&site->id);
    size_t category = strlen(site->category), name = strlen(site->name);
    size_t len = rocl_varint_size(id) + rocl_varint_size(category) + category + name;
    if (rocl_is_seen(w, id))
        return id;
    if (!rocl_reserve(w, len + ROCL_HOT + more))
        return 0;
    uint8_t *p = rocl_put_sized(w->pos, ROCL_REC_NAME, len);
    p = rocl_varint_put(p, id);
    p = rocl_put_string(p, site->category, category);
    memcpy(p, site->name, name);
    w->pos = p + name;
    rocl_set_seen(w, id);
    return id;
}

uint32_t rocl_def_id(rocl_writer *w, const rocl_def *d, size_t more, bool *ok)
{
    if (!d || rocl_is_seen(w, d->id))
        return d ? d->id : 0;
    uint32_t generation;
    do {
        generation = w->generation;
        rocl_def_id(w, d->ref, more, ok);
        *ok = *ok && rocl_reserve(w, d->len + ROCL_HOT + more);
    } while (*ok && w->generation != generation);
    if (!*ok)
        return 0;
    uint8_t *p = rocl_put_sized(w->pos, d->type, d->len);
    memcpy(p, d->bytes, d->len);
    w->pos = p + d->len;
    rocl_set_seen(w, d->id);
    return d->id;
}

static uint64_t mix_hash(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t hash_of(const char *s, size_t n)
{
    uint64_t h = n, v;
    for (; n >= 8; n -= 8, s += 8) {
        memcpy(&v, s, 8);
        h = mix_hash(h, v);
    }
    v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)s[i];
    return mix_hash(h, v);
}

uint32_t rocl_text_id(rocl_writer *w, const char *text, size_t len, size_t more)
{
    uint64_t hash = hash_of(text, len);
    rocl_seen_text *t = &w->texts[hash % ROCL_TEXTS];
    w->last_text = (uint32_t)(hash % ROCL_TEXTS);
    if (t->generation == w->generation && t->hash == hash && t->len == len &&
        !memcmp(w->content + t->at, text, len))
        return t->id;
    if (len > ROCL_CAP_TEXT_MAX) {
        rocl_writer_drop(w);
        return 0;
    }
    if (!rocl_reserve(w, len + ROCL_HOT + more))
        return 0;
    t->hash = hash;
    /* Once more: reserving may begin a new chunk, which names what is open. */
    w->last_text = (uint32_t)(hash % ROCL_TEXTS);
    uint32_t id = w->next_text++;
    uint8_t *p = rocl_put_sized(w->pos, ROCL_REC_TEXT, rocl_varint_size(id) + len);
    p = rocl_varint_put(p, id);
    memcpy(p, text, len);
    t->generation = w->generation;
    t->at = (uint32_t)(p - w->content);
    t->len = (uint32_t)len;
    t->id = id;
    w->pos = p + len;
    return id;
}

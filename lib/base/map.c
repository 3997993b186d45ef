/* Maps and sets of 64-bit ids. */
#include "base/map.h"

#include <stdlib.h>

#include "base/array.h"

/* ---- hash map ------------------------------------------------------------------------------ */

typedef struct rocl_map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t full;
} rocl_map_slot;

/* The first slot that is tried for a key. The table's address (random in most processes) is mixed
 * in, so that a file cannot be made of ids that all collide. */
static size_t home_slot(const rocl_map *m, uint64_t key)
{
    return (size_t)rocl_mix64(key ^ (uint64_t)(uintptr_t)m->slots) & (m->cap - 1);
}

/* The slot of key, or the empty one where it belongs. There is always an empty slot. */
static size_t find_slot(const rocl_map *m, uint64_t key)
{
    size_t i = home_slot(m, key);
    while (m->slots[i].full && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

static bool grow_map(rocl_map *m)
{
    size_t cap = m->cap ? m->cap * 2 : 16;
    if (cap > SIZE_MAX / sizeof(rocl_map_slot))
        return false;
    rocl_map bigger = {calloc(cap, sizeof(rocl_map_slot)), cap, m->count};
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].full)
            bigger.slots[find_slot(&bigger, m->slots[i].key)] = m->slots[i];
    }
    free(m->slots);
    *m = bigger;
    return true;
}

bool rocl_map_put(rocl_map *m, uint64_t key, uint32_t value)
{
    if (m->count >= m->cap - m->cap / 4 && !grow_map(m))
        return false;
    rocl_map_slot *slot = &m->slots[find_slot(m, key)];
    m->count += !slot->full;
    *slot = (rocl_map_slot){key, value, 1};
    return true;
}

void rocl_map_replace(rocl_map *m, uint64_t key, uint32_t value)
{
    m->slots[find_slot(m, key)].value = value;
}

uint32_t rocl_map_get(const rocl_map *m, uint64_t key, uint32_t missing)
{
    if (!m->count)
        return missing;
    const rocl_map_slot *slot = &m->slots[find_slot(m, key)];
    return slot->full ? slot->value : missing;
}

/* Keys after a hole move up if the hole lies between their home slot and their place. */
bool rocl_map_del(rocl_map *m, uint64_t key)
{
    if (!m->count)
        return false;
    size_t hole = find_slot(m, key), mask = m->cap - 1;
    if (!m->slots[hole].full)
        return false;
    for (size_t i = (hole + 1) & mask; m->slots[i].full; i = (i + 1) & mask) {
        size_t wish = home_slot(m, m->slots[i].key);
        if (((i - wish) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole].full = 0;
    m->count--;
    return true;
}

bool rocl_map_next(const rocl_map *m, size_t *pos, uint64_t *key, uint32_t *value)
{
    for (; *pos < m->cap; ++*pos) {
        const rocl_map_slot *slot = &m->slots[*pos];
        if (slot->full) {
            *key = slot->key;
            *value = slot->value;
            ++*pos;
            return true;
        }
    }
    return false;
}

void rocl_map_free(rocl_map *m)
{
    free(m->slots);
    *m = (rocl_map){0};
}

/* ---- array with a hash map behind it ------------------------------------------------------- */

/* An id goes into the array as long as the array stays reasonably full. */
static bool grow_dense(rocl_ids *m, uint64_t id)
{
    uint64_t cap = m->cap ? m->cap : 64;
    while (cap <= id)
        cap *= 2;
    uint32_t *more = realloc(m->dense, cap * sizeof *more);
    if (!more)
        return false;
    m->dense = more;
    for (uint64_t i = m->cap; i < cap; i++)
        m->dense[i] = m->sparse.count ? rocl_map_get(&m->sparse, i, ROCL_NONE) : ROCL_NONE;
    m->cap = cap;
    return true;
}

bool rocl_ids_put(rocl_ids *m, uint64_t id, uint32_t index)
{
    if (id >= m->cap && (id < 64 || id / 8 < m->count) && !grow_dense(m, id))
        return false;
    m->count++;
    if (id < m->cap) {
        m->dense[id] = index;
        return true;
    }
    return rocl_map_put(&m->sparse, id, index);
}

void rocl_ids_free(rocl_ids *m)
{
    free(m->dense);
    rocl_map_free(&m->sparse);
    *m = (rocl_ids){0};
}

/* ---- set ----------------------------------------------------------------------------------- */

#define NO_BLOCK UINT32_MAX

static uint32_t find_block(const rocl_idset *s, uint64_t page)
{
    const unsigned at = page % ROCL_IDSET_RECENT;
    return s->recent[at].page_plus1 == page + 1 ? s->recent[at].block
                                                : rocl_map_get(&s->index, page, NO_BLOCK);
}

uint64_t *rocl_idset_open(rocl_idset *s, uint64_t page)
{
    const unsigned at = page % ROCL_IDSET_RECENT;
    uint32_t block = find_block(s, page);
    if (block == NO_BLOCK) {
        if (s->count >= NO_BLOCK || !ROCL_GROW(s->blocks, s->cap, s->count + 1) ||
            !rocl_map_put(&s->index, page, (uint32_t)s->count))
            return NULL;
        block = (uint32_t)s->count++;
    }
    s->recent[at].page_plus1 = page + 1;
    s->recent[at].block = block;
    return s->blocks[block];
}

bool rocl_idset_has(const rocl_idset *s, uint64_t id)
{
    uint32_t block = find_block(s, id >> ROCL_IDSET_SHIFT);
    return block != NO_BLOCK && (s->blocks[block][(id >> 6) & 7] >> (id & 63) & 1);
}

bool rocl_idset_next(rocl_idset *s, uint64_t id)
{
    uint64_t page = id >> ROCL_IDSET_SHIFT;
    uint32_t block = find_block(s, page);
    if (block == NO_BLOCK)
        return false;
    s->recent[page % ROCL_IDSET_RECENT].page_plus1 = page + 1;
    s->recent[page % ROCL_IDSET_RECENT].block = block;
    return s->blocks[block][(id >> 6) & 7] >> (id & 63) & 1;
}

uint64_t rocl_idset_size(const rocl_idset *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        for (int k = 0; k < 8; k++)
            n += (uint64_t)__builtin_popcountll(s->blocks[i][k]);
    return n;
}

bool rocl_idset_merge(rocl_idset *into, const rocl_idset *from)
{
    size_t pos = 0;
    uint64_t page;
    uint32_t block;
    while (rocl_map_next(&from->index, &pos, &page, &block)) {
        uint64_t *words = rocl_idset_open(into, page);
        if (!words)
            return false;
        for (unsigned w = 0; w < 8; w++)
            words[w] |= from->blocks[block][w];
    }
    return true;
}

bool rocl_idset_merge_common(rocl_idset *into, const rocl_idset *a, const rocl_idset *b)
{
    size_t pos = 0;
    uint64_t page;
    uint32_t block;
    while (rocl_map_next(&a->index, &pos, &page, &block)) {
        uint32_t other = find_block(b, page);
        for (unsigned w = 0; w < 8 && other != NO_BLOCK; w++) {
            uint64_t both = a->blocks[block][w] & b->blocks[other][w];
            uint64_t *words = both ? rocl_idset_open(into, page) : NULL;
            if (both && !words)
                return false;
            if (both)
                words[w] |= both;
        }
    }
    return true;
}

void rocl_idset_free(rocl_idset *s)
{
    rocl_map_free(&s->index);
    free(s->blocks);
    *s = (rocl_idset){0};
}

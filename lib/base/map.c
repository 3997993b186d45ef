#include "base/map.h"

#include <stdlib.h>

typedef struct rocl_map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t full;
} rocl_map_slot;

/* Where a key would like to be. The table's address (random in most processes) is mixed in, so that
 * a file cannot be made of ids that all collide. */
static size_t home(const rocl_map *m, uint64_t key)
{
    return (size_t)rocl_mix64(key ^ (uint64_t)(uintptr_t)m->slots) & (m->cap - 1);
}

/* The slot of key, or the empty one where it belongs. There is always an empty slot. */
static size_t find(const rocl_map *m, uint64_t key)
{
    size_t i = home(m, key);
    while (m->slots[i].full && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

static bool grow(rocl_map *m)
{
    size_t cap = m->cap ? m->cap * 2 : 16;
    if (cap > SIZE_MAX / sizeof(rocl_map_slot))
        return false;
    rocl_map bigger = {calloc(cap, sizeof(rocl_map_slot)), cap, m->count};
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].full)
            bigger.slots[find(&bigger, m->slots[i].key)] = m->slots[i];
    }
    free(m->slots);
    *m = bigger;
    return true;
}

bool rocl_map_put(rocl_map *m, uint64_t key, uint32_t value)
{
    if (m->count >= m->cap - m->cap / 4 && !grow(m))
        return false;
    rocl_map_slot *slot = &m->slots[find(m, key)];
    m->count += !slot->full;
    *slot = (rocl_map_slot){key, value, 1};
    return true;
}

void rocl_map_replace(rocl_map *m, uint64_t key, uint32_t value)
{
    m->slots[find(m, key)].value = value;
}

uint32_t rocl_map_get(const rocl_map *m, uint64_t key, uint32_t missing)
{
    if (!m->count)
        return missing;
    const rocl_map_slot *slot = &m->slots[find(m, key)];
    return slot->full ? slot->value : missing;
}

/* The keys behind a hole move up when the hole lies between their home and where they are. */
bool rocl_map_del(rocl_map *m, uint64_t key)
{
    if (!m->count)
        return false;
    size_t hole = find(m, key), mask = m->cap - 1;
    if (!m->slots[hole].full)
        return false;
    for (size_t i = (hole + 1) & mask; m->slots[i].full; i = (i + 1) & mask) {
        size_t wish = home(m, m->slots[i].key);
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

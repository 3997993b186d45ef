/* Hash map from 64-bit ids (sparse, hostile) to 32-bit indexes: open addressing, linear probing. */
#ifndef ROCL_BASE_MAP_H
#define ROCL_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rocl_map {
    struct rocl_map_slot *slots;
    size_t cap; /* power of two or 0 */
    size_t count;
} rocl_map;

/* A mixer whose low bits are good: also for bitmaps and sharding. */
static inline uint64_t rocl_mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

/* Sets key to value (replacing). False when memory is out. */
bool rocl_map_put(rocl_map *m, uint64_t key, uint32_t value);
/* The value of key, or `missing`. Concurrent readers are fine while nobody writes. */
uint32_t rocl_map_get(const rocl_map *m, uint64_t key, uint32_t missing);
/* Removes key; false when it was not there (backward-shift deletion, no tombstones). */
bool rocl_map_del(rocl_map *m, uint64_t key);
/* Walks the map: *pos starts at 0; false at the end. The order differs from run to run: never let
 * it reach an output. */
bool rocl_map_next(const rocl_map *m, size_t *pos, uint64_t *key, uint32_t *value);
void rocl_map_free(rocl_map *m);

/* A set of 64-bit ids that costs a bit an id when ids are dense (stack ids of a process are). */
typedef struct rocl_idset {
    rocl_map index; /* id >> 9 -> block */
    uint64_t (*blocks)[8];
    size_t count, cap;
    uint64_t last_page; /* the block used last: ids come in order */
    uint32_t last_block;
} rocl_idset;

bool rocl_idset_add(rocl_idset *s, uint64_t id); /* false when memory is out */
bool rocl_idset_has(const rocl_idset *s, uint64_t id);
/* The same for ids that come roughly in order, by one thread: remembers where it is. */
bool rocl_idset_next(rocl_idset *s, uint64_t id);
bool rocl_idset_merge(rocl_idset *into, const rocl_idset *from);
void rocl_idset_free(rocl_idset *s);

#endif

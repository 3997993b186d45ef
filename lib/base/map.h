/* Maps from 64-bit ids to 32-bit indexes, and sets of ids: a hash map for any ids, with an array
 * for ids that count up from 1, and bitmaps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* For functions that return false when memory is out: that must not be ignored. */
#define ROCL_CHECKED __attribute__((warn_unused_result))

/* A hash map for sparse and hostile ids: open addressing, linear probing. */
typedef struct rocl_map {
    struct rocl_map_slot *slots;
    size_t cap; /* power of two or 0 */
    size_t count;
} rocl_map;

/* A hash with good low bits, also for bitmaps and sharding. */
static inline uint64_t rocl_mix64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

/* A hash of two numbers. */
static inline uint64_t rocl_mix_pair(uint64_t a, uint64_t b)
{
    return rocl_mix64(a ^ rocl_mix64(b));
}

/* Sets key to value (replacing). False when memory is out. */
bool rocl_map_put(rocl_map *m, uint64_t key, uint32_t value) ROCL_CHECKED;
/* Gives a value to a key that is in the map, which needs no memory. */
void rocl_map_replace(rocl_map *m, uint64_t key, uint32_t value);
/* The value of key, or `missing`. Concurrent readers are fine while nobody writes. */
uint32_t rocl_map_get(const rocl_map *m, uint64_t key, uint32_t missing);
/* Removes key; false when it was not there (backward-shift deletion, no tombstones). */
bool rocl_map_del(rocl_map *m, uint64_t key);
/* Walks the map: *pos starts at 0; false at the end. The order differs from run to run: never let
 * it reach an output. */
bool rocl_map_next(const rocl_map *m, size_t *pos, uint64_t *key, uint32_t *value);
void rocl_map_free(rocl_map *m);

/* Maps ids of a file to our indexes. Nearly always they are 1, 2, 3, ...: those are looked up in an
 * array. Others (a hash of a node, or a hostile 2^62) go to a hash map. */
typedef struct rocl_ids {
    uint32_t *dense; /* by id; ROCL_NONE where there is none */
    uint64_t cap;    /* of dense */
    uint64_t count;
    rocl_map sparse;
    bool absent; /* for the user: the table is missing, so a missing id is not a fault */
} rocl_ids;

/* Sets id to index (not ROCL_NONE), replacing. False when memory is out. */
bool rocl_ids_put(rocl_ids *m, uint64_t id, uint32_t index) ROCL_CHECKED;
void rocl_ids_free(rocl_ids *m);

/* The index of an id, ROCL_NONE when it has none. Concurrent readers are fine. */
static inline uint32_t rocl_ids_get(const rocl_ids *m, uint64_t id)
{
    if (id < m->cap)
        return m->dense[id];
    return m->sparse.count ? rocl_map_get(&m->sparse, id, ROCL_NONE) : ROCL_NONE;
}

enum { ROCL_IDSET_SHIFT = 9, ROCL_IDSET_RECENT = 16 }; /* a block is 8 words of 64 bits */

/* A set of 64-bit ids that takes a bit per id if ids are dense (stack ids of a process are). */
typedef struct rocl_idset {
    rocl_map index; /* page: id >> ROCL_IDSET_SHIFT -> block */
    uint64_t (*blocks)[8];
    size_t count, cap;
    /* The blocks used last, by page: ids come in order, or interleaved from several threads. */
    struct {
        uint64_t page_plus1; /* page + 1; 0: none */
        uint32_t block;
    } recent[ROCL_IDSET_RECENT];
} rocl_idset;

/* The block of a page, made when it is new, and remembered. NULL when memory is out. */
uint64_t *rocl_idset_open(rocl_idset *s, uint64_t page);
bool rocl_idset_has(const rocl_idset *s, uint64_t id);

/* False when memory is out. */
static inline bool ROCL_CHECKED rocl_idset_add(rocl_idset *s, uint64_t id)
{
    const uint64_t page = id >> ROCL_IDSET_SHIFT;
    const unsigned at = page % ROCL_IDSET_RECENT;
    uint64_t *words = s->recent[at].page_plus1 == page + 1 ? s->blocks[s->recent[at].block]
                                                           : rocl_idset_open(s, page);
    if (words)
        words[(id >> 6) & 7] |= (uint64_t)1 << (id & 63);
    return words;
}

/* rocl_idset_has for ids that come roughly in order, by one thread: remembers where it is. */
bool rocl_idset_next(rocl_idset *s, uint64_t id);
uint64_t rocl_idset_size(const rocl_idset *s); /* how many ids; looks at all of them */
bool rocl_idset_merge(rocl_idset *into, const rocl_idset *from) ROCL_CHECKED;
/* Adds the ids that are in both a and b. */
bool rocl_idset_merge_common(rocl_idset *into, const rocl_idset *a,
                             const rocl_idset *b) ROCL_CHECKED;
void rocl_idset_free(rocl_idset *s);

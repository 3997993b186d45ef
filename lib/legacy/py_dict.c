/* A dict of CPython 2.7 is an open-addressed table of 2^k slots and is read slot by slot. Which
 * slot a key has depends on its hash and on what was there before it. */
#include "legacy/py.h"

#include <stdlib.h>

uint64_t rocl_py_hash(const char *p, size_t n)
{
    const unsigned char *s = (const unsigned char *)p;
    if (!n)
        return 0;
    uint64_t h = (uint64_t)s[0] << 7;
    for (size_t i = 0; i < n; i++)
        h = (h * 1000003) ^ s[i];
    h ^= n;
    return h == UINT64_MAX ? h - 1 : h; /* -1 means an error there */
}

uint64_t rocl_py_hash_int(int64_t v)
{
    return (uint64_t)(v == -1 ? -2 : v);
}

typedef struct dict {
    uint32_t *slots; /* 1 + number of the key, 0 is free */
    size_t size, used;
    const uint64_t *hashes;
} dict;

static void place(dict *d, uint32_t key)
{
    uint64_t hash = d->hashes[key], perturb = hash, mask = d->size - 1, i = hash & mask;
    for (; d->slots[i & mask]; perturb >>= 5)
        i = i * 5 + perturb + 1;
    d->slots[i & mask] = key + 1;
}

/* Keys move in the order of their slots. */
static bool resize(dict *d)
{
    dict bigger = {.hashes = d->hashes, .used = d->used};
    size_t least = (d->used > 50000 ? 2 : 4) * d->used;
    for (bigger.size = 8; bigger.size <= least;)
        bigger.size *= 2;
    bigger.slots = calloc(bigger.size, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < d->size; i++)
        if (d->slots[i])
            place(&bigger, d->slots[i] - 1);
    free(d->slots);
    *d = bigger;
    return true;
}

bool rocl_py_dict_order(const uint64_t *hashes, size_t n, uint32_t *order)
{
    dict d = {.hashes = hashes, .size = 8};
    d.slots = calloc(d.size, sizeof *d.slots);
    bool ok = d.slots && n < UINT32_MAX;
    for (size_t i = 0; ok && i < n; i++) {
        place(&d, (uint32_t)i);
        d.used++;
        if (d.used * 3 >= d.size * 2)
            ok = resize(&d);
    }
    for (size_t i = 0, to = 0; ok && i < d.size; i++)
        if (d.slots[i])
            order[to++] = d.slots[i] - 1;
    free(d.slots);
    return ok;
}

/* Keys of definitions -> what is known of them, where they were first seen and, when all are known,
 * their index. Open addressing; not thread-safe: each worker has one, merged when all are done. */
#include "source/records/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

/* The slot of a key, or the empty one where it belongs. */
static uint32_t *find_slot(const rocl_registry *r, const rocl_key *k)
{
    const size_t mask = r->slot_count - 1;
    size_t i = (size_t)rocl_mix64(k->process ^ rocl_mix64(k->agent ^ rocl_mix64(k->number))) & mask;
    while (r->slots[i] && memcmp(&r->entries[r->slots[i] - 1].key, k, sizeof *k) != 0)
        i = (i + 1) & mask;
    return &r->slots[i];
}

rocl_key_entry *rocl_registry_find(const rocl_registry *r, const rocl_key *k)
{
    const uint32_t after = r->count ? *find_slot(r, k) : 0;
    return after ? &r->entries[after - 1] : NULL;
}

/* At most half of the slots are used. */
static bool reserve_entry(rocl_registry *r)
{
    if (r->count == UINT32_MAX || !ROCL_GROW(r->entries, r->capacity, r->count + 1))
        return false;
    if (r->count < r->slot_count / 2)
        return true;
    const size_t more = r->slot_count ? 2 * r->slot_count : 32;
    free(r->slots);
    r->slots = calloc(more, sizeof *r->slots);
    r->slot_count = r->slots ? more : 0;
    for (size_t i = 0; i < r->count && r->slots; i++)
        *find_slot(r, &r->entries[i].key) = (uint32_t)i + 1;
    if (!r->slots)
        r->count = 0; /* without slots nothing is found */
    return r->slots != NULL;
}

bool rocl_registry_note(rocl_registry *r, const rocl_key *k, uint64_t first,
                        const rocl_key_facts *facts)
{
    rocl_key_entry *e = rocl_registry_find(r, k);
    if (!e) {
        if (!reserve_entry(r))
            return false;
        *find_slot(r, k) = (uint32_t)r->count + 1;
        e = &r->entries[r->count++];
        *e = (rocl_key_entry){.key = *k, .first = first};
        if (facts)
            e->facts = *facts;
        return true;
    }
    if (facts) {
        /* A device that copies call CPU or GPU is a GPU if anything runs on it. */
        const bool gpu = e->facts.type == ROCL_AGENT_GPU || facts->type == ROCL_AGENT_GPU;
        const rocl_agent_type type = gpu                                 ? ROCL_AGENT_GPU
                                     : e->facts.type == ROCL_AGENT_OTHER ? facts->type
                                                                         : e->facts.type;
        const uint64_t pid =
            !e->facts.pid || (facts->pid && facts->pid < e->facts.pid) ? facts->pid : e->facts.pid;
        if (first < e->first)
            e->facts = *facts;
        e->facts.type = type;
        e->facts.pid = pid;
    }
    if (first < e->first)
        e->first = first;
    return true;
}

bool rocl_registry_merge(rocl_registry *into, const rocl_registry *from)
{
    bool ok = true;
    for (size_t i = 0; i < from->count && ok; i++) {
        const rocl_key_entry *e = &from->entries[i];
        ok = rocl_registry_note(into, &e->key, e->first, &e->facts);
    }
    return ok;
}

static int compare_entries(const void *a, const void *b)
{
    const rocl_key_entry *x = *(rocl_key_entry *const *)a, *y = *(rocl_key_entry *const *)b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    const uint64_t a_key[] = {x->key.number, x->key.process, x->key.agent};
    const uint64_t b_key[] = {y->key.number, y->key.process, y->key.agent};
    int order = 0;
    for (int i = 0; i < 3 && !order; i++)
        order = a_key[i] < b_key[i] ? -1 : a_key[i] > b_key[i];
    return order;
}

rocl_key_entry **rocl_registry_order(rocl_registry *r)
{
    rocl_key_entry **list = malloc((r->count + 1) * sizeof *list);
    if (!list)
        return NULL;
    for (size_t i = 0; i < r->count; i++)
        list[i] = &r->entries[i];
    qsort(list, r->count, sizeof *list, compare_entries);
    for (size_t i = 0; i < r->count; i++)
        list[i]->index = (uint32_t)i;
    return list;
}

void rocl_registry_free(rocl_registry *r)
{
    free(r->entries);
    free(r->slots);
    *r = (rocl_registry){0};
}

/* Keys of definitions: see registry.h. */
#include "source/records/registry.h"

#include <stdlib.h>

#include "base/map.h"

static bool is_same_key(const rocl_key *a, const rocl_key *b)
{
    return a->process == b->process && a->agent == b->agent && a->number == b->number;
}

/* The entry of a key, or the empty one where it belongs. */
static rocl_key_entry *find_slot(const rocl_registry *r, const rocl_key *k)
{
    const size_t mask = r->cap - 1;
    size_t i = (size_t)rocl_mix64(k->process ^ rocl_mix64(k->agent ^ rocl_mix64(k->number))) & mask;
    while (r->slots[i].used && !is_same_key(&r->slots[i].key, k))
        i = (i + 1) & mask;
    return &r->slots[i];
}

rocl_key_entry *rocl_registry_find(const rocl_registry *r, const rocl_key *k)
{
    rocl_key_entry *e = r->count ? find_slot(r, k) : NULL;
    return e && e->used ? e : NULL;
}

static bool double_slots(rocl_registry *r)
{
    rocl_registry more = {.cap = r->cap ? 2 * r->cap : 32, .count = r->count};
    more.slots = calloc(more.cap, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < r->cap; i++)
        if (r->slots[i].used)
            *find_slot(&more, &r->slots[i].key) = r->slots[i];
    free(r->slots);
    *r = more;
    return true;
}

/* A device that copies name as CPU or GPU is a GPU when anything runs on it. */
static rocl_agent_type surer_type(rocl_agent_type a, rocl_agent_type b)
{
    if (a == ROCL_AGENT_GPU || b == ROCL_AGENT_GPU)
        return ROCL_AGENT_GPU;
    return a == ROCL_AGENT_OTHER ? b : a;
}

bool rocl_registry_note(rocl_registry *r, const rocl_key *k, uint64_t first,
                        const rocl_key_facts *facts)
{
    rocl_key_entry *e = rocl_registry_find(r, k);
    if (!e) {
        if (r->count >= r->cap / 2 && !double_slots(r))
            return false;
        e = find_slot(r, k);
        *e = (rocl_key_entry){.key = *k, .first = first, .used = true};
        if (facts)
            e->facts = *facts;
        r->count++;
        return true;
    }
    if (facts) {
        const rocl_agent_type type = surer_type(e->facts.type, facts->type);
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
    for (size_t i = 0; i < from->cap && ok; i++) {
        const rocl_key_entry *e = &from->slots[i];
        ok = !e->used || rocl_registry_note(into, &e->key, e->first, &e->facts);
    }
    return ok;
}

static int compare_entries(const void *a, const void *b)
{
    const rocl_key_entry *x = *(rocl_key_entry *const *)a, *y = *(rocl_key_entry *const *)b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->key.number < y->key.number ? -1 : x->key.number > y->key.number;
}

rocl_key_entry **rocl_registry_order(rocl_registry *r)
{
    rocl_key_entry **list = malloc((r->count + 1) * sizeof *list);
    size_t n = 0;
    if (!list)
        return NULL;
    for (size_t i = 0; i < r->cap; i++)
        if (r->slots[i].used)
            list[n++] = &r->slots[i];
    qsort(list, n, sizeof *list, compare_entries);
    for (size_t i = 0; i < n; i++)
        list[i]->index = (uint32_t)i;
    return list;
}

void rocl_registry_free(rocl_registry *r)
{
    free(r->slots);
    *r = (rocl_registry){0};
}

/* Keys of three words -> where they were first seen and which index they have. */
#include <stdlib.h>

#include "source/rtg/rtg.h"

static size_t hash_key(const rtg_key *k)
{
    return (size_t)rocl_mix64(k->w[0] ^ rocl_mix64(k->w[1] ^ rocl_mix64(k->w[2])));
}

static bool same_key(const rtg_key *a, const rtg_key *b)
{
    return a->w[0] == b->w[0] && a->w[1] == b->w[1] && a->w[2] == b->w[2];
}

/* Its entry, or the empty one where it belongs. */
static rtg_entry *find_slot(const rtg_table *t, const rtg_key *k)
{
    size_t mask = t->cap - 1, i = hash_key(k) & mask;
    while (t->slots[i].used && !same_key(&t->slots[i].key, k))
        i = (i + 1) & mask;
    return &t->slots[i];
}

static bool grow_table(rtg_table *t)
{
    rtg_table more = {.cap = t->cap ? 2 * t->cap : 64, .count = t->count};
    more.slots = calloc(more.cap, sizeof *more.slots);
    if (!more.slots)
        return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].used)
            *find_slot(&more, &t->slots[i].key) = t->slots[i];
    free(t->slots);
    *t = more;
    return true;
}

rtg_entry *rtg_table_find(const rtg_table *t, const rtg_key *k)
{
    rtg_entry *e = t->count ? find_slot(t, k) : NULL;
    return e && e->used ? e : NULL;
}

rtg_entry *rtg_table_put(rtg_table *t, const rtg_key *k, bool *fresh)
{
    if (t->count >= t->cap / 2 && !grow_table(t))
        return NULL;
    rtg_entry *e = find_slot(t, k);
    *fresh = !e->used;
    if (*fresh) {
        *e = (rtg_entry){.key = *k, .first = UINT64_MAX, .used = true};
        t->count++;
    }
    return e;
}

bool rtg_table_add(rtg_table *t, const rtg_key *k, uint64_t offset)
{
    bool fresh;
    rtg_entry *e = rtg_table_find(t, k);
    if (!e)
        e = rtg_table_put(t, k, &fresh);
    if (e && offset < e->first)
        e->first = offset;
    return e;
}

static int compare_first(const void *a, const void *b)
{
    const rtg_entry *x = *(rtg_entry *const *)a, *y = *(rtg_entry *const *)b;
    return (x->first > y->first) - (x->first < y->first);
}

rtg_entry **rtg_table_order(rtg_table *t)
{
    rtg_entry **list = malloc((t->count + 1) * sizeof *list);
    size_t n = 0;
    if (!list)
        return NULL;
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].used)
            list[n++] = &t->slots[i];
    qsort(list, n, sizeof *list, compare_first);
    for (size_t i = 0; i < n; i++)
        list[i]->index = (uint32_t)i;
    return list;
}

void rtg_table_free(rtg_table *t)
{
    free(t->slots);
    *t = (rtg_table){0};
}

/* The order in which definitions are written, which is the order that readers show: processes as
 * they came, the GPUs of each by number, and beside each location those that take its overlaps. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

typedef struct place {
    uint32_t key[4], index;
} place;

static int by_key(const void *a, const void *b)
{
    const place *x = a, *y = b;
    for (size_t i = 0; i < sizeof x->key / sizeof *x->key; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* 0: no GPU. */
static uint32_t gpu_number(const ot_world *w, uint32_t tree)
{
    const rocl_gpu *g = w->trees[tree].gpu;
    return g ? (uint32_t)(g - w->gpus.all) + 1 : 0;
}

static place tree_place(const ot_world *w, uint32_t tree)
{
    return (place){.key = {gpu_number(w, tree)}, .index = tree};
}

static place group_place(const ot_world *w, uint32_t group)
{
    const ot_group *g = &w->groups[group];
    bool process = ot_is_process(w, group);
    return (place){
        .key = {process ? group : g->creator, process ? 0 : gpu_number(w, g->tree), group},
        .index = group};
}

static place location_place(const ot_world *w, uint32_t location)
{
    place p = group_place(w, w->locations[location].group);
    p.key[3] = w->locations[location].beside;
    p.index = location;
    return p;
}

static uint32_t *sorted(const ot_world *w, uint32_t count,
                        place (*place_of)(const ot_world *, uint32_t))
{
    place *all = malloc((count + (size_t)1) * sizeof *all);
    uint32_t *order = malloc((count + (size_t)1) * sizeof *order);
    for (uint32_t i = 0; all && i < count; i++)
        all[i] = place_of(w, i);
    if (all)
        qsort(all, count, sizeof *all, by_key);
    for (uint32_t i = 0; all && order && i < count; i++)
        order[i] = all[i].index;
    if (!all) {
        free(order);
        order = NULL;
    }
    free(all);
    return order;
}

/* Where each is in the order. */
static uint32_t *inverse(const uint32_t *order, uint32_t count)
{
    uint32_t *at = order ? malloc((count + (size_t)1) * sizeof *at) : NULL;
    for (uint32_t i = 0; at && i < count; i++)
        at[order[i]] = i;
    return at;
}

rocl_status ot_order_make(ot_order *o, const ot_world *w, rocl_error *err)
{
    o->trees = sorted(w, w->tree_count, tree_place);
    o->groups = sorted(w, w->group_count, group_place);
    o->locations = sorted(w, w->location_count, location_place);
    o->tree_refs = inverse(o->trees, w->tree_count);
    o->group_refs = inverse(o->groups, w->group_count);
    return o->tree_refs && o->group_refs && o->locations ? ROCL_OK : rocl_fail_memory(err);
}

void ot_order_free(ot_order *o)
{
    free(o->trees);
    free(o->groups);
    free(o->tree_refs);
    free(o->group_refs);
    free(o->locations);
}

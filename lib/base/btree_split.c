/* Where to cut a table into parts of about the same number of leaves. */
#include <stdlib.h>

#include "base/array.h"
#include "base/btree_impl.h"

typedef struct keys {
    int64_t *v;
    size_t count, cap;
} keys;

static bool add(keys *k, int64_t key)
{
    if (!ROCL_GROW(k->v, k->cap, k->count + 1))
        return false;
    k->v[k->count++] = key;
    return true;
}

/* The keys of all pages of a level, and those between them. *lowest: leaves are below. How deep
 * they are is known from the first level; later ones need no leaf, and are asked for together. */
static rocl_status keys_of_level(rocl_btree *b, unsigned level, keys *k, bool *lowest,
                                 rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    int64_t from = INT64_MIN;
    k->count = 0;
    for (;;) {
        rocl_status st = rocl_btree_seek_down(b, from, level ? level + 1 : ROCL_BTREE_LEAF, err);
        *lowest = st == ROCL_OK && level + 1 >= w->leaf_depth;
        if (st != ROCL_OK || level >= w->depth)
            return st;
        rocl_btree_level *l = &w->levels[level];
        if (level && w->cold)
            rocl_btree_ask_children(b->file, l - 1, l[-1].count + 1);
        for (unsigned i = 0; i < l->count; i++)
            if (!add(k, rocl_interior_key(l, i)))
                return rocl_fail_memory(err);
        if (l->max == INT64_MAX)
            return ROCL_OK;
        if (!add(k, l->max))
            return rocl_fail_memory(err);
        from = l->max + 1;
    }
}

rocl_status rocl_btree_split(rocl_btree *b, size_t parts, int64_t *ends, size_t *count,
                             rocl_error *err)
{
    keys k = {0};
    bool lowest = false;
    rocl_status st = ROCL_OK;
    /* Four times as many keys as parts: then no part is a quarter larger than another. */
    for (unsigned level = 0; st == ROCL_OK && !lowest && k.count / 4 < parts; level++)
        st = keys_of_level(b, level, &k, &lowest, err);
    size_t n = k.count + 1 < parts ? k.count + 1 : parts;
    *count = 0;
    for (size_t i = 1; st == ROCL_OK && i < n; i++)
        ends[(*count)++] = k.v[(k.count + 1) * i / n - 1];
    free(k.v);
    return st;
}

/* Kernels that only one side has, matched by similar names. */
#include "analysis/compare_renamed.h"

#include <stdlib.h>

#include "analysis/similar_names.h"
#include "base/array.h"

/* A kernel that only one of the sides has. */
typedef struct lone_kernel {
    const char *name;
    size_t len;
    uint32_t id;
    rocl_side_name sums;
} lone_kernel;

/* Those that take the most time first, as not all are looked at. */
static int order_lone(const void *a, const void *b)
{
    const lone_kernel *x = a, *y = b;
    if (x->sums.ns != y->sums.ns)
        return x->sums.ns > y->sums.ns ? -1 : 1;
    return rocl_compare_bytes(x->name, x->len, y->name, y->len);
}

/* An array that the caller frees; NULL: memory is out. */
static lone_kernel *find_lone(const rocl_side *side, const rocl_side *other, size_t *count)
{
    lone_kernel *all = NULL;
    size_t cap = 0;
    *count = 0;
    if (!ROCL_GROW(all, cap, 1))
        return NULL;
    for (uint32_t id = 1; id < rocl_strings_count(side->keys); id++) {
        const rocl_side_name sums = rocl_side_name_of(side, id);
        size_t len;
        const char *key = rocl_strings_get(side->keys, id, &len);
        if (rocl_key_domain(key) != ROCL_DOMAIN_KERNELS || !sums.count ||
            rocl_side_name_of(other, id).count)
            continue;
        if (!ROCL_GROW(all, cap, *count + 1)) {
            free(all);
            return NULL;
        }
        all[(*count)++] = (lone_kernel){key + 1, len - 1, id, sums};
    }
    qsort(all, *count, sizeof *all, order_lone);
    return all;
}

static rocl_lone_name *name_lone(const lone_kernel *all, size_t n, const rocl_kernel_classes *k)
{
    rocl_lone_name *names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++)
        names[i] = (rocl_lone_name){.name = all[i].name,
                                    .len = all[i].len,
                                    .class = rocl_classify_kernel(k, all[i].name, all[i].len),
                                    .items = (double)all[i].sums.items / (double)all[i].sums.count};
    return names;
}

rocl_status rocl_find_renamed(rocl_renamed **renamed, size_t *count, const rocl_side sides[2],
                              const rocl_kernel_classes *classes, rocl_error *err)
{
    size_t n[2] = {0};
    lone_kernel *lone[2];
    rocl_lone_name *names[2] = {NULL};
    rocl_renamed *all = calloc(rocl_strings_count(sides[0].keys), sizeof *all);
    *renamed = all;
    *count = 0;
    for (unsigned k = 0; k < 2; k++) {
        lone[k] = find_lone(&sides[k], &sides[!k], &n[k]);
        if (lone[k])
            names[k] = name_lone(lone[k], n[k], classes);
    }
    rocl_status st = all && names[0] && names[1]
                         ? rocl_match_names(names[0], n[0], names[1], n[1], err)
                         : rocl_fail_memory(err);
    for (size_t i = 0; i < n[0] && st == ROCL_OK; i++) {
        if (!names[0][i].partner)
            continue;
        const uint32_t a = lone[0][i].id, b = lone[1][names[0][i].partner - 1].id;
        all[a] = (rocl_renamed){b, names[0][i].likeness};
        all[b] = (rocl_renamed){a, names[0][i].likeness};
        ++*count;
    }
    for (unsigned k = 0; k < 2; k++) {
        free(lone[k]);
        free(names[k]);
    }
    return st;
}

/* Outputs of several writers that appear together. */
#include "base/out_set.h"

#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>

rocl_status rocl_out_set_add(rocl_out_set *set, rocl_out **outs, size_t n, rocl_error *err)
{
    if (!set)
        return rocl_out_commit_all(outs, n, err);
    rocl_status st = ROCL_OK;
    if (!ROCL_GROW(set->outs, set->capacity, set->count + n))
        st = rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        if (st == ROCL_OK)
            st = rocl_out_seal(outs[i], true, err);
        if (st == ROCL_OK)
            set->outs[set->count++] = outs[i];
        else
            rocl_out_discard(outs[i]);
        outs[i] = NULL;
    }
    return st;
}

rocl_status rocl_out_set_add_tree(rocl_out_set *set, rocl_out_tree *tree, const char *const *names,
                                  size_t count, rocl_error *err)
{
    if (!set)
        return rocl_out_tree_commit(tree, names, count, err);
    rocl_status st = ROCL_OK;
    char **copies = calloc(count + 1, sizeof *copies);
    if (set->tree)
        st = rocl_fail(err, ROCL_USAGE, "only one of the outputs can be several folders");
    for (size_t i = 0; copies && i < count && st == ROCL_OK; i++)
        if (!(copies[i] = strdup(names[i])))
            st = rocl_fail_memory(err);
    if (!copies)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        set->tree = tree;
        set->names = copies;
        set->name_count = count;
        return ROCL_OK;
    }
    for (size_t i = 0; copies && i < count; i++)
        free(copies[i]);
    free(copies);
    rocl_out_tree_discard(tree);
    return st;
}

static rocl_status commit_tree(void *ctx, rocl_error *err)
{
    rocl_out_set *set = ctx;
    rocl_out_tree *tree = set->tree;
    set->tree = NULL;
    return tree ? rocl_out_tree_commit(tree, (const char *const *)set->names, set->name_count, err)
                : ROCL_OK;
}

rocl_status rocl_out_set_commit(rocl_out_set *set, rocl_error *err)
{
    rocl_status st = set->count
                         ? rocl_out_commit_all_then(set->outs, set->count, commit_tree, set, err)
                         : commit_tree(set, err);
    set->count = 0;
    rocl_out_set_discard(set);
    return st;
}

void rocl_out_set_discard(rocl_out_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        rocl_out_discard(set->outs[i]);
    rocl_out_tree_discard(set->tree);
    for (size_t i = 0; i < set->name_count; i++)
        free(set->names[i]);
    free(set->outs);
    free(set->names);
    *set = (rocl_out_set){0};
}

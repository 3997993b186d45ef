/* Outputs of several writers that appear together, or not at all. Each writer hands over its
 * finished files instead of naming them; the set gives all of them their names at once. */
#pragma once

#include "base/out.h"
#include "base/out_tree.h"

typedef struct rocl_out_set {
    rocl_out **outs; /* finished, and closed */
    size_t count, capacity;
    rocl_out_tree *tree; /* of the one writer that has a tree, or NULL */
    char **names;        /* of the files to be moved out of it */
    size_t name_count;
} rocl_out_set;

/* These are rocl_out_commit_all() and rocl_out_tree_commit(), or, with a set, hand over the
 * outputs to it. They own what they are given even after an error. */
rocl_status rocl_out_set_add(rocl_out_set *set, rocl_out **outs, size_t n, rocl_error *err);
rocl_status rocl_out_set_add_tree(rocl_out_set *set, rocl_out_tree *tree, const char *const *names,
                                  size_t count, rocl_error *err);

/* Gives all of them their names; after an error everything is as before. The set is then empty. */
rocl_status rocl_out_set_commit(rocl_out_set *set, rocl_error *err);
/* Leaves no trace of them. */
void rocl_out_set_discard(rocl_out_set *set);

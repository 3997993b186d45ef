/* Which kernels of one side of a comparison are which of the other one, under another name: by how
 * similar the names are (similar_names.h) and, where the order of kernels is known in both, by
 * where they stand.
 *
 * A kernel stands for another one if in the order of kernels, aligned by names, it is in its place
 * wherever either is: among at most four that are gone, the one that has its number among as many
 * that are new; if it has one in its place more often than not; and if the step that is aligned has
 * each of them as often as all steps have on average. Names that are never in one place are not the
 * same kernel, however similar. */
#pragma once

#include "analysis/compare_side.h"
#include "model/kernel_class.h"

typedef struct rocl_renamed {
    uint32_t partner;  /* id of the key of its name in the other side; 0: it has the same name */
    unsigned likeness; /* 10000 is the most */
    bool by_place;     /* the likeness alone would not do */
} rocl_renamed;

/* By id of the key, as many as there are keys; the caller's, also after a failure. *count: pairs.
 */
rocl_status rocl_find_renamed(rocl_renamed **renamed, size_t *count, const rocl_side sides[2],
                              const rocl_kernel_classes *classes, rocl_error *err);

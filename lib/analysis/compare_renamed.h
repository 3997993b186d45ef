/* Which kernels of one side of a comparison are which of the other one, under another name. */
#ifndef ROCL_ANALYSIS_COMPARE_RENAMED_H
#define ROCL_ANALYSIS_COMPARE_RENAMED_H

#include "analysis/compare_side.h"
#include "model/kernel_class.h"

typedef struct rocl_renamed {
    uint32_t partner;  /* id of the key of its name in the other side; 0: it has the same name */
    unsigned likeness; /* of 10000 */
} rocl_renamed;

/* By id of the key, as many as there are keys; the caller's, also after a failure. *count: pairs.
 */
rocl_status rocl_find_renamed(rocl_renamed **renamed, size_t *count, const rocl_side sides[2],
                              const rocl_kernel_classes *classes, rocl_error *err);

#endif

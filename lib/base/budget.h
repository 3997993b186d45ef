/* How a run shares its memory among its workers and its sorters, so that it takes no more with more
 * workers. */
#ifndef ROCL_BASE_BUDGET_H
#define ROCL_BASE_BUDGET_H

#include "base/status.h"

typedef struct rocl_budget {
    unsigned workers;
    size_t sorting; /* bytes, for a sort space */
    size_t cursor;  /* bytes that a cursor on a table reads at once: a worker has about ten */
} rocl_budget;

/* jobs 0: one per core; memory 0: ROCL_DEFAULT_MEMORY. A worker holds buffers of its own, which are
 * paid from `memory`: there are fewer workers than jobs where they would take more than half of it,
 * but up to 4 always. */
rocl_budget rocl_budget_share(size_t memory, unsigned jobs);

#endif

/* Where the difference of two traces comes from: causes whose sum is the whole difference of the
 * wall time of their GPUs, in exact nanoseconds. */
#pragma once

#include "analysis/distribution.h"
#include "analysis/gpu_time.h"
#include "analysis/report.h"
#include "model/kernel_class.h"

/* Causes in kernels come first; each of them has classes. */
typedef enum rocl_cause {
    ROCL_CAUSE_CALLS,
    ROCL_CAUSE_DURATION,
    ROCL_CAUSE_ADDED,
    ROCL_CAUSE_REMOVED,
    ROCL_CAUSE_RENAMED,
    ROCL_CAUSE_KERNELS,
    ROCL_CAUSE_COPIES = ROCL_CAUSE_KERNELS,
    ROCL_CAUSE_BESIDE,
    ROCL_CAUSE_IDLE,
    ROCL_CAUSES
} rocl_cause;

/* All names of one cause and class. */
typedef struct rocl_cause_sum {
    rocl_i128 total[2], change, most_change;
    uint64_t names;
    rocl_view most; /* the name with the largest change; the caller's */
} rocl_cause_sum;

typedef struct rocl_causes {
    rocl_cause_sum of[ROCL_CAUSE_KERNELS + 1][ROCL_CLASSES]; /* the last: copies */
} rocl_causes;

/* Absurd sums are cut off. */
int64_t rocl_narrow(rocl_i128 v);
/* The order of changes, the largest first. */
int rocl_compare_changes(int64_t a, int64_t b);
/* The change of a total from A to B, which both have, in two pieces: calls more or fewer at the
 * average of A, rounded towards zero; and the rest, which is B's calls being longer or shorter. */
void rocl_split_change(const rocl_distribution *a, const rocl_distribution *b, rocl_i128 *calls,
                       rocl_i128 *duration);

/* A piece of the change of one name; total: in A and B. The name must live as long as the causes.
 */
void rocl_causes_add(rocl_causes *c, rocl_cause cause, unsigned class, rocl_view name,
                     const rocl_i128 total[2], rocl_i128 change);

extern const rocl_table_tab rocl_compare_tab; /* all tables of a comparison are on it */
extern const rocl_table_def rocl_causes_table;

/* Adds the table: all together first, then the causes, the largest first. */
void rocl_causes_put(const rocl_causes *causes, const rocl_gpu_sums of[2], rocl_wall wall,
                     rocl_tables *out, const rocl_collector *c);

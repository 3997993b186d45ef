/* Between the files of the collector that counts calls and time: summary.c takes events into
 * groups, the others make tables of them. */
#ifndef ROCL_ANALYSIS_SUMMARY_H
#define ROCL_ANALYSIS_SUMMARY_H

#include "analysis/samples.h"

/* What groups are of. A copy is in all. */
typedef enum summary_of { OF_NAMES, OF_COPIES, OF_COPY_SIZES } summary_of;

/* What makes a group; compared byte by byte, so without holes and zeroed. */
typedef struct summary_key {
    uint32_t of;        /* summary_of */
    int32_t size_class; /* of sizes of copies; else -1 */
    uint32_t domain;
    uint32_t name, agent, other_agent, stream; /* texts */
    int32_t rank;
    uint32_t workgroup[3], grid[3];
} summary_key;

/* Of a group of copies. */
typedef struct copied {
    int64_t bytes;    /* saturates */
    double best_rate; /* bytes per second of the fastest copy */
} copied;

typedef struct summary_group {
    summary_key key;
    rocl_distribution d;
    copied copied;
} summary_group;

typedef struct summary_worker {
    struct origin *recent; /* groups that were found lately */
    copied *copied;        /* by group */
    size_t cap;
} summary_worker;

typedef struct summary {
    rocl_collector c;
    rocl_strings *keys; /* as bytes; their ids are the groups */
    rocl_samples *samples;
    summary_worker *workers;
    summary_group *groups;
    size_t group_count;
} summary;

/* ---- summary.c ---- */

/* The groups of the domains in a set (1 << domain), in the order asked for; free the array. NULL:
 * memory is out. */
summary_group **rocl_summary_select(const summary *s, uint32_t domains, summary_of of,
                                    size_t *count);
rocl_distribution rocl_summary_sum(summary_group *const *list, size_t n);

/* ---- summary_tables.c ---- */

rocl_status rocl_domain_table(const summary *s, rocl_tables *out, rocl_error *err);
rocl_status rocl_summary_table(const summary *s, rocl_tables *out, rocl_error *err);
rocl_status rocl_kernel_table(const summary *s, rocl_tables *out, rocl_error *err);
rocl_status rocl_summary_groups_table(const summary *s, rocl_tables *out, rocl_error *err);

/* ---- copies.c ---- */

/* From 0; the larger the copies, the higher. */
int rocl_size_class(uint64_t bytes);
rocl_status rocl_copy_tables(const summary *s, rocl_tables *out, rocl_error *err);

#endif

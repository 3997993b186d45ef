/* Durations by group, any number of them, for their exact distributions: sums are kept as they
 * come, the values themselves lie unsorted in blocks, in memory or, beyond the limit of the sort
 * space, in its file. Percentiles are looked up digit by digit, so that nothing is ever sorted. */
#ifndef ROCL_ANALYSIS_SAMPLES_H
#define ROCL_ANALYSIS_SAMPLES_H

#include "analysis/distribution.h"
#include "analysis/report.h"

typedef struct rocl_samples rocl_samples;

rocl_samples *rocl_samples_new(rocl_sort_space *space, unsigned workers); /* NULL: memory is out */
void rocl_samples_free(rocl_samples *s);

/* ns >= 0. Groups are small numbers. Concurrent as long as each worker uses its own number. */
rocl_status rocl_samples_add(rocl_samples *s, unsigned worker, uint32_t group, int64_t ns,
                             rocl_error *err);
/* The distribution of a group; all zero where it has no values. */
rocl_status rocl_samples_describe(rocl_samples *s, uint32_t group, rocl_distribution *d,
                                  rocl_error *err);

#endif

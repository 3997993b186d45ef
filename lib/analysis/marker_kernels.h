/* Kernels by the markers that were open where they were launched: for the report "attribution",
 * which knows them. */
#ifndef ROCL_ANALYSIS_MARKER_KERNELS_H
#define ROCL_ANALYSIS_MARKER_KERNELS_H

#include "analysis/gather.h"

typedef struct rocl_marker_kernels rocl_marker_kernels;

/* NULL: memory is out. */
rocl_marker_kernels *rocl_marker_kernels_new(rocl_collector *c);
void rocl_marker_kernels_free(rocl_marker_kernels *m);

/* A kernel of ns inside a marker; both names are texts. Once for each name of a marker. */
rocl_status rocl_marker_kernels_add(rocl_marker_kernels *m, uint32_t marker, uint32_t kernel,
                                    int32_t rank, int64_t ns, rocl_error *err);
rocl_status rocl_marker_kernels_put(rocl_marker_kernels *m, rocl_tables *out, rocl_error *err);

/* Of a team (gather.h): how many pairs there are, one of them, from 0 on, and their values. */
size_t rocl_marker_kernels_count(const rocl_marker_kernels *m);
void rocl_marker_kernels_put_pair(rocl_marker_kernels *m, size_t number, rocl_put *to);
rocl_status rocl_marker_kernels_take_pair(rocl_marker_kernels *m, unsigned rank, rocl_taken *from,
                                          rocl_error *err);
struct rocl_samples *rocl_marker_kernels_samples(const rocl_marker_kernels *m);

extern const rocl_table_def rocl_marker_kernel_table;

#endif

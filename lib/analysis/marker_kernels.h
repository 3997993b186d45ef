/* Kernels by the markers that were open where they were launched: for the report "attribution",
 * which knows them. */
#ifndef ROCL_ANALYSIS_MARKER_KERNELS_H
#define ROCL_ANALYSIS_MARKER_KERNELS_H

#include "analysis/report.h"

typedef struct rocl_marker_kernels rocl_marker_kernels;

/* NULL: memory is out. */
rocl_marker_kernels *rocl_marker_kernels_new(rocl_collector *c);
void rocl_marker_kernels_free(rocl_marker_kernels *m);

/* A kernel of ns inside a marker; both names are texts. Once for each name of a marker. */
rocl_status rocl_marker_kernels_add(rocl_marker_kernels *m, uint32_t marker, uint32_t kernel,
                                    int32_t rank, int64_t ns, rocl_error *err);
rocl_status rocl_marker_kernels_put(rocl_marker_kernels *m, rocl_tables *out, rocl_error *err);

extern const rocl_table_def rocl_marker_kernel_table;

#endif

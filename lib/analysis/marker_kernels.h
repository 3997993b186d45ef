/* Kernels by the markers that were open where they were launched: for the report "attribution",
 * which knows them. */
#pragma once

#include "analysis/keyed.h"

/* The collector frees it. */
rocl_status rocl_marker_kernels_open(rocl_keyed *pairs, rocl_collector *c, rocl_error *err);
/* A kernel of ns inside a marker; both names are texts. Once for each name of a marker. */
rocl_status rocl_marker_kernels_add(rocl_keyed *pairs, const rocl_collector *c, uint32_t marker,
                                    uint32_t kernel, int32_t rank, int64_t ns, rocl_error *err);
rocl_status rocl_marker_kernels_put(rocl_keyed *pairs, rocl_collector *c, rocl_tables *out,
                                    rocl_error *err);

extern const rocl_table_def rocl_marker_kernel_table;

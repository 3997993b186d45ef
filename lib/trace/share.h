/* The inputs of a trace that one rank of a team reads. */
#ifndef ROCL_TRACE_SHARE_H
#define ROCL_TRACE_SHARE_H

#include "model/trace.h"

/* Opens files that rank 0 has opened, too: sources in this order, captures with their definitions.
 * No filters, no clocks: these are rank 0's. */
rocl_status rocl_share_open(rocl_trace **trace, char *const *paths, size_t count,
                            const rocl_options *options, rocl_error *err);

#endif

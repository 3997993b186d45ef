/* The inputs of a trace that one rank of a team reads. */
#pragma once

#include "model/trace.h"
#include "source/source.h"

/* An empty trace. No filters, no clocks: these are rank 0's. */
rocl_status rocl_dealt_open(rocl_trace **trace, const rocl_options *options, rocl_error *err);
/* Opens inputs that can be opened independently: sources with numbers from this one on, captures
 * with their definitions. all: zeroed; the trace owns the sources, the caller frees the texts. */
rocl_status rocl_dealt_add(rocl_trace *t, char *const *paths, size_t count, uint32_t number,
                           rocl_opened *all, rocl_error *err);

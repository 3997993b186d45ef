/* Slices of the time among the inputs. */
#ifndef ROCL_TRACE_JOINED_H
#define ROCL_TRACE_JOINED_H

#include "model/trace.h"

/* Slices that hold parts of one process are put together in a temporary database, which takes their
 * place among the sources: a trace that was cut is the trace that it was. */
rocl_status rocl_join_slices(rocl_trace *t, rocl_error *err);
void rocl_joined_free(rocl_joined_slices *j); /* NULL is fine; the file is removed */

/* open.c */
/* Opens slices as what they are, each a trace of its own. */
rocl_status rocl_trace_open_separate(rocl_trace **trace, const char *const *inputs, size_t count,
                                     const rocl_options *options, rocl_error *err);

#endif

/* The clocks of the machines of a trace. */
#ifndef ROCL_TRACE_CLOCKS_H
#define ROCL_TRACE_CLOCKS_H

#include "model/trace.h"

/* Sets them as the options say, in the definitions at once and in events when they come; reads the
 * events where it must. Nothing is done for one machine. */
rocl_status rocl_align_clocks(rocl_trace *t, rocl_error *err);

/* Says so when they seem to differ: the times of some machine do not overlap with those of others.
 * Only of captures that pass the filter, and from little: no pass over the events. */
void rocl_align_check(rocl_trace *t);

#endif

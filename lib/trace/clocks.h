/* The clocks of the machines of a trace. */
#ifndef ROCL_TRACE_CLOCKS_H
#define ROCL_TRACE_CLOCKS_H

#include "model/trace.h"

/* Sets them as the options say, in the definitions at once and in events when they come; reads the
 * events where it must. Nothing is done for one machine. */
rocl_status rocl_align_clocks(rocl_trace *t, rocl_error *err);

/* Sets the clock of a capture, which knows its offset and drift, in its definitions, once. Times
 * that would then be before time began are unknown. */
void rocl_set_clock_of(rocl_model_capture *c);

/* Says so when they seem to differ: the times of some machine do not overlap with those of others.
 * Only of captures that pass the filter, and from little: no pass over the events. */
void rocl_align_check(rocl_trace *t);

#endif

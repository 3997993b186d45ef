/* The clocks of the machines of a trace. */
#pragma once

#include "model/trace.h"

/* Sets them by the options, in definitions at once and in events as they come; reads the events
 * only if necessary. Does nothing for one machine. */
rocl_status rocl_align_clocks(rocl_trace *t, rocl_error *err);

/* Gives a notice if they seem to differ, because the times of a machine do not overlap those of
 * others. Looks only at captures that pass the filter, without a pass over the events. */
void rocl_align_check(rocl_trace *t);

/* Widens a span to the times of a capture: from the begin to the end of its processes, or, if the
 * profiler did not note those, to some early and late events. *first > *last: nothing is known. */
void rocl_widen_to_capture(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last);

/* --align collectives: the clocks of nodes from the data. A collective ends on all ranks at about
 * the same time, so many ends tell the offset and drift of two clocks. */
#pragma once

#include "model/trace.h"

/* Sets offset and drift of all captures of a trace by all its collectives, for rocl_set_clock().
 * The first node keeps its clock. Captures of one node have one clock; without a node name, as in
 * JSON of PyTorch, each has its own. A notice gives the result and its uncertainty. ROCL_USAGE: a
 * node has no collectives with others, too few, or they do not agree. */
rocl_status rocl_fit_clocks(rocl_trace *t, rocl_error *err);

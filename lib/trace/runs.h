/* Which captures of a trace are of one run of the program. Inputs of several runs, named together
 * by mistake, would add up to one trace that nobody has recorded.
 *
 * Only ranks tell: a rank that occurs in two inputs, at times that do not overlap, ran twice. Gaps
 * do not tell (a run may pause, and clocks of hosts may be years apart), and times are compared
 * only on one clock, or between two hosts with names: a run has a rank on one of them.
 *
 *     group   Captures on one clock whose times overlap, directly or through others.
 *     run     Two groups that have a rank in common, the one after the other, are different runs:
 *             the number of the later one is greater. Each group has the least number that this
 *             allows, from 1, so the k-th time of a rank is of run k, on whatever clock.
 *             A group without such a rank is of the run with whose times its own overlap, else of
 *             run 1; and so is a capture whose times are unknown.
 *
 * Not told by: two captures of one input; a process that was recorded several times, which is known
 * by its pid on one machine; a rank whose times on two clocks overlap.
 *
 * Times are those that definitions and the ends of inputs tell: no event is read for this. */
#pragma once

#include "model/trace.h"

/* Sets rocl_model_capture.run and rocl_trace.run_count, when clocks are aligned; gives a notice if
 * there are several runs and the user has not chosen one. ROCL_USAGE: there is no such run. */
rocl_status rocl_find_runs(rocl_trace *t, rocl_error *err);

/* Baselines: what a comparison needs of a trace, in a file of JSON, rocline-baseline(5). */
#pragma once

#include "analysis/compare_side.h"

/* The side as rocl_side_read() has it from the trace that the baseline was made of. */
rocl_status rocl_side_read_baseline(rocl_side *s, const rocl_baseline *b, rocl_error *err);

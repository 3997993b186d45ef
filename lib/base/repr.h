/* Floating-point numbers as Python writes them. */
#ifndef ROCL_BASE_REPR_H
#define ROCL_BASE_REPR_H

#include "base/buf.h"

/* What repr() of CPython 3 gives: the fewest digits that read back as v, with ".0" for whole
 * numbers and an exponent from 1e16 on and below 1e-4. v is finite. */
void rocl_repr_put(rocl_buf *b, double v);

#endif

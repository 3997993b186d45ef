/* The short form of a demangled signature. */
#pragma once

#include "base/buf.h"

/* Appends the function's own name: without return type, scopes, template arguments and parameters.
 * operator() keeps its class: "F::operator()". Any other text is appended as it is. Takes time in
 * proportion to n, whatever the text; to->failed when memory is out. */
void rocl_short_name(rocl_buf *to, const char *s, size_t n);

/* The name of a kernel that --kernel-names asks for, out of what a source knows of it. */
#ifndef ROCL_SOURCE_KERNEL_NAME_H
#define ROCL_SOURCE_KERNEL_NAME_H

#include "model/trace.h"

/* The length of a name without the ".kd" of its descriptor, which AMD's profilers leave on, and
 * which demanglers take for the mark of a clone. */
size_t rocl_kernel_length(const char *name, size_t n);

/* The same for a text. */
uint32_t rocl_kernel_without_kd(rocl_trace *t, uint32_t text);

/* The short form of a name (text): that text itself where there is none. */
uint32_t rocl_kernel_short(rocl_trace *t, uint32_t full);

/* By the trace's option. mangled, truncated: texts, 0 or ROCL_NONE where the source has none. */
uint32_t rocl_kernel_shown(rocl_trace *t, uint32_t mangled, uint32_t display, uint32_t truncated);

#endif

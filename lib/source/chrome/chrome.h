/* Chrome's trace JSON, which PyTorch's profiler (Kineto) writes, too. */
#ifndef ROCL_SOURCE_CHROME_CHROME_H
#define ROCL_SOURCE_CHROME_CHROME_H

#include "source/source.h"

extern const rocl_source_ops rocl_chrome_ops;

#endif

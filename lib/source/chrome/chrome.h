/* Chrome's trace JSON, which PyTorch's profiler (Kineto) writes, too. */
#pragma once

#include "source/source.h"

extern const rocl_source_ops rocl_chrome_ops;

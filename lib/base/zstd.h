/* Compression by zstd, where the build found the library. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

bool rocl_has_zstd(void);
/* Appends one frame of n bytes. level 1..9 or ROCL_FASTEST. ROCL_USAGE: built without. Any thread.
 */
rocl_status rocl_zstd_frame(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err);

/* The deflate engine: zlib, or libdeflate where the build found it (about twice as fast). */
#ifndef ROCL_BASE_DEFLATE_H
#define ROCL_BASE_DEFLATE_H

#include "base/buf.h"
#include "base/status.h"

/* Appends p[0..n) as one complete raw deflate stream (RFC 1951); level 1..9. Its state is kept per
 * thread: to set one up costs about as much as to compress some ten KiB. */
rocl_status rocl_deflate(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err);

/* "libdeflate 1.14" or "zlib 1.2.13". */
const char *rocl_deflate_engine(void);

#endif

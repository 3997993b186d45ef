/* The deflate engine: zlib, or libdeflate where the build found it (about twice as fast); and the
 * fastest, ISA-L where the build found it (twice as fast again). */
#pragma once

#include "base/buf.h"
#include "base/status.h"

/* "libdeflate 1.14" or "zlib 1.2.13", and ", ISA-L 2.30.0". */
const char *rocl_deflate_engine(void);

/* One gzip member (RFC 1952, no name, no time) of n bytes appended to `to`: members may be joined.
 * level 1..9 or ROCL_FASTEST. */
rocl_status rocl_gzip_member(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err);
/* A zlib stream (RFC 1950) appended to `to`. */
rocl_status rocl_zlib_stream(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err);
/* Appends the contents of a zlib stream of n bytes. ROCL_INPUT, without a message: it is damaged,
 * or holds more than `most` bytes; `to` is as it was. */
rocl_status rocl_zlib_unpack(rocl_buf *to, const void *p, size_t n, size_t most);

/* Checks a `level` in the options of rocline.h: ROCL_USAGE if it is out of range. */
rocl_status rocl_check_level(int level, rocl_error *err);
/* The level to compress with, `by_default` where none is asked for; 0: not at all. */
static inline int rocl_level_or(int level, int by_default)
{
    return level < 0 ? 0 : level ? level : by_default;
}

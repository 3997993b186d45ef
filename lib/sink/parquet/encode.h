/* Values of a column as Parquet encodes them: https://parquet.apache.org/docs/file-format/. */
#pragma once

#include "base/buf.h"

/* Runs of one value, and groups of eight that are packed, of `width` bits each (at most 32): RLE
 * without a length in front, as levels and indexes of dictionaries are. */
void rocl_parquet_put_runs(rocl_buf *to, const uint32_t *values, size_t n, unsigned width);

/* A run of one value: n times, at least eight. */
void rocl_parquet_put_run(rocl_buf *to, uint32_t value, size_t n, unsigned width);

/* DELTA_BINARY_PACKED: blocks of 128 differences, in four miniblocks of a width each. */
void rocl_parquet_put_deltas(rocl_buf *to, const int64_t *values, size_t n);

/* Bits that indexes below `count` take. */
static inline unsigned rocl_parquet_width(size_t count)
{
    return count < 2 ? 0 : 64 - (unsigned)__builtin_clzll(count - 1);
}

/* Frames of LZ4, unpacked: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md */
#ifndef ROCL_BASE_LZ4_H
#define ROCL_BASE_LZ4_H

#include "base/buf.h"

/* Appends what a frame holds, `most` bytes at most. False: it is damaged, larger, or needs a
 * dictionary (`to` is as before then), or to->failed. Checksums are not compared. */
bool rocl_lz4_unpack(rocl_buf *to, const void *p, size_t n, size_t most);

#endif

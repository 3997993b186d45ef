/* Frames of LZ4, unpacked by liblz4: https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md */
#pragma once

#include "base/buf.h"

typedef struct rocl_lz4 { /* zeroed to begin with */
    rocl_buf text;        /* what was unpacked last */
    void *context;        /* liblz4's, which takes longer to make than most frames to unpack */
} rocl_lz4;

/* "LZ4 1.9.4"; "": this build has no liblz4, and unpacks nothing. */
const char *rocl_lz4_version(void);
/* Replaces the text by the contents of a frame, at most `most` bytes. False: it is not a frame, is
 * damaged or larger, or memory is out. */
bool rocl_lz4_unpack(rocl_lz4 *u, const void *p, size_t n, size_t most);
void rocl_lz4_free(rocl_lz4 *u);

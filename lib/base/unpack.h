/* The bytes of an open file or pipe, decompressed: gzip and zstd are recognised by their first
 * bytes, anything else is passed through. Consecutive compressed pieces are joined. */
#pragma once

#include "base/buf.h"
#include "base/status.h"

typedef struct rocl_unpack rocl_unpack;

/* Reads the first bytes of `fd`, which the caller keeps, from its present offset. `name` is for
 * messages and must outlive the handle. */
rocl_status rocl_unpack_open(rocl_unpack **u, int fd, const char *name, rocl_error *err);
void rocl_unpack_close(rocl_unpack *u); /* NULL is fine */

bool rocl_unpack_is_compressed(const rocl_unpack *u);

/* Reads up to n bytes (n > 0); *got is 0 at the end only. What is cut off, damaged or followed by
 * something else is ROCL_INPUT "NAME: gzip: ...". */
rocl_status rocl_unpack_read(rocl_unpack *u, void *to, size_t n, size_t *got, rocl_error *err);

/* All bytes of the file at `path`, at most `most`, decompressed. Free *text, NULL after a failure.
 */
rocl_status rocl_unpack_file(const char *path, size_t most, char **text, size_t *n,
                             rocl_error *err);

/* How many bytes of the file have been used so far, before decompression. */
uint64_t rocl_unpack_used(const rocl_unpack *u);

/* The zstd library as "zstd 1.5.4"; "" when it was not built in. */
const char *rocl_unpack_zstd(void);

/* Appends the contents of a zstd frame of n bytes. ROCL_INPUT, without a message: it is damaged,
 * holds more than `most` bytes, or the zstd library was not built in; `to` is as it was. */
rocl_status rocl_zstd_unpack(rocl_buf *to, const void *p, size_t n, size_t most);

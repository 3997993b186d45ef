/* Text in blocks of whole lines, from a file, a pipe or standard input, plain or
 * compressed (see unpack.h). */
#pragma once

#include "base/buf.h"
#include "base/status.h"

#include <sys/stat.h>

#define ROCL_LINE_MAX ((size_t)64 << 20) /* a line that is longer ends there */

/* Bytes read at a time. Tests make it small. */
extern size_t rocl_lines_block;

typedef struct rocl_lines rocl_lines;

/* Opens a text to read; "-" is standard input. A directory is refused, and so is a device that
 * never ends. *fd is -1 after a failure. */
rocl_status rocl_open_text(const char *path, int *fd, struct stat *info, rocl_error *err);

/* "-" is standard input. */
rocl_status rocl_lines_open(rocl_lines **lines, const char *path, rocl_error *err);
/* Reads the lines of a filled spool, which the caller keeps. */
struct rocl_spool;
rocl_status rocl_lines_open_spool(rocl_lines **lines, const struct rocl_spool *spool,
                                  rocl_error *err);
/* Frees; NULL is fine. */
void rocl_lines_close(rocl_lines *l);

/* Appends the next block to b: it ends with a line end (LF, CRLF or CR) unless it is the last, or
 * holds a line of ROCL_LINE_MAX. At the end it appends nothing. `*read` is the number of bytes of
 * the file read so far, before unpacking. */
rocl_status rocl_lines_next(rocl_lines *l, rocl_buf *b, uint64_t *read, rocl_error *err);

/* Bytes of the file, 0 when that is not known. */
uint64_t rocl_lines_size(const rocl_lines *l);

/* Takes one line off [*p, end): returns where it ends, moves *p behind its line end. *ended: it had
 * one. `cr`: the text holds carriage returns. */
static inline const char *rocl_line_next(const char **p, const char *end, bool cr, bool *ended)
{
    const char *from = *p;
    const char *lf = memchr(from, '\n', (size_t)(end - from));
    const char *at = lf ? lf : end;
    const char *ret = cr ? memchr(from, '\r', (size_t)(at - from)) : NULL;
    if (ret) {
        *ended = true;
        *p = ret + 1 + (ret + 1 < end && ret[1] == '\n');
        return ret;
    }
    *ended = lf;
    *p = lf ? lf + 1 : end;
    return at;
}

/* An input as plain bytes that can be read at any offset. An uncompressed file is read in place; a
 * compressed file (see unpack.h), a pipe or standard input is first decompressed into a temporary
 * file without a name: one for several inputs, or one of its own. */
#pragma once

#include "base/status.h"

typedef struct rocl_spool rocl_spool;

/* Opens "-" (standard input), a file or a pipe and reads its begin, decompressed. Devices and
 * folders are an error. */
rocl_status rocl_spool_open(rocl_spool **spool, const char *path, rocl_error *err);
void rocl_spool_close(rocl_spool *s);

/* The first bytes: ROCL_SPOOL_HEAD or all (*whole); of a database fewer. Valid until the spool is
 * filled. */
#define ROCL_SPOOL_HEAD ((size_t)64 << 10)
const char *rocl_spool_head(const rocl_spool *s, size_t *n, bool *whole);

/* The temporary file; zeroed: none yet. To be closed after the spools in it. */
typedef struct rocl_spool_store {
    bool open;
    int fd;
    uint64_t size;
    const char *dir; /* for messages */
} rocl_spool_store;

void rocl_spool_store_close(rocl_spool_store *store);

/* Makes all of it readable at any offset. Call it before reading, for one spool of a store at a
 * time. tmpdir NULL: $TMPDIR, else /var/tmp, else /tmp. */
rocl_status rocl_spool_fill(rocl_spool *s, rocl_spool_store *store, const char *tmpdir,
                            rocl_error *err);
uint64_t rocl_spool_size(const rocl_spool *s);

/* For a reader that must open the file itself, as SQLite does: brings all of it into a file that
 * can be opened at rocl_spool_path() until the spool is closed. That is the input itself if it is
 * an uncompressed file, else a temporary file of its own (which takes a file descriptor). */
rocl_status rocl_spool_to_file(rocl_spool *s, const char *tmpdir, rocl_error *err);
const char *rocl_spool_path(const rocl_spool *s);

/* Reads n bytes at an offset, fewer only at the end; concurrently by any number of threads. */
rocl_status rocl_spool_read(const rocl_spool *s, void *to, size_t n, uint64_t at, size_t *got,
                            rocl_error *err);

/* Closes the file for now: a trace may have more inputs than a process may have open files. Does
 * nothing for temporary files. resume opens it again; it must still be the same file. */
void rocl_spool_suspend(rocl_spool *s);
rocl_status rocl_spool_resume(rocl_spool *s, rocl_error *err);

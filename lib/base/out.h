/* Output that appears whole or not at all. */
#pragma once

#include <string.h>

#include "base/status.h"

typedef struct rocl_out rocl_out;

/* Opens `path` for writing. A regular (or new) file is written nameless (O_TMPFILE, else a hidden
 * temporary name beside it) and gets its name at commit; "-" is standard output, where a
 * terminal gets '?' for control characters; other file types
 * (/dev/full, a pipe) are written in place. Follows symbolic links. Mode 0666 less the umask. */
rocl_status rocl_out_open(rocl_out **out, const char *path, rocl_error *err);

/* Opens an output; if `path` ends in .gz, the bytes are compressed with gzip. For texts of moderate
 * size, since the writing thread compresses. */
rocl_status rocl_out_open_as_named(rocl_out **out, const char *path, rocl_error *err);

/* An output whose bytes go straight to a function. It has no file and is never committed, but may
 * be sealed and discarded like others. */
typedef rocl_status rocl_out_fn(void *ctx, const void *p, size_t n, rocl_error *err);
rocl_status rocl_out_open_to(rocl_out **out, rocl_out_fn *write, void *ctx, rocl_error *err);

/* Buffered. ENOSPC, and EPIPE where the program ignores SIGPIPE, come back as ROCL_OUTPUT
 * "PATH: cannot write: ...", at the latest from commit. */
rocl_status rocl_out_write(rocl_out *o, const void *p, size_t n, rocl_error *err);
uint64_t rocl_out_bytes(const rocl_out *o); /* accepted so far; with gzip, written */

/* Does the name say that the output is to be compressed? */
static inline bool rocl_out_is_gz(const char *path)
{
    size_t n = strlen(path);
    return n >= 3 && !strcmp(path + n - 3, ".gz");
}

/* Instead of writes: reserves `bytes`, which others write at offsets of the file *path, until it is
 * committed or sealed. Only for regular files and before any write; call it again when the number
 * of bytes is known. here: the others are processes of this machine; then a killed process leaves
 * nothing behind. Free *path. */
rocl_status rocl_out_reserve(rocl_out *o, uint64_t bytes, bool here, char **path, rocl_error *err);

/* Nothing more will be written: frees the buffer, and with `close` closes the file until commit, so
 * that any number of them can wait (under a hidden name, which a killed process leaves behind).
 * Standard output stays open. The current folder must stay what it is until commit. */
rocl_status rocl_out_seal(rocl_out *o, bool close, rocl_error *err);

/* Flushes, closes, gives the file its name, frees `o` (also on error; nothing is left behind). */
rocl_status rocl_out_commit(rocl_out *o, rocl_error *err);
/* Would both get the same name? Then one of them would be lost. */
bool rocl_out_same(const rocl_out *a, const rocl_out *b);
/* Completes files that appear together: all are written and closed before the first one gets its
 * name, and when a later one cannot get its own, what was there before is put back. Sets the n
 * pointers to NULL. */
rocl_status rocl_out_commit_all(rocl_out **outs, size_t n, rocl_error *err);
/* Completes them, and `then` does the rest while what was there before can still be put back. */
rocl_status rocl_out_commit_all_then(rocl_out **outs, size_t n,
                                     rocl_status (*then)(void *ctx, rocl_error *err), void *ctx,
                                     rocl_error *err);
/* Frees `o` and leaves no trace of it. NULL is fine. */
void rocl_out_discard(rocl_out *o);
/* Commits when `st` is ROCL_OK, and discards otherwise; the status of it all. */
rocl_status rocl_out_end(rocl_out *o, rocl_status st, rocl_error *err);

/* Errors: a status and a message, to which callers add where it happened. */
#pragma once

#include "base/status.h"

/* Bytes of the longest message, with its NUL. */
enum { ROCL_ERROR_SIZE = 4096 };

/* Sets status and message (replacing any former one) and returns `status`, so that a caller can
 * write `return rocl_fail(err, ROCL_INPUT, "...")`. `err` may be NULL. Texts longer than some KB
 * are cut ("..."); control characters in them (newline, escape) become '?'. */
rocl_status rocl_fail(rocl_error *err, rocl_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the message, outermost place first; returns the status held.
 * Use it where a caller knows the file, table or row that the callee did not. With a NULL err,
 * which holds no status, it returns ROCL_INTERNAL: keep the callee's status where that matters. */
rocl_status rocl_wrap(rocl_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Replaces `from` by `to`, which must not be longer, everywhere in the message: a hidden name by
 * the one that the user knows. */
void rocl_error_rename(rocl_error *err, const char *from, const char *to);

/* Copies `from` into `to`: a worker's error becomes the run's. `to` may be NULL. `from` NULL: there
 * was no memory for an error, so the message is "out of memory". */
void rocl_error_copy(rocl_error *to, const rocl_error *from);

/* Shorthand: ROCL_INTERNAL "out of memory". */
static inline rocl_status rocl_fail_memory(rocl_error *err)
{
    rocl_fail(err, ROCL_INTERNAL, "out of memory");
    return ROCL_INTERNAL; /* not the result of rocl_fail(): checkers see that it is not ROCL_OK */
}

/* "path: why", from an errno. ENOMEM is reported as by rocl_fail_memory(), whatever the status. For
 * inputs ENOENT and ENOTDIR are "no such file", EISDIR "a directory, not a file". */
rocl_status rocl_fail_system(rocl_error *err, rocl_status status, const char *path, int why);

/* ROCL_OUTPUT: "path: cannot write: why", likewise. */
rocl_status rocl_fail_write(rocl_error *err, const char *path, int why);

/* ROCL_OUTPUT: a temporary file in this folder, likewise. */
rocl_status rocl_fail_temporary(rocl_error *err, const char *folder, int why);

/* ROCL_INPUT: somebody wrote to a file, or put another one in its place, while it was read. */
rocl_status rocl_fail_changed(rocl_error *err, const char *path);

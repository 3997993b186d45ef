/* Errors: a status and one line of text. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rocl_error {
    rocl_status status;
    char text[ROCL_ERROR_SIZE]; /* reporting a failure must not need memory: there may be none */
};

rocl_error *rocl_error_new(void)
{
    return calloc(1, sizeof(rocl_error));
}

void rocl_error_free(rocl_error *e)
{
    free(e);
}

rocl_status rocl_error_status(const rocl_error *e)
{
    return e ? e->status : ROCL_OK;
}

const char *rocl_error_text(const rocl_error *e)
{
    return e ? e->text : "out of memory"; /* there was no memory for the error itself */
}

/* Names from hostile files end up in messages: newlines and terminal escapes must not get through.
 * A text that is cut ends with "...", and never with half a UTF-8 character. */
static void format_text(char *text, const char *fmt, va_list args)
{
    int n = vsnprintf(text, ROCL_ERROR_SIZE, fmt, args);
    if (n < 0)
        text[0] = '\0';
    if (n >= ROCL_ERROR_SIZE) {
        size_t at = ROCL_ERROR_SIZE - 4;
        while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
            at--;
        memcpy(text + at, "...", 4);
    }
    text[rocl_hide_controls(text, strlen(text), false)] = '\0';
}

rocl_status rocl_fail(rocl_error *err, rocl_status status, const char *fmt, ...)
{
    if (!err)
        return status;
    /* Not into err itself: an argument may be its text. */
    char text[ROCL_ERROR_SIZE];
    va_list args;
    va_start(args, fmt);
    format_text(text, fmt, args);
    va_end(args);
    err->status = status;
    memcpy(err->text, text, strlen(text) + 1);
    return status;
}

rocl_status rocl_fail_system(rocl_error *err, rocl_status status, const char *path, int why)
{
    if (why == ENOMEM)
        return rocl_fail_memory(err);
    const char *words = strerror(why);
    if (status == ROCL_INPUT && (why == ENOENT || why == ENOTDIR))
        words = "no such file";
    else if (status == ROCL_INPUT && why == EISDIR)
        words = "a directory, not a file";
    return rocl_fail(err, status, "%s: %s", path, words);
}

rocl_status rocl_fail_write(rocl_error *err, const char *path, int why)
{
    return why == ENOMEM ? rocl_fail_memory(err)
                         : rocl_fail(err, ROCL_OUTPUT, "%s: cannot write: %s", path, strerror(why));
}

rocl_status rocl_fail_temporary(rocl_error *err, const char *folder, int why)
{
    return rocl_fail(err, ROCL_OUTPUT, "temporary file in %s: %s", folder, strerror(why));
}

rocl_status rocl_fail_changed(rocl_error *err, const char *path)
{
    return rocl_fail(err, ROCL_INPUT,
                     "%s: the file changed while it was read: try again when its writer is done",
                     path);
}

rocl_status rocl_wrap(rocl_error *err, const char *fmt, ...)
{
    if (!err)
        return ROCL_INTERNAL;
    if (err->status == ROCL_OK)
        return ROCL_OK;
    char text[ROCL_ERROR_SIZE];
    va_list args;
    va_start(args, fmt);
    format_text(text, fmt, args);
    va_end(args);
    return rocl_fail(err, err->status, "%s: %s", text, err->text);
}

void rocl_error_rename(rocl_error *err, const char *from, const char *to)
{
    const size_t n = strlen(from), m = strlen(to);
    for (char *p = err && n && m <= n ? strstr(err->text, from) : NULL; p;
         p = strstr(p + m, from)) {
        memcpy(p, to, m);
        memmove(p + m, p + n, strlen(p + n) + 1);
    }
}

void rocl_error_copy(rocl_error *to, const rocl_error *from)
{
    if (!to || to == from)
        return;
    if (!from) {
        rocl_fail_memory(to);
        return;
    }
    to->status = from->status;
    memcpy(to->text, from->text, strlen(from->text) + 1);
}

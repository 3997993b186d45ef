/* Lines on standard error: errors, notices, and one line of status that they replace. */
#include "common/messages.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "";
static msg_level level = MSG_NORMAL;
static bool colours;
static bool status_shown;
static bool muted;
static char unsaid[1024]; /* the first error while it is so */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void msg_init(const char *name)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    program = name;
    colours = isatty(STDERR_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

void msg_set_level(msg_level l)
{
    level = l;
}

const char *msg_program(void)
{
    return program;
}

void msg_mute(bool on)
{
    muted = on;
}

bool msg_is_mute(void)
{
    return muted;
}

const char *msg_unsaid(void)
{
    return unsaid;
}

static void clear_status(void)
{
    if (status_shown)
        fputs("\r\033[K", stderr);
    status_shown = false;
}

/* `colour` is an SGR number for the name, NULL for a line without the name. The line is written at
 * once: ranks of a job share standard error. */
static void write_line(const char *colour, const char *fmt, va_list ap)
{
    /* No memory is asked for: there may be none. */
    char line[16384];
    size_t at = 0;
    if (muted)
        return;
    if (colour && *program)
        at = (size_t)snprintf(line, 256,
                              colours ? "\033[%s%s%s:\033[0m " : "%s%s%s: ", colours ? colour : "",
                              colours ? "m" : "", program);
    at = at < 256 ? at : 255;
    const size_t space = sizeof line - 1 - at;
    const int n = vsnprintf(line + at, space, fmt, ap);
    const size_t used = n < 0 ? 0 : (size_t)n < space ? (size_t)n : space - 1;
    /* Names of files, options and events are in it. */
    at += rocl_hide_controls(line + at, used, true);
    line[at++] = '\n';
    pthread_mutex_lock(&lock);
    clear_status();
    fwrite(line, 1, at, stderr);
    pthread_mutex_unlock(&lock);
}

static msg_listener *listener;

void msg_set_listener(msg_listener *fn)
{
    listener = fn;
}

static void tell_listener(bool error, rocl_status code, const char *fmt, va_list ap)
{
    char text[4096];
    if (!listener)
        return;
    vsnprintf(text, sizeof text, fmt, ap);
    pthread_mutex_lock(&lock);
    listener(error, code, text);
    pthread_mutex_unlock(&lock);
}

#define TELL_LISTENER(error, code)                                                                 \
    do {                                                                                           \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        tell_listener(error, code, fmt, ap);                                                       \
        va_end(ap);                                                                                \
    } while (0)

#define WRITE_LINE(colour)                                                                         \
    do {                                                                                           \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        write_line(colour, fmt, ap);                                                               \
        va_end(ap);                                                                                \
    } while (0)

void msg_error(const char *fmt, ...)
{
    if (muted && !*unsaid) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(unsaid, sizeof unsaid, fmt, ap);
        va_end(ap);
    }
    TELL_LISTENER(true, ROCL_INTERNAL);
    WRITE_LINE("1;31");
}

void msg_unread(const char *path, int why)
{
    msg_error("%s: %s", path,
              why == ENOENT || why == ENOTDIR ? "no such file"
              : why == EISDIR                 ? "a directory, not a file"
                                              : strerror(why));
}

void msg_notice(const char *fmt, ...)
{
    TELL_LISTENER(false, ROCL_OK);
    if (level >= MSG_NORMAL)
        WRITE_LINE("1;33");
}

void msg_partial(const char *fmt, ...)
{
    TELL_LISTENER(false, ROCL_PARTIAL);
    if (level >= MSG_NORMAL)
        WRITE_LINE("1;33");
}

void msg_done(const char *fmt, ...)
{
    if (level == MSG_NORMAL && isatty(STDERR_FILENO))
        WRITE_LINE("1");
}

void msg_verbose(const char *fmt, ...)
{
    if (level >= MSG_VERBOSE)
        WRITE_LINE("1");
}

void msg_plain(const char *fmt, ...)
{
    WRITE_LINE(NULL);
}

void msg_put_scaled(char *to, size_t size, double n, const char *const *units)
{
    size_t u = 0;
    for (; n >= 999.5 && units[u + 1]; u++)
        n /= 1000;
    snprintf(to, size, "%.*f%s", !u || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2, n, units[u]);
}

void msg_status(const char *line)
{
    pthread_mutex_lock(&lock);
    clear_status();
    if (*line) {
        fprintf(stderr, "\r%s", line);
        status_shown = true;
    }
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}

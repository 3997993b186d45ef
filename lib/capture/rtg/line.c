/* Lines of text and the file they go to. A line is one write(2) at the end of the file: lines of
 * threads and of both front ends do not mix, and what was written survives the process. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/core.h"
#include "capture/rtg/rtg.h"

enum { CLOSED = -1, REFUSED = -2, LONG_TEXT = 256 };

static _Atomic int fd = CLOSED;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* for changes of fd, dev, ino */
static dev_t dev;
static ino_t ino;
static bool was_open; /* by this process */
static int pid;

uint64_t rocl_rtg_now(void)
{
    return rocl_ns(CLOCK_MONOTONIC);
}

/* A child writes a file of its own. What it got from its parent stays open, as other descriptors
 * do. */
static void forget_file(void)
{
    pthread_mutex_init(&opening, NULL);
    atomic_store(&fd, CLOSED);
    was_open = false;
    pid = getpid();
}

__attribute__((constructor)) static void register_fork_handler(void)
{
    pid = getpid();
    pthread_atfork(NULL, NULL, forget_file);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Opens it, away from the numbers that programs count on. Locked. */
static int open_file(void)
{
    char path[PATH_MAX];
    struct stat s;
    snprintf(path, sizeof path, "%s.%d", rocl_rtg.filename, pid);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (was_open ? 0 : O_TRUNC);
    int high = rocl_move_away(open(path, flags, 0666));
    if (high < 0 || fstat(high, &s) != 0) {
        fprintf(stderr, "rocline: %s: %s; no text is written\n", path, strerror(errno));
        return REFUSED;
    }
    dev = s.st_dev;
    ino = s.st_ino;
    was_open = true;
    return high;
}

/* Programs close descriptors that they do not know, and get the same number for a file of theirs.
 */
static bool is_ours(int f)
{
    struct stat s;
    return fstat(f, &s) == 0 && s.st_dev == dev && s.st_ino == ino;
}

static int get_file(void)
{
    int f = atomic_load_explicit(&fd, memory_order_acquire);
    if (f == REFUSED || (f >= 0 && is_ours(f)))
        return f;
    pthread_mutex_lock(&opening);
    f = atomic_load(&fd);
    if (f == CLOSED || (f >= 0 && !is_ours(f))) {
        f = open_file();
        atomic_store_explicit(&fd, f, memory_order_release);
    }
    pthread_mutex_unlock(&opening);
    return f;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void close_piece(rocl_line *l)
{
    if (l->len > l->from && l->pieces < ROCL_LINE_PIECES)
        l->piece[l->pieces++] = (struct iovec){l->data + l->from, l->len - l->from};
    l->from = l->len;
}

void rocl_line_add(rocl_line *l, const char *format, ...)
{
    va_list args;
    size_t space = sizeof l->data - l->len;
    va_start(args, format);
    int n = vsnprintf(l->data + l->len, space, format, args);
    va_end(args);
    if (n > 0)
        l->len += (size_t)n < space ? (size_t)n : space - 1;
}

void rocl_line_text(rocl_line *l, const char *text, size_t len)
{
    if (len <= LONG_TEXT && sizeof l->data - l->len > 2 * (size_t)LONG_TEXT) {
        memcpy(l->data + l->len, text, len);
        l->len += len;
        return;
    }
    close_piece(l);
    /* One is kept for what follows. */
    if (l->pieces < ROCL_LINE_PIECES - 1)
        l->piece[l->pieces++] = (struct iovec){(char *)(uintptr_t)text, len};
}

void rocl_line_u64(rocl_line *l, uint64_t v)
{
    char digits[24], *p = digits + sizeof digits;
    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    rocl_line_text(l, p, (size_t)(digits + sizeof digits - p));
}

void rocl_line_who(rocl_line *l, const char *what)
{
    rocl_line_begin(l);
    rocl_line_add(l, "%s: pid:%d tid:%lu ", what, pid, (unsigned long)pthread_self());
}

void rocl_line_write(rocl_line *l)
{
    int saved = errno, f = get_file();
    rocl_line_add(l, "\n");
    close_piece(l);
    ssize_t n = f < 0 ? 0 : writev(f, l->piece, l->pieces);
    if (n < 0 && errno != EINTR && atomic_exchange(&fd, REFUSED) != REFUSED)
        fprintf(stderr, "rocline: %s.%d: %s; no more text is written\n", rocl_rtg.filename, pid,
                strerror(errno));
    errno = saved;
}

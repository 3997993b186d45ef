/* Loaded before a program: call number NO_LOOK_AT of those that open, look at or read the file
 * whose name ends in NO_LOOK_FILE fails with the number NO_LOOK_ERRNO. NO_LOOK_COUNT names a file
 * that gets the number of calls. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024 };

static _Atomic long count;
static atomic_bool ours[DESCRIPTORS]; /* descriptors of the file */

static bool is_file(const char *name)
{
    const char *end = getenv("NO_LOOK_FILE");
    size_t n = name ? strlen(name) : 0, m = end ? strlen(end) : 0;
    return m && n >= m && !strcmp(name + n - m, end);
}

static bool fails(void)
{
    const char *at = getenv("NO_LOOK_AT"), *why = getenv("NO_LOOK_ERRNO");
    if (++count != (at ? atol(at) : 0))
        return false;
    errno = why ? atoi(why) : EIO;
    return true;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("NO_LOOK_COUNT");
    int fd = name ? creat(name, 0666) : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%ld\n", count);
    close(fd);
}

int open(const char *name, int flags, ...)
{
    int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    bool file = is_file(name);
    if (file && fails())
        return -1;
    int fd = real(name, flags, mode);
    if (fd >= 0 && fd < DESCRIPTORS)
        ours[fd] = file;
    return fd;
}

FILE *fopen(const char *name, const char *mode)
{
    FILE *(*real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return is_file(name) && fails() ? NULL : real(name, mode);
}

int stat(const char *name, struct stat *st)
{
    int (*real)(const char *, struct stat *) =
        (int (*)(const char *, struct stat *))dlsym(RTLD_NEXT, "stat");
    return is_file(name) && fails() ? -1 : real(name, st);
}

ssize_t read(int fd, void *to, size_t n)
{
    ssize_t (*real)(int, void *, size_t) =
        (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
    return fd >= 0 && fd < DESCRIPTORS && ours[fd] && fails() ? -1 : real(fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    ssize_t (*real)(int, void *, size_t, off_t) =
        (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");
    return fd >= 0 && fd < DESCRIPTORS && ours[fd] && fails() ? -1 : real(fd, to, n, at);
}

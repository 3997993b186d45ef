/* Loaded before a program: a call of a function that makes output fails. NO_ROOM_CALL names it
 * (write, rename, link, close, fsync, mkdir,
 * ftruncate), NO_ROOM_AT says which of its calls, from 1 on; NO_ROOM_FOR_GOOD:
 * that and all that follow. NO_ROOM_COUNT names a file that gets the number of such calls. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static _Atomic long count;
static const char *call;
static long at;
static int for_good;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("NO_ROOM_AT");
    call = getenv("NO_ROOM_CALL");
    for_good = getenv("NO_ROOM_FOR_GOOD") != NULL;
    at = text ? atol(text) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("NO_ROOM_COUNT");
    FILE *f = name ? fopen(name, "w") : NULL;
    call = NULL;
    if (f) {
        fprintf(f, "%ld\n", count);
        fclose(f);
    }
}

/* Is this the one? Only files count: no terminal, pipe or folder. */
static int fails(const char *name, int fd)
{
    struct stat info;
    if (!call || strcmp(call, name) != 0)
        return 0;
    if (fd >= 0 && (fd <= 2 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
                    (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY))
        return 0;
    long i = ++count;
    if (!at || (for_good ? i < at : i != at))
        return 0;
    errno = ENOSPC;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *p, size_t n)
{
    return fails("write", fd) ? -1 : REAL(write)(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t to)
{
    return fails("write", fd) ? -1 : REAL(pwrite)(fd, p, n, to);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t to)
{
    return fails("write", fd) ? -1 : REAL(pwrite64)(fd, p, n, to);
}

int rename(const char *from, const char *to)
{
    return fails("rename", -1) ? -1 : REAL(rename)(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    return fails("rename", -1) ? -1 : REAL(renameat)(a, from, b, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    return fails("link", -1) ? -1 : REAL(linkat)(a, from, b, to, flags);
}

/* Files and folders alike. */
int fsync(int fd)
{
    return fails("fsync", -1) ? -1 : REAL(fsync)(fd);
}

int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir", -1) ? -1 : REAL(mkdir)(path, mode);
}

int ftruncate(int fd, off_t n)
{
    return fails("ftruncate", fd) ? -1 : REAL(ftruncate)(fd, n);
}

/* The descriptor is gone, whatever the answer is. */
int close(int fd)
{
    int bad = fails("close", fd);
    int rc = REAL(close)(fd);
    if (bad)
        errno = ENOSPC;
    return bad ? -1 : rc;
}

/* Loaded before a program: one of its calls fails. FAULT_CALL names the call as the table below
 * does, FAULT_AT says which one of them, from 1 on (FAULT_FROM_THERE: and all that follow),
 * FAULT_ERRNO how it fails. 0 is no failure: a read or a write is then shorter than asked for.
 * FAULT_COUNT names a file of FAULT_CALLS + 1 numbers, in which calls are counted, and at its end
 * those that failed; FAULT_SITES one of FAULT_SITES entries, in which is said where calls come
 * from. FAULT_PROGRAM: only in the program of this name, not in those that it starts. FAULT_SHOW:
 * functions through which the call that fails was reached are written to standard error.
 */
#include "faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static _Atomic uint64_t own[FAULT_CALLS + 1];
static _Atomic uint64_t *counts = own;
static fault_site *sites; /* NULL: nobody asks where calls come from */
static int call = -1, why;
static uint64_t at;
static bool from_there, shown;

/* The file of this name, as it is in memory; NULL: there is none. */
static void *map_file(const char *path, size_t n)
{
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NULL;
    void *p = (void *)syscall(SYS_mmap, NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
    syscall(SYS_close, fd);
    return p == MAP_FAILED ? NULL : p;
}

__attribute__((constructor)) static void begin_faults(void)
{
    const char *program = getenv("FAULT_PROGRAM"), *name = getenv("FAULT_CALL");
    const char *place = getenv("FAULT_AT"), *number = getenv("FAULT_ERRNO");
    if (program && strcmp(program, program_invocation_short_name) != 0)
        return;
    void *shared = map_file(getenv("FAULT_COUNT"), sizeof own), *frame;
    counts = shared ? shared : own;
    fault_site *table = map_file(getenv("FAULT_SITES"), FAULT_SITES * sizeof *table);
    shown = getenv("FAULT_SHOW") != NULL;
    if (table || shown)
        backtrace(&frame, 1); /* loads a library the first time */
    for (int i = 0; i < FAULT_CALLS; i++) {
        counts[i] = 0; /* what was done before this, the loader did */
        if (name && !strcmp(name, fault_calls[i]))
            call = i;
    }
    at = place ? strtoull(place, NULL, 10) : 0;
    why = number ? atoi(number) : EIO;
    from_there = getenv("FAULT_FROM_THERE") != NULL;
    sites = table;
}

/* Calls of one site differ in what they work on, not in who handles their failure. */
static void note_site(int which, uint64_t number)
{
    static __thread bool noting;
    void *frames[12];
    if (noting)
        return;
    noting = true;
    uint64_t hash = (uint64_t)which + 1;
    for (int i = 0, n = backtrace(frames, 12); i < n; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) | 1;
    for (uint64_t i = 0, slot = hash; i < FAULT_SITES; i++, slot++) {
        fault_site *s = &sites[slot % FAULT_SITES];
        uint64_t other = 0;
        if (atomic_compare_exchange_strong(&s->hash, &other, hash)) {
            s->call = (uint64_t)which;
            s->first = number;
        } else if (other != hash)
            continue;
        s->last = number;
        break;
    }
    noting = false;
}

static bool is_chosen(int which)
{
    uint64_t i = ++counts[which];
    if (sites)
        note_site(which, i);
    if (which != call || !at || (from_there ? i < at : i != at))
        return false;
    counts[FAULT_CALLS]++;
    if (shown) {
        void *frames[24];
        backtrace_symbols_fd(frames, backtrace(frames, 24), STDERR_FILENO);
    }
    return true;
}

/* May not be called for what can be shorter. */
static bool fails(int which)
{
    if (!is_chosen(which))
        return false;
    errno = why;
    return true;
}

/* -1: the call fails; else how much is to be asked for. */
static ssize_t size_of_transfer(int which, size_t n)
{
    if (!is_chosen(which))
        return (ssize_t)n;
    errno = why;
    return why ? -1 : (ssize_t)(n > 1 ? n / 2 : n);
}

#define REAL(name)                                                                                 \
    __extension__({                                                                                \
        static __typeof__(&name) real;                                                             \
        if (!real)                                                                                 \
            real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                     \
        real;                                                                                      \
    })

/* A call that fails with `bad`, or is what it was. */
#define FAILING(type, name, which, bad, params, args)                                              \
    type name params                                                                               \
    {                                                                                              \
        return fails(which) ? (bad) : REAL(name) args;                                             \
    }

#define OPENING(name, params, args)                                                                \
    int name params                                                                                \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                  \
        va_end(rest);                                                                              \
        return fails(FAULT_OPEN) ? -1 : REAL(name) args;                                           \
    }

OPENING(open, (const char *path, int flags, ...), (path, flags, mode))
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENING(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPENING(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
FAILING(FILE *, fopen, FAULT_OPEN, NULL, (const char *path, const char *mode), (path, mode))
FAILING(FILE *, fopen64, FAULT_OPEN, NULL, (const char *path, const char *mode), (path, mode))
FAILING(DIR *, opendir, FAULT_OPEN, NULL, (const char *path), (path))
FAILING(DIR *, fdopendir, FAULT_OPEN, NULL, (int fd), (fd))
FAILING(int, dup, FAULT_OPEN, -1, (int fd), (fd))
FAILING(struct dirent *, readdir, FAULT_READDIR, NULL, (DIR * d), (d))
FAILING(struct dirent64 *, readdir64, FAULT_READDIR, NULL, (DIR * d), (d))
FAILING(int, rename, FAULT_RENAME, -1, (const char *from, const char *to), (from, to))
FAILING(int, renameat, FAULT_RENAME, -1, (int a, const char *from, int b, const char *to),
        (a, from, b, to))
FAILING(int, renameat2, FAULT_RENAME, -1,
        (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
FAILING(int, link, FAULT_LINK, -1, (const char *from, const char *to), (from, to))
FAILING(int, linkat, FAULT_LINK, -1, (int a, const char *from, int b, const char *to, int flags),
        (a, from, b, to, flags))
FAILING(int, symlink, FAULT_LINK, -1, (const char *to, const char *path), (to, path))
FAILING(int, unlink, FAULT_UNLINK, -1, (const char *path), (path))
FAILING(int, unlinkat, FAULT_UNLINK, -1, (int dir, const char *path, int flags), (dir, path, flags))
FAILING(int, rmdir, FAULT_UNLINK, -1, (const char *path), (path))
FAILING(int, mkdir, FAULT_MKDIR, -1, (const char *path, mode_t mode), (path, mode))
FAILING(char *, mkdtemp, FAULT_MKDIR, NULL, (char *path), (path))
FAILING(int, stat, FAULT_STAT, -1, (const char *path, struct stat *to), (path, to))
FAILING(int, lstat, FAULT_STAT, -1, (const char *path, struct stat *to), (path, to))
FAILING(int, fstat, FAULT_STAT, -1, (int fd, struct stat *to), (fd, to))
FAILING(int, fstatat, FAULT_STAT, -1, (int dir, const char *path, struct stat *to, int flags),
        (dir, path, to, flags))
FAILING(int, stat64, FAULT_STAT, -1, (const char *path, struct stat64 *to), (path, to))
FAILING(int, lstat64, FAULT_STAT, -1, (const char *path, struct stat64 *to), (path, to))
FAILING(int, fstat64, FAULT_STAT, -1, (int fd, struct stat64 *to), (fd, to))
FAILING(int, access, FAULT_STAT, -1, (const char *path, int how), (path, how))
FAILING(int, faccessat, FAULT_STAT, -1, (int dir, const char *path, int how, int flags),
        (dir, path, how, flags))
FAILING(int, ftruncate, FAULT_FTRUNCATE, -1, (int fd, off_t n), (fd, n))
FAILING(int, ftruncate64, FAULT_FTRUNCATE, -1, (int fd, off64_t n), (fd, n))
FAILING(int, fallocate, FAULT_FTRUNCATE, -1, (int fd, int mode, off_t from, off_t n),
        (fd, mode, from, n))
FAILING(int, posix_fallocate, FAULT_FTRUNCATE, why, (int fd, off_t from, off_t n), (fd, from, n))
FAILING(int, posix_fallocate64, FAULT_FTRUNCATE, why, (int fd, off64_t from, off64_t n),
        (fd, from, n))
FAILING(off_t, lseek, FAULT_SEEK, -1, (int fd, off_t to, int whence), (fd, to, whence))
FAILING(off64_t, lseek64, FAULT_SEEK, -1, (int fd, off64_t to, int whence), (fd, to, whence))
FAILING(int, fsync, FAULT_FSYNC, -1, (int fd), (fd))
FAILING(int, fdatasync, FAULT_FSYNC, -1, (int fd), (fd))
FAILING(void *, mmap, FAULT_MMAP, MAP_FAILED,
        (void *p, size_t n, int prot, int flags, int fd, off_t from), (p, n, prot, flags, fd, from))
FAILING(void *, mmap64, FAULT_MMAP, MAP_FAILED,
        (void *p, size_t n, int prot, int flags, int fd, off64_t from),
        (p, n, prot, flags, fd, from))
FAILING(int, pthread_create, FAULT_THREAD, why,
        (pthread_t * t, const pthread_attr_t *a, void *(*run)(void *), void *ctx), (t, a, run, ctx))

/* The descriptor is gone, whatever the answer is. */
int close(int fd)
{
    const bool bad = fails(FAULT_CLOSE);
    int rc = REAL(close)(fd);
    if (bad)
        errno = why;
    return bad ? -1 : rc;
}

#define TRANSFER(name, which, params, args)                                                        \
    ssize_t name params                                                                            \
    {                                                                                              \
        ssize_t part = size_of_transfer(which, n);                                                 \
        n = (size_t)part;                                                                          \
        return part < 0 ? -1 : REAL(name) args;                                                    \
    }

TRANSFER(read, FAULT_READ, (int fd, void *to, size_t n), (fd, to, n))
TRANSFER(pread, FAULT_PREAD, (int fd, void *to, size_t n, off_t from), (fd, to, n, from))
TRANSFER(pread64, FAULT_PREAD, (int fd, void *to, size_t n, off64_t from), (fd, to, n, from))
TRANSFER(pwrite, FAULT_PWRITE, (int fd, const void *from, size_t n, off_t to), (fd, from, n, to))
TRANSFER(pwrite64, FAULT_PWRITE, (int fd, const void *from, size_t n, off64_t to),
         (fd, from, n, to))

TRANSFER(sendfile, FAULT_COPY, (int to, int from, off_t *in, size_t n), (to, from, in, n))
TRANSFER(sendfile64, FAULT_COPY, (int to, int from, off64_t *in, size_t n), (to, from, in, n))
TRANSFER(copy_file_range, FAULT_COPY,
         (int from, off64_t *in, int to, off64_t *out, size_t n, unsigned flags),
         (from, in, to, out, n, flags))

/* What went wrong can be said. */
ssize_t write(int fd, const void *from, size_t n)
{
    ssize_t part = fd == STDERR_FILENO ? (ssize_t)n : size_of_transfer(FAULT_WRITE, n);
    return part < 0 ? -1 : REAL(write)(fd, from, (size_t)part);
}

void *malloc(size_t size)
{
    return fails(FAULT_MALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(FAULT_MALLOC) ? NULL : __libc_calloc(n, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails(FAULT_MALLOC) ? NULL : __libc_memalign(align, size);
}

void *realloc(void *p, size_t size)
{
    return fails(FAULT_MALLOC) ? NULL : __libc_realloc(p, size);
}

/* libotf2 asks for it. glibc looks up the name of the host, which it does not survive without
 * memory. */
long gethostid(void)
{
    return 0;
}

/* Loaded before a program: its allocation number NO_MEMORY_AT fails, and with NO_MEMORY_FROM_THERE
 * all that follow, too. NO_MEMORY_COUNT names a file that gets the number of allocations. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static _Atomic long count;
static long at;
static int from_there;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("NO_MEMORY_AT");
    from_there = getenv("NO_MEMORY_FROM_THERE") != NULL;
    at = text ? atol(text) : 0;
    count = 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("NO_MEMORY_COUNT");
    int fd = name ? open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666) : -1;
    if (fd >= 0) {
        dprintf(fd, "%ld\n", count);
        close(fd);
    }
}

static int fails(void)
{
    long i = ++count;
    if (!at || (from_there ? i < at : i != at))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __libc_memalign(align, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

/* libotf2 asks for it. glibc looks up the name of the host, which it does not survive without
 * memory. */
long gethostid(void)
{
    return 0;
}

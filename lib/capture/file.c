/* The file of a process. It grows by what fallocate gives: so a full disk is noticed here, and not
 * as a SIGBUS when the program writes. File descriptors may have been closed by the program, and
 * their numbers used for files of its own: they are looked at before each use. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/core.h"

static bool is_file(int fd, dev_t dev, ino_t ino)
{
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == dev && s.st_ino == ino;
}

/* What the program never sees: a number above those it counts on. */
static int move_away(int fd)
{
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 200);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

static int open_in_folder(const char *name, int flags)
{
    char path[PATH_MAX + sizeof((rocl_core *)0)->name];
    if (is_file(rocl_set.folder_fd, rocl_set.folder_dev, rocl_set.folder_ino))
        return openat(rocl_set.folder_fd, name, flags | O_CLOEXEC, 0666);
    snprintf(path, sizeof path, "%s/%s", rocl_set.folder, name);
    return open(path, flags | O_CLOEXEC, 0666);
}

bool rocl_file_make(rocl_core *c)
{
    struct stat s;
    c->fd = -1;
    for (unsigned i = 0; c->fd < 0 && i < 100000; i++) {
        int n = snprintf(c->name, sizeof c->name, "%s-%u", rocl_set.host, c->pid);
        snprintf(c->name + n, sizeof c->name - (size_t)n, i ? "-%u.rocl" : ".rocl", i);
        c->fd = open_in_folder(c->name, O_RDWR | O_CREAT | O_EXCL);
        if (c->fd < 0 && errno != EEXIST)
            return false;
    }
    if (c->fd < 0 || fstat(c->fd, &s) != 0)
        return false;
    c->dev = s.st_dev;
    c->ino = s.st_ino;
    c->fd = move_away(c->fd);
    return true;
}

void rocl_file_remove(rocl_core *c)
{
    char path[PATH_MAX + sizeof c->name];
    snprintf(path, sizeof path, "%s/%s", rocl_set.folder, c->name);
    if (is_file(c->fd, c->dev, c->ino))
        close(c->fd);
    c->fd = -1;
    unlink(path);
}

static bool reopen(rocl_core *c)
{
    if (is_file(c->fd, c->dev, c->ino))
        return true;
    int fd = open_in_folder(c->name, O_RDWR);
    if (!is_file(fd, c->dev, c->ino)) {
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    c->fd = move_away(fd);
    return fd >= 0;
}

/* Beyond the limit of a process the kernel would not just refuse but send SIGXFSZ. */
static bool may_grow(uint64_t size)
{
    struct rlimit r;
    return getrlimit(RLIMIT_FSIZE, &r) != 0 || r.rlim_cur == RLIM_INFINITY || size <= r.rlim_cur;
}

/* Where there is no fallocate. */
static bool write_zeros(int fd, const rocl_span *s)
{
    static const char zeros[4096];
    for (uint64_t at = 0; at < s->size; at += sizeof zeros)
        if (pwrite(fd, zeros, sizeof zeros, (off_t)(s->offset + at)) != (ssize_t)sizeof zeros)
            return false;
    return true;
}

static bool reserve(int fd, const rocl_span *s)
{
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)s->offset, (off_t)s->size);
    while (rc != 0 && errno == EINTR);
    return rc == 0 || (errno == EOPNOTSUPP && write_zeros(fd, s));
}

/* *wait: there may be room later. */
static bool grow(rocl_core *c, size_t size, rocl_span *where, bool *wait)
{
    *where = (rocl_span){c->file_size, size};
    *wait = false;
    if (!may_grow(where->offset + size))
        return false;
    if (!reserve(c->fd, where)) {
        *wait = errno == ENOSPC || errno == EDQUOT;
        return false;
    }
    c->file_size += size;
    return true;
}

static rocl_span *given(const rocl_core *c, uint32_t i)
{
    return &c->given_up[(c->given_first + i) % c->given_cap];
}

/* The oldest chunk that is done and large enough. */
static bool recycle(rocl_core *c, size_t size, rocl_span *where)
{
    uint32_t i = 0;
    while (i < c->given_count && given(c, i)->size < size)
        i++;
    if (i == c->given_count)
        return false;
    *where = *given(c, i);
    for (; i > 0; i--)
        *given(c, i) = *given(c, i - 1);
    c->given_first = (c->given_first + 1) % c->given_cap;
    c->given_count--;
    return true;
}

static bool find_room(rocl_core *c, size_t size, rocl_span *where, bool *wait)
{
    bool over = rocl_set.limit && c->file_size + size > rocl_set.limit;
    *wait = false;
    if (!reopen(c) || (over && rocl_set.policy == ROCL_DROP))
        return false;
    if (over && rocl_set.policy == ROCL_RING && recycle(c, size, where))
        return true;
    return grow(c, size, where, wait);
}

/* There is no address space: the room is kept for the next one. The list has a place for it, where
 * it came from there. */
static void put_back(rocl_core *c, const rocl_span *where)
{
    if (where->offset + where->size == c->file_size)
        c->file_size = where->offset;
    else if (c->given_count < c->given_cap)
        *given(c, c->given_count++) = *where;
}

static void *map_room(rocl_core *c, size_t size, rocl_span *where, bool *wait)
{
    void *at = MAP_FAILED;
    pthread_mutex_lock(&c->lock);
    /* The file is mapped before the lock is given back: nobody closes it in between. */
    if (find_room(c, size, where, wait)) {
        at = mmap(NULL, where->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
                  (off_t)where->offset);
        if (at == MAP_FAILED)
            put_back(c, where);
    }
    pthread_mutex_unlock(&c->lock);
    return at;
}

rocl_chunk_header *rocl_file_chunk(rocl_core *c, size_t size, rocl_span *where)
{
    void *at;
    bool wait;
    size = (size + rocl_set.page - 1) / rocl_set.page * rocl_set.page;
    while ((at = map_room(c, size, where, &wait)) == MAP_FAILED) {
        if (rocl_set.policy != ROCL_BLOCK || !wait)
            return NULL;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
#ifdef MADV_POPULATE_WRITE
    madvise(at, where->size, MADV_POPULATE_WRITE); /* all at once; else page by page, on use */
#endif
    return at;
}

static bool more_given(rocl_core *c)
{
    uint32_t cap = c->given_cap ? 2 * c->given_cap : 256;
    rocl_span *more = rocl_wiped_pages(cap * sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; c->given_cap && i < c->given_count; i++)
        more[i] = *given(c, i);
    if (c->given_up)
        munmap(c->given_up, c->given_cap * sizeof *more);
    c->given_up = more;
    c->given_first = 0;
    c->given_cap = cap;
    return true;
}

void rocl_file_give_up(rocl_core *c, const rocl_span *where)
{
    pthread_mutex_lock(&c->lock);
    if (c->given_count < c->given_cap || more_given(c)) {
        c->given_up[(c->given_first + c->given_count) % c->given_cap] = *where;
        c->given_count++;
    }
    pthread_mutex_unlock(&c->lock);
}

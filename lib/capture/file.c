/* The file of a process. It grows by what fallocate gives: so a full disk is noticed here, and not
 * as a SIGBUS when the program writes. No descriptor stays open: the file is opened when it has to
 * grow, and closed when the span is mapped. What the program closes, or opens meanwhile, is
 * looked at before each use. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/core.h"

static bool is_same_file(int fd, dev_t dev, ino_t ino)
{
    struct stat s;
    return fd >= 0 && fstat(fd, &s) == 0 && s.st_dev == dev && s.st_ino == ino;
}

/* Away from the numbers that programs, and scripts, count on. */
int rocl_move_away(int fd)
{
    enum { FAR = 1000 };
    int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FAR);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

static void close_if_same(int fd, dev_t dev, ino_t ino)
{
    if (is_same_file(fd, dev, ino))
        close(fd);
}

/* -1: it is not there any more, or another folder has its name. */
static int open_folder(void)
{
    if (is_same_file(rocl_set.folder_fd, rocl_set.folder_dev, rocl_set.folder_ino))
        return rocl_set.folder_fd;
    int fd = open(rocl_set.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || is_same_file(fd, rocl_set.folder_dev, rocl_set.folder_ino))
        return fd;
    close(fd);
    errno = ENOENT;
    return -1;
}

static void close_folder(int fd)
{
    if (fd != rocl_set.folder_fd)
        close_if_same(fd, rocl_set.folder_dev, rocl_set.folder_ino);
}

static int open_in_folder(const char *name, int flags)
{
    int folder = open_folder();
    int fd = folder < 0 ? -1 : openat(folder, name, flags | O_CLOEXEC, 0666);
    int saved = errno;
    close_folder(folder);
    errno = saved;
    return fd;
}

bool rocl_file_make(rocl_core *c)
{
    struct stat s;
    int fd = -1;
    c->fd = -1;
    for (unsigned i = 0; fd < 0 && i < 100000; i++) {
        int n = snprintf(c->name, sizeof c->name, "%s-%u", rocl_set.host, c->pid);
        snprintf(c->name + n, sizeof c->name - (size_t)n, i ? "-%u.rocl" : ".rocl", i);
        fd = open_in_folder(c->name, O_RDWR | O_CREAT | O_EXCL);
        if (fd < 0 && errno != EEXIST)
            return false;
    }
    if (fd < 0)
        return false;
    /* The program's mask may have taken the right to open it once more. */
    bool made = fstat(fd, &s) == 0 &&
                ((s.st_mode & 0600) == 0600 || fchmod(fd, (s.st_mode & 0777) | 0600) == 0);
    c->dev = s.st_dev;
    c->ino = s.st_ino;
    close(fd);
    return made;
}

void rocl_file_remove(rocl_core *c)
{
    int folder = open_folder();
    if (folder >= 0)
        unlinkat(folder, c->name, 0);
    close_folder(folder);
}

static int open_file(const rocl_core *c)
{
    if (is_same_file(c->fd, c->dev, c->ino))
        return c->fd;
    int fd = open_in_folder(c->name, O_RDWR | O_NOFOLLOW);
    if (!is_same_file(fd, c->dev, c->ino)) {
        if (fd >= 0)
            close(fd);
        fd = -1;
        /* Through its mapping, even if its name is out of reach. Needs a privilege. */
        if (c->self) {
            char path[80];
            uintptr_t at = (uintptr_t)c->self;
            snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", (unsigned long)at,
                     (unsigned long)(at + c->self->size));
            fd = open(path, O_RDWR | O_CLOEXEC);
        }
    }
    if (is_same_file(fd, c->dev, c->ino))
        return rocl_move_away(fd);
    if (fd >= 0)
        close(fd);
    return -1;
}

static void close_file(const rocl_core *c, int fd)
{
    if (fd != c->fd)
        close_if_same(fd, c->dev, c->ino);
}

bool rocl_file_keep(rocl_core *c)
{
    bool kept = false;
    /* The caller may be a signal handler that has interrupted what holds the lock. */
    if (pthread_mutex_trylock(&c->lock) != 0)
        return false;
    if (!is_same_file(c->fd, c->dev, c->ino)) {
        int folder = open_folder();
        c->fd = open_file(c);
        if (folder != rocl_set.folder_fd)
            rocl_set.folder_fd = rocl_move_away(folder);
        kept = true;
    }
    pthread_mutex_unlock(&c->lock);
    return kept;
}

void rocl_file_let_go(rocl_core *c)
{
    int fd = c->fd, folder = rocl_set.folder_fd;
    c->fd = rocl_set.folder_fd = -1;
    close_file(c, fd);
    close_folder(folder);
}

static size_t down_to_page(uint64_t size)
{
    return (size_t)(size / rocl_set.page * rocl_set.page);
}

static bool allocate_span(int fd, const rocl_span *s)
{
    static const char zeros[4096];
    int rc;
    do
        rc = fallocate(fd, 0, (off_t)s->offset, (off_t)s->size);
    while (rc != 0 && errno == EINTR);
    if (rc == 0 || errno != EOPNOTSUPP)
        return rc == 0;
    for (uint64_t at = 0; at < s->size; at += sizeof zeros)
        if (pwrite(fd, zeros, sizeof zeros, (off_t)(s->offset + at)) != (ssize_t)sizeof zeros)
            return false;
    return true;
}

/* Appends a span of where->size bytes, or of the remaining ones, if at least `least`. *wait: there
 * may be space later. Locked. */
static bool grow_file(rocl_core *c, int fd, size_t least, rocl_span *where, bool *wait)
{
    struct rlimit r;
    /* Beyond the limit of a process the kernel would not just refuse but send SIGXFSZ. */
    uint64_t largest = rocl_set.limit && rocl_set.policy == ROCL_DROP ? rocl_set.limit : UINT64_MAX;
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < largest)
        largest = r.rlim_cur;
    uint64_t left = largest > c->file_size ? largest - c->file_size : 0;
    where->offset = c->file_size;
    if (where->size > left)
        where->size = down_to_page(left);
    for (; where->size >= least; where->size = down_to_page(where->size / 2)) {
        if (allocate_span(fd, where)) {
            c->file_size += where->size;
            return true;
        }
        if (errno != ENOSPC && errno != EDQUOT)
            return false;
        *wait = true;
    }
    return false;
}

static rocl_given *given_at(const rocl_core *c, uint32_t i)
{
    return &c->given_up[(c->given_first + i) % c->given_cap];
}

/* The oldest chunk that is done and large enough. */
static bool take_given(rocl_core *c, size_t size, rocl_given *old)
{
    uint32_t i = 0;
    while (i < c->given_count && given_at(c, i)->where.size < size)
        i++;
    if (i == c->given_count)
        return false;
    *old = *given_at(c, i);
    for (; i > 0; i--)
        *given_at(c, i) = *given_at(c, i - 1);
    c->given_first = (c->given_first + 1) % c->given_cap;
    c->given_count--;
    return true;
}

static void *map_span(rocl_core *c, size_t least, size_t size, rocl_span *where, bool *wait)
{
    void *at = MAP_FAILED;
    rocl_given chunk = {.where.size = size};
    *wait = false;
    pthread_mutex_lock(&c->lock);
    int fd = open_file(c);
    uint64_t file_size = c->file_size;
    const bool full = rocl_set.policy == ROCL_RING && c->file_size + size > rocl_set.limit;
    if (fd >= 0 &&
        ((full && take_given(c, size, &chunk)) || grow_file(c, fd, least, &chunk.where, wait))) {
        rocl_chunk_header *h = c->self;
        *where = chunk.where;
        at = mmap(NULL, where->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)where->offset);
        if (at == MAP_FAILED) {
            /* Without address space, keeps the span for the next chunk. The list has a free entry
             * for it if it came from there. */
            if (where->offset + where->size == c->file_size)
                c->file_size = where->offset;
            else if (c->given_count < c->given_cap)
                *given_at(c, c->given_count++) = chunk;
        } else if (c->file_size == file_size && h) {
            /* The chunk of the process tells what the ring does not have any more. */
            rocl_chunk_reopen(h); /* at exit */
            h->given_chunks++;
            h->given_records += chunk.records;
            if (chunk.until > h->given_until)
                h->given_until = chunk.until;
        }
    }
    close_file(c, fd);
    pthread_mutex_unlock(&c->lock);
    return at;
}

rocl_chunk_header *rocl_file_chunk(rocl_core *c, size_t least, size_t size, rocl_span *where)
{
    void *at;
    bool wait;
    if (rocl_is_sealed())
        return NULL;
    least = down_to_page(least + rocl_set.page - 1);
    size = down_to_page(size + rocl_set.page - 1);
    size = size > least ? size : least;
    while ((at = map_span(c, least, size, where, &wait)) == MAP_FAILED) {
        if (rocl_set.policy != ROCL_BLOCK || !wait || rocl_is_sealed())
            return NULL;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
#ifdef MADV_POPULATE_WRITE
    madvise(at, where->size, MADV_POPULATE_WRITE); /* all at once; else page by page, on use */
#endif
    return at;
}

static bool grow_given(rocl_core *c)
{
    uint32_t cap = c->given_cap ? 2 * c->given_cap : 256;
    rocl_given *more = rocl_wiped_pages(cap * sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; c->given_cap && i < c->given_count; i++)
        more[i] = *given_at(c, i);
    if (c->given_up)
        munmap(c->given_up, c->given_cap * sizeof *more);
    c->given_up = more;
    c->given_first = 0;
    c->given_cap = cap;
    return true;
}

void rocl_file_give_up(rocl_core *c, const rocl_given *chunk)
{
    pthread_mutex_lock(&c->lock);
    if (c->given_count < c->given_cap || grow_given(c)) {
        c->given_up[(c->given_first + c->given_count) % c->given_cap] = *chunk;
        c->given_count++;
    }
    pthread_mutex_unlock(&c->lock);
}

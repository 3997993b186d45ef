/* The state of a process: made with its first event, and again after a fork; its file; its own
 * chunk, which counts what no thread can; and sealing, after which no system call is made. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/core.h"

static _Atomic(rocl_core *) the_core;
static _Atomic uint64_t unattributed; /* events that were lost while no chunk could count them */
/* The chunk of this process, or of the next one above it that has a file: children have it mapped,
 * too. */
static rocl_chunk_header *nearest;
static bool forks_unseen; /* the kernel cannot wipe pages: pthread_atfork does it */

void *rocl_wiped_pages(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (madvise(p, n, MADV_WIPEONFORK) != 0)
        forks_unseen = true;
    return p;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* It grows by what fallocate gives: so a full disk is noticed here, and not as a SIGBUS when the
 * program writes. No descriptor stays open: the file is opened when it has to grow, and closed when
 * the span is mapped. What the program closes, or opens meanwhile, is looked at before each use. */

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

static bool make_file(rocl_core *c)
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
    if (c->given_count < c->given_cap || grow_given(c))
        *given_at(c, c->given_count++) = *chunk;
    pthread_mutex_unlock(&c->lock);
}

/* ---- the core -------------------------------------------------------------------------------- */

/* An old kernel: only the forking thread's writer and the core have to be cleared. */
static void clear_in_child(void)
{
    rocl_core *c = atomic_load(&the_core);
    if (!forks_unseen || !c)
        return;
    memset(c, 0, sizeof *c);
    if (rocl_me.writer)
        memset(rocl_me.writer, 0, sizeof *rocl_me.writer);
}

static rocl_core *map_core(void)
{
    rocl_core *c = rocl_wiped_pages(sizeof *c), *other = NULL;
    if (!c)
        return NULL;
    c->pid = (uint32_t)getpid();
    if (!atomic_compare_exchange_strong(&the_core, &other, c)) {
        munmap(c, sizeof *c);
        return other;
    }
    if (forks_unseen)
        pthread_atfork(NULL, NULL, clear_in_child);
    return c;
}

void rocl_core_prepare(void)
{
    map_core();
}

/* After vfork the memory is that of the parent. After a fork whose child has recorded nothing the
 * number is 0. */
static bool is_of_parent(const rocl_core *c)
{
    return c && c->pid && c->pid != (uint32_t)getpid();
}

/* A chunk for the process itself: it exists, and `dropped` events found no space. It is the first
 * in the file, and identifies it. */
static void write_process_chunk(rocl_core *c)
{
    rocl_span where;
    size_t size = ROCL_CHUNK_HEADER + c->preamble_len;
    rocl_chunk_header *h = rocl_file_chunk(c, size, size, &where);
    if (!h) {
        const int folder = open_folder();
        c->refused = true;
        if (folder >= 0)
            unlinkat(folder, c->name, 0);
        close_folder(folder);
        return;
    }
    uint8_t *content = (uint8_t *)h + ROCL_CHUNK_HEADER;
    rocl_chunk_prepare(h, where.size);
    memcpy(content, c->preamble, c->preamble_len);
    rocl_chunk_begin(h, c, where.size, ROCL_CHUNK_PROCESS, c->preamble_len);
    atomic_fetch_add(&c->chunks, 1);
    /* The kernel does not join it with another mapping of the file: it has a name in /proc. */
    madvise(h, where.size, MADV_RANDOM);
    c->self = nearest = h;
}

void rocl_core_count_lost(uint64_t n)
{
    /* A process that cannot have a file, because it has no right or descriptor for it, is spoken
     * for by the one that it was forked from. */
    const rocl_core *c = atomic_load(&the_core);
    rocl_chunk_header *h = c ? c->self : NULL;
    if (!c || !atomic_load(&c->alive))
        h = rocl_is_sealed() ? nearest : NULL; /* it will have none */
    else if (c->refused)
        h = nearest;
    n += atomic_exchange(&unattributed, 0);
    if (h && n) {
        atomic_fetch_add(&h->dropped, n);
        rocl_chunk_reopen(h);
    } else {
        atomic_fetch_add(&unattributed, n);
    }
}

/* Events of other threads may be lost meanwhile: then the sum was of another number. */
void rocl_core_close(rocl_core *c)
{
    rocl_chunk_header *h = c->self;
    uint64_t dropped = h ? atomic_load(&h->dropped) : 0;
    if (!h)
        return;
    h->chunks = rocl_set.policy == ROCL_RING ? 0 : atomic_load(&c->chunks);
    rocl_chunk_close(h, ROCL_CHUNK_LAST);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&h->dropped) != dropped)
        rocl_chunk_reopen(h);
}

void rocl_cap_lost(uint64_t events)
{
    if (events && rocl_core_get())
        rocl_core_count_lost(events);
}

void rocl_cap_finish(void)
{
    rocl_core *c = rocl_core_peek();
    rocl_set.on = false;
    if (!c)
        return;
    rocl_core_close(c);
    atomic_store(&c->alive, false); /* nothing is left to do at exit */
}

rocl_core *rocl_core_get(void)
{
    rocl_core *c = atomic_load(&the_core);
    bool alive = c && atomic_load_explicit(&c->alive, memory_order_acquire);
    if (!rocl_set.on || (!alive && rocl_is_sealed()))
        return NULL;
    if (!c && !(c = map_core()))
        return NULL;
    if (!alive) {
        pthread_mutex_lock(&c->birth);
        if (!c->alive) {
            rocl_chunk_sync now;
            c->fd = -1;
            c->pid = (uint32_t)getpid();
            c->tick_hz = rocl_tick_hz();
            rocl_sync_read(&now);
            c->start = now.boottime;
            if (getrandom(&c->process, sizeof c->process, GRND_NONBLOCK) !=
                (ssize_t)sizeof c->process)
                c->process = now.realtime ^ (uint64_t)c->pid << 40;
            atomic_store(&c->next_correlation, 1);
            uint8_t body[sizeof rocl_set.command + 64], *p = body;
            memcpy(c->preamble, rocl_set.node, rocl_set.node_len);
            p = rocl_varint_put(p, (uint64_t)getppid());
            p = rocl_varint_put(p, c->start);
            p = rocl_varint_put(p, rocl_set.rank);
            p = rocl_put_string(p, rocl_set.command, rocl_set.command_len);
            p = rocl_put_record(c->preamble + rocl_set.node_len, ROCL_REC_PROCESS, body,
                                (size_t)(p - body));
            c->preamble_len = (size_t)(p - c->preamble);
            c->refused = !make_file(c);
            if (!c->refused)
                write_process_chunk(c);
            atomic_store(&c->alive, true);
            rocl_core_count_lost(0);
        }
        pthread_mutex_unlock(&c->birth);
    }
    return c->refused ? NULL : c;
}

rocl_core *rocl_core_peek(void)
{
    rocl_core *c = atomic_load(&the_core);
    return c && atomic_load(&c->alive) && !c->refused ? c : NULL;
}

void rocl_core_preamble_add(rocl_core *c, uint8_t type, const char *text, size_t len)
{
    uint8_t head[16], *p = rocl_put_sized(head, type, len);
    size_t n = (size_t)(p - head);
    if (!rocl_core_work())
        return; /* there will be no chunk */
    pthread_mutex_lock(&c->lock);
    if (c->preamble_len + n + len <= sizeof c->preamble) {
        memcpy(c->preamble + c->preamble_len, head, n);
        memcpy(c->preamble + c->preamble_len + n, text, len);
        c->preamble_len += n + len;
    }
    pthread_mutex_unlock(&c->lock);
    rocl_core_rest();
}

/* Who may have to ask the kernel says so before looking whether that is forbidden. */
bool rocl_core_work(void)
{
    rocl_core *c = atomic_load(&the_core);
    if (rocl_is_sealed() || (!c && !(c = map_core())))
        return false;
    rocl_me.cancel = rocl_keep_thread();
    atomic_fetch_add(&c->at_work, 1);
    if (!rocl_is_sealed())
        return true;
    rocl_core_rest();
    return false;
}

void rocl_core_rest(void)
{
    atomic_fetch_sub(&atomic_load(&the_core)->at_work, 1);
    rocl_release_thread(rocl_me.cancel);
}

/* False: it is open already, or cannot be. */
static bool keep_file(rocl_core *c)
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

bool rocl_cap_keep(void)
{
    int saved = errno, cancel = rocl_keep_thread();
    rocl_core *c = rocl_me.busy || rocl_is_sealed() ? NULL : rocl_core_peek();
    bool kept = c && !is_of_parent(c) && keep_file(c);
    rocl_release_thread(cancel);
    errno = saved;
    return kept;
}

void rocl_cap_let_go(void)
{
    int cancel = rocl_keep_thread();
    rocl_core *c = rocl_core_peek();
    if (c) {
        int fd = c->fd, folder = rocl_set.folder_fd;
        c->fd = rocl_set.folder_fd = -1;
        close_file(c, fd);
        close_folder(folder);
    }
    rocl_release_thread(cancel);
}

/* What the process starts from now on is under the filter from its first moment: it records
 * nothing, since ROCLINE_OUTPUT is empty. Only its first byte changes: others may read the
 * environment. */
static char *output, output_was;

/* A process that has no file yet gets one, which says how much is lost. */
bool rocl_cap_seal(bool has_clock)
{
    enum { LONGEST = 10000 }; /* ms: a write to a busy disk may take seconds */
    int saved = errno;
    if (!rocl_set.on || rocl_is_sealed() || is_of_parent(atomic_load(&the_core)))
        return false;
    int cancel = rocl_keep_thread();
    if (!rocl_me.busy)
        rocl_core_get();
    bool sealed = !atomic_exchange(&rocl_sealed, true);
    if (sealed) {
        /* Threads that ask the kernel now may come under the filter, too. One that was stopped is
         * not waited for forever. */
        const rocl_core *c = rocl_me.busy ? NULL : rocl_core_peek();
        for (int i = 0; c && i < LONGEST && atomic_load(&c->at_work) > 0; i++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        rocl_set.on = has_clock && rocl_clock_is_free();
        output = getenv("ROCLINE_OUTPUT");
        output_was = output ? *output : '\0';
        if (output_was)
            *output = '\0';
    }
    rocl_release_thread(cancel);
    errno = saved;
    return sealed;
}

void rocl_cap_unseal(void)
{
    if (output_was)
        *output = output_was;
    rocl_set.on = true;
    atomic_store(&rocl_sealed, false);
}

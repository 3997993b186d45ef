/* The state of a process: made with its first event, and again after a fork; its own chunk, which
 * counts what no thread can; and sealing, after which no system call is made. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
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

/* ---- an old kernel: only the forking thread's writer and the core have to be cleared ---- */

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
        c->refused = true;
        rocl_file_remove(c);
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
            c->refused = !rocl_file_make(c);
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

bool rocl_cap_keep(void)
{
    int saved = errno, cancel = rocl_keep_thread();
    rocl_core *c = rocl_me.busy || rocl_is_sealed() ? NULL : rocl_core_peek();
    bool kept = c && !is_of_parent(c) && rocl_file_keep(c);
    rocl_release_thread(cancel);
    errno = saved;
    return kept;
}

void rocl_cap_let_go(void)
{
    int cancel = rocl_keep_thread();
    rocl_core *c = rocl_core_peek();
    if (c)
        rocl_file_let_go(c);
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

/* The space of several sorters: shares of memory, blocks, and the temporary file. */
#include "base/sort_impl.h"

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory ---------------------------------------------------------------------------------- */

enum { BUFFER_MIN = 64 << 10, READ_MIN = 1 << 10, READ_MAX = 256 << 10 };

/* Sorting more than the caches hold is slower than merging more runs. (Offsets in a buffer are
 * 32 bits of 8 bytes, so there is a limit anyway.) */
#define BUFFER_MAX ((size_t)8 << 20)

static size_t expanded_share(const rocl_sort_space *s)
{
    return s->limit / 8 * 3;
}

size_t rocl_space_buffer_max(const rocl_sort_space *s)
{
    size_t n = s->limit / 4 / s->workers;
    return n < BUFFER_MIN ? BUFFER_MIN : n > BUFFER_MAX ? BUFFER_MAX : n;
}

static bool reserve_share(_Atomic size_t *used, size_t n, size_t share)
{
    size_t have = atomic_load_explicit(used, memory_order_relaxed);
    do {
        if (have > share || n > share - have)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(used, &have, have + n, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

bool rocl_space_expand(rocl_sort_space *s, size_t n, bool anyway)
{
    if (!anyway)
        return reserve_share(&s->expanded, n, expanded_share(s));
    atomic_fetch_add_explicit(&s->expanded, n, memory_order_relaxed);
    return true;
}

void rocl_space_unexpand(rocl_sort_space *s, size_t n)
{
    atomic_fetch_sub_explicit(&s->expanded, n, memory_order_relaxed);
}

/* Expanded bytes may exceed their share: the first buffers of many workers, and read buffers of
 * many runs, are needed in any case. */
bool rocl_space_keep(rocl_sort_space *s, size_t n)
{
    const size_t expanded = atomic_load_explicit(&s->expanded, memory_order_relaxed);
    const size_t share = expanded_share(s), other = expanded > share ? expanded : share;
    return other < s->limit && reserve_share(&s->packed, n, s->limit - other);
}

void rocl_space_unkeep(rocl_sort_space *s, size_t n)
{
    atomic_fetch_sub_explicit(&s->packed, n, memory_order_relaxed);
}

rocl_status rocl_space_store(rocl_sort_space *s, rocl_stored *b, const void *p, size_t n,
                             rocl_error *err)
{
    *b = (rocl_stored){.size = n};
    if (!n)
        return ROCL_OK;
    if (!rocl_space_keep(s, n))
        return rocl_space_spill(s, p, n, &b->offset, err);
    if (!(b->bytes = malloc(n))) {
        rocl_space_unkeep(s, n);
        return rocl_fail_memory(err);
    }
    memcpy(b->bytes, p, n);
    return ROCL_OK;
}

rocl_status rocl_space_load(rocl_sort_space *s, const rocl_stored *b, rocl_buf *scratch,
                            const uint8_t **p, rocl_error *err)
{
    *p = b->bytes;
    if (b->bytes || !b->size)
        return ROCL_OK;
    scratch->len = 0;
    if (!rocl_buf_reserve(scratch, b->size))
        return rocl_fail_memory(err);
    *p = scratch->data;
    return rocl_space_read(s, scratch->data, b->size, b->offset, err);
}

void rocl_space_drop(rocl_sort_space *s, rocl_stored *b)
{
    if (b->bytes)
        rocl_space_unkeep(s, b->size);
    free(b->bytes);
    *b = (rocl_stored){0};
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Small compared with a buffer: many sorters may be filled at once. */
enum { BLOCK_MIN = 4 << 10, BLOCK_MAX = 64 << 10, SLAB_BLOCKS = 32 };

/* All slabs but the first are huge pages if the system has them: getting memory in pages of 4 KiB
 * takes as long as filling it. Only some KiB of the first slab may be needed. */
#define HUGE_PAGE ((size_t)2 << 20)

/* Less is not worth giving back. */
#define GIVE_BACK_MIN ((size_t)2 << 20)

/* Adds a slab, and room in the list of free blocks for all of its blocks. With the lock held. */
static void add_slab(rocl_sort_space *s, size_t size)
{
    if (!ROCL_GROW(s->slabs, s->slab_cap, s->slab_count + 1) ||
        !ROCL_GROW(s->blocks, s->block_cap, (s->slab_count + 1) * SLAB_BLOCKS))
        return;
    uint8_t *slab = aligned_alloc(size < HUGE_PAGE ? BLOCK_MIN : HUGE_PAGE, size);
    if (!slab)
        return;
    if (size >= HUGE_PAGE && s->slab_count)
        madvise(slab, size, MADV_HUGEPAGE);
    s->slabs[s->slab_count++] = s->fresh = slab;
    s->fresh_count = SLAB_BLOCKS;
}

uint8_t *rocl_space_block(rocl_sort_space *s)
{
    if (!rocl_space_expand(s, s->block, false))
        return NULL;
    const size_t each = s->block + ROCL_SORT_SLACK;
    uint8_t *p = NULL;
    pthread_mutex_lock(&s->lock);
    if (!s->block_count && !s->fresh_count)
        add_slab(s, SLAB_BLOCKS * each);
    if (s->block_count) {
        p = s->blocks[--s->block_count];
        s->given_back = s->given_back < s->block_count ? s->given_back : s->block_count;
    } else if (s->fresh_count) {
        p = s->fresh;
        s->fresh += each;
        s->fresh_count--;
    }
    s->blocks_used += p != NULL;
    pthread_mutex_unlock(&s->lock);
    if (!p)
        rocl_space_unexpand(s, s->block);
    return p;
}

void rocl_space_unblock(rocl_sort_space *s, uint8_t *p)
{
    pthread_mutex_lock(&s->lock);
    s->blocks[s->block_count++] = p;
    s->blocks_used--;
    pthread_mutex_unlock(&s->lock);
}

void rocl_space_free_blocks(rocl_sort_space *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->blocks_used && s->slab_count > 1) {
        while (s->slab_count > 1)
            free(s->slabs[--s->slab_count]);
        s->split = s->split ? 1 : 0;
        s->block_count = s->given_back = 0;
        s->fresh = s->slabs[0];
        s->fresh_count = SLAB_BLOCKS;
    }
    const size_t each = s->block + ROCL_SORT_SLACK;
    if ((s->block_count - s->given_back) * each >= GIVE_BACK_MIN) {
        /* With huge pages, using one block again would bring back its whole huge page. */
        for (; SLAB_BLOCKS * each >= HUGE_PAGE && s->split < s->slab_count; s->split++)
            madvise(s->slabs[s->split], SLAB_BLOCKS * each, MADV_NOHUGEPAGE);
        for (; s->given_back < s->block_count; s->given_back++)
            madvise(s->blocks[s->given_back], each, MADV_DONTNEED);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Half of what is free, as another sorter may start to read, too. */
size_t rocl_space_read_buffer(const rocl_sort_space *s, size_t n)
{
    size_t used = atomic_load_explicit(&s->expanded, memory_order_relaxed);
    size_t share = expanded_share(s);
    size_t each = n && used < share ? (share - used) / 2 / n : 0;
    each &= ~(size_t)(READ_MIN - 1);
    return each < READ_MIN ? READ_MIN : each > READ_MAX ? READ_MAX : each;
}

/* ---- the file -------------------------------------------------------------------------------- */

rocl_status rocl_space_spill(rocl_sort_space *s, const uint8_t *p, size_t n, uint64_t *offset,
                             rocl_error *err)
{
    int fd = atomic_load(&s->fd);
    if (fd < 0) {
        pthread_mutex_lock(&s->lock); /* made when first needed */
        fd = atomic_load(&s->fd);
        if (fd < 0)
            fd = rocl_temp_file(s->tmpdir, &s->dir);
        if (fd >= 0)
            atomic_store(&s->fd, fd);
        rocl_status st = fd < 0 ? rocl_fail_temporary(err, s->dir, errno) : ROCL_OK;
        pthread_mutex_unlock(&s->lock);
        if (st)
            return st;
    }
    *offset = atomic_fetch_add(&s->spilled, n);
    return rocl_write_at(fd, p, n, *offset) ? ROCL_OK : rocl_fail_temporary(err, s->dir, errno);
}

rocl_status rocl_space_read(rocl_sort_space *s, uint8_t *p, size_t n, uint64_t offset,
                            rocl_error *err)
{
    ssize_t got = rocl_read_at(atomic_load(&s->fd), p, n, offset);
    return (size_t)got == n ? ROCL_OK : rocl_fail_temporary(err, s->dir, got < 0 ? errno : EIO);
}

rocl_status rocl_space_damaged(const rocl_sort_space *s, rocl_error *err)
{
    return rocl_fail(err, ROCL_OUTPUT, "temporary file in %s: reads back damaged", s->dir);
}

void rocl_space_advise(rocl_sort_space *s, size_t n, uint64_t offset)
{
    posix_fadvise(atomic_load(&s->fd), (off_t)offset, (off_t)n, POSIX_FADV_WILLNEED);
}

/* ---- the whole ------------------------------------------------------------------------------- */

rocl_sort_space *rocl_sort_space_new(size_t memory_limit, unsigned workers, const char *tmpdir)
{
    rocl_sort_space *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    if (tmpdir && !(s->tmpdir = strdup(tmpdir))) {
        free(s);
        return NULL;
    }
    s->limit = memory_limit;
    s->workers = workers ? workers : 1;
    /* The blocks of all strands of all workers must fit twice: two sorters may be filled at
     * once. */
    size_t n = expanded_share(s) / (2 * (size_t)s->workers * ROCL_SORT_STRANDS);
    n &= ~(size_t)(BLOCK_MIN - 1);
    n = n < BLOCK_MIN ? BLOCK_MIN : n > BLOCK_MAX ? BLOCK_MAX : n;
    s->block = n - ROCL_SORT_SLACK;
    atomic_init(&s->fd, -1);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

void rocl_sort_space_free(rocl_sort_space *s)
{
    if (!s)
        return;
    int fd = atomic_load(&s->fd);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < s->slab_count; i++)
        free(s->slabs[i]);
    free(s->slabs);
    free(s->blocks);
    pthread_mutex_destroy(&s->lock);
    free(s->tmpdir);
    free(s);
}

uint64_t rocl_sort_space_spilled(const rocl_sort_space *s)
{
    return atomic_load(&s->spilled);
}

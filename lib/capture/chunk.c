/* Headers of chunks, written while the chunk is mapped. Readers, even of the file of a killed
 * process, rely on the order of the stores; the fences keep it. */
#include "capture/core.h"

#include "base/crc32c.h"

void rocl_chunk_prepare(rocl_chunk_header *h, uint64_t size)
{
    h->size = size;
    atomic_thread_fence(memory_order_release);
    memcpy(h->magic, ROCL_CHUNK_BEGUN, sizeof h->magic);
    atomic_thread_fence(memory_order_seq_cst);
}

void rocl_chunk_begin(rocl_chunk_header *h, const rocl_core *c, uint64_t size, uint32_t flags,
                      size_t len)
{
    h->major = ROCL_CHUNK_MAJOR;
    h->minor = ROCL_CHUNK_MINOR;
    h->header_size = ROCL_CHUNK_HEADER;
    h->endian = ROCL_CHUNK_ENDIAN;
    h->features = 0;
    h->flags = flags | (rocl_set.policy == ROCL_RING ? ROCL_CHUNK_RING : 0);
    h->crc = h->header_crc = 0;
    h->size = size;
    h->stored = h->chunks = 0;
    h->given_chunks = h->given_records = h->given_until = 0;
    memcpy(h->session, rocl_set.session, sizeof h->session);
    h->process = c->process;
    h->pid = c->pid;
    h->clock = rocl_set.tsc ? ROCL_CLOCK_TSC : ROCL_CLOCK_MONOTONIC;
    h->tick_hz = c->tick_hz;
    memset(&h->end, 0, sizeof h->end);
    rocl_sync_read(&h->begin);
    atomic_store_explicit(&h->progress, len, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(h->magic, ROCL_CHUNK_MAGIC, sizeof h->magic);
}

/* ticks is the last word that is written, and 0 while the others are: a process that is killed in
 * between leaves no moment instead of a wrong one. */
void rocl_chunk_sync_now(rocl_chunk_header *h)
{
    rocl_chunk_sync now;
    volatile uint64_t *ticks = &h->end.ticks;
    if (rocl_is_sealed()) /* some kernels have to be asked */
        return;
    rocl_sync_read(&now);
    *ticks = 0;
    atomic_signal_fence(memory_order_seq_cst);
    h->end.monotonic = now.monotonic;
    h->end.realtime = now.realtime;
    h->end.boottime = now.boottime;
    atomic_signal_fence(memory_order_seq_cst);
    *ticks = now.ticks;
}

/* The flag comes last: the sums count from then on, and a process that is killed in between leaves
 * a chunk that was not closed. */
void rocl_chunk_close(rocl_chunk_header *h, uint32_t more)
{
    uint32_t len = (uint32_t)atomic_load_explicit(&h->progress, memory_order_relaxed);
    rocl_chunk_header closed;
    rocl_chunk_sync_now(h);
    h->crc = rocl_crc32c(0, (uint8_t *)h + ROCL_CHUNK_HEADER, len);
    memcpy(&closed, h, sizeof closed);
    closed.flags |= ROCL_CHUNK_CLOSED | more;
    closed.header_crc = 0;
    h->header_crc = rocl_crc32c(0, &closed, sizeof closed);
    atomic_thread_fence(memory_order_release);
    *(volatile uint32_t *)&h->flags = closed.flags;
}

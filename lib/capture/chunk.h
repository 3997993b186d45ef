/* Headers of chunks: filled, kept up to date, closed. */
#ifndef ROCL_CAPTURE_CHUNK_H
#define ROCL_CAPTURE_CHUNK_H

#include "capture/core.h"

/* Must be called first: marks `size` bytes as a chunk under construction. A process that is killed
 * then has lost nothing. */
void rocl_chunk_prepare(rocl_chunk_header *h, uint64_t size);
/* Fills the header of a chunk whose content begins with `len` bytes of records that are no events;
 * the magic comes last. The caller has set the members of the writer (tid, writer, seq, dropped,
 * base). */
void rocl_chunk_begin(rocl_chunk_header *h, const rocl_core *c, uint64_t size, uint32_t flags,
                      size_t len);
/* Notes the clocks as of now. */
void rocl_chunk_sync_now(rocl_chunk_header *h);
/* Nothing follows in it. more: flags. */
void rocl_chunk_close(rocl_chunk_header *h, uint32_t more);
/* Something does all the same: its sums no longer hold. */
static inline void rocl_chunk_reopen(rocl_chunk_header *h)
{
    h->flags &= ~(ROCL_CHUNK_CLOSED | ROCL_CHUNK_LAST);
}

/* Another record for every chunk to come. */
void rocl_core_preamble_add(rocl_core *c, uint8_t type, const char *text, size_t len);

/* The process ends: says in its chunk how many there are. */
void rocl_core_close(rocl_core *c);

/* Events that no writer has lost: they are counted for the process. */
void rocl_core_count_lost(uint64_t n);

#endif

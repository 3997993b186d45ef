/* The content of a chunk. */
#include "source/chunk/chunk.h"

#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/crc32c.h"

/* What inflate gives up to where it fails is what there was. */
static rocl_status unpack(const uint8_t *p, size_t n, rocl_buf *b, size_t want, size_t *got,
                          rocl_error *err)
{
    z_stream z = {.next_in = p, .avail_in = (uInt)n};
    if (!rocl_buf_reserve(b, want + 1) || inflateInit(&z) != Z_OK)
        return rocl_fail_memory(err);
    z.next_out = b->data;
    z.avail_out = (uInt)want;
    inflate(&z, Z_FINISH);
    *got = want - z.avail_out;
    inflateEnd(&z);
    return ROCL_OK;
}

static rocl_status read_stored(const rocl_spool *s, const chunk_info *c, rocl_buf *b, size_t n,
                               size_t *got, rocl_error *err)
{
    if (!rocl_buf_reserve(b, n + 1))
        return rocl_fail_memory(err);
    return rocl_spool_read(s, b->data, n, c->offset + c->h.header_size, got, err);
}

static chunk_state check(const chunk_info *c, const rocl_buf *stored, size_t got, uint64_t wanted)
{
    if (got < wanted)
        return CHUNK_CUT;
    bool closed = c->h.flags & ROCL_CHUNK_CLOSED;
    return closed && rocl_crc32c(0, stored->data, got) != c->h.crc ? CHUNK_CORRUPT : CHUNK_WHOLE;
}

static rocl_status load_packed(const rocl_spool *s, const chunk_info *c, rocl_buf *b, size_t *n,
                               chunk_state *state, rocl_error *err)
{
    rocl_buf packed = {0};
    size_t want = (size_t)chunk_content(c), got = 0;
    size_t stored = (size_t)(c->h.stored < c->available ? c->h.stored : c->available);
    /* More than deflate can make of it is a lie, and not worth the memory. */
    if (want / 1032 > stored + 1)
        want = (stored + 1) * 1032;
    rocl_status st = read_stored(s, c, &packed, stored, &got, err);
    if (st == ROCL_OK)
        *state = check(c, &packed, got, c->h.stored);
    if (st == ROCL_OK)
        st = unpack(packed.data, got, b, want, n, err);
    rocl_buf_free(&packed);
    if (*state == CHUNK_WHOLE && *n != chunk_content(c))
        *state = CHUNK_CUT;
    return st;
}

rocl_status chunk_load(const rocl_spool *s, const chunk_info *c, rocl_buf *b, size_t *n,
                       chunk_state *state, rocl_error *err)
{
    b->len = 0;
    *n = 0;
    *state = CHUNK_CUT;
    if (c->h.features & ROCL_CHUNK_DEFLATE)
        return load_packed(s, c, b, n, state, err);
    size_t want = (size_t)chunk_content(c);
    want = want < c->available ? want : (size_t)c->available;
    rocl_status st = read_stored(s, c, b, want, n, err);
    if (st == ROCL_OK)
        *state = check(c, b, *n, chunk_content(c));
    return st;
}

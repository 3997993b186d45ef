/* Frames of LZ4: see lz4.h. */
#include "base/lz4.h"

enum { MAGIC = 0x184d2204, HAS_DICTIONARY = 1, HAS_SUM = 4, HAS_SIZE = 8, HAS_BLOCK_SUMS = 16 };

/* A length of 15 is the sum of it and the bytes that follow, up to the first that is not 255. */
static bool read_length(const uint8_t **p, const uint8_t *end, size_t *length)
{
    bool more = *length == 15;
    while (more && *p < end) {
        more = **p == 255;
        *length += *(*p)++;
    }
    return !more;
}

/* A block: literals, and copies of what came before in the frame, which began at `begin`. */
static bool unpack_block(rocl_buf *to, size_t begin, const uint8_t *p, const uint8_t *end,
                         size_t most)
{
    while (p < end) {
        size_t literals = *p >> 4, match = *p & 15;
        p++;
        if (!read_length(&p, end, &literals) || literals > (size_t)(end - p) ||
            literals > most - (to->len - begin))
            return false;
        rocl_buf_put(to, p, literals);
        p += literals;
        if (p == end || to->failed) /* the last literals have no copy behind them */
            return !to->failed;
        if (end - p < 2)
            return false;
        const size_t back = (size_t)(p[0] | p[1] << 8);
        p += 2;
        if (!read_length(&p, end, &match) || !back || back > to->len - begin)
            return false;
        match += 4;
        if (match > most - (to->len - begin) || !rocl_buf_reserve(to, match))
            return false;
        for (; match; match--, to->len++) /* it may overlap with what it makes */
            to->data[to->len] = to->data[to->len - back];
    }
    return false;
}

static bool unpack_frame(rocl_buf *to, const uint8_t *p, const uint8_t *end, size_t most)
{
    const size_t begin = to->len;
    const unsigned flags = p[4];
    const size_t header = flags & HAS_SIZE ? 15 : 7, sum = flags & HAS_BLOCK_SUMS ? 4 : 0;
    if (flags >> 6 != 1 || flags & HAS_DICTIONARY || (size_t)(end - p) < header)
        return false;
    for (p += header; end - p >= 4;) {
        const uint32_t word = rocl_le32(p), size = word & INT32_MAX;
        p += 4;
        if (!word) /* the end */
            return end - p == (flags & HAS_SUM ? 4 : 0);
        if (size > (size_t)(end - p) || sum > (size_t)(end - p) - size)
            return false;
        if (word == size && !unpack_block(to, begin, p, p + size, most))
            return false;
        if (word != size && size > most - (to->len - begin))
            return false;
        if (word != size)
            rocl_buf_put(to, p, size);
        p += size + sum;
    }
    return false;
}

static bool is_frame(const void *p, size_t n)
{
    return n >= 7 && rocl_le32(p) == MAGIC;
}

bool rocl_lz4_unpack(rocl_buf *to, const void *p, size_t n, size_t most)
{
    const size_t before = to->len;
    if (is_frame(p, n) && unpack_frame(to, p, (const uint8_t *)p + n, most) && !to->failed)
        return true;
    to->len = before;
    return false;
}

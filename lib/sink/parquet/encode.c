/* Encodings of Parquet. Bits are packed from the lowest one of the first byte on. */
#include "sink/parquet/encode.h"
#include "base/wide.h"

/* ---- runs ------------------------------------------------------------------------------------ */

/* Appends n values; n * width is a multiple of 8. */
static void pack_bits(rocl_buf *to, const uint32_t *values, size_t n, unsigned width)
{
    uint64_t bits = 0;
    unsigned have = 0;
    if (!rocl_buf_reserve(to, n * width / 8 + 8))
        return;
    uint8_t *p = to->data + to->len;
    for (size_t i = 0; i < n; i++) {
        bits |= (uint64_t)values[i] << have;
        have += width;
        while (have >= 8) {
            *p++ = (uint8_t)bits;
            bits >>= 8;
            have -= 8;
        }
    }
    to->len = (size_t)(p - to->data);
}

void rocl_parquet_put_run(rocl_buf *to, uint32_t value, size_t n, unsigned width)
{
    rocl_buf_varint(to, n << 1);
    for (unsigned i = 0; i < (width + 7) / 8; i++)
        rocl_buf_byte(to, (uint8_t)(value >> 8 * i));
}

/* Values that do not repeat, padded with zeros to groups of eight: only the last ones may be. */
static void put_packed(rocl_buf *to, const uint32_t *values, size_t n, unsigned width)
{
    const size_t whole = n & ~(size_t)7;
    uint32_t last[8] = {0};
    if (!n)
        return;
    rocl_buf_varint(to, (n + 7) / 8 << 1 | 1);
    pack_bits(to, values, whole, width);
    if (n > whole) {
        memcpy(last, values + whole, (n - whole) * sizeof *last);
        pack_bits(to, last, 8, width);
    }
}

void rocl_parquet_put_runs(rocl_buf *to, const uint32_t *values, size_t n, unsigned width)
{
    size_t packed = 0; /* the first of those that wait to be packed */
    for (size_t i = 0; i < n;) {
        size_t same = 1;
        while (i + same < n && values[i + same] == values[i])
            same++;
        /* Only whole groups of eight may stand before a run: they take what they need of it. */
        const size_t fill = (8 - (i - packed) % 8) % 8;
        if (same >= fill + 8) {
            put_packed(to, values + packed, i + fill - packed, width);
            rocl_parquet_put_run(to, values[i], same - fill, width);
            packed = i + same;
        }
        i += same;
    }
    put_packed(to, values + packed, n - packed, width);
}

/* ---- differences ----------------------------------------------------------------------------- */

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

/* MINIBLOCK values of up to 64 bits. */
static uint8_t *pack_miniblock(uint8_t *p, const uint64_t *values, unsigned width)
{
    rocl_u128 bits = 0;
    unsigned have = 0;
    for (unsigned i = 0; i < MINIBLOCK; i++) {
        bits |= (rocl_u128)values[i] << have;
        have += width;
        if (have >= 64) {
            rocl_le64_set(p, (uint64_t)bits);
            p += sizeof(uint64_t);
            bits >>= 64;
            have -= 64;
        }
    }
    const uint64_t rest =
        htole64((uint64_t)bits); /* whole bytes: 32 values are 4 * width of them */
    memcpy(p, &rest, have / 8);
    return p + have / 8;
}

void rocl_parquet_put_deltas(rocl_buf *to, const int64_t *values, size_t n)
{
    rocl_buf_varint(to, BLOCK);
    rocl_buf_varint(to, MINIBLOCKS);
    rocl_buf_varint(to, n);
    rocl_buf_varint(to, rocl_zigzag(n ? values[0] : 0));
    for (size_t i = 1; i < n; i += BLOCK) {
        const size_t count = n - i < BLOCK ? n - i : BLOCK;
        uint64_t deltas[BLOCK] = {0};
        int64_t least = INT64_MAX;
        /* Differences wrap around, as the format wants it. */
        for (size_t k = 0; k < count; k++) {
            deltas[k] = (uint64_t)values[i + k] - (uint64_t)values[i + k - 1];
            least = (int64_t)deltas[k] < least ? (int64_t)deltas[k] : least;
        }
        for (size_t k = 0; k < count; k++)
            deltas[k] -= (uint64_t)least;
        rocl_buf_varint(to, rocl_zigzag(least));
        if (!rocl_buf_reserve(to, MINIBLOCKS + BLOCK * sizeof *deltas))
            return;
        uint8_t *widths = to->data + to->len, *p = widths + MINIBLOCKS;
        for (unsigned m = 0; m < MINIBLOCKS; m++) {
            uint64_t all = 0;
            for (unsigned k = 0; k < MINIBLOCK; k++)
                all |= deltas[m * MINIBLOCK + k];
            widths[m] = (uint8_t)(all ? 64 - __builtin_clzll(all) : 0);
            if (m * MINIBLOCK < count)
                p = pack_miniblock(p, deltas + (size_t)m * MINIBLOCK, widths[m]);
        }
        to->len = (size_t)(p - to->data);
    }
}

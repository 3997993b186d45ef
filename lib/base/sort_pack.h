/* How a record lies in a run: a nibble for the bytes of each key word and of the length (two to a
 * byte, low one first), those bytes (little-endian), the payload. The first word is the difference
 * to the one before, the others are zigzag differences: sorted times and ids of the same origin
 * take a byte or two, and no byte is looked at to find where the next value begins.
 *
 * Values are read and written 8 bytes at a time: both sides need ROCL_PACK_SLACK bytes of room. */
#ifndef ROCL_BASE_SORT_PACK_H
#define ROCL_BASE_SORT_PACK_H

#include "base/buf.h"
#include "base/extsort.h"

#include <endian.h>

/* Most bytes before the payload, and how many more may be touched. */
#define ROCL_PACK_HEAD  (3 + 8 * (ROCL_SORT_KEYS_MAX + 1))
#define ROCL_PACK_SLACK 64

static inline unsigned rocl_pack_bytes(uint64_t v)
{
    return v ? (71u - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

static inline uint8_t *rocl_pack_value(uint8_t *p, uint64_t v, unsigned *nibble)
{
    *nibble = rocl_pack_bytes(v);
    v = htole64(v);
    memcpy(p, &v, 8);
    return p + *nibble;
}

/* prev is the key before (zeros at first) and becomes key. */
static inline uint8_t *rocl_pack_head(uint8_t *p, const uint64_t *key, uint64_t *prev,
                                      unsigned words, uint32_t len)
{
    uint8_t *control = p;
    unsigned n, nibbles = 0;
    p += words / 2 + 1;
    p = rocl_pack_value(p, key[0] - prev[0], &nibbles);
    prev[0] = key[0];
    for (unsigned w = 1; w < words; w++) {
        p = rocl_pack_value(p, rocl_zigzag((int64_t)(key[w] - prev[w])), &n);
        prev[w] = key[w];
        nibbles |= n << (4 * w);
    }
    p = rocl_pack_value(p, len, &n);
    nibbles |= n << (4 * words);
    for (unsigned i = 0; i < words / 2 + 1; i++)
        control[i] = (uint8_t)(nibbles >> (8 * i));
    return p;
}

/* The same; the number of words is written out so that the compiler unrolls each. */
static inline uint8_t *rocl_pack_key(uint8_t *p, const uint64_t *key, uint64_t *prev,
                                     unsigned words, uint32_t len)
{
    switch (words) {
    case 1:
        return rocl_pack_head(p, key, prev, 1, len);
    case 2:
        return rocl_pack_head(p, key, prev, 2, len);
    case 3:
        return rocl_pack_head(p, key, prev, 3, len);
    default:
        return rocl_pack_head(p, key, prev, 4, len);
    }
}

static inline const uint8_t *rocl_unpack_value(const uint8_t *p, unsigned nibble, uint64_t *v)
{
    static const uint64_t masks[16] = {
        0,     0xff,  0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, ~0ull >> 8,
        ~0ull, ~0ull, ~0ull,  ~0ull,    ~0ull,      ~0ull,        ~0ull,          ~0ull,
    };
    memcpy(v, p, 8);
    *v = le64toh(*v) & masks[nibble];
    return p + nibble;
}

/* key is the one before and becomes the record's. Nibbles above 8 are only found in a damaged file:
 * the end returned is then wrong, but what was touched is within ROCL_PACK_SLACK. */
static inline const uint8_t *rocl_unpack_head(const uint8_t *p, uint64_t *key, unsigned words,
                                              uint64_t *len)
{
    unsigned nibbles = 0;
    for (unsigned i = 0; i < words / 2 + 1; i++)
        nibbles |= (unsigned)p[i] << (8 * i);
    p += words / 2 + 1;
    uint64_t v;
    p = rocl_unpack_value(p, nibbles & 15, &v);
    key[0] += v;
    for (unsigned w = 1; w < words; w++) {
        p = rocl_unpack_value(p, nibbles >> (4 * w) & 15, &v);
        key[w] += (uint64_t)rocl_unzigzag(v);
    }
    return rocl_unpack_value(p, nibbles >> (4 * words) & 15, len);
}

#endif

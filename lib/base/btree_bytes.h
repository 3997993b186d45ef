/* Numbers as SQLite 3 databases have them: big-endian, and varints. For btree*.[ch] and wal.c. */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t rocl_be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t rocl_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static inline uint64_t rocl_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

unsigned rocl_be_varint_long(const uint8_t *p, uint64_t *v);

/* Section 1.6: 7 bits a byte, the first ones first; a ninth byte has 8. Reads up to 9 bytes, so the
 * buffer needs slack; returns how many belong to the number. */
static inline unsigned rocl_be_varint(const uint8_t *p, uint64_t *v)
{
    if (p[0] < 0x80) {
        *v = p[0];
        return 1;
    }
    if (p[1] < 0x80) {
        *v = (p[0] & 0x7fu) << 7 | p[1];
        return 2;
    }
    if (p[2] < 0x80) {
        *v = (p[0] & 0x7fu) << 14 | (p[1] & 0x7fu) << 7 | p[2];
        return 3;
    }
    return rocl_be_varint_long(p, v);
}

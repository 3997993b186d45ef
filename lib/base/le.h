/* Little-endian numbers, whatever the order of the machine: in our files, in those of others, and
 * for looking at eight bytes of text at a time. */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t rocl_le32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static inline uint64_t rocl_le64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static inline void rocl_le32_set(void *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
}

static inline void rocl_le64_set(void *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

/* Turns `n` 64-bit words of this machine, at any address, into little-endian in place. */
static inline void rocl_le64_all(void *p, size_t n)
{
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        for (uint8_t *at = p, *end = at + 8 * n; at < end; at += 8) {
            uint64_t v;
            memcpy(&v, at, sizeof v);
            rocl_le64_set(at, v);
        }
}

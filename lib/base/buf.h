/* A growable byte buffer, and the varints that every binary format here is made of. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/le.h"

typedef struct rocl_buf {
    uint8_t *data;
    size_t len;
    size_t cap;
    bool failed; /* sticky: an allocation failed and bytes are missing; check before use */
    bool fixed;  /* the bytes are the caller's: they do not grow, and are not freed */
} rocl_buf;

/* A buffer in an array: for messages that must work even when memory is out. */
#define ROCL_BUF_IN(array)                                                                         \
    (rocl_buf)                                                                                     \
    {                                                                                              \
        .data = (array), .cap = sizeof(array), .fixed = true                                       \
    }

#define ROCL_VARINT_MAX 10

/* Makes `n` more bytes fit at data + len; false (and failed set) when memory is out. */
bool rocl_buf_grow(rocl_buf *b, size_t n);
void rocl_buf_free(rocl_buf *b); /* frees the bytes, leaves an empty usable buffer */
/* Frees a buffer whose contents went into another one, and passes on `failed`. */
void rocl_buf_free_into(rocl_buf *b, rocl_buf *into);

/* The two texts joined; free() it. NULL: memory is out. */
char *rocl_concat(const char *a, const char *b);

static inline bool rocl_buf_reserve(rocl_buf *b, size_t n)
{
    return b->cap - b->len >= n || rocl_buf_grow(b, n);
}

static inline void rocl_buf_put(rocl_buf *b, const void *p, size_t n)
{
    if (n && rocl_buf_reserve(b, n) && b->data) {
        memcpy(b->data + b->len, p, n);
        b->len += n;
    }
}

static inline void rocl_buf_byte(rocl_buf *b, uint8_t c)
{
    if (rocl_buf_reserve(b, 1))
        b->data[b->len++] = c;
}

/* The same byte n times. */
static inline void rocl_buf_fill(rocl_buf *b, uint8_t c, size_t n)
{
    if (n && rocl_buf_reserve(b, n)) {
        memset(b->data + b->len, c, n);
        b->len += n;
    }
}

static inline void rocl_buf_str(rocl_buf *b, const char *s)
{
    rocl_buf_put(b, s, strlen(s));
}

/* Appends what printf would print. */
void rocl_buf_printf(rocl_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes LEB128 at p, where ROCL_VARINT_MAX bytes must fit, and returns the end. */
static inline uint8_t *rocl_varint_put(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}

static inline void rocl_buf_le32(rocl_buf *b, uint32_t v)
{
    v = htole32(v);
    rocl_buf_put(b, &v, sizeof v);
}

static inline void rocl_buf_le64(rocl_buf *b, uint64_t v)
{
    v = htole64(v);
    rocl_buf_put(b, &v, sizeof v);
}

static inline void rocl_buf_varint(rocl_buf *b, uint64_t v)
{
    if (rocl_buf_reserve(b, ROCL_VARINT_MAX))
        b->len = (size_t)(rocl_varint_put(b->data + b->len, v) - b->data);
}

static inline uint64_t rocl_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (0 - (uint64_t)(v < 0));
}

static inline int64_t rocl_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* How many bytes rocl_varint_put writes. */
static inline size_t rocl_varint_size(uint64_t v)
{
    return (70u - (unsigned)__builtin_clzll(v | 1)) / 7;
}

/* Bytes that are read one after the other. */
typedef struct rocl_byte_reader {
    const uint8_t *p, *end;
    bool bad; /* they were too few, or damaged: what was read is 0 */
} rocl_byte_reader;

/* n bytes; NULL: there are fewer. */
static inline const uint8_t *rocl_next_bytes(rocl_byte_reader *r, uint64_t n)
{
    const uint8_t *p = r->p;
    r->bad |= n > (uint64_t)(r->end - p);
    r->p += r->bad ? 0 : n;
    return r->bad ? NULL : p;
}

/* Reads LEB128 from [*p, end): advances *p; false when it is cut or longer than 64 bits. */
static inline bool rocl_varint_get(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
    uint64_t r = 0;
    for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
        uint8_t c = *(*p)++;
        if (shift == 63 && c > 1)
            return false;
        r |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80)) {
            *v = r;
            return true;
        }
    }
    return false;
}

static inline uint64_t rocl_next_number(rocl_byte_reader *r)
{
    uint64_t v = 0;
    if (!rocl_varint_get(&r->p, r->end, &v))
        r->bad = true;
    return r->bad ? 0 : v;
}

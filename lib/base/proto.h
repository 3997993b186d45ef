/* Protocol buffer wire format, written front to back, and read field by field. A message that
 * others nest in is begun with one byte for its length, which is widened in the rare case that one
 * is not enough. */
#pragma once

#include "base/buf.h"
#include "base/view.h"

enum { ROCL_PB_VARINT = 0, ROCL_PB_FIXED64 = 1, ROCL_PB_BYTES = 2, ROCL_PB_FIXED32 = 5 };

/* The most bytes that the number and kind of a field take. */
#define ROCL_PB_TAG_MAX 5

/* Writes the tag of a field. The numbers are constants, nearly all below 2048. */
static inline uint8_t *rocl_pb_tag(uint8_t *p, uint32_t field, uint32_t kind)
{
    uint32_t tag = field << 3 | kind;
    if (tag < 0x80) {
        *p++ = (uint8_t)tag;
    } else if (tag < 0x4000) {
        *p++ = (uint8_t)(tag | 0x80);
        *p++ = (uint8_t)(tag >> 7);
    } else {
        p = rocl_varint_put(p, tag);
    }
    return p;
}

/* ---- to a pointer, where enough bytes must fit; the end is returned ---- */

static inline uint8_t *rocl_pb_put_uint(uint8_t *p, uint32_t field, uint64_t v)
{
    return rocl_varint_put(rocl_pb_tag(p, field, ROCL_PB_VARINT), v);
}

static inline uint8_t *rocl_pb_put_fixed64(uint8_t *p, uint32_t field, uint64_t v)
{
    p = rocl_pb_tag(p, field, ROCL_PB_FIXED64);
    for (unsigned i = 0; i < 8; i++)
        *p++ = (uint8_t)(v >> (8 * i));
    return p;
}

/* Begins a nested message: its fields follow at the returned pointer, which rocl_pb_close also
 * takes. */
static inline uint8_t *rocl_pb_open(uint8_t *p, uint32_t field)
{
    p = rocl_pb_tag(p, field, ROCL_PB_BYTES);
    *p++ = 0;
    return p;
}

static inline uint8_t *rocl_pb_close(uint8_t *begin, uint8_t *p)
{
    size_t n = (size_t)(p - begin);
    if (n < 0x80) {
        begin[-1] = (uint8_t)n;
        return p;
    }
    uint8_t len[ROCL_VARINT_MAX];
    size_t width = (size_t)(rocl_varint_put(len, n) - len);
    memmove(begin - 1 + width, begin, n);
    memcpy(begin - 1, len, width);
    return p + width - 1;
}

/* ---- to the end of a buffer, which grows ---- */

static inline void rocl_pb_uint(rocl_buf *b, uint32_t field, uint64_t v)
{
    if (rocl_buf_reserve(b, ROCL_PB_TAG_MAX + ROCL_VARINT_MAX))
        b->len = (size_t)(rocl_pb_put_uint(b->data + b->len, field, v) - b->data);
}

/* int32 and int64 fields: two's complement in 64 bits. */
static inline void rocl_pb_int(rocl_buf *b, uint32_t field, int64_t v)
{
    rocl_pb_uint(b, field, (uint64_t)v);
}

static inline void rocl_pb_fixed64(rocl_buf *b, uint32_t field, uint64_t v)
{
    if (rocl_buf_reserve(b, ROCL_PB_TAG_MAX + sizeof v))
        b->len = (size_t)(rocl_pb_put_fixed64(b->data + b->len, field, v) - b->data);
}

static inline void rocl_pb_bytes(rocl_buf *b, uint32_t field, const void *p, size_t n)
{
    rocl_buf_varint(b, field << 3 | ROCL_PB_BYTES);
    rocl_buf_varint(b, n);
    rocl_buf_put(b, p, n);
}

static inline void rocl_pb_str(rocl_buf *b, uint32_t field, const char *s)
{
    rocl_pb_bytes(b, field, s, strlen(s));
}

/* Begins a nested message; pass the result to rocl_pb_end. */
static inline size_t rocl_pb_begin(rocl_buf *b, uint32_t field)
{
    if (rocl_buf_reserve(b, ROCL_PB_TAG_MAX + 1))
        b->len = (size_t)(rocl_pb_open(b->data + b->len, field) - b->data);
    return b->len;
}

static inline void rocl_pb_end(rocl_buf *b, size_t begin)
{
    if (!b->failed && rocl_buf_reserve(b, ROCL_VARINT_MAX))
        b->len = (size_t)(rocl_pb_close(b->data + begin, b->data + b->len) - b->data);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The bytes of a message; those before `at` have been read. */
typedef struct rocl_pb {
    const uint8_t *at, *end;
    bool bad; /* they end within a field, or are not fields */
} rocl_pb;

typedef struct rocl_pb_field {
    uint32_t number, kind;
    uint64_t value;  /* of a number; the length of bytes */
    rocl_view bytes; /* empty where it is a varint */
} rocl_pb_field;

static inline rocl_pb rocl_pb_read(const void *p, size_t n)
{
    return (rocl_pb){(const uint8_t *)p, n ? (const uint8_t *)p + n : (const uint8_t *)p, false};
}

static inline rocl_pb rocl_pb_of(rocl_view v)
{
    return rocl_pb_read(v.p, v.n);
}

/* The next field; false at the end and where the message is bad. */
static inline bool rocl_pb_next(rocl_pb *r, rocl_pb_field *f)
{
    uint64_t tag;
    if (r->at == r->end)
        return false;
    if (*r->at < 0x80)
        tag = *r->at++;
    else if (!rocl_varint_get(&r->at, r->end, &tag) || tag > UINT32_MAX)
        tag = 0;
    f->number = (uint32_t)(tag >> 3);
    f->kind = tag & 7;
    size_t n = f->kind == ROCL_PB_FIXED64 ? 8 : f->kind == ROCL_PB_FIXED32 ? 4 : 0;
    f->value = 0;
    r->bad = !f->number || (f->kind > ROCL_PB_BYTES && f->kind != ROCL_PB_FIXED32) ||
             (!n && !rocl_varint_get(&r->at, r->end, &f->value)) ||
             (f->kind == ROCL_PB_BYTES && f->value > (uint64_t)(r->end - r->at)) ||
             n > (size_t)(r->end - r->at);
    if (r->bad)
        return false;
    for (size_t i = 0; i < n; i++)
        f->value |= (uint64_t)r->at[i] << (8 * i);
    if (f->kind == ROCL_PB_BYTES)
        n = (size_t)f->value;
    f->bytes = (rocl_view){(const char *)r->at, n};
    r->at += n;
    return true;
}

/* The value of a field of fixed64 kind as a double. */
static inline double rocl_pb_double(const rocl_pb_field *f)
{
    double v;
    memcpy(&v, &f->value, sizeof v);
    return v;
}

/* Numbers as text, fast and independent of the locale. Each writes at p without a NUL and returns
 * the end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define ROCL_NUM_MAX 32 /* the most bytes that any of these writes */

char *rocl_put_u64(char *p, uint64_t v);
char *rocl_put_i64(char *p, int64_t v);

/* Marks the upper bit of each of 8 bytes that is not a digit, the first byte lowest. Valid only up
 * to the first one: beyond it sums carry over. */
static inline uint64_t rocl_find_no_digits(const char *p)
{
    const uint64_t x = rocl_le64(p) ^ 0x3030303030303030; /* digits are below 10 now */
    return ((x + 0x7676767676767676) | x) & 0x8080808080808080;
}

/* Reads the number at p, of at most 19 digits before `end`. Returns its end, which is p if there is
 * no digit. */
static inline const char *rocl_get_digits(const char *p, const char *end, uint64_t *v)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const char *stop = end - p > 19 ? p + 19 : end;
    uint64_t number = 0;
    while (stop - p >= 8) {
        const uint64_t others = rocl_find_no_digits(p);
        const unsigned n = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
        if (!n)
            break;
        /* Leading zeros make them eight digits; neighbours become numbers of 2, 4, 8 digits. */
        uint64_t x = (rocl_le64(p) & 0x0f0f0f0f0f0f0f0f) << (64 - 8 * n);
        x = x * 10 + (x >> 8);
        x = ((x & 0x000000ff000000ff) * 0x000f424000000064 +
             (x >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
            32;
        number = number * powers[n] + (uint32_t)x;
        p += n;
        if (n < 8)
            break;
    }
    for (; p < stop && *p >= '0' && *p <= '9'; p++)
        number = number * 10 + (uint64_t)(*p - '0');
    *v = number;
    return p;
}

/* All but the last eight digits of a number, which times near each other have in common. Zeroed at
 * first. */
typedef struct rocl_upper_digits {
    uint64_t value;
    char text[16];
    unsigned len;
} rocl_upper_digits;

/* Does what rocl_put_u64() does; *upper is that of the number before, and is updated. */
char *rocl_put_near(char *p, uint64_t v, rocl_upper_digits *upper);
/* At least `digits` (up to ROCL_NUM_MAX) hex digits, zero-padded, no 0x. */
char *rocl_put_hex(char *p, uint64_t v, unsigned digits, bool upper);
/* The shortest decimal that reads back as v: integers without point or exponent below 1e15
 * ("1757738"), else up to 17 digits ("40.62811724337926"); "-0", "nan", "inf", "-inf". */
char *rocl_put_double(char *p, double v);

/* These texts at the end of a buffer. */
static inline void rocl_buf_u64(rocl_buf *b, uint64_t v)
{
    if (rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len = (size_t)(rocl_put_u64((char *)b->data + b->len, v) - (char *)b->data);
}

static inline void rocl_buf_i64(rocl_buf *b, int64_t v)
{
    if (rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len = (size_t)(rocl_put_i64((char *)b->data + b->len, v) - (char *)b->data);
}

/* A text and a number. */
static inline void rocl_buf_str_u64(rocl_buf *b, const char *before, uint64_t v)
{
    rocl_buf_str(b, before);
    rocl_buf_u64(b, v);
}

static inline void rocl_buf_str_i64(rocl_buf *b, const char *before, int64_t v)
{
    rocl_buf_str(b, before);
    rocl_buf_i64(b, v);
}

static inline void rocl_buf_hex(rocl_buf *b, uint64_t v, unsigned digits)
{
    if (rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len =
            (size_t)(rocl_put_hex((char *)b->data + b->len, v, digits, false) - (char *)b->data);
}

static inline void rocl_buf_double(rocl_buf *b, double v)
{
    if (rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len = (size_t)(rocl_put_double((char *)b->data + b->len, v) - (char *)b->data);
}

/* Appends repr() of CPython 3: the fewest digits that read back as v, with ".0" for whole numbers
 * and an exponent from 1e16 on and below 1e-4. v is finite. */
void rocl_repr_put(rocl_buf *b, double v);

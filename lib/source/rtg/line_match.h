/* Small matchers that the shapes are made of. Each takes [p, end) and returns where the match ends,
 * or NULL. Private to the line parser. */
#pragma once

#include <string.h>

#include "source/rtg/line.h"

/* With a literal of known length a comparison is an instruction or two. */
#define RTG_INLINE static inline __attribute__((always_inline))

static inline bool rtg_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Bytes of characters beyond ASCII count as letters. */
static inline bool rtg_word(char c)
{
    return rtg_digit(c) || (unsigned char)((c | 32) - 'a') < 26 || c == '_' || (c & 0x80);
}

static inline const char *rtg_skip_space(const char *p, const char *end)
{
    while (p < end && rtg_space(*p))
        p++;
    return p;
}

RTG_INLINE const char *rtg_lit_n(const char *p, const char *end, const char *lit, size_t n)
{
    return (size_t)(end - p) >= n && !memcmp(p, lit, n) ? p + n : NULL;
}

#define rtg_lit(p, end, lit) rtg_lit_n(p, end, "" lit, sizeof(lit) - 1)

/* One digit or more. */
RTG_INLINE const char *rtg_digits(const char *p, const char *end, rocl_view *s)
{
    const char *q = p;
    while (q < end && rtg_digit(*q))
        q++;
    *s = (rocl_view){p, (size_t)(q - p)};
    return q > p ? q : NULL;
}

/* A literal, then digits. */
RTG_INLINE const char *rtg_field_n(const char *p, const char *end, const char *lit, size_t n,
                                   rocl_view *s)
{
    p = rtg_lit_n(p, end, lit, n);
    return p ? rtg_digits(p, end, s) : NULL;
}

#define rtg_field(p, end, lit, s) rtg_field_n(p, end, "" lit, sizeof(lit) - 1, s)

/* The last c in [from, end). */
static inline const char *rtg_last(const char *from, const char *end, char c)
{
    return end > from ? memrchr(from, c, (size_t)(end - from)) : NULL;
}

static inline const char *rtg_find_n(const char *p, const char *end, const char *lit, size_t n)
{
    return p < end ? memmem(p, (size_t)(end - p), lit, n) : NULL;
}

#define rtg_find(p, end, lit) rtg_find_n(p, end, "" lit, sizeof(lit) - 1)

/* Each looks for its shapes in [p, end) and says whether it has found one; else l is in an
 * unspecified state. */
bool rtg_match_hip(rtg_line *l, const char *p, const char *end);
bool rtg_match_hsa(rtg_line *l, const char *p, const char *end);
bool rtg_match_hcc(rtg_line *l, const char *p, const char *end, bool ended);
bool rtg_match_strace(rtg_line *l, const char *p, const char *end);

/* Later shapes. */
bool rtg_match_rtx(rtg_line *l, const char *p, const char *end);
bool rtg_match_vendor(rtg_line *l, const char *p, const char *end);
bool rtg_match_enqueued(rtg_line *l, const char *p, const char *end);

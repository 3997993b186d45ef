/* Shared by json.c, json_index.c, and readers that know the layout of their JSON: 64 bytes at a
 * time as masks, where bit 0 is the first byte. With these, brackets outside of strings are counted
 * without looking at single bytes. */
#pragma once

#include "base/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { ROCL_JSON_STRIDE = 64 };

/* State between one stride and the next; zeroed at first, outside of a string. */
typedef struct rocl_json_carry {
    uint64_t in_string; /* all bits or none */
    uint64_t escaped;   /* bit 0: the next byte is escaped by a backslash */
} rocl_json_carry;

typedef struct rocl_json_masks {
    uint64_t quotes;      /* quotes that begin or end strings */
    uint64_t strings;     /* bytes of strings, with the quote that begins them */
    uint64_t open, close; /* brackets outside of strings */
} rocl_json_masks;

/* Which of 64 bytes are c, when the bits of `fold` are set in all of them first. */
static inline uint64_t rocl_json_equal(const char *p, char fold, char c)
{
#ifdef __SSE2__
    uint64_t mask = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        v = _mm_cmpeq_epi8(_mm_or_si128(v, _mm_set1_epi8(fold)), _mm_set1_epi8(c));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(v) << 16 * i;
    }
    return mask;
#else
    uint64_t mask = 0;
    for (unsigned i = 0; i < ROCL_JSON_STRIDE; i++)
        mask |= (uint64_t)((p[i] | fold) == c) << i;
    return mask;
#endif
}

/* Which of 64 bytes are blanks; other control characters are taken for blanks as well. */
static inline uint64_t rocl_json_blanks(const char *p)
{
    uint64_t mask = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < 4; i++) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        v = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(' ')), v);
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(v) << 16 * i;
    }
#else
    for (unsigned i = 0; i < ROCL_JSON_STRIDE; i++)
        mask |= (uint64_t)((unsigned char)p[i] <= ' ') << i;
#endif
    return mask;
}

/* The bytes behind a backslash that is not itself behind one: in a run of backslashes every second.
 * The sum carries from the begin of each run at an odd bit to the bit behind it; for such runs the
 * parity is the other way round. */
static inline uint64_t rocl_json_escaped(uint64_t backslashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555;
    uint64_t sum;
    backslashes &= ~*carry;
    uint64_t follows = backslashes << 1 | *carry;
    uint64_t odd_begins = backslashes & ~even & ~follows;
    *carry = __builtin_add_overflow(odd_begins, backslashes, &sum);
    return (even ^ sum << 1) & follows;
}

/* The first quote, backslash or control character, which JSON strings do not contain unescaped. */
static inline const char *rocl_json_special(const char *p, const char *end)
{
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);
        __m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
        __m128i backslash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
        int mask = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(quote, backslash)));
        if (mask)
            return p + __builtin_ctz((unsigned)mask);
    }
#endif
    while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* Looks at 64 bytes. */
static inline rocl_json_masks rocl_json_look(const char *p, rocl_json_carry *carry)
{
    rocl_json_masks m;
    uint64_t backslashes = rocl_json_equal(p, 0, '\\'), escaped = carry->escaped;
    if (backslashes)
        escaped = rocl_json_escaped(backslashes, &carry->escaped);
    else
        carry->escaped = 0;
    m.quotes = rocl_json_equal(p, 0, '"') & ~escaped;
    m.strings = m.quotes; /* then: how many quotes up to each bit, odd or even */
    for (unsigned i = 1; i < ROCL_JSON_STRIDE; i *= 2)
        m.strings ^= m.strings << i;
    m.strings ^= carry->in_string;
    carry->in_string = 0 - (m.strings >> 63);
    /* '[' and '{' differ in this bit only, and so do ']' and '}'. */
    m.open = rocl_json_equal(p, 0x20, '{') & ~m.strings;
    m.close = rocl_json_equal(p, 0x20, '}') & ~m.strings;
    return m;
}

/* The error of a reader whose bytes ended too early. */
extern const char rocl_json_cut_off[];

/* Tells the reader that its current object or array was skipped by other means, and ends before
 * `at`. */
void rocl_json_left(rocl_json *r, const char *at);

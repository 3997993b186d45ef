/* Exact sums of doubles: see exact.h. */
#include "base/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where `near` begins among the words of `far`: values from 2^-62 to 2^78, and smaller multiples of
 * 2^-114, have no bits outside; 64 bits above are for their number. */
enum {
    NEAR_WORD = 15,
    NEAR_BIT = 64 * NEAR_WORD,
    NEAR_LAST = NEAR_BIT + 64 * (ROCL_EXACT_NEAR - 1)
};
enum { LEAST_EXPONENT = -1074, DIGITS = 53 };
enum { IS_NAN = 1, IS_HIGH = 2, IS_LOW = 4 };

/* Adds two words at a place, or subtracts them. */
static void add_words(uint64_t *to, unsigned count, unsigned at, uint64_t low, uint64_t high,
                      bool negative)
{
    bool carry = false;
    for (unsigned i = at; i < count && (i < at + 2 || carry); i++) {
        const uint64_t v = i == at ? low : i == at + 1 ? high : 0;
        const uint64_t before = to[i];
        to[i] = negative ? before - v - carry : before + v + carry;
        carry =
            negative ? before < v || (before == v && carry) : to[i] < v || (to[i] == v && carry);
    }
}

/* from: as many words, or fewer: then it is sign-extended. */
static void add_all(uint64_t *to, unsigned to_count, const uint64_t *from, unsigned count)
{
    const uint64_t rest = from[count - 1] >> 63 ? UINT64_MAX : 0;
    bool carry = false;
    for (unsigned i = 0; i < to_count; i++) {
        const uint64_t v = i < count ? from[i] : rest;
        to[i] += v + carry;
        carry = to[i] < v || (to[i] == v && carry);
    }
}

static bool need_far(rocl_exact_sum *s)
{
    if (!s->far)
        s->far = calloc(ROCL_EXACT_FAR, sizeof *s->far);
    return s->far;
}

bool rocl_exact_add(rocl_exact_sum *s, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    const bool negative = bits >> 63;
    const unsigned exponent = bits >> 52 & 0x7ff;
    uint64_t digits = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 0x7ff) {
        s->special |= digits ? IS_NAN : negative ? IS_LOW : IS_HIGH;
        return true;
    }
    unsigned place = exponent ? exponent - 1 : 0; /* of the last digit, in bits */
    digits |= exponent ? UINT64_C(1) << 52 : 0;
    if (!digits)
        return true;
    /* Trailing zeros do not make a value far. */
    const unsigned end = place + DIGITS, zeros = (unsigned)__builtin_ctzll(digits);
    place += zeros;
    digits >>= zeros;
    const bool near = place >= NEAR_BIT && end <= NEAR_LAST;
    if (!near && !need_far(s))
        return false;
    const unsigned word = place / 64, shift = place % 64;
    add_words(near ? s->near : s->far, near ? ROCL_EXACT_NEAR : ROCL_EXACT_FAR,
              near ? word - NEAR_WORD : word, digits << shift, shift ? digits >> (64 - shift) : 0,
              negative);
    return true;
}

bool rocl_exact_merge(rocl_exact_sum *into, const rocl_exact_sum *from)
{
    if (from->far && !need_far(into))
        return false;
    if (from->far)
        add_all(into->far, ROCL_EXACT_FAR, from->far, ROCL_EXACT_FAR);
    add_all(into->near, ROCL_EXACT_NEAR, from->near, ROCL_EXACT_NEAR);
    into->special |= from->special;
    return true;
}

/* The highest 53 bits of a number that is not negative, rounded. */
static double round_words(const uint64_t *words, unsigned count)
{
    unsigned top = count - 1;
    while (top && !words[top])
        top--;
    if (!words[top])
        return 0;
    const unsigned shift = (unsigned)__builtin_clzll(words[top]);
    uint64_t high = words[top] << shift;
    bool below = false;
    if (top && shift)
        high |= words[top - 1] >> (64 - shift);
    if (top)
        below = words[top - 1] << shift;
    for (unsigned i = 0; top && i < top - 1; i++)
        below |= words[i] != 0;
    int place = (int)(64 * top) - (int)shift; /* of the last bit of `high` */
    if (place + 64 > DIGITS) {
        const uint64_t half = UINT64_C(1) << (63 - DIGITS), rest = high & (2 * half - 1);
        const bool odd = high & 2 * half;
        high >>= 64 - DIGITS;
        high += rest > half || (rest == half && (below || odd));
        place += 64 - DIGITS;
    }
    return ldexp((double)high, place + LEAST_EXPONENT);
}

double rocl_exact_value(const rocl_exact_sum *s)
{
    uint64_t words[ROCL_EXACT_FAR] = {0};
    if (s->special)
        return s->special == IS_HIGH ? INFINITY : s->special == IS_LOW ? -INFINITY : NAN;
    if (s->far)
        memcpy(words, s->far, sizeof words);
    add_all(words + NEAR_WORD, ROCL_EXACT_FAR - NEAR_WORD, s->near, ROCL_EXACT_NEAR);
    const bool negative = words[ROCL_EXACT_FAR - 1] >> 63;
    bool carry = negative;
    for (unsigned i = 0; negative && i < ROCL_EXACT_FAR; i++) {
        words[i] = ~words[i] + carry;
        carry = carry && !words[i];
    }
    const double v = round_words(words, ROCL_EXACT_FAR);
    return negative ? -v : v;
}

void rocl_exact_clear(rocl_exact_sum *s)
{
    memset(s->near, 0, sizeof s->near);
    s->special = 0;
    if (s->far)
        memset(s->far, 0, ROCL_EXACT_FAR * sizeof *s->far);
}

void rocl_exact_free(rocl_exact_sum *s)
{
    free(s->far);
    s->far = NULL;
}

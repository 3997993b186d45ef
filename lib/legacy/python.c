/* Numbers and dictionaries of the interpreters that ran the scripts. */
#include "legacy/python.h"

#include <math.h>
#include <stdlib.h>

#include "base/num.h"

/* ---- texts of numbers ----------------------------------------------------------------------- */

bool rocl_py_int(rocl_view s, int64_t *v)
{
    /* Nearly all of them: white space, then a few digits. */
    const char *p = s.p, *end = p + s.n;
    while (p < end && rocl_py_space(*p))
        p++;
    const char *first = p;
    uint64_t small = 0;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        small = small * 10 + (unsigned)(*p - '0');
    if (p == end && p > first && p - first <= 18) {
        *v = (int64_t)small;
        return true;
    }
    if (p == first && (p == end || (*p != '-' && *p != '+')))
        return false;
    /* All others. White space may also follow the sign ("- 5"): two functions each skip it. */
    s = rocl_py_strip(s);
    bool negative = s.n && *s.p == '-';
    if (s.n && (*s.p == '-' || *s.p == '+'))
        s = rocl_py_strip((rocl_view){s.p + 1, s.n - 1});
    int64_t sum = 0; /* negative: there is one more of those */
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)(s.p[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, (int64_t)digit, &sum))
            return false;
    }
    if (!s.n || (!negative && sum == INT64_MIN))
        return false;
    *v = negative ? sum : -sum;
    return true;
}

static const char *skip_digits(const char *p, const char *end, size_t *count)
{
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        ++*count;
    return p;
}

/* In any case, whatever the locale has for one. */
static bool is_word(rocl_view s, const char *word)
{
    size_t i = 0;
    while (i < s.n && (s.p[i] | 0x20) == word[i] && word[i])
        i++;
    return i == s.n && !word[i];
}

bool rocl_py_float(rocl_view s)
{
    s = rocl_py_strip(s);
    if (s.n && (*s.p == '-' || *s.p == '+'))
        s = (rocl_view){s.p + 1, s.n - 1};
    size_t digits = 0;
    const char *end = s.p + s.n, *p = skip_digits(s.p, end, &digits);
    if (p < end && *p == '.')
        p = skip_digits(p + 1, end, &digits);
    if (!digits)
        return is_word(s, "inf") || is_word(s, "infinity") || is_word(s, "nan");
    if (p < end && (*p == 'e' || *p == 'E')) {
        digits = 0;
        p = skip_digits(p + (p + 1 < end && (p[1] == '-' || p[1] == '+') ? 2 : 1), end, &digits);
    }
    return p == end && digits;
}

/* ---- dictionaries --------------------------------------------------------------------------- */

uint64_t rocl_py_hash(const char *p, size_t n)
{
    const unsigned char *s = (const unsigned char *)p;
    if (!n)
        return 0;
    uint64_t h = (uint64_t)s[0] << 7;
    for (size_t i = 0; i < n; i++)
        h = (h * 1000003) ^ s[i];
    h ^= n;
    return h == UINT64_MAX ? h - 1 : h; /* -1 means an error there */
}

uint64_t rocl_py_hash_int(int64_t v)
{
    return (uint64_t)(v == -1 ? -2 : v);
}

/* A dict of CPython 2.7 is an open-addressed table of 2^k slots and is read slot by slot. Which
 * slot a key has depends on its hash and on what was there before it. A slot is 1 + the number of
 * its key, 0 is free. */
static void insert_key(uint32_t *slots, size_t size, const uint64_t *hashes, uint32_t key)
{
    uint64_t hash = hashes[key], perturb = hash, mask = size - 1, i = hash & mask;
    for (; slots[i & mask]; perturb >>= 5)
        i = i * 5 + perturb + 1;
    slots[i & mask] = key + 1;
}

bool rocl_py_dict_order(const uint64_t *hashes, size_t n, uint32_t *order)
{
    size_t size = 8;
    uint32_t *slots = calloc(size, sizeof *slots);
    bool ok = slots && n < UINT32_MAX;
    for (size_t i = 0; ok && i < n; i++) {
        insert_key(slots, size, hashes, (uint32_t)i);
        const size_t used = i + 1, least = (used > 50000 ? 2 : 4) * used;
        if (used * 3 < size * 2)
            continue;
        /* It grows: keys move in the order of their slots. */
        size_t bigger = 8;
        while (bigger <= least)
            bigger *= 2;
        uint32_t *moved = calloc(bigger, sizeof *moved);
        ok = moved;
        for (size_t k = 0; ok && k < size; k++)
            if (slots[k])
                insert_key(moved, bigger, hashes, slots[k] - 1);
        free(slots);
        slots = moved;
        size = bigger;
    }
    for (size_t i = 0, to = 0; ok && i < size; i++)
        if (slots[i])
            order[to++] = slots[i] - 1;
    free(slots);
    return ok;
}

/* ---- ns as µs ------------------------------------------------------------------------------- */

/* The quotient is the double next to it, in the fewest digits that tell it from others, with ".0"
 * and, from 1e16 on, an exponent. Below 2^43 * 1000 doubles are less than half of 0.001 apart:
 * three decimals are the answer. */
static const char exact_below[] = "8796093022208000";
#define EXACT_BELOW UINT64_C(8796093022208000)

static rocl_view skip_zeros(rocl_view s)
{
    size_t zeros = 0;
    while (zeros < s.n && s.p[zeros] == '0')
        zeros++;
    return (rocl_view){s.p + zeros, s.n - zeros};
}

void rocl_py_put_integer(rocl_buf *b, rocl_view digits)
{
    digits = skip_zeros(digits);
    if (digits.n)
        rocl_buf_put(b, digits.p, digits.n);
    else
        rocl_buf_byte(b, '0');
}

/* The digits with a point before the last three, at least one digit on either side of it. */
static void put_exact(rocl_buf *b, rocl_view s)
{
    char small[3] = {'0', '0', '0'};
    const char *d = small;
    if (!rocl_buf_reserve(b, s.n + 8))
        return;
    uint8_t *p = b->data + b->len;
    if (s.n > 3) {
        d = s.p + s.n - 3;
        memcpy(p, s.p, s.n - 3);
        p += s.n - 3;
    } else {
        memcpy(small + 3 - s.n, s.p, s.n);
        *p++ = '0';
    }
    *p++ = '.';
    *p++ = (uint8_t)d[0];
    if (d[1] != '0' || d[2] != '0')
        *p++ = (uint8_t)d[1];
    if (d[2] != '0')
        *p++ = (uint8_t)d[2];
    b->len = (size_t)(p - b->data);
}

double rocl_py_us(uint64_t ns)
{
    char text[ROCL_NUM_MAX + 4];
    if (ns < UINT64_C(1) << 53)
        return (double)ns / 1000;
    memcpy(rocl_put_u64(text, ns), "e-3", 4);
    return strtod(text, NULL);
}

bool rocl_py_put_us(rocl_buf *b, rocl_view s)
{
    s = skip_zeros(s);
    if (s.n < 16 || (s.n == 16 && memcmp(s.p, exact_below, 16) < 0)) {
        put_exact(b, s);
        return true;
    }
    /* strtod() rounds N"e-3" correctly, which a division of the rounded N would not. */
    char small[64], *text = s.n + 4 <= sizeof small ? small : malloc(s.n + 4);
    double v = HUGE_VAL;
    if (text) {
        memcpy(text, s.p, s.n);
        memcpy(text + s.n, "e-3", 4);
        v = strtod(text, NULL);
    }
    if (text != small)
        free(text);
    if (!isfinite(v))
        return false;
    rocl_repr_put(b, v);
    return true;
}

void rocl_py_put_us_difference(rocl_buf *b, uint64_t start, uint64_t stop)
{
    char text[ROCL_NUM_MAX];
    uint64_t v = stop > start ? stop - start : start - stop;
    if (stop < start)
        rocl_buf_byte(b, '-');
    if (v < EXACT_BELOW)
        put_exact(b, v ? rocl_view_between(text, rocl_put_u64(text, v)) : (rocl_view){text, 0});
    else
        rocl_repr_put(b, rocl_py_us(v));
}

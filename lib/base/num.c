/* Numbers as text. */
#include "base/num.h"
#include "base/wide.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- integers -------------------------------------------------------------------------------- */

/* The values of the digits of v < 10^8, the first in the lowest byte, all at once: halves of four
 * digits, quarters of two, then digits. The quotients are exact for these ranges. */
static inline uint64_t eight_digits(uint32_t v)
{
    uint64_t fours = v / 10000 | (uint64_t)(v % 10000) << 32;
    uint64_t hundreds = (fours * 5243 >> 19) & 0x0000007f0000007f;
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f;
    return tens | (twos - tens * 10) << 8;
}

static inline char *put_eight(char *p, uint64_t digits)
{
    rocl_le64_set(p, digits | 0x3030303030303030);
    return p + 8;
}

static inline char *put_short(char *p, uint32_t v)
{
    if (v < 10) {
        *p = (char)('0' + v);
        return p + 1;
    }
    uint64_t digits = eight_digits(v);
    unsigned zeros = (unsigned)__builtin_ctzll(digits) / 8;
    put_eight(p, digits >> 8 * zeros);
    return p + 8 - zeros;
}

char *rocl_put_u64(char *p, uint64_t v)
{
    const uint64_t e8 = 100000000, e16 = e8 * e8;
    if (v < e8)
        return put_short(p, (uint32_t)v);
    if (v < e16) {
        p = put_short(p, (uint32_t)(v / e8));
    } else {
        p = put_short(p, (uint32_t)(v / e16));
        p = put_eight(p, eight_digits((uint32_t)(v % e16 / e8)));
    }
    return put_eight(p, eight_digits((uint32_t)(v % e8)));
}

char *rocl_put_near(char *p, uint64_t v, rocl_upper_digits *upper)
{
    const uint64_t e8 = 100000000;
    if (v < e8)
        return put_short(p, (uint32_t)v);
    if (v / e8 != upper->value) {
        upper->value = v / e8;
        upper->len = (unsigned)(rocl_put_u64(upper->text, v / e8) - upper->text);
    }
    memcpy(p, upper->text, sizeof upper->text);
    return put_eight(p + upper->len, eight_digits((uint32_t)(v % e8)));
}

char *rocl_put_i64(char *p, int64_t v)
{
    if (v >= 0)
        return rocl_put_u64(p, (uint64_t)v);
    *p++ = '-';
    return rocl_put_u64(p, 0 - (uint64_t)v);
}

char *rocl_put_hex(char *p, uint64_t v, unsigned digits, bool upper)
{
    const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
    if (n < digits)
        n = digits < ROCL_NUM_MAX ? digits : ROCL_NUM_MAX;
    for (unsigned i = n; i-- > 0; v >>= 4)
        p[i] = set[v & 15];
    return p + n;
}

/* ---- reals ----------------------------------------------------------------------------------- */

/* The shortest decimal that reads back as v, where 1e-4 <= v < 1e15, as a number; returns how many
 * of its digits are decimals, -1: v is beyond that. v = m / 2^s, and m * 10^decimals fits 128 bits:
 * all here is exact. It is rounded to 15 digits, or to as many more as read back as v: where the
 * rest that is rounded off is less than half of the distance from v to its neighbours, which is 1
 * in m. (Below a power of two they are nearer, but powers of two in the range have no more than 15
 * digits.) */
static int find_decimal(double v, uint64_t *number)
{
    static const double powers[] = {1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4,  1e5, 1e6,
                                    1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const uint64_t top = UINT64_C(1) << 52;
    uint64_t bits;
    unsigned i = 0;
    int decimals = 0;
    rocl_u128 unit = 1; /* 10^decimals */
    if (!(v >= 1e-4 && v < 1e15))
        return -1;
    memcpy(&bits, &v, sizeof bits);
    const uint64_t m = (bits & (top - 1)) | top;
    const unsigned s = 1075 - (unsigned)(bits >> 52);
    while (v >= powers[i])
        i++;
    for (; decimals < 18 - (int)i; decimals++)
        unit *= 10;
    for (unsigned digits = 15;; digits++, decimals++, unit *= 10) {
        rocl_u128 exact = m * unit, n = exact >> s, half = (rocl_u128)1 << (s - 1),
                  rest = exact - (n << s);
        rocl_u128 off = 2 * (rest < half ? rest : 2 * half - rest);
        if (digits < 17 && (off > unit || (off == unit && (m & 1))))
            continue;
        n += rest > half || (rest == half && (n & 1));
        *number = (uint64_t)n;
        for (; decimals && *number % 10 == 0; *number /= 10)
            decimals--;
        return decimals;
    }
}

static char *put_general(char *p, double v)
{
    char text[64];
    bool point = false;
    /* 15 digits always survive a normal double; a subnormal may need as few as one. */
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (digits == 17 || strtod(text, NULL) == v)
            break;
    }
    /* A host program may have set a locale: whatever %g wrote as the decimal point (perhaps several
     * bytes) becomes a point. */
    for (const char *s = text; *s; s++) {
        if (strchr("0123456789+-e", *s)) {
            *p++ = *s;
        } else if (!point) {
            *p++ = '.';
            point = true;
        }
    }
    return p;
}

char *rocl_put_double(char *p, double v)
{
    if (isnan(v))
        return stpcpy(p, "nan");
    if (isinf(v))
        return stpcpy(p, v < 0 ? "-inf" : "inf");
    uint64_t number = (uint64_t)(fabs(v) < 1e15 ? fabs(v) : 0);
    int decimals = (double)number == fabs(v) ? 0 : find_decimal(fabs(v), &number);
    if (decimals < 0)
        return put_general(p, v);
    if (signbit(v))
        *p++ = '-';
    char digits[ROCL_NUM_MAX];
    const int count = (int)(rocl_put_u64(digits, number) - digits);
    const size_t whole = count > decimals ? (size_t)(count - decimals) : 0;
    *p = '0';
    memcpy(p, digits, whole);
    p += whole ? whole : 1;
    if (decimals)
        *p++ = '.';
    for (; decimals > count; decimals--)
        *p++ = '0';
    return mempcpy(p, digits + whole, (size_t)count - whole);
}

/* ---- reals as Python writes them ----------------------------------------------------------- */

/* Digits of a number and where its point is: "12345", 2 is 12.345. */
static void put_placed(rocl_buf *b, const char *digits, int n, int point)
{
    char exponent[16];
    if (point > 16 || point < -3) {
        rocl_buf_put(b, digits, 1);
        if (n > 1) {
            rocl_buf_byte(b, '.');
            rocl_buf_put(b, digits + 1, (size_t)(n - 1));
        }
        snprintf(exponent, sizeof exponent, "e%c%02d", point < 1 ? '-' : '+', abs(point - 1));
        rocl_buf_str(b, exponent);
        return;
    }
    for (int i = point < 1 ? point - 1 : 0; i <= point || i < n; i++) {
        if (i == point)
            rocl_buf_byte(b, '.');
        rocl_buf_byte(b, i >= 0 && i < n ? (uint8_t)digits[i] : '0');
    }
}

void rocl_repr_put(rocl_buf *b, double v)
{
    char text[40], digits[20];
    int precision = 14, n = 0;
    if (signbit(v))
        rocl_buf_byte(b, '-');
    v = fabs(v);
    uint64_t number;
    const int decimals = find_decimal(v, &number);
    if (decimals >= 0) {
        char whole[ROCL_NUM_MAX];
        n = (int)(rocl_put_u64(whole, number) - whole);
        put_placed(b, whole, n, n - decimals);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*e", precision, v);
    while (++precision <= 16 && strtod(text, NULL) != v);
    const char *p = text;
    for (; *p && *p != 'e'; p++) /* skips the locale's decimal point */
        if (*p >= '0' && *p <= '9' && n < (int)sizeof digits)
            digits[n++] = *p;
    int point = (*p ? atoi(p + 1) : 0) + 1;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    put_placed(b, digits, n, v == 0 ? 1 : point);
}

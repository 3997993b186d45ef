#include "base/repr.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The fewest decimals that tell v = m / 2^k from its neighbours, which are half a unit of m away:
 * in whole numbers, for v from about 1e-3 up to 2^53. Returns how many, and the number without its
 * point; -1: v is not of that kind. */
static int few_decimals(double v, uint64_t *number)
{
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(v, &exponent), 53);
    int k = 53 - exponent;
    if (k < 1 || k > 62)
        return -1;
    unsigned __int128 scaled = (unsigned __int128)m << 1, power = 1;
    for (int d = 0; d <= 20; d++, scaled *= 10, power *= 10) {
        const unsigned __int128 half = (unsigned __int128)1 << k;
        unsigned __int128 c = (scaled + half) >> (k + 1);
        if ((c << (k + 1)) - scaled == half) /* in the middle: the even one */
            c &= ~(unsigned __int128)1;
        unsigned __int128 back = c << (k + 1);
        unsigned __int128 off = back > scaled ? back - scaled : scaled - back;
        if (off < power || (off == power && !(m & 1))) {
            *number = (uint64_t)c;
            return c >> 64 ? -1 : d;
        }
    }
    return -1;
}

static bool put_few_decimals(rocl_buf *b, double v)
{
    char digits[ROCL_NUM_MAX];
    uint64_t number = 0;
    int d = few_decimals(v, &number);
    if (d < 0)
        return false;
    int n = (int)(rocl_put_u64(digits, number) - digits);
    put_placed(b, digits, n, n - d);
    return true;
}

void rocl_repr_put(rocl_buf *b, double v)
{
    char text[40], digits[20];
    int precision = 14, n = 0;
    if (signbit(v))
        rocl_buf_byte(b, '-');
    v = fabs(v);
    if (v >= 1e-3 && put_few_decimals(b, v))
        return;
    do
        snprintf(text, sizeof text, "%.*e", precision, v);
    while (++precision <= 16 && strtod(text, NULL) != v);
    const char *p = text;
    for (; *p && *p != 'e'; p++) /* whatever the locale has for a point is left out */
        if (*p >= '0' && *p <= '9' && n < (int)sizeof digits)
            digits[n++] = *p;
    int point = (*p ? atoi(p + 1) : 0) + 1;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    put_placed(b, digits, n, v == 0 ? 1 : point);
}

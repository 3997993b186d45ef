/* The script divides integers by 1000 and prints the quotient: the double next to it, in the fewest
 * digits that tell it from others, with ".0" and, from 1e16 on, an exponent. */
#include "legacy/timeline_impl.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below 2^43 * 1000 doubles are less than half of 0.001 apart: three decimals are the answer. */
static const char exact_below[] = "8796093022208000";
#define EXACT_BELOW UINT64_C(8796093022208000)

static rtg_span without_zeros(rtg_span s)
{
    while (s.n && *s.p == '0') {
        s.p++;
        s.n--;
    }
    return s;
}

void tl_put_integer(rocl_buf *b, rtg_span digits)
{
    digits = without_zeros(digits);
    if (digits.n)
        rocl_buf_put(b, digits.p, digits.n);
    else
        rocl_buf_byte(b, '0');
}

/* The decimals of thousandths, at least one. */
static uint8_t *put_decimals(uint8_t *p, const char d[3])
{
    *p++ = '.';
    *p++ = (uint8_t)d[0];
    if (d[1] != '0' || d[2] != '0')
        *p++ = (uint8_t)d[1];
    if (d[2] != '0')
        *p++ = (uint8_t)d[2];
    return p;
}

static void put_exact(rocl_buf *b, rtg_span s)
{
    char small[3] = {'0', '0', '0'};
    if (!rocl_buf_room(b, s.n + 8))
        return;
    uint8_t *p = b->data + b->len;
    if (s.n > 3) {
        memcpy(p, s.p, s.n - 3);
        p = put_decimals(p + s.n - 3, s.p + s.n - 3);
    } else {
        memcpy(small + 3 - s.n, s.p, s.n);
        *p++ = '0';
        p = put_decimals(p, small);
    }
    b->len = (size_t)(p - b->data);
}

/* strtod() rounds N"e-3" correctly, which a division of the rounded N would not. */
static double thousandth(rtg_span s)
{
    char small[64], *text = s.n + 4 <= sizeof small ? small : malloc(s.n + 4);
    double v = HUGE_VAL;
    if (text) {
        memcpy(text, s.p, s.n);
        memcpy(text + s.n, "e-3", 4);
        v = strtod(text, NULL);
    }
    if (text != small)
        free(text);
    return v;
}

double tl_us(uint64_t ns)
{
    char text[ROCL_NUM_MAX];
    if (ns < UINT64_C(1) << 53)
        return (double)ns / 1000;
    char *end = rocl_put_u64(text, ns);
    return thousandth((rtg_span){text, (size_t)(end - text)});
}

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

void tl_put_repr(rocl_buf *b, double v)
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

bool tl_put_us(rocl_buf *b, rtg_span digits)
{
    digits = without_zeros(digits);
    if (digits.n < 16 || (digits.n == 16 && memcmp(digits.p, exact_below, 16) < 0)) {
        put_exact(b, digits);
        return true;
    }
    double v = thousandth(digits);
    if (!isfinite(v))
        return false;
    tl_put_repr(b, v);
    return true;
}

void tl_put_us_difference(rocl_buf *b, uint64_t start, uint64_t stop)
{
    char text[ROCL_NUM_MAX];
    uint64_t v = stop > start ? stop - start : start - stop;
    char *end = rocl_put_u64(text, v);
    rtg_span s = {text, (size_t)(end - text)};
    if (stop < start)
        rocl_buf_byte(b, '-');
    if (v < EXACT_BELOW)
        put_exact(b, v ? s : (rtg_span){text, 0});
    else
        tl_put_repr(b, tl_us(v));
}

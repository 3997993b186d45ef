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

static bool put_decimal(rocl_buf *b, double v)
{
    char digits[ROCL_NUM_MAX];
    uint64_t number = 0;
    int d = rocl_decimal(v, &number);
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
    if (put_decimal(b, v))
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

#include "base/num.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[200] = "00010203040506070809101112131415161718192021222324"
                               "25262728293031323334353637383940414243444546474849"
                               "50515253545556575859606162636465666768697071727374"
                               "75767778798081828384858687888990919293949596979899";

char *rocl_put_u64(char *p, uint64_t v)
{
    char digits[20], *d = digits + sizeof digits;
    while (v >= 100) {
        d -= 2;
        memcpy(d, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        d -= 2;
        memcpy(d, pairs + v * 2, 2);
    } else {
        *--d = (char)('0' + v);
    }
    size_t n = (size_t)(digits + sizeof digits - d);
    memcpy(p, d, n);
    return p + n;
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

/* Values of few decimals ("99.5"): when m / 10^k, both exact, rounds to v, then the digits of m are
 * a decimal that reads back as v, and with the smallest k the shortest. NULL when there is none. */
static char *put_few_decimals(char *p, double v)
{
    double a = fabs(v), power = 1;
    if (a < 1e-4 || a >= 1e9)
        return NULL;
    for (unsigned k = 1; k <= 6; k++) {
        power *= 10;
        uint64_t n = (uint64_t)(a * power + 0.5), unit = (uint64_t)power;
        if ((double)n / power != a)
            continue;
        if (signbit(v))
            *p++ = '-';
        p = rocl_put_u64(p, n / unit);
        *p++ = '.';
        uint64_t rest = n % unit;
        for (unsigned i = k; i-- > 0; rest /= 10)
            p[i] = (char)('0' + rest % 10);
        return p + k;
    }
    return NULL;
}

/* The library leaves the locale alone, a host program may not have: whatever %g took for a point
 * (which may be several bytes) becomes one. */
static char *put_with_point(char *p, const char *s)
{
    bool point = false;
    for (; *s; s++) {
        if (strchr("0123456789+-e", *s)) {
            *p++ = *s;
        } else if (!point) {
            *p++ = '.';
            point = true;
        }
    }
    return p;
}

static char *put_general(char *p, double v)
{
    char text[64];
    /* 15 digits always survive a normal double; a subnormal may need as few as one. */
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (digits == 17 || strtod(text, NULL) == v)
            break;
    }
    return put_with_point(p, text);
}

char *rocl_put_double(char *p, double v)
{
    if (isnan(v))
        return stpcpy(p, "nan");
    if (isinf(v))
        return stpcpy(p, v < 0 ? "-inf" : "inf");
    if (fabs(v) < 1e15 && v == (double)(int64_t)v) {
        if (signbit(v))
            *p++ = '-';
        return rocl_put_u64(p, (uint64_t)fabs(v));
    }
    char *end = put_few_decimals(p, v);
    return end ? end : put_general(p, v);
}

/* The script divides integers by 1000 and prints the quotient: the double next to it, in the fewest
 * digits that tell it from others, with ".0" and, from 1e16 on, an exponent. */
#include "legacy/timeline_impl.h"

#include "base/num.h"
#include "base/repr.h"

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
    if (!rocl_buf_reserve(b, s.n + 8))
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
    char text[ROCL_NUM_MAX + 4];
    if (ns < UINT64_C(1) << 53)
        return (double)ns / 1000;
    memcpy(rocl_put_u64(text, ns), "e-3", 4);
    return strtod(text, NULL);
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
    rocl_repr_put(b, v);
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
        rocl_repr_put(b, tl_us(v));
}

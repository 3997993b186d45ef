/* Cells for people: numbers of three digits with a unit, text that a terminal can be given. */
#include "table/forms.h"

#include "base/num.h"
#include "base/utf8.h"

#include <math.h>

/* v (finite) with so many decimals, whatever the locale. */
static void put_fixed(rocl_buf *to, double v, unsigned decimals)
{
    double power = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
    if (fabs(v) >= 1e15 || !rocl_buf_reserve(to, ROCL_NUM_MAX + 4)) {
        rocl_table_put_raw(to, &(rocl_datum){.is = ROCL_DATUM_REAL, .r = v});
        return;
    }
    uint64_t n = (uint64_t)llround(fabs(v) * power), unit = (uint64_t)power;
    char *p = (char *)to->data + to->len, *begin = p;
    if (v < 0 && n)
        *p++ = '-';
    p = rocl_put_u64(p, n / unit);
    if (decimals)
        *p++ = '.';
    if (decimals > 1)
        *p++ = (char)('0' + n % 100 / 10);
    if (decimals)
        *p++ = (char)('0' + n % 10);
    to->len += (size_t)(p - begin);
}

/* Decimals that leave three digits, judged by the value as it will be rounded. */
static unsigned decimals_for(double v)
{
    v = fabs(v);
    return v == 0 ? 0 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

typedef struct scale {
    double step;
    const char *units[8];
} scale;

static const scale times = {1000, {"ns", "us", "ms", "s", NULL}};
static const scale sizes = {1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL}};
static const scale rates = {1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", NULL}};

static void put_with_unit(rocl_buf *to, double v, bool integer, const scale *s)
{
    size_t i = 0;
    /* What would be rounded to 1000 is 1.00 of the next unit. */
    for (; s->units[i + 1] && fabs(v) >= s->step - 0.5; i++)
        v /= s->step;
    put_fixed(to, v, i == 0 && integer ? 0 : decimals_for(v));
    rocl_buf_byte(to, ' ');
    rocl_buf_str(to, s->units[i]);
}

static void put_number(rocl_buf *to, const rocl_datum *d, rocl_unit unit)
{
    bool integer = d->is == ROCL_DATUM_INT;
    double v = integer ? (double)d->i : d->r;
    switch (unit) {
    case ROCL_UNIT_NS:
        put_with_unit(to, v, integer, &times);
        break;
    case ROCL_UNIT_BYTES:
        put_with_unit(to, v, integer, &sizes);
        break;
    case ROCL_UNIT_RATE:
        put_with_unit(to, v, integer, &rates);
        break;
    case ROCL_UNIT_PERCENT:
        put_fixed(to, v, 2); /* the title of the column has the sign */
        break;
    case ROCL_UNIT_TEXT:
    case ROCL_UNIT_SENTENCE:
    case ROCL_UNIT_COUNT:
    case ROCL_UNIT_NUMBER:
        if (integer)
            rocl_table_put_raw(to, d);
        else
            put_fixed(to, v, 2);
        break;
    }
}

/* Control characters (U+0000 to U+001F, U+007F to U+009F) become '?': a name must not be able to
 * move the cursor. */
static void put_clean(rocl_buf *to, const char *p, size_t n)
{
    size_t from = to->len, at = from;
    rocl_utf8_put(to, p, n);
    for (size_t i = from; i < to->len; i++) {
        uint8_t c = to->data[i];
        bool wide = c == 0xc2 && i + 1 < to->len && to->data[i + 1] < 0xa0;
        i += wide;
        to->data[at++] = wide || c < 0x20 || c == 0x7f ? '?' : c;
    }
    to->len = at;
}

void rocl_table_put_scaled(rocl_buf *to, const rocl_datum *d, rocl_unit unit)
{
    if (!rocl_table_has_value(d))
        rocl_buf_byte(to, '-');
    else if (d->is == ROCL_DATUM_TEXT)
        put_clean(to, d->text, d->len);
    else
        put_number(to, d, unit);
}

size_t rocl_table_text_width(const uint8_t *p, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++)
        width += (p[i] & 0xc0) != 0x80;
    return width;
}

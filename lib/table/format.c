/* What the formats of tables share: the buffer before the output, and cells as text. */
#include "table/format.h"

#include <inttypes.h>
#include <math.h>

#include "base/num.h"
#include "base/text.h"

enum { FLUSH_AT = 64 << 10 };

void rocl_table_flush(rocl_table_writer *w)
{
    if (w->status == ROCL_OK && (w->buf.failed || w->scratch.failed))
        w->status = rocl_fail_memory(w->err);
    if (!w->out)
        return;
    if (w->status == ROCL_OK)
        w->status = rocl_out_write(w->out, w->buf.data, w->buf.len, w->err);
    w->buf.len = 0;
}

void rocl_table_end_row(rocl_table_writer *w)
{
    if (w->buf.len >= FLUSH_AT)
        rocl_table_flush(w);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Where a unit has symbols, a number is divided by the step until it is short. */
static const struct {
    const char *name;
    double step;
    const char *symbols[8]; /* ended by NULL */
    double factor;          /* to the first symbol; 0: it is the unit */
} units[] = {
    [ROCL_UNIT_TEXT] = {.name = "text"},
    [ROCL_UNIT_SENTENCE] = {.name = "text"},
    [ROCL_UNIT_COUNT] = {.name = "count"},
    [ROCL_UNIT_NS] = {.name = "ns", .step = 1000, .symbols = {"ns", "us", "ms", "s"}},
    [ROCL_UNIT_TIME] = {.name = "ns"},
    [ROCL_UNIT_BYTES] = {.name = "bytes",
                         .step = 1024,
                         .symbols = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}},
    [ROCL_UNIT_RATE] = {.name = "bytes/s",
                        .step = 1000,
                        .symbols = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"}},
    [ROCL_UNIT_PERCENT] = {.name = "percent"}, /* the titles of such columns have the sign */
    [ROCL_UNIT_NUMBER] = {.name = "number"},
    [ROCL_UNIT_JOULES] = {"joules", 1000, {"uJ", "mJ", "J", "kJ", "MJ", "GJ"}, 1e6},
};

const char *rocl_unit_name(rocl_unit unit)
{
    return units[unit].name;
}

void rocl_datum_put_exact(rocl_buf *to, const rocl_datum *d)
{
    if (d->type == ROCL_DATUM_INT)
        rocl_buf_i64(to, d->i);
    else
        rocl_buf_double(to, d->r);
}

/* v (finite) with 0 to 2 decimals, independent of the locale. */
static void put_fixed(rocl_buf *to, double v, unsigned decimals)
{
    if (fabs(v) >= 1e15 || !rocl_buf_reserve(to, ROCL_NUM_MAX + 4)) {
        rocl_datum_put_exact(to, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = v});
        return;
    }
    const uint64_t one = decimals == 0 ? 1 : decimals == 1 ? 10 : 100;
    const uint64_t n = (uint64_t)llround(fabs(v) * (double)one);
    char *p = (char *)to->data + to->len, *begin = p;
    if (v < 0 && n)
        *p++ = '-';
    p = rocl_put_u64(p, n / one);
    if (decimals)
        *p++ = '.';
    if (decimals > 1)
        *p++ = (char)('0' + n % 100 / 10);
    if (decimals)
        *p++ = (char)('0' + n % 10);
    to->len += (size_t)(p - begin);
}

/* ---- cells for people ------------------------------------------------------------------------ */

void rocl_datum_put_displayed(rocl_buf *to, const rocl_datum *d, rocl_unit unit)
{
    bool integer = d->type == ROCL_DATUM_INT;
    if (!rocl_datum_has_value(d)) {
        rocl_buf_byte(to, '-');
    } else if (d->type == ROCL_DATUM_TEXT) {
        /* A name must not be able to move the cursor. */
        size_t from = to->len;
        rocl_utf8_put(to, d->text, d->len);
        if (to->len > from)
            to->len = from + rocl_hide_controls((char *)to->data + from, to->len - from, false);
    } else if (units[unit].step > 0) {
        /* With the decimals that leave three digits, by the value as it will be rounded. */
        double v = rocl_datum_number(d);
        const char *const *symbol = units[unit].symbols;
        const double step = units[unit].step, factor = units[unit].factor;
        if (factor > 0)
            v *= factor;
        /* What would be rounded to 1000 is 1.00 of the next symbol. */
        for (; symbol[1] && fabs(v) >= step - 0.5; symbol++, integer = false)
            v /= step;
        put_fixed(to, v, integer || v == 0 || fabs(v) >= 99.95 ? 0 : fabs(v) >= 9.995 ? 1 : 2);
        rocl_buf_byte(to, ' ');
        rocl_buf_str(to, *symbol);
    } else if (integer && unit != ROCL_UNIT_PERCENT) {
        rocl_datum_put_exact(to, d);
    } else {
        put_fixed(to, rocl_datum_number(d), 2);
    }
}

/* Not scaled, so that times of a column can be compared at a glance. The digits of an integer are
 * those of the clock: a double has too few of them. */
void rocl_cell_put_displayed(rocl_buf *to, const rocl_table *t, const rocl_datum *cell,
                             size_t column)
{
    const rocl_unit unit = t->columns[column].unit;
    int64_t ns;
    if (unit != ROCL_UNIT_TIME || cell->type != ROCL_DATUM_INT ||
        __builtin_sub_overflow(cell->i, t->origin, &ns)) {
        rocl_datum_put_displayed(to, cell, unit);
        return;
    }
    const uint64_t us = ((ns < 0 ? -(uint64_t)ns : (uint64_t)ns) + 500) / 1000;
    rocl_buf_printf(to, "%s%" PRIu64 ".%06" PRIu64 " s", ns < 0 && us ? "-" : "", us / 1000000,
                    us % 1000000);
}

size_t rocl_text_width(const uint8_t *p, size_t n)
{
    size_t width = 0;
    for (size_t i = 0; i < n; i++)
        width += (p[i] & 0xc0) != 0x80;
    return width;
}

#include "legacy/rpt.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"

enum { FLUSH_AT = 32 << 10 };

rocl_status rocl_rpt_flush(rocl_rpt_printer *p)
{
    if (!p->status && p->text.failed)
        p->status = rocl_fail_memory(p->err);
    if (!p->status && p->out)
        p->status = rocl_out_write(p->out, p->text.data, p->text.len, p->err);
    if (p->out)
        p->text.len = 0;
    return p->status;
}

void rocl_rpt_item(rocl_rpt_printer *p, const char *s, size_t n)
{
    if (p->apart)
        rocl_buf_byte(&p->text, ' ');
    rocl_buf_put(&p->text, s, n);
    p->apart = rocl_rpt_apart(s, n);
}

void rocl_rpt_newline(rocl_rpt_printer *p)
{
    rocl_buf_byte(&p->text, '\n');
    p->apart = false;
    if (p->out && p->text.len > FLUSH_AT)
        rocl_rpt_flush(p);
}

void rocl_rpt_say(rocl_rpt_printer *p, const char *lines)
{
    rocl_rpt_item(p, lines, strlen(lines));
    rocl_rpt_newline(p);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void put_blanks(rocl_buf *b, size_t n)
{
    static const char blanks[] = "                                                ";
    for (size_t part; n; n -= part) {
        part = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        rocl_buf_put(b, blanks, part);
    }
}

void rocl_rpt_put_text(rocl_buf *b, const char *s, size_t n, int width)
{
    size_t wide = (size_t)(width < 0 ? -width : width), missing = wide > n ? wide - n : 0;
    if (width > 0)
        put_blanks(b, missing);
    rocl_buf_put(b, s, n);
    if (width < 0)
        put_blanks(b, missing);
}

void rocl_rpt_put_int(rocl_buf *b, int64_t v, int width)
{
    char digits[ROCL_NUM_MAX];
    rocl_rpt_put_text(b, digits, (size_t)(rocl_put_i64(digits, v) - digits), width);
}

/* The text of an integer of units of 10^-decimals; sign is '-', '+' or 0. */
static void put_units(rocl_buf *b, uint64_t units, unsigned decimals, int width, char sign)
{
    char digits[2 * ROCL_NUM_MAX], *end = digits + sizeof digits, *p = end;
    for (unsigned i = 0; i < decimals; i++, units /= 10)
        *--p = (char)('0' + units % 10);
    *--p = '.';
    do
        *--p = (char)('0' + units % 10);
    while (units /= 10);
    if (sign)
        *--p = sign;
    rocl_rpt_put_text(b, p, (size_t)(end - p), width);
}

/* What printf makes of it, with a point whatever the locale has. */
static void put_by_printf(rocl_buf *b, double v, unsigned decimals, int width, bool plus)
{
    char text[400], *to = text;
    int n = snprintf(text, sizeof text, plus ? "%+.*f" : "%.*f", (int)decimals, v);
    bool point = false;
    for (int i = 0; i < n; i++) {
        if (strchr("+-0123456789", text[i]) || !isfinite(v)) {
            *to++ = text[i];
        } else if (!point) {
            *to++ = '.';
            point = true;
        }
    }
    rocl_rpt_put_text(b, text, (size_t)(to - text), width);
}

/* printf prints the decimal that is nearest to v exactly. That is the nearest integer of units
 * wherever v * 10^decimals, rounded, is clearly nearer to one integer than to the next. */
void rocl_rpt_put_real(rocl_buf *b, double v, unsigned decimals, int width, bool plus)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    double units = fabs(v) * powers[decimals], below = floor(units), rest = units - below;
    if (!(units < 1e14) || (rest > 0.45 && rest < 0.55)) {
        put_by_printf(b, v, decimals, width, plus);
        return;
    }
    put_units(b, (uint64_t)below + (rest > 0.5), decimals, width,
              signbit(v) ? '-'
              : plus     ? '+'
                         : 0);
}

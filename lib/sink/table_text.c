/* Tables for people: aligned columns under their titles. */
#include "sink/table.h"

#include <stdlib.h>

enum { INDENT = 2, GAP = 2, NARROWEST = 16 };

/* ---- widths ---------------------------------------------------------------------------------- */

static size_t cell_width(rocl_buf *scratch, const rocl_datum *d, rocl_unit unit)
{
    scratch->len = 0;
    rocl_table_put_scaled(scratch, d, unit);
    return rocl_table_text_width(scratch->data, scratch->len);
}

static size_t title_width(const rocl_table_column *c)
{
    return rocl_table_text_width((const uint8_t *)c->title, strlen(c->title));
}

static void measure(rocl_buf *scratch, const rocl_table *t, size_t *widths)
{
    for (size_t c = 0; c < t->column_count; c++)
        widths[c] = title_width(&t->columns[c]);
    for (size_t r = 0; r < t->row_count; r++) {
        for (size_t c = 0; c < t->column_count; c++) {
            size_t n = cell_width(scratch, rocl_table_cell(t, r, c), t->columns[c].unit);
            widths[c] = n > widths[c] ? n : widths[c];
        }
    }
}

/* The widest column of text that may be made narrower; column_count: none. */
static size_t widest_text(const rocl_table *t, const size_t *widths)
{
    size_t best = t->column_count;
    for (size_t c = 0; c < t->column_count; c++) {
        size_t least = title_width(&t->columns[c]);
        if (least < NARROWEST)
            least = NARROWEST;
        if (!rocl_table_is_number(&t->columns[c]) && widths[c] > least &&
            (best == t->column_count || widths[c] > widths[best]))
            best = c;
    }
    return best;
}

/* Numbers are never cut: a row of many of them may stay wider than the terminal. */
static void fit(const rocl_table *t, size_t *widths, size_t width)
{
    size_t sum = INDENT;
    for (size_t c = 0; c < t->column_count; c++)
        sum += widths[c] + (c ? GAP : 0);
    for (; sum > width; sum--) {
        size_t c = widest_text(t, widths);
        if (c == t->column_count)
            break;
        widths[c]--;
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static void put_blanks(rocl_buf *to, size_t n)
{
    if (rocl_buf_room(to, n)) {
        memset(to->data + to->len, ' ', n);
        to->len += n;
    }
}

/* The first byte of the code point number `at`. */
static size_t offset_of(const uint8_t *p, size_t n, size_t at)
{
    size_t i = 0;
    for (; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80 && at-- == 0)
            break;
    }
    return i;
}

/* Both ends say more of a long name than its begin: "void gemm<fl...2>(float*)". */
static void put_cut(rocl_buf *to, const uint8_t *p, size_t n, size_t has, size_t width)
{
    size_t keep = width - 3, tail = keep / 2;
    size_t from = offset_of(p, n, has - tail);
    rocl_buf_put(to, p, offset_of(p, n, keep - tail));
    rocl_buf_str(to, "...");
    rocl_buf_put(to, p + from, n - from);
}

static void put_aligned(rocl_buf *to, const rocl_buf *text, size_t width, bool right, bool last)
{
    size_t has = rocl_table_text_width(text->data, text->len);
    if (has > width) {
        put_cut(to, text->data, text->len, has, width);
        return;
    }
    if (right)
        put_blanks(to, width - has);
    rocl_buf_put(to, text->data, text->len);
    if (!right && !last)
        put_blanks(to, width - has);
}

/* One line; `row` SIZE_MAX is the line of titles. */
static bool put_line(rocl_table_writer *w, rocl_buf *scratch, const rocl_table *t, size_t row,
                     const size_t *widths)
{
    for (size_t c = 0; c < t->column_count; c++) {
        const rocl_table_column *column = &t->columns[c];
        scratch->len = 0;
        if (row == SIZE_MAX)
            rocl_buf_str(scratch, column->title);
        else
            rocl_table_put_scaled(scratch, rocl_table_cell(t, row, c), column->unit);
        put_blanks(&w->buf, c ? GAP : INDENT);
        put_aligned(&w->buf, scratch, widths[c], rocl_table_is_number(column),
                    c + 1 == t->column_count);
    }
    w->buf.failed |= scratch->failed;
    rocl_buf_byte(&w->buf, '\n');
    return rocl_table_row_end(w);
}

static bool put_title(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf_str(&w->buf, t->title);
    if (t->row_count == 0) {
        rocl_buf_str(&w->buf, ": nothing\n");
        return false;
    }
    if (t->note) {
        rocl_buf_str(&w->buf, ": ");
        rocl_buf_str(&w->buf, t->note);
    }
    rocl_buf_byte(&w->buf, '\n');
    return true;
}

static void put_table(rocl_table_writer *w, rocl_buf *scratch, const rocl_table *t)
{
    if (!put_title(w, t))
        return;
    size_t *widths = calloc(t->column_count, sizeof *widths);
    if (!widths) {
        w->buf.failed = true;
        return;
    }
    measure(scratch, t, widths);
    if (w->width)
        fit(t, widths, w->width);
    bool more = put_line(w, scratch, t, SIZE_MAX, widths);
    for (size_t r = 0; more && r < t->row_count; r++)
        more = put_line(w, scratch, t, r, widths);
    free(widths);
}

void rocl_table_write_text(rocl_table_writer *w)
{
    rocl_buf scratch = {0};
    for (size_t i = 0; i < w->tables->count && rocl_table_row_end(w); i++) {
        if (i)
            rocl_buf_byte(&w->buf, '\n');
        put_table(w, &scratch, &w->tables->tables[i]);
    }
    rocl_buf_end(&scratch, &w->buf);
}

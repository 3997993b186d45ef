/* Tables for people: aligned columns under their titles. */
#include "table/forms.h"

#include <stdlib.h>
#include <string.h>

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
        if (t->columns[c].unit == ROCL_UNIT_TEXT && widths[c] > least &&
            (best == t->column_count || widths[c] > widths[best]))
            best = c;
    }
    return best;
}

/* Numbers and sentences are never cut: a row of many of them may stay wider than the terminal. */
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
    if (rocl_buf_reserve(to, n)) {
        memset(to->data + to->len, ' ', n);
        to->len += n;
    }
}

static void put_aligned(rocl_buf *to, const rocl_buf *text, size_t width, bool right, bool last)
{
    size_t has = rocl_table_text_width(text->data, text->len);
    if (right && has < width)
        put_blanks(to, width - has);
    rocl_buf_put(to, text->data, text->len);
    if (!right && !last && has < width)
        put_blanks(to, width - has);
}

/* The texts of a column that is narrower than they are; NULL: they are as they are. */
typedef rocl_buf *shortened;

/* One line; `row` SIZE_MAX is the line of titles. */
static bool put_line(rocl_table_writer *w, rocl_buf *scratch, const rocl_table *t, size_t row,
                     const size_t *widths, const shortened *texts)
{
    for (size_t c = 0; c < t->column_count; c++) {
        const rocl_table_column *column = &t->columns[c];
        scratch->len = 0;
        if (row == SIZE_MAX)
            rocl_buf_str(scratch, column->title);
        else if (texts[c])
            rocl_buf_put(scratch, texts[c][row].data, texts[c][row].len);
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

static bool shorten(const rocl_table *t, size_t column, size_t width, shortened *texts)
{
    rocl_buf *all = calloc(t->row_count, sizeof *all);
    bool good = all != NULL;
    *texts = all;
    for (size_t r = 0; good && r < t->row_count; r++) {
        rocl_table_put_scaled(&all[r], rocl_table_cell(t, r, column), t->columns[column].unit);
        good = !all[r].failed;
    }
    return good && rocl_table_shorten(all, t->row_count, width);
}

static void free_texts(const rocl_table *t, shortened *texts)
{
    for (size_t c = 0; texts && c < t->column_count; c++) {
        for (size_t r = 0; texts[c] && r < t->row_count; r++)
            rocl_buf_free(&texts[c][r]);
        free(texts[c]);
    }
    free(texts);
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
    size_t *widths = calloc(2 * t->column_count, sizeof *widths), *wanted = NULL;
    shortened *texts = calloc(t->column_count, sizeof *texts);
    bool good = widths && texts;
    if (good) {
        wanted = widths + t->column_count;
        measure(scratch, t, widths);
        memcpy(wanted, widths, t->column_count * sizeof *widths);
        if (w->width)
            fit(t, widths, w->width);
    }
    for (size_t c = 0; good && c < t->column_count; c++)
        if (widths[c] < wanted[c])
            good = shorten(t, c, widths[c], &texts[c]);
    bool more = good && put_line(w, scratch, t, SIZE_MAX, widths, texts);
    for (size_t r = 0; more && r < t->row_count; r++)
        more = put_line(w, scratch, t, r, widths, texts);
    w->buf.failed |= !good;
    free_texts(t, texts);
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
    rocl_buf_free_into(&scratch, &w->buf);
}

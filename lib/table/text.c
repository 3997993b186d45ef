/* Tables for people: aligned columns under their titles, made to fit the terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/format.h"

enum { INDENT = 2, GAP = 2, NARROWEST = 16, READABLE = 32 };

/* How a column is displayed. Line 0 is that of the titles, line 1 the first row. */
typedef struct layout {
    size_t measured; /* the width of its widest text */
    size_t least;    /* it may be made so narrow ... */
    size_t readable; /* ... but not so narrow where a minor column can go instead */
    size_t width;
    bool left_out;
    rocl_buf *texts; /* of its rows, if they are wider than the column; else NULL */
} layout;

static void put_text_cell(rocl_buf *to, const rocl_table *t, size_t line, size_t c)
{
    to->len = 0;
    if (line == 0)
        rocl_buf_str(to, t->columns[c].title);
    else
        rocl_cell_put_displayed(to, t, rocl_table_cell(t, line - 1, c), c);
}

/* Takes from the widest column, one by one, until a row fits; where too little would be left of it,
 * minor columns are left out, the last one first. */
static void narrow_columns(const rocl_table *t, layout *columns, size_t width)
{
    for (;;) {
        size_t sum = INDENT - GAP, minor = t->column_count;
        for (size_t c = 0; c < t->column_count; c++) {
            if (columns[c].left_out)
                continue;
            columns[c].width = columns[c].measured;
            sum += columns[c].width + GAP;
            minor = t->minor >> c & 1 ? c : minor;
        }
        for (layout *widest; sum > width; sum--, widest->width--) {
            widest = NULL;
            for (layout *l = columns; l < columns + t->column_count; l++) {
                const size_t least = minor < t->column_count ? l->readable : l->least;
                if (!l->left_out && l->width > least && (!widest || l->width > widest->width))
                    widest = l;
            }
            if (!widest)
                break;
        }
        if (sum <= width || minor == t->column_count)
            return;
        columns[minor].left_out = true;
    }
}

/* The texts of columns that are narrower now. False: memory is out. */
static bool shorten_texts(const rocl_table *t, layout *columns)
{
    for (size_t c = 0; c < t->column_count; c++) {
        layout *l = &columns[c];
        if (l->width == l->measured || l->left_out)
            continue;
        if (!(l->texts = calloc(t->row_count, sizeof *l->texts)))
            return false;
        for (size_t r = 0; r < t->row_count; r++) {
            put_text_cell(&l->texts[r], t, r + 1, c);
            if (l->texts[r].failed)
                return false;
        }
        if (!rocl_table_shorten(l->texts, t->row_count, l->width))
            return false;
    }
    return true;
}

/* Sentences are easier to read in lines of that length. */
enum { LINE = 80, LEAST_LINE = 24 };

/* The displayed cell in `w->scratch`, in lines that begin at a column. */
static void put_wrapped(rocl_table_writer *w, size_t column)
{
    const size_t most = w->width < LINE ? w->width : LINE;
    const size_t width = most > column + LEAST_LINE ? most - column : LEAST_LINE;
    const char *at = (const char *)w->scratch.data, *end = at + w->scratch.len;
    size_t used = 0;
    while (at < end) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        const size_t n = (size_t)((blank ? blank : end) - at);
        const size_t wide = rocl_text_width((const uint8_t *)at, n);
        if (used && used + 1 + wide > width && w->width) {
            rocl_buf_byte(&w->buf, '\n');
            rocl_buf_fill(&w->buf, ' ', column);
            used = 0;
        } else if (used) {
            rocl_buf_byte(&w->buf, ' ');
            used++;
        }
        rocl_buf_put(&w->buf, at, n);
        used += wide;
        at += n + (blank != NULL);
    }
    rocl_buf_byte(&w->buf, '\n');
}

/* Fields one below the other: only those that have a value, and in full. Where one is a sentence,
 * it is the headline of its row, with what stands before it in parentheses. */
static void put_fields(rocl_table_writer *w, const rocl_table *t)
{
    const uint64_t hidden = w->width ? t->minor : 0;
    size_t widest = 0, head = 0, indent = INDENT;
    while (head < t->column_count && t->columns[head].unit != ROCL_UNIT_SENTENCE)
        head++;
    const bool headed = head < t->column_count && !t->header;
    if (headed)
        indent += t->row_count < 10 ? 3 : 4;
    for (size_t c = headed ? head + 1 : 0; c < t->column_count; c++) {
        const size_t n = strlen(t->columns[c].title);
        for (size_t r = 0; r < t->row_count; r++)
            if (rocl_datum_has_value(rocl_table_cell(t, r, c)) && !(hidden >> c & 1) && n > widest)
                widest = n;
    }
    for (size_t r = 0; r < t->row_count; r++) {
        if (r)
            rocl_buf_byte(&w->buf, '\n');
        if (headed) {
            char number[32];
            const int n = snprintf(number, sizeof number, "%zu. ", r + 1);
            rocl_buf_fill(&w->buf, ' ', indent - (size_t)n);
            rocl_buf_str(&w->buf, number);
            w->scratch.len = 0;
            rocl_cell_put_displayed(&w->scratch, t, rocl_table_cell(t, r, head), head);
            for (size_t c = 0; c < head; c++) {
                rocl_buf_str(&w->scratch, c ? ", " : " (");
                rocl_cell_put_displayed(&w->scratch, t, rocl_table_cell(t, r, c), c);
            }
            rocl_buf_str(&w->scratch, head ? ")" : "");
            put_wrapped(w, indent);
        }
        for (size_t c = headed ? head + 1 : 0; c < t->column_count; c++) {
            const rocl_datum *d = rocl_table_cell(t, r, c);
            if (!rocl_datum_has_value(d) || hidden >> c & 1)
                continue;
            rocl_buf_fill(&w->buf, ' ', indent);
            rocl_buf_str(&w->buf, t->columns[c].title);
            rocl_buf_fill(&w->buf, ' ', widest - strlen(t->columns[c].title) + GAP);
            w->scratch.len = 0;
            rocl_cell_put_displayed(&w->scratch, t, d, c);
            put_wrapped(w, indent + widest + GAP);
        }
        rocl_table_end_row(w);
    }
}

void rocl_table_put_text(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf_str(&w->buf, t->title);
    if (t->row_count == 0) {
        rocl_buf_str(&w->buf, ": ");
        rocl_buf_str(&w->buf, t->why_empty ? t->why_empty : "nothing");
        rocl_buf_byte(&w->buf, '\n');
        return;
    }
    if (t->note) {
        rocl_buf_str(&w->buf, ": ");
        rocl_buf_str(&w->buf, t->note);
    }
    rocl_buf_byte(&w->buf, '\n');
    if (t->fields) {
        put_fields(w, t);
        return;
    }
    layout *columns = calloc(t->column_count, sizeof *columns);
    bool good = columns != NULL;
    if (good) {
        /* Numbers and sentences are never cut: a row of many of them may stay wider than the
         * terminal. */
        for (size_t c = 0; c < t->column_count; c++) {
            layout *l = &columns[c];
            for (size_t line = 0; line <= t->row_count; line++) {
                put_text_cell(&w->scratch, t, line, c);
                size_t n = rocl_text_width(w->scratch.data, w->scratch.len);
                l->measured = n > l->measured ? n : l->measured;
                if (line == 0)
                    l->least = n > NARROWEST ? n : NARROWEST;
            }
            l->width = l->measured;
            l->readable = l->least > READABLE ? l->least : READABLE;
            if (t->columns[c].unit != ROCL_UNIT_TEXT)
                l->least = l->readable = l->measured;
        }
        if (w->width)
            narrow_columns(t, columns, w->width);
        good = shorten_texts(t, columns);
    }
    for (size_t line = 0; good && line <= t->row_count; line++) {
        size_t last = t->column_count - 1, indent = INDENT;
        while (last && columns[last].left_out)
            last--;
        for (size_t c = 0; c < t->column_count; c++) {
            const layout *l = &columns[c];
            if (l->left_out)
                continue;
            const rocl_buf *text = line && l->texts ? &l->texts[line - 1] : &w->scratch;
            if (text == &w->scratch)
                put_text_cell(&w->scratch, t, line, c);
            const size_t has = rocl_text_width(text->data, text->len);
            const size_t blanks = l->width > has ? l->width - has : 0;
            const bool right = rocl_column_is_number(&t->columns[c]);
            rocl_buf_fill(&w->buf, ' ', indent + (right ? blanks : 0));
            rocl_buf_put(&w->buf, text->data, text->len);
            rocl_buf_fill(&w->buf, ' ', right || c == last ? 0 : blanks);
            indent = GAP;
        }
        rocl_buf_byte(&w->buf, '\n');
        rocl_table_end_row(w);
    }
    if (good) {
        size_t n = 0;
        for (size_t c = 0; c < t->column_count; c++) {
            if (!columns[c].left_out)
                continue;
            rocl_buf_str(&w->buf, n++ ? ", " : "  (--wide also prints: ");
            rocl_buf_str(&w->buf, t->columns[c].title);
        }
        rocl_buf_str(&w->buf, n ? ")\n" : "");
    }
    w->buf.failed |= !good;
    for (size_t c = 0; columns && c < t->column_count; c++) {
        for (size_t r = 0; columns[c].texts && r < t->row_count; r++)
            rocl_buf_free(&columns[c].texts[r]);
        free(columns[c].texts);
    }
    free(columns);
}

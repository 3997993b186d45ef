/* Markdown as GitHub understands it: for reports and issues, with numbers for people. */
#include <ctype.h>
#include <string.h>

#include "table/format.h"

static bool is_word(uint8_t c)
{
    return isalnum(c) || c >= 0x80;
}

/* A backslash goes before what Markdown would take for markup: kernel names are full of <, * and _.
 * An underscore between letters is harmless, and common enough to be left as it is. */
void rocl_table_put_escaped(rocl_buf *to, const void *text, size_t n)
{
    const uint8_t *p = text;
    for (size_t i = 0; i < n; i++) {
        bool inside = i > 0 && i + 1 < n && is_word(p[i - 1]) && is_word(p[i + 1]);
        if (p[i] == '_' ? !inside : memchr("\\|<>*`[]~&", p[i], 10) != NULL)
            rocl_buf_byte(to, '\\');
        rocl_buf_byte(to, p[i]);
    }
}

void rocl_table_put_markdown_cell(rocl_table_writer *w, const rocl_table *t, const rocl_datum *d,
                                  size_t column)
{
    rocl_buf *cell = &w->scratch;
    cell->len = 0;
    if (rocl_datum_has_value(d))
        rocl_cell_put_displayed(cell, t, d, column);
    rocl_buf_str(&w->buf, "| ");
    rocl_table_put_escaped(&w->buf, cell->data, cell->len);
    rocl_buf_byte(&w->buf, ' ');
}

/* Sentences leave no room for columns that matter less. */
static bool is_shown(const rocl_table *t, size_t column)
{
    return !t->fields || !(t->minor >> column & 1);
}

void rocl_table_put_markdown_row(rocl_table_writer *w, const rocl_table *t, const rocl_datum *cells)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (is_shown(t, c))
            rocl_table_put_markdown_cell(w, t, &cells[c], c);
    rocl_buf_str(&w->buf, "|\n");
}

void rocl_table_put_markdown(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf *b = &w->buf;
    rocl_buf_str(b, "## ");
    rocl_table_put_escaped(b, t->title, strlen(t->title));
    rocl_buf_str(b, "\n\n");
    if (t->row_count == 0) {
        rocl_buf_str(b, t->why_empty ? t->why_empty : "nothing");
        rocl_buf_byte(b, '\n');
        return;
    }
    if (t->note) {
        rocl_table_put_escaped(b, t->note, strlen(t->note));
        rocl_buf_str(b, "\n\n");
    }
    if (t->fields && t->row_count == 1) {
        /* Fields one below the other: only those that have a value. */
        rocl_buf_str(&w->buf, "| Field | Value |\n|---|---|\n");
        for (size_t c = 0; c < t->column_count; c++) {
            const rocl_datum *d = rocl_table_cell(t, 0, c);
            if (!rocl_datum_has_value(d) || !is_shown(t, c))
                continue;
            rocl_buf_printf(b, "| %s ", t->columns[c].title);
            rocl_table_put_markdown_cell(w, t, d, c);
            rocl_buf_str(&w->buf, "|\n");
        }
        return;
    }
    for (size_t c = 0; c < t->column_count; c++) {
        if (!is_shown(t, c))
            continue;
        rocl_buf_str(b, "| ");
        rocl_table_put_escaped(b, t->columns[c].title, strlen(t->columns[c].title));
        rocl_buf_byte(b, ' ');
    }
    rocl_buf_str(b, "|\n");
    for (size_t c = 0; c < t->column_count; c++)
        if (is_shown(t, c))
            rocl_buf_str(b, rocl_column_is_number(&t->columns[c]) ? "|---:" : "|---");
    rocl_buf_str(b, "|\n");
    for (size_t r = 0; r < t->row_count; r++) {
        rocl_table_put_markdown_row(w, t, rocl_table_cell(t, r, 0));
        rocl_table_end_row(w);
    }
}

/* Tables as Markdown, as GitHub understands it: for reports and issues. Numbers are those for
 * people. */
#include <ctype.h>

#include "table/format.h"

static bool is_word(uint8_t c)
{
    return isalnum(c) || c >= 0x80;
}

/* A backslash goes before what Markdown would take for markup: kernel names are full of <, * and _.
 * An underscore between letters is harmless, and common enough to be left as it is. */
static void put_escaped(rocl_buf *to, const void *text, size_t n)
{
    const uint8_t *p = text;
    for (size_t i = 0; i < n; i++) {
        bool inside = i > 0 && i + 1 < n && is_word(p[i - 1]) && is_word(p[i + 1]);
        if (p[i] == '_' ? !inside : memchr("\\|<>*`[]~&", p[i], 10) != NULL)
            rocl_buf_byte(to, '\\');
        rocl_buf_byte(to, p[i]);
    }
}

static void put_table(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf *b = &w->buf, *cell = &w->scratch;
    rocl_buf_str(b, "## ");
    put_escaped(b, t->title, strlen(t->title));
    rocl_buf_str(b, "\n\n");
    if (t->row_count == 0) {
        rocl_buf_str(b, "nothing\n");
        return;
    }
    if (t->note) {
        put_escaped(b, t->note, strlen(t->note));
        rocl_buf_str(b, "\n\n");
    }
    for (size_t c = 0; c < t->column_count; c++) {
        rocl_buf_str(b, "| ");
        put_escaped(b, t->columns[c].title, strlen(t->columns[c].title));
        rocl_buf_byte(b, ' ');
    }
    rocl_buf_str(b, "|\n");
    for (size_t c = 0; c < t->column_count; c++)
        rocl_buf_str(b, rocl_column_is_number(&t->columns[c]) ? "|---:" : "|---");
    rocl_buf_str(b, "|\n");
    for (size_t r = 0; r < t->row_count; r++) {
        for (size_t c = 0; c < t->column_count; c++) {
            const rocl_datum *d = rocl_table_cell(t, r, c);
            cell->len = 0;
            if (rocl_datum_has_value(d))
                rocl_datum_put_displayed(cell, d, t->columns[c].unit);
            rocl_buf_str(b, "| ");
            put_escaped(b, cell->data, cell->len);
            rocl_buf_byte(b, ' ');
        }
        rocl_buf_str(b, "|\n");
        rocl_table_end_row(w);
    }
}

void rocl_table_write_markdown(rocl_table_writer *w)
{
    for (size_t i = 0; i < w->tables->count; i++) {
        if (i)
            rocl_buf_byte(&w->buf, '\n');
        put_table(w, &w->tables->tables[i]);
    }
}

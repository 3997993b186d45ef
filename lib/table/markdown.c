/* Tables as Markdown, in GitHub's form: for reports and issues. Numbers are those for people. */
#include "table/forms.h"

#include <ctype.h>

static bool is_word(uint8_t c)
{
    return isalnum(c) || c >= 0x80;
}

/* Would Markdown take it for markup? Kernel names are full of <, * and _; an underscore between
 * letters is harmless, and common enough to be left as it is. */
static bool is_markup(const uint8_t *p, size_t n, size_t i)
{
    if (p[i] == '_')
        return i == 0 || i + 1 == n || !is_word(p[i - 1]) || !is_word(p[i + 1]);
    return memchr("\\|<>*`[]~&", p[i], 10) != NULL;
}

static void put_escaped(rocl_buf *to, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_markup(p, n, i))
            rocl_buf_byte(to, '\\');
        rocl_buf_byte(to, p[i]);
    }
}

static void put_text(rocl_buf *to, const char *s)
{
    put_escaped(to, (const uint8_t *)s, strlen(s));
}

static void put_titles(rocl_buf *to, const rocl_table *t)
{
    for (size_t c = 0; c < t->column_count; c++) {
        rocl_buf_str(to, "| ");
        put_text(to, t->columns[c].title);
        rocl_buf_byte(to, ' ');
    }
    rocl_buf_str(to, "|\n");
    for (size_t c = 0; c < t->column_count; c++)
        rocl_buf_str(to, rocl_table_is_number(&t->columns[c]) ? "|---:" : "|---");
    rocl_buf_str(to, "|\n");
}

static bool put_row(rocl_table_writer *w, rocl_buf *scratch, const rocl_table *t, size_t row)
{
    for (size_t c = 0; c < t->column_count; c++) {
        const rocl_datum *d = rocl_table_cell(t, row, c);
        scratch->len = 0;
        if (rocl_table_has_value(d))
            rocl_table_put_scaled(scratch, d, t->columns[c].unit);
        rocl_buf_str(&w->buf, "| ");
        put_escaped(&w->buf, scratch->data, scratch->len);
        rocl_buf_byte(&w->buf, ' ');
    }
    w->buf.failed |= scratch->failed;
    rocl_buf_str(&w->buf, "|\n");
    return rocl_table_row_end(w);
}

static bool put_table(rocl_table_writer *w, rocl_buf *scratch, const rocl_table *t)
{
    rocl_buf_str(&w->buf, "## ");
    put_text(&w->buf, t->title);
    rocl_buf_str(&w->buf, "\n\n");
    if (t->row_count == 0) {
        rocl_buf_str(&w->buf, "nothing\n");
        return rocl_table_row_end(w);
    }
    if (t->note) {
        put_text(&w->buf, t->note);
        rocl_buf_str(&w->buf, "\n\n");
    }
    put_titles(&w->buf, t);
    bool more = true;
    for (size_t r = 0; more && r < t->row_count; r++)
        more = put_row(w, scratch, t, r);
    return more;
}

void rocl_table_write_markdown(rocl_table_writer *w)
{
    rocl_buf scratch = {0};
    for (size_t i = 0; i < w->tables->count; i++) {
        if (i)
            rocl_buf_byte(&w->buf, '\n');
        if (!put_table(w, &scratch, &w->tables->tables[i]))
            break;
    }
    rocl_buf_free_into(&scratch, &w->buf);
}

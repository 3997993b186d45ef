/* Tables for programs, line by line: CSV as RFC 4180 has it (with plain newlines), and TSV. Several
 * tables have an empty line between them and a first column `report` with the key of the table, so
 * that a pipe can tell their rows apart. */
#include "base/csv_quote.h"
#include "table/forms.h"

/* A program that reads TSV splits at every tab and newline: they cannot stay. */
static void put_flat(rocl_buf *to, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        rocl_buf_byte(to, (uint8_t)p[i] < ' ' ? ' ' : (uint8_t)p[i]);
}

static void put_cell(rocl_buf *to, const rocl_datum *d, char separator)
{
    if (!rocl_table_has_value(d))
        return;
    if (d->is != ROCL_DATUM_TEXT)
        rocl_table_put_raw(to, d);
    else if (separator == '\t')
        put_flat(to, d->text, d->len);
    else
        rocl_csv_put_quoted(to, d->text, d->len);
}

static void put_header(rocl_table_writer *w, const rocl_table *t, bool several, char separator)
{
    if (several)
        rocl_buf_str(&w->buf, "report");
    for (size_t c = 0; c < t->column_count; c++) {
        if (c || several)
            rocl_buf_byte(&w->buf, (uint8_t)separator);
        rocl_buf_str(&w->buf, t->columns[c].key);
    }
    rocl_buf_byte(&w->buf, '\n');
}

static bool put_row(rocl_table_writer *w, const rocl_table *t, size_t row, bool several,
                    char separator)
{
    if (several)
        rocl_buf_str(&w->buf, t->key);
    for (size_t c = 0; c < t->column_count; c++) {
        if (c || several)
            rocl_buf_byte(&w->buf, (uint8_t)separator);
        put_cell(&w->buf, rocl_table_cell(t, row, c), separator);
    }
    rocl_buf_byte(&w->buf, '\n');
    return rocl_table_row_end(w);
}

static void write_lines(rocl_table_writer *w, char separator)
{
    bool several = w->tables->count > 1;
    for (size_t i = 0; i < w->tables->count; i++) {
        const rocl_table *t = &w->tables->tables[i];
        if (i)
            rocl_buf_byte(&w->buf, '\n');
        put_header(w, t, several, separator);
        for (size_t r = 0; r < t->row_count; r++) {
            if (!put_row(w, t, r, several, separator))
                return;
        }
    }
}

void rocl_table_write_csv(rocl_table_writer *w)
{
    write_lines(w, ',');
}

void rocl_table_write_tsv(rocl_table_writer *w)
{
    write_lines(w, '\t');
}

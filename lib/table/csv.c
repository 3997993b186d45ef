/* Tables for programs, line by line: CSV as RFC 4180 has it (with plain newlines), and TSV. Several
 * tables have an empty line between them and a first column `report` with the key of the table, so
 * that a pipe can tell their rows apart. */
#include "base/text.h"
#include "table/format.h"

static void put_cell(rocl_buf *to, const rocl_datum *d, char separator)
{
    if (!rocl_datum_has_value(d))
        return;
    if (d->type != ROCL_DATUM_TEXT) {
        rocl_datum_put_exact(to, d);
    } else if (separator == ',') {
        rocl_csv_put_quoted(to, d->text, d->len);
    } else {
        /* A program that reads TSV splits at every tab and newline: they cannot stay. */
        for (size_t i = 0; i < d->len; i++)
            rocl_buf_byte(to, (uint8_t)d->text[i] < ' ' ? ' ' : (uint8_t)d->text[i]);
    }
}

static void put_table(rocl_table_writer *w, const rocl_table *t, bool several, char separator)
{
    rocl_buf *b = &w->buf;
    if (several)
        rocl_buf_str(b, "report");
    for (size_t c = 0; c < t->column_count; c++) {
        if (c || several)
            rocl_buf_byte(b, (uint8_t)separator);
        rocl_buf_str(b, t->columns[c].key);
    }
    rocl_buf_byte(b, '\n');
    for (size_t r = 0; r < t->row_count; r++) {
        if (several)
            rocl_buf_str(b, t->key);
        for (size_t c = 0; c < t->column_count; c++) {
            if (c || several)
                rocl_buf_byte(b, (uint8_t)separator);
            put_cell(b, rocl_table_cell(t, r, c), separator);
        }
        rocl_buf_byte(b, '\n');
        rocl_table_end_row(w);
    }
}

static void write_lines(rocl_table_writer *w, char separator)
{
    for (size_t i = 0; i < w->tables->count; i++) {
        if (i)
            rocl_buf_byte(&w->buf, '\n');
        put_table(w, &w->tables->tables[i], w->tables->count > 1, separator);
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

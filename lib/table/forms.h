/* Inside the table sinks: what the formats share. For lib/table/ only. */
#ifndef ROCL_TABLE_FORMS_H
#define ROCL_TABLE_FORMS_H

#include "table/table.h"
#include "base/buf.h"
#include "base/out.h"

/* Formats append to `buf` and never see an error: they stop when rocl_table_row_end says so. */
typedef struct rocl_table_writer {
    const rocl_tables *tables;
    unsigned width; /* of the terminal, 0: any */
    rocl_buf buf;
    rocl_out *out;
    rocl_error *err;
    rocl_status status;
} rocl_table_writer;

/* To be called now and then, at least once per row; false: nothing more can be written. */
bool rocl_table_row_end(rocl_table_writer *w);

static inline const rocl_datum *rocl_table_cell(const rocl_table *t, size_t row, size_t column)
{
    return &t->cells[row * t->column_count + column];
}

/* Is there a value? What is not a number (0/0) or infinite is none. */
bool rocl_table_has_value(const rocl_datum *d);
/* A number as it is: integers as integers, reals in their shortest form. */
void rocl_table_put_raw(rocl_buf *to, const rocl_datum *d);

/* ---- for people (table_cell.c) --------------------------------------------------------------- */

/* The datum in a unit that makes it short ("12.3 us"), "-" for none. Text comes out as valid UTF-8
 * without control characters. */
void rocl_table_put_scaled(rocl_buf *to, const rocl_datum *d, rocl_unit unit);
/* Code points of valid UTF-8. */
size_t rocl_table_text_width(const uint8_t *p, size_t n);
/* Shortens texts to a width of 16 or more, so that different ones stay different. False when memory
 * is out. */
bool rocl_table_shorten(rocl_buf *texts, size_t count, size_t width);
/* Are the cells of a column set against its right edge? */
static inline bool rocl_table_is_number(const rocl_table_column *c)
{
    return c->unit != ROCL_UNIT_TEXT && c->unit != ROCL_UNIT_SENTENCE;
}

/* ---- the formats ----------------------------------------------------------------------------- */

void rocl_table_write_text(rocl_table_writer *w);
void rocl_table_write_csv(rocl_table_writer *w);
void rocl_table_write_tsv(rocl_table_writer *w);
void rocl_table_write_json(rocl_table_writer *w);
void rocl_table_write_console(rocl_table_writer *w);
void rocl_table_write_html(rocl_table_writer *w);
void rocl_table_write_markdown(rocl_table_writer *w);

#endif

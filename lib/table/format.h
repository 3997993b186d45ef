/* What the formats of tables share. For lib/table/ only. */
#pragma once

#include "base/buf.h"
#include "base/out.h"
#include "table/table.h"

/* The writer passed to a format: it appends the tables to `buf`, and calls rocl_table_end_row after
 * each row. It never sees an error: after one, everything it appends is dropped. */
typedef struct rocl_table_writer {
    const rocl_tables *tables;
    unsigned width; /* of the terminal, 0: any */
    rocl_summary_options summary;
    rocl_buf buf;
    rocl_buf scratch; /* for a cell: a format empties it before use */
    rocl_out *out;
    rocl_error *err;
    rocl_status status; /* the first failure */
} rocl_table_writer;

static inline bool rocl_cell_is(const rocl_table *t, size_t row, const char *key, const char *text)
{
    return rocl_datum_is(rocl_table_find_cell(t, row, key), text);
}

/* Writes the buffer out when it is large. */
void rocl_table_end_row(rocl_table_writer *w);
/* Writes out all that is in the buffer. */
void rocl_table_flush(rocl_table_writer *w);

/* ---- cells ----------------------------------------------------------------------------------- */

/* Are the cells of a column set against its right edge? */
static inline bool rocl_column_is_number(const rocl_table_column *c)
{
    return c->unit != ROCL_UNIT_TEXT && c->unit != ROCL_UNIT_SENTENCE;
}

/* What JSON calls the unit: "ns". */
const char *rocl_unit_name(rocl_unit unit);
/* A number as it is: integers as integers, reals in their shortest form. */
void rocl_datum_put_exact(rocl_buf *to, const rocl_datum *d);
/* For people: a number with three digits in a unit that makes it short ("12.3 us"), "-" for no
 * value. Text comes out as valid UTF-8 without control characters. */
void rocl_datum_put_displayed(rocl_buf *to, const rocl_datum *d, rocl_unit unit);
/* Does that for a cell in a table: times are seconds since its origin, to the microsecond. */
void rocl_cell_put_displayed(rocl_buf *to, const rocl_table *t, const rocl_datum *cell,
                             size_t column);
/* Code points of valid UTF-8. */
size_t rocl_text_width(const uint8_t *p, size_t n);
/* Shortens texts to a width of 16 or more, so that different ones stay different. False when memory
 * is out. */
bool rocl_table_shorten(rocl_buf *texts, size_t count, size_t width);

/* ---- the formats that have a file of their own; write.c has the others and the list ---------- */

typedef void rocl_table_write_fn(rocl_table_writer *w);
rocl_table_write_fn rocl_table_write_console, rocl_table_write_html, rocl_table_write_json,
    rocl_table_write_junit, rocl_table_write_github;
/* Markdown of a comparison. */
rocl_table_write_fn rocl_table_write_comment;
bool rocl_tables_are_comparison(const rocl_tables *all);
/* What a row of "compare_limits" says, in words (junit.c); whether nothing could be tested. */
void rocl_limit_put(rocl_buf *to, const rocl_table *t, size_t row);
bool rocl_limits_untested(const rocl_table *limits);
/* Markdown: a table; a cell; a text with a backslash before what would be markup (markdown.c). */
void rocl_table_put_markdown(rocl_table_writer *w, const rocl_table *t);
void rocl_table_put_markdown_cell(rocl_table_writer *w, const rocl_table *t, const rocl_datum *d,
                                  size_t column);
void rocl_table_put_escaped(rocl_buf *to, const void *text, size_t n);
void rocl_table_put_text(rocl_table_writer *w, const rocl_table *t);

/* A row alone, into w->buf. */
void rocl_table_put_json_row(rocl_table_writer *w, const rocl_table *t, const rocl_datum *cells);
void rocl_table_put_markdown_row(rocl_table_writer *w, const rocl_table *t,
                                 const rocl_datum *cells);

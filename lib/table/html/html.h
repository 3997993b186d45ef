/* The report as one HTML file, private to lib/table/html/: nothing is loaded from anywhere.
 *
 *     page.c              tabs and tables
 *     chart.c             the picture above a table
 *     put.c               text and numbers as HTML
 *     page.css, page.js   what the page looks like, and what it does */
#ifndef ROCL_TABLE_HTML_HTML_H
#define ROCL_TABLE_HTML_HTML_H

#include "table/format.h"

/* A printf that knows %s, %.*s, %d, %.Nf and %%. The format is HTML; in texts the characters that
 * mean something there are escaped. */
void rocl_html_put(rocl_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A picture of the table, where one says more than its numbers; else nothing. */
void rocl_html_put_chart(rocl_buf *b, const rocl_table *t);

#endif

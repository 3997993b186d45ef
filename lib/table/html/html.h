/* The report as one HTML file, private to lib/table/html/: page, charts, and what the browser
 * needs. Nothing is loaded from anywhere. */
#ifndef ROCL_TABLE_HTML_HTML_H
#define ROCL_TABLE_HTML_HTML_H

#include "table/forms.h"

extern const char rocl_html_style[], rocl_html_script[];

/* Text with the characters that mean something to HTML escaped. */
void rocl_html_put_text(rocl_buf *b, const char *p, size_t n);

/* A picture of the table, where one says more than its numbers; else nothing. */
void rocl_html_put_chart(rocl_buf *b, const rocl_table *t);

/* The column with this key; column_count: there is none. */
size_t rocl_html_column(const rocl_table *t, const char *key);

#endif

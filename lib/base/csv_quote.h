/* Quoting for CSV, by libcsv: a text in quotes, and those in it doubled. */
#ifndef ROCL_BASE_CSV_QUOTE_H
#define ROCL_BASE_CSV_QUOTE_H

#include "base/buf.h"

/* Appends n bytes in quotes. */
void rocl_csv_put_quoted(rocl_buf *to, const char *p, size_t n);
/* Appends the quoted text only where it holds a quote, for rows that bring their own quotes: most
 * texts hold none and need no copy (a rocl_text_format_fn). */
void rocl_csv_quote(rocl_buf *to, const char *p, size_t n);

#endif

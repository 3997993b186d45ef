/* Text and numbers as HTML. */
#include "table/html/html.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rocl_html_put(rocl_buf *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    for (const char *p = format;;) {
        char text[64];
        const char *end = strchrnul(p, '%');
        rocl_buf_put(b, p, (size_t)(end - p));
        if (!*end)
            break;
        p = end + 2;
        if (end[1] == 's') {
            const char *s = va_arg(ap, const char *);
            rocl_markup_put(b, s, strlen(s));
        } else if (end[1] == 'd') {
            snprintf(text, sizeof text, "%d", va_arg(ap, int));
            rocl_buf_str(b, text);
        } else if (end[1] == '%') {
            rocl_buf_byte(b, '%');
        } else if (end[2] == '*') {
            const int n = va_arg(ap, int);
            rocl_markup_put(b, va_arg(ap, const char *), (size_t)n);
            p = end + 4;
        } else {
            snprintf(text, sizeof text, "%.*f", end[2] - '0', va_arg(ap, double));
            rocl_buf_str(b, text);
            p = end + 4;
        }
    }
    va_end(ap);
}

void rocl_html_put_cell(rocl_buf *b, const rocl_table *t, size_t row, size_t column)
{
    rocl_buf text = {0};
    rocl_cell_put_displayed(&text, t, rocl_table_cell(t, row, column), column);
    rocl_markup_put(b, (const char *)text.data, text.len);
    rocl_buf_free_into(&text, b);
}

/* Text and numbers as HTML. */
#include "table/html/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_escaped(rocl_buf *b, const char *p, size_t n)
{
    size_t from = 0; /* what is to be copied as it is begins here */
    for (size_t i = 0; i < n; i++) {
        const char *entity = NULL;
        switch (p[i]) {
        case '&':
            entity = "&amp;";
            break;
        case '<':
            entity = "&lt;";
            break;
        case '>':
            entity = "&gt;";
            break;
        case '"':
            entity = "&quot;";
            break;
        default:
            continue;
        }
        rocl_buf_put(b, p + from, i - from);
        rocl_buf_str(b, entity);
        from = i + 1;
    }
    if (from < n) /* an empty text may be NULL */
        rocl_buf_put(b, p + from, n - from);
}

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
            put_escaped(b, s, strlen(s));
        } else if (end[1] == 'd') {
            snprintf(text, sizeof text, "%d", va_arg(ap, int));
            rocl_buf_str(b, text);
        } else if (end[1] == '%') {
            rocl_buf_byte(b, '%');
        } else if (end[2] == '*') {
            const int n = va_arg(ap, int);
            put_escaped(b, va_arg(ap, const char *), (size_t)n);
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
    put_escaped(b, (const char *)text.data, text.len);
    rocl_buf_free_into(&text, b);
}

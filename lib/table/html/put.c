/* Text and numbers as HTML. */
#include "table/html/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_escaped(rocl_buf *b, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        switch (p[i]) {
        case '&':
            rocl_buf_str(b, "&amp;");
            break;
        case '<':
            rocl_buf_str(b, "&lt;");
            break;
        case '>':
            rocl_buf_str(b, "&gt;");
            break;
        case '"':
            rocl_buf_str(b, "&quot;");
            break;
        default:
            rocl_buf_byte(b, (uint8_t)p[i]);
        }
    }
}

void rocl_html_put(rocl_buf *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    for (const char *p = format; *p;) {
        char text[64];
        const size_t before = strcspn(p, "%");
        rocl_buf_put(b, p, before);
        p += before;
        if (!strncmp(p, "%s", 2)) {
            const char *s = va_arg(ap, const char *);
            put_escaped(b, s, strlen(s));
            p += 2;
        } else if (!strncmp(p, "%.*s", 4)) {
            const int n = va_arg(ap, int);
            put_escaped(b, va_arg(ap, const char *), (size_t)n);
            p += 4;
        } else if (!strncmp(p, "%d", 2)) {
            snprintf(text, sizeof text, "%d", va_arg(ap, int));
            rocl_buf_str(b, text);
            p += 2;
        } else if (!strncmp(p, "%.", 2)) { /* a digit and f; all numbers are coordinates */
            snprintf(text, sizeof text, "%.*f", p[2] - '0', va_arg(ap, double));
            rocl_buf_str(b, text);
            p += 4;
        } else if (*p) {
            rocl_buf_byte(b, '%');
            p += 2;
        }
    }
    va_end(ap);
}

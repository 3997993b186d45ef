#include "base/csv_quote.h"

#include <csv.h>
#include <string.h>

void rocl_csv_quote(rocl_buf *to, const char *p, size_t n)
{
    if (memchr(p, '"', n))
        rocl_csv_put_quoted(to, p, n);
}

void rocl_csv_put_quoted(rocl_buf *to, const char *p, size_t n)
{
    if (rocl_buf_reserve(to, 2 * n + 2))
        to->len += csv_write(to->data + to->len, 2 * n + 2, p, n);
}

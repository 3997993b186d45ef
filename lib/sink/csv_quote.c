/* Quoting, by libcsv: everything in quotes, quotes doubled. Kernel names and API functions come
 * back in row after row, so what a text looks like is worked out when it is met and kept. */
#include "sink/csv.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>

/* Most texts hold no quote: those need no copy. */
bool rocl_csv_quote_fill(const rocl_csv_quotes *q, rocl_csv_quoted *e, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(q->strings, text, &n);
    free(e->own);
    e->own = NULL;
    e->text = 0;
    e->bytes = s;
    e->len = n;
    if (memchr(s, '"', n)) {
        e->own = malloc(2 * n + 2);
        if (!e->own)
            return false;
        e->bytes = e->own;
        e->len = csv_write(e->own, 2 * n + 2, s, n);
    }
    e->text = text + 1;
    return true;
}

void rocl_csv_quotes_free(rocl_csv_quotes *q)
{
    for (size_t i = 0; i < CSV_QUOTES; i++)
        free(q->entries[i].own);
    memset(q->entries, 0, sizeof q->entries);
}

void rocl_csv_put_quoted(rocl_buf *to, const char *p, size_t n)
{
    if (rocl_buf_room(to, 2 * n + 2))
        to->len += csv_write(to->data + to->len, 2 * n + 2, p, n);
}

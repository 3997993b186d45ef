/* A growable byte buffer. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool rocl_buf_grow(rocl_buf *b, size_t n)
{
    const bool possible = n <= SIZE_MAX / 2 && b->len <= SIZE_MAX / 2 - n;
    size_t need = possible ? b->len + n : 0, cap = b->cap + b->cap / 2;
    if (possible && need <= b->cap)
        return true;
    if (cap < need)
        cap = need;
    if (cap < 256)
        cap = 256;
    uint8_t *data = possible && !b->fixed ? realloc(b->data, cap) : NULL;
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

void rocl_buf_printf(rocl_buf *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    size_t left = b->cap - b->len;
    int n = vsnprintf(left ? (char *)b->data + b->len : NULL, left, fmt, args);
    if (n >= 0 && (size_t)n >= left && rocl_buf_grow(b, (size_t)n + 1))
        vsnprintf((char *)b->data + b->len, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
    b->failed |= n < 0;
    if (!b->failed)
        b->len += (size_t)n;
}

char *rocl_concat(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    char *s = malloc(n + m + 1);
    if (s) {
        memcpy(s, a, n);
        memcpy(s + n, b, m + 1);
    }
    return s;
}

void rocl_buf_free_into(rocl_buf *b, rocl_buf *into)
{
    into->failed |= b->failed;
    rocl_buf_free(b);
}

void rocl_buf_free(rocl_buf *b)
{
    if (!b->fixed)
        free(b->data);
    *b = (rocl_buf){0};
}

#include "base/utf8.h"

/* Length of the valid sequence at p (1..4), 0 when there is none. Table 3-7 of the Unicode
 * standard. */
static size_t sequence(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
        return 0;
    unsigned lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < lo || p[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool rocl_utf8_valid(const char *p, size_t n)
{
    const unsigned char *s = (const unsigned char *)p;
    for (size_t i = 0, len; i < n; i += len)
        if (!(len = sequence(s + i, n - i)))
            return false;
    return true;
}

void rocl_utf8_put(rocl_buf *b, const char *p, size_t n)
{
    const unsigned char *s = (const unsigned char *)p;
    for (size_t i = 0; i < n;) {
        size_t len = sequence(s + i, n - i);
        if (len)
            rocl_buf_put(b, s + i, len);
        else
            rocl_buf_str(b, "\xef\xbf\xbd");
        i += len ? len : 1;
    }
}

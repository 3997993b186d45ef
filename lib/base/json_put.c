#include "base/json_put.h"

#include "base/utf8.h"

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Is some of the eight bytes a control character, a quote, a backslash, or beyond ASCII? */
static bool special(uint64_t w)
{
    uint64_t quote = w ^ EACH('"'), slash = w ^ EACH('\\');
    return ((w - EACH(0x20)) | w | (quote - EACH(1)) | (slash - EACH(1))) & EACH(0x80);
}

static void put_escaped(rocl_buf *b, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char names[] = "btn?fr"; /* of \b (8) to \r (13) */
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    size_t n = 6;
    if (c == '"' || c == '\\' || (c >= 8 && c <= 13 && c != 11)) {
        text[1] = c > 13 ? (char)c : names[c - 8];
        n = 2;
    }
    rocl_buf_put(b, text, n);
}

/* The length of the run of bytes beyond ASCII. */
static size_t foreign(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && (p[i] & 0x80))
        i++;
    return i;
}

static size_t put_foreign(rocl_buf *b, const char *p, size_t n)
{
    size_t bad = 0;
    if (rocl_utf8_valid(p, n)) {
        rocl_buf_put(b, p, n);
        return 0;
    }
    for (size_t i = 0, len; i < n; i += len) {
        for (len = 1; len < 4 && i + len < n && (p[i + len] & 0xc0) == 0x80;)
            len++;
        while (len > 1 && !rocl_utf8_valid(p + i, len))
            len--;
        bad += !rocl_utf8_valid(p + i, len);
        rocl_utf8_put(b, p + i, len);
    }
    return bad;
}

size_t rocl_json_put(rocl_buf *b, const char *p, size_t n)
{
    size_t bad = 0;
    while (n) {
        uint64_t w;
        if (!rocl_buf_reserve(b, n + 8) || !b->data)
            return bad;
        uint8_t *to = b->data + b->len;
        for (; n >= 8; p += 8, n -= 8, to += 8) {
            memcpy(&w, p, 8);
            if (special(w))
                break;
            memcpy(to, &w, 8);
        }
        for (; n && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\' && !(*p & 0x80); p++, n--)
            *to++ = (uint8_t)*p;
        b->len = (size_t)(to - b->data);
        if (n) {
            size_t run = foreign(p, n);
            if (run)
                bad += put_foreign(b, p, run);
            else
                put_escaped(b, (unsigned char)*p);
            p += run ? run : 1;
            n -= run ? run : 1;
        }
    }
    return bad;
}

bool rocl_json_plain(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
            return false;
    return rocl_utf8_valid(p, n);
}

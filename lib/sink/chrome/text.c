/* Texts as they stand in JSON. Kernel names and API functions come back in event after event, so
 * what a text looks like is worked out when it is met and kept. */
#include <stdlib.h>

#include "base/utf8.h"
#include "sink/chrome/chrome.h"

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

static void put_special(rocl_buf *b, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char s[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c >= 0x20) {
        s[1] = (char)c;
        rocl_buf_put(b, s, 2);
    } else {
        rocl_buf_put(b, s, sizeof s);
    }
}

/* What has a meaning in JSON is ASCII, and no byte of a longer sequence is: so the parts between
 * can be judged alone. */
void chrome_escape(rocl_buf *b, const char *p, size_t n)
{
    size_t from = 0;
    for (size_t i = 0; i <= n; i++) {
        if (i < n && is_plain((unsigned char)p[i]))
            continue;
        rocl_utf8_put(b, p + from, i - from);
        if (i < n)
            put_special(b, (unsigned char)p[i]);
        from = i + 1;
    }
}

static bool needs_escape(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_plain((unsigned char)p[i]))
            return true;
    return !rocl_utf8_valid(p, n);
}

bool chrome_texts_fill(const chrome_texts *c, chrome_text *e, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(c->strings, text, &n);
    free(e->own);
    *e = (chrome_text){.bytes = s, .len = n};
    if (needs_escape(s, n)) {
        rocl_buf b = {0};
        chrome_escape(&b, s, n);
        if (b.failed) {
            rocl_buf_free(&b);
            return false;
        }
        e->own = (char *)b.data;
        e->bytes = e->own;
        e->len = b.len;
    }
    e->text = text + 1;
    return true;
}

void chrome_texts_free(chrome_texts *c)
{
    for (size_t i = 0; i < CHROME_TEXTS; i++)
        free(c->entries[i].own);
}

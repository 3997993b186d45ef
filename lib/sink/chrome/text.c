/* Texts as they stand in JSON. Kernel names and API functions come back in event after event, so
 * what a text looks like is worked out when it is met and kept. */
#include <stdlib.h>

#include "base/json_put.h"
#include "sink/chrome/chrome.h"

bool chrome_texts_fill(const chrome_texts *c, chrome_text *e, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(c->strings, text, &n);
    free(e->own);
    *e = (chrome_text){.bytes = s, .len = n};
    if (!rocl_json_plain(s, n)) {
        rocl_buf b = {0};
        rocl_json_put(&b, s, n);
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

#include "base/text_cache.h"

#include <stdlib.h>

bool rocl_text_cache_fill(const rocl_text_cache *f, rocl_cached_text *e, uint32_t text)
{
    rocl_buf b = {0};
    size_t n;
    const char *p = rocl_strings_get(f->strings, text, &n);
    free(e->own);
    *e = (rocl_cached_text){.bytes = p, .len = n};
    f->make(&b, p, n);
    if (b.failed) {
        rocl_buf_free(&b);
        return false;
    }
    if (b.len) {
        e->own = (char *)b.data;
        e->bytes = e->own;
        e->len = b.len;
    }
    e->text = text + 1;
    return true;
}

void rocl_text_cache_free(rocl_text_cache *f)
{
    for (size_t i = 0; i < ROCL_TEXT_CACHE_SIZE; i++)
        free(f->entries[i].own);
    memset(f->entries, 0, sizeof f->entries);
}

#include "base/text_cache.h"

#include <stdlib.h>

bool rocl_form_fill(const rocl_forms *f, rocl_form *e, uint32_t text)
{
    rocl_buf b = {0};
    size_t n;
    const char *p = rocl_strings_get(f->strings, text, &n);
    free(e->own);
    *e = (rocl_form){.bytes = p, .len = n};
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

void rocl_forms_free(rocl_forms *f)
{
    for (size_t i = 0; i < ROCL_FORMS; i++)
        free(f->entries[i].own);
    memset(f->entries, 0, sizeof f->entries);
}

/* Texts as an output shows them: in quotes, escaped. Kernel names and API functions come back in
 * event after event, so what a text looks like is worked out when it is met and kept. */
#ifndef ROCL_BASE_TEXT_CACHE_H
#define ROCL_BASE_TEXT_CACHE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/strings.h"

/* Direct-mapped by text id. */
enum { ROCL_TEXT_CACHE_SIZE = 1024 };

typedef struct rocl_cached_text {
    const char *bytes;
    size_t len;
    char *own;     /* NULL: bytes are those of the text */
    uint32_t text; /* + 1, 0: empty entry */
} rocl_cached_text;

/* Appends what a text looks like, or nothing where it stays as it is: most do, and are not copied.
 */
typedef void rocl_text_format_fn(rocl_buf *to, const char *p, size_t n);

typedef struct rocl_text_cache { /* of one worker */
    const rocl_strings *strings;
    rocl_text_format_fn *make;
    rocl_cached_text entries[ROCL_TEXT_CACHE_SIZE];
} rocl_text_cache;

void rocl_text_cache_free(rocl_text_cache *f);
/* False when memory is out. */
bool rocl_text_cache_fill(const rocl_text_cache *f, rocl_cached_text *e, uint32_t text);

/* NULL when memory is out. Valid until the next call. */
static inline const rocl_cached_text *rocl_text_cache_get(rocl_text_cache *f, uint32_t text)
{
    rocl_cached_text *e = &f->entries[text % ROCL_TEXT_CACHE_SIZE];
    return e->text == text + 1 || rocl_text_cache_fill(f, e, text) ? e : NULL;
}

#endif

/* Texts as an output shows them: in quotes, escaped. Kernel names and API functions come back in
 * event after event, so what a text looks like is worked out when it is met and kept. */
#ifndef ROCL_BASE_TEXT_CACHE_H
#define ROCL_BASE_TEXT_CACHE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/strings.h"

/* Direct-mapped by text id. */
enum { ROCL_FORMS = 1024 };

typedef struct rocl_form {
    const char *bytes;
    size_t len;
    char *own;     /* NULL: bytes are those of the text */
    uint32_t text; /* + 1, 0: empty entry */
} rocl_form;

/* Appends what a text looks like, or nothing where it stays as it is: most do, and are not copied.
 */
typedef void rocl_form_fn(rocl_buf *to, const char *p, size_t n);

typedef struct rocl_forms { /* of one worker */
    const rocl_strings *strings;
    rocl_form_fn *make;
    rocl_form entries[ROCL_FORMS];
} rocl_forms;

void rocl_forms_free(rocl_forms *f);
/* False when memory is out. */
bool rocl_form_fill(const rocl_forms *f, rocl_form *e, uint32_t text);

/* NULL when memory is out. Valid until the next call. */
static inline const rocl_form *rocl_forms_get(rocl_forms *f, uint32_t text)
{
    rocl_form *e = &f->entries[text % ROCL_FORMS];
    return e->text == text + 1 || rocl_form_fill(f, e, text) ? e : NULL;
}

#endif

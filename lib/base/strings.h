/* Interned strings: each distinct byte string once, a 32-bit id each. Shared by all workers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

typedef struct rocl_strings rocl_strings;

rocl_strings *rocl_strings_new(void); /* id 0 is "" from the start; NULL when memory is out */
void rocl_strings_free(rocl_strings *s);

/* The id of the bytes (may hold NUL); ROCL_NONE when memory is out. Thread-safe (striped locks).
 * Ids depend on the order of arrival, hence on -j: never sort or print by id. */
uint32_t rocl_strings_put(rocl_strings *s, const char *p, size_t n);

/* The bytes of an id, NUL-terminated, alive until the free. Lock-free. Out-of-range ids, ROCL_NONE
 * among them, give "". len may be NULL. */
const char *rocl_strings_get(const rocl_strings *s, uint32_t id, size_t *len);

/* Were all texts kept? Callers go on with ROCL_NONE, which reads as "", so this must be checked
 * before a result is called complete. rocl_strings_note_lost() notes a text that could not even be
 * put. */
bool rocl_strings_complete(const rocl_strings *s);
void rocl_strings_note_lost(rocl_strings *s);

size_t rocl_strings_count(const rocl_strings *s);

/* Length of the longest string. */
size_t rocl_strings_longest(const rocl_strings *s);

/* Number of strings that are not valid UTF-8. */
uint32_t rocl_strings_not_utf8(const rocl_strings *s);

/* ---- texts as an output displays them -------------------------------------------------------- */

/* Quoted or escaped. Kernel names and API functions recur in event after event, so the displayed
 * form is made once and kept. */

/* Direct-mapped by text id. */
enum { ROCL_TEXT_CACHE_SIZE = 1024 };

typedef struct rocl_cached_text {
    const char *bytes;
    size_t len;
    char *own;     /* NULL: bytes are those of the text */
    uint32_t text; /* + 1, 0: empty entry */
} rocl_cached_text;

/* Appends the displayed form of a text, or nothing if it is the same: most are, and are not
 * copied. */
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

/* Interned strings: each distinct byte string once, a 32-bit id each. Shared by all workers. */
#ifndef ROCL_BASE_STRINGS_H
#define ROCL_BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rocl_strings rocl_strings;

rocl_strings *rocl_strings_new(void); /* id 0 is "" from the start; NULL when memory is out */
void rocl_strings_free(rocl_strings *s);

/* The id of the bytes (may hold NUL); ROCL_NONE when memory is out. Thread-safe (striped locks).
 * Ids depend on the order of arrival, hence on -j: never sort or print by id. */
uint32_t rocl_strings_put(rocl_strings *s, const char *p, size_t n);

/* The bytes of an id, NUL-terminated, alive until the free. Lock-free. Out-of-range ids, ROCL_NONE
 * among them, give "". len may be NULL. */
const char *rocl_strings_get(const rocl_strings *s, uint32_t id, size_t *len);

/* Callers go on with ROCL_NONE, which reads as "": before a result is called complete, somebody
 * must ask whether all texts were kept. `lose` notes one that could not even be put. */
bool rocl_strings_complete(const rocl_strings *s);
void rocl_strings_note_lost(rocl_strings *s);

size_t rocl_strings_count(const rocl_strings *s);

/* How many of them are not valid UTF-8. */
uint32_t rocl_strings_not_utf8(const rocl_strings *s);

#endif

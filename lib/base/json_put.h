/* Text as the inside of a JSON string. */
#ifndef ROCL_BASE_JSON_PUT_H
#define ROCL_BASE_JSON_PUT_H

#include "base/buf.h"

/* Appends the text escaped, without the quotes: valid UTF-8 whatever it holds. Returns how many
 * invalid bytes became U+FFFD. */
size_t rocl_json_put(rocl_buf *b, const char *p, size_t n);

/* Is the text the same inside a JSON string? */
bool rocl_json_plain(const char *p, size_t n);

#endif

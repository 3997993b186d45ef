/* Text that other programs must be able to read: valid UTF-8, whatever the trace holds. */
#ifndef ROCL_BASE_UTF8_H
#define ROCL_BASE_UTF8_H

#include "base/buf.h"

/* Is it valid UTF-8 (no overlong forms, no surrogates)? */
bool rocl_utf8_valid(const char *p, size_t n);

/* Appends the text with each invalid byte replaced by U+FFFD. */
void rocl_utf8_put(rocl_buf *b, const char *p, size_t n);

#endif

/* Regular expressions of options, within limits: the C library crashes on some thousand nested
 * parentheses, and needs gigabytes for repetitions of repetitions. */
#pragma once

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* The longest expression, the deepest nesting of parentheses, and the most copies of atoms that
 * repetitions may make: (a{1,9}){1,9} makes 80. Within these limits it takes less than 150 MiB. */
enum { ROCL_REGEX_LENGTH = 32 << 10, ROCL_REGEX_DEPTH = 250, ROCL_REGEX_COPIES = 2048 };

/* regcomp() with REG_EXTENDED and `flags`. Messages begin with the option, and show `text`, as the
 * user wrote it. If it fails, there is nothing to free in *re. */
rocl_status rocl_regex_compile(regex_t *re, const char *option, const char *text,
                               const char *pattern, int flags, rocl_error *err);

/* Does it match in text[0..len), which may hold NUL, and must be followed by a NUL? */
bool rocl_regex_matches(const regex_t *re, const char *text, size_t len);

/* Texts of a baseline: those that are not UTF-8 are the same again when they are read. */
#pragma once

#include "base/json.h"

/* Adds a member: "KEY":"..." or, of a text that is not UTF-8, "bytes":"HEX". */
void rocl_baseline_put_text(rocl_buf *to, const char *key, const char *p, size_t n);
/* Appends the value of such a member. False: it is not one. */
bool rocl_baseline_read_text(rocl_buf *to, const rocl_json_token *v, bool hex);

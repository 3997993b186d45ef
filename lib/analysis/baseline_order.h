/* The member "order" of a baseline: its steps, and the kernels of one of them in their order. */
#pragma once

#include "analysis/side_steps.h"
#include "base/json.h"

/* Writes the value. number: by key of a name which one it is in the member "names". */
void rocl_baseline_put_order(rocl_buf *to, const rocl_side_steps *s, const uint32_t *number);

/* Reads the value, which was just returned. keys: by number of a name, as many as there are.
 * ROCL_INPUT without a message: *what says what is wrong, unless the reader does. */
rocl_status rocl_baseline_read_order(rocl_json *r, rocl_side_steps *s, const uint32_t *keys,
                                     size_t key_count, const char **what, rocl_error *err);

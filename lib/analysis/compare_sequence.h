/* The kernels of a step of A and of one of B in their order: what was inserted, deleted, replaced
 * and moved, and what is the same but takes another time. */
#pragma once

#include "analysis/side_steps.h"

extern const rocl_table_def rocl_compare_sequence_table;

/* Adds the table; without rows it says why. keys: of names, see rocl_side_key(). same: by key of a
 * name the one that it counts as: of kernels that were renamed their name in A. */
rocl_status rocl_compare_sequence_put(const rocl_side_steps *a, const rocl_side_steps *b,
                                      const rocl_strings *keys, const uint32_t *same,
                                      rocl_tables *out, const rocl_collector *c, rocl_error *err);

/* Flatbuffers, written front to back: a table, then what it refers to. Positions and alignments are
 * relative to the begin of the buffer, which must be empty at first. */
#pragma once

#include "base/buf.h"

enum { FLAT_FIELDS_MAX = 8 };

/* A table: positions of its fields, 0 where it has none. */
typedef struct rocl_flat_table {
    size_t at, fields[FLAT_FIELDS_MAX];
} rocl_flat_table;

/* Appends a table of zeros. `sizes` has a digit for each field: its bytes (1, 2, 4 or 8), '4' for
 * references, '0' for a field that is left out. */
rocl_flat_table rocl_flat_put_table(rocl_buf *b, const char *sizes);
/* Overwrites `size` bytes with a number. */
void rocl_flat_set(rocl_buf *b, size_t at, size_t size, int64_t v);
/* Makes the reference at a position refer to what comes next, which begins at a multiple of 4. */
void rocl_flat_refer(rocl_buf *b, size_t at);

/* Appends a text. */
void rocl_flat_put_text(rocl_buf *b, const char *s);
/* Appends a vector of n zeros of `size` bytes, whose elements begin at a multiple of `align`, and
 * makes the reference at `from` refer to it; returns the position of the first element. */
size_t rocl_flat_put_vector(rocl_buf *b, size_t from, size_t n, size_t size, size_t align);

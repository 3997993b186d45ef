/* Events <-> records of a sorter, for outputs that are tables of columns: all that a column of a
 * relation may be filled from, but the arguments. */
#ifndef ROCL_SINK_COLUMNAR_RECORD_H
#define ROCL_SINK_COLUMNAR_RECORD_H

#include "model/fields.h"
#include "model/trace.h"

/* The key: start, then the longer first, then row and kind; of counters also which one. */
enum { ROCL_ROW_KEYS = 4, ROCL_ROW_MAX = ROCL_VARINT_MAX + ROCL_FIELDS_MAX };

unsigned rocl_row_key_words(uint32_t kinds);
/* Fills the key and writes the record (ROCL_ROW_MAX bytes at most); returns its end. */
uint8_t *rocl_row_encode(uint64_t *key, uint8_t *to, rocl_kind kind, const rocl_event *e);
static inline rocl_kind rocl_row_kind(const uint64_t *key)
{
    return rocl_word_kind(key[2]);
}
/* Fills the record at *e, of the kind of the key. False: it is cut (a fault of ours). */
bool rocl_row_decode(const rocl_sort_record *r, rocl_event *e);

#endif

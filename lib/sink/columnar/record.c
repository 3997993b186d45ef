/* Events as records: times and row are in the key, the rest as model/fields.h codes it. */
#include "sink/columnar/record.h"

unsigned rocl_row_key_words(uint32_t kinds)
{
    return kinds & ROCL_BIT(ROCL_COUNTER) ? 4 : 3;
}

uint8_t *rocl_row_encode(uint64_t *key, uint8_t *to, rocl_kind kind, const rocl_event *e)
{
    key[0] = rocl_flip_sign(e->start);
    key[1] = ~rocl_flip_sign(e->end);
    key[2] = rocl_row_word(e->id, kind);
    if (kind == ROCL_COUNTER)
        key[3] = ((const rocl_counter_value *)(const void *)e)->counter;
    to = rocl_varint_put(to, e->id >> (64 - ROCL_KIND_BITS));
    return rocl_fields_put(to, kind, e);
}

bool rocl_row_decode(const rocl_sort_record *record, rocl_event *e)
{
    const uint8_t *p = record->data, *end = record->data + record->len;
    uint64_t top;
    if (!rocl_varint_get(&p, end, &top))
        return false;
    e->start = rocl_unflip_sign(record->key[0]);
    e->end = rocl_unflip_sign(~record->key[1]);
    e->id = rocl_word_row(record->key[2]) | top << (64 - ROCL_KIND_BITS);
    return rocl_fields_get(&p, end, rocl_row_kind(record->key), e);
}

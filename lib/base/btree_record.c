#include "base/btree_record.h"

#include <stdlib.h>

/* As SQLite: a header of more bytes belongs to a table of more columns than there can be. */
#define HEADER_MAX 98307

/* Section 2.1: NULL, integers of 8 to 64 bits, a real, 0 and 1. */
static const rocl_value numbers[ROCL_TYPE_NUMBERS] = {
    {.type = 0},
    {.type = 1, .size = 1, .shift = 56, .stored = 1},
    {.type = 2, .size = 2, .shift = 48, .stored = 1},
    {.type = 3, .size = 3, .shift = 40, .stored = 1},
    {.type = 4, .size = 4, .shift = 32, .stored = 1},
    {.type = 5, .size = 6, .shift = 16, .stored = 1},
    {.type = 6, .size = 8, .stored = 1},
    {.type = 7, .size = 8, .stored = 1},
    {.type = 8, .constant = 0},
    {.type = 9, .constant = 1},
};

static const char *take_type(uint64_t type, uint64_t room, rocl_value *v)
{
    if (type < ROCL_TYPE_NUMBERS) {
        *v = numbers[type];
    } else {
        if (type < ROCL_TYPE_BLOB)
            return "a row has a value of a reserved type";
        uint64_t size = (type - ROCL_TYPE_BLOB) / 2;
        *v = (rocl_value){.type = (uint8_t)(ROCL_TYPE_BLOB + (type & 1)),
                          .size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX};
    }
    return v->size > room ? "a row has a value that is longer than the row" : NULL;
}

/* The types, from byte `at` to `end`. */
static const char *parse_types(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                               uint32_t at, uint32_t end, uint32_t payload)
{
    unsigned wanted = 0;
    uint32_t offset = end;
    r->end = end;
    for (unsigned column = 0; wanted < plan->count && at < end; column++) {
        rocl_value v;
        uint64_t type;
        at += rocl_be_varint(p + at, &type);
        if (at > end)
            return "the header of a row goes beyond its end";
        const char *what = take_type(type, payload - offset, &v);
        if (what)
            return what;
        v.offset = v.size ? offset : 0; /* so that equal values look the same */
        offset += v.size;
        for (; wanted < plan->count && plan->column[wanted] == column; wanted++) {
            r->values[wanted] = v;
            r->end = offset;
        }
    }
    for (; wanted < plan->count; wanted++)
        r->values[wanted] = (rocl_value){.type = ROCL_TYPE_MISSING};
    r->exact = at == end ? offset : 0;
    return r->exact && r->exact != payload ? "a row is longer than its values" : NULL;
}

const char *rocl_record_parse(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                              uint32_t have, uint32_t size, uint32_t *need)
{
    uint64_t end = 0;
    *need = 0;
    uint32_t at = size ? rocl_be_varint(p, &end) : 0;
    if (!size || end < at || end > size || end > HEADER_MAX)
        return "the header of a row has an impossible size";
    if (end > have) {
        *need = (uint32_t)end;
        return NULL;
    }
    return parse_types(r, plan, p, at, (uint32_t)end, size);
}

/* What matters is the size of the header and the types up to the last column wanted. */
void rocl_header_cache_init(rocl_header_cache *k)
{
    unsigned bytes = k->plan.count ? k->plan.column[k->plan.count - 1] + 2u : 0;
    uint8_t mask[8 * ROCL_KNOWN_WORDS] = {0};
    k->words = bytes <= sizeof mask ? (bytes + 7) / 8 : 0;
    memset(mask, 0xff, k->words ? bytes : 0);
    memcpy(k->mask, mask, sizeof mask);
}

rocl_cached_header *rocl_cached_header_new(rocl_cached_header **place)
{
    return *place = calloc(1, sizeof **place);
}

void rocl_header_cache_free(rocl_header_cache *k)
{
    for (unsigned i = 0; i < sizeof k->known / sizeof *k->known; i++)
        free(k->known[i]);
}

/* Values that have a type of one byte each and are in the leaf. */
bool rocl_cached_header_set(rocl_header_cache *k, rocl_cached_header *place, const uint8_t *payload,
                            const rocl_btree_cell *c)
{
    const unsigned columns = k->plan.column[k->plan.count - 1] + 1u;
    uint32_t need;
    if (!k->words || payload[0] <= columns || payload[0] >= 0x80)
        return false;
    for (unsigned i = 0; i < columns; i++)
        if (payload[1 + i] >= 0x80)
            return false;
    place->used = 0;
    if (rocl_record_parse(&place->record, &k->plan, payload, c->local, c->size, &need) || need ||
        place->record.end > c->local)
        return false;
    memcpy(place->head, payload, 8 * k->words);
    for (unsigned i = 0; i < k->words; i++)
        place->head[i] &= k->mask[i];
    return true;
}

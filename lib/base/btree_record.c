#include "base/btree_record.h"

/* As SQLite: a header of more bytes belongs to a table of more columns than there can be. */
#define HEADER_MAX 98307

/* Section 2.1: types below 12; 10 and 11 are reserved. */
static const rocl_value small_types[10] = {
    {.type = ROCL_VALUE_NULL},
    {.type = ROCL_VALUE_INT, .size = 1, .shift = 56, .stored = 1},
    {.type = ROCL_VALUE_INT, .size = 2, .shift = 48, .stored = 1},
    {.type = ROCL_VALUE_INT, .size = 3, .shift = 40, .stored = 1},
    {.type = ROCL_VALUE_INT, .size = 4, .shift = 32, .stored = 1},
    {.type = ROCL_VALUE_INT, .size = 6, .shift = 16, .stored = 1},
    {.type = ROCL_VALUE_INT, .size = 8, .stored = 1},
    {.type = ROCL_VALUE_REAL, .size = 8, .stored = 1},
    {.type = ROCL_VALUE_INT, .constant = 0},
    {.type = ROCL_VALUE_INT, .constant = 1},
};

static const char *value_of_type(uint64_t type, rocl_value *v)
{
    if (type < 10) {
        *v = small_types[type];
        return NULL;
    }
    if (type < 12)
        return "a row has a value of a reserved type";
    if ((type - 12) / 2 > INT32_MAX)
        return "a row has a value that is longer than the row";
    *v = (rocl_value){.type = type & 1 ? ROCL_VALUE_TEXT : ROCL_VALUE_BLOB,
                      .size = (uint32_t)((type - 12) / 2)};
    return NULL;
}

/* Keeps the header up to `used`, the types of the last column wanted, if that is short enough. */
static void keep_head(rocl_record *r, const uint8_t *p, uint32_t used)
{
    uint8_t head[ROCL_RECORD_HEAD] = {0}, mask[ROCL_RECORD_HEAD] = {0};
    r->valid = used <= ROCL_RECORD_HEAD;
    if (r->valid) {
        memcpy(head, p, used);
        memset(mask, 0xff, used);
    }
    memcpy(r->head, head, sizeof head);
    memcpy(r->mask, mask, sizeof mask);
}

/* The header, from byte `at` to `end`. */
static const char *parse_types(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                               uint32_t at, uint32_t end, uint32_t size)
{
    unsigned wanted = 0;
    uint64_t offset = end;
    r->end = end;
    r->exact = 0;
    for (unsigned column = 0; wanted < plan->count && at < end; column++) {
        rocl_value v;
        uint64_t type;
        at += rocl_be_varint(p + at, &type);
        if (at > end)
            return "the header of a row goes beyond its end";
        const char *what = value_of_type(type, &v);
        if (what)
            return what;
        v.offset = (uint32_t)offset;
        offset += v.size;
        if (offset > size)
            return "a row has a value that is longer than the row";
        for (; wanted < plan->count && plan->column[wanted] == column; wanted++) {
            r->values[wanted] = v;
            if (v.type == ROCL_VALUE_INT && plan->real[wanted])
                r->values[wanted].type = ROCL_VALUE_INT_REAL;
            r->end = (uint32_t)offset;
        }
    }
    if (at == end)
        r->exact = (uint32_t)offset;
    for (; wanted < plan->count; wanted++)
        r->values[wanted] = (rocl_value){.type = ROCL_VALUE_MISSING};
    keep_head(r, p, at);
    return r->exact && r->exact != size ? "a row is longer than its values" : NULL;
}

const char *rocl_record_parse(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                              uint32_t have, uint32_t size, uint32_t *need)
{
    uint64_t end;
    *need = 0;
    r->valid = false;
    uint32_t at = size ? rocl_be_varint(p, &end) : 0;
    if (!size || end < at || end > size || end > HEADER_MAX)
        return "the header of a row has an impossible size";
    if (end > have) {
        *need = (uint32_t)end;
        return NULL;
    }
    const char *what = parse_types(r, plan, p, at, (uint32_t)end, size);
    if (what)
        r->valid = false;
    return what;
}

/* Records of a SQLite 3 database: section 2 of https://www.sqlite.org/fileformat2.html. A record
 * begins with a header that gives the type of each value. Few different headers occur among the
 * rows of a table, so what was found out of one is kept for all rows that have the same. */
#ifndef ROCL_BASE_BTREE_RECORD_H
#define ROCL_BASE_BTREE_RECORD_H

#include "base/btree_impl.h"

#define ROCL_RECORD_VALUES 32
#define ROCL_RECORD_HEAD   ROCL_BTREE_SLACK /* bytes of header that are compared */

typedef enum rocl_value_type {
    ROCL_VALUE_NULL,
    ROCL_VALUE_INT,
    ROCL_VALUE_REAL,
    ROCL_VALUE_TEXT,
    ROCL_VALUE_BLOB,
    ROCL_VALUE_INT_REAL, /* an integer that stands for a real */
    ROCL_VALUE_MISSING,  /* the row is older than the column */
} rocl_value_type;

/* Where a value is and how to read it. */
typedef struct rocl_value {
    uint32_t offset, size;
    uint8_t type;
    uint8_t shift;    /* INT: 64 less its bits */
    uint8_t stored;   /* INT: 1, or 0 when the type itself says the value, which is .. */
    uint8_t constant;
} rocl_value;

/* The columns wanted, in ascending order. In a column of REAL affinity integers are reals that were
 * stored the short way: https://www.sqlite.org/datatype3.html, 3. */
typedef struct rocl_record_plan {
    uint16_t column[ROCL_RECORD_VALUES];
    bool real[ROCL_RECORD_VALUES];
    unsigned count;
} rocl_record_plan;

/* What a header says about the columns wanted. */
typedef struct rocl_record {
    uint64_t head[ROCL_RECORD_HEAD / 8], mask[ROCL_RECORD_HEAD / 8]; /* the bytes to compare */
    uint32_t end;   /* of the last value wanted, in the payload */
    uint32_t exact; /* the size of a payload with this header; 0: not known */
    bool valid;     /* holds something that can be compared */
    rocl_value values[ROCL_RECORD_VALUES];
} rocl_record;

/* Reads the header at `p`, of which `have` bytes are there, of a payload of `size` bytes. NULL, or
 * what is wrong. *need is how many bytes there must be if that is more than `have`. */
const char *rocl_record_parse(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                              uint32_t have, uint32_t size, uint32_t *need);

/* Does the payload begin with the header that was parsed? Looks at ROCL_RECORD_HEAD bytes. */
static inline bool rocl_record_same(const rocl_record *r, const uint8_t *p)
{
    uint64_t differs = 0, word;
    for (unsigned i = 0; i < ROCL_RECORD_HEAD / 8; i++) {
        memcpy(&word, p + 8 * i, 8);
        differs |= (word ^ r->head[i]) & r->mask[i];
    }
    return !differs && r->valid;
}

/* Which of a few places to keep it at. */
static inline unsigned rocl_record_hash(const uint8_t *p, unsigned bits)
{
    uint64_t a, b;
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    return (unsigned)((a * 0x9e3779b97f4a7c15u ^ b * 0xd6e8feb86659fd93u) >> (64 - bits));
}

/* The number of an INT or INT_REAL, the bits of a REAL, 0 of NULL. Looks at 8 bytes. */
static inline int64_t rocl_value_number(const rocl_value *v, const uint8_t *payload)
{
    int64_t top = (int64_t)rocl_be64(payload + v->offset);
    return ((top >> v->shift) & -(int64_t)v->stored) | v->constant;
}

#endif

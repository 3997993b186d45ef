/* Records of a SQLite 3 database, and the schema, which is a table of records. Section 2 of
 * https://www.sqlite.org/fileformat2.html:
 *
 *   varint bytes of this header | varint type of each value ... | value | value | ...
 *
 *   type 0 NULL   1..6 integer of 1 2 3 4 6 8 bytes   7 real   8 and 9 the integers 0 and 1
 *        n even, from 12: blob of (n - 12) / 2 bytes   n odd, from 13: text of (n - 13) / 2 bytes
 *
 * A table has few different headers (values are stored as small as they can be, so there is more
 * than one), hence parsed headers are kept and looked up by their bytes. */
#pragma once

#include "base/btree.h"
#include "base/btree_bytes.h"
#include "base/buf.h"

#define ROCL_RECORD_VALUES 32

/* Types that have a meaning beyond the size and shape of a number. */
enum {
    ROCL_TYPE_NULL = 0,
    ROCL_TYPE_REAL = 7,
    ROCL_TYPE_NUMBERS = 10, /* types below this: NULL, integers, and a real */
    ROCL_TYPE_BLOB = 12,    /* stands for every even number above as well .. */
    ROCL_TYPE_TEXT = 13,    /* .. and this for every odd one: they depend on the size */
    ROCL_TYPE_MISSING = 14  /* not in the file: the row is older than the column */
};

typedef struct rocl_value {
    uint32_t offset; /* in the payload */
    uint32_t size;
    uint8_t type;
    uint8_t shift;  /* numbers: 64 less the bits of it */
    uint8_t stored; /* numbers: 1, or 0 when the type itself is the value, which is then .. */
    uint8_t constant;
} rocl_value;

/* Where the wanted values are, by a header. */
typedef struct rocl_record {
    uint32_t end;   /* of the last of them, in the payload */
    uint32_t exact; /* size of the whole payload; 0: the header was not read to its end */
    rocl_value values[ROCL_RECORD_VALUES];
} rocl_record;

/* The columns wanted, in ascending order. */
typedef struct rocl_record_plan {
    uint16_t column[ROCL_RECORD_VALUES];
    unsigned count;
} rocl_record_plan;

/* Reads the header at `p`, of which `have` bytes are there, of a payload of `size` bytes. NULL, or
 * what is wrong. *need is how many bytes there must be if that is more than `have`. */
const char *rocl_record_parse(rocl_record *r, const rocl_record_plan *plan, const uint8_t *p,
                              uint32_t have, uint32_t size, uint32_t *need);

/* The integer, the bits of a REAL, 0 of NULL. Looks at 8 bytes. */
static inline int64_t rocl_value_number(const rocl_value *v, const uint8_t *payload)
{
    int64_t top = (int64_t)rocl_be64(payload + v->offset);
    return ((top >> v->shift) & -(int64_t)v->stored) | v->constant;
}

/* ---- headers that were seen ------------------------------------------------------------------ */

/* Bytes of a header that can be compared, in words of 8: headers that are longer, or have types of
 * several bytes each, are not worth it. */
#define ROCL_HEADER_WORDS 4
#define ROCL_HEADER_BITS  8 /* of the hash */

typedef struct rocl_cached_header {
    uint64_t head[ROCL_HEADER_WORDS];
    uint64_t used; /* when last; 0: never */
    unsigned slot; /* for the user */
    rocl_record record;
} rocl_cached_header;

typedef struct rocl_header_cache {
    rocl_record_plan plan; /* set before the first use, then */
    unsigned words;        /* of a header to compare: set by rocl_header_cache_init */
    uint64_t mask[ROCL_HEADER_WORDS];
    uint64_t time;
    rocl_cached_header *entries[1 << ROCL_HEADER_BITS]; /* NULL: never used, as most are */
} rocl_header_cache;

void rocl_header_cache_init(rocl_header_cache *k);
void rocl_header_cache_free(rocl_header_cache *k);
/* Allocates an entry that is NULL; it stays NULL when memory is out. */
rocl_cached_header *rocl_cached_header_new(rocl_cached_header **entry);
/* Replaces the header of an entry by that of a payload. False: it cannot be cached. */
bool rocl_cached_header_set(rocl_header_cache *k, rocl_cached_header *entry, const uint8_t *payload,
                            const rocl_btree_cell *c);

/* The one entry that can hold the header of a payload; NULL when memory is out. Looks at
 * ROCL_BTREE_SLACK bytes at most; so does the next. */
static inline rocl_cached_header *rocl_header_cache_entry(rocl_header_cache *k,
                                                          const uint8_t *payload)
{
    uint64_t hash = 0, word;
    for (unsigned i = 0; i < k->words; i++) {
        memcpy(&word, payload + 8 * i, 8);
        hash = (hash ^ (word & k->mask[i])) * 0x9e3779b97f4a7c15u;
    }
    rocl_cached_header **entry = &k->entries[hash >> (64 - ROCL_HEADER_BITS)];
    return *entry ? *entry : rocl_cached_header_new(entry);
}

/* Does the entry hold the header of this payload? */
static inline bool rocl_cached_header_matches(const rocl_header_cache *k,
                                              const rocl_cached_header *entry,
                                              const uint8_t *payload, const rocl_btree_cell *c)
{
    uint64_t differs, word[2];
    memcpy(word, payload, sizeof word); /* unused masks and heads are 0 */
    differs = (word[0] & k->mask[0]) ^ entry->head[0];
    differs |= (word[1] & k->mask[1]) ^ entry->head[1];
    for (unsigned i = 2; i < k->words; i++) {
        memcpy(word, payload + 8 * i, 8);
        differs |= (word[0] & k->mask[i]) ^ entry->head[i];
    }
    const rocl_record *r = &entry->record;
    return !differs && entry->used && r->end <= c->local && (!r->exact || r->exact == c->size);
}

/* ---- the schema: the table that has page 1 as its root --------------------------------------- */

/* A row of sqlite_schema. The texts are offsets into rocl_schema.text, NUL-terminated. */
typedef struct rocl_schema_row {
    uint32_t type, name, table, sql; /* sql: an empty text if it is NULL */
    uint32_t root;                   /* 0: none */
} rocl_schema_row;

typedef struct rocl_schema {
    rocl_buf text; /* the four texts of each row, one after the other */
    rocl_schema_row *rows;
    size_t count, cap;
} rocl_schema;

/* False if the schema is large, unusual or damaged, or memory is out: then SQLite must read it, and
 * `s` is empty. */
bool rocl_btree_schema(rocl_schema *s, const rocl_btree_file *f);
void rocl_schema_free(rocl_schema *s);

static inline const char *rocl_schema_text(const rocl_schema *s, uint32_t offset)
{
    return (const char *)s->text.data + offset;
}

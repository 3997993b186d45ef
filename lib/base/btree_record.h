/* Records of a SQLite 3 database: section 2 of https://www.sqlite.org/fileformat2.html. A record
 * begins with a header: its size, and the type of each value. The values follow without gaps.
 *
 * A table has few different headers (values are stored as small as they can be, so there is more
 * than one), hence what a header means is kept and found again by its bytes. */
#ifndef ROCL_BASE_BTREE_RECORD_H
#define ROCL_BASE_BTREE_RECORD_H

#include "base/btree_impl.h"

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
    uint8_t stored; /* numbers: 1, or 0 when the type itself says it, which is then .. */
    uint8_t constant;
} rocl_value;

/* What a header says about the values wanted. */
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

/* ---- headers that were seen ---- */

/* Bytes of a header that can be compared; more than that, or types of several bytes each, are not
 * worth it. */
#define ROCL_KNOWN_WORDS 4
#define ROCL_KNOWN_BITS  8

typedef struct rocl_cached_header {
    uint64_t head[ROCL_KNOWN_WORDS];
    uint64_t used; /* when last; 0: never */
    rocl_record record;
} rocl_cached_header;

typedef struct rocl_header_cache {
    rocl_record_plan plan; /* set before the first use, then */
    unsigned words;        /* of a header that matter: set by rocl_header_cache_init */
    uint64_t mask[ROCL_KNOWN_WORDS];
    uint64_t time;
    rocl_cached_header
        *known[1 << ROCL_KNOWN_BITS]; /* NULL: none so far, as most of a small table */
} rocl_header_cache;

void rocl_header_cache_init(rocl_header_cache *k);
void rocl_header_cache_free(rocl_header_cache *k);
/* A place that was NULL; NULL still when memory is out. */
rocl_cached_header *rocl_cached_header_new(rocl_cached_header **place);
/* Puts the header of a payload there, in place of another. False: it is none that can be kept. */
bool rocl_cached_header_set(rocl_header_cache *k, rocl_cached_header *place, const uint8_t *payload,
                            const rocl_btree_cell *c);

/* The only place where it can be; NULL when memory is out. Looks at ROCL_BTREE_SLACK bytes at most;
 * so does the next. */
static inline rocl_cached_header *rocl_header_cache_entry(rocl_header_cache *k,
                                                          const uint8_t *payload)
{
    uint64_t hash = 0, word;
    for (unsigned i = 0; i < k->words; i++) {
        memcpy(&word, payload + 8 * i, 8);
        hash = (hash ^ (word & k->mask[i])) * 0x9e3779b97f4a7c15u;
    }
    rocl_cached_header **place = &k->known[hash >> (64 - ROCL_KNOWN_BITS)];
    return *place ? *place : rocl_cached_header_new(place);
}

/* Is it there, and true of this payload? */
static inline bool rocl_cached_header_matches(const rocl_header_cache *k,
                                              const rocl_cached_header *place,
                                              const uint8_t *payload, const rocl_btree_cell *c)
{
    uint64_t differs = 0, word;
    for (unsigned i = 0; i < k->words; i++) {
        memcpy(&word, payload + 8 * i, 8);
        differs |= (word & k->mask[i]) ^ place->head[i];
    }
    const rocl_record *r = &place->record;
    return !differs && place->used && r->end <= c->local && (!r->exact || r->exact == c->size);
}

#endif

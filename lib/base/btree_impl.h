/* Inside the b-tree reader: for btree*.c only. */
#ifndef ROCL_BASE_BTREE_IMPL_H
#define ROCL_BASE_BTREE_IMPL_H

#include <endian.h>
#include <string.h>

#include "base/btree.h"
#include "base/buf.h"

/* Neighbouring pages that are read at once: measured, more than this is not faster. */
#define ROCL_BTREE_AHEAD (64u << 10)

/* How much of what comes next is asked for where it has to come from the disk. */
#define ROCL_BTREE_WINDOW (1u << 20)

static inline uint32_t rocl_be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static inline uint32_t rocl_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static inline uint64_t rocl_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

unsigned rocl_be_varint_long(const uint8_t *p, uint64_t *v);

/* Section 1.6: 7 bits a byte, the first ones first; a ninth byte has 8. Looks at 9 bytes at most,
 * of which those behind the end of the buffer must be slack; returns how many it used. */
static inline unsigned rocl_be_varint(const uint8_t *p, uint64_t *v)
{
    if (p[0] < 0x80) {
        *v = p[0];
        return 1;
    }
    if (p[1] < 0x80) {
        *v = (p[0] & 0x7fu) << 7 | p[1];
        return 2;
    }
    if (p[2] < 0x80) {
        *v = (p[0] & 0x7fu) << 14 | (p[1] & 0x7fu) << 7 | p[2];
        return 3;
    }
    return rocl_be_varint_long(p, v);
}

/* Pages read in one go: numbers first..first+count-1. */
typedef struct rocl_page_run {
    uint8_t *bytes; /* ROCL_BTREE_SLACK more than it holds */
    uint32_t first, count, cap;
    bool waits; /* this system has no read that does not wait for the disk */
} rocl_page_run;

bool rocl_page_run_init(rocl_page_run *r, const rocl_btree_file *f);
/* Reads `count` pages (cut to the room there is) unless the first of them is in hand. */
rocl_status rocl_page_run_read(rocl_page_run *r, const rocl_btree_file *f, uint32_t first,
                               uint32_t count, rocl_error *err);

/* The same without waiting for the disk: false if not all of them were there to be read. The first
 * ones may be in hand then. */
bool rocl_page_run_cached(rocl_page_run *r, const rocl_btree_file *f, uint32_t first,
                          uint32_t count);

static inline const uint8_t *rocl_page_of(const rocl_page_run *r, const rocl_btree_file *f,
                                          uint32_t number)
{
    return number - r->first < r->count ? r->bytes + (size_t)(number - r->first) * f->page_size
                                        : NULL;
}

/* May a tree or a chain of overflow pages have this page? */
static inline bool rocl_page_valid(const rocl_btree_file *f, uint32_t number)
{
    return number > 1 && number <= f->page_count && number != f->lock_page;
}

/* How much of a payload is in the leaf itself: section 1.6, "P > X". */
uint32_t rocl_payload_local(const rocl_btree_file *f, uint32_t size);

/* An interior page on the way down. Child i has the rowids above key i-1 up to key i. */
typedef struct rocl_btree_level {
    int64_t min, max; /* rowids below this page */
    uint32_t number;
    unsigned count; /* of keys: one child more */
    unsigned at;    /* the child in use */
    unsigned asked; /* children before this one are not to be asked for, again or at all */
    uint8_t *page;  /* a copy */
    uint32_t mask;  /* of offsets in it */
} rocl_btree_level;

/* Section 1.6: the kind of page, and what is before its array of cells. */
#define ROCL_INTERIOR      5
#define ROCL_INTERIOR_HEAD 12

/* The mask is for a file that changes, which makes a page that was sound another one. */
static inline const uint8_t *rocl_interior_cell(const rocl_btree_level *l, unsigned i)
{
    return l->page + (rocl_be16(l->page + ROCL_INTERIOR_HEAD + 2 * i) & l->mask);
}

static inline int64_t rocl_interior_key(const rocl_btree_level *l, unsigned i)
{
    uint64_t key;
    rocl_be_varint(rocl_interior_cell(l, i) + 4, &key);
    return (int64_t)key;
}

static inline uint32_t rocl_interior_child(const rocl_btree_level *l, unsigned i)
{
    return rocl_be32(i < l->count ? rocl_interior_cell(l, i) : l->page + 8);
}

/* Interior pages that were found sound, by number: who hops about meets the same ones again. */
#define ROCL_SOUND_PAGES 256

typedef struct rocl_sound_page {
    int64_t min, max;
    uint32_t number;
} rocl_sound_page;

struct rocl_btree_walk {
    rocl_btree_level levels[ROCL_BTREE_DEPTH];
    unsigned depth;             /* interior pages above the leaf in hand */
    unsigned leaf_depth;        /* where leaves were found, a guess for the next one */
    uint32_t ahead;             /* pages worth to have: more the longer it reads on */
    bool cold;                  /* the file is not all in the page cache */
    int64_t leaf_min, leaf_max; /* rowids that the leaf in hand may have */
    rocl_page_run run;
    rocl_page_run overflow;
    rocl_btree_level next; /* what is known of the interior page after the lowest: see ask_next */
    rocl_buf scratch;      /* a payload that was in pieces */
    rocl_sound_page sound[ROCL_SOUND_PAGES];
};

/* A depth that no path has: all the way down. */
#define ROCL_BTREE_LEAF (ROCL_BTREE_DEPTH + 1)

/* As rocl_btree_seek, but no further than so many interior pages: no leaf is in hand then. */
rocl_status rocl_btree_seek_down(rocl_btree *b, int64_t first, unsigned depth, rocl_error *err);

/* Asks the kernel for the leaves that come next, so that the disk does not rest while rows are read
 * from what is there. */
void rocl_btree_ask(rocl_btree *b);
/* The same for the children of an interior page up to `end`. */
void rocl_btree_ask_children(const rocl_btree_file *f, rocl_btree_level *l, unsigned end);

#endif

/* Inside the external sort, from the bottom up. For sort_*.c and extsort.c only.
 *
 * A record that comes in order is encoded behind the one before. Others are appended to the
 * worker's buffer, in the form [key words][u32 length][bytes], padded to 8; a full buffer is sorted
 * (sort_order.c) and encoded, too. Both make runs (sort_write.c), which stay in memory or go to the
 * file of the space (sort_space.c). sort_read.c merges the runs. */
#pragma once

#include "base/buf.h"
#include "base/extsort.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- how a record lies in a run ---------------------------------------------------------------
 *
 * A nibble for the bytes of each key word and of the length (two to a byte, low one first), those
 * bytes (little-endian), the payload:
 *
 *     +--------+--------+ - - +--------+--------+--------+---------+
 *     | nibbles, 1..3 bytes   | word 0 | word 1 | length | payload |
 *     +--------+--------+ - - +--------+--------+--------+---------+
 *
 * The first word is the difference to the one before, the others are zigzag differences: sorted
 * times and ids of the same origin take a byte or two, and no byte is looked at to find where the
 * next value begins. Values are read and written 8 bytes at a time: both sides need ROCL_SORT_SLACK
 * bytes behind the end. */

/* The most bytes before the payload, and how many more may be touched. */
#define ROCL_SORT_HEAD_MAX (3 + 8 * (ROCL_SORT_KEYS_MAX + 1))
#define ROCL_SORT_SLACK    64

static inline uint8_t *rocl_sort_encode_value(uint8_t *p, uint64_t v, unsigned *nibble)
{
    *nibble = v ? (71u - (unsigned)__builtin_clzll(v)) / 8 : 0;
    rocl_le64_set(p, v);
    return p + *nibble;
}

/* prev is the key before (zeros at first) and becomes key. */
static inline uint8_t *rocl_sort_encode_words(uint8_t *p, const uint64_t *key, uint64_t *prev,
                                              unsigned words, uint32_t len)
{
    uint8_t *control = p;
    unsigned n, nibbles = 0;
    p += words / 2 + 1;
    p = rocl_sort_encode_value(p, key[0] - prev[0], &nibbles);
    prev[0] = key[0];
    for (unsigned w = 1; w < words; w++) {
        p = rocl_sort_encode_value(p, rocl_zigzag((int64_t)(key[w] - prev[w])), &n);
        prev[w] = key[w];
        nibbles |= n << (4 * w);
    }
    p = rocl_sort_encode_value(p, len, &n);
    nibbles |= n << (4 * words);
    for (unsigned i = 0; i < words / 2 + 1; i++)
        control[i] = (uint8_t)(nibbles >> (8 * i));
    return p;
}

/* Encodes a key and a length; the number of words is a constant in each case so that the compiler
 * unrolls it. Without inlining, the call would cost as much as encoding a value. */
__attribute__((always_inline)) static inline uint8_t *
rocl_sort_encode_head(uint8_t *p, const uint64_t *key, uint64_t *prev, unsigned words, uint32_t len)
{
    switch (words) {
    case 1:
        return rocl_sort_encode_words(p, key, prev, 1, len);
    case 2:
        return rocl_sort_encode_words(p, key, prev, 2, len);
    case 3:
        return rocl_sort_encode_words(p, key, prev, 3, len);
    default:
        return rocl_sort_encode_words(p, key, prev, 4, len);
    }
}

static inline const uint8_t *rocl_sort_decode_value(const uint8_t *p, unsigned nibble, uint64_t *v)
{
    static const uint64_t masks[16] = {
        0,     0xff,  0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, ~0ull >> 8,
        ~0ull, ~0ull, ~0ull,  ~0ull,    ~0ull,      ~0ull,        ~0ull,          ~0ull,
    };
    *v = rocl_le64(p) & masks[nibble];
    return p + nibble;
}

/* key is the one before and becomes the record's. Nibbles above 8 are only found in a damaged file:
 * the end returned is then wrong, but what was touched is within ROCL_SORT_SLACK. */
static inline const uint8_t *rocl_sort_decode_head(const uint8_t *p, uint64_t *key, unsigned words,
                                                   uint64_t *len)
{
    unsigned nibbles = 0;
    for (unsigned i = 0; i < words / 2 + 1; i++)
        nibbles |= (unsigned)p[i] << (8 * i);
    p += words / 2 + 1;
    uint64_t v;
    p = rocl_sort_decode_value(p, nibbles & 15, &v);
    key[0] += v;
    for (unsigned w = 1; w < words; w++) {
        p = rocl_sort_decode_value(p, nibbles >> (4 * w) & 15, &v);
        key[w] += (uint64_t)rocl_unzigzag(v);
    }
    return rocl_sort_decode_value(p, nibbles >> (4 * words) & 15, len);
}

/* ---- the space (sort_space.c) ---------------------------------------------------------------- */

struct rocl_sort_space {
    size_t limit;
    unsigned workers;
    /* Bytes in expanded and read buffers, and in encoded runs. Each has its own share of the limit,
     * so that a memory full of runs does not leave buffers so small that runs become tiny. */
    _Atomic size_t expanded, packed;
    _Atomic uint64_t spilled;
    pthread_mutex_t lock; /* the file's making, and blocks */
    size_t block;         /* bytes */
    uint8_t **slabs;
    size_t slab_count, slab_cap, split; /* the first slabs have been split from huge pages */
    uint8_t *fresh; /* blocks at the end of the last slab that were never handed out */
    unsigned fresh_count;
    uint8_t **blocks; /* free blocks; the pages of the first ones were given back */
    size_t block_count, block_cap, given_back;
    size_t blocks_used;
    _Atomic int fd;  /* -1: none yet */
    char *tmpdir;    /* requested by the caller, or NULL */
    const char *dir; /* of the file, for messages */
};

size_t rocl_space_buffer_max(const rocl_sort_space *s);
/* Counts n more expanded bytes if the limit allows them, or anyway. */
bool rocl_space_expand(rocl_sort_space *s, size_t n, bool anyway);
void rocl_space_unexpand(rocl_sort_space *s, size_t n);
/* A block of space->block bytes and ROCL_SORT_SLACK more, expanded; NULL: the limit is reached. */
uint8_t *rocl_space_block(rocl_sort_space *s);
void rocl_space_unblock(rocl_sort_space *s, uint8_t *block); /* counted still */
/* Gives the memory of free blocks back to the system, except that of the first few. */
void rocl_space_free_blocks(rocl_sort_space *s);
/* Bytes that each of n read buffers may have. */
size_t rocl_space_read_buffer(const rocl_sort_space *s, size_t n);
rocl_status rocl_space_damaged(const rocl_sort_space *s, rocl_error *err);
/* Asks the system to prefetch: it does not recognise several interleaved sequences of small
 * reads. */
void rocl_space_advise(rocl_sort_space *s, size_t n, uint64_t offset);

/* ---- records in a buffer (sort_order.c) ------------------------------------------------------ */

/* What is moved when records are sorted. */
typedef struct rocl_sort_entry {
    uint64_t key; /* the word being sorted by */
    uint32_t at;  /* of the record in the buffer, in units of 8 bytes */
    uint32_t pile;
} rocl_sort_entry;

/* Bytes that sorting needs besides each record: the entry and a copy. */
#define ROCL_SORT_ENTRY_SIZE (2 * sizeof(rocl_sort_entry))

static inline size_t rocl_sort_buffer_size(unsigned words, size_t len)
{
    return 8 * (size_t)words + ((4 + len + 7) & ~(size_t)7);
}

/* Sorts the n records of a buffer. The entries and their copy are written to `space` (8
 * aligned); returns the sorted ones. */
rocl_sort_entry *rocl_sort_entries(const uint64_t *records, size_t n, unsigned words, void *space);
/* Whether records lie in order as they are. */
bool rocl_sort_is_ordered(const uint64_t *records, size_t n, unsigned words);

static inline bool rocl_sort_less(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned w = 0; w < words; w++) {
        if (a[w] != b[w])
            return a[w] < b[w];
    }
    return false;
}

/* The smaller of `least` and the third word, if there is one. */
static inline uint64_t rocl_sort_least(uint64_t least, const uint64_t *key, unsigned words)
{
    return words > 2 && key[2] < least ? key[2] : least;
}

/* ---- runs (sort_write.c) ------------------------------------------------------------------- */

typedef struct rocl_sort_run {
    uint8_t *memory; /* NULL: in the file */
    bool block;      /* memory is one of the space's */
    uint64_t offset;
    size_t size;
    uint64_t records;
    uint64_t first[ROCL_SORT_KEYS_MAX], last[ROCL_SORT_KEYS_MAX]; /* unused words are 0 */
    uint64_t least; /* third word of its keys; unknown for pieces of runs */
    size_t next;    /* run that follows in the chain, ROCL_NO_RUN at its end */
} rocl_sort_run;

#define ROCL_NO_RUN SIZE_MAX

/* The runs of a sorter. */
typedef struct rocl_sort_runs {
    rocl_sort_space *space;
    unsigned words, shift; /* of keys; 64: all records are of one group */
    pthread_mutex_t lock;  /* all that follows */
    rocl_sort_run *all;
    size_t count, cap;
} rocl_sort_runs;

/* Are these in different groups: do their first words differ above `shift` bits? */
static inline bool rocl_sort_groups_differ(const uint64_t *a, const uint64_t *b, unsigned shift)
{
    return shift < 64 && (a[0] ^ b[0]) >> shift;
}

/* Adds an encoded run: keeps it, or writes it to the file when the share of memory is used up.
 * Takes run->memory, which has ROCL_SORT_SLACK more bytes. */
rocl_status rocl_sort_keep_run(rocl_sort_runs *to, rocl_sort_run *run, rocl_error *err);
/* Sorts and encodes the n records (n > 0) of a buffer, `bytes` long, to a run, or to several when
 * they are of several groups. space: n * ROCL_SORT_ENTRY_SIZE bytes, 8 aligned. */
rocl_status rocl_sort_make_runs(rocl_sort_runs *to, const uint64_t *records, size_t bytes, size_t n,
                                void *space, rocl_error *err);
/* A set of runs without any. */
void rocl_sort_runs_init(rocl_sort_runs *runs, rocl_sort_space *space, unsigned words,
                         unsigned shift);
void rocl_sort_runs_free(rocl_sort_runs *runs);
bool rocl_sort_runs_add(rocl_sort_runs *to, const rocl_sort_run *run);
void rocl_sort_run_free(rocl_sort_space *s, rocl_sort_run *r);

/* ---- records that come in order (sort_write.c) ---------------------------------------------- */

#define ROCL_SORT_STRANDS 16 /* of a worker in a sorter, at most */

/* A run under construction, and the last key of its sequence. */
typedef struct rocl_sort_strand {
    uint8_t *memory, *at, *end; /* a block */
    uint64_t records;
    uint64_t first[ROCL_SORT_KEYS_MAX], last[ROCL_SORT_KEYS_MAX];
    uint64_t least; /* as a run has it */
} rocl_sort_strand;

typedef struct rocl_sort_strands {
    rocl_sort_strand *all; /* by last key, the largest first */
    size_t count, cap;
    uint64_t records; /* ever added to strands */
} rocl_sort_strands;

/* Encodes the record if it continues a strand and fits into its block. */
bool rocl_strands_append(const rocl_sort_runs *to, rocl_sort_strands *s, const uint64_t *key,
                         const void *payload, size_t len);
/* Otherwise begins a run with it, of that strand or of a new one; *taken false: no strand can take
 * it. */
rocl_status rocl_strands_begin(rocl_sort_runs *to, rocl_sort_strands *s, const uint64_t *key,
                               const void *payload, size_t len, bool *taken, rocl_error *err);
rocl_status rocl_strands_end(rocl_sort_runs *to, rocl_sort_strands *s, rocl_error *err);
void rocl_strands_drop(rocl_sort_runs *to, rocl_sort_strands *s);

/* ---- reading (sort_read.c) ------------------------------------------------------------------- */

/* A range of keys in which a sort is read. */
typedef struct rocl_sort_range rocl_sort_range;

/* rocl_sorter_least of runs. */
rocl_status rocl_sort_find_least(const rocl_sort_runs *runs, rocl_sort_bound from,
                                 rocl_sort_bound to, uint64_t *least, rocl_error *err);
/* Distributes the runs to count + 1 ranges, cuts those that belong to several, and starts the
 * merges. *ranges is set even after an error. */
rocl_status rocl_sort_ranges_start(rocl_sort_runs *from, const rocl_sort_bound *bounds,
                                   size_t count, rocl_sort_range **ranges, rocl_error *err);
rocl_status rocl_sort_ranges_next(rocl_sort_range *ranges, size_t i, rocl_sort_record *rec,
                                  bool *more, rocl_error *err);
void rocl_sort_ranges_free(rocl_sort_range *ranges, size_t count); /* of bounds */

/* By which cursors find their first record. */
typedef struct rocl_sort_index {
    rocl_sort_runs *runs; /* in the order of their first keys */
    /* For each run, and for the end: how many records at most, and at least, come before its first
     * one. */
    uint64_t *most, *least;
} rocl_sort_index;

rocl_status rocl_sort_index_runs(rocl_sort_index *index, rocl_sort_runs *runs, rocl_error *err);
void rocl_sort_index_free(rocl_sort_index *index);
/* Does what rocl_sorter_open() says. */
rocl_status rocl_sort_open(const rocl_sort_index *index, uint64_t first, uint64_t count,
                           unsigned together, rocl_sort_cursor **cursor, rocl_error *err);

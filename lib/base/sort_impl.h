/* Inside the external sort: its parts, from the bottom up. For sort_*.c and extsort.c only.
 *
 * A record that comes in order is packed (sort_pack.h) behind the one before (sort_strand.c).
 * Others are appended to the worker's buffer, in the form [key words][u32 length][bytes], padded to
 * 8; a full buffer is sorted (sort_order.c) and packed, too. Both make runs (sort_run.c), which
 * stay in memory or go to the file of the space (sort_space.c). Reading strings runs that do not
 * overlap to chains, and merges the chains in a tree of losers (sort_read.c), in one part or in
 * several at once (sort_parts.c). */
#ifndef ROCL_BASE_SORT_IMPL_H
#define ROCL_BASE_SORT_IMPL_H

#include "base/extsort.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- the space (sort_space.c) ---------------------------------------------------------------- */

struct rocl_sort_space {
    size_t limit;
    unsigned workers;
    /* Bytes in expanded and read buffers, and in packed runs. Each has its own share of the limit,
     * so that a memory full of runs does not leave buffers so small that runs become tiny. */
    _Atomic size_t expanded, packed;
    _Atomic uint64_t spilled;
    pthread_mutex_t lock; /* the file's making, and blocks */
    size_t block;         /* bytes */
    uint8_t **slabs;
    size_t slab_count, slab_cap;
    struct rocl_sort_block *blocks; /* that are free */
    _Atomic int fd;                 /* -1: none yet */
    bool any_dir;                   /* no directory was asked for: /tmp will do, too */
    char *dir;
};

size_t rocl_space_buffer_max(const rocl_sort_space *s);
/* Accounts for more expanded bytes if there is room, or anyway. */
bool rocl_space_expand(rocl_sort_space *s, size_t n, bool anyway);
void rocl_space_unexpand(rocl_sort_space *s, size_t n);
void rocl_space_unkeep(rocl_sort_space *s, size_t n); /* see rocl_space_keep */
/* A block of space->block bytes and ROCL_PACK_SLACK more, expanded; NULL: there is no room. */
uint8_t *rocl_space_block(rocl_sort_space *s);
void rocl_space_unblock(rocl_sort_space *s, uint8_t *block); /* not its account */
/* Bytes that each of n read buffers may have. */
size_t rocl_space_read_buffer(const rocl_sort_space *s, size_t n);
rocl_status rocl_space_damaged(const rocl_sort_space *s, rocl_error *err);
/* Has the system read ahead: it does not recognise several sequences of small reads as such. */
void rocl_space_advise(rocl_sort_space *s, size_t n, uint64_t offset);

/* ---- records in a buffer (sort_order.c) ------------------------------------------------------ */

/* What is moved when records are sorted. */
typedef struct rocl_sort_entry {
    uint64_t key; /* the word being sorted by */
    uint32_t at;  /* of the record in the buffer, in units of 8 bytes */
    uint32_t pile;
} rocl_sort_entry;

/* Room that a record needs beside its own: the entry and a copy for sorting. */
#define ROCL_SORT_ENTRY_ROOM (2 * sizeof(rocl_sort_entry))

static inline size_t rocl_sort_size(unsigned words, size_t len)
{
    return 8 * (size_t)words + ((4 + len + 7) & ~(size_t)7);
}

/* Sorts the n records of a buffer. The entries and their copy are written where `room` points (8
 * aligned); returns the sorted ones. */
rocl_sort_entry *rocl_sort_order(const uint64_t *records, size_t n, unsigned words, void *room);
/* Whether records lie in order as they are. */
bool rocl_sort_ordered(const uint64_t *records, size_t n, unsigned words);

static inline bool rocl_sort_less(const uint64_t *a, const uint64_t *b, unsigned words)
{
    for (unsigned w = 0; w < words; w++) {
        if (a[w] != b[w])
            return a[w] < b[w];
    }
    return false;
}

/* ---- runs (sort_run.c) ----------------------------------------------------------------------- */

typedef struct rocl_sort_run {
    uint8_t *memory; /* NULL: in the file */
    bool block;      /* memory is one of the space's */
    uint64_t offset;
    size_t size;
    uint64_t first[ROCL_SORT_KEYS_MAX], last[ROCL_SORT_KEYS_MAX]; /* unused words are 0 */
    size_t next; /* run that follows in the chain, ROCL_NO_RUN at its end */
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

/* Are these of different groups: do first words differ above `shift` bits? */
static inline bool rocl_sort_parted(const uint64_t *a, const uint64_t *b, unsigned shift)
{
    return shift < 64 && (a[0] ^ b[0]) >> shift;
}

/* Adds a packed run: keeps it, or writes it to the file when memory's share is used up. Takes
 * run->memory, which has ROCL_PACK_SLACK more bytes. */
rocl_status rocl_sort_keep(rocl_sort_runs *to, rocl_sort_run *run, rocl_error *err);
/* Sorts and packs the n records (n > 0) of a buffer, `bytes` long, to a run, or to several when
 * they are of several groups. Behind the records there are n * ROCL_SORT_ENTRY_ROOM bytes more. */
rocl_status rocl_sort_make_runs(rocl_sort_runs *to, uint64_t *records, size_t bytes, size_t n,
                                rocl_error *err);
/* A set of runs without any. */
void rocl_sort_runs_init(rocl_sort_runs *runs, rocl_sort_space *space, unsigned words,
                         unsigned shift);
void rocl_sort_runs_free(rocl_sort_runs *runs);
bool rocl_sort_runs_add(rocl_sort_runs *to, const rocl_sort_run *run);
void rocl_sort_run_free(rocl_sort_space *s, rocl_sort_run *r);

/* ---- records that come in order (sort_strand.c) ---------------------------------------------- */

#define ROCL_SORT_STRANDS 16 /* of a worker in a sorter, at most */

/* A run under construction, and the last key of the sequence that it is of. */
typedef struct rocl_sort_strand {
    uint8_t *memory, *at, *end; /* a block */
    uint64_t first[ROCL_SORT_KEYS_MAX], last[ROCL_SORT_KEYS_MAX];
} rocl_sort_strand;

typedef struct rocl_sort_strands {
    rocl_sort_strand *all; /* by last key, the largest first */
    size_t count, cap;
    uint64_t records; /* that they ever took */
} rocl_sort_strands;

/* Packs the record if it continues a strand that has room for it. */
bool rocl_strands_take(const rocl_sort_runs *to, rocl_sort_strands *s, const uint64_t *key,
                       const void *payload, size_t len);
/* Begins a run with it otherwise, of that strand or of a new one; *taken false: there can be none.
 */
rocl_status rocl_strands_begin(rocl_sort_runs *to, rocl_sort_strands *s, const uint64_t *key,
                               const void *payload, size_t len, bool *taken, rocl_error *err);
rocl_status rocl_strands_end(rocl_sort_runs *to, rocl_sort_strands *s, rocl_error *err);
void rocl_strands_drop(rocl_sort_runs *to, rocl_sort_strands *s);

/* ---- chains of runs -------------------------------------------------------------------------- */

/* Links runs that follow each other to chains, as few as possible; heads[0..returned) are the first
 * runs. Reorders the runs. `heads` and `scratch` have room for n. */
size_t rocl_sort_chains(rocl_sort_run *runs, size_t n, size_t *heads, size_t *scratch);

/* ---- reading (sort_read.c) ------------------------------------------------------------------- */

/* Reads the records of a chain, one after the other. */
typedef struct rocl_sort_reader {
    uint64_t key[ROCL_SORT_KEYS_MAX];
    const uint8_t *data;
    size_t len;
    const uint8_t *at, *end; /* what is not decoded yet, of what is in memory */
    bool done;
    size_t run;
    uint8_t *buffer; /* for runs in the file */
    size_t cap;
    uint64_t offset, left; /* in the file: what is not in the buffer yet */
    uint64_t advised;      /* up to where reading ahead was asked for */
} rocl_sort_reader;

/* A place in the tree of losers: the reader that lost there, and its first key word. */
typedef struct rocl_sort_node {
    uint64_t key;
    uint64_t reader;
} rocl_sort_node;

typedef struct rocl_sort_merge {
    rocl_sort_space *space;
    rocl_sort_run *runs;
    unsigned words;
    size_t count; /* of readers */
    size_t read_buffer;
    rocl_sort_reader *readers;
    rocl_sort_node *tree;  /* [1, count) losers; [0] the winner */
    rocl_sort_node second; /* while the winner wins again and again: the best of the losers */
    bool streak;           /* second is known */
    bool begun;            /* the winner's record was handed out */
} rocl_sort_merge;

/* Starts with the chains at heads[0..count). space, runs, words and read_buffer are set. */
rocl_status rocl_merge_start(rocl_sort_merge *m, const size_t *heads, size_t count,
                             rocl_error *err);
/* How many of the chains have to be read from the file. */
size_t rocl_sort_chains_in_file(const rocl_sort_run *runs, const size_t *heads, size_t count);
rocl_status rocl_merge_next(rocl_sort_merge *m, rocl_sort_record *rec, bool *more, rocl_error *err);
void rocl_merge_free(rocl_sort_merge *m);

/* ---- parts (sort_parts.c) -------------------------------------------------------------------- */

typedef struct rocl_sort_part {
    rocl_sort_runs runs; /* its own: no run is of two parts */
    rocl_sort_merge merge;
} rocl_sort_part;

/* Gives the runs to count + 1 parts, cuts those that are of several, and starts the merges. *parts
 * is set also after an error. */
rocl_status rocl_sort_parts_start(rocl_sort_runs *from, const uint64_t *bounds, size_t count,
                                  rocl_sort_part **parts, rocl_error *err);
void rocl_sort_parts_free(rocl_sort_part *parts, size_t count); /* of bounds */

#endif

/* External sort: records of a few 64-bit key words and some bytes, any number of them, in bounded
 * memory. Sorted runs are kept encoded (keys as differences), in memory up to the limit of the
 * space, in one nameless temporary file beyond that. Equal keys come out in an unspecified order:
 * callers put a unique word last, which makes the output the same for every number of workers. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* What several sorters share: a memory limit in bytes and a temporary file. */
typedef struct rocl_sort_space rocl_sort_space;

/* tmpdir NULL: $TMPDIR, else /var/tmp, else /tmp. The file is made when first needed, has no name
 * (O_TMPFILE, or unlinked at once), and so cannot be left behind. */
rocl_sort_space *rocl_sort_space_new(size_t memory_limit, unsigned workers, const char *tmpdir);
void rocl_sort_space_free(rocl_sort_space *s);
uint64_t rocl_sort_space_spilled(const rocl_sort_space *s); /* bytes written to the file */
/* Appends to the file; *offset is where. For runs, and for others that need a file without a name.
 * If several pieces must be contiguous, write them from one thread into a space of their own. */
rocl_status rocl_space_spill(rocl_sort_space *s, const uint8_t *p, size_t n, uint64_t *offset,
                             rocl_error *err);
rocl_status rocl_space_read(rocl_sort_space *s, uint8_t *p, size_t n, uint64_t offset,
                            rocl_error *err);

/* Counts n more bytes, of encoded runs or others, if the limit allows them. */
bool rocl_space_keep(rocl_sort_space *s, size_t n);
void rocl_space_unkeep(rocl_sort_space *s, size_t n); /* gives them back */

/* Bytes that are put aside: in memory up to the limit, then in the file. Zeroed: none. */
typedef struct rocl_stored {
    uint8_t *bytes; /* NULL: they are in the file */
    uint64_t offset;
    size_t size;
} rocl_stored;

/* Copies them. Free each with rocl_space_drop(), before the space. Any thread. */
rocl_status rocl_space_store(rocl_sort_space *s, rocl_stored *b, const void *p, size_t n,
                             rocl_error *err);
/* Gives the bytes: in memory, or read into `scratch`. */
rocl_status rocl_space_load(rocl_sort_space *s, const rocl_stored *b, rocl_buf *scratch,
                            const uint8_t **p, rocl_error *err);
void rocl_space_drop(rocl_sort_space *s, rocl_stored *b);

#define ROCL_SORT_KEYS_MAX 4

typedef struct rocl_sorter rocl_sorter;

/* key_words: 1..ROCL_SORT_KEYS_MAX, compared in turn as unsigned numbers. NULL: memory is out. */
rocl_sorter *rocl_sorter_new(rocl_sort_space *space, unsigned key_words);
/* Call it before the first add: records whose first key words differ above the lowest `shift` bits
 * form groups, and large groups get runs of their own. Useful if rows come nearly in order within
 * groups: runs then follow each other, and are read without a merge. */
void rocl_sorter_group(rocl_sorter *s, unsigned shift);
void rocl_sorter_free(rocl_sorter *s); /* gives its memory back to the space */

/* Adds a copy of the record. Concurrent as long as each worker uses its own number. It is encoded
 * at once where it continues one of a few sorted sequences; others wait in the worker's buffer
 * (about limit / (4 * workers) bytes, 8 MiB at most), which is sorted, encoded and stored when it
 * is full. A record is 4 GiB at most. */
rocl_status rocl_sorter_add(rocl_sorter *s, unsigned worker, const uint64_t *key,
                            const void *payload, size_t len, rocl_error *err);

/* Adds the bytes of a buffer. */
static inline rocl_status rocl_sorter_add_buf(rocl_sorter *s, unsigned worker, const uint64_t *key,
                                              const rocl_buf *b, rocl_error *err)
{
    return b->failed ? rocl_fail_memory(err)
                     : rocl_sorter_add(s, worker, key, b->data, b->len, err);
}

/* Makes runs of everything that the worker has added, and frees its buffer. Call it when a task
 * ends, so that idle sorters hold no expanded records. */
rocl_status rocl_sorter_seal(rocl_sorter *s, unsigned worker, rocl_error *err);

uint64_t rocl_sorter_count(const rocl_sorter *s); /* records added (not while adding) */

/* Seals every worker and starts reading. May be called once; add is not allowed afterwards. */
rocl_status rocl_sorter_start(rocl_sorter *s, rocl_error *err);

typedef struct rocl_sort_record {
    const uint64_t *key;
    const uint8_t *data; /* valid until the next call of next */
    size_t len;
} rocl_sort_record;

/* ROCL_INTERNAL: what a sorter hands out is not what was added. */
rocl_status rocl_fail_sorted(rocl_error *err);

/* The next record in order; *more false at the end. */
rocl_status rocl_sorter_next(rocl_sorter *s, rocl_sort_record *rec, bool *more, rocl_error *err);

/* Reads the next record of a sorter that was started, for loops over all of them. False at the end
 * and after a failure, which is in *st. */
static inline bool rocl_next_record(rocl_sorter *s, rocl_sort_record *rec, rocl_status *st,
                                    rocl_error *err)
{
    bool more = false;
    if (*st == ROCL_OK)
        *st = rocl_sorter_next(s, rec, &more, err);
    return *st == ROCL_OK && more;
}

enum { ROCL_RECORD_NUMBERS = 5 };

/* Adds a record whose data are n numbers, ROCL_RECORD_NUMBERS at most. */
static inline rocl_status rocl_add_numbers(rocl_sorter *s, unsigned worker, const uint64_t *key,
                                           const uint64_t *numbers, unsigned n, rocl_error *err)
{
    uint8_t data[ROCL_RECORD_NUMBERS * ROCL_VARINT_MAX], *q = data;
    for (unsigned i = 0; i < n; i++)
        q = rocl_varint_put(q, numbers[i]);
    return rocl_sorter_add(s, worker, key, data, (size_t)(q - data), err);
}

/* Its numbers, and zeros for those that it has not. Returns how many it has. */
static inline unsigned rocl_read_numbers(const rocl_sort_record *rec, uint64_t *numbers, unsigned n)
{
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    unsigned i = 0;
    memset(numbers, 0, n * sizeof *numbers);
    while (i < n && rocl_varint_get(&p, past, &numbers[i]))
        i++;
    return i;
}

/* A place between records: those whose first two key words are less come before it. */
typedef struct rocl_sort_bound {
    uint64_t word[2];
} rocl_sort_bound;

/* Starts reading in count + 1 ranges, by as many threads as one likes: range i has the records from
 * bounds[i - 1] up to bounds[i]; bounds ascend. */
rocl_status rocl_sorter_start_ranges(rocl_sorter *s, const rocl_sort_bound *bounds, size_t count,
                                     rocl_error *err);

/* Before reading, if keys have at least 3 words: the least third word of all records in [from, to),
 * or UINT64_MAX. Reads few records: only of runs that contain one of the bounds. */
rocl_status rocl_sorter_least(rocl_sorter *s, rocl_sort_bound from, rocl_sort_bound to,
                              uint64_t *least, rocl_error *err);

/* Seals every worker, too, and prepares reading from any record on: records stay until the sorter
 * is freed. */
rocl_status rocl_sorter_start_cursors(rocl_sorter *s, rocl_error *err);

/* Reads the records number first..first+count-1 in order, or as many as there are; UINT64_MAX: all
 * from the first on. Cursors are independent, also in different threads; at most `together` are
 * open at one time. Opening one takes about as long as reading a few thousand records. */
typedef struct rocl_sort_cursor rocl_sort_cursor;
rocl_status rocl_sorter_open(const rocl_sorter *s, uint64_t first, uint64_t count,
                             unsigned together, rocl_sort_cursor **cursor, rocl_error *err);
rocl_status rocl_sort_cursor_next(rocl_sort_cursor *c, rocl_sort_record *rec, bool *more,
                                  rocl_error *err);
void rocl_sort_cursor_close(rocl_sort_cursor *c); /* NULL is fine; before the sorter is freed */

rocl_status rocl_sorter_next_of(rocl_sorter *s, size_t range, rocl_sort_record *rec, bool *more,
                                rocl_error *err);

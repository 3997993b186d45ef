/* The interface of the external sort: sorters, and the buffers of their workers. */
#include "base/extsort.h"

#include "base/error.h"
#include "base/sort_impl.h"

#include <stdalign.h>
#include <stdlib.h>

/* A worker may fill some dozen sorters at once, each with at least a first buffer: these share the
 * memory for sorting. Larger buffers have it behind their records. */
enum { FIRST_BUFFER = 48 << 10, GROWTH = 4 };

/* What one worker has added that is not in runs yet. */
typedef struct worker_slot {
    alignas(64) rocl_sort_strands strands;
    bool shuffled; /* strands take too few records to be tried */
    uint64_t *records;
    size_t used, cap; /* bytes */
    size_t free;      /* cap less the records and the memory for sorting them there */
    size_t n;
    uint64_t buffered; /* records that ever were in the buffer */
} worker_slot;

struct rocl_sorter {
    rocl_sort_runs runs;
    unsigned workers;
    rocl_sort_range *ranges; /* once reading has begun */
    size_t bounds;           /* between them */
    rocl_sort_index index;   /* once cursors are used */
    worker_slot slots[];
};

rocl_sorter *rocl_sorter_new(rocl_sort_space *space, unsigned key_words)
{
    if (key_words < 1 || key_words > ROCL_SORT_KEYS_MAX)
        return NULL;
    size_t size = sizeof(rocl_sorter) + space->workers * sizeof(worker_slot);
    rocl_sorter *s = aligned_alloc(alignof(rocl_sorter), size);
    if (!s)
        return NULL;
    memset(s, 0, size);
    rocl_sort_runs_init(&s->runs, space, key_words, 64);
    s->workers = space->workers;
    return s;
}

void rocl_sorter_group(rocl_sorter *s, unsigned shift)
{
    s->runs.shift = shift;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void drop_buffer(rocl_sorter *s, worker_slot *w)
{
    rocl_space_unexpand(s->runs.space, w->cap);
    free(w->records);
    w->records = NULL;
    w->used = w->cap = w->free = w->n = 0;
}

/* Bytes that sorting needs in a buffer of this size for each of its records. */
static size_t entry_size(size_t cap)
{
    return cap > FIRST_BUFFER ? ROCL_SORT_ENTRY_SIZE : 0;
}

static bool grow_buffer(rocl_sorter *s, worker_slot *w, size_t cap, bool anyway)
{
    const size_t filled = w->used + w->n * entry_size(cap);
    if (!cap || cap <= w->cap || cap < filled)
        return false;
    size_t more = cap - w->cap;
    if (!rocl_space_expand(s->runs.space, more, anyway))
        return false;
    uint64_t *records = realloc(w->records, cap);
    if (!records) {
        rocl_space_unexpand(s->runs.space, more);
        return false;
    }
    w->records = records;
    w->cap = cap;
    w->free = cap - filled;
    return true;
}

/* Makes the worker's records a run. The buffer stays, unless it is larger than it should be. */
static rocl_status write_buffer(rocl_sorter *s, worker_slot *w, rocl_error *err)
{
    uint8_t *behind = (uint8_t *)w->records + w->used;
    void *space = entry_size(w->cap) ? behind : malloc(w->n * ROCL_SORT_ENTRY_SIZE);
    rocl_status st = space ? rocl_sort_make_runs(&s->runs, w->records, w->used, w->n, space, err)
                           : rocl_fail_memory(err);
    if (space != behind)
        free(space);
    if (st)
        return st;
    w->used = w->n = 0;
    w->free = w->cap;
    if (w->cap > rocl_space_buffer_max(s->runs.space))
        drop_buffer(s, w);
    return ROCL_OK;
}

/* Makes room for one more record. Buffers begin small and grow, so that sorters with few records
 * take little memory. */
static rocl_status reserve_buffer(rocl_sorter *s, worker_slot *w, size_t size, rocl_error *err)
{
    size_t max = rocl_space_buffer_max(s->runs.space);
    while (w->free < size + entry_size(w->cap)) {
        size_t cap = !w->cap ? FIRST_BUFFER : w->cap > FIRST_BUFFER ? 2 * w->cap : GROWTH * w->cap;
        if (w->cap < max && grow_buffer(s, w, cap < max ? cap : max, w->cap == 0))
            continue;
        if (w->n) { /* full: strands begin anew, as a single record of a far time ends a strand */
            w->shuffled = w->strands.records < w->buffered;
            rocl_status st = rocl_strands_end(&s->runs, &w->strands, err);
            if (st == ROCL_OK)
                st = write_buffer(s, w, err);
            if (st)
                return st;
        } else if (!grow_buffer(s, w, size + ROCL_SORT_ENTRY_SIZE,
                                true)) { /* a record larger than buffers are */
            return rocl_fail_memory(err);
        }
    }
    return ROCL_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Adds a record that does not simply continue a strand. */
static rocl_status add_slowly(rocl_sorter *s, unsigned worker, const uint64_t *key,
                              const void *payload, size_t len, rocl_error *err)
{
    if (s->ranges || s->index.runs)
        return rocl_fail(err, ROCL_INTERNAL, "a record is added to a sorter that is being read");
    if (worker >= s->workers || len > UINT32_MAX)
        return rocl_fail(err, ROCL_INTERNAL, "record of %zu bytes by worker %u cannot be sorted",
                         len, worker);
    worker_slot *w = &s->slots[worker];
    bool taken = false;
    rocl_status st = ROCL_OK;
    if (!w->shuffled)
        st = rocl_strands_begin(&s->runs, &w->strands, key, payload, len, &taken, err);
    if (taken || st)
        return st;
    const unsigned words = s->runs.words;
    const size_t size = rocl_sort_buffer_size(words, len);
    if (!w->records || w->free < size + entry_size(w->cap)) {
        st = reserve_buffer(s, w, size, err);
        if (st || !w->records)
            return st;
    }
    uint64_t *r = w->records + w->used / 8;
    uint32_t len32 = (uint32_t)len;
    for (unsigned i = 0; i < words; i++)
        r[i] = key[i];
    memcpy(r + words, &len32, sizeof len32);
    if (len)
        memcpy((uint8_t *)(r + words) + sizeof len32, payload, len);
    w->used += size;
    w->free -= size + entry_size(w->cap);
    w->n++;
    w->buffered++;
    return ROCL_OK;
}

rocl_status rocl_sorter_add(rocl_sorter *s, unsigned worker, const uint64_t *key,
                            const void *payload, size_t len, rocl_error *err)
{
    if (worker < s->workers &&
        rocl_strands_append(&s->runs, &s->slots[worker].strands, key, payload, len))
        return ROCL_OK;
    return add_slowly(s, worker, key, payload, len, err);
}

rocl_status rocl_sorter_seal(rocl_sorter *s, unsigned worker, rocl_error *err)
{
    worker_slot *w = &s->slots[worker];
    rocl_status st = rocl_strands_end(&s->runs, &w->strands, err);
    if (st == ROCL_OK && w->n)
        st = write_buffer(s, w, err);
    if (st)
        return st;
    drop_buffer(s, w);
    w->shuffled = false;
    return ROCL_OK;
}

rocl_status rocl_fail_sorted(rocl_error *err)
{
    return rocl_fail(err, ROCL_INTERNAL, "a sorted record came back damaged");
}

uint64_t rocl_sorter_count(const rocl_sorter *s)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < s->workers; i++)
        count += s->slots[i].buffered + s->slots[i].strands.records;
    return count;
}

/* ---- reading --------------------------------------------------------------------------------- */

static rocl_status seal_all(rocl_sorter *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < s->workers && st == ROCL_OK; i++)
        st = rocl_sorter_seal(s, i, err);
    return st;
}

rocl_status rocl_sorter_least(rocl_sorter *s, rocl_sort_bound from, rocl_sort_bound to,
                              uint64_t *least, rocl_error *err)
{
    const rocl_status st = seal_all(s, err);
    return st ? st : rocl_sort_find_least(&s->runs, from, to, least, err);
}

static rocl_status begin_reading(rocl_sorter *s, rocl_error *err)
{
    if (s->ranges || s->index.runs)
        return rocl_fail(err, ROCL_INTERNAL, "a sorter is started twice");
    const rocl_status st = seal_all(s, err);
    if (st == ROCL_OK) /* most sorters of a space are filled at the same time, and read then */
        rocl_space_free_blocks(s->runs.space);
    return st;
}

rocl_status rocl_sorter_start_ranges(rocl_sorter *s, const rocl_sort_bound *bounds, size_t count,
                                     rocl_error *err)
{
    const rocl_status st = begin_reading(s, err);
    if (st)
        return st;
    s->bounds = count;
    return rocl_sort_ranges_start(&s->runs, bounds, count, &s->ranges, err);
}

rocl_status rocl_sorter_start_cursors(rocl_sorter *s, rocl_error *err)
{
    const rocl_status st = begin_reading(s, err);
    return st ? st : rocl_sort_index_runs(&s->index, &s->runs, err);
}

rocl_status rocl_sorter_open(const rocl_sorter *s, uint64_t first, uint64_t count,
                             unsigned together, rocl_sort_cursor **cursor, rocl_error *err)
{
    if (!s->index.runs)
        return rocl_fail(err, ROCL_INTERNAL, "a sorter is read before it is started");
    return rocl_sort_open(&s->index, first, count, together, cursor, err);
}

rocl_status rocl_sorter_start(rocl_sorter *s, rocl_error *err)
{
    return rocl_sorter_start_ranges(s, NULL, 0, err);
}

rocl_status rocl_sorter_next_of(rocl_sorter *s, size_t range, rocl_sort_record *rec, bool *more,
                                rocl_error *err)
{
    *more = false;
    return s->ranges ? rocl_sort_ranges_next(s->ranges, range, rec, more, err) : ROCL_OK;
}

rocl_status rocl_sorter_next(rocl_sorter *s, rocl_sort_record *rec, bool *more, rocl_error *err)
{
    return rocl_sorter_next_of(s, 0, rec, more, err);
}

void rocl_sorter_free(rocl_sorter *s)
{
    if (!s)
        return;
    rocl_sort_ranges_free(s->ranges, s->bounds);
    rocl_sort_index_free(&s->index);
    for (unsigned i = 0; i < s->workers; i++) {
        rocl_strands_drop(&s->runs, &s->slots[i].strands);
        drop_buffer(s, &s->slots[i]);
    }
    rocl_sort_runs_free(&s->runs);
    rocl_space_free_blocks(s->runs.space);
    free(s);
}

/* Makes sorted, encoded runs of records: a run is in memory or in the file of the space. Traces are
 * nearly sorted: a few sorted sequences (one per thread or queue), interleaved. Each sequence gets
 * a strand of its own, whose records are encoded as they come; records that continue no strand go
 * to a buffer, which is sorted here when it is full. */
#include "base/sort_impl.h"

#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>

typedef rocl_sort_strand strand;
typedef rocl_sort_strands strands;

enum {
    PREFETCH = 8,
    GROUP_MIN = 64, /* the fewest records in a run of a group, except the last */
};

/* ---- keeping runs --------------------------------------------------------------------------- */

/* Bytes that a run takes: a block keeps its size. */
static size_t kept_size(const rocl_sort_space *s, const rocl_sort_run *r)
{
    return r->block ? s->block : r->size;
}

static void free_run_memory(rocl_sort_space *s, rocl_sort_run *r)
{
    if (r->block)
        rocl_space_unblock(s, r->memory);
    else
        free(r->memory);
    r->memory = NULL;
}

bool rocl_sort_runs_add(rocl_sort_runs *to, const rocl_sort_run *run)
{
    pthread_mutex_lock(&to->lock);
    bool ok = ROCL_GROW(to->all, to->cap, to->count + 1);
    if (ok)
        to->all[to->count++] = *run;
    pthread_mutex_unlock(&to->lock);
    return ok;
}

rocl_status rocl_sort_keep_run(rocl_sort_runs *to, rocl_sort_run *run, rocl_error *err)
{
    rocl_sort_space *s = to->space;
    /* Moves the run to memory of its own size, from that for the longest possible run, or from a
     * block that is less than half full. */
    if (!run->block || run->size <= s->block / 2) {
        size_t size = run->size + ROCL_SORT_SLACK;
        uint8_t *memory = realloc(run->block ? NULL : run->memory, size);
        if (memory && run->block) {
            memcpy(memory, run->memory, size);
            rocl_space_unblock(s, run->memory);
        }
        if (memory) {
            run->memory = memory;
            run->block = false;
        }
    }
    if (!rocl_space_keep(s, kept_size(s, run))) {
        uint64_t offset = 0;
        rocl_status st = rocl_space_spill(s, run->memory, run->size, &offset, err);
        run->offset = offset;
        free_run_memory(s, run);
        if (st)
            return st;
    }
    if (rocl_sort_runs_add(to, run))
        return ROCL_OK;
    rocl_sort_run_free(s, run);
    return rocl_fail_memory(err);
}

void rocl_sort_run_free(rocl_sort_space *s, rocl_sort_run *r)
{
    if (!r->memory)
        return;
    rocl_space_unkeep(s, kept_size(s, r));
    free_run_memory(s, r);
}

void rocl_sort_runs_init(rocl_sort_runs *runs, rocl_sort_space *space, unsigned words,
                         unsigned shift)
{
    *runs = (rocl_sort_runs){.space = space, .words = words, .shift = shift};
    pthread_mutex_init(&runs->lock, NULL);
}

void rocl_sort_runs_free(rocl_sort_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        rocl_sort_run_free(runs->space, &runs->all[i]);
    free(runs->all);
    pthread_mutex_destroy(&runs->lock);
}

/* ---- from a buffer --------------------------------------------------------------------------- */

typedef struct encoder {
    uint8_t *at;
    uint64_t prev[ROCL_SORT_KEYS_MAX];
    uint64_t least;
    unsigned words;
} encoder;

/* Returns the record's size in the buffer, in units of 8 bytes. */
static size_t encode_record(encoder *p, const uint64_t *record)
{
    uint32_t len;
    const uint8_t *payload = (const uint8_t *)(record + p->words) + sizeof len;
    memcpy(&len, record + p->words, sizeof len);
    p->least = rocl_sort_least(p->least, record, p->words);
    p->at = rocl_sort_encode_head(p->at, record, p->prev, p->words, len);
    memcpy(p->at, payload, len);
    p->at += len;
    return rocl_sort_buffer_size(p->words, len) / 8;
}

/* Encodes the records that the entries name, or, without entries, those that lie at `records`. */
static rocl_status write_run(rocl_sort_runs *to, const uint64_t *records, const rocl_sort_entry *e,
                             size_t n, size_t bytes, rocl_error *err)
{
    /* A record has 8 * words + 4 bytes besides its payload, and encoded at most this many more. */
    size_t more = to->words / 2 + 1 + 8 - 4;
    uint8_t *encoded = malloc(bytes + n * more + ROCL_SORT_SLACK);
    if (!encoded)
        return rocl_fail_memory(err);
    encoder p = {.at = encoded, .least = UINT64_MAX, .words = to->words};
    const uint64_t *r = records;
    for (size_t i = 0; i < n && e; i++) {
        if (i + PREFETCH < n)
            __builtin_prefetch(records + e[i + PREFETCH].at);
        encode_record(&p, records + e[i].at);
    }
    for (size_t i = 0; i < n && !e; i++)
        r += encode_record(&p, r);
    rocl_sort_run run = {.memory = encoded,
                         .size = (size_t)(p.at - encoded),
                         .records = n,
                         .least = p.least,
                         .next = ROCL_NO_RUN};
    memcpy(run.first, e ? records + e[0].at : records, to->words * sizeof *records);
    memcpy(run.last, p.prev, sizeof run.last);
    return rocl_sort_keep_run(to, &run, err);
}

rocl_status rocl_sort_make_runs(rocl_sort_runs *to, const uint64_t *records, size_t bytes, size_t n,
                                void *space, rocl_error *err)
{
    const rocl_sort_entry *e = NULL;
    rocl_status st = ROCL_OK;
    if (!rocl_sort_is_ordered(records, n, to->words))
        e = rocl_sort_entries(records, n, to->words, space);
    if (!e || to->shift >= 64)
        return write_run(to, records, e, n, bytes, err);
    /* A run goes up to the end of a group, but is not too small. */
    for (size_t count = 0; n && st == ROCL_OK; e += count, n -= count) {
        bytes = 0;
        for (count = 0; count < n; count++) {
            const uint64_t *r = records + e[count].at;
            uint32_t len;
            if (count >= GROUP_MIN &&
                rocl_sort_groups_differ(r, records + e[count - 1].at, to->shift))
                break;
            memcpy(&len, r + to->words, sizeof len);
            bytes += rocl_sort_buffer_size(to->words, len);
        }
        st = write_run(to, records, e, count, bytes, err);
    }
    return st;
}

/* ---- strands --------------------------------------------------------------------------------- */

/* Begins a run with a record of `need` bytes. */
static bool begin_run(rocl_sort_runs *to, strand *t, const uint64_t *key, size_t need)
{
    uint8_t *block = need <= to->space->block ? rocl_space_block(to->space) : NULL;
    if (!block)
        return false;
    *t = (strand){
        .memory = block, .at = block, .end = block + to->space->block, .least = UINT64_MAX};
    memcpy(t->first, key, to->words * sizeof *key);
    return true;
}

static rocl_status end_run(rocl_sort_runs *to, strand *t, rocl_error *err)
{
    rocl_sort_run run = {.memory = t->memory,
                         .block = true,
                         .size = (size_t)(t->at - t->memory),
                         .records = t->records,
                         .least = t->least,
                         .next = ROCL_NO_RUN};
    memcpy(run.first, t->first, sizeof run.first);
    memcpy(run.last, t->last, sizeof run.last);
    rocl_space_unexpand(to->space, to->space->block);
    return rocl_sort_keep_run(to, &run, err);
}

/* The first strand, in descending order of last keys, whose last key is not above the key: this
 * leaves the other strands the most records to take. */
static size_t find_strand(const strands *s, const uint64_t *key, unsigned words)
{
    size_t i = 0;
    while (i < s->count && rocl_sort_less(key, s->all[i].last, words))
        i++;
    return i;
}

static inline void append_record(strand *t, const uint64_t *key, unsigned words,
                                 const void *payload, size_t len)
{
    t->records++;
    t->least = rocl_sort_least(t->least, key, words);
    t->at = rocl_sort_encode_head(t->at, key, t->last, words, (uint32_t)len);
    if (len)
        memcpy(t->at, payload, len);
    t->at += len;
}

bool rocl_strands_append(const rocl_sort_runs *to, strands *s, const uint64_t *key,
                         const void *payload, size_t len)
{
    size_t i = find_strand(s, key, to->words);
    if (i == s->count)
        return false;
    strand *t = &s->all[i];
    if ((size_t)(t->end - t->at) < ROCL_SORT_HEAD_MAX + len ||
        rocl_sort_groups_differ(key, t->last, to->shift))
        return false;
    append_record(t, key, to->words, payload, len);
    s->records++;
    return true;
}

rocl_status rocl_strands_begin(rocl_sort_runs *to, strands *s, const uint64_t *key,
                               const void *payload, size_t len, bool *taken, rocl_error *err)
{
    const size_t need = ROCL_SORT_HEAD_MAX + len;
    size_t i = find_strand(s, key, to->words);
    rocl_status st = ROCL_OK;
    if (i == s->count || rocl_sort_groups_differ(key, s->all[i].last, to->shift)) {
        /* A new strand, at its place in the order of last keys. */
        strand t;
        *taken = s->count < ROCL_SORT_STRANDS && ROCL_GROW(s->all, s->cap, s->count + 1) &&
                 begin_run(to, &t, key, need);
        if (*taken) {
            memmove(&s->all[i + 1], &s->all[i], (s->count++ - i) * sizeof t);
            s->all[i] = t;
        }
    } else {
        st = end_run(to, &s->all[i], err);
        *taken = st == ROCL_OK && begin_run(to, &s->all[i], key, need);
        if (!*taken)
            memmove(&s->all[i], &s->all[i + 1], (--s->count - i) * sizeof s->all[0]);
    }
    if (*taken)
        append_record(&s->all[i], key, to->words, payload, len);
    s->records += *taken;
    return st;
}

rocl_status rocl_strands_end(rocl_sort_runs *to, strands *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (s->count && st == ROCL_OK)
        st = end_run(to, &s->all[--s->count], err);
    return st;
}

void rocl_strands_drop(rocl_sort_runs *to, strands *s)
{
    while (s->count) {
        rocl_space_unexpand(to->space, to->space->block);
        rocl_space_unblock(to->space, s->all[--s->count].memory);
    }
    free(s->all);
}

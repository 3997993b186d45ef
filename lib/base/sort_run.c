/* From a buffer of records to a sorted, packed run; and runs to chains. */
#include "base/sort_impl.h"

#include "base/array.h"
#include "base/error.h"
#include "base/sort_pack.h"

#include <stdlib.h>

enum {
    PREFETCH = 8,
    GROUP_MIN = 64, /* records that a run of a group has at least, unless it is the last */
};

/* ---- packing --------------------------------------------------------------------------------- */

typedef struct packer {
    uint8_t *at;
    uint64_t prev[ROCL_SORT_KEYS_MAX];
    unsigned words;
} packer;

/* Returns the record's size in the buffer, in units of 8 bytes. */
static size_t pack_record(packer *p, const uint64_t *record)
{
    uint32_t len;
    const uint8_t *payload = (const uint8_t *)(record + p->words) + sizeof len;
    memcpy(&len, record + p->words, sizeof len);
    p->at = rocl_pack_key(p->at, record, p->prev, p->words, len);
    memcpy(p->at, payload, len);
    p->at += len;
    return rocl_sort_size(p->words, len) / 8;
}

static void pack_ordered(packer *p, const uint64_t *records, size_t n)
{
    for (size_t i = 0; i < n; i++)
        records += pack_record(p, records);
}

static void pack_entries(packer *p, const uint64_t *records, const rocl_sort_entry *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH < n)
            __builtin_prefetch(records + e[i + PREFETCH].at);
        pack_record(p, records + e[i].at);
    }
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* What a run takes: a block does not become smaller. */
static size_t kept_size(const rocl_sort_space *s, const rocl_sort_run *r)
{
    return r->block ? s->block : r->size;
}

static void release(rocl_sort_space *s, rocl_sort_run *r)
{
    if (r->block)
        rocl_space_unblock(s, r->memory);
    else
        free(r->memory);
    r->memory = NULL;
}

/* Into memory of its own size: in place of what was malloced for the longest run possible, or of a
 * block that is not half full. */
static void fit(rocl_sort_space *s, rocl_sort_run *r)
{
    size_t size = r->size + ROCL_PACK_SLACK;
    if (r->block && r->size > s->block / 2)
        return;
    uint8_t *memory = realloc(r->block ? NULL : r->memory, size);
    if (!memory)
        return;
    if (r->block) {
        memcpy(memory, r->memory, size);
        rocl_space_unblock(s, r->memory);
    }
    r->memory = memory;
    r->block = false;
}

static rocl_status store(rocl_sort_space *s, rocl_sort_run *r, rocl_error *err)
{
    uint64_t offset = 0;
    fit(s, r);
    if (rocl_space_keep(s, kept_size(s, r)))
        return ROCL_OK;
    rocl_status st = rocl_space_spill(s, r->memory, r->size, &offset, err);
    r->offset = offset;
    release(s, r);
    return st;
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

rocl_status rocl_sort_keep(rocl_sort_runs *to, rocl_sort_run *run, rocl_error *err)
{
    rocl_status st = store(to->space, run, err);
    if (st || rocl_sort_runs_add(to, run))
        return st;
    rocl_sort_run_free(to->space, run);
    return rocl_fail_memory(err);
}

void rocl_sort_run_free(rocl_sort_space *s, rocl_sort_run *r)
{
    if (!r->memory)
        return;
    rocl_space_unkeep(s, kept_size(s, r));
    release(s, r);
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

/* Packs the records that the entries name, or, without entries, those that lie at `records`. */
static rocl_status make_run(rocl_sort_runs *to, const uint64_t *records, const rocl_sort_entry *e,
                            size_t n, size_t bytes, rocl_error *err)
{
    /* A record has 8 * words + 4 bytes beside its payload, and packed at most this many more. */
    size_t more = to->words / 2 + 1 + 8 - 4;
    uint8_t *packed = malloc(bytes + n * more + ROCL_PACK_SLACK);
    if (!packed)
        return rocl_fail_memory(err);
    packer p = {.at = packed, .words = to->words};
    if (e)
        pack_entries(&p, records, e, n);
    else
        pack_ordered(&p, records, n);
    rocl_sort_run run = {.memory = packed, .size = (size_t)(p.at - packed), .next = ROCL_NO_RUN};
    memcpy(run.first, e ? records + e[0].at : records, to->words * sizeof *records);
    memcpy(run.last, p.prev, sizeof run.last);
    return rocl_sort_keep(to, &run, err);
}

/* How many of the n entries make the next run: up to the end of a group, but not too few. */
static size_t group_end(const rocl_sort_runs *to, const uint64_t *records, const rocl_sort_entry *e,
                        size_t n, size_t *bytes)
{
    size_t i = 0;
    *bytes = 0;
    for (; i < n; i++) {
        const uint64_t *r = records + e[i].at;
        uint32_t len;
        if (i >= GROUP_MIN && rocl_sort_parted(r, records + e[i - 1].at, to->shift))
            break;
        memcpy(&len, r + to->words, sizeof len);
        *bytes += rocl_sort_size(to->words, len);
    }
    return i;
}

rocl_status rocl_sort_make_runs(rocl_sort_runs *to, uint64_t *records, size_t bytes, size_t n,
                                rocl_error *err)
{
    const rocl_sort_entry *e = NULL;
    rocl_status st = ROCL_OK;
    if (!rocl_sort_ordered(records, n, to->words))
        e = rocl_sort_order(records, n, to->words, (uint8_t *)records + bytes);
    while (n && st == ROCL_OK) {
        size_t part_bytes = bytes, part = n;
        if (e && to->shift < 64)
            part = group_end(to, records, e, n, &part_bytes);
        st = make_run(to, records, e, part, part_bytes, err);
        e = e ? e + part : e;
        n -= part;
    }
    return st;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
    const rocl_sort_run *x = a, *y = b;
    if (rocl_sort_less(x->first, y->first, ROCL_SORT_KEYS_MAX))
        return -1;
    return rocl_sort_less(y->first, x->first, ROCL_SORT_KEYS_MAX);
}

/* A heap of the chains' last runs, the one that ends first on top. */
typedef struct tails {
    const rocl_sort_run *runs;
    size_t *heap, count;
} tails;

static bool ends_before(const tails *t, size_t a, size_t b)
{
    return rocl_sort_less(t->runs[t->heap[a]].last, t->runs[t->heap[b]].last, ROCL_SORT_KEYS_MAX);
}

static void swap(tails *t, size_t a, size_t b)
{
    size_t run = t->heap[a];
    t->heap[a] = t->heap[b];
    t->heap[b] = run;
}

static void push(tails *t, size_t run)
{
    size_t i = t->count++;
    t->heap[i] = run;
    for (; i > 0 && ends_before(t, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(t, i, (i - 1) / 2);
}

static void replace_top(tails *t, size_t run)
{
    t->heap[0] = run;
    for (size_t i = 0, child; (child = 2 * i + 1) < t->count; i = child) {
        if (child + 1 < t->count && ends_before(t, child + 1, child))
            child++;
        if (!ends_before(t, child, i))
            break;
        swap(t, i, child);
    }
}

/* Runs are taken by their beginning and put after the one that ended first; a chain is begun only
 * when all chains so far overlap with the run, so there is no way to have fewer. */
size_t rocl_sort_chains(rocl_sort_run *runs, size_t n, size_t *heads, size_t *scratch)
{
    if (n)
        qsort(runs, n, sizeof *runs, by_first);
    tails t = {runs, scratch, 0};
    for (size_t i = 0; i < n; i++) {
        size_t top = t.count ? t.heap[0] : i;
        if (!t.count || rocl_sort_less(runs[i].first, runs[top].last, ROCL_SORT_KEYS_MAX)) {
            heads[t.count] = i;
            push(&t, i);
        } else {
            runs[top].next = i;
            replace_top(&t, i);
        }
    }
    return t.count;
}

/* From runs to merges: one of all records, or several, each of a range of keys. */
#include "base/sort_impl.h"

#include "base/error.h"
#include "base/sort_pack.h"

#include <stdlib.h>

typedef rocl_sort_part part;

/* ---- a run of several parts ------------------------------------------------------------------ */

/* A piece of it under construction. */
typedef struct piece {
    part *to;
    uint8_t *at;
    rocl_sort_run run;
} piece;

static bool begin_piece(piece *p, part *to, const uint64_t *key, size_t room)
{
    uint8_t *memory = malloc(room + ROCL_PACK_SLACK);
    *p = (piece){.to = to, .at = memory, .run = {.memory = memory, .next = ROCL_NO_RUN}};
    memcpy(p->run.first, key, to->runs.words * sizeof *key);
    return memory;
}

static rocl_status end_piece(piece *p, rocl_error *err)
{
    if (!p->run.memory)
        return ROCL_OK;
    p->run.size = (size_t)(p->at - p->run.memory);
    rocl_status st = rocl_sort_keep(&p->to->runs, &p->run, err);
    p->run.memory = NULL;
    return st;
}

static void put_record(piece *p, const rocl_sort_record *rec)
{
    p->at = rocl_pack_key(p->at, rec->key, p->run.last, p->to->runs.words, (uint32_t)rec->len);
    if (rec->len)
        memcpy(p->at, rec->data, rec->len);
    p->at += rec->len;
}

static size_t part_of(uint64_t key, const uint64_t *bounds, size_t count)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (bounds[mid] <= key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static rocl_status cut_read(rocl_sort_merge *m, size_t size, part *parts, const uint64_t *bounds,
                            size_t count, rocl_error *err)
{
    piece p = {0};
    rocl_sort_record rec;
    bool more;
    rocl_status st;
    while ((st = rocl_merge_next(m, &rec, &more, err)) == ROCL_OK && more) {
        part *to = &parts[part_of(rec.key[0], bounds, count)];
        if (to != p.to) {
            st = end_piece(&p, err);
            if (st)
                break;
            /* Packed anew, only the first record may take more than it did. */
            if (!begin_piece(&p, to, rec.key, size + ROCL_PACK_HEAD)) {
                st = rocl_fail_memory(err);
                break;
            }
        }
        put_record(&p, &rec);
    }
    if (st == ROCL_OK)
        return end_piece(&p, err);
    free(p.run.memory);
    return st;
}

/* Takes the run. */
static rocl_status cut_run(rocl_sort_runs *from, rocl_sort_run *run, part *parts,
                           const uint64_t *bounds, size_t count, rocl_error *err)
{
    const size_t head = 0;
    rocl_sort_merge m = {.space = from->space, .runs = run, .words = from->words};
    m.read_buffer = rocl_space_read_buffer(from->space, 1);
    rocl_status st = rocl_merge_start(&m, &head, 1, err);
    if (st == ROCL_OK)
        st = cut_read(&m, run->size, parts, bounds, count, err);
    rocl_merge_free(&m);
    return st;
}

/* ---- runs to parts --------------------------------------------------------------------------- */

static rocl_status give(rocl_sort_runs *from, rocl_sort_run *run, part *parts,
                        const uint64_t *bounds, size_t count, rocl_error *err)
{
    size_t first = part_of(run->first[0], bounds, count);
    if (first != part_of(run->last[0], bounds, count))
        return cut_run(from, run, parts, bounds, count, err);
    if (!rocl_sort_runs_add(&parts[first].runs, run))
        return rocl_fail_memory(err);
    run->memory = NULL;
    return ROCL_OK;
}

/* Strings the runs of a part to chains: *heads of them. */
static rocl_status link_runs(part *p, size_t **heads, size_t *chains, size_t *files,
                             rocl_error *err)
{
    size_t n = p->runs.count;
    *heads = reallocarray(NULL, n ? n : 1, 2 * sizeof **heads);
    if (!*heads)
        return rocl_fail_memory(err);
    *chains = rocl_sort_chains(p->runs.all, n, *heads, *heads + n);
    *files += rocl_sort_chains_in_file(p->runs.all, *heads, *chains);
    return ROCL_OK;
}

/* Read buffers share what there is, hence all chains are made before the first is read. */
static rocl_status start_merges(part *parts, size_t count, size_t **heads, size_t *chains,
                                rocl_error *err)
{
    size_t files = 0;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = link_runs(&parts[i], &heads[i], &chains[i], &files, err);
    if (st)
        return st;
    size_t buffer = rocl_space_read_buffer(parts[0].runs.space, files);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        rocl_sort_runs *runs = &parts[i].runs;
        parts[i].merge = (rocl_sort_merge){
            .space = runs->space, .runs = runs->all, .words = runs->words, .read_buffer = buffer};
        st = rocl_merge_start(&parts[i].merge, heads[i], chains[i], err);
    }
    return st;
}

rocl_status rocl_sort_parts_start(rocl_sort_runs *from, const uint64_t *bounds, size_t count,
                                  rocl_sort_part **out, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    part *parts = *out = calloc(count + 1, sizeof *parts);
    size_t **heads = calloc(count + 1, sizeof *heads);
    size_t *chains = calloc(count + 1, sizeof *chains);
    for (size_t i = 0; parts && i <= count; i++)
        rocl_sort_runs_init(&parts[i].runs, from->space, from->words, from->shift);
    if (!parts || !heads || !chains)
        st = rocl_fail_memory(err);
    for (size_t i = 0; i < from->count && st == ROCL_OK; i++)
        st = give(from, &from->all[i], parts, bounds, count, err);
    if (st == ROCL_OK)
        st = start_merges(parts, count + 1, heads, chains, err);
    for (size_t i = 0; heads && i <= count; i++)
        free(heads[i]);
    free(heads);
    free(chains);
    return st;
}

void rocl_sort_parts_free(rocl_sort_part *parts, size_t count)
{
    for (size_t i = 0; parts && i <= count; i++) {
        rocl_merge_free(&parts[i].merge);
        rocl_sort_runs_free(&parts[i].runs);
    }
    free(parts);
}

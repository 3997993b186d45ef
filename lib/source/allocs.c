/* Allocations, in order of time: a free has neither agent nor size, but its allocation has. So they
 * are sorted first, and handed out last. */
#include "source/allocs.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"

typedef struct block {
    uint64_t size;
    uint32_t agent;
} block;

struct rocl_allocs {
    rocl_sorter *sorter;
    rocl_map live;    /* address -> block */
    rocl_map unnamed; /* process and agent -> block: all those without an address */
    rocl_map scratch; /* (queue, thread) -> agent of the last scratch memory there */
    rocl_buf blocks;
    uint32_t spare; /* block + 1 of a freed one to reuse, linked through size */
};

rocl_status rocl_allocs_new(rocl_allocs **out, rocl_trace *t, rocl_error *err)
{
    rocl_allocs *a = calloc(1, sizeof *a);
    if (!a)
        return rocl_fail_memory(err);
    a->sorter = rocl_sorter_new(t->space, 3);
    *out = a;
    return a->sorter ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_allocs_free(rocl_allocs *a)
{
    if (!a)
        return;
    rocl_sorter_free(a->sorter);
    rocl_map_free(&a->live);
    rocl_map_free(&a->unnamed);
    rocl_map_free(&a->scratch);
    rocl_buf_free(&a->blocks);
    free(a);
}

rocl_status rocl_allocs_add(rocl_allocs *a, unsigned worker, const rocl_alloc *record,
                            rocl_error *err)
{
    /* Memory exists from the return of the allocating call to the start of the freeing call. */
    int64_t when = record->op == ROCL_OP_FREE ? record->e.start : record->e.end;
    const uint64_t key[3] = {(uint64_t)when, ~(uint64_t)record->e.end, record->e.id};
    return rocl_sorter_add(a->sorter, worker, key, record, sizeof *record, err);
}

rocl_status rocl_allocs_seal(rocl_allocs *a, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(a->sorter, worker, err);
}

/* ---- what is allocated ---- */

static bool take_block(rocl_allocs *a, uint64_t key, block *b)
{
    block *all = (block *)(void *)a->blocks.data;
    uint32_t n = rocl_map_get(&a->live, key, ROCL_NONE);
    if (n == ROCL_NONE)
        return false;
    *b = all[n];
    all[n].size = a->spare;
    a->spare = n + 1;
    rocl_map_del(&a->live, key);
    return true;
}

static bool put_block(rocl_allocs *a, uint64_t key, const block *b)
{
    block *all = (block *)(void *)a->blocks.data;
    uint32_t n;
    if (a->spare) {
        n = a->spare - 1;
        a->spare = (uint32_t)all[n].size;
        all[n] = *b;
    } else {
        n = (uint32_t)(a->blocks.len / sizeof *b);
        rocl_buf_put(&a->blocks, b, sizeof *b);
    }
    return !a->blocks.failed && rocl_map_put(&a->live, key, n);
}

/* Without an address it is unknown which allocation is freed; only the sizes are counted. */
static bool count_unnamed(rocl_allocs *a, rocl_alloc *r)
{
    const uint64_t key = (uint64_t)r->e.process << 32 | r->owner;
    uint32_t n = rocl_map_get(&a->unnamed, key, ROCL_NONE);
    if (n == ROCL_NONE) {
        const block none = {0, r->owner};
        n = (uint32_t)(a->blocks.len / sizeof none);
        rocl_buf_put(&a->blocks, &none, sizeof none);
        if (a->blocks.failed || !rocl_map_put(&a->unnamed, key, n))
            return false;
    }
    block *b = &((block *)(void *)a->blocks.data)[n];
    const bool frees = r->op == ROCL_OP_FREE;
    const uint64_t size = frees && r->size > b->size ? b->size : r->size;
    b->size = frees ? b->size - size : b->size + size;
    r->block = r->size;
    r->delta = frees ? -(int64_t)size : (int64_t)size;
    return true;
}

static bool pair_memory(rocl_allocs *a, rocl_alloc *r)
{
    uint64_t key = r->address ^ rocl_mix64(r->e.process);
    bool makes = r->op == ROCL_OP_ALLOC || r->op == ROCL_OP_REALLOC;
    if (!r->address && (makes || r->op == ROCL_OP_FREE))
        return count_unnamed(a, r);
    block old = {0, ROCL_NONE};
    bool known = take_block(a, key, &old);
    r->block = r->size ? r->size : old.size;
    if (r->owner == ROCL_NONE)
        r->owner = old.agent;
    if (makes) {
        r->delta = (int64_t)(r->size - old.size);
        return put_block(a, key, &(block){r->size, r->owner});
    }
    if (r->op == ROCL_OP_FREE) {
        r->delta = -(int64_t)old.size;
        r->unpaired = !known;
        return true;
    }
    return !known || put_block(a, key, &old);
}

rocl_status rocl_allocs_finish(rocl_allocs *a, rocl_alloc_fn *emit, void *ctx, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(a->sorter, err);
    while (rocl_sorter_take(a->sorter, &rec, &st, err)) {
        rocl_alloc r;
        memcpy(&r, rec.data, sizeof r);
        r.owner = r.agent;
        bool scratch = r.level == ROCL_LEVEL_SCRATCH;
        bool ok = true;
        if (scratch) {
            /* It has no address; its operations alternate on a queue and thread. */
            const uint64_t key = (uint64_t)r.queue << 32 | r.e.thread;
            if (r.agent != ROCL_NONE)
                ok = rocl_map_put(&a->scratch, key, r.agent);
            else
                r.owner = rocl_map_get(&a->scratch, key, ROCL_NONE);
        } else {
            ok = pair_memory(a, &r);
        }
        if (!ok)
            return rocl_fail_memory(err);
        st = emit(ctx, scratch ? ROCL_SCRATCH : ROCL_ALLOC, &r, err);
    }
    return st;
}

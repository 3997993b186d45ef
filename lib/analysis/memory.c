/* What is allocated on which agent. Allocations and frees are taken from the begin of the trace, so
 * that a time window knows what is live when it opens; they are put in order of time, and followed
 * in one sweep with a map of the live blocks. What the sources say of a free (its agent, its size)
 * is not asked for: it follows from the block at its address. */
#include <stdlib.h>
#include <string.h>

#include "analysis/memory.h"
#include "trace/pipeline.h"

/* ---- taking events ---- */

typedef struct item {
    uint64_t size, address;
    int64_t duration;
    uint32_t owner, process, thread, name;
    uint8_t op;
    bool scratch;
} item;

static rocl_status take_one(memory *m, unsigned worker, const rocl_capture *c, const rocl_alloc *a,
                            bool scratch, rocl_error *err)
{
    int32_t rank = m->c.options->by_rank ? c->processes[a->e.process].rank : -1;
    rocl_agent_key k = rocl_agent_key_of(c, a->owner, rank);
    item it;
    memset(&it, 0, sizeof it);
    it.owner = rocl_strings_put(m->keys, (const char *)&k, sizeof k);
    if (it.owner == ROCL_NONE)
        return rocl_fail_memory(err);
    it.size = a->size;
    it.address = a->address;
    it.duration = a->e.end - a->e.start;
    it.process = a->e.process;
    it.thread = a->e.thread;
    it.name = a->e.name;
    it.op = (uint8_t)a->op;
    it.scratch = scratch;
    /* Memory is there when the call returns, and gone when the call to free it begins. */
    int64_t when = a->op == ROCL_OP_FREE ? a->e.start : a->e.end;
    memory_span *span = &m->spans[worker];
    if (!scratch && when < span->first)
        span->first = when;
    if (!scratch && when > span->last)
        span->last = when;
    const uint64_t key[4] = {(uint64_t)when, ~(uint64_t)a->e.end, c->index, a->e.id};
    return rocl_sorter_add(m->sorter, worker, key, &it, sizeof it, err);
}

static rocl_status take_batch(memory *m, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = take_one(m, worker, b->capture, &b->allocs[i], b->kind == ROCL_SCRATCH, err);
    return st;
}

/* Allocations come as history as well, and there are all of them. */
static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    return b->kind == ROCL_SCRATCH ? take_batch(self, worker, b, err) : ROCL_OK;
}

static rocl_status history(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    return take_batch(self, worker, b, err);
}

/* ---- live blocks ---- */

static int64_t bytes_of(uint64_t n)
{
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static uint64_t place_of(const item *it, uint64_t capture)
{
    return it->address ^ rocl_mix64(capture << 32 | it->process);
}

static block *blocks_of(const memory *m)
{
    return (block *)(void *)m->store.data;
}

static bool put_block(memory *m, uint64_t place, const block *b)
{
    uint32_t n = (uint32_t)(m->store.len / sizeof *b);
    if (m->spare) {
        n = m->spare - 1;
        m->spare = blocks_of(m)[n].next;
        blocks_of(m)[n] = *b;
    } else {
        rocl_buf_put(&m->store, b, sizeof *b);
    }
    return !m->store.failed && rocl_map_put(&m->live, place, n);
}

static bool take_block(memory *m, uint64_t place, block *b)
{
    uint32_t n = rocl_map_get(&m->live, place, ROCL_NONE);
    if (n == ROCL_NONE)
        return false;
    *b = blocks_of(m)[n];
    blocks_of(m)[n].next = m->spare;
    m->spare = n + 1;
    return rocl_map_del(&m->live, place);
}

/* ---- the sweep ---- */

static void note_peak(memory *m, owner *o, int64_t when)
{
    if (o->live > o->peak) {
        o->peak = o->live;
        o->peak_at = (when > m->from ? when : m->from) - m->first;
    }
    o->used = true;
}

/* The sum stays below INT64_MAX, as an absurd size must not wrap it: what a block adds is what is
 * taken away with it. */
static void add_live(memory *m, owner *o, block *b, bool inside)
{
    rocl_memory_slices_note(m, o, b->when);
    if (b->size > INT64_MAX - o->allocated - o->before)
        b->size = INT64_MAX - o->allocated - o->before;
    *(inside ? &o->allocated : &o->before) += b->size;
    o->allocations += inside;
    o->live += b->size;
    rocl_memory_slices_note(m, o, b->when);
    if (inside)
        note_peak(m, o, b->when);
}

static void drop_live(memory *m, owner *o, const block *b, int64_t when, bool inside)
{
    rocl_memory_slices_note(m, o, when);
    if (inside)
        o->freed += b->size;
    else
        o->before -= b->size;
    o->live -= b->size;
    o->used |= inside;
}

static bool follow(memory *m, const uint64_t *key, const item *it)
{
    bool inside = (int64_t)key[0] >= m->from;
    uint64_t place = place_of(it, key[2]);
    block old, fresh = {.size = bytes_of(it->size),
                        .when = (int64_t)key[0],
                        .address = it->address,
                        .id = key[3],
                        .owner = it->owner,
                        .capture = (uint32_t)key[2],
                        .thread = it->thread,
                        .name = it->name};
    bool makes = it->op == ROCL_OP_ALLOC || it->op == ROCL_OP_REALLOC;
    if (!makes && it->op != ROCL_OP_FREE)
        return true;
    bool known = take_block(m, place, &old);
    if (known) /* also where its free was not seen, and its address is used again */
        drop_live(m, &m->owners[old.owner], &old, fresh.when, inside);
    if (!makes) {
        owner *o = &m->owners[known ? old.owner : it->owner];
        o->frees += inside;
        o->unpaired += inside && !known && it->address;
        o->used |= inside;
        return true;
    }
    add_live(m, &m->owners[it->owner], &fresh, inside);
    return put_block(m, place, &fresh);
}

/* The peak of a window is at its begin at least. */
static void open_window(memory *m)
{
    for (size_t i = 1; i < m->owner_count; i++)
        if (m->owners[i].live > 0)
            note_peak(m, &m->owners[i], m->from);
}

static void add_scratch(owner *o, const item *it)
{
    int64_t size = it->op == ROCL_OP_ALLOC ? bytes_of(it->size) : 0;
    o->scratch[it->op <= ROCL_OP_RECLAIM ? it->op : ROCL_OP_OTHER]++;
    o->scratch_bytes = rocl_add_saturated(o->scratch_bytes, size);
    o->scratch_largest = size > o->scratch_largest ? size : o->scratch_largest;
    o->scratch_time = rocl_add_saturated(o->scratch_time, it->duration);
}

static bool sweep_one(memory *m, const rocl_sort_record *rec, bool *open)
{
    item it;
    memcpy(&it, rec->data, sizeof it);
    if (it.scratch) {
        add_scratch(&m->owners[it.owner], &it);
        return true;
    }
    int64_t when = (int64_t)rec->key[0];
    if (!m->any)
        m->first = when;
    m->any = true;
    if (!*open && when >= m->from) {
        open_window(m);
        *open = true;
    }
    return when > m->to || follow(m, rec->key, &it);
}

static rocl_status sweep(memory *m, rocl_error *err)
{
    rocl_sort_record rec;
    bool more, open = false;
    rocl_status st = rocl_sorter_start(m->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(m->sorter, &rec, &more, err)) == ROCL_OK && more)
        if (!sweep_one(m, &rec, &open))
            return rocl_fail_memory(err);
    if (!open)
        open_window(m);
    return st;
}

/* ---- the end ---- */

static int by_key(const void *a, const void *b, void *ctx)
{
    const memory *m = ctx;
    return rocl_compare_agents(&m->owners[*(const uint32_t *)a].key,
                               &m->owners[*(const uint32_t *)b].key);
}

static rocl_status open_owners(memory *m, rocl_error *err)
{
    m->owner_count = rocl_strings_count(m->keys);
    m->owners = calloc(m->owner_count, sizeof *m->owners);
    m->order = calloc(m->owner_count, sizeof *m->order);
    if (!m->owners || !m->order)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < m->owner_count; i++) { /* 0 is "", no key */
        memcpy(&m->owners[i].key, rocl_strings_get(m->keys, i, NULL), sizeof(rocl_agent_key));
        m->order[i] = i;
    }
    qsort_r(m->order + 1, m->owner_count - 1, sizeof *m->order, by_key, m);
    return ROCL_OK;
}

/* The largest first; then in the order in which they were made. */
static int by_size(const void *a, const void *b)
{
    const block *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    if (x->capture != y->capture)
        return x->capture < y->capture ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Those that are live in the end: the map's sums must be those of the accounts. */
static rocl_status collect_leaks(memory *m, rocl_error *err)
{
    size_t at = 0;
    uint64_t place;
    uint32_t n;
    m->leaks = calloc(m->live.count + 1, sizeof *m->leaks);
    int64_t *live = calloc(m->owner_count, sizeof *live);
    rocl_status st = m->leaks && live ? ROCL_OK : rocl_fail_memory(err);
    while (st == ROCL_OK && rocl_map_next(&m->live, &at, &place, &n)) {
        const block *b = &blocks_of(m)[n];
        owner *o = &m->owners[b->owner];
        live[b->owner] += b->size;
        if (b->when < m->from)
            continue;
        o->leaks++;
        o->leaked += b->size;
        m->leaks[m->leak_count++] = *b;
    }
    for (size_t i = 1; st == ROCL_OK && i < m->owner_count; i++) {
        const owner *o = &m->owners[i];
        if (o->live != live[i] || o->before + o->allocated - o->freed != o->live)
            st = rocl_fail(err, ROCL_INTERNAL, "allocated and freed memory do not add up");
    }
    free(live);
    if (st == ROCL_OK)
        qsort(m->leaks, m->leak_count, sizeof *m->leaks, by_size);
    return st;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    memory *m = self;
    rocl_trace_window(m->c.trace, &m->from, &m->to);
    rocl_status st = open_owners(m, err);
    if (st == ROCL_OK && !m->c.options->pictures)
        st = rocl_memory_slices_begin(m, err);
    if (st == ROCL_OK)
        st = sweep(m, err);
    if (st == ROCL_OK)
        st = collect_leaks(m, err);
    return st == ROCL_OK ? rocl_memory_tables(m, out, err) : st;
}

static void free_memory(void *self)
{
    memory *m = self;
    rocl_strings_free(m->keys);
    rocl_map_free(&m->live);
    rocl_buf_free(&m->store);
    for (size_t i = 0; m->owners && i < m->owner_count; i++)
        free(m->owners[i].slices);
    free(m->owners);
    free(m->spans);
    free(m->order);
    free(m->leaks);
}

static rocl_status open_memory(void *self, rocl_error *err)
{
    memory *m = self;
    unsigned jobs = m->c.trace->opt.jobs;
    m->keys = rocl_strings_new();
    m->sorter = rocl_collector_sorter(&m->c, 4);
    m->spans = rocl_cache_line_calloc(jobs, sizeof *m->spans);
    if (!m->keys || !m->sorter || !m->spans)
        return rocl_fail_memory(err);
    for (unsigned w = 0; w < jobs; w++)
        m->spans[w] = (memory_span){INT64_MAX, INT64_MIN};
    return ROCL_OK;
}

const rocl_collector_def rocl_memory_collector = {
    .reports = 1u << ROCL_REPORT_MEMORY,
    .kinds = ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH),
    .size = sizeof(memory),
    .open = open_memory,
    .add_batch = take,
    .history_kinds = ROCL_BIT(ROCL_ALLOC),
    .add_history = history,
    .finish = finish,
    .close = free_memory,
};

/* What is allocated on which agent. Allocations and frees are taken from the begin of the trace, so
 * that a time window knows what is live when it opens; they are put in order of time, and followed
 * in one sweep with a map of the live blocks. What the sources say of a free (its agent, its size)
 * is not asked for: it follows from the block at its address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"
#include "base/map.h"
#include "filter/filter.h"

typedef struct owner {
    rocl_agent_key key;
    bool used; /* in the window, or live in it */
    uint64_t allocations, frees, unpaired, leaks;
    int64_t before, allocated, freed, live, peak, peak_at, leaked; /* bytes saturate */
    uint64_t scratch[ROCL_OP_RECLAIM + 1];                         /* operations */
    int64_t scratch_bytes, scratch_largest, scratch_time;
} owner;

typedef struct block {
    int64_t size, when;
    uint64_t address, id;
    uint32_t owner, capture, thread, name;
    uint32_t next; /* unused ones: a list */
} block;

typedef struct memory {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_strings *keys; /* owners' keys as bytes; their ids are the owners */
    rocl_sorter *sorter;
    owner *owners;
    uint32_t *order; /* owners by machine and number */
    size_t owner_count;
    rocl_map live;  /* process and address -> block */
    rocl_buf store; /* blocks */
    uint32_t spare; /* block + 1 */
    int64_t first, from, to;
    bool any;
    block *leaks;
    size_t leak_count;
} memory;

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
    int32_t rank = m->options->by_rank ? c->processes[a->e.process].rank : -1;
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

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    memory *m = self;
    return rocl_sorter_seal(m->sorter, worker, err);
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
    if (b->size > INT64_MAX - o->allocated - o->before)
        b->size = INT64_MAX - o->allocated - o->before;
    *(inside ? &o->allocated : &o->before) += b->size;
    o->allocations += inside;
    o->live += b->size;
    if (inside)
        note_peak(m, o, b->when);
}

static void drop_live(owner *o, const block *b, bool inside)
{
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
        drop_live(&m->owners[old.owner], &old, inside);
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

static bool sweep_one(memory *m, const rocl_record *rec, bool *open)
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
    rocl_record rec;
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

/* ---- tables ---- */

/* Columns that not every table has. */
enum { M_RANK = 1, M_BEFORE = 4, L_RANK = 2 };

static const rocl_table_column memory_columns[] = {
    {"agent", "Agent", ROCL_UNIT_TEXT},
    {"rank", "Rank", ROCL_UNIT_COUNT},
    {"allocations", "Allocs", ROCL_UNIT_COUNT},
    {"frees", "Frees", ROCL_UNIT_COUNT},
    {"before_bytes", "Before", ROCL_UNIT_BYTES},
    {"allocated_bytes", "Allocated", ROCL_UNIT_BYTES},
    {"freed_bytes", "Freed", ROCL_UNIT_BYTES},
    {"peak_bytes", "Peak", ROCL_UNIT_BYTES},
    {"peak_at_ns", "Peak at", ROCL_UNIT_NS},
    {"live_bytes", "At end", ROCL_UNIT_BYTES},
    {"leaks", "Leaks", ROCL_UNIT_COUNT},
    {"leaked_bytes", "Leaked", ROCL_UNIT_BYTES},
    {"unpaired_frees", "Unpaired", ROCL_UNIT_COUNT},
};

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)
#define CELLS(c)   (c), sizeof(c) / sizeof *(c)

static rocl_datum rank_cell(const owner *o)
{
    return o->key.rank >= 0 ? rocl_datum_int(o->key.rank) : (rocl_datum){0};
}

static uint64_t shown_columns(const memory *m, unsigned rank_column)
{
    return m->options->by_rank ? UINT64_MAX : ~(UINT64_C(1) << rank_column);
}

static bool memory_row(const memory *m, rocl_tables *out, rocl_table *t, const owner *o,
                       uint64_t shown)
{
    const rocl_datum cells[] = {rocl_cell_of_agent(m->trace, out, &o->key),
                                rank_cell(o),
                                rocl_datum_int((int64_t)o->allocations),
                                rocl_datum_int((int64_t)o->frees),
                                rocl_datum_int(o->before),
                                rocl_datum_int(o->allocated),
                                rocl_datum_int(o->freed),
                                rocl_datum_int(o->peak),
                                o->peak ? rocl_datum_int(o->peak_at) : (rocl_datum){0},
                                rocl_datum_int(o->live),
                                rocl_datum_int((int64_t)o->leaks),
                                rocl_datum_int(o->leaked),
                                rocl_datum_int((int64_t)o->unpaired)};
    return rocl_table_row_some(t, CELLS(cells), shown);
}

static rocl_status memory_table(const memory *m, rocl_tables *out, rocl_error *err)
{
    uint64_t shown = shown_columns(m, M_RANK);
    if (m->from == INT64_MIN) /* nothing is before the begin of the trace */
        shown &= ~(UINT64_C(1) << M_BEFORE);
    rocl_table *t =
        rocl_tables_add_some(out, "memory", "Memory per agent", COLUMNS(memory_columns), shown);
    bool good = t != NULL;
    for (size_t i = 1; good && i < m->owner_count; i++)
        if (m->owners[m->order[i]].used)
            good = memory_row(m, out, t, &m->owners[m->order[i]], shown);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static const rocl_table_column leak_columns[] = {
    {"address", "Address", ROCL_UNIT_TEXT}, {"agent", "Agent", ROCL_UNIT_TEXT},
    {"rank", "Rank", ROCL_UNIT_COUNT},      {"blocks", "Blocks", ROCL_UNIT_COUNT},
    {"bytes", "Size", ROCL_UNIT_BYTES},     {"at_ns", "Allocated at", ROCL_UNIT_NS},
    {"pid", "Process", ROCL_UNIT_COUNT},    {"tid", "Thread", ROCL_UNIT_COUNT},
    {"name", "By", ROCL_UNIT_TEXT},
};

static bool leak_row(const memory *m, rocl_tables *out, rocl_table *t, const block *b,
                     uint64_t shown)
{
    const rocl_capture *c = &m->trace->captures[b->capture]->pub;
    const owner *o = &m->owners[b->owner];
    const rocl_thread *thread = b->thread < c->thread_count ? &c->threads[b->thread] : NULL;
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)b->address);
    const rocl_datum cells[] = {rocl_cell_of_string(out, address),
                                rocl_cell_of_agent(m->trace, out, &o->key),
                                rank_cell(o),
                                rocl_datum_int(1),
                                rocl_datum_int(b->size),
                                rocl_datum_int(b->when - m->first),
                                thread ? rocl_datum_int(c->processes[thread->process].pid)
                                       : (rocl_datum){0},
                                thread ? rocl_datum_int(thread->tid) : (rocl_datum){0},
                                rocl_cell_of_text(m->trace, out, b->name)};
    return rocl_table_row_some(t, CELLS(cells), shown);
}

static bool leak_rest(const memory *m, rocl_tables *out, rocl_table *t, size_t first,
                      uint64_t shown)
{
    char text[64];
    int64_t sum = 0;
    snprintf(text, sizeof text, "(%zu others)", m->leak_count - first);
    for (size_t i = first; i < m->leak_count; i++)
        sum = rocl_add_saturated(sum, m->leaks[i].size);
    const rocl_datum cells[9] = {[0] = rocl_cell_of_string(out, text),
                                 [3] = rocl_datum_int((int64_t)(m->leak_count - first)),
                                 [4] = rocl_datum_int(sum)};
    return rocl_table_row_some(t, CELLS(cells), shown);
}

static rocl_status leak_table(const memory *m, rocl_tables *out, rocl_error *err)
{
    size_t top = m->options->top, n = top && top < m->leak_count ? top : m->leak_count;
    uint64_t shown = shown_columns(m, L_RANK);
    rocl_table *t = rocl_tables_add_some(out, "leaks", "Memory that was not freed",
                                         COLUMNS(leak_columns), shown);
    bool good = t != NULL;
    for (size_t i = 0; good && i < n; i++)
        good = leak_row(m, out, t, &m->leaks[i], shown);
    if (good && n < m->leak_count)
        good = leak_rest(m, out, t, n, shown);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static const rocl_table_column scratch_columns[] = {
    {"agent", "Agent", ROCL_UNIT_TEXT},
    {"rank", "Rank", ROCL_UNIT_COUNT},
    {"allocations", "Allocs", ROCL_UNIT_COUNT},
    {"frees", "Frees", ROCL_UNIT_COUNT},
    {"reclaims", "Reclaims", ROCL_UNIT_COUNT},
    {"allocated_bytes", "Allocated", ROCL_UNIT_BYTES},
    {"largest_bytes", "Largest", ROCL_UNIT_BYTES},
    {"total_ns", "Total", ROCL_UNIT_NS},
};

static rocl_status scratch_table(const memory *m, rocl_tables *out, rocl_error *err)
{
    uint64_t shown = shown_columns(m, M_RANK);
    rocl_table *t = rocl_tables_add_some(out, "scratch", "Scratch memory per agent",
                                         COLUMNS(scratch_columns), shown);
    bool good = t != NULL;
    for (size_t i = 1; good && i < m->owner_count; i++) {
        const owner *o = &m->owners[m->order[i]];
        const uint64_t *n = o->scratch;
        const rocl_datum cells[] = {
            rocl_cell_of_agent(m->trace, out, &o->key),  rank_cell(o),
            rocl_datum_int((int64_t)n[ROCL_OP_ALLOC]),   rocl_datum_int((int64_t)n[ROCL_OP_FREE]),
            rocl_datum_int((int64_t)n[ROCL_OP_RECLAIM]), rocl_datum_int(o->scratch_bytes),
            rocl_datum_int(o->scratch_largest),          rocl_datum_int(o->scratch_time)};
        if (n[ROCL_OP_OTHER] + n[ROCL_OP_ALLOC] + n[ROCL_OP_FREE] + n[ROCL_OP_REALLOC] +
            n[ROCL_OP_RECLAIM])
            good = rocl_table_row_some(t, CELLS(cells), shown);
    }
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    memory *m = self;
    rocl_filter_window(m->trace->filter, &m->from, &m->to);
    rocl_status st = open_owners(m, err);
    if (st == ROCL_OK)
        st = sweep(m, err);
    if (st == ROCL_OK)
        st = collect_leaks(m, err);
    if (st == ROCL_OK)
        st = memory_table(m, out, err);
    if (st == ROCL_OK)
        st = leak_table(m, out, err);
    return st == ROCL_OK ? scratch_table(m, out, err) : st;
}

static void free_memory(void *self)
{
    memory *m = self;
    rocl_strings_free(m->keys);
    rocl_sorter_free(m->sorter);
    rocl_map_free(&m->live);
    rocl_buf_free(&m->store);
    free(m->owners);
    free(m->order);
    free(m->leaks);
    free(m);
}

rocl_status rocl_memory_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                  rocl_error *err)
{
    memory *m = calloc(1, sizeof *m);
    if (!m)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = m,
                          .kinds = ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH),
                          .events = take,
                          .history_kinds = ROCL_BIT(ROCL_ALLOC),
                          .history = history,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_memory};
    m->trace = t;
    m->options = o;
    m->keys = rocl_strings_new();
    m->sorter = rocl_sorter_new(t->space, 4);
    return m->keys && m->sorter ? ROCL_OK : rocl_fail_memory(err);
}

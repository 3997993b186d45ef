/* Memory allocated on each agent. Allocations and frees are taken from the begin of the trace, so
 * that it is known what is live when a time window opens; they are sorted by time, and followed in
 * one sweep with a map of live blocks. Agent and size of a free are not taken from the source, but
 * from the block at its address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/report.h"
#include "analysis/slices.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "trace/pipeline.h"

enum { DEFAULT_SLICES = 1000 };

typedef struct owner {
    rocl_agent_key key;
    bool used; /* in the window, or live in it */
    uint64_t allocations, frees, unpaired;
    int64_t before, allocated, freed, live, peak; /* bytes saturate */
    int64_t leaks, leaked;                 /* blocks and bytes; -1: which are live is not known */
    int64_t unnamed;                       /* bytes in `live` of blocks without an address */
    int64_t peak_at;                       /* -1: there was none */
    uint64_t scratch[ROCL_OP_RECLAIM + 1]; /* operations */
    int64_t scratch_bytes, scratch_largest, scratch_time;
    int64_t *slices; /* the most that was live in each; NULL: not wanted */
    uint64_t slice;  /* filled up to this one */
} owner;

typedef struct block {
    int64_t size, when;
    uint64_t address, id;
    uint32_t owner, capture, thread, name;
    uint32_t next; /* unused ones: a list */
} block;

/* A block that is live in the end. */
typedef struct leak {
    block b;
    rocl_agent_key agent;
} leak;

typedef struct memory {
    rocl_collector c;
    rocl_strings *keys; /* owners' keys; their ids are the owners, until these are sorted */
    rocl_sorter *sorter;
    owner *owners; /* [0] is none */
    size_t owner_count;
    rocl_map live;  /* process and address, as one word -> block */
    rocl_buf store; /* blocks */
    uint32_t spare; /* block + 1 */
    int64_t first, from, to;
    leak *leaks;
    size_t leak_count, leak_cap;
    rocl_extent *spans; /* by worker: of its events */
    rocl_slices slices; /* count 0: nobody wants them */
} memory;

/* ---- events ---------------------------------------------------------------------------------- */

typedef struct item {
    uint64_t size, address;
    int64_t duration;
    uint32_t owner, process, thread, name;
    uint32_t op, scratch; /* no holes: it is stored as bytes */
} item;

static rocl_status add_item(memory *m, unsigned worker, const rocl_capture *c, const rocl_alloc *a,
                            bool scratch, rocl_error *err)
{
    int32_t rank = m->c.options->by_rank ? c->processes[a->e.process].rank : -1;
    rocl_agent_key k = rocl_agent_key_of(c, a->owner, rank);
    const item it = {.size = a->size,
                     .address = a->address,
                     .duration = a->e.end - a->e.start,
                     .owner = rocl_strings_put(m->keys, (const char *)&k, sizeof k),
                     .process = a->e.process,
                     .thread = a->e.thread,
                     .name = a->e.name,
                     .op = a->op,
                     .scratch = scratch};
    if (it.owner == ROCL_NONE)
        return rocl_fail_memory(err);
    /* Memory is there when the call returns, and gone when the call to free it begins. */
    int64_t when = a->op == ROCL_OP_FREE ? a->e.start : a->e.end;
    if (!scratch)
        rocl_extent_add(&m->spans[worker], when, when);
    const uint64_t key[4] = {(uint64_t)when, ~(uint64_t)a->e.end, c->index, a->e.id};
    return rocl_sorter_add(m->sorter, worker, key, &it, sizeof it, err);
}

static rocl_status add_memory_history(void *self, unsigned worker, const rocl_batch *b,
                                      rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = add_item(self, worker, b->capture, &b->allocs[i], b->kind == ROCL_SCRATCH, err);
    return st;
}

/* Allocations come as history as well, and there are all of them. */
static rocl_status add_memory_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    return b->kind == ROCL_SCRATCH ? add_memory_history(self, worker, b, err) : ROCL_OK;
}

/* ---- live memory over time: the most in each of equal slices, for charts and programs ----------
 */

/* From the first to the last event, but within the window. */
static rocl_status open_slices(memory *m, rocl_error *err)
{
    rocl_extent all = m->spans[0];
    uint64_t most = m->c.options->slices ? m->c.options->slices : DEFAULT_SLICES;
    all.first = m->from > all.first ? m->from : all.first;
    all.last = m->to < all.last ? m->to : all.last;
    m->slices = rocl_slices_of(all.first, all.last, most);
    for (size_t i = 1; i < m->owner_count; i++)
        if (!(m->owners[i].slices = calloc(m->slices.count, sizeof(int64_t))))
            return rocl_fail_memory(err);
    return ROCL_OK;
}

/* Call it before and after the live bytes of an owner change: they are constant up to that time. */
static void note_live(memory *m, owner *o, int64_t when)
{
    if (!o->slices || when < m->slices.first)
        return;
    uint64_t now = rocl_slice_at(&m->slices, when);
    for (uint64_t i = o->slice; i <= now; i++)
        if (o->live > o->slices[i])
            o->slices[i] = o->live;
    o->slice = now;
}

/* ---- live blocks ----------------------------------------------------------------------------- */

static int64_t to_bytes(uint64_t n)
{
    return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static block *blocks_of(const memory *m)
{
    return (block *)(void *)m->store.data;
}

static bool put_block(memory *m, uint64_t key_word, const block *b)
{
    uint32_t n = (uint32_t)(m->store.len / sizeof *b);
    if (m->spare) {
        n = m->spare - 1;
        m->spare = blocks_of(m)[n].next;
        blocks_of(m)[n] = *b;
    } else {
        rocl_buf_put(&m->store, b, sizeof *b);
    }
    return !m->store.failed && rocl_map_put(&m->live, key_word, n);
}

static bool take_block(memory *m, uint64_t key_word, block *b)
{
    uint32_t n = rocl_map_get(&m->live, key_word, ROCL_NONE);
    if (n == ROCL_NONE)
        return false;
    *b = blocks_of(m)[n];
    blocks_of(m)[n].next = m->spare;
    m->spare = n + 1;
    return rocl_map_del(&m->live, key_word);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void note_peak(memory *m, owner *o, int64_t when)
{
    if (o->live > o->peak) {
        o->peak = o->live;
        o->peak_at = (when > m->from ? when : m->from) - m->first;
    }
    o->used = true;
}

/* The sum is kept below INT64_MAX, so that absurd sizes do not wrap it: exactly what a block adds
 * is later subtracted. */
static void add_live(memory *m, owner *o, block *b, bool inside)
{
    note_live(m, o, b->when);
    if (b->size > INT64_MAX - o->allocated - o->before)
        b->size = INT64_MAX - o->allocated - o->before;
    *(inside ? &o->allocated : &o->before) += b->size;
    o->allocations += inside;
    o->live += b->size;
    note_live(m, o, b->when);
    if (inside)
        note_peak(m, o, b->when);
}

static void drop_live(memory *m, owner *o, const block *b, int64_t when, bool inside)
{
    note_live(m, o, when);
    if (inside)
        o->freed += b->size;
    else
        o->before -= b->size;
    o->live -= b->size;
    o->used |= inside;
}

/* Is a time in the window, and in a period of it? */
static bool is_inside(const memory *m, int64_t when)
{
    int64_t from, to;
    return rocl_trace_interval(m->c.trace, when, &from, &to) && from <= when;
}

/* Without an address it is unknown which allocation is freed; only the sizes are counted. */
static void follow_unnamed(memory *m, const item *it, block *b, bool makes, bool inside)
{
    owner *o = &m->owners[it->owner];
    if (makes) {
        add_live(m, o, b, inside);
        o->unnamed += b->size;
        return;
    }
    o->unpaired += inside && b->size > o->unnamed;
    b->size = b->size < o->unnamed ? b->size : o->unnamed;
    o->frees += inside;
    o->unnamed -= b->size;
    drop_live(m, o, b, b->when, inside);
    o->used |= inside;
}

/* False: memory is out. */
static bool follow_item(memory *m, const uint64_t *key, const item *it)
{
    bool inside = is_inside(m, (int64_t)key[0]);
    uint64_t key_word = it->address ^ rocl_mix64(key[2] << 32 | it->process);
    block old, fresh = {.size = to_bytes(it->size),
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
    if (!it->address) {
        follow_unnamed(m, it, &fresh, makes, inside);
        return true;
    }
    bool known = take_block(m, key_word, &old);
    if (known) /* even if its free was not seen and the address was reused */
        drop_live(m, &m->owners[old.owner], &old, fresh.when, inside);
    if (!makes) {
        owner *o = &m->owners[known ? old.owner : it->owner];
        o->frees += inside;
        o->unpaired += inside && !known;
        o->used |= inside;
        return true;
    }
    add_live(m, &m->owners[it->owner], &fresh, inside);
    return put_block(m, key_word, &fresh);
}

/* The peak of a window is at its begin at least, and so it is at that of each period in it. */
static void open_window(memory *m, int64_t begin)
{
    for (size_t i = 1; i < m->owner_count; i++)
        if (m->owners[i].live > 0)
            note_peak(m, &m->owners[i], begin);
}

/* The begin of the first period after a time; false: there is none. */
static bool find_next_begin(const memory *m, int64_t when, int64_t *begin)
{
    int64_t end;
    if (!rocl_trace_interval(m->c.trace, when, begin, &end))
        return false;
    return *begin > when ||
           (end < INT64_MAX && rocl_trace_interval(m->c.trace, end + 1, begin, &end));
}

static rocl_status sweep_items(memory *m, rocl_error *err)
{
    rocl_sort_record rec;
    int64_t begin, end;
    bool opens = rocl_trace_interval(m->c.trace, INT64_MIN, &begin, &end);
    rocl_status st = rocl_sorter_start(m->sorter, err);
    while (rocl_next_record(m->sorter, &rec, &st, err)) {
        int64_t when = (int64_t)rec.key[0];
        item it;
        memcpy(&it, rec.data, sizeof it);
        if (it.scratch) {
            owner *o = &m->owners[it.owner];
            const int64_t size = it.op == ROCL_OP_ALLOC ? to_bytes(it.size) : 0;
            o->scratch[it.op <= ROCL_OP_RECLAIM ? it.op : ROCL_OP_OTHER]++;
            o->scratch_bytes = rocl_add_saturated(o->scratch_bytes, size);
            o->scratch_largest = size > o->scratch_largest ? size : o->scratch_largest;
            o->scratch_time = rocl_add_saturated(o->scratch_time, it.duration);
            continue;
        }
        if (opens && when >= begin) { /* what was live until now */
            open_window(m, begin);
            opens = find_next_begin(m, when, &begin);
        }
        if (when <= m->to && !follow_item(m, rec.key, &it))
            return rocl_fail_memory(err);
    }
    if (opens)
        open_window(m, begin);
    return st;
}

/* The largest first; then in the order in which they were made. */
static int compare_leaks(const void *a, const void *b)
{
    const block *x = &((const leak *)a)->b, *y = &((const leak *)b)->b;
    int c = rocl_number_order(y->size, x->size);
    if (!c)
        c = rocl_number_order(x->when, y->when);
    if (!c)
        c = rocl_number_order(x->capture, y->capture);
    return c ? c : x->id < y->id ? -1 : x->id > y->id;
}

/* The blocks that are live in the end: their sums must match those of the owners. */
static rocl_status collect_leaks(memory *m, rocl_error *err)
{
    size_t at = 0;
    uint64_t key_word;
    uint32_t n;
    int64_t *live = calloc(m->owner_count, sizeof *live);
    rocl_status st = live && ROCL_GROW(m->leaks, m->leak_cap, m->leak_count + m->live.count + 1)
                         ? ROCL_OK
                         : rocl_fail_memory(err);
    while (st == ROCL_OK && rocl_map_next(&m->live, &at, &key_word, &n)) {
        const block *b = &blocks_of(m)[n];
        owner *o = &m->owners[b->owner];
        live[b->owner] += b->size;
        if (!is_inside(m, b->when))
            continue;
        o->leaks++;
        o->leaked += b->size;
        m->leaks[m->leak_count++] = (leak){*b, o->key};
    }
    for (size_t i = 1; st == ROCL_OK && i < m->owner_count; i++) {
        owner *o = &m->owners[i];
        if (o->unnamed > 0)
            o->leaks = o->leaked = -1;
        if (o->live != live[i] + o->unnamed || o->before + o->allocated - o->freed != o->live)
            st = rocl_fail(err, ROCL_INTERNAL, "allocated and freed memory do not add up");
    }
    free(live);
    if (st == ROCL_OK)
        qsort(m->leaks, m->leak_count, sizeof *m->leaks, compare_leaks);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(owner, field)
#define OWNER                                                                                      \
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(key)},                                    \
    {                                                                                              \
        "rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK,                                             \
            ROCL_CELL_BY(rocl_field_known, owner, key.rank)                                        \
    }

/* Nothing is before the begin of the trace. */
#define IF_WINDOW ROCL_IF_OWN

static const rocl_column memory_columns[] = {
    OWNER,
    {"allocations", "Allocs", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(allocations)},
    {"frees", "Frees", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(frees)},
    {"before_bytes", "Before", ROCL_UNIT_BYTES, IF_WINDOW, CELL(before)},
    {"allocated_bytes", "Allocated", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(allocated)},
    {"freed_bytes", "Freed", ROCL_UNIT_BYTES, ROCL_MINOR, CELL(freed)},
    {"peak_bytes", "Peak", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(peak)},
    {"peak_at_ns", "Peak at", ROCL_UNIT_TIME, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_known, owner, peak_at)},
    {"live_bytes", "At end", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(live)},
    {"leaks", "Leaks", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, owner, leaks)},
    {"leaked_bytes", "Leaked", ROCL_UNIT_BYTES, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_known, owner, leaked)},
    {"unpaired_frees", "Unpaired", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(unpaired)},
};

static const rocl_column scratch_columns[] = {
    OWNER,
    {"allocations", "Allocs", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(scratch[ROCL_OP_ALLOC])},
    {"frees", "Frees", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(scratch[ROCL_OP_FREE])},
    {"reclaims", "Reclaims", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(scratch[ROCL_OP_RECLAIM])},
    {"allocated_bytes", "Allocated", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(scratch_bytes)},
    {"largest_bytes", "Largest", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(scratch_largest)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(scratch_time)},
};

typedef struct slice_row {
    rocl_agent_key agent;
    uint64_t slice;
    int64_t start, end, peak;
} slice_row;

#undef CELL
#define CELL(field) ROCL_CELL(slice_row, field)

static const rocl_column slice_columns[] = {
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(agent)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK,
     ROCL_CELL_BY(rocl_field_known, slice_row, agent.rank)},
    {"slice", "Slice", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(slice)},
    {"start_ns", "Start", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(end)},
    {"peak_bytes", "Peak", ROCL_UNIT_BYTES, ROCL_ALWAYS, CELL(peak)},
};

typedef struct leak_row {
    char text[32];
    const char *address;
    rocl_agent_key agent;
    uint64_t blocks;
    int64_t size, at, pid, tid; /* pid, tid: -1 of none */
    uint32_t name;
} leak_row;

#undef CELL
#define CELL(field)  ROCL_CELL(leak_row, field)
#define KNOWN(field) ROCL_CELL_BY(rocl_field_known, leak_row, field)

static const rocl_column leak_columns[] = {
    {"address", "Address", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(address)},
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(agent)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, KNOWN(agent.rank)},
    {"blocks", "Blocks", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(blocks)},
    {"bytes", "Size", ROCL_UNIT_BYTES, ROCL_IN_REST, CELL(size)},
    {"at_ns", "Allocated at", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(at)},
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_MINOR, KNOWN(pid)},
    {"tid", "Thread", ROCL_UNIT_COUNT, ROCL_MINOR, KNOWN(tid)},
    {"name", "By", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(name)},
};

static const rocl_table_def memory_table = {ROCL_TAB(MEMORY), "memory", "Memory per agent",
                                            ROCL_COLUMNS(memory_columns)};
static const rocl_table_def slice_table = {ROCL_TAB(MEMORY), "memory_timeline", "Memory over time",
                                           ROCL_COLUMNS(slice_columns)};
static const rocl_table_def leak_table = {ROCL_TAB(MEMORY), "leaks", "Memory that was not freed",
                                          ROCL_COLUMNS(leak_columns)};
static const rocl_table_def scratch_table = {
    ROCL_TAB(MEMORY), "scratch", "Scratch memory per agent", ROCL_COLUMNS(scratch_columns)};

static void put_slices(memory *m, rocl_tables *out)
{
    const rocl_slices *s = &m->slices;
    rocl_report_rows r = rocl_begin_table(&m->c, out, &slice_table, 0);
    for (owner *o = m->owners + 1; o < m->owners + m->owner_count; o++) {
        note_live(m, o, s->first + (int64_t)s->length);
        for (uint64_t i = 0; i < s->count && o->used; i++)
            rocl_add_row(&r, &(slice_row){o->key, i, rocl_slice_begin(s, i),
                                          rocl_slice_begin(s, i + 1), o->slices[i]});
    }
}

static void put_leaks(const memory *m, rocl_tables *out)
{
    const size_t shown = rocl_rows_shown(m->c.options, m->leak_count);
    rocl_report_rows r = rocl_begin_table(&m->c, out, &leak_table, 0);
    rocl_set_origin(&r, m->first);
    for (size_t i = 1; r.table && i < m->owner_count; i++)
        if (m->owners[i].used && m->owners[i].leaks < 0)
            r.table->why_empty = "not known: memory has no addresses in this trace";
    leak_row rest = {.blocks = m->leak_count - shown};
    for (size_t i = 0; i < m->leak_count; i++) {
        const block *b = &m->leaks[i].b;
        const rocl_capture *c = &m->c.trace->captures[b->capture]->pub;
        leak_row row = {.blocks = 1, .size = b->size, .at = b->when - m->first, .name = b->name};
        if (i >= shown) {
            rest.size = rocl_add_saturated(rest.size, b->size);
            continue;
        }
        row.agent = m->leaks[i].agent;
        row.pid = row.tid = -1;
        if (b->thread < c->thread_count) {
            uint32_t process = c->threads[b->thread].process;
            row.tid = c->threads[b->thread].tid;
            row.pid = process < c->process_count ? c->processes[process].pid : -1;
        }
        snprintf(row.text, sizeof row.text, "0x%llx", (unsigned long long)b->address);
        row.address = row.text;
        rocl_add_row(&r, &row);
    }
    if (rest.blocks)
        rocl_add_rest(&r, &rest, rest.blocks);
}

static int compare_owners(const void *a, const void *b)
{
    return rocl_compare_agents(&((const owner *)a)->key, &((const owner *)b)->key);
}

static void put_memory_tables(memory *m, rocl_tables *out)
{
    rocl_report_rows r =
        rocl_begin_table(&m->c, out, &memory_table, m->from == INT64_MIN ? 0 : IF_WINDOW);
    rocl_set_origin(&r, m->first);
    for (size_t i = 1; i < m->owner_count; i++)
        if (m->owners[i].used)
            rocl_add_row(&r, &m->owners[i]);
    if (m->slices.count)
        put_slices(m, out);
    put_leaks(m, out);
    r = rocl_begin_table(&m->c, out, &scratch_table, 0);
    for (size_t i = 1; i < m->owner_count; i++) {
        uint64_t operations = 0;
        for (unsigned op = 0; op <= ROCL_OP_RECLAIM; op++)
            operations += m->owners[i].scratch[op];
        if (operations)
            rocl_add_row(&r, &m->owners[i]);
    }
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_memory(void *self, rocl_error *err)
{
    memory *m = self;
    unsigned jobs = m->c.trace->opt.jobs;
    m->keys = rocl_strings_new();
    m->sorter = rocl_collector_sorter(&m->c, 4);
    m->spans = calloc(jobs, sizeof *m->spans);
    return m->keys && m->sorter && m->spans ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status finish_memory(void *self, rocl_tables *out, rocl_error *err)
{
    memory *m = self;
    rocl_trace_window(m->c.trace, &m->from, &m->to);
    m->owners =
        rocl_groups_new(m->keys, sizeof(rocl_agent_key), sizeof *m->owners, &m->owner_count);
    if (!m->owners)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < m->owner_count; i++)
        m->owners[i].peak_at = -1;
    rocl_extents_join(m->spans, 1, m->c.trace->opt.jobs);
    m->first = m->spans[0].first;
    rocl_status st = m->c.options->pictures ? ROCL_OK : open_slices(m, err);
    if (st == ROCL_OK)
        st = sweep_items(m, err);
    if (st == ROCL_OK)
        st = collect_leaks(m, err);
    if (st != ROCL_OK)
        return st;
    qsort(m->owners + 1, m->owner_count - 1, sizeof *m->owners, compare_owners);
    put_memory_tables(m, out);
    return ROCL_OK;
}

static void close_memory(void *self)
{
    memory *m = self;
    rocl_strings_free(m->keys);
    rocl_map_free(&m->live);
    rocl_buf_free(&m->store);
    for (size_t i = 0; m->owners && i < m->owner_count; i++)
        free(m->owners[i].slices);
    free(m->owners);
    free(m->spans);
    free(m->leaks);
}

const rocl_collector_def rocl_memory_collector = {
    .tables = (const rocl_table_def *const[]){&memory_table, &slice_table, &leak_table,
                                              &scratch_table, NULL},
    .kinds = ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH),
    .size = sizeof(memory),
    .open = open_memory,
    .add_batch = add_memory_batch,
    .history_kinds = ROCL_BIT(ROCL_ALLOC),
    .add_history = add_memory_history,
    .finish = finish_memory,
    .close = close_memory,
};

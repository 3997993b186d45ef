/* Memory as tables: per agent, what was not freed, and scratch memory. */
#include <stdio.h>

#include "analysis/memory.h"

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

rocl_datum rocl_memory_rank(const owner *o)
{
    return rocl_id_datum(o->key.rank);
}

static uint64_t shown_columns(const memory *m, unsigned rank_column)
{
    return m->c.options->by_rank ? UINT64_MAX : ~(UINT64_C(1) << rank_column);
}

static bool memory_row(const memory *m, rocl_tables *out, rocl_table *t, const owner *o,
                       uint64_t shown)
{
    const rocl_datum cells[] = {rocl_cell_of_agent(m->c.trace, out, &o->key),
                                rocl_memory_rank(o),
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
    const rocl_capture *c = &m->c.trace->captures[b->capture]->pub;
    const owner *o = &m->owners[b->owner];
    const rocl_thread *thread = b->thread < c->thread_count ? &c->threads[b->thread] : NULL;
    const rocl_process *process =
        thread && thread->process < c->process_count ? &c->processes[thread->process] : NULL;
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)b->address);
    const rocl_datum cells[] = {rocl_cell_of_string(out, address),
                                rocl_cell_of_agent(m->c.trace, out, &o->key),
                                rocl_memory_rank(o),
                                rocl_datum_int(1),
                                rocl_datum_int(b->size),
                                rocl_datum_int(b->when - m->first),
                                process ? rocl_datum_int(process->pid) : (rocl_datum){0},
                                thread ? rocl_datum_int(thread->tid) : (rocl_datum){0},
                                rocl_cell_of_text(m->c.trace, out, b->name)};
    return rocl_table_row_some(t, CELLS(cells), shown);
}

static bool leak_rest(const memory *m, rocl_tables *out, rocl_table *t, size_t first,
                      uint64_t shown)
{
    int64_t sum = 0;
    for (size_t i = first; i < m->leak_count; i++)
        sum = rocl_add_saturated(sum, m->leaks[i].size);
    const rocl_datum cells[9] = {[0] = rocl_others_datum(out, m->leak_count - first),
                                 [3] = rocl_datum_int((int64_t)(m->leak_count - first)),
                                 [4] = rocl_datum_int(sum)};
    return rocl_table_row_some(t, CELLS(cells), shown);
}

static rocl_status leak_table(const memory *m, rocl_tables *out, rocl_error *err)
{
    size_t n = rocl_rows_shown(m->c.options, m->leak_count);
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
            rocl_cell_of_agent(m->c.trace, out, &o->key), rocl_memory_rank(o),
            rocl_datum_int((int64_t)n[ROCL_OP_ALLOC]),    rocl_datum_int((int64_t)n[ROCL_OP_FREE]),
            rocl_datum_int((int64_t)n[ROCL_OP_RECLAIM]),  rocl_datum_int(o->scratch_bytes),
            rocl_datum_int(o->scratch_largest),           rocl_datum_int(o->scratch_time)};
        if (n[ROCL_OP_OTHER] + n[ROCL_OP_ALLOC] + n[ROCL_OP_FREE] + n[ROCL_OP_REALLOC] +
            n[ROCL_OP_RECLAIM])
            good = rocl_table_row_some(t, CELLS(cells), shown);
    }
    return good ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_memory_tables(memory *m, rocl_tables *out, rocl_error *err)
{
    rocl_status st = memory_table(m, out, err);
    if (st == ROCL_OK && m->slices.count)
        st = rocl_memory_slices_table(m, out, err);
    if (st == ROCL_OK)
        st = leak_table(m, out, err);
    return st == ROCL_OK ? scratch_table(m, out, err) : st;
}

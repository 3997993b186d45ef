/* Live memory over time: the most in each of equal slices, for charts and programs. */
#include <stdlib.h>

#include "analysis/memory.h"

enum { DEFAULT_SLICES = 1000 };

/* From the first to the last event, but within the window. */
rocl_status rocl_memory_slices_begin(memory *m, rocl_error *err)
{
    memory_span all = {INT64_MAX, INT64_MIN};
    uint64_t most = m->c.options->slices ? m->c.options->slices : DEFAULT_SLICES;
    for (unsigned w = 0; w < m->c.trace->opt.jobs; w++) {
        all.first = m->spans[w].first < all.first ? m->spans[w].first : all.first;
        all.last = m->spans[w].last > all.last ? m->spans[w].last : all.last;
    }
    all.first = m->from > all.first ? m->from : all.first;
    all.last = m->to < all.last ? m->to : all.last;
    m->slices = rocl_slices_of(all.first, all.last, most);
    for (size_t i = 1; i < m->owner_count; i++)
        if (!(m->owners[i].slices = calloc(m->slices.count, sizeof(int64_t))))
            return rocl_fail_memory(err);
    return ROCL_OK;
}

/* What was live stays so up to the time. */
void rocl_memory_slices_note(memory *m, owner *o, int64_t when)
{
    if (!o->slices || when < m->slices.first)
        return;
    uint64_t now = rocl_slice_at(&m->slices, when);
    for (uint64_t i = o->slice; i <= now; i++)
        if (o->live > o->slices[i])
            o->slices[i] = o->live;
    o->slice = now;
}

static const rocl_table_column columns[] = {
    {"agent", "Agent", ROCL_UNIT_TEXT},  {"rank", "Rank", ROCL_UNIT_COUNT},
    {"slice", "Slice", ROCL_UNIT_COUNT}, {"start_ns", "Start", ROCL_UNIT_COUNT},
    {"end_ns", "End", ROCL_UNIT_COUNT},  {"peak_bytes", "Peak", ROCL_UNIT_BYTES},
};

enum { COLUMNS = sizeof columns / sizeof *columns, T_RANK = 1 };

static bool put_rows(const memory *m, rocl_tables *out, rocl_table *t, const owner *o,
                     uint64_t shown)
{
    const rocl_slices *s = &m->slices;
    rocl_datum agent = rocl_cell_of_agent(m->c.trace, out, &o->key);
    bool good = true;
    for (uint64_t i = 0; i < s->count && good; i++) {
        const rocl_datum cells[] = {agent,
                                    rocl_memory_rank(o),
                                    rocl_datum_int((int64_t)i),
                                    rocl_datum_int(rocl_slice_begin(s, i)),
                                    rocl_datum_int(rocl_slice_begin(s, i + 1)),
                                    rocl_datum_int(o->slices[i])};
        good = rocl_table_row_some(t, cells, COLUMNS, shown);
    }
    return good;
}

rocl_status rocl_memory_slices_table(memory *m, rocl_tables *out, rocl_error *err)
{
    uint64_t shown = m->c.options->by_rank ? UINT64_MAX : ~(UINT64_C(1) << T_RANK);
    rocl_table *t =
        rocl_tables_add_some(out, "memory_timeline", "Memory over time", columns, COLUMNS, shown);
    bool good = t != NULL;
    for (size_t i = 1; good && i < m->owner_count; i++) {
        owner *o = &m->owners[m->order[i]];
        rocl_memory_slices_note(m, o, m->slices.first + (int64_t)m->slices.length);
        if (o->used)
            good = put_rows(m, out, t, o, shown);
    }
    return good ? ROCL_OK : rocl_fail_memory(err);
}

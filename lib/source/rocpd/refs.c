/* Rules for what a row may hold: references that lead somewhere, integers that are integers, times
 * that make sense. Every breach is counted; see rocline(7). */
#include "source/rocpd/rocpd.h"

rocl_status rocpd_fault(const rocpd_row *r, rocl_fault f, rocl_error *err)
{
    const rocpd_set *s = r->set;
    return rocl_fault_count(s->trace, f, err, "%s: table %s: id %lld", s->capture->pub.path,
                            s->tables[r->table], (long long)r->rows->id[r->row]);
}

rocl_status rocpd_int(const rocpd_row *r, unsigned col, int64_t *v, rocl_error *err)
{
    bool bad = false;
    *v = 0;
    rocl_cell_int(r->rows, col, r->row, v, &bad);
    return bad ? rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err) : ROCL_OK;
}

rocl_status rocpd_ref_slow(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                           rocl_fault dangling, uint32_t *index, rocl_error *err)
{
    int64_t id;
    bool bad = false;
    *index = ROCL_NONE;
    if (!rocl_cell_int(r->rows, col, r->row, &id, &bad))
        return bad ? rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err) : ROCL_OK;
    uint32_t found = rocl_ids_get(ids, (uint64_t)id);
    if (found == ROCPD_NOBODY)
        return ROCL_OK;
    *index = found;
    return found == ROCL_NONE && !ids->absent ? rocpd_fault(r, dangling, err) : ROCL_OK;
}

rocl_status rocpd_times(const rocpd_row *r, unsigned start_col, unsigned end_col,
                        const rocl_process *process, rocl_event *e, bool *keep, rocl_error *err)
{
    bool bad = false;
    *keep = false;
    if (!rocl_cell_int(r->rows, start_col, r->row, &e->start, &bad) ||
        !rocl_cell_int(r->rows, end_col, r->row, &e->end, &bad) || e->start < 0 || e->end < 0)
        return rocpd_fault(r, ROCL_FAULT_BAD_TIME, err);
    if (e->end == 0)
        return rocpd_fault(r, ROCL_FAULT_NO_END, err);
    if (e->end < e->start)
        return rocpd_fault(r, ROCL_FAULT_END_BEFORE_START, err);
    /* A profiler that does not know when the process began stores 0. Events are still on the clock
     * of their node. */
    if (process && process->init > 0 && e->end < process->init - r->set->capture->offset)
        return rocpd_fault(r, ROCL_FAULT_BEFORE_PROCESS, err);
    e->duration = e->end - e->start;
    *keep = true;
    return ROCL_OK;
}

/* Rules for what a row may hold: references that lead somewhere, integers that are integers, times
 * that make sense. Every breach is counted; see rocline(7). */
#include "source/rocpd/rocpd.h"

rocl_status rocpd_fault(const rocpd_row *r, rocl_fault f, rocl_error *err)
{
    const rocpd_set *s = r->set;
    return rocl_fault_count(s->trace, f, err, "%s: table %s: id %lld", s->capture->pub.path,
                            s->tables[r->table], (long long)r->rows->id[r->row]);
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

/* The rows of a table one after the other, and the rules for what a row may hold: references that
 * lead somewhere, integers that are integers, times that make sense. Every breach is counted; see
 * rocline(7). */
#include "source/rocpd/rocpd.h"

rocl_status rocpd_each_row(rocpd_row *r, rocl_db *db, const char *const *columns, unsigned count,
                           const rocl_task *task, rocpd_row_fn *fn, void *ctx, rocl_error *err)
{
    rocl_rows *rows;
    unsigned n = 0;
    rocl_status st = rocl_rows_open(&rows, db, r->set->tables[r->table], columns, count, err);
    if (st != ROCL_OK)
        return st;
    r->rows = rows;
    st = rocl_rows_seek(rows, task ? task->first : INT64_MIN, task ? task->last : INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n) {
        for (r->row = 0; r->row < n && st == ROCL_OK; r->row++)
            st = fn(r, ctx, err);
        if (r->progress)
            rocl_progress(r->set->trace, n);
    }
    rocl_rows_close(rows);
    return st;
}

rocl_status rocpd_count_fault(const rocpd_row *r, rocl_fault f, rocl_error *err)
{
    const rocpd_set *s = r->set;
    return rocl_fault_count(s->trace, f, err, "%s: table %s: id %lld", s->capture->pub.path,
                            s->tables[r->table], (long long)r->rows->id[r->row]);
}

rocl_status rocpd_read_ref_slow(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                rocl_fault dangling, uint32_t *index, rocl_error *err)
{
    int64_t id;
    bool bad = false;
    *index = ROCL_NONE;
    if (!rocl_cell_int(r->rows, col, r->row, &id, &bad))
        return bad ? rocpd_count_fault(r, ROCL_FAULT_BAD_VALUE, err) : ROCL_OK;
    uint32_t known = rocl_ids_get(ids, (uint64_t)id);
    if (known == ROCPD_NOBODY)
        return ROCL_OK;
    *index = known;
    return known == ROCL_NONE && !ids->absent ? rocpd_count_fault(r, dangling, err) : ROCL_OK;
}

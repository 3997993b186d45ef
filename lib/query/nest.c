/* Which slice is within which: what the columns `depth` and `parent_id` of a whole scan say. */
#include <stdlib.h>

#include "base/array.h"
#include "query/scan_impl.h"

static int64_t cell_of(const rocl_scan *s, uint32_t row, unsigned column)
{
    return rocl_cell_at(s->blocks[row >> ROCL_BLOCK_SHIFT].block, rocl_scan_column(s, column),
                        row & (ROCL_BLOCK_ROWS - 1));
}

/* Rows of a track in order of start, the longer first: the open rows form a stack with descending
 * ends. A row is within the last one that ends after it. Rows that only overlap it are dropped from
 * the stack, with those within them. */
static rocl_status sweep_rows(rocl_scan *s, const uint32_t *rows, const unsigned *column,
                              rocl_error *err)
{
    struct open_slice {
        int64_t end, id;
    } *stack = NULL;
    size_t depth = 0, capacity = 0;
    int64_t track = ROCL_CELL_NULL;
    for (uint64_t i = 0; i < s->rows; i++) {
        const uint32_t row = rows[i];
        const int64_t start = cell_of(s, row, column[1]), end = cell_of(s, row, column[2]);
        if (cell_of(s, row, column[0]) != track) {
            track = cell_of(s, row, column[0]);
            depth = 0;
        }
        while (depth && (stack[depth - 1].end <= start || stack[depth - 1].end < end))
            depth--;
        if (!ROCL_GROW(stack, capacity, depth + 1)) {
            free(stack);
            return rocl_fail_memory(err);
        }
        s->depths[row] = (uint32_t)depth;
        s->parents[row] = depth ? stack[depth - 1].id : ROCL_CELL_NULL;
        stack[depth++] = (struct open_slice){end, cell_of(s, row, column[3])};
    }
    free(stack);
    return ROCL_OK;
}

uint64_t rocl_nesting_needs(const rocl_relation *t)
{
    static const char *const names[] = {"track_id", "start", "end", "slice_id"};
    uint64_t columns = 0;
    for (unsigned i = 0; i < 4; i++)
        columns |= UINT64_C(1) << rocl_relation_find(t, names[i]);
    return columns;
}

rocl_status rocl_scan_nest(rocl_scan *s, rocl_error *err)
{
    const rocl_relation *t = s->spec.table;
    const unsigned column[] = {rocl_relation_find(t, "track_id"), rocl_relation_find(t, "start"),
                               rocl_relation_find(t, "end"), rocl_relation_find(t, "slice_id")};
    const rocl_order_term order[] = {
        {column[0], false}, {column[1], false}, {column[2], true}, {column[3], false}};
    const size_t all = s->block_count << ROCL_BLOCK_SHIFT;
    const uint32_t *rows;
    if (s->depths)
        return ROCL_OK;
    rocl_status st = rocl_scan_order(s, order, 4, false, &rows, err);
    if (st != ROCL_OK)
        return st;
    s->depths = calloc(all + 1, sizeof *s->depths);
    s->parents = calloc(all + 1, sizeof *s->parents);
    if (s->depths && s->parents)
        st = sweep_rows(s, rows, column, err);
    else
        st = rocl_fail_memory(err);
    if (st != ROCL_OK) {
        free(s->depths);
        free(s->parents);
        s->depths = NULL;
        s->parents = NULL;
    }
    return st;
}

int64_t rocl_scan_nesting(const rocl_scan *s, uint32_t row, bool depth)
{
    return depth ? s->depths[row] : s->parents[row];
}

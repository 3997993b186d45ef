/* Rows of a relation, column by column, packed: what a worker makes of batches, and what a cursor
 * of SQL reads. relation/relation.h defines cells. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "relation/relation.h"

/* A row of a scan is block << ROCL_BLOCK_SHIFT | row of the block. */
enum { ROCL_BLOCK_SHIFT = 13, ROCL_BLOCK_ROWS = 1 << ROCL_BLOCK_SHIFT };

/* A column of a block. Times of a block are near each other, agents and queues are few: most cells
 * are a small number above the smallest one of the column.
 *
 *     width 0       every cell is `base`
 *     width 1 2 4   a cell is base + code; with `nulls`, code 0 is NULL
 *     width 8       a cell is its 64 bits */
typedef struct rocl_packed_column {
    int64_t base;
    uint32_t offset; /* of the codes, from the begin of the block */
    uint8_t width;
    bool nulls;
} rocl_packed_column;

/* Lies in memory as a whole, so that it may be moved. */
typedef struct rocl_cell_block {
    size_t bytes; /* with this head */
    uint32_t rows, column_count;
    rocl_packed_column columns[];
} rocl_cell_block;

/* Packs `count` columns of `rows` cells each, whose first cells are `stride` apart. free() it; NULL
 * when memory is out. */
rocl_cell_block *rocl_cells_pack(const int64_t *cells, size_t stride, uint32_t rows,
                                 uint32_t count);

static inline int64_t rocl_cell_at(const rocl_cell_block *b, uint32_t column, uint32_t row)
{
    const rocl_packed_column *p = &b->columns[column];
    const uint8_t *codes = (const uint8_t *)b + p->offset;
    uint64_t code;
    switch (p->width) {
    case 0:
        return p->base;
    case 1:
        code = codes[row];
        break;
    case 2:
        code = ((const uint16_t *)(const void *)codes)[row];
        break;
    case 4:
        code = ((const uint32_t *)(const void *)codes)[row];
        break;
    default:
        return ((const int64_t *)(const void *)codes)[row];
    }
    return p->nulls && !code ? ROCL_CELL_NULL : (int64_t)((uint64_t)p->base + code);
}

/* Packs cells: see block.h for how they lie. */
#include "query/block.h"

#include <stdlib.h>
#include <string.h>

/* What the cells of a column need. */
static rocl_packed_column choose_width(const int64_t *cells, uint32_t rows)
{
    rocl_packed_column p = {0};
    int64_t min = INT64_MAX, max = INT64_MIN;
    for (uint32_t i = 0; i < rows; i++) {
        bool null = cells[i] == ROCL_CELL_NULL;
        p.nulls |= null;
        min = !null && cells[i] < min ? cells[i] : min;
        max = cells[i] > max ? cells[i] : max;
    }
    if (max == ROCL_CELL_NULL) { /* no row, or no value */
        p.base = ROCL_CELL_NULL;
        return p;
    }
    const uint64_t range = (uint64_t)max - (uint64_t)min;
    if (range == 0 && !p.nulls) {
        p.base = min;
        return p;
    }
    if (range >= UINT32_MAX) {
        p.width = 8;
        return p;
    }
    const uint64_t largest = range + p.nulls;
    p.width = largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
    p.base = (int64_t)((uint64_t)min - p.nulls); /* code 0 is NULL */
    return p;
}

#define PUT_CODES(type)                                                                            \
    for (uint32_t i = 0; i < rows; i++)                                                            \
    ((type *)to)[i] = p->nulls && cells[i] == ROCL_CELL_NULL                                       \
                          ? 0                                                                      \
                          : (type)((uint64_t)cells[i] - (uint64_t)p->base)

static void put_codes(void *to, const rocl_packed_column *p, const int64_t *cells, uint32_t rows)
{
    if (p->width == 1) {
        PUT_CODES(uint8_t);
    } else if (p->width == 2) {
        PUT_CODES(uint16_t);
    } else if (p->width == 4) {
        PUT_CODES(uint32_t);
    } else if (p->width == 8) {
        memcpy(to, cells, rows * sizeof *cells);
    }
}

rocl_cell_block *rocl_cells_pack(const int64_t *cells, size_t stride, uint32_t rows, uint32_t count)
{
    const size_t head = sizeof(rocl_cell_block) + count * sizeof(rocl_packed_column);
    rocl_cell_block *b = malloc(head + count * ((size_t)rows * 8 + 8));
    if (!b)
        return NULL;
    *b = (rocl_cell_block){.bytes = (head + 7) & ~(size_t)7, .rows = rows, .column_count = count};
    for (uint32_t c = 0; c < count; c++) {
        rocl_packed_column *p = &b->columns[c];
        *p = choose_width(cells + c * stride, rows);
        p->offset = (uint32_t)b->bytes;
        put_codes((uint8_t *)b + p->offset, p, cells + c * stride, rows);
        b->bytes += ((size_t)rows * p->width + 7) & ~(size_t)7;
    }
    rocl_cell_block *smaller = realloc(b, b->bytes);
    return smaller ? smaller : b;
}

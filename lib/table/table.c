#include "table/table.h"

#include <stdlib.h>
#include <string.h>

rocl_tables *rocl_tables_new(void)
{
    return calloc(1, sizeof(rocl_tables));
}

void rocl_tables_free(rocl_tables *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->count; i++)
        free(all->tables[i].cells);
    free(all->tables);
    rocl_arena_free(&all->arena);
    free(all);
}

rocl_table *rocl_tables_add(rocl_tables *all, const char *key, const char *title,
                            const rocl_table_column *columns, size_t column_count)
{
    /* A handful per run: growing by one is fine. */
    rocl_table *tables = realloc(all->tables, (all->count + 1) * sizeof *tables);
    if (!tables)
        return NULL;
    all->tables = tables;
    rocl_table *t = &tables[all->count++];
    *t = (rocl_table){
        .key = key,
        .title = title,
        .columns = columns,
        .column_count = column_count,
    };
    return t;
}

bool rocl_tables_join(rocl_tables *all, rocl_tables *from)
{
    size_t count = all->count + from->count;
    rocl_table *tables = reallocarray(all->tables, count ? count : 1, sizeof *tables);
    if (!tables)
        return false;
    if (from->count)
        memcpy(tables + all->count, from->tables, from->count * sizeof *tables);
    all->tables = tables;
    all->count = count;
    all->incomplete |= from->incomplete;
    from->count = 0;
    rocl_arena_join(&all->arena, &from->arena);
    return true;
}

static bool more_cells(rocl_table *t, size_t wanted)
{
    size_t cap = t->cell_cap ? t->cell_cap : 64;
    while (cap < wanted && cap <= SIZE_MAX / 2)
        cap *= 2;
    if (cap < wanted || cap > SIZE_MAX / sizeof *t->cells)
        return false;
    rocl_datum *cells = realloc(t->cells, cap * sizeof *cells);
    if (!cells)
        return false;
    t->cells = cells;
    t->cell_cap = cap;
    return true;
}

rocl_datum *rocl_table_row(rocl_table *t)
{
    size_t used = t->row_count * t->column_count, wanted = used + t->column_count;
    if (wanted > t->cell_cap && !more_cells(t, wanted))
        return NULL;
    for (size_t i = used; i < wanted; i++)
        t->cells[i] = (rocl_datum){.is = ROCL_DATUM_NONE};
    t->row_count++;
    return t->cells + used;
}

/* Memory that is out shows as an empty cell, not as a wrong one. */
const char *rocl_tables_text(rocl_tables *all, const char *p, size_t n)
{
    const char *copy = rocl_arena_dup(&all->arena, p, n);
    all->incomplete |= !copy;
    return copy ? copy : "";
}

rocl_datum rocl_datum_text(rocl_tables *all, const char *p, size_t n)
{
    const char *copy = rocl_tables_text(all, p, n);
    return (rocl_datum){.is = ROCL_DATUM_TEXT, .text = copy, .len = all->incomplete ? 0 : n};
}

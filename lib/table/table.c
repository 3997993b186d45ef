/* The tables of results themselves: rows and texts are added, and found again by their keys. */
#include "table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

_Static_assert(ROCL_DATUM_NONE == 0, "cells that ROCL_GROW has made are without a value");

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
    rocl_tables_free(all->evidence);
    free(all);
}

rocl_table *rocl_tables_add(rocl_tables *all, const char *key, const char *title,
                            const rocl_table_column *columns, size_t column_count)
{
    if (!ROCL_GROW(all->tables, all->cap, all->count + 1))
        return NULL;
    rocl_table *t = &all->tables[all->count++];
    *t = (rocl_table){.key = key, .title = title, .columns = columns, .column_count = column_count};
    return t;
}

bool rocl_tables_join(rocl_tables *all, rocl_tables *from)
{
    if (!ROCL_GROW(all->tables, all->cap, all->count + from->count))
        return false;
    if (from->count)
        memcpy(all->tables + all->count, from->tables, from->count * sizeof *from->tables);
    all->count += from->count;
    all->incomplete |= from->incomplete;
    from->count = 0; /* the cells are ours now */
    rocl_arena_join(&all->arena, &from->arena);
    memset(from->recent, 0, sizeof from->recent); /* their texts are ours, too */
    if (from->evidence && all->evidence)
        return rocl_tables_join(all->evidence, from->evidence);
    all->evidence = all->evidence ? all->evidence : from->evidence;
    from->evidence = NULL;
    return true;
}

bool rocl_tables_have(const rocl_tables *t, const char *key)
{
    return rocl_tables_find(t, key);
}

void rocl_tables_keep(rocl_tables *t, const char *const *keys)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        const char *const *k = keys;
        while (*k && strcmp(*k, t->tables[i].key) != 0)
            k++;
        if (t->tables[i].header || *k)
            t->tables[n++] = t->tables[i];
        else
            free(t->tables[i].cells);
    }
    t->count = n;
}

rocl_datum *rocl_table_row(rocl_table *t)
{
    size_t used = t->row_count * t->column_count;
    if (!ROCL_GROW(t->cells, t->cell_cap, used + t->column_count))
        return NULL;
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

/* FNV-1a of the length and the last bytes: names of kernels begin alike. */
static size_t hash_text(const char *p, size_t n)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ n;
    for (size_t i = n > 32 ? n - 32 : 0; i < n; i++)
        hash = (hash ^ (uint8_t)p[i]) * UINT64_C(0x100000001b3);
    return hash % ROCL_RECENT_TEXTS;
}

rocl_datum rocl_datum_text(rocl_tables *all, const char *p, size_t n)
{
    rocl_datum *recent = &all->recent[hash_text(p, n)];
    if (recent->type == ROCL_DATUM_TEXT && recent->len == n && !memcmp(recent->text, p, n))
        return *recent;
    const char *copy = n <= UINT32_MAX ? rocl_tables_text(all, p, n) : NULL;
    all->incomplete |= !copy;
    if (all->incomplete)
        return (rocl_datum){.type = ROCL_DATUM_TEXT, .text = ""};
    *recent = (rocl_datum){.type = ROCL_DATUM_TEXT, .text = copy, .len = (uint32_t)n};
    return *recent;
}

const rocl_table *rocl_tables_find(const rocl_tables *all, const char *key)
{
    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->tables[i].key, key))
            return &all->tables[i];
    return NULL;
}

size_t rocl_table_find_column(const rocl_table *t, const char *key)
{
    size_t c = 0;
    while (c < t->column_count && strcmp(t->columns[c].key, key) != 0)
        c++;
    return c;
}

const rocl_datum *rocl_table_find_cell(const rocl_table *t, size_t row, const char *key)
{
    static const rocl_datum none;
    size_t c = rocl_table_find_column(t, key);
    return c < t->column_count ? rocl_table_cell(t, row, c) : &none;
}

bool rocl_datum_has_value(const rocl_datum *d)
{
    return d->type != ROCL_DATUM_NONE && (d->type != ROCL_DATUM_REAL || isfinite(d->r));
}

double rocl_datum_number(const rocl_datum *d)
{
    return d->type == ROCL_DATUM_INT                               ? (double)d->i
           : d->type == ROCL_DATUM_REAL && rocl_datum_has_value(d) ? d->r
                                                                   : 0;
}

bool rocl_datum_is(const rocl_datum *d, const char *text)
{
    return d->type == ROCL_DATUM_TEXT && d->len == strlen(text) && !memcmp(d->text, text, d->len);
}

double rocl_cell_number(const rocl_table *t, size_t row, size_t column)
{
    return column < t->column_count ? rocl_datum_number(rocl_table_cell(t, row, column)) : 0;
}

double rocl_cell_length(const rocl_table *t, size_t row, size_t column)
{
    return fmax(rocl_cell_number(t, row, column), 0);
}

bool rocl_cell_is_same(const rocl_table *t, size_t a, size_t b, size_t column)
{
    const rocl_datum *x = rocl_table_cell(t, a, column), *y = rocl_table_cell(t, b, column);
    return x->type == y->type && x->len == y->len &&
           (x->type == ROCL_DATUM_TEXT ? !x->len || !memcmp(x->text, y->text, x->len)
                                       : x->type == ROCL_DATUM_NONE || x->i == y->i);
}

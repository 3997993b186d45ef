/* Rows of a scan that is whole: put in an order, and found by their values. SQLite would copy every
 * row into a sorter of its own; here 4 bytes a row are moved, in passes over the digits of a key.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/order.h"
#include "query/scan_impl.h"

/* ---- keys ------------------------------------------------------------------------------------ */

/* What makes a number of a cell that sorts as SQL wants it. */
typedef struct key_maker {
    const rocl_scan *scan;
    unsigned column; /* of the blocks */
    rocl_cell_type type;
    bool descending;
    uint32_t *ranks; /* of texts, by id; NULL: their ids will do */
} key_maker;

static inline uint64_t make_key(const key_maker *m, uint32_t row)
{
    const rocl_cell_block *b = m->scan->blocks[row >> ROCL_BLOCK_SHIFT].block;
    const int64_t cell = rocl_cell_at(b, m->column, row & (ROCL_BLOCK_ROWS - 1));
    uint64_t key = 0; /* NULL is before all */
    if (cell != ROCL_CELL_NULL) {
        if (m->type == ROCL_CELL_TEXT)
            key = (m->ranks ? m->ranks[cell] : (uint64_t)cell) + 1;
        else if (m->type == ROCL_CELL_INTEGER || cell >= 0)
            key = (uint64_t)cell ^ UINT64_C(1) << 63;
        else
            key = ~(uint64_t)cell;
    }
    return m->descending ? ~key : key;
}

typedef struct ranked_text {
    const char *bytes;
    size_t len;
    uint32_t id;
} ranked_text;

static int compare_texts(const void *a, const void *b)
{
    const ranked_text *x = a, *y = b;
    return rocl_compare_bytes(x->bytes, x->len, y->bytes, y->len);
}

/* Ranks the texts of a column as the collation BINARY does. False: memory is out. */
static bool rank_texts(key_maker *m)
{
    const rocl_scan *s = m->scan;
    const rocl_strings *strings = s->strings;
    const size_t all = rocl_strings_count(strings);
    uint32_t *ranks = calloc(all + 1, sizeof *ranks);
    size_t count = 0;
    if (!ranks)
        return false;
    m->ranks = ranks;
    for (size_t i = 0; i < s->block_count; i++) {
        const rocl_cell_block *b = s->blocks[i].block;
        for (uint32_t row = 0; row < b->rows; row++) {
            const int64_t cell = rocl_cell_at(b, m->column, row);
            if (cell == ROCL_CELL_NULL || (uint64_t)cell >= all)
                continue;
            count += !ranks[cell];
            ranks[cell] = 1;
            if (!b->columns[m->column].width)
                break; /* all are the same */
        }
    }
    ranked_text *texts = malloc((count + 1) * sizeof *texts);
    if (!texts)
        return false;
    count = 0;
    for (uint32_t id = 0; id < all; id++) {
        if (ranks[id]) {
            ranked_text *t = &texts[count++];
            t->id = id;
            t->bytes = rocl_strings_get(strings, id, &t->len);
        }
    }
    qsort(texts, count, sizeof *texts, compare_texts);
    for (size_t i = 0; i < count; i++)
        ranks[texts[i].id] = (uint32_t)i;
    free(texts);
    return true;
}

/* ---- orders ---------------------------------------------------------------------------------- */

enum { DIGIT_BITS = 11, DIGIT_BITS_MAX = 16 };

/* Sorts the rows by their keys, stably: a radix sort, the last digit first. `other` has space for
 * as many rows; the result is in *rows. */
static void sort_rows(const key_maker *m, uint32_t **rows, uint32_t **other, size_t n,
                      uint32_t *counts)
{
    uint64_t min = UINT64_MAX, max = 0, last = 0;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = make_key(m, (*rows)[i]);
        min = key < min ? key : min;
        max = key > max ? key : max;
        sorted = sorted && key >= last;
        last = key;
    }
    if (sorted)
        return;
    const unsigned bits = 64 - (unsigned)__builtin_clzll(max - min);
    const unsigned passes = bits <= DIGIT_BITS_MAX ? 1 : (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    const unsigned width = (bits + passes - 1) / passes;
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    for (unsigned shift = 0; shift < passes * width; shift += width) {
        uint32_t sum = 0;
        memset(counts, 0, (mask + 1) * sizeof *counts);
        for (size_t i = 0; i < n; i++)
            counts[(make_key(m, (*rows)[i]) - min) >> shift & mask]++;
        for (size_t i = 0; i <= mask; i++) {
            const uint32_t count = counts[i];
            counts[i] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            (*other)[counts[(make_key(m, (*rows)[i]) - min) >> shift & mask]++] = (*rows)[i];
        uint32_t *swap = *rows;
        *rows = *other;
        *other = swap;
    }
}

static rocl_status check_row_numbers(const rocl_scan *s, rocl_error *err)
{
    if (s->block_count >= (size_t)1 << (32 - ROCL_BLOCK_SHIFT))
        return rocl_fail(err, ROCL_USAGE,
                         "%s has too many rows to be sorted or joined: narrow it by a condition "
                         "with constants",
                         s->spec.table->name);
    return ROCL_OK;
}

rocl_status rocl_scan_order(rocl_scan *s, const rocl_order_term *terms, unsigned count,
                            bool grouped, const uint32_t **rows, rocl_error *err)
{
    for (size_t i = 0; i < s->order_count; i++) {
        const row_order *o = &s->orders[i];
        if (o->count == count && (!o->grouped || grouped) &&
            !memcmp(o->terms, terms, count * sizeof *terms)) {
            *rows = o->rows;
            return ROCL_OK;
        }
    }
    rocl_status st = check_row_numbers(s, err);
    if (st != ROCL_OK)
        return st;
    row_order o = {.count = count, .grouped = grouped};
    uint32_t *other = malloc((s->rows + 1) * sizeof *other);
    uint32_t *counts = malloc(((size_t)1 << DIGIT_BITS_MAX) * sizeof *counts);
    o.rows = malloc((s->rows + 1) * sizeof *o.rows);
    bool enough =
        o.rows && other && counts && ROCL_GROW(s->orders, s->order_cap, s->order_count + 1);
    memcpy(o.terms, terms, count * sizeof *terms);
    size_t n = 0;
    for (size_t i = 0; i < s->block_count && enough; i++) {
        for (uint32_t row = 0; row < s->blocks[i].block->rows; row++)
            o.rows[n++] = (uint32_t)i << ROCL_BLOCK_SHIFT | row;
    }
    for (unsigned i = count; i-- > 0 && enough;) {
        const unsigned column = terms[i].column;
        key_maker m = {.scan = s,
                       .column = rocl_scan_column(s, column),
                       .type = s->spec.table->columns[column].type,
                       .descending = terms[i].descending};
        enough = m.type != ROCL_CELL_TEXT || grouped || rank_texts(&m);
        if (enough && n)
            sort_rows(&m, &o.rows, &other, n, counts);
        free(m.ranks);
    }
    free(other);
    free(counts);
    if (!enough) {
        free(o.rows);
        return rocl_fail_memory(err);
    }
    s->orders[s->order_count++] = o;
    *rows = o.rows;
    return ROCL_OK;
}

/* ---- indexes --------------------------------------------------------------------------------- */

static inline uint64_t hash_cell(uint64_t hash, int64_t cell)
{
    return rocl_mix64(hash ^ (uint64_t)cell);
}

rocl_status rocl_scan_index(rocl_scan *s, uint64_t columns, const rocl_row_index **index,
                            rocl_error *err)
{
    for (size_t i = 0; i < s->index_count; i++) {
        *index = s->indexes[i];
        if ((*index)->columns == columns)
            return ROCL_OK;
    }
    rocl_status st = check_row_numbers(s, err);
    if (st != ROCL_OK)
        return st;
    size_t heads = 1024;
    while (heads < s->rows)
        heads *= 2;
    rocl_row_index *x = calloc(1, sizeof *x);
    if (x) {
        x->columns = columns;
        x->mask = heads - 1;
        x->heads = malloc(heads * sizeof *x->heads);
        x->next = malloc(((s->block_count << ROCL_BLOCK_SHIFT) + 1) * sizeof *x->next);
    }
    if (!x || !x->heads || !x->next || !ROCL_GROW(s->indexes, s->index_cap, s->index_count + 1)) {
        if (x) {
            free(x->heads);
            free(x->next);
        }
        free(x);
        return rocl_fail_memory(err);
    }
    memset(x->heads, 0xff, heads * sizeof *x->heads);
    for (size_t i = s->block_count; i-- > 0;) { /* backwards, so that chains go forwards */
        const rocl_cell_block *b = s->blocks[i].block;
        for (uint32_t row = b->rows; row-- > 0;) {
            uint64_t hash = 0;
            bool null = false;
            for (uint64_t bits = columns; bits; bits &= bits - 1) {
                const unsigned c = (unsigned)__builtin_ctzll(bits);
                const int64_t cell = rocl_cell_at(b, rocl_scan_column(s, c), row);
                null |= cell == ROCL_CELL_NULL;
                hash = hash_cell(hash, cell);
            }
            const uint32_t number = (uint32_t)i << ROCL_BLOCK_SHIFT | row;
            if (!null) { /* NULL is equal to nothing */
                x->next[number] = x->heads[hash & x->mask];
                x->heads[hash & x->mask] = number;
            }
        }
    }
    s->indexes[s->index_count++] = x;
    *index = x;
    return ROCL_OK;
}

uint32_t rocl_row_index_find(const rocl_row_index *x, const int64_t *cells)
{
    uint64_t hash = 0;
    for (int i = 0; i < __builtin_popcountll(x->columns); i++)
        hash = hash_cell(hash, cells[i]);
    return x->heads[hash & x->mask];
}

uint32_t rocl_row_index_next(const rocl_row_index *x, uint32_t row)
{
    return x->next[row];
}

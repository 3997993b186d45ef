/* Rows on their way to rank 0: column by column, of a column of texts first all that it has, then
 * for each row the difference from the one before. Most columns have few values. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/columnar/columnar.h"

static void put_cells(rocl_buf *to, const int64_t *cells, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        rocl_buf_varint(to, rocl_zigzag((int64_t)((uint64_t)cells[i] - last)));
        last = (uint64_t)cells[i];
    }
}

static void take_cells(rocl_byte_reader *from, int64_t *cells, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        last += (uint64_t)rocl_unzigzag(rocl_next_number(from));
        cells[i] = (int64_t)last;
    }
}

/* A text is its index in the column. */
static void put_texts(rocl_buf *to, const int64_t *cells, size_t n, rocl_dictionary *d,
                      const rocl_strings *strings)
{
    int64_t *indexes = malloc((n + 1) * sizeof *indexes);
    to->failed |= !indexes;
    for (size_t i = 0; indexes && i < n; i++) {
        uint32_t index = 0;
        const bool known = cells[i] != ROCL_CELL_NULL;
        to->failed |= known && !rocl_dictionary_add(d, (uint32_t)cells[i], &index);
        indexes[i] = known ? (int64_t)index : -1;
    }
    rocl_buf_varint(to, d->count);
    for (size_t i = 0; i < d->count; i++) {
        size_t len;
        const char *text = rocl_strings_get(strings, d->texts[i], &len);
        rocl_team_put_text(to, text, len);
    }
    if (indexes)
        put_cells(to, indexes, n);
    rocl_dictionary_clear(d);
    free(indexes);
}

static rocl_status take_texts(rocl_byte_reader *from, int64_t *cells, size_t n,
                              rocl_strings *strings, rocl_error *err)
{
    const uint64_t count = rocl_next_number(from);
    if (from->bad || count > n)
        return rocl_team_bad_message(err);
    uint32_t *texts = malloc((count + 1) * sizeof *texts);
    if (!texts)
        return rocl_fail_memory(err);
    for (uint64_t i = 0; i < count && !from->bad; i++)
        texts[i] = rocl_team_intern_text(strings, from);
    take_cells(from, cells, n);
    for (size_t i = 0; i < n && !from->bad; i++) {
        from->bad = cells[i] < -1 || cells[i] >= (int64_t)count;
        cells[i] = from->bad || cells[i] < 0 ? ROCL_CELL_NULL : (int64_t)texts[cells[i]];
    }
    free(texts);
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

void rocl_columnar_put_rows(rocl_buf *to, const rocl_columnar_file *f, const rocl_strings *strings)
{
    rocl_dictionary d = {0};
    for (unsigned i = 0; i < f->column_count; i++)
        if (f->columns[i]->type == ROCL_CELL_TEXT)
            put_texts(to, f->cells[i], f->group_rows, &d, strings);
        else
            put_cells(to, f->cells[i], f->group_rows);
    rocl_dictionary_free(&d);
}

rocl_status rocl_columnar_take_rows(rocl_byte_reader *from, const rocl_columnar_file *f,
                                    rocl_strings *strings, size_t n, int64_t **cells,
                                    rocl_error *err)
{
    rocl_status st = ROCL_OK;
    *cells = malloc((n * f->column_count + 1) * sizeof **cells);
    if (!*cells)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < f->column_count && st == ROCL_OK; i++)
        if (f->columns[i]->type == ROCL_CELL_TEXT)
            st = take_texts(from, *cells + i * n, n, strings, err);
        else
            take_cells(from, *cells + i * n, n);
    return st == ROCL_OK && from->bad ? rocl_team_bad_message(err) : st;
}

/* What formats share: cells and texts of a group of rows, dictionaries, and what files say of
 * themselves. */
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "sink/columnar/columnar.h"

rocl_status rocl_columnar_put_column(const rocl_columnar_run *run, rocl_columnar_file *f,
                                     unsigned column, void *user, rocl_error *err)
{
    const size_t used = f->group_rows * sizeof **f->cells, all = f->capacity * sizeof **f->cells;
    rocl_block *block;
    const rocl_status st = rocl_pipe_get(run->pipe, &block, err);
    if (st != ROCL_OK)
        return st;
    block->user = user;
    if (f->capacity && rocl_buf_reserve(&block->in, all)) {
        /* A group is some 20 MiB: memory changes hands. */
        uint8_t *const cells = (uint8_t *)f->cells[column];
        f->cells[column] = (int64_t *)(void *)block->in.data;
        block->in = (rocl_buf){.data = cells, .len = used, .cap = all};
    } else {
        rocl_buf_put(&block->in, f->cells[column], used);
    }
    return rocl_pipe_put(run->pipe, block, err);
}

const char *rocl_columnar_text(const rocl_strings *strings, uint32_t text, size_t *len,
                               rocl_buf *scratch)
{
    const char *s = rocl_strings_get(strings, text, len);
    if (rocl_utf8_valid(s, *len))
        return s;
    scratch->len = 0;
    rocl_utf8_put(scratch, s, *len);
    *len = scratch->len;
    return (const char *)scratch->data;
}

bool rocl_columnar_metadata(unsigned i, const char **key, const char **value)
{
    static const char *const pairs[][2] = {
        {"rocline.version", ROCLINE_VERSION},
        {"rocline.time_unit", "ns"},
        {"rocline.clock", "of the traced node"},
        {"rocline.order", "start within each process (guid)"},
    };
    if (i >= sizeof pairs / sizeof *pairs)
        return false;
    *key = pairs[i][0];
    *value = pairs[i][1];
    return true;
}

/* The texts of a column, in the order in which they come. */
bool rocl_dictionary_grow(rocl_dictionary *d, uint32_t text)
{
    if (!ROCL_GROW(d->index_of, d->index_capacity, (size_t)text + 1) ||
        !ROCL_GROW(d->texts, d->capacity, d->count + 1))
        return false;
    if (!d->index_of[text]) {
        d->texts[d->count++] = text;
        d->index_of[text] = (uint32_t)d->count;
    }
    return true;
}

void rocl_dictionary_clear(rocl_dictionary *d)
{
    for (size_t i = 0; i < d->count; i++)
        d->index_of[d->texts[i]] = 0;
    d->count = 0;
}

void rocl_dictionary_free(rocl_dictionary *d)
{
    free(d->index_of);
    free(d->texts);
    *d = (rocl_dictionary){0};
}

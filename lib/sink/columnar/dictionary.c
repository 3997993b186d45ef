/* The texts of a column, in the order in which they come. */
#include <stdlib.h>

#include "base/array.h"
#include "sink/columnar/columnar.h"

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

#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The pointer is copied as bytes: it may be one to any type. */
bool rocl_array_grow(void *items, size_t *cap, size_t need, size_t size)
{
    void *old, *p;
    size_t more = *cap ? *cap : ROCL_ARRAY_FIRST;
    if (need > SIZE_MAX / 2 / size)
        return false;
    while (more < need)
        more *= 2;
    memcpy(&old, items, sizeof old);
    p = realloc(old, more * size);
    if (!p)
        return false;
    memset((char *)p + *cap * size, 0, (more - *cap) * size);
    memcpy(items, &p, sizeof p);
    *cap = more;
    return true;
}

void *rocl_cache_line_calloc(size_t n, size_t size)
{
    void *p = n <= SIZE_MAX / 2 / size ? aligned_alloc(ROCL_CACHE_LINE, n * size) : NULL;
    return p ? memset(p, 0, n * size) : NULL;
}

#include "base/ids.h"

#include <stdlib.h>

/* An id belongs into the array when the array would stay at most some times larger than full. */
static bool grow(rocl_ids *m, uint64_t id)
{
    uint64_t cap = m->cap ? m->cap : 64;
    while (cap <= id)
        cap *= 2;
    uint32_t *more = realloc(m->dense, cap * sizeof *more);
    if (!more)
        return false;
    m->dense = more;
    for (uint64_t i = m->cap; i < cap; i++)
        m->dense[i] = m->sparse.count ? rocl_map_get(&m->sparse, i, ROCL_NONE) : ROCL_NONE;
    m->cap = cap;
    return true;
}

bool rocl_ids_put(rocl_ids *m, uint64_t id, uint32_t index)
{
    if (id >= m->cap && (id < 64 || id / 8 < m->count) && !grow(m, id))
        return false;
    m->count++;
    if (id < m->cap) {
        m->dense[id] = index;
        return true;
    }
    return rocl_map_put(&m->sparse, id, index);
}

void rocl_ids_free(rocl_ids *m)
{
    free(m->dense);
    rocl_map_free(&m->sparse);
    *m = (rocl_ids){0};
}

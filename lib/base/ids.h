/* From the ids of a file to our indexes. Nearly always they are 1, 2, 3, ...: those are looked up
 * in an array. Those that are not (a hash of a node, 2^62 out of spite) go to a hash map. */
#ifndef ROCL_BASE_IDS_H
#define ROCL_BASE_IDS_H

#include "base/map.h"
#include "base/status.h"

typedef struct rocl_ids {
    uint32_t *dense; /* by id; ROCL_NONE where there is none */
    uint64_t cap;    /* of dense */
    uint64_t count;
    rocl_map sparse;
    bool absent; /* the user's: nothing could be in here, so that no id is a fault */
} rocl_ids;

/* Sets id to index (not ROCL_NONE), replacing. False when memory is out. */
bool rocl_ids_put(rocl_ids *m, uint64_t id, uint32_t index) ROCL_CHECKED;
void rocl_ids_free(rocl_ids *m);

/* The index of an id, ROCL_NONE when it has none. Concurrent readers are fine. */
static inline uint32_t rocl_ids_get(const rocl_ids *m, uint64_t id)
{
    if (id < m->cap)
        return m->dense[id];
    return m->sparse.count ? rocl_map_get(&m->sparse, id, ROCL_NONE) : ROCL_NONE;
}

#endif

/* Keys of definitions -> what is known of them, where they were first seen and, when all are known,
 * their index. Open addressing; not thread-safe: each worker has one, merged when all are done. */
#ifndef ROCL_SOURCE_RECORDS_REGISTRY_H
#define ROCL_SOURCE_RECORDS_REGISTRY_H

#include "source/records/records.h"

typedef struct rocl_key_entry {
    rocl_key key;
    uint64_t first;       /* place of the first record; the order of definitions */
    uint32_t index;       /* after rocl_registry_order() */
    rocl_key_facts facts; /* of the first record */
} rocl_key_entry;

struct rocl_registry {
    rocl_key_entry *entries; /* as they were noted; they move when one is added */
    size_t count, capacity;
    uint32_t *slots; /* index of an entry + 1; 0: free */
    size_t slot_count;
};

/* Notes that the record at a place has the key; false: memory is out. facts may be NULL. */
bool rocl_registry_note(rocl_registry *r, const rocl_key *k, uint64_t first,
                        const rocl_key_facts *facts);
rocl_key_entry *rocl_registry_find(const rocl_registry *r, const rocl_key *k); /* or NULL */
bool rocl_registry_merge(rocl_registry *into, const rocl_registry *from);
/* Malloced list of the entries in order, each given its index; NULL: memory is out. */
rocl_key_entry **rocl_registry_order(rocl_registry *r);
void rocl_registry_free(rocl_registry *r);

#endif

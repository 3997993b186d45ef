/* What is collected while records are read, by the engine here and by the reader of legacy text:
 * keys of definitions, and records that are wrong. */
#pragma once

#include <pthread.h>

#include "source/records/records.h"

/* ---- registry.c ------------------------------------------------------------------------------ */

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

/* ---- broken.c -------------------------------------------------------------------------------- */

enum { ROCL_FAULTS_REPORTED = 5 };

typedef struct rocl_bad_record {
    uint64_t piece, line, where; /* line: within the piece */
    const char *why;             /* lives as long as the input */
} rocl_bad_record;

typedef struct rocl_bad_records {
    pthread_mutex_t lock;
    uint64_t counts[ROCL_FAULTS];
    rocl_bad_record first[ROCL_FAULTS_REPORTED];
    unsigned first_count;
    bool reported;
} rocl_bad_records;

/* Counts faults, the first of which is this one. Which of them come first does not depend on the
 * timing of workers. */
void rocl_bad_records_add(rocl_bad_records *b, const rocl_bad_record *bad, rocl_fault fault,
                          uint64_t count);

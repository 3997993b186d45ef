/* A sorted table on disk, to look up in the second pass what the first noted under two numbers.
 * Only the first key of each page of the table is in memory. */
#pragma once

#include "base/extsort.h"
#include "source/source.h"

typedef struct rocl_lookup rocl_lookup;

typedef struct rocl_lookup_key {
    uint64_t major, minor;
} rocl_lookup_key;

int rocl_compare_lookup_keys(const void *a, const void *b);

typedef struct rocl_lookup_entry {
    rocl_lookup_key key;
    uint64_t value;
} rocl_lookup_entry;

/* Pages that a worker looked at last; zeroed at first, `entries` is freed by the caller. */
enum { ROCL_LOOKUP_PAGES = 32 };
typedef struct rocl_lookup_pages {
    size_t numbers[ROCL_LOOKUP_PAGES]; /* from 1; 0: none */
    rocl_lookup_entry *entries;
} rocl_lookup_pages;

rocl_status rocl_lookup_new(rocl_lookup **l, rocl_trace *t, rocl_error *err);
void rocl_lookup_free(rocl_lookup *l);
/* Adds an entry: keys and, of equal keys, values ascend. */
rocl_status rocl_lookup_add(rocl_lookup *l, rocl_lookup_key key, uint64_t value, rocl_error *err);
/* Call it after the last entry. */
rocl_status rocl_lookup_finish(rocl_lookup *l, rocl_error *err);
/* The value of the first entry with a key; if there is none, *value stays as it is. Any worker. */
rocl_status rocl_lookup_find(const rocl_lookup *l, rocl_lookup_pages *pages, rocl_lookup_key key,
                             uint64_t *value, rocl_error *err);

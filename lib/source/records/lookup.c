/* Tables on disk: see lookup.h. */
#include "source/records/lookup.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "model/trace.h"

enum { ENTRY_WORDS = 3, PAGE_ENTRIES = 512 };

struct rocl_lookup {
    rocl_trace *trace;
    rocl_sort_space *file;
    rocl_lookup_key *firsts; /* of each page */
    uint64_t *offsets;
    size_t count, first_cap, offset_cap;
    uint64_t page[ENTRY_WORDS * PAGE_ENTRIES]; /* that is being filled */
    size_t filled;
};

rocl_status rocl_lookup_new(rocl_lookup **l, rocl_trace *t, rocl_error *err)
{
    *l = calloc(1, sizeof **l);
    if (!*l)
        return rocl_fail_memory(err);
    (*l)->trace = t;
    return ROCL_OK;
}

void rocl_lookup_free(rocl_lookup *l)
{
    if (!l)
        return;
    rocl_sort_space_free(l->file);
    free(l->firsts);
    free(l->offsets);
    free(l);
}

rocl_status rocl_lookup_finish(rocl_lookup *l, rocl_error *err)
{
    uint64_t offset;
    if (!l->filled)
        return ROCL_OK;
    if ((!l->file && !(l->file = rocl_sort_space_new(0, 1, l->trace->opt.tmpdir))) ||
        !ROCL_GROW(l->firsts, l->first_cap, l->count + 1) ||
        !ROCL_GROW(l->offsets, l->offset_cap, l->count + 1))
        return rocl_fail_memory(err);
    memset(l->page + l->filled * ENTRY_WORDS, 0xff,
           sizeof l->page - l->filled * ENTRY_WORDS * sizeof *l->page);
    rocl_status st =
        rocl_space_spill(l->file, (const uint8_t *)l->page, sizeof l->page, &offset, err);
    l->firsts[l->count] = (rocl_lookup_key){l->page[0], l->page[1]};
    l->offsets[l->count++] = offset;
    l->filled = 0;
    return st;
}

rocl_status rocl_lookup_add(rocl_lookup *l, rocl_lookup_key key, uint64_t value, rocl_error *err)
{
    uint64_t *entry = l->page + l->filled * ENTRY_WORDS;
    entry[0] = key.major;
    entry[1] = key.minor;
    entry[2] = value;
    return ++l->filled == PAGE_ENTRIES ? rocl_lookup_finish(l, err) : ROCL_OK;
}

static bool is_before(uint64_t major, uint64_t minor, rocl_lookup_key b)
{
    return major != b.major ? major < b.major : minor < b.minor;
}

rocl_status rocl_lookup_find(const rocl_lookup *l, rocl_lookup_pages *pages, rocl_lookup_key key,
                             uint64_t *value, rocl_error *err)
{
    size_t low = 0, high = l->count;
    while (low < high) { /* the last page whose first entry is before, or the first of all */
        const size_t middle = low + (high - low) / 2;
        if (is_before(l->firsts[middle].major, l->firsts[middle].minor, key))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low ? low - 1 : 0; i <= low && i < l->count; i++) {
        if (!pages->entries && !(pages->entries = malloc(ROCL_LOOKUP_PAGES * sizeof l->page)))
            return rocl_fail_memory(err);
        const size_t slot = i % ROCL_LOOKUP_PAGES;
        uint64_t *page = pages->entries + slot * ENTRY_WORDS * PAGE_ENTRIES;
        if (pages->numbers[slot] != i + 1) {
            rocl_status st =
                rocl_space_read(l->file, (uint8_t *)page, sizeof l->page, l->offsets[i], err);
            if (st != ROCL_OK)
                return st;
            pages->numbers[slot] = i + 1;
        }
        size_t from = 0, to = PAGE_ENTRIES;
        while (from < to) {
            const size_t middle = from + (to - from) / 2;
            const uint64_t *e = page + middle * ENTRY_WORDS;
            if (is_before(e[0], e[1], key))
                from = middle + 1;
            else
                to = middle;
        }
        const uint64_t *e = page + from * ENTRY_WORDS;
        if (from < PAGE_ENTRIES && e[0] == key.major && e[1] == key.minor) {
            *value = e[2];
            return ROCL_OK;
        }
    }
    return ROCL_OK;
}

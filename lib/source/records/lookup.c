/* Tables on disk: see lookup.h. */
#include "source/records/lookup.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "model/trace.h"

enum { PAGE_ENTRIES = 512 };

struct rocl_lookup {
    rocl_trace *trace;
    rocl_sort_space *file;
    rocl_lookup_key *firsts; /* of each page */
    uint64_t *offsets;
    size_t count, first_cap, offset_cap;
    rocl_lookup_entry page[PAGE_ENTRIES]; /* that is being filled */
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
    memset(l->page + l->filled, 0xff, (PAGE_ENTRIES - l->filled) * sizeof *l->page);
    rocl_status st =
        rocl_space_spill(l->file, (const uint8_t *)l->page, sizeof l->page, &offset, err);
    l->firsts[l->count] = l->page[0].key;
    l->offsets[l->count++] = offset;
    l->filled = 0;
    return st;
}

rocl_status rocl_lookup_add(rocl_lookup *l, rocl_lookup_key key, uint64_t value, rocl_error *err)
{
    l->page[l->filled] = (rocl_lookup_entry){key, value};
    return ++l->filled == PAGE_ENTRIES ? rocl_lookup_finish(l, err) : ROCL_OK;
}

int rocl_compare_lookup_keys(const void *a, const void *b)
{
    const rocl_lookup_key *x = a, *y = b;
    if (x->major != y->major)
        return x->major < y->major ? -1 : 1;
    return x->minor < y->minor ? -1 : x->minor > y->minor;
}

rocl_status rocl_lookup_find(const rocl_lookup *l, rocl_lookup_pages *pages, rocl_lookup_key key,
                             uint64_t *value, rocl_error *err)
{
    const size_t after =
        rocl_count_before(&key, l->firsts, l->count, sizeof key, rocl_compare_lookup_keys);
    for (size_t i = after ? after - 1 : 0; i <= after && i < l->count; i++) {
        if (!pages->entries && !(pages->entries = malloc(ROCL_LOOKUP_PAGES * sizeof l->page)))
            return rocl_fail_memory(err);
        const size_t slot = i % ROCL_LOOKUP_PAGES;
        rocl_lookup_entry *page = pages->entries + slot * PAGE_ENTRIES;
        if (pages->numbers[slot] != i + 1) {
            rocl_status st =
                rocl_space_read(l->file, (uint8_t *)page, sizeof l->page, l->offsets[i], err);
            if (st != ROCL_OK)
                return st;
            pages->numbers[slot] = i + 1;
        }
        const size_t at =
            rocl_count_before(&key, page, PAGE_ENTRIES, sizeof *page, rocl_compare_lookup_keys);
        if (at < PAGE_ENTRIES && !rocl_compare_lookup_keys(&page[at], &key)) {
            *value = page[at].value;
            return ROCL_OK;
        }
    }
    return ROCL_OK;
}

/* Arrows of results.json: see flows.h. Three steps:
 *
 *     noted   sorted by lane, time: calls, and arrows where they leave    (first pass)
 *     ends    sorted by lane, time where arrows arrive: the call's link   (join)
 *     links   the same, outside of memory */
#include "source/rocprof/flows.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/extsort.h"
#include "model/trace.h"

enum { ENTRY_WORDS = 3, OPEN_MAX = 64 };

struct rocprof_flows {
    rocl_sorter *noted, *ends;
    rocl_lookup *links;
};

/* What is noted: a call that ends, or where an arrow goes. */
typedef struct note {
    uint64_t end; /* of a call */
    rocprof_spot to;
    bool arrow;
} note;

typedef struct open_call {
    uint64_t begin, end, link;
} open_call;

rocl_status rocprof_flows_new(rocprof_flows **f, rocl_trace *t, rocl_error *err)
{
    rocprof_flows *n = *f = calloc(1, sizeof *n);
    if (!n || !(n->noted = rocl_sorter_new(t->space, 4)) ||
        !(n->ends = rocl_sorter_new(t->space, ENTRY_WORDS)))
        return rocl_fail_memory(err);
    return rocl_lookup_new(&n->links, t, err);
}

void rocprof_flows_free(rocprof_flows *f)
{
    if (!f)
        return;
    rocl_sorter_free(f->noted);
    rocl_sorter_free(f->ends);
    rocl_lookup_free(f->links);
    free(f);
}

rocl_status rocprof_flows_call(rocprof_flows *f, unsigned worker, rocprof_spot begin, uint64_t end,
                               uint64_t link, rocl_error *err)
{
    const uint64_t key[4] = {begin.lane, begin.time, 0, link};
    return rocl_sorter_add(f->noted, worker, key, &(note){.end = end}, sizeof(note), err);
}

rocl_status rocprof_flows_arrow(rocprof_flows *f, unsigned worker, rocprof_spot from,
                                rocprof_spot to, uint64_t place, rocl_error *err)
{
    const uint64_t key[4] = {from.lane, from.time, 1, place};
    return rocl_sorter_add(f->noted, worker, key, &(note){.to = to, .arrow = true}, sizeof(note),
                           err);
}

/* ---- joining --------------------------------------------------------------------------------- */

rocl_status rocprof_flows_join(rocprof_flows *f, rocl_error *err)
{
    open_call open[OPEN_MAX];
    size_t count = 0;
    uint64_t lane = 0;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(f->noted, err);
    while (rocl_sorter_take(f->noted, &rec, &st, err)) {
        note n;
        memcpy(&n, rec.data, sizeof n);
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) /* those that may continue, the oldest first */
            if (rec.key[0] == lane && open[i].end >= rec.key[1])
                open[kept++] = open[i];
        count = kept;
        lane = rec.key[0];
        if (!n.arrow) {
            if (count == OPEN_MAX)
                memmove(open, open + 1, --count * sizeof *open);
            open[count++] = (open_call){rec.key[1], n.end, rec.key[3]};
            continue;
        }
        /* Arrows leave in the middle of their call: finds the enclosing call whose middle is
         * nearest. */
        const open_call *best = NULL;
        uint64_t least = 0;
        for (size_t i = count; i-- > 0;) {
            const uint64_t left = rec.key[1] - open[i].begin, right = open[i].end - rec.key[1];
            const uint64_t off = left > right ? left - right : right - left;
            if (open[i].end >= rec.key[1] && (!best || off < least)) {
                best = &open[i];
                least = off;
            }
        }
        if (best)
            st = rocl_sorter_add(f->ends, 0, (const uint64_t[]){n.to.lane, n.to.time, best->link},
                                 NULL, 0, err);
    }
    rocl_sorter_free(f->noted);
    f->noted = NULL;
    if (st == ROCL_OK)
        st = rocl_sorter_start(f->ends, err);
    while (rocl_sorter_take(f->ends, &rec, &st, err))
        st = rocl_lookup_add(f->links, (rocl_lookup_key){rec.key[0], rec.key[1]}, rec.key[2], err);
    rocl_sorter_free(f->ends);
    f->ends = NULL;
    return st ? st : rocl_lookup_finish(f->links, err);
}

/* ---- looking up ------------------------------------------------------------------------------ */

rocl_status rocprof_flows_find(const rocprof_flows *f, rocl_lookup_pages *pages, rocprof_spot at,
                               uint64_t *link, rocl_error *err)
{
    return rocl_lookup_find(f->links, pages, (rocl_lookup_key){at.lane, at.time}, link, err);
}

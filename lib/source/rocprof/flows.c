/* Arrows of results.json: see flows.h. Three steps:
 *
 *     noted   sorted by lane, time: calls, and arrows where they leave    (first pass)
 *     ends    sorted by lane, time where arrows arrive: the call's link   (join)
 *     pages   the same, in a file, with the first entry of each page in memory */
#include "source/rocprof/flows.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/extsort.h"
#include "model/trace.h"

enum { ENTRY_WORDS = 3, PAGE_ENTRIES = 512, OPEN_MAX = 64 };

struct rocprof_flows {
    rocl_trace *trace;
    rocl_sorter *noted, *ends;
    rocl_sort_space *file;
    rocprof_spot *firsts; /* of each page */
    uint64_t *offsets;
    size_t count, first_cap, offset_cap;
    uint64_t page[ENTRY_WORDS * PAGE_ENTRIES]; /* that is being filled */
    size_t filled;
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
    n->trace = t;
    return ROCL_OK;
}

void rocprof_flows_free(rocprof_flows *f)
{
    if (!f)
        return;
    rocl_sorter_free(f->noted);
    rocl_sorter_free(f->ends);
    rocl_sort_space_free(f->file);
    free(f->firsts);
    free(f->offsets);
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

/* Arrows leave in the middle of their call: of the calls around, that whose middle is nearest. */
static const open_call *find_call(const open_call *open, size_t count, uint64_t time)
{
    const open_call *best = NULL;
    uint64_t least = 0;
    for (size_t i = count; i-- > 0;) {
        const uint64_t left = time - open[i].begin, right = open[i].end - time;
        const uint64_t off = left > right ? left - right : right - left;
        if (open[i].end >= time && (!best || off < least)) {
            best = &open[i];
            least = off;
        }
    }
    return best;
}

static rocl_status write_page(rocprof_flows *f, rocl_error *err)
{
    uint64_t offset;
    if (!f->filled)
        return ROCL_OK;
    if (!ROCL_GROW(f->firsts, f->first_cap, f->count + 1) ||
        !ROCL_GROW(f->offsets, f->offset_cap, f->count + 1))
        return rocl_fail_memory(err);
    memset(f->page + f->filled * ENTRY_WORDS, 0xff,
           sizeof f->page - f->filled * ENTRY_WORDS * sizeof *f->page);
    rocl_status st =
        rocl_space_spill(f->file, (const uint8_t *)f->page, sizeof f->page, &offset, err);
    f->firsts[f->count] = (rocprof_spot){f->page[0], f->page[1]};
    f->offsets[f->count++] = offset;
    f->filled = 0;
    return st;
}

static rocl_status write_pages(rocprof_flows *f, rocl_error *err)
{
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(f->ends, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(f->ends, &rec, &more, err)) == ROCL_OK && more) {
        memcpy(f->page + f->filled * ENTRY_WORDS, rec.key, ENTRY_WORDS * sizeof *rec.key);
        if (++f->filled == PAGE_ENTRIES)
            st = write_page(f, err);
    }
    return st ? st : write_page(f, err);
}

rocl_status rocprof_flows_join(rocprof_flows *f, rocl_error *err)
{
    open_call open[OPEN_MAX];
    size_t count = 0;
    uint64_t lane = 0;
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(f->noted, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(f->noted, &rec, &more, err)) == ROCL_OK &&
           more) {
        note n;
        memcpy(&n, rec.data, sizeof n);
        size_t kept = 0;
        for (size_t i = 0; i < count; i++) /* those that may go on, the oldest first */
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
        const open_call *call = find_call(open, count, rec.key[1]);
        if (call)
            st = rocl_sorter_add(f->ends, 0, (const uint64_t[]){n.to.lane, n.to.time, call->link},
                                 NULL, 0, err);
    }
    rocl_sorter_free(f->noted);
    f->noted = NULL;
    if (st == ROCL_OK && rocl_sorter_count(f->ends)) {
        f->file = rocl_sort_space_new(0, 1, f->trace->opt.tmpdir);
        st = f->file ? write_pages(f, err) : rocl_fail_memory(err);
    }
    rocl_sorter_free(f->ends);
    f->ends = NULL;
    return st;
}

/* ---- looking up ------------------------------------------------------------------------------ */

static bool is_before(uint64_t lane, uint64_t time, rocprof_spot b)
{
    return lane != b.lane ? lane < b.lane : time < b.time;
}

rocl_status rocprof_flows_find(rocprof_flows *f, rocprof_flow_page *page, rocprof_spot at,
                               uint64_t *link, rocl_error *err)
{
    size_t low = 0, high = f->count;
    while (low < high) { /* the last page whose first entry is before, or the first of all */
        const size_t middle = low + (high - low) / 2;
        if (is_before(f->firsts[middle].lane, f->firsts[middle].time, at))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low ? low - 1 : 0; i <= low && i < f->count; i++) {
        if (!page->entries && !(page->entries = malloc(sizeof f->page)))
            return rocl_fail_memory(err);
        if (page->number != i + 1) {
            rocl_status st = rocl_space_read(f->file, (uint8_t *)page->entries, sizeof f->page,
                                             f->offsets[i], err);
            if (st != ROCL_OK)
                return st;
            page->number = i + 1;
        }
        size_t from = 0, to = PAGE_ENTRIES;
        while (from < to) {
            const size_t middle = from + (to - from) / 2;
            const uint64_t *e = page->entries + middle * ENTRY_WORDS;
            if (is_before(e[0], e[1], at))
                from = middle + 1;
            else
                to = middle;
        }
        const uint64_t *e = page->entries + from * ENTRY_WORDS;
        if (from < PAGE_ENTRIES && e[0] == at.lane && e[1] == at.time) {
            *link = e[2];
            return ROCL_OK;
        }
    }
    return ROCL_OK;
}

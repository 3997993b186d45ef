/* Reading a file that is not in the page cache: the kernel's own read-ahead does not see which page
 * comes next, as the pages of a table lie between those of others and several walks share the file.
 * It is told here. Nothing depends on it: what goes wrong is not reported. */
#include <fcntl.h>
#include <stdlib.h>

#include "base/btree_impl.h"

/* The kernel reads no more per call than the disk takes at once, or 128 KiB, whichever is more. */
#define ASK_BYTES (128u << 10)

/* What lies between two pages is read with them up to this size: a request of its own takes longer,
 * and mostly somebody else wants it soon. */
#define GAP_BYTES (32u << 10)

static void ask(const rocl_btree_file *f, uint32_t first, uint32_t last)
{
    const off_t end = (off_t)last * f->page_size;
    for (off_t at = (off_t)(first - 1) * f->page_size; at < end; at += ASK_BYTES)
        posix_fadvise(f->fd, at, end - at < ASK_BYTES ? end - at : ASK_BYTES, POSIX_FADV_WILLNEED);
}

void rocl_btree_ask_children(const rocl_btree_file *f, rocl_btree_level *l, unsigned end)
{
    const uint32_t near = GAP_BYTES / f->page_size + 1;
    uint32_t first = 0, last = 0;
    for (; l->asked < end; l->asked++) {
        uint32_t n = rocl_interior_child(l, l->asked);
        if (!rocl_page_valid(f, n))
            continue;
        if (first && (n < last || n - last > near)) {
            ask(f, first, last);
            first = 0;
        }
        if (!first)
            first = n;
        last = n;
    }
    if (first)
        ask(f, first, last);
}

/* Reads w->next, which nobody has checked yet. */
static bool load_next(rocl_btree *b)
{
    const rocl_btree_file *f = b->file;
    rocl_btree_level *l = &b->walk->next;
    if (!l->page && !(l->page = calloc(1, f->page_size + ROCL_BTREE_SLACK)))
        return false;
    rocl_page_run page = {.bytes = l->page, .cap = 1, .waits = b->walk->run.waits};
    bool there = page.waits ? rocl_page_run_read(&page, f, l->number, 1, NULL) == ROCL_OK
                            : rocl_page_run_cached(&page, f, l->number, 1);
    if (!there || l->page[0] != ROCL_INTERIOR)
        return false;
    l->mask = f->page_size - 1;
    l->count = rocl_be16(l->page + 3);
    return ROCL_INTERIOR_HEAD + 2 * l->count <= f->usable;
}

/* The last leaves below the lowest interior page are asked for: on to those of its neighbour, which
 * is asked for itself at first. */
static void ask_next(rocl_btree *b, const rocl_btree_level *l)
{
    struct rocl_btree_walk *w = b->walk;
    rocl_btree_level *next = &w->next;
    if (l == w->levels || l[-1].at == l[-1].count)
        return;
    uint32_t number = rocl_interior_child(l - 1, l[-1].at + 1);
    if (next->number != number) {
        next->number = number;
        next->asked = 0;
        ask(b->file, number, number);
    } else if (!next->asked && load_next(b)) {
        unsigned half = w->ahead / 2;
        rocl_btree_ask_children(b->file, next, half < next->count ? half : next->count);
    }
}

void rocl_btree_ask(rocl_btree *b)
{
    struct rocl_btree_walk *w = b->walk;
    rocl_btree_level *l = &w->levels[w->depth - 1];
    /* By halves of what is worth to have: requests stay large, and one is under way always. */
    if (l->asked > l->at + w->ahead / 2)
        return;
    if (l->asked < l->at)
        l->asked = l->at;
    bool to_end = l->at + w->ahead > l->count;
    rocl_btree_ask_children(b->file, l, to_end ? l->count + 1 : l->at + w->ahead);
    if (to_end)
        ask_next(b, l);
}

/* The walk over the pages of a table's b-tree. */
#include "base/btree_impl.h"

#include <stdlib.h>

/* Section 1.6: the kinds of pages, and the bytes before the array of cells. */
enum { INTERIOR = ROCL_INTERIOR, LEAF = 13, INTERIOR_HEAD = ROCL_INTERIOR_HEAD, LEAF_HEAD = 8 };

/* Fewest bytes that a cell and its place in the array take. */
#define INTERIOR_CELL 7
#define LEAF_CELL     6

static rocl_status damaged(uint32_t page, const char *what, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "page %u: %s", page, what);
}

rocl_status rocl_btree_damaged(const rocl_btree *b, const char *what, rocl_error *err)
{
    return damaged(b->page_number, what, err);
}

rocl_status rocl_btree_open(rocl_btree *b, const rocl_btree_file *f, uint32_t root, rocl_error *err)
{
    size_t rows = f->usable / LEAF_CELL;
    memset(b, 0, sizeof *b);
    if (!rocl_page_valid(f, root))
        return damaged(root, "it is no page of the file, but the root of the table", err);
    b->file = f;
    b->root = root;
    b->walk = calloc(1, sizeof *b->walk);
    b->rowids = malloc(rows * sizeof *b->rowids);
    b->cells = malloc(rows * sizeof *b->cells);
    if (b->walk && b->rowids && b->cells && rocl_page_run_init(&b->walk->run, f))
        return ROCL_OK;
    rocl_btree_close(b);
    return rocl_fail_memory(err);
}

void rocl_btree_close(rocl_btree *b)
{
    if (b->walk) {
        for (unsigned i = 0; i < ROCL_BTREE_DEPTH; i++)
            free(b->walk->levels[i].page);
        free(b->walk->next.page);
        free(b->walk->run.bytes);
        free(b->walk->overflow.bytes);
        rocl_buf_free(&b->walk->scratch);
        free(b->walk);
    }
    free(b->rowids);
    free(b->cells);
    memset(b, 0, sizeof *b);
}

/* ---- interior pages ---- */

static const char *check_cells(const rocl_btree_file *f, const rocl_btree_level *l)
{
    int64_t least = l->min;
    for (unsigned i = 0; i < l->count; i++) {
        const uint8_t *cell = rocl_interior_cell(l, i);
        uint32_t at = rocl_be16(l->page + INTERIOR_HEAD + 2 * i);
        uint64_t key;
        if (at < INTERIOR_HEAD + 2 * l->count || at + 5 > f->usable ||
            at + 4 + rocl_be_varint(cell + 4, &key) > f->usable)
            return "a cell lies outside of the page";
        /* The child behind a key has larger rowids: the last key is not max, and no overflow. */
        if ((int64_t)key < least || (int64_t)key >= l->max)
            return "its keys are out of order";
        least = (int64_t)key + 1;
        if (!rocl_page_valid(f, rocl_be32(cell)))
            return "it has a child that is no page of the file";
    }
    return rocl_page_valid(f, rocl_interior_child(l, l->count))
               ? NULL
               : "it has a child that is no page of the file";
}

/* Adds a page to the path. */
static rocl_status take_interior(rocl_btree *b, const uint8_t *page, uint32_t number, int64_t min,
                                 int64_t max, rocl_error *err)
{
    const rocl_btree_file *f = b->file;
    struct rocl_btree_walk *w = b->walk;
    rocl_btree_level *l = &w->levels[w->depth];
    rocl_sound_page *s = &w->sound[number % ROCL_SOUND_PAGES];
    if (w->depth == ROCL_BTREE_DEPTH)
        return damaged(number, "the tree has too many levels", err);
    if (!l->page && !(l->page = calloc(1, f->page_size + ROCL_BTREE_SLACK)))
        return rocl_fail_memory(err);
    memcpy(l->page, page, f->page_size);
    l->mask = f->page_size - 1;
    l->number = number;
    l->min = min;
    l->max = max;
    l->count = rocl_be16(page + 3);
    l->asked = w->next.number == number ? w->next.asked : 0;
    if (l->count == 0 || l->count > (f->usable - INTERIOR_HEAD) / INTERIOR_CELL)
        return damaged(number, "it has an impossible number of cells", err);
    if (s->number != number || s->min != min || s->max != max) {
        const char *what = check_cells(f, l);
        if (what)
            return damaged(number, what, err);
        *s = (rocl_sound_page){min, max, number};
    }
    w->depth++;
    return ROCL_OK;
}

/* The child that has the first rowid >= wanted. */
static unsigned child_for(const rocl_btree_level *l, int64_t wanted)
{
    unsigned lo = 0, hi = l->count;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (rocl_interior_key(l, mid) < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- leaves ---- */

/* Where in the page a payload ends, with the number of the page where it goes on. */
static uint64_t end_of_cell(const rocl_btree_file *f, rocl_btree_cell *c)
{
    if (c->size <= f->usable - 35)
        return (uint64_t)c->offset + c->size;
    c->local = rocl_payload_local(f, c->size);
    return (uint64_t)c->offset + c->local + (c->local < c->size ? 4 : 0);
}

static const char *take_cells(rocl_btree *b, const uint8_t *page, unsigned count)
{
    const rocl_btree_file *f = b->file;
    const uint32_t head = LEAF_HEAD + 2 * count, usable = f->usable;
    const uint64_t file = (uint64_t)f->page_count * usable,
                   longest = file < INT32_MAX ? file : INT32_MAX;
    for (unsigned i = 0; i < count; i++) {
        uint32_t at = rocl_be16(page + LEAF_HEAD + 2 * i);
        uint64_t size, rowid;
        if (at < head || at + 2 > usable)
            return "a cell lies outside of the page";
        at += rocl_be_varint(page + at, &size);
        at += rocl_be_varint(page + at, &rowid); /* the buffer has slack */
        if (size > longest)
            return "a row is longer than the file";
        rocl_btree_cell *c = &b->cells[i];
        *c = (rocl_btree_cell){at, (uint32_t)size, (uint32_t)size};
        if (end_of_cell(f, c) > usable)
            return "a row goes beyond the end of the page";
        b->rowids[i] = (int64_t)rowid;
    }
    return NULL;
}

static bool ascending(const int64_t *rowids, unsigned count, int64_t min, int64_t max)
{
    bool bad = rowids[0] < min || rowids[count - 1] > max;
    for (unsigned i = 1; i < count; i++)
        bad |= rowids[i] <= rowids[i - 1];
    return !bad;
}

static rocl_status take_leaf(rocl_btree *b, const uint8_t *page, uint32_t number, int64_t min,
                             int64_t max, rocl_error *err)
{
    unsigned count = rocl_be16(page + 3);
    b->count = b->page_number = 0;
    if (count == 0 && number == b->root)
        return ROCL_OK; /* an empty table */
    if (count == 0 || count > (b->file->usable - LEAF_HEAD) / LEAF_CELL)
        return damaged(number, "it has an impossible number of cells", err);
    const char *what = take_cells(b, page, count);
    if (!what && !ascending(b->rowids, count, min, max))
        what = "its rowids are out of order";
    if (what)
        return damaged(number, what, err);
    b->page = page;
    b->page_number = number;
    b->count = count;
    return ROCL_OK;
}

/* ---- down and along ---- */

/* How many pages to read for the leaf that child l->at is: up to w->ahead while the next leaves
 * follow it in the file. To copy foreign pages between them as well is not faster, measured. */
static uint32_t leaves_in_line(const struct rocl_btree_walk *w, const rocl_btree_level *l)
{
    uint32_t first = rocl_interior_child(l, l->at), pages = 1;
    while (pages < w->ahead && pages < w->run.cap && l->at + pages <= l->count &&
           rocl_interior_child(l, l->at + pages) == first + pages)
        pages++;
    return pages;
}

/* Reading on, a walk wants more and more pages ahead of it: a hop is no reason to read for long. */
static uint32_t want_more(struct rocl_btree_walk *w, const rocl_btree_file *f)
{
    const uint32_t most = ROCL_BTREE_WINDOW / f->page_size;
    uint32_t pages = leaves_in_line(w, &w->levels[w->depth - 1]);
    w->ahead = w->ahead * 2 < most ? w->ahead * 2 : most;
    return pages;
}

static rocl_status child_page(rocl_btree *b, uint32_t number, const uint8_t **page, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    *page = rocl_page_of(&w->run, b->file, number);
    if (*page)
        return ROCL_OK;
    b->count = b->page_number = 0; /* what was in hand is overwritten */
    bool leaf = w->depth && w->depth == w->leaf_depth;
    uint32_t pages = leaf ? want_more(w, b->file) : 1;
    if (!rocl_page_run_cached(&w->run, b->file, number, pages))
        w->cold = true;
    if (w->cold && leaf && w->ahead > w->run.cap)
        rocl_btree_ask(b);
    rocl_status st = rocl_page_run_read(&w->run, b->file, number, pages, err);
    *page = rocl_page_of(&w->run, b->file, number);
    return st;
}

/* The page below the path, and which rowids may be in it. */
static uint32_t below(const rocl_btree *b, int64_t *min, int64_t *max)
{
    const rocl_btree_level *l = b->walk->depth ? &b->walk->levels[b->walk->depth - 1] : NULL;
    if (!l) {
        *min = INT64_MIN;
        *max = INT64_MAX;
        return b->root;
    }
    *min = l->at ? rocl_interior_key(l, l->at - 1) + 1 : l->min;
    *max = l->at < l->count ? rocl_interior_key(l, l->at) : l->max;
    return rocl_interior_child(l, l->at);
}

/* From the end of the path down to a leaf, or to so many interior pages, on the way to `wanted`. */
static rocl_status descend(rocl_btree *b, int64_t wanted, unsigned depth, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    while (w->depth < depth) {
        const uint8_t *page;
        int64_t min, max;
        uint32_t number = below(b, &min, &max);
        if (b->page_number == number && min == w->leaf_min && max == w->leaf_max)
            return ROCL_OK; /* it is in hand */
        rocl_status st = child_page(b, number, &page, err);
        if (st != ROCL_OK)
            return st;
        if (page[0] == LEAF) {
            w->leaf_depth = w->depth;
            w->leaf_min = min;
            w->leaf_max = max;
            return take_leaf(b, page, number, min, max, err);
        }
        if (page[0] != INTERIOR)
            return damaged(number, "it is no page of a table", err);
        st = take_interior(b, page, number, min, max, err);
        if (st != ROCL_OK)
            return st;
        rocl_btree_level *l = &w->levels[w->depth - 1];
        l->at = child_for(l, wanted);
    }
    b->count = b->page_number = 0;
    return ROCL_OK;
}

/* After an error nothing is in hand, and the next seek starts at the root. */
static rocl_status walked(rocl_btree *b, rocl_status st)
{
    if (st != ROCL_OK)
        b->count = b->page_number = b->walk->depth = 0;
    return st;
}

rocl_status rocl_btree_next(rocl_btree *b, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    while (w->depth && w->levels[w->depth - 1].at == w->levels[w->depth - 1].count)
        w->depth--;
    b->at = 0;
    if (!w->depth) {
        b->count = b->page_number = 0;
        return ROCL_OK;
    }
    w->levels[w->depth - 1].at++;
    return walked(b, descend(b, INT64_MIN, ROCL_BTREE_LEAF, err));
}

static unsigned row_for(const rocl_btree *b, int64_t wanted)
{
    unsigned lo = 0, hi = b->count;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (b->rowids[mid] < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

rocl_status rocl_btree_seek_down(rocl_btree *b, int64_t first, unsigned depth, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    while (w->depth && (first < w->levels[w->depth - 1].min || first > w->levels[w->depth - 1].max))
        w->depth--;
    if (w->depth)
        w->levels[w->depth - 1].at = child_for(&w->levels[w->depth - 1], first);
    w->ahead = 1;
    return walked(b, descend(b, first, depth, err));
}

rocl_status rocl_btree_seek(rocl_btree *b, int64_t first, rocl_error *err)
{
    rocl_status st = rocl_btree_seek_down(b, first, ROCL_BTREE_LEAF, err);
    if (st != ROCL_OK)
        return st;
    b->at = row_for(b, first);
    /* A key may be larger than the rows below it that are left. */
    return b->at < b->count || !b->count ? ROCL_OK : rocl_btree_next(b, err);
}

rocl_status rocl_btree_range(rocl_btree *b, int64_t *first, int64_t *last, bool *any,
                             rocl_error *err)
{
    rocl_status st = rocl_btree_seek_down(b, INT64_MIN, ROCL_BTREE_LEAF, err);
    *any = st == ROCL_OK && b->count;
    if (!*any)
        return st;
    *first = b->rowids[0];
    st = rocl_btree_seek_down(b, INT64_MAX, ROCL_BTREE_LEAF, err);
    *any = st == ROCL_OK && b->count;
    if (*any)
        *last = b->rowids[b->count - 1];
    return st;
}

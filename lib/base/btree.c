/* A walk over the pages of a table's b-tree. From top to bottom: the file and its header, pages,
 * interior pages, prefetching from a disk, leaves, the walk down and along, payloads, ranges.
 *
 * A page of a tree, section 1.6. On page 1 the 100 bytes of the file's header are before its own.
 *
 *   0        8 or 12                                        usable   page_size
 *   +--------+--------------+-------------------+-----------+----------+
 *   | header | cell offsets | not used          | cells     | reserved |
 *   +--------+--------------+-------------------+-----------+----------+
 *
 *   header          0 u8 kind: 5 interior, 13 leaf    1 u16 first free block
 *                   3 u16 number of cells             5 u16 where cells begin
 *                   7 u8 free bytes between them      8 u32 last child, of an interior page only
 *   cell offsets    u16 each, from the start of the page, in order of rowid
 *   interior cell   u32 child | varint key; the child has rowids up to this key
 *   leaf cell       varint size | varint rowid | the first `local` bytes of the payload
 *                   | u32 first overflow page, where local < size
 *
 * An overflow page is u32 next page (0: none) | payload, `usable` bytes in all. */
#include "base/btree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/btree_bytes.h"
#include "base/buf.h"
#include "base/file.h"

enum {
    INTERIOR = 5,
    LEAF = 13,
    INTERIOR_HEAD = 12, /* bytes before the cell offsets */
    LEAF_HEAD = 8,
    INTERIOR_CELL = 7, /* fewest bytes that a cell and its offset take */
    LEAF_CELL = 6,
    FILE_HEAD = 100
};
_Static_assert(INTERIOR_HEAD == LEAF_HEAD + 4, "the last child is behind the header of a leaf");

/* Neighbouring pages that are read at once: measured, more than this is not faster. */
#define READ_SIZE_MAX (64u << 10)

/* The most bytes that are prefetched for a walk if they come from the disk. */
#define PREFETCH_MAX (1u << 20)

/* The kernel reads no more per call than the disk takes at once, or 128 KiB, whichever is more. */
#define PREFETCH_CALL (128u << 10)

/* Gaps between two pages up to this size are read along with them: two requests take longer, and
 * mostly another walk needs those bytes soon. */
#define PREFETCH_GAP (32u << 10)

/* The page with the byte at 1 GiB is for locks and never used: section 1.4. */
#define LOCK_BYTE 0x40000000u

/* Pages read in one go: numbers first..first+count-1. */
typedef struct page_run {
    uint8_t *bytes; /* ROCL_BTREE_SLACK more than its contents */
    uint32_t first, count, cap;
    bool waits; /* as the file says */
} page_run;

/* An interior page on the way down. Child i has the rowids above key i-1 up to key i. */
typedef struct level {
    int64_t min, max; /* rowids below this page */
    uint32_t number;
    unsigned count;      /* of keys: one child more */
    unsigned at;         /* the child in use */
    unsigned prefetched; /* children before this one need no prefetch */
    uint8_t *page;       /* a copy */
    uint32_t mask;       /* of offsets in it */
    uint32_t head;       /* bytes of it before the cell offsets */
} level;

/* Interior pages that were checked, by number: a walk that seeks often meets the same pages
 * again. */
typedef struct checked_page {
    int64_t min, max;
    uint32_t number;
} checked_page;

enum { CHECKED_PAGES = 256 };

struct rocl_btree_walk {
    level levels[ROCL_BTREE_DEPTH];
    unsigned depth;             /* interior pages above the current leaf */
    unsigned leaf_depth;        /* where leaves were seen, a guess for the next one */
    uint32_t prefetch;          /* pages to prefetch: grows as the walk reads on */
    bool cold;                  /* some of the file is not in the page cache */
    int64_t leaf_min, leaf_max; /* rowids that the current leaf may have */
    page_run run;
    page_run overflow;
    level next;       /* what is known of the interior page after the lowest: see prefetch_next */
    rocl_buf scratch; /* a payload that was in pieces */
    checked_page *checked; /* CHECKED_PAGES of them; NULL: no interior page so far */
};

/* A depth that no path has: all the way down. */
#define TO_LEAF (ROCL_BTREE_DEPTH + 1)

static rocl_status fail_page(uint32_t page, const char *what, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "page %u: %s", page, what);
}

rocl_status rocl_btree_damaged(const rocl_btree *b, const char *what, rocl_error *err)
{
    return fail_page(b->page_number, what, err);
}

unsigned rocl_be_varint_long(const uint8_t *p, uint64_t *v)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < 8; i++) {
        r = r << 7 | (p[i] & 0x7f);
        if (p[i] < 0x80) {
            *v = r;
            return i + 1;
        }
    }
    *v = r << 8 | p[8];
    return 9;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads what the page cache has of these bytes; -1: nothing. *waits: the file system or the kernel
 * has no such read. */
static ssize_t read_cached(int fd, void *to, size_t n, uint64_t at, bool *waits)
{
    ssize_t got = -1;
#ifdef RWF_NOWAIT
    struct iovec v = {to, n};
    got = preadv2(fd, &v, 1, (off_t)at, RWF_NOWAIT);
#else
    (void)fd, (void)to, (void)n, (void)at;
    errno = ENOSYS;
#endif
    *waits = got < 0 && errno != EAGAIN && errno != EINTR;
    return got;
}

static const char magic[16] = "SQLite format 3";

/* The result of `cat a.db b.db`: SQLite reads the first database and ignores the rest silently. */
static rocl_status refuse_joined(int fd, uint64_t end, uint64_t bytes, rocl_error *err)
{
    char next[sizeof magic];
    if (bytes < end + sizeof next ||
        rocl_read_at(fd, next, sizeof next, end) != (ssize_t)sizeof next ||
        memcmp(next, magic, sizeof magic) != 0)
        return ROCL_OK;
    return rocl_fail(
        err, ROCL_INPUT,
        "another database begins at byte %llu: files joined by cat are not one database: "
        "name each as an input, or merge them with rocmerge",
        (unsigned long long)end);
}

rocl_status rocl_btree_file_read(rocl_btree_file *f, int fd, const char **why, rocl_error *err)
{
    uint8_t h[FILE_HEAD];
    struct stat st;
    ssize_t got = fstat(fd, &st) ? -1 : 0;
    if (got == 0 && read_cached(fd, h, sizeof h, 0, &f->waits) == FILE_HEAD)
        got = FILE_HEAD;
    else if (got == 0)
        got = rocl_read_at(fd, h, sizeof h, 0);
    *why = NULL;
    if (got < 0)
        return rocl_fail_system(err, ROCL_INPUT, "the header cannot be read", errno);
    if (got == 0)
        return rocl_fail(err, ROCL_INPUT, "the file is empty");
    if (got < FILE_HEAD)
        return rocl_fail(err, ROCL_INPUT, "the database is truncated after %lld bytes",
                         (long long)got);
    /* Without these SQLite does not accept it as a database either. */
    uint32_t size = rocl_be16(h + 16);
    if (memcmp(h, magic, sizeof magic) != 0)
        *why = "the file does not begin like a SQLite 3 database";
    else if (size != 1 && (size < 512 || (size & (size - 1))))
        *why = "the header has an invalid page size";
    if (*why)
        return ROCL_OK;
    f->fd = fd;
    if (!f->read_size || f->read_size > READ_SIZE_MAX)
        f->read_size = READ_SIZE_MAX;
    f->page_size = size == 1 ? 65536 : size;
    f->usable = f->page_size - h[20];
    /* Section 1.3.7: the number of pages in the header is valid if its writer knew that field. Else
     * the size of the file says it, and less than a page is a page that was cut. */
    const uint64_t bytes = (uint64_t)st.st_size;
    uint64_t pages = rocl_be32(h + 28);
    if (!pages || rocl_be32(h + 24) != rocl_be32(h + 92))
        pages = bytes / f->page_size + (bytes % f->page_size != 0);
    if (pages > UINT32_MAX - 1)
        *why = "the file has more pages than a database can";
    else if (pages * f->page_size > bytes)
        return rocl_fail(err, ROCL_INPUT,
                         "the database is truncated: it has %llu of %llu bytes: copy it again, or "
                         "recover it with `sqlite3 FILE .recover`",
                         (unsigned long long)bytes, (unsigned long long)(pages * f->page_size));
    /* The fields that a reader of tables depends on, in the order of section 1.3. */
    else if (f->usable < 480)
        *why = "pages have too many reserved bytes";
    else if (h[18] > 2 || h[19] > 2)
        *why = "the file is of a later format than SQLite 3";
    else if (h[21] != 64 || h[22] != 32 || h[23] != 32)
        *why = "the header has unknown payload fractions";
    else if (rocl_be32(h + 44) == 0 || rocl_be32(h + 44) > 4)
        *why = "the schema is of an unknown format";
    else if (rocl_be32(h + 56) != 1)
        *why = "texts are UTF-16";
    f->page_count = (uint32_t)pages;
    f->lock_page = LOCK_BYTE / f->page_size + 1;
    return refuse_joined(fd, pages * f->page_size, bytes, err);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* May a tree or a chain of overflow pages have this page? */
static inline bool page_valid(const rocl_btree_file *f, uint32_t number)
{
    return number > 1 && number <= f->page_count && number != f->lock_page;
}

static inline uint32_t head_offset(uint32_t number)
{
    return number == 1 ? FILE_HEAD : 0;
}

static bool init_run(page_run *r, const rocl_btree_file *f)
{
    r->cap = f->page_size < f->read_size ? f->read_size / f->page_size : 1;
    r->waits = f->waits;
    const size_t size = (size_t)r->cap * f->page_size;
    r->bytes = malloc(size + ROCL_BTREE_SLACK); /* zeros would take longer than a small table */
    if (r->bytes)
        memset(r->bytes + size, 0, ROCL_BTREE_SLACK);
    return r->bytes != NULL;
}

/* Reads `count` pages (at most as many as the run can hold) unless it has the first of them. */
static rocl_status read_run(page_run *r, const rocl_btree_file *f, uint32_t first, uint32_t count,
                            rocl_error *err)
{
    if (first - r->first < r->count)
        return ROCL_OK;
    if (count > r->cap)
        count = r->cap;
    r->count = 0;
    size_t n = (size_t)count * f->page_size;
    ssize_t got = rocl_read_at(f->fd, r->bytes, n, (uint64_t)(first - 1) * f->page_size);
    if (got < 0)
        return errno == ENOMEM ? rocl_fail_memory(err) : fail_page(first, strerror(errno), err);
    if ((size_t)got < n)
        return fail_page(first + (uint32_t)((size_t)got / f->page_size),
                         "the file ends before it: it was truncated while it was read", err);
    r->first = first;
    r->count = count;
    return ROCL_OK;
}

/* Reads them without waiting for the disk: false if not all of them were in the cache. The run may
 * then have the first ones. */
static bool read_run_cached(page_run *r, const rocl_btree_file *f, uint32_t first, uint32_t count)
{
    if (r->waits)
        return false;
    if (count > r->cap)
        count = r->cap;
    const ssize_t got = read_cached(f->fd, r->bytes, (size_t)count * f->page_size,
                                    (uint64_t)(first - 1) * f->page_size, &r->waits);
    r->first = first;
    r->count = got < 0 ? 0 : (uint32_t)((size_t)got / f->page_size);
    return r->count == count;
}

static inline const uint8_t *page_in_run(const page_run *r, const rocl_btree_file *f,
                                         uint32_t number)
{
    return number - r->first < r->count ? r->bytes + (size_t)(number - r->first) * f->page_size
                                        : NULL;
}

rocl_status rocl_btree_open(rocl_btree *b, const rocl_btree_file *f, uint32_t root, rocl_error *err)
{
    size_t rows = f->usable / LEAF_CELL;
    memset(b, 0, sizeof *b);
    if (root != 1 && !page_valid(f, root))
        return fail_page(root, "it is not a page of the file, but the root of the table", err);
    b->file = f;
    b->root = root;
    b->walk = calloc(1, sizeof *b->walk);
    b->rowids = malloc(rows * sizeof *b->rowids);
    b->cells = malloc(rows * sizeof *b->cells);
    if (b->walk && b->rowids && b->cells && init_run(&b->walk->run, f))
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
        free(b->walk->checked);
        free(b->walk->run.bytes);
        free(b->walk->overflow.bytes);
        rocl_buf_free(&b->walk->scratch);
        free(b->walk);
    }
    free(b->rowids);
    free(b->cells);
    memset(b, 0, sizeof *b);
}

/* ---- interior pages -------------------------------------------------------------------------- */

/* The mask is for a file that changes while it is read: a page that was checked may differ the next
 * time. */
static inline const uint8_t *interior_cell(const level *l, unsigned i)
{
    return l->page + (rocl_be16(l->page + l->head + 2 * i) & l->mask);
}

static inline int64_t interior_key(const level *l, unsigned i)
{
    uint64_t key;
    rocl_be_varint(interior_cell(l, i) + 4, &key);
    return (int64_t)key;
}

static inline uint32_t interior_child(const level *l, unsigned i)
{
    return rocl_be32(i < l->count ? interior_cell(l, i) : l->page + l->head - 4);
}

/* Adds a page to the path. */
static rocl_status push_interior(rocl_btree *b, const uint8_t *page, uint32_t number, int64_t min,
                                 int64_t max, rocl_error *err)
{
    const rocl_btree_file *f = b->file;
    struct rocl_btree_walk *w = b->walk;
    level *l = &w->levels[w->depth];
    if (w->depth == ROCL_BTREE_DEPTH)
        return fail_page(number, "the tree has too many levels", err);
    if (!l->page && !(l->page = calloc(1, f->page_size + ROCL_BTREE_SLACK)))
        return rocl_fail_memory(err);
    if (!w->checked && !(w->checked = calloc(CHECKED_PAGES, sizeof *w->checked)))
        return rocl_fail_memory(err);
    checked_page *c = &w->checked[number % CHECKED_PAGES];
    memcpy(l->page, page, f->page_size);
    l->mask = f->page_size - 1;
    l->number = number;
    l->min = min;
    l->max = max;
    l->head = head_offset(number) + INTERIOR_HEAD;
    l->count = rocl_be16(page + head_offset(number) + 3);
    l->prefetched = w->next.number == number ? w->next.prefetched : 0;
    if (l->count == 0 || l->count > (f->usable - l->head) / INTERIOR_CELL)
        return fail_page(number, "it has an impossible number of cells", err);
    bool checked = c->number == number && c->min == min && c->max == max;
    int64_t least = min;
    for (unsigned i = 0; i < l->count && !checked; i++) {
        const uint8_t *cell = interior_cell(l, i);
        uint32_t at = rocl_be16(l->page + l->head + 2 * i);
        uint64_t key;
        if (at < l->head + 2 * l->count || at + 5 > f->usable ||
            at + 4 + rocl_be_varint(cell + 4, &key) > f->usable)
            return fail_page(number, "a cell lies outside of the page", err);
        /* The child after a key has larger rowids, so the last key is not max, and key + 1 does not
         * overflow. */
        if ((int64_t)key < least || (int64_t)key >= max)
            return fail_page(number, "its keys are out of order", err);
        least = (int64_t)key + 1;
        if (!page_valid(f, rocl_be32(cell)))
            return fail_page(number, "it has a child that is not a page of the file", err);
    }
    if (!checked && !page_valid(f, interior_child(l, l->count)))
        return fail_page(number, "it has a child that is not a page of the file", err);
    *c = (checked_page){min, max, number};
    w->depth++;
    return ROCL_OK;
}

/* The child that has the first rowid >= wanted. */
static unsigned find_child(const level *l, int64_t wanted)
{
    unsigned lo = 0, hi = l->count;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (interior_key(l, mid) < wanted)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- prefetching from a disk ----------------------------------------------------------------- */

/* The kernel's own read-ahead does not see which page comes next, as the pages of a table lie
 * between those of others and several walks share the file. These calls name it, so that the disk
 * is busy while rows are read from what is there. Nothing depends on it: failures are not reported.
 */
static void prefetch_pages(const rocl_btree_file *f, uint32_t first, uint32_t last)
{
    const off_t end = (off_t)last * f->page_size;
    for (off_t at = (off_t)(first - 1) * f->page_size; at < end; at += PREFETCH_CALL)
        posix_fadvise(f->fd, at, end - at < PREFETCH_CALL ? end - at : PREFETCH_CALL,
                      POSIX_FADV_WILLNEED);
}

/* The children of an interior page up to `end`, together where they lie near each other. */
static void prefetch_children(const rocl_btree_file *f, level *l, unsigned end)
{
    const uint32_t near = PREFETCH_GAP / f->page_size + 1;
    uint32_t first = 0, last = 0;
    for (; l->prefetched < end; l->prefetched++) {
        uint32_t n = interior_child(l, l->prefetched);
        if (!page_valid(f, n))
            continue;
        if (first && (n < last || n - last > near)) {
            prefetch_pages(f, first, last);
            first = 0;
        }
        if (!first)
            first = n;
        last = n;
    }
    if (first)
        prefetch_pages(f, first, last);
}

/* Reads w->next, which has not been checked yet. */
static bool load_next(rocl_btree *b)
{
    const rocl_btree_file *f = b->file;
    level *l = &b->walk->next;
    if (!l->page && !(l->page = calloc(1, f->page_size + ROCL_BTREE_SLACK)))
        return false;
    page_run page = {.bytes = l->page, .cap = 1, .waits = b->walk->run.waits};
    bool loaded = page.waits ? read_run(&page, f, l->number, 1, NULL) == ROCL_OK
                             : read_run_cached(&page, f, l->number, 1);
    if (!loaded || l->page[0] != INTERIOR)
        return false;
    l->mask = f->page_size - 1;
    l->head = INTERIOR_HEAD; /* no child is page 1 */
    l->count = rocl_be16(l->page + 3);
    return INTERIOR_HEAD + 2 * l->count <= f->usable;
}

/* Prefetches the next leaves, in halves of w->prefetch: requests stay large, and one is always
 * under way. After the last leaf of the lowest interior page come those of its neighbour, which is
 * itself prefetched first. */
static void prefetch_leaves(rocl_btree *b)
{
    struct rocl_btree_walk *w = b->walk;
    level *l = &w->levels[w->depth - 1], *next = &w->next;
    if (l->prefetched > l->at + w->prefetch / 2)
        return;
    if (l->prefetched < l->at)
        l->prefetched = l->at;
    bool to_end = l->at + w->prefetch > l->count;
    prefetch_children(b->file, l, to_end ? l->count + 1 : l->at + w->prefetch);
    if (!to_end || l == w->levels || l[-1].at == l[-1].count)
        return;
    uint32_t number = interior_child(l - 1, l[-1].at + 1);
    if (next->number != number) {
        next->number = number;
        next->prefetched = 0;
        prefetch_pages(b->file, number, number);
    } else if (!next->prefetched && load_next(b)) {
        unsigned half = w->prefetch / 2;
        prefetch_children(b->file, next, half < next->count ? half : next->count);
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Makes a page the current leaf. */
static rocl_status read_leaf(rocl_btree *b, const uint8_t *page, uint32_t number, int64_t min,
                             int64_t max, rocl_error *err)
{
    const rocl_btree_file *f = b->file;
    const uint32_t offsets = head_offset(number) + LEAF_HEAD, usable = f->usable;
    const unsigned count = rocl_be16(page + offsets - LEAF_HEAD + 3);
    b->count = b->page_number = 0;
    if (count == 0 && number == b->root)
        return ROCL_OK; /* an empty table */
    if (count == 0 || count > (usable - offsets) / LEAF_CELL)
        return fail_page(number, "it has an impossible number of cells", err);
    const uint64_t file = (uint64_t)f->page_count * usable,
                   longest = file < INT32_MAX ? file : INT32_MAX;
    for (unsigned i = 0; i < count; i++) {
        uint32_t at = rocl_be16(page + offsets + 2 * i);
        uint64_t size, rowid;
        if (at < offsets + 2 * count || at + 2 > usable)
            return fail_page(number, "a cell lies outside of the page", err);
        at += rocl_be_varint(page + at, &size);
        at += rocl_be_varint(page + at, &rowid); /* the buffer has slack */
        if (size > longest)
            return fail_page(number, "a row is longer than the file", err);
        rocl_btree_cell *c = &b->cells[i];
        *c = (rocl_btree_cell){at, (uint32_t)size, (uint32_t)size};
        uint64_t end = (uint64_t)at + size;
        if (size > usable - 35) {
            /* Section 1.6, "P > X": this much of the payload is in the leaf itself. */
            const uint32_t least = (usable - 12) * 32 / 255 - 23;
            const uint32_t wished = least + (c->size - least) % (usable - 4);
            c->local = wished <= usable - 35 ? wished : least;
            end = (uint64_t)at + c->local + (c->local < c->size ? 4 : 0);
        }
        if (end > usable)
            return fail_page(number, "a row goes beyond the end of the page", err);
        b->rowids[i] = (int64_t)rowid;
    }
    const int64_t *rowids = b->rowids;
    bool bad = rowids[0] < min || rowids[count - 1] > max;
    for (unsigned i = 1; i < count; i++)
        bad |= rowids[i] <= rowids[i - 1];
    if (bad)
        return fail_page(number, "its rowids are out of order", err);
    b->page = page;
    b->page_number = number;
    b->count = count;
    return ROCL_OK;
}

/* ---- the walk down and along ----------------------------------------------------------------- */

/* Reads a page that is not in the run, and, if it is a leaf, the next leaves that follow it in the
 * file. (Measured: copying foreign pages between them is not faster.) The longer a walk reads on,
 * the more it prefetches: a seek alone does not mean a long read. */
static rocl_status load_page(rocl_btree *b, uint32_t number, const uint8_t **page, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    *page = page_in_run(&w->run, b->file, number);
    if (*page)
        return ROCL_OK;
    b->count = b->page_number = 0; /* the run of the current leaf is overwritten */
    bool leaf = w->depth && w->depth == w->leaf_depth;
    uint32_t pages = 1;
    if (leaf) {
        const level *l = &w->levels[w->depth - 1];
        const uint32_t most = PREFETCH_MAX / b->file->page_size;
        while (pages < w->prefetch && pages < w->run.cap && l->at + pages <= l->count &&
               interior_child(l, l->at + pages) == number + pages)
            pages++;
        w->prefetch = w->prefetch * 2 < most ? w->prefetch * 2 : most;
    }
    if (!read_run_cached(&w->run, b->file, number, pages))
        w->cold = true;
    if (w->cold && leaf && w->prefetch > w->run.cap)
        prefetch_leaves(b);
    rocl_status st = read_run(&w->run, b->file, number, pages, err);
    *page = page_in_run(&w->run, b->file, number);
    return st;
}

/* Goes from the end of the path down to a leaf, or to a depth of interior pages, on the way to
 * `wanted`. In the latter case no leaf is current. */
static rocl_status descend_path(rocl_btree *b, int64_t wanted, unsigned depth, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    while (w->depth < depth) {
        const uint8_t *page;
        int64_t min = INT64_MIN, max = INT64_MAX;
        uint32_t number = b->root;
        if (w->depth) {
            const level *l = &w->levels[w->depth - 1];
            min = l->at ? interior_key(l, l->at - 1) + 1 : l->min;
            max = l->at < l->count ? interior_key(l, l->at) : l->max;
            number = interior_child(l, l->at);
        }
        if (b->page_number == number && min == w->leaf_min && max == w->leaf_max)
            return ROCL_OK; /* it is the current leaf */
        rocl_status st = load_page(b, number, &page, err);
        if (st != ROCL_OK)
            return st;
        const uint8_t kind = page[head_offset(number)];
        if (kind == LEAF) {
            w->leaf_depth = w->depth;
            w->leaf_min = min;
            w->leaf_max = max;
            return read_leaf(b, page, number, min, max, err);
        }
        if (kind != INTERIOR)
            return fail_page(number, "it is not a page of a table", err);
        st = push_interior(b, page, number, min, max, err);
        if (st != ROCL_OK)
            return st;
        level *l = &w->levels[w->depth - 1];
        l->at = find_child(l, wanted);
    }
    b->count = b->page_number = 0;
    return ROCL_OK;
}

/* After an error there is no current leaf, and the next seek starts at the root. */
static rocl_status descend_or_reset(rocl_btree *b, int64_t wanted, unsigned depth, rocl_error *err)
{
    rocl_status st = descend_path(b, wanted, depth, err);
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
    return descend_or_reset(b, INT64_MIN, TO_LEAF, err);
}

/* Seeks, but at most down to a depth of interior pages: then no leaf is current. */
static rocl_status seek_down(rocl_btree *b, int64_t first, unsigned depth, rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    while (w->depth && (first < w->levels[w->depth - 1].min || first > w->levels[w->depth - 1].max))
        w->depth--;
    if (w->depth)
        w->levels[w->depth - 1].at = find_child(&w->levels[w->depth - 1], first);
    w->prefetch = 1;
    return descend_or_reset(b, first, depth, err);
}

rocl_status rocl_btree_seek(rocl_btree *b, int64_t first, rocl_error *err)
{
    rocl_status st = seek_down(b, first, TO_LEAF, err);
    if (st != ROCL_OK)
        return st;
    unsigned lo = 0, hi = b->count;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        if (b->rowids[mid] < first)
            lo = mid + 1;
        else
            hi = mid;
    }
    b->at = lo;
    /* A key may be larger than all remaining rows below it. */
    return b->at < b->count || !b->count ? ROCL_OK : rocl_btree_next(b, err);
}

rocl_status rocl_btree_range(rocl_btree *b, int64_t *first, int64_t *last, bool *any,
                             rocl_error *err)
{
    rocl_status st = seek_down(b, INT64_MIN, TO_LEAF, err);
    *any = st == ROCL_OK && b->count;
    if (!*any)
        return st;
    *first = b->rowids[0];
    st = seek_down(b, INT64_MAX, TO_LEAF, err);
    *any = st == ROCL_OK && b->count;
    if (*any)
        *last = b->rowids[b->count - 1];
    return st;
}

/* ---- payloads -------------------------------------------------------------------------------- */

rocl_status rocl_btree_payload(rocl_btree *b, unsigned row, uint32_t need, const uint8_t **payload,
                               rocl_error *err)
{
    const rocl_btree_cell *c = &b->cells[row];
    const rocl_btree_file *f = b->file;
    const uint8_t *page = b->page + c->offset;
    page_run *run = &b->walk->overflow;
    rocl_buf *to = &b->walk->scratch;
    if (need <= c->local) {
        *payload = page;
        return ROCL_OK;
    }
    if (!run->bytes && !init_run(run, f))
        return rocl_fail_memory(err);
    to->len = 0;
    rocl_buf_put(to, page, c->local);
    uint32_t next = rocl_be32(page + c->local);
    while (to->len < need && !to->failed) {
        const uint32_t missing = need - (uint32_t)to->len, most = f->usable - 4;
        if (!page_valid(f, next))
            return rocl_btree_damaged(b, "a row's chain of overflow pages leads nowhere", err);
        /* Neighbours in a chain are usually neighbours in the file: those still needed are read at
         * once. */
        uint32_t count = missing / f->page_size + 1;
        if (count > f->page_count - next + 1)
            count = f->page_count - next + 1;
        rocl_status st = read_run(run, f, next, count, err);
        if (st != ROCL_OK)
            return st;
        page = page_in_run(run, f, next);
        next = rocl_be32(page);
        rocl_buf_put(to, page + 4, missing < most ? missing : most);
    }
    if (!rocl_buf_reserve(to, ROCL_BTREE_SLACK) || to->failed)
        return rocl_fail_memory(err);
    if (need == c->size && next)
        return rocl_btree_damaged(b, "a row's chain of overflow pages is too long", err);
    *payload = to->data;
    return ROCL_OK;
}

/* ---- ranges of about the same number of leaves ----------------------------------------------- */

typedef struct key_list {
    int64_t *v;
    size_t count, cap;
} key_list;

/* The keys of all pages of a level, and those between them. *lowest: the level above leaves. The
 * first level tells how deep leaves are; later levels read no leaf, and are prefetched together. */
static rocl_status collect_keys(rocl_btree *b, unsigned depth, key_list *k, bool *lowest,
                                rocl_error *err)
{
    struct rocl_btree_walk *w = b->walk;
    int64_t from = INT64_MIN;
    k->count = 0;
    for (;;) {
        rocl_status st = seek_down(b, from, depth ? depth + 1 : TO_LEAF, err);
        *lowest = st == ROCL_OK && depth + 1 >= w->leaf_depth;
        if (st != ROCL_OK || depth >= w->depth)
            return st;
        level *l = &w->levels[depth];
        if (depth && w->cold)
            prefetch_children(b->file, l - 1, l[-1].count + 1);
        if (!ROCL_GROW(k->v, k->cap, k->count + l->count + 1))
            return rocl_fail_memory(err);
        for (unsigned i = 0; i < l->count; i++)
            k->v[k->count++] = interior_key(l, i);
        if (l->max == INT64_MAX)
            return ROCL_OK;
        k->v[k->count++] = l->max;
        from = l->max + 1;
    }
}

rocl_status rocl_btree_split(rocl_btree *b, size_t ranges, int64_t *ends, size_t *count,
                             rocl_error *err)
{
    key_list k = {0};
    bool lowest = false;
    rocl_status st = ROCL_OK;
    /* Four times as many keys as ranges: then no range is a quarter larger than another. */
    for (unsigned depth = 0; st == ROCL_OK && !lowest && k.count / 4 < ranges; depth++)
        st = collect_keys(b, depth, &k, &lowest, err);
    size_t n = k.count + 1 < ranges ? k.count + 1 : ranges;
    *count = 0;
    for (size_t i = 1; st == ROCL_OK && i < n; i++)
        ends[(*count)++] = k.v[(k.count + 1) * i / n - 1];
    free(k.v);
    return st;
}

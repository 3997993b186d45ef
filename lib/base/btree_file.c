/* The file below the b-trees: its header, pages, and chains of overflow pages. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/btree_impl.h"

#define HEADER 100

/* The page with the byte at 1 GiB is for locks and never used: section 1.4. */
#define LOCK_BYTE 0x40000000u

/* Reads n bytes; fewer only at the end of the file. */
static ssize_t read_at(int fd, uint8_t *to, size_t n, uint64_t offset)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = pread(fd, to + got, n - got, (off_t)(offset + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
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

/* Without these SQLite takes it for no database either. */
static const char *check_kind(const uint8_t *h)
{
    uint32_t size = rocl_be16(h + 16);
    if (memcmp(h, "SQLite format 3", 16) != 0)
        return "the file does not begin as a SQLite 3 database";
    if (size != 1 && (size < 512 || (size & (size - 1))))
        return "the header has an invalid page size";
    return NULL;
}

/* Section 1.3, in order of the fields. */
static const char *check_header(const uint8_t *h)
{
    if (h[18] > 2 || h[19] > 2)
        return "the file is of a later format than SQLite 3";
    if (h[21] != 64 || h[22] != 32 || h[23] != 32)
        return "the header has unknown payload fractions";
    if (rocl_be32(h + 44) == 0 || rocl_be32(h + 44) > 4)
        return "the schema is of an unknown format";
    if (rocl_be32(h + 56) != 1)
        return "texts are UTF-16";
    return NULL;
}

/* How many pages the file must have. Section 1.3.7: the size in the header counts if its writer
 * knew of it. Else it is the file's own, and what is left of a page is a page that was cut. */
static uint64_t pages_needed(const uint8_t *h, uint64_t bytes, uint32_t page_size)
{
    uint32_t said = rocl_be32(h + 28);
    if (said && rocl_be32(h + 24) == rocl_be32(h + 92))
        return said;
    return bytes / page_size + (bytes % page_size != 0);
}

static rocl_status cut_off(uint64_t bytes, uint64_t needed, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT,
                     "the database is cut off: it has %llu of %llu bytes: copy it again, or take "
                     "what `sqlite3 FILE .recover` finds",
                     (unsigned long long)bytes, (unsigned long long)needed);
}

rocl_status rocl_btree_file_read(rocl_btree_file *f, int fd, const char **why, rocl_error *err)
{
    uint8_t h[HEADER];
    struct stat st;
    ssize_t got = fstat(fd, &st) ? -1 : read_at(fd, h, HEADER, 0);
    *why = NULL;
    if (got < 0)
        return rocl_fail_system(err, ROCL_INPUT, "the header cannot be read", errno);
    if (got < HEADER)
        return rocl_fail(err, ROCL_INPUT, "the database is cut off after %lld bytes",
                         (long long)got);
    *why = check_kind(h);
    if (*why)
        return ROCL_OK;
    uint32_t size = rocl_be16(h + 16);
    f->fd = fd;
    if (!f->ahead || f->ahead > ROCL_BTREE_AHEAD)
        f->ahead = ROCL_BTREE_AHEAD;
    f->page_size = size == 1 ? 65536 : size;
    f->usable = f->page_size - h[20];
    uint64_t bytes = (uint64_t)st.st_size, pages = pages_needed(h, bytes, f->page_size);
    if (pages > UINT32_MAX - 1)
        *why = "the file has more pages than a database can";
    else if (pages * f->page_size > bytes)
        return cut_off(bytes, pages * f->page_size, err);
    else
        *why = f->usable < 480 ? "pages have too many reserved bytes" : check_header(h);
    f->page_count = (uint32_t)pages;
    f->lock_page = LOCK_BYTE / f->page_size + 1;
    return ROCL_OK;
}

bool rocl_page_run_init(rocl_page_run *r, const rocl_btree_file *f)
{
    r->cap = f->page_size < f->ahead ? f->ahead / f->page_size : 1;
    const size_t size = (size_t)r->cap * f->page_size;
    r->bytes = malloc(size + ROCL_BTREE_SLACK); /* zeros would take longer than a small table */
    if (r->bytes)
        memset(r->bytes + size, 0, ROCL_BTREE_SLACK);
    return r->bytes != NULL;
}

rocl_status rocl_page_run_read(rocl_page_run *r, const rocl_btree_file *f, uint32_t first,
                               uint32_t count, rocl_error *err)
{
    if (first - r->first < r->count)
        return ROCL_OK;
    if (count > r->cap)
        count = r->cap;
    r->count = 0;
    size_t n = (size_t)count * f->page_size;
    ssize_t got = read_at(f->fd, r->bytes, n, (uint64_t)(first - 1) * f->page_size);
    if (got < 0)
        return errno == ENOMEM ? rocl_fail_memory(err)
                               : rocl_fail(err, ROCL_INPUT, "page %u: %s", first, strerror(errno));
    if ((size_t)got < n)
        return rocl_fail(err, ROCL_INPUT,
                         "page %u: the file ends before it: it was cut off while it was read",
                         first + (uint32_t)((size_t)got / f->page_size));
    r->first = first;
    r->count = count;
    return ROCL_OK;
}

#ifdef RWF_NOWAIT
static ssize_t read_cached(int fd, uint8_t *to, size_t n, uint64_t offset)
{
    struct iovec v = {to, n};
    return preadv2(fd, &v, 1, (off_t)offset, RWF_NOWAIT);
}
#else
static ssize_t read_cached(int fd, uint8_t *to, size_t n, uint64_t offset)
{
    (void)fd, (void)to, (void)n, (void)offset;
    errno = ENOSYS;
    return -1;
}
#endif

bool rocl_page_run_cached(rocl_page_run *r, const rocl_btree_file *f, uint32_t first,
                          uint32_t count)
{
    if (r->waits)
        return false;
    if (count > r->cap)
        count = r->cap;
    uint64_t offset = (uint64_t)(first - 1) * f->page_size;
    ssize_t got = read_cached(f->fd, r->bytes, (size_t)count * f->page_size, offset);
    r->waits = got < 0 && errno != EAGAIN && errno != EINTR;
    r->first = first;
    r->count = got < 0 ? 0 : (uint32_t)((size_t)got / f->page_size);
    return r->count == count;
}

/* ---- payloads ---- */

uint32_t rocl_payload_local(const rocl_btree_file *f, uint32_t size)
{
    uint32_t most = f->usable - 35;
    if (size <= most)
        return size;
    uint32_t least = (f->usable - 12) * 32 / 255 - 23;
    uint32_t wished = least + (size - least) % (f->usable - 4);
    return wished <= most ? wished : least;
}

/* Neighbours in a chain are usually neighbours in the file: those still needed are read at once. */
static rocl_status overflow_page(rocl_btree *b, uint32_t number, uint32_t missing,
                                 const uint8_t **page, rocl_error *err)
{
    rocl_page_run *run = &b->walk->overflow;
    const rocl_btree_file *f = b->file;
    if (!rocl_page_valid(f, number))
        return rocl_btree_damaged(b, "a row's chain of overflow pages leads nowhere", err);
    if (!run->bytes && !rocl_page_run_init(run, f))
        return rocl_fail_memory(err);
    uint32_t count = missing / f->page_size + 1;
    if (count > f->page_count - number + 1)
        count = f->page_count - number + 1;
    rocl_status st = rocl_page_run_read(run, f, number, count, err);
    *page = rocl_page_of(run, f, number);
    return st;
}

rocl_status rocl_btree_payload(rocl_btree *b, unsigned row, uint32_t need, const uint8_t **payload,
                               rocl_error *err)
{
    const rocl_btree_cell *c = &b->cells[row];
    const uint8_t *page = b->page + c->offset;
    rocl_buf *to = &b->walk->scratch;
    if (need <= c->local) {
        *payload = page;
        return ROCL_OK;
    }
    to->len = 0;
    rocl_buf_put(to, page, c->local);
    uint32_t next = rocl_be32(page + c->local);
    while (to->len < need) {
        uint32_t missing = need - (uint32_t)to->len;
        rocl_status st = overflow_page(b, next, missing, &page, err);
        if (st != ROCL_OK)
            return st;
        next = rocl_be32(page);
        rocl_buf_put(to, page + 4, missing < b->file->usable - 4 ? missing : b->file->usable - 4);
        if (to->failed)
            break;
    }
    if (!rocl_buf_reserve(to, ROCL_BTREE_SLACK) || to->failed)
        return rocl_fail_memory(err);
    if (need == c->size && next)
        return rocl_btree_damaged(b, "a row's chain of overflow pages is too long", err);
    *payload = to->data;
    return ROCL_OK;
}

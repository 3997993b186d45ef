/* Finds chunks in a file, and reads their contents and records. Chunks follow each other; after a
 * broken one the next magic is searched for. */
#include "source/chunk/chunk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/array.h"
#include "base/crc32c.h"
#include "base/file.h"

enum { BLOCK = 64 << 10 };

#define TURN_FIELDS(first, behind, bits)                                                           \
    for (size_t at = offsetof(rocl_chunk_header, first); at < (behind); at += sizeof(v##bits)) {   \
        memcpy(&v##bits, (char *)h + at, sizeof(v##bits));                                         \
        v##bits = le##bits##toh(v##bits);                                                          \
        memcpy((char *)h + at, &v##bits, sizeof(v##bits));                                         \
    }

/* magic and session are bytes; all other fields come in groups of one size. */
void chunk_turn_header(rocl_chunk_header *h)
{
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return;
    TURN_FIELDS(major, offsetof(rocl_chunk_header, header_size), 16)
    TURN_FIELDS(header_size, offsetof(rocl_chunk_header, size), 32)
    TURN_FIELDS(size, offsetof(rocl_chunk_header, session), 64)
    TURN_FIELDS(process, offsetof(rocl_chunk_header, pid), 64)
    TURN_FIELDS(pid, offsetof(rocl_chunk_header, tick_hz), 32)
    TURN_FIELDS(tick_hz, offsetof(rocl_chunk_header, header_crc), 64)
    TURN_FIELDS(header_crc, offsetof(rocl_chunk_header, chunks), 32)
    TURN_FIELDS(chunks, sizeof *h, 64)
}

static rocl_status check_version(const rocl_chunk_header *h, const char *path, rocl_error *err)
{
    if (h->endian != ROCL_CHUNK_ENDIAN)
        return rocl_fail(err, ROCL_INPUT, "%s: chunks of another byte order", path);
    if (h->major != ROCL_CHUNK_MAJOR)
        return rocl_fail(err, ROCL_INPUT, "%s: chunks of version %u.%u: this rocline reads %u.x",
                         path, h->major, h->minor, ROCL_CHUNK_MAJOR);
    if (h->features & ~ROCL_CHUNK_KNOWN)
        return rocl_fail(err, ROCL_INPUT, "%s: chunks with unknown features: 0x%x", path,
                         h->features & ~ROCL_CHUNK_KNOWN);
    return ROCL_OK;
}

static bool is_plausible(const rocl_chunk_header *h)
{
    uint64_t progress =
        atomic_load_explicit(&((rocl_chunk_header *)(uintptr_t)h)->progress, memory_order_relaxed);
    /* Compressed, a few bytes can stand for any number. */
    bool fits = !(h->features & ROCL_CHUNK_DEFLATE) || (progress & UINT32_MAX) <= ROCL_CHUNK_MAX;
    return fits && h->header_size >= ROCL_CHUNK_HEADER && h->header_size % ROCL_CHUNK_ALIGN == 0 &&
           h->size >= h->header_size && h->size <= ROCL_CHUNK_MAX &&
           h->size % ROCL_CHUNK_ALIGN == 0 && (h->tick_hz || h->clock != ROCL_CLOCK_TSC) &&
           (h->clock == ROCL_CLOCK_TSC || h->clock == ROCL_CLOCK_MONOTONIC);
}

/* Only the header of a closed chunk can be checked. */
static bool is_damaged(const rocl_chunk_header *h)
{
    rocl_chunk_header copy;
    if (!(h->flags & ROCL_CHUNK_CLOSED))
        return false;
    memcpy(&copy, h, sizeof copy);
    copy.header_crc = 0;
    chunk_turn_header(&copy);
    return rocl_crc32c(0, &copy, sizeof copy) != h->header_crc;
}

/* The next offset at or after `at`, on the grid of chunks, of a chunk or one under construction;
 * the size of the file: none. *junk: there is something else before it. */
static rocl_status find_magic(const rocl_spool *s, uint64_t *at, bool *junk, rocl_error *err)
{
    static const uint8_t zero[ROCL_CHUNK_ALIGN];
    uint8_t block[BLOCK];
    size_t got = BLOCK;
    rocl_status st = ROCL_OK;
    for (uint64_t from = *at; st == ROCL_OK && got == BLOCK; from += BLOCK) {
        st = rocl_spool_read(s, block, BLOCK, from, &got, err);
        for (size_t i = 0; st == ROCL_OK && i + ROCL_CHUNK_ALIGN <= got; i += ROCL_CHUNK_ALIGN) {
            if (!memcmp(block + i, ROCL_CHUNK_MAGIC, 8) ||
                !memcmp(block + i, ROCL_CHUNK_BEGUN, 8)) {
                *at = from + i;
                return ROCL_OK;
            }
            *junk |= memcmp(block + i, zero, sizeof zero) != 0;
        }
        size_t rest = got % ROCL_CHUNK_ALIGN; /* the file ends within a magic */
        *junk |= st == ROCL_OK && memcmp(block + got - rest, zero, rest) != 0;
    }
    *at = rocl_spool_size(s);
    return st;
}

/* A damaged header does not even tell where the next chunk is: everything up to that counts with
 * it. */
rocl_status chunk_walk(chunk_list *l, const rocl_spool *s, const char *path, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    uint64_t size = rocl_spool_size(s);
    bool counted = false;
    for (uint64_t at = 0; st == ROCL_OK && at < size;) {
        rocl_chunk_header h;
        size_t got = 0;
        bool junk = false;
        st = find_magic(s, &at, &junk, err);
        l->garbage += junk && !counted;
        if (st == ROCL_OK && at < size)
            st = rocl_spool_read(s, &h, sizeof h, at, &got, err);
        if (st != ROCL_OK || at >= size)
            break;
        if (got < sizeof h) {
            l->garbage++;
            break;
        }
        chunk_turn_header(&h);
        /* If the process was killed while it began a chunk, which thus has no events, only its size
         * matters. */
        bool begun = !memcmp(h.magic, ROCL_CHUNK_BEGUN, 8);
        bool sized = h.size >= ROCL_CHUNK_HEADER && h.size <= ROCL_CHUNK_MAX &&
                     h.size % ROCL_CHUNK_ALIGN == 0;
        st = begun ? ROCL_OK : check_version(&h, path, err);
        counted = begun ? !sized : !is_plausible(&h) || is_damaged(&h);
        l->garbage += counted;
        if (st == ROCL_OK && !counted && !begun) {
            if (!ROCL_GROW(l->all, l->cap, l->count + 1))
                return rocl_fail_memory(err);
            chunk_info *c = &l->all[l->count++];
            uint64_t whole = h.size - h.header_size, there = size - at;
            there = there > h.header_size ? there - h.header_size : 0;
            *c = (chunk_info){.offset = at, .available = whole < there ? whole : there};
            memcpy(&c->h, &h, sizeof h);
        }
        at += counted ? ROCL_CHUNK_ALIGN : h.size;
    }
    return st;
}

/* ---- contents ------------------------------------------------------------------------------- */

/* Reads the stored bytes, fewer if the file ends, and checks them. */
static rocl_status read_stored(const rocl_spool *s, const chunk_info *c, uint64_t size, rocl_buf *b,
                               size_t *got, chunk_state *state, rocl_error *err)
{
    size_t n = (size_t)(size < c->available ? size : c->available);
    if (!rocl_buf_reserve(b, n + 1))
        return rocl_fail_memory(err);
    rocl_status st = rocl_spool_read(s, b->data, n, c->offset + c->h.header_size, got, err);
    bool closed = c->h.flags & ROCL_CHUNK_CLOSED;
    if (st == ROCL_OK)
        *state = *got < size                                           ? CHUNK_CUT
                 : closed && rocl_crc32c(0, b->data, *got) != c->h.crc ? CHUNK_CORRUPT
                                                                       : CHUNK_WHOLE;
    return st;
}

rocl_status chunk_load(const rocl_spool *s, const chunk_info *c, rocl_buf *b, size_t *n,
                       chunk_state *state, rocl_error *err)
{
    b->len = 0;
    *n = 0;
    *state = CHUNK_CUT;
    if (!(c->h.features & ROCL_CHUNK_DEFLATE))
        return read_stored(s, c, chunk_content(c), b, n, state, err);
    rocl_buf stored = {0};
    size_t want = (size_t)chunk_content(c), got = 0;
    rocl_status st = read_stored(s, c, c->h.stored, &stored, &got, state, err);
    /* More than deflate can produce must be wrong: do not allocate it. */
    if (want / 1032 > got + 1)
        want = (got + 1) * 1032;
    z_stream z = {.next_in = stored.data, .avail_in = (uInt)got};
    if (st == ROCL_OK && (!rocl_buf_reserve(b, want + 1) || inflateInit(&z) != Z_OK))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        /* What inflate yields before it fails is kept. */
        z.next_out = b->data;
        z.avail_out = (uInt)want;
        inflate(&z, Z_FINISH);
        *n = want - z.avail_out;
        inflateEnd(&z);
    }
    rocl_buf_free(&stored);
    if (*state == CHUNK_WHOLE && *n != chunk_content(c))
        *state = CHUNK_CUT;
    return st;
}

/* ---- records -------------------------------------------------------------------------------- */

void chunk_reader_begin(chunk_reader *r, const chunk_info *c, const uint8_t *content, size_t n)
{
    *r = (chunk_reader){.p = content, .end = content + n, .now = c->h.base};
    r->last[ROCL_CLOCK_TICKS] = c->h.base;
    r->last[ROCL_CLOCK_MONOTONIC] = c->h.begin.monotonic;
    r->last[ROCL_CLOCK_BOOTTIME] = c->h.begin.boottime;
    r->last[ROCL_CLOCK_REALTIME] = c->h.begin.realtime;
}

bool chunk_read_record(chunk_reader *r, chunk_record *rec)
{
    static const uint8_t fields[] = {
        [ROCL_REC_BEGIN] = 1, [ROCL_REC_END] = 0,   [ROCL_REC_PUSH] = 1, [ROCL_REC_POP] = 0,
        [ROCL_REC_MARK] = 1,  [ROCL_REC_START] = 2, [ROCL_REC_STOP] = 1,
    };
    if (r->p >= r->end || r->broken)
        return false;
    const uint8_t *p = r->p + 1;
    uint64_t number; /* ticks since the record before, or bytes of the body */
    *rec = (chunk_record){.type = *r->p};
    r->p = p;
    bool ok = rocl_varint_get(&p, r->end, &number);
    if (rec->type < ROCL_REC_SIZED) {
        ok = ok && rec->type > 0 && rec->type < sizeof fields;
        if (ok && fields[rec->type] > 0)
            ok = rocl_varint_get(&p, r->end, &rec->a);
        if (ok && fields[rec->type] > 1)
            ok = rocl_varint_get(&p, r->end, &rec->b);
        r->now += ok ? number : 0;
    } else {
        ok = ok && number <= (uint64_t)(r->end - p);
        rec->p = p;
        p = rec->end = ok ? p + number : p;
    }
    r->p = ok ? p : r->p;
    r->broken = !ok;
    return ok;
}

bool chunk_is_event(const chunk_record *rec)
{
    return rec->type < ROCL_REC_SIZED || rec->type >= ROCL_REC_DISPATCH;
}

uint64_t chunk_read_number(chunk_record *r)
{
    uint64_t v = 0;
    if (!rocl_varint_get(&r->p, r->end, &v))
        r->p = r->end;
    return v;
}

int64_t chunk_read_signed(chunk_record *r)
{
    return rocl_unzigzag(chunk_read_number(r));
}

rocl_view chunk_read_text(chunk_record *r)
{
    uint64_t n = chunk_read_number(r), there = (uint64_t)(r->end - r->p);
    rocl_view s = {(const char *)r->p, (size_t)(n < there ? n : there)};
    r->p += s.n;
    return s;
}

rocl_view chunk_read_rest(chunk_record *r)
{
    rocl_view s = {(const char *)r->p, (size_t)(r->end - r->p)};
    r->p = r->end;
    return s;
}

chunk_times chunk_read_times(chunk_reader *r, chunk_record *rec)
{
    chunk_times t = {.clock = (unsigned)chunk_read_number(rec) & 3};
    t.start = r->last[t.clock] += (uint64_t)chunk_read_signed(rec);
    t.end = t.start + (uint64_t)chunk_read_signed(rec);
    t.tid = chunk_read_number(rec);
    t.correlation = chunk_read_number(rec);
    return t;
}

/* ---- before a file is opened ---------------------------------------------------------------- */

/* False: errno says why it cannot be read; 0: it has none. */
static bool read_first_header(const char *path, rocl_chunk_header *h)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = fd < 0 ? -1 : rocl_read_at(fd, h, sizeof *h, 0);
    const int why = got >= 0 || errno == ESPIPE || errno == EISDIR ? 0 : errno;
    const bool read = got == (ssize_t)sizeof *h && !memcmp(h->magic, ROCL_CHUNK_MAGIC, 8);
    if (fd >= 0)
        close(fd);
    errno = why;
    if (read)
        chunk_turn_header(h);
    return read;
}

bool rocl_session_of(const char *path, uint8_t session[16])
{
    rocl_chunk_header h;
    bool read = read_first_header(path, &h);
    if (read)
        memcpy(session, h.session, sizeof h.session);
    return read;
}

bool rocl_is_empty_recording(const char *path)
{
    rocl_chunk_header h;
    struct stat s;
    if (stat(path, &s) != 0)
        return false;
    if (s.st_size == 0)
        return true;
    return read_first_header(path, &h) && h.flags & ROCL_CHUNK_PROCESS &&
           h.size == (uint64_t)s.st_size && !atomic_load(&h.dropped);
}

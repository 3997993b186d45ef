/* Errors of SQLite, and the state of a write-ahead log. */
#include "base/sqlite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/btree_bytes.h"
#include "base/file.h"
#include "base/map.h"

rocl_status rocl_sqlite_error(sqlite3 *db, const char *place, rocl_error *err)
{
    int rc = sqlite3_errcode(db), why = sqlite3_system_errno(db);
    if (rc == SQLITE_NOMEM || sqlite3_extended_errcode(db) == SQLITE_IOERR_NOMEM)
        return rocl_fail_memory(err);
    /* SQLite's own words hide the reason: "unable to open database file". */
    if ((rc == SQLITE_CANTOPEN || rc == SQLITE_IOERR) && why)
        return rocl_fail_system(err, ROCL_INPUT, place, why);
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB || rc == SQLITE_TOOBIG)
        return rocl_fail(err, ROCL_INPUT, "%s: the database is damaged (%s)", place,
                         sqlite3_errmsg(db));
    return rocl_fail(err, ROCL_INPUT, "%s: %s", place, sqlite3_errmsg(db));
}

void rocl_sqlite_limit_lengths(sqlite3 *db, uint64_t bytes)
{
    enum { LEAST = 1 << 20 }; /* for texts that are not values of a file: the schema, errors */
    bytes += LEAST;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, bytes < INT32_MAX ? (int)bytes : INT32_MAX);
}

void rocl_sqlite_harden(sqlite3 *db, bool defensive)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, defensive, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
}

/* ---- the write-ahead log ------------------------------------------------------------------- */

enum { HEADER = 32, FRAME = 24, PAGE_MAX = 65536 };

typedef struct log {
    int fd;
    bool big; /* the words of a checksum are big-endian */
    uint32_t page_size, a, b;
    uint8_t salt[8];
} log;

static rocl_status read_log(int fd, uint8_t *to, size_t n, uint64_t at, size_t *got,
                            rocl_error *err)
{
    ssize_t r = rocl_read_at(fd, to, n, at);
    *got = r < 0 ? 0 : (size_t)r;
    return r < 0 ? rocl_fail_system(err, ROCL_INPUT, "its write-ahead log (-wal)", errno) : ROCL_OK;
}

static void add_sum(log *l, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint32_t x, y;
        memcpy(&x, p + i, sizeof x);
        memcpy(&y, p + i + 4, sizeof y);
        x = l->big ? be32toh(x) : le32toh(x);
        y = l->big ? be32toh(y) : le32toh(y);
        l->a += x + l->b;
        l->b += y + l->a;
    }
}

static bool check_log_header(log *l, const uint8_t *h)
{
    uint32_t magic = rocl_be32(h), size = rocl_be32(h + 8);
    l->big = magic & 1;
    l->page_size = size;
    memcpy(l->salt, h + 16, sizeof l->salt);
    add_sum(l, h, 24);
    return (magic & ~1u) == 0x377f0682 && size >= 512 && size <= PAGE_MAX && !(size & (size - 1)) &&
           l->a == rocl_be32(h + 24) && l->b == rocl_be32(h + 28);
}

/* Counts pages of the database after the last whole transaction that are beyond the end of the
 * file. */
static rocl_status count_missing(const log *l, rocl_wal *w, uint64_t frames, uint32_t pages,
                                 uint64_t bytes, rocl_error *err)
{
    uint64_t have = bytes / l->page_size, lock = 0x40000000u / l->page_size + 1;
    rocl_idset found = {0};
    rocl_status st = ROCL_OK;
    size_t got;
    uint8_t head[FRAME];
    w->missing = pages > have ? pages - have : 0;
    if (have < lock && lock <= pages)
        w->missing--;
    for (uint64_t i = 0; st == ROCL_OK && w->missing && i < frames; i++) {
        st = read_log(l->fd, head, FRAME, HEADER + i * (FRAME + l->page_size), &got, err);
        uint32_t page = rocl_be32(head);
        if (st != ROCL_OK || page <= have || page > pages || rocl_idset_has(&found, page))
            continue;
        w->missing--;
        if (!rocl_idset_add(&found, page))
            st = rocl_fail_memory(err);
    }
    rocl_idset_free(&found);
    return st;
}

rocl_status rocl_wal_read(rocl_wal *w, int fd, uint64_t bytes, rocl_error *err)
{
    uint8_t header[HEADER] = {0};
    log l = {.fd = fd};
    uint64_t frames = 0, whole = 0;
    uint32_t pages = 0;
    size_t got, size;
    *w = (rocl_wal){0};
    rocl_status st = read_log(fd, header, HEADER, 0, &got, err);
    w->unfinished = got < HEADER;
    if (st != ROCL_OK || w->unfinished)
        return st;
    if (!check_log_header(&l, header))
        return rocl_fail(err, ROCL_INPUT, "its write-ahead log (-wal) is damaged");
    size = FRAME + l.page_size;
    uint8_t *frame = malloc(size);
    if (!frame)
        return rocl_fail_memory(err);
    while ((st = read_log(fd, frame, size, HEADER + frames * size, &got, err)) == ROCL_OK && got) {
        /* Frames left from an earlier use of the log have other salts. */
        if (got >= 16 && memcmp(frame + 8, l.salt, sizeof l.salt) != 0)
            break;
        add_sum(&l, frame, 8);
        if (got == size)
            add_sum(&l, frame + FRAME, l.page_size);
        w->unfinished = true;
        if (got < size || l.a != rocl_be32(frame + 16) || l.b != rocl_be32(frame + 20))
            break;
        frames++;
        if (rocl_be32(frame + 4)) {
            pages = rocl_be32(frame + 4);
            whole = frames;
            w->unfinished = false;
        }
    }
    w->any = whole;
    if (st == ROCL_OK && whole)
        st = count_missing(&l, w, whole, pages, bytes, err);
    free(frame);
    return st;
}

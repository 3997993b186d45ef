#include "base/spool.h"

#include "base/error.h"
#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

enum { PIECE = 256 << 10 };

struct rocl_spool {
    char *path;
    int fd;           /* what can be read at any offset, or what comes in until it is filled */
    struct stat info; /* of the file that was opened */
    bool piped, packed, filled, temporary;
    uint64_t size;
    uint64_t base; /* where it begins in the temporary file */
    char *head;
    size_t head_len;
    bool whole; /* head is all there is */
    /* what comes in */
    uint8_t *raw; /* as it comes, PIECE bytes */
    z_stream z;
    bool inflating, between; /* between two gzip members */
    bool ended;              /* nothing more comes in */
};

/* ---- bytes as they come ---------------------------------------------------------------------- */

static rocl_status read_some(rocl_spool *s, void *to, size_t n, size_t *got, rocl_error *err)
{
    ssize_t done;
    do
        done = read(s->fd, to, n);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
    *got = (size_t)done;
    s->ended = done == 0;
    return ROCL_OK;
}

static rocl_status fail_gzip(const rocl_spool *s, const char *what, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "%s: gzip: %s", s->path, what);
}

/* More input for the decompressor; at its end *end, which is fine between members only. */
static rocl_status feed(rocl_spool *s, bool *end, rocl_error *err)
{
    size_t got = 0;
    *end = false;
    if (s->z.avail_in)
        return ROCL_OK;
    rocl_status st = s->ended ? ROCL_OK : read_some(s, s->raw, PIECE, &got, err);
    s->z.next_in = s->raw;
    s->z.avail_in = (uInt)got;
    *end = !got;
    if (st == ROCL_OK && !got && !s->between)
        st = fail_gzip(s, "the file is cut off", err);
    return st;
}

/* Between members: padding of zeros, or the next one. */
static rocl_status next_member(rocl_spool *s, rocl_error *err)
{
    while (s->z.avail_in && !*s->z.next_in) {
        s->z.next_in++;
        s->z.avail_in--;
    }
    if (!s->z.avail_in)
        return ROCL_OK;
    if (*s->z.next_in != 0x1f)
        return fail_gzip(s, "something else follows the compressed data", err);
    inflateReset(&s->z);
    s->between = false;
    return ROCL_OK;
}

static rocl_status inflate_some(rocl_spool *s, char *to, size_t n, size_t *got, rocl_error *err)
{
    s->z.next_out = (Bytef *)to;
    s->z.avail_out = (uInt)n;
    *got = 0;
    while (s->z.avail_out == n) {
        bool end;
        rocl_status st = feed(s, &end, err);
        if (st == ROCL_OK && !end && s->between)
            st = next_member(s, err);
        if (st != ROCL_OK || end)
            return st;
        if (s->between)
            continue;
        int rc = inflate(&s->z, Z_NO_FLUSH);
        if (rc == Z_MEM_ERROR)
            return rocl_fail_memory(err);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return fail_gzip(s, s->z.msg ? s->z.msg : "damaged", err);
        s->between = rc == Z_STREAM_END;
    }
    *got = n - s->z.avail_out;
    return ROCL_OK;
}

/* Up to n (at most PIECE) decompressed bytes; 0 at the end. */
static rocl_status take(rocl_spool *s, char *to, size_t n, size_t *got, rocl_error *err)
{
    *got = 0;
    if (s->packed)
        return inflate_some(s, to, n, got, err);
    return s->ended ? ROCL_OK : read_some(s, to, n, got, err);
}

/* ---- how it begins --------------------------------------------------------------------------- */

static rocl_status fill_head(rocl_spool *s, rocl_error *err)
{
    size_t got = 1;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && got && s->head_len < ROCL_SPOOL_HEAD) {
        st = take(s, s->head + s->head_len, ROCL_SPOOL_HEAD - s->head_len, &got, err);
        s->head_len += st == ROCL_OK ? got : 0;
    }
    s->whole = !got;
    return st;
}

static rocl_status begin_gzip(rocl_spool *s, rocl_error *err)
{
    memcpy(s->raw, s->head, s->head_len);
    s->z.next_in = s->raw;
    s->z.avail_in = (uInt)s->head_len;
    s->head_len = 0;
    if (inflateInit2(&s->z, 15 + 16) != Z_OK)
        return rocl_fail_memory(err);
    s->packed = s->inflating = true;
    return fill_head(s, err);
}

static rocl_status read_head(rocl_spool *s, rocl_error *err)
{
    s->head = malloc(ROCL_SPOOL_HEAD);
    s->raw = malloc(PIECE);
    if (!s->head || !s->raw)
        return rocl_fail_memory(err);
    rocl_status st = fill_head(s, err);
    if (st == ROCL_OK && s->head_len >= 3 && !memcmp(s->head, "\x1f\x8b\x08", 3))
        st = begin_gzip(s, err);
    return st;
}

/* ---- open and close -------------------------------------------------------------------------- */

static rocl_status open_path(rocl_spool *s, rocl_error *err)
{
    bool standard = !strcmp(s->path, "-");
    if (!standard && stat(s->path, &s->info) != 0)
        return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
    /* Anything but a pipe must not wait for what may never come. */
    int flags = O_RDONLY | O_CLOEXEC | (S_ISFIFO(s->info.st_mode) ? 0 : O_NONBLOCK);
    s->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(s->path, flags);
    if (s->fd < 0 || fstat(s->fd, &s->info) != 0)
        return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
    mode_t mode = s->info.st_mode;
    /* Standard input is of use where it stands: somebody may have read from it. */
    s->piped = !S_ISREG(mode) || (standard && lseek(s->fd, 0, SEEK_CUR) != 0);
    if (standard ? !S_ISDIR(mode) : S_ISREG(mode) || S_ISFIFO(mode) || S_ISSOCK(mode))
        return ROCL_OK;
    return rocl_fail(err, ROCL_INPUT,
                     "%s: not a regular file: a database cannot be read from a pipe or device",
                     s->path);
}

rocl_status rocl_spool_open(rocl_spool **spool, const char *path, rocl_error *err)
{
    rocl_spool *s = calloc(1, sizeof *s);
    if (!s || !(s->path = strdup(path))) {
        free(s);
        return rocl_fail_memory(err);
    }
    s->fd = -1;
    rocl_status st = open_path(s, err);
    if (st == ROCL_OK)
        st = read_head(s, err);
    if (st == ROCL_OK)
        *spool = s;
    else
        rocl_spool_close(s);
    return st;
}

static void end_of_input(rocl_spool *s)
{
    if (s->inflating)
        inflateEnd(&s->z);
    s->inflating = false;
    free(s->raw);
    free(s->head);
    s->raw = NULL;
    s->head = NULL;
}

void rocl_spool_close(rocl_spool *s)
{
    if (!s)
        return;
    end_of_input(s);
    if (s->fd >= 0 && !s->temporary)
        close(s->fd);
    free(s->path);
    free(s);
}

const char *rocl_spool_head(const rocl_spool *s, size_t *n, bool *whole)
{
    *n = s->head_len;
    *whole = s->whole;
    return s->head;
}

bool rocl_spool_is_gzip(const rocl_spool *s)
{
    return s->packed;
}

bool rocl_spool_is_pipe(const rocl_spool *s)
{
    return s->piped;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static rocl_status fail_temporary(const char *dir, int why, rocl_error *err)
{
    return rocl_fail(err, ROCL_OUTPUT, "temporary file in %s: %s", dir, strerror(why));
}

static rocl_status open_store(rocl_spool_store *store, const char *tmpdir, rocl_error *err)
{
    const char *wanted = tmpdir ? tmpdir : getenv("TMPDIR");
    bool any = !wanted || !*wanted;
    if (store->open)
        return ROCL_OK;
    store->dir = any ? "/var/tmp" : wanted;
    store->fd = rocl_temp_file(store->dir);
    int why = errno;
    if (store->fd < 0 && any && (store->fd = rocl_temp_file("/tmp")) >= 0)
        store->dir = "/tmp";
    store->open = store->fd >= 0;
    return store->open ? ROCL_OK : fail_temporary(store->dir, why, err);
}

void rocl_spool_store_close(rocl_spool_store *store)
{
    if (store->open)
        close(store->fd);
    *store = (rocl_spool_store){0};
}

static rocl_status put(rocl_spool_store *store, const char *p, size_t n, rocl_error *err)
{
    while (n) {
        ssize_t done = pwrite(store->fd, p, n, (off_t)store->size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_temporary(store->dir, done ? errno : ENOSPC, err);
        p += done;
        n -= (size_t)done;
        store->size += (uint64_t)done;
    }
    return ROCL_OK;
}

static rocl_status copy_all(rocl_spool *s, rocl_spool_store *store, rocl_error *err)
{
    size_t n = s->head_len;
    char *piece = malloc(PIECE);
    s->base = store->size;
    rocl_status st = piece ? put(store, s->head, n, err) : rocl_fail_memory(err);
    while (st == ROCL_OK && (st = take(s, piece, PIECE, &n, err)) == ROCL_OK && n)
        st = put(store, piece, n, err);
    s->size = store->size - s->base;
    free(piece);
    return st;
}

rocl_status rocl_spool_fill(rocl_spool *s, rocl_spool_store *store, const char *tmpdir,
                            rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (s->filled)
        return ROCL_OK;
    if (s->piped || s->packed) {
        st = open_store(store, tmpdir, err);
        if (st == ROCL_OK)
            st = copy_all(s, store, err);
        close(s->fd);
        s->fd = store->open ? store->fd : -1;
        s->temporary = true;
    } else {
        s->size = (uint64_t)s->info.st_size;
    }
    s->filled = true;
    end_of_input(s);
    return st;
}

uint64_t rocl_spool_size(const rocl_spool *s)
{
    return s->size;
}

rocl_status rocl_spool_read(const rocl_spool *s, void *to, size_t n, uint64_t at, size_t *got,
                            rocl_error *err)
{
    *got = 0;
    if (at >= s->size)
        return ROCL_OK;
    if (n > s->size - at) /* what is appended meanwhile is not ours */
        n = (size_t)(s->size - at);
    while (*got < n) {
        ssize_t done = pread(s->fd, (char *)to + *got, n - *got, (off_t)(s->base + at + *got));
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
        if (done == 0)
            return rocl_fail(err, ROCL_INPUT, "%s: the file was cut while it was read", s->path);
        *got += (size_t)done;
    }
    return ROCL_OK;
}

void rocl_spool_suspend(rocl_spool *s)
{
    if (s->temporary || !strcmp(s->path, "-") || s->fd < 0)
        return;
    close(s->fd);
    s->fd = -1;
}

rocl_status rocl_spool_resume(rocl_spool *s, rocl_error *err)
{
    struct stat now;
    if (s->fd >= 0)
        return ROCL_OK;
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 || fstat(s->fd, &now) != 0)
        return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
    /* It may have grown: lines are only ever appended. */
    if (now.st_dev != s->info.st_dev || now.st_ino != s->info.st_ino ||
        now.st_size < s->info.st_size)
        return rocl_fail(err, ROCL_INPUT, "%s: the file was replaced while it was read", s->path);
    return ROCL_OK;
}

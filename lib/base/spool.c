/* An input as plain bytes that can be read at any offset. */
#include "base/spool.h"

#include "base/error.h"
#include "base/file.h"
#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };

struct rocl_spool {
    char *path;
    int fd;           /* to be read at any offset; until it is filled, the input */
    struct stat info; /* of the file that was opened */
    bool pipe, compressed, filled, temporary;
    uint64_t size;
    uint64_t base; /* where it begins in the temporary file */
    char *head;
    size_t head_len;
    bool whole;           /* head is all there is */
    rocl_unpack *unpack;  /* what comes in, until it is filled */
    rocl_spool_store own; /* its own temporary file, when it was filled into one */
    char own_path[32];
};

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
    /* Only the rest of standard input counts: somebody may have read from it. */
    s->pipe = !S_ISREG(mode) || (standard && lseek(s->fd, 0, SEEK_CUR) != 0);
    if (standard ? !S_ISDIR(mode) : S_ISREG(mode) || S_ISFIFO(mode) || S_ISSOCK(mode))
        return ROCL_OK;
    return rocl_fail(err, ROCL_INPUT,
                     "%s: neither a regular file nor a pipe: a trace cannot be read from a device",
                     s->path);
}

/* The rest of the head of a SQLite 3 database says nothing, and takes time where there are many. */
static bool is_database(const rocl_spool *s)
{
    static const char magic[] = "SQLite format 3";
    return s->head_len >= sizeof magic && !memcmp(s->head, magic, sizeof magic);
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
    if (st == ROCL_OK && !(s->head = malloc(ROCL_SPOOL_HEAD)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_unpack_open(&s->unpack, s->fd, s->path, err);
    for (size_t got = 1;
         st == ROCL_OK && got && s->head_len < ROCL_SPOOL_HEAD && !is_database(s);) {
        st = rocl_unpack_read(s->unpack, s->head + s->head_len, ROCL_SPOOL_HEAD - s->head_len, &got,
                              err);
        s->head_len += got;
        s->whole = !got;
    }
    s->compressed = st == ROCL_OK && rocl_unpack_is_compressed(s->unpack);
    if (st == ROCL_OK)
        *spool = s;
    else
        rocl_spool_close(s);
    return st;
}

static void free_input(rocl_spool *s)
{
    rocl_unpack_close(s->unpack);
    free(s->head);
    s->unpack = NULL;
    s->head = NULL;
}

void rocl_spool_close(rocl_spool *s)
{
    if (!s)
        return;
    free_input(s);
    if (s->fd >= 0 && !s->temporary)
        close(s->fd);
    rocl_spool_store_close(&s->own);
    free(s->path);
    free(s);
}

const char *rocl_spool_head(const rocl_spool *s, size_t *n, bool *whole)
{
    *n = s->head_len;
    *whole = s->whole;
    return s->head;
}

/* ---- filling ------------------------------------------------------------------------------- */

void rocl_spool_store_close(rocl_spool_store *store)
{
    if (store->open)
        close(store->fd);
    *store = (rocl_spool_store){0};
}

static rocl_status append_bytes(rocl_spool_store *store, const char *p, size_t n, rocl_error *err)
{
    if (!rocl_write_at(store->fd, p, n, store->size))
        return rocl_fail_temporary(err, store->dir, errno);
    store->size += n;
    return ROCL_OK;
}

/* Writes all that comes in to the temporary file, which it makes when there is none yet. */
static rocl_status fill_store(rocl_spool *s, rocl_spool_store *store, const char *tmpdir,
                              rocl_error *err)
{
    if (!store->open) {
        store->fd = rocl_temp_file(tmpdir, &store->dir);
        if (store->fd < 0)
            return rocl_fail_temporary(err, store->dir, errno);
        store->open = true;
    }
    size_t n = s->head_len;
    char *piece = malloc(PIECE);
    s->base = store->size;
    /* A small file may unpack to more than the disk has: a quarter of the free space is left to
     * others. */
    struct statvfs v;
    const bool known = fstatvfs(store->fd, &v) == 0 && v.f_blocks;
    const uint64_t share = known ? (uint64_t)v.f_bavail * v.f_frsize / 4 * 3 : UINT64_MAX;
    rocl_status st = piece ? append_bytes(store, s->head, n, err) : rocl_fail_memory(err);
    while (st == ROCL_OK && (st = rocl_unpack_read(s->unpack, piece, PIECE, &n, err)) == ROCL_OK &&
           n) {
        if (store->size - s->base + n > share)
            st = rocl_fail(err, ROCL_OUTPUT,
                           "%s: it takes more than %llu MiB%s, three quarters of what is free in "
                           "%s: name another folder by --tmpdir",
                           s->path, (unsigned long long)(share >> 20),
                           s->compressed ? " when it is unpacked" : "", store->dir);
        else
            st = append_bytes(store, piece, n, err);
    }
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
    if (s->pipe || s->compressed) {
        st = fill_store(s, store, tmpdir, err);
        close(s->fd);
        s->fd = store->open ? store->fd : -1;
        s->temporary = true;
    } else {
        s->size = (uint64_t)s->info.st_size;
    }
    s->filled = true;
    free_input(s);
    return st;
}

rocl_status rocl_spool_to_file(rocl_spool *s, const char *tmpdir, rocl_error *err)
{
    bool plain = !s->pipe && !s->compressed && strcmp(s->path, "-") != 0;
    s->pipe |= !plain; /* a file that is standard input has no name that is known */
    rocl_status st = rocl_spool_fill(s, &s->own, tmpdir, err);
    if (st == ROCL_OK && plain)
        rocl_spool_suspend(s);
    else if (st == ROCL_OK)
        snprintf(s->own_path, sizeof s->own_path, "/proc/self/fd/%d", s->fd);
    return st;
}

const char *rocl_spool_path(const rocl_spool *s)
{
    return *s->own_path ? s->own_path : s->path;
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
    if (n > s->size - at) /* bytes that are appended meanwhile do not count */
        n = (size_t)(s->size - at);
    ssize_t done = rocl_read_at(s->fd, to, n, s->base + at);
    if (done < 0)
        return rocl_fail_system(err, ROCL_INPUT, s->path, errno);
    *got = (size_t)done;
    if (*got < n)
        return rocl_fail_changed(err, s->path);
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
        return rocl_fail_changed(err, s->path);
    return ROCL_OK;
}

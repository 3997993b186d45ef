/* Output that appears whole or not at all: a regular file is written without a name (O_TMPFILE), or
 * under a hidden one where the file system cannot do that, and takes its place at commit. */
#include "base/out.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/destination.h"
#include "base/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pieces of DIRECT bytes or more are written from where they are: copying them costs more than a
 * call. */
enum { BUFFER = 256 << 10, DIRECT = 64 << 10 };

struct rocl_out {
    char *path; /* as the caller calls it: for messages */
    int fd;
    bool keep_open;         /* standard output is not ours to close */
    rocl_destination place; /* where the file is to appear; unused when written in place */
    uint64_t bytes;
    size_t used;
    int broken;      /* errno of the first failed write: the output cannot be completed any more */
    uint8_t *buffer; /* NULL: sealed */
    bool gzip;       /* a member for each buffer */
    bool terminal;   /* it gets '?' for control characters */
    rocl_out_fn *write; /* NULL: there is a file */
    void *ctx;
};

enum { GZIP_LEVEL = 6 };

static rocl_status write_all(rocl_out *o, const uint8_t *p, size_t n, rocl_error *err)
{
    while (n && !o->broken) {
        ssize_t done = write(o->fd, p, n);
        if (done >= 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno == EAGAIN) {
            /* Somebody made standard output non-blocking. */
            struct pollfd writable = {.fd = o->fd, .events = POLLOUT};
            poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            o->broken = errno;
        }
    }
    return o->broken ? rocl_fail_write(err, o->path, o->broken) : ROCL_OK;
}

/* Writes the buffer except an incomplete character at its end. */
static rocl_status show_buffer(rocl_out *o, bool last, rocl_error *err)
{
    char *text = (char *)o->buffer;
    const size_t begun = last ? 0 : rocl_utf8_incomplete(text, o->used), n = o->used - begun;
    char rest[4];
    memcpy(rest, text + n, begun);
    rocl_status st = write_all(o, o->buffer, rocl_hide_controls(text, n, true), err);
    memcpy(text, rest, begun);
    o->used = begun;
    return st;
}

static rocl_status flush_buffer(rocl_out *o, rocl_error *err)
{
    if (o->terminal)
        return show_buffer(o, true, err);
    size_t n = o->used;
    o->used = 0;
    if (!o->gzip || !n)
        return write_all(o, o->buffer, n, err);
    rocl_buf packed = {0};
    rocl_status st = rocl_gzip_member(&packed, o->buffer, n, GZIP_LEVEL, err);
    if (st == ROCL_OK)
        st = write_all(o, packed.data, packed.len, err);
    o->bytes += packed.len;
    rocl_buf_free(&packed);
    return st;
}

rocl_status rocl_out_write(rocl_out *o, const void *p, size_t n, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    const uint8_t *from = p;
    if (o->write) {
        o->bytes += n;
        return o->write(o->ctx, p, n, err);
    }
    /* In pieces of the buffer's size, so that the same text gives the same bytes whatever the
     * calls. */
    while ((o->gzip || o->terminal) && n && !st) {
        size_t piece = n < BUFFER - o->used ? n : BUFFER - o->used;
        memcpy(o->buffer + o->used, from, piece);
        o->used += piece;
        from += piece;
        n -= piece;
        if (o->used == BUFFER)
            st = o->terminal ? show_buffer(o, false, err) : flush_buffer(o, err);
        if (o->terminal)
            o->bytes += piece;
    }
    if (o->gzip || o->terminal)
        return st;
    o->bytes += n;
    if (n >= DIRECT || n > BUFFER - o->used) {
        st = flush_buffer(o, err);
        if (st)
            return st;
        if (n >= DIRECT)
            return write_all(o, p, n, err);
    }
    if (n)
        memcpy(o->buffer + o->used, p, n);
    o->used += n;
    return o->broken ? rocl_fail_write(err, o->path, o->broken) : ROCL_OK;
}

uint64_t rocl_out_bytes(const rocl_out *o)
{
    return o->bytes;
}

rocl_status rocl_out_open(rocl_out **out, const char *path, rocl_error *err)
{
    *out = NULL;
    rocl_out *o = calloc(1, sizeof *o);
    if (!o)
        return rocl_fail_memory(err);
    bool standard = strcmp(path, "-") == 0;
    o->path = strdup(standard ? "standard output" : path);
    o->buffer = malloc(BUFFER);
    o->fd = STDOUT_FILENO;
    o->keep_open = standard;
    o->terminal = standard && isatty(STDOUT_FILENO);
    rocl_status st = ROCL_OK;
    if (!o->path || !o->buffer)
        st = rocl_fail_memory(err);
    else if (!standard)
        st = rocl_destination_open(&o->place, &o->fd, path, err);
    if (st) {
        free(o->buffer);
        free(o->path);
        free(o);
        return st;
    }
    *out = o;
    return ROCL_OK;
}

rocl_status rocl_out_open_as_named(rocl_out **out, const char *path, rocl_error *err)
{
    rocl_status st = rocl_out_open(out, path, err);
    if (st == ROCL_OK)
        (*out)->gzip = rocl_out_is_gz(path);
    return st;
}

rocl_status rocl_out_open_to(rocl_out **out, rocl_out_fn *write, void *ctx, rocl_error *err)
{
    rocl_out *o = *out = calloc(1, sizeof *o);
    if (!o)
        return rocl_fail_memory(err);
    *o = (rocl_out){.fd = -1, .keep_open = true, .place = {.dir = -1}, .write = write, .ctx = ctx};
    return ROCL_OK;
}

/* Fails at once if the disk has too little space, instead of in the middle of a copy, if the file
 * system can tell. */
static bool make_room(rocl_out *o, uint64_t bytes)
{
    struct stat file;
    const bool there = fstat(o->fd, &file) == 0 && (uint64_t)file.st_size == bytes;
    if (there || fallocate(o->fd, 0, 0, (off_t)bytes) == 0)
        return true;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
        return false;
    return ftruncate(o->fd, (off_t)bytes) == 0;
}

rocl_status rocl_out_reserve(rocl_out *o, uint64_t bytes, bool here, char **path, rocl_error *err)
{
    *path = NULL;
    if (!o->place.replaces)
        return rocl_fail(err, ROCL_OUTPUT, "%s: is not a file that several processes can write",
                         o->path);
    if (!make_room(o, bytes)) {
        o->broken = errno;
        return rocl_fail_write(err, o->path, o->broken);
    }
    o->bytes = bytes;
    if (!here)
        return rocl_destination_show(&o->place, o->fd, path, o->path, err);
    *path = rocl_new_text("/proc/%ld/fd/%d", (long)getpid(), o->fd);
    return *path ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status close_file(rocl_out *o, rocl_error *err)
{
    if (o->keep_open)
        return ROCL_OK;
    int fd = o->fd;
    o->keep_open = true;
    o->fd = -1;
    if (close(fd) == 0 || errno == EINTR)
        return ROCL_OK;
    o->broken = errno;
    return rocl_fail_write(err, o->path, o->broken);
}

/* `close` is for the file, and `leave` for its folder. */
static rocl_status seal_file(rocl_out *o, bool close, bool leave, rocl_error *err)
{
    rocl_status st = flush_buffer(o, err);
    if (!st && close)
        st = rocl_destination_suspend(&o->place, o->fd, leave, o->path, err);
    if (!st && close)
        st = close_file(o, err);
    free(o->buffer);
    o->buffer = NULL;
    return st;
}

rocl_status rocl_out_seal(rocl_out *o, bool close, rocl_error *err)
{
    return o->write ? ROCL_OK : seal_file(o, close, close, err);
}

rocl_status rocl_out_commit(rocl_out *o, rocl_error *err)
{
    rocl_status st = flush_buffer(o, err);
    /* Some file systems report a failure only when a file is closed, so close it before it has its
     * name. */
    int twin = st || o->keep_open ? -1 : dup(o->fd);
    if (twin >= 0 && close(twin) != 0 && errno != EINTR) {
        o->broken = errno;
        st = rocl_fail_write(err, o->path, o->broken);
    }
    if (!st)
        st = rocl_destination_resume(&o->place, o->path, err);
    if (!st)
        st = rocl_destination_link(&o->place, o->fd, o->path, err);
    if (!st)
        st = rocl_destination_replace(&o->place, o->path, err);
    rocl_out_discard(o);
    return st;
}

bool rocl_out_same(const rocl_out *a, const rocl_out *b)
{
    const rocl_destination *p = &a->place, *q = &b->place;
    return p->replaces && q->replaces && p->inode == q->inode && p->device == q->device &&
           strcmp(p->name, q->name) == 0;
}

rocl_status rocl_out_commit_all(rocl_out **outs, size_t n, rocl_error *err)
{
    return rocl_out_commit_all_then(outs, n, NULL, NULL, err);
}

rocl_status rocl_out_commit_all_then(rocl_out **outs, size_t n,
                                     rocl_status (*then)(void *ctx, rocl_error *err), void *ctx,
                                     rocl_error *err)
{
    rocl_status st = ROCL_OK;
    size_t named = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i && !st; k++)
            if (rocl_out_same(outs[i], outs[k]))
                st = rocl_fail(err, ROCL_OUTPUT, "%s: two files of the output have this name",
                               outs[i]->path);
    const bool alone = n == 1 && !then; /* without a hidden name, if possible */
    if (alone)
        st = rocl_out_commit(outs[0], err);
    /* Folders of open outputs stay open: these get their names at once. */
    for (size_t i = 0; !alone && i < n && !st; i++)
        st = outs[i]->write ? ROCL_OK : seal_file(outs[i], true, false, err);
    /* A signal that ends the program leaves all of them named, or none. */
    if (!alone)
        rocl_unfinished_hold_folder(n && outs[0]->place.replaces ? outs[0]->place.folder : ".");
    for (; !alone && named < n && !st; named += !st)
        st = rocl_destination_publish(&outs[named]->place, outs[named]->path, err);
    for (size_t i = 0; !alone && i < n && !st; i++) {
        const rocl_destination *own = &outs[i]->place, *before = i ? &outs[i - 1]->place : NULL;
        if (!before || !own->replaces || !before->replaces || strcmp(own->folder, before->folder))
            st = rocl_destination_sync_folder(own, err);
    }
    if (!st && then) /* last: what `then` has named cannot be undone here */
        st = then(ctx, err);
    for (size_t i = named; st && i-- > 0;)
        rocl_destination_revert(&outs[i]->place);
    for (size_t i = 0; i < n; i++) {
        if (!alone)
            rocl_out_discard(outs[i]);
        outs[i] = NULL;
    }
    if (!alone)
        rocl_unfinished_release_folder();
    return st;
}

rocl_status rocl_out_end(rocl_out *o, rocl_status st, rocl_error *err)
{
    if (st == ROCL_OK)
        return rocl_out_commit(o, err);
    rocl_out_discard(o);
    return st;
}

rocl_status rocl_check_output(const char *path, rocl_error *err)
{
    struct stat info;
    return stat(path, &info) == 0 ? rocl_guard_check(&info, err) : ROCL_OK;
}

rocl_status rocl_write_text(const char *path, const char *text, rocl_error *err)
{
    rocl_out *out = NULL;
    const rocl_status st = rocl_out_open_as_named(&out, path, err);
    return st ? st : rocl_out_end(out, rocl_out_write(out, text, strlen(text), err), err);
}

void rocl_out_discard(rocl_out *o)
{
    if (!o)
        return;
    close_file(o, NULL);
    rocl_destination_close(&o->place);
    free(o->buffer);
    free(o->path);
    free(o);
}

/* A log is read once from front to back. Pipes cannot be read a second time, so they are copied
 * while they are read, if that will be needed. */
#include "legacy/rpt/rpt.h"

#include "base/file.h"
#include "base/lines.h"
#include "base/unpack.h"
#include "source/formats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { WINDOW = 256 << 10 };

struct rpt_log {
    const char *name;
    int fd;
    rocl_unpack *unpack;   /* of fd */
    rocl_sort_space *copy; /* of its plain text */
    uint64_t size;         /* read so far */
    uint8_t *window;       /* of the text that was looked at last */
    uint64_t window_at;
    size_t window_size;
};

const char *rpt_log_name(const rpt_log *log)
{
    return log->name;
}

rocl_status rpt_log_open(rpt_log **out, const char *path, bool again, const char *tmpdir,
                         rocl_error *err)
{
    struct stat info;
    bool whole = false;
    rpt_log *log = *out = calloc(1, sizeof *log);
    if (!log)
        return rocl_fail_memory(err);
    log->name = strcmp(path, "-") == 0 ? "standard input" : path;
    rocl_status st = rocl_open_text(path, &log->fd, &info, err);
    if (st == ROCL_OK) {
        whole = S_ISREG(info.st_mode) && lseek(log->fd, 0, SEEK_CUR) == 0;
        if (whole)
            posix_fadvise(log->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        st = rocl_unpack_open(&log->unpack, log->fd, log->name, err);
    }
    if (st == ROCL_OK && again && (!whole || rocl_unpack_is_compressed(log->unpack))) {
        log->copy = rocl_sort_space_new(0, 1, tmpdir);
        st = log->copy ? ROCL_OK : rocl_fail_memory(err);
    }
    if (st != ROCL_OK) {
        rpt_log_close(log);
        *out = NULL;
    }
    return st;
}

void rpt_log_close(rpt_log *log)
{
    if (!log)
        return;
    rocl_unpack_close(log->unpack);
    if (log->fd >= 0)
        close(log->fd);
    rocl_sort_space_free(log->copy);
    free(log->window);
    free(log);
}

/* ---- reading -------------------------------------------------------------------------------- */

rocl_status rpt_log_read(rpt_log *log, rocl_buf *b, size_t n, rocl_error *err)
{
    if (!rocl_buf_reserve(b, n))
        return rocl_fail_memory(err);
    uint8_t *p = b->data + b->len;
    size_t done = 0, got = 1;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && got && done < n) {
        st = rocl_unpack_read(log->unpack, p + done, n - done, &got, err);
        done += st == ROCL_OK ? got : 0;
    }
    uint64_t at;
    b->len += done;
    log->size += done;
    if (st == ROCL_OK && !log->size)
        return rocl_fail_foreign(log->name, "", 0, true, err);
    return log->copy && done && st == ROCL_OK ? rocl_space_spill(log->copy, p, done, &at, err) : st;
}

/* ---- once more ------------------------------------------------------------------------------ */

/* Texts come nearly in the order of the log: a window on it serves many. */
rocl_status rpt_log_text(rpt_log *log, uint64_t at, uint64_t n, rocl_view *text, rocl_error *err)
{
    if (!log->window)
        log->window = malloc(WINDOW);
    if (!log->window)
        return rocl_fail_memory(err);
    if (at < log->window_at || at - log->window_at >= log->window_size) {
        uint64_t left = log->size - at;
        size_t want = left < WINDOW ? (size_t)left : WINDOW;
        log->window_size = 0;
        ssize_t got = (ssize_t)want;
        rocl_status st = ROCL_OK;
        if (log->copy)
            st = rocl_space_read(log->copy, log->window, want, at, err);
        else if ((got = rocl_read_at(log->fd, log->window, want, at)) < (ssize_t)want)
            st = got < 0 ? rocl_fail_system(err, ROCL_INPUT, log->name, errno)
                         : rocl_fail_changed(err, log->name);
        if (st)
            return st;
        log->window_at = at;
        log->window_size = want;
    }
    size_t from = (size_t)(at - log->window_at), have = log->window_size - from;
    *text = (rocl_view){(const char *)log->window + from, n < have ? (size_t)n : have};
    return ROCL_OK;
}

/* A log is read once from front to back. What is no plain file cannot be read a second time, so it
 * is copied as it passes, where somebody will want that. */
#include "legacy/rpt/rpt.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

enum { WINDOW = 256 << 10 };

struct rpt_log {
    const char *name;
    int fd;
    gzFile gz;             /* for all but plain files: it passes on what is not compressed, too */
    rocl_sort_space *copy; /* of its plain text */
    uint64_t size;         /* read so far */
    uint8_t *window;       /* of the text that was looked at last */
    uint64_t window_at;
    size_t window_size;
};

static rocl_status fail_read(const rpt_log *log, const char *why, rocl_error *err)
{
    if (!strcmp(why, strerror(ENOMEM)))
        return rocl_fail_memory(err);
    return rocl_fail(err, ROCL_INPUT, "%s: cannot read: %s", log->name, why);
}

const char *rpt_log_name(const rpt_log *log)
{
    return log->name;
}

static rocl_status open_input(rpt_log *log, const char *path, bool again, const char *tmpdir,
                              rocl_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat st;
    unsigned char magic[2];
    log->name = standard ? "standard input" : path;
    log->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (log->fd < 0)
        return errno == ENOMEM
                   ? rocl_fail_memory(err)
                   : rocl_fail(err, ROCL_INPUT, "%s: cannot open: %s", log->name, strerror(errno));
    bool known = fstat(log->fd, &st) == 0;
    if (known && S_ISREG(st.st_mode) && lseek(log->fd, 0, SEEK_CUR) == 0 &&
        (rocl_read_at(log->fd, magic, sizeof magic, 0) != sizeof magic || magic[0] != 0x1f ||
         magic[1] != 0x8b)) { /* plain text */
        posix_fadvise(log->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        return ROCL_OK;
    }
    if (known && S_ISDIR(st.st_mode)) /* zlib would only say "error" */
        return fail_read(log, strerror(EISDIR), err);
    if (known && rocl_is_endless(log->fd, st.st_mode))
        return fail_read(log, "a device, not a text file", err);
    log->gz = gzdopen(log->fd, "rb");
    if (!log->gz)
        return rocl_fail_memory(err);
    gzbuffer(log->gz, WINDOW);
    log->copy = again ? rocl_sort_space_new(0, 1, tmpdir) : NULL;
    return again && !log->copy ? rocl_fail_memory(err) : ROCL_OK;
}

rocl_status rpt_log_open(rpt_log **log, const char *path, bool again, const char *tmpdir,
                         rocl_error *err)
{
    *log = calloc(1, sizeof **log);
    if (!*log)
        return rocl_fail_memory(err);
    rocl_status st = open_input(*log, path, again, tmpdir, err);
    if (st) {
        rpt_log_close(*log);
        *log = NULL;
    }
    return st;
}

void rpt_log_close(rpt_log *log)
{
    if (!log)
        return;
    if (log->gz)
        gzclose_r(log->gz);
    else if (log->fd >= 0)
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
    ssize_t done;
    if (log->gz) {
        int code = Z_OK;
        done = gzread(log->gz, p, (unsigned)n);
        const char *why = done < (ssize_t)n ? gzerror(log->gz, &code) : "";
        if (done < 0 || (code != Z_OK && code != Z_STREAM_END)) {
            b->len += done > 0 ? (size_t)done : 0;
            return fail_read(log, code == Z_ERRNO ? strerror(errno) : why, err);
        }
    } else {
        do
            done = read(log->fd, p, n);
        while (done < 0 && errno == EINTR);
        if (done < 0)
            return fail_read(log, strerror(errno), err);
    }
    uint64_t at;
    b->len += (size_t)done;
    log->size += (uint64_t)done;
    return log->copy && done ? rocl_space_spill(log->copy, p, (size_t)done, &at, err) : ROCL_OK;
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
            st = fail_read(log, got < 0 ? strerror(errno) : "it became shorter", err);
        if (st)
            return st;
        log->window_at = at;
        log->window_size = want;
    }
    size_t from = (size_t)(at - log->window_at), have = log->window_size - from;
    *text = (rocl_view){(const char *)log->window + from, n < have ? (size_t)n : have};
    return ROCL_OK;
}

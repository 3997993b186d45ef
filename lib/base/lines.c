#include "base/lines.h"

#include "base/error.h"
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

size_t rocl_lines_block = (size_t)256 << 10;

struct rocl_lines {
    char *path;
    gzFile file;             /* passes plain text through */
    const rocl_spool *spool; /* read instead */
    uint64_t at;             /* in it */
    uint64_t size;
    rocl_buf rest; /* the line that the last block broke */
    bool over;
};

static rocl_status fail_read(rocl_lines *l, rocl_error *err)
{
    int code = 0;
    const char *why = gzerror(l->file, &code);
    if (code == Z_MEM_ERROR || (code == Z_ERRNO && errno == ENOMEM))
        return rocl_fail_memory(err);
    if (code == Z_ERRNO)
        return rocl_fail(err, ROCL_INPUT, "%s: cannot read: %s", l->path, strerror(errno));
    if (code == Z_BUF_ERROR)
        return rocl_fail(err, ROCL_INPUT, "%s: gzip: the file is cut off", l->path);
    const char *colon = strstr(why, ": "); /* before it a name that zlib made up */
    return rocl_fail(err, ROCL_INPUT, "%s: gzip: %s", l->path, colon ? colon + 2 : why);
}

static rocl_status open_input(const char *path, int *opened, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    int fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC)
                                    : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        st = rocl_fail_system(err, ROCL_INPUT, path, errno);
    else if (S_ISDIR(info.st_mode))
        st = rocl_fail(err, ROCL_INPUT, "%s: a directory, not a text file", path);
    if (st != ROCL_OK && fd >= 0)
        close(fd);
    *opened = fd;
    return st;
}

rocl_status rocl_lines_open(rocl_lines **lines, const char *path, rocl_error *err)
{
    rocl_lines *l = calloc(1, sizeof *l);
    int fd = -1;
    struct stat info;
    if (!l)
        return rocl_fail_memory(err);
    rocl_status st = open_input(path, &fd, err);
    if (st != ROCL_OK) {
        free(l);
        return st;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        l->size = (uint64_t)info.st_size;
    l->path = strdup(path);
    l->file = l->path ? gzdopen(fd, "rb") : NULL;
    if (!l->file) {
        close(fd);
        rocl_lines_close(l);
        return rocl_fail_memory(err);
    }
    gzbuffer(l->file, 128 << 10);
    *lines = l;
    return ROCL_OK;
}

rocl_status rocl_lines_open_spool(rocl_lines **lines, const rocl_spool *spool, rocl_error *err)
{
    rocl_lines *l = calloc(1, sizeof *l);
    if (!l)
        return rocl_fail_memory(err);
    l->spool = spool;
    l->size = rocl_spool_size(spool);
    *lines = l;
    return ROCL_OK;
}

void rocl_lines_close(rocl_lines *l)
{
    if (!l)
        return;
    if (l->file)
        gzclose(l->file);
    rocl_buf_free(&l->rest);
    free(l->path);
    free(l);
}

/* Behind the last line end of what was added from `from` on; 0 without one. A final CR may be half
 * a CRLF, and is left to wait for the rest of it. */
static size_t last_line_end(const rocl_buf *b, size_t from)
{
    const uint8_t *lf = memrchr(b->data + from, '\n', b->len - from);
    if (lf)
        return (size_t)(lf - b->data) + 1;
    if (b->len - from < 2)
        return 0;
    const uint8_t *cr = memrchr(b->data + from, '\r', b->len - from - 1);
    return cr ? (size_t)(cr - b->data) + 1 : 0;
}

static rocl_status fill_from_spool(rocl_lines *l, rocl_buf *b, size_t *got, rocl_error *err)
{
    rocl_status st = rocl_spool_read(l->spool, b->data + b->len, rocl_lines_block, l->at, got, err);
    if (st != ROCL_OK)
        return st;
    l->at += *got;
    b->len += *got;
    return ROCL_OK;
}

/* Reads once; *got 0 at the end. */
static rocl_status fill(rocl_lines *l, rocl_buf *b, size_t *got, rocl_error *err)
{
    if (!rocl_buf_reserve(b, rocl_lines_block))
        return rocl_fail_memory(err);
    if (l->spool)
        return fill_from_spool(l, b, got, err);
    int n = gzread(l->file, b->data + b->len, (unsigned)rocl_lines_block);
    int code = Z_OK;
    if (n == 0)
        gzerror(l->file, &code);
    /* At a cut-off end zlib says how much there was, and only then what is wrong. */
    if (n < 0 || (code != Z_OK && code != Z_STREAM_END))
        return fail_read(l, err);
    *got = (size_t)n;
    b->len += *got;
    return ROCL_OK;
}

rocl_status rocl_lines_next(rocl_lines *l, rocl_buf *b, uint64_t *read, rocl_error *err)
{
    size_t begin = b->len, cut = 0, got = 0;
    rocl_status st = ROCL_OK;
    rocl_buf_put(b, l->rest.data, l->rest.len);
    l->rest.len = 0;
    while (!l->over && !cut && b->len - begin < ROCL_LINE_MAX && st == ROCL_OK) {
        size_t from = b->len > begin ? b->len - 1 : begin; /* a CR may have been left there */
        st = fill(l, b, &got, err);
        l->over = !got;
        cut = last_line_end(b, from);
    }
    if (st == ROCL_OK && cut && cut < b->len) {
        rocl_buf_put(&l->rest, b->data + cut, b->len - cut);
        b->len = cut;
    }
    z_off_t at = l->spool ? (z_off_t)l->at : gzoffset(l->file);
    *read = at > 0 ? (uint64_t)at : 0;
    if (st == ROCL_OK && (b->failed || l->rest.failed))
        st = rocl_fail_memory(err);
    return st;
}

uint64_t rocl_lines_size(const rocl_lines *l)
{
    return l->size;
}

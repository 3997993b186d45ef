/* Text in blocks of whole lines. */
#include "base/lines.h"

#include "base/error.h"
#include "base/spool.h"
#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

size_t rocl_lines_block = (size_t)256 << 10;

struct rocl_lines {
    char *path;
    int fd;
    rocl_unpack *unpack;     /* of fd */
    const rocl_spool *spool; /* read instead of fd; NULL: none */
    uint64_t at;             /* bytes of the file or spool that were read */
    uint64_t size;
    rocl_buf rest; /* the line that the last block cut */
    bool over;
};

/* Is it a device that never ends, such as /dev/zero? Terminals are ended by their users, and
 * /dev/null ends at once. */
static bool is_endless(int fd, mode_t mode)
{
    struct stat null, info;
    if (S_ISBLK(mode))
        return true;
    return S_ISCHR(mode) && !isatty(fd) &&
           !(stat("/dev/null", &null) == 0 && fstat(fd, &info) == 0 &&
             null.st_rdev == info.st_rdev);
}

rocl_status rocl_open_text(const char *path, int *fd, struct stat *info, rocl_error *err)
{
    *fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC)
                                 : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    rocl_status st = ROCL_OK;
    if (*fd < 0 || fstat(*fd, info) != 0)
        st = rocl_fail_system(err, ROCL_INPUT, path, errno);
    else if (S_ISDIR(info->st_mode))
        st = rocl_fail_system(err, ROCL_INPUT, path, EISDIR);
    else if (is_endless(*fd, info->st_mode))
        st = rocl_fail(err, ROCL_INPUT, "%s: a device, not a file", path);
    if (st != ROCL_OK && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return st;
}

rocl_status rocl_lines_open(rocl_lines **lines, const char *path, rocl_error *err)
{
    rocl_lines *l = calloc(1, sizeof *l);
    struct stat info;
    if (!l || !(l->path = strdup(path))) {
        free(l);
        return rocl_fail_memory(err);
    }
    rocl_status st = rocl_open_text(path, &l->fd, &info, err);
    if (st == ROCL_OK)
        st = rocl_unpack_open(&l->unpack, l->fd, l->path, err);
    if (st == ROCL_OK && S_ISREG(info.st_mode))
        l->size = (uint64_t)info.st_size;
    if (st == ROCL_OK)
        *lines = l;
    else
        rocl_lines_close(l);
    return st;
}

rocl_status rocl_lines_open_spool(rocl_lines **lines, const rocl_spool *spool, rocl_error *err)
{
    rocl_lines *l = calloc(1, sizeof *l);
    if (!l)
        return rocl_fail_memory(err);
    l->fd = -1;
    l->spool = spool;
    l->size = rocl_spool_size(spool);
    *lines = l;
    return ROCL_OK;
}

void rocl_lines_close(rocl_lines *l)
{
    if (!l)
        return;
    rocl_unpack_close(l->unpack);
    if (l->fd >= 0)
        close(l->fd);
    rocl_buf_free(&l->rest);
    free(l->path);
    free(l);
}

/* The place after the last line end added from `from` on; 0: none. A final CR may be half of a
 * CRLF, and waits for the rest. */
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

rocl_status rocl_lines_next(rocl_lines *l, rocl_buf *b, uint64_t *read, rocl_error *err)
{
    size_t begin = b->len, cut = 0, got = 0;
    rocl_status st = ROCL_OK;
    rocl_buf_put(b, l->rest.data, l->rest.len);
    l->rest.len = 0;
    while (!l->over && !cut && b->len - begin < ROCL_LINE_MAX && st == ROCL_OK) {
        size_t from = b->len > begin ? b->len - 1 : begin; /* a CR may be waiting there */
        if (!rocl_buf_reserve(b, rocl_lines_block)) {
            st = rocl_fail_memory(err);
            break;
        }
        uint8_t *to = b->data + b->len;
        st = l->spool ? rocl_spool_read(l->spool, to, rocl_lines_block, l->at, &got, err)
                      : rocl_unpack_read(l->unpack, to, rocl_lines_block, &got, err);
        if (st != ROCL_OK)
            break;
        l->at = l->spool ? l->at + got : rocl_unpack_used(l->unpack);
        b->len += got;
        l->over = !got;
        cut = last_line_end(b, from);
    }
    if (st == ROCL_OK && cut && cut < b->len) {
        rocl_buf_put(&l->rest, b->data + cut, b->len - cut);
        b->len = cut;
    }
    *read = l->at;
    if (st == ROCL_OK && (b->failed || l->rest.failed))
        st = rocl_fail_memory(err);
    return st;
}

uint64_t rocl_lines_size(const rocl_lines *l)
{
    return l->size;
}

/* Bytes of a file or pipe, decompressed by zlib (or ISA-L, which is three times as fast) or
 * libzstd. */
#include "base/unpack.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/without.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef ROCL_ISAL
#include <isa-l/igzip_lib.h>
#else
#define ZLIB_CONST
#include <zlib.h>
#endif
#ifdef ROCL_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

/* The first piece, which tells the format, is small: most inputs are not compressed. */
enum { BLOCK = 256 << 10, FIRST = 4 << 10, MAGIC_SIZE = 4 };

typedef enum codec { PLAIN, GZIP, ZSTD } codec;

struct rocl_unpack {
    const char *name;
    int fd;
    codec codec;
    uint8_t *raw; /* BLOCK bytes as read; those in [at, len) are not used yet */
    size_t at, len;
    uint64_t read; /* from the file */
    bool ended;    /* nothing more comes in */
    bool between;  /* a compressed piece has ended and no other has begun: the file may end */
    union {
#ifdef ROCL_ISAL
        struct inflate_state *gzip;
#else
        z_stream gzip;
#endif
#ifdef ROCL_ZSTD
        ZSTD_DStream *zstd;
#endif
    } state;
};

static const char trailing[] = "something else follows the compressed data";

/* ---- gzip and zstd ------------------------------------------------------------------------- */

/* decode_gzip() and decode_zstd() use some of raw[at, len), write up to n bytes and set u->between;
 * on damage they return ROCL_INPUT and the reason in *why. */

#ifdef ROCL_ISAL

static bool open_gzip(rocl_unpack *u)
{
    u->state.gzip = malloc(sizeof *u->state.gzip);
    if (!u->state.gzip)
        return false;
    isal_inflate_init(u->state.gzip);
    u->state.gzip->crc_flag = ISAL_GZIP; /* header and checksum as well */
    return true;
}

static void close_gzip(rocl_unpack *u)
{
    free(u->state.gzip);
}

static void begin_member(rocl_unpack *u)
{
    isal_inflate_reset(u->state.gzip);
    u->state.gzip->crc_flag = ISAL_GZIP;
}

static rocl_status inflate_some(rocl_unpack *u, uint8_t *to, size_t n, size_t *made,
                                const char **why)
{
    struct inflate_state *z = u->state.gzip;
    z->next_in = u->raw + u->at;
    z->avail_in = (uint32_t)(u->len - u->at);
    z->next_out = to;
    z->avail_out = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    const int rc = isal_inflate(z);
    u->at = u->len - z->avail_in;
    u->between = rc == ISAL_DECOMP_OK && z->block_state == ISAL_BLOCK_FINISH;
    *made = (size_t)(z->next_out - to);
    if (rc >= ISAL_DECOMP_OK)
        return ROCL_OK;
    *why = rc == ISAL_INCORRECT_CHECKSUM ? "incorrect data check"
           : rc == ISAL_INVALID_WRAPPER  ? "incorrect header check"
                                         : "damaged";
    return ROCL_INPUT;
}

#else

static bool open_gzip(rocl_unpack *u)
{
    return inflateInit2(&u->state.gzip, 15 + 16) == Z_OK;
}

static void close_gzip(rocl_unpack *u)
{
    inflateEnd(&u->state.gzip);
}

static void begin_member(rocl_unpack *u)
{
    inflateReset(&u->state.gzip);
}

static rocl_status inflate_some(rocl_unpack *u, uint8_t *to, size_t n, size_t *made,
                                const char **why)
{
    z_stream *z = &u->state.gzip;
    z->next_in = u->raw + u->at;
    z->avail_in = (uInt)(u->len - u->at);
    z->next_out = to;
    z->avail_out = (uInt)n;
    int rc = inflate(z, Z_NO_FLUSH);
    u->at = u->len - z->avail_in;
    u->between = rc == Z_STREAM_END;
    *made = n - z->avail_out;
    if (rc == Z_MEM_ERROR)
        return ROCL_INTERNAL;
    if (rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR)
        return ROCL_OK;
    *why = z->msg ? z->msg : "damaged";
    return ROCL_INPUT;
}

#endif

static rocl_status decode_gzip(rocl_unpack *u, uint8_t *to, size_t n, size_t *made,
                               const char **why)
{
    if (u->between) { /* padding of zeros, or the next member */
        while (u->at < u->len && !u->raw[u->at])
            u->at++;
        if (u->at == u->len)
            return ROCL_OK;
        if (u->raw[u->at] != 0x1f) {
            *why = trailing;
            return ROCL_INPUT;
        }
        begin_member(u);
    }
    return inflate_some(u, to, n, made, why);
}

#ifdef ROCL_ZSTD

static rocl_status decode_zstd(rocl_unpack *u, uint8_t *to, size_t n, size_t *made,
                               const char **why)
{
    ZSTD_inBuffer in = {u->raw + u->at, u->len - u->at, 0};
    ZSTD_outBuffer out = {to, n, 0};
    if (u->between && !in.size)
        return ROCL_OK;
    size_t rc = ZSTD_decompressStream(u->state.zstd, &out, &in);
    bool first = u->between;
    u->at += in.pos;
    u->between = rc == 0;
    *made = out.pos;
    if (!ZSTD_isError(rc))
        return ROCL_OK;
    if (ZSTD_getErrorCode(rc) == ZSTD_error_memory_allocation)
        return ROCL_INTERNAL;
    *why = first && ZSTD_getErrorCode(rc) == ZSTD_error_prefix_unknown ? trailing
                                                                       : ZSTD_getErrorName(rc);
    return ROCL_INPUT;
}

const char *rocl_unpack_zstd(void)
{
    return "zstd " ZSTD_VERSION_STRING;
}

rocl_status rocl_zstd_unpack(rocl_buf *to, const void *p, size_t n, size_t most)
{
    const size_t before = to->len, step = ZSTD_DStreamOutSize();
    ZSTD_DStream *z = ZSTD_createDStream();
    ZSTD_inBuffer in = {p, n, 0};
    size_t rc = 1, made = 1;
    while (z && !ZSTD_isError(rc) && (in.pos < n || (rc && made)) && to->len - before <= most &&
           rocl_buf_reserve(to, step)) {
        ZSTD_outBuffer out = {to->data + to->len, step, 0};
        rc = ZSTD_decompressStream(z, &out, &in);
        made = out.pos;
        to->len += made;
    }
    const bool whole = rc == 0 && to->len - before <= most;
    const bool memory = !z || to->failed;
    ZSTD_freeDStream(z);
    if (!whole || memory)
        to->len = before;
    return memory ? ROCL_INTERNAL : whole ? ROCL_OK : ROCL_INPUT;
}

#else

const char *rocl_unpack_zstd(void)
{
    return "";
}

rocl_status rocl_zstd_unpack(rocl_buf *to, const void *p, size_t n, size_t most)
{
    (void)to, (void)p, (void)n, (void)most;
    return ROCL_INPUT;
}

#endif

/* ---- the bytes ------------------------------------------------------------------------------- */

static rocl_status read_some(rocl_unpack *u, void *to, size_t n, size_t *got, rocl_error *err)
{
    ssize_t done;
    *got = 0;
    if (u->ended)
        return ROCL_OK;
    do
        done = read(u->fd, to, n);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return rocl_fail_system(err, ROCL_INPUT, u->name, errno);
    *got = (size_t)done;
    u->read += *got;
    u->ended = done == 0;
    return ROCL_OK;
}

rocl_status rocl_unpack_open(rocl_unpack **out, int fd, const char *name, rocl_error *err)
{
    rocl_unpack *u = calloc(1, sizeof *u);
    size_t got = 1;
    if (!u || !(u->raw = malloc(BLOCK))) {
        free(u);
        return rocl_fail_memory(err);
    }
    u->fd = fd;
    u->name = name;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && got && u->len < MAGIC_SIZE) {
        st = read_some(u, u->raw + u->len, FIRST - u->len, &got, err);
        u->len += got;
    }
    /* zstd: a frame, or a skippable frame, with which some writers begin. */
    const uint8_t *magic = u->raw;
    bool whole = st == ROCL_OK && u->len >= MAGIC_SIZE;
    bool gzip = whole && !memcmp(magic, "\x1f\x8b\x08", 3);
    bool zstd = whole && (!memcmp(magic, "\x28\xb5\x2f\xfd", 4) ||
                          ((magic[0] & 0xf0) == 0x50 && !memcmp(magic + 1, "\x2a\x4d\x18", 3)));
    if (gzip) {
        if (open_gzip(u))
            u->codec = GZIP;
        else
            st = rocl_fail_memory(err);
    } else if (zstd) {
#ifdef ROCL_ZSTD
        u->state.zstd = ZSTD_createDStream();
        if (u->state.zstd)
            u->codec = ZSTD;
        else
            st = rocl_fail_memory(err);
#else
        st = rocl_fail(err, ROCL_INPUT,
                       "%s: is compressed with zstd, and " ROCL_BUILT_WITHOUT(
                           "libzstd") ": unpack it with `zstd -d`",
                       name);
#endif
    }
    if (st == ROCL_OK)
        *out = u;
    else
        rocl_unpack_close(u);
    return st;
}

void rocl_unpack_close(rocl_unpack *u)
{
    if (!u)
        return;
    if (u->codec == GZIP)
        close_gzip(u);
#ifdef ROCL_ZSTD
    if (u->codec == ZSTD)
        ZSTD_freeDStream(u->state.zstd);
#endif
    free(u->raw);
    free(u);
}

bool rocl_unpack_is_compressed(const rocl_unpack *u)
{
    return u->codec != PLAIN;
}

uint64_t rocl_unpack_used(const rocl_unpack *u)
{
    return u->read - (u->len - u->at);
}

/* At the end of the file the decompressor may still hold bytes back: the file is cut off if it
 * yields no more bytes and is within a piece. */
rocl_status rocl_unpack_read(rocl_unpack *u, void *to, size_t n, size_t *got, rocl_error *err)
{
    *got = 0;
    if (u->codec == PLAIN) {
        const size_t left = u->len - u->at;
        if (!left)
            return read_some(u, to, n, got, err);
        *got = n < left ? n : left;
        memcpy(to, u->raw + u->at, *got);
        u->at += *got;
        return ROCL_OK;
    }
    while (!*got) {
        const char *why = NULL;
        if (u->at == u->len && !u->ended) {
            u->at = u->len = 0;
            rocl_status st = read_some(u, u->raw, BLOCK, &u->len, err);
            if (st != ROCL_OK)
                return st;
        }
        const size_t before = u->at;
#ifdef ROCL_ZSTD
        rocl_status st =
            u->codec == ZSTD ? decode_zstd(u, to, n, got, &why) : decode_gzip(u, to, n, got, &why);
#else
        rocl_status st = decode_gzip(u, to, n, got, &why);
#endif
        if (st == ROCL_INTERNAL)
            return rocl_fail_memory(err);
        if (st == ROCL_OK && !*got && u->at == before && u->ended) {
            if (u->between)
                return ROCL_OK;
            why = "the file is truncated";
        }
        if (why)
            return rocl_fail(err, ROCL_INPUT, "%s: %s: %s", u->name,
                             u->codec == GZIP ? "gzip" : "zstd", why);
    }
    return ROCL_OK;
}

rocl_status rocl_unpack_file(const char *path, size_t most, char **text, size_t *n, rocl_error *err)
{
    rocl_unpack *u = NULL;
    rocl_buf b = {0};
    size_t got = 1;
    *text = NULL;
    *n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rocl_fail_system(err, ROCL_INPUT, path, errno);
    rocl_status st = rocl_unpack_open(&u, fd, path, err);
    while (st == ROCL_OK && got) {
        if (b.len > most)
            st = rocl_fail(err, ROCL_INPUT, "%s: larger than %zu MiB", path, most >> 20);
        else if (!rocl_buf_reserve(&b, 1 << 16))
            st = rocl_fail_memory(err);
        else
            st = rocl_unpack_read(u, b.data + b.len, 1 << 16, &got, err);
        b.len += st == ROCL_OK ? got : 0;
    }
    rocl_unpack_close(u);
    close(fd);
    if (st != ROCL_OK) {
        rocl_buf_free(&b);
        return st;
    }
    *text = (char *)b.data;
    *n = b.len;
    return ROCL_OK;
}

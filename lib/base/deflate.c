/* Deflate streams by the engine that was built in, and the few bytes before and after one that make
 * it a gzip member or a zlib stream. */
#include "base/deflate.h"
#include "base/error.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#ifdef ROCL_LIBDEFLATE
#include <libdeflate.h>
#endif
#define ZLIB_CONST
#include <zlib.h>

/* ---- the engines: each appends p[0..n) as one complete raw deflate stream (RFC 1951) ----------
 */

#ifdef ROCL_LIBDEFLATE

#define ENGINE "libdeflate " LIBDEFLATE_VERSION_STRING
typedef struct libdeflate_compressor engine;

static engine *new_engine(int level)
{
    return libdeflate_alloc_compressor(level);
}

static void free_engine(engine *e)
{
    libdeflate_free_compressor(e);
}

static rocl_status run_engine(engine *e, rocl_buf *to, const uint8_t *p, size_t n, rocl_error *err)
{
    if (!rocl_buf_reserve(to, libdeflate_deflate_compress_bound(e, n)))
        return rocl_fail_memory(err);
    size_t done = libdeflate_deflate_compress(e, p, n, to->data + to->len, to->cap - to->len);
    to->len += done;
    return done ? ROCL_OK : rocl_fail(err, ROCL_INTERNAL, "deflate failed");
}

#else /* zlib */

#define ENGINE "zlib " ZLIB_VERSION
typedef z_stream engine;

static engine *new_engine(int level)
{
    engine *z = calloc(1, sizeof *z);
    if (z && deflateInit2(z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return z;
    free(z);
    return NULL;
}

static void free_engine(engine *z)
{
    if (z)
        deflateEnd(z);
    free(z);
}

static rocl_status run_engine(engine *z, rocl_buf *to, const uint8_t *p, size_t n, rocl_error *err)
{
    const size_t most = 1u << 30; /* that zlib is given at once */
    int rc = deflateReset(z);
    while (rc != Z_STREAM_END) {
        /* 16 bytes more than the bound: the trailer fits, too */
        if (!rocl_buf_reserve(to, deflateBound(z, n) + 16))
            return rocl_fail_memory(err);
        const size_t space = to->cap - to->len;
        const uInt in = (uInt)(n < most ? n : most), out = (uInt)(space < most ? space : most);
        z->next_in = p;
        z->avail_in = in;
        z->next_out = to->data + to->len;
        z->avail_out = out;
        rc = deflate(z, in == n ? Z_FINISH : Z_NO_FLUSH);
        if (rc == Z_STREAM_ERROR)
            return rocl_fail(err, ROCL_INTERNAL, "deflate failed");
        p += in - z->avail_in;
        n -= in - z->avail_in;
        to->len += out - z->avail_out;
    }
    return ROCL_OK;
}

#endif

rocl_status rocl_zlib_unpack(rocl_buf *to, const void *p, size_t n, size_t most)
{
    rocl_status st = ROCL_INPUT;
    size_t space = n < most / 4 ? 4 * n + 1024 : most; /* what is there is not known before */
#ifdef ROCL_LIBDEFLATE
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    enum libdeflate_result rc = LIBDEFLATE_INSUFFICIENT_SPACE;
    while (d && rc == LIBDEFLATE_INSUFFICIENT_SPACE) {
        size_t done;
        space = space < most ? space : most;
        if (!rocl_buf_reserve(to, space))
            break;
        rc = libdeflate_zlib_decompress(d, p, n, to->data + to->len, space, &done);
        if (rc == LIBDEFLATE_SUCCESS)
            to->len += done;
        if (space == most)
            break;
        space *= 4;
    }
    st = !d || to->failed ? ROCL_INTERNAL : rc == LIBDEFLATE_SUCCESS ? ROCL_OK : ROCL_INPUT;
    libdeflate_free_decompressor(d);
#else
    z_stream z = {.next_in = p, .avail_in = (uInt)n};
    const size_t before = to->len;
    int rc = n <= UINT32_MAX ? inflateInit(&z) : Z_DATA_ERROR;
    if (rc != Z_OK)
        return rc == Z_MEM_ERROR ? ROCL_INTERNAL : ROCL_INPUT;
    while (rc == Z_OK && to->len - before < most && rocl_buf_reserve(to, space)) {
        z.next_out = to->data + to->len;
        z.avail_out = (uInt)space;
        rc = inflate(&z, Z_NO_FLUSH);
        to->len += space - z.avail_out;
    }
    st = rc == Z_MEM_ERROR || to->failed                  ? ROCL_INTERNAL
         : rc == Z_STREAM_END && to->len - before <= most ? ROCL_OK
                                                          : ROCL_INPUT;
    if (st != ROCL_OK)
        to->len = before;
    inflateEnd(&z);
#endif
    return st;
}

const char *rocl_deflate_engine(void)
{
    return ENGINE;
}

/* ---- the engine of this thread -----------------------------------------------------------------
 */

/* To set an engine up costs about as much as to compress some ten KiB, so it is kept. It is freed
 * when the thread ends: the key is there for its destructor alone. */
static _Thread_local struct {
    engine *engine;
    int level;
} cached;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

static void free_cached(void *p)
{
    free_engine(p);
    cached.engine = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, free_cached) == 0;
}

static rocl_status deflate_bytes(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    pthread_once(&key_once, make_key);
    if (!have_key)
        return rocl_fail_memory(err);
    if (!cached.engine || cached.level != level) {
        free_cached(cached.engine);
        cached.engine = new_engine(level);
        cached.level = level;
        if (pthread_setspecific(key, cached.engine) != 0)
            free_cached(cached.engine);
    }
    /* Nothing may be added to NULL, not even 0. */
    return cached.engine ? run_engine(cached.engine, to, n ? p : "", n, err)
                         : rocl_fail_memory(err);
}

/* ---- gzip and zlib ------------------------------------------------------------------------- */

rocl_status rocl_gzip_member(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    /* extra flags: 2 the best, 4 the fastest; operating system: Unix */
    const uint8_t head[10] = {0x1f, 0x8b, 8, [8] = level == 9 ? 2 : level == 1 ? 4 : 0, [9] = 3};
    rocl_buf_put(to, head, sizeof head);
    rocl_status st = deflate_bytes(to, p, n, level, err);
    const uint32_t foot[2] = {htole32((uint32_t)crc32_z(0, p, n)), htole32((uint32_t)n)};
    rocl_buf_put(to, foot, sizeof foot);
    return !st && to->failed ? rocl_fail_memory(err) : st;
}

rocl_status rocl_zlib_stream(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    /* 32 KiB window; the level as zlib itself notes it down */
    static const uint8_t flags[10] = {1, 1, 0x5e, 0x5e, 0x5e, 0x5e, 0x9c, 0xda, 0xda, 0xda};
    rocl_buf_byte(to, 0x78);
    rocl_buf_byte(to, level >= 0 && level <= 9 ? flags[level] : 0x9c);
    rocl_status st = deflate_bytes(to, p, n, level, err);
    const uint32_t sum = htobe32((uint32_t)adler32_z(1, p, n));
    rocl_buf_put(to, &sum, sizeof sum);
    return !st && to->failed ? rocl_fail_memory(err) : st;
}

rocl_status rocl_check_level(int level, rocl_error *err)
{
    if (level >= ROCL_UNCOMPRESSED && level <= 9)
        return ROCL_OK;
    return rocl_fail(err, ROCL_USAGE, "compression level %d: 1 to 9", level);
}

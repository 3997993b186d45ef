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

/* For each engine deflate_bytes() appends p[0..n) as one complete raw deflate stream (RFC 1951),
 * level 1..9. Its state is kept per thread: to set one up costs about as much as to compress some
 * ten KiB. It is freed when the thread ends: the key is there for its destructor alone. */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

#ifdef ROCL_LIBDEFLATE

typedef struct libdeflate_compressor compressor;

static _Thread_local struct {
    compressor *compressor;
    int level;
} cached;

static void free_state(void *p)
{
    libdeflate_free_compressor(p);
    cached.compressor = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, free_state) == 0;
}

static rocl_status deflate_bytes(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    compressor *c = cached.compressor;
    pthread_once(&key_once, make_key);
    if (!c || cached.level != level) {
        libdeflate_free_compressor(c);
        c = cached.compressor = have_key ? libdeflate_alloc_compressor(level) : NULL;
        cached.level = level;
        if (pthread_setspecific(key, c) != 0) {
            free_state(c);
            c = NULL;
        }
    }
    if (!c || !rocl_buf_reserve(to, libdeflate_deflate_compress_bound(c, n)))
        return rocl_fail_memory(err);
    size_t done =
        libdeflate_deflate_compress(c, n ? p : "", n, to->data + to->len, to->cap - to->len);
    if (!done)
        return rocl_fail(err, ROCL_INTERNAL, "deflate failed");
    to->len += done;
    return ROCL_OK;
}

const char *rocl_deflate_engine(void)
{
    return "libdeflate " LIBDEFLATE_VERSION_STRING;
}

#else /* zlib */

typedef struct deflater {
    z_stream z;
    int level;
} deflater;

static _Thread_local deflater *cached;

static void free_state(void *p)
{
    deflater *d = p;
    deflateEnd(&d->z);
    free(d);
    cached = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, free_state) == 0;
}

/* This thread's deflate state, as good as new. NULL when memory is out. */
static z_stream *open_deflate(int level)
{
    deflater *d = cached;
    if (d && d->level == level) {
        deflateReset(&d->z);
        return &d->z;
    }
    if (d) {
        pthread_setspecific(key, NULL);
        free_state(d);
    }
    pthread_once(&key_once, make_key);
    d = have_key ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return NULL;
    d->level = level;
    if (deflateInit2(&d->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(d);
        return NULL;
    }
    if (pthread_setspecific(key, d)) {
        free_state(d);
        return NULL;
    }
    cached = d;
    return &d->z;
}

static rocl_status deflate_bytes(rocl_buf *to, const void *bytes, size_t n, int level,
                                 rocl_error *err)
{
    const uint8_t *p = n ? bytes : (const void *)""; /* nothing may be added to NULL, not even 0 */
    const size_t most = 1u << 30;                    /* that zlib is given at once */
    z_stream *z = open_deflate(level);
    if (!z)
        return rocl_fail_memory(err);
    int rc = Z_OK;
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

const char *rocl_deflate_engine(void)
{
    return "zlib " ZLIB_VERSION;
}

#endif

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

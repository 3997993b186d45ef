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
#ifdef ROCL_ISAL
#include <isa-l.h>
#define WITH_ISAL                                                                                  \
    ", ISA-L " DIGITS(ISAL_MAJOR_VERSION) "." DIGITS(ISAL_MINOR_VERSION) "." DIGITS(               \
        ISAL_PATCH_VERSION)
#define DIGITS(n)  DIGITS_(n)
#define DIGITS_(n) #n
#else
#define WITH_ISAL ""
#endif
#define ZLIB_CONST
#include <zlib.h>

/* ---- the engines: each appends p[0..n) as one complete raw deflate stream (RFC 1951) --------- */

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

/* Checksums that use what the processor has; the result is the same. */
static uint32_t sum_crc32(const void *p, size_t n)
{
    return libdeflate_crc32(0, p, n);
}

static uint32_t sum_adler32(const void *p, size_t n)
{
    return libdeflate_adler32(1, p, n);
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
    const size_t most = 1u << 30; /* bytes given to zlib at once */
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

static uint32_t sum_crc32(const void *p, size_t n)
{
    return (uint32_t)crc32_z(0, p, n);
}

static uint32_t sum_adler32(const void *p, size_t n)
{
    return (uint32_t)adler32_z(1, p, n);
}

#endif

rocl_status rocl_zlib_unpack(rocl_buf *to, const void *p, size_t n, size_t most)
{
    rocl_status st = ROCL_INPUT;
    size_t space = n < most / 4 ? 4 * n + 1024 : most; /* the result's size is not known */
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
    return ENGINE WITH_ISAL;
}

/* ---- the fastest engine ---------------------------------------------------------------------- */

#ifdef ROCL_ISAL

/* Levels 0 and 1 are no faster. The smaller buffers make smaller blocks with codes of their own. */
enum { ISAL_LEVEL = 2, ISAL_SPACE = ISAL_DEF_LVL2_SMALL };

typedef struct fast_engine {
    struct isal_zstream stream;
    uint8_t space[ISAL_SPACE];
} fast_engine;

/* False: it failed, and nothing was appended. */
static bool run_fast(fast_engine *e, rocl_buf *to, const uint8_t *p, size_t n)
{
    const size_t most = n + n / 8 + 1024;
    struct isal_zstream *z = &e->stream;
    if (n > 1u << 30 || !rocl_buf_reserve(to, most))
        return false;
    isal_deflate_stateless_init(z);
    z->hist_bits = 0; /* matches from any distance: the line before does not reset this */
    z->level = ISAL_LEVEL;
    z->level_buf = e->space;
    z->level_buf_size = ISAL_SPACE;
    z->end_of_stream = 1;
    z->next_in = (uint8_t *)(uintptr_t)p; /* it is only read */
    z->avail_in = (uint32_t)n;
    z->next_out = to->data + to->len;
    z->avail_out = (uint32_t)most;
    if (isal_deflate_stateless(z) != COMP_OK || z->avail_in)
        return false;
    to->len += z->total_out;
    return true;
}

#else

typedef struct fast_engine {
    int unused;
} fast_engine;

static bool run_fast(fast_engine *e, rocl_buf *to, const uint8_t *p, size_t n)
{
    (void)e, (void)to, (void)p, (void)n;
    return false;
}

#endif

/* ---- the engine of this thread --------------------------------------------------------------- */

/* Setting up an engine costs about as much as compressing some ten KiB, so it is kept. It is freed
 * when the thread ends: the key exists only for its destructor. */
static _Thread_local struct {
    engine *engine;
    int level;
    fast_engine *fast;
} cached;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

static void free_cached(void *unused)
{
    (void)unused;
    free_engine(cached.engine);
    free(cached.fast);
    cached.engine = NULL;
    cached.fast = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, free_cached) == 0;
}

static rocl_status deflate_bytes(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    const void *bytes = n ? p : ""; /* NULL + 0 is undefined */
    pthread_once(&key_once, make_key);
    if (!have_key || pthread_setspecific(key, &cached) != 0)
        return rocl_fail_memory(err);
    if (level == ROCL_FASTEST) {
        if (!cached.fast)
            cached.fast = calloc(1, sizeof *cached.fast); /* not all of it is set by run_fast */
        if (cached.fast && run_fast(cached.fast, to, bytes, n))
            return ROCL_OK;
        level = 1;
    }
    if (!cached.engine || cached.level != level) {
        free_engine(cached.engine);
        cached.engine = new_engine(level);
        cached.level = level;
    }
    return cached.engine ? run_engine(cached.engine, to, bytes, n, err) : rocl_fail_memory(err);
}

/* ---- gzip and zlib ------------------------------------------------------------------------- */

rocl_status rocl_gzip_member(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    /* extra flags: 2 the best, 4 the fastest; operating system: Unix */
    const uint8_t head[10] = {0x1f, 0x8b, 8,
                              [8] = level == 9                            ? 2
                                    : level == 1 || level == ROCL_FASTEST ? 4
                                                                          : 0,
                              [9] = 3};
    rocl_buf_put(to, head, sizeof head);
    rocl_status st = deflate_bytes(to, p, n, level, err);
    const uint32_t foot[2] = {htole32(sum_crc32(n ? p : "", n)), htole32((uint32_t)n)};
    rocl_buf_put(to, foot, sizeof foot);
    return !st && to->failed ? rocl_fail_memory(err) : st;
}

rocl_status rocl_zlib_stream(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    /* 32 KiB window, and the level as zlib encodes it */
    static const uint8_t flags[10] = {1, 1, 0x5e, 0x5e, 0x5e, 0x5e, 0x9c, 0xda, 0xda, 0xda};
    rocl_buf_byte(to, 0x78);
    rocl_buf_byte(to, level >= 0 && level <= 9 ? flags[level] : level == ROCL_FASTEST ? 1 : 0x9c);
    rocl_status st = deflate_bytes(to, p, n, level, err);
    const uint32_t sum = htobe32(sum_adler32(n ? p : "", n));
    rocl_buf_put(to, &sum, sizeof sum);
    return !st && to->failed ? rocl_fail_memory(err) : st;
}

rocl_status rocl_check_level(int level, rocl_error *err)
{
    if (level >= ROCL_UNCOMPRESSED && level <= ROCL_FASTEST)
        return ROCL_OK;
    return rocl_fail(err, ROCL_USAGE, "compression level %d: 1 to 9", level);
}

/* The faster deflate engine: libdeflate compresses whole blocks, which is what our blocks are. */
#ifdef ROCL_LIBDEFLATE

#include "base/deflate.h"
#include "base/error.h"

#include <libdeflate.h>
#include <pthread.h>

typedef struct libdeflate_compressor compressor;

static _Thread_local struct {
    compressor *compressor;
    int level;
} cached;

/* The key is there for its destructor alone: it frees the compressor of a thread that ends. */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

static void free_compressor(void *p)
{
    libdeflate_free_compressor(p);
    cached.compressor = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, free_compressor) == 0;
}

static compressor *compressor_for(int level)
{
    pthread_once(&key_once, make_key);
    if (cached.compressor && cached.level == level)
        return cached.compressor;
    if (cached.compressor)
        libdeflate_free_compressor(cached.compressor);
    cached.compressor = have_key ? libdeflate_alloc_compressor(level) : NULL;
    cached.level = level;
    if (pthread_setspecific(key, cached.compressor) != 0) {
        libdeflate_free_compressor(cached.compressor);
        cached.compressor = NULL;
    }
    return cached.compressor;
}

rocl_status rocl_deflate(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    compressor *c = compressor_for(level);
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

#else
typedef int rocl_deflate_libdeflate_unused; /* ISO C forbids an empty translation unit */
#endif

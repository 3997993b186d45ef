/* The deflate engine that is always there. */
#ifndef ROCL_LIBDEFLATE

#include "base/deflate.h"
#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#define ZLIB_CONST
#include <zlib.h>

typedef struct deflater {
    z_stream z;
    int level;
} deflater;

static _Thread_local deflater *cached;

/* The key is there for its destructor alone: it frees the state of a thread that ends. */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

static void free_deflater(void *p)
{
    deflater *d = p;
    deflateEnd(&d->z);
    free(d);
    cached = NULL;
}

static void make_key(void)
{
    have_key = pthread_key_create(&key, free_deflater) == 0;
}

static bool set_up(deflater *d, int level)
{
    d->level = level;
    return deflateInit2(&d->z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

static deflater *new_deflater(int level)
{
    pthread_once(&key_once, make_key);
    deflater *d = have_key ? calloc(1, sizeof *d) : NULL;
    if (!d)
        return NULL;
    if (!set_up(d, level)) {
        free(d);
        return NULL;
    }
    if (pthread_setspecific(key, d)) {
        free_deflater(d);
        return NULL;
    }
    cached = d;
    return d;
}

/* This thread's deflate state, as good as new. NULL when memory is out. */
static z_stream *open_deflate(int level)
{
    deflater *d = cached;
    if (!d) {
        d = new_deflater(level);
    } else if (d->level == level) {
        deflateReset(&d->z);
    } else {
        deflateEnd(&d->z);
        if (!set_up(d, level)) {
            pthread_setspecific(key, NULL);
            free(d);
            d = cached = NULL;
        }
    }
    return d ? &d->z : NULL;
}

static uInt clip(size_t n)
{
    return n < (1u << 30) ? (uInt)n : 1u << 30;
}

rocl_status rocl_deflate(rocl_buf *to, const void *bytes, size_t n, int level, rocl_error *err)
{
    const uint8_t *p = bytes;
    z_stream *z = open_deflate(level);
    if (!z)
        return rocl_fail_memory(err);
    if (!n)
        p = (const uint8_t *)""; /* nothing may be added to NULL, not even 0 */
    int rc = Z_OK;
    while (rc != Z_STREAM_END) {
        /* 16 bytes more than the bound: room for the trailer, too */
        if (!rocl_buf_reserve(to, deflateBound(z, n) + 16))
            return rocl_fail_memory(err);
        uInt in = clip(n), room = clip(to->cap - to->len);
        z->next_in = p;
        z->avail_in = in;
        z->next_out = to->data + to->len;
        z->avail_out = room;
        rc = deflate(z, in == n ? Z_FINISH : Z_NO_FLUSH);
        if (rc == Z_STREAM_ERROR)
            return rocl_fail(err, ROCL_INTERNAL, "deflate failed");
        p += in - z->avail_in;
        n -= in - z->avail_in;
        to->len += room - z->avail_out;
    }
    return ROCL_OK;
}

const char *rocl_deflate_engine(void)
{
    return "zlib " ZLIB_VERSION;
}

#else
typedef int rocl_deflate_zlib_unused; /* ISO C forbids an empty translation unit */
#endif

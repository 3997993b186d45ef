/* Frames of LZ4: see lz4.h. */
#include "base/lz4.h"

#ifdef ROCL_LZ4

#include <lz4.h>
#include <lz4frame.h>
#include <string.h>

enum { STEP = 4096 };

const char *rocl_lz4_version(void)
{
    return "LZ4 " LZ4_VERSION_STRING;
}

/* Unpacks the next bytes, and sets *left to 0 at the end of the frame. */
static bool unpack_step(rocl_lz4 *u, const uint8_t **p, size_t *n, size_t *left)
{
    size_t made = STEP, taken = *n;
    if (!rocl_buf_reserve(&u->text, STEP))
        return false;
    *left = LZ4F_decompress(u->context, u->text.data + u->text.len, &made, *p, &taken, NULL);
    if (LZ4F_isError(*left)) {
        u->text.failed |= !strcmp(LZ4F_getErrorName(*left), "ERROR_allocation_failed");
        return false;
    }
    u->text.len += made;
    *p += taken;
    *n -= taken;
    return !*left || made || taken;
}

bool rocl_lz4_unpack(rocl_lz4 *u, const void *p, size_t n, size_t most)
{
    const uint8_t *at = p;
    size_t left = 1;
    LZ4F_dctx *context = u->context;
    u->text.len = 0;
    if (!context && LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        u->text.failed = true;
        return false;
    }
    u->context = context;
    while (left && u->text.len <= most && unpack_step(u, &at, &n, &left))
        ;
    if (!left && !n && u->text.len <= most)
        return true;
    LZ4F_resetDecompressionContext(context);
    return false;
}

void rocl_lz4_free(rocl_lz4 *u)
{
    LZ4F_freeDecompressionContext(u->context);
    rocl_buf_free(&u->text);
}

#else

const char *rocl_lz4_version(void)
{
    return "";
}

bool rocl_lz4_unpack(rocl_lz4 *u, const void *p, size_t n, size_t most)
{
    (void)u, (void)p, (void)n, (void)most;
    return false;
}

void rocl_lz4_free(rocl_lz4 *u)
{
    rocl_buf_free(&u->text);
}

#endif

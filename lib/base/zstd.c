/* Compression by zstd. */
#include "base/zstd.h"

#include "base/error.h"
#include "base/without.h"

#ifdef ROCL_ZSTD

#include <zstd.h>

bool rocl_has_zstd(void)
{
    return true;
}

rocl_status rocl_zstd_frame(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    const size_t most = ZSTD_compressBound(n);
    level = level == ROCL_FASTEST ? 1 : level;
    if (!rocl_buf_reserve(to, most))
        return rocl_fail_memory(err);
    const size_t len = ZSTD_compress(to->data + to->len, most, p, n, level);
    if (ZSTD_isError(len))
        return rocl_fail(err, ROCL_INTERNAL, "zstd: %s", ZSTD_getErrorName(len));
    to->len += len;
    return ROCL_OK;
}

#else

bool rocl_has_zstd(void)
{
    return false;
}

rocl_status rocl_zstd_frame(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    (void)to, (void)p, (void)n, (void)level;
    return rocl_fail(err, ROCL_USAGE, ROCL_BUILT_WITHOUT("libzstd"));
}

#endif

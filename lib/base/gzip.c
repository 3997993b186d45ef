/* gzip members and zlib streams: a few bytes before and after one deflate stream, which comes from
 * the engine that was built in. */
#include "base/buf.h"
#include "base/deflate.h"
#include "base/error.h"
#include "base/out.h"

#define ZLIB_CONST
#include <zlib.h>

static void put_le32(rocl_buf *b, uint32_t v)
{
    const uint8_t bytes[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 24)};
    rocl_buf_put(b, bytes, sizeof bytes);
}

static rocl_status finish(const rocl_buf *to, rocl_status st, rocl_error *err)
{
    return !st && to->failed ? rocl_fail_memory(err) : st;
}

rocl_status rocl_check_level(int level, rocl_error *err)
{
    if (level >= ROCL_UNCOMPRESSED && level <= 9)
        return ROCL_OK;
    return rocl_fail(err, ROCL_USAGE, "compression level %d: 1 to 9", level);
}

rocl_status rocl_gzip_member(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    /* extra flags: 2 the best, 4 the fastest; operating system: Unix */
    const uint8_t head[10] = {0x1f, 0x8b, 8, [8] = level == 9 ? 2 : level == 1 ? 4 : 0, [9] = 3};
    rocl_buf_put(to, head, sizeof head);
    rocl_status st = rocl_deflate(to, p, n, level, err);
    put_le32(to, (uint32_t)crc32_z(0, p, n));
    put_le32(to, (uint32_t)n);
    return finish(to, st, err);
}

rocl_status rocl_zlib_stream(rocl_buf *to, const void *p, size_t n, int level, rocl_error *err)
{
    /* 32 KiB window; the level as zlib itself notes it down */
    static const uint8_t flags[10] = {1, 1, 0x5e, 0x5e, 0x5e, 0x5e, 0x9c, 0xda, 0xda, 0xda};
    rocl_buf_byte(to, 0x78);
    rocl_buf_byte(to, level >= 0 && level <= 9 ? flags[level] : 0x9c);
    rocl_status st = rocl_deflate(to, p, n, level, err);
    uint32_t sum = (uint32_t)adler32_z(1, p, n);
    rocl_buf_byte(to, (uint8_t)(sum >> 24));
    rocl_buf_byte(to, (uint8_t)(sum >> 16));
    rocl_buf_byte(to, (uint8_t)(sum >> 8));
    rocl_buf_byte(to, (uint8_t)sum);
    return finish(to, st, err);
}

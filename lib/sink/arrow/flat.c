/* Flatbuffers. A table begins with the distance back to its vtable: u16 bytes of the vtable, u16
 * bytes of the table, and u16 the offset of each field in the table, 0 where there is none. */
#include "sink/arrow/flat.h"

static void align_to(rocl_buf *b, size_t align, size_t offset)
{
    rocl_buf_fill(b, 0, (align - (b->len + offset) % align) % align);
}

void rocl_flat_set(rocl_buf *b, size_t at, size_t size, int64_t v)
{
    uint8_t bytes[8];
    rocl_le64_set(bytes, (uint64_t)v);
    if (!b->failed)
        memcpy(b->data + at, bytes, size);
}

rocl_flat_table rocl_flat_put_table(rocl_buf *b, const char *sizes)
{
    rocl_flat_table t = {0};
    const size_t n = strlen(sizes), vtable_size = 4 + 2 * n;
    size_t offsets[FLAT_FIELDS_MAX] = {0}, size = 4;
    for (size_t i = 0; i < n; i++) {
        const size_t bytes = (size_t)(sizes[i] - '0');
        if (!bytes)
            continue;
        size = (size + bytes - 1) / bytes * bytes;
        offsets[i] = size;
        size += bytes;
    }
    align_to(b, 8, vtable_size); /* the table, so that its numbers are aligned as they are in it */
    const size_t vtable = b->len;
    rocl_buf_fill(b, 0, vtable_size + size);
    t.at = vtable + vtable_size;
    rocl_flat_set(b, vtable, 2, (int64_t)vtable_size);
    rocl_flat_set(b, vtable + 2, 2, (int64_t)size);
    rocl_flat_set(b, t.at, 4, (int64_t)vtable_size);
    for (size_t i = 0; i < n; i++) {
        rocl_flat_set(b, vtable + 4 + 2 * i, 2, (int64_t)offsets[i]);
        t.fields[i] = offsets[i] ? t.at + offsets[i] : 0;
    }
    return t;
}

void rocl_flat_refer(rocl_buf *b, size_t at)
{
    align_to(b, 4, 0);
    rocl_flat_set(b, at, 4, (int64_t)(b->len - at));
}

void rocl_flat_put_text(rocl_buf *b, const char *s)
{
    const size_t n = strlen(s);
    rocl_buf_le32(b, (uint32_t)n);
    rocl_buf_put(b, s, n);
    rocl_buf_fill(b, 0, 1);
}

size_t rocl_flat_put_vector(rocl_buf *b, size_t from, size_t n, size_t size, size_t align)
{
    align_to(b, align, sizeof(uint32_t));
    rocl_flat_refer(b, from);
    rocl_buf_le32(b, (uint32_t)n);
    const size_t first = b->len;
    rocl_buf_fill(b, 0, n * size);
    return first;
}

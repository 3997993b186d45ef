#include "base/array.h"
#include "base/map.h"

#include <stdlib.h>

enum { PAGE_SHIFT = 9 }; /* a block is 8 words of 64 bits */

#define NO_BLOCK UINT32_MAX

static uint32_t find_block(const rocl_idset *s, uint64_t page)
{
    if (!s->count)
        return NO_BLOCK;
    if (s->last_page == page)
        return s->last_block;
    return rocl_map_get(&s->index, page, NO_BLOCK);
}

static uint32_t new_block(rocl_idset *s, uint64_t page)
{
    if (s->count >= NO_BLOCK || !ROCL_GROW(s->blocks, s->cap, s->count + 1) ||
        !rocl_map_put(&s->index, page, (uint32_t)s->count))
        return NO_BLOCK;
    return (uint32_t)s->count++;
}

/* The block of a page, made when it is new, and remembered. */
static uint64_t *open_block(rocl_idset *s, uint64_t page)
{
    uint32_t block = find_block(s, page);
    if (block == NO_BLOCK)
        block = new_block(s, page);
    if (block == NO_BLOCK)
        return NULL;
    s->last_page = page;
    s->last_block = block;
    return s->blocks[block];
}

bool rocl_idset_add(rocl_idset *s, uint64_t id)
{
    uint64_t *words = open_block(s, id >> PAGE_SHIFT);
    if (!words)
        return false;
    words[(id >> 6) & 7] |= (uint64_t)1 << (id & 63);
    return true;
}

bool rocl_idset_has(const rocl_idset *s, uint64_t id)
{
    uint32_t block = find_block(s, id >> PAGE_SHIFT);
    return block != NO_BLOCK && (s->blocks[block][(id >> 6) & 7] >> (id & 63) & 1);
}

bool rocl_idset_next(rocl_idset *s, uint64_t id)
{
    uint64_t page = id >> PAGE_SHIFT;
    uint32_t block = find_block(s, page);
    if (block == NO_BLOCK)
        return false;
    s->last_page = page;
    s->last_block = block;
    return s->blocks[block][(id >> 6) & 7] >> (id & 63) & 1;
}

bool rocl_idset_merge(rocl_idset *into, const rocl_idset *from)
{
    size_t pos = 0;
    uint64_t page;
    uint32_t block;
    while (rocl_map_next(&from->index, &pos, &page, &block)) {
        uint64_t *words = open_block(into, page);
        if (!words)
            return false;
        for (unsigned w = 0; w < 8; w++)
            words[w] |= from->blocks[block][w];
    }
    return true;
}

void rocl_idset_free(rocl_idset *s)
{
    rocl_map_free(&s->index);
    free(s->blocks);
    *s = (rocl_idset){0};
}

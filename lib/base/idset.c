#include "base/array.h"
#include "base/map.h"

#include <stdlib.h>

#define NO_BLOCK UINT32_MAX

static uint32_t find_block(const rocl_idset *s, uint64_t page)
{
    const unsigned at = page % ROCL_IDSET_RECENT;
    return s->recent[at].page_after == page + 1 ? s->recent[at].block
                                                : rocl_map_get(&s->index, page, NO_BLOCK);
}

static void remember(rocl_idset *s, uint64_t page, uint32_t block)
{
    const unsigned at = page % ROCL_IDSET_RECENT;
    s->recent[at].page_after = page + 1;
    s->recent[at].block = block;
}

static uint32_t new_block(rocl_idset *s, uint64_t page)
{
    if (s->count >= NO_BLOCK || !ROCL_GROW(s->blocks, s->cap, s->count + 1) ||
        !rocl_map_put(&s->index, page, (uint32_t)s->count))
        return NO_BLOCK;
    return (uint32_t)s->count++;
}

uint64_t *rocl_idset_open(rocl_idset *s, uint64_t page)
{
    uint32_t block = find_block(s, page);
    if (block == NO_BLOCK)
        block = new_block(s, page);
    if (block == NO_BLOCK)
        return NULL;
    remember(s, page, block);
    return s->blocks[block];
}

bool rocl_idset_has(const rocl_idset *s, uint64_t id)
{
    uint32_t block = find_block(s, id >> ROCL_IDSET_SHIFT);
    return block != NO_BLOCK && (s->blocks[block][(id >> 6) & 7] >> (id & 63) & 1);
}

bool rocl_idset_next(rocl_idset *s, uint64_t id)
{
    uint64_t page = id >> ROCL_IDSET_SHIFT;
    uint32_t block = find_block(s, page);
    if (block == NO_BLOCK)
        return false;
    remember(s, page, block);
    return s->blocks[block][(id >> 6) & 7] >> (id & 63) & 1;
}

bool rocl_idset_merge(rocl_idset *into, const rocl_idset *from)
{
    size_t pos = 0;
    uint64_t page;
    uint32_t block;
    while (rocl_map_next(&from->index, &pos, &page, &block)) {
        uint64_t *words = rocl_idset_open(into, page);
        if (!words)
            return false;
        for (unsigned w = 0; w < 8; w++)
            words[w] |= from->blocks[block][w];
    }
    return true;
}

bool rocl_idset_merge_common(rocl_idset *into, const rocl_idset *a, const rocl_idset *b)
{
    size_t pos = 0;
    uint64_t page;
    uint32_t block;
    while (rocl_map_next(&a->index, &pos, &page, &block)) {
        uint32_t other = find_block(b, page);
        for (unsigned w = 0; w < 8 && other != NO_BLOCK; w++) {
            uint64_t both = a->blocks[block][w] & b->blocks[other][w];
            uint64_t *words = both ? rocl_idset_open(into, page) : NULL;
            if (both && !words)
                return false;
            if (both)
                words[w] |= both;
        }
    }
    return true;
}

void rocl_idset_free(rocl_idset *s)
{
    rocl_map_free(&s->index);
    free(s->blocks);
    *s = (rocl_idset){0};
}

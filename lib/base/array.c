/* Memory that grows: arrays and arenas. */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The pointer is copied as bytes: it may point to any type. */
bool rocl_array_grow(void *items, size_t *cap, size_t need, size_t size)
{
    void *old, *p;
    size_t more = *cap ? *cap : ROCL_ARRAY_FIRST;
    if (need > SIZE_MAX / 2 / size)
        return false;
    while (more < need)
        more *= 2;
    memcpy(&old, items, sizeof old);
    p = realloc(old, more * size);
    if (!p)
        return false;
    memset((char *)p + *cap * size, 0, (more - *cap) * size);
    memcpy(items, &p, sizeof p);
    *cap = more;
    return true;
}

void *rocl_cache_line_calloc(size_t n, size_t size)
{
    if (n > SIZE_MAX / 2 / size)
        return NULL;
    /* Some C libraries need a multiple of the alignment. */
    const size_t bytes = (n * size + ROCL_CACHE_LINE - 1) / ROCL_CACHE_LINE * ROCL_CACHE_LINE;
    void *p = aligned_alloc(ROCL_CACHE_LINE, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

/* ---- arenas -------------------------------------------------------------------------------- */

enum { ALIGN = 16, FIRST_BLOCK = 1024, LARGEST_BLOCK = 1 << 20 };

typedef struct rocl_arena_block {
    struct rocl_arena_block *next;
    size_t used, cap;
    alignas(ALIGN) char data[];
} rocl_arena_block;

/* A block to take n bytes from. Blocks double, so that a small arena stays small and a large one
 * needs few of them. */
static rocl_arena_block *add_block(rocl_arena *a, size_t n)
{
    rocl_arena_block *head = a->blocks;
    size_t cap = head ? head->cap * 2 : FIRST_BLOCK;
    if (cap > LARGEST_BLOCK)
        cap = LARGEST_BLOCK;
    /* A large one gets a block of its own behind the head, whose free bytes are not given up. */
    const bool separate = head && n > cap / 4;
    if (separate || cap < n)
        cap = n;
    rocl_arena_block *b = malloc(sizeof *b + cap);
    if (!b)
        return NULL;
    *b = (rocl_arena_block){.cap = cap, .next = separate ? head->next : head};
    *(separate ? &head->next : &a->blocks) = b;
    return b;
}

void *rocl_arena_alloc(rocl_arena *a, size_t n)
{
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    rocl_arena_block *b = a->blocks;
    if (!b || b->cap - b->used < n) {
        b = add_block(a, n);
        if (!b)
            return NULL;
    }
    void *p = b->data + b->used;
    b->used += n;
    a->used += n;
    return p;
}

char *rocl_arena_dup(rocl_arena *a, const char *s, size_t n)
{
    if (n == SIZE_MAX)
        return NULL;
    char *p = rocl_arena_alloc(a, n + 1);
    if (!p)
        return NULL;
    if (n)
        memcpy(p, s, n);
    p[n] = '\0';
    return p;
}

/* The block that allocations come from stays the first. */
void rocl_arena_join(rocl_arena *to, rocl_arena *from)
{
    rocl_arena_block **end = &to->blocks;
    while (*end)
        end = &(*end)->next;
    *end = from->blocks;
    to->used += from->used;
    *from = (rocl_arena){0};
}

void rocl_arena_free(rocl_arena *a)
{
    for (rocl_arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (rocl_arena){0};
}

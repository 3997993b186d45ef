/* Memory that grows: arrays that double, and arenas, which are given back all at once. */
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

/* The first capacity of an array. */
enum { ROCL_ARRAY_FIRST = 4 };

/* `items` is the address of the pointer to an array (which is NULL at first). Moves the array to
 * where `need` > *cap elements of `size` bytes fit; the new ones are zero. False: memory is out,
 * and nothing has changed. */
bool rocl_array_grow(void *items, size_t *cap, size_t need, size_t size);

static inline bool rocl_array_reserve(void *items, size_t *cap, size_t need, size_t size)
{
    return need <= *cap || rocl_array_grow(items, cap, need, size);
}

/* A capacity of at least `need`: `if (!ROCL_GROW(l->names, l->cap, l->count + 1)) return ...`.
 * `items` is a pointer to elements and `cap` a size_t, both variables. */
#define ROCL_GROW(items, cap, need) rocl_array_reserve(&(items), &(cap), (need), sizeof *(items))

/* Alignment of data that several threads write, each its own, so that they share no cache line. */
#define ROCL_CACHE_LINE 64

/* n zeroed elements with this alignment. */
void *rocl_cache_line_calloc(size_t n, size_t size);

/* The capacity of an array that grew to `count` elements one by one, for callers that do not store
 * it. */
static inline size_t rocl_array_cap(size_t count)
{
    size_t cap = count ? ROCL_ARRAY_FIRST : 0;
    while (cap < count)
        cap *= 2;
    return cap;
}

/* ---- arenas: definitions and strings live as long as their owner --------------------------- */

typedef struct rocl_arena {
    struct rocl_arena_block *blocks;
    size_t used; /* bytes handed out, for memory accounts */
} rocl_arena;

/* 16-byte aligned, not zeroed; NULL when memory is out. Not thread-safe. */
void *rocl_arena_alloc(rocl_arena *a, size_t n);
/* A NUL-terminated copy of n bytes. */
char *rocl_arena_dup(rocl_arena *a, const char *s, size_t n);
/* Moves everything from `from`, which is then empty, to `to`. */
void rocl_arena_join(rocl_arena *to, rocl_arena *from);
void rocl_arena_free(rocl_arena *a);

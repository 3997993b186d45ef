/* Memory that is given back all at once: definitions and strings live as long as their owner. */
#ifndef ROCL_BASE_ARENA_H
#define ROCL_BASE_ARENA_H

#include <stddef.h>

typedef struct rocl_arena {
    struct rocl_arena_block *blocks;
    size_t used; /* bytes handed out, for memory accounts */
} rocl_arena;

/* 16-byte aligned, not zeroed; NULL when memory is out. Not thread-safe. */
void *rocl_arena_alloc(rocl_arena *a, size_t n);
/* A NUL-terminated copy of n bytes. */
char *rocl_arena_dup(rocl_arena *a, const char *s, size_t n);
/* All that is in `from`, which is empty then, lives as long as what is in `to`. */
void rocl_arena_join(rocl_arena *to, rocl_arena *from);
void rocl_arena_free(rocl_arena *a);

#endif

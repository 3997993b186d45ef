/* Interned strings. A string's hash chooses one of 64 stripes; a stripe is an open-addressed table
 * of (hash, id) words. Finding a known string takes no lock: entries are only ever added, and a
 * full table is replaced, but kept until the end for readers that may still use it. Ids index a
 * directory of chunks that double in size, so the address of an id never changes. */
#include "base/strings.h"
#include "base/wide.h"

#include "base/array.h"
#include "base/text.h"
#include "base/status.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRIPE_BITS = 6,
    STRIPES = 1 << STRIPE_BITS,
    FIRST_SLOTS = 16,
    CHUNK_SHIFT = 10, /* the first chunk holds 1024 ids */
    CHUNKS = 33 - CHUNK_SHIFT,
};

/* How a string lies in its stripe's arena. */
typedef struct text {
    uint32_t hash; /* low half: where it is in the table */
    uint32_t len;
    char bytes[];
} text;

/* A slot is 0 (empty; id 0 is in no table) or the high half of the hash above the id. */
typedef struct table {
    struct table *older;
    size_t cap, count; /* count: under the stripe's lock */
    _Atomic uint64_t slots[];
} table;

typedef struct stripe {
    alignas(64) _Atomic(table *) table;
    pthread_mutex_t lock;
    rocl_arena arena;
} stripe;

typedef _Atomic(const text *) entry;

struct rocl_strings {
    stripe stripes[STRIPES];
    _Atomic(entry *) chunks[CHUNKS];
    pthread_mutex_t count_lock;
    _Atomic uint32_t count, not_utf8;
    _Atomic size_t longest;
    atomic_bool incomplete;
    uint64_t seed;
};

/* ---- hashing ------------------------------------------------------------------------------- */

static uint64_t fold_product(uint64_t a, uint64_t b)
{
    rocl_u128 r = (rocl_u128)a * b;
    return (uint64_t)r ^ (uint64_t)(r >> 64);
}

static uint64_t load_word(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* The seed is an address: a file cannot be made of names that all collide. */
static uint64_t hash_bytes(uint64_t seed, const char *p, size_t n)
{
    const uint64_t k1 = 0x9e3779b97f4a7c15u, k2 = 0xd6e8feb86659fd93u;
    uint64_t h = seed ^ fold_product(n ^ k1, k2);
    for (; n > 16; n -= 16, p += 16)
        h = fold_product(load_word(p) ^ k1, load_word(p + 8) ^ h);
    uint64_t a = 0, b = 0;
    if (n >= 8) {
        a = load_word(p);
        b = load_word(p + n - 8);
    } else {
        memcpy(&a, p, n);
    }
    return fold_product(fold_product(a ^ k1, b ^ h), k2 ^ h);
}

/* ---- ids ----------------------------------------------------------------------------------- */

static unsigned find_chunk(uint32_t id, size_t *at)
{
    uint64_t n = (uint64_t)id + (1u << CHUNK_SHIFT);
    unsigned top = 63u - (unsigned)__builtin_clzll(n);
    *at = (size_t)(n - ((uint64_t)1 << top));
    return top - CHUNK_SHIFT;
}

static uint32_t new_id(rocl_strings *s, const text *t)
{
    pthread_mutex_lock(&s->count_lock);
    uint32_t id = atomic_load_explicit(&s->count, memory_order_relaxed);
    size_t at;
    unsigned c = find_chunk(id, &at);
    entry *chunk = atomic_load_explicit(&s->chunks[c], memory_order_relaxed);
    if (!chunk && id != ROCL_NONE) {
        chunk = calloc((size_t)1 << (c + CHUNK_SHIFT), sizeof(entry));
        atomic_store_explicit(&s->chunks[c], chunk, memory_order_release);
    }
    if (!chunk || id == ROCL_NONE) {
        id = ROCL_NONE;
    } else {
        atomic_store_explicit(&chunk[at], t, memory_order_release);
        atomic_store_explicit(&s->count, id + 1, memory_order_release);
    }
    pthread_mutex_unlock(&s->count_lock);
    return id;
}

static const text *get_text(const rocl_strings *s, uint32_t id)
{
    if (id >= atomic_load_explicit(&s->count, memory_order_acquire))
        return NULL;
    size_t at;
    unsigned c = find_chunk(id, &at);
    entry *chunk = atomic_load_explicit(&s->chunks[c], memory_order_acquire);
    return atomic_load_explicit(&chunk[at], memory_order_acquire);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* The id of a string in a table, or 0 with *at the empty slot that the search ended in. */
static uint32_t find_text(const rocl_strings *s, table *t, uint64_t hash, const char *p, size_t n,
                          size_t *at)
{
    size_t mask = t->cap - 1;
    for (size_t i = (uint32_t)hash & mask;; i = (i + 1) & mask) {
        uint64_t slot = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (!slot) {
            *at = i;
            return 0;
        }
        if ((slot ^ hash) >> 32)
            continue;
        const text *have = get_text(s, (uint32_t)slot);
        if (have->len == n && memcmp(have->bytes, p, n) == 0)
            return (uint32_t)slot;
    }
}

/* The table of a stripe, with room for one more; NULL: memory is out. Under the stripe's lock. */
static table *reserve_table(rocl_strings *s, stripe *st)
{
    table *old = atomic_load_explicit(&st->table, memory_order_relaxed);
    if (old && old->count < old->cap / 8 * 5)
        return old;
    size_t cap = old ? old->cap * 2 : FIRST_SLOTS;
    table *t = calloc(1, sizeof(table) + cap * sizeof t->slots[0]);
    if (!t)
        return NULL;
    t->older = old;
    t->cap = cap;
    for (size_t i = 0; old && i < old->cap; i++) {
        uint64_t slot = atomic_load_explicit(&old->slots[i], memory_order_relaxed);
        if (!slot)
            continue;
        size_t to = get_text(s, (uint32_t)slot)->hash & (cap - 1);
        while (atomic_load_explicit(&t->slots[to], memory_order_relaxed))
            to = (to + 1) & (cap - 1);
        atomic_store_explicit(&t->slots[to], slot, memory_order_relaxed);
    }
    t->count = old ? old->count : 0;
    atomic_store_explicit(&st->table, t, memory_order_release);
    return t;
}

static const text *new_text(stripe *st, uint64_t hash, const char *p, size_t n)
{
    text *t = rocl_arena_alloc(&st->arena, sizeof(text) + n + 1);
    if (!t)
        return NULL;
    t->hash = (uint32_t)hash;
    t->len = (uint32_t)n;
    memcpy(t->bytes, p, n);
    t->bytes[n] = '\0';
    return t;
}

/* ---- the interface ------------------------------------------------------------------------- */

uint32_t rocl_strings_put(rocl_strings *s, const char *p, size_t n)
{
    if (n == 0)
        return 0;
    if (n >= UINT32_MAX) {
        rocl_strings_note_lost(s);
        return ROCL_NONE;
    }
    uint64_t hash = hash_bytes(s->seed, p, n);
    stripe *st = &s->stripes[hash >> (64 - STRIPE_BITS)];
    table *t = atomic_load_explicit(&st->table, memory_order_acquire);
    size_t at;
    uint32_t id = t ? find_text(s, t, hash, p, n, &at) : 0;
    if (id)
        return id;
    pthread_mutex_lock(&st->lock);
    t = reserve_table(s, st);
    /* Another thread may have added the string meanwhile. */
    id = t ? find_text(s, t, hash, p, n, &at) : ROCL_NONE;
    if (!id) {
        const text *fresh = new_text(st, hash, p, n);
        id = fresh ? new_id(s, fresh) : ROCL_NONE;
        if (id != ROCL_NONE) {
            if (!rocl_utf8_valid(p, n))
                atomic_fetch_add_explicit(&s->not_utf8, 1, memory_order_relaxed);
            size_t longest = atomic_load_explicit(&s->longest, memory_order_relaxed);
            while (n > longest && !atomic_compare_exchange_weak(&s->longest, &longest, n))
                ;
            t->count++;
            atomic_store_explicit(&t->slots[at], (hash >> 32 << 32) | id, memory_order_release);
        }
    }
    pthread_mutex_unlock(&st->lock);
    if (id == ROCL_NONE)
        rocl_strings_note_lost(s);
    return id;
}

void rocl_strings_note_lost(rocl_strings *s)
{
    atomic_store_explicit(&s->incomplete, true, memory_order_relaxed);
}

bool rocl_strings_complete(const rocl_strings *s)
{
    return !atomic_load_explicit(&s->incomplete, memory_order_relaxed);
}

const char *rocl_strings_get(const rocl_strings *s, uint32_t id, size_t *len)
{
    const text *t = get_text(s, id);
    if (len)
        *len = t ? t->len : 0;
    return t ? t->bytes : "";
}

uint32_t rocl_strings_not_utf8(const rocl_strings *s)
{
    return atomic_load_explicit(&s->not_utf8, memory_order_relaxed);
}

size_t rocl_strings_longest(const rocl_strings *s)
{
    return atomic_load_explicit(&s->longest, memory_order_relaxed);
}

size_t rocl_strings_count(const rocl_strings *s)
{
    return atomic_load_explicit(&s->count, memory_order_acquire);
}

rocl_strings *rocl_strings_new(void)
{
    rocl_strings *s = aligned_alloc(alignof(rocl_strings), sizeof *s);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->seed = (uint64_t)(uintptr_t)s * 0xd6e8feb86659fd93u;
    pthread_mutex_init(&s->count_lock, NULL);
    for (size_t i = 0; i < STRIPES; i++)
        pthread_mutex_init(&s->stripes[i].lock, NULL);

    const text *empty = new_text(&s->stripes[0], 0, "", 0);
    if (!empty || new_id(s, empty) != 0) {
        rocl_strings_free(s);
        return NULL;
    }
    return s;
}

void rocl_strings_free(rocl_strings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < STRIPES; i++) {
        stripe *st = &s->stripes[i];
        table *t = atomic_load_explicit(&st->table, memory_order_relaxed);
        for (table *older; t; t = older) {
            older = t->older;
            free(t);
        }
        rocl_arena_free(&st->arena);
        pthread_mutex_destroy(&st->lock);
    }
    for (size_t c = 0; c < CHUNKS; c++)
        free(atomic_load_explicit(&s->chunks[c], memory_order_relaxed));
    pthread_mutex_destroy(&s->count_lock);
    free(s);
}

/* ---- texts as an output displays them -------------------------------------------------------- */

bool rocl_text_cache_fill(const rocl_text_cache *f, rocl_cached_text *e, uint32_t id)
{
    rocl_buf b = {0};
    size_t n;
    const char *p = rocl_strings_get(f->strings, id, &n);
    free(e->own);
    *e = (rocl_cached_text){.bytes = p, .len = n};
    f->make(&b, p, n);
    if (b.failed) {
        rocl_buf_free(&b);
        return false;
    }
    if (b.len) {
        e->own = (char *)b.data;
        e->bytes = e->own;
        e->len = b.len;
    }
    e->text = id + 1;
    return true;
}

void rocl_text_cache_free(rocl_text_cache *f)
{
    for (size_t i = 0; i < ROCL_TEXT_CACHE_SIZE; i++)
        free(f->entries[i].own);
    memset(f->entries, 0, sizeof f->entries);
}

/* Durations by group: see samples.h.
 *
 *     workers[w].groups[]: distribution without percentiles
 *                          blocks[]: full, in memory or in the file of the sort space
 *                          open: the block that is being filled
 *     workers[w].after[g]: where the group is among those of the worker, plus 1: of a million
 * groups each worker may see few
 *
 * A block is words of 32 bits, a value each. A value that does not fit is WIDE and two words more,
 * the low one first; it does not go over the end of a block. */
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define WIDE UINT32_MAX

enum { WIDE_WORDS = 3 };
/* Words in a block, in the first of a group, and in the least that is written to the file. */
enum { BLOCK = 8192, FIRST = 16, SPILL_LEAST = 256 };

typedef struct block {
    uint32_t *memory; /* NULL: in the file */
    uint64_t offset;  /* there */
    uint32_t words;
} block;

typedef struct group {
    rocl_distribution d;
    uint32_t *open;
    uint32_t words, capacity; /* of the open block */
    block *blocks;
    size_t count, cap;
} group;

typedef struct worker {
    group *groups;
    size_t count, cap;
    uint32_t *after; /* 0: the worker has seen nothing of the group */
    size_t after_cap;
} worker;

static group *find_group(const worker *w, uint32_t group_index)
{
    const uint32_t after = group_index < w->after_cap ? w->after[group_index] : 0;
    return after ? &w->groups[after - 1] : NULL;
}

/* NULL: memory is out. */
static group *add_group(worker *w, uint32_t group_index)
{
    if (!ROCL_GROW(w->after, w->after_cap, (size_t)group_index + 1) ||
        !ROCL_GROW(w->groups, w->cap, w->count + 1))
        return NULL;
    w->after[group_index] = (uint32_t)++w->count;
    return &w->groups[w->count - 1];
}

struct rocl_samples {
    rocl_sort_space *space;
    unsigned worker_count;
    worker *workers;
    uint32_t *scratch; /* a block out of the file */
};

/* ---- adding ---------------------------------------------------------------------------------- */

/* Makes the open block larger, or else puts it away. Blocks begin small, since most groups are;
 * they are put away when they are full, or when memory is, but not for a few bytes. */
static rocl_status reserve_words(rocl_samples *s, group *g, rocl_error *err)
{
    uint32_t more = g->capacity ? 4 * g->capacity : FIRST;
    more = more < BLOCK ? more : BLOCK;
    if (more > g->capacity && (rocl_space_keep(s->space, (more - g->capacity) * sizeof *g->open) ||
                               g->capacity < SPILL_LEAST)) {
        uint32_t *open = realloc(g->open, more * sizeof *open);
        if (!open)
            return rocl_fail_memory(err);
        g->open = open;
        g->capacity = more;
        return ROCL_OK;
    }
    block b = {.words = g->words};
    if (!ROCL_GROW(g->blocks, g->cap, g->count + 1))
        return rocl_fail_memory(err);
    if (g->capacity == BLOCK && rocl_space_keep(s->space, BLOCK * sizeof *g->open)) {
        uint32_t *next = malloc(BLOCK * sizeof *next);
        if (!next)
            return rocl_fail_memory(err);
        b.memory = g->open;
        g->open = next;
    } else {
        rocl_status st = rocl_space_spill(s->space, (const uint8_t *)g->open,
                                          g->words * sizeof *g->open, &b.offset, err);
        if (st != ROCL_OK)
            return st;
    }
    g->blocks[g->count++] = b;
    g->words = 0;
    return ROCL_OK;
}

rocl_status rocl_samples_add(rocl_samples *s, unsigned worker_index, uint32_t group_index,
                             int64_t ns, rocl_error *err)
{
    worker *w = &s->workers[worker_index];
    group *g = find_group(w, group_index);
    if (!g && !(g = add_group(w, group_index)))
        return rocl_fail_memory(err);
    bool wide = ns >= WIDE;
    if (g->words + (wide ? WIDE_WORDS : 1) > g->capacity) {
        rocl_status st = reserve_words(s, g, err);
        if (st != ROCL_OK)
            return st;
    }
    rocl_distribution_count(&g->d, ns);
    g->open[g->words++] = wide ? WIDE : (uint32_t)ns;
    if (wide) {
        g->open[g->words++] = (uint32_t)ns;
        g->open[g->words++] = (uint32_t)((uint64_t)ns >> 32);
    }
    return ROCL_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef void words_fn(void *ctx, const uint32_t *words, uint32_t n);

/* Calls fn with all blocks of a group, of all workers. */
static rocl_status each_block(rocl_samples *s, uint32_t group_index, words_fn *fn, void *ctx,
                              rocl_error *err)
{
    for (unsigned w = 0; w < s->worker_count; w++) {
        const group *g = find_group(&s->workers[w], group_index);
        if (!g)
            continue;
        for (size_t i = 0; i < g->count; i++) {
            const block *b = &g->blocks[i];
            rocl_status st = b->memory
                                 ? ROCL_OK
                                 : rocl_space_read(s->space, (uint8_t *)s->scratch,
                                                   b->words * sizeof *s->scratch, b->offset, err);
            if (st != ROCL_OK)
                return st;
            fn(ctx, b->memory ? b->memory : s->scratch, b->words);
        }
        fn(ctx, g->open, g->words);
    }
    return ROCL_OK;
}

static inline uint64_t next_value(const uint32_t *words, uint32_t *i)
{
    uint32_t v = words[(*i)++];
    if (v != WIDE)
        return v;
    *i += 2;
    return words[*i - 2] | (uint64_t)words[*i - 1] << 32;
}

/* ---- percentiles of few values: they are sorted ---------------------------------------------- */

enum { FEW = 1024 };

typedef struct few {
    uint64_t v[FEW];
    size_t n;
} few;

static void copy_values(void *ctx, const uint32_t *words, uint32_t n)
{
    few *f = ctx;
    for (uint32_t i = 0; i < n;)
        f->v[f->n++] = next_value(words, &i);
}

static int order_values(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static rocl_status sort_few(rocl_samples *s, uint32_t group_index, const uint64_t *ranks,
                            int64_t *values, rocl_error *err)
{
    few f = {.n = 0};
    rocl_status st = each_block(s, group_index, copy_values, &f, err);
    qsort(f.v, f.n, sizeof *f.v, order_values);
    for (int i = 0; i < ROCL_RANKS; i++)
        values[i] = (int64_t)f.v[ranks[i] - 1];
    return st;
}

/* ---- of many: the digits of a value from the highest down ------------------------------------ */

enum { BITS = 11, DIGITS = 1 << BITS };

/* Ranks are ascending, and so are the prefixes of their values: those with one prefix share a table
 * of counts. */
typedef struct search {
    uint64_t prefix[ROCL_RANKS]; /* the digits that are known of each value */
    uint64_t rank[ROCL_RANKS];   /* among the values with this prefix, from 1 */
    unsigned table[ROCL_RANKS];
    unsigned shift;  /* of the digit that is looked for */
    unsigned tables; /* so many */
    uint64_t prefix_of_table[ROCL_RANKS];
    uint64_t counts[ROCL_RANKS][DIGITS]; /* by table and digit */
} search;

static void count_digits(void *ctx, const uint32_t *words, uint32_t n)
{
    search *s = ctx;
    for (uint32_t i = 0; i < n;) {
        uint64_t v = next_value(words, &i) >> s->shift;
        for (unsigned t = 0; t < s->tables; t++)
            if (v >> BITS == s->prefix_of_table[t]) {
                s->counts[t][v & (DIGITS - 1)]++;
                break;
            }
    }
}

static rocl_status search_many(rocl_samples *s, uint32_t group_index, int64_t max,
                               const uint64_t *ranks, int64_t *values, rocl_error *err)
{
    search *f = calloc(1, sizeof *f);
    if (!f)
        return rocl_fail_memory(err);
    memcpy(f->rank, ranks, sizeof f->rank);
    rocl_status st = ROCL_OK;
    const unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)max | 1);
    for (unsigned digits = (bits + BITS - 1) / BITS; st == ROCL_OK && digits--;) {
        f->shift = digits * BITS;
        f->tables = 0;
        for (int i = 0; i < ROCL_RANKS; i++) {
            if (!i || f->prefix[i] != f->prefix[i - 1]) {
                f->prefix_of_table[f->tables] = f->prefix[i];
                memset(f->counts[f->tables++], 0, sizeof *f->counts);
            }
            f->table[i] = f->tables - 1;
        }
        st = each_block(s, group_index, count_digits, f, err);
        for (int i = 0; st == ROCL_OK && i < ROCL_RANKS; i++) {
            const uint64_t *counts = f->counts[f->table[i]];
            unsigned digit = 0;
            while (f->rank[i] > counts[digit])
                f->rank[i] -= counts[digit++];
            f->prefix[i] = f->prefix[i] << BITS | digit;
        }
    }
    for (int i = 0; i < ROCL_RANKS; i++)
        values[i] = (int64_t)f->prefix[i];
    free(f);
    return st;
}

rocl_status rocl_samples_describe(rocl_samples *s, uint32_t group_index, rocl_distribution *d,
                                  rocl_error *err)
{
    uint64_t ranks[ROCL_RANKS];
    int64_t values[ROCL_RANKS];
    *d = (rocl_distribution){0};
    for (unsigned w = 0; w < s->worker_count; w++) {
        const group *g = find_group(&s->workers[w], group_index);
        if (g)
            rocl_distribution_merge(d, &g->d);
    }
    if (!d->taken)
        return ROCL_OK;
    rocl_distribution_ranks(d->taken, ranks);
    rocl_status st = d->taken <= FEW ? sort_few(s, group_index, ranks, values, err)
                                     : search_many(s, group_index, d->max, ranks, values, err);
    if (st == ROCL_OK)
        rocl_distribution_percentiles(d, values);
    return st;
}

/* ---- begin and end --------------------------------------------------------------------------- */

rocl_samples *rocl_samples_new(rocl_sort_space *space, unsigned workers)
{
    rocl_samples *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->space = space;
    s->worker_count = workers;
    s->workers = calloc(workers, sizeof *s->workers);
    s->scratch = malloc(BLOCK * sizeof *s->scratch);
    if (s->workers && s->scratch)
        return s;
    rocl_samples_free(s);
    return NULL;
}

/* What was kept of the space is not given back: samples live as long as the report. */
void rocl_samples_free(rocl_samples *s)
{
    if (!s)
        return;
    for (unsigned w = 0; s->workers && w < s->worker_count; w++) {
        for (size_t i = 0; i < s->workers[w].count; i++) {
            group *g = &s->workers[w].groups[i];
            for (size_t k = 0; k < g->count; k++)
                free(g->blocks[k].memory);
            free(g->blocks);
            free(g->open);
        }
        free(s->workers[w].groups);
        free(s->workers[w].after);
    }
    free(s->workers);
    free(s->scratch);
    free(s);
}

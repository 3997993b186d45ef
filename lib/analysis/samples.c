#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Values are 32 bits wide; one that is not follows as two words, low first, behind the mark. */
#define MARK UINT32_MAX
enum { MARKED = 3 };

enum { FIRST = 16, CHUNK = 8192 /* words */, SPILL_LEAST = 256 };

typedef struct chunk {
    uint32_t *memory; /* NULL: in the file */
    uint64_t offset;
    uint32_t words;
} chunk;

/* The values of a group from one worker. */
typedef struct pile {
    rocl_distribution d; /* without percentiles */
    uint32_t *open;      /* the chunk that is being filled */
    uint32_t words, room;
    chunk *chunks;
    size_t count, cap;
} pile;

typedef struct piles {
    pile *by_group;
    size_t cap;
} piles;

struct rocl_samples {
    rocl_sort_space *space;
    unsigned workers;
    piles *piles; /* by worker */
    uint32_t *scratch;
};

/* ---- adding ---- */

static rocl_status put_away(rocl_samples *s, pile *p, rocl_error *err)
{
    chunk c = {.words = p->words};
    if (!ROCL_GROW(p->chunks, p->cap, p->count + 1))
        return rocl_fail_memory(err);
    uint32_t *next = NULL;
    if (p->room == CHUNK && rocl_space_keep(s->space, CHUNK * sizeof *next)) {
        if (!(next = malloc(CHUNK * sizeof *next)))
            return rocl_fail_memory(err);
        c.memory = p->open;
        p->open = next;
    } else {
        rocl_status st = rocl_space_spill(s->space, (const uint8_t *)p->open,
                                          p->words * sizeof *p->open, &c.offset, err);
        if (st != ROCL_OK)
            return st;
    }
    p->chunks[p->count++] = c;
    p->words = 0;
    return ROCL_OK;
}

/* Chunks begin small, since most groups are; they are put away when they are full, or when memory
 * is, but not for a few bytes. */
static rocl_status make_room(rocl_samples *s, pile *p, rocl_error *err)
{
    uint32_t room = p->room ? 4 * p->room : FIRST;
    room = room < CHUNK ? room : CHUNK;
    size_t more = (room - p->room) * sizeof *p->open;
    if (room == p->room || (!rocl_space_keep(s->space, more) && p->room >= SPILL_LEAST))
        return put_away(s, p, err);
    uint32_t *open = realloc(p->open, room * sizeof *open);
    if (!open)
        return rocl_fail_memory(err);
    p->open = open;
    p->room = room;
    return ROCL_OK;
}

rocl_status rocl_samples_add(rocl_samples *s, unsigned worker, uint32_t group, int64_t ns,
                             rocl_error *err)
{
    piles *of = &s->piles[worker];
    if (group >= of->cap && !ROCL_GROW(of->by_group, of->cap, (size_t)group + 1))
        return rocl_fail_memory(err);
    pile *p = &of->by_group[group];
    bool marked = ns >= MARK;
    if (p->words + (marked ? MARKED : 1) > p->room) {
        rocl_status st = make_room(s, p, err);
        if (st != ROCL_OK)
            return st;
    }
    rocl_distribution_count(&p->d, ns);
    p->open[p->words++] = marked ? MARK : (uint32_t)ns;
    if (marked) {
        p->open[p->words++] = (uint32_t)ns;
        p->open[p->words++] = (uint32_t)((uint64_t)ns >> 32);
    }
    return ROCL_OK;
}

/* ---- walking over a group ---- */

typedef void value_fn(void *ctx, const uint32_t *words, uint32_t n);

static rocl_status walk_pile(rocl_samples *s, const pile *p, value_fn *fn, void *ctx,
                             rocl_error *err)
{
    for (size_t i = 0; i < p->count; i++) {
        const chunk *c = &p->chunks[i];
        rocl_status st = c->memory ? ROCL_OK
                                   : rocl_space_read(s->space, (uint8_t *)s->scratch,
                                                     c->words * sizeof *s->scratch, c->offset, err);
        if (st != ROCL_OK)
            return st;
        fn(ctx, c->memory ? c->memory : s->scratch, c->words);
    }
    fn(ctx, p->open, p->words);
    return ROCL_OK;
}

static rocl_status walk(rocl_samples *s, uint32_t group, value_fn *fn, void *ctx, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (unsigned w = 0; w < s->workers && st == ROCL_OK; w++)
        if (group < s->piles[w].cap)
            st = walk_pile(s, &s->piles[w].by_group[group], fn, ctx, err);
    return st;
}

static inline uint64_t value_at(const uint32_t *words, uint32_t *i)
{
    uint32_t v = words[(*i)++];
    if (v != MARK)
        return v;
    *i += 2;
    return words[*i - 2] | (uint64_t)words[*i - 1] << 32;
}

/* ---- percentiles of few values: they are sorted ---- */

enum { FEW = 1024 };

typedef struct few {
    uint64_t v[FEW];
    size_t n;
} few;

static void take_few(void *ctx, const uint32_t *words, uint32_t n)
{
    few *f = ctx;
    for (uint32_t i = 0; i < n;)
        f->v[f->n++] = value_at(words, &i);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static rocl_status sort_few(rocl_samples *s, uint32_t group, const uint64_t *ranks, int64_t *values,
                            rocl_error *err)
{
    few f = {.n = 0};
    rocl_status st = walk(s, group, take_few, &f, err);
    qsort(f.v, f.n, sizeof *f.v, by_value);
    for (int i = 0; i < ROCL_RANKS; i++)
        values[i] = (int64_t)f.v[ranks[i] - 1];
    return st;
}

/* ---- of many: the digits of a value from the highest down ---- */

enum { BITS = 11, DIGITS = 1 << BITS };

/* A rank that is looked for. */
typedef struct search {
    uint64_t prefix; /* of its value: the digits that are known */
    uint64_t rank;   /* among the values with this prefix, from 1 */
    unsigned table;  /* with the counts for this prefix */
} search;

typedef struct searches {
    search of[ROCL_RANKS];
    unsigned shift; /* of the digit that is looked for */
    unsigned tables;
    uint64_t prefixes[ROCL_RANKS]; /* by table */
    uint64_t counts[ROCL_RANKS][DIGITS];
} searches;

static void count_digits(void *ctx, const uint32_t *words, uint32_t n)
{
    searches *s = ctx;
    for (uint32_t i = 0; i < n;) {
        uint64_t v = value_at(words, &i) >> s->shift;
        for (unsigned t = 0; t < s->tables; t++)
            if (v >> BITS == s->prefixes[t]) {
                s->counts[t][v & (DIGITS - 1)]++;
                break;
            }
    }
}

/* Ranks are ascending, and so are their prefixes. */
static void open_tables(searches *s)
{
    s->tables = 0;
    for (int i = 0; i < ROCL_RANKS; i++) {
        if (!i || s->of[i].prefix != s->of[i - 1].prefix) {
            s->prefixes[s->tables] = s->of[i].prefix;
            memset(s->counts[s->tables++], 0, sizeof *s->counts);
        }
        s->of[i].table = s->tables - 1;
    }
}

static void next_digit(search *f, const uint64_t *counts)
{
    unsigned digit = 0;
    while (f->rank > counts[digit])
        f->rank -= counts[digit++];
    f->prefix = f->prefix << BITS | digit;
}

static rocl_status search_many(rocl_samples *s, uint32_t group, int64_t max, const uint64_t *ranks,
                               int64_t *values, rocl_error *err)
{
    searches *f = calloc(1, sizeof *f);
    rocl_status st = f ? ROCL_OK : rocl_fail_memory(err);
    for (int i = 0; f && i < ROCL_RANKS; i++)
        f->of[i].rank = ranks[i];
    unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)max | 1);
    for (unsigned digits = (bits + BITS - 1) / BITS; st == ROCL_OK && digits--;) {
        f->shift = digits * BITS;
        open_tables(f);
        st = walk(s, group, count_digits, f, err);
        for (int i = 0; st == ROCL_OK && i < ROCL_RANKS; i++)
            next_digit(&f->of[i], f->counts[f->of[i].table]);
    }
    for (int i = 0; f && i < ROCL_RANKS; i++)
        values[i] = (int64_t)f->of[i].prefix;
    free(f);
    return st;
}

rocl_status rocl_samples_describe(rocl_samples *s, uint32_t group, rocl_distribution *d,
                                  rocl_error *err)
{
    uint64_t ranks[ROCL_RANKS];
    int64_t values[ROCL_RANKS];
    *d = (rocl_distribution){0};
    for (unsigned w = 0; w < s->workers; w++)
        if (group < s->piles[w].cap)
            rocl_distribution_merge(d, &s->piles[w].by_group[group].d);
    if (!d->taken)
        return ROCL_OK;
    rocl_distribution_ranks(d->taken, ranks);
    rocl_status st = d->taken <= FEW ? sort_few(s, group, ranks, values, err)
                                     : search_many(s, group, d->max, ranks, values, err);
    if (st == ROCL_OK)
        rocl_distribution_percentiles(d, values);
    return st;
}

/* ---- begin and end ---- */

rocl_samples *rocl_samples_new(rocl_sort_space *space, unsigned workers)
{
    rocl_samples *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->space = space;
    s->workers = workers;
    s->piles = calloc(workers, sizeof *s->piles);
    s->scratch = malloc(CHUNK * sizeof *s->scratch);
    if (s->piles && s->scratch)
        return s;
    rocl_samples_free(s);
    return NULL;
}

/* The space's account is not settled: samples live as long as the report. */
static void free_pile(pile *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->chunks[i].memory);
    free(p->chunks);
    free(p->open);
}

void rocl_samples_free(rocl_samples *s)
{
    if (!s)
        return;
    for (unsigned w = 0; s->piles && w < s->workers; w++) {
        for (size_t i = 0; i < s->piles[w].cap; i++)
            free_pile(&s->piles[w].by_group[i]);
        free(s->piles[w].by_group);
    }
    free(s->piles);
    free(s->scratch);
    free(s);
}

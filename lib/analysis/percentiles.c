/* Durations by group: see percentiles.h.
 *
 *     workers[w].groups[]: open: the block that is being filled
 *                          large: distribution without percentiles
 *                                 blocks[]: full, in memory or in the file of the sort space
 *     workers[w].at_plus1[g]: where the group is among those of the worker, plus 1: each worker may
 *                             see few of a million groups
 *
 * A block is words of 32 bits, a value each. A value that does not fit is WIDE and two words more,
 * the low one first; it does not go over the end of a block. */
#include "analysis/percentiles.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/pool.h"

#define WIDE UINT32_MAX

enum { WIDE_WORDS = 3 };
/* Words in a block, in the first of a group, and in the least that is written to the file. The
 * first takes 32 bytes with what malloc() adds. */
enum { BLOCK = 8192, FIRST = 6, SPILL_LEAST = 256 };

typedef struct block {
    uint32_t *memory; /* NULL: in the file */
    uint64_t offset;  /* there */
    uint32_t words;
} block;

typedef struct large {
    rocl_distribution d; /* sums of all values */
    block *blocks;
    size_t count, cap;
} large;

/* There may be millions, each with a value or two. */
typedef struct group {
    uint32_t *open;
    uint32_t words, capacity; /* both count words of the open block */
    large *large;             /* NULL: there is only the first block, and sums are made of it */
} group;

typedef struct worker {
    group *groups;
    size_t count, cap;
    uint32_t *at_plus1; /* 0: the worker has seen nothing of the group */
    size_t at_cap;
    uint32_t *scratch; /* a block out of the file; NULL: none was read */
} worker;

static group *find_group(const worker *w, uint32_t group_index)
{
    const uint32_t plus1 = group_index < w->at_cap ? w->at_plus1[group_index] : 0;
    return plus1 ? &w->groups[plus1 - 1] : NULL;
}

/* NULL: memory is out. */
static group *add_group(worker *w, uint32_t group_index)
{
    if (!ROCL_GROW(w->at_plus1, w->at_cap, (size_t)group_index + 1) ||
        !ROCL_GROW(w->groups, w->cap, w->count + 1))
        return NULL;
    w->at_plus1[group_index] = (uint32_t)++w->count;
    return &w->groups[w->count - 1];
}

/* The groups of another rank, in the order in which it has put them. */
typedef struct rank_groups {
    uint32_t *groups;
    size_t count, cap;
} rank_groups;

struct search; /* see below */

struct rocl_percentiles {
    rocl_sort_space *space;
    unsigned worker_count;
    worker *workers;
    /* In a team: on another rank what it has put, on rank 0 the same by rank: */
    rank_groups *ranks;
    size_t rank_cap;
    /* On rank 0, of groups that have values on other ranks: */
    struct search *searches;
    uint32_t *search_of; /* by group: which + 1 */
    size_t search_count, search_cap, group_cap;
    size_t first, past; /* those that are asked now */
};

/* For fewer values it takes longer to wake another worker than to count them. */
#define FEW_VALUES 65536

/* Where a worker reads values of a group, which may be of any worker. */
typedef struct reader {
    rocl_percentiles *all;
    unsigned worker;
    uint32_t group;
} reader;

/* ---- adding ---------------------------------------------------------------------------------- */

static inline uint64_t next_value(const uint32_t *words, uint32_t *i)
{
    uint32_t v = words[(*i)++];
    if (v != WIDE)
        return v;
    *i += 2;
    return words[*i - 2] | (uint64_t)words[*i - 1] << 32;
}

static rocl_distribution sum_group(const group *g)
{
    if (g->large)
        return g->large->d;
    rocl_distribution d = {0};
    for (uint32_t i = 0; i < g->words;)
        rocl_distribution_count(&d, (int64_t)next_value(g->open, &i));
    return d;
}

/* False: memory is out. */
static bool enlarge_group(group *g)
{
    large *l = g->large ? g->large : calloc(1, sizeof *l);
    if (l && !g->large) {
        l->d = sum_group(g);
        g->large = l;
    }
    return l;
}

/* Makes the open block larger, or else puts it away. Blocks begin small, since most groups are;
 * they are put away when they are full, or when memory is, but not for a few bytes. */
static rocl_status reserve_words(rocl_percentiles *s, group *g, rocl_error *err)
{
    uint32_t more = g->capacity ? 4 * g->capacity : FIRST;
    if (g->capacity && !enlarge_group(g))
        return rocl_fail_memory(err);
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
    large *l = g->large;
    if (!ROCL_GROW(l->blocks, l->cap, l->count + 1))
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
    l->blocks[l->count++] = b;
    g->words = 0;
    return ROCL_OK;
}

rocl_status rocl_percentiles_add(rocl_percentiles *s, unsigned worker_index, uint32_t group_index,
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
    if (g->large)
        rocl_distribution_count(&g->large->d, ns);
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
static rocl_status each_block(const reader *r, words_fn *fn, void *ctx, rocl_error *err)
{
    for (unsigned w = 0; w < r->all->worker_count; w++) {
        const group *g = find_group(&r->all->workers[w], r->group);
        if (!g)
            continue;
        const large *l = g->large;
        for (size_t i = 0; l && i < l->count; i++) {
            const block *b = &l->blocks[i];
            worker *own = &r->all->workers[r->worker];
            if (b->memory) {
                fn(ctx, b->memory, b->words);
                continue;
            }
            if (!own->scratch && !(own->scratch = malloc(BLOCK * sizeof *own->scratch)))
                return rocl_fail_memory(err);
            const rocl_status st = rocl_space_read(r->all->space, (uint8_t *)own->scratch,
                                                   b->words * sizeof *own->scratch, b->offset, err);
            if (st != ROCL_OK)
                return st;
            fn(ctx, own->scratch, b->words);
        }
        fn(ctx, g->open, g->words);
    }
    return ROCL_OK;
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

static rocl_status sort_few(const reader *r, const uint64_t *ranks, int64_t *values,
                            rocl_error *err)
{
    few f;
    f.n = 0; /* no zeros for the values */
    rocl_status st = each_block(r, copy_values, &f, err);
    qsort(f.v, f.n, sizeof *f.v, rocl_compare_u64);
    for (int i = 0; i < ROCL_RANKS; i++)
        values[i] = (int64_t)f.v[ranks[i] - 1];
    return st;
}

/* ---- of many: the digits of a value from the highest down ------------------------------------ */

enum { BITS = 11, DIGITS = 1 << BITS };

/* Ranks are ascending, and so are the prefixes of their values: those with one prefix share a table
 * of counts. */
typedef struct digits {
    uint64_t prefix[ROCL_RANKS]; /* the digits that are known of each value */
    uint64_t rank[ROCL_RANKS];   /* among the values with this prefix, from 1 */
    unsigned table[ROCL_RANKS];
    unsigned shift;  /* where the digit that is looked for begins */
    unsigned tables; /* so many */
    uint64_t prefix_of_table[ROCL_RANKS];
    uint64_t counts[ROCL_RANKS][DIGITS]; /* by table and digit */
} digits;

static void count_digits(void *ctx, const uint32_t *words, uint32_t n)
{
    digits *s = ctx;
    for (uint32_t i = 0; i < n;) {
        uint64_t v = next_value(words, &i) >> s->shift;
        for (unsigned t = 0; t < s->tables; t++)
            if (v >> BITS == s->prefix_of_table[t]) {
                s->counts[t][v & (DIGITS - 1)]++;
                break;
            }
    }
}

static rocl_status search_many(const reader *r, int64_t max, const uint64_t *ranks, int64_t *values,
                               rocl_error *err)
{
    digits *f = calloc(1, sizeof *f);
    if (!f)
        return rocl_fail_memory(err);
    memcpy(f->rank, ranks, sizeof f->rank);
    rocl_status st = ROCL_OK;
    const unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)max | 1);
    for (unsigned left = (bits + BITS - 1) / BITS; st == ROCL_OK && left--;) {
        f->shift = left * BITS;
        f->tables = 0;
        for (int i = 0; i < ROCL_RANKS; i++) {
            if (!i || f->prefix[i] != f->prefix[i - 1]) {
                f->prefix_of_table[f->tables] = f->prefix[i];
                memset(f->counts[f->tables++], 0, sizeof *f->counts);
            }
            f->table[i] = f->tables - 1;
        }
        st = each_block(r, count_digits, f, err);
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

rocl_distribution rocl_percentiles_sum(const rocl_percentiles *s, uint32_t group_index)
{
    rocl_distribution d = {0};
    for (unsigned w = 0; w < s->worker_count; w++) {
        const group *g = find_group(&s->workers[w], group_index);
        const rocl_distribution own = g ? sum_group(g) : (rocl_distribution){0};
        rocl_distribution_merge(&d, &own);
    }
    return d;
}

/* ---- several ranks --------------------------------------------------------------------------- */

/* A range is cut into this many pieces, or has at most this many values, which are listed. */
enum { PIECE_BITS = 8, PIECES = 1 << PIECE_BITS };
/* Bytes of the numbers of all ranges that are asked at once. */
#define ASKED_BYTES ((size_t)16 << 20)

/* Values from `low`, below low + 2^bits. */
typedef struct range {
    uint64_t low;
    unsigned bits;
    bool lists;        /* its values, not how many are in each piece */
    uint32_t n;        /* values listed so far */
    uint64_t count;    /* how many values all ranks have; known on rank 0 */
    uint64_t *numbers; /* PIECES of them */
} range;

/* The percentiles of a group. Their ranks ascend, and so do the ranges. */
typedef struct search {
    uint32_t group;
    unsigned range_count; /* 0: all are known */
    range ranges[ROCL_RANKS];
    unsigned range_of[ROCL_RANKS];
    uint64_t rank[ROCL_RANKS]; /* in its range, from 1; 0: the value is known */
    int64_t values[ROCL_RANKS];
} search;

static void free_ranges(search *f)
{
    for (unsigned i = 0; i < f->range_count; i++)
        free(f->ranges[i].numbers);
    f->range_count = 0;
}

static unsigned piece_shift(const range *r)
{
    return r->bits > PIECE_BITS ? r->bits - PIECE_BITS : 0;
}

/* What one pass over the values of a group counts; also on another rank. */
static void count_in_ranges(void *ctx, const uint32_t *words, uint32_t n)
{
    search *f = ctx;
    for (uint32_t i = 0; i < n;) {
        const uint64_t v = next_value(words, &i);
        for (unsigned k = 0; k < f->range_count; k++) {
            range *r = &f->ranges[k];
            const uint64_t at = v - r->low;
            if (at >> r->bits)
                continue;
            if (!r->lists)
                r->numbers[at >> piece_shift(r)]++;
            else if (r->n < PIECES)
                r->numbers[r->n++] = v;
            break;
        }
    }
}

static bool make_numbers(search *f)
{
    bool good = true;
    for (unsigned k = 0; k < f->range_count; k++)
        good &= (f->ranges[k].numbers = calloc(PIECES, sizeof(uint64_t))) != NULL;
    return good;
}

typedef struct counting {
    rocl_percentiles *all;
    search *searches;
} counting;

static rocl_status count_task(void *ctx, unsigned worker_index, size_t i, rocl_error *err)
{
    counting *c = ctx;
    search *f = &c->searches[i];
    if (!f->range_count)
        return ROCL_OK;
    return each_block(&(reader){c->all, worker_index, f->group}, count_in_ranges, f, err);
}

static rocl_status count_values(rocl_percentiles *s, search *searches, size_t n, rocl_error *err)
{
    counting c = {s, searches};
    uint64_t values = 0;
    for (size_t i = 0; i < n; i++)
        values += rocl_percentiles_sum(s, searches[i].group).taken;
    const unsigned workers = values < FEW_VALUES ? 1 : s->worker_count;
    return rocl_run_tasks(workers, n, count_task, &c, err);
}

/* ---- rank 0 ---- */

/* A range for each percentile whose value is not known, one for those that have the same. */
static rocl_status set_ranges(search *f, const range *of, rocl_error *err)
{
    free_ranges(f);
    for (int k = 0; k < ROCL_RANKS; k++) {
        if (!f->rank[k])
            continue;
        const range *last = f->range_count ? &f->ranges[f->range_count - 1] : NULL;
        if (!last || last->low != of[k].low || last->bits != of[k].bits)
            f->ranges[f->range_count++] = (range){.low = of[k].low,
                                                  .bits = of[k].bits,
                                                  .count = of[k].count,
                                                  .lists = of[k].count <= PIECES};
        f->range_of[k] = f->range_count - 1;
    }
    return make_numbers(f) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status begin_search(const rocl_percentiles *s, search *f, rocl_error *err)
{
    const rocl_distribution d = rocl_percentiles_sum(s, f->group);
    const uint64_t span = (uint64_t)d.max - (uint64_t)d.min;
    const range all = {.low = (uint64_t)d.min,
                       .bits = span ? 64 - (unsigned)__builtin_clzll(span) : 0,
                       .count = d.taken};
    range of[ROCL_RANKS];
    rocl_distribution_ranks(d.taken, f->rank);
    for (int k = 0; k < ROCL_RANKS; k++) {
        of[k] = all;
        f->values[k] = d.min;
        f->rank[k] = span ? f->rank[k] : 0;
    }
    return set_ranges(f, of, err);
}

static rocl_status narrow_search(search *f, rocl_error *err)
{
    range of[ROCL_RANKS] = {{0}};
    for (unsigned i = 0; i < f->range_count; i++) {
        range *r = &f->ranges[i];
        uint64_t sum = r->n;
        for (unsigned k = 0; k < PIECES && !r->lists; k++)
            sum += r->numbers[k];
        if (sum != r->count)
            return rocl_fail(err, ROCL_INTERNAL, "ranks of the team have lost values of a group");
        if (r->lists)
            qsort(r->numbers, r->n, sizeof *r->numbers, rocl_compare_u64);
    }
    for (int k = 0; k < ROCL_RANKS; k++) {
        const range *r = f->rank[k] ? &f->ranges[f->range_of[k]] : NULL;
        if (r && r->lists) {
            f->values[k] = (int64_t)r->numbers[f->rank[k] - 1];
            f->rank[k] = 0;
        } else if (r) {
            unsigned piece = 0;
            while (f->rank[k] > r->numbers[piece])
                f->rank[k] -= r->numbers[piece++];
            of[k] = (range){.low = r->low + ((uint64_t)piece << piece_shift(r)),
                            .bits = piece_shift(r),
                            .count = r->numbers[piece]};
            f->values[k] = (int64_t)of[k].low;
            f->rank[k] = of[k].bits ? f->rank[k] : 0;
        }
    }
    return set_ranges(f, of, err);
}

rocl_status rocl_percentiles_prepare(rocl_percentiles *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    bool more = false;
    for (size_t i = s->first; i < s->past && st == ROCL_OK; i++) {
        if (s->searches[i].range_count)
            st = narrow_search(&s->searches[i], err);
        more |= s->searches[i].range_count > 0;
    }
    size_t bytes = 0;
    if (!more)
        s->first = s->past;
    while (!more && s->past < s->search_count && bytes < ASKED_BYTES && st == ROCL_OK) {
        st = begin_search(s, &s->searches[s->past], err);
        bytes += s->searches[s->past++].range_count * PIECES * sizeof(uint64_t);
    }
    return st;
}

/* NULL: it is not asked about. */
static search *search_of(const rocl_percentiles *s, uint32_t group_index)
{
    const size_t i = group_index < s->group_cap ? s->search_of[group_index] : 0;
    search *f = i > s->first && i <= s->past ? &s->searches[i - 1] : NULL;
    return f && f->range_count ? f : NULL;
}

void rocl_percentiles_ask(const rocl_percentiles *s, unsigned rank, rocl_put *to)
{
    const rank_groups *groups = rank < s->rank_cap ? &s->ranks[rank] : NULL;
    size_t last = 0;
    for (size_t i = 0; groups && s->first < s->past && i < groups->count; i++) {
        const search *f = search_of(s, groups->groups[i]);
        if (!f)
            continue;
        rocl_put_number(to, i - last);
        rocl_put_number(to, f->range_count);
        for (unsigned k = 0; k < f->range_count; k++) {
            rocl_put_number(to, f->ranges[k].low);
            rocl_put_number(to, f->ranges[k].bits << 1 | f->ranges[k].lists);
        }
        last = i;
    }
}

rocl_status rocl_percentiles_answer_own(rocl_percentiles *s, rocl_error *err)
{
    return count_values(s, s->searches + s->first, s->past - s->first, err);
}

static void hear_range(range *r, rocl_taken *from)
{
    uint64_t n = rocl_take_number(from), at = 0;
    for (; n && !from->r.bad; n--) {
        at += rocl_take_number(from);
        if (r->lists ? r->n >= PIECES : at >= PIECES)
            from->r.bad = true;
        else if (r->lists)
            r->numbers[r->n++] = r->low + at;
        else
            r->numbers[at] += rocl_take_number(from);
    }
}

rocl_status rocl_percentiles_hear(rocl_percentiles *s, unsigned rank, rocl_taken *from,
                                  rocl_error *err)
{
    const rank_groups *groups = rank < s->rank_cap ? &s->ranks[rank] : NULL;
    for (size_t i = 0; groups && i < groups->count && !from->r.bad; i++) {
        search *f = search_of(s, groups->groups[i]);
        for (unsigned k = 0; f && k < f->range_count; k++)
            hear_range(&f->ranges[k], from);
    }
    return rocl_taken_all(from) && !from->r.bad ? ROCL_OK : rocl_team_bad_message(err);
}

/* ---- sums ---- */

static rank_groups *groups_of(rocl_percentiles *s, unsigned rank)
{
    if (!ROCL_GROW(s->ranks, s->rank_cap, (size_t)rank + 1))
        return NULL;
    rank_groups *g = &s->ranks[rank];
    return ROCL_GROW(g->groups, g->cap, g->count + 1) ? g : NULL;
}

void rocl_percentiles_put(rocl_percentiles *s, uint32_t group_index, rocl_put *to)
{
    const rocl_distribution d = rocl_percentiles_sum(s, group_index);
    rank_groups *g = groups_of(s, 0);
    if (!g) {
        to->b.failed = true;
        return;
    }
    g->groups[g->count++] = group_index;
    rocl_put_number(to, d.taken);
    rocl_put_number(to, (uint64_t)d.min);
    rocl_put_number(to, (uint64_t)(d.max - d.min));
    rocl_put_wide(to, d.sum);
    rocl_put_wide(to, d.squares);
    rocl_put_number(to, d.squares_high);
}

rocl_status rocl_percentiles_take(rocl_percentiles *s, unsigned rank, uint32_t group_index,
                                  bool percentiles, rocl_taken *from, rocl_error *err)
{
    rocl_distribution d = {.taken = rocl_take_number(from)};
    d.min = (int64_t)rocl_take_number(from);
    d.max = (int64_t)((uint64_t)d.min + rocl_take_number(from));
    d.sum = rocl_take_wide(from);
    d.squares = rocl_take_wide(from);
    d.squares_high = rocl_take_number(from);
    d.total = rocl_cut_sum(d.sum);
    if (from->r.bad || !d.taken || d.min < 0 || d.max < d.min)
        return rocl_team_bad_message(err);
    worker *w = &s->workers[0];
    group *g = find_group(w, group_index);
    rank_groups *groups = groups_of(s, rank);
    if (!groups || (!g && !(g = add_group(w, group_index))) || !enlarge_group(g))
        return rocl_fail_memory(err);
    groups->groups[groups->count++] = group_index;
    rocl_distribution_merge(&g->large->d, &d);
    if (!percentiles)
        return ROCL_OK;
    if (!ROCL_GROW(s->search_of, s->group_cap, (size_t)group_index + 1) ||
        !ROCL_GROW(s->searches, s->search_cap, s->search_count + 1))
        return rocl_fail_memory(err);
    if (!s->search_of[group_index]) {
        s->searches[s->search_count++].group = group_index;
        s->search_of[group_index] = (uint32_t)s->search_count;
    }
    return ROCL_OK;
}

/* ---- another rank ---- */

static rocl_status take_question(const rocl_percentiles *s, rocl_taken *from, search **list,
                                 size_t *n, rocl_error *err)
{
    size_t cap = 0;
    uint64_t at = 0;
    while (!rocl_taken_all(from)) {
        at += rocl_take_number(from);
        const uint64_t ranges = rocl_take_number(from);
        if (from->r.bad || !s->ranks || at >= s->ranks->count || ranges > ROCL_RANKS)
            return rocl_team_bad_message(err);
        if (!ROCL_GROW(*list, cap, *n + 1))
            return rocl_fail_memory(err);
        search *f = &(*list)[(*n)++];
        *f = (search){.group = s->ranks->groups[at], .range_count = (unsigned)ranges};
        for (unsigned k = 0; k < ranges; k++) {
            f->ranges[k].low = rocl_take_number(from);
            const uint64_t how = rocl_take_number(from);
            f->ranges[k].lists = how & 1;
            f->ranges[k].bits = how >> 1 & 63;
        }
        if (!make_numbers(f))
            return rocl_fail_memory(err);
    }
    return from->r.bad ? rocl_team_bad_message(err) : ROCL_OK;
}

static void put_range(rocl_put *to, const range *r)
{
    uint64_t last = 0;
    uint32_t n = r->n;
    if (r->lists)
        qsort(r->numbers, n, sizeof *r->numbers, rocl_compare_u64);
    for (unsigned i = 0; i < PIECES && !r->lists; i++)
        n += r->numbers[i] != 0;
    rocl_put_number(to, n);
    for (uint32_t i = 0; r->lists && i < n; i++) {
        rocl_put_number(to, r->numbers[i] - r->low - last);
        last = r->numbers[i] - r->low;
    }
    for (unsigned i = 0; i < PIECES && !r->lists; i++)
        if (r->numbers[i]) {
            rocl_put_number(to, i - last);
            rocl_put_number(to, r->numbers[i]);
            last = i;
        }
}

rocl_status rocl_percentiles_answer(rocl_percentiles *s, rocl_taken *from, rocl_put *to,
                                    rocl_error *err)
{
    search *list = NULL;
    size_t n = 0;
    rocl_status st = take_question(s, from, &list, &n, err);
    if (st == ROCL_OK)
        st = count_values(s, list, n, err);
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < list[i].range_count && st == ROCL_OK; k++)
            put_range(to, &list[i].ranges[k]);
        free_ranges(&list[i]);
    }
    free(list);
    return st;
}

/* ---- what all say ---------------------------------------------------------------------------- */

static rocl_status describe_group(const reader *r, rocl_distribution *d, rocl_error *err)
{
    const rocl_percentiles *s = r->all;
    uint64_t ranks[ROCL_RANKS];
    int64_t values[ROCL_RANKS];
    *d = rocl_percentiles_sum(s, r->group);
    if (!d->taken)
        return ROCL_OK;
    if (r->group < s->group_cap && s->search_of[r->group]) {
        rocl_distribution_percentiles(d, s->searches[s->search_of[r->group] - 1].values);
        return ROCL_OK;
    }
    rocl_distribution_ranks(d->taken, ranks);
    rocl_status st = d->taken <= FEW ? sort_few(r, ranks, values, err)
                                     : search_many(r, d->max, ranks, values, err);
    if (st == ROCL_OK)
        rocl_distribution_percentiles(d, values);
    return st;
}

rocl_status rocl_percentiles_describe(rocl_percentiles *s, uint32_t group_index,
                                      rocl_distribution *d, rocl_error *err)
{
    return describe_group(&(reader){s, 0, group_index}, d, err);
}

/* ---- many groups side by side ---------------------------------------------------------------- */

/* Tasks for each worker: groups differ in size. */
enum { TASKS_EACH = 16 };

typedef struct describe_run {
    rocl_percentiles *all;
    const rocl_described *groups;
    size_t count, each; /* groups in all, and in a task */
} describe_run;

static rocl_status describe_some(void *ctx, unsigned number, size_t task, rocl_error *err)
{
    const describe_run *r = ctx;
    rocl_status st = ROCL_OK;
    for (size_t i = task * r->each; i < (task + 1) * r->each && i < r->count && !st; i++)
        st = describe_group(&(reader){r->all, number, r->groups[i].group}, r->groups[i].d, err);
    return st;
}

rocl_status rocl_percentiles_describe_all(rocl_percentiles *s, const rocl_described *groups,
                                          size_t count, rocl_error *err)
{
    uint64_t values = 0;
    for (unsigned w = 0; w < s->worker_count; w++)
        for (size_t i = 0; i < s->workers[w].count; i++)
            values += sum_group(&s->workers[w].groups[i]).taken;
    const unsigned workers = values < FEW_VALUES ? 1 : s->worker_count;
    const size_t each = count / ((size_t)workers * TASKS_EACH) + 1;
    describe_run run = {s, groups, count, each};
    return rocl_run_tasks(workers, (count + each - 1) / each, describe_some, &run, err);
}

/* ---- begin and end --------------------------------------------------------------------------- */

rocl_percentiles *rocl_percentiles_new(rocl_sort_space *space, unsigned workers)
{
    rocl_percentiles *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->space = space;
    s->worker_count = workers;
    s->workers = calloc(workers, sizeof *s->workers);
    if (s->workers)
        return s;
    rocl_percentiles_free(s);
    return NULL;
}

/* Memory of the space is not given back: values live as long as the report. */
void rocl_percentiles_free(rocl_percentiles *s)
{
    if (!s)
        return;
    for (unsigned w = 0; s->workers && w < s->worker_count; w++) {
        for (size_t i = 0; i < s->workers[w].count; i++) {
            group *g = &s->workers[w].groups[i];
            for (size_t k = 0; g->large && k < g->large->count; k++)
                free(g->large->blocks[k].memory);
            if (g->large)
                free(g->large->blocks);
            free(g->large);
            free(g->open);
        }
        free(s->workers[w].groups);
        free(s->workers[w].at_plus1);
        free(s->workers[w].scratch);
    }
    for (size_t i = 0; i < s->search_count; i++)
        free_ranges(&s->searches[i]);
    for (size_t i = 0; i < s->rank_cap; i++)
        free(s->ranks[i].groups);
    free(s->ranks);
    free(s->searches);
    free(s->search_of);
    free(s->workers);
    free(s);
}

/* Kernels that only one side has, matched by similar names and by their places. */
#include "analysis/compare_renamed.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/alignment.h"
#include "analysis/similar_names.h"
#include "base/array.h"

enum { A, B, SIDES };
enum { MOST_IN_PLACE = 4 }; /* kernels of a place that tell which is which */

/* A kernel that only one of the sides has. */
typedef struct lone_kernel {
    rocl_view name;
    uint32_t id;
    rocl_side_name sums;
} lone_kernel;

/* The kernels that take the most time come first, as not all are looked at. */
static int compare_lone(const void *a, const void *b)
{
    const lone_kernel *x = a, *y = b;
    const int c = rocl_compare_u64(&y->sums.ns, &x->sums.ns);
    return c ? c : rocl_compare_views(x->name, y->name);
}

/* An array that the caller frees; NULL: memory is out. */
static lone_kernel *find_lone(const rocl_side *side, const rocl_side *other, size_t *count)
{
    lone_kernel *all = NULL;
    size_t cap = 0;
    *count = 0;
    if (!ROCL_GROW(all, cap, 1))
        return NULL;
    for (uint32_t id = 1; id < rocl_strings_count(side->keys); id++) {
        const rocl_side_name sums = rocl_side_name_of(side, id);
        const rocl_view name = rocl_key_name(side->keys, id);
        if (rocl_key_domain(name.p - 1) != ROCL_DOMAIN_KERNELS || !sums.count ||
            rocl_side_name_of(other, id).count)
            continue;
        if (!ROCL_GROW(all, cap, *count + 1)) {
            free(all);
            return NULL;
        }
        all[(*count)++] = (lone_kernel){name, id, sums};
    }
    qsort(all, *count, sizeof *all, compare_lone);
    return all;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A kernel that only one side has in the aligned order: index + 1 in the list, and the hunk. */
typedef struct standing {
    uint32_t lone, hunk;
} standing;

/* One in the place of another one: indices in both lists, + 1; other 0: the place is not clear. */
typedef struct instead {
    uint32_t lone, other;
} instead;

typedef struct places {
    rocl_alignment g;
    uint32_t *lone_of[SIDES]; /* by key: index in the list, + 1; 0: it is in none */
    standing *all[SIDES];
    size_t count[SIDES], cap[SIDES];
    instead *pairs[SIDES];
    size_t pair_count[SIDES], pair_cap[SIDES];
    uint32_t *hunks[SIDES]; /* one for each standing, in their order */
} places;

ROCL_COMPARE_MEMBERS(compare_standings, standing, lone, hunk)
ROCL_COMPARE_MEMBERS(compare_pairs, instead, lone, other)

static uint32_t lone_at(const places *p, unsigned k, uint32_t place)
{
    return p->lone_of[k][rocl_aligned_kernel(&p->g, k, place)->key];
}

/* Where a kernel has none in its stead nothing can be said of it. */
static bool read_hunk(places *p, uint32_t hunk)
{
    const rocl_hunk *h = &p->g.hunks[hunk];
    uint32_t in[SIDES][MOST_IN_PLACE] = {{0}}, n[SIDES] = {0};
    for (unsigned k = A; k <= B; k++)
        for (uint32_t i = h->begin[k]; i < h->end[k]; i++)
            if (!p->g.moved[k][i] && n[k]++ < MOST_IN_PLACE)
                in[k][n[k] - 1] = lone_at(p, k, i);
    const bool clear = n[A] == n[B] && n[A] <= MOST_IN_PLACE;
    for (unsigned k = A; k <= B; k++)
        for (uint32_t i = h->begin[k], at = 0; i < h->end[k]; i++) {
            const uint32_t lone = lone_at(p, k, i);
            const uint32_t other = clear && !p->g.moved[k][i] ? in[!k][at] : 0;
            at += !p->g.moved[k][i];
            if (!lone)
                continue;
            if (!ROCL_GROW(p->all[k], p->cap[k], p->count[k] + 1))
                return false;
            p->all[k][p->count[k]++] = (standing){lone, hunk};
            if (!n[!k])
                continue;
            if (!ROCL_GROW(p->pairs[k], p->pair_cap[k], p->pair_count[k] + 1))
                return false;
            p->pairs[k][p->pair_count[k]++] = (instead){lone, other};
        }
    return true;
}

/* Gives each name its hunks, and its counterpart. */
static void describe_places(places *p, unsigned k, const rocl_side *side, const lone_kernel *lone,
                            rocl_lone_name *names)
{
    /* Steps that have kernels; 1 where the order is that of all kernels. */
    uint64_t steps = !side->steps.marker;
    for (size_t i = 0; i < side->steps.step_count && side->steps.marker; i++)
        steps += side->steps.steps[i].kernels > 0;
    for (size_t i = 0, past; i < p->count[k]; i = past) {
        rocl_lone_name *name = &names[p->all[k][i].lone - 1];
        name->places = p->hunks[k] + i;
        for (past = i; past < p->count[k] && p->all[k][past].lone == p->all[k][i].lone; past++)
            p->hunks[k][past] = p->all[k][past].hunk;
        name->place_count = past - i;
    }
    for (size_t i = 0, past; i < p->pair_count[k]; i = past) {
        const instead *first = &p->pairs[k][i];
        rocl_lone_name *name = &names[first->lone - 1];
        for (past = i; past < p->pair_count[k] && p->pairs[k][past].lone == first->lone; past++)
            ;
        /* Sorted: all are the same if the first and the last are. */
        if (p->pairs[k][past - 1].other == first->other && (past - i) * 2 > name->place_count &&
            lone[first->lone - 1].sums.count == name->place_count * steps)
            name->stands_for = first->other;
    }
}

static rocl_status find_places(places *p, const rocl_side sides[SIDES], lone_kernel *const lone[],
                               rocl_lone_name *const names[], const size_t n[], rocl_error *err)
{
    const rocl_side_steps *a = &sides[A].steps, *b = &sides[B].steps;
    if (!a->kernel_count || !b->kernel_count || !n[A] || !n[B])
        return ROCL_OK;
    for (unsigned k = A; k <= B; k++) {
        p->lone_of[k] = calloc(rocl_strings_count(sides[k].keys), sizeof *p->lone_of[k]);
        if (!p->lone_of[k])
            return rocl_fail_memory(err);
        for (size_t i = 0; i < n[k]; i++)
            p->lone_of[k][lone[k][i].id] = (uint32_t)i + 1;
    }
    const rocl_status st = rocl_alignment_make(&p->g, a, b, NULL, err);
    if (st != ROCL_OK)
        return st;
    for (uint32_t i = 0; i < p->g.hunk_count; i++)
        if (!read_hunk(p, i))
            return rocl_fail_memory(err);
    for (unsigned k = A; k <= B; k++) {
        p->hunks[k] = malloc((p->count[k] + 1) * sizeof *p->hunks[k]);
        if (!p->hunks[k])
            return rocl_fail_memory(err);
        if (p->count[k])
            qsort(p->all[k], p->count[k], sizeof *p->all[k], compare_standings);
        if (p->pair_count[k])
            qsort(p->pairs[k], p->pair_count[k], sizeof *p->pairs[k], compare_pairs);
        describe_places(p, k, &sides[k], lone[k], names[k]);
    }
    return ROCL_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

rocl_status rocl_find_renamed(rocl_renamed **renamed, size_t *count, const rocl_side sides[2],
                              const rocl_kernel_classes *classes, rocl_error *err)
{
    size_t n[SIDES] = {0};
    lone_kernel *lone[SIDES];
    rocl_lone_name *names[SIDES] = {NULL};
    places p = {0};
    rocl_renamed *all = calloc(rocl_strings_count(sides[A].keys), sizeof *all);
    *renamed = all;
    *count = 0;
    for (unsigned k = A; k <= B; k++) {
        lone[k] = find_lone(&sides[k], &sides[!k], &n[k]);
        names[k] = lone[k] ? calloc(n[k] + 1, sizeof *names[k]) : NULL;
        for (size_t i = 0; names[k] && i < n[k]; i++) {
            const lone_kernel *l = &lone[k][i];
            const unsigned class = rocl_classify_kernel(classes, l->name.p, l->name.n);
            /* Names of these classes are made by generators of variants of one operation. */
            const bool generated = class == ROCL_CLASS_GEMM || class == ROCL_CLASS_ATTENTION ||
                                   class == ROCL_CLASS_CONVOLUTION;
            names[k][i] = (rocl_lone_name){.name = l->name.p,
                                           .len = l->name.n,
                                           .class = class,
                                           .says_what = !generated,
                                           .items = (double)l->sums.items / (double)l->sums.count};
        }
    }
    rocl_status st = all && names[A] && names[B] ? find_places(&p, sides, lone, names, n, err)
                                                 : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_match_names(names[A], n[A], names[B], n[B], err);
    for (size_t i = 0; i < n[A] && st == ROCL_OK; i++) {
        const rocl_lone_name *name = &names[A][i];
        if (!name->partner)
            continue;
        const uint32_t a = lone[A][i].id, b = lone[B][name->partner - 1].id;
        const bool by_place = name->likeness < ROCL_SIMILAR;
        all[a] = (rocl_renamed){b, name->likeness, by_place};
        all[b] = (rocl_renamed){a, name->likeness, by_place};
        ++*count;
    }
    rocl_alignment_free(&p.g);
    for (unsigned k = A; k <= B; k++) {
        free(lone[k]);
        free(names[k]);
        free(p.lone_of[k]);
        free(p.all[k]);
        free(p.pairs[k]);
        free(p.hunks[k]);
    }
    return st;
}

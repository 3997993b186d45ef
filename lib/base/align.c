/* Myers' search for a shortest edit script (E. W. Myers, An O(ND) difference algorithm and its
 * variations, Algorithmica 1, 1986), from both ends at once, in linear space: the point where the
 * two meet cuts the problem in two.
 *
 * A diagonal k holds the points with x - y = k; x counts symbols of a, y those of b. After d
 * differences a search has reached one point on every other diagonal from -d to d, the farthest.
 * The search from the end is the same on the reversed sequences. */
#include "base/align.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* The symbols that the other side has, too, and their places in the whole sequence. */
typedef struct sequence {
    uint32_t *symbols, *places;
    size_t count;
} sequence;

typedef struct aligner {
    sequence a, b;
    uint32_t *match;
    bool minimal;
    size_t steps; /* so far */
    /* How far along a each diagonal was followed, from the begin and from the end; room for one
     * more diagonal on either side. */
    ptrdiff_t forward[2 * ROCL_ALIGN_DIFFERENCES + 3], backward[2 * ROCL_ALIGN_DIFFERENCES + 3];
} aligner;

/* A range of each: [a, a_end) and [b, b_end). */
typedef struct box {
    size_t a, a_end, b, b_end;
} box;

typedef struct point {
    size_t x, y; /* from the begin of the box */
} point;

/* ---- the search ------------------------------------------------------------------------------ */

/* One step of a search, to d differences. reached: by diagonal. True, and *meet: it has met the
 * other search, which has made other_d differences. backward: x and y count from the end. */
static bool extend_search(const aligner *g, const box *w, bool backward, ptrdiff_t d,
                          ptrdiff_t *reached, const ptrdiff_t *other, ptrdiff_t other_d,
                          point *meet)
{
    const uint32_t *a = g->a.symbols + w->a, *b = g->b.symbols + w->b;
    const ptrdiff_t n = (ptrdiff_t)(w->a_end - w->a), m = (ptrdiff_t)(w->b_end - w->b);
    const ptrdiff_t least = d > m ? -(2 * m - d) : -d, most = d > n ? 2 * n - d : d;
    for (ptrdiff_t k = least; k <= most; k += 2) {
        ptrdiff_t x = d == 0                                                   ? 0
                      : k == -d || (k != d && reached[k - 1] < reached[k + 1]) ? reached[k + 1]
                                                                               : reached[k - 1] + 1;
        ptrdiff_t y = x - k;
        if (backward)
            while (x < n && y < m && a[n - 1 - x] == b[m - 1 - y])
                x++, y++;
        else
            while (x < n && y < m && a[x] == b[y])
                x++, y++;
        reached[k] = x;
        /* The number of the same diagonal in the other search. */
        const ptrdiff_t there = n - m - k;
        if (there < -other_d || there > other_d || ((there ^ other_d) & 1) || x + other[there] < n)
            continue;
        *meet =
            backward ? (point){(size_t)(n - x), (size_t)(m - y)} : (point){(size_t)x, (size_t)y};
        return true;
    }
    return false;
}

/* A point where the box can be cut without losing pairs, or, if that is too far, the one that a
 * search reached with the most symbols behind it. Neither sequence is empty, and they differ at
 * both ends. */
static point find_cut(aligner *g, const box *w)
{
    ptrdiff_t *forward = g->forward + ROCL_ALIGN_DIFFERENCES + 1;
    ptrdiff_t *backward = g->backward + ROCL_ALIGN_DIFFERENCES + 1;
    const ptrdiff_t n = (ptrdiff_t)(w->a_end - w->a), m = (ptrdiff_t)(w->b_end - w->b);
    ptrdiff_t best = -1;
    point p = {0, 0};
    const ptrdiff_t most = g->steps < ROCL_ALIGN_STEPS ? ROCL_ALIGN_DIFFERENCES : ROCL_ALIGN_FEW;
    for (ptrdiff_t d = 0; d <= most; d++) {
        g->steps += 2 * (size_t)d + 2;
        if (d && extend_search(g, w, false, d, forward, backward, d - 1, &p))
            return p;
        if (!d)
            extend_search(g, w, false, 0, forward, backward, -1, &p);
        if (extend_search(g, w, true, d, backward, forward, d, &p))
            return p;
    }
    g->minimal = false;
    for (ptrdiff_t k = -most; k <= most; k += 2) {
        const ptrdiff_t x = forward[k], y = x - k;
        if (k < -m || k > n || x > n || y > m || x + y <= best)
            continue;
        best = x + y;
        p = (point){(size_t)x, (size_t)y};
    }
    return p;
}

static void pair_up(aligner *g, size_t i, size_t k)
{
    g->match[g->a.places[i]] = g->b.places[k] + 1;
}

/* Cuts the box until one side of it is empty; common prefixes and suffixes are pairs. */
static void align_box(aligner *g, box w)
{
    for (;;) {
        while (w.a < w.a_end && w.b < w.b_end && g->a.symbols[w.a] == g->b.symbols[w.b])
            pair_up(g, w.a++, w.b++);
        while (w.a < w.a_end && w.b < w.b_end &&
               g->a.symbols[w.a_end - 1] == g->b.symbols[w.b_end - 1])
            pair_up(g, --w.a_end, --w.b_end);
        if (w.a == w.a_end || w.b == w.b_end)
            return;
        const point p = find_cut(g, &w);
        const box first = {w.a, w.a + p.x, w.b, w.b + p.y},
                  second = {w.a + p.x, w.a_end, w.b + p.y, w.b_end};
        /* The larger box is the next round of the loop: the depth is the logarithm of the size. */
        const bool first_is_larger = p.x + p.y > w.a_end - w.a + w.b_end - w.b - p.x - p.y;
        align_box(g, first_is_larger ? second : first);
        w = first_is_larger ? first : second;
    }
}

/* ---- what can be paired at all --------------------------------------------------------------- */

/* The symbols of a sequence in order. NULL: memory is out. */
static uint32_t *sort_symbols(const uint32_t *all, size_t n)
{
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (sorted && n) {
        memcpy(sorted, all, n * sizeof *sorted);
        qsort(sorted, n, sizeof *sorted, rocl_compare_u32);
    }
    return sorted;
}

static bool take_common(sequence *s, const uint32_t *all, size_t n, const uint32_t *other, size_t m)
{
    uint32_t last = 0;
    bool has = false;
    s->symbols = malloc((n + 1) * sizeof *s->symbols);
    s->places = malloc((n + 1) * sizeof *s->places);
    if (!s->symbols || !s->places)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!i || all[i] != last)
            has = m && bsearch(&all[i], other, m, sizeof *other, rocl_compare_u32);
        last = all[i];
        if (has) {
            s->symbols[s->count] = all[i];
            s->places[s->count++] = (uint32_t)i;
        }
    }
    return true;
}

bool rocl_align_symbols(const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t *match,
                        bool *minimal)
{
    aligner *g = calloc(1, sizeof *g);
    uint32_t *of_a = sort_symbols(a, n), *of_b = sort_symbols(b, m);
    bool good =
        g && of_a && of_b && take_common(&g->a, a, n, of_b, m) && take_common(&g->b, b, m, of_a, n);
    if (n)
        memset(match, 0, n * sizeof *match);
    if (good) {
        g->match = match;
        g->minimal = true;
        align_box(g, (box){0, g->a.count, 0, g->b.count});
        *minimal = g->minimal;
    }
    free(of_a);
    free(of_b);
    for (unsigned k = 0; g && k < 2; k++) {
        free((k ? &g->b : &g->a)->symbols);
        free((k ? &g->b : &g->a)->places);
    }
    free(g);
    return good;
}

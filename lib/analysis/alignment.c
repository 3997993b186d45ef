/* The kernels of two sides of a comparison, side by side. */
#include "analysis/alignment.h"

#include <stdlib.h>
#include <string.h>

#include "base/align.h"
#include "base/array.h"
#include "base/order.h"

enum { A, B, SIDES };

void rocl_alignment_free(rocl_alignment *g)
{
    for (unsigned k = A; k <= B; k++) {
        free(g->text[k]);
        free(g->lane_begin[k]);
        free(g->lane_partner[k]);
        free(g->partner[k]);
        free(g->moved[k]);
    }
    free(g->hunks);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Kernels by lane, in it in their order. */
static bool make_text(rocl_alignment *g, unsigned k)
{
    const rocl_side_steps *s = g->side[k];
    const size_t n = s->kernel_count;
    g->text[k] = calloc(n + 1, sizeof *g->text[k]);
    g->lane_begin[k] = calloc(s->lane_count + 2, sizeof *g->lane_begin[k]);
    g->lane_partner[k] = malloc((s->lane_count + 1) * sizeof *g->lane_partner[k]);
    g->partner[k] = calloc(n + 1, sizeof *g->partner[k]);
    g->moved[k] = calloc(n + 1, sizeof *g->moved[k]);
    if (!g->text[k] || !g->lane_begin[k] || !g->lane_partner[k] || !g->partner[k] || !g->moved[k])
        return false;
    uint32_t *begin = g->lane_begin[k] + 1; /* one ahead: becomes the end while it is filled */
    for (size_t i = 0; i < n; i++)
        begin[s->kernels[i].lane + 1]++;
    for (size_t l = 0; l < s->lane_count; l++)
        begin[l + 1] += begin[l];
    for (size_t i = 0; i < n; i++)
        g->text[k][begin[s->kernels[i].lane]++] = (uint32_t)i;
    for (size_t l = 0; l <= s->lane_count; l++)
        g->lane_partner[k][l] = ROCL_NONE;
    return true;
}

/* Names as numbers, by place in the text: of both sides the same are equal. NULL: memory is out. */
static uint32_t *make_symbols(const rocl_alignment *g, unsigned k, const uint32_t *same)
{
    const size_t n = g->side[k]->kernel_count;
    uint32_t *symbols = malloc((n + 1) * sizeof *symbols);
    for (uint32_t i = 0; symbols && i < n; i++) {
        const uint32_t key = rocl_aligned_kernel(g, k, i)->key;
        symbols[i] = same ? same[key] : key;
    }
    return symbols;
}

/* ---- pairs of lanes -------------------------------------------------------------------------- */

typedef struct lane_pair {
    uint32_t common, a, b;
} lane_pair;

static int compare_lane_pairs(const void *a, const void *b)
{
    const lane_pair *x = a, *y = b;
    int c = rocl_compare_u32(&y->common, &x->common);
    c = c ? c : rocl_compare_u32(&x->a, &y->a);
    return c ? c : rocl_compare_u32(&x->b, &y->b);
}

/* The symbols of each lane in order. NULL: memory is out. */
static uint32_t *sort_lanes(const rocl_alignment *g, unsigned k, const uint32_t *symbols)
{
    const size_t n = g->side[k]->kernel_count;
    uint32_t *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return NULL;
    memcpy(sorted, symbols, n * sizeof *sorted);
    for (size_t l = 0; l < g->side[k]->lane_count; l++) {
        const uint32_t from = g->lane_begin[k][l], to = g->lane_begin[k][l + 1];
        qsort(sorted + from, to - from, sizeof *sorted, rocl_compare_u32);
    }
    return sorted;
}

static uint32_t count_common(const rocl_alignment *g, uint32_t *const sorted[SIDES], uint32_t a,
                             uint32_t b)
{
    uint32_t i = g->lane_begin[A][a], k = g->lane_begin[B][b], n = 0;
    while (i < g->lane_begin[A][a + 1] && k < g->lane_begin[B][b + 1]) {
        const uint32_t x = sorted[A][i], y = sorted[B][k];
        n += x == y;
        i += x <= y;
        k += x >= y;
    }
    return n;
}

static bool pair_lanes(rocl_alignment *g, uint32_t *const symbols[SIDES])
{
    const rocl_side_steps *x = g->side[A], *y = g->side[B];
    const size_t n = x->lane_count, m = y->lane_count;
    uint32_t *sorted[SIDES] = {sort_lanes(g, A, symbols[A]), sort_lanes(g, B, symbols[B])};
    lane_pair *pairs = malloc((n * m + 1) * sizeof *pairs);
    const bool good = sorted[A] && sorted[B] && pairs;
    size_t count = 0;
    for (uint32_t a = 0; a < n && good; a++)
        for (uint32_t b = 0; b < m; b++)
            if (rocl_partner_process(x, x->lanes[a].process, y) == y->lanes[b].process)
                pairs[count++] = (lane_pair){count_common(g, sorted, a, b), a, b};
    if (count)
        qsort(pairs, count, sizeof *pairs, compare_lane_pairs);
    for (size_t i = 0; i < count; i++) {
        uint32_t *a = &g->lane_partner[A][pairs[i].a], *b = &g->lane_partner[B][pairs[i].b];
        if (*a != ROCL_NONE || *b != ROCL_NONE)
            continue;
        *a = pairs[i].b;
        *b = pairs[i].a;
    }
    free(sorted[A]);
    free(sorted[B]);
    free(pairs);
    return good;
}

/* ---- partners -------------------------------------------------------------------------------- */

static bool align_lane(rocl_alignment *g, uint32_t *const symbols[SIDES], uint32_t lane)
{
    const uint32_t other = g->lane_partner[A][lane];
    const uint32_t a = g->lane_begin[A][lane], b = g->lane_begin[B][other];
    const size_t n = g->lane_begin[A][lane + 1] - a, m = g->lane_begin[B][other + 1] - b;
    bool minimal;
    if (!rocl_align_symbols(symbols[A] + a, n, symbols[B] + b, m, g->partner[A] + a, &minimal))
        return false;
    g->minimal &= minimal;
    for (uint32_t i = a; i < a + n; i++)
        if (g->partner[A][i]) {
            g->partner[A][i] += b;
            g->partner[B][g->partner[A][i] - 1] = i + 1;
        }
    return true;
}

/* A kernel without a partner, by name, process of B and place. */
typedef struct lone_place {
    uint32_t symbol, process, place;
} lone_place;

ROCL_COMPARE_MEMBERS(compare_owners, lone_place, symbol, process)

static int compare_places(const void *a, const void *b)
{
    const int c = compare_owners(a, b);
    return c ? c
             : rocl_compare_u32(&((const lone_place *)a)->place, &((const lone_place *)b)->place);
}

static lone_place *list_lone(const rocl_alignment *g, unsigned k, const uint32_t *symbols,
                             size_t *count)
{
    const size_t n = g->side[k]->kernel_count;
    lone_place *all = malloc((n + 1) * sizeof *all);
    *count = 0;
    for (uint32_t i = 0; all && i < n; i++) {
        /* The process of B that has the kernel, or would have it; ROCL_NONE: none. */
        uint32_t process = g->side[k]->lanes[rocl_aligned_kernel(g, k, i)->lane].process;
        if (k == A)
            process = rocl_partner_process(g->side[A], process, g->side[B]);
        if (!g->partner[k][i])
            all[(*count)++] = (lone_place){symbols[i], process, i};
    }
    if (*count)
        qsort(all, *count, sizeof *all, compare_places);
    return all;
}

/* A kernel that is gone at one place of the process and new at another has moved; those of a name
 * are paired in order. */
static bool find_moved(rocl_alignment *g, uint32_t *const symbols[SIDES])
{
    size_t n, m;
    lone_place *a = list_lone(g, A, symbols[A], &n), *b = list_lone(g, B, symbols[B], &m);
    for (size_t i = 0, k = 0; a && b && i < n && k < m;) {
        const int c = compare_owners(&a[i], &b[k]);
        if (!c) {
            g->partner[A][a[i].place] = b[k].place + 1;
            g->partner[B][b[k].place] = a[i].place + 1;
            g->moved[A][a[i].place] = g->moved[B][b[k].place] = true;
        }
        i += c <= 0;
        k += c >= 0;
    }
    const bool good = a && b;
    free(a);
    free(b);
    return good;
}

/* ---- hunks ----------------------------------------------------------------------------------- */

/* Has it a partner in its order? */
static bool keeps_place(const rocl_alignment *g, unsigned k, uint32_t place)
{
    return g->partner[k][place] && !g->moved[k][place];
}

/* Adds the hunks of a lane of A and one of B, each [begin, end) in the texts. */
static bool add_hunks(rocl_alignment *g, const uint32_t a[2], const uint32_t b[2])
{
    uint32_t at[SIDES] = {a[0], b[0]};
    const uint32_t end[SIDES] = {a[1], b[1]};
    while (at[A] < end[A] || at[B] < end[B]) {
        rocl_hunk h;
        for (unsigned k = A; k <= B; k++) {
            h.begin[k] = at[k];
            while (at[k] < end[k] && !keeps_place(g, k, at[k]))
                at[k]++;
            h.end[k] = at[k];
        }
        if (h.begin[A] < h.end[A] || h.begin[B] < h.end[B]) {
            if (!ROCL_GROW(g->hunks, g->hunk_cap, g->hunk_count + 1))
                return false;
            g->hunks[g->hunk_count++] = h;
        }
        while (at[A] < end[A] && keeps_place(g, A, at[A]) && at[B] < end[B] &&
               keeps_place(g, B, at[B]))
            at[A]++, at[B]++;
    }
    return true;
}

static bool find_hunks(rocl_alignment *g)
{
    static const uint32_t none[2];
    bool good = true;
    for (uint32_t l = 0; l < g->side[A]->lane_count && good; l++) {
        const uint32_t other = g->lane_partner[A][l];
        good = add_hunks(g, &g->lane_begin[A][l],
                         other != ROCL_NONE ? &g->lane_begin[B][other] : none);
    }
    for (uint32_t l = 0; l < g->side[B]->lane_count && good; l++)
        if (g->lane_partner[B][l] == ROCL_NONE)
            good = add_hunks(g, none, &g->lane_begin[B][l]);
    return good;
}

rocl_status rocl_alignment_make(rocl_alignment *g, const rocl_side_steps *a,
                                const rocl_side_steps *b, const uint32_t *same, rocl_error *err)
{
    *g = (rocl_alignment){.side = {a, b}, .minimal = true};
    bool good = make_text(g, A) && make_text(g, B);
    uint32_t *symbols[SIDES] = {good ? make_symbols(g, A, same) : NULL,
                                good ? make_symbols(g, B, same) : NULL};
    good = symbols[A] && symbols[B] && pair_lanes(g, symbols);
    for (uint32_t l = 0; l < a->lane_count && good; l++)
        if (g->lane_partner[A][l] != ROCL_NONE)
            good = align_lane(g, symbols, l);
    good = good && find_moved(g, symbols) && find_hunks(g);
    free(symbols[A]);
    free(symbols[B]);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

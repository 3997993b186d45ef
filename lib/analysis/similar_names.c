/* A name is cut into words and numbers. Two names are as similar as what they share
 * weighs against what both have:
 *
 *     words    = 2 shared / (all of one + all of the other)
 *     likeness = 0.9 words + 0.1 smaller grid / larger grid
 *
 * where a word counts three times as much as a number or a single letter, and the order does not
 * matter. Numbers are what changes from one version of a kernel to the next. */
#include "analysis/similar_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/strings.h"

enum { WORD = 3, NUMBER = 1, HASH_DIGITS = 8 };

/* ---- words of a name ------------------------------------------------------------------------- */

typedef struct token {
    uint32_t text, weight;
} token;

typedef struct tokens {
    token *all; /* by text */
    size_t count, cap;
    uint64_t weight;
} tokens;

/* A checksum, such as 9f8e7d6c5b4a; or digits, or letters up to the next capital after a small one.
 */
static size_t token_length(const char *s, size_t n, uint32_t *weight)
{
    size_t digits = 0, k = 0;
    *weight = NUMBER;
    for (; k < n && (isdigit((unsigned char)s[k]) || (s[k] >= 'a' && s[k] <= 'f')); k++)
        digits += isdigit((unsigned char)s[k]) != 0;
    const bool ends = k == n || !isalnum((unsigned char)s[k]);
    if (ends && k >= HASH_DIGITS && digits && digits < k)
        return k;
    k = 0;
    while (k < n && isdigit((unsigned char)s[k]))
        k++;
    if (k)
        return k;
    for (k = 1; k < n && isalpha((unsigned char)s[k]); k++)
        if (isupper((unsigned char)s[k]) && islower((unsigned char)s[k - 1]))
            break;
    *weight = k > 1 ? WORD : NUMBER;
    return k;
}

static int compare_tokens(const void *a, const void *b)
{
    const token *x = a, *y = b;
    return x->text < y->text ? -1 : x->text > y->text;
}

/* False: memory is out. */
static bool read_tokens(tokens *t, rocl_strings *texts, const char *name, size_t n)
{
    for (size_t i = 0, len; i < n; i += len) {
        token next = {0};
        len = 1;
        if (!isalnum((unsigned char)name[i]))
            continue;
        len = token_length(name + i, n - i, &next.weight);
        next.text = rocl_strings_put(texts, name + i, len);
        if (next.text == ROCL_NONE || !ROCL_GROW(t->all, t->cap, t->count + 1))
            return false;
        t->all[t->count++] = next;
        t->weight += next.weight;
    }
    if (t->count)
        qsort(t->all, t->count, sizeof *t->all, compare_tokens);
    return true;
}

static uint64_t shared_weight(const tokens *a, const tokens *b)
{
    uint64_t sum = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const int order = compare_tokens(&a->all[i], &b->all[k]);
        if (order == 0)
            sum += a->all[i].weight;
        i += order <= 0;
        k += order >= 0;
    }
    return sum;
}

/* ---- how similar ----------------------------------------------------------------------------- */

/* Two names that are similar enough. */
typedef struct candidate {
    uint16_t likeness, gone, added;
} candidate;

_Static_assert(ROCL_SIMILAR_MOST <= UINT16_MAX, "indices of candidates have 16 bits");

/* 0: it is not the same class, or certainly less than `least`. */
static unsigned likeness_of(const rocl_lone_name *x, const tokens *a, const rocl_lone_name *y,
                            const tokens *b, unsigned least)
{
    const double all = (double)(a->weight + b->weight);
    const double less = (double)(a->weight < b->weight ? a->weight : b->weight);
    const bool grids = x->items > 0 && y->items > 0;
    if (x->class != y->class || all <= 0)
        return 0;
    const double grid = !grids                ? 0
                        : x->items < y->items ? x->items / y->items
                                              : y->items / x->items;
    const double factor = grids ? 0.9 : 1, more = grids ? 0.1 * grid : 0;
    if (1e4 * (factor * 2 * less / all + more) + 1 < least)
        return 0; /* even if all words of the shorter one are in the other */
    const double words = 2 * (double)shared_weight(a, b) / all;
    return (unsigned)(1e4 * (factor * words + more) + 0.5);
}

/* ---- matching -------------------------------------------------------------------------------- */

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->likeness != y->likeness)
        return x->likeness > y->likeness ? -1 : 1;
    if (x->gone != y->gone)
        return x->gone < y->gone ? -1 : 1;
    return x->added < y->added ? -1 : x->added > y->added;
}

/* What is known of a name while candidates are gone through from the most similar on. */
typedef struct state {
    bool settled;  /* it has a partner, or was equally similar to several */
    uint32_t ways; /* candidates of the same likeness */
} state;

static void settle_candidates(const candidate *c, size_t count, rocl_lone_name *gone,
                              rocl_lone_name *added, state *of_gone, state *of_added)
{
    for (size_t i = 0, past; i < count; i = past) {
        for (past = i; past < count && c[past].likeness == c[i].likeness; past++)
            if (!of_gone[c[past].gone].settled && !of_added[c[past].added].settled) {
                of_gone[c[past].gone].ways++;
                of_added[c[past].added].ways++;
            }
        for (size_t k = i; k < past; k++) {
            const state *x = &of_gone[c[k].gone], *y = &of_added[c[k].added];
            if (x->settled || y->settled || x->ways != 1 || y->ways != 1)
                continue;
            gone[c[k].gone].partner = (size_t)c[k].added + 1;
            added[c[k].added].partner = (size_t)c[k].gone + 1;
            gone[c[k].gone].likeness = added[c[k].added].likeness = c[k].likeness;
        }
        for (size_t k = i; k < past; k++) {
            state *x = &of_gone[c[k].gone], *y = &of_added[c[k].added];
            x->settled |= x->ways > 0;
            y->settled |= y->ways > 0;
        }
    }
}

/* ---- places ---- */

/* Names that are never where the other one is are not the same kernel. */
static bool may_be_same(const rocl_lone_name *x, const rocl_lone_name *y)
{
    if (!x->place_count || !y->place_count)
        return true;
    for (size_t i = 0, k = 0; i < x->place_count && k < y->place_count;) {
        if (x->places[i] == y->places[k])
            return true;
        i += x->places[i] < y->places[k];
        k += i < x->place_count && x->places[i] > y->places[k];
    }
    return false;
}

static void match_places(rocl_lone_name *gone, size_t n, rocl_lone_name *added, size_t m,
                         const tokens *of_gone, const tokens *of_added, state *states)
{
    for (size_t i = 0; i < n; i++) {
        const size_t k = gone[i].stands_for - 1; /* too large if it was 0 */
        if (k >= m || added[k].stands_for != i + 1)
            continue;
        const unsigned least = gone[i].says_what ? ROCL_SIMILAR : ROCL_SIMILAR_IN_PLACE;
        const unsigned likeness =
            likeness_of(&gone[i], &of_gone[i], &added[k], &of_added[k], least);
        if (likeness < least)
            continue;
        gone[i].partner = k + 1;
        added[k].partner = i + 1;
        gone[i].likeness = added[k].likeness = likeness;
        states[i].settled = states[n + k].settled = true;
    }
}

static tokens *read_names(const rocl_lone_name *names, size_t n, rocl_strings *texts)
{
    tokens *all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        if (!read_tokens(&all[i], texts, names[i].name, names[i].len)) {
            rocl_strings_note_lost(texts);
            break;
        }
    return all;
}

static void free_names(tokens *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++)
        free(all[i].all);
    free(all);
}

rocl_status rocl_match_names(rocl_lone_name *gone, size_t n, rocl_lone_name *added, size_t m,
                             rocl_error *err)
{
    candidate *all = NULL;
    size_t count = 0, cap = 0;
    n = n < ROCL_SIMILAR_MOST ? n : ROCL_SIMILAR_MOST;
    m = m < ROCL_SIMILAR_MOST ? m : ROCL_SIMILAR_MOST;
    if (!n || !m)
        return ROCL_OK;
    rocl_strings *texts = rocl_strings_new();
    tokens *of_gone = texts ? read_names(gone, n, texts) : NULL;
    tokens *of_added = texts ? read_names(added, m, texts) : NULL;
    state *states = calloc(n + m, sizeof *states);
    bool good = of_gone && of_added && states && rocl_strings_complete(texts);
    if (good)
        match_places(gone, n, added, m, of_gone, of_added, states);
    for (size_t i = 0; i < n && good; i++)
        for (size_t k = 0; k < m && good; k++) {
            const unsigned likeness =
                likeness_of(&gone[i], &of_gone[i], &added[k], &of_added[k], ROCL_SIMILAR);
            if (likeness < ROCL_SIMILAR || !may_be_same(&gone[i], &added[k]))
                continue;
            good = ROCL_GROW(all, cap, count + 1);
            if (good)
                all[count++] = (candidate){(uint16_t)likeness, (uint16_t)i, (uint16_t)k};
        }
    if (good && count) {
        qsort(all, count, sizeof *all, compare_candidates);
        settle_candidates(all, count, gone, added, states, states + n);
    }
    free(all);
    free(states);
    free_names(of_gone, n);
    free_names(of_added, m);
    rocl_strings_free(texts);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

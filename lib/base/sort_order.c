/* Sorts in memory the records that continue no strand: further sequences, or unordered records.
 * They are first dealt to sorted piles; if few piles suffice, these are merged, in linear time.
 * Records that need many piles are too disordered, and get a radix sort. Both look at one key word;
 * records equal in it are then sorted by the next. */
#include "base/sort_impl.h"

enum {
    PILES = 8,
    TINY = 16,   /* insertion sort */
    SMALL = 512, /* up to here merging tiny blocks beats counting */
    DIGIT_BITS = 11,
};

typedef rocl_sort_entry entry;

static void insertion_sort(entry *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        entry e = a[i];
        size_t j = i;
        for (; j > 0 && a[j - 1].key > e.key; j--)
            a[j] = a[j - 1];
        a[j] = e;
    }
}

/* ---- merging sorted stretches ---------------------------------------------------------------- */

static void merge_two(entry *to, const entry *a, size_t na, const entry *b, size_t nb)
{
    while (na && nb) {
        bool second = b->key < a->key;
        *to++ = *(second ? b : a);
        a += !second;
        b += second;
        na -= !second;
        nb -= second;
    }
    memcpy(to, na ? a : b, (na + nb) * sizeof *to);
}

/* Stretch i of a is [bounds[i], bounds[i + 1]). Merges neighbours, to and fro between a and tmp,
 * until one is left; the result is in a. */
static void merge_all(entry *a, entry *tmp, size_t *bounds, size_t stretches)
{
    entry *from = a, *to = tmp;
    while (stretches > 1) {
        size_t out = 0;
        for (size_t i = 0; i < stretches; i += 2) {
            size_t lo = bounds[i], mid = bounds[i + 1];
            size_t hi = i + 1 < stretches ? bounds[i + 2] : mid;
            merge_two(to + lo, from + lo, mid - lo, from + mid, hi - mid);
            bounds[out++] = lo;
            bounds[out] = hi;
        }
        stretches = out;
        entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, bounds[1] * sizeof *a);
}

/* ---- piles ----------------------------------------------------------------------------------- */

/* Deals each entry to the pile whose top is the largest not above it, which leaves the other piles
 * the most to take; the tops stay sorted, largest first. Then the piles are merged. False when
 * there would have to be too many. */
static bool sort_piles(entry *a, entry *tmp, size_t n)
{
    uint64_t tops[PILES];
    size_t counts[PILES], bounds[PILES + 2], at[PILES], sum = 0;
    unsigned piles = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned p = 0;
        while (p < piles && tops[p] > a[i].key)
            p++;
        if (p == piles) {
            if (piles == PILES)
                return false;
            counts[piles++] = 0;
        }
        tops[p] = a[i].key;
        a[i].pile = p;
        counts[p]++;
    }
    if (piles <= 1)
        return true;
    for (unsigned p = 0; p < piles; p++) {
        bounds[p] = at[p] = sum;
        sum += counts[p];
    }
    bounds[piles] = n;
    for (size_t i = 0; i < n; i++)
        tmp[at[a[i].pile]++] = a[i];
    merge_all(tmp, a, bounds, piles);
    memcpy(a, tmp, n * sizeof *a);
    return true;
}

/* ---- radix ----------------------------------------------------------------------------------- */

static void count_pass(entry *to, const entry *from, size_t n, uint64_t least, unsigned shift,
                       unsigned bits)
{
    uint32_t at[1 << DIGIT_BITS] = {0}, sum = 0;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (size_t i = 0; i < n; i++)
        at[(from[i].key - least) >> shift & mask]++;
    for (size_t d = 0; d <= mask; d++) {
        uint32_t here = at[d];
        at[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[at[(from[i].key - least) >> shift & mask]++] = from[i];
}

static void sort_radix(entry *a, entry *tmp, size_t n)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = a[i].key < least ? a[i].key : least;
        most = a[i].key > most ? a[i].key : most;
    }
    unsigned width = most > least ? 64u - (unsigned)__builtin_clzll(most - least) : 0;
    unsigned passes = (width + DIGIT_BITS - 1) / DIGIT_BITS;
    unsigned bits = passes ? (width + passes - 1) / passes : 0;
    entry *from = a, *to = tmp;
    for (unsigned pass = 0; pass < passes; pass++) {
        count_pass(to, from, n, least, pass * bits, bits);
        entry *swap = from;
        from = to;
        to = swap;
    }
    if (from != a)
        memcpy(a, from, n * sizeof *a);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void sort_word(entry *a, entry *tmp, size_t n)
{
    if (n <= TINY) {
        insertion_sort(a, n);
    } else if (sort_piles(a, tmp, n)) {
        return;
    } else if (n <= SMALL) {
        size_t bounds[SMALL / TINY + 2], blocks = 0;
        for (size_t i = 0; i < n; i += TINY) {
            insertion_sort(a + i, n - i < TINY ? n - i : TINY);
            bounds[blocks++] = i;
        }
        bounds[blocks] = n;
        merge_all(a, tmp, bounds, blocks);
    } else {
        sort_radix(a, tmp, n);
    }
}

/* Sorts by `word`, which is loaded, and the ones after it. */
static void sort_from(const uint64_t *records, unsigned words, entry *a, entry *tmp, size_t n,
                      unsigned word)
{
    sort_word(a, tmp, n);
    if (word + 1 == words)
        return;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && a[end].key == a[i].key; end++)
            ;
        if (end - i > 1) {
            for (size_t k = i; k < end; k++)
                a[k].key = records[a[k].at + word + 1];
            sort_from(records, words, a + i, tmp, end - i, word + 1);
        }
    }
}

static const uint64_t *next_record(const uint64_t *r, unsigned words)
{
    uint32_t len;
    memcpy(&len, r + words, sizeof len);
    return r + rocl_sort_buffer_size(words, len) / 8;
}

rocl_sort_entry *rocl_sort_entries(const uint64_t *records, size_t n, unsigned words, void *space)
{
    entry *a = space;
    const uint64_t *r = records;
    for (size_t i = 0; i < n; i++) {
        a[i] = (entry){.key = r[0], .at = (uint32_t)(r - records)};
        r = next_record(r, words);
    }
    sort_from(records, words, a, a + n, n, 0);
    return a;
}

bool rocl_sort_is_ordered(const uint64_t *records, size_t n, unsigned words)
{
    const uint64_t *prev = records;
    for (size_t i = 1; i < n; i++) {
        const uint64_t *r = next_record(prev, words);
        if (rocl_sort_less(r, prev, words))
            return false;
        prev = r;
    }
    return true;
}

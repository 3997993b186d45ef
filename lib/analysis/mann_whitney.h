/* Mann and Whitney's test: are durations of one trace longer than those of the other? It looks at
 * order only, so that a few very long calls do not decide, and needs no normal distribution. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Samples are small when n m (n + m) min(n, m) is not more than the steps, so that counting takes a
 * fraction of a millisecond. Then n + m is not above the values, and min(n, m) and n m are such
 * that (min(n, m) + 1) (2 n m + 1) is not above the ways. */
enum { ROCL_EXACT_STEPS = 250000, ROCL_EXACT_VALUES = 500, ROCL_EXACT_WAYS = 13700 };

/* U of two samples, whose values come in ascending order. All zero at first. */
typedef struct rocl_mann_whitney {
    uint64_t n, m;    /* values of A and of B so far */
    uint64_t twice_u; /* pairs in which B's value is the larger one, twice, and equal ones, once */
    double ties;      /* sum of t^3 - t over the distinct values that are there t times */
    size_t runs;      /* distinct values */
    uint16_t run[ROCL_EXACT_VALUES]; /* how often the first ones are there */
    double ways[ROCL_EXACT_WAYS];    /* scratch memory of the exact test */
} rocl_mann_whitney;

/* How likely samples of one distribution differ at least so much, and at least as much as samples
 * of these sizes can; two-sided. Both 1 where a sample is empty. */
typedef struct rocl_probability {
    double p, least;
} rocl_probability;

/* Adds a values of A and b values of B that are equal, and larger than all before. */
void rocl_mann_whitney_add(rocl_mann_whitney *w, uint64_t a, uint64_t b);
/* Exact for small samples, also with equal values; else by the normal approximation with the
 * corrections for ties and continuity. Begins the next two samples. */
rocl_probability rocl_mann_whitney_end(rocl_mann_whitney *w);

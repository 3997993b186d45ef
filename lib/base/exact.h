/* Sums of doubles that are exact in any order, so that workers and processes add up on their own
 * and the result is the same: it is rounded once, at the end.
 *
 * A sum is an integer in two's complement, in units of 2^-1074, the least double. Most values fit a
 * piece of it, `near`; the rest is allocated when a value needs it. (Kulisch's accumulator.) */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ROCL_EXACT_NEAR = 4, ROCL_EXACT_FAR = 34 };

/* Zeroed memory is the sum 0. There is room for 2^64 values. */
typedef struct rocl_exact_sum {
    uint64_t near[ROCL_EXACT_NEAR];
    uint64_t *far;    /* ROCL_EXACT_FAR words, the lowest first; NULL: all values were near */
    unsigned special; /* infinities and NaN that were added */
} rocl_exact_sum;

/* False: memory is out, and the value is not added. */
bool rocl_exact_add(rocl_exact_sum *s, double v);
bool rocl_exact_merge(rocl_exact_sum *into, const rocl_exact_sum *from);
/* The nearest double, ties to even. */
double rocl_exact_value(const rocl_exact_sum *s);
/* Sets it to 0; its memory stays. */
void rocl_exact_clear(rocl_exact_sum *s);
void rocl_exact_free(rocl_exact_sum *s);

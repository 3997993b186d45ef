/* Durations of a group: sums that are exact whatever the order in which they come, and percentiles.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/wide.h"

/* What can be said of the durations of a group. */
typedef struct rocl_distribution {
    uint64_t count, taken; /* expected (rocl_distribution_begin), come so far */
    int64_t min, max;
    int64_t median, p90, p95,
        p99; /* median: the mean of the two in the middle, rounded down; others: nearest rank */
    int64_t total; /* saturates */
    rocl_u128 sum, squares;
    uint64_t squares_high; /* above the 128 bits of squares */
} rocl_distribution;

/* Adds a duration as it comes; percentiles are not known then. */
void rocl_distribution_count(rocl_distribution *d, int64_t ns);
/* Puts the two together; the percentiles are lost. */
void rocl_distribution_merge(rocl_distribution *into, const rocl_distribution *from);
double rocl_distribution_average(const rocl_distribution *d); /* NaN: of none */
/* The sample standard deviation (n - 1), as AMD's summaries have it; false for fewer than two. */
bool rocl_distribution_stddev(const rocl_distribution *d, double *stddev);
/* Adds numbers that are not negative: INT64_MAX where the sum would be larger. */
int64_t rocl_add_saturated(int64_t a, int64_t b);
/* A sum that is whole, cut likewise. */
static inline int64_t rocl_cut_sum(rocl_u128 sum)
{
    return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}
/* Not a number of none. */
static inline double rocl_mean_of_sum(rocl_u128 sum, uint64_t count)
{
    return count ? (double)sum / (double)count : __builtin_nan("");
}

/* The distribution of `count` durations that are taken in ascending order, with percentiles. */
void rocl_distribution_begin(rocl_distribution *d, uint64_t count);
void rocl_distribution_take(rocl_distribution *d, int64_t ns);

/* Which values, from 1 in ascending order, the percentiles of `count` > 0 are made of; they do not
 * descend. And the percentiles of these values. */
enum { ROCL_RANKS = 5 };
void rocl_distribution_ranks(uint64_t count, uint64_t ranks[ROCL_RANKS]);
void rocl_distribution_percentiles(rocl_distribution *d, const int64_t values[ROCL_RANKS]);

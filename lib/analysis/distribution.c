/* Durations of a group. */
#include "analysis/distribution.h"
#include "base/wide.h"

#include <math.h>

int64_t rocl_add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* ---- sums ---- */

/* Sums are exact integers: they do not depend on the order in which values come, and a variance is
 * not the small difference of two rounded numbers. Squares of absurd durations need more than 128
 * bits. */
static void add_square(rocl_distribution *d, rocl_u128 low, uint64_t high)
{
    d->squares_high += high + __builtin_add_overflow(d->squares, low, &d->squares);
}

void rocl_distribution_count(rocl_distribution *d, int64_t ns)
{
    uint64_t v = (uint64_t)ns;
    if (!d->taken++ || ns < d->min)
        d->min = ns;
    if (ns > d->max)
        d->max = ns;
    d->total = rocl_add_saturated(d->total, ns);
    d->sum += v;
    add_square(d, (rocl_u128)v * v, 0);
}

void rocl_distribution_merge(rocl_distribution *into, const rocl_distribution *from)
{
    if (!from->taken)
        return;
    into->min = into->taken && into->min < from->min ? into->min : from->min;
    into->max = into->max > from->max ? into->max : from->max;
    into->total = rocl_add_saturated(into->total, from->total);
    into->sum += from->sum;
    add_square(into, from->squares, from->squares_high);
    into->taken += from->taken;
    into->count += from->count;
}

double rocl_distribution_average(const rocl_distribution *d)
{
    return (double)d->sum / (double)d->taken;
}

/* (n * sum of squares - square of sum) / (n * (n - 1)) */
bool rocl_distribution_stddev(const rocl_distribution *d, double *stddev)
{
    rocl_u128 n = d->taken, squares, square;
    if (n < 2)
        return false;
    if (!d->squares_high && !__builtin_mul_overflow(n, d->squares, &squares) &&
        !__builtin_mul_overflow(d->sum, d->sum, &square)) {
        *stddev = sqrt((double)(squares - square) / ((double)n * (double)(n - 1)));
        return true;
    }
    long double all = (long double)d->squares_high * 0x1p128L + (long double)d->squares;
    long double mean = (long double)d->sum / (long double)n;
    long double variance = (all - mean * (long double)d->sum) / (long double)(n - 1);
    *stddev = variance > 0 ? (double)sqrtl(variance) : 0;
    return true;
}

/* ---- percentiles ---- */

/* The rank, from 1, of a percentile by the nearest-rank method: that of the smallest value that
 * this percentage of all values does not exceed. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    return count / 100 * percent + (count % 100 * percent + 99) / 100;
}

void rocl_distribution_ranks(uint64_t count, uint64_t ranks[ROCL_RANKS])
{
    ranks[0] = (count + 1) / 2;
    ranks[1] = count / 2 + 1;
    ranks[2] = rank_of(count, 90);
    ranks[3] = rank_of(count, 95);
    ranks[4] = rank_of(count, 99);
}

void rocl_distribution_percentiles(rocl_distribution *d, const int64_t values[ROCL_RANKS])
{
    d->median = values[0] + (values[1] - values[0]) / 2;
    d->p90 = values[2];
    d->p95 = values[3];
    d->p99 = values[4];
}

/* ---- in ascending order ---- */

void rocl_distribution_begin(rocl_distribution *d, uint64_t count)
{
    *d = (rocl_distribution){.count = count};
}

void rocl_distribution_take(rocl_distribution *d, int64_t ns)
{
    rocl_distribution_count(d, ns);
    uint64_t n = d->taken;
    if (n == (d->count + 1) / 2)
        d->median = ns;
    if (d->count % 2 == 0 && n == d->count / 2 + 1)
        d->median += (ns - d->median) / 2;
    if (n == rank_of(d->count, 90))
        d->p90 = ns;
    if (n == rank_of(d->count, 95))
        d->p95 = ns;
    if (n == rank_of(d->count, 99))
        d->p99 = ns;
}

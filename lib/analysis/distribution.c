#include "analysis/analysis.h"

#include <math.h>

void rocl_distribution_begin(rocl_distribution *d, uint64_t count)
{
    *d = (rocl_distribution){.count = count};
}

/* The rank, from 1, of a percentile by the nearest-rank method: the smallest value that so many
 * percent of all do not exceed. */
static uint64_t rank_of(uint64_t count, unsigned percent)
{
    return count / 100 * percent + (count % 100 * percent + 99) / 100;
}

int64_t rocl_add_saturated(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void rocl_distribution_take(rocl_distribution *d, int64_t ns)
{
    uint64_t n = ++d->taken;
    if (n == 1)
        d->min = ns;
    d->max = ns;
    d->total = rocl_add_saturated(d->total, ns);
    double delta = (double)ns - d->mean;
    d->mean += delta / (double)n;
    d->m2 += delta * ((double)ns - d->mean);
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

bool rocl_distribution_stddev(const rocl_distribution *d, double *stddev)
{
    if (d->taken < 2)
        return false;
    *stddev = sqrt(d->m2 / (double)(d->taken - 1));
    return true;
}

/* Chan, Golub, LeVeque: the sums of squares of two parts and of their means' distance. */
void rocl_distribution_merge(rocl_distribution *into, const rocl_distribution *from)
{
    if (!from->taken)
        return;
    double n = (double)into->taken, m = (double)from->taken;
    double delta = from->mean - into->mean;
    into->min = into->taken && into->min < from->min ? into->min : from->min;
    into->max = into->taken && into->max > from->max ? into->max : from->max;
    into->total = rocl_add_saturated(into->total, from->total);
    into->m2 += from->m2 + delta * delta * n * m / (n + m);
    into->mean += delta * m / (n + m);
    into->taken += from->taken;
    into->count += from->count;
}

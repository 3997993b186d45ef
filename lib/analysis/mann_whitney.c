/* Mann and Whitney's test: are durations of one trace longer than those of the other? It looks at
 * order only, so that a few very long calls do not decide, and needs no normal distribution. */
#include <math.h>

#include "analysis/compare.h"

/* No overflow below 3e9 values of each. */
void rocl_mann_whitney_take(rocl_mann_whitney *w, uint64_t a, uint64_t b)
{
    double t = (double)a + (double)b;
    w->twice_u += b * (2 * w->n + a);
    w->ties += t * t * t - t;
    w->n += a;
    w->m += b;
}

double rocl_mann_whitney_p(const rocl_mann_whitney *w)
{
    double n = (double)w->n, m = (double)w->m, all = n + m;
    if (!w->n || !w->m)
        return 1;
    double variance = n * m / 12 * (all + 1 - w->ties / (all * (all - 1)));
    double distance = fabs((double)w->twice_u - n * m) / 2 - 0.5;
    if (variance <= 0 || distance <= 0)
        return 1;
    return erfc(distance / sqrt(variance) / sqrt(2));
}

/* Mann and Whitney's test: exact for small samples, by the normal approximation for others. */
#include "analysis/mann_whitney.h"

#include <math.h>
#include <string.h>

/* No overflow below 3e9 values of each. */
void rocl_mann_whitney_add(rocl_mann_whitney *w, uint64_t a, uint64_t b)
{
    double t = (double)a + (double)b;
    w->twice_u += b * (2 * w->n + a);
    w->ties += t * t * t - t;
    w->n += a;
    w->m += b;
    if (w->runs < ROCL_EXACT_VALUES && a + b <= ROCL_EXACT_VALUES)
        w->run[w->runs] = (uint16_t)(a + b);
    w->runs++;
}

static double normal_p(double distance, double variance)
{
    if (variance <= 0 || distance <= 0)
        return 1;
    return erfc(distance / sqrt(variance) / sqrt(2));
}

/* The normal approximation with the corrections for ties and continuity. */
static rocl_probability approximate_p(const rocl_mann_whitney *w)
{
    double n = (double)w->n, m = (double)w->m, all = n + m;
    double variance = n * m / 12 * (all + 1 - w->ties / (all * (all - 1)));
    double distance = fabs((double)w->twice_u - n * m) / 2 - 0.5;
    return (rocl_probability){.p = normal_p(distance, variance),
                              .least = normal_p(n * m / 2 - 0.5, variance)};
}

/* The distribution of 2 U over all ways to choose the smaller sample out of the values as they are,
 * equal ones included: row k of `ways`, with an element for each 2 U, counts those in which k of
 * the values seen so far belong to it. All counts are whole numbers below 2^53. */
static rocl_probability exact_p(rocl_mann_whitney *w)
{
    const size_t few = (size_t)(w->n < w->m ? w->n : w->m), pairs = (size_t)(w->n * w->m);
    const size_t width = 2 * pairs + 1;
    memset(w->ways, 0, (few + 1) * width * sizeof *w->ways);
    w->ways[0] = 1;
    for (size_t i = 0, seen = 0; i < w->runs; seen += w->run[i++]) {
        /* The number of ways in which the smaller sample gets j of t equal values, when it had k -
         * j of those before. This moves 2 U by the contribution of the j. */
        const size_t t = w->run[i];
        for (size_t k = seen + t < few ? seen + t : few; k > 0; k--) {
            double choices = 1;
            for (size_t j = 1; j <= k && j <= t; j++) {
                choices = choices * (double)(t - j + 1) / (double)j;
                if (k - j > seen)
                    continue;
                const size_t below = seen - (k - j); /* members of the larger sample */
                const size_t shift = j * (2 * below + t - j);
                double *to = w->ways + k * width;
                const double *from = w->ways + (k - j) * width;
                for (size_t u = shift; u < width; u++)
                    to[u] += choices * from[u - shift];
            }
        }
    }
    const double *all = w->ways + few * width;
    const size_t off = (size_t)(w->twice_u > pairs ? w->twice_u - pairs : pairs - w->twice_u);
    size_t far = pairs; /* the largest distance from the middle that there is */
    while (far && all[pairs - far] <= 0 && all[pairs + far] <= 0)
        far--;
    double sum = 0, beyond = 0, farthest = 0;
    for (size_t u = 0; u < width; u++) {
        size_t distance = u > pairs ? u - pairs : pairs - u;
        sum += all[u];
        beyond += distance >= off ? all[u] : 0;
        farthest += distance >= far ? all[u] : 0;
    }
    return (rocl_probability){.p = beyond / sum, .least = farthest / sum};
}

rocl_probability rocl_mann_whitney_end(rocl_mann_whitney *w)
{
    uint64_t n = w->n, m = w->m, few = n < m ? n : m;
    rocl_probability p = {1, 1};
    if (few && n + m <= ROCL_EXACT_VALUES && n * m * (n + m) * few <= ROCL_EXACT_STEPS)
        p = exact_p(w);
    else if (few)
        p = approximate_p(w);
    w->n = w->m = w->twice_u = 0;
    w->ties = 0;
    w->runs = 0;
    return p;
}

/* Mann and Whitney's test: are durations of one trace longer than those of the other? It looks at
 * order only, so that a few very long calls do not decide, and needs no normal distribution. */
#include <math.h>
#include <string.h>

#include "analysis/compare.h"

/* No overflow below 3e9 values of each. */
void rocl_mann_whitney_take(rocl_mann_whitney *w, uint64_t a, uint64_t b)
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
static rocl_probability approximate(const rocl_mann_whitney *w)
{
    double n = (double)w->n, m = (double)w->m, all = n + m;
    double variance = n * m / 12 * (all + 1 - w->ties / (all * (all - 1)));
    double distance = fabs((double)w->twice_u - n * m) / 2 - 0.5;
    return (rocl_probability){.p = normal_p(distance, variance),
                              .least = normal_p(n * m / 2 - 0.5, variance)};
}

/* Ways of giving `t` equal values to two samples, of which the small one had k - j before and gets
 * j: all that were counted before, moved by what the j add to 2 U. */
static void add_ways(double *to, const double *from, size_t width, size_t shift, double choices)
{
    for (size_t u = shift; u < width; u++)
        to[u] += choices * from[u - shift];
}

/* The distribution of 2 U over all ways to choose the smaller sample out of the values as they are,
 * equal ones included: ways[k][u] counts those in which k of the values seen so far belong to it
 * and make 2 U = u. All counts are whole numbers below 2^53. */
static rocl_probability exact(rocl_mann_whitney *w)
{
    size_t few = (size_t)(w->n < w->m ? w->n : w->m), pairs = (size_t)(w->n * w->m);
    size_t width = 2 * pairs + 1, seen = 0;
    memset(w->ways, 0, (few + 1) * width * sizeof *w->ways);
    w->ways[0] = 1;
    for (size_t i = 0; i < w->runs; i++) {
        size_t t = w->run[i];
        for (size_t k = seen + t < few ? seen + t : few; k > 0; k--) {
            double choices = 1;
            for (size_t j = 1; j <= k && j <= t; j++) {
                choices = choices * (double)(t - j + 1) / (double)j;
                if (k - j > seen)
                    continue;
                size_t below = seen - (k - j); /* values of the larger sample before these */
                add_ways(w->ways + k * width, w->ways + (k - j) * width, width,
                         j * (2 * below + t - j), choices);
            }
        }
        seen += t;
    }
    const double *all = w->ways + few * width;
    size_t off = (size_t)(w->twice_u > pairs ? w->twice_u - pairs : pairs - w->twice_u),
           far = pairs;
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
        p = exact(w);
    else if (few)
        p = approximate(w);
    w->n = w->m = w->twice_u = 0;
    w->ties = 0;
    w->runs = 0;
    return p;
}

/* Student's distribution, by the continued fraction of the incomplete beta function
 * (Abramowitz and Stegun, 26.5.8 and 26.7.1). */
#include "analysis/student.h"

#include <math.h>
#include <stdbool.h>

rocl_sample_mean rocl_sample_of(const double *values, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    const double mean = n ? sum / (double)n : NAN;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return (rocl_sample_mean){n, mean, n > 1 ? sqrt(squares / (double)(n - 1)) : NAN};
}

/* What follows the factor in front, by Lentz's method; converges fast for x < (a + 1) / (a + b +
 * 2).
 */
static double beta_fraction(double a, double b, double x)
{
    enum { MOST = 10000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), f;
    d = 1 / (fabs(d) < tiny ? tiny : d);
    f = d;
    for (int i = 1; i < MOST; i++) {
        const double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
        const double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
        for (int k = 0; k < 2; k++) {
            const double term = k ? odd : even;
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return f;
}

/* The regularised incomplete beta function. */
static double beta_cumulative(double a, double b, double x)
{
    int sign;
    if (x <= 0 || x >= 1)
        return x >= 1;
    const double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                             a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double rocl_student_p(double t, double freedom)
{
    if (isinf(t))
        return 0;
    return beta_cumulative(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* Newton's method between two bounds. */
double rocl_student_t(double p, double freedom)
{
    int sign;
    const double log_front =
        lgamma_r((freedom + 1) / 2, &sign) - lgamma_r(freedom / 2, &sign) - log(freedom * M_PI) / 2;
    double low = 0, high = 1, t;
    while (rocl_student_p(high, freedom) > p && high < 1e150)
        high *= 2;
    t = low + (high - low) / 2;
    for (int i = 0; i < 100; i++) {
        const double off = rocl_student_p(t, freedom) - p;
        const double density = exp(log_front - (freedom + 1) / 2 * log1p(t * t / freedom));
        double next = t + off / (2 * density);
        if (off > 0)
            low = t;
        else
            high = t;
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (fabs(next - t) <= 1e-14 * t)
            return next;
        t = next;
    }
    return t;
}

/* The standard error of the difference of both means, and its degrees of freedom. False: nothing is
 * known of them. */
static bool find_error(const rocl_sample_mean *a, const rocl_sample_mean *b, double *error,
                       double *freedom)
{
    const rocl_sample_mean *of[2] = {a, b};
    double variance[2], all = 0;
    if (!a->n || !b->n || (a->n < 2 && b->n < 2))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const double s = of[i]->n > 1 ? of[i]->deviation : of[!i]->deviation;
        variance[i] = s * s / (double)of[i]->n;
        all += variance[i];
    }
    *error = sqrt(all);
    if (a->n < 2 || b->n < 2 || all <= 0)
        *freedom = (double)(a->n + b->n - 2);
    else
        *freedom = all * all /
                   (variance[0] * variance[0] / (double)(a->n - 1) +
                    variance[1] * variance[1] / (double)(b->n - 1));
    return true;
}

double rocl_welch_p(const rocl_sample_mean *a, const rocl_sample_mean *b)
{
    double error, freedom;
    if (!find_error(a, b, &error, &freedom))
        return NAN;
    if (error <= 0) /* neither scatters at all */
        return a->mean < b->mean || a->mean > b->mean ? 0 : 1;
    return rocl_student_p((b->mean - a->mean) / error, freedom);
}

double rocl_welch_margin(const rocl_sample_mean *a, const rocl_sample_mean *b, double p)
{
    double error, freedom;
    if (!find_error(a, b, &error, &freedom))
        return NAN;
    return error > 0 ? rocl_student_t(p, freedom) * error : 0;
}

/* Welch's test: do two samples differ by more than their own scatter? */
#pragma once

#include <stddef.h>

/* A sample. */
typedef struct rocl_sample_mean {
    size_t n;
    double mean, deviation; /* of the sample, n - 1; not a number of fewer than two */
} rocl_sample_mean;

rocl_sample_mean rocl_sample_of(const double *values, size_t n);
/* The probability that |t| is at least this large by chance, with these degrees of freedom (>
 * 0). */
double rocl_student_p(double t, double freedom);
/* The t of which that is p (0 < p < 1). */
double rocl_student_t(double p, double freedom);
/* Two-sided. A sample of one is taken to scatter as the other does. Not a number: both are of one,
 * or one is empty. */
double rocl_welch_p(const rocl_sample_mean *a, const rocl_sample_mean *b);
/* Half of the width of the interval around the difference of both means in which the true one is
 * with a probability of 1 - p. Not a number as above. */
double rocl_welch_margin(const rocl_sample_mean *a, const rocl_sample_mean *b, double p);

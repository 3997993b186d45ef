/* Inside the comparison of two traces: what is known of a name in both of them. */
#ifndef ROCL_ANALYSIS_COMPARE_H
#define ROCL_ANALYSIS_COMPARE_H

#include "analysis/analysis.h"

/* ---- mann_whitney.c ---- */

/* Mann and Whitney's U of two samples, taken in ascending order. All zero at first. */
typedef struct rocl_mann_whitney {
    uint64_t n, m;    /* values of A and of B so far */
    uint64_t twice_u; /* pairs in which B's value is the larger one, twice, and equal ones, once */
    double ties;      /* sum of t^3 - t over the distinct values that are there t times */
} rocl_mann_whitney;

/* So many values of A and of B are equal, and larger than all before. */
void rocl_mann_whitney_take(rocl_mann_whitney *w, uint64_t a, uint64_t b);
/* How likely samples of one distribution differ at least so much, by the normal approximation with
 * the corrections for ties and continuity, two-sided. 1 where a sample is empty. */
double rocl_mann_whitney_p(const rocl_mann_whitney *w);

/* ---- compare_groups.c ---- */

enum { ROCL_A, ROCL_B };

typedef struct rocl_pair {
    rocl_domain domain;
    const char *name; /* owned by the pairs */
    size_t name_len;
    rocl_distribution of[2];
    rocl_mann_whitney test;
    bool differ; /* not the same durations, each as often */
} rocl_pair;

typedef struct rocl_pairs {
    rocl_strings *keys;
    rocl_pair *all; /* in no order; those without events in both were never there */
    size_t count;
} rocl_pairs;

/* Goes over both traces. Free *p also after a failure. */
rocl_status rocl_pairs_collect(rocl_pairs *p, rocl_trace *a, rocl_trace *b, rocl_error *err);
void rocl_pairs_free(rocl_pairs *p);

#endif

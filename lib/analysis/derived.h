/* Derived counters in the report "counters", and what their values share with those of counters. */
#pragma once

#include <math.h>

#include "analysis/report.h"

extern const rocl_table_def rocl_derived_table, rocl_derived_dispatch_table,
    rocl_derived_missing_table;

/* A compensated sum (Neumaier): exact as long as values are integers below 2^53. */
typedef struct rocl_sum {
    double sum, rest;
} rocl_sum;

static inline void rocl_sum_add(rocl_sum *s, double v)
{
    double t = s->sum + v;
    if (isfinite(t))
        s->rest += fabs(s->sum) >= fabs(v) ? s->sum - t + v : v - t + s->sum;
    s->sum = t;
}

static inline double rocl_sum_value(const rocl_sum *s)
{
    return isfinite(s->sum) ? s->sum + s->rest : s->sum;
}

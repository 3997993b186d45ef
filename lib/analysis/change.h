/* The first table of a comparison: how much longer or shorter the whole takes. */
#pragma once

#include "analysis/compare_side.h"
#include "analysis/report.h"

typedef struct rocl_change {
    const char *quantity; /* static */
    double total[2];      /* of A and B, in ns, or the means of runs; not a number: not known */
    size_t runs[2];       /* zeros: two traces are compared */
    double p;             /* of several runs */
    /* What the change comes from the most; NULL: not known. */
    const char *cause, *class, *most;
    size_t most_len;
    double cause_change;
    uint64_t gpus; /* whose times the cause is of, added up */
} rocl_change;

extern const rocl_table_def rocl_change_table;

/* How long the trace of a side is, in ns; not a number: not known. */
double rocl_side_length(const rocl_side *s);
/* Takes the cause from the table of causes, if that is there. */
void rocl_change_explain(rocl_change *c, const rocl_tables *out);
/* Puts the table before all others. Its note is the sentence that every form begins with: "B is
 * 96.6 % slower: 10.4 ms -> 20.4 ms, ...". */
void rocl_change_put(const rocl_change *c, rocl_tables *out, const rocl_collector *of);

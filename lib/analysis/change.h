/* The first table of a comparison: how much longer or shorter the whole takes. */
#pragma once

#include "analysis/compare_side.h"
#include "analysis/report.h"

/* A row of it. What is not known is not a number, or NULL. */
typedef struct rocl_change {
    const char *quantity; /* static */
    double total[2];      /* of A and B, in ns: means of runs */
    double change, percent, p;
    size_t runs[2]; /* of A and B */
    uint64_t gpus;  /* whose times are added up in the cause */
    /* What the change comes from the most. */
    const char *cause, *class;
    rocl_view most;
    double cause_change;
} rocl_change;

extern const rocl_table_def rocl_change_table;

/* The wall time of the traces or, where that is not known, of their GPUs. sides: n runs. */
rocl_change rocl_change_of(const rocl_side *sides, size_t n);
/* Takes the cause from the table of causes. */
void rocl_change_explain(rocl_change *c, const rocl_tables *out);
/* Puts the table before all others. Its note is the sentence that every form begins with: "B is
 * 96.6 % slower: 10.4 ms -> 20.4 ms, ...". */
void rocl_change_put(const rocl_change *c, rocl_tables *out, const rocl_collector *of);

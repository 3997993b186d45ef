/* Durations by group, any number of them, for their exact distributions: sums are kept as they
 * come, the values themselves lie unsorted in blocks, in memory or, beyond the limit of the sort
 * space, in its file. Percentiles are looked up digit by digit, so that nothing is ever sorted. */
#pragma once

#include "analysis/distribution.h"
#include "analysis/gather.h"

typedef struct rocl_percentiles rocl_percentiles;

rocl_percentiles *rocl_percentiles_new(rocl_sort_space *space,
                                       unsigned workers); /* NULL: memory is out */
void rocl_percentiles_free(rocl_percentiles *s);

/* ns >= 0. Groups are small numbers. Concurrent as long as each worker uses its own number. */
rocl_status rocl_percentiles_add(rocl_percentiles *s, unsigned worker, uint32_t group, int64_t ns,
                                 rocl_error *err);
/* The distribution of a group; all zero if it has no values. */
rocl_status rocl_percentiles_describe(rocl_percentiles *s, uint32_t group, rocl_distribution *d,
                                      rocl_error *err);
/* The distributions of many groups, with all workers if there are many values. */
typedef struct rocl_described {
    uint32_t group;
    rocl_distribution *d;
} rocl_described;
rocl_status rocl_percentiles_describe_all(rocl_percentiles *s, const rocl_described *groups,
                                          size_t count, rocl_error *err);
/* A distribution without its percentiles, which take time. */
rocl_distribution rocl_percentiles_sum(const rocl_percentiles *s, uint32_t group);

/* ---- several ranks of a team ----
 * The sums of a group come to rank 0; values stay where they are. So percentiles are looked for in
 * rounds: rank 0 asks how many values lie in each piece of a range, which becomes smaller, for many
 * groups at once; where few values are left in it, for these. What is exchanged does not grow with
 * the number of values. */

/* On another rank: the sums of a group, which has values; rank 0 asks for groups by the order in
 * which they were put. */
void rocl_percentiles_put(rocl_percentiles *s, uint32_t group, rocl_put *to);
/* On rank 0, in that order; the group is one of this rank. percentiles: they are looked for. */
rocl_status rocl_percentiles_take(rocl_percentiles *s, unsigned rank, uint32_t group,
                                  bool percentiles, rocl_taken *from, rocl_error *err);
/* For each round: on rank 0 prepare, ask all ranks, which answer, as it does itself, and hear each.
 * The first one in which nothing is put is the last. */
rocl_status rocl_percentiles_prepare(rocl_percentiles *s, rocl_error *err);
void rocl_percentiles_ask(const rocl_percentiles *s, unsigned rank, rocl_put *to);
rocl_status rocl_percentiles_answer_own(rocl_percentiles *s, rocl_error *err);
rocl_status rocl_percentiles_answer(rocl_percentiles *s, rocl_taken *from, rocl_put *to,
                                    rocl_error *err);
rocl_status rocl_percentiles_hear(rocl_percentiles *s, unsigned rank, rocl_taken *from,
                                  rocl_error *err);

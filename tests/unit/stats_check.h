/* For the tests of the first reports: an independent count of the same databases. */
#ifndef TEST_STATS_CHECK_H
#define TEST_STATS_CHECK_H

#include "tests/unit/stats.h"

/* A database in memory with the table
 *     ev(domain, name, rank, agent, stream, workgroup, grid, start, end, bytes, src, dst, part,
 *        gpu, gpu2)
 * of all sound events. part 0: compute, 1: communication, 2: copy; gpu: machine * 100000 + absolute
 * index, gpu2: of the other end of a copy. */
sqlite3 *events_of(const rocl_trace *t);

typedef struct values {
    int64_t *v; /* in ascending order */
    size_t n;
    int64_t bytes;
    double best_rate;
    size_t sized; /* copies whose size is known, and their time */
    int64_t sized_ns;
} values;

int by_value(const void *a, const void *b);
int64_t total_of(const values *d);
/* The smallest value that so many percent of all do not exceed. */
int64_t percentile(const values *d, size_t percent);
int64_t median(const values *d);

/* domains, summary, kernels and copies */
void check_tables(sqlite3 *db, const rocl_tables *all, const rocl_stats_options *o);
/* The table of a single group, whose domains are those of a condition on `ev`. */
void check_summary_group(sqlite3 *db, const rocl_tables *all, const char *where);
/* overlap, gaps, gap_buckets and longest_gaps */
void check_gpus(sqlite3 *db, const rocl_trace *t, const rocl_tables *all,
                const rocl_stats_options *o);

#endif

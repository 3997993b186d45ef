/* Inside the analyses. A report is made by a collector, which takes events from all workers at once
 * and in the end adds tables.
 *
 *     stats.c         one pass over the trace for all collectors
 *     distribution.c  what can be said of a sorted row of durations
 *     summary.c       calls and time by domain, name, ...: domains, summary, kernels, copies
 *     busy.c          what GPUs did when; places.c, overlap.c, gaps.c
 *     timeline.c      the same slice by slice
 *     histogram.c     how long kernels took, by classes of durations
 *     cells.c         what cells of several reports say
 */
#ifndef ROCL_ANALYSIS_ANALYSIS_H
#define ROCL_ANALYSIS_ANALYSIS_H

#include "analysis/table.h"
#include "model/gpus.h"
#include "model/trace.h"

typedef struct rocl_collector {
    void *self;
    uint32_t kinds; /* that it wants */
    rocl_status (*events)(void *self, unsigned worker, const rocl_batch *b, rocl_error *err);
    rocl_status (*end_task)(void *self, unsigned worker, rocl_error *err);
    rocl_status (*finish)(void *self, rocl_tables *out, rocl_error *err);
    void (*free)(void *self);
} rocl_collector;

/* Fills *c; free it also after a failure where self is set. */
typedef rocl_status rocl_collector_new(rocl_collector *c, rocl_trace *t,
                                       const rocl_stats_options *o, rocl_error *err);
rocl_collector_new rocl_summary_collector, rocl_busy_collector, rocl_lane_gaps_collector,
    rocl_timeline_collector, rocl_histogram_collector;

static inline bool rocl_report_wanted(const rocl_stats_options *o, rocl_report r)
{
    return o->reports >> r & 1;
}

/* ---- cells.c ---- */

rocl_datum rocl_gpu_cell(const rocl_trace *t, rocl_tables *out, const rocl_gpu *g); /* "GPU 0" */
rocl_datum rocl_name_cell(const rocl_trace *t, rocl_tables *out, uint32_t text);
rocl_datum rocl_percent_cell(int64_t part, int64_t whole); /* none of 0 */
/* Is it a kernel of a collective library (NCCL, RCCL), by its name? */
bool rocl_is_communication(const char *kernel);

/* ---- distribution.c ---- */

/* Durations of one group, taken in ascending order, `count` of them in all. */
typedef struct rocl_distribution {
    uint64_t count, taken;
    int64_t min, max;
    int64_t median, p90, p95,
        p99;         /* of the two in the middle the mean, rounded down; nearest rank */
    int64_t total;   /* saturates */
    double mean, m2; /* Welford's: in ascending order, hence the same for every -j */
} rocl_distribution;

void rocl_distribution_begin(rocl_distribution *d, uint64_t count);
void rocl_distribution_take(rocl_distribution *d, int64_t ns);
/* The sample standard deviation (n - 1), as AMD's summaries have it; false for fewer than two. */
bool rocl_distribution_stddev(const rocl_distribution *d, double *stddev);
/* Of numbers that are not negative: INT64_MAX where the sum would be larger. */
int64_t rocl_add_saturated(int64_t a, int64_t b);
/* Puts the two together; the percentiles are lost. */
void rocl_distribution_merge(rocl_distribution *into, const rocl_distribution *from);

#endif

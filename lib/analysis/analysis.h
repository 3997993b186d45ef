/* Inside the analyses. A report is made by a collector, which takes events from all workers at once
 * and in the end adds tables.
 *
 *     stats.c         one pass over the trace for all collectors
 *     distribution.c  what can be said of durations
 *     samples.c       durations by group, for their distributions
 *     groups.c        what groups of events are made of
 *     summary.c       calls and time by domain, name, ...: summary_domains.c, summary_tables.c,
 *                     copies_tables.c
 *     busy.c          what GPUs did when; places.c, levels.c, overlap.c
 *     gaps.c          when they did nothing, and why: gap_causes.c, host.c, gaps_tables.c
 *     calls.c         which host call caused what, for launch and gaps
 *     launch*.c       from the call that launched a kernel to its end: launch
 *     markers*.c      what ranges had the GPUs do: markers
 *     rows.c          what tables of groups have in common
 *     ranks.c         how evenly work is spread over ranks, with ranks_tables.c
 *     compare.c       two traces side by side, with compare_groups.c and mann_whitney.c
 *     timeline.c      the same slice by slice (slices.h)
 *     histogram.c     how long kernels took, by classes of durations
 *     memory.c        memory of agents: what is allocated, at most and in the end, and over time:
 *                     memory_tables.c, memory_timeline.c
 *     counter.c       values of counters, of kernels and over time, with counter_tables.c
 *     streams.c       what streams and queues did when, and how many at once, with
 *                     streams_tables.c
 *     advice.c        what to look at first, by rules on the tables of the others
 *     cells.c         what their tables say in the same way
 */
#ifndef ROCL_ANALYSIS_ANALYSIS_H
#define ROCL_ANALYSIS_ANALYSIS_H

#include "table/table.h"
#include "model/gpus.h"
#include "model/trace.h"

typedef struct rocl_calls rocl_calls;

typedef struct rocl_collector {
    void *self;
    uint32_t kinds; /* that it wants */
    rocl_status (*events)(void *self, unsigned worker, const rocl_batch *b, rocl_error *err);
    /* As of a rocl_sink; its kinds are among `kinds`. May be NULL. */
    uint32_t history_kinds;
    rocl_status (*history)(void *self, unsigned worker, const rocl_batch *b, rocl_error *err);
    rocl_status (*end_task)(void *self, unsigned worker, rocl_error *err);
    /* When all events are there: to ask for host calls, which are told before `finish`. May be
     * NULL.
     */
    rocl_status (*ask)(void *self, rocl_calls *calls, rocl_error *err);
    rocl_status (*finish)(void *self, rocl_tables *out, rocl_error *err);
    void (*free)(void *self);
} rocl_collector;

/* Fills *c; free it also after a failure where self is set. */
typedef rocl_status rocl_collector_new(rocl_collector *c, rocl_trace *t,
                                       const rocl_stats_options *o, rocl_error *err);
rocl_collector_new rocl_calls_collector, rocl_summary_collector, rocl_busy_collector,
    rocl_lane_gaps_collector, rocl_launch_collector, rocl_markers_collector, rocl_ranks_collector,
    rocl_timeline_collector, rocl_histogram_collector, rocl_memory_collector,
    rocl_counter_collector, rocl_streams_collector;

/* ---- advice.c ---- */

/* Adds the table "advice", made of the tables that there are. */
rocl_status rocl_advise(rocl_tables *tables, rocl_error *err);

static inline bool rocl_report_wanted(const rocl_stats_options *o, rocl_report r)
{
    return o->reports >> r & 1;
}

/* ---- groups.c ---- */

/* Kinds that have a duration, not a value. */
#define ROCL_TIMED_KINDS (ROCL_ALL_KINDS & ~(uint32_t)ROCL_VALUE_KINDS)

const char *rocl_domain_name(rocl_domain d);
/* Is it in the list of names? Everything is in NULL. A name is written in any case, with '-' as
 * good as '_', and may be without its plural s or what follows a '_', as in `rocpd summary`; NONE
 * stands for all that are not of host calls. */
bool rocl_domain_listed(const char *const *list, rocl_domain d);
/* ROCL_USAGE when a name of the list is of no domain. */
rocl_status rocl_domains_check(const char *const *list, rocl_error *err);
/* Those (1 << domain) whose name, or that of rocprofv3, matches the POSIX extended regular
 * expression as a whole, in any case. ROCL_USAGE: there is none, or it is no such expression. */
rocl_status rocl_domains_matching(const char *regex, uint32_t *domains, rocl_error *err);

/* ---- cells.c ---- */

/* An agent, the same in all processes of a machine; compared and interned as bytes: no holes. */
typedef struct rocl_agent_key {
    uint32_t machine, type; /* ROCL_NONE: no agent is known */
    int64_t id;             /* index that the driver gave it, or the agent's id */
    int64_t rank;           /* -1: of any */
} rocl_agent_key;

rocl_agent_key rocl_agent_key_of(const rocl_capture *c, uint32_t agent, int32_t rank);
int rocl_compare_agents(const rocl_agent_key *a, const rocl_agent_key *b);

rocl_datum rocl_cell_of_text(const rocl_trace *t, rocl_tables *out, uint32_t text);
rocl_datum rocl_cell_of_string(rocl_tables *out, const char *s);
rocl_datum rocl_cell_of_share(int64_t part, int64_t whole); /* in percent; none of 0 */
rocl_datum rocl_cell_of_number(double v);                   /* an integer where it is one */
rocl_datum rocl_cell_of_agent(const rocl_trace *t, rocl_tables *out, const rocl_agent_key *k);
rocl_datum rocl_cell_of_gpu(const rocl_trace *t, rocl_tables *out, const rocl_gpu *g);
rocl_datum rocl_cell_of_host(const rocl_trace *t, rocl_tables *out, uint32_t machine);
/* "WHAT on HOST" where there are several machines. */
rocl_datum rocl_cell_on_machine(const rocl_trace *t, rocl_tables *out, const char *what,
                                uint32_t machine);
int rocl_compare_texts(const rocl_trace *t, uint32_t a,
                       uint32_t b); /* by their bytes, never by ids: those depend on -j */

/* Of all columns those whose bits are set in `shown`. NULL, false: memory is out. */
rocl_table *rocl_tables_add_some(rocl_tables *out, const char *key, const char *title,
                                 const rocl_table_column *columns, size_t count, uint64_t shown);
bool rocl_table_row_some(rocl_table *t, const rocl_datum *cells, size_t count, uint64_t shown);
/* Is it a kernel of a collective library (NCCL, RCCL), by its name? */
bool rocl_is_communication(const char *kernel);

/* ---- distribution.c ---- */

/* What can be said of the durations of a group. */
typedef struct rocl_distribution {
    uint64_t count, taken; /* expected (rocl_distribution_begin), come so far */
    int64_t min, max;
    int64_t median, p90, p95,
        p99;       /* of the two in the middle the mean, rounded down; nearest rank */
    int64_t total; /* saturates */
    unsigned __int128 sum, squares;
    uint64_t squares_high; /* above the 128 bits of squares */
} rocl_distribution;

/* Of durations as they come; percentiles are not known then. */
void rocl_distribution_count(rocl_distribution *d, int64_t ns);
/* Puts the two together; the percentiles are lost. */
void rocl_distribution_merge(rocl_distribution *into, const rocl_distribution *from);
double rocl_distribution_average(const rocl_distribution *d);
/* The sample standard deviation (n - 1), as AMD's summaries have it; false for fewer than two. */
bool rocl_distribution_stddev(const rocl_distribution *d, double *stddev);
/* Of numbers that are not negative: INT64_MAX where the sum would be larger. */
int64_t rocl_add_saturated(int64_t a, int64_t b);

/* Of `count` durations that are taken in ascending order, with percentiles. */
void rocl_distribution_begin(rocl_distribution *d, uint64_t count);
void rocl_distribution_take(rocl_distribution *d, int64_t ns);

/* Which values, from 1 in ascending order, the percentiles of `count` > 0 are made of; they do not
 * descend. And the percentiles of these values. */
#define ROCL_RANKS 5
void rocl_distribution_ranks(uint64_t count, uint64_t ranks[ROCL_RANKS]);
void rocl_distribution_percentiles(rocl_distribution *d, const int64_t values[ROCL_RANKS]);

/* ---- rows.c ---- */

static inline int rocl_number_order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

rocl_datum rocl_others_datum(rocl_tables *out, size_t n); /* "(N others)" */
rocl_datum rocl_id_datum(int64_t id);                     /* none for negative ones */
rocl_datum rocl_average_datum(int64_t total, uint64_t count);
rocl_datum rocl_stddev_datum(const rocl_distribution *d); /* none for fewer than two */
/* How many of n rows --top leaves. */
size_t rocl_rows_shown(const rocl_stats_options *o, size_t n);
/* ROCL_OK, unless a text of the tables or of the trace found no memory. */
rocl_status rocl_tables_verdict(const rocl_tables *out, const rocl_trace *t, rocl_error *err);

#endif

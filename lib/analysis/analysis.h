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
 *     compare.c       two traces side by side, by the test of mann_whitney.c
 *     timeline.c      the same slice by slice (slices.h)
 *     histogram.c     how long kernels took, by classes of durations
 *     memory.c        memory of agents: what is allocated, at most and in the end, and over time:
 *                     memory_tables.c, memory_timeline.c
 *     counters.c      values of counters, of kernels and over time
 *     streams.c       what streams and queues did when, and how many at once, with
 *                     streams_tables.c
 *     advice.c        what to look at first, by rules on the tables of the others
 *     cells.c         what their tables say in the same way
 */
#ifndef ROCL_ANALYSIS_ANALYSIS_H
#define ROCL_ANALYSIS_ANALYSIS_H

#include "analysis/distribution.h"
#include "analysis/report.h"

/* ---- advice.c ---- */

/* Adds the table "advice", made of the tables that there are. */
rocl_status rocl_advise(rocl_tables *tables, rocl_error *err);

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

/* Of all columns those whose bits are set in `shown`. NULL, false: memory is out. */
rocl_table *rocl_tables_add_some(rocl_tables *out, const char *key, const char *title,
                                 const rocl_table_column *columns, size_t count, uint64_t shown);
bool rocl_table_row_some(rocl_table *t, const rocl_datum *cells, size_t count, uint64_t shown);
/* Is it a kernel of a collective library (NCCL, RCCL), by its name? */
bool rocl_is_communication(const char *kernel);

/* ---- rows.c ---- */

rocl_datum rocl_others_datum(rocl_tables *out, size_t n); /* "(N others)" */
rocl_datum rocl_id_datum(int64_t id);                     /* none for negative ones */
rocl_datum rocl_average_datum(int64_t total, uint64_t count);
rocl_datum rocl_stddev_datum(const rocl_distribution *d); /* none for fewer than two */
/* ROCL_OK, unless a text of the tables or of the trace found no memory. */
rocl_status rocl_tables_verdict(const rocl_tables *out, const rocl_trace *t, rocl_error *err);

#endif

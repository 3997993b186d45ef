/* Events of each domain in each step: HIP calls, HSA calls, markers, kernels, copies, ...
 *
 * Host calls, markers and what else takes time belong to the step that was open on their thread
 * when they began, or else to the one that was open on any thread of the process; kernels and
 * copies to that of their launch, which the report on steps knows. The range of a step is not in
 * itself. */
#pragma once

#include "analysis/report.h"
#include "base/map.h"
#include "model/kinds.h"
#include "model/steps.h"

typedef struct rocl_step_sum {
    uint64_t count;
    int64_t ns; /* sum of durations; saturates */
} rocl_step_sum;

typedef struct rocl_step_domains {
    rocl_step_sum *of[ROCL_DOMAINS]; /* by step; NULL: no step has any */
    uint64_t outside; /* events in no step of any series, but for kernels and copies */
    /* The rest is of step_domains.c. */
    rocl_collector *c;
    rocl_sorter *timed;
    rocl_ids *domain_of; /* by worker and category */
} rocl_step_domains;

/* A sorter of the collector's is its. Close it also after a failure. */
rocl_status rocl_step_domains_open(rocl_step_domains *d, rocl_collector *c, rocl_error *err);
void rocl_step_domains_close(rocl_step_domains *d);
/* Takes any kind that takes time but kernels and copies. Concurrent. */
rocl_status rocl_step_domains_add_batch(rocl_step_domains *d, unsigned worker, const rocl_batch *b,
                                        rocl_error *err);
/* When the steps are known: counts what was added, once, for the steps of the first series. */
rocl_status rocl_step_domains_count(rocl_step_domains *d, const rocl_steps *steps, size_t series,
                                    rocl_error *err);
/* Adds to a domain in a step, of `steps` steps. False: memory is out. */
bool ROCL_CHECKED rocl_step_domains_add(rocl_step_domains *d, size_t step, size_t steps,
                                        rocl_domain domain, rocl_step_sum more);

/* `rocstats compare`: the command line around rocl_compare. */
#pragma once

#include <glob.h>

#include "common/common.h"

typedef struct comparison {
    bool wanted;
    const char *fail_over, *fail_over_total; /* as given, or NULL */
    const char *baseline;                    /* FILE or FILE:NAME, or NULL */
    strings runs_a, runs_b;                  /* patterns as given; then the paths that match */
    glob_t matches[2];                       /* own these paths */
    bool runs;                               /* several of them are compared */
    rocl_gate gate;
    rocl_status verdict; /* the exit code that the limits ask for */
    strings b;           /* inputs of the second trace; those of the first are the common ones */
    rocl_trace *other;   /* the second trace, once it is compared, if it is not the common one */
} comparison;

/* The number of words after "--" on the command line; 0: none. */
size_t words_after_dashes(int argc, char **argv);

/* Splits the inputs: two, or those after "--" for the second trace; with a baseline, which is the
 * only input of the first or given by its option, all are of the second. Reads the limits. -1 to go
 * on, else the exit code. */
int comparison_check(comparison *cmp, common *c, size_t behind);

/* Is this output the baseline? */
bool comparison_reads(const comparison *cmp, const char *path);

/* Makes the tables. t: of the common inputs. Reports what exceeds the limits, and sets the verdict:
 * ROCL_LIMIT; ROCL_INPUT: nothing could be tested. Close the other trace. */
rocl_status comparison_run(comparison *cmp, const common *c, const rocl_stats_options *o,
                           rocl_trace *t, rocl_tables **tables, rocl_error *err);

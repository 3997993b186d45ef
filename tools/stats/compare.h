/* `rocstats compare`: the command line around rocl_compare. */
#ifndef TOOLS_STATS_COMPARE_H
#define TOOLS_STATS_COMPARE_H

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
    strings b; /* inputs of the second trace; those of the first are the common ones */
} comparison;

/* How many words follow "--" on the command line; 0: there is none. */
size_t words_after_dashes(int argc, char **argv);

/* Parts the inputs: two, or as many of the second trace as there are behind "--"; all are of the
 * second where there is a baseline, which is the only input of the first or comes by its option.
 * Reads the limits. -1 to go on, else the exit code. */
int comparison_check(comparison *cmp, common *c, size_t behind);

/* Is this output the baseline? */
bool comparison_reads(const comparison *cmp, const char *path);

/* Makes the tables. t: of the common inputs. ROCL_PARTIAL also after names that grew too much,
 * which is said. */
rocl_status comparison_run(comparison *cmp, const common *c, const rocl_stats_options *o,
                           rocl_trace *t, rocl_tables **tables, rocl_error *err);

#endif

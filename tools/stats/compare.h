/* `rocstats compare`: the command line around rocl_compare. */
#ifndef TOOLS_STATS_COMPARE_H
#define TOOLS_STATS_COMPARE_H

#include "common/common.h"

typedef struct comparison {
    bool wanted;
    const char *fail_over, *fail_over_total; /* as given, or NULL */
    rocl_gate gate;
    strings b; /* inputs of the second trace; those of the first are the common ones */
} comparison;

/* How many words follow "--" on the command line; 0: there is none. */
size_t words_after_dashes(int argc, char **argv);

/* Parts the inputs: two, or as many of the second trace as there are behind "--". Reads the limits.
 * -1 to go on, else the exit code. */
int comparison_check(comparison *cmp, common *c, size_t behind);

/* Makes the table. ROCL_PARTIAL also after names that grew too much, which is said. */
rocl_status comparison_run(comparison *cmp, const common *c, const rocl_stats_options *o,
                           rocl_trace *a, rocl_tables **tables, rocl_error *err);

#endif

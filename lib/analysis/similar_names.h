/* Kernels that were renamed from one trace to the other: generated names change with tile sizes,
 * template arguments and counters. Which of those that are gone is which of those that are new, by
 * how much of their names is the same and how large their grids are. */
#ifndef ROCL_ANALYSIS_SIMILAR_NAMES_H
#define ROCL_ANALYSIS_SIMILAR_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    ROCL_SIMILAR = 8000,     /* of 10000: less similar names are not matched */
    ROCL_SIMILAR_MOST = 1000 /* names of either side are looked at: those that come first */
};

/* A name of which the other trace knows nothing. */
typedef struct rocl_lone_name {
    const char *name;
    size_t len;
    unsigned class;    /* of the kernel: others are not matched */
    double items;      /* work-items of a launch, on average; 0: not known */
    size_t partner;    /* set: index in the other list, + 1; 0: none */
    unsigned likeness; /* set: of 10000 */
} rocl_lone_name;

/* Matches one to one, the most similar first. Names that several others are equally similar to have
 * no partner. The same for any order of equal work: it looks at names, never at ids. */
rocl_status rocl_match_names(rocl_lone_name *gone, size_t n, rocl_lone_name *added, size_t m,
                             rocl_error *err);

#endif

/* Kernels that were renamed from one trace to the other: generated names change with tile sizes,
 * template arguments and counters. Pairs those that are gone with those that are new, by the
 * similarity of their names, their grids, and their places. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    ROCL_SIMILAR = 8000,          /* 10000 is the most; less similar names are not matched */
    ROCL_SIMILAR_IN_PLACE = 5000, /* likewise of kernels that stand at the same places */
    ROCL_SIMILAR_MOST = 1000      /* names of either side are looked at: those that come first */
};

/* A name of which the other trace knows nothing. */
typedef struct rocl_lone_name {
    const char *name;
    size_t len;
    unsigned class; /* class of the kernel: others are not matched */
    double items;   /* work-items of a launch, on average; 0: not known */
    /* Where the order of kernels is known in both traces: */
    size_t stands_for; /* index + 1 in the other list of the kernel that is at all places of this
                          one, and nowhere else; 0: none */
    bool says_what;    /* the words of the name are what the kernel computes: places do not make
                          up for other ones */
    const uint32_t
        *places; /* its places, in ascending order, counted alike in both lists; NULL: unknown */
    size_t place_count;
    size_t partner;    /* set: index in the other list, + 1; 0: none */
    unsigned likeness; /* set: of 10000 */
} rocl_lone_name;

/* Matches one to one: those first that stand for each other, then the most similar. Names that
 * several others are equally similar to have no partner, nor have names that are never at one
 * place. The same for any order of equal work: it looks at names, never at ids. */
rocl_status rocl_match_names(rocl_lone_name *gone, size_t n, rocl_lone_name *added, size_t m,
                             rocl_error *err);

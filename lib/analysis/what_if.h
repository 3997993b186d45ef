/* What the whole would take if something were faster: the longest path with other times. */
#pragma once

#include "analysis/dependencies.h"

/* The pieces of the path with one key, by `what`. */
typedef struct rocl_time_sum {
    rocl_time_key key;
    uint64_t count;
    int64_t ns;
    double percent; /* for rows */
} rocl_time_sum;

/* Is it time that something can be made faster in? */
bool rocl_takes_time(uint32_t class);

extern const rocl_table_def rocl_what_if_table;

/* Whether the options are of the form NAME=2x; ROCL_USAGE. */
rocl_status rocl_what_ifs_check(const rocl_stats_options *o, rocl_error *err);
/* Adds the table, for the names in the options, or those with the largest times on the path. */
rocl_status rocl_what_ifs_put(const rocl_collector *c, rocl_dependencies *d,
                              const rocl_time_sum *sums, size_t count, rocl_tables *out,
                              rocl_error *err);

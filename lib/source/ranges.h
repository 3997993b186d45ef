/* Begins and ends that are records of their own, joined to ranges. A begin and its end are in one
 * scope, such as a thread; the last begin with the id of an end is its begin. What else is true
 * depends on the format:
 *
 *     format                scope                          id          rules, and what is odd
 *     Chrome B, E           thread                         0           NEST
 *     Chrome b e, S F       category, id, scope            0           NEST; S and F: or name for
 *                                                                      category
 *     Perfetto              track                          its name    NEST
 *     Perfetto b e, S F     as Chrome's                    its name    NEST
 *     rocprof push, pop     thread; v2: the process        0           NEST
 *     rocprof start, stop   the process                    its number  NEST
 *     recording start, stop number in the process          0           REPLACE; kept to the last
 *                                                                      time of the process; an end
 *                                                                      that never began is no fault
 *
 * All but the last are records of source/records: there, a begin or end without the other is
 * counted and left out.
 *
 * Others are not joined here. strace resumes a call by thread and name, any number of times, so its
 * begins stay (rtg/index.c). Calls in a recording are a stack whose depth each chunk states,
 * because chunks can be lost (chunk/scan.c). Records of rocprofv3 and RPD have both times. */
#pragma once

#include "base/extsort.h"

/* ---- open begins ----------------------------------------------------------------------------- */

/* A stack whose members are found by their id as well. Nearly always an end belongs to the last
 * begin or to one just below it. If not, as with ranges that many threads start and stop, all of
 * them are put into a hash table by id, and later ones as they come: then every end takes the same
 * time, however many are open. */

/* Must be the first member of an open begin. */
typedef struct rocl_open {
    struct rocl_open *below, *above;
    uint64_t id;
    /* In the table, the last begin of each id is in a chain, and those below it with the same id
     * hang off it. */
    struct rocl_open *next, *same;
} rocl_open;

/* Zeroed at first. */
typedef struct rocl_open_stack {
    rocl_open *top; /* the last begin */
    size_t count;
    rocl_open **chains; /* by hash of the id; NULL: there is no table */
    size_t chain_count;
} rocl_open_stack;

void rocl_open_push(rocl_open_stack *s, rocl_open *o);
/* The last one with this id; NULL: none has it. */
rocl_open *rocl_open_find(rocl_open_stack *s, uint64_t id);
/* Removes a begin that is the last with its id, such as the top or a found one. An empty stack has
 * no memory of its own. */
void rocl_open_remove(rocl_open_stack *s, rocl_open *o);

/* ---- begins and ends in a sorter ------------------------------------------------------------- */

typedef struct rocl_range_half {
    uint64_t id;
    bool begins;
} rocl_range_half;

typedef enum rocl_range_rule {
    ROCL_RANGES_NEST = 1,   /* an end whose id no open begin has ends the last one */
    ROCL_RANGES_REPLACE = 2 /* a begin takes the place of the open one with its id */
} rocl_range_rule;

typedef struct rocl_range_format {
    unsigned scope_words; /* of the key, 1 or 2; the words after them are the order in a scope */
    unsigned rules;       /* a set of rocl_range_rule */
    /* What the data of a sorter's record are. */
    rocl_range_half (*read)(const uint8_t *data);
    /* Takes a range. `begin` is the data of its begin, NULL for an end that never began; `end` is
     * NULL for a begin that never ends. Both are valid during the call. */
    rocl_status (*put)(void *ctx, const uint8_t *begin, const rocl_sort_record *end,
                       rocl_error *err);
} rocl_range_format;

/* Starts the sorter and joins its records. Begins without an end are put last in their scope, the
 * last of them first, or when they are replaced. In memory are the open begins of one scope. */
rocl_status rocl_ranges_join(rocl_sorter *sorter, const rocl_range_format *format, void *ctx,
                             rocl_error *err);

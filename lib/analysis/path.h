/* The longest path through dependencies, and its length with other durations.
 *
 * The caller follows the events of a trace in order of time and keeps a slot for everything that
 * progresses: a thread, a stream, a piece of work. A slot has the time that its owner has reached,
 * and changes in three ways:
 *
 *     copy  to = from               what begins when another has come so far
 *     wait  to = max(to, from)      ... and not before a further one has; it may be elsewhere:
 *                                   among slots that are another's
 *     step  slot = slot + time      something takes a time
 *
 * These operations are kept, and that is the graph. Read backwards from a slot, they give the path
 * that led to its time: a step of the slot is a piece of the path, a copy leads to another slot,
 * and so does a wait for one that came later. The pieces follow each other without gaps. Read
 * forwards with other times of steps, they give the time at which the slot would have come so far.
 *
 * Slots are used again: there are as many as things go on at once. The operations take some bytes
 * each, in the space of sorters: beyond its limit they are in a file. For one thread. */
#pragma once

#include <stdbool.h>

#include "base/extsort.h"

typedef struct rocl_path rocl_path;

enum { ROCL_PATH_SCENARIOS = 32 };

/* NULL: memory is out. */
rocl_path *rocl_path_new(rocl_sort_space *space);
void rocl_path_free(rocl_path *p);

/* Slot 0 is there: its time is 0, and it never changes. A new one has any time: copy to it first.
 * Functions that make or change slots do not fail; rocl_path_close() says whether memory was out.
 */
uint32_t rocl_path_new_slot(rocl_path *p);
void rocl_path_free_slot(rocl_path *p, uint32_t slot);
void rocl_path_copy(rocl_path *p, uint32_t to, uint32_t from);
/* True: `from` has come further, and the time of `to` is now its. */
bool rocl_path_wait(rocl_path *p, uint32_t to, uint32_t from);
/* Waits for what is elsewhere: for paths that stay where they are it is a step of `what`. */
void rocl_path_wait_elsewhere(rocl_path *p, uint32_t to, uint32_t from, uint32_t what);
/* A step of the slot until a time, no earlier than its own. what: what the time is of; below 2^31.
 * varies: it takes another time in scenarios that change `what`. */
void rocl_path_step(rocl_path *p, uint32_t slot, int64_t until, uint32_t what, bool varies);
int64_t rocl_path_time(const rocl_path *p, uint32_t slot);

/* When all has happened, once. */
rocl_status rocl_path_close(rocl_path *p, rocl_error *err);

/* The pieces of the paths to n slots, the last first, found in one pass: i is the index of the
 * slot. They meet nowhere. apart: each stays on its own rank. */
typedef rocl_status rocl_path_fn(void *ctx, size_t i, int64_t start, int64_t end, uint32_t what,
                                 rocl_error *err);
rocl_status rocl_path_walk(rocl_path *p, const uint32_t *slots, size_t n, bool apart,
                           rocl_path_fn *fn, void *ctx, rocl_error *err);

/* What varies in n scenarios: the bits of `changed`, by what a step is of (below `count`), say in
 * which of them its time is divided by the scenario's factor, rounded to whole nanoseconds. times:
 * of the slot in each. */
typedef struct rocl_path_scenarios {
    const uint32_t *changed;
    size_t count;
    unsigned n; /* ROCL_PATH_SCENARIOS at most */
    double factors[ROCL_PATH_SCENARIOS];
} rocl_path_scenarios;

rocl_status rocl_path_vary(rocl_path *p, uint32_t slot, const rocl_path_scenarios *s,
                           int64_t *times, rocl_error *err);

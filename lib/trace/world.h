/* What each rank of a team that writes must know of all captures: their order and machines, their
 * processes and agents, and how many threads and counters they have. Outputs number and name things
 * by it. */
#ifndef ROCL_TRACE_WORLD_H
#define ROCL_TRACE_WORLD_H

#include "model/trace.h"
#include "team/team.h"

/* The definitions of all captures as bytes, for any number of ranks. Zeroed at first. */
typedef struct rocl_world {
    rocl_buf bytes;
    size_t *ends; /* by capture */
} rocl_world;

rocl_status rocl_world_make(rocl_world *w, const rocl_trace *t, rocl_error *err);
void rocl_world_free(rocl_world *w);
/* Appends the captures of rank 0's trace, and which of them the rank reads. */
void rocl_world_put(rocl_buf *to, const rocl_world *w, const rocl_trace *t, unsigned rank);

/* Finds a capture of the rank's own trace: the nth of an input, with that guid. NULL: there is
 * none. */
typedef rocl_model_capture *rocl_world_find_fn(void *ctx, uint64_t input, uint64_t nth,
                                               const char *guid, size_t len);

/* Makes the captures of a rank's trace those of rank 0's: its own are where they belong, with their
 * clocks; of the others there are only definitions. own: by capture, freed by the caller; NULL
 * after a failure. ROCL_INPUT: an input is not what rank 0 has opened. */
rocl_status rocl_world_take(rocl_trace *t, rocl_team_reader *from, rocl_world_find_fn *find,
                            void *ctx, bool **own, rocl_error *err);

/* Appends all definitions of a capture, whose clock is not set yet; and reads them into a new one.
 */
void rocl_world_put_definitions(rocl_buf *to, const rocl_trace *t, const rocl_model_capture *c);
rocl_status rocl_world_take_definitions(rocl_trace *t, rocl_team_reader *from,
                                        rocl_model_capture *c, rocl_error *err);

/* Sets the clock of a capture as rocl_deal_put_clock() has put it, once. */
void rocl_world_take_clock(rocl_model_capture *c, rocl_team_reader *from);

#endif

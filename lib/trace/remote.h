/* Inputs that other ranks of a team have opened. On rank 0 they are sources, with all definitions,
 * whose events come from there; rank 0 reads them itself only where it must: for an output that it
 * writes alone. */
#ifndef ROCL_TRACE_REMOTE_H
#define ROCL_TRACE_REMOTE_H

#include "model/trace.h"
#include "source/source.h"
#include "team/team.h"

/* Opens rank 0's share, and takes in what the others define: t->node_sources are open then, with
 * captures that are not the trace's yet. Those that are NULL are to be opened by rank 0, in their
 * turn; `refused` ones cannot be, and the remark says why. */
rocl_status rocl_remote_open(rocl_trace *t, rocl_error *err);
/* Rank 0 of an output that all write knows no kernels and code objects of what others have opened:
 * they are most of what databases define, and needed only where events come here. Before that: gets
 * them. Does nothing where they are there. */
rocl_status rocl_remote_complete(rocl_trace *t, rocl_error *err);
/* Was it opened by another rank? */
bool rocl_is_remote(const rocl_source *s);
/* For a writer that needs the file itself: it has to be rank 0's. ROCL_USAGE. */
rocl_status rocl_refuse_remote(const rocl_source *s, rocl_error *err);

/* ---- on another rank ---- */

/* Sends what the inputs define, or why they cannot be opened. */
rocl_status rocl_send_definitions(rocl_team *team, rocl_trace *t, const rocl_opened *all,
                                  char *const *paths, size_t count, unsigned flags,
                                  rocl_error *err);
/* Sends the kernels and code objects of captures, as they were opened. */
rocl_status rocl_send_kernels(rocl_team *team, const rocl_trace *t,
                              rocl_model_capture *const *opened, size_t count, rocl_error *err);
#endif

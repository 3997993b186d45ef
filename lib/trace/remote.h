/* Inputs that other ranks of a team have opened. On rank 0 they are sources, with all definitions,
 * whose events come from there; rank 0 reads them itself only where it must: for an output that it
 * writes alone. */
#pragma once

#include "model/trace.h"
#include "source/source.h"
#include "team/team.h"

/* Opens the inputs of rank 0, and receives the definitions of the others: t->node_sources are then
 * open, with captures that are not in the trace yet. Rank 0 must open those that are NULL, in their
 * turn; `refused` ones cannot be opened, and the remark says why. */
rocl_status rocl_remote_open(rocl_trace *t, rocl_error *err);
/* If all ranks write the output, rank 0 has no kernels and code objects of inputs that others
 * opened: they are most of the definitions, and needed only if events come here. This gets them
 * before; does nothing if they are there. */
rocl_status rocl_remote_complete(rocl_trace *t, rocl_error *err);
/* Was it opened by another rank? */
bool rocl_is_remote(const rocl_source *s);
/* For a writer that needs the file itself: ROCL_USAGE unless rank 0 opened it. */
rocl_status rocl_refuse_remote(const rocl_source *s, rocl_error *err);

/* ---- on another rank ---- */

/* Sends what the inputs define, or why they cannot be opened. */
rocl_status rocl_send_definitions(rocl_team *team, rocl_trace *t, const rocl_opened *all,
                                  char *const *paths, size_t count, unsigned flags,
                                  rocl_error *err);
/* Sends the kernels and code objects of captures, as they were opened. */
rocl_status rocl_send_kernels(rocl_team *team, const rocl_trace *t,
                              rocl_model_capture *const *opened, size_t count, rocl_error *err);

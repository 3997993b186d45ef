/* The inputs of a trace that a team reads: they are dealt out among the ranks, which open them and
 * send what they define. On rank 0 the inputs of others are sources that it reads only where it
 * must.
 *
 *     rank 0                               rank r
 *     finds inputs         -- OPEN paths -->
 *     opens its share     <-- DEFINED --    sources, captures with their definitions
 *     what nobody could open by itself, in its turn
 *
 * Inputs on disks that only their nodes see are found by a rank of each node, and dealt out among
 * the ranks of the node:
 *
 *     rank 0                               rank r
 *                         -- FIND -->
 *                        <-- FOUND --      its host
 *                         -- FIND names -->  (the first rank of each host)
 *     finds its own      <-- FOUND --      what they are: names, sizes
 */
#ifndef ROCL_TRACE_NODES_H
#define ROCL_TRACE_NODES_H

#include "model/trace.h"
#include "source/inputs.h"
#include "source/source.h"
#include "team/team.h"

/* Finds the inputs, and deals them out: ranks begin to open theirs. */
rocl_status rocl_nodes_find(rocl_trace *t, const char *const *names, size_t count, rocl_inputs *in,
                            rocl_error *err);
/* The same without other ranks: names of this node. */
rocl_status rocl_nodes_find_alone(const rocl_trace *t, const char *const *names, size_t count,
                                  rocl_inputs *in, rocl_error *err);
/* Opens rank 0's share, and takes in what the others define: t->node_sources are open then, with
 * captures that are not the trace's yet. Those that are NULL are to be opened by rank 0, in their
 * turn; `refused` ones cannot be, and the remark says why. */
rocl_status rocl_nodes_open(rocl_trace *t, rocl_error *err);
/* Rank 0 of an output that all write knows no kernels and code objects of what others have opened:
 * they are most of what databases define, and needed only where events come here. Before that: gets
 * them. Does nothing where they are there. */
rocl_status rocl_nodes_complete(rocl_trace *t, rocl_error *err);
/* After a failure: takes what ranks still answer. */
void rocl_nodes_drain(rocl_team *team);

/* Was it opened by another rank? */
bool rocl_nodes_has(const rocl_source *s);
/* For a writer that needs the file itself: it has to be rank 0's. ROCL_USAGE. */
rocl_status rocl_nodes_refuse(const rocl_source *s, rocl_error *err);

/* ---- on another rank ---- */

rocl_status rocl_nodes_serve_find(rocl_team *team, rocl_team_reader *from, rocl_error *err);
/* Sends what the inputs define, or why they cannot be opened. */
rocl_status rocl_nodes_send_definitions(rocl_team *team, rocl_trace *t, const rocl_opened *all,
                                        char *const *paths, size_t count, unsigned flags,
                                        rocl_error *err);
/* Sends the kernels and code objects of captures, as they were opened. */
rocl_status rocl_nodes_send_kernels(rocl_team *team, const rocl_trace *t,
                                    rocl_model_capture *const *opened, size_t count,
                                    rocl_error *err);
/* Appends the text of a message, with the host before the name of an input that it begins with. */
void rocl_nodes_put_message(rocl_buf *to, const rocl_team *team, char *const *paths, size_t count,
                            const char *text);

#endif

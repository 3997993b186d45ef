/* The inputs of a trace that a team reads: they are dealt out among the ranks, which open them and
 * send their definitions. On rank 0 the inputs of others are sources that it reads only if it must.
 *
 *     rank 0                               rank r
 *     finds inputs         -- OPEN paths -->
 *     opens its own       <-- DEFINED --    sources, captures with their definitions
 *     what nobody could open by itself, in its turn
 *
 * Inputs on disks that only their nodes see are found by a rank of each node, and dealt out among
 * the ranks of the node:
 *
 *     rank 0                               rank r
 *                         -- FIND -->
 *                        <-- FOUND --      its host
 *                         -- FIND names -->  (the first rank of each host)
 *     finds its own      <-- FOUND --      what they are: names, sizes */
#pragma once

#include "model/trace.h"
#include "source/inputs.h"
#include "source/source.h"
#include "team/team.h"

/* Finds the inputs, and deals them out: ranks begin to open theirs. */
rocl_status rocl_nodes_find(rocl_trace *t, const char *const *names, size_t count, rocl_inputs *in,
                            rocl_error *err);
/* Finds the inputs that this rank sees, without others: names of this node. */
rocl_status rocl_nodes_find_alone(const rocl_trace *t, const char *const *names, size_t count,
                                  rocl_inputs *in, rocl_error *err);
/* ---- on another rank ---- */

rocl_status rocl_nodes_serve_find(rocl_team *team, rocl_byte_reader *from, rocl_error *err);
/* Appends the text of a message, with the host before the name of an input that it begins with. */
void rocl_nodes_put_message(rocl_buf *to, const rocl_team *team, char *const *paths, size_t count,
                            const char *text);

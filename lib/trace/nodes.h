/* Inputs on disks that only their nodes see. Each node has a rank that finds its inputs; rank 0
 * deals them out among the ranks of the node, which open them and send what they define. On rank 0
 * they are sources that it cannot read.
 *
 *     rank 0                               rank r
 *                         -- FIND -->
 *                        <-- FOUND --      its host
 *                         -- FIND names -->  (the first rank of each host)
 *     finds its own      <-- FOUND --      what they are: names, sizes
 *     opens its share     -- OPEN names -->
 *                        <-- DEFINED --    sources, captures with their definitions
 */
#ifndef ROCL_TRACE_NODES_H
#define ROCL_TRACE_NODES_H

#include "model/trace.h"
#include "source/inputs.h"
#include "source/source.h"
#include "team/team.h"

/* Are there inputs that ranks find on their nodes: by options.local, or "HOST:PATH"? */
bool rocl_nodes_wanted(const rocl_trace *t, const char *const *names, size_t count);

/* What rank 0 is to open itself; the others have begun to open theirs. */
rocl_status rocl_nodes_find(rocl_trace *t, const char *const *names, size_t count, rocl_inputs *in,
                            rocl_error *err);
/* The same without other ranks: names of this node. */
rocl_status rocl_nodes_find_alone(const rocl_trace *t, const char *const *names, size_t count,
                                  rocl_inputs *in, rocl_error *err);
/* Adds the sources and captures of the others, when rank 0 has opened its own. */
rocl_status rocl_nodes_take(rocl_trace *t, rocl_error *err);

/* Is it another rank's to read, because it is on another node or was found by it? */
bool rocl_nodes_has(const rocl_source *s);

/* ---- on another rank ---- */

rocl_status rocl_nodes_serve_find(rocl_team *team, rocl_team_reader *from, rocl_error *err);
/* Sends what the inputs define, or why they cannot be opened: a status and a text. */
rocl_status rocl_nodes_send_definitions(rocl_team *team, rocl_trace *t, rocl_status status,
                                        char *const *paths, size_t count, const char *why,
                                        rocl_error *err);
/* Appends the text of a message, with the host before the name of an input that it begins with. */
void rocl_nodes_put_message(rocl_buf *to, const rocl_team *team, char *const *paths, size_t count,
                            const char *text);

#endif

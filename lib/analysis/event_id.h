/* Ids of single events: "kernel:00000096-88a3:12" is KIND:GUID:ROW. The GUID is that of the
 * process, or the name of its file if the format has none. It is shortened to a unique prefix of at
 * least eight characters; any unique prefix is accepted. A second process with the same GUID has
 * "#2" appended. */
#pragma once

#include "base/buf.h"
#include "model/trace.h"

/* What the captures of a trace are called in ids. */
typedef struct rocl_event_ids {
    const rocl_trace *trace;
    char **names; /* by capture */
} rocl_event_ids;

rocl_status rocl_event_ids_open(rocl_event_ids *ids, const rocl_trace *t, rocl_error *err);
void rocl_event_ids_free(rocl_event_ids *ids);

/* Appends an id. */
void rocl_event_id_put(rocl_buf *to, const rocl_event_ids *ids, const rocl_capture *c,
                       rocl_kind kind, uint64_t row);

/* ROCL_USAGE: it is not an id, or not one of this trace, or fits several processes. Whether the
 * trace has the event is not looked up. */
rocl_status rocl_event_id_read(const rocl_event_ids *ids, const char *text,
                               const rocl_capture **capture, rocl_kind *kind, uint64_t *row,
                               rocl_error *err);

/* Arrows between events: which ends belong together (by category, name and id). Builds of PyTorch
 * for ROCm end an arrow at every call that launches nothing; the first pass counts arrows that
 * begin nowhere. */
#pragma once

#include "base/map.h"
#include "source/chrome/event.h"

/* Which arrows begin, and which end, as seen by a worker. */
typedef struct chrome_flows {
    alignas(ROCL_CACHE_LINE) rocl_idset begun;
    rocl_idset ended;
} chrome_flows;

/* One for each worker of the trace; NULL: memory is out. */
chrome_flows *chrome_flows_new(const rocl_trace *t);
void chrome_flows_free(chrome_flows *flows, const rocl_trace *t);

uint64_t chrome_hash_texts(const rocl_view *texts, size_t count);

/* In the first pass: an arrow begins or ends. False: memory is out. */
bool chrome_note_flow(rocl_records *to, chrome_flows *flows, const chrome_event *e, bool begins);
/* An end of an arrow that is an event of its own: "s", "t" or "f". */
rocl_status chrome_put_flow(rocl_records *to, rocl_source_record *r, chrome_flows *flows,
                            const chrome_event *e, char ph, rocl_error *err);
/* The arrows of an event that names those to it and from it. */
rocl_status chrome_put_bound_flows(rocl_records *to, const rocl_source_record *event,
                                   const chrome_event *e, rocl_error *err);
/* After the first pass: reports with -v how many arrows begin nowhere. */
rocl_status chrome_explain_flows(const chrome_flows *flows, const rocl_records_input *in,
                                 rocl_error *err);

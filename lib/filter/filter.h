/* Filters: which events pass from a source to a sink. Made once per trace from its options, when
 * all captures have their definitions. A NULL filter is fine everywhere and lets everything pass.
 */
#pragma once

#include "model/trace.h"

typedef struct rocl_filter rocl_filter;

/* Checks and compiles everything that needs no events (lists, EREs, times). *filter is NULL when no
 * option filters anything. ROCL_USAGE errors name the option: `--start: "10x": ...`. The strings of
 * the options must outlive it. */
rocl_status rocl_filter_new(rocl_filter **filter, rocl_trace *t, rocl_error *err);
void rocl_filter_free(rocl_filter *f);

/* Does the filter still need the first and last time of the trace (NN%, relative, periods)?
 * Markers, dispatches? No more once it is resolved, so a second run over the same trace does not
 * look again.
 */
bool rocl_filter_needs_bounds(const rocl_filter *f);
bool rocl_filter_needs_markers(const rocl_filter *f);
bool rocl_filter_needs_dispatches(const rocl_filter *f);

/* Gives the bounds, once, before resolve: first start and last end of every kind of event in all
 * captures that rocl_filter_takes_capture() (the time window is of these, whatever else filters).
 * Not called when there is no event. */
void rocl_filter_set_bounds(rocl_filter *f, int64_t first, int64_t last);

/* Before any event passes. When markers are needed: every ROCL_MARKER and ROCL_INSTANT batch of the
 * trace, unfiltered, in any order, from one thread at a time. Then, in any case, resolve: an
 * unknown marker is ROCL_USAGE and says how many times the name occurs, and so is a window that
 * ends before it starts. */
rocl_status rocl_filter_see_markers(rocl_filter *f, const rocl_batch *b, rocl_error *err);
/* When dispatches are needed: every ROCL_DISPATCH batch, likewise, from all workers at once. */
rocl_status rocl_filter_see_dispatches(rocl_filter *f, unsigned worker, const rocl_batch *b,
                                       rocl_error *err);
rocl_status rocl_filter_resolve(rocl_filter *f, rocl_error *err);

/* Kinds that can pass at all; whether a capture can (rank, pid). */
uint32_t rocl_filter_kinds(const rocl_filter *f);
bool rocl_filter_takes_capture(const rocl_filter *f, const rocl_capture *c);

/* Removes from the batch what does not pass (compacting in place; arg_first stays valid), clips.
 * Concurrent; the per-worker caches need worker in [0, opt.jobs). */
rocl_status rocl_filter_apply(rocl_filter *f, unsigned worker, rocl_batch *b, rocl_error *err);

/* Tests only the process, agent and kind, neither time nor name nor duration. */
rocl_status rocl_filter_apply_who(rocl_filter *f, unsigned worker, rocl_batch *b, rocl_error *err);

/* The time window, from the first period to the last; INT64_MIN to INT64_MAX without any. Once
 * resolved. */
void rocl_filter_window(const rocl_filter *f, int64_t *from, int64_t *to);
/* Within the window, times that pass lie in periods. The first of those that ends at `time` or
 * after it, edges included; without periods it is the window. False: there is none. */
bool rocl_filter_interval(const rocl_filter *f, int64_t time, int64_t *from, int64_t *to);
/* The begin of an event that passes, or its end, as ROCL_WINDOW_CLIP has it. */
int64_t rocl_filter_clip_time(const rocl_filter *f, int64_t time, bool begin);

/* For a trace without any event that passed: ROCL_USAGE when its time window is outside of it. */
bool rocl_filter_has_window(const rocl_filter *f);
rocl_status rocl_filter_within(const rocl_filter *f, int64_t first, int64_t last, rocl_error *err);

/* For the ranks of a team, whose filters are made of the same options and definitions. What rank
 * 0's has found in all events (it is resolved), as bytes; another rank's takes it, and is resolved
 * then. ROCL_INTERNAL: they are damaged. */
void rocl_filter_put_state(const rocl_filter *f, rocl_buf *to);
rocl_status rocl_filter_take_state(rocl_filter *f, rocl_byte_reader *from, rocl_error *err);
/* What has been met, for rocl_filter_report(). */
void rocl_filter_put_hits(rocl_filter *f, rocl_buf *to);
void rocl_filter_add_hits(rocl_filter *f, rocl_byte_reader *from);

/* After the last event: a notice for every --include or --exclude word and every --name list that
 * matched nothing; ROCL_USAGE for an unknown word. No notices about words for kinds that were not
 * read: kinds_read is the set of kinds that were. Call it once, not after a failure. */
rocl_status rocl_filter_report(const rocl_filter *f, uint32_t kinds_read, rocl_error *err);

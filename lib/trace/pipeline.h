/* A sink is where batches end. The pipeline takes the captures of a trace one after the other:
 * begin_capture, then events from all workers concurrently in any order, then end_capture, in which
 * the sink may sort and write. */
#pragma once

#include "model/trace.h"

typedef struct rocl_sink {
    void *self;
    uint32_t kinds;  /* ROCL_BIT()s of what it wants */
    uint32_t fields; /* ROCL_FIELD_*s of what it wants of them */
    /* ROCL_BIT()s of kinds that the output cannot hold. The pipeline filters and counts them, does
     * not pass them on, and tells in a notice how many were left out of `output` ("CSV"). */
    uint32_t no_place_for;
    const char *output;
    /* Each may be NULL. */
    /* *takes false: skip this capture; none of the other functions is called for it. */
    rocl_status (*takes)(void *self, const rocl_capture *capture, bool *takes, rocl_error *err);
    rocl_status (*begin_capture)(void *self, const rocl_capture *capture, rocl_error *err);
    /* Concurrent; worker in [0, opt.jobs). The sink may change the batch, but not keep it. */
    rocl_status (*events)(void *self, unsigned worker, rocl_batch *batch, rocl_error *err);
    /* Gets all events of some kinds, whatever their time, name and duration; for state that must be
     * followed from the begin of the trace. Events that pass also come to `events`. Concurrent. */
    uint32_t history_kinds;
    rocl_status (*history)(void *self, unsigned worker, rocl_batch *batch, rocl_error *err);
    /* A task (a range of rows of one kind) is over on this worker: a moment to seal sorters. */
    rocl_status (*end_task)(void *self, unsigned worker, rocl_error *err);
    rocl_status (*end_capture)(void *self, const rocl_capture *capture, rocl_error *err);
} rocl_sink;

/* In a team: makes all kernels known, for a sink that looks at definitions before events come. */
rocl_status rocl_pipeline_complete(rocl_trace *t, rocl_error *err);

/* Runs source -> filters -> sink over every capture that passes the filters. */
rocl_status rocl_pipeline_run(rocl_trace *t, const rocl_sink *sink, rocl_error *err);

/* Gives the notices about a sink's no_place_for after a run. rocl_pipeline_run() does so itself;
 * this is for a sink that gets its events from another sink. */
void rocl_pipeline_note_left_out(rocl_trace *t, const rocl_sink *sink);

/* A preliminary run over the kinds of the main sink, for another sink that gets only what it wants
 * of them; so it fails as the main run would. Counts start anew in the main run. */
rocl_status rocl_pipeline_run_first(rocl_trace *t, const rocl_sink *sink, uint32_t kinds,
                                    rocl_error *err);

/* A separate run before that, without filters, for facts needed from all events first. The counts
 * of the trace stay empty. */
rocl_status rocl_pipeline_survey(rocl_trace *t, const rocl_sink *sink, rocl_error *err);

/* Reads the wanted captures (by index) without clocks and filters, for a rank that sends events to
 * where these are applied. */
rocl_status rocl_pipeline_read(rocl_trace *t, const bool *wanted, const rocl_sink *sink,
                               rocl_error *err);

/* Does the capture pass the filters? Known before the run. */
bool rocl_trace_takes(const rocl_trace *t, const rocl_capture *c);
/* May its output be joined with that of the next capture that passes the filters? */
bool rocl_trace_joins_next(const rocl_trace *t, const rocl_capture *c);

/* Finds the time window without a run, for copying what is in it. ROCL_USAGE: it is outside of the
 * trace. */
rocl_status rocl_pipeline_find_window(rocl_trace *t, rocl_error *err);

/* The time window of the options, from the first period to the last, as times of this trace; all
 * times without one. Outputs clip to it what extends beyond it. Known when the pipeline runs. */
void rocl_trace_window(const rocl_trace *t, int64_t *from, int64_t *to);
/* The first period of the window that ends at `time` or later, edges included; without periods the
 * window. False: there is none. */
bool rocl_trace_interval(const rocl_trace *t, int64_t time, int64_t *from, int64_t *to);

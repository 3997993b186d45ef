/* What a sink is: where batches end. The pipeline takes the captures of a trace one after the
 * other: begin_capture, then events from all workers at once in any order, then end_capture, in
 * which the sink may put things in order and write them. */
#ifndef ROCL_TRACE_PIPELINE_H
#define ROCL_TRACE_PIPELINE_H

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
    /* *takes false: nothing of this capture is read, and none of the others is called. */
    rocl_status (*takes)(void *self, const rocl_capture *capture, bool *takes, rocl_error *err);
    rocl_status (*begin_capture)(void *self, const rocl_capture *capture, rocl_error *err);
    /* Concurrent; worker in [0, opt.jobs). The batch is the sink's to change, but not to keep. */
    rocl_status (*events)(void *self, unsigned worker, rocl_batch *batch, rocl_error *err);
    /* Events of some kinds whatever their time, name and duration; for what must be followed from
     * the begin of the trace to be right in a time window. They come to `events` as well where they
     * pass. Concurrent. */
    uint32_t history_kinds;
    rocl_status (*history)(void *self, unsigned worker, rocl_batch *batch, rocl_error *err);
    /* A task (a range of rows of one kind) is over on this worker: a moment to seal sorters. */
    rocl_status (*end_task)(void *self, unsigned worker, rocl_error *err);
    rocl_status (*end_capture)(void *self, const rocl_capture *capture, rocl_error *err);
} rocl_sink;

/* Of a team: who looks at definitions before events come, sees all kernels after this. */
rocl_status rocl_pipeline_complete(rocl_trace *t, rocl_error *err);

/* Runs source -> filters -> sink over every capture that the filters leave. */
rocl_status rocl_pipeline_run(rocl_trace *t, const rocl_sink *sink, rocl_error *err);

/* Gives the notices about a sink's no_place_for after a run. rocl_pipeline_run() does so itself;
 * this is for a sink that gets its events from another sink. */
void rocl_pipeline_note_left_out(rocl_trace *t, const rocl_sink *sink);

/* A run before that of the same kinds, for another sink, which gets only what it wants of them; so
 * it fails as that run would. What it counts, that counts again. */
rocl_status rocl_pipeline_run_first(rocl_trace *t, const rocl_sink *sink, uint32_t kinds,
                                    rocl_error *err);

/* A run of its own before that, without filters, for what must be known of all events first. The
 * counts of the trace stay empty. */
rocl_status rocl_pipeline_survey(rocl_trace *t, const rocl_sink *sink, rocl_error *err);

/* The captures that are wanted (by index), without clocks and filters: events as the source makes
 * them, for who sends them to where they pass these. */
rocl_status rocl_pipeline_read(rocl_trace *t, const bool *wanted, const rocl_sink *sink,
                               rocl_error *err);

/* Do the filters leave the capture? Known before the run. */
bool rocl_trace_takes(const rocl_trace *t, const rocl_capture *c);
/* May what it becomes be joined with what the next one becomes, of those that the filters leave? */
bool rocl_trace_joins_next(const rocl_trace *t, const rocl_capture *c);

/* Makes the time window known without a run, for who copies what is in it. ROCL_USAGE: it is none
 * of the trace. */
rocl_status rocl_pipeline_find_window(rocl_trace *t, rocl_error *err);

/* The time window that the options ask for, from the first period to the last, as times of this
 * trace; all times without any. Outputs clip to it what began before or ends behind it. Known when
 * the pipeline runs. */
void rocl_trace_window(const rocl_trace *t, int64_t *from, int64_t *to);
/* Within it, times that pass lie in periods. The first of those that ends at `time` or after it,
 * edges included; without periods it is the window. False: there is none. */
bool rocl_trace_interval(const rocl_trace *t, int64_t time, int64_t *from, int64_t *to);

#endif

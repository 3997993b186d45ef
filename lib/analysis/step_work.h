/* Which GPU work is a step's, for all that measure steps.
 *
 *     marks    ranges of markers that are steps (model/steps.h has the rules)
 *     work     GPU work by process and stack id: looks up the calls that launched it
 *     owned    GPU work by step and start
 *
 * Work belongs to the step that was open on the thread of its call when the call began; if none was
 * open there, to the one that was open on any thread of the process, since frameworks launch from
 * threads of their own (the backward pass of PyTorch). Without a call the begin of the work counts.
 */
#pragma once

#include "analysis/calls.h"
#include "analysis/lanes.h"
#include "model/steps.h"

enum {
    ROCL_STEPS_MOST = 100000,  /* with more, steps are not reported */
    ROCL_STEP_SERIES_MOST = 16 /* that are looked at: those with the most time */
};

/* Where a kernel ran. Interned as bytes: no holes. */
typedef struct rocl_step_lane {
    rocl_lane_key lane;
    uint32_t agent; /* of the capture, or ROCL_NONE */
} rocl_step_lane;

typedef struct rocl_step_work {
    rocl_trace *trace;
    rocl_sorter *marks, *work, *owned; /* the owner's */
    rocl_strings *lanes;           /* lanes of kernels, rocl_step_lane by id; NULL: not wanted */
    rocl_step_cache *caches;       /* by worker */
    rocl_steps steps;              /* once resolved */
    uint64_t mark_count;           /* also of those that are too many */
    uint32_t series, series_count; /* of these series the work is looked for; set by resolve, and
                                      may be changed before look_up */
    uint64_t *launches;            /* by step: calls that launched its work */
    uint64_t *kernels;             /* by step, once work is looked up */
    uint64_t last_call[2];         /* process and stack id of the last question */
    bool *linked;                  /* by capture: the call of some work is known */
    uint64_t outside; /* pieces of work that are in no step of any of these series */
} rocl_step_work;

/* A kernel or a copy of a step. */
typedef struct rocl_step_piece {
    size_t step; /* in steps.all */
    int64_t start, end;
    rocl_kind kind;
    uint32_t name; /* text */
    uint32_t lane; /* for a kernel: id in lanes; 0: not wanted */
} rocl_step_piece;

/* Sorters of four key words each. Close it also after a failure. */
rocl_status rocl_step_work_open(rocl_step_work *w, rocl_trace *t, rocl_sorter *marks,
                                rocl_sorter *work, rocl_sorter *owned, rocl_error *err);
void rocl_step_work_close(rocl_step_work *w);

/* Concurrent. Wants ROCL_MARKER, ROCL_DISPATCH and ROCL_COPY. */
rocl_status rocl_step_work_add_batch(rocl_step_work *w, unsigned worker, const rocl_batch *b,
                                     rocl_error *err);
/* When all events have come: makes the steps; `marks` is not needed any more. */
rocl_status rocl_step_work_resolve(rocl_step_work *w, rocl_error *err);
/* Finds whose work it is once the calls are resolved; `work` is not needed any more then. */
rocl_status rocl_step_work_look_up(rocl_step_work *w, rocl_calls *calls, rocl_error *err);

/* The work of all steps after rocl_sorter_start(w->owned): by step, start and end. False at the end
 * and after a failure, which is in *st. */
bool rocl_step_work_next(rocl_step_work *w, rocl_step_piece *p, rocl_status *st, rocl_error *err);

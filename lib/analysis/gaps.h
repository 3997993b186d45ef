/* The gaps in the work of a GPU, or of a lane of it: how long they were, and why. busy.c meets the
 * work in order, and hands it on:
 *
 *     rocl_gaps_add_batch      all events, as they come
 *     rocl_gaps_begin_track    for each GPU or lane ...
 *     rocl_gaps_add_work       ... its work by start
 *     rocl_gaps_look_up_calls
 *     rocl_gaps_put_tables     when calls are resolved
 */
#ifndef ROCL_ANALYSIS_GAPS_H
#define ROCL_ANALYSIS_GAPS_H

#include "analysis/calls.h"
#include "analysis/gather.h"

/* Work that was launched before the previous work ended, and begins later than this after it,
 * waited for something else. */
#define ROCL_DISPATCH_NS 10000

typedef struct rocl_gaps rocl_gaps;

/* A GPU, or a lane: what one stream or one queue of a process did on it. */
typedef struct rocl_gap_track {
    const rocl_gpu *gpu;
    int64_t pid;      /* of a lane; -1: unknown */
    const char *lane; /* "stream" or "queue" */
    uint32_t name;    /* text: of the stream or queue */
    uint64_t order;   /* among all: that of the rows */
} rocl_gap_track;

/* A kernel or a copy as a sweep meets it. */
typedef struct rocl_gpu_work {
    bool copy;
    int64_t start, end;
    uint32_t name;
    uint64_t process, stack_id; /* as of rocl_calls; not needed without gaps */
    uint64_t row;               /* rocl_row_word(); the same */
} rocl_gpu_work;

/* Its sorters are those of the collector, whose report is `gaps`. NULL: memory is out. */
rocl_gaps *rocl_gaps_new(rocl_collector *c, bool lanes);
void rocl_gaps_free(rocl_gaps *g);

/* Kernels, copies and calls. Concurrent. */
rocl_status rocl_gaps_add_batch(rocl_gaps *g, unsigned worker, const rocl_batch *b,
                                rocl_error *err);
rocl_status rocl_gaps_begin_track(rocl_gaps *g, const rocl_gap_track *track, rocl_error *err);
rocl_status rocl_gaps_add_work(rocl_gaps *g, const rocl_gpu_work *w, rocl_error *err);
rocl_status rocl_gaps_look_up_calls(rocl_gaps *g, rocl_calls *calls, rocl_error *err);
/* Fails with INTERNAL when times do not add up. */
rocl_status rocl_gaps_put_tables(rocl_gaps *g, rocl_tables *out, rocl_error *err);

/* ---- of a team ----
 * A track is swept by the rank that has all of its work, or else by rank 0; the cause of a gap is
 * known to the rank that has read the process of the work that ended it. */

/* Another rank, and rank 0: when its processes ended. Before any sweep. */
void rocl_gaps_put_ends(const rocl_gaps *g, rocl_put *to);
rocl_status rocl_gaps_take_ends(rocl_gaps *g, rocl_taken *from, rocl_error *err);
/* Rank 0, when it has swept: asks for causes, with a number before the first; again as long as
 * something is put. And another rank, before calls are looked up. */
rocl_status rocl_gaps_ask_causes(rocl_gaps *g, uint64_t number, unsigned rank, rocl_put *to,
                                 rocl_error *err);
rocl_status rocl_gaps_take_questions(rocl_gaps *g, rocl_taken *from, rocl_error *err);
/* Another rank, when calls are resolved; then the causes that it was asked for, and its own tracks:
 * the i-th is that of its i-th sweep. Rank 0 takes them; it puts its rows in order then. */
rocl_status rocl_gaps_find_causes(rocl_gaps *g, rocl_error *err);
void rocl_gaps_put_causes(const rocl_gaps *g, rocl_put *to);
rocl_status rocl_gaps_take_causes(rocl_gaps *g, rocl_taken *from, rocl_error *err);
void rocl_gaps_put_track(rocl_gaps *g, size_t i, rocl_put *to);
rocl_status rocl_gaps_take_track(rocl_gaps *g, unsigned rank, const rocl_gap_track *track,
                                 rocl_taken *from, rocl_error *err);
/* The lengths of gaps, whose percentiles are looked for after that. */
struct rocl_percentiles *rocl_gaps_lengths(const rocl_gaps *g);

#endif

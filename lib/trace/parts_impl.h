/* What the run of all ranks and the way of their parts into the outputs share. */
#ifndef ROCL_TRACE_PARTS_IMPL_H
#define ROCL_TRACE_PARTS_IMPL_H

#include "trace/parts.h"

#include <stdatomic.h>

#include "base/unfinished.h"

/* What stands before all captures is the part of number 0, that of a capture of its number + 1,
 * what stands behind them all is of the number of captures + 1. */
typedef struct part {
    uint64_t number;
    uint64_t at; /* in the temporary file; of another rank's: where it belongs in the output */
    uint64_t length;
} part;

/* An output of this rank; on rank 0 also those that only others have. */
typedef struct output {
    struct rocl_parts *all;
    char *path;
    const rocl_out *out; /* that the sink has; NULL: it is written */
    part *parts;         /* in the order in which they were written */
    size_t count, cap;
} output;

/* What rank 0 has heard of another rank. */
typedef struct rank_state {
    bool asked; /* it was sent WRITE */
    bool read, written, placed, ended;
    bool answered; /* the last question, if there was any */
    output *outputs;
    size_t output_count;
    uint64_t *sums;
    size_t sum_count;
    rocl_buf facts;
    uint64_t bytes; /* that it has placed */
} rank_state;

typedef struct notice {
    uint64_t capture;
    char *text;
} notice;

struct rocl_parts {
    rocl_trace *trace;
    rocl_team *team;
    bool *own;
    pthread_mutex_t lock; /* of what workers share */
    int fd;               /* of the temporary file; -1: none yet */
    const char *folder;   /* of it, for messages */
    uint64_t end;
    output **outputs;
    size_t output_count, output_cap;
    atomic_uint_least64_t at;      /* the capture at hand */
    atomic_uint_least64_t number;  /* of the part that is written */
    atomic_uint_least64_t stop_at; /* captures from this one on need not be written */
    rocl_buf message;
    /* rank 0 */
    rank_state *ranks;     /* NULL: this is another rank's */
    bool started, waiting; /* all of its own is read */
    uint64_t done;         /* captures of others */
    rocl_status status;    /* of the first capture, in their order, that failed */
    uint64_t failed;
    rocl_error *err;
    rocl_parts_hear_fn *hear; /* of answers, while they are waited for */
    void *hear_ctx;
    rocl_notice_fn *notice; /* the user's: notices wait for their turn meanwhile */
    void *notice_ctx;
    notice *notices;
    size_t notice_count, notice_cap;
    char *all_folder; /* in which all ranks write files; NULL: none */
    rocl_buf request; /* what goes with WRITE, for sinks that write nothing; another rank: as it
                         came */
    /* another rank */
    rocl_buf place; /* PLACE or ASK that has come and is not done */
    bool named;
    rocl_unfinished shown; /* the output, or the folder, that rank 0 has shown */
};

/* NULL: memory is out. */
output *rocl_parts_add_output(rocl_parts *p, const char *path);

/* On rank 0: the first failure, in the order of captures, counts; 0: of what is no capture's fault.
 */
void rocl_parts_note_failure(rocl_parts *p, uint64_t capture, rocl_status st,
                             const rocl_error *err);
/* Takes messages that come within 100 ms. */
rocl_status rocl_parts_wait(rocl_parts *p, rocl_error *err);
/* On rank 0, until all others have done what the flag of rank_state says, or have ended. */
rocl_status rocl_parts_wait_for_all(rocl_parts *p, size_t flag, rocl_error *err);

/* On another rank: what rank 0 has shown is removed if that ends first. */
void rocl_parts_note_shown(rocl_parts *p, const char *file);

#endif

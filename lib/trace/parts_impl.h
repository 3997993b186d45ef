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
    uint64_t at; /* in the temporary file; of a wanted part: where it belongs in the output */
    uint64_t length;
    uint64_t place; /* in the output, where it is already; NOT_PLACED; LEFT_OUT: nobody needs it;
                       PROMISED: it is not made yet, `at` is its index in the promises */
} part;

#define NOT_PLACED UINT64_MAX
#define LEFT_OUT   (UINT64_MAX - 1)
#define PROMISED   (UINT64_MAX - 2)

/* Who makes a part, when its place is known. */
typedef struct promise {
    rocl_parts_make_fn *make;
    void *ctx;
} promise;

/* Where a rank writes at once, because all that comes before is known: its parts from a number to
 * before another one, and what stands before all captures. */
typedef struct room {
    int fd; /* of the output, which rank 0 has; -1: there is none yet */
    bool head;
    uint64_t from, until;
    uint64_t offset; /* of the next byte */
} room;

/* An output of this rank; on rank 0 also those that only others have, and those of others. */
typedef struct output {
    struct rocl_parts *all;
    char *path;
    const rocl_out *out; /* that the sink has; NULL: it is written */
    part *parts;         /* in the order in which they were written */
    size_t count, cap;
    size_t told; /* parts that rank 0 knows of */
    promise *promises;
    size_t promise_count, promise_cap;
    room room;
    /* on rank 0, of its own list */
    rocl_out *file; /* that all write to while captures are read; NULL: it is made at the end */
    char *shown;    /* that file, as the ranks find it */
    uint64_t end;   /* of what is known: parts of captures before p->front */
    bool head;      /* what stands before all captures is part of this */
    bool late;      /* it could not be made early */
    /* on rank 0, of the list of any rank */
    struct output *target; /* in rank 0's own list */
    size_t summed;         /* parts that are known */
    bool given;            /* in this turn: room */
} output;

/* What rank 0 has heard of another rank. */
typedef struct rank_state {
    bool asked; /* it was sent WRITE */
    bool read, written, placed, ended;
    bool answered; /* the last question, if there was any */
    output **outputs;
    size_t output_count, output_cap;
    uint64_t passed; /* parts of smaller numbers are complete */
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
    uint64_t end;         /* of it; 0 again when all in it is placed */
    uint64_t stored;      /* bytes in it that are not placed */
    output **outputs;
    size_t output_count, output_cap;
    size_t outputs_told;
    rocl_parts_order order;
    uint64_t passed;               /* of this rank */
    atomic_uint_least64_t at;      /* the capture at hand */
    atomic_uint_least64_t number;  /* of the part that is written */
    atomic_uint_least64_t stop_at; /* captures from this one on need not be written */
    rocl_buf message;
    /* rank 0 */
    rank_state *ranks;     /* NULL: this is another rank's */
    bool started, waiting; /* all of its own is read */
    uint64_t done;         /* captures of others */
    uint64_t front; /* number of the first capture that is not complete, and whose turn it is */
    unsigned turn;
    uint64_t turn_until;
    rocl_status status; /* of the first capture, in their order, that failed; another rank: of
                           what it has placed by itself */
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
output *rocl_parts_find_output(output *const *all, size_t count, const char *path);
void rocl_parts_free_output(output *o);
/* On rank 0: the file that is to become an output, and its folder. */
rocl_status rocl_parts_make_file(rocl_out **out, const char *path, rocl_error *err);
/* False and errno. */
bool rocl_parts_copy(int from, uint64_t at, int to, uint64_t offset, uint64_t n);
/* To the end of a list. NULL: memory is out. */
output *rocl_parts_list_output(output ***all, size_t *count, size_t *cap, const char *path);

/* On rank 0: the first failure, in the order of captures, counts; 0: of what is no capture's fault.
 */
void rocl_parts_note_failure(rocl_parts *p, uint64_t capture, rocl_status st,
                             const rocl_error *err);
/* Takes messages that come within 100 ms. */
rocl_status rocl_parts_wait(rocl_parts *p, rocl_error *err);
/* On rank 0, until all others have done what the flag of rank_state says, or have ended. */
rocl_status rocl_parts_wait_for_all(rocl_parts *p, size_t flag, rocl_error *err);

/* So many files may wait for their names while they are open. */
enum { OPEN_FILES = 64 };

/* ---- what is written in its place while captures are read (outputs.c), with p->lock held ---- */

/* Appends bytes of a part to what the rank has, at its place in the output if that is known. */
rocl_status rocl_parts_append(output *o, uint64_t number, const void *bytes, size_t n,
                              rocl_error *err);
/* The same of one that is not made yet. */
rocl_status rocl_parts_note_promise(output *o, uint64_t number, uint64_t n, const promise *by,
                                    rocl_error *err);
/* Is there any use in telling what is complete? The other functions may be called anyway. */
bool rocl_parts_are_ordered(const rocl_parts *p);
/* Appends to a message what rank 0 does not know of: outputs, and parts of smaller numbers. */
void rocl_parts_put_news(rocl_parts *p, uint64_t passed, rocl_buf *to);
rocl_status rocl_parts_take_news(rocl_parts *p, rank_state *s, rocl_team_reader *r,
                                 rocl_error *err);
/* On rank 0: more is complete. Whose turn it is now is told where its parts belong. */
rocl_status rocl_parts_advance(rocl_parts *p, rocl_error *err);
/* On another rank: rank 0 has told so. */
rocl_status rocl_parts_take_room(rocl_parts *p, rocl_team_reader *r, rocl_error *err);

/* ---- the same, without p->lock ---- */

/* Parts of this rank of smaller numbers are complete. */
rocl_status rocl_parts_pass(rocl_parts *p, uint64_t passed, rocl_error *err);

/* On another rank: what rank 0 has shown is removed if that ends first. */
void rocl_parts_note_shown(rocl_parts *p, const char *file);

#endif

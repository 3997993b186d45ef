/* Shared by the run of all ranks (joint.c), outputs.c and place.c. */
#pragma once

#include "trace/joint.h"

#include <stdatomic.h>

#include "base/unfinished.h"
#include "trace/deal.h"

/* The part with number 0 comes before all captures; the part of a capture has its number + 1; the
 * number of captures + 1 comes after them all. */
typedef struct part {
    uint64_t number;
    uint64_t at; /* in the temporary file; of a wanted part: where it belongs in the output */
    uint64_t length;
    uint64_t place; /* place in the output, if it is there already; NOT_PLACED; LEFT_OUT: not
                       needed; PROMISED: not made yet, `at` is its index in the promises */
} part;

#define NOT_PLACED UINT64_MAX
#define LEFT_OUT   (UINT64_MAX - 1)
#define PROMISED   (UINT64_MAX - 2)

/* Makes a part when its place is known. */
typedef struct promise {
    rocl_joint_make_fn *make;
    void *ctx;
} promise;

/* Where a rank writes at once, because everything before is known: its parts in a range of numbers,
 * and the head. */
typedef struct room {
    int fd; /* of the output, which rank 0 has; -1: there is none yet */
    bool head;
    uint64_t from, until;
    uint64_t offset; /* of the next byte */
} room;

/* An output of this rank; on rank 0 also those that only others have, and those of others. */
typedef struct output {
    struct rocl_joint *all;
    char *path;
    const rocl_out *out; /* the sink's; NULL: it is finished */
    part *parts;         /* in the order in which they were written */
    size_t count, cap;
    size_t told; /* parts that rank 0 knows of */
    promise *promises;
    size_t promise_count, promise_cap;
    room room;
    /* on rank 0, of its own list */
    rocl_out *file; /* all ranks write to it while captures are read; NULL: it is made at the end */
    char *shown;    /* that file, as the ranks find it */
    uint64_t end;   /* of what is known: parts of captures before p->front */
    bool head;      /* that includes what stands before all captures */
    bool late;      /* it could not be made early, and is made at the end */
    /* on rank 0, of the list of any rank */
    struct output *target; /* in rank 0's own list */
    size_t summed;         /* parts that are known */
    bool given;            /* it has room in this turn */
} output;

/* What rank 0 knows of another rank. */
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

struct rocl_joint {
    rocl_trace *trace;
    rocl_team *team;
    bool *own;
    pthread_mutex_t lock; /* of what several workers use */
    int fd;               /* of the temporary file; -1: none yet */
    const char *folder;   /* of it, for messages */
    uint64_t end;         /* of it; 0 again when all in it is placed */
    uint64_t stored;      /* bytes in it that are not placed yet */
    output **outputs;
    size_t output_count, output_cap;
    size_t outputs_told;
    rocl_joint_order order;
    uint64_t passed;               /* of this rank */
    atomic_uint_least64_t at;      /* the capture at hand */
    atomic_uint_least64_t number;  /* of the part that is written */
    atomic_uint_least64_t stop_at; /* captures from this one on need not be written */
    rocl_buf message;
    /* rank 0 */
    rank_state *ranks;     /* NULL: this is another rank's */
    bool started, waiting; /* waiting: it has read all its captures */
    uint64_t done;         /* captures of others */
    uint64_t front;        /* number of the first incomplete capture, whose rank has its turn */
    unsigned turn;
    uint64_t turn_until;
    /* The failure of the first capture to fail, in their order; on another rank: of its placing. */
    rocl_status status;
    uint64_t failed;
    rocl_error *err;
    rocl_joint_hear_fn *hear; /* of answers, while they are waited for */
    void *hear_ctx;
    rocl_notice_fn *notice; /* the user's function; notices are held back meanwhile */
    void *notice_ctx;
    rocl_held_notices notices;
    char *all_folder; /* in which all ranks write files; NULL: none */
    /* Sent with WRITE, for sinks that write nothing; on another rank: as received. */
    rocl_buf request;
    /* another rank */
    rocl_buf place; /* a PLACE or ASK that was received and not handled yet */
    bool named;
    rocl_unfinished shown; /* the output, or the folder, that rank 0 has shown */
};

/* NULL: memory is out. */
output *rocl_joint_add_output(rocl_joint *p, const char *path);
output *rocl_joint_find_output(output *const *all, size_t count, const char *path);
void rocl_joint_free_output(output *o);
/* On rank 0: the file that is to become an output, and its folder. */
rocl_status rocl_joint_make_file(rocl_out **out, const char *path, rocl_error *err);
/* False and errno. */
bool rocl_joint_copy(int from, uint64_t at, int to, uint64_t offset, uint64_t n);
/* To the end of a list. NULL: memory is out. */
output *rocl_joint_list_output(output ***all, size_t *count, size_t *cap, const char *path);

/* On rank 0: sends a short message to all ranks that were asked and have not ended. */
void rocl_joint_send_all(const rocl_joint *p, rocl_team_message type, uint64_t number);
/* On rank 0: the first failure, in the order of captures, counts; 0: it is no capture's fault. */
void rocl_joint_note_failure(rocl_joint *p, uint64_t capture, rocl_status st,
                             const rocl_error *err);
/* Takes messages that come within 100 ms. */
rocl_status rocl_joint_wait(rocl_joint *p, rocl_error *err);
/* On rank 0, until all others have done what the flag of rank_state says, or have ended. */
rocl_status rocl_joint_wait_for_all(rocl_joint *p, size_t flag, rocl_error *err);

/* The most files that may stay open while they wait for their names. */
enum { OPEN_FILES = 64 };

/* ---- what is written in its place while captures are read (outputs.c), with p->lock held ---- */

/* Appends bytes of a part to what the rank has, at its place in the output if that is known. */
rocl_status rocl_joint_append(output *o, uint64_t number, const void *bytes, size_t n,
                              rocl_error *err);
/* Notes a promised part, which is made when its place is known. */
rocl_status rocl_joint_note_promise(output *o, uint64_t number, uint64_t n, const promise *by,
                                    rocl_error *err);
/* Does it help to report what is complete? The other functions may be called in any case. */
bool rocl_joint_is_ordered(const rocl_joint *p);
/* Appends news for rank 0 to a message: outputs, and parts of smaller numbers. */
void rocl_joint_put_news(rocl_joint *p, uint64_t passed, rocl_buf *to);
rocl_status rocl_joint_take_news(rocl_joint *p, rank_state *s, rocl_byte_reader *r,
                                 rocl_error *err);
/* On rank 0, when more is complete: tells the rank whose turn it is where its parts belong. */
rocl_status rocl_joint_advance(rocl_joint *p, rocl_error *err);
/* On another rank: handles that message. */
rocl_status rocl_joint_take_room(rocl_joint *p, rocl_byte_reader *r, rocl_error *err);

/* ---- what takes p->lock itself ---- */

/* Parts of this rank of smaller numbers are complete. */
rocl_status rocl_joint_complete(rocl_joint *p, uint64_t passed, rocl_error *err);

/* On another rank: the file that rank 0 has shown is removed if rank 0 ends first. */
void rocl_joint_note_shown(rocl_joint *p, const char *file);

/* Outputs that all ranks of a team write. Each rank runs the sink over its own captures, into a
 * temporary file on its machine. When all are done, rank 0 makes the outputs and tells the place of
 * each capture's part in them; each rank copies its parts there.
 *
 *     rank 0                                  rank r
 *     knows all definitions, clocks
 *     and filters          -- WRITE outline -->
 *     runs the sink                           runs the sink
 *                      <-- NOTICE, DONE, NEWS -- what is complete
 *                          -- ROOM -->        is the next one: what there is of it is known to
 *                                             belong there
 *                          <-- COUNTS --      has read all
 *                          <-- PARTS --       has written all: outputs, bytes of each capture
 *     makes an output      -- PLACE offsets -->
 *     copies its parts     <-- PLACED --      copies its parts
 *     gives all their names -- NAMED -->
 *                          <-- END --
 *
 * A rank that fails sends ERROR in place of what would follow, and END; rank 0 then sends STOP to
 * the others, which go on only with captures before the one that failed: so the first failure is
 * that of one process.
 *
 * If a sink writes in the order of captures (rocl_joint_order), rank 0 makes the outputs at once.
 * It follows which captures are complete; the rank whose turn is next gets room in the outputs,
 * and needs its temporary file no more until its turn is over.
 *
 * Reports use the same run (analysis/gather.h): there is nothing to place then, but questions.
 *
 *     asks                  -- ASK -->
 *                          <-- ANSWER ... --   the last one is empty
 *     has all it needs      -- STOP -->
 *                          <-- END --
 *
 * Without a team, or for what is no plain file, these functions do what rocl_out_open() and
 * rocl_out_set_add() do. */
#pragma once

#include "base/out.h"
#include "model/trace.h"
#include "team/team.h"

typedef struct rocl_joint rocl_joint;

/* ---- for sinks ------------------------------------------------------------------------------- */

/* The sink will write its outputs with the functions below: it writes all of a capture before the
 * next one begins (unless the capture joins_next), and depends on definitions, but on nothing else
 * of other captures. path: the only output; NULL: they are files. */
rocl_status rocl_joint_open(rocl_trace *t, const char *path, rocl_error *err);
/* Before that, for outputs made of all captures with the same number (by capture): does each number
 * belong to one rank? True without a team; false also if memory is out. */
bool rocl_joint_is_apart(const rocl_trace *t, const int32_t *numbers);
/* The folder of an output. In a team rank 0 makes it, and the others leave it to that. */
rocl_status rocl_joint_make_dirs(const rocl_trace *t, const char *path, rocl_error *err);
rocl_status rocl_joint_out(rocl_trace *t, rocl_out **out, const char *path, rocl_error *err);
/* Writes what comes before all captures, once the output is open: every rank writes the same. */
rocl_status rocl_joint_head(rocl_trace *t, rocl_out *out, const void *p, size_t n, rocl_error *err);
/* What the sink promises, before it has outputs. With these orders ranks of one machine know early
 * where their parts belong, and write them there at once, if they come first or all before is
 * complete. Others go through temporary files. Without a team: no effect. */
typedef enum rocl_joint_order {
    ROCL_JOINT_ANY,
    ROCL_JOINT_AS_READ, /* all of a capture is written when its end_capture() returns, unless it
                           joins the next one */
    ROCL_JOINT_JOINING, /* when all has been read, by rocl_joint_advance_to() */
    ROCL_JOINT_ALONE,   /* when all has been read: each output is one rank's, which writes it from
                           the first byte to the last, after one rocl_joint_write_to() */
} rocl_joint_order;
void rocl_joint_set_order(const rocl_trace *t, rocl_joint_order order);
/* When all has been read: appends what is written from here on to the parts of this capture. On
 * rank 0 also: before all captures, instead of the head, or after them all. */
void rocl_joint_write_to(rocl_joint *p, const rocl_capture *c);
/* rocl_joint_write_to() for captures in ascending order (ROCL_JOINT_JOINING). */
rocl_status rocl_joint_advance_to(rocl_joint *p, const rocl_capture *c, rocl_error *err);
/* Instead of writes, if sizes are known before the bytes (ROCL_JOINT_ANY): promises the next n
 * bytes of this capture, of which nothing else is written in this output. They are made in
 * rocl_joint_commit(), by the calling thread, and go straight to their place. */
typedef rocl_status rocl_joint_make_fn(void *ctx, rocl_out *to, rocl_error *err);
rocl_status rocl_joint_promise(rocl_joint *p, const rocl_out *out, const rocl_capture *c,
                               uint64_t n, rocl_joint_make_fn *make, void *ctx, rocl_error *err);
void rocl_joint_write_before_all(rocl_joint *p);
void rocl_joint_write_after_all(rocl_joint *p);

typedef struct rocl_joint_sums {
    uint64_t files, bytes;
    uint64_t *own; /* for the sink: sums of this rank, on rank 0 later of all. NULL: none */
    size_t own_count;
} rocl_joint_sums;

/* Gives the outputs their names, at once or with the other outputs of the reading. Frees them, even
 * after a failure, and sets the pointers to NULL. */
rocl_status rocl_joint_commit(rocl_trace *t, rocl_out **outs, size_t n, rocl_joint_sums *sums,
                              rocl_error *err);

/* ---- for sinks whose outputs are files in a folder -------------------------------------------
 *
 * Rank 0 makes the hidden folder, and each rank writes what it likes below it. The others tell what
 * they have written, rank 0 answers what is to become of it, they do that, and rank 0 gives all its
 * name.
 *
 *     rank 0                              rank r
 *     rocl_joint_set_folder() --WRITE-->  rocl_joint_folder()
 *     rocl_joint_gather()    <--PARTS--   rocl_joint_tell()
 *     rocl_joint_place()      --PLACE-->
 *     rocl_joint_wait_placed() <--PLACED-- rocl_joint_placed()
 *     rocl_joint_named()      --NAMED-->
 */

unsigned rocl_joint_rank(const rocl_joint *p);
unsigned rocl_joint_size(const rocl_joint *p);
bool rocl_joint_far(const rocl_joint *p); /* ranks are, or may be, on several machines */

/* Call it before the run. The other ranks remove the folder if rank 0 is gone. */
rocl_status rocl_joint_set_folder(rocl_joint *p, const char *path, rocl_error *err);
const char *rocl_joint_folder(const rocl_joint *p);

/* On another rank. The answer is there until rocl_joint_placed(). */
rocl_status rocl_joint_tell(rocl_joint *p, const rocl_joint_sums *sums, const rocl_buf *facts,
                            rocl_byte_reader *answer, rocl_error *err);
rocl_status rocl_joint_placed(rocl_joint *p, uint64_t bytes, rocl_error *err);

/* On rank 0. */
rocl_status rocl_joint_gather(rocl_joint *p, rocl_joint_sums *sums, rocl_error *err);
const rocl_buf *rocl_joint_facts(const rocl_joint *p, unsigned rank); /* empty: it has told none */
rocl_status rocl_joint_place(rocl_joint *p, unsigned rank, const rocl_buf *answer, rocl_error *err);
rocl_status rocl_joint_wait_placed(rocl_joint *p, uint64_t *bytes, rocl_error *err); /* += theirs */
void rocl_joint_named(rocl_joint *p);
/* After a failure: the others write nothing more when it returns. NULL is fine. */
void rocl_joint_end_all(rocl_joint *p);

/* ---- for the pipeline ------------------------------------------------------------------------ */

/* By capture: does this rank read it? */
const bool *rocl_joint_own(const rocl_joint *p);
bool rocl_joint_leads(const rocl_joint *p); /* it is rank 0's */
/* On rank 0, whose filter is resolved: the others begin. */
rocl_status rocl_joint_start(rocl_joint *p, rocl_error *err);
bool rocl_joint_started(const rocl_joint *p);
/* A capture begins; *goes false: one before it has failed. */
void rocl_joint_begin(rocl_joint *p, const rocl_capture *c, bool *goes);
/* The capture is written, except for what the sink may join with the next one. */
rocl_status rocl_joint_end(rocl_joint *p, const rocl_capture *c, bool joins_next, rocl_error *err);
/* Receives what other ranks have sent, without waiting. After a failure it is useless to go on.
 * Call it now and then, from any thread. */
rocl_status rocl_joint_poll(rocl_joint *p, rocl_error *err);
/* All captures have been read, with this status. Returns the failure of the first capture to fail;
 * else everything has been counted (on rank 0, that of all ranks). */
rocl_status rocl_joint_end_reading(rocl_joint *p, rocl_status st, rocl_error *err);
/* Waits for the others, after a failure. NULL is fine. */
void rocl_joint_free(rocl_joint *p);

/* ---- for what all ranks collect, or tell before they commit ---- */

/* On rank 0: the others are going to run a sink of their own over their captures when the pipeline
 * runs, with the function that they gave to rocl_team_serve(), which finds the request. It is
 * freed. *leads false: there are no others that read. */
rocl_status rocl_joint_collect(rocl_trace *t, rocl_buf *request, bool *leads, rocl_error *err);
rocl_byte_reader rocl_joint_request(const rocl_joint *p);

/* When all has been read. On rank 0: does another rank read anything? Asks it, once: a message of
 * ROCL_TEAM_ASK. Takes the answers of all that were asked, as they come. */
typedef rocl_status rocl_joint_hear_fn(void *ctx, unsigned rank, rocl_byte_reader *answer,
                                       rocl_error *err);
bool rocl_joint_reads(const rocl_joint *p, unsigned rank);
rocl_status rocl_joint_ask(rocl_joint *p, unsigned rank, const rocl_buf *question, rocl_error *err);
rocl_status rocl_joint_ask_all(rocl_joint *p, const rocl_buf *question, rocl_error *err);
rocl_status rocl_joint_hear(rocl_joint *p, rocl_joint_hear_fn *hear, void *ctx, rocl_error *err);
/* Before a question, where rank 0 writes while others answer: `hear` may be called from then on, by
 * one thread at a time. */
void rocl_joint_listen(rocl_joint *p, rocl_joint_hear_fn *hear, void *ctx);
/* On another rank: waits for a question, which is valid until the next one; NULL: there are no
 * more (rocl_joint_next_question() fails then). Then sends any number of ROCL_TEAM_ANSWER messages,
 * each freed; then their end. */
rocl_status rocl_joint_question(rocl_joint *p, rocl_byte_reader *question, rocl_error *err);
rocl_status rocl_joint_next_question(rocl_joint *p, rocl_byte_reader *question, rocl_error *err);
rocl_status rocl_joint_answer(rocl_joint *p, rocl_buf *answer, rocl_error *err);
rocl_status rocl_joint_end_answer(rocl_joint *p, rocl_error *err);

/* When all has been read: every rank tells rank 0 something, and learns what it makes of that. */
typedef struct rocl_joint_talk {
    void (*tell)(void *ctx, rocl_buf *b);         /* on another rank: appends what rank 0 hears */
    rocl_joint_hear_fn *hear;                     /* on rank 0, of each of them */
    void (*decide)(void *ctx, rocl_buf *b);       /* then: appends what the others take */
    void (*take)(void *ctx, rocl_byte_reader *r); /* on another rank */
} rocl_joint_talk;
/* p NULL: without a team there is only something to decide. */
rocl_status rocl_joint_agree(rocl_joint *p, const rocl_joint_talk *talk, void *ctx,
                             rocl_error *err);

/* ---- for another rank ------------------------------------------------------------------------ */

/* For a trace that rocl_outline_take() has made; `own` becomes theirs. Reads the folder of all. */
rocl_status rocl_joint_attend(rocl_trace *t, rocl_team *team, bool *own, rocl_byte_reader *from,
                              rocl_error *err);
void rocl_joint_set_request(rocl_joint *p, const uint8_t *bytes, size_t n);
uint32_t rocl_joint_capture(const rocl_joint *p); /* the current one */
bool rocl_joint_stopped(const rocl_joint *p);     /* rank 0 has said so, or is gone */

/* Outputs that all ranks of a team write. Each rank runs the sink over its own captures, into a
 * temporary file on its machine. When all are done, rank 0 makes the outputs and tells the place of
 * each capture's part in them; each rank copies its parts there.
 *
 *     rank 0                                  rank r
 *     knows all definitions, clocks
 *     and filters          -- WRITE world -->
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
 * Of sinks that write in the order of captures (rocl_parts_order), rank 0 makes the outputs at
 * once. It follows which captures are complete; the rank whose turn is next gets room in the
 * outputs, and needs its temporary file no more until its turn is over.
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
#ifndef ROCL_TRACE_PARTS_H
#define ROCL_TRACE_PARTS_H

#include "base/out.h"
#include "model/trace.h"
#include "team/team.h"

typedef struct rocl_parts rocl_parts;

/* ---- for sinks ------------------------------------------------------------------------------- */

/* The sink will write its outputs with the functions below: it writes all of a capture before the
 * next one begins (unless the capture joins_next), and depends on definitions, but on nothing else
 * of other captures. path: the only output; NULL: they are files. */
rocl_status rocl_parts_open(rocl_trace *t, const char *path, rocl_error *err);
/* Before that, for outputs made of all captures with the same number (by capture): does each number
 * belong to one rank? True without a team; false also if memory is out. */
bool rocl_parts_are_apart(const rocl_trace *t, const int32_t *numbers);
/* The folder of an output. In a team rank 0 makes it, and the others leave it to that. */
rocl_status rocl_parts_make_dirs(const rocl_trace *t, const char *path, rocl_error *err);
rocl_status rocl_parts_out(rocl_trace *t, rocl_out **out, const char *path, rocl_error *err);
/* Writes what comes before all captures, once the output is open: every rank writes the same. */
rocl_status rocl_parts_head(rocl_trace *t, rocl_out *out, const void *p, size_t n, rocl_error *err);
/* What the sink promises, before it has outputs. With these orders ranks of one machine know early
 * where their parts belong, and write them there at once, if they come first or all before is
 * complete. Others go through temporary files. Without a team: no effect. */
typedef enum rocl_parts_order {
    ROCL_PARTS_ANY,
    ROCL_PARTS_AS_READ, /* all of a capture is written when its end_capture() returns, unless it
                           joins the next one */
    ROCL_PARTS_JOINING, /* when all has been read, by rocl_parts_reach_capture() */
    ROCL_PARTS_ALONE,   /* when all has been read: each output is one rank's, which writes it from
                           the first byte to the last, after one rocl_parts_join_capture() */
} rocl_parts_order;
void rocl_parts_set_order(const rocl_trace *t, rocl_parts_order order);
/* When all has been read: appends what is written from here on to the parts of this capture. On
 * rank 0 also: before all captures, instead of the head, or after them all. */
void rocl_parts_join_capture(rocl_parts *p, const rocl_capture *c);
/* The same in ascending order (ROCL_PARTS_JOINING). */
rocl_status rocl_parts_reach_capture(rocl_parts *p, const rocl_capture *c, rocl_error *err);
/* Instead of writes, if sizes are known before the bytes (ROCL_PARTS_ANY): promises the next n
 * bytes of this capture, of which nothing else is written in this output. They are made in
 * rocl_parts_commit(), by the calling thread, and go straight to their place. */
typedef rocl_status rocl_parts_make_fn(void *ctx, rocl_out *to, rocl_error *err);
rocl_status rocl_parts_promise(rocl_parts *p, const rocl_out *out, const rocl_capture *c,
                               uint64_t n, rocl_parts_make_fn *make, void *ctx, rocl_error *err);
void rocl_parts_front(rocl_parts *p);
void rocl_parts_tail(rocl_parts *p);

typedef struct rocl_parts_sums {
    uint64_t files, bytes;
    uint64_t *own; /* for the sink: sums of this rank, on rank 0 later of all. NULL: none */
    size_t own_count;
} rocl_parts_sums;

/* Gives the outputs their names, at once or with the other outputs of the reading. Frees them, even
 * after a failure, and sets the pointers to NULL. */
rocl_status rocl_parts_commit(rocl_trace *t, rocl_out **outs, size_t n, rocl_parts_sums *sums,
                              rocl_error *err);

/* ---- for sinks whose outputs are files in a folder -------------------------------------------
 *
 * Rank 0 makes the hidden folder, and each rank writes what it likes below it. The others tell what
 * they have written, rank 0 answers what is to become of it, they do that, and rank 0 gives all its
 * name.
 *
 *     rank 0                              rank r
 *     rocl_parts_set_folder() --WRITE-->  rocl_parts_folder()
 *     rocl_parts_gather()    <--PARTS--   rocl_parts_tell()
 *     rocl_parts_place()      --PLACE-->
 *     rocl_parts_wait_placed() <--PLACED-- rocl_parts_placed()
 *     rocl_parts_named()      --NAMED-->
 */

unsigned rocl_parts_rank(const rocl_parts *p);
unsigned rocl_parts_size(const rocl_parts *p);
bool rocl_parts_far(const rocl_parts *p); /* ranks are, or may be, on several machines */

/* Call it before the run. The other ranks remove the folder if rank 0 is gone. */
rocl_status rocl_parts_set_folder(rocl_parts *p, const char *path, rocl_error *err);
const char *rocl_parts_folder(const rocl_parts *p);

/* On another rank. The answer is there until rocl_parts_placed(). */
rocl_status rocl_parts_tell(rocl_parts *p, const rocl_parts_sums *sums, const rocl_buf *facts,
                            rocl_team_reader *answer, rocl_error *err);
rocl_status rocl_parts_placed(rocl_parts *p, uint64_t bytes, rocl_error *err);

/* On rank 0. */
rocl_status rocl_parts_gather(rocl_parts *p, rocl_parts_sums *sums, rocl_error *err);
const rocl_buf *rocl_parts_facts(const rocl_parts *p, unsigned rank); /* empty: it has told none */
rocl_status rocl_parts_place(rocl_parts *p, unsigned rank, const rocl_buf *answer, rocl_error *err);
rocl_status rocl_parts_wait_placed(rocl_parts *p, uint64_t *bytes, rocl_error *err); /* += theirs */
void rocl_parts_named(rocl_parts *p);
/* After a failure: the others write nothing more when it returns. NULL is fine. */
void rocl_parts_end_all(rocl_parts *p);

/* ---- for the pipeline ------------------------------------------------------------------------ */

/* By capture: does this rank read it? */
const bool *rocl_parts_own(const rocl_parts *p);
bool rocl_parts_leads(const rocl_parts *p); /* it is rank 0's */
/* On rank 0, whose filter is resolved: the others begin. */
rocl_status rocl_parts_start(rocl_parts *p, rocl_error *err);
bool rocl_parts_started(const rocl_parts *p);
/* A capture begins; *goes false: one before it has failed. */
void rocl_parts_begin(rocl_parts *p, const rocl_capture *c, bool *goes);
/* The capture is written, except for what the sink may join with the next one. */
rocl_status rocl_parts_end(rocl_parts *p, const rocl_capture *c, bool joins_next, rocl_error *err);
/* Receives what other ranks have sent, without waiting. After a failure it is useless to go on.
 * Call it now and then, from any thread. */
rocl_status rocl_parts_look(rocl_parts *p, rocl_error *err);
/* All captures have been read, with this status. Returns the failure of the first capture to fail;
 * else everything has been counted (on rank 0, that of all ranks). */
rocl_status rocl_parts_read(rocl_parts *p, rocl_status st, rocl_error *err);
/* Waits for the others, after a failure. NULL is fine. */
void rocl_parts_free(rocl_parts *p);

/* ---- for what all ranks collect, or tell before they commit ---- */

/* On rank 0: the others are going to run a sink of their own over their captures when the pipeline
 * runs, with the function that they gave to rocl_team_serve(), which finds the request. It is
 * freed. *leads false: there are no others that read. */
rocl_status rocl_parts_collect(rocl_trace *t, rocl_buf *request, bool *leads, rocl_error *err);
rocl_team_reader rocl_parts_request(const rocl_parts *p);

/* When all has been read. On rank 0: does another rank read anything? Asks it, once: a message of
 * ROCL_TEAM_ASK. Takes the answers of all that were asked, as they come. */
typedef rocl_status rocl_parts_hear_fn(void *ctx, unsigned rank, rocl_team_reader *answer,
                                       rocl_error *err);
bool rocl_parts_reads(const rocl_parts *p, unsigned rank);
rocl_status rocl_parts_ask(rocl_parts *p, unsigned rank, const rocl_buf *question, rocl_error *err);
rocl_status rocl_parts_ask_all(rocl_parts *p, const rocl_buf *question, rocl_error *err);
rocl_status rocl_parts_hear(rocl_parts *p, rocl_parts_hear_fn *hear, void *ctx, rocl_error *err);
/* Before a question, where rank 0 writes while others answer: `hear` may be called from then on, by
 * one thread at a time. */
void rocl_parts_listen(rocl_parts *p, rocl_parts_hear_fn *hear, void *ctx);
/* On another rank: waits for a question, which is valid until the next one; NULL: there are no
 * more. The same if there must be one. Then sends any number of ROCL_TEAM_ANSWER messages, each
 * freed; then their end. */
rocl_status rocl_parts_question(rocl_parts *p, rocl_team_reader *question, rocl_error *err);
rocl_status rocl_parts_next_question(rocl_parts *p, rocl_team_reader *question, rocl_error *err);
rocl_status rocl_parts_answer(rocl_parts *p, rocl_buf *answer, rocl_error *err);
rocl_status rocl_parts_end_answer(rocl_parts *p, rocl_error *err);

/* ---- for another rank ------------------------------------------------------------------------ */

/* For a trace that rocl_world_take() has made; `own` becomes theirs. Reads the folder of all. */
rocl_status rocl_parts_join(rocl_trace *t, rocl_team *team, bool *own, rocl_team_reader *from,
                            rocl_error *err);
void rocl_parts_set_request(rocl_parts *p, const uint8_t *bytes, size_t n);
uint32_t rocl_parts_capture(const rocl_parts *p); /* the current one */
bool rocl_parts_stopped(const rocl_parts *p);     /* rank 0 has said so, or is gone */

#endif

/* A team: processes that make one result together. Rank 0 finds the inputs, deals them out, puts
 * together what comes back, and writes. All open and read their share.
 *
 *     rank 0                                      rank r
 *     finds inputs, deals   -- OPEN paths -->     opens its share
 *     orders captures      <-- DEFINED --         what its inputs define
 *     a run over events     -- READ captures -->  scans them with all its threads
 *     decodes, filters,    <-- TEXTS, BATCH --    events as the source makes them
 *     collects, finishes   <-- NOTICE, DONE --
 *                          <-- ERROR, END --
 *                           -- STOP -->           a run has failed: it ends early
 *                           -- CLOSE, BYE -->
 *
 * Events come to rank 0 before clocks, filters and reports, which therefore know nothing of teams,
 * and do what they do in one process. Outputs that all ranks write, and reports that all collect,
 * are made otherwise: see trace/joint.h and analysis/gather.h. */
#pragma once

#include <pthread.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strings.h"
#include "rocline.h"
#include "team/transport.h"

/* The first byte of a message. Numbers after it are varints. */
typedef enum rocl_team_message {
    ROCL_TEAM_OPEN,  /* trace, flags, paths, each with its length: see trace/deal.h */
    ROCL_TEAM_READ,  /* see trace/deal.c */
    ROCL_TEAM_STOP,  /* captures from this one on need not be read */
    ROCL_TEAM_CLOSE, /* trace */
    ROCL_TEAM_BYE,
    ROCL_TEAM_GONE,   /* status, text: why the rank leaves; rocl_team_receive() fails with it */
    ROCL_TEAM_TEXTS,  /* how many; id, length and bytes of each, before the batch that has it */
    ROCL_TEAM_BATCH,  /* capture, and what rocl_wire_put_batch() makes */
    ROCL_TEAM_NOTICE, /* capture, text */
    ROCL_TEAM_DONE,   /* capture */
    ROCL_TEAM_ERROR,  /* capture, status, text */
    ROCL_TEAM_END,    /* of a run: faults, by reason; texts that are not UTF-8 */
    ROCL_TEAM_HELLO,  /* of who joins: version, arguments */
    ROCL_TEAM_FORMED, /* to all who have: a team, or each on its own */
    ROCL_TEAM_SHARE,  /* a text */
    /* of outputs that all write, see trace/joint.h */
    ROCL_TEAM_WRITE,  /* trace, its captures, flags, the state of the filter */
    ROCL_TEAM_COUNTS, /* faults, events, times, what filters have met, texts that are not UTF-8 */
    ROCL_TEAM_NEWS,   /* what is complete; how many new outputs, their names; how many parts, of
                         each the output, the number and the length */
    ROCL_TEAM_ROOM,   /* numbers from and until, how many outputs; of each which, the file, whether
                         the head is wanted, the offset */
    ROCL_TEAM_PARTS,  /* sums of the sink, the rest of NEWS, facts */
    ROCL_TEAM_PLACE,  /* output, file, whether to sync it, how many parts: capture and offset */
    ROCL_TEAM_PLACED,
    ROCL_TEAM_NAMED, /* all outputs have their names */
    /* of what all collect, see analysis/gather.h */
    ROCL_TEAM_ASK,    /* how many questions; collector, length and bytes of each */
    ROCL_TEAM_ANSWER, /* how many texts; of each length and bytes; collector; what it has put.
                         Empty: that is all */
    /* of inputs that nodes find, see trace/nodes.h */
    ROCL_TEAM_FIND,  /* how many names; of each its number, itself, whether it must be there */
    ROCL_TEAM_FOUND, /* host, status, text, how many files, of each which name, path and state */
    /* of inputs that other ranks open, see trace/remote.h */
    ROCL_TEAM_DEFINED, /* definitions; of each input a status, and why, or its captures; agents */
    ROCL_TEAM_KERNELS, /* trace. Back: how many captures, of each input, which of its, kernels */
} rocl_team_message;

struct rocl_team {
    rocl_transport transport;
    const char *name;        /* of the transport, for people */
    pthread_mutex_t run;     /* one run over events at a time */
    pthread_mutex_t sending; /* of a rank that is not 0 */
    pthread_mutex_t receiving;
    unsigned traces; /* opened so far: numbers of traces */
    unsigned owed;   /* FOUND, DEFINED, KERNELS that were asked for and have not come */
    bool broken;     /* a rank is gone */
    bool over;       /* rank 0 has said goodbye */
};

/* A team that uses a transport, whose owner it is then. NULL: memory is out, and it is closed. */
rocl_team *rocl_team_new(const rocl_transport *transport, const char *name);
/* As rocl_team_close(), but the others are not told. */
void rocl_team_free(rocl_team *team);

/* The default number of threads of a rank: the ranks of a machine share its cores. */
unsigned rocl_team_jobs(const rocl_team *team);

/* Sends a message; b->failed is memory that is out. */
rocl_status rocl_team_send(rocl_team *team, unsigned to, const rocl_buf *b, rocl_error *err);
/* Waits for a message and receives it into `message`; *there false: none came in time. A 0 stands
 * behind it. For one thread at a time: hold `receiving`. */
rocl_status rocl_team_receive(rocl_team *team, int milliseconds, rocl_buf *message, unsigned *from,
                              bool *there, rocl_error *err);

/* Appends why a rank leaves. */
void rocl_team_put_gone(rocl_buf *b, rocl_status why, const char *text);
/* To rank 0, as far as it can still be said. */
void rocl_team_say_gone(rocl_team *team, rocl_status why, const char *text);

/* A message of a byte and a number, in an array: it can be sent when memory is out, too. */
enum { ROCL_TEAM_SHORT = 1 + ROCL_VARINT_MAX };
static inline rocl_buf rocl_team_short(uint8_t space[ROCL_TEAM_SHORT], rocl_team_message what,
                                       uint64_t number)
{
    rocl_buf b = {.data = space, .cap = ROCL_TEAM_SHORT, .fixed = true};
    rocl_buf_byte(&b, (uint8_t)what);
    rocl_buf_varint(&b, number);
    return b;
}

/* A text with its length before it, copied; NULL: memory is out, or the message is bad. */
char *rocl_team_text(rocl_byte_reader *r);
/* Such a text as one of the trace; 0: the message is bad. */
uint32_t rocl_team_intern_text(rocl_strings *texts, rocl_byte_reader *r);
void rocl_team_put_text(rocl_buf *b, const char *text, size_t n);
void rocl_team_put_interned(rocl_buf *b, const rocl_strings *texts, uint32_t text);
/* Texts that are not UTF-8 are counted once for the whole trace: so they are sent. */
void rocl_team_put_bad_texts(rocl_buf *b, const rocl_strings *texts);
void rocl_team_take_bad_texts(rocl_strings *texts, rocl_byte_reader *r);
rocl_status rocl_team_bad_message(rocl_error *err);

/* From another rank to rank 0; frees b. */
rocl_status rocl_team_reply(rocl_team *team, rocl_buf *b, rocl_error *err);
/* Waits for the next message that is owed, which has to be of this type: of which rank, and the
 * rest of it. Its bytes are the caller's to free. */
rocl_status rocl_team_take_owed(rocl_team *team, rocl_team_message type, unsigned *rank,
                                rocl_buf *message, rocl_byte_reader *r, rocl_error *err);
/* After a failure: takes what ranks still answer. */
void rocl_team_drain(rocl_team *team);

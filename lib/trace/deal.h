/* A trace that a team reads, on rank 0: inputs dealt out to the other ranks, and events that come
 * back. */
#pragma once

#include "model/trace.h"

typedef struct rocl_deal rocl_deal;

/* Makes t->deal, for a trace that a team opens: it has its number then. */
rocl_status rocl_deal_open(rocl_trace *t, rocl_error *err);
void rocl_deal_free(rocl_deal *d);

/* Deals out the captures of a trace, which are ordered and joined. The rank that opened an input
 * reads it, or others, which then begin to open it. Without t->deal: does nothing. */
rocl_status rocl_deal_inputs(rocl_trace *t, rocl_error *err);

/* Sets joins_next of all captures, which are in order. */
void rocl_deal_join_small(rocl_trace *t);
/* The rule for that: does a capture of this many bytes join the next one? *joined: 0 at first. */
bool rocl_deal_joins(uint64_t *joined, uint64_t bytes, uint64_t next);

/* A rank is told to open an input: its number there. */
uint32_t rocl_deal_tell(rocl_deal *d, unsigned rank);
enum {
    ROCL_OPEN_DEFINES = 1, /* the rank answers with what the inputs define */
    ROCL_OPEN_ON_NODE = 2, /* messages say on which node inputs are */
    ROCL_OPEN_BRIEF = 4,   /* it leaves out kernels and code objects */
};
/* Asks a rank to open inputs: texts with their lengths; none: does nothing. */
rocl_status rocl_deal_send_open(const rocl_trace *t, unsigned rank, const rocl_buf *paths,
                                unsigned flags, rocl_error *err);

/* Notices about captures, held back until they can be given as one process would: in the order of
 * the captures, those of a capture as they came. */
typedef struct rocl_held_notices {
    struct rocl_held_notice {
        uint64_t capture;
        char *text;
    } * all;
    size_t count, cap;
} rocl_held_notices;

/* Takes over the text. False: it is NULL, or memory is out. */
bool rocl_notices_hold(rocl_held_notices *h, uint64_t capture, char *text);
/* Gives all, and forgets them. */
void rocl_notices_give(rocl_held_notices *h, const rocl_trace *t);

/* Does another rank read the capture? NULL is fine. */
bool rocl_is_dealt(const rocl_deal *d, uint32_t capture);

/* Who reads a capture, and where it is among the inputs of that rank. */
typedef struct rocl_deal_place {
    unsigned rank;  /* 0: it is read here */
    uint32_t input; /* which of the rank's paths */
    uint32_t nth;   /* of the captures of that */
} rocl_deal_place;

rocl_deal_place rocl_deal_place_of(const rocl_deal *d, uint32_t capture);
unsigned rocl_deal_number(const rocl_deal *d); /* of the trace, among those of the team */

/* Appends where the clock of a capture is set. */
void rocl_deal_put_clock(rocl_buf *to, const rocl_model_capture *c);

/* What is to be read, and who gets it. */
typedef struct rocl_deal_read {
    const bool *wanted; /* by capture: of those that are dealt out */
    uint32_t kinds, fields;
    uint32_t sent; /* the kinds of which events come back; others are only read */
    /* As in an emitter and a sink; a worker gets batches of several captures in turn. */
    rocl_status (*batch)(void *ctx, unsigned worker, rocl_batch *batch, rocl_error *err);
    rocl_status (*end_task)(void *ctx, unsigned worker, rocl_error *err);
    void *ctx;
} rocl_deal_read;

/* Has the other ranks read, and hands out what comes. A failure is that of the first capture to
 * fail, in their order. */
rocl_status rocl_deal_run(rocl_trace *t, const rocl_deal_read *read, rocl_error *err);

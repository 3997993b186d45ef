/* A trace that a team reads, on rank 0: inputs dealt out to the other ranks, and events that come
 * back. */
#ifndef ROCL_TRACE_DEAL_H
#define ROCL_TRACE_DEAL_H

#include "model/trace.h"

typedef struct rocl_deal rocl_deal;

/* Deals out the captures of a trace, which have their order, as options.team says: t->deal. The
 * others begin to open their inputs. Inputs that only rank 0 can read are not dealt out: standard
 * input, several files that are one run, formats that depend on other inputs. */
rocl_status rocl_deal_inputs(rocl_trace *t, rocl_error *err);
void rocl_deal_free(rocl_deal *d);

/* Before that, for inputs that other ranks open: the trace has its number then. */
rocl_status rocl_deal_open(rocl_trace *t, rocl_error *err);
/* Appends ROCL_TEAM_OPEN. define: the rank answers with what they define. */
void rocl_deal_put_open(rocl_buf *to, unsigned trace, uint64_t count, const rocl_buf *paths,
                        bool define);

/* Is the capture another rank's to read? NULL is fine. */
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
    uint32_t sent; /* of these kinds events come back; the others are only read */
    /* As of an emitter and a sink; of one worker, batches of several captures come by turns. */
    rocl_status (*batch)(void *ctx, unsigned worker, rocl_batch *batch, rocl_error *err);
    rocl_status (*end_task)(void *ctx, unsigned worker, rocl_error *err);
    void *ctx;
} rocl_deal_read;

/* Has the other ranks read, and hands out what comes. A failure is that of the first capture to
 * fail, in their order. */
rocl_status rocl_deal_run(rocl_trace *t, const rocl_deal_read *read, rocl_error *err);

#endif

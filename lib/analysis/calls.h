/* Host calls, looked up by the work that they launched: collectors look up the calls of any number
 * of stack ids; one pass over all calls in order of their ids resolves them. */
#pragma once

#include "analysis/report.h"

/* The first call of a stack id of a process. */
typedef struct rocl_call {
    int64_t start, end;
    uint32_t name;   /* text */
    uint32_t thread; /* index in the process */
} rocl_call;

/* A process as one word of a key. */
static inline uint64_t rocl_process_word(const rocl_capture *c, const rocl_event *e)
{
    return (uint64_t)c->index << 32 | e->process;
}

/* Work that was launched before the previous work ended, and begins later than this after it,
 * waited for something else. */
#define ROCL_DISPATCH_NS 10000

/* What a call waits for before it returns, as its name says. */
typedef enum rocl_waits_for {
    ROCL_WAITS_FOR_NOTHING,
    ROCL_WAITS_FOR_DEVICE,
    ROCL_WAITS_FOR_STREAM,
    ROCL_WAITS_FOR_EVENT, /* an event or a signal */
    ROCL_WAITS_FOR_COPY,  /* that it started itself */
} rocl_waits_for;

rocl_waits_for rocl_call_waits_for(const char *call);

/* call NULL: it is not in the trace, or did not pass the filters. */
typedef rocl_status rocl_call_fn(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                                 rocl_error *err);

/* A question: which call launched this work? Its key is the process word, the stack id, the start
 * and the row word; `numbers` go with it. */
rocl_status rocl_calls_ask(rocl_sorter *questions, unsigned worker, const rocl_batch *b,
                           const rocl_event *work, const uint64_t *numbers, unsigned n,
                           rocl_error *err);
/* fn is called for each question, in the order of their keys, of which the first two words have to
 * be these. Call it in look_up_calls; the caller keeps the sorter, and may free it in `finish`. */
rocl_status rocl_calls_look_up(rocl_calls *c, rocl_sorter *questions, rocl_call_fn *fn, void *ctx,
                               rocl_error *err);
/* The last look-up sees every call as well, before the questions of its stack id; key: as the one
 * of a question, but for the row, which is rocl_event.id. */
typedef void rocl_see_call_fn(void *ctx, const uint64_t *key, const rocl_call *call);
void rocl_calls_see_all(rocl_calls *c, rocl_see_call_fn *see);
/* After all look-ups. */
rocl_status rocl_calls_resolve(rocl_calls *c, rocl_error *err);

/* For a pass over a trace outside of reports. Takes the sorter, of four key words, which the caller
 * seals, and which resolve frees. NULL: memory is out, and the sorter is freed. */
rocl_calls *rocl_calls_new(rocl_sorter *calls);
/* Concurrent. Wants ROCL_REGION. */
rocl_status rocl_calls_add_batch(rocl_calls *c, unsigned worker, const rocl_batch *b,
                                 rocl_error *err);
void rocl_calls_free(rocl_calls *c);

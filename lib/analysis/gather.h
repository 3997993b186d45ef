/* What the ranks of a team collect, put together on rank 0. Each rank runs collectors over its own
 * captures; then rank 0 asks in rounds, and takes what they answer:
 *
 *     1. what a collector has questions of its own about, as long as it asks
 *     2. all ranks look up calls
 *     3. the sums of all collectors, which settle before that
 *     4. values of which percentiles are looked for (percentiles.h), as long as any are not known
 *
 * A collector that can do this has a rocl_gather_def; events for others come to rank 0. Captures
 * have the same numbers on all ranks, and so have GPUs. Texts have not. */
#pragma once

#include "analysis/report.h"
#include "base/exact.h"
#include "base/wide.h"
#include "trace/joint.h"

typedef struct rocl_gather rocl_gather;

/* ---- what is put, and taken ------------------------------------------------------------------ */

typedef struct rocl_put {
    rocl_gather *g;
    rocl_buf b;
} rocl_put;

static inline void rocl_put_number(rocl_put *p, uint64_t v)
{
    rocl_buf_varint(&p->b, v);
}

static inline void rocl_put_wide(rocl_put *p, rocl_u128 v)
{
    rocl_put_number(p, (uint64_t)v);
    rocl_put_number(p, (uint64_t)(v >> 64));
}

static inline void rocl_put_signed(rocl_put *p, int64_t v)
{
    rocl_buf_varint(&p->b, rocl_zigzag(v));
}

static inline void rocl_put_bytes(rocl_put *p, const void *bytes, size_t n)
{
    rocl_buf_put(&p->b, bytes, n);
}

void rocl_put_exact(rocl_put *p, const rocl_exact_sum *s);
/* A text of another rank's trace; may be ROCL_NONE. */
void rocl_put_text(rocl_put *p, uint32_t text);
/* Sends what has been put, once it is large: `hear` is called for each piece of an answer. */
rocl_status rocl_put_piece(rocl_put *p, rocl_error *err);

/* Our texts for those that a rank has put: by its numbers, which count from 0 as they are put. */
typedef struct rocl_taken_texts {
    uint32_t *ids;
    size_t count, cap;
} rocl_taken_texts;

typedef struct rocl_taken {
    rocl_byte_reader r;
    const rocl_taken_texts *texts; /* NULL in questions */
} rocl_taken;

/* Missing data read as 0; the failure is reported when the function returns. */
static inline uint64_t rocl_take_number(rocl_taken *t)
{
    return rocl_next_number(&t->r);
}

static inline rocl_u128 rocl_take_wide(rocl_taken *t)
{
    const uint64_t low = rocl_take_number(t);
    return (rocl_u128)rocl_take_number(t) << 64 | low;
}

static inline int64_t rocl_take_signed(rocl_taken *t)
{
    return rocl_unzigzag(rocl_next_number(&t->r));
}

static inline void rocl_take_bytes(rocl_taken *t, void *to, size_t n)
{
    const uint8_t *p = rocl_next_bytes(&t->r, n);
    if (p)
        memcpy(to, p, n);
    else
        memset(to, 0, n);
}

static inline uint32_t rocl_take_text(rocl_taken *t)
{
    const uint64_t v = rocl_next_number(&t->r);
    if (v <= 1)
        return v ? 0 : ROCL_NONE;
    t->r.bad |= !t->texts || v - 2 >= t->texts->count;
    return t->r.bad ? 0 : t->texts->ids[v - 2];
}

/* To a sum that is zeroed. False: memory is out. */
bool rocl_take_exact(rocl_taken *t, rocl_exact_sum *s);

static inline bool rocl_taken_all(const rocl_taken *t)
{
    return t->r.bad || t->r.p == t->r.end;
}

/* ---- collectors ------------------------------------------------------------------------------ */

/* `self` is the collector's struct. Functions of questions of its own may be NULL, and `samples`.
 */
struct rocl_gather_def {
    /* On rank 0, before each round, from 0 on. */
    rocl_status (*prepare)(void *self, unsigned round, rocl_error *err);
    /* Puts the question for a rank; if it puts nothing, there is none. */
    rocl_status (*ask)(void *self, unsigned round, unsigned rank, rocl_put *to, rocl_error *err);
    /* On another rank. */
    rocl_status (*answer)(void *self, rocl_taken *question, rocl_put *to, rocl_error *err);
    /* On rank 0, for each piece of an answer, and not where nothing was put. */
    rocl_status (*hear)(void *self, unsigned rank, rocl_taken *answer, rocl_error *err);
    /* On each rank, when calls are resolved: makes what `put` puts and `take` adds to. May be NULL.
     * It is not called where no other rank has read anything, so `finish` does the same if need be.
     */
    rocl_status (*settle)(void *self, rocl_error *err);
    /* On another rank: all that was collected. On rank 0: it is added to what was collected here;
     * for each piece. */
    rocl_status (*put)(void *self, rocl_put *to, rocl_error *err);
    rocl_status (*take)(void *self, unsigned rank, rocl_taken *from, rocl_error *err);
    /* The values whose groups `put` and `take` have put and taken; NULL: there are none. */
    struct rocl_percentiles *(*samples)(void *self);
};

/* ---- for stats.c ----------------------------------------------------------------------------- */

/* collectors: by a number that is the same on all ranks; NULL: not made, or not gathered. They stay
 * the caller's. */
rocl_status rocl_gather_new(rocl_gather **g, rocl_trace *t, rocl_collector *const *collectors,
                            unsigned count, rocl_error *err);
void rocl_gather_free(rocl_gather *g);

typedef rocl_status rocl_look_up_fn(void *ctx, rocl_error *err);

/* On rank 0: all rounds. */
rocl_status rocl_gather_run(rocl_gather *g, rocl_look_up_fn *look_up_calls, void *ctx,
                            rocl_error *err);
/* On another rank, until rank 0 has all it needs. */
rocl_status rocl_gather_answer(rocl_gather *g, rocl_look_up_fn *look_up_calls, void *ctx,
                               rocl_error *err);

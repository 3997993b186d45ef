/* Events <-> records of a sorter, sorted by sequence and time.
 *
 * A record has a key of four words and a payload of varints. The key:
 *
 *     word 0   63..60 kind of sequence   59..36 index   35..0 upper bits of the time
 *     word 1   time: begin of the event in ns; of ALLOCATED when its memory comes or goes
 *     word 2   ~end: of what begins together the longer comes first, and flows before all; SAMPLED:
 *              hash of the place
 *     word 3   row of the event's table << 4 | kind: unique; PMC: row << 16 ^ counter
 *
 * A sequence is all records with the same upper 28 bits of word 0. As this word continues with the
 * time, most comparisons of the sorter end there.
 *
 * The payload has the rest. References (texts, threads, agents, ...) are stored one up, so that
 * ROCL_NONE is a single 0; numbers that may be negative are zigzagged, reals turned
 * (rocl_turn_real).
 *
 *     HOST         name, category, stack id, count of arguments, {name, type, length, bytes}...
 *                    flow       name, category, its number, which end << 1 | whether it is next
 *     GPU, MEMORY  name, thread, stack id, agent, queue, stream, and by kind:
 *                    dispatch   kernel, dispatch id, ROCL_DISPATCH_SIZES, and where it has
 *                                 arguments their count, {name, type, length, bytes}...
 *                    copy       other agent, whether it is the source, bytes, duration
 *                    HIP        source queue, graph, kernels
 *                    memory     bytes
 *                    counted    counter, value: right before their dispatch
 *     ALLOCATED    agent, change in bytes
 *     BANDWIDTH    agent, whether it ends, bytes per second
 *     PMC          counter, value
 *     SAMPLED      counter, process, xcc, se, instance, sa, wgp, value */
#pragma once

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "model/trace.h"
#include "trace/pipeline.h"

/* The kinds of sequences: the upper bits of the first key word. */
typedef enum rocl_sequence_kind {
    ROCL_SEQUENCE_HOST = 1,  /* index: thread, or thread_count + process */
    ROCL_SEQUENCE_GPU,       /* index: process, or by rocl_encoder.index */
    ROCL_SEQUENCE_MEMORY,    /* allocations; index: the same */
    ROCL_SEQUENCE_ALLOCATED, /* allocated bytes over time; index: process */
    ROCL_SEQUENCE_BANDWIDTH, /* copies over time; index: process */
    ROCL_SEQUENCE_PMC,       /* counters of dispatches; index: agent, or agent_count */
    ROCL_SEQUENCE_SAMPLED,   /* sampled and SPM values; index: counter, or counter_count */
} rocl_sequence_kind;

/* The kind of a counter's value among GPU work, which has no such kind: with the row of its
 * dispatch it sorts before that. */
enum { ROCL_KIND_COUNTED = ROCL_REGION };
_Static_assert((int)ROCL_KIND_COUNTED < (int)ROCL_DISPATCH, "values come before their dispatch");

/* Bits of the first key word below those that tell the sequence. */
#define ROCL_SEQUENCE_SHIFT   36
#define ROCL_SEQUENCE_INDEXES (1u << 24)

/* The index of GPU work, below ROCL_SEQUENCE_INDEXES; its records come back sorted by it. The
 * process must follow from it. */
typedef uint32_t rocl_index_fn(const void *ctx, rocl_kind kind, const rocl_event *e,
                               rocl_work_place at);

/* The records of one kind and index: all keys whose first word, without the bits of time, is this
 * number. */
typedef struct rocl_sequence {
    uint64_t number;
    uint64_t records;
    uint64_t first, last; /* times of its records */
} rocl_sequence;

#define ROCL_SEQUENCES_RECENT 16

typedef struct rocl_sequence_counts {
    rocl_sequence *all;
    size_t count, cap;
    rocl_map index;                         /* number -> index in all */
    uint32_t recent[ROCL_SEQUENCES_RECENT]; /* indexes: one of few threads is the usual answer */
} rocl_sequence_counts;

typedef struct rocl_encoder_worker {
    alignas(ROCL_CACHE_LINE) rocl_buf scratch;
    rocl_map ends; /* of copies: see rocl_copy_end */
    rocl_sequence_counts counts;
} rocl_encoder_worker;

/* The other end of a process's copy, besides the GPU that it is shown on: another GPU, or none
 * (ROCL_NONE). */
static inline uint64_t rocl_copy_end(uint32_t process, uint32_t agent)
{
    return (uint64_t)process << 32 | (agent == ROCL_NONE ? 0 : agent + 1);
}

/* Encodes batches into the sorter of a capture. */
typedef struct rocl_encoder {
    rocl_trace *trace;
    bool amd_layout;      /* no memory slices, copied bytes instead of rates */
    bool bandwidth;       /* records for copies over time */
    bool ends;            /* notes the other ends of copies */
    bool counters;        /* dispatches are drawn with the values of their counters */
    rocl_index_fn *index; /* of sequences of GPU work; NULL: by process */
    const void *index_ctx;
    /* of the capture at hand */
    rocl_sorter *sorter;
    struct rocl_links *links; /* NULL: not wanted */
    rocl_encoder_worker *workers;
} rocl_encoder;

/* trace and the flags are set. A new sorter per capture: rocl_record_sorter. */
rocl_status rocl_encoder_open(rocl_encoder *p, rocl_error *err);
void rocl_encoder_close(rocl_encoder *p);             /* not the sorter */
rocl_sorter *rocl_record_sorter(const rocl_trace *t); /* NULL: memory is out */

/* Are there few enough sequences for the key? */
rocl_status rocl_encoder_check(const rocl_capture *c, rocl_error *err);
rocl_status rocl_encode_batch(rocl_encoder *p, unsigned worker, const rocl_batch *b,
                              rocl_error *err);
/* Encodes allocations, even those before the time window: what is live in it depends on them. The
 * `history` of rocl_encoder_sink(). */
rocl_status rocl_encode_history(void *encoder, unsigned worker, rocl_batch *b, rocl_error *err);

/* All sequences of the capture, in order; free them. */
rocl_status rocl_encoder_sequences(const rocl_encoder *p, rocl_sequence **all, size_t *count,
                                   rocl_error *err);

/* Neighbouring sequences, and their total weight. */
typedef struct rocl_draw_range {
    size_t first, last; /* of the sequences, the last one is not in it */
    uint64_t weight;
    unsigned piece;        /* 0: it begins with the first sequence; else with the n-th cut of it */
    rocl_sort_bound begin; /* of a piece */
} rocl_draw_range;

/* The most drawings: if all are made at once, enough for some ten cores; if workers take one after
 * the other, enough that none gets a large one at the end. */
#define ROCL_DRAWN_AT_ONCE_MAX 16
#define ROCL_DRAWINGS_MAX      64

/* Groups sequences into ranges of about the same weight that can be drawn concurrently: from one
 * (even of no sequences) to `most`, about half as many as that; if there are several, none weighs
 * much less than `least`. The result depends only on the sequences. Returns the number of
 * ranges. */
size_t rocl_cut_draw_ranges(const rocl_sequence *all, size_t count,
                            uint64_t (*weight)(const rocl_sequence *), uint64_t least, size_t most,
                            rocl_draw_range *ranges);
/* Cuts ranges further that weigh more because of one sequence: that of a thread at times when no
 * slice is open (nor ends at that time); that of GPU work anywhere, if the sink allows it. The
 * result depends only on the records. All pieces but the first are ranges of their
 * own. */
rocl_status rocl_cut_pieces(rocl_sorter *s, const rocl_sequence *all, bool work, uint64_t least,
                            rocl_draw_range ranges[ROCL_DRAWN_AT_ONCE_MAX], size_t *count,
                            rocl_error *err);
/* Starts to read a sorter in these ranges. */
rocl_status rocl_start_draw_ranges(rocl_sorter *s, const rocl_sequence *all,
                                   const rocl_draw_range *ranges, size_t count, rocl_error *err);

/* An empty sorter for a capture, in place of the former one's. */
rocl_status rocl_encoder_begin(rocl_encoder *p, const rocl_capture *c, rocl_error *err);
void rocl_encoder_forget(rocl_encoder *p);
/* A sink without begin_capture and end_capture; `self` is the encoder, which must be the first
 * member of the sink's struct. */
rocl_sink rocl_encoder_sink(rocl_encoder *first);
/* Its `events`, for sinks that also look at events themselves. */
rocl_status rocl_encoder_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err);

/* The number of the sequence of a key, and its kind and index. */
static inline uint64_t rocl_sequence_of(const uint64_t *key)
{
    return key[0] >> ROCL_SEQUENCE_SHIFT;
}

/* The bound before all records of a sequence that begin at a time or later. */
static inline rocl_sort_bound rocl_sequence_bound(uint64_t number, uint64_t time)
{
    return (rocl_sort_bound){
        {number << ROCL_SEQUENCE_SHIFT | time >> (64 - ROCL_SEQUENCE_SHIFT), time}};
}

static inline uint64_t rocl_sequence_number(rocl_sequence_kind kind, uint32_t index)
{
    return (uint64_t)kind * ROCL_SEQUENCE_INDEXES + index;
}

static inline rocl_sequence_kind rocl_sequence_kind_of(uint64_t sequence)
{
    return (rocl_sequence_kind)(sequence / ROCL_SEQUENCE_INDEXES);
}

static inline uint32_t rocl_sequence_index(uint64_t sequence)
{
    return (uint32_t)(sequence % ROCL_SEQUENCE_INDEXES);
}

typedef struct rocl_track_arg { /* of a call or dispatch; the value is in the record */
    uint32_t name, type;        /* texts */
    const char *value;
    size_t len;
} rocl_track_arg;

/* A decoded record: members that its kind of sequence does not have are undefined. */
typedef struct rocl_track_event {
    rocl_sequence_kind sequence;
    uint32_t index;
    int64_t time, end; /* ns */
    rocl_kind kind;
    uint64_t row;
    uint64_t stack_id;
    uint32_t name, category, thread;
    /* host, and dispatches */
    uint32_t arg_count;
    const uint8_t *args, *args_end;
    /* GPU */
    uint32_t agent, queue, stream, kernel, other_agent;
    uint64_t size, address, dispatch_id;
    int64_t duration; /* of a copy, whole */
    int64_t delta;    /* of live bytes */
    int64_t private_segment, group_segment;
    uint32_t workgroup[3], grid[3];
    uint8_t op;
    /* flows */
    uint64_t flow;
    rocl_flow_end flow_end;
    bool flow_next;
    /* counters */
    uint32_t counter;
    int64_t place[5];
    double value;
} rocl_track_event;

/* The first key word of a record with another index. */
uint64_t rocl_record_key_at(const rocl_sort_record *r, uint32_t index);

/* Fills *e; the args point into the record. False: the record is broken (a bug). */
bool rocl_record_decode(const rocl_sort_record *r, rocl_track_event *e);
bool rocl_track_event_next_arg(rocl_track_event *e, rocl_track_arg *arg);

/* Keys of a JSON object must differ: is the n-th argument of an event, from 1, to be called
 * "name #n", because one before it or a key in `own` has the same name? own: ends with NULL. e: the
 * event before its first argument was taken. */
bool rocl_track_arg_needs_number(const rocl_trace *t, rocl_track_event e, const rocl_track_arg *arg,
                                 unsigned n, const char *const *own);

/* Bytes per second over `ns` > 0; even with absurd sizes from a file the rate fits int64. */
static inline uint64_t rocl_rate(uint64_t bytes, int64_t ns)
{
    double rate = (double)bytes * 1e9 / (double)ns;
    return rate < 9e18 ? (uint64_t)rate : INT64_MAX;
}

/* Events <-> records of a sorter, for sinks that draw rows: sorted by room, row and time. */
#ifndef ROCL_TIMELINE_RECORD_H
#define ROCL_TIMELINE_RECORD_H

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "model/trace.h"
#include "trace/pipeline.h"

/* Rooms that a record belongs to: the upper byte of the first key word. */
typedef enum rocl_room {
    ROCL_ROOM_HOST = 1,  /* index: thread, or thread_count + process */
    ROCL_ROOM_GPU,       /* index: process, or what rocl_packer.place says */
    ROCL_ROOM_MEMORY,    /* allocations; index: the same */
    ROCL_ROOM_ALLOCATED, /* allocated bytes over time; index: process */
    ROCL_ROOM_BANDWIDTH, /* copies over time; index: process */
    ROCL_ROOM_PMC,       /* counters of dispatches; index: agent, or agent_count */
    ROCL_ROOM_SAMPLED,   /* sampled and SPM values; index: counter, or counter_count */
} rocl_room;

/* Bits of the first key word below those that tell the sequence. */
#define ROCL_PACK_GROUP_SHIFT 36
#define ROCL_PACK_INDEXES     (1u << 24)

/* The index of GPU work, below ROCL_PACK_INDEXES; its records come back sorted by it. The process
 * must follow from it. */
typedef uint32_t rocl_place_fn(const void *ctx, rocl_kind kind, const rocl_event *e, uint32_t agent,
                               uint32_t queue, uint32_t stream);

/* The records of a room with one index: all keys whose first word, less the bits of time, is this
 * number. */
typedef struct rocl_packed_sequence {
    uint64_t number;
    uint64_t records;
} rocl_packed_sequence;

#define ROCL_PACK_RECENT 16

typedef struct rocl_pack_counts {
    rocl_packed_sequence *all;
    size_t count, cap;
    rocl_map places;                   /* number -> place in all */
    uint32_t recent[ROCL_PACK_RECENT]; /* places: one of few threads is the usual answer */
} rocl_pack_counts;

typedef struct rocl_pack_worker {
    alignas(ROCL_CACHE_LINE) rocl_buf scratch;
    rocl_idset linked; /* stack ids with GPU work */
    rocl_map ends;     /* of copies: see rocl_pack_end */
    rocl_pack_counts counts;
} rocl_pack_worker;

/* What a process copies from or to besides the GPU that a copy is shown on: another GPU, or none
 * (ROCL_NONE). */
static inline uint64_t rocl_pack_end(uint32_t process, uint32_t agent)
{
    return (uint64_t)process << 32 | (agent == ROCL_NONE ? 0 : agent + 1);
}

/* Packs what batches bring into the sorter of a capture. */
typedef struct rocl_packer {
    rocl_trace *trace;
    bool legacy;          /* AMD's layout: no memory slices, copied bytes instead of rates */
    bool bandwidth;       /* records for copies over time */
    bool ends;            /* notes the other ends of copies */
    rocl_place_fn *place; /* of records in the rooms GPU and MEMORY; NULL: by process */
    const void *place_ctx;
    rocl_sorter *sorter; /* of the capture at hand; the owner's */
    rocl_pack_worker *workers;
} rocl_packer;

/* trace and the flags are set. A new sorter per capture: rocl_packer_sorter. */
rocl_status rocl_packer_open(rocl_packer *p, rocl_error *err);
void rocl_packer_close(rocl_packer *p); /* not the sorter */
rocl_sorter *rocl_packer_sorter(const rocl_packer *p);

/* Are there few enough sequences for the key? */
rocl_status rocl_packer_check(const rocl_capture *c, rocl_error *err);
rocl_status rocl_packer_batch(rocl_packer *p, unsigned worker, const rocl_batch *b,
                              rocl_error *err);
/* Allocations, also those before the time window: what is live in it depends on them. */
rocl_status rocl_packer_history(rocl_packer *p, unsigned worker, const rocl_batch *b,
                                rocl_error *err);

/* ---- pack_sequences.c ---- */

bool rocl_pack_count_other(rocl_pack_counts *c, uint64_t sequence);

static inline bool rocl_pack_count(rocl_pack_counts *c, uint64_t sequence)
{
    uint32_t i = c->recent[sequence % ROCL_PACK_RECENT];
    if (i >= c->count || c->all[i].number != sequence)
        return rocl_pack_count_other(c, sequence);
    c->all[i].records++;
    return true;
}

void rocl_pack_counts_free(rocl_pack_counts *c);
/* All that the capture has, in their order; free them. */
rocl_status rocl_packer_sequences(const rocl_packer *p, rocl_packed_sequence **all, size_t *count,
                                  rocl_error *err);

/* Neighbouring sequences, and how much they are together. */
typedef struct rocl_pack_part {
    size_t first, last; /* of the sequences, the last one is not in it */
    uint64_t weight;
} rocl_pack_part;

#define ROCL_PACK_PARTS 16 /* at most */

/* Cuts sequences to parts that can be written side by side, of about the same weight; none weighs
 * much less than `least`, if there are several. One at least, also of no sequences. How, depends on
 * nothing but the sequences. Returns how many there are. */
size_t rocl_pack_cut(const rocl_packed_sequence *all, size_t count,
                     uint64_t (*weight)(const rocl_packed_sequence *), uint64_t least,
                     rocl_pack_part parts[ROCL_PACK_PARTS]);
/* Starts to read a sorter in these parts. */
rocl_status rocl_pack_start(rocl_sorter *s, const rocl_packed_sequence *all,
                            const rocl_pack_part *parts, size_t count, rocl_error *err);

/* ---- pack_sink.c ---- */

/* An empty sorter for a capture, in place of the former one's. */
rocl_status rocl_packer_begin(rocl_packer *p, const rocl_capture *c, rocl_error *err);
void rocl_packer_forget(rocl_packer *p);
/* All of a sink but begin_capture and end_capture: its struct begins with the packer, which is what
 * `self` points to. */
rocl_sink rocl_packer_sink(rocl_packer *first);

/* The number of the sequence that a key is of, and what it says. */
static inline uint64_t rocl_sequence_of(const uint64_t *key)
{
    return key[0] >> ROCL_PACK_GROUP_SHIFT;
}

static inline uint64_t rocl_sequence_number(rocl_room room, uint32_t index)
{
    return (uint64_t)room * ROCL_PACK_INDEXES + index;
}

static inline rocl_room rocl_sequence_room(uint64_t sequence)
{
    return (rocl_room)(sequence / ROCL_PACK_INDEXES);
}

static inline uint32_t rocl_sequence_index(uint64_t sequence)
{
    return (uint32_t)(sequence % ROCL_PACK_INDEXES);
}

/* A record as it comes back. */
typedef struct rocl_packed_arg {
    uint32_t name;
    const char *value;
    size_t len;
} rocl_packed_arg;

typedef struct rocl_packed {
    rocl_room room;
    uint32_t index;
    int64_t time, end; /* ns */
    rocl_kind kind;
    uint64_t row;
    uint64_t stack_id;
    uint32_t name, category, thread;
    /* host */
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
    /* counters */
    uint32_t counter;
    int64_t place[5];
    double value;
} rocl_packed;

/* The first key word of a record that is to come back under another index. */
uint64_t rocl_packed_key(const rocl_sort_record *r, uint32_t index);

/* Fills *e; the args point into the record. False: the record is broken (a fault of ours). */
bool rocl_packed_read(const rocl_sort_record *r, rocl_packed *e);
bool rocl_packed_next_arg(rocl_packed *e, rocl_packed_arg *arg);

/* Bytes per second over `ns` > 0; sizes out of a file may be absurd, the rate still fits int64. */
static inline uint64_t rocl_rate(uint64_t bytes, int64_t ns)
{
    double rate = (double)bytes * 1e9 / (double)ns;
    return rate < 9e18 ? (uint64_t)rate : INT64_MAX;
}

#endif

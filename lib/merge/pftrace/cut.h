/* What the files of a cut share: see cut.c. */
#pragma once

#include "base/array.h"
#include "base/extsort.h"
#include "sink/pftrace/pf.h"
#include "source/pftrace/pftrace.h"

/* What happens to a packet that the window alone would treat otherwise. */
enum { MARK_LEAVE = 1, MARK_KEEP = 2, MARK_AT_START = 4 };

/* What is said of a packet at a position. */
typedef struct mark {
    uint64_t at;          /* first: rocl_compare_u64() orders them */
    uint32_t track, what; /* index in cut.tracks; MARK_... */
} mark;

/* A slice's begin or end. */
typedef struct edge {
    uint64_t uuid;
    uint32_t machine, sequence, name, track; /* track: index in cut.tracks */
    bool begins;
} edge;

typedef struct open_slice {
    edge e;
    int64_t start;
    uint64_t at;
} open_slice;

typedef struct cut_track {
    open_slice *stack; /* slices that are open at `last` */
    size_t depth, cap;
    int64_t last;
    bool unordered; /* its events are not in the order of their times */
} cut_track;

/* A counter's value when the window begins. */
typedef struct value_before {
    int64_t time;
    uint64_t at;           /* behind the packet at this position it is written */
    uint64_t value, track; /* of a GPU counter: its id */
    uint32_t machine, sequence;
    uint64_t descriptor, gpu;
    bool real, incremental, of_gpu;
    pfr_sum sum; /* of an incremental one */
} value_before;

typedef struct cut cut;
typedef rocl_status packet_fn(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                              rocl_error *err);

struct cut {
    rocl_trace *trace;
    pfr_file *file;
    rocl_window_mode mode;
    int64_t from, to;
    pf_packing packing;
    rocl_piped out;
    rocl_written written;
    /* the walk at hand */
    packet_fn *take;
    pfr_state *states; /* of sequences, at the packet at hand */
    pfr_walk walk;
    size_t piece;
    /* the plan */
    cut_track *tracks; /* those that are described, and others as they come */
    size_t track_count, track_cap;
    rocl_map others;    /* uuid of a track that is not described -> its index */
    rocl_sorter *edges; /* of tracks that are not in order, in the second walk for the plan */
    bool unordered;     /* there are such tracks */
    mark *marks;        /* by position, when the plan is made */
    size_t mark_count, mark_cap, mark_next;
    rocl_map counters;    /* track -> index */
    value_before *values; /* by position, when the plan is made */
    size_t value_count, value_cap, value_next;
    edge *open; /* slices that the end of the window closes, inner ones first */
    size_t open_count, open_cap;
    unsigned reported; /* faults */
    /* the copy */
    uint64_t (*told)[PFR_LOCAL_CLOCKS]; /* by sequence: incremental clocks as the output has them */
    rocl_buf packet;
};

/* walk.c: reads the file and walks through it, while workers unpack what is ahead. */
rocl_status cut_walk(cut *c, packet_fn *take, rocl_error *err);

static inline bool cut_in_window(const cut *c, int64_t time)
{
    return time >= c->from && time <= c->to;
}

/* Does a slice pass? One that never ends has INT64_MAX. */
static inline bool cut_slice_passes(const cut *c, int64_t start, int64_t end)
{
    return c->mode == ROCL_WINDOW_INSIDE ? start >= c->from && end <= c->to
                                         : end >= c->from && start <= c->to;
}

/* plan.c: what is to happen to which packets. What cannot be copied is counted. */
rocl_status cut_make_plan(cut *c, rocl_error *err);

/* copy.c: a packet of the last walk; behind it values of counters when the window begins. */
rocl_status cut_copy_packet(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                            rocl_error *err);
/* Slices that are open when the window ends. */
rocl_status cut_close_slices(cut *c, rocl_error *err);
/* Hands on what was written where that is enough for a block, or `all`. */
rocl_status cut_flush(cut *c, bool all, rocl_error *err);

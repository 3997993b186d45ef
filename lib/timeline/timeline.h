/* The timeline: what every picture of a trace needs, once. A sink only encodes.
 *
 *     batches --encode--> sorter --ranges--> drawing --rocl_timeline_ops--> sink --> file
 *     (any worker)        (sequence, time)   (a thread each)
 *
 *     record.c   events <-> records of the sorter, and their key
 *     run.c      which sequences a capture has; cutting them to ranges; reading one
 *     drawing.c  drawings side by side, in the blocks of one pipe
 *     track.c    which track GPU work is drawn on, and labels
 *     slices.c   host calls and GPU work: groups, lanes for what overlaps, ends in order of time
 *     values.c   allocated and copied bytes, counters of dispatches, samples
 *     links.c    which call launched which work; reports use it as well
 *
 * Records are sorted by (sequence, time). A sequence is drawn from begin to end by one thread: a
 * host thread, the GPU work of a process (or, with by_track, of one track), the values of a
 * counter. A drawing draws a range: neighbouring sequences, or a piece of a thread's sequence that
 * has nearly all records, cut where no slice is open. How ranges are cut depends only on the
 * records, and a drawing does not depend on others: output is the same for any number of workers.
 *
 * Lifetimes: a rocl_timeline lives as long as its sink, with the state of one capture at a time; it
 * is read only while drawings draw. A rocl_drawing is used by one thread at a time, and lives until
 * its capture is written. Whatever a sink needs of its own for a drawing it keeps in a struct that
 * begins with the rocl_drawing. */
#pragma once

#include "base/map.h"
#include "model/identity.h"
#include "model/trace.h"
#include "timeline/links.h"
#include "timeline/record.h"
#include "trace/joint.h"

/* ---- tracks ---------------------------------------------------------------------------------- */

typedef enum rocl_track_kind {
    /* of GPU work, in the order in which they are shown */
    ROCL_TRACK_STREAM,
    ROCL_TRACK_QUEUE,
    ROCL_TRACK_COPIES,
    ROCL_TRACK_MEMORY,
    ROCL_TRACK_SCRATCH,
    ROCL_TRACK_GRAPHS,
    ROCL_TRACK_WORK_KINDS,
    ROCL_TRACK_THREAD = ROCL_TRACK_WORK_KINDS,
    /* of values */
    ROCL_TRACK_ALLOCATED, /* bytes */
    ROCL_TRACK_BANDWIDTH, /* bytes per second; in AMD's layout bytes */
    ROCL_TRACK_COUNTER,   /* of dispatches: 0 between them */
    ROCL_TRACK_SAMPLES,   /* of a counter in one place of its GPU */
} rocl_track_kind;

/* Slices or values that are drawn together. Indexes are those of the capture, ROCL_NONE: unknown or
 * none. */
typedef struct rocl_track {
    rocl_track_kind kind;
    uint32_t process;
    uint32_t thread;      /* THREAD; COPIES in AMD's layout */
    uint32_t agent;       /* GPU work, values */
    uint32_t id;          /* STREAM, QUEUE: that; COUNTER, SAMPLES: counter */
    uint32_t lane;        /* 0: the track itself; else the n-th further row of it */
    uint64_t base;        /* lane > 0: what `define` gave for lane 0 */
    bool gpu;             /* the agent is a GPU */
    bool spm;             /* SAMPLES: of the streaming monitor */
    const int64_t *place; /* SAMPLES: xcc, shader engine, instance, shader array, wgp; -1 unknown */
} rocl_track;

/* The process and the thread (ROCL_NONE: it is unknown) of a sequence of host events. */
uint32_t rocl_host_process(const rocl_capture *c, uint32_t index, uint32_t *thread);

/* The process of a counter; the first for an unknown one. */
uint32_t rocl_counter_process(const rocl_capture *c, uint32_t counter);

/* ---- labels: what things are called in pictures of a trace ------------------------------------
 */

/* The host name of its machine, "" unknown. */
const char *rocl_process_host(const rocl_capture *c, const rocl_process *p);

/* "rank 0, pid 123, host": without a rank below 0, a pid of 0, a host of "". */
void rocl_process_details(char *s, size_t size, int32_t rank, int64_t pid, const char *host);

/* "/opt/app/train --rank 0" -> "train" */
void rocl_program_name(const char *command, char *name, size_t size);
/* Its own name, or for the main thread that of its program; "" if unknown. May use buf. */
const char *rocl_thread_label(const rocl_capture *c, const rocl_thread *t, const rocl_process *p,
                              char *buf, size_t size);
/* "GPU 0 AMD Instinct MI300X"; instead of the product the name that the program gave it. */
void rocl_gpu_label(const rocl_trace *t, const rocl_gpu *g, char *name, size_t size);
/* "GPU 0"; the label of another agent; "unknown agent". */
void rocl_agent_label(const rocl_capture *c, uint32_t agent, char *s, size_t size);
/* Its label; "No Queue" for NULL. */
void rocl_queue_label(const rocl_trace *t, const rocl_queue *q, const char *word, char *name,
                      size_t size);

/* The label of a track of GPU work: "Stream 1", "Copies"; host: "Host copies". */
void rocl_work_label(const rocl_trace *t, const rocl_capture *c, const rocl_track *track, bool host,
                     char *name, size_t size);
/* " xcc 0 se 1": of samples; "" where nothing is known. */
#define ROCL_PLACE_LABEL_MAX 192
void rocl_place_label(const int64_t place[5], char name[ROCL_PLACE_LABEL_MAX]);

/* ---- what a sink implements ------------------------------------------------------------------ */

typedef struct rocl_timeline rocl_timeline;
typedef struct rocl_drawing rocl_drawing;

/* A point where an arrow begins, passes or ends. */
typedef struct rocl_flow_mark {
    uint64_t flow; /* the same for all ends of an arrow, within the capture */
    int64_t time;
    uint32_t name, category; /* texts */
    rocl_flow_end end;
    bool next; /* it belongs to the next slice; else to the one at or around its time */
} rocl_flow_mark;

/* What sinks can hold, and how they draw it. The current event is p->event; its record, if bytes of
 * it are wanted, p->record. Times ascend within a sequence. */
typedef struct rocl_timeline_ops {
    bool work_overlaps; /* slices of GPU work may overlap on a track: it needs no lanes */
    bool instant_flows; /* arrows may end in instants: p->flows has those of one */
    bool link_slices;   /* only slices can have links: a mark with one becomes a slice */
    /* A sequence begins: p->event is its first; nothing on it is before `from`. May be NULL. */
    rocl_status (*begin)(rocl_drawing *p, int64_t from, rocl_error *err);
    /* It ends, after all slices have. May be NULL. */
    void (*end)(rocl_drawing *p);
    /* Called for a track before anything is drawn on it in the sequence: *id identifies it
     * below. */
    rocl_status (*define)(rocl_drawing *p, const rocl_track *track, uint64_t *id, rocl_error *err);
    /* p->event begins, a host call or GPU work. Without slice_end the slice is complete: it is from
     * event.time to event.end. */
    rocl_status (*call)(rocl_drawing *p, uint64_t track, rocl_error *err);
    rocl_status (*work)(rocl_drawing *p, uint64_t track, rocl_error *err);
    void (*slice_end)(rocl_drawing *p, uint64_t track, int64_t time); /* may be NULL */
    rocl_status (*instant)(rocl_drawing *p, uint64_t track, rocl_error *err);
    /* An end of an arrow at a time when no slice begins, whether within a slice or not. Arrows of a
     * slice that begins are in p->flows during `call`. NULL: the sink draws no flows. */
    rocl_status (*flow)(rocl_drawing *p, uint64_t track, const rocl_flow_mark *flow,
                        rocl_error *err);
    /* The value holds until the next one of the track. */
    void (*value)(rocl_drawing *p, uint64_t track, int64_t time, double value);
    /* A value that counts bytes; NULL: they are values like others. */
    void (*bytes)(rocl_drawing *p, uint64_t track, int64_t time, int64_t value);
} rocl_timeline_ops;

/* ---- a capture ------------------------------------------------------------------------------- */

struct rocl_timeline {
    rocl_encoder encoder; /* must be first: rocl_encoder_sink passes one pointer for the sink, the
                             timeline and the encoder */
    const rocl_timeline_ops *ops;
    bool by_queue;      /* GPU work is drawn by queue, not by stream */
    bool by_track;      /* GPU work has a sequence for each track, not one for each process */
    bool link_calls;    /* wants rocl_timeline_link() */
    bool lanes_settled; /* a sequence is one track, in which slices nest */
    /* of the capture at hand */
    const rocl_capture *capture;
    int64_t from, to; /* the time window */
    rocl_sorter *sorter;
    rocl_sequence *sequences; /* that the sorter has; NULL: not counted */
    size_t sequence_count;
    rocl_links links;
    /* For GPU work: number of sequence indexes of a process, and of tracks that have one together.
     */
    uint32_t work_indexes, fold;
};

/* Call these for each capture in turn: in begin_capture of the sink, or as it, where the timeline
 * is its first member; after all its events; when it is written, or cannot be. */
rocl_status rocl_timeline_begin_capture(void *self, const rocl_capture *c, rocl_error *err);
rocl_status rocl_timeline_end_capture(rocl_timeline *t, rocl_error *err);
void rocl_timeline_forget_capture(rocl_timeline *t);
/* For sinks that keep the records of a capture until all are read: seals its records and links, and
 * resolves these. */
rocl_status rocl_timeline_resolve(const rocl_trace *t, rocl_sorter **records, rocl_links *links,
                                  rocl_error *err);
/* Sets up what tracks of a capture depend on: done by begin_capture. */
void rocl_timeline_set_capture(rocl_timeline *t, const rocl_capture *c);

/* The most sequences that a capture can have by its definitions, unless by_track is set. */
uint64_t rocl_timeline_sequences_max(const rocl_capture *c);

/* The index of the sequence of GPU work; timeline: the one of the event's capture. */
rocl_index_fn rocl_work_index;

/* The track that GPU work is drawn on, without `lane`. agent: the one it is shown with. */
rocl_track rocl_work_track(const rocl_timeline *t, rocl_kind kind, rocl_work_place at,
                           uint32_t thread);

/* ---- a drawing ------------------------------------------------------------------------------- */

typedef struct rocl_timeline_counts {
    uint64_t slices, instants, values;
    uint64_t lanes; /* further rows made for overlapping slices */
    uint64_t moved; /* slices that are in them */
} rocl_timeline_counts;

/* For rocl_joint_commit(): the counts of the ranks of a team. */
static inline rocl_joint_sums rocl_timeline_sums(rocl_timeline_counts *c)
{
    return (rocl_joint_sums){.own = &c->slices, .own_count = sizeof *c / sizeof c->slices};
}

/* A row can only show nested slices, so others get further rows, first fit. */
typedef struct rocl_open_slice { /* a slice that has begun */
    int64_t end;
    uint64_t order; /* of beginning */
    uint32_t lane;
} rocl_open_slice;

typedef struct rocl_lane {
    uint64_t track;
    uint32_t group;  /* lanes in a group may replace each other */
    uint32_t number; /* in the group */
    int64_t *ends;   /* of the open slices, outermost first */
    uint32_t depth;
    size_t cap;
} rocl_lane;

/* The lanes of a group, in a tree of maxima of how far a slice may reach in each: the first that
 * takes a slice is found without looking at all before it. */
typedef struct rocl_lane_group {
    int64_t *reach;  /* 2 * cap; the leaves from cap on */
    uint32_t *lanes; /* by number */
    uint32_t count, cap;
} rocl_lane_group;

typedef struct rocl_lanes {
    rocl_lane *lanes;
    rocl_lane_group *groups;
    rocl_open_slice *heap; /* by end, innermost first */
    uint32_t count, group_count, open;
    size_t cap, group_cap, heap_cap;
    uint64_t order;
    bool nest; /* slices may nest; else lanes hold one at a time */
} rocl_lanes;

typedef struct rocl_meter { /* a value over time */
    uint64_t track;
    uint64_t sum; /* of bytes; unsigned, so that absurd sizes wrap around and back */
    int64_t end;  /* COUNTER: when the value shown runs out; INT64_MIN: it is 0 */
    bool defined;
} rocl_meter;

struct rocl_drawing {
    const rocl_timeline *timeline;
    size_t number;           /* among the sorter's ranges */
    size_t at, last;         /* the current sequence, and the first after the range */
    unsigned piece;          /* 0: it begins with a sequence; else with the n-th cut of one */
    size_t cut;              /* the sequence that is shared with other drawings; SIZE_MAX: none */
    const size_t *filled;    /* bytes in the current block, see drawing.h */
    rocl_sort_record record; /* the current one, and its contents */
    rocl_track_event event;
    uint64_t sequence; /* number of its sequence */
    bool more;         /* there is a current record */
    rocl_links links;  /* a view of the timeline's */
    rocl_timeline_counts counts;
    /* ---- of the sequence at hand ---- */
    rocl_status (*draw)(rocl_drawing *p, rocl_error *err); /* NULL: it has not begun */
    rocl_status (*slice)(rocl_drawing *p, uint64_t track, rocl_error *err); /* from the ops */
    rocl_status (*finish)(rocl_drawing *p, rocl_error *err);                /* after the last one */
    uint32_t process;
    uint64_t lanes_before; /* counts.lanes at its begin */
    rocl_lanes lanes;
    rocl_map track_index; /* key of a track -> group of lanes, or meter */
    rocl_track *tracks;   /* by group; base: what it is called */
    uint32_t track_count;
    size_t track_cap;
    uint64_t recent_key; /* of the track found last */
    uint32_t recent;
    rocl_meter *meters;
    uint32_t meter_count;
    size_t meter_cap;
    uint32_t *shown; /* meters of counters that are not 0: few at once */
    uint32_t shown_count;
    size_t shown_cap;
    rocl_track_kind value_kind; /* of bytes */
    bool in_window;             /* ALLOCATED: the begin of the window has been drawn */
    struct rocl_counted { /* counter values of the dispatch that is drawn next, or during `work` */
        uint32_t counter;
        double value;
    } * counted;
    uint32_t counted_count;
    size_t counted_cap;
    uint64_t counted_row; /* of that dispatch */
    rocl_flow_mark
        *flows; /* arrows of a thread that wait for their slice; during `call` those of it */
    uint32_t flow_count;
    size_t flow_cap;
};

/* Which end of a link the current event is. */
static inline rocl_link rocl_timeline_link(rocl_drawing *p)
{
    return rocl_links_of(&p->links, &p->event);
}

/* Reads the first record. The caller has set timeline, number, at and last; the rest is 0. */
rocl_status rocl_drawing_begin(rocl_drawing *p, rocl_error *err);
/* Draws the current record (and what begins and ends with it), and reads the next; p->more false at
 * the end. */
rocl_status rocl_timeline_draw(rocl_drawing *p, rocl_error *err);
void rocl_drawing_free(rocl_drawing *p); /* frees its contents, even after a failure */

void rocl_timeline_counts_add(rocl_timeline_counts *to, const rocl_timeline_counts *from);

/* ---- slices.c, values.c: how sequences are drawn --------------------------------------------- */

/* Sets p->draw and p->finish for the sequence of p->event. */
rocl_status rocl_begin_slices(rocl_drawing *p, rocl_error *err);
void rocl_forget_slices(rocl_drawing *p);
rocl_status rocl_begin_values(rocl_drawing *p, rocl_error *err);

/* The OTF2 sink, on libotf2: what its files share.
 *
 *     otf2.c         the sink: a capture in two passes of drawings, the end of the archive
 *     draw.c         what the timeline draws -> events of locations, markers
 *     regions.c      the region and the attributes of an event
 *     system.c       the system tree, location groups, locations, ranks
 *     definitions.c  strings, attributes, regions and metrics, each defined once
 *     global.c       all definitions -> the archive, when everything is known
 *     locations.c    a capture whose events are written -> its locations; those of all captures
 *     archive.c      the archive: files, memory and errors of libotf2
 *     team.c         what each rank of a team has written -> one archive
 *
 * Records are sorted by (sequence, time): one location is written after the other, by as many
 * threads as there are, each with one writer of libotf2 at a time, whatever the number of
 * locations. Slices that overlap on a location are deferred, and written to further locations in
 * the second pass. Which records a drawing has depends on them alone, and so does every byte.
 *
 * The spaces of numbers:
 *
 *     text        an interned string of the trace; differs from run to run, so nothing is sorted
 *                 by it
 *     reference   of a string, attribute, region or metric: the order of first use. Each drawing
 *                 has its own (the first one has the archive's); when drawings are joined, an
 *                 ot_mapping of its references to the archive's is kept, which libotf2 writes
 *                 beside its locations
 *     track       a location as a drawing sees it: an index in ot_drawing.tracks; the first pass
 *                 appends the tracks of all drawings to ot_sink.tracks
 *     location    an index in ot_system.locations; `number` is its number in the archive: first
 *                 those that begin a sequence of the first pass, by sequence, then their lanes,
 *                 then those that were never written to
 *     group, tree an index in ot_system; global.c sorts them, their numbers follow that order */
#pragma once

#include <otf2/otf2.h>
#include <stdalign.h>
#include <stdio.h>

#include "base/array.h"
#include "base/map.h"
#include "base/out_set.h"
#include "model/identity.h"
#include "model/trace.h"
#include "timeline/timeline.h"

/* ---- definitions.c: references, given out in the order of first use -------------------------- */

typedef enum ot_kind {
    OT_STRINGS,
    OT_ATTRIBUTES,
    OT_REGIONS,
    OT_METRICS,
    OT_LISTS,
    OT_WINDOWS = OT_LISTS, /* of RMA: numbers only, mapped only for other ranks of a team */
    OT_MAPPED
} ot_kind;

/* Items are compared as bytes: they have no padding. */
typedef struct ot_region {
    uint32_t name, category; /* texts */
    uint32_t paradigm, role;
} ot_region;

typedef struct ot_attribute {
    uint32_t name; /* text */
    uint32_t type;
} ot_attribute;

typedef struct ot_member {            /* of metrics */
    uint32_t name, description, unit; /* texts */
    uint32_t type, mode;
} ot_member;

/* A metric class (of one member) or an instance of one: they share a space of references. */
typedef struct ot_metric {
    uint32_t class;          /* of an instance: the reference of its class; ROCL_NONE: a class */
    uint32_t member;         /* of a class */
    uint32_t recorder;       /* of an instance: a track, once it is joined a location's number */
    uint32_t group;          /* of an instance: a location group, known once it is joined */
    uint32_t process, agent; /* determine the group; OT_AS_RECORDER: the recorder's */
    uint32_t joined;
} ot_metric;

#define OT_AS_RECORDER ROCL_NONE

_Static_assert(sizeof(ot_region) == 16 && sizeof(ot_attribute) == 8 && sizeof(ot_member) == 20 &&
                   sizeof(ot_metric) == 28,
               "definitions are compared as bytes, and told as numbers of 32 bits");

typedef struct ot_list {
    void *items;
    size_t capacity;
    uint32_t count;
    rocl_map index; /* hash of an item -> its reference */
} ot_list;

typedef struct ot_defs {
    rocl_trace *trace;
    ot_list lists[OT_LISTS]; /* of uint32_t (texts), ot_attribute, ot_region, ot_metric */
    ot_list members;         /* of ot_member */
    uint64_t cut;            /* texts that were too long */
    bool failed;             /* memory is out; the next step reports it */
} ot_defs;

void ot_defs_free(ot_defs *d);
uint32_t ot_text(ot_defs *d, const char *s); /* interned */
OTF2_StringRef ot_string(ot_defs *d, uint32_t text);
OTF2_AttributeRef ot_attribute_ref(ot_defs *d, uint32_t name, OTF2_Type type);
OTF2_RegionRef ot_region_ref(ot_defs *d, const ot_region *r);
/* A new instance of a metric: of *instance, recorder, process and agent are used. */
OTF2_MetricRef ot_metric_new(ot_defs *d, const ot_member *m, const ot_metric *instance);
/* Appends the text in the form of OTF2: valid UTF-8 without NULs, NUL-terminated, and short enough
 * for a chunk; texts that had to be cut are counted. */
void ot_put_text(rocl_buf *b, ot_defs *d, uint32_t text);

/* From the references of a drawing to those of the archive. */
typedef struct ot_mapping {
    uint32_t *refs[OT_MAPPED]; /* NULL: the same references */
    uint32_t counts[OT_MAPPED];
    bool needed; /* some differ */
} ot_mapping;

/* Adds the definitions of a drawing to those of the archive, and makes the mapping, which is to be
 * freed in any case. */
rocl_status ot_defs_join(ot_defs *all, const ot_defs *own, ot_mapping *m, rocl_error *err);
/* Does that in steps: a mapping with room for so many references, some of its definitions
 * (m->counts says which are there), and its end. */
bool ot_mapping_open(ot_mapping *m, const uint32_t counts[OT_MAPPED]);
void ot_defs_add(ot_defs *all, const ot_defs *own, const uint32_t upto[OT_LISTS], ot_mapping *m);
void ot_mapping_close(ot_mapping *m);
void ot_mapping_free(ot_mapping *m);

/* ---- system.c -------------------------------------------------------------------------------- */

typedef struct ot_tree { /* node of the system tree */
    uint32_t name;       /* text */
    uint32_t parent;     /* tree, ROCL_NONE: the root */
    OTF2_SystemTreeDomain domain;
    uint32_t machine;    /* of nodes: that of the trace */
    const rocl_gpu *gpu; /* of devices */
} ot_tree;

/* A location group: a process, or a GPU as a process uses it. */
typedef struct ot_group {
    uint32_t name, tree;
    uint32_t creator; /* of a GPU: the group of the process; ROCL_NONE: it is a process */
    uint32_t first;   /* the first of its locations, ROCL_NONE: none yet */
    uint32_t main;    /* of a process: the thread that `first` is, ROCL_NONE: unknown */
    uint32_t ranks;   /* of a process: how many locations take part in copies */
    uint32_t window;  /* of RMA, where ranks > 0 */
    const rocl_process *process;
} ot_group;

typedef struct ot_location {
    uint32_t number; /* in the archive; ROCL_NONE: nothing has been written yet */
    uint32_t name, group;
    uint32_t base;    /* the location whose overlaps it takes, or itself */
    uint32_t rank;    /* in its process, ROCL_NONE: none */
    uint32_t mapping; /* of its references, ROCL_NONE: they are the archive's */
    uint64_t events;
    OTF2_LocationType type;
} ot_location;

typedef struct ot_system {
    rocl_trace *trace;
    ot_defs *defs;
    ot_tree *trees;
    ot_group *groups;
    ot_location *locations;
    uint32_t tree_count, group_count, location_count;
    size_t tree_capacity, group_capacity, location_capacity;
    uint32_t *machines, *devices; /* trees by machine, by GPU; ROCL_NONE: none yet */
    /* of the current capture */
    const rocl_capture *capture;
    uint32_t *processes;   /* groups; ROCL_NONE: none yet */
    rocl_map accelerators; /* (process, agent) -> group */
} ot_system;

/* After an allocation failed a function returns the first of its kind, and ot_defs.failed is set.
 */
rocl_status ot_system_open(ot_system *y, rocl_trace *t, ot_defs *d, rocl_error *err);
void ot_system_close(ot_system *y);
rocl_status ot_system_begin_capture(ot_system *y, const rocl_capture *c, rocl_error *err);
uint32_t ot_process_group(ot_system *y, uint32_t process);
/* The group of a GPU in a process; that of the process for other agents. */
uint32_t ot_agent_group(ot_system *y, uint32_t process, uint32_t agent);
bool ot_is_gpu(const ot_system *y, uint32_t agent);
bool ot_is_process(const ot_system *y, uint32_t group);

/* A new location for a track (of lane 0); for the main thread that of its process. */
uint32_t ot_track_location(ot_system *y, const rocl_track *t);
/* A further location for slices that overlap on `location`. */
uint32_t ot_lane_location(ot_system *y, uint32_t location, uint32_t lane);
/* The location that stands for all of a group. */
uint32_t ot_group_location(ot_system *y, uint32_t group);
/* Gives the location a rank among those of its process that copies go from and to, unless it has
 * one. */
void ot_rank_location(ot_system *y, uint32_t location);

/* ---- archive.c ------------------------------------------------------------------------------- */

typedef struct ot_archive ot_archive;

/* path: of the anchor file. ROCL_USAGE when a file of the archive would replace an input. Each rank
 * of a team opens one of its own, and hands it in to rank 0's. */
rocl_status ot_archive_open(ot_archive **a, const rocl_trace *t, const char *path,
                            size_t chunk_size, rocl_error *err);
void ot_archive_discard(ot_archive *a); /* NULL is fine */
/* The first complaint of libotf2 so far. */
rocl_status ot_archive_status(ot_archive *a, rocl_error *err);
/* Writers; NULL after a failure, which ot_archive_status reports. Those of events are for any
 * thread, and the caller ends them. */
OTF2_EvtWriter *ot_archive_events(ot_archive *a, OTF2_LocationRef location);
uint64_t ot_archive_events_end(ot_archive *a, OTF2_EvtWriter *w); /* the number of events */
OTF2_MarkerWriter *ot_archive_markers(ot_archive *a);
OTF2_GlobalDefWriter *ot_archive_definitions(ot_archive *a);

/* The properties of the archive and its locations. */
typedef struct ot_summary {
    const char *machine;
    uint64_t identity; /* of the trace */
    const ot_location *locations;
    const ot_mapping *mappings;
    uint32_t location_count, mapping_count;
} ot_summary;

/* Completes the files. *bytes: the size of all. */
rocl_status ot_archive_complete(ot_archive *a, const ot_summary *u, uint64_t *bytes,
                                rocl_error *err);
/* Gives them their names. Frees a. */
rocl_status ot_archive_commit(ot_archive *a, rocl_out_set *outputs, rocl_error *err);

/* Makes the files of a rank those of locations of the common archive; numbers: by the number in the
 * rank's archive; far: other machines read them. On rank 0, a becomes the common archive. */
rocl_status ot_archive_hand_in(ot_archive *a, const ot_summary *u, const uint32_t *numbers,
                               bool far, uint64_t *bytes, rocl_error *err);
/* A file of a rank beside its archive. NULL: it cannot be opened. */
FILE *ot_archive_side_file(const ot_archive *a, unsigned rank, const char *mode);
void ot_archive_remove_side_file(const ot_archive *a, unsigned rank);
rocl_status ot_archive_fail(const ot_archive *a, int why, rocl_error *err); /* errno */
/* Makes the folder of all locations, before ranks hand in theirs. */
rocl_status ot_archive_make_folder(const ot_archive *a, rocl_error *err);

/* ---- the sink -------------------------------------------------------------------------------- */

/* Names of attributes and groups of regions, interned once. */
#define OT_WORDS(X)                                                                                \
    X(UNNAMED, "(unnamed)")                                                                        \
    X(BYTES, "bytes")                                                                              \
    X(STACK_ID, "stack_id")                                                                        \
    X(DISPATCH_ID, "dispatch_id")                                                                  \
    X(QUEUE, "queue")                                                                              \
    X(STREAM, "stream")                                                                            \
    X(WORKGROUP, "workgroup_size")                                                                 \
    X(GRID, "grid_size")                                                                           \
    X(LDS, "lds_bytes")                                                                            \
    X(SCRATCH, "scratch_bytes")                                                                    \
    X(SOURCE, "src")                                                                               \
    X(DESTINATION, "dst")                                                                          \
    X(KERNELS, "kernels")                                                                          \
    X(KERNEL_DISPATCH, "KERNEL_DISPATCH")                                                          \
    X(MEMORY_COPY, "MEMORY_COPY")                                                                  \
    X(MEMORY_ALLOCATION, "MEMORY_ALLOCATION")                                                      \
    X(SCRATCH_MEMORY, "SCRATCH_MEMORY")                                                            \
    X(GRAPH_LAUNCH, "GRAPH_LAUNCH")                                                                \
    X(HIP_EVENT, "HIP_EVENT")                                                                      \
    X(BARRIER, "BARRIER")

#define OT_WORD_ENUM(id, text) W_##id,
typedef enum ot_word { OT_WORDS(OT_WORD_ENUM) OT_WORD_COUNT } ot_word;

/* A location that a drawing writes, or defers records of. */
typedef struct ot_track {
    rocl_track track;            /* of values: id is the index of the sequence */
    rocl_sequence_kind sequence; /* that it is of */
    uint32_t number;             /* in the archive; ROCL_NONE: given when drawings are joined */
    uint32_t base;               /* the track whose overlaps it takes, or itself */
    uint32_t location;           /* in the system, once it is joined */
    uint32_t deferred_index;     /* of its deferred records: see defer_record */
    uint64_t deferred;           /* how many there are */
    uint64_t events;
    bool written; /* there is a file of it */
    bool copies;  /* there are copies on it that go to or from another group */
} ot_track;

typedef struct ot_sink ot_sink;
typedef struct ot_pass ot_pass;

/* The region of an event, worked out once: slots by the low bits of its name. */
#define OT_RECENT_REGIONS 256

typedef struct ot_recent_region {
    uint32_t name, category;
    rocl_kind kind;
    OTF2_RegionRef region;
    bool known;
} ot_recent_region;

typedef struct ot_transfer { /* a copy as RMA */
    uint32_t window;
    uint64_t match; /* 0: it is none */
} ot_transfer;

typedef struct ot_open_slice {
    OTF2_RegionRef region;
    ot_transfer transfer;
} ot_open_slice;

/* Some of a pass's sequences, which one worker writes. */
typedef struct ot_drawing {
    alignas(ROCL_CACHE_LINE) rocl_drawing drawing; /* first: what the timeline hands out */
    ot_sink *sink;
    ot_pass *pass;
    size_t first; /* of its sequences */
    unsigned worker;
    ot_defs own;      /* its own references */
    ot_defs *defs;    /* those, or the archive's */
    ot_track *tracks; /* own; of the second pass: the sink's */
    uint32_t track_count;
    uint32_t first_track; /* of its own among the sink's, once they are joined */
    size_t track_capacity;
    uint32_t deferring; /* how many tracks have deferred records */
    int64_t earliest, latest;
    OTF2_AttributeList *attributes; /* of the next event */
    ot_recent_region recent[OT_RECENT_REGIONS];
    /* of the current sequence */
    uint32_t current;       /* the track that it is written to, ROCL_NONE: not known yet */
    OTF2_EvtWriter *writer; /* of that */
    ot_open_slice *open;    /* on that, outermost first */
    uint32_t depth;
    size_t open_capacity;
    uint64_t match; /* number of the last copy on it */
} ot_drawing;

/* All records of a capture, or the deferred ones. */
struct ot_pass {
    const rocl_timeline *timeline;
    uint32_t *tracks; /* of the second pass: by sequence, in ot_sink.tracks; of the first: NULL */
    ot_drawing *drawings;
    size_t drawing_count;
    size_t order[ROCL_DRAWINGS_MAX]; /* in which they are begun */
};

/* The ends of the copies of the current capture: an event names the other end by its rank in the
 * process, before the locations are known. */
typedef struct ot_peers {
    uint64_t *all; /* rocl_copy_end, sorted */
    size_t count;
    rocl_map ranks;    /* by peer */
    uint32_t *windows; /* by process */
    bool *used;        /* by process: copies name these ranks */
    uint32_t next_window;
} ot_peers;

struct ot_sink {
    rocl_timeline timeline; /* first: see rocl_encoder_sink */
    rocl_trace *trace;
    rocl_otf2_options opt;
    ot_archive *archive;
    ot_defs defs;
    ot_system system;
    ot_mapping *mappings;
    uint32_t mapping_count;
    size_t mapping_capacity;
    uint32_t next_number;          /* of a location */
    uint32_t words[OT_WORD_COUNT]; /* texts */
    bool markers_defined;
    int64_t earliest, latest;
    rocl_timeline_counts counts;
    uint64_t bytes; /* of all files, once they are complete */
    uint32_t all_locations;
    /* of a rank of a team: see team.c */
    rocl_buf captures; /* what it tells rank 0 of each capture */
    uint32_t *begins;  /* the number of the first location of each */
    size_t begin_count, begin_capacity;
    FILE *side; /* its markers */
    uint64_t side_bytes, side_first;
    /* of the current capture */
    uint32_t first_number;
    ot_pass passes[2];
    rocl_timeline settled; /* of the second pass, with sequences of its own */
    rocl_sorter *deferred; /* the input of the second pass */
    rocl_sorter *markers;  /* until the events of all locations are written */
    ot_track *tracks;      /* of all drawings of the first pass */
    uint32_t track_count;
    ot_peers peers;
    uint32_t *labels; /* texts, of queues and then of streams; NULL: events do not name them */
};

/* ---- draw.c ---------------------------------------------------------------------------------- */

extern const rocl_timeline_ops ot_ops;
/* Ends the events of the track that is written, if there is one. */
void ot_end_track(rocl_drawing *p);

/* ---- regions.c ------------------------------------------------------------------------------- */

/* They describe the current event. */
OTF2_RegionRef ot_event_region(ot_drawing *p);
OTF2_AttributeList *ot_event_attributes(ot_drawing *p); /* NULL: it has none */

/* ---- locations.c ----------------------------------------------------------------------------- */

/* What the current capture needs, in this order, once its events are written: */
bool ot_number_peers(ot_sink *s);                          /* windows and ranks of s->peers.all */
rocl_status ot_locate_tracks(ot_sink *s, rocl_error *err); /* locations of s->tracks */
void ot_settle_metric(ot_sink *s, ot_metric *m, const ot_track *recorder);
void ot_settle_capture(ot_sink *s); /* counts of events, ranks of locations */
void ot_forget_tracks(ot_sink *s);

typedef struct ot_marker {
    uint64_t location, time, duration;
    uint32_t name; /* text */
} ot_marker;

rocl_status ot_write_marker(ot_sink *s, const ot_marker *m, rocl_buf *text, rocl_error *err);

rocl_status ot_complete_locations(ot_sink *s, rocl_error *err);
ot_summary ot_summarize(const ot_sink *s);

/* ---- team.c ---------------------------------------------------------------------------------- */

/* Notes what rank 0 must know of the current capture. */
rocl_status ot_note_capture(ot_sink *s, const rocl_capture *c, rocl_error *err);
rocl_status ot_store_marker(ot_sink *s, const ot_marker *m, rocl_error *err);
/* Instead of ending an archive: joins the archives of all ranks. */
rocl_status ot_complete_together(ot_sink *s, rocl_error *err);

/* ---- global.c -------------------------------------------------------------------------------- */

rocl_status ot_write_definitions(ot_sink *s, rocl_error *err);

/* The OTF2 sink, on libotf2:
 *
 *     otf2.c      the sink: batches -> sorted records -> the rooms below, in one pass per capture
 *     archive.c   the archive: its files, memory and errors, and its place among other files
 *     local_defs.c  files of definitions by location
 *     defs.c      definitions by name: strings, regions, attributes, metrics
 *     world.c     machines, GPUs, processes, locations, ranks
 *     write.c     all definitions into the archive, when everything is known
 *     rows.c      slices -> Enter and Leave, location by location
 *     host.c      host calls, markers and marks
 *     gpu.c       GPU work: which location it belongs to, copies as RMA
 *     metrics.c   counter values and bytes over time
 *
 * Records are sorted by (location, time): one location is written after the other, and one writer
 * of libotf2 is open at a time, whatever the number of locations. */
#ifndef ROCL_SINK_OTF2_OT_H
#define ROCL_SINK_OTF2_OT_H

#include <otf2/otf2.h>

#include "base/array.h"
#include "base/map.h"
#include "model/gpus.h"
#include "model/trace.h"
#include "sink/labels.h"
#include "sink/lanes.h"
#include "sink/pack.h"

/* ---- archive.c ---- */

typedef struct ot_archive ot_archive;

/* path: of the anchor file. ROCL_USAGE when a file of the archive would replace an input. */
rocl_status ot_archive_open(ot_archive **a, const rocl_trace *t, const char *path, size_t chunk,
                            rocl_error *err);
void ot_archive_discard(ot_archive *a); /* NULL is fine */
/* Writers; NULL after a failure, which ot_archive_status tells. Those of events are closed by
 * the caller, one before the next is asked for. */
OTF2_EvtWriter *ot_archive_events(ot_archive *a, OTF2_LocationRef location);
uint64_t ot_archive_events_end(ot_archive *a, OTF2_EvtWriter *w); /* how many there are */
OTF2_MarkerWriter *ot_archive_markers(ot_archive *a);
OTF2_GlobalDefWriter *ot_archive_definitions(ot_archive *a);
/* What libotf2 has complained about so far. */
rocl_status ot_archive_status(const ot_archive *a, rocl_error *err);
void ot_archive_describe(ot_archive *a, const char *machine);
/* Completes the files (local definitions for locations below `locations`), and gives them their
 * names. identity: of the trace. Frees a. */
rocl_status ot_archive_commit(ot_archive *a, uint32_t locations, uint64_t identity, uint64_t *bytes,
                              rocl_error *err);

/* ---- local_defs.c ---- */

/* FOLDER/0.def also as 1.def and so on. False: errno says why. */
bool ot_copy_definitions(const char *folder, uint32_t locations);

/* ---- defs.c: numbers of things by what they are, given out in the order of asking ---- */

typedef struct ot_region {
    uint32_t name, category; /* texts; category: of the first that asked */
    uint8_t paradigm, role;
} ot_region;

typedef struct ot_attribute {
    uint32_t name; /* text */
    uint8_t type;
} ot_attribute;

typedef struct ot_member {            /* of metrics */
    uint32_t name, description, unit; /* texts */
    uint8_t type, mode;
} ot_member;

/* Metric classes (of one member each) and their instances have one space of numbers. */
typedef struct ot_metric {
    uint32_t class;  /* of an instance: the number of its class; ROCL_NONE: it is a class */
    uint32_t member; /* of a class */
    uint32_t recorder, group; /* of an instance: a location, a location group */
} ot_metric;

typedef struct ot_defs {
    rocl_trace *trace;
    uint32_t *string_refs; /* by text: ref + 1, 0: none yet */
    uint32_t *strings;     /* texts by ref */
    ot_region *regions;
    ot_attribute *attributes;
    ot_member *members;
    ot_metric *metrics;
    uint32_t text_cap, string_count, region_count, attribute_count, member_count, metric_count;
    size_t string_cap, region_cap, attribute_cap, member_cap, metric_cap;
    rocl_map region_index, attribute_index, member_index;
    uint64_t cut; /* texts that were too long */
    bool failed;  /* memory was out; the next step tells */
} ot_defs;

void ot_defs_free(ot_defs *d);
OTF2_StringRef ot_string(ot_defs *d, uint32_t text);
/* Appends the text as OTF2 takes it: valid UTF-8 that ends with the first NUL, and fits in a chunk;
 * what had to be cut is counted. */
void ot_put_text(rocl_buf *b, ot_defs *d, uint32_t text);
OTF2_StringRef ot_string_of(ot_defs *d, const char *s);
uint32_t ot_text(ot_defs *d, const char *s); /* interned */
OTF2_RegionRef ot_region_of(ot_defs *d, uint32_t name, uint32_t category, OTF2_Paradigm paradigm,
                            OTF2_RegionRole role);
OTF2_AttributeRef ot_attribute_of(ot_defs *d, uint32_t name, OTF2_Type type);
/* The number of a new instance of a metric that is recorded at a location, about a location group.
 */
uint32_t ot_metric_of(ot_defs *d, const ot_member *m, uint32_t recorder, uint32_t group);

/* ---- world.c ---- */

typedef struct ot_tree { /* node of the system tree */
    uint32_t name;       /* text */
    uint32_t parent;
    OTF2_SystemTreeDomain domain;
    const rocl_node *node; /* of machines */
    const rocl_gpu *gpu;   /* of devices */
} ot_tree;

typedef struct ot_group { /* location group */
    uint32_t name, tree;
    uint32_t creator; /* the group of its process; ROCL_NONE: it is one */
    uint32_t first;   /* a location that is there from the start, ROCL_NONE: not yet */
    uint32_t main;    /* processes: thread that it stands for, ROCL_NONE: unknown */
    bool waiting;     /* `first` has not got its work yet */
    uint32_t ranks;   /* processes: how many locations take part in copies */
    uint32_t window;  /* of RMA, where ranks > 0 */
    const rocl_process *process;
} ot_group;

typedef struct ot_location {
    uint32_t name, group;
    uint32_t beside; /* the location whose overlaps it takes, or itself */
    uint32_t rank;   /* in its process, ROCL_NONE: none */
    uint64_t events;
    OTF2_LocationType type;
    bool written;
} ot_location;

/* Places of work on an agent. */
typedef enum ot_place_kind {
    OT_STREAM,
    OT_QUEUE,
    OT_COPIES,
    OT_MEMORY,
    OT_SCRATCH,
    OT_GRAPHS,
    OT_PLACES
} ot_place_kind;

typedef struct ot_world {
    rocl_trace *trace;
    ot_defs *defs;
    bool by_queue;
    rocl_gpus gpus;
    ot_tree *trees;
    ot_group *groups;
    ot_location *locations;
    uint32_t tree_count, group_count, location_count, window_count;
    size_t tree_cap, group_cap, location_cap;
    uint32_t *machines, *devices; /* trees by machine, by GPU; ROCL_NONE: none yet */
    /* of the capture at hand */
    const rocl_capture *capture;
    uint32_t *processes;    /* groups; ROCL_NONE: none yet */
    rocl_map accelerators;  /* (process, agent) -> group */
    uint32_t indexes, fold; /* of GPU work: per process; places that share one */
} ot_world;

/* What cannot be had for want of memory is the first of its kind, and ot_defs has failed. */
rocl_status ot_world_open(ot_world *w, rocl_trace *t, ot_defs *d, rocl_error *err);
void ot_world_close(ot_world *w);
rocl_status ot_world_capture(ot_world *w, const rocl_capture *c, rocl_error *err);
uint32_t ot_process_group(ot_world *w, uint32_t process);
/* The group of a GPU in a process; that of the process for other agents. */
uint32_t ot_agent_group(ot_world *w, uint32_t process, uint32_t agent);
/* The process of a location of the capture at hand. */
uint32_t ot_location_process(const ot_world *w, uint32_t location);
bool ot_is_process(const ot_world *w, uint32_t group);
uint32_t ot_location_new(ot_world *w, uint32_t group, OTF2_LocationType type, const char *name);
uint32_t ot_location_beside(ot_world *w, uint32_t location, uint32_t number);
uint32_t ot_thread_location(ot_world *w, uint32_t process, uint32_t thread);
/* A location for streams of a group, maybe the one that was waiting. */
uint32_t ot_stream_location(ot_world *w, uint32_t group, const char *name);
/* The location that stands for all of a group. */
uint32_t ot_group_location(ot_world *w, uint32_t group);
/* The location's rank among those of its process that copies go from and to. */
uint32_t ot_rank(ot_world *w, uint32_t location);
OTF2_RmaWinRef ot_window(const ot_world *w, uint32_t location);

/* ---- the sink ---- */

/* Names of attributes and groups, interned once. */
typedef enum ot_word {
    W_UNNAMED,
    W_BYTES,
    W_CATEGORY,
    W_STACK_ID,
    W_DISPATCH_ID,
    W_QUEUE,
    W_STREAM,
    W_WORKGROUP,
    W_GRID,
    W_LDS,
    W_SCRATCH,
    W_SOURCE,
    W_DESTINATION,
    W_KERNELS,
    W_KERNEL_DISPATCH,
    W_MEMORY_COPY,
    W_MEMORY_ALLOCATION,
    W_SCRATCH_MEMORY,
    W_GRAPH_LAUNCH,
    W_HIP_EVENT,
    W_BARRIER,
    OT_WORDS
} ot_word;

/* The region of a call, worked out once: by the name's low bits. */
#define OT_CALLS 256

typedef struct ot_call {
    uint32_t name, category;
    rocl_kind kind;
    OTF2_RegionRef region;
    bool known;
} ot_call;

typedef struct ot_sink {
    rocl_packer packer; /* first: see rocl_packer_sink */
    rocl_trace *trace;
    rocl_otf2_options opt;
    ot_archive *archive;
    OTF2_AttributeList *attributes;
    ot_defs defs;
    ot_world world;
    rocl_sorter *moved; /* slices of further lanes, until the first ones are written */
    rocl_sorter *input; /* what is read: packer.sorter, then moved */
    rocl_record record; /* at hand */
    rocl_packed event;  /* the same, unpacked */
    bool more;
    bool marked;      /* the definition of markers has been written */
    int64_t from, to; /* the time window */
    int64_t first, last;
    uint64_t match; /* number of the last copy */
    rocl_otf2_report report;
    uint32_t words[OT_WORDS]; /* texts */
    ot_call calls[OT_CALLS];
} ot_sink;

/* Reads the next record into s->record and s->event; s->more false at the end. */
rocl_status ot_next(ot_sink *s, rocl_error *err);
static inline bool ot_same(const ot_sink *s, rocl_room room, uint32_t index)
{
    return s->more && s->event.room == room && s->event.index == index;
}
/* Begins and ends the events of a location. */
OTF2_EvtWriter *ot_location_begin(ot_sink *s, uint32_t location);
void ot_location_end(ot_sink *s, uint32_t location, OTF2_EvtWriter *w);
/* Every time that is written passes through here. */
static inline OTF2_TimeStamp ot_time(ot_sink *s, int64_t time)
{
    s->first = time < s->first ? time : s->first;
    s->last = time > s->last ? time : s->last;
    return (OTF2_TimeStamp)time;
}

/* Attributes of the next event. */
void ot_note_uint(ot_sink *s, uint32_t name, uint64_t v);
void ot_note_int(ot_sink *s, uint32_t name, int64_t v);
void ot_note_text(ot_sink *s, uint32_t name, uint32_t text);

/* A region has the category of the first event that it is of; to one of another category, the event
 * at hand, that is noted. */
void ot_note_category(ot_sink *s, OTF2_RegionRef region, uint32_t category);

/* ---- rows.c ---- */

/* Where the slices of a room go. */
typedef struct ot_rows_ops {
    uint64_t (*key)(const ot_sink *s); /* the same for events at hand that share a location */
    uint32_t (*location)(ot_sink *s);  /* a new one for the event at hand */
    bool nest;                         /* slices may lie in each other */
} ot_rows_ops;

/* Writes slices as long as they are of the room and index at hand: those of the location of the
 * first at once, all others come again in s->moved, with their location as the index. */
rocl_status ot_write_rows(ot_sink *s, const ot_rows_ops *ops, rocl_error *err);

/* ---- host.c, gpu.c: of the event at hand ---- */

uint32_t ot_host_location(ot_sink *s);
OTF2_RegionRef ot_host_region(ot_sink *s, const rocl_packed *e);
void ot_host_notes(ot_sink *s, rocl_packed *e);
void ot_write_marker(ot_sink *s, const rocl_packed *e, uint32_t location);

rocl_place_fn ot_place; /* ctx: the world */
uint32_t ot_work_process(const ot_sink *s);
uint64_t ot_work_key(const ot_sink *s);
uint32_t ot_work_location(ot_sink *s);
OTF2_RegionRef ot_work_region(ot_sink *s, const rocl_packed *e);
void ot_work_notes(ot_sink *s, const rocl_packed *e);

typedef struct ot_transfer { /* a copy as RMA */
    uint32_t window, remote;
    uint64_t match; /* 0: it is none */
} ot_transfer;

/* Writes the begin of a copy between a GPU and something else. */
ot_transfer ot_transfer_begin(ot_sink *s, OTF2_EvtWriter *w, uint32_t location,
                              const rocl_packed *e);
void ot_transfer_end(ot_sink *s, OTF2_EvtWriter *w, const ot_transfer *t, int64_t time);

/* ---- metrics.c: each writes one location ---- */

rocl_status ot_write_allocated(ot_sink *s, rocl_error *err);
rocl_status ot_write_bandwidth(ot_sink *s, rocl_error *err);
rocl_status ot_write_pmc(ot_sink *s, rocl_error *err);
rocl_status ot_write_sampled(ot_sink *s, rocl_error *err);

/* ---- order.c ---- */

typedef struct ot_order {
    uint32_t *trees, *groups, *locations;
    uint32_t *tree_refs, *group_refs; /* their numbers in the archive: locations keep theirs */
} ot_order;

/* To be freed in any case. */
rocl_status ot_order_make(ot_order *o, const ot_world *w, rocl_error *err);
void ot_order_free(ot_order *o);

/* ---- write.c ---- */

rocl_status ot_write_definitions(ot_sink *s, rocl_error *err);

#endif

/* The OTF2 sink, on libotf2:
 *
 *     otf2.c        the sink: batches -> sorted records -> passes, in two of them per capture
 *     part.c        a part of a pass: some sequences of records, location by location
 *     rows.c        slices -> Enter and Leave
 *     host.c        host calls, markers and marks
 *     gpu.c         GPU work: which location it belongs to, copies as RMA
 *     metrics.c     counter values and bytes over time
 *     marks.c       markers, which stand apart from the events
 *     found.c       locations that parts came upon -> the world
 *     ranks.c       who takes part in copies
 *     world.c       machines, GPUs, processes, locations, ranks
 *     defs.c        definitions by name: strings, regions, attributes, metrics
 *     order.c       the order that definitions are written in
 *     write.c       all definitions into the archive, when everything is known
 *     archive.c     the archive: its files, memory and errors, and its place among other files
 *     local_defs.c  files of definitions by location
 *
 * Records are sorted by (location, time): one location is written after the other, by as many
 * threads as there are, each with one writer of libotf2 at a time, whatever the number of
 * locations. What overlaps on a location is put aside, and written to further ones in the second
 * pass. Parts number strings, regions and so on by themselves; tables beside their locations say
 * which of the archive's definitions these are. How records are cut to parts depends on them alone,
 * and so does every byte. */
#ifndef ROCL_SINK_OTF2_OT_H
#define ROCL_SINK_OTF2_OT_H

#include <otf2/otf2.h>
#include <stdalign.h>

#include "base/array.h"
#include "base/map.h"
#include "model/gpus.h"
#include "model/trace.h"
#include "timeline/labels.h"
#include "timeline/lanes.h"
#include "timeline/record.h"

/* ---- defs.c: numbers of things by what they are, given out in the order of asking ---- */

typedef struct ot_region {
    uint32_t name, category; /* texts */
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
    uint32_t class;          /* of an instance: the number of its class; ROCL_NONE: it is a class */
    uint32_t member;         /* of a class */
    uint32_t recorder;       /* of an instance: a location, in `found` at first */
    uint32_t group;          /* of an instance: a location group, known once it is joined */
    uint32_t process, agent; /* that the group follows from; OT_AS_RECORDER: the recorder's */
    bool joined;             /* recorder and group are those of the archive */
} ot_metric;

#define OT_AS_RECORDER ROCL_NONE

typedef struct ot_defs {
    rocl_trace *trace;
    uint32_t *strings; /* texts by ref */
    ot_region *regions;
    ot_attribute *attributes;
    ot_member *members;
    ot_metric *metrics;
    uint32_t string_count, region_count, attribute_count, member_count, metric_count;
    size_t string_cap, region_cap, attribute_cap, member_cap, metric_cap;
    rocl_map string_index, region_index, attribute_index, member_index;
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
OTF2_RegionRef ot_region_of(ot_defs *d, const ot_region *r);
OTF2_AttributeRef ot_attribute_of(ot_defs *d, uint32_t name, OTF2_Type type);
/* The number of a new instance of a metric: of it, recorder, process and agent are used. */
uint32_t ot_metric_of(ot_defs *d, const ot_member *m, const ot_metric *instance);

/* From the numbers that a part gave out to those of the archive. */
typedef enum ot_numbered {
    OT_STRINGS,
    OT_ATTRIBUTES,
    OT_REGIONS,
    OT_METRICS,
    OT_NUMBERED
} ot_numbered;

typedef struct ot_table {
    uint32_t *refs[OT_NUMBERED]; /* NULL: the same numbers */
    uint32_t counts[OT_NUMBERED];
} ot_table;

/* Adds what a part has to what the archive has, and makes the table. */
rocl_status ot_defs_join(ot_defs *all, const ot_defs *part, ot_table *t, rocl_error *err);
bool ot_table_is_needed(const ot_table *t);
void ot_table_free(ot_table *t);

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
    uint32_t first;   /* the first of its locations, ROCL_NONE: none yet */
    uint32_t main;    /* processes: thread that `first` stands for, ROCL_NONE: unknown */
    uint32_t ranks;   /* processes: how many locations take part in copies */
    uint32_t window;  /* of RMA, where ranks > 0 */
    const rocl_process *process;
} ot_group;

typedef struct ot_location {
    uint32_t number; /* in the archive; ROCL_NONE: nothing has been written yet */
    uint32_t name, group;
    uint32_t beside; /* the location whose overlaps it takes, or itself */
    uint32_t rank;   /* in its process, ROCL_NONE: none */
    uint32_t table;  /* of its numbers, ROCL_NONE: they are the archive's */
    uint64_t events;
    OTF2_LocationType type;
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
    uint32_t tree_count, group_count, location_count;
    size_t tree_cap, group_cap, location_cap;
    uint32_t *machines, *devices; /* trees by machine, by GPU; ROCL_NONE: none yet */
    /* of the capture at hand */
    const rocl_capture *capture;
    uint32_t *processes;    /* groups; ROCL_NONE: none yet */
    rocl_map accelerators;  /* (process, agent) -> group */
    uint32_t indexes, fold; /* of GPU work: per process; places that share one */
    uint32_t *labels;       /* texts, of queues and then of streams; NULL: not asked for */
} ot_world;

/* What cannot be had for want of memory is the first of its kind, and ot_defs has failed. */
rocl_status ot_world_open(ot_world *w, rocl_trace *t, ot_defs *d, rocl_error *err);
void ot_world_close(ot_world *w);
rocl_status ot_world_capture(ot_world *w, const rocl_capture *c, rocl_error *err);
uint32_t ot_process_group(ot_world *w, uint32_t process);
/* The group of a GPU in a process; that of the process for other agents. */
uint32_t ot_agent_group(ot_world *w, uint32_t process, uint32_t agent);
bool ot_is_process(const ot_world *w, uint32_t group);
/* Has the agent a group of its own? */
bool ot_is_gpu(const ot_world *w, uint32_t agent);
uint32_t ot_location_new(ot_world *w, uint32_t group, OTF2_LocationType type, const char *name);
uint32_t ot_location_beside(ot_world *w, uint32_t location, uint32_t number);
uint32_t ot_thread_location(ot_world *w, uint32_t process, uint32_t thread);
/* A location for streams of a group. */
uint32_t ot_stream_location(ot_world *w, uint32_t group, const char *name);
/* The location that stands for all of a group. */
uint32_t ot_group_location(ot_world *w, uint32_t group);
/* Gives the location a rank among those of its process that copies go from and to, unless it has
 * one. */
void ot_rank_new(ot_world *w, uint32_t location);

/* ---- archive.c ---- */

typedef struct ot_archive ot_archive;

/* Locations and what their numbers mean. */
typedef struct ot_locals {
    const ot_location *locations;
    const ot_table *tables;
    uint32_t location_count, table_count;
} ot_locals;

/* path: of the anchor file. ROCL_USAGE when a file of the archive would replace an input. */
rocl_status ot_archive_open(ot_archive **a, const rocl_trace *t, const char *path, size_t chunk,
                            rocl_error *err);
void ot_archive_discard(ot_archive *a); /* NULL is fine */
/* Writers; NULL after a failure, which ot_archive_status tells. Those of events are for any thread,
 * and closed by the caller. */
OTF2_EvtWriter *ot_archive_events(ot_archive *a, OTF2_LocationRef location);
uint64_t ot_archive_events_end(ot_archive *a, OTF2_EvtWriter *w); /* how many there are */
OTF2_MarkerWriter *ot_archive_markers(ot_archive *a);
OTF2_GlobalDefWriter *ot_archive_definitions(ot_archive *a);
/* What libotf2 has complained about so far. */
rocl_status ot_archive_status(ot_archive *a, rocl_error *err);
void ot_archive_describe(ot_archive *a, const char *machine);
/* Completes the files, and gives them their names. identity: of the trace. Frees a. */
rocl_status ot_archive_commit(ot_archive *a, const ot_locals *l, uint64_t identity, uint64_t *bytes,
                              rocl_error *err);

/* ---- local_defs.c ---- */

/* Writes the definitions of one location for each table, and of one without. False: libotf2 has
 * failed, or memory is out. */
bool ot_write_local_definitions(OTF2_Archive *a, const ot_locals *l);
/* Copies them for all others. folder: of the archive. False: errno says why. */
bool ot_copy_local_definitions(const char *folder, const ot_locals *l);

/* ---- the sink ---- */

/* Names of attributes and groups, interned once. */
typedef enum ot_word {
    W_UNNAMED,
    W_BYTES,
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

/* The region of an event, worked out once: by the low bits of its name. */
#define OT_CALLS 256

typedef struct ot_call {
    uint32_t name, category;
    rocl_kind kind;
    OTF2_RegionRef region;
    bool known;
} ot_call;

/* A location that a part has come upon, and what it is of. */
typedef struct ot_found {
    uint32_t number;   /* in the archive; ROCL_NONE: is given when all of the pass are known */
    uint32_t beside;   /* the one in `found` whose overlaps it takes, or itself */
    uint32_t lane;     /* among these, from 0 */
    uint32_t location; /* in the world, once it is joined */
    uint64_t events;
    uint64_t aside; /* records that wait for the second pass */
    uint32_t waits; /* under this index */
    bool written;   /* there is a file of it */
    bool copies;    /* there are transfers on it */
    rocl_sequence_kind sequence;
    rocl_kind kind;
    uint32_t index; /* of the records */
    uint32_t process, agent, queue, stream;
} ot_found;

typedef struct ot_sink ot_sink;
typedef struct ot_pass ot_pass;

/* Some of a pass's sequences, and what is at hand while they are written. */
typedef struct ot_part {
    alignas(ROCL_CACHE_LINE) ot_sink *sink;
    ot_pass *pass;
    size_t number;                     /* in the pass, and among the parts of its sorter */
    size_t first, at, last;            /* sequences */
    unsigned worker;                   /* that writes it */
    ot_defs own;                       /* of strings, regions ... */
    ot_defs *defs;                     /* that, or those of the archive */
    ot_found *found;                   /* locations */
    uint32_t found_count, found_first; /* first: once joined, in the sink's */
    size_t found_cap;
    uint32_t waiting; /* how many of them have records put aside */
    uint32_t taken;   /* records, modulo what fits */
    OTF2_AttributeList *attributes;
    rocl_sort_record record;
    rocl_track_event event; /* the same, unpacked */
    bool more;
    int64_t earliest, latest;
    rocl_otf2_report report;
    ot_call calls[OT_CALLS];
} ot_part;

/* All records of a capture, or those of them that were put aside. */
struct ot_pass {
    rocl_sorter *input;
    rocl_sequence *sequences;
    uint32_t *places; /* of the second pass: which of the locations found, by sequence */
    size_t sequence_count;
    ot_part *parts;
    size_t part_count;
};

/* Who takes part in copies of the capture at hand. */
typedef struct ot_ends {
    uint64_t *all; /* rocl_copy_end, in order */
    size_t count;
    rocl_map ranks;    /* by end */
    uint32_t *windows; /* by process */
    bool *used;        /* by process: there are transfers */
    uint32_t next_window;
} ot_ends;

struct ot_sink {
    rocl_encoder encoder; /* first: see rocl_encoder_sink */
    rocl_trace *trace;
    rocl_otf2_options opt;
    ot_archive *archive;
    ot_defs defs;
    ot_world world;
    ot_table *tables;
    uint32_t table_count;
    size_t table_cap;
    uint32_t next_number; /* of a location */
    /* of the capture at hand */
    ot_pass first, second;
    rocl_sorter *aside; /* the input of the second pass */
    rocl_sorter *marks; /* markers, until all events are written */
    ot_found *found;    /* of all parts of the first pass */
    uint32_t found_count;
    ot_ends ends;
    int64_t from, to; /* the time window */
    bool marked;      /* the definition of markers has been written */
    int64_t earliest, latest;
    rocl_otf2_report report;
    uint32_t words[OT_WORDS]; /* texts */
};

/* ---- part.c ---- */

/* The pass's input, sequences (and places) are set: cuts them to parts, and writes them. */
rocl_status ot_pass_write(ot_sink *s, ot_pass *p, rocl_error *err);
void ot_pass_free(ot_pass *p);
/* Adds what the parts have defined and counted to the sink's. After their locations are joined. */
rocl_status ot_pass_join(ot_sink *s, ot_pass *p, rocl_error *err);

/* Reads the next record into p->record and p->event; p->more false at the end. */
rocl_status ot_next(ot_part *p, rocl_error *err);
static inline bool ot_same(const ot_part *p, rocl_sequence_kind kind, uint32_t index)
{
    return p->more && p->event.sequence == kind && p->event.index == index;
}
/* The location of the sequence at hand, or another one beside it: a place in p->found, which may
 * move; ROCL_NONE: memory is out. */
uint32_t ot_part_location(ot_part *p, bool another);
/* Begins and ends the events of a location. */
OTF2_EvtWriter *ot_location_begin(ot_part *p, uint32_t place);
void ot_location_end(ot_part *p, uint32_t place, OTF2_EvtWriter *w);
/* Every time that is written passes through here. */
static inline OTF2_TimeStamp ot_time(ot_part *p, int64_t time)
{
    p->earliest = time < p->earliest ? time : p->earliest;
    p->latest = time > p->latest ? time : p->latest;
    return (OTF2_TimeStamp)time;
}

/* Attributes of the next event. */
void ot_note_uint(ot_part *p, uint32_t name, uint64_t v);
void ot_note_int(ot_part *p, uint32_t name, int64_t v);
void ot_note_text(ot_part *p, uint32_t name, uint32_t text);

/* ---- found.c ---- */

/* A new one, of the event at hand. */
uint32_t ot_found_new(ot_part *p, uint32_t number);
/* Gives a place in the world to all that the parts of a pass have found. */
rocl_status ot_found_join(ot_sink *s, ot_pass *p, rocl_error *err);
/* What of it waits for the second pass. */
rocl_status ot_found_aside(ot_sink *s, ot_pass *second, rocl_error *err);
/* Tells the world how much has been written. */
void ot_found_finish(ot_sink *s);

/* ---- rows.c ---- */

/* How the slices of a sequence lie. */
typedef struct ot_rows_ops {
    uint64_t (*key)(const ot_part *p); /* the same for events at hand that share a location */
    bool nest;                         /* slices may lie in each other */
} ot_rows_ops;

/* Writes slices as long as they are of the kind and index at hand: those of the location of the
 * first at once, all others are put aside. */
rocl_status ot_write_rows(ot_part *p, const ot_rows_ops *ops, rocl_error *err);

/* ---- host.c, gpu.c: of the event at hand ---- */

uint32_t ot_host_process(const ot_part *p);
uint32_t ot_host_location(ot_world *w, const ot_found *f);
ot_region ot_host_region(const ot_part *p, const rocl_track_event *e);
void ot_host_notes(ot_part *p, rocl_track_event *e);

rocl_index_fn ot_place; /* ctx: the world */
uint32_t ot_work_process(const ot_part *p);
uint64_t ot_work_key(const ot_part *p);
uint32_t ot_work_location(ot_world *w, const ot_found *f);
ot_region ot_work_region(const ot_part *p, const rocl_track_event *e);
void ot_work_notes(ot_part *p, const rocl_track_event *e);

typedef struct ot_transfer { /* a copy as RMA */
    uint32_t window;
    uint64_t match; /* 0: it is none */
} ot_transfer;

/* Writes the begin of a copy between a GPU and something else; match: of the next one. */
ot_transfer ot_transfer_begin(ot_part *p, OTF2_EvtWriter *w, ot_found *f, const rocl_track_event *e,
                              uint64_t *match);
void ot_transfer_end(ot_part *p, OTF2_EvtWriter *w, const ot_transfer *t, int64_t time);

/* ---- metrics.c: each writes one location ---- */

rocl_status ot_write_allocated(ot_part *p, rocl_error *err);
rocl_status ot_write_bandwidth(ot_part *p, rocl_error *err);
rocl_status ot_write_pmc(ot_part *p, rocl_error *err);
rocl_status ot_write_sampled(ot_part *p, rocl_error *err);
uint32_t ot_metric_process(const ot_part *p);
uint32_t ot_metric_location(ot_world *w, const ot_found *f);
/* The location group that an instance is about. */
uint32_t ot_metric_group(ot_world *w, const ot_metric *m, const ot_found *recorder);

/* ---- marks.c ---- */

/* Keeps the event at hand, if somebody set it as a mark. */
rocl_status ot_keep_mark(ot_part *p, uint32_t number, rocl_error *err);
rocl_status ot_write_marks(ot_sink *s, rocl_error *err);

/* ---- ranks.c ---- */

rocl_status ot_ends_begin(ot_sink *s, rocl_error *err);
void ot_ends_forget(ot_ends *e);
/* The rank of an end of a process's copies; windows are by process. */
static inline uint32_t ot_end_rank(const ot_ends *e, uint32_t process, uint32_t agent)
{
    return rocl_map_get(&e->ranks, rocl_copy_end(process, agent), 0);
}
/* Gives locations the ranks that copies have named. */
void ot_ends_join(ot_sink *s);

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

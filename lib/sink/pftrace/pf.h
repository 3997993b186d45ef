/* The Perfetto sink, file by file:
 *
 *     pftrace.c    the sink: batches -> sorted records -> drawings, once per capture; the file:
 *                  blocks of packets, compressed by the workers of a pipe
 *     drawing.c    what the timeline draws of a range, block by block in turn
 *     sequence.c   packet sequences: times as differences, interning, annotations
 *     owners.c     machines, GPUs, processes, threads: ids and descriptors
 *     host.c       host slices on thread tracks
 *     gpu.c        GPU work as typed GPU events
 *     legacy.c     GPU work as plain track events in AMD's layout
 *     values.c     bytes over time, counters of dispatches, samples
 *
 * Records are sorted by (sequence, time), so each packet sequence is written from begin to end with
 * times as differences; the reader sorts all sequences into one again. Several drawings are written
 * at once, and what one writes depends on no other: the file is the same for any number of workers.
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "base/proto.h"
#include "base/text.h"
#include "model/identity.h"
#include "model/trace.h"
#include "timeline/timeline.h"
#include "sink/piped.h"
#include "format/perfetto.h"

/* Blocks of raw packets: below the 512 KiB that readers expect of a compressed packet at most. */
#define PF_BLOCK (256u << 10)

typedef struct pf_drawing pf_drawing;

/* ---- sequence.c ---- */

/* What a packet has before its event: two lengths and two ids with their tags; and these ids. */
#define PF_HEAD 24
#define PF_IDS  16

/* Where a packet has its ids: of its sequence and machine. */
enum pf_ids { PF_IDS_FIRST, PF_IDS_LAST, PF_IDS_PLACES };

/* What packets begin with, their lengths still 0. */
typedef struct pf_head {
    uint32_t field; /* the event field at its end; 0: not made yet */
    uint8_t len;
    uint8_t bytes[PF_HEAD];
} pf_head;

/* Bytes that are reserved for an event when it has begun. */
#define PF_EVENT_BYTES 512

/* A packet sequence: its id, its clock, and what has been interned on it. */
enum pf_intern {
    PF_NAMES,
    PF_CATEGORIES,
    PF_ANNOTATIONS,
    PF_KERNELS,
    PF_ARG_NAMES,
    PF_STRINGS,
    PF_INTERNS
};

/* The iids of one table, for the sequence that is written: an entry of another one is stale. */
typedef struct pf_iids {
    struct {
        uint32_t sequence, iid;
    } * entries; /* by key */
    size_t cap;
} pf_iids;

typedef struct pf_seq {
    const rocl_trace *trace;
    rocl_buf *block; /* where packets go */
    pf_iids iids[PF_INTERNS];
    uint32_t id;
    uint32_t machine; /* machine_id of its packets, 0 the first */
    int64_t now;      /* time of the last packet, ns */
    uint32_t next_iid[PF_INTERNS];
    rocl_buf pending;  /* interned data to go with the next packet */
    size_t packet;     /* where in the block the packet under construction begins */
    size_t body;       /* and its event */
    uint64_t delta;    /* of its time */
    enum pf_ids place; /* of its ids */
    pf_head heads[PF_IDS_PLACES];
    uint8_t ids_len;
    uint8_t ids[PF_IDS];
} pf_seq;

/* Begins a sequence (in place of the one before) whose times are differences, the first to `from`;
 * events on it are on `track` unless they say otherwise (0: none). */
void pf_seq_begin(pf_seq *q, uint32_t id, uint32_t machine, int64_t from, uint64_t track);
void pf_seq_free(pf_seq *q);
/* Ends a packet whose lengths take more than a byte each, or with pending interned data. */
void pf_event_end_long(pf_seq *q);
void pf_head_make(pf_seq *q, uint32_t field, enum pf_ids place);

/* Begins a packet with an event as its `field`, at `time` (>= the last one's): the buffer for the
 * event's fields, which unless it has failed has reserved PF_EVENT_BYTES bytes. No other packet can
 * be written before pf_event_end. */
static inline rocl_buf *pf_packet_begin(pf_seq *q, uint32_t field, int64_t time, enum pf_ids place)
{
    rocl_buf *b = q->block;
    q->delta = (uint64_t)(time - q->now);
    q->now = time;
    q->place = place;
    if (q->heads[place].field != field)
        pf_head_make(q, field, place);
    if (rocl_buf_reserve(b, PF_HEAD + PF_EVENT_BYTES)) {
        memcpy(b->data + b->len, q->heads[place].bytes, PF_HEAD);
        q->packet = b->len;
        q->body = b->len += q->heads[place].len;
    }
    return b;
}

static inline rocl_buf *pf_event_begin(pf_seq *q, uint32_t field, int64_t time)
{
    return pf_packet_begin(q, field, time, PF_IDS_FIRST);
}

/* Constant fields come first, and fields that change from packet to packet, above all the time,
 * come last: compression then finds longer repetitions. If a number within the event changes, too,
 * the ids follow the event: then one repetition reaches from that number to the time, and often
 * beyond. */
static inline void pf_event_end(pf_seq *q)
{
    const size_t rest_max = PF_IDS + 1 + ROCL_VARINT_MAX;
    rocl_buf *b = q->block;
    bool simple = !q->pending.len && !q->pending.failed && !b->failed;
    if (!simple || b->len - q->packet + rest_max > 0x80 || !rocl_buf_reserve(b, rest_max)) {
        pf_event_end_long(q);
        return;
    }
    b->data[q->body - 1] = (uint8_t)(b->len - q->body);
    if (q->place == PF_IDS_LAST) {
        memcpy(b->data + b->len, q->ids, PF_IDS);
        b->len += q->ids_len;
    }
    b->len = (size_t)(rocl_pb_put_uint(b->data + b->len, PKT_TIMESTAMP, q->delta) - b->data);
    b->data[q->packet + 1] = (uint8_t)(b->len - q->packet - 2);
}

/* The iid of a text in one of the plain {iid, name} tables, declared with the next packet end. */
uint32_t pf_iid_new(pf_seq *q, enum pf_intern table, uint32_t text);
static inline uint32_t pf_iid(pf_seq *q, enum pf_intern table, uint32_t text)
{
    const pf_iids *t = &q->iids[table];
    if (text < t->cap && t->entries[text].sequence == q->id)
        return t->entries[text].iid;
    return pf_iid_new(q, table, text);
}
/* For tables whose entries hold more: the iid; *fresh: the caller adds the entry to q->pending.
 * Keys are small numbers (texts, indexes). */
uint32_t pf_iid_custom(pf_seq *q, enum pf_intern table, uint32_t key, bool *fresh);

/* Append a string field, as valid UTF-8: bytes, or a text. */
void pf_string(rocl_buf *b, uint32_t field, const char *p, size_t n);
void pf_text(rocl_buf *b, uint32_t field, const rocl_trace *t, uint32_t text);

/* Adds a debug annotation to a track event under construction; the name is a text. The first one
 * puts it to reserved bytes, as those of an event that has just begun are. */
static inline uint8_t *pf_put_note(pf_seq *q, uint8_t *p, uint32_t name, uint64_t v)
{
    uint8_t *note = rocl_pb_open(p, EV_ANNOTATION);
    p = rocl_pb_put_uint(note, NOTE_NAME_IID, pf_iid(q, PF_ANNOTATIONS, name));
    p = rocl_pb_put_uint(p, NOTE_UINT, v);
    return rocl_pb_close(note, p);
}
void pf_note_uint(pf_seq *q, rocl_buf *b, uint32_t name, uint64_t v);
void pf_note_number(pf_seq *q, rocl_buf *b, uint32_t name, double v);
void pf_note_str(pf_seq *q, rocl_buf *b, uint32_t name, const char *p, size_t n);

/* A number as an integer or as a double, by which of the two fields says it exactly. */
uint8_t *pf_put_number(uint8_t *p, uint32_t integer, uint32_t real, double v);

/* ---- owners.c ---- */

typedef struct pf_process {
    uint64_t uuid;    /* of its track */
    int64_t pid;      /* as written */
    uint32_t context; /* iid of its GPU work */
} pf_process;

/* The numbers of a capture: they depend only on definitions, so any capture can be written without
 * those before it. */
typedef struct pf_place {
    uint64_t first_process;  /* number of processes of the captures before it */
    uint64_t first_host;     /* uuid of the track of its first host sequence */
    uint64_t first_sequence; /* id */
    uint64_t first_piece;    /* id, of a sequence that goes on in another drawing */
} pf_place;

typedef struct pf_owners {
    rocl_trace *trace;
    rocl_piped *file;
    pf_place *places;     /* by capture */
    int64_t *pids;        /* by process of the trace, as written */
    uint64_t first_track; /* uuid of the first track other than processes and host sequences */
    uint64_t sequences;   /* that all captures can have */
    uint64_t *describers; /* by machine: number of the process before whose events it is described,
                             from 1; a filter may take any */
    bool *crowded;        /* by machine: several processes are there */
    size_t *first_gpus;   /* by machine: its first GPU among those of the trace */
    uint32_t *gpu_labels; /* by GPU of the trace: a text that no other of its machine has */
    size_t process_total;
    /* of the capture at hand */
    const rocl_capture *capture;
    const pf_place *at;
    pf_process *processes;
    uint64_t *host_tracks; /* uuids by the index of host sequences */
} pf_owners;

/* The id of a machine in packets. 0 is the reader's own idea of "this machine" and never labelled:
 * used for one machine only. */
static inline uint32_t pf_machine_id(const pf_owners *w, uint32_t machine)
{
    return w->trace->machine_count > 1 ? machine + 1 : 0;
}

/* The label of an agent, which no other GPU of its machine has; text. */
uint32_t pf_agent_label(const pf_owners *w, uint32_t agent);

rocl_status pf_owners_open(pf_owners *w, rocl_trace *t, rocl_piped *file, rocl_error *err);
void pf_owners_close(pf_owners *w);
rocl_status pf_owners_capture(pf_owners *w, const rocl_capture *c, rocl_error *err);
/* Describes the track of a host sequence. */
void pf_describe_host(pf_owners *w, uint32_t index);
typedef struct pf_unit {
    unsigned unit;    /* enum value of CounterDescriptor.unit, or 0 */
    const char *name; /* may be NULL */
} pf_unit;
/* A further track, described at the drawing's current place; of a counter with a unit. */
uint64_t pf_new_track(pf_drawing *p, uint64_t parent, const char *name, const pf_unit *unit);

/* ---- the sink ---- */

/* Names of arguments and annotations, interned once as texts. */
#define PF_WORD_LIST(X)                                                                            \
    X(UNNAMED, PF_UNNAMED)                                                                         \
    X(STACK_ID, "stack_id")                                                                        \
    X(CORR_ID, "corr_id")                                                                          \
    X(AGENT, "agent")                                                                              \
    X(QUEUE, "queue")                                                                              \
    X(STREAM, "stream")                                                                            \
    X(STREAM_ID, "stream_id")                                                                      \
    X(ROCPROFV3_STREAM_ID, "stream_ID")                                                            \
    X(BEGIN_NS, "begin_ns")                                                                        \
    X(END_NS, "end_ns")                                                                            \
    X(DELTA_NS, "delta_ns")                                                                        \
    X(TID, "tid")                                                                                  \
    X(VGPR_COUNT, "VGPR_Count")                                                                    \
    X(ACCUM_VGPR_COUNT, "Accum_VGPR_Count")                                                        \
    X(SGPR_COUNT, "SGPR_Count")                                                                    \
    X(WORKGROUP, "workgroup")                                                                      \
    X(GRID, "grid")                                                                                \
    X(KERNEL_ID, "kernel_id")                                                                      \
    X(SCRATCH_SIZE, "Scratch_Size")                                                                \
    X(LDS_BLOCK_SIZE, "LDS_Block_Size")                                                            \
    X(WORKGROUP_SIZE, "workgroup_size")                                                            \
    X(GRID_SIZE, "grid_size")                                                                      \
    X(THREAD_COUNT, "thread_count")                                                                \
    X(SRC_AGENT, "src_agent")                                                                      \
    X(DST_AGENT, "dst_agent")                                                                      \
    X(COPY_BYTES, "copy_bytes")                                                                    \
    X(DEVICE, "device")                                                                            \
    X(LDS_BYTES, "lds_bytes")                                                                      \
    X(SCRATCH_BYTES, "scratch_bytes")                                                              \
    X(DISPATCH_ID, "dispatch_id")                                                                  \
    X(BYTES, "bytes")                                                                              \
    X(BYTES_PER_SECOND, "bytes_per_second")                                                        \
    X(SRC, "src")                                                                                  \
    X(DST, "dst")                                                                                  \
    X(KERNELS, "kernels")                                                                          \
    X(REGISTERS, "registers_per_thread")                                                           \
    X(ACCUM_VGPR, "accum_vgpr_count")                                                              \
    X(SGPR, "sgpr_count")                                                                          \
    X(SHARED_STATIC, "shared_mem_static")                                                          \
    X(KERNEL_DISPATCH, "kernel_dispatch")                                                          \
    X(MEMORY_COPY, "memory_copy")                                                                  \
    X(GRAPH_LAUNCH, "graph_launch")                                                                \
    X(HIP_EVENT, "hip_event")                                                                      \
    X(BARRIER, "barrier")                                                                          \
    X(HIP_API, "hip_api")                                                                          \
    X(HSA_API, "hsa_api")                                                                          \
    X(MARKER_API, "marker_api")                                                                    \
    X(RCCL_API, "rccl_api")                                                                        \
    X(ROCDECODE_API, "rocdecode_api")                                                              \
    X(ROCJPEG_API, "rocjpeg_api")

#define PF_WORD_ENUM(id, text) W_##id,
typedef enum pf_word { PF_WORD_LIST(PF_WORD_ENUM) PF_WORDS } pf_word;

/* How blocks of packets are compressed. */
typedef struct pf_packing {
    int level; /* 0: not at all */
    bool gzip; /* the whole file */
    bool zstd; /* packets by zstd in place of deflate */
} pf_packing;

typedef struct pf_sink {
    rocl_timeline timeline; /* first */
    rocl_trace *trace;
    rocl_pftrace_options opt;
    rocl_piped file;
    pf_packing packing;
    pf_owners owners;
    rocl_timeline_counts counts;
    uint32_t words[PF_WORDS]; /* texts */
} pf_sink;

/* ROCL_USAGE: the options ask for what cannot be done. */
rocl_status pf_packing_of(pf_packing *p, const rocl_pftrace_options *o, rocl_error *err);
/* Appends a block of packets as the file has it: as a packet that holds them compressed, as a
 * member of a gzip file, or as it is. */
rocl_status pf_pack(rocl_buf *to, const rocl_buf *packets, const pf_packing *how, rocl_error *err);

/* ---- drawing.c ---- */

/* Numbers that are unique in the trace whatever the order of taking: each sequence of the trace has
 * its own residue class. */
typedef struct pf_numbers {
    uint64_t next, step;
} pf_numbers;

static inline uint64_t pf_number(pf_numbers *n)
{
    uint64_t v = n->next;
    n->next += n->step;
    return v;
}

struct pf_drawing {
    alignas(ROCL_CACHE_LINE) rocl_drawing drawing; /* first */
    pf_sink *sink;                                 /* read only */
    pf_seq seq;
    uint32_t piece_id; /* id of the packet sequence of a piece; 0: its first sequence is whole */
    pf_numbers uuids, specs;
    uint64_t first_spec; /* iid of number 0; 0: not cut, iids are taken from specs */
    /* of the sequence at hand */
    uint64_t default_track;      /* of its events; 0: none */
    uint32_t stages[ROCL_KINDS]; /* iids; 0: none yet */
    uint32_t gpu;                /* whose counters these are */
};

/* The place of a GPU in the list of the machine that the sequence is of; ROCL_NONE: it is of
 * another one, or no GPU. */
static inline uint32_t pf_gpu_place(const pf_drawing *p, uint32_t agent)
{
    const pf_owners *w = &p->sink->owners;
    const rocl_gpu *g = rocl_gpu_of(w->capture, agent);
    return g && pf_machine_id(w, g->machine) == p->seq.machine
               ? (uint32_t)((size_t)(g - w->trace->gpus) - w->first_gpus[g->machine])
               : ROCL_NONE;
}

static inline pf_drawing *pf_drawing_of(rocl_drawing *p)
{
    return (pf_drawing *)p;
}

/* Writes the sequences of the capture at hand, in drawings. How they are cut depends on their
 * records, and on nothing else. */
rocl_status pf_write_sequences(pf_sink *p, rocl_error *err);
/* Puts the file's block in its pipe if it is full, or (`all`) in any case. Call it now and then. */
rocl_status pf_flush(rocl_piped *file, bool all, rocl_error *err);

extern const rocl_timeline_ops pf_typed_ops, pf_legacy_ops;

/* ---- host.c, gpu.c, legacy.c, values.c: p->drawing.event, and the tracks of its sequence ---- */

rocl_status pf_write_call(rocl_drawing *p, uint64_t track, rocl_error *err); /* or a mark */
void pf_write_end(rocl_drawing *p, uint64_t track, int64_t time);
rocl_status pf_write_flow(rocl_drawing *p, uint64_t track, const rocl_flow_mark *f,
                          rocl_error *err);

/* A sequence of GPU work begins. */
void pf_begin_stages(pf_drawing *p);
uint64_t pf_define_queue(pf_drawing *p, const rocl_track *t);
rocl_status pf_write_stage(rocl_drawing *p, uint64_t track, rocl_error *err);
/* Can sequences of GPU work be cut: are there iids enough? */
bool pf_can_cut_work(const pf_sink *p);

/* "Agent 2" as AMD's "Agent [2]", with its type "Agent [2] (GPU)"; false: its label is of another
 * form. */
bool pf_legacy_agent(const pf_sink *p, uint32_t agent, bool type, char *s, size_t size);
/* The annotations that rocprofv3 gives to calls and work: its times. */
void pf_note_times(pf_drawing *p, rocl_buf *b, const rocl_track_event *e);
uint64_t pf_define_legacy(pf_drawing *p, const rocl_track *t);
rocl_status pf_write_legacy(rocl_drawing *p, uint64_t track, rocl_error *err);

/* A sequence of counters of dispatches begins. */
void pf_begin_counters(pf_drawing *p);
uint64_t pf_define_values(pf_drawing *p, const rocl_track *t);
void pf_write_value(rocl_drawing *p, uint64_t track, int64_t time, double v);

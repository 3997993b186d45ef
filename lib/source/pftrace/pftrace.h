/* Perfetto traces (.pftrace, .proto, .pb): rocprofiler-systems', those of rocprofv3 and its
 * converter, our own, and any other whose events are track events.
 *
 * A packet depends on earlier packets of its sequence: interned texts, defaults, clocks. So a file
 * is read three times:
 *
 *     index (one walk in order; workers unpack)      two passes of source/records, by all workers
 *       interned texts, by where they were said        a worker begins a piece with what the index
 *       sequences, as they are after each piece        knows of the sequences that it meets
 *       tracks, processes, GPUs, clocks
 *
 *     packet.c    packets, one after the other
 *     state.c     what packets of a sequence depend on, step by step
 *     index.c     the first walk; what a piece begins with
 *     definitions.c  tracks, processes, threads, GPUs: which records their events become
 *     worker.c    what a worker has at hand
 *     facts.c     what arguments say
 *     *_events.c  track events and typed GPU events -> records
 *     pftrace.c   the format: packets of a piece -> records, definitions, what is left out */
#pragma once

#include "base/map.h"
#include "base/pool.h"
#include "base/proto.h"
#include "base/strings.h"
#include "format/perfetto.h"
#include "source/records/records.h"

extern const rocl_source_ops rocl_pftrace_ops;

/* ---- packet.c: whatever packets hold, unpacking compressed ones --------------------------------
 */

/* No tracer writes a larger packet. */
#define PFR_PACKET_MAX ((uint64_t)256 << 20)

/* The next field of bytes with this number; false: there is none. */
static inline bool pfr_next_bytes(rocl_pb *r, uint32_t number, rocl_view *bytes)
{
    rocl_pb_field f;
    while (rocl_pb_next(r, &f))
        if (f.number == number && f.kind == ROCL_PB_BYTES) {
            *bytes = f.bytes;
            return true;
        }
    return false;
}

/* A packet: the sequence it belongs to, and its one payload. */
typedef struct pfr_packet {
    uint64_t
        at; /* position of the packet as if nothing were compressed; in a plain file its offset */
    const char *why; /* what is wrong with it (then nothing else is set); NULL: it can be read */
    uint64_t timestamp;
    uint32_t clock, sequence, machine, flags; /* SEQ_... */
    uint32_t payload;                         /* the number of its field; 0: there is none */
    bool has_time, has_clock, first, dropped; /* dropped: packets before this one are lost */
    rocl_view body, interned, defaults;       /* the payload, and two that any payload may have */
    rocl_view whole;                          /* all of it, without tag and length */
} pfr_packet;

/* Reads packets from bytes that hold whole ones. */
typedef struct pfr_walk {
    rocl_pb outer, inner;
    bool unpacking;
    rocl_buf unpacked; /* of the compressed packet at hand */
    uint64_t at;       /* of the next packet */
    rocl_buf *copy;    /* gets all bytes walked over, unpacked: a walk through it finds the same
                          packets at the same positions; may be NULL */
    bool failed;       /* memory is out */
} pfr_walk;

/* Begins at the position `at`, without a copy; reuses the walk's memory. */
void pfr_walk_begin(pfr_walk *w, const void *p, size_t n, uint64_t at);
/* The next packet, which is good until the next call; false at the end or when memory is out. */
bool pfr_walk_next(pfr_walk *w, pfr_packet *p);
void pfr_walk_free(pfr_walk *w);

/* The size of the file's next top-level field, with its tag and length, in the n bytes at p; it may
 * exceed n. 0: the head is cut off; SIZE_MAX: no field begins there. *compressed: it probably holds
 * others. */
uint64_t pfr_field_bytes(const uint8_t *p, size_t n, bool *compressed);

typedef struct pfr_file pfr_file;

/* ---- state.c --------------------------------------------------------------------------------- */

enum { PFR_LOCAL_CLOCKS = 4, PFR_EXTRA_TRACKS = 8 };

/* A clock of a sequence: its times are (value +) timestamp * unit + offset on a machine's clock. */
typedef struct pfr_clock {
    uint64_t value; /* ns, of an incremental clock: its last time */
    uint64_t unit;
    int64_t offset;
    uint32_t domain;
    uint8_t id; /* 0: this entry is not used */
    bool incremental;
} pfr_clock;

/* The state of a sequence at some packet. */
typedef struct pfr_state {
    uint64_t cleared;       /* position + 1 of the packet that reset interned texts; 0: none */
    uint64_t default_track; /* 0: none */
    uint64_t thread_track;  /* of the writing thread, by a descriptor on the sequence; 0: unknown */
    pfr_clock clocks[PFR_LOCAL_CLOCKS];
    uint32_t defaults; /* bytes of TracePacketDefaults, in pfr_file.bytes; 0: none */
    uint32_t default_clock;
    bool valid;
} pfr_state;

/* A time on a clock of a machine, from a snapshot: from then on `offset` converts to the trace's
 * clock. */
typedef struct pfr_relation {
    uint64_t at;
    int64_t offset;
    uint64_t snapshot; /* their order in the file */
    uint32_t machine, clock;
    bool resolved;
} pfr_relation;

/* Relations of machine clocks to the trace's clock. */
typedef struct pfr_clocks {
    pfr_relation *all; /* sorted by machine, clock and time once the index is done */
    size_t count, cap;
    uint64_t snapshots;
    uint32_t trace; /* the clock of the trace; 0: no snapshot names it, so it is BOOTTIME */
    bool sorted;
} pfr_clocks;

/* What a packet means in its sequence. */
typedef struct pfr_moment {
    int64_t time; /* on the trace's clock, if has_time */
    bool has_time, bad_time;
    bool converted; /* its clock is another one than the trace's: */
    uint32_t clock;
    bool usable; /* it does not need what was lost */
    bool lost;   /* packets before it are lost, which is news */
} pfr_moment;
/* Applies a packet: resets, defaults, its time, clock snapshots. */
void pfr_state_step(pfr_state *s, const pfr_clocks *c, rocl_strings *bytes, const pfr_packet *p,
                    pfr_moment *m);
/* Notes a snapshot. False: memory is out. */
bool pfr_clocks_learn(pfr_clocks *c, uint32_t machine, rocl_view snapshot);
/* Call it after the last snapshot; until then times of other clocks are not converted. False:
 * memory is out. */
bool pfr_clocks_complete(pfr_clocks *c);
/* Converts a time of a machine's clock to that of the trace, by the last snapshot before it, else
 * by the first. Times of well-known clocks without a snapshot stay as they are; false: another
 * clock. */
bool pfr_clocks_convert(const pfr_clocks *c, uint32_t machine, uint32_t clock, uint64_t *time);
/* Does a snapshot relate it? Once the index is done. */
bool pfr_clocks_relate(const pfr_clocks *c, uint32_t machine, uint32_t clock);

/* ---- index.c --------------------------------------------------------------------------------- */

/* A text or message that was interned. */
typedef struct pfr_interned {
    uint64_t iid, at; /* position of its packet */
    uint32_t sequence, bytes;
    uint16_t table; /* field of InternedData */
} pfr_interned;

typedef struct pfr_checkpoint { /* a sequence behind a piece that has packets of it */
    uint32_t sequence, piece;
    pfr_state state;
} pfr_checkpoint;

typedef struct pfr_sum { /* of an incremental counter, behind a piece */
    uint64_t track;      /* sequence << 32 | track */
    uint64_t cleared;    /* of the sequence: the sum restarted there */
    double value;
    uint32_t piece;
} pfr_sum;

/* Descriptions of processes, threads, tracks and GPUs. Texts are in pfr_file.bytes. */
typedef struct pfr_process {
    uint32_t machine, name, command;
    int64_t pid, real_pid; /* real: if our writer had to use another number; else 0 */
    int64_t start;         /* ns; 0: unknown */
    int32_t rank;
} pfr_process;

typedef enum pfr_place { PFR_NOWHERE, PFR_STREAM, PFR_QUEUE, PFR_COPIES } pfr_place;

/* A device as it was named: "GPU 0" by its type, "Agent 2" by its number among all. */
typedef struct pfr_agent {
    uint64_t number; /* of its key; ROCL_NO_KEY */
    rocl_agent_type type;
} pfr_agent;

typedef struct pfr_track {
    uint64_t uuid, parent;
    uint32_t machine, generation;
    uint32_t name, unit_name;
    int64_t pid, tid, multiplier;
    uint8_t unit, counter_type; /* as in CounterDescriptor */
    bool described, has_parent, is_process, is_thread, is_counter, incremental;
    /* after pfr_definitions_resolve() */
    uint64_t process, thread; /* keys */
    uint32_t thread_name;
    pfr_place place; /* of GPU work */
    pfr_agent agent;
    uint64_t number;  /* of the stream or queue */
    uint32_t counter; /* its name */
    bool derived;     /* its values derive from other events, and are not read */
    bool of_kernels;  /* its values are counters of dispatches */
} pfr_track;

typedef struct pfr_gpu {
    uint32_t machine, id;
    uint32_t number; /* in its name, if we wrote it; else its id */
    uint32_t name, vendor, model, arch, label;
    uint32_t uuid, pci, machine_id; /* uuid: 16 bytes, or our text */
    bool ordinal;                   /* see rocl_agent */
    pfr_agent agent;
} pfr_gpu;

/* What a file says of a machine: fields of rocl_node. */
typedef struct pfr_host {
    uint32_t machine, name, system, release, version, hardware;
} pfr_host;

struct pfr_file {
    rocl_records_input *in;
    rocl_strings *bytes; /* texts and messages of the file; 0: empty */
    uint64_t *bases;     /* by piece: the position of its first packet */
    size_t base_cap;
    rocl_map sequence_ids; /* machine << 32 | id -> index */
    uint64_t *sequences;   /* by index: that */
    size_t sequence_count, sequence_cap;
    pfr_interned *interned; /* sorted after the index */
    size_t interned_count, interned_cap;
    pfr_checkpoint *checkpoints;
    size_t checkpoint_count, checkpoint_cap;
    pfr_sum *sums;
    size_t sum_count, sum_cap;
    pfr_clocks clocks;
    rocl_map clocks_used; /* by events: machine << 32 | clock; 0: that of the trace */
    uint64_t clock_last;  /* the last of them */
    /* definitions */
    pfr_process *processes;
    size_t process_count, process_cap;
    rocl_map process_ids;
    pfr_track *tracks;
    size_t track_count, track_cap;
    rocl_map track_ids;
    rocl_map thread_names; /* of the process tree */
    rocl_map real_tids;    /* where ours had to write others: their descriptions */
    pfr_gpu *gpus;
    size_t gpu_count, gpu_cap;
    rocl_map host_ids; /* machine -> index */
    pfr_host *hosts;
    size_t host_count, host_cap;
    rocl_map counter_names; /* bytes of a descriptor << 32 | counter id -> name */
    rocl_map units;         /* name of a counter -> unit */
    rocl_map of_kernels;    /* name of a counter that dispatches may have -> 1; 2: some do, as an
                               argument of this name, so its values on tracks are not read */
    rocl_map descriptions;  /* name of a counter -> its description */
    rocl_map agent_types;   /* of "Agent 2", by number, from names of tracks */
    uint64_t *generations;  /* positions from which uuids denote other tracks */
    size_t generation_count, generation_cap;
    /* what is left out */
    uint64_t others[256]; /* packets by the number of their payload; the last: all higher ones */
    uint64_t lost_at;     /* position + 1 of the last statistics that report lost data; 0: none */
    uint64_t derived;     /* values of derived tracks */
    bool incremental;     /* there are incremental counters */
    bool packed;          /* there are compressed packets */
    /* of events; only if the file is not read as records */
    int64_t first, last;
    bool times_unsure;   /* some were on clocks that later snapshots may have related differently */
    bool looked_through; /* read by both passes; else packets are only copied */
    bool failed;         /* memory is out */
    uint32_t words[5];   /* texts of the trace: categories of GPU work */
};

/* A text or message of the file, followed by a NUL. */
static inline rocl_view pfr_bytes(const pfr_file *f, uint32_t id)
{
    rocl_view v;
    v.p = rocl_strings_get(f->bytes, id, &v.n);
    return v;
}

static inline uint64_t pfr_sequence_key(const pfr_packet *p)
{
    return (uint64_t)p->machine << 32 | p->sequence;
}
/* The index of a packet's sequence; ROCL_NONE: unknown. */
static inline uint32_t pfr_sequence(const pfr_file *f, const pfr_packet *p)
{
    return rocl_map_get(&f->sequence_ids, pfr_sequence_key(p), ROCL_NONE);
}

/* state.c: the track of an event that names none (Chrome's: 0). */
static inline uint64_t pfr_track_unsaid(const pfr_state *s)
{
    return s->default_track ? s->default_track : s->thread_track;
}
/* The value of an incremental counter after an increment. */
static inline double pfr_sum_add(pfr_sum *sum, const pfr_state *s, double by)
{
    sum->value = (sum->cleared == s->cleared ? sum->value : 0) + by;
    sum->cleared = s->cleared;
    return sum->value;
}
/* The tracks of further values of an event: of integers, and of doubles. */
void pfr_extra_tracks(const pfr_file *file, const pfr_state *s, rocl_view event,
                      uint64_t tracks[2][PFR_EXTRA_TRACKS], size_t count[2]);

/* Are only the packets needed, because the only user of the trace is rocl_cut_pftrace() with these
 * options? */
bool pfr_options_cut(const rocl_options *o);
/* Does the packet hold an event with a time? Some packets of GPU counters only describe them. */
bool pfr_is_event(const pfr_packet *p);
/* Why an event cannot be used; NULL: it can, or it is not an event. */
const char *pfr_packet_fault(const pfr_packet *p, const pfr_moment *m, rocl_fault *fault);
/* Widens first and last by the times of an event. */
void pfr_note_times(pfr_file *f, const pfr_packet *p, const pfr_moment *m);
/* The transform of a pipe: blocks with `user` set may hold compressed packets; `out` gets all
 * unpacked. */
rocl_status pfr_unpack_block(void *ctx, unsigned worker, rocl_block *b, rocl_error *err);

/* The first walk. */
rocl_status pfr_index(pfr_file *f, rocl_error *err);
void pfr_index_free(pfr_file *f);
/* The state of a sequence before a piece; zeroed if it begins there. */
pfr_state pfr_state_before(const pfr_file *f, uint32_t sequence, uint32_t piece);
/* What was interned before a position in earlier pieces, since `cleared`; ROCL_NONE: nothing. */
uint32_t pfr_interned_before(const pfr_file *f, uint32_t sequence, unsigned table, uint64_t iid,
                             uint64_t before, uint64_t cleared);
pfr_sum pfr_sum_before(const pfr_file *f, uint64_t track, uint32_t piece);
/* Walks through InternedData: entries with their iid; for plain ones, the text. */
bool pfr_interned_next(rocl_pb *r, unsigned *table, uint64_t *iid, rocl_view *bytes);
/* The name of a counter of the descriptor with these bytes; 0: none. */
uint32_t pfr_counter_name(const pfr_file *f, uint32_t descriptor, uint64_t id);
/* Stands for the bytes of a descriptor without an iid: one per sequence. */
static inline uint32_t pfr_plain_descriptor(uint32_t sequence)
{
    return (uint32_t)1 << 31 | sequence;
}

/* ---- definitions.c ------------------------------------------------------------------------ */

/* Takes payloads that describe something; false: other payloads. */
bool pfr_definitions_describe(pfr_file *f, const pfr_packet *p);
void pfr_definitions_counters(pfr_file *f, uint32_t descriptor, rocl_view message);
/* After the index: finds out what tracks are. */
void pfr_definitions_resolve(pfr_file *f);
/* The track of a uuid at a position; NULL: it is not described. */
const pfr_track *pfr_track_of(const pfr_file *f, uint32_t machine, uint64_t uuid, uint64_t at);
/* The key of a process. */
uint64_t pfr_process_key(uint32_t machine, int64_t pid);
/* Agents are defined for the processes of a machine. */
bool pfr_sees_agent(const rocl_records_input *in, uint64_t process, uint64_t machine);
/* The agent that a text names, with its type if names of tracks tell it. */
bool pfr_find_agent(const pfr_file *f, rocl_view text, pfr_agent *a);
const pfr_gpu *pfr_gpu_of(const pfr_file *f, uint32_t machine, uint64_t id);
/* Defines agents for the GPUs that the file describes; names processes, agents, counters. */
bool pfr_definitions_define(pfr_file *f);
rocl_status pfr_definitions_refine(rocl_records_input *in, rocl_error *err);
void pfr_definitions_free(pfr_file *f);

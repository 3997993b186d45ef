/* rocline: ROCm timelines, from any format that profilers record to any that can be viewed.
 *
 * The whole public interface of librocline. A trace flows one way:
 *
 *     inputs -> rocl_trace (definitions) -> batches of events -> filters -> a writer, or your
 * function
 *
 * The shortest use, without checks (a whole program is examples/kinds.c):
 *
 *     rocl_error *err = rocl_error_new();
 *     rocl_trace *t;
 *     rocl_trace_open(&t, (const char *[]){"results.db"}, 1, &(rocl_options){0}, err);
 *     rocl_write_pftrace(t, &(rocl_pftrace_options){.path = "out.pftrace"}, NULL, err);
 *     rocl_trace_close(t);
 *
 * Values: times are nanoseconds on the clock of the traced node (int64), sizes are bytes. Ids from
 * a file are never indexes: definitions refer to each other, and events to definitions, by index
 * into the arrays of their rocl_capture, ROCL_NONE meaning "none or unknown". Texts are interned:
 * uint32_t ids for rocl_text().
 *
 * Options: a struct that is all zero asks for the defaults. Fields without a default, such as the
 * path of most outputs, must be set; enums must have one of their values. Within a major version,
 * fields may be added at the end of structs. Strings and lists in options belong to the caller and
 * must live as long as the call, those of rocl_options as long as the trace.
 *
 * Errors: functions that can fail return a rocl_status and fill the given rocl_error (may be NULL).
 * The status is ROCL_OK or one that the comment names; ROCL_INTERNAL (no memory, no thread) and, if
 * a trace is read, ROCL_INPUT are always possible. Nothing here prints or exits.
 *
 * Ownership: a function called ..._open or with a pointer to a handle gives it to the caller, who
 * frees it with the function named ..._close or ..._free; freeing NULL is fine. All other pointers
 * that are handed out (definitions, texts, names) belong to the trace and live until
 * rocl_trace_close().
 *
 * Threads: a trace is used by one thread at a time, different traces by different threads; the
 * library runs its own workers inside a call. While a call runs, the caller's functions (batches,
 * progress, notices) may only read definitions and rocl_text() of its trace. Functions without a
 * trace may be called from any thread at any time, unless they say otherwise. */
#ifndef ROCLINE_H
#define ROCLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h" /* rocl_status, rocl_error; in the installed header, its text */

#ifdef __cplusplus
extern "C" {
#endif

#define ROCLINE_VERSION "0.1.0"

ROCL_API const char *rocl_version(void); /* "0.1.0" */
/* "rocline 0.1.0 (sqlite 3.40.1, zlib 1.2.13, ...)": the libraries that are linked. */
ROCL_API const char *rocl_version_details(void);

/* ---- what a trace is: definitions ----------------------------------------------------------- */

typedef struct rocl_trace rocl_trace;

/* The bytes of a text id, NUL-terminated, alive as long as the trace; "" for ROCL_NONE. len may be
 * NULL. */
ROCL_API const char *rocl_text(const rocl_trace *t, uint32_t text, size_t *len);

/* How a name or a number is known. */
typedef enum rocl_said_by {
    ROCL_SAID_BY_TRACE, /* the trace says it */
    ROCL_SAID_BY_NAME,  /* derived: from the name of its file or folder */
    ROCL_SAID_BY_OPTION /* the user says it: rocl_options.hosts, rank_numbers */
} rocl_said_by;

typedef struct rocl_node {
    uint32_t machine_id, system_name, hostname, release, version, hardware; /* texts */
    int64_t id;                                                             /* in its file */
    rocl_said_by said_by;                                                   /* hostname */
} rocl_node;

typedef struct rocl_process {
    int64_t id; /* in its file */
    uint32_t node;
    int64_t pid, ppid;
    int64_t init, fini, start, end; /* ns; 0 unknown */
    uint32_t command;               /* text: the command line */
    int32_t rank;                   /* among the processes of its job, -1 unknown */
    uint32_t guid; /* text: the guid it had before it was merged into a table set; "": that of its
                      capture */
    uint32_t machine;     /* of the trace: same machine, same number */
    rocl_said_by said_by; /* rank */
} rocl_process;

typedef struct rocl_thread {
    int64_t id;
    uint32_t process;
    int64_t tid;
    uint32_t name; /* text, "" unknown */
} rocl_thread;

typedef enum rocl_agent_type {
    ROCL_AGENT_OTHER,
    ROCL_AGENT_CPU,
    ROCL_AGENT_GPU,
    ROCL_AGENT_NIC
} rocl_agent_type;

typedef struct rocl_agent {
    int64_t id;
    uint32_t node, process;
    rocl_agent_type type;
    int64_t absolute_index, logical_index, type_index; /* -1 unknown */
    uint32_t type_name;                                /* text as stored: "GPU" */
    uint32_t name, model, vendor, product, user_name;  /* texts */
    uint32_t label;  /* text: "Agent 2", "GPU 0", by --agent-index-value, as AMD's tools have it */
    uint32_t device; /* text: what it is called elsewhere, one name for one device: "GPU 0", "CPU
                        1", "GPU 0 on node7" if there are several machines */
    uint32_t uuid;   /* text: "GPU-" and 16 hexadecimal digits, or as the file has it; "" unknown */
    uint32_t pci;    /* text: "0000:c1:00.0"; "" unknown */
    uint32_t machine; /* of the trace, as in rocl_process */
    uint32_t gpu;     /* of the trace: agents of several processes that are one GPU have the same
                         number; ROCL_NONE: it is no GPU */
    bool ordinal;     /* its indexes count what its process sees, as HIP's do: another process may
                         see another GPU by the same number */
} rocl_agent;

typedef struct rocl_queue {
    int64_t id;
    uint32_t process;
    uint32_t name;
    uint32_t label; /* text: its name, never empty; for a stream, unique */
} rocl_queue;

typedef rocl_queue rocl_stream;

/* Code that was loaded for an agent; it contains kernels. */
typedef struct rocl_code_object {
    int64_t id;
    uint32_t process, agent;
} rocl_code_object;

typedef struct rocl_kernel {
    int64_t id;
    uint32_t process, agent; /* agent of the code object */
    uint32_t code_object;    /* ROCL_NONE or out of range: unknown */
    uint32_t mangled;        /* text, without the ".kd" of its descriptor */
    uint32_t display;        /* text: the name that the profiler showed */
    uint32_t shown;          /* text: the name by --kernel-names */
    bool is_function;        /* the profiler named the function, and not its descriptor */
    int64_t group_segment, private_segment, sgpr, arch_vgpr, accum_vgpr; /* of the symbol */
} rocl_kernel;

typedef struct rocl_counter {
    int64_t id;
    uint32_t process, agent;
    uint32_t name, symbol, description, component, units, value_type, block; /* texts */
} rocl_counter;

/* The data of one process (rocpd: one guid, one set of tables). A merged file contains several. */
typedef struct rocl_capture {
    const struct rocl_trace *trace;
    uint32_t index;   /* in the trace */
    const char *path; /* the file it is in */
    uint32_t guid;    /* text */
    const rocl_node *nodes;
    const rocl_process *processes;
    const rocl_thread *threads;
    const rocl_agent *agents;
    const rocl_queue *queues;
    const rocl_stream *streams;
    const rocl_code_object *code_objects;
    const rocl_kernel *kernels;
    const rocl_counter *counters;
    uint32_t node_count, process_count, thread_count, agent_count, queue_count, stream_count,
        code_object_count, kernel_count, counter_count;
    uint32_t machine; /* of the first process: below rocl_trace_machines() */
    int32_t rank;     /* of the first process; -1 unknown */
    int32_t
        rocm_end; /* of rocprof: 52 if the format shows that it is older than ROCm 5.2, 0 unknown */
} rocl_capture;

/* The captures of a trace: one for each recorded process, or each table set of a database. */
ROCL_API size_t rocl_trace_captures(const rocl_trace *t);
ROCL_API const rocl_capture *rocl_trace_capture(const rocl_trace *t, size_t i); /* i < captures */
/* The machines and GPUs of the trace: rocl_process.machine and rocl_agent.gpu are below these
 * numbers. Which of them are the same is decided by names and machine ids of nodes, and by uuids,
 * PCI addresses and numbers of GPUs on one machine; unknown is never equal to unknown. */
ROCL_API size_t rocl_trace_machines(const rocl_trace *t);
ROCL_API size_t rocl_trace_gpus(const rocl_trace *t);

/* ---- what happened: events ------------------------------------------------------------------ */

typedef enum rocl_kind {
    ROCL_REGION,   /* host API call */
    ROCL_MARKER,   /* ROCTx / Kokkos range; its name is its message */
    ROCL_INSTANT,  /* a point in time: ROCTx mark */
    ROCL_DISPATCH, /* kernel on a GPU */
    ROCL_COPY,
    ROCL_ALLOC, /* allocate, free, VMEM */
    ROCL_SCRATCH,
    ROCL_COUNTER, /* value of a counter for one dispatch, summed over its instances */
    ROCL_SPM,     /* streaming counter value with its own time */
    ROCL_SAMPLE,  /* sampled value (power, temperature, frequency, ...) */
    ROCL_GRAPH,   /* HIP graph launch */
    ROCL_HIP_EVENT,
    ROCL_BARRIER, /* a queue waits: barrier packet, vendor packet */
    ROCL_FLOW,    /* an end of an arrow between host ranges; not in ROCL_ALL_KINDS */
    ROCL_KINDS
} rocl_kind;

ROCL_API const char *rocl_kind_name(rocl_kind k); /* "region", "marker", ... as in --include */

/* Reads a duration, such as "5000" (ns), "5us", "1.5h", rounded down to nanoseconds. false: it is
 * none, or more than 2^63 - 1 ns. */
ROCL_API bool rocl_read_duration(const char *text, int64_t *ns);

/* The i-th word that an option accepts, NULL after the last; for completion and suggestions. Other
 * words may be accepted, too. The library's functions ignore the context. A word is valid until the
 * next call. */
typedef const char *rocl_word_fn(const void *ctx, size_t i);
ROCL_API const char *rocl_include_word(const void *ctx,
                                       size_t i); /* rocl_options.include, exclude */
ROCL_API const char *rocl_csv_kind_word(const void *ctx, size_t i); /* rocl_csv_options.kinds */
ROCL_API const char *rocl_domain_word(const void *ctx, size_t i);   /* rocl_stats_options.domains */
/* The word most similar to a text that is not one of the words; NULL: none is similar. */
ROCL_API const char *rocl_nearest_word(const char *text, size_t len, rocl_word_fn *words,
                                       const void *ctx);

/* The members that every event has first. */
typedef struct rocl_event {
    int64_t start, end; /* ns, start <= end */
    int64_t duration;   /* ns, of the whole event, even if a window cut it */
    uint64_t id;        /* row id in its table: unique within (capture, kind) */
    uint64_t event_id;  /* row of the event table, 0 none */
    uint64_t stack_id;  /* links host calls with the GPU work they caused; 0 none */
    uint64_t parent_stack_id;
    int64_t correlation_id; /* the user's own, 0 none */
    uint32_t process, thread;
    uint32_t name;     /* text shown */
    uint32_t category; /* text: HIP_RUNTIME_API_EXT, ... */
} rocl_event;

typedef struct rocl_arg {
    uint32_t type, name; /* texts */
    const char *value;   /* NUL-terminated, alive as long as the batch */
    size_t value_len;
} rocl_arg;

typedef struct rocl_region { /* ROCL_REGION, ROCL_MARKER, ROCL_INSTANT */
    rocl_event e;
    uint32_t function;             /* text: the API function, even if e.name is a message */
    uint32_t arg_first, arg_count; /* into rocl_batch.args */
} rocl_region;

/* rocl_packet.known: which of its fields are known, and how rocprof (v1) wrote the dispatch. */
enum {
    ROCL_PACKET_NUMBER =
        1, /* rocl_dispatch.dispatch_id counts the dispatches of the process, from 0 */
    ROCL_PACKET_INDEX = 2, /* queue_index */
    ROCL_PACKET_WAVE_SIZE = 4,
    ROCL_PACKET_SIGNAL = 8,
    ROCL_PACKET_OBJECT = 16,
    ROCL_PACKET_TIMES = 32,       /* before, after */
    ROCL_PACKET_V1 = 64,          /* it comes from rocprof v1 */
    ROCL_PACKET_REGISTERS = 128,  /* before ROCm 5.3: arch_vgpr counts all vector registers */
    ROCL_PACKET_WITHOUT_DB = 256, /* from a results.csv that was written without a results.db */
    ROCL_PACKET_FRACTION = 512,   /* of a counter: its value had decimals */
    ROCL_PACKET_QUOTES = 1024,    /* signal and object were quoted: since ROCm 5.2 */
};

/* What rocprof (v1) records of a dispatch besides rocl_dispatch: its packet in the queue. */
typedef struct rocl_packet {
    uint64_t queue_index; /* of the packet in its queue */
    uint64_t signal, object;
    int64_t before, after; /* ns from the submission to the start, from the end to the completion */
    uint32_t wave_size;
    uint32_t known; /* ROCL_PACKET_* */
} rocl_packet;

typedef struct rocl_dispatch { /* ROCL_DISPATCH */
    rocl_event e;
    uint32_t agent, queue, stream, kernel;
    uint64_t dispatch_id;
    int64_t kernel_id;                      /* as stored */
    uint32_t region_name;                   /* text of the enclosing label; ROCL_NONE or "": none */
    uint32_t packet;                        /* index into rocl_batch.packets, plus 1; 0: none */
    int64_t private_segment, group_segment; /* bytes: scratch, LDS */
    uint32_t workgroup[3], grid[3];         /* in work-items */
    uint64_t graph_exec_id, graph_node_id;
    uint32_t arg_first, arg_count; /* into rocl_batch.args: what else its source has */
} rocl_dispatch;

typedef struct rocl_copy { /* ROCL_COPY; name is the direction */
    rocl_event e;
    uint32_t src, dst; /* agents */
    uint32_t queue, stream;
    uint64_t size, src_address, dst_address; /* size 0: unknown */
} rocl_copy;

typedef enum rocl_alloc_op {
    ROCL_OP_OTHER,
    ROCL_OP_ALLOC,
    ROCL_OP_FREE,
    ROCL_OP_REALLOC,
    ROCL_OP_RECLAIM
} rocl_alloc_op;

typedef enum rocl_alloc_level {
    ROCL_LEVEL_OTHER,
    ROCL_LEVEL_REAL,
    ROCL_LEVEL_VIRTUAL,
    ROCL_LEVEL_SCRATCH
} rocl_alloc_level;

typedef struct rocl_alloc { /* ROCL_ALLOC, ROCL_SCRATCH; name is the operation shown */
    rocl_event e;
    uint32_t agent, queue, stream;
    rocl_alloc_op op;
    rocl_alloc_level level;
    uint64_t size, address, flags;
    /* A free has neither agent nor size: these are taken from the allocation that it frees. */
    uint32_t owner; /* agent; of a free, that of the block */
    uint64_t block; /* bytes of the block that is allocated or freed */
    int64_t delta;  /* change of the owner's live bytes */
    bool unpaired;  /* a free of an address that was never allocated */
} rocl_alloc;

typedef struct rocl_instance { /* the value of one instance of a counter */
    double value;
    int32_t xcc, shader_engine, instance, shader_array, wgp; /* -1 unknown */
} rocl_instance;

typedef struct rocl_counter_value { /* ROCL_COUNTER: a value, and its dispatch */
    rocl_dispatch d;
    uint32_t counter;
    uint32_t instances; /* number of instances whose sum is value; 0: unknown */
    uint32_t instance;  /* the first of them in rocl_batch.instances, plus 1; 0: unknown */
    double value;
    double min, max; /* over the instances, if those are known */
    uint64_t row;    /* in the table of values, of the first instance; 0 unknown */
} rocl_counter_value;

typedef struct rocl_sample_value { /* ROCL_SPM, ROCL_SAMPLE */
    rocl_event e;
    uint32_t counter, agent;
    double value;
    int64_t xcc, shader_engine, instance, shader_array, wgp; /* -1 unknown */
} rocl_sample_value;

typedef struct rocl_hip { /* ROCL_GRAPH, ROCL_HIP_EVENT, ROCL_BARRIER */
    rocl_event e;
    uint32_t agent, queue, stream, source_queue;
    uint64_t graph_exec_id, kernel_count;
} rocl_hip;

typedef enum rocl_flow_end { ROCL_FLOW_BEGINS, ROCL_FLOW_GOES_ON, ROCL_FLOW_ENDS } rocl_flow_end;

/* ROCL_FLOW: a point of a thread at which an arrow begins, passes or ends. It belongs to the range
 * of the thread that begins at this time, else to the enclosing one. */
typedef struct rocl_flow {
    rocl_event e;
    uint64_t flow; /* the same for all ends of an arrow, within its capture */
    rocl_flow_end end;
    bool next; /* instead, it belongs to the next range, which begins at this time or later */
} rocl_flow;

/* Up to some thousand events of one kind and capture. Valid only during the call that passes it. */
typedef struct rocl_batch {
    const rocl_capture *capture;
    rocl_kind kind;
    size_t count;
    union {
        void *any;
        rocl_region *regions;
        rocl_dispatch *dispatches;
        rocl_copy *copies;
        rocl_alloc *allocs;
        rocl_counter_value *counters;
        rocl_sample_value *samples;
        rocl_hip *hips;
        rocl_flow *flows;
    };
    const rocl_arg *args;
    const rocl_packet *packets;
    size_t packet_count;
    const rocl_instance *instances;
} rocl_batch;

/* The i-th event of a batch, whatever its kind. */
ROCL_API rocl_event *rocl_batch_event(const rocl_batch *b, size_t i);
ROCL_API size_t rocl_kind_size(rocl_kind k); /* sizeof the record of a kind */

/* ---- options --------------------------------------------------------------------------------- */

typedef enum rocl_kernel_names {
    ROCL_NAMES_DISPLAY,
    ROCL_NAMES_MANGLED,
    ROCL_NAMES_TRUNCATED,
    ROCL_NAMES_SHORT
} rocl_kernel_names;

typedef enum rocl_agent_index {
    ROCL_INDEX_RELATIVE,
    ROCL_INDEX_ABSOLUTE,
    ROCL_INDEX_TYPE_RELATIVE
} rocl_agent_index;

typedef enum rocl_window_mode {
    ROCL_WINDOW_INSIDE,  /* events wholly inside (AMD's --inclusive true) */
    ROCL_WINDOW_OVERLAP, /* every event that touches the window, whole */
    ROCL_WINDOW_CLIP,    /* every event that touches the window, cut at its edges */
} rocl_window_mode;

/* How databases are read; the result is the same. */
typedef enum rocl_reader {
    ROCL_READER_AUTO,  /* from the pages of the file, or by SQLite for tables where that is not
                          possible */
    ROCL_READER_PAGES, /* from the pages; an error where that is not possible */
    ROCL_READER_SQLITE,
} rocl_reader;

/* How the clocks of several nodes are aligned. Then all times of a trace are on the aligned clocks,
 * those of definitions, too. A trace of one node stays as it is. */
typedef enum rocl_align {
    ROCL_ALIGN_DEFAULT, /* not at all; a notice when the times of the nodes do not overlap */
    ROCL_ALIGN_NONE,
    ROCL_ALIGN_START,      /* by the first event of each node */
    ROCL_ALIGN_MARKER,     /* by the begin of a marker, in the first process of each node */
    ROCL_ALIGN_OFFSETS,    /* by a file with a line for each node: its name and its offset */
    ROCL_ALIGN_COLLECTIVES /* by the ends of collectives: offsets and drifts */
} rocl_align;

/* What may be wrong with a record; each is counted separately. rocline(7) has the rules. */
typedef enum rocl_fault {
    ROCL_FAULT_END_BEFORE_START, /* left out */
    ROCL_FAULT_NO_END,           /* end 0: never finished; left out */
    ROCL_FAULT_BEFORE_PROCESS,   /* ended before its process began; left out */
    ROCL_FAULT_BAD_TIME,         /* negative, NULL, not a number, untimed dispatch; left out */
    ROCL_FAULT_DANGLING_NAME,    /* reference to nothing: kept, the reference is dropped */
    ROCL_FAULT_DANGLING_PROCESS,
    ROCL_FAULT_DANGLING_THREAD,
    ROCL_FAULT_DANGLING_AGENT,
    ROCL_FAULT_DANGLING_QUEUE,
    ROCL_FAULT_DANGLING_STREAM,
    ROCL_FAULT_DANGLING_KERNEL,
    ROCL_FAULT_DANGLING_EVENT,
    ROCL_FAULT_DANGLING_TRACK,
    ROCL_FAULT_DANGLING_COUNTER,
    ROCL_FAULT_ORPHAN_VALUE,  /* counter value or argument without an event; left out */
    ROCL_FAULT_BAD_VALUE,     /* blob, text or out-of-range number where an integer belongs: NULL */
    ROCL_FAULT_NO_NUMBER,     /* counter value that is infinite or not a number; left out */
    ROCL_FAULT_BAD_JSON,      /* extdata that does not parse: ignored */
    ROCL_FAULT_UNPAIRED_FREE, /* free of an address never allocated: kept, 0 bytes */
    ROCL_FAULT_BAD_LINE,      /* of text: cannot be parsed; left out */
    ROCL_FAULT_DROPPED,       /* the tracer could not keep it; left out */
    ROCL_FAULT_TORN,          /* in a chunk that is cut, damaged or missing; left out */
    ROCL_FAULT_UNFINISHED,    /* its process ended first: ends with the last event of its thread */
    ROCL_FAULTS
} rocl_fault;

/* "end before start", and whether the record was left out (true) or kept with a repair. */
ROCL_API const char *rocl_fault_text(rocl_fault f);
ROCL_API bool rocl_fault_drops(rocl_fault f);

/* Called from one thread at a time. `done` and `total` are in rows; total 0: unknown. */
typedef void rocl_progress_fn(void *ctx, const char *phase, uint64_t done, uint64_t total);
/* Something to report that is not an error: "FILE: named twice, read once". */
typedef void rocl_notice_fn(void *ctx, const char *text);

typedef struct rocl_team rocl_team;

typedef struct rocl_options {
    /* inputs */
    bool kernel_rename; /* show dispatches by the label around them instead of their kernel */
    rocl_kernel_names kernel_names;
    rocl_agent_index agent_index;
    const char *kernel_classes; /* file of rules, see rocstats-kernels(1); NULL: the shipped ones */
    bool strict;                /* the first fault is an error */
    /* Who is who, whatever the inputs say: NULL-terminated lists of "PATTERN=NAME" and "PATTERN=N",
     * where PATTERN is a glob that the path of a file or its last part matches; or all inputs are
     * of one machine. */
    const char *const *hosts, *const *rank_numbers;
    bool same_host;
    bool names_of_others; /* other traces have the same lists: a PATTERN may match no input here */
    rocl_align align;
    const char *align_with; /* MARKER: NAME or NAME:N (N-th of a process); OFFSETS: the file */
    /* filters; NULL or zero: not used */
    const char *start, *end;               /* "123" ns; "10%"; "+1.5ms": after the first event */
    const char *start_marker, *end_marker; /* NAME or NAME:N (N-th occurrence, from 1) */
    rocl_window_mode window_mode;
    const char *const *ranks, *const *pids, *const *agents; /* NULL-terminated lists */
    /* Inputs are several runs if a rank is in two of them, at times that do not overlap; by time,
     * from
     * 1. Keeps only what is in this one. */
    unsigned run;
    const char *const *include, *const *exclude; /* kinds or categories */
    const char *const *names,
        *const *exclude_names; /* POSIX EREs on the name shown; "copy:ERE": of copies only */
    const char *min_duration;  /* "1000", "1.5us" */
    /* Filters of kernel dispatches and their counters: POSIX EREs on the name of the kernel; and
     * the numbers "[1-2],5" of dispatches, counted per process and kernel name in the order of
     * start. */
    const char *const *kernel_include, *const *kernel_exclude;
    const char *kernel_iterations;
    /* Steps are marker ranges whose names match this POSIX ERE; NULL: whose names contain a count,
     * such as "ProfilerStep#12" or "step:3". This filters nothing, ... */
    const char *step_markers;
    const char
        *steps;      /* ... this keeps what begins in the steps with these numbers, "3,5-8", ... */
    uint64_t warmup; /* ... and this drops what begins before this number of steps has ended */
    const char *const
        *periods;     /* "DELAY:DURATION:REPEAT", one after the other, from the first event on */
    bool args;        /* read API arguments */
    bool collectives; /* read the arguments of collectives, even without `args` */
    /* The caller will call rocl_cut_pftrace() if rocl_pftrace_is_cut(): a Perfetto trace that is
     * the only input then need not be searched for events. */
    bool copy_packets;
    /* run */
    unsigned jobs;      /* workers, fewer if they would take half of memory; 0: one per core */
    size_t memory;      /* bytes for sorting, and 1 MiB per worker; 0: ROCL_DEFAULT_MEMORY */
    const char *tmpdir; /* NULL: $TMPDIR, /var/tmp */
    rocl_reader reader;
    rocl_team *team;    /* who reads; NULL: this process alone. Close it after the trace */
    bool team_writes;   /* the ranks write the output together */
    bool team_inputs;   /* with team_writes: one rank takes all processes of an input */
    bool team_collects; /* the other ranks call rocl_stats_rank() */
    bool local;         /* each node of the team has inputs of its own by these names */
    bool explain;       /* also notices about what is slower than necessary */
    bool note_times;    /* needed by rocl_trace_times */
    rocl_progress_fn *progress;
    rocl_notice_fn *notice;
    void *ctx; /* for progress and notice */
} rocl_options;

/* ---- opening --------------------------------------------------------------------------------- */

/* Opens inputs: files of any format that rocline(7) lists, also compressed, from a pipe, or "-" for
 * standard input; globs, folders, .rpdb folders, index.yaml; with a team also "HOST:PATH": a rank
 * on that node reads PATH. Reads definitions, checks options. Captures are in the order of nodes,
 * ranks and pids, in whatever order the inputs are named. Aligning by START, MARKER or COLLECTIVES
 * reads all events once. `options` is copied; its strings must outlive the trace. ROCL_USAGE: an
 * option is wrong, or there is no input. */
ROCL_API rocl_status rocl_trace_open(rocl_trace **trace, const char *const *inputs, size_t count,
                                     const rocl_options *options, rocl_error *err);
/* Frees the trace and everything it handed out. Not while a call on it runs. */
ROCL_API void rocl_trace_close(rocl_trace *t);

/* ---- teams: several processes for one result ---- */

/* A team has ranks 0 to size - 1, all with the same inputs and options. Rank 0 opens the trace with
 * rocl_options.team, makes the result, and reads what the others cannot. The others call
 * rocl_team_serve(): each opens and reads the databases that rank 0 assigns to it, and sends their
 * definitions and events. The result is the same as without a team. The team reads events for
 * functions that take them in any order: rocl_stats(), rocl_compare(), rocl_trace_scan(). With
 * rocl_options.team_writes each rank writes the output of its captures, in rocl_write_pftrace(),
 * rocl_write_otf2(), rocl_write_csv(), rocl_write_export(), rocl_write_chrome(), and, with
 * team_inputs, rocl_write_package(). Rank 0 alone runs the other writers, and writes what is not a
 * plain file. In that mode captures that others opened have no kernels and code objects on rank 0
 * until their events arrive. With rocl_options.team_collects rocl_stats() lets the ranks collect
 * what they can, and rank 0 gets their sums instead of their events. */

/* Forks; the process must have only one thread. Each of the `size` processes returns with its own
 * rank. *team NULL: size is 0 or 1. */
ROCL_API rocl_status rocl_team_fork(rocl_team **team, unsigned size, rocl_error *err);
/* Joins the processes that an MPI launcher started together with this one, if all have the same
 * `task`, their command line; else each works alone. Waits until all have called it. Unless
 * `asked`, a process joins only if the launcher started it directly, not through a script. *team
 * NULL: it works alone, because no launcher started it, or no other process, or the tasks differ.
 * ROCL_INTERNAL: there is a launcher, but the plugin for its MPI cannot be used (see rocline(7)).
 * Other errors are those that a rank gave to rocl_team_refuse(). */
ROCL_API rocl_status rocl_team_join(rocl_team **team, const char *task, bool asked,
                                    rocl_error *err);
/* For a process that must end before it can join: calls this instead. All others then return from
 * rocl_team_join() with an error, rank 0 with this status and text. False: there is no team to
 * join. */
ROCL_API bool rocl_team_refuse(rocl_status why, const char *text, bool asked);
/* A process that has joined, but has neither served the team nor opened a trace with it, says so
 * and closes the team. */
ROCL_API void rocl_team_leave(rocl_team *team, rocl_status why, const char *text);
/* Gives rank 0's text to all ranks, which all call it. ROCL_USAGE without a text: rank 0 has closed
 * the team instead. */
ROCL_API rocl_status rocl_team_share(rocl_team *team, char *text, size_t size, rocl_error *err);
/* The rank that a launcher gave to this process, team or not; -1: no launcher started it directly
 * (`asked`: or through a script). */
ROCL_API int rocl_launched_rank(bool asked);
/* Without a team: 0 of 1. */
ROCL_API unsigned rocl_team_rank(const rocl_team *team);
ROCL_API unsigned rocl_team_size(const rocl_team *team);
/* What carries the messages of the team: "Open MPI". */
ROCL_API const char *rocl_team_name(const rocl_team *team);
/* Called with the rank's part of the trace when rank 0 writes an output that the ranks write
 * together; must call the same writer as rank 0, with the same options. */
typedef rocl_status rocl_team_write_fn(rocl_trace *t, void *ctx, rocl_error *err);
/* A rank other than 0 does what rank 0 asks for, until rank 0 closes the team. `write` NULL: there
 * is no such output. Failures here are sent to rank 0, which reports them; a status other than
 * ROCL_OK: rank 0 is gone. */
ROCL_API rocl_status rocl_team_serve(rocl_team *team, const rocl_options *options,
                                     rocl_team_write_fn *write, void *ctx, rocl_error *err);
/* Frees the team; on rank 0, also ends the other ranks. NULL is fine. */
ROCL_API void rocl_team_close(rocl_team *team);

/* What an input looks like, judged by its first bytes (of a compressed file, unpacked). */
typedef enum rocl_look {
    ROCL_LOOKS_MISSING, /* there is none */
    ROCL_LOOKS_STREAM,  /* standard input or a pipe: it can be read only once */
    ROCL_LOOKS_TEXT,    /* text without records in its first 64 KiB */
    ROCL_LOOKS_LEGACY,  /* text of rtg_tracer or strace */
    ROCL_LOOKS_HCC,     /* text with profile lines */
    ROCL_LOOKS_FOLDER,
    ROCL_LOOKS_FOREIGN, /* for other tools: an archive, a profile of another kind */
    ROCL_LOOKS_JSON,    /* trace JSON of PyTorch or Chrome, and what rtg2json writes */
    ROCL_LOOKS_OTHER    /* a database, chunks, an index, something unknown */
} rocl_look;

/* ROCL_INPUT, ROCL_INTERNAL: it could not be looked at. A missing input is not a failure. */
ROCL_API rocl_status rocl_input_look(const char *path, rocl_look *look, rocl_error *err);

/* All that the profiler knew about an agent, as a JSON object; free() it. "{}" if the input has
 * nothing. Read on request, because it can be 100 KiB per agent and process. */
ROCL_API rocl_status rocl_agent_json(rocl_trace *t, const rocl_capture *c, uint32_t agent,
                                     char **json, rocl_error *err);

/* Records left out or repaired in the last run over the trace, even a failed one, by reason. */
ROCL_API uint64_t rocl_trace_faults(const rocl_trace *t, rocl_fault f);
/* Events of a kind that passed the filters in that run. */
ROCL_API uint64_t rocl_trace_events(const rocl_trace *t, rocl_kind k);
/* Number of texts read so far that contain NUL or bytes that are not UTF-8. */
ROCL_API uint64_t rocl_trace_bad_texts(const rocl_trace *t);
#define ROCL_BAD_TEXT "holds NUL or bytes that are not UTF-8"

/* The first start and the last end of these events. False: there were none, or
 * rocl_options.note_times was not set. */
ROCL_API bool rocl_trace_times(const rocl_trace *t, int64_t *first, int64_t *last);

/* The files that a trace is made of, in the order of the inputs. */
typedef struct rocl_input {
    const char *path;
    const char *format;  /* "rocpd database" */
    const char *version; /* of the format, as the input says; "": it does not */
    const char *writer;  /* "rocprofiler-systems"; "": neither the input nor its format says so */
    uint64_t bytes;      /* of the file, or of all files of its run; 0: not a regular file */
    int64_t modified;    /* seconds since 1970, the latest of these files; 0: not a regular file */
    size_t captures;     /* captures in it */
} rocl_input;
ROCL_API size_t rocl_trace_inputs(const rocl_trace *t);
ROCL_API rocl_input rocl_trace_input(const rocl_trace *t, size_t i); /* i < inputs */

/* Sets of kinds: ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY). ROCL_ALL_KINDS are events with a
 * duration or a value; flows are read only on request. */
#define ROCL_BIT(kind) (1u << (kind))
#define ROCL_ALL_KINDS ((1u << ROCL_FLOW) - 1)

/* Optional fields: those that are not asked for are not read, and are 0. */
enum {
    ROCL_FIELD_PARENT = 1,       /* rocl_event.parent_stack_id */
    ROCL_FIELD_CORRELATION = 2,  /* rocl_event.correlation_id */
    ROCL_FIELD_ADDRESSES = 4,    /* rocl_copy.src_address, dst_address */
    ROCL_FIELD_GRAPH = 8,        /* rocl_dispatch.graph_exec_id, graph_node_id */
    ROCL_FIELD_DISPATCH_ID = 16, /* rocl_dispatch.dispatch_id */
    ROCL_FIELD_PACKET = 32,      /* rocl_dispatch.packet */
    ROCL_ALL_FIELDS = 63,
    /* Not in ROCL_ALL_FIELDS: a ROCL_COUNTER for each hardware instance, instead of their sum. */
    ROCL_FIELD_INSTANCES = 64,
    /* Not in it either: rocl_counter_value.instance of a sum. */
    ROCL_FIELD_PLACES = 128,
    /* Not in it either: arguments of calls named "stream" or "event", even without
     * rocl_options.args; of some inputs all arguments. */
    ROCL_FIELD_HANDLES = 256,
};

/* One pass over the events of `kinds` that pass the filters. The workers call `fn` concurrently,
 * with a batch each time, in no order; `worker` is below rocl_trace_jobs(). A batch is valid until
 * fn returns. A status other than ROCL_OK from fn ends the run and is returned. ROCL_PARTIAL:
 * records were left out or repaired. */
typedef rocl_status rocl_batch_fn(void *ctx, unsigned worker, const rocl_batch *batch,
                                  rocl_error *err);
ROCL_API rocl_status rocl_trace_scan(rocl_trace *t, uint32_t kinds, uint32_t fields,
                                     rocl_batch_fn *fn, void *ctx, rocl_error *err);
ROCL_API unsigned rocl_trace_jobs(const rocl_trace *t); /* workers of a run, at least 1 */

/* ---- writing --------------------------------------------------------------------------------- */

/* `level` means the same in all options below: how hard to compress, from 1 (fast) to 9 (small); 0:
 * the default of the output; ROCL_UNCOMPRESSED: not at all; ROCL_FASTEST: as fast as this build
 * can. That is level 1, or, for deflate, ISA-L if the build has it; only the bytes of ISA-L may
 * depend on the processor. Other values are ROCL_USAGE. Every writer passes once over the trace
 * (ROCL_PARTIAL: records were left out or repaired, see rocl_trace_faults), and its output appears
 * when it is complete, or not at all. */
#define ROCL_GZIP_LEVEL    6 /* the default of gzip files */
#define ROCL_PFTRACE_LEVEL 1 /* of packets: under 12 bytes a slice; level 2 saves 0 to 1 % more */
#define ROCL_CHUNK_LEVEL   2 /* of chunks */

/* What a writer has written. A writer fills the fields that apply to its output and leaves the
 * others 0. NULL may be passed instead. */
typedef struct rocl_written {
    size_t files;
    uint64_t bytes; /* of all files */
    /* pictures: pftrace, Chrome JSON, OTF2 */
    uint64_t slices;    /* of host and GPU; in OTF2 each is an Enter and a Leave */
    uint64_t instants;  /* OTF2: slices without a length */
    uint64_t values;    /* of counters and metrics */
    uint64_t locations; /* OTF2 */
    uint64_t lanes;     /* extra rows for slices that overlap without nesting */
    uint64_t moved;     /* slices in them */
    /* databases */
    uint64_t rows;    /* of all tables */
    uint64_t changed; /* rows that differ from their events; notices say why */
    uint64_t copied,
        copied_rows; /* processes that were copied without reading their events, and their rows */
    /* recordings */
    uint64_t chunks, events, processes;
    uint64_t dropped; /* events that the recorder could not keep */
    uint64_t damaged; /* events in chunks that are damaged or missing */
    /* legacy text */
    uint64_t lines;    /* read */
    uint64_t records;  /* lines that are records, broken or not */
    uint64_t left_out; /* records that are broken or hold no times */
    uint64_t repaired; /* records with bytes that are not UTF-8: shown as U+FFFD */
    uint64_t empty;    /* inputs without a record */
} rocl_written;

typedef enum rocl_csv_style {
    ROCL_CSV_ROCPD_1_0,
    ROCL_CSV_ROCPD_1_1,
    ROCL_CSV_ROCPROFV3,
    ROCL_CSV_ROCPROF /* rocprof v1: dispatches and their counters in one file, PREFIX.csv */
} rocl_csv_style;

typedef struct rocl_csv_options {
    rocl_csv_style style;
    const char *directory;    /* of the files */
    const char *prefix;       /* "out" gives out_kernel_trace.csv; ROCPROFV3: before "<pid>_" */
    const char *path;         /* output file for a single kind, "-": standard output; else NULL */
    bool gzip;                /* add .gz */
    int level;                /* of gzip */
    bool duration, bytes;     /* extra columns */
    const char *const *kinds; /* file kinds to write ("kernel_trace", "kernel", ...); NULL: all */
} rocl_csv_options;

/* Writes the CSV files. ROCL_PARTIAL when records were left out or repaired (see faults). */
ROCL_API rocl_status rocl_write_csv(rocl_trace *t, const rocl_csv_options *o, rocl_written *written,
                                    rocl_error *err);

/* Tables of events and of definitions, in columnar files or JSON lines. */
typedef enum rocl_export_format {
    ROCL_EXPORT_PARQUET,
    ROCL_EXPORT_ARROW,  /* Arrow IPC file, Feather V2 */
    ROCL_EXPORT_ARROWS, /* Arrow IPC stream */
    ROCL_EXPORT_JSONL   /* JSON lines: an object for each row */
} rocl_export_format;

typedef enum rocl_export_codec {
    ROCL_CODEC_DEFAULT, /* Parquet: zstd, or gzip if the library was built without it; other
                           formats: none */
    ROCL_CODEC_NONE,
    ROCL_CODEC_GZIP, /* Parquet, JSON lines */
    ROCL_CODEC_ZSTD  /* Parquet, Arrow */
} rocl_export_codec;

typedef struct rocl_export_options {
    rocl_export_format format;
    const char *directory; /* of the files; NULL: the current one */
    const char *prefix;    /* "out" gives out_kernel.parquet */
    const char
        *path; /* output file for a single kind (JSON lines: for all), "-": standard output */
    const char *const *kinds; /* relations to write: "kernel", "region", ...; NULL: all */
    bool all_columns;         /* also columns that most people do not need */
    rocl_export_codec codec;
    int level; /* of the codec */
} rocl_export_options;

/* Writes a file for each kind that has rows: events, process by process in order of time, and
 * definitions. Columns are those of rocl_export_column_of(). Integers have 64 bits, times are ns on
 * the clock of the node, unknown values NULL. ROCL_USAGE: an unknown kind, several kinds for one
 * path, a codec that the format or the build lacks. ROCL_PARTIAL: records were left out or
 * repaired, or texts were not valid UTF-8. */
ROCL_API rocl_status rocl_write_export(rocl_trace *t, const rocl_export_options *o,
                                       rocl_written *written, rocl_error *err);
ROCL_API const char *rocl_export_kind_word(const void *ctx, size_t i); /* a rocl_word_fn */

typedef struct rocl_export_column {
    const char *name, *type; /* "INT64", "DOUBLE" or "TEXT" */
    const char *doc;         /* one line */
    bool detail;             /* only with all_columns */
} rocl_export_column;
/* The i-th column of a kind; false: it has no more, or the kind is unknown. */
ROCL_API bool rocl_export_column_of(const char *kind, size_t i, rocl_export_column *column);

typedef struct rocl_pftrace_options {
    const char *path; /* "-": standard output; a name that ends in .gz: gzip */
    int level;        /* of packets, or of the whole file if it is gzip */
    bool group_by_queue;
    bool legacy_tracks; /* plain track events in AMD's layout */
    bool counters;      /* also attach the values of counters to their dispatches */
    bool zstd;          /* compress packets with zstd, which Perfetto reads since version 58 */
} rocl_pftrace_options;

/* Can packets be copied instead of being written anew from events? The input must be one Perfetto
 * trace, opened with `copy_packets`, and no option but a time window be used. */
ROCL_API bool rocl_pftrace_is_cut(const rocl_trace *t, const rocl_pftrace_options *o);
/* If so, copies what is in the window, including packets that are not events. */
ROCL_API rocl_status rocl_cut_pftrace(rocl_trace *t, const rocl_pftrace_options *o,
                                      rocl_written *report, rocl_error *err);

/* Writes a Perfetto trace. */
ROCL_API rocl_status rocl_write_pftrace(rocl_trace *t, const rocl_pftrace_options *o,
                                        rocl_written *written, rocl_error *err);

typedef struct rocl_chrome_options {
    const char *path; /* "-": standard output; a name that ends in .gz: gzip */
    bool gzip;        /* whatever the name */
    int level;        /* of gzip */
    bool flows;       /* arrows from host calls to the GPU work that they launched */
    bool group_by_queue;
} rocl_chrome_options;

/* Writes Chrome trace-event JSON, for chrome://tracing and Perfetto. Times in it are microseconds
 * with three decimals since otherData.timeBaseNanoseconds, a text: "0" if the last time is below
 * 2^51 ns, else the first time written, rounded down to a second. Thus times are exact to the
 * nanosecond even as doubles. */
ROCL_API rocl_status rocl_write_chrome(rocl_trace *t, const rocl_chrome_options *o,
                                       rocl_written *written, rocl_error *err);

typedef struct rocl_json_options { /* for JSON in the layout of a profiler */
    const char *path;              /* "-": standard output; a name that ends in .gz: gzip */
    bool gzip;                     /* whatever the name */
    int level;                     /* of gzip */
} rocl_json_options;

/* Writes results.json as rocprof v1 does since ROCm 6.2. written->left_out: events that do not fit
 * this layout, which a notice counts. */
ROCL_API rocl_status rocl_write_rocprof_json(rocl_trace *t, const rocl_json_options *o,
                                             rocl_written *written, rocl_error *err);

/* Writes JSON as rocprofv3 of ROCm 7.0 does, with an element for each process of the trace.
 * written->left_out: events that do not fit this layout, which a notice counts. */
ROCL_API rocl_status rocl_write_rocprofv3_json(rocl_trace *t, const rocl_json_options *o,
                                               rocl_written *written, rocl_error *err);

typedef struct rocl_kineto_options {
    const char *path; /* "-": standard output; a name that ends in .gz: gzip */
    bool gzip;        /* whatever the name */
    int level;        /* of gzip */
    bool group_by_queue;
} rocl_kineto_options;

/* Writes JSON as PyTorch's profiler does, for PyTorch's tools. Several ranks give a file each:
 * "out_rank3.json" for path "out.json"; then standard output is ROCL_USAGE. written->left_out:
 * events that do not fit this layout, which a notice counts. */
ROCL_API rocl_status rocl_write_kineto(rocl_trace *t, const rocl_kineto_options *o,
                                       rocl_written *written, rocl_error *err);

typedef struct rocl_otf2_options {
    const char *path;  /* of the anchor file: ends in .otf2 */
    size_t chunk_size; /* size of the event buffers: 256 KiB to 16 MiB; 0: 1 MiB */
    bool group_by_queue;
} rocl_otf2_options;

/* Writes an OTF2 archive: path, next to it a .def, a .marker if there are markers, and a folder,
 * which replace those of an older archive when all is complete. A folder of that name that contains
 * anything else is left alone, and the status is ROCL_OUTPUT. ROCL_USAGE if the library was built
 * without libotf2; rocl_has_otf2() tells. A process may run only one at a time: the error handler
 * of libotf2 is global. After ROCL_OUTPUT some memory and files of libotf2 stay open: it cannot
 * close them. */
ROCL_API rocl_status rocl_write_otf2(rocl_trace *t, const rocl_otf2_options *o,
                                     rocl_written *written, rocl_error *err);
ROCL_API bool rocl_has_otf2(void);

/* ---- several outputs of one reading ---------------------------------------------------------- */

/* Makes one output: calls one of the writers above (not those below), as it would alone. */
typedef struct rocl_writer {
    rocl_status (*write)(rocl_trace *t, void *ctx, rocl_error *err);
    void *ctx;
} rocl_writer;

/* Calls all of them, each in its own thread but one at a time, and reads the trace once for all of
 * them. Each output has the same bytes as when written alone. Either all appear or, if one fails,
 * none; the error is that of the first to fail. Devices, pipes and standard output keep what was
 * written to them. At most one of them can be an OTF2 archive. */
ROCL_API rocl_status rocl_write_together(rocl_trace *t, const rocl_writer *writers, size_t count,
                                         rocl_error *err);

/* ---- merging --------------------------------------------------------------------------------- */

typedef struct rocl_rocpd_options {
    const char *path;      /* of the database: a new file or an existing one, but not an input */
    bool flat;             /* one set of tables, numbered anew, instead of one for each process */
    bool keep_environment; /* of the processes; else only the MPI rank is copied */
    /* Cut the time into slices, each in its own file: "out.db" gives "out-1.db" and so on.
     * An event belongs to the slice in which it starts. At most 500 slices. */
    unsigned slices;  /* number of slices of equal length; 0: do not cut */
    int64_t slice_ns; /* length of each, from the first start on; 0: do not cut */
    bool rebuild;     /* write databases from their events, too, instead of copying rows */
} rocl_rocpd_options;

/* Writes one rocpd database of all inputs: schema 3, with all tables and columns that any of them
 * has. Without filters every row of a database is copied, even broken ones; with filters, the rows
 * of events that pass, and the rows that they refer to. Other inputs are written from their events.
 * ROCL_PARTIAL: records were left out or changed. */
ROCL_API rocl_status rocl_write_rocpd(rocl_trace *t, const rocl_rocpd_options *o,
                                      rocl_written *written, rocl_error *err);

typedef struct rocl_package_options {
    const char *folder; /* created if missing; it gets an index.yaml */
    bool consolidate;   /* write the databases into it, by the rules of rocl_write_rocpd() */
    bool keep_environment;
} rocl_package_options;

/* Writes an index of the inputs, which stay where and as they are. Filters need consolidate. */
ROCL_API rocl_status rocl_write_package(rocl_trace *t, const rocl_package_options *o,
                                        rocl_written *written, rocl_error *err);

/* ---- statistics ------------------------------------------------------------------------------ */

/* Reports: bits of rocl_stats_options.reports. Each answers a question with some tables. */
typedef enum rocl_report {
    ROCL_REPORT_SUMMARY,     /* by domain, and by domain and name: calls, time, percentiles */
    ROCL_REPORT_KERNELS,     /* by name, by what they compute, by duration */
    ROCL_REPORT_COPIES,      /* by direction and agents, by size: time, bytes, bandwidth */
    ROCL_REPORT_OVERLAP,     /* per GPU: compute, copy, both, idle; over time */
    ROCL_REPORT_GAPS,        /* per GPU: idle times, and what they wait for */
    ROCL_REPORT_LAUNCH,      /* calls that launch work, its delays, HIP graphs */
    ROCL_REPORT_STREAMS,     /* per stream and queue: busy time, outstanding work */
    ROCL_REPORT_MEMORY,      /* per agent: allocations, peak, leaks; scratch memory */
    ROCL_REPORT_MARKERS,     /* time on the host, and of the GPU work from inside */
    ROCL_REPORT_STEPS,       /* of a program, such as ProfilerStep#12; repeated kernels */
    ROCL_REPORT_RANKS,       /* imbalance, collectives; set rocl_options.collectives */
    ROCL_REPORT_COUNTERS,    /* of kernels, and values over time: power, frequency; energy */
    ROCL_REPORT_ROOFLINE,    /* of operators, which needs arguments; occupancy of kernels */
    ROCL_REPORT_ATTRIBUTION, /* GPU time by the ranges and calls that launched it, as a tree */
    /* What the end waited for, back to the begin; uses what_if. */
    ROCL_REPORT_CRITICAL_PATH,
    ROCL_REPORT_DOCTOR, /* whether the trace can be trusted */
    ROCL_REPORTS
} rocl_report;

ROCL_API const char *rocl_report_name(rocl_report r); /* "summary", ... as the tool takes it */
ROCL_API const char *rocl_report_help(rocl_report r); /* what it is about: half a sentence */
/* The keys of its tables, the i-th; NULL after the last. */
ROCL_API const char *rocl_report_table(rocl_report r, size_t i);
ROCL_API const char *rocl_table_title(const char *key); /* of such a table */

typedef struct rocl_tables rocl_tables; /* the results of reports */

/* What a trace is, as tables: totals (one row), files, hosts, gpus, processes, kinds, faults. The
 * events and faults are those of the last run over the trace; nothing is read again. Free them with
 * rocl_tables_free. */
ROCL_API rocl_status rocl_describe_trace(const rocl_trace *t, rocl_tables **tables,
                                         rocl_error *err);

/* The result of checking an input: all of it was read, unless `error` says why not. */
typedef struct rocl_checked {
    const char *input;   /* as it was named */
    const char *formats; /* "rocpd database, recording of rocrec"; NULL: it cannot be opened */
    const char *error;   /* why it cannot be read; NULL: it can */
    rocl_status status;
    uint64_t events, faults[ROCL_FAULTS]; /* as of rocl_trace_events(), rocl_trace_faults() */
    uint64_t texts;                       /* as of rocl_trace_bad_texts() */
} rocl_checked;

/* "intact", "has faults", "cannot be read" */
ROCL_API const char *rocl_checked_outcome(const rocl_checked *c);
/* The checks as tables: inputs, faults. The texts are copied. Free them with rocl_tables_free. */
ROCL_API rocl_status rocl_describe_checks(const rocl_checked *checks, size_t n,
                                          rocl_tables **tables, rocl_error *err);

typedef enum rocl_sort_by {
    ROCL_BY_TOTAL,
    ROCL_BY_CALLS,
    ROCL_BY_AVERAGE,
    ROCL_BY_MAX,
    ROCL_BY_NAME
} rocl_sort_by;

/* The work between which a GPU is idle. */
typedef enum rocl_between {
    ROCL_BETWEEN_ALL, /* kernels and copies */
    ROCL_BETWEEN_KERNELS,
    ROCL_BETWEEN_COPIES
} rocl_between;

typedef struct rocl_stats_options {
    uint32_t reports; /* 1 << rocl_report each */
    /* Only the tables with these keys (NULL-terminated) are made of them. NULL: all. */
    const char *const *tables;
    bool by_rank, by_agent, by_stream, by_dims; /* group also by these */
    rocl_sort_by sort;
    size_t top;      /* rows per table, 0: all; a last row sums up the others */
    size_t most;     /* if top is 0: the same, for tables that would show all rows */
    int64_t min_gap; /* ns: shorter idle times are not gaps */
    rocl_between gaps_between;
    const char *const *domains; /* only these in the reports domains and summary; NULL: all */
    /* Regular expressions for names of domains: a further table of the report summary has the
     * domains that an expression matches as one group. NULL: none. */
    const char *const *summary_groups;
    bool header;   /* begin with a table, or two, of what was traced; see rocl_options.note_times */
    bool findings; /* begin with a table of what stands out: can it be trusted, what costs time */
    uint32_t named; /* 1 << rocl_report: also findings that need these, whatever that costs */
    bool brief;    /* fewer columns and rows: what fits on a screen */
    bool pictures; /* for people: draw bars and lines with characters where they say more than rows
                    */
    bool ascii;    /* draw them with ASCII only */
    size_t slices; /* of OVERLAP over time; 0: 60 with pictures, else 1000 */
    /* Files with definitions of derived counters (metrics.xml of rocprof, counter_defs.yaml of
     * rocprofv3), for COUNTERS. NULL: none. */
    const char *const *derive;
    const char *derive_arch; /* of GPUs of unknown architecture, "gfx90a"; NULL: none */
    bool by_dispatch;        /* add a table: derived counters of each dispatch */
    const char *peak;        /* of ROOFLINE: "MI300X", a name of `peaks`; NULL: of the GPU */
    const char *peaks;       /* a file of peaks, see rocstats-roofline(1); NULL: the shipped ones */
    bool by_marker;          /* add a table: sampled values during the ranges of each marker */
    bool rests;              /* the tables may be cut by rocl_tables_cut() */
    bool ids;                /* columns with ids of single events, for rocl_show_event() */
    bool comparability;      /* of rocl_compare(): all tables, also those of comparability, causes,
                                classes, steps and limits; else only the one by name */
    /* CRITICAL_PATH takes at most 32 of "NAME=2x": how long the whole would take if work of this
     * name (a pattern of fnmatch) were twice as fast. NULL: the names with the largest shares. */
    const char *const *what_if;
} rocl_stats_options;

/* One pass over the events. ROCL_PARTIAL: done, and records were left out or repaired. Free the
 * tables with rocl_tables_free(). */
ROCL_API rocl_status rocl_stats(rocl_trace *t, const rocl_stats_options *o, rocl_tables **tables,
                                rocl_error *err);
/* The part of a rank other than 0 in a team that collects (rocl_options.team_collects), for
 * rocl_team_serve(). ctx is not used. */
ROCL_API rocl_status rocl_stats_rank(rocl_trace *t, void *ctx, rocl_error *err);
/* Can the ranks collect everything for these reports? Else rank 0 needs their events for some. */
ROCL_API bool rocl_stats_collects(const rocl_stats_options *o);
ROCL_API void rocl_tables_free(rocl_tables *t);

/* The i-th key of a table that rocl_stats() or rocl_compare() may make; NULL after the last. */
ROCL_API const char *rocl_table_word(const void *ctx, size_t i);
/* Is there a table with this key? */
ROCL_API bool rocl_tables_have(const rocl_tables *t, const char *key);
/* Keeps only headers and the tables with these keys (NULL-terminated), in their order. */
ROCL_API void rocl_tables_keep(rocl_tables *t, const char *const *keys);

/* The verdict of ROCL_REPORT_DOCTOR; SOUND if there is no such report, or nothing was checked. */
typedef enum rocl_trust { ROCL_TRUST_SOUND, ROCL_TRUST_DOUBTS, ROCL_TRUST_UNUSABLE } rocl_trust;
ROCL_API rocl_trust rocl_tables_trust(const rocl_tables *t);

/* What takes longer in B than in A: how many, and the worst, which costs the most time. */
typedef struct rocl_growth {
    uint64_t count;
    bool added;         /* the worst is not in A */
    double percent;     /* by which the worst grew; may be infinite */
    double cost;        /* of the worst, in ns */
    const char *domain; /* of the worst; NULL: of all domains together */
    const char *name;   /* of the worst, owned by the tables; NULL: the whole domain */
} rocl_growth;

/* The limits of a comparison, and what exceeds them. Names below 0.1 % of the time of their domain
 * in B do not count, nor do domains below 0.1 % of all; see rocstats-compare(7). */
typedef struct rocl_gate {
    double average, total; /* limits in percent; infinite: none */
    bool totals;           /* the table of limits includes those of totals */
    /* All names are tested; else only kernels that are no communication: others may wait, and
     * become longer where something else does. */
    bool all;
    /* Why nothing could be tested, although there is a limit; owned by the tables. NULL: something
     * was. Then nothing below counts. */
    const char *untested;
    /* Names that are new, or whose average grew by more than the limit: significantly (grown), or
     * with too few calls for any growth to be significant (not_judged). */
    rocl_growth grown, not_judged;
    /* Names and domains that are new or whose total grew by more than the limit, and the same of
     * the sum of all durations. */
    rocl_growth total_names, total_domains, total_trace;
} rocl_gate;

/* Compares two traces by domain and name, the largest change of total time first. Of the options
 * only top, brief, header and comparability apply. gate (may be NULL) has the limits,
 * and gets the results. One pass over each trace; ROCL_PARTIAL as of rocl_stats(). Free the tables
 * with rocl_tables_free(). */
ROCL_API rocl_status rocl_compare(rocl_trace *a, rocl_trace *b, const rocl_stats_options *o,
                                  rocl_gate *gate, rocl_tables **tables, rocl_error *err);

/* What a comparison needs of a trace, read from a JSON file that may hold several by name; see
 * rocline-baseline(5). */
typedef struct rocl_baseline rocl_baseline;
/* Reads the trace and adds its baseline to the file, or replaces the one of that name (NULL:
 * "base"). "-": standard output. ROCL_PARTIAL as of rocl_stats. */
ROCL_API rocl_status rocl_baseline_write(rocl_trace *t, const char *path, const char *name,
                                         rocl_error *err);
/* Does the file begin like a file of baselines? */
ROCL_API bool rocl_is_baseline(const char *path);
/* name NULL: the only one in the file. Free it. */
ROCL_API rocl_status rocl_baseline_read(rocl_baseline **b, const char *path, const char *name,
                                        rocl_error *err);
ROCL_API void rocl_baseline_free(rocl_baseline *b);
/* rocl_compare() of the trace of the baseline, which itself is not needed, and b. */
ROCL_API rocl_status rocl_compare_baseline(const rocl_baseline *a, rocl_trace *b,
                                           const rocl_stats_options *o, rocl_gate *gate,
                                           rocl_tables **tables, rocl_error *err);

/* Compares several runs of A with several of B: is a difference larger than the noise between runs?
 * Add runs one by one, from one thread; at least three in all, and one of each side. */
typedef struct rocl_runs rocl_runs;
ROCL_API rocl_status rocl_runs_new(rocl_runs **runs, rocl_error *err);
/* Reads the trace, which may be closed afterwards. b: a run of B, else of A. ROCL_PARTIAL as of
 * rocl_stats. */
ROCL_API rocl_status rocl_runs_add(rocl_runs *runs, bool b, rocl_trace *t, rocl_error *err);
ROCL_API rocl_status rocl_runs_add_baseline(rocl_runs *runs, bool b, const rocl_baseline *of,
                                            rocl_error *err);
/* Makes the tables. t: an open trace, for its classes of kernels. Options and gate as of
 * rocl_compare(), without the totals of domains and traces. */
ROCL_API rocl_status rocl_runs_compare(rocl_runs *runs, rocl_trace *t, const rocl_stats_options *o,
                                       rocl_gate *gate, rocl_tables **tables, rocl_error *err);
ROCL_API void rocl_runs_free(rocl_runs *runs);

typedef enum rocl_table_format {
    ROCL_TABLE_TEXT,
    ROCL_TABLE_CSV,
    ROCL_TABLE_TSV,
    ROCL_TABLE_JSON,
    ROCL_TABLE_MARKDOWN,
    ROCL_TABLE_CONSOLE, /* the report summary as `rocprofv3 -S` prints it */
    ROCL_TABLE_HTML,    /* one page with charts, for a browser */
    ROCL_TABLE_FOLDED,  /* the report attribution, as lines "outer;inner;kernel NS" */
    ROCL_TABLE_JUNIT,   /* the limits of a comparison as test cases in XML */
    ROCL_TABLE_GITHUB,  /* a comparison as workflow commands of GitHub Actions */
} rocl_table_format;

/* What users call them. */
#define ROCL_TABLE_FORMAT_NAMES "text|csv|tsv|json|md|markdown|table|html|folded|junit|github"
/* The format of this name. False: there is none. */
ROCL_API bool rocl_table_format_named(const char *name, rocl_table_format *format);

typedef enum rocl_summary_unit { /* in the words of rocprofv3 */
                                 ROCL_SUMMARY_NSEC,
                                 ROCL_SUMMARY_USEC,
                                 ROCL_SUMMARY_MSEC,
                                 ROCL_SUMMARY_SEC
} rocl_summary_unit;

/* Which tables of a summary: of each domain, of the groups of domains, of everything. None set:
 * all. */
typedef struct rocl_summary_options {
    bool domains, groups, whole;
    rocl_summary_unit unit;
    unsigned indent; /* blanks before each line */
} rocl_summary_options;

typedef struct rocl_table_options {
    const char *path; /* "-": standard output */
    rocl_table_format format;
    unsigned width;               /* TEXT: columns of the terminal, 0: do not cut names */
    rocl_summary_options summary; /* CONSOLE */
} rocl_table_options;

ROCL_API rocl_status rocl_write_tables(const rocl_tables *t, const rocl_table_options *o,
                                       rocl_error *err);
/* Prints tables into memory, ignoring the path: a NUL-terminated text; free() it. NULL after an
 * error. */
ROCL_API rocl_status rocl_print_tables(const rocl_tables *t, const rocl_table_options *o,
                                       char **text, size_t *len, rocl_error *err);

/* Worked questions and their commands, as a table. */
ROCL_API rocl_status rocl_recipes(rocl_tables **tables, rocl_error *err);

/* ---- a page for browsers --------------------------------------------------------------------- */

#define ROCL_PAGE_EVENTS 2000000 /* the default of max_events */

typedef struct rocl_page_options {
    const char *path;          /* "-": standard output; a name that ends in .gz: gzip */
    const rocl_tables *tables; /* of a report, to be on the page as well; NULL: none */
    bool front;                /* the page opens with the timeline, not with the report */
    bool group_by_queue;       /* GPU work is shown by hardware queue, not by stream */
    uint64_t max_events;       /* events with full details; 0: ROCL_PAGE_EVENTS */
    /* The part of the time (as in rocl_options.start) whose events the page has in detail; it has
     * only densities of the others. Both NULL: all of the time, or, if that is too much, the part
     * in which events are densest. */
    const char *from, *to;
    int level; /* of the data */
} rocl_page_options;

/* Writes a timeline as an HTML page that needs nothing else: tracks by process, GPU, queue or
 * stream, and thread. written->slices: events, written->values: values of counters and bytes over
 * time. A notice says when some are only densities. */
ROCL_API rocl_status rocl_write_page(rocl_trace *t, const rocl_page_options *o,
                                     rocl_written *written, rocl_error *err);

/* Cuts rows from the ends of tables until they take at most `bytes` in a format, JSON or Markdown;
 * a last row counts the others and sums them up (of a report if rocl_stats_options.rests was set).
 * The tables get rows in turn, as long as they fit; the advice is whole. If a row of each is too
 * much, tables at the end are removed, but not the advice; returns how many. *fits false: the rest
 * is still too long. */
ROCL_API size_t rocl_tables_cut(rocl_tables *all, rocl_table_format format, size_t bytes,
                                bool *fits);

/* ---- single events --------------------------------------------------------------------------- */

/* What is known of an event, and how it is related to others. Its id is "KIND:GUID:ROW", as in
 * columns of reports (rocl_stats_options.ids): rocl_kind_name(), the GUID of its process or any
 * unique prefix of it (empty if the trace has one capture), rocl_event.id. ROCL_USAGE: not an id,
 * or the trace has no such event. Tables: event (one row), arguments, chain (the ranges around it
 * on the host, the call that launched it, what it launched, counters), effects (what it launched,
 * by name), neighbours. */
ROCL_API rocl_status rocl_show_event(rocl_trace *t, const char *id, rocl_tables **tables,
                                     rocl_error *err);
/* Only chain and effects. */
ROCL_API rocl_status rocl_correlate_event(rocl_trace *t, const char *id, rocl_tables **tables,
                                          rocl_error *err);

/* ---- a timeline in memory ---------------------------------------------------------------------
 */

/* The tracks of a trace with all their slices, for interactive viewers: one thread loads it, and
 * one other thread may query it meanwhile. Until the slices of a process are loaded, its tracks
 * have densities of what has been read.
 *
 * Memory: 30 bytes a slice, 8 more in rows that have slices with bytes, and 17 a value; while it is
 * loaded, also rocl_options.memory. */
typedef struct rocl_picture rocl_picture;

typedef struct rocl_picture_options {
    bool group_by_queue; /* GPU work is shown by queue, not by stream */
} rocl_picture_options;

ROCL_API rocl_status rocl_picture_open(rocl_picture **p, rocl_trace *t,
                                       const rocl_picture_options *o, rocl_error *err);
/* Reads the trace; call it once. ROCL_PARTIAL: records were left out or repaired. */
ROCL_API rocl_status rocl_picture_load(rocl_picture *p, rocl_error *err);
/* From any thread: loading ends soon, with ROCL_INTERNAL. */
ROCL_API void rocl_picture_cancel(rocl_picture *p);
ROCL_API void rocl_picture_close(rocl_picture *p); /* not while it is loaded */

typedef struct rocl_picture_state {
    bool loaded;
    uint32_t tracks;           /* so far */
    uint64_t generation;       /* changes when there is something new */
    int64_t first, last;       /* ns; first > last: nothing yet */
    uint64_t events;           /* read */
    uint64_t slices, instants; /* in rows, of processes that are complete */
    uint64_t moved;            /* of these: in further rows because they overlap */
    uint64_t values;           /* events with a value: of counters and samples */
} rocl_picture_state;
ROCL_API rocl_picture_state rocl_picture_look(rocl_picture *p);

typedef enum rocl_picture_kind {
    ROCL_PICTURE_MACHINE, /* has no parent; all other tracks are below one */
    ROCL_PICTURE_PROCESS,
    ROCL_PICTURE_GPU,
    ROCL_PICTURE_WORK,   /* of a GPU: stream, queue, copies, ... */
    ROCL_PICTURE_THREAD, /* host calls and markers */
    ROCL_PICTURE_VALUES  /* of a counter, or bytes */
} rocl_picture_kind;

/* Tracks are numbered from 0 as they are found; numbers do not change. */
typedef struct rocl_picture_track {
    rocl_picture_kind kind;
    uint32_t parent; /* ROCL_NONE: it is a machine */
    uint64_t order;  /* among those with the same parent */
    const char *label;
    uint32_t rows;   /* of slices or values; 0: none, or not yet */
    uint64_t slices; /* in all of them */
    bool loaded;     /* rows and slices are known */
} rocl_picture_track;
ROCL_API rocl_picture_track rocl_picture_track_at(rocl_picture *p, uint32_t track);

/* A slice or a value; the index counts in order of time within its row. */
typedef struct rocl_picture_ref {
    uint32_t track, row, index;
} rocl_picture_ref;

/* One of n equal parts of a span of time, in a row. */
typedef struct rocl_cell {
    uint64_t busy;  /* ns covered by slices, which may extend beyond the cell */
    double value;   /* of values: the largest */
    uint32_t count; /* slices or values that are at least partly in it */
    rocl_picture_ref
        longest; /* the longest slice in it; index ROCL_NONE: none, or not yet loaded */
} rocl_cell;
/* Fills n cells, from < to. row ROCL_NONE: the track and all below it; each cell is then that of
 * the fullest row, among rows whose slices are not nested in others. Tracks that are not loaded
 * have only densities. */
ROCL_API void rocl_picture_cells(rocl_picture *p, uint32_t track, uint32_t row, int64_t from,
                                 int64_t to, size_t n, rocl_cell *cells);
/* The largest value of a row of values. */
ROCL_API double rocl_picture_peak(rocl_picture *p, uint32_t track, uint32_t row);

typedef struct rocl_picture_slice {
    const rocl_capture *capture;
    rocl_kind kind;
    int64_t start, end;
    uint32_t name, category; /* texts */
    uint64_t id;             /* rocl_event.id */
    uint64_t stack_id;       /* 0: neither launched by a call nor launching anything */
    uint64_t bytes;          /* of a copy or an allocation */
    uint32_t agent, other_agent, queue, stream;
    bool to_agent; /* of a copy: from the other agent to the agent */
    uint32_t workgroup[3], grid[3];
    int64_t private_segment, group_segment;
    bool is_value;
    double value;
} rocl_picture_slice;
/* False: there is none, or not yet. */
ROCL_API bool rocl_picture_get(rocl_picture *p, rocl_picture_ref ref, rocl_picture_slice *slice);
/* The next or previous slice or value of *ref, which begins at `time`, in a row, or (row ROCL_NONE)
 * in a track and all below it. If ref->row is ROCL_NONE: the first that begins at this time or
 * later, or the last that begins at it or before. Those that begin together are ordered by track,
 * row and index. False: there is none. */
ROCL_API bool rocl_picture_step(rocl_picture *p, uint32_t track, uint32_t row, int64_t time,
                                bool backward, rocl_picture_ref *ref);

/* Sets what to search for: a POSIX ERE on names, or exactly this name (a text). Case matters only
 * if the expression has a capital letter. */
ROCL_API rocl_status rocl_picture_search(rocl_picture *p, const char *pattern, rocl_error *err);
ROCL_API rocl_status rocl_picture_search_name(rocl_picture *p, uint32_t name, rocl_error *err);
ROCL_API bool rocl_picture_matches(const rocl_picture *p, uint32_t name);
/* The next slice with a matching name in all tracks, as in rocl_picture_step. */
ROCL_API bool rocl_picture_next_match(rocl_picture *p, int64_t time, bool backward,
                                      rocl_picture_ref *ref);
/* The other end of a launch: the first work that a call launched, or the call that launched a
 * work. */
ROCL_API bool rocl_picture_linked(rocl_picture *p, rocl_picture_ref ref, rocl_picture_ref *other);
/* The next work that was launched by the same call. */
ROCL_API bool rocl_picture_next_linked(rocl_picture *p, rocl_picture_ref ref,
                                       rocl_picture_ref *other);

/* The slices of a name. */
typedef struct rocl_picture_sum {
    uint32_t name; /* text */
    uint64_t count, bytes;
    int64_t total, shortest, longest; /* ns */
    rocl_picture_ref where;           /* the longest */
} rocl_picture_sum;
/* Sums of the slices of some kinds (ROCL_BIT) that begin in [from, to), by name, in no order; free
 * them. */
ROCL_API rocl_status rocl_picture_sums(rocl_picture *p, uint32_t kinds, int64_t from, int64_t to,
                                       rocl_picture_sum **sums, size_t *count, rocl_error *err);

/* ---- answers to programs ----------------------------------------------------------------------
 */

/* The version of the envelope that every `rocline COMMAND --format json` prints: */
#define ROCL_ANSWER_SCHEMA 1

/* One JSON object, written front to back:
 *
 *     {"rocline": "0.1.0", "schema": 1, "command": "stats", "trace": {...}, "data": {...},
 *      "warnings": [...], "errors": [...], "exit_code": 0}
 *
 * A comparison also has "trace_b". Traces and data are null if nothing was put, and may come in any
 * order, which means nothing. The file at `path` ("-": standard output) is opened once there are
 * data; after an error before the last of them it stays as it was, and the answer with the errors
 * goes to standard output. */
typedef struct rocl_answer rocl_answer;

/* inputs: as the user named them, NULL-terminated, or NULL; used to find the file that a message is
 * about. They must live as long as the answer. */
ROCL_API rocl_status rocl_answer_open(rocl_answer **a, const char *path, const char *command,
                                      const char *const *inputs, rocl_error *err);
/* Puts the tables of rocl_describe_trace(), once, and once more for trace B of a comparison; at most
 * `most` rows of each list, SIZE_MAX: all. */
ROCL_API void rocl_answer_put_trace(rocl_answer *a, bool b, const rocl_tables *description,
                                    size_t most);
/* Puts the data as an object with a member for each table, by its key. Either call this once, or
 * the next: */
ROCL_API rocl_status rocl_answer_put_tables(rocl_answer *a, const rocl_tables *data,
                                            rocl_error *err);
/* Puts a piece of the data; all pieces together must be one JSON value, without a put_trace between
 * them. */
ROCL_API rocl_status rocl_answer_put_json(rocl_answer *a, const char *json, size_t len,
                                          rocl_error *err);
ROCL_API size_t rocl_answer_bytes(const rocl_answer *a); /* so far */
/* Adds to "warnings" or "errors"; code ROCL_OK: a notice. The text is copied. */
ROCL_API void rocl_answer_add_message(rocl_answer *a, bool error, rocl_status code,
                                      const char *text);
/* Writes the rest and frees the answer; `status` becomes the exit code. NULL is fine. */
ROCL_API rocl_status rocl_answer_end(rocl_answer *a, rocl_status status, rocl_error *err);

/* Writes the JSON Schema (draft 2020-12) of what a command prints with --format json; NULL: that of
 * the envelope with any data, for commands that are not among rocl_schema_command(). */
ROCL_API rocl_status rocl_write_schema(const char *command, const char *path, rocl_error *err);
/* Commands with a schema of their own; a rocl_word_fn. */
ROCL_API const char *rocl_schema_command(const void *ctx, size_t i);

/* Summaries in the layouts of AMD's tools. */
typedef enum rocl_stats_style {
    ROCL_STYLE_ROCPD,     /* rocpd summary: PREFIX_kernels_summary.csv, ... */
    ROCL_STYLE_ROCPROFV3, /* rocprofv3 --stats: PREFIX_kernel_stats.csv, ... */
    ROCL_STYLE_ROCPROF    /* rocprof --stats: PREFIX.stats.csv, PREFIX.hip_stats.csv, ... */
} rocl_stats_style;

typedef struct rocl_style_options {
    rocl_stats_style style;
    const char *directory; /* of the files; NULL: the current one */
    const char *prefix;    /* NULL: "out", of rocprof "results" */
    /* rocprof: name kernels by their descriptors, which end in .kd, unless the trace (may be NULL)
     * says that they are named by their functions. */
    bool descriptors;
    const rocl_trace *trace;
    bool bare_names; /* rocprof: quote only names of descriptors, as before ROCm 5.2 */
} rocl_style_options;

/* Writes a file for each domain that has calls, and (except rocprof) one for the domains. The
 * tables must hold the reports domains and summary, with all rows and no further grouping. */
ROCL_API rocl_status rocl_write_style(const rocl_tables *t, const rocl_style_options *o,
                                      rocl_written *written, rocl_error *err);

/* ---- SQL ---------------------------------------------------------------------------------------
 */

/* An SQLite database whose tables are the events and definitions of a trace, read on demand;
 * rocline-query(1) lists them. Statements cannot change files: they may create only temporary
 * tables and views in memory. */
typedef struct rocl_query rocl_query;

typedef struct rocl_query_options {
    size_t memory;    /* bytes of rows kept between statements; 0: 256 MiB */
    unsigned seconds; /* limit for a statement; 0: none */
    bool attach;      /* allow ATTACH of database files, which SQLite reads itself */
    /* Statements for which SQLite needs more bytes (tables in memory, aggregates, ...) fail. The
     * limit is one of the whole process (sqlite3_hard_heap_limit64). 0: none */
    size_t heap;
} rocl_query_options;

/* The trace must outlive the query, and nobody else may use it meanwhile. */
ROCL_API rocl_status rocl_query_open(rocl_query **q, rocl_trace *t, const rocl_query_options *o,
                                     rocl_error *err);
ROCL_API void rocl_query_close(rocl_query *q);

/* Ends the running statement soon, with ROCL_INTERNAL "interrupted". May be called from any thread
 * and from signal handlers. */
ROCL_API void rocl_query_interrupt(rocl_query *q);

/* Sets the parameters :NAME, @NAME and $NAME of statements: to a number if the text is one, to NULL
 * if it is NULL. The text is copied. */
ROCL_API rocl_status rocl_query_bind(rocl_query *q, const char *name, const char *text,
                                     rocl_error *err);

typedef enum rocl_sql_type {
    ROCL_SQL_NULL,
    ROCL_SQL_INTEGER,
    ROCL_SQL_REAL,
    ROCL_SQL_TEXT,
    ROCL_SQL_BLOB
} rocl_sql_type;

typedef struct rocl_sql_value {
    rocl_sql_type type;
    int64_t integer;
    double real;
    const char *text; /* or bytes of a blob */
    size_t len;
} rocl_sql_value;

/* A row of the result of a statement; values NULL: the begin of the result, before its first
 * row. */
typedef struct rocl_result_row {
    size_t statement; /* number among the statements that have results, from 0 */
    size_t count;     /* of columns */
    const char *const *columns;
    const char *const *types; /* declared types, "TEXT"; NULL: not a column of a table */
    const rocl_sql_value *values;
} rocl_result_row;

/* Called by the thread that runs the query; the row is valid until it returns. A status other than
 * ROCL_OK ends the query and is returned. */
typedef rocl_status rocl_result_fn(void *ctx, const rocl_result_row *row, rocl_error *err);

/* Runs all statements of a text. ROCL_USAGE: what is wrong in it, and where, "line 1, column 8: no
 * such column: nmae". ROCL_PARTIAL: done, and records of the trace were left out or repaired. */
ROCL_API rocl_status rocl_query_run(rocl_query *q, const char *sql, rocl_result_fn *fn, void *ctx,
                                    rocl_error *err);
/* After ROCL_USAGE: the offset in the text, -1 unknown. */
ROCL_API long rocl_query_error_offset(const rocl_query *q);

/* Are these complete statements, as far as one can tell? For shells. */
ROCL_API bool rocl_query_is_complete(const char *sql);

/* The i-th table or view; false after the last. */
typedef struct rocl_sql_table {
    const char *name, *purpose;
    bool view;
} rocl_sql_table;
ROCL_API bool rocl_sql_table_at(size_t i, rocl_sql_table *t);
/* What a column of this name holds, in one line; "" if the name says it all. */
ROCL_API const char *rocl_sql_column_doc(const char *column);

typedef enum rocl_rows_format {
    ROCL_ROWS_TABLE, /* for people: aligned columns */
    ROCL_ROWS_CSV,
    ROCL_ROWS_TSV,
    ROCL_ROWS_JSON,  /* an array of objects for each statement */
    ROCL_ROWS_JSONL, /* an object a line */
    ROCL_ROWS_MARKDOWN,
    ROCL_ROWS_HTML,
    /* Only one statement; written when it is done; each column has one type. */
    ROCL_ROWS_PARQUET,
    ROCL_ROWS_ARROW, /* Arrow IPC file, Feather V2 */
    ROCL_ROWS_ARROWS /* Arrow IPC stream */
} rocl_rows_format;

#define ROCL_ROWS_FORMAT_NAMES "table|csv|tsv|json|jsonl|md|html|parquet|arrow|arrows"

typedef struct rocl_rows_options {
    const char *path; /* "-": standard output; NULL: the same */
    rocl_rows_format format;
    unsigned width; /* TABLE: columns of the terminal, 0: do not cut texts */
    /* CSV: in the form of AMD's command, with titles such as "Total_Calls" for total_calls, 2.0 for
     * reals without a fraction, and "" for NULL. */
    bool as_python;
    /* JSON and MARKDOWN: at most this many bytes of rows; the other rows are counted. 0: all
     * rows. */
    size_t budget;
    /* JSON: write {"results": [...]} into this answer instead of a file; an element for each
     * statement, with "columns" (names), "rows" (arrays of values) and "left_out" (rows). NULL:
     * none. */
    struct rocl_answer *answer;
} rocl_rows_options;

/* rocl_query_run() into a file. *rows (may be NULL): how many were written. */
ROCL_API rocl_status rocl_query_write(rocl_query *q, const char *sql, const rocl_rows_options *o,
                                      uint64_t *rows, rocl_error *err);

/* ---- the scripts around rtg_tracer ---------------------------------------------------------- */

/* A line that the script prints, without its newline. */
typedef void rocl_say_fn(void *ctx, const char *text, size_t len);

typedef struct rocl_timeline_options {
    const char *path; /* "-": standard output */
    bool gzip;
    int level;          /* of gzip */
    bool flows;         /* -f: arrows from host dispatches to the GPU */
    bool gaps;          /* -g: gap events of HCC devices */
    bool kernel_names;  /* -k: name launches by their kernels */
    bool by_process;    /* -p */
    bool verbose;       /* -v: report lines that are not records */
    bool workgroups;    /* -w: report the distinct work-group sizes */
    unsigned jobs;      /* workers; 0: one per core */
    size_t memory;      /* as in rocl_options, for sorting gaps */
    const char *tmpdir; /* NULL: $TMPDIR, /var/tmp */
    rocl_say_fn *say;
    rocl_progress_fn *progress; /* in bytes */
    rocl_notice_fn *notice;
    void *ctx; /* for say, progress and notice */
} rocl_timeline_options;

/* Legacy text (rtg_tracer, HCC_PROFILE, strace -tttT; rtg(5)) as the JSON of chrome://tracing that
 * rocm-timeline-generator.py makes of it: the same events in the same layout and order. Text goes
 * through in one pass, so inputs may be pipes ("-": standard input) and gzip. ROCL_PARTIAL: records
 * were left out or repaired, or an input has none. ROCL_INPUT: none of the inputs has one. */
ROCL_API rocl_status rocl_write_timeline(const char *const *inputs, size_t count,
                                         const rocl_timeline_options *o, rocl_written *written,
                                         rocl_error *err);
/* Writes that timeline of an open trace whose inputs are all legacy text, with only the lines whose
 * events pass its filters. Broken records are counted as faults of the trace. */
ROCL_API rocl_status rocl_write_timeline_of(rocl_trace *t, const rocl_timeline_options *o,
                                            rocl_written *written, rocl_error *err);

/* ---- chunks --------------------------------------------------------------------------------- */

typedef struct rocl_chunks_options {
    const char *path; /* "-": standard output */
    int level;        /* of chunks */
} rocl_chunks_options;

/* Joins the inputs of the trace, which must all be .rocl files (rocl(5)): all readable chunks,
 * without unused space. Filters do not apply. ROCL_PARTIAL: the inputs lack dropped or torn
 * records. */
ROCL_API rocl_status rocl_write_chunks(rocl_trace *t, const rocl_chunks_options *o,
                                       rocl_written *written, rocl_error *err);

/* The session id in the first chunk of a .rocl file. False: errno says why it cannot be read; 0: it
 * is not a .rocl file. */
ROCL_API bool rocl_session_of(const char *path, uint8_t session[16]);
/* Is it the recording of a process that recorded nothing and lost nothing? */
ROCL_API bool rocl_is_empty_recording(const char *path);

/* The contents of recordings. An event is a range, a call, a mark or a piece of GPU work; the begin
 * and the end of a range are two records. */
typedef struct rocl_recording {
    uint64_t processes;
    uint64_t events, records;             /* present */
    uint64_t dropped;                     /* events for which there was no space */
    uint64_t torn;                        /* records in chunks that are damaged or missing */
    uint64_t given_chunks, given_records; /* overwritten by newer ones in rings */
    int64_t complete_from, last; /* ns: complete from this time on; time of the last event */
} rocl_recording;

/* Sums up inputs, which must all be .rocl files. */
ROCL_API rocl_status rocl_sum_up_chunks(const rocl_trace *t, rocl_recording *sum, rocl_error *err);

/* Takes a line without its newline; false: stop. */
typedef bool rocl_line_fn(void *ctx, const char *text, size_t len);

/* Prints every record of such inputs as a line. ROCL_PARTIAL: records are missing, and were
 * counted. */
ROCL_API rocl_status rocl_dump_chunks(rocl_trace *t, rocl_line_fn *fn, void *ctx, rocl_error *err);

/* ---- the report of rpt ----------------------------------------------------------------------- */

/* The options of the script rpt. All zero means its defaults, except for topn and path. */
typedef struct rocl_rpt_options {
    bool text_trace;    /* -t: print all commands in order of start, with the application's text */
    bool info;          /* --info: explain the columns of text_trace */
    bool hide_app_text; /* --hide_app_text: without that text */
    bool no_gaps;       /* --no_gaps: print shares of the busy time, and no rows for gaps */
    bool ignore_barriers; /* --ignore_barriers */
    bool raw;             /* --db: print profile lines as they are read */
    /* -r, -R: the region of interest, with its first command and without its last. "@LINE": the
     * command on that line, or with text before it there; "[N]%RE": the first (N-th) command with a
     * matching line of text before it; "^NS". NULL: the first or last command. RE is a POSIX
     * extended regular expression, with the escapes of Python. In a log "^NS" is the first command
     * if NS > 0, as in the script. In other traces "^NS" is the first command NS after the first,
     * "@N" the N-th, and RE matches names. */
    const char *roi_start, *roi_stop;
    const int64_t *gaps; /* --gaps: limits of classes of gaps, us, in any order */
    size_t gap_count;    /* 0: 10 20 50 100 1000 10000 100000 */
    int64_t topn;        /* --topn: rows per resource (the script: 20); 0 or less: all */
    const char *json;    /* -g: file of trace events for a viewer; NULL: none */
    const char *path;    /* "-": standard output */
    size_t memory;       /* as in rocl_options */
    const char *tmpdir;  /* NULL: $TMPDIR, /var/tmp */
    unsigned jobs;       /* workers, as in rocl_options */
    rocl_notice_fn *notice;
    void *ctx; /* for notice */
} rocl_rpt_options;

/* Reports on a log of an application with HCC_PROFILE=2: a file, plain or gzip, "-" for standard
 * input. Its lines "profile: ..." are the commands. ROCL_PARTIAL: some could not be parsed or are
 * odd; the report warns where the script did, `notice` tells how many. ROCL_USAGE: there is no such
 * region of interest. ROCL_INPUT: there are no commands. */
ROCL_API rocl_status rocl_write_rpt(const char *input, const rocl_rpt_options *o, rocl_error *err);

/* Writes that report on the dispatches, barriers and copies of any trace. The trace's own jobs,
 * memory and filters apply. There is no application text; line numbers are places in order of
 * start. */
ROCL_API rocl_status rocl_write_rpt_trace(rocl_trace *t, const rocl_rpt_options *o,
                                          rocl_error *err);

#ifdef __cplusplus
}
#endif

#endif

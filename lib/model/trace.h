/* The trace behind the public handle: definitions, options, counts. Everything that flows from a
 * source to a sink passes through here. */
#pragma once

#include <stdatomic.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/extsort.h"
#include "base/guard.h"
#include "base/spool.h"
#include "base/strings.h"
#include "model/kinds.h"
#include "rocline.h"

struct rocl_source;
struct rocl_schema_cache;
struct rocl_filter;
struct rocl_deal;
struct rocl_sink;
struct rocl_out_set;
struct rocl_joint;

/* ns that are added to the times of a process besides: to those of its host calls, of its GPUs. */
typedef struct rocl_process_clock {
    int64_t host, gpu;
} rocl_process_clock;

/* A capture with what only the library needs. `pub` is first: a rocl_capture * of ours is a
 * rocl_model_capture *. */
typedef struct rocl_model_capture {
    rocl_capture pub;
    struct rocl_source *source; /* its reader; NULL: another rank of a team */
    void *state;                /* the source's own, per capture */
    rocl_arena arena;           /* of the definition arrays */
    bool has_untimed_values;    /* it has counter values that begin and end at 0, and find their
                                   dispatch by id */
    int64_t offset; /* ns by which its clock is set: already added to times of definitions, still to
                       be added to those of events */
    double drift;   /* added in addition per ns since drift_from, a time before the offset */
    int64_t drift_from;
    rocl_process_clock *clocks; /* by process, in the arena; NULL: nothing is added */
    uint64_t memory_before;     /* bytes of GPUs that were in use before their first event */
    uint64_t overwritten;       /* records that a ring has given up for younger ones */
    bool joins_next;            /* it and the next one are small: outputs may join them */
    uint32_t run;               /* from 1: see trace/runs.h */
} rocl_model_capture;

/* Sets the clock of a time. False: the result is out of range. */
static inline bool rocl_set_clock(const rocl_model_capture *c, int64_t *time)
{
    int64_t since, more = 0;
    if (c->drift != 0) {
        if (__builtin_sub_overflow(*time, c->drift_from, &since))
            return false;
        more = (int64_t)((double)since * c->drift); /* far less than `since` */
    }
    return !__builtin_add_overflow(*time, c->offset, time) &&
           !__builtin_add_overflow(*time, more, time);
}

/* Of the clocks of a process the one that events of a kind go by. */
static inline int64_t rocl_clock_shift(const rocl_model_capture *c, rocl_kind kind,
                                       uint32_t process)
{
    const rocl_process_clock *p =
        c->clocks && process < c->pub.process_count ? &c->clocks[process] : NULL;
    return !p ? 0 : rocl_kind_in(kind, ROCL_GPU_CLOCK_KINDS) ? p->gpu : p->host;
}

/* The time before its clock was set, to a nanosecond where it drifts. */
static inline int64_t rocl_unset_clock(const rocl_model_capture *c, int64_t time)
{
    const int64_t then = time - c->offset;
    return c->drift != 0
               ? then - (int64_t)((double)(then - c->drift_from) * c->drift / (1 + c->drift))
               : then;
}

/* Sets the clock in the definitions of a capture, by its offset and drift, once. Times that would
 * become negative become unknown. */
void rocl_set_clock_of(rocl_model_capture *c);

/* In the names of tracks, for unknown ones. */
#define ROCL_UNKNOWN_AGENT "unknown agent"

/* See identity.h. */
typedef struct rocl_machine {
    uint32_t hostname, machine_id; /* texts; 0 unknown */
    uint32_t first, node;          /* capture, and node of it; ROCL_NONE: none */
    uint32_t place;                /* text: see rocl_machine_place() */
    rocl_said_by said_by;          /* its hostname */
    uint32_t clock; /* the first machine whose clock it shares: those without a name share one */
} rocl_machine;

/* A notice that is the same for several inputs: see rocl_notice_defer(). */
typedef struct rocl_deferred_notice {
    const char *text;
    const char *paths[3]; /* of the first inputs */
    size_t count;         /* of all of them */
} rocl_deferred_notice;

#define ROCL_DEFERRED_NOTICES 4

/* Slices of the time that are read as one file, which is gone with the trace. */
typedef struct rocl_joined_slices {
    char **paths; /* of the slices */
    size_t count;
    struct rocl_out_tree *tree; /* where the file is */
} rocl_joined_slices;

struct rocl_trace {
    rocl_options opt; /* defaults filled in: jobs >= 1, memory > 0 */
    rocl_strings *strings;
    rocl_sort_space *space;            /* shared by every sorter of this trace */
    struct rocl_schema_cache *schemas; /* cache of schemas, see source/db */
    uint32_t read_ahead;      /* bytes that a cursor on a database reads at once; 0: the fastest */
    rocl_spool_store spooled; /* inputs that are not plain files */
    rocl_guard *guard;        /* of all files that are read */
    struct rocl_source **sources;
    size_t source_count;
    struct rocl_source **node_sources; /* that a team has opened, until they are among those */
    size_t node_source_count;
    rocl_model_capture **captures; /* see rocl_trace_order */
    size_t capture_count;
    rocl_model_capture **former; /* on a rank of a team: opened here, but read by others */
    size_t former_count;
    rocl_arena shared; /* definitions that several captures have */
    bool brief;        /* kernels of captures that other ranks opened are not here yet */
    rocl_machine *machines;
    size_t machine_count, clock_count, named_count; /* the last: machines with a name */
    struct rocl_gpu *gpus;                          /* by machine, then number */
    size_t gpu_count;
    uint32_t run_count;         /* see trace/runs.h */
    rocl_joined_slices *joined; /* NULL: no slices among the inputs were put together */
    struct rocl_filter *filter; /* NULL: everything passes */
    struct rocl_deal *deal;     /* what other ranks of a team read; NULL: there are none */
    struct rocl_joint *joint; /* of outputs that all ranks write; NULL: this process writes alone */
    struct rocl_kernel_classes *classes;
    struct rocl_step_names *steps; /* which markers are steps */
    atomic_uint_least64_t faults[ROCL_FAULTS];
    atomic_uint_least64_t events[ROCL_KINDS];
    atomic_int_least64_t first, last; /* of the events, with opt.note_times; first > last: none */
    atomic_uint_least64_t rows_done;  /* for progress */
    atomic_bool utf8_reported;        /* that there are texts that are not UTF-8 */
    atomic_flag in_progress;          /* the user's function is running */
    rocl_deferred_notice deferred[ROCL_DEFERRED_NOTICES];
    double clock_uncertainty; /* ns; after --align collectives: of the least certain clock */
    size_t left_out; /* inputs left out entirely or in part: without a record, or with a cut log */
    /* With several outputs of one reading: runs a sink, and takes finished outputs. NULL: the sink
     * runs at once, and outputs get their names. */
    rocl_status (*run_sink)(void *ctx, const struct rocl_sink *sink, rocl_error *err);
    void *run_sink_ctx;
    struct rocl_out_set *outputs;
    uint64_t rows_total;
    const char *phase;
    char reading[64]; /* a phase: which of the captures */
};

/* Counts a fault; under --strict fails with ROCL_INPUT and the location given. */
rocl_status rocl_fault_count(rocl_trace *t, rocl_fault f, rocl_error *err,
                             const char *location_format, ...)
    __attribute__((format(printf, 4, 5)));

/* Counts several at once. */
rocl_status rocl_fault_count_n(rocl_trace *t, rocl_fault f, uint64_t n, const char *location,
                               rocl_error *err);

/* ROCL_PARTIAL when any fault was counted or an input was left out, else ROCL_OK. */
rocl_status rocl_trace_outcome(const rocl_trace *t);
/* The outcome of outputs whose texts must be UTF-8, after they were written: a notice says how many
 * texts had to be made valid, which is ROCL_PARTIAL, too. */
rocl_status rocl_trace_outcome_utf8(rocl_trace *t);
/* Counts a text that is written but not kept, such as the value of an argument, among these texts
 * if it is not UTF-8. Thread-safe. */
void rocl_trace_note_text(const rocl_trace *t, const char *p, size_t n);
/* The outcome with n bad texts that need not be of the trace, such as results of SQL. */
rocl_status rocl_trace_outcome_texts(rocl_trace *t, uint64_t n);
/* With a number and " holds" or "s hold". */
#define ROCL_NOT_UTF8 "%" PRIu64 " text%s NUL or bytes that are not UTF-8: these become U+FFFD"

/* Fails with ROCL_USAGE when `path`, which an output is to replace, is an input or holds one. */
rocl_status rocl_refuse_input(const rocl_trace *t, const char *path, rocl_error *err);

void rocl_notice(const rocl_trace *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A notice "PATH: TEXT", or "PATH, PATH, PATH and 41 more: TEXT": it is given, once per text, when
 * rocl_notices_flush is called. Both strings must live until then. */
void rocl_notice_defer(rocl_trace *t, const char *path, const char *text);
void rocl_notices_flush(rocl_trace *t);

/* Adds `rows` to the progress and calls the user's function at most some times a second. */
void rocl_progress(rocl_trace *t, uint64_t rows);
void rocl_progress_phase(rocl_trace *t, const char *phase, uint64_t total_rows);

/* Sorts the captures by node, rank and pid, the order of all outputs, numbers them, and decides who
 * is who (identity.h). Again when there are more of them. */
rocl_status rocl_trace_order(rocl_trace *t, rocl_error *err);
/* Puts captures of one input in that order. */
void rocl_captures_sort(rocl_model_capture **captures, size_t count);
/* Sets the labels of queues and streams: one name each, in every output and report. */
rocl_status rocl_trace_label_queues(rocl_trace *t, rocl_error *err);

/* Appends the JSON object that its source keeps of a kernel or a code object, as rocprofv3 writes
 * it; nothing where there is none. */
rocl_status rocl_kernel_json(rocl_trace *t, const rocl_capture *c, uint32_t kernel, rocl_buf *json,
                             rocl_error *err);
rocl_status rocl_code_object_json(rocl_trace *t, const rocl_capture *c, uint32_t code_object,
                                  rocl_buf *json, rocl_error *err);

/* The demangled name of a kernel in full (text), as its source knows it; its display name where
 * nothing better is known. May read the input: ask once per kernel. */
uint32_t rocl_kernel_demangled(rocl_trace *t, const rocl_capture *c, uint32_t kernel);

static inline const char *rocl_str(const rocl_trace *t, uint32_t id)
{
    return rocl_strings_get(t->strings, id, NULL);
}

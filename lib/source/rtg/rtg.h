/* Legacy text as a source: what rtg_tracer, HCC_PROFILE=2 and strace -tttT wrote.
 *
 *     source.c   a file: recognised, opened, cut into ranges, closed
 *     reader.c   a range of a file -> lines
 *     args.c     the text of arguments -> single ones
 *     line*.c    a line -> its shape; a file for each program that wrote them
 *     item.c     a shape -> numbers that were checked; what is wrong with a line
 *     names.c    names interned once; processes, threads, agents, queues by their keys, and as
 *                definitions of the capture
 *     index.c    the first pass: what lines name, how many each range has, which are wrong; calls
 *                of strace that were broken off and resumed
 *     scan.c     the second pass: lines -> batches
 *
 * A file is cut into ranges of fixed size, whatever the number of workers: so what a range needs of
 * those before it (line numbers, unfinished calls) is the same for any number of them. */
#pragma once

#include "base/map.h"
#include "base/spool.h"
#include "source/reader.h"
#include "source/records/registry.h"
#include "source/rtg/line.h"
#include "source/source.h"

extern const rocl_source_ops rocl_rtg_ops;

/* The bytes of a capture that is legacy text; NULL: it is something else. */
rocl_spool *rtg_capture_spool(const rocl_model_capture *c);

/* Do these first bytes of a file have lines of ours? `whole`: there are no more. */
bool rtg_recognise(const char *head, size_t n, bool whole);

typedef struct rtg_file rtg_file;

/* ---- reader.c ------------------------------------------------------------------------------- */

/* Sizes in bytes. Tests make them small. */
typedef struct rtg_sizes {
    size_t range;     /* of a task; a line belongs to the range in which it begins */
    size_t block;     /* read at a time */
    size_t line_max;  /* longer lines are left out */
    size_t batch_max; /* events in a batch */
} rtg_sizes;

extern rtg_sizes rtg_sizes_used;

typedef struct rtg_text {
    char *p; /* may be written to, and one byte beyond the end as well */
    size_t n;
    uint64_t offset; /* in the file */
    bool ended;      /* by a line end */
    bool too_long;   /* p is but how it begins */
} rtg_text;

typedef struct rtg_reader {
    const rocl_spool *spool;
    uint64_t end;    /* no line begins here or later */
    char *data;      /* kept from range to range */
    size_t cap, len; /* of data */
    size_t at;       /* where the next line begins */
    size_t seen;     /* up to here no line end was found */
    size_t cr;       /* next CR at or after `at`, or len */
    uint64_t offset; /* of data in the file */
    bool eof, discard, over;
    char long_head[64]; /* how a line began that is too long */
    uint64_t long_offset;
    bool long_line;
} rtg_reader;

void rtg_reader_begin(rtg_reader *r, const rocl_spool *s, uint64_t begin, uint64_t end);
void rtg_reader_free(rtg_reader *r);
/* Reads on; lines handed out before become invalid. *more false at the end of the range. */
rocl_status rtg_reader_fill(rtg_reader *r, bool *more, rocl_error *err);
/* The next line of what was read; false: fill again. */
bool rtg_reader_line(rtg_reader *r, rtg_text *line);
/* Profilers end every line: what stands behind the last line end was cut, wherever, although it may
 * look whole ("... @1000 +82" of +8296). Not of one line alone. */
#define RTG_CUT "the last line has no line end and may be cut; if it is whole, add one"
static inline bool rtg_is_cut(const rtg_text *text)
{
    return !text->ended && text->offset > 0;
}

/* ---- args.c --------------------------------------------------------------------------------- */

/* Takes an argument; false ends the split. A byte may be written behind the value, not its name. */
typedef bool rtg_arg_fn(void *ctx, rocl_view name, rocl_view value);

/* Splits "a=1, b={2, 3}, 4" at its outermost commas; what has no name is called "arg2" by its
 * place. False: an argument was refused. */
bool rtg_args_split(rocl_view text, rtg_arg_fn *add, void *ctx);

/* ---- item.c --------------------------------------------------------------------------------- */

typedef enum rtg_what {
    RTG_NOTHING, /* no line of ours */
    RTG_WRONG,   /* see fault and why */
    RTG_CALL,    /* HIP, HSA */
    RTG_HOST_PACKET,
    RTG_GPU_DISPATCH,
    RTG_GPU_BARRIER,
    RTG_GPU_COPY,
    RTG_USER_RANGE,
    RTG_USER_MARK,
    RTG_SYSCALL,
    RTG_SYSCALL_BEGIN,
    RTG_SYSCALL_END, /* start is where it ended, less nothing: its begin is in the other line */
} rtg_what;

/* Bit of rtg_item.process that keeps strace apart from the processes that have numbers. */
#define RTG_STRACE_PROCESS ((uint64_t)1 << 63)

typedef struct rtg_item {
    rtg_what what;
    rocl_fault fault;
    const char *why;
    int64_t start, end;
    uint64_t process; /* pid */
    uint64_t tid;
    uint64_t agent, id;
    rocl_view queue;
    bool has_thread, has_agent, has_queue;
    bool hcc; /* agent is the number of a device */
    uint32_t workgroup[3], grid[3];
} rtg_item;

/* `file_pid` is the process of lines that name none. */
void rtg_read_item(rtg_item *i, rtg_line *l, const rtg_text *text, uint64_t file_pid);

/* ---- names.c -------------------------------------------------------------------------------- */

/* What lines name: keys {process}, {process, tid}, {process, agent, hcc}, {process, agent, hcc and
 * text of the queue}. */
enum { RTG_PROCESSES, RTG_THREADS, RTG_AGENTS, RTG_QUEUES, RTG_TABLES };

static inline rocl_key rtg_key_of(int table, const rtg_item *i, uint32_t queue_text)
{
    switch (table) {
    case RTG_PROCESSES:
        return (rocl_key){i->process, 0, 0};
    case RTG_THREADS:
        return (rocl_key){i->process, i->tid, 0};
    case RTG_AGENTS:
        return (rocl_key){i->process, i->agent, i->hcc};
    default:
        return (rocl_key){i->process, i->agent, (uint64_t)i->hcc << 32 | queue_text};
    }
}

enum { RTG_NAMES = 2048 };

/* What a worker remembers of names, so that shared tables are rarely looked up in. */
typedef struct rtg_names {
    rocl_trace *trace;
    struct {
        uint64_t hash;
        uint32_t text; /* ROCL_NONE: empty */
        uint32_t displayed;
        rocl_view view; /* of the text */
    } recent[RTG_NAMES];
    rocl_map displayed; /* text of a kernel -> its name by --kernel-names */
    bool failed;        /* memory is out */
} rtg_names;

rtg_names *rtg_names_new(rocl_trace *t);
void rtg_names_free(rtg_names *n);
uint32_t rtg_intern_name(rtg_names *n, rocl_view s);
uint32_t rtg_intern_kernel(rtg_names *n, rocl_view s);

/* ---- index.c: calls of strace --------------------------------------------------------------- */

/* What a range knows of a call (thread, name) of strace. */
typedef struct rtg_call {
    uint64_t resumed_first;                 /* line in the range; of those before any begin here */
    uint64_t resumed_offset, resumed_count; /* of those */
    int64_t begun;                          /* when the last of this range began */
    uint64_t line, offset;                  /* of that */
    bool has_begun, used;
    bool resolved; /* before is when the call began that was under way at the begin of the range */
    int64_t before;
} rtg_call;

typedef struct rtg_calls {
    rocl_registry keys;
    rtg_call *all; /* those of the entries, in their order */
    size_t cap;
} rtg_calls;

/* A call is broken off; *lost: the former one was never resumed (it is in *former). False: memory
 * is out. */
bool rtg_calls_begin(rtg_calls *c, const rocl_key *k, int64_t when, uint64_t line, uint64_t offset,
                     rtg_call *former, bool *lost);
/* A call is resumed: when it began, or that it began before the range. NULL: memory is out. */
rtg_call *rtg_calls_resume(rtg_calls *c, const rocl_key *k, uint64_t line, uint64_t offset);
void rtg_calls_free(rtg_calls *c);

/* ---- index.c: lines that are wrong ---------------------------------------------------------- */

/* Reports the first ones, once; under --strict the first is an error. */
rocl_status rtg_faults_report(rtg_file *f, rocl_error *err);

/* ---- the file ------------------------------------------------------------------------------- */

typedef struct rtg_range {
    uint64_t lines, first_line; /* first_line: from 1, of the file */
    rtg_calls calls;
} rtg_range;

typedef struct rtg_worker rtg_worker;

/* Texts that events have in common. */
typedef enum rtg_word_id {
    RTG_W_HIP_API,
    RTG_W_HSA_API,
    RTG_W_HSA_AMD_API,
    RTG_W_HOST_DISPATCH,
    RTG_W_HOST_BARRIER,
    RTG_W_HOST_VENDOR,
    RTG_W_RANGE_API,
    RTG_W_MARK_API,
    RTG_W_RANGE,
    RTG_W_MARK,
    RTG_W_STRACE,
    RTG_W_KERNEL_DISPATCH,
    RTG_W_MEMORY_COPY,
    RTG_W_BARRIER_PACKET,
    RTG_W_BARRIER,
    RTG_W_VENDOR,
    RTG_W_COPY,
    RTG_W_KERNEL,
    RTG_W_RET,
    RTG_WORDS
} rtg_word_id;

struct rtg_file {
    rocl_trace *trace;
    rocl_model_capture *capture;
    rocl_spool *spool;
    const char *path;
    uint64_t file_pid;
    rtg_range *ranges;
    size_t range_count;
    rocl_registry tables[RTG_TABLES];
    rocl_bad_records faults; /* pieces are ranges */
    bool has_dims;           /* there are host lines of dispatches */
    bool has_gpu;            /* there are dispatches */
    int64_t first, last;     /* times in it; none when first > last */

    uint32_t words[RTG_WORDS]; /* texts */

    /* while it is scanned */
    rtg_worker *workers; /* opt.jobs of them */
    uint32_t kinds;
    bool args;
    rocl_sorter *join; /* NULL: dispatches go out as they come */
};

static inline uint64_t rtg_range_begin(size_t i)
{
    return (uint64_t)i * rtg_sizes_used.range;
}

/* index.c */
rocl_status rtg_index(rtg_file *f, rocl_error *err);
/* names.c: the definitions of the capture. */
rocl_status rtg_define(rtg_file *f, rocl_error *err);

/* ---- scan.c --------------------------------------------------------------------------------- */

struct rtg_worker {
    alignas(ROCL_CACHE_LINE) rtg_file *file;
    rtg_reader reader;
    rtg_names *names;
    rtg_calls calls;  /* of the range that is read */
    rocl_batcher out; /* has the number of the worker */
};

/* As in rocl_source_ops; a task is a range. */
rocl_status rtg_scan(rocl_trace *trace, rocl_model_capture *c, const rocl_task *task,
                     unsigned worker, const rocl_emitter *to, rocl_error *err);
/* What was joined across ranges. */
rocl_status rtg_finish(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                       rocl_error *err);
void rtg_workers_free(rtg_file *f);

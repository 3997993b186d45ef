/* Recordings as a source: files of chunks, which the capture library wrote (format/chunk.h,
 * rocl(5)).
 *
 *     source.c   a file: recognised, opened, its chunks in groups, closed
 *     file.c     where chunks are in a file; their contents read, inflated, checked; their records
 *     index.c    the first pass: what each chunk defines, how many events it has, what is damaged
 *     defs.c     those definitions, as they are of the capture
 *     clock.c    ticks -> ns
 *     scan.c     the second pass: records -> events
 *     dump.c     records as lines of text
 *
 * Files are joined by merge/recordings.c.
 *
 * A process is a capture. A piece of work is a run of chunks of one writer, cut where no region is
 * open: so it does not depend on the others, whatever the number of workers.
 *
 * In memory a file is
 *
 *     chunk_file
 *       list: chunk_info of every chunk, in order of the file; defs and tids are its own, the
 *             bodies of the definitions are in `arena`
 *       processes: chunk_process, each with
 *             chunks: pointers into the list, by writer and number, without copies and damaged ones
 *             runs: [first, first + count) of chunks
 *
 * and a worker holds one content at a time, with what it defines: maps from ids in the chunk to
 * texts, names, parameters and definitions of the capture. Only open regions and ranges, and the
 * arguments of the former, live on from chunk to chunk of a run. */
#pragma once

#include "base/map.h"
#include "base/spool.h"
#include "base/view.h"
#include "format/chunk.h"
#include "source/allocs.h"
#include "source/reader.h"

extern const rocl_source_ops rocl_chunk_ops;

/* ---- file.c --------------------------------------------------------------------------------- */

/* A definition as it is in the file: type and body. */
typedef struct chunk_def {
    uint8_t type;
    uint32_t len;
    const uint8_t *body; /* in the arena of the file */
} chunk_def;

typedef struct chunk_info {
    rocl_chunk_header h;
    uint64_t offset;    /* of the header in the file */
    uint64_t available; /* bytes of content that are in the file */
    /* index.c */
    uint64_t events, lost;  /* records of events that can be read, that cannot */
    uint64_t begun;         /* of those the ones with which something begins */
    uint64_t last_times[4]; /* of the last event, by clock */
    uint32_t open_regions;  /* where it begins */
    uint32_t open_ranges;
    uint32_t left_open; /* regions and ranges, where it ends */
    bool damaged;       /* nothing of it is used */
    bool last;          /* of its writer */
    uint64_t first_id;  /* of its events */
    chunk_def *defs;
    size_t def_count, def_cap;
    uint64_t *tids; /* of threads that caused its GPU work */
    size_t tid_count, tid_cap;
} chunk_info;

typedef struct chunk_list {
    chunk_info *all; /* in order of the file */
    size_t count, cap;
    uint64_t garbage; /* offsets where a chunk was expected and not found */
} chunk_list;

/* Converts between the byte order of files and that of the machine, in place; does nothing if they
 * are the same. */
void chunk_turn_header(rocl_chunk_header *h);

/* Finds the chunks of a file. An unknown version or feature is an error. */
rocl_status chunk_walk(chunk_list *l, const rocl_spool *s, const char *path, rocl_error *err);

static inline uint64_t chunk_content(const chunk_info *c)
{
    return atomic_load_explicit(&((chunk_info *)(uintptr_t)c)->h.progress, memory_order_relaxed) &
           UINT32_MAX;
}

static inline uint64_t chunk_events(const chunk_info *c)
{
    return atomic_load_explicit(&((chunk_info *)(uintptr_t)c)->h.progress, memory_order_relaxed) >>
           32;
}

typedef enum chunk_state {
    CHUNK_WHOLE,
    CHUNK_CUT,    /* the file ends before it does: what is there is good */
    CHUNK_CORRUPT /* its checksum does not match */
} chunk_state;

/* Loads the content, unpacked, into b; *n is how much there is. */
rocl_status chunk_load(const rocl_spool *s, const chunk_info *c, rocl_buf *b, size_t *n,
                       chunk_state *state, rocl_error *err);

typedef struct chunk_record {
    uint8_t type;
    uint64_t a, b;          /* of the types below ROCL_REC_SIZED: text or name, number */
    const uint8_t *p, *end; /* of the others: the body */
} chunk_record;

typedef struct chunk_reader {
    const uint8_t *p, *end;
    uint64_t now;     /* ticks of the last event */
    uint64_t last[4]; /* starts of GPU work, by clock */
    bool broken;      /* what follows cannot be read */
} chunk_reader;

void chunk_reader_begin(chunk_reader *r, const chunk_info *c, const uint8_t *content, size_t n);
/* The next record; false: there is none, or what follows is broken. */
bool chunk_read_record(chunk_reader *r, chunk_record *rec);
/* Is it an event, as the header counts them? */
bool chunk_is_event(const chunk_record *rec);

/* Read from a body; a value that is cut off reads as 0 or "", and nothing is read beyond `end`. */
uint64_t chunk_read_number(chunk_record *r);
int64_t chunk_read_signed(chunk_record *r);
rocl_view chunk_read_text(chunk_record *r);
rocl_view chunk_read_rest(chunk_record *r);

/* The first fields of GPU records and samples. */
typedef struct chunk_times {
    unsigned clock;
    uint64_t start, end, tid, correlation;
} chunk_times;

chunk_times chunk_read_times(chunk_reader *r, chunk_record *rec);

/* ---- clock.c -------------------------------------------------------------------------------- */

typedef struct chunk_clock {
    rocl_chunk_sync *points; /* by ticks */
    size_t count;
    double tick_ns;   /* used if there is only one point */
    int64_t boottime; /* less monotonic, ns */
    int64_t realtime; /* boottime less realtime */
} chunk_clock;

rocl_status chunk_clock_make(chunk_clock *k, const chunk_info *const *chunks, size_t n,
                             rocl_error *err);
/* Converts a time on a clock to ns of boottime. */
int64_t chunk_clock_to_ns(const chunk_clock *k, unsigned clock, uint64_t time);
void chunk_clock_free(chunk_clock *k);

/* ---- a process ------------------------------------------------------------------------------ */

typedef struct chunk_run {
    size_t first, count; /* chunks */
    uint64_t events;
} chunk_run;

typedef enum chunk_word {
    CHUNK_W_PUSH,
    CHUNK_W_START,
    CHUNK_W_MARK,
    CHUNK_W_RANGE_API,
    CHUNK_W_MARK_API,
    CHUNK_W_DISPATCH,
    CHUNK_W_SAMPLE,
    CHUNK_WORDS
} chunk_word;

typedef struct chunk_file chunk_file;

typedef struct chunk_process {
    chunk_file *file;
    rocl_model_capture *capture;
    const chunk_info **chunks; /* by writer and number; after indexing without damaged ones */
    size_t count, cap;
    const chunk_info *any; /* one of them, damaged or not */
    chunk_run *runs;
    size_t run_count;
    chunk_clock clock;
    uint64_t faults[ROCL_FAULTS];         /* found by the first pass */
    uint64_t missing;                     /* chunks */
    uint64_t begun;                       /* events; begin and end count as one */
    uint64_t given_chunks, given_records; /* by a ring */
    uint64_t given_until;                 /* ticks */
    bool ended;                           /* it has recorded its end */
    uint64_t end_ticks;                   /* when it said so; 0: unknown */
    uint64_t last_times[4];               /* of the last event, by clock */
    rocl_map indexes[ROCL_DEFINITIONS];   /* ids in the file -> index */
    /* while it is scanned */
    struct chunk_worker *workers; /* opt.jobs of them */
    rocl_sorter *ranges;
    rocl_allocs *allocs; /* NULL: none are wanted */
    uint32_t kinds;
    bool args;
} chunk_process;

struct chunk_file {
    rocl_trace *trace;
    rocl_spool *spool;
    const char *path;
    chunk_list list;
    chunk_process *processes;
    size_t count, cap;
    rocl_arena arena; /* of definitions */
    uint32_t words[CHUNK_WORDS];
};

/* index.c: reads every chunk once. */
rocl_status chunk_index(chunk_file *f, rocl_error *err);
/* defs.c */
/* In ns: when it said that it ends, or else its last event. */
int64_t chunk_process_end(const chunk_process *p);
rocl_status chunk_define(chunk_process *p, rocl_error *err);

/* ---- scan.c --------------------------------------------------------------------------------- */

/* A run of chunks. */
rocl_status chunk_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task, unsigned worker,
                       const rocl_emitter *to, rocl_error *err);
/* Ranges that begin and end on different threads. */
rocl_status chunk_emit_ranges(chunk_process *p, const rocl_emitter *to, rocl_error *err);
/* Allocations, which must be sorted first. */
rocl_status chunk_emit_allocs(chunk_process *p, const rocl_emitter *to, rocl_error *err);
rocl_status chunk_workers_new(chunk_process *p, rocl_error *err);
void chunk_workers_free(chunk_process *p);

/* ---- source.c ------------------------------------------------------------------------------- */

/* Adds the losses of a process to the counts of the trace. */
rocl_status chunk_count_faults(const chunk_process *p, rocl_error *err);
/* Fails with ROCL_USAGE unless all inputs are recordings. */
rocl_status chunk_refuse_others(const rocl_trace *t, rocl_error *err);

/* The Chrome trace-event sink:
 *
 *     chrome.c    the sink: batches -> sorted records, one sorter a capture; when all captures are
 *                 in and the time base is known, records -> timeline
 *     team.c      what the ranks of a team tell each other
 *     draw.c      what the timeline draws -> lines: rows, their names and numbers, counters
 *     world.c     processes, threads, GPUs: numbers that do not collide, and their metadata
 *     stream.c    lines -> blocks -> (formatted, compressed) -> file
 *     line.c      lines, packed
 *     format.c    lines as JSON
 *
 * One thread settles what depends on order: rows and numbers. The text is made by the workers of a
 * pipe. In a team each rank draws its captures as soon as they are in, and their lines wait until
 * it knows what the text depends on: the time base, how many rows the captures before have, and
 * which capture is the first to show a GPU. Events are written row by row, by time, the longer
 * first: readers sort by time, and keep what has the same time in the order of the file. */
#ifndef ROCL_SINK_CHROME_CHROME_H
#define ROCL_SINK_CHROME_CHROME_H

#include "base/array.h"
#include "base/buf.h"
#include "base/extsort.h"
#include "base/map.h"
#include "model/gpus.h"
#include "model/trace.h"
#include "base/strings.h"
#include "base/text.h"
#include "timeline/timeline.h"
#include "sink/piped.h"

/* ---- line.c ---- */

typedef enum chrome_op {
    CHROME_TEXT,  /* the line, with CHROME_TID and CHROME_TIME in it */
    CHROME_GPU,   /* the same of a GPU, its number in place of the tid: of one capture it is kept */
    CHROME_EVENT, /* the bytes of a record */
    CHROME_VALUE, /* of a counter: the value and the escaped name */
} chrome_op;

/* What stands for the numbers of a line, in its text. */
#define CHROME_TID  '\1'
#define CHROME_TIME '\2'

/* Of a tid: it is the n-th of the new rows of its capture, which are numbered on from those of the
 * capture before. */
#define CHROME_NEW (1u << 31)

/* A line of the file on its way to become text: what it has beside its body. */
typedef struct chrome_line {
    uint32_t size; /* of the body */
    uint8_t op;    /* chrome_op */
    /* of a record: */
    uint8_t link;     /* rocl_link */
    uint8_t sequence; /* rocl_sequence_kind, of its key */
    uint8_t kind;     /* the same */
    uint32_t pid, tid;
    int64_t time, end;
} chrome_line;

/* Many lines wait, so they are packed. `row`: of the line before in the block, zeros before the
 * first. */
typedef struct chrome_row {
    uint32_t pid, tid;
} chrome_row;
enum { CHROME_LINE_MAX = 32 }; /* bytes */
size_t chrome_line_put(uint8_t *to, const chrome_line *line, chrome_row *row);
/* At a line of a block; returns its body. */
const uint8_t *chrome_line_get(const uint8_t *p, chrome_line *line, chrome_row *row);

/* ---- format.c ---- */

/* What a block begins with. */
typedef struct chrome_block {
    uint32_t capture;
    uint32_t first_row; /* the number of its capture's first new row */
    bool begins;        /* it is the first of the file */
} chrome_block;

typedef struct chrome_formatter {
    const rocl_trace *trace;
    const rocl_gpus *gpus;
    const uint32_t *gpu_first; /* by GPU: the first capture that shows it */
    int64_t base;
    chrome_block block; /* at hand */
    rocl_text_cache texts;
    rocl_buf *out;
} chrome_formatter;

/* Appends the lines at [p, end) to f->out, each with a comma and a newline before it. */
rocl_status chrome_format(chrome_formatter *f, const uint8_t *p, const uint8_t *end,
                          rocl_error *err);

/* ---- stream.c ---- */

typedef struct chrome_stream {
    rocl_piped file;
    rocl_trace *trace;
    struct chrome_worker *workers;
    size_t weight; /* of the block under construction */
    uint64_t rows; /* in it */
    bool begun;    /* a block has been put */
    int level;     /* of gzip; 0: none */
    int64_t base;
    chrome_block block; /* how the next one begins */
    chrome_row row;     /* of the last line */
    rocl_stored *kept;  /* blocks that wait, in a team */
    size_t kept_count, kept_capacity;
} chrome_stream;

/* Of a struct of zeros, which chrome_stream_close is called for in any case. */
rocl_status chrome_stream_open(chrome_stream *s, rocl_trace *t, const rocl_chrome_options *o,
                               rocl_error *err);
void chrome_stream_set_base(chrome_stream *s, int64_t base); /* before the first text is made */
void chrome_stream_set_gpus(chrome_stream *s, const rocl_gpus *gpus, const uint32_t *gpu_first);
/* Lines of a capture follow; those before are in blocks of their own. */
void chrome_stream_capture(chrome_stream *s, const rocl_capture *c, uint32_t first_row);
/* In a team: the blocks of all captures become text. first_rows: by capture; `begins` is the first
 * that has lines. */
rocl_status chrome_stream_put_kept(chrome_stream *s, const uint32_t *first_rows, uint32_t begins,
                                   rocl_error *err);
/* sums: see rocl_parts_commit(). */
rocl_status chrome_stream_commit(chrome_stream *s, rocl_parts_sums *sums, rocl_error *err);
void chrome_stream_close(chrome_stream *s); /* leaves no file that is not committed */

/* The next flush reports failures. */
/* A JSON object; its tid, of CHROME_GPU the GPU; its time. */
void chrome_put_text(chrome_stream *s, chrome_op op, uint32_t tid, int64_t time,
                     const rocl_buf *text);
void chrome_put_event(chrome_stream *s, chrome_line *line, const rocl_sort_record *rec,
                      uint32_t name);
void chrome_put_value(chrome_stream *s, uint32_t pid, int64_t time, double value,
                      const rocl_buf *name);
/* Passes a full block on, or any that has lines. */
rocl_status chrome_stream_flush(chrome_stream *s, bool all, rocl_error *err);

/* ---- world.c ---- */

typedef struct chrome_process {
    uint32_t pid;
    bool real; /* it is the process's own */
} chrome_process;

typedef struct chrome_world {
    rocl_trace *trace;
    chrome_stream *stream;
    rocl_gpus gpus;
    int64_t most;       /* the largest number that a process or thread has */
    uint32_t first_row; /* the number of the first new row of all */
    uint32_t next; /* the next number that nobody has, as pid or tid: the capture's first new row */
    uint32_t new_rows; /* of the capture */
    chrome_process *all;
    size_t *firsts; /* by capture: its first process in all */
    size_t process_total;
    uint32_t *gpu_pids;  /* by GPU */
    bool *gpu_seen;      /* by GPU: the capture shows it */
    uint32_t *gpu_first; /* by GPU: the first capture that does */
    rocl_buf line;
    /* of the capture at hand */
    const rocl_capture *capture;
    const chrome_process *processes;
    rocl_map tids; /* (process, tid) in use */
} chrome_world;

/* Settles the numbers of all processes and GPUs: on all ranks of a team the same. */
rocl_status chrome_world_open(chrome_world *w, chrome_stream *s, rocl_trace *t, rocl_error *err);
void chrome_world_close(chrome_world *w);
/* The next capture: describes its processes. */
void chrome_world_capture(chrome_world *w, const rocl_capture *c);
/* The process that stands for the GPU; 0: the agent is none. */
uint32_t chrome_gpu_pid(chrome_world *w, uint32_t agent);
/* The tid of a thread, or of what is on no thread of a process (thread ROCL_NONE). Once for each.
 */
uint32_t chrome_thread_row(chrome_world *w, uint32_t process, uint32_t thread);
/* A new row, with a tid nobody else has. Rows are shown in the order of sort. */
uint32_t chrome_new_row(chrome_world *w, uint32_t pid, const char *name, uint32_t sort);
/* " (pid 12)" where there are several processes, "" else: for what GPUs show of a process. */
void chrome_whose(const chrome_world *w, uint32_t process, char *s, size_t size);

/* ---- draw.c ---- */

extern const rocl_timeline_ops chrome_timeline_ops;

typedef struct chrome_counter { /* as readers tell them */
    uint32_t pid;
    rocl_buf name; /* escaped */
} chrome_counter;

/* ---- chrome.c ---- */

/* A capture that waits to be written. */
typedef struct chrome_capture {
    rocl_sorter *sorter; /* NULL: a filter has left it out */
    rocl_links links;
    /* In a team: */
    bool drawn; /* it has lines */
    uint32_t new_rows;
    uint32_t *gpus;
    size_t gpu_count;
} chrome_capture;

typedef struct chrome_span { /* what a worker has seen */
    alignas(ROCL_CACHE_LINE) int64_t first;
    int64_t last;
} chrome_span;

typedef struct chrome_sink {
    rocl_timeline timeline; /* first */
    rocl_trace *trace;
    rocl_chrome_options opt;
    chrome_span *spans;       /* by worker */
    chrome_capture *captures; /* by index */
    chrome_stream stream;
    chrome_world world;
    chrome_counter *counters; /* of the sequence at hand */
    size_t counter_count, counter_cap;
    rocl_written report;
} chrome_sink;

/* ---- team.c ---- */

/* On rank 0: what the others have drawn, and the times of their events. */
rocl_status chrome_team_hear(chrome_sink *c, chrome_span *all, rocl_error *err);
/* The same: tells them what their text depends on, the base of the stream too. */
rocl_status chrome_team_tell(const chrome_sink *c, const uint32_t *first_rows, uint32_t begins,
                             rocl_error *err);
/* On another rank: the other end of both. first_rows has a place for each capture. */
rocl_status chrome_team_answer(chrome_sink *c, const chrome_span *own, uint32_t *first_rows,
                               uint32_t *begins, rocl_error *err);

/* Draws a capture, all of it in one part. */
typedef struct chrome_part {
    rocl_timeline_part part;
    chrome_sink *sink;
} chrome_part;

#endif

/* The Chrome trace-event sink:
 *
 *     chrome.c    the sink: batches -> sorted records, one sorter a capture; when all captures are
 *                 in and the time base is known, records -> timeline
 *     draw.c      what the timeline draws -> lines: rows, their names and numbers, counters
 *     world.c     processes, threads, GPUs: numbers that do not collide, and their metadata
 *     stream.c    lines -> blocks -> (formatted, compressed) -> file
 *     format.c    lines as JSON
 *
 * One thread settles what depends on order: rows and numbers. The text is made by the workers of a
 * pipe. Events are written row by row, by time, the longer first: readers sort by time, and keep
 * what has the same time in the order of the file. */
#ifndef ROCL_SINK_CHROME_CHROME_H
#define ROCL_SINK_CHROME_CHROME_H

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "model/gpus.h"
#include "model/trace.h"
#include "base/strings.h"
#include "base/text.h"
#include "timeline/timeline.h"
#include "sink/piped.h"

/* ---- format.c ---- */

typedef enum chrome_op {
    CHROME_LINE,  /* the line itself */
    CHROME_EVENT, /* a record: its key and its bytes */
    CHROME_VALUE, /* of a counter: a chrome_value and the escaped name */
} chrome_op;

/* A line of the file on its way to become text. */
typedef struct chrome_line {
    uint32_t size; /* of what follows */
    uint32_t pid, tid;
    uint32_t capture;
    uint8_t op;   /* chrome_op */
    uint8_t link; /* rocl_link */
} chrome_line;

typedef struct chrome_value {
    int64_t time;
    double value;
} chrome_value;

typedef struct chrome_formatter {
    const rocl_trace *trace;
    int64_t base;
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
} chrome_stream;

/* Of a struct of zeros, which chrome_stream_close is called for in any case. */
rocl_status chrome_stream_open(chrome_stream *s, rocl_trace *t, const rocl_chrome_options *o,
                               rocl_error *err);
void chrome_stream_set_base(chrome_stream *s, int64_t base); /* before the first event */
rocl_status chrome_stream_commit(chrome_stream *s, uint64_t *bytes, rocl_error *err);
void chrome_stream_close(chrome_stream *s); /* leaves no file that is not committed */

/* The next flush reports failures. */
void chrome_put_line(chrome_stream *s, const rocl_buf *text); /* a JSON object */
void chrome_put_event(chrome_stream *s, chrome_line *line, const rocl_sort_record *rec,
                      uint32_t name);
void chrome_put_value(chrome_stream *s, uint32_t pid, const chrome_value *v, const rocl_buf *name);
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
    uint32_t next; /* the next number that nobody has, as pid or tid */
    chrome_process *all;
    size_t *firsts; /* by capture: its first process in all */
    size_t process_total;
    uint32_t *gpu_pids;  /* by GPU */
    bool *gpu_described; /* by GPU */
    rocl_buf line;
    /* of the capture at hand */
    const rocl_capture *capture;
    const chrome_process *processes;
    rocl_map tids; /* (process, tid) in use */
} chrome_world;

/* Settles the numbers of all processes and GPUs. */
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

/* Draws a capture, all of it in one part. */
typedef struct chrome_part {
    rocl_timeline_part part;
    chrome_sink *sink;
} chrome_part;

#endif

/* The Chrome trace-event sink:
 *
 *     chrome.c    the sink: batches -> sorted records, one sorter a capture; when all captures are
 *                 in and the time base is known, records -> timeline
 *     draw.c      what the timeline draws -> lines: rows, their names and numbers, counters
 *     numbers.c   processes, threads, GPUs: numbers that do not collide, and their metadata
 *     stream.c    lines -> blocks -> (formatted, compressed) -> file
 *     line.c      lines, packed
 *     format.c    lines as JSON
 *
 * Pieces of a capture are drawn side by side by the workers of a pipe, which make their text at
 * once. In a team each rank draws its captures as soon as they are in, and their lines wait until
 * it knows the time base of all. A drawing has the events of a row by time, the longer first:
 * readers sort by time, and keep what has the same time in the order of the file. */
#pragma once

#include <stdatomic.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/extsort.h"
#include "base/map.h"
#include "model/identity.h"
#include "model/trace.h"
#include "base/strings.h"
#include "base/text.h"
#include "timeline/drawing.h"
#include "sink/piped.h"

/* ---- line.c ---- */

typedef enum chrome_op {
    CHROME_TEXT,  /* the line, with CHROME_TIME in it */
    CHROME_EVENT, /* the bytes of a record */
    CHROME_VALUE, /* of a counter: the value and the escaped name */
} chrome_op;

/* The placeholder for the time in the text of a line. */
#define CHROME_TIME '\1'

/* A line of the file before it becomes text, without its body. */
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

/* Packs a line, as many are kept. `row`: that of the line before in the block, zeros at first. */
typedef struct chrome_row {
    uint32_t pid, tid;
} chrome_row;
enum { CHROME_LINE_MAX = 32 }; /* bytes */
size_t chrome_line_put(uint8_t *to, const chrome_line *line, chrome_row *row);
/* At a line of a block; returns its body. */
const uint8_t *chrome_line_get(const uint8_t *p, chrome_line *line, chrome_row *row);

/* ---- format.c ---- */

/* The begin of a block. */
typedef struct chrome_block {
    uint32_t capture;
    bool begins; /* it is the first of the file */
} chrome_block;

typedef struct chrome_formatter {
    const rocl_trace *trace;
    int64_t base;
    chrome_block block; /* at hand */
    rocl_text_cache texts;
    rocl_buf *out;
} chrome_formatter;

/* Appends the lines at [p, end) to f->out, each with a comma and a newline before it. */
rocl_status chrome_format(chrome_formatter *f, const uint8_t *p, const uint8_t *end,
                          rocl_error *err);

/* ---- stream.c ---- */

/* Lines on their way into a block. */
typedef struct chrome_lines {
    const rocl_trace *trace;
    rocl_buf *to;
    chrome_block head; /* of the block */
    chrome_row row;    /* of the last line */
    size_t weight;     /* approximate bytes of text */
} chrome_lines;

/* A block takes no more lines then. */
enum { CHROME_BLOCK_WEIGHT = 256 << 10 };

/* Makes the following lines go to this block, which is empty. */
void chrome_begin_block(chrome_lines *l, rocl_buf *block);
/* Adds a JSON object and its time. A failure is noted in the block. */
void chrome_put_text(chrome_lines *l, int64_t time, const rocl_buf *text);
void chrome_put_event(chrome_lines *l, chrome_line *line, const rocl_sort_record *rec,
                      uint32_t name);
/* row: tid 0, or the process whose value it is on a GPU, which viewers ignore. */
void chrome_put_value(chrome_lines *l, chrome_row row, int64_t time, double value,
                      const rocl_buf *name);

typedef struct chrome_stream {
    rocl_piped file;
    rocl_trace *trace;
    struct chrome_worker *workers;
    chrome_lines lines; /* of the block at hand */
    bool begun;         /* a block has been put */
    bool drawing;       /* in a team: blocks wait until all captures are drawn */
    int level;          /* of gzip; 0: none */
    int64_t base;
    rocl_stored *kept; /* blocks that wait */
    size_t kept_count, kept_capacity;
} chrome_stream;

/* *s must be zeroed; call chrome_stream_close in any case. */
rocl_status chrome_stream_open(chrome_stream *s, rocl_trace *t, const rocl_chrome_options *o,
                               rocl_error *err);
void chrome_stream_set_base(chrome_stream *s, int64_t base); /* before the first text is made */
/* Lines of a capture follow; those before are in blocks of their own. */
void chrome_stream_capture(chrome_stream *s, const rocl_capture *c);
/* The lines of the block at hand. */
chrome_lines *chrome_stream_lines(chrome_stream *s);
/* Passes the block at hand on if it is full, or has lines. */
rocl_status chrome_stream_flush(chrome_stream *s, bool all, rocl_error *err);
/* In a team: the blocks of all captures become text. `begins` is the first that has lines. */
rocl_status chrome_stream_put_kept(chrome_stream *s, uint32_t begins, rocl_error *err);
/* last: lines of text after all others. who: the roster. sums: see rocl_joint_commit(). */
rocl_status chrome_stream_commit(chrome_stream *s, const rocl_buf *last, const rocl_buf *who,
                                 rocl_joint_sums *sums, rocl_error *err);
void chrome_stream_close(chrome_stream *s); /* leaves no file that is not committed */

/* ---- numbers.c ---- */

typedef struct chrome_process {
    uint32_t pid;
    bool real; /* it is the process's own */
} chrome_process;

/* Numbers depend only on definitions, so any capture, or piece of one, can be drawn without those
 * before it. */
typedef struct chrome_numbers {
    rocl_trace *trace;
    int64_t most;       /* the largest number that a process or thread has */
    uint32_t first_row; /* the first number for rows without one of their own */
    uint64_t sequences; /* that all captures can have */
    uint64_t *places;   /* by capture: how many sequences those before it can have */
    chrome_process *all;
    size_t *firsts; /* by capture: its first process in all */
    size_t process_total;
    uint32_t *gpu_pids;    /* by GPU */
    atomic_bool *gpu_seen; /* by GPU: something is drawn there */
    rocl_buf line;
    /* of the capture at hand */
    const rocl_capture *capture;
    const chrome_process *processes;
    uint32_t *host_rows; /* tids by the index of host sequences */
} chrome_numbers;

/* Assigns the numbers of all processes and GPUs, the same on all ranks of a team. */
rocl_status chrome_numbers_open(chrome_numbers *w, rocl_trace *t, rocl_error *err);
void chrome_numbers_close(chrome_numbers *w);
/* The next capture, that of the timeline: describes its processes and threads. */
rocl_status chrome_numbers_capture(chrome_numbers *w, const rocl_timeline *t, chrome_lines *l,
                                   rocl_error *err);
/* From here on for several threads. The process that represents a GPU; 0: the agent is not a
 * GPU. */
uint32_t chrome_gpu_pid(const chrome_numbers *w, uint32_t agent);
/* The number of the k-th further row of a sequence of the capture. ROCL_INPUT: it is too large for
 * readers. */
rocl_status chrome_number_row(const chrome_numbers *w, size_t sequence, uint64_t k, uint32_t *tid,
                              rocl_error *err);
/* Describes a row: its name, and where it is shown. May use `text`. */
void chrome_describe_row(chrome_lines *l, rocl_buf *text, uint32_t pid, uint32_t tid,
                         const char *name, uint32_t sort);
/* " (pid 12)" where there are several processes, "" else: for what GPUs show of a process. */
void chrome_whose(const chrome_numbers *w, uint32_t process, char *s, size_t size);
/* Appends lines of text that describe the GPUs that have been seen. */
void chrome_describe_gpus(const chrome_numbers *w, rocl_buf *to);
/* Appends who is who, by the numbers that are written: see roster.h. */
void chrome_put_roster(const chrome_numbers *w, rocl_buf *to);

/* ---- draw.c ---- */

extern const rocl_timeline_ops chrome_timeline_ops;
extern const rocl_drawing_ops chrome_drawing_ops;

/* ---- chrome.c ---- */

/* A capture that waits to be written. */
typedef struct chrome_capture {
    rocl_sorter *sorter; /* NULL: a filter has left it out */
    rocl_sequence *sequences;
    size_t sequence_count;
    rocl_links links;
} chrome_capture;

typedef struct chrome_span { /* times seen by a worker */
    alignas(ROCL_CACHE_LINE) int64_t first;
    int64_t last;
} chrome_span;

typedef struct chrome_sink {
    rocl_timeline timeline; /* first */
    rocl_trace *trace;
    rocl_chrome_options opt;
    chrome_span *spans;       /* by worker */
    chrome_span all;          /* of them; on rank 0 later of all ranks */
    chrome_capture *captures; /* by index */
    uint32_t begins;          /* the first capture that has lines */
    chrome_stream stream;
    chrome_numbers numbers;
    rocl_timeline_counts counts;
} chrome_sink;

/* rocm-timeline-generator.py: legacy text to the JSON of chrome://tracing, in the script's layout.
 * Text becomes JSON in two steps:
 *
 *     timeline.c  the entry points: inputs in, the frame of the JSON out
 *     lines.c     step 1, on all cores: a block of lines -> items
 *     write.c     step 2, in the order of the text: items -> JSON
 *     rows.c      which pid and tid an event is displayed at
 *     gaps.c      events for the gaps between profile lines
 *     select.c    lines whose events pass the filters of a trace
 *     report.c    what the script prints: counts of lines, work-group sizes
 *
 * Step 2 has to know the text before: rows get their numbers by first appearance, and calls of
 * strace are ended by later lines. Nothing but the rows and the open calls is remembered. */
#pragma once

#include "base/array.h"
#include "base/extsort.h"
#include "base/map.h"
#include "base/out.h"
#include "base/pool.h"
#include "base/strings.h"
#include "legacy/python.h"
#include "rocline.h"
#include "source/rtg/line.h"

/* ---- between the steps: blocks in, items out ------------------------------------------------ */

/* A line that is wanted, and, where a time window cuts its event, between which times. */
typedef struct tl_wanted {
    uint64_t offset; /* in the file */
    int64_t start, end;
    bool cut;
} tl_wanted;

/* A block in rocl_block.in:
 *
 *     tl_block | text, `text` bytes | `wanted` times tl_wanted, in order of offset (not aligned)
 */
typedef struct tl_block {
    uint64_t number;
    uint64_t offset; /* in the file */
    size_t text;
    size_t wanted;
    bool selected; /* only the wanted lines */
} tl_block;

/* What a block becomes in rocl_block.out: items, each a tl_head and `len` bytes. */
typedef enum tl_item {
    TL_TEXT,      /* output, as it is */
    TL_ROW,       /* "pid":P, "tid":T of a row; `len` is its number in the block, no bytes follow */
    TL_NEW_ROW,   /* the next number of the block: tl_texts: pid, thread or agent, queue */
    TL_WORKGROUP, /* tl_texts: x, y, z, kernel */
    TL_UNFINISHED, /* tl_texts: call without its arguments, call, seconds, fraction */
    TL_RESUMED,    /* tl_place, then tl_texts: name, duration, seconds, fraction; kind: were cut */
    TL_SAY,        /* a line for people */
    TL_MISSED_HSA, /* the first of the block, with its line end */
    TL_BAD,        /* tl_place: a line that is left out */
    TL_LINES,      /* uint64_t: lines of the block; the last item */
} tl_item;

typedef struct tl_head {
    uint32_t kind, len;
} tl_head;

typedef struct tl_place {
    uint64_t line; /* in the block, from 0 */
    const char *why;
} tl_place;

/* TL_HCC: a device of profile lines, whose events have a tid of their own. */
typedef enum tl_row_kind { TL_GPU, TL_COPY, TL_HSA, TL_HIP, TL_HCC, TL_ROW_KINDS } tl_row_kind;

enum { TL_TEXTS = 4, TL_RECENT = 64 };

/* Up to four texts, one after the other behind this. */
typedef struct tl_texts {
    uint32_t kind; /* of a row: tl_row_kind */
    uint32_t len[TL_TEXTS];
} tl_texts;

/* ---- lines.c: lines to items, on any worker ------------------------------------------------- */

typedef struct tl_block_row tl_block_row;

typedef struct tl_worker {
    alignas(ROCL_CACHE_LINE) const rocl_timeline_options *opt;
    rocl_sorter *gaps; /* with opt->gaps: profile lines */
    unsigned number;
    uint64_t block, line; /* those that are read */
    rocl_buf *out;
    size_t text; /* where the open TL_TEXT began */
    tl_block_row *rows;
    uint32_t *slots; /* hash table of rows: number + 1 */
    uint32_t row_count, row_cap, slot_mask;
    uint32_t recent[TL_RECENT]; /* number + 1 of rows met lately */
    bool missed_hsa;
    uint64_t gap_count;
    uint64_t shapes[RTG_SHAPES];
    uint64_t repaired; /* lines with bytes that are not UTF-8 */
} tl_worker;

rocl_status tl_convert_block(tl_worker *w, rocl_block *c, rocl_error *err);
void tl_worker_free(tl_worker *w);

/* An event of an strace call; both steps write them. NULL, or what is wrong with it, and nothing is
 * written then. `close`: the call's parenthesis is still open. *repaired: bytes. */
const char *tl_put_strace(rocl_buf *b, rocl_view name, rocl_view call, bool close,
                          rocl_view seconds, rocl_view fraction, rocl_view took, size_t *repaired);

/* ---- rows.c: numbers and labels of rows, in the order of the text --------------------------- */

typedef struct tl_row {
    tl_row_kind kind;
    uint32_t pid;     /* text id, as in the file */
    uint64_t tid;     /* TL_HCC: the device */
    size_t text, len; /* of tl_rows.texts: "pid":P, "tid":T */
    uint32_t label;   /* text id */
    uint64_t used; /* when it was used last: of two rows with one number that one has the label */
} tl_row;

typedef struct tl_rows {
    bool by_process;
    rocl_strings *strings;
    rocl_map index;   /* key text -> row */
    rocl_map agents;  /* (pid, agent) -> its index */
    rocl_map pids;    /* all that were seen */
    uint32_t *queues; /* by agent index: queues so far */
    size_t queue_cap;
    uint32_t agent_count, copy_count, hsa_count, hip_count;
    rocl_buf texts;
    tl_row *rows;
    size_t count, cap;
    uint64_t clock;
} tl_rows;

rocl_status tl_rows_init(tl_rows *r, bool by_process, rocl_error *err);
void tl_rows_free(tl_rows *r);
/* The row of a key; made when it is new. */
rocl_status tl_rows_get(tl_rows *r, const tl_texts *key, const char *texts, uint32_t *row,
                        rocl_error *err);
/* Names and order of processes and threads. */
rocl_status tl_rows_put_metadata(tl_rows *r, rocl_buf *b, rocl_error *err);
/* The names of the devices of profile lines. */
void tl_rows_put_devices(const tl_rows *r, rocl_buf *b);

/* ---- write.c: items to JSON, in the order of the text --------------------------------------- */

/* A call of strace that one line began and another may end. */
typedef struct tl_call {
    rocl_buf text;                  /* the call, then the digits of its time */
    size_t call, seconds, fraction; /* their lengths */
} tl_call;

typedef struct tl_writer {
    const rocl_timeline_options *opt;
    rocl_written *report;
    rocl_out *file;
    rocl_pipe *gzip;   /* compresses pieces of the text on all cores; NULL: not compressed */
    rocl_block *piece; /* being filled for it */
    rocl_buf text;     /* text under construction */
    tl_rows rows;
    uint32_t *row_map; /* of the block: its rows -> all rows */
    size_t row_map_len, row_map_cap;
    rocl_strings *call_names; /* their number is bounded, that of calls is not */
    rocl_map open_calls;      /* name -> call */
    tl_call *calls;
    size_t call_count, call_cap;
    rocl_strings *workgroups; /* tl_texts of TL_WORKGROUP items */
    const char *path;         /* of the input */
    uint64_t line;            /* of the input: before the block */
    uint64_t bad_reported;
    bool missed_hsa;
} tl_writer;

/* Opens the output as well. */
rocl_status tl_writer_open(tl_writer *w, const rocl_timeline_options *o, unsigned jobs,
                           rocl_error *err);
rocl_status tl_write_block(tl_writer *w, const rocl_buf *items, rocl_error *err);
/* Writes w->text, and empties it. */
rocl_status tl_write_text(tl_writer *w, rocl_error *err);
rocl_status tl_writer_commit(tl_writer *w, rocl_error *err);
void tl_writer_free(tl_writer *w); /* and removes outputs that were not committed */

/* ---- gaps.c --------------------------------------------------------------------------------- */

typedef struct tl_gap_counts {
    uint64_t duplicate, wrapped, okay;
} tl_gap_counts;

/* Writes the gaps of all devices. The sorter has profile lines: keys ~device (the highest comes
 * first), start, block and a count of the worker; the payload is the uint64_t stop. */
rocl_status tl_gaps_write(rocl_sorter *gaps, tl_gap_counts *counts, tl_writer *w, rocl_error *err);

/* ---- select.c ------------------------------------------------------------------------------- */

typedef struct tl_selection {
    rocl_sorter *lines; /* keys: input, offset; cut events have their times with them */
    uint64_t capture;
    tl_wanted next;
    bool more;
} tl_selection;

rocl_status tl_select_lines(tl_selection *s, rocl_trace *t, rocl_error *err);
void tl_selection_free(tl_selection *s);
/* Appends the wanted lines of a capture before `offset` to a block and counts them. Captures and
 * offsets must rise from call to call. */
rocl_status tl_selection_read(tl_selection *s, uint32_t capture, uint64_t offset, rocl_buf *to,
                              size_t *count, rocl_error *err);
/* Puts the times that are left of a line's event into it; `digits` holds them. */
typedef char tl_digits[2][32];
void tl_cut_line(rtg_line *l, const tl_wanted *w, tl_digits digits);

/* ---- report.c ------------------------------------------------------------------------------- */

void tl_say_counts(const rocl_timeline_options *o, const uint64_t shapes[RTG_SHAPES],
                   const tl_gap_counts *gaps);
rocl_status tl_say_workgroups(const rocl_timeline_options *o, const rocl_strings *groups,
                              rocl_error *err);

/* A line for people. */
static inline void tl_say(const rocl_timeline_options *o, const char *p, size_t n)
{
    if (o->say)
        o->say(o->ctx, p, n);
}

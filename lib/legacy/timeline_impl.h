/* The timeline writer inside: text goes to JSON in two steps. Blocks of lines become items, on all
 * cores (timeline_line.c); items are taken in the order of the text (timeline_write.c), since rows
 * get their numbers by first appearance (timeline_rows.c), and strace calls are closed by later
 * lines. Nothing but the rows and the open calls is remembered. */
#ifndef ROCL_LEGACY_TIMELINE_IMPL_H
#define ROCL_LEGACY_TIMELINE_IMPL_H

#include "base/array.h"
#include "base/extsort.h"
#include "base/map.h"
#include "base/out.h"
#include "base/pool.h"
#include "base/strings.h"
#include "rocline.h"
#include "source/rtg/line.h"

/* ---- timeline_number.c: numbers as Python writes them --------------------------------------- */

/* ns as µs: int(digits) / 1000 of Python 3, correctly rounded, as repr() shows it. False when it
 * is beyond a double. */
bool tl_put_us(rocl_buf *b, rtg_span digits);
/* The same of stop - start. */
void tl_put_us_difference(rocl_buf *b, uint64_t start, uint64_t stop);
double tl_us(uint64_t ns);
/* Digits without leading zeros, which JSON does not take. */
void tl_put_integer(rocl_buf *b, rtg_span digits);

/* ---- items ---------------------------------------------------------------------------------- */

/* A head of two words, the kind and a length, then so many bytes. */
typedef enum tl_item {
    TL_TEXT,       /* output, as it is */
    TL_ROW,        /* "pid":P, "tid":T of the row whose number in the block is the length */
    TL_NEW_ROW,    /* the next number of the block: tl_row_key */
    TL_WORKGROUP,  /* tl_texts: x, y, z, kernel */
    TL_UNFINISHED, /* tl_texts: call, seconds, fraction */
    TL_RESUMED,    /* tl_place, then tl_texts: name, duration, seconds, fraction; kind: were cut */
    TL_SAY,        /* a line for people */
    TL_MISSED_HSA, /* the first of the block */
    TL_BAD,        /* tl_place: a line that is left out */
    TL_LINES,      /* u64: of the block; the last item */
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

#define TL_DEVICE_MAX UINT32_MAX

enum { TL_TEXTS = 4, TL_RECENT = 64 };

/* Up to four texts, one after the other. */
typedef struct tl_texts {
    uint32_t kind; /* of a row: tl_row_kind */
    uint32_t len[TL_TEXTS];
} tl_texts;

/* A line that is wanted, and, where a time window cuts its event, between which times. */
typedef struct tl_wanted {
    uint64_t offset; /* in the file */
    int64_t start, end;
    bool cut;
} tl_wanted;

/* What a block begins with in rocl_block.in. Its text follows, then, with a selection, the lines of
 * it that are wanted, in order. */
typedef struct tl_block {
    uint64_t number;
    uint64_t offset; /* in the file */
    size_t text;     /* bytes */
    size_t wanted;
    bool selected; /* only the wanted ones */
} tl_block;

/* ---- timeline_items.c: writing items -------------------------------------------------------- */

struct tl_worker;
/* A block begins with tl_begin_rows and tl_open_text and ends with tl_close_text: between them what
 * is appended to the worker's `out` is output, and these put items into it. */
void tl_begin_rows(struct tl_worker *w);
void tl_open_text(struct tl_worker *w);
void tl_close_text(struct tl_worker *w);
void tl_put_head(rocl_buf *b, tl_item kind, size_t len);
void tl_put_item(struct tl_worker *w, tl_item kind, const void *p, size_t n);
void tl_put_texts(struct tl_worker *w, tl_item kind, uint32_t row_kind, const tl_place *place,
                  const rtg_span s[TL_TEXTS]);
void tl_say(struct tl_worker *w, const char *what, rtg_span s);
/* The line is left out; take_back: also what was written of it, back to the length `to`. */
void tl_bad(struct tl_worker *w, const char *why);
void tl_take_back(struct tl_worker *w, size_t to, const char *why);
/* The number of a row in the block; ask before the event begins, a new row is an item. */
uint32_t tl_row_of(struct tl_worker *w, tl_row_kind kind, rtg_span pid, rtg_span key,
                   rtg_span queue);
void tl_put_row(struct tl_worker *w, uint32_t row);

/* ---- timeline_line.c: lines to items, on any worker ----------------------------------------- */

typedef struct tl_local tl_local;

typedef struct tl_worker {
    alignas(ROCL_CACHE_LINE) const rocl_timeline_options *opt;
    rocl_sorter *gaps; /* with opt->gaps */
    unsigned number;
    uint64_t block, line; /* where we are */
    rocl_buf *out;
    size_t text; /* where the open TL_TEXT began */
    tl_local *rows;
    uint32_t *slots; /* hash table of rows: number + 1 */
    uint32_t row_count, row_cap, slot_mask;
    uint32_t recent[TL_RECENT];           /* number + 1 of rows met lately */
    const tl_wanted *wanted, *wanted_end; /* of the block, from here on */
    bool missed_hsa;
    uint64_t gap_count;
    uint64_t shapes[RTG_SHAPES];
    uint64_t repaired; /* lines with bytes that are not UTF-8 */
} tl_worker;

rocl_status tl_block_to_items(tl_worker *w, rocl_block *c, rocl_error *err);
void tl_worker_free(tl_worker *w);

/* ---- timeline_rows.c: numbers and labels of rows, in the order of the text ------------------ */

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
rocl_status tl_rows_put_metadata(tl_rows *r, rocl_buf *b, rocl_error *err);
/* The names of the devices of profile lines. */
void tl_rows_put_devices(const tl_rows *r, rocl_buf *b);

static inline rtg_span tl_row_text(const tl_rows *r, const tl_row *row)
{
    return (rtg_span){(const char *)r->texts.data + row->text, row->len};
}

/* ---- timeline_select.c: what the filters of a trace leave ----------------------------------- */

typedef struct tl_selection {
    rocl_sorter *lines; /* keys: input, offset; cut events have their times with them */
    uint64_t capture;
    tl_wanted next;
    bool more;
} tl_selection;

rocl_status tl_select(tl_selection *s, rocl_trace *t, rocl_error *err);
void tl_selection_free(tl_selection *s);
/* Appends the wanted lines of a capture before `offset` to a chunk and counts them. Captures and
 * offsets must rise from call to call. */
rocl_status tl_selection_take(tl_selection *s, uint32_t capture, uint64_t offset, rocl_buf *to,
                              size_t *count, rocl_error *err);
/* Puts the times that are left of a line's event into it; `room` holds their digits. */
typedef char tl_digits[2][32];
void tl_cut_line(rtg_line *l, const tl_wanted *w, tl_digits room);

/* ---- timeline_out.c: where the text goes ----------------------------------------------------- */

typedef struct tl_out {
    rocl_out *file;
    rocl_pipe *packing; /* with gzip */
    rocl_block *pack;   /* being filled */
    int level;
} tl_out;

rocl_status tl_out_open(tl_out *o, const rocl_timeline_options *opt, unsigned jobs,
                        rocl_error *err);
rocl_status tl_out_put(tl_out *o, const void *p, size_t n, rocl_error *err);
/* Writes what has gathered in b, and empties it. */
rocl_status tl_out_take(tl_out *o, rocl_buf *b, rocl_error *err);
rocl_status tl_out_commit(tl_out *o, uint64_t *bytes, rocl_error *err);
void tl_out_discard(tl_out *o); /* what is not committed; fine at any time */

/* ---- timeline_gaps.c ------------------------------------------------------------------------ */

typedef struct tl_gap_counts {
    uint64_t duplicate, wrapped, okay;
} tl_gap_counts;

/* A profile line. */
rocl_status tl_gaps_add(tl_worker *w, uint64_t device, uint64_t start, uint64_t stop,
                        rocl_error *err);
/* Writes the gaps of all devices; they gather in b. */
rocl_status tl_gaps_put(rocl_sorter *gaps, rocl_buf *b, tl_gap_counts *counts, tl_out *out,
                        rocl_error *err);

/* ---- timeline_workgroups.c ------------------------------------------------------------------ */

/* `groups` are tl_texts of TL_WORKGROUP items. */
rocl_status tl_workgroups_say(const rocl_strings *groups, rocl_say_fn *say, void *ctx,
                              rocl_error *err);

/* ---- timeline_calls.c: strace calls that one line begins and another ends ------------------- */

/* Without blanks at its ends; what is before its first parenthesis. */
rtg_span tl_trim(rtg_span s);
rtg_span tl_before_parenthesis(rtg_span s);
/* An event of an strace call. NULL, or what is wrong with it, and nothing is written then. Both
 * steps write them. `close`: the call's parenthesis is still open. *repaired: bytes. */
const char *tl_put_strace(rocl_buf *b, rtg_span name, rtg_span call, bool close, rtg_span seconds,
                          rtg_span fraction, rtg_span took, size_t *repaired);

typedef struct tl_call {
    rocl_buf text;                  /* the call, then the digits of its time */
    size_t call, seconds, fraction; /* their lengths */
} tl_call;

typedef struct tl_calls {
    rocl_strings *strings; /* names only: their number is bounded, that of calls is not */
    rocl_map open;         /* name -> call */
    tl_call *calls;
    size_t count, cap;
} tl_calls;

rocl_status tl_calls_init(tl_calls *c, rocl_error *err);
void tl_calls_free(tl_calls *c);
rocl_status tl_calls_begin(tl_calls *c, const tl_texts *t, const char *texts, rocl_error *err);
/* NULL: no such call is open. */
const tl_call *tl_calls_find(tl_calls *c, const char *name, size_t n);

/* ---- timeline_write.c: items to JSON, in the order of the text ------------------------------- */

typedef struct tl_writer {
    const rocl_timeline_options *opt;
    rocl_timeline_report *report;
    tl_out out;
    rocl_buf text; /* what is put together before it is written */
    tl_rows rows;
    tl_calls calls;
    rocl_strings *workgroups;
    const char *path; /* of the input */
    uint64_t line;    /* of the input: before the block */
    uint64_t told;
    bool missed_hsa;
    uint32_t *row_map; /* of the block: its rows -> all rows */
    size_t row_map_len, row_map_cap;
} tl_writer;

/* Does not open the output. */
rocl_status tl_writer_init(tl_writer *w, const rocl_timeline_options *o, rocl_error *err);
void tl_writer_free(tl_writer *w);
rocl_status tl_write_block(tl_writer *w, const rocl_buf *items, rocl_error *err);

/* ---- timeline_counts.c ----------------------------------------------------------------------- */

void tl_say_counts(const rocl_timeline_options *o, const uint64_t shapes[RTG_SHAPES],
                   const tl_gap_counts *gaps);

/* A line for people. */
static inline void tl_print(const rocl_timeline_options *o, const char *p, size_t n)
{
    if (o->say)
        o->say(o->ctx, p, n);
}

#endif

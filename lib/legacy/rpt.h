/* The report of the old script `rpt`: what GPUs and copies were busy with, from the log of profile
 * lines that HCC's runtime, or rtg_tracer in its HCC mode, mixes with an application's text. Every
 * byte is as that script prints it.
 *
 *     rpt.c         the entry points: options in, errors and notices out
 *     rpt_log.c     the bytes of a log, and how to read its application text once more
 *     rpt_line.c    a profile line -> a record
 *     rpt_read.c    a log -> records in order of start, by many workers
 *     rpt_trace.c   any other trace -> the same
 *     rpt_roi.c     which of them are reported on; rpt_regex.c finds texts for it
 *     rpt_sum.c     records -> resources, names, totals
 *     rpt_print.c   text as a print statement of the script would leave it
 *     rpt_text.c    the report
 *     rpt_json.c    the file for a trace viewer
 *     py_*.c        numbers and dictionaries of the interpreter that ran the script
 *
 * Records are in a sorter, not in memory; so is, by reference, the application's text. */
#ifndef ROCL_LEGACY_RPT_H
#define ROCL_LEGACY_RPT_H

#include <regex.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/extsort.h"
#include "base/map.h"
#include "base/out.h"
#include "base/strings.h"
#include "legacy/python.h"
#include "rocline.h"

/* Differences of two times must fit in 64 bits: what is further from 0 is no time. */
#define ROCL_RPT_TIME_MAX ((int64_t)1 << 62)

typedef struct rocl_rpt_record {
    int64_t start, stop; /* ns */
    int64_t device, queue, command;
    uint32_t name, type; /* texts */
    uint64_t line;       /* its own, from 1 */
    /* The application's text that belongs to it: whole lines of the log; none when text_size is 0
     */
    uint64_t text_at, text_size;
    uint64_t text_line, text_lines;
} rocl_rpt_record;

/* ---- rpt_log.c ------------------------------------------------------------------------------- */

typedef struct rocl_rpt_log rocl_rpt_log;

/* Opens a log: a file, plain or gzip; "-" is standard input. `again`: rocl_rpt_log_text will be
 * called, for which what is no plain file is copied to a nameless file in tmpdir. */
rocl_status rocl_rpt_log_open(rocl_rpt_log **log, const char *path, bool again, const char *tmpdir,
                              rocl_error *err);
const char *rocl_rpt_log_name(const rocl_rpt_log *log); /* for messages */
/* Appends up to n bytes to b; none at the end. */
rocl_status rocl_rpt_log_read(rocl_rpt_log *log, rocl_buf *b, size_t n, rocl_error *err);
/* The bytes from `at` (of the plain text) that one look gives: at least 1, at most n. They are good
 * until the next call. */
rocl_status rocl_rpt_log_text(rocl_rpt_log *log, uint64_t at, uint64_t n, rocl_view *text,
                              rocl_error *err);
void rocl_rpt_log_close(rocl_rpt_log *log);

/* ---- rpt_print.c ----------------------------------------------------------------------------- */

/* Prints as the print statement of Python 2 does: an item that did not end a line is parted from
 * the next one by a blank, also from one that another statement prints. Errors stick. */
typedef struct rocl_rpt_printer {
    rocl_out *out;
    rocl_buf text;
    bool apart; /* a blank is due */
    rocl_status status;
    rocl_error *err;
} rocl_rpt_printer;

/* Whether a blank is due after an item. */
static inline bool rocl_rpt_apart(const char *p, size_t n)
{
    return !n || !rocl_py_space(p[n - 1]) || p[n - 1] == ' ';
}

void rocl_rpt_item(rocl_rpt_printer *p, const char *s, size_t n);
void rocl_rpt_newline(rocl_rpt_printer *p);
/* A whole line, or several. */
void rocl_rpt_say(rocl_rpt_printer *p, const char *lines);
rocl_status rocl_rpt_flush(rocl_rpt_printer *p);

/* Appends %-*s, %*s (negative width: to the left). */
void rocl_rpt_put_text(rocl_buf *b, const char *s, size_t n, int width);
void rocl_rpt_put_int(rocl_buf *b, int64_t v, int width);
/* %*.*f; plus: %+*.*f */
void rocl_rpt_put_real(rocl_buf *b, double v, unsigned decimals, int width, bool plus);

/* ---- what a report is made of ---------------------------------------------------------------- */

typedef enum rocl_rpt_resource_kind {
    ROCL_RPT_GPU, /* one for each device */
    ROCL_RPT_DATA,
    ROCL_RPT_NONE, /* of records whose type nobody knows */
} rocl_rpt_resource_kind;

/* All that happened under one name on a resource. */
typedef struct rocl_rpt_summary {
    uint32_t name;
    bool is_gap;
    uint64_t count;
    int64_t total, min, max; /* ns */
} rocl_rpt_summary;

typedef struct rocl_rpt_resource {
    rocl_rpt_resource_kind kind;
    int64_t device;
    uint32_t name;               /* text */
    rocl_map by_name;            /* text -> summary */
    rocl_map by_queue;           /* queue -> its place */
    rocl_rpt_summary *summaries; /* as they were met */
    int64_t *queues;
    size_t count, cap, queue_count, queue_cap;
    bool any;
    int64_t latest; /* stop so far */
    int64_t busy;
} rocl_rpt_resource;

typedef struct rocl_rpt_bucket {
    int64_t below; /* ns; the last one has no limit */
    uint32_t name; /* text: "gap 10us-20us" */
} rocl_rpt_bucket;

/* An end of the region of interest. */
typedef struct rocl_rpt_end {
    const char *option; /* for messages */
    const char *given;  /* NULL: none */
    char form;          /* '@', '^', '%', or 0: the default */
    int64_t number;     /* line, or ns */
    uint64_t matches;   /* that are still to be met */
    regex_t regex;
    bool has_regex, found;
    rocl_rpt_record record;
    rocl_buf matched; /* the text line that matched, without white space at its end */
    uint64_t matched_line;
} rocl_rpt_end;

typedef struct rocl_rpt {
    rocl_rpt_options o; /* defaults filled in */
    const char *input;  /* for messages */
    bool from_log;      /* else of a trace, which also owns strings and space */
    bool keep_text;     /* the application's text will be read once more */
    rocl_strings *strings;
    uint32_t kernel, barrier, copy, copyslo, gap; /* texts */
    rocl_sort_space *space;
    rocl_sorter *sorter;
    rocl_rpt_log *log;
    rocl_rpt_printer print;
    rocl_out *json;
    rocl_buf json_text;
    bool json_any;
    rocl_rpt_record first, last; /* in order of start */
    rocl_rpt_end from, to;
    uint64_t unparsable, repaired, backwards; /* lines and records with a fault */
    rocl_rpt_bucket *buckets;                 /* option gaps, sorted, and one more */
    size_t bucket_count;
    rocl_rpt_resource *resources; /* as they were met */
    size_t resource_count, resource_cap;
    rocl_map gpus; /* device -> resource */
    uint32_t data, none;
} rocl_rpt;

static inline bool rocl_rpt_is_copy(const rocl_rpt *r, uint32_t type)
{
    return type == r->copy || type == r->copyslo;
}

static inline rocl_rpt_resource_kind rocl_rpt_kind(const rocl_rpt *r, uint32_t type)
{
    return type == r->kernel || type == r->barrier ? ROCL_RPT_GPU
           : rocl_rpt_is_copy(r, type)             ? ROCL_RPT_DATA
                                                   : ROCL_RPT_NONE;
}

/* ---- rpt_line.c ------------------------------------------------------------------------------ */

typedef enum rocl_rpt_verdict {
    ROCL_RPT_FINE,
    ROCL_RPT_REPAIRED,   /* warned of, but a record */
    ROCL_RPT_UNPARSABLE, /* warned of; the line is the application's */
    ROCL_RPT_NO_MEMORY,
} rocl_rpt_verdict;

/* Where a line is taken to pieces; each worker has its own. */
typedef struct rocl_rpt_line {
    const rocl_rpt *rpt;
    rocl_rpt_printer say; /* what the script prints of the line, in say.text */
    rocl_buf name;
} rocl_rpt_line;

/* Reads a line that starts with "profile:" (n bytes, with its newline where it has one). Sets all
 * of r but its line and text. */
rocl_rpt_verdict rocl_rpt_line_parse(rocl_rpt_line *l, const char *p, size_t n, rocl_rpt_record *r);

/* ---- rpt_read.c, rpt_trace.c: into r->sorter ------------------------------------------------- */

rocl_status rocl_rpt_read_log(rocl_rpt *r, rocl_error *err);
rocl_status rocl_rpt_read_trace(rocl_rpt *r, rocl_trace *t, rocl_error *err);
/* The next record, in order of line. */
rocl_status rocl_rpt_add(rocl_rpt *r, const rocl_rpt_record *record, rocl_error *err);
void rocl_rpt_unpack(const rocl_sort_record *packed, rocl_rpt_record *record);

/* ---- rpt_roi.c, rpt_regex.c ------------------------------------------------------------------ */

rocl_status rocl_rpt_roi_parse(rocl_rpt *r, rocl_error *err);
bool rocl_rpt_roi_needs_text(const rocl_rpt *r);
/* Looks at a record as it is added, and at them all after that, where need be. */
void rocl_rpt_roi_see(rocl_rpt *r, const rocl_rpt_record *record);
rocl_status rocl_rpt_roi_resolve(rocl_rpt *r, rocl_error *err);
void rocl_rpt_roi_free(rocl_rpt *r);

/* Compiles a regular expression in the notation of Python as far as POSIX knows the same. */
rocl_status rocl_rpt_regex_compile(regex_t *re, const char *option, const char *text,
                                   rocl_error *err);
/* p[n] is NUL. */
bool rocl_rpt_regex_matches(const regex_t *re, const char *p, size_t n);

/* ---- rpt_sum.c ------------------------------------------------------------------------------- */

rocl_status rocl_rpt_make_buckets(rocl_rpt *r, rocl_error *err);
/* What a record adds; gap and critical time are for printing it. */
typedef struct rocl_rpt_share {
    int64_t critical, gap; /* ns */
    size_t bucket;         /* of the gap */
} rocl_rpt_share;
rocl_status rocl_rpt_take(rocl_rpt *r, const rocl_rpt_record *record, rocl_rpt_share *share,
                          rocl_error *err);
/* The numbers of the resources as the script walks through them; free() it. NULL: no memory. */
uint32_t *rocl_rpt_resource_order(const rocl_rpt *r);
uint32_t *rocl_rpt_queue_order(const rocl_rpt_resource *res);
/* The summaries by total time; equal ones as the script's dictionary has them. */
uint32_t *rocl_rpt_summary_order(const rocl_rpt *r, const rocl_rpt_resource *res);
void rocl_rpt_sum_free(rocl_rpt *r);

/* ---- rpt_text.c ------------------------------------------------------------------------------ */

void rocl_rpt_print_ends(rocl_rpt *r);
void rocl_rpt_print_header(rocl_rpt *r);
/* A record with its text and the gap before it. */
rocl_status rocl_rpt_print_record(rocl_rpt *r, const rocl_rpt_record *record,
                                  const rocl_rpt_share *share, rocl_error *err);
void rocl_rpt_print_unknown(rocl_rpt *r, uint32_t type);
rocl_status rocl_rpt_print_tables(rocl_rpt *r, rocl_error *err);

/* ---- rpt_json.c ------------------------------------------------------------------------------ */

rocl_status rocl_rpt_json_open(rocl_rpt *r, rocl_error *err);
rocl_status rocl_rpt_json_record(rocl_rpt *r, const rocl_rpt_record *record, rocl_error *err);
/* Names the queues, also on the report, and ends the file. */
rocl_status rocl_rpt_json_close(rocl_rpt *r, rocl_error *err);

#endif

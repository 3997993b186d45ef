/* The report of the old script `rpt`: what GPUs and copies were busy with, from the log of profile
 * lines that HCC's runtime, or rtg_tracer in its HCC mode, mixes with an application's text. Every
 * byte is as that script prints it.
 *
 *     rpt.c         the entry points: options in, errors and notices out
 *     log.c         the bytes of a log, and how to read its application text once more
 *     line.c        a profile line -> a record
 *     read_log.c    a log -> records, by many workers
 *     read_trace.c  any other trace -> records
 *     records.c     records in order of start, and the region of interest
 *     regex.c       the regular expressions that a region can be given by
 *     sums.c        records -> resources, names, totals
 *     report.c      the text, as print statements of the script would leave it
 *     json.c        the file for a trace viewer
 *
 * Records are in a sorter, not in memory; so is, by reference, the application's text. */
#pragma once

#include <regex.h>

#include "base/error.h"
#include "base/extsort.h"
#include "base/map.h"
#include "base/out.h"
#include "base/strings.h"
#include "legacy/python.h"
#include "rocline.h"

/* Differences of two times must fit in 64 bits: what is further from 0 is no time. */
#define RPT_TIME_MAX ((int64_t)1 << 62)

typedef struct rpt_record {
    int64_t start, stop; /* ns */
    int64_t device, queue, command;
    uint32_t name, type; /* texts */
    uint64_t line;       /* its own, from 1 */
    /* The application's text that belongs to it: whole lines of the log; none when text_size is 0
     */
    uint64_t text_at, text_size;
    uint64_t text_line, text_lines;
} rpt_record;

/* ---- log.c ---------------------------------------------------------------------------------- */

typedef struct rpt_log rpt_log;

/* Opens a log: a file, plain or compressed; "-" is standard input. `again`: rpt_log_text will be
 * called, for which what is no plain file is copied to a nameless file in tmpdir. */
rocl_status rpt_log_open(rpt_log **log, const char *path, bool again, const char *tmpdir,
                         rocl_error *err);
const char *rpt_log_name(const rpt_log *log); /* for messages */
/* Appends up to n bytes to b; none at the end. */
rocl_status rpt_log_read(rpt_log *log, rocl_buf *b, size_t n, rocl_error *err);
/* The bytes from `at` (of the plain text) that one look gives: at least 1, at most n. They are good
 * until the next call. */
rocl_status rpt_log_text(rpt_log *log, uint64_t at, uint64_t n, rocl_view *text, rocl_error *err);
void rpt_log_close(rpt_log *log);

/* ---- report.c: print statements ------------------------------------------------------------- */

/* Prints as the print statement of Python 2 does: an item that did not end a line is separated from
 * the next one by a blank, also from one that another statement prints. Errors stick. */
typedef struct rpt_printer {
    rocl_out *out; /* NULL: all stays in `text` */
    rocl_buf text;
    bool blank_due;
    rocl_status status;
    rocl_error *err;
} rpt_printer;

void rpt_print_item(rpt_printer *p, const char *s, size_t n);
void rpt_end_line(rpt_printer *p);
rocl_status rpt_flush(rpt_printer *p);

/* ---- what a report is made of --------------------------------------------------------------- */

typedef enum rpt_resource_kind {
    RPT_GPU, /* one for each device */
    RPT_DATA,
    RPT_NONE, /* of records of unknown type */
} rpt_resource_kind;

/* All that happened under one name on a resource. */
typedef struct rpt_summary {
    uint32_t name;
    bool is_gap;
    uint64_t count;
    int64_t total, min, max; /* ns */
} rpt_summary;

typedef struct rpt_resource {
    rpt_resource_kind kind;
    int64_t device;
    uint32_t name;          /* text */
    rocl_map by_name;       /* text -> summary */
    rocl_map by_queue;      /* queue -> its index */
    rpt_summary *summaries; /* as they were met */
    int64_t *queues;
    size_t count, cap, queue_count, queue_cap;
    bool any;
    int64_t latest; /* stop so far */
    int64_t busy;
} rpt_resource;

typedef struct rpt_bucket {
    int64_t below; /* ns; the last one has no limit */
    uint32_t name; /* text: "gap 10us-20us" */
} rpt_bucket;

/* An end of the region of interest. */
typedef struct rpt_end {
    const char *option; /* for messages */
    const char *given;  /* NULL: none */
    char notation;      /* '@', '^', '%', or 0: the default */
    int64_t number;     /* line, or ns */
    uint64_t matches;   /* that are still to be met */
    bool often;         /* more than one was wanted */
    regex_t regex;
    bool has_regex, resolved;
    rpt_record record;
    rocl_buf matched; /* the text line that matched, without white space at its end */
    uint64_t matched_line;
} rpt_end;

typedef struct rpt {
    rocl_rpt_options o; /* defaults filled in */
    const char *input;  /* for messages */
    bool from_log;      /* else of a trace, which also owns strings and space */
    bool keep_text;     /* the application's text will be read once more */
    rocl_strings *strings;
    uint32_t kernel, barrier, copy, copyslo, gap; /* texts */
    rocl_sort_space *space;
    rocl_sorter *sorter;
    rpt_log *log;
    rpt_printer print;
    rocl_out *json;
    rocl_buf json_text;
    bool json_any;
    rpt_record first, last; /* in order of start */
    rpt_end from, to;
    uint64_t unparsable, repaired, backwards; /* lines and records with a fault */
    rpt_bucket *buckets;                      /* option gaps, sorted, and one more */
    size_t bucket_count;
    rpt_resource *resources; /* as they were met */
    size_t resource_count, resource_cap;
    rocl_map gpus; /* device -> resource */
    uint32_t data, none;
} rpt;

static inline bool rpt_is_copy(const rpt *r, uint32_t type)
{
    return type == r->copy || type == r->copyslo;
}

static inline rpt_resource_kind rpt_kind_of(const rpt *r, uint32_t type)
{
    return type == r->kernel || type == r->barrier ? RPT_GPU
           : rpt_is_copy(r, type)                  ? RPT_DATA
                                                   : RPT_NONE;
}

/* ---- line.c --------------------------------------------------------------------------------- */

typedef enum rpt_outcome {
    RPT_FINE,
    RPT_REPAIRED,   /* warned of, but a record */
    RPT_UNPARSABLE, /* warned of; the line is the application's */
    RPT_NO_MEMORY,
} rpt_outcome;

/* What parsing needs; each worker has its own. */
typedef struct rpt_parser {
    const rpt *rpt;
    rpt_printer print; /* what the script prints of the line, in print.text */
    rocl_buf name;
} rpt_parser;

/* Reads a line that starts with "profile:" (n bytes, with its newline where it has one). Sets all
 * of r but its line and text. */
rpt_outcome rpt_parse_line(rpt_parser *l, const char *p, size_t n, rpt_record *r);

/* ---- read_log.c, read_trace.c: into r->sorter ----------------------------------------------- */

rocl_status rpt_read_log(rpt *r, rocl_error *err);
rocl_status rpt_read_trace(rpt *r, rocl_trace *t, rocl_error *err);

/* ---- records.c, regex.c --------------------------------------------------------------------- */

/* The ends of the region, from the options. */
rocl_status rpt_parse_region(rpt *r, rocl_error *err);
bool rpt_region_needs_text(const rpt *r);
void rpt_region_free(rpt *r);
/* The next record, in order of line. */
rocl_status rpt_add_record(rpt *r, const rpt_record *record, rocl_error *err);
/* When all were added: which records the ends are. */
rocl_status rpt_resolve_region(rpt *r, rocl_error *err);
/* The next record of the started sorter, in order of start; *more false at the end. */
rocl_status rpt_next_record(rocl_sorter *s, rpt_record *record, bool *more, rocl_error *err);
/* Is a before b? */
static inline bool rpt_is_before(const rpt_record *a, const rpt_record *b)
{
    return a->start < b->start || (a->start == b->start && a->line < b->line);
}
/* A time as a key that sorts like it, and back. */
static inline uint64_t rpt_time_key(int64_t v)
{
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* Compiles a regular expression in the notation of Python as far as POSIX knows the same. */
rocl_status rpt_regex_compile(regex_t *re, const char *option, const char *text, rocl_error *err);

/* ---- sums.c --------------------------------------------------------------------------------- */

rocl_status rpt_make_buckets(rpt *r, rocl_error *err);
/* What a record adds; gap and critical time are for printing it. */
typedef struct rpt_timing {
    int64_t critical, gap; /* ns */
    size_t bucket;         /* of the gap */
} rpt_timing;
rocl_status rpt_sum_record(rpt *r, const rpt_record *record, rpt_timing *timing, rocl_error *err);
/* The numbers of the resources as the script walks through them; free() it. NULL: no memory. */
uint32_t *rpt_resource_order(const rpt *r);
uint32_t *rpt_queue_order(const rpt_resource *res);
/* The summaries by total time; equal ones as the script's dictionary has them. */
uint32_t *rpt_summary_order(const rpt *r, const rpt_resource *res);
void rpt_sums_free(rpt *r);

/* ---- report.c ------------------------------------------------------------------------------- */

/* The region, and what the columns of records are. */
void rpt_print_region(rpt *r);
/* A record with its text and the gap before it. */
rocl_status rpt_print_record(rpt *r, const rpt_record *record, const rpt_timing *timing,
                             rocl_error *err);
void rpt_print_unknown(rpt *r, uint32_t type);
rocl_status rpt_print_tables(rpt *r, rocl_error *err);

/* ---- json.c --------------------------------------------------------------------------------- */

rocl_status rpt_json_open(rpt *r, rocl_error *err);
rocl_status rpt_json_record(rpt *r, const rpt_record *record, rocl_error *err);
/* Names the queues, also on the report, and ends the file. */
rocl_status rpt_json_close(rpt *r, rocl_error *err);

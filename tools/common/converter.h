/* What the converters have in common with `rocline convert`: one output of a trace, made ready by a
 * command line, written, and reported when it has its name. */
#pragma once

#include "common/common.h"
#include "common/page.h"

/* Options of outputs that several formats may have. */
typedef struct conversion {
    bool group_by_queue;                /* pftrace, otf2, json, html */
    bool legacy_tracks, counters, zstd; /* pftrace */
    bool flows;                         /* json */
    bool duration, bytes, gzip;         /* csv; gzip also json */
    unsigned csv_style;                 /* a rocl_csv_style */
    strings kinds;                      /* csv, parquet, arrow, arrows, jsonl */
    int level;                          /* of -z, below 0: not given */
    page_choice page;                   /* html */
} conversion;

typedef struct converter {
    const char *format, *ending; /* "csv" and ".csv" */
    /* Names of -o and -d are filled in. -1, or the exit code of a usage error. */
    int (*prepare)(const common *c, const conversion *o, unsigned variant);
    common_write_fn *write; /* its ctx is the state */
    void (*report)(const void *state);
    void *state;      /* begins with a `common`; NULL: converter_run() is not for it */
    unsigned variant; /* of several formats that have their state in common: one at a time */
} converter;

extern const converter csv_converter, pftrace_converter, otf2_converter, json_converter,
    html_converter, export_converters[4]; /* parquet, arrow, arrows, jsonl */

/* The run of a tool that is a converter; `check` is of its state. */
int converter_run(const program *p, const converter *v, int (*check)(void *state), int argc,
                  char **argv);

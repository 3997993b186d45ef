/* What all tools that read traces have in common: their options, and the run from open to exit. */
#pragma once

#include "common/messages.h"
#include "common/options.h"
#include "rocline.h"

/* Kinds of events that a tool was asked for. */
typedef enum wanted_events { EVENTS_ALL, EVENTS_SOME, EVENTS_NONE } wanted_events;

/* The first member of every tool's own struct of options. */
typedef struct common {
    strings inputs;
    unsigned kernel_names, agent_index, window_mode; /* enums of rocline.h */
    bool kernel_rename, strict, args, collectives;
    further align; /* a rocl_align, and its name or file */
    const char *start, *end, *start_marker, *end_marker, *min_duration;
    strings hosts; /* PATTERN=NAME */
    bool same_host;
    strings rank_numbers; /* the items PATTERN=N of --rank */
    strings ranks, pids, agents, include, exclude, names, exclude_names;
    strings kernel_include, kernel_exclude, periods;
    const char *kernel_iterations, *steps, *step_markers;
    unsigned run;                 /* number; 0: all */
    unsigned warmup;              /* steps */
    unsigned jobs, level, reader; /* the last: an enum of rocline.h */
    size_t memory;
    const char *tmpdir, *kernel_classes, *team;
    bool no_sync, csv_safe;
    const char *output_file, *output_path; /* as given, or NULL */
    strings ignored;                       /* names of options that mean nothing here */
    const char *job;                       /* the file that --job names, or NULL */
    bool checking;  /* with several jobs: each is first checked, up to where its work would begin */
    bool local;     /* --local */
    bool to_stdout; /* the tool sets it when stdout is data */
    bool note_times;                   /* the same, for rocl_trace_times */
    bool uses_steps;                   /* and this one if it shows steps */
    bool copy_packets;                 /* and this one of rocl_options */
    bool team_writes;                  /* and this one when all ranks make its output together */
    bool team_inputs;                  /* and this one when its outputs are one for each input */
    rocl_team_write_fn *team_collects; /* and this one to what ranks do that make statistics */
    bool alone;                        /* and this one when rank 0 copies files that it sees */
    bool teams;                        /* and this one when its reports can be made by a team */
    bool apart;                        /* and this one when it opens some inputs, then others */
    bool reported;                     /* and this one when it has called common_report() itself */
    wanted_events wanted;              /* the tool sets it */
    uint64_t copied,
        copied_rows; /* the same for the whole run: processes whose events are not read */
} common;

/* Parts of the option tables; their offsets count from a `common`. */
extern const opt_group input_group, names_group, filter_group, run_group, other_group;
extern const opt_group team_group; /* of tools that set common.teams */
/* Gives the name of rank 0's output to all ranks. Returns -1, or an exit code. */
int common_share_name(char *name, size_t size);
/* Ends a program with this exit code, which it returns: others do not wait for this rank. */
int common_end(int code);
bool common_is_other_rank(void); /* of a team: rank 0 makes everything besides the output */
/* Options of AMD's tools, for those that take their place: accepted, without effect. */
extern const opt_group ignored_group;

#define COMMON_OUTPUT_FILE(text)                                                                   \
    {                                                                                              \
        "output-file", 'o', OPT_STRING, offsetof(common, output_file), "NAME", NULL, 0, 0, text    \
    }
#define COMMON_CLASSES(text)                                                                       \
    {                                                                                              \
        "classes", 0, OPT_STRING, offsetof(common, kernel_classes), "FILE", NULL, 0, 0, text       \
    }
#define COMMON_OUTPUT_PATH                                                                         \
    {                                                                                              \
        "output-path", 'd', OPT_STRING, offsetof(common, output_path), "DIR", NULL, 0, 0,          \
            "folder of the output (default: ROCPD_OUTPUT_PATH, or rocpd-output-data); keys such "  \
            "as %hostname%, %pid%, %tag%, %rank%, %job% and %env{VAR}% are replaced, see "         \
            "rocline(7)"                                                                           \
    }
#define COMMON_END                                                                                 \
    {                                                                                              \
        NULL, 0, OPT_END, 0, NULL, NULL, 0, 0, NULL                                                \
    }

/* options_parse, then what every tool checks. `c` begins the tool's struct. */
int common_parse(const program *p, common *c, int argc, char **argv);

/* Did the reader of standard output close it? That is not worth a message. */
bool reader_is_gone(const common *c, const rocl_error *err);

/* Was any filter asked for? */
bool common_filters(const common *c);

/* Opens the inputs, lets `write` do its work with `ctx`, reports what was left out; returns the
 * exit code. */
typedef rocl_status common_write_fn(rocl_trace *t, void *ctx, rocl_error *err);
int common_run(const common *c, common_write_fn *write, void *ctx);

/* For a `write` that needs another trace, too: opens it with the same options, and reports what was
 * left out of it. */
rocl_status common_open(const common *c, const strings *inputs, rocl_trace **t, rocl_error *err);
void common_report(const common *c, const rocl_trace *t);
/* "12 records left out: never ended (9), end before start (3)", or of those that were kept
 * ("repaired"), at `to`; returns its length, 0: there are none. */
size_t common_put_faults(char *to, size_t size, const rocl_trace *t, bool dropped,
                         const char *what);

/* How a report is made.
 *
 *     batches of events --add_batch--> collector --finish--> tables of rows
 *       (all workers at once)          (one thread; collectors run side by side)
 *
 * A report is a question: a row of rocl_report_defs in report.c, which gives it a name, a tab on
 * the HTML page, and a line of help. A collector answers with tables, and is a file that reads from
 * top to bottom: what is collected, the columns of its tables, and at the end its
 * rocl_collector_def, which has a line in stats.c. Its tables say which report they are of; it is
 * made when one of them is wanted. Each report has a table of its name. Tests hold tables and
 * columns against the manual. lib/README.md has a whole one, of 30 lines.
 *
 * Functions that add tables, rows and cells do not fail: where memory is out, the tables are marked
 * as incomplete, and rocl_stats fails. A table that is not wanted takes its rows and drops them. */
#pragma once

#include <string.h>

#include "base/buf.h"
#include "base/extsort.h"
#include "base/order.h"
#include "model/identity.h"
#include "model/ranks.h"
#include "model/trace.h"
#include "table/table.h"

typedef struct rocl_calls rocl_calls;
typedef struct rocl_collector_def rocl_collector_def;
typedef struct rocl_report_def rocl_report_def;
typedef struct rocl_table_def rocl_table_def;
typedef struct rocl_gather_def rocl_gather_def;
typedef struct rocl_keyed rocl_keyed;

/* ---- collectors ------------------------------------------------------------------------------ */

enum { ROCL_COLLECTOR_SORTERS = 6, ROCL_COLLECTOR_KEYED = 2 };

/* What the struct of every collector begins with. */
typedef struct rocl_collector {
    const rocl_collector_def *def;
    rocl_trace *trace;
    const rocl_stats_options *options;
    const struct rocl_event_ids *ids; /* NULL: nobody wants ids */
    uint32_t kinds;   /* that it gets: those of the definition, unless `open` changes them */
    uint32_t fields;  /* ROCL_FIELD_*s that it wants of them: `open` sets them */
    bool needs_calls; /* `open` sets it, so that look_up_calls is called */
    bool needs_args;  /* `open` sets it, so that batches have the arguments of calls */
    rocl_sorter *sorters[ROCL_COLLECTOR_SORTERS]; /* see rocl_collector_sorter */
    rocl_keyed *keyed[ROCL_COLLECTOR_KEYED];      /* see rocl_keyed_open */
    unsigned keyed_count;
} rocl_collector;

/* `self` is the collector's struct. Functions but `add_batch` may be NULL. */
struct rocl_collector_def {
    const rocl_table_def *const *tables; /* NULL at the end: it is made when one is wanted */
    uint32_t kinds;                      /* ROCL_BIT()s of the events that it gets */
    size_t size;                         /* bytes of its struct, which is zeroed */
    bool by_stream;                      /* it is made only with that option, and not in brief */
    bool with_derive;                    /* only with files of that option */
    bool slow;                           /* to finish: begun before the others */
    /* It needs much memory beside the space of its sorters then: one such after the other. */
    bool large;
    rocl_status (*open)(void *self, rocl_error *err); /* close is called also when it fails */
    /* Concurrent: `worker` is below trace->opt.jobs, and each writes what is its own. */
    rocl_status (*add_batch)(void *self, unsigned worker, const rocl_batch *b, rocl_error *err);
    /* What a rocl_sink calls so; among its kinds. */
    uint32_t history_kinds;
    rocl_status (*add_history)(void *self, unsigned worker, const rocl_batch *b, rocl_error *err);
    /* When all events have come: to look up host calls, which come before `finish` (calls.h). */
    rocl_status (*look_up_calls)(void *self, rocl_calls *calls, rocl_error *err);
    /* Adds the tables. Runs beside the `finish` of other collectors. */
    rocl_status (*finish)(void *self, rocl_tables *out, rocl_error *err);
    void (*close)(void *self); /* frees what the struct points to */
    /* How the ranks of a team collect for it (gather.h); NULL: their events come to rank 0. */
    const rocl_gather_def *gather;
};

/* Is it a table of a report that is wanted, and not left out; or do findings rest on it? */
bool rocl_table_wanted(const rocl_stats_options *o, const rocl_table_def *def);

/* A sorter that is sealed after each task, and freed with the collector. NULL: memory is out. */
rocl_sorter *rocl_collector_sorter(rocl_collector *c, unsigned key_words);
/* Frees it early, so that others have its memory; *sorter is one of the collector, and NULL then.
 */
void rocl_collector_free_sorter(rocl_collector *c, rocl_sorter **sorter);

/* The GPUs that a dispatch or a copy occupies: a copy those of both ends. Returns how many. */
unsigned rocl_gpus_of(const rocl_batch *b, size_t i, const rocl_gpu *used[2]);

/* Keeps the first `most` items of an order in a sorted array; of equal ones those that come first.
 */
void rocl_keep_first(void *array, unsigned *count, unsigned most, size_t size, const void *item,
                     int (*compare)(const void *a, const void *b));

/* The key of a group is an interned struct without holes, and its id is the group. This makes an
 * array of *count groups, the struct at the begin of each, the rest zeroed: groups[id]. Free it.
 * [0] is none: the id of no bytes. NULL: memory is out. */
void *rocl_groups_new(const rocl_strings *keys, size_t key_size, size_t group_size, size_t *count);

/* What rows are sorted by. */
typedef struct rocl_sort_values {
    int64_t total, max;
    uint64_t calls;
    double average;
} rocl_sort_values;

/* As for qsort, the largest first; 0 for ROCL_BY_NAME, and where they are equal. */
int rocl_compare_values(rocl_sort_by by, const rocl_sort_values *a, const rocl_sort_values *b);

/* ---- tables of rows -------------------------------------------------------------------------- */

typedef struct rocl_report_rows rocl_report_rows;

/* Makes a cell of a field of a row. */
typedef rocl_datum rocl_field_fn(const rocl_report_rows *r, const void *field);

/* When a table has a column: if all of these hold. */
enum {
    ROCL_ALWAYS = 0,
    ROCL_IF_RANK = 1 << 0, /* --by-rank, and so on */
    ROCL_IF_AGENT = 1 << 1,
    ROCL_IF_STREAM = 1 << 2,
    ROCL_IF_DIMS = 1 << 3,
    ROCL_IF_FULL = 1 << 4,     /* not in brief */
    ROCL_IF_PICTURES = 1 << 5, /* for people */
    ROCL_IF_OWN = 1 << 6,      /* the report says whether (rocl_begin_table) */
    ROCL_IF_OWN_2 = 1 << 7,
    ROCL_IF_IDS = 1 << 8,
    ROCL_CONDITIONS = (1 << 9) - 1,
    /* What the last row, for all that --top cuts off, has in the column; else it has nothing: */
    ROCL_IN_REST = 1 << 9, /* a value, of the sum of those rows */
    ROCL_OTHERS = 1 << 10, /* "(N others)" */
    ROCL_MINOR = 1 << 12,  /* text leaves it out if there is no room, like ROCL_IF_FULL */
    ROCL_SUM = 1 << 11,    /* not by --top, but where a table is cut to a budget: their sum */
};

typedef struct rocl_column {
    const char *key, *title;
    rocl_unit unit;
    uint32_t when;       /* which of the above */
    rocl_field_fn *cell; /* this ... */
    size_t at;           /* ... of the field there in the row */
} rocl_column;

/* The last two members of a column, by the type of a field of a row's struct. */
#define ROCL_CELL(row, field)                                                                      \
    _Generic(((row *)0)->field,                                                                    \
        int64_t: rocl_field_int,                                                                    \
        uint64_t: rocl_field_int,                                                                   \
        double: rocl_field_real,                                                                    \
        uint32_t: rocl_field_text,                                                                  \
        int32_t: rocl_field_id,                                                                     \
        const char *: rocl_field_string,                                                            \
        rocl_view: rocl_field_view,                                                                 \
        const rocl_gpu *: rocl_field_gpu,                                                           \
        const rocl_rank *: rocl_field_rank,                                                         \
        rocl_event_ref: rocl_field_event,                                                          \
        rocl_agent_key: rocl_field_agent),                                                          \
        offsetof(row, field)
/* A cell made by a function of one's own. */
#define ROCL_CELL_BY(fn, row, field) (fn), offsetof(row, field)

#define ROCL_COLUMNS(c) (c), sizeof(c) / sizeof *(c)

/* A table that a report may have; static. */
struct rocl_table_def {
    const rocl_table_tab *tab; /* the tab of its report */
    const char *key, *title;
    const rocl_column *columns;
    size_t column_count; /* 64 at most */
};

/* A table while rows are put into it. */
struct rocl_report_rows {
    const rocl_collector *c;
    rocl_tables *out;
    rocl_table *table; /* NULL: memory is out, or it is not wanted */
    const rocl_table_def *def;
    uint64_t shown; /* by column */
    /* The same for findings: all rows, whatever the options are. */
    rocl_table *whole;
    uint64_t whole_shown;
};

/* A new table. conditions: of ROCL_IF_OWN those that hold; the others follow from the options. */
rocl_report_rows rocl_begin_table(const rocl_collector *c, rocl_tables *out,
                                  const rocl_table_def *def, uint32_t conditions);
/* Its times count from then, not from the zero of the trace's clock. */
void rocl_set_origin(const rocl_report_rows *r, int64_t then);
/* row: of the struct that the columns are of. */
void rocl_add_row(const rocl_report_rows *r, const void *row);
/* The row for n rows that are cut off: their `sum`. */
void rocl_add_rest(const rocl_report_rows *r, const void *sum, size_t n);
/* The first rows of an array, as many as --top allows; the others are added up by `add`, from the
 * first of them on, for the rest row; NULL: that has no sums. */
void rocl_add_top_rows(const rocl_report_rows *r, const void *rows, size_t n, size_t size,
                       void (*add)(void *sum, const void *row));
/* Adds rows that `make` makes one by one, for reports that do not keep them. */
typedef void rocl_make_row(const void *ctx, size_t i, void *row);
void rocl_add_made_rows(const rocl_report_rows *r, rocl_make_row *make, const void *ctx, size_t n,
                        size_t size, void (*add)(void *sum, const void *row));
/* How many of n rows --top leaves. */
size_t rocl_rows_shown(const rocl_stats_options *o, size_t n);
/* The line above the table; printf's. Called after rocl_begin_table. */
void rocl_set_note(const rocl_report_rows *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define ROCL_N(count) (unsigned long long)(count) /* for "%llu" */
/* Notes how many copies have no known size, after the note on times. */
void rocl_note_unsized(const rocl_report_rows *r, uint64_t copies);

/* ---- cells ---- */

rocl_field_fn rocl_field_int;          /* int64_t, uint64_t */
rocl_field_fn rocl_field_known;        /* int64_t: none if negative */
rocl_field_fn rocl_field_count;        /* uint32_t */
rocl_field_fn rocl_field_id;           /* int32_t: none if negative */
rocl_field_fn rocl_field_real;         /* double: none if it is not finite */
rocl_field_fn rocl_field_number;       /* double: an integer if it is one */
rocl_field_fn rocl_field_text;         /* uint32_t: a text of the trace */
rocl_field_fn rocl_field_text_or_none; /* uint32_t: none if it is ROCL_NONE */
rocl_field_fn rocl_field_label;        /* uint32_t: none if it is 0 */
rocl_field_fn rocl_field_string;       /* const char *: none if it is NULL */
rocl_field_fn rocl_field_view;         /* rocl_view: none if its text is NULL */
rocl_field_fn rocl_field_some;         /* int64_t, uint64_t: none if it is 0 */
rocl_field_fn rocl_field_or_none;      /* int64_t: none if it is INT64_MIN */
/* const rocl_gpu *: "GPU 0", with " on HOST" if there are several machines; none if it is NULL. */
rocl_field_fn rocl_field_gpu;
rocl_field_fn rocl_field_rank;  /* const rocl_rank *: its name; none if it is NULL */
rocl_field_fn rocl_field_agent; /* rocl_agent_key */
rocl_field_fn rocl_field_event; /* rocl_event_ref: its id */
/* uint32_t: a text of the trace, the name of a kernel: its class. */
rocl_field_fn rocl_field_class;
/* The class of a kernel of this name. */
rocl_datum rocl_class_datum(const rocl_report_rows *r, const char *name, size_t n);
rocl_field_fn rocl_field_average, rocl_field_stddev, rocl_field_rsd; /* rocl_distribution */

/* In percent; not a number where the whole is nothing. */
static inline double rocl_percent(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : __builtin_nan("");
}

/* Not a number where the whole is nothing, or less. */
static inline double rocl_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : __builtin_nan("");
}

/* Not a number of none. */
static inline double rocl_mean(int64_t total, uint64_t count)
{
    return count ? (double)total / (double)count : __builtin_nan("");
}

/* An agent, the same in all processes of a machine; compared and interned as bytes: no holes. */
typedef struct rocl_agent_key {
    uint32_t machine, type; /* ROCL_NONE: no agent is known */
    int64_t id;   /* of a GPU its index in the trace, else the index that the driver gave it, or the
                     agent's id */
    int64_t rank; /* -1: of any */
} rocl_agent_key;

/* A single event of the trace. */
typedef struct rocl_event_ref {
    uint32_t capture_plus1; /* index + 1; 0: none */
    uint64_t row;           /* rocl_row_word() */
} rocl_event_ref;

/* How many bytes of a name stand in a sentence, `most` or fewer: whole characters. */
int rocl_name_prefix(const char *name, size_t most);

rocl_agent_key rocl_agent_key_of(const rocl_capture *c, uint32_t agent, int32_t rank);
int rocl_compare_agents(const rocl_agent_key *a, const rocl_agent_key *b);
/* By their bytes, never by ids: those depend on -j. */
int rocl_compare_texts(const rocl_trace *t, uint32_t a, uint32_t b);

/* ROCL_OK, unless a text of the tables or of the trace found no memory. */
rocl_status rocl_check_complete(const rocl_tables *out, const rocl_trace *t, rocl_error *err);
/* The outcome of the trace, or ROCL_PARTIAL with a notice where a sum was too large for its cell.
 */
rocl_status rocl_report_outcome(const rocl_tables *out, rocl_trace *t);

/* ---- reports --------------------------------------------------------------------------------- */

struct rocl_report_def {
    const char *name;   /* "kernels", as users type it */
    rocl_table_tab tab; /* where its tables are on an HTML page */
    const char *help;   /* what it is about, as rocstats(1) has it */
};

extern const rocl_report_def rocl_report_defs[ROCL_REPORTS];
/* What makes a table one of that report: the first member of its definition. */
#define ROCL_TAB(report) (&rocl_report_defs[ROCL_REPORT_##report].tab)
/* The i-th of all tables of reports, in the order in which they are made; NULL after the last
 * (stats.c). */
const rocl_table_def *rocl_report_table_def(size_t i);

extern const rocl_collector_def rocl_attribution_collector, rocl_calls_collector,
    rocl_summary_collector, rocl_overlap_collector, rocl_gaps_collector, rocl_lane_gaps_collector,
    rocl_timeline_collector, rocl_histogram_collector, rocl_launch_collector,
    rocl_markers_collector, rocl_ranks_collector, rocl_memory_collector, rocl_counter_collector,
    rocl_derived_collector, rocl_doctor_collector, rocl_streams_collector, rocl_samples_collector,
    rocl_energy_collector, rocl_occupancy_collector, rocl_roofline_collector, rocl_steps_collector,
    rocl_queues_collector, rocl_graphs_collector, rocl_sequences_collector,
    rocl_critical_path_collector;

/* The tables that other functions than rocl_stats() make, NULL at the end. */
extern const rocl_table_def *const rocl_finding_tables[],
    *const rocl_compare_tables[], *const rocl_description_tables[],
                                      *const rocl_show_tables[], *const rocl_correlate_tables[],
                                                                     *const rocl_recipe_tables[],
                                                                         *const rocl_check_tables[];

/* Adds a header: what was traced, and the events of the last run over it (header.c). */
typedef enum rocl_header { ROCL_HEADER, ROCL_HEADER_A, ROCL_HEADER_B } rocl_header;
extern const rocl_table_def rocl_header_tables[];
rocl_status rocl_put_header(rocl_tables *out, const rocl_trace *t, rocl_header which,
                            rocl_error *err);
/* A header in two steps: the cells of the row, whose texts `texts` owns; the table. */
enum { ROCL_HEADER_DURATION = 6, ROCL_HEADER_FIELDS = 10 };
rocl_status rocl_make_header(rocl_datum cells[ROCL_HEADER_FIELDS], rocl_tables *texts,
                             const rocl_trace *t, rocl_error *err);
void rocl_put_header_cells(rocl_tables *out, const rocl_datum cells[ROCL_HEADER_FIELDS],
                           rocl_header which);
const char *rocl_header_key(unsigned i);
bool rocl_header_is_text(unsigned i); /* else a number */

/* Puts the table "findings" before all others but headers, and "rules" at the end, made of the
 * evidence that there is (findings.c). wall: ns of the whole trace. t: NULL in tests. */
rocl_status rocl_put_findings(rocl_tables *out, rocl_trace *t, int64_t wall,
                              const rocl_stats_options *o, rocl_error *err);
/* The columns " key key " of a table that findings need, so that they are kept as evidence; NULL:
 * none. */
const char *rocl_evidence_of(const rocl_stats_options *o, const char *table);

/* The CSV sink, inside. An event goes this way:
 *
 *     csv.c      batches -> one sorter per file (and process), end of a capture -> pipe -> files
 *     style.c    which files a style has, with which columns, from which kinds of events
 *     encode.c   event -> record: the varints that its file needs, and its sort key
 *     format.c   records -> rows of text
 *     agents.c   agents -> rows of agent_info, processes -> rows of process_info
 *     files.c    the files: names, headers, commit
 */
#pragma once

#include "base/buf.h"
#include "base/text.h"
#include "base/num.h"
#include "base/out.h"
#include "base/strings.h"
#include "model/fields.h"
#include "model/trace.h"

/* ---- styles and files (style.c) ---- */

enum {
    CSV_1_0 = 1 << ROCL_CSV_ROCPD_1_0,
    CSV_1_1 = 1 << ROCL_CSV_ROCPD_1_1,
    CSV_V3 = 1 << ROCL_CSV_ROCPROFV3,
    CSV_V1 = 1 << ROCL_CSV_ROCPROF, /* not one of all: it has one file, of its own */
    CSV_ROCPD = CSV_1_0 | CSV_1_1,
    CSV_ALL = CSV_ROCPD | CSV_V3,
};

/* Where the value of a column comes from, and how it is written. */
typedef enum rocl_csv_op {
    CSV_END_OF_COLUMNS,
    CSV_GUID,      /* in quotes */
    CSV_GUID_BARE, /* without */
    CSV_LITERAL,   /* rocl_csv_column.literal */
    CSV_TEXT,      /* from here on of the field: a text */
    CSV_U64,
    CSV_I64,
    CSV_HEX,     /* "0x" and 16 digits, in quotes */
    CSV_FLAGS,   /* a number, which AMD's 1.1 takes for text */
    CSV_VALUE,   /* a double */
    CSV_UNIT,    /* a number, -1 unknown */
    CSV_PROCESS, /* from here on the field is the index of a definition, up to SGPR a number's */
    CSV_THREAD,
    CSV_QUEUE,
    CSV_STREAM,
    CSV_VGPR, /* of a kernel */
    CSV_ACCUM_VGPR,
    CSV_SGPR,
    CSV_AGENT, /* a text's */
    CSV_COUNTER_NAME,
    CSV_COUNTER_UNITS,
    CSV_START, /* of the times */
    CSV_END,
    CSV_DURATION,
} rocl_csv_op;

typedef enum rocl_csv_when { CSV_ALWAYS, CSV_IF_DURATION, CSV_IF_BYTES } rocl_csv_when;

typedef struct rocl_csv_column {
    const char *title; /* as in 1.0; rocl_csv_put_title() knows how 1.1 spells it */
    rocl_csv_op op;
    uint8_t field, styles;
    rocl_csv_when when;
    const char *literal;
} rocl_csv_column;

typedef enum rocl_csv_file_id {
    CSV_FILE_KERNEL,
    CSV_FILE_COPY,
    CSV_FILE_ALLOC,
    CSV_FILE_SCRATCH,
    CSV_FILE_HIP,
    CSV_FILE_HSA,
    CSV_FILE_MARKER,
    CSV_FILE_RCCL,
    CSV_FILE_ROCDECODE,
    CSV_FILE_ROCJPEG,
    CSV_FILE_OTHER,
    CSV_FILE_REGIONS,  /* 1.1: all of the API files together */
    CSV_FILE_INSTANTS, /* 1.1: what its regions file has no place for */
    CSV_FILE_COUNTER,
    CSV_FILE_SPM,
    CSV_FILE_SAMPLE,
    CSV_FILE_GRAPH,
    CSV_FILE_HIP_EVENT,
    CSV_FILE_AGENT,   /* columns in agents.c */
    CSV_FILE_PROCESS, /* the same; AMD's tools do not know it */
    CSV_FILE_RESULTS, /* sink/rocprof/csv.c writes it */
    CSV_FILES
} rocl_csv_file_id;

typedef struct rocl_csv_file {
    const char *stem, *suffix; /* "hip" "_api_trace" */
    const char *suffix_1_1;    /* NULL: the same */
    uint8_t styles;
    uint8_t fields; /* of a record */
    uint32_t kinds; /* of events that may have rows in it */
    const rocl_csv_column *columns;
} rocl_csv_file;

extern const rocl_csv_file rocl_csv_files[CSV_FILES];

enum { CSV_COLUMNS_MAX = 32 };

/* The columns of a file in a style and with options. */
typedef struct rocl_csv_plan {
    const rocl_csv_column *columns[CSV_COLUMNS_MAX];
    unsigned count;
} rocl_csv_plan;

void rocl_csv_make_plan(rocl_csv_plan *plan, rocl_csv_file_id file, const rocl_csv_options *o);
/* Appends "title" as the style spells it. */
void rocl_csv_put_title(rocl_buf *to, const char *title, rocl_csv_style style);
void rocl_csv_put_header(rocl_buf *to, const rocl_csv_plan *plan, rocl_csv_style style);
/* "kernel_trace": what stands between prefix and .csv. */
void rocl_csv_file_name(char *to, size_t size, rocl_csv_file_id file, rocl_csv_style style);
/* The files that the options ask for, as bits. */
rocl_status rocl_csv_select(uint32_t *files, const rocl_csv_options *o, rocl_error *err);
/* The file that regions of a category go to. */
rocl_csv_file_id rocl_csv_file_of_category(const char *category, rocl_csv_style style);

/* ---- records (encode.c) ---- */

/* A record: the times are the first two words of its sort key, the other fields follow as varints,
 * in the order of these lists. X(field, encoding, value): the value comes from the event `e`, its
 * record `r` (of a counter: the dispatch; `v` is the value) and `name`. Encodings: REF is an index
 * of a text or definition, kept + 1, which makes ROCL_NONE a short 0; I64 is zigzag; REAL turned
 * around.
 */
/* clang-format off */
#define CSV_FIELDS_OF_ALL(X)                                                                       \
    X(NAME, REF, name) X(STACK, U64, e->stack_id) X(THREAD, REF, e->thread)                        \
    X(PROCESS, REF, e->process)
#define CSV_FIELDS_OF_REGION(X) /* markers and instants, too */                                    \
    X(CATEGORY, REF, e->category)
#define CSV_FIELDS_OF_QUEUE(X) /* most GPU work */                                                 \
    X(AGENT, REF, r->agent) X(QUEUE, REF, r->queue) X(STREAM, REF, r->stream)
#define CSV_FIELDS_OF_KERNEL(X)                                                                    \
    X(DISPATCH, U64, r->dispatch_id) X(KERNEL_ID, I64, r->kernel_id) X(KERNEL, REF, r->kernel)     \
    X(LDS, I64, r->group_segment) X(SCRATCH, I64, r->private_segment)
#define CSV_FIELDS_OF_DISPATCH(X)                                                                  \
    X(WORKGROUP, U64, r->workgroup[0]) X(WORKGROUP_Y, U64, r->workgroup[1])                        \
    X(WORKGROUP_Z, U64, r->workgroup[2])                                                           \
    X(GRID, U64, r->grid[0]) X(GRID_Y, U64, r->grid[1]) X(GRID_Z, U64, r->grid[2])
#define CSV_FIELDS_OF_COUNTER(X)                                                                   \
    X(WORKGROUP_SIZE, U64, multiply_sizes(r->workgroup))                                           \
    X(GRID_SIZE, U64, multiply_sizes(r->grid))                                                     \
    X(COUNTER, REF, v->counter) X(VALUE, REAL, v->value)
#define CSV_FIELDS_OF_COPY(X)                                                                      \
    X(SOURCE, REF, r->src) X(DESTINATION, REF, r->dst) X(COPY_STREAM, REF, r->stream)              \
    X(BYTES, U64, r->size)
#define CSV_FIELDS_OF_ALLOC(X) /* scratch, too */                                                  \
    X(SIZE, U64, r->size) X(ADDRESS, U64, r->address) X(FLAGS, U64, r->flags)
#define CSV_FIELDS_OF_SAMPLE(X) /* SPM, too */                                                     \
    X(SAMPLE_AGENT, REF, r->agent) X(SAMPLE_COUNTER, REF, r->counter)                              \
    X(SAMPLE_VALUE, REAL, r->value)                                                                \
    X(XCC, I64, r->xcc) X(SHADER_ENGINE, I64, r->shader_engine)                                    \
    X(SHADER_ARRAY, I64, r->shader_array) X(WGP, I64, r->wgp) X(INSTANCE, I64, r->instance)
#define CSV_FIELDS_OF_HIP(X) /* graphs and HIP events */                                           \
    X(SOURCE_QUEUE, REF, r->source_queue) X(GRAPH_EXEC, U64, r->graph_exec_id)                     \
    X(KERNELS, U64, r->kernel_count)

/* CSV_F_...: the index of a field in a record that is read, and how many fields records have. A
 * list begins after the one that precedes it in its records. */
#define CSV_FIELD(field, ...) CSV_F_##field,
enum { CSV_F_START, CSV_F_END, CSV_FIELDS_OF_ALL(CSV_FIELD) CSV_F_OWN };
enum { CSV_BEFORE_REGION = CSV_F_OWN - 1, CSV_FIELDS_OF_REGION(CSV_FIELD) CSV_REGION_FIELDS };
enum { CSV_BEFORE_QUEUE = CSV_F_OWN - 1, CSV_FIELDS_OF_QUEUE(CSV_FIELD) CSV_F_AT_QUEUE };
enum { CSV_BEFORE_KERNEL = CSV_F_AT_QUEUE - 1, CSV_FIELDS_OF_KERNEL(CSV_FIELD) CSV_F_SIZES };
enum { CSV_BEFORE_DISPATCH = CSV_F_SIZES - 1, CSV_FIELDS_OF_DISPATCH(CSV_FIELD) CSV_DISPATCH_FIELDS };
enum { CSV_BEFORE_COUNTER = CSV_F_SIZES - 1, CSV_FIELDS_OF_COUNTER(CSV_FIELD) CSV_COUNTER_FIELDS };
enum { CSV_BEFORE_COPY = CSV_F_OWN - 1, CSV_FIELDS_OF_COPY(CSV_FIELD) CSV_COPY_FIELDS };
enum { CSV_BEFORE_ALLOC = CSV_F_AT_QUEUE - 1, CSV_FIELDS_OF_ALLOC(CSV_FIELD) CSV_ALLOC_FIELDS };
enum { CSV_BEFORE_SAMPLE = CSV_F_OWN - 1, CSV_FIELDS_OF_SAMPLE(CSV_FIELD) CSV_SAMPLE_FIELDS };
enum { CSV_BEFORE_HIP = CSV_F_AT_QUEUE - 1, CSV_FIELDS_OF_HIP(CSV_FIELD) CSV_HIP_FIELDS };
#undef CSV_FIELD
/* clang-format on */

enum {
    CSV_FIELDS_MAX = CSV_DISPATCH_FIELDS,
    CSV_RECORD_MAX = CSV_FIELDS_MAX * ROCL_VARINT_MAX,
};

/* What the order of rows needs besides the event itself. */
typedef struct rocl_csv_order {
    uint32_t *counter_ranks; /* of each counter of the capture, by name */
    uint32_t counter_count;
} rocl_csv_order;

unsigned rocl_csv_key_words(rocl_kind kind);
void rocl_csv_make_key(uint64_t *key, const rocl_batch *b, const rocl_event *e,
                       const rocl_csv_order *order);
/* Writes the record of an event (CSV_RECORD_MAX bytes at most); returns its end. `functions`:
 * regions are named by their function, not by their message. */
uint8_t *rocl_csv_encode(uint8_t *to, const rocl_batch *b, const rocl_event *e, bool functions);
/* Malloced ranks of a capture's counters by name and agent; NULL when memory is out. */
uint32_t *rocl_csv_rank_counters(const rocl_trace *t, const rocl_capture *c);

/* ---- processes (guids.c) ---- */

/* The Guid (a text) of each process of a capture, and at the end that of rows without a process.
 * Malloced; NULL: memory is out. */
uint32_t *rocl_csv_make_guids(const rocl_trace *t, const rocl_capture *c);
static inline uint32_t rocl_csv_guid_of(const uint32_t *guids, const rocl_capture *c,
                                        uint32_t process)
{
    return guids[process < c->process_count ? process : c->process_count];
}

/* ---- rows (format.c) ---- */

/* A short text in quotes: most are, and all bytes are copied at once, however long it is. */
typedef struct rocl_csv_word {
    uint32_t text; /* + 1, 0: empty */
    uint32_t len;
    char bytes[56];
} rocl_csv_word;

/* Direct-mapped by text id. */
enum { CSV_WORDS = 256 };

/* The number of a definition as text, empty where it is unknown: rows name few definitions, again
 * and again. */
typedef struct rocl_csv_number {
    uint32_t index_plus1; /* 0: ROCL_NONE */
    uint32_t len;
    char bytes[ROCL_NUM_MAX];
} rocl_csv_number;

/* For each kind of definition, direct-mapped by index. */
enum { CSV_NUMBERS = 16, CSV_NUMBER_OPS = CSV_SGPR - CSV_PROCESS + 1 };

/* The state of a worker that formats. */
typedef struct rocl_csv_formatter {
    rocl_text_cache quotes; /* rocl_csv_quote */
    rocl_buf *out;
    const rocl_capture *capture;
    const uint32_t *guids; /* rocl_csv_make_guids() */
    rocl_csv_style style;
    rocl_upper_digits time; /* of the last one */
    rocl_csv_word words[CSV_WORDS];
    const rocl_capture *numbered; /* that the numbers are of */
    rocl_csv_number numbers[CSV_NUMBER_OPS][CSV_NUMBERS];
} rocl_csv_formatter;

/* A record in a block: the two words of its key that are times, then the fields. */
enum { CSV_TIMES = 2 * sizeof(uint64_t) };

/* Appends the rows of the records at [in, end) to f->out. */
rocl_status rocl_csv_format_rows(rocl_csv_formatter *f, rocl_csv_file_id file,
                                 const rocl_csv_plan *plan, const uint8_t *in, const uint8_t *end,
                                 rocl_error *err);

/* ---- agents (agents.c) ---- */

void rocl_csv_agent_header(rocl_buf *to, rocl_csv_style style);
/* guid: a text. properties: the agent's JSON object. */
rocl_status rocl_csv_agent_row(rocl_buf *to, const rocl_capture *c, const rocl_agent *a,
                               uint32_t guid, const char *properties, rocl_csv_style style,
                               rocl_error *err);

/* process_info: what AMD's files do not say of a process, in a row for each of its GPUs. */
void rocl_csv_process_header(rocl_buf *to);
void rocl_csv_process_rows(rocl_buf *to, const rocl_capture *c, uint32_t process);

/* ---- files (files.c) ---- */

typedef struct rocl_csv_out {
    rocl_csv_file_id file;
    const rocl_process *process; /* NULL where processes share a file */
    rocl_out *out;
} rocl_csv_out;

typedef struct rocl_csv_outs {
    rocl_trace *trace;
    const rocl_csv_options *options;
    const rocl_csv_plan *plans; /* CSV_FILES of them */
    rocl_csv_out **all;
    size_t count, cap;
    size_t rested; /* number of outputs that have all their rows */
} rocl_csv_outs;

/* The output of a file (and of a process of a capture, where each has its own; ROCL_NONE: of no
 * process), opened with its header when it is asked for the first time. Owned by outs. */
rocl_status rocl_csv_outs_get(rocl_csv_outs *outs, rocl_csv_file_id file, const rocl_capture *c,
                              uint32_t process, rocl_csv_out **out, rocl_error *err);
/* A capture is complete: files of its processes need not stay open. */
rocl_status rocl_csv_outs_rest(rocl_csv_outs *outs, rocl_error *err);
/* Gives the files their names, or leaves no trace of them. */
rocl_status rocl_csv_outs_commit(rocl_csv_outs *outs, rocl_written *report, rocl_error *err);
void rocl_csv_outs_discard(rocl_csv_outs *outs);

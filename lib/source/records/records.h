/* What readers of self-contained records share. Text traces and the tables of older profilers have
 * no definitions: every record says its process, thread, GPU, queue and kernel itself. There are
 * two passes over such an input:
 *
 *     first pass (when it is opened)            second pass (whenever it is scanned)
 *     pieces, by all workers                    pieces, by all workers
 *       parse() -> rocl_record_put():             parse() -> rocl_record_put():
 *         notes keys, counts faults,                keys -> indexes, names -> texts,
 *         first and last time                       events -> batches
 *     keys -> definitions of the capture        halves of events are joined and emitted (finish)
 *
 * A format is a function that parses a piece and puts records; it does not know which pass it is
 * in. Keys are numbered in the order of their first record, so nothing depends on the number of
 * workers. Where memory allows, the second pass is over the records that the first one kept, in
 * encoded form, and the file is parsed but once.
 *
 *     records.h     this interface
 *     input.c       an input: its pieces, the workers, both passes over all of them
 *     records.c     a record in both passes; dispatches that several records hold go out once
 *     registry.c    keys -> where they were first seen, their index
 *     broken.c      records that are wrong: counted, the first of them kept
 *     faults.c      messages about them
 *     definitions.c keys -> definitions
 *     kept.c        records that the first pass keeps for the second
 *     sizes.c       sizes of copies, which only their calls say
 *     lookup.h      what the first pass notes for the second one, outside of memory
 *     scopes.c      begins and ends that are records of their own, joined while they are parsed
 *     halves.c      those that come in no order, or in several pieces, joined by source/ranges.h */
#pragma once

#include "base/json_index.h"
#include "base/view.h"
#include "model/kinds.h"
#include "source/db/rows.h"
#include "source/reader.h"

/* ---- keys ------------------------------------------------------------------------------------ */

#define ROCL_NO_KEY UINT64_MAX /* the record has none */

typedef enum rocl_key_of {
    ROCL_KEY_PROCESS, /* pid */
    ROCL_KEY_THREAD,  /* of a process: tid */
    ROCL_KEY_AGENT,   /* of a process: number of the device */
    ROCL_KEY_QUEUE,   /* of a process and agent (or ROCL_NO_KEY): number */
    ROCL_KEY_STREAM,  /* of a process: number */
    ROCL_KEY_KERNEL,  /* of a process: number, or text of its name where it has none */
    ROCL_KEY_COUNTER, /* of a process and agent: text of its name */
    ROCL_KEYS
} rocl_key_of;

typedef struct rocl_key {
    uint64_t process, agent, number; /* 0 where it does not matter */
} rocl_key;

/* What is known of a definition besides its key, from the first record that has it. */
typedef struct rocl_key_facts {
    rocl_agent_type type; /* of an agent; GPU wins over CPU, CPU over OTHER */
    uint32_t name;        /* text: of a kernel as it was written, of a counter; else 0 */
    uint32_t mangled;     /* text, of a kernel whose name differs from its symbol, else 0 */
    uint64_t pid;         /* of a process whose key is another number: its pid; 0 unknown */
    bool is_function;     /* of a kernel: see rocl_kernel */
    int64_t id;           /* of a kernel: its number in the file; 0: one is assigned */
    int64_t group_segment, private_segment, sgpr, arch_vgpr, accum_vgpr; /* of a kernel */
} rocl_key_facts;

typedef struct rocl_registry rocl_registry;

/* ---- records --------------------------------------------------------------------------------- */

typedef enum rocl_half {
    ROCL_WHOLE,
    ROCL_BEGINS, /* at as.e.start; ends with the next ROCL_ENDS of its scope */
    ROCL_ENDS,   /* at as.e.start; kind and name are those of the begin; its arguments come after
                    those of the begin */
    ROCL_JOINED  /* only for `complete`: both, as far as known */
} rocl_half;

/* The direction of a copy as its call says. */
typedef enum rocl_copy_direction {
    ROCL_COPY_UNKNOWN,
    ROCL_COPY_ON_HOST,
    ROCL_COPY_TO_DEVICE,
    ROCL_COPY_TO_HOST,
    ROCL_COPY_ON_DEVICE
} rocl_copy_direction;

/* A record as it was read. rocl_record_begin() sets everything to "unknown". Views must live only
 * during rocl_record_put(). */
typedef struct rocl_source_record {
    rocl_kind kind;
    rocl_half half;
    /* Halves: begins and ends are matched within a scope of a process: a thread, where the last
     * begin ends first (push and pop), or whatever identifies a range. */
    uint64_t scope, id; /* id: an end matches the last open begin with its id, else the last one */
    int64_t at; /* of a begin whose start and end (as.e) are more exact than its place in the scope,
                   which is at this time; 0: none */
    uint64_t where; /* place in the file: offset or row id, below 2^44; also makes the id */
    uint64_t process, thread, agent, queue, stream, kernel; /* numbers of keys; ROCL_NO_KEY */
    uint64_t src, dst;                                      /* agents of a copy */
    uint64_t source_queue;                                  /* of a HIP event */
    rocl_agent_type agent_type, src_type, dst_type;         /* ROCL_AGENT_GPU unless said */
    uint64_t row;    /* number of a dispatch in its process, by which counters refer to it;
                        ROCL_NO_KEY: its counters are those put at the same place */
    bool once;       /* a dispatch that several records may repeat: emitted once for each `row` */
    uint64_t pid;    /* of a process whose key is another number: its pid; 0 unknown */
    uint64_t link;   /* links a call and the GPU work that it launched; ROCL_NO_KEY */
    uint64_t parent; /* link of the call around it; ROCL_NO_KEY */
    /* Said by a call that copies, else 0: if only one copy has this link, and no size of its own,
     * it gets that of its call, and the direction if ends_unknown (src, dst are guessed). */
    uint64_t bytes;
    rocl_copy_direction direction;
    bool ends_unknown;
    rocl_view name;     /* of the call, message, operation, or of the kernel of a dispatch; empty:
                           as.e.name is set, as a text */
    rocl_view function; /* of a marker: the function; empty: as.region.function, if set, as a text,
                           else the name */
    uint32_t label;     /* text, of a dispatch: the range around it; 0: none */
    rocl_view counter;  /* ROCL_COUNTER, SPM, SAMPLE: its name */
    const rocl_key_facts *symbol; /* of a dispatch: facts of its kernel, or NULL */
    const rocl_packet *packet;    /* of a dispatch: facts of its packet, or NULL */
    /* Times, sizes, dimensions, category (a text), stack ids if `link` is not used. Indexes, names,
     * ids and durations are derived from the members above. */
    rocl_any_record as;
} rocl_source_record;

/* A record without views: its texts are interned. It is an array of words; the passes compare,
 * encode and copy only those of its kind. */
typedef struct rocl_plain_record {
    /* The words of keys: records that are equal in these have the same definitions. */
    uint64_t process, thread, agent, queue, stream, kernel, src, dst, source_queue, pid;
    uint32_t name, function, counter, label; /* texts; 0: none */
    uint8_t kind, half, once, agent_type, src_type, dst_type;
    uint8_t any; /* 1: distinguishes a record from an empty entry */
    uint8_t ends_unknown;
    /* Records with the same keys differ in these. */
    uint64_t scope, id, where, row, link, parent;
    int64_t at;
    rocl_any_record as; /* bytes beyond those of the kind are meaningless */
} rocl_plain_record;

/* A worker in one of the passes, an input, and a piece of it. */
typedef struct rocl_records rocl_records;
typedef struct rocl_records_input rocl_records_input;
typedef struct rocl_piece rocl_piece;

void rocl_record_begin(rocl_source_record *r, rocl_kind kind, uint64_t where);
/* Is the kind wanted? False: its records need not be put (faults were counted before). */
bool rocl_records_want(const rocl_records *to, rocl_kind kind);
/* Are arguments of the next record wanted? */
bool rocl_records_want_args(const rocl_records *to);
/* If so, only those of ROCL_FIELD_HANDLES? Others may be put, too. */
bool rocl_records_want_only_handles(const rocl_records *to);
/* Are these ROCL_FIELD_*s wanted: packets, or a value for each instance of a counter? */
bool rocl_records_want_fields(const rocl_records *to, uint32_t fields);
/* Adds an argument to the record that is put next. */
void rocl_record_arg(rocl_records *to, rocl_view name, rocl_view value);
void rocl_record_typed_arg(rocl_records *to, rocl_view type, rocl_view name, rocl_view value);
/* Names the process, thread, queue or stream of a record. Only those with other records are
 * defined. */
rocl_status rocl_record_name(rocl_records *to, rocl_key_of of, const rocl_source_record *r,
                             rocl_view name, rocl_error *err);
/* Takes a record: checks its times, notes its keys or makes it an event. */
rocl_status rocl_record_put(rocl_records *to, const rocl_source_record *r, rocl_error *err);
/* Most records differ from an earlier one only in place, times and links. A parser that recognises
 * this early need not build them again: */
typedef struct rocl_record_like {
    size_t entry;
    uint64_t version; /* 0: there is none */
} rocl_record_like;
/* The last record, if it was put at `where` and can be put again, which halves cannot. */
rocl_record_like rocl_records_last(const rocl_records *to, uint64_t where);
/* A record that repeats an earlier one. */
typedef struct rocl_record_again {
    rocl_record_like like;
    uint64_t where, link;
    int64_t start, end;
    uint64_t bytes; /* of a call that copies; 0 */
    rocl_copy_direction direction;
} rocl_record_again;
/* Puts it. *done false: the earlier record is no longer known, or the times are wrong; build it. */
rocl_status rocl_record_put_again(rocl_records *to, const rocl_record_again *r, bool *done,
                                  rocl_error *err);
/* Counts and leaves out an unusable record. `why` is a constant. Returns ROCL_OK. */
rocl_status rocl_record_fault(rocl_records *to, uint64_t where, rocl_fault fault, const char *why);
/* Does so for a line that was read before, by its number within the piece. */
rocl_status rocl_record_fault_at(rocl_records *to, uint64_t line, uint64_t where, rocl_fault fault,
                                 const char *why);
/* What is wrong with a time that is not a valid number of nanoseconds: its text, in units of
 * `ns`. */
const char *rocl_time_fault(rocl_view text, double ns);
uint64_t rocl_records_line_number(const rocl_records *to);
/* Parses a line of n bytes at p, without its end; p[0..n] may be modified. */
typedef rocl_status rocl_record_line_fn(rocl_records *to, char *p, size_t n, uint64_t where,
                                        rocl_error *err);
/* The end of the current line, until p[n] is modified: LF, CR LF, CR, or nothing. */
rocl_view rocl_records_line_end(const rocl_records *to);
/* Is it the rest after the last line end of a file? */
bool rocl_records_line_is_cut(const rocl_records *to);
/* Does the line continue the record of the line before? */
typedef bool rocl_line_continues_fn(const char *p, size_t n);
/* For a format of lines: passes the lines of the current piece to its function. Records of several
 * lines (`continues`, else NULL) are not cut by the end of a piece. */
rocl_status rocl_records_lines(rocl_records *to, rocl_record_line_fn *line,
                               rocl_line_continues_fn *continues, rocl_error *err);
/* Interns a text, through a small cache of the worker. ROCL_NONE: memory is out, which put
 * reports. */
uint32_t rocl_records_text(rocl_records *to, rocl_view s);
/* The input and the current piece. */
rocl_records_input *rocl_records_input_of(const rocl_records *to);
const rocl_piece *rocl_records_piece(const rocl_records *to);
/* The parser's own state of this worker, freed by free_worker: NULL at first; memory of this size,
 * made zeroed (NULL: memory is out). */
void *rocl_records_state(const rocl_records *to);
void *rocl_records_own(rocl_records *to, size_t size);
/* For formats that join records themselves: is this the first pass, and which worker is this? */
bool rocl_records_first_pass(const rocl_records *to);
unsigned rocl_records_worker(const rocl_records *to);

/* ---- inputs ---------------------------------------------------------------------------------- */

/* A piece of a file that one worker parses. */
struct rocl_piece {
    uint32_t file;        /* of the input */
    uint32_t section;     /* for the format: kind of table, array of a JSON file */
    uint64_t first, last; /* bytes [first, last), or row ids */
    uint64_t rows;        /* approximate number, for progress */
};

typedef enum rocl_places { ROCL_PLACES_LINES, ROCL_PLACES_BYTES, ROCL_PLACES_ROWS } rocl_places;

typedef struct rocl_record_format {
    size_t state_size; /* of in->state, which is made zeroed; 0: there is none */
    /* Adds the pieces of an input, may define keys, sets in->state; the first pass follows. */
    rocl_status (*open)(rocl_records_input *in, rocl_error *err);
    rocl_places places; /* what messages count */
    unsigned
        row_bits; /* bits of `where` that are the row, if the others distinguish tables; 0: all */
    /* Puts the records of a piece. Called once or more for each piece, by any worker. */
    rocl_status (*parse)(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                         rocl_error *err);
    /* parse puts the same records in both passes, except arguments: if memory allows they are kept,
     * and files are parsed only once. */
    bool keeps;
    /* In the second pass: completes a record with what only the first pass found out. May change
     * link, agent and `as`; scope and id of whole records are free for its use. NULL: records are
     * complete. */
    rocl_status (*complete)(rocl_records *to, rocl_plain_record *r, rocl_error *err);
    void (*free_worker)(void *state); /* NULL: there is none */
    /* The name of a piece in messages, such as "table HIP"; NULL: none. */
    const char *(*section_name)(const rocl_records_input *in, const rocl_piece *piece);
    /* After the first pass, before definitions are made: may set in->likely_process. *again: what
     * it found changes the records, so the pass is repeated. NULL: not needed. */
    rocl_status (*passed)(rocl_records_input *in, bool *again, rocl_error *err);
    /* After the first pass: definitions get labels, commands, ranks. NULL: they stay as they are.
     */
    rocl_status (*refine)(rocl_records_input *in, rocl_error *err);
    /* Is an agent that was defined for every process one of this process? group: `agent` of its
     * key. NULL: it is. */
    bool (*sees)(const rocl_records_input *in, uint64_t process, uint64_t group);
    void (*close)(rocl_records_input *in); /* frees what in->state holds; NULL: nothing */
} rocl_record_format;

typedef struct rocl_records_file {
    const char *path;
    rocl_spool *spool; /* NULL: a database */
} rocl_records_file;

struct rocl_records_input {
    const rocl_record_format *format;
    rocl_trace *trace;
    rocl_source *source;
    rocl_model_capture *capture; /* the only one */
    void *state;                 /* for the format */
    bool unread; /* set by `open`: somebody reads the files otherwise, and there are no passes */
    rocl_records_file *files;
    size_t file_count;
    rocl_piece *pieces;
    size_t piece_count, piece_cap;
    uint64_t only_process; /* for records that name none; 0: unknown */
    /* For records that name none if the others name none or several; 0: unknown. */
    uint64_t likely_process;
    struct rocl_records_run *run;
};

/* For `open` of a format. */
bool rocl_records_add_piece(rocl_records_input *in, const rocl_piece *piece);
/* The outline of a JSON file, the first of the input; strictly first: files of old writers have
 * quotes in strings without a backslash, which how->flags then say. Free it in any case. */
rocl_status rocl_records_outline(const rocl_records_input *in, rocl_json_index *x,
                                 rocl_json_outline *how, rocl_error *err);
/* Adds the blocks of an array in it as pieces. */
bool rocl_records_add_blocks(rocl_records_input *in, const rocl_json_index *x,
                             const rocl_json_node *array, uint32_t section);
/* Cuts a file into pieces of ROCL_PIECE_BYTES from an offset on. */
bool rocl_records_cut(rocl_records_input *in, uint32_t file, uint32_t section, uint64_t from);
extern size_t rocl_piece_bytes; /* tests make it small */
/* Cuts a table of a database into pieces of some 30,000 rows, with this `section`. */
rocl_status rocl_records_cut_table(rocl_records_input *in, rocl_db *db, const char *table,
                                   uint32_t section, rocl_error *err);

/* Marks the key of a process that is a text, such as a guid, instead of a pid; the pid of its
 * records is r.pid. */
#define ROCL_KEY_OF_TEXT ((uint64_t)1 << 63)

/* Defines a key before the first pass: these come first, in the order of the calls. An agent of the
 * process ROCL_NO_KEY is one of every process. */
bool rocl_records_define(rocl_records_input *in, rocl_key_of of, rocl_key key,
                         const rocl_key_facts *facts);
/* The index of a key, or ROCL_NONE. After the first pass. */
uint32_t rocl_records_find(const rocl_records_input *in, rocl_key_of of, rocl_key key);

/* After the first pass files are open only while somebody holds them: the second pass, and readers
 * at other times. Any thread. After a failed hold there is nothing to release. */
rocl_status rocl_records_hold_files(rocl_records_input *in, rocl_error *err);
void rocl_records_release_files(rocl_records_input *in);

/* Counts the faults of the first pass in the trace, and reports the first of them. A run does this
 * itself. */
void rocl_records_count_faults(rocl_records_input *in);

/* The functions of the ops of such a source. */
rocl_status rocl_records_open(rocl_source *s, rocl_trace *t, rocl_error *err);
void rocl_records_close(rocl_source *s);
rocl_status rocl_records_begin(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                               rocl_plan *plan, rocl_error *err);
rocl_status rocl_records_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                              unsigned worker, const rocl_emitter *to, rocl_error *err);
rocl_status rocl_records_finish(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                rocl_error *err);
void rocl_records_end(rocl_trace *t, rocl_model_capture *c);
rocl_status rocl_records_peek_times(rocl_trace *t, rocl_model_capture *c, int64_t *first,
                                    int64_t *last, bool *any, rocl_error *err);

#define ROCL_RECORDS_OPS(format_)                                                                  \
    .records = &(format_), .open = rocl_records_open, .close = rocl_records_close,                 \
    .free_capture = rocl_definitions_free, .begin = rocl_records_begin, .scan = rocl_records_scan, \
    .finish = rocl_records_finish, .end = rocl_records_end, .peek_times = rocl_records_peek_times

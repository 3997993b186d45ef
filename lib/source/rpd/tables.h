/* An RPD file as the files here know it: tables and their columns, cells, and rows that others
 * refer to.
 *
 *     tables.c    names of tables, cells, joins
 *     sessions.c  the processes that were traced
 *     calls.c     rocpd_api: calls, ranges, marks
 *     ops.c       rocpd_op: kernels and copies
 *     monitors.c  rocpd_monitor: values of devices
 *     rpd.c       the input: opens the file, hands rows to the files above */
#pragma once

#include <stdatomic.h>

#include "base/map.h"
#include "source/db/connection.h"
#include "source/records/lookup.h"
#include "source/rocprof/row.h"

typedef enum rpd_table {
    RPD_API,
    RPD_HSA_API, /* before version 1 */
    RPD_OP,
    RPD_MONITOR,
    RPD_API_OPS,
    RPD_FRAME,
    RPD_COUNTER,
    RPD_RECORDS, /* the tables above hold records, or rows of which each belongs to a record */
    RPD_KERNEL = RPD_RECORDS,
    RPD_COPY,
    RPD_STRING,
    RPD_USTRING,
    RPD_AUTOGRAD,
    RPD_TABLES
} rpd_table;

/* Columns of the tables, in the order of rpd_tables. */
enum { A_PID, A_TID, A_START, A_END, A_NAME, A_ARGS, A_DOMAIN };
enum { O_GPU, O_QUEUE, O_START, O_END, O_DESCRIPTION, O_TYPE };
enum { M_TYPE, M_DEVICE, M_MONITOR, M_START, M_END, M_VALUE };
enum { L_API, L_OP };
enum { F_API, F_DEPTH, F_NAME };
enum { V_VALUE, V_OP, V_NAME };
enum { K_STREAM, K_GRID, K_WORKGROUP = K_GRID + 3, K_GROUP = K_WORKGROUP + 3, K_PRIVATE, K_NAME };
enum { C_STREAM, C_SIZE, C_WIDTH, C_HEIGHT };
enum { S_STRING };
enum { G_NAME, G_SEQ, G_OP, G_SIZES, G_INPUTS };

#define RPD_COLUMNS_MAX 10

extern const struct rpd_table_columns {
    const char *name;
    const char *columns[RPD_COLUMNS_MAX]; /* up to NULL */
} rpd_tables[RPD_TABLES];

/* The place of a record: its table, then its id without the upper bits. */
#define RPD_TABLE_SHIFT 42

static inline uint64_t rpd_place(rpd_table t, uint64_t id)
{
    return (uint64_t)t << RPD_TABLE_SHIFT | (id & (((uint64_t)1 << RPD_TABLE_SHIFT) - 1));
}

/* The number of the session in which a row was written. */
static inline uint64_t rpd_session_of(uint64_t id)
{
    return id >> 32;
}

/* A process that was traced. */
typedef struct rpd_session {
    uint64_t number;
    uint64_t pid;
    int64_t first, last; /* approximate begin of its first call and end of its last */
    int64_t latest;      /* last of this session and of those before it in the array */
} rpd_session;

typedef struct rpd_file {
    rocprof_words words;
    uint32_t tracer, cuda, user; /* categories */
    rocl_db_state state;
    const char *names[RPD_TABLES]; /* of those that are there; NULL else */
    bool by_op;                    /* rocpd_kernelop and rocpd_copyop: keys are operations */
    rpd_session *sessions;         /* by their first call */
    size_t session_count;
    rocl_idset item_sessions;        /* sessions whose launches all give grids in work-items */
    uint64_t pid_stride, gpu_stride; /* if a file comes from several machines, else 0 */
    uint64_t schema;                 /* its version; 0: the file does not say */
    rocl_lookup *links;              /* operation, 0 -> the call that launched it */
    rocl_lookup *frames;             /* call, index -> string of the frame, innermost first */
    rocl_lookup *counters;           /* operation, index -> row of rocpd_counter */
    rocl_map last_monitored;       /* rows of rocpd_monitor, the last ones of what they are about */
    atomic_uint_fast64_t sizeless; /* copies */
} rpd_file;

typedef struct rpd_worker {
    rocl_db *db;
    rocl_rows *rows[RPD_RECORDS];  /* cursors of records */
    rocl_rows *joined[RPD_TABLES]; /* cursors of what they refer to */
    unsigned count[RPD_TABLES];    /* rows in the batches of the latter */
    rocl_map texts;                /* id of a string -> text */
    rocl_lookup_pages links, frames, counters;
    rocl_buf stack; /* frames of the call at hand */
} rpd_worker;

void rpd_free_worker(void *worker);
/* Fills f->names. */
rocl_status rpd_find_tables(rpd_file *f, rocl_db *db, rocl_error *err);

/* ---- cells ----------------------------------------------------------------------------------- */

/* Cells of the row i at hand. What is no number sets *bad, which is not cleared; NULL and '' do
 * not.
 */

/* False: NULL, '' or not a number; *v is then 0. */
bool rpd_read_int(const rocl_rows *rows, unsigned column, unsigned i, int64_t *v, bool *bad);
/* Also from text, as in values of monitors: "2100" or "95.5". False: not a finite number. */
bool rpd_read_real(const rocl_rows *rows, unsigned column, unsigned i, double *v);
/* ROCL_NO_KEY: none. */
uint64_t rpd_read_key(const rocl_rows *rows, unsigned column, unsigned i, bool *bad);
/* "0x7f..": what rocprof's streams are, as well; ROCL_NO_KEY. */
uint64_t rpd_read_stream(const rocl_rows *rows, unsigned column, unsigned i);
rocl_view rpd_read_text(const rocl_rows *rows, unsigned column, unsigned i);
/* Begin and end, which are the columns `start` and the next one; what is wrong with one, or NULL.
 */
const char *rpd_read_times(const rocl_rows *rows, unsigned start, unsigned i, rocl_event *e);

/* The process of a record, whose number may hold that of a machine. */
void rpd_set_process(const rpd_file *f, rocl_source_record *r, uint64_t pid);

/* ---- joins ----------------------------------------------------------------------------------- */

/* A cursor over all columns of a table; *rows is kept if it is not NULL. */
rocl_status rpd_open_rows(const rpd_file *f, rocl_db *db, rpd_table t, rocl_rows **rows,
                          rocl_error *err);
/* The row of a table with this id: *found is the cursor it is in, at row *i, until the next call
 * for this table; NULL: there is none. */
rocl_status rpd_find_row(const rpd_file *f, rpd_worker *w, rpd_table t, uint64_t id,
                         const rocl_rows **found, unsigned *i, rocl_error *err);
/* The string with an id, which many rows have; ROCL_NONE: there is none. */
rocl_status rpd_find_text(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t id,
                          uint32_t *text, rocl_error *err);
/* The text of a frame of a call. */
rocl_status rpd_find_frame_text(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t api,
                                uint64_t name, uint32_t *text, rocl_error *err);
/* Sorts a table on disk by the owners of its rows: owner, index -> value. The rows of an owner are
 * ordered by value, or by their numbers in `order`. Columns below 0 are the id. Does nothing if the
 * file has no such table. */
rocl_status rpd_sort_table(rpd_file *f, rocl_trace *t, rocl_db *db, rpd_table table, int owner,
                           int order, int value, rocl_lookup **lookup, rocl_error *err);

/* ---- sessions.c ---------------------------------------------------------------------------- */

/* Every process that is traced is a session, and writers append to a file. The number of a session
 * is in the upper 32 bits of all ids of its rows. */

/* Fills the sessions, the version of the schema, pid_stride and gpu_stride, from rocpd_metadata and
 * other tables. */
rocl_status rpd_read_sessions(rpd_file *f, rocl_db *db, rocl_error *err);

/* The session that recorded a value of a device, which its row does not name: of those running at
 * that time, the one that began first. NULL: the file has no calls. */
const rpd_session *rpd_find_monitoring_session(const rpd_file *f, int64_t when);

/* ---- calls.c, ops.c, monitors.c: rows as records ------------------------------------------- */

/* Row i at hand of the worker's cursor of the table. */
rocl_status rpd_put_call(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                         unsigned i, rocl_error *err);
rocl_status rpd_put_op(rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i, rocl_error *err);
rocl_status rpd_put_monitor(const rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i,
                            rocl_error *err);

/* Fills last_monitored: the last row of each device and what a session monitored of it. */
rocl_status rpd_find_last_monitored(rpd_file *f, rocl_trace *t, rocl_db *db, rocl_error *err);
/* Gives the counters of devices their units. */
rocl_status rpd_name_units(rocl_trace *t, rocl_capture *c, rocl_error *err);

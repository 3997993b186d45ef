/* The rocpd source: SQLite databases of rocprofv3 and rocprofiler-systems, schema 3.x and 4.1.
 *
 *     rocpd.c    a file: its table sets (one capture each), connections, tasks
 *     tables.c   which table sets are there; the rows of a table, checks of references and values
 *     defs.c     info tables, or the ids that events use, -> definitions of the capture
 *     events.c   the event table, joined by id through windows
 *     scan.c     event-like tables -> batches
 *     join.c     counter values and arguments meet the events that own them, through sorters
 *
 * Facts of the schema: see rocpd_tables.sql of AMD's rocprofiler-sdk.
 *
 * How a row becomes an event, and how long each piece of memory lives:
 *
 *     rocl_rows      up to ROCL_ROWS_BATCH rows of a table, column by column (source/db/rows.h).
 *                    The next batch of the cursor replaces them, their texts too.
 *     rocpd_row      one of these rows: the cursor and the number of the row in the batch. Valid
 *                    during the call of the function that it is handed to.
 *     rocpd_event_row  its row in the event table. Numbers are copied; extdata points into a window
 *                    of events.c, until the next rocpd_events_find of the same worker.
 *     record         a rocl_region, rocl_dispatch, ... on the stack. References in it are indexes
 *                    into the arrays of the capture, names are texts of the trace: both live until
 *                    the trace is closed. It holds no pointer into a row.
 *     rocl_batch     an array of up to ROCL_ROWS_BATCH records of one kind in the worker's
 *                    rocl_batcher, where records are copied to. It is emitted when it is full and
 *                    at the end of each task, and then filled again. Arguments of its regions, with
 *                    their texts, live until then.
 *
 * Threads: a rocpd_worker, its connection and its cursors are one thread's. A rocpd_set is written
 * at open and by begin and end; workers read it, and what they share has a lock or an element for
 * each of them. */
#pragma once

#include <pthread.h>

#include "base/array.h"
#include "base/lz4.h"
#include "base/buf.h"
#include "base/map.h"
#include "format/schema.h"
#include "source/allocs.h"
#include "source/db/rows.h"
#include "source/reader.h"
#include "source/source.h"

/* A row of rocpd_track. In schema 4 events refer to it for all that it holds. */
typedef struct rocpd_track_def {
    int64_t id;
    uint32_t process, thread, agent, queue, stream;
    uint32_t name; /* text */
} rocpd_track_def;

/* Special values in maps instead of an index: the row stands for "none", see format/schema.h; or,
 * from ROCPD_UNNAMED on, a kernel of which only rocpd_unnamed is known. */
#define ROCPD_NOBODY  (ROCL_NONE - 1)
#define ROCPD_UNNAMED (UINT32_C(1) << 31)

typedef struct rocpd_unnamed {
    uint32_t name; /* text */
    int64_t kernel_id;
} rocpd_unnamed;

typedef struct rocpd_worker rocpd_worker;

/* A table set: what a capture needs besides its definitions. */
typedef struct rocpd_set {
    rocl_trace *trace;
    rocl_model_capture *capture;
    char *tables[SCHEMA_TABLES]; /* names in this file, NULL: no such table */
    bool sound;                  /* every row of every table has been looked at */
    uint32_t explained; /* tables (1 << schema_table) for which a notice said how they are read */

    rocl_ids strings, categories; /* id -> text */
    rocl_ids nodes, processes, threads, agents, queues, streams, code_objects, kernels, counters,
        tracks;
    rocpd_track_def *track_defs;
    uint32_t track_count;
    rocpd_unnamed *unnamed;
    size_t unnamed_count, unnamed_cap;
    uint32_t nobody;   /* text: SCHEMA_NOBODY */
    rocl_lz4 unpacked; /* JSON of a definition */

    /* while it is scanned */
    rocpd_worker *workers; /* opt.jobs of them */
    uint32_t kinds;
    struct rocpd_join *join;  /* NULL: no values are wanted */
    bool paired;              /* instants are wanted: samples of region events must be recognised */
    rocl_idset region_events; /* guarded by `lock` until all regions are read */
    pthread_mutex_t lock;
    rocl_allocs *allocs;                                               /* NULL: none are wanted */
    uint32_t alloc_names[ROCL_LEVEL_SCRATCH + 1][ROCL_OP_RECLAIM + 1]; /* texts */
} rocpd_set;

/* The file: state of rocl_source. */
typedef struct rocpd_file {
    /* One per worker, opened when needed. The first is the one used for definitions, and for single
     * queries. */
    rocl_db **connections;
    struct {
        rocl_rows *rows; /* NULL: of none */
        const char *table;
    } properties; /* asked for last */
    unsigned connection_count;
    bool kept_open;      /* one of the few that are not suspended */
    rocl_db_state state; /* when its definitions were read: the events must be of the same file */
} rocpd_file;

extern const rocl_source_ops rocl_rocpd_ops;

/* tables.c */
typedef struct rocpd_found {
    char **suffixes; /* of the table sets, in order of their metadata */
    size_t count;
    rocl_db_object *objects;
    size_t object_count;
    char version[32]; /* of the schema, of the first set */
    bool systems;     /* rocprofiler-systems has written it */
    bool compressed;  /* views call functions that only its writer has */
    bool slice;       /* a set is one slice of several */
} rocpd_found;

rocl_status rocpd_find(rocpd_found *found, rocl_db *db, const char *path, rocl_error *err);
void rocpd_found_free(rocpd_found *f);
/* The name of the table with this suffix, which is f's; NULL when the file lacks it. */
const char *rocpd_table_in(const rocpd_found *f, schema_table table, const char *suffix);

/* defs.c */
rocl_status rocpd_read_definitions(rocpd_set *s, rocl_db *db, rocl_error *err);

/* The rank in an environment (JSON), -1 when none is known. False: out of memory. */
bool rocpd_rank_of(const char *environment, int32_t *rank);
/* An environment of nothing but its ranks, malloced; NULL when memory is out. */
char *rocpd_rank_environment(const char *environment);

/* events.c */
typedef struct rocpd_event_row {
    uint64_t stack_id, parent_stack_id;
    int64_t correlation_id;
    uint32_t category; /* text */
    bool bad_category; /* it refers to nothing */
    bool exists;
    const char *extdata; /* "" when it is {}; valid until the next find */
    size_t extdata_len;
} rocpd_event_row;

typedef struct rocpd_events rocpd_events;

/* fields: which ROCL_FIELD_*s to read; the others stay 0. */
rocl_status rocpd_events_open(rocpd_events **e, rocpd_set *s, rocl_db *db, uint32_t fields,
                              rocl_error *err);
void rocpd_events_close(rocpd_events *e);
/* The next ids come from other rows: windows may be moved. */
void rocpd_events_begin_task(rocpd_events *e);
/* *found false: there is no such event. */
rocl_status rocpd_events_find(rocpd_events *e, int64_t id, rocpd_event_row *row, bool *found,
                              rocl_error *err);
/* Fills the numbers of the row and its category, if that event is next in a window and ordinary:
 * numbers, a known category, no extdata. The window does not move until rocpd_events_take(). False:
 * call rocpd_events_find. */
bool rocpd_events_peek(rocpd_events *e, int64_t id, rocpd_event_row *row);
/* Moves the window to the event that was peeked at last. */
void rocpd_events_take(rocpd_events *e);

/* tables.c: a row of a table. */
typedef struct rocpd_row {
    rocpd_set *set;
    schema_table table;
    bool progress; /* rows count for the progress that is shown */
    const rocl_rows *rows;
    unsigned row; /* in the batch that rows has read */
} rocpd_row;

typedef rocl_status rocpd_row_fn(const rocpd_row *r, void *ctx, rocl_error *err);

/* Calls fn for each row of the table, or of the task's range of it, by id. The table must be there;
 * the caller sets set, table and progress of r. */
rocl_status rocpd_each_row(rocpd_row *r, rocl_db *db, const char *const *columns, unsigned count,
                           const rocl_task *task, rocpd_row_fn *fn, void *ctx, rocl_error *err);
/* Calls fn for each batch of rows: it gets the first n rows of r->rows, and sets r->row. */
typedef rocl_status rocpd_batch_fn(rocpd_row *r, unsigned n, void *ctx, rocl_error *err);
rocl_status rocpd_each_batch(rocpd_row *r, rocl_db *db, const char *const *columns, unsigned count,
                             const rocl_task *task, rocpd_batch_fn *fn, void *ctx, rocl_error *err);
const char *rocpd_unpack_json(rocl_lz4 *unpacked, const char *p, size_t *n);

/* The JSON of a cell; "" for {} and NULL. Frames of LZ4 are unpacked, valid until the next call;
 * other blobs stay as they are, and are not JSON. unpacked->text.failed: memory is out. */
static inline const char *rocpd_read_json(rocl_lz4 *unpacked, const rocl_rows *rows, unsigned col,
                                          unsigned row, size_t *n)
{
    const rocl_cell_type kind = rocl_cell_kind(rows, col, row);
    *n = 0;
    if (kind != ROCL_CELL_TEXT && kind != ROCL_CELL_BLOB)
        return "";
    const char *p = rocl_cell_text(rows, col, row, n);
    return kind == ROCL_CELL_TEXT ? p : rocpd_unpack_json(unpacked, p, n);
}

/* Counts a fault of the row; fails where faults are errors. */
rocl_status rocpd_count_fault(const rocpd_row *r, rocl_fault f, rocl_error *err);
rocl_status rocpd_read_ref_slow(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                rocl_fault dangling, uint32_t *index, rocl_error *err);

/* Reads a reference to a definition, as an index. ROCL_NONE for NULL; ROCL_NONE and a fault if it
 * dangles. */
static inline rocl_status rocpd_read_ref(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                         rocl_fault dangling, uint32_t *index, rocl_error *err)
{
    const rocl_column *c = &r->rows->columns[col];
    *index = ROCL_NONE;
    if (c->type[r->row] == ROCL_CELL_NULL)
        return ROCL_OK;
    if (c->type[r->row] == ROCL_CELL_INT)
        *index = rocl_ids_get(ids, (uint64_t)c->num[r->row]);
    return *index < ROCPD_NOBODY ? ROCL_OK : rocpd_read_ref_slow(r, col, ids, dangling, index, err);
}

/* scan.c */

/* References of a column that were resolved last: pids and tids are large, and few. */
#define ROCPD_RECENT 16

typedef struct rocpd_recent {
    struct {
        int64_t id;
        uint32_t index, known;
    } slots[ROCPD_RECENT]; /* by the low bits of the id */
} rocpd_recent;

/* Is the category one of markers? */
typedef struct rocpd_category {
    uint32_t text; /* + 1; 0: none is known */
    bool marker;
} rocpd_category;

#define ROCPD_CATEGORIES 16

struct rocpd_worker {
    alignas(ROCL_CACHE_LINE) rocl_db *db; /* borrowed from the file */
    rocpd_events *events;
    rocl_batcher out; /* what has been read and not yet emitted; has the number of the worker */
    rocpd_recent processes, threads;
    rocl_idset region_events;                    /* of the task at hand */
    rocl_lz4 unpacked;                           /* JSON of a cell */
    rocpd_category categories[ROCPD_CATEGORIES]; /* seen recently, by their text */
};

/* Reads the rows of a task and emits their events, except those that go to the join. */
rocl_status rocpd_scan_table(rocpd_set *s, rocpd_worker *w, const rocl_task *task, rocl_error *err);
/* Which kinds the rows of a table may become. */
uint32_t rocpd_table_kinds(schema_table table);

/* join.c */
typedef struct rocpd_join rocpd_join;

/* Also after a failure *j is to be freed. */
rocl_status rocpd_join_new(rocpd_join **j, rocpd_set *s, rocl_error *err);
void rocpd_join_free(rocpd_join *j); /* NULL is fine */
/* First pass: rows of rocpd_pmc_event and rocpd_arg. */
rocl_status rocpd_join_values(rocpd_join *j, rocpd_worker *w, const rocl_task *task,
                              rocl_error *err);
/* Second pass: are there values for the event (of SPM: the sample) with this id? Then add it as an
 * owner, with the kind that its values become, or its own kind for arguments. The record is copied,
 * and the packet of a dispatch, if any. NULL: it was left out of the trace, so its values are not
 * orphans. */
bool rocpd_join_wants(const rocpd_join *j, rocl_kind kind, uint64_t id);
/* Are there values for any event of the kind? */
bool rocpd_join_wants_any(const rocpd_join *j, rocl_kind kind);
rocl_status rocpd_join_add_owner(rocpd_join *j, unsigned worker, rocl_kind kind, uint64_t id,
                                 uint64_t row, const void *record, const rocl_packet *packet,
                                 rocl_error *err);
/* A task of the second pass is done. */
rocl_status rocpd_join_seal(rocpd_join *j, unsigned worker, rocl_error *err);
/* After the second pass: the join comes out in *ranges ranges, at most `most`, each for any
 * worker. */
rocl_status rocpd_join_start(rocpd_join *j, size_t most, size_t *ranges, rocl_error *err);
rocl_status rocpd_join_range(const rocpd_join *j, size_t range, rocpd_worker *w, rocl_error *err);

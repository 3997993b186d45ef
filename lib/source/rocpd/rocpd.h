/* The rocpd source: SQLite databases of rocprofv3 and rocprofiler-systems, schema 3.x and 4.1.
 *
 *     rocpd.c    a file: its table sets (one capture each), connections, tasks
 *     tables.c   which table sets are there; what else the file may be when there are none
 *     defs.c     info tables, or the ids that events use, -> definitions of the capture
 *     names.c    the names of kernels and agents as the options ask; ranks
 *     events.c   the event table, joined by id through windows
 *     scan.c     event-like tables -> batches
 *     refs.c     checks of times and references, counted faults
 *     values.c   counter values and arguments, by event id, and these events, into sorters
 *     join.c     and out of them: every event with its values
 *
 * Facts of the schema: see rocpd_tables.sql of AMD's rocprofiler-sdk. */
#ifndef ROCL_SOURCE_ROCPD_H
#define ROCL_SOURCE_ROCPD_H

#include <pthread.h>

#include "base/array.h"
#include "base/map.h"
#include "format/schema.h"
#include "source/reader.h"
#include "source/db/rows.h"
#include "source/allocs.h"
#include "source/source.h"

typedef enum rocpd_table {
    ROCPD_METADATA,
    ROCPD_STRING,
    ROCPD_INFO_CATEGORY,
    ROCPD_INFO_NODE,
    ROCPD_INFO_PROCESS,
    ROCPD_INFO_THREAD,
    ROCPD_INFO_AGENT,
    ROCPD_INFO_QUEUE,
    ROCPD_INFO_STREAM,
    ROCPD_INFO_PMC,
    ROCPD_INFO_CODE_OBJECT,
    ROCPD_INFO_KERNEL_SYMBOL,
    ROCPD_TRACK,
    ROCPD_EVENT,
    ROCPD_ARG,
    ROCPD_PMC_EVENT,
    ROCPD_REGION,
    ROCPD_SAMPLE,
    ROCPD_KERNEL_DISPATCH,
    ROCPD_MEMORY_COPY,
    ROCPD_MEMORY_ALLOCATE,
    ROCPD_GRAPH_LAUNCH,
    ROCPD_HIP_EVENT,
    ROCPD_TABLES
} rocpd_table;

/* A row of rocpd_track. In schema 4 events refer to it for all that it holds. */
typedef struct rocpd_track_def {
    uint32_t process, thread, agent, queue, stream;
    uint32_t name; /* text */
} rocpd_track_def;

/* What maps say instead of an index: the row stands for none, see model/schema.h; or it is a
 * kernel of which nothing is known but what rocpd_unnamed holds, from ROCPD_UNNAMED on. */
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
    char *tables[ROCPD_TABLES]; /* names in this file, NULL: no such table */
    bool by_track;              /* schema 4: track_id instead of pid, tid, agent, queue, stream */
    bool compressed;            /* extdata is an LZ4 frame */
    bool sound;                 /* every row of every table has been looked at */
    uint32_t explained;         /* tables (1 << rocpd_table) of which is said how they are read */

    rocl_ids strings, categories; /* id -> text */
    rocl_ids nodes, processes, threads, agents, queues, streams, kernels, counters, tracks;
    rocl_ids code_objects; /* id -> agent index */
    rocpd_track_def *track_defs;
    uint32_t track_count;
    rocpd_unnamed *unnamed;
    size_t unnamed_count, unnamed_cap;
    uint32_t nobody; /* text: SCHEMA_NOBODY */

    /* while it is scanned */
    rocpd_worker *workers; /* opt.jobs of them */
    uint32_t kinds;
    struct rocpd_join *join;  /* NULL: no values are wanted */
    bool paired;              /* instants are wanted: a sample of a region's event is none */
    rocl_idset region_events; /* guarded by `lock` until all regions are read */
    pthread_mutex_t lock;
    rocl_allocs *allocs;                                               /* NULL: none are wanted */
    uint32_t alloc_names[ROCL_LEVEL_SCRATCH + 1][ROCL_OP_RECLAIM + 1]; /* texts */
} rocpd_set;

/* The file: state of rocl_source. */
typedef struct rocpd_file {
    rocl_db **connections;  /* one per worker, opened when needed */
    rocl_db *properties_db; /* for what is asked for one at a time */
    struct {
        rocl_rows *rows; /* NULL: of none */
        const rocl_db *db;
        const char *table;
    } properties; /* of which it was asked last */
    unsigned connection_count;
    rocl_db_state state; /* when its definitions were read: the events must be of the same file */
} rocpd_file;

extern const rocl_source_ops rocl_rocpd_ops;

/* tables.c */
typedef struct rocpd_found {
    char **suffixes; /* of the table sets, in order of their metadata */
    size_t count;
    rocl_db_object *objects;
    size_t object_count;
    bool compressed;
    bool slice; /* a set is one slice of several */
} rocpd_found;

rocl_status rocpd_find(rocpd_found *found, rocl_db *db, const char *path, rocl_error *err);
void rocpd_found_free(rocpd_found *f);
/* The name of the table with this suffix, which is f's; NULL when the file lacks it. */
const char *rocpd_table_in(const rocpd_found *f, rocpd_table table, const char *suffix);

/* defs.c */
rocl_status rocpd_read_definitions(rocpd_set *s, rocl_db *db, rocl_error *err);

/* names.c */
void rocpd_name_kernel(rocl_trace *t, rocl_kernel *k, const char *extdata, size_t len);
/* -1: none is known. False: out of memory. */
bool rocpd_rank_of(const char *environment, int32_t *rank);
/* The same as an environment of nothing but ranks, malloced; NULL when memory is out. */
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
/* *found false: there is no such event. */
rocl_status rocpd_events_find(rocpd_events *e, int64_t id, rocpd_event_row *row, bool *found,
                              rocl_error *err);

/* refs.c: a value of the current row that refers to a definition, as an index. */
typedef struct rocpd_row {
    rocpd_set *set;
    const rocl_rows *rows;
    unsigned row;
    rocpd_table table;
} rocpd_row;

/* ROCL_NONE for NULL; ROCL_NONE and a fault for what is not there. */
rocl_status rocpd_ref_slow(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                           rocl_fault dangling, uint32_t *index, rocl_error *err);

static inline rocl_status rocpd_ref(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                    rocl_fault dangling, uint32_t *index, rocl_error *err)
{
    const rocl_column *c = &r->rows->columns[col];
    *index = ROCL_NONE;
    if (c->type[r->row] == ROCL_CELL_NULL)
        return ROCL_OK;
    if (c->type[r->row] == ROCL_CELL_INT)
        *index = rocl_ids_get(ids, (uint64_t)c->num[r->row]);
    return *index < ROCPD_NOBODY ? ROCL_OK : rocpd_ref_slow(r, col, ids, dangling, index, err);
}

rocl_status rocpd_fault(const rocpd_row *r, rocl_fault f, rocl_error *err);
/* 0 for NULL; 0 and a fault for what is no integer. */
static inline rocl_status rocpd_int(const rocpd_row *r, unsigned col, int64_t *v, rocl_error *err)
{
    bool bad = false;
    *v = 0;
    rocl_cell_int(r->rows, col, r->row, v, &bad);
    return bad ? rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err) : ROCL_OK;
}
/* Start and end by the rules of rocline(7); *keep false when the record is left out. */
static inline rocl_status rocpd_times(const rocpd_row *r, unsigned start_col, unsigned end_col,
                                      const rocl_process *process, rocl_event *e, bool *keep,
                                      rocl_error *err)
{
    bool bad = false;
    *keep = false;
    if (!rocl_cell_int(r->rows, start_col, r->row, &e->start, &bad) ||
        !rocl_cell_int(r->rows, end_col, r->row, &e->end, &bad) || e->start < 0 || e->end < 0)
        return rocpd_fault(r, ROCL_FAULT_BAD_TIME, err);
    if (e->end == 0)
        return rocpd_fault(r, ROCL_FAULT_NO_END, err);
    if (e->end < e->start)
        return rocpd_fault(r, ROCL_FAULT_END_BEFORE_START, err);
    /* A profiler that does not know when the process began stores 0. Events are still on the clock
     * of their node. */
    if (process && process->init > 0 && e->end < process->init - r->set->capture->offset)
        return rocpd_fault(r, ROCL_FAULT_BEFORE_PROCESS, err);
    e->duration = e->end - e->start;
    *keep = true;
    return ROCL_OK;
}

/* scan.c */

/* References of a column that were found last: pids and tids are large, and few. */
#define ROCPD_RECENT 16

typedef struct rocpd_recent {
    struct {
        int64_t id;
        uint32_t index, known;
    } slots[ROCPD_RECENT]; /* by the low bits of the id */
} rocpd_recent;

/* Is it one of markers? */
typedef struct rocpd_category {
    uint32_t text; /* + 1; 0: none is known */
    bool marker;
} rocpd_category;

#define ROCPD_CATEGORIES 16

struct rocpd_worker {
    alignas(ROCL_CACHE_LINE) rocl_db *db; /* borrowed from the file */
    rocpd_events *events;
    rocl_batch out[ROCL_KINDS]; /* filled up to ROCL_ROWS_BATCH, then emitted */
    rocl_arg *args;             /* of the regions in out */
    size_t arg_count, arg_cap;
    rocl_arena arg_text;
    rocpd_recent processes, threads;
    rocl_idset region_events;                    /* of the task at hand */
    rocpd_category categories[ROCPD_CATEGORIES]; /* that were seen lately, by their text */
    const rocl_emitter *to;
    unsigned number;
};

rocl_status rocpd_scan_table(rocpd_set *s, rocpd_worker *w, const rocl_task *task, rocl_error *err);
rocl_status rocpd_batch_flush(rocpd_set *s, rocpd_worker *w, rocl_error *err);
/* Makes room in the worker's batch of a kind: a full one is emitted. */
rocl_status rocpd_batch_room(rocpd_set *s, rocpd_worker *w, rocl_kind kind, rocl_error *err);
/* Adds a copy of the record, which has the size of its kind. */
static inline rocl_status rocpd_batch_add(rocpd_set *s, rocpd_worker *w, rocl_kind kind,
                                          const void *record, size_t size, rocl_error *err)
{
    rocl_batch *b = &w->out[kind];
    if (!b->any || b->count == ROCL_ROWS_BATCH) {
        rocl_status st = rocpd_batch_room(s, w, kind, err);
        if (st != ROCL_OK)
            return st;
    }
    memcpy((char *)b->any + b->count++ * size, record, size);
    return ROCL_OK;
}
void rocpd_worker_close(rocpd_worker *w);
/* Which kinds the rows of a table may become. */
uint32_t rocpd_table_kinds(rocpd_table table);

/* values.c */
typedef struct rocpd_join rocpd_join;
rocl_status rocpd_join_new(rocpd_join **j, rocpd_set *s, rocl_error *err);
void rocpd_join_free(rocpd_join *j);
/* First pass: rows of rocpd_pmc_event and rocpd_arg. */
rocl_status rocpd_join_values(rocpd_join *j, rocpd_worker *w, const rocl_task *task,
                              rocl_error *err);
/* Second pass: does this event (or SPM sample) have values? Then it is handed in. */
bool rocpd_join_wants(const rocpd_join *j, rocl_kind kind, uint64_t key);
rocl_status rocpd_join_owner(rocpd_join *j, unsigned worker, rocl_kind kind, uint64_t key,
                             uint64_t row, const void *record, rocl_error *err);
/* Owners that were left out: their values are no orphans. */
rocl_status rocpd_join_dropped(rocpd_join *j, unsigned worker, uint64_t key, uint64_t row,
                               rocl_error *err);
rocl_status rocpd_join_seal(rocpd_join *j, unsigned worker, rocl_error *err);
/* All is there: parts, `most` at most, in which it comes out, each by any worker. */
rocl_status rocpd_join_start(rocpd_join *j, size_t most, size_t *parts, rocl_error *err);
rocl_status rocpd_join_part(const rocpd_join *j, size_t part, rocpd_worker *w, rocl_error *err);

#endif

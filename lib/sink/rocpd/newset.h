/* A capture as a new set of tables in a rocpd database, in the columns of schema 3.
 *
 *     events.c   the events of a capture, sorted
 *     rows.c     statements, strings
 *     defs.c     definitions -> rows, references to them
 *     write.c    events -> rows
 *
 * The caller has created the tables, and gives their suffix. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/new_db.h"
#include "format/schema.h"
#include "model/trace.h"

/* ---- what others call ---- */

/* The events of a capture, on their way. */
typedef struct newset_events newset_events;

rocl_status newset_events_new(newset_events **e, rocl_trace *t, const rocl_capture *c,
                              rocl_error *err);
void newset_events_free(newset_events *e);
/* Adds an event of a batch. Concurrent, as long as each worker uses its own number. */
rocl_status newset_events_add(newset_events *e, unsigned worker, const rocl_batch *b,
                              const rocl_event *event, rocl_error *err);
/* The worker's task is over. */
rocl_status newset_events_seal(newset_events *e, unsigned worker, rocl_error *err);
uint64_t newset_events_count(const newset_events *e); /* not while they are added */

/* Where the rows are written to. */
typedef struct newset_target {
    rocl_new_db *db;              /* in a transaction */
    const char *suffix;           /* of the tables */
    bool flat;                    /* they hold other sets already: ids are numbered behind theirs */
    bool whole;                   /* all definitions, not only those that events refer to */
    int64_t used[SCHEMA_TABLES];  /* flat: ids in use, before and after */
    int64_t base[SCHEMA_SERIALS]; /* flat: offset of numbers in these series */
    int64_t last[SCHEMA_SERIALS]; /* flat: the largest such number, before and after */
    uint64_t rows;                /* that were written */
    uint64_t changed;             /* of them, those that could not be written as they were */
} newset_target;

/* Writes the definitions of the capture and its events, once. Notices say what was changed. */
rocl_status newset_write(newset_events *e, newset_target *to, rocl_error *err);

/* ---- events.c ---- */

/* An event as it comes back: by time, then by its id and kind. */
typedef struct newset_event {
    rocl_kind kind;
    rocl_any_record r;
    const uint8_t *args, *args_end; /* of a region or a dispatch: see newset_next_arg() */
    const uint8_t *packet;          /* of a dispatch: see newset_packet() */
} newset_event;

void newset_events_of(const newset_events *e, rocl_trace **trace, const rocl_capture **capture);

/* The first end of an event, by process; to be called when all events are there. */
const int64_t *newset_events_first_ends(newset_events *e);

typedef rocl_status newset_event_fn(void *ctx, const newset_event *e, rocl_error *err);

/* Passes on the events for a table, in order. Once for each table. */
rocl_status newset_events_each(newset_events *e, schema_table t, newset_event_fn *fn, void *ctx,
                               rocl_error *err);
/* The next argument; false: there are no more. */
bool newset_next_arg(newset_event *e, rocl_arg *arg);
/* The packet of a dispatch or of the one that a value is of; false: nothing is known of it. */
bool newset_packet(const newset_event *e, rocl_packet *packet);

/* ---- rows.c ---- */

typedef enum newset_type { NEWSET_NULL, NEWSET_INT, NEWSET_REAL, NEWSET_TEXT } newset_type;

typedef struct newset_cell {
    newset_type type;
    union {
        int64_t i;
        double real;
        struct {
            const char *p;
            size_t n;
        };
    };
} newset_cell;

/* The definitions of one table. */
typedef struct newset_defs {
    int64_t *ids;  /* by index */
    bool *written; /* by index */
    uint32_t count;
    int64_t last;        /* id given out last */
    int64_t placeholder; /* id of the row that stands for none */
    bool has_placeholder;
} newset_defs;

typedef struct newset {
    rocl_trace *trace;
    const rocl_capture *capture;
    newset_target *to;
    sqlite3_stmt *inserts[SCHEMA_TABLES];
    sqlite3_stmt *find_string, *find_node; /* flat */
    int64_t next[SCHEMA_TABLES];           /* ids of events and the like */
    newset_defs defs[SCHEMA_TABLES];
    rocl_map strings;          /* text -> row */
    rocl_map threads, tracks;  /* process and thread -> number; number and name -> row */
    rocl_map numbers, unnamed; /* kernel id -> number; number and name -> number after: */
    int64_t last_named;        /* id of the last kernel that is known */
    rocl_buf text;             /* JSON of the row in hand */
    const int64_t *first_ends; /* of the events of a process, by index */
    uint64_t garbled;          /* texts that were changed */
    uint64_t late_processes;   /* that began after the end of their first event: a notice */
    /* the owner of the values that come next */
    rocl_kind owner_kind;
    uint64_t owner;
    int64_t owner_start, owner_event, owner_row;
    bool has_owner;
} newset;

static inline newset_cell newset_int(int64_t v)
{
    return (newset_cell){.type = NEWSET_INT, .i = v};
}

static inline newset_cell newset_null(void)
{
    return (newset_cell){.type = NEWSET_NULL};
}

static inline newset_cell newset_real(double v)
{
    return (newset_cell){.type = NEWSET_REAL, .real = v};
}

static inline newset_cell newset_bytes(const void *p, size_t n)
{
    return (newset_cell){.type = NEWSET_TEXT, .p = p, .n = n};
}

static inline newset_cell newset_literal(const char *text)
{
    return newset_bytes(text, strlen(text));
}

static inline newset_cell newset_text(const newset *s, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(s->trace->strings, text, &n);
    return newset_bytes(p, n);
}

/* Inserts a row: a cell for each column that rows.c names. */
rocl_status newset_insert(newset *s, schema_table t, const newset_cell *row, rocl_error *err);
/* The row of a text, which is made when it is first looked up; ROCL_NONE: NULL. */
rocl_status newset_string(newset *s, uint32_t text, newset_cell *id, rocl_error *err);
/* In a flat set: the node that is there already, with the names of this row. */
rocl_status newset_find_node(newset *s, const newset_cell *row, int64_t *id, bool *found,
                             rocl_error *err);
void newset_rows_free(newset *s);

/* ---- defs.c ---- */

/* Definitions keep their ids where these are unique. */
rocl_status newset_ids_give(newset *s, rocl_error *err);
void newset_ids_free(newset *s);

/* A reference to a definition, which is written when it is first referred to. ROCL_NONE: NULL. */
rocl_status newset_ref(newset *s, schema_table t, uint32_t index, newset_cell *id, rocl_error *err);
/* A reference in a column in which ROCm's views look for a row: ROCL_NONE is one that stands for
 * it. */
rocl_status newset_must_ref(newset *s, schema_table t, uint32_t index, newset_cell *id,
                            rocl_error *err);
/* The node, process and thread of an event: three cells. */
rocl_status newset_who(newset *s, uint32_t process, uint32_t thread, newset_cell *cells,
                       rocl_error *err);
/* The kernel of a dispatch, known or not. */
rocl_status newset_kernel(newset *s, const rocl_dispatch *d, newset_cell *id, rocl_error *err);
rocl_status newset_track(newset *s, uint32_t process, uint32_t thread, uint32_t name,
                         newset_cell *id, rocl_error *err);
/* What is there whether or not events refer to it. */
rocl_status newset_defs_write(newset *s, rocl_error *err);

/* Shared by the files of records/: the state of an input during a run, and a worker in a pass. */
#pragma once

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/map.h"
#include "source/allocs.h"
#include "source/records/lookup.h"
#include "source/records/registry.h"
#include "source/ranges.h"
#include "source/records/records.h"
#include "source/rtg/rtg.h"

/* The place of a record in its input: the file in the upper bits. */
enum { ROCL_WHERE_BITS = 44 };

/* ---- scopes.c ------------------------------------------------------------------------------ */

/* A begin that waits for its end. */
typedef struct rocl_open_half {
    rocl_open open; /* of its scope; below: also of those that are spare */
    uint64_t line;  /* of the piece */
    rocl_buf args;  /* see rocl_args_put_aside() */
    uint32_t arg_count;
    rocl_plain_record r;
} rocl_open_half;

/* A scope of a process in the piece at hand. */
typedef struct rocl_scope {
    uint64_t process, number;
    uint64_t first_time, first_place, last_time, last_place; /* of its halves */
    rocl_open_stack open;                                    /* each is a rocl_open_half */
    bool deferred; /* its halves are not in order: the sorter joins them */
    uint32_t next; /* the scope with the same hash, or ROCL_NONE */
} rocl_scope;

/* The place of a half, as in the log. */
typedef struct rocl_half_place {
    uint64_t time, where, line, id;
} rocl_half_place;

typedef struct rocl_pair {
    rocl_half_place begin, end;
} rocl_pair;

/* The scopes of a worker; zeroed at first. */
typedef struct rocl_scopes {
    rocl_scope *all;
    size_t count, cap;
    rocl_map index; /* by hash: the first of those that have it */
    size_t latest;  /* the scope found last */
    rocl_open *spare;
    rocl_buf log;
    rocl_pair logged; /* the last one */
} rocl_scopes;

/* A scope of the piece at hand; *fresh: it is new. Valid until the next call. NULL: memory is out.
 */
rocl_scope *rocl_scope_find(rocl_scopes *s, uint64_t process, uint64_t number, bool *fresh);
/* A new begin with this id on top of those of a scope; its record is to be filled in. NULL: memory
 * is out. */
rocl_open_half *rocl_scope_open(rocl_scopes *s, rocl_scope *scope, uint64_t id);
/* Takes the begin on top. NULL: there is none. */
rocl_open_half *rocl_scope_pop(rocl_scope *scope);
/* Takes the last begin with this id. NULL: there is none; the begin may be in another piece, or be
 * the last one of all. */
rocl_open_half *rocl_scope_take(rocl_scope *scope, uint64_t id);
/* Gives back a begin that was taken. */
void rocl_scope_done(rocl_scopes *s, rocl_open_half *h);
/* First pass: notes a pair of a scope. */
void rocl_scopes_log(rocl_scopes *s, const rocl_scope *scope, const rocl_pair *pair);
/* The log of a piece is complete. False: memory was out. */
bool rocl_scopes_end_log(rocl_scopes *s);
/* For the next piece; no begin is open. */
void rocl_scopes_clear(rocl_scopes *s);
void rocl_scopes_free(rocl_scopes *s);

/* ---- records between parser and events ------------------------------------------------------- */

enum {
    ROCL_WORDS_OF_KEYS = offsetof(rocl_plain_record, scope) / 8,
    ROCL_WORDS_OF_HEAD = offsetof(rocl_plain_record, as) / 8,
    ROCL_WORDS = sizeof(rocl_plain_record) / 8
};
_Static_assert(ROCL_WORDS <= 64, "a set of words is a word");
_Static_assert(offsetof(rocl_plain_record, as) % 8 == 0 && sizeof(rocl_plain_record) % 8 == 0,
               "a record is an array of words");

/* The words of keys, as a set. */
#define ROCL_CHANGED_KEYS (((uint64_t)1 << ROCL_WORDS_OF_KEYS) - 1)

/* The indexes of the definitions of a record, and the name of a dispatch. */
typedef struct rocl_record_indexes {
    uint32_t process, thread, agent, queue, stream, kernel, counter, src, dst, source_queue;
    uint32_t kernel_name;
} rocl_record_indexes;

/* The last record of a kind, name, thread, queue ... in the current piece: the next like it mostly
 * has the same keys and differs in few words. */
typedef struct rocl_recent {
    rocl_plain_record r;
    rocl_record_indexes at; /* second pass */
    uint64_t changed;       /* the words that differ from the record before it, */
    unsigned changed_count; /* and their number */
    uint64_t where_before;  /* where that one was; 0: there is none */
    uint64_t piece;         /* number of the piece, from 1; 0: there is none */
    uint64_t likeness;      /* a hash; 0: it is free */
    uint64_t version;       /* changes with each record that rocl_recent_again() cannot repeat */
} rocl_recent;

enum { ROCL_RECENT = 512 };

struct rocl_records {
    alignas(ROCL_CACHE_LINE) rocl_records_input *in;
    unsigned number;
    const rocl_piece *piece;
    bool indexing;
    uint64_t line; /* of the piece, from 0 */
    const char *line_end;
    bool line_is_cut;
    rtg_reader reader;
    rtg_names *names;
    void *state;         /* the format's */
    bool failed;         /* memory was out when an argument or text came */
    rocl_recent *recent; /* ROCL_RECENT of them, by hash */
    uint64_t versions;   /* the number of versions so far */
    rocl_recent *latest; /* the last one put, if it can be repeated, or NULL */
    rocl_buf kept;       /* first pass: the records of the piece at hand, encoded */
    bool keeps;          /* it is still being kept */
    rocl_buf half;       /* a half for the sorter */
    rocl_scopes scopes;  /* of the piece at hand */
    /* first pass */
    rocl_registry keys[ROCL_KEYS];
    rocl_registry names_of[ROCL_KEYS]; /* of processes, threads, queues, streams */
    int64_t first, last;
    uint64_t halves, allocs, onces;
    uint64_t untimed; /* values of counters without times */
    /* second pass */
    rocl_batcher out;
    size_t pending_args; /* of the next record: the last ones of `out` */
    rocl_lookup_pages size_pages;
};

typedef struct rocl_records_run {
    rocl_registry keys[ROCL_KEYS];
    rocl_registry names_of[ROCL_KEYS]; /* of processes, threads, queues, streams */
    uint64_t defined;                  /* keys that the format defined */
    rocl_records *workers;             /* opt.jobs of them, during a pass */
    /* The records of each piece, encoded as kept.c says; size 0: they are not kept, NULL: nothing
     * is. */
    rocl_stored *kept;
    atomic_bool full;    /* no more memory to keep records */
    uint64_t *lines;     /* the number of the first line of each piece, from 1 in each file */
    int64_t first, last; /* times; first > last: none */
    uint64_t halves, allocs,
        onces;            /* numbers of records that are halves, allocations, or emitted once */
    rocl_sorter *joining; /* halves, during a pass */
    rocl_sorter *spans;   /* of scopes in each piece, during the first pass */
    rocl_stored *logs;    /* of the pairs of each piece, during the first pass */
    rocl_lookup_key *disordered; /* scopes, by process and number: their halves are sorted */
    size_t disordered_count, disordered_cap;
    bool all_disordered;
    rocl_sorter *noted_sizes; /* calls that copy and copies, during the first pass */
    rocl_lookup *sizes;       /* by process and link, after it */
    rocl_sorter *unique;      /* dispatches that are emitted once, during the second pass */
    rocl_allocs *allocations;
    uint32_t kinds;          /* second pass: wanted */
    bool args, only_handles; /* only those of ROCL_FIELD_HANDLES */
    unsigned file_users;     /* holders of the open files */
    bool holds_files;        /* the second pass does */
    rocl_bad_records bad;    /* its lock is also that of file_users */
} rocl_records_run;

static inline uint64_t rocl_place(const rocl_records *w, uint64_t where)
{
    return (uint64_t)w->piece->file << ROCL_WHERE_BITS | where;
}

/* The process of a record, even of one that names none. */
static inline uint64_t rocl_process_key(const rocl_records *w, const rocl_plain_record *r)
{
    return r->process == ROCL_NO_KEY ? w->in->only_process : r->process;
}

/* records.c */

/* The piece at hand is parsed: what is open goes to the sorter. */
rocl_status rocl_scopes_put_open(rocl_records *w, rocl_error *err);
/* The second pass: emits the records of the current piece as the first pass kept them; after all
 * pieces, the dispatches that are emitted once. */
rocl_status rocl_kept_emit(rocl_records *w, const rocl_stored *kept, rocl_error *err);
rocl_status rocl_repeated_emit(rocl_records *w, rocl_error *err);

/* definitions.c: after the first pass. */
rocl_status rocl_records_define_all(rocl_records_input *in, rocl_error *err);

/* kept.c */

/* Replaces the last record of its likeness in the table, and returns that entry, whose `changed`
 * has the words that differed. In the first pass the record is also kept. */
rocl_recent *rocl_recent_put(rocl_records *w, const rocl_plain_record *r);
/* Does so for a record that repeats another; NULL: that one is gone, or is after it. */
rocl_recent *rocl_recent_again(rocl_records *w, const rocl_record_again *r);
/* The first pass, for each piece: begins to keep records; stores them, if memory allows. */
void rocl_kept_begin(rocl_records *w);
void rocl_kept_end(rocl_records *w);
/* Stores bytes as rocl_space_store() does, to which it adds some that may be read behind the end;
 * loads them, valid until the next load of the worker. */
rocl_status rocl_kept_store(rocl_records_input *in, rocl_buf *bytes, rocl_stored *to,
                            rocl_error *err);
rocl_status rocl_kept_load(rocl_records *w, const rocl_stored *k, const uint8_t **p,
                           const uint8_t **end, rocl_error *err);
/* The second pass: the next record from *p on, as rocl_recent_put() returned it. */
rocl_recent *rocl_kept_next(rocl_records *w, const uint8_t **p);

/* halves.c: adds a half to the run's sorter, in the second pass with its event, in the first with
 * its place only. Joins halves, and emits them (second pass) or counts those without their other
 * half (first pass, in `w`). */
rocl_status rocl_half_add(rocl_records *w, const rocl_plain_record *r, const rocl_any_record *event,
                          rocl_error *err);
rocl_status rocl_half_note(rocl_records *w, uint64_t process, uint64_t scope, bool begins,
                           const rocl_half_place *at, rocl_error *err);
rocl_status rocl_halves_join(rocl_records *w, rocl_error *err);
/* Moves the pending arguments to bytes; adds the arguments in bytes again. False: memory is out. */
bool rocl_args_put_aside(rocl_records *w, rocl_buf *to);
bool rocl_args_add(rocl_records *w, const uint8_t *bytes, uint32_t count);

/* scopes.c: at the end of a piece in the first pass: notes its scopes. After the pass: finds scopes
 * that are not in order, and gives their joined halves to the sorter. */
rocl_status rocl_scopes_note(rocl_records *w, rocl_error *err);
rocl_status rocl_scopes_check(rocl_records_input *in, rocl_error *err);
bool rocl_scope_is_disordered(const rocl_records_run *run, uint64_t process, uint64_t number);

/* sizes.c: notes a call that copies, or a copy, in the first pass; joins them after it; gives a
 * copy the size of its call. */
rocl_status rocl_size_note(rocl_records *w, uint64_t process, uint64_t link, bool copy,
                           uint64_t bytes, rocl_copy_direction direction, rocl_error *err);
rocl_status rocl_sizes_join(rocl_records_input *in, rocl_error *err);
rocl_status rocl_size_find(rocl_records *w, const rocl_plain_record *r, uint32_t agent,
                           rocl_copy *to, rocl_error *err);

/* faults.c */
void rocl_bad_records_report(rocl_records_input *in);
rocl_status rocl_bad_records_refuse(const rocl_records_input *in, rocl_error *err);

/* Halves that are joined while their piece is parsed.
 *
 * Begins and ends of a scope belong together in order of time, and nearly every file has them in
 * that order: then a stack of the open begins is all that is needed. But whether a scope is in
 * order is known when the whole input was read. So the first pass joins the halves of each piece as
 * if it were, and keeps a log of the pairs and from when to when each scope was in the piece.
 * Behind it:
 *
 *     the scope is in order, in and across pieces    the pairs stand. Begins and ends that have no
 *                                                    other half in their piece meet in the sorter
 *     it is not (it is "disordered")                 its halves are sorted: those of pairs come
 *                                                    from the log. The second pass sorts them, too
 *
 * An end whose number no open begin of the piece has may be that of a begin of another piece: the
 * open ones of its scope then go to the sorter with it. So the pairs are those that the sorter
 * would make of all halves. */
#ifndef ROCL_SOURCE_RECORDS_SCOPES_H
#define ROCL_SOURCE_RECORDS_SCOPES_H

#include "base/buf.h"
#include "base/map.h"
#include "source/ranges.h"
#include "source/records/records.h"

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

#endif

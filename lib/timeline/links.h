/* Which call launched which GPU work. The rule, for all outputs and reports: of the calls with the
 * stack id of the work, the first by (start, id) launched it; other calls with that stack id have
 * no link. Without a call, pictures use a mark in its place: some sources know only the time of a
 * call. */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "model/trace.h"
#include "timeline/record.h"

/* Calls and marks. */
#define ROCL_LAUNCH_KINDS (ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_INSTANT))

/* The id that joins a call and the work that it launched: unique over the captures. */
uint64_t rocl_link_id(const rocl_capture *c, uint64_t stack_id);

typedef enum rocl_link { ROCL_LINK_NONE, ROCL_LINK_CALL, ROCL_LINK_WORK } rocl_link;

typedef struct rocl_links_worker { /* stack ids that a worker has seen */
    alignas(ROCL_CACHE_LINE) rocl_idset work;
    rocl_idset calls, repeated; /* repeated: of several calls */
} rocl_links_worker;

/* The links of a capture: some bits an event.
 *
 * Normally the stack id alone tells what has a link: two calls with one stack id are rare, and
 * found by a pass over their records. As arrows, links are stricter: both ends must exist, and the
 * work must not begin before the call. Then all calls and work are sorted by stack id. */
typedef struct rocl_links {
    const rocl_trace *trace;
    bool arrows;
    rocl_links_worker *workers;  /* NULL for arrows */
    rocl_sorter *sorter;         /* of calls and work: stack id, rank, start, row */
    rocl_idset stacks;           /* stack ids of work; for arrows: with an arrow */
    rocl_idset repeated;         /* stack ids of work and of several calls */
    rocl_idset rows[ROCL_KINDS]; /* rows of events with a link: of calls with repeated stack ids;
                                    for arrows: of all events */
} rocl_links;

/* For each capture in turn: open, note from all workers, resolve when all is noted, free. */
rocl_status rocl_links_open(rocl_links *l, const rocl_trace *t, bool arrows, rocl_error *err);
rocl_status rocl_links_note(rocl_links *l, unsigned worker, const rocl_batch *b, rocl_error *err);
rocl_status rocl_links_seal(rocl_links *l, unsigned worker, rocl_error *err); /* a task has ended */
/* *records: of the capture, all of them added. They may be read, and put into a new sorter. */
rocl_status rocl_links_resolve(rocl_links *l, rocl_sorter **records, rocl_error *err);
void rocl_links_free(rocl_links *l);

/* Which end of a link an event is. For one thread, with its own copy of *l, which remembers
 * positions in the sets. */
static inline rocl_link rocl_links_of(rocl_links *l, const rocl_track_event *e)
{
    if (!l->stacks.count || !e->stack_id || !rocl_idset_next(&l->stacks, e->stack_id))
        return ROCL_LINK_NONE;
    bool call = ROCL_LAUNCH_KINDS >> e->kind & 1, work = ROCL_WORK_KINDS >> e->kind & 1;
    bool by_row =
        l->arrows || (call && l->repeated.count && rocl_idset_next(&l->repeated, e->stack_id));
    if ((!call && !work) || (by_row && !rocl_idset_next(&l->rows[e->kind], e->row)))
        return ROCL_LINK_NONE;
    return call ? ROCL_LINK_CALL : ROCL_LINK_WORK;
}

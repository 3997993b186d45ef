/* Which rows of a capture go into an output: those whose events pass the filters. */
#pragma once

#include "base/map.h"
#include "format/schema.h"
#include "model/trace.h"
#include "sink/rocpd/newset.h"

/* A set of row ids that knows its ends, so that a table need not be read beyond them. */
typedef struct merge_ids {
    rocl_idset set;
    int64_t first, last;
    bool any;
} merge_ids;

bool merge_ids_add(merge_ids *ids, int64_t id); /* false when memory is out */
static inline bool merge_ids_has(merge_ids *ids, int64_t id)
{
    return ids->any && rocl_idset_next(&ids->set, (uint64_t)id);
}
void merge_ids_free(merge_ids *ids);

typedef struct merge_selection {
    newset_events *fresh; /* for inputs other than databases: the events themselves; else NULL */
    merge_ids rows[SCHEMA_EVENT_TABLES];
    rocl_idset counted; /* event ids of dispatches whose counters pass */
    rocl_idset sampled; /* values of events, by merge_value_key */
    rocl_idset spm;     /* values of samples, by merge_value_key */
    rocl_idset shared;  /* events of regions and sampled values: their samples come along */
    uint64_t events;
    bool whole; /* of all slices: nothing is in another */
} merge_selection;

void merge_selection_free(merge_selection *s);

/* A value of an event or sample: which counter's (index in its capture, ROCL_NONE: unknown). Two
 * counters of one row are neighbours, and the same here. */
static inline uint64_t merge_value_key(const rocl_capture *c, uint64_t owner, uint32_t counter)
{
    if (counter != ROCL_NONE && counter + 1 < c->counter_count &&
        c->counters[counter].id == c->counters[counter + 1].id)
        counter++;
    return owner * ((uint64_t)c->counter_count + 1) + (counter == ROCL_NONE ? 0 : counter + 1);
}

/* Slices of the time: event by start in [from + i * width, from + (i + 1) * width). */
typedef struct merge_slices {
    int64_t from;
    uint64_t width;
    size_t count; /* 1: everything, whatever its time */
} merge_slices;

/* How captures get into the output. */
typedef struct merge_way {
    merge_slices slices;
    bool rebuild; /* also those of databases as events */
    bool cut;     /* look at events also where nothing is filtered */
} merge_way;

/* Are there no rows to copy, or is who is who in them not what the options --host, --rank and
 * --same-host say? */
bool merge_is_fresh(const rocl_trace *t, const rocl_capture *c, bool rebuild);

/* Runs the trace through its filters. `done` is called for every capture with its selections, one
 * per slice, which are its to free or (by zeroing them) to keep; NULL: all of it, as it is. */
typedef rocl_status merge_selected_fn(void *ctx, const rocl_capture *c, merge_selection *selections,
                                      rocl_error *err);
rocl_status merge_select(rocl_trace *t, const merge_way *way, merge_selected_fn *done, void *ctx,
                         rocl_error *err);

/* The first and last start of the events that pass the filters; *any false: there are none. */
rocl_status merge_select_bounds(rocl_trace *t, int64_t *first, int64_t *last, bool *any,
                                rocl_error *err);

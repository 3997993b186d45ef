/* A timeline in memory that can be asked while it is made: the tracks of a trace as a tree, and the
 * slices of each in rows.
 *
 *     picture.c   the tree of tracks and their labels; open and close
 *     load.c      the trace -> densities of what has been read so far -> the slices of the timeline
 *     row.c       a row: columns of slices that do not overlap, and how full cells of time are
 *     find.c      searches, links, sums by name
 *
 * Threads: rocl_picture_load() runs in one thread, with the workers of the trace; one other thread
 * asks. Everything that both touch is used with `lock` held, but for rows: they belong to the
 * drawing of the timeline that draws them until `loaded` of their track is set, and do not change
 * later. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/array.h"
#include "base/map.h"
#include "model/identity.h"
#include "timeline/timeline.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* Numbers of 64 bits of which nearly all fit in 32. */
typedef struct picture_wide {
    uint32_t *lo; /* NULL, of optional columns: all are 0 */
    uint32_t *hi; /* NULL: all are 0 */
} picture_wide;

enum {
    PICTURE_FAN_BITS = 4, /* each level has an entry for 16 of the one below */
    PICTURE_LEVELS = 8,   /* enough for 2^32 slices */
};

/* Slices in order of time of which none overlaps another, or values. */
typedef struct picture_row {
    uint32_t lane, depth;
    bool values;
    uint32_t count;
    size_t cap;
    int64_t *start;
    double *value; /* of values, which have no other column than these two */
    uint32_t *name, *detail;
    picture_wide duration, id, stack; /* stack: 0 where there is no link */
    picture_wide bytes;               /* optional */
    /* Once a row is complete: the durations of its first 16 * i slices, and for each level the
     * longest slice (the largest value) of 16^(level + 1). */
    uint64_t *busy;
    uint32_t *longest[PICTURE_LEVELS];
} picture_row;

static inline uint64_t picture_wide_get(const picture_wide *w, uint32_t i)
{
    return w->lo ? (w->hi ? (uint64_t)w->hi[i] << 32 : 0) | w->lo[i] : 0;
}

static inline int64_t picture_end(const picture_row *r, uint32_t i)
{
    return r->start[i] + (int64_t)picture_wide_get(&r->duration, i);
}

typedef struct picture_slice {
    int64_t start, end;
    uint32_t name, detail;
    uint64_t id, stack, bytes;
} picture_slice;

/* False: memory is out. Slices and values come in order. */
bool picture_add_slice(picture_row *r, const picture_slice *s) ROCL_CHECKED;
bool picture_add_value(picture_row *r, int64_t time, double value) ROCL_CHECKED;
/* The row is complete: frees unused memory, and makes its levels. */
bool picture_seal_row(picture_row *r) ROCL_CHECKED;
void picture_free_row(picture_row *r);

/* The first slice that begins at `time` or later; count: none does. */
uint32_t picture_first_from(const picture_row *r, int64_t time);
/* How full the cells are; of those that are less full `busy`, `value` and `longest` are set. */
void picture_fill_cells(const picture_row *r, uint32_t track, uint32_t row, int64_t from,
                        int64_t to, size_t n, rocl_cell *cells);

/* ---- tracks ---------------------------------------------------------------------------------- */

/* What tells a track from others with the same parent. Compared as bytes: without padding. */
typedef struct picture_key {
    uint32_t parent, kind; /* kind: rocl_track_kind << 8 | rocl_picture_kind */
    uint32_t agent, id;
    uint64_t place; /* of samples */
} picture_key;
_Static_assert(sizeof(picture_key) == 24, "keys are compared as bytes");

typedef struct picture_track {
    picture_key key;
    rocl_picture_kind kind;
    uint32_t capture;     /* index; of a machine ROCL_NONE */
    uint32_t first_child; /* ROCL_NONE: none */
    uint32_t next_sibling;
    uint64_t order;
    char *label;
    picture_row **rows;
    uint32_t row_count;
    size_t row_cap;
    uint64_t slices;
    bool loaded;
} picture_track;

/* What slices have in common: few are different. */
typedef struct picture_detail {
    uint32_t kind, capture, category, agent, other_agent, queue, stream;
    uint32_t workgroup[3], grid[3];
    uint32_t to_agent; /* of copies: other agent -> agent */
    int64_t private_segment, group_segment;
} picture_detail;
_Static_assert(sizeof(picture_detail) == 72, "details are compared as bytes");

/* ---- what is known before the slices are: how full the time is, from what was read so far ---- */

enum { PICTURE_BUCKETS = 512 }; /* of time, in each track; a power of two */

typedef struct picture_density {
    uint32_t track;
    uint64_t busy[PICTURE_BUCKETS]; /* ns, by number of the bucket modulo their count */
} picture_density;

typedef struct picture_worker {
    alignas(ROCL_CACHE_LINE) pthread_mutex_t lock; /* of all below */
    rocl_map index;                                /* track -> density */
    picture_density **all;
    uint32_t count;
    size_t cap;
    unsigned shift; /* a bucket is 2^shift ns */
    int64_t lo, hi; /* numbers of the first and the last bucket in use; lo > hi: none is */
    int64_t first, last;
    uint64_t events;
    /* of this worker alone: which track events were on last */
    uint64_t recent_key[64];
    uint32_t recent_track[64];
} picture_worker;

/* ---- the picture ----------------------------------------------------------------------------- */

struct rocl_picture {
    rocl_timeline timeline; /* first: the sink's functions get it */
    rocl_trace *trace;
    uint32_t *first_process; /* by capture: number of its first process among all */
    uint32_t first_track;    /* tracks of the current capture have this number or a higher one */
    picture_worker *workers;
    atomic_bool cancelled;
    pthread_mutex_t lock; /* of all below */
    picture_track **tracks;
    uint32_t track_count;
    size_t track_cap;
    rocl_map track_index; /* hash of the key -> track; see picture_find_track */
    picture_detail *details;
    uint32_t detail_count;
    size_t detail_cap;
    rocl_map detail_index;
    rocl_timeline_counts counts;
    uint64_t generation;
    int64_t first, last; /* of what was drawn; first > last: nothing yet */
    bool loaded;
    /* Only of the thread that asks. */
    uint64_t *matches; /* bits by text */
    size_t match_texts;
};

/* With the lock held. ROCL_NONE: memory is out. `track` is of the capture; the machine, process and
 * GPU above it are made as well. */
uint32_t picture_define_track(rocl_picture *p, const rocl_capture *c, const rocl_track *track);
/* The number of a detail. ROCL_NONE: memory is out. */
uint32_t picture_intern_detail(rocl_picture *p, const picture_detail *d);

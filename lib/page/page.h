/* A timeline in a page for browsers, private to lib/page/: one file that needs nothing else.
 *
 *     page.c       the run: events -> sorted records of each capture -> tracks -> file
 *     window.c     how many events begin when; which stretch of time has every event
 *     encode.c     events of a track -> columns -> a line of text
 *     tracks.c     tracks and what they belong to; the last line, which names all
 *     timeline.js, timeline.css    what the page does with it, and how it looks
 *
 * The file is the page of tables (table/html), without tables or with those of a report, and a
 * panel in it. The panel has an element of data, one block of a track a line:
 *
 *     line     zlib stream, as text: each 4 bytes are 5 characters of base 85, most significant
 *              first, from '(' on, with '~' in the place of '<'; of the last n < 4 bytes n + 1
 *     block    its kind (page_block_kind), number of its track, how many entries, then columns one
 *              after the other, each with a number for every entry
 *     slices   begin, less that of the one before (the first: less the base of the page); duration;
 *              name; flags: kind of event | link << 4; row of its table, less the one before; stack
 *              id, less the one before; bytes; detail. Then the number of details, and of each its
 *              pairs of field + 1 and value, ended by 0
 *     values   time, as above; then either a 0 and differences of integers, or a 1 and doubles
 *     cells    number, less the one before; events that begin in it; how much of it is busy, of
 *              PAGE_BUSY
 *
 * Numbers are varints; differences of rows, stack ids and values are zigzagged. Cells are equal
 * stretches of time, PAGE_CELLS of them: they stand for the events outside of the window where a
 * page cannot have all. The last line holds JSON: what the page is of, its tracks, all texts, and
 * of each text a digit: its class, if it is the name of GPU work (model/kernel_class.h). */
#pragma once

#include "base/map.h"
#include "base/out.h"
#include "base/pool.h"
#include "model/identity.h"
#include "timeline/timeline.h"

enum {
    PAGE_CELLS = 4096,
    PAGE_BUSY = 1000,
    PAGE_ENTRIES = 16384,  /* of a block, at most */
    PAGE_PENDING = 1 << 18 /* entries of all blocks that are not complete, at most */
};

/* ---- window.c -------------------------------------------------------------------------------- */

enum { PAGE_BINS = 1 << 14 };

/* Events by the time at which they begin: bins of 2^shift ns, number n at n % PAGE_BINS. They
 * double as the time that is seen grows, so what they are in the end depends on the first and the
 * last event alone. */
typedef struct page_times {
    alignas(ROCL_CACHE_LINE) int64_t first, last; /* first > last: no event yet */
    int64_t low, high;                            /* numbers of bins that are in use */
    unsigned shift;
    uint64_t bins[PAGE_BINS];
} page_times;

void page_times_open(page_times *t);
/* events: how many it counts as; 0: only the time is of the trace. */
void page_times_add(page_times *t, int64_t begin, int64_t end, unsigned events);
void page_times_join(page_times *to, const page_times *from);
/* The stretch of time in which events are densest, and that has no more than `most`. */
void page_times_densest(const page_times *t, uint64_t most, int64_t *from, int64_t *to);

/* ---- what is in the page --------------------------------------------------------------------- */

typedef enum page_block_kind { PAGE_SLICES, PAGE_VALUES, PAGE_CELL_BLOCK } page_block_kind;

typedef struct page_group { /* a machine, a process, a GPU */
    uint32_t parent;        /* ROCL_NONE: it stands at the top */
    uint32_t label;         /* index of a text */
    uint64_t order;         /* among those of its parent */
} page_group;

typedef struct page_track {
    uint32_t group, label, unit; /* unit: index of a text, of values */
    uint32_t capture;
    uint64_t order; /* among those of its group */
    rocl_track_kind kind;
} page_track;

enum { PAGE_COLUMNS = 8 };

/* The block at hand of a track, and its cells. */
typedef struct page_encoder {
    uint32_t track;
    uint32_t count;
    bool values, real;
    rocl_buf columns[PAGE_COLUMNS];
    int64_t time, number; /* of the entry before */
    uint64_t row, stack;
    rocl_map detail_index; /* hash -> number */
    rocl_buf details;      /* their bytes, one after the other */
    size_t *detail_ends;
    uint32_t detail_count;
    size_t detail_cap;
    rocl_buf cells[3];
    uint32_t cell_count;
    bool cell_open;             /* there is one at hand: */
    uint64_t cell, cell_before; /* its number, and that of the one before */
    uint64_t cell_events;       /* that begin in it */
    int64_t cell_busy;          /* ns */
    int64_t counted, covered;   /* from `counted` to `covered` it is busy, and more may be */
    double most;                /* of values: the largest of the cell at hand, */
    int64_t most_time;          /* and when that cell had its first */
} page_encoder;

typedef struct page_counts {
    uint64_t events, values;               /* drawn, all of them */
    uint64_t event_details, value_details; /* of these, with all that is known */
} page_counts;

typedef struct page_sink {
    rocl_timeline timeline; /* first */
    rocl_trace *trace;
    const rocl_page_options *opt;
    struct page_capture {
        rocl_sorter *sorter; /* NULL: a filter has left it out */
        rocl_links links;
    } * captures;
    page_times *times; /* by worker */
    int64_t first, last, cell_ns;
    bool windowed;
    int64_t from, to; /* the window, both in it */
    page_counts counts;
    /* ---- tracks.c ---- */
    rocl_map text_index; /* text -> index */
    uint32_t *texts;
    uint32_t text_count;
    size_t text_cap;
    rocl_map group_index;
    page_group *groups;
    uint32_t group_count;
    size_t group_cap;
    page_track *tracks;
    uint32_t track_count;
    size_t track_cap;
    /* ---- encode.c: of the sequence at hand ---- */
    page_encoder *encoders;
    uint32_t encoder_count;
    size_t encoder_cap;
    uint32_t first_track; /* of the sequence */
    size_t pending;       /* entries in all encoders */
    rocl_buf scratch;
    rocl_pipe *pipe;
    rocl_out *out;
    rocl_status status; /* of what cannot report it */
    rocl_error *err;
} page_sink;

/* ---- tracks.c -------------------------------------------------------------------------------- */

/* The index of a text in the page. */
uint32_t page_text(page_sink *s, uint32_t text);
rocl_status page_define_track(rocl_drawing *p, const rocl_track *track, uint64_t *id,
                              rocl_error *err);
/* The last block, an object of JSON that has begun. */
void page_put_index(page_sink *s, rocl_buf *to);

/* ---- encode.c -------------------------------------------------------------------------------- */

extern const rocl_timeline_ops page_ops;
extern const rocl_pipe_ops page_pipe_ops;

rocl_status page_put_block(page_sink *s, const rocl_buf *block, rocl_error *err);
void page_free_encoders(page_sink *s);
/* Fields of details as JSON: how each is called, and what kind of value it has. */
void page_put_fields(rocl_buf *to);

typedef struct page_drawing {
    rocl_drawing drawing; /* first */
    page_sink *sink;
} page_drawing;

static inline page_sink *page_sink_of(rocl_drawing *p)
{
    return ((page_drawing *)p)->sink;
}

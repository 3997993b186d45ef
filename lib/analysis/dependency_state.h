/* What goes on while dependencies are followed (dependencies.c): threads with their open ranges,
 * work that was launched, streams and events that calls name, and what ends next. */
#pragma once

#include "analysis/activity.h"
#include "analysis/dependencies.h"
#include "base/array.h"
#include "base/map.h"

/* A range of a thread that is open. Times count from the begin of the trace from here on. */
typedef struct frame {
    int64_t start, end;
    uint32_t what;
    rocl_waits_for waits;
    uint32_t begun; /* slot of the thread when it began; of those that wait, for ranks or work */
    uint32_t own_plus1;   /* in owns, + 1: work that it launched and waits for; 0: none */
    uint32_t stream;      /* handle that it names; 0: none */
    uint32_t mark_plus1;  /* in marks, + 1: the event that it waits for; 0: not known */
    uint32_t group_plus1; /* in groups, + 1: a collective of MPI; 0: it is none */
} frame;

typedef struct thread {
    bool seen;
    bool takes_part; /* it launched work, or waited for some */
    uint32_t slot, process;
    int64_t
        event_waited; /* when it last called hipStreamWaitEvent with unknown arguments; -1: never */
    int64_t last;     /* begin or end of a range */
    /* For PyTorch's backward pass: the thread, + 1, for which it works, and a further thread of the
     * process that does; 0: none. */
    uint32_t caller_plus1, next_engine;
    uint32_t outside; /* what: no range is open */
    frame *open;      /* the outermost first */
    size_t depth, cap;
} thread;

/* What a call launched that waits for it: alive as long as the call or the work. */
typedef struct own {
    uint32_t slot, users; /* slot 0: nothing has ended yet */
} own;

/* A place of work (points.h), or a stream that only calls name. */
typedef struct lane {
    uint32_t slot;                /* 0: nothing has ended on it */
    uint32_t oldest, newest;      /* work that has not ended, + 1, by launch; 0: none */
    uint32_t ended_before, after; /* the process's streams by when work last ended; 0: none */
    bool listed;
    int64_t launched; /* when something was last launched into it; -1: never */
    bool begun;       /* some work */
    /* For a GPU: the end of all that has begun, and the last time without any. */
    int64_t until, quiet_from, quiet_to;
} lane;

static const lane fresh_lane = {.launched = -1, .until = -1};

/* A stream or an event that calls name. */
typedef struct handle {
    uint32_t *lanes; /* for a stream: where work is that was launched into it by this name */
    size_t lane_count, lane_cap;
    uint32_t own;        /* lane for work that does not name its own; 0: none yet */
    uint32_t waits;      /* for a stream: links to what its next work waits for, + 1 */
    uint32_t mark_plus1; /* for an event: when it was last recorded */
} handle;

/* An event as it was recorded: after what had been launched into its stream by then. */
typedef struct mark {
    uint32_t slot, users;
} mark;

/* An entry of a list of marks. */
typedef struct link {
    uint32_t mark, next; /* next: + 1 */
} link;

/* Which places of an array are used. */
typedef struct places {
    uint32_t *unused;
    size_t unused_count, unused_cap, count;
} places;

typedef struct work {
    uint32_t slot, what;
    uint32_t lanes[ROCL_PLACES]; /* 0: unknown */
    uint32_t process, own_plus1, collective_plus1;
    uint32_t older, newer;    /* on its stream, + 1 */
    uint32_t waits, is_under; /* links, + 1: what it waits for, and what waits for it to end */
    int64_t launched, end;
    bool waits_for_event; /* in any stream */
    bool after_wait;      /* launched after all that began before the trace had ended */
    uint32_t call;        /* text */
    int64_t call_end;
} work;

typedef struct process_state {
    uint32_t slot;         /* the end of the last work in it; 0: none */
    uint32_t latest;       /* the stream on which work ended last; 0: none */
    uint32_t host_plus1;   /* thread, + 1, that last began a range, of those that launch work */
    uint32_t engine_plus1; /* a thread, + 1, of PyTorch's backward pass; 0: none */
    int32_t rank;
    uint32_t rank_index; /* in the list of ranks */
    bool waited;         /* some call that waits for all has returned */
} process_state;

/* Something that ends while others begin. */
typedef struct pending {
    int64_t time;
    uint32_t calls; /* a thread's call that waits, after ends of work at the same time; or 0 */
    uint32_t index;
    uint64_t order;
} pending;

enum { WAITS_FOR_SOME = 1, WAITS_FOR_ALL };

typedef struct group { /* a collective, while it goes on */
    uint32_t slot;
    uint32_t last;         /* process that came last */
    uint64_t number, left; /* left: kernels or ranges that have not ended */
} group;

typedef struct dependencies {
    rocl_dependencies pub; /* first */
    rocl_collector *c;
    size_t *processes_of, *threads_of; /* by capture: index of the first */
    handle *handles;                   /* [0] is none */
    uint32_t *rank_names;              /* texts, by rank; 0: not made yet */
    process_state *processes;
    thread *threads;
    size_t process_count, thread_count;
    lane *lanes; /* [0] is none */
    size_t lane_count, lane_cap;
    work *works;
    own *owns;
    group *groups;
    mark *marks;
    link *links;
    size_t work_cap, own_cap, group_cap, mark_cap, link_cap;
    places work_places, own_places, group_places, mark_places, link_places;
    rocl_map work_of;  /* by number, for those that were launched and have not begun */
    rocl_map group_of; /* by number */
    pending *heap;
    size_t pending_count, pending_cap;
    rocl_ids activities; /* by kernel */
    bool failed;         /* memory is out, for any of these functions: the sweep says so */
} dependencies;

uint32_t rocl_find_time_key(dependencies *d, rocl_time_class class, rocl_time_detail detail,
                            uint32_t name, uint32_t process);

/* ---- slots and places ---- */

/* Makes a slot wait for another one; the first time it is a copy of that. */
bool rocl_join_slot(dependencies *d, uint32_t *slot, uint32_t from);
void rocl_free_slot(dependencies *d, uint32_t *slot);
/* ROCL_NONE: there are too many. */
uint32_t rocl_take_place(places *p);
void rocl_leave_place(dependencies *d, places *p, uint32_t i);

/* A new element of an array, in *i; false: memory is out. */
#define TAKE(d, array, i)                                                                          \
    ((((i) = rocl_take_place(&(d)->array##_places)) != ROCL_NONE &&                                \
      ROCL_GROW((d)->array##s, (d)->array##_cap, (size_t)(i) + 1)) ||                              \
     !((d)->failed = true))

/* ---- what ends next ---- */

void rocl_add_pending(dependencies *d, pending x);
/* The first of them; there is one. */
pending rocl_take_pending(dependencies *d);
void rocl_leave_own(dependencies *d, uint32_t own_plus1);

/* ---- events, streams ---- */

void rocl_leave_mark(dependencies *d, uint32_t mark_plus1);
void rocl_add_link(dependencies *d, uint32_t *list, uint32_t mark_plus1);
void rocl_free_links(dependencies *d, uint32_t *list);
/* The event is behind all that was launched into the stream: of each lane of it the newest. */
void rocl_record_event(dependencies *d, uint32_t event, uint32_t stream);
/* 0: memory is out. */
uint32_t rocl_add_lane(dependencies *d);
bool rocl_has_lane(const handle *h, uint32_t of);

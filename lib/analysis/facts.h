/* Facts of a recording that can be checked: per process, how much there is of each kind and when,
 * and how well host calls and GPU work match; and sums of groups of events. Collected for the
 * report `doctor`. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "analysis/calls.h"
#include "analysis/slices.h"

/* What a function of the HIP (or CUDA) runtime does, by its name. */
typedef enum rocl_call_class {
    ROCL_CALL_OTHER,   /* a call of the runtime, but none of these */
    ROCL_CALL_LAUNCH,  /* launches one kernel */
    ROCL_CALL_GRAPH,   /* launches a graph */
    ROCL_CALL_COPY,    /* copies memory */
    ROCL_CALL_CAPTURE, /* has to do with recording launches into a graph */
    ROCL_CALL_MEMORY,  /* allocates or frees memory */
    ROCL_CALL_CLASSES,
    ROCL_CALL_FOREIGN = ROCL_CALL_CLASSES, /* not of the runtime */
    ROCL_CALL_RANGE,                       /* of rocTX: begins a range */
    ROCL_CALL_MARK                         /* marks an instant */
} rocl_call_class;

/* By its name. */
rocl_call_class rocl_classify_call(const char *name);

/* How often something was so, and the first or the worst of these events. */
typedef struct rocl_sighting {
    uint64_t count;
    int64_t amount; /* ns, or what else is said, of the worst */
    rocl_event_ref event;
} rocl_sighting;

/* What is noted of single events, by kind. */
typedef enum rocl_oddity {
    ROCL_ODD_ZERO,      /* kernels that took no time */
    ROCL_ODD_WORKGROUP, /* more work-items in a workgroup than any GPU has */
    ROCL_ODD_GRID,      /* fewer work-items in a grid than in a workgroup */
    ROCL_ODD_DIRECTION, /* copies whose agents are not those that their name says */
    ROCL_ODD_RATE,      /* faster than any memory */
    ROCL_ODD_UNSIZED,   /* of unknown size */
    ROCL_ODD_MARKS,     /* instants of rocTX that are markers */
    ROCL_ODD_POINTS,    /* other markers that took no time, ... */
    ROCL_ODD_RANGES,    /* ... and those that a function of rocTX began */
    ROCL_ODD_UNPAIRED,  /* frees of memory that was never allocated */
    ROCL_ODD_UNLINKED,  /* kernels without a call; in part by rocl_facts_look_up */
    ROCL_ODDITIES
} rocl_oddity;

typedef struct rocl_process_facts {
    rocl_extent kinds[ROCL_KINDS];
    rocl_extent runtime; /* calls of the runtime */
    uint64_t calls[ROCL_CALL_CLASSES];
    int64_t memory_ns;  /* in calls that allocate or free memory */
    bool finer_than_us; /* some time of a kernel is not a whole microsecond */
    rocl_sighting odd[ROCL_ODDITIES];
    rocl_sighting longest; /* kernel */
    /* From the stack ids of calls and kernels, by rocl_facts_look_up: */
    uint64_t linked;                 /* kernels and copies whose call is known */
    int64_t least_delay, most_delay; /* from the begins of their calls to theirs */
    rocl_sighting early;             /* some begin before their call */
    rocl_sighting unlinked_before;   /* those whose ids are below all of calls: launched earlier */
    uint64_t launches, graph_launches; /* stack ids of calls that launch */
    rocl_sighting lost;                /* launches without a kernel, ... */
    uint64_t lost_in_a_row;            /* ... and how many of them are the very last launches */
    rocl_sighting lost_graphs;
    uint64_t call_ids;          /* stack ids of calls, ... */
    uint64_t ids, steps_of_one; /* ... and of markers; how many follow the last one directly */
    uint64_t hole;              /* the most that are missing in a row */
} rocl_process_facts;

/* Events that have something in common. Interned as bytes: without holes. */
typedef struct rocl_group_key {
    enum {
        ROCL_GROUP_PLACE = 1, /* kernels, kernels of graphs, copies: by agents, queue and stream */
        ROCL_GROUP_NAME,      /* kernels by name and work-items, copies by name and size, to a power
                                 of two, launches by name */
        ROCL_GROUP_THREAD     /* host calls and markers */
    } what;
    uint32_t kind, process; /* among all */
    uint32_t of[4];
} rocl_group_key;

typedef struct rocl_group {
    rocl_extent all;
    int64_t total;    /* ns; saturates */
    uint64_t at_last; /* of a thread: how many end when the last one ends */
    rocl_sighting longest;
    uint64_t logs; /* of its durations, to the base 2, in 2^-16: their sum */
} rocl_group;

enum { ROCL_GROUP_CACHE = 256 };

typedef struct rocl_facts_worker {
    alignas(ROCL_CACHE_LINE) uint8_t *classes; /* by text: rocl_call_class + 1; 0: not known */
    rocl_group *groups;                        /* by id */
    size_t class_cap, group_cap;
    struct {
        rocl_group_key key;
        uint32_t id;
    } cache[ROCL_GROUP_CACHE]; /* by a few bits of the key */
} rocl_facts_worker;

/* All with one stack id of one process, while calls and events are matched in the order of ids. */
typedef struct rocl_stack {
    rocl_process_facts *facts; /* NULL: none has come */
    uint64_t process, id, kernels;
    bool called, counted; /* counted: as an id of a call or marker */
    rocl_call_class class;
    rocl_event_ref call;
} rocl_stack;

/* Calls and markers of a process whose ids follow each other are a run. */
typedef struct rocl_id_run {
    uint64_t last, length;
    uint64_t before; /* how many are missing before it, and the run before that was long enough */
} rocl_id_run;

typedef struct rocl_facts {
    const rocl_collector *c;
    pthread_mutex_t lock; /* protects `processes` while events come */
    rocl_process_facts *processes;
    size_t process_count;
    size_t *first_process;       /* by capture: of its processes */
    size_t *first_counter;       /* by capture, like that: of its counters with values */
    atomic_uchar *counter_state; /* bits below */
    rocl_strings *keys;          /* of groups, from id 1 on */
    rocl_facts_worker *workers;
    rocl_sorter *links; /* GPU work and markers by process and stack id */
    rocl_stack stack;
    rocl_id_run ids;
    bool failed; /* memory was out while they were matched */
} rocl_facts;

enum { ROCL_COUNTER_SEEN = 1, ROCL_COUNTER_COUNTED = 2 /* not always 0 */ };

/* Begins the facts of a collector that gets all kinds of events. The sorter is the collector's.
 * Free the facts also after a failure. */
rocl_status rocl_facts_open(rocl_facts *f, rocl_collector *c, rocl_error *err);
/* Concurrent. */
rocl_status rocl_facts_add_batch(rocl_facts *f, unsigned worker, const rocl_batch *b,
                                 rocl_error *err);
/* When all events have come, once: matches work and calls as these are resolved; then, puts the
 * groups of all workers into those of the first. */
rocl_status rocl_facts_look_up(rocl_facts *f, rocl_calls *calls, rocl_error *err);
rocl_status rocl_facts_join(rocl_facts *f, rocl_error *err);
void rocl_facts_free(rocl_facts *f);
/* The groups, once joined, from 1 to rocl_strings_count(f->keys) - 1, in any order. */
const rocl_group *rocl_facts_group(const rocl_facts *f, uint32_t id, rocl_group_key *key);
/* The geometric mean of all but the longest, ns; of several. */
int64_t rocl_group_others(const rocl_group *g);
/* Is it the first in the trace? */
bool rocl_event_precedes(const rocl_event_ref *a, const rocl_event_ref *b);

/* The extent of all events that took time. */
rocl_extent rocl_extent_of_all(const rocl_process_facts *p);

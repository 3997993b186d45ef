/* Facts of a recording that can be checked: per process, how much there is of each kind and when,
 * and how well host calls and GPU work match. Collected for the report `doctor`. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "analysis/report.h"
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
    ROCL_CALL_FOREIGN = ROCL_CALL_CLASSES /* not of the runtime */
} rocl_call_class;

/* By its name. */
rocl_call_class rocl_classify_call(const char *name);

/* How often something was so, and the first or the worst of these events. */
typedef struct rocl_sighting {
    uint64_t count;
    int64_t amount; /* ns, of the worst */
    rocl_event_ref event;
} rocl_sighting;

typedef struct rocl_process_facts {
    rocl_extent kinds[ROCL_KINDS];
    rocl_extent runtime; /* calls of the runtime */
    uint64_t calls[ROCL_CALL_CLASSES];
    int64_t memory_ns;  /* in calls that allocate or free memory */
    bool finer_than_us; /* some time of a kernel is not a whole microsecond */
    rocl_sighting zero; /* kernels that took no time */
    rocl_sighting longest;
    /* From the stack ids of calls and kernels, by rocl_facts_match: */
    uint64_t linked;               /* kernels and copies whose call is known */
    rocl_sighting early;           /* some begin before their call */
    rocl_sighting unlinked;        /* kernels without a call */
    rocl_sighting unlinked_before; /* those whose ids are below all of calls: launched earlier */
    uint64_t launches, graph_launches; /* stack ids of calls that launch */
    rocl_sighting lost;                /* launches without a kernel, ... */
    uint64_t lost_in_a_row;            /* ... and how many of them are the very last launches */
    rocl_sighting lost_graphs;
    uint64_t call_ids;          /* stack ids of calls, ... */
    uint64_t ids, steps_of_one; /* ... and of markers; how many follow the last one directly */
    uint64_t hole;              /* the most that are missing in a row */
} rocl_process_facts;

typedef struct rocl_facts {
    const rocl_collector *c;
    pthread_mutex_t lock; /* protects `processes` while events come */
    rocl_process_facts *processes;
    size_t process_count;
    size_t *first_process;       /* by capture: of its processes */
    size_t *first_counter;       /* by capture, like that: of its counters with values */
    atomic_uchar *counter_state; /* bits below */
    uint8_t **classes;           /* by worker, then by text: rocl_call_class + 1; 0: not known */
    size_t *class_caps;
    rocl_sorter *links; /* calls and GPU work by process and stack id */
} rocl_facts;

enum { ROCL_COUNTER_SEEN = 1, ROCL_COUNTER_COUNTED = 2 /* not always 0 */ };

/* Begins the facts of a collector that gets all kinds of events. The sorter is the collector's.
 * Free the facts also after a failure. */
rocl_status rocl_facts_open(rocl_facts *f, rocl_collector *c, rocl_error *err);
/* Concurrent. */
rocl_status rocl_facts_add_batch(rocl_facts *f, unsigned worker, const rocl_batch *b,
                                 rocl_error *err);
/* When all events have come, once. */
rocl_status rocl_facts_match(rocl_facts *f, rocl_error *err);
void rocl_facts_free(rocl_facts *f);

/* The extent of all events that took time. */
rocl_extent rocl_extent_of_all(const rocl_process_facts *p);
